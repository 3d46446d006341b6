"""Changes in place that somebody looks at: which of them a formula or a program can repeat."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from symgrad.tape.graph import Node
from symgrad.tape.memory.alone import WATCHERS
from symgrad.tape.memory.versions import Foreign, storage
from symgrad.tape.memory.views import base_of
from symgrad.tape.watching.captured import captured
from symgrad.tape.watching.watch import WATCH, Watch, note_problem


@contextlib.contextmanager
def changes_seen(see: Callable[..., None]) -> Iterator[None]:
    """Changes in place are looked at while the function runs, and recorded also of what requires no grad."""
    WATCHERS.append(see)
    try:
        yield
    finally:
        WATCHERS.remove(see)


def arguments_kept(watch: Watch, function: Any = None) -> Callable[..., None]:
    """A look at changes in place: a program gives results and nothing else.

    Of an argument, and of a tensor that ``function`` has from elsewhere, they are refused.
    """
    elsewhere = {id(base_of(tensor)) for tensor in captured(function)}

    def see(root: Any, tensor: Any, new: Any, recording: bool) -> None:  # noqa: ARG001
        if id(root) in watch.inputs:
            note_problem("it changes an argument in place; work on a copy of it, x.clone()")
        elif id(root) in elsewhere:
            note_problem(
                f"it changes a tensor of shape {tuple(root._value.shape)} that it has from elsewhere, and a program "
                "gives results and nothing else; make it an argument, and return what becomes of its copy"
            )
        elif root._requires_grad and not recording:
            note_problem(
                "it changes a tensor without grad that has a gradient: the values are new ones, and the gradient that "
                "of the old ones; change a copy, y.clone(), or leave no_grad() out"
            )
        elif root._node is None and _elsewhere_too(root):
            note_problem(
                f"it changes a tensor in place that lies in the memory of a NumPy array of shape "
                f"{tuple(root._value.shape)}, which others read as well; change a copy, t.clone()"
            )
        if new._node is not None and _detached_too(watch, root):
            note_problem(_DETACHED)
        note_shared(root)

    return see


def _elsewhere_too(root: Any) -> bool:
    """Whether a tensor lies in the memory of a NumPy array that something else has as well."""
    array = root._array()
    while array is not None and not isinstance(array, Foreign):
        array = array.base if isinstance(array, np.ndarray) else None
    if array is None:
        return False
    owner = storage(array)
    return sys.getrefcount(owner) > _OURS


def _detached_too(watch: Watch, root: Any) -> bool:
    """Whether something in the memory of ``root`` is alive that was detached from it or another, or the other way."""
    pairs = [(one(), two()) for one, two in watch.detached]
    owner = storage(root._array())
    return any(a is not None and b is not None and storage(b._array()) is owner for a, b in pairs)


_OURS = 4
"""References to memory that one tensor has: what stands before it, the change, a variable here, and the question."""

_DETACHED = "it changes a detached tensor in place, and with it the one it was detached from; clone() it first"


def note_shared(root: Any) -> None:
    """What shares its memory with a tensor whose history does not show the change."""
    if isinstance(root._node, Node) and (
        root._node.op.shares or any(_detached_too(w, root) for w in WATCH.local.stack)
    ):
        note_problem(_DETACHED)
