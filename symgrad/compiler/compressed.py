"""Programs of sparse derivatives: passes for the colours of a pattern, and of each the entries that are read from it.

What they give is a matrix's CSR arrays.  The pattern, its colouring and so the program belong to the sizes and the way
of the trace; whole numbers that arrays are indexed by are part of that way.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from symgrad.compiler.trace import Input, Output, Trace, targets_of
from symgrad.errors import CompileError
from symgrad.formula.derive import gradient, pulled_rows
from symgrad.formula.term import Term, evaluate, full, own_symbol, postorder, symbol, symbols
from symgrad.op import lookup
from symgrad.tape import containers


class Passes(NamedTuple):
    """How the entries of a matrix are found.

    ``rows`` and ``columns`` are seeds, a row for each colour (or none); ``places`` says where each entry is in what
    the passes give: first those of rows, one after the other, then those of columns.
    """

    rows: Any
    columns: Any
    places: Any
    indices: Any
    indptr: Any


def compressed(inner: Trace, out: Output, argnums: Any, passes: Passes, name: str) -> Trace:
    """The trace of the CSR arrays (data, indices, indptr) of the derivative of ``out`` by the argument ``argnums``."""
    (target,) = targets_of(inner, argnums)
    made = inner.derived(name, [], ("tuple", (0, 1, 2), (containers.LEAF,) * 3))
    made.base = None
    made.guards = [*inner.guards, *_index_guards(inner, out.term)]
    made.constants = list(inner.constants)
    taken = {i.name for i in (*made.inputs, *made.constants)}

    def constant(stem: str, value: Any) -> Any:
        free = next(word for word in (stem, *(f"{stem}_{k}" for k in range(2, 99))) if word not in taken)
        taken.add(free)
        made.constants.append(Input(free, symbol(free, value.shape, value.dtype), value))
        return made.constants[-1].term

    found = []
    if len(passes.rows):
        seeds = constant("row_colors", passes.rows.astype(out.dtype).reshape(-1, *out.shape))
        found.append(pulled_rows(out.term, target.term, seeds))
    if len(passes.columns):
        seeds = constant("column_colors", passes.columns.astype(target.dtype).reshape(-1, *target.shape))
        found.append(_pushed(out.term, target.term, seeds))
    data = full((0,), 0, target.dtype)
    if found:
        flat = [lookup("reshape")(f, shape=(math.prod(f.shape),)) for f in found]
        whole = lookup("cat")(*flat, dim=0) if len(flat) > 1 else flat[0]
        data = lookup("gather")(whole, constant("places", passes.places), dim=0)
    made.outputs = [
        Output(data, target.dtype),
        Output(constant("columns", passes.indices), passes.indices.dtype),
        Output(constant("row_starts", passes.indptr), passes.indptr.dtype),
    ]
    return made


def _pushed(out: Term, target: Term, tangents: Term) -> Term:
    """The derivatives of ``out`` along a stack of tangents; the pullback is linear in its cotangent, so by that."""
    cotangent = own_symbol("transposed", out.shape, out.dtype)
    return pulled_rows(gradient(out, [target], cotangent)[0], cotangent, tangents)


def _index_guards(inner: Trace, out: Term) -> list[tuple[Term, Any, str]]:
    """The whole numbers by which the function indexes, where they follow from its arguments: they move the pattern."""
    own = {i.term for i in inner.inputs}
    order = postorder([out])
    whole = [a for t in order for a in t.args if a.dtype is not None and a.dtype.kind in "iu"]
    chosen = [a for a in dict.fromkeys(whole) if not own.isdisjoint(symbols(a))]
    if not chosen:
        return []
    values = {i.name: i.value for i in (*inner.inputs, *inner.constants)}
    return [(a, np.asarray(evaluate(a, values, inner.sizes))[()], "an index") for a in chosen]


def one_by_one(inner: Trace, argnums: Any, what: str) -> Output:
    """The one result of a trace, whose derivative by one array is asked for; ``CompileError`` where there are more."""
    targets = targets_of(inner, argnums)
    if not isinstance(argnums, int) or len(targets) != 1 or len(inner.outputs) != 1:
        raise CompileError(
            f"a program of {what}() is that of one array by another: {inner.name}() has {len(inner.outputs)} results "
            f"and is differentiated by {len(targets)} arrays. Compile one for each, with argnums= a number, or make "
            "them one array with cat()."
        )
    return inner.outputs[0]
