"""Activation functions that torch computes in one step, and their slopes.

Formulas and programs never hold these ops; they hold what the ops mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.op import Op, elementwise
from symgrad.ops.elementwise.arithmetic import detach, static_number
from symgrad.ops.elementwise.select import abs_, logical_not, masked, sign, where
from symgrad.ops.elementwise.smooth import cosh, exp, expm1, sigmoid, softplus, sqrt, tanh
from symgrad.ops.rules.constants import PI, exact
from symgrad.ops.rules.slopes import slope_of
from symgrad.ops.special.common import erf
from symgrad.precision import gauss, halves, single


def _neuron(name: str, kernel: Any, *partials: Any, **fields: Any) -> Op:
    """An op that formulas spell out; numbers among its operands are constants."""
    return elementwise(
        name, kernel, *partials, **{"public": (), "spelled": True, "domain": "real", "refuses": "buic", **fields}
    )


bent: Op = _neuron(
    "bent",
    np.expm1,
    lambda out, x: exp(x),
    single=single.smooth(np.expm1),
    refuses="",
    define=lambda x: expm1(x),
    doc="e^x - 1 with e^x itself for a slope, where expm1 takes its result and 1.",
)


# ------------------------------------------------------------------------------------------ gates


def _density(x: Any) -> Any:
    return 1 / sqrt(exact(2) * PI) * exp(-(x * x) / 2)


def _below(x: Any) -> Any:
    return (1 + erf(x / sqrt(exact(2)))) / 2


def _gelu_rise(x: Any) -> Any:
    return _below(x) + x * _density(x)


def _gelu_bend(x: Any) -> Any:
    density, square = _density(x), x * x
    return 2 * density - square * density


gelu: Op = _neuron(
    "gelu",
    kernels.gelu,
    lambda out, x: _gelu_rise(x),
    single=gauss.gelu,
    half=halves.gelu,
    dtypes="float",
    define=lambda x: x / 2 * (1 + erf(x / sqrt(exact(2)))),
    doc="x times the normal distribution function.",
)
gelu_slope: Op = slope_of(
    gelu, kernels.gelu_slope, _gelu_bend, refuses="c", single=gauss.gelu_slope, half=halves.gelu_slope
)


def _bow(x: Any) -> Any:
    return sqrt(2 / PI) * (x + 0.044715 * x**3)


def _rise(x: Any) -> Any:
    t = tanh(_bow(x))
    return (1 + t) / 2 + x / 2 * (1 - t * t) * (sqrt(2 / PI) * (1 + 3 * 0.044715 * x**2))


sech: Op = _neuron(
    "sech",
    kernels.sech,
    lambda out, x: -(out * tanh(x)),
    half=halves.sech,
    define=lambda x: 1 / cosh(x),
    expanded=True,
    spelled=False,  # of 1/cosh the derivatives are 0 · inf there
    c="1 / cosh({0})",
    parity="even",
    bounds=(0, 1),
    doc="1/cosh(x), which has derivatives of every order far out.",
)


def _second_rise(x: Any) -> Any:
    """The second derivative of gelu_by_tanh, in torch's steps."""
    bow = _bow(x)
    t, low = tanh(bow), sech(bow)
    half, flat, steep = x / 2, 1 - t * t, sqrt(2 / PI) * (1 + 3 * 0.044715 * x * x)
    flatter = 2 * low * (-low * t) * steep
    return 2 * (flat / 2 * steep) + half * steep * flatter + half * flat * (6 * 0.044715 * x * sqrt(2 / PI))


gelu_by_tanh: Op = _neuron(
    "gelu_by_tanh",
    kernels.gelu_by_tanh,
    lambda out, x: _rise(x),
    dtypes="float",
    single=single.gelu_by_tanh,
    define=lambda x: x / 2 * (1 + tanh(_bow(x))),
    doc="gelu with tanh in place of the error function.",
)
gelu_by_tanh_slope: Op = slope_of(
    gelu_by_tanh, kernels.gelu_by_tanh_slope, _second_rise, refuses="c", single=single.gelu_by_tanh_slope
)


silu: Op = _neuron(
    "silu",
    kernels.gated_by_itself,
    lambda out, x: sigmoid(x) * (1 + x * (1 - sigmoid(x))),
    dtypes="float",
    refuses="bui",
    single=single.real(lambda x: single.gated(x, x), kernels.gated_by_itself),
    imaginary=kernels.complex_gated_by_itself,
    define=lambda x: x * sigmoid(x),
    once=True,
    doc="x times the logistic function of x.",
)


def _silu_vjp(g: Any, out: Any, x: Any) -> Any:
    s = sigmoid(x)
    return g * s * (1 + x * (1 - s))


silu.vjps = silu.jvps = (_silu_vjp,)
glu: Op = _neuron(
    "glu",
    kernels.glu,
    lambda out, x, gate: sigmoid(gate),
    lambda out, x, gate: x * (1 - sigmoid(gate)) * sigmoid(gate),
    dtypes="float",
    single=single.glu,
    define=lambda x, gate: x * sigmoid(gate),
    doc="x times the logistic function of a gate; these alone are kept.",
)


def _gate_vjp(g: Any, out: Any, x: Any, gate: Any) -> Any:
    s = sigmoid(gate)
    return g * x * (1 - s) * s


glu.vjps = glu.jvps = (glu.vjps[0], _gate_vjp)


def _mish_slope(out: Any, x: Any) -> Any:
    t = tanh(softplus(x))
    return t + x * sigmoid(x) * (1 - t * t)


mish: Op = _neuron(
    "mish",
    kernels.mish,
    _mish_slope,
    dtypes="float",
    single=single.mish,
    define=lambda x: x * tanh(softplus(x)),
    once=True,
    doc="x times tanh of its softplus.",
)


# ------------------------------------------------------------------------------------------ pieces


def _inside(x: Any) -> Any:
    return (x > -3) & (x < 3)


def _sloped_inside(x: Any) -> Any:
    """x, whose slope is 0 outside of (-3, 3): nan is in no piece, and stays nan."""
    return where(_inside(x), x, detach(x))


def _ramp(x: Any) -> Any:
    return where(x <= -3, 0, where(x >= 3, 1, _sloped_inside(x) / 3 + exact(1) / 2))


hardswish: Op = _neuron(
    "hardswish",
    kernels.hardswish,
    lambda out, x: _ramp(x),
    dtypes="float",
    kinks=(-3, 3),
    define=lambda x: where(x <= -3, 0, where(x >= 3, x, x * (x + 3) / 6)),
    doc="x times x/6 + 1/2, which is limited to [0, 1].",
)
hardswish_slope: Op = slope_of(
    hardswish,
    kernels.hardswish_slope,
    lambda x: masked(exact(1) / 3, (x > -3) & (x < 3)),
    rule=lambda c, out, g, x: masked(c * g / 3, (x > -3) & (x < 3)),
    refuses="c",
)


def _low(alpha: Any, scale: Any) -> Any:
    """scale alpha, one number where both are."""
    numbers = static_number(alpha), static_number(scale)
    return alpha * scale if None in numbers else numbers[0] if numbers[1] == 1 else numbers[1] * numbers[0]


def _elu(x: Any, alpha: Any, scale: Any, divisor: Any) -> Any:
    # At 0 the slope is that from below and its own slope that from above: so torch.
    low = _low(alpha, scale)
    line = x if static_number(scale) == 1 else scale * x
    if static_number(divisor) == 1 and static_number(low) != 1:
        line = where(x > 0, line, low * x)
    below = where(x >= 0, 0, x)
    return where(x >= 0, line, low * bent(below if static_number(divisor) == 1 else below / divisor))


elu: Op = _neuron(
    "elu",
    kernels.elu,
    lambda out, x, alpha, scale, divisor: elu_slope(1, x, alpha, scale, divisor),
    None,
    None,
    None,
    single=single.elu,
    dtypes="float",
    settings=(1, 2, 3),
    kinks=((0, 0.5, 1, 1),),
    define=_elu,
    samples=[lambda make: ((make("real", "n"), 0.7, 1, 1), {}), lambda make: ((make("real", "n"), 2, 1.5, 2), {})],
    doc="scale x above 0, scale alpha (e^(x/divisor) - 1) below.",
)
elu_slope: Op = _neuron(
    "elu_slope",
    kernels.elu_slope,
    lambda out, g, x, alpha, scale, divisor: elu_slope(1, x, alpha, scale, divisor),
    lambda out, g, x, alpha, scale, divisor: where(x >= 0, 0, elu_slope(g / divisor, x, alpha, scale, divisor)),
    None,
    None,
    None,
    single=single.elu_slope,
    settings=(2, 3, 4),
    define=lambda g, x, alpha, scale, divisor: where(
        x > 0, scale * g, _low(alpha, scale) / divisor * g * exp(where(x >= 0, 0, x) / divisor)
    ),
    samples=[lambda make: ((make("real", "n"), make("real", "n"), 2, 1.5, 2), {})],
    doc="A cotangent times the slope of elu.",
)
elu.vjps = elu.jvps = (
    lambda g, out, x, alpha, scale, divisor: elu_slope(g, x, alpha, scale, divisor),
    None,
    None,
    None,
)
elu_slope.vjps = elu_slope.jvps = (
    lambda c, out, g, x, alpha, scale, divisor: elu_slope(c, x, alpha, scale, divisor),
    lambda c, out, g, x, alpha, scale, divisor: where(x >= 0, 0, elu_slope(c * g / divisor, x, alpha, scale, divisor)),
    None,
    None,
    None,
)


def _beyond(x: Any, by: Any) -> Any:
    """Where x is not within a number of 0; nan is not."""
    return logical_not(abs_(x) <= by)


softshrink: Op = _neuron(
    "softshrink",
    kernels.softshrink,
    lambda out, x, by: _beyond(x, by),
    None,
    dtypes="float",
    settings=(1,),
    kinks=((-0.5, 0.5), (0.5, 0.5)),
    define=lambda x, by: where(abs_(x) <= by, 0, x - sign(x) * by),
    samples=[lambda make: ((make("real", "n"), 0.3), {})],
    doc="x moved towards 0 by a number, 0 within it.",
)
softshrink.vjps = softshrink.jvps = (lambda g, out, x, by: masked(g, _beyond(x, by)), None)
hardshrink: Op = _neuron(
    "hardshrink",
    kernels.hardshrink,
    lambda out, x, by: _beyond(x, by),
    None,
    half=halves.hardshrink,
    settings=(1,),
    structural=lambda i, x, by: _beyond(x, by),
    kinks=((-0.5, 0.5), (0.5, 0.5)),
    define=lambda x, by: where(abs_(x) <= by, 0, x),
    samples=[lambda make: ((make("real", "n"), 0.3), {})],
    doc="x, and 0 within a number of 0.",
)
hardshrink.vjps = hardshrink.jvps = softshrink.vjps


def _outside(x: Any, low: Any, high: Any) -> Any:
    return (x <= low) | (x >= high)  # where nan is not


limited: Op = _neuron(
    "limited",
    kernels.limited,
    lambda out, x, low, high: where(_outside(x, low, high), 0, 1),
    None,
    None,
    settings=(1, 2),
    refuses={"b": "Bool inputs not supported for hardtanh", "c": "hardtanh_cpu"},
    kinks=(0, 0.5),
    define=lambda x, low, high: where((x > low) & (x < high), x, where(x >= high, high, where(x <= low, low, x))),
    samples=[lambda make: ((make("real", "n"), 0, 0.5), {})],
    doc="x limited to [low, high]; derivative 0 at the bounds.",
)
limited.vjps = limited.jvps = (lambda g, out, x, low, high: where(_outside(x, low, high), 0, g), None, None)


def _plain(value: Any) -> Any:
    number = static_number(value)
    return value if number is None else number


def _rounded_size(x: Any, limit: Any, divisor: Any) -> Any:
    limit, divisor = _plain(limit), _plain(divisor)
    size = abs_(x)
    line = size - limit / 2
    # A tensor that happens to be equal is not the same.
    same = limit is divisor or (static_number(limit) is not None and limit == divisor)
    return where(size >= limit, line if same else limit / divisor * line, x * x / (2 * divisor))


rounded_size: Op = _neuron(
    "rounded_size",
    kernels.rounded_size,
    lambda out, x, limit, divisor: _limited_ratio(x, limit, divisor),
    None,
    None,
    settings=(1, 2),
    define=_rounded_size,
    samples=[lambda make: ((make("real", "n"), 0.7, 0.7), {}), lambda make: ((make("real", "n"), 0.7, 1), {})],
    doc="limit/divisor (|x| - limit/2) beyond the limit, x²/(2 divisor) within it.",
)


def _limited_ratio(x: Any, limit: Any, divisor: Any) -> Any:
    slope = limited(x, -limit, limit)
    return slope if static_number(divisor) == 1 else slope / divisor


hardsigmoid: Op = _neuron(
    "hardsigmoid",
    kernels.hardsigmoid,
    lambda out, x: where(_inside(x), exact(1) / 6, 0),
    dtypes="float",
    kinks=(-3, 3),
    define=lambda x: where(x <= -3, 0, where(x >= 3, 1, (_sloped_inside(x) + 3) / 6)),
    doc="x/6 + 1/2, limited to [0, 1].",
)
hardsigmoid.vjps = hardsigmoid.jvps = (lambda g, out, x: where(_inside(x), g / 6, 0),)
leaky: Op = _neuron(
    "leaky",
    kernels.leaky,
    lambda out, x, slope: where(x > 0, 1, slope),
    lambda out, x, slope: where(x > 0, 0, x),
    refuses={"buic": "leaky_relu_cpu"},
    settings=(1,),
    kinks=(0,),
    define=lambda x, slope: where(x > 0, x, x * slope),
    samples=[
        lambda make: ((make("real", "n"), 0.3), {}),
        lambda make: ((make("real", "n"), -2), {}),
        lambda make: ((make("real", "n", "m"), make("real", "m")), {}),
    ],
    doc="x above 0, slope x elsewhere.",
)
leaky_slope: Op = _neuron(
    "leaky_slope",
    kernels.leaky_slope,
    lambda out, g, x, slope: where(x > 0, 1, slope),
    0,
    lambda out, g, x, slope: where(x > 0, 0, g),
    define=lambda g, x, slope: where(x > 0, g, g * slope),
    samples=[
        lambda make: ((make("real", "n"), make("real", "n"), 0.3), {}),
        lambda make: ((make("real", "n", "m"), make("real", "n", "m"), make("real", "m")), {}),
    ],
    doc="A cotangent times the slope of leaky.",
)
leaky.vjps = leaky.jvps = (
    lambda g, out, x, slope: leaky_slope(g, x, slope),
    lambda g, out, x, slope: masked(g * x, logical_not(x > 0)),
)
leaky_slope.vjps = leaky_slope.jvps = (
    lambda c, out, g, x, slope: leaky_slope(c, x, slope),
    leaky_slope.vjps[1],
    lambda c, out, g, x, slope: masked(c * g, logical_not(x > 0)),
)
