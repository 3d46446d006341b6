"""LaTeX of special functions with orders and degrees, and of operations on bits."""

from __future__ import annotations

from fractions import Fraction

from symgrad.formula import pieces
from symgrad.formula.latex import Writer, kind_of
from symgrad.formula.pieces import ATOM, Piece, text_of
from symgrad.formula.term import Term
from symgrad.formula.texcalls import function, writes

_FAMILY = {"chebyshev_t": "T", "hermite": "H", "hermite_prob": "He", "laguerre": "L", "gegenbauer": "C"}
_BESSEL = {"bessel_j": "J", "bessel_y": "Y", "bessel_i": "I", "bessel_k": "K"}
_PAIRS = {"gammainc": r"\mathrm{P}", "gammaincc": r"\mathrm{Q}", "zeta": r"\zeta", "gcd": r"\gcd"}
_BITS = {"bitwise_and": r"\mathbin{\&}", "bitwise_or": r"\mathbin{|}", "bitwise_xor": r"\oplus"}
_SHIFTS = {"bitwise_left_shift": r"\ll", "bitwise_right_shift": r"\gg"}


@writes(*_BESSEL)
def _bessel(w: Writer, t: Term) -> Piece:
    name = rf"\mathrm{{{_BESSEL[t.op.name]}}}_{{{t.params['n']}}}"
    return function(kind_of(t.shape), name, text_of(w.operand(t.args[0])))


@writes(*_FAMILY)
def _polynomial(w: Writer, t: Term) -> Piece:
    """T_n, H_n, L_n, and with a second parameter P_n and U_n under the names of their own."""
    letter, upper, a = _FAMILY[t.op.name], "", t.params.get("a", 0)
    if t.op.name == "gegenbauer" and a in (0.5, 1):
        letter = "P" if a == 0.5 else "U"
    elif a:
        number = Fraction(a)
        upper = f"^{{({number.numerator}" + (f"/{number.denominator}" if number.denominator != 1 else "") + ")}"
    name = rf"\mathrm{{{letter}}}_{{{t.params['n']}}}{upper}"
    return function(kind_of(t.shape), name, text_of(w.operand(t.args[0])))


@writes(*_PAIRS)
def _pair(w: Writer, t: Term) -> Piece | None:
    if t.op.name == "zeta" and w.taken(r"\zeta"):
        return None
    arguments = (text_of(w.operand(x, t.shape)) for x in t.args)
    return function(kind_of(t.shape), _PAIRS[t.op.name], *arguments)


@writes(*_BITS, *_SHIFTS)
def _bits(w: Writer, t: Term) -> Piece:
    sign = {**_BITS, **_SHIFTS}[t.op.name]
    a, b = (pieces.closed((text_of(p), p.level), ATOM) for p in (w.operand(x, t.shape) for x in t.args))
    return Piece(kind_of(t.shape), f"{a} {sign} {b}", pieces.LOGIC)


@writes("bitwise_not")
def _bits_turned(w: Writer, t: Term) -> Piece:
    a = w.operand(t.args[0])
    return Piece(kind_of(t.shape), rf"\mathord{{\sim}} {pieces.closed((text_of(a), a.level), ATOM)}", pieces.LOGIC)
