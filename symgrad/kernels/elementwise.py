"""NumPy kernels longer than one expression.

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


def sigmoid_slope(g: Any, y: Any) -> Any:
    """g (1 - y) y."""
    return g * (1 - y) * y


def tanh_slope(g: Any, y: Any) -> Any:
    """g (1 - y²)."""
    return g * (1 - y * y)


def softplus(x: Any) -> Any:
    """log(1 + e^x) without overflow."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def logsigmoid(x: Any) -> Any:
    """log of the sigmoid without overflow."""
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))


def logsigmoid_slope(g: Any, x: Any) -> Any:
    """g/(1 + e^x), accurate in both tails."""
    with np.errstate(over="ignore"):
        return g / (1 + np.exp(x))


def relu(x: Any) -> Any:
    """max(x, 0)."""
    return np.maximum(x, 0)


def sign(x: Any) -> Any:
    """-1, 0 or 1, and 0 of nan; truth values are their own."""
    kind = getattr(x, "dtype", np.dtype(float)).kind
    if kind == "b":
        return np.logical_or(x, x)  # in memory of its own
    return np.where(np.isnan(x), 0, np.sign(x))[()] if kind == "f" else np.sign(x)


def angle(x: Any) -> Any:
    """The angle of complex numbers; 0 or π of real ones."""
    return (
        np.angle(x) if np.iscomplexobj(x) else np.where(np.isnan(x), x, np.where(x < 0, np.pi, 0)).astype(x.dtype)[()]
    )


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
    out = x * keep
    # Only infinity and nan beside a 0 need the slower way, and a sum shows both.
    total = np.add.reduce(out, None)
    return out if total == total else np.where(keep, out, 0)[()]


def nearest(x: Any) -> Any:
    """The nearest whole number, halves to even; integers stay what they are."""
    return x if np.issubdtype(np.asarray(x).dtype, np.integer) else np.rint(x)


def squared_error(x: Any, y: Any) -> Any:
    """(x - y) squared."""
    difference = x - y
    return difference * difference


def surprise(p: Any, t: Any) -> Any:
    """-[t log p + (1 - t) log(1 - p)], with the logarithms limited to -100 from below."""
    with np.errstate(divide="ignore"):
        return -(t * np.maximum(np.log(p), -100) + (1 - t) * np.maximum(np.log1p(-p), -100))


def div_trunc(x: Any, y: Any) -> Any:
    """x / y rounded towards 0; exact on integers."""
    if np.result_type(x, y).kind not in "ui":
        return np.trunc(x / y)
    down = np.floor_divide(x, y)
    return down + ((down < 0) & (down * y != x))


def step(x: Any, y: Any) -> Any:
    """0 where x < y, 1/2 where equal, 1 elsewhere (also beside nan), in the operands' dtype."""
    out = np.float16(1) - np.less(x, y) - np.equal(x, y) * np.float16(0.5)
    return out.astype(np.result_type(x, y), copy=False)


def heaviside(x: Any, y: Any) -> Any:
    """0 below 0, y at 0, 1 above, in the operands' dtype."""
    return np.heaviside(x, y).astype(np.result_type(x, y), copy=False)


def ratio(x: Any, y: Any) -> Any:
    """x/y, and 0 where y is 0."""
    zero = np.equal(y, 0)
    return np.where(zero, 0, x / np.where(zero, 1, y))[()]


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
    elif y.__class__ is float and y == -0.5 and getattr(x, "dtype", np.dtype(float)).kind in "fc":
        return 1 / np.sqrt(x)  # as NumPy takes a root for 0.5: the powers of -0.0 and -inf are those of the root
    elif getattr(y, "dtype", np.dtype(float)).kind == "i" and np.asarray(x).dtype.kind in "ui" and np.any(y < 0):
        return np.where((y < 0) & (np.abs(x) != 1), 0, np.power(x, np.abs(y)))[()]  # 1/x^|y| rounded towards 0
    return np.power(x, y)


def erf(x: Any) -> Any:
    """The error function, entry by entry through ``math.erf``."""
    x = np.asarray(x)
    return np.asarray(np.frompyfunc(math.erf, 1, 1)(x)).astype(x.dtype)[()]


def erfc(x: Any) -> Any:
    """The complementary error function, entry by entry through ``math.erfc``."""
    x = np.asarray(x)
    return np.asarray(np.frompyfunc(math.erfc, 1, 1)(x)).astype(x.dtype)[()]


def in_stretches(kernel: Any, x: Any, *params: Any) -> Any:
    """A kernel of many steps on a large array, a stretch at a time: what the steps make then stays in the cache."""
    order: Any = "F" if x.flags.fnc else "C"
    flat = x.ravel(order)
    parts = [kernel(flat[k : k + 16384], *params) for k in range(0, flat.size, 16384)]
    return np.concatenate(parts).reshape(x.shape, order=order)


def lgamma(x: Any) -> Any:
    """log|Γ(x)| through ``math.lgamma``, of many entries from 3 on by Stirling's series; +inf at poles and far out."""
    x = np.asarray(x)
    if x.size > 32768:
        return in_stretches(lgamma, x)
    y = x.astype(np.float64)
    infinite = ((y <= 0) & (y == np.floor(y))) | (np.abs(y) > 2.5e305)
    known = np.where(infinite, 1.0, y)
    alone = ~(known >= 3) | (known.size <= 1024)
    out = known if alone.all() else stirling(np.maximum(known, 3.0))
    out[alone] = np.fromiter(map(math.lgamma, known[alone].tolist()), np.float64)
    # Whole numbers meet this function inside of derivatives: their logarithms are not whole.
    return np.where(infinite, np.inf, out).astype(np.result_type(x, np.float16))[()]


def stirling(x: Any) -> Any:
    """log Γ(x) for x >= 3: recurrence up to x >= 10, then the asymptotic series (DLMF 5.11.1)."""
    small = x < 10
    low = np.where(small, x, 1.0)
    product = np.array(low)
    for _ in range(6):
        low += 1
        product *= low
    y = np.where(small, low + 1, x)
    inverse = 1 / y
    square = inverse * inverse
    series = np.full_like(y, -691 / 360360)
    for coefficient in (1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12):
        series *= square
        series += coefficient
    out = (y - 0.5) * np.log(y) - y + math.log(2 * math.pi) / 2 + series * inverse
    return np.where(small, out - np.log(product), out)


def inverse_power(a: Any, s: Any) -> Any:
    """a^(-s), by products where s is a small whole number."""
    if np.ndim(s) or s not in range(1, 17):
        return a**-s
    inverse = out = 1 / a
    for _ in range(int(s) - 1):
        out = out * inverse
    return out


def zeta(s: Any, a: Any) -> Any:
    """Hurwitz zeta Σ (a+k)^-s for s > 1, a > 0, by Euler-Maclaurin (DLMF 25.11.5)."""
    a = np.asarray(a, np.float64)
    n = 12
    total = np.zeros_like(a)
    for k in range(n):
        total = total + inverse_power(a + k, s)
    b = a + n
    last = inverse_power(b, s)
    total = total + inverse_power(b, s - 1) / (s - 1) + last / 2
    factor = s * last / b
    bernoulli = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000)
    for k, coefficient in enumerate(bernoulli):
        total = total + coefficient * factor
        factor = factor * (s + 2 * k + 1) * (s + 2 * k + 2) / (b * b)
    return total


def digamma(x: Any) -> Any:
    """ψ(x): recurrence up to x >= 12, then the asymptotic series (DLMF 5.11.2); reflection for x < 0."""
    x = np.asarray(x)
    if x.size > 32768:
        return in_stretches(digamma, x)
    work = x.astype(np.float64)
    negative = work < 0
    pole = (work <= 0) & (work == np.floor(work))
    y = np.where(negative, 1 - work, np.where(work == 0, 1.0, work))
    small = y < 12
    first = np.where(small, y, 1.0)
    steps = np.zeros_like(y)
    for k in range(11, -1, -1):
        steps -= 1 / (first + k)
    out = np.where(small, steps, 0.0)
    y = np.where(small, y + 12, y)
    t = 1 / (y * y)
    series = t * (1 / 12 - t * (1 / 120 - t * (1 / 252 - t * (1 / 240 - t * (1 / 132 - t * 691 / 32760)))))
    out = out + np.log(y) - 1 / (2 * y) - series
    if negative.any():
        turn = np.where(negative & ~pole, work, 0.5)
        out = np.where(negative, out - np.pi / np.tan(np.pi * turn), out)
    out = np.where(pole, np.where(work == 0, np.copysign(np.inf, -work), np.nan), out)
    return out.astype(x.dtype, copy=False)[()]


def polygamma(x: Any, n: int) -> Any:
    """ψ⁽ⁿ⁾(x) through the Hurwitz zeta function (DLMF 5.15.1); reflection (5.15.6) for x < 0."""
    if n == 0:
        return digamma(x)
    x = np.asarray(x)
    if x.size > 32768:
        return in_stretches(polygamma, x, n)
    work = x.astype(np.float64)
    negative = work < 0
    out = (-1) ** (n + 1) * math.factorial(n) * zeta(n + 1.0, np.where(negative, 1 - work, work))
    if negative.any():
        with np.errstate(invalid="ignore"):
            cot = 1 / np.tan(np.pi * np.where(negative, work, 0.5))
        slope = [0.0, 1.0]  # d/dx c(cot πx) = -π (1 + cot²) c'(cot)
        for _ in range(n):
            steps = [-np.pi * k * slope[k] for k in range(1, len(slope))]
            slope = [a + b for a, b in zip([*steps, 0.0, 0.0], [0.0, 0.0, *steps], strict=True)]
        turned = np.zeros_like(cot)
        for coefficient in reversed(slope):
            turned = turned * cot + coefficient
        out = np.where(negative, (-1) ** n * out - np.pi * turned, out)
        if n > 1:
            out = np.where(negative & (work == np.floor(work)), (-1) ** (n + 1) * np.inf, out)
    return out.astype(x.dtype, copy=False)[()]


def sinc(x: Any) -> Any:
    """sin(πx)/(πx), 1 at 0."""
    return np.sinc(x).astype(x.dtype, copy=False)[()]


def dsinc(x: Any) -> Any:
    """The derivative of sinc, by its series near 0."""
    t = np.pi * np.asarray(x, np.result_type(x, np.float64))
    near = np.abs(t) < 0.5
    u = np.where(near, 1.0, t)
    t2 = t * t
    series = -t / 3 * (1 - t2 / 10 * (1 - t2 / 28 * (1 - t2 / 54 * (1 - t2 / 88 * (1 - t2 / 130)))))
    out = np.pi * np.where(near, series, (u * np.cos(u) - np.sin(u)) / (u * u))
    return out.astype(np.result_type(x), copy=False)[()]


def _delta(x: Any, where: tuple[int, ...]) -> Any:
    """Spread ``x`` over an output with repeated axes: ``out[i, i, j] = x[i, j]`` for ``where=(0, 0, 1)``."""
    out = np.zeros(tuple(x.shape[k] for k in where), x.dtype)
    grids = np.ogrid[tuple(slice(n) for n in x.shape)]
    out[tuple(grids[k] for k in where)] = x
    return out


def embed(x: Any, dim: int, start: int, size: int) -> Any:
    """Zeros with ``x`` in the range of the axis ``dim`` that begins at ``start``."""
    out = np.zeros((*x.shape[:dim], size, *x.shape[dim + 1 :]), x.dtype)
    out[(slice(None),) * dim + (slice(start, start + x.shape[dim]),)] = x
    return out


def fused(a: Any, b: Any, c: Any) -> Any:
    """a b + c, rounded once in float32 and float64, as processors do."""
    if a.dtype == np.float32:
        return (a.astype(np.float64) * b + c).astype(np.float32)
    if a.dtype != np.float64:
        return a * b + c
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


def index_put(x: Any, value: Any, index: Any) -> Any:
    """A copy of ``x`` with ``x[index] = value``."""
    out = np.array(x)
    out[index] = value
    return out


def scatter(g: Any, index: Any, dim: int, shape: tuple[int, ...]) -> Any:
    """Zeros of ``shape`` with ``g`` added along the axis ``dim`` at the places ``index``; repeated places add up."""
    if g.dtype == np.float64 and index.size > 32768 and g.shape == index.shape:
        # Lines are counted sooner than entries are added; the sums are the same, in the same order.
        lines = np.moveaxis(index, dim, -1)
        if lines.shape[:-1] == (*shape[:dim], *shape[dim + 1 :]):
            size = shape[dim]
            flat = lines.reshape(-1, lines.shape[-1]) % size
            places = (flat + np.arange(len(flat))[:, None] * size).ravel()
            sums = np.bincount(places, np.moveaxis(g, dim, -1).ravel(), len(flat) * size)
            return np.ascontiguousarray(np.moveaxis(sums.reshape(*lines.shape[:-1], size), -1, dim))
    out = np.zeros(shape, g.dtype)
    grids = list(np.ogrid[tuple(slice(n) for n in index.shape)])
    grids[dim] = index
    np.add.at(out, tuple(grids), g)
    return out


def logaddexp(x: Any, y: Any) -> Any:
    """log(e^x + e^y) without overflow; NumPy's has no complex numbers."""
    if np.result_type(x, y).kind != "c":
        return np.logaddexp(x, y)
    larger = np.real(x) >= np.real(y)
    top, low = np.where(larger, x, y), np.where(larger, y, x)
    return (top + np.log1p(np.exp(low - np.where(np.real(top) == -np.inf, 0, top))))[()]


def shifted_exp(x: Any, y: Any) -> Any:
    """e^(x - y), and 0 where both are -inf."""
    return np.exp(x - np.where(np.real(y) == -np.inf, 0, y))[()]


def _largest(x: Any, dim: Any) -> Any:
    """The maximum along axes that stay; -inf where there are no entries.  Integers have no such value."""
    if not x.size:
        return np.full(np.sum(x, dim, keepdims=True).shape, -np.inf if x.dtype.kind == "f" else 0, x.dtype)
    if x.dtype.kind == "f":
        return np.max(x, dim, keepdims=True, initial=-np.inf)
    return np.max(x, dim, keepdims=True)


def logsumexp(x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    """log Σ e^x, shifted by the maximum; -inf for all -inf, +inf when an entry is."""
    top = _largest(x.real, dim)
    top = np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore"):
        out = np.log(np.sum(np.exp(x - top), dim, keepdims=True)) + top
    return out if keepdim else np.squeeze(out, dim)[()]


def softmax(x: Any, dim: int) -> Any:
    """e^x / Σ e^x along one axis, shifted by the maximum."""
    if not x.size:
        return np.copy(x)
    e = np.exp(x - _largest(x, dim))
    return e / np.sum(e, dim, keepdims=True)


def log_softmax(x: Any, dim: int) -> Any:
    """x - log Σ e^x along one axis, shifted by the maximum."""
    if not x.size:
        return np.copy(x)
    y = x - _largest(x, dim)
    return y - np.log(np.sum(np.exp(y), dim, keepdims=True))


def var(x: Any, dim: tuple[int, ...], correction: float, keepdim: bool) -> Any:
    """Sum of squared deviations over (n - correction)."""
    count = math.prod(x.shape[k] for k in dim)
    d = x - np.mean(x, dim, keepdims=True)
    total = np.sum((d * np.conj(d)).real, dim, keepdims=keepdim)
    return np.true_divide(total, max(count - correction, 0))


def put(g: Any, index: Any, shape: tuple[int, ...]) -> Any:
    """Zeros of ``shape`` with ``g`` added at ``index`` (the transpose of ``x[index]``); repeated indices add up."""
    out = np.zeros(shape, getattr(g, "dtype", float))
    parts = index if isinstance(index, tuple) else (index,)
    if all(isinstance(p, (int, np.integer, slice)) or p is None or p is Ellipsis for p in parts):
        out[index] = g
    elif np.size(g):  # of no entries the places may be anywhere
        np.add.at(out, index, g)
    return out


def slogdet_sign(x: Any) -> Any:
    """Sign (or complex phase) of the determinant."""
    return np.linalg.slogdet(x)[0]


def logabsdet(x: Any) -> Any:
    """log|det x|."""
    return np.linalg.slogdet(x)[1]


def logdet(x: Any) -> Any:
    """log det x; nan for a negative determinant, as torch."""
    sign, value = np.linalg.slogdet(x)
    if x.dtype.kind == "c":
        return (value + 1j * np.angle(sign)).astype(x.dtype)[()]
    return np.where(sign < 0, np.nan, value).astype(value.dtype)[()]


def solve(a: Any, b: Any) -> Any:
    """The solution x of a x = b; ``b`` is one vector or a (batch of) matrices of columns."""
    if b.ndim == 1:
        return np.linalg.solve(a, b[:, None])[..., 0]
    return np.linalg.solve(a, b)


def norm(x: Any, p: float, dim: tuple[int, ...], keepdim: bool) -> Any:
    """The vector p-norm over the axes ``dim``."""
    size = np.abs(x)
    if p == 2:
        return np.sqrt(np.sum(size * size, dim, keepdims=keepdim))
    if p == 1:
        return np.sum(size, dim, keepdims=keepdim)
    if p == math.inf:
        return np.max(size, dim, keepdims=keepdim)
    if p == -math.inf:
        return np.min(size, dim, keepdims=keepdim)
    if p == 0:
        return np.sum(size != 0, dim, keepdims=keepdim).astype(size.dtype)
    return np.power(np.sum(np.power(size, p), dim, keepdims=keepdim), 1 / p)


def one_hot(index: Any, classes: int, dtype: str) -> Any:
    """A new last axis of length ``classes`` with a 1 at the index."""
    return (np.asarray(index)[..., None] == np.arange(classes)).astype(dtype)


def lambertw(x: Any) -> Any:
    """The principal branch of Lambert's W for x >= -1/e, by Halley's iteration (Corless et al. 1996)."""
    x = np.asarray(x)
    z = x.astype(np.float64)
    near = np.sqrt(np.maximum(2 * (np.e * z + 1), 0))
    w = np.where(z < 1, -1 + near - near * near / 3, np.log(np.maximum(z, 1)) * 0.7 + 0.3)
    for _ in range(24):
        e = np.exp(w)
        f = w * e - z
        bottom = e * (w + 1) - (w + 2) * f / np.where(w == -1, 1, 2 * w + 2)
        w = w - np.where(f == 0, 0, f / np.where(bottom == 0, 1, bottom))
    w = np.where(z < -np.exp(-1.0) - 1e-15, np.nan, w)
    return w.astype(x.dtype, copy=False)[()]


def ndtr(x: Any) -> Any:
    """The standard normal distribution function."""
    return erfc(-x / math.sqrt(2)) / 2


def matrix_exp(x: Any) -> Any:
    """e^X by scaling, squaring and the degree-13 Padé approximant (Higham 2005)."""
    b = (64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
         10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0,
         1.0)  # fmt: skip
    dtype = x.dtype
    x = x.astype(np.result_type(dtype, np.float64))
    size = np.max(np.sum(np.abs(x), -2), initial=0.0)
    squarings = max(0, math.ceil(math.log2(size / 5.37))) if size > 5.37 else 0
    a = x / 2**squarings
    eye = np.broadcast_to(np.eye(x.shape[-1]), x.shape)
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a4 @ a2
    odd = a6 @ (b[13] * a6 + b[11] * a4 + b[9] * a2) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * eye
    even = a6 @ (b[12] * a6 + b[10] * a4 + b[8] * a2) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * eye
    u = a @ odd
    out = np.linalg.solve(even - u, even + u)
    for _ in range(squarings):
        out = out @ out
    return out.astype(dtype, copy=False)


def matrix_exp_frechet(x: Any, e: Any) -> Any:
    """The derivative of e^X along E: the upper right block of exp([[X, E], [0, X]]) (Van Loan 1978)."""
    n = x.shape[-1]
    zero = np.zeros_like(x)
    top, bottom = np.concatenate((x, e), -1), np.concatenate((zero, x), -1)
    return matrix_exp(np.concatenate((top, bottom), -2))[..., :n, n:]


def eigh_vectors(x: Any) -> Any:
    """Orthonormal eigenvectors of a symmetric (Hermitian) matrix, as columns in ascending order of eigenvalues."""
    return np.linalg.eigh(x)[1]


def svd_u(x: Any) -> Any:
    """Left singular vectors, as columns."""
    return np.linalg.svd(x, full_matrices=False)[0]


def svd_vh(x: Any) -> Any:
    """Right singular vectors, as conjugated rows."""
    return np.linalg.svd(x, full_matrices=False)[2]


def any_true(x: Any, dim: Any, keepdim: bool) -> Any:
    """Whether some entry along axes is not zero; uint8, the truth values of old, stays uint8."""
    found = np.any(x, dim, keepdims=keepdim)
    return found.astype(x.dtype) if x.dtype == np.uint8 else found


def all_true(x: Any, dim: Any, keepdim: bool) -> Any:
    """Whether no entry along axes is zero; uint8, the truth values of old, stays uint8."""
    found = np.all(x, dim, keepdims=keepdim)
    return found.astype(x.dtype) if x.dtype == np.uint8 else found


def parts_of_complex(x: Any) -> Any:
    """Real and imaginary parts along a new last axis, in the memory of ``x``."""
    x = np.asarray(x)
    return x[..., None].view(x.real.dtype)


def complex_values(x: Any) -> Any:
    """:func:`complex_of_parts` with a scalar for a single number."""
    return complex_of_parts(x)[()]


def complex_of(x: Any, y: Any) -> Any:
    """x + iy without arithmetic."""
    x, y = np.broadcast_arrays(x, y)
    out = np.empty(x.shape, np.result_type(x, y, np.complex64))
    out.real, out.imag = x, y
    return out[()]


def complex_of_parts(x: Any) -> Any:
    """The last axis read as real and imaginary part, in the memory of ``x`` where they lie side by side."""
    if x.dtype.itemsize < 4:
        x = x.astype(np.float32)
    if x.strides[-1] != x.dtype.itemsize:
        x = np.ascontiguousarray(x)
    return x.view(np.complex64 if x.dtype.itemsize == 4 else np.complex128)[..., 0]
