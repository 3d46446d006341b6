"""What programs compute with: float32 for float16 and bfloat16, and floats where ops make them of whole numbers.

Results of half precision are rounded once.  The library's kernels do so one op at a time; a program, as torch's
compiled ones, keeps float32 from op to op.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.dtypes import float32, get_default_dtype, is_narrow, real_part
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


def _whole(term: Term) -> bool:
    """Whether an op that is one function of its own takes whole numbers, of which it makes floats first."""
    op = term.op
    alone = op.dtypes == "float" and op.kind == "primitive" and not op.together
    return alone and any(a.dtype is not None and a.dtype.kind in "bui" for a in term.args)


def _as_floats(term: Term, args: tuple[Any, ...]) -> list[Any]:
    """Operands with floats in place of whole numbers."""
    dtype = real_part(term.dtype) if term.dtype.kind in "fc" else get_default_dtype()
    return [cast_op(a, dtype=dtype.name) if a.dtype is not None and a.dtype.kind in "bui" else a for a in args]


def in_floats(roots: Sequence[Term], order: Sequence[Term]) -> list[Term]:
    """The terms with float32 in place of float16 and bfloat16, and casts where an op makes floats of whole numbers.

    Arguments are cast on the way in.  What a user's cast or a constant rounds to few digits stays rounded.  ``order``:
    the terms of the roots.
    """
    if not any(is_narrow(t.dtype) or _whole(t) for t in order):
        return list(roots)

    def change(term: Term, args: tuple[Any, ...]) -> Any:
        if not term.args and term.op is not SYMBOL and is_narrow(term.dtype):
            return _constant(term)
        if _whole(term):
            return term.op(*_as_floats(term, args), **term.params)
        same = all(a is b for a, b in zip(args, term.args, strict=True))
        made = term if same else term.op(*_few_digits(term, args), **term.params)
        return cast_op(made, dtype="float32") if is_narrow(made.dtype) else made

    return rebuilt(roots, change, order)
