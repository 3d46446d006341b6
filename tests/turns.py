"""Which samples of an op to look at, where one shape of its operands shows as much as another."""

from __future__ import annotations

from symgrad.op import TABLE
from symgrad.proving.samples import ops, samples

PLACES = {op.name: place for place, op in enumerate(ops())}


def in_turn(name: str, place: int = 0) -> list[int]:
    """The samples of an op: of one that acts entry by entry the first, and one of the others, which take turns.

    What stretching does is the same for all of these ops.  ``place`` moves the turn on.
    """
    count = len(samples(TABLE[name]))
    if TABLE[name].kind != "elementwise" or count < 3:
        return list(range(count))
    return [0, 1 + (PLACES[name] + place) % (count - 1)]
