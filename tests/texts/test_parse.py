"""Printed formulas read back: every op of the table, and functions with their gradients, at two sizes."""

from __future__ import annotations

import re
import warnings
from xml.etree import ElementTree as ET

import numpy as np
import pytest
import sympy as sp

import symgrad as sg
from symgrad.errors import FormulaError, FormulaTooDeep, NameProblem
from symgrad.formula.derive import gradient
from symgrad.formula.printing.formats import spelled
from symgrad.formula.printing.latex import latex
from symgrad.formula.reading.people.text import read_numpy
from symgrad.formula.reading.text import from_latex, parse_formula
from symgrad.formula.reading.unicode import from_unicode
from symgrad.formula.sympy.expressions import shape_of, to_sympy
from symgrad.formula.sympy.terms import from_sympy_expr
from symgrad.formula.term import apply, as_term, evaluate, symbol
from symgrad.op import lookup
from symgrad.proving.samples import cases, make_case
from symgrad.tape.formulas.reading import read
from tests.turns import in_turn


def same(got, want):
    got, want = np.asarray(got), np.asarray(want)
    assert got.size == want.size
    np.testing.assert_allclose(got.reshape(want.shape), want, rtol=1e-7, atol=1e-9)


ELSE = re.compile(r"\^|\bI\b|\blu\(")
"""What means something else to people: a power, the identity, and all factors of a matrix."""


def round_trips(term, symbols, values):
    """LaTeX and Unicode (canonical and as run), text (also as typed by people), lambdify and SymPy give the number."""
    want = evaluate(term, values)
    for canonical in (True, False):
        text = latex(term, canonical=canonical)
        same(evaluate(from_latex(text, symbols, shape=term.shape), values), want)
        plain = spelled(text, "unicode")
        same(evaluate(from_unicode(plain, symbols, shape=term.shape), values), want)
        assert spelled(text, "typst")
        ET.fromstring(spelled(text, "mathml"))
    expr = to_sympy(term, symbols=symbols)
    assert shape_of(expr) == term.shape
    written = str(expr)
    same(evaluate(parse_formula(written, symbols), values), want)
    if not ELSE.search(written):
        same(evaluate(read_numpy(written, symbols), values), want)
    same(evaluate(from_sympy_expr(expr, symbols), values), want)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        got = sp.lambdify([sp.Symbol(name) for name in values], expr, "numpy")(*values.values())
    assert np.shape(got) == np.shape(want)
    same(got, want)


def table_case(name, k):
    args, params = make_case(name, k)
    terms, values = [], {}
    for i, arg in enumerate(args, 1):
        if isinstance(arg, (np.ndarray, np.generic)):
            terms.append(symbol(f"x{i}", np.shape(arg), np.asarray(arg).dtype))
            values[f"x{i}"] = arg
        else:
            terms.append(as_term(arg))
    return apply(lookup(name), tuple(terms), params), terms, values


# A guard marks where its cotangent is zero anyway; canonical forms leave it out.
GUARDS = ("guard", "excepted", "defined", "divided_where")
OPS = list(dict.fromkeys(name for name, _ in cases() if name not in GUARDS))


@pytest.mark.parametrize("name", OPS)
def test_every_op(name):
    for k in in_turn(name):
        term, terms, values = table_case(name, k)
        # Stretched operands read as 1 bᵀ, which is a product of floats and has no bits.
        if lookup(name).domain == "integer" and len({t.shape for t in terms}) > 1:
            continue
        round_trips(term, [t for t in terms if t.name], values)


@pytest.mark.parametrize("name", OPS)
def test_every_gradient(name):
    op = lookup(name)
    for k in in_turn(name, 1):
        term, terms, values = table_case(name, k)
        symbols = [t for t in terms if t.name]
        targets = [t for i, t in enumerate(terms) if t.name and t.dtype.kind == "f" and op.differentiable(i)]
        if term.dtype is None or term.dtype.kind != "f" or not targets:
            continue
        g = symbol("g", term.shape, term.dtype)
        values["g"] = np.random.default_rng(3).normal(size=term.shape)[()]
        for found in gradient(term, targets, g):
            round_trips(found, [*symbols, g], values)


def problem(name, n, m):
    """A function of arrays, and arrays for it."""
    rng = np.random.default_rng(n)
    X, w, y, b = rng.normal(size=(n, m)), rng.normal(size=m), rng.normal(size=n), rng.normal(size=m)
    A, B = rng.normal(size=(m, m)) + 3 * np.eye(m), rng.normal(size=(m, m))
    x = np.float64(0.7)
    F = sg.nn.functional
    return {
        "least squares": (lambda X, w, y: ((X @ w - y) ** 2).mean(), (X, w, y)),
        "logistic": (lambda X, w, y: F.softplus(-y * (X @ w)).sum() + 0.1 * (w @ w), (X, w, y)),
        "quadratic": (lambda w, A: w @ A @ w, (w, A)),
        "trace": (lambda A, B: (A @ B @ A).trace(), (A, B)),
        "log det": (lambda A: sg.logdet(A @ A.T), (A,)),
        "cross-entropy": (lambda X, B: -(sg.log_softmax(X @ B, 1) * X).sum(), (X, B)),
        "network": (lambda X, A, b, w, y: ((sg.tanh(X @ A + b) @ w - y) ** 2).sum(), (X, A, b, w, y)),
        "x ** x": (lambda x: x**x, (x,)),
        "quotients": (lambda x: 1 / x - x**2 / 3 + sg.sqrt(x) / x**3, (x,)),
        "pieces": (lambda w: sg.relu(w).sum() + w.abs().sum() + w.clamp(-0.5, 0.5).sum(), (w,)),
        "where": (lambda w, b: sg.where(w > 0, w * w, 2 * b).sum(), (w, b)),
        "parts": (lambda w, b: sg.cat([w, b])[1:3].sum() * (w.cumsum(0) * b).sum(), (w, b)),
        "rows": (lambda X: (X[[0, 2, 2]] * X[:3]).sum(), (X,)),
        "broadcast": (lambda X, w, y: (X * w + X / y.reshape(-1, 1)).sum(), (X, w, y)),
        "norms": (lambda X, w: (X @ w).norm() + X.norm() + w.norm(1), (X, w)),
        "einsum": (lambda X, A: sg.einsum("ij,jk,ik->", X, A, X), (X, A)),
        "stacks": (lambda A, B: (sg.stack([A, B]) @ sg.stack([B, A])).sum(), (A, B)),
        "statistics": (lambda X: X.var(0).sum() + X.std() + X.amax(), (X,)),
        "special": (lambda w: (sg.erf(w) * sg.lgamma(w * w + 1)).sum(), (w,)),
    }[name]


PROBLEMS = [
    "least squares", "logistic", "quadratic", "trace", "log det", "cross-entropy", "network", "x ** x", "quotients",
    "pieces", "where", "parts", "rows", "broadcast", "norms", "einsum", "stacks", "statistics", "special",
]  # fmt: skip


@pytest.mark.parametrize("sizes", [(5, 3), (4, 6)], ids=str)
@pytest.mark.parametrize("name", PROBLEMS)
def test_functions_and_gradients(name, sizes):
    f, arrays = problem(name, *sizes)
    names = f.__code__.co_varnames[: len(arrays)]
    leaves = [sg.tensor(a, requires_grad=True, name=n) for a, n in zip(arrays, names, strict=True)]
    out = f(*leaves)
    out.backward()
    for t in (out, *(leaf.grad for leaf in leaves)):
        found, term = read(t)
        values = {s.name: leaf._value for leaf, s in ((leaf, found[leaf.edge()]) for leaf in leaves)}
        same(evaluate(term, values), t._value)
        round_trips(term, [found[leaf.edge()] for leaf in leaves], values)


def test_hessian_vector_product():
    rng = np.random.default_rng(2)
    X, w, y, v = (sg.tensor(rng.normal(size=s), requires_grad=True, name=n) for s, n in
                  (((5, 3), "X"), (3, "w"), (5, "y"), (3, "v")))  # fmt: skip
    loss = sg.nn.functional.softplus(-y * (X @ w)).sum()
    (g,) = sg.autograd.grad(loss, w, create_graph=True)
    (h,) = sg.autograd.grad(g @ v, w)
    found, term = read(h)
    leaves = (X, w, y, v)
    round_trips(term, [found[t.edge()] for t in leaves], {t.name: t._value for t in leaves})


# ---------------------------------------------------------------------------------------------- what cannot be read


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("x + ", FormulaError, "ends too early"),
        ("x + zz", NameProblem, "'zz' is no symbol"),
        ("sinn(x)", NameProblem, "Did you mean"),
        ("x $ 2", FormulaError, "unexpected"),
        ("(x", FormulaError, r"'\)' is missing"),
        ("x 2", FormulaError, "unexpected '2'"),
        ("__import__('os').system('true')", FormulaError, "position"),
        ("(" * 400 + "x" + ")" * 400, FormulaTooDeep, "nests"),
    ],
)
def test_bad_text(text, kind, message):
    with pytest.raises(kind, match=message):
        parse_formula(text, {"x": ()})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (r"v v", "no product"),
        (r"\frac{v}{", "ends too early"),
        (r"\alpha v", "no symbol"),
        (r"\mathbf{1}", "shape="),
        (r"v + A", "do not add"),
        (r"\operatorname{nonsense}\left(v\right)", "no op"),
        (r"v^{2}", r"\\odot"),
    ],
)
def test_bad_latex(text, message):
    with pytest.raises((FormulaError, NameProblem), match=message):
        from_latex(text, {"v": ("n",), "A": ("n", "n")})


def test_numbers_of_the_text_form():
    x = symbol("x")
    assert evaluate(parse_formula("-x**2 + 3.5e-2*x - 1/3", [x]), {"x": 2.0}) == pytest.approx(-4 + 0.07 - 1 / 3)
    assert evaluate(parse_formula("2**3**2", [x]), {}) == 512
    assert evaluate(parse_formula("(x > 1) & ~(x > 3)", [x]), {"x": 2.0})


@pytest.mark.parametrize(
    ("text", "want"),
    [
        (r"\left[x > 0\right] + \left[x > 1\right]", [0, 1, 2]),
        (r"\left[x > 0\right] - \left[x > 1\right]", [0, 1, 0]),
        (r"-\left[x > 0\right]", [0, -1, -1]),
        (r"x \odot \left[x > 0\right] - 2 \left[x > 1\right]", [0, 0.5, 0]),
    ],
)
def test_truth_values_count_in_sums(text, want):
    x = symbol("x", ("n",))
    found = evaluate(from_latex(text, [x]), {"x": np.array([-1.0, 0.5, 2.0])})
    assert np.asarray(found).tolist() == want
