"""Functions of several ops whose derivative torch takes in one step, from their arguments: these are read once more.

The parts of such a function save what they made of the arguments.  When these have changed through ``.data`` by the
time of backward, which is no error, the parts are run again, and what they save takes the place of what is there.
Nothing is done, and but weak references are kept, as long as nothing changes.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.tape.graph import FREED, Labelled, Node
from symgrad.tape.memory.versions import changed_openly, changed_since, former, given_data, refuse_backward, storage
from symgrad.tape.modes import enable_grad
from symgrad.tape.record import Recorded, plain


def read_again(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Where the tensors among the arguments are found again: of each its class, place, array and whether it is tracked.

    Leaves are held weakly, since their own gradient may keep this.
    """
    row = []
    for x in (*args, *kwargs.values()) if kwargs else args:
        if isinstance(x, Recorded):
            node, value = x._node, x._value
            alone = value.__class__ is np.ndarray and value.base is None
            array = _weak(value) if alone else _reference(value)
            row.append((x.__class__, _weak(node if node.__class__ is Node else x), array, x._requires_grad))
    return tuple(row)


_weak = weakref.ref


def _reference(value: Any) -> Callable[[], Any]:
    """What gives an array while its memory lives, though the array itself be gone, as that of a view is soon."""
    if not isinstance(value, np.ndarray):
        return lambda: value
    owner, own = storage(value), weakref.ref(value)
    if owner is value:
        return own
    return functools.partial(_view, own, weakref.ref(owner), value.shape, value.dtype, value.strides, _start(value))


def _start(array: Any) -> int:
    return array.__array_interface__["data"][0]  # type: ignore[no-any-return]


def _view(own: Any, whole: Any, shape: Any, dtype: Any, strides: Any, start: int) -> Any:
    array, owner = own(), whole()
    if array is not None or owner is None:
        return array
    owner = owner if owner.flags.c_contiguous else owner.T
    return np.ndarray(shape, dtype, owner, start - _start(owner), strides) if owner.flags.c_contiguous else None


def read_anew(node: Node) -> None:
    """Let the parts of the function that ends at ``node`` save what comes of its arguments as they are by now."""
    row = node.args
    if row.__class__ is not Labelled or row.again is None or node.saved.__class__ is not tuple:
        return
    since, values, changed = node.sequence_nr, [], False
    for _, place, array, _ in row.again:
        was, here = array(), place()
        value = here._value if isinstance(here, Recorded) else given_data(here, since)  # it may have got other data
        value = was if value is None else value
        if value is None or changed_openly(value, since):
            return
        shape = (former(here, node) or (here.shape,))[0] if here is not None else value.shape
        if value.shape != shape:
            refuse_backward(
                node,
                f"backward of {row.label} reads an operand of shape {shape} that has shape {value.shape} since "
                "its .data was set: set .data before the graph is made, or after backward",
            )
            return
        values.append(value)
        changed = changed or (value is not was and isinstance(value, np.ndarray)) or changed_since(value, since)
    made = _made_again(row, values) if changed else None
    if isinstance(made, Recorded):  # no extremes with their places, which stay where they were
        _replace(node, made._node)


def _made_again(row: Any, values: list[Any]) -> Any:
    """The function once more, of leaves with these values."""
    tensors = []
    for (cls, _, _, tracked), value in zip(row.again, values, strict=True):
        tensors.append(plain(cls, value))
        tensors[-1]._requires_grad = tracked
    with enable_grad(), np.errstate(all="ignore"):
        return Again(row).run(tensors)


class Again:
    """A function that ends at a node, to be run on other tensors."""

    __slots__ = ("given",)

    def __init__(self, row: Any):
        self.given = row.given

    def run(self, tensors: Sequence[Any]) -> Any:
        """What it gives for tensors in the places of those it got."""
        rest = iter(tensors)
        function, args, kwargs = self.given
        return function(
            *[next(rest) if a is ... else a for a in args],
            **{key: next(rest) if a is ... else a for key, a in kwargs.items()},
        )


def told_late(node: Node) -> list[tuple[Any, Any, bool]] | None:
    """The arguments of the function that ends at ``node``, if one of them was told to require grad afterwards.

    Of each its place, a tensor that stands there by now, and whether a gradient flows to it.  torch makes the
    derivative of them, which then has a gradient of its own by that argument.
    """
    row = node.args
    if row.__class__ is not Labelled or row.again is None:
        return None
    found, late = [], False
    for cls, place, array, tracked in row.again:
        here = place()
        made = here
        if not isinstance(here, Recorded):
            if (value := array()) is None:
                return None
            made = plain(cls, value)
            made._node, made._requires_grad = here, tracked
        late = late or (made is here and not tracked and here._requires_grad)
        found.append((here, made, tracked))
    return found if late else None


def _replace(old: Node, new: Any) -> None:
    """Give the parts of one run what those of another saved; the result itself stays, as torch keeps it."""
    found: list[tuple[Node, tuple[Any, ...]]] = []
    ends = {id(place()) for _, place, _, _ in old.args.again}  # type: ignore[attr-defined]
    stack: list[tuple[Any, Any]] = [(old, new)]
    seen: set[int] = set()
    while stack:
        was, now = stack.pop()
        if was.__class__ is not Node or id(was) in ends or id(was) in seen:
            continue
        if now.__class__ is not Node or now.op is not was.op or len(now.args) != len(was.args) or was.saved is FREED:
            return  # the values decide which steps it takes
        seen.add(id(was))
        found.append((was, now.saved))
        stack.extend(zip(was.args, now.args, strict=True))
    for was, saved in found:
        was.saved = (was.saved[0], *saved[1:]) if was is old and saved else saved
