"""The rule of one node as a formula: what backward computes there, with its arguments as letters."""

from __future__ import annotations

from typing import Any

from symgrad.errors import SymgradError
from symgrad.formula.term import Term, as_term, symbol, symbols
from symgrad.tape.graph import Node

OLD = "old"


def local_terms(node: Node, names: dict[int, str] | None = None) -> dict[int, Term]:
    """The pullback of one node by each of its inputs that has a gradient.

    The inputs are ``x1``, ``x2`` …, the gradient that comes in is ``g``.  ``names`` gives letters of one's own, by the
    number of the argument; -1 makes the result a letter, too.
    """
    names = names or {}
    args = tuple(
        symbol(names.get(i, f"x{i + 1}"), tuple(getattr(a, "raw_shape", ())), a.dtype)
        if hasattr(a, "dtype")
        else as_term(a)
        for i, a in enumerate(node.args)
    )
    params = node.params or {}
    out = symbol(names[-1], node.shape, node.dtype) if -1 in names else node.op(*args, **params)
    g = symbol("g", node.shape, node.dtype)
    return {i: as_term(node.op.pullback(i, g, out, args, params)) for i in range(len(node.args)) if node.mask >> i & 1}


def local_formula(node: Node) -> dict[str, Any]:
    """The same as SymPy expressions, by the names of the inputs."""
    from symgrad.formula.sympy.expressions import to_sympy

    return {f"x{i + 1}": to_sympy(term) for i, term in local_terms(node).items()}


def reading_of(node: Node, saved: int) -> str:
    """The rule that reads a saved value of ``node``, with ``old`` for that value; empty where none can be written.

    ``saved`` is 0 for the result and k for argument k - 1, as values are saved.
    """
    from symgrad.formula.sympy.expressions import to_sympy

    try:
        for i, term in local_terms(node, {saved - 1: OLD}).items():
            if any(t.params["name"] == OLD for t in symbols(term)):
                return f"the gradient by argument {i} is {to_sympy(term)}"
    except (SymgradError, TypeError, ValueError, KeyError, AttributeError):
        pass  # an error is under way; a rule that cannot be written must not hide it
    return ""
