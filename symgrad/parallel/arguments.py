"""The arguments of a call: which arrays there are, along which axes they are cut, and what gradients come back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad import random
from symgrad.dtypes import is_narrow
from symgrad.errors import ArgumentError
from symgrad.func.batching import spread_over
from symgrad.func.bound import Argnums, as_tensor, numbered, of_arrays
from symgrad.parallel.memory import compact
from symgrad.parallel.pieces import bounds
from symgrad.parallel.work import Arguments, Span
from symgrad.tape import containers
from symgrad.tape.record import Recorded, plain, value_of
from symgrad.tape.watching.following import is_followed
from symgrad.tensor import Tensor

_CALL = "parallel.value_and_grad"


def cut_up(
    args: tuple[Any, ...], kwargs: dict[str, Any], argnums: Argnums, in_axes: Any
) -> tuple[Arguments, list[Any], int]:
    """The arguments without their arrays, the arrays, and how many examples they have."""
    leaves, structure = containers.flatten((args, kwargs))
    if is_followed(leaves):
        raise ArgumentError(
            f"{_CALL} gives numbers, which have no history, and somebody differentiates by one of its arguments (or "
            "traces it): detach() tensors that require grad, or use func.value_and_grad, which can be differentiated."
        )
    count = sum(1 for arg in args for _ in containers.flatten(arg)[0])
    names = [f"argument {k}" for k, arg in enumerate(args) for _ in containers.flatten(arg)[0]]
    names += [name for key, value in kwargs.items() for name in containers.paths(containers.flatten(value)[1], key)]
    axes = [*_axes(args, argnums, in_axes), *map(_first_axis, leaves[count:])]
    axes = [_counted(leaf, axis, name) for leaf, axis, name in zip(leaves, axes, names, strict=True)]
    sizes = {name: leaf.shape[axis] for leaf, axis, name in zip(leaves, axes, names, strict=True) if axis is not None}
    if len(set(sizes.values())) != 1:
        raise ArgumentError(
            f"{_CALL}: arrays that are cut have the same number of examples; "
            + (f"these have {sizes}" if sizes else "here none is cut")
            + ". in_axes names the axis of each argument that examples lie along, and None for what all share."
        )
    (size,) = set(sizes.values())
    if not size:
        raise ArgumentError(f"{_CALL}: the batch has no examples: {sizes}.")
    arrays = [k for k, leaf in enumerate(leaves) if _is_array(leaf)]
    others = [None if _is_array(leaf) else leaf for leaf in leaves]
    wrapped = [k < count or isinstance(leaf, Recorded) for k, leaf in enumerate(leaves)]
    given = Arguments(structure, others, wrapped, axes, arrays, of_arrays((args, kwargs)))
    return given, [compact(_value(leaves[k])) for k in arrays], int(size)


def _is_array(leaf: Any) -> bool:
    return isinstance(leaf, (np.ndarray, Recorded)) and not _value(leaf).dtype.hasobject


def _value(leaf: Any) -> Any:
    return np.asarray(value_of(leaf))


def _first_axis(leaf: Any) -> int | None:
    return 0 if _is_array(leaf) and _value(leaf).ndim else None


def _axes(args: tuple[Any, ...], argnums: Argnums, in_axes: Any) -> list[int | None]:
    """The axis of every leaf of the arguments."""
    leaves, structure = containers.flatten(args)
    if in_axes is None:
        numbers = numbered(argnums, len(args))
        rows = [(k, leaf) for k, arg in enumerate(args) for leaf in containers.flatten(arg)[0]]
        return [None if k in numbers else _first_axis(leaf) for k, leaf in rows]
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    spread = spread_over(in_axes, structure) if isinstance(in_axes, (int, tuple)) else None
    if spread is None:
        raise ArgumentError(
            f"{_CALL}: in_axes={in_axes!r} does not fit the arguments: it is an int, or a tuple with an int, None or a "
            f"nesting for each; the arguments are nested as {containers.shown(structure)}."
        )
    return [None if axis is not None and not isinstance(leaf, (np.ndarray, Recorded)) and isinstance(in_axes, int)
            else axis for leaf, axis in zip(leaves, spread, strict=True)]  # fmt: skip


def _counted(leaf: Any, axis: Any, name: str) -> int | None:
    """The axis of one array, counted from the front."""
    if axis is None:
        return None
    if not isinstance(axis, int) or isinstance(axis, bool):
        raise ArgumentError(f"{_CALL}: the axis of {name} is an int or None, got {axis!r}.")
    if not _is_array(leaf):
        raise ArgumentError(f"{_CALL}: {name} is cut along axis {axis} and is a {type(leaf).__name__}, no array.")
    rank: int = _value(leaf).ndim
    if not -rank <= axis < rank:
        raise ArgumentError(f"{_CALL}: {name} is cut along axis {axis} and has shape {_value(leaf).shape}.")
    return axis % rank


def spans_of(size: int, chunks: int, randomness: str) -> list[Span]:
    """The chunks of a batch; with random numbers every one has a seed of its own."""
    seeds: Sequence[int | None] = [None] * chunks
    if randomness == "different":
        first = int(random.randint(2**31, ())._value)
        seeds = [int(s) for s in np.random.SeedSequence(first).generate_state(chunks)]
    ends = bounds(size, chunks)
    return [Span(k, end, (end[1] - end[0]) / size, seed) for k, (end, seed) in enumerate(zip(ends, seeds, strict=True))]


class Wanted:
    """The gradients of a call: ``added`` over chunks (shape and dtype), or ``joined`` (by place, and along an axis)."""

    def __init__(self, args: tuple[Any, ...], argnums: Argnums, axes: Sequence[int | None]):
        self.single = isinstance(argnums, int)
        rows = [containers.flatten(arg) for arg in args]
        starts = np.cumsum([0, *(len(leaves) for leaves, _ in rows)])
        self.structures = []
        self.dtypes: list[Any] = []
        self.added: list[tuple[tuple[int, ...], Any]] = []
        self.joined: dict[int, tuple[tuple[int, ...], Any, int]] = {}
        for number in numbered(argnums, len(args)):
            leaves, structure = rows[number]
            self.structures.append(structure)
            for k, leaf in enumerate(leaves):
                value = _value(as_tensor(leaf, f"argument {number}"))
                axis, wide = axes[starts[number] + k], np.dtype(np.float32) if is_narrow(value.dtype) else value.dtype
                self.dtypes.append(value.dtype)
                if axis is None:
                    self.added.append((value.shape, wide))
                else:
                    self.joined[len(self.dtypes)] = value.shape, wide, axis  # the value stands first in sums

    def bytes_of_added(self) -> list[int]:
        """How much memory each takes."""
        return [int(np.prod(shape, dtype=int)) * dtype.itemsize for shape, dtype in self.added]

    def bytes_of_joined(self) -> list[int]:
        """How much memory each takes."""
        return [int(np.prod(shape, dtype=int)) * dtype.itemsize for shape, dtype, _ in self.joined.values()]

    def nested(self, added: Sequence[Any], joined: dict[int, Any]) -> Any:
        """The gradients in the structure of the arguments."""
        rest = iter(added)
        rows = [joined[k] if k in joined else next(rest) for k in range(1, len(self.dtypes) + 1)]
        leaves = iter([plain(Tensor, x.astype(d, copy=False)[()]) for x, d in zip(rows, self.dtypes, strict=True)])
        parts = tuple(containers.unflatten(containers.without_settings(s), leaves) for s in self.structures)
        return parts[0] if self.single else parts
