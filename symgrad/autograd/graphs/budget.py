"""A budget for what nodes save for backward: memory up to a number of bytes, files for the rest."""

from __future__ import annotations

import math
import os
import re
import threading
from collections import deque
from typing import Any

import numpy as np

from symgrad.autograd.graphs.saving import Kept, kept_number, save_on_disk
from symgrad.errors import ArgumentError

_UNITS = {"": 1, "B": 1} | {
    f"{letter}{kind}": base**power
    for power, letter in enumerate("KMGT", 1)
    for kind, base in (("B", 1000), ("iB", 1024))
}


class _Counted(Kept):
    """A value that stays in memory; it tells its budget when the last node that saved it goes."""

    __slots__ = ("block", "freed")

    def __init__(self, value: Any, block: int, freed: deque[int]):
        super().__init__(value)
        self.block, self.freed = block, freed

    def __del__(self) -> None:
        self.freed.append(self.block)  # in one step: the garbage collector may come at any time, in any thread


class memory_budget(save_on_disk):  # noqa: N801  (stands beside torch's names)
    """Keep at most ``limit`` bytes of what nodes save for backward in memory, and the rest in files.

    ``limit`` is a number of bytes or a text: "500MB" (millions), "2GiB" (powers of 1024).  Blocks of memory count once,
    however many nodes save them or views of them; leaves that require grad, which the graph holds anyway, and values
    without axes count nothing.  What was freed can be used again.  ``directory`` (default: a temporary one) takes the
    files, as with ``save_on_disk``; gradients are the same to the last bit.  To compute values again instead of storing
    them, there is ``symgrad.utils.checkpoint.checkpoint``.

    Raises ``ArgumentError`` for other limits; backward raises ``AutogradError`` where a value in memory was changed in
    place since it was saved.

    >>> import symgrad as sg
    >>> x = sg.ones(1000, requires_grad=True)
    >>> with sg.autograd.graph.memory_budget("6kB") as budget:
    ...     y = x.exp().sin().cos().sum()
    >>> budget.in_memory
    4000
    >>> y.backward()
    >>> x.grad[:2]
    tensor([0.9897, 0.9897])
    """

    def __init__(self, limit: int | str, directory: str | os.PathLike[str] | None = None):
        super().__init__(directory)
        self.limit = _bytes(limit)
        self._spill, self.pack_hook = self.pack_hook, self._pack
        self._blocks: dict[int, list[int]] = {}  # id of a block: how many hold it, its bytes
        self._freed: deque[int] = deque()
        self._used = 0
        self._lock = threading.Lock()

    @property
    def in_memory(self) -> int:
        """Bytes of saved values that are in memory now."""
        with self._lock:
            self._settle()
            return self._used

    def _settle(self) -> None:
        """Take off what has gone.  Before an id is looked up: a new block may have that of one that went."""
        while self._freed:
            block = self._freed.popleft()
            entry = self._blocks[block]
            entry[0] -= 1
            if not entry[0]:
                del self._blocks[block]
                self._used -= entry[1]

    def _pack(self, tensor: Any) -> Any:
        value = tensor._value
        if not value.ndim:
            return kept_number(tensor)
        block: Any = value
        while isinstance(block.base, np.ndarray):
            block = block.base
        with self._lock:
            self._settle()
            entry = self._blocks.get(id(block))
            size = 0 if tensor.is_leaf and tensor.requires_grad else block.nbytes
            if entry is None and self._used + size <= self.limit:
                entry = self._blocks[id(block)] = [0, size]
                self._used += size
            if entry is not None:
                entry[0] += 1
                return _Counted(value, id(block), self._freed)
        return self._spill(tensor)


def _bytes(limit: Any) -> int:
    """A number of bytes, from a number or a text."""
    if isinstance(limit, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGTkmgt]?i?B?)\s*", limit)
        unit = found and found[2][:1].upper() + found[2][1:]
        if found and unit in _UNITS:
            return int(float(found[1]) * _UNITS[unit])
    elif isinstance(limit, (int, float, np.integer)) and not isinstance(limit, bool) and 0 <= limit < math.inf:
        return int(limit)
    raise ArgumentError(f"memory_budget({limit!r}): a number of bytes or a text such as '500MB' or '2GiB' is wanted.")
