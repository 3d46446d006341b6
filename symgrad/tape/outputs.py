"""``out=``: results written into tensors or arrays that are there already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, AutogradError
from symgrad.tape.inplace import inplace
from symgrad.tape.modes import MODE


def into(out: Any, name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """``function(…, out=out)``: results written into tensors or arrays, which take their shapes if need be."""
    several = isinstance(out, (tuple, list))
    targets: Sequence[Any] = out if several else (out,)
    recording = not MODE.exceptional or MODE.local.enabled
    if recording and any(getattr(a, "_requires_grad", False) for a in (*args, *kwargs.values(), *targets)):
        raise AutogradError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
            "arguments requires grad."
        )
    new = function(*args, **kwargs)
    if not several:
        return _written(out, new)
    if not isinstance(new, tuple) or len(new) != len(targets):
        count = len(new) if isinstance(new, tuple) else 1
        raise ArgumentError(f"{name}(): out= has {len(targets)} places, but there are {count} results.")
    written = [_written(target, part) for target, part in zip(targets, new, strict=True)]
    return tuple(written) if new.__class__ is tuple else new.__class__(written)


def _written(target: Any, new: Any) -> Any:
    """The target with a result's values, in the shape of the result."""
    if isinstance(target, np.ndarray):
        target[...] = getattr(new, "_value", new)
        return target
    if isinstance(new, tuple):
        raise ArgumentError(f"out= is one tensor, but there are {len(new)} results: give a tuple.")
    if new._value.shape != target._value.shape:
        target._value = np.empty(new._value.shape, target._value.dtype)
    return inplace(target, lambda _: new, (), {})
