"""The numbers of nodes, in the order in which they are made; what else has a place in that order has one of them."""

from __future__ import annotations

import itertools
from collections import deque
from types import CodeType
from typing import NamedTuple

sequence = itertools.count(1)
"""Creation numbers; they order the graph, since a node is always younger than its arguments."""


class Pass(NamedTuple):
    """A backward pass that was recorded: the numbers between which it ran, and those of the graph that it went back."""

    start: int
    end: int
    oldest: int
    newest: int


passes: deque[Pass] = deque(maxlen=4096)
"""The passes that were recorded last."""


class Looked(NamedTuple):
    """A look at a value: its number, those of the operations that lead to the value, and the code that looked."""

    at: int
    below: frozenset[int]
    code: CodeType | None


looked: deque[Looked] = deque(maxlen=4096)
"""The values that were looked at last."""
