"""Names for the parts of a formula: numbered ones of a free letter, or those that a person chose.

``names="u"`` numbers the parts u1, u2, …; ``names=["r", "p"]`` calls the first ones so; ``names={"r": "A@x - b"}`` says
which part is called r.  No part is called, or printed, like a symbol or a size of the formula.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, FormulaError, SymgradError
from symgrad.formula.canonical.simplify import canonical
from symgrad.formula.printing.names import name_latex
from symgrad.formula.reading.people.text import read_function
from symgrad.formula.term import SIZE, SYMBOL, Term, count, postorder, substitute, symbol
from symgrad.op import lookup

LARGEST = 400
"""Nodes of a part up to which it is looked for."""

PREFIXES = ("t", "u", "v", "z", "w", "t_", "u_", "value_", "symgrad_t_")


class Names:
    """Names for parts, one after the other."""

    def __init__(self, given: Any, order: Sequence[Term], prefixes: Sequence[str] = PREFIXES):
        self.taken = taken(order)
        self.numbers = {n for text in self.taken for n in re.findall(r"\d+", text)}
        self.count = 0
        self.prefix = free_prefix(order, prefixes)
        self.listed: list[str] = []
        if isinstance(given, str):
            self.prefix = _plain(given)
        elif isinstance(given, Iterable) and not isinstance(given, Mapping):
            self.listed = [free(_plain(name), self.taken) for name in given]
            if len(set(map(name_latex, self.listed))) < len(self.listed):
                raise ArgumentError("names= has a name twice.")
            self.listed.reverse()
        elif given is not None and not isinstance(given, Mapping):
            raise ArgumentError(
                f"names= is a letter, a list of names or a dict such as {{'r': 'A@x - b'}}, not {type(given).__name__}."
            )

    def next(self) -> str:
        """The next name."""
        if self.listed:
            return self.listed.pop()
        self.count += 1
        while self._is_taken(f"{self.prefix}{self.count}"):
            self.count += 1
        return f"{self.prefix}{self.count}"

    def _is_taken(self, name: str) -> bool:
        digits = len(name) - len(name.rstrip("0123456789"))
        return name[-digits:] in self.numbers and name_latex(name) in self.taken

    def last(self) -> str:
        """The name of the result, which takes none of the chosen names."""
        self.listed = []
        return self.next()


def taken(order: Iterable[Term]) -> dict[str, str]:
    """The names of symbols and sizes by the text that they are printed as."""
    found = {str(t.params["name"]) for t in order if t.op is SYMBOL or t.op is SIZE}
    found |= {s for shape in {t.shape for t in order} for s in shape if isinstance(s, str)}
    return {name_latex(name): name for name in found}


def free(name: str, used: Mapping[str, str]) -> str:
    """The name, if nothing of the formula is printed like it."""
    other = used.get(name_latex(name))
    if other is not None:
        kind = f"{other} is a symbol or size of the formula"
        raise ArgumentError(f"names= calls a part {name!r}, and {kind}; choose another name.")
    return name


def _plain(name: Any) -> str:
    if not isinstance(name, str) or not name.isidentifier():
        raise ArgumentError(f"a name is a word such as 'r' or 'z_hat', not {name!r}.")
    return name


def free_prefix(order: Sequence[Term], prefixes: Sequence[str]) -> str:
    """A letter such that no symbol is that letter with a number, or with an index, as t_i is beside t_1."""
    used = {name.rstrip("0123456789").partition("_")[0] for name in taken(order).values()}
    return next(p for p in prefixes if p.rstrip("_") not in used)


# ---------------------------------------------------------------------------------------------- chosen parts


def named_parts(root: Term, given: Mapping[str, Any]) -> tuple[Term, list[tuple[Term, Term]]]:
    """A formula with some of its parts by their names, and the names (symbols) with what they stand for.

    A part is a text, which may use names before it, or a term.  Raises ``FormulaError`` for one that does not occur.
    """
    parts, full = _read_parts(given, postorder([root]))
    found = root
    for z in reversed(list(full)):
        found = _with_name(found, full[z], z)
    shown = canonical(found)
    for z in reversed(list(full)):
        shown = _with_name(shown, full[z], z)
    later = {t for _, term in parts for t in postorder([term])} | set(postorder([shown]))
    for z, term in parts:
        if z not in later:
            said = _said(given[str(z.name)], term)
            raise FormulaError(f"names= calls {said} {z.name}, and the formula has no such part.")
    return shown, [(z, canonical(term)) for z, term in parts]


def chosen_parts(given: Mapping[str, Any], order: Sequence[Term]) -> dict[Term, str]:
    """The names by the canonical forms of what they stand for."""
    _, full = _read_parts(given, order)
    return {canonical(whole): str(z.name) for z, whole in full.items()}


def _read_parts(given: Mapping[str, Any], order: Sequence[Term]) -> tuple[list[tuple[Term, Term]], dict[Term, Term]]:
    """Names (as symbols) with their parts as they were stated, and with those written out."""
    used = taken(order)
    table = {str(t.params["name"]): t for t in order if t.op is SYMBOL}
    parts: list[tuple[Term, Term]] = []
    full: dict[Term, Term] = {}
    for name, part in given.items():
        free(_plain(name), used)
        term = part if isinstance(part, Term) else _read(str(part), {**table, **{str(z.name): z for z, _ in parts}})
        z = symbol(name, term.shape, term.dtype or np.dtype(float))
        (whole,) = substitute([term], full)
        full[z] = whole
        parts.append((z, term))
        used[name_latex(name)] = name
    return parts, full


def _said(given: Any, term: Term) -> str:
    return repr(given) if isinstance(given, str) else f"a term of shape {term.shape}"


def _read(text: str, table: Mapping[str, Term]) -> Term:
    return read_function(text, dict(table))


def _with_name(root: Term, whole: Term, z: Term) -> Term:
    """The formula with a symbol for every part that is equal to another term, or to minus it."""
    goal, minus = canonical(whole), canonical(lookup("neg")(whole))
    inside = {t for t in postorder([whole]) if t.op is SYMBOL}
    images: dict[Term, Term] = {}
    for t in postorder([root]):
        if t.shape != whole.shape or not t.args or t in images or count(t) > LARGEST:
            continue
        if {s for s in postorder([t]) if s.op is SYMBOL} != inside:
            continue
        try:
            form = canonical(t)
        except (SymgradError, RecursionError):
            continue
        if form is goal or form is minus:
            images[t] = z if form is goal else lookup("neg")(z)
    return substitute([root], images)[0] if images else root
