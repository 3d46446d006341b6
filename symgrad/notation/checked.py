"""The checks of the lines of a derivation: values against the program, derivatives against differences of it.

Next to a kink no difference tells a slope; there derivatives are compared with the rules of the ops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.errors import FormulaError, SymgradError
from symgrad.formula.derive import directional, gradient
from symgrad.formula.printing.wherelist import canonical_or_raw
from symgrad.formula.sampling import KINDS, letters_of, sample, value
from symgrad.formula.term import Term, evaluate, images, own_symbol, substitute
from symgrad.sources import Source

CHECKS = 3
"""Random points at which every line is checked."""

LOOKS = 4
"""Random points of any sizes, after which those of the arguments are taken if none of them has a value."""

UNCLEAR = 1e-4
"""How far two differences are apart when no difference tells a slope."""


class Point:
    """A random point: the numbers of all names there, and those of the parts of the function."""

    def __init__(self, values: dict[str, Any], sizes: dict[str, int], root: Term):
        self.values = values
        self.sizes = sizes
        self.known = images([root], values, sizes)

    def number(self, term: Term) -> Any:
        """The number of a formula over the names."""
        return evaluate(term, self.values, self.sizes, self.known)

    def moved(self, term: Term, values: dict[str, Any]) -> Any:
        """The number of a formula in which more names have values."""
        return np.asarray(evaluate(term, {**self.values, **values}, self.sizes, self.known))


def largest(error: Callable[[Term, Point], float], line: Term, points: Sequence[Point]) -> float:
    """The largest error of a line over the points; infinite where it has no value."""
    found = [error(line, point) for point in points]
    return max(e if np.isfinite(e) else float("inf") for e in found)


def value_error(original: Term) -> Callable[[Term, Point], float]:
    """The error of a line for a value of the function."""
    return lambda line, point: _off(point.number(line), point.number(original))


def slope_error(root: Term, at: Term) -> Callable[[Term, Point], float]:
    """The error of a line for the derivative by a value, against differences of the function of that value."""
    moving = _Moving(root, at)

    def error(line: Term, point: Point) -> float:
        base = np.asarray(point.number(at))
        slope = np.sum(np.conj(point.number(line)) * direction(base)).real
        return moving.error(slope, base, point)

    return error


def tangent_error(original: Term, target: Term) -> Callable[[Term, Point], float]:
    """The error of a line for a differential, against differences along the direction in which the variable moves."""
    moving = _Moving(original, target)
    return lambda line, point: moving.error(point.number(line), np.asarray(point.values[str(target.name)]), point)


class _Moving:
    """A formula as a function of one value in it, which moves along its direction."""

    def __init__(self, term: Term, at: Term):
        self.free = own_symbol("value", at.shape, at.dtype or np.dtype(float))
        (self.term,) = substitute([term], {at: self.free})

    def difference(self, base: Any, point: Point, h: float) -> Any:
        """The derivative by differences of fourth order."""
        along = direction(base)
        rows = [point.moved(self.term, {"@value": (base + k * h * along)[()]}) for k in (-2, -1, 1, 2)]
        return (rows[0] - 8 * rows[1] + 8 * rows[2] - rows[3]) / (12 * h)

    def error(self, found: Any, base: Any, point: Point) -> float:
        """The error of a slope, less what the differences that it is compared with may be off themselves."""
        coarse, fine = (self.difference(base, point, h) for h in (1e-3, 3e-4))
        off = _off(coarse, fine)
        wrong = max(0.0, _off(found, fine) - min(1e-3, 20 * off))
        if wrong and (off > UNCLEAR or self.sides(base, point) > wrong):
            return _off(found, self.derivative(base, point))
        return wrong

    def sides(self, base: Any, point: Point, h: float = 6e-4) -> float:
        """How far the slopes of the two sides are apart."""
        before, at, after = (
            point.moved(self.term, {"@value": (base + k * h * direction(base))[()]}) for k in (-1, 0, 1)
        )
        return _off((after - at) / h, (at - before) / h)

    def derivative(self, base: Any, point: Point) -> Any:
        """The derivative by the rules of the ops, as the program is written: next to a kink no difference tells it."""
        along = own_symbol("along", self.free.shape, self.free.dtype or np.dtype(float))
        slope = directional(self.term, [self.free], [along])
        return point.moved(slope, {"@value": base[()], "@along": direction(base)})


def direction(base: Any) -> Any:
    """A direction in which an array is moved."""
    base = np.asarray(base)
    turns = 1.0 + np.arange(base.size)
    made = np.cos(turns) + (1j * np.sin(turns) if base.dtype.kind == "c" else 0)
    return made.reshape(base.shape)[()]


def _off(found: Any, exact: Any) -> float:
    found, exact = 1 * np.asarray(found), 1 * np.asarray(exact)
    if found.shape != exact.shape:
        return float("inf")
    scale = 1.0 + float(np.max(np.abs(exact), initial=0.0))
    return float(np.max(np.abs(found - exact), initial=0.0)) / scale


def _uncertain(root: Term, slope: Term, target: Term, point: Point) -> float:
    """How far differences with two steps are from each other; infinite where the derivative has no value."""
    exact = value(slope, point.values, point.sizes)
    if exact is None or not np.all(np.isfinite(exact)):
        return float("inf")
    moving, base = _Moving(root, target), np.asarray(point.values[str(target.name)])
    try:
        with np.errstate(all="ignore"):
            coarse, fine = (moving.difference(base, point, h) for h in (1e-3, 5e-4))
    except (SymgradError, ArithmeticError, ValueError, np.linalg.LinAlgError):
        return float("inf")
    off = _off(coarse, fine)
    return off if np.isfinite(off) else float("inf")


def points_of(about: Source, root: Term, target: Term) -> list[Point]:
    """Random points at which the function is smooth and has a value, and differences tell its slope."""
    rng = np.random.default_rng(11)
    letters = letters_of(*about.symbols, root)
    slope = canonical_or_raw(gradient(root, [target])[0])
    found: list[Point] = []
    rough: list[tuple[float, Point]] = []
    general = False
    for k in range(8 * len(KINDS)):
        sizes = {letter: 2 + (k + 2 * j) % 4 for j, letter in enumerate(letters)}
        if k >= LOOKS and not general:  # axes that are split into heads or groups have the size of the parts together
            sizes.update(about.sizes)
        values = sample(about.symbols, sizes, ("definite", "unit", "positive", "normal", "mixed")[k % 5], rng)
        at = value(root, values, sizes)
        if at is not None and np.all(np.isfinite(at)) and float(np.max(np.abs(at), initial=0.0)) < 1e6:
            point = Point(values, sizes, root)
            uncertain = _uncertain(root, slope, target, point)
            if uncertain < 1e-8:
                found.append(point)
            rough.append((uncertain, point))
            general = general or k < LOOKS
        if len(found) == CHECKS:
            break
    if not found and not rough:
        raise FormulaError(
            "no point was found at which the function has a finite value, so its lines cannot be checked"
        )
    return found or [min(rough, key=lambda entry: entry[0])[1]]
