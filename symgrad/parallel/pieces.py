"""How a batch is cut, and how the results of its chunks are added: by the number of chunks, never by that of workers.

Chunks are added in pairs, pairs in pairs, and so on; an odd one waits for the next round.  A run of 2ᵏ chunks that
begins at a multiple of 2ᵏ is a branch of this tree, so a worker may add it up alone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

Sums = list[Any]


def bounds(count: int, chunks: int) -> list[tuple[int, int]]:
    """First and last of each chunk, whose sizes differ by one at most.

    >>> bounds(7, 3)
    [(0, 3), (3, 5), (5, 7)]
    """
    small, more = divmod(count, chunks)
    ends = [k * small + min(k, more) for k in range(chunks + 1)]
    return list(itertools.pairwise(ends))


def branches(chunks: int, workers: int) -> list[tuple[int, int]]:
    """Runs of chunks that are branches of the tree, in the largest pieces that keep all workers busy.

    >>> branches(8, 2), branches(6, 4)
    ([(0, 4), (4, 8)], [(0, 2), (2, 4), (4, 6)])
    """

    def time(width: int) -> int:
        return math.ceil(math.ceil(chunks / width) / workers) * width

    widths = [1 << k for k in range(chunks.bit_length() + 1)]
    best = min(map(time, widths))
    width = max(w for w in widths if time(w) == best)
    return [(start, min(start + width, chunks)) for start in range(0, chunks, width)]


def tree_sum(parts: Iterable[Sums]) -> Sums:
    """The sum of lists of arrays by pairs; the arrays are used up.

    >>> tree_sum([np.array(x)] for x in (1.0, 2.0, 3.0))
    [array(6.)]
    """
    waiting: list[tuple[int, Sums]] = []  # with the number of rounds that each has behind it
    for part in parts:
        waiting.append((0, part))
        while len(waiting) > 1 and waiting[-1][0] == waiting[-2][0]:
            (rounds, right), (_, left) = waiting.pop(), waiting.pop()
            waiting.append((rounds + 1, _added(left, right)))
    _, total = waiting.pop()
    while waiting:
        total = _added(waiting.pop()[1], total)
    return total


def _added(left: Sums, right: Sums) -> Sums:
    return [np.add(a, b, out=a) for a, b in zip(left, right, strict=True)]
