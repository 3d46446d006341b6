"""Where the tangent of a dual and of all its views is kept."""

from __future__ import annotations

import weakref
from typing import Any

from symgrad.op import lookup
from symgrad.tape.forward.bundle import Bundle
from symgrad.tape.modes import enable_grad, recording


class Place:
    """Where the tangent of a dual and of all its views is kept, and how often it changed.

    closed whether the level of the dual has ended: nothing moves any more
    given  whether it is a tensor that the user gave, which is changed in place then
    still  whether the tangent is zero because nothing leads there, whatever slope it meets: behind a step
    branch where a branch was taken, and the tangent without the zeros beside it
    shared the duals whose tangent is kept here, as soon as there are several
    """

    __slots__ = ("branch", "changes", "closed", "given", "shared", "still", "tangent")

    def __init__(self, tangent: Any, given: bool = False):
        self.tangent = tangent
        self.changes = 0
        self.closed = False
        self.given = given
        self.still = False
        self.branch: tuple[Any, Any] | None = None
        self.shared: list[weakref.ref[Any]] = []

    def share(self, *duals: Any) -> Place:
        """Itself, as the place of these duals, too."""
        count = len(self.shared)
        if count >= 64 and not count & (count - 1):  # views come and go in loops
            self.shared = [ref for ref in self.shared if ref() is not None]
        self.shared += map(weakref.ref, duals)
        return self

    def family(self) -> list[Any]:
        """The duals that share the place, some of them twice; others did, and were raised to another one."""
        return [dual for ref in self.shared if (dual := ref()) is not None and dual.place is self]

    def write(self, tangent: Any) -> None:
        """Another tangent from now on; where nothing is recorded it has the history of the one before, as in torch."""
        if self.given:
            self.tangent.copy_(tangent)
        else:
            self.tangent = tangent if recording() else _with_history(tangent, self.tangent)
        self.still, self.branch = False, None
        self.changes += 1


def _with_history(tangent: Any, before: Any) -> Any:
    """The numbers of a tangent with the history of the one that was there before."""
    if not getattr(before, "requires_grad", False):
        return tangent
    bundle = isinstance(before, Bundle)
    with enable_grad():
        old = before.each() if bundle else [lookup("clone")(before)]  # others may hold it as it is
    if not bundle:
        return old[0].copy_(tangent)
    rows = tangent.each() if isinstance(tangent, Bundle) and tangent.tag == before.tag else [tangent] * len(old)
    rows = list(map(_with_history, rows, old))
    with enable_grad():
        return before.like(rows)
