"""Arguments that hold arrays: dicts, dataclasses, named tuples, and lists of arrays, taken apart and put together.

A check compares array by array.  Here a function of containers becomes a function of the arrays in them, each with a
name that says where it stands: ``p["W"]`` and ``p.W`` are p_W, ``layers[0]`` is layers_0.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.check.asking.arrays import (
    EXTENDED,
    as_array,
    given_gradients,
    is_array_like,
    is_differentiable,
    parameter_names,
    several_given,
    wide,
)
from symgrad.check.asking.calling import copied
from symgrad.check.asking.placing import has_value_before, placed
from symgrad.errors import ArgumentError


@dataclass
class Given:
    """What is under check, array by array.

    f          the function of the arrays
    args       its arguments
    names      what they are called
    gradients  the gradients under check, as arrays
    positions  the arguments that they belong to
    again      the gradients at other arguments; None where they were given as numbers
    own        how many of the arguments are those of the function itself; cotangents stand behind them
    shared     those of them that are defaults of the function and of the derivative
    changed    the arguments that the function of the derivative has changed in place
    """

    f: Callable[..., Any]
    args: list[Any]
    names: list[str]
    gradients: list[Any]
    positions: list[int]
    again: Callable[[Sequence[Any]], list[Any]] | None
    own: int
    changed: Sequence[str] = ()
    shared: Sequence[int] = ()


class Arguments:
    """Arguments taken apart: the arrays in them (copies, since functions may change their own), and their names."""

    def __init__(self, f: Callable[..., Any], args: Sequence[Any], names: Sequence[str] | None):
        self.whole_args = list(args)
        self.called = parameter_names(f, len(args), names)
        flat = [(name, leaf) for name, arg in zip(self.called, args, strict=True) for name, leaf in leaves(arg, name)]
        self.names = _distinct([name for name, _ in flat])
        self.shown = [as_array(a) if isinstance(a, list) and is_array_like(a) else a for _, a in flat]
        self.args = [copied(leaf) if is_array_like(leaf) else leaf for leaf in self.shown]
        self.starts = [0]
        for arg in args:
            self.starts.append(self.starts[-1] + sum(1 for _ in leaves(arg, "")))

    def copies(self) -> list[Any]:
        """Copies of the arrays as they were given; what a function does to its own is no matter of the caller's."""
        return [copied(leaf) if is_array_like(leaf) else leaf for leaf in self.shown]

    def whole(self, values: Sequence[Any]) -> list[Any]:
        """The arguments put together again from values for the arrays in them."""
        source = iter(values)
        return [rebuilt(arg, source) for arg in self.whole_args]

    def holders(self, argnums: int | Sequence[int] | None) -> list[int]:
        """The places of the floating-point arrays in some of the arguments, by default in all."""
        chosen = range(len(self.whole_args)) if argnums is None else [argnums] if isinstance(argnums, int) else argnums
        if any(not -len(self.whole_args) <= k < len(self.whole_args) for k in chosen):
            raise ArgumentError(f"argnums={argnums}: there are only {len(self.whole_args)} arguments.")
        places = [p for k in chosen for p in range(self.starts[k], self.starts[k % len(self.whole_args) + 1])]
        return [p for p in places if is_differentiable(self.args[p])]


def take_apart(
    f: Callable[..., Any],
    grad: Any,
    args: Sequence[Any],
    argnums: int | Sequence[int] | None,
    names: Sequence[str] | None,
    own: int | None = None,
    result: tuple[int, ...] | None = None,
) -> Given:
    """The function, its arguments and their gradients, with containers replaced by the arrays in them.

    Only the first ``own`` arguments can have gradients, by default all; cotangents stand behind them.  Of a Jacobian
    ``result`` is the shape of what it is the derivative of.
    """
    flat = Arguments(f, args, names)
    own = len(args) if own is None else own
    end = flat.starts[own]

    def read(value: Any) -> tuple[list[Any], list[int]]:
        if all(parts(arg) is None for arg in args[:own]):
            value, whose = (value, argnums) if several_given(value) else placed(value, flat.args[:end], argnums, result)
            return given_gradients(value, flat.args[:end], whose, flat.called[:own])
        found: list[Any] = []
        positions: list[int] = []
        for k, gradient in _by_argument(value, args[:own], argnums):
            for place, entry in _entries(gradient, args[k], flat.called[k]):
                found.append(entry)
                positions.append(flat.starts[k] + place)
        arrays, _ = given_gradients(tuple(found), flat.args[:end], positions, flat.names[:end])
        return arrays, positions

    copies = flat.copies()
    value = grad(*flat.whole(copies)) if callable(grad) else grad
    with_value = has_value_before(value, args[:own], lambda: f(*flat.whole(flat.copies())))
    given, positions = read(value[1] if with_value else value)
    given = [wide(g) if g.dtype.char in EXTENDED else g for g in given]
    changed = [name for name, a, b in zip(flat.names, copies, flat.shown, strict=True) if _was_changed(a, b)]

    def again(values: Sequence[Any]) -> list[Any]:
        made = grad(*flat.whole(values))
        return read(made[1] if with_value else made)[0]

    return Given(
        lambda *values: f(*flat.whole(values)),
        flat.args,
        flat.names,
        given,
        positions,
        again if callable(grad) else None,
        end,
        changed,
    )


def _was_changed(copy: Any, original: Any) -> bool:
    return isinstance(copy, np.ndarray) and not np.array_equal(
        copy, as_array(original), equal_nan=copy.dtype.kind in "fc"
    )


def parts(value: Any) -> list[tuple[Any, Any]] | None:
    """``(key, part)`` of a container of arrays; None for anything else, nested lists of numbers among it."""
    if isinstance(value, dict):
        return list(value.items())
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and not hasattr(value, "dtype"):
        return [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return list(zip(value._fields, value, strict=True))
    if isinstance(value, (list, tuple)) and any(map(_holds_arrays, value)):
        return list(enumerate(value))
    return None


def _holds_arrays(value: Any) -> bool:
    return bool(getattr(value, "ndim", 0)) or parts(value) is not None


def leaves(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """What stands in a container, with names; a single pair for anything else."""
    inside = parts(value)
    if inside is None:
        yield name, value
        return
    for key, part in inside:
        yield from leaves(part, f"{name}_{key}")


def rebuilt(value: Any, source: Iterator[Any]) -> Any:
    """A container like ``value`` with its leaves taken from ``source``."""
    inside = parts(value)
    if inside is None:
        return next(source)
    made = [(key, rebuilt(part, source)) for key, part in inside]
    if isinstance(value, (list, tuple)):
        return (
            type(value)(*(part for _, part in made))
            if hasattr(value, "_fields")
            else type(value)(part for _, part in made)
        )
    twin = copy.copy(value)
    for key, part in made:
        if isinstance(value, dict):
            twin[key] = part
        else:
            object.__setattr__(twin, key, part)  # also of a frozen dataclass
    return twin


def _distinct(names: list[str]) -> list[str]:
    """Names that name one thing each, and are identifiers."""
    found: list[str] = []
    for name in names:
        name = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
        while name in found:
            name += "_"
        found.append(name)
    return found


# ---------------------------------------------------------------------------------------------- gradients in containers


def _by_argument(value: Any, args: Sequence[Any], argnums: int | Sequence[int] | None) -> list[tuple[int, Any]]:
    """The arguments that have a gradient, and the gradient of each as a whole."""
    if argnums is not None:
        positions = [argnums] if isinstance(argnums, int) else list(argnums)
        gradients = [value] if isinstance(argnums, int) else list(value)
        if len(positions) != len(gradients):
            raise ArgumentError(
                f"argnums={argnums} names {len(positions)} arguments, but {len(gradients)} gradients were given."
            )
        if any(not -len(args) <= p < len(args) for p in positions):
            raise ArgumentError(f"argnums={argnums}: there are only {len(args)} arguments.")
        return [(p % len(args), g) for p, g in zip(positions, gradients, strict=True)]
    holders = [k for k, arg in enumerate(args) if any(is_differentiable(leaf) for _, leaf in leaves(arg, ""))]
    if not holders:
        raise ArgumentError("a gradient was given, but the arguments hold no floating-point arrays.")
    several = isinstance(value, (tuple, list)) and 1 <= len(value) <= len(holders)
    if several and not all(_fits(g, args[k]) for g, k in zip(value, holders, strict=False)):
        several = not _fits(value, args[holders[0]]) and len(value) == len(holders) > 1
    return list(zip(holders, value, strict=False)) if several else [(holders[0], value)]


def _fits(gradient: Any, arg: Any) -> bool:
    """Whether a gradient has the structure of an argument."""
    inside = parts(arg)
    if inside is None:
        return parts(gradient) is None
    known = _keys(gradient)
    if known is None or set(known) != {key for key, _ in inside}:
        return False
    return all(_fits(_entry(gradient, key), part) for key, part in inside)


def _entries(gradient: Any, arg: Any, name: str) -> Iterator[tuple[int, Any]]:
    """``(place among the leaves of the argument, gradient)`` for its floating-point arrays."""
    stack, place = [(gradient, arg, name)], 0
    while stack:
        g, value, called = stack.pop()
        inside = parts(value)
        if inside is None:
            if is_differentiable(value):
                yield place, g
            place += 1
            continue
        below = []
        known = _keys(g)
        extra = [key for key in known or () if key not in [key for key, _ in inside]]
        if known is None or extra:
            what = f"{', '.join(map(repr, extra))} of its own" if extra else f"the form of a {type(g).__name__}"
            raise ArgumentError(
                f"the gradient of {called} has {what}; {called} has {', '.join(repr(key) for key, _ in inside)}. A "
                "gradient has the structure of its argument."
            )
        for key, part in inside:
            needed = any(is_differentiable(leaf) for _, leaf in leaves(part, ""))
            if key not in known and needed:
                raise ArgumentError(
                    f"the gradient of {called} has no entry {key!r}; it has {', '.join(map(repr, known)) or 'none'}. A "
                    "gradient has the structure of its argument."
                )
            below.append((_entry(g, key) if key in known else None, part, f"{called}_{key}"))
        stack.extend(reversed(below))


def _keys(gradient: Any) -> list[Any] | None:
    if isinstance(gradient, (list, tuple)) and not hasattr(gradient, "_fields"):
        return list(range(len(gradient)))
    inside = parts(gradient)
    return None if inside is None else [key for key, _ in inside]


def _entry(gradient: Any, key: Any) -> Any:
    return getattr(gradient, key) if isinstance(key, str) and not isinstance(gradient, dict) else gradient[key]
