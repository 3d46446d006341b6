"""Formulas as SymPy expressions: plain for scalars, heads with shapes for arrays, exact numbers, budgets."""

from __future__ import annotations

import math
import operator
import pickle
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from sympy.printing.latex import LatexPrinter
from sympy.printing.pretty.pretty import PrettyPrinter
from sympy.printing.str import StrPrinter

import symgrad as sg
from symgrad.errors import FormulaError, FormulaTooDeep, NotAnOperand
from symgrad.formula.sympy import heads
from symgrad.formula.sympy.expressions import DEPTH_BUDGET, shape_of, to_sympy
from symgrad.formula.sympy.terms import from_sympy_expr
from symgrad.formula.term import evaluate, number, symbol

x0 = sp.Symbol("x")


def leaf(value, name):
    return sg.tensor(np.asarray(value, float), requires_grad=True, name=name)


def derivative(f, value, order=1):
    x = leaf(value, "x")
    out = f(x)
    for _ in range(order):
        (out,) = sg.autograd.grad(out, x, create_graph=True)
    return out


def test_scalars_are_plain_sympy():
    assert derivative(sg.tanh, 0.3).expr == 1 - sp.tanh(x0) ** 2
    assert sp.simplify(derivative(sg.tanh, 0.3, 2).expr - sp.tanh(x0).diff(x0, 2)) == 0
    assert sp.simplify(derivative(sg.tanh, 0.3, 3).expr - sp.tanh(x0).diff(x0, 3)) == 0
    assert (leaf(2, "x") ** 3 / 2 - 1).expr == x0**3 / 2 - 1
    z = leaf(1, "x")
    assert type(z.expr) is sp.Symbol
    assert isinstance(sg.where(z > 0, z, -z).expr, sp.Piecewise)


def test_power_with_variable_exponent():
    found = derivative(lambda x: x**x, 0.7)
    f = sp.lambdify(x0, found.expr, "numpy")
    assert f(np.float64(0.7)) == pytest.approx(0.7**0.7 * (1 + math.log(0.7)), rel=1e-14)


def test_nothing_cancels_that_was_computed():
    x = symbol("x")
    e = to_sympy(x / x, canonicalise=False)
    assert e != 1
    assert e.free_symbols == {x0}
    assert math.isnan(sp.lambdify(x0, e, "numpy")(np.float64("nan")))


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e-300, 6.02214076e23, 5e-324, -math.pi, 1.7976931348623157e308])
def test_floats_keep_every_bit(value):
    e = to_sympy(symbol("x") * number(value), canonicalise=False)
    assert sp.lambdify(x0, e, "numpy")(np.float64(1)) == value
    assert float(e.subs(x0, 1)) == value


def arrays():
    rng = np.random.default_rng(0)
    X, w, y = leaf(rng.normal(size=(5, 3)), "X"), leaf(rng.normal(size=3), "w"), leaf(rng.normal(size=5), "y")
    ((X @ w - y) ** 2).sum().backward()
    return X, w, y


def test_array_expressions():
    _, w, _ = arrays()
    e = w.grad.expr
    assert str(e) == "2*(X.T @ (-y + X @ w))"
    assert {str(s) for s in e.free_symbols} == {"X", "w", "y"}
    assert shape_of(e) == ("m",)
    assert pickle.loads(pickle.dumps(e)) == e
    assert e.func(*e.args) == e
    assert r"X^{\top}" in sp.latex(e)


def test_lambdify():
    X, w, y = arrays()
    f = sp.lambdify(sp.symbols("X w y"), w.grad.expr, "numpy")
    np.testing.assert_allclose(f(*(t.detach().numpy() for t in (X, w, y))), w.grad.numpy(), rtol=1e-13)
    rng = np.random.default_rng(1)
    X, w, y = rng.normal(size=(7, 2)), rng.normal(size=2), rng.normal(size=7)
    np.testing.assert_allclose(f(X, w, y), 2 * X.T @ (X @ w - y), rtol=1e-13)


def test_sizes_are_read_from_arrays():
    x = leaf([1, 2, 4], "x")
    m = x.mean()
    m.backward()
    assert str(m.expr) == "sum(x)/n"
    assert sp.lambdify([sp.Symbol("x")], m.expr, "numpy")(np.ones(10)) == 1
    f = sp.lambdify([sp.Symbol("x")], x.grad.expr, "numpy")
    np.testing.assert_allclose(f(np.ones(4)), np.full(4, 0.25))
    assert {str(s) for s in x.grad.expr.free_symbols} == {"x"}


def test_shape_survives_simplification():
    u = symbol("u", ("n",))
    e = to_sympy(u - u, canonicalise=False)
    assert (str(e), shape_of(e)) == ("zeros(n)", ("n",))
    np.testing.assert_array_equal(sp.lambdify([sp.Symbol("u")], e, "numpy")(np.ones(3)), np.zeros(3))


def test_sympy_refuses_to_differentiate_by_arrays():
    _, w, _ = arrays()
    e = w.grad.expr
    target = next(s for s in e.free_symbols if s.name == "w")
    for expression in (e, sp.sin(target)):
        with pytest.raises(FormulaError, match="cannot differentiate by the array w"):
            expression.diff(target)


def test_heads_come_from_the_table():
    X = heads.ArraySymbol("X", ("n", "m"))
    made = heads.softmax(X, heads.Static([("dim", 1)]))
    assert (str(made), made.shape) == ("softmax(X, dim=1)", ("n", "m"))
    assert heads.sigmoid(x0).diff(x0) == heads.sigmoid(x0) * (1 - heads.sigmoid(x0))
    with pytest.raises(AttributeError):
        _ = heads.no_such_op
    printers = [StrPrinter, LatexPrinter, PrettyPrinter]
    for name, op in sg.op.TABLE.items():
        # Elementwise ops mean what SymPy's functions of the same name mean.
        if op.kind != "elementwise" and name != "sign":
            assert not any(hasattr(printer, f"_print_{name}") for printer in printers), name


def test_budgets():
    end = leaf(0.5, "x")
    for _ in range(DEPTH_BUDGET + 2):
        end = end.sin()
    with pytest.raises(FormulaTooDeep, match="symgrad.where_list"):
        _ = end.expr
    assert "t1" in str(sg.formula(end))
    shared = leaf(0.5, "x")
    for _ in range(20):
        shared = shared.sin() * shared.cos()
    with pytest.raises(FormulaTooDeep, match="where_list"):
        _ = shared.expr


def test_expressions_at_the_budget_print():
    end = leaf(0.5, "x")
    for _ in range(DEPTH_BUDGET - 50):
        end = end.sin()
    e = end.expr
    assert str(e).count("sin") == DEPTH_BUDGET - 50
    assert pickle.loads(pickle.dumps(e)) == e


def test_long_sums_are_one_level():
    x = total = leaf(0.5, "x")
    for k in range(1_000):
        total = total + x ** (k + 2)
    assert len(total.expr.args) == 1_001


def test_where_list():
    x = leaf(0.4, "x")
    t = x.sin() * x
    pairs = sg.where_list(t.exp() + t)
    assert [str(p[0]) for p in pairs] == ["t1", "t2"]
    values = {sp.Symbol("x"): 0.4}
    for name, expression in pairs:
        values[name] = float(expression.subs(values))
    assert values[pairs[-1][0]] == pytest.approx((t.exp() + t).item())


def test_where_list_avoids_taken_names():
    t1 = leaf(0.4, "t1")
    s = t1.sin() * t1
    names = [str(p[0]) for p in sg.where_list(s.exp() + s)]
    assert "t1" not in names


def test_where_list_is_linear():
    end = leaf(0.7, "x")
    for _ in range(5_000):
        end = end.sin() * end
    pairs = sg.where_list(end)
    assert len(pairs) == 5_000
    assert str(pairs[-1][1]) == "t4999*sin(t4999)"


def test_back_from_sympy():
    e = sp.Piecewise((sp.sqrt(x0), x0 > 1), (sp.Max(x0, 2) / 3, True)) + sp.Abs(x0) ** sp.Rational(3, 2)
    for value in (0.5, 1.5):
        assert evaluate(from_sympy_expr(e), {"x": value}) == pytest.approx(float(e.subs(x0, value)))
    X = heads.ArraySymbol("X", ("n", "m"))
    assert from_sympy_expr(sp.exp(X) + 1).shape == ("n", "m")


@pytest.mark.parametrize("value", [2, sp.Rational(1, 2), sp.Symbol("c"), 2.5], ids=str)
def test_a_number_in_the_place_of_an_array_stands_in_all_its_entries(value):
    """``subs`` keeps shapes inside of what is no function of entries: the mean of twos is 2, and not 2/n."""
    x = sg.tensor([1.0, 2.0, 5.0], name="x")
    A = sg.tensor(np.eye(3) + 1, name="A")
    at = 0.75 if value == sp.Symbol("c") else float(value)
    texts = {"mean": x.mean(), "product": x @ A @ sg.sin(x), "norm": sg.linalg.vector_norm(x), "entry": x[1],
             "transposed": (A.T @ x).sum(), "softmax": sg.softmax(x, 0)[0]}  # fmt: skip
    wanted = {"mean": at, "product": 12 * at * np.sin(at), "norm": np.sqrt(3) * at, "entry": at, "transposed": 12 * at,
              "softmax": 1 / 3}  # fmt: skip
    for name, t in texts.items():
        old = next(s for s in t.expr.free_symbols if s.name == "x")
        changed = t.expr.subs(old, value)
        assert old not in changed.free_symbols
        arrays = [s for s in changed.free_symbols if s.name == "A"]
        rest = {s: 3 if s.name == "n" else at for s in changed.free_symbols if s.name != "A"}
        found = sp.lambdify(arrays, changed.subs(rest), "numpy")(*([A.numpy()] * len(arrays)))
        np.testing.assert_allclose(found, wanted[name], rtol=1e-12)
    assert str((x * 3 + 1).expr.subs(next(iter(x.expr.free_symbols)), 2)) == "7"


OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow]
EXACT = [Fraction(1, 3), sp.Rational(2, 7), sp.Integer(3), sp.pi, sp.E, sp.sqrt(2) / 3, sp.log(3), sp.Float(0.1),
         sp.zeta(3), sp.EulerGamma, sp.exp(-sp.pi), 2 + sp.I, sp.oo]  # fmt: skip


@pytest.mark.parametrize("shape", [(), (2,)], ids=["number", "array"])
@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
@pytest.mark.parametrize("c", EXACT, ids=str)
def test_exact_numbers_are_operands_of_tensors(c, op, shape):
    """SymPy made a number of the tensor beside it, which had lost its gradient; fractions on the left were refused."""
    plain = float(c) if not isinstance(c, sp.Expr) or c.is_extended_real else complex(c)
    for left in (False, True):
        x, u = leaf(np.full(shape, 2.0), "x"), leaf(np.full(shape, 2.0), "x")
        with np.errstate(invalid="ignore"):
            found, wanted = (op(c, x), op(plain, u)) if left else (op(x, c), op(u, plain))
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(found.detach().numpy(), wanted.detach().numpy(), rtol=1e-15)
            abs(found).sum().backward()
            abs(wanted).sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), u.grad.numpy(), rtol=1e-14)


def test_numbers_that_sympy_does_not_know_to_be_real_are_real_where_they_are():
    """Of a sum SymPy cannot tell; its product with a tensor was complex."""
    k = sp.Symbol("k")
    for c in (sp.Sum(1 / k**2, (k, 1, sp.oo)), sp.Integral(sp.exp(-(k**2)), (k, 0, 1))):
        found = c * leaf(np.full(2, 2.0), "x")
        assert found.dtype == np.float64
        np.testing.assert_allclose(found.detach().numpy(), 2 * float(c), rtol=1e-14)


def test_exact_numbers_stay_exact_in_formulas():
    x = leaf(2.0, "x")
    a = sp.Symbol("x")
    for found, wanted in (
        (sp.pi * x, sp.pi * a),
        (x * sp.sqrt(2), sp.sqrt(2) * a),
        (x ** Fraction(1, 3), a ** sp.Rational(1, 3)),
        (Fraction(1, 3) * x, a / 3),
        (sp.cos(sp.pi / 7) - x, sp.cos(sp.pi / 7) - a),
        (sp.E**x, sp.exp(a)),
    ):
        assert found.expr == wanted
    with sg.no_grad():
        y = same = sg.ones(3)
        y += sp.Rational(1, 3)
        y *= Fraction(3, 4)
    assert y is same
    assert y.tolist() == [1, 1, 1]
    assert (leaf([1.0, 2.0], "x") > sp.sqrt(2)).tolist() == [False, True]


@pytest.mark.parametrize("op", [*OPERATORS, operator.lt, operator.matmul], ids=lambda op: op.__name__)
def test_symbols_are_no_operands_of_tensors(op):
    """SymPy would put the value there, without its gradient."""
    for left, right in ((sp.Symbol("a"), leaf(2.0, "x")), (leaf(2.0, "x"), sp.Symbol("a") + 1)):
        with pytest.raises(NotAnOperand, match=r"a.* is no operand of a tensor.*t\.expr.*from_sympy"):
            op(left, right)
    assert leaf(2.0, "x") != sp.Symbol("a")
