"""Layouts and notations of derivatives: a layout is right if the differential that its caption states is right."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError
from symgrad.formula.reading.text import from_latex
from symgrad.formula.term import evaluate

LAYOUTS = ("mixed", "numerator", "denominator")
CASES = {
    "a scalar by a number": (lambda t, x: (sg.sin(t * x)).sum(), ("", "n")),
    "a scalar by a vector": (lambda x, A, b: ((A @ x - b) ** 2).sum(), ("m", "nm", "n")),
    "a scalar by a matrix": (lambda A, x, b: (b * sg.tanh(A @ x)).sum(), ("nm", "m", "n")),
    "a vector by a number": (lambda t, x: sg.sin(t * x), ("", "n")),
    "a matrix by a number": (lambda t, A: sg.exp(t * A), ("", "nm")),
    "a vector by a vector": (lambda x, A: sg.tanh(A @ x), ("m", "nm")),
}


def values(kinds, n, m):
    rng = np.random.default_rng(n * m)
    return [np.asarray(rng.normal(size=[{"n": n, "m": m}[s] for s in kind])) for kind in kinds]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", CASES)
def test_the_stated_differential_holds(name, layout):
    """What is printed, read back and contracted as the caption says, is the change of the function."""
    f, kinds = CASES[name]
    found = sg.formula(sg.func.jacobian(f), *values(kinds, 4, 3))
    vector = "scalar" not in name
    turned = vector if layout == "denominator" else layout == "numerator" and not vector
    shape = found.term.shape
    if turned and shape:
        shape = shape[::-1] if len(shape) == 2 else (1, *shape)
    read = from_latex(found.latex(layout=layout), found.symbols, shape=shape)
    stated = found.latex(layout=layout, caption=True, header=True).splitlines()[2]
    assert rf"\text{{({layout} layout)}}" in stated
    for n, m in ((4, 3), (2, 5), (3, 3)):
        x, *rest = values(kinds, n, m)
        step = np.random.default_rng(1).normal(size=x.shape) * 1e-6
        change = (f(sg.tensor(x + step), *rest) - f(sg.tensor(x - step), *rest)).numpy() / 2
        derivative = np.asarray(evaluate(read, dict(zip(f.__code__.co_varnames, (x, *rest), strict=False))))
        factor = derivative.reshape(-1, 1) if derivative.ndim < 2 else derivative
        factor = factor.T if r"^{\top} \, \mathrm{d}" in stated else factor
        product = factor * step if x.ndim == 0 else factor @ step
        total = np.trace(product) if r"\operatorname{tr}" in stated else product
        # Central differences: right to 1e-6 of a change of 1e-6.
        np.testing.assert_allclose(np.reshape(total, change.shape), change, rtol=1e-4, atol=1e-12)


def test_spellings_of_the_left_side():
    f = sg.formula("norm(A@x-b)**2", wrt="x")
    assert f.latex(header="nabla") == r"\nabla_{x} f = 2 A^{\top} \left(A x - b\right)"
    assert f.latex(header="D", layout="numerator") == r"\mathrm{D}_{x} f = 2 \left(A x - b\right)^{\top} A"
    assert f.latex(header="leibniz") == f.latex(header=True)
    assert sg.latex("norm(A@x-b)**2", wrt=("x", "x"), header="D") == r"\mathrm{D}_{x}^{2} f = 2 A^{\top} A"
    step = sg.formula(sg.func.jacobian(lambda x, A: sg.tanh(A @ x)), (3,), (4, 3))
    assert step.latex(header="D").startswith(r"\mathrm{D}_{x} f = \operatorname{diag}\left(1 - \tanh^{2}")


def test_layouts_in_every_format():
    f = sg.formula("norm(A@x-b)**2", wrt="x")
    options = {"layout": "numerator", "header": True, "caption": True}
    assert f.unicode(**options).splitlines() == ["∂f/∂x = 2 (A x − b)ᵀ A", "      df = (∂f/∂x) dx (numerator layout)"]
    assert "numerator layout" in f.typst(**options)
    assert f.mathml(**options).startswith("<math")
    assert f.markdown(**options).startswith("$$")
    loss = sg.formula(lambda w: (w @ w) / 2, (3,), wrt="w")
    assert loss.latex(layout="numerator") == r"w^{\top}"


@pytest.mark.parametrize("layout", ["mixed", "denominator"])
def test_printed_gradients_are_judged_equal(layout):
    text = sg.latex("norm(A@x-b)**2", wrt="x", layout=layout, header="nabla")
    assert sg.judge(text, of="norm(A@x-b)**2", wrt="x")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"layout": "row"}, "layout= is one of mixed, numerator, denominator"),
        ({"header": "grad"}, "header= is True or one of leibniz, nabla, D"),
        ({"header": "nabla", "layout": "numerator"}, "this is its transpose"),
        ({"header": "D"}, 'say layout="numerator", too'),
    ],
)
def test_notations_that_say_something_else_are_refused(options, said):
    with pytest.raises(ArgumentError, match=said):
        sg.latex("norm(A@x-b)**2", wrt="x", **options)


def test_what_has_no_layout():
    x = sg.tensor([1.0, 2.0], requires_grad=True, name="x")
    y = (x * x).sum()
    with pytest.raises(ArgumentError, match="derivatives of functions and texts"):
        sg.formula(y).latex(layout="numerator")
    with pytest.raises(ArgumentError, match="this one has 3"):
        sg.formula(sg.func.jacobian(lambda A, x: A @ x), (4, 3), (3,)).latex(layout="numerator")
    with pytest.raises(ArgumentError, match="this is a Jacobian"):
        sg.formula(sg.func.jacobian(lambda x: sg.sin(x)), (3,)).latex(header="nabla")
    with pytest.raises(ArgumentError, match="by one variable"):
        sg.latex("x@A@y", wrt=("x", "y"), header="D")
