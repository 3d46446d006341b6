"""Gradients of black boxes with many entries: slopes along random directions, and bisection where they disagree.

A slope along a random direction meets the product with the given gradient only if all entries are right (but for a set
of directions of measure zero).  Where one does not, the entries are halved until the wrong ones stand alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.check.oracle.blackbox import slope_along, unit

MOST_ENTRIES = 3000
"""Up to so many entries each is measured."""

SAMPLE = 16
"""Entries that are measured in any case."""

MOST_SLOPES = 120
"""Slopes that are measured in all."""

_ROOM = 1e-9


class Screened:
    """What is known of the gradient by argument ``k``, of which ``given`` is asked whether it is right.

    gradient  measured entries, and the given ones where they agree
    error     estimates of the measured entries, and the share of each in that of the slopes
    measured  how many entries were measured one by one
    whole     whether all others are known to agree
    """

    def __init__(
        self, run: Callable[[Sequence[Any]], Any], args: Sequence[Any], k: int, given: Any, eps: float, step: bool
    ):
        self.run, self.args, self.k, self.eps, self.step = run, args, k, eps, step
        self.rng = np.random.default_rng(6)
        x = args[k]
        self.scale = np.where(x == 0, 1.0, np.abs(x)).ravel()
        self.gradient = np.array(given, float)
        self.error = np.zeros(x.shape)
        self.done = np.zeros(x.size, bool)
        self.slopes = 0
        self.by_step = True
        self._search()

    @property
    def measured(self) -> int:
        """How many entries were measured one by one."""
        return int(self.done.sum())

    def _search(self) -> None:
        everything = np.arange(self.scale.size)
        given = self.gradient.copy()
        for place in self.rng.choice(everything, SAMPLE, replace=False):
            self._measure(int(place))
        self.whole = self._agrees(everything) and self._agrees(everything)
        if self.whole or self._is_multiple(given, everything):
            return
        stack, self.whole = [everything], True
        while stack:
            part = stack.pop()
            part = part[~self.done[part]]
            if len(part) == 1:
                self._measure(int(part[0]))
            elif len(part) and not self._agrees(part):
                stack += [part[: len(part) // 2], part[len(part) // 2 :]]
            if self.slopes > MOST_SLOPES:
                self.whole = False
                return

    def _is_multiple(self, given: Any, everything: Any) -> bool:
        """Whether the given gradient is a multiple of the exact one, as the sample says, and slopes confirm."""
        known, old = self.gradient.ravel()[self.done], given.ravel()[self.done]
        if not np.sum(old * old):
            return False
        factor = np.sum(known * old) / np.sum(old * old)
        if np.any(np.abs(known - factor * old) > 1e-3 * np.max(np.abs(known), initial=0.0)):
            return False
        along = (self.scale.reshape(given.shape)) * np.sign(given)  # sharper than single entries
        factor = self._slope(along)[0] / np.sum(given * along)
        before = self.gradient
        self.gradient = np.where(self.done.reshape(given.shape), before, factor * given)
        self.whole = self._agrees(everything) and self._agrees(everything)
        if not self.whole:
            self.gradient = before
        return self.whole

    def _measure(self, place: int) -> None:
        index = tuple(int(j) for j in np.unravel_index(place, self.gradient.shape))
        slope, error = self._slope(unit(self.args[self.k], index))
        self.gradient[index], self.error[index], self.done[place] = slope, error, True

    def _slope(self, direction: Any) -> tuple[float, float]:
        self.slopes += 1
        slopes, errors, by_step = slope_along(self.run, self.args, self.k, direction, self.eps, self.step)
        self.by_step = self.by_step and by_step
        return float(slopes[0]), float(errors[0])

    def _agrees(self, part: Any) -> bool:
        direction: Any = np.zeros(self.scale.size)
        direction[part] = self.scale[part] * self.rng.choice([-1.0, 1.0], len(part))
        direction = direction.reshape(self.gradient.shape)
        slope, error = self._slope(direction)
        parts = self.gradient * direction
        if not np.isfinite(slope):
            return False
        agrees = bool(abs(slope - parts.sum()) <= 4 * error + _ROOM * np.sqrt(np.sum(parts**2)))
        if agrees:
            share = error / (self.scale[part] * np.sqrt(len(part)))
            self.error.ravel()[part] = np.maximum(self.error.ravel()[part], np.where(self.done[part], 0, share))
        return agrees
