"""sg.check knows how far rounding alone carries an honest gradient, also where all of it cancels."""

from __future__ import annotations

import re

import numpy as np
import pytest

from symgrad.check import check

RNG = np.random.default_rng(4)
X = RNG.normal(size=(6, 4))


def centred(x, b):
    y = np.tanh(x) + b
    y = y - y.mean(axis=0, keepdims=True)
    return ((y - X.astype(x.dtype)) ** 2).sum()


def centred_gradient(x, b):
    y = np.tanh(x) + b
    y = y - y.mean(axis=0, keepdims=True)
    g = 2 * (y - X.astype(x.dtype))
    g = g - g.mean(axis=0, keepdims=True)
    return g * (1 - np.tanh(x) ** 2), g.sum(axis=0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_gradient_that_cancels_to_zero(dtype):
    for _ in range(20):
        x, b = RNG.normal(size=(6, 4)).astype(dtype), RNG.normal(size=4).astype(dtype)
        report = check(centred, centred_gradient, x, b)
        assert report.ok, report
        assert report["b"].tolerance.max() < 1e4 * np.finfo(dtype).eps
        wrong = check(centred, lambda x, b: (centred_gradient(x, b)[0], np.full_like(b, 1e-4)), x, b)
        assert not wrong["b"].ok


def test_bfloat16_is_checked_in_double_precision():
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    a, b = RNG.normal(size=(3, 4)).astype(bfloat16), RNG.normal(size=(4, 3)).astype(bfloat16)
    wide_a, wide_b = a.astype(np.float32), b.astype(np.float32)
    g = np.cos(wide_a @ wide_b)
    right = ((g @ wide_b.T).astype(bfloat16), (wide_a.T @ g).astype(bfloat16))
    report = check(lambda a, b: np.sin(a @ b).sum(), right, a, b)
    assert report.ok, report
    assert "recorded operations" in report.method
    assert report["a"].exact.dtype == np.float64
    report = check(lambda a, b: np.sin(a @ b).sum(), (right[0], right[1] * bfloat16(2)), a, b)
    assert report.diagnosis.kind == "factor"


def test_numbers_beside_arrays_in_single_precision():
    """A Python float is a double one: what is computed from the arrays beside it is right to single precision."""
    Z, t = RNG.normal(size=(5, 2)).astype(np.float32), RNG.normal(size=5).astype(np.float32)

    def f(log_scale, Z, t):
        D = ((Z[:, None] - Z[None]) ** 2).sum(-1)
        return t @ np.exp(-0.5 * D / np.exp(2 * log_scale)) @ t

    def grad(log_scale, Z, t, factor=1):
        D = ((Z[:, None] - Z[None]) ** 2).sum(-1) / np.exp(2 * log_scale)
        return factor * (t @ (D * np.exp(-0.5 * D)) @ t)

    assert check(f, grad, 0.2, Z, t, argnums=0)
    assert not check(f, lambda *args: grad(*args, factor=1 + 1e-6), 0.2, Z, t, argnums=0)


def mixture(logits, x):
    z = x[:, None] - np.arange(3.0)
    a = logits - np.log(np.exp(logits).sum())
    return -np.log(np.exp(a - z**2 / 2).sum(axis=1)).sum()


def mixture_gradient(logits, x):
    p = np.exp(logits) / np.exp(logits).sum()
    r = p * np.exp(-((x[:, None] - np.arange(3.0)) ** 2) / 2)
    r = r / r.sum(axis=1, keepdims=True)
    return len(x) * p - r.sum(axis=0)


def test_a_gradient_of_which_nothing_but_rounding_is_left():
    """At its minimum a gradient is the difference of equal parts: 6.3e-14 where another formula has 6.4e-14."""
    from_all_sides = np.concatenate([np.zeros(5), np.ones(5), np.full(5, 2.0)])
    for size in (1e-12, 1e-9, 1e-6):
        logits = size * RNG.normal(size=3)
        report = check(mixture, mixture_gradient, logits, from_all_sides, argnums=0)
        assert report.ok, report
        assert not check(mixture, lambda *a: mixture_gradient(*a) + 1e-10, logits, from_all_sides, argnums=0)


def test_a_variance_of_arrays_divides_by_n_where_it_hardly_shows():
    """Beside an epsilon that is 1e-7 of the gradient, and 1e-12 of the value: the variance of tensors was taken."""

    def f(x):
        return (((x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + 1e-5)) ** 3).sum()

    def grad(x):
        s = np.sqrt(x.var(axis=0) + 1e-5)
        h = (x - x.mean(axis=0)) / s
        g = 3 * h**2
        return (g - g.mean(axis=0) - h * (g * h).mean(axis=0)) / s

    for size in (1e-4, 1e-5, 1e-6):
        report = check(f, grad, size * RNG.normal(size=(6, 3)))
        assert report.ok, report


def attended(Q, K, V, W):
    S = Q @ K.T
    P = np.exp(S - S.max(axis=1, keepdims=True))
    return (W * (P / P.sum(axis=1, keepdims=True) @ V)).sum()


def attended_gradient(Q, K, V, W):
    P = np.exp(Q @ K.T)
    P = P / P.sum(axis=1, keepdims=True)
    G = W @ V.T
    return P * (G - (P * G).sum(axis=1, keepdims=True)) @ K


def test_a_gradient_of_zero_that_another_formula_has_by_cancelling():
    """Keys that are all alike: a sum of 1e-17 was wrong, as the exact gradient is 0 to the last digit."""
    for seed in range(5):
        W = np.random.default_rng(seed).normal(size=(4, 2))
        args = np.ones((4, 3)), np.ones((5, 3)), np.ones((5, 2)), W
        report = check(attended, attended_gradient, *args, argnums=0)
        assert report.ok, report
        assert not check(attended, lambda *a: attended_gradient(*a) + 1e-15, *args, argnums=0)


LOSING = {
    "a variance by its squares": (
        lambda x: x.std(),
        lambda x: (x - x.mean()) / len(x) / np.sqrt((x * x).mean() - x.mean() ** 2),
        1e6 + np.random.default_rng(0).normal(size=8),
    ),
    "exp(x) - 1": (
        lambda x: np.log(np.expm1(x)).sum(),
        lambda x: np.exp(x) / (np.exp(x) - 1),
        np.array([1e-9, 1e-8, 1e-7]),
    ),
    "a root that is nearly the other one": (
        lambda b: (-2 / (b + np.sqrt(b * b - 4))).sum(),
        lambda b: (b / np.sqrt(b * b - 4) - 1) / 2,
        np.array([1e4, 1e5, 1e6]),
    ),
    "a sigmoid that is all but 1": (
        lambda x: np.log1p(np.exp(-x)).sum(),
        lambda x: 1 / (1 + np.exp(-x)) - 1,
        np.array([20.0, 30.0, 25.0]),
    ),
    "a quotient of small numbers": (
        lambda x: (np.expm1(x) / x).sum(),
        lambda x: (x * np.exp(x) - np.exp(x) + 1) / x**2,
        np.array([1e-4, 2e-5, 1e-3]),
    ),
}


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="extended precision is double precision here")
@pytest.mark.parametrize("name", LOSING)
def test_a_right_formula_that_loses_digits_is_right_and_told_so(name):
    """They were wrong, "right to 8 digits", and one had a mend that holds for small numbers alone."""
    f, grad, x = LOSING[name]
    report = check(f, grad, x)
    assert report.ok, report
    assert "loses digits" in str(report)
    for wrong in (lambda x: grad(x) * 1.001, lambda x: 2 * grad(x), lambda x: grad(x) + np.max(grad(x)) * 1e-3):
        assert not check(f, wrong, x, diagnose=False)


def test_a_right_formula_in_single_precision_that_loses_digits_is_right_and_told_so():
    """It was WRONG, "the formula is right: in float64 the gradient agrees", and one had a mend, a transpose of it."""

    def grad(x):
        return (x - x.mean()) / len(x) / np.sqrt((x * x).mean() - x.mean() ** 2)

    for size in (100, 300):
        x = (size + np.random.default_rng(0).normal(size=6)).astype(np.float32)
        report = check(lambda x: x.std(), grad, x)
        assert report.ok
        assert re.search(r"loses digits here: [1-3] of 7 (is|are)\s+left", str(report))
        for wrong in (lambda x: grad(x) * np.float32(1.3), lambda x: grad(x) * (1 + x / np.float32(8 * size))):
            assert not check(lambda x: x.std(), wrong, x, diagnose=False)
    nothing_left = check(lambda x: x.std(), grad, (1e3 + np.arange(6.0) / 99).astype(np.float32))
    assert nothing_left.diagnosis.kind == "rounding"


def test_a_formula_that_loses_digits_hides_no_mistake():
    def f(x, y):
        return np.log1p(np.exp(-x)).sum() + (y**3).sum()

    def grad(x, y):
        return 1 / (1 + np.exp(-x)) - 1, 3 * y**2 * (1 + 1e-9)

    report = check(f, grad, np.array([20.0, 30.0]), np.array([0.5, 2.0]), diagnose=False)
    assert not report["y"].ok
    assert not check(f, lambda x, y: grad(x, y + 1e-9)[1], np.array([0.2]), np.array([0.5]), argnums=1, diagnose=False)


def test_gradients_in_extended_precision_are_compared_in_double():
    x = RNG.normal(size=3)
    assert check(lambda x: (x**3).sum(), lambda x: 3 * x.astype(np.longdouble) ** 2, x)
    assert check(lambda x: (x**3).sum(), lambda x: 2 * x.astype(np.longdouble) ** 2, x).diagnosis.kind == "factor"


def test_where_there_are_no_values_in_many_digits_the_exact_gradient_stays():
    """An index that is data was an error of the evaluation in digits, where a gradient is off by a little."""
    x, k, right = np.array([0.5, 2.0, 1.0]), np.array([0, 2, 2]), np.array([1.0, 0, 4])

    def f(x, k):
        return (np.concatenate([[-5.0], x, [5.0]])[k + 1] ** 2).sum()

    assert not check(f, lambda x, k: right * (1 + 1e-6), x, k, diagnose=False)
    assert check(f, lambda x, k: right, x, k)
    assert check(f, lambda x, k: right, x, k, method="mp")  # the sum of an index and 1 was no index


TIMES, HEIGHTS = np.linspace(0, 1, 12), np.random.default_rng(1).normal(size=12)


@pytest.mark.parametrize("powers", [4, 6, 8])
def test_constants_that_have_lost_digits_are_no_mistake_of_the_gradient(powers):
    """What f makes of a table beside the tape, an inverse, is off by more than the rounding of the gradient."""

    def f(y):
        V = np.vander(TIMES, powers)
        return ((np.linalg.inv(V.T @ V) @ V.T @ y) ** 2).sum()

    def grad(y):
        P = np.linalg.pinv(np.vander(TIMES, powers))
        return 2 * P.T @ (P @ y)

    report = check(f, grad, HEIGHTS)
    assert report.ok, report
    for wrong in (lambda y: 1.001 * grad(y), lambda y: grad(y) + np.max(grad(y)) * 1e-3 * (y > 0)):
        assert not check(f, wrong, HEIGHTS, diagnose=False)


@pytest.mark.parametrize("far", [1e2, 1e4, 1e6])
def test_a_steep_gradient_far_from_zero_is_on_no_kink(far):
    """That of a deviation turns within a millionth of such numbers; one that was off by a percent was a subgradient."""
    x = far + RNG.normal(size=4)

    def gradient(x, factor):
        return factor * (x - x.mean()) / len(x) / np.sqrt(((x - x.mean()) ** 2).mean())

    assert check(lambda x: x.std(), lambda x: gradient(x, 1), x)
    for factor in (1 + 1e-6, 1.0001, 1.01):
        assert not check(lambda x: x.std(), lambda x: gradient(x, factor), x, diagnose=False)  # noqa: B023
