"""The strides that torch tells of a tensor: NumPy says 0 of new axes, and nothing of what has no entries."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

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
        steps = _with_new(shown, steps, (params["dim"] % shown.ndim,))
    elif step.name == "getitem":
        parts = params["index"].parts
        steps = _with_new(shown, steps if shown.size else _stepped(shown, steps, parts), _new_axes(parts, shown.ndim))
    elif step.name == "reshape" and not shown.size:
        steps = list(steps_of(whole) if shown.shape == whole.shape else _row_by_row(shown.shape))
    elif step.name == "expand":
        new = shown.ndim - whole.ndim
        kept = zip(shown.shape[new:], whole.shape, whole.strides, strict=True)
        behind = [n // whole.itemsize if size == own else 0 for size, own, n in kept]
        steps = [*steps_of(_with_steps(shown, (*(0,) * new, *behind)))[:new], *behind]
    return _with_steps(shown, steps)


def _with_new(shown: Any, steps: list[int], axes: Collection[int]) -> list[int]:
    """The strides with those of new axes, where NumPy says 0: as many as the axis to the right reaches over."""
    for axis in sorted((axis for axis in axes if not steps[axis]), reverse=True):
        steps[axis] = 1 if axis + 1 == shown.ndim else shown.shape[axis + 1] * steps[axis + 1]
    return steps


def _new_axes(parts: tuple[Any, ...], ndim: int) -> set[int]:
    """The axes of ``x[parts]`` that a None made."""
    rest = parts.index(Ellipsis) if Ellipsis in parts else len(parts)
    ahead = [part for part in parts[:rest] if not isinstance(part, int)]
    behind = [part for part in parts[:rest:-1] if not isinstance(part, int)]
    return {k for k, part in enumerate(ahead) if part is None} | {
        ndim - 1 - k for k, part in enumerate(behind) if part is None
    }


def _stepped(shown: Any, steps: list[int], parts: tuple[Any, ...]) -> list[int]:
    """The strides of ``x[parts]``, in which NumPy leaves out the steps along axes that have no entries."""
    rest = parts.index(Ellipsis) if Ellipsis in parts else len(parts)
    for some, start in ((parts[:rest], 0), (parts[:rest:-1], shown.ndim - 1)):
        axis = start
        for part in some:
            if part.__class__ is slice and part.step is not None and not shown.shape[axis]:
                steps[axis] *= part.step
            axis += 0 if isinstance(part, int) else -1 if start else 1
    return steps


def _with_steps(value: Any, steps: Sequence[int]) -> Any:
    """An array with other strides, along axes that no entry or one lies on."""
    return np.lib.stride_tricks.as_strided(value, value.shape, [step * value.itemsize for step in steps])


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
