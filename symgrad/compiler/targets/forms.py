"""What the targets that write another language share: the shape of their tables of ops, sizes, indices and names.

An op is written there by its operators (``Op.c``), as a sum of products (by its einsum), or as the :class:`Form` that
the table of the target has for its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from symgrad.errors import CompileError
from symgrad.formula.term import Term
from symgrad.ops.indexing.getitem import HOLE
from symgrad.ops.shapes.sizes import letters_of, sliced, spaced


class Form(NamedTuple):
    """How a target writes an op.

    entry   gives text: of the whole result or, in C, of one entry of it
    loop    C: writes the lines that fill the result; where a form has both, it is for what ``entry`` cannot say
    once    C: of which operands an entry is read at most once, so that they may be written there: "first" or "all"
    named   C: positions of operands that must be arrays with a name
    places  C: ``(term)`` to the operands that are arrays of places, each with the size of the axis that they point into
    """

    entry: Callable[..., Any] | None = None
    loop: Callable[..., None] | None = None
    once: str = ""
    named: tuple[int, ...] = ()
    places: Callable[[Term], Sequence[tuple[int, Any]]] | None = None


def has_form(term: Term, forms: Mapping[str, Form]) -> bool:
    """Whether a term is written as it is; what is spelled in operators may still hold for real numbers only."""
    op = term.op
    return op.kind in ("leaf", "multilinear") or op.c is not None or op.name in forms


def reduced(term: Term) -> tuple[int, ...]:
    """The axes of the first operand that the op joins."""
    dim = term.params.get("dim")
    if dim is None:
        return tuple(range(term.args[0].ndim))
    return tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)


def size_text(size: Any, letter: Callable[[str], str], length: Callable[[str, slice], str]) -> str:
    """A size as an expression: its letters by ``letter``, how long a slice of an axis is by ``length(axis, slice)``.

    >>> size_text("2*n+1", str.upper, lambda axis, part: f"{axis}[{part}]")
    '2 * N + 1'
    """
    if not isinstance(size, str):
        return str(size)

    def factor(text: str) -> str:
        part = sliced(text)
        return length(*part) if part is not None else text if text.isdigit() else letter(text)

    return spaced(size, factor)


def letters_in(shapes: Sequence[Sequence[Any]]) -> list[str]:
    """The letters of shapes, in the order in which they come."""
    return list(
        dict.fromkeys(x for shape in shapes for s in shape if isinstance(s, str) for x in sorted(letters_of(s)))
    )


def identifier(name: str, taken: set[str], reserved: Callable[[str], Any]) -> str:
    """A name in ASCII that is not reserved; it joins those that are ``taken``.

    >>> identifier("for", set(), {"for"}.__contains__), identifier("θ", set(), {"for"}.__contains__)
    ('for_', 'u03b8')
    """
    found = "".join(c if c.isascii() else f"u{ord(c):04x}" for c in name)
    while found in taken or reserved(found):
        found += "_"
    taken.add(found)
    return found


def parted(term: Term, rank: int, language: str) -> list[Any]:
    """The parts of a term's index, with slices for what ``...`` and the end leave out; masks are refused."""
    parts = [np.asarray(p) if isinstance(p, (np.ndarray, list, bool)) else p for p in term.params["index"].parts]
    holes = sum(p is HOLE for p in parts)
    places = [a.dtype for a in term.args[len(term.args) - holes :]] + [
        p.dtype for p in parts if isinstance(p, np.ndarray)
    ]
    if any(dtype is not None and dtype.kind == "b" for dtype in places):
        raise CompileError(
            f"{term.op.name}() with a mask is not written in {language}: how many entries it picks is no size. Give "
            "the array of places as an argument, or save the program as a Python file."
        )
    count = sum(p is not None and p is not Ellipsis for p in parts)
    at = next((k for k, p in enumerate(parts) if p is Ellipsis), len(parts))
    return [*parts[:at], *[slice(None)] * (rank - count), *parts[at + 1 :]]
