"""``vmap`` over whole numbers: places, labels and looks at values run once where all examples take the same way."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg

F = sg.nn.functional
TABLE = np.arange(60.0).reshape(5, 4, 3) / 7
TABLES = np.arange(240.0).reshape(4, 5, 4, 3) / 7
PLACES = sg.tensor([[0, 1, 2], [2, 2, 0], [1, 0, 1], [0, 0, 0]])
OTHERS = sg.tensor([[1], [0], [2], [1]])
PICKS = {
    "first": lambda x, i, j: x[i],
    "second": lambda x, i, j: x[:, i],
    "last": lambda x, i, j: x[..., i],
    "apart": lambda x, i, j: x[i, :, j],
    "two": lambda x, i, j: x[:, i, j],
    "beside an axis": lambda x, i, j: x[None, :, i, 0],
    "behind an axis": lambda x, i, j: x[..., None, i],
    "around an axis": lambda x, i, j: x[i, None, j],
    "grid": lambda x, i, j: x[i[:2, None], i[None]],
    "part": lambda x, i, j: x[1:, i, :2],
}


def counted(func):
    """The function, and the list that grows with every run of it."""
    runs = []

    def run(*args):
        runs.append(1)
        return func(*args)

    return run, runs


def one_by_one(func, x, batched):
    return np.stack([func(x[k] if batched else x, PLACES[k], OTHERS[k]).detach().numpy() for k in range(4)])


@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize("name", PICKS)
def test_places_of_every_example(name, batched):
    """Values, gradients of each example and gradients through all of them, in one run."""
    pick = PICKS[name]
    x = sg.tensor(TABLES if batched else TABLE, requires_grad=True)
    dims = (0 if batched else None, 0, 0)
    run, runs = counted(pick)
    out = sg.func.vmap(run, dims)(x, PLACES, OTHERS)
    assert len(runs) == 1
    np.testing.assert_array_equal(out.detach().numpy(), one_by_one(pick, x, batched))
    slope = sg.func.grad(lambda x, i, j: (pick(x, i, j) ** 2).sum())
    rows = sg.func.vmap(slope, dims)(x.detach(), PLACES, OTHERS)
    np.testing.assert_allclose(rows.numpy(), one_by_one(slope, x.detach(), batched))
    (through,) = sg.autograd.grad((out**2).sum(), x)
    np.testing.assert_allclose(through.numpy(), rows.numpy() if batched else rows.numpy().sum(0))


LABELLED = {
    "cross_entropy": lambda x, i: F.cross_entropy(x, i),
    "of a batch of one": lambda x, i: F.cross_entropy(x[None], i[None]),
    "nll_loss": lambda x, i: F.nll_loss(x.log_softmax(0), i),
    "gather": lambda x, i: x.gather(0, i[None]).sum(),
    "index_select": lambda x, i: x.index_select(0, i[None]).sum(),
    "one_hot": lambda x, i: (F.one_hot(i, 4) * x).sum(),
    "scatter_add": lambda x, i: sg.zeros(4, dtype=sg.float64).scatter_add(0, i[None], x[:1]).sum(),
}


@pytest.mark.parametrize("name", LABELLED)
def test_gradients_of_labelled_examples(name):
    """What only asks whether labels are in range is the same for all of them."""
    X, labels = sg.tensor(TABLE[:, :, 0]), sg.tensor([0, 3, 1, 1, 2])
    slope = sg.func.grad(LABELLED[name])
    run, runs = counted(slope)
    rows = sg.func.vmap(run)(X, labels)
    assert len(runs) == 1
    np.testing.assert_allclose(rows.numpy(), np.stack([slope(X[k], labels[k]).numpy() for k in range(5)]))


def test_labels_that_are_left_out_in_some_examples():
    """Where the examples differ in what the function looks at, each runs by itself."""
    X, labels = sg.tensor(TABLE[:3, :2, :2]), sg.tensor([[0, 1], [1, 0], [-100, 1]])
    run, runs = counted(lambda x, i: F.cross_entropy(x, i))
    found = sg.func.vmap(run)(X, labels)
    assert len(runs) == 4
    assert found.tolist() == pytest.approx([F.cross_entropy(X[k], labels[k]).item() for k in range(3)])


def test_a_wrong_label_of_a_later_example_is_an_error():
    with pytest.raises(IndexError, match="Target 5 is out of bounds"):
        sg.func.vmap(lambda x, i: F.cross_entropy(x, i))(sg.tensor(TABLE[:3, :, 0]), sg.tensor([0, 1, 5]))


def test_branches_that_all_examples_take():
    """A condition that holds for all is looked at once; one that does not sends every example its own way."""
    run, runs = counted(lambda x: x * 2 if x.sum() > 0 else -x)
    assert sg.func.vmap(run)(sg.tensor([[1.0, 2.0], [3.0, -1.0]])).tolist() == [[2.0, 4.0], [6.0, -2.0]]
    assert len(runs) == 1
    assert sg.func.vmap(run)(sg.tensor([[1.0, 2.0], [-3.0, 1.0]])).tolist() == [[2.0, 4.0], [3.0, -1.0]]


CAPTURING = {
    "straight": lambda w, y: (w * y).sin().sum(),
    "branched": lambda w, y: w * y if (w * y).sum() > 0.4 else -w,
}


@pytest.mark.parametrize("f", CAPTURING.values(), ids=CAPTURING)
def test_forward_mode_by_what_a_mapped_function_captures(f):
    """Tangents of captured values are not of the tape: every example has its own, from each way to forward mode."""
    w, Y = sg.tensor([0.3, 0.5, 0.7]), sg.tensor(TABLE[:, 0] % 1)
    v = sg.tensor([1.0, 2.0, 3.0])

    def mapped(w):
        return sg.func.vmap(lambda y: f(w, y))(Y)

    value, moved = sg.func.jvp(mapped, (w,), (v,))
    rows = [sg.func.jvp(lambda w, y=y: f(w, y), (w,), (v,)) for y in Y]
    np.testing.assert_allclose(value.numpy(), np.stack([row[0].numpy() for row in rows]), rtol=1e-6)
    np.testing.assert_allclose(moved.numpy(), np.stack([row[1].numpy() for row in rows]), rtol=1e-6)
    np.testing.assert_allclose(sg.func.jacfwd(mapped)(w).numpy(), sg.func.jacrev(mapped)(w).numpy(), rtol=1e-6)
