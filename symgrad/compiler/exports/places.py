"""Places in arrays that are arguments of a file: torch, JAX and Numba are given none that NumPy's program refuses.

JAX moves places beyond an axis to its end, and a one in a row of zeros is nowhere then, in torch, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from symgrad.compiler.exports.alone import _known
from symgrad.formula.term import NUMBER, SIZE, SYMBOL, Term, postorder
from symgrad.ops.indexing.getitem import HOLE
from symgrad.tape.watching.looks import OF_PLACES

_SIGNS = {"lt": "<", "ge": ">=", "eq": "=="}
_SILENT: dict[str, set[str]] = {
    "jax": {"chosen", "gather", "getitem", "index_put", "one_hot", "put", "scatter_into"},
    "torch": {"one_hot"},
    "numba": set(),
}
"""Ops that say nothing of places beyond an axis, by the library."""


def of_places(program: Any, library: str) -> str:
    """The lines that refuse places beyond an axis; while JAX compiles a function, there are no values to be asked."""
    guards, lines = program.guards, dict[str, None]()
    for how, term in zip(guards.how, guards.program.terms, strict=True) if guards is not None else ():
        index = index_asked(term) if how == OF_PLACES else None
        for asked in _questions(term) if index is not None else ():
            bound = asked.args[1]
            length = bound.params["name"] if bound.op is SIZE else bound.number
            lines[_refusal(program.name, library, index, _SIGNS[asked.op.name], length)] = None
    for term in postorder(program.terms):
        for place, length in _picked(term) if term.op.name in _SILENT[library] else ():
            index = _whole(place)
            if index.op is SYMBOL and index.dtype is not None and index.dtype.kind in "iu":
                for sign in (">=", "< -"):
                    lines[_refusal(program.name, library, index, sign, length)] = None
    return "".join(lines)


def _refusal(name: str, library: str, index: Any, sign: str, length: Any) -> str:
    array = f'arrays["{index.params["name"]}"]'
    known = f"not isinstance({array}, jax.core.Tracer) and " if library == "jax" else ""
    end = _known(length) if isinstance(length, str) else repr(length)
    words = f"a place in {index.params['name']} is {sign} {length}".replace("- ", "-")
    return f'    if {known}({array} {sign} {end}).any():\n        raise IndexError("{name}(): {words}")\n'


def index_asked(term: Term) -> Term | None:
    """The argument of which it is asked whether a place in it lies outside of an axis; None for another question."""
    plain = (a.op.name in _SIGNS and a.args[1].op in (NUMBER, SIZE) for a in _questions(term))
    found = {_whole(asked.args[0]) if fine else term for asked, fine in zip(_questions(term), plain, strict=True)}
    return None if len(found) > 1 or (index := found.pop()).op is not SYMBOL else index


def _questions(term: Term) -> tuple[Term, ...]:
    """What is asked of entries one by one: whether they are below 0, beyond the end, or a label that does not count."""
    asked = term.args[0] if term.op.name == "any" else term
    return asked.args if asked.op.name == "logical_or" else (asked,)


def _whole(index: Term) -> Term:
    """What an index array is a view of, as long as that has the same entries."""
    while index.op.name in ("reshape", "unsqueeze", "expand", "getitem") and len(index.args) == 1:
        lengths = [[size for size in t.shape if size != 1] for t in (index, index.args[0])]
        if lengths[0] != lengths[1]:
            break
        index = index.args[0]
    return index


def _picked(term: Term) -> Iterator[tuple[Term, Any]]:
    """The index arrays of an op, and how long the axes are that they count along."""
    if term.op.name == "one_hot":
        yield term.args[0], term.shape[-1]
    elif term.op.name == "chosen":
        yield term.args[1], term.args[0].shape[-1]
    elif "dim" in term.params:  # gather, and what adds up at its places
        shape = term.params.get("shape", term.args[0].shape)
        yield term.args[1], shape[term.params["dim"]]
    elif (index := term.params.get("index")) is not None and index.holes:
        shape = term.shape if term.op.name == "put" else term.args[0].shape
        row, axis = iter(term.args[len(term.args) - index.holes :]), 0
        used = sum(part is not None and part is not Ellipsis for part in index.parts)
        for part in index.parts:
            if part is Ellipsis:
                axis += len(shape) - used
            elif part is not None:
                if part is HOLE:
                    yield next(row), shape[axis]
                axis += max(1, part.ndim) if getattr(part, "dtype", np.dtype(int)).kind == "b" else 1
