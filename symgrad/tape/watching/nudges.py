"""Values near by, at which a program is run again: what changes with them depends on the values."""

from __future__ import annotations

import math

NUDGE = 1e-6
"""By what part of themselves values are changed: more than rounding, and less than what a program branches at."""

_GOLDEN = (math.sqrt(5) - 1) / 2
"""Multiples of it lie as far apart as they can, however many there are."""


def own(k: int) -> float:
    """The share of the nudge that is that of value ``k``: ratios and angles of values that move alike stay.

    >>> [round(own(k), 2) for k in range(4)]
    [1.0, 1.62, 1.24, 1.85]
    """
    return 1 + _GOLDEN * k % 1
