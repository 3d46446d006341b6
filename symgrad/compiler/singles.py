"""Rewrites of what is read once: powers of two that meet their inverses, transposes of products, e^log.

Multiplying by a power of two is exact, and so it may be done anywhere between: 2 · Σ (a/2 · b) is Σ a · b, and
2 · (A · v) is A · (2 · v), to the last bit where nothing overflows.  A value that others read as it is would be
computed twice; so each of these looks at how often its operands are read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from symgrad.dtypes import is_floating
from symgrad.formula.term import NUMBER, SIZE, Term, make, number, rebuilt
from symgrad.op import lookup
from symgrad.ops.linalg.contraction import einsum_op

LOOKED_AT = 24
"""How many values are looked at on the way to an inverse."""

_THROUGH = ("sum", "permute", "unsqueeze", "squeeze", "expand", "reshape", "einsum", "matmul")
"""Ops that are linear in each of their operands."""


def with_singles(outputs: Sequence[Term], order: Sequence[Term]) -> list[Term]:
    """The outputs, whose terms are in ``order``, with the rewrites of this module."""
    if not any(turn_of(t) is not None or _scale(t) is not None for t in order):
        return list(outputs)
    return _Singles(outputs, order).done()


class _Singles:
    def __init__(self, outputs: Sequence[Term], order: Sequence[Term]):
        self.outputs = outputs
        self.order = order
        self.before: dict[Term, int] = {}
        self.reads: dict[Term, int] = {}
        self.left = 0
        for term in order:
            for a in term.args:
                self.before[a] = self.before.get(a, 0) + 1
        for term in outputs:
            self.before[term] = self.before.get(term, 0) + 1

    def done(self) -> list[Term]:
        def change(term: Term, args: tuple[Any, ...]) -> Term:
            found = None
            if term.op.name == "mul":
                found = self._product(term, args)
            elif (dims := turn_of(term)) is not None:
                found = self._transposed(term, args[0], dims)
            elif term.op.name == "sum":
                found = self._outside(term, args[0])
            if found is None:
                found = term.with_args(args)
            self.reads[found] = self.reads.get(found, 0) + self.before[term]
            return found

        return rebuilt(self.outputs, change, self.order)

    def _once(self, term: Term) -> bool:
        return self.reads.get(term, 1) < 2

    # -------------------------------------------------------------------------------------- transposes

    def _transposed(self, term: Term, x: Term, dims: tuple[int, ...]) -> Term | None:
        """The transpose of a product is the product with its axes in that order."""
        if x.op is einsum_op and len(x.args) == 2 and self._once(x):
            params = {**x.params, "output": tuple(x.params["output"][k] for k in dims), "shape": term.shape}
            return make(einsum_op, x.args, params, term.shape, term.dtype)
        turned = x.op.name == "matmul" and x.ndim == 2 and all(a.ndim == 2 for a in x.args) and self._once(x)
        if not turned or not any(a.op.name == "permute" for a in x.args):
            return None
        a, b = (
            y.args[0]
            if y.op.name == "permute"
            else make(lookup("permute"), (y,), {"dims": (1, 0)}, y.shape[::-1], y.dtype)
            for y in x.args
        )
        return make(x.op, (b, a), x.params, term.shape, term.dtype)

    # -------------------------------------------------------------------------------------- powers of two

    def _outside(self, term: Term, x: Term) -> Term | None:
        """Σ c · y is c · Σ y, with fewer products."""
        if x.op.name != "mul" or not self._once(x) or x.dtype != term.dtype or not is_floating(term.dtype):
            return None
        for c, y in (x.args, x.args[::-1]):
            if _scale(c) is not None and y.fits(x):
                total = term.with_args((y,))
                return make(x.op, (c, total), {}, term.shape, term.dtype)
        return None

    def _product(self, term: Term, args: tuple[Any, ...]) -> Term | None:
        if term.dtype is None or not is_floating(term.dtype):
            return None
        for a, b in (args, args[::-1]):
            if (c := _scale(a)) is not None:
                short = self._begun(c, b)
                return short if short is not None and short.fits(term) else None
            if b.op.name == "mul" and self._once(b) and b.dtype == term.dtype:
                found = self._moved(term, a, b)
                if found is not None:
                    return found
        return None

    def _moved(self, term: Term, a: Term, b: Term) -> Term | None:
        """a · (c · y) with the power of two c in a, where it vanishes or a is smaller than y."""
        for first, y in (b.args, b.args[::-1]):
            c = _scale(first)
            if c is None or not y.fits(b):
                continue
            short = self._begun(c, a)
            if short is None and len(a.shape) < len(y.shape) and not (a.op is NUMBER or a.op is SIZE):
                short = make(b.op, (first, a), {}, a.shape, a.dtype)
            if short is not None and (short.dtype, short.shape) == (a.dtype, a.shape):
                return make(b.op, (short, y), {}, term.shape, term.dtype)
        return None

    def _begun(self, c: Fraction, x: Term) -> Term | None:
        self.left = LOOKED_AT
        short = self._scaled(abs(c), x)
        return short if short is None or c > 0 else negated(short)

    def _scaled(self, c: Fraction, x: Term) -> Term | None:
        """c · x without an operation more than x has; None where there is no such."""
        self.left -= 1
        if self.left < 0:
            return None
        if x.op is NUMBER:
            return _times(c, x)
        if not self._once(x):
            whole = self._joined(c, x) if x.op.name in ("mul", "div") else None
            return whole if whole is not None and whole in x.args else None  # which is there already
        name = x.op.name
        if name in ("mul", "div") and (joined := self._joined(c, x)) is not None:
            return joined
        if name in ("add", "sub"):
            parts = [self._scaled(c, a) for a in x.args]
            return None if None in parts else _with(x, parts)
        if name in _THROUGH or name in ("mul", "neg") or name == "div":
            for k, a in enumerate(x.args[:1] if name == "div" else x.args):
                short = self._scaled(c, a)
                if short is not None:
                    return _with(x, [*x.args[:k], short, *x.args[k + 1 :]])
        return None

    @staticmethod
    def _joined(c: Fraction, x: Term) -> Term | None:
        """c · (d · y) and c · (y / d) for a number d."""
        for k, d in enumerate(x.args):
            y = x.args[1 - k]
            if d.op is not NUMBER or d.dtype is not None or (y.shape, y.dtype) != (x.shape, x.dtype):
                continue
            if x.op.name == "mul":
                by = _times(c, d)
            elif k == 1 and _power(d.number):
                by = number(c / d.number)
            else:
                continue
            if by is None:
                continue
            if by.number == 1:
                return y
            if isinstance(by.number, Fraction) and by.number.numerator == 1:
                return make(lookup("div"), (y, number(by.number.denominator)), {}, x.shape, x.dtype)
            return make(lookup("mul"), (by, y), {}, x.shape, x.dtype)
        return None


def turn_of(term: Term) -> tuple[int, ...] | None:
    """The order in which a term has the axes of its operand, where it does nothing but turn them."""
    if term.op.name == "permute":
        return term.params["dims"]  # type: ignore[no-any-return]
    if term.op is not einsum_op or len(term.args) != 1:
        return None
    labels, output = term.params["inputs"][0], term.params["output"]
    if len(set(labels)) < len(labels) or len(output) != len(labels) or set(output) != set(labels):
        return None
    return tuple(map(labels.index, output))


def _scale(term: Term) -> Fraction | None:
    """The number of a term that is a power of two with any sign, but not 1."""
    if term.op is not NUMBER or term.dtype is not None:
        return None
    value: Any = term.number
    if type(value) not in (int, Fraction) or value in (0, 1, -1):
        return None
    return Fraction(value) if _power(abs(value)) else None


def _power(value: Any) -> bool:
    if type(value) not in (int, Fraction) or value <= 0:
        return False
    top, below = Fraction(value).numerator, Fraction(value).denominator
    return not top & (top - 1) and not below & (below - 1)


def _times(c: Fraction, x: Term) -> Term | None:
    value = x.number
    if type(value) in (int, Fraction):
        return number(c * value, x.dtype)
    if type(value) is float and math.isfinite(found := float(c) * value) and found / float(c) == value:
        return number(found, x.dtype)
    return None


def _with(x: Term, args: Sequence[Any]) -> Term:
    """``x`` with other operands; a factor that became 1 is left out."""
    if x.op.name == "mul":
        for one, other in (args, args[::-1]):
            if one.op is NUMBER and one.number == 1 and other.fits(x):
                return other  # type: ignore[no-any-return]
    return x.with_args(tuple(args))


def negated(x: Term) -> Term:
    """The term without its minus sign, or with one."""
    return x.args[0] if x.op.name == "neg" else make(lookup("neg"), (x,), {}, x.shape, x.dtype)
