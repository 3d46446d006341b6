"""Lines that sg.check mends where the change shows in few entries, or in none: bounds, thresholds, what stands on the
other side of a branch, windows of an array, lengths; and which line is changed where several would do."""

from __future__ import annotations

import numpy as np
import pytest

from symgrad.check import check, inquiry

RNG = np.random.default_rng(3)
X, b, y = RNG.normal(size=(8, 3)), RNG.normal(size=3), RNG.normal(size=8)
w = np.array([0.2, -0.7, 1.5, -2.5, 4.0, -0.1, 1.1])


@pytest.fixture(autouse=True)
def _enough_time(monkeypatch):
    monkeypatch.setattr(inquiry, "FIRST_MENDING", 60)
    monkeypatch.setattr(inquiry, "LONGEST_MENDING", 0)


def huber(b, X, y, delta):
    r = np.abs(y - X @ b)
    return np.where(r <= delta, r**2 / 2, delta * (r - delta / 2)).sum()


def clipped_at_zero(b, X, y, delta):
    return -X.T @ np.clip(y - X @ b, 0, delta)


def tukey(b, X, y, c):
    u = (y - X @ b) / c
    return np.where(np.abs(u) <= 1, c**2 / 6 * (1 - (1 - u**2) ** 3), c**2 / 6).sum()


def not_cut_off(b, X, y, c):
    r = y - X @ b
    return -X.T @ np.where(np.abs(r) <= c, r * (1 - (r / c) ** 2) ** 2, r)


def penalty(w, lam, a):
    x = np.abs(w)
    mid = (2 * a * lam * x - x**2 - lam**2) / (2 * (a - 1))
    return np.where(x <= lam, lam * x, np.where(x <= a * lam, mid, lam**2 * (a + 1) / 2)).sum()


def other_threshold(w, lam, a):
    x = np.abs(w)
    return np.sign(w) * np.where(x <= lam, lam, np.where(x <= lam * lam, (a * lam - x) / (a - 1), 0))


def lasso(w, lam):
    return (w**2).sum() + lam * np.abs(w).sum()


def step_for_sign(w, lam):
    return 2 * w + lam * (w > 0)


def ends_left_out(w):
    padded = np.concatenate([np.zeros(1), w, np.zeros(1)])
    return ((padded[1:] - padded[:-1]) ** 2).sum()


def window_beside(w):
    padded = np.concatenate([np.zeros(1), w, np.zeros(1)])
    g = np.zeros(len(padded))
    g[1:] += 2 * (padded[1:] - padded[:-1])
    g[:-1] -= 2 * (padded[1:] - padded[:-1])
    return g[:-2]


def copula(theta, u, v):
    s = u**-theta + v**-theta - 1
    return ((2 + 1 / theta) * np.log(s)).sum()


def without_two(theta, u, v):
    s = u**-theta + v**-theta - 1
    ds = -np.log(u) * u**-theta - np.log(v) * v**-theta
    return (-np.log(s) / theta**2 + (1 / theta) * ds / s).sum()


def mean_of_squares(b, X, y):
    r = X @ b - y
    return (r**2).mean()


def by_the_other_length(b, X, y):
    r = X @ b - y
    return 2 * X.T @ r / X.shape[1]


def complex_squares(z, A):
    return (np.abs(A @ z) ** 2).sum()


def real_part_only(z, A):
    return 2 * A.conj().T @ (A @ z).real


def filtered(h, x, y):
    r = np.real(np.fft.ifft(np.fft.fft(h) * np.fft.fft(x))) - y
    return 0.5 * (r**2).sum()


def not_transformed(h, x, y):
    r = np.real(np.fft.ifft(np.fft.fft(h) * np.fft.fft(x))) - y
    return np.real(np.fft.ifft(np.conj(np.fft.fft(x)) * r))


def normal_equations(b, X, strength):
    return X.T @ (X @ b) + strength * b


def added_everywhere(b, X, strength):
    return X.T @ X + strength


def decay(rate, start, data):
    level, total = start, 0.0
    for value in data:
        level = level - rate * level
        total = total + (level - value) ** 2
    return total


def level_left_out(rate, start, data):
    """In the last round, of which the values are known, the level is the start."""
    levels = [start]
    for _ in data:
        levels.append(levels[-1] - rate * levels[-1])
    g = back = 0.0
    for t in range(len(data) - 1, -1, -1):
        level = levels[t]
        back += 2 * (levels[t + 1] - data[t])
        g -= back
        back -= rate * back + 0 * level
    return g


Z, A = RNG.normal(size=(2, 3)) @ np.array([1, 1j]).repeat(3).reshape(2, 3).T, RNG.normal(size=(4, 2)) + 1j
U, V = RNG.uniform(0.1, 0.9, size=(2, 6))


@pytest.mark.parametrize(
    ("f", "grad", "args", "right"),
    [
        (huber, clipped_at_zero, (b, X, 2 * y, 0.7), "np.clip(y - X @ b, -delta, delta)"),
        (tukey, not_cut_off, (b, X, 3 * y, 1.7), "r * (1 - (r / c) ** 2) ** 2, 0)"),
        (penalty, other_threshold, (w, 0.5, 3.7), "x <= a * lam"),
        (lasso, step_for_sign, (w, 0.3), "np.sign(w)"),
        (ends_left_out, window_beside, (w,), "g[1:-1]"),
        (complex_squares, real_part_only, (Z[:, 0], A), "@ (A @ z)"),
        (filtered, not_transformed, tuple(RNG.normal(size=(3, 6))), "np.conj(np.fft.fft(x)) * np.fft.fft(r)"),
        (normal_equations, added_everywhere, (b, X, 0.7), "strength * np.eye(len("),
        (decay, level_left_out, (0.3, 0.9, y), "g -= back * level"),
        (mean_of_squares, by_the_other_length, (b, X, y), "/ X.shape[0]"),
    ],
)
def test_bounds_branches_windows_and_lengths(f, grad, args, right):
    report = check(f, grad, *args, argnums=0, diagnose=120)
    assert not report.ok
    assert right in report.mend.right


def test_a_number_that_is_a_term():
    report = check(copula, without_two, 1.3, U, V, argnums=0, diagnose=120)
    assert any(term in report.mend.right for term in ("(1 / theta + 2)", "(2 + 1 / theta)"))


def gamma_deviance(b, X, y):
    mu = np.exp(X @ b)
    return (y / mu + np.log(mu)).sum()


def multiplied(b, X, y):
    mu = np.exp(X @ b)
    return X.T @ (1 - y * mu)


def test_a_line_that_the_function_has_as_well_is_changed_last():
    """mu = np.exp(-(X @ b)) is right, too, but no mu."""
    assert check(gamma_deviance, multiplied, b, X, np.exp(y), argnums=0).mend.right == "return X.T @ (1 - y / mu)"
