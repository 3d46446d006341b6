"""Random counts of Poisson's and of the binomial distribution, as torch's CPU generator gives them."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
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
    with one_by_one(source) as draw:
        counts = [poisson_count(rate, draw) for rate in np.asarray(rates, np.float64).ravel().tolist()]
    return np.array(counts, np.float64).reshape(np.shape(rates))


def binomial_count(trials: float, chance: float, draw: Callable[[], float]) -> float:
    """Successes: the waiting times between few of them are added up, of many Hörmann's transformed rejection (1993)."""
    if math.isnan(trials) or math.isnan(chance):
        return math.nan
    if trials <= 0 or chance <= 0:
        return 0.0
    if chance >= 1:
        return trials
    if chance > 0.5:
        return trials - binomial_count(trials, 1 - chance, draw)
    return _waited(trials, chance, draw) if trials * chance < 10 else _rejected(trials, chance, draw)


def _waited(trials: float, chance: float, draw: Callable[[], float]) -> float:
    passed, found, log_miss = 0.0, 0.0, math.log1p(-chance)
    while True:
        u = draw()
        passed += math.ceil(math.log(u) / log_miss) if u else math.inf
        if passed > trials:
            return found
        found += 1


def _rejected(n: float, p: float, draw: Callable[[], float]) -> float:
    deviation, odds, mode = math.sqrt(n * p * (1 - p)), p / (1 - p), math.floor((n + 1) * p)
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    edge, alpha = 0.92 - 4.2 / b, (2.83 + 5.1 / b) * deviation
    while True:
        u, v = draw() - 0.5, draw()
        away = 0.5 - abs(u)
        if away == 0 or v == 0:
            continue
        k = math.floor((2 * a / away + b) * u + n * p + 0.5)
        if k < 0 or k > n:
            continue
        if away >= 0.07 and v <= edge:
            return float(k)
        density = (mode + 0.5) * math.log((mode + 1) / (odds * (n - mode + 1)))
        density += (n + 1) * math.log((n - mode + 1) / (n - k + 1))
        density += (k + 0.5) * math.log(odds * (n - k + 1) / (k + 1))
        density += _tail(mode) + _tail(n - mode) - _tail(k) - _tail(n - k)
        if math.log(v * alpha / (a / (away * away) + b)) <= density:
            return float(k)


def _tail(k: float) -> float:
    """What Stirling's formula for log k! leaves over."""
    return math.lgamma(k + 1) - (math.log(2 * math.pi) / 2 + (k + 0.5) * math.log(k + 1) - (k + 1))


def binomial_counts(trials: Any, chances: Any, source: Any) -> Any:
    """Counts for arrays of numbers of trials and chances, with the numbers of a source of uniform ones."""
    pairs = zip(trials.ravel().tolist(), chances.ravel().tolist(), strict=True)
    with one_by_one(source) as draw:
        return np.array([binomial_count(n, p, draw) for n, p in pairs], np.float64).reshape(trials.shape)


def one_by_one(source: Any) -> AbstractContextManager[Callable[[], float]]:
    """What draws a uniform double at each call; of generators of others each is asked for by itself."""
    if hasattr(source, "one_by_one"):
        return source.one_by_one()  # type: ignore[no-any-return]
    return nullcontext(lambda: float(source.uniform((1,), np.dtype(np.float64))[0]))
