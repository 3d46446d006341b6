"""The words for a change that makes a given formula right, or the exact one into the given one."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from symgrad.check.formulas.changes import Change, Later
from symgrad.check.report import Diagnosis
from symgrad.errors import SymgradError
from symgrad.formula.term import Term, describe


class _Told(NamedTuple):
    """A changed part, further words on it, and whether it is a part of the given formula (or of the exact one)."""

    part: Term
    extra: Any
    of_theirs: bool

    @property
    def shown(self) -> str:
        return text_of(self.part)

    @property
    def where(self) -> str:
        return f"in {self.shown}" if self.of_theirs else f"where the exact formula has {self.shown}"

    @property
    def pair(self) -> tuple[str, str]:
        """What the given formula has, and what it should have."""
        both = (self.shown, text_of(self.extra))
        return both if self.of_theirs else both[::-1]


def sentence(change: Change, of_theirs: bool) -> Diagnosis:
    """What a change says is wrong with the given formula."""
    kind, part, _, extra = change
    return _SENTENCES[kind](_Told(part, extra, of_theirs))


def _term(t: _Told) -> Diagnosis:
    word = "is too much" if t.of_theirs else "is missing"
    return Diagnosis("extra term" if t.of_theirs else "term", f"The term {text_of(t.extra)} {word}.", "a term of a sum")


def _missing_factor(t: _Told) -> Diagnosis:
    word = "is too much" if t.of_theirs else "is missing"
    return Diagnosis("factor", f"The factor {text_of(t.extra)} {word} {t.where}.", "the chain rule")


def _product(t: _Told) -> Diagnosis:
    used = t.part.op.name == "mul"
    wrong = "entry by entry" if used == t.of_theirs else "a matrix product"
    right = "a matrix product" if wrong == "entry by entry" else "entry by entry"
    return Diagnosis("hadamard", f"A product is {wrong}, and should be {right}, {t.where}.", "* (⊙) and @")


def _exponent(t: _Told) -> Diagnosis:
    if t.part.op.name == "exp" and t.extra == (1, -1):
        return Diagnosis("sign", f"The sign of the exponent is wrong {t.where}.", "a minus")
    return Diagnosis("exponent", f"An exponent is wrong {t.where}.", "the power rule")


def _inverse(t: _Told) -> Diagnosis:
    word = "missing" if t.of_theirs == (t.extra == "added") else "too much"
    return Diagnosis("inverse", f"An inverse is {word} {t.where}.", "A for A⁻¹")


def _sum(t: _Told) -> Diagnosis:
    kind, word = ("extra sum", "too much") if t.of_theirs else ("missing sum", "missing")
    return Diagnosis(kind, f"A sum is {word} {t.where}.", "a sum over an axis")


def _mean(t: _Told) -> Diagnosis:
    wrong, right = ("sum", "mean") if t.of_theirs else ("mean", "sum")
    return Diagnosis("factor", f"A {wrong} stands where a {right} should, {t.where}.", "1/n")


def _function(t: _Told) -> Diagnosis:
    given, right = t.extra if t.of_theirs else t.extra[::-1]
    word = f"{given} stands where {right} should" if given and right else f"{right} is missing"
    said = f"{word if right else f'{given} is too much'}, {t.where}."
    return Diagnosis("function", f"The function {said}", "the derivative of a function, or the inner derivative")


def _axis(t: _Told) -> Diagnosis:
    given, right = t.extra if t.of_theirs else t.extra[::-1]
    said = f"The axis of {t.part.op.name} is axis {given}, and should be axis {right}, {t.where}."
    return Diagnosis("axis", said, "the axis of a sum or a softmax")


def _constant(t: _Told) -> Diagnosis:
    given, right = t.extra if t.of_theirs else t.extra[::-1]
    return Diagnosis("factor", f"A number is wrong: {given} instead of {right}.", "a factor")


def _scaled(t: _Told) -> Diagnosis:
    factor = Fraction(t.extra)
    text = str(1 / factor if t.of_theirs else factor)
    return Diagnosis("factor", f"The part {t.shown} is {text} times what it should be.", "a factor")


def _stands(kind: str, hint: str) -> Callable[[_Told], Diagnosis]:
    return lambda t: Diagnosis(kind, f"{t.pair[0]} stands where {t.pair[1]} should.", hint)


_SENTENCES: dict[str, Callable[[_Told], Diagnosis]] = {
    "term": _term,
    "missing factor": _missing_factor,
    "product": _product,
    "exponent": _exponent,
    "inverse": _inverse,
    "sum": _sum,
    "mean": _mean,
    "axis": _axis,
    "constant": _constant,
    "factor": _scaled,
    "variable": _stands("variable", "a name taken for another"),
    "complement": _stands("complement", "p and 1 - p"),
    "size": _stands("factor", "n, n - 1 and the other sizes"),
    "sign": lambda t: Diagnosis("sign", f"A sign is wrong: that of {text_of(t.extra)}.", "a minus"),
    "transpose": lambda t: Diagnosis("transpose", f"A transpose is wrong {t.where}.", "A for Aᵀ"),
    "order": lambda t: Diagnosis(
        "order", f"The factors stand in the wrong order {t.where}.", "matrix products do not commute"
    ),
    "function": _function,
    "diag": lambda t: Diagnosis(
        "diag", f"A diag is {'too much' if t.of_theirs else 'missing'} {t.where}.", "diag(x) and x"
    ),
}


def text_of(term: Any) -> str:
    """A short text of a part of a formula."""
    from symgrad.formula.sympy.texts import text

    term = term.term() if isinstance(term, Later) else term
    if not isinstance(term, Term):
        return str(getattr(term, "name", term))
    try:
        found = text(term)
    except (SymgradError, ValueError, TypeError, KeyError):
        return describe(term)
    return found if len(found) <= 60 else describe(term)
