"""What the record of formulas costs who never asks for one.

A node of the tape is all that a formula needs, and a gradient needs it, too.  Formulas alone need what stands for a
constant in a node, and the note on a gradient of which pass it came from.  The same work is measured with these and
without.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from symgrad.autograd import grad
from symgrad.autograd.sweeps import entrances, leaves
from symgrad.proving.benches.clock import Run, interleaved
from symgrad.tape.formulas.origin import attach
from symgrad.tape.record import Recorded
from symgrad.tensor.creation import tensor


class Row(NamedTuple):
    """Times in seconds of one piece of work, with the record of formulas and without."""

    work: str
    recorded: float
    bare: float

    @property
    def slowdown(self) -> float:
        """The share of time that the record takes."""
        return self.recorded / self.bare - 1


def rows(operations: int, seconds: float) -> Iterator[Row]:
    """The measurements: chains of ``operations`` on arrays of three sizes, and a step of training."""
    for shape in ((), (3,), (1000,)):
        yield _row(f"{operations} operations on {shape}".replace(",)", ")"), _chain(shape, operations), seconds)
    yield _row("training step, a new batch of 32 x 64", _training(32, 64), seconds)
    yield _row("training step, a new batch of 256 x 256", _training(256, 256), seconds)


def _row(work: str, run: Run, seconds: float) -> Row:
    def bare() -> None:
        with _without_formulas():
            run()

    # Entering the context costs as much as a few operations, which would be taken for a gain.
    def recorded() -> None:
        with _nothing_changed():
            run()

    return Row(work, *interleaved([recorded, bare], seconds, clock=time.process_time))


def _chain(shape: tuple[int, ...], operations: int) -> Run:
    """y <- tanh(y a + b), over and over, and the gradient by all three."""
    given: list[Any] = [tensor(np.full(shape, v), requires_grad=True) for v in (0.5, 1.3, 0.1)]

    def run() -> Any:
        y, a, b = given
        for _ in range(max(1, operations // 3)):
            y = np.tanh(y * a + b)
        return grad(y.sum() if shape else y, given)

    return run


def _training(rows: int, width: int) -> Run:
    """Two layers and a squared error, on a batch that no graph has seen."""
    rng = np.random.default_rng(0)
    weights: list[Any] = [tensor(rng.normal(size=(width, width)) / width**0.5, requires_grad=True) for _ in range(2)]
    batch = rng.normal(size=(rows, width))

    def run() -> None:
        x: Any = tensor(batch)
        loss = ((np.tanh(x @ weights[0]) @ weights[1] - x) ** 2).mean()
        loss.backward()
        for w in weights:
            w.grad = None

    return run


@contextlib.contextmanager
def _patched(attach: Callable[..., Any], source: Callable[..., Any]) -> Iterator[None]:
    with (
        mock.patch.object(leaves, "attach", attach),
        mock.patch.object(entrances, "attach", attach),
        mock.patch.object(Recorded, "source", source),
    ):
        yield


def _without_formulas() -> contextlib.AbstractContextManager[None]:
    """While it is entered no node knows its constants and no gradient its pass."""
    return _patched(lambda made, _origin, _target: made, lambda _self, _saved=None: _CONSTANT)


def _nothing_changed() -> contextlib.AbstractContextManager[None]:
    return _patched(attach, _SOURCE)


_SOURCE = Recorded.source
_CONSTANT = tensor(0.0).source()
"""What stands in nodes for every constant, where none is told from another."""
