"""sg.check on what people hand over: containers, functions of other libraries, kinks, badly conditioned points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import symgrad as sg
from symgrad.check import check
from symgrad.errors import ArgumentError

RNG = np.random.default_rng(3)
W, X, B = RNG.normal(size=(4, 3)), RNG.normal(size=3), RNG.normal(size=4)
SQUARE = RNG.normal(size=(4, 4))
S = SQUARE @ SQUARE.T + 4 * np.eye(4)


@dataclass(frozen=True)
class Layer:
    W: Any
    b: Any
    rate: int = 1


class Pair(NamedTuple):
    W: Any
    b: Any


def of_layer(p):
    return ((p.W @ X + p.b) ** 2).sum()


def layer_gradient(p):
    r = 2 * (p.W @ X + p.b)
    return np.outer(r, X), r


# ---------------------------------------------------------------------------------------------- containers


@pytest.mark.parametrize("kind", [Layer, Pair])
def test_arguments_may_be_objects_of_arrays(kind):
    report = check(of_layer, lambda p: kind(*layer_gradient(p)), kind(W, B))
    assert report.ok, report
    assert [a.name for a in report.arguments] == ["p_W", "p_b"]
    wrong = check(of_layer, lambda p: kind(layer_gradient(p)[0], B), kind(W, B))
    assert wrong["p_W"].ok
    assert not wrong["p_b"].ok


def test_arguments_may_be_dicts_and_lists_of_arrays():
    def f(layers, scale):
        h = sg.tanh(layers[0]["W"] @ X + layers[0]["b"])
        return scale * (layers[1] * h).sum()

    def gradient(layers, scale):
        h = np.tanh(layers[0]["W"] @ X + layers[0]["b"])
        r = scale * layers[1] * (1 - h**2)
        return [{"b": r, "W": np.outer(r, X)}, scale * h], (layers[1] * h).sum()

    layers = [{"W": W, "b": B}, RNG.normal(size=4)]
    report = check(f, gradient, layers, 0.5)
    assert report.ok, report
    assert [a.name for a in report.arguments] == ["layers_0_W", "layers_0_b", "layers_1", "scale"]
    assert check(f, lambda *a: gradient(*a)[0], layers, 0.5)
    assert check(f, lambda *a: gradient(*a)[1], layers, 0.5, argnums=1)
    assert check(f, gradient(layers, 0.5), layers, 0.5)
    turned = check(f, lambda *a: [{"b": B, "W": gradient(*a)[0][0]["W"].T}, gradient(*a)[0][1]], layers, 0.5)
    assert turned["layers_0_W"].diagnosis.kind == "transpose"


def test_structures_that_do_not_fit_are_told():
    def f(p):
        return (p["W"] @ X + p["b"]).sum()

    p = {"W": W, "b": B}
    with pytest.raises(ArgumentError, match="gradient of p has no entry 'b'; it has 'W'"):
        check(f, {"W": W}, p)
    with pytest.raises(ArgumentError, match="gradient of p has 'c' of its own"):
        check(f, {"W": W, "b": B, "c": B}, p)
    with pytest.raises(ArgumentError, match="form of a ndarray"):
        check(f, W, p)
    with pytest.raises(ArgumentError, match="gradient of p_b is None.*returned None"):
        check(f, {"W": W, "b": None}, p)
    with pytest.raises(ArgumentError, match="no argument is a floating-point array .a is int64: pass floats"):
        check(lambda a: (a**2).sum(), lambda a: 2 * a, np.array([1, 2]))


def test_a_gradient_that_changes_its_argument_is_compared_at_the_point():
    assert check(lambda a: (a**2).sum(), lambda a: a.__imul__(2), X.copy())


# ---------------------------------------------------------------------------------------------- symmetry, conditioning


def test_functions_that_read_one_triangle_have_symmetric_gradients():
    for f, gradient in (
        (lambda S: np.log(np.diagonal(np.linalg.cholesky(S))).sum(), np.linalg.inv(S) / 2),
        (lambda S: (np.linalg.eigvalsh(S) ** 2).sum(), 2 * S),
    ):
        report = check(f, gradient, S)
        assert report.ok, report
        assert "one triangle of S" in str(report)
        by_entry = np.tril(gradient + gradient.T) - np.diag(np.diag(gradient))
        assert check(f, by_entry, S)
        assert not check(f, np.tril(gradient), S)
        assert not check(f, gradient * (1 + 1e-6), S)


def test_poles_close_by_do_not_make_a_function_leave_the_tape():
    hilbert = np.array([[1 / (i + j + 1) for j in range(8)] for i in range(8)])
    u = np.linalg.solve(hilbert.T, np.ones(8))
    gradient = -np.outer(u, np.linalg.solve(hilbert, np.ones(8)))
    report = check(lambda A: np.linalg.solve(A, np.ones(8)).sum(), gradient, hilbert)
    assert report.ok, report
    assert not report.notes
    assert not check(lambda A: np.linalg.solve(A, np.ones(8)).sum(), 1.1 * gradient, hilbert)


def test_poles_close_by_do_not_fool_a_black_box():
    def f(x):
        return float(1 / (x[0] - 1)) + float(x[1] ** 2)

    x = np.array([1.001, 2.0])
    assert check(f, np.array([-1 / (x[0] - 1) ** 2, 4.0]), x)
    assert not check(f, np.array([-1.001 / (x[0] - 1) ** 2, 4.0]), x)


# ---------------------------------------------------------------------------------------------- kinks


def test_many_kinks_at_once_are_a_convention():
    A = RNG.normal(size=(200, 5))
    for choice in (0.0, 0.5, 1.0):
        report = check(lambda w: np.maximum(A @ w, 0).sum(), A.T @ np.full(200, choice), np.zeros(5))
        assert report.ok, report
    beyond = (
        A.T @ (A[:, 0] > 0) * 1.05 + 10 * np.eye(5)[0]
    )  # the largest first entry that weights from 0 to 1 give, and more
    assert not check(lambda w: np.maximum(A @ w, 0).sum(), beyond, np.zeros(5))
    inside = A.T @ np.full(200, 1.01) + 20  # weights beyond 1, but others from 0 to 1 give it, too
    weights = np.full(200, 0.5)
    for _ in range(200):
        weights = np.clip(weights + A @ np.linalg.solve(A.T @ A, inside - A.T @ weights), 0, 1)
    assert np.allclose(A.T @ weights, inside)
    assert check(lambda w: np.maximum(A @ w, 0).sum(), inside, np.zeros(5))


def test_black_boxes_have_kinks_too():
    def f(x):
        return float(np.maximum(np.asarray(x), 0).sum())

    x = np.array([-1.0, 0.0, 2.0])
    for choice in (0.0, 0.3, 1.0):
        report = check(f, np.array([0.0, choice, 1.0]), x)
        assert report.ok, report
    assert "kink" in str(check(f, np.array([0.0, 1.0, 1.0]), x))
    assert not check(f, np.array([0.0, 1.1, 1.0]), x)
    assert not check(f, np.array([0.1, 0.0, 1.0]), x)


def test_an_infinite_derivative_is_compared_without_warnings():
    report = check(lambda x: np.sqrt(x).sum(), np.array([np.inf, 0.5]), np.array([0.0, 1.0]))
    assert report.ok
    assert "inf" not in str(report)


# ---------------------------------------------------------------------------------------------- rounding, randomness


def test_cancellation_in_single_precision_is_told_from_a_wrong_formula():
    def gradient(w):
        return np.sin(w) / w**2 - 2 * (1 - np.cos(w)) / w**3

    w = np.array([0.01, 0.02, 0.05], np.float32)
    report = check(lambda w: ((1 - np.cos(w)) / w**2).sum(), gradient, w)
    assert report.diagnosis.kind == "rounding"
    assert check(lambda w: ((1 - np.cos(w)) / w**2).sum(), lambda w: -gradient(w), w).diagnosis.kind != "rounding"


def test_a_random_gradient_is_called_so():
    rng = np.random.default_rng(0)
    report = check(lambda x: (x * x).sum(), lambda x: 2 * x + rng.normal(size=x.shape), X)
    assert report.diagnosis.kind == "not deterministic"


def test_numbers_that_differ_are_written_differently():
    off = X * 2
    off[1] *= 1 + 1e-11
    report = check(lambda x: (x * x).sum(), off, X)
    given, exact = (float(w.rstrip(".")) for w in report.diagnosis.sentence.split(": ")[1].split(" instead of "))
    assert given != exact
    assert "1 + 1e-09 times" in check(lambda x: (x * x).sum(), 2 * X * (1 + 1e-9), X).diagnosis.sentence


# ---------------------------------------------------------------------------------------------- other libraries


@pytest.mark.peer
def test_functions_of_torch_are_run_on_tensors_of_torch():
    torch = pytest.importorskip("torch")
    w = torch.linspace(0.1, 1, 4, dtype=torch.float64)
    assert check(lambda w: torch.sin(w).sum(), torch.cos, w)
    assert check(lambda w: torch.sin(w).sum(), lambda w: -torch.cos(w), w).diagnosis.kind == "sign"
    layer = torch.nn.Linear(4, 2)

    def gradient(x):
        x = x.clone().requires_grad_()
        return torch.autograd.grad(torch.tanh(layer(x)).sum(), x)[0]

    for x in (w.float(), w):  # its parameters are in single precision
        layer = layer.to(x.dtype)
        report = check(lambda x: torch.tanh(layer(x)).sum(), gradient, x)
        assert report.ok, report
        assert not check(lambda x: torch.tanh(layer(x)).sum(), lambda x: gradient(x) * 1.05, x)
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        check(lambda x: layer(x[:2]).sum(), gradient, w)


@pytest.mark.peer
def test_tensors_of_torch_that_ask_for_gradients_go_on_asking():
    torch = pytest.importorskip("torch")
    x = torch.tensor(W, requires_grad=True)

    def gradient(x):
        x.grad = None
        (x**3).sum().backward()
        return x.grad

    assert check(lambda x: (x**3).sum(), gradient, x)
    assert x.grad is None
    assert not check(lambda x: (x**3).sum(), lambda x: torch.autograd.grad((x**2).sum(), x)[0], x)


@pytest.mark.peer
def test_functions_of_jax_are_checked_in_double_precision():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    def f(p):
        return jnp.mean(jnp.logaddexp(0, p["w"] @ X.astype(np.float32)) ** 2)

    p = {"w": jnp.asarray(W)}
    report = check(f, jax.grad(f), p)
    assert report.ok, report
    assert check(jax.jit(f), jax.jit(jax.grad(f)), {"w": W})
    assert not check(f, lambda p: {"w": 1.0001 * jax.grad(f)(p)["w"]}, p)
    kink = np.array([-1.0, 0.0, 2.0])
    assert check(lambda w: jnp.sum(jax.nn.relu(w)), jax.grad(lambda w: jnp.sum(jax.nn.relu(w))), kink)


# ---------------------------------------------------------------------------------------------- custom functions


def cube(*, backward=None, forward=None):
    """A custom function x**3 whose backward is as given."""

    class Cube(sg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3 if forward is None else forward(ctx, x)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return (backward or (lambda g, x: 3 * g * x**2))(g, x)

    return lambda x: Cube.apply(x).sum()


def test_the_backward_of_a_custom_function_is_not_its_own_referee():
    def one_entry(g, x):
        h = (3 * g * x**2).clone()
        h[2] *= 1.001
        return h

    x = RNG.normal(size=300)
    report = check(cube(), sg.func.grad(cube()), x)
    assert report.ok
    assert report["x"].formula == "3*x**2"
    assert "Cube" in str(report)
    for backward, kind in ((one_entry, "entry"), (lambda g, x: 3 * g * x**2 * (1 + 1e-7), "factor")):
        f = cube(backward=backward)
        assert check(f, sg.func.grad(f), x).diagnosis.kind == kind


def test_custom_functions_of_numpy_are_checked_by_their_values():
    def by_numpy(ctx, x):
        return sg.tensor(x.detach().numpy() ** 3)

    def in_place(ctx, x):
        ctx.mark_dirty(x)
        return x.pow_(3)

    f = cube(forward=by_numpy)
    assert check(f, sg.func.grad(f), X)
    assert not check(f, lambda x: 2 * x**2, X)
    g = cube(forward=in_place)
    assert check(lambda x: g(x * 1), lambda x: 3 * x**2, X)
    report = check(g, lambda x: 3 * x**2, X)
    assert report.ok, report
    assert not check(g, lambda x: 3.1 * x**2, X)


def test_a_straight_through_estimator_is_no_derivative():
    f = cube(forward=lambda ctx, x: sg.round(x), backward=lambda g, x: g)
    assert check(f, sg.func.grad(f), X).diagnosis is not None


# ---------------------------------------------------------------------------------------------- what else is said


def test_a_point_where_the_gradient_is_zero_proves_little():
    report = check(lambda x: ((x - 0.3) ** 2).sum(), lambda x: 3 * (x - 0.3), np.full(3, 0.3))
    assert report.ok
    assert "check at another point" in str(report)


def test_odd_results_and_calls_are_explained():
    assert check(lambda x: (x**2).sum(keepdims=True), lambda x: 2 * x, X)
    assert "empty" in str(check(lambda x: (x**2).sum(), lambda x: 2 * x, np.zeros(0)))
    assert check(lambda x: (x**2).sum(), lambda x: 2 * x + 1j, X).diagnosis.kind == "complex part"
    with pytest.raises(ArgumentError, match="f gave a tuple of 2"):
        check(lambda x: ((x**2).sum(), x), lambda x: 2 * x, X)
    with pytest.raises(ArgumentError, match="needs the point"):
        check(lambda x: x.sum(), lambda x: 1)


def test_what_is_detached_is_named():
    def f(x, c):
        i = sg.cdist(x, c).argmin(1)
        return ((x.detach() - c[i]) ** 2).mean() + ((x - c[i].detach()) ** 2).mean()

    x, c = RNG.normal(size=(5, 2)), RNG.normal(size=(3, 2))
    report = check(f, sg.func.grad(f, argnums=(0, 1)), x, c)
    assert [a.diagnosis.kind for a in report.arguments] == ["held constant"] * 2


def test_cancellation_in_double_precision_is_no_mistake():
    x = np.array([0.02, 0.7, -0.03])
    y = np.pi * x
    assert check(lambda x: sg.sinc(x).sum(), (y * np.cos(y) - np.sin(y)) / (y * x), x)


@pytest.mark.peer
def test_a_gradient_in_half_precision_is_as_exact_as_its_argument():
    torch = pytest.importorskip("torch")
    for dtype in (torch.bfloat16, torch.float16):
        w = torch.linspace(-1, 1, 5).to(dtype)
        assert check(lambda w: torch.exp(w).sum(), torch.exp, w)
        assert not check(lambda w: torch.exp(w).sum(), lambda w: 1.5 * torch.exp(w), w)
