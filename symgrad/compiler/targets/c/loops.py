"""Results that take loops of their own: contractions, folds, running sums, sums by places, systems of equations.

Each function takes the writer, the term, its operands and the name that the result gets, and writes lines.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from symgrad.compiler.targets.c.entries import indexed, plus, put_entry, taken_at, times
from symgrad.compiler.targets.c.texts import closed, is_complex, is_whole, literal, wide
from symgrad.compiler.targets.forms import Form, reduced
from symgrad.errors import CompileError
from symgrad.formula.term import Term
from symgrad.op import lookup

Loop = Callable[[Any, Term, Sequence[Any], str], None]


# ---------------------------------------------------------------------------------------------- contractions


def summed(term: Term) -> bool:
    """Whether a multilinear op sums over something, has several operands, or puts one on a diagonal."""
    inputs, output = term.labels()
    gone = any(label not in output and size != 1 for label, size in zip(inputs[0], term.args[0].shape, strict=True))
    return len(inputs) > 1 or gone or len(set(output)) < len(output)


def contraction(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    """Sums of products: the last axis of the result is the innermost loop where that reads rows in their order."""
    inputs, output = term.labels()
    sizes = dict(zip(output, term.shape, strict=True))
    for row, x in zip(inputs, term.args, strict=True):
        sizes.update((label, size) for label, size in zip(row, x.shape, strict=True) if label not in output)
    known = {label for row in inputs for label in row}
    kind, free = w.kind(term), list(dict.fromkeys(output))
    inner = [label for label in sizes if label not in output]
    if len(free) < len(output):
        w.fill(target, term.shape, kind)
    last = free[-1] if free else -1
    by_rows = bool(inner) and last in known and any(r and r[-1] == last and set(r) & set(inner) for r in inputs)
    by_rows = by_rows and wide(kind) == kind and len(free) == len(output)

    def product(at: dict[int, str]) -> str:
        inner = "uint64_t" if is_whole(kind) else kind
        entries = [w.entry(x, a, [at[b] for b in r], inner) for x, a, r in zip(term.args, args, inputs, strict=True)]
        return " * ".join(entries if len(entries) == 1 else map(closed, entries))

    with w.over([sizes[label] for label in (free[:-1] if by_rows else free)]) as places:
        at = dict(zip(free, places, strict=False))
        if by_rows:
            with w.over([sizes[last]]) as (i,):
                w.line(f"{w.at(target, term.shape, [*places, i])} = 0;")
            with w.over([sizes[label] for label in inner]) as deep, w.over([sizes[last]]) as (i,):
                at |= dict(zip(inner, deep, strict=True)) | {last: i}
                w.line(f"{w.at(target, term.shape, [*places, i])} += {product(at)};")
            return
        place = w.at(target, term.shape, [at[label] for label in output])
        if not inner:
            w.line(f"{place} = {w.cast(product(at), wide(kind) if is_whole(kind) else kind, kind)};")
            return
        with w.accumulator(kind) as (s, sum_kind):
            with w.over([sizes[label] for label in inner]) as deep:
                at |= dict(zip(inner, deep, strict=True))
                w.line(f"{s} += {product(at)};")
            w.line(f"{place} = {w.cast(s, sum_kind, kind)};")


# ---------------------------------------------------------------------------------------------- folds


def _not_empty(w: Any, sizes: Sequence[Any]) -> None:
    """Nothing has no largest entry: the program says so where a size is 0."""
    for size in sizes:
        if isinstance(size, str):
            w.at_least(w.size(size), 1)


def _fold(first: str, step: str) -> Loop:
    """A reduction over the axes ``dim``: what it begins with, and a step with ``s`` and the entry ``x``."""

    def loop(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
        (x,), dim = term.args, reduced(term)
        kind, begin, move = w.kind(term), first, step
        if first.endswith("INFINITY"):
            _not_empty(w, [x.shape[k] for k in dim])
            if is_whole(kind):
                begin, move = ("INT64_MIN" if first[0] == "-" else "INT64_MAX"), step.replace("= m", "= whole_m")
                if kind == "uint64_t":
                    raise CompileError(f"{term.op.name}() of uint64 is not written in C; cast it to int64.")
        own = "bool" if kind == "bool" else "int64_t" if is_whole(kind) and move != step else wide(kind)
        with w.over([s for k, s in enumerate(x.shape) if k not in dim]) as places:
            rest, kept = iter(places), iter(places)
            with w.accumulator(own, begin) as (s, found):
                with w.over([x.shape[k] for k in dim]) as deep:
                    by = dict(zip(dim, deep, strict=True))
                    at = [by[k] if k in by else next(rest) for k in range(x.ndim)]
                    w.line(w.helped(move.format(s=s, x=closed(w.entry(x, args[0], at, found)))) + ";")
                if term.params.get("keepdim"):
                    place = ["0" if k in dim else next(kept) for k in range(x.ndim)]
                else:
                    place = list(kept)
                w.line(f"{w.at(target, term.shape, place)} = {w.cast(s, found, kind)};")

    return loop


def _norm(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    """Vector norms; a sum of powers that leaves the range of numbers is found once more, of shares of the largest."""
    (x,), dim, p = term.args, reduced(term), term.params["p"]
    kind = w.kind(x)
    own = "double complex" if is_complex(kind) else "double"
    size = "cabs({})" if is_complex(kind) else "{}" if p == 2 else "fabs({})"
    power = {1: "{x}", 2: "{x} * {x}", 0: "{x} != 0"}.get(p, f"pow({{x}}, {p!r})")
    ended = {1: "s", 0: "s", 2: "sqrt(s)"}.get(p, f"pow(s, {1 / p!r})" if p else "s")
    first, step, top = "0", "s += " + power, "s = maximum(s, fabs({x}))"
    if p in (math.inf, -math.inf):
        _not_empty(w, [x.shape[k] for k in dim])
        first, step, ended = ("0", top, "s") if p > 0 else ("INFINITY", "s = minimum(s, fabs({x}))", "s")
    with w.over([n for k, n in enumerate(x.shape) if k not in dim]) as places:
        rest = list(places)
        place = w.at(target, term.shape, _kept(x.ndim, dim, rest) if term.params["keepdim"] else rest)

        def every(step: str) -> None:
            with w.over([x.shape[k] for k in dim]) as deep:
                by, others = dict(zip(dim, deep, strict=True)), iter(rest)
                at = [by[k] if k in by else next(others) for k in range(x.ndim)]
                w.line(w.helped(step.format(x=size.format(closed(w.entry(x, args[0], at, own))))) + ";")

        with w.accumulator("double", first):
            every(step)
            w.line(f"{place} = {w.cast(ended, 'double', w.kind(term))};")
            if 0 < p < math.inf and p != 1:
                w.line("if (!(s >= 2.2250738585072014e-308 && s < INFINITY)) {")
                w.depth += 1
                w.line("s = 0;")
                every(top)
                w.line("const double top = s;")
                w.line("s = 0;")
                every("s += " + power.replace("{x}", "({x} / top)"))
                scaled = w.cast(f"top * {ended}", "double", w.kind(term))
                w.line(f"if (top > 0 && top < INFINITY) {place} = {scaled};")
                w.depth -= 1
                w.line("}")


def _kept(ndim: int, dim: Sequence[int], rest: Sequence[str]) -> list[str]:
    """Places among axes of which those in ``dim`` have size 1."""
    others = iter(rest)
    return ["0" if k in dim else next(others) for k in range(ndim)]


def _divisible(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    """Whether no factor is 0, and all products are ordinary numbers."""
    with w.accumulator("bool", "true") as (s, _):
        for k, x in enumerate(reversed(term.args)):
            kind = w.kind(x)
            low = {"float": "1.1754943508222875e-38", "float complex": "1.1754943508222875e-38"}.get(
                kind, "2.2250738585072014e-308"
            )
            with w.over(x.shape) as at:
                entry = closed(w.entry(x, args[1 - k], at, wide(kind)))
                size = f"{'cabs' if is_complex(kind) else 'fabs'}({entry})"
                w.line(f"{s} = {s} && {f'{size} >= {low} && {size} < INFINITY' if k else f'{entry} != 0'};")
        w.line(f"{target} = {s};")


def _others(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    """For every entry, the product of the others in its line."""
    (x,), dim, kind = term.args, reduced(term), w.kind(term)
    with w.over(x.shape) as places, w.accumulator(kind, "1") as (s, own):
        with w.over([x.shape[k] for k in dim]) as deep:
            by = dict(zip(dim, deep, strict=True))
            at = [by.get(k, i) for k, i in enumerate(places)]
            other = " || ".join(f"{by[k]} != {places[k]}" for k in dim if by[k] != places[k])
            w.line(f"if ({other or 0}) {s} *= {w.entry(x, args[0], at, own)};")
        w.line(f"{w.at(target, term.shape, places)} = {w.cast(s, own, kind)};")


def _weighed(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    """Sums of the entries that have a weight."""
    (x, weights), dim, kind = term.args, term.params["dim"], w.kind(term)
    with w.over(term.shape) as places, w.accumulator(kind) as (s, own):
        with w.over([x.shape[dim]]) as (k,):
            weight = closed(w.entry(weights, args[1], [places[dim], k], own))
            entry = closed(w.entry(x, args[0], [*places[:dim], k, *places[dim + 1 :]], own))
            w.line(f"if ({weight} != 0) {s} += {entry} * {weight};")
        w.line(f"{w.at(target, term.shape, places)} = {w.cast(s, own, kind)};")


def _arg(sign: str, last_nan: bool = False) -> Loop:
    """The first place of the largest or smallest entry along an axis; that of the first or last nan."""

    def loop(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
        (x,), dim = term.args, term.params["dim"]
        if dim is None:
            raise CompileError(f"{term.op.name}() without an axis is not written in C; give it dim=.")
        _not_empty(w, [x.shape[dim]])
        with w.over([1 if k == dim else s for k, s in enumerate(x.shape)]) as places:
            kept = list(places) if term.params["keepdim"] else [i for k, i in enumerate(places) if k != dim]
            with w.accumulator("ptrdiff_t") as (s, _):
                with w.over([x.shape[dim]]) as (i,):
                    new, old = (w.entry(x, args[0], [*places[:dim], k, *places[dim + 1 :]], w.kind(x)) for k in (i, s))
                    new, old = closed(new), closed(old)
                    nan = f"{new} != {new}" if last_nan else f"({new} != {new} && {old} == {old})"
                    w.line(f"if ({new} {sign} {old} || {nan}) {s} = {i};")
                w.line(f"{w.at(target, term.shape, kept)} = {w.cast(s, 'ptrdiff_t', w.kind(term))};")

    return loop


def _running(first: str, step: str) -> Loop:
    """Running sums or the like along an axis: what they begin with, and a step with ``s`` and the entry ``x``."""

    def loop(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
        (x,), dim, kind = term.args, term.params["dim"], w.kind(term)
        if "(" in step and is_complex(kind):
            raise CompileError(f"{term.op.name}() of complex numbers is not written in C. Save it as a Python file.")
        lines = w.over([1 if k == dim else s for k, s in enumerate(x.shape)])
        with lines as places, w.accumulator(kind, first) as (s, own), w.over([x.shape[dim]]) as (i,):
            at = [*places[:dim], i, *places[dim + 1 :]]
            w.line(w.helped(step.format(s=s, x=closed(w.entry(x, args[0], at, own)))) + ";")
            w.line(f"{w.at(target, term.shape, at)} = {w.cast(s, own, kind)};")

    return loop


def _place_of_running(sign: str) -> Loop:
    """The place of the running extreme: the last of equal ones, and the last nan once there is one."""

    def loop(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
        (x,), dim = term.args, term.params["dim"]
        lines = w.over([1 if k == dim else s for k, s in enumerate(x.shape)])
        with lines as places, w.accumulator("ptrdiff_t") as (s, _), w.over([x.shape[dim]]) as (i,):
            new, old = (closed(w.entry(x, args[0], [*places[:dim], k, *places[dim + 1 :]], w.kind(x))) for k in (i, s))
            nan = f" || {new} != {new}" if w.kind(x) in ("double", "float") else ""
            w.line(f"if ({new} {sign} {old}{nan}) {s} = {i};")
            w.line(f"{w.at(target, term.shape, [*places[:dim], i, *places[dim + 1 :]])} = {s};")

    return loop


# ---------------------------------------------------------------------------------------------- order


def _ordered(call: str) -> Loop:
    """What looks at the order of the entries along an axis, in lines of which each has two rooms for places."""

    def loop(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
        (x,), p = term.args, term.params
        dim = p.get("dim", 0)
        kind = "int64_t" if is_whole(w.kind(x)) else "double"
        if w.kind(x) == "uint64_t":
            raise CompileError(f"{term.op.name}() of uint64 is not written in C; cast it to int64.")
        name = w.as_kind(x, args[0], kind)
        if "k" in p or not term.shape:
            w.at_least_of(x.shape[dim], p.get("k", 1))
        rooms = [w.variable((x.shape[dim],), "int64_t") for _ in range(2)]
        step = " * ".join(closed(w.size(s)) for s in x.shape[dim + 1 :] if s != 1) or "1"
        words = {key: literal(value, "bool") if isinstance(value, bool) else value for key, value in p.items()}
        with w.over([1 if k == dim else s for k, s in enumerate(x.shape)]) as places:
            found = f"{target} + {w.linear(term.shape, places)}" if term.shape else target
            own = f"{name} + {w.linear(x.shape, places)}"
            text = call.format(n=w.size(x.shape[dim]), step=step, x=own, y=found, r=rooms, **words)
            place = w.at(target, term.shape, places)
            text = f"{place} = {text}" if text.startswith(("selected", "middle")) else text
            w.line(w.helped(text if kind == "double" else re.sub(r"(\w+)\(", r"whole_\1(", text, count=1)) + ";")

    return loop


# ---------------------------------------------------------------------------------------------- sums by places


def _scatter(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    (g, index), dim, kind = term.args, term.params["dim"], w.kind(term)
    w.fill(target, term.shape, kind)
    with w.over(index.shape) as at:
        place = w.helped(f"wrap({w.entry(index, args[1], at, 'int64_t')}, {w.size(term.shape[dim])})")
        inside = [*at[:dim], place, *at[dim + 1 :]]
        w.line(f"{w.at(target, term.shape, inside)} += {w.entry(g, args[0], at, kind)};")


def _put(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    x, kind = term.args[0], w.kind(term)
    w.fill(target, term.shape, kind)
    holes = list(zip(term.args[1:], args[1:], strict=True))
    with w.over(x.shape) as at:
        inside = taken_at(w, term, term.shape, holes, at)
        w.line(f"{w.at(target, term.shape, inside)} += {w.entry(x, args[0], at, kind)};")


def _index_put(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    """A copy, in which the entries that the index takes are those of the second operand."""
    (x, value, *places), index, kind = term.args, term.params["index"], w.kind(term)
    shape = lookup("getitem").infer(term.shape, *(p.shape for p in places), index=index)  # type: ignore[misc]
    if value.ndim > len(shape):
        raise CompileError("index_put() of a value with more axes than the part is not written in C; squeeze it.")
    w.copy_into(target, x, args[0], kind)
    holes = list(zip(places, args[2:], strict=True))
    with w.over(shape) as at:
        inside = taken_at(w, term, term.shape, holes, at)
        entry = w.entry(value, args[1], w.broadcast(value, at), kind)
        w.line(f"{w.at(target, term.shape, inside)} = {entry};")


def _windows_sum(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    x, p, kind = term.args[0], term.params, w.kind(term)
    w.fill(target, term.shape, kind)
    with w.over(x.shape) as at:
        place = plus(times(at[p["dim"]], p["step"]), times(at[-1], p["dilation"]))
        inside = [*at[: p["dim"]], place, *at[p["dim"] + 1 : -1]]
        w.line(f"{w.at(target, term.shape, inside)} += {w.entry(x, args[0], at, kind)};")


LOOPS: dict[str, Form] = {
    "amax": Form(loop=_fold("-INFINITY", "{s} = maximum({s}, {x})"), once="all"),
    "amin": Form(loop=_fold("INFINITY", "{s} = minimum({s}, {x})"), once="all"),
    "prod": Form(loop=_fold("1", "{s} *= {x}"), once="all"),
    "norm": Form(loop=_norm),
    "prod_others": Form(loop=_others),
    "weighed": Form(loop=_weighed),
    "divisible": Form(loop=_divisible),
    "any": Form(loop=_fold("false", "{s} = {s} || {x}"), once="all"),
    "all": Form(loop=_fold("true", "{s} = {s} && {x}"), once="all"),
    "argmax": Form(loop=_arg(">")),
    "argmin": Form(loop=_arg("<")),
    "argmax_of_pool": Form(loop=_arg(">", last_nan=True)),
    "cumsum": Form(loop=_running("0", "{s} += {x}"), once="all"),
    "cumprod": Form(loop=_running("1", "{s} *= {x}"), once="all"),
    "logcumsumexp": Form(loop=_running("-INFINITY", "{s} = logaddexp({s}, {x})"), once="all"),
    "argcummax": Form(loop=_place_of_running(">=")),
    "argcummin": Form(loop=_place_of_running("<=")),
    "argsort": Form(loop=_ordered("order_of({n}, {step}, {x}, {descending}, {y}, {r[0]}, {r[1]})")),
    "argkth": Form(loop=_ordered("selected({n}, {step}, {x}, {k} - 1, {r[0]})")),
    "argtop": Form(loop=_ordered("best_of({n}, {step}, {x}, {k}, {largest}, {y}, {r[0]}, {r[1]})")),
    "middle": Form(loop=_ordered("middle_of({n}, {x}, {skip_nan}, {r[0]}, {r[1]})")),
    "scatter_into": Form(loop=_scatter, places=lambda term: [(1, term.shape[term.params["dim"]])]),
    "put": Form(put_entry, _put, once="first", places=indexed),
    "index_put": Form(loop=_index_put, places=indexed),
    "windows_sum": Form(loop=_windows_sum),
}
