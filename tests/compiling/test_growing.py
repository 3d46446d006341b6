"""Constants and numbers that a function makes of a size: a program that is shown or saved makes them, at every size."""

import math
import runpy
import subprocess
import sys

import numpy as np
import pytest

import symgrad as sg
from symgrad.func import grad, jacrev

rng = np.random.default_rng(3)


def grid(A):
    rows, columns = np.meshgrid(np.arange(A.shape[0]), np.arange(A.shape[1]), indexing="ij")
    return (A * (2 * rows + columns - 3)).sum() + (A**2 * rows).sum()


def warp(A):
    y, x = sg.meshgrid(sg.arange(A.shape[0], dtype=sg.float64), sg.arange(A.shape[1], dtype=sg.float64), indexing="ij")
    return (sg.sin(A) * (x + 0.5 * y)).sum()


def from_zeros(x):
    state, weights = sg.zeros_like(x), np.ones(len(x))
    for k in range(3):
        state = 0.5 * state + weights * x**k
    return (state**2).sum()


def regularised(A):
    unit = sg.eye(A.shape[1], dtype=A.dtype)
    return sg.linalg.det(A.T @ A + 0.1 * unit)


VECTORS = {
    "zeros that a variable holds": from_zeros,
    "ones": lambda x: (x**2 * np.ones(x.shape[0])).sum(),
    "ones by len": lambda x: (x**2 * np.ones(len(x))).sum(),
    "one number": lambda x: (np.full(x.shape[0], 0.3) @ x**2).sum(),
    "whole numbers": lambda x: (x**2 * np.arange(x.shape[0])).sum(),
    "from one": lambda x: (x**2 * np.arange(1, len(x) + 1)).sum(),
    "in steps": lambda x: (x**2 * (0.5 * np.arange(len(x)) - 2)).sum(),
    "backwards": lambda x: (x**2 * -np.arange(x.shape[0], dtype=float)).sum(),
    "between two numbers": lambda x: (x**2 * np.linspace(-1, 2, len(x))).sum(),
    "from 0 to 1": lambda x: (x**2 * sg.linspace(0, 1, x.shape[0], dtype=x.dtype)).sum(),
    "the mean": lambda x: (np.ones(len(x)) / len(x)) @ x**2,
    "single precision": lambda x: (x.float() ** 2 * np.ones(len(x), np.float32)).sum().double(),
}
GRIDS = {
    "a unit matrix that a variable holds": regularised,
    "grid": grid,
    "warp": warp,
    "all of one row": lambda A: (A**2 * (np.arange(A.shape[1]) * np.ones(A.shape))).sum(),
}


def checked(f, make):
    program = sg.compile(grad(f), make(0)).program
    told = {size for a in program.arguments if a.default is None for size in a.shape}
    assert all(told.isdisjoint(a.shape) for a in program.arguments if a.default is not None)
    for k in (0, 1, 6):
        args = make(k)
        want = grad(f)(sg.tensor(args)).numpy()
        np.testing.assert_allclose(program(args), want, rtol=1e-13, atol=1e-14)
    return program


@pytest.mark.parametrize("name", VECTORS)
def test_vectors_follow_the_size(name):
    checked(VECTORS[name], lambda k: rng.random(5 + k))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_between_two_have_their_dtype(dtype):
    """And of one there is no step."""
    slope = grad(lambda x: (x**2 * sg.linspace(2, -1.3, len(x), dtype=x.dtype)).sum())
    program = sg.compile(slope, rng.random(5).astype(dtype)).program
    for n in (5, 12, 50, 2, 1):
        x = rng.random(n).astype(dtype)
        assert program(x).dtype == dtype
        np.testing.assert_allclose(program(x), slope(x).numpy(), rtol=0, atol=16 * np.finfo(dtype).eps)


@pytest.mark.parametrize(
    ("n", "made"),
    [
        (2, lambda n: np.linspace(0, 4, n).astype(int)),
        (6, lambda n: np.linspace(0, 60, n).astype(int)),
        (5, lambda n: np.round(np.linspace(0, 1, n), 2)),
    ],
)
def test_rounded_steps_are_none(n, made):
    """At a few sizes they are even: four in steps of 4, 2 and 1, which were taken for steps of 4/(n - 1) at all."""
    program = sg.compile(lambda x: (x**2 * made(len(x))).sum(), rng.random(n)).program
    with pytest.raises(ValueError, match="was compiled for|must have shape|different sizes"):
        program(rng.random(4))


@pytest.mark.parametrize("name", GRIDS)
def test_grids_follow_both_sizes(name):
    checked(GRIDS[name], lambda k: rng.random((4 + k, 6 + 2 * k)))


def test_other_constants_stay_what_they_were():
    """Values that follow no such rule are data of the one size, and other sizes are refused."""
    program = sg.compile(lambda x: (x * np.hanning(x.shape[0])).sum(), rng.random(6)).program
    (c,) = [a for a in program.arguments if a.default is not None]
    np.testing.assert_array_equal(c.default, np.hanning(6))
    with pytest.raises(sg.errors.ShapeError):
        program(rng.random(7))


def test_data_that_looks_made_is_not_made():
    data = np.ones(5)
    program = sg.compile(lambda x: (x * data).sum(), rng.random(5)).program
    assert not any(isinstance(s, str) for a in program.arguments for s in a.shape)
    with pytest.raises(sg.errors.ShapeError):
        program(rng.random(6))


def test_jacobians_and_their_files(tmp_path):
    def moments(p, x):
        return p[0] * x ** np.arange(x.shape[0]) + p[1] * np.ones(len(x))

    program = sg.compile(jacrev(moments), np.array([1.0, 2.0]), rng.random(5))
    program.save(tmp_path / "moments.py")
    run = subprocess.run(
        [sys.executable, "-I", tmp_path / "moments.py", "--selftest"], capture_output=True, check=False
    )
    assert run.returncode == 0, run.stderr
    space = {}
    exec((tmp_path / "moments.py").read_text(), space)
    x = rng.random(9)
    np.testing.assert_allclose(
        space["jacobian_moments"](np.array([1.0, 2.0]), x), np.stack([x ** np.arange(9), np.ones(9)], 1), rtol=1e-13
    )


def test_a_size_that_is_fixed_leaves_the_others_free():
    def f(x, A):
        return sum(float(k) * x[k] for k in range(len(x))) + (A * np.arange(A.shape[0])[:, None]).sum()

    program = sg.compile(f, rng.random(3), rng.random((4, 5))).program
    A = rng.random((7, 9))
    np.testing.assert_allclose(program(np.ones(3), A), 3 + (A * np.arange(7)[:, None]).sum(), rtol=1e-13)


def test_a_size_that_happens_to_be_another_less_one_is_free():
    def smooth(u, noisy):
        return ((u - noisy) ** 2).sum() + sum((np.diff(u, axis=k) ** 4).sum() for k in (0, 1))

    def along(u, noisy):
        return sg.func.jvp(lambda x: grad(smooth)(x, noisy), (u,), (u * 0.5 + 0.1,))[1]

    program = sg.compile(along, rng.random((6, 7)), rng.random((6, 7))).program
    for shape in ((6, 7), (7, 8), (5, 9), (4, 4)):
        u, noisy = rng.random(shape), rng.random(shape)
        np.testing.assert_allclose(program(u, noisy), along(sg.tensor(u), sg.tensor(noisy)).numpy(), rtol=1e-12)


def test_a_size_that_has_to_be_another_less_one_stays_so():
    program = sg.compile(grad(lambda x, w: (np.diff(x) ** 2 * w).sum()), rng.random(7), rng.random(6)).program
    assert program(rng.random(9), rng.random(8)).shape == (9,)
    with pytest.raises(sg.errors.ShapeError):
        program(rng.random(9), rng.random(9))


def at(index):
    places = sg.tensor(index)
    return {
        "index_add along rows": lambda A: A.index_add(0, places, A[: len(index)]),
        "index_add along columns": lambda A: A.index_add(1, places, A[:, : len(index)]),
        "index_add of a scaled part": lambda A: A.index_add(1, places, A[:, : len(index)], alpha=-2),
        "index_copy": lambda A: A.index_copy(1, places, 2 * A[:, : len(index)]),
        "index_fill": lambda A: A.index_fill(1, places, 0.5),
        "index_reduce": lambda A: A.index_reduce(0, places, A[: len(index)], "amax"),
        "scatter_add": lambda A: A.scatter_add(0, places[:, None].expand(len(index), A.shape[1]), A[: len(index)]),
        "gather": lambda A: A.gather(1, places.expand(A.shape[0], len(index))),
    }


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("name", at([0]))
def test_places_that_are_spread_over_an_axis_follow_its_size(name, padded):
    """Along an axis, and along one that is longer than that of the argument."""

    def f(A):
        return (at([2, 0, 1])[name](sg.nn.functional.pad(A, (1, 2)) if padded else A) ** 2).sum()

    checked(f, lambda k: rng.normal(size=(7 + k, 9 + 2 * k)))


def normal(x):
    n, m = x.shape
    return 0.5 * n * m * np.log(2 * np.pi) * x[0, 0] + (x * x).sum() / 2.0


LETTERED = {
    "shape": lambda x: (x * x).sum() / x.shape[0],
    "mean": lambda x: x.mean() + sg.std(x),
    "len": lambda x: (x * x).sum() / len(x),
    "math.sqrt": lambda x: (x * x).sum() / math.sqrt(x.shape[0]),
    "np.sqrt": lambda x: (x * x).sum() / np.sqrt(x.shape[0]),
    "logarithm": lambda x: (x * x).sum() * math.log(x.shape[1]),
    "float": lambda x: (x * x).sum() / float(x.shape[0]),
    "float first": lambda x: 0.7 * x.shape[0] * (x * x).sum(),
    "pairs": lambda x: x.sum() ** 2 / (0.5 * len(x) * (len(x) - 1)),
    "irrational": normal,
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("how", LETTERED)
def test_what_python_makes_of_a_size_follows_it_in_programs(how, dtype, tmp_path):
    """Twice as many rows as columns, as in the example, is no rule."""
    f = LETTERED[how]
    g = sg.compile(grad(f), rng.random((6, 3)).astype(dtype))
    assert "(n, m)" in g.source
    g.save(tmp_path / "g.py")
    space = {}
    exec((tmp_path / "g.py").read_text(), space)
    rtol = 1e-6 if dtype is np.float32 else 1e-13
    for shape in ((6, 3), (9, 4), (2, 5)):
        x = rng.random(shape).astype(dtype)
        expected = grad(f)(x).numpy()
        for found in (g.program(x), space[g.program.name](x)):
            assert found.dtype == dtype
            np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol)


ENTRIES_OF_ANOTHER_AXIS = {
    "steps to n": lambda x: x * sg.linspace(0, x.shape[0], x.shape[1]),
    "steps of NumPy's": lambda x: x * np.linspace(0, x.shape[0], x.shape[1]),
    "filled with n": lambda x: x * np.full(x.shape[1], x.shape[0]),
    "powers": lambda x: x * sg.linspace(0, 1, x.shape[1]) ** x.shape[0],
    "a window": lambda x: x * sg.kaiser_window(x.shape[1], beta=x.shape[0]),
}


@pytest.mark.parametrize("how", ENTRIES_OF_ANOTHER_AXIS)
def test_entries_of_a_constant_as_long_as_one_axis_may_follow_another(how, tmp_path):
    """The file of x (3, 4) took rows of any number, and the entries were those of three, silently."""
    f, rng = ENTRIES_OF_ANOTHER_AXIS[how], np.random.default_rng(0)
    for g in (f, sg.func.grad(lambda x: (f(x) ** 2).sum())):
        compiled = sg.compile(g, sg.tensor(rng.random((3, 4))), name="f")
        compiled.save(tmp_path / "f.py")
        function = runpy.run_path(str(tmp_path / "f.py"))["f"]
        for shape in ((3, 4), (5, 4), (3, 6), (4, 4)):
            x = rng.random(shape)
            for program in (compiled.program, function):
                try:
                    found = program(x)
                except ValueError:
                    assert shape != (3, 4)
                else:
                    assert np.allclose(found, g(sg.tensor(x)).numpy(), rtol=1e-6)
