"""The incomplete elliptic integrals, under SciPy's names; those of a quarter period stand with the other integrals."""

from __future__ import annotations

from typing import Any

from symgrad import kernels
from symgrad.op import Op, of_reals
from symgrad.ops.calls.naming import within
from symgrad.ops.elementwise.select import eq, where
from symgrad.ops.elementwise.smooth import cos, sin, sqrt
from symgrad.ops.rules.constants import exact


def _elliptic(name: str, kernel: Any, by_angle: Any, by_parameter: Any, **fields: Any) -> Op:
    return of_reals(
        name,
        kernel,
        by_angle,
        by_parameter,
        domain=("unit", "probability"),
        **fields,
    )


def _square(x: Any, m: Any) -> Any:
    """Δ²."""
    return 1 - m * sin(x) ** 2


def _cube(x: Any, m: Any) -> Any:
    """Δ³."""
    return _square(x, m) * sqrt(_square(x, m))


def _bend(x: Any, m: Any, d: Any, g: Any) -> Any:
    """The derivative of D by m: half the integral of sin⁴/Δ³, which is elementary where m is 0."""
    s = sin(x)
    start = exact(3) / 16 * (x - s * cos(x)) - s**3 * cos(x) / 8
    return where(eq(m, 0), start, (g - d) / (2 * m))


ellipkinc: Op = _elliptic(
    "ellipkinc",
    kernels.ellipkinc,
    lambda out, x, m: 1 / sqrt(_square(x, m)),
    lambda out, x, m: ellipginc(x, m) / 2,
    sympy="elliptic_f",
    called=r"\mathrm{F}",
    doc="The incomplete elliptic integral of the first kind F(x, y), of the amplitude x and parameter y = k².",
)
ellipeinc: Op = _elliptic(
    "ellipeinc",
    kernels.ellipeinc,
    lambda out, x, m: sqrt(_square(x, m)),
    lambda out, x, m: -ellipdinc(x, m) / 2,
    digits=lambda mp, x, m: mp.ellipe(x, m),
    doc="The incomplete elliptic integral of the second kind E(x, y), of the amplitude x and parameter y = k².",
)
ellipdinc: Op = _elliptic(
    "ellipdinc",
    kernels.ellipdinc,
    lambda out, x, m: sin(x) ** 2 / sqrt(_square(x, m)),
    lambda out, x, m: _bend(x, m, out, ellipginc(x, m)),
    define=lambda x, m: (ellipkinc(x, m) - ellipeinc(x, m)) / m,
    doc="The integral of sin²/Δ up to an angle, Δ² = 1 - m sin²: -2 times the derivative of E by m.",
)
ellipginc: Op = _elliptic(
    "ellipginc",
    kernels.ellipginc,
    lambda out, x, m: sin(x) ** 2 / _cube(x, m),
    lambda out, x, m: (
        (3 * out / 2 - _bend(x, m, ellipdinc(x, m), out) - sin(x) ** 3 * cos(x) / (2 * _cube(x, m))) / (1 - m)
    ),
    define=lambda x, m: (
        ((ellipeinc(x, m) - (1 - m) * ellipkinc(x, m)) / m - sin(x) * cos(x) / sqrt(_square(x, m))) / (1 - m)
    ),
    doc="The integral of sin²/Δ³ up to an angle, Δ² = 1 - m sin²: twice the derivative of F by m.",
)
for _op in (ellipkinc, ellipeinc):
    within("special")(_op)
