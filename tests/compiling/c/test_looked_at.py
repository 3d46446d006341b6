"""C files of functions that looked at values: the file looks again, and says where it does not hold."""

import numpy as np

import symgrad as sg
from symgrad.proving.in_c import called, library, text_of
from tests.compiling.c.built import needs_cc

F = sg.nn.functional
rng = np.random.default_rng(0)


@needs_cc
def test_labels_are_checked_by_the_file(tmp_path):
    def loss(W, X, labels):
        return F.cross_entropy(X @ W, labels)

    def args(k):
        return rng.random((3, 4)), rng.random((5 + k, 3)), rng.integers(0, 4, 5 + k)

    program = sg.compile(sg.func.grad(loss), *args(0)).program
    text = text_of(program, tmp_path)
    built = library([text], tmp_path)
    assert "5 where what the function looked at is not as it was" in text
    for k in (0, 6):
        W, X, labels = args(k)
        outs, status = called(built, program, text, W, X, labels)
        assert status == 0
        np.testing.assert_allclose(outs[0], program(W, X, labels), rtol=1e-12, atol=1e-14)
    labels[0] = -100  # such a row is left out, which is another way through the function
    assert called(built, program, text, W, X, labels)[1] == 5


@needs_cc
def test_a_branch_holds_for_its_way(tmp_path):
    def f(x, limit):
        return (x**2).sum() if x.sum() > limit else -(x**3).sum()

    x = np.ones(3)
    program = sg.compile(sg.func.grad(f), x, 0.5).program
    text = text_of(program, tmp_path)
    built = library([text], tmp_path)
    outs, status = called(built, program, text, np.arange(7.0), np.float64(0.5))
    assert (status, outs[0].tolist()) == (0, (2 * np.arange(7.0)).tolist())
    assert called(built, program, text, x, np.float64(3.5))[1] == 5
    assert called(built, program, text, x * np.nan, np.float64(0.5))[1] == 5


@needs_cc
def test_places_that_were_looked_at_are_compared_one_by_one(tmp_path):
    def interpolated(values, grid, q):
        i = np.clip(np.searchsorted(grid, q) - 1, 0, grid.shape[0] - 2)
        t = (q - grid[i]) / (grid[i + 1] - grid[i])
        return values[i] * (1 - t) + values[i + 1] * t

    values, grid, q = rng.random(6), np.arange(6.0), np.array([0.5, 3.2, 4.4])
    program = sg.compile(interpolated, values, grid, q).program
    text = text_of(program, tmp_path)
    built = library([text], tmp_path)
    outs, status = called(built, program, text, values, grid, q + 0.1)
    assert status == 0
    np.testing.assert_allclose(outs[0], np.interp(q + 0.1, grid, values), rtol=1e-12)
    assert called(built, program, text, values, grid, q[::-1].copy())[1] == 5


@needs_cc
def test_what_is_asked_of_sizes_is_asked_by_the_file(tmp_path):
    def f(A):
        return (A**2).sum() if len(A) > A.shape[1] // 2 + 1 else (A**3).sum()

    program = sg.compile(sg.func.grad(f), rng.random((6, 3))).program
    text = text_of(program, tmp_path)
    built = library([text], tmp_path)
    for shape, code in (((4, 5), 0), ((3, 5), 5), ((2, 1), 0), ((2, 3), 5)):
        A = rng.random(shape)
        outs, status = called(built, program, text, A)
        assert status == code
        if not code:
            np.testing.assert_allclose(outs[0], 2 * A)


@needs_cc
def test_arrays_that_are_too_short_for_a_slice_are_refused(tmp_path):
    """A file of loops would read what is not there."""
    program = sg.compile(sg.func.grad(lambda x: (x[:4] ** 2).sum() + x[-1:2:-2].sum()), rng.random(9)).program
    text = text_of(program, tmp_path)
    built = library([text], tmp_path)
    for n, refused in ((3, True), (4, False), (7, False)):
        x = rng.random(n)
        outs, status = called(built, program, text, x)
        assert (status == 2) == refused
        if not refused:
            np.testing.assert_allclose(outs[0], program(x), rtol=1e-12)
