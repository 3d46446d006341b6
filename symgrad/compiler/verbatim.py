"""A tape read as it stands: every node is one term with its recorded shape, dtype, parameters and numbers.

``tape/formulas/reading.py`` makes formulas of a tape: it spells composites out, makes letters of sizes and exact
numbers of floats.  A program that must round as the eager call did can have none of this.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.errors import CompileError
from symgrad.formula.term import NUMBER, Term, make, symbol
from symgrad.tape.formulas.below import nodes_below
from symgrad.tape.graph import Node, Source
from symgrad.tape.operands import as_operand
from symgrad.tape.record import Recorded

KINDS = ("elementwise", "multilinear", "primitive")
"""The ops that are nothing but their kernel."""


class Verbatim:
    """The terms of all nodes below ``roots`` that were recorded after the node number ``start``.

    ``names`` gives the names of the arguments by identity; all other leaves are constants c1, c2 ….  ``raw`` are the
    terms of backward passes (``passes``: the numbers of their nodes), which run eagerly on arrays and not on tensors.

    Raises ``CompileError`` for nodes that are no op of the table, and for those that were there before.
    """

    def __init__(self, roots: Sequence[Any], names: dict[int, str], start: int, passes: Sequence[tuple[int, int]]):
        nodes, self.leaves = nodes_below(roots)
        self.letters: dict[int, str] = {}
        self.terms: dict[int, Term] = {}
        self.raw: set[Term] = set()
        recorded: set[Term] = set()
        taken = set(names.values())
        count = 0
        for leaf in self.leaves:
            alive = leaf if isinstance(leaf, Recorded) else leaf.ref()
            name = None if alive is None else names.get(id(alive))
            while name is None:
                count += 1
                name = f"c{count}" if f"c{count}" not in taken else None
            self.terms[id(leaf)] = symbol(name, tuple(leaf.raw_shape), leaf.dtype)
        for node in nodes:
            if node.sequence_nr <= start:
                raise CompileError("it uses a tensor that was computed from others before: its values are not known")
            if node.op.kind not in KINDS:
                raise CompileError(f"{node.op.name}() is no op of the table, so only running it gives its digits")
            args = tuple(self._of_number(node, a, k) for k, a in enumerate(node.args))
            term = self.terms[id(node)] = make(node.op, args, node.params or {}, tuple(node.shape), node.dtype)
            (self.raw if any(a < node.sequence_nr < b for a, b in passes) else recorded).add(term)
        if any(term.ndim > 1 or not term.dtype == np.float64 for term in self.raw & recorded):
            raise CompileError("a backward pass computes what the function does, which may lie in memory otherwise")

    def __getitem__(self, edge: Any) -> Term:
        return self.terms[id(edge)] if isinstance(edge, (Node, Recorded, Source)) else verbatim_number(edge)

    def _of_number(self, node: Node, arg: Any, place: int) -> Term:
        if isinstance(arg, (Node, Recorded, Source)):
            return self.terms[id(arg)]
        return verbatim_number(as_operand(node.op, arg, place))


def verbatim_number(value: Any) -> Term:
    """A number as it is: 2.0 is not 2, and NumPy's scalars keep their dtype."""
    if isinstance(value, np.generic):
        return make(NUMBER, (), {"value": value.item()}, (), value.dtype)
    if value.__class__ not in (bool, int, float, complex):
        raise CompileError(f"an operand is {type(value).__name__} {value!r:.40}, which is no number")
    return make(NUMBER, (), {"value": value}, (), None)
