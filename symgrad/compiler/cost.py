"""What a program costs: floating-point operations and bytes, as polynomials of the letters of its sizes.

Counted are the ops of the program after all passes, each once:

* an elementwise op is one operation per entry of its result, also ``exp``;
* a contraction is a multiplication and an addition per product of its labels, pair by pair in the order in which the
  program contracts; a product without a sum is one, a sum one per entry that is added;
* an op whose entry says ``work`` is that (factorisations, softmax, Fourier transforms); one that is defined by others
  is these; any other is one per entry of its result or largest operand, whichever is more;
* views such as transposes, constant arrays and plain numbers are no operations;
* bytes are those of the arrays that every op reads, and of the one that it writes: no cache is thought of.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from symgrad.compiler.passes import is_weak
from symgrad.errors import ArgumentError, NameProblem
from symgrad.formula.term import Term, make as make_term, postorder, rebuilt
from symgrad.op import Op
from symgrad.ops.linalg.contraction import contraction_order
from symgrad.ops.rules.work import UNKNOWN
from symgrad.ops.shapes.sizes import signed_parts, size_value

Polynomial = dict[tuple[str, ...], Fraction]
"""Products of size letters (and of what is not made of letters, such as ``log2(n)``) with their factors."""

_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_DEEPEST = 8
"""How often definitions may be written out: one may be in terms of others."""


class Amounts(NamedTuple):
    """Operations and bytes for given sizes."""

    flops: int
    bytes: int


class Cost:
    """Operations and bytes of a program: text by ``flops`` and ``bytes``, numbers when it is called with sizes.

    ``uncounted`` are the names of ops whose work is not known beforehand, such as eigenvalues, which iterate.

    Raises ``ArgumentError`` for a size that is missing and ``NameProblem`` for one that the program does not have.

    >>> import symgrad as sg, numpy as np
    >>> program = sg.compile(lambda X, w: sg.tanh(X @ w), np.ones((4, 3)), np.ones(3))
    >>> program.cost
    <cost 2·m·n + n flops, 8·m·n + 8·m + 24·n bytes>
    >>> program.cost(n=1000, m=20)
    Amounts(flops=41000, bytes=184160)
    """

    def __init__(self, flops: Polynomial, moved: Polynomial, uncounted: Iterable[str], letters: Iterable[str]):
        self._flops = flops
        self._bytes = moved
        self.uncounted = tuple(uncounted)
        self.letters = tuple(letters)

    @property
    def flops(self) -> str:
        """The operations, as text."""
        return _text(self._flops)

    @property
    def bytes(self) -> str:
        """The bytes that are read and written, as text."""
        return _text(self._bytes)

    def __call__(self, **sizes: int) -> Amounts:
        """The numbers for these sizes, rounded."""
        for name in sizes:
            if name not in self.letters:
                raise NameProblem(f"the program has no size called {name}; its sizes are {', '.join(self.letters)}.")
        missing = [letter for letter in self.letters if letter not in sizes]
        if missing:
            raise ArgumentError(f"the cost needs {', '.join(missing)}; its sizes are {', '.join(self.letters)}.")
        return Amounts(_value(self._flops, sizes), _value(self._bytes, sizes))

    def __str__(self) -> str:
        more = "".join(f" and {name}()" for name in self.uncounted)
        return f"{self.flops} flops{more}, {self.bytes} bytes"

    def __repr__(self) -> str:
        return f"<cost {self}>"


def cost_of(outputs: Sequence[Term], letters: Iterable[str], sizes: dict[str, int]) -> Cost:
    """The cost of a program of these terms; ``sizes``, those of the trace, decide in which order is contracted."""
    moved: Polynomial = {}
    for term in postorder(outputs):
        for x in () if _is_free(term) else {*map(_read, term.args), term}:
            if x.dtype is not None and not is_weak(x):
                _add(moved, x.dtype.itemsize, x.shape)
    flops: Polynomial = {}
    uncounted: dict[str, None] = {}
    for term in postorder(_written_out(outputs)):
        if term.op.work == UNKNOWN:
            uncounted[term.op.name] = None
        elif term.args and not _is_free(term):
            for factor, shape in _work(term, sizes):
                _add(flops, factor, shape)
    return Cost(flops, moved, uncounted, letters)


# ---------------------------------------------------------------------------------------------- counting


def _is_free(term: Term) -> bool:
    """Whether a term moves nothing: arguments, plain numbers, and views."""
    op = term.op
    if op.kind == "leaf" or is_weak(term) or op.view is not None or op.identity:
        return True
    if op.kind != "multilinear" or len(term.args) > 1:
        return False
    inputs, output = term.labels()
    return set(inputs[0]) <= set(output) and len(set(output)) == len(output)


def _read(term: Term) -> Term:
    """The operand whose entries are read: what is spread out by strides is small."""
    while term.op.kind == "multilinear" and term.args and _is_free(term) and term.ndim > term.args[0].ndim:
        term = term.args[0]
    return term


def _written_out(outputs: Sequence[Term]) -> list[Term]:
    """The outputs with definitions in place of the ops that have no work of their own."""

    def change(term: Term, args: tuple[Any, ...]) -> Any:
        if _is_defined(term.op):
            return term.op.define(*args, **term.params)  # type: ignore[misc]
        return term if args == term.args else make_term(term.op, args, term.params, term.shape, term.dtype)

    found = list(outputs)
    for _ in range(_DEEPEST):
        if not any(_is_defined(t.op) for t in postorder(found)):
            break
        found = rebuilt(found, change)
    return found


def _is_defined(op: Op) -> bool:
    return op.kind == "primitive" and op.define is not None and op.work is None and not op.entrywise and not op.view


def _work(term: Term, sizes: dict[str, int]) -> Iterable[tuple[Any, tuple[Any, ...]]]:
    op = term.op
    if callable(op.work):
        return op.work(*(a.shape for a in term.args), **term.params)
    if op.kind == "multilinear":
        return _contraction(term, sizes)
    if op.kind == "elementwise":
        return [(1, term.shape)]
    return [(1, max((term.shape, *(a.shape for a in term.args)), key=lambda s: math.prod(_sizes(s, sizes))))]


def _sizes(shape: Sequence[Any], sizes: dict[str, int]) -> tuple[int, ...]:
    return tuple(size_value(s, sizes) for s in shape)


def _contraction(term: Term, sizes: dict[str, int]) -> Iterable[tuple[int, tuple[Any, ...]]]:
    """A contraction, pair by pair; what only one of two operands has is summed before they meet."""
    inputs, output = term.labels()
    length: dict[int, Any] = {}
    for row, x in zip(inputs, term.args, strict=True):
        for label, size in zip(row, x.shape, strict=True):
            length[label] = size if length.get(label, 1) == 1 else length[label]

    def entries(labels: Iterable[int]) -> tuple[Any, ...]:
        return tuple(length[label] for label in dict.fromkeys(labels))

    rows = [tuple(dict.fromkeys(row)) for row in inputs]
    order: Sequence[tuple[int, int]] = [(0, 1)] * (len(rows) - 1)
    if len(rows) > 2:
        order = contraction_order(inputs, output, tuple(_sizes(x.shape, sizes) for x in term.args))
    for i, j in order:
        b, a = rows.pop(max(i, j)), rows.pop(min(i, j))
        keep = set(output).union(*rows)
        for mine, other in ((a, b), (b, a)):
            if any(x not in keep and x not in other for x in mine):
                yield 1, entries(mine)
        a = tuple(x for x in a if x in keep or x in b)
        both = tuple(x for x in dict.fromkeys(a + b) if x in keep or (x in a and x in b))
        yield 1 if keep.issuperset(both) else 2, entries(both)
        rows.append(tuple(x for x in both if x in keep))
    if not set(output).issuperset(rows[0]) or (len(inputs) == 1 and len(set(output)) == len(output)):
        yield 1, entries(rows[0])


# ---------------------------------------------------------------------------------------------- polynomials


def _add(total: Polynomial, factor: Any, shape: Sequence[Any]) -> None:
    """Add a product of sizes to a polynomial, multiplied out."""
    product: Polynomial = {(): Fraction(factor)}
    for size in shape:
        grown: Polynomial = {}
        for sign, part in signed_parts(str(size)):
            number, letters = _monomial(part)
            for key, value in product.items():
                whole = tuple(sorted((*key, *letters), key=lambda f: ("(" in f, f)))
                grown[whole] = grown.get(whole, Fraction(0)) + sign * number * value
        product = grown
    for key, value in product.items():
        total[key] = total.get(key, Fraction(0)) + value
        if not total[key]:
            del total[key]


def _monomial(part: str) -> tuple[int, tuple[str, ...]]:
    """A product of numbers and letters; what is in brackets is one factor."""
    if "(" in part:
        return 1, (part,)
    factors = part.split("*")
    return math.prod(int(f) for f in factors if f.isdigit()), tuple(f for f in factors if not f.isdigit())


def _text(polynomial: Polynomial) -> str:
    text = ""
    for key, value in sorted(polynomial.items(), key=lambda item: (-len(item[0]), item[0])):
        powers = [f + (str(n).translate(_SUPERSCRIPTS) if n > 1 else "") for f, n in Counter(key).items()]
        number = [str(abs(value))] if abs(value) != 1 or not key else []
        text += (" - " if value < 0 else " + ") + "·".join([*number, *powers])
    return f"-{text[3:]}" if text.startswith(" - ") else text.removeprefix(" + ") or "0"


def _value(polynomial: Polynomial, sizes: dict[str, int]) -> int:
    exact = sum(
        (value * Fraction(math.prod(_factor(f, sizes) for f in key)) for key, value in polynomial.items()), Fraction()
    )
    return round(exact)


def _factor(factor: str, sizes: dict[str, int]) -> Any:
    if factor.startswith("log2("):
        return Fraction(math.log2(max(size_value(factor[5:-1], sizes), 1)))
    return size_value(factor, sizes)
