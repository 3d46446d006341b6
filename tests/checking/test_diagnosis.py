"""sg.check names mistakes in local derivatives and in repeated forward passes, or tells where a mistake lies."""

from __future__ import annotations

import numpy as np
import pytest

from symgrad import linalg, special
from symgrad.check import check

RNG = np.random.default_rng(5)
x, X, w, weights = RNG.normal(size=5), RNG.normal(size=(6, 4)), RNG.normal(size=4), RNG.random(6) + 0.5


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def tanh_of_scaled(x):
    return np.tanh(0.3 * x**3).sum()


def rows(f):
    return lambda E: (f(E[[0, 2, 2, 1]]) * np.arange(12.0).reshape(4, 3)).sum()


def gathered(E, how):
    v = np.cos(E[[0, 2, 2, 1]]) * np.arange(12.0).reshape(4, 3)
    G = np.zeros_like(E)
    if how == "overwritten":
        G[[0, 2, 2, 1]] = v
    else:
        np.add.at(G, [0, 2, 2, 1], v)
    return G


def weighted(w):
    return (weights * np.logaddexp(0, X @ w)).mean()


def scaled_norm(x):
    return (x / np.sqrt((x**2).mean() + 1e-2) * np.arange(5.0)).sum()


def scaled_norm_gradient(x, eps=1e-2, power=3):
    s, g = 1 / np.sqrt((x**2).mean() + eps), np.arange(5.0)
    return g * s - x * (g * x).mean() * s**power


def hinges(w):
    return np.maximum(X @ w, 0) @ weights


def standardised(x):
    return ((x - x.mean(0)) / np.sqrt(x.var(0)) * X**2).sum()


def standardised_gradient(x, n=6):
    s = np.sqrt(x.var(0))
    h, v = (x - x.mean(0)) / s, X**2
    return (v - v.sum(0) / n - h * (v * h).sum(0) / n) / s


MISTAKES = {
    "inner derivative of a part": (
        tanh_of_scaled, lambda x: 1 - np.tanh(0.3 * x**3) ** 2, (x,), "inner derivative", "by x is left out"),
    "square lost": (
        lambda x: np.tanh(x).sum(), lambda x: 1 - np.tanh(x), (x,), "local factor", "1 + tanh(x) is missing"),
    "argument for result": (
        lambda x: np.tanh(x).sum(), lambda x: 1 - x**2, (x,), "local derivative", "takes the argument for the result"),
    "power rule for an exponential": (
        lambda x: (2.0**x).sum(), lambda x: x * 2.0 ** (x - 1), (x,), "local derivative", "by its other argument"),
    "twice": (
        lambda x: (sigmoid(x) ** 2).sum(), lambda x: 2 * sigmoid(x) ** 3 * (1 - sigmoid(x)) ** 2, (x,),
        "inner derivative", "multiplied in twice"),
    "stale": (
        lambda a, b: (np.tanh(a * b) * a).sum(),
        lambda a, b: (np.tanh(a * b) + a * b * (1 - np.tanh(b) ** 2), a**2 * (1 - np.tanh(b) ** 2)),
        (x, x[::-1] + 2), "local derivative", "is taken at b"),
    "operand": (
        lambda a, b: (np.sin(a) * b).sum(), lambda a, b: (np.cos(a) * a, np.sin(a)), (x, x + 1), "", " a"),
    "overwritten": (
        rows(np.sin), lambda E: gathered(E, "overwritten"), (RNG.normal(size=(3, 3)),), "overwritten", "last time"),
    "weights forgotten": (
        weighted, lambda w: X.T @ sigmoid(X @ w) / 6, (w,), "", "c"),
    "epsilon forgotten": (
        scaled_norm, lambda x: scaled_norm_gradient(x, 0), (x,), "other function", "without 0.01 that is added"),
    "power": (
        scaled_norm, lambda x: scaled_norm_gradient(x, power=2), (x,), "local factor", "is too many"),
    "hinge forgotten": (
        hinges, lambda w: X.T @ weights, (w,), "branch", "goes through maximum"),
    "two parts": (
        standardised, lambda x: standardised_gradient(x, 1), (X + X**2,), "terms", "6 (= x.shape[0]) times"),
    "branches swapped": (
        lambda w: np.maximum(0.3 * (X @ w), -0.7 * (X @ w)).sum(),
        lambda w: X.T @ np.where(X @ w > 0, -0.7, 0.3), (w,), "other function", "minimum in place of maximum"),
    "index off by one": (
        lambda x: (x[1:] * x[:-1]).sum(), lambda x: np.roll(np.r_[x[1:], 0] + np.r_[0, x[:-1]], 1) + 9.0 * (x == x[0]),
        (x,), "order", "shifted by 1"),
    "parts in the wrong order": (
        lambda x: (x**2) @ np.arange(5.0), lambda x: (2 * x * np.arange(5.0))[[1, 0, 3, 2, 4]], (x,), "order", "x[0]"),
    "axes": (
        lambda W: np.einsum("bi,kij,bj->", X, W, X**2),
        lambda W: np.stack([X.T @ X**2] * 2).swapaxes(1, 2), (RNG.normal(size=(2, 4, 4)),),
        "transpose", "Axes 1 and 2"),
    "diagonal": (
        lambda X: np.log(np.linalg.det(X)), lambda X: np.linalg.inv(X).T * (1 + np.eye(4)),
        (X[:4] @ X[:4].T + np.eye(4),),
        "entries", "The diagonal is wrong"),
    "conjugate of a matrix": (
        lambda z: (np.abs((X + 1j * X**2) @ z) ** 2).sum(),
        lambda z: 2 * (X + 1j * X**2).T @ ((X + 1j * X**2) @ z), (w + 1j * w[::-1],), "operand", "the conjugate"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_named(name):
    f, grad, args, kind, words = MISTAKES[name]
    report = check(f, grad, *args)
    assert not report.ok
    assert report.diagnosis.kind not in ("unknown", "place"), report
    assert kind in ("", report.diagnosis.kind), report
    assert words in report.diagnosis.sentence, report


def test_right_gradients_of_the_same_functions_pass():
    assert check(rows(np.sin), lambda E: gathered(E, ""), RNG.normal(size=(3, 3)))
    assert check(scaled_norm, scaled_norm_gradient, x)
    assert check(standardised, standardised_gradient, X + X**2)


def test_a_mistake_without_a_name_is_told_by_its_place():
    def f(W, b):
        return (np.maximum(X[:3] @ W + b, 0) ** 2).sum()

    def gradient(W, b):
        a = X[:3] @ W + b
        d = 2 * np.maximum(a, 0) * (np.arange(6).reshape(3, 2) % 5 > 1)
        return X[:3].T @ d, d.sum(0)

    W = np.random.default_rng(0).normal(size=(4, 2))  # of its own: six signs fit other mistakes at some points
    report = check(f, gradient, W, np.array([1.0, 2.0]))
    assert not report.ok
    for argument in report.arguments:
        assert argument.diagnosis.kind == "place", report
        assert "is wrong when it gets there" in argument.diagnosis.sentence
        assert "np.maximum" in argument.diagnosis.line


def test_the_derivative_of_a_part_by_another_value_left_out():
    """The exponential of a half, log(1 + u²): several operations, whose derivative is forgotten as one."""

    def f(W):
        return (np.log(1 + np.tanh(X @ W) ** 2) * weights[:, None]).sum()

    def gradient(W, left_out):
        t = np.tanh(X @ W)
        inner = 1.0 if left_out else 2 * t / (1 + t**2)
        return X.T @ (weights[:, None] * inner * (1 - t**2))

    W = RNG.normal(size=(4, 3))
    assert check(f, lambda W: gradient(W, False), W)
    report = check(f, lambda W: gradient(W, True), W)
    assert report.diagnosis.kind == "inner derivative", report
    assert "by tanh(X @ W)" in report.diagnosis.sentence or "by tanh(c" in report.diagnosis.sentence, report


def test_another_entry_than_the_one_that_is_read():
    def f(x, w):
        z = np.tanh(x * w)
        return np.sum(z[0] * z[1] * w)

    def grad(x, w):
        z = np.tanh(x * w)
        slope = 1 - z**2
        by_x = np.zeros_like(x)
        by_x[2], by_x[1] = z[1] * w * slope[2] * w, z[2] * w * slope[1] * w
        return by_x, z[2] * z[1] + z[1] * w * slope[2] * x[2] + z[2] * w * slope[1] * x[1]

    rng = np.random.default_rng(0)
    report = check(f, grad, rng.normal(size=(4, 3)), rng.normal(size=3))
    for argument in report.arguments:
        assert "with entry 2 in place of entry 0" in argument.diagnosis.sentence


def softmax(z):
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_long_formulas_are_told_as_the_function_writes_them():
    def f(w):
        p = softmax(X * w)
        return (p**2).sum() + 0.5 * (np.tanh(p) ** 3 + np.sin(p) * np.cos(p)).sum()

    p = softmax(X * w)
    g = 2 * p  # the second term is left out
    report = check(f, (X * p * (g - (g * p).sum(1, keepdims=True))).sum(0), w)
    assert report.diagnosis.sentence == (
        "The part of the gradient that comes from 0.5 * (np.tanh(p) ** 3 + np.sin(p) * np.cos(p)).sum() is missing."
    )


def test_what_one_expression_gives_twice_is_told_by_its_formula():
    def f(w):
        first, second = softmax(X * w), softmax(X * w**2)
        return (np.exp(first) * second).sum()

    def back(p, g):
        return p * (g - (g * p).sum(1, keepdims=True))

    first, second = softmax(X * w), softmax(X * w**2)
    wrong = (X * back(first, np.exp(first) * second)).sum(0)  # the second is taken for a constant
    sentence = check(f, wrong, w).diagnosis.sentence
    assert "w**2" in sentence, sentence


def test_reports_on_several_wrong_arguments_stay_short():
    def network(W1, b1, W2, b2, X, y):
        h = np.maximum(0, X @ W1 + b1)
        p = np.exp(h @ W2 + b2)
        p = p / p.sum(axis=1, keepdims=True)
        return -np.log(p[np.arange(len(y)), y]).mean() + 0.05 * ((W1**2).sum() + (W2**2).sum())

    def gradients(W1, b1, W2, b2, X, y):
        z = X @ W1 + b1
        p = np.exp(np.maximum(0, z) @ W2 + b2)
        p /= p.sum(axis=1, keepdims=True)
        p[np.arange(len(y)), y] -= 1  # and p /= len(y)
        dh = (p @ W2.T) * (z > 0)
        return X.T @ dh + 0.1 * W1, dh.sum(0), np.maximum(0, z).T @ p + 0.1 * W2, p.sum(0)

    rng = np.random.default_rng(4)
    args = [rng.normal(size=shape) for shape in ((3, 5), 5, (5, 4), 4, (6, 3))]
    report = check(network, gradients, *args, np.array([0, 1, 2, 3, 1, 0]))
    assert not any(argument.ok for argument in report.arguments)
    assert len(str(report).splitlines()) <= 36, report
    assert "LaTeX" not in str(report)
    assert report["W1"].latex


def alignments(z):
    lp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    return -np.logaddexp(lp[0, 1] + lp[1, 2] + lp[2, 2], lp[0, 0] + lp[1, 1] + lp[2, 3])


def alignments_gradient(z, both=True):
    p = np.exp(z)
    p /= p.sum(axis=1, keepdims=True)
    paths = [(1, 2, 2), (0, 1, 3)]
    weights = np.array([np.prod(p[np.arange(3), path]) for path in paths])
    t = np.zeros_like(z)
    for path, w in list(zip(paths, weights / weights.sum(), strict=True))[: 2 if both else 1]:
        t[np.arange(3), path] += w
    return p - t


def test_a_path_that_is_missing_where_the_sum_of_a_softmax_is_taken_for_right():
    z = np.random.default_rng(3).normal(size=(3, 4))
    assert check(alignments, alignments_gradient, z).ok
    report = check(alignments, lambda z: alignments_gradient(z, both=False), z)
    assert report.diagnosis.kind == "term", report
    assert "is missing" in report.diagnosis.sentence
    assert "logaddexp" in report.diagnosis.sentence


def test_a_mean_over_another_size_is_named_by_both():
    ids, y = np.array([0, 1, 1, 2, 3, 4, 5]), np.array([1.0, 0.5, -1.0])
    starts = [(0, 2), (2, 3), (3, 7)]

    def f(E, ids, y):
        return ((np.stack([E[ids[a:b]].sum() for a, b in starts]) - y) ** 2).sum() / len(y)

    def grad(E, ids, y):
        g = np.zeros_like(E)
        for (a, b), t in zip(starts, y, strict=True):
            np.add.at(g, ids[a:b], 2 * (E[ids[a:b]].sum() - t) / len(ids))
        return g

    report = check(f, grad, RNG.normal(size=(6, 2)), ids, y, argnums=0)
    assert "3/7 (= y.shape[0]/ids.shape[0]) times" in report.diagnosis.sentence


def test_one_array_under_two_names_is_told():
    def f(u, v, a, b):
        return (a * u**2).sum() + (b * v**3).sum()

    def grad(u, v, a, b):
        gu = gv = np.zeros_like(u)
        gu += 2 * a * u
        gv += 3 * b * v**2
        return gu, gv

    report = check(f, grad, *RNG.normal(size=(4, 5)), argnums=(0, 1))
    assert {a.diagnosis.kind for a in report.arguments} == {"same array"}
    assert "u and v" in report.diagnosis.sentence


def test_values_of_waves_are_no_arguments_of_real_functions():
    """Of a function for real numbers alone the slope was taken at a complex value of the same shape."""
    k = RNG.normal(size=3)

    def f(x):
        return (np.abs(np.exp(1j * x * k)) ** 2 * x).sum() + special.erfc(x).sum()

    def grad(x):
        return np.ones(3) - 1.3 * np.exp(-(x**2)) * x

    report = check(f, grad, RNG.normal(size=3), mend=False)
    assert not report.ok
    assert report.diagnosis is not None


Z, T, c = RNG.normal(size=(6, 3)), RNG.normal(size=(6, 3)), RNG.normal(size=3)
A, v = 0.5 * RNG.normal(size=(3, 3)), RNG.normal(size=3)


def biased(c):
    return ((np.tanh(Z + c) - T) ** 2).mean()


def biased_gradient(c, rows):
    H = np.tanh(Z + c)
    return (2 * (H - T) * (1 - H**2) / T.size)[rows]


def weighed(W):
    return ((X @ W - T) ** 2).sum() / 2


@pytest.mark.parametrize(
    ("f", "gradient", "x", "said"),
    [
        (biased, lambda c: biased_gradient(c, 0), c, "through the first entry of"),
        (biased, lambda c: biased_gradient(c, -1), c, "through the last entry of"),
        (
            weighed,
            lambda W: np.outer(X[0], X[0] @ W - T[0]),
            RNG.normal(size=(4, 3)),
            "first entry of X @ W along axis 0",
        ),
    ],
    ids=["first", "last", "weights"],
)
def test_a_row_of_a_batch_for_the_sum_over_all(f, gradient, x, said):
    report = check(f, gradient, x)
    assert not report.ok
    assert report.diagnosis.kind == "missing sum"
    assert said in report.diagnosis.sentence


def exponential(A):
    return v @ linalg.matrix_exp(A) @ v


def exponential_gradient(A, how):
    (w, P), G = np.linalg.eig(A), np.outer(v, v)
    E = np.real(P @ np.diag(np.exp(w)) @ np.linalg.inv(P)).T
    return {"left": E @ G, "right": G @ E, "both": (E @ G + G @ E) / 2, "entries": np.exp(A) * G}[how]


@pytest.mark.parametrize(
    ("how", "said"),
    [("left", "f'(A)ᵀ G,"), ("right", ": G f'(A)ᵀ,"), ("both", "f'(A)ᵀ)/2"), ("entries", "every entry")],
)
def test_functions_of_matrices_are_no_functions_of_numbers(how, said):
    """d e^A is no e^A dA."""
    report = check(exponential, lambda A: exponential_gradient(A, how), A)
    assert report.diagnosis.kind == "function of a matrix"
    assert said in report.diagnosis.sentence
    inverse = check(
        lambda A: v @ np.linalg.inv(A) @ v, lambda A: -np.linalg.inv(A @ A).T @ np.outer(v, v), A + 2 * np.eye(3)
    )
    assert inverse.diagnosis.kind == "function of a matrix"


def test_roots_of_entries_that_have_none_are_no_mistake_and_no_error():
    """The derivative of a Cholesky factor was never that of every entry, of which some are negative."""
    S = np.array([[2.0, -0.5, 0.1], [-0.5, 1.5, -0.2], [0.1, -0.2, 1.0]])
    report = check(lambda S: (np.linalg.cholesky(S) ** 3).sum(), lambda S: S**2, S)
    assert not report.ok
    assert report.diagnosis.kind != "function of a matrix"


def test_the_slope_of_a_quotient_by_its_other_part_is_a_reciprocal():
    """y for the derivative of x/y by y was explained as that by x, which is 1/y."""
    report = str(check(lambda a, b: (a / b).sum(), lambda a, b: (1 / b, b), x + 3, x + 5))
    assert "No single mistake" in report
