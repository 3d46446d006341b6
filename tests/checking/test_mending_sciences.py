"""Lines that sg.check mends in gradients of margins, batches and running sums: right on all sides and at all sizes."""

from __future__ import annotations

import numpy as np
import pytest

from symgrad.check import check, inquiry
from symgrad.check.asking.subject import Subject
from symgrad.check.oracle.points import at_other_sizes

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


def factored(U, V, A, M):
    return ((M * (A - U @ V)) ** 2).sum()


def factored_grad(U, V, A, M):
    return -2 * (M * (A - U @ V)) @ V


def cross_entropy(z, y):
    e = np.exp(z - z.max(1, keepdims=True))
    return -(y * np.log(e / e.sum(1, keepdims=True))).sum() / len(z)


def cross_entropy_grad(z, y):
    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True) - y


def margins(w, X, y):
    return ((1 - y * (X @ w)) ** 2).sum() / 2


def margins_grad(w, X, y):
    return X.T @ (y - X @ w)


def turned(p, R, q):
    return ((R @ p - q) ** 2).sum()


def turned_grad(p, R, q):
    return 2 * (p - R @ q)


LABELS, SHARES = np.eye(3)[[0, 2, 1, 1]], RNG.dirichlet(np.ones(3), size=4)
PRESENT, SIGNS = (RNG.random((4, 5)) < 0.6) * 1.0, np.array([1.0, -1, -1, 1])
ROTATION = np.linalg.qr(M)[0]

DESIGNED = {
    "weights of zeros and ones": (
        factored, factored_grad, (RNG.normal(size=(4, 5)), RNG.normal(size=(5, 5)), RNG.normal(size=(4, 5)), PRESENT),
        "return -2 * (M * (A - U @ V)) @ V.T",
    ),
    "labels": (cross_entropy, cross_entropy_grad, (A, LABELS), "return (e / e.sum(1, keepdims=True) - y) / len(z)"),
    "shares": (cross_entropy, cross_entropy_grad, (A, SHARES), "return (e / e.sum(1, keepdims=True) - y) / len(z)"),
    "classes": (margins, margins_grad, (x, A, SIGNS), "return X.T @ (X @ w - y)"),
    "a rotation": (turned, turned_grad, (x, ROTATION, x**2), "return 2 * (p - R.T @ q)"),
}  # fmt: skip


@pytest.mark.parametrize("name", DESIGNED)
def test_arguments_keep_their_design_at_other_points(name):
    """Squares of a mask are the mask, and labels sum to one: no mend was found, as all entries moved."""
    f, grad, args, right = DESIGNED[name]
    report = check(f, grad, *args, argnums=0)
    assert not report
    assert report.mend.right == right


def counts(b, X, y, rate):
    return (np.exp(X @ b) - y * (X @ b)).mean() + rate * (b @ b) / 2


def by_another_length(b, X, y, rate):
    return X.T @ (np.exp(X @ b) - y) / len(b) + rate * b


class Ridge:
    def __init__(self, X, y):
        self.X, self.y = X, y

    def loss(self, w):
        return ((self.X @ w - self.y) ** 2).mean()

    def grad(self, w):
        return self.X.T @ (self.X @ w - self.y) / len(self.y)


def test_mends_are_right_at_other_sizes():
    """Half of it was the mend, of a gradient by six samples divided by the three features."""
    X, y = RNG.normal(size=(6, 3)), RNG.normal(size=6)
    mend = check(counts, by_another_length, x, X, y, 0.3, argnums=0).mend
    assert mend.right == "return X.T @ (np.exp(X @ b) - y) / len(X) + rate * b"
    ridge = Ridge(X, y)  # which has no other sizes
    mend = check(ridge.loss, ridge.grad, x).mend
    assert mend.right == "return 2 * (self.X.T @ (self.X @ w - self.y) / len(self.y))"


def test_other_sizes_are_no_longer_the_given_ones():
    """Of two entries none was taken off, and what was right there counted as right at another size."""
    subject = Subject(lambda w: (w**2).sum(), [np.ones(2)], [0], ["w"], None)
    assert [args[0].shape for args in at_other_sizes(subject, {})] == [(4,), (3,)]


def softmax(z):
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def softmax_vjp(g, z):
    p = softmax(z)
    return p * g


def shares(d, s):
    u = np.exp(d)
    return ((s - u / (1 + u.sum())) ** 2).sum()


def shares_grad(d, s):
    u = np.exp(d)
    q = u / (1 + u.sum())
    r = -2 * (s - q)
    return q * r


def spread(X):
    centred = X - X.mean(0)
    return ((centred.T @ centred / (len(X) - 1)) ** 2).sum()


def spread_grad(X):
    return 4 * X @ np.cov(X.T) / (len(X) - 1)


def kurtosis(x):
    return (((x - x.mean()) / x.std(ddof=1)) ** 4).sum()


def kurtosis_grad(x):
    s = x.std()
    z = (x - x.mean()) / s
    d = 4 * z**3
    return (d - d.mean() - z * (d @ z) / (len(x) - 1)) / s


CENTRED = {
    "a softmax": (softmax, softmax_vjp, (A,), "return p * g - p * (g * p).sum(-1, keepdims=True)"),
    "shares of a market": (shares, shares_grad, (x, x**2), "return q * (r - q @ r)"),
    "a covariance": (spread, spread_grad, (A,), "return 4 * (X - X.mean(0)) @ np.cov(X.T) / (len(X) - 1)"),
    "n - 1": (kurtosis, kurtosis_grad, (TIMES,), "s = x.std(ddof=1)"),
}


@pytest.mark.parametrize("name", CENTRED)
def test_what_is_taken_off_all_entries_alike_is_mended(name):
    """Means, and the sums that the derivatives of softmax and of shares take off: no mend was found."""
    f, grad, args, right = CENTRED[name]
    report = check(f, grad, *args, argnums=0)
    assert not report
    assert report.mend.right == right


def ridge(w, X, y, lam=0.5):
    r = X @ w - y
    return r @ r / len(y) + lam * (w @ w)


def half_as_much(w, X, y, lam=0.5):
    r = X @ w - y
    dw = 2 * X.T @ r / len(y)
    dw += lam * w
    return dw


def contrast(A, B, tau=0.5):
    S = A @ B.T / tau
    return np.log(np.exp(S).sum(axis=1)).sum()


def without_temperature(A, B, tau=0.5):
    E = np.exp(A @ B.T / tau)
    P = E / E.sum(axis=1, keepdims=True)
    return P @ B


def pooled(x, a):
    n, m = x.shape
    return (x.reshape(n // 2, 2, m // 2, 2).mean(axis=(1, 3)) * a).sum()


def not_divided(x, a):
    n, m = x.shape
    g = np.zeros((n // 2, 2, m // 2, 2))
    g += a[:, None, :, None]
    return g.reshape(n, m)


rng = np.random.default_rng(3)
OF_DEFAULTS = {
    "ridge": (ridge, half_as_much, (rng.normal(size=3), rng.normal(size=(7, 3)), rng.normal(size=7)), "2 * (lam * w)"),
    "contrast": (contrast, without_temperature, (rng.normal(size=(4, 3)), rng.normal(size=(4, 3))), "/ tau"),
    "pooling": (pooled, not_divided, (rng.normal(size=(4, 6)), rng.normal(size=(2, 3))), "/ 4"),
}


@pytest.mark.parametrize("name", OF_DEFAULTS)
def test_a_mend_holds_for_other_values_of_a_default_and_twice_the_sizes(name):
    """``dw += w`` is right for lam=0.5 alone, ``2 * P @ B`` for tau=0.5, and ``a / len(x)`` for four rows."""
    f, grad, args, right = OF_DEFAULTS[name]
    report = check(f, grad, *args, argnums=0)
    assert right in report.mend.right, report


def test_numbers_that_both_functions_have_as_a_default_are_no_arguments_with_gradients():
    w, X, y = OF_DEFAULTS["ridge"][2]
    report = check(ridge, lambda w, X, y, lam=0.5: half_as_much(w, X, y, lam) + lam * w, w, X, y)
    assert report.ok, report
    assert [a.name for a in report.arguments] == ["w"]
    assert check(lambda a, b, k=0.5: k * a * b, lambda a, b, k=0.5: np.array([k * b, k * a]), 2.0, 3.0)
