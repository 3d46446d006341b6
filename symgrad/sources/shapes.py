"""Shapes of the arguments of a function or text, found by trying: the most general ones for which it runs.

Every axis starts as a size of its own.  Where the attempt fails, the pair of sizes is made equal that lets it get
further, or else to another failure at the same place; where no pair does, the ranks are changed, the least surprising
first: capital letters are matrices, small letters vectors, Greek ones and words numbers.
"""

from __future__ import annotations

import heapq
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from symgrad.errors import ArgumentError, FormulaError, ShapeError
from symgrad.formula.printing.names import _ALIASES, GREEK
from symgrad.sources.hints import Costs

Shapes = dict[str, tuple[Any, ...]]


class Reached(NamedTuple):
    """How far an attempt got, in words without sizes what it failed at, and two sizes that must be equal there."""

    far: float
    problem: str = ""
    pair: tuple[str, str] | None = None


Attempt = Callable[[Shapes], tuple[bool, Reached]]

TRIALS = 1500
"""Attempts before the search gives up."""

_LETTERS = ("n", "m", "p", "q", "r", "s", "d", "h", "l", "u", "v")


def parse_shapes(text: str) -> Shapes:
    """Shapes written as text: ``"X=n,m w=m lam="``.

    >>> parse_shapes("X=n,m w=3 lam=")
    {'X': ('n', 'm'), 'w': (3,), 'lam': ()}
    """
    out: Shapes = {}
    for part in text.replace(";", " ").split():
        name, equals, sizes = part.partition("=")
        if not equals or not name.isidentifier():
            raise ArgumentError(f"shapes are written like 'X=n,m w=m lam=', not {part!r}.")
        listed = [s for s in sizes.strip("()").split(",") if s]
        bad = [s for s in listed if not s.isdigit() and not s.isidentifier()]
        if bad:
            raise ArgumentError(f"a size is a number or a letter, not {bad[0]!r} (in {part!r}).")
        out[name] = tuple(int(s) if s.isdigit() else s for s in listed)
    return out


def _costs(name: str) -> Costs:
    """How surprising each rank of an argument of this name would be."""
    stem = name.rstrip("0123456789_")
    if stem[:1].isupper():
        return {2: 0, 1: 3, 0: 4}
    if _ALIASES.get(stem, stem) in GREEK or (len(stem) > 1 and stem.islower() and "_" not in stem):
        return {0: 0, 1: 2, 2: 4}
    return {1: 0, 0: 1, 2: 4}


def likeliest_rank(name: str) -> int:
    """The number of axes that an argument of this name has as a rule.

    >>> [likeliest_rank(name) for name in ("X", "w", "lam")]
    [2, 1, 0]
    """
    costs = _costs(name)
    return min(costs, key=lambda rank: costs[rank])


def infer_shapes(
    names: Sequence[str],
    attempt: Attempt,
    known: Shapes | None = None,
    likely: Mapping[str, Costs] | None = None,
    budget: int = TRIALS,
) -> Shapes:
    """Shapes with which ``attempt(shapes)`` succeeds; it gives (success, how far it got).

    ``likely`` says of some names how surprising their ranks are.  Raises ``ShapeError`` when no shapes of up to two
    axes are found; ``known`` shapes are kept.
    """
    known = known or {}
    free = [n for n in names if n not in known]
    trials = 0
    likely = likely or {}
    budget = budget // max(1, len(free) // 6) if len(free) < MANY else min(budget, 8)
    share = budget if len(free) <= FEW else budget // 4
    ranks = [list((likely.get(n) or _costs(n)).items()) for n in free]
    for k, choice in enumerate(itertools.islice(_choices(free, ranks, likely), 400 if len(free) < MANY else 4)):
        letters = itertools.count()
        taken = {s for shape in known.values() for s in shape}
        fresh = (x for x in _all_letters(letters) if x not in taken)
        shapes = {n: known.get(n) for n in names}
        for name, rank in zip(free, choice, strict=True):
            shapes[name] = tuple(next(fresh) for _ in range(rank))
        try:
            found, used = _merged(shapes, attempt, min(budget - trials, share))  # type: ignore[arg-type]
        except FormulaError:
            if not k:
                raise
            found, used = None, 1  # what the likeliest ranks can mean, others need not
        trials += used
        if found is not None:
            return renamed(found, {s for shape in known.values() for s in shape})
        if trials >= budget:
            break
    listed = ", ".join(names) if len(names) < MANY else f"{', '.join(names[:5])}, … ({len(names)} names)"
    raise ShapeError(
        f"no shapes of {listed} were found for which the formula gives a result of the needed kind; state "
        "them, for example shapes='X=n,m w=m'."
    )


MANY = 40
"""Names from which on only the likeliest ranks and few sizes are tried."""


def _choices(
    names: Sequence[str], ranks: Sequence[Sequence[tuple[int, int]]], likely: Mapping[str, Costs]
) -> Iterator[tuple[int, ...]]:
    """Ranks for the names, the least surprising first; soon after these all small names as numbers, then all names."""
    if len(names) <= FEW:
        yield from _by_cost(ranks)
        return
    by_cost = _by_cost(ranks)
    first = next(by_cost)
    yield first
    small = [rank if n in likely or n[:1].isupper() else 0 for n, rank in zip(names, first, strict=True)]
    yield from (tuple(small), tuple(0 for _ in names))
    yield from by_cost


FEW = 6
"""Names up to which all choices of their ranks are tried in order."""


def _by_cost(ranks: Sequence[Sequence[tuple[int, int]]]) -> Iterator[tuple[int, ...]]:
    """One rank for each name, the least surprising choices first; no more of them are made than are taken."""
    ordered = [sorted(row, key=lambda entry: entry[1]) for row in ranks]
    queue = [(sum(row[0][1] for row in ordered), (0,) * len(ordered), 0)]
    while queue:
        cost, places, last = heapq.heappop(queue)
        yield tuple(row[k][0] for row, k in zip(ordered, places, strict=True))
        for j in range(last, len(ordered)):
            k = places[j]
            if k + 1 < len(ordered[j]):
                dearer = cost + ordered[j][k + 1][1] - ordered[j][k][1]
                heapq.heappush(queue, (dearer, (*places[:j], k + 1, *places[j + 1 :]), j))


def reached(far: float, error: Exception) -> Reached:
    """How far an attempt got that ended with an error at ``far``; broadcasting tells the axis it got to."""
    said = str(error)
    found = re.search(r"axis -(\d+)", said)
    index = re.search(r"runs over (\w+) entries at one place and over (\w+)", said)
    pair = (index[1], index[2]) if index else None
    return Reached(far + (0.5 / int(found[1]) if found else 0.0), re.sub(r"_?\d+", "", said), pair)


def _all_letters(count: Any) -> Any:
    return (f"_{k}" for k in count)


def _merged(shapes: Shapes, attempt: Attempt, budget: int) -> tuple[Shapes | None, int]:
    """Shapes with as few equal sizes as needed, and the number of attempts."""
    good, before = attempt(shapes)
    used, seen = 1, {before.problem}
    while not good:
        sizes = sorted({s for shape in shapes.values() for s in shape}, key=str)
        best: tuple[Reached, Shapes] | None = None
        pairs = [before.pair] if before.pair else itertools.combinations(sizes, 2)
        for a, b in pairs:
            if (isinstance(a, int) and isinstance(b, int)) or used >= budget:
                continue
            keep, gone = (a, b) if isinstance(a, int) or not str(a).startswith("_") else (b, a)
            if isinstance(gone, int) or not str(gone).startswith("_"):
                continue
            tried = {n: tuple(keep if s == gone else s for s in shape) for n, shape in shapes.items()}
            done, now = attempt(tried)
            used += 1
            if done:
                return tried, used
            further = now.far > before.far or (now.far == before.far and now.problem not in seen) or before.pair
            if further and (best is None or now.far > best[0].far):
                best = (now, tried)
        if best is None:
            return None, used
        before, shapes = best
        seen.add(before.problem)
    return shapes, used


def renamed(shapes: Shapes, taken: set[Any]) -> Shapes:
    """The same shapes with plain size letters, in the order of the arguments."""
    free = (x for x in (*_LETTERS, *(f"n{k}" for k in range(1, 200))) if x not in taken and x not in shapes)
    names: dict[Any, str] = {}
    for shape in shapes.values():
        for s in shape:
            if isinstance(s, str) and s.startswith("_") and s not in names:
                names[s] = next(free)
    return {n: tuple(names.get(s, s) for s in shape) for n, shape in shapes.items()}
