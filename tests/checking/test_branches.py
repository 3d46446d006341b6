"""sg.check beside the boundaries of branches: margins, thresholds, clamps, and ``if`` on values."""

from __future__ import annotations

import numpy as np
import pytest

from symgrad.check import check

rng = np.random.default_rng(0)
x = np.array([1.5744, -0.4328, -0.7355, 0.2498])
A, P, N = rng.normal(size=(3, 6, 4))
X, W = rng.random((5, 3)), rng.random((3, 2))
CURVED = np.random.default_rng(100).normal(size=(3, 6, 3))


def triplet(a, p, n):
    d = ((a - p) ** 2).sum(1) - ((a - n) ** 2).sum(1)
    return np.maximum(d + 0.5, 0).sum()


def triplet_grad(a, p, n, margin=0.5):
    d = ((a - p) ** 2).sum(1) - ((a - n) ** 2).sum(1)
    k = (d + margin > 0)[:, None]
    return k * 2 * (n - p), k * -2 * (a - p), k * 2 * (a - n)


def layer(X, W):
    return (np.maximum(X @ W, 0) ** 2).sum() + np.maximum(X @ W, 0).sum()


def layer_grad(X, W, mask=True):
    z = X @ W
    g = (2 * z + 1) * ((z > 0) if mask else 1)
    return g @ W.T, X.T @ g


def rare_if(x):
    if (x**2).sum() > 100:
        return (x**3).sum()
    return (x**2).sum()


def rare_if_grad(x, both=True):
    return 3 * x**2 if both and (x**2).sum() > 100 else 2 * x


def by_loop(x):
    total = 0.0
    for i in range(len(x)):
        total = total + (x[i] ** 2 if x[i] > 2 else x[i])
    return total


CASES = {
    "margin": (triplet, triplet_grad, lambda a, p, n: triplet_grad(a, p, n, 0), (A, P, N), "maximum"),
    "margin, where the way to it is no straight one": (
        triplet,
        triplet_grad,
        lambda a, p, n: triplet_grad(a, p, n, 0),
        tuple(CURVED),
        "maximum",
    ),
    "positive point": (layer, layer_grad, lambda X, W: layer_grad(X, W, False), (X, W), "maximum"),
    "if": (rare_if, rare_if_grad, lambda x: rare_if_grad(x, False), (x,), "if (x**2).sum() > 100"),
    "if in a loop": (by_loop, lambda x: np.where(x > 2, 2 * x, 1), np.ones_like, (x,), "if x[i] > 2"),
    "threshold": (
        lambda x: np.where(x > 5, x**2, x).sum(),
        lambda x: np.where(x > 5, 2 * x, 1),
        lambda x: np.where(x > 4.5, 2 * x, 1),
        (x,),
        "gt",
    ),
    "clamp": (
        lambda x: (np.clip(x, -3, 3) ** 2).sum(),
        lambda x: np.where(np.abs(x) < 3, 2 * x, 0),
        lambda x: np.where(np.abs(x) < 2.5, 2 * x, 0),
        (x,),
        "clamp",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_mistakes_beside_a_boundary_are_found(name):
    f, right, wrong, point, place = CASES[name]
    for dtype in (np.float64, np.float32):
        at = [a.astype(dtype) for a in point]
        assert check(f, right, *at)
        report = check(f, wrong, *at)
        assert not report.ok
        assert place in " ".join(report.notes), report


def test_values_kept_where_they_belong_have_no_boundary():
    p = np.array([0.15, 0.04, 0.76, 0.05])
    for f, g in (
        (lambda p: np.log1p(np.exp(np.clip(p, -30, 30))).sum(), lambda p: 1 / (1 + np.exp(-p))),
        (lambda p: -np.log(np.clip(p, 1e-7, 1 - 1e-7)).sum(), lambda p: -1 / p),
        (lambda p: (np.clip(p, 0, 1) ** 2).sum(), lambda p: 2 * p),
        (lambda p: np.log(np.maximum(p.var(), 1e-6)), lambda p: 2 * (p - p.mean()) / len(p) / p.var()),
        (lambda p: p @ p / np.maximum(np.sqrt(p @ p), 1e-8), lambda p: p / np.sqrt(p @ p)),
    ):
        assert check(f, g, p)


def test_a_loop_that_waits_for_all_digits_of_float64() -> None:
    """Where single precision is tried such a loop would not end: it is given up."""

    def root(a):
        r = a * 0.5 + 0.5
        while abs(r * r - a) > 1e-13:
            r = 0.5 * (r + a / r)
        return r

    assert check(root, lambda a: 0.5 / np.sqrt(a), 2.0)
    assert not check(root, lambda a: 0.6 / np.sqrt(a), 2.0)


def test_two_comparisons_of_one_line_are_two_boundaries():
    def f(x):
        return np.select([x < 0, x < 3], [x, x**2], default=5 * x).sum()

    x = np.array([-1.0, 1.0])
    assert check(f, lambda x: np.select([x < 0, x < 3], [1.0, 2 * x], default=5.0), x)
    assert not check(f, lambda x: np.where(x < 0, 1.0, 2 * x), x)


@pytest.mark.parametrize(
    ("f", "args", "inside", "outside"),
    [
        (lambda x: x.max(), [[2.0, 2.0, 1.0]], [[0.3, 0.7, 0.0]], [[1.0, 1.0, 0.0]]),
        (lambda x: np.sqrt((x * x).sum()), [[0.0, 0.0]], [[0.6, 0.8]], [[0.9, 0.9]]),
        (lambda x, y: abs(x - y).sum(), [[1.0], [1.0]], [[0.5], [-0.5]], [[0.5], [0.5]]),
        (
            lambda x, w: np.maximum(x @ w, 0),
            [[1.0, 2.0], [2.0, -1.0]],
            [[1.0, -0.5], [0.5, 1.0]],
            [[2.0, -1.0], [0, 0]],
        ),
    ],
)
def test_at_a_kink_a_gradient_has_to_be_a_subgradient_as_a_whole(f, args, inside, outside):
    args = [np.array(a) for a in args]

    def given(values):
        return tuple(np.array(v, float) for v in values)

    assert check(f, given(inside), *args)
    assert not check(f, given(outside), *args)


def test_the_size_of_a_complex_number_has_no_sides():
    report = check(lambda z: (abs(z) ** 2).sum(), lambda z: 2 * z, np.array([1 + 2j, -0.5j]))
    assert report.ok
    assert not report.notes


def test_a_mask_of_constants_has_no_other_side():
    """At scores as large as what stands for minus infinity the masked entries count; nobody asks for these."""
    T = np.tril(np.ones((3, 3))) > 0

    def probabilities(q, k):
        s = np.where(T, q @ k.T, -1e9)
        e = np.exp(s - s.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def f(q, k):
        return (probabilities(q, k) ** 2).sum()

    def grad(q, k):
        p = probabilities(q, k)
        d = p * (2 * p - (2 * p * p).sum(-1, keepdims=True))
        return d @ k, d.T @ q

    q, k = 30 * np.random.default_rng(0).normal(size=(2, 3, 2))
    assert check(f, grad, q / 30, k / 30)
    assert check(f, grad, q, k)


def test_the_edge_of_a_domain_is_no_branch():
    assert not check(lambda x: (x - 3) ** 2, lambda x: 2 * (x - 3), 1.3).notes
    assert not check(lambda x: np.log(x) * np.sqrt(x), lambda x: (1 + np.log(x) / 2) / np.sqrt(x), 1.3).notes


def huber(r, width):
    return np.where(abs(r) < width, r**2 / 2, width * (abs(r) - width / 2)).sum()


def huber_grad(r, width, slope=1.0):
    inside = abs(r) < width
    return np.where(inside, slope * r, width * np.sign(r)), np.where(inside, 0, abs(r) - width).sum()


def test_what_is_positive_stays_so_on_the_other_side():
    """A right gradient was WRONG at a width of -1."""
    r = np.array([0.19, -0.2, 0.96, 0.16, -0.8])
    assert check(huber, huber_grad, r, 1.0).ok
    wrong = check(huber, lambda r, width: huber_grad(r, width, slope=2.0), 5 * np.sign(r) + r, 1.0)
    assert not wrong.ok
    assert not check(
        lambda x, d: np.where(x > 0, d * x, 2 * d * x).sum(), lambda x, d: (d + 0 * x, x.sum()), -(r**2), 1.0
    ).ok


def test_the_square_of_a_hinge_has_been_on_both_sides():
    """A note said that one side was not checked: no cotangent reaches what is 0, and so all of it was left out."""

    def f(w, X, y):
        return (np.maximum(0, 1 - y * (X @ w)) ** 2).sum()

    def grad(w, X, y, margin=1):
        return X.T @ (-2 * y * np.maximum(0, margin - y * (X @ w)))

    rng = np.random.default_rng(1)
    w, X, y = 0.1 * rng.normal(size=3), rng.normal(size=(6, 3)), np.sign(rng.normal(size=6))
    report = check(f, grad, w, X, y, argnums=0)
    assert report.ok, report
    assert not report.notes
    everywhere = check(f, lambda w, X, y: X.T @ (-2 * y * (1 - y * (X @ w))), w, X, y, argnums=0)
    assert not everywhere.ok, everywhere


def test_a_product_of_two_arguments_is_turned_by_one_of_them():
    """All multiples of both had X @ W on the same side, so that a margin that was forgotten was right, with a note."""
    rng = np.random.default_rng(1)
    W, X = rng.normal(size=(2, 3)), rng.normal(size=(4, 2))
    y = np.argmin(X @ W, axis=1)  # all margins are too small

    def f(W, X):
        s = X @ W
        m = np.maximum(0, s - s[np.arange(4), y][:, None] + 1)
        m[np.arange(4), y] = 0
        return m.sum()

    def grad(W, X, delta=1):
        s = X @ W
        on = (s - s[np.arange(4), y][:, None] + delta > 0) * 1.0
        on[np.arange(4), y] = 0
        on[np.arange(4), y] = -on.sum(axis=1)
        return X.T @ on, on @ W.T

    assert check(f, grad, W, X)
    report = check(f, lambda W, X: grad(W, X, 0), W, X)
    assert not report.ok
    assert "this is the comparison at -1 times W" in report.notes[-1]


def test_an_if_on_a_number_far_above_its_bound_is_entered_on_the_other_side():
    """Positive numbers were moved down to a twentieth at most, and so a bound below that was not met."""

    def f(s):
        return s**2 if s > 1 else 2 * s - 1

    for s in (100.0, np.array(1e4)):
        assert check(f, lambda s: 2 * s if s > 1 else np.full_like(s, 2.0), s)
        report = check(f, lambda s: 2 * s, s, mend=False)
        assert not report.ok
        assert "beside the boundary of gt" in " ".join(report.notes)
