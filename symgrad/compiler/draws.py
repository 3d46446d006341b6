"""Random numbers that a function draws from sources that no tensor knows: NumPy's and Python's.

A program would hold those of one run for good.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from symgrad.tape.watching.surroundings import generators, mentions
from symgrad.tape.watching.watch import note_problem


@contextmanager
def draws_seen(function: Callable[..., Any]) -> Iterator[None]:
    """Inside, random numbers that ``function`` draws are noted as a problem; who seeds a source gets the same again."""
    before = _states(function)
    yield
    after = _states(function)
    moved = next((name for name, state in before.items() if after.get(name) != state), None)
    if moved is not None and not mentions(function, "seed"):
        note_problem(
            f"it draws random numbers of {moved}, and a program would hold those of this run; draw them outside and "
            "give them as an argument"
        )


def _states(function: Callable[..., Any]) -> dict[str, Any]:
    """The states of the sources within reach of a function, by how it calls them."""
    legacy = np.random.get_state(legacy=False)  # noqa: NPY002  (users draw from it)
    found: dict[str, Any] = {"np.random": _frozen(legacy), "the module random": random.getstate()}
    for k, source in enumerate(generators(function), 1):
        state: Any
        if isinstance(source, random.Random):
            state = source.getstate()
        elif isinstance(source, np.random.RandomState):
            state = source.get_state(legacy=False)
        else:
            state = source.bit_generator.state
        found[f"its {type(source).__name__}" + f" number {k}" * (k > 1)] = _frozen(state)
    return found


def _frozen(state: Any) -> Any:
    """A state for comparison: dicts of numbers and arrays."""
    if isinstance(state, dict):
        return {key: _frozen(value) for key, value in state.items()}
    return state.tobytes() if isinstance(state, np.ndarray) else state
