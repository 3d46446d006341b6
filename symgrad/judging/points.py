"""Points at which two formulas are compared: random arrays of several sizes and kinds, with the tolerance there.

The tolerance follows from the conditioning: how far both formulas move when the inputs move in their last digits.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from symgrad.dtypes import is_floating
from symgrad.errors import SymgradError
from symgrad.formula.digits import all_in_mpmath, without_digits
from symgrad.formula.sampling import KINDS, SIZES, cancelled, letters_of, sample, shape_at, value, with_structure
from symgrad.formula.term import SYMBOL, Term, count, postorder
from symgrad.judging.branches import Branches

POINTS = 28
"""Points that are looked at; a verdict of equality needs at least ``NEEDED`` at which both formulas have a value."""

FURTHER = ["spread", "far"] * 6
"""Kinds of further points for formulas with conditions, of which others may be on one side alone."""

NEEDED = 5
DIGITS = 30
"""In which formulas are compared that floats do not tell apart."""
TYPED = 2e-15
"""Differences in proportion to the values that constants typed with all digits of a float may make."""
_MANY = 300
"""Nodes of formulas up to which they are compared in digits."""
LARGE = 1_000
"""Nodes from which on fewer points are looked at, and none of smaller numbers."""


class Point:
    """Arrays by name, the values of both formulas there, and how far apart rounding may put them."""

    apart = 0.0
    """The difference in proportion to the values, where digits tell them apart and floats do not."""
    special = False
    """Whether the arrays are of integers, at which derivatives may be conventions (that of |x| at 0)."""
    beyond = False
    """Whether the arrays were looked for, as the first ones on a side of a branch."""

    def __init__(self, values: dict[str, Any], sizes: dict[str, int], theirs: Any, ours: Any, tolerance: Any):
        self.values = values
        self.sizes = sizes
        self.theirs = theirs
        self.ours = ours
        self.tolerance = tolerance

    @property
    def known(self) -> bool:
        """Whether the exact formula has a finite value here, found well enough to tell others from it."""
        scale = max(1e-300, float(np.max(np.abs(self.ours), initial=0.0)))
        return bool(np.all(np.isfinite(self.ours))) and self.tolerance <= 1e-5 * scale + 1e-12

    @property
    def defined(self) -> bool:
        """Whether the given formula has a finite value here."""
        return self.theirs is not None and bool(np.all(np.isfinite(self.theirs)))

    @property
    def differs(self) -> bool:
        """Whether the difference is far beyond rounding."""
        if not self.known or not self.defined or (self.beyond and self._vanishes):
            return False
        return (
            self.apart > 0
            or self.theirs.shape != self.ours.shape
            or bool(np.max(np.abs(self.theirs - self.ours), initial=0.0) > 50 * self.tolerance and self.gap > 1e-6)
        )

    @property
    def _vanishes(self) -> bool:
        """Whether both values are as good as 0, as those of exponentials far out."""
        return all(float(np.max(np.abs(a), initial=0.0)) < 1e-9 for a in (self.theirs, self.ours))

    @property
    def undefined(self) -> bool:
        """Whether the given formula has no real value here, as the logarithm of a negative number."""
        return self.known and self.theirs is not None and bool(np.any(np.isnan(self.theirs)))

    def shows(self, like: Point) -> bool:
        """Whether this point shows the same as another: a difference, or that the given formula has no value."""
        return self.differs if like.differs else self.undefined

    @property
    def gap(self) -> float:
        """The difference in proportion to the values."""
        if self.theirs.shape != self.ours.shape:
            return float("inf")
        scale = max(float(np.max(np.abs(a), initial=0.0)) for a in (self.theirs, self.ours))
        return float(np.max(np.abs(self.theirs - self.ours), initial=0.0)) / scale if scale else 0.0

    def regular(self, shown: Term) -> bool:
        """Whether another form of the exact formula has the same value here."""
        other = value(shown, self.values, self.sizes)
        if other is None or other.shape != self.ours.shape:
            return False
        return bool(np.max(np.abs(other - self.ours), initial=0.0) <= 50 * self.tolerance)

    @property
    def agrees(self) -> bool:
        """Whether both values are equal within rounding."""
        if not self.known or not self.defined or self.theirs.shape != self.ours.shape:
            return False
        return bool(np.max(np.abs(self.theirs - self.ours), initial=0.0) <= self.tolerance)


def compared(theirs: Term, ours: Term, values: dict[str, Any], sizes: dict[str, int], rng: Any) -> Point | None:
    """Both formulas at one point; None where the exact one cannot be computed."""
    g = value(ours, values, sizes)
    if g is None:
        return None
    c = value(theirs, values, sizes)
    c = c.astype(float) if c is not None and c.dtype == bool else c
    tolerance: float = 64 * np.finfo(float).eps * float(np.max(np.abs(np.where(np.isfinite(g), g, 0)), initial=0.0))
    if c is not None and c.shape == g.shape and not np.array_equal(c, g):
        tolerance += 8 * np.finfo(float).eps * max(cancelled(t, values, sizes) for t in (theirs, ours))
    for _ in range(3):
        moved = {k: _moved(a, rng) for k, a in values.items()}
        for term, base in ((ours, g), (theirs, c)):
            if base is None or not np.all(np.isfinite(base)):
                continue
            other = value(term, moved, sizes)
            off = np.inf if other is None else float(np.max(np.abs(other - base), initial=0.0))
            tolerance = max(tolerance, off if np.isfinite(off) else np.inf)
    return Point(values, sizes, c, g, tolerance)


def told_apart(theirs: Term, ours: Term, points: Sequence[Point]) -> bool | None:
    """Whether digits tell two formulas apart at some points, which are marked; None where that is not known."""
    if count(theirs, ours) > _MANY or without_digits([theirs, ours]):
        return None
    chosen = sorted((p for p in points if not p.special), key=lambda p: max(a.size for a in p.values.values()))[:3]
    for point in chosen:
        try:
            found = all_in_mpmath([theirs, ours], point.values, point.sizes, DIGITS)
        except (SymgradError, ArithmeticError, ValueError, TypeError, KeyError, IndexError):
            return None
        one, two = (np.broadcast_to(np.asarray(f, object), point.ours.shape).ravel() for f in found)
        scale = max((abs(b) for b in two), default=0)
        off = max((abs(a - b) for a, b in zip(one, two, strict=True)), default=0)
        if off > max(TYPED * scale, 1e-10 * point.tolerance, 1e-20):  # 0 may be a sum of 30 digits
            point.apart = float(off / scale) if scale else math.inf
    return any(point.apart for point in chosen) if chosen else None


def one_size_alone(points: Sequence[Point]) -> str | None:
    """The letter of a size that has to be 1 for a text to have a value, as in ``b.reshape(1, 1)``; None for others."""
    letters = points[0].sizes if points else ()
    for letter in letters:
        found = {(p.sizes[letter] == 1, p.theirs is None) for p in points}
        if found == {(True, False), (False, True)}:
            return letter
    return None


def _moved(array: Any, rng: Any) -> Any:
    if not is_floating(array.dtype):
        return array
    return (array * (1 + 1e-13 * rng.uniform(-1, 1, array.shape)))[()]


def random_points(theirs: Term, ours: Term, symbols: Sequence[Term]) -> Iterator[Point]:
    """Points of several sizes and kinds; always the same ones."""
    rng = np.random.default_rng(20240229)
    letters = letters_of(*symbols, theirs, ours)
    shifts = itertools.cycle(range(len(SIZES)))
    kinds = list(itertools.islice(itertools.cycle(KINDS), POINTS if count(theirs, ours) < LARGE else NEEDED + 2))
    if any(t.dtype is not None and t.dtype.kind == "b" for t in postorder([theirs])):
        kinds += FURTHER
    branches, tried = Branches(*(theirs, ours) if count(theirs, ours) < LARGE else ()), []
    for kind in kinds:
        start = next(shifts)
        sizes = {letter: SIZES[(start + 2 * j) % len(SIZES)] for j, letter in enumerate(letters)}
        values = sample(symbols, sizes, kind, rng)
        point = compared(theirs, ours, values, sizes, rng)
        if point is not None:
            point.special = kind == "integer"
            branches.look(values, sizes)
            tried.append(sizes)
            yield point
    for values, sizes in branches.further(symbols, tried, rng) if tried else ():
        point = compared(theirs, ours, values, sizes, rng)
        if point is not None:
            point.beyond = True
            yield point


# ---------------------------------------------------------------------------------------------- counterexamples


def smallest(theirs: Term, ours: Term, shown: Term, symbols: Sequence[Term], fallback: Point) -> Point:
    """A point of small sizes and small integers at which the formulas differ; ``fallback`` when none is found.

    Points where the exact formula as ``shown`` has another value than the program ``ours`` are passed over: there the
    value is a convention (``x**x`` at 0).
    """
    if count(theirs, ours) > LARGE:
        return fallback
    rng = np.random.default_rng(7)
    letters = letters_of(*symbols, theirs, ours)
    at_kink: Point | None = None
    choices = itertools.product((1, 2, 3), repeat=min(len(letters), 5))
    for chosen in itertools.islice(sorted(choices, key=lambda c: (math.prod(c), sum(c))), 60):
        sizes = {letter: chosen[j] if j < len(chosen) else 1 for j, letter in enumerate(letters)}
        for bound, attempts in ((1, 6), (2, 8), (3, 8)):
            for k in range(attempts):
                low = 1 if k % 2 else -bound
                values = {
                    str(s.name): with_structure(_integers(s, shape_at(s, sizes), low, bound, rng), s) for s in symbols
                }
                point = compared(theirs, ours, values, sizes, rng)
                if point is None or not point.shows(fallback) or not point.regular(shown):
                    continue
                if _everywhere(theirs, ours, point):
                    return _shrunk(theirs, ours, shown, symbols, point, rng)
                if at_kink is None and _everywhere(theirs, ours, point, smooth=False):
                    at_kink = point
    if at_kink is not None:
        return at_kink
    values = {k: np.round(a)[()] if is_floating(a.dtype) else a for k, a in fallback.values.items()}
    rounded = compared(theirs, ours, values, fallback.sizes, rng) if fallback.beyond else None
    if rounded is None or not rounded.shows(fallback) or not rounded.regular(shown):
        return fallback
    return _shrunk(theirs, ours, shown, symbols, rounded, rng)


def differs_beside(theirs: Term, ours: Term, point: Point) -> bool:
    """Whether formulas that differ at a point of integers are known to do so beside it, where no kink is.

    Of arrays with a structure that is not asked: those close by have another one.
    """
    plain = all(s.params.get("structure") is None for s in postorder([theirs, ours]) if s.op is SYMBOL)
    return plain and _everywhere(theirs, ours, point, unknown=False)


def _everywhere(theirs: Term, ours: Term, point: Point, smooth: bool = True, unknown: bool = True) -> bool:
    """Whether the formulas differ beside a point, too, and not only where a derivative is a convention.

    Where it is ``smooth``, the exact formula has much the same value beside the point, which is then no kink.
    """
    rng = np.random.default_rng(3)
    values = {
        k: a + 0.01 * rng.uniform(0.5, 1, a.shape) * rng.choice((-1, 1), a.shape) if is_floating(a.dtype) else a
        for k, a in point.values.items()
    }
    beside = compared(theirs, ours, {k: np.asarray(a)[()] for k, a in values.items()}, point.sizes, rng)
    if beside is None or not beside.known:
        return unknown
    if smooth and point.defined and point.theirs.shape == point.ours.shape:
        step = float(np.max(np.abs(beside.ours - point.ours), initial=0.0))
        if step > 0.25 * float(np.max(np.abs(point.theirs - point.ours), initial=0.0)):
            return False
    return beside.differs or (unknown and not beside.defined)


def _integers(s: Term, shape: tuple[int, ...], low: int, high: int, rng: Any) -> Any:
    dtype = s.dtype or np.dtype(float)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    array = rng.integers(low, high + 1, shape)
    return np.asarray(array.astype(dtype))[()]


def _shrunk(theirs: Term, ours: Term, shown: Term, symbols: Sequence[Term], point: Point, rng: Any) -> Point:
    """The same point with as many zeros and ones as keep the difference."""
    for s in symbols:
        name = str(s.name)
        if s.params.get("structure") is not None:
            continue
        for index in np.ndindex(np.shape(point.values[name])):
            current = point.values[name][index] if index else point.values[name]
            for simpler in (0, 1, -1, 2):
                if abs(current) < abs(simpler) or current == simpler:
                    break
                changed = np.array(point.values[name])
                changed[index] = simpler
                found = compared(theirs, ours, {**point.values, name: changed[()]}, point.sizes, rng)
                if found is None or not found.shows(point) or not found.regular(shown):
                    continue
                if _everywhere(theirs, ours, found):
                    point = found
                    break
    return point


def reached(points: Sequence[Point], goals: Sequence[Any]) -> Callable[[Term], bool]:
    """Whether a formula has the wanted values, one array per point."""
    return lambda made: all(
        near(value(made, p.values, p.sizes), goal, p.tolerance) for p, goal in zip(points, goals, strict=True)
    )


def near(found: Any, goal: Any, tolerance: float) -> bool:
    """Whether an array is another within rounding."""
    if found is None or goal is None or found.shape != goal.shape or not np.all(np.isfinite(found)):
        return False
    room = 20 * tolerance + 1e-9 * float(np.max(np.abs(goal), initial=0.0))
    return bool(np.max(np.abs(found - goal), initial=0.0) <= room)
