"""sg.check: every planted error is caught and named, and no right gradient is accused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.check import check
from symgrad.errors import ArgumentError, CheckFailed, DtypeError

RNG = np.random.default_rng(7)
X = RNG.normal(size=(9, 4))
Y = (RNG.random(9) > 0.5).astype(float)
W = RNG.normal(size=4)
A = RNG.normal(size=(4, 4))
B = RNG.normal(size=(4, 3))
C = RNG.normal(size=3)
Z = RNG.normal(size=4) + 1j * RNG.normal(size=4)
M = RNG.normal(size=(5, 4)) + 1j * RNG.normal(size=(5, 4))


def sigmoid(z: Any) -> Any:
    return 0.5 * (1 + np.tanh(z / 2))


def softmax(z: Any) -> Any:
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


# ---------------------------------------------------------------------------------------------- functions and right gradients


def logistic(w, X, y, lam):
    z = X @ w
    return sg.logaddexp(z, 0 * z).sum() - (y * z).sum() + lam * (w * w).sum()


def logistic_grad(w, X, y, lam):
    return X.T @ (sigmoid(X @ w) - y) + 2 * lam * w


def least_squares(w, X, y):
    return ((X @ w - y) ** 2).mean()


def least_squares_grad(w, X, y):
    return 2 * X.T @ (X @ w - y) / len(y)


def layer(B, c, X):
    return (sg.tanh(X @ B + c) ** 2).sum() + 0.5 * (B * B).sum()


def layer_grad(B, c, X):
    t = np.tanh(X @ B + c)
    h = 2 * t * (1 - t**2)
    return X.T @ h + B, h.sum(axis=0)


def quadratic(A, w):
    return w @ A @ w + sg.sin(A).sum()


def quadratic_grad(A, w):
    return np.outer(w, w) + np.cos(A), (A + A.T) @ w


def gaussian(mu, s, y):
    return (0.5 * ((y - mu) / s) ** 2 + sg.log(s)).sum()


def gaussian_grad(mu, s, y):
    r = y - mu
    return -(r / s**2).sum(), (-(r**2) / s**3 + 1 / s).sum()


def cross_entropy(B, X, T):
    z = X @ B
    return sg.logsumexp(z, 1).sum() - (T * z).sum() + 0.3 * (B**2).sum()


def cross_entropy_grad(B, X, T):
    return X.T @ (softmax(X @ B) - T) + 0.6 * B


def complex_least_squares(z, M):
    r = M @ z - 1
    return (r.abs() ** 2).sum()


def complex_least_squares_grad(z, M):
    return 2 * M.conj().T @ (M @ z - 1)


TARGETS = np.eye(3)[RNG.integers(0, 3, 9)]
PROBLEMS: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = {
    "logistic": (logistic, logistic_grad, (W, X, Y, 0.1)),
    "least squares": (least_squares, least_squares_grad, (W, X, Y)),
    "layer": (layer, layer_grad, (B, C, X)),
    "quadratic": (quadratic, quadratic_grad, (A, W)),
    "gaussian": (gaussian, gaussian_grad, (0.3, 1.7, RNG.normal(size=6))),
    "cross entropy": (cross_entropy, cross_entropy_grad, (B, X, TARGETS)),
    "complex": (complex_least_squares, complex_least_squares_grad, (Z, M)),
}


# ---------------------------------------------------------------------------------------------- no false alarms


def cast(args: tuple[Any, ...], dtype: Any) -> tuple[Any, ...]:
    kinds = {"f": dtype, "c": np.complex64 if dtype == np.float32 else np.complex128}
    return tuple(a.astype(kinds[a.dtype.kind]) if isinstance(a, np.ndarray) else a for a in args)


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["single", "double"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_right_gradients_pass(name, dtype):
    f, grad, args = PROBLEMS[name]
    report = check(f, grad, *cast(args, dtype))
    assert report.ok, str(report)
    assert report.diagnosis is None
    assert "right" in str(report)


@pytest.mark.parametrize("scale", [1e-6, 1e-2, 1.0, 1e3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["single", "double"])
def test_right_gradients_pass_at_random_points(scale, dtype):
    for seed in range(15):
        rng = np.random.default_rng(seed)
        data, y = rng.normal(size=(50, 6)).astype(dtype), rng.normal(size=50).astype(dtype)
        w = (scale * rng.normal(size=6)).astype(dtype)
        assert check(least_squares, least_squares_grad, w, data, y)
        assert check(logistic, logistic_grad, w, data, (y > 0).astype(dtype), dtype(0.1))


def test_right_gradient_at_a_minimum_passes():
    w = np.linalg.lstsq(X, Y, rcond=None)[0]
    assert check(least_squares, least_squares_grad, w, X, Y)
    assert check(lambda w: ((X @ w - Y) ** 2).mean(), lambda w: least_squares_grad(w, X, Y), w)


# ---------------------------------------------------------------------------------------------- planted errors


@dataclass
class Mutant:
    """A mistake: how it changes the right gradient, and the kinds of diagnosis that name it."""

    change: Callable[[np.ndarray, np.ndarray], Any]
    kinds: tuple[str, ...]
    where: Callable[[np.ndarray], bool] = lambda g: True


def at(g: np.ndarray, index: Any, value: Any) -> np.ndarray:
    out = np.array(g)
    out[index] = value
    return out


def vector(g: np.ndarray) -> bool:
    return g.size > 1


def matrix(g: np.ndarray) -> bool:
    return g.ndim == 2


def square(g: np.ndarray) -> bool:
    return g.ndim == 2 and g.shape[0] == g.shape[1]


def real_vector(g: np.ndarray) -> bool:
    return g.size > 1 and g.dtype.kind == "f"


def complex_valued(g: np.ndarray) -> bool:
    return g.dtype.kind == "c"


MUTANTS = {
    "twice": Mutant(lambda g, x: 2 * g, ("factor",)),
    "half": Mutant(lambda g, x: g / 2, ("factor",)),
    "a third": Mutant(lambda g, x: g / 3, ("factor",)),
    "n times": Mutant(lambda g, x: 9 * g, ("factor",)),
    "five per ten thousand": Mutant(lambda g, x: 1.0005 * g, ("factor",)),
    "one part in a million": Mutant(lambda g, x: g * (1 + 1e-6), ("factor",)),
    "degrees": Mutant(lambda g, x: g * np.pi / 180, ("factor",)),
    "sign": Mutant(lambda g, x: -g, ("sign",)),
    "normalised": Mutant(lambda g, x: g / np.linalg.norm(g), ("factor",), vector),
    "zero": Mutant(lambda g, x: 0 * g, ("zero",)),
    "transposed": Mutant(lambda g, x: g.T, ("transpose",), matrix),
    "column major": Mutant(lambda g, x: g.ravel("F").reshape(g.shape), ("order", "transpose"), matrix),
    "reversed": Mutant(lambda g, x: np.flip(g, 0), ("order",), vector),
    "shifted": Mutant(lambda g, x: np.roll(g, 1, -1), ("order",), vector),
    "flat": Mutant(lambda g, x: g.ravel(), ("shape",), matrix),
    "column": Mutant(lambda g, x: g[:, None], ("shape", "transpose"), lambda g: g.ndim == 1),
    "missing sum": Mutant(
        lambda g, x: np.stack([0.25 * g, 0.35 * g, 0.4 * g]) + np.array([1, -1, 0]).reshape(3, *[1] * g.ndim),
        ("missing sum",),
    ),
    "extra sum": Mutant(lambda g, x: g.sum(), ("extra sum",), vector),
    "extra sum of one axis": Mutant(lambda g, x: g.sum(0), ("extra sum",), matrix),
    "sum broadcast back": Mutant(lambda g, x: 0 * g + g.sum(0), ("broadcast sum",), vector),
    "mean broadcast back": Mutant(lambda g, x: 0 * g + g.mean(-1, keepdims=True), ("broadcast sum",), vector),
    "one entry": Mutant(lambda g, x: at(g, (0,) * g.ndim, g.flat[0] + 1), ("entry",), vector),
    "one entry by a millionth": Mutant(lambda g, x: at(g, (-1,) * g.ndim, g.flat[-1] * (1 + 1e-6)), ("entry",), vector),
    "sign of one entry": Mutant(lambda g, x: at(g, (1,) + (0,) * (g.ndim - 1), -g[1].flat[0]), ("entry",), vector),
    "one row": Mutant(lambda g, x: at(g, 1, 3 * g[1]), ("slice",), matrix),
    "one column": Mutant(lambda g, x: at(g, (slice(None), 2), g[:, 2] + 1), ("slice",), matrix),
    "row of zeros": Mutant(lambda g, x: at(g, 0, 0), ("zeros", "slice"), matrix),
    "last entries zero": Mutant(lambda g, x: at(g, slice(-2, None), 0), ("zeros",), lambda g: g.size > 2),
    "nan": Mutant(lambda g, x: at(g, (0,) * g.ndim, np.nan), ("non-finite",), vector),
    "inf": Mutant(lambda g, x: at(g, (0,) * g.ndim, np.inf), ("non-finite",), vector),
    "constant added": Mutant(lambda g, x: g + 0.01, ("offset",), vector),
    "decay added": Mutant(lambda g, x: g + 0.01 * x, ("regularisation", "term"), vector),
    "lasso added": Mutant(lambda g, x: g + 0.01 * np.sign(x), ("regularisation",), real_vector),
    "absolute": Mutant(lambda g, x: np.abs(g), ("absolute value",), lambda g: real_vector(g) and (g < 0).sum() > 1),
    "signs only": Mutant(lambda g, x: np.sign(g), ("function",), real_vector),
    "squared": Mutant(lambda g, x: g * g, ("function",), real_vector),
    "by x": Mutant(lambda g, x: g * x, ("function",), real_vector),
    "over x": Mutant(lambda g, x: g / x, ("function",), real_vector),
    "clipped": Mutant(
        lambda g, x: np.clip(g, *np.quantile(g, [0.3, 0.7])), ("clipped",), lambda g: real_vector(g) and g.size > 3
    ),
    "three digits": Mutant(lambda g, x: g + 1e-3 * np.abs(g).max() * np.cos(99 * g.real), ("precision",), real_vector),
    "finite differences": Mutant(
        lambda g, x: g + 1e-7 * np.abs(g).max() * np.cos(99 * g.real), ("precision",), real_vector
    ),
    "conjugate": Mutant(lambda g, x: np.conj(g), ("conjugate",), complex_valued),
    "real part": Mutant(lambda g, x: g.real, ("complex part",), complex_valued),
    "imaginary part": Mutant(lambda g, x: 1j * g.imag, ("complex part",), complex_valued),
    "symmetrised": Mutant(lambda g, x: (g + g.T) / 2, ("symmetry",), square),
    "lower triangle": Mutant(lambda g, x: np.tril(g), ("symmetry", "zeros"), square),
}


def mutants() -> list[tuple[str, str, int]]:
    cases = []
    for problem, (_, grad, args) in PROBLEMS.items():
        value = grad(*args)
        gradients = value if isinstance(value, tuple) else (value,)
        for i, g in enumerate(map(np.asarray, gradients)):
            cases += [(problem, name, i) for name, mutant in MUTANTS.items() if mutant.where(g)]
    return cases


def run_mutant(problem: str, name: str, i: int) -> Any:
    f, grad, args = PROBLEMS[problem]
    value = grad(*args)
    gradients = list(value) if isinstance(value, tuple) else [value]
    gradients[i] = MUTANTS[name].change(np.asarray(gradients[i]), np.asarray(args[i]))
    return check(f, tuple(gradients), *args)


def test_every_mutant_is_caught_and_nine_in_ten_are_named():
    cases = mutants()
    assert len({name for _, name, _ in cases}) >= 40
    passed, misnamed = [], []
    for case in cases:
        report = run_mutant(*case)
        if report.ok:
            passed.append(case)
        elif report.diagnosis.kind not in MUTANTS[case[1]].kinds:
            misnamed.append((*case, str(report.diagnosis)))
    assert not passed
    assert len(misnamed) <= 0.1 * len(cases), misnamed


# Mistakes in the derivation, not in the result: each is a whole gradient written wrong.

DERIVATION_MISTAKES = {
    "regulariser forgotten": (
        "logistic", lambda w, X, y, lam: X.T @ (sigmoid(X @ w) - y), "term", "missing"),
    "regulariser without its 2": (
        "logistic", lambda w, X, y, lam: X.T @ (sigmoid(X @ w) - y) + lam * w, "term", "1/2"),
    "regulariser subtracted": (
        "logistic", lambda w, X, y, lam: X.T @ (sigmoid(X @ w) - y) - 2 * lam * w, "term", "wrong sign"),
    "regulariser twice": (
        "logistic", lambda w, X, y, lam: X.T @ (sigmoid(X @ w) - y) + 4 * lam * w, "term", "twice"),
    "labels forgotten": (
        "logistic", lambda w, X, y, lam: X.T @ sigmoid(X @ w) + 2 * lam * w, "term", "missing"),
    "sum for a mean": (
        "least squares", lambda w, X, y: 2 * X.T @ (X @ w - y), "factor", "X.shape[0]"),
    "square without its 2": (
        "least squares", lambda w, X, y: X.T @ (X @ w - y) / len(y), "factor", "1/2"),
    "product rule forgotten": (
        "quadratic", lambda A, w: (np.outer(w, w) + np.cos(A), A @ w), "term", "missing"),
    "A for its transpose twice": (
        "quadratic", lambda A, w: (np.outer(w, w) + np.cos(A), 2 * A.T @ w), "unknown", ""),
    "tanh' left out": (
        "layer", lambda B, c, X: (X.T @ (2 * np.tanh(X @ B + c)) + B, layer_grad(B, c, X)[1]), "inner derivative", "tanh"),
    "bias not summed": (
        "layer", lambda B, c, X: (layer_grad(B, c, X)[0], 2 * np.tanh(X @ B + c) * (1 - np.tanh(X @ B + c) ** 2)),
        "missing sum", "axis 0"),
    "results exchanged": (
        "gaussian", lambda mu, s, y: gaussian_grad(mu, s, y)[::-1], "swapped", "gradient of s"),
}  # fmt: skip


@pytest.mark.parametrize("name", DERIVATION_MISTAKES)
def test_mistakes_of_derivation_are_named(name):
    problem, wrong, kind, words = DERIVATION_MISTAKES[name]
    f, _, args = PROBLEMS[problem]
    report = check(f, wrong, *args)
    assert not report
    assert report.diagnosis.kind == kind, str(report.diagnosis)
    assert words in report.diagnosis.sentence
