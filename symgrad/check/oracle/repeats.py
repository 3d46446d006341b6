"""Whether a function gives the same value twice, and why not: rounding in another order, random numbers, or memory."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.check.asking.arrays import as_array, epsilon
from symgrad.errors import ArgumentError

ROUNDING = 256
"""Units in the last place that a sum may differ by when it is taken in another order."""


def require_deterministic(value: Any, run: Callable[[], Any]) -> list[str]:
    """Refuse a function that gives another value when it is run again; a note where the two differ by rounding."""
    again = run()
    a, b = as_array(value), as_array(again)
    if np.array_equal(a, b, equal_nan=True):
        return []
    room = ROUNDING * epsilon(a.dtype) * np.max(np.abs(a), initial=0.0)
    if a.shape == b.shape and np.all((np.abs(a - b) <= room) | (np.isnan(a) & np.isnan(b))):
        return ["f gives values that differ in their last digits from call to call: another order of summation, likely"]
    raise ArgumentError(
        f"f is not deterministic: it gave {value} and then {again} for the same arguments. {_reason(run)}"
    )


def _reason(run: Callable[[], Any]) -> str:
    numpy_before, python_before = np.random.get_state(legacy=False), random.getstate()  # noqa: NPY002  (f uses it)
    run()
    numpy_after = np.random.get_state(legacy=False)  # noqa: NPY002
    if str(numpy_before) != str(numpy_after):
        return "It draws from np.random. Fix its random seed inside f: rng = np.random.default_rng(0)."
    if python_before != random.getstate():
        return "It draws from random. Fix its random seed inside f: random.seed(0)."
    return (
        "It keeps something between calls (a counter, a running mean, a generator of random numbers). Fix its random "
        "seed inside f, and make what it keeps an argument."
    )
