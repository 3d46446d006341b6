"""Functions that a file carries with it, as texts: which of them a program needs, and what these call in turn."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

CALL = re.compile(r"\b([a-z_]\w*)\(")
"""A call in a text, its name the group."""


def called(text: str) -> list[str]:
    """The names that a text calls.

    >>> called("a + sigmoid(exp(x))")
    ['sigmoid', 'exp']
    """
    return CALL.findall(text)


def with_theirs(names: Iterable[str], library: Mapping[str, str]) -> list[str]:
    """The functions of a library among ``names`` and those that they call, in the order of the library.

    >>> with_theirs({"b"}, {"a": "a(x) = x", "b": "b(x) = a(x)", "c": "c(x) = x"})
    ['a', 'b']
    """
    waiting, found = [n for n in names if n in library], set[str]()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [other for other in called(library[name]) if other in library]
    return [name for name in library if name in found]
