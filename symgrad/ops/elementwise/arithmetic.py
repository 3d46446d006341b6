"""The operators: + - * / ** and their relatives."""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.dtypes import float32, float64, is_narrow, is_real_floating, promote
from symgrad.errors import ArgumentError, DtypeError
from symgrad.op import Op, elementwise, front, is_complex, sampling
from symgrad.op.partials import first, quotient, second
from symgrad.ops.rules import refusals, smoothness
from symgrad.ops.rules.constants import PI, exact
from symgrad.precision import digits, halves, single

_ALL = "real"


_RANKS = {"+": 1, "-": 1, "*": 2, "/": 2, "@": 2, "//": 2, "%": 2, "**": 4}
_ATOM = 9
_SIGNS = "+-*/@%<>=!&|~^"


def rank(text: str) -> int:
    """How strongly the loosest operator of a source text binds: 0 for comparisons, 9 for names, calls and numbers."""
    found = 3 if text.startswith("-") else _ATOM
    if " " not in text:
        return found
    opened = text.find("(")
    bracketed = opened >= 0 or "[" in text
    one = opened >= 0 and text[-1] == ")" and text.count("(") == 1 and "[" not in text and " " not in text[:opened]
    if one and text[0] not in _SIGNS:
        return found  # everything stands in one call
    depth = 0
    for part in text.split(" "):
        if not depth and part and part[0] in _SIGNS and not part[1:2].isalnum():
            found = min(found, _RANKS.get(part, 0))
        if bracketed:
            depth += part.count("(") + part.count("[") - part.count(")") - part.count("]")
        if not depth and part[-1:] in ",:":
            found = 0
    return found


def closed(text: str) -> str:
    """``text`` in brackets unless it is a name, a call or a plain number."""
    return text if rank(text) == _ATOM else f"({text})"


def _infix(sign: str) -> Any:
    own = _RANKS[sign]

    def code(x: str, y: str) -> str:
        if " " not in x and x[0] != "-" and " " not in y and y[0] != "-":
            return f"{x} {sign} {y}"  # names and numbers, as most operands of long programs
        left = x if rank(x) >= own and sign != "**" else closed(x)
        right = y if rank(y) > own and sign != "**" else closed(y)
        return f"{left} {sign} {right}"

    return code


def static_number(value: Any) -> Any:
    """The Python number behind a constant operand (a number or a constant formula node), else None."""
    if value.__class__ is int or value.__class__ is float:
        return value
    value = getattr(value, "number", value)
    return value if isinstance(value, (int, float, complex, Fraction)) else None


add: Op = elementwise(
    "add",
    operator.add,
    1,
    1,
    public=(),
    code=_infix("+"),
    rounds=True,
    domain=_ALL,
    digits="kernel",
    loses="activation",
    c="{0} + {1}",
    folds=("sum", "cumsum", 0),
    doc="x + y, with broadcasting.",
)
sub: Op = elementwise(
    "sub",
    operator.sub,
    1,
    -1,
    public=(),
    code=_infix("-"),
    rounds=True,
    refuses={"?": refusals.NO_DIFFERENCE},
    domain=_ALL,
    digits="kernel",
    node_by_numbers={(True, False): "RsubBackward1"},
    loses="activation",
    c="{0} - {1}",
    doc="x - y, with broadcasting.",
)
mul: Op = elementwise(
    "mul",
    operator.mul,
    second,
    first,
    public=("mul", "multiply"),
    code=_infix("*"),
    factor=True,
    domain=_ALL,
    digits="kernel",
    c="{0} * {1}",
    folds=("prod", "cumprod", 1),
    doc="x * y entry by entry, with broadcasting.",
)


div: Op = elementwise(
    "div",
    operator.truediv,
    quotient,
    lambda out, x, y: -(x / y) / y,
    public=(),
    half=halves.div,
    code=_infix("/"),
    factor=True,
    dtypes="float",
    domain="nonzero",
    digits=digits.div,
    regular=(1, "{} != 0"),
    c="{0} / {1}",
    doc="x / y entry by entry, with broadcasting.",
)


def _pulled_to_divisor(g: Any, out: Any, x: Any, y: Any) -> Any:
    """-g x/y², in double precision g x/y first: x/y² and y² of a softmax written out leave the range of numbers."""
    return -(g * (x / y)) / y if _in_doubles(g) else g * (-(x / y) / y)


def _moved_by_divisor(t: Any, out: Any, x: Any, y: Any) -> Any:
    return -(t / y) * (x / y) if _in_doubles(t) else t * (-(x / y) / y)


def _in_doubles(g: Any) -> bool:
    """Whether numbers are float64; float32 and half precision take torch's steps, to its last digit."""
    return getattr(g, "dtype", None) == float64


div.vjps = (div.vjps[0], _pulled_to_divisor)
div.jvps = (div.jvps[0], _moved_by_divisor)
by_divisor: Op = elementwise(
    "by_divisor",
    kernels.by_divisor,
    lambda out, g, x, y: -(x / y) / y,
    lambda out, g, x, y: -(g / y) / y,
    lambda out, g, x, y: 2 * (g * x) / (y * y * y),
    public=(),
    half=halves.by_divisor,
    define=lambda g, x, y: -(g * x) / y / y if _in_doubles(g) else g * (-(x / y) / y),
    spelled=True,
    domain="nonzero",
    doc="The gradient of x/y by y for a number x: as torch of the reciprocal.",
)
by_divisor.vjps = by_divisor.jvps = (
    lambda c, out, g, x, y: by_divisor(c, x, y),
    by_divisor.vjps[1],
    lambda c, out, g, x, y: by_divisor(2 * (c * (g * x) * -(1 / y)), 1, y),
)
scaled_reciprocal: Op = elementwise(
    "scaled_reciprocal",
    kernels.scaled_reciprocal,
    lambda out, y, number: -(number / y) / y,
    lambda out, y, number: 1 / y,
    public=(),
    dtypes="float",
    single=single.scaled_reciprocal,
    half=halves.scaled_reciprocal,
    node="Mul",
    define=lambda y, number: number / y,
    spelled=True,
    domain="nonzero",
    numbers="after",
    regular=(0, "{} != 0"),
    loses="digits",
    copies=True,  # torch saves 1/y
    samples=[lambda make: ((make("nonzero", "n"), 3), {})],
    doc="number / y, in float32 and below as torch: from the rounded 1/y.",
)
scaled_reciprocal.vjps = scaled_reciprocal.jvps = (
    lambda g, out, y, number: by_divisor(g, number, y),
    scaled_reciprocal.vjps[1],
)


def over_tensor(number: Any, y: Any) -> Any:
    """``number / y`` with a tensor to the right of the operator."""
    return scaled_reciprocal(y, number) if isinstance(number, (int, float)) else div(number, y)


neg: Op = elementwise(
    "neg",
    operator.neg,
    -1,
    public=("neg", "negative"),
    code=lambda x: f"-{closed(x)}",
    refuses={"b": refusals.NO_NEGATIVE},
    domain=_ALL,
    digits="kernel",
    c="-{0}",
    doc="-x.",
)


def in_dtype_of(result: Any, x: Any) -> Any:
    """A real operand in the dtype of the result or its cotangent, where a rule of torch's casts it first."""
    from symgrad.ops.reductions.sums import cast

    given, wide = getattr(x, "dtype", None), getattr(result, "dtype", None)
    if isinstance(x, (int, float)) and wide is not None and wide.kind == "c":
        return complex(x)  # whose logarithm there is, where x is negative
    if x.__class__ is bool:
        return float(x)  # of a truth value NumPy's functions make float16
    return x if given is None or wide is None or given == wide else cast(x, wide)


def _pow_base(out: Any, x: Any, y: Any) -> Any:
    number = static_number(y)
    if number is None:
        return y * x ** (y - 1)
    return _twice(x) if number == 2 else y * power(x, number - 1)


def _twice(x: Any) -> Any:
    """The slope 2x of a square; on a tensor that is followed it is 2x**1, whose own derivatives end as torch's do."""
    return 2 * (power(x, 1) if x.__class__ is not np.ndarray and getattr(x, "requires_grad", False) else x)


def _pow_exponent(out: Any, x: Any, y: Any) -> Any:
    from symgrad.ops.elementwise.smooth import log

    number = static_number(x)
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if isinstance(number, (int, Fraction)) and number > 0:
        return out * log(exact(number))
    if number is not None and number != 0:
        if is_complex(out) and not isinstance(number, complex) and number < 0:
            return out * log(-x) + mul(1j * out, PI)  # the logarithm of a real number would be nan
        return out * log(x)
    from symgrad.ops.elementwise.complex import imag, real
    from symgrad.ops.elementwise.select import eq, excepted, logical_not

    # 0**y is a constant for y that are not negative.
    above = (real(y) >= 0) & eq(imag(y), 0) if is_complex(y) else y >= 0
    return excepted(out * log(in_dtype_of(out, x)), logical_not(eq(x, 0) & above))


def _power_code(x: str, y: str) -> str:
    # NumPy refuses negative integer exponents of integers, and is slow with them on floats.
    if y == "3" and x.isidentifier():
        # As the kernel does it: NumPy's cube goes through the C library and rounds differently.
        return f"{x} * {x} * {x}"
    if y == "-2" and x.isidentifier():
        return f"1 / ({x} * {x})"
    if y == "-0.5":
        return f"1 / np.sqrt({x})"
    negative = y[:1] == "-" and y[1:].isdigit()
    return f"{closed(x)} ** {closed(y + '.0' if negative else y)}"


_rounded_power = single.libms(kernels.power) or kernels.power


def _single_power(x: Any, y: Any) -> Any:
    """Powers in single precision; those that the kernel makes of products are rounded step by step."""
    products = y.__class__ in (int, float) and y in (2, 3, -2, -0.5)
    return (kernels.power if products else _rounded_power)(x, y)


power: Op = elementwise(
    "pow",
    kernels.power,
    _pow_base,
    _pow_exponent,
    saves=(-1,),
    public=("pow",),
    single=_single_power,
    half=halves.power,
    rounds=True,
    refuses="b",
    refuses_back=refusals.base_of_power,
    code=_power_code,
    domain="positive",
    digits=digits.power,
    kinks=((0, 0), (0, 2), (-2, 3)),
    smooth=smoothness.of_power,
    numbers="setting",
    node_by_numbers={(False, False): "PowBackward1", (True, False): "PowBackward2"},
    regular=(0, "{} > 0"),
    words={"exponent": "other", "self": "input"},
    loses="digits",
    c="pow({0}, {1})",
    samples=[
        sampling.many(("positive", "n", "m"), ("real", "n", "m")),
        lambda make: ((make("real", "n", "m"), 2), {}),
        lambda make: ((make("real", "n", "m"), 3), {}),
        lambda make: ((make("off-zero", "n"), -2), {}),
        lambda make: ((make("positive", "n"), 0.5), {}),
        lambda make: ((2, make("real", "n")), {}),
        lambda make: ((make("real", "n", "m"), 0), {}),
        lambda make: ((make("real"), 1), {}),
    ],
    doc="x to the power y; x**0 has derivative 0 at x = 0, as torch.",
)


def _of_base(rule: Any) -> Any:
    """The rule of the base: x**0 is a constant, even where its slope would be infinite."""

    def of_base(g: Any, out: Any, x: Any, y: Any) -> Any:
        from symgrad.ops.elementwise.select import excepted, ne

        number = static_number(y)
        if number is None:
            return excepted(rule(g, out, x, y), ne(y, 0))
        return zeros_like(x) if number == 0 else rule(g, out, x, y)

    return of_base


power.vjps = power.jvps = (_of_base(power.vjps[0]), power.vjps[1])
power.conj_vjps = (_of_base(power.conj_vjps[0]), power.conj_vjps[1])
square: Op = elementwise(
    "square",
    np.square,
    lambda out, x: _twice(x),
    node="Pow",
    dtypes="number",
    domain=_ALL,
    define=lambda x: x**2,
    expanded=True,
    c="{0} * {0}",
    bounds=(0, math.inf),
    doc="x squared.",
)
squared_error: Op = elementwise(
    "squared_error",
    kernels.squared_error,
    lambda out, x, y: 2 * (x - y),
    lambda out, x, y: -2 * (x - y),
    public=(),
    half=halves.squared_error,
    node="MseLoss",
    turn=(1, 2),
    domain=_ALL,
    define=lambda x, y: (x - y) ** 2,
    expanded=True,
    doc="(x - y) squared.",
)
reciprocal: Op = elementwise(
    "reciprocal",
    lambda x: 1 / x,
    lambda out, x: -out * out,
    code=lambda x: f"1 / {closed(x)}",
    dtypes="float",
    domain="nonzero",
    define=lambda x: 1 / x,
    expanded=True,
    regular=(0, "{} != 0"),
    loses="digits",
    c="1 / {0}",
    doc="1/x.",
)
ratio: Op = elementwise(
    "ratio",
    kernels.ratio,
    quotient,
    lambda out, x, y: -(out * (1 / y)) if x.__class__ is int and x == 1 else -(out / y),
    weak=False,
    public=(),
    dtypes="float",
    domain="nonzero",
    kinks=(0,),
    digits=lambda mp, x, y: digits.div(mp, x, y) if y != 0 else mp.mpf(0),
    quiet="invalid",
    chooses=True,
    c="{1} == 0 ? 0 : {0} / {1}",
    doc="x / y, and 0 where y is 0: the min-norm choice in derivatives of norms, which have none themselves there.",
)


@front("add", op=add)
def add_scaled(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """input + alpha * other."""
    if alpha is not True and static_number(alpha) == 1:
        return add(input, other)
    return _with_multiple(add, input, other, alpha)


@front("sub", "subtract", op=sub)
def sub_scaled(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """input - alpha * other."""
    mask = np.bool_ in (getattr(input, "dtype", None), getattr(other, "dtype", None))
    plain = mask or (alpha is not True and static_number(alpha) == 1)
    return sub(input, other) if plain else _with_multiple(sub, input, other, alpha)


def _with_multiple(op: Op, input: Any, other: Any, alpha: Any) -> Any:
    """``op(input, alpha * other)``; real floats are added to the product before it is rounded."""
    from symgrad.ops.elementwise.fused import addcmul, plus_multiple

    dtype = getattr(input, "dtype", None)
    if (
        (dtype is float64 or dtype is float32)
        and dtype is getattr(other, "dtype", None)
        and alpha.__class__ in (int, float)
    ):
        return addcmul(input, other, alpha if op is add else -alpha, 1)
    known = getattr(input, "dtype", None) is not None and getattr(other, "dtype", None) is not None
    common = promote(input, other) if known else None
    if common is not None and common.kind != "c" and isinstance(alpha, complex):
        raise DtypeError("For non-complex input tensors, argument alpha must not be a complex number.")
    if common is not None and is_real_floating(common) and not isinstance(alpha, (complex, bool)):
        number = alpha if op is add else -alpha
        if is_narrow(common):
            return plus_multiple(input, other, number)
        return addcmul(input, other, number, 1)
    return op(input, _scaled(input, other, alpha))


def _scaled(input: Any, other: Any, alpha: Any) -> Any:
    """``other * alpha``, where alpha has no more than the kind of number that input and other have."""
    if _integral(input) and _integral(other) and isinstance(alpha, float):
        raise DtypeError("For integral input tensors, argument alpha must not be a floating point number.")
    if getattr(input, "dtype", None) == np.bool_ and getattr(other, "dtype", None) == np.bool_:
        alpha = bool(alpha)
    elif isinstance(alpha, bool):
        raise DtypeError("Boolean alpha only supported for Boolean results.")
    mine, theirs = getattr(input, "dtype", None), getattr(other, "dtype", None)
    if mine is not None and theirs is not None and mine != theirs:
        from symgrad.ops.reductions.sums import cast

        other = cast(other, promote(input, other))  # before it is scaled, or the product would be rounded twice
    return other * alpha


@front("div", "divide", "true_divide", op=div)
def div_rounded(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """input / other; ``rounding_mode`` None, "trunc" or "floor" (rounded results have derivative 0)."""
    if rounding_mode not in (None, "trunc", "floor"):
        raise ArgumentError(f"rounding_mode is None, 'trunc' or 'floor', not {rounding_mode!r}.")
    if rounding_mode is None:
        return div(input, other)
    return div_floor(input, other) if rounding_mode == "floor" else div_trunc(input, other)


def _integral(x: Any) -> bool:
    dtype = getattr(x, "dtype", None)
    return isinstance(x, int) if dtype is None else dtype.kind in "bui"


def _rounded_quotient(name: str, kernel: Any, half: Any, in_digits: Any, doc: str, c: str) -> Op:
    return elementwise(
        name,
        kernel,
        0,
        0,
        saves={0: (1,), 1: (0, 1)},
        public=(),
        node="DivBackward1",
        half=half,
        refuses="bc",
        fails=refusals.no_quotient,
        domain="nonzero",
        digits=in_digits,
        c=c,
        doc=doc,
    )


def _multiple(y: Any, factor: Any) -> sampling.Case:
    """x / y stays away from the integers, where the remainder jumps."""
    return (y * factor, y), {}


div_floor: Op = _rounded_quotient(
    "div_floor",
    np.floor_divide,
    halves.div_floor,
    digits.div_floor,
    "x / y rounded down; derivative 0.",
    c="floor_divide({0}, {1})",
)
div_trunc: Op = _rounded_quotient(
    "div_trunc",
    kernels.div_trunc,
    halves.div_trunc,
    digits.div_trunc,
    "x / y rounded towards 0; derivative 0.",
    c="div_trunc({0}, {1})",
)
floor_divide: Op = elementwise(
    "floor_divide",
    np.floor_divide,
    None,
    None,
    half=halves.div_floor,
    fails=refusals.no_quotient,
    underived="x.div(y, rounding_mode='floor') has the derivative 0.",
    code=lambda x, y: f"{closed(x)} // {closed(y)}",
    refuses="bc",
    domain="nonzero",
    digits=digits.div_floor,
    regular=(1, "{} != 0"),
    c="floor_divide({0}, {1})",
    doc="Quotient rounded down; as in torch without a derivative, which div with rounding_mode has.",
)
remainder: Op = elementwise(
    "remainder",
    kernels.remainder,
    1,
    lambda out, x, y: -div_floor(x, y),
    node_by_numbers={(False, False): "RemainderBackward1", (True, False): "RemainderBackward1"},
    code=lambda x, y: f"{closed(x)} % {closed(y)}",
    rounds=True,
    refuses="bc",
    domain="nonzero",
    fails=refusals.no_quotient,
    kinks=((0, 1), (2, 1)),
    digits=lambda mp, x, y: x - y * digits.div_floor(mp, x, y),
    numbers="within",
    regular=(1, "{} != 0"),
    c="floor_mod({0}, {1})",
    samples=[
        lambda make: _multiple(make("nonzero", "n", "m"), make("off-integer", "n", "m")),
        lambda make: _multiple(make("nonzero"), make("off-integer")),
        lambda make: _multiple(make("nonzero", "m"), make("off-integer", "n", "m")),
        lambda make: ((make("off-integer", "n", "m"), 1), {}),
    ],
    doc="x - y * floor(x/y), with the sign of y.",
)
detach: Op = elementwise(
    "detach",
    lambda x: x,
    None,
    public=(),
    code=lambda x: x,
    shares=True,
    domain=_ALL,
    digits="kernel",
    identity=True,
    c="{0}",
    doc="The same values, as a constant.",
)
unrecorded: Op = elementwise(
    "unrecorded",
    lambda x: x,
    None,
    public=(),
    code=lambda x: x,
    domain=_ALL,
    digits="kernel",
    identity=True,
    c="{0}",
    doc="What is computed without grad, for a tracer: a constant, in memory that belongs to nobody else.",
)
unrecorded.jvps = (lambda t, out, x: t,)  # forward mode follows what no graph records


clone: Op = elementwise(
    "clone",
    kernels.copied,
    1,
    code=lambda x: f"np.copy({x})",
    copy=True,
    domain=_ALL,
    digits="kernel",
    identity=True,
    c="{0}",
    doc="A copy with history.",
)


from symgrad.ops.shapes.shaping import zeros_like  # noqa: E402
