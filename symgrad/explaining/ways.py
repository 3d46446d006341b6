"""The ways through a function: under which conditions each is taken, its formula, and all of them as one formula."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, FormulaError
from symgrad.explaining.steering import Wanted
from symgrad.formula.derive import gradient
from symgrad.formula.printing.formats import spelled
from symgrad.formula.printing.wherelist import canonical_or_raw
from symgrad.formula.term import Term, evaluate
from symgrad.op import lookup
from symgrad.tape.watching.conditions import Condition, Conditions, branch

Path = tuple[Wanted, ...]

_SHOWN = 6
"""Conditions of a way that its text shows, the last ones."""


@dataclass(frozen=True)
class Way:
    """One way: ``term`` is the formula of the result, ``path`` the conditions in the order in which they were met.

    ``example`` are arguments that take it; ``lines`` the user's lines of the conditions; ``error`` what was raised
    there, when the function gives nothing.
    """

    path: Path
    term: Term | None
    example: tuple[Any, ...]
    lines: tuple[str, ...]
    error: str = ""

    @property
    def conditions(self) -> Conditions:
        """The conditions, with texts, LaTeX and SymPy relations."""
        return Conditions(
            [branch(term, value, line) for (term, value), line in zip(self.path, self.lines, strict=True)]
        )

    @property
    def expr(self) -> Any:
        """The formula as a SymPy expression; None where the function raises."""
        from symgrad.formula.sympy.expressions import to_sympy

        return None if self.term is None else to_sympy(canonical_or_raw(self.term))

    def latex(self) -> str:
        """The formula in LaTeX."""
        from symgrad.formula.printing.latex import latex

        return r"\text{undefined}" if self.term is None else latex(canonical_or_raw(self.term))

    def __str__(self) -> str:
        rows = list(zip(self.path, self.lines, strict=True))
        shown = [branch(term, value, line).unicode() for (term, value), line in rows[-_SHOWN:]]
        when = " and ".join([f"({len(rows) - _SHOWN} more)"] * (len(rows) > _SHOWN) + shown)
        value = f"raises {self.error}" if self.term is None else spelled(self.latex(), "unicode")
        return f"{value}  if {when}" if when else value


class Ways(Sequence[Way]):
    """All ways that were found through a function; what :func:`symgrad.explore` gives.

    ``complete``    whether every side of every condition that was met has been reached, or was proved impossible
    ``impossible``  conditions that no real numbers fulfil together, each with the last one that was turned over; proved
                    for exact values, by intervals and sums of inequalities
    ``unreached``   conditions for which no inputs were found, and no proof that there are none
    ``notes``       what the search cannot see, such as numbers taken out with ``item()``
    ``runs``        how often the function was run

    ``latex()``, ``expr`` and ``term`` are one formula of all cases; called with arguments it gives the value.
    """

    def __init__(
        self,
        ways: Sequence[Way],
        symbols: Sequence[Term],
        letters: Mapping[str, int],
        unreached: Sequence[Condition] = (),
        notes: Sequence[str] = (),
        complete: bool = True,
        runs: int = 0,
        impossible: Sequence[Conditions] = (),
    ):
        self._ways = tuple(ways)
        self._symbols = tuple(symbols)
        self._letters = dict(letters)
        self.unreached = tuple(unreached)
        self.notes = tuple(notes)
        self.complete = complete
        self.runs = runs
        self.impossible = tuple(impossible)

    def __getitem__(self, k: Any) -> Any:
        return self._ways[k]

    def __len__(self) -> int:
        return len(self._ways)

    def __iter__(self) -> Iterator[Way]:
        return iter(self._ways)

    @property
    def term(self) -> Term:
        """One formula of all ways that give something.

        Raises ``FormulaError`` where there is none, or results have several shapes.
        """
        return merged([way for way in self if way.term is not None])

    @property
    def expr(self) -> Any:
        """All cases as a SymPy expression: a ``Piecewise`` where these are scalars."""
        from symgrad.formula.sympy.expressions import to_sympy

        return to_sympy(canonical_or_raw(self.term))

    def latex(self) -> str:
        """All cases in LaTeX."""
        from symgrad.formula.printing.latex import latex

        return latex(canonical_or_raw(self.term))

    def gradient(self, wrt: str) -> Ways:
        """The same ways with the gradients by an argument.  Raises ``ArgumentError`` for names that are none of them.

        >>> import symgrad as sg
        >>> def f(x):
        ...     return x**2 if x > 0 else -x
        >>> print(sg.explore(f, 1.0).gradient("x"))
        2 x  if x > 0
        −1  if x ≤ 0
        """
        target = next((s for s in self._symbols if s.name == wrt), None)
        if target is None:
            names = ", ".join(str(s.name) for s in self._symbols)
            raise ArgumentError(f"gradient({wrt!r}): the arguments are {names}.")
        ways = [way if way.term is None else replace(way, term=gradient(way.term, [target])[0]) for way in self]
        known = (self.unreached, self.notes, self.complete, self.runs, self.impossible)
        return Ways(ways, self._symbols, self._letters, *known)

    def __call__(self, *args: Any) -> Any:
        """The value for arguments of the same shapes, from the formula of all cases."""
        if len(args) != len(self._symbols):
            names = ", ".join(str(s.name) for s in self._symbols)
            raise ArgumentError(f"{len(args)} arguments for {names}.")
        values = {
            str(s.name): np.asarray(getattr(a, "_value", a), s.dtype)[()]
            for s, a in zip(self._symbols, args, strict=True)
        }
        with np.errstate(all="ignore"):
            return evaluate(self.term, values, self._letters)

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON knows it."""
        return {
            "complete": self.complete,
            "runs": self.runs,
            "ways": [
                {
                    "formula": None if way.term is None else way.latex(),
                    "when": [condition.latex() for condition in way.conditions],
                    "example": [np.asarray(a).tolist() for a in way.example],
                    "error": way.error,
                }
                for way in self
            ],
            "impossible": [[condition.latex() for condition in row] for row in self.impossible],
            "unreached": [condition.latex() for condition in self.unreached],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        rows = [str(way) for way in self]
        rows += [f"impossible: {' and '.join(c.unicode() for c in row)}  ({row[-1].where})" for row in self.impossible]
        rows += [f"not reached: {condition.unicode()}  ({condition.where})" for condition in self.unreached]
        return "\n".join([*rows, *self.notes])

    def __repr__(self) -> str:
        return str(self)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def _repr_html_(self) -> str | None:
        if any(way.term is not None for way in self) and len({w.term.shape for w in self if w.term is not None}) == 1:
            return None  # notebooks then show the LaTeX
        return "<ul>" + "".join(f"<li>{html.escape(row)}</li>" for row in str(self).splitlines()) + "</ul>"


def merged(ways: Sequence[Way]) -> Term:
    """One formula: where the first condition that two ways differ in holds, that of the one, else that of the other.

    Ways that share a beginning lie next to each other when they are folded from the longest on; no recursion.
    """
    if not ways:
        raise FormulaError("no way through the function gives a formula")
    shapes = {way.term.shape for way in ways if way.term is not None}
    if len(shapes) > 1:
        shown = " and ".join(str(list(shape)) for shape in sorted(shapes, key=str))
        raise FormulaError(f"the ways through the function give results of shapes {shown}: they are no one formula")
    parts: dict[Path, Term] = {way.path: way.term for way in ways if way.term is not None}
    while len(parts) > 1 or () not in parts:
        longest = max(parts, key=len)
        before, (condition, value) = longest[:-1], longest[-1]
        here = parts.pop(longest)
        other = parts.pop((*before, (condition, not value)), None)
        if other is None or other is here:
            parts[before] = here
        else:
            yes, no = (here, other) if value else (other, here)
            parts[before] = lookup("where")(_flat(condition), yes, no)
    return parts[()]


def _flat(condition: Term) -> Term:
    """A condition without axes, as a truth value."""
    if condition.dtype is None or condition.dtype.kind != "b":
        condition = lookup("ne")(condition, 0)
    return lookup("reshape")(condition, shape=()) if condition.shape else condition
