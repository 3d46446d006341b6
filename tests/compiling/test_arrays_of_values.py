"""Arrays that a program takes out of tensors by detach().numpy(), and what graphs hold that it made of them."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError

A = np.array([1.3, -0.7, 2.1, -1.4])
B = np.array([-1.3, 0.4, -2.6, 0.9])


def made_by(values):
    return np.sign(values)


def by_function(x):
    y = 2 * x
    return x * made_by(y.detach().numpy())


def mixed(x):
    p = x.detach().numpy()
    p = p - x
    return p * x


def shifted(x):
    p = x.detach().numpy()
    q = p - p.max()
    return x * q


def by_keyword(x, q=None):
    q = x.detach().numpy() - (x if q is None else q)
    return x * q


MADE = [
    lambda x: x * np.argmax(x.detach().numpy()),
    lambda x: x[np.argsort(x.detach().numpy())],
    lambda x: x * sg.tensor(x.detach().numpy() > 0),
    lambda x: x * np.sign(x.detach().numpy()),
    lambda x: x * np.floor(x.detach().numpy()).sum(),
    lambda x: x * sg.from_numpy(np.where(x.detach().numpy() > 0, 1.0, -1.0)),
    lambda x: x * x.detach().numpy().max(),
    lambda x: x[x.detach().numpy() > 0].sum(),
    lambda x: (x - np.median(x.detach()[1:].numpy())).abs().sum(),
    by_function,
    mixed,
    shifted,
    by_keyword,
]


@pytest.mark.parametrize("f", MADE, ids=range(len(MADE)))
def test_used(f):
    """The program has what the run made of its values, and holds for these."""
    y = f(sg.tensor(A, requires_grad=True, name="x"))
    program = sg.compile(y, ["x"])
    np.testing.assert_allclose(program(A), y.detach().numpy())
    with pytest.raises(ArgumentError, match="recorded with other values"):
        program(B)


def chosen(scores, labels):
    """The share that is right, as published code counts it: of arrays alone."""
    p = scores.detach().numpy()
    e = np.exp(p - p.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    p = p * np.array([1.0, 1.0, 2.0, 1.0]) - p[0]
    return (p.argmax(-1) == labels).mean()


def test_measures_of_arrays_alone():
    """An array beside another one chooses nothing: programs of what was trained meanwhile were refused."""
    x = sg.tensor(A, requires_grad=True, name="x")
    history = []
    for _ in range(2):
        y = 2 * x
        history.append(chosen(y, 2))
        loss = (y * y).sum()
    print(history[-1])
    assert sg.compile(loss, ["x"])(B) == pytest.approx(4 * (B**2).sum())


def test_shown_or_compared():
    """What is shown, asserted or given to functions elsewhere chooses nothing."""
    x = sg.tensor(A, requires_grad=True, name="x")
    rows = []
    for _ in range(3):
        y = (x * x).sum()
        rows.append(y.detach().numpy())
        print(x.detach().numpy().max())
        np.testing.assert_allclose(x.detach().numpy(), A)
    program = sg.compile((x**3).sum(), ["x"])
    assert program(x.detach().numpy()) == pytest.approx((A**3).sum())
    again = sg.compile((x**3).cos().sum(), ["x"])
    assert again(B) == pytest.approx(np.cos(B**3).sum())


def test_errors_choose_nothing():
    """What stops a run at values that are nowhere does as an assertion: its program holds for others, too."""
    x = sg.tensor(A, requires_grad=True, name="x")
    y = x.sin()
    if not np.isfinite(y.detach().numpy()).all():
        raise ValueError("diverged")
    loss = (y * y).sum()
    if np.isnan(loss.item()):
        raise ValueError("diverged")
    assert sg.compile(loss * 2, ["x"])(B) == pytest.approx(2 * (np.sin(B) ** 2).sum())


CAUGHT = """
def checked(x):
    if x.detach().numpy().min() < 0:
        raise ValueError
    return x.sum()

def run(x):
    try:
        return checked(x)
    except ValueError:
        return 2 * x.sum()
"""


def test_errors_that_are_caught(tmp_path, monkeypatch):
    """A file that goes on after errors may choose by them."""
    (tmp_path / "caught_errors.py").write_text(CAUGHT)
    monkeypatch.syspath_prepend(tmp_path)
    import caught_errors

    program = sg.compile(caught_errors.run(sg.tensor(abs(A), requires_grad=True, name="x")), ["x"])
    with pytest.raises(ArgumentError, match="recorded with other values"):
        program(B)
