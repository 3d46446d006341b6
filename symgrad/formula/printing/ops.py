"""How each op is written in LaTeX: arithmetic, functions, conditions; matrices are in the room next door."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from symgrad.dtypes import is_floating
from symgrad.formula.canonical.matrices.triangles import asks_diagonal, without_two
from symgrad.formula.printing import blocks, matrices, pieces, special
from symgrad.formula.printing.calls import WRITERS, called, diagonal_matrix, exact, function, operator, power, writes
from symgrad.formula.printing.latex import Writer, kind_of
from symgrad.formula.printing.pieces import (
    ATOM,
    LOGIC,
    OPEN,
    POWER,
    RELATION,
    Piece,
    brackets,
    closed,
    text_of,
    transposed,
)
from symgrad.formula.term import Term, constant_value, full
from symgrad.op import lookup
from symgrad.ops.reductions.products import QUOTIENTS

# ---------------------------------------------------------------------------------------------- arithmetic


@writes("add", "sub")
def _sum(w: Writer, t: Term) -> Piece | None:
    a, b = (w.operand(x, t.shape) for x in t.args)
    if t.op.name == "sub":
        b = b.replaced(coef=-b.coef)
    return pieces.total(kind_of(t.shape), [a, b])


@writes("neg")
def _neg(w: Writer, t: Term) -> Piece:
    a = w.operand(t.args[0])
    return a.replaced(coef=-a.coef)


@writes("mul")
def _mul(w: Writer, t: Term) -> Piece:
    x, y = t.args
    a, b = w.operand(x), w.operand(y)
    for one, other, term in ((a, b, x), (b, a, y)):
        value = constant_value(term)
        if one.kind != "s" and value is not None and value != 0 and other.kind == kind_of(t.shape):
            return pieces.product(pieces.number_piece(value), other)
    kind = kind_of(t.shape)
    if a.kind == "s" or b.kind == "s":
        return pieces.product(a, b).replaced(kind=kind) if kind != "s" else pieces.product(a, b)
    if kind == "m" and x.shape != y.shape:
        found = _scaled_matrix(w, x, y, a, b)
        if found is not None:
            return found
    return pieces.hadamard(kind, w.operand(x, t.shape), w.operand(y, t.shape))


def _scaled_matrix(w: Writer, x: Term, y: Term, a: Piece, b: Piece) -> Piece | None:
    """Rows or columns scaled by a vector: a product with its diagonal matrix, or an outer product."""
    kinds = tuple("r" if p.ndim == 1 else q.kind for p, q in ((x, a), (y, b)))
    rows = [transposed(q) if p.ndim == 1 else q for p, q in ((x, a), (y, b))]
    if set(kinds) == {"c", "r"}:
        column, row = rows if kinds[0] == "c" else reversed(rows)
        return pieces.matrix_product("m", column, row)
    if kinds[0] == "m":
        kinds, rows = kinds[::-1], rows[::-1]
    if kinds[1] != "m":
        return None
    if kinds[0] == "c":
        return pieces.matrix_product("m", diagonal_matrix(w, rows[0]), rows[1])
    return pieces.matrix_product("m", rows[1], diagonal_matrix(w, transposed(rows[0])))


@writes("div", "ratio")
def _div(w: Writer, t: Term) -> Piece:
    if t.op.name == "ratio" and kind_of(t.shape) == "t":
        return called(w, t)
    above = t.args[0]
    if above.op.name in ("div", "ratio") and above.shape == above.args[1].shape == t.args[1].shape == t.shape != ():
        # One fraction bar for (a/b)/c.
        return w.write(lookup("div")(above.args[0], lookup("mul")(above.args[1], t.args[1])))
    a, b = (w.operand(x, t.shape) if x.shape != () else w.operand(x) for x in t.args)
    if b.kind == "s":
        return pieces.quotient(a, b)
    return pieces.fraction(kind_of(t.shape), a, b)


@writes("reciprocal")
def _reciprocal(w: Writer, t: Term) -> Piece:
    one, b = Piece("s"), w.operand(t.args[0])
    return pieces.quotient(one, b) if b.kind == "s" else pieces.fraction(b.kind, one, b)


@writes("pow", "square", "rsqrt")
def _pow(w: Writer, t: Term) -> Piece:
    base = w.operand(t.args[0], t.shape)
    if t.op.name != "pow":
        return power(base, Fraction(2) if t.op.name == "square" else Fraction(-1, 2))
    k = t.args[1].number
    if isinstance(k, (int, Fraction)) and not isinstance(k, bool):
        if t.args[0].op.name == "exp" and k > 1 and not w.taken("e") and t.args[0].args[0].op.name != "lgamma":
            # (eᵘ)ᵏ is e^(ku), always; Γ(u)ᵏ stays.
            return w.write(lookup("exp")(lookup("mul")(k, t.args[0].args[0])))
        return power(base, Fraction(k))
    exponent = w.operand(t.args[1], t.shape)
    made = pieces.raised(base, text_of(exponent), base.kind != "s")
    return made.replaced(kind=kind_of(t.shape))


# ---------------------------------------------------------------------------------------------- functions


def named(w: Writer, t: Term) -> Piece | None:
    """A function by what its entry says it is called, with its order below; None where a symbol is written so."""
    name = t.op.called or ""
    head, _, inner = name.rpartition(" ")
    if w.taken(re.split("['^_]", inner)[0]):
        return None
    args = [text_of(w.operand(x, t.shape)) for x in t.args]
    if "n" in t.params:
        name = f"{name}_{{{t.params['n']}}}"
    whole = name + brackets(", ".join(args))
    if head:
        return Piece(kind_of(t.shape), whole, OPEN)
    # ψ² before an argument would look like a derivative of ψ, and exponents of upright letters are theirs.
    alone = len(args) == 1 and name != r"\psi" and not name.startswith(r"\mathrm") and not name.endswith("^{-1}")
    return Piece(kind_of(t.shape), whole, call=(name, args[0]) if alone else None)


@writes("sigmoid")
def _sigmoid(w: Writer, t: Term) -> Piece:
    name = operator("sigmoid") if w.taken(r"\sigma") else r"\sigma"
    argument = text_of(w.operand(t.args[0]))
    return Piece(kind_of(t.shape), name + brackets(argument), call=(name, argument))


@writes("exp")
def _exp(w: Writer, t: Term) -> Piece:
    if constant_value(t.args[0]) == 0 and t.shape == ():
        return Piece("s")
    if t.args[0].op.name == "lgamma" and not w.taken(r"\Gamma"):
        return function(kind_of(t.shape), r"\Gamma", text_of(w.operand(t.args[0].args[0])))
    argument = text_of(w.operand(t.args[0]))
    if w.taken("e"):
        return Piece(kind_of(t.shape), r"\exp" + brackets(argument), call=(r"\exp", argument))
    return Piece(kind_of(t.shape), rf"e^{{{argument}}}", POWER)


@writes("softplus")
def _softplus(w: Writer, t: Term) -> Piece:
    x = t.args[0]
    return w.write(lookup("log")(lookup("add")(1, lookup("exp")(x))))


@writes("sqrt")
def _sqrt(w: Writer, t: Term) -> Piece:
    return Piece(kind_of(t.shape), rf"\sqrt{{{text_of(w.operand(t.args[0]))}}}", POWER)


@writes("cbrt")
def _cbrt(w: Writer, t: Term) -> Piece:
    return Piece(kind_of(t.shape), rf"\sqrt[3]{{{text_of(w.operand(t.args[0]))}}}", POWER)


@writes("log_softmax")
def _log_softmax(w: Writer, t: Term) -> Piece | None:
    if t.params["dim"] != t.ndim - 1:
        return None
    return Piece(kind_of(t.shape), rf"\log {operator('softmax')}" + brackets(text_of(exact(w, t.args[0]))), OPEN)


@writes("softmax")
def _softmax(w: Writer, t: Term) -> Piece | None:
    if t.params["dim"] != t.ndim - 1:
        return None
    return function(kind_of(t.shape), operator("softmax"), text_of(exact(w, t.args[0])))


@writes("polygamma")
def _polygamma(w: Writer, t: Term) -> Piece | None:
    if w.taken(r"\psi"):
        return None
    return function(kind_of(t.shape), rf"\psi^{{({t.params['n']})}}", text_of(w.operand(t.args[0])))


@writes("step")
def _step(w: Writer, t: Term) -> Piece:
    """1 where the first is greater and ½ where both are equal: Heaviside's function of the difference."""
    a, b = (w.operand(x, t.shape) for x in t.args)
    difference = a if constant_value(t.args[1]) == 0 else pieces.total(a.kind, [a, b.replaced(coef=-b.coef)])
    return function(kind_of(t.shape), operator("Heaviside"), text_of(difference))


@writes("abs", "floor", "ceil", "conj")
def _fenced(w: Writer, t: Term) -> Piece:
    left, right = {
        "abs": (r"\left|", r"\right|"),
        "floor": (r"\left\lfloor ", r"\right\rfloor"),
        "ceil": (r"\left\lceil ", r"\right\rceil"),
        "conj": (r"\overline{", "}"),
    }[t.op.name]
    a = w.operand(t.args[0])
    made = Piece(kind_of(t.shape), left + text_of(a) + right)
    if t.op.name != "conj" or not a.bare or made.kind == "t":
        return made
    # The transpose of a conjugate is written Xᴴ, unless something is called H.
    base, mark = (closed((a.core, a.level), ATOM), "H") if a.power is None else (a.power[0], f"{a.power[1]}H")
    return made if w.taken("H") else made.replaced(flip=(rf"{base}^{{{mark}}}", POWER))


@writes("floor_divide", "div_floor", "div_trunc")
def _rounded_quotient(w: Writer, t: Term) -> Piece | None:
    rounded = lookup("trunc" if t.op.name == "div_trunc" else "floor")
    return w.write(rounded(lookup("div")(*t.args)))


@writes("remainder")
def _remainder(w: Writer, t: Term) -> Piece:
    a, b = (w.operand(x, t.shape) for x in t.args)
    left, right = (closed(pieces.signed(p), POWER) for p in (a, b))
    return Piece(kind_of(t.shape), rf"{left} \bmod {right}", pieces.CROSS)


_UPRIGHT = {
    "real": operator("Re"), "imag": operator("Im"), "dsinc": operator("sinc") + "'", "clamp": operator("clip"),
    "maximum": r"\max", "clamp_min": r"\max", "minimum": r"\min", "clamp_max": r"\min", "ellipeinc": r"\mathrm{E}",
}  # fmt: skip


@writes(*_UPRIGHT)
def _upright(w: Writer, t: Term) -> Piece:
    """Functions by a name that no symbol can have."""
    return function(kind_of(t.shape), _UPRIGHT[t.op.name], *(text_of(w.operand(x, t.shape)) for x in t.args))


@writes("cast", "clone", "detach", "unrecorded", "beside", "by_pieces")
def _transparent(w: Writer, t: Term) -> Piece | None:
    source = t.args[0].dtype
    if (
        t.op.name == "cast"
        and t.params["dtype"].startswith(("int", "uint", "bool"))
        and (source is None or is_floating(source))
    ):
        return None
    return w.operand(t.args[0])


@writes("log2", "log10")
def _logarithm_to_base(w: Writer, t: Term) -> Piece:
    argument = text_of(w.operand(t.args[0]))
    name = rf"\log_{{{t.op.name.removeprefix('log')}}}"
    return Piece(kind_of(t.shape), name + brackets(argument))


@writes("exp2")
def _power_of_two(w: Writer, t: Term) -> Piece | None:
    """2ˣ; of whole numbers a power would be one of whole numbers, which has no halves."""
    (x,) = t.args
    while x.op.name == "cast":
        (x,) = x.args
    whole = x.dtype is None or not is_floating(x.dtype)
    return w.write(lookup("exp")(t.args[0] * lookup("log")(2)) if whole else lookup("pow")(2, t.args[0]))


@writes("log1p", "expm1", "hypot", "logaddexp", "shifted_exp", "xlogy", "xlog1py", "entr")
@writes("mean", "deg2rad", "rad2deg", "adjugate", "adjugate_moved", "divided_where", *QUOTIENTS)
def _defined(w: Writer, t: Term) -> Piece | None:
    """Ops that the reader knows better by their definition."""
    define: Any = t.op.define
    return w.write(define(*t.args, **t.params))


# ---------------------------------------------------------------------------------------------- conditions

_SIGNS = {"gt": ">", "ge": r"\ge", "lt": "<", "le": r"\le", "eq": "=", "tied": "=", "ne": r"\ne"}


@writes(*_SIGNS)
def _relation(w: Writer, t: Term) -> Piece:
    return _related(w, t, t.op.name)


def _related(w: Writer, t: Term, name: str) -> Piece:
    """The sides of a comparison with the sign of ``name`` between them: u - v > 0 is u > v, and 1 - u > 0 is u < 1."""
    x, y = t.args
    if y.number == 0 and x.op.name in ("sub", "neg") and x.shape == t.shape:
        x, y = x.args if x.op.name == "sub" else (y, *x.args)
        if constant_value(x) is not None:
            x, y, name = y, x, lookup(name).turned or name
    a, b = (text_of(w.operand(z, t.shape)) for z in (x, y))
    return Piece(kind_of(t.shape), f"{a} {_SIGNS[name]} {b}", RELATION)


@writes("logical_and", "logical_or")
def _logical(w: Writer, t: Term) -> Piece:
    within = _between(w, t)
    if within is not None:
        return within
    sign = r"\wedge" if t.op.name == "logical_and" else r"\vee"
    sides = [w.raw(x) if x.shape == t.shape else w.operand(x, t.shape) for x in t.args]
    a, b = (closed((text_of(p), p.level), RELATION) for p in sides)
    return Piece(kind_of(t.shape), f"{a} {sign} {b}", LOGIC)


def _between(w: Writer, t: Term) -> Piece | None:
    """a ≤ u ≤ b for u ≥ a and u ≤ b."""
    sides = [_comparison(x) for x in t.args]
    names = [name for name, _ in sides]
    if t.op.name != "logical_and" or sides[0][1][:1] != sides[1][1][:1] or not sides[0][1]:
        return None
    if names[0] in ("lt", "le"):
        sides, names = sides[::-1], names[::-1]
    if names[0] not in ("gt", "ge") or names[1] not in ("lt", "le"):
        return None
    (low, (u, bottom)), (high, (_, top)) = sides
    a, x, b = (text_of(w.operand(z, t.shape)) for z in (bottom, u, top))
    first, second = ("<" if name in ("gt", "lt") else r"\le" for name in (low, high))
    return Piece(kind_of(t.shape), f"{a} {first} {x} {second} {b}", RELATION)


def _comparison(t: Term) -> tuple[str, tuple[Term, ...]]:
    """The name and sides of a comparison, or of one that is negated."""
    inner = t.args[0] if t.op.name == "logical_not" else t
    if inner.op.opposite is None:
        return "", ()
    return (inner.op.name if inner is t else inner.op.opposite), inner.args


@writes("logical_not")
def _not(w: Writer, t: Term) -> Piece:
    """The other comparison, which is the same for all numbers; what else is negated has a sign of its own."""
    inner = t.args[0]
    if inner.op.opposite is not None and inner.shape == t.shape:
        return _related(w, inner, inner.op.opposite)
    a = w.raw(inner)
    return Piece(kind_of(t.shape), rf"\neg {closed((text_of(a), a.level), ATOM)}", LOGIC)


@writes("where")
def _where(w: Writer, t: Term) -> Piece:
    if asks_diagonal(t.args[0]) and t.args[1].number == 0 and without_two(t.args[2]):
        off = lookup("outer")(*(full((n,), 1, t.dtype) for n in t.shape)) - t.args[0].args[0]
        return w.write(off * t.args[2])
    bracket = _iverson(w, t)
    if bracket is not None:
        return bracket
    first, second = (w.operand(x, t.shape) for x in t.args[1:])
    if text_of(first) == text_of(second):  # which differ in slopes that are not followed
        return first
    rows, rest = [], t
    while _has_cases(rest, t.shape):
        asked, here, below = rest.args
        if _has_cases(here, t.shape) and not _has_cases(below, t.shape):
            # One list of cases in place of a list in a list.
            asked, here, below = lookup("logical_not")(asked), below, here
            w.write(asked)
        condition, lifted = w.raw(asked), w.operand(asked, t.shape)
        if text_of(lifted) != text_of(w.operand(asked)):
            condition = lifted
        rows.append(rf"{text_of(w.operand(here, t.shape))} & \text{{for}}\: {text_of(condition)}")
        rest = below
    rows.append(rf"{text_of(w.operand(rest, t.shape))} & \text{{otherwise}}")
    return Piece(kind_of(t.shape), r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}", POWER)


def _has_cases(t: Term, shape: tuple[Any, ...]) -> bool:
    """Whether a term is a choice of this shape that is no condition in brackets."""
    return t.op.name == "where" and t.shape == shape and not _asks(t)


def _asks(t: Term) -> bool:
    """Whether a choice is 1 where a comparison holds and 0 elsewhere, or the other way round."""
    condition, first, second = t.args
    inner = condition.args[0] if condition.op.name == "logical_not" else condition
    compares = inner.op.opposite is not None and condition.shape == t.shape
    return compares and {first.number, second.number} == {0, 1}


def _iverson(w: Writer, t: Term) -> Piece | None:
    """[c] for 1 where c holds and 0 elsewhere, which is what Iverson's brackets mean."""
    if not _asks(t):
        return None
    condition = t.args[0] if t.args[1].number == 1 else lookup("logical_not")(t.args[0])
    w.write(condition)
    return w.operand(condition)


__all__ = ["WRITERS", "blocks", "called", "matrices", "special"]
