"""NumPy's whole namespace on a tensor that requires grad: a tensor with its gradient, or a clear error."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import SymgradError
from symgrad.interop import supported

RNG = np.random.default_rng(3)
A, B = RNG.uniform(0.2, 0.8, (3, 3)), RNG.uniform(0.2, 0.8, (3, 3))
S = A + A.T + 3 * np.eye(3)
V, W = RNG.uniform(0.2, 0.8, 3), RNG.uniform(0.2, 0.8, 3)
N = np.where(np.eye(3, dtype=bool), np.nan, A)
T3 = RNG.uniform(0.2, 0.8, (2, 3, 4))
L = RNG.permutation(12).reshape(3, 4) + 0.5

Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


def call(function: Any, *args: Any, **options: Any) -> Call:
    return function, args, options


def newer(name: str, *args: Any, **options: Any) -> list[Call]:
    """A call of a function that not every NumPy has, if this one does."""
    return [call(getattr(np, name), *args, **options)] if hasattr(np, name) else []


CALLS: list[Call] = [
    *(call(f, V) for f in (np.sin, np.exp, np.log, np.sqrt, np.square, np.tanh, np.arcsin, np.positive, np.deg2rad,
        np.degrees,
                           np.sinc, np.i0, np.fabs, np.reciprocal, np.cbrt, np.expm1, np.modf, np.diagflat)),
    *(call(f, V, W) for f in (np.add, np.multiply, np.power, np.arctan2, np.hypot, np.logaddexp, np.maximum,
        np.divmod, np.floor_divide,
                              np.vecdot, np.dot, np.inner, np.vdot, np.outer, np.kron, np.cross, np.append,
        np.convolve,
                              np.polyval, np.linalg.outer, np.linalg.vecdot, np.linalg.cross, np.fmax,
        np.float_power)),
    *(call(f, A, V) for f in (np.matmul, np.linalg.matmul, np.linalg.solve)),
    *(call(f, A) for f in (np.sum, np.mean, np.prod, np.var, np.std, np.max, np.min, np.ptp, np.median, np.ravel,
        np.transpose,
                           np.matrix_transpose, np.trace, np.diag, np.diagonal, np.tril, np.triu, np.flip, np.fliplr,
                           np.flipud, np.rot90, np.cov, np.corrcoef, np.gradient, np.broadcast_arrays,
                           np.atleast_3d, np.copy, np.cumsum, np.cumprod, np.nan_to_num, np.angle, np.average)),
    *(call(f, A, axis=1) for f in (np.sum, np.mean, np.prod, np.var, np.std, np.max, np.min, np.ptp, np.median,
        np.cumsum,
                                   np.cumprod, np.diff, np.trapezoid, np.sort,
                                   np.expand_dims, np.average, np.gradient)),
    *(call(f, N, axis=1) for f in (np.nansum, np.nanmean, np.nanprod, np.nanvar, np.nanstd, np.nanmax, np.nanmin,
        np.nanmedian)),
    *(call(f, N) for f in (np.nansum, np.nanmean, np.nanmax, np.nan_to_num)),
    call(np.nanvar, N, axis=0, ddof=1, keepdims=True), call(np.nanquantile, N, 0.3, axis=1),
    *(call(np.quantile, L, 0.3, axis=1, method=m) for m in ("linear", "lower", "higher", "midpoint")),
    call(np.quantile, L, np.array([0.2, 0.7])), call(np.percentile, L, 40.0, axis=0, keepdims=True),
    call(np.percentile, L, [25, 75]), call(np.percentile, L, (25, 60), axis=0),
    call(np.quantile, L, [[0.1, 0.2], [0.3, 0.4]]),
    call(np.median, T3, axis=(0, 2)), call(np.quantile, T3, 0.3, axis=(-1, 1), keepdims=True),
    call(np.percentile, T3, [30, 40, 50], axis=(0, 1), keepdims=True), call(np.nanquantile, N, [0.2, 0.4], axis=(0, 1)),
    call(np.polymul, V, [0.0, 1.0, 2.0]), call(np.polymul, V, [0.0, 0.0]),
    call(np.tril, V), call(np.triu, V, 1), call(np.convolve, V, 2.0),
    call(np.nanpercentile, N, 40.0, axis=0), call(np.sort, L, axis=None), call(np.median, T3, axis=1, keepdims=True),
    call(np.concatenate, [A, B]), call(np.concatenate, [A, B], axis=None), call(np.stack, [A, B], axis=1),
    call(np.vstack, [V, W]), call(np.hstack, [V, W]), call(np.dstack, [A, B]), call(np.column_stack, [V, W]),
    call(np.append, A, B, axis=1), call(np.split, A, 3), call(np.array_split, V, 2), call(np.array_split, V, [1]),
    call(np.hsplit, A, 3), call(np.vsplit, A, [1]), call(np.dsplit, T3, 2), call(np.atleast_2d, V),
    call(np.atleast_1d, V, W),
    call(np.meshgrid, V, W), call(np.meshgrid, V, W, indexing="ij"), call(np.pad, A, 1),
    call(np.pad, A, ((1, 2), (0, 1)), constant_values=2.0),
    call(np.repeat, V, 2), call(np.repeat, A, np.array([1, 0, 2]), axis=1), call(np.tile, A, (2, 1)),
    call(np.roll, A, 1),
    call(np.roll, A, 1, axis=0), call(np.rollaxis, T3, 2), call(np.rollaxis, T3, 0, 3), call(np.rot90, A, 3),
    call(np.moveaxis, T3, 0, 2),
    call(np.swapaxes, T3, 0, 2), call(np.reshape, A, (9,)), call(np.squeeze, A[None]),
    call(np.reshape, T3, (6, -1), order="F"), call(np.ravel, T3, "F"),
    call(np.broadcast_to, V, (2, 3)),
    call(np.delete, A, 1, axis=0), call(np.delete, V, [0, 2]), call(np.compress, [True, False, True], A, axis=1),
    call(np.extract, A > 0.5, A), call(np.take, V, np.array([2, 0])),
    call(np.take_along_axis, A, np.array([[0, 1, 2]]), axis=0),
    call(np.where, A > 0.5, A, B), call(np.select, [A > 0.6, A > 0.4], [A, B], default=1.0),
    call(np.clip, A, 0.3, 0.6),
    call(np.astype, A, np.float64), call(np.diff, A, 2), call(np.diff, V, prepend=0.0),
    call(np.trapezoid, V, W), call(np.trapezoid, V, dx=0.5),
    call(np.gradient, A, 0.5), call(np.gradient, V, 2.0), call(np.vander, V), call(np.vander, V, 4, increasing=True),
    call(np.convolve, V, np.array([1.0, -2.0]), "same"), call(np.convolve, V, W[:2], "valid"),
    call(np.cov, V, W), call(np.cov, A, rowvar=False, bias=True),
    call(np.einsum, "ij,jk->ik", A, B), call(np.tensordot, A, B, 1), call(np.linalg.tensordot, A, B, axes=1),
    call(np.linalg.inv, S), call(np.linalg.det, S), call(np.linalg.slogdet, S), call(np.linalg.cholesky, S),
    call(np.linalg.norm, A),
    call(np.linalg.norm, A, axis=1), call(np.linalg.norm, A, 1), call(np.linalg.norm, A, "nuc"),
    call(np.linalg.norm, V, 3),
    call(np.linalg.eigvalsh, S), call(np.linalg.svdvals, A), call(np.linalg.pinv, A), call(np.linalg.cond, S),
    call(np.linalg.matrix_power, S, 3),
    call(np.linalg.matrix_norm, A), call(np.linalg.matrix_norm, A, ord=1),
    call(np.linalg.vector_norm, A, axis=0, ord=3), call(np.linalg.multi_dot, [A, B, V]),
    call(np.linalg.trace, A), call(np.linalg.trace, T3[:, :, :3], offset=1), call(np.linalg.diagonal, T3),
    call(np.linalg.matrix_transpose, T3),
    call(np.linalg.tensorinv, S[:, :, None, None].reshape(3, 3), 1), call(np.linalg.tensorsolve, S, V),
    call(np.linalg.svd, A, compute_uv=False),
    *(call(getattr(np.fft, n), V) for n in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fftshift",
        "ifftshift")),
    *(call(getattr(np.fft, n), A) for n in ("fft2", "ifft2", "rfft2", "fftn", "ifftn", "rfftn")),
    call(np.fft.rfft, A, 4, axis=0, norm="ortho"), call(np.fft.irfft2, A), call(np.fft.irfftn, A, axes=(0, 1)),
    call(np.fft.fftshift, A, axes=0),
    call(np.add.reduce, A), call(np.multiply.reduce, A, axis=1), call(np.add.accumulate, A),
    call(np.multiply.accumulate, V),
    call(np.maximum.accumulate, V), call(np.logaddexp.accumulate, V), call(np.minimum.reduce, A),
    call(np.multiply.outer, V, W), call(np.subtract.outer, A, V),
    call(np.hypot.outer, V, W),
    *(call(f, A, where=A > 0.4) for f in (np.sum, np.prod, np.mean, np.var, np.std)),
    *(call(f, A, axis=1, keepdims=True, where=A > 0.3) for f in (np.sum, np.mean, np.std)),
    call(np.var, A, axis=0, ddof=1, where=np.array([[True], [False], [True]])), call(np.std, A, correction=1),
    call(np.sum, A, axis=0, initial=2.0), call(np.prod, A, axis=0, initial=2.0, where=A > 0.4),
    call(np.max, A, axis=1, initial=0.5), call(np.min, A, axis=1, initial=0.5, where=A > 0.4),
    call(np.add.reduce, A, axis=None, where=A > 0.4, initial=1.0), call(np.maximum.reduce, V, initial=0.1),
    call(np.logaddexp.reduce, A, axis=1, where=A > 0.3), call(np.add.reduceat, A, [0, 2], axis=1),
    call(np.interp, V, [0.1, 0.35, 0.6, 0.9], [1.0, 0.5, 2.0, -1.0]), call(np.interp, A, np.sort(V), W),
    call(np.interp, V * 3, np.sort(W), V, left=-1.0, right=7.0), call(np.interp, V, [0.5], W[:1], left=2.0),
    call(np.interp, V * 7 - 3, W, V, period=0.9),
    call(np.piecewise, V, [V > 0.6, V < 0.4], [lambda t: t**2, lambda t: t**3, np.sqrt]),
    call(np.piecewise, V, V > 0.6, [lambda t, a: a * t, 2.0], 3.0),
    call(np.block, [[A, B], [B, A]]), call(np.block, [V, W]), call(np.block, [[A], [V]]), call(np.block, V),
    call(np.insert, A, 1, V, axis=1), call(np.insert, A, 0, B, axis=0), call(np.insert, V, [0, 2], W[:2]),
    call(np.insert, A, [1, 3], 0.5, axis=0), call(np.insert, V, slice(0, 2), W[:2]),
    *(call(np.pad, A, ((1, 2), (0, 2)), mode) for mode in ("edge", "reflect", "symmetric", "wrap")),
    *(call(np.correlate, V, w, mode) for w in (W, W[:2], np.array([1.0, -2.0, 3.0, 0.5]))
      for mode in ("full", "same", "valid")),
    call(np.unwrap, V * 9), call(np.unwrap, A * 9, axis=0), call(np.cross, V, A),
    *(call(f, V, W[:2]) for f in (np.polyadd, np.polysub, np.polymul)), call(np.polysub, W[:2], V),
    call(np.polyder, V), call(np.polyder, V, 2), call(np.polyint, V), call(np.polyint, V, 2, W[:2]),
    call(np.polyint, V, 2, 0.5), call(np.roots, np.array([2.0, -3.0, -5.0, 1.0])), call(np.poly, V), call(np.poly, S),
    call(np.polyfit, V, W, 1), call(np.polyfit, V, np.stack([W, V**2], 1), 2), call(np.polyfit, V, W, 1, w=W),
    call(np.linspace, np.array(0.3), 1.5, 4), call(np.linspace, V, W, 3, axis=1),
    call(np.linspace, 0.0, V, 4, endpoint=False),
    call(np.logspace, V, W, 3), call(np.logspace, np.array(0.3), 0.5, 3, base=2.0),
    call(np.logspace, V, W, 3, base=np.e),
    call(np.geomspace, V, W, 4), call(np.geomspace, -V, -W, 3, axis=-1), call(np.geomspace, V, W, 3, endpoint=False),
    call(np.ediff1d, A), call(np.ediff1d, V, 0.5, W), call(np.nancumsum, N, axis=1), call(np.nancumprod, N),
    call(np.partition, L, 2, axis=0), call(np.partition, L, (1, 3)), call(np.unique, L),
    call(np.unique, np.array([2.5, 0.5, 2.0])), call(np.unique, A, axis=0),
    *newer("cumulative_sum", V, include_initial=True), *newer("cumulative_prod", A, axis=1, include_initial=True),
    *newer("fix", V), *newer("matvec", A, V), *newer("vecmat", V, A), *newer("unstack", A),
    *newer("unstack", A, axis=1), *newer("cumulative_sum", A, axis=1), *newer("cumulative_prod", A, axis=1),
    call(np.bincount, [0, 2, 2], V), call(np.bincount, [0, 2, 2], V, 5), call(np.resize, A, (2, 7)),
    call(np.choose, [0, 1, 0], [V, W]), call(np.choose, [0, 3, -1], [V, W], mode="wrap"),
    call(np.take, A, [0, 4], axis=1, mode="wrap"), call(np.take, A, [-2, 11], mode="clip"),
    call(np.apply_along_axis, lambda row: row.sum() * row, 1, T3), call(np.apply_along_axis, lambda r: r.max(), 0, T3),
    call(np.apply_over_axes, np.sum, T3, [0, 2]), call(np.average, A, None, B, returned=True),
    call(np.average, A, axis=1, weights=W, keepdims=True), call(np.average, T3, axis=(0, 2), weights=T3[:, 1]),
    call(np.einsum, A, [0, 1], B, [1, 2], [2, 0]), call(np.einsum, A, [0, 0]), call(np.einsum, T3, [..., 1], L[0], [1]),
    call(np.linalg.tensorinv, S, ind=1), call(np.real_if_close, V),
    *(call(np.pad, A, ((1, 2), (0, 3)), m) for m in ("mean", "maximum", "minimum", "median", "linear_ramp")),
    call(np.pad, A, 1, "linear_ramp", end_values=0.5), call(np.pad, A, 1, constant_values=((1.0, 2.0), (3.0, 4.0))),
]  # fmt: skip


def is_data(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind == "f"


def has_data(x: Any) -> bool:
    return is_data(x) or (isinstance(x, list) and any(map(has_data, x)))


def lifted(x: Any, leaves: list[Any]) -> Any:
    if isinstance(x, list) and has_data(x):
        return [lifted(y, leaves) for y in x]
    if not is_data(x):
        return x
    leaves.append(sg.tensor(x, requires_grad=True))
    return leaves[-1]


def refilled(x: Any, values: Iterator[Any]) -> Any:
    """An argument with other values in place of its arrays."""
    if isinstance(x, list) and has_data(x):
        return [refilled(y, values) for y in x]
    return next(values) if is_data(x) else x


def flat(out: Any) -> list[Any]:
    return [y for x in out for y in flat(x)] if isinstance(out, (tuple, list)) else [out]


def projected(outs: list[Any]) -> float:
    """Re Σ of the float results with weights that tell entries apart."""
    total = 0.0
    for k, out in enumerate(outs):
        weights = np.cos(k + np.arange(np.size(out))).reshape(np.shape(out))
        total += float(np.sum(np.real(out) * weights) + np.sum(np.imag(out) * weights / 2))
    return total


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated")
@pytest.mark.parametrize("row", CALLS, ids=[f"{c[0].__name__}-{k}" for k, c in enumerate(CALLS)])
def test_value_and_gradient(row: Call) -> None:
    function, args, options = row
    leaves: list[Any] = []
    made = flat(function(*(lifted(a, leaves) for a in args), **options))
    want = flat(function(*args, **options))
    assert leaves
    assert len(made) == len(want)
    for got, exact in zip(made, want, strict=True):
        assert isinstance(got, sg.Tensor)
        assert got.requires_grad
        np.testing.assert_allclose(got.detach().numpy(), exact, rtol=1e-10, atol=1e-12)
    total: Any = 0.0
    for k, out in enumerate(made):
        weights = np.cos(k + np.arange(out.numel())).reshape(tuple(out.shape))
        parts = (out.real, out.imag / 2) if out.is_complex() else (out,)
        total = sum(((part * sg.tensor(weights)).sum() for part in parts), total)
    total.backward()
    arrays = [t._value for t in leaves]
    for i, leaf in enumerate(leaves):
        for index in [(0,) * arrays[i].ndim, tuple(n - 1 for n in arrays[i].shape)]:
            if not np.isfinite(arrays[i][index]):
                continue
            values = []
            for step in (1e-6, -1e-6):
                copies = [np.array(a) for a in arrays]
                copies[i][index] += step
                left = iter(copies)
                moved = [refilled(a, left) for a in args]
                values.append(projected(flat(function(*moved, **options))))
            slope = (values[0] - values[1]) / 2e-6
            have = 0.0 if leaf.grad is None else leaf.grad._value[index]
            assert abs(have - slope) <= 1e-5 * max(1.0, abs(slope)), (index, have, slope)


def test_every_adapter_is_called() -> None:
    called = {f"{getattr(c[0], '__module__', 'numpy')}.{c[0].__name__}".replace("numpy", "np", 1) for c in CALLS}
    constant = {"np.argmax", "np.argmin", "np.zeros_like", "np.ones_like", "np.full_like", "np.empty_like", "np.round"}
    constant |= {"np.around"}
    aliases = {"np.amax", "np.amin"}
    complex_ones = {"np.real", "np.imag", "np.linalg.eig", "np.linalg.eigvals", "np.linalg.eigh", "np.linalg.qr"}
    by_themselves = {"np.linalg.lstsq", "np.trim_zeros"}
    by_themselves |= {f"np.{name}" for name in ("copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask")}
    assert sorted(set(supported()) - called - constant - aliases - complex_ones - by_themselves) == []


def test_decompositions() -> None:
    for function, back in (
        (np.linalg.eigh, lambda w, v: (v * w) @ v.T),
        (np.linalg.qr, lambda q, r: q @ r),
        (np.linalg.svd, lambda u, s, vh: (u * s) @ vh),
        (np.linalg.eig, lambda w, v: ((v * w) @ sg.linalg.inv(v)).real),
    ):
        x = sg.tensor(S, requires_grad=True)
        (back(*function(x)) * sg.tensor(B + B.T)).sum().backward()
        np.testing.assert_allclose(x.grad, B + B.T, rtol=1e-8)


# ---------------------------------------------------------------------------------------------- the whole namespace

UNCALLED = {
    "save", "savetxt", "savez", "savez_compressed", "info", "test", "load", "loadtxt", "fromfile", "genfromtxt",
    "setbufsize", "seterr", "seterrcall", "set_printoptions", "get_include", "fromregex", "show_config", "memmap",
    "show_runtime", "bmat", "asmatrix",
}  # fmt: skip
"""Functions that write files, print, change NumPy itself, or evaluate text."""
FREE = {"fromiter"}
"""Reads Python numbers one by one, as ``float(t)`` gives them; NumPy offers no way to take part."""
CONSTANT = {"zeros_like", "ones_like", "full_like", "empty_like", "empty"}
"""Give constants of a shape, or memory that holds anything."""
PLAIN = RNG.uniform(2.2, 2.8, 3)


def namespace() -> Iterator[tuple[str, Any]]:
    for space in (np, np.linalg, np.fft):
        for name in sorted(dir(space)):
            found = getattr(space, name)
            if not name.startswith("_") and callable(found) and not isinstance(found, type) and name not in UNCALLED:
                yield f"{space.__name__}.{name}", found


def attempts() -> Iterator[tuple[Any, ...]]:
    """Argument lists as NumPy's functions take them, each with a tensor that requires grad."""
    a, v = sg.tensor(S, requires_grad=True), sg.tensor(V, requires_grad=True)
    yield from ((a,), (v,), (a, a), (v, v), ([a, a],), ([v, v],), (a, 0), (v, 1), (v, 1, 0), (a, (3, 3)), (a, 0, 1))
    yield from ((v, v, v), (V > 0.5, v, v), ("ij->i", a), ("ij,jk", a, a), (v, [0, 1]), (a, [0, 1], 0), (v, 0.5))
    yield from ((v, (1, 2)), (lambda t: t * 2, v), (lambda t: t.sum(), 0, a), ([V > 0.5], [v]), (PLAIN, v), (0, v))
    yield from ((2.0, v), (v, PLAIN))


def loses(out: Any) -> bool:
    """Whether a result holds numbers that came from the tensor and have no gradient."""
    if isinstance(out, sg.Tensor):
        out = out._value if not out.requires_grad else 0
    values = np.asarray(out) if isinstance(out, (np.ndarray, np.generic)) else np.zeros(0)
    return values.dtype.kind in "fc" and not np.isin(values, [*PLAIN, 0, 0.5, 1, 2]).all()


@pytest.mark.parametrize(("name", "function"), list(namespace()), ids=[n for n, _ in namespace()])
def test_no_silent_loss(name: str, function: Any) -> None:
    for args in attempts():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                out = function(*args)
        except SymgradError:
            continue
        except (TypeError, ValueError, LookupError, AttributeError, RuntimeError, ArithmeticError, BufferError):
            continue  # arguments that the function does not take
        if name.rpartition(".")[2] not in FREE | CONSTANT:
            assert not any(map(loses, flat(out))), f"{name}{args} gave {out!r}"


def test_least_squares() -> None:
    for a, b in ((L, V), (L[:, :2], V), (L[:, :2], A), (np.ones((3, 2)), V)):
        ta, tb = sg.tensor(a, requires_grad=True), sg.tensor(b, requires_grad=True)
        got, want = np.linalg.lstsq(ta, tb), np.linalg.lstsq(a, b)
        for mine, numpys in zip(got, want, strict=True):
            plain = mine.detach().numpy() if isinstance(mine, sg.Tensor) else mine
            assert plain.shape == numpys.shape
            np.testing.assert_allclose(plain, numpys, rtol=1e-9, atol=1e-9)
        (slope,) = sg.autograd.grad(got[0].sum(), tb)
        h, way = 1e-6, np.cos(np.arange(b.size)).reshape(b.shape)
        ends = [np.linalg.lstsq(a, b + s * h * way)[0].sum() for s in (1, -1)]
        assert abs((slope.numpy() * way).sum() - (ends[0] - ends[1]) / (2 * h)) < 1e-6


NO_AXIS: dict[str, Callable[[Any], Any]] = {
    "quantile": lambda a: np.quantile(a, 0.5, axis=(0, 5)), "median": lambda a: np.median(a, axis=(0, 5)),
    "nanpercentile": lambda a: np.nanpercentile(a, 30, axis=(0, 5)), "rollaxis": lambda a: np.rollaxis(a, 5),
    "rollaxis to": lambda a: np.rollaxis(a, 1, 5), "expand_dims": lambda a: np.expand_dims(a, (0, 9)),
    "expand_dims twice": lambda a: np.expand_dims(a, (0, 0)), "prod": lambda a: np.prod(a, axis=(0, 5)),
    "prod twice": lambda a: np.prod(a, axis=(0, 0)), "average": lambda a: np.average(a, 5, np.ones(4)),
    "apply_over_axes": lambda a: np.apply_over_axes(np.sum, a, [0, 5]), "take": lambda a: np.take(a, 0, axis=5),
    "delete": lambda a: np.delete(a, 0, axis=5), "insert": lambda a: np.insert(a, 0, 1.0, axis=5),
    "unwrap": lambda a: np.unwrap(a, axis=5), "compress": lambda a: np.compress([True], a, axis=5),
    "apply_along_axis": lambda a: np.apply_along_axis(np.sum, 5, a),
    "reduceat": lambda a: np.add.reduceat(a, [0, 1], axis=5),
}  # fmt: skip


@pytest.mark.parametrize("name", NO_AXIS)
def test_axes_that_are_none_are_refused(name: str) -> None:
    """They were counted round, silently: axis 5 of three was the last."""
    values = np.arange(24.0).reshape(2, 3, 4)
    for array in (values, sg.tensor(values, requires_grad=True)):
        with pytest.raises((IndexError, ValueError, TypeError)):
            NO_AXIS[name](array)


def test_zeros_at_the_ends() -> None:
    t = sg.tensor([0.0, 0.3, 0.0, 0.7, 0.0], requires_grad=True)
    for trim in ("fb", "f", "b"):
        np.testing.assert_array_equal(np.trim_zeros(t, trim).detach(), np.trim_zeros(t.detach().numpy(), trim))
    (slope,) = sg.autograd.grad(np.trim_zeros(t).sum(), t)
    assert slope.tolist() == [0.0, 1.0, 1.0, 1.0, 0.0]
    assert np.trim_zeros(t[2:3]).shape == (0,)


def test_options_are_read_or_refused() -> None:
    t = sg.tensor(A, requires_grad=True)
    assert np.zeros_like(t, shape=(2, 5)).shape == (2, 5)
    assert np.full_like(t, [1.0, 2.0, 3.0]).tolist() == [[1.0, 2.0, 3.0]] * 3
    assert np.imag(t).tolist() == np.imag(A).tolist()
    mean, weight = np.average(t, returned=True)
    assert float(weight) == 9.0
    np.testing.assert_allclose(mean.detach(), A.mean())
    with pytest.raises(SymgradError, match="neither the shape"):
        np.average(t, axis=0, weights=[1.0, 2.0])
    with pytest.raises(SymgradError, match="op table in this form"):
        np.polyfit(t[0], t[1], 1, full=True)
    with pytest.raises(SymgradError, match="there are 2 choices"):
        np.choose([0, 5, 0], [t, t])
    with pytest.raises(SymgradError, match="valid range"):
        sg.einsum(t, [0, 99])


def test_refusals_say_what_to_do() -> None:
    t = sg.tensor(V, requires_grad=True)
    for function in (np.histogram, np.packbits, np.ix_, np.histogram_bin_edges):
        with pytest.raises(TypeError, match=rf"np\.{function.__name__}.* is not in symgrad's op table.*detach"):
            function(t)


def test_arrays_do_not_take_in_what_requires_grad() -> None:
    t, plain = sg.tensor(V, requires_grad=True), np.zeros(3)
    for use in (
        lambda: np.asarray(t),
        lambda: np.array([t, t]),
        lambda: np.array([t[0]]),
        lambda: plain.dot(t),
        lambda: np.random.default_rng().normal(t),
        lambda: np.ma.array(t),
        lambda: plain.__setitem__(slice(None), t),
        lambda: plain.__iadd__(t),
    ):
        with pytest.raises(RuntimeError, match=r"requires? grad"):
            use()
    assert not plain.any()
    shared = np.asarray(t.detach())
    shared[0] = 5
    assert t[0] == 5
    with pytest.raises(ValueError, match="Unable to avoid a copy"):
        np.asarray(t.detach(), dtype=np.float32, copy=False)


def test_ufuncs_of_other_libraries() -> None:
    t = sg.tensor(V, requires_grad=True)
    with pytest.raises(SymgradError, match="the ufunc exp .*op table"):  # another function of a known name
        np.frompyfunc(exp, 1, 1)(t)
    special = pytest.importorskip("scipy.special", reason="SciPy's ufuncs need SciPy")
    for name in ("kl_div", "rel_entr", "beta", "xlogy", "gammainc"):  # torch's kl_div is another function
        got = getattr(special, name)(t, W)
        assert got.requires_grad, name
        np.testing.assert_allclose(got.detach(), getattr(special, name)(V, W), rtol=1e-12)
    with pytest.raises(SymgradError, match="the ufunc tklmbda .*op table"):
        special.tklmbda(t, W)


def exp(x: float) -> float:
    """Not the exponential function."""
    return x
