"""Differentiate first, then lose nothing: terms whose derivative is finite although their parts' derivatives are not.

``log1p(exp(x))`` at 1000 has the derivative 1, but the chain rule finds 0 · inf; ``sqrt(x*x + y*y)`` at the origin
finds inf · 0.  In such places the same value has another spelling in the op table, whose rule is right everywhere:
softplus, logsumexp, the norms.  :func:`respelled` finds it, and the reverse sweep differentiates that one.  Nothing
else changes: values are computed as the program says.

Patterns after Blanchard, Higham and Higham, "Accurately computing the log-sum-exp and softmax functions" (2021).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from symgrad.dtypes import is_real_floating
from symgrad.formula.term import Term
from symgrad.op import lookup
from symgrad.ops.products import QUOTIENTS, made_of

Found = tuple[Term, list[Term]]
"""The other spelling, and the terms of the program that it is made of."""


def respelled(term: Term) -> Found | None:
    """The same value with a derivative that is right everywhere, for the few terms that need it."""
    find = _PATTERNS.get(term.op.name)
    found = None if find is None else find(term)
    if found is None or found[0].shape != term.shape:
        return None
    return found


def _made(name: str, base: Term, **params: Any) -> Found:
    return lookup(name)(base, **params), [base]


def _plus_one(term: Term) -> Term | None:
    """``u`` of ``1 + u``."""
    if term.op.name != "add":
        return None
    a, b = term.args
    return b if a.number == 1 else a if b.number == 1 else None


def _exponent(term: Term | None) -> Term | None:
    return term.args[0] if term is not None and term.op.name == "exp" else None


def _log1p(term: Term) -> Found | None:
    """log(1 + eᵘ) = softplus(u)."""
    u = _exponent(term.args[0])
    return None if u is None else _made("softplus", u)


def _log(term: Term) -> Found | None:
    """log(1 + eᵘ), log Σeᵘ, log σ(u), log softmax(u)."""
    (x,) = term.args
    if x.op.name == "sigmoid":
        return _made("logsigmoid", x.args[0])
    if x.op.name == "softmax":
        return _made("log_softmax", x.args[0], **x.params)
    if x.op.name == "sum":
        u = _exponent(x.args[0])
        return None if u is None else _made("logsumexp", u, **x.params)
    u = _exponent(_plus_one(x))
    return None if u is None else _made("softplus", u)


def _quotient(term: Term) -> Found | None:
    """1/(1 + eᵘ) = σ(-u)."""
    top, below = term.args if term.op.name == "div" else (None, term.args[0])
    u = _exponent(_plus_one(below))
    if u is None or (top is not None and top.number != 1):
        return None
    return (lookup("sigmoid")(u.args[0]), [u.args[0]]) if u.op.name == "neg" else (lookup("sigmoid")(-u), [u])


def _root(term: Term) -> Found | None:
    """√(Σx²) = ‖x‖, √(x² + y²) = hypot(x, y), √x² = |x|: the norms know what holds at the origin."""
    if term.op.name == "pow" and term.args[1].number not in (0.5, Fraction(1, 2)):
        return None
    bases: list[Term] = []
    norm = _norm_of(term.args[0], bases)
    if norm is None:
        return None
    return (lookup("abs")(norm) if norm in bases else norm), bases


def _norm_of(term: Term, bases: list[Term], deep: int = 16) -> Term | None:
    """``r`` with r² = ``term`` up to its sign, for a sum of squares; the squared terms go to ``bases``.

    Sums that are nested deeper than ``deep`` are no norm that a person wrote down.
    """
    squared = _square_root(term)
    if squared is not None:
        bases.append(squared)
        return squared
    name = term.op.name if deep else ""
    if name == "add":
        parts = [_norm_of(a, bases, deep - 1) for a in term.args]
        return None if None in parts else lookup("hypot")(*parts)
    if name == "sum":
        inner = _norm_of(term.args[0], bases, deep - 1)
        return None if inner is None else lookup("norm")(inner, p=2, **term.params)
    if name in ("matmul", "dot") and term.args[0] is term.args[1] and term.args[0].ndim == 1:
        bases.append(term.args[0])
        return lookup("norm")(term.args[0], p=2, dim=(0,), keepdim=False)  # type: ignore[no-any-return]
    return None


def _square_root(term: Term) -> Term | None:
    """``x`` of x·x, x² and square(x), where x is real."""
    name = term.op.name
    if (
        name == "square"
        or (name == "pow" and term.args[1].number == 2)
        or (name == "mul" and term.args[0] is term.args[1])
    ):
        x = term.args[0]
        return x if x.number is None and x.dtype is not None and is_real_floating(x.dtype) else None
    return None


def _divided(term: Term) -> Found | None:
    """A product, running product or determinant over its own factors: the others, which no zero among them upsets."""
    *rest, out, x = term.args
    if not made_of(out, term.op.name.partition("_")[0], x, term.params):
        return None
    assert term.op.define is not None
    return term.op.define(*term.args, **term.params), [*rest, x]


_PATTERNS: dict[str, Callable[[Term], Found | None]] = {
    "log1p": _log1p,
    "log": _log,
    "div": _quotient,
    "reciprocal": _quotient,
    "sqrt": _root,
    "pow": _root,
    **dict.fromkeys(QUOTIENTS, _divided),
}
CANDIDATES = frozenset(_PATTERNS)
"""Names of the ops that a pattern may end in."""


def between(term: Term, bases: Sequence[Term]) -> list[Term]:
    """The terms below ``term`` down to ``bases``, which the other spelling passes over."""
    stop = set(bases)
    seen: set[Term] = set()
    stack = list(term.args)
    while stack:
        item = stack.pop()
        if item not in seen and item not in stop:
            seen.add(item)
            stack.extend(item.args)
    return list(seen)
