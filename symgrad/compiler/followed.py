"""Programs called with tensors that are followed: their ops are run one by one, so that what comes out has a history.

A program gives arrays.  Inside of a function that is differentiated or traced, an array would be a constant, and its
derivative silently zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from symgrad.compiler import passes
from symgrad.errors import CompileError
from symgrad.formula.term import NUMBER, SIZE, SYMBOL, Term, concrete, postorder
from symgrad.op import carrier_of, shape_of
from symgrad.ops.reductions.sums import cast_op
from symgrad.ops.shapes.shaping import expand_op
from symgrad.ops.shapes.sizes import size_value
from symgrad.tape import containers
from symgrad.tape.forward.dualwrites import at_rest
from symgrad.tape.record import Recorded, plain
from symgrad.tape.standins import inner
from symgrad.tape.watching.watch import note_read
from symgrad.tensor import Tensor

if TYPE_CHECKING:
    from symgrad.compiler.program import Compiled


def run_followed(program: Compiled, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """The results of a program as tensors with a history; what it looked at becomes a look of who traces now."""
    if program.kernels:
        raise CompileError(f"{program.name}() calls the library's own kernels, and is not differentiated as a program.")
    args, named = inner((args, named))
    row = program.prepared(tuple(map(at_rest, args)), {k: at_rest(v) for k, v in named.items()})
    program.check_branch(row)
    values: dict[str, Any] = {}
    letters: dict[str, int] = {}
    given = {**dict(zip([a.name for a in program.arguments], args, strict=False)), **named}
    for a, value in zip(program.arguments, row, strict=True):
        x = given.get(a.name)
        followed = x.__class__ is not str and carrier_of(x.__class__) is not None
        values[a.name] = _in_dtype(x, a.dtype) if followed else value
        if a.shape != (...,):
            letters.update((s, n) for s, n in zip(a.shape, value.shape, strict=True) if isinstance(s, str))
    looked = [] if program.guards is None else program.guards.program.terms
    found = _run([*program.terms, *looked], values, letters)
    for value, how in zip(found[len(program.terms) :], program.guards.how if program.guards else (), strict=True):
        if isinstance(value, Recorded):
            note_read(value, how)
    results = []
    for value, (shape, dtype) in zip(found, program.results, strict=False):
        sizes = tuple(size_value(s, letters) for s in shape)
        if carrier_of(value.__class__) is None:
            value = plain(Tensor, np.broadcast_to(value, sizes).astype(dtype)[()])
        elif tuple(shape_of(value)) != sizes:
            value = expand_op(value, shape=sizes)
        results.append(_in_dtype(value, dtype))
    return containers.unflatten(program.structure, iter(results))


def _in_dtype(x: Any, dtype: Any) -> Any:
    return x if x.dtype == dtype else cast_op(x, dtype=np.dtype(dtype).name)


def _run(terms: Sequence[Term], values: dict[str, Any], letters: dict[str, int]) -> list[Any]:
    """The terms as ops on these values."""
    terms = passes.opened(terms)
    image: dict[Term, Any] = {}
    for t in postorder(terms):
        if t.op is SYMBOL:
            image[t] = values[t.params["name"]]
        elif t.op is SIZE:
            image[t] = size_value(t.params["name"], letters)
        elif t.op is NUMBER:
            image[t] = _number(t.params["value"])
        else:
            image[t] = t.op(*(image[a] for a in t.args), **concrete(t.op, t.params, letters))
    return [image[t] for t in terms]


def _number(value: Any) -> Any:
    return float(value) if isinstance(value, Fraction) else np.pi if value == "pi" else value
