"""Graphs that break what recurses or copies: deep chains, formulas that double at every step, values used very often.

Each is recorded, pulled back, read as a formula, printed, compiled, pickled and freed, with Python's own limit of
recursion.
"""

from __future__ import annotations

import gc
import math
import pickle
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from symgrad.compiler import compile as compiled
from symgrad.dtypes import float64
from symgrad.errors import LawBroken
from symgrad.formula.term import count, evaluate
from symgrad.notation import latex
from symgrad.op import lookup
from symgrad.tensor.creation import tensor

DEPTH, SWELL, FAN = 1_000_000, 10_000, 100_000
SHOWN = 40
"""Lines of a where-list that are printed of a large formula."""
PART = 20
"""The formula of a deep chain is asked for at a part of its depth: recording and backward are what a loop does."""


class Step(NamedTuple):
    """One thing that was done to a graph: seconds, and megabytes that the process has had at most."""

    graph: str
    size: int
    name: str
    seconds: float
    megabytes: float


def torture(depth: int = DEPTH, swell: int = SWELL, fan: int = FAN) -> Iterator[Step]:
    """Do everything to the three graphs, step by step; ``LawBroken`` where a number is wrong."""
    yield from _run("depth", depth, _chain, everything=False)
    yield from _run("depth", max(depth // PART, 1), _chain)
    yield from _run("swell", swell, _swelling)
    yield from _run("fan", fan, _fanned)


Made = tuple[Any, Any, float]


def _run(name: str, size: int, make: Callable[[int], Made], everything: bool = True) -> Iterator[Step]:
    if not size:
        return
    kept: dict[str, Any] = {}

    def record() -> None:
        kept["leaf"], kept["out"], kept["slope"] = make(size)

    def backward() -> None:
        kept["out"].backward(retain_graph=everything)
        _right(name, kept["leaf"].grad.item(), kept["slope"])

    def formula() -> None:
        kept["terms"] = kept["out"].term, kept["leaf"].grad.term
        _small(name, count(kept["terms"][1]), count(kept["terms"][0]))

    def evaluated() -> None:
        _right(name, float(evaluate(kept["terms"][1], {"x": kept["leaf"]._value})), kept["slope"])

    def program() -> None:
        _right(name, float(compiled(kept["leaf"].grad, ["x"])(kept["leaf"]._value)), kept["slope"])

    def pickled() -> None:
        _right(name, pickle.loads(pickle.dumps(kept["leaf"].grad)).item(), kept["slope"])

    def freed() -> None:
        kept.clear()
        gc.collect()

    steps: list[tuple[str, Callable[[], Any]]] = [("record", record), ("backward", backward)]
    if everything:
        steps += [
            ("formula", formula),
            ("repr", lambda: [repr(kept["out"]), repr(kept["terms"]), str(kept["leaf"].grad)]),
            ("latex", lambda: latex(kept["leaf"].grad, where=True, lines=SHOWN)),
            ("evaluate", evaluated),
            ("compile", program),
            ("pickle", pickled),
        ]
    steps.append(("del", freed))
    for what, do in steps:
        began = time.perf_counter()
        do()
        yield Step(name, size, what, time.perf_counter() - began, _megabytes())


def _right(name: str, got: float, want: float) -> None:
    if not math.isclose(got, want, rel_tol=1e-8):
        raise LawBroken(f"{name}: the derivative is {got}, and by hand {want}")


def _small(name: str, slope: int, value: int) -> None:
    if slope > 5 * value + 20:
        raise LawBroken(f"{name}: the derivative has {slope} nodes, the function {value}")


def _megabytes() -> float:
    try:
        import resource
    except ImportError:  # Windows does not say
        return 0.0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def _chain(depth: int) -> Made:
    """sin of sin of …: a chain in which nothing is shared."""
    x = out = tensor(0.7, requires_grad=True, dtype=float64, name="x")
    sin = lookup("sin")
    value, slope = 0.7, 1.0
    for _ in range(depth):
        out = sin(out)
        slope *= math.cos(value)
        value = math.sin(value)
    return x, out, slope


def _swelling(steps: int) -> Made:
    """x ← x sin x: as a tree it doubles at every step.  From 1.7 on it tends to π/2."""
    x = out = tensor(1.7, requires_grad=True, dtype=float64, name="x")
    sin = lookup("sin")
    value, slope = 1.7, 1.0
    for _ in range(steps):
        out = sin(out) * out
        slope *= math.sin(value) + value * math.cos(value)
        value *= math.sin(value)
    return x, out, slope


def _fanned(uses: int) -> Made:
    """One value that is used many times."""
    x: Any = tensor(0.7, requires_grad=True, dtype=float64, name="x")
    out = x
    for k in range(1, uses):
        out = out + x * (k % 7)
    return x, out, 1.0 + sum(k % 7 for k in range(1, uses))
