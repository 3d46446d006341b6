"""NumPy's functions on tensors: ``np.sin(t)``, ``np.sum(t, axis=0)``, ``np.concatenate`` … give tensors with gradients.

Ufuncs and functions are looked up in the op table, so what NumPy computes and what is differentiated are one thing.  A
function that the table does not have is refused: converting to an array behind the user's back would lose the gradient.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, AutogradError, UnsupportedFunction
from symgrad.op import FRONTS, carrier_of
from symgrad.ops import linalg
from symgrad.tape.record import Recorded, plain, traced

_UFUNC_NAMES = {
    "absolute": "abs",
    "fabs": "abs",
    "conjugate": "conj",
    "power": "pow",
    "mod": "remainder",
    "rint": "round",
    "true_divide": "div",
    "equal": "eq",
    "not_equal": "ne",
}
_BITS = {
    "bitwise_and": "logical_and",
    "bitwise_or": "logical_or",
    "bitwise_xor": "logical_xor",
    "invert": "logical_not",
}
"""On bools these are the logical operations; the table has none on the bits of integers."""
_REDUCE = {"add": "sum", "multiply": "prod", "maximum": "amax", "minimum": "amin", "logaddexp": "logsumexp"}
_IDLE = (None, "K", "same_kind", True, np._NoValue)
"""Values of keyword arguments that ask for nothing special."""


def _unsupported(name: str, why: str = "") -> UnsupportedFunction:
    return UnsupportedFunction(
        f"{name} is not in symgrad's op table{why}, so its gradient would be lost. Write it with functions that are "
        f"(dir(symgrad) lists them), or, where no gradient is wanted, call {name} on t.detach().numpy()."
    )


def _wanted(name: str, kwargs: dict[str, Any]) -> None:
    """Refuse keyword arguments that would change the meaning and are not read."""
    for key, value in kwargs.items():
        if not any(value is idle or (isinstance(value, str) and value == idle) for idle in _IDLE):
            raise _unsupported(f"{name}(…, {key}=…)", " in this form")


# ---------------------------------------------------------------------------------------------- ufuncs


def call_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``ufunc`` with a tensor among its arguments, by the op of the same meaning.

    Raises ``UnsupportedFunction`` for ufuncs that the table does not have.

    >>> import symgrad as sg
    >>> np.sin(sg.tensor([0.0], requires_grad=True))
    tensor([0.], grad_fn=<SinBackward0>)
    """
    name = f"np.{ufunc.__name__}"
    out = kwargs.pop("out", None)
    if out is not None:
        return _into(out, ufunc, method, inputs, kwargs)
    if method == "__call__":
        dtype = kwargs.pop("dtype", None)
        _wanted(name, kwargs)
        result = _ufunc_front(ufunc, inputs)(*inputs)
        return result if dtype is None else _front("to")(result, dtype)
    if method == "reduce" and ufunc.__name__ in _REDUCE:
        axis, keepdims = kwargs.pop("axis", 0), kwargs.pop("keepdims", False)
        _wanted(f"{name}.reduce", kwargs)
        return _reduce(_REDUCE[ufunc.__name__], inputs[0], axis, keepdims)
    if method == "accumulate" and ufunc is np.add:
        return _front("cumsum")(inputs[0], kwargs.get("axis", 0))
    if method == "outer" and ufunc is np.multiply:
        a, b = inputs
        return _front("mul")(a[(..., *(None,) * np.ndim(b))], b)
    raise _unsupported(f"{name}.{method}" if method != "__call__" else name)


def _front(name: str) -> Callable[..., Any]:
    from symgrad.tensor import FUNCTIONS, Tensor

    if name in FUNCTIONS:
        return FUNCTIONS[name]
    method = getattr(Tensor, name, None)
    return method if method is not None else FRONTS[name].call


def _ufunc_front(ufunc: Any, inputs: tuple[Any, ...]) -> Callable[..., Any]:
    from symgrad.tensor import FUNCTIONS

    name = ufunc.__name__
    if name in _BITS and all(np.asarray(_bare(x)).dtype == bool for x in inputs):
        name = _BITS[name]
    found = FUNCTIONS.get(_UFUNC_NAMES.get(name, name))
    if found is None:
        if name == "positive":
            return lambda x: x
        if name in ("deg2rad", "radians", "rad2deg", "degrees"):
            factor = math.pi / 180 if name in ("deg2rad", "radians") else 180 / math.pi
            return lambda x: x * factor
        raise _unsupported(f"np.{name}")
    return found


def _into(out: Any, ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``out=``: only where nothing is recorded, since an array cannot carry a history."""
    if any(isinstance(x, Recorded) and traced(x) for x in (*inputs, *out)):
        raise AutogradError(
            f"np.{ufunc.__name__}(…, out=…): functions with out=... arguments don't support automatic differentiation, "
            "but one of the arguments requires grad. Use the result instead of out=, or t.detach()."
        )
    bare = tuple(x._value if isinstance(x, Recorded) else x for x in inputs)
    arrays = tuple(x if isinstance(x, np.ndarray) else x.numpy() for x in out)
    getattr(ufunc, method)(*bare, out=arrays, **kwargs)
    return out[0] if len(out) == 1 else out


# ---------------------------------------------------------------------------------------------- functions


def call_function(func: Any, args: Any, kwargs: Any) -> Any:
    """A function of NumPy's API with a tensor among its arguments.

    Raises ``UnsupportedFunction`` for those that are neither in the op table nor mere questions about values.

    >>> import symgrad as sg
    >>> np.sum(sg.tensor([[1.0, 2.0]], requires_grad=True), axis=1)
    tensor([3.], grad_fn=<SumBackward1>)
    """
    adapter = _FUNCTIONS.get(func)
    name = _function_name(func)
    if adapter is not None:
        try:
            return adapter(*args, **{k: v for k, v in kwargs.items() if v is not np._NoValue})
        except TypeError as error:
            if "argument" in str(error) and adapter.__name__ in str(error):
                raise _unsupported(f"{name} with these arguments ({error})") from None
            raise
    if func in _QUESTIONS:
        return func(*_bare(args), **_bare(kwargs))
    raise _unsupported(name)


def _function_name(func: Any) -> str:
    module = getattr(func, "__module__", "numpy") or "numpy"
    return f"{module.replace('numpy', 'np', 1)}.{func.__name__}"


def _bare(value: Any) -> Any:
    """The same arguments with arrays in place of tensors."""
    if isinstance(value, Recorded):
        return value._value
    if isinstance(value, (list, tuple)):
        return type(value)(map(_bare, value))
    return {k: _bare(v) for k, v in value.items()} if isinstance(value, dict) else value


_QUESTIONS = {
    np.shape, np.ndim, np.size, np.allclose, np.array_equal, np.array_equiv, np.isclose, np.result_type, np.can_cast,
    np.array_repr, np.array_str, np.array2string, np.iscomplexobj, np.isrealobj, np.argsort, np.nonzero,
    np.count_nonzero, np.searchsorted, np.may_share_memory, np.shares_memory, np.argwhere, np.flatnonzero,
    np.all, np.any,
}  # fmt: skip
"""Functions that ask about values and have no derivative: they run on the arrays and give arrays and numbers."""


def _reduce(name: str, a: Any, axis: Any, keepdims: Any = False) -> Any:
    call = _front(name)
    if name == "prod":
        return _prod(a, axis, keepdims)
    if axis is None:
        axis = tuple(range(np.ndim(a)))
    return call(_tensor(a), axis, bool(keepdims))


def _tensor(x: Any) -> Any:
    """A tensor of whatever NumPy would take for an array: lists and tuples of tensors are stacked."""
    if isinstance(x, (list, tuple)):
        return _front("stack")([_tensor(item) for item in x])
    if carrier_of(type(x)) is not None:
        return x
    from symgrad.tensor import Tensor

    return plain(Tensor, np.asarray(x)[()])


def _prod(a: Any, axis: Any, keepdims: Any = False) -> Any:
    a, call = _tensor(a), _front("prod")
    if axis is None:
        out = call(a)
        return out.reshape((1,) * a.ndim) if keepdims else out
    for k in sorted((d % a.ndim for d in (axis if isinstance(axis, tuple) else (axis,))), reverse=True):
        a = call(a, k, bool(keepdims))
    return a


def _reduction(name: str) -> Callable[..., Any]:
    def call(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **rest: Any) -> Any:
        _wanted(f"np.{name}", {"out": out, **rest})
        a = _tensor(a)
        return _reduce(name, a if dtype is None else a.to(dtype), axis, keepdims)

    return call


def _extreme(name: str) -> Callable[..., Any]:
    def call(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, **rest: Any) -> Any:
        _wanted(f"np.{name}", {"out": out, **rest})
        return _reduce(name, a, axis, keepdims)

    return call


def _spread(name: str) -> Callable[..., Any]:
    def call(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, **rest: Any
    ) -> Any:
        _wanted(f"np.{name}", {"out": out, **rest})
        a = _tensor(a)
        return _front(name)(a if dtype is None else a.to(dtype), axis, keepdim=bool(keepdims), correction=ddof)

    return call


def _arg(name: str) -> Callable[..., Any]:
    def call(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        _wanted(f"np.{name}", {"out": out})
        return _front(name)(_tensor(a), axis, bool(keepdims))

    return call


def _rounded(a: Any, decimals: int = 0, out: Any = None) -> Any:
    _wanted("np.round", {"out": out})
    if decimals:
        raise _unsupported("np.round(…, decimals=…)", " in this form")
    return _front("round")(a)


def _cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    _wanted("np.cumsum", {"out": out})
    a = _tensor(a)
    a = a if dtype is None else a.to(dtype)
    return _front("cumsum")(a.ravel(), 0) if axis is None else _front("cumsum")(a, axis)


def _concatenate(arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = None) -> Any:  # noqa: ARG001
    _wanted("np.concatenate", {"out": out})
    parts = [_tensor(x) for x in arrays]
    joined = _front("cat")([x.ravel() for x in parts], 0) if axis is None else _front("cat")(parts, axis)
    return joined if dtype is None else joined.to(dtype)


def _stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: Any = None) -> Any:  # noqa: ARG001
    _wanted("np.stack", {"out": out})
    joined = _front("stack")([_tensor(x) for x in arrays], axis)
    return joined if dtype is None else joined.to(dtype)


def _vstack(arrays: Any, *, dtype: Any = None, casting: Any = None) -> Any:  # noqa: ARG001
    rows = [_tensor(x) for x in arrays]
    return _concatenate([x.reshape(1, -1) if x.ndim < 2 else x for x in rows], 0, dtype=dtype)


def _hstack(arrays: Any, *, dtype: Any = None, casting: Any = None) -> Any:  # noqa: ARG001
    parts = [x.reshape(1) if x.ndim == 0 else x for x in map(_tensor, arrays)]
    return _concatenate(parts, 0 if parts[0].ndim == 1 else 1, dtype=dtype)


def _column_stack(arrays: Any) -> Any:
    return _concatenate([x.reshape(-1, 1) if x.ndim < 2 else x for x in map(_tensor, arrays)], 1)


def _reshape(a: Any, /, shape: Any, order: str = "C", **rest: Any) -> Any:
    _wanted("np.reshape", rest)
    if order not in ("C", "A"):
        raise _unsupported(f"np.reshape(…, order={order!r})", " in this form")
    return a.reshape(shape if isinstance(shape, (tuple, list)) else (shape,))


def _ravel(a: Any, order: str = "C") -> Any:
    if order not in ("C", "A", "K"):
        raise _unsupported(f"np.ravel(…, order={order!r})", " in this form")
    return a.ravel()


def _transpose(a: Any, axes: Any = None) -> Any:
    return a.T if axes is None else a.permute(axes)


def _where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    if x is None or y is None:
        return np.nonzero(_bare(condition))
    return _front("where")(condition, x, y)


def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None) -> Any:
    _wanted("np.clip", {"out": out})
    return _front("clamp")(a, a_min if a_min is not None else min, a_max if a_max is not None else max)


def _dot(a: Any, b: Any, out: Any = None) -> Any:
    _wanted("np.dot", {"out": out})
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return _front("mul")(a, b)
    if np.ndim(b) > 2:
        return _front("tensordot")(a, b, ([np.ndim(a) - 1], [np.ndim(b) - 2]))
    return _front("matmul")(a, b)


def _inner(a: Any, b: Any, /) -> Any:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return _front("mul")(a, b)
    return _front("tensordot")(a, b, ([np.ndim(a) - 1], [np.ndim(b) - 1]))


def _vdot(a: Any, b: Any, /) -> Any:
    a, b = _tensor(a).ravel(), _tensor(b).ravel()
    return _front("dot")(_front("conj")(a), b)


def _outer(a: Any, b: Any, out: Any = None) -> Any:
    _wanted("np.outer", {"out": out})
    return _front("outer")(_tensor(a).ravel(), _tensor(b).ravel())


def _einsum(*operands: Any, out: Any = None, **rest: Any) -> Any:
    rest.pop("optimize", None)  # the contraction order is planned here, whatever NumPy would do
    _wanted("np.einsum", {"out": out, **rest})
    return _front("einsum")(*operands)


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    x = _tensor(x)
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if ord not in (None, "fro") and len(axes) != 1:
        raise _unsupported(f"np.linalg.norm with ord={ord!r} of a matrix", " in this form")
    return _front("norm")(x, 2 if ord in (None, "fro") else ord, axes, bool(keepdims))


def _expand_dims(a: Any, axis: Any) -> Any:
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    ndim = a.ndim + len(axes)
    for k in sorted(k % ndim for k in axes):
        a = a.unsqueeze(k)
    return a


def _average(a: Any, axis: Any = None, weights: Any = None, **rest: Any) -> Any:
    _wanted("np.average", {k: v for k, v in rest.items() if v})
    if weights is None:
        return _reduce("mean", a, axis)
    a, weights = _tensor(a), _tensor(weights)
    if weights.ndim == 1 and a.ndim > 1 and isinstance(axis, int):
        weights = weights.reshape(tuple(-1 if k == axis % a.ndim else 1 for k in range(a.ndim)))
    return _reduce("sum", a * weights, axis) / _reduce("sum", weights, axis if weights.ndim == a.ndim else None)


def _diag(v: Any, k: int = 0) -> Any:
    return _front("diag")(v, k)


def _flip(m: Any, axis: Any = None) -> Any:
    axes = tuple(range(m.ndim)) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    return m.flip(*axes)


def _array(name: str, value: int) -> Callable[..., Any]:
    def call(a: Any, dtype: Any = None, **rest: Any) -> Any:
        _wanted(f"np.{name}", {k: v for k, v in rest.items() if k not in ("order", "subok", "shape", "device")})
        made = a.detach().full_like(value)
        return made if dtype is None else made.to(dtype)

    call.__name__ = name
    return call


def _full_like(a: Any, fill_value: Any, dtype: Any = None, **rest: Any) -> Any:
    _wanted("np.full_like", {k: v for k, v in rest.items() if k not in ("order", "subok", "shape", "device")})
    made = a.detach().full_like(fill_value)
    return made if dtype is None else made.to(dtype)


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
    from symgrad.ops.indexing import take_along

    return take_along(arr, _bare(indices), axis)


def _take(a: Any, indices: Any, axis: Any = None, **rest: Any) -> Any:
    _wanted("np.take", {k: v for k, v in rest.items() if v != "raise"})
    if axis is None:
        return a.ravel()[_bare(indices)]
    return a[(slice(None),) * (axis % a.ndim) + (_bare(indices),)]


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: _reduction("sum"),
    np.mean: _reduction("mean"),
    np.prod: _reduction("prod"),
    np.max: _extreme("amax"),
    np.amax: _extreme("amax"),
    np.min: _extreme("amin"),
    np.amin: _extreme("amin"),
    np.var: _spread("var"),
    np.std: _spread("std"),
    np.average: _average,
    np.argmax: _arg("argmax"),
    np.argmin: _arg("argmin"),
    np.cumsum: _cumsum,
    np.round: _rounded,
    np.around: _rounded,
    np.concatenate: _concatenate,
    np.stack: _stack,
    np.vstack: _vstack,
    np.hstack: _hstack,
    np.column_stack: _column_stack,
    np.split: _split,
    np.reshape: _reshape,
    np.ravel: _ravel,
    np.transpose: _transpose,
    np.swapaxes: lambda a, axis1, axis2: a.transpose(axis1, axis2),
    np.moveaxis: lambda a, source, destination: a.movedim(source, destination),
    np.expand_dims: _expand_dims,
    np.squeeze: lambda a, axis=None: a.squeeze() if axis is None else a.squeeze(axis),
    np.broadcast_to: lambda array, shape, subok=False: array.expand(shape),
    np.flip: _flip,
    np.tile: lambda A, reps: A.repeat((1,) * (A.ndim - np.size(reps)) + tuple(np.atleast_1d(reps).tolist())),
    np.where: _where,
    np.clip: _clip,
    np.dot: _dot,
    np.vdot: _vdot,
    np.inner: _inner,
    np.outer: _outer,
    np.kron: lambda a, b: _front("kron")(a, b),
    np.tensordot: lambda a, b, axes=2: _front("tensordot")(a, b, axes),
    np.einsum: _einsum,
    np.trace: lambda a, offset=0, axis1=0, axis2=1: _front("diagonal")(a, offset, axis1, axis2).sum(-1),
    np.diagonal: lambda a, offset=0, axis1=0, axis2=1: _front("diagonal")(a, offset, axis1, axis2),
    np.diag: _diag,
    np.tril: lambda m, k=0: _front("tril")(m, k),
    np.triu: lambda m, k=0: _front("triu")(m, k),
    np.real: lambda val: val.real,
    np.imag: lambda val: val.imag,
    np.sinc: lambda x: _front("sinc")(x),
    np.take: _take,
    np.take_along_axis: _take_along_axis,
    np.zeros_like: _array("zeros_like", 0),
    np.ones_like: _array("ones_like", 1),
    np.full_like: _full_like,
    np.copy: lambda a, order="K", subok=False: a.clone(),
    np.linalg.inv: lambda a: linalg.inv(a),
    np.linalg.det: lambda a: _front("det")(a),
    np.linalg.slogdet: lambda a: _front("slogdet")(a),
    np.linalg.solve: lambda a, b: linalg.solve(a, b),
    np.linalg.cholesky: lambda a, /, *, upper=False: _front("cholesky")(a).mT if upper else _front("cholesky")(a),
    np.linalg.norm: _norm,
}


def supported() -> list[str]:
    """The NumPy functions (not ufuncs) that work on tensors, for the documentation."""
    return sorted({_function_name(f) for f in _FUNCTIONS})
