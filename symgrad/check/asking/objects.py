"""Two methods of one object: the forward pass leaves values there, and the backward pass takes the cotangent alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from symgrad.check.asking.arrays import as_array, is_differentiable
from symgrad.check.asking.calling import copied, like
from symgrad.check.asking.kinds import takes
from symgrad.check.asking.outputs import SEED, output_parts


def of_one_object(f: Any, grad: Any) -> bool:
    """Whether both are methods of the same object, or ``f`` is that object itself."""
    whose = getattr(f, "__self__", f)
    return not isinstance(whose, (type, ModuleType)) and getattr(grad, "__self__", None) is whose


def with_forward(f: Any, grad: Any, args: Sequence[Any], out: Any) -> tuple[Any, str] | None:
    """The derivative that runs ``f`` at the point before ``grad``, and its kind; None where ``grad`` takes the point.

    ``grad()`` gives gradients, ``grad(cotangent)`` products with it.
    """
    count = len(args)
    if not of_one_object(f, grad) or takes(grad, count + 1):
        return None
    alone = not takes(grad, count)
    if not alone and not (count == 1 and _reads_what_is_left(f, grad, args[0], out)):
        return None
    if takes(grad, 0):
        return _after(f, grad), "gradient"
    return (_after_with_cotangent(f, grad), "vjp") if takes(grad, 1) else None


def _after(f: Any, grad: Any) -> Callable[..., Any]:
    def gradient(*args: Any) -> Any:
        f(*args)
        return grad()

    return gradient


def _after_with_cotangent(f: Any, grad: Any) -> Callable[..., Any]:
    def vjp(v: Any, *args: Any) -> Any:
        f(*args)
        return grad(v)

    return vjp


def _reads_what_is_left(f: Any, grad: Any, x: Any, out: Any) -> bool:
    """Whether ``grad`` is linear in what it is given, or leaves it out, and depends on where ``f`` has run last.

    That its shapes are those of a layer's is enough where it is linear.
    """
    if not is_differentiable(x) or output_parts(out) is not None:
        return False
    array = as_array(out)
    v = np.random.default_rng(SEED).normal(size=array.shape).astype(array.dtype)[()]
    try:
        with np.errstate(all="ignore"):
            f(copied(x))
            here, twice = _numbers(grad(v)), _numbers(grad(2 * v))
            f(0.75 * copied(x))
            there = _numbers(grad(v))
    except Exception:  # noqa: BLE001  (it takes no cotangent)
        return False
    if here.shape != twice.shape or not np.any(here):
        return False
    linear = np.allclose(twice, 2 * here, rtol=1e-5, atol=0)
    if (linear or np.array_equal(here, twice)) and (here.shape != there.shape or not np.array_equal(here, there)):
        return True  # a cotangent that is not looked at is a mistake to be told
    return (
        linear
        and here.size == as_array(x).size
        and not (array.shape == np.shape(as_array(x)) and _is_entrywise(f, x, out))
    )


def _is_entrywise(f: Any, x: Any, out: Any) -> bool:
    """Whether no entry of the result moves with another entry of the argument; a layer's, which mixes them, do."""
    array = as_array(x)
    if array.size < 2:
        return True
    moved = np.array(array)
    moved.flat[0] += 0.25 * (1 + abs(moved.flat[0]))
    try:
        with np.errstate(all="ignore"):
            other = as_array(f(like(x, moved)))
        return np.array_equal(other.ravel()[1:], as_array(out).ravel()[1:], equal_nan=True)
    except Exception:  # noqa: BLE001  (f takes other arrays only)
        return True
    finally:
        f(copied(x))


def _numbers(found: Any) -> Any:
    """All numbers of one or several gradients."""
    return np.concatenate([np.ravel(as_array(g)) for g in (found if isinstance(found, tuple) else (found,))])
