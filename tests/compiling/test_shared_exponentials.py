"""What softmax, its logarithm and logsumexp have in common is computed once by programs, with the same values."""

import numpy as np
import pytest

import symgrad as sg

ROWS = np.array([[0.3, -1.0, 2.0], [0.0, -41.0, -50.0], [800.0, 800.0, -1.0], [-700.0, -745.0, 1.0]])
ENDLESS = np.array([[-np.inf, -np.inf, -np.inf], [np.inf, 1.0, 2.0], [np.nan, 1.0, 2.0], [-np.inf, 0.0, 1.0]])


def totals(x):
    return (sg.logsumexp(x, 1) ** 2).sum()


def kept_totals(x):
    return (sg.logsumexp(x, 0, keepdim=True) * x).sum()


def logarithms(x):
    return (sg.log_softmax(x, 1) ** 2).sum()


@pytest.mark.parametrize("place", [ROWS, ENDLESS, ROWS[:, :1], ROWS[:0]], ids=["rows", "endless", "one", "none"])
@pytest.mark.parametrize("function", [totals, kept_totals, logarithms])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_values_and_slopes_are_those_of_each_alone(function, place, dtype):
    both = sg.func.value_and_grad(function)
    x = place.astype(dtype)
    with np.errstate(all="ignore"):
        found, wanted = sg.compile(both)(x), both(sg.tensor(x.astype("float64")))
    for got, want in zip(found, wanted, strict=True):
        want = want.numpy(force=True)
        assert got.dtype == x.dtype
        kept = np.isfinite(want)  # beside an infinity, programs may keep a value where eager calls have nan
        tolerance = {"rtol": 1e-12} if dtype == "float64" else {"rtol": 1e-5, "atol": 1e-37}
        np.testing.assert_allclose(got[kept], want[kept], **tolerance)


@pytest.mark.parametrize("function", [totals, kept_totals, logarithms])
def test_one_exponential_is_enough(function):
    program = sg.compile(sg.func.value_and_grad(function), ROWS)
    body = program.source.split("def value_and_grad")[1]
    assert body.count("_and_shares(") + body.count("_and_softmax(") == 1
    assert "np.exp(" not in body
    assert not any(f" {name}(" in body for name in ("shares", "softmax", "logsumexp", "log_softmax"))


def test_sums_along_other_axes_stay_alone():
    def function(x):
        return sg.logsumexp(x, (0, 1)) + sg.logsumexp(x, 0).sum() + (sg.softmax(x, 1) * x).sum()

    both = sg.func.value_and_grad(function)
    for got, want in zip(sg.compile(both)(ROWS), both(sg.tensor(ROWS)), strict=True):
        np.testing.assert_allclose(got, want.numpy(), rtol=1e-12)


def test_differences_of_exponentials_inside_of_others_have_programs():
    """The gradient had none: an exponential was read as the ratio in it."""

    def function(x):
        return (((x.exp() + x.exp().triu(1)) * 0.3).exp()).exp().sum()

    slope, rows = sg.func.grad(function), np.tanh(ROWS)
    np.testing.assert_allclose(sg.compile(slope, rows)(rows), slope(sg.tensor(rows)).numpy(), rtol=1e-12)
