"""Programs of arrays without entries: what divides by a size gives what eager code gives, and raises nothing."""

import warnings

import numpy as np
import pytest

import symgrad as sg
from symgrad.nn import functional as F

FUNCTIONS = {
    "mean": lambda x: x.mean(),
    "mean of rows": lambda x: x.mean(0).sum(),
    "mean of products": lambda x: (x @ sg.ones(3, dtype=x.dtype)).mean(),
    "mean of means": lambda x: (x.mean() * x.mean(1)).mean(),
    "var": lambda x: x.var(),
    "std of rows": lambda x: x.std(0).sum(),
    "root of the mean square": lambda x: (x * x).mean().sqrt(),
    "mse": lambda x: F.mse_loss(x, x * 0),
    "logits": lambda x: F.binary_cross_entropy_with_logits(x, x * 0),
    "sum over the number of rows": lambda x: x.sum() / x.shape[0],
}


def values(found):
    return [np.asarray(getattr(v, "_value", v)) for v in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("transform", [lambda f: f, sg.func.grad, sg.func.grad_and_value], ids=["f", "grad", "both"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_rows_as_eager(name, transform, dtype):
    f = transform(FUNCTIONS[name])
    program = sg.compile(f, np.linspace(0, 1, 12, dtype=dtype).reshape(4, 3)).program
    empty = np.zeros((0, 3), dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted, found = values(f(sg.tensor(empty))), values(program(empty))
    for a, b in zip(wanted, found, strict=True):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        np.testing.assert_array_equal(a, b)


def test_a_sum_over_no_rows_is_zero_and_silent():
    """A gradient that sums over the rows is that of what is left, and warns of nothing, as backward passes."""

    def loss(X, y, w):
        return F.softplus(-y * (X @ w)).mean() + (w * w).sum()

    X, y, w = np.ones((4, 3)), np.ones(4), np.array([1.0, 2.0, 3.0])
    program = sg.compile(sg.func.grad(loss, argnums=2), X, y, w).program
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(program(X[:0], y[:0], w), 2 * w)


def test_a_slope_by_no_rows_is_infinite():
    program = sg.compile(sg.func.grad(lambda w, x: w / x.shape[0], argnums=0), np.float64(2.0), np.ones(3)).program
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert program(2.0, np.ones(0)) == np.inf
    assert program(2.0, np.ones(4)) == 0.25


@pytest.mark.parametrize("name", FUNCTIONS)
def test_traced_on_no_entries(name):
    empty = np.zeros((0, 3), np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = sg.compile(sg.func.grad(FUNCTIONS[name]), empty)(empty)
        of_line = sg.compile(sg.func.grad(lambda x: x.std(0, correction=0)), empty[:, 0])(empty[:, 0])
    assert found.dtype == of_line.dtype == np.float32
    assert found.shape == empty.shape


def test_numbers_before_a_sum_of_squares_are_not_spread_out_first():
    """The ones of a sum's gradient times a number are that number, and parts of an empty axis have no size -1."""
    x = np.linspace(0.0, 1.0, 9)
    plain = sg.compile(sg.func.grad(lambda x: (100 * (x - 1) ** 2).sum()), x)
    assert "return 200 * (x - 1)" in plain.source
    assert plain(x.astype(np.float32)).dtype == np.float32

    def rosenbrock(x):
        return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()

    for transformed in (sg.func.grad(rosenbrock), sg.func.hessian(rosenbrock)):
        program = sg.compile(transformed, x)
        assert "ones" not in program.source
        for n in (0, 1, 2, 6):
            at = 0.3 * np.arange(n)
            assert np.array_equal(program.program(at), transformed(sg.tensor(at)).numpy())
