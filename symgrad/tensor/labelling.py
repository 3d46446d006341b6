"""What functions leave beside their numbers: what torch calls the whole, and how often it changes its own result."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.errors import AutogradError
from symgrad.op import lookup
from symgrad.op.fronts import by_place, names_in_order
from symgrad.ops.indexing.getitem import getitem
from symgrad.ops.torch_nodes.kept import ANEW, COMPUTING, KEPT, SCALING
from symgrad.ops.torch_nodes.kinds import Arranged
from symgrad.ops.torch_nodes.labels import label_of
from symgrad.ops.torch_nodes.rewrites import FILLING, OF_FUNCTIONS
from symgrad.tape import record
from symgrad.tape.graph import Labelled, Node
from symgrad.tape.memory.anew import read_again
from symgrad.tape.memory.versions import Memory, kept, storage
from symgrad.tape.memory.views import inferred, show_temporary, view_of
from symgrad.tape.modes import MODE
from symgrad.tape.record import Recorded
from symgrad.tensor.plain import NUMBERS

__all__ = ["labelling", "rewriting"]


_OPERATORS = ("add", "sub", "subtract", "rsub", "div", "divide", "fmod", "remainder", "copysign")
"""Functions that torch records of inference tensors that claim to require grad where they meet numbers, which are
tensors to them; ``alpha`` is none."""

_COPIED_FIRST = ("sort",)
"""Functions that torch records of such tensors alone, too: it copies them first."""


def _another(name: str, made: Any) -> Any:
    """Where there is nothing to do, torch's answer is another tensor all the same: a view, or a copy.

    An inference tensor that claims to require grad does so for ``clone`` alone.
    """
    if name in ("t", "t_"):
        return getitem(made, Ellipsis)
    return lookup("clone")(lookup("detach")(made) if MODE.inferred and inferred(made) else made)


def _numbered(args: tuple[Any, ...]) -> bool:
    """Whether there are Python numbers among the arguments."""
    return any(a.__class__ in NUMBERS for a in args)


def labelling(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function made of several ops, whose results say what torch calls the whole."""
    label = label_of(name)
    if label is None:
        return function
    hides = getattr(label, "hides", False)
    positions, operators = KEPT.get(name, ()), name in _OPERATORS
    computing, anew, scaling = name in COMPUTING, name in ANEW, name in SCALING
    beside_number = scaling and name != "lerp"

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            args = by_place(names_in_order(function), args, kwargs)
        if MODE.inferred and name not in _COPIED_FIRST and not (operators and _numbered(args[:2])):
            made = _unclaimed(function, args, kwargs)
        else:
            made = function(*args, **kwargs)
        unchanged = args and made is args[0] and isinstance(made, Recorded) and not kwargs.get("inplace")
        if unchanged and (isinstance(label, str) or label(made, *args, **kwargs) is not None):
            made = _another(name, made)
        given: Any = None
        inputs: Any = None  # the same for all results
        for out in made if isinstance(made, tuple) else (made,):
            if isinstance(out, Recorded) and out._requires_grad and (node := out._node).__class__ is Node:
                whole = computing or (node.op.name == name and node.op.kind == "elementwise")
                if inputs is None:
                    inputs = _inputs(args, kwargs, every=whole)
                    if beside_number and args[1].__class__ in NUMBERS:
                        inputs = (*inputs, None)
                if [place for place in inputs if place is node]:
                    continue
                text = label if label.__class__ is str else label(out, *args, **kwargs)
                if text is None:
                    continue
                places = positions(*args, **kwargs) if callable(positions) else positions
                needed = tuple([_needed(k, args, out) for k in places if k is None or k < len(args)]) if places else ()
                row = Labelled.on(
                    node, text, _arranged(text, node, inputs) if text.__class__ is Arranged else inputs, needed
                )
                given = row.given = (function, *_settings(args, kwargs)) if given is None else given
                if anew:
                    row.again = read_again(args, kwargs)
                if scaling:
                    _scaled_by_numbers(node, inputs)
            elif hides and isinstance(out, Recorded) and _alone(out) and _hides(label(out, *args, **kwargs)):
                show_temporary(out)
        return made

    call.unlabelled = function  # type: ignore[attr-defined]  # for arrays
    return call


def _alone(out: Any) -> bool:
    """Whether a result was not recorded, and is no view that anybody knows of."""
    return out._node is None and view_of(out) is None and not inferred(out)


def _hides(text: Any) -> bool:
    """Whether a label is that of a view of a temporary tensor."""
    return getattr(text, "hidden", None) is not None


_SETTINGS = frozenset((int, float, complex, bool, str, type(None)))


def _settings(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What a function was given besides tensors, which stand as ``...``."""
    named = {key: _setting(a) for key, a in kwargs.items()} if kwargs else kwargs
    return tuple([... if isinstance(a, Recorded) else _setting(a) for a in args]), named


def _setting(given: Any) -> Any:
    if given.__class__ in _SETTINGS:
        return given
    return given if given.__class__ in (tuple, list) and all(a.__class__ in _SETTINGS for a in given) else ...


def _arranged(label: Arranged, whole: Node, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs of a whole as its label orders them, with the steps inside of it that have nodes of their own."""
    row = list(inputs)
    for k, (path, name) in label.steps.items():
        step: Any = whole
        for i in path:
            step = step.args[i] if step.__class__ is Node and i < len(step.args) else None
        if step.__class__ is Node and k < len(row) and row[k] is not None:
            Labelled.on(step, name)
            row[k] = step
    # Truth values and integers are no inputs of a node.
    return tuple(None if k is None else row[k] for k in label.order if k is None or k < len(row))


def rewriting(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that torch lets change its own result in place, which is seen of inference tensors."""
    entry = OF_FUNCTIONS.get(name)
    if entry is None:
        return function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        made = function(*args, **kwargs)
        if MODE.inferred:
            args = by_place(names_in_order(function), args, kwargs)
            flat = args[1] if name == "einsum" and len(args) > 1 and isinstance(args[1], (list, tuple)) else None
            given = args if flat is None else (args[0], *flat)
            record.count_rewrites(name, entry, made if isinstance(made, tuple) else (made,), given, kwargs)
            if name in FILLING and len(args) + len(kwargs) > 1:
                made = _filled(made, args[0])
        return made

    return call


def _needed(k: int | None, args: tuple[Any, ...], out: Any) -> Callable[[], Any]:
    """What a function keeps whole: an argument, its result, or something of its own."""
    if k is None:
        return lambda: None
    tensor = args[k] if k >= 0 else args[0] if k == -2 else out
    if MODE.inferred and inferred(tensor) and tensor.dtype.kind in "fc":
        raise AutogradError(record.INFERENCE_SAVED)
    value = getattr(tensor, "_value", None)
    itself = k >= 0 and (not isinstance(value, np.ndarray) or storage(value) is value)
    return kept(tensor) if itself else Memory(kept(tensor))


def _scaled_by_numbers(whole: Node, inputs: tuple[Any, ...]) -> None:
    """Say of the products with numbers inside of a function that a second pass has what it needs."""
    stack: list[Any] = [whole]
    while stack:
        node = stack.pop()
        if node.__class__ is Node and not any(node is place for place in inputs):
            if node.op.name in ("mul", "addcmul", "lerp") and not all(hasattr(arg, "raw_shape") for arg in node.args):
                Labelled.cast(node, "scaling")
            stack.extend(node.args)


def _inputs(args: tuple[Any, ...], kwargs: dict[str, Any], every: bool) -> tuple[Any, ...]:
    """Where the tensors of a call come from that may have a gradient: a node, a leaf, or None for a constant.

    Those that are no floats are places, unless the function is elementwise and computes with ``every`` one.
    """
    found: list[Any] = []
    for given in (*args, *kwargs.values()) if kwargs else args:
        for x in given if given.__class__ is tuple or given.__class__ is list else (given,):
            if isinstance(x, Recorded) and (every or x._value.dtype.kind in "fVc"):
                found.append((x if x._node is None else x._node) if x._requires_grad else None)  # noqa: PERF401
    return tuple(found)


def _filled(made: Any, x: Any) -> Any:
    """What a function along an axis gives of a number, which torch fills the result with.

    That is recorded where the number is an inference tensor that claims to require grad.
    """
    if (
        not isinstance(x, Recorded)
        or x._value.shape
        or not inferred(x)
        or not x.more().claims
        or MODE.local.inference
        or not MODE.local.enabled
    ):
        return made
    copy, first = lookup("clone")(x), made[0] if isinstance(made, tuple) else made
    Labelled.on(copy._node, "FillBackward3")
    copy.more().counted = first.more().counted
    return made.__class__((copy, *made[1:])) if isinstance(made, tuple) else copy


def _unclaimed(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a function of several ops gives: inside of it inference tensors claim nothing if all operands are such."""
    given = [*args, *kwargs.values()]
    tensors = [t for a in given for t in (a if isinstance(a, (list, tuple)) else (a,)) if isinstance(t, Recorded)]
    claiming: list[Any] = [t for t in tensors if inferred(t) and getattr(t._extra, "claims", False)]
    if not claiming or not all(map(inferred, tensors)):
        return function(*args, **kwargs)
    for tensor in claiming:
        tensor._extra.claims = False
    try:
        return function(*args, **kwargs)
    finally:
        for tensor in claiming:
            tensor._extra.claims = True
