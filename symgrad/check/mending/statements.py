"""Whole lines that were forgotten: dw += lam * w, the other half of a difference, a term of a recurrence.

What a line has to add is known in numbers: what a gradient lacks, or what goes along a path that is missing.  Of all
that can be made of the variables only what is a multiple of that is tried; in a loop, where the values of the last
round alone are known, it is everything of two factors.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from symgrad.check.mending.edits import held_data
from symgrad.check.mending.informed import Values, stretches
from symgrad.check.mending.places import is_index
from symgrad.check.mending.routines import Routine
from symgrad.check.mending.spots import Edit, Spot, called, is_repeated, is_shared, spots_of

MOST_SCALARS, MOST_FACTORS = 12, 12
"""Numbers that a term is a multiple by, and what products in a loop are made of."""

PLAIN = {1.0: "", 2.0: "2 * ", 0.5: "0.5 * ", 3.0: "3 * ", 4.0: "4 * ", 0.25: "0.25 * "}
"""Multiples that derivatives bring."""

Wanted = Sequence[Any]


def forgotten(routine: Routine, wanted: Wanted) -> Iterator[Edit]:
    """Lines that add one of the ``wanted`` arrays to a variable, or something in every round of a loop."""
    statements = [s for s in spots_of(routine) if isinstance(s.node, ast.stmt) and not is_shared(s, routine)]
    statements.sort(key=lambda spot: is_repeated(spot, routine))  # a forward pass was copied, and is whole
    values = Values(routine)
    for place, term, shape in _terms(values, wanted, _slices(routine.tree)):
        for spot in statements:
            for name in _read(spot.node) if not isinstance(spot.node, ast.For) else ():
                target = values[name + place]
                if isinstance(target, np.ndarray) and np.shape(target) == shape:
                    line = f"{name}{place} {term}"
                    for words in (line, line if place else f"{name} = {name} {term[0]} {term[3:]}"):
                        yield Edit(spot.start, spot.start, f"{words}\n{_indent(spot, routine)}")
    for spot in statements:
        if isinstance(spot.node, ast.For):
            yield from _of_rounds(spot, routine, values)
        if isinstance(spot.node, ast.Expr):
            yield from _of_the_other_end(spot, routine)


def _of_the_other_end(spot: Spot, routine: Routine) -> Iterator[Edit]:
    """The same that is added at other places, of which each pair has one: np.add.at(F, j, -pull) beside F, i, pull."""
    call = spot.node.value
    if not isinstance(call, ast.Call) or called(call) != "at" or len(call.args) != 3:
        return
    func, (array, index, value) = ast.unparse(call.func), map(ast.unparse, call.args)
    held = dict(held_data(routine))
    alike = [name for name, v in held.items() if index in held and np.shape(v) == np.shape(held[index])]
    for other in alike:
        if other != index and is_index(held[other]):
            for words in (f"-({value})" if " " in value else f"-{value}", value):
                line = f"{func}({array}, {other}, {words})"
                yield Edit(spot.start, spot.start, f"{line}\n{_indent(spot, routine)}")


def _terms(values: Values, wanted: Wanted, slices: Sequence[str]) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """A slice, or none, what is to be added there, ``+= 2 * d``, and its shape: the plainest first."""
    terms = [(words, value) for words, value in values.terms() if np.ndim(value)]
    forms = [form.format(words) for words, _ in terms if words.isidentifier() for form in _FORMS]
    made = [(words, value) for words in forms if (value := values[words]) is not None]
    known = sorted([*terms, *made], key=lambda term: (not term[0].isidentifier(), term[0] not in forms))
    scalars = _scalars(values)
    parts = [(place, part) for whole in wanted for place, part in _parts(whole, slices)]
    for words, value in known:
        for place, part in parts:
            k = _multiple(part, value)
            for text in () if k is None else _multiples(abs(k), scalars):
                yield place, f"{'-=' if k is not None and k < 0 else '+='} {text}{words}", np.shape(part)


_FORMS = ("np.sign({})", "np.exp({})", "np.sqrt({})", "{}.sum(1)", "{}.sum(0)[:, None]")
"""Functions of variables that are terms of gradients by themselves."""


def _parts(whole: Any, slices: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """An array, and the slices of it outside of which it is 0."""
    if np.ndim(whole) and np.asarray(whole).dtype.kind == "f" and np.isfinite(whole).all() and np.any(whole):
        yield "", whole
        for words in slices if not np.all(whole) else ():
            try:
                part = eval(f"whole[{words}]", {"whole": whole})  # noqa: S307  (a slice without calls)
            except (IndexError, TypeError):
                continue
            if np.count_nonzero(part) == np.count_nonzero(whole):
                yield f"[{words}]", part


def _multiple(part: Any, value: Any) -> float | None:
    if np.asarray(value).dtype.kind != "f" or not np.isfinite(value).all() or not stretches(value, part):
        return None
    value = np.broadcast_to(value, np.shape(part))
    size = float(np.sum(value * value))
    k = float(np.sum(part * value)) / size if size else 0.0
    near = np.abs(part - k * value) <= 1e-6 * np.max(np.abs(part))
    return k if k and bool(np.all(near)) else None


def _scalars(values: Values) -> dict[str, float]:
    """Numbers by which terms are multiplied or divided: variables without axes, and lengths."""
    named = [(words, abs(float(np.real(value)))) for words, value in values.factors() if np.ndim(value) == 0]
    return {words: x for words, x in named[:MOST_SCALARS] if x and np.isfinite(x)}


def _multiples(k: float, scalars: dict[str, float]) -> Iterator[str]:
    """A number as a factor of a term, in words: as it is, and by variables, whose other values tell them apart."""
    if abs(k - float(f"{k:.3g}")) <= 1e-9 * k:
        yield PLAIN.get(float(f"{k:.3g}"), f"{k:.3g} * ")
    pairs = list(itertools.permutations(scalars.items(), 2))
    forms = [
        *((f"{a} * ", x) for a, x in scalars.items()),
        *((f"1 / {a} * ", 1 / x) for a, x in scalars.items()),
        *((f"{a} / {b} * ", x / y) for (a, x), (b, y) in pairs),
        *((f"{a} * {b} * ", x * y) for (a, x), (b, y) in pairs if a < b),
    ]
    for text, x in forms:
        yield from (plain + text for one, plain in PLAIN.items() if abs(k - one * x) <= 1e-9 * k)


def _of_rounds(spot: Spot, routine: Routine, values: Values) -> Iterator[Edit]:
    """One more line at the end of a loop: a product of two of what its lines read, added to what they write."""
    body = spot.node.body
    inside: list[Any] = [n for statement in body for n in ast.walk(statement)]
    own = {n.id for n in ast.walk(spot.node.target) if isinstance(n, ast.Name)}
    made = {n.id for n in ast.walk(routine.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    written = {n.value.id for n in inside if _is_entry(n)} & made
    reads = list(dict.fromkeys(ast.unparse(n) for n in inside if _is_entry(n) and isinstance(n.ctx, ast.Load)))
    places = list(dict.fromkeys(ast.unparse(n.slice) for n in inside if _is_entry(n)))
    here = {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)} - own - written
    numbers = {name for name in routine.held if np.ndim(values[name]) == 0} - own  # what only that line has read
    names = [name for name in (*sorted(here), *sorted(numbers - here)) if values[name] is not None][:MOST_FACTORS]
    added = [ast.unparse(n.value) for n in body if isinstance(n, ast.AugAssign)]
    products = [f"{a} * {b}" for a in [*reads, *names] for b in reads if a not in reads or a <= b]
    kept = sorted(_kept(inside, routine))
    scalars = [f"{a} * {b}" for a, b in itertools.combinations_with_replacement(names, 2)] if kept else []
    last = max(body, key=lambda n: n.end_lineno)
    end = _offset(routine.text, last.end_lineno, last.end_col_offset)
    indent = " " * body[0].col_offset
    for value in dict.fromkeys([*added, *reads, *names, *products]):
        for name, place in itertools.product(sorted(written), places):
            yield from (Edit(end, end, f"\n{indent}{name}[{place}] {op} {value}") for op in ("+=", "-="))
    for value, name, op in itertools.product([*added, *reads, *names, *products, *scalars], kept, ("+=", "-=")):
        yield Edit(end, end, f"\n{indent}{name} {op} {value}")


def _kept(inside: Sequence[Any], routine: Routine) -> set[str]:
    """The variables that a loop hands on from round to round: those that are written before it as well."""
    within = set(map(id, inside))
    written = [n for n in ast.walk(routine.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return {n.id for n in written if id(n) in within} & {n.id for n in written if id(n) not in within}


def _is_entry(node: Any) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)


def _slices(tree: Any) -> list[str]:
    """The slices that a text takes of arrays."""
    found = [n.slice for n in ast.walk(tree) if isinstance(n, ast.Subscript)]
    plain = (ast.Slice, ast.Tuple, ast.Constant, ast.UnaryOp, ast.USub, ast.Load, ast.Name)
    chosen = [s for s in found if all(isinstance(n, plain) and getattr(n, "id", "") == "" for n in ast.walk(s))]
    return list(dict.fromkeys(ast.unparse(s).strip("()") for s in chosen if any(map(_is_slice, ast.walk(s)))))


def _is_slice(node: Any) -> bool:
    return isinstance(node, ast.Slice)


def _read(node: Any) -> list[str]:
    return list(dict.fromkeys(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)))


def _indent(spot: Spot, routine: Routine) -> str:
    return " " * (spot.start - (routine.text.rfind("\n", 0, spot.start) + 1))


def _offset(text: str, line: int, column: int) -> int:
    lines = text.splitlines(keepends=True)
    return sum(map(len, lines[: line - 1])) + len(lines[line - 1].encode()[:column].decode())
