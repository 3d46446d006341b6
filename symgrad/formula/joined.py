"""One formula of runs at different sizes: a number that follows a size becomes that size.

``X.shape[0]`` is a number while a function runs, so what Python makes of it (``0.5 * n``) looks like any other number.
Three runs are needed: of two a line tells nothing, as it goes through any two points.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from symgrad.errors import SymgradError
from symgrad.formula.term import NUMBER, Term, as_term, full, make, number, size_letter
from symgrad.op import lookup

ROUNDING = 1e-9
"""The largest relative tolerance of a pseudo inverse that is one of rounding."""
Sizes = Mapping[Any, int]
"""What the letters stand for in a run."""


def joined(terms: Sequence[Term], sizes: Sequence[Sizes]) -> Term | None:
    """One formula of several that differ in numbers, each of which follows the sizes; None where there is none."""
    image: dict[tuple[Term, ...], Term] = {}
    root = tuple(terms)
    stack = [root]
    while stack:
        row = stack[-1]
        x, *others = row
        if all(y is x for y in others):
            image[row] = x
        elif any(x.op.name != y.op.name or len(x.args) != len(y.args) for y in others):
            return None
        else:
            below = list(zip(*(t.args for t in row), strict=True))
            missing = [r for r in below if r not in image]
            if missing:
                stack += missing
                continue
            made = _joined_node(row, [image[r] for r in below], sizes)
            if made is None:
                return None
            image[row] = made
        stack.pop()
    return image[root]


def _joined_node(row: Sequence[Term], args: list[Term], sizes: Sequence[Sizes]) -> Term | None:
    x, *others = row
    if x.op is NUMBER:
        return _typed(_following([t.number for t in row], sizes), x)
    if x.op.name == "full" and all({**x.params, "value": 0} == {**y.params, "value": 0} for y in others):
        value = _following([t.params["value"] for t in row], sizes)
        return None if value is None else lookup("mul")(full(x.shape, 1, x.dtype), value)
    if x.op.kind == "leaf" or not all(_alike(x.params, y.params) for y in others):
        return None
    try:
        return _typed(as_term(x.op(*args, **x.params)), x)
    except SymgradError:
        return None


def _alike(params: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    """Whether ops do the same: tolerances of rounding, which grow with sizes, are one."""
    return params.keys() == others.keys() and all(
        v == others[k] or (k == "rtol" and max(v, others[k]) <= ROUNDING) for k, v in params.items()
    )


def _typed(term: Term | None, like: Term) -> Term | None:
    """A term with the dtype of the one whose place it takes: of a number, none, so that what is beside it decides."""
    if term is None or term.dtype is like.dtype or term.op.kind == "leaf":
        return term
    return make(term.op, term.args, term.params, term.shape, like.dtype)


def _following(values: Sequence[Any], sizes: Sequence[Sizes]) -> Term | None:
    """The term of a number with a value at each choice of sizes: c n, c/n, c (n-1)², c n/(n-1), n + 2, c √n, log n."""
    if any(isinstance(v, (bool, str, complex)) or not v for v in values):
        return None
    plain = [(size_letter(s), [known[s] for known in sizes]) for s in sizes[0]]
    near = [_next(m, row, k) for k in (-1, 1) for m, row in plain if row[0] + k]
    products = [_times(a, b) for a, b in itertools.combinations_with_replacement([*plain, *near], 2)]
    ratios = [_times(a, b, -1) for a, b in itertools.permutations([*plain, *near], 2)]
    for measure, row in (*plain, *near, *products, *ratios):
        for p in (1, -1):
            c = _factor(values, [Fraction(n) ** p for n in row])
            if c is not None:
                return lookup("mul" if p == 1 else "div")(number(c), measure)  # type: ignore[no-any-return]
    found = _irrational(values, (*plain, *near, *products))
    if found is not None:
        return found
    for measure, row in (*plain, *near):
        c = _factor(values, [math.log(n) for n in row])
        if c is not None:
            return lookup("mul")(number(c), lookup("log")(measure))  # type: ignore[no-any-return]
    for measure, row in plain:
        for p in (1, -1):
            line = _affine([Fraction(v) ** p for v in values], row)
            if line is not None:
                total = lookup("add")(lookup("mul")(number(line[0]), measure), number(line[1]))
                return total if p == 1 else lookup("div")(number(1), total)  # type: ignore[no-any-return]
    for measure, row in (*plain, *near, *products):
        for root in (Fraction(1, 2), Fraction(-1, 2)):
            c = _factor(values, [n**root for n in row])
            if c is not None:
                return lookup("mul")(number(c), lookup("pow")(measure, number(root)))  # type: ignore[no-any-return]
    return None


def _irrational(values: Sequence[Any], measured: Sequence[Measured]) -> Term | None:
    """c n, or c/n, with any number for c: n log(2π) / 2, and 2π / n."""
    for measure, row in measured:
        for p in (1, -1):
            c = float(values[0] / Fraction(row[0]) ** p)
            if all(abs(c * float(n) ** p - v) <= 1e-14 * abs(v) for v, n in zip(values, row, strict=True)):
                return lookup("mul" if p == 1 else "div")(number(c), measure)  # type: ignore[no-any-return]
    return None


Measured = tuple[Term, list[Any]]
"""What sizes are made to, and its values at each choice of them."""


def _next(measure: Term, row: Sequence[int], k: int) -> Measured:
    return (lookup("sub")(measure, 1) if k < 0 else lookup("add")(measure, 1)), [n + k for n in row]


def _times(a: Measured, b: Measured, power: int = 1) -> Measured:
    """a b, or a/b."""
    term = lookup("mul" if power > 0 else "div")(a[0], b[0])
    return term, [n * Fraction(m) ** power for n, m in zip(a[1], b[1], strict=True)]


def _factor(values: Sequence[Any], measures: Sequence[Any]) -> Fraction | None:
    """The simple fraction by which the values are these measures."""
    if not measures[0]:
        return None
    c = _exact(values[0] / measures[0])
    same = c is not None and all(abs(float(c * m) - v) <= 1e-12 * abs(v) for v, m in zip(values, measures, strict=True))
    return c if same else None


def _affine(values: Sequence[Fraction], row: Sequence[int]) -> tuple[int, int] | None:
    """The whole numbers a and b with which the values are a n + b: lengths of parts of an axis."""
    if row[0] == row[1]:
        return None
    a = (values[1] - values[0]) / (row[1] - row[0])
    b = values[0] - a * row[0]
    if a.denominator != 1 or b.denominator != 1 or any(a * n + b != v for v, n in zip(values, row, strict=True)):
        return None
    return int(a), int(b)


def _exact(c: Any) -> Fraction | None:
    """A number as a simple fraction."""
    found = Fraction(c).limit_denominator(1000)
    return found if abs(float(found) - float(c)) <= 1e-12 * abs(float(c)) else None
