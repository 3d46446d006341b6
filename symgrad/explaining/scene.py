"""What is said of a graph's places: the formula of an argument, torch's name of a node, the user's line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from symgrad.errors import SymgradError
from symgrad.explaining.replay import Pass
from symgrad.formula.term import SYMBOL, Term, postorder
from symgrad.notices import Line, line_text, users_line
from symgrad.tape.formulas.names import name_of, site_name
from symgrad.tape.formulas.reading import Reading
from symgrad.tape.graph import Node, Source
from symgrad.tape.naming import node_name
from symgrad.tape.observers import observing
from symgrad.tape.record import Recorded

_MOST_NODES = 2_000
"""Of larger programs no formulas are written."""
_LARGEST = 12
"""Operations of a formula in a sentence."""
_LONGEST = 48
"""Characters of it."""


@contextmanager
def lines_noted() -> Iterator[dict[Any, Line]]:
    """Inside, operations leave the user's line that they are called from, by node."""
    found: dict[Any, Line] = {}

    def see(node: Any) -> None:
        site = users_line()
        if site is not None:
            found[node] = (site[0].co_filename, site[1])

    with observing(see):
        yield found


def leaf_name(leaf: Any) -> str | None:
    """What a leaf or constant is called in the program."""
    if isinstance(leaf, Source):
        return site_name(leaf.name, leaf.site)
    return name_of(leaf) if isinstance(leaf, Recorded) else None


class Scene:
    """One pass, run again, and what its places are called."""

    def __init__(self, done: Pass, lines: dict[Any, Line], name: str):
        self.done = done
        self.replay = done.replay
        self.lines = lines
        self.name = name
        self.names = {id(done.target): name.removesuffix(".grad")}
        self._reading: Reading | None = None
        self._read = False

    def line(self, node: Node) -> str:
        """The user's line that made a node."""
        origin = self.replay.origin.get(node, node)
        known = self.lines.get(origin)
        trace = origin.extra.trace if origin.extra is not None else None
        if known is None and trace is not None and trace.frames:
            known = trace.frames[-1][:2]
        return line_text(known)

    def node_name(self, node: Node) -> str:
        """torch's name of a node."""
        return node_name(self.replay.origin.get(node, node))

    def reading(self) -> Reading | None:
        """The graph as formulas; None where it is large or has none."""
        if not self._read:
            self._read = True
            if len(self.replay.nodes) <= _MOST_NODES:
                try:
                    self._reading = Reading([root for root, _ in self.done.roots], self.names, letters={})
                except (SymgradError, ArithmeticError, ValueError, TypeError, KeyError):
                    self._reading = None
        return self._reading

    def text(self, edge: Any) -> str:
        """How the program spells an argument, where that is short; else what made it."""
        if not isinstance(edge, (Node, Recorded, Source)):
            return repr(edge)
        if edge is self.done.target and not isinstance(edge, Node):
            return self.name.removesuffix(".grad")
        if not isinstance(edge, Node) and (name := leaf_name(edge)):
            return name
        reading = self.reading()
        if reading is not None and id(edge) in reading.terms and _is_small(reading[edge]):
            from symgrad.formula.sympy.texts import text

            try:
                found = text(reading[edge], canonicalise=False)
                if len(found) <= _LONGEST:
                    return str(found)
            except (SymgradError, TypeError, ValueError, KeyError, AttributeError):
                pass
        return f"the result of {edge.op.name}()" if isinstance(edge, Node) else "a constant"

    def call(self, node: Node) -> str:
        """The operation with its arguments: ``exp(x)``, or ``exp()`` where these are long."""
        text = self.text(node)
        reading = self._reading
        if reading is not None and id(node) in reading.terms and _is_small(reading[node]):
            names = [str(t.name) for t in postorder([reading[node]]) if t.op is SYMBOL]
            folded = not any(name in text for name in names)  # x*0 is a constant by now
        else:
            folded = text.startswith("the result of ")
        return f"{node.op.name}()" if folded else text


def _is_small(term: Term) -> bool:
    count, stack = 0, [term]
    while stack and count <= _LARGEST:
        count += 1
        stack.extend(stack.pop().args)
    return count <= _LARGEST


# ---------------------------------------------------------------------------------------------- entries


def largest(array: Any) -> tuple[int, ...]:
    """The entry of the largest magnitude."""
    if not np.ndim(array):
        return ()
    return tuple(int(k) for k in np.unravel_index(int(np.argmax(np.abs(array))), np.shape(array)))


def scalar(value: Any) -> Any:
    """A number of Python."""
    found = np.asarray(value)[()]
    return found.item() if hasattr(found, "item") else found
