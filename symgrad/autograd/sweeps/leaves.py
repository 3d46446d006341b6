"""What a backward pass does with the gradients of leaves: hooks, and adding them into ``.grad``."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.autograd.graphs.hooks import accumulated, call_tensor_hook, prepared, replaced
from symgrad.autograd.graphs.shown import refuse_nothing
from symgrad.autograd.sweeps.rescue import Rescue, is_lost
from symgrad.errors import AutogradError
from symgrad.op import lookup
from symgrad.ops.reductions.sums import cast
from symgrad.ops.rules.kinks import turned
from symgrad.tape.formulas.origin import OWN, Origin, attach, origin_of, settle
from symgrad.tape.graph import Labelled
from symgrad.tape.layout import like_the_leaf
from symgrad.tape.memory.versions import note_change
from symgrad.tape.record import Recorded, plain
from symgrad.tensor import Tensor

_PLAIN = (np.dtype(np.float64), np.dtype(np.float32))
_ADDING = threading.RLock()
"""Held while a gradient is added to a leaf, which graphs of several threads may share."""


def giving_to_leaves(origin: Origin, rescue: Rescue, allowed: Any, create_graph: bool) -> Callable[[Any, Any], Any]:
    """What ``backward`` does with the gradient of a leaf; of those not ``allowed`` the hooks alone run.

    Raises ``AutogradError`` for what is no leaf any more, unless it is ``allowed``: asked for by ``inputs=``.
    """

    def finish(leaf: Any, g: Any) -> Any:
        if allowed is None and not (create_graph or rescue.beyond) and _first(leaf, g, origin):
            return g
        if g is None:
            leaf_hooks(leaf, None, origin)
            if allowed is None or id(leaf) in allowed:
                prepared(leaf, None, Tensor, origin)
                accumulated(leaf, None, Tensor)
            return None
        g = leaf_hooks(leaf, turned(rescue(leaf, g)), origin)
        if allowed is None or id(leaf) in allowed:
            extra = leaf._extra
            if extra is not None and extra.post:
                g = prepared(leaf, g, Tensor, origin)
            if allowed is None and leaf._node is not None:
                _refuse_computed(leaf)
            accumulate(leaf, g, create_graph, origin)
        return g

    return finish


def _refuse_computed(leaf: Any) -> None:
    """Raise where a leaf was detached, and is the result of an operation since."""
    if leaf.requires_grad and not leaf.is_leaf:
        raise AutogradError(
            "leaf variable has been moved into the graph interior: it was detached and then changed in place by what "
            "requires grad, so that its .grad has no place. Change a clone() of it. "
            f"({leaf.name or 'unnamed'}, shape {tuple(leaf._value.shape)})"
        )


def leaf_hooks(leaf: Any, g: Any, origin: Origin) -> Any:
    """The gradient of a leaf in the dtype that was asked for, after the leaf's own hooks."""
    extra = leaf._extra
    if extra is not None:
        if extra.grad_dtype is not None and g is not None and g.dtype != (wanted := leaf._landing() or g.dtype):
            g = cast(g, wanted)
        hooks = list(extra.hooks.values())
        if hooks and isinstance(g, np.ndarray):
            g = g.copy()  # a hook may change its tensor in place, and others have the array, too
        for hook in hooks:
            before = g
            g, changed = call_tensor_hook(hook, before, Tensor, origin)
            if changed:
                replaced(origin, leaf, hook, before, g)
    return g


def accumulate(leaf: Any, g: Any, create_graph: bool, origin: Origin) -> None:
    """Add a gradient into ``.grad`` if one is required still, and run the hooks that follow that."""
    extra, taken = leaf.more(), None
    if leaf.requires_grad:
        with _ADDING:
            taken = _add_to_grad(leaf, extra, g, create_graph, origin)
    if extra.post:
        accumulated(leaf, g, Tensor, taken)


def _add_to_grad(leaf: Any, extra: Any, g: Any, create_graph: bool, origin: Origin) -> Any:
    """Add a gradient into ``.grad``, which it gives back if it is ``g`` itself from now on."""
    if create_graph:
        before, extra.grad = extra.grad, _copied(g, leaf) if extra.grad is None else extra.grad + g
        if before is not None and not extra.grad._requires_grad:  # then only its origin says what it is
            extra.grad.more().origin = [*before._extra.origin] if isinstance(origin_of(before), list) else OWN
            attach(extra.grad, origin, leaf)
    elif extra.grad is None:
        kept = id(g) in origin.taken
        if kept and isinstance(g, np.ndarray):
            g = g.copy()
        origin.taken.add(id(g))
        value = like_the_leaf(g, leaf._value)
        extra.grad = attach(plain(Tensor, value), origin, leaf)
        return None if kept or (value is not g and value.ndim) else extra.grad
    else:
        before = extra.grad
        refuse_nothing(before)
        _remember_birth(before)
        settle(before)
        value = before._value + g
        if isinstance(before._value, np.ndarray) and before._value.flags.writeable:
            before._value[...] = value
            note_change(before._value)
        else:
            before._value = value
            before.more().counted += 1
        attach(before, origin, leaf)
    return None


def _first(leaf: Any, g: Any, origin: Origin) -> bool:
    """Give a leaf that has no gradient, and no hooks, its first one; whether it is done.

    What follows from conventions, dtypes, layout, sharing and nan is left to :func:`accumulate` and who calls it.
    """
    if g.__class__ is not np.ndarray or g.dtype not in _PLAIN or g.base is not None or id(g) in origin.taken:
        return False
    extra = leaf.more()
    if extra.grad is not None or extra.hooks or extra.post or extra.grad_dtype is not None or extra.tether is not None:
        return False
    if leaf._node is not None or not leaf._requires_grad or extra.formed or not origin.known or is_lost(g):
        return False
    if not (leaf._value.flags.c_contiguous and g.flags.c_contiguous):
        return False
    origin.taken.add(id(g))
    with _ADDING:
        if extra.grad is not None:  # of another thread, since
            return False
        extra.grad = attach(plain(Tensor, g), origin, leaf)
    return True


def _remember_birth(gradient: Any) -> None:
    """Before the first pass is added: keep in mind which pass made a gradient, if one did, for its version number."""
    extra = gradient.more()
    if extra.came is None and not extra.given:
        made = extra.origin[0] if isinstance(extra.origin, list) and extra.origin else None
        if made is not None and made[0].pulled == "gradient":
            extra.came = made
        else:
            extra.given = True


def _copied(g: Any, leaf: Any) -> Any:
    """A recorded gradient for a leaf: it may be a view of others, or spread over fewer entries than it shows."""
    made = lookup("clone")(g if isinstance(g, Recorded) else plain(Tensor, g))  # zeros of no history
    made._value = like_the_leaf(made._value, leaf._value)
    made.more().counted = 1  # torch copies it into memory made for it
    if made._node is not None:
        Labelled.on(made._node, "CopyBackwards", (None, made._node.args[0]))
    return made
