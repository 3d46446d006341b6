"""Views: what a tensor knows of the base whose memory it shows, and of the ops that cut it out.

Some results are views of a temporary tensor in torch, which nobody holds: ``einsum`` gives one of its last product.
Here they are tensors of their own until something depends on it; then that tensor is made, as their base.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from symgrad.op import Op, lookup
from symgrad.ops.torch_nodes.cotangents import temporary, within
from symgrad.ops.torch_nodes.kinds import Steps
from symgrad.tape.graph import Labelled, Node, twin
from symgrad.tape.memory.mirrors import image_of, memory
from symgrad.tape.memory.overlap import blank, writable
from symgrad.tape.memory.versions import counter, note_change, parted, storage
from symgrad.tape.modes import MODE, recording
from symgrad.tape.numbering import sequence

_AMBIGUOUS = (
    "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both "
    "the view and the inplace either both inside the {} block (if you don't want the inplace to be tracked) or both "
    "outside (if you want the inplace to be tracked)."
)
_WHY = {
    "no_grad": "modified inplace with grad mode enabled. " + _AMBIGUOUS.format("no_grad"),
    "inference": "modified inplace in normal mode. " + _AMBIGUOUS.format("inference_mode"),
    "several": "This view is the output of a function that returns multiple views. Such functions do not allow the "
    "output views to be modified inplace. You should replace the inplace operation by an out-of-place one.",
    "function": "This view was created inside a custom Function (or because an input was returned as-is) and the "
    "autograd logic to handle view+inplace would override the custom backward associated with the custom Function, "
    "leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom "
    "Function.",
}
"""Why a view may not be changed, by its kind; the last part of torch's sentences."""
_PRUNED = 32
"""Views of one base up to which nobody looks for dead ones."""


class View:
    """What a view knows: its base, the op that cut it out, and the view that this op was applied to, if any.

    kind       why it may not be changed: made under ``no_grad`` or in ``inference`` mode, one of ``several`` results,
               or the output of a custom ``function``; empty for a view that may be changed
    inherited  whether that is so because of the view it was cut from
    leaf       whether it was itself told to require grad
    before     what stands for it in graphs that were made before it was first told so, and where no gradient reaches it
    changed    whether its memory was changed without being recorded
    aside      whether its history leads through another view than the ops say, until its base changes
    place      which output of which function it is, for messages; its name is empty where the parameters tell it
    """

    __slots__ = ("aside", "base", "before", "changed", "inherited", "kind", "leaf", "op", "params", "parent", "place")

    def __init__(self, base: Any, parent: View | None, op: Op, params: dict[str, Any]):
        self.base = base
        self.parent = parent
        self.op = op
        self.params = params
        self.kind: str = "" if parent is None else parent.kind
        self.inherited = bool(self.kind)
        self.leaf = False
        self.before: tuple[int, Any] | None = None
        self.changed = self.aside = False
        self.place = (0, "" if callable(op.node) else op.node or op.name.capitalize())

    def marked(self, kind: str, place: tuple[int, str] | None = None) -> None:
        """Say of what kind this view is itself."""
        self.kind, self.inherited = kind, False
        self.place = self.place if place is None else place

    def then(self, step: View) -> View:
        """What this view became when its memory was shown in another order: ``step``, of the kind that this one was."""
        for field in ("before", "inherited", "kind", "leaf", "place"):
            setattr(step, field, getattr(self, field))
        return step

    def refusal(self, how: str = "is being", recorded: bool = True, node: Any = None) -> str:
        """torch's sentence for a change of this view, which ``node`` made, or of its base (``how``)."""
        which = f"Output {self.place[0]} of {self._word(node).removesuffix('0').removesuffix('Backward')} is a view"
        if self.kind in ("no_grad", "inference"):
            start = f"{which} of a view which was created in" if self.inherited else "A view was created in"
            return f"{start} {'no_grad' if self.kind == 'no_grad' else 'inference'} mode and {how} {_WHY[self.kind]}"
        start = which if recorded else "A view was created in no_grad mode"
        return f"{start} and {how} modified inplace{'' if recorded else ' with grad mode enabled'}. {_WHY[self.kind]}"

    def _word(self, node: Any) -> str:
        """What torch calls the op that cut the view out: of an index it is the last step."""
        label = getattr(node.args, "label", None) if node.__class__ is Node and self.inherited else None
        if isinstance(label, str):
            return label
        if self.place[1] or not callable(self.op.node):
            return self.place[1]
        array = self.base._value
        for op, params in self.chain()[:-1]:
            array = op.kernel(array, **params)
        return str(self.op.node(array.shape, **self.params))

    def chain(self) -> list[tuple[Op, dict[str, Any]]]:
        """The ops that cut the view out of its base, first to last."""
        steps = []
        at: View | None = self
        while at is not None:
            steps.append((at.op, at.params))
            at = at.parent
        steps.reverse()
        return steps


def note_view(source: Any, made: Any, op: Op, params: dict[str, Any]) -> None:
    """Remember that ``made`` shares the memory of ``source``, from which ``op`` cut it."""
    parent = None if source._extra is None else source._extra.view
    root = source if parent is None else parent.base
    view = made.more().view = View(root, parent, op, params)
    if MODE.exceptional and not recording():
        view.marked("inference" if MODE.local.inference else "no_grad")
        made._requires_grad = root._requires_grad  # though no gradient can reach it: see `out_of_reach`
    more = root.more()
    if more.views is None:
        more.views = []
    pruned(more.views).append(weakref.ref(made))


def take_place(view: Any, made: Any, word: str) -> None:
    """Let ``made``, which has the record of a view, be among the views of its base: changes reach it from there.

    Messages call what it comes from by ``word``.
    """
    known = view_of(view)
    if known is not None:
        known.place = (0, word)
        pruned(known.base.more().views).append(weakref.ref(made))


def pruned(views: list[Any]) -> list[Any]:
    """The references to views, without those that are gone whenever there are twice as many as at the last look."""
    count = len(views)
    if count > _PRUNED and not count & (count - 1):
        views[:] = [ref for ref in views if ref() is not None]
    return views


def shown(extra: Any) -> bool:
    """Whether there are views of the tensor of a record; those that are gone are forgotten."""
    if extra.views:
        extra.views[:] = [ref for ref in extra.views if ref() is not None]
    return bool(extra.views)


def view_of(tensor: Any) -> View | None:
    """What a tensor knows of its base; None when it is no view."""
    return None if tensor._extra is None else tensor._extra.view


def out_of_reach(place: Any) -> bool:
    """Whether a tensor requires grad only as its base does: cut out unrecorded, it is neither a node nor a leaf.

    Graphs made before its base was changed hold it still, though it has no history to tell since.
    """
    if place.__class__ is Node or place._extra is None:
        return False
    view = place._extra.view
    return view is not None and place._node.__class__ is not Node and not view.leaf


def become_leaf(tensor: Any) -> None:
    """Note that a view that no gradient reached is told to require grad.

    Graphs hold the tensor itself, and those there are go on without gradient: from the creation number on that is
    noted here their nodes are told from later ones, and are given a stand-in by :func:`kept_out`.
    """
    view = tensor._extra.view
    if view.before is None and tensor._requires_grad and out_of_reach(tensor):
        other = blank(tensor)
        other._value, other._node, other._requires_grad = tensor._value, None, True
        other._extra = copy.copy(tensor._extra)
        other._extra.view, other._extra.tether, other._extra.accumulate = copy.copy(view), None, None
        other._extra.hooks, other._extra.post = {}, {}
        view.before = (next(sequence), other)


def kept_out(node: Node, place: Any) -> Any:
    """What stands at a place that ``node`` leads to: for a view that became a leaf after it, the stand-in."""
    extra = None if place is None or place.__class__ is Node else getattr(place, "_extra", None)
    if extra is None or extra.view is None or extra.view.before is None:
        return place
    began, other = extra.view.before
    return other if node.sequence_nr < began else place


TWINS: dict[int, list[weakref.ref[Any]]] = {}
"""By the identity of what counts their changes: tensors that were detached, and then told to require grad."""


def note_twin(tensor: Any, instead_of: Any = None) -> None:
    """Remember a detached tensor that became a leaf: its views are recorded, and others may change its memory.

    ``instead_of`` is a remembered one whose place it takes, where there is one; nothing is noted where it is not.
    """
    key = id(counter(tensor._array()))
    known = TWINS.get(key, [])
    place = next((k for k, ref in enumerate(known) if ref() is (tensor if instead_of is None else instead_of)), None)

    def forget(gone: weakref.ref[Any]) -> None:
        left = [ref for ref in TWINS.pop(key, ()) if ref is not gone]
        if left:
            TWINS[key] = left

    if instead_of is None and place is None:
        TWINS.setdefault(key, []).append(weakref.ref(tensor, forget))
    elif instead_of is not None and place is not None:
        known[place] = weakref.ref(tensor, forget)


def twins(tensor: Any) -> list[Any]:
    """The other leaves, once detached, that count the changes of a tensor's memory as theirs, and have views."""
    if not TWINS:
        return []
    owner = counter(tensor._array())
    alive = [ref() for ref in TWINS.get(id(owner), ())]
    return [t for t in alive if t is not None and t is not tensor and counter(t._array()) is owner and shown(t._extra)]


def inferred(tensor: Any) -> bool:
    """Whether a tensor was made in inference mode."""
    return getattr(tensor, "_extra", None) is not None and tensor._extra.inference


def by_the_mode(made: Any) -> Any:
    """A new tensor without history as what the mode makes of it: in inference mode an inference tensor."""
    if MODE.local.inference:
        made.more().inference = True
    return made


def turned(tensor: Any) -> tuple[bool, bool]:
    """Whether a view is the conjugate, or the negative, of the memory that it shows."""
    conjugate = negative = False
    view = view_of(tensor)
    for op, _ in () if view is None else view.chain():
        if op.name == "conj":
            conjugate = not conjugate
        elif op.name in ("real", "imag"):
            conjugate, negative = False, conjugate and op.name == "imag"
    return conjugate, negative


def conjugate_view(source: Any, made: Any) -> None:
    """Let ``made``, the conjugate of ``source``, be a view of it."""
    made._value = image_of(writable(source._array(), True))
    if inferred(source):
        made.more().inference = True
    else:
        note_view(source, made, lookup("conj"), {})


def show_memory(source: Any, made: Any, cut: Callable[[Any], Any], memory: Any) -> None:
    """Let ``made``, gathered from the entries of a tensor, be the view that ``cut`` finds in its base.

    Its history stays what it is, through that tensor, until the base changes.  Where the base has gaps itself, and no
    gradient passes, it only has the array ``memory``.
    """
    root, view = base_of(source), view_of(source)
    if storage(made._array()) is storage(source._array()):
        return
    within = view is not None and storage(root._array()) is storage(source._array())
    shown = cut(root) if within else made
    found = view_of(shown)
    if found is not None and view is not None:
        found.aside, found.place = True, (0, "AsStrided")
        found.kind, found.inherited = view.kind or found.kind, bool(view.kind) and recording()
        made._value, made.more().view = shown._array(), found
        made._requires_grad = made._requires_grad or shown._requires_grad
        root._extra.views.append(weakref.ref(made))
    elif not made._requires_grad:
        made._value = memory


def base_of(tensor: Any) -> Any:
    """The tensor whose memory a tensor shows: itself, or its base; a temporary one of torch's is made here."""
    view = view_of(tensor)
    root = tensor if view is None else view.base
    if not shows_temporary(root._node) or view_of(root) is not None:
        return root
    _uncover(root)
    return root._extra.view.base


def count_change(tensor: Any, noted: bool = False) -> None:
    """Note that a tensor changed in place (``noted``: of its memory it is): torch's views count with their base.

    So does memory that is another since ``.data`` was set: that of a view, and the one a tensor had before.
    """
    array = tensor._array()
    if not noted:
        note_change(array)
    if parted():
        counted = [memory(array)]
        for other in _family(tensor):
            if all(memory(other) is not owner for owner in counted):
                counted.append(memory(other))
                note_change(other)


def _family(tensor: Any) -> Iterator[Any]:
    """The arrays of a tensor's base and of all views of it, and those that these had before."""
    view = view_of(tensor)
    root = tensor if view is None else view.base
    for alive in (root, *(ref() for ref in (root._extra and root._extra.views) or ())):
        if alive is not None:
            yield alive._array()
            formers = () if alive._extra is None else alive._extra.former
            yield from (former for ref in formers if (former := ref()) is not None)


def shows_temporary(node: Any) -> bool:
    """Whether torch makes the result of a node as a view of a temporary tensor."""
    return node.__class__ is Node and temporary(node) is not None


def show_temporary(made: Any) -> None:
    """Let a result that was not recorded be a view of a temporary tensor, as torch makes it."""
    base = blank(made)
    base._value, base._node, base._requires_grad, base._extra = made._array()[...], None, False, None
    note_view(base, made, lookup("reshape"), {"shape": made._value.shape})


def _uncover(tensor: Any) -> None:
    """Make the tensor that ``tensor`` is a view of in torch, and let its views be views of that."""
    base, old = blank(tensor), tensor._node
    node, hidden, before = twin(old), temporary(old), old.args
    Labelled.on(node, within(old, str(hidden)), *((before.inputs, before.kept) if before.__class__ is Labelled else ()))
    base._value, base._node, base._requires_grad, base._extra = tensor._array()[...], node, tensor._requires_grad, None
    extra = tensor.more()
    whole = extra.view = View(base, None, lookup("reshape"), {"shape": tensor._value.shape})
    _rest_on(old, node, str(hidden))
    for ref in extra.views or ():
        alive = ref()
        if alive is None:
            continue
        view = alive._extra.view
        view.base = base
        while view.parent is not None:
            view = view.parent
        if view is not whole:
            view.parent = whole
    base.more().views = [weakref.ref(tensor), *(extra.views or ())]
    extra.views = None


def _rest_on(node: Node, base: Node, hidden: str) -> None:
    """Let a node be a view of what it was, as old as that: what was made of it before leads through the base, too."""
    name = str(getattr(node.args, "label", None) or "TransposeBackward0")
    text = "View(Permute(View(x)))" if hidden == "BmmBackward0" else ""
    node.op, node.params, node.args, node.mask = lookup("reshape"), {"shape": node.shape}, (base,), 1
    node.saved, node.rules = (None, None), None
    base.sequence_nr = node.sequence_nr - 0.5  # type: ignore[assignment]
    Labelled.on(node, Steps.of(name, text) if text else name)


def of_its_own(made: Any, order: Any = "C") -> Any:
    """The result of a function that torch lets copy, with memory of its own even where NumPy gave a view."""
    extra = made._extra
    if extra is not None and extra.view is not None:
        views = extra.view.base._extra.views
        del views[next(k for k in reversed(range(len(views))) if views[k]() is made)]
        made._value, extra.view = made._value.copy(order), None
        if made._node is None:
            made._requires_grad = False  # it was cut out unrecorded, and required grad as its base does
    elif extra is not None and extra.inference and not MODE.local.inference:
        made._value, extra.inference = made._value.copy(order), False
    return made


def one_of_several(parts: tuple[Any, ...], name: str) -> tuple[Any, ...]:
    """Mark views that one function returned together: torch refuses to change them."""
    for k, part in enumerate(parts):
        view = view_of(part)
        if view is not None and (not view.kind or view.inherited):
            view.marked("several", (k, name))
    return parts
