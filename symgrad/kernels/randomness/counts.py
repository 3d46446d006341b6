"""Random counts of Poisson's distribution, as torch's CPU generator gives them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def poisson_count(rate: float, draw: Callable[[], float]) -> int:
    """One count: below a rate of 10 the factors of a product, above by Hörmann's transformed rejection (1993)."""
    if rate == 0 or math.isnan(rate):
        return 0
    if rate < 10:
        limit, product, count = math.exp(-rate), draw(), 0
        while product > limit:
            product, count = product * draw(), count + 1
        return count
    root, log_rate = math.sqrt(rate), math.log(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    inverse_alpha, edge = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = draw() - 0.5, draw()
        away = 0.5 - abs(u)
        if away == 0 or v == 0:
            continue
        count = math.floor((2 * a / away + b) * u + rate + 0.43)
        if away >= 0.07 and v <= edge:
            return count
        if count < 0 or (away < 0.013 and v > away):
            continue
        density = math.log(v) + math.log(inverse_alpha) - math.log(a / (away * away) + b)
        if density <= count * log_rate - rate - math.lgamma(count + 1):
            return count


def poisson_counts(rates: Any, source: Any) -> Any:
    """Counts for an array of rates, with the numbers of a source of uniform ones."""

    def draw() -> float:
        return float(source.uniform((1,), np.dtype(np.float64))[0])

    counts = [poisson_count(rate, draw) for rate in np.asarray(rates, np.float64).ravel().tolist()]
    return np.array(counts, np.float64).reshape(np.shape(rates))
