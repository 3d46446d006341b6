"""Entries that are written by an index: what moves with them, and second derivatives through them."""

import runpy

import numpy as np
import pytest

import symgrad as sg

rng = np.random.default_rng(7)
APART = np.array([0, 2])
WRITTEN = {
    "a slice": (slice(1, None), (2, 3, 4)),
    "one place": (1, (4,)),
    "a new axis": ((None, 1), (3, 4)),
    "places in the middle": ((slice(None), APART), (4,)),
    "places apart": ((APART, slice(None), APART), (3,)),
    "places apart, one value": ((APART, slice(None), APART), ()),
}


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("argnum", [0, 1])
def test_hessians_through_entries_that_are_written(name, argnum):
    index, shape = WRITTEN[name]

    def f(q, v):
        u = q * q
        u[index] = v * v * q[0, 0, 0]
        return sg.linalg.norm(u)

    rng = np.random.default_rng(0)
    q, v = rng.normal(size=(3, 3, 4)), rng.normal(size=shape)
    second = sg.func.hessian(f, argnum)
    np.testing.assert_allclose(sg.compile(second)(q, v), second(sg.tensor(q), sg.tensor(v)), atol=1e-9)


def test_the_places_that_a_moving_array_is_written_at_are_read_in_every_call():
    def written(x, places):
        u = x * 1
        u[places] = x[3:5]
        return sg.sin(u)

    along = lambda x, places: sg.func.jvp(lambda x: written(x, places), (x,), (sg.ones(6),))[1]  # noqa: E731
    x = np.arange(6.0)
    program = sg.compile(along, x, np.array([0, 2]))
    for places in (np.array([0, 2]), np.array([5, 1])):
        np.testing.assert_allclose(program(x, places), along(sg.tensor(x), sg.tensor(places)), rtol=1e-6)


@pytest.mark.parametrize("argnum", [0, 1])
def test_hessians_through_entries_that_are_written_along_an_axis(argnum):
    places = sg.tensor([[1, 0, 2], [2, 1, 0]])

    def f(x, v):
        return sg.linalg.norm(sg.scatter(x * x, 0, places, v * v * x[0, 0]))

    x, v = rng.normal(size=(4, 3)), rng.normal(size=(2, 3))
    second = sg.func.hessian(f, argnum)
    np.testing.assert_allclose(sg.compile(second)(x, v), second(sg.tensor(x), sg.tensor(v)), atol=1e-9)


def test_what_is_written_beside_an_infinite_entry_moves_alone():
    f = lambda v: sg.scatter(sg.tensor([np.inf, 1.0]), 0, sg.tensor([1]), v)  # noqa: E731
    moved = sg.func.jvp(f, (sg.ones(1),), (sg.ones(1),))[1]
    np.testing.assert_array_equal(moved, [0, 1])


def test_zeros_between_zeros_are_saved(tmp_path):
    """The formula in the file was looked for: KeyError 'index'."""
    x = sg.tensor([0.7], dtype=sg.float64, requires_grad=True, name="x")
    sg.compile(sg.nn.functional.pad(x - x.mean(), (1, 1))).save(tmp_path / "f.py")
    assert runpy.run_path(str(tmp_path / "f.py"))["_PROGRAM"](np.array([2.0])).tolist() == [0, 0, 0]
