"""Programs of float16 and bfloat16: they compute in float32 and round their results once.

So do the library's kernels, one op at a time; a program, as torch's compiled ones, keeps float32 from op to op.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.dtypes import float32, is_narrow
from symgrad.formula.term import SYMBOL, Term, make, number, rebuilt
from symgrad.ops.reductions.sums import cast_op


def _constant(term: Term) -> Term:
    """A number, ``full`` or ``eye`` in float32, with the value that the narrow dtype holds."""
    params = dict(term.params)
    if isinstance(params.get("value"), (int, float)):
        params["value"] = np.asarray(params["value"]).astype(term.dtype).item()
    if "dtype" in params:
        params["dtype"] = "float32"
    return make(term.op, (), params, term.shape, float32)


def _few_digits(term: Term, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Numbers beside narrow operands as the op takes them, where it rounds them first: x <= 0.3 is decided so."""
    narrow = {a.dtype for a in term.args if a.dtype is not None}
    if not term.op.rounds or len(narrow) != 1 or not is_narrow(*narrow):
        return args

    def rounded(value: Any) -> Any:  # bfloat16 takes no fractions
        return np.asarray(value if isinstance(value, complex) else float(value)).astype(*narrow).item()

    return tuple(number(rounded(a.params["value"])) if a.dtype is None else a for a in args)


def in_float32(roots: Sequence[Term], order: Sequence[Term]) -> list[Term]:
    """The terms with float32 in place of float16 and bfloat16.

    Arguments are cast on the way in.  What a user's cast or a constant rounds to few digits stays rounded.  ``order``:
    the terms of the roots.
    """
    if not any(is_narrow(t.dtype) for t in order):
        return list(roots)

    def change(term: Term, args: tuple[Any, ...]) -> Any:
        if not term.args and term.op is not SYMBOL and is_narrow(term.dtype):
            return _constant(term)
        same = all(a is b for a, b in zip(args, term.args, strict=True))
        made = term if same else term.op(*_few_digits(term, args), **term.params)
        return cast_op(made, dtype="float32") if is_narrow(made.dtype) else made

    return rebuilt(roots, change, order)
