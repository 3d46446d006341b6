"""SymPy expressions as functions, and formulas as SymPy's matrix expressions."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.matrices.expressions.diagonal import DiagMatrix, DiagonalOf
from sympy.matrices.expressions.hadamard import hadamard_power
from sympy.tensor.array.expressions import ArrayContraction, ArraySymbol, ArrayTensorProduct, PermuteDims

import symgrad as sg
from symgrad.errors import ArgumentError, FormulaError, NameProblem, ShapeError
from symgrad.formula.term import Term, evaluate, symbol

x, y, a = sp.symbols("x y a")
n, m, p = sp.symbols("n m p", integer=True, positive=True)
A, B, C = sp.MatrixSymbol("A", n, m), sp.MatrixSymbol("B", m, p), sp.MatrixSymbol("C", n, n)
v, b = sp.MatrixSymbol("v", m, 1), sp.MatrixSymbol("b", n, 1)
i, j, k = sp.symbols("i j k", integer=True)
P, q = sp.IndexedBase("P"), sp.IndexedBase("q")


def values(rng):
    return {
        "A": rng.normal(size=(4, 3)), "B": rng.normal(size=(3, 2)), "C": rng.normal(size=(4, 4)) + 5 * np.eye(4),
        "v": rng.normal(size=(3, 1)), "b": rng.normal(size=(4, 1)), "P": rng.normal(size=(4, 3)),
        "q": rng.normal(size=3), "x": 0.7, "y": 1.3, "a": 2.0,
    }  # fmt: skip


SCALARS = [
    (sp.exp(-a * x**2) * sp.sin(y), lambda x, y, a: np.exp(-a * x**2) * np.sin(y)),
    (sp.Max(x, y) / sp.Abs(x - 3), lambda x, y, a: np.maximum(x, y) / abs(x - 3)),
    (sp.Piecewise((x**2, x > 1), (a * x, True)), lambda x, y, a: np.where(x > 1, x**2, a * x)),
    (sp.sqrt(x) + sp.cbrt(y) + sp.sec(x) * sp.pi, lambda x, y, a: x**0.5 + y ** (1 / 3) + np.pi / np.cos(x)),
    (sp.loggamma(x + 3) - sp.Rational(1, 3) * x, lambda x, y, a: np.log(np.prod([x + 2, x + 1, x])) - x / 3),
]


@pytest.mark.parametrize(("expr", "f"), SCALARS, ids=[str(e) for e, _ in SCALARS])
def test_scalar_expressions(expr, f):
    g = sg.from_sympy(expr, x, y, a)
    if expr.has(sp.loggamma):
        assert float(g(1.0, 0, 0)) == pytest.approx(np.log(6) - 1 / 3)
        return
    row = np.array([0.3, 0.8, 2.5])
    np.testing.assert_allclose(g(row, 1.2, 2.0), f(row, 1.2, 2.0))
    np.testing.assert_allclose(g(y=row, a=row, x=0.4), f(0.4, row, row))
    t = sg.tensor(row, requires_grad=True, name="x")
    g(t, 1.2, 2.0).sum().backward()
    step = 1e-6
    np.testing.assert_allclose(t.grad.numpy(), (f(row + step, 1.2, 2) - f(row - step, 1.2, 2)) / (2 * step), rtol=1e-6)


MATRICES = [
    (2 * A.T * (A * v - b), lambda d: 2 * d["A"].T @ (d["A"] @ d["v"] - d["b"])),
    (sp.Trace(C.inv() * C.T) * A, lambda d: np.trace(np.linalg.inv(d["C"]) @ d["C"].T) * d["A"]),
    (sp.log(sp.Determinant(C)) + x, lambda d: np.log(np.linalg.det(d["C"])) + d["x"]),
    (sp.HadamardProduct(A, A) * B, lambda d: (d["A"] * d["A"]) @ d["B"]),
    ((A * v).applyfunc(sp.tanh), lambda d: np.tanh(d["A"] @ d["v"])),
    (DiagMatrix(b) * A + sp.OneMatrix(n, m), lambda d: np.diag(d["b"][:, 0]) @ d["A"] + 1),
    (C**2 - 3 * sp.Identity(n), lambda d: d["C"] @ d["C"] - 3 * np.eye(4)),
    (DiagonalOf(C), lambda d: np.diag(d["C"])[:, None]),
    (hadamard_power(A, 2) / y, lambda d: d["A"] ** 2 / d["y"]),
    (sp.Trace(A * v * b.T) / n, lambda d: np.trace(d["A"] @ d["v"] @ d["b"].T) / 4),
    (sp.KroneckerProduct(B, v), lambda d: np.kron(d["B"], d["v"])),
]


@pytest.mark.parametrize(("expr", "f"), MATRICES, ids=[str(e) for e, _ in MATRICES])
def test_matrix_expressions(expr, f, rng):
    d = values(rng)
    g = sg.from_sympy(expr)
    args = [d[name] for name in g.names]
    np.testing.assert_allclose(g(*args), f(d), rtol=1e-10)
    tensors = [sg.tensor(arg, requires_grad=True, name=name, dtype=sg.float64) for name, arg in zip(g.names, args)]
    out = g(*tensors)
    np.testing.assert_allclose(out.numpy(force=True), f(d), rtol=1e-10)
    assert {str(s) for s in out.expr.free_symbols} <= {*g.names, "c1"}  # c1 is a multiple of the identity
    terms = [symbol(t.name, tuple(str(s) for s in t.shape)) for t in g.symbols]
    assert isinstance(g(*terms), Term)
    np.testing.assert_allclose(evaluate(g(*terms), d), f(d), rtol=1e-10)


ENTRIES = [
    (sp.Sum(P[i, k] * q[k], (k, 0, m - 1)), lambda d: d["P"] @ d["q"]),
    (sp.Sum(q[k] ** 2, (k, 1, m)), lambda d: d["q"] @ d["q"]),
    (sp.Sum(sp.sin(P[i, k]) * q[k], (i, 0, n - 1), (k, 0, m - 1)), lambda d: np.sum(np.sin(d["P"]) @ d["q"])),
    (sp.KroneckerDelta(i, j) * q[i], lambda d: np.diag(d["q"])),
    (P[j, i], lambda d: d["P"].T),
    (P[1, i] + 1, lambda d: d["P"][1] + 1),
    (q[k] / sp.Sum(q[i], (i, 0, m - 1)), lambda d: d["q"] / d["q"].sum()),
    (sp.Product(q[k], (k, 0, m - 1)) * q[i], lambda d: np.prod(d["q"]) * d["q"]),
    (sp.Sum(q[k] + 1, (k, 0, m - 1)) * m, lambda d: 3 * np.sum(d["q"] + 1)),
]


@pytest.mark.parametrize(("expr", "f"), ENTRIES, ids=[str(e) for e, _ in ENTRIES])
def test_entries(expr, f, rng):
    d = values(rng)
    g = sg.from_sympy(expr)
    np.testing.assert_allclose(g(**{name: d[name] for name in g.names}), f(d), rtol=1e-10)


def test_order_of_indices(rng):
    d = values(rng)
    np.testing.assert_array_equal(sg.from_sympy(P[i, j], P, indices="ji")(d["P"]), d["P"].T)
    with pytest.raises(FormulaError, match="free indices are i, j"):
        sg.from_sympy(P[i, j], P, indices="ik")


def test_array_expressions(rng):
    T = ArraySymbol("T", (2, 3, 4))
    t, d = rng.normal(size=(2, 3, 4)), values(rng)
    np.testing.assert_array_equal(sg.from_sympy(PermuteDims(T, (2, 0, 1)))(t), t.transpose(2, 0, 1))
    g = sg.from_sympy(ArrayContraction(ArrayTensorProduct(A, B), (1, 2)))
    np.testing.assert_allclose(g(d["A"], d["B"]), d["A"] @ d["B"])
    np.testing.assert_array_equal(sg.from_sympy(sp.Matrix([[x, 1], [a, x * a]]), x, a)(2.0, 3.0), [[2, 1], [3, 6]])


def test_transforms_take_it(rng):
    g = sg.from_sympy(sp.Trace((A * v - b).T * (A * v - b)) / n, A, v, b)
    d = values(rng)
    assert sg.latex(g, (4, 3), (3, 1), (4, 1), wrt="v") == r"\frac{2}{n} A^{\top} \left(A v - b\right)"
    gradient = sg.func.grad(g, argnums=1)(d["A"], d["v"], d["b"])
    np.testing.assert_allclose(gradient.numpy(), d["A"].T @ (d["A"] @ d["v"] - d["b"]) / 2, rtol=1e-10)
    assert sg.compile(g, d["A"], d["v"], d["b"])(d["A"], d["v"], d["b"]) == pytest.approx(g(d["A"], d["v"], d["b"]))
    assert sg.judge("2*A.T@(A@v-b)/n", of=g, wrt="v", shapes="A=n,m v=m,1 b=n,1")


STATED = [
    (v.T * A.T * A * v, "v", r"2 A^{\top} A v"),
    ((v.T * A.T * A * v)[0, 0], "v", r"2 A^{\top} A v"),
    (sp.exp((v.T * v)[0, 0]), "v", r"2 e^{\lVert v \rVert^{2}} v"),
    (sp.Trace(C) * v.T * v, "v", r"2 \operatorname{tr}\left(C\right) v"),
    (sp.log(sp.Determinant(C)), "C", r"C^{-\top}"),
    (A * v, "v", "A"),
    (C.I * b, "b", "C^{-1}"),
    (sp.sin(x) * sp.exp(-a * x**2), "x", r"e^{-a x^{2}} \left(\cos\left(x\right) - 2 a x \sin\left(x\right)\right)"),
]


@pytest.mark.parametrize(("expr", "wrt", "latex"), STATED, ids=[str(e) for e, *_ in STATED])
def test_formulas_have_the_shapes_that_sympy_states(expr, wrt, latex, rng):
    """Without examples; an array of one entry is a number, and Jacobians of columns are matrices as on paper."""
    g = sg.from_sympy(expr)
    found = sg.formula(g, wrt=wrt)
    assert found.latex() == latex
    d = {name: value for name, value in values(rng).items() if name in g.names}
    d |= {str(t.name): 0.7 for t in g.symbols if not t.shape}
    of = sg.func.jacobian(lambda changed: g(**(d | {wrt: changed})))(d[wrt])
    np.testing.assert_allclose(found.evaluate(**d).ravel(), of.numpy().ravel(), rtol=1e-9)
    assert sg.judge(found.latex(), of=g, wrt=wrt)


def test_a_function_that_gives_one_entry_has_a_gradient(rng):
    S, u = rng.normal(size=(3, 3)), rng.normal(size=(3, 1))

    def form(S, u):
        return u.T @ S @ u

    for found in (sg.formula(form, S, u, wrt="u"), sg.formula(form, wrt="u", shapes="S=n,n u=n,1")):
        assert found.latex() == r"\left(S + S^{\top}\right) u"
        np.testing.assert_allclose(found.evaluate(S=S, u=u), (S + S.T) @ u)
    assert r"\left(S + S^{\top}\right) u" in sg.derive(form, wrt="u", shapes="S=n,n u=n,1").latex()


@pytest.mark.parametrize(
    "make",
    [
        lambda t, M: (t @ M @ t).exp() / 3,
        lambda t, M: sg.softmax(M @ t, 0) * t.sin(),
        lambda t, M: sg.linalg.inv(M) @ t - sg.where(t > 0, t, 2 * t),
        lambda t, M: sg.logsumexp(M, 1) + t[0],
        lambda t, M: sg.cumsum(t, 0) * sg.linalg.norm(M),
    ],
    ids=["quadratic", "softmax", "where", "logsumexp", "cumsum"],
)
def test_expressions_come_back(make, rng):
    t = sg.tensor(rng.normal(size=3), requires_grad=True, name="t")
    M = sg.tensor(rng.normal(size=(3, 3)), name="M")
    out = make(t, M)
    (g,) = sg.autograd.grad(out.sum(), t, create_graph=True)
    for value in (out, g):
        f = sg.from_sympy(value.expr, "t", "M")
        np.testing.assert_allclose(f(t.numpy(force=True), M.numpy()), value.numpy(force=True), rtol=1e-10)
    assert sg.from_sympy(out.expr, "t", "M")(t, M).expr == out.expr


REFUSED = [
    (sp.Integral(x, x), FormulaError, "doit"),
    (sp.Derivative(sp.Function("u")(x), x), FormulaError, "doit"),
    (sp.Function("u")(x), FormulaError, "undefined function"),
    (sp.dirichlet_eta(x), FormulaError, "op table has no such function"),
    (sp.Sum(q[k], (k, 2, m)), FormulaError, "whole axis"),
    (q[k + 1], FormulaError, "index k \\+ 1"),
    (sp.Symbol("x y") + 1, NameProblem, "cannot be an argument"),
    (sp.Symbol("x", positive=True) + x, NameProblem, "two different symbols"),
    ("x", ArgumentError, "not str"),
    (C ** sp.Rational(1, 2), FormulaError, "whole exponents"),
]


@pytest.mark.parametrize(("expr", "error", "word"), REFUSED, ids=[str(row[0]) for row in REFUSED])
def test_refusals(expr, error, word):
    with pytest.raises(error, match=word):
        sg.from_sympy(expr)


def test_wrong_arguments(rng):
    g, d = sg.from_sympy(A * v, A, v), values(rng)
    with pytest.raises(ShapeError, match=r"v has shape \(3,\)"):
        g(d["A"], d["q"])
    with pytest.raises(ShapeError, match=r"v has shape \(4, 1\).*m = 3"):
        g(d["A"], d["b"])
    with pytest.raises(ArgumentError, match="missing a required argument"):
        g(d["A"])
    with pytest.raises(NameProblem, match="v: no argument"):
        sg.from_sympy(A * v, A)


# ------------------------------------------------------------------------------------------ matrix expressions


def test_to_matexpr(rng):
    X = sg.tensor(rng.normal(size=(4, 3)), name="X")
    w = sg.tensor(rng.normal(size=3), requires_grad=True, name="w")
    z = sg.tensor(rng.normal(size=4), name="z")
    S = sg.tensor(rng.normal(size=(3, 3)) + 4 * np.eye(3), requires_grad=True, name="S")
    cases = [
        ((X @ w - z) ** 2).sum(), sg.tanh(X @ w) * z, X * z[:, None], sg.logdet(S), sg.linalg.inv(S) @ w,
        sg.trace(S @ S), w @ S @ w, X + w, sg.linalg.norm(X @ w - z), 1 / (X @ w), X.sum(0), X.sum(), sg.diag(w) @ S,
    ]  # fmt: skip
    for t in cases:
        back = sg.from_sympy(sg.to_matexpr(t))
        known = {"X": X.numpy(), "w": w.numpy(force=True)[:, None], "z": z.numpy()[:, None], "S": S.numpy(force=True)}
        found = back(*(known[name] for name in back.names))
        np.testing.assert_allclose(np.squeeze(found), np.squeeze(t.numpy(force=True)), rtol=1e-9)
    ((X @ w - z) ** 2).sum().backward()
    found = sg.to_matexpr(w.grad)
    X_, w_, z_ = (sp.MatrixSymbol(*s) for s in (("X", *found.args[1].shape[::-1]), ("w", *found.shape), ("z", 1, 1)))
    assert str(found) == "2*X.T*(X*w - z)"
    assert sg.to_matexpr(w.grad.expr) == found


def test_to_matexpr_refuses():
    with pytest.raises(FormulaError, match="3 axes"):
        sg.to_matexpr(symbol("T", ("n", "m", "p")))
    with pytest.raises(FormulaError, match="nothing for softmax"):
        sg.to_matexpr(sg.softmax(symbol("s", ("n",)), 0))
    with pytest.raises(FormulaError, match="a formula, a term or an expression"):
        sg.to_matexpr(3.0)
