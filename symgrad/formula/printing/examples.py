r"""Formulas of a batch by those of one of its examples: ``softmax(Q_b K_bᵀ/√p) V_b``, and ``2 Σ_b (X_bᵀw - y_b) X_b``.

The formula for one example is that of the batch, at a batch of one: arrays that have the axis of the batch are those of
the example with an axis of size 1, and the canonical form has no such axes.  That it holds for all examples is tried
with numbers, as examples that meet (batch normalisation, attention along the batch) have no such formula.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Container, Iterator
from typing import Any, NamedTuple

import numpy as np

from symgrad.errors import FormulaError
from symgrad.formula.canonical.normal import Form, Product
from symgrad.formula.canonical.simplify import Canonicaliser
from symgrad.formula.printing.pieces import OPEN, Piece, brackets, product, text_of, total
from symgrad.formula.printing.wherelist import canonical_or_raw
from symgrad.formula.sampling import KINDS, letters_of, sample, value
from symgrad.formula.term import SIZE, SYMBOL, Term, make, postorder, rebuilt, symbol, with_sizes
from symgrad.op import lookup
from symgrad.ops.shapes import sizes as texts

_TRIED = 3
"""Examples at which a formula is tried."""


class Example(NamedTuple):
    """The canonical formula of one example, and how the batch has it.

    front    what stands before the sum over all examples; None where the batch has the formula for each
    rest     what is added to that sum, and is no example's: a penalty
    """

    term: Term
    front: Term | None = None
    rest: Term | None = None


def per_example(term: Term, index: str) -> Example:
    """A formula for example ``index`` of the batch, of which the axis is found.

    Raises ``FormulaError`` where no axis is one of examples that do not meet.
    """
    order = postorder([term])
    arrays = [t for t in order if t.op is SYMBOL]
    taken = {f"{s.name}_{index}" for s in arrays} & {str(s.name) for s in arrays}
    if not index.isidentifier() or taken:
        raise FormulaError(
            f"batch= is a letter that numbers the examples, such as 'i', not {index!r}."
            + "".join(f" (The formula has a {name} of its own.)" for name in taken)
        )
    shorter = canonical_or_raw(term)  # in which a mean is a sum that is divided
    for letter, whole in itertools.product(_candidates(term, order), (term, shorter)):
        axes = [k for k, n in enumerate(term.shape) if n == letter]
        for part, rest in ((whole, None), *([] if axes else _apart(whole, letter))):
            one = _of_one(part, letter, index)
            if one is None or len(axes) > 1 or not _holds(part, one, letter, index, axes):
                continue
            return _each(one, axes) if axes else _summed(one, rest, {f"{s.name}_{index}" for s in arrays})
    named = ", ".join(f"{s.name} {s.shape}" for s in arrays)
    raise FormulaError(
        f"batch={index!r}: no axis of {named} numbers examples that do not meet in this formula; without batch= it "
        "prints for the whole batch."
    )


def _each(one: Term, axes: list[int]) -> Example:
    return Example(canonical_or_raw(lookup("squeeze")(one, dim=tuple(axes))))


def _summed(one: Term, rest: Term | None, own: Container[str]) -> Example:
    """With the numbers that all examples share before the sum: 2/n Σ_i (x_iᵀw - y_i) x_i."""
    run = Canonicaliser()
    run.run(one)
    p = run.product(run.forms[one])
    shared = [f for f in p.factors if not f.labels and not any(str(s.name) in own for s in _symbols(f.base))]
    front = run.term(Form([Product(p.coef, shared, (), p.decimal)], ()))
    body = run.term(Form([Product(1, [f for f in p.factors if f not in shared], p.out)], one.shape))
    return Example(canonical_or_raw(body), front, rest)


def _apart(term: Term, letter: str) -> list[tuple[Term, Term]]:
    """The terms of a sum that arrays with this axis are in, and the others, where there are both."""
    run = Canonicaliser()
    run.run(term)
    form = run.forms.get(term, Form((), term.shape))
    inside = [p for p in form.terms if any(letter in s.shape for f in p.factors for s in _symbols(f.base))]
    rest = [p for p in form.terms if p not in inside]
    return [(run.term(Form(inside, form.shape)), run.term(Form(rest, form.shape)))] if inside and rest else []


def _symbols(term: Term) -> list[Term]:
    return [t for t in postorder([term]) if t.op is SYMBOL]


def sum_of(example: Example, text: str, index: str, write: Callable[[Term], Piece]) -> str:
    """The text of a sum over examples, of which ``text`` is that of one."""
    assert example.front is not None
    inner = brackets(text) if example.term.op.name in ("add", "sub") or text.startswith("-") else text
    made = product(write(example.front), Piece("t", rf"\sum_{{{index}}} {inner}", OPEN))
    return text_of(made if example.rest is None else total("t", [write(example.rest), made]))


def _candidates(term: Term, order: list[Term]) -> Iterator[str]:
    """Letters that may number examples: of the first axes of arrays, those of most axes first, and then all others."""
    arrays = sorted((t for t in order if t.op is SYMBOL and t.shape), key=lambda t: -t.ndim)
    first = [*(t.shape[0] for t in arrays), *term.shape[:1]]
    return iter(dict.fromkeys(n for n in (*first, *letters_of(*arrays)) if isinstance(n, str) and n.isidentifier()))


def _of_one(term: Term, letter: str, index: str) -> Term | None:
    """The formula at a batch of one example, with axes of size 1; None where an array has two such axes, or parts.

    Of matrices the examples are the rows: X_i is no column.
    """

    def change(t: Term, args: tuple[Any, ...]) -> Any:
        if t.op is SYMBOL:
            axes = [k for k, n in enumerate(t.shape) if isinstance(n, str) and letter in texts.letters_of(n)]
            if not axes:
                return t
            if len(axes) > 1 or t.shape[axes[0]] != letter or (t.ndim == 2 and axes[0]):
                raise FormulaError("no axis of examples")
            own = tuple(n for k, n in enumerate(t.shape) if k != axes[0])
            return lookup("unsqueeze")(symbol(f"{t.name}_{index}", own, t.dtype), dim=axes[0])
        if t.op is SIZE:
            return t
        params = with_sizes(t.op, t.params, lambda n: _at_one(n, letter))
        if not t.args:
            return make(t.op, (), params, tuple(_at_one(n, letter) for n in t.shape), t.dtype)
        if args == t.args and params == t.params:
            return t
        made = t.op(*args, **params)
        return _length(made) if t.op.name == "norm" else made

    try:
        (made,) = rebuilt([term], change)
    except (FormulaError, ValueError, TypeError, IndexError):
        return None
    return made if isinstance(made, Term) else None


def _length(norm: Any) -> Any:
    """A length, which is an absolute value where it is that of one entry."""
    (array,), dims = norm.args, norm.params["dim"]
    if not norm.params["p"] or any(array.shape[k] != 1 for k in dims):
        return norm
    return lookup("abs")(array if norm.params["keepdim"] else lookup("squeeze")(array, dim=dims))


def _at_one(size: Any, letter: str) -> Any:
    """A size of an axis at a batch of one.

    >>> _at_one("2*p*q", "p"), _at_one("p", "p"), _at_one("q+1", "p")
    ('2*q', 1, 'q+1')
    """
    if not isinstance(size, str) or letter not in texts.letters_of(size):
        return size
    parts = texts.signed_parts(size)
    factors = [[1 if f == letter else f for f in texts.factors_of(part)] for _, part in parts]
    found = texts.total_size([functools.reduce(texts.product_size, row, 1) for row in factors], [s for s, _ in parts])
    return int(found) if str(found).isdigit() else found


def _holds(term: Term, one: Term, letter: str, index: str, axes: list[int]) -> bool:
    """Whether the formula of one example gives those of all, or their sum, at random arrays."""
    arrays = [t for t in postorder([term]) if t.op is SYMBOL]
    stacked = {str(s.name): (f"{s.name}_{index}", s.shape.index(letter)) for s in arrays if letter in s.shape}
    others = sorted(set(letters_of(term, *arrays)) - {letter})
    return all(
        _agrees(term, one, {letter: _TRIED, **{n: 4 + step * k for k, n in enumerate(others)}}, axes, stacked)
        for step in (1, 2)
    )


def _agrees(term: Term, one: Term, sizes: dict[str, int], axes: list[int], stacked: dict[str, tuple[str, int]]) -> bool:
    """Whether it does at these sizes, at the first random arrays for which the formula has a value."""
    arrays = sorted((t for t in postorder([term]) if t.op is SYMBOL), key=lambda t: str(t.name))
    for kind in KINDS:
        values = sample(arrays, sizes, kind, np.random.default_rng(len(sizes)))
        whole = value(term, values, sizes)
        if whole is None or not np.all(np.isfinite(whole)):
            continue
        rows = []
        for k in range(_TRIED):
            own = {own: np.take(values[name], k, axis) for name, (own, axis) in stacked.items()}
            rows.append(value(one, {**values, **own}, sizes))
        if any(row is None for row in rows):
            return False
        made = np.concatenate(rows, axes[0]) if axes else sum(rows)
        return np.shape(made) == np.shape(whole) and np.allclose(made, whole, rtol=1e-7, atol=1e-9)
    return False
