"""Two mistakes at once: of changes that were tried one by one, the two that bring what is missing together."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from symgrad.check.mending.routines import Routine
from symgrad.check.mending.spots import Edit
from symgrad.check.report import ArgumentReport


class Change(NamedTuple):
    """A change of a function's text."""

    routine: Routine
    edit: Edit


class Pairs:
    """What changes make of the gradients, each as one number: along a random direction, where sums stay sums.

    Two mistakes in terms, or in gradients of two arguments, add up; those in one product do not, and are not found.
    """

    def __init__(self, arguments: Sequence[ArgumentReport]):
        self.arguments, self.fits = arguments, all(a.given.shape == a.exact.shape for a in arguments)
        self._changes: dict[float, Change] = {}
        if self.fits:
            rng = np.random.default_rng(11)
            self._directions = [rng.normal(size=2 * a.given.size) for a in arguments]
            sizes = zip(self._directions, arguments, strict=True)
            with np.errstate(all="ignore"):
                self._missing = -self._along([a.given - a.exact for a in arguments])
                self._room = sum(float(np.abs(d).max(initial=0.0) * np.sum(a.tolerance)) for d, a in sizes)
            self.fits = bool(np.isfinite(self._missing))

    def _along(self, gradients: Sequence[Any]) -> float:
        return float(sum(np.sum(d * _flat(g)) for d, g in zip(self._directions, gradients, strict=True)))

    def note(self, made: Sequence[Any], change: Change) -> None:
        """Keep what a change makes of the gradients; the first one of those that make the same."""
        if not self.fits or any(np.shape(g) != a.given.shape for g, a in zip(made, self.arguments, strict=True)):
            return
        with np.errstate(all="ignore"):
            along = self._along([g - a.given for g, a in zip(made, self.arguments, strict=True)])
        if np.isfinite(along) and abs(along) > self._room:
            self._changes.setdefault(float(f"{along:.12g}"), change)

    def complete(self) -> Iterator[tuple[Change, Change]]:
        """Two changes that together bring what is missing, the first ones tried first."""
        order = list(self._changes)
        ranked = sorted(order)
        for first in order:
            wanted = self._missing - first if self.fits else 0.0
            room = self._room + 1e-10 * (abs(first) + abs(self._missing))
            at = bisect.bisect_left(ranked, wanted - room)
            if at < len(ranked) and ranked[at] <= wanted + room and ranked[at] != first:
                yield self._changes[first], self._changes[ranked[at]]


def _flat(gradient: Any) -> Any:
    """The real parts of the numbers of an array, and their imaginary parts."""
    array = np.ravel(gradient)
    return np.concatenate([array.real, array.imag]).astype(float)
