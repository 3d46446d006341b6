"""Names of symbols: given, else read from the line that assigned the tensor.

Nothing is looked up when a tensor is made; its creation site (code object and instruction) is kept, and when a formula
needs the name the bytecode after that instruction tells which variable the value was stored in.
"""

from __future__ import annotations

import dis
import keyword
from types import CodeType
from typing import Any

from symgrad.errors import NameProblem

_RESERVED = {"I", "np"}
"""Names read from assignments are not used when they mean something in every formula or source text."""


def check_name(name: str) -> str:
    """``name`` if it may be a symbol: a Python identifier that is no keyword; else ``NameProblem``."""
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name) or name.startswith("__"):
        raise NameProblem(
            f"{name!r} cannot name a tensor: a name is one identifier of letters, digits and underscores (Greek "
            "letters are fine, and theta is printed as one) and no keyword of Python, because it goes into formulas "
            "and source text as it stands."
        )
    return name


_MOST = 4096
"""Places in programs of which it is kept what stands there."""

_FOUND: dict[tuple[int, int], tuple[CodeType, str | None]] = {}
"""The names by places in code, which is known by its identity: a hash of it is made of all its instructions."""


def assigned_name(code: CodeType, last: int) -> str | None:
    """The variable that the value made by instruction ``last`` is stored in, if it is stored at once."""
    found = _FOUND.get((id(code), last))
    if found is None:
        if len(_FOUND) >= _MOST:
            _FOUND.clear()
        found = _FOUND[id(code), last] = code, _stored(code, last)
    return found[1]


def _stored(code: CodeType, last: int) -> str | None:
    methods = 0
    for ins in dis.get_instructions(code):
        if ins.offset <= last:
            continue
        name = ins.opname
        if name.startswith("STORE_") and name in ("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF"):
            return str(ins.argval)
        if name == "STORE_ATTR":
            return str(ins.argval)
        if name in ("CACHE", "NOP", "EXTENDED_ARG", "COPY", "PRECALL"):
            continue
        if name in ("LOAD_METHOD", "LOAD_ATTR") and ins.argval in ("requires_grad_", "double", "float", "to"):
            methods += 1
        elif methods and name in ("CALL", "CALL_KW"):
            methods -= 1
        elif not methods or name not in ("PUSH_NULL", "LOAD_CONST", "KW_NAMES"):
            # The value goes on into a call or an expression: the name that is stored next belongs to its result.
            return None
    return None


def name_of(tensor: Any) -> str | None:
    """The name given to a tensor, or the one its creation site tells; None when there is neither."""
    extra = tensor._extra
    if extra is None:
        return None
    return site_name(extra.name, extra.site)


def site_name(name: str | None, site: Any) -> str | None:
    """The explicit name, else the assigned one when it can be a symbol.

    A site is where a tensor was made, or the text that an array is called by in a function that it was given to.
    """
    if name is not None or site is None:
        return name
    found = site if isinstance(site, str) else assigned_name(*site)
    if found is None or not found.isidentifier() or keyword.iskeyword(found) or found in _RESERVED:
        return None
    return found.lstrip("_") or None
