"""What custom functions hand out: inputs they changed, inputs as they are, views, and results of their own."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from symgrad.dtypes import is_floating
from symgrad.errors import AutogradError
from symgrad.tape.forward.bundle import Bundle
from symgrad.tape.graph import Node
from symgrad.tape.memory.inplace import become
from symgrad.tape.memory.views import view_of
from symgrad.tape.modes import is_grad_enabled, own_no_grad
from symgrad.tape.record import Recorded
from symgrad.tensor import Tensor

_STRAY = (
    "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated should be "
    "passed to ctx.mark_dirty()."
)


def check_kept(ctx: Any, inputs: Sequence[Any], returned: Any) -> None:
    """Raise torch's error where ``setup_context`` keeps an input that is an output as it is."""
    outputs = returned if isinstance(returned, tuple) else (returned,)
    same = {id(x) for x in inputs if isinstance(x, Recorded)} & set(map(id, outputs)) - set(map(id, ctx.dirty_tensors))
    if same and any(id(t) in same for t in (*ctx.to_save, *(ctx.saved_for_forward or ()))):
        raise AutogradError(
            "An input that has been returned as-is as output is being saved for backward. This is not supported if you "
            "override setup_context. You should return and save a view of the input instead, e.g. with x.view_as(x) or "
            "setup ctx inside the forward function itself."
        )


USED_LEAF = (
    "a leaf Variable that requires grad has been used in an in-place operation. Give the function a result of it, as "
    "x.clone() or x * 1, to change."
)


def check_dirty(dirty: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any], keep: bool) -> None:
    """Look at the tensors that ``mark_dirty`` was told of.

    Raises torch's errors for those that are not returned and, where a graph is kept, for views among several outputs;
    there it warns of others than inputs, and refuses them where they are views.
    """
    for t in dirty:
        if not any(t is out for out in outputs):
            raise AutogradError(
                "Some elements marked as dirty during the forward method were not returned as output. The inputs that "
                "are modified inplace must all be outputs of the Function."
            )
        if not keep:
            continue
        if not any(t is x for x in inputs):
            if view_of(t) is not None:
                raise AutogradError(_STRAY)
            warnings.warn(_STRAY, UserWarning, stacklevel=5)
        elif view_of(t) is not None and sum(isinstance(out, Recorded) for out in outputs) > 1:
            raise AutogradError(
                "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot "
                "return more than one Tensor. This is not supported by the current autograd engine. You should either "
                "make sure the input is not a view (using .clone() for example) or make your Function only return one "
                "Tensor (potentially splitting it into two Functions: one doing the inplace that returns a single "
                "Tensor and a second one that does the other operations)."
            )


def attached(out: Any, node: Node, inputs: Sequence[Any], dirty: set[int], fixed: bool) -> Any:
    """An output as a tensor of the graph: the same object, or a view of it where an input was handed back.

    An input that is handed back ``fixed``, that is without a derivative, is detached.
    """
    given, out = out, _own(out, inputs, dirty)
    if fixed and out is not given:
        return given.detach()
    if fixed or not is_floating(out.dtype):
        return out
    if id(out) in dirty:
        become(out, node)
        if node.mask:
            out.grad = None  # it was that of the values before the change
        return out
    if (view := view_of(out)) is not None:
        view.marked("function", (0, node.op.node))
    out._node, out._requires_grad = node, node.mask != 0
    return out


def unrecorded(returned: Any, inputs: Sequence[Any], dirty: set[int], name: str) -> Any:
    """What a function of which no graph is kept returns: inputs detached or as views, and views that say so."""
    outputs = returned if isinstance(returned, tuple) else (returned,)
    results = tuple(_apart(out, inputs, dirty) if isinstance(out, Recorded) else out for out in outputs)
    if is_grad_enabled():
        for k, out in enumerate(results):
            view = view_of(out) if isinstance(out, Recorded) and id(out) not in dirty else None
            if view is not None:
                view.marked("function" if len(results) == 1 else "several", (k, name))
    return results if isinstance(returned, tuple) else results[0]


def _apart(out: Any, inputs: Sequence[Any], dirty: set[int]) -> Any:
    """An output that is in no graph: an input that requires grad is detached, changed or not."""
    given = out._requires_grad and any(out is x for x in inputs)
    return out.detach() if given else _own(out, inputs, dirty)


def _own(out: Any, inputs: Sequence[Any], dirty: set[int]) -> Any:
    """An input that is handed back as it is, as a view of it; other outputs as they are."""
    if id(out) in dirty or not any(out is x for x in inputs):
        return out
    with own_no_grad():
        return out.view_as(out)


# ---------------------------------------------------------------------------------------------- in forward mode


def followed(ctx: Any, args: Sequence[Any], primals: Sequence[Any], tangents: Sequence[Any], tag: int) -> Callable:  # type: ignore[type-arg]
    """What looks at the tangent of each output that a ``jvp`` gave: ``(place, output, tangent) -> dual or None``.

    It is the dual that went in where the output is an input that was changed.  Raises torch's errors for tangents of
    outputs that have none, and for those that were not changed, or are no views, as their outputs were or are.
    """
    versions = [t._version if isinstance(t, Tensor) else None for t in tangents]

    def look(k: int, out: Any, tangent: Any) -> Any:
        if not isinstance(out, Recorded):
            return None
        if tangent is not None and not isinstance(tangent, (Tensor, Bundle)):
            raise AutogradError(f"expected Variable or None (got {type(tangent).__name__}) for grad output {k}.")
        if ctx.still[k]:
            if tangent is not None:
                raise AutogradError(
                    f"Function's jvp returned a gradient at position {k}, but the corresponding forward output is not "
                    "a differentiable Tensor. You should return None at that position instead."
                )
            return None
        changed = next((i for i, primal in enumerate(primals) if primal is out), None)
        if changed is not None:
            given = tangents[changed]
            if tangent is None or tangent is not given or tangent._version == versions[changed]:
                raise AutogradError(
                    "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is "
                    "modifying an input inplace, then the jvp function must modify the corresponding gradient inplace."
                )
            dual = args[changed]
            if getattr(dual, "tag", None) != tag:
                return None
            dual.primal = out
            dual.move(tangent)
            return dual
        if tangent is not None:
            _check_view(out, tangent, primals, tangents)
        return None

    return look


def _base(tensor: Any) -> Any:
    view = view_of(tensor)
    return tensor if view is None else view.base


def _check_view(out: Any, tangent: Any, primals: Sequence[Any], tangents: Sequence[Any]) -> None:
    """Raise torch's errors where an output is a view of an input and its tangent not one of that input's tangent."""
    if view_of(out) is None:
        return
    shown = next((i for i, p in enumerate(primals) if isinstance(p, Recorded) and _base(p) is _base(out)), None)
    if shown is None:
        return
    if view_of(tangent) is None:
        raise AutogradError(
            "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view."
        )
    if isinstance(tangents[shown], Recorded) and _base(tangent) is not _base(tangents[shown]):
        which = "the given grad input" if view_of(tangents[shown]) is None else "the same base as the given grad input"
        raise AutogradError(f"A custom Function is returning a view but the jvp is not returning a view of {which}.")
