"""What a backward pass does when 0 · inf made a nan: it asks the formula, whose derivative may be finite.

Where a program has parts that :mod:`symgrad.formula.stable` can spell in another way (``log1p(exp(x))``, the square
root of a sum of squares), entries of a gradient that came out as nan or inf are computed once more from the leaves,
along that spelling; so are all where the result itself has left the range of numbers.  The check is one pass over each
finished gradient; nothing else is done where all is finite.
"""

from __future__ import annotations

import contextlib
import math
import weakref
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.errors import SymgradError
from symgrad.formula.accurate import accurate
from symgrad.formula.derive import Derivation, jacobian
from symgrad.formula.stable import CANDIDATES, respelled
from symgrad.formula.term import Term, evaluate, own_symbol, postorder, rebuilt
from symgrad.op import shape_of
from symgrad.ops.elementwise.select import isfinite, where
from symgrad.ops.rules.fitting import fit
from symgrad.ops.rules.kinks import keeps_nan
from symgrad.ops.shapes.sizes import size_value
from symgrad.tape.formulas.below import nodes_below
from symgrad.tape.formulas.reading import Reading
from symgrad.tape.formulas.sizes import Size
from symgrad.tape.graph import Node
from symgrad.tape.record import Recorded, root_of, value_of
from symgrad.tape.threads import during
from symgrad.tape.watching.watch import WATCH, watching
from symgrad.tensor.creation import eye, full

_MOST_NODES = 20_000
"""Larger graphs are left as they are: a nan is no reason to stand still for minutes."""

_MOST_TERMS = 2_000
"""In larger ones nothing is looked for that loses digits by itself."""

VARIABLES: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
"""Variables of transforms that are tied to a tensor, by the number of the node that ties them."""


class Later:
    """Whether recorded gradients that lost entries stayed as they are derived, for a program to spell them."""

    met = False


_LATER: ContextVar[Later | None] = ContextVar("spelled later", default=None)


@contextlib.contextmanager
def spelled_later(really: bool = True) -> Iterator[Later]:
    """Recorded gradients inside that are read as formulas stay as they are derived, ``really``.

    A program that keeps its digits spells the whole in another way, and better than it does derivatives of a spelling.
    """
    later = Later()
    with during(_LATER, later if really else None):
        yield later


def has_nan(value: Any) -> bool:
    """Whether an array or NumPy scalar holds a nan; quick where it does not."""
    return is_lost(value) and bool(np.isnan(value).any())


def is_lost(value: Any) -> bool:
    """Whether an array or NumPy scalar holds a nan or an infinity; quick where it does not."""
    if value.__class__ is not np.ndarray:
        return not (math.isfinite(value.real) and math.isfinite(value.imag))
    # The sum is no number if there is one among them: squares cannot cancel.
    if value.dtype.char != "e" and math.isfinite(np.vdot(value, value).real):
        return False
    return not np.isfinite(value).all()


class Rescue:
    """Second answers for the gradients of one backward pass from ``outputs`` with ``seeds`` by ``targets``."""

    __slots__ = ("_program", "beyond", "outputs", "seeds", "targets")

    def __init__(self, outputs: Sequence[Any], seeds: Sequence[Any], targets: Sequence[Any] = ()):
        self.outputs = outputs
        self.seeds = seeds
        self.targets = targets
        self.beyond = any(out._value.dtype.kind == "f" and is_lost(out._value) for out in outputs)
        self._program: _Program | bool | None = False  # not looked at yet

    def __call__(self, edge: Any, g: Any) -> Any:
        """``g``, the gradient that a pass found at ``edge``; finite where it is nan and another spelling is not."""
        recorded = isinstance(g, Recorded)
        value = g._value if recorded else g
        everywhere = recorded and _read_as_formula()
        if value.dtype.kind not in "fc" or keeps_nan("composed"):
            return g
        if not (everywhere or self.beyond or is_lost(value)):
            return g
        if self._program is False:
            self._program = _program(self.outputs, self.seeds, self.targets)
        if not isinstance(self._program, _Program):
            return g
        everywhere = everywhere and not self._program.chooses
        beyond = self.beyond and self._program.respells
        if not (everywhere or beyond or is_lost(value)):
            return g
        found = self._program.gradient(edge, recorded)
        if found is not None and not isinstance(found, Recorded):  # a plain number, where the formula is a constant
            found = np.broadcast_to(found, value.shape).astype(value.dtype)[()]
        elif found is not None:
            found = fit(found, value.shape, value.dtype)  # a formula may be all in the wider dtype of a part
        if everywhere:
            return g if found is None else found
        lost = np.ones_like(value, bool) if beyond else ~np.isfinite(value)
        plain = value_of(found)
        known = plain is not None and lost & np.isfinite(plain)
        if not np.any(known):  # entries outside of the domain stay nan beside others
            return g
        if recorded:
            return found if self._program.respells else where(known, found, g)
        return np.where(known, plain, value).astype(value.dtype)[()]


def read_blocks(out: Any, variables: Sequence[Any]) -> list[Any] | None:
    """The Jacobian of ``out`` by each of the variables, recorded along another spelling for somebody who reads it.

    None where nobody does, or where nothing is spelled in another way.
    """
    if keeps_nan("composed") or not _read_as_formula():
        return None
    program = _program([out], [None], variables)
    return None if program is None or program.chooses else [program.jacobian(v.edge()) for v in variables]


def _read_as_formula() -> bool:
    """Whether somebody reads the recorded pass as a formula, which is to hold where this one has no nan, too."""
    watch = watching() if WATCH.count else None
    return watch is not None and not watch.everything


def rescued_block(block: Any, out: Any, argument: Any) -> Any:
    """The Jacobian of ``out`` by ``argument``, no array of numbers, with finite entries where a spelling has them."""
    units = np.eye(out._value.size, dtype=out.dtype).reshape(-1, *out._value.shape)
    program = _program([out], [units[0]], [argument])
    edge = argument.edge()
    if program is None:
        return block
    rows = block.reshape(len(units), *argument._value.shape).copy()
    for k, (unit, value) in enumerate(zip(units, np.ravel(out._value), strict=True)):
        row = rows[k, ...]  # a part of them also where the argument is one number
        if is_lost(row) or is_lost(value):
            program.values["@seed0"] = unit[()]
            found = program.gradient(edge, False)
            if found is not None:
                lost = ~np.isfinite(row) | is_lost(value)
                found = np.broadcast_to(found, row.shape)
                row[lost] = np.where(np.isfinite(found), found, row)[lost]
    return rows.reshape(block.shape)


def carried(outputs: Sequence[Any], instead: dict[int, Any]) -> list[Any] | None:
    """The outputs once more in the other spelling, along what stands for each leaf by its id; None where none is.

    What flows in place of the leaves says what comes out: tangents, or coefficients of Taylor series.
    """
    program = None if keeps_nan("composed") else _program(outputs, [None] * len(outputs))
    if program is None:
        return None
    values = {name: instead.get(id(leaf), value_of(leaf)) for name, leaf in program.values.items() if leaf is not None}
    try:
        return [evaluate(_respelled(term), values, program._sizes()) for term in program.outputs]
    except SymgradError:
        return None


class _Program:
    """The outputs as terms, with the values of their symbols."""

    def __init__(self, reading: Reading, outputs: Sequence[Any], seeds: Sequence[Any], values: dict[str, Any]):
        self.reading = reading
        self.values = values
        self.outputs = [reading[root_of(t)] for t in outputs]
        # Zeros of branches that are not taken go with the steps that were written.
        self.chooses = any(t.op.structural is not None for t in postorder(self.outputs))
        # Without another spelling for derivatives, those that are numbers are right as they are.
        self.respells = any(map(respelled, postorder(self.outputs)))
        self.seeds = []
        for k, (out, seed) in enumerate(zip(self.outputs, seeds, strict=True)):
            self.seeds.append(own_symbol(f"seed{k}", out.shape, out.dtype))
            values[f"@seed{k}"] = seed

    def gradient(self, edge: Any, recorded: bool) -> Any:
        """The gradient at an edge: an array, or a tensor with history; None where the formula does not know it.

        It has the dtype of what is differentiated by: one that consists of numbers and masks alone has none of its own.
        """
        if id(edge) not in self.reading.terms:
            return None
        target = self.reading[edge]
        found = self._slope(target, recorded)
        if found is None or target.dtype is None:
            return found
        found = found if hasattr(found, "dtype") else np.asarray(found)
        return fit(found, shape_of(found), target.dtype)

    def _slope(self, target: Term, recorded: bool) -> Any:
        values = self.values if recorded else {k: value_of(v) for k, v in self.values.items()}
        try:
            found = Derivation(self.outputs, self.seeds, [target]).adjoints.get(target)
            if found is None:
                return None
            found = _respelled(found)
            if not recorded:
                return evaluate(accurate([found])[0], values, self._sizes())
            sizes = self._sizes()
            read = _read_as_formula()
            known = evaluate(found, values, sizes, _constants(found, sizes) if read else {})
            if not is_lost(value_of(known)):
                return known
            if read and (later := _LATER.get()) is not None:
                later.met = True
                return known
            # A formula is derived once more, where the seams of the other spelling may lie: x > 0, |x|.
            spelled = evaluate(accurate([found], lost=True)[0], values, sizes)
            return where(isfinite(known), known, spelled) if read else spelled
        except SymgradError:
            return None

    def jacobian(self, edge: Any) -> Any:
        """The Jacobian of the one output by what is at an edge, as a tensor with history; None where none arrives."""
        if id(edge) not in self.reading.terms:
            return None
        found, sizes = jacobian(self.outputs[0], self.reading[edge]), self._sizes()
        return evaluate(found, self.values, sizes, _constants(found, sizes))

    def _sizes(self) -> dict[str, int]:
        return {letter: Size(n) for n, letter in self.reading.letters.items()}


def _constants(root: Term, sizes: dict[str, int]) -> dict[Term, Any]:
    """The identities and the arrays of one number in a term, as tensors: arrays would be unknown to its formula."""
    found = {}
    for t in postorder([root]):
        if _is_identity(t):
            found[t] = eye(t.shape[0], dtype=t.dtype)
        elif t.op.name == "full" and t.shape:
            shape = tuple(size_value(s, sizes) for s in t.shape)
            value = t.params["value"]
            found[t] = full(shape, float(value) if isinstance(value, Fraction) else value, dtype=t.dtype)
    return found


def _is_identity(term: Term) -> bool:
    """Whether a term is the identity matrix of a size that is a number."""
    if not term.args or not isinstance(term.shape[0] if term.shape else None, int):
        return False
    return term.params.get("output") == (0, 0) and term.args[0].op.name == "full" and term.args[0].params["value"] == 1


def _respelled(root: Term) -> Term:
    """The same with values, too, in the spellings that do not overflow."""

    def change(term: Term, args: tuple[Any, ...]) -> Any:
        same = term.again(args)
        other = respelled(same)
        return same if other is None else other[0]

    return rebuilt([root], change)[0]  # type: ignore[no-any-return]


def _program(outputs: Sequence[Any], seeds: Sequence[Any], targets: Sequence[Any] = ()) -> _Program | None:
    """The program behind ``outputs`` where it can be run again and has something to spell in another way.

    It begins at what is differentiated by, and at the variables of transforms around: their gradients are other ones
    than those of the tensors behind them.
    """
    roots = [root_of(t) for t in outputs]
    nodes, _ = nodes_below(roots)
    ends = {id(node): v for node in nodes if (v := VARIABLES.get(node.sequence_nr)) is not None}
    ends.update({id(t._node): t for t in targets if t._node is not None})
    if len(nodes) > _MOST_NODES or not any(node.op.name in CANDIDATES for node in nodes) or _hooked(nodes):
        return None
    try:
        reading = Reading(roots, ends=ends)
        terms = [reading[root] for root in roots]
        values = {name: _known(leaf) for name, leaf in reading.sources.items()}
        if any(v is None for v in values.values()) or not _has_other_spelling(terms):
            return None
        if not _unchanged(terms, outputs, values, {letter: n for n, letter in reading.letters.items()}):
            return None
        return _Program(reading, outputs, seeds, values)
    except SymgradError:
        return None


def _has_other_spelling(terms: Sequence[Term]) -> bool:
    """Whether something is spelled in another way for its derivatives, or for its own digits."""
    order = postorder(terms)
    if any(map(respelled, order)):
        return True
    return len(order) <= _MOST_TERMS and accurate(terms, order=order, first=True) != list(terms)


def _hooked(nodes: Sequence[Node]) -> bool:
    """Whether somebody watches or changes gradients on the way: then theirs is the answer."""
    return any(n.extra is not None and (n.extra.hooks or n.extra.pre or n.extra.post) for n in nodes)


def _known(leaf: Any) -> Any:
    """A leaf itself, or a constant, whose name formulas keep; its array where it is gone, or None."""
    if isinstance(leaf, Recorded):
        return leaf
    alive = leaf.ref()
    return leaf.kept if alive is None else alive


def _unchanged(terms: Sequence[Term], outputs: Sequence[Any], values: dict[str, Any], sizes: dict[str, int]) -> bool:
    """Whether the leaves still give the outputs: somebody may have changed them since."""
    plain = {k: value_of(v) for k, v in values.items()}
    return all(
        np.allclose(evaluate(term, plain, sizes), out._value, rtol=1e-3, atol=0, equal_nan=True)
        for term, out in zip(terms, outputs, strict=True)
    )
