"""More functions of entries: sign copying, remainders, nan-aware extremes, angles, and complex numbers by parts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.dtypes import finfo, real_part, result_type, torch_name
from symgrad.errors import AutogradError, DtypeError, ShapeError
from symgrad.op import (
    Op,
    broadcast_shapes,
    elementwise,
    front,
    is_complex,
    lookup,
    of_reals,
    primitive,
    publish,
    sampling,
    shape_of,
)
from symgrad.op.partials import over
from symgrad.ops.calls import fits
from symgrad.ops.calls.naming import inplace, within
from symgrad.ops.calls.results import Named, named
from symgrad.ops.elementwise.arithmetic import div_trunc, power, ratio, sub_scaled
from symgrad.ops.elementwise.complex import conj, imag, real
from symgrad.ops.elementwise.select import abs_, by_parts, clamp, defined, eq, isfinite, isnan, masked, ne, where
from symgrad.ops.elementwise.smooth import cos, exp2, log, round_, sigmoid, sin
from symgrad.ops.reductions.sums import cast
from symgrad.ops.reductions.wide import rounded_once
from symgrad.ops.rules import refusals
from symgrad.ops.rules.constants import PI, exact
from symgrad.ops.rules.kinks import at_kink
from symgrad.ops.shapes.shaping import ones_like, reshape_op, zeros_like
from symgrad.precision import digits, halves, single

inplace(
    "copysign", "fmod", "fmax", "fmin", "nextafter", "ldexp", "float_power", "deg2rad", "rad2deg", "nan_to_num",
    "logit", "conj_physical", "sgn", "sign", "atan2", "arctan2", "hypot", "acos", "acosh", "asin", "asinh", "atan",
    "atanh", "cosh", "sinh", "tan", "exp2", "expm1", "log10", "log1p", "log2", "rsqrt", "frac", "clamp_max",
    "clamp_min", "remainder", "digamma", "erf", "erfc", "lgamma", "sinc", "xlogy", "logical_not", "logical_and",
    "logical_or", "logical_xor", "true_divide", "multiply", "subtract", "divide", "floor_divide", "negative",
    "absolute", "clip", "fix", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "eq", "ne", "lt", "le",
    "gt", "ge", "heaviside",
)  # fmt: skip


def _extra(name: str, kernel: Any, *partials: Any, **fields: Any) -> Op:
    fields.setdefault("dtypes", "float")
    return elementwise(name, kernel, *partials, **fields)


copysign = _extra(
    "copysign",
    np.copysign,
    lambda out, x, y: ratio(out, x),
    0,
    refuses="c",
    domain="off-zero",
    kinks=(0,),
    digits=lambda mp, x, y: -abs(x) if y < 0 else abs(x),
    c="copysign({0}, {1})",
    doc="|x| with the sign of y; derivative 0 at x = 0.",
)
fmod = _extra(
    "fmod",
    np.fmod,
    1,
    lambda out, x, y: -div_trunc(x, y),
    rounds=True,
    dtypes=None,
    refuses="bc",
    domain="nonzero",
    fails=refusals.no_quotient,
    kinks=((0, 1), (2, 1)),
    digits=lambda mp, x, y: x - y * digits.div_trunc(mp, x, y),
    c="fmod({0}, {1})",
    doc="x - y * trunc(x/y), with the sign of x.",
)
nextafter = _extra(
    "nextafter",
    np.nextafter,
    lambda out, x, y: ne(x, y),
    0,
    half=np.nextafter,
    refuses="buic",
    kinks=("x = y",),
    digits="floats",
    c="nextafter({0}, {1})",
    doc="The next number after x towards y: as x itself in derivatives.",
)
signbit = _extra(
    "signbit",
    np.signbit,
    None,
    dtypes=None,
    result=lambda *_: np.dtype(bool),
    refuses="c",
    digits=lambda mp, x: x < 0,
    c="below_zero({0})",
    doc="Whether the sign bit is set; no derivative.",
)
heaviside = _extra(
    "heaviside",
    kernels.heaviside,
    0,
    lambda out, x, y: where(eq(x, 0), ones_like(y), 0),
    kinks=((0, 0.5),),
    dtypes=None,
    refuses={"c": "heaviside is not yet implemented for complex tensors."},
    domain="off-zero",
    digits=lambda mp, x, y: mp.mpf(0) if x < 0 else y if x == 0 else mp.mpf(1),
    words={"values": "other"},
    c="heaviside({0}, {1})",
    doc="0 below 0, y where x is 0, 1 above; derivative 0, and 1 by y where x is 0.",
)


def _nan_aware(name: str, kernel: Any, wins: Any) -> Op:
    op = _extra(
        name,
        kernel,
        lambda out, x, y: at_kink(name, 0, wins(x, y) | isnan(y), x, y),
        lambda out, x, y: at_kink(name, 1, ~(wins(x, y) | isnan(y)), x, y),
        dtypes=None,
        refuses={"c": f"{name} not implemented for complex tensors."},
        kinks=("x = y",),
        among=(0, 1),
        twins=("fmin" if name == "fmax" else "fmax",),
        digits=lambda mp, x, y: x if y != y or wins(x, y) else y,
        c=f"{name}({{0}}, {{1}})",
        doc=f"The {'larger' if name == 'fmax' else 'smaller'} entry, numbers before nan; a tie gives x the gradient.",
    )
    return by_parts(op)


fmax = _nan_aware("fmax", np.fmax, lambda x, y: x >= y)
fmin = _nan_aware("fmin", np.fmin, lambda x, y: x <= y)
sigmoid2: Op = _extra(
    "sigmoid2",
    kernels.sigmoid2,
    lambda out, x: log(exact(2)) * out * sigmoid2(-x),
    public=(),
    refuses="c",
    define=lambda x: sigmoid(x * log(exact(2))),
    expanded=True,
    doc="1/(1 + 2^-x), of which σ(x log 2) has as many digits less as x log 2 is large.",
)
logaddexp2 = _extra(
    "logaddexp2",
    np.logaddexp2,
    lambda out, x, y: sigmoid2(x - y),
    lambda out, x, y: sigmoid2(y - x),
    refuses="buic",
    refuses_back=refusals.differences,
    digits=lambda mp, x, y: mp.log(mp.power(2, x) + mp.power(2, y), 2),
    c="logaddexp2({0}, {1})",
    doc="log2(2^x + 2^y) without overflow.",
)
deg2rad = _extra(
    "deg2rad",
    np.deg2rad,
    lambda out, x: PI / 180,
    public=("deg2rad", "radians"),
    refuses={"c": "deg2rad is not supported for complex tensors."},
    define=lambda x: x * (PI / 180),
    doc="Degrees in radians.",
)
rad2deg = _extra(
    "rad2deg",
    np.rad2deg,
    lambda out, x: 180 / PI,
    public=("rad2deg", "degrees"),
    refuses={"c": "rad2deg is not supported for complex tensors."},
    define=lambda x: x * (180 / PI),
    doc="Radians in degrees.",
)
mantissa_op: Op = primitive(
    "mantissa",
    lambda x: np.frexp(x)[0],
    (lambda g, out, x: g / exp2(cast(exponent_op(x), g.dtype)),),
    jvp=(lambda t, out, x: t / exp2(cast(exponent_op(x), t.dtype)),),
    entrywise=True,
    node="Frexp",
    copies=True,  # torch saves the exponents
    code=lambda x: f"np.frexp({x})[0]",
    refuses={"buic": "torch.frexp() only supports floating-point dtypes"},
    domain="off-zero",
    digits=digits.by_entry(lambda mp, x: mp.frexp(x)[0]),
    samples=[sampling.one("in-binade", "n", "m"), sampling.one("in-binade")],
    doc="The mantissa m of x = m · 2^e with |m| in [1/2, 1).",
)
exponent_op: Op = primitive(
    "exponent",
    lambda x: np.frexp(x)[1],
    (None,),
    entrywise=True,
    result=lambda dtype: np.dtype(np.int32),
    node="Frexp",
    code=lambda x: f"np.frexp({x})[1]",
    refuses={"buic": "torch.frexp() only supports floating-point dtypes"},
    domain="off-zero",
    digits=digits.by_entry(lambda mp, x: mp.frexp(x)[1]),
    samples=[sampling.one("in-binade", "n", "m"), sampling.one("in-binade")],
    doc="The exponent e of x = m · 2^e; no derivative.",
)


@front("frexp", op=mantissa_op)
def frexp(input: Any) -> Named:
    """Mantissa in [1/2, 1) and exponent of two."""
    return named("frexp")((mantissa_op(input), exponent_op(input)))


@front("ldexp")
def ldexp(input: Any, other: Any) -> Any:
    """input · 2^other, in the dtype of the input where that is one of floats and ``other`` counts in integers."""
    if getattr(other, "dtype", np.dtype(float)).kind not in "bui" or getattr(input, "dtype", other.dtype).kind in "bui":
        return _apart(input, of=(input, other))[0] * exp2(other)
    made = input * exp2(cast(other, "float64"))  # a power may be far out where the product is not
    return cast(made, input.dtype) if made.dtype != input.dtype else made


def _apart(*given: Any, of: tuple[Any, ...]) -> tuple[Any, ...]:
    """Operands, copied where one ``of`` several has a gradient: torch does not keep them, and they may change."""
    followed = any(getattr(x, "requires_grad", False) for x in of)
    return tuple(lookup("clone")(x) if followed and hasattr(x, "dtype") else x for x in given)


@front("float_power")
def float_power(input: Any, exponent: Any) -> Any:
    """input^exponent in double precision (complex when either is)."""
    kind = np.complex128 if is_complex(input, exponent) else np.float64
    base, top = (cast(x, kind) if getattr(x, "dtype", kind) != kind else x for x in (input, exponent))
    return power(base, top)


@front("rsub")
def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """other - alpha * input."""
    return sub_scaled(other, input, alpha=alpha)


@front("positive")
def positive(input: Any) -> Any:
    """The input itself."""
    return input


@front("resolve_conj")
def resolve_conj(input: Any) -> Any:
    """The input itself, or a copy of what is a conjugate of the memory that it shows."""
    return lookup("clone")(input) if hasattr(input, "is_conj") and input.is_conj() else input


@front("resolve_neg")
def resolve_neg(input: Any) -> Any:
    """The input itself, or a copy of what is a negative of the memory that it shows."""
    return lookup("clone")(input) if hasattr(input, "is_neg") and input.is_neg() else input


finite: Op = elementwise(
    "finite",
    kernels.finite,
    lambda out, x, nan, high, low: isfinite(x),
    None,
    None,
    None,
    public=(),
    settings=(1, 2, 3),
    refuses="c",
    structural=lambda i, x, nan, high, low: isfinite(x),
    define=lambda x, nan, high, low: where(
        eq(x, math.inf), high, where(eq(x, -math.inf), low, where(isnan(x), nan, x))
    ),
    spelled=True,
    domain="real",
    samples=[lambda make: ((make("real", "n"), 0.0, 2.0, -2.0), {})],
    doc="x with numbers in place of nan and of the infinities, of which the derivative is 0.",
)
finite.vjps = finite.jvps = (lambda g, out, x, nan, high, low: masked(g, isfinite(x)), None, None, None)


@front("nan_to_num")
def nan_to_num(input: Any, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> Any:
    """Numbers in place of nan (0) and of the infinities (the largest finite numbers); their derivative is 0.

    Of a complex number each part is taken by itself.
    """
    if input.dtype.kind in "bui":
        return input
    if is_complex(input):
        parts = (nan_to_num(part, nan, posinf, neginf) for part in (real(input), imag(input)))
        return complex_op(*parts)
    limits = finfo(input.dtype)
    high = float(limits.max) if posinf is None else posinf
    low = float(limits.min) if neginf is None else neginf
    return finite(input, 0.0 if nan is None else nan, high, low)


log_odds: Op = of_reals(
    "log_odds",
    kernels.log_odds,
    over(lambda out, x: defined(x * (1 - x), (x >= 0) & (x <= 1))),
    single=single.rounded(kernels.log_odds),
    half=halves.log_odds,
    domain="probability",
    kinks=(0, 1),
    define=lambda x: log(x / (1 - x)),
    doc="log(x/(1 - x)); the derivative at 0 and 1 is infinite.",
)


@front("logit")
def logit(input: Any, eps: float | None = None) -> Any:
    """log(input / (1 - input)), with ``input`` limited to [eps, 1 - eps] if given."""
    return log_odds(input if eps is None else clamp(input, eps, 1 - eps))


within("special")(logit)

# ------------------------------------------------------------------------------------------ complex numbers by parts

angle_op: Op = primitive(
    "angle",
    kernels.angle,
    (lambda g, out, x: masked(g * _angle_slope(x), ne(x, 0)) if is_complex(x) else zeros_like(x),),
    jvp=(lambda t, out, x: masked(real(conj(_angle_slope(x)) * t), ne(x, 0)) if is_complex(x) else zeros_like(x),),
    entrywise=True,
    result=real_part,
    dtypes="float",
    domain="off-zero",
    digits=digits.by_entry(lambda mp, x: mp.arg(x)),
    doc="The angle of a complex number; 0 or π for real ones, derivative 0 there and at 0.",
)


def _angle_slope(x: Any) -> Any:
    return 1j * x / abs_(x) ** 2


publish(angle_op, "angle")


@front("complex", method=False)
def complex_(real: Any, imag: Any) -> Any:
    """real + i·imag."""
    fits.parts(real, imag)
    return complex_op(real, imag)


@front("polar", method=False)
def polar(abs: Any, angle: Any) -> Any:
    """abs · (cos angle + i·sin angle)."""
    fits.parts(abs, angle)
    abs, angle = _apart(abs, angle, of=(abs, angle))
    return complex_op(abs * cos(angle), abs * sin(angle))


@front("conj_physical")
def conj_physical(input: Any) -> Any:
    """Complex conjugate."""
    return conj(input)


def _one_part(x: Any) -> np.dtype[Any]:
    return np.zeros((), x).real.dtype


def _both_parts(x: Any) -> np.dtype[Any]:
    return np.dtype(np.complex64 if x.itemsize < 8 else np.complex128)


def _complex(*sizes: int | str) -> sampling.Sample:
    """Complex values whatever the dtype asked for, in its precision."""

    def sample(make: Any) -> sampling.Case:
        value = make("real", *sizes) + 1j * make("real", *sizes)
        return (value.astype(np.result_type(make.dtype, np.complex64)),), {}

    return sample


complex_op: Op = primitive(
    "complex",
    kernels.complex_of,
    (lambda g, out, likex, likey: real(g), lambda g, out, likex, likey: imag(g)),
    jvp=(lambda t, out, likex, likey: t + 0j, lambda t, out, likex, likey: 1j * t),
    infer=broadcast_shapes,
    entrywise=True,
    result=lambda x, y: _both_parts(result_type(x, y)),
    dtypes="float",
    refuses="c",
    define=lambda x, y: x + 1j * y,
    expanded=True,
    weak=True,
    digits=digits.complex_of,
    doc="x + iy, part by part: an infinite part leaves the other what it is.",
)
view_as_real_op: Op = primitive(
    "view_as_real",
    kernels.parts_of_complex,
    (lambda g, out, like: view_as_complex_op(g),),
    linear=True,
    infer=lambda shape: (*shape, 2),
    result=_one_part,
    view=True,
    put_back=lambda whole, part: view_as_complex_op(part),
    retaken=True,
    digits=digits.parts_of_complex,
    example=([0.5 + 0j, -1.5 + 0j], {}),
    samples=[_complex("n", "m"), _complex()],
    doc="Real and imaginary parts along a new last axis.",
)
view_as_complex_op: Op = primitive(
    "view_as_complex",
    kernels.complex_values,
    (lambda g, out, like: reshape_op(view_as_real_op(g), shape=shape_of(like)),),
    linear=True,
    infer=lambda shape: shape[:-1],
    result=_both_parts,
    view=kernels.complex_of_parts,
    put_back=lambda whole, part: view_as_real_op(part),
    retaken=True,
    refuses="c",
    digits=lambda mp, x: digits.complex_of(mp, x[..., 0], x[..., 1]),
    example=([[1.0, 2.0]], {}),
    samples=[sampling.one("real", "n", 2), sampling.one("real", 2)],
    doc="The last axis, of size 2, read as real and imaginary part.",
)


@front("view_as_real", op=view_as_real_op, method=False)
def view_as_real(input: Any) -> Any:
    """Real and imaginary parts along a new last axis, as a view."""
    if not is_complex(input):
        raise DtypeError("view_as_real is only supported for complex tensors")
    if hasattr(input, "is_conj") and input.is_conj():
        raise AutogradError(
            "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can "
            "view it as real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the "
            "original."
        )
    return view_as_real_op(input)


@front("view_as_complex", op=view_as_complex_op, method=False)
def view_as_complex(input: Any) -> Any:
    """The last axis (of size 2) read as real and imaginary part, as a view where these lie side by side."""
    if is_complex(input):
        raise DtypeError("view_as_complex is only supported for floating point tensors, but got a complex one")
    if getattr(getattr(input, "dtype", None), "kind", "f") in "bui":
        raise DtypeError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
            f"{torch_name(input.dtype)}"
        )
    if shape_of(input)[-1:] != (2,):
        raise ShapeError(f"Tensor must have a last dimension of size 2, got shape {tuple(shape_of(input))}")
    if getattr(input, "_is_view", bool)() and input.stride(-1) != 1:  # a copy, in which changes would be lost
        raise AutogradError(
            f"Tensor must have a last dimension with stride 1, got strides {tuple(input.stride())}: both parts of a "
            "number lie side by side in a view. Make a copy, view_as_complex(t.contiguous())."
        )
    return view_as_complex_op(input)


@rounded_once
def _scaled_round(input: Any, decimals: int) -> Any:
    factor = 10 ** abs(decimals)
    return round_(input * factor) / factor if decimals > 0 else round_(input / factor) * factor


@front("round")
def rounded(input: Any, *, decimals: int = 0) -> Any:
    """The nearest integer, or multiple of 10^-decimals; halves to even, derivative 0."""
    return _scaled_round(input, decimals) if decimals else round_(input)
