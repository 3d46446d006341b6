"""Points at which two formulas are compared: random arrays of several sizes and kinds, with the tolerance there.

The tolerance follows from the conditioning: how far both formulas move when the inputs move in their last digits.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from symgrad.errors import SymgradError
from symgrad.formula.term import Term, evaluate

SIZES = (3, 2, 4, 5, 1)
POINTS = 24
"""Points that are looked at; a verdict of equality needs at least ``NEEDED`` at which both formulas have a value."""

NEEDED = 5
KINDS = ("normal", "positive", "unit", "integer", "spread", "definite")


class Point:
    """Arrays by name, the values of both formulas there, and how far apart rounding may put them."""

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
        if not self.known or not self.defined:
            return False
        return self.theirs.shape != self.ours.shape or bool(
            np.max(np.abs(self.theirs - self.ours), initial=0.0) > 50 * self.tolerance
        )

    @property
    def agrees(self) -> bool:
        """Whether both values are equal within rounding."""
        if not self.known or not self.defined or self.theirs.shape != self.ours.shape:
            return False
        return bool(np.max(np.abs(self.theirs - self.ours), initial=0.0) <= self.tolerance)


def value(term: Term, values: dict[str, Any], sizes: dict[str, int]) -> Any:
    """The value of a formula as an array; None where it cannot be computed (a singular matrix)."""
    try:
        with np.errstate(all="ignore"):
            found = np.asarray(evaluate(term, values, sizes))
    except (SymgradError, ValueError, ArithmeticError, IndexError, KeyError, TypeError, np.linalg.LinAlgError):
        return None
    return found if found.dtype.kind in "biufc" else None


def compared(theirs: Term, ours: Term, values: dict[str, Any], sizes: dict[str, int], rng: Any) -> Point | None:
    """Both formulas at one point; None where the exact one cannot be computed."""
    g = value(ours, values, sizes)
    if g is None:
        return None
    c = value(theirs, values, sizes)
    tolerance = 64 * np.finfo(float).eps * float(np.max(np.abs(np.where(np.isfinite(g), g, 0)), initial=0.0))
    for _ in range(2):
        moved = {k: _moved(a, rng) for k, a in values.items()}
        for term, base in ((ours, g), (theirs, c)):
            if base is None or not np.all(np.isfinite(base)):
                continue
            other = value(term, moved, sizes)
            off = np.inf if other is None else float(np.max(np.abs(other - base), initial=0.0))
            tolerance = max(tolerance, off if np.isfinite(off) else np.inf)
    return Point(values, sizes, c, g, tolerance)


def _moved(array: Any, rng: Any) -> Any:
    if array.dtype.kind not in "fc":
        return array
    return (array * (1 + 1e-13 * rng.uniform(-1, 1, array.shape)))[()]


def letters_of(*terms: Term) -> list[str]:
    """The size letters of the symbols of formulas."""
    found: dict[str, None] = {}
    for t in terms:
        for s in t.shape:
            if isinstance(s, str) and s.isalnum():
                found[s] = None
    return list(found)


def random_points(theirs: Term, ours: Term, symbols: Sequence[Term], count: int = POINTS) -> Iterator[Point]:
    """Points of several sizes and kinds; always the same ones."""
    rng = np.random.default_rng(20240229)
    letters = letters_of(*symbols, theirs, ours)
    shifts = itertools.cycle(range(len(SIZES)))
    for k in range(count):
        start = next(shifts)
        sizes = {letter: SIZES[(start + 2 * j) % len(SIZES)] for j, letter in enumerate(letters)}
        values = sample(symbols, sizes, KINDS[k % len(KINDS)], rng)
        point = compared(theirs, ours, values, sizes, rng)
        if point is not None:
            yield point


def shape_at(term: Term, sizes: dict[str, int]) -> tuple[int, ...]:
    """The shape of a symbol at given sizes."""
    from symgrad.formula.term import size_value

    return tuple(size_value(s, sizes) for s in term.shape)


def sample(symbols: Sequence[Term], sizes: dict[str, int], kind: str, rng: Any) -> dict[str, Any]:
    """Random arrays for symbols; those with a structure have it."""
    return {str(s.name): with_structure(_draw(s, shape_at(s, sizes), kind, rng), s) for s in symbols}


def _draw(s: Term, shape: tuple[int, ...], kind: str, rng: Any) -> Any:
    dtype = s.dtype or np.dtype(float)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return rng.integers(0, 3, shape).astype(dtype)
    if kind == "positive":
        array = rng.uniform(0.3, 2.5, shape)
    elif kind == "unit":
        array = rng.uniform(0.05, 0.95, shape)
    elif kind == "integer":
        array = rng.integers(-4, 5, shape).astype(float)
    elif kind == "spread":
        array = 4 * rng.standard_normal(shape)
    elif kind == "definite":
        array = rng.uniform(0.3, 1.5, shape)
        if len(shape) == 2 and shape[0] == shape[1]:
            array = array @ array.T + np.eye(shape[0])
    else:
        array = rng.standard_normal(shape)
    if dtype.kind == "c":
        array = array + 1j * rng.standard_normal(shape)
    return np.asarray(array)[()]


def with_structure(array: Any, s: Term) -> Any:
    """The array made to have the structure that a symbol states."""
    structure = s.params.get("structure")
    if structure is None or np.ndim(array) != 2:
        return array
    turned = array.T
    made = {
        "symmetric": lambda: array + turned,
        "hermitian": lambda: array + turned.conj(),
        "skew": lambda: array - turned,
        "antisymmetric": lambda: array - turned,
        "psd": lambda: array @ turned + np.eye(len(array)),
        "spd": lambda: array @ turned + np.eye(len(array)),
        "diagonal": lambda: np.diag(np.diag(array)),
        "orthogonal": lambda: np.linalg.qr(array)[0],
        "lower": lambda: np.tril(array),
        "upper": lambda: np.triu(array),
        "lower_triangular": lambda: np.tril(array),
        "upper_triangular": lambda: np.triu(array),
    }.get(structure)
    return array if made is None else made()


# ---------------------------------------------------------------------------------------------- counterexamples


def smallest(theirs: Term, ours: Term, symbols: Sequence[Term], fallback: Point) -> Point:
    """A point of small sizes and small integers at which the formulas differ; ``fallback`` when none is found."""
    rng = np.random.default_rng(7)
    letters = letters_of(*symbols, theirs, ours)
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
                if point is not None and point.differs:
                    return _shrunk(theirs, ours, symbols, point, rng)
    return fallback


def _integers(s: Term, shape: tuple[int, ...], low: int, high: int, rng: Any) -> Any:
    dtype = s.dtype or np.dtype(float)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    array = rng.integers(low, high + 1, shape)
    return np.asarray(array.astype(dtype if dtype.kind in "fc" else dtype))[()]


def _shrunk(theirs: Term, ours: Term, symbols: Sequence[Term], point: Point, rng: Any) -> Point:
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
                if found is not None and found.differs:
                    point = found
                    break
    return point
