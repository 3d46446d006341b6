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


def powers(x, n):
    return (x**n).sum()


def switched(x, t):
    return (x * x).sum() * (max(1, t))


@pytest.mark.parametrize(("f", "right", "wrong", "value", "note"), [
    (powers, lambda x, n: n * x ** (n - 1), lambda x, n: 2 * x ** (n - 1), 2, "n is 2: with n = 3"),
    (lambda x, c: (x * x).sum() / c, lambda x, c: 2 * x / c, lambda x, c: x, 2.0, "c is 2: with c = 2."),
    (lambda x, c: c * (x * x).sum(), lambda x, c: 2 * c * x, lambda x, c: 0.6 * x, 0.3, "c is 0.3: with c = 0.3"),
    (switched, lambda x, t: 2 * x * max(t, 1), lambda x, t: 2 * x * t, 3.0, "t is 3: with t = 0.3"),
])  # fmt: skip
def test_a_derivative_that_is_right_for_a_constant_alone_is_told_so(f, right, wrong, value, note):
    """A factor that is 1 at the constant of the point, and the other side of an if, were passed without a word."""
    positive = np.abs(X[0]) + 3
    report = check(f, wrong, positive, value, argnums=0)
    assert report.ok
    assert f"this holds where {note}" in " ".join(report.notes)
    report = check(f, right, positive, value, argnums=0)
    assert report.ok
    assert not report.notes


def test_indices_that_do_not_repeat_hide_what_is_written_over():
    def f(table, rows):
        return (table[rows] ** 2).sum()

    def added(table, rows):
        g = np.zeros_like(table)
        np.add.at(g, rows, 2 * table[rows])
        return g

    def written(table, rows):
        g = np.zeros_like(table)
        g[rows] += 2 * table[rows]
        return g

    table, rows = np.random.default_rng(0).normal(size=(5, 2)), np.array([4, 0, 3])
    assert not check(f, added, table, rows).notes
    report = check(f, written, table, rows)
    assert report.ok
    assert report.notes == ["the derivative is wrong where entries of rows repeat: with the first one everywhere"]


def test_a_small_part_of_a_gradient_shows_at_numbers_that_are_far_away():
    half = 0.5

    def f(x):
        return 10 * (x**2).sum() + half * x[0]

    assert "half is 0.5: with half = 5" in str(check(f, lambda x: 20 * x + np.array([0.5, 0]), X[0]))


def test_a_whole_number_that_is_a_size_stays_one():
    report = check(lambda x, n: (x * x).sum() / n, lambda x, n: 2 * x / len(x), X[:, 0], 7)
    assert report.ok
    assert not report.notes


HALF, ORDER = 0.5, 2


def half_squares(x):
    return HALF * helper(x)


def helper(x):
    return (x**ORDER).sum()


class Energy:
    rate = 2.0

    def __init__(self, settings):
        self.settings = settings

    def __call__(self, x):
        return self.settings["weight"] * (x**3).sum() / self.rate

    def right(self, x):
        return self.settings["weight"] * 3 * x**2 / self.rate


def energy_of(a, power):
    def f(x):
        return a * (x**power).sum()

    return f, lambda x: a * power * x ** (power - 1)


energy = Energy({"weight": 2.0})


@pytest.mark.parametrize(("f", "right", "wrong", "notes"), [
    (half_squares, lambda x: HALF * ORDER * x ** (ORDER - 1), lambda x: x, {"HALF is 0.5", "ORDER is 2"}),
    (helper, lambda x: ORDER * x ** (ORDER - 1), lambda x: 2 * x ** (ORDER - 1), {"ORDER is 2"}),
    (energy, energy.right, lambda x: 3 * x**2, {"weight is 2", "rate is 2"}),
    (lambda x: energy(x), energy.right, lambda x: 6 * x**2 / energy.rate, {"weight is 2"}),
    (*energy_of(1.0, 2), lambda x: 2 * x, {"a is 1", "power is 2"}),
    (lambda x, *, c=0.5: c * (x * x).sum(), lambda x, *, c=0.5: 2 * c * x, lambda x: x, {"c is 0.5"}),
])  # fmt: skip
def test_numbers_from_outside_for_which_alone_a_derivative_is_right_are_named(f, right, wrong, notes):
    """Constants of the module, from around a function, of objects, and defaults: none was tried with another value."""
    report = check(f, wrong, X[0])
    assert report.ok
    assert {note.removeprefix("this holds where ").split(":")[0] for note in report.notes} == notes
    report = check(f, right, X[0])
    assert report.ok
    assert not report.notes
    assert (HALF, ORDER, energy.settings, energy.rate) == (0.5, 2, {"weight": 2.0}, 2.0)


BASE, STRIDE = 2, 1


def test_no_step_of_a_loop_becomes_one_with_which_it_never_ends():
    """1 was tried in the place of 2, and 0 in that of 1."""
    endless = []

    def f(x, base):
        for first, times, more in ((1, base, 0), (1, BASE, 0), (0, 1, STRIDE)):
            size, rounds = first, 0
            while size < 4 and rounds < 9:
                size, rounds = size * times + more, rounds + 1
            if size < 4:
                endless.append((times, more))
        return (x**2).sum()

    assert check(f, lambda x, base: 2 * x, X[0], 2, argnums=0)
    assert not endless


class Closed(type):
    def __setattr__(cls, name, value):
        raise AttributeError(name)


class Fixed(metaclass=Closed):
    rate = 2.0

    def value(self, x):
        return self.rate * (x**2).sum()


def test_a_class_whose_numbers_are_fixed_keeps_them():
    """It was a raw AttributeError."""
    assert check(Fixed().value, lambda x: 4 * x, X[0])


def test_round_numbers_under_check_hide_nothing():
    for value in (np.array([2.0, 2.0]), 2.0, np.array([2.0, 0.3])):
        assert check(lambda x: (x**3).sum(), lambda x: 3 * x**2, value)
    for value in (np.array([2.0, 2.0]), 2.0):
        report = check(lambda x: np.sum(x**2), lambda x: x**2, value, mend=False)
        assert not report.ok
        assert "there x is 2, which hides mistakes" in " ".join(report.notes)


def test_a_derivative_that_was_computed_before_is_that_of_the_point():
    for point in (np.array([2.0, 1.0]), np.array([2.0, 0.3])):
        before = 3 * point**2
        assert check(lambda x: (x**3).sum(), lambda x: before, point)


def test_a_cached_derivative_keeps_the_numbers_that_it_was_made_with():
    import functools

    scale = 2.0
    assert not check(lambda x: scale * x**2, functools.lru_cache(lambda x: 2 * scale * x), 1.5).notes
