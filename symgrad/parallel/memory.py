"""Arrays in memory that several processes have: written once, and sent as the place where they lie.

A *place* is a block's name with what NumPy needs to see an array in it.  Blocks are the standard library's
``SharedMemory``; the process that made one removes it, and the others only look.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Iterable, Sequence
from contextlib import suppress
from multiprocessing.shared_memory import SharedMemory
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.array_utils import byte_bounds

from symgrad.errors import ArgumentError
from symgrad.tape import containers
from symgrad.tape.record import Recorded, plain, value_of
from symgrad.tape.watching.following import is_followed
from symgrad.tensor import Tensor

_ALIGNED = 64
"""Arrays begin at multiples of this many bytes, a line of the cache."""


class Place(NamedTuple):
    """Where an array lies."""

    block: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]


class _Memory(SharedMemory):
    """A block that arrays may outlive: its pages go with the last of them."""

    def __del__(self) -> None:
        with suppress(OSError, BufferError):
            self.close()


_retired: list[_Memory] = []
"""Blocks that are removed, while arrays of this process were still in them."""


def _close(memory: _Memory) -> None:
    _retired.append(memory)
    kept = []
    for old in _retired:
        try:
            old.close()
        except BufferError:
            kept.append(old)
    _retired[:] = kept


def _made(size: int) -> _Memory:
    """A new block; ``MemoryError`` where there is no room, as using it would end the process."""
    where = "/dev/shm"
    if os.path.isdir(where):
        room = os.statvfs(where)
        left = room.f_bavail * room.f_frsize
        if size > left:
            raise MemoryError(
                f"parallel: {size:,} bytes of shared memory are needed, and {where} has {left:,} left; give it more "
                "(docker run --shm-size=...), or use fewer workers or smaller arrays."
            )
    return _Memory(create=True, size=max(size, 1))


# ---------------------------------------------------------------------------------------------- arrays of users


_blocks: dict[str, tuple[int, int, _Memory]] = {}
"""By name: the blocks of :func:`share`, with their address and size."""


def share(tree: Any) -> Any:
    """The same arrays and tensors in memory that worker processes see, so that no call sends or copies them.

    ``tree`` is an array, a tensor, or nested tuples, lists, dicts and dataclasses of them; other leaves stay as they
    are, and what is shared already is given back.  Changes of the arrays in place, and slices of them along the first
    axis (minibatches), are seen without a copy, too.  The memory is freed with the last array that lies in it.

    Raises ``ArgumentError`` for arrays of Python objects and for tensors that somebody differentiates by, and
    ``MemoryError`` where the machine has no room.

    >>> import symgrad as sg, numpy as np
    >>> X = sg.parallel.share(np.ones((3, 2)))
    >>> type(X), X.sum()
    (<class 'numpy.ndarray'>, np.float64(6.0))
    """
    return containers.tree_map(_shared, tree)


def _shared(leaf: Any) -> Any:
    if not isinstance(leaf, (np.ndarray, Recorded)):
        return leaf
    if is_followed([leaf]):
        raise ArgumentError("share() copies values, and the gradient would be lost: detach() the tensor first.")
    value = np.asarray(value_of(leaf))
    if value.dtype.hasobject:
        raise ArgumentError(f"share() takes arrays of numbers, not of {value.dtype}.")
    if place_of(value) is not None:
        return leaf
    memory = _made(value.nbytes)
    strides = np.empty_like(value, order="K").strides
    array: Any = np.ndarray(value.shape, value.dtype, memory.buf, 0, strides)
    array[...] = value
    _blocks[memory.name] = (_address(array), memory.size, memory)
    weakref.finalize(array, _forget, memory.name, os.getpid())
    return plain(Tensor, array) if isinstance(leaf, Recorded) else array


def _forget(name: str, owner: int) -> None:
    if os.getpid() != owner:
        return  # a forked process: the block is its parent's
    *_, memory = _blocks.pop(name)
    memory.unlink()
    _close(memory)


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def place_of(array: Any) -> Place | None:
    """Where an array lies, if :func:`share` made its memory and it has no gaps."""
    if not _blocks or not array.size or not (array.flags.c_contiguous or array.flags.f_contiguous):
        return None
    low, high = byte_bounds(array)
    for name, (start, size, _) in _blocks.items():
        if start <= low and high <= start + size:
            return Place(name, _address(array) - start, array.shape, array.strides, array.dtype)
    return None


# ---------------------------------------------------------------------------------------------- one call's arrays


class Arena:
    """A block that every call writes its arrays into anew, and its workers their results."""

    def __init__(self) -> None:
        self._memory: _Memory | None = None
        self._end = 0
        self._owner = os.getpid()

    def begin(self, sizes: Iterable[int]) -> None:
        """Make room for arrays of so many bytes; all places of the call before are void."""
        wanted = sum(-(-size // _ALIGNED) * _ALIGNED for size in sizes)
        if self._memory is None or self._memory.size < wanted:
            self.close()
            self._memory = _made(wanted)
        self._end = 0

    def put(self, array: Any) -> Place:
        """Write an array."""
        place = self.room(array.shape, array.dtype, array.strides)
        view(place, self._memory)[...] = array
        return place

    def room(self, shape: tuple[int, ...], dtype: Any, strides: tuple[int, ...] | None = None) -> Place:
        """A place for an array that is not known yet."""
        assert self._memory is not None
        dtype = np.dtype(dtype)
        if strides is None:
            strides = tuple(int(np.prod(shape[k + 1 :], dtype=int)) * dtype.itemsize for k in range(len(shape)))
        start = self._end
        self._end += -(-int(np.prod(shape, dtype=int)) * dtype.itemsize // _ALIGNED) * _ALIGNED
        return Place(self._memory.name, start, shape, strides, dtype)

    def read(self, place: Place) -> Any:
        """The array at a place, until the next call."""
        return view(place, self._memory)

    def close(self) -> None:
        """Free the memory."""
        if self._memory is not None:
            if self._owner == os.getpid():  # else it is the parent's, from which this process was forked
                self._memory.unlink()
            _close(self._memory)
            self._memory = None


def view(place: Place, memory: Any) -> Any:
    """The array at a place of a block."""
    return np.ndarray(place.shape, place.dtype, memory.buf, place.offset, place.strides)


def compact(array: Any) -> Any:
    """An array without gaps, in the order of its own axes: what calls compute with does not depend on who computes."""
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return array
    return np.array(array, order="K")


# ---------------------------------------------------------------------------------------------- workers


class Window:
    """The blocks that a worker looks at; those that a task does not need any more are closed."""

    def __init__(self) -> None:
        self._open: dict[str, _Memory] = {}

    def look(self, places: Sequence[Place]) -> list[Any]:
        """The arrays at some places."""
        for name in {place.block for place in places} - set(self._open):
            self._open[name] = _opened(name)
        return [view(place, self._open[place.block]) for place in places]

    def close_all_but(self, names: set[str]) -> None:
        """Close the blocks of other names, which their owner has removed or will."""
        for name in [name for name in self._open if name not in names]:
            _close(self._open.pop(name))


def _opened(name: str) -> _Memory:
    # Before Python 3.13 a block is registered by whoever opens it; the tracker is the parent's and counts names once.
    options: dict[str, Any] = {"track": False} if sys.version_info >= (3, 13) else {}
    return _Memory(name=name, **options)
