"""In-place operations and views: memory really changes, history is rebased, and every alias stays true.

A view remembers its base and the ops that cut it out.  An in-place operation computes its result out of place,
writes it into the base's memory, gives the base a node that puts the changed part back into the whole, and records
every living view anew; so ``y[0].mul_(2)``, ``y.T.add_(1)`` and ``y[1] = z`` are one mechanism.  Detached tensors and
arrays share the memory and see the change.  Putting back is written in the table's ops, so changed tensors have
formulas.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided

from symgrad.dtypes import is_floating, kind_order, torch_name
from symgrad.errors import AutogradError, DtypeError
from symgrad.op import Op, lookup
from symgrad.ops.indexing.places import INTO
from symgrad.tape.formulas.constants import note_sizes
from symgrad.tape.forward import dualwrites
from symgrad.tape.forward.dual import Dual
from symgrad.tape.forward.dualwrites import faced
from symgrad.tape.graph import Labelled, Node
from symgrad.tape.memory.aliases import cut, detached_from, follow, refresh, retake, spoil, stands_apart, twins_follow
from symgrad.tape.memory.alone import GUARDS, PLAIN, WATCHERS, alone, by_arrays, quiet_beside, settle_constants
from symgrad.tape.memory.mirrors import memory, mirrored, reflect
from symgrad.tape.memory.overlap import PARTIAL, Others, blank, meets, overlaps, reshaped, writable
from symgrad.tape.memory.putting import put_back
from symgrad.tape.memory.versions import Foreign, changes, counter, note_change, note_formed, note_history, storage
from symgrad.tape.memory.views import View, base_of, count_change, inferred, shows_temporary, view_of
from symgrad.tape.modes import MODE, inference_mode, recording
from symgrad.tape.numbering import sequence
from symgrad.tape.observers import NODES, OPERANDS, later, observed

LEAF = "a leaf Variable that requires grad is being used in an in-place operation."
LEAF_VIEW = "a view of a leaf Variable that requires grad is being used in an in-place operation."
INFERENCE = (
    "Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a normal "
    "tensor before doing inplace update."
)

# ------------------------------------------------------------------------------------------ the operation


def inplace(
    tensor: Any,
    op: Callable[..., Any],
    args: Any,
    kwargs: Any,
    even: bool = False,
    table: bool = False,
    put: Any = None,
) -> Any:
    """``op(tensor, …)`` with the result put into ``tensor``: its memory, its history and that of its aliases.

    ``even``: all entries of the result are equal, so that they may also share their memory.  ``table``: ``op`` is a
    function of the table, which takes arrays as it takes tensors.  ``put``: a value, if to put it into the tensor is
    all that ``op`` does.
    """
    others = (*args, *kwargs.values()) if kwargs else args
    target = quiet_beside(tensor, others)
    if target is None:
        refuse(tensor, others if put is None else (*others, put), op)
        target = alone(tensor, others)
    unrecorded = target is not None
    if target is None and _goes_on(tensor):
        target = alone(tensor, others, recorded=True)
    if target is None:
        if tensor._node is None:
            note_sizes(tensor, others)
        return _carefully(tensor, op, args, kwargs, even)
    value = by_arrays(tensor, op, args, kwargs, target) if table and unrecorded else None
    if value is None:
        began, before = next(sequence), tensor._value
        spot = put is not None and not unrecorded and _elsewhere(put, target)
        new = _on_the_spot(target, op, tensor) if spot else op(tensor, *args, **kwargs)
        if new.__class__ is Dual:
            return MOVED[0](tensor, new)
        value = _fitting(tensor, new)
        if new._requires_grad and recording():
            return _take(tensor, new, value, tensor, target, Change(began, before, Others(), []))
    if value is not target:
        target[...] = value
    note_change(target)
    note_sizes(tensor, others)
    return tensor


def _elsewhere(value: Any, array: Any) -> bool:
    """Whether a tensor that is put into an array has memory of its own."""
    own = getattr(value, "_value", None)
    if MODE.inferred and inferred(value):
        return False
    return value.__class__ in PLAIN and (not isinstance(own, np.ndarray) or storage(own) is not storage(array))


def _on_the_spot(array: Any, op: Callable[..., Any], *args: Any) -> Any:
    """``op(*args)``, which puts a part into an array: the array is changed at once, where others would be a copy."""
    INTO.array = array
    try:
        return op(*args)
    finally:
        INTO.array = None


def _goes_on(tensor: Any) -> bool:
    """Whether a change only adds to the history of a tensor, which torch does not make as a view of another."""
    node = tensor._node
    return node.__class__ is Node and tensor._requires_grad and recording() and not shows_temporary(node)


def overwrite(tensor: Any, value: Any, index: Any = ...) -> bool:
    """``tensor[index] = value`` of the same dtype, if nothing has to follow (:func:`alone`); whether it is done."""
    if value.__class__ in PLAIN or value.__class__ is tensor.__class__:
        others: tuple[Any, ...] = (value,)
        fits = value._value.dtype == tensor._value.dtype and not (value._requires_grad and recording())
    else:
        others, fits = (), tensor._value.dtype.kind == "f" and isinstance(value, (int, float, np.ndarray))
    if not fits:
        return False
    target = quiet_beside(tensor, others)
    if target is None:
        refuse(tensor, others, "copy")
        target = alone(tensor, others)
        if target is None:
            return False
    try:
        target[index] = value._value if others else value
    except (IndexError, TypeError, ValueError):
        return False  # nothing is written; the long way has the words for it
    note_change(target)
    if not others or value._extra is not None:
        note_sizes(tensor, (value,))
    return True


class Change(NamedTuple):
    """A change under way: its creation number, the value before it, what else lies in the memory, and new nodes."""

    began: int
    before: Any
    others: Others
    made: list[Any]


def _carefully(tensor: Any, op: Callable[..., Any], args: Any, kwargs: Any, even: bool) -> Any:
    """The same for a tensor that others know, or that is recorded."""
    if MODE.inferred and too_late(tensor):
        with inference_mode():
            inplace(tensor, op, args, kwargs, even)
        raise AutogradError(INFERENCE)
    known = getattr(view_of(tensor), "base", tensor)
    root, view = base_of(tensor), view_of(tensor)
    chain = [] if view is None else view.chain()
    source = tensor
    if view is not None and (root is not known or view.aside or _hooked(tensor._node, len(chain))):
        source = cut(root, chain)  # torch leaves the hooks of a view that is changed with what it was
        source._value = tensor._value  # which is not a part of the base's any more where ``.data`` was set
    if any(faced(a).__class__ is Dual and dualwrites.recorded(faced(a)) for a in args):
        source = tensor.clone()  # what is recorded about the change is the value before it
    called = getattr(op, "__name__", "")
    apart, even = called in _APART, even or _writes_in_turn(called, args, kwargs)
    for arg in () if called == "masked_fill" else (*args, *kwargs.values()):  # whose value is read at once
        if isinstance(getattr(arg, "_value", None), np.ndarray) and meets(arg, tensor, apart):
            raise AutogradError(PARTIAL)
    began, before = next(sequence), tensor._value
    owner, others = memory(tensor._array()), Others()
    args, kwargs = [others.apart(a, owner) for a in args], {k: others.apart(a, owner) for k, a in kwargs.items()}
    made: list[Any] = []
    if NODES:
        with later() as made:
            new = op(source, *args, **kwargs)
    else:
        new = op(source, *args, **kwargs)
    if new.__class__ is Dual:
        return MOVED[0](tensor, new)
    for see in WATCHERS:
        see(root, tensor, new, recording())
    value = _fitting(tensor, new)
    target = writable(tensor._array(), even)  # its own memory, even where the base has another since ``.data`` was set
    return _take(tensor, new, value, root, target, Change(began, before, others, made))


def _take(tensor: Any, new: Any, value: Any, root: Any, target: Any, change: Change) -> Any:
    """Let a tensor take a value, and the history of what was made of it; ``root`` is its base, or the tensor."""
    view = view_of(tensor)
    leaf = root._requires_grad and root._node is None
    followed = new._requires_grad or root._requires_grad or root._node is not None or bool(WATCHERS)
    if not (recording() or _traced(root)) or leaf or new._node is None or not followed:
        settle_constants(root)  # a program reads what was computed with it before from a constant of its own
        _write(target, value)
        count_change(tensor, noted=True)
        if root._node is not None and not root._requires_grad:
            root._node = None
        follow(root)
        for node in change.made:
            observed(node)
        return tensor
    fresh = _separate(new._node, change, value, target)
    whole = new
    if view is not None:
        spot = root._node.__class__ is Node and not (WATCHERS or NODES or mirrored())
        spot = spot and storage(root._array()) is storage(target)  # not where ``.data`` of one was set
        if spot and new.__class__ in PLAIN and _elsewhere(new, root._array()) and not overlaps(root._array()):
            whole = _on_the_spot(root._array(), put_back, root, new, view.chain())
        else:
            whole = put_back(root, new, view.chain())
        Labelled.cast(new._node, "overlap" if overlaps(target) else "change")
        new._node.rules = None  # so that the sweeps look at its role
    settle_constants(root)
    for node in change.made:
        for see in OPERANDS:
            see(node, target)
    _write(target, value)
    count_change(tensor, noted=True)
    for node in change.made:
        observed(node)
    _rebase(root, whole, new._requires_grad or root._requires_grad, fresh)
    refresh(root)
    twins_follow(root)
    follow(detached_from(root))
    if view is not None:
        root._node.args.label.part = new._node.args.now = weakref.ref(tensor._node)
    return tensor


def _traced(root: Any) -> bool:
    """Whether a tracer follows changes without grad, too: what has no gradient has the history of its values."""
    return bool(WATCHERS) and not root._requires_grad


def _writes_in_turn(called: str, args: Any, kwargs: Any) -> bool:
    """Whether torch writes entry after entry, the last of one place staying; ``index_put`` may also add them up."""
    if called == "index_put":
        return not kwargs.get("accumulate", len(args) > 2 and args[2])
    return called in ("masked_fill", "index_fill")


def _hooked(node: Any, length: int) -> bool:
    """Whether there are hooks on a view, or on one that it was cut from: ``length`` nodes in a row."""
    for _ in range(length):
        if node.__class__ is not Node:
            return False
        if node.extra is not None and node.extra.hooks:
            return True
        node = node.args[0]
    return False


_APART = ("put", "index_add", "index_copy", "index_reduce", "scatter", "scatter_add", "scatter_reduce")
"""In-place operations whose source may not even be the tensor itself."""


MOVED: list[Callable[[Any, Any], Any]] = []
"""How a tensor is changed by a value that moves along a tangent; filled in from above."""


CHANGES: list[Callable[[Any], None]] = []
"""What else is asked before a gradient is changed; filled in from above."""


def called(change: Any) -> str:
    """What an operation is called that a tensor is changed by: of its name, or of itself."""
    name = change if isinstance(change, str) else str(getattr(change, "name", None) or getattr(change, "__name__", ""))
    return name.removesuffix("_scaled") if name.isidentifier() else "copy"


def refuse(tensor: Any, others: tuple[Any, ...], change: Any) -> None:
    """Raise torch's errors for leaves and their views, for views of kinds that may not change, and captured tensors."""
    for guard in GUARDS:
        guard(tensor, change)
    if tensor._extra is not None and tensor._extra.origin:
        for ask in CHANGES:
            ask(tensor)
    if recording():
        view = view_of(tensor)
        if view is not None:
            if view.kind and (tensor._requires_grad or _would_record(tensor, others, change)):
                raise AutogradError(view.refusal(recorded=tensor._node is not None, node=tensor._node))
            if tensor._requires_grad and view.base.is_leaf:
                raise AutogradError(LEAF_VIEW + _named(view.base))
        if tensor._requires_grad and tensor._node is None:
            raise AutogradError(LEAF + _named(tensor))
        if MODE.inferred and tensor._extra is not None and tensor._extra.claims and not all(map(inferred, others)):
            raise AutogradError(LEAF + _named(tensor))


def _would_record(tensor: Any, others: tuple[Any, ...], change: Any) -> bool:
    """Whether torch asks for the history of a tensor without one: of integers that are copied into, it does not."""
    if not is_floating(tensor._value.dtype) and called(change) == "copy":
        return False
    return any(getattr(a, "_requires_grad", False) for a in others)


def too_late(tensor: Any) -> bool:
    """Whether a change is that of an inference tensor outside of inference mode: torch makes it, and then objects."""
    return inferred(tensor) and not tensor._extra.counts and not MODE.local.inference


def _named(tensor: Any) -> str:
    name = tensor.name
    leaf = f" (the leaf is {name})" if name else ""
    return f"{leaf} Change it under no_grad(), or compute a new tensor (x = x + 1)."


def misfit(old: tuple[int, ...], new: tuple[int, ...]) -> AutogradError:
    """torch's error for a result that has another shape than what it shall go into."""
    return AutogradError(f"output with shape {list(old)} doesn't match the broadcast shape {list(new)}")


def refuse_cast(found: Any, wanted: Any) -> None:
    """Raise torch's error where results of a dtype do not go into memory of another one."""
    if kind_order(found) > kind_order(wanted):
        names = [torch_name(d) for d in (found, wanted)]
        raise DtypeError(f"result type {names[0]} can't be cast to the desired output type {names[1]}")


def _fitting(tensor: Any, new: Any) -> Any:
    """The result in the shape and dtype of the tensor it goes into.  Raises torch's errors where it does not fit."""
    value, old = new._value, tensor._value
    if value.shape != old.shape:
        raise misfit(old.shape, value.shape)
    if value.dtype is old.dtype or value.dtype == old.dtype:
        return value
    refuse_cast(value.dtype, old.dtype)
    value = value.astype(old.dtype)
    if new._node is not None:  # the base of a view has the history of what is made of it
        new._node.dtype, new._node.rules, new._value = old.dtype, None, value
    return value


def _write(target: Any, value: Any) -> None:
    note_change(target)
    if overlaps(target):
        np.copyto(target, value, where=np.not_equal(target.copy(), value))  # what one entry gets the others show
    elif value is not target:
        target[...] = value
    reflect(target)


def _separate(made: Node, change: Change, value: Any, target: Any) -> int:
    """Let the nodes of this operation keep what they saved: old contents as a copy, the result in the memory itself.

    Returns the number after which nodes count as made after the change.  Nodes that saved other parts of the same
    memory do not: they are stale from now on, as in torch.
    """
    began, old, others, _ = change
    kept: Any = None
    stale, owner = False, storage(target)
    for node in _younger(made, began):
        row = []
        for saved in node.saved:
            if saved is None:
                pass
            elif saved in others:
                stale = True
            elif saved is old or (isinstance(saved, np.ndarray) and reshaped(saved, target)):
                kept = target.copy()[()] if kept is None else kept
                saved = kept if saved.shape == kept.shape else kept.reshape(saved.shape)
            elif saved is value and node is made:
                saved = target
            elif isinstance(saved, np.ndarray) and storage(saved) is owner:
                stale = True
            row.append(saved)
        node.saved = node.saved.__class__(row)
        if node.args.__class__ is Labelled and node.args.kept:
            elsewhere = tuple(ref for ref in node.args.kept if ref() is not owner and ref() is not old)
            stale = stale or bool(others.values and len(elsewhere) < len(node.args.kept))
            node.args.kept = node.args.kept if others.values else elsewhere
    return made.sequence_nr if stale else began


def _younger(root: Any, began: int) -> list[Node]:
    """The nodes below ``root`` that were made after ``began``, oldest first."""
    if root.__class__ is not Node or root.sequence_nr <= began:
        return []
    for arg in root.args:
        if arg.__class__ is Node and arg.sequence_nr > began:
            break
    else:
        return [root]
    seen: set[int] = set()
    found, stack = [], [root]
    while stack:
        node = stack.pop()
        if node.__class__ is Node and node.sequence_nr > began and id(node) not in seen:
            seen.add(id(node))
            found.append(node)
            stack.extend(node.args)
    found.sort(key=lambda node: node.sequence_nr)
    return found


def _rebase(root: Any, whole: Any, requires_grad: bool, fresh: int) -> None:
    """Give ``root`` the history of ``whole``; its nodes count as made after the change of the memory."""
    before, node = root._node, whole._node
    for made in _younger(node, fresh):
        made.sequence_nr = next(sequence)
    extra = root._extra
    if extra is not None:
        extra.origin = None
        if extra.retains and before is not None:
            before.more().retained = None
            node.more().retained = weakref.ref(root)
    root._node, root._requires_grad = node, requires_grad
    note_history(root._value, node)


def become(tensor: Any, node: Node) -> None:
    """Give a tensor whose memory somebody else changed the history ``node``; its base and other views follow."""
    root, view = base_of(tensor), view_of(tensor)
    new = blank(tensor)
    new._value, new._node, new._requires_grad, new._extra = tensor._array(), node, node.mask != 0, None
    whole = new if view is None else put_back(root, new, view.chain())
    settle_constants(root)
    _rebase(root, whole, new._requires_grad or root._requires_grad, next(sequence))
    refresh(root)


def reshape_inplace(tensor: Any, op: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """``t_``, ``squeeze_`` and their like: the tensor becomes a view of what it was; no memory changes."""
    refuse(tensor, (), op)
    if MODE.inferred and too_late(tensor):
        with inference_mode():
            reshape_inplace(tensor, op, args, kwargs)
        raise AutogradError(INFERENCE)
    root, view = base_of(tensor), view_of(tensor)
    old = tensor._array()
    made = op(tensor, *args, **kwargs)
    for see in WATCHERS:
        see(root, tensor, made, recording())
    count_change(tensor)
    reflect(old)
    if view is None and made is not tensor:
        _undo(tensor, made, old.shape)
    if not made._value.size:
        tensor.more().strides = made.stride()
    if not recording() and not _traced(root):
        tensor._value = made._value  # the history stays what it was
        if view is None:
            if tensor._node is None and tensor._requires_grad and old.shape != made._value.shape:
                note_formed(tensor, next(sequence), old)
            stands_apart(tensor)
            spoil(root)
            return tensor
        step = view_of(made)
        if step is not None and step is not view:  # but it is another part of its base
            tensor._extra.view = view.then(step)
        follow(root)
    elif made is not tensor:
        tensor._value, tensor._node, tensor._requires_grad = made._value, made._node, made._requires_grad
        if view is not None and made._extra is not None:
            tensor._extra.view = made._extra.view
        if tensor._requires_grad and tensor._extra is not None:
            _retake_others(root, (tensor, made))
    return tensor


def _retake_others(base: Any, known: tuple[Any, ...]) -> None:
    """After a change of shape in place: the views of the base but those ``known`` have nodes of their own time."""
    spoil(base)
    for ref in base._extra.views or ():
        alive = ref()
        if alive is not None and alive._node.__class__ is Node and not any(alive is t for t in known):
            retake(alive, base)


def _undo(base: Any, made: Any, shape: tuple[int, ...]) -> None:
    """Let the views of a base, which is about to look like ``made``, first give it its old shape again."""
    step = view_of(made)
    if step is None:
        return
    back: tuple[Op, dict[str, Any]] = (lookup("reshape"), {"shape": shape})
    if step.op.name == "permute":
        back = (step.op, {"dims": tuple(int(k) for k in np.argsort(step.params["dims"]))})
    first = View(base, None, *back)
    for ref in base._extra.views:
        top = view_of(ref()) if ref() is not None and ref() is not made else None
        while top is not None and top.parent is not None:
            top = top.parent
        if top is not None and top is not first:
            top.parent = first


def resize(tensor: Any, shape: tuple[int, ...]) -> Any:
    """``resize_``: another shape; nothing where it is the same."""
    if tensor._requires_grad:
        raise AutogradError("cannot resize variables that require grad")
    if shape == tensor._value.shape:
        return tensor
    if any(size < 0 for size in shape):
        raise AutogradError(f"resize_: sizes must not be negative, but got {list(shape)}")
    refuse(tensor, (), "resize")
    old = tensor._array()
    note_change(old)
    counted = changes(old)
    tensor._value = _laid_anew(old, shape)
    tensor.more().counted += counted - changes(tensor._value)
    if too_late(tensor):
        raise AutogradError(INFERENCE)
    return tensor


def _laid_anew(array: Any, shape: tuple[int, ...]) -> Any:
    """The entries of a shape that lie in memory from the first one of ``array`` on; zeros where the memory ends."""
    room, size, width = counter(array, Foreign), math.prod(shape), array.itemsize
    there = (byte_bounds(room)[1] - array.__array_interface__["data"][0]) // width if array.size else 0
    found = as_strided(array, (min(size, there),), (width,))
    if size > there:
        if isinstance(room.base, Foreign):
            raise AutogradError("Trying to resize storage that is not resizable: the memory belongs to an array")
        found = np.concatenate([found, np.zeros(size - there, array.dtype)])
    return found.reshape(shape)
