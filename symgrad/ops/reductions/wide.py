"""Half precision in float32 from end to end, for functions of several ops that are one kernel in torch.

An op rounds its result to half precision.  Where torch has one kernel for what is several ops here, it rounds once,
and a sum of rounded parts may have lost the digits that the kernel keeps.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from symgrad.dtypes import is_floating, is_narrow
from symgrad.ops.reductions.sums import cast, cast_wide

F = TypeVar("F", bound=Callable[..., Any])


def cast_back(out: Any, dtype: Any) -> Any:
    """What was computed of :func:`cast_wide` arguments in their own dtype again."""
    return cast(out, dtype) if is_narrow(dtype) else out


def in_dtype_of(out: Any, like: Any) -> Any:
    """``out`` in the dtype of one of the operands, where wider ones (weights, statistics) do not widen the result."""
    dtype = like.dtype
    return cast(out, dtype) if dtype is not None and is_floating(dtype) and out.dtype != dtype else out


def rounded_once(call: F) -> F:
    """``call`` in float32 where all that is given is of one half precision; the results are rounded once."""

    @functools.wraps(call)
    def run(*args: Any, **options: Any) -> Any:
        dtype = getattr(args[0] if args else next(iter(options.values()), None), "dtype", None)
        if not is_narrow(dtype) or not _alike(dtype, args, options):
            return call(*args, **options)
        wide = {name: cast_wide(value) for name, value in options.items()}
        out = call(*map(cast_wide, args), **wide)
        return tuple(_rounded(part, dtype) for part in out) if isinstance(out, tuple) else _rounded(out, dtype)

    return run  # type: ignore[return-value]


def _alike(dtype: Any, args: tuple[Any, ...], options: dict[str, Any]) -> bool:
    """Whether all floating operands have this dtype."""
    others = (getattr(x, "dtype", dtype) for x in (*args, *options.values()))
    return all(d is dtype or d == dtype or d is None or d.kind in "bui" for d in others)


def _rounded(out: Any, dtype: Any) -> Any:
    """A result in the operands' dtype; places of entries stay integers."""
    return cast(out, dtype) if out.dtype.kind == "f" else out
