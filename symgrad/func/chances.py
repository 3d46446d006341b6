"""Whether random numbers may be drawn while ``vmap`` runs its examples, and whether all examples get the same.

Every draw is announced here (:data:`symgrad.ops.noise.ANNOUNCED`) with its generator.  Where all examples shall have
the same numbers, a generator is set back to where the first example found it before the next one starts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from symgrad.errors import AutogradError
from symgrad.ops.noise import ANNOUNCED
from symgrad.tape.threads import ThreadState, meanwhile

_REFUSED = {
    "error": "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
    "'different' randomness flags on vmap or perform the randomness operation out of vmap",
    "shared": "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same "
    "randomness. The function changes what all examples share: draw the numbers outside, one row for every example, "
    "and map over them.",
}
"""What is said of a draw where none may be: ``"shared"`` are runs on the batch itself, for what all examples share."""


class _Run:
    """One mapped call: what it allows, and the states in which generators were found."""

    def __init__(self, randomness: str):
        self.randomness = randomness
        self.found: dict[int, tuple[Any, Any]] = {}


class _Runs(ThreadState):
    open: tuple[_Run, ...] = ()


_RUNS = _Runs()


@contextmanager
def drawing(randomness: str) -> Iterator[Callable[[], None]]:
    """Inside, draws are as ``randomness`` says; what is given is called before every example."""
    run = _Run(randomness)

    def start() -> None:
        for source, state in run.found.values():
            _set_back(source, state)

    with meanwhile(_RUNS, open=(*_RUNS.open, run)):
        yield start


def _announced(source: Any) -> None:
    for run in _RUNS.open:
        if run.randomness in _REFUSED:
            raise AutogradError(_REFUSED[run.randomness])
        if run.randomness == "same" and id(source) not in run.found:
            run.found[id(source)] = source, _state(source)


def _state(source: Any) -> Any:
    return source.bit_generator.state if isinstance(source, np.random.Generator) else source.get_state()


def _set_back(source: Any, state: Any) -> None:
    if isinstance(source, np.random.Generator):
        source.bit_generator.state = state
    else:
        source.set_state(state)


ANNOUNCED.append(_announced)
