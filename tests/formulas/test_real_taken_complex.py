"""Formulas of real arrays that are computed with as complex numbers: no cast is shown, and none is forgotten."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.canonical.simplify import canonical
from symgrad.formula.term import evaluate

C = sg.complex128
FUNCTIONS = {
    "sqrt": lambda x: sg.sqrt(x.to(C)).imag.sum(),
    "log": lambda x: sg.log(x.to(C)).imag.sum() + sg.log(x.to(C)).abs().sum(),
    "pow": lambda x: (x.to(C) ** 0.5).abs().pow(2).sum() + (x.to(C) ** 1.5).imag.sum(),
    "square": lambda x: (x.to(C) ** 2).real.sum(),
    "acos": lambda x: sg.acos(x.to(C)).abs().sum(),
    "complex": lambda x: sg.complex(x, x * 0).sqrt().abs().sum() + sg.complex(x, x).sqrt().imag.sum(),
    "eigvals": lambda x: sg.linalg.eigvals(x.reshape(2, 2)).imag.abs().sum(),
    "power of a spectrum": lambda x: (sg.fft.rfft(x).abs() ** 2 * sg.arange(3)).sum().log(),
    "convolution": lambda x: sg.fft.irfft(sg.fft.rfft(x) * sg.fft.rfft(x.flip(0))).pow(3).sum(),
    "hfft": lambda x: sg.fft.hfft(x.to(C)).pow(2).sum(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_formula_and_program_have_the_value(name: str) -> None:
    at = np.array([-1.5, -0.3, 0.4, 2.0])
    x = sg.tensor(at, requires_grad=True, name="x")
    y = FUNCTIONS[name](x)
    (g,) = sg.autograd.grad(y, x, create_graph=True)
    for t in (y, g):
        found = evaluate(canonical(t.term), {**sg.formula(t).constants, "x": at})
        np.testing.assert_allclose(np.broadcast_to(found, t.shape), t.detach().numpy(), rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(sg.compile(t, ["x"])(at), t.detach().numpy(), rtol=1e-10, atol=1e-12)
        assert "cast" not in t.latex()


def test_an_imaginary_root_is_not_zero() -> None:
    x = sg.tensor(np.array([-4.0, 9.0]), requires_grad=True, name="x")
    assert sg.sqrt(x.to(C)).imag.latex() == r"\operatorname{Im}\left(\sqrt{x}\right)"
    assert (x.to(C) ** 2).real.latex() == r"x^{\odot 2}"
