"""What programs compute with: float32 for float16 and bfloat16, and floats where ops make them of whole numbers.

Numbers too large for the whole numbers that they stand beside are taken modulo their range, as ops of the tape do.
Results of half precision are rounded once.  The library's kernels do so one op at a time; a program, as torch's
compiled ones, keeps float32 from op to op.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.dtypes import float32, get_default_dtype, is_narrow, real_part
from symgrad.formula.shortcuts import as_run
from symgrad.formula.term import NUMBER, SYMBOL, Term, evaluate, full, make, number, rebuilt
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

    def value_of(constant: Term) -> Any:  # a number, or what stands for one: 3 log π
        return constant.params["value"] if constant.op is NUMBER else evaluate(constant, {})

    return tuple(number(rounded(value_of(a))) if a.dtype is None else a for a in args)


def _whole(term: Term) -> bool:
    """Whether an op that is one function of its own, or a product of matrices, makes floats of whole numbers first."""
    op = term.op
    alone = op.dtypes == "float" and op.kind == "primitive" and not op.together
    return (alone or _is_product(term)) and any(a.dtype is not None and a.dtype.kind in "bui" for a in term.args)


def _is_product(term: Term) -> bool:
    """Whether a term is a product of matrices of floats."""
    if term.dtype is None or term.dtype.kind not in "fc" or len(term.args) != 2:
        return False
    if term.op.name == "einsum":
        first, second = map(set, term.params["inputs"])
        return not (first & second).issubset(term.params["output"])
    return term.op.name == "matmul"


def _in_range(value: Any, term: Term) -> Any:
    """A whole number modulo the range of the small ones that a term consists of, as ops of the tape take it."""
    if value.__class__ is not int or term.dtype is None or term.dtype.kind not in "ui" or term.dtype.itemsize == 8:
        return value
    return np.asarray(value).astype(term.dtype).item()


def _too_large(term: Term) -> bool:
    """Whether a number is too large for the array that it fills, or for what it is computed with."""
    if term.op.name == "full":
        values = [term.params["value"]]
    else:
        fits = term.op.entrywise or term.op.name == "index_put"
        values = [a.number for a in term.args if a.op is NUMBER] if fits else []
    return any(_in_range(value, term) != value for value in values)


def _with_numbers_in_range(term: Term, args: tuple[Any, ...]) -> Any:
    if term.op.name == "full":
        return full(term.shape, _in_range(term.params["value"], term), term.dtype)
    return term.op(*[number(_in_range(a.number, term)) if a.op is NUMBER else a for a in args], **term.params)


def _as_floats(term: Term, args: tuple[Any, ...]) -> list[Any]:
    """Operands with floats in place of whole numbers."""
    dtype = real_part(term.dtype) if term.dtype.kind in "fc" else get_default_dtype()
    return [cast_op(a, dtype=dtype.name) if a.dtype is not None and a.dtype.kind in "bui" else a for a in args]


def in_floats(roots: Sequence[Term], order: Sequence[Term]) -> list[Term]:
    """The terms with float32 in place of float16 and bfloat16, and casts where an op makes floats of whole numbers.

    Numbers that are too large for the whole numbers beside them are taken modulo their range.

    Arguments are cast on the way in.  What a user's cast or a constant rounds to few digits stays rounded.  ``order``:
    the terms of the roots.
    """
    if not any(is_narrow(t.dtype) or _whole(t) or _too_large(t) for t in order):
        return list(roots)

    def change(term: Term, args: tuple[Any, ...]) -> Any:
        if not term.args and term.op is not SYMBOL and is_narrow(term.dtype):
            return _constant(term)
        if _too_large(term):
            return _with_numbers_in_range(term, args)
        if _whole(term):
            return term.op(*_as_floats(term, args), **term.params)
        same = all(a is b for a, b in zip(args, term.args, strict=True))
        made = term if same else as_run(term.op, _few_digits(term, args), term.params)
        return cast_op(made, dtype="float32") if is_narrow(made.dtype) else made

    return rebuilt(roots, change, order)
