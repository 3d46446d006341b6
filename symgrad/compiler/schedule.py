"""Scheduling: terms become a straight-line program with few names.

A term used once is written into its user, to a bounded depth, so that small programs read like hand-written ones (and
NumPy reuses the temporaries of one expression).  The others get a name; a name is taken again as soon as its value is
not needed any more, which frees the array it held.  Sums of parts in zeros are made in place (:mod:`.placed`).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Container, Sequence
from typing import Any

from symgrad.compiler.placed import Sums, place, sums_in_place, zeros
from symgrad.formula.term import NUMBER, SIZE, SYMBOL, Term
from symgrad.ops.linalg.sharing import Whole, parts_of

DEPTH = 5
"""How deep single-use terms are written into one another."""
WEIGHT = 9
"""How many calls one statement may hold."""


class Call:
    """An op applied to operands: texts of variables and numbers, or other calls.

    ``whole``: what is called is this decomposition, which the op gives a part of, and all of its parts are the value.
    """

    __slots__ = ("args", "term", "whole")

    def __init__(self, term: Term, args: tuple[Any, ...], whole: Whole | None = None):
        self.term = term
        self.args = args
        self.whole = whole


class Program:
    """Statements ``(target, sign, operand)`` in order, the sign ``=``, ``+=`` or ``-=``, and what the results are."""

    __slots__ = ("letters", "results", "statements")

    def __init__(self, statements: list[tuple[str, str, Any]], results: list[Any], letters: list[str]):
        self.statements = statements
        self.results = results
        self.letters = letters


def schedule(
    outputs: Sequence[Term],
    order: Sequence[Term],
    names: dict[Term, str],
    literal: Callable[[Term], str],
    plain: Callable[[Term, int], bool],
    taken: set[str],
    in_place: bool = True,
    together: bool = True,
) -> Program:
    """The program of ``outputs``, whose terms are in ``order``, arguments first.

    ``names`` gives the variables of symbols, ``literal`` the text of numbers and sizes, ``plain(term, i)`` whether
    argument ``i`` may be a call (it stands once in the op's text), ``taken`` the names that are not free.
    ``in_place``: sums may be made in the array of an operand.  ``together``: parts of one decomposition are the targets
    of one statement.
    """
    uses, readers = _uses(order, outputs)
    wholes = _wholes(order) if together else {}
    sums = sums_in_place(order, uses) if in_place else Sums({}, set(), set())
    inlined = _inlined(order, uses, readers, plain, sums, wholes)
    operand: dict[Term, Any] = {}
    statements: list[tuple[str, str, Any]] = []
    last = _last_uses(order, outputs, inlined)
    pool = _Names(taken)
    for term in order:
        if term.op is SYMBOL:
            operand[term] = names[term]
        elif term.op is NUMBER or term.op is SIZE:
            operand[term] = literal(term)
        elif term in inlined:
            operand[term] = Call(term, tuple([operand[a] for a in term.args]))
        elif term in wholes:
            if term not in operand:
                whole, parts = wholes[term]
                operand.update({part: pool.take() for part in parts if part is not None})
                targets = ", ".join("_" if part is None else operand[part] for part in parts)
                statements.append((targets, "=", Call(term, tuple([operand[a] for a in term.args]), whole)))
            pool.release(*[operand[dead] for dead in last.get(term, ())])
        elif term in sums.bases:
            base = sums.bases[term]
            operand[term] = operand[base]
            other = term.args[1] if base is term.args[0] else term.args[0]
            statements.append(_added(term, operand[base], other, operand[other], other in sums.parts))
            pool.release(*(operand[dead] for dead in last.get(term, ()) if dead is not base))
        elif term in sums.starts:
            operand[term] = pool.take()  # before others are released: the zeros are there before the part is computed
            statements.append((operand[term], "=", Call(zeros(term), ())))
            statements.append((f"{operand[term]}[{place(term)}]", "=", operand[term.args[0]]))
            pool.release(*(operand[dead] for dead in last.get(term, ())))
        else:
            call = Call(term, tuple([operand[a] for a in term.args]))
            if term in last:
                pool.release(*[operand[dead] for dead in last[term]])
            operand[term] = name = pool.take()
            statements.append((name, "=", call))
    letters = [t.params["name"] for t in order if t.op is SIZE]
    return Program(statements, [operand[t] for t in outputs], letters)


def _added(term: Term, name: str, other: Term, operand: Any, part: bool) -> tuple[str, str, Any]:
    """The statement that adds an operand of a sum to the array of the other, or takes it off."""
    minus = term.op.name == "sub"
    if part:
        name = f"{name}[{place(other)}]"
        operand = operand.args[0]
    if isinstance(operand, Call) and operand.term.op.name == "neg":
        minus, operand = not minus, operand.args[0]
    return name, "-=" if minus else "+=", operand


def _wholes(order: Sequence[Term]) -> dict[Term, tuple[Whole, list[Term | None]]]:
    """Terms that are parts of one decomposition, with all of its parts in order: None for those that nobody reads."""
    found: dict[Any, dict[int, Term]] = {}
    for term in order:
        for whole, k in parts_of(term.op.kernel):
            found.setdefault((whole, term.args, tuple(whole.along(term.params).items())), {})[k] = term
    rows: dict[Term, tuple[Whole, list[Term | None]]] = {}
    for (whole, *_), parts in found.items():
        if len(parts) > 1 and rows.keys().isdisjoint(parts.values()):
            rows.update(dict.fromkeys(parts.values(), (whole, [parts.get(k) for k in range(whole.parts)])))
    return rows


def _uses(order: Sequence[Term], outputs: Sequence[Term]) -> tuple[dict[Term, int], dict[Term, tuple[Term, int]]]:
    uses: dict[Term, int] = {}
    readers: dict[Term, tuple[Term, int]] = {}
    for term in order:
        for i, arg in enumerate(term.args):
            if arg in uses:  # who reads it is asked only where there is one
                uses[arg] += 1
            else:
                uses[arg] = 1
                readers[arg] = (term, i)
    for term in outputs:
        uses[term] = uses.get(term, 0) + 1
    return uses, readers


def is_view(term: Term) -> bool:
    """Transposes of variables cost nothing and are written where they are used."""
    return term.op.name == "permute" and term.args[0].op is SYMBOL


def _inlined(
    order: Sequence[Term],
    uses: dict[Term, int],
    readers: dict[Term, tuple[Term, int]],
    plain: Callable[[Term, int], bool],
    sums: Sums,
    wholes: Container[Term],
) -> set[Term]:
    found: set[Term] = set()
    depth: dict[Term, int] = {}
    weight: dict[Term, int] = {}
    named = {*sums.bases, *sums.bases.values()}
    for term in order:
        args = term.args
        if (not args and term.op.kind == "leaf") or term in wholes:
            continue
        deep, heavy = 1, 1
        for a in args:
            if a in found:
                deep = max(deep, depth[a] + 1)
                heavy += weight[a]
        if is_view(term):
            heavy = 0
        elif term not in sums.parts:
            if uses[term] != 1 or deep >= DEPTH or heavy >= WEIGHT or term in named:
                continue
            reader = readers.get(term)
            if reader is not None and not plain(*reader):
                continue
        found.add(term)
        depth[term], weight[term] = deep, heavy
    return _limited(order, found, sums.parts)


def _limited(order: Sequence[Term], found: set[Term], parts: set[Term]) -> set[Term]:
    """Take back what would make one statement too long: the heaviest operands get names of their own."""
    size: dict[Term, int] = {}
    for term in order:
        total = 1
        for a in term.args:
            if a in found:
                total += size[a]
        if total > WEIGHT:
            inside = dict.fromkeys([a for a in term.args if a in found])
            for a in sorted(inside, key=lambda t: -size[t]):
                if total <= WEIGHT or is_view(a):
                    break
                if a not in parts:
                    found.discard(a)
                    total -= size[a]
        if term in found:
            size[term] = 0 if is_view(term) else total
    return found


def _last_uses(order: Sequence[Term], outputs: Sequence[Term], inlined: set[Term]) -> dict[Term, list[Term]]:
    """For every statement, the named terms that are read there for the last time; results are read at the end."""
    end = len(order)
    place: dict[Term, int] = dict.fromkeys(outputs, end)
    for k in range(end - 1, -1, -1):
        term = order[k]
        if term not in inlined:
            place[term] = k
        for arg in term.args:
            if arg in inlined:
                place[arg] = max(place.get(arg, -1), place[term])
    last: dict[Term, int] = dict.fromkeys(outputs, end)
    for term in order:
        at = place[term]
        for arg in term.args:
            if arg not in inlined and last.get(arg, -1) < at and arg.op.kind != "leaf":
                last[arg] = at
    dying: dict[Term, list[Term]] = {}
    for term in order:
        at = last.get(term, end)
        if at < end and term not in inlined:
            dying.setdefault(order[at], []).append(term)
    return dying


class _Names:
    """Names t1, t2 …: the lowest free one is taken."""

    def __init__(self, taken: set[str]):
        self.taken = taken
        self.free: list[int] = []
        self.count = 0

    def take(self) -> str:
        if self.free:
            return f"t{heapq.heappop(self.free)}"
        self.count += 1
        while f"t{self.count}" in self.taken:
            self.count += 1
        return f"t{self.count}"

    def release(self, *names: str) -> None:
        for name in names:
            heapq.heappush(self.free, int(name[1:]))
