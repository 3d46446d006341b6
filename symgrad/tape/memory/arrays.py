"""NumPy's arrays in graphs: NumPy tells nobody when it writes to one, and backward needs what was there.

Of small arrays a graph keeps a copy, one for all uses between two changes.  Of large ones it keeps the array, and a
mark by which a change is found at the next use or before backward, which then raises torch's error.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from symgrad.tape.graph import Node
from symgrad.tape.memory.versions import note_change

LARGEST = 65536
"""Bytes up to which an array is copied."""

_COLUMNS = 1021
"""Columns that the words of a large array are added in: a prime, so that those of a matrix's columns are not added."""

_copies: weakref.WeakValueDictionary[Any, Any] = weakref.WeakValueDictionary()
"""The copies that graphs have, by the memory of the array and how it is read."""


class Marked(NamedTuple):
    """A large array that graphs have, and its mark."""

    array: weakref.ref[Any]
    mark: int


_marked: dict[int, Marked] = {}
"""By the identity of the array."""


def as_it_is(array: Any, read: bool) -> Any:
    """What a graph keeps of an array that a user gave an op: a copy, or the array where that is large.

    ``read``: backward may read its values; only then is a large one marked.
    """
    if array.nbytes <= LARGEST:
        key = (id(array) if array.base is None else array.__array_interface__["data"][0], array.shape, array.strides)
        copy = _copies.get(key)
        if copy is None or copy.dtype is not array.dtype or copy.tobytes() != array.tobytes():
            copy = _copies[key] = array.copy(order="K")
        return copy
    if read:
        _look(array)
    return array


def find_changes(nodes: Sequence[Node]) -> None:
    """Note which of the large arrays that these nodes saved have changed since."""
    if _marked:
        saved = {id(value): value for node in nodes for value in node.saved or ()}
        for key in _marked.keys() & saved.keys():
            if _marked[key].array() is saved[key]:
                _look(saved[key])


def _look(array: Any) -> None:
    """Mark a large array; if it has changed, what was made of it before is told."""
    key, mark = id(array), _mark(array)
    known = _marked.get(key)
    if known is not None and known.array() is array:
        if known.mark == mark:
            return
        note_change(array, seen=False)

    def forget(_: object, forgotten: Any = _marked.pop) -> None:
        forgotten(key, None)

    _marked[key] = Marked(weakref.ref(array, forget), mark)


def look_of(array: Any) -> Any:
    """What tells whether an array was changed meanwhile: its bytes, or the mark of a large one."""
    return array.tobytes() if array.nbytes <= LARGEST or array.dtype.hasobject else _mark(array)


def _mark(array: Any) -> int:
    """A number that a change of an array hardly leaves as it is, at the price of reading it once."""
    array = array[tuple(slice(None if stride else 1) for stride in array.strides)]  # entries that are repeated, once
    flat = np.ascontiguousarray(array if array.flags.c_contiguous else array.T).reshape(-1).view(np.uint8)
    words = flat[: flat.size // 8 * 8].view(np.uint64)
    rows = (words.size // _COLUMNS - 1) | 1  # an odd number: one change in all rows does not add up to nothing
    sums = np.add.reduce(words[: rows * _COLUMNS].reshape(rows, _COLUMNS), axis=0)
    return hash((sums.tobytes(), words[rows * _COLUMNS :].tobytes(), flat[words.size * 8 :].tobytes()))
