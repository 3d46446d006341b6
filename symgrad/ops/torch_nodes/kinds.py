"""Labels that say more than a node's name: of what a result is a view, which steps torch makes, in which order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Temporary(str):
    """The label of a result that is a view of a temporary tensor in torch; ``hidden`` is that of the temporary."""

    __slots__ = ("hidden",)

    hidden: str

    @classmethod
    def of(cls, view: str, hidden: str) -> Temporary:
        """The names of torch's two nodes."""
        made = cls(view)
        made.hidden = hidden
        return made


def hiding(label: Callable[..., Any]) -> Callable[..., Any]:
    """Say of what chooses a label that it may name a temporary tensor, which results without grad are views of, too."""
    label.hides = True  # type: ignore[attr-defined]
    return label


class Steps(str):
    """The label of a result of which torch makes several nodes: ``text`` in words of the answers, and ``shapes``.

    ``hidden`` is as that of :class:`Temporary`, None where the result is no view of one.
    """

    __slots__ = ("hidden", "shapes", "text")

    hidden: str | None
    text: str
    shapes: tuple[Any, ...]

    @classmethod
    def of(cls, name: str, text: str, *shapes: Any, hidden: str | None = None) -> Steps:
        """The name of the last node, and all of them."""
        made = cls(name)
        made.text, made.shapes, made.hidden = text, shapes, hidden
        return made


class Arranged(str):
    """The label of a result whose inputs stand in another ``order``; some of them are ``steps`` inside of the function.

    A step is ``(path, name)``: where it is found below the node of the result, and what it is called.  None in the
    order is a tensor that may be given and is not.
    """

    __slots__ = ("order", "steps")

    order: tuple[int | None, ...]
    steps: dict[int, tuple[tuple[int, ...], str]]

    @classmethod
    def of(cls, name: str, order: tuple[int | None, ...], steps: dict[int, tuple[tuple[int, ...], str]]) -> Arranged:
        """The name of the whole, its inputs by their numbers among the arguments, and the steps among them."""
        made = cls(name)
        made.order, made.steps = order, steps
        return made
