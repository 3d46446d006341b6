"""sg.check of derivatives of functions that give arrays: Jacobians, vjps, jvps, elementwise ones; several results."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import symgrad as sg
from symgrad.check import check
from symgrad.errors import ArgumentError

RNG = np.random.default_rng(5)
A, B = RNG.normal(size=(3, 4)), RNG.normal(size=(4, 4))
X, Y = RNG.normal(size=4), RNG.normal(size=4)


def layer(x, A):
    return sg.tanh(A @ x)


def layer_jacobian(x, A):
    s = 1 - np.tanh(A @ x) ** 2
    return s[:, None] * A, np.einsum("i,ij,k->ijk", s, np.eye(len(s)), x)


def layer_vjp(v, x, A):
    u = v * (1 - np.tanh(A @ x) ** 2)
    return A.T @ u, np.outer(u, x)


def layer_jvp(primals, tangents):
    (x, A), (dx, dA) = primals, tangents
    return (1 - np.tanh(A @ x) ** 2) * (A @ dx + dA @ x)


# ---------------------------------------------------------------------------------------------- right ones


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_right_ones_pass(dtype):
    point = X.astype(dtype), A.astype(dtype)
    for grad, kind in ((layer_jacobian, "jacobian"), (layer_vjp, "vjp"), (layer_jvp, "jvp")):
        report = check(layer, grad, *point, kind=kind)
        assert report.ok, report
        assert [a.kind for a in report.arguments] == [kind] * 2
    assert check(layer, layer_jacobian(*point), *point)
    assert check(layer, layer_jacobian(*point)[1], *point, argnums=1)


def test_the_kind_follows_from_shapes_and_parameters():
    def pullback(x, A):
        return np.tanh(A @ x), lambda v: layer_vjp(v, x, A)

    def cotangent_last(x, A, g):
        return layer_vjp(g, x, A)

    for grad in (layer_vjp, pullback, cotangent_last):
        assert check(layer, grad, X, A).arguments[0].kind == "vjp"
    assert check(layer, layer_jacobian, X, A).arguments[0].kind == "jacobian"
    assert check(lambda x: x.sum(), lambda x: 0 * x + 1, X).arguments[0].kind == "gradient"
    assert check(lambda x: (x**2).sum(keepdims=True), lambda x: 2 * x, X).arguments[0].kind == "gradient"
    assert check(lambda x: (x**2).sum(keepdims=True), lambda x: 2 * x[None], X).arguments[0].kind == "jacobian"
    assert check(layer, lambda x, A, dx, dA: layer_jvp((x, A), (dx, dA)), X, A, kind="jvp")
    assert check(lambda x: x**2, lambda x, dx: 2 * x * dx, X, kind="jvp")
    assert check(
        lambda x: x**2, lambda primals, tangents: (primals[0] ** 2, 2 * primals[0] * tangents[0]), X, kind="jvp"
    )
    assert check(layer, layer_vjp(np.ones(3), X, A), X, A, cotangent=np.ones(3))
    assert check(lambda x: layer(x, A), layer_jvp((X, A), (Y, 0 * A)), X, tangents=(Y,))


def test_elementwise_derivatives():
    def f(x, scale):
        return sg.exp(scale * x)

    assert check(f, lambda x, scale: (scale * np.exp(scale * x), x * np.exp(scale * x)), X, 0.5)
    report = check(np.tanh, lambda x: 1 - np.tanh(x), X)
    assert (report.diagnosis.kind, report.arguments[0].kind) != ("factor", "jacobian")
    assert check(np.tanh, lambda x: -(1 - np.tanh(x) ** 2), X).diagnosis.kind == "sign"
    with pytest.raises(ArgumentError, match=r"not elementwise in x.*shape \(4, 4\)"):
        check(lambda x: B @ x, lambda x: x, X)


def test_several_results_and_arguments_in_containers():
    def f(p, x):
        z = p["W"] @ x
        return {"z": z, "loss": (z**2).sum() + p["b"].sum()}

    def jacobian(p, x):
        zero, r = np.zeros((3, 2)), 2 * (p["W"] @ x)
        return {
            "z": ({"W": np.einsum("ij,k->ijk", np.eye(3), x), "b": zero}, p["W"]),
            "loss": ({"W": np.outer(r, x), "b": np.ones(2)}, p["W"].T @ r),
        }

    def vjp(v, p, x):
        r = v["z"] + 2 * v["loss"] * (p["W"] @ x)
        return {"W": np.outer(r, x), "b": np.full(2, v["loss"])}, p["W"].T @ r

    def jvp(primals, tangents):
        (p, x), (dp, dx) = primals, tangents
        dz = dp["W"] @ x + p["W"] @ dx
        return {"z": dz, "loss": 2 * (p["W"] @ x) @ dz + dp["b"].sum()}

    p = {"W": A, "b": np.ones(2)}
    for grad, kind in ((jacobian, "jacobian"), (vjp, "vjp"), (jvp, "jvp")):
        report = check(f, grad, p, X, kind=kind)
        assert report.ok, report
    wrong = check(
        f, lambda p, x: {**jacobian(p, x), "z": ({"W": 0 * np.ones((3, 3, 4)), "b": np.zeros((3, 2))}, A)}, p, X
    )
    assert [(a.function, a.name) for a in wrong.arguments if not a.ok] == [("f['z']", "p_W")]
    with pytest.raises(ArgumentError, match="f gave a dict of 2, but the derivative has no part 'z'"):
        check(f, lambda p, x: x, p, X)


def test_keywords_and_options_are_passed_on():
    def f(x, *, power, mode="sum"):
        return (x**power).sum() if mode == "sum" else x**power

    def grad(x, power, mode="sum"):
        return power * x ** (power - 1)

    assert check(f, grad, X, kwargs={"power": 3})
    assert check(f, grad, X, kwargs={"power": 3, "mode": "none"})
    report = check(partial(f, power=2), partial(grad, power=2), X)
    assert report.ok
    assert report.function == "f"


# ---------------------------------------------------------------------------------------------- wrong ones


def change(value, i, how):
    return tuple(how(g) if k == i else g for k, g in enumerate(value))


@pytest.mark.parametrize(
    ("how", "kind", "words"),
    [
        (lambda J: 2 * J, "factor", "2 times"),
        (lambda J: -J, "sign", "sign"),
        (lambda J: J.T, "transpose", "axes of x come first"),
        (lambda J: J + np.eye(3, 4) * (np.arange(3) == 1)[:, None], "entry", "d layer[1] / d x[1]"),
        (lambda J: J * np.array([1, 1, 0])[:, None], "zeros", "4 of 12"),
        (lambda J: J * np.array([1, 2, 1])[:, None], "slice", "d layer[1] / d x[:]"),
        (lambda J: J.sum(0), "extra sum", "axis 0"),
        (lambda J: 0 * J, "zero", "Jacobian is zero"),
        (lambda J: A, "inner derivative", "tanh"),
    ],
)
def test_mistakes_in_jacobians_are_named(how, kind, words):
    report = check(layer, lambda x, A: change(layer_jacobian(x, A), 0, how), X, A, kind="jacobian")
    assert not report["x"].ok
    assert report["A"].ok
    assert report.diagnosis.kind == kind, report
    assert words in report.diagnosis.sentence


def test_a_jacobian_with_the_axes_of_the_argument_first():
    f = lambda M: M @ B  # noqa: E731
    right = np.einsum("ik,lj->ijkl", np.eye(3), B)
    assert check(f, right, A)
    assert check(f, right.reshape(12, 12), A)
    report = check(lambda M: (M @ B).sum(1), right.sum(1).transpose(1, 2, 0), A)
    assert report.diagnosis.kind == "transpose"
    assert "first" in report.diagnosis.sentence


def test_paths_are_found_in_jacobians_and_along_tangents():
    def f(x):
        return sg.sin(x) * (B @ x) + x.sum()

    def terms(x):
        return np.diag(np.cos(x) * (B @ x)), np.sin(x)[:, None] * B, np.ones((4, 4))

    assert check(f, sum(terms(X)), X)
    report = check(f, terms(X)[0] + terms(X)[2], X)
    assert (report.diagnosis.kind, "missing" in report.diagnosis.sentence) == ("term", True)
    jvp = lambda x, dx: (terms(x)[0] - terms(x)[1] + terms(x)[2]) @ dx  # noqa: E731
    report = check(f, jvp, X, kind="jvp")
    assert (report.diagnosis.kind, "wrong sign" in report.diagnosis.sentence) == ("term", True), report
    assert "dx" in report.arguments[0].formula
    assert "dx" in check(f, 2 * sum(terms(X)), X).arguments[0].formula


def test_mistakes_in_vjps_are_named():
    ignored = check(layer, lambda v, x, A: layer_vjp(np.ones(3), x, A), X, A)
    assert "cotangent v" in ignored.diagnosis.sentence
    turned = check(lambda x, B: sg.tanh(B @ x), lambda v, x, B: B @ (v * (1 - np.tanh(B @ x) ** 2)), X, B)
    assert turned.arguments[0].title == "vjp of f by x"
    assert turned.diagnosis.kind == "transpose", turned
    assert "v is the cotangent" in str(turned)


def test_a_jvp_is_linear_in_all_tangents_together():
    def product(primals, tangents):
        (x, y), (dx, dy) = primals, tangents
        return x * dy + y * dx + dx * dy

    report = check(lambda x, y: x * y, product, X, Y, kind="jvp")
    assert report.diagnosis.kind == "not linear"
    assert "dx, dy" in str(report)


def test_black_boxes_have_jacobians_and_jvps():
    def f(x):
        return np.array([float(x[0]) * float(x[1]), np.sin(float(x[2])), abs(float(x[3]))])

    def jacobian(x):
        J = np.zeros((3, 4))
        J[0, :2], J[1, 2], J[2, 3] = x[1::-1], np.cos(x[2]), np.sign(x[3])
        return J

    assert check(f, jacobian, X)
    assert not check(f, lambda x: jacobian(x) * (1 + 1e-5), X)
    assert check(f, lambda x, dx: jacobian(x) @ dx, X, kind="jvp")
    assert check(f, lambda v, x: jacobian(x).T @ v, X)
    kink = np.array([1.0, 2.0, 3.0, 0.0])
    assert check(f, lambda x: jacobian(x) + np.eye(4)[3] * (np.arange(3) == 2)[:, None], kink)


def test_symmetric_matrices():
    S = B @ B.T + 4 * np.eye(4)

    def jvp(S, dS):
        L = np.linalg.cholesky(S)
        P = np.linalg.solve(L, np.linalg.solve(L, dS).T).T
        return L @ (np.tril(P, -1) + np.diag(np.diag(P)) / 2)

    report = check(np.linalg.cholesky, jvp, S, kind="jvp")
    assert report.ok, report


def test_complex_results_have_vjps():
    z = X + 1j * Y
    assert check(lambda z: z**2, lambda v, z: v * np.conj(2 * z), z)
    assert check(lambda z: z**2, lambda v, z: v * 2 * z, z).diagnosis is not None
    with pytest.raises(ArgumentError, match="kind='vjp'"):
        check(lambda z: z**2, lambda z: np.diag(2 * z), z)


def test_wrong_use_is_explained():
    with pytest.raises(ArgumentError, match="none of 'gradient'"):
        check(layer, layer_jacobian, X, A, kind="jac")
    with pytest.raises(ArgumentError, match="names no library"):
        check(layer, "numpy", X, A)
    with pytest.raises(ArgumentError, match="tangents= holds 1 tangents for 2"):
        check(layer, layer_jvp, X, A, tangents=(X,))


def test_a_vjp_may_give_nothing_for_what_has_no_gradient():
    def f(x, labels, A):
        return (A @ x)[labels]

    def vjp(v, x, labels, A):
        u = np.zeros(3)
        np.add.at(u, labels, v)
        return A.T @ u, None, np.outer(u, x)

    report = check(f, vjp, X, np.array([2, 0]), A)
    assert report.ok, report
    assert [a.name for a in report.arguments] == ["x", "A"]
    with pytest.raises(ArgumentError, match="gradient of A is None.*returned None"):
        check(f, lambda v, x, labels, A: (*vjp(v, x, labels, A)[:2], None), X, np.array([2, 0]), A)


def test_cotangents_are_not_the_numbers_that_people_draw():
    for seed in (0, 1, 42):
        x = np.random.default_rng(seed).normal(size=4).astype(np.float32)

        def vjp(v, x):
            size = np.sqrt((x**2).sum())
            return v / size - (v @ x) * x / size**3

        report = check(lambda x: x / np.sqrt((x**2).sum()), vjp, x)
        assert report.ok, report
        assert np.abs(report.arguments[0].exact).max() > 0.01


def softmax_of_arrays(z):
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def softmax_backward(g, z, axis=-1):
    s = softmax_of_arrays(z)
    return s * (g - (g * s).sum(axis, keepdims=True))


def test_methods_that_tensors_have_with_another_meaning():
    """A function of NumPy arrays is what it is on arrays: their std, var, repeat and max are not torch's."""
    x, z = np.array([1.0, 2.0, 4.0, 7.0]), np.linspace(-1.0, 2.0, 12).reshape(4, 3) ** 2
    assert check(lambda x: x.std(), lambda x: (x - x.mean()) / (len(x) * x.std()), x).ok
    assert check(lambda x: x.var(), lambda x: 2 * (x - x.mean()) / len(x), x).ok
    weights = np.arange(8.0)
    assert check(lambda x: (x.repeat(2) * weights).sum(), lambda x: weights.reshape(4, 2).sum(1), x).ok
    assert check(softmax_of_arrays, softmax_backward, z).ok
    assert not check(softmax_of_arrays, lambda g, z: softmax_backward(g, z, 0), z, kind="vjp").ok
    wrong = check(lambda x: x.std(), lambda x: (x - x.mean()) / ((len(x) - 1) * x.std(ddof=1)), x)
    assert not wrong.ok
    assert "recorded operations" in str(wrong)  # the derivative of NumPy's std, and not that of a black box
    assert wrong.diagnosis.kind == "factor"


def test_of_several_results_it_is_said_which_ones_are_wrong():
    W = np.arange(12.0).reshape(3, 4) / 10

    def f(x):
        return np.tanh(W @ x), {"size": (x**2).sum()}, np.exp(-x)

    def vjp(v, x, last=-1):
        return W.T @ (v[0] * (1 - np.tanh(W @ x) ** 2)) + 2 * x * v[1]["size"] + last * v[2] * np.exp(-x)

    x = np.arange(1.0, 5) / 4
    assert check(f, vjp, x, kind="vjp")
    report = check(f, partial(vjp, last=1), x, kind="vjp")
    assert "what comes from f[2] is wrong, what comes from f[0] and f[1]['size'] is right" in report.notes


def test_rows_of_jacobians_are_pulled_back_together(monkeypatch):
    """A Jacobian of a thousand rows took three minutes, row by row, eleven times over."""
    calls = []
    monkeypatch.setattr("symgrad.check.asking.derivatives.pulled", lambda *args: calls.append(args))
    A, x = np.random.default_rng(0).normal(size=(20, 30)) / 5, np.linspace(-1, 1, 30)
    assert check(
        lambda x: np.tanh(A @ x), lambda x: (1 - np.tanh(A @ x) ** 2)[:, None] * A, x, kind="jacobian", diagnose=False
    )
    assert len(calls) <= 1, len(calls)
