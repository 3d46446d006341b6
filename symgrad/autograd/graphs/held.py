"""Tensors that a node holds, by the names of the arguments of the function that made it."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from symgrad.autograd.sweeps.entrances import wrap_saved
from symgrad.op.fronts import FRONTS
from symgrad.ops.indexing.getitem import HOLE
from symgrad.tape.graph import Labelled, Node
from symgrad.tape.memory.versions import counter
from symgrad.tape.naming import full_name
from symgrad.tape.observers import Packed, unpacked
from symgrad.tape.record import Recorded

_INNER_CAPITAL = re.compile(r"(?<=[a-z])([A-Z])")

_PLACES = ("index", "indices", "mask", "target", "condition")
"""Arguments that are no floats, or may be none."""

_MOST = 64
"""Parts of a function that are looked at."""


def was_given(args: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments of the function whose label ``args`` bears, by name, and where those that are tensors stand."""
    function, row, named = args.given
    bound = inspect.signature(function).bind(*row, **named)
    bound.apply_defaults()
    tensors = [name for name, value in bound.arguments.items() if value is ...]
    inputs = inputs_given(args)
    if len(tensors) > len(inputs):  # of those, no gradient is asked for
        tensors = [name for name in tensors if name not in _PLACES]
    return bound.arguments, dict(zip(tensors, inputs, strict=True)) if len(tensors) == len(inputs) else {}


def inputs_given(args: Any) -> tuple[Any, ...]:
    """The inputs of the whole whose label ``args`` bears, without places of tensors that it might have been given."""
    order = getattr(args.label, "order", ())
    if None not in order:
        return args.inputs  # type: ignore[no-any-return]
    return tuple(place for k, place in zip(order, args.inputs, strict=True) if k is not None)


def parameters(node: Node) -> dict[str, inspect.Parameter]:
    """The parameters of the public function by which a node goes; none where it has no names for them."""
    known = _front(node)
    found = {} if known is None else dict(inspect.signature(known.call).parameters)
    if known is None or any(p.kind is p.VAR_POSITIONAL for p in found.values()):
        return {}
    return {_word(known, name): parameter for name, parameter in found.items()}


def names(node: Node) -> set[str]:
    """What torch calls the operands and settings of an op, and its result."""
    known = _front(node)
    if known is None:  # what it was told is in words of its own
        return {"result", "indices", "input", *cut(node)}
    return {"result", "indices", *cut(node), *(parameters(node) or ("input", _word(known, "other")))}


def _front(node: Node) -> Any:
    name = _INNER_CAPITAL.sub(r"_\1", full_name(node).partition("Backward")[0]).lower()
    return FRONTS.get(name) or FRONTS.get(node.op.name)


def _word(known: Any, name: str) -> str:
    """torch's word for a parameter, where it has another than the function here."""
    return next((word for word, own in known.words.items() if own == name and word != "self"), name)


def indices(node: Node) -> tuple[Any, ...]:
    """The tensors by which entries were picked, None for axes of which all were taken."""
    if node.op.name != "getitem" or len(node.args) < 2:
        raise KeyError("indices")
    places = iter(range(2, 1 + len(node.args)))
    return tuple(at_place(node, next(places)) if part is HOLE else None for part in node.params["index"].parts)  # type: ignore[index]


def held_operand(node: Node, edge: Any, inputs: tuple[Any, ...]) -> Any:
    """The tensor that stands at ``edge``, from what the parts of a function saved, or the leaf that it keeps unchanged.

    Of constants (None) a single one is known.  Raises ``KeyError`` where no part saved it.
    """
    found: dict[int, tuple[Node, int]] = {}
    for part, k in _saved_operands(node, inputs):
        place = part.args[k - 1]
        if place is edge if edge is not None else not getattr(place, "mask", isinstance(place, Recorded)):
            found.setdefault(id(part.saved[k]), (part, k))
    if found and (edge is not None or len(found) == 1):
        return at_place(*next(iter(found.values())))
    value = getattr(edge, "_value", None)
    if isinstance(value, np.ndarray) and any(owner() is counter(value) for owner in node.args.kept):  # type: ignore[attr-defined]
        return edge
    raise KeyError(edge)


def held_places(node: Node, inputs: tuple[Any, ...]) -> Any:
    """The whole numbers that a function found out and its parts saved, such as those of its largest entries."""
    for part, k in _saved_operands(node, inputs):
        value = part.saved[k]
        if isinstance(value, np.ndarray) and value.dtype.kind == "i" and value.size == math.prod(node.shape):
            return at_place(part, k).reshape(node.shape)
    raise KeyError("indices")


def at_place(node: Node, place: int) -> Any:
    """What a node saved at a place, as a tensor that stands there.  Raises ``KeyError`` for what is no tensor."""
    if not isinstance(node.saved[place], (np.ndarray, np.generic, Packed)):
        raise KeyError(place)
    alone = type(node.saved)(v if k == place else None for k, v in enumerate(node.saved))
    return wrap_saved(node, unpacked(alone))[place]


def _saved_operands(node: Node, inputs: tuple[Any, ...]) -> Iterator[tuple[Node, int]]:
    """The parts of a function that saved an operand, and the places of these among what they saved."""
    stack, seen = [node], {id(edge) for edge in inputs if edge is not None}
    while stack and len(seen) < _MOST:
        part = stack.pop(0)
        yield from ((part, k) for k, value in enumerate(part.saved) if k and isinstance(value, (np.ndarray, Packed)))
        for arg in part.args:
            if isinstance(arg, Node) and id(arg) not in seen:
                seen.add(id(arg))
                stack.append(arg)


def cut(node: Node) -> dict[str, Any]:
    """torch's settings of a part that was cut out along one axis: which, and from where to where."""
    params = node.params or {}
    if node.op.name == "narrow":
        return {"end": params["start"] + params["length"], "step": 1}
    if node.op.name != "getitem":
        return {}
    cuts = [(dim, entry) for dim, entry in enumerate(params["index"].parts) if not _is_all(entry)]
    if len(cuts) != 1 or not isinstance(cuts[0][1], (int, slice)):
        return {}
    dim, entry = cuts[0]
    if isinstance(entry, int):
        return {"dim": dim, "index": entry}
    end = np.iinfo(np.int64).max if entry.stop is None else entry.stop
    return {"dim": dim, "start": entry.start or 0, "end": end, "step": entry.step or 1}


def _is_all(entry: Any) -> bool:
    return isinstance(entry, slice) and entry == slice(None)


def is_whole(node: Node) -> bool:
    """Whether a node is the end of a function of which is known what it was given."""
    return isinstance(node.args, Labelled) and node.args.inputs is not None and node.args.given is not None
