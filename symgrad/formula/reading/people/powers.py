r"""What people put after a letter or bracket: ``x^2``, ``A^T``, ``A^{-1}``, ``X^{-1/2}``, ``k!``, ``(x)_+``.

The functions take the reader (:class:`symgrad.formula.reading.people.tex.PeopleReader`) and what was read before.
"""

from __future__ import annotations

from typing import Any

from symgrad.formula.canonical.simplify import canonical
from symgrad.formula.reading.families import Family, family_of, settled
from symgrad.formula.reading.people.functions import factorial as factorial_of
from symgrad.formula.reading.people.tokens import ADJOINT, LETTERS_TURNED, TURNED
from symgrad.formula.reading.text import power
from symgrad.formula.reading.values import Value, entrywise, op, pseudo_inverse, transposed
from symgrad.formula.term import Term, number
from symgrad.op import lookup


def raised(r: Any, base: Any) -> Any:
    """A power, transpose or inverse, after its sign."""
    tokens = r.tokens
    place = tokens.at
    tokens.expect("{")
    turned = _turned(r, base)
    if turned is not None:
        return turned
    mark = tokens.peek()
    if mark in ("(", "[") and [tokens.peek(k) for k in (2, 3)] in ([")", "}"], ["]", "}"]):
        label = "".join(tokens.peek(k) for k in range(3))
        raise tokens.error(
            f"^{{{label}}} is a label; write it as an index, x_{{{label[1]}}}, and powers without brackets"
        )
    flipped = tokens.peek(1) in TURNED
    pseudo = mark == "+" or (mark == r"\dagger" and (flipped or r.others.get("pseudo")))
    if pseudo and tokens.peek(1 + flipped) == "}" and base.kind == "m":
        tokens.at += 2 + flipped
        found = Value("m", pseudo_inverse(base.term))
        return transposed(found) if flipped else found
    if mark == r"\top":
        tokens.take()
        raise tokens.error("'}' is missing")
    entry = tokens.found(r"\odot")
    exponent = r.condition()
    flipped = tokens.found(r"\top")
    tokens.expect("}")
    k = None if exponent.kind == "indexed" else exponent.term.number
    if k == 2 and not entry and base.kind in ("v", "r") and r.others.get("lengths"):
        out = Value("s", op("matmul", base.term, base.term))
    elif entry or exponent.kind == "indexed" or base.kind in ("s", "o", "v", "r", "indexed"):
        out = r.entrywise(power, base, exponent)
    elif isinstance(k, int):
        out = _matrix_power(r, base, k)
    else:
        out = _spectral_power(r, base, exponent.term, place)
    return transposed(out) if flipped else out


def _turned(r: Any, base: Any) -> Any:
    r"""The transpose, adjoint or inverse of a transpose, where ``^{…}`` says no more than that; else None."""
    tokens = r.tokens
    minus = tokens.peek() == "-"
    at = 2 if minus and tokens.peek(1) == "1" else int(minus)
    mark = tokens.peek(at)
    named = mark in LETTERS_TURNED and r.is_scalar(mark)
    number_turned = mark == "t" and base.kind in ("s", "indexed")
    if tokens.peek(at + 1) != "}" or mark not in TURNED | ADJOINT or named or number_turned:
        return None
    if mark == r"\dagger" and r.others.get("pseudo"):
        return None
    tokens.at += at + 2
    turned = settled(family_of(base).transposed()) if base.kind == "t" else transposed(base)
    if mark in ADJOINT:
        turned = entrywise(lambda x: op("conj", x), turned)
    return inverse(r, turned) if minus else turned


def _spectral_power(r: Any, base: Any, exponent: Term, place: int) -> Any:
    """A power of a symmetric matrix that is no integer, such as ``(X^T X)^{-1/2}``."""
    term = r.square(base)
    if exponent.shape or (canonical(term) is not canonical(term.T) and term.params.get("structure") not in _SYMMETRIC):
        r.tokens.at = place
        raise r.tokens.error(
            r"a power of a matrix is an integer here, unless the matrix is symmetric; entry by entry it is written "
            r"A^{\odot p}"
        )
    vectors = op("eigh_vectors", term)
    return Value("m", (vectors * power(op("eigvalsh", term), exponent)) @ vectors.T)


_SYMMETRIC = ("symmetric", "psd", "spd", "diagonal", "hermitian")


def inverse(r: Any, a: Any) -> Any:
    """The inverse of a square matrix or of a number."""
    if isinstance(a, Family) and a.kind == "m":
        return a.each("m", lookup("inv"))
    if a.kind == "t":
        return Value("t", op("inv", a.term))
    if a.kind in ("eye", "s"):
        return Value(a.kind, op("div", 1, a.term))
    return Value("m", op("inv", r.square(a)))


def _matrix_power(r: Any, base: Any, k: int) -> Any:
    """An integer power of a square matrix."""
    if abs(k) > 64:
        raise r.tokens.error(f"the matrix power {k} is beyond what is read")
    if base.kind == "eye":
        return Value("eye", power(base.term, number(k)))
    if k == 0:
        return Value("eye", number(1))
    one = base if k > 0 else inverse(r, base)
    out = one
    for _ in range(abs(k) - 1):
        out = r.times(out, one)
    return out


def positive_part(r: Any, base: Any) -> Any:
    """``(x)_+``, which is x where that is positive and 0 elsewhere."""
    r.tokens.at += 4
    return entrywise(lookup("relu"), base)


def factorial(r: Any, base: Any) -> Any:
    """``k!`` of a number."""
    return entrywise(factorial_of, base)
