"""What is done to formulas before other languages write them: definitions of ops they lack, and products in pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.errors import CompileError
from symgrad.formula.term import Term, make, postorder, rebuilt
from symgrad.op import is_complex, lookup
from symgrad.ops.linalg.contraction import einsum_op
from symgrad.ops.reductions.softmax import exponentials
from symgrad.ops.reductions.sums import size
from symgrad.ops.rules.constants import PI, exact
from symgrad.ops.shapes.sizes import size_value

_DEEPEST = 8
"""How often definitions may be written out: one may be in terms of others."""


def _softmax(x: Any, *, dim: int) -> Any:
    """Of the exponentials of logsumexp and its slope, so that a program that has several computes them once."""
    shifted, total, _ = exponentials(x, (dim,))
    return shifted / total


def _logsumexp(x: Any, *, dim: tuple[int, ...], keepdim: bool) -> Any:
    _, total, top = exponentials(x, dim)
    found = lookup("log")(lookup("where")(lookup("isfinite")(top), total, 1)) + top
    return found if keepdim else lookup("squeeze")(found, dim=dim)


def _log_softmax(x: Any, *, dim: int) -> Any:
    _, total, top = exponentials(x, (dim,))
    return x - top - lookup("log")(total)


def _chosen(x: Any, labels: Any) -> Any:
    """The entries themselves, as others may be infinite."""
    found = lookup("gather")(x, lookup("unsqueeze")(labels, dim=labels.ndim), dim=x.ndim - 1)
    return lookup("squeeze")(found, dim=(labels.ndim,))


def _label_cross_entropy(x: Any, labels: Any) -> Any:
    return -lookup("chosen")(lookup("log_softmax")(x, dim=x.ndim - 1), labels)


def _var(x: Any, *, dim: tuple[int, ...], correction: Any, keepdim: bool) -> Any:
    """As its kernel does, also of complex entries and of no rows: it never divides by less than 0."""
    total, count = lookup("sum"), size(x, dim)
    d = x - total(x, dim=dim, keepdim=True) / count
    square = lookup("real")(d * lookup("conj")(d)) if is_complex(x) else d * d
    return total(square, dim=dim, keepdim=keepdim) / _left(count, correction)


def _std(x: Any, *, dim: tuple[int, ...], correction: Any, keepdim: bool) -> Any:
    """By a norm, which squares nothing that leaves the range of numbers."""
    count = size(x, dim)
    d = x - lookup("sum")(x, dim=dim, keepdim=True) / count
    return lookup("norm")(d, p=2, dim=dim, keepdim=keepdim) / lookup("sqrt")(_left(count, correction))


def _left(count: Any, correction: Any) -> Any:
    left = count - correction
    return max(left, 0) if isinstance(left, int) else lookup("maximum")(left, 0)


def _norm(x: Any, *, p: float, dim: tuple[int, ...], keepdim: bool) -> Any:
    size, over = lookup("abs")(x), {"dim": dim, "keepdim": keepdim}
    if p in (math.inf, -math.inf):
        return lookup("amax" if p > 0 else "amin")(size, **over)
    if p == 0:
        return lookup("sum")(lookup("cast")(lookup("ne")(size, 0), dtype=size.dtype.name), **over)
    if p == 1:
        return lookup("sum")(size, **over)
    whole = _root_of_powers(size, p, **over)
    if p < 0:
        return whole[1]
    # Where powers have left the range of numbers, those of parts of the sum have not.
    total, root = whole
    unit = lookup("sum")(size, dim=dim, keepdim=True)
    unit = lookup("where")(lookup("logical_and")(unit > 0, unit < math.inf), unit, 1)
    part = _root_of_powers(size / unit, p, **over)[1]
    known = lookup("logical_and")(total >= float(np.finfo(size.dtype).tiny), total < math.inf)
    return lookup("where")(known, root, part * (unit if keepdim else lookup("squeeze")(unit, dim=dim)))


def _root_of_powers(size: Any, p: float, **over: Any) -> tuple[Any, Any]:
    total = lookup("sum")(size * size if p == 2 else lookup("pow")(size, p), **over)
    return total, lookup("sqrt")(total) if p == 2 else lookup("pow")(total, 1 / p)


def _inverse_mills(x: Any) -> Any:
    """Without a quotient of two that are next to 0 far to the left."""
    return lookup("sqrt")(2 / PI) / lookup("erfcx")(-x / lookup("sqrt")(exact(2)))


_DEFINITIONS: dict[str, Callable[..., Any]] = {
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "chosen": _chosen,
    "label_cross_entropy": _label_cross_entropy,
    "logsumexp": _logsumexp,
    "var": _var,
    "std": _std,
    "norm": _norm,
    "inverse_mills": _inverse_mills,
}
"""Ops whose kernels are what is written here, by their names: their own definitions are for formulas."""


def written_out(outputs: Sequence[Term], name: str, has_form: Callable[[Term], bool], language: str) -> list[Term]:
    """The outputs in terms that ``has_form`` accepts; ``CompileError`` that names the first of the others."""

    def change(term: Term, args: tuple[Any, ...]) -> Any:
        if not has_form(term):
            known = _DEFINITIONS.get(term.op.name) or term.op.define
            if known is not None:
                return known(*args, **term.params)
        return term.with_args(args)

    found = list(outputs)
    for _ in range(_DEEPEST):
        missing = [t for t in postorder(found) if not has_form(t)]
        if not missing:
            return found
        found = rebuilt(found, change)
    raise CompileError(
        f"{name}() is not written in {language}: {missing[0].op.name}() has no form there. Save the program as "
        "a Python file, or write the function without it."
    )


def refuse_free_signs(outputs: Sequence[Term], name: str, language: str) -> None:
    """Raise ``CompileError`` where a result is the vectors of a decomposition: another language has other signs."""
    for term in outputs:
        if term.op.orthonormal is not None and term.op.decomposes:
            raise CompileError(
                f"{name}() gives what {term.op.name}() gives, whose signs are free: {language} may choose others. Save "
                "the program as a Python file, or give what does not depend on the signs."
            )


def paired(outputs: Sequence[Term], sizes: dict[str, int]) -> list[Term]:
    """Contractions of more than two operands in steps of two, in the order that costs least at the traced sizes."""

    def change(term: Term, args: tuple[Any, ...]) -> Any:
        if term.op.name == "einsum" and len(args) > 2:
            return _in_pairs(term, args, sizes)
        return term.with_args(args)

    return rebuilt(outputs, change)


def _in_pairs(term: Term, args: Sequence[Any], sizes: dict[str, int]) -> Term:
    operands, rows, output = list(args), list(term.params["inputs"]), term.params["output"]
    length = {label: s for row, x in zip(rows, args, strict=True) for label, s in zip(row, x.shape, strict=True)}
    like = [np.broadcast_to(0.0, [size_value(s, sizes) for s in x.shape]) for x in args]
    given = [part for pair in zip(like, map(list, rows), strict=True) for part in pair]
    wanted = [label for label in dict.fromkeys(output) if label in length]
    plan = np.einsum_path(*given, wanted, optimize="greedy")[0][1:-1]
    for pair in plan:
        if len(pair) != 2:
            continue
        second, first = (operands.pop(k) for k in sorted(pair, reverse=True))
        b, a = (rows.pop(k) for k in sorted(pair, reverse=True))
        later = {label for row in rows for label in row} | set(output)
        kept = tuple(label for label in dict.fromkeys(a + b) if label in later)
        shape = tuple(length[label] for label in kept)
        params = {"inputs": (a, b), "output": kept, "shape": shape}
        operands.append(make(einsum_op, (first, second), params, shape, term.dtype))
        rows.append(kept)
    params = {**term.params, "inputs": tuple(rows)}
    return make(einsum_op, tuple(operands), params, term.shape, term.dtype)
