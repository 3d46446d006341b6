"""Values and gradients at many digits: every op, programs, deep graphs, and what is refused."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import sympy as sp

import symgrad as sg
from symgrad.errors import ArgumentError, AutogradError, FormulaError
from symgrad.formula.digits import Digits
from symgrad.formula.term import as_term, symbol
from symgrad.op import TABLE
from symgrad.proving import laws
from symgrad.proving.exact import exact_law
from symgrad.proving.samples import cases, make_case, ops
from tests.turns import in_turn

INEXACT = {"nextafter"}
"""The next float is a matter of floats."""
NAMES = {complex_too: {name for name, _ in cases(complex_too)} for complex_too in (False, True)}


@pytest.mark.parametrize("name", sorted({op.name for op in ops()} - INEXACT - {"full", "eye", "arange"}))
def test_every_op_has_digits_that_round_to_its_value(name):
    for complex_too, dtype in ((False, np.float64), (True, np.complex128)):
        for k in in_turn(name, complex_too) if name in NAMES[complex_too] else ():
            args, params = make_case(name, k, dtype=dtype)
            op = TABLE[name]
            symbols = [
                symbol(f"x{i}", np.shape(a), a.dtype) if laws.is_data(a) else a for i, a in enumerate(args)
            ]  # fmt: skip
            values = {f"x{i}": a for i, a in enumerate(args)}
            want = np.asarray(laws.run_kernel(op, args, params))
            got = Digits(25).value(as_term(op(*symbols, **params)), values, {})
            laws.close(np.asarray(got).astype(want.dtype), want, 1e-9, f"{name} {k}")


def test_digits_of_values_and_gradients():
    x = sg.tensor(0.7, requires_grad=True, dtype=sg.float64)
    y = sg.exp(sg.sin(x)) / x
    y.backward()
    with mpmath.workdps(60):
        at = mpmath.mpf(0.7)
        value = mpmath.exp(mpmath.sin(at)) / at
        slope = value * (mpmath.cos(at) - 1 / at)
        assert abs(mpmath.mpf(str(y.evalf(50))) - value) < mpmath.mpf(10) ** -49
        assert abs(mpmath.mpf(str(x.grad.evalf(50))) - slope) < mpmath.mpf(10) ** -48
    (g,) = sg.autograd.grad(x**3, x, create_graph=True)
    assert abs(g.evalf(40) - 3 * sp.Rational(0.7) ** 2) < 1e-39


def test_digits_of_arrays_and_kinds_of_numbers():
    A = sg.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
    (A @ A).inverse().sum().backward()
    found = A.grad.evalf(30)
    assert found.shape == (2, 2)
    assert isinstance(found[0, 0], sp.Float)
    np.testing.assert_allclose(found.astype(float), A.grad.numpy(), rtol=1e-4)
    assert str((A[0] @ A[0] * sg.tensor(2.0)).evalf(20)) == "10.000000000000000000"
    assert sg.tensor([0.1, np.inf, np.nan]).double().evalf(20)[1:].tolist() == [sp.oo, sp.nan]
    assert str((sg.tensor(1j) ** 2).evalf(20)) in ("-1.0000000000000000000", "-1.0000000000000000000 + 0.e-20*I")
    assert sg.tensor([1, 2]).evalf(20).tolist() == [1, 2]
    assert (A > 2).evalf(20).tolist() == [[False, False], [True, True]]
    assert str(sg.formula(lambda x: sg.log(x), (), wrt="x").evalf(20, x=3.0)) == "0.33333333333333333333"


@pytest.mark.parametrize("name", ["svdvals", "logdet", "eigvalsh", "logabsdet"])
def test_rules_of_complex_matrices_have_all_digits(name):
    """The phases of singular vectors came from LAPACK's doubles, each for itself; logdet dropped an imaginary part."""
    assert exact_law(TABLE[name], make_case(name, 0, dtype=np.complex128)) == 1


def test_cancellation_costs_no_digits():
    x = sg.tensor(1e-20, requires_grad=True, dtype=sg.float64)
    y = (1 - sg.cos(x)) / x**2
    assert y.item() == 0
    assert str(y.evalf(30)) == "0.500000000000000000000000000000"


def test_deep_graphs_have_digits():
    x = sg.tensor(1.5, requires_grad=True, dtype=sg.float64)
    y = x
    for _ in range(5000):
        y = y * 1 + 2.0**-60
    assert abs(y.evalf(40) - sp.Rational(3, 2) - sp.Rational(5000, 2**60)) < 1e-38


def test_what_has_no_digits_is_refused():
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    with sg.no_grad():
        x += 1
    with pytest.raises(AutogradError, match="x was changed after it was used"):
        y.evalf()
    z = x * 3
    x.data = sg.tensor([5.0, 5.0])
    with pytest.raises(AutogradError, match="x was changed"):
        z.evalf()
    with pytest.raises(FormulaError, match="nextafter"):
        sg.nextafter(x, x + 1).evalf()
    with pytest.raises(ArgumentError, match="whole number"):
        x.evalf(0)


def test_poles_are_infinite():
    x = sg.tensor([0.0], requires_grad=True, dtype=sg.float64)
    assert sg.special.modified_bessel_k0(x).evalf(20).tolist() == [sp.oo]
    assert sg.special.scaled_modified_bessel_k1(x).evalf(20).tolist() == [sp.oo]


@pytest.mark.parametrize(
    ("text", "x", "want"),
    [
        ("sqrt(x**2 + 1) - x", 1e40, 5e-41),
        ("sqrt(x**2 + 1) - x", 1e300, 5e-301),
        ("log(1 + exp(x)) - x", 700.0, 9.85967654375977e-305),
        ("(1 - sin(x)/x)/x**2", 1e-160, 1 / 6),
        ("x/tanh(x) - 1", 1e-100, 1e-200 / 3),
        ("log(exp(x) - 1)", 1e-160, -368.41361487904731),
    ],
)
def test_what_cancels_in_all_digits_but_the_last_is_no_zero(text, x, want):
    """Twice as many digits gave the same 0, which ``evalf``, ``replay`` and ``verify`` took for the value."""
    f = sg.formula(text, shapes="x=")
    assert float(f.evalf(15, x=x)) == pytest.approx(want, rel=1e-14)
    assert f.evaluate("exact", x=x) == pytest.approx(want, rel=1e-15)


def test_zeros_are_zeros():
    assert float(sg.formula("(x + 0.1*y) - (0.1*y + x)", shapes="x=;y=").evalf(15, x=1.3, y=-2.7)) == 0
    assert abs(sg.formula("sin(x)**2 + cos(x)**2 - 1", shapes="x=").evaluate("exact", x=2.3)) < 1e-300


def test_exact_values_of_formulas_that_no_rule_saves():
    from tests.values import naive

    points = np.array([1e-300, 1e-9, 0.3, 12.0, 1e160]), np.array([1.1e-9, 1.1e-9, 0.3000001, 1.0, -3e155])
    for name in ("x sin(y) - y sin(x)", "x y/(x + y)", "(e^x - e^y)/(x - y)"):
        f = naive.OF_TWO[name]
        found = sg.formula(lambda x, y, f=f: f(sg, x, y), (4,), (4,)).evaluate(
            "exact", x=points[0][:4], y=points[1][:4]
        )
        with mpmath.workdps(700):
            want = [
                float(f(mpmath, mpmath.mpf(a), mpmath.mpf(b))) for a, b in zip(*(p[:4] for p in points), strict=True)
            ]
        np.testing.assert_array_equal(found, want)


def test_exact_values_keep_dtype_and_shape_and_what_has_none():
    f = sg.formula("log(x) + sum(x)", shapes="x=n")
    found = f.evaluate("exact", x=np.array([1.0, 2.0, -1.0], np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found[:2], [2.0, 2 + np.log(2)], rtol=1e-7)
    assert np.isnan(found[2])
    assert sg.formula("exp(x)", shapes="x=n").evaluate("exact", x=np.array([1e300, 1.0]))[1] == np.e
    with pytest.raises(sg.errors.ArgumentError, match="True, False or"):
        f.evaluate("exactly", x=np.ones(2))


KINKS = {
    "atan2": (sg.atan2, (0.0, 0.0)),
    "power of zero": (lambda x, y: x**y, (0.0, 2.0)),
    "zero to the zero": (lambda x, y: x**y, (0.0, 0.0)),
    "sinc": (lambda x, y: sg.sinc(x) * y, (0.0, 1.0)),
}


@pytest.mark.parametrize("name", KINKS)
def test_points_that_rules_except_are_those_of_the_gradient(name):
    """The formula beside them was evaluated, 0/0, and verify said that the gradient is not what its formula gives."""
    f, at = KINKS[name]
    x, y = (sg.tensor(v, dtype=sg.float64, requires_grad=True, name=n) for v, n in zip(at, "xy", strict=True))
    f(x, y).backward()
    for v in (x, y):
        assert float(v.grad.evalf(20)) == v.grad.item() + 0.0
        assert sg.verify(v.grad).ok


@pytest.mark.parametrize("matrix", [np.zeros((2, 2)), np.ones((3, 3)), np.array([[1.0, 2, 3], [2, 4, 6], [1, 1, 2]])])
def test_gradients_of_determinants_of_singular_matrices_have_digits(matrix):
    """They are cofactors; evalf, verify and replay stopped at the inverse."""
    A = sg.tensor(matrix, requires_grad=True, name="A")
    det = sg.linalg.det(sg.stack([A, 2 * A])).sum()
    det.backward()
    n = len(matrix)
    minors = [[np.linalg.det(np.delete(np.delete(matrix, i, 0), j, 1)) for j in range(n)] for i in range(n)]
    cofactors = (1 + 2**n) * (-1.0) ** np.add.outer(range(n), range(n)) * minors
    np.testing.assert_allclose(A.grad.evalf(20).astype(float), cofactors, atol=1e-12)
    np.testing.assert_allclose(A.grad.numpy(), cofactors, atol=1e-12)
    assert sg.verify(A.grad).ok
    assert sg.replay(det).gradients["A"].shape == (n, n)
