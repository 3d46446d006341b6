"""The atoms of LaTeX formulas: fractions, roots, norms, cases and the like, each read by a function of the reader."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.formula.printing.names import FOURIER
from symgrad.formula.printing.sizes import read_size
from symgrad.formula.reading.called import called
from symgrad.formula.reading.indices import Indexed
from symgrad.formula.reading.text import plain_value
from symgrad.formula.reading.values import Value, as_number, cross_matrix, divided, entrywise, op, scalar, value_of
from symgrad.formula.term import as_term, full, number
from symgrad.op import lookup
from symgrad.ops.indexing.getitem import Index
from symgrad.ops.rules.constants import PI
from symgrad.ops.shapes.sizes import total_size

_POLYNOMIALS: dict[str, tuple[str, dict[str, float]]] = {
    "T": ("chebyshev_polynomial_t", {}),
    "H": ("hermite_polynomial_h", {}),
    "He": ("hermite_polynomial_he", {}),
    "L": ("laguerre_polynomial", {"a": 0}),
    "U": ("gegenbauer_polynomial", {"a": 1.0}),
    "P": ("gegenbauer_polynomial", {"a": 0.5}),
}
"""Polynomials, which are written with an order below, and their other parameters."""


def is_upright(text: str) -> bool:
    """Whether upright letters are those of a function."""
    return text == "Li" or text in _POLYNOMIALS or text in called().orders or text in called().letters


_FENCES = {
    r"\left\lfloor": (r"\right\rfloor", "floor"),
    r"\left\lceil": (r"\right\rceil", "ceil"),
    r"\left|": (r"\right|", "abs"),
}


def word(text: str) -> str:
    r"""What stands in the braces of ``\text{…}`` and its like."""
    return text[text.index("{") + 1 : -1].replace(r"\_", "_")


# ---------------------------------------------------------------------------------------------- atoms


def _bracket(r: Any, _: str) -> Any:
    r.tokens.at -= 1
    return r.bracketed()


def crossing(r: Any) -> bool:
    r"""Whether ``_{\times}`` comes next, which is taken then."""
    tokens = r.tokens
    if tokens.peek() != "_" or r"\times" not in (tokens.peek(1), tokens.peek(2)):
        return False
    tokens.at += 2 if tokens.peek(1) == r"\times" else 4
    return True


def _iverson(r: Any, _: str) -> Any:
    found = r.condition()
    r.tokens.expect("]")
    if crossing(r):
        return cross_matrix(found)
    lettered = r.tokens.peek() == "_" and r.tokens.peek(2) != "["
    if isinstance(found, Indexed):  # an array by its entries, or a condition of entries among others
        return value_of(found.contracted(r.subscript())) if lettered else as_number(found)
    return Indexed([(r.plain(found), r.subscript())], []) if lettered else found


def _fraction(r: Any, _: str) -> Any:
    return divided(r.group(), r.group())


def _root(r: Any, _: str) -> Any:
    if r.tokens.found("["):
        r.tokens.at += 2
        return entrywise(lookup("cbrt"), r.group())
    return entrywise(lookup("sqrt"), r.group())


def _letter_e(r: Any, text: str) -> Any:
    if r.tokens.found("^"):
        return entrywise(lookup("exp"), r.group())
    raise r.tokens.error("e is the base of exponentials and needs an exponent")


def _fenced(r: Any, text: str) -> Any:
    right, name = _FENCES[text]
    inner = r.condition()
    r.tokens.expect(right)
    return entrywise(lookup(name), inner)


def _norm(r: Any, _: str) -> Any:
    inner = r.condition()
    r.tokens.expect(r"\rVert")
    p: Any = 2
    if r.tokens.peek() == "_":
        mark = "".join(r.subscript())
        p = {"F": 2, r"\infty": math.inf, r"-\infty": -math.inf}.get(mark, plain_value(mark))
    return Value("s", op("norm", inner.term, p=p, dim=tuple(range(inner.term.ndim)), keepdim=False))


def _environment(r: Any, text: str) -> Any:
    from symgrad.formula.printing.blocks import read_blocks

    return read_blocks(r) if text == r"\begin{bmatrix}" else _cases(r, text)


def _cases(r: Any, text: str) -> Any:
    if text != r"\begin{cases}":
        raise r.tokens.error(f"{text} cannot stand inside a formula")
    rows = []
    while True:
        value = r.condition()
        r.tokens.expect("&")
        if word(r.tokens.take()) == "otherwise":
            break
        rows.append((value, r.condition()))
        r.tokens.expect(r"\\")
    r.tokens.expect(r"\end{cases}")
    for above, condition in reversed(rows):
        value = entrywise(lookup("where"), condition, above, value)
    return value


def _extreme(r: Any, text: str) -> Any:
    if r.tokens.peek() == "_":
        return _extreme_entry(r, "amax" if text == r"\max" else "amin")
    args, _ = r.arguments()
    if len(args) == 1:
        name = "amax" if text == r"\max" else "amin"
        return Value("s", op(name, args[0].term, dim=tuple(range(args[0].term.ndim)), keepdim=False))
    return entrywise(lookup("maximum" if text == r"\max" else "minimum"), *args)


def _extreme_entry(r: Any, name: str) -> Any:
    r"""``\max_{j} A_{i j}``: the largest entry along the axis of an index."""
    letters = r.subscript()
    before, r.bound = r.bound, r.bound | set(letters)
    found = r.juxtaposed()
    r.bound = before
    if not isinstance(found, Indexed) or not set(letters) <= set(found.letters):
        raise r.tokens.error("after a sign with an index entries with that index are expected, such as x_i")
    free = tuple(x for x in found.letters if x not in letters)
    ((term, row),) = found.settled((*free, *letters)).operands
    made = op(name, term, dim=tuple(range(len(free), len(row))), keepdim=False)
    return Indexed([(made, free)]) if free else Value("s", made)


def _delta(r: Any, _: str) -> Any:
    pair = r.subscript()
    return Indexed([], [(pair[0], pair[1])])


def _word_atom(r: Any, text: str) -> Any:
    if word(text) == "I" and r.tokens.peek() == "_":
        return _bessel_or_beta(r)
    if word(text) == "Li" and r.tokens.found("_"):
        r.axes()
        return entrywise(lambda x: op("spence", op("sub", 1, x)), r.bracketed())
    family = _POLYNOMIALS.get(word(text)) or (called().orders.get(word(text), ""), {})
    if family[0] and r.tokens.found("_"):
        return _of_order(r, *family)
    upright = word(text) + ("'" if r.tokens.peek() == "'" else "")
    if upright in called().letters and r.tokens.peek(upright.count("'")) == "(":
        r.tokens.at += upright.count("'")
        found = r.arguments()[0]
        name = "ellipeinc" if upright == "E" and len(found) > 1 else called().letters[upright]
        return entrywise(lookup(name), *found)
    constants = {"i": 1j, "nan": math.nan}
    if word(text) not in constants:
        r.tokens.at -= 1
        raise r.tokens.error(f"{word(text)!r} is no symbol here; state its shape, as in shapes='{word(text)}=n'")
    return scalar(constants[word(text)])


def _of_order(r: Any, name: str, params: dict[str, float]) -> Any:
    """The order and the argument."""
    (n,) = r.axes()
    return entrywise(lambda x: op(name, x, n=int(n), **params), r.bracketed())


def _bessel_or_beta(r: Any) -> Any:
    """I_n(x), the Bessel function of an order, or I_x(a, b), the incomplete beta function."""
    r.tokens.expect("_")
    below = r.group()
    found = r.arguments()[0]
    if len(found) == 2:
        return entrywise(lookup("betainc"), *found, below)
    return entrywise(lambda x: op("bessel_i", x, n=below.term.number), *found)


def _zeta(r: Any, _: str) -> Any:
    """Hurwitz's function of two arguments, which of one is Riemann's."""
    return entrywise(lookup("zeta"), *[*r.arguments()[0], scalar(1)][:2])


def _exponential_direction(r: Any, text: str) -> Any:
    """L_exp(A, E) and L_log(A, E), the derivatives of the exponential and the logarithm of matrices."""
    start = r.tokens.at - 1
    below = "".join(r.subscript()).lstrip("\\") if r.tokens.peek() == "_" else ""
    if below not in ("exp", "log"):
        r.tokens.at = start
        raise r.tokens.error(f"{text!r} is no symbol, size or function here")
    name = "matrix_exp_frechet" if below == "exp" else "logm_frechet"
    return value_of(op(name, *(r.plain(a) for a in r.arguments()[0])))


def _size(r: Any) -> Any:
    """The size after ``_``, if there is one."""
    if not r.tokens.found("_"):
        return None
    r.tokens.expect("{")
    size = r.scrap()
    r.tokens.expect("}")
    return size


def sizes_below(r: Any) -> tuple[Any, ...]:
    r"""The sizes after ``_``, as in ``_{2 \times n}`` or ``_{2, n}``."""
    if not r.tokens.found("_"):
        return ()
    r.tokens.expect("{")
    sizes = r.tokens.scrap(("}",)).replace(",", r"\times").split(r"\times")
    r.tokens.expect("}")
    return tuple(plain_value(read_size(size.removeprefix("(").removesuffix(")"))) for size in sizes if size)


def _ones(r: Any, _: str) -> Any:
    shape = sizes_below(r)
    return value_of(full(shape, 1, np.float64)) if shape else Value("o", number(1))


def _unit(r: Any, _: str) -> Any:
    r"""``\mathbf{e}_{n,k}``: the vector of size n that is 1 at place k and 0 elsewhere."""
    r.tokens.expect("_")
    r.tokens.expect("{")
    size = r.scrap()
    r.tokens.expect(",")
    place = r.scrap()
    r.tokens.expect("}")
    place = place if isinstance(place, int) else total_size((place, size), (1, -1))  # n-1 is the last, -1
    return Value("v", op("put", 1.0, index=Index((place,)), shape=(size,)))


def _zeros(r: Any, _: str) -> Any:
    """Zeros among blocks."""
    from symgrad.formula.printing.blocks import Zeros

    shape = sizes_below(r)
    return value_of(full(shape, 0, np.float64)) if len(shape) > 1 else Zeros(*(shape or (None,)))


def _identity(r: Any, _: str) -> Any:
    size = _size(r)
    return Value("eye", number(1)) if size is None else Value("m", op("eye", n=size, dtype="float64"))


def _one_hot(r: Any, _: str) -> Any:
    r"""``\operatorname{onehot}_{n}(t)``: the rows of the identity that labels name."""
    classes = _size(r)
    return value_of(op("one_hot", r.plain(r.bracketed()), classes=classes, dtype="float64"))


def _reshape(r: Any, _: str) -> Any:
    r"""``\operatorname{reshape}_{2 \times n}(x)``."""
    shape = sizes_below(r)
    return value_of(op("reshape", r.plain(r.bracketed()), shape=shape))


def _arange(r: Any, _: str) -> Any:
    r.tokens.expect("(")
    size = r.scrap()
    r.tokens.expect(")")
    return value_of(op("arange", n=size, dtype="int64"))


def _gamma(r: Any, _: str) -> Any:
    """Γ as it is printed: e^(log Γ(x)), which is its absolute value; log Γ is read where the logarithm stands."""
    return entrywise(lambda x: op("exp", op("lgamma", x)), r.bracketed())


def _fourier(r: Any, _: str) -> Any:
    tokens = r.tokens
    tokens.expect("{")
    letter = tokens.take()
    tokens.expect("}")
    axes = [int(x) for x in r.axes()] if tokens.found("_") else None
    mark = ""
    if tokens.found("^"):
        tokens.expect("{")
        mark = "^{"
        while mark[-1] != "}":
            mark += tokens.take() or "}"
    kind = next((kind for kind, text in FOURIER.items() if text == (letter, mark)), None)
    if kind is None:
        raise tokens.error(f"\\mathcal{{{letter}}}{mark} is not known here")
    x = r.plain(r.bracketed())
    dims = tuple(range(x.ndim)) if axes is None else tuple(axes)
    return value_of(op("fourier", x, dims=dims, inverse=kind[0], norm=kind[1]))


ATOMS: dict[str, Callable[[Any, str], Any]] = {
    "(": _bracket,
    "[": _iverson,
    r"\frac": _fraction,
    r"\sqrt": _root,
    "e": _letter_e,
    r"\lVert": _norm,
    r"\max": _extreme,
    r"\min": _extreme,
    r"\delta": _delta,
    r"\overline": lambda r, _: entrywise(lambda x: op("conj", x), r.group()),
    r"\det": lambda r, _: Value("s", op("det", r.bracketed().term)),
    r"\zeta": _zeta,
    r"\mathcal": _fourier,
    r"\Gamma": _gamma,
    r"\operatorname{onehot}": _one_hot,
    r"\operatorname{arange}": _arange,
    r"\operatorname{reshape}": _reshape,
    r"\pi": lambda r, _: Value("s", as_term(PI)),
    r"\infty": lambda r, _: scalar(math.inf),
    "I": _identity,
    "L": _exponential_direction,
    **dict.fromkeys(_FENCES, _fenced),
}
KINDS: dict[str, Callable[[Any, str], Any]] = {
    "ones": _ones,
    "unit": _unit,
    "zeros": _zeros,
    "begin": _environment,
    "name": lambda r, text: r.operator(text),
    "word": _word_atom,
}
