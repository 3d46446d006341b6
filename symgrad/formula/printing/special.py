"""LaTeX of special functions with orders and degrees."""

from __future__ import annotations

from symgrad.formula.printing.calls import exact, function, writes
from symgrad.formula.printing.latex import Writer, kind_of
from symgrad.formula.printing.names import FOURIER
from symgrad.formula.printing.pieces import Piece, text_of
from symgrad.formula.term import Term
from symgrad.op import lookup

_FAMILY: dict[str, dict[float, str]] = {
    "chebyshev_polynomial_t": {0: "T"},
    "hermite_polynomial_h": {0: "H"},
    "hermite_polynomial_he": {0: "He"},
    "laguerre_polynomial": {0: "L"},
    "gegenbauer_polynomial": {0.5: "P", 1: "U"},
}
"""The letters of polynomials, by their second parameter."""


@writes(*_FAMILY)
def _polynomial(w: Writer, t: Term) -> Piece | None:
    """T_n, H_n, L_n; Gegenbauer's of parameters 1/2 and 1 are P_n and U_n."""
    letter = _FAMILY[t.op.name].get(t.params.get("a", 0))
    if letter is None:
        return None
    return function(kind_of(t.shape), rf"\mathrm{{{letter}}}_{{{t.params['n']}}}", text_of(w.operand(t.args[0])))


@writes("zeta")
def _zeta(w: Writer, t: Term) -> Piece | None:
    if w.taken(r"\zeta"):
        return None
    return function(kind_of(t.shape), r"\zeta", *(text_of(w.operand(x, t.shape)) for x in t.args))


@writes("betainc")
def _incomplete_beta(w: Writer, t: Term) -> Piece:
    a, b, x = (text_of(w.operand(x, t.shape)) for x in t.args)
    return function(kind_of(t.shape), rf"\mathrm{{I}}_{{{x}}}", a, b)


@writes("spence")
def _dilogarithm(w: Writer, t: Term) -> Piece:
    """Li₂(1 - x)."""
    argument = w.write(lookup("sub")(1, t.args[0]))
    return function(kind_of(t.shape), r"\mathrm{Li}_{2}", text_of(argument))


@writes("fourier")
def _fourier(w: Writer, t: Term) -> Piece:
    """𝓕 along all axes, or along those below it; 𝓕* is the adjoint, which needs no sizes, and 𝓤 the unitary one."""
    p = t.params
    letter, mark = FOURIER[p["inverse"], p["norm"]]
    along = "" if p["dims"] == tuple(range(t.ndim)) else f"_{{{','.join(map(str, p['dims']))}}}"
    return function(kind_of(t.shape), rf"\mathcal{{{letter}}}{along}{mark}", text_of(exact(w, t.args[0])))
