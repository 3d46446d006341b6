"""Whose derivatives were given, where they come as SciPy takes them: told by their shapes, or behind the value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from symgrad.check.asking.arrays import as_array, is_differentiable
from symgrad.errors import ArgumentError


def both_of(f: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The function and its derivative of one that gives ``(value, derivative)``, for SciPy's ``jac=True``."""

    def part(k: int) -> Callable[..., Any]:
        @wraps(f)
        def one(*args: Any, **kwargs: Any) -> Any:
            out = f(*args, **kwargs)
            if not isinstance(out, (tuple, list)) or len(out) != 2:
                raise ArgumentError(
                    f"grad=True says that f gives (value, derivative), but it gave a {type(out).__name__}; "
                    "check(f, grad, *args) takes the derivative as a function or as arrays."
                )
            return out[k]

        return one

    return part(0), part(1)


def in_rows(given: Any, results: Any) -> Any:
    """A Jacobian that is one array, of a function that gives its numbers in a list, as the list of its rows."""
    whole = hasattr(given, "dtype") and np.ndim(given) and len(given) == len(results)
    numbers = isinstance(results, (list, tuple)) and all(_shape(result) == () for result in results)
    return list(given) if whole and numbers else given


def has_value_before(given: Any, args: Sequence[Any], value: Callable[[], Any]) -> bool:
    """Whether ``(value, gradient)`` was given, as ``value_and_grad`` does, which fits no two arguments as it stands."""
    if type(given) is not tuple or len(given) != 2 or _shape(given[0]) != ():
        return False
    shapes = [_shape(arg) for arg in args if is_differentiable(arg)]
    if [_shape(g) for g in given] == shapes[:2]:
        return False
    try:
        said, known = as_array(given[0]), as_array(value())
        return known.size == 1 and bool(np.allclose(said, known.reshape(()), rtol=1e-5, atol=0))
    except Exception:  # noqa: BLE001  (f takes other arrays only, or one of the two is no number)
        return False


def placed(
    given: Any, args: Sequence[Any], argnums: int | Sequence[int] | None, result: tuple[int, ...] | None
) -> tuple[Any, int | Sequence[int] | None]:
    """One array of derivatives, and the arguments that it belongs to by its shape, where nothing else says it.

    A Jacobian (of a ``result`` of some shape) may be that by a later argument, as ``jac(t, y)`` of ``solve_ivp`` is,
    and it may have a column for each number among the arguments, as that of ``curve_fit`` has.  So may a gradient,
    where all arguments are numbers.
    """
    floating = [k for k, arg in enumerate(args) if is_differentiable(arg)]
    chosen = floating if argnums is None else [argnums] if isinstance(argnums, int) else list(argnums)
    if isinstance(argnums, int) or len(floating) < 2 or not set(chosen) <= set(floating):
        return given, argnums
    numbers = [k for k in chosen if _shape(args[k]) == ()]
    outer, shape = result or (), _shape(given)
    if result is not None and argnums is None:
        fitting = [k for k in floating if shape == outer + np.shape(as_array(args[k]))]
        if fitting:
            return given, argnums if fitting[0] == floating[0] else fitting[0]
    if numbers and shape == (*outer, len(numbers)) and (numbers == chosen or (result is not None and argnums is None)):
        return tuple(np.moveaxis(as_array(given), -1, 0)), numbers
    return given, argnums


def _shape(value: Any) -> tuple[int, ...] | None:
    try:
        return tuple(np.shape(as_array(value)))
    except (ArgumentError, TypeError):
        return None
