"""More of NumPy's functions by their op: statistics, order, joining and splitting, ``np.linalg`` and ``np.fft``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.dtypes import is_floating
from symgrad.errors import ArgumentError
from symgrad.interop.functions import axes_of, bare, dtype_of, front_of, glanced, reduce, tensor, unsupported, wanted
from symgrad.op import fixed
from symgrad.ops.calls.naming import SPACES
from symgrad.ops.shapes.shaping import axis_of

# ---------------------------------------------------------------------------------------------- joining and splitting


def _append(arr: Any, values: Any, axis: Any = None) -> Any:
    parts = [tensor(arr), tensor(values)]
    return front_of("cat")([x.ravel() for x in parts], 0) if axis is None else front_of("cat")(parts, axis)


def _array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    if isinstance(indices_or_sections, (int, np.integer)):
        return list(front_of("tensor_split")(ary, int(indices_or_sections), axis))
    return list(front_of("tensor_split")(ary, [int(i) for i in indices_or_sections], axis))


def _split_along(name: str) -> Callable[..., Any]:
    def call(ary: Any, indices_or_sections: Any) -> Any:
        return list(front_of(name)(ary, indices_or_sections))

    return call


def _at_least(name: str) -> Callable[..., Any]:
    def call(*arys: Any) -> Any:
        made = tuple(front_of(name)(tensor(a)) for a in arys)
        return made[0] if len(made) == 1 else made

    return call


def _delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    x, k = (arr.ravel(), 0) if axis is None else (arr, axis_of(axis, arr.ndim))
    kept = np.delete(np.arange(fixed(x.shape[k])), fixed(bare(obj)))
    return x[(slice(None),) * k + (kept,)]


def _compress(condition: Any, a: Any, axis: Any = None) -> Any:
    x, k = (a.ravel(), 0) if axis is None else (a, axis_of(axis, a.ndim))
    return x[(slice(None),) * k + (np.flatnonzero(bare(condition)),)]


def _meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:  # noqa: ARG001
    if sparse:
        raise unsupported("np.meshgrid(…, sparse=True)", " in this form")
    return front_of("meshgrid")(*[tensor(x).ravel() for x in xi], indexing=indexing)


def _repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    counts = repeats if isinstance(repeats, (int, np.integer)) else tensor(np.asarray(bare(repeats)))
    return front_of("repeat_interleave")(a, counts, axis)


def _rolled_axis(a: Any, axis: int, start: int = 0) -> Any:
    axis, start = axis_of(axis, a.ndim), axis_of(start + a.ndim if start < 0 else start, a.ndim + 1)
    return front_of("movedim")(a, axis, start - 1 if axis < start else start)


def _select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    out = default
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        out = front_of("where")(tensor(condition), tensor(choice), out)
    return out


# ---------------------------------------------------------------------------------------------- order and statistics


def _sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:  # noqa: ARG001
    wanted("np.sort", {"order": order})
    return front_of("sort")(a.ravel() if axis is None else a, -1 if axis is None else axis)[0]


def _quantile(name: str, scale: int, skip: bool) -> Callable[..., Any]:
    def call(
        a: Any,
        q: Any,
        axis: Any = None,
        overwrite_input: bool = False,  # noqa: ARG001  (ours is not overwritten)
        method: str = "linear",
        keepdims: Any = False,
        **rest: Any,
    ) -> Any:
        wanted(f"np.{name}", rest)
        if axis == () or method not in ("linear", "lower", "higher", "midpoint", "nearest"):
            raise unsupported(f"np.{name}(…, axis={axis}, method={method!r})", " in this form")
        a = tensor(a) if is_floating(dtype_of(a)) else tensor(a).to(np.float64)
        lead = np.shape(glanced(q))
        levels = tensor(q).to(a.dtype) / scale
        call_one = front_of("nanquantile" if skip else "quantile")
        several = axes_of(axis, a.ndim) if isinstance(axis, tuple) else []
        if several:
            a, axis = front_of("movedim")(a, several, list(range(-len(several), 0))).flatten(-len(several)), -1
        found = call_one(
            a, levels.ravel() if lead else levels, axis, bool(keepdims) and not several, interpolation=method
        )
        for k in several if keepdims else ():
            found = found.unsqueeze(k + bool(lead))
        return found.reshape((*lead, *found.shape[1:])) if len(lead) > 1 else found

    return call


def _median(name: str, skip: bool) -> Callable[..., Any]:
    quantile = _quantile(name, 1, skip)

    def call(a: Any, axis: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Any:
        return quantile(a, 0.5, axis, overwrite_input, keepdims=keepdims)

    return call


def _skipping(name: str, masked: str) -> Callable[..., Any]:
    def call(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False, ddof: Any = 0, **rest: Any) -> Any:
        wanted(f"np.{name}", rest)
        a = tensor(a)
        options = {"correction": ddof} if masked in ("var", "std") else {}
        found = front_of("logical_not")(front_of("isnan")(a))
        return SPACES["masked"][masked](a, axis, keepdim=bool(keepdims), dtype=dtype, mask=found, **options)

    return call


def _extreme_skipping(name: str, masked: str) -> Callable[..., Any]:
    inner = _skipping(name, masked)

    def call(a: Any, axis: Any = None, keepdims: Any = False, **rest: Any) -> Any:
        return inner(a, axis, None, keepdims, **rest)

    return call


def _spread(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return reduce("amax", a, axis, keepdims) - reduce("amin", a, axis, keepdims)


def _covariance(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, fweights: Any = None, **rest: Any
) -> Any:
    aweights = rest.pop("aweights", None)
    wanted("np.cov", rest)
    rows = [x if x.ndim < 2 or rowvar else x.T for x in ([tensor(m)] if y is None else [tensor(m), tensor(y)])]
    if len(rows) > 1:
        rows = [front_of("cat")([x.reshape(1, -1) if x.ndim < 2 else x for x in rows], 0)]
    correction = ddof if ddof is not None else int(not bias)
    return front_of("cov")(rows[0], correction=correction, fweights=fweights, aweights=aweights)


def _correlation(x: Any, y: Any = None, rowvar: bool = True, **rest: Any) -> Any:
    wanted("np.corrcoef", rest)
    c = _covariance(x, y, rowvar)
    if not c.ndim:
        return c / c
    size = front_of("sqrt")(front_of("diagonal")(c))
    return c / size[:, None] / size[None, :]


def _running(name: str, call_name: str) -> Callable[..., Any]:
    def call(a: Any, axis: Any = None, dtype: Any = None, *, include_initial: bool = False) -> Any:
        a = tensor(a)
        a = a if dtype is None else a.to(dtype)
        if axis is None and name.startswith("cumulative") and a.ndim > 1:
            raise ArgumentError("For arrays which have more than one dimension ``axis`` argument is required.")
        a, k = (a.ravel(), 0) if axis is None else (a, axis_of(axis, a.ndim))
        found = front_of(call_name)(a, k)
        if not include_initial:
            return found
        start = found.detach().new_full([1 if d == k else n for d, n in enumerate(a.shape)], call_name == "cumprod")
        return front_of("cat")([start, found], k)

    return call


def _running_skipping(call_name: str, identity: int) -> Callable[..., Any]:
    running = _running(f"nan{call_name}", call_name)

    def call(a: Any, axis: Any = None, dtype: Any = None) -> Any:
        return running(front_of("nan_to_num")(tensor(a), identity, np.inf, -np.inf), axis, dtype)

    return call


def _partitioned(a: Any, kth: Any, axis: Any = -1, kind: Any = None, order: Any = None) -> Any:  # noqa: ARG001
    """All entries in order, which is more than was asked for."""
    return _sort(a, axis, order=order)


def _distinct(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    **options: Any,
) -> Any:
    """The entries where each value stands first: gradients go there."""
    a, k = (tensor(ar).ravel(), 0) if axis is None else (tensor(ar), axis_of(axis, np.ndim(ar)))
    numpys: Any = np.unique
    _, first, *rest = numpys(bare(ar), True, return_inverse, return_counts, axis, **options)
    found = (a[(slice(None),) * k + (first,)], *([first] if return_index else []), *rest)
    return found if len(found) > 1 else found[0]


def _difference(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    a = tensor(a)

    def shaped(x: Any) -> Any:
        if x is None or x is np._NoValue:
            return None
        x = tensor(x)
        return x.expand(*(1 if k == axis_of(axis, a.ndim) else s for k, s in enumerate(a.shape))) if not x.ndim else x

    return front_of("diff")(a, n, axis, shaped(prepend), shaped(append))


def _differences(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    a = tensor(ary).ravel()
    ends = [None if x is None else tensor(x).ravel().to(a.dtype) for x in (to_begin, to_end)]
    return front_of("cat")([x for x in (ends[0], a[1:] - a[:-1], ends[1]) if x is not None], 0)


def _counted(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    return front_of("bincount")(tensor(x), None if weights is None else tensor(weights), minlength)


def _gradient(f: Any, *spacing: Any, axis: Any = None, edge_order: int = 1) -> Any:
    f = tensor(f)
    axes = tuple(range(f.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if any(isinstance(h, (list, np.ndarray)) and np.ndim(h) for h in spacing) or len(spacing) not in (0, 1, len(axes)):
        raise unsupported("np.gradient with coordinates", " in this form")
    steps = list(spacing) * (len(axes) if len(spacing) == 1 else 1) or [1] * len(axes)
    made = tuple(
        front_of("gradient")(f, spacing=h, dim=k, edge_order=edge_order)[0] for h, k in zip(steps, axes, strict=True)
    )
    return made[0] if len(made) == 1 else made


def _without_numbers(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    if not copy:
        raise unsupported("np.nan_to_num(…, copy=False)", " in this form")
    return front_of("nan_to_num")(x, nan, posinf, neginf)


def _cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    if not axisa == axisb == axisc:
        raise unsupported("np.cross with several axes", " in this form")
    a, b = tensor(a), tensor(b)
    if a.ndim != b.ndim and axisa == -1:
        a, b = (x[(None,) * (max(a.ndim, b.ndim) - x.ndim)] for x in (a, b))
    return SPACES["linalg"]["cross"](a, b, dim=axisa)


def _angle(z: Any, deg: bool = False) -> Any:
    found = front_of("angle")(z)
    return found * 180 / np.pi if deg else found


# ---------------------------------------------------------------------------------------------- linalg


def _linalg(name: str, *kept: str) -> Callable[..., Any]:
    """The function of the same name, which takes the arguments ``kept`` beside its arrays by NumPy's names."""
    names = {"axis": "dim", "keepdims": "keepdim"}

    def call(*args: Any, **kwargs: Any) -> Any:
        wanted(f"np.linalg.{name}", {k: v for k, v in kwargs.items() if k not in kept})
        options = {names.get(k, k): v for k, v in kwargs.items() if k in kept}
        return SPACES["linalg"][name](*map(_array, args), **options)

    return call


def _array(x: Any) -> Any:
    return tensor(x) if isinstance(x, np.ndarray) else x


def _matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    return SPACES["linalg"]["matrix_norm"](x, ord, keepdim=keepdims)


def _vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    return front_of("norm")(x, ord, tuple(range(x.ndim)) if axis is None else axis, bool(keepdims))


def _singular(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    if hermitian:
        raise unsupported("np.linalg.svd(…, hermitian=True)", " in this form")
    return SPACES["linalg"]["svd"](a, full_matrices) if compute_uv else SPACES["linalg"]["svdvals"](a)


def _orthogonal(a: Any, mode: str = "reduced") -> Any:
    found = SPACES["linalg"]["qr"](a, mode)
    return found[1] if mode == "r" else found


def _inverse_like(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = np._NoValue) -> Any:
    given = rtol if rcond is None and rtol is not np._NoValue else rcond
    # NumPy's default cutoff is a fixed one, unlike torch's.
    return SPACES["linalg"]["pinv"](a, rtol=1e-15 if given is None else given, hermitian=hermitian)


def _trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    found = front_of("diagonal")(x, offset, -2, -1).sum(-1)
    return found if dtype is None else found.to(dtype)


# ---------------------------------------------------------------------------------------------- Fourier


def _along(name: str) -> Callable[..., Any]:
    def call(a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
        return SPACES["fft"][name](tensor(a), n, axis, norm)

    return call


def _over(name: str) -> Callable[..., Any]:
    default = (-2, -1) if name.endswith("2") else None

    def call(a: Any, s: Any = None, axes: Any = default, norm: Any = None) -> Any:
        return SPACES["fft"][name](tensor(a), s, axes, norm)

    return call


MORE: dict[Any, Callable[..., Any]] = {
    np.append: _append,
    np.array_split: _array_split,
    **{getattr(np, name): _split_along(name) for name in ("hsplit", "vsplit", "dsplit")},
    **{getattr(np, name): _at_least(name) for name in ("atleast_1d", "atleast_2d", "atleast_3d")},
    np.astype: lambda x, dtype, /, *, copy=True, device=None: x.to(dtype),
    np.broadcast_arrays: lambda *args, subok=False: front_of("broadcast_tensors")(*map(tensor, args)),
    np.delete: _delete,
    np.compress: _compress,
    np.extract: lambda condition, arr: _compress(bare(condition).ravel(), arr.ravel()),
    np.diagflat: lambda v, k=0: front_of("diagflat")(tensor(v), k),
    np.fliplr: lambda m: front_of("fliplr")(m),
    np.flipud: lambda m: front_of("flipud")(m),
    np.meshgrid: _meshgrid,
    np.repeat: _repeat,
    np.roll: lambda a, shift, axis=None: front_of("roll")(a, shift, axis),
    np.rollaxis: _rolled_axis,
    np.rot90: lambda m, k=1, axes=(0, 1): front_of("rot90")(m, k, axes),
    np.select: _select,
    np.matrix_transpose: lambda x, /: x.mT,
    np.sort: _sort,
    np.quantile: _quantile("quantile", 1, False),
    np.percentile: _quantile("percentile", 100, False),
    np.nanquantile: _quantile("nanquantile", 1, True),
    np.nanpercentile: _quantile("nanpercentile", 100, True),
    np.median: _median("median", False),
    np.nanmedian: _median("nanmedian", True),
    **{getattr(np, f"nan{name}"): _skipping(f"nan{name}", name) for name in ("sum", "prod", "mean", "var", "std")},
    np.nanmax: _extreme_skipping("nanmax", "amax"),
    np.nanmin: _extreme_skipping("nanmin", "amin"),
    np.ptp: _spread,
    np.cov: _covariance,
    np.corrcoef: _correlation,
    **{getattr(np, name): _running(name, name) for name in ("cumsum", "cumprod")},
    np.nancumsum: _running_skipping("cumsum", 0),
    np.nancumprod: _running_skipping("cumprod", 1),
    np.partition: _partitioned,
    np.unique: _distinct,
    np.bincount: _counted,
    np.diff: _difference,
    np.ediff1d: _differences,
    np.real_if_close: lambda a, tol=100: a.real if np.isrealobj(np.real_if_close(bare(a), tol)) else a,
    np.gradient: _gradient,
    np.trapezoid: lambda y, x=None, dx=1.0, axis=-1: (
        front_of("trapezoid")(y, dx=dx, dim=axis) if x is None else front_of("trapezoid")(y, tensor(x), dim=axis)
    ),
    np.vander: lambda x, N=None, increasing=False: front_of("vander")(x, N, increasing),
    np.nan_to_num: _without_numbers,
    np.cross: _cross,
    np.angle: _angle,
    np.i0: lambda x: front_of("i0")(x),
    **{getattr(np.linalg, name): _linalg(name) for name in ("eig", "eigvals", "svdvals", "matrix_power")},
    np.linalg.tensorinv: _linalg("tensorinv", "ind"),
    **{getattr(np.linalg, name): _linalg(name, "UPLO") for name in ("eigh", "eigvalsh")},
    np.linalg.cond: _linalg("cond", "p"),
    np.linalg.multi_dot: lambda arrays: functools.reduce(front_of("matmul"), map(tensor, arrays)),
    np.linalg.cross: lambda x1, x2, /, *, axis=-1: _cross(x1, x2, axis=axis),
    np.linalg.diagonal: lambda x, /, *, offset=0: front_of("diagonal")(x, offset, -2, -1),
    np.linalg.matmul: lambda x1, x2, /: front_of("matmul")(x1, x2),
    np.linalg.matrix_norm: _matrix_norm,
    np.linalg.vector_norm: _vector_norm,
    np.linalg.matrix_transpose: lambda x, /: x.mT,
    np.linalg.outer: lambda x1, x2, /: front_of("outer")(tensor(x1), tensor(x2)),
    np.linalg.pinv: _inverse_like,
    np.linalg.qr: _orthogonal,
    np.linalg.svd: _singular,
    np.linalg.tensordot: lambda x1, x2, /, *, axes=2: front_of("tensordot")(tensor(x1), tensor(x2), axes),
    np.linalg.tensorsolve: lambda a, b, axes=None: SPACES["linalg"]["tensorsolve"](tensor(a), tensor(b), axes),
    np.linalg.trace: _trace,
    np.linalg.vecdot: _linalg("vecdot", "axis"),
    **{getattr(np.fft, name): _along(name) for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{getattr(np.fft, n): _over(n) for n in ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")},
    np.fft.fftshift: lambda x, axes=None: SPACES["fft"]["fftshift"](x, axes),
    np.fft.ifftshift: lambda x, axes=None: SPACES["fft"]["ifftshift"](x, axes),
}  # fmt: skip

_OF_SOME: dict[str, Callable[..., Any]] = {
    "fix": lambda x: front_of("fix")(x),
    "unstack": lambda x, /, *, axis=0: front_of("unbind")(x, axis),
    "cumulative_sum": _running("cumulative_sum", "cumsum"),
    "cumulative_prod": _running("cumulative_prod", "cumprod"),
}
"""Functions that not every version of NumPy has: 2.0 or, one day, those that follow."""
MORE.update({getattr(np, name): call for name, call in _OF_SOME.items() if hasattr(np, name)})
