"""The terms of forms: sums and products in matrix notation, with what has no matrix form as an einsum."""

from __future__ import annotations

import collections
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from symgrad.formula.canonical.chains import (
    FLOAT,
    Layout,
    Link,
    call_op,
    counted,
    diagonal_matrix,
    identity,
    is_guard,
    is_transpose,
    is_truth,
    ones,
    powered,
    region,
    turned,
)
from symgrad.formula.canonical.matrices.matrixform import Graph
from symgrad.formula.canonical.normal import Factor, Form, Power, Product, number_of
from symgrad.formula.canonical.scalars.numerals import one_root, with_whole_parts
from symgrad.formula.term import NUMBER, SYMBOL, Term, constant_value, full, number
from symgrad.op import Labels
from symgrad.ops.linalg.contraction import contract

LONG_DECIMAL = 12
"""Signs of a decimal for which a fraction of shorter numbers is looked for."""


def components(factors: Sequence[Factor]) -> list[list[Factor]]:
    """Factors grouped by shared labels, in order of first appearance."""
    groups: list[tuple[set[int], list[tuple[int, Factor]]]] = []
    for k, f in enumerate(factors):
        labels = set(f.labels)
        touching = [g for g in groups if g[0] & labels]
        joined = (labels.union(*(g[0] for g in touching)), [x for g in touching for x in g[1]] + [(k, f)])
        groups = [g for g in groups if g not in touching] + [joined]
    groups.sort(key=lambda g: min(k for k, _ in g[1]))
    return [[f for _, f in sorted(g[1], key=lambda x: x[0])] for g in groups]


def product_term(p: Product, shape: tuple[Any, ...], layout: Layout) -> Term:
    """The matrix term of a product."""
    p = with_whole_parts(p)
    axes = [k for k, size in enumerate(shape) if size != 1]
    out = tuple(p.out[k] for k in axes)
    sizes = tuple(shape[k] for k in axes)
    scalars = [(f.base, f.power) for f in p.factors if not f.labels]
    arrays = [f for f in p.factors if f.labels]
    if arrays and all(f.labels == out for f in arrays) and len(set(out)) == len(out):
        # Entry by entry: there is nothing to contract.
        body: Term | None = region([(f.base, f.power) for f in arrays])
    else:
        body = _array_part(arrays, out, sizes, layout, scalars)
    term = scaled(p.coef, p.decimal, scalars, body)
    return restored(term, shape) if body is not None and len(axes) < len(shape) else term


def whole(term: Term, shape: tuple[Any, ...]) -> Term:
    """A term with the axes of size 1 that forms leave out where there are no others; other arguments have theirs."""
    if not shape or term.shape:
        return term
    bare = term.op.name == "squeeze" and term.args[0].shape == shape
    return term.args[0] if bare else restored(term, shape)


def restored(term: Term, shape: tuple[Any, ...]) -> Term:
    """Put axes of size 1 back."""
    for k, size in enumerate(shape):
        if size == 1:
            term = call_op("unsqueeze", term, dim=k)
    return term


def scaled(coef: Any, decimal: bool, scalars: Sequence[tuple[Term, Power]], body: Term | None) -> Term:
    """coefficient · scalars · body; a guarded reciprocal among the scalars divides the whole."""
    guards = [x for x in scalars if is_guard(x[0])]
    rest = one_root([x for x in scalars if not is_guard(x[0])])
    value = number_of(coef, decimal)
    if body is None or body.shape == ():
        parts = rest if body is None else [*rest, (body, 1)]
        if guards and coef < 0:
            return call_op("neg", region(guards, _quotient(number_of(-coef, decimal), parts)))
        return region(guards, _quotient(value, parts))
    scale = _quotient(value, rest) if rest or value != 1 else None
    if scale is not None and scale.number == -1 and not is_truth(body):
        body = call_op("neg", body)
    elif scale is not None and scale.op.name == "div" and scale.args[0].number == 1:
        body = call_op("div", body, scale.args[1])
    elif scale is not None and body.op.name == "div" and body.args[0].number == 1 and _fits_above(scale):
        body = call_op("div", scale, body.args[1])
    elif scale is not None:
        body = call_op("mul", scale, body)
    return region(guards, body) if guards else body


def _short_decimals(value: float) -> tuple[float | int, float | None]:
    """A whole number over a short decimal, where a long decimal comes from it: 2/8.314, not 0.24055809477988935."""
    if len(repr(value)) > LONG_DECIMAL and math.isfinite(value):
        for above in range(1, 13):
            below = float(f"{above / abs(value):.8g}")
            if above / below == abs(value) and len(repr(below)) + len(str(above)) < LONG_DECIMAL:
                return above if value > 0 else -above, below
    return value, None


def _fits_above(scale: Term) -> bool:
    """Whether a scalar may stand above a fraction bar: a/x and 2a/x, and a times 1/x where a is longer."""
    parts = scale.args if scale.op.name == "mul" else (scale,)
    return isinstance(scale.number, int) or all(t.op in (SYMBOL, NUMBER) for t in parts)


def _quotient(value: Any, parts: Sequence[tuple[Term, Power]]) -> Term:
    """A number times scalar powers as one fraction."""
    if not parts:
        return number(value)
    if isinstance(value, float):
        value, below = _short_decimals(value)
        if below is not None:
            parts = [*parts, (number(below), -1)]
    under: list[tuple[Term, Power]] = []
    negative = isinstance(value, (int, Fraction)) and value < 0
    if negative:
        value = -value
    if isinstance(value, Fraction):
        under = [(number(value.denominator), -1)]
        value = value.numerator
    above = None if value == 1 and any(p > 0 for _, p in parts) else number(value)
    found = region([*parts, *under], above)
    return call_op("neg", counted(found)) if negative else found


def _array_part(
    arrays: Sequence[Factor], out: Labels, sizes: tuple[Any, ...], layout: Layout, scalars: list[tuple[Term, Power]]
) -> Term | None:
    """The array of a product; components without output axes are added to ``scalars``."""
    wanted = tuple(dict.fromkeys(out))
    size_of = dict(zip(out, sizes, strict=True))
    arrays = _summed_alone(arrays, wanted)
    graphs: list[Graph] = []
    stuck: list[Factor] = []
    for group in components(arrays):
        inside = {x for f in group for x in f.labels}
        outs = [x for x in wanted if x in inside]
        graph = Graph(group, outs, layout) if len(outs) <= 2 and all(len(f.labels) <= 2 for f in group) else None
        if graph is not None and graph.eliminate():
            scalars += [(t, 1) for t in graph.scalars]
            if outs:
                graphs.append(graph)
        elif outs:
            stuck += group
        else:
            scalars.append((index_term(group, (), ()), 1))
    if not out:
        return None
    if stuck or len(out) > 2:
        pieces = stuck + [_graph_factor(g, size_of) for g in graphs]
        return index_term(pieces, out, sizes)
    found = _drawn(graphs, wanted, size_of, layout)
    if len(wanted) == len(out):
        return ones(sizes[0]) if found is None else found
    if found is not None and found.op.name == "diagonal" and found.args[0].ndim == 2:
        # diag(diag(A)) = A ⊙ I, always.
        return call_op("mul", found.args[0], identity(sizes[0]))
    return identity(sizes[0]) if found is None else diagonal_matrix(found)


def _summed_alone(arrays: Sequence[Factor], out: Labels) -> Sequence[Factor]:
    """Factors with more than two axes, summed over those that nothing else has: Σᵢⱼₖ eᵢⱼdᵢⱼₖ² has a matrix in it."""
    if len(arrays) < 2 or all(len(f.labels) < 3 for f in arrays):
        return arrays
    uses = collections.Counter(x for f in arrays for x in f.labels)
    found = []
    for f in arrays:
        left = tuple(x for x in f.labels if x in out or uses[x] > 1)
        known = dict(zip(f.labels, f.base.shape, strict=True))
        alone = len(f.labels) > 2 and 0 < len(left) < len(f.labels)
        found.append(Factor(index_term([f], left, tuple(known[x] for x in left)), left) if alone else f)
    return found


def _graph_factor(graph: Graph, size_of: dict[int, Any]) -> Factor:
    """A reduced component as one factor."""
    if len(graph.outs) == 1:
        weight = graph.weight(graph.outs[0])
        return Factor(ones(size_of[graph.outs[0]]) if weight is None else weight, (graph.outs[0],))
    a, b = graph.outs
    term = _between(graph.layout, graph, a, b)
    return Factor(term, (a, b))


def index_term(factors: Sequence[Factor], out: Labels, sizes: tuple[Any, ...]) -> Term:
    """A general einsum with small labels; a delta that stands alone is an identity matrix among the factors."""
    if not factors and len(set(out)) == len(out):
        return full(sizes, 1, FLOAT)
    # Indices say which axis is which: nothing is transposed among them.
    factors = [Factor(f.base.args[0], f.labels[::-1], f.power) if is_transpose(f.base) else f for f in factors]
    out = tuple(out)
    covered = {x for f in factors for x in f.labels}
    for k, x in enumerate(out):
        if x in out[:k] and x not in covered:
            fresh = 1 + max((*out, *(y for f in factors for y in f.labels)))
            factors.append(Factor(identity(sizes[k]), (x, fresh)))
            out = (*out[:k], fresh, *out[k + 1 :])
    numbers: dict[int, int] = {}
    inputs = tuple(tuple(numbers.setdefault(x, len(numbers)) for x in f.labels) for f in factors)
    output = tuple(numbers.setdefault(x, len(numbers)) for x in out)
    bases = [powered(f.base, f.power) if f.power > 0 else call_op("div", 1, powered(f.base, -f.power)) for f in factors]
    if (
        len(bases) == 1
        and len(set(inputs[0])) == len(inputs[0])
        and output == tuple(x for x in inputs[0] if x in output)
    ):
        dims = tuple(k for k, x in enumerate(inputs[0]) if x not in output)
        return call_op("sum", bases[0], dim=dims, keepdim=False) if dims else bases[0]
    bases = [counted(x) for x in bases] if len(bases) > 1 else bases
    return contract(bases, inputs, output, sizes)  # type: ignore[no-any-return]


def _between(layout: Layout, graph: Graph, a: int, b: int) -> Term:
    """diag(weight of a) · chain · diag(weight of b), from a to b."""
    (edge,) = graph.edges
    left, right = graph.weight(a), graph.weight(b)
    chain = graph.chain(edge, a)
    links = (() if left is None else (Link(diagonal_matrix(left)),)) + chain
    links += () if right is None else (Link(diagonal_matrix(right)),)
    return layout.chain_term(links)


def _drawn(graphs: Sequence[Graph], wanted: Labels, size_of: dict[int, Any], layout: Layout) -> Term | None:
    """The vector or matrix that the components make; None for a vector without weights."""
    if len(wanted) == 1:
        parts: list[tuple[Term, Power]] = [(w, 1) for g in graphs if (w := g.weight(wanted[0])) is not None]
        return region(parts) if parts else None
    a, b = wanted
    for g in graphs:
        if len(g.outs) == 2:
            for other in graphs:
                if other is not g:
                    g.take_weights(other)
            return _between(layout, g, a, b)
    weights: dict[int, Term] = {}
    for g in graphs:
        for x in g.outs:
            w = g.weight(x)
            if w is not None:
                weights[x] = w if x not in weights else call_op("mul", weights[x], w)
    if not weights:
        return full((size_of[a], size_of[b]), 1, FLOAT)
    left, right = (weights[x] if x in weights else ones(size_of[x]) for x in (a, b))
    return call_op("outer", left, right)


def form_term(form: Form, layout: Layout, present: Callable[[Product], Product]) -> Term:
    """The matrix term of a sum: terms in order, a positive one first, one common factor of the coefficients outside."""
    if not form.terms:
        return full(form.shape, 0, FLOAT)
    terms = list(form.terms)
    if len(terms) == 1:
        return product_term(present(terms[0]), form.shape, layout)
    if terms[0].coef < 0:
        first = next((k for k, p in enumerate(terms) if p.coef > 0), None)
        if first is not None:
            terms.insert(0, terms.pop(first))
    pieces: list[tuple[bool, Term]] = []
    # Next to the identity and to products of matrices a number would be read as its multiple: I - 11ᵀ/n, xxᵀ - 11ᵀ.
    beside_matrices = len(form.shape) == 2 and any(map(_is_matrix, terms)) and form.shape[0] == form.shape[1]
    led_by_flip = terms[0].coef < 0 < present(terms[0]).coef
    for k, p in enumerate(terms):
        shown = present(p)
        # -a(x - y) - b(x - y) is a(y - x) + b(y - x) throughout, and a - b(x - 1) is a + b(1 - x).
        negative = k > 0 > p.coef and (shown.coef < 0 or not (led_by_flip or starts_with_one(shown)))
        if negative:
            shown = present(p.scaled(-1))
        if p.covered():
            pieces.append((negative, product_term(shown, form.shape, layout)))
        elif beside_matrices:
            pieces.append((negative, everywhere(product_term(shown.with_out(()), (), layout), form.shape)))
        else:
            # A number next to arrays broadcasts.
            pieces.append((negative, product_term(shown.with_out(()), (), layout)))
    total: Term | None = None
    for negative, piece in _matrix_before_transpose(pieces):
        piece = counted(piece)
        total = piece if total is None else call_op("sub" if negative else "add", total, piece)
    assert total is not None
    return total


def _is_matrix(p: Product) -> bool:
    """Whether a term is the identity, a transpose, a product of matrices or a sum of such, not entry by entry."""
    arrays = [f for f in p.factors if f.labels]
    if p.has_delta or (len(p.covered()) == 2 and any(f.labels != p.out for f in arrays)):
        return True
    return len(arrays) == 1 and arrays[0].power == 1 and _holds_matrices(arrays[0].base)


MATRICES = frozenset({"eye", "matmul", "outer", "permute", "inv", "matrix_power", "matrix_exp"})
"""Ops whose values are matrices rather than arrays of numbers."""


def _holds_matrices(term: Term) -> bool:
    if term.ndim != 2:
        return False
    inside = term.op.name in ("add", "sub", "neg", "mul")
    return term.op.name in MATRICES or (inside and any(map(_holds_matrices, term.args)))


def everywhere(scalar: Term, shape: tuple[Any, ...]) -> Term:
    """A matrix with the same number at all places, as an outer product."""
    every = call_op("outer", ones(shape[0]), ones(shape[1]))
    return every if scalar.number == 1 else call_op("mul", scalar, every)


def starts_with_one(p: Product) -> bool:
    """Whether a bracket of a product is 1 less a function."""
    subtractions = (f.base for f in p.factors if f.base.op.name == "sub" and f.power == 1)
    return any(constant_value(x.args[0]) == 1 and x.args[1].args for x in subtractions)


def _matrix_before_transpose(pieces: list[tuple[bool, Term]]) -> list[tuple[bool, Term]]:
    """A + Aᵀ rather than Aᵀ + A, A + Aᴴ rather than Aᴴ + A, and nothing in between."""
    rest, found = list(pieces), []
    while rest:
        sign, piece = rest.pop(0)
        found.append((sign, piece))
        for partner in [(sign, t) for t in _turned_round(piece)]:
            if partner in rest:
                rest.remove(partner)
                found[-1:] = [partner, (sign, piece)] if is_transpose(piece) else [(sign, piece), partner]
                break
    return found


def _turned_round(piece: Term) -> list[Term]:
    """The transpose of a matrix, and the conjugate transpose."""
    if piece.ndim != 2:
        return []
    conjugate = piece.args[0].args[0] if is_transpose(piece) and piece.args[0].op.name == "conj" else None
    return [turned(piece), turned(call_op("conj", piece)) if conjugate is None else conjugate]
