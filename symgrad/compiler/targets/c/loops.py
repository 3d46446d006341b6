"""Results that take loops of their own: contractions, folds, running sums, sums by places, systems of equations.

Each function takes the writer, the term, its operands and the name that the result gets, and writes lines.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from symgrad.compiler.targets.c.entries import indexed, plus, put_entry, taken_at, times
from symgrad.compiler.targets.c.texts import closed, literal
from symgrad.compiler.targets.forms import Form, reduced
from symgrad.errors import CompileError
from symgrad.formula.term import Term
from symgrad.op import lookup

Loop = Callable[[Any, Term, Sequence[Any], str], None]


# ---------------------------------------------------------------------------------------------- contractions


def spec(term: Term) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
    """The labels of a multilinear op's operands and of its result."""
    return term.op.einsum(*(a.shape for a in term.args), **term.params)


def summed(term: Term) -> bool:
    """Whether a multilinear op sums over something, has several operands, or puts one on a diagonal."""
    inputs, output = spec(term)
    return len(inputs) > 1 or not set(inputs[0]) <= set(output) or len(set(output)) < len(output)


def contraction(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    """Sums of products: the last axis of the result is the innermost loop where that reads rows in their order."""
    inputs, output = spec(term)
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
    by_rows = by_rows and kind != "float" and len(free) == len(output)

    def product(at: dict[int, str]) -> str:
        entries = [w.entry(x, a, [at[b] for b in r], kind) for x, a, r in zip(term.args, args, inputs, strict=True)]
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
            w.line(f"{place} = {product(at)};")
            return
        with w.accumulator(kind) as (s, wide):
            with w.over([sizes[label] for label in inner]) as deep:
                at |= dict(zip(inner, deep, strict=True))
                w.line(f"{s} += {product(at)};")
            w.line(f"{place} = {w.cast(s, wide, kind)};")


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
        own, kind = w.kind(x), w.kind(term)
        if own not in ("double", "float", "bool"):
            raise CompileError(f"{term.op.name}() of integers is not written in C; save the program as a Python file.")
        if first.endswith("INFINITY"):
            _not_empty(w, [x.shape[k] for k in dim])
        with w.over([s for k, s in enumerate(x.shape) if k not in dim]) as places:
            rest, kept = iter(places), iter(places)
            with w.accumulator("double" if kind != "bool" else "bool", first) as (s, wide):
                with w.over([x.shape[k] for k in dim]) as deep:
                    by = dict(zip(dim, deep, strict=True))
                    at = [by[k] if k in by else next(rest) for k in range(x.ndim)]
                    w.line(w.helped(step.format(s=s, x=closed(w.entry(x, args[0], at, wide)))) + ";")
                if term.params.get("keepdim"):
                    place = ["0" if k in dim else next(kept) for k in range(x.ndim)]
                else:
                    place = list(kept)
                w.line(f"{w.at(target, term.shape, place)} = {w.cast(s, wide, kind)};")

    return loop


def _others(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    """For every entry, the product of the others in its line."""
    (x,), dim, kind = term.args, reduced(term), w.kind(term)
    with w.over(x.shape) as places, w.accumulator(kind, "1") as (s, wide):
        with w.over([x.shape[k] for k in dim]) as deep:
            by = dict(zip(dim, deep, strict=True))
            at = [by.get(k, i) for k, i in enumerate(places)]
            other = " || ".join(f"{by[k]} != {places[k]}" for k in dim if by[k] != places[k])
            w.line(f"if ({other or 0}) {s} *= {w.entry(x, args[0], at, wide)};")
        w.line(f"{w.at(target, term.shape, places)} = {w.cast(s, wide, kind)};")


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


def _running(sign: str) -> Loop:
    """Running sums or products along an axis."""

    def loop(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
        (x,), dim, kind = term.args, term.params["dim"], w.kind(term)
        lines = w.over([1 if k == dim else s for k, s in enumerate(x.shape)])
        with (
            lines as places,
            w.accumulator(kind, "0" if sign == "+" else "1") as (s, wide),
            w.over([x.shape[dim]]) as (i,),
        ):
            at = [*places[:dim], i, *places[dim + 1 :]]
            w.line(f"{s} {sign}= {w.entry(x, args[0], at, wide)};")
            w.line(f"{w.at(target, term.shape, at)} = {w.cast(s, wide, kind)};")

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


# ---------------------------------------------------------------------------------------------- matrices


@contextlib.contextmanager
def _each(w: Any, shape: Sequence[Any], arrays: dict[str, Sequence[Any]]) -> Iterator[list[str]]:
    """Loops over the leading axes, and the texts of where the matrix of each array begins there."""
    with w.over(shape) as places:
        starts = []
        for name, own in arrays.items():
            size = " * ".join(closed(w.size(s)) for s in own)
            starts.append(f"{name} + {closed(w.linear(shape, places))} * {size}" if shape else name)
        yield starts


def _solve(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    a, b = term.args
    n, vector = a.shape[-1], b.ndim == 1
    m = 1 if vector else b.shape[-1]
    factors, x = w.copied(a, args[0], "double"), w.begun(term, target)
    w.copy_into(x, b, args[1], "double")
    with _each(w, a.shape[:-2], {factors: (n, n), x: (n, m)}) as (p, q):
        w.line(f"if ((status = {w.helped(f'solve({w.size(n)}, {w.size(m)}, {p}, {q})')})) goto done;")
    w.finished(term, target, x)


def _inv(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    a, n = term.args[0], term.shape[-1]
    factors, x = w.copied(a, args[0], "double"), w.begun(term, target)
    with w.over(term.shape) as at:
        w.line(f"{x}[{w.linear(term.shape, at)}] = {at[-2]} == {at[-1]};")
    with _each(w, a.shape[:-2], {factors: (n, n), x: (n, n)}) as (p, q):
        w.line(f"if ((status = {w.helped(f'solve({w.size(n)}, {w.size(n)}, {p}, {q})')})) goto done;")
    w.finished(term, target, x)


def _inv_lower(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    a, n = term.args[0], term.shape[-1]
    matrix, x = w.as_double(a, args[0]), w.begun(term, target)
    with w.over(term.shape) as at:
        w.line(f"{x}[{w.linear(term.shape, at)}] = {at[-2]} == {at[-1]};")
    with _each(w, a.shape[:-2], {matrix: (n, n), x: (n, n)}) as (p, q):
        call = w.helped(f"triangular({w.size(n)}, {w.size(n)}, {p}, {q}, false, false)")
        w.line(f"if ((status = {call})) goto done;")
    w.finished(term, target, x)


def _cholesky(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    n, x = term.shape[-1], w.begun(term, target)
    w.copy_into(x, term.args[0], args[0], "double")
    with _each(w, term.shape[:-2], {x: (n, n)}) as (p,):
        w.line(f"if ((status = {w.helped(f'cholesky({w.size(n)}, {p})')})) goto done;")
    w.finished(term, target, x)


def _solve_triangular(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    a, b = term.args
    n, m = a.shape[-1], b.shape[-1]
    matrix, x = w.as_double(a, args[0]), w.begun(term, target)
    w.copy_into(x, b, args[1], "double")
    flags = ", ".join(literal(term.params[key], "bool") for key in ("upper", "unit"))
    with _each(w, a.shape[:-2], {matrix: (n, n), x: (n, m)}) as (p, q):
        call = w.helped(f"triangular({w.size(n)}, {w.size(m)}, {p}, {q}, {flags})")
        w.line(f"if ((status = {call})) goto done;")
    w.finished(term, target, x)


def _determinant(name: str) -> Loop:
    def loop(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
        a = term.args[0]
        n, factors = a.shape[-1], w.copied(a, args[0], "double")
        with w.over(a.shape[:-2]) as at:
            start = f" + {closed(w.linear(a.shape[:-2], at))} * {closed(w.size(n))} * {closed(w.size(n))}" if at else ""
            call = w.helped(f"{name}({w.size(n)}, {factors}{start})")
            w.line(f"{w.at(target, term.shape, at)} = {w.cast(call, 'double', w.kind(term))};")

    return loop


def _eigen(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    """Eigenvalues or eigenvectors: both are computed, and what was not asked for is left."""
    a = term.args[0]
    n, matrix = a.shape[-1], w.copied(a, args[0], "double")
    vectors = term.op.name == "eigh_vectors"
    x = w.begun(term, target)
    other = w.variable((n,) if vectors else (n, n), "double")
    with _each(w, a.shape[:-2], {matrix: (n, n), x: (n, n) if vectors else (n,)}) as (p, q):
        both = f"{q}, {other}" if vectors else f"{other}, {q}"
        w.line(f"{w.helped(f'eigen({w.size(n)}, {p}, {both})')};")
    w.finished(term, target, x)


def _argsort(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    (x,), dim = term.args, term.params["dim"]
    if w.kind(x) not in ("double", "float", "bool"):
        raise CompileError(f"{term.op.name}() of integers is not written in C; save the program as a Python file.")
    name, n = w.as_double(x, args[0]), w.size(x.shape[dim])
    rooms = ", ".join(w.variable((x.shape[dim],), "int64_t") for _ in range(2))
    step = " * ".join(closed(w.size(s)) for s in x.shape[dim + 1 :] if s != 1) or "1"
    down = literal(term.params["descending"], "bool")
    with w.over([1 if k == dim else s for k, s in enumerate(x.shape)]) as places:
        at = w.linear(x.shape, places)
        w.line(f"{w.helped(f'order_of({n}, {step}, {name} + {at}, {down}, {target} + {at}, {rooms})')};")


LOOPS: dict[str, Form] = {
    "amax": Form(loop=_fold("-INFINITY", "{s} = maximum({s}, {x})"), once="all"),
    "amin": Form(loop=_fold("INFINITY", "{s} = minimum({s}, {x})"), once="all"),
    "prod": Form(loop=_fold("1", "{s} *= {x}"), once="all"),
    "prod_others": Form(loop=_others),
    "any": Form(loop=_fold("false", "{s} = {s} || {x}"), once="all"),
    "all": Form(loop=_fold("true", "{s} = {s} && {x}"), once="all"),
    "argmax": Form(loop=_arg(">")),
    "argmin": Form(loop=_arg("<")),
    "argmax_of_pool": Form(loop=_arg(">", last_nan=True)),
    "cumsum": Form(loop=_running("+"), once="all"),
    "cumprod": Form(loop=_running("*"), once="all"),
    "scatter_into": Form(loop=_scatter, places=lambda term: [(1, term.shape[term.params["dim"]])]),
    "put": Form(put_entry, _put, once="first", places=indexed),
    "index_put": Form(loop=_index_put, places=indexed),
    "windows_sum": Form(loop=_windows_sum),
    "solve": Form(loop=_solve),
    "inv": Form(loop=_inv),
    "inv_lower": Form(loop=_inv_lower),
    "cholesky": Form(loop=_cholesky),
    "solve_triangular": Form(loop=_solve_triangular),
    "det": Form(loop=_determinant("determinant")),
    "logdet": Form(loop=_determinant("log_determinant")),
    "logabsdet": Form(loop=_determinant("log_abs_determinant")),
    "slogdet_sign": Form(loop=_determinant("sign_of_determinant")),
    "eigvalsh": Form(loop=_eigen),
    "eigh_vectors": Form(loop=_eigen),
    "argsort": Form(loop=_argsort),
}
