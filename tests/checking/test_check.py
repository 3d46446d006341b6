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


# ---------------------------------------------------------------------------------------------- right gradients


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


def two_of_each() -> list[tuple[str, str, int]]:
    """Every mutant on two of the gradients that it fits, others each time, so that all gradients are among them."""
    cases = mutants()
    rows = [[case for case in cases if case[1] == name] for name in MUTANTS]
    return list(dict.fromkeys(row[(k + j * len(row) // 2) % len(row)] for k, row in enumerate(rows) for j in range(2)))


@pytest.mark.parametrize("chosen", [two_of_each, pytest.param(mutants, marks=pytest.mark.slow)])
def test_every_mutant_is_caught_and_nine_in_ten_are_named(chosen):
    cases = chosen()
    assert len({name for _, name, _ in cases}) >= 40
    assert {(problem, i) for problem, _, i in cases} == {(problem, i) for problem, _, i in mutants()}
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
        "quadratic", lambda A, w: (np.outer(w, w) + np.cos(A), 2 * A.T @ w), "transpose", "A"),
    "tanh' left out": (
        "layer", lambda B, c, X: (X.T @ (2 * np.tanh(X @ B + c)) + B, layer_grad(B, c, X)[1]),
        "inner derivative", "tanh"),
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


# ---------------------------------------------------------------------------------------------- the report


def test_report_says_what_where_and_how():
    right = logistic_grad(W, X, Y, 0.1)
    report = check(logistic, at(right, 2, right[2] * 1.5), W, X, Y, 0.1)
    w = report["w"]
    assert (w.worst, w.wrong, w.name) == ((2,), 1, "w")
    assert w.ratio == pytest.approx(1.5)
    assert w.diagnosis.kind == "entry"
    assert "lam" in w.formula
    assert r"\lambda" in w.latex
    text = str(report)
    assert "w[2]" in text
    assert "ratio 1.5" in text
    assert max(map(len, text.splitlines())) <= 80
    with pytest.raises(CheckFailed, match=r"Only w\[2\] is wrong"):
        report.raise_for_mismatch()
    with pytest.raises(AssertionError):
        report.raise_for_mismatch()


def test_right_report_needs_no_formula():
    report = check(logistic, logistic_grad, W, X, Y, 0.1)
    assert report.raise_for_mismatch() is report
    assert bool(report)
    assert report.value == pytest.approx(float(sg.Tensor.item(logistic(*map(sg.tensor, (W, X, Y, 0.1))))))


def test_names_argnums_and_rtol():
    def f(*args):
        return (args[0] * args[1]).sum()

    a, b = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    report = check(f, a, a, b, argnums=1, names=["alpha", "beta"])
    assert report.ok
    assert [x.name for x in report.arguments] == ["beta"]
    assert check(f, (b, a), a, b)
    assert not check(f, b * 1.001, a, b)
    assert check(f, b * 1.001, a, b, rtol=1e-2)


def test_integers_options_and_lists_may_be_arguments():
    def f(x, power, mask, flag):
        return sg.where(sg.tensor(mask), x**power, 0).sum() if flag else x.sum()

    mask = np.array([True, False, True])
    assert check(f, [3.0, 0.0, 27.0], [1.0, 2.0, 3.0], 3, mask, True)


def test_wrong_use_is_explained():
    x = np.ones(3)
    with pytest.raises(ArgumentError, match="scalar function"):
        check(lambda x: x * 2, x, x, kind="gradient")
    with pytest.raises(ArgumentError, match="not deterministic"):
        check(lambda x: (x * np.random.default_rng().normal()).sum(), x, x)
    with pytest.raises(ArgumentError, match="2 gradients were given"):
        check(lambda x: x.sum(), (x, x), x)
    with pytest.raises(ArgumentError, match="argnums"):
        check(lambda x: x.sum(), x, x, argnums=3)
    with pytest.raises(DtypeError, match="no floating-point array"):
        check(lambda x, n: x.sum(), x, x, 3, argnums=1)
    with pytest.raises(ArgumentError, match="takes the function first"):
        check(x, lambda x: x, x)
    with pytest.raises(ArgumentError, match="returned None"):
        check(lambda x: x.sum(), lambda x: None, x)
    with pytest.raises(ZeroDivisionError):
        check(lambda x: 1 / 0, x, x)


def test_kinks_are_conventions_not_errors():
    x = np.array([-1.0, 0.0, 2.0])
    report = check(lambda x: sg.relu(x).sum(), np.array([0.0, 1.0, 1.0]), x)
    assert report.ok
    assert "kink" in str(report)
    assert not check(lambda x: sg.relu(x).sum(), np.array([0.0, 1.5, 1.0]), x)
    assert not check(lambda x: sg.relu(x).sum(), np.array([0.1, 0.0, 1.0]), x)
    ties = np.array([1.0, 3.0, 3.0])
    assert check(lambda x: x.max(), np.array([0.0, 1.0, 0.0]), ties)
    assert check(lambda x: x.max(), np.array([0.0, 0.5, 0.5]), ties)


# ---------------------------------------------------------------------------------------------- black boxes


def test_functions_of_plain_arrays_are_black_boxes():
    def f(x):
        assert isinstance(x, np.ndarray)
        return float(np.sum(np.sin(x) * x))

    x = RNG.normal(size=5)
    report = check(f, lambda x: np.cos(x) * x + np.sin(x), x)
    assert report.ok
    assert "black box" in str(report)
    assert report["x"].formula is None
    assert check(f, lambda x: -np.cos(x) * x - np.sin(x), x).diagnosis.kind == "sign"
    wrong = check(f, lambda x: at(np.cos(x) * x + np.sin(x), 3, 9.0), x)
    assert wrong.diagnosis.kind == "entry"
    assert max(map(len, str(wrong).splitlines())) <= 80


def test_complex_step_is_exact_where_it_holds():
    def f(x):
        if not isinstance(x, np.ndarray):
            raise TypeError("arrays only")
        return np.sum(np.exp(x) / np.sqrt(np.sin(x) ** 3 + np.cos(x) ** 3))

    x = np.array([0.3, 0.7, 1.1])

    def grad(x):
        s, c = np.sin(x), np.cos(x)
        q = s**3 + c**3
        return np.exp(x) / np.sqrt(q) - np.exp(x) * (3 * s**2 * c - 3 * c**2 * s) / (2 * q**1.5)

    report = check(f, grad, x)
    assert report.method == "complex-step differentiation"
    assert report.ok
    assert not check(f, lambda x: grad(x) * (1 + 1e-10), x)


def test_complex_step_is_not_believed_for_abs():
    def f(x):
        if not isinstance(x, np.ndarray):
            raise TypeError("arrays only")
        return np.sum(np.abs(x) ** 3)

    report = check(f, lambda x: 3 * x * np.abs(x), np.array([-1.5, 2.0]))
    assert report.ok
    assert "differences" in report.method
    assert not check(f, lambda x: 3 * x**2, np.array([-1.5, 2.0]))


def test_a_function_that_leaves_the_tape_is_found_out():
    """Its tape gradient is wrong, and must not be taken for exact."""

    def f(x):
        return (x * float(x.detach().sum())).sum()

    x = np.array([1.0, 2.0])
    report = check(f, 2 * x.sum() * np.ones(2), x)
    assert report.ok, str(report)
    assert "leaves the tape" in str(report)
    assert not check(f, x.sum() * np.ones(2), x)


# ---------------------------------------------------------------------------------------------- other libraries


@pytest.mark.peer
def test_torch_gradients_can_be_checked():
    torch = pytest.importorskip("torch")

    def torch_grad(w, X, y, lam):
        w = torch.tensor(w, requires_grad=True)
        z = torch.tensor(X) @ w
        loss = torch.nn.functional.softplus(z).sum() - (torch.tensor(y) * z).sum() + lam * (w * w).sum()
        loss.backward()
        return w.grad

    assert check(logistic, torch_grad, W, X, Y, 0.1)
    single = (W.astype(np.float32), X.astype(np.float32), Y.astype(np.float32), 0.1)
    assert check(logistic, torch_grad, *single)
    assert not check(logistic, lambda *a: 1.01 * torch_grad(*a), *single)


def test_tensors_are_taken_as_arguments_and_as_gradients():
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    assert check(lambda x: (x**2).sum(), sg.tensor([2.0, 4.0]), x)
    assert check(lambda x: (x**2).sum(), lambda x: 2 * x, x)


def test_the_package_can_be_called_like_its_function():
    import symgrad.check

    assert symgrad.check(lambda x: x.sum(), np.ones(2), np.ones(2)).ok
    assert sg.check(lambda x: x.sum(), np.ones(2), np.ones(2)).ok


def test_large_gradients_are_diagnosed_within_a_budget():
    def f(x, y):
        for _ in range(30):
            y = y * 1.0 + x
        return (y * y).sum()

    x, y = np.linspace(0, 1, 100_000), np.linspace(1, 2, 100_000)
    right = 60 * (y + 30 * x)
    assert check(f, right, x, y)
    assert check(f, at(right, 77_777, 0.0), x, y).diagnosis.kind == "entry"
    assert check(f, right + np.cos(1e5 * x), x, y).diagnosis.kind in ("precision", "unknown")


def test_a_sign_inside_and_a_transpose_inside_are_found():
    rng = np.random.default_rng(0)
    X, w, y = rng.normal(size=(6, 3)), rng.normal(size=3), rng.normal(size=6)
    found = sg.check(lambda w, X, y: ((X @ w - y) ** 2).sum(), lambda w, X, y: 2 * X.T @ (X @ w + y), w, X, y)
    assert found.diagnosis.sentence == "This is the gradient with -y in place of y."
    A, x = rng.normal(size=(3, 3)), rng.normal(size=3)
    found = sg.check(lambda x, A: sg.tanh(A @ x).sum(), lambda x, A: A @ (1 - np.tanh(A.T @ x) ** 2), x, A)
    assert found.diagnosis.sentence == "This is the gradient with Aᵀ in place of A."
    assert repr(found) == str(found)


def test_the_verdict_does_not_wait_for_the_mistake():
    def f(x, y):
        return (np.tanh(x) * y).sum()

    def wrong(x, y):
        return y, np.tanh(x)

    x, y = np.array([0.3, -0.4]), np.array([1.0, 2.0])
    calls = []

    def counted(x, y):
        calls.append(1)
        return wrong(x, y)

    report = check(f, counted, x, y, diagnose=False)
    assert not report
    assert len(calls) == 1
    assert (report["x"].ok, report["y"].ok, report.diagnosis, report.mend) == (False, True, None, None)
    assert report.to_dict()["arguments"][0]["mistake"] is None
    assert report.headline == "d f / d x: WRONG"
    assert "worst" in str(report)
    assert "mistake" not in str(report)
    assert report.verdict.splitlines()[0] == "d f / d x: WRONG"
    assert "d f / d y: right" in report.verdict
    assert report.explain(5) is report
    assert str(report) == str(check(f, wrong, x, y))
    assert "tanh" in report.diagnosis.sentence
    assert "mistake" in report.findings
    assert "worst" not in report.findings
    assert report.explain() is report  # there is nothing left to look for


@pytest.mark.parametrize("seconds", ["1", -1.0, None])
def test_a_time_for_the_mistake_is_a_number(seconds):
    with pytest.raises(ArgumentError, match="how many seconds"):
        check(np.sin, np.cos, np.ones(2), diagnose=seconds)


def test_mistakes_in_jacobians_of_several_results_are_looked_for_later_as_well():
    def f(x):
        return np.sin(x), x**2

    def jac(x):
        return np.diag(np.sin(x)), np.diag(x)

    report = check(f, jac, np.array([0.5, 1.5]), diagnose=False)
    assert [a.diagnosis for a in report.arguments] == [None, None]
    assert all(a.diagnosis is not None for a in report.explain().arguments)
