"""Random operands: arrays of a domain, with sizes by letter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.op import Length

# Sizes stay clear of the small numbers that stand in parameters: letters are read from recorded sizes by value.
SIZES = {"n": 5, "m": 8, "p": 6, "q": 4}


FRESH = {"n": 6, "m": 5, "p": 4, "q": 3}


_RANGES = {
    "positive": (0.3, 3),
    "unit": (-0.8, 0.8),
    "above-one": (1.3, 4),
    "probability": (0.1, 0.9),
    "above-branch": (-0.33, -0.05),  # of Lambert's W, from -1/e to 0
}
"""Domains of evenly spread numbers."""


class Maker:
    """Random arrays from domains, with axes given as letters or numbers."""

    def __init__(self, sizes: dict[str, int], seed: int, dtype: Any = np.float64):
        self.sizes = sizes
        self.rng = np.random.default_rng(seed)
        self.dtype = np.dtype(dtype)
        self.calls = 0

    def at(self, **sizes: int) -> Maker:
        """A maker of operands of the same dtype with other numbers behind some letters."""
        return Maker({**self.sizes, **sizes}, 5, self.dtype)

    def size(self, letter: Any) -> int:
        """The number behind a letter, which is a size."""
        return Length(self.sizes[letter]) if letter in self.sizes else int(letter)

    def shape(self, *letters: Any) -> tuple[int, ...]:
        """The numbers behind several letters."""
        return tuple(map(self.size, letters))

    def __call__(self, domain: str, *letters: Any) -> Any:
        """An array from ``domain`` with axes ``letters``; 0-d values are NumPy scalars."""
        shape = self.shape(*letters)
        if domain == "bool":
            return (self.rng.random(shape) < 0.5) if shape else np.bool_(True)
        if domain == "integer":
            return self.rng.integers(0, 9, shape)
        if domain == "place":
            return self.rng.integers(-2, 3, shape)
        if domain.startswith("index:"):
            return self.rng.integers(0, self.size(domain[6:]), shape)
        value = np.asarray(self._real(domain, shape))
        if self.dtype.kind == "c":
            imaginary = self.rng.uniform(-0.5, 0.5, shape)
            if domain in ("positive-definite", "symmetric"):
                part = imaginary - np.swapaxes(imaginary, -1, -2)
                imaginary = part / 2
            value = value + 1j * imaginary
        return value.astype(self.dtype)[()]

    def _real(self, domain: str, shape: tuple[int, ...]) -> Any:
        uniform = self.rng.uniform
        if domain in _RANGES:
            return uniform(*_RANGES[domain], shape)
        if domain == "real":
            # One value in each of as many strata as there are entries: no two entries are near a tie.
            count = math.prod(shape)
            self.calls += 1
            strata = self.rng.permutation(count) + self.calls * 0.618 % 1 + uniform(-0.05, 0.05, count)
            return (4 * strata / max(count, 1) - 2).reshape(shape)
        if domain in ("nonzero", "off-zero"):
            return uniform(0.3, 3, shape) * np.where(self.rng.random(shape) < 0.5, -1, 1)
        if domain == "off-integer":
            return self.rng.integers(-3, 3, shape) + uniform(0.1, 0.4, shape) + 0.5 * self.rng.integers(0, 2, shape)
        if domain == "above":
            return uniform(-2.5, 2.5, shape) + 5
        if domain == "in-binade":
            return uniform(0.55, 0.95, shape) * 2.0 ** self.rng.integers(-2, 3, shape)
        if domain == "symmetric":
            a = uniform(-1, 1, shape)
            return (a + np.swapaxes(a, -1, -2)) / 2 + np.diag(2.0 * np.arange(shape[-1]))
        if domain == "distinct":
            return uniform(-0.4, 0.4, shape) + np.diag(3.0 * np.arange(1, shape[-1] + 1))
        if domain in ("matrix", "square", "tall"):
            return uniform(-1, 1, shape) + np.eye(shape[-2], shape[-1]) * (1 + np.arange(shape[-1]))
        if domain in ("invertible", "positive-definite"):
            a = uniform(-1, 1, shape)
            if domain == "invertible":
                return a + 2 * np.eye(shape[-1])
            return a @ np.swapaxes(a, -1, -2) + np.eye(shape[-1])
        raise AssertionError(f"no sampler for the domain {domain!r}")
