"""The distinct entries of a tensor, by the names of the array API standard."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from symgrad.tensor.creation import tensor


class UniqueAll(NamedTuple):
    """Distinct entries, where each is first, where each entry is among them, and how often each is there."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    """Distinct entries, and how often each is there."""

    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    """Distinct entries, and where each entry is among them."""

    values: Any
    inverse_indices: Any


def unique_all(x: Any, /) -> UniqueAll:
    """All that is asked of distinct entries; entries that are nan are all distinct."""
    _, first, inverse, counts = np.unique(
        x.detach().numpy(), return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    places = tensor(first)
    return UniqueAll(x.reshape(-1)[places], places, tensor(inverse.reshape(x.shape)), tensor(counts))


def unique_counts(x: Any, /) -> UniqueCounts:
    """Distinct entries and their numbers."""
    found = unique_all(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Any, /) -> UniqueInverse:
    """Distinct entries, and where each entry is among them."""
    found = unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: Any, /) -> Any:
    """Distinct entries, in order."""
    return unique_all(x).values
