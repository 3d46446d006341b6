"""Piecewise derivatives, powers, structures, projected gradients and element forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, FormulaError, NameProblem
from symgrad.formula.canonical.simplify import canonical
from symgrad.formula.term import evaluate, symbol
from symgrad.op import lookup

x = symbol("x", ("n",))
A, S = symbol("A", ("n", "n")), symbol("S", ("n", "n"), structure="symmetric")
Q, L = symbol("Q", ("n", "n"), structure="orthogonal"), symbol("L", ("n", "n"), structure="lower")


def grad(y: Any, leaf: Any) -> Any:
    return sg.autograd.grad(y.sum(), leaf, create_graph=True)[0]


def leaf(value: Any, name: str, **more: Any) -> Any:
    return sg.tensor(value, dtype=sg.float64, requires_grad=True, name=name, **more)


# ---------------------------------------------------------------------------------------------- branches


def test_the_branches_of_a_derivative_are_one_where_of_any_order() -> None:
    v = leaf([0.5, -2.0], "v")
    g = grad(sg.where(v > 0, sg.sin(v), v**3), v)
    gg = grad(g, v)
    assert gg.latex().count(r"\begin{cases}") == 1
    assert "c_{1}" not in gg.latex()
    f = sg.compile(gg, ["v"])
    at = np.array([-1.5, 2.0])
    np.testing.assert_allclose(f(at), [-9.0, -np.sin(2.0)])


def test_a_clipped_difference_is_recognised() -> None:
    r = leaf([0.5, -2.0], "r")
    g = grad(sg.where(sg.abs(r) < 1, 0.5 * r**2, sg.abs(r) - 0.5), r)
    assert g.latex() == r"\operatorname{clip}\left(r, -1, 1\right)"


def test_zeros_of_a_branch_do_not_meet_sums() -> None:
    s, v = leaf(2.0, "s"), leaf([4.0, -1.0], "v")
    with np.errstate(invalid="ignore"):
        y = sg.where(v > 0, sg.sqrt(s * v), 0)
    g = grad(y, s)
    np.testing.assert_allclose(g.item(), 4 / (2 * np.sqrt(8)))
    np.testing.assert_allclose(grad(g, s).item(), -16 / (4 * 8**1.5))


def test_a_where_of_the_program_stays() -> None:
    t = lookup("where")(lookup("eq")(x, 0), 0, x * x)
    assert canonical(t).op.name == "where"


def test_powers_print_as_in_textbooks_and_keep_their_points() -> None:
    a, b = leaf(1.5, "a"), leaf(0.5, "b")
    assert str(grad(a**a, a).expr) == "a**a*(log(a) + 1)"
    assert str(grad(grad(a**b, a), b).expr) == "a**(b - 1)*(b*log(a) + 1)"
    zero = leaf(0.0, "z")
    assert grad(zero ** leaf(0.0, "e"), zero).item() == 0


# ---------------------------------------------------------------------------------------------- sums and powers


def test_squares_fractions_and_row_sums() -> None:
    u = 1 + x * x
    t = 1 / lookup("sqrt")(u) - x * x / (u * lookup("sqrt")(u))
    values = {"x": np.array([0.3, -2.0, 1.1])}
    found = canonical(t)
    np.testing.assert_allclose(evaluate(found, values), evaluate(t, values))
    assert found.op.name == "div"
    assert found.args[1].op.name == "pow"


def test_products_of_equal_matrices_are_powers() -> None:
    assert canonical(A @ A @ A).op.name == "matrix_power"
    assert canonical(lookup("inv")(A) @ (lookup("inv")(A) @ x)).args[0].params == {"n": -2}
    assert canonical(canonical(A @ A @ A)) is canonical(A @ A @ A)


def test_functions_of_eigenvalues() -> None:
    m = leaf([[2.0, 0.5], [0.5, 1.0]], "M")
    assert grad(sg.linalg.eigvalsh(m), m).latex() == "I"
    assert grad(sg.linalg.eigvalsh(m) ** 2, m).latex() == "2 M"


# ---------------------------------------------------------------------------------------------- structures


def test_declared_structures() -> None:
    assert canonical(S + S.T) is canonical(2 * S)
    assert canonical(lookup("inv")(S).T) is canonical(lookup("inv")(S))
    assert canonical(Q @ Q.T) is canonical(Q.T @ Q)
    assert canonical(lookup("inv")(Q)) is canonical(Q.T)
    assert canonical(lookup("tril")(L, k=0)) is L


@pytest.mark.parametrize("name", ["symmetric", "skew", "diagonal", "lower", "upper", "hermitian", "psd", "orthogonal"])
def test_projected_gradients_are_projections_with_the_structure(name: str) -> None:
    rng = np.random.default_rng(0)
    g, at = rng.normal(size=(3, 3)), np.linalg.qr(rng.normal(size=(3, 3)))[0]
    p = sg.project(g, name, at=at)
    np.testing.assert_allclose(sg.project(p, name, at=at), p, atol=1e-12)
    assert abs(np.sum((g - p) * p)) < 1e-12


def test_projection_reads_the_structure_of_a_tensor_and_refuses_others() -> None:
    m = leaf(np.eye(2), "M", structure="symmetric")
    g = sg.project(sg.autograd.grad(m[0, 1], m)[0], m)
    np.testing.assert_array_equal(g.numpy(), [[0, 0.5], [0.5, 0]])
    with pytest.raises(ArgumentError, match="without a structure"):
        sg.project(g, leaf(np.eye(2), "N"))
    with pytest.raises(ArgumentError, match="knows the structures"):
        sg.project(g, "round")
    with pytest.raises(ArgumentError, match="square"):
        sg.project(np.ones((2, 3)), "symmetric")
    with pytest.raises(ArgumentError, match="at=Q"):
        sg.project(np.eye(2), "orthogonal")


# ---------------------------------------------------------------------------------------------- elements


def test_element_form_and_explicit_form_agree_with_numbers() -> None:
    import sympy as sp

    a, v, b = leaf([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "A"), leaf([0.5, -1.0], "x"), leaf([1.0, 2.0, 3.0], "b")
    g = grad((a @ v - b) ** 2, v)
    assert str(sg.element(g, "i")) == "2*Sum((-b[k] + Sum(A[k, l]*x[l], (l, 0, m - 1)))*A[k, i], (k, 0, n - 1))"
    entries = sg.explicit(g)
    arrays = {"A": a.detach().numpy(), "x": v.detach().numpy(), "b": b.detach().numpy()}
    values = {sp.IndexedBase(n)[k]: t[k] for n, t in arrays.items() for k in np.ndindex(t.shape)}
    got = [float(e.xreplace(values)) for e in entries]
    np.testing.assert_allclose(got, g.detach().numpy())


def test_element_form_refuses_what_does_not_fit() -> None:
    v = leaf([0.5, -1.0], "x")
    with pytest.raises(ArgumentError, match="1 axes"):
        sg.element(v * 2, "i", "j")
    with pytest.raises(FormulaError, match="at most"):
        sg.explicit(leaf(np.ones(300), "x") * 2)


# ---------------------------------------------------------------------------------------------- triangles


def test_cholesky_factors_meet_their_transposes() -> None:
    T = symbol("T", ("n", "n"))
    factor = lookup("cholesky")(T)
    assert canonical(factor @ factor.T) is T
    inverse = lookup("inv")(factor)
    assert canonical(inverse.T @ inverse) is canonical(lookup("inv")(T))


def test_gradient_of_a_log_determinant_by_cholesky() -> None:
    value = np.array([[2.0, 0.5], [0.5, 1.0]])
    T = leaf(value, "T")
    g = grad(2 * sg.log(sg.diagonal(sg.linalg.cholesky(T))), T)
    assert g.latex() == "T^{-1}"
    np.testing.assert_allclose(g.detach().numpy(), np.linalg.inv(value))


@pytest.mark.parametrize("k", [-1, 0, 1])
def test_parts_of_triangles(k: int) -> None:
    tril, triu, inv = lookup("tril"), lookup("triu"), lookup("inv")
    d = symbol("d", ("n",))
    for term in (
        tril(tril(A, k=0), k=k),
        triu(A.T, k=k),
        triu(tril(A, k=0) * d, k=k),
        tril(inv(tril(A, k=0)).T, k=k),
        tril(inv(triu(A, k=0)), k=k),
        triu(tril(A, k=0).T, k=k),
    ):
        values = {"A": np.arange(1.0, 10).reshape(3, 3) + 3 * np.eye(3), "d": np.array([1.0, 2.0, 4.0])}
        np.testing.assert_allclose(
            np.broadcast_to(evaluate(canonical(term), values, {"n": 3}), (3, 3)), evaluate(term, values, {"n": 3})
        )


def test_structures_that_are_assumed():
    symmetric = {"S": "symmetric"}

    def loss(m, S, x):
        return (x - m) @ sg.linalg.solve(S, x - m) + sg.logdet(S)

    assert sg.latex(loss, wrt="m", assume=symmetric) == r"2 S^{-1} \left(m - x\right)"
    assert sg.latex(loss, (3,), (3, 3), (3,), wrt="m", assume=symmetric) == r"2 S^{-1} \left(m - x\right)"
    assert str(sg.derive("x@S@x", wrt="x", assume=symmetric)).endswith("= 2*(S @ x)")
    a, b = leaf([[2.0, 1.0], [1.0, 3.0]], "S"), leaf([1.0, 2.0], "x")
    (b @ a @ b).backward()
    found = sg.formula(b.grad, assume=symmetric)
    assert found.unicode() == "2 S x"
    assert sg.formula(found.term, assume=symmetric).unicode() == "2 S x"
    np.testing.assert_allclose(found.evaluate(S=a.detach().numpy(), x=b.detach().numpy()), b.grad.numpy())
    with pytest.raises(NameProblem, match="assume='Q' is no array argument; there are x, S"):
        sg.latex("x@S@x", wrt="x", assume={"Q": "symmetric"})


@pytest.mark.parametrize(
    "text",
    [
        "x@inv(S)@x",
        "x@inv(S)@x + log(det(S))",
        "(x-m).T@inv(S)@(x-m) + log(det(S))",
        r"(x-m)^\top S^{-1} (x-m) + \log\det S",
        "(y-X@b)@inv(S)@(y-X@b)",
    ],
)
def test_matrices_that_must_be_square_and_fit_are_found(text):
    shapes = {s.name: s.shape for s in sg.formula(text, wrt="S").symbols}
    assert len(set(shapes["S"])) == 1
    assert shapes["S"][:1] == shapes.get("x", shapes.get("X", "?"))[:1]
    assert "X" not in shapes or (shapes["X"][1],) == shapes["b"] != shapes["y"]


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        (r"\sum_i \log(1+e^{-y_i x_i^\top w})", {"y": "n", "x": "nm", "w": "m"}),
        (r"\sum_i (a_i^{T} x - b_i)^2", {"a": "nm", "x": "m", "b": "n"}),
        (r"\sum_{i,j} (R_{ij} - u_i^\top v_j)^2", {"R": "nm", "u": "np", "v": "mp"}),
        ("sum(softmax(Q@K.T/sqrt(d))@V)", {"Q": "nm", "K": "pm", "d": "", "V": "pq"}),
        ("y@inv(K+s**2*eye(n))@y/n", {"y": "n", "K": "nn", "s": ""}),
        ("sum(w*log(w/p))", {"w": "n", "p": "n"}),
        (r"\sum_i \lambda_i x_i^2", {"lambda": "n", "x": "n"}),
        (r"\sum_{ij} \Sigma_{ij} x_i x_j", {"Sigma": "nn", "x": "n"}),
        (r"\frac{x}{\sqrt{d_k}}", {"x": "n", "d_k": ""}),
        (r"\lambda_1 \|w\|_1 + \lambda_2 \|w\|^2", {"lambda_1": "", "w": "n", "lambda_2": ""}),
        (r"\|x - x_{\text{eq}}\|^2", {"x": "n", "x_eq": "n"}),
        (r"\sum_i \max(x_i, \theta_{\max})", {"x": "n", "theta_max": ""}),
    ],
)
def test_shapes_that_a_text_speaks_of(text, shapes):
    assert {s.name: "".join(s.shape) for s in sg.formula(text).symbols} == shapes


def test_the_largest_eigenvalue_is_no_factor():
    with pytest.raises(FormulaError, match="max"):
        sg.formula(r"\lambda_{\max}(A)")


def test_names_that_are_nothing_are_told():
    with pytest.raises(NameProblem, match="foo"):
        sg.latex("x@foo(S)@x", wrt="x")


def test_the_matrix_of_a_cholesky_factor_prints_as_a_symmetric_one():
    def process(K, y):
        L = sg.linalg.cholesky(K)
        a = sg.cholesky_solve(y[:, None], L)[:, 0]
        return y @ a / 2 + sg.log(sg.diagonal(L)).sum()

    A = np.random.default_rng(0).normal(size=(4, 4))
    text = sg.latex(process, A @ A.T + np.eye(4), np.ones(4), wrt="K")
    assert text == r"\frac{1}{2} \left(K^{-1} - K^{-1} y y^{\top} K^{-1}\right)"


@pytest.mark.parametrize(
    ("structure", "right", "wrong"),
    [
        ("symmetric", [[1.0, 2.0], [2.0, 3.0]], [[1.0, 2.0], [2.5, 3.0]]),
        ("hermitian", [[1.0, 2.0 + 1j], [2.0 - 1j, 3.0]], [[1.0, 2.0 + 1j], [2.0 + 1j, 3.0]]),
        ("skew", [[0.0, 2.0], [-2.0, 0.0]], [[0.0, 2.0], [2.0, 0.0]]),
        ("psd", [[1.0, 1.0], [1.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]),
        ("diagonal", [[1.0, 0.0], [0.0, 2.0]], [[1.0, 0.0], [0.5, 2.0]]),
        ("orthogonal", [[0.6, 0.8], [-0.8, 0.6]], [[0.6, 0.8], [0.8, 0.6]]),
        ("lower", [[1.0, 0.0], [5.0, 2.0]], [[1.0, 5.0], [0.0, 2.0]]),
        ("upper_triangular", [[1.0, 5.0], [0.0, 2.0]], [[1.0, 0.0], [5.0, 2.0]]),
    ],
)
def test_a_structure_that_the_values_have_not_is_refused(structure: str, right: Any, wrong: Any) -> None:
    """A formula of a matrix that is another one would be wrong, with nobody told."""
    for dtype in (None, np.complex64) if structure == "hermitian" else (np.float16, np.float32, np.float64):
        sg.tensor(np.array(right), dtype=dtype, structure=structure)
        with pytest.raises(ArgumentError, match=f"structure='{structure}' is not true of these values"):
            sg.tensor(np.array(wrong), dtype=dtype, structure=structure)
    with pytest.raises(ArgumentError, match="square matrices; this tensor has shape"):
        sg.tensor([1.0, 2.0], structure=structure)
    sg.tensor(np.full((2, 2), np.nan), structure=structure)  # of which nothing is known
    sg.tensor(np.zeros((0, 0)), structure=structure)


def test_a_structure_may_be_kept_up_to_rounding() -> None:
    B = np.random.default_rng(0).normal(size=(50, 20))
    for dtype in (sg.float16, sg.bfloat16, sg.float32, sg.float64):
        sg.tensor(B @ B.T, dtype=dtype, structure="psd")
        sg.tensor(np.linalg.qr(B)[0].T @ np.linalg.qr(B)[0], dtype=dtype, structure="orthogonal")
    with pytest.raises(ArgumentError, match=r"at \[1, 0, 1\] it has 3, and its transpose 2"):
        sg.tensor(np.array([[[1, 2], [2, 1]], [[1, 3], [2, 1]]]), structure="symmetric")
