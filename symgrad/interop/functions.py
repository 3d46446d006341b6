"""NumPy's functions by their op: ``np.sum``, ``np.concatenate``, ``np.linalg.eigh``, ``np.fft.rfft`` … for tensors.

Every adapter has the signature of NumPy's function.  What it cannot do is refused, never dropped.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, NotFollowed, ShapeError, UnsupportedFunction
from symgrad.op import FRONTS, carrier_of, fixed
from symgrad.ops.calls.naming import SPACES
from symgrad.ops.linalg import inverse
from symgrad.ops.shapes.shaping import axis_of
from symgrad.tape import containers
from symgrad.tape.forward.carried import Carried
from symgrad.tape.forward.dual import faced
from symgrad.tape.record import Recorded, given, plain
from symgrad.tape.watching.watch import WATCH, note_read

_IDLE = (None, "K", "same_kind", np._NoValue)
"""Values of keyword arguments that ask for nothing special."""

_TRUE = {"subok", "copy"}
"""Keyword arguments that ask for nothing special where they are true."""


def unsupported(name: str, why: str = "") -> UnsupportedFunction:
    """The error for what the table does not have."""
    return UnsupportedFunction(
        f"{name} is not in symgrad's op table{why}, so its gradient would be lost. Write it with functions that are "
        f"(dir(symgrad) lists them), or, where no gradient is wanted, call {name} on t.detach().numpy()."
    )


_INSTEAD = {
    **dict.fromkeys(("root", "root_scalar", "fsolve", "newton", "brentq", "bisect"), "symgrad.implicit.root"),
    **dict.fromkeys(("minimize", "minimize_scalar", "least_squares"), "symgrad.implicit.argmin"),
    "fixed_point": "symgrad.implicit.fixed_point",
    "quad": "a sum over nodes (np.polynomial.legendre.leggauss)",
    **dict.fromkeys(("solve_ivp", "odeint"), "steps of your own, such as those of Runge and Kutta"),
}
"""What does the same and can be differentiated, by the last name of a function of SciPy."""


def not_followed(name: str) -> NotFollowed:
    """The error for a function that makes plain numbers of what a program for arrays gives it."""
    other = _INSTEAD.get(name.rpartition(".")[2], "functions of NumPy")
    return NotFollowed(
        f"{name}() makes plain numbers of an array that a derivative follows, so the gradient would be lost. Write it "
        f"with {other}, or give it a derivative of its own (symgrad.autograd.Function)."
    )


def numbers_lost(place: tuple[str, int] | None) -> NotFollowed:
    """The error for numbers that a program for arrays makes, and on which its result depends."""
    where = "" if place is None else f" in {Path(place[0]).name}, line {place[1]}"
    return NotFollowed(
        f"float() makes a plain number of an array that a derivative follows{where}, and the result depends on it, so "
        "the gradient would be lost. Leave float() away: an entry of an array is a number."
    )


def not_written() -> NotFollowed:
    """The error for entries written into an array that a program has from elsewhere."""
    return NotFollowed(
        "A number that a derivative follows is written into an array of NumPy that is no argument of the function, and "
        "that it has not made, so the gradient would be lost. Write into a copy that it makes: np.array(a)."
    )


def wanted(name: str, kwargs: dict[str, Any]) -> None:
    """Refuse keyword arguments that would change the meaning and are not read."""
    for key, value in kwargs.items():
        if (key in _TRUE and value is True) or (key not in _TRUE and value is False):
            continue
        if not any(value is idle or (isinstance(value, str) and value == idle) for idle in _IDLE):
            raise unsupported(f"{name}(…, {key}=…)", " in this form")


def front_of(name: str) -> Callable[..., Any]:
    """The public function, or else the method, of a name."""
    from symgrad.tensor import FUNCTIONS, Tensor

    if name in FUNCTIONS:
        return FUNCTIONS[name]
    method = getattr(Tensor, name, None)
    return method if method is not None else FRONTS[name].call


def function_name(func: Any) -> str:
    """How users write a function of NumPy."""
    module = getattr(func, "__module__", "numpy") or "numpy"
    return f"{module.replace('numpy', 'np', 1)}.{func.__name__}"


def bare(value: Any) -> Any:
    """The same arguments with arrays in place of tensors; a tracer hears which values were read."""
    value = faced(value)
    if isinstance(value, Recorded):
        if WATCH.count:
            note_read(value, "a function of NumPy")
        return value._value
    return _inside(bare, value)


def glanced(value: Any) -> Any:
    """:func:`bare` where nothing is computed from the values, only from shapes and dtypes."""
    value = faced(value)
    return value._value if isinstance(value, Recorded) else _inside(glanced, value)


def _inside(change: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, Carried) and value.beneath is not None:
        return change(value.beneath)
    if isinstance(value, (list, tuple)):
        return type(value)(map(change, value))
    return {k: change(v) for k, v in value.items()} if isinstance(value, dict) else value


def dtype_of(value: Any) -> np.dtype[Any]:
    """The dtype of a tensor, or of what NumPy makes of anything else."""
    return value.dtype if hasattr(value, "dtype") else np.asarray(value).dtype


def reduce(name: str, a: Any, axis: Any, keepdims: Any = False) -> Any:
    """A reduction of the table over NumPy's axes, all of them for None."""
    call = front_of(name)
    if name == "prod":
        return _prod(a, axis, keepdims)
    if axis is None:
        axis = tuple(range(np.ndim(a)))
    return call(tensor(a), axis, bool(keepdims))


def tensor(x: Any) -> Any:
    """A tensor of whatever NumPy would take for an array: lists and tuples of tensors are stacked."""
    if isinstance(x, (list, tuple)):
        return front_of("stack")([tensor(item) for item in x])
    if carrier_of(type(x)) is not None:
        return x
    from symgrad.tensor import Tensor

    array = np.asarray(x)
    return given(Tensor, array) if array.ndim else plain(Tensor, array[()])


def axes_of(axis: Any, ndim: int) -> list[int]:
    """One axis, or several, from the first on.  Raises ``IndexError`` beyond the last, ``ValueError`` for one twice."""
    found = sorted(axis_of(k, ndim) for k in (axis if isinstance(axis, (tuple, list)) else (axis,)))
    if len(set(found)) < len(found):
        raise ArgumentError(f"axis={axis}: one axis is there twice.")
    return found


def _as_rows(m: Any) -> Any:
    """A matrix: one axis stands in each of as many rows."""
    m = tensor(m)
    return m.expand(len(m), len(m)) if m.ndim == 1 else m


def _prod(a: Any, axis: Any, keepdims: Any = False) -> Any:
    a, call = tensor(a), front_of("prod")
    if axis is None:
        out = call(a)
        return out.reshape((1,) * a.ndim) if keepdims else out
    for k in reversed(axes_of(axis, a.ndim)):
        a = call(a, k, bool(keepdims))
    return a


def _arg(name: str) -> Callable[..., Any]:
    def call(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
        return front_of(name)(tensor(a), axis, bool(keepdims))

    return call


def _rounded(a: Any, decimals: int = 0) -> Any:
    return front_of("round")(a, decimals=decimals) if decimals else front_of("round")(a)


def _concatenate(arrays: Any, /, axis: Any = 0, *, dtype: Any = None, casting: Any = None) -> Any:  # noqa: ARG001
    parts = [tensor(x) for x in arrays]
    joined = front_of("cat")([x.ravel() for x in parts], 0) if axis is None else front_of("cat")(parts, axis)
    return joined if dtype is None else joined.to(dtype)


def _stack(arrays: Any, axis: int = 0, *, dtype: Any = None, casting: Any = None) -> Any:  # noqa: ARG001
    joined = front_of("stack")([tensor(x) for x in arrays], axis)
    return joined if dtype is None else joined.to(dtype)


def _joined(name: str) -> Callable[..., Any]:
    """``np.vstack`` and its kin."""

    def call(tup: Any, *, dtype: Any = None, casting: Any = None) -> Any:  # noqa: ARG001
        joined = front_of(name)([tensor(x) for x in tup])
        return joined if dtype is None else joined.to(dtype)

    return call


def _reshape(a: Any, /, shape: Any, order: str = "C", **rest: Any) -> Any:
    wanted("np.reshape", rest)
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if order == "F":  # the first axis runs fastest
        return _turned(_turned(a).reshape(sizes[::-1]))
    if order not in ("C", "A"):
        raise unsupported(f"np.reshape(…, order={order!r})", " in this form")
    return a.reshape(sizes)


def _tile(A: Any, reps: Any) -> Any:
    """As often as counts say, which may be sizes; missing ones are 1."""
    counts = tuple(reps) if np.ndim(reps) else (reps,)
    return A.repeat((1,) * (A.ndim - len(counts)) + counts)


def _turned(a: Any) -> Any:
    """The axes in the opposite order."""
    return a.permute(tuple(range(a.ndim))[::-1])


def _ravel(a: Any, order: str = "C") -> Any:
    if order not in ("C", "A", "K", "F"):
        raise unsupported(f"np.ravel(…, order={order!r})", " in this form")
    return (_turned(a) if order == "F" else a).ravel()


def _transpose(a: Any, axes: Any = None) -> Any:
    return a.T if axes is None else a.permute(axes)


def _where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    if x is None or y is None:
        return np.nonzero(bare(condition))
    if getattr(condition, "dtype", np.bool_) != np.bool_:
        condition = condition != 0  # any number is a condition to NumPy
    return front_of("where")(condition, x, y)


def _clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low, high = a_min if a_min is not None else min, a_max if a_max is not None else max
    return front_of("clone")(tensor(a)) if low is None and high is None else front_of("clamp")(a, low, high)


def _squeeze(a: Any, axis: Any = None) -> Any:
    """Without axes of one entry: others are refused, which torch leaves as they are."""
    if axis is None:
        return a.squeeze()
    for each in np.atleast_1d(axis).tolist():
        if a.ndim and a.shape[each] != 1:
            raise ShapeError(
                f"cannot select an axis to squeeze out which has size not equal to one: axis {each} of {tuple(a.shape)}"
            )
    return a.squeeze(axis)


def _dot(a: Any, b: Any) -> Any:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return front_of("mul")(a, b)
    if np.ndim(b) > 2:
        return front_of("tensordot")(a, b, ([np.ndim(a) - 1], [np.ndim(b) - 2]))
    return front_of("matmul")(a, b)


def _inner(a: Any, b: Any, /) -> Any:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return front_of("mul")(a, b)
    return front_of("tensordot")(a, b, ([np.ndim(a) - 1], [np.ndim(b) - 1]))


def _vdot(a: Any, b: Any, /) -> Any:
    a, b = tensor(a).ravel(), tensor(b).ravel()
    return front_of("dot")(front_of("conj")(a), b)


def _outer(a: Any, b: Any) -> Any:
    return front_of("outer")(tensor(a).ravel(), tensor(b).ravel())


def _einsum(*operands: Any, **rest: Any) -> Any:
    rest.pop("optimize", None)  # the contraction order is planned here, whatever NumPy would do
    wanted("np.einsum", rest)
    return front_of("einsum")(*operands)


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    x = tensor(x)
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if ord not in (None, "fro") and len(axes) == 2:
        return SPACES["linalg"]["matrix_norm"](x, ord, axes, bool(keepdims))
    return front_of("norm")(x, 2 if ord in (None, "fro") else ord, axes, bool(keepdims))


def _expand_dims(a: Any, axis: Any) -> Any:
    for k in axes_of(axis, a.ndim + (len(axis) if isinstance(axis, (tuple, list)) else 1)):
        a = a.unsqueeze(k)
    return a


def _average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False) -> Any:
    a = tensor(a)
    weights = tensor(np.ones(a.shape)).to(a.real.dtype) if weights is None else tensor(weights)
    if weights.shape != a.shape:
        axes = () if axis is None else tuple(axis_of(k, a.ndim) for k in (axis if isinstance(axis, tuple) else (axis,)))
        if tuple(a.shape[k] for k in axes) != tuple(weights.shape) or not axes:
            raise ShapeError(
                f"np.average: weights of shape {tuple(weights.shape)} have neither the shape {tuple(a.shape)} of a "
                "nor that of its axes axis=."
            )
        order = np.argsort(axes)
        weights = weights.permute(tuple(order.tolist()))
        weights = weights.reshape(tuple(n if k in axes else 1 for k, n in enumerate(a.shape))).expand(a.shape)
    total = reduce("sum", weights, axis, keepdims)
    found = reduce("sum", a * weights, axis, keepdims) / total
    return (found, total) if returned else found


def _diag(v: Any, k: int = 0) -> Any:
    return front_of("diag")(v, k)


def _flip(m: Any, axis: Any = None) -> Any:
    axes = tuple(range(m.ndim)) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    return m.flip(*axes)


def _array(name: str, value: int) -> Callable[..., Any]:
    def call(a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, **rest: Any) -> Any:
        return _full_like(a, value, dtype, order, subok, shape, **rest)

    call.__name__ = name
    return call


def _full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: Any = "K",  # noqa: ARG001  (the order of axes in memory is the tensor's own)
    subok: bool = True,  # noqa: ARG001
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    wanted("np.full_like", {"device": None if device == "cpu" else device})
    sizes = tuple(a.shape) if shape is None else shape if isinstance(shape, (tuple, list)) else (shape,)
    value = fill_value if isinstance(fill_value, (int, float, complex)) else tensor(fill_value)
    if isinstance(value, (int, float, complex)):
        return a.detach().new_full(tuple(sizes), value, dtype=a.dtype if dtype is None else dtype)
    return value.to(a.dtype if dtype is None else dtype).expand(*sizes).clone()


def _split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    total = ary.shape[axis]
    if isinstance(indices_or_sections, (int, np.integer)):
        count = int(indices_or_sections)
        if total % count:
            raise ArgumentError(f"np.split: an axis of length {total} does not divide into {count} equal parts.")
        return list(ary.split(total // count, axis))
    ends = [0, *map(int, indices_or_sections), total]
    return list(ary.split([b - a for a, b in itertools.pairwise(ends)], axis))


def _take_along_axis(arr: Any, indices: Any, axis: int = -1) -> Any:
    from symgrad.ops.indexing.gathering import take_along

    return take_along(arr, indices, axis)


def _take(a: Any, indices: Any, axis: Any = None, mode: str = "raise") -> Any:
    a, k = (a.ravel(), 0) if axis is None else (a, axis_of(axis, a.ndim))
    n = a.shape[k]
    places = indices if isinstance(indices, Recorded) else np.asarray(containers.tree_map(fixed, indices))
    if mode in ("wrap", "clip"):
        places = places % n if mode == "wrap" else front_of("clamp")(tensor(places), 0, n - 1)
    elif mode != "raise":
        raise ArgumentError(f"np.take: mode is raise, wrap or clip, not {mode!r}.")
    return a[(slice(None),) * k + (places,)]


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.average: _average,
    np.argmax: _arg("argmax"),
    np.argmin: _arg("argmin"),
    np.round: _rounded,
    np.around: _rounded,
    np.concatenate: _concatenate,
    np.stack: _stack,
    **{getattr(np, name): _joined(name) for name in ("vstack", "hstack", "dstack", "column_stack")},
    np.split: _split,
    np.reshape: _reshape,
    np.ravel: _ravel,
    np.transpose: _transpose,
    np.swapaxes: lambda a, axis1, axis2: a.transpose(axis1, axis2),
    np.moveaxis: lambda a, source, destination: a.movedim(source, destination),
    np.expand_dims: _expand_dims,
    np.squeeze: _squeeze,
    np.broadcast_to: lambda array, shape, subok=False: array.expand(shape),
    np.flip: _flip,
    np.tile: _tile,
    np.where: _where,
    np.clip: _clip,
    np.dot: _dot,
    np.vdot: _vdot,
    np.inner: _inner,
    np.outer: _outer,
    np.kron: lambda a, b: front_of("kron")(a, b),
    np.tensordot: lambda a, b, axes=2: front_of("tensordot")(a, b, axes),
    np.einsum: _einsum,
    np.trace: lambda a, offset=0, axis1=0, axis2=1: front_of("diagonal")(a, offset, axis1, axis2).sum(-1),
    np.diagonal: lambda a, offset=0, axis1=0, axis2=1: front_of("diagonal")(a, offset, axis1, axis2),
    np.diag: _diag,
    np.tril: lambda m, k=0: front_of("tril")(_as_rows(m), k),
    np.triu: lambda m, k=0: front_of("triu")(_as_rows(m), k),
    np.real: lambda val: val.real,
    np.imag: lambda val: val.imag if val.is_complex() else _full_like(val, 0),
    np.sinc: lambda x: front_of("sinc")(x),
    np.take: _take,
    np.take_along_axis: _take_along_axis,
    np.zeros_like: _array("zeros_like", 0),
    np.ones_like: _array("ones_like", 1),
    np.empty_like: _array("empty_like", 0),
    np.full_like: _full_like,
    np.copy: lambda a, order="K", subok=False: a.clone(),
    np.linalg.inv: lambda a: inverse.inv(a),
    np.linalg.det: lambda a: front_of("det")(a),
    np.linalg.slogdet: lambda a: front_of("slogdet")(a),
    np.linalg.solve: lambda a, b: inverse.solve(a, b),
    np.linalg.cholesky: lambda a, /, *, upper=False: inverse.cholesky(a).mH if upper else inverse.cholesky(a),
    np.linalg.norm: _norm,
}
