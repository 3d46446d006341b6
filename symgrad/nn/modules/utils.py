"""Numbers for each axis, and the keys of states: small helpers that published modules take from torch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["consume_prefix_in_state_dict_if_present"]


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """A function that gives a number n times, and the entries of what has several."""

    def parse(x: Any) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) else (x,) * n

    parse.__name__ = name
    return parse


_single, _pair, _triple, _quadruple = (
    _ntuple(n, name) for n, name in enumerate(("_single", "_pair", "_triple", "_quadruple"), 1)
)


def _reverse_repeat_tuple(t: Any, n: int) -> tuple[Any, ...]:
    """Each entry n times, the last one first: the padding of axes as ``functional.pad`` takes it."""
    return tuple(x for x in reversed(t) for _ in range(n))


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Take a prefix from the keys of a state, in place: of a network that was wrapped in another module.

    >>> state = {"module.weight": 1, "bias": 2}
    >>> consume_prefix_in_state_dict_if_present(state, "module.")
    >>> state
    {'bias': 2, 'weight': 1}
    """
    for table in (state_dict, getattr(state_dict, "_metadata", {})):
        for key in list(table):
            if key.startswith(prefix) or (key and key == prefix.replace(".", "") and table is not state_dict):
                table[key[len(prefix) :]] = table.pop(key)
