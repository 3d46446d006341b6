"""Functions looked through: forward is recorded operation by operation, and backward is not asked.

Whoever checks a gradient must not take it from the backward that is under check, and looks for mistakes in every
operation: those of folded functions are recorded, too.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from contextvars import ContextVar

from symgrad.tape.threads import during

_MET: ContextVar[list[str] | None] = ContextVar("custom functions that were looked through", default=None)


def looked_through() -> AbstractContextManager[list[str]]:
    """Inside, custom functions run their ``forward`` only; gives the list of their names as they are met."""
    return during(_MET, list[str]())


def met_functions() -> list[str] | None:
    """Where to write the names of functions that are looked through; None where they are not."""
    return _MET.get()
