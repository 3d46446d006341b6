"""What a node saved, by torch's names: ``grad_fn._saved_self``, ``grad_fn._raw_saved_result.register_hooks(…)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.autograd.saving import saved_tensors_hooks
from symgrad.autograd.sweeps import wrap_saved
from symgrad.errors import AutogradError
from symgrad.tape.freed import SECOND_TIME
from symgrad.tape.graph import FREED, Labelled, Node
from symgrad.tape.observers import Packed, PackedRow, unpacked

_PLACES = {"result": 0, "output": 0, "self": 1, "input": 1, "other": 2, "exponent": 2, "mat2": 2, "weight": 2}
"""torch's names of what is saved: the result, the first argument, the second one."""


class SavedTensor:
    """One saved value of a node, as ``_raw_saved_<name>`` gives it."""

    __slots__ = ("_node", "_place")

    def __init__(self, node: Node, place: int):
        self._node = node
        self._place = place

    def register_hooks(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        """Keep what ``pack_hook(tensor)`` gives instead of the value; ``unpack_hook`` makes a tensor of it again.

        Raises ``RuntimeError`` where the value was freed or has hooks already.
        """
        node, place = self._node, self._place
        if node.saved is FREED:
            raise AutogradError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the "
                "graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need "
                "to backward through the graph a second time or if you need to access saved variables after calling "
                "backward."
            )
        row = list(node.saved)
        if row[place].__class__ is Packed:
            raise AutogradError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of "
                "hooks is allowed at a time."
            )
        row[place] = saved_tensors_hooks(pack_hook, unpack_hook).packed(row[place])
        node.saved, node.rules = PackedRow(row), None
        run = (node.params or {}).get("run")
        if run is not None:
            run.ctx.let_go(place)


def saved_attribute(node: Node, name: str) -> Any:
    """``grad_fn._saved_<name>`` or ``grad_fn._raw_saved_<name>``.  Raises ``KeyError`` for what the node did not save.

    Settings and numbers that the operation was given are as good as saved.
    """
    raw, _, label = name.partition("_saved_")
    if node.op.kind == "function":
        if name != "_raw_saved_tensors":
            raise KeyError(name)
        return tuple(SavedTensor(node, k) for k in range(len(_alive(node))))
    if isinstance(node.args, Labelled) and node.args.inputs is not None:
        raise KeyError(name)
    if node.params and label in node.params and not raw:
        return node.params[label]
    place = _PLACES[label]
    if place > len(node.args):
        raise KeyError(name)
    number = node.args[place - 1] if place else None
    if isinstance(number, (int, float, complex)) and not raw:
        return number
    if place - 1 not in node.op.needs(node.mask)[0]:
        raise KeyError(name)
    if raw and node.saved is FREED:
        return SavedTensor(node, place)
    saved = _alive(node)
    if not isinstance(saved[place], (np.ndarray, np.generic, Packed)):
        raise KeyError(name)
    if raw:
        return SavedTensor(node, place)
    alone = type(saved)(v if k == place else None for k, v in enumerate(saved))
    return wrap_saved(node, unpacked(alone))[place]


def _alive(node: Node) -> Any:
    if node.saved is FREED:
        raise AutogradError(SECOND_TIME)
    return node.saved
