"""Ops that are neither elementwise nor products, as calls: the table of what Octave and the library have for them.

Each function takes the writer, the term and the texts of its operands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.compiler.targets.forms import Form, parted, reduced
from symgrad.compiler.targets.octave.products import fitted, placed
from symgrad.compiler.targets.octave.spelling import closed, number
from symgrad.errors import CompileError
from symgrad.formula.term import Term
from symgrad.op import lookup
from symgrad.ops.indexing.getitem import HOLE

Entry = Callable[[Any, Term, Sequence[str]], str]


def _sizes(w: Any, shape: Sequence[Any]) -> str:
    """A shape as a row of sizes; that of a vector says that it is a column."""
    found = [w.size(s) for s in shape]
    return f"[{', '.join(found + ['1'] * (2 - len(found)))}]"


def _row(w: Any, shape: Sequence[Any]) -> str:
    """A shape as a row of as many sizes as it has axes."""
    return f"[{', '.join(w.size(s) for s in shape)}]"


# ---------------------------------------------------------------------------------------------- made of nothing


def _full(w: Any, term: Term, _texts: Sequence[str]) -> str:
    value = term.params["value"]
    text = w.size(value) if isinstance(value, str) and value != "pi" else number(value)
    if not term.shape:
        return text
    if value in (0, 1) and not isinstance(value, bool):
        return f"{'ones' if value else 'zeros'}({_sizes(w, term.shape)[1:-1]})"
    return f"repmat({text}, {_sizes(w, term.shape)})"


def _eye(w: Any, term: Term, _texts: Sequence[str]) -> str:
    return f"eye({_sizes(w, term.shape)[1:-1]})"


def _arange(w: Any, term: Term, _texts: Sequence[str]) -> str:
    return f"(0:{w.size(term.shape[0])} - 1).'"


def _one_hot(w: Any, term: Term, texts: Sequence[str]) -> str:
    text = w.helped(f"one_hot({texts[0]}, {w.size(term.shape[-1])}, {len(term.shape)})")
    return str(w.as_dtype(text, np.dtype(np.float64), term.dtype))


# ---------------------------------------------------------------------------------------------- other places


def _indexed(w: Any, x: Term, text: str, parts: Sequence[str]) -> str:
    """An array between whose brackets a text stands for every axis; a column has two."""
    row = [*parts, *(["1"] if len(parts) == 1 else [])]
    return f"{w.named(x, text)}({', '.join(row)})"


def _select(w: Any, term: Term, texts: Sequence[str]) -> str:
    (x,), dim, index = term.args, term.params["dim"], term.params["index"]
    parts = [":"] * x.ndim
    parts[dim] = _place(index, "end")
    return placed(_indexed(w, x, texts[0], parts), [k for k in range(x.ndim) if k != dim], x.ndim)


def _narrow(w: Any, term: Term, texts: Sequence[str]) -> str:
    (x,), dim, start = term.args, term.params["dim"], w.size(term.params["start"])
    parts = [":"] * x.ndim
    parts[dim] = _range(start, w.size(term.shape[dim]))
    return _indexed(w, x, texts[0], parts)


def _range(start: str, length: str) -> str:
    """So many places behind ``start``.

    >>> _range("0", "n"), _range("2", "3"), _range("n", "m - 1")
    ('1:n', '3:5', 'n + 1:n + (m - 1)')
    """
    if start.isdigit():
        last = (
            str(int(start) + int(length))
            if length.isdigit()
            else length
            if start == "0"
            else f"{start} + {closed(length)}"
        )
        return f"{int(start) + 1}:{last}"
    return f"{start} + 1:{start} + {closed(length)}"


def _place(index: int, end: str) -> str:
    """A place from 0, or from the end, as one from 1."""
    return str(index + 1) if index >= 0 else end if index == -1 else f"{end} - {-index - 1}"


def _flip(_w: Any, term: Term, texts: Sequence[str]) -> str:
    text = texts[0]
    for dim in term.params["dims"]:
        text = f"flip({text}, {dim + 1})"
    return text


def _roll(_w: Any, term: Term, texts: Sequence[str]) -> str:
    text = texts[0]
    for dim, shift in zip(term.params["dims"], term.params["shifts"], strict=True):
        text = f"circshift({text}, {shift}, {dim + 1})"
    return text


def _reshape(w: Any, term: Term, texts: Sequence[str]) -> str:
    x = term.args[0]
    if x.ndim <= 1 and term.ndim <= 1:
        return texts[0]
    return str(w.helped(f"rows({texts[0]}, {x.ndim}, {_row(w, term.shape)})"))


def _windows(w: Any, term: Term, texts: Sequence[str]) -> str:
    p, (x,) = term.params, term.args
    dim = p["dim"]
    count = w.size(term.shape[dim])
    name = w.named(x, texts[0])
    numbers = f"{count}, {w.size(term.shape[-1])}, {p['step']}, {p['dilation']}"
    return str(w.helped(f"windows({name}, {dim + 1}, {numbers}, {term.ndim})"))


def _windows_sum(w: Any, term: Term, texts: Sequence[str]) -> str:
    p, (x,) = term.params, term.args
    numbers = f"{p['step']}, {p['dilation']}, {w.size(term.shape[p['dim']])}"
    return str(w.helped(f"windows_sum({texts[0]}, {p['dim'] + 1}, {x.ndim}, {numbers})"))


def _cross(w: Any, term: Term, texts: Sequence[str]) -> str:
    row = [fitted(t, x.ndim, term.ndim) for t, x in zip(texts, term.args, strict=True)]
    return str(w.helped(f"crossed({', '.join(row)}, {term.params['dim'] + 1})"))


# ---------------------------------------------------------------------------------------------- indices


class _Parts:
    """An index, part by part: texts of all axes of the whole, and how the axes of the part lie among these.

    ``order``  for every axis of the part the axis of the whole, or None for one of size 1
    ``places`` the array of places, its number of axes and its axis in the whole, if one axis is taken by an array
    ``arrays`` the arrays of places where every axis is taken by one
    """

    def __init__(self, w: Any, term: Term, shape: Sequence[Any], places: Sequence[tuple[Term, str]], end: bool):
        parts = parted(term, len(shape), "Octave")
        self.order: list[int | None] = []
        self.texts: list[str] = []
        self.places: tuple[str, int, int] | None = None
        self.arrays: list[str] = []
        holes = iter(places)
        fancy = [k for k, p in enumerate(parts) if p is not None and not isinstance(p, slice)]
        arrays = [k for k in fancy if parts[k] is HOLE or isinstance(parts[k], np.ndarray)]
        front = bool(arrays) and fancy[-1] - fancy[0] >= len(fancy)
        if len(arrays) > 1 or (arrays and front):
            if len(fancy) < len(parts):
                raise CompileError(
                    f"{term.op.name}() with arrays of places for some axes and slices for others is written for "
                    "Octave where one axis is taken by an array. Save the program as a Python file."
                )
            found = [_array(w, p, holes) for p in parts]
            rank = max(r for _, r in found)
            self.arrays = [fitted(t, r, rank) for t, r in found]
            return
        for part in parts:
            axis = len(self.texts)
            if part is None:
                self.order.append(None)
                continue
            last = "end" if end else closed(w.size(shape[axis]))
            if isinstance(part, slice):
                self.order.append(axis)
                self.texts.append(_sliced(part, shape[axis], last))
            elif part is HOLE or isinstance(part, np.ndarray):
                self.places = (*_array(w, part, holes), axis)
                self.order.append(axis)
                self.texts.append("")
            else:
                self.texts.append(_place(int(part), last))


def _array(w: Any, part: Any, holes: Any) -> tuple[str, int]:
    """The text of an array of places, with its number of axes."""
    if part is HOLE:
        term, text = next(holes)
        return text, term.ndim
    value = np.asarray(part)
    return w.constant(value), value.ndim


def _sliced(part: slice, size: Any, last: str) -> str:
    """A slice as a range of places; ends beyond the axis are its ends."""
    step = 1 if part.step is None else int(part.step)
    if part.start is None and part.stop is None and step == 1:
        return ":"
    if isinstance(size, int):
        found = range(size)[part]
        stop = found.start + step * max(len(found) - 1, -1) + 1
        return f"{found.start + 1}:{stop}" if step == 1 else f"{found.start + 1}:{step}:{stop}"
    if step > 0:
        first = "1" if part.start is None else _from_end(part.start, 1, last, "max(1, {})", "{}")
        final = last if part.stop is None else _from_end(part.stop, 0, last, "{}", f"min({{}}, {last})")
    else:
        first = last if part.start is None else _from_end(part.start, 1, last, "{}", f"min({{}}, {last})")
        final = "1" if part.stop is None else _from_end(part.stop, 2, last, "max(1, {})", "{}")
    return f"{first}:{final}" if step == 1 else f"{first}:{step}:{final}"


def _from_end(place: int, more: int, last: str, below: str, above: str) -> str:
    """An end of a slice, ``more`` than where it is from 0; within the axis where that does not make it empty.

    >>> _from_end(2, 1, "end", "max(1, {})", "{}"), _from_end(-2, 1, "end", "max(1, {})", "{}")
    ('3', 'max(1, end - 1)')
    """
    moved = place + more
    if place >= 0:
        return above.format(moved)
    return below.format(last if not moved else f"{last} - {-moved}" if moved < 0 else f"{last} + {moved}")


def _getitem(w: Any, term: Term, texts: Sequence[str]) -> str:
    x = term.args[0]
    index = _Parts(w, term, x.shape, list(zip(term.args[1:], texts[1:], strict=True)), end=True)
    if index.arrays:
        return str(w.helped(f"picked({texts[0]}, {', '.join(index.arrays)})"))
    if index.places is None:
        return placed(_indexed(w, x, texts[0], index.texts), index.order, x.ndim)
    name = w.named(x, texts[0])
    array, rank, axis = index.places
    parts = list(index.texts)
    parts[axis] = w.helped(f"places({closed(array)}, size({name}, {axis + 1}))")
    if rank > 1:
        parts[axis] = f"reshape({parts[axis]}, [], 1)"
    text = placed(_indexed(w, x, name, parts), index.order, x.ndim)
    at = index.order.index(axis)
    if rank == 1:
        return text
    if not rank:
        return placed(text, [k for k in range(len(index.order)) if k != at], len(index.order))
    return f"reshape({text}, {_sizes(w, term.shape)})"


def _put(w: Any, term: Term, texts: Sequence[str]) -> str:
    """Zeros with the operand where the index takes it from; places that stand there twice add up."""
    x = term.args[0]
    index = _Parts(w, term, term.shape, list(zip(term.args[1:], texts[1:], strict=True)), end=False)
    dims = _row(w, term.shape)
    if index.arrays:
        return str(w.helped(f"put_picked({texts[0]}, {dims}, {', '.join(index.arrays)})"))
    if index.places is None:
        parts = [f"'{p}'" if p == ":" else p for p in index.texts]
        return str(w.helped(f"put({texts[0]}, {', '.join([dims, *parts])})"))
    array, rank, axis = index.places
    if any(p not in ("", ":") for p in index.texts) or None in index.order:
        raise CompileError(
            f"{term.op.name}() with an array of places beside parts of other axes is not written for Octave. Save the "
            "program as a Python file."
        )
    if len(x.shape) != len(term.shape) - 1 + rank:
        raise CompileError(f"{term.op.name}() of a value that is broadcast is not written for Octave.")
    return str(w.helped(f"put_rows({texts[0]}, {array}, {axis + 1}, {dims})"))


def _index_put(w: Any, term: Term, texts: Sequence[str]) -> str:
    """A copy, in which the entries that the index takes are those of the second operand."""
    value, places = term.args[1], list(zip(term.args[2:], texts[2:], strict=True))
    index = _Parts(w, term, term.shape, places, end=False)
    shape = lookup("getitem").infer(  # type: ignore[misc]
        term.shape, *(p.shape for p, _ in places), index=term.params["index"]
    )
    parts = [f"'{p}'" if p == ":" else p for p in index.texts]
    if index.places is not None:
        array, rank, axis = index.places
        parts[axis] = w.helped(f"places({array}, {w.size(term.shape[axis])})")
    many = index.arrays or (index.places is not None and rank > 1)
    spread = len(value.shape) != len(shape) or any(s == 1 != n for s, n in zip(value.shape, shape, strict=True))
    if many or (value.shape and spread):
        raise CompileError(
            "index_put() of a value that is broadcast, or at places of several axes, is not written for Octave. Save "
            "the program as a Python file."
        )
    return str(w.helped(f"assigned({', '.join([*texts[:2], *parts])})"))


def _gather(w: Any, term: Term, texts: Sequence[str]) -> str:
    return str(w.helped(f"gathered({', '.join(texts)}, {term.params['dim'] + 1})"))


def _searchsorted(w: Any, term: Term, texts: Sequence[str]) -> str:
    if term.args[0].ndim != 1:
        raise CompileError(
            "searchsorted() in several rows is not written for Octave. Save the program as a Python file."
        )
    return str(w.helped(f"searchsorted({', '.join(texts)}, {number(bool(term.params['right']))})"))


def _scatter(w: Any, term: Term, texts: Sequence[str]) -> str:
    if term.args[0].shape != term.args[1].shape:
        raise CompileError(f"{term.op.name}() of places in another shape than the values is not written for Octave.")
    return str(w.helped(f"scattered({', '.join(texts)}, {term.params['dim'] + 1}, {_row(w, term.shape)})"))


# ---------------------------------------------------------------------------------------------- parts of arrays


def _cat(_w: Any, term: Term, texts: Sequence[str]) -> str:
    return f"cat({term.params['dim'] + 1}, {', '.join(texts)})"


def _stack(_w: Any, term: Term, texts: Sequence[str]) -> str:
    dim, rank = term.params["dim"], term.args[0].ndim
    order = [*range(dim), None, *range(dim, rank)]
    return f"cat({dim + 1}, {', '.join(placed(t, order, rank) for t in texts)})"


def _pad(w: Any, term: Term, texts: Sequence[str]) -> str:
    before, after = zip(*term.params["widths"], strict=True)
    value = number(term.params["value"])
    return str(w.helped(f"padded({texts[0]}, {_row(w, before)}, {_row(w, after)}, {value})"))


def _embed(w: Any, term: Term, texts: Sequence[str]) -> str:
    dim, start, x = term.params["dim"], w.size(term.params["start"]), term.args[0]
    parts = ["':'"] * term.ndim
    parts[dim] = _range(start, w.size(x.shape[dim]))
    return str(w.helped(f"put({texts[0]}, {_row(w, term.shape)}, {', '.join(parts)})"))


def _triangle(w: Any, term: Term, texts: Sequence[str]) -> str:
    k = f", {term.params['k']}" if term.params["k"] else ""
    if term.ndim == 2:
        return f"{term.op.name}({texts[0]}{k})"
    return str(w.helped(f"pagewise(@(a) {term.op.name}(a{k}), {term.ndim}, {texts[0]})"))


def _cast(w: Any, term: Term, texts: Sequence[str]) -> str:
    return str(w.as_dtype(texts[0], term.args[0].dtype, term.dtype))


# ---------------------------------------------------------------------------------------------- reductions


def _over(name: str) -> Entry:
    """A reduction along one axis after the other."""

    def joined(w: Any, term: Term, texts: Sequence[str]) -> str:
        dims, rank, text = reduced(term), term.args[0].ndim, texts[0]
        for dim in dims:
            text = w.helped(f"{name}({text}, {dim + 1})")
        if term.params.get("keepdim") or not rank:
            return text
        return placed(text, [k for k in range(rank) if k not in dims], rank)

    return joined


def _arg(sign: str, helper: str = "place_of_largest") -> Entry:
    """The place of the largest entry, or with a sign of the smallest one."""

    def found(w: Any, term: Term, texts: Sequence[str]) -> str:
        (x,), dim, text = term.args, term.params["dim"], texts[0]
        if dim is None and x.ndim > 1:
            text = w.named(x, text)
            text = w.helped(f"rows({text}, {x.ndim}, numel({text}))")
        text = w.helped(f"{helper}({sign}{closed(text) if sign else text}, {(dim or 0) + 1})")
        if dim is None or term.params["keepdim"]:
            return str(text)
        return placed(text, [k for k in range(x.ndim) if k != dim], x.ndim)

    return found


def _along(name: str) -> Entry:
    return lambda w, term, texts: w.helped(f"{name}({texts[0]}, {term.params['dim'] + 1})")


def _others(w: Any, term: Term, texts: Sequence[str]) -> str:
    dims = reduced(term)
    if len(dims) != 1:
        raise CompileError(f"{term.op.name}() over several axes is not written for Octave.")
    return str(w.helped(f"products_of_others({texts[0]}, {dims[0] + 1})"))


def _argsort(w: Any, term: Term, texts: Sequence[str]) -> str:
    way = "descend" if term.params["descending"] else "ascend"
    return str(w.helped(f"order_of({texts[0]}, {term.params['dim'] + 1}, '{way}')"))


def _fourier(w: Any, term: Term, texts: Sequence[str]) -> str:
    text, p = texts[0], term.params
    for dim in p["dims"]:
        text = f"{'ifft' if p['inverse'] else 'fft'}({text}, [], {dim + 1})"
    if p["norm"] != "backward":
        count = " * ".join(closed(w.size(term.shape[d])) for d in p["dims"])
        text += f" {'*' if p['inverse'] else '/'} {f'sqrt({count})' if p['norm'] == 'ortho' else f'({count})'}"
    return text


# ---------------------------------------------------------------------------------------------- matrices


def _of_matrices(name: str) -> Entry:
    """A function of the last two axes; stacks go page by page."""

    def text(w: Any, term: Term, texts: Sequence[str]) -> str:
        rank = term.args[0].ndim
        if rank == 2:
            return str(w.helped(f"{name}({texts[0]})"))
        return str(w.helped(f"pagewise(@(a) {w.helped(f'{name}(a)')}, {rank}, {texts[0]})"))

    return text


def _of_two(w: Any, term: Term, texts: Sequence[str], call: str) -> str:
    """A call with a matrix ``a`` and a right side ``b``; stacks of both go page by page."""
    a, b = term.args
    if a.ndim == 2 and b.ndim <= 2:
        return str(w.helped(call.replace("(a, b", f"({texts[0]}, {texts[1]}")))
    if a.ndim != b.ndim or a.shape[:-2] != b.shape[:-2]:
        raise CompileError(
            f"{term.op.name}() of stacks of other shapes is not written for Octave. Save the program as a Python file."
        )
    return str(w.helped(f"pagewise(@(a, b) {w.helped(call)}, {a.ndim}, {texts[0]}, {texts[1]})"))


def _solve(w: Any, term: Term, texts: Sequence[str]) -> str:
    return _of_two(w, term, texts, "solved(a, b)")


def _triangular(w: Any, term: Term, texts: Sequence[str]) -> str:
    flags = ", ".join(number(bool(term.params[key])) for key in ("upper", "unit"))
    return _of_two(w, term, texts, f"triangular(a, b, {flags})")


FORMS: dict[str, Form] = {
    "full": Form(_full),
    "eye": Form(_eye),
    "arange": Form(_arange),
    "one_hot": Form(_one_hot),
    "select": Form(_select),
    "narrow": Form(_narrow),
    "flip": Form(_flip),
    "roll": Form(_roll),
    "reshape": Form(_reshape),
    "windows": Form(_windows),
    "windows_sum": Form(_windows_sum),
    "cross": Form(_cross),
    "getitem": Form(_getitem),
    "put": Form(_put),
    "index_put": Form(_index_put),
    "gather": Form(_gather),
    "searchsorted": Form(_searchsorted),
    "scatter_into": Form(_scatter),
    "cat": Form(_cat),
    "stack": Form(_stack),
    "pad": Form(_pad),
    "embed": Form(_embed),
    "tril": Form(_triangle),
    "triu": Form(_triangle),
    "cast": Form(_cast),
    "real": Form(lambda _w, _term, texts: f"real({texts[0]})"),
    "imag": Form(lambda _w, _term, texts: f"imag({texts[0]})"),
    "sgn": Form(lambda w, _term, texts: w.helped(f"phase({texts[0]})")),
    "conj": Form(lambda _w, _term, texts: f"conj({texts[0]})"),
    "amax": Form(_over("largest")),
    "amin": Form(_over("smallest")),
    "prod": Form(_over("prod")),
    "any": Form(_over("any")),
    "all": Form(_over("all")),
    "argmax": Form(_arg("")),
    "argmin": Form(_arg("-")),
    "argmax_of_pool": Form(_arg("", "place_in_pool")),
    "cumsum": Form(_along("cumsum")),
    "cumprod": Form(_along("cumprod")),
    "weighed": Form(lambda w, term, texts: w.helped(f"weighed({texts[0]}, {texts[1]}, {term.params['dim'] + 1})")),
    "prod_others": Form(_others),
    "argsort": Form(_argsort),
    "fourier": Form(_fourier),
    "digamma": Form(lambda _w, _term, texts: f"psi({texts[0]})"),
    "erfinv": Form(lambda _w, _term, texts: f"erfinv({texts[0]})"),
    "solve": Form(_solve),
    "solve_triangular": Form(_triangular),
    "inv": Form(_of_matrices("inverse")),
    "cholesky": Form(_of_matrices("cholesky")),
    "det": Form(_of_matrices("det")),
    "logdet": Form(_of_matrices("log_determinant")),
    "logabsdet": Form(_of_matrices("log_abs_determinant")),
    "slogdet_sign": Form(_of_matrices("sign_of_determinant")),
    "matrix_exp": Form(_of_matrices("expm")),
    "pinv": Form(_of_matrices("pinv")),
    "eigvalsh": Form(_of_matrices("eigenvalues")),
    "eigh_vectors": Form(_of_matrices("eigenvectors")),
    "svdvals": Form(_of_matrices("svd")),
}
