"""sg.check knows how far rounding alone carries an honest gradient, also where all of it cancels."""

from __future__ import annotations

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
