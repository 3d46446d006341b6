"""The primitives of JAX that repeat or choose at run time: ``scan``, ``while`` and ``cond``, run as loops of Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.foreign.steps import ImportedFunction

Run = Callable[..., Any]
Read = Callable[[Any], ImportedFunction]
"""What makes a function of a closed jaxpr."""


def scanned(eqn: Any, read: Read) -> Run:
    """``scan``: the carry goes from entry to entry of the other arguments, and what every round gives is stacked."""
    params = eqn.params
    body, length = read(params["jaxpr"]), params["length"]
    fixed, carried = params["num_consts"], params["num_carry"]
    stacked = [var.aval for var in eqn.outvars[carried:]]

    def run(*values: Any) -> Any:
        consts, carry, arrays = values[:fixed], values[fixed : fixed + carried], values[fixed + carried :]
        rows = [_rows(array, length) for array in arrays]
        made: list[Any] = [None] * length
        for t in reversed(range(length)) if params["reverse"] else range(length):
            found = _several(body, (*consts, *carry, *(row[t] for row in rows)))
            carry, made[t] = found[:carried], found[carried:]
        columns = [_column([row[k] for row in made], aval) for k, aval in enumerate(stacked)]
        return _as_results((*carry, *columns))

    return run


def repeated(eqn: Any, read: Read) -> Run:
    """``while``: the rounds that the condition asks for at these values."""
    params = eqn.params
    goes_on, body = read(params["cond_jaxpr"]), read(params["body_jaxpr"])
    first, second = params["cond_nconsts"], params["body_nconsts"]

    def run(*values: Any) -> Any:
        asked, used, state = values[:first], values[first : first + second], values[first + second :]
        while bool(goes_on(*asked, *state)):
            state = _several(body, (*used, *state))
        return _as_results(state)

    return run


def chosen(eqn: Any, read: Read) -> Run:
    """``cond`` and ``switch``: the branch of this value; a number beyond the last one means the last one."""
    branches = [read(branch) for branch in eqn.params["branches"]]

    def run(which: Any, *values: Any) -> Any:
        return _as_results(_several(branches[min(max(int(which), 0), len(branches) - 1)], values))

    return run


LOOPS: dict[str, Callable[[Any, Read], Run]] = {"scan": scanned, "while": repeated, "cond": chosen}


def _several(program: ImportedFunction, values: tuple[Any, ...]) -> tuple[Any, ...]:
    found = program(*values)
    return found if program.several else (found,)


def _as_results(found: tuple[Any, ...]) -> Any:
    """As a step gives them: several as a tuple, one as it is."""
    return found if len(found) != 1 else found[0]


def _rows(array: Any, length: int) -> Any:
    """The entries along the first axis; those of a tensor at once, whose gradients are one stack."""
    return sg.unbind(array) if length and isinstance(array, sg.Tensor) else array


def _column(rows: list[Any], aval: Any) -> Any:
    if not rows:
        return np.zeros(aval.shape, aval.dtype)
    tensors = any(isinstance(row, sg.Tensor) for row in rows)
    return sg.stack([sg.as_tensor(row) for row in rows]) if tensors else np.stack(rows)
