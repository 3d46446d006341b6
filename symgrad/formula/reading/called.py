"""Which functions are meant by what formulas call them: the field ``called`` of their entries, read backwards."""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass, field

from symgrad.op import TABLE


@dataclass
class Called:
    r"""The names of functions, by what they are called.

    commands    ``\sin``, and letters that are no command (``W``)
    logarithms  what stands behind ``\log`` where both together are one function: ``\Gamma``
    letters     the upright letters of functions; an accent behind them means the derivative
    orders      those that are written with an order below
    operators   upright words that are no names of ops: ``arcsinh``
    inverses    words and commands whose power -1 is the inverse function: ``\operatorname{erf}``, ``\Phi``
    """

    commands: dict[str, str] = field(default_factory=dict)
    logarithms: dict[str, str] = field(default_factory=dict)
    letters: dict[str, str] = field(default_factory=dict)
    orders: dict[str, str] = field(default_factory=dict)
    operators: dict[str, str] = field(default_factory=dict)
    inverses: dict[str, str] = field(default_factory=dict)


def called() -> Called:
    """All that the table says now."""
    return _called(len(TABLE))


@functools.lru_cache(maxsize=1)
def _called(_: int) -> Called:
    found = Called()
    for op in TABLE.values():
        text = op.called or ""
        if text.endswith("^{-1}"):
            found.inverses[text.removesuffix("^{-1}")] = op.name
        elif text.startswith(r"\log "):
            found.logarithms[text.removeprefix(r"\log ")] = op.name
        elif text.startswith(r"\mathrm"):
            letters = text.removeprefix(r"\mathrm{").replace("}", "")
            known = found.orders if "n" in inspect.signature(op.kernel).parameters else found.letters
            known[letters] = op.name
        elif text.startswith(r"\operatorname"):
            found.operators[text.removeprefix(r"\operatorname{").replace("}", "")] = op.name
        elif text:
            found.commands[text] = op.name
    return found
