"""Whose derivatives were given, where they come as SciPy takes them: told by their shapes, or behind the value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from symgrad.check.asking.arrays import as_array, is_differentiable, shape_if_any
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
            head = out[0]
            aside = (
                isinstance(head, tuple)
                and not isinstance(out[1], (tuple, list, dict))
                and shape_if_any(head[:1]) == (1,)
            )
            return out[1] if k else head[0] if aside else head

        return one

    return part(0), part(1)


def in_rows(given: Any, results: Any) -> Any:
    """A Jacobian that is one array, of a function that gives its numbers in a list, as the list of its rows."""
    whole = hasattr(given, "dtype") and np.ndim(given) and len(given) == len(results)
    numbers = isinstance(results, (list, tuple)) and all(shape_if_any(result) == () for result in results)
    return list(given) if whole and numbers else given


def has_value_before(given: Any, args: Sequence[Any], value: Callable[[], Any]) -> bool:
    """Whether ``(value, gradient)`` was given, as ``value_and_grad`` does, which fits no two arguments as it stands.

    In the place of the value may stand ``(value, anything)``, as with ``has_aux=True``.
    """
    if type(given) is not tuple or len(given) != 2:
        return False
    said = given[0][0] if type(given[0]) is tuple and len(given[0]) == 2 else given[0]
    if shape_if_any(said) != ():
        return False
    shapes = [shape_if_any(arg) for arg in args if is_differentiable(arg)]
    if [shape_if_any(g) for g in given] == shapes[:2]:
        return False
    try:
        said, known = as_array(said), as_array(value())
        return known.size == 1 and bool(np.allclose(said, known.reshape(()), rtol=1e-5, atol=0))
    except Exception:  # noqa: BLE001  (f takes other arrays only, or one of the two is no number)
        return False


def without_aside(
    f: Callable[..., Any], grad: Any, out: Any, made: Callable[[], Any]
) -> tuple[Callable[..., Any], Any, Any]:
    """``f``, ``grad`` and what ``f`` gives, without what it gives beside a number, if ``grad`` gives that, too.

    So do functions for JAX with ``has_aux=True``: ``((number, aside), gradient)`` or ``(gradient, aside)``.
    """
    if type(out) is not tuple or len(out) != 2 or not callable(grad) or shape_if_any(out[0]) != ():
        return f, grad, out
    given = made()
    if type(given) is not tuple or len(given) != 2:
        return f, grad, out
    kept = 1 if _equal(given[0], out) else 0 if _equal(given[1], out[1]) else None
    if kept is None:
        return f, grad, out
    return (lambda *args: f(*args)[0]), (lambda *args: grad(*args)[kept]), out[0]


def _equal(a: Any, b: Any) -> bool:
    """Whether two results are the same: containers alike, with the same numbers to single precision."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(v, b[k]) for k, v in a.items())
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(map(_equal, a, b))
    if not all(hasattr(v, "dtype") or isinstance(v, float) for v in (a, b)):
        return type(a) is type(b) and bool(a == b)
    return shape_if_any(a) == shape_if_any(b) and bool(np.allclose(as_array(a), as_array(b), rtol=1e-5, equal_nan=True))


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
    numbers = [k for k in chosen if shape_if_any(args[k]) == ()]
    outer, shape = result or (), shape_if_any(given)
    if result is not None and argnums is None:
        fitting = [k for k in floating if shape == outer + np.shape(as_array(args[k]))]
        if fitting:
            return given, argnums if fitting[0] == floating[0] else fitting[0]
    if numbers and shape == (*outer, len(numbers)) and (numbers == chosen or (result is not None and argnums is None)):
        return tuple(np.moveaxis(as_array(given), -1, 0)), numbers
    return given, argnums
