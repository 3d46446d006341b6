"""NumPy kernels of Lambert's W, its real branches 0 and -1, and their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.kernels.entries.elementwise import in_doubles


def lambert_start(p: Any) -> Any:
    """W + 1 next to the branch point, as its series in p = ±√(2(ez + 1)) (Corless et al. 1996, 4.22)."""
    mu, alpha = [-1.0, 1.0], [2.0, -1.0]
    for k in range(2, 24):
        alpha.append(sum(mu[j] * mu[k + 1 - j] for j in range(2, k)))
        mu.append((k - 1) / (k + 1) * (mu[k - 2] / 2 + alpha[k - 2] / 4) - alpha[k] / 2 - mu[k - 1] / (k + 1))
    out = np.zeros_like(p)
    for coefficient in mu[:0:-1]:
        out = (out + coefficient) * p
    return out


def lambert_parts(z: Any, lower: bool) -> tuple[Any, Any]:
    """W and W + 1 of the branch 0, or of the ``lower`` one -1; nan where these are not real.

    Next to the branch point -1/e both are known by what z lacks to it, with 1/e in two floats.
    """
    known = np.where((z >= -0.36787944117144233) & ((z <= 0) | (not lower)), z, 0.0)
    gap = (np.minimum(known, 1) + 0.36787944117144233) - 1.2428753672788363e-17
    p = np.sqrt(2 * np.e * np.maximum(gap, 0)) * (-1 if lower else 1)
    near = np.abs(p) < 0.3
    first = lambert_start(np.where(near, p, 0.0))
    w = lambert_lower(known, p) if lower else lambert_upper(np.minimum(known, 1.7e308), p)
    out = np.where(near, first - 1, w)
    outside = ~((z >= -0.36787944117144233) & ((z <= 0) | (not lower)))
    far = np.where(outside, np.nan, np.where(z == 0, -np.inf, out)) if lower else np.where(z == np.inf, np.inf, out)
    out = np.where(outside, np.nan, far)
    return out, np.where(near & ~outside, first, out + 1)


def lambert_upper(z: Any, p: Any) -> Any:
    """The branch 0 by Halley's iteration."""
    log = np.log(np.maximum(z, 1))  # far out W is log z - log log z: Halley's steps are no longer than 2 below it
    w = np.where(z < 1, -1 + p - p * p / 3, np.where(z < 20, log * 0.7 + 0.3, log - np.log(np.maximum(log, 1))))
    for _ in range(12):
        e = np.exp(w)
        f = w * e - z
        bottom = e * (w + 1) - f * ((w + 2) / np.where(w == -1, 1, 2 * w + 2))
        step = np.where(f == 0, 0, f / np.where(bottom == 0, 1, bottom))
        w = w - step
        if not np.any(np.abs(step) > 1e-16 * np.abs(w)):
            break
    return w


def lambert_lower(z: Any, p: Any) -> Any:
    """The branch -1 by Newton's iteration on w + log(-w) = log(-z), which holds for the smallest z."""
    log = np.log(np.where(z < 0, -z, 0.25))
    w = np.where(z < -0.25, -1 + p - p * p / 3, log - np.log(-log))
    for _ in range(12):
        step = (w + np.log(-w) - log) * w / np.where(w == -1, 1.0, w + 1)
        w = w - np.where(w == -1, 0.0, step)
        if not np.any(np.abs(step) > 1e-16 * np.abs(w)):
            break
    return w


@in_doubles
def lambertw(x: Any, lower: bool = False) -> Any:
    """The principal branch of Lambert's W for x >= -1/e, or the ``lower`` one for -1/e <= x < 0."""
    with np.errstate(all="ignore"):
        return lambert_parts(x, lower)[0]


def lambertw_lower(x: Any) -> Any:
    """The branch -1 of Lambert's W."""
    return lambertw(x, True)


@in_doubles
def lambertw_slope(x: Any, n: int = 1, lower: bool = False) -> Any:
    """The n-th derivative of Lambert's W, n > 0: e^(-nW) P_n(W + 1)/(W + 1)^(2n-1), with W + 1 as it is known."""
    coefficients = [1.0]  # P_(n+1) = -(n v + 2n - 1) P_n + v P_n', the lowest power first
    for k in range(1, n):
        taken = [(j - 2 * k + 1) * c for j, c in enumerate(coefficients)]
        coefficients = [a - k * b for a, b in zip([*taken, 0.0], [0.0, *coefficients], strict=True)]
    with np.errstate(all="ignore"):
        w, v = lambert_parts(x, lower)
        inverse = np.where(np.abs(x) > 3e-308, w / x, np.exp(-w))  # e^-W, far out without its exponent
        top = np.zeros_like(v)
        for coefficient in reversed(coefficients):
            top = top * v + coefficient
        out = (inverse / v) ** n * (top / v ** (n - 1))
        out = np.where(v == 0, np.where(lower, -1.0, (-1.0) ** (n + 1)) * np.inf, out)
        return np.where(x == np.inf, 0.0, np.where((x == 0) & lower, -np.inf, out))
