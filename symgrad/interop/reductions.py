"""NumPy's reductions: ``np.sum``, ``np.mean``, ``np.add.reduce`` …, over any axes, with ``where=`` and ``initial=``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.errors import ShapeError
from symgrad.interop.functions import front_of, reduce, tensor, wanted
from symgrad.interop.into import chosen
from symgrad.op import TABLE

_FOLDED = {op.folds[0]: (op.name, op.folds[2]) for op in TABLE.values() if op.folds is not None}
"""What reductions join entries with, and the number that they begin with."""


def reduced(name: str, a: Any, axis: Any, keepdims: Any, where: Any = True, initial: Any = None) -> Any:
    """A reduction of the entries that ``where`` chooses, begun with ``initial``."""
    a = tensor(a)
    if initial is np._NoValue:
        initial = None
    join, start = _FOLDED.get(name, ("", None))
    if where is not True:
        start = initial if start is None else start
        if start is None:
            raise ValueError(
                f"np.{name}(…, where=…): a reduction that has no identity needs initial=, for axes without a chosen "
                "entry."
            )
        a = _masked(a, where, start)
    found = reduce(name, a, axis, keepdims)
    return found if initial is None else front_of(join)(found, _start(initial, name, found.dtype))


def _start(initial: Any, name: str, dtype: Any) -> Any:
    """What a reduction begins with; a plain number stays one where its op takes numbers."""
    return initial if isinstance(initial, (int, float)) and name in ("sum", "prod") else tensor(initial).to(dtype)


def _masked(a: Any, where: Any, other: Any) -> Any:
    made = chosen(where, a, other)
    if made.shape != a.shape:
        raise ShapeError(f"where= of shape {np.shape(where)} does not fit an array of shape {tuple(a.shape)}.")
    return made


def reduction(name: str) -> Callable[..., Any]:
    """``np.sum`` and its kin."""

    def call(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        a = tensor(a)
        return reduced(name, a if dtype is None else a.to(dtype), axis, keepdims, where, initial)

    return call


def extreme(name: str) -> Callable[..., Any]:
    """``np.max`` and its kin."""

    def call(a: Any, axis: Any = None, keepdims: Any = False, initial: Any = None, where: Any = True) -> Any:
        return reduced(name, a, axis, keepdims, where, initial)

    return call


def mean(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False, *, where: Any = True) -> Any:
    """``np.mean``: of the chosen entries only."""
    a = _fractional(tensor(a), dtype)
    return reduce("mean", a, axis, keepdims) if where is True else _mean(a, axis, keepdims, where)


def _fractional(a: Any, dtype: Any) -> Any:
    """A tensor to take means of: whole numbers become double ones, as in NumPy, unless a dtype is asked for."""
    chosen = np.float64 if dtype is None and a.dtype.kind in "bui" else dtype
    return a if chosen is None else a.to(chosen)


def _mean(a: Any, axis: Any, keepdims: Any, where: Any, ddof: Any = 0) -> Any:
    total = reduce("sum", _masked(a, where, 0), axis, keepdims)
    count = reduce("sum", tensor(where).expand(a.shape).to(a.real.dtype), axis, keepdims) - ddof
    return total / front_of("clamp")(count, 0)


def spread(name: str) -> Callable[..., Any]:
    """``np.var`` and ``np.std``."""

    def call(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        ddof: Any = 0,
        keepdims: Any = False,
        *,
        where: Any = True,
        correction: Any = None,
        **rest: Any,
    ) -> Any:
        wanted(f"np.{name}", rest)
        a = _fractional(tensor(a), dtype)
        ddof = correction if isinstance(correction, (int, float)) else ddof
        if where is True:
            return front_of(name)(a, axis, keepdim=bool(keepdims), correction=ddof)
        off = (a - _mean(a, axis, True, where)).abs() ** 2
        found = _mean(off, axis, keepdims, where, ddof)
        return found if name == "var" else front_of("sqrt")(found)

    return call


REDUCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: reduction("sum"),
    np.prod: reduction("prod"),
    np.mean: mean,
    np.max: extreme("amax"),
    np.amax: extreme("amax"),
    np.min: extreme("amin"),
    np.amin: extreme("amin"),
    np.var: spread("var"),
    np.std: spread("std"),
}
