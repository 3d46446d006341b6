"""How often torch's functions change their result in place before they give it away, which ``_version`` shows.

Where a graph is recorded those changes go unseen, but for one: the product of a vector and a matrix loses its axis in
place.  Of inference tensors, which know no graph, all are seen once inference mode has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

_ONCE = """
abs all amax amin any argsort cast clone complex deg2rad det logabsdet logical_and logical_not logical_or logical_xor
logsumexp prod rad2deg solve sum
"""
_OFTEN: dict[str, int | Callable[..., int]] = {
    "inv": 3,
    "matmul": lambda a, b: int(len(b) == 1),
    "mean": 2,
    "std": lambda shape, dim, **_: int(len(dim) == len(shape)),
    "var": lambda shape, dim, **_: int(len(dim) == len(shape)),
}
REWRITES: dict[str, int | Callable[..., int]] = {**dict.fromkeys(_ONCE.split(), 1), **_OFTEN}
"""By op: the number of changes of a result of inference tensors, or a function of the shapes that gives it."""


def rewrites(name: str, shapes: Sequence[Any], params: dict[str, Any]) -> int:
    """How often torch changes the result of that op of inference tensors of those shapes.

    >>> rewrites("mean", [(3,)], {}), rewrites("matmul", [(2, 3), (3,)], {})
    (2, 1)
    """
    known = REWRITES.get(name, 0)
    return known if isinstance(known, int) else known(*shapes, **params)


def rewritten(made: Any) -> Any:
    """A result that torch changed in place once more; arrays and formulas do not count."""
    if hasattr(made, "more"):
        made.more().counted += 1
    return made
