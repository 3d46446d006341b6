"""Numbers that a function and its gradient both have as a default, which count as arguments that were given.

What is right for ``lam=0.5`` alone, a factor 0.5 in its place or one that is left out beside ``2 * lam``, is told by
other values of it, in a note where all is right at the default; and it has a name in formulas.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

_PLAIN = (bool, int, float, str, type(None))


def shared_defaults(f: Callable[..., Any], grad: Any, count: int) -> dict[str, Any]:
    """The parameters behind the first ``count`` ones that both have, with the same default, up to the last float."""
    mine, theirs = _defaults(f, count), _defaults(grad, count)
    found = []
    for (name, value), (other, default) in zip(mine, theirs, strict=False):
        if name != other or type(value) is not type(default) or not isinstance(value, _PLAIN) or value != default:
            break
        found.append((name, value))
    while found and not isinstance(found[-1][1], float):
        found.pop()
    return dict(found)


def _defaults(f: Any, count: int) -> list[tuple[str, Any]]:
    compiler = sys.modules.get("symgrad.compiler.specialise")
    if compiler is not None and isinstance(f, compiler.Specialised):
        return []  # it has a program for every number of arguments, and would show another one from then on
    try:
        known = list(inspect.signature(f).parameters.values())[count:]
    except (TypeError, ValueError):  # numbers, and functions that do not say
        return []
    return [(p.name, p.default) for p in known if p.kind is p.POSITIONAL_OR_KEYWORD]
