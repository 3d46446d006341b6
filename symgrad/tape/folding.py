"""Functions of several ops that stand on the tape as one node: only their arguments are kept for backward.

A composite such as ``layer_norm`` makes arrays on its way that its parts' rules would save, several times what it was
given.  Folded, it runs without a record; backward runs it once more, recorded, and pulls the cotangent back through
that (Griewank, "Achieving logarithmic growth of temporal and spatial complexity in reverse automatic differentiation",
1992).  It has no rule of its own.  Of small arrays the first run is recorded and kept for that: another one would take
longer than what its memory is worth.  Formulas, programs and forward mode never see a fold: for a formula the parts are
recorded once more, where the node stands, with placeholders for values.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from symgrad.dtype_objects import KINDS
from symgrad.dtypes import is_floating
from symgrad.op import Op
from symgrad.op.folds import ADDED, FOLDED, RECORDER, RESULTS
from symgrad.tape import containers, record
from symgrad.tape.formulas.sizes import last_asked
from symgrad.tape.forward.dual import TensorType
from symgrad.tape.forward.dualwrites import faced
from symgrad.tape.graph import Node
from symgrad.tape.memory.versions import apart, changed_since
from symgrad.tape.modes import MODE, enable_grad, without_grad
from symgrad.tape.numbering import looked
from symgrad.tape.observers import stepped_aside
from symgrad.tape.record import Recorded, plain
from symgrad.tape.watching.lookthrough import met_functions
from symgrad.tape.watching.watch import WATCH

PULL: list[Callable[..., Any]] = []
"""How a call is pulled back: ``(call, g, inputs, wanted, result) -> {position: gradient}``, where the last is the value
that it had, or None for the one that it has now; filled in from above."""


class FoldedOp(Op):
    """The op of a folded function's nodes; its rule is the backward pass of its parts."""

    __slots__ = ()

    def __init__(self, name: str):
        super().__init__(
            name, "folded", FOLDED[name], _pull_from if name in RESULTS else _pull, define_symbolic=_unfolded_term
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return (folded_op, (self.name,))


@functools.cache
def folded_op(name: str) -> FoldedOp:
    """The op of a folded function, by the function's name."""
    return FoldedOp(name)


class Call:
    """How a function was called: its arguments with tensors taken out, and the gradients of the pass under way.

    ``first``: its first run where that was recorded: leaves with the values that it was given, the result, and what the
    contents of the values were.
    """

    __slots__ = ("cls", "constants", "first", "inner", "leaves", "name", "pending", "structure", "wanted")

    def __init__(
        self,
        cls: type,
        name: str,
        leaves: Sequence[Any],
        structure: Any,
        wanted: Sequence[int],
        constants: dict[int, Any],
    ):
        self.cls = cls
        self.name = name
        self.leaves = tuple(leaves)
        self.structure = structure
        self.wanted = tuple(wanted)
        self.constants = constants
        self.pending: tuple[Any, dict[int, Any]] | None = None
        self.inner: Node | None = None
        self.first: tuple[list[Any], Any, int] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return (Call, (self.cls, self.name, self.leaves, self.structure, self.wanted, self.constants))

    def run(self, tensors: Sequence[Any]) -> Any:
        """The function on other tensors in the same places."""
        rest = iter(tensors)
        args, kwargs = containers.unflatten(
            self.structure, iter([next(rest) if leaf is _PLACE else leaf for leaf in self.leaves])
        )
        return FOLDED[self.name](*args, **kwargs)

    def own(self, values: Sequence[Any]) -> list[Any]:
        """Leaves of its own with these values."""
        leaves = [plain(self.cls, value) for value in values]
        for k in self.wanted:
            leaves[k]._requires_grad = True
        return leaves

    def again(self, values: Sequence[Any]) -> tuple[list[Any], Any]:
        """A recorded run for a pass that frees it: what was kept of the first one, if these are its values still."""
        first, self.first = self.first, None
        if first is not None and not stepped_aside():
            leaves, out, contents = first
            same = all(x._value is v for x, v in zip(leaves, values, strict=True)) and _contents(values) == contents
            if same and not changed_since(out._value, out._node.sequence_nr):
                return leaves, out
        leaves = self.own(values)
        with enable_grad():
            return leaves, self.run(leaves)


_PLACE: Any = Ellipsis
"""Stands where a tensor stood.  No folded function takes an Ellipsis."""


def _recorded(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a folded function gives, recorded as one node where it would be recorded at all."""
    function = FOLDED[name]
    leaves, structure = containers.flatten((args, kwargs))
    tensors: list[Recorded] = []
    places: list[Any] = []
    plain = True
    for leaf in map(faced, leaves):
        if isinstance(leaf, Recorded):
            tensors.append(leaf)
            leaf = _PLACE
        elif leaf.__class__ not in _PLAIN:
            plain = plain and isinstance(leaf, _COMMON)
        places.append(leaf)
    wanted = [k for k, t in enumerate(tensors) if t._requires_grad]
    open_to_view = WATCH.count or met_functions() is not None
    if not wanted or not MODE.local.enabled or open_to_view or not plain:
        return function(*args, **kwargs)
    position, word = ADDED.get(name, (len(args), ""))
    added = args[position] if position < len(args) else kwargs.get(word)
    # The pass has nothing to object to where the values change that it does not read.
    values = [apart(t._value) if t is added else t._value for t in tensors]
    # What is not differentiated may decide what the function does: it stays with the call.
    constants = {k: value for k, value in enumerate(values) if value.dtype.kind in "bui"}
    cls: Any = TensorType.tensor
    call = Call(cls, name, places, structure, wanted, constants)
    made = _kept(call, values, args, kwargs)
    if made is None:
        made = without_grad(function, args, kwargs)
        if not is_floating(made._value.dtype) or [t for t in tensors if t is made]:
            return function(*args, **kwargs)
    edges, mask = tuple([t.edge() for t in tensors]), sum([1 << k for k in wanted])
    return record.recorded(cls, folded_op(name), made._value, edges, values, {"call": call}, mask)


_FEW, _HELD = 1 << 12, 1 << 13
"""Bytes of arguments up to which the first run is recorded, and of what it may hold then to be kept."""


def _kept(call: Call, values: Sequence[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a first run that was recorded; None where it was not, or something is wrong with it."""
    if stepped_aside() or sum([value.nbytes for value in values]) > _FEW:
        return None
    leaves = call.own(values)
    rest, before = iter(leaves), _asked()
    try:
        given = [_leaf(rest, arg) if isinstance(arg, Recorded) else arg for arg in args]
        named = {key: _leaf(rest, arg) if isinstance(arg, Recorded) else arg for key, arg in kwargs.items()}
        made = FOLDED[call.name](*given, **named)
    except Exception:  # noqa: BLE001  (the run of the arguments themselves says what is wrong)
        return None
    nested = next(rest, None) is not None  # some of them are in containers
    if any(now is not then for now, then in zip(_asked(), before, strict=True)):  # a program has to know of whom
        return None
    if nested or made._node.__class__ is not Node or not made._requires_grad:
        return None
    if _held(made._node) <= _HELD:
        call.first = leaves, made, _contents(values)
    return made


def _contents(values: Sequence[Any]) -> int:
    """What tells whether arrays are what they were: NumPy may write to them, of which no version knows."""
    return hash(tuple([value.tobytes() for value in values]))


def _leaf(rest: Iterator[Any], given: Any) -> Any:
    """The next leaf where gradients flow to it; labels and masks are themselves, since a program knows them by that."""
    leaf = next(rest)
    return leaf if leaf._requires_grad else given


def _asked() -> tuple[Any, Any]:
    """What was asked of sizes last, and which values were looked at."""
    return last_asked(), looked[-1] if looked else None


def _held(node: Node) -> int:
    """Bytes of the arrays that a small graph saves."""
    stack, seen = [node], {id(node)}
    arrays: dict[int, int] = {}
    while stack:
        node = stack.pop()
        arrays.update((id(value), getattr(value, "nbytes", 0)) for value in node.saved)
        for arg in node.args:
            if arg.__class__ is Node and id(arg) not in seen:
                seen.add(id(arg))
                stack.append(arg)
    return sum(arrays.values())


RECORDER.append(_recorded)


_PLAIN: tuple[type, ...] = (bool, int, float, complex, str, type(None))
_COMMON = (*_PLAIN, *KINDS, type)
"""Arguments beside tensors that are plain data: no dual, no formula, no array."""


def _pull(i: int, g: Any, out: Any, *inputs: Any, call: Call) -> Any:  # noqa: ARG001  (the rule's signature)
    """The gradient for argument ``i``; the parts run once for all of them."""
    return _part(i, g, None, inputs, call)


def _pull_from(i: int, g: Any, out: Any, *inputs: Any, call: Call) -> Any:
    """The same, of the result as it was."""
    return _part(i, g, out, inputs, call)


def _part(i: int, g: Any, out: Any, inputs: tuple[Any, ...], call: Call) -> Any:
    pending = call.pending
    if pending is None or pending[0] is not g or i not in pending[1]:
        pending = (g, PULL[0](call, g, inputs, call.wanted, out))
        call.pending = pending
    found = pending[1].pop(i)
    if not pending[1]:
        call.pending = None
    return found


# ---------------------------------------------------------------------------------------------- for formulas


def unfolded(node: Node) -> Node:
    """The node at which the parts of a folded one end, recorded where it stands; values are placeholders."""
    call: Call = (node.params or {})["call"]
    if call.inner is None:
        tensors = [_placed(edge, k, call) for k, edge in enumerate(node.args)]
        with enable_grad(), np.errstate(all="ignore"):
            made = call.run(tensors)
        call.inner = made._node
        _renumber(call.inner, node)
    return call.inner


def _placed(edge: Any, k: int, call: Call) -> Any:
    """A tensor at an edge of the graph, also for constants, which no formula may take its values for."""
    if isinstance(edge, Recorded):
        return edge
    value = call.constants.get(k)
    made = plain(call.cls, np.ones(edge.raw_shape, edge.dtype)[()] if value is None else value)
    if isinstance(edge, Node):
        made._node, made._requires_grad = edge, edge.mask != 0
    elif value is None:
        made._node, made._requires_grad = edge, True
    else:
        extra = made.more()
        extra.source, extra.structure, extra.name, extra.site = edge, edge.structure, edge.name, edge.site
    return made


def _renumber(inner: Any, node: Node) -> None:
    """The parts are as old as the whole: after its arguments, before what uses it."""
    below, stack = {id(inner): inner}, [inner]
    stop = {id(edge) for edge in node.args}
    while stack:
        for arg in stack.pop().args:
            if isinstance(arg, Node) and id(arg) not in stop and id(arg) not in below:
                below[id(arg)] = arg
                stack.append(arg)
    parts = sorted(below.values(), key=lambda part: part.sequence_nr)
    for k, part in enumerate(parts):
        part.sequence_nr = node.sequence_nr - 1 + (k + 1) / (len(parts) + 1)


def _unfolded_term(reading: Any, node: Node, args: tuple[Any, ...]) -> Any:  # noqa: ARG001  (the hook's signature)
    return reading.terms[id(unfolded(node))]
