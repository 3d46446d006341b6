"""Constants that change after a graph read them: its program has what was read, or is refused; never what is now."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import CompileError

X = np.arange(1.0, 5.0)
Z = 0.7 * X


def variable(values=X):
    return sg.tensor(values, requires_grad=True, name="x")


def _entry(c):
    c[0] = 5.0


CHANGES = {
    "mul_": lambda c: c.mul_(3),
    "operator": lambda c: c.__imul__(3),
    "entry": _entry,
    "fill_": lambda c: c.fill_(9.0),
    "zero_": lambda c: c.zero_(),
    "copy_": lambda c: c.copy_(sg.tensor(Z)),
    "view": lambda c: c[1:].mul_(3),
    "turned": lambda c: c.neg_(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("name", [None, "c"])
def test_changed_in_place(change, name):
    """The program goes on with the entries that the graph read."""
    x, c = variable(), sg.tensor(X.copy(), name=name)
    y = x * c
    change(c)
    np.testing.assert_allclose(sg.compile(y, ["x"])(Z), Z * X)
    np.testing.assert_allclose(sg.compile(x + c, ["x"])(Z), Z + c.numpy())


def test_buffers_of_loops():
    """Each step has read what the buffer was by then."""
    x, buffer, y, text = variable(), sg.zeros(4, dtype=sg.float64), 0, []
    for k in range(3):
        buffer.add_(k)
        y = y + x * buffer
        text.append(buffer.tolist())
    np.testing.assert_allclose(sg.compile(y, ["x"])(Z), sum(Z * np.array(row) for row in text))


def test_masks_matrices_and_views():
    """Wherever the constant stands."""
    x = variable()
    mask, A, rows = sg.tensor(X > 2), sg.eye(4, dtype=sg.float64), sg.tensor([0, 1])
    B = sg.ones(2, 4, dtype=sg.float64)
    row = B[0]
    results = [sg.where(mask, x, 0 * x), A @ x, x[rows], x * row]
    mask[0], A[0, 1], rows[0] = True, 3.0, 3
    B.mul_(7)
    for y, expected in zip(results, [np.where(X > 2, Z, 0), Z, Z[:2], Z], strict=True):
        np.testing.assert_allclose(sg.compile(y, ["x"])(Z), expected)


def _other_data(c, array):
    c.data = sg.tensor(5 * X)


def _other_memory(c, array):
    c.set_(sg.tensor(5 * X))


def _through_data(c, array):
    c.data.mul_(5)


def _through_numpy(c, array):
    array[0] = 5.0


@pytest.mark.parametrize("change", [_other_data, _other_memory, _through_data, _through_numpy])
def test_refused(change):
    """Where nobody kept what was read, the program is refused with the reason."""
    x, array = variable(), X.copy()
    c = sg.from_numpy(array)
    y = x * c
    change(c, array)
    with pytest.raises(CompileError, match="changed in place since the graph was recorded"):
        sg.compile(y, ["x"])


def test_large_ones_are_refused():
    """What is large is not copied."""
    x, c = variable(np.ones(1000)), sg.ones(1000, dtype=sg.float64)
    c.add_(1)
    y = x * c
    c.add_(1)
    with pytest.raises(CompileError, match="changed in place"):
        sg.compile(y, ["x"])


def test_variables():
    """A variable that was trained since is an argument, or the program is refused."""
    x, w = variable(), sg.tensor(X, requires_grad=True, name="w")
    y = (x * w).sum()
    y.backward()
    with sg.no_grad():
        w.sub_(0.1 * w.grad)
    with pytest.raises(CompileError, match=r"w of shape \(4,\) was changed in place"):
        sg.compile(y, ["x"])
    assert sg.compile(y, ["x", "w"])(Z, X) == pytest.approx(Z @ X)
    assert sg.compile((x * w).sum(), ["x"])(Z) == pytest.approx(Z @ w.detach().numpy())


def test_not_needed():
    """What the result does not depend on may be whatever it is."""
    x, c = variable(), sg.from_numpy(X.copy())
    y = x * 2 + 0 * c.shape[0]
    z = (x * c, y)
    c.data = sg.tensor(5 * X)
    np.testing.assert_allclose(sg.compile(z[1], ["x"])(Z), 2 * Z)
