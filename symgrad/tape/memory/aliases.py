"""What follows a change of memory: the views of what was changed, and what was detached from it or before it."""

from __future__ import annotations

import weakref
from typing import Any

from symgrad.errors import AutogradError
from symgrad.op import lookup
from symgrad.tape.graph import Labelled, Node, new_node
from symgrad.tape.memory.overlap import blank
from symgrad.tape.memory.putting import Chain
from symgrad.tape.memory.views import base_of, out_of_reach, twins
from symgrad.tape.modes import inference_mode, recording


def views_follow(root: Any) -> None:
    """Let views that were cut out of a tensor before it was told (not) to require grad say so, too.

    Those that were changed meanwhile become nodes, if they may be changed.
    """
    for ref in (root._extra.views if root._extra is not None else None) or ():
        alive = ref()
        if alive is not None and root._requires_grad and alive._node.__class__ is Node and not alive._node.mask:
            alive._node = None  # it says how the values came about, and no gradient goes that way
        view = None if alive is None else alive._extra.view
        if view is not None and (out_of_reach(alive) or (view.changed and root._requires_grad)):
            alive._requires_grad = root._requires_grad
            if alive._requires_grad and view.changed:
                if view.kind:
                    alive._node = Invalid(alive)
                else:
                    with inference_mode(False):
                        retake(alive, root)


class Invalid:
    """Stands for the node of a view whose base was changed when the view could not follow: whoever asks gets the error.

    Shape and dtype are told without grad, since the values of the view are right.
    """

    __slots__ = ("__weakref__", "facts", "recorded", "view")

    def __init__(self, alive: Any):
        self.view = alive._extra.view
        before = alive._node
        self.recorded: bool = before.recorded if before.__class__ is Invalid else before is not None
        self.facts = {"shape": alive._value.shape, "dtype": alive._value.dtype}

    def __getattr__(self, name: str) -> Any:
        if name in self.facts and not recording():
            return self.facts[name]
        raise self.error()

    def error(self) -> AutogradError:
        """torch's error for whoever asks for the history of the view."""
        return AutogradError(self.view.refusal("its base or another view of its base has been", self.recorded))


def refresh(root: Any) -> None:
    """Record every living view of the root again; their memory is right already."""
    views = root._extra.views if root._extra is not None else None
    if not views:
        return
    for ref in list(views):
        alive = ref()
        if alive is None or alive._extra.view is None:
            continue
        view = alive._extra.view
        if view.kind and root._requires_grad:
            alive._node, alive._requires_grad = Invalid(alive), True
        elif root._requires_grad or not (view.leaf and alive._requires_grad):  # such leaves stay
            retake(alive, root)


def retake(alive: Any, root: Any) -> None:
    """Give a view a node of its own time; hooks stay with what it was, and what it was is no longer its place."""
    chain = alive._extra.view.chain()
    made = cut(root, chain) if root._requires_grad or root._node is not None else _cut_off(root, chain)
    if alive._extra.retains and alive._node is not None:
        alive._node.more().retained = None
        made._node.more().retained = weakref.ref(alive)
    alive._node, alive._requires_grad = made._node, made._requires_grad
    if not chain[-1][0].retaken:
        # torch does not take the views once more, but reads the memory of the base by strides.
        place = root._node or (root if root._requires_grad else None)
        Labelled.on(made._node, "AsStridedBackward0", (place,))
    if not alive._value.size:
        Labelled.cast(made._node, "empty")


def follow(tensor: Any) -> None:
    """After an unrecorded change: views have new nodes of an unchanged history, those that may not change have none."""
    root = None if tensor is None else base_of(tensor)
    while root is not None:
        _follow(root)
        twins_follow(root)
        root = detached_from(root)


def twins_follow(root: Any) -> None:
    """The same for what was detached from a changed tensor, or from another one in its memory, and is a leaf now."""
    for twin in twins(root):
        _follow(twin)


def detached_from(root: Any) -> Any:
    """The base with history whose memory a base shows without; None where there is none."""
    extra = root._extra
    twin = None if extra is None or extra.detached is None else extra.detached()
    return None if twin is None else base_of(twin)


def _follow(root: Any) -> None:
    tracked = root._requires_grad
    for alive in spoil(root):
        if alive._node.__class__ is Node or (tracked and not alive._extra.view.kind):
            with inference_mode(False):
                retake(alive, root)


def spoil(root: Any) -> list[Any]:
    """After an unrecorded change: views that may not change have no node any more, as in torch.

    What was told to require grad beside a base that does not is no view to anybody who asks for its history.  The
    answer is the views that require grad, or whose base does; the others, of which loops may keep thousands, are only
    marked.
    """
    tracked, found = root._requires_grad, []
    for ref in (root._extra.views if root._extra is not None else None) or ():
        alive = ref()
        if alive is None or (view := alive._extra.view) is None:
            continue
        view.changed = True
        if tracked or alive._requires_grad:
            found.append(alive)
    for alive in found:
        if alive._extra.view.kind and alive._requires_grad and (tracked or alive._node is not None):
            alive._node = Invalid(alive)
    return found


def stands_apart(tensor: Any) -> None:
    """After a result got another shape or dtype without grad: its place in the graph, which looks like it.

    What comes there is summed and cast to what the result was when its node was made, as torch does, or does not fit.
    """
    node, value = tensor._node, tensor._array()
    if not tensor._requires_grad or node.__class__ is not Node:
        return
    shape, wide = (1,) * (value.ndim - node.ndim) + node.shape, value.shape
    if (node.shape, node.dtype) != (wide, value.dtype):
        fits = len(shape) == len(wide) and all(size in (1, other) for size, other in zip(shape, wide, strict=True))
        op, params = (lookup("expand"), {"shape": wide}) if fits else (lookup("clone"), {})
        tensor._node = new_node(op, (node,), params, 1, wide, value.dtype, (None, None))
        Labelled.cast(tensor._node, "apart")


def cut(root: Any, chain: Chain) -> Any:
    """The view that ``chain`` cuts out of ``root``, recorded anew; only a leaf notes it, being its own place."""
    made = root
    if root._node is not None:
        made = blank(root)
        made._value, made._node, made._requires_grad, made._extra = root._array(), root._node, root._requires_grad, None
    for op, params in chain:
        made = op(made, **params)
    return made


def _cut_off(root: Any, chain: Chain) -> Any:
    """The view that ``chain`` cuts out of a base that was detached: in torch its node stays, and leads nowhere."""
    base = blank(root)
    base._value, base._node, base._requires_grad, base._extra = root._array(), None, True, None
    made = cut(base, chain)
    first = made._node
    while first.args[0] is not base:
        first = first.args[0]
    first.args, first.saved, first.rules = (root.source(), *first.args[1:]), (None,) * (1 + len(first.args)), None
    first.mask = 1 << len(first.args)
    return made
