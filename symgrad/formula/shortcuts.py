"""Cheap rewritings that are always on: what a term is short for when its op is applied.

x + 0, x · 1, -(-x), exact arithmetic on constants, and zeros: nothing that changes a program's rounding.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.dtypes import float64
from symgrad.formula.term import (
    SHORT,
    SYMBOL,
    Short,
    Shortcuts,
    Term,
    apply,
    constant_value,
    full,
    is_zero,
    make,
    number,
    rebuilt,
)  # fmt: skip
from symgrad.op import Op, lookup
from symgrad.ops.indexing.getitem import HOLE


def _worth(value: Any, number: int) -> bool:
    return value is not None and not isinstance(value, str) and value == number


def _stands_for(term: Term, shape: tuple[Any, ...], dtype: Any) -> Term | None:
    return term if term.shape == shape and (term.dtype == dtype or dtype is None) else None


def _short_add(t: Any, shape: Any, dtype: Any, _: Any) -> Term | None:
    a, b = constant_value(t[0]), constant_value(t[1])
    if a is None and b is None:
        return None
    if _worth(a, 0):
        return _stands_for(t[1], shape, dtype)
    if _worth(b, 0):
        return _stands_for(t[0], shape, dtype)
    return _fold(t, shape, operator.add)


def _short_sub(t: Any, shape: Any, dtype: Any, _: Any) -> Term | None:
    a, b = constant_value(t[0]), constant_value(t[1])
    if a is None and b is None:
        return None
    if _worth(b, 0):
        return _stands_for(t[0], shape, dtype)
    if _worth(a, 0) and t[1].shape == shape:
        return apply(lookup("neg"), (t[1],), {})  # type: ignore[no-any-return]
    return _fold(t, shape, operator.sub)


def _short_mul(t: Any, shape: Any, dtype: Any, _: Any) -> Term | None:
    a, b = constant_value(t[0]), constant_value(t[1])
    if a is None and b is None:
        return None
    for value, other in ((a, t[1]), (b, t[0])):
        if _worth(value, 1):
            return _stands_for(other, shape, dtype)
        if _worth(value, 0):
            return full(shape, 0, dtype or float64)
    return _fold(t, shape, operator.mul)


def _short_div(t: Any, shape: Any, dtype: Any, _: Any) -> Term | None:
    if _worth(constant_value(t[1]), 1):
        return _stands_for(t[0], shape, dtype)
    if is_zero(t[0]):
        return full(shape, 0, dtype or float64)
    return _fold(t, shape, lambda a, b: Fraction(a) / Fraction(b) if b else None)


def _short_neg(t: Any, shape: Any, dtype: Any, _: Any) -> Term | None:
    if t[0].op.name == "neg":
        return t[0].args[0]  # type: ignore[no-any-return]
    value = t[0].number
    return number(-value) if _exact(value) else full(shape, 0, dtype) if is_zero(t[0]) and shape else None


def _short_pow(t: Any, shape: Any, dtype: Any, _: Any) -> Term | None:
    if _worth(t[1].number, 1):
        return _stands_for(t[0], shape, dtype)
    if t[1].number == 0 and not isinstance(t[1].number, str):
        return full(shape, 1, dtype or float64)
    a, b = t[0].number, t[1].number
    if _exact(a) and isinstance(b, int) and not isinstance(b, bool) and abs(b) < 64 and (a or b > 0):
        return number(Fraction(a) ** b)
    return None


def _exact(value: Any) -> bool:
    return isinstance(value, (int, Fraction)) and not isinstance(value, bool)


def _fold(t: Any, shape: Any, combine: Callable[[Any, Any], Any]) -> Term | None:
    a, b = t[0].number, t[1].number
    if shape == () and _exact(a) and _exact(b):
        value = combine(a, b)
        return None if value is None else number(value)
    return None


def _short_linear(t: Any, shape: Any, dtype: Any, params: Any) -> Term | None:
    """Linear ops on zeros are zeros."""
    return full(shape, 0, dtype or t[0].dtype or float64) if is_zero(t[0]) else None


def _short_product(t: Any, shape: Any, dtype: Any, params: Any) -> Term | None:
    """Of several arrays, any of which may be the zeros."""
    return full(shape, 0, dtype or t[0].dtype or float64) if any(map(is_zero, t)) else None


def _short_window(t: Any, shape: Any, dtype: Any, params: Any) -> Term | None:
    """A part that is the whole, the whole as a part of itself, and a change of shape that is none."""
    return t[0] if t[0].shape == shape else _short_linear(t, shape, dtype, params)


def _short_expand(t: Any, shape: Any, dtype: Any, params: Any) -> Term | None:
    if t[0].shape == shape:
        return t[0]  # type: ignore[no-any-return]
    value = constant_value(t[0])
    return full(shape, value, dtype or float64) if value is not None and not isinstance(value, str) else None


def _short_where(t: Any, shape: Any, dtype: Any, _: Any) -> Term | None:
    if t[1] is t[2] or (is_zero(t[1]) and is_zero(t[2])):
        return _short_expand((t[1],), shape, dtype, None)
    decided = constant_value(t[0])
    if not isinstance(decided, (bool, np.bool_)):
        return None
    taken = t[1] if decided else t[2]
    if taken.shape != shape:
        return _short_expand((taken,), shape, dtype, None)
    fits = taken.dtype == dtype or dtype is None
    return taken if fits else apply(lookup("cast"), (taken,), {"dtype": dtype.name})  # type: ignore[no-any-return]


def _short_einsum(t: Any, shape: Any, dtype: Any, params: Any) -> Term | None:
    if (zeros := _short_product(t, shape, dtype, params)) is not None:
        return zeros
    distinct = len(set(params["output"])) == len(params["output"])  # x_ijj at i, j, j has zeros where x_ijk has none
    if len(t) == 1 and distinct and params["inputs"][0] == params["output"] and t[0].shape == shape:
        return t[0]  # type: ignore[no-any-return]
    if len(t) == 1 and distinct and set(params["inputs"][0]) <= set(params["output"]):
        return _short_expand(t, shape, dtype, params) if constant_value(t[0]) is not None else None
    return None


def _short_cast(t: Any, shape: Any, dtype: Any, params: Any) -> Term | None:
    value = t[0].number
    if value is not None and t[0].dtype is not None and dtype.kind == "c" and not isinstance(value, str):
        return number(value, dtype)  # of which there are two parts
    return t[0] if t[0].dtype == dtype or value is not None else None


def _short_conj(t: Any, shape: Any, dtype: Any, params: Any) -> Term | None:
    value = t[0].number
    return number(value.conjugate(), dtype) if isinstance(value, complex) else _short_linear(t, shape, dtype, params)


def _short_abs(t: Any, shape: Any, dtype: Any, params: Any) -> Term | None:
    """|c| of a number, which has no dtype to give."""
    value = t[0].number
    return number(abs(value)) if _exact(value) or isinstance(value, float) else None


def _short_squeeze(t: Any, shape: Any, dtype: Any, params: Any) -> Term | None:
    return t[0] if not params["dim"] and params["dim"] != 0 else _short_linear(t, shape, dtype, params)


def _short_greatest(t: Any, shape: Any, dtype: Any, params: Any) -> Term | None:
    """The greatest one of a single number, or log Σ e^x of it, is that number."""
    return _stands_for(t[0], shape, dtype) if params["dim"] == () else None


def _short_one_hot(t: Any, shape: Any, dtype: Any, params: Any) -> Term | None:
    """Of classes with an axis of size 1 that was added, it is added to the rows."""
    if t[0].op.name != "unsqueeze":
        return None
    rows = apply(lookup("one_hot"), t[0].args, params)
    return apply(lookup("unsqueeze"), (rows,), {"dim": t[0].params["dim"]})  # type: ignore[no-any-return]


def _one_place(t: Any, params: Any) -> Term | None:
    """The single number of which an array of one place, which picks rows, is made."""
    alone = params["index"].value is HOLE and t[1].op.name == "unsqueeze" and not t[1].args[0].shape
    return t[1].args[0] if alone else None


def _short_getitem(t: Any, shape: Any, dtype: Any, params: Any) -> Term | None:
    """One row with an axis that was added to its place."""
    place = _one_place(t, params)
    if place is None:
        return _short_linear(t, shape, dtype, params)
    row = apply(lookup("getitem"), (t[0], place), params)
    return apply(lookup("unsqueeze"), (row,), {"dim": 0})  # type: ignore[no-any-return]


def _short_put(t: Any, shape: Any, dtype: Any, params: Any) -> Term | None:
    place = _one_place(t, params)
    if place is None:
        return _short_linear(t, shape, dtype, params)
    row = apply(lookup("squeeze"), (t[0],), {"dim": (0,)})
    return apply(lookup("put"), (row, place), params)  # type: ignore[no-any-return]


SHORT |= {
    "getitem": _short_getitem,
    "put": _short_put,
    "one_hot": _short_one_hot,
    "add": _short_add,
    "sub": _short_sub,
    "mul": _short_mul,
    "div": _short_div,
    "neg": _short_neg,
    "pow": _short_pow,
    "expand": _short_expand,
    "where": _short_where,
    "einsum": _short_einsum,
    "cast": _short_cast,
    "squeeze": _short_squeeze,
    "conj": _short_conj,
    "abs": _short_abs,
    **dict.fromkeys(("reshape", "narrow", "embed"), _short_window),
    **dict.fromkeys(("amax", "amin", "logsumexp"), _short_greatest),
}


def _of_zeros(op: Op) -> Short | None:
    """Products with zeros are zeros, and so is what is linear in its first operand; definitions are for themselves."""
    if op.kind == "multilinear":
        return _short_product
    return _short_linear if op.linear and op.define is None else None


SHORT.found = _of_zeros


def _as_run(short: Short) -> Short:
    """The shortcut, but for zeros that come of a zero and something unknown."""

    def kept(t: Any, shape: Any, dtype: Any, params: Any) -> Term | None:
        found = short(t, shape, dtype, params)
        return None if found is not None and is_zero(found) and _unknown(t) else found

    return kept


_AS_RUN = Shortcuts(
    {**SHORT, "mul": _as_run(_short_mul), "div": _as_run(_short_div), "einsum": _as_run(_short_einsum)},
    lambda op: _as_run(_short_product) if op.kind == "multilinear" else _of_zeros(op),
)


def _unknown(args: Any) -> bool:
    return any(constant_value(a) is None for a in args)


def as_run(op: Op, args: tuple[Term, ...], params: dict[str, Any]) -> Any:
    """The term of an op that a program ran: 0 · x and 0 / x stay, which are nan where x is infinite or 0.

    In derivatives a factor of 0 says that nothing arrives, whatever the other one is; a program multiplies it.
    """
    found = apply(op, args, params, _AS_RUN)
    if not (op.spelled and isinstance(found, Term) and is_zero(found) and _unknown(args)):
        return found
    # The definition is worked out with symbols in place of the zeros.
    marks = {a: make(SYMBOL, (), {"name": f"@{k}"}, a.shape, a.dtype) for k, a in enumerate(args) if is_zero(a)}
    zeros = {mark: a for a, mark in marks.items()}
    spelled = apply(op, tuple([marks.get(a, a) for a in args]), params)

    def change(term: Term, parts: tuple[Any, ...]) -> Term:
        return zeros[term] if term in zeros else term.with_args(parts)

    return rebuilt([spelled], change)[0]
