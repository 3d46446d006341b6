"""Signs of entries: what formulas become where arrays are known to be positive, of whole numbers, not zero ….

What is known of an array is the set of signs (-1, 0 and 1) that its entries can have.  Those of symbols are assumed,
and others follow through the ops: of bounds and of functions that rise by what their entries in the table say, of
comparisons by their kernels.  |x|, sign(x), max(x, 0), √x² and the cases of x > 0 are then what they are on that side;
where nothing is known nothing changes.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.formula.term import NUMBER, SIZE, SYMBOL, Term, constant_value, full, postorder, rebuilt
from symgrad.op import lookup

Signs = frozenset[int]
ANY: Signs = frozenset((-1, 0, 1))
ASSUMED: dict[str, Signs] = {
    "positive": frozenset((1,)),
    "negative": frozenset((-1,)),
    "nonnegative": frozenset((0, 1)),
    "nonpositive": frozenset((-1, 0)),
    "nonzero": frozenset((-1, 1)),
    "real": ANY,
    "integer": ANY,
}
"""What may be assumed of the entries of an array, in SymPy's words."""

DOUBLE = np.dtype(np.float64)

TINY = 1e-300
"""A number beside 0 that no function of the table rounds away."""


def with_signs(root: Term) -> Term:
    """The formula with what the assumed signs of its symbols decide; the same value wherever they hold."""
    order = postorder([root])
    if not any(t.op is SYMBOL and t.params.get("structure") in ASSUMED for t in order):
        return root
    signs: dict[Term, Signs] = {}

    def change(term: Term, args: tuple[Any, ...]) -> Term:
        made: Term = term.again(args)
        while (shorter := _decided(made, signs)) is not None and shorter is not made:
            made = shorter
        return made

    (made,) = rebuilt([root], change, order)
    return made  # type: ignore[no-any-return]


def signs_of(term: Term, known: dict[Term, Signs]) -> Signs:
    """The signs that the entries of a real array can have; ``known`` remembers those of its parts."""
    for t in postorder([term], known):
        known[t] = _signs(t, [known[a] for a in t.args])
    return known[term]


# ---------------------------------------------------------------------------------------------- signs


def _signs(t: Term, args: Sequence[Signs]) -> Signs:
    name = t.op.name
    if t.complex_dtype:
        return ANY
    if t.op is SYMBOL:
        return ASSUMED.get(t.params.get("structure", ""), ANY)
    if t.op is SIZE:
        return frozenset((1,))
    value = constant_value(t)
    if value is not None:
        return frozenset((int(np.sign(value)),)) if _is_real(value) and value == value else ANY
    rule = _RULES.get(name)
    found = ANY
    if rule is not None:
        found = rule(t, args)
    elif t.op.kind == "multilinear":
        found = _of_products(t, args)
    elif t.op.linear and t.op.rises:
        found = _plus(args[0], args[0])
    elif t.op.view is not None or t.op.identity or (t.op.linear and t.op.entrywise) or name == "full":
        found = args[0] if args else ANY
    elif t.op.among is not None:
        found = frozenset().union(*(args[k] for k in t.op.among))
    elif t.op.rises and t.op.stacks and args:
        found = frozenset().union(*args)
    elif t.op.rises and len(args) == 1 and t.op.kind == "elementwise" and not t.params:
        found = _risen(t, args[0])
    return found & _within(t)


def _is_real(value: Any) -> bool:
    return isinstance(value, (int, float, Fraction, np.floating, np.integer))


def _within(t: Term) -> Signs:
    """The signs between the bounds of an op; 0 as a bound that is not reached at -30 never is."""
    if t.op.bounds is None:
        return ANY
    low, high = t.op.bounds
    apart = low == 0 and t.op.rises and len(t.args) == 1 and not t.params and t.op.kernel(np.float64(-30.0)) > 0
    allowed = {-1: low < 0, 0: low <= 0 <= high and not apart, 1: high > 0}
    return frozenset(s for s in ANY if allowed[s])


def _risen(t: Term, own: Signs) -> Signs:
    """Of a function that rises: its values on each side of 0 begin at the one beside 0."""
    with np.errstate(all="ignore"):
        at = {s: float(t.op.kernel(np.float64(s * TINY))) for s in ANY}
    found: set[int] = set()
    for s in own:
        side = int(np.sign(at[s]))
        if np.isnan(at[s]):
            return ANY
        found |= {side} if s == 0 or side == s else {x for x in ANY if (x - side) * s >= 0}
    return frozenset(found)


def _times(a: Signs, b: Signs) -> Signs:
    return frozenset(x * y for x in a for y in b)


def _plus(a: Signs, b: Signs) -> Signs:
    if not a or not b:
        return a | b
    return frozenset().union(*(ANY if x * y < 0 else {x or y} for x in a for y in b))


def _of_products(t: Term, args: Sequence[Signs]) -> Signs:
    """A contraction: products, added up over what is summed; off a diagonal it has zeros."""
    labels, output = t.labels()
    if len(args) == 2 and t.args[0] is t.args[1] and labels[0] == labels[1]:
        found = frozenset(s * s for s in args[0])
    else:
        found = functools.reduce(_times, args)
    found = found if set().union(*labels) <= set(output) else _plus(found, found)
    return found | {0} if len(set(output)) < len(output) else found


def _power(t: Term, args: Sequence[Signs]) -> Signs:
    base, k = args[0], t.args[1].number
    if k is None or not _is_real(k):
        return frozenset((1,)) if base == {1} else ANY
    if k != int(k):
        return frozenset((1,)) if k < 0 or base == {1} else frozenset((0, 1))
    found = frozenset(s ** int(abs(k)) for s in base)
    return found - {0} if k < 0 else found | ({1} if k == 0 else frozenset())


def _cast(t: Term, args: Sequence[Signs]) -> Signs:
    """Of a fraction, whole numbers may leave 0; of a whole number, narrower ones may leave anything."""
    kind, source = (a.dtype.kind if a.dtype is not None else "f" for a in (t, t.args[0]))
    if kind == "b":
        return frozenset(s * s for s in args[0])
    if kind == "f" or source == "b":
        return args[0]
    return args[0] | {0} if kind == "i" and source == "f" else ANY


def _log_of_sum(t: Term, args: Sequence[Signs]) -> Signs:
    """Not below the largest entry, and above it where there are several."""
    return ANY if -1 in args[0] else args[0] | {1}


_RULES: dict[str, Callable[[Term, Sequence[Signs]], Signs]] = {
    "add": lambda t, a: _plus(a[0], a[1]),
    "sub": lambda t, a: _plus(a[0], _times(a[1], frozenset((-1,)))),
    "neg": lambda t, a: _times(a[0], frozenset((-1,))),
    "mul": lambda t, a: frozenset(s * s for s in a[0]) if t.args[0] is t.args[1] else _times(a[0], a[1]),
    "div": lambda t, a: _times(a[0], a[1] - {0}),
    "ratio": lambda t, a: _times(a[0], a[1]),
    "reciprocal": lambda t, a: a[0] - {0},
    "square": lambda t, a: frozenset(s * s for s in a[0]),
    "abs": lambda t, a: frozenset(s * s for s in a[0]),
    "norm": lambda t, a: frozenset((1,)) if a[0] <= {-1, 1} else frozenset((0, 1)),
    "pow": _power,
    "cast": _cast,
    "logsumexp": _log_of_sum,
}
"""Ops whose signs their entries in the table do not tell."""


# ---------------------------------------------------------------------------------------------- decisions


def _decided(t: Term, known: dict[Term, Signs]) -> Term | None:
    """What a term is, where the signs of its operands decide that; None where they do not."""
    op, args = t.op, t.args
    if not args or any(a.complex_dtype for a in args):
        return None
    if op.name == "where":
        truth = _truth(args[0])
        return None if truth is None else _spread(args[1 if truth else 2], t)
    if op.name in ("logical_and", "logical_or", "logical_not"):
        return _decided_logic(t)
    if op.halves is not None:
        return _on_one_side(t, op.halves, signs_of(args[0], known))
    if op.name == "sqrt" or (op.name == "pow" and args[1].number in (Fraction(1, 2), 0.5)):
        return _root_of_square(t, known)
    if op.name in _WHOLE and _is_whole(args[0]):
        return _spread(args[0], t)
    if op.opposite is not None or op.name in ("step", "maximum", "minimum"):
        return _compared(t, known)
    return None


_WHOLE = ("floor", "ceil", "round", "trunc")


def _is_whole(t: Term) -> bool:
    """Whether an array is one of whole numbers: symbols, sums and products of such."""
    if t.op is SYMBOL:
        return t.params.get("structure") == "integer"
    if t.op is SIZE or (t.op is NUMBER and isinstance(t.number, int)):
        return True
    return t.op.name in ("add", "sub", "neg", "mul", "abs", "square") and all(map(_is_whole, t.args))


def _compared(t: Term, known: dict[Term, Signs]) -> Term | None:
    """A comparison, or the larger or smaller of two, where the sign of the difference is known."""
    a, b = t.args
    difference = _plus(signs_of(a, known), _times(signs_of(b, known), frozenset((-1,))))
    if difference == ANY or not difference:
        return None
    found = {float(t.op.kernel(np.float64(s), np.float64(0))) for s in difference}
    if t.op.among is None:
        return full(t.shape, found.pop(), DOUBLE) if len(found) == 1 else None
    ends = [(a, {float(s) for s in difference}), (b, {0.0})]
    return next((_spread(x, t) for x, values in ends if values == found), None)


def _on_one_side(t: Term, halves: tuple[Any, Any], own: Signs) -> Term | None:
    """|x|, sign(x) and their kin on one side of 0, with 0 itself where they are the same there."""
    for side, rule in zip((-1, 1), halves, strict=True):
        if own and own <= {0, side}:
            at_zero = rule(np.float64(0)) if callable(rule) else rule
            if 0 not in own or t.op.kernel(np.float64(0)) == at_zero:
                return _spread(rule(t.args[0]) if callable(rule) else rule, t)
    return None


def _root_of_square(t: Term, known: dict[Term, Signs]) -> Term | None:
    """√x² is |x|."""
    x = t.args[0].squared
    return lookup("abs")(x) if x is not None and signs_of(x, known) != ANY else None


def _truth(t: Term) -> bool | None:
    value = constant_value(t)
    return None if value is None else bool(value)


def _decided_logic(t: Term) -> Term | None:
    truths = [_truth(a) for a in t.args]
    if t.op.name == "logical_not":
        return None if truths[0] is None else full(t.shape, float(not truths[0]), DOUBLE)
    strong = t.op.name == "logical_or"
    for a, other in itertools.permutations((0, 1)):
        if truths[a] is not None:
            return full(t.shape, float(strong), DOUBLE) if truths[a] is strong else _spread(t.args[other], t)
    return None


def _spread(x: Any, t: Term) -> Term:
    """An operand in the place of a term."""
    if not isinstance(x, Term):
        return full(t.shape, x, t.dtype or DOUBLE)
    return x if x.shape == t.shape else lookup("expand")(x, shape=t.shape)
