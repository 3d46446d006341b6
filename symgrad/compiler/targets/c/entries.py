"""One entry of a result as an expression of entries of the operands.

Each function takes the writer, the term, its operands, the place of the entry (a text per axis) and the type that the
expression is to have.  What is elementwise has its spelling in the op's entry of the table (``Op.c``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.compiler.targets.c.texts import closed, is_complex, literal
from symgrad.compiler.targets.forms import Form, parted
from symgrad.errors import CompileError
from symgrad.formula.term import Term
from symgrad.ops.indexing.getitem import HOLE

Entry = Callable[[Any, Term, Sequence[Any], list[str], str], str]


def plus(text: str, by: Any) -> str:
    """A place moved by a number or by the text of one.

    >>> plus("i1", 0), plus("i1", -2), plus("i1", "n - 1"), plus("3", 4)
    ('i1', 'i1 - 2', 'i1 + (n - 1)', '7')
    """
    if isinstance(by, str) and not by.lstrip("-").isdigit():
        return f"{text} + {closed(by)}" if text != "0" else by
    number = int(by)
    if text.isdigit():
        return str(int(text) + number)
    return text if not number else f"{text} {'-' if number < 0 else '+'} {abs(number)}"


def times(text: str, by: Any) -> str:
    """A place times a number.

    >>> times("i1 + 1", 2), times("i1", 1)
    ('2 * (i1 + 1)', 'i1')
    """
    return text if by == 1 else str(int(text) * by) if text.isdigit() else f"{by} * {closed(text)}"


def within(place: str, low: str, high: str) -> str:
    """A condition: the place is in a half-open range."""
    return f"{closed(place)} < {closed(high)}" if low == "0" else f"{place} >= {low} && {place} < {closed(high)}"


# ---------------------------------------------------------------------------------------------- made of nothing


def _full(w: Any, term: Term, _args: Sequence[Any], _at: list[str], kind: str) -> str:
    value = term.params["value"]
    return f"({kind}){closed(w.size(value))}" if isinstance(value, str) and value != "pi" else w.literal(value, kind)


def _eye(w: Any, _term: Term, _args: Sequence[Any], at: list[str], kind: str) -> str:
    return f"{at[-2]} == {at[-1]} ? {w.literal(1, kind)} : {w.literal(0, kind)}"


def _arange(_w: Any, _term: Term, _args: Sequence[Any], at: list[str], kind: str) -> str:
    return f"({kind}){closed(at[0])}"


def _one_hot(w: Any, term: Term, args: Sequence[Any], at: list[str], kind: str) -> str:
    place = w.entry(term.args[0], args[0], at[:-1], "int64_t")
    return f"{closed(place)} == {closed(at[-1])} ? {w.literal(1, kind)} : {w.literal(0, kind)}"


# ---------------------------------------------------------------------------------------------- other places


def _select(w: Any, term: Term, args: Sequence[Any], at: list[str], kind: str) -> str:
    dim = term.params["dim"]
    place = w.place(term.params["index"], term.args[0].shape[dim])
    return str(w.entry(term.args[0], args[0], [*at[:dim], place, *at[dim:]], kind))


def _narrow(w: Any, term: Term, args: Sequence[Any], at: list[str], kind: str) -> str:
    dim, start = term.params["dim"], w.size(term.params["start"])
    if start == "0":  # a part as long as another axis
        w.smaller(term.shape[dim], (term.args[0].shape[dim],))
    return str(w.entry(term.args[0], args[0], [*at[:dim], plus(at[dim], start), *at[dim + 1 :]], kind))


def _flip(w: Any, term: Term, args: Sequence[Any], at: list[str], kind: str) -> str:
    dims = term.params["dims"]
    turned = [
        f"{w.size(s)} - 1 - {closed(i)}" if k in dims else i
        for k, (i, s) in enumerate(zip(at, term.shape, strict=True))
    ]
    return str(w.entry(term.args[0], args[0], turned, kind))


def _roll(w: Any, term: Term, args: Sequence[Any], at: list[str], kind: str) -> str:
    moved = list(at)
    for dim, shift in zip(term.params["dims"], term.params["shifts"], strict=True):
        size = closed(w.size(term.shape[dim]))
        moved[dim] = f"(({moved[dim]} - {closed(str(shift))}) % {size} + {size}) % {size}"
    return str(w.entry(term.args[0], args[0], moved, kind))


def _reshape(w: Any, term: Term, args: Sequence[Any], at: list[str], kind: str) -> str:
    # An operand has a name here, and its entries lie in the order of the result's.
    text = f"{args[0]}[{w.linear(term.shape, at)}]" if term.args[0].shape else str(args[0])
    return w.cast(text, w.kind(term.args[0]), kind)  # type: ignore[no-any-return]


def _windows(w: Any, term: Term, args: Sequence[Any], at: list[str], kind: str) -> str:
    p = term.params
    inside = plus(times(at[p["dim"]], p["step"]), times(at[-1], p["dilation"]))
    return str(w.entry(term.args[0], args[0], [*at[: p["dim"]], inside, *at[p["dim"] + 1 : -1]], kind))


def _cross(w: Any, term: Term, args: Sequence[Any], at: list[str], kind: str) -> str:
    dim = term.params["dim"]

    def part(k: int, turn: int) -> str:
        place = [*at[:dim], f"({at[dim]} + {turn}) % 3", *at[dim + 1 :]]
        x = term.args[k]
        return closed(w.entry(x, args[k], w.broadcast(x, place), kind))

    return f"{part(0, 1)} * {part(1, 2)} - {part(0, 2)} * {part(1, 1)}"


def _getitem(w: Any, term: Term, args: Sequence[Any], at: list[str], kind: str) -> str:
    inside = taken_at(w, term, term.args[0].shape, list(zip(term.args[1:], args[1:], strict=True)), at)
    return str(w.entry(term.args[0], args[0], inside, kind))


def taken_at(w: Any, term: Term, shape: Sequence[Any], holes: list[tuple[Term, Any]], at: Sequence[str]) -> list[str]:
    """The place in an array of ``shape`` that the entry ``at`` of what the term's index takes comes from."""
    parts = parted(term, len(shape), "C")
    constants = [p for p in parts if isinstance(p, np.ndarray)]
    fancy = [k for k, p in enumerate(parts) if p is not None and not isinstance(p, slice)]
    fancy = fancy if holes or constants else []
    rank = max([len(t.shape) for t, _ in holes] + [p.ndim for p in constants], default=0)
    # The axes of arrays of places that stand apart come first, others where the first of them stands.
    front = bool(fancy) and fancy[-1] - fancy[0] >= len(fancy)
    rest, shared = list(at), list[str]()
    if front:
        shared, rest = rest[:rank], rest[rank:]
    inside: list[str] = []
    row = iter(holes)
    for k, part in enumerate(parts):
        if fancy and k == fancy[0] and not front:
            shared, rest = rest[:rank], rest[rank:]
        if part is None:
            rest.pop(0)
        elif isinstance(part, slice):
            inside.append(_sliced(w, part, shape[len(inside)], rest.pop(0)))
        elif part is HOLE:
            term, operand = next(row)
            place = w.entry(term, operand, w.broadcast(term, shared), "int64_t")
            inside.append(w.helped(f"wrap({place}, {w.size(shape[len(inside)])})"))
        elif isinstance(part, np.ndarray):
            inside.append(w.constant_place(part, shape[len(inside)], shared))
        else:
            inside.append(w.place(int(part), shape[len(inside)]))
    return inside


def _sliced(w: Any, part: slice, size: Any, at: str) -> str:
    step = 1 if part.step is None else int(part.step)
    return (
        plus(times(at, step), w.slice_start(part, size))
        if step > 0
        else f"{w.slice_start(part, size)} - {closed(times(at, -step))}"
    )


# ---------------------------------------------------------------------------------------------- parts of arrays


def _cat(w: Any, term: Term, args: Sequence[Any], at: list[str], kind: str) -> str:
    dim, text, before = term.params["dim"], "", "0"
    for k, (x, operand) in enumerate(zip(term.args, args, strict=True)):
        place = [*at[:dim], f"{at[dim]} - {closed(before)}" if k else at[dim], *at[dim + 1 :]]
        entry = closed(w.entry(x, operand, place, kind))
        before = plus(before, w.size(x.shape[dim])) if k else w.size(x.shape[dim])
        text += entry if k == len(args) - 1 else f"{closed(at[dim])} < {closed(before)} ? {entry} : "
    return text


def _stack(w: Any, term: Term, args: Sequence[Any], at: list[str], kind: str) -> str:
    dim, text = term.params["dim"], ""
    for k, (x, operand) in enumerate(zip(term.args, args, strict=True)):
        entry = closed(w.entry(x, operand, [*at[:dim], *at[dim + 1 :]], kind))
        text += entry if k == len(args) - 1 else f"{closed(at[dim])} == {k} ? {entry} : "
    return text


def _pad(w: Any, term: Term, args: Sequence[Any], at: list[str], kind: str) -> str:
    x, inside, where = term.args[0], list[str](), list[str]()
    for i, (before, after), size in zip(at, term.params["widths"], x.shape, strict=True):
        inside.append(plus(i, f"-{w.size(before)}" if before else 0))
        if before or after:
            where.append(
                within(closed(i), w.size(before), plus(w.size(size), w.size(before)) if before else w.size(size))
            )
    entry = w.entry(x, args[0], inside, kind)
    return f"{' && '.join(where)} ? {closed(entry)} : {w.literal(term.params['value'], kind)}" if where else entry


def _embed(w: Any, term: Term, args: Sequence[Any], at: list[str], kind: str) -> str:
    x, dim, start = term.args[0], term.params["dim"], w.size(term.params["start"])
    inside = at[dim] if start == "0" else f"{at[dim]} - {closed(start)}"
    entry = w.entry(x, args[0], [*at[:dim], inside, *at[dim + 1 :]], kind)
    where = within(closed(at[dim]), closed(start), plus(w.size(x.shape[dim]), start))
    return f"{where} ? {closed(entry)} : {w.literal(0, kind)}"


def put_entry(w: Any, term: Term, args: Sequence[Any], at: list[str], kind: str) -> str:
    """Zeros but where the index takes them: an integer or a slice per axis."""
    x, rest, where = term.args[0], list[str](), list[str]()
    axis = 0
    for part in parted(term, len(at), "C"):
        if part is None:
            rest.append("0")
            continue
        i, size = closed(at[axis]), term.shape[axis]
        axis += 1
        if isinstance(part, slice):
            step, start = (1 if part.step is None else int(part.step)), w.slice_start(part, size)
            inner = i if start == "0" else f"{i} - {closed(start)}"
            if step != 1:
                where.append(f"({inner}) % {closed(str(step))} == 0")
                inner = f"({inner}) / {closed(str(step))}"
            length = x.shape[len(rest)] if len(x.shape) > len(rest) else 1
            if (part.start, part.stop, step) != (None, None, 1):
                if start != "0" or step < 0:
                    where.append(f"{inner} >= 0" if step == 1 else f"{i} {'>=' if step > 0 else '<='} {closed(start)}")
                where.append(f"{inner} < {closed(w.size(length))}")
            rest.append(inner)
        else:
            where.append(f"{i} == {closed(w.place(int(part), size))}")
    entry = w.entry(x, args[0], w.broadcast(x, rest), kind)
    return f"{' && '.join(where)} ? {closed(entry)} : {w.literal(0, kind)}" if where else entry


def _triangle(w: Any, term: Term, args: Sequence[Any], at: list[str], kind: str) -> str:
    sign = "<=" if term.op.name == "tril" else ">="
    entry = w.entry(term.args[0], args[0], at, kind)
    return f"{at[-1]} {sign} {plus(at[-2], term.params['k'])} ? {closed(entry)} : {w.literal(0, kind)}"


# ---------------------------------------------------------------------------------------------- picked, cast


def _cast(w: Any, term: Term, args: Sequence[Any], at: list[str], kind: str) -> str:
    x = term.args[0]
    own = kind if x.dtype is None else w.kind(x)
    return w.cast(w.entry(x, args[0], at, own), own, kind)  # type: ignore[no-any-return]


def _gather(w: Any, term: Term, args: Sequence[Any], at: list[str], kind: str) -> str:
    dim, (x, index) = term.params["dim"], term.args
    place = w.helped(f"wrap({w.entry(index, args[1], at, 'int64_t')}, {w.size(x.shape[dim])})")
    return str(w.entry(x, args[0], [*at[:dim], place, *at[dim + 1 :]], kind))


def _searchsorted(w: Any, term: Term, args: Sequence[Any], at: list[str], _kind: str) -> str:
    """How many of a row of values stand before the entry; where there are several rows, each is for its own line."""
    values, x = term.args
    own = w.kind(values)
    if own not in ("double", "int64_t") or w.kind(x) == "uint64_t":
        raise CompileError("searchsorted() is written in C for rows of float64 or int64 values; cast them.")
    n = values.shape[-1]
    rows = (
        f"{args[0]} + {closed(w.linear(values.shape[:-1], at[:-1]))} * {closed(w.size(n))}"
        if values.ndim > 1
        else args[0]
    )
    entry = w.entry(x, args[1], at, own)
    name = "whole_searchsorted" if own == "int64_t" else "searchsorted"
    return str(w.helped(f"{name}({rows}, {w.size(n)}, {entry}, {literal(term.params['right'], 'bool')})"))


# ---------------------------------------------------------------------------------------------- complex numbers


def _part(of_complex: str, of_real: str) -> Entry:
    """A function of complex numbers, and what it is of real ones, as format texts."""

    def entry(w: Any, term: Term, args: Sequence[Any], at: list[str], kind: str) -> str:
        x = term.args[0]
        own = w.kind(x)
        if not is_complex(own):
            return str(w.cast(w.helped(of_real.format(closed(w.entry(x, args[0], at, own)))), own, kind))
        text = w.helped(of_complex.format(w.entry(x, args[0], at, "double complex")))
        return str(w.cast(text, kind if is_complex(kind) else "double", kind))

    return entry


def _complex(w: Any, term: Term, args: Sequence[Any], at: list[str], _kind: str) -> str:
    parts = (w.entry(x, a, w.broadcast(x, at), "double") for x, a in zip(term.args, args, strict=True))
    return str(w.helped(f"complexed({', '.join(parts)})"))


def _view_as_real(w: Any, term: Term, args: Sequence[Any], at: list[str], kind: str) -> str:
    z = w.entry(term.args[0], args[0], at[:-1], "double complex")
    return str(w.cast(f"({at[-1]} ? cimag({z}) : creal({z}))", "double", kind))


def _view_as_complex(w: Any, term: Term, args: Sequence[Any], at: list[str], _kind: str) -> str:
    parts = (w.entry(term.args[0], args[0], [*at, k], "double") for k in "01")
    return str(w.helped(f"complexed({', '.join(parts)})"))


def indexed(term: Term) -> list[tuple[int, Any]]:
    """The arrays of places of an index, which are the last operands."""
    whole = term.args[0].shape if term.op.name == "getitem" else term.shape
    parts = [p for p in parted(term, len(whole), "C") if p is not None]
    axes = [axis for axis, part in enumerate(parts) if part is HOLE]
    return [(k, whole[axis]) for k, axis in enumerate(axes, len(term.args) - len(axes))]


ENTRIES: dict[str, Form] = {
    "full": Form(_full),
    "eye": Form(_eye),
    "arange": Form(_arange),
    "one_hot": Form(_one_hot),
    "select": Form(_select, once="first"),
    "narrow": Form(_narrow, once="first"),
    "flip": Form(_flip, once="first"),
    "roll": Form(_roll, once="first"),
    "reshape": Form(_reshape, named=(0,)),
    "windows": Form(_windows),
    "cross": Form(_cross, named=(0, 1)),
    "getitem": Form(_getitem, once="first", places=indexed),
    "cat": Form(_cat, once="all"),
    "stack": Form(_stack, once="all"),
    "pad": Form(_pad, once="first"),
    "embed": Form(_embed, once="first"),
    "tril": Form(_triangle, once="first"),
    "triu": Form(_triangle, once="first"),
    "cast": Form(_cast, once="first"),
    "gather": Form(_gather, places=lambda term: [(1, term.args[0].shape[term.params["dim"]])]),
    "searchsorted": Form(_searchsorted, named=(0,)),
    "conj": Form(_part("conj({0})", "{0}"), once="first"),
    "real": Form(_part("creal({0})", "{0}"), once="first"),
    "imag": Form(_part("cimag({0})", "0 * ({0} > 0)"), once="first"),
    "sgn": Form(_part("phase({0})", "sign({0})"), once="first"),
    "angle": Form(_part("carg({0})", "angle({0})"), once="first"),
    "complex": Form(_complex, once="all"),
    "view_as_real": Form(_view_as_real),
    "view_as_complex": Form(_view_as_complex),
}
