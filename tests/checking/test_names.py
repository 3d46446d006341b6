"""sg.check says what the function says: constants by their variables, mistakes in the words that people know."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import symgrad as sg
from symgrad import nn
from symgrad.check import check

rng_of_names = np.random.default_rng(4)
RNG = np.random.default_rng(12)
Ix, Iy, It = RNG.normal(size=(3, 2, 4))
COUNTS = np.array([2.0, 1.0, 3.0])


def flow(u, v):
    return ((Ix * u + Iy * v + It) ** 2).sum() + (u**2).sum()


def test_constants_have_the_names_of_their_variables():
    u, v = RNG.normal(size=(2, 2, 4))

    def grad(u, v):
        r = 2 * (Ix * u + Iy * v + It)
        return r * Ix + 2 * u, r * Ix

    report = check(flow, grad, u, v)
    assert "Ix stands for Iy" in report.diagnosis.sentence
    assert "round" not in report.diagnosis.sentence  # two places of a line are no rounds of a loop
    assert "It" in report["v"].formula


def test_constants_of_objects_and_of_callers_have_names():
    class Model:
        def __init__(self):
            self.scale = RNG.normal(size=3)

        def forward(self, x):
            return x * self.scale

    model, weights = Model(), RNG.normal(size=3)

    def loss(x):
        return (weights * np.tanh(model.forward(x))).sum()

    formula = check(loss, lambda x: x, RNG.normal(size=3))["x"].formula
    assert "weights" in formula
    assert "scale" in formula


def test_names_are_not_those_of_arguments():
    def inner(x, y):
        return (x * y).sum()

    data = RNG.normal(size=3)

    def loss(y):
        return inner(data, y) ** 2

    assert check(loss, lambda y: 2 * inner(data, y) * data, RNG.normal(size=3))
    formula = check(loss, lambda y: y, RNG.normal(size=3))["y"].formula
    assert formula == "2*data*(data @ y)"


def test_a_part_of_an_array_has_not_its_name():
    table = RNG.normal(size=(4, 3))

    def loss(x):
        return (table[1:3] @ x).sum()

    formula = check(loss, lambda x: x, RNG.normal(size=3))["x"].formula
    assert "table" not in formula


def test_the_plainest_size_names_a_factor():
    def mean(X, W, b):
        return ((X @ W + b) ** 2).sum()

    def grad(X, W, b):
        r = 2 * (X @ W + b)
        return r @ W.T, X.T @ r, r.mean(0)

    report = check(mean, grad, RNG.normal(size=(6, 4)), RNG.normal(size=(4, 3)), RNG.normal(size=3))
    assert report.diagnosis.sentence == "Every entry is 1/6 (= 1/X.shape[0]) times the exact one."


def test_a_size_of_what_the_function_has_from_elsewhere_names_a_factor():
    """It was 6 (= W.size/2), which is as many by chance."""
    X, y = RNG.normal(size=(6, 4)), RNG.normal(size=(6, 3))
    found = check(
        lambda W: ((X @ W - y) ** 2).sum(axis=1).mean(), lambda W: 2 * X.T @ (X @ W - y), RNG.normal(size=(4, 3))
    )
    assert found.diagnosis.sentence == "Every entry is 6 (= X.shape[0]) times the exact one."


def test_another_base_and_another_width_name_factors():
    """They were 0.480453014 and 0.774596669 times the exact one."""
    found = check(lambda x: np.log2(x).sum(), lambda x: np.log(2) / x, RNG.random(5) + 1).diagnosis
    assert found.sentence == "Every entry is log(2)**2 times the exact one."

    def scores(Q, K):
        return np.exp(Q @ K.T / np.sqrt(3)).sum()

    def slopes(Q, K):
        return np.exp(Q @ K.T / np.sqrt(3)) @ K / np.sqrt(5)

    found = check(scores, slopes, RNG.normal(size=(7, 3)), RNG.normal(size=(5, 3)), argnums=0).diagnosis
    assert found.sentence.startswith("Every entry is sqrt(3/5) (= sqrt(K.shape[1]/K.shape[0]))"), found.sentence


def test_factors_have_the_sign_of_what_they_are_named():
    """1/det(A) of a negative determinant was -1/det(A), and -1/n was called 1/n."""
    x = RNG.normal(size=5)
    A = np.array([[1.5, 2.0, 0.3], [3.0, 1.2, 1.0], [0.1, 1.0, 2.0]])
    assert np.linalg.det(A) < 0
    found = check(lambda A: np.linalg.det(A), lambda A: np.linalg.inv(A).T, A).diagnosis
    assert found.sentence.startswith("Every entry is 1/(det(A)) (= -0."), found.sentence
    found = check(lambda A: -np.linalg.det(A), lambda A: np.linalg.inv(A).T, A).diagnosis
    assert found.sentence.startswith("Every entry is -1/(det(A)) (= 0."), found.sentence
    found = check(lambda x, a: a * (x**2).sum(), lambda x, a: 2 * x, x, -0.3, argnums=0, mend=False).diagnosis
    assert found.sentence.startswith("Every entry is 1/a (= -3.333)"), found.sentence
    found = check(lambda x: (x**2).sum(), lambda x: -2 * x / len(x), x, mend=False).diagnosis
    assert found.sentence == "Every entry is -1/5 (= -1/x.shape[0]) times the exact one."


def test_an_order_turned_round_along_two_axes():
    report = check(lambda w: (w**3).sum(), lambda w: 3 * w[:, ::-1, ::-1] ** 2, RNG.normal(size=(2, 3, 3)))
    assert "backwards along axis 1 and axis 2" in report.diagnosis.sentence


def test_one_row_alone_is_not_the_only_one_that_is_wrong():
    report = check(lambda x: (x**2).sum(), lambda x: 2 * x + np.eye(4)[None] * x**3, RNG.normal(size=(1, 4, 4)))
    assert "Only x[0" not in report.diagnosis.sentence


def test_a_function_for_its_derivative_where_a_line_has_it_twice():
    special = pytest.importorskip("scipy.special")
    digamma, polygamma = special.digamma, special.polygamma

    def f(a):
        return (COUNTS * (digamma(a) - digamma(np.sum(a)))).sum()

    def grad(a, slope=lambda a: polygamma(1, a)):
        return COUNTS * slope(a) - COUNTS.sum() * slope(a.sum())

    a = RNG.uniform(0.5, 2, 3)
    assert check(f, grad, a)
    assert "digamma is taken to be its value" in check(f, lambda a: grad(a, digamma), a).diagnosis.sentence


def pooled(x):
    out = []
    for i in range(x.shape[0] - 1):
        for j in range(x.shape[1] - 1):
            window = x[i : i + 2, j : j + 2]
            a, b = np.unravel_index(np.argmax(window), (2, 2))
            out.append(window[a, b] ** 2)
    return np.sum(np.array(out))


def pooled_gradient(x, adds=True):
    dx = np.zeros_like(x)
    for i in range(x.shape[0] - 1):
        for j in range(x.shape[1] - 1):
            a, b = np.unravel_index(x[i : i + 2, j : j + 2].argmax(), (2, 2))
            before = dx[i + a, j + b] if adds else 0
            dx[i + a, j + b] = before + 2 * x[i + a, j + b]
    return dx


def test_what_a_maximum_picks_is_overwritten():
    x = RNG.normal(size=(4, 4))
    report = check(pooled, pooled_gradient, x)
    assert report
    assert report.method.startswith("the exact")  # the places of the largest are no black box
    assert check(pooled, lambda x: pooled_gradient(x, False), x).diagnosis.kind == "overwritten"


CHAINS = ((0, 1, 2), (1, 2, 3), (0, 2, 3))


def angles(x):
    total = 0.0
    for i, j, k in CHAINS:
        u, v = x[i] - x[j], x[k] - x[j]
        total += (u @ v) ** 2
    return total


def forces(x, adds=True):
    g = np.zeros_like(x)
    for i, j, k in CHAINS:
        u, v = x[i] - x[j], x[k] - x[j]
        c = 2 * (u @ v)
        for a, d in ((i, c * v), (j, -c * (u + v)), (k, c * u)):
            g[a] = d + (g[a] if adds else 0)
    return g


def test_every_round_overwrites_the_sum_of_its_parts():
    x = RNG.normal(size=(4, 3))
    assert check(angles, forces, x)
    assert check(angles, lambda x: forces(x, False), x).diagnosis.kind == "overwritten"


def test_diagnoses_of_complex_values_do_not_warn():
    def f(x, k):
        return (np.fft.ifft(np.fft.fft(x) * np.fft.fft(k)).real ** 3).sum()

    def grad(x, k):
        y = 3 * np.fft.ifft(np.fft.fft(x) * np.fft.fft(k)).real ** 2
        return np.fft.fft(np.fft.fft(y) * np.conj(np.fft.fft(k))).real

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not check(f, grad, RNG.normal(size=4), RNG.normal(size=4), argnums=0)


@pytest.mark.parametrize("seconds", [1e-9, 0.05])
def test_the_search_ends_in_time_and_says_so(seconds):
    def f(x):
        for _ in range(8):
            x = np.tanh(x * np.sin(x[::-1]) + x)
        return x.sum()

    report = check(f, lambda x: np.cos(x) + np.arange(6.0), RNG.normal(size=6), diagnose=seconds)
    assert not report.ok
    assert any("given up" in note for note in report.notes)


@pytest.mark.parametrize(
    ("f", "grad", "args", "said"),
    [
        (
            lambda b, w: (w * b**2).sum() / w.sum(),
            lambda b, w: 2 * w * b,
            (RNG.normal(size=4), np.array([0.3, 1.1, 0.7, 0.4])),
            "w.sum() (= 2.5) times",
        ),
        (
            lambda x, m: (x * m).sum() / m.sum(),
            lambda x, m: m,
            (RNG.normal(size=5), np.array([1, 0, 1, 0, 1])),
            "m.sum() (= 3) times",
        ),
        (
            lambda x, m: (m * x**2).sum() / m.sum(),
            lambda x, m: 2 * m * x / len(x),
            (RNG.normal(size=5), np.array([1, 0, 1, 0, 1.0])),
            "m.mean() (= 0.6) times",
        ),
        (lambda s, v: (v * s**2).sum(), lambda s, v: v.sum(), (0.7, RNG.normal(size=4)), "1/(2*s) (= 0.7143) times"),
    ],
)
def test_factors_are_sums_of_weights_and_doubled_parameters(f, grad, args, said):
    """They were numbers without a name."""
    assert said in check(f, grad, *args, argnums=0, mend=False).diagnosis.sentence


@pytest.mark.parametrize(
    ("f", "grad", "args", "said"),
    [
        (
            lambda x, A: np.exp(A @ x).sum(),
            lambda x, A: A.T @ np.ones(3),
            (np.ones(4), np.ones((3, 4))),
            "The derivative of exp is left out",
        ),
        (lambda x, w: (w * x**2).sum(), lambda x, w: 2 * x, (np.ones(5), np.full(5, 3.0)), "The factor w is left out"),
        (lambda x, A: np.exp(A @ x).sum(), lambda x, A: np.exp(A @ x), (np.zeros(5), np.ones((5, 5))), "of A @ x by x"),
    ],
)
def test_where_all_entries_are_equal_the_mistake_is_looked_for_close_by(f, grad, args, said):
    """It was a number: the ratio of two arrays of equal entries."""
    report = check(f, grad, *args, argnums=0, mend=False)
    assert said in report.diagnosis.sentence
    assert "looked for close by" in "".join(report.notes)
    assert np.array_equal(report.arguments[0].given, grad(*args))


def test_mistakes_inside_of_functions_that_are_one_node_are_found_there():
    def f(x, a, b):
        return (nn.functional.layer_norm(x, (5,), a, b) ** 3).sum()

    def grad(x, a, b):
        deviation = np.sqrt(x.var(1, keepdims=True) + 1e-5)
        h = (x - x.mean(1, keepdims=True)) / deviation
        g = 3 * (h * a + b) ** 2 * a
        return (g - g.mean(1, keepdims=True) - projected * h * (g * h).mean(1, keepdims=True)) / deviation

    args = RNG.normal(size=(3, 5)), *RNG.normal(size=(2, 5))
    projected = 1
    assert check(f, grad, *args, argnums=0).ok
    projected = 0
    assert "Inside the derivative of standardised" in check(f, grad, *args, argnums=0, mend=False).diagnosis.sentence


def test_numbers_made_of_sizes_are_values_as_others_are():
    """The negative of a size is no array, and was asked for its dtype."""

    def f(a, p):
        n = p.shape[0]
        return -n * np.log(a.sum()) + n * np.log(a).sum() - (a * np.log(p)).sum()

    def grad(a, p):
        n = p.shape[0]
        return -n / a.sum() + n / a - np.log(p).sum()

    p = RNG.random((6, 4)) + 0.1
    report = check(f, grad, RNG.random(4) + 0.1, p, argnums=0, mend=False)
    assert report.diagnosis.kind == "unknown"


def test_factors_that_are_exponentials_of_a_number():
    z = RNG.normal(size=5)

    def f(w, log_scale):
        return ((w - z) ** 2).sum() / np.exp(log_scale)

    report = check(f, lambda w, log_scale: 2 * (w - z), np.ones(5), 0.3, argnums=0, mend=False)
    assert "exp(log_scale) (= 1.35) times" in report.diagnosis.sentence


VALUES = {
    "a norm": (lambda x, y: np.linalg.norm(x - y), lambda x, y: x - y, "norm(x - y) (= ", "a division"),
    "a square": (lambda x, y: 1 / (1 + x @ x), lambda x, y: -2 * x, "(x @ x + 1)**2 (= ", "a division"),
    "a value left out": (lambda x, y: np.exp(-(x @ x)), lambda x, y: -2 * x, "1/(exp(-(x @ x))) (= ", "a factor"),
    "degrees": (
        lambda x, y: np.sin(np.deg2rad(x)).sum(), lambda x, y: np.cos(np.deg2rad(x)), "180/pi ", "a constant"),
    "Bessel's correction": (
        lambda x, y: np.std(x), lambda x, y: (x - x.mean()) / (np.std(x, ddof=1) * len(x)),
        "sqrt((5 - 1)/5) (= sqrt((x.shape[0] - 1)/x.shape[0])) ", "a constant"),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_factors_that_the_function_computes_are_named(name):
    """A division by the norm left out was "2.74868867 times the exact one", and a constant to look for."""
    f, g, factor, hint = VALUES[name]
    found = check(f, g, RNG.normal(size=5), RNG.normal(size=5), argnums=0).diagnosis
    assert found.sentence.startswith(f"Every entry is {factor}")
    assert found.sentence.endswith("times the exact one.")
    assert found.hint.startswith(hint)


def test_the_name_of_a_factor_holds_at_other_points():
    """2 is 1/temperature where that is 0.5, and n/m where there are eight rows of four."""
    x, A, y = rng_of_names.normal(size=5), rng_of_names.normal(size=(8, 4)), rng_of_names.normal(size=8)

    def soft(x, temperature):
        return np.log(np.exp(x / temperature).sum())

    def soft_grad(x, temperature):
        e = np.exp(x / temperature)
        return e / e.sum()

    def mean(w, A, y):
        return ((A @ w - y) ** 2).mean()

    def said(*args):
        return check(*args, argnums=0, mend=False).diagnosis.sentence

    assert said(soft, soft_grad, x, 0.5) == "Every entry is temperature (= 0.5) times the exact one."
    assert said(soft, lambda x, t: 2 * soft_grad(x, t) / t, x, 0.5) == "Every entry is 2 times the exact one."
    by_columns = said(mean, lambda w, A, y: 2 * A.T @ (A @ w - y) / len(w), np.ones(4), A, y)
    assert by_columns == "Every entry is 2 (= A.shape[0]/w.shape[0]) times the exact one."


def test_a_third_is_no_two_sixths_and_a_constant_has_its_name():
    """They were 1/3 (= 2/u.shape[0]) and "without 0.5 that is added"; two signs were a regularisation's."""
    u = rng_of_names.normal(size=6)
    cubes = check(lambda u: (u**2).sum() + (np.diff(u) ** 3).sum(), lambda u: 2 * u + cube_slope(u), u, mend=False)
    assert "is 1/3 times what it should be" in cubes.diagnosis.sentence

    def hinge(a, b, margin):
        return np.maximum(a - b + margin, 0).sum()

    def hinge_grad(a, b, margin):
        return 1.0 * (a - b > 0), -1.0 * (a - b > 0)

    a, b = np.array([1.0, 0.3, -2.0]), np.array([0.2, 0.6, 1.0])
    found = check(hinge, hinge_grad, a, b, 0.5, argnums=(0, 1), mend=False).diagnosis
    assert "without margin (= 0.5) that is added" in found.sentence
    x = np.array([-0.4, 0.3])
    found = check(lambda x: (x**2).sum(), lambda x: 2 * x - 0.24572546 * np.array([-1, 1]), x, mend=False).diagnosis
    assert "sign" not in found.sentence


def cube_slope(u):
    d, g = np.diff(u) ** 2, np.zeros_like(u)
    g[1:] += d
    g[:-1] -= d
    return g


def ridge(w, X, y, lam=0.5):
    r = X @ w - y
    return r @ r / len(y) + lam * (w @ w)


def ridge_grad(w, X, y, lam=0.5):
    return 2 * X.T @ (X @ w - y) / len(y) + 2 * lam * w


def filtered(theta, e):
    h = np.zeros(len(e))
    h[0] = 1.0
    for t in range(1, len(e)):
        h[t] = theta[0] + theta[1] * e[t - 1] ** 2 + theta[2] * h[t - 1]
    return (np.log(h) + e**2 / h).sum()


def filtered_grad(theta, e, wrong=""):
    h, dtheta, de = np.zeros(len(e)), np.zeros(3), np.zeros(len(e))
    h[0] = 1.0
    for t in range(1, len(e)):
        h[t] = theta[0] + theta[1] * e[t - 1] ** 2 + theta[2] * h[t - 1]
    dh = 1 / h - e**2 / h**2
    de += 2 * e / h
    for t in range(len(e) - 1, 0, -1):
        dtheta += dh[t] * np.array([1, e[t - 1] ** 2, h[t - 1]])
        dh[t - 1] += dh[t] * (1 if wrong == "beta" else theta[2])
        de[t - 1] += (1 if wrong == "two" else 2) * theta[1] * e[t - 1] * dh[t]
    return dtheta, de


def by_hand(w, X, y, lam=0.5):
    """2 lam w, as 2 w where lam is forgotten: that is counted twice where lam is 1/2."""
    return ridge_grad(w, X, y, lam) + 2 * (1 - lam) * w


def test_the_name_of_a_factor_of_a_part_holds_at_other_points():
    """It was counted twice, 1/(2*theta.mean()), and 1/3 (= 1/e.shape[0])."""
    rng = np.random.default_rng(1)
    w, X, y = rng.normal(size=3), rng.normal(size=(7, 3)), rng.normal(size=7)
    part = "The part of the gradient that comes from {} is {} times what it should be"
    said = check(ridge, by_hand, w, X, y, mend=False).diagnosis.sentence
    assert said == part.format("lam*(w @ w)", "1/lam (= 2)") + "."
    theta, e = np.array([0.2, 0.15, 0.7]), rng.normal(size=6)
    said = check(filtered, lambda *a: filtered_grad(*a, wrong="beta"), theta, e, mend=False).diagnosis.sentence
    assert "is 1/theta[2] (= 1.429) times" in said, said
    for size in (3, 6):
        found = check(filtered, lambda *a: filtered_grad(*a, wrong="two"), theta, rng.normal(size=size), mend=False)
        assert "is 1/2 times" in found["e"].diagnosis.sentence, found


def test_a_sign_that_is_wrong_for_one_value_alone_is_none():
    def f(x, power):
        return (x ** (2 - power) / ((1 - power) * (2 - power))).sum()

    x = np.random.default_rng(2).random(4) + 0.5
    wrong = check(f, lambda x, power: x ** (1 - power) / (2 - power), x, 1.5, argnums=0, mend=False).diagnosis
    assert wrong.kind != "sign", wrong
    assert check(f, lambda x, power: x ** (1 - power) / (power - 1), x, 1.5, argnums=0).diagnosis.kind == "sign"


def test_a_compiled_gradient_keeps_the_program_it_had() -> None:
    """It would have another one for a default that is given."""

    def ridge(w, X, rate=0.5):
        return ((X @ w) ** 2).sum() + rate * (w @ w)

    w, X = np.ones(2), np.arange(6.0).reshape(3, 2)
    gradient = sg.compile(sg.func.grad(ridge), w, X, name="g")
    before = gradient.source
    assert check(ridge, gradient, w, X).ok
    assert gradient.source == before
