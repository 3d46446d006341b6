"""Which term of one step of an unrolled loop is which term of the step before.

Terms of one local structure are candidates: the last two of them are taken for the same place in the last two steps.
From there down, arguments go with arguments; where both are the same term it is the same in every step, where they
differ in a number or an index it is data, and where they have nothing in common the loop has begun.  Linear in the
number of terms, without recursion.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from symgrad.formula.term import NUMBER, SYMBOL, Term, frozen, full, number, postorder

FEWEST = 3
"""Steps that are worth a recurrence."""

_DEPTH = 3
"""How far below a term its local structure goes."""

_TRIES = 12
"""Candidates that are followed; the one that covers most is taken."""

_ROUNDS = 4
"""Times that the first step is written out before the chains stand."""

_NEAR = 40
"""How near to the result the last step is looked for."""

_UNITS = {"add": (0, (0, 1)), "sub": (0, (1,)), "mul": (1, (0, 1)), "div": (1, (1,)), "pow": (1, (1,))}
"""Numbers with which ops do nothing, and the places where they stand: the first step of a sum has no 0 + in front."""


_Pairs = list[tuple[Term, Term]]
_Edge = tuple[Term, int, Term, Term]


class Chain(NamedTuple):
    """A term of the loop through all steps, the first one first; a state begins with the value before the loop."""

    nodes: list[Term]
    is_state: bool

    @property
    def computed(self) -> list[Term]:
        """The terms that the loop computes."""
        return self.nodes[1:] if self.is_state else self.nodes


class Pairing(NamedTuple):
    """The chains of a loop in a program whose steps are all alike: ``root`` has what they left out of the first one."""

    root: Term
    chains: list[Chain]


def is_data(p: Term, q: Term) -> bool:
    """Whether two terms differ as the data of two steps do: numbers, symbols, or entries of one array."""
    if p.op is NUMBER:
        return q.op is NUMBER
    if p.shape != q.shape or p.dtype != q.dtype:
        return False
    if p.op is SYMBOL:
        return q.op is SYMBOL
    one, other = entry(p), entry(q)
    return one is not None and other is not None and one[0] is other[0] and _fixed(one[1]) == _fixed(other[1])


def entry(t: Term) -> tuple[Term, tuple[Any, ...]] | None:
    """The array and the index of an entry, a row or a column; None for other terms."""
    if t.op.name == "select":
        return t.args[0], (*[slice(None)] * t.params["dim"], t.params["index"])
    return (t.args[0], t.params["index"].parts) if t.op.name == "getitem" and len(t.args) == 1 else None


def _fixed(index: tuple[Any, ...]) -> tuple[Any, ...]:
    """An index without its whole numbers."""
    return tuple(None if type(part) is int else repr(part) for part in index)


def _alike(p: Term, q: Term) -> bool:
    return (
        p.op is q.op
        and bool(p.args)
        and len(p.args) == len(q.args)
        and p.shape == q.shape
        and p.dtype == q.dtype
        and (p.params is q.params or frozen(p.params) == frozen(q.params))
        and all(a.op is not NUMBER or b.op is NUMBER for a, b in zip(p.args, q.args, strict=True))
    )


def pairings(root: Term, order: Sequence[Term], data_first: bool) -> Iterator[Pairing]:
    """The loops that cover much of a program, those that cover most of it first.

    With ``data_first`` what a first step has alone may be data: y₀ for y₀ - 0, where the others have y₁ - x₁.
    """
    found: list[tuple[int, Pairing]] = []
    for pairs in _candidates(order):
        made = _completed(root, order, pairs, data_first)
        size = 0 if made is None else sum(len(c.nodes) for c in made.chains)
        if made is not None and 10 * size > 9 * len(order):
            yield made
        elif made is not None and 3 * size > len(order):
            found.append((size, made))
    yield from (made for _, made in sorted(found, key=lambda f: -f[0]))


def _candidates(order: Sequence[Term]) -> Iterator[_Pairs]:
    """Terms near the result with the one before them of the same local structure, all rows of what is stacked first."""
    stacks = [t.args for t in order if t.op.name == "stack" and len(t.args) >= FEWEST]
    if stacks:
        yield [pair for rows in stacks for pair in zip(rows[1:], rows, strict=False)]
    codes: dict[Any, int] = {}
    code = [{t: codes.setdefault(_key(t), len(codes)) for t in order}]
    for _ in range(_DEPTH):
        codes, last = {}, code[-1]
        code.append({t: codes.setdefault((last[t], *[last[a] for a in t.args]), len(codes)) for t in order})
    before: list[dict[Term, Term]] = []
    for level in code[1:]:
        latest: dict[int, Term] = {}
        found: dict[Term, Term] = {}
        for t in order:
            if t.args:
                if level[t] in latest:
                    found[t] = latest[level[t]]
                latest[level[t]] = t
        before.append(found)
    seen: set[tuple[Term, Term]] = set()
    for t in reversed(order[-_NEAR:]):
        for found in reversed(before):
            if t in found and (t, found[t]) not in seen:
                seen.add((t, found[t]))
                yield [(t, found[t])]
                if len(seen) == _TRIES:
                    return


def _key(t: Term) -> tuple[Any, ...]:
    if t.op is NUMBER:
        return ("number",)
    found = entry(t)
    if found is not None:
        return (t.op.name, t.shape, t.dtype, _fixed(found[1]))
    return (t.op.name, t.shape, t.dtype, frozen(t.params) if t.params else ())


def _completed(root: Term, order: Sequence[Term], pairs: _Pairs, data_first: bool) -> Pairing | None:
    """The chains below pairs of places, the first step being written like the others: 0 + x for x."""
    for _ in range(_ROUNDS):
        walked = _walk(pairs)
        if walked is None:
            return None
        before, first, edges = walked
        edits = {}
        for user, i, p, q in edges:
            made = _written_out(p, q, before, data_first)
            if made is not None:
                edits[user, i] = made
        if not edits:
            chains = _chains(before, first)
            return None if chains is None else Pairing(root, chains)
        image: dict[Term, Term] = {}
        for t in order:
            args = tuple([edits.get((t, i), image[a]) for i, a in enumerate(t.args)])
            image[t] = t.with_args(args)
        root, pairs = image[root], [(image[p], image[q]) for p, q in pairs]
        order = postorder([root])
    return None


def _walk(pairs: _Pairs) -> tuple[dict[Term, Term], set[Term], list[_Edge]] | None:
    """What goes with what one step before; terms that have a value before the loop there; and where these stand."""
    before: dict[Term, Term] = {}
    first: set[Term] = set()
    edges: list[_Edge] = []
    stack: list[tuple[Term, Term, Term | None, int]] = [(p, q, None, 0) for p, q in pairs]
    while stack:
        p, q, user, i = stack.pop()
        if p is q or is_data(p, q):
            continue
        known = before.get(p)
        if known is None:
            before[p] = q
            if _alike(p, q):
                stack += [(a, b, q, k) for k, (a, b) in enumerate(zip(p.args, q.args, strict=True))]
            else:
                first.add(p)
        elif known is not q:
            return None
        if p in first and user is not None:
            edges.append((user, i, p, q))
    return before, first, edges


def _written_out(p: Term, q: Term, before: dict[Term, Term], data_first: bool) -> Term | None:
    """``q`` as the op of ``p`` with the number that does nothing, where it is what the first step has of ``p``."""
    unit, places = _UNITS.get(p.op.name, (0, ()))
    for i in places:
        one, other = p.args[i], p.args[1 - i]
        if q.shape != p.shape or (other is q and one.op is not NUMBER):
            continue
        if one.op is NUMBER and (other is q or before.get(other) is q or _alike(other, q) or is_data(other, q)):
            nothing = number(unit)
        else:
            begins = p.op.name == "add" and _is_first_summand(q, one, other)
            if not begins and not (data_first and p.op.name in ("add", "sub") and is_data(other, q)):
                continue
            nothing = full(one.shape, 0, one.dtype)
        return p.with_args((nothing, q) if i == 0 else (q, nothing))
    return None


def _is_first_summand(q: Term, before: Term, other: Term) -> bool:
    """Whether ``q``, alone in the first step, is what ``other`` is in the second, which adds it to ``before``."""
    if before is q:
        return _alike(other, q) or is_data(other, q)
    return any(a is q for a in before.args) and _alike(other, q)


def _chains(before: dict[Term, Term], first: set[Term]) -> list[Chain] | None:
    later = [q for p, q in before.items() if p not in first]
    inner = set(later)
    if len(inner) < len(later):
        return None
    found = []
    for top in before:
        if top in inner:
            continue
        nodes, p = [top], top
        while p in before:
            nodes.append(before[p])
            if p in first:
                break
            p = before[p]
        found.append(Chain(nodes[::-1], p in first))
    return found
