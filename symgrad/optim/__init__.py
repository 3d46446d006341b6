"""The base class for optimisers of users' own; torch's optimisers and schedules of rates, where torch is installed.

Where it is not, each of them tells what to write instead: a step is a line of code under ``no_grad``, and SciPy's
minimisers take a function that :func:`symgrad.compile` made.
"""

from __future__ import annotations

from typing import Any

from symgrad.optim.optimizer import Optimizer

__all__ = ["Optimizer"]


def __getattr__(name: str) -> Any:
    if name.startswith("__"):  # what Python asks of any module
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from symgrad.optim.absent import absent
    from symgrad.optim.borrowed import borrowed, installed

    found = globals()[name] = (borrowed if installed() else absent)(name)
    return found
