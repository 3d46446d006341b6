"""The numbers of nodes, in the order in which they are made; what else has a place in that order has one of them."""

from __future__ import annotations

import itertools
from collections import deque
from typing import Any, NamedTuple

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


looked: deque[Any] = deque(maxlen=256)
"""The looks at values that were made last, in whatever thread (``tape.watching.looks.Look``)."""
