"""Lines that sg.check mends in gradients of margins, batches and running sums: right on all sides and at all sizes."""

from __future__ import annotations

import numpy as np
import pytest

from symgrad.check import check, inquiry

RNG = np.random.default_rng(3)
A, P, N = (RNG.normal(size=(4, 3)) for _ in range(3))
HAZARDS, TIMES = RNG.uniform(0.05, 0.4, size=5), RNG.normal(size=5)
ANGLES, LENGTHS, GOAL = RNG.normal(size=3), RNG.uniform(0.5, 1.5, size=3), RNG.normal(size=2)


@pytest.fixture(autouse=True)
def _enough_time(monkeypatch):
    monkeypatch.setattr(inquiry, "FIRST_MENDING", 60)
    monkeypatch.setattr(inquiry, "LONGEST_MENDING", 60)


def triplet(a, p, n, margin):
    return np.maximum(((a - p) ** 2).sum(1) - ((a - n) ** 2).sum(1) + margin, 0).mean()


def without_margin(a, p, n, margin):  # noqa: ARG001
    near, far = ((a - p) ** 2).sum(1), ((a - n) ** 2).sum(1)
    h = (near - far > 0)[:, None] / len(a)
    return 2 * h * (n - p), -2 * h * (a - p), 2 * h * (a - n)


def sum_for_mean(a, p, n, margin):
    near, far = ((a - p) ** 2).sum(1), ((a - n) ** 2).sum(1)
    h = (near - far + margin > 0)[:, None]
    return 2 * h * (n - p), -2 * h * (a - p), 2 * h * (a - n)


def survival(h, t):
    return np.sum(np.cumprod(1 - h) * t)


def from_the_start(h, t):
    S = np.cumprod(1 - h)
    return -np.cumsum(S * t) / (1 - h)


def arm(q, lengths, goal):
    a = np.cumsum(q)
    return (np.sum(lengths * np.cos(a)) - goal[0]) ** 2 + (np.sum(lengths * np.sin(a)) - goal[1]) ** 2


def not_transposed(q, lengths, goal):
    a = np.cumsum(q)
    x, y = np.sum(lengths * np.cos(a)), np.sum(lengths * np.sin(a))
    g = 2 * (y - goal[1]) * lengths * np.cos(a) - 2 * (x - goal[0]) * lengths * np.sin(a)
    return g.cumsum()


CASES = {
    "a margin": (triplet, without_margin, (A, P, N, 2.0), (0, 1, 2), "h = (near - far > -margin)[:, None] / len(a)"),
    "a mean": (triplet, sum_for_mean, (A, P, N, 2.0), (0, 1, 2), "h = (near - far + margin > 0)[:, None] / len(a)"),
    "survival": (survival, from_the_start, (HAZARDS, TIMES), 0, "return -np.cumsum((S * t)[::-1])[::-1] / (1 - h)"),
    "an arm": (arm, not_transposed, (ANGLES, LENGTHS, GOAL), 0, "return g[::-1].cumsum()[::-1]"),
}


@pytest.mark.parametrize("name", CASES)
def test_mends_hold_on_other_sides_and_at_other_sizes(name):
    """near + far > 0 was the mend of a margin, which no point that was tried denied, and / 4 that of a mean of four."""
    f, grad, args, argnums, right = CASES[name]
    report = check(f, grad, *args, argnums=argnums)
    assert not report
    assert report.mend.right == right


def cubes(x):
    return (x**3).sum()


def squares(x):
    return x**2


def test_a_number_of_the_formula_is_no_size():
    """The derivative of x³ has a 3, whether x has three entries or not."""
    assert check(cubes, squares, RNG.normal(size=3)).mend.right == "return 3 * x**2"


M, x = RNG.normal(size=(3, 3)), RNG.normal(size=3)
H, z = M + M.T + 1j * (A[:3] - A[:3].T), x + 1j * RNG.normal(size=3)


def rayleigh(x, A):
    return (x @ A @ x) / (x @ x)


def sign_of_the_quotient(x, A):
    return 2 * (A @ x + (x @ A @ x) / (x @ x) * x) / (x @ x)


def mahalanobis(x, m, S):
    return 0.5 * (x - m) @ np.linalg.solve(S, x - m)


def half(x, m, S):
    return 0.5 * np.linalg.solve(S, x - m)


def energy(z, H):
    return (np.conj(z) @ H @ z).real / (np.conj(z) @ z).real


def transposed(z, H):
    n = (np.conj(z) @ z).real
    e = (np.conj(z) @ H @ z).real / n
    return 2 * (H.T @ z - e * z) / n


STRUCTURED = {
    "symmetric": (
        rayleigh, sign_of_the_quotient, (x, M + M.T),
        "return 2 * (A @ x - ((x @ A @ x) / (x @ x) * x)) / (x @ x)",
    ),
    "a covariance": (mahalanobis, half, (x, x**2, M @ M.T + np.eye(3)), "return np.linalg.solve(S, x - m)"),
    "Hermitian": (energy, transposed, (z, H), "return 2 * (H @ z - e * z) / n"),
}  # fmt: skip


@pytest.mark.parametrize("name", STRUCTURED)
def test_symmetric_matrices_stay_so_at_other_points(name):
    """2Ax is the gradient of xᵀAx for symmetric A: no mend of it was believed, since A was none at the other point."""
    f, grad, args, right = STRUCTURED[name]
    report = check(f, grad, *args, argnums=0)
    assert not report
    assert report.mend.right == right


def quadratic(x, A):
    return x @ A @ x


def one_half(x, A):
    return A @ x


def test_a_mend_for_all_matrices_comes_first():
    assert check(quadratic, one_half, x, M + M.T, argnums=0).mend.right == "return (A + A.T) @ x"
