"""Where the tangent of a dual and of all its views is kept."""

from __future__ import annotations

import weakref
from typing import Any


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
        """The duals that are known to share the place, some of them twice."""
        return [dual for ref in self.shared if (dual := ref()) is not None]

    def write(self, tangent: Any) -> None:
        """Another tangent from now on."""
        if self.given:
            self.tangent.copy_(tangent)
        else:
            self.tangent = tangent
        self.still, self.branch = False, None
        self.changes += 1
