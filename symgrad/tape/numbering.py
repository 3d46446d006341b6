"""The numbers of nodes, in the order in which they are made; what else has a place in that order has one of them."""

from __future__ import annotations

import itertools

sequence = itertools.count(1)
"""Creation numbers; they order the graph, since a node is always younger than its arguments."""
