"""Arguments without their history: for what a function decides, counts or draws by values, which has no derivative."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.op import lookup


def still(x: Any) -> Any:
    """``x`` with its derivative 0: a detached tensor; arrays, numbers and formulas as they are."""
    return x.detach() if hasattr(x, "detach") else x


def standing(x: Any) -> Any:
    """``x`` with its derivative 0 that formulas and programs go on with: :func:`still` leaves it behind."""
    return lookup("detach")(x) if hasattr(x, "detach") else x


def plain_number(function: str, name: str, value: Any) -> Any:
    """A number that no derivative is known by: raises torch's ``TypeError`` for a tensor that asks for one."""
    if not hasattr(value, "requires_grad"):
        return value
    if value.requires_grad:
        raise ArgumentError(
            f"{function}(): argument '{name}' must be Number, not Tensor: it requires grad, and no gradient by it is "
            f"known. Give its value, {name}.item()."
        )
    return value.item()


def readable(x: Any) -> Any:
    """``x`` for a function of several ops without derivative: a view that lost its history has values all the same."""
    return x.detach() if getattr(x, "_lost", False) else x


def values_of(x: Any) -> Any:
    """The values of a tensor, array or number as an array.

    >>> values_of([1.0, 2.0])
    array([1., 2.])
    """
    apart = getattr(x, "_watched", True) or x.requires_grad
    return np.asarray(still(x) if apart else x)


def recorded(x: Any) -> bool:
    """Whether a tensor has a formula or may be an argument of programs, which what is found by values would not follow.

    A constant may that has a name, or is a variable of the user's.
    """
    if getattr(x, "_node", None) is not None or getattr(x, "requires_grad", False):
        return True
    extra = getattr(x, "_extra", None)
    return extra is not None and (extra.name is not None or extra.site is not None)


def decided_by(x: Any) -> Any:
    """:func:`values_of` what a result without derivative hangs on: programs of what is recorded hold for these alone.

    Nobody can run a recorded graph again, so the values are among what it holds for, as those of a mask are.

    >>> decided_by([1.0, 2.0])
    array([1., 2.])
    """
    look = getattr(x, "_decides", None)
    if look is not None:
        look()
    return values_of(x)


def glanced(x: Any) -> Any:
    """The array of a tensor for a warning: nothing is computed by it, so a tracer need not hear of it."""
    return x._value if hasattr(x, "_watched") else getattr(still(x), "_value", x)


def wrapped_like(like: Any, value: Any) -> Any:
    """An array as the kind of value that ``like`` is."""
    if not isinstance(value, (np.ndarray, np.generic)) or not hasattr(like, "new_tensor"):
        return value
    return like.new_tensor(value, dtype=value.dtype)
