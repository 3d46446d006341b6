"""Changes in place that somebody looks at: which of them a formula or a program can repeat."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from symgrad.tape.graph import Node
from symgrad.tape.memory.alone import WATCHERS
from symgrad.tape.watching.watch import Watch, note_problem


@contextlib.contextmanager
def changes_seen(see: Callable[..., None]) -> Iterator[None]:
    """Changes in place are looked at while the function runs, and recorded also of what requires no grad."""
    WATCHERS.append(see)
    try:
        yield
    finally:
        WATCHERS.remove(see)


def arguments_kept(watch: Watch) -> Callable[..., None]:
    """A look at changes in place: of an argument they are refused, since a program gives results and nothing else."""

    def see(root: Any, tensor: Any, new: Any, recording: bool) -> None:  # noqa: ARG001
        if id(root) in watch.inputs:
            note_problem("it changes an argument in place; work on a copy of it, x.clone()")
        elif root._requires_grad and not recording:
            note_problem(
                "it changes a tensor without grad that has a gradient: the values are new ones, and the gradient that "
                "of the old ones; change a copy, y.clone(), or leave no_grad() out"
            )
        note_shared(root)

    return see


def note_shared(root: Any) -> None:
    """What shares its memory with a tensor whose history does not show the change."""
    if isinstance(root._node, Node) and root._node.op.shares:
        note_problem(
            "it changes a detached tensor in place, and with it the one it was detached from; clone() it first"
        )
