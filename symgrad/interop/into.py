"""``out=`` and ``where=`` of NumPy's functions: a tensor that is written into takes the history of what is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.errors import AutogradError, DtypeError, ShapeError
from symgrad.interop.functions import bare, dtype_of, front_of, tensor
from symgrad.op import shape_of
from symgrad.op.factories import stretches
from symgrad.tape.memory.inplace import inplace
from symgrad.tape.record import Recorded, traced


def chosen(mask: Any, value: Any, other: Any) -> Any:
    """``value`` where ``mask`` is true and ``other`` elsewhere: what is not chosen has no part in any gradient."""
    if mask is True:
        return value
    if dtype_of(mask).kind != "b":
        raise DtypeError(f"where= takes a mask of booleans, not {dtype_of(mask)}.")
    return front_of("where")(tensor(mask), value, other)


def refuse_arrays(name: str, outs: tuple[Any, ...], inputs: tuple[Any, ...]) -> None:
    """An array cannot carry the history of what would be written into it."""
    if any(isinstance(x, Recorded) and traced(x) for x in inputs) and not all(
        isinstance(x, Recorded) for x in outs if x is not None
    ):
        raise AutogradError(
            f"{name}(…, out=…): functions with out=... arguments don't support automatic differentiation where out is "
            "an array, but one of the arguments requires grad. Give a tensor as out=, use the result instead, or "
            "t.detach()."
        )


def into(
    name: str, out: Any, compute: Callable[..., Any], inputs: tuple[Any, ...], mask: Any = True, widens: bool = False
) -> Any:
    """``out`` after ``compute(*inputs)`` was written into it where ``mask`` is true.

    ``widens`` lets a result be repeated to the shape of ``out``, as ufuncs do.
    """

    def fitting(held: Any, *others: Any) -> Any:
        rest = iter(others)
        result = compute(*(held if x is out else next(rest) for x in inputs))
        shape, wanted = shape_of(result), shape_of(out)
        if shape != wanted and not (widens and stretches(shape, wanted)):
            raise ShapeError(f"{name}(…, out=…): the result has the shape {shape}, and out has {wanted}.")
        dtypes = dtype_of(result), dtype_of(out)
        if not np.can_cast(*dtypes, "same_kind"):
            raise DtypeError(f"{name}(…, out=…): {dtypes[0]} can't be cast to the dtype of out, {dtypes[1]}")
        return chosen(mask, tensor(result).expand(wanted), held)

    if isinstance(out, Recorded):
        return inplace(out, fitting, tuple(x for x in inputs if x is not out), {})
    result = fitting(tensor(out), *inputs)
    refuse_arrays(name, (out,), (result,))
    out[...] = bare(result)
    return out
