"""SciPy's functions of arrays by their op, for programs that are written for arrays.

SciPy is looked up only where it is imported already.  What a function here cannot do is refused, never dropped.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, UnsupportedFunction
from symgrad.interop.functions import FUNCTIONS, axes_of, front_of, tensor, unsupported
from symgrad.interop.more import MORE
from symgrad.ops.calls.naming import SPACES
from symgrad.ops.linalg import inverse
from symgrad.ops.shapes.shaping import axis_of

Call = Callable[..., Any]


def scipy_functions() -> Iterator[tuple[Any, str, Call]]:
    """``(module, name, function on tensors)`` of the functions that imported modules of SciPy have."""
    for place, functions in SCIPY.items():
        module = sys.modules.get(f"scipy.{place}")
        for name, function in functions.items():
            if module is not None and hasattr(module, name):
                yield module, name, _refusing(f"scipy.{place}.{name}", function)


def _refusing(name: str, function: Call) -> Call:
    """A function that says its name where it is given arguments that it does not have."""

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if isinstance(error, UnsupportedFunction) or "argument" not in str(error):
                raise
            raise unsupported(f"{name} with these arguments ({str(error).partition('() ')[2]})") from None

    return call


def _idle(name: str, **given: Any) -> None:
    """Refuse arguments that are given other values than those by which nothing changes."""
    for key, value in given.items():
        if hasattr(value, "dtype") or value not in (None, False, "auto", "gen", 0):
            told = f"{key}={value!r}" if isinstance(value, (str, int, float)) else f"{key}="
            raise unsupported(f"scipy.{name}(…, {told})", " in this form")


# ---------------------------------------------------------------------------------------------- special


def _logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Any:
    _idle("special.logsumexp", return_sign=return_sign)
    a = tensor(a)
    if b is None:
        return front_of("logsumexp")(a, tuple(range(a.ndim)) if axis is None else axis, keepdims)
    b = tensor(b)
    a = a.expand(np.broadcast_shapes(tuple(a.shape), tuple(b.shape)))
    axes = tuple(range(a.ndim)) if axis is None else axis
    top = front_of("amax")(a.detach(), axes, True)
    top = front_of("where")(front_of("isfinite")(top), top, 0.0)
    found = front_of("log")((b * front_of("exp")(a - top)).sum(axes, keepdim=True)) + top
    return found if keepdims else _without(found, axes)


def _without(x: Any, axes: Any) -> Any:
    """Without axes of length 1."""
    for k in reversed(axes_of(axes, x.ndim)):
        x = x.squeeze(k)
    return x


def _softened(name: str) -> Call:
    def call(x: Any, axis: Any = None) -> Any:
        x = tensor(x)
        if isinstance(axis, tuple):
            raise unsupported(f"scipy.special.{name}(…, axis={axis})", " in this form")
        return front_of(name)(x, axis) if axis is not None else front_of(name)(x.ravel(), 0).reshape(tuple(x.shape))

    return call


def _comb(N: Any, k: Any, *, exact: bool = False, repetition: bool = False) -> Any:
    _idle("special.comb", exact=exact, repetition=repetition)
    return SPACES["special"]["binom"](tensor(N), tensor(k))


# ---------------------------------------------------------------------------------------------- linalg


def _lin(name: str) -> Call:
    return SPACES["linalg"][name]


def _columns(function: Call) -> Call:
    """A solver of matrices, for right-hand sides that may be one column without an axis of its own."""

    def call(a: Any, b: Any, *rest: Any, **options: Any) -> Any:
        b = tensor(b)
        found = function(a, b[..., None] if b.ndim == 1 else b, *rest, **options)
        return found[..., 0] if b.ndim == 1 else found

    return call


def _mirrored(a: Any, lower: Any, turned: Any) -> Any:
    """A matrix of one half of ``a``, the only one that is read."""
    half = front_of("tril")(a) if lower else front_of("triu")(a)
    return half + (front_of("triu")(turned(half), 1) if lower else front_of("tril")(turned(half), -1))


_PARTS: dict[Any, Call] = {
    **dict.fromkeys((None, "gen", "general", "banded"), lambda a, _: a),
    **dict.fromkeys(("sym", "symmetric"), lambda a, lower: _mirrored(a, lower, lambda half: half.mT)),
    **dict.fromkeys(
        ("her", "hermitian", "pos", "positive definite"), lambda a, lower: _mirrored(a, lower, lambda half: half.mH)
    ),
    "upper triangular": lambda a, _: front_of("triu")(a),
    "lower triangular": lambda a, _: front_of("tril")(a),
    "tridiagonal": lambda a, _: front_of("triu")(front_of("tril")(a, 1), -1),
    "diagonal": lambda a, _: front_of("triu")(front_of("tril")(a)),
}
"""The matrix that SciPy's solver reads, by what it is told to assume."""


def _solve(
    a: Any,
    b: Any,
    lower: bool = False,
    overwrite_a: bool = False,  # noqa: ARG001
    overwrite_b: bool = False,  # noqa: ARG001
    check_finite: bool = True,  # noqa: ARG001
    assume_a: Any = None,
    transposed: bool = False,
) -> Any:
    if assume_a not in _PARTS:
        raise unsupported(f"scipy.linalg.solve(…, assume_a={assume_a!r})", " in this form")
    a = _PARTS[assume_a](tensor(a), lower)
    return inverse.solve(a.mT if transposed else a, tensor(b))


@_columns
def _solve_triangular(
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,  # noqa: ARG001
    check_finite: bool = True,  # noqa: ARG001
) -> Any:
    a = tensor(a)
    if trans not in (0, "N"):
        a, lower = (a.mT if trans in (1, "T") else a.mH), not lower
    return _lin("solve_triangular")(a, b, upper=not lower, unitriangular=unit_diagonal)


def _cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:  # noqa: ARG001
    factor = inverse.cholesky(_mirrored(tensor(a), lower, lambda half: half.mH))
    return factor if lower else factor.mH


def _cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    return _cholesky(a, lower, overwrite_a, check_finite), lower


@_columns
def _cho_solve(
    c_and_lower: Any,
    b: Any,
    overwrite_b: bool = False,  # noqa: ARG001
    check_finite: bool = True,  # noqa: ARG001
) -> Any:
    factor, lower = c_and_lower
    factor = tensor(factor)
    lower_one = front_of("tril")(factor) if lower else front_of("triu")(factor).mH
    halfway = _lin("solve_triangular")(lower_one, b, upper=False)
    return _lin("solve_triangular")(lower_one.mH, halfway, upper=True)


def _eigh(a: Any, b: Any = None, *, lower: bool = True, eigvals_only: bool = False, **rest: Any) -> Any:
    rest = {k: v for k, v in rest.items() if not k.startswith(("overwrite", "check"))}
    _idle("linalg.eigh", b=b, **rest)
    half = "L" if lower else "U"
    return _lin("eigvalsh")(tensor(a), half) if eigvals_only else tuple(_lin("eigh")(tensor(a), half))


def _svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,  # noqa: ARG001
    check_finite: bool = True,  # noqa: ARG001
    lapack_driver: str = "gesdd",  # noqa: ARG001
) -> Any:
    return tuple(_lin("svd")(tensor(a), full_matrices)) if compute_uv else _lin("svdvals")(tensor(a))


def _qr(a: Any, overwrite_a: bool = False, lwork: Any = None, mode: str = "full", pivoting: bool = False) -> Any:  # noqa: ARG001
    _idle("linalg.qr", pivoting=pivoting)
    names = {"full": "complete", "economic": "reduced", "r": "complete"}
    if mode not in names:
        raise unsupported(f"scipy.linalg.qr(…, mode={mode!r})", " in this form")
    q, r = _lin("qr")(tensor(a), names[mode])
    return (r,) if mode == "r" else (q, r)


def _lu(a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:  # noqa: ARG001
    p, low, up = _lin("lu")(tensor(a))
    return (p @ low, up) if permute_l else (p, low, up)


def _of_matrix(function: Call) -> Call:
    """A function of one matrix, which may be told to overwrite it or to look at it first."""

    def call(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:  # noqa: ARG001
        return function(tensor(a))

    return call


def _norm(a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, check_finite: bool = True) -> Any:  # noqa: ARG001
    return FUNCTIONS[np.linalg.norm](a, ord, axis, keepdims)


def _toeplitz(c: Any, r: Any = None) -> Any:
    c = tensor(c).ravel()
    r = c.conj() if r is None else tensor(r).ravel()
    row, column = np.ogrid[: len(c), : len(r)]
    return front_of("cat")([front_of("flip")(c, (0,)), r[1:]], 0)[column - row + len(c) - 1]


def _circulant(c: Any) -> Any:
    c = tensor(c)
    row, column = np.ogrid[: len(c), : len(c)]
    return c[(row - column) % len(c)]


# ---------------------------------------------------------------------------------------------- signal


def _convolved(a: Any, v: Any, mode: str) -> Any:
    """Along all axes, by the windows of the first."""
    if a.ndim != v.ndim:
        raise ArgumentError("in1 and in2 should have the same dimensionality")
    if mode not in ("full", "same", "valid"):
        raise ArgumentError("acceptable mode flags are 'valid', 'same', or 'full'")
    if mode == "valid" and any(m > n for n, m in zip(a.shape, v.shape, strict=True)):
        a, v = v, a
    wide = [0 if mode == "valid" else m - 1 for m in v.shape]
    found = SPACES["nn.functional"]["pad"](a, [w for w in wide[::-1] for _ in range(2)])
    for k, m in enumerate(v.shape):
        found = found.unfold(k, m, 1)
    axes = list(range(v.ndim))
    flipped = front_of("flip")(v, tuple(axes))
    found = front_of("tensordot")(found, flipped, ([k + v.ndim for k in axes], axes))
    if mode == "same":
        found = found[tuple(slice((m - 1) // 2, (m - 1) // 2 + n) for n, m in zip(a.shape, v.shape, strict=True))]
    return found


def _convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:  # noqa: ARG001
    return _convolved(tensor(in1), tensor(in2), mode)


def _convolve2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Any:
    _idle("signal.convolve2d", fillvalue=fillvalue)
    if boundary != "fill":
        raise unsupported(f"scipy.signal.convolve2d(…, boundary={boundary!r})", " in this form")
    return _convolved(tensor(in1), tensor(in2), mode)


def _correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:  # noqa: ARG001
    a, v = tensor(in1), tensor(in2)
    if any(m > n for n, m in zip(a.shape, v.shape, strict=True)) and mode == "valid":
        raise unsupported("scipy.signal.correlate(…, mode='valid') of a longer second array", " in this form")
    return _convolved(a, front_of("flip")(v, tuple(range(v.ndim))).conj(), mode)


# ---------------------------------------------------------------------------------------------- distances


def _between(metric: Any, p: Any = None) -> Call:
    """The distances of two stacks of points along the last axis."""
    orders = {"euclidean": 2, "cityblock": 1, "chebyshev": np.inf, "minkowski": 2 if p is None else p}
    if metric in orders:
        return lambda a, b: front_of("norm")(a - b, orders[metric], -1)
    if metric == "sqeuclidean":
        return lambda a, b: ((a - b) ** 2).sum(-1)
    if metric in ("cosine", "correlation"):
        return lambda a, b: 1 - _cosine(a, b, metric == "correlation")
    if callable(metric):
        raise unsupported("scipy.spatial.distance with a function as metric=", " in this form")
    raise unsupported(f"scipy.spatial.distance with metric={metric!r}", " in this form")


def _cosine(a: Any, b: Any, centred: bool) -> Any:
    if centred:
        a, b = a - a.mean(-1, True), b - b.mean(-1, True)
    size = front_of("norm")(a, 2, -1) * front_of("norm")(b, 2, -1)
    return (a * b).sum(-1) / size


def _cdist(XA: Any, XB: Any, metric: Any = "euclidean", *, p: Any = None) -> Any:
    return _between(metric, p)(tensor(XA)[:, None, :], tensor(XB)[None, :, :])


def _pdist(X: Any, metric: Any = "euclidean", *, p: Any = None) -> Any:
    X = tensor(X)
    first, second = np.triu_indices(X.shape[0], 1)
    return _between(metric, p)(X[first], X[second])


def _squareform(X: Any, force: str = "no", checks: bool = True) -> Any:  # noqa: ARG001
    X = tensor(X)
    if X.ndim == 2:
        return X[np.triu_indices(X.shape[0], 1)]
    n = int(np.ceil(np.sqrt(2 * X.numel()))) if X.numel() else 1
    if n * (n - 1) // 2 != X.numel():
        raise ArgumentError(f"Incompatible vector size. It must be a binomial coefficient n choose 2, not {X.numel()}.")
    places = np.full((n, n), X.numel())
    row, column = np.triu_indices(n, 1)
    places[row, column] = places[column, row] = np.arange(X.numel())
    return front_of("cat")([X, X.new_zeros(1)], 0)[places]


def _distance(metric: str) -> Call:
    def call(u: Any, v: Any, p: Any = None) -> Any:
        return _between(metric, p)(tensor(u), tensor(v))

    return call


# ---------------------------------------------------------------------------------------------- integrals


def _cumulative(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None) -> Any:
    y = tensor(y)
    found = front_of("cumulative_trapezoid")(y, **({"dx": dx} if x is None else {"x": tensor(x)}), dim=axis)
    if initial is None:
        return found
    if initial != 0:
        raise ArgumentError("`initial` must be `None` or `0`.")
    first = found.detach().new_zeros([1 if k == axis_of(axis, y.ndim) else n for k, n in enumerate(y.shape)])
    return front_of("cat")([first, found], axis)


def _simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: int = -1) -> Any:
    """Parabolas through three points; an even number of points ends with Cartwright's rule, as in SciPy."""
    y = front_of("movedim")(tensor(y), axis, -1)
    n = y.shape[-1]
    steps = (
        tensor(np.ones(n - 1)) * dx if x is None else front_of("diff")(tensor(x), 1, -1 if np.ndim(x) == 1 else axis)
    )
    if np.ndim(steps) > 1:
        steps = front_of("movedim")(steps, axis, -1)
    if n == 2:
        return steps[..., 0] * (y[..., 0] + y[..., 1]) / 2
    last = n - 2 if n % 2 else n - 3
    h, k = steps[..., 0:last:2], steps[..., 1 : last + 1 : 2]
    left, middle, right = y[..., 0:last:2], y[..., 1 : last + 1 : 2], y[..., 2 : last + 2 : 2]
    whole = h + k
    found = (whole / 6 * (left * (2 - k / h) + middle * whole * whole / (h * k) + right * (2 - h / k))).sum(-1)
    if n % 2:
        return found
    h, k = steps[..., -2], steps[..., -1]
    ends = y[..., -1] * (2 * k**2 + 3 * h * k) / (6 * (h + k)) + y[..., -2] * (k**2 + 3 * h * k) / (6 * h)
    return found + ends - y[..., -3] * k**3 / (6 * h * (h + k))


def _rosen(x: Any) -> Any:
    x = tensor(x)
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum(0)


_OVER = ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")


def _fourier(function: Call) -> Call:
    def call(
        x: Any, n: Any = None, axis: Any = None, norm: Any = None, overwrite_x: bool = False, workers: Any = None,  # noqa: ARG001
        *, s: Any = None, axes: Any = None,
    ) -> Any:  # fmt: skip
        where = axis if axes is None else axes
        return function(x, n if s is None else s, **({} if where is None else _named(function, where)), norm=norm)

    def _named(of: Call, where: Any) -> dict[str, Any]:
        return {"axes" if of in [MORE[getattr(np.fft, name)] for name in _OVER] else "axis": where}

    return call


SCIPY: dict[str, dict[str, Call]] = {
    "special": {
        "logsumexp": _logsumexp,
        "softmax": _softened("softmax"),
        "log_softmax": _softened("log_softmax"),
        "polygamma": lambda n, x: SPACES["special"]["polygamma"](n, tensor(x)),
        "multigammaln": lambda a, d: SPACES["special"]["multigammaln"](tensor(a), d),
        "factorial": lambda n, exact=False: SPACES["special"]["factorial"](tensor(n)),
        "zeta": lambda x, q=1: SPACES["special"]["zeta"](tensor(x), tensor(q)),
        "comb": _comb,
    },
    "linalg": {
        "solve": _solve,
        "solve_triangular": _solve_triangular,
        "inv": _of_matrix(lambda a: inverse.inv(a)),
        "det": _of_matrix(lambda a: front_of("det")(a)),
        "cholesky": _cholesky,
        "cho_factor": _cho_factor,
        "cho_solve": _cho_solve,
        "eigh": _eigh,
        "eigvalsh": lambda a, b=None, **rest: _eigh(a, b, eigvals_only=True, **rest),
        "svd": _svd,
        "svdvals": _of_matrix(lambda a: _lin("svdvals")(a)),
        "qr": _qr,
        "lu": _lu,
        "expm": lambda A: _lin("matrix_exp")(tensor(A)),
        "logm": lambda A, disp=None: _lin("logm")(tensor(A)),
        "sqrtm": lambda A, disp=None: _lin("sqrtm")(tensor(A)),
        "pinv": lambda a, *, rtol=None, atol=None: _lin("pinv")(tensor(a), rtol=rtol, atol=atol),
        "norm": _norm,
        "solve_sylvester": lambda a, b, q: _lin("solve_sylvester")(tensor(a), tensor(b), tensor(q)),
        "block_diag": lambda *arrs: front_of("block_diag")(*map(tensor, arrs)),
        "toeplitz": _toeplitz,
        "circulant": _circulant,
    },
    "optimize": {"rosen": _rosen},
    "fft": {
        **{name: _fourier(MORE[getattr(np.fft, name)]) for name in ("fft", "ifft", "rfft", "irfft", *_OVER)},
        **{name: MORE[getattr(np.fft, name)] for name in ("fftshift", "ifftshift")},
    },
    "signal": {
        **dict.fromkeys(("convolve", "fftconvolve", "oaconvolve"), _convolve),
        "convolve2d": _convolve2d,
        "correlate": _correlate,
    },
    "spatial.distance": {
        "cdist": _cdist,
        "pdist": _pdist,
        "squareform": _squareform,
        **{n: _distance(n) for n in ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine", "correlation")},
        "minkowski": lambda u, v, p=2: _between("minkowski", p)(tensor(u), tensor(v)),
    },
    "integrate": {
        "trapezoid": lambda y, x=None, dx=1.0, axis=-1: MORE[np.trapezoid](tensor(y), x, dx, axis),
        "cumulative_trapezoid": _cumulative,
        "simpson": _simpson,
    },
}
