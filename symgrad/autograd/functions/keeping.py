"""What ``forward`` of a custom function computed and kept, where a recorded pass takes it up.

To derivatives it is a constant, as in torch: only arguments and results that are saved keep their place in the graph.
But it has other values where the arguments have, so that formulas and programs of the pass must say what it is: its
node leads to the arguments, and no gradient goes there.
"""

from __future__ import annotations

import contextlib
import operator
import weakref
from collections.abc import Iterator
from typing import Any

from symgrad.autograd.functions.inside import StandIns
from symgrad.autograd.functions.packing import DEEP
from symgrad.autograd.functions.symbolic import Signature, kept_op, on_formulas
from symgrad.formula.term import Term, make, substitute
from symgrad.op import lookup
from symgrad.tape.formulas.formal import Formal
from symgrad.tape.graph import Node, new_node
from symgrad.tape.memory.versions import changed_since
from symgrad.tape.modes import is_grad_enabled
from symgrad.tape.record import Recorded, plain

Key = int | tuple[Any, ...]
"""Which one it is: the number of a saved tensor, or an attribute of the context, and where it lies in containers."""

Left = dict[tuple[Any, ...], weakref.ref[Any]]
"""The tensors that ``forward`` left among the attributes of a context, by their places."""


def standing(node: Node, key: Key, tensor: Any) -> Any:
    """A tensor that ``forward`` made and kept, with its place in the graph where the pass is recorded; others as is."""
    if not (isinstance(tensor, Recorded) and is_grad_enabled()):
        return tensor
    extra = tensor._extra
    if tensor._node is not None or tensor._requires_grad or (extra is not None and extra.name is not None):
        return tensor
    if changed_since(tensor._value, node.sequence_nr):
        return tensor
    own = tensor.source()
    if any(arg is own for arg in node.args):
        return tensor
    params = {"signature": node.params["run"].signature, "key": key}  # type: ignore[index]
    args, value = (*node.args, own), tensor._value
    made = plain(type(tensor), value)
    op = kept_op(params["signature"].function)
    made._node = new_node(op, args, params, 0, value.shape, value.dtype, (None,) * (len(args) + 1))
    return made


@contextlib.contextmanager
def attributes_standing(ctx: Any, node: Node | None, left: Left) -> Iterator[None]:
    """While ``backward`` runs: the tensors among the attributes of its context stand where they were computed.

    These are the ones that ``forward`` had ``left``; another pass may have put others there.
    Lists and dicts stay the ones that they are, to which ``backward`` may add.
    """
    changed = []
    for holder, key, place in _slots(vars(ctx), ()) if node is not None and is_grad_enabled() else ():
        if place[0] in ctx._reserved:
            continue
        former = holder[key]
        put = _standing(node, place, former, left)
        if put is not former:
            holder[key] = put
            changed.append((holder, key, former, put))
    try:
        yield
    finally:
        for holder, key, former, put in changed:
            with contextlib.suppress(LookupError):  # what backward took out
                if holder[key] is put:
                    holder[key] = former


def _slots(holder: Any, place: tuple[Any, ...]) -> list[tuple[Any, Any, tuple[Any, ...]]]:
    """Where tensors, and tuples, lie in a container: what holds them, by which key, and the keys that lead there."""
    found = []
    for key, value in list(holder.items()) if isinstance(holder, dict) else enumerate(holder):
        if isinstance(value, (Recorded, tuple)) and not isinstance(holder, tuple):
            found.append((holder, key, (*place, key)))
        if isinstance(value, (list, dict, tuple)) and len(place) < DEEP:
            found += _slots(value, (*place, key))
    return found


def _standing(node: Any, place: tuple[Any, ...], value: Any, left: Left) -> Any:
    """A tensor in its place, or a tuple of such."""
    if not isinstance(value, tuple):
        return standing(node, place, value) if place in left and left[place]() is value else value
    row = [_standing(node, (*place, k), entry, left) for k, entry in enumerate(value)]
    if all(map(operator.is_, row, value)):
        return value
    return type(value)(*row) if hasattr(value, "_fields") else type(value)(row)


def left_by(ctx: Any) -> Left:
    """The tensors among the attributes of a context, also in containers, when ``forward`` is done."""
    names = vars(ctx).keys() - ctx._reserved
    return dict(_tensors({name: vars(ctx)[name] for name in names}, ())) if names else {}


def _tensors(value: Any, place: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], weakref.ref[Any]]]:
    if isinstance(value, Recorded):
        yield place, weakref.ref(value)
    elif isinstance(value, (list, dict, tuple)) and len(place) <= DEEP:
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _tensors(entry, (*place, key))


def symbolic(reading: Any, node: Node, args: tuple[Term, ...]) -> Term:
    """What ``forward`` computes there, run on formulas; the constant that it was where that needs values."""
    *given, own = args
    term = _term(node.params["signature"], tuple(given), node.params["key"])  # type: ignore[index]
    if term is None or term.shape != reading.shape(node.shape) or term.dtype != node.dtype:
        return own
    return make(lookup("unrecorded"), (term,), {}, term.shape, term.dtype)


def _term(signature: Signature, args: tuple[Term, ...], key: Key) -> Term | None:
    """The formula of what the context has by ``key``; None where none is found."""
    cached = ("kept", key, args)
    if cached not in signature.cache:
        inside = on_formulas(signature, args)
        found = _in(inside[0], key) if inside is not None else None
        if isinstance(found, Formal):
            signature.cache[cached] = found.term
        elif inside is not None:
            signature.cache[cached] = None
        else:
            signature.cache[cached] = _by_stand_ins(signature, args, key)
    return signature.cache[cached]  # type: ignore[no-any-return]


def _by_stand_ins(signature: Signature, args: tuple[Term, ...], key: Key) -> Term | None:
    with contextlib.suppress(Exception):  # anything a user's function may raise when it meets values that are none
        run = StandIns(signature, args)
        (term,) = run.kept(lambda ctx: _in(ctx, key))
        if term is not None:
            return substitute([term], dict(zip(run.symbols, args, strict=True)))[0]  # type: ignore[no-any-return]
    return None


def _in(ctx: Any, key: Key) -> Any:
    if isinstance(key, int):
        return ctx.to_save[key] if key < len(ctx.to_save) else None
    found = vars(ctx)
    for part in key:
        try:
            found = found[part]
        except (LookupError, TypeError):
            return None
    return found
