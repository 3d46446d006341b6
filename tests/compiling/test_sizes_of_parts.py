"""Sizes of parts that are not in the graph, ``ones_like(x[1:]) * x.sum()``: at other sizes they follow, or refuse."""

import pickle

import numpy as np
import pytest

import symgrad as sg


def of_a_sum_over_axes(x):
    """The sum is in the graph, its part is not."""
    table = x[:, None] + x
    return sg.ones_like(table[1:]).sum(0) * table.sum()


FOLLOWED = [
    lambda x: sg.ones_like(x[1:]) * x.sum(),
    lambda x: sg.zeros_like(x[:-1]) + x.mean(),
    lambda x: sg.full_like(x[::2], 3.0) * x.sum(),
    lambda x: sg.full((x[::2].shape[0],), 2.0) * x.sum(),
    lambda x: sg.ones(x[1:].size(0)) * x.sum(),
    lambda x: sg.arange(x.detach()[2:].numel()) * x.sum(),
    lambda x: sg.ones_like(x.detach()[1:]) * x.sum(),
    lambda x: sg.ones_like((2 * x).sin()[1:]) * x.sum(),
    lambda x: sg.ones_like(x.unfold(0, 2, 1)[:, 0]) * x.sum(),
    lambda x: x.sum() / x[1:].numel(),
    of_a_sum_over_axes,
    lambda x: x.sum() / x.detach()[:-2].shape[0],
]

BY_CHANCE = [
    lambda x, w: sg.ones(x[1:].shape[0]) * x.sum() * w.sum(),
    lambda x, w: x.sum() / x[1:].shape[0] * w.sum(),
]
"""The part is as long as another variable."""


def steps_of_split(x):
    return x.sum() / len(x.split(1))


def steps_of_array(x):
    n = 0
    for _ in x.detach().numpy():
        n += 1
    return x.sum() / n


def cut_without_history(x):
    with sg.no_grad():
        part = (x * 2)[1:]
    return sg.ones_like(part) * x.sum()


LOUD = [
    steps_of_split,
    steps_of_array,
    cut_without_history,
    lambda x: sg.linspace(0, 1, x[1:].shape[0]) * x.sum(),
    lambda x: np.ones(x[1:].shape) * x.sum(),
    lambda x: sg.ones_like(x[1:].detach()) * x.sum(),
    lambda x: sg.ones_like(x.data[1:]) * x.sum(),
    lambda x: sg.ones_like(sg.cat([x, x[1:]])) * x.sum(),
    lambda x: sg.ones_like(x.chunk(2)[0]) * x.sum(),
    lambda x: sg.ones_like(x[:10]) * x.sum(),
    lambda x: sg.zeros(len(x[1:])) + x.sum(),
    lambda x: x.new_zeros(len(x[1:])) + x.mean(),
    lambda x: sg.linspace(0, 1, len(x[2:])) * x.sum(),
    lambda x: sg.tensor(np.ones(len(x[1:]))) * x.sum(),
    lambda x: sg.ones_like(sg.cat([x, x])[1:]) * x.sum(),
    lambda x: x.sum() / len(x.unbind()),
    lambda x: x.sum() / len(list(x)),
    lambda x: x.sum() / sum(1 for _ in x.detach().numpy()),
    lambda x: x.sum() / len([1 for _ in x.detach().numpy()]),
]


def at(values):
    return sg.tensor(values, requires_grad=True, name="x")


@pytest.mark.parametrize("f", FOLLOWED, ids=range(len(FOLLOWED)))
def test_followed(f):
    """Where the graph has that of which it is a part, its size goes on as what it is."""
    program = sg.compile(f(at(np.arange(1.0, 6.0))), ["x"])
    for n in (5, 8, 3):
        values = 0.7 * np.arange(1.0, n + 1)
        np.testing.assert_allclose(program(values), f(at(values)).detach().numpy())


@pytest.mark.parametrize("f", BY_CHANCE, ids=range(len(BY_CHANCE)))
def test_as_long_as_another_variable(f):
    """The size of a part is its own, whatever else is as long in the recorded run."""
    w = sg.tensor(np.ones(4), requires_grad=True, name="w")
    program = sg.compile(f(at(np.arange(1.0, 6.0)), w), ["x", "w"])
    for n, m in ((5, 4), (8, 4), (5, 6)):
        x, other = np.arange(1.0, n + 1), np.ones(m)
        expected = f(at(x), sg.tensor(other, requires_grad=True)).detach().numpy()
        np.testing.assert_allclose(program(x, other), expected)


@pytest.mark.parametrize("f", LOUD, ids=range(len(LOUD)))
def test_loud(f):
    """Where nothing but a number is left of it, the program holds for the recorded length."""
    program = sg.compile(f(at(np.arange(1.0, 6.0))), ["x"])
    np.testing.assert_allclose(program(np.ones(5)), f(at(np.ones(5))).detach().numpy())
    with pytest.raises(sg.errors.ArgumentError, match="recorded at other sizes"):
        program(np.ones(8))


LONG = [
    lambda x: x[:3].mean(),
    lambda x: (x[-3:] ** 2).mean(),
    lambda x: x[:3].sum() / x[:3].numel(),
    lambda x: sg.ones_like(x[:3]) * x.sum(),
    lambda x: sg.ones_like(x[2:-1]) * x.sum(),
]


@pytest.mark.parametrize("f", LONG, ids=range(len(LONG)))
def test_beyond_the_end(f):
    """A slice that reaches over the end is shorter than the recorded run tells."""
    x = at(np.arange(1.0, 6.0))
    slope = sg.autograd.grad(f(x).sum(), x, create_graph=True)[0]
    for made in (f(x), slope):
        program = sg.compile(made, ["x"])
        with pytest.raises(sg.errors.ArgumentError, match="n ≥ 3"):
            program(np.ones(2))
    program = sg.compile(f(x), ["x"])
    for n in (3, 8):
        values = 0.7 * np.arange(1.0, n + 1)
        np.testing.assert_allclose(program(values), f(at(values)).detach().numpy())


SQUEEZED = {
    "all": lambda x: x[1:].squeeze(),
    "one": lambda x: (2 * x)[1:].squeeze(0).sum(),
    "the last": lambda x: x.T[..., 1:].squeeze(-1),
}


@pytest.mark.parametrize("f", SQUEEZED.values(), ids=SQUEEZED)
def test_one_row_by_chance_is_squeezed(f):
    """At another number of rows there is nothing to squeeze: the program gave the first of them."""
    x = at(np.arange(1.0, 7.0).reshape(2, 3))
    program = sg.compile(f(x), ["x"])
    for columns in (3, 4):
        values = np.cos(np.arange(2.0 * columns)).reshape(2, columns)
        np.testing.assert_allclose(program(values), f(at(values)).detach().numpy())
    with pytest.raises(sg.errors.ShapeError, match="was compiled for size 2"):
        program(np.ones((4, 3)))


GIVEN = {
    "reshape": lambda x: x[1:].reshape(x.shape[1], -1),
    "turned": lambda x: x[1:].T.reshape(-1, x.shape[1]),
    "view": lambda x: x[1:].view(x.shape[1], -1).cumsum(1),
    "unflatten": lambda x: x[1:].unflatten(0, (x.shape[1], -1)),
    "expand": lambda x: x[1:, :1].expand(x.shape[1], 2),
    "of a part": lambda x: x.T.reshape(x[1:].shape[0], -1),
}


@pytest.mark.parametrize("f", GIVEN.values(), ids=GIVEN)
def test_an_axis_is_as_long_by_chance_as_the_size_that_it_is_given(f):
    """Of four rows and three columns: the program gave the n - 1 rows themselves at any size."""
    program = sg.compile(f(at(np.arange(12.0).reshape(4, 3))), ["x"])
    for shape in ((4, 3), (5, 4), (3, 3), (3, 5), (7, 4)):
        values = np.cos(np.arange(np.prod(shape))).reshape(shape)
        try:
            found = program(values)
        except ValueError:
            assert shape != (4, 3)
        else:
            np.testing.assert_array_equal(found, f(at(values)).detach().numpy())


def test_shown_entries_fix_nothing():
    """A loop that prints the entries of an array chooses nothing."""
    x = at(np.arange(1.0, 6.0))
    for value in x.detach().numpy():
        print(value)
    assert sg.compile(x.mean(), ["x"])(np.ones(8)) == 1.0


def test_pickled():
    """What a size follows from is of this process; the graph that it is in can be sent."""
    y = sg.ones(at(np.arange(1.0, 6.0))[1:].shape[0]) * 2 * at(np.ones(4))
    assert pickle.loads(pickle.dumps(y)).shape == (4,)
