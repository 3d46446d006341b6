"""The checks of the lines of a derivation: values against the program, derivatives against differences of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.errors import FormulaError, SymgradError
from symgrad.formula.derive import gradient
from symgrad.formula.printing.wherelist import canonical_or_raw
from symgrad.formula.sampling import KINDS, letters_of, sample, value
from symgrad.formula.term import Term, evaluate, images, substitute, symbol
from symgrad.sources import Source

CHECKS = 3
"""Random points at which every line is checked."""


class Point:
    """A random point: the numbers of all names there, and those of the parts of the function."""

    def __init__(self, values: dict[str, Any], sizes: dict[str, int], root: Term):
        self.values = values
        self.sizes = sizes
        self.known = images([root], values, sizes)

    def number(self, term: Term) -> Any:
        """The number of a formula over the names."""
        return evaluate(term, self.values, self.sizes, self.known)

    def moved(self, term: Term, name: str, value: Any) -> Any:
        """The number of a formula in which one more name has a value."""
        return np.asarray(evaluate(term, {**self.values, name: value}, self.sizes, self.known))


def largest(error: Callable[[Term, Point], float], line: Term, points: Sequence[Point]) -> float:
    """The largest error of a line over the points; infinite where it has no value."""
    found = [error(line, point) for point in points]
    return max(e if np.isfinite(e) else float("inf") for e in found)


def value_error(original: Term) -> Callable[[Term, Point], float]:
    """The error of a line for a value of the function."""
    return lambda line, point: _off(point.number(line), point.number(original))


def slope_error(root: Term, at: Term) -> Callable[[Term, Point], float]:
    """The error of a line for the derivative by a value, against differences of the function of that value."""
    outer, free = _freed(root, at)

    def error(line: Term, point: Point) -> float:
        base = np.asarray(point.number(at))
        slope = np.sum(np.conj(point.number(line)) * direction(base)).real
        return _against(slope, outer, free, base, point)

    return error


def tangent_error(original: Term, target: Term) -> Callable[[Term, Point], float]:
    """The error of a line for a differential, against differences along the direction in which the variable moves."""
    outer, free = _freed(original, target)
    return lambda line, point: _against(
        point.number(line), outer, free, np.asarray(point.values[str(target.name)]), point
    )


def _freed(term: Term, at: Term) -> tuple[Term, str]:
    """A formula with one value in it as a variable of its own, and the name of that."""
    free = symbol("_value", at.shape, at.dtype or np.dtype(float))
    (outer,) = substitute([term], {at: free})
    return outer, str(free.name)


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


def _difference(term: Term, name: str, base: Any, point: Point, h: float) -> Any:
    """The derivative of a term along a direction by differences of fourth order."""
    along = direction(base)
    rows = [point.moved(term, name, (base + k * h * along)[()]) for k in (-2, -1, 1, 2)]
    return (rows[0] - 8 * rows[1] + 8 * rows[2] - rows[3]) / (12 * h)


def _against(found: Any, term: Term, name: str, base: Any, point: Point) -> float:
    """The error of a slope, less what the differences that it is compared with may be off themselves."""
    coarse, fine = (_difference(term, name, base, point, h) for h in (1e-3, 3e-4))
    return max(0.0, _off(found, fine) - min(1e-3, 20 * _off(coarse, fine)))


def _uncertain(root: Term, slope: Term, target: Term, point: Point) -> float:
    """How far differences with two steps are from each other; infinite where the derivative has no value."""
    exact = value(slope, point.values, point.sizes)
    if exact is None or not np.all(np.isfinite(exact)):
        return float("inf")
    outer, free = _freed(root, target)
    base = np.asarray(point.values[str(target.name)])
    try:
        with np.errstate(all="ignore"):
            coarse, fine = (_difference(outer, free, base, point, h) for h in (1e-3, 5e-4))
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
    for k in range(8 * len(KINDS)):
        sizes = {letter: 2 + (k + 2 * j) % 4 for j, letter in enumerate(letters)}
        values = sample(about.symbols, sizes, ("definite", "unit", "positive", "normal", "mixed")[k % 5], rng)
        at = value(root, values, sizes)
        if at is not None and np.all(np.isfinite(at)) and float(np.max(np.abs(at), initial=0.0)) < 1e6:
            point = Point(values, sizes, root)
            uncertain = _uncertain(root, slope, target, point)
            if uncertain < 1e-8:
                found.append(point)
            rough.append((uncertain, point))
        if len(found) == CHECKS:
            break
    if not found and not rough:
        raise FormulaError(
            "no point was found at which the function has a finite value, so its lines cannot be checked"
        )
    return found or [min(rough, key=lambda entry: entry[0])[1]]
