"""NumPy's classes that go through the entries of an array, for programs on arrays with a tensor inside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np

from symgrad.interop.functions import unsupported
from symgrad.interop.ndarray import Array


def entries(array: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    """``np.ndenumerate``: indices and entries, row by row."""
    return ((place, array[place]) for place in np.ndindex(*array.shape))


class Entries:
    """``np.nditer`` of one array: its entries row by row, which can be written into where it was asked for.

    Raises ``UnsupportedFunction`` for several arrays, and for orders and flags that this is not.
    """

    def __init__(self, op: Any, flags: Any = (), op_flags: Any = (), order: str = "K", **rest: Any):  # noqa: ARG002
        if not isinstance(op, Array) or rest or order not in ("K", "C") or set(flags) - {"multi_index", "c_index"}:
            raise unsupported("np.nditer of several arrays, or with these flags", " in this form")
        self._array = op
        self._places = list(np.ndindex(*op.shape))
        self.index = 0

    @property
    def finished(self) -> bool:
        """Whether all entries were visited."""
        return self.index >= len(self._places)

    @property
    def multi_index(self) -> tuple[int, ...]:
        """The indices of the current entry."""
        return self._places[self.index]

    @property
    def value(self) -> Any:
        """The current entry: an array without axes in the memory of the whole."""
        return self._array[(*self.multi_index, ...)]

    def iternext(self) -> bool:
        """Go on to the next entry; whether there is one."""
        self.index += 1
        return not self.finished

    def __getitem__(self, _: Any) -> Any:
        return self.value

    def __setitem__(self, _: Any, value: Any) -> None:
        self._array[self.multi_index] = value

    def __iter__(self) -> Iterator[Any]:
        while not self.finished:
            yield self.value
            self.index += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is buffered."""


def vectorized(function: Any, args: Any, kwargs: Any, stacked: Callable[[Any], Any]) -> Any:
    """What an ``np.vectorize`` gives: its function of the entries, one by one; ``stacked`` makes arrays of lists."""
    if function.signature is not None or function.excluded or kwargs:
        raise unsupported("np.vectorize with signature=, excluded= or keyword arguments", " in this form")
    grid = np.broadcast_shapes(*(np.shape(arg) for arg in args))
    rows = [np.broadcast_to(arg, grid) for arg in args]
    found = [function.pyfunc(*(row[place] for row in rows)) for place in np.ndindex(*grid)]
    if found and isinstance(found[0], tuple):
        return tuple(stacked(list(column)).reshape(grid) for column in zip(*found, strict=True))
    return stacked(found).reshape(grid)
