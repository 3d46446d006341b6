"""What the LaTeX rules of ops share: the register, named functions, static parameters, powers and diagonal matrices."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from symgrad.formula.printing import pieces
from symgrad.formula.printing.latex import Writer, kind_of
from symgrad.formula.printing.parameters import AXES, DEFAULTS, PLACED, has_one_axis
from symgrad.formula.printing.pieces import ATOM, POWER, Piece, brackets, text_of
from symgrad.formula.printing.sizes import size_tex
from symgrad.formula.term import SYMBOL, Term
from symgrad.formula.unknown import constant_text, constants
from symgrad.ops.indexing.getitem import HOLE, Index, beside_index
from symgrad.ops.shapes.sizes import total_size

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
        return size_tex(value) if _is_size(value) else rf"\text{{{value}}}"
    return text_of(pieces.number_piece(value)) if isinstance(value, (int, float)) else rf"\text{{{value}}}"


def _is_size(value: str) -> bool:
    return len(value) <= 2 or any(c in value for c in "*+-")


def index_tex(index: Index, places: Sequence[str] = ()) -> str:
    """An index as in NumPy, between square brackets, with operands in its holes."""
    row = iter(places)
    texts = [next(row) if part is HOLE else _part_tex(part) for part in index.parts]
    # A range of the first axis is that range as x[1:] and as x[1:,]; a list is only places where the comma tells so.
    lone = isinstance(index.value, tuple) and len(texts) == 1 and not isinstance(index.value[0], (slice, int))
    return f"[{', '.join(texts)}{',' if lone else ''}]"


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
    r"""A piece with its shape spelled out: ``\operatorname{reshape}_{2 \times 3}``."""
    return function(kind_of(shape), operator("reshape") + shape_below(shape), text_of(piece))


def in_order(w: Writer, t: Term) -> Piece:
    """The entries of an array in another shape: one of many changes of shape is all of them."""
    x = t.args[0]
    while x.op.name in _SHAPES:
        x = x.args[0]
    if x.shape == t.shape:
        return exact(w, x)
    w.closing(x)
    return reshaped(w.operand(x) if kind_of(x.shape) == "t" else exact(w, x), t.shape)


_SHAPES = frozenset({"reshape", "squeeze", "unsqueeze"})


def shape_below(shape: tuple[Any, ...]) -> str:
    r"""A shape as an index: ``_{2 \times 3}``."""
    sizes = map(size_tex, shape)
    below = r" \times ".join(size if _is_factor(size) or len(shape) == 1 else brackets(size) for size in sizes)
    return rf"_{{{below}}}" if shape else ""


def filled(digit: int, shape: tuple[Any, ...]) -> Piece:
    r"""Zeros or ones with all their sizes: ``\mathbf{1}_{2 \times n \times 3}``."""
    return Piece(kind_of(shape), rf"\mathbf{{{digit}}}{shape_below(shape)}", ATOM)


def _is_factor(size: str) -> bool:
    """Whether a size stands in a product without brackets: a letter, a number or something rounded."""
    return size.isalnum() or (
        size.startswith(r"\left\lceil") and size.endswith(r"\right\rceil") and size.count("ceil") == 2
    )


def exact(w: Writer, t: Term) -> Piece:
    """An argument whose axes count one by one; symbols know their shape."""
    if t.op.name == "full" and t.params["value"] == 0:
        kind = kind_of(t.shape)
        if t.dtype != "float64" or (1 in t.shape and t.ndim < 3):
            return called(w, t)
        if kind == "t":
            return filled(0, t.shape)
        w.closing(t)
        return pieces.product(pieces.number_piece(0), w.ones(kind, t.shape))
    w.closing(t)
    piece = w.operand(t)
    if t.op is SYMBOL or (t.op.name in _SHAPES and "t" in (kind_of(t.shape), kind_of(t.args[0].shape))):
        return piece
    return reshaped(piece, t.shape) if piece.bare and w.taken(piece.core) else w.exact(piece, t.shape)


def unit_vector(size: Any, place: int) -> Piece:
    """The column that is 1 at one place and 0 elsewhere, which tells its size."""
    shown = total_size((size, place)) if place < 0 else place
    text = rf"\mathbf{{e}}_{{{size_tex(size)},{size_tex(shown)}}}"
    return Piece("c", text, ATOM, flip=(rf"{text}^{{\top}}", POWER))


def called(w: Writer, t: Term) -> Piece:
    """An op as a function: axes as a subscript, other parameters after a semicolon."""
    params = {k: v for k, v in t.params.items() if DEFAULTS.get(k) != v}
    subscript = ""
    axes = "dims" if t.op.name in AXES else "dim"
    if axes in params:
        dims = params.pop(axes)
        subscript = f"_{{{','.join(map(str, dims)) if isinstance(dims, tuple) else dims}}}"
        whole = isinstance(dims, tuple) and dims == tuple(range(t.args[0].ndim))
        if whole and t.op.name not in (*AXES, "squeeze") and (t.op.name != "logsumexp" or t.args[0].ndim == 1):
            subscript = ""
        if dims == ((0,) if axes == "dims" else 0) and has_one_axis(t.op, t.args[0].ndim):
            subscript = ""
    spread = t.op.kind == "elementwise"
    texts = [text_of(w.operand(a, t.shape) if spread else exact(w, a)) for a in t.args]
    texts, places = beside_index(texts, params)
    given = params.pop(PLACED.get(t.op.name, ""), ())
    args = ", ".join([*texts, *map(static_tex, given if isinstance(given, tuple) else (given,))])
    if t.op.kind == "function":
        return Piece(kind_of(t.shape), operator(t.op.name) + brackets(", ".join([args, *map(_constant, constants(t))])))
    rest = ", ".join(_parameter(k, v, places) for k, v in sorted(params.items()))
    name = t.op.called if (t.op.called or "").startswith(r"\operatorname") else operator(t.op.name)
    return Piece(kind_of(t.shape), f"{name}{subscript}" + brackets("; ".join(x for x in (args, rest) if x)))


def _parameter(name: str, value: Any, places: Sequence[str]) -> str:
    key = rf"\mathrm{{{name}}}="
    if isinstance(value, Index) and value.holes:
        return key.replace("_", r"\_") + index_tex(value, places)
    return (key + static_tex(value)).replace("_", r"\_")


def _constant(value: Any) -> str:
    """An argument that is no array: a number, or the name of something."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return static_tex(value)
    text = constant_text(value).translate({ord(c): f"\\{c}" for c in "_#$%&{}"})
    return rf"\text{{{text}}}"


def diagonal_matrix(w: Writer, column: Piece) -> Piece:
    """diag(v), with the scalars of v in front; of ones the identity."""
    found = re.fullmatch(r"\\mathbf\{1\}(?:_\{(.*)\})?", column.core)
    if found and not w.taken("I"):
        return w.identity(found[1]).with_lead(column.coef, column.top, column.bottom)
    text = operator("diag") + brackets(column.core)
    return Piece("m", text, flip=(text, ATOM)).with_lead(column.coef, column.top, column.bottom)


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
