"""Results of the C target that are of whole matrices, or of whole lines: systems, decompositions, Fourier transforms.

Each function takes the writer, the term, its operands and the name that the result gets, and writes lines.  What is
computed is in double precision, real or complex.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from symgrad.compiler.targets.c.texts import closed, is_complex, literal, wide
from symgrad.compiler.targets.forms import Form
from symgrad.formula.term import Term


@contextlib.contextmanager
def _each(w: Any, shape: Sequence[Any], arrays: dict[str, Sequence[Any]]) -> Iterator[list[str]]:
    """Loops over the leading axes, and the texts of where the matrix of each array begins there."""
    with w.over(shape) as places:
        starts = []
        for name, own in arrays.items():
            size = " * ".join(closed(w.size(s)) for s in own)
            starts.append(f"{name} + {closed(w.linear(shape, places))} * {size}" if shape else name)
        yield starts


def _call(w: Any, kind: str, text: str) -> str:
    """A call of a function on matrices, of complex numbers where the kind is one of these."""
    return str(w.helped(f"complex_{text}" if is_complex(kind) else text))


def _checked(w: Any, kind: str, text: str) -> None:
    """The line with a call that may find no result."""
    w.line(f"if ((status = {_call(w, kind, text)})) goto done;")


def _least(w: Any, m: Any, n: Any) -> str:
    """The smaller one of two sizes."""
    first, second = closed(w.size(m)), closed(w.size(n))
    return first if first == second else f"({first} < {second} ? {first} : {second})"


def _unit(w: Any, shape: Sequence[Any], x: str) -> None:
    with w.over(shape) as at:
        w.line(f"{x}[{w.linear(shape, at)}] = {at[-2]} == {at[-1]};")


# ---------------------------------------------------------------------------------------------- systems


def _solve(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    a, b = term.args
    kind, n, m = wide(w.kind(term)), a.shape[-1], 1 if b.ndim == 1 else b.shape[-1]
    factors, x = w.copied(a, args[0], kind), w.begun(term, target)
    w.copy_into(x, b, args[1], kind)
    with _each(w, a.shape[:-2], {factors: (n, n), x: (n, m)}) as (p, q):
        _checked(w, kind, f"solve({w.size(n)}, {w.size(m)}, {p}, {q})")
    w.finished(term, target, x)


def _inv(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    a, n, kind = term.args[0], term.shape[-1], wide(w.kind(term))
    factors, x = w.copied(a, args[0], kind), w.begun(term, target)
    _unit(w, term.shape, x)
    with _each(w, a.shape[:-2], {factors: (n, n), x: (n, n)}) as (p, q):
        _checked(w, kind, f"solve({w.size(n)}, {w.size(n)}, {p}, {q})")
    w.finished(term, target, x)


def _inv_lower(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    a, n, kind = term.args[0], term.shape[-1], wide(w.kind(term))
    matrix, x = w.as_kind(a, args[0], kind), w.begun(term, target)
    _unit(w, term.shape, x)
    with _each(w, a.shape[:-2], {matrix: (n, n), x: (n, n)}) as (p, q):
        _checked(w, kind, f"triangular({w.size(n)}, {w.size(n)}, {p}, {q}, false, false)")
    w.finished(term, target, x)


def _solve_triangular(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    a, b = term.args
    n, m, kind = a.shape[-1], b.shape[-1], wide(w.kind(term))
    matrix, x = w.as_kind(a, args[0], kind), w.begun(term, target)
    w.copy_into(x, b, args[1], kind)
    flags = ", ".join(literal(term.params[key], "bool") for key in ("upper", "unit"))
    with _each(w, a.shape[:-2], {matrix: (n, n), x: (n, m)}) as (p, q):
        _checked(w, kind, f"triangular({w.size(n)}, {w.size(m)}, {p}, {q}, {flags})")
    w.finished(term, target, x)


def _cholesky(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    n, kind, x = term.shape[-1], wide(w.kind(term)), w.begun(term, target)
    w.copy_into(x, term.args[0], args[0], kind)
    with _each(w, term.shape[:-2], {x: (n, n)}) as (p,):
        _checked(w, kind, f"cholesky({w.size(n)}, {p})")
    w.finished(term, target, x)


def _determinant(name: str) -> Any:
    def loop(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
        a = term.args[0]
        n, kind = a.shape[-1], wide(w.kind(a))
        factors = w.copied(a, args[0], kind)
        own = "double" if name == "log_abs_determinant" else kind
        with w.over(a.shape[:-2]) as at:
            start = f" + {closed(w.linear(a.shape[:-2], at))} * {closed(w.size(n))} * {closed(w.size(n))}" if at else ""
            call = _call(w, kind, f"{name}({w.size(n)}, {factors}{start})")
            w.line(f"{w.at(target, term.shape, at)} = {w.cast(call, own, w.kind(term))};")

    return loop


# ---------------------------------------------------------------------------------------------- decompositions


def _eigen(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    """Eigenvalues or eigenvectors: both are computed, and what was not asked for is left."""
    a = term.args[0]
    n, kind = a.shape[-1], wide(w.kind(a))
    matrix, x = w.copied(a, args[0], kind), w.begun(term, target)
    vectors = term.ndim == a.ndim
    other = w.variable((n,) if vectors else (n, n), "double" if vectors else kind)
    with _each(w, a.shape[:-2], {matrix: (n, n), x: (n, n) if vectors else (n,)}) as (p, q):
        both = f"{q}, {other}" if vectors else f"{other}, {q}"
        w.line(_call(w, kind, f"eigen({w.size(n)}, {p}, {both})") + ";")
    w.finished(term, target, x)


def _singular(part: int) -> Any:
    """One of u, s and vh; all are computed, and what was not asked for is left."""

    def loop(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
        a = term.args[0]
        (m, n), kind = a.shape[-2:], wide(w.kind(a))
        k = w.smaller(term.shape[-2 if part == 2 else -1], (m, n))
        matrix, x = w.as_kind(a, args[0], kind), w.begun(term, target)
        shapes = ((m, k), (k,), (k, n))
        found = [w.memory_for(shape, "double" if len(shape) == 1 else kind) for shape in shapes]
        rooms = w.memory_for((m, n), kind), w.memory_for((k, k), kind)
        with _each(w, a.shape[:-2], {matrix: (m, n), x: shapes[part]}) as (p, q):
            found[part] = q
            w.line(_call(w, kind, f"svd({w.size(m)}, {w.size(n)}, {', '.join([p, *found, *rooms])})") + ";")
        w.finished(term, target, x)

    return loop


def _pinv(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    a = term.args[0]
    (m, n), kind = a.shape[-2:], wide(w.kind(a))
    matrix, x, k = w.as_kind(a, args[0], kind), w.begun(term, target), _least(w, m, n)
    shapes = ((m, k), (k,), (k, n), (m, n), (k, k))
    u, s, vh, *rooms = (w.memory_for(shape, "double" if len(shape) == 1 else kind) for shape in shapes)
    limits = ", ".join(literal(term.params[key], "double") for key in ("atol", "rtol"))
    with _each(w, a.shape[:-2], {matrix: (m, n), x: (n, m)}) as (p, q):
        w.line(_call(w, kind, f"svd({w.size(m)}, {w.size(n)}, {', '.join([p, u, s, vh, *rooms])})") + ";")
        w.line(_call(w, kind, f"pseudo_inverse({w.size(m)}, {w.size(n)}, {limits}, {u}, {s}, {vh}, {q})") + ";")
    w.finished(term, target, x)


def _qr(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    """Q, or R, which lies above the diagonal of what is left of the matrix."""
    a = term.args[0]
    (m, n), kind = a.shape[-2:], wide(w.kind(a))
    first = term.op.name == "qr_q"
    k = w.smaller(term.shape[-1 if first else -2], (m, n))
    rest, x = w.copied(a, args[0], kind), w.begun(term, target)
    tau, q = w.memory_for((k,), kind), x if first else w.memory_for((m, k), kind)
    with _each(w, a.shape[:-2], {rest: (m, n), x: (m, k) if first else (k, n)}) as (p, out):
        w.line(_call(w, kind, f"qr({w.size(m)}, {w.size(n)}, {p}, {out if first else q}, {tau})") + ";")
        if not first:
            with w.over([n]) as (j,):
                w.line(f"for (ptrdiff_t k = 0; k < {k}; k++)")
                entry = f"k * {closed(w.size(n))} + {j}"
                w.line(f"    ({out})[{entry}] = {j} < k ? 0 : ({p})[{entry}];")
    w.finished(term, target, x)


def _exponential(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    a, kind, x = term.args[0], wide(w.kind(term)), w.begun(term, target)
    n = a.shape[-1]
    w.copy_into(x, a, args[0], kind)
    room = w.memory_for((6, n, n), kind)
    with _each(w, a.shape[:-2], {x: (n, n)}) as (p,):
        _checked(w, kind, f"exponential({w.size(n)}, {p}, {room})")
    w.finished(term, target, x)


def _exponential_moved(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    """The upper right block of the exponential of [[x, e], [0, x]], with a large e made smaller meanwhile."""
    (a, _), kind, x = term.args, wide(w.kind(term)), w.begun(term, target)
    first, second = (w.as_kind(b, t, kind) for b, t in zip(term.args, args, strict=True))
    n = w.size(a.shape[-1])
    both, room = (w.memory_for((count, n, n), kind) for count in (4, 24))
    scale, size = w.memory_for((1,), "double"), "cabs" if kind == "double complex" else "fabs"
    with _each(w, a.shape[:-2], {first: (n, n), second: (n, n), x: (n, n)}) as (p, *others, out):
        q = others[0] if others else p  # along x itself
        w.line(f"*{scale} = 1;")
        with w.over([a.shape[-1]] * 2) as (i, j):
            w.line(f"*{scale} = fmax(*{scale}, {size}(({q})[{i} * {closed(n)} + {j}]));")
        w.line(f"*{scale} = isinf(*{scale}) ? 1 : exp2(ceil(log2(*{scale})));")
        with w.over([a.shape[-1]] * 2) as (i, j):
            row, low = f"{i} * 2 * {closed(n)} + {j}", f"({i} + {closed(n)}) * 2 * {closed(n)} + {j}"
            entry = f"{i} * {closed(n)} + {j}"
            w.line(f"{both}[{row}] = {both}[{low} + {closed(n)}] = ({p})[{entry}];")
            w.line(f"{both}[{row} + {closed(n)}] = ({q})[{entry}] / *{scale};")
            w.line(f"{both}[{low}] = 0;")
        _checked(w, kind, f"exponential(2 * {closed(n)}, {both}, {room})")
        with w.over([a.shape[-1]] * 2) as (i, j):
            w.line(f"({out})[{i} * {closed(n)} + {j}] = {both}[{i} * 2 * {closed(n)} + {j} + {closed(n)}] * *{scale};")
    w.finished(term, target, x)


# ---------------------------------------------------------------------------------------------- Fourier


def _fourier(w: Any, term: Term, args: Sequence[Any], target: str) -> None:
    """One line after the other, in place; at last every entry is multiplied as the norm wants it."""
    p, x = term.params, w.begun(term, target)
    w.copy_into(x, term.args[0], args[0], "double complex")
    for dim in p["dims"]:
        w.at_least_of(term.shape[dim], 1)
        step = " * ".join(closed(w.size(s)) for s in term.shape[dim + 1 :] if s != 1) or "1"
        with w.over([1 if k == dim else s for k, s in enumerate(term.shape)]) as at:
            start = w.linear(term.shape, at)
            line = f"fourier({w.size(term.shape[dim])}, {step}, {x} + {start}, {literal(p['inverse'], 'bool')})"
            w.line(f"if ((status = {w.helped(line)})) goto done;")
    if p["norm"] == "ortho" or (p["norm"] == "backward") == p["inverse"]:
        count = " * ".join(f"(double){closed(w.size(term.shape[dim]))}" for dim in p["dims"]) or "1.0"
        with w.over(term.shape) as at:
            w.line(f"{w.at(x, term.shape, at)} /= {f'sqrt({count})' if p['norm'] == 'ortho' else closed(count)};")
    w.finished(term, target, x)


DECOMPOSITIONS: dict[str, Form] = {
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
    "svd_u": Form(loop=_singular(0)),
    "svdvals": Form(loop=_singular(1)),
    "svd_vh": Form(loop=_singular(2)),
    "pinv": Form(loop=_pinv),
    "qr_q": Form(loop=_qr),
    "qr_r": Form(loop=_qr),
    "matrix_exp": Form(loop=_exponential),
    "matrix_exp_frechet": Form(loop=_exponential_moved),
    "fourier": Form(loop=_fourier),
}
