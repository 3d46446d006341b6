"""sg.check where arguments are 0 or 1 everywhere, as layers begin: what is left out does not show at such a point."""

from __future__ import annotations

import numpy as np
import pytest

from symgrad.check import check

rng = np.random.default_rng(0)
x, X, y = rng.normal(size=(4, 3)), rng.normal(size=(7, 2)), rng.normal(size=7)
ones, zeros = np.ones(3), np.zeros(3)


def normalised(x):
    mean = x.mean(-1, keepdims=True)
    s = np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)
    return (x - mean) / s, s


def layer(x, gain, shift):
    return ((gain * normalised(x)[0] + shift) ** 3).sum()


def layer_grad(x, gain, shift, by_gain=True, by_shift=True):
    h, s = normalised(x)
    g = 3 * (gain * h + (shift if by_shift else 0)) ** 2
    d = g * gain if by_gain else g
    dx = (d - d.mean(-1, keepdims=True) - h * (d * h).mean(-1, keepdims=True)) / s
    return dx, (g * h).sum(0), g.sum(0)


def huber(b, X, y, delta):
    r = np.abs(y - X @ b)
    return np.where(r <= delta, r**2 / 2, delta * (r - delta / 2)).sum()


def huber_grad(b, X, y, delta, bound=None):
    bound = delta if bound is None else bound
    return -X.T @ np.clip(y - X @ b, -bound, bound)


@pytest.mark.parametrize("left_out", ["by_gain", "by_shift"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_gain_of_one_and_a_shift_of_zero_hide_nothing(left_out, dtype):
    args = [a.astype(dtype) for a in (x, ones, zeros)]
    right = check(layer, layer_grad, *args)
    assert right.ok
    assert not right.notes
    report = check(layer, lambda *a: layer_grad(*a, **{left_out: False}), *args, mend=False)
    assert not report.ok
    assert "gain is 1 and shift is 0, which hides mistakes" in " ".join(report.notes)


def test_a_constant_of_one_is_told_in_a_note():
    b = np.array([2.0, -1.5])
    assert not check(huber, huber_grad, b, X, y, 1.0, argnums=0).notes
    report = check(huber, lambda b, X, y, delta: huber_grad(b, X, y, delta, 1), b, X, y, 1.0, argnums=0)
    assert report.ok
    (note,) = report.notes
    assert note.startswith("this holds where delta is 1: with delta = 1.")
    assert note.endswith(" the derivative is wrong")


def test_masks_labels_and_weights_of_ones_may_be_taken_for_granted():
    w = np.array([0.3, -0.2])

    def squares(w, mask):
        return ((mask * (X @ w - y)) ** 2).sum()

    def logistic(w, labels):
        return np.log1p(np.exp(-labels * (X @ w))).sum() + ((labels * (X @ w)) ** 2).sum()

    def logistic_grad(w, labels):
        return X.T @ (-labels / (1 + np.exp(labels * (X @ w))) + 2 * X @ w)

    for f, g in ((squares, lambda w, mask: 2 * X.T @ (mask * (X @ w - y))), (logistic, logistic_grad)):
        report = check(f, g, w, np.ones(7), argnums=0)
        assert report.ok
        assert not report.notes


def test_a_covariance_of_zeros_stays_symmetric():
    def f(S):
        return np.log(np.linalg.det(S + 2 * np.eye(3))) + (S @ S).sum()

    def g(S):  # the second part is right for symmetric matrices only
        return np.linalg.inv(S + 2 * np.eye(3)) + S.sum(0) + S.sum(1)[:, None]

    assert check(f, g, np.zeros((3, 3)))


def decay(p, t):
    return ((p[0] * np.exp(-p[1] * t) + p[2]) ** 2).sum()


def decay_grad(p, t, amplitude=True):
    e = np.exp(-p[1] * t)
    r = 2 * (p[0] * e + p[2])
    return np.array([r @ e, -(p[0] if amplitude else 1) * (r * e) @ t, r.sum()])


def test_parameters_of_which_some_are_one_hide_nothing():
    p, t = np.array([1.0, 0.7, 0.0]), np.linspace(0.1, 2, 5)
    right = check(decay, decay_grad, p, t, argnums=0)
    assert right.ok
    assert not right.notes
    report = check(decay, lambda p, t: decay_grad(p, t, False), p, t, argnums=0, mend=False)
    assert not report.ok
    assert "there p has entries of 0 or 1, which hides mistakes" in " ".join(report.notes)


def test_a_number_of_one_under_check_hides_nothing():
    assert check(lambda a, t: np.exp(-a * t).sum(), lambda a, t: -(t * np.exp(-a * t)).sum(), 1.0, x[0], argnums=0)
    report = check(lambda a, t: (a**3 * t).sum(), lambda a, t: 3 * a * t.sum(), 1.0, x[0], argnums=0, mend=False)
    assert not report.ok


def test_rotations_and_unit_quaternions_with_zeros_stay_what_they_are():
    c, s = np.cos(0.4), np.sin(0.4)
    turn, v = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]), np.array([0.3, -0.2, 0.5])

    def f(R):
        return (np.linalg.inv(R) @ v) @ np.arange(3.0)

    for R in (turn, np.eye(3)):  # the inverse is the transpose of rotations only
        assert check(f, lambda R: -np.outer(R @ np.arange(3.0), R.T @ v), R)

    def turned(q):
        return q @ q * q[0] + q[1]

    def turned_grad(q):
        return 2 * q * q[0] + np.array([1.0, 1, 0, 0])  # q @ q is 1

    for q in (np.array([1.0, 0, 0, 0]), np.array([c, 0, 0, s])):
        assert check(turned, turned_grad, q)


def test_permutations_are_orthogonal_and_have_sums_of_one():
    D = np.diag([1.0, 2, 3])
    assert check(lambda Q: np.trace(np.linalg.inv(Q) @ D), lambda Q: -Q @ D @ Q, np.eye(3)[[1, 2, 0]])


@pytest.mark.parametrize("W", [np.eye(3), np.ones((3, 1)), np.ones(1)])
def test_identities_and_columns_of_ones_hide_nothing(W):
    """They have the design of rotations, covariances and shares, and no other value that has all of them."""

    assert check(lambda W: (W**3).sum(), lambda W: 3 * W**2, W)
    assert not check(lambda W: (W**3).sum(), lambda W: 3 * W, W, mend=False).ok


@pytest.mark.parametrize(("lam", "gradient"), [
    (0.5, lambda x, lam=0.5: x), (0.1, lambda x, lam=0.1: 0.2 * x), (2.0, lambda x, lam=2.0: lam * lam * x),
])  # fmt: skip
def test_a_derivative_that_is_right_for_the_default_alone_is_told_so(lam, gradient):
    def f(x, lam=lam):
        return lam * (x * x).sum()

    report = check(f, gradient, x)
    assert report.ok
    assert f"this holds where lam is {lam:g}" in str(report)
    right = check(f, lambda x, lam=lam: 2 * lam * x, x)
    assert right.ok
    assert "this holds" not in str(right)
