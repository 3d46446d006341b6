"""The strides that torch tells of a tensor: NumPy says 0 of new axes, and nothing of what has no entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.tape.formulas.sizes import Size, as_number
from symgrad.tape.memory.views import view_of


def steps_by_base(tensor: Any) -> tuple[int, ...]:
    """The strides of a tensor without entries, or with one along some axis, of which NumPy may say 0.

    They are those that it was given, or those of its base through the ops that cut it out; and those of a base are what
    they would be if there were some.
    """
    view, extra, value = view_of(tensor), tensor._extra, tensor._value
    if extra is not None and extra.strides is not None and not value.size:
        return extra.strides  # type: ignore[no-any-return]
    if view is None:
        return steps_of(value) if any(value.strides) else _row_by_row(value.shape)
    base = view.base
    shown = _with_steps(base._array(), base.stride())
    for step, params in view.chain():
        shown = _cut(shown, step, params)
    if shown.shape != value.shape:  # resized by now, with its rows one after the other
        return _row_by_row(value.shape)
    if value.size and not _agree(shown, value):  # one of the two has other ``data`` by now
        return steps_of(value)
    return tuple(n // shown.itemsize for n in shown.strides)


def _agree(a: Any, b: Any) -> bool:
    """Whether two arrays have the same strides along all axes of more than one entry."""
    axes = zip(a.shape, b.shape, a.strides, b.strides, strict=False)
    return a.ndim == b.ndim and all(n == m and (n == 1 or p == q) for n, m, p, q in axes)


def _cut(whole: Any, step: Any, params: dict[str, Any]) -> Any:
    """What an op cuts out of an array, with the strides that torch gives it also where it has no entries."""
    shown = step.view(whole, **params) if step.view is not None else whole  # what is conjugated later lies as it lay
    steps = [n // shown.itemsize for n in shown.strides]
    if step.name == "unsqueeze":
        axis = params["dim"] % shown.ndim
        steps[axis] = 1 if axis + 1 == shown.ndim else shown.shape[axis + 1] * steps[axis + 1]
    elif step.name == "getitem":
        index = params["index"]
        own = [n // whole.itemsize for n in whole.strides]
        steps = list(index.steps[1]) if index.steps is not None else _indexed(own, whole.shape, index.parts)
    elif step.name == "reshape" and not shown.size:
        steps = list(steps_of(whole) if shown.shape == whole.shape else _row_by_row(shown.shape))
    elif step.name == "expand":
        new = shown.ndim - whole.ndim
        kept = zip(shown.shape[new:], whole.shape, whole.strides, strict=True)
        behind = [n // whole.itemsize if size == own else 0 for size, own, n in kept]
        steps = [*steps_of(_with_steps(shown, (*(0,) * new, *behind)))[:new], *behind]
    return _with_steps(shown, steps)


def _indexed(own: Sequence[int], shape: tuple[int, ...], parts: tuple[Any, ...]) -> list[int]:
    """The strides of ``x[parts]``, which torch takes part by part: a new axis reaches over the one behind it, whole."""
    steps: list[int] = []
    axis, used = 0, sum(part is not None and part is not Ellipsis for part in parts)
    for part in parts if Ellipsis in parts else (*parts, Ellipsis):
        if part is None:
            steps.append(own[axis] * shape[axis] if axis < len(shape) else 1)
            continue
        behind = axis + (len(shape) - used if part is Ellipsis else 1)
        if part is Ellipsis:
            steps.extend(own[axis:behind])
        elif part.__class__ is slice:
            steps.append(own[axis] * (part.step or 1))
        axis = behind
    return steps


def _with_steps(value: Any, steps: Sequence[int]) -> Any:
    """An array with other strides, along axes that no entry or one lies on."""
    return np.lib.stride_tricks.as_strided(value, value.shape, [step * value.itemsize for step in steps])


def in_sizes(steps: Sequence[int], shape: Sequence[int], others: Sequence[int] = ()) -> tuple[int, ...]:
    """Strides as the products of sizes that they are; where one is none, they hold for these sizes, and ``others``."""
    found, width = list(steps), Size(1)
    for k in sorted(range(len(steps)), key=lambda k: (steps[k], -k)):
        if int(width) == steps[k]:
            found[k] = width
        elif steps[k]:
            for n in (*shape, *others):
                as_number(Size(n))
            return tuple(steps)
        width = width * shape[k]
    return tuple(found)


def _row_by_row(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of an array whose rows lie one after the other, an axis of none counted as one of one."""
    return tuple(int(np.prod(np.maximum(shape[k + 1 :], 1))) for k in range(len(shape)))


def steps_of(value: Any) -> tuple[int, ...]:
    """The strides in entries; NumPy says 0 of new axes, torch what is next to the right."""
    steps: list[int] = []
    width = 1
    for size, step in zip(reversed(value.shape), reversed(value.strides), strict=True):
        steps.append(step // value.itemsize if step or size != 1 else width)
        width = size * steps[-1]
    return tuple(reversed(steps))
