"""Hessians and Jacobians in the forms of the textbooks: of tensors, of functions, and as Kronecker products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import FormulaError
from symgrad.formula.derive import gradient, jacobian
from symgrad.formula.printing.kronecker import blocks, kronecker_latex
from symgrad.formula.term import evaluate, symbol, symbols
from tests.formulas.roundtrip import readings

rng = np.random.default_rng(5)


def made(name: str, *shape: int) -> Any:
    return sg.tensor(rng.normal(size=shape), requires_grad=True, name=name)


A, M, b, X, y = made("A", 3, 3), made("A", 5, 3), made("b", 5), made("X", 5, 3), made("y", 5)
x, w, U, V, T = made("x", 3), made("w", 3), made("U", 4, 2), made("V", 3, 2), made("T", 4, 3)
SOFTMAX = r"\operatorname{softmax}\left(x\right)"
LOGISTIC = (
    r"X^{\top} \operatorname{diag}\left(\sigma\left(X w\right) \odot \left(1 - \sigma\left(X w\right)\right)\right) X"
)
HESSIANS: dict[str, Any] = {
    "quadratic": (lambda x: x @ A @ x, x, r"A + A^{\top}"),
    "least squares": (lambda x: ((M @ x - b) ** 2).sum() / 2, x, r"A^{\top} A"),
    "logistic": (
        lambda w: sg.nn.functional.softplus(X @ w).sum() - y @ (X @ w),
        w,
        LOGISTIC,
    ),
    "factorisation": (
        lambda U: ((T - U @ V.T) ** 2).sum(),
        U,
        r"2 \left[\left[V^{\top} V\right]_{j l} \left[I_{p}\right]_{i k}\right]_{i j k l}",
    ),
    "diagonals on both sides": (
        lambda x: sg.trace(sg.diag(x) @ A @ sg.diag(x) @ A.T),
        x,
        r"A^{\odot 2} + \left(A^{\odot 2}\right)^{\top}",
    ),
    "log-sum-exp": (
        lambda x: sg.logsumexp(x, 0),
        x,
        rf"\operatorname{{diag}}\left({SOFTMAX}\right) - {SOFTMAX} {SOFTMAX}^{{\top}}",
    ),
}


@pytest.mark.parametrize("name", HESSIANS)
def test_hessians(name: str) -> None:
    f, at, text = HESSIANS[name]
    (slope,) = sg.autograd.grad(f(at), at, create_graph=True)
    found = [
        sg.autograd.jacobian(slope, at),
        sg.autograd.jacobian(slope, at, create_graph=True),
        sg.func.hessian(f)(at),
        sg.func.hessian(f)(at.detach().numpy()),
        sg.func.jacobian(sg.func.grad(f))(at),
        sg.autograd.functional.hessian(f, at),
        sg.autograd.functional.hessian(f, at, create_graph=True),
    ]
    for hessian in found:
        assert hessian.latex().replace("I_{n}", "I_{p}") == text
        np.testing.assert_allclose(hessian.numpy(force=True), found[0].numpy(force=True))
    if name == "factorisation":
        return  # the size of its I stands in no symbol of it
    values = {t.name: t.numpy(force=True) for t in (M if name == "least squares" else A, b, X, y, x, w, U, V, T)}
    np.testing.assert_allclose(sg.formula(found[2]).evaluate(**values), found[0].numpy(force=True), atol=1e-12)


def test_kronecker_form_of_the_factorisation() -> None:
    f, at, _ = HESSIANS["factorisation"]
    hessian = sg.func.hessian(f)(at)
    assert hessian.latex(vec="rows").endswith(r" \otimes V^{\top} V \quad \text{(vec stacks rows)}")
    assert hessian.latex(vec="columns").startswith(r"2 V^{\top} V \otimes I_{")


n, m = "n", "m"
B, C, Z, s = symbol("B", (n, n)), symbol("C", (m, n)), symbol("Z", (n, m)), symbol("s")
DERIVATIVES = {
    "product": (jacobian(B @ Z @ C, Z), r"B \otimes C^{\top}", r"C^{\top} \otimes B"),
    "inverse": (
        jacobian(sg.linalg.inv(B), B),
        r"-B^{-1} \otimes B^{-\top}",
        r"-B^{-\top} \otimes B^{-1}",
    ),
    "transpose": (
        jacobian(s * (C @ Z).T, Z),
        r"s \left(I_{m} \otimes C\right) K_{n, m}",
        r"s \left(C \otimes I_{m}\right) K_{n, m}",
    ),
    "square": (
        jacobian(gradient(sg.trace(B @ B @ B), [B])[0], B),
        r"3 \left(B^{\top} \otimes I_{n}\right) K_{n, n} + 3 \left(I_{n} \otimes B\right) K_{n, n}",
        r"3 \left(I_{n} \otimes B^{\top}\right) K_{n, n} + 3 \left(B \otimes I_{n}\right) K_{n, n}",
    ),
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_kronecker_form_is_the_matrix(name: str) -> None:
    term, rows, columns = DERIVATIVES[name]
    names = {k: k for k in "BCZs"}
    values = {"B": rng.normal(size=(3, 3)) + 2 * np.eye(3), "C": rng.normal(size=(2, 3)), "Z": rng.normal(size=(3, 2)),
              "s": np.float64(0.7)}  # fmt: skip
    want = evaluate(term, values)
    p, q, r, t = want.shape
    turn = np.eye(r * t).reshape(r, t, r, t).transpose(1, 0, 2, 3).reshape(r * t, r * t)
    sizes = {"n": 3, "m": 2}
    for vec in ("rows", "columns"):
        total: Any = 0
        for block in blocks(term):
            scale, left, right = (evaluate(part, values, sizes) for part in block[:3])
            pair = np.kron(left, right) if vec == "rows" else np.kron(right, left)
            total = total + scale * (pair @ (turn if vec == "rows" else turn.T) if block.crossed else pair)
        order = (0, 1, 2, 3) if vec == "rows" else (1, 0, 3, 2)
        np.testing.assert_allclose(total, want.transpose(order).reshape(p * q, r * t), atol=1e-12)
    assert kronecker_latex(term, "rows", names).startswith(rows)
    assert kronecker_latex(term, "columns", names).startswith(columns)


def test_no_kronecker_form() -> None:
    with pytest.raises(FormulaError, match="no sum of Kronecker products"):
        blocks(jacobian(sg.exp(Z), Z))
    with pytest.raises(FormulaError, match="four axes"):
        blocks(B)
    with pytest.raises(FormulaError, match="'rows'"):
        kronecker_latex(jacobian(B @ Z, Z), "C", {})


PRODUCTS = {
    "value": (lambda A, B: 2 * sg.kron(A, B), r"2 A \otimes B", None),
    "inverse": (lambda A, B: sg.linalg.inv(sg.kron(A, B)), r"A^{-1} \otimes B^{-1}", None),
    "logarithm": (
        lambda A, B: sg.logdet(sg.kron(A, B)),
        r"m \log \left|\det\left(A\right)\right| + n \log \left|\det\left(B\right)\right|",
        r"m A^{-\top}",
    ),
    "determinant": (
        lambda A, B: sg.linalg.det(sg.kron(A, B)),
        r"\det\left(A\right)^{m} \det\left(B\right)^{n}",
        r"m \det\left(A\right)^{m} \det\left(B\right)^{n} A^{-\top}",
    ),
    "trace of the inverse": (
        lambda A, B: sg.trace(sg.linalg.inv(sg.kron(A, B))),
        r"\operatorname{tr}\left(A^{-1}\right) \operatorname{tr}\left(B^{-1}\right)",
        r"-\operatorname{tr}\left(B^{-1}\right) \left(A^{-2}\right)^{\top}",
    ),
    "norm": (
        lambda A, B: (sg.linalg.inv(sg.kron(A, B)) ** 2).sum(),
        r"\lVert A^{-1} \rVert_{F}^{2} \lVert B^{-1} \rVert_{F}^{2}",
        r"-2 \lVert B^{-1} \rVert_{F}^{2} A^{-\top} A^{-1} A^{-\top}",
    ),
    "products": (lambda A, B: sg.kron(A, B) @ sg.kron(A, B.T), r"A^{2} \otimes B B^{\top}", None),
    "entries": (
        lambda A, B: sg.kron(A, B) * sg.kron(A.T, B),
        r"\left(A \odot A^{\top}\right) \otimes B^{\odot 2}",
        None,
    ),
    "entrywise": (lambda A, B: sg.exp(sg.kron(A, B)) * sg.kron(A, B), r"\left(A \otimes B\right)", None),
    "a sum": (lambda A, B: sg.kron(A, B) + sg.eye(6, dtype=A.dtype), r"A \otimes B + I", None),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_kronecker_products_are_printed_and_read(name):
    """Their inverses, determinants and products are those of the two matrices, also for negative determinants."""
    f, text, gradient = PRODUCTS[name]
    rng = np.random.default_rng(4)
    for n, m in ((3, 2), (2, 3)):
        values = {"A": rng.normal(size=(n, n)) - 2 * np.eye(n), "B": rng.normal(size=(m, m)) + 2 * np.eye(m)}
        if name == "logarithm":
            values["A"] = values["A"] @ values["A"].T
            values["B"] = values["B"] @ values["B"].T
        A, B = (sg.tensor(v, requires_grad=True, name=k) for k, v in values.items())
        y = f(A, B)
        assert text in y.latex()
        for reading in readings(y.term, symbols(y.term)).values():
            np.testing.assert_allclose(evaluate(reading, values), y.detach().numpy(), rtol=1e-9, atol=1e-12)
        if gradient is not None:
            found = sg.formula(f, values["A"], values["B"], wrt="A")
            assert found.latex() == gradient
            np.testing.assert_allclose(
                found.evaluate(**values), sg.func.grad(f)(values["A"], values["B"]).numpy(), rtol=1e-9, atol=1e-12
            )


@pytest.mark.parametrize("n", [4, 5])
def test_the_gradient_of_a_trace_knows_the_product_of_the_sizes(n):
    A, C = (sg.tensor(np.ones((n, 3)), name=x, requires_grad=True) for x in "AC")
    B = sg.tensor(np.ones((2, 6)), name="B", requires_grad=True)
    (slope,) = sg.autograd.grad(sg.trace(sg.kron(A.T @ C, B @ B.T)), [A], create_graph=True)
    assert slope.latex() == r"\lVert B \rVert_{F}^{2} C"


def _lined(X):
    return X.reshape(-1)


IN_LINE = {
    "quadratic, X": (lambda X, A, B: _lined(X) @ sg.kron(A, B) @ _lined(X), "nm nn mm", r"A X B^{\top} + A^{\top} X B"),
    "quadratic, A": (lambda A, X, B: _lined(X) @ sg.kron(A, B) @ _lined(X), "nn nm mm", r"X B X^{\top}"),
    "quadratic, B": (lambda B, X, A: _lined(X) @ sg.kron(A, B) @ _lined(X), "mm nm nn", r"X^{\top} A X"),
    "columns": (
        lambda A, X, B, Y: _lined(Y.T) @ sg.kron(B, A) @ _lined(X.T), "kn nm mm km", r"Y B X^{\top}",
    ),
    "least squares": (
        lambda X, A, B, Y: ((sg.kron(A, B) @ _lined(X) - _lined(Y)) ** 2).sum(), "nm kn mm km",
        r"2 A^{\top} \left(A X B^{\top} - Y\right) B",
    ),
    "an inverse": (
        lambda X, A, B: _lined(X) @ sg.linalg.inv(sg.kron(A @ A.T, B @ B.T)) @ _lined(X), "nm nn mm",
        r"2 A^{-\top} A^{-1} X B^{-\top} B^{-1}",
    ),
    "a function of the entries": (
        lambda A, X, B: sg.tanh(sg.kron(A, B) @ _lined(X)).sum(), "kn nm mm",
        r"\left(1 - \tanh^{2}\left(A X B^{\top}\right)\right) B X^{\top}",
    ),
    "a multiple of an identity": (
        lambda A, B, X: sg.trace(sg.kron(A, B)) * X.sum(), "nn mm nm",
        r"\left(\mathbf{1}^{\top} X \mathbf{1}\right) \operatorname{tr}\left(B\right) I",
    ),
    "an outer product": (lambda X, w: (sg.outer(_lined(X), w) ** 2).sum(), "nm k", r"2 \left(w^{\top} w\right) X"),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_LINE)
def test_entries_in_a_line_are_those_of_a_matrix(name):
    """(A ⊗ B) vec(Xᵀ) = vec((A X Bᵀ)ᵀ): the gradients have neither ⊗ nor vec, as where the matrix equation is given."""
    f, kinds, text = IN_LINE[name]
    values = lambda sizes: [rng.normal(size=[sizes[x] for x in kind]) for kind in kinds.split()]  # noqa: E731
    found = sg.formula(f, *values({"n": 4, "m": 3, "k": 2}), wrt=0)
    assert found.latex() == text
    for sizes in ({"n": 4, "m": 3, "k": 2}, {"n": 2, "m": 5, "k": 3}):
        args = values(sizes)
        want = sg.func.grad(f)(*map(sg.tensor, args)).numpy()
        given = dict(zip(f.__code__.co_varnames, args, strict=False))
        np.testing.assert_allclose(found.evaluate(**given), want, rtol=1e-9, atol=1e-9)
