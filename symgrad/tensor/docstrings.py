"""Docstrings that end with an example, which nobody pays for who does not read it."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any


class Docstring(str):
    """A docstring with facts of the table and an example, its ``own`` or one that is made and run when it is read.

    ``help``, ``inspect.getdoc`` and ``doctest`` begin with ``expandtabs``, ``print`` with ``__str__``; to all else it
    is the text without the example.  A function's ``__doc__`` is plain data, so there is no other moment to make one.
    """

    __slots__ = ("function", "own", "place")

    own: bool
    function: Callable[..., Any]
    place: str

    def whole(self) -> str:
        """The text with the facts on the function, and its example."""
        from symgrad.commands.examples import described

        return described(str.__str__(self), self.place, self.function) + "\n"

    def expandtabs(self, tabsize: Any = 8) -> str:
        """The whole text: what readers of docstrings call first."""
        return self.whole().expandtabs(tabsize)

    def __str__(self) -> str:
        return self.whole()

    def __repr__(self) -> str:
        return repr(self.whole())


def illustrate(place: str, function: Any) -> None:
    """Let the docstring of a public function, found at ``place``, say what the table knows and end with an example."""
    text = function.__doc__ if isinstance(function, FunctionType) and "._" not in place else None
    if text is not None and text.__class__ is str:
        made = function.__doc__ = Docstring(text)
        made.function, made.place, made.own = function, place, ">>>" in text
