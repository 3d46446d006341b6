"""What the rules of an op read, and so what is kept for the backward pass: found in their bytecode."""

from __future__ import annotations

import dis
from collections.abc import Callable
from typing import Any

from symgrad.op.partials import negated, same, zeroed

FROM = -1000
"""Positions from here down stand for all inputs from one on; see :meth:`Op.needs`."""


class Keep:
    """Whether values that rules read under some conventions only are saved, too."""

    __slots__ = ("all",)

    def __init__(self) -> None:
        self.all = False


KEEP = Keep()


def read_arguments(rule: Callable[..., Any], skip: int) -> tuple[set[int], set[int]]:
    """Which of ``(out, *inputs)`` a rule reads, from its bytecode: (by value, by shape only).

    ``skip`` arguments (the index, the cotangent) stand before ``out``.  ``*inputs`` counts as all of them, marked -2,
    and after inputs with names of their own as the rest.
    """
    if rule is same or rule is negated or rule is zeroed:
        return set(), set()
    code = rule.__code__
    names = code.co_varnames[: code.co_argcount]
    reads = {
        ins.argval
        for ins in dis.get_instructions(code)
        if ins.opname.startswith(("LOAD_FAST", "LOAD_CLOSURE", "LOAD_DEREF"))
    }
    flat = {name for read in reads for name in (read if isinstance(read, tuple) else (read,))}
    saved: set[int] = set()
    shaped: set[int] = set()
    for position, name in enumerate(names[skip:], start=-1):
        if name in flat:
            (shaped if name.startswith("like") else saved).add(position)
    if code.co_flags & 0x04:
        star = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
        if star in flat:
            named = len(names) - skip - 1
            (shaped if star.startswith("like") else saved).add(FROM - named if named > 0 else -2)
    return saved, shaped
