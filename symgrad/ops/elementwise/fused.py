"""Ops that round as torch does: sums with a product in one step, factors that are found before they are applied.

Formulas and programs never hold these ops; they hold what the ops mean.
"""

from __future__ import annotations

from typing import Any

from symgrad import kernels
from symgrad.dtypes import float32, is_real_floating
from symgrad.op import Op, elementwise
from symgrad.ops.elementwise.arithmetic import div, ratio, static_number
from symgrad.precision import halves, single


def fits(*xs: Any) -> bool:
    """Whether operands are arrays of real floats, which is where a last digit can be saved."""
    for x in xs:
        dtype = getattr(x, "dtype", None)
        if dtype is not float32 and (dtype is None or not is_real_floating(dtype)):
            return False
    return True


def times(x: Any, factor: Any) -> Any:
    """``x * factor``, and x itself for 1."""
    return x if factor.__class__ is int and factor == 1 else x * factor


def _plus(input: Any, product: Any, value: Any) -> Any:
    number = static_number(value)
    return input - product if number == -1 else input + (product if number == 1 else product * value)


addcmul: Op = elementwise(
    "addcmul",
    kernels.addcmul,
    1,
    lambda out, input, x, y, value: times(y, value),
    lambda out, input, x, y, value: times(x, value),
    None,
    settings=(3,),
    turn=(1, 2, 3, 4),
    public=(),
    single=single.addcmul,
    define=lambda input, x, y, value: _plus(input, x * y, value),
    spelled=True,
    samples=[
        lambda make: ((make("real", "n"), make("real", "n"), make("real", "n"), 3), {}),
        lambda make: ((make("real", "n", "m"), make("real", "m"), 3, 1), {}),
        lambda make: ((make("real"), make("real"), make("real"), 1), {}),
    ],
    doc="input + value · x · y, the sum rounded once.",
)
plus_multiple: Op = elementwise(
    "plus_multiple",
    kernels.plus_multiple,
    1,
    lambda out, x, y, number: number,
    None,
    settings=(2,),
    public=(),
    half=halves.plus_multiple,
    define=_plus,
    spelled=True,
    samples=[lambda make: ((make("real", "n", "m"), make("real", "m"), 0.3), {})],
    doc="x + number · y of half precision, in torch's steps.",
)
plus_multiple.vjps = plus_multiple.jvps = (plus_multiple.vjps[0], lambda g, out, x, y, number: g * number, None)
addcdiv: Op = elementwise(
    "addcdiv",
    kernels.addcdiv,
    1,
    lambda out, input, x, y, value: value / y,
    lambda out, input, x, y, value: -value * x / (y * y),
    None,
    settings=(3,),
    saves=(2,),
    turn=(1, 2, 3, 4),
    public=(),
    define=lambda input, x, y, value: input + times(x, value) / y,
    spelled=True,
    domain="nonzero",
    samples=[lambda make: ((make("real", "n"), make("real", "n"), make("nonzero", "n"), 0.3), {})],
    doc="input + value · x / y, rounded once.",
)
addcdiv.vjps = addcdiv.jvps = (
    addcdiv.vjps[0],
    lambda g, out, input, x, y, value: g * div(value, y),
    lambda g, out, input, x, y, value: -g * (times(x, value) / (y * y)),
    None,
)
lerp: Op = elementwise(
    "lerp",
    kernels.lerp,
    lambda out, input, end, weight: 1 - weight,
    lambda out, input, end, weight: weight,
    lambda out, input, end, weight: end - input,
    turn=(2, 1, 3),
    public=(),
    single=single.lerp,
    define=lambda input, end, weight: input + weight * (end - input),
    expanded=True,
    c="fabs({2}) < 0.5 ? {0} + {2} * ({1} - {0}) : {1} + ({2} - 1) * ({1} - {0})",
    samples=[
        lambda make: ((make("real", "n"), make("real", "n"), 0.25), {}),
        lambda make: ((make("real", "n", "m"), make("real", "m"), 2), {}),
        lambda make: ((make("real", "n"), make("real", "n"), make("real", "n")), {}),
    ],
    doc="input + weight · (end - input), from the nearer of the two and rounded once.",
)
portion: Op = elementwise(
    "portion",
    kernels.portion,
    lambda out, x, number, count: number / count,
    None,
    None,
    settings=(1, 2),
    public=(),
    define=lambda x, number, count: number * x / count,
    spelled=True,
    samples=[lambda make: ((make("real", "n"), 2, 3), {})],
    doc="x · number/count, the factor found first.",
)
portion.vjps = portion.jvps = (lambda g, out, x, number, count: portion(g, number, count), None, None)
std_slope: Op = elementwise(
    "std_slope",
    kernels.std_slope,
    lambda out, g, std, count: ratio(1 / count, std),
    lambda out, g, std, count: -ratio(out, std),
    None,
    settings=(2,),
    public=(),
    define=lambda g, std, count: ratio(g, std) / count,
    spelled=True,
    domain="nonzero",
    samples=[lambda make: ((make("real", "n"), make("positive", "n"), 3), {})],
    doc="g/(std · count), divided first; 0 where std is 0.",
)
std_slope.vjps = std_slope.jvps = (
    lambda c, out, g, std, count: std_slope(c, std, count),
    lambda c, out, g, std, count: -c * ratio(out, std),
    None,
)
