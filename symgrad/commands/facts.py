"""What ``help`` says of a function beside its own words: its derivative, what it takes and refuses, torch's call.

All of it is read off the op's entry and torch's signatures when somebody asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from symgrad.errors import SymgradError
from symgrad.formula.derive import directional
from symgrad.formula.term import as_term, symbol
from symgrad.op import FRONTS, TABLE, Op
from symgrad.op.refusals import refusal
from symgrad.tape.signatures import ways

_KINDS = {
    "b": "truth values",
    "u": "unsigned integers",
    "i": "integers",
    "f": "floats",
    "c": "complex numbers",
    "h": "half precision",
}
_TAKEN = {
    "float": "Integers and truth values are taken as floats of the default dtype.",
    "number": "Truth values are taken as integers.",
}
_WIDTH = 100
"""A formula that takes more is for ``python -m symgrad op NAME``."""
_CALLS = 3
"""How many of torch's overloads are shown."""


def op_of(place: str) -> Op | None:
    """The entry of the function at a place (``tanh``, ``Tensor.tanh_``), where it is one op."""
    name = place.rpartition(".")[2]
    front = FRONTS.get(name.removesuffix("_"))
    op = TABLE.get(name) if front is None else front.call
    return op if isinstance(op, Op) and op.kind != "leaf" and not op.spelled else None


def facts(place: str, function: Callable[..., Any]) -> str:
    """The facts on the function that stands at ``place``, one sentence a line; empty where none is known.

    >>> import symgrad as sg
    >>> print(facts("Tensor.tanh", sg.Tensor.tanh))
    ∂/∂input = 1 − tanh²(input)
    Any shape, entry by entry.
    Integers and truth values are taken as floats of the default dtype.
    In torch: ``tanh()``.
    """
    op = op_of(place)
    found = [] if op is None or function.__doc__ is None or place.endswith("_") else [*_derivatives(op), *_taken(op)]
    return "\n".join([*found, *_in_torch(place)])


def _derivatives(op: Op) -> Iterator[str]:
    """The partial derivatives of an entrywise op, each as a formula of a line."""
    from symgrad.notation import formula

    if op.kind != "elementwise" or op.variadic or len(op.vjps) > 2:
        return
    operands = [symbol(name, (), np.dtype(float)) for name in ("input", "other")[: len(op.vjps)]]
    for i, operand in enumerate(operands):
        try:
            slope = directional(op(*operands), [operand], [as_term(1.0)]) if op.differentiable(i) else None
            text = "" if slope is None else formula(as_term(slope)).unicode()
        except (SymgradError, TypeError):  # it needs parameters, or has no formula
            continue
        if text and "\n" not in text and len(text) <= _WIDTH:
            yield f"∂/∂{operand.name} = {text}"


def _taken(op: Op) -> Iterator[str]:
    """The shapes and dtypes that an op takes, and the errors for those that it refuses."""
    if op.kind == "elementwise":
        several = op.variadic or len(op.vjps) > 1
        asks = op.result is not None and not op.variadic and op.result(*[np.dtype(float)] * len(op.vjps)).kind == "b"
        kind = "the result has truth values" if asks else "the dtype is their common one"
        yield f"Operands are broadcast; {kind}." if several else "Any shape, entry by entry."
    if op.dtypes in _TAKEN and not op.refuses.keys() & {"i", "b"}:
        yield _TAKEN[op.dtypes]
    refused: dict[str, list[str]] = {}
    for kind, words in op.refuses.items():
        if kind in _KINDS:
            refused.setdefault(type(refusal(op.name, words, np.dtype(float))).__name__, []).append(_KINDS[kind])
    for error, kinds in refused.items():
        yield f"Raises ``{error}`` for {' and '.join(filter(None, (', '.join(kinds[:-1]), kinds[-1])))}."


def _in_torch(place: str) -> list[str]:
    """How torch's function of that name is called."""
    space, _, name = place.rpartition(".")
    key = f"Tensor.{name}" if space == "Tensor" else f"{space}_{name}" if space else name
    known = ways(key)
    calls = [f"``{name}()``"] if known == () else [f"``{name}{way}``" for way in known or () if not way.hidden]
    return [f"In torch: {calls[0]}.", *(f"      or: {call}." for call in calls[1:_CALLS])] if calls else []
