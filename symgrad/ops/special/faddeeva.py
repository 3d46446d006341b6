"""Faddeeva's function w(z) = e^(-z²) erfc(-iz) of complex numbers, and the Voigt profile, under SciPy's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.op import Op, primitive, sampling
from symgrad.ops.calls.naming import within
from symgrad.ops.elementwise.complex import complex_of, conj, real
from symgrad.ops.elementwise.select import eq, where
from symgrad.ops.elementwise.smooth import sqrt
from symgrad.ops.rules.constants import PI, Constant, exact
from symgrad.ops.shapes.shaping import ones_like
from symgrad.precision import digits


def _wofz_slopes(z: Any, *, n: int) -> Any:
    """From the first derivative on, each by the two below it."""
    before, out = wofz(z), 2 / sqrt(PI) * ones_like(z) * 1j - 2 * z * wofz(z)
    for k in range(1, n):
        before, out = out, -2 * z * out - 2 * k * before
    return out


def _complex(name: str, kernel: Any, slope: Any, in_digits: Any, doc: str, **fields: Any) -> Op:
    return primitive(
        name,
        kernel,
        (lambda g, out, z, **params: g * conj(slope(z, **params)),),
        jvp=(lambda t, out, z, **params: t * slope(z, **params),),
        infer=lambda shape, **_: shape,
        dtypes="float",
        entrywise=True,
        result=complex_of,
        digits=lambda mp, z, **params: np.frompyfunc(lambda v: in_digits(mp, v, **params), 1, 1)(z),
        doc=doc,
        **fields,
    )


wofz: Op = _complex(
    "wofz",
    kernels.wofz,
    lambda z: wofz_slope(z, n=1),
    digits.wofz,
    "Faddeeva's function w(z) = e^(-z²) erfc(-iz), complex also for real numbers: e^(-x²) + 2i F(x)/√π of Dawson's F.",
    called="w",
)
wofz_slope: Op = _complex(
    "wofz_slope",
    kernels.wofz_slope,
    lambda z, n: wofz_slope(z, n=n + 1),
    digits.wofz_slope,
    "The n-th derivative of Faddeeva's function w; 2i/√π - 2z w(z) has no digits far out.",
    define=_wofz_slopes,
    expanded=True,
    example=(0.5, {"n": 1}),
    samples=[sampling.one("real", "n", "m", n=1), sampling.one("real", n=2)],
)
within("special")(wofz)


@within("special")
def voigt_profile(x: Any, sigma: Any, gamma: Any) -> Any:
    """The density at ``x`` of the sum of a normal variable of deviation σ and a Cauchy variable of half width γ.

    Re w((x + iγ)/(σ√2))/(σ√(2π)), and Cauchy's density where σ is 0; arrays and tensors are broadcast, and the result
    is differentiable by all three.  The real part keeps its digits far out, where it is small beside the other.
    """
    if all(isinstance(value, (int, float)) for value in (x, sigma, gamma)):
        x = np.float64(x)
    if isinstance(sigma, (int, float)):
        return _mixed(x, sigma, gamma) if sigma else _cauchy(x, gamma)
    without = eq(sigma, 0)
    return where(without, _cauchy(x, gamma), _mixed(x, where(without, 1, sigma), gamma))


def _cauchy(x: Any, gamma: Any) -> Any:
    return gamma / (PI * (x**2 + gamma**2))


def _mixed(x: Any, sigma: Any, gamma: Any) -> Any:
    width = sigma * sqrt(exact(2))
    height = gamma / width
    height = float(height) if isinstance(height, Constant) else height  # exact numbers are real ones
    return real(wofz(x / width + 1j * height)) / (width * sqrt(PI))  # NumPy's ∞ + i over 2 is nan
