"""Special functions as formulas: standard letters, SymPy both ways, digits, exported programs."""

from __future__ import annotations

import runpy

import numpy as np
import pytest
import sympy as sp

import symgrad as sg
from symgrad import special
from symgrad.formula.printing.formats import spelled
from symgrad.formula.reading.text import from_latex
from symgrad.formula.reading.unicode import from_unicode
from symgrad.formula.term import evaluate

WRITTEN = {
    "beta": (lambda x: special.beta(x, 2.0), r"\mathrm{B}\left(x, 2\right)"),
    "betaln": (lambda x: special.betaln(x, x), r"\log \mathrm{B}\left(x, x\right)"),
    "betainc": (lambda x: special.betainc(2.0, 3.0, x), r"\mathrm{I}_{x}\left(2, 3\right)"),
    "gamma": (special.gamma, r"\mathrm{\Gamma}\left(x\right)"),
    "exp1": (special.exp1, r"\mathrm{E}_{1}\left(x\right)"),
    "expi": (special.expi, r"\mathrm{Ei}\left(x\right)"),
    "sici": (lambda x: special.sici(x)[0] * special.sici(x)[1], r"\mathrm{Si}\left(x\right)"),
    "fresnel": (lambda x: special.fresnel(x)[0] - special.fresnel(x)[1], r"\mathrm{S}\left(x\right)"),
    "spence": (special.spence, r"\mathrm{Li}_{2}\left(1 - x\right)"),
    "ellipk": (special.ellipk, r"\mathrm{K}\left(x\right)"),
    "ellipe": (special.ellipe, r"\mathrm{E}\left(x\right)"),
    "ellipkinc": (lambda x: special.ellipkinc(0.5, x), r"\mathrm{F}\left("),
    "ellipeinc": (lambda x: special.ellipeinc(x, 0.5), r"\mathrm{E}\left(x, "),
    "ellipj": (lambda x: special.ellipj(x, 0.5)[0] * special.ellipj(0.5, x)[2], r"\mathrm{sn}\left(x, "),
    "voigt_profile": (lambda x: special.voigt_profile(x, 0.5, 1.5), r"\operatorname{Re}\left(w\left("),
    "rgamma": (special.rgamma, r"\operatorname{rgamma}\left(x\right)"),
    "airy": (lambda x: special.airy(x)[1] + special.airy(x)[2], r"\mathrm{Ai}'\left(x\right)"),
    "spherical_jn": (lambda x: special.spherical_jn(2, x), r"\mathrm{j}_{2}\left(x\right)"),
    "dawsn": (special.dawsn, r"\operatorname{dawsn}\left(x\right)"),
    "erfi": (special.erfi, r"\operatorname{erfi}"),
    "owens_t": (lambda x: special.owens_t(x, 0.5), r"\operatorname{owens\_t}\left(x, "),
    "exprel": (special.exprel, "e^{x}"),
    "boxcox": (lambda x: special.boxcox(x, 0.25) + special.inv_boxcox(x, 0.5), "x"),
    "pseudo_huber": (lambda x: special.pseudo_huber(x, 0.75) + special.cosm1(x) * special.powm1(x, 0.5), "x"),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_letters_are_read_back(name):
    function, letters = WRITTEN[name]
    x = sg.tensor(0.375, dtype=sg.float64, name="x", requires_grad=True)
    y = function(x)
    assert letters in y.latex()
    (slope,) = sg.autograd.grad(y, x, create_graph=True)
    for value in (y, slope, slope * y**2):
        text = value.latex()
        for read in (from_latex(text, {"x": ()}), from_unicode(spelled(text, "unicode"), {"x": ()})):
            np.testing.assert_allclose(evaluate(read, {"x": np.float64(0.375)}), value.item(), rtol=1e-12)
        np.testing.assert_allclose(float(value.evalf(30)), value.item(), rtol=1e-12)


@pytest.mark.parametrize("name", ["E", "K", "Ei", "I", "prob"])
def test_symbols_called_like_functions_are_symbols(name):
    x = sg.tensor(0.375, dtype=sg.float64, name=name, requires_grad=True)
    value = x * (x + 1) * special.ellipk(x) * special.expi(x) + special.betainc(2.0, 3.0, x) * special.ellipe(x)
    text = value.latex()
    for read in (from_latex(text, {name: ()}), from_unicode(spelled(text, "unicode"), {name: ()})):
        np.testing.assert_allclose(evaluate(read, {name: np.float64(0.375)}), value.item(), rtol=1e-12)


def test_slopes_are_those_of_textbooks():
    m = sg.tensor([0.25, 0.5], name="m", requires_grad=True)
    special.ellipk(m).sum().backward()
    assert m.grad.latex() == (
        r"\frac{\mathrm{E}\left(m\right) - \mathrm{K}\left(m\right) \odot \left(1 - m\right)}"
        r"{2 m \odot \left(1 - m\right)}"
    )
    x = sg.tensor(0.5, name="x", requires_grad=True)
    special.exp1(x).backward()
    assert x.grad.latex() == r"-\frac{e^{-x}}{x}"


z = sp.Symbol("x")
FROM_SYMPY = [
    sp.beta(z, 2), sp.gamma(z), sp.Ei(z), sp.expint(2, z), sp.Si(z), sp.Ci(z), sp.fresnels(z), sp.fresnelc(z),
    sp.elliptic_k(z), sp.elliptic_e(z), sp.airyai(z), sp.airyaiprime(z), sp.airybi(z), sp.airybiprime(z), sp.jn(1, z),
    sp.yn(1, z), sp.factorial(z), sp.elliptic_f(z, sp.Rational(1, 4)), sp.elliptic_e(z, sp.Rational(1, 4)),
]  # fmt: skip


@pytest.mark.parametrize("expr", FROM_SYMPY, ids=str)
def test_functions_of_sympy(expr):
    made = sg.from_sympy(expr)
    value = float(evaluate(made if hasattr(made, "op") else made.term, {"x": np.float64(0.375)}))
    np.testing.assert_allclose(value, float(expr.subs(z, 0.375).evalf(20)), rtol=1e-13)


def test_exported_program_needs_numpy_alone(tmp_path):
    def f(x):
        whole = special.betainc(2.0, 3.0, x) + special.exp1(x) * special.expi(x) + sum(special.sici(x))
        waves = sum(special.fresnel(x)) + sum(special.airy(-3 * x)) + special.spherical_jn(2, x) + special.dawsn(x)
        return (whole + waves + special.spence(x) * special.ellipk(x) - special.ellipe(x) + special.gamma(x)).sum()

    program = sg.compile(sg.func.value_and_grad(f), np.array([0.25, 0.5]))
    program.save(tmp_path / "program.py")
    text = (tmp_path / "program.py").read_text()
    assert "scipy" not in text
    assert "import symgrad" not in text
    assert runpy.run_path(str(tmp_path / "program.py"))["_selftest"]() == 0


def test_the_greatest_of_one_number_is_that_number():
    for function in (sg.logsumexp, sg.amax, sg.amin):
        assert sg.latex(lambda x, function=function: function(x, 0), 2.0) == "x"
        assert sg.latex(lambda x, function=function: function(x, 0), 2.0, wrt="x") == "1"


def reals(**values):
    return [sg.tensor(v, dtype=sg.float64, name=n, requires_grad=True) for n, v in values.items()]


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda x, y: (x / np.sqrt(np.pi) - np.sqrt(2) * x / np.sqrt(2 * np.pi)) * y + x, "x"),
        (lambda x, y: x / np.sqrt(np.pi) + np.sqrt(2) * x / np.sqrt(2 * np.pi), r"\frac{2 x}{\sqrt{\pi}}"),
        (
            lambda x, y: np.sqrt(2 / np.pi) * x * y + x / np.sqrt(2 * np.pi),
            r"\frac{x \left(2 y + 1\right)}{\sqrt{2 \pi}}",
        ),
        (lambda x, y: np.sqrt(2 / np.pi) * x, r"x \sqrt{\frac{2}{\pi}}"),
        (lambda x, y: np.sqrt(2 / np.pi) * x / 2, r"\frac{x}{\sqrt{2 \pi}}"),
    ],
)
def test_roots_of_multiples_of_pi_are_like_terms(function, text):
    assert sg.formula(function(*reals(x=0.375, y=0.75))).latex() == text


def test_the_third_derivative_of_the_price_of_an_option():
    S, K, r, s, T = reals(S=1.0, K=1.2, r=0.1, s=0.3, T=0.8)
    d = (sg.log(S / K) + (r + s**2 / 2) * T) / (s * sg.sqrt(T))
    price = S * special.ndtr(d) - K * sg.exp(-r * T) * special.ndtr(d - s * sg.sqrt(T))
    for _ in range(3):
        (price,) = sg.autograd.grad(price, [S], create_graph=True)
    assert len(price.latex()) < 260


def test_numbers_go_out_of_roots_of_norms_where_they_are_squares_beside_short_ones():
    x = sg.tensor(np.ones(3), name="x", requires_grad=True)
    assert sg.formula(sg.sqrt(0.5 / 9 * (x @ x))).latex() == r"\frac{\lVert x \rVert}{3 \sqrt{2}}"
    assert sg.formula(sg.sqrt(0.01 * (x @ x))).latex() == r"0.1 \lVert x \rVert"
    assert sg.formula(sg.sqrt(0.044715 * (x @ x))).latex() == r"\sqrt{0.044715 x^{\top} x}"


def test_a_bracket_beside_factors_has_no_common_one():
    x, m, k = reals(x=0.3, m=0.4, k=0.5)
    assert sg.formula(k * (m - m * sg.tanh(x) ** 2)).latex() == (r"k m \left(1 - \tanh^{2}\left(x\right)\right)")
    assert sg.formula(m - m * x).latex() == "m - m x"
    (slope,) = sg.autograd.grad(k * sg.log(sg.cosh(m * x)), [x], create_graph=True)
    (slope,) = sg.autograd.grad(slope, [x], create_graph=True)
    assert slope.latex() == r"k m^{2} \left(1 - \tanh^{2}\left(m x\right)\right)"


def test_squares_of_norms_and_powers_of_brackets_meet():
    x, y = (sg.tensor(np.ones(3), name=n, requires_grad=True) for n in "xy")
    a, z = reals(a=0.3, z=0.7)
    (slope,) = sg.autograd.grad((x @ y) / sg.sqrt((x @ x) * (y @ y)), [x], create_graph=True)
    assert slope.latex() == (
        r"\frac{1}{\lVert x \rVert \lVert y \rVert} \left(y - \frac{x^{\top} y}{\lVert x \rVert^{2}} x\right)"
    )
    assert sg.formula((1 + z) ** (a - 1) / (1 + z)).latex() == r"\left(1 + z\right)^{a - 2}"
