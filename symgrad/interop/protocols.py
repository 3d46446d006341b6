"""NumPy's functions on tensors: ``np.sin(t)``, ``np.sum(t, axis=0)``, ``np.concatenate`` … give tensors with gradients.

Ufuncs and functions are looked up in the op table, so what NumPy computes and what is differentiated are one thing.  A
function that the table does not have is refused: converting to an array behind the user's back would lose the gradient.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.errors import AutogradError
from symgrad.interop.functions import (
    FUNCTIONS,
    QUESTIONS,
    bare,
    front_of,
    function_name,
    reduce,
    tensor,
    unsupported,
    wanted,
)
from symgrad.interop.more import MORE
from symgrad.tape.record import Recorded, traced

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
    "invert": "bitwise_not",
    "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift",
}
_REDUCE = {"add": "sum", "multiply": "prod", "maximum": "amax", "minimum": "amin", "logaddexp": "logsumexp"}
_ACCUMULATE = {"add": "cumsum", "multiply": "cumprod", "maximum": "cummax", "minimum": "cummin"}
_COMPOSED: dict[str, Callable[..., Any]] = {
    "positive": lambda x: x,
    "deg2rad": lambda x: x * (math.pi / 180),
    "radians": lambda x: x * (math.pi / 180),
    "rad2deg": lambda x: x * (180 / math.pi),
    "degrees": lambda x: x * (180 / math.pi),
    "floor_divide": lambda x, y: front_of("div")(x, y, rounding_mode="floor"),
    "divmod": lambda x, y: (front_of("div")(x, y, rounding_mode="floor"), front_of("remainder")(x, y)),
    "modf": lambda x: (front_of("frac")(x), front_of("trunc")(x)),
    "vecdot": lambda x, y: (front_of("conj")(tensor(x)) * y).sum(-1),
    "matvec": lambda a, x: front_of("matmul")(a, tensor(x)[..., None])[..., 0],
    "vecmat": lambda x, a: front_of("matmul")(front_of("conj")(tensor(x))[..., None, :], a)[..., 0, :],
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
    name = f"np.{ufunc.__name__}"
    out = kwargs.pop("out", None)
    if out is not None:
        return _into(out, ufunc, method, inputs, kwargs)
    if method == "__call__":
        dtype = kwargs.pop("dtype", None)
        wanted(name, kwargs)
        result = _ufunc_front(ufunc)(*inputs)
        return result if dtype is None else front_of("to")(result, dtype)
    if method == "reduce" and ufunc.__name__ in _REDUCE:
        axis, keepdims = kwargs.pop("axis", 0), kwargs.pop("keepdims", False)
        wanted(f"{name}.reduce", kwargs)
        return reduce(_REDUCE[ufunc.__name__], inputs[0], axis, keepdims)
    if method == "accumulate" and ufunc.__name__ in _ACCUMULATE:
        axis = kwargs.pop("axis", 0)
        wanted(f"{name}.accumulate", kwargs)
        found = front_of(_ACCUMULATE[ufunc.__name__])(inputs[0], axis)
        return found[0] if isinstance(found, tuple) else found
    if method == "outer" and ufunc.nin == 2:
        wanted(f"{name}.outer", kwargs)
        a, b = map(tensor, inputs)
        return _ufunc_front(ufunc)(a[(..., *(None,) * b.ndim)], b)
    raise unsupported(f"{name}.{method}" if method != "__call__" else name)


def _ufunc_front(ufunc: Any) -> Callable[..., Any]:
    from symgrad.tensor import FUNCTIONS

    name = ufunc.__name__
    found = _COMPOSED.get(name) or FUNCTIONS.get(_UFUNC_NAMES.get(name, name))
    if found is None:
        raise unsupported(f"np.{name}")
    return found


def _into(out: Any, ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``out=``: only where nothing is recorded, since an array cannot carry a history."""
    if any(isinstance(x, Recorded) and traced(x) for x in (*inputs, *out)):
        raise AutogradError(
            f"np.{ufunc.__name__}(…, out=…): functions with out=... arguments don't support automatic differentiation, "
            "but one of the arguments requires grad. Use the result instead of out=, or t.detach()."
        )
    values = tuple(x._value if isinstance(x, Recorded) else x for x in inputs)
    arrays = tuple(x if isinstance(x, np.ndarray) else x.numpy() for x in out)
    getattr(ufunc, method)(*values, out=arrays, **kwargs)
    return out[0] if len(out) == 1 else out


# ---------------------------------------------------------------------------------------------- functions


def call_function(func: Any, args: Any, kwargs: Any) -> Any:
    """A function of NumPy's API with a tensor among its arguments.

    Raises ``UnsupportedFunction`` for those that are neither in the op table nor mere questions about values.

    >>> import symgrad as sg
    >>> np.sum(sg.tensor([[1.0, 2.0]], requires_grad=True), axis=1)
    tensor([3.], grad_fn=<SumBackward1>)
    """
    adapter = FUNCTIONS.get(func) or MORE.get(func)
    name = function_name(func)
    if adapter is not None:
        try:
            return adapter(*args, **{k: v for k, v in kwargs.items() if v is not np._NoValue})
        except TypeError as error:
            if "argument" in str(error) and adapter.__name__ in str(error):
                raise unsupported(f"{name} with these arguments ({error})") from None
            raise
    if func in QUESTIONS:
        return func(*bare(args), **bare(kwargs))
    raise unsupported(name)


def supported() -> list[str]:
    """The NumPy functions (not ufuncs) that work on tensors, for the documentation."""
    return sorted({function_name(f) for f in (*FUNCTIONS, *MORE)})
