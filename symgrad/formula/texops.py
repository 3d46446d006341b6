"""How each op is written in LaTeX; ops without a rule here are written as named functions."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from symgrad.formula import pieces
from symgrad.formula.latex import Writer, kind_of
from symgrad.formula.pieces import ATOM, LOGIC, MUL, OPEN, POWER, RELATION, Piece, brackets, closed, text_of, transposed
from symgrad.formula.term import SYMBOL, Term, constant_value
from symgrad.op import lookup
from symgrad.ops.indexing import Index

Rule = Callable[[Writer, Term], "Piece | None"]
WRITERS: dict[str, Rule] = {}


def writes(*names: str) -> Callable[[Rule], Rule]:
    """Register a rule for ops."""

    def note(rule: Rule) -> Rule:
        for name in names:
            WRITERS[name] = rule
        return rule

    return note


# ---------------------------------------------------------------------------------------------- named functions


def function(piece_kind: str, name: str, *args: str) -> Piece:
    """A function with its arguments in brackets."""
    return Piece(piece_kind, name + brackets(", ".join(args)))


def operator(name: str) -> str:
    """An upright function name."""
    escaped = name.replace("_", r"\_")
    return rf"\operatorname{{{escaped}}}"


def static_tex(value: Any) -> str:
    """A static parameter."""
    if isinstance(value, tuple):
        return brackets(", ".join(map(static_tex, value)) + ("," if len(value) == 1 else ""))
    if isinstance(value, Index):
        return index_tex(value)
    if value is None or isinstance(value, bool):
        return rf"\mathrm{{{value}}}"
    if isinstance(value, str):
        return value if _is_size(value) else rf"\text{{{value}}}"
    return text_of(pieces.number_piece(value)) if isinstance(value, (int, float)) else rf"\text{{{value}}}"


def _is_size(value: str) -> bool:
    return len(value) <= 2 or any(c in value for c in "*+-")


def index_tex(index: Index) -> str:
    """An index as in NumPy, between square brackets."""
    parts = index.value if isinstance(index.value, tuple) else (index.value,)
    return "[" + ", ".join(map(_part_tex, parts)) + ("," if isinstance(index.value, tuple) and len(parts) == 1 else "") + "]"


def _part_tex(part: Any) -> str:
    if isinstance(part, slice):
        ends = ["" if v is None else str(v) for v in (part.start, part.stop)]
        return ":".join(ends) + (f":{part.step}" if part.step is not None else "")
    if part is Ellipsis:
        return r"\ldots"
    if part is None:
        return r"\mathrm{None}"
    if hasattr(part, "tolist"):
        return _nested(part.tolist())
    return str(part)


def _nested(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_nested, value)) + "]"
    return rf"\mathrm{{{value}}}" if isinstance(value, bool) else str(value)


def reshaped(piece: Piece, shape: tuple[Any, ...]) -> Piece:
    """A piece with its shape spelled out."""
    text = rf"{operator('reshape')}\left({text_of(piece)}; \mathrm{{shape}}={static_tex(shape)}\right)"
    return Piece(piece.kind, text)


def exact(w: Writer, t: Term) -> Piece:
    """An argument whose axes count one by one; symbols know their shape."""
    w.closing(t)
    return w.operand(t) if t.op is SYMBOL else w.exact(w.operand(t), t.shape)


def called(w: Writer, t: Term) -> Piece:
    """An op as a function: axes as a subscript, other parameters after a semicolon."""
    params = dict(t.params)
    subscript = ""
    if "dim" in params:
        dims = params.pop("dim")
        subscript = f"_{{{','.join(map(str, dims)) if isinstance(dims, tuple) else dims}}}"
        if isinstance(dims, tuple) and dims == tuple(range(t.args[0].ndim)) and t.op.name not in ("squeeze",):
            subscript = ""
    if params.get("keepdim") is False:
        del params["keepdim"]
    args = ", ".join(text_of(exact(w, a)) for a in t.args)
    rest = ", ".join(rf"\mathrm{{{k}}}={static_tex(v)}".replace("_", r"\_") for k, v in sorted(params.items()))
    return Piece(kind_of(t.shape), operator(t.op.name) + subscript + brackets("; ".join(x for x in (args, rest) if x)))


# ---------------------------------------------------------------------------------------------- arithmetic


@writes("add", "sub")
def _sum(w: Writer, t: Term) -> Piece | None:
    a, b = (_summand(w, x, t.shape) for x in t.args)
    if t.op.name == "sub":
        b = b.replaced(coef=-b.coef)
    return pieces.total(kind_of(t.shape), [a, b])


def _summand(w: Writer, t: Term, out: tuple[Any, ...]) -> Piece:
    return w.operand(t, out)


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


def diagonal_matrix(w: Writer, column: Piece) -> Piece:
    """diag(v), with the scalars of v in front; of ones the identity."""
    found = re.fullmatch(r"\\mathbf\{1\}(?:_\{(.*)\})?", column.core)
    unit = w.identity(found[1]) if found else None
    if unit is not None:
        return unit.with_lead(column.coef, column.top, column.bottom)
    text = operator("diag") + brackets(column.core)
    return Piece("m", text, flip=(text, ATOM)).with_lead(column.coef, column.top, column.bottom)


@writes("div", "ratio")
def _div(w: Writer, t: Term) -> Piece:
    if t.op.name == "ratio" and kind_of(t.shape) == "t":
        return called(w, t)
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
        return power(base, Fraction(k))
    exponent = w.operand(t.args[1], t.shape)
    made = pieces.raised(base, text_of(exponent), base.kind != "s")
    return made.replaced(kind=kind_of(t.shape))


def power(base: Piece, k: Fraction) -> Piece:
    """An exact power: square roots as roots, negative powers below a fraction bar."""
    size = abs(k)
    if size == 1:
        made = base
    elif size == Fraction(1, 2):
        made = Piece(base.kind, rf"\sqrt{{{text_of(base)}}}", POWER)
    else:
        exponent = str(size) if size.denominator == 1 else rf"\frac{{{size.numerator}}}{{{size.denominator}}}"
        made = pieces.raised(base, exponent, base.kind != "s")
    if k > 0:
        return made
    one = Piece("s")
    return pieces.quotient(one, made) if made.kind == "s" else pieces.fraction(made.kind, one, made)


# ---------------------------------------------------------------------------------------------- functions

_NAMED = {
    **{n: rf"\{n}" for n in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "log")},
    "asin": r"\arcsin", "acos": r"\arccos", "atan": r"\arctan", "erf": operator("erf"), "erfc": operator("erfc"),
    "digamma": r"\psi", "relu": operator("relu"), "sign": operator("sign"),
    "asinh": operator("asinh"), "acosh": operator("acosh"), "atanh": operator("atanh"), "sinc": operator("sinc"),
}  # fmt: skip


@writes(*_NAMED)
def _named(w: Writer, t: Term) -> Piece | None:
    name = _NAMED[t.op.name]
    if w.taken(name):
        return None
    argument = text_of(w.operand(t.args[0]))
    return Piece(kind_of(t.shape), name + brackets(argument), call=(name, argument))


@writes("sigmoid")
def _sigmoid(w: Writer, t: Term) -> Piece:
    name = operator("sigmoid") if w.taken(r"\sigma") else r"\sigma"
    argument = text_of(w.operand(t.args[0]))
    return Piece(kind_of(t.shape), name + brackets(argument), call=(name, argument))


@writes("exp")
def _exp(w: Writer, t: Term) -> Piece:
    if constant_value(t.args[0]) == 0 and t.shape == ():
        return Piece("s")
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


@writes("logsigmoid", "lgamma", "log_softmax")
def _log_of(w: Writer, t: Term) -> Piece | None:
    inner = {"logsigmoid": r"\sigma", "lgamma": r"\Gamma", "log_softmax": operator("softmax")}[t.op.name]
    if w.taken(inner) or ("dim" in t.params and t.params["dim"] != t.ndim - 1):
        return None
    return Piece(kind_of(t.shape), rf"\log {inner}" + brackets(text_of(w.operand(t.args[0]))), OPEN)


@writes("softmax")
def _softmax(w: Writer, t: Term) -> Piece | None:
    if t.params["dim"] != t.ndim - 1:
        return None
    w.closing(t.args[0])
    return function(kind_of(t.shape), operator("softmax"), text_of(w.operand(t.args[0])))


@writes("polygamma")
def _polygamma(w: Writer, t: Term) -> Piece | None:
    if w.taken(r"\psi"):
        return None
    return function(kind_of(t.shape), rf"\psi^{{({t.params['n']})}}", text_of(w.operand(t.args[0])))


@writes("abs", "floor", "ceil", "conj")
def _fenced(w: Writer, t: Term) -> Piece:
    left, right = {
        "abs": (r"\left|", r"\right|"),
        "floor": (r"\left\lfloor ", r"\right\rfloor"),
        "ceil": (r"\left\lceil ", r"\right\rceil"),
        "conj": (r"\overline{", "}"),
    }[t.op.name]
    return Piece(kind_of(t.shape), left + text_of(w.operand(t.args[0])) + right)


@writes("real", "imag")
def _parts(w: Writer, t: Term) -> Piece:
    name = operator("Re" if t.op.name == "real" else "Im")
    return function(kind_of(t.shape), name, text_of(w.operand(t.args[0])))


@writes("maximum", "minimum", "clamp_min", "clamp_max")
def _extreme(w: Writer, t: Term) -> Piece:
    name = r"\max" if t.op.name in ("maximum", "clamp_min") else r"\min"
    return function(kind_of(t.shape), name, *(text_of(w.operand(x, t.shape)) for x in t.args))


@writes("clamp")
def _clamp(w: Writer, t: Term) -> Piece:
    return function(kind_of(t.shape), operator("clip"), *(text_of(w.operand(x, t.shape)) for x in t.args))


@writes("cast", "clone")
def _transparent(w: Writer, t: Term) -> Piece | None:
    source = t.args[0].dtype
    if t.op.name == "cast" and t.params["dtype"].startswith(("int", "uint", "bool")) and (source is None or source.kind in "fc"):
        return None
    return w.operand(t.args[0])


@writes("log1p", "expm1", "exp2", "log2", "log10", "hypot", "logaddexp", "shifted_exp", "xlogy", "adjugate", "mean")
def _defined(w: Writer, t: Term) -> Piece | None:
    """Ops that the reader knows better by their definition."""
    return w.write(t.op.define(*t.args, **t.params))


# ---------------------------------------------------------------------------------------------- conditions

_SIGNS = {"gt": ">", "ge": r"\ge", "lt": "<", "le": r"\le", "eq": "=", "ne": r"\ne"}


@writes(*_SIGNS)
def _relation(w: Writer, t: Term) -> Piece:
    a, b = (text_of(w.operand(x, t.shape)) for x in t.args)
    return Piece(kind_of(t.shape), f"{a} {_SIGNS[t.op.name]} {b}", RELATION)


@writes("logical_and", "logical_or")
def _logical(w: Writer, t: Term) -> Piece:
    sign = r"\wedge" if t.op.name == "logical_and" else r"\vee"
    sides = [w.raw(x) for x in t.args]
    a, b = (closed((text_of(p), p.level), RELATION) for p in sides)
    return Piece(kind_of(t.shape), f"{a} {sign} {b}", LOGIC)


@writes("logical_not")
def _not(w: Writer, t: Term) -> Piece:
    a = w.raw(t.args[0])
    return Piece(kind_of(t.shape), rf"\neg {closed((text_of(a), a.level), ATOM)}", LOGIC)


@writes("where")
def _where(w: Writer, t: Term) -> Piece:
    rows, rest = [], t
    while rest.op.name == "where" and rest.shape == t.shape:
        condition = w.raw(rest.args[0])
        if rest.args[0].shape != t.shape:
            condition = w.lifted(condition, rest.args[0].shape, t.shape) if condition.level > RELATION else condition
        rows.append(rf"{text_of(w.operand(rest.args[1], t.shape))} & \text{{for}}\: {text_of(condition)}")
        rest = rest.args[2]
    rows.append(rf"{text_of(w.operand(rest, t.shape))} & \text{{otherwise}}")
    return Piece(kind_of(t.shape), r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}")


# ---------------------------------------------------------------------------------------------- matrices


@writes("full")
def _full(w: Writer, t: Term) -> Piece | None:
    value, kind = t.params["value"], kind_of(t.shape)
    if kind == "s" or value == 0:
        return pieces.number_piece(value) if kind == "s" else Piece(kind, "0")
    return None if kind == "t" else pieces.product(pieces.number_piece(value), w.ones(kind, t.shape))


@writes("eye")
def _eye(w: Writer, t: Term) -> Piece | None:
    return w.identity(t.params["n"])


@writes("permute")
def _permute(w: Writer, t: Term) -> Piece | None:
    if t.ndim == 1:
        return w.operand(t.args[0])
    return transposed(w.operand(t.args[0])) if t.params["dims"] == (1, 0) else None


@writes("matmul")
def _matmul(w: Writer, t: Term) -> Piece | None:
    x, y = t.args
    if x.ndim > 2 or y.ndim > 2:
        return None
    a, b = w.operand(x), w.operand(y)
    if a.kind == "s" or b.kind == "s":
        return pieces.product(a, b)
    w.closing(x, y)
    kind = kind_of(t.shape)
    if x.ndim == 1 and y.ndim == 1:
        return pieces.matrix_product("s", transposed(a), b)
    if x.ndim == 1:
        return pieces.matrix_product(kind, transposed(b), a)
    return pieces.matrix_product(kind, a, b)


@writes("outer")
def _outer(w: Writer, t: Term) -> Piece | None:
    a, b = (w.operand(x) for x in t.args)
    if a.kind == "s" or b.kind == "s":
        made = pieces.product(a, b)
        return transposed(made) if made.kind == "c" and kind_of(t.shape) == "r" else made
    if a.kind != "c" or b.kind != "c":
        return None
    made = pieces.matrix_product("m", a, transposed(b))
    back = pieces.matrix_product("m", b, transposed(a))
    return made.replaced(flip=(back.core, back.level))


@writes("unsqueeze", "squeeze")
def _axes(w: Writer, t: Term) -> Piece | None:
    a = w.operand(t.args[0])
    kind = kind_of(t.shape)
    if kind == "t" or a.kind == "t":
        return None
    return transposed(a) if {kind, a.kind} == {"r", "c"} else a


@writes("expand")
def _expand(w: Writer, t: Term) -> Piece | None:
    x, kind = t.args[0], kind_of(t.shape)
    if kind == "t":
        return None
    a = w.operand(x)
    if kind == "s":
        return a
    if a.kind == "s":
        return pieces.product(a, w.ones(kind, t.shape))
    if len(t.shape) == 1:
        return a
    return w.lifted(a, x.shape, t.shape)


@writes("sum")
def _sum_over(w: Writer, t: Term) -> Piece | None:
    x, axes = t.args[0], t.params["dim"]
    a = w.operand(x)
    if a.kind == "t" or kind_of(t.shape) == "t":
        return None
    if a.kind == "s":
        return a
    w.closing(x)
    sizes = x.shape if x.ndim == 2 else (*x.shape, *x.shape)
    if a.kind in "cr":
        if kind_of(t.shape) != "s":
            return transposed(a) if kind_of(t.shape) != a.kind else a
        column = a if a.kind == "c" else transposed(a)
        long = sizes[0] if a.kind == "c" else sizes[1]
        return pieces.matrix_product("s", w.ones("r", (long,)), column)
    if axes == (0, 1):
        return pieces.matrix_product("s", pieces.matrix_product("r", w.ones("r", sizes[:1]), a), w.ones("c", sizes[1:]))
    if axes == (1,):
        return pieces.matrix_product("c", a, w.ones("c", sizes[1:]))
    if t.params["keepdim"]:
        return pieces.matrix_product("r", w.ones("r", sizes[:1]), a)
    return pieces.matrix_product("c", transposed(a), w.ones("c", sizes[:1]))


@writes("diagonal", "trace", "det", "inv")
def _of_matrix(w: Writer, t: Term) -> Piece | None:
    x = t.args[0]
    if x.ndim != 2:
        return None
    w.closing(x)
    a, kind = w.operand(x), kind_of(t.shape)
    if t.op.name == "inv":
        lead = Piece("s", coef=a.coef, top=a.top, bottom=a.bottom)
        made = Piece("m", rf"{closed((a.core, a.level), ATOM)}^{{-1}}", POWER, power=(closed((a.core, a.level), ATOM), "-"))
        return pieces.quotient(made, lead) if a.kind != "s" else power(a, Fraction(-1))
    if t.op.name == "det":
        return function(kind, r"\det", text_of(a))
    made = function(kind, operator("tr" if t.op.name == "trace" else "diag"), a.core)
    if a.kind == "s":
        return a
    return made.with_lead(a.coef, a.top, a.bottom)


@writes("logdet", "logabsdet")
def _logdet(w: Writer, t: Term) -> Piece | None:
    if t.args[0].ndim != 2:
        return None
    w.closing(t.args[0])
    inner = r"\det" + brackets(text_of(w.operand(t.args[0])))
    if t.op.name == "logdet":
        return Piece("s", r"\log " + inner, OPEN)
    return Piece("s", rf"\log \left|{inner}\right|", OPEN)


@writes("solve")
def _solve(w: Writer, t: Term) -> Piece | None:
    x, y = t.args
    if x.ndim != 2 or y.ndim > 2:
        return None
    a, b = w.operand(x), w.operand(y)
    if a.kind == "s":
        return pieces.quotient(b, a)
    base = closed((a.core, a.level), ATOM)
    inverse = Piece("m", rf"{base}^{{-1}}", POWER)
    if a.flip is not None and a.level == POWER and a.core.endswith(r"^{\top}"):
        inverse = Piece("m", rf"{closed(a.flip, ATOM)}^{{-\top}}", POWER)
    lead = Piece("s", coef=a.coef, top=a.top, bottom=a.bottom)
    if b.kind == "s":
        return pieces.quotient(pieces.product(b, inverse), lead)
    return pieces.quotient(pieces.matrix_product(kind_of(t.shape), inverse, b), lead)


@writes("norm")
def _norm(w: Writer, t: Term) -> Piece | None:
    x, p = t.args[0], t.params["p"]
    if t.params["dim"] != tuple(range(x.ndim)) or x.ndim > 2 or p not in (1, 2, math.inf):
        return None
    w.closing(x)
    a = w.operand(x)
    if a.kind == "m" and p != 2:
        return None
    mark = "_{F}" if a.kind == "m" else {1: "_{1}", 2: "", math.inf: r"_{\infty}"}[p]
    text = rf"\lVert {text_of(a)} \rVert{mark}"
    return Piece("s", text, POWER if mark else ATOM)


@writes("logsumexp", "amax", "amin")
def _reduced(w: Writer, t: Term) -> Piece | None:
    x, axes = t.args[0], t.params["dim"]
    if t.params["keepdim"] and kind_of(t.shape) == "t":
        return None
    name = t.op.name
    w.closing(t.args[0])
    if name == "logsumexp":
        if axes != (x.ndim - 1,) or x.ndim > 2:
            return None
        return function(kind_of(t.shape), operator(name), text_of(w.operand(x)))
    if axes != tuple(range(x.ndim)):
        return None
    return function(kind_of(t.shape), r"\max" if name == "amax" else r"\min", text_of(w.operand(x)))


# ---------------------------------------------------------------------------------------------- indexing


@writes("getitem")
def _getitem(w: Writer, t: Term) -> Piece:
    return _indexed(w, t, index_tex(t.params["index"]))


@writes("narrow", "select")
def _range(w: Writer, t: Term) -> Piece | None:
    p = t.params
    parts = [":"] * t.args[0].ndim
    if t.op.name == "select":
        parts[p["dim"]] = str(p["index"])
    elif isinstance(p["start"], int) and isinstance(p["length"], int):
        parts[p["dim"]] = f"{p['start']}:{p['start'] + p['length']}"
    else:
        return None
    return _indexed(w, t, f"[{', '.join(parts)}]")


def _indexed(w: Writer, t: Term, index: str) -> Piece:
    a = exact(w, t.args[0])
    text = text_of(a)
    base = text if a.bare and a.level == ATOM and "_" not in text and "^" not in text else brackets(text)
    return Piece(kind_of(t.shape), rf"{base}_{{{index}}}")


# ---------------------------------------------------------------------------------------------- index notation

_LETTERS = "ijklabcdefghpqrsuvwxyzmnot"


@writes("einsum")
def _einsum(w: Writer, t: Term) -> Piece | None:
    inputs, output = t.params["inputs"], t.params["output"]
    if inputs == ((0,),) and output == (0, 0) and t.args[0].ndim == 1 and kind_of(t.args[0].shape) == "c":
        return diagonal_matrix(w, w.operand(t.args[0]))
    if not set(output) <= set().union(*map(set, inputs)):
        return _spread(w, t)
    return index_notation(w, t)


def _spread(w: Writer, t: Term) -> Piece | None:
    """A contraction that also broadcasts: the contraction, then the broadcast."""
    inputs, output = t.params["inputs"], t.params["output"]
    known = set().union(*map(set, inputs))
    kept = tuple(x for x in dict.fromkeys(output) if x in known)
    if len(output) > 2 or len(set(output)) < len(output):
        return None
    sizes = tuple(t.shape[output.index(x)] for x in kept)
    made = t.op(*t.args, inputs=inputs, output=kept, shape=sizes)
    for axis, label in enumerate(output):
        if label not in known:
            made = lookup("unsqueeze")(made, dim=axis)
    return w.write(lookup("expand")(made, shape=t.shape))


def index_notation(w: Writer, t: Term) -> Piece:
    """Sums over indices, with the free indices of the result on a bracket around it."""
    inputs, output = t.params["inputs"], list(t.params["output"])
    letters = iter(x for x in _LETTERS if not w.taken(x) and x not in w.sizes_of(t))
    labels = dict.fromkeys([*output, *(x for row in inputs for x in row)])
    name = {x: next(letters) for x in labels}
    deltas, free = [], []
    for k, x in enumerate(output):
        if x in output[:k]:
            extra = next(letters)
            deltas.append(rf"\delta_{{{name[x]} {extra}}}")
            free.append(extra)
        else:
            free.append(name[x])
    factors, lead = [], Piece("s")
    for arg, row in zip(t.args, inputs, strict=True):
        a = exact(w, arg)
        if not row:
            lead = pieces.product(lead, a)
            continue
        lead = pieces.product(lead, Piece("s", coef=a.coef, top=a.top, bottom=a.bottom)) if a.kind != "s" else lead
        text = a.core if a.kind != "s" else text_of(a)
        plain = a.level == ATOM and "_" not in text and "^" not in text and not text.endswith(r"\right)")
        factors.append((text if plain else rf"\left[{text}\right]") + f"_{{{' '.join(name[x] for x in row)}}}")
    bound = [name[x] for x in labels if x not in output]
    text = (rf"\sum_{{{' '.join(bound)}}} " if bound else "") + " ".join([*factors, *deltas])
    if not output:
        return pieces.product(lead, Piece("s", text, OPEN if bound else MUL))
    made = Piece(kind_of(t.shape), rf"\left[{text}\right]_{{{' '.join(free)}}}")
    return pieces.product(lead, made)


__all__ = ["WRITERS", "called"]
