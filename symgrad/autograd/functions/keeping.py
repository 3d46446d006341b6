"""What ``forward`` of a custom function computed and kept, where a recorded pass takes it up.

To derivatives it is a constant, as in torch: only arguments and results that are saved keep their place in the graph.
But it has other values where the arguments have, so that formulas and programs of the pass must say what it is: its
node leads to the arguments, and no gradient goes there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from symgrad.autograd.functions.inside import StandIns
from symgrad.autograd.functions.symbolic import Signature, kept_op, on_formulas
from symgrad.formula.term import Term, make, substitute
from symgrad.op import lookup
from symgrad.tape.formulas.formal import Formal
from symgrad.tape.graph import Node, new_node
from symgrad.tape.modes import is_grad_enabled
from symgrad.tape.record import Recorded, plain

Key = int | str
"""Which one it is: the number of a saved tensor, or the name of an attribute of the context."""


def standing(node: Node, key: Key, tensor: Any) -> Any:
    """A tensor that ``forward`` made and kept, with its place in the graph where the pass is recorded; others as is."""
    if not (isinstance(tensor, Recorded) and is_grad_enabled()):
        return tensor
    extra = tensor._extra
    if tensor._node is not None or tensor._requires_grad or (extra is not None and extra.name is not None):
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
def attributes_standing(ctx: Any, node: Node | None) -> Iterator[None]:
    """While ``backward`` runs: the tensors among the attributes of its context stand where they were computed."""
    known = vars(ctx)
    former = {name: t for name, t in known.items() if isinstance(t, Recorded)} if node is not None else {}
    put = {name: standing(node, name, t) for name, t in former.items()}  # type: ignore[arg-type]
    known.update(put)
    try:
        yield
    finally:
        known.update({name: t for name, t in former.items() if known.get(name) is put[name]})


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
    if isinstance(key, str):
        return vars(ctx).get(key)
    return ctx.to_save[key] if key < len(ctx.to_save) else None
