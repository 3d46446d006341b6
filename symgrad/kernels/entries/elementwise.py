"""NumPy kernels of functions of entries that are longer than one expression.

Every function stands alone on NumPy and ``math``, so that an exported file can carry its source text.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def sigmoid(x: Any) -> Any:
    """1/(1 + e^-x), accurate in both tails; an overflowing e^-x is the right 0 and does not warn."""
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


def sigmoid2(x: Any) -> Any:
    """1/(1 + 2^-x) without overflow."""
    power = np.exp2(-np.abs(x))
    return np.where(x < 0, power, np.ones_like(power)) / (1 + power)


def sigmoid_slope(g: Any, y: Any) -> Any:
    """g (1 - y) y."""
    return g * (1 - y) * y


def tanh_slope(g: Any, y: Any, one: Any = np.ones(()), number: Any = np.float64(1)) -> Any:  # noqa: B008
    """g (1 - y²).  NumPy takes longer to read Python's 1 than to compute with few entries: ``one``, ``number``."""
    square = y * y
    kind = square.__class__
    if kind is number.__class__:
        return g * (number - square)
    if kind is not np.ndarray or square.dtype is not one.dtype:
        return g * (1 - square)
    np.subtract(one, square, square)  # memory that is new takes longer than the arithmetic
    try:
        return np.multiply(g, square, square)
    except (TypeError, ValueError):  # g has more entries, or another dtype
        return g * square


def softplus(x: Any) -> Any:
    """log(1 + e^x) without overflow."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def log_cosh(x: Any) -> Any:
    """log cosh x without overflow."""
    size = np.abs(x)
    return size + np.log1p(np.expm1(-2 * size) / 2)


def logsigmoid(x: Any) -> Any:
    """log of the sigmoid without overflow."""
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))


def log_odds(x: Any) -> Any:
    """log(x/(1 - x)); next to 1/2 by the difference from it, which is exact."""
    plain = np.log(x / (1 - x))
    near = np.abs(x - 0.5) < 0.2
    if not near.any():
        return plain
    away = np.where(near, x - 0.5, 0.0)
    return np.where(near, np.log1p(4 * away / (1 - 2 * away)), plain)[()]


def logsigmoid_slope(g: Any, x: Any) -> Any:
    """g/(1 + e^x), accurate in both tails."""
    with np.errstate(over="ignore"):
        return g / (1 + np.exp(x))


def relu(x: Any) -> Any:
    """max(x, 0); of two zeros NumPy takes the second, so that -0.0 stays what it is, as in torch."""
    return np.maximum(0, x)


def sign(x: Any) -> Any:
    """-1, 0 or 1, and 0 of nan; truth values are their own."""
    kind = getattr(x, "dtype", np.dtype(float)).kind
    if kind == "b":
        return np.logical_or(x, x)  # in memory of its own
    out = np.sign(x)
    # Only nan needs the slower way, and a sum shows it.
    if kind != "f" or (total := np.vdot(out, out)) == total:
        return out
    return np.where(np.isnan(out), 0, out)[()]


def angle(x: Any) -> Any:
    """The angle of complex numbers; 0 or π of real ones."""
    if not np.iscomplexobj(x):
        return np.where(np.isnan(x), x, np.where(x < 0, np.pi, 0)).astype(x.dtype)[()]
    # NumPy's arctangent of two float32 is up to three units off on some machines.
    return np.angle(x) if x.dtype != np.complex64 else np.angle(x.astype(np.complex128)).astype(np.float32)


def log2(x: Any) -> Any:
    """Logarithm to base 2; of complex numbers the quotient, part by part: NumPy's is off by an ulp."""
    if not np.iscomplexobj(x):
        return np.log2(x)
    out = np.array(np.log(x))
    out.real /= math.log(2)
    out.imag /= math.log(2)
    return out[()]


def complex_sign(x: Any) -> Any:
    """x/|x|, part by part: nan where both are infinite; 0 at 0."""
    if not np.iscomplexobj(x):
        return sign(x)
    out = np.empty_like(x)
    size = np.abs(x)
    size = np.where(size == 0, 1, size)
    with np.errstate(invalid="ignore"):
        out.real, out.imag = x.real / size, x.imag / size
    return out[()]


def masked(x: Any, keep: Any) -> Any:
    """x · keep, and 0 where keep is 0 whatever x is."""
    kinds = getattr(keep, "dtype", np.dtype(float)), getattr(x, "dtype", np.dtype(object))
    if kinds[0].kind != "b":
        out = x * keep
        # Only infinity and nan beside a 0 need the slower way, and a sum shows both.
        total = np.add.reduce(out, None)
        return out if total == total else np.where(keep, out, 0)[()]
    if keep.size < 4096 or kinds[1].kind != "f" or kinds[1].itemsize > 8 or np.shape(x) not in ((), keep.shape):
        return np.where(keep, x, 0)[()]
    # Bits are kept without a branch for every entry, which processors guess wrongly half of the time.
    bits = keep.astype(f"i{kinds[1].itemsize}")
    np.negative(bits, out=bits)
    bits &= x.view(bits.dtype)
    return bits.view(kinds[1])


def either(c: Any, x: Any, y: Any) -> Any:
    """x where ``c`` holds, and y elsewhere: of many floats by their bits, as in ``masked``, if ``c`` often turns."""
    if getattr(c, "size", 0) < 32768:
        out = np.where(c, x, y)
        return out if out.ndim else out[()]
    x, y = (first(p, by) if p.__class__ is float else p for p, by in ((x, y), (y, x)))
    parts = (c, x, y)
    dtype: Any = getattr(x, "dtype", None)
    if (
        not all(hasattr(p, "dtype") and p.shape in ((), c.shape) and p.flags.c_contiguous for p in parts)
        or (c.dtype.kind, dtype.kind, y.dtype) != ("b", "f", dtype)
        or dtype.itemsize > 8
    ):
        return np.where(c, x, y)
    kind, keep = np.dtype(f"i{dtype.itemsize}"), c.reshape(-1)
    sample = keep[keep.size // 2 :][:2048]
    if np.count_nonzero(sample[1:] != sample[:-1]) < 128:  # the branches are guessed right
        return np.where(c, x, y)
    out = np.empty(c.shape, kind)
    whole = out.reshape(-1)
    a, b = (p.reshape(-1).view(kind) for p in (x, y))
    for start in range(0, keep.size, 8192):  # few enough that all of them stay near
        here = slice(start, start + 8192)
        u, w = a[here] if x.shape else a, b[here] if y.shape else b
        bits = np.negative(keep[here].view(np.int8), dtype=kind)
        bits &= u ^ w
        np.bitwise_xor(bits, w, out=whole[here])
    return out.view(dtype)


def first(x: Any, by: Any) -> Any:
    """x, of which nothing is changed; a number comes back as an array's entry beside ``by``."""
    return x if hasattr(x, "dtype") else np.result_type(x, by).type(x)


def finite(x: Any, nan: Any, high: Any, low: Any) -> Any:
    """x with numbers in place of nan and of the infinities."""
    if np.isfinite(x).all():
        return x.copy()
    out = np.where(np.isnan(x), nan, x)
    return np.where(x == np.inf, high, np.where(x == -np.inf, low, out)).astype(x.dtype, copy=False)[()]


def nearest(x: Any) -> Any:
    """The nearest whole number, halves to even; integers stay what they are."""
    return x if np.issubdtype(np.asarray(x).dtype, np.integer) else np.rint(x)


def squared_error(x: Any, y: Any) -> Any:
    """(x - y) squared."""
    difference = x - y
    return difference * difference


def bce(p: Any, t: Any) -> Any:
    """-[t log p + (1 - t) log(1 - p)], with the logarithms limited to -100 from below."""
    with np.errstate(divide="ignore"):
        return -(t * np.maximum(np.log(p), -100) + (1 - t) * np.maximum(np.log1p(-p), -100))


def bce_with_logits(x: Any, t: Any) -> Any:
    """-[t log σ(x) + (1 - t) log(1 - σ(x))]: what is left of the larger logarithm, and the smaller one."""
    return np.where(x > 0, (1 - t) * x, -t * x) + np.log1p(np.exp(-np.abs(x)))


def div_trunc(x: Any, y: Any) -> Any:
    """x / y rounded towards 0; exact on integers."""
    if np.result_type(x, y).kind not in "ui":
        return np.trunc(x / y)
    down = np.floor_divide(x, y)
    return down + ((down < 0) & (down * y != x))


def remainder(x: Any, y: Any) -> Any:
    """x - y * floor(x/y); where that is zero it has the sign of x, in NumPy that of y."""
    out = np.remainder(x, y)
    return np.where(out == 0, np.copysign(out, x), out)[()] if out.dtype.kind == "f" else out


def step(x: Any, y: Any) -> Any:
    """0 where x < y, 1/2 where equal, 1 elsewhere (also beside nan), in the operands' dtype."""
    dtype = np.result_type(x, y)
    wide = dtype if dtype.kind == "f" else np.dtype(np.float32)
    out, ties = np.logical_not(np.less(x, y)).astype(wide), np.equal(x, y)
    if ties.any():
        out -= ties * wide.type(0.5)
    return out.astype(dtype, copy=False)


def heaviside(x: Any, y: Any) -> Any:
    """0 below 0, y at 0, 1 above, in the operands' dtype."""
    return np.heaviside(x, y).astype(np.result_type(x, y), copy=False)


def ratio(x: Any, y: Any) -> Any:
    """x/y, and 0 where y is 0."""
    if getattr(y, "shape", None) == () and y != 0:
        return np.divide(x, y)
    zero = np.equal(y, 0)
    if not np.any(zero):
        return np.divide(x, y)
    out = np.asarray(np.divide(x, np.where(zero, 1, y)))
    np.copyto(out, 0, where=zero)
    return out[()]


def power(x: Any, y: Any) -> Any:
    """x**y; small integer exponents by multiplication, which is several times faster."""
    if y.__class__ is int:
        if y == 2:
            return x * x
        if y == 3:
            return x * x * x
        if y == -2 and getattr(x, "dtype", np.dtype(float)).kind in "fc":
            return 1 / (x * x)
        if y < 0 and getattr(x, "dtype", np.dtype(float)).kind in "fc":
            return np.power(x, float(y))
        if y < 0 and getattr(x, "dtype", np.dtype(float)).kind == "u":  # where a number out of range is counted around
            raise ValueError("Integers to negative integer powers are not allowed.")
    elif y.__class__ is float and y == -0.5 and getattr(x, "dtype", np.dtype(float)).kind in "fc":
        return 1 / np.sqrt(x)  # as NumPy takes a root for 0.5: the powers of -0.0 and -inf are those of the root
    elif getattr(y, "dtype", np.dtype(float)).kind == "i" and np.asarray(x).dtype.kind in "ui" and np.any(y < 0):
        turned = np.where(y < 0, y & 1, y)  # powers of 1 and -1, which have no other; 1/x^|y| is rounded towards 0
        return np.where((y < 0) & (np.abs(x) != 1), 0, np.power(x, turned))[()]
    return np.power(x, y)


def erf(x: Any) -> Any:
    """The error function: few numbers through ``math.erf``, many by polynomials."""
    x = np.asarray(x)
    if x.size <= 32:
        return np.fromiter(map(math.erf, x.ravel().tolist()), x.dtype, x.size).reshape(x.shape)[()]
    if x.size > 32768:
        return in_stretches(erf, x)
    y = x.astype(np.float64)
    size = np.abs(y)
    out = y * erf_ratio(np.minimum(size, 1))
    above = size > 1
    if above.any():
        out[above] = np.copysign(1 - erfc_tail(size[above]), y[above])
    return out.astype(x.dtype, copy=False)


def erfc(x: Any) -> Any:
    """The complementary error function: few numbers through ``math.erfc``, many by polynomials."""
    x = np.asarray(x)
    if x.size <= 32:
        return np.fromiter(map(math.erfc, x.ravel().tolist()), x.dtype, x.size).reshape(x.shape)[()]
    if x.size > 32768:
        return in_stretches(erfc, x)
    y = x.astype(np.float64)
    size = np.abs(y)
    out = 1 - y * erf_ratio(np.minimum(size, 0.65))
    above = size > 0.65
    if above.any():
        tail = erfc_tail(size[above])
        out[above] = np.where(y[above] > 0, tail, 2 - tail)
    return out.astype(x.dtype, copy=False)


def erf_ratio(x: Any) -> Any:
    """erf(x)/x for x up to 1: the Chebyshev interpolant in x²."""
    coefs = (
        -7.795898827002142e-10, 1.3720064546777686e-08, -1.6208483801871705e-07, 1.6447424703317362e-06,
        -1.492473690741966e-05, 0.00012055294904839707, -0.0008548325975389692, 0.0052239776071164225,
        -0.02686617064323777, 0.11283791670945006, -0.37612638903183543, 1.1283791670955126,
    )  # fmt: skip
    return polynomial(x * x, coefs)


def erfc_tail(x: Any) -> Any:
    """erfc(x) from 0.65 on."""
    x = np.minimum(x, 27.3)  # of what is larger, and of this, it is 0
    top = np.round(x * 16) / 16  # e^(-x²) in two factors: the rounding of x² would cost digits
    bell = np.exp(-top * top) * np.exp((top - x) * (top + x))
    return bell * erfc_scaled(x)


def erfc_scaled(x: Any) -> Any:
    """e^(x²) erfc(x) from 0.65 to 27.3: the Chebyshev interpolant in 1/(x + 2)."""
    coefs = (
        -2.898802540943646e-11, 3.6731191904305564e-11, 2.52516787402007e-10, -5.977632381172524e-10,
        -6.51395361208764e-10, 4.607091255466537e-09, -4.710490433183797e-09, -2.0155468041029238e-08,
        6.985133685853393e-08, 1.4389946163916426e-08, -5.366096702421938e-07, 7.397904155166412e-07,
        3.2688449161348708e-06, -1.0411469959502486e-05, -1.9043104412812937e-05, 0.00011637930839312587,
        0.00015880742391316313, -0.0013662411429790683, -0.0032200787427442952, 0.01589638695660195,
        0.12065803122415235, 0.4062701208781077, 0.9088930905741902,
    )  # fmt: skip
    s = 1 / (x + 2)
    return s * polynomial(5.8330170777988615 * s - 1.2011385199240987, coefs)


def polynomial(x: Any, coefs: tuple[float, ...]) -> Any:
    """A polynomial by Horner's rule, the highest power first."""
    out = x * coefs[0]
    for c in coefs[1:-1]:
        out += c
        out *= x
    out += coefs[-1]
    return out


def in_stretches(kernel: Any, x: Any, *params: Any) -> Any:
    """A kernel of many steps on a large array, a stretch at a time: what the steps make then stays in the cache."""
    order: Any = "F" if x.flags.fnc else "C"
    flat = x.ravel(order)
    parts = [kernel(flat[k : k + 8192], *params) for k in range(0, flat.size, 8192)]
    return np.concatenate(parts).reshape(x.shape, order=order)


def in_doubles(kernel: Any) -> Any:
    """A kernel of float64 as one of any floats, which are computed in that and rounded once; many, in stretches."""

    def call(x: Any, *args: Any, **params: Any) -> Any:
        x = np.asarray(x)
        if x.size > 32768:
            return in_stretches(lambda part: call(part, *args, **params), x)
        return kernel(x.astype(np.float64), *args, **params).astype(x.dtype, copy=False)[()]

    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(call, name, getattr(kernel, name))
    call.__dict__["__wrapped__"] = kernel
    return call


def in_stretches_of(kernel: Any, xs: Any, *params: Any, size: int = 8192) -> Any:
    """:func:`in_stretches` for a kernel of several arrays, which are broadcast, and of ``size`` entries at a time."""
    shape = np.broadcast_shapes(*(np.shape(x) for x in xs))
    count = math.prod(shape)
    if count <= 2 * size:
        return kernel(*xs, *params)
    rows = [x if np.ndim(x) == 0 else np.broadcast_to(x, shape).ravel() for x in xs]
    steps = (slice(k, k + size) for k in range(0, count, size))
    parts = [kernel(*(x if np.ndim(x) == 0 else x[step] for x in rows), *params) for step in steps]
    return np.concatenate(parts).reshape(shape)


def of_doubles(kernel: Any, xs: Any, *params: Any, size: int = 8192) -> Any:
    """What :func:`in_doubles` makes of a kernel of several arrays, which come broadcast; ``size`` entries at a time."""
    dtype = np.result_type(*xs)  # of numbers as given: beside arrays they are weak

    def part(*xs: Any) -> Any:
        return kernel(*np.broadcast_arrays(*(np.asarray(x).astype(np.float64) for x in xs)), *params)

    return in_stretches_of(part, xs, size=size).astype(dtype, copy=False)[()]


def half_turns(x: Any) -> tuple[Any, Any]:
    """sin(πx) and cos(πx); whole numbers are taken off before π comes in, which is exact: digits stay far out."""
    whole = np.round(x)
    rest = np.pi * (x - whole)
    sign = 1 - 2 * np.fmod(np.abs(whole), 2)
    return sign * np.sin(rest), sign * np.cos(rest)


def sinc(x: Any) -> Any:
    """sin(πx)/(πx), 1 at 0; at other whole numbers what torch and NumPy have, the sine of the rounded πx and not 0."""
    if x.dtype != np.float64:  # in float32 as torch, of the rounded angle
        return np.sinc(x).astype(x.dtype, copy=False)[()]
    with np.errstate(invalid="ignore", over="ignore"):
        y = np.where(x == 0, 1e-20, x)
        sine, turn = half_turns(y)[0], np.pi * y
        whole = sine == 0
        if np.any(whole):
            sine = np.where(whole, np.sin(turn), sine)
        return (sine / turn)[()]


def dsinc(x: Any) -> Any:
    """The derivative of sinc, by its series near 0."""
    with np.errstate(over="ignore"):
        t = np.pi * np.asarray(x, np.result_type(x, np.float64))
    near = np.abs(t) < 2
    u = np.where(near, 4.0, t)
    t2 = np.where(near, t, 0) ** 2
    series = np.ones_like(t)
    for k in range(24, 0, -2):
        series = 1 - t2 / (k * (k + 3)) * series
    with np.errstate(invalid="ignore"):
        sine, cosine = (np.sin(u), np.cos(u)) if t.dtype.kind == "c" else half_turns(np.where(near, 1.0, x))
        out = np.pi * np.where(near, -t / 3 * series, (cosine - sine / u) / u)
    return out.astype(np.result_type(x), copy=False)[()]


def fused(a: Any, b: Any, c: Any) -> Any:
    """a b + c, rounded once in float32 and float64, as processors do."""
    if a.dtype == np.float32:
        return (a.astype(np.float64) * b + c).astype(np.float32)
    if a.dtype != np.float64:
        return a * b + c
    with np.errstate(over="ignore", invalid="ignore"):
        exact = _rounded_once(a, b, c)
        known = np.isfinite(exact)
        if np.all(known):
            return exact
        # Halves of what is large overflow: those of a part of it do not.
        exact = np.where(known, exact, np.ldexp(_rounded_once(*map(np.ldexp, (a, b, c), (-100, -100, -200))), 200))
        return np.where(np.isfinite(exact), exact, a * b + c)


def _rounded_once(a: Any, b: Any, c: Any) -> Any:
    """a b + c of float64, where none of its parts overflows."""
    product = a * b
    # The rounding errors of the product (Dekker) and of the sum (Knuth) are floats themselves.
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    lost = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    total = product + c
    shift = total - product
    return total + (((product - (total - shift)) + (c - shift)) + lost)


def _halves(x: Any) -> tuple[Any, Any]:
    """Two floats of half the digits, which add up to ``x``."""
    shifted = x * 134217729.0
    high = shifted - (shifted - x)
    return high, x - high


def logaddexp(x: Any, y: Any) -> Any:
    """log(e^x + e^y) without overflow; NumPy's has no complex numbers.

    At infinities and nan it is what the real function is: inf of two inf, -inf of two -inf (with the angle of the
    second, as in torch), nan where either is.
    """
    if np.result_type(x, y).kind != "c":
        return np.logaddexp(x, y)
    larger = np.real(x) >= np.real(y)
    top, low = np.where(larger, x, y), np.where(larger, y, x)
    nothing = np.real(top) == -np.inf
    with np.errstate(invalid="ignore", over="ignore"):  # inf - inf, which is not chosen, and e^inf
        total = np.where(nothing, low, top + np.log1p(np.exp(low - np.where(nothing, 0, top))))
        both = np.real(low) == np.inf
        if both.any():
            total = np.where(both, np.log(np.exp(np.where(both, low, 0)) + np.exp(np.where(both, top, 0))), total)
    return np.where(np.isnan(x) | np.isnan(y), total.dtype.type(complex(np.nan, np.nan)), total)[()]


def shifted_exp(x: Any, y: Any) -> Any:
    """e^(x - y), and 0 where both are -inf."""
    limits = np.where(np.real(y) == -np.inf, 0, y)
    return np.exp(np.subtract(x, limits, dtype=np.result_type(x, y)))[()]  # a chosen number is not as weak


def parts_of_complex(x: Any) -> Any:
    """Real and imaginary parts along a new last axis, in the memory of ``x``; numbers of formulas may be real."""
    x = np.asarray(x)
    x = x if x.dtype.kind == "c" else x.astype(np.result_type(x, np.complex64))
    return x[..., None].view(x.real.dtype)


def complex_values(x: Any) -> Any:
    """:func:`complex_of_parts` with a scalar for a single number."""
    return complex_of_parts(x)[()]


def complex_of(x: Any, y: Any) -> Any:
    """x + iy without arithmetic."""
    dtype = np.result_type(x, y, np.complex64)  # while plain numbers are still that
    x, y = np.broadcast_arrays(x, y)
    out = np.empty(x.shape, dtype)
    out.real, out.imag = x, y
    return out[()]


def complex_of_parts(x: Any) -> Any:
    """The last axis read as real and imaginary part, in the memory of ``x`` where they lie side by side."""
    if x.dtype.itemsize < 4:
        x = x.astype(np.float32)
    if x.strides[-1] != x.dtype.itemsize:
        x = np.ascontiguousarray(x)
    return x.view(np.complex64 if x.dtype.itemsize == 4 else np.complex128)[..., 0]


def as_floats_of(value: Any, *operands: Any) -> Any:
    """A value in the dtype of its operands, which NumPy would widen; that of whole numbers is one of floats."""
    dtype = np.result_type(*operands)
    return (value.astype(dtype, copy=False) if dtype.kind in "fc" else value)[()]


def xlogy(x: Any, y: Any) -> Any:
    """x log y, and 0 where x is 0 and y is a number."""
    zero = np.equal(x, 0) & ~np.isnan(y)
    return as_floats_of(np.where(zero, 0, x * np.log(np.where(zero, 1, y))), x, y)


def xlog1py(x: Any, y: Any) -> Any:
    """x log(1 + y), and 0 where x is 0 and y is a number."""
    zero = np.equal(x, 0) & ~np.isnan(y)
    return as_floats_of(np.where(zero, 0, x * np.log1p(np.where(zero, x, y))), x, y)


def xlogy_slope(g: Any, x: Any, y: Any) -> Any:
    """g log y, and 0 where g is, or where x is 0 and y not positive."""
    past = np.equal(x, 0) & np.less_equal(y, 0)
    return as_floats_of(np.where(past, 0, xlogy(g, np.where(past, 1, y))), g, x, y)


def xlog1py_slope(g: Any, x: Any, y: Any) -> Any:
    """g log(1 + y), and 0 where g is, or where x is 0 and y not above -1."""
    past = np.equal(x, 0) & np.less_equal(y, -1)
    return as_floats_of(np.where(past, 0, xlog1py(g, np.where(past, 0, y))), g, x, y)


def entr(x: Any) -> Any:
    """-x log x, 0 at 0, and -inf below."""
    x = np.asarray(x)
    inside = np.where(x > 0, x, 1)
    value = np.where(x < 0, -np.inf, np.where(np.isnan(x), x, -inside * np.log(inside)))
    return value.astype(x.dtype, copy=False)[()]
