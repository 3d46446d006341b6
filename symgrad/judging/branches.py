"""Points at which formulas enter the branches that ordinary random points leave out: ``x > 50``, ``min(x, 90)``.

A comparison, a ``maximum`` or a ``clip`` changes sides where its arguments are equal.  Sides that no point has seen are
looked for among numbers that are much larger or smaller, and among those beside the constants of the formulas.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from symgrad.dtypes import is_floating
from symgrad.formula.sampling import SIZES, UNDEFINED, sample
from symgrad.formula.term import Term, constant_value, images, number, postorder

ATTEMPTS = 120
"""Points that are tried for sides that no point has seen."""
_MOST = 24
"""Places in formulas where they change sides, up to which these are looked at."""
_SEEN = 3
"""Points that are to see each side."""
_FARTHEST = 9
"""The largest power of ten by which numbers are multiplied."""
_GUARDS = 1e-3
"""Constants below this one keep functions from their poles, as in ``max(norm(x), 1e-8)``; they are no branches."""

_LONGEST = 64
"""Axes are made as long as that for conditions on sizes."""

Change = tuple[Term, Term, bool]
"""Two terms, and whether it is their equality that tells."""
Side = tuple[int, int]


class Branches:
    """Where formulas change sides, and the sides that points have seen."""

    def __init__(self, *terms: Term):
        nodes = postorder(terms)
        self.changes = [change for t in nodes for change in _changes(t)][:_MOST]
        self.constants = _constants(nodes)
        self.seen: Counter[Side] = Counter()

    def look(self, values: dict[str, Any], sizes: dict[str, int]) -> bool:
        """Whether a point sees a side that few have seen before."""
        try:
            with np.errstate(all="ignore"):
                found = images([x for one, other, _ in self.changes for x in (one, other)], values, dict(sizes))
        except UNDEFINED:
            return False
        sides: set[Side] = set()
        for k, (one, other, _) in enumerate(self.changes):
            a, b = np.asarray(found[one]), np.asarray(found[other])
            if "c" not in (a.dtype.kind, b.dtype.kind):
                with np.errstate(all="ignore"):
                    signs = np.sign(np.subtract(a, b, dtype=float))
                sides |= {(k, int(sign)) for sign in np.unique(signs[np.isfinite(signs)])}
        new = sides & self._wanted()
        self.seen.update(sides)
        return bool(new)

    def _wanted(self) -> set[Side]:
        """The sides that few points have seen: by the sign of the difference, and where there is none."""
        sides = ((k, side) for k, change in enumerate(self.changes) for side in ((0,) if change[2] else (-1, 1)))
        return {side for side in sides if self.seen[side] < _SEEN}

    def further(
        self, symbols: Sequence[Term], sizes: Sequence[dict[str, int]], rng: Any
    ) -> Iterator[tuple[dict[str, Any], dict[str, int]]]:
        """Arrays, and the sizes they have, that see sides which few have seen before."""
        lengths = [c for c in self.constants if max(SIZES) <= c <= _LONGEST]
        for attempt in range(ATTEMPTS):
            if not self._wanted():
                return
            at = sizes[attempt % len(sizes)]
            if lengths and at and attempt % 8 == 7:
                at = {**at, str(rng.choice([*at])): int(rng.choice(lengths)) + 1}
            values = sample(symbols, at, ("normal", "positive")[attempt // 2 % 2], rng)
            near = attempt % 2 and self.constants
            together = 10.0 ** (_FARTHEST * attempt / ATTEMPTS)
            for s in symbols:
                array = values[str(s.name)]
                if is_floating(array.dtype) and s.params.get("structure") is None:
                    values[str(s.name)] = self._beside(array, rng) if near else array * together
            if self.look(values, at):
                yield values, at

    def _beside(self, array: Any, rng: Any) -> Any:
        """An array of constants of the formulas, and of numbers near to them and beyond."""
        chosen = rng.choice(self.constants, array.shape)
        moved = rng.choice((0.0, 1e-3, 0.2, 1.0), array.shape) * rng.uniform(-1, 1, array.shape)
        kept = rng.random(array.shape) < 0.25 * rng.integers(0, 3)
        return np.asarray(np.where(kept, array, chosen * (1 + moved)))[()]


def _changes(t: Term) -> list[Change]:
    """Where a node changes sides."""
    if not t.args:
        return []
    first, rest = t.args[0], t.args[1:]
    kinks = t.op.kinks or ()
    compares = t.dtype is not None and t.dtype.kind == "b" and first.dtype != np.dtype(bool)
    if rest and (compares or t.op.name == "step" or (kinks and all(isinstance(kink, str) for kink in kinks))):
        return [(first, other, t.op.name in ("eq", "ne")) for other in rest]
    if not rest and t.op.kind == "elementwise":
        places = [0] if t.op.name == "sign" else [kink for kink in kinks if isinstance(kink, (int, float))]
        return [(first, number(place), False) for place in places]
    return []


def _constants(nodes: Sequence[Term]) -> list[float]:
    """The numbers of formulas, and their roots and opposites, at which squares and signs of entries have them."""
    found: set[float] = set()
    for t in nodes:
        constant = constant_value(t)
        if isinstance(constant, (int, float)) and _GUARDS <= abs(constant) < math.inf:
            found |= {float(constant), -float(constant), abs(float(constant)) ** 0.5}
    return sorted(found)
