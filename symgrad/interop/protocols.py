"""NumPy's functions on tensors: ``np.sin(t)``, ``np.sum(t, axis=0)``, ``np.concatenate`` … give tensors with gradients.

Ufuncs and functions are looked up in the op table, so what NumPy computes and what is differentiated are one thing.  A
function that the table does not have is refused: converting to an array behind the user's back would lose the gradient.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.interop.functions import (
    FUNCTIONS,
    bare,
    front_of,
    function_name,
    tensor,
    unsupported,
    wanted,
)
from symgrad.interop.into import chosen, into, refuse_arrays
from symgrad.interop.more import MORE
from symgrad.interop.pieces import PIECES
from symgrad.interop.polynomials import POLYNOMIALS
from symgrad.interop.questions import KINDS, VALUES, answered
from symgrad.interop.ranges import RANGES
from symgrad.interop.reductions import REDUCTIONS, reduced
from symgrad.interop.writing import WRITERS, added_at
from symgrad.op import FRONTS
from symgrad.ops.calls.naming import SPACES
from symgrad.ops.elementwise.arithmetic import over_tensor
from symgrad.ops.shapes.shaping import axis_of
from symgrad.tape.record import Recorded

ADAPTERS: dict[Any, Callable[..., Any]] = {
    **FUNCTIONS,
    **REDUCTIONS,
    **PIECES,
    **POLYNOMIALS,
    **RANGES,
    **MORE,
    **WRITERS,
}


def _of_floats(call: Callable[..., Any]) -> Callable[..., Any]:
    """A function of matrices as NumPy has it, which makes doubles of whole numbers, where torch's refuse them."""

    @functools.wraps(call)
    def converted(*args: Any, **kwargs: Any) -> Any:
        return call(*(tensor(x).to(np.float64) if _whole(x) else x for x in args), **kwargs)

    return converted


def _whole(x: Any) -> bool:
    return getattr(x, "ndim", 0) > 1 and x.dtype.kind in "bui"


_MATRICES = (
    "cholesky", "cond", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "pinv", "qr", "slogdet", "solve", "svd",
    "svdvals", "tensorinv", "tensorsolve",
)  # fmt: skip
ADAPTERS.update({f: _of_floats(ADAPTERS[f]) for f in (getattr(np.linalg, name) for name in _MATRICES)})


def _divided(x: Any, y: Any) -> Any:
    """x / y; a scalar of NumPy's to the left is a number, as it is to the operator."""
    number = isinstance(x, np.number) and isinstance(y, Recorded)
    return over_tensor(x.item(), y) if number else front_of("div")(x, y)


_UFUNC_NAMES = {
    "absolute": "abs", "fabs": "abs", "conjugate": "conj", "power": "pow", "mod": "remainder", "rint": "round",
    "true_divide": "div", "equal": "eq", "not_equal": "ne", "invert": "bitwise_not",
    "left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift",
}  # fmt: skip
_COMPOSED: dict[str, Callable[..., Any]] = {
    "positive": lambda x: x,
    "deg2rad": lambda x: x * (math.pi / 180),
    "radians": lambda x: x * (math.pi / 180),
    "rad2deg": lambda x: x * (180 / math.pi),
    "degrees": lambda x: x * (180 / math.pi),
    "divide": _divided,
    "floor_divide": lambda x, y: front_of("div")(x, y, rounding_mode="floor"),
    "divmod": lambda x, y: (front_of("div")(x, y, rounding_mode="floor"), front_of("remainder")(x, y)),
    "modf": lambda x: (front_of("frac")(x), front_of("trunc")(x)),
    "vecdot": lambda x, y: (front_of("conj")(tensor(x)) * y).sum(-1),
    "matvec": lambda a, x: (
        front_of("matmul")(a, x) if np.ndim(x) == 1 else front_of("matmul")(a, tensor(x)[..., None])[..., 0]
    ),
    "vecmat": lambda x, a: (
        front_of("matmul")(front_of("conj")(tensor(x)), a)
        if np.ndim(x) == 1
        else front_of("matmul")(front_of("conj")(tensor(x))[..., None, :], a)[..., 0, :]
    ),
}
"""Ufuncs that are a few ops."""


# ---------------------------------------------------------------------------------------------- ufuncs


def call_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``ufunc`` with a tensor among its arguments, by the op of the same meaning.

    Raises ``UnsupportedFunction`` for ufuncs that the table does not have.

    >>> import symgrad as sg
    >>> np.sin(sg.tensor([0.0], requires_grad=True))
    tensor([0.], grad_fn=<SinBackward0>)
    """
    name = f"np.{ufunc.__name__}" + (f".{method}" if method != "__call__" else "")
    if method == "at":
        return _write_added(name, ufunc, *inputs)
    out, mask = kwargs.pop("out", None), kwargs.pop("where", True)
    if out is not None and not any(isinstance(x, Recorded) for x in out):
        refuse_arrays(name, out, inputs)
        getattr(ufunc, method)(*map(bare, inputs), out=out, where=bare(mask), **bare(kwargs))
        return out[0] if len(out) == 1 else out
    if method != "__call__":
        given = kwargs if mask is True else {**kwargs, "where": mask}

        def by_method(*args: Any) -> Any:
            return _method(name, ufunc, method, args, dict(given))

        return by_method(*inputs) if out is None else into(name, out[0], by_method, inputs)
    dtype = kwargs.pop("dtype", None)
    wanted(name, kwargs)

    def called(*args: Any) -> Any:
        with np.errstate(all="ignore") if mask is not True else contextlib.nullcontext():
            result = _ufunc_front(ufunc)(*args)
        return result if dtype is None else front_of("to")(result, dtype)

    if out is None:
        result = called(*inputs)
        return tuple(chosen(mask, r, 0) for r in result) if isinstance(result, tuple) else chosen(mask, result, 0)
    if len(out) == 1:
        return into(name, out[0], called, inputs, mask, True)
    results = called(*inputs)
    return tuple(
        chosen(mask, r, 0) if o is None else into(name, o, lambda r=r: r, (), mask, True)
        for o, r in zip(out, results, strict=True)
    )


def _method(name: str, ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``np.add.reduce`` and its kin."""
    folds = _folds(ufunc)
    if method == "reduce" and folds is not None:
        axis, dtype, keepdims = kwargs.pop("axis", 0), kwargs.pop("dtype", None), kwargs.pop("keepdims", False)
        where, initial = kwargs.pop("where", True), kwargs.pop("initial", None)
        wanted(name, kwargs)
        a = inputs[0] if dtype is None else front_of("to")(tensor(inputs[0]), dtype)
        return reduced(folds[0], a, axis, keepdims, where, initial)
    if method == "accumulate" and folds is not None:
        axis = kwargs.pop("axis", 0)
        wanted(name, kwargs)
        found = front_of(folds[1])(inputs[0], axis)
        return found[0] if isinstance(found, tuple) else found
    if method == "outer" and ufunc.nin == 2:
        wanted(name, kwargs)
        a, b = map(tensor, inputs)
        return _ufunc_front(ufunc)(a[(..., *(None,) * b.ndim)], b)
    if method == "reduceat" and ufunc is np.add:
        axis = kwargs.pop("axis", 0)
        wanted(name, kwargs)
        return _summed_parts(name, tensor(inputs[0]), np.asarray(bare(inputs[1])), axis)
    raise unsupported(name)


def _write_added(name: str, ufunc: Any, a: Any, indices: Any, values: Any) -> None:
    """``np.add.at``, in place."""
    refuse_arrays(name, (a,), (values,))
    if isinstance(a, Recorded):
        a[...] = added_at(name, ufunc, a, indices, values)  # type: ignore[index]
    else:
        ufunc.at(a, bare(indices), bare(values))


def _summed_parts(name: str, a: Any, starts: Any, axis: int) -> Any:
    """``np.add.reduceat`` of parts one after the other."""
    axis = axis_of(axis, a.ndim)
    lengths = np.diff(starts, append=a.shape[axis])
    if starts.ndim != 1 or (lengths <= 0).any():
        raise unsupported(f"{name} of parts that are empty or not in order", " in this form")
    parts = tensor(np.repeat(np.arange(len(starts)), lengths))
    rest = a.narrow(axis, int(starts[0]), a.shape[axis] - int(starts[0]))
    shape = [len(starts) if k == axis else n for k, n in enumerate(a.shape)]
    return a.new_zeros(shape).index_add(axis, parts, rest)


def _folds(ufunc: Any) -> tuple[str, str, float | None] | None:
    name: str = ufunc.__name__
    front = FRONTS.get(name) if getattr(np, name, None) is ufunc else None
    return front.op.folds if front is not None and front.op is not None else None


def _ufunc_front(ufunc: Any) -> Callable[..., Any]:
    from symgrad.tensor import FUNCTIONS

    name = ufunc.__name__
    if getattr(np, name, None) is ufunc:
        found = _COMPOSED.get(name) or FUNCTIONS.get(_UFUNC_NAMES.get(name, name))
    else:  # another library's ufunc of the same name may mean something else
        found = _scipy_front(ufunc)
        name = f"the ufunc {name}"
    if found is None:
        raise unsupported(f"np.{name}" if not name.startswith("the ") else name)
    return found


def _scipy_front(ufunc: Any) -> Callable[..., Any] | None:
    """The function of ``scipy.special``'s name and meaning, where the ufunc is SciPy's."""
    from symgrad.tensor import FUNCTIONS

    name, scipy_special = ufunc.__name__, sys.modules.get("scipy.special")
    if getattr(scipy_special, name, None) is not ufunc:
        return None
    return SPACES["special"].get(name) or FUNCTIONS.get(name)


# ---------------------------------------------------------------------------------------------- functions


def call_function(func: Any, args: Any, kwargs: Any) -> Any:
    """A function of NumPy's API with a tensor among its arguments.

    Raises ``UnsupportedFunction`` for those that are neither in the op table nor mere questions about values.

    >>> import symgrad as sg
    >>> np.sum(sg.tensor([[1.0, 2.0]], requires_grad=True), axis=1)
    tensor([3.], grad_fn=<SumBackward1>)
    """
    if func is np.atleast_1d and sys._getframe(2).f_globals.get("__name__", "").startswith("scipy."):
        args = tuple(map(_for_a_solver, args))
        if not any(isinstance(arg, Recorded) for arg in args):
            return func(*args)
    adapter = ADAPTERS.get(func)
    name = function_name(func)
    if adapter is not None:
        first, later = _from_out(func)
        given = {**dict(zip(later, args[first:], strict=False)), **kwargs}
        args, given = args[:first], {k: v for k, v in given.items() if v is not np._NoValue}
        out = given.pop("out", None)
        try:
            if out is None:
                return adapter(*args, **given)
            return into(name, out, lambda *row: adapter(*row, **given), tuple(args))
        except TypeError as error:
            if "argument" in str(error) and adapter.__name__ in str(error):
                raise unsupported(f"{name} with these arguments ({error})") from None
            raise
    if func in VALUES or func in KINDS:
        return answered(func, tuple(args), kwargs)
    raise unsupported(name)


def _for_a_solver(given: Any) -> Any:
    """What a function of the user's gave a solver of SciPy's: an array, as it computes with, unless it has history."""
    plain = isinstance(given, Recorded) and not given._requires_grad and given._node is None
    return bare(given) if plain else given


@functools.cache
def _from_out(func: Any) -> tuple[int | None, tuple[str, ...]]:
    """How many arguments a function of NumPy takes before ``out``, and the names of those from there on."""
    try:
        names = tuple(k for k, p in inspect.signature(func).parameters.items() if p.kind in _BY_PLACE)
    except ValueError:  # a function in C, in older NumPy
        return None, ()
    return (names.index("out"), names[names.index("out") :]) if "out" in names else (None, ())


_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def supported() -> list[str]:
    """The NumPy functions (not ufuncs) that work on tensors, for the documentation."""
    return sorted({function_name(f) for f in ADAPTERS})
