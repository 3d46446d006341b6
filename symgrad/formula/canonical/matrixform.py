"""Matrix notation of einsum products.

Labels are vertices, factors with two labels are edges, factors with one label are weights of their vertex, and factors
without labels are scalars.  Summed vertices are eliminated: without edges they give a dot product or a sum, with one
edge a matrix-vector product, with two a matrix product with the weight as a diagonal matrix in between; parallel edges
are Hadamard products, and a closed cycle is a trace.  What does not reduce stays an einsum, which is right too.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from symgrad.dtypes import is_real_floating
from symgrad.formula.canonical.chains import (
    FLOAT,
    Chain,
    Layout,
    Link,
    call_op,
    counted,
    diagonal_matrix,
    identity,
    is_guard,
    is_real,
    is_transpose,
    is_truth,
    matmul,
    ones,
    powered,
    rank_of,
    region,
    transposes,
    turned,
)
from symgrad.formula.canonical.normal import Factor, Form, Power, Product, number_of
from symgrad.formula.term import Term, constant_value, full, number
from symgrad.op import Labels
from symgrad.ops.linalg.contraction import contract


class Edge:
    """A chain of matrices between two vertices; two edges may have equal chains and are still two."""

    __slots__ = ("a", "b", "chain")

    def __init__(self, a: int, b: int, chain: Chain):
        self.a = a
        self.b = b
        self.chain = chain


class Arrow(NamedTuple):
    """A weight that is a chain times a vector (ones when it is None)."""

    chain: Chain
    vector: Term | None


class Loop(NamedTuple):
    """A weight that is the diagonal of a chain."""

    chain: Chain


# ---------------------------------------------------------------------------------------------- elimination


class Graph:
    """A connected component of a product while its summed vertices are eliminated."""

    def __init__(self, factors: Sequence[Factor], outs: Sequence[int], layout: Layout):
        self.layout = layout
        self.outs = list(outs)
        self.scalars: list[Term] = []
        self.plain: dict[int, list[tuple[Term, Power]]] = {}
        self.arrows: dict[int, list[Arrow]] = {}
        self.loops: dict[int, list[Loop]] = {}
        self.edges: list[Edge] = []
        self.summed = [x for x in dict.fromkeys(y for f in factors for y in f.labels) if x not in self.outs]
        self._place(factors)

    def _place(self, factors: Sequence[Factor]) -> None:
        """Weights to their vertices; factors between the same vertices in the same direction are one region."""
        groups: dict[Labels, list[tuple[Term, Power]]] = {}
        for f in factors:
            if len(f.labels) == 1:
                self.plain.setdefault(f.labels[0], []).append((f.base, f.power))
                continue
            a, b = f.labels
            if (b, a) in groups and self.layout.symmetric(f.base):
                a, b = b, a
            groups.setdefault((a, b), []).append((f.base, f.power))
        for (a, b), parts in groups.items():
            if a == b and (len(parts) > 1 or parts[0][1] != 1):
                # The powers of a diagonal: entries beside it may have none.
                links = [Loop((self.layout.link(base, False),)) for base, _ in parts]
                weights = [(self.diagonal(x), power) for x, (_, power) in zip(links, parts, strict=True)]
                self.plain.setdefault(a, []).extend(weights)
                continue
            term = region(parts)
            if all(self.layout.symmetric(base) for base, _ in parts):
                link = Link(term)
            else:
                link = self.layout.link(term, False)
            if a == b:
                self.loops.setdefault(a, []).append(Loop((link,)))
            else:
                self.edges.append(Edge(a, b, (link,)))

    # ---------------------------------------------------------------- pieces

    def chain(self, edge: Edge, start: int) -> Chain:
        """The chain of an edge read from ``start``."""
        return edge.chain if edge.a == start else self.layout.reverse(edge.chain)

    def around(self, vertex: int) -> list[Edge]:
        """Edges at a vertex."""
        return [e for e in self.edges if vertex in (e.a, e.b)]

    def weight(self, vertex: int) -> Term | None:
        """All weights of a vertex as one vector; None without any.  They are taken away."""
        parts = self.plain.pop(vertex, [])
        parts += [(self.layout.applied(*x), 1) for x in self.arrows.pop(vertex, [])]
        parts += [(self.diagonal(x), 1) for x in self.loops.pop(vertex, [])]
        return region(parts) if parts else None

    def diagonal(self, loop: Loop) -> Term:
        """The diagonal of a chain."""
        chain = min((loop.chain, self.layout.reverse(loop.chain)), key=transposes)
        return call_op("diagonal", self.layout.chain_term(chain), offset=0, dim1=0, dim2=1)

    def take_weights(self, other: Graph) -> None:
        """Move the weights of another component here."""
        for x in other.outs:
            weight = other.weight(x)
            if weight is not None:
                self.plain.setdefault(x, []).append((weight, 1))

    # ---------------------------------------------------------------- steps

    def eliminate(self) -> bool:
        """Eliminate all summed vertices; False when it is stuck."""
        while self.summed:
            degrees = {x: len(self.around(x)) for x in self.summed}
            vertex = min(self.summed, key=lambda x: self._urgency(x, degrees[x]))
            if degrees[vertex] == 0:
                self._close(vertex)
            elif degrees[vertex] == 1:
                self._absorb(vertex)
            elif degrees[vertex] == 2:
                self._bridge(vertex)
            elif not self._merge_parallel():
                return False
        self._merge_parallel()
        return len(self.edges) <= 1

    def _urgency(self, vertex: int, degree: int) -> tuple[int, int]:
        """Ends of chains first, then the vertex between the factors that come first."""
        return (degree, max(self.edges.index(e) for e in self.around(vertex))) if degree > 1 else (0, 0)

    def _close(self, vertex: int) -> None:
        """A vertex without edges is a sum of its weights."""
        self.summed.remove(vertex)
        plain, arrows, loops = self.plain.pop(vertex, []), self.arrows.pop(vertex, []), self.loops.pop(vertex, [])
        if len(loops) == 1 and not plain and not arrows:
            self.scalars.append(self._trace(loops[0].chain))
            return
        plain += [(self.diagonal(x), 1) for x in loops]
        if not arrows:
            self.scalars.append(self._sum(plain))
        elif len(arrows) == 1 and not plain:
            self.scalars.append(self._total(arrows[0]))
        elif len(arrows) == 2 and not plain:
            left, right = arrows
            self.scalars.append(self._form(self.layout.reverse(left.chain) + right.chain, left.vector, right.vector))
        else:
            plain += [(self.layout.applied(*x), 1) for x in arrows[1:]]
            self.scalars.append(self._form(arrows[0].chain, region(plain), arrows[0].vector))

    def _sum(self, parts: list[tuple[Term, Power]]) -> Term:
        """Sum of a vector; the sum of two factors is a dot product, of a square a squared norm."""
        if len(parts) == 1:
            base, power = parts[0]
            if power == 2 and base.dtype is not None and is_real_floating(base.dtype):
                # Σx² = xᵀx = ‖x‖², for real x.
                # ‖|x|‖ = ‖x‖, for complex x too.
                base = base.args[0] if base.op.name == "abs" else base
                if rank_of(base) == 1 and is_real_floating(base.dtype):
                    return matmul(base, base)
                return call_op("pow", call_op("norm", base, p=2, dim=(0,), keepdim=False), 2)
        elif len(parts) == 2 and all(p > 0 and not is_guard(b) for b, p in parts):
            left, right = sorted(parts, key=lambda x: rank_of(x[0]))
            return matmul(powered(*left), powered(*right))
        return call_op("sum", region(parts), dim=(0,), keepdim=False)

    def _total(self, arrow: Arrow) -> Term:
        """1ᵀ C v."""
        if arrow.vector is None and len(arrow.chain) == 1:
            squared = _squared(arrow.chain[0].term)
            if squared is not None:
                # Σ Xᵢⱼ² = ‖X‖², for real X.
                return call_op("pow", call_op("norm", squared, p=2, dim=(0, 1), keepdim=False), 2)
            return call_op("sum", arrow.chain[0].term, dim=(0, 1), keepdim=False)
        return call_op("sum", self.layout.applied(*arrow), dim=(0,), keepdim=False)

    def _form(self, chain: Chain, left: Term | None, right: Term | None) -> Term:
        """leftᵀ C right, read in the direction with fewer transposes."""
        flipped = self.layout.reverse(chain)
        if transposes(flipped) < transposes(chain):
            chain, left, right = flipped, right, left
        if left is None and right is None:
            return self._total(Arrow(chain, None))
        if left is None:
            return call_op("sum", self.layout.applied(chain, right), dim=(0,), keepdim=False)
        return matmul(left, self.layout.applied(chain, right))

    def _trace(self, chain: Chain) -> Term:
        return call_op("trace", self.layout.chain_term(self.layout.rotated(chain)))

    def _absorb(self, vertex: int) -> None:
        """A vertex with one edge is a matrix-vector product."""
        (edge,) = self.around(vertex)
        other = edge.a if edge.b == vertex else edge.b
        chain = self.chain(edge, other)
        weight: Term | None
        arrows = self.arrows.get(vertex, [])
        if len(arrows) == 1 and vertex not in self.plain and vertex not in self.loops:
            chain, weight = chain + arrows[0].chain, arrows[0].vector
            del self.arrows[vertex]
        else:
            weight = self.weight(vertex)
        self.edges.remove(edge)
        self.summed.remove(vertex)
        self.arrows.setdefault(other, []).append(Arrow(chain, weight))

    def _bridge(self, vertex: int) -> None:
        """A vertex with two edges is a matrix product, with its weight as a diagonal matrix in between."""
        first, second = self.around(vertex)
        start = first.a if first.b == vertex else first.b
        stop = second.a if second.b == vertex else second.b
        if start == stop:
            self._cycle(vertex, start, first, second)
            return
        if self.edges_before(stop, start):
            first, second, start, stop = second, first, stop, start
        chain = self.chain(first, start) + self._diagonal_link(vertex) + self.chain(second, vertex)
        self._replace(vertex, (first, second), Edge(start, stop, chain))

    def edges_before(self, a: int, b: int) -> bool:
        """Whether an output axis ``a`` stands before ``b``."""
        return a in self.outs and (b not in self.outs or self.outs.index(a) < self.outs.index(b))

    def _diagonal_link(self, vertex: int) -> Chain:
        weight = self.weight(vertex)
        return () if weight is None else (Link(diagonal_matrix(weight)),)

    def _cycle(self, vertex: int, other: int, first: Edge, second: Edge) -> None:
        """Two edges to the same vertex: the diagonal of a product, or a Hadamard product, whichever is shorter."""
        lonely = other not in self.outs and len(self.around(other)) == 2
        there, back = self.chain(first, other), self.chain(second, vertex)
        loop = there + back
        cost = (
            transposes(self.layout.rotated(loop)) if lonely else min(map(transposes, (loop, self.layout.reverse(loop))))
        )
        direct = (there, self.layout.reverse(back))
        entries = min(sum(map(transposes, direct)), sum(transposes(self.layout.reverse(c)) for c in direct))
        if cost == 0 or cost < entries or (lonely and (cost == entries or len(loop) > 2)):
            chain = there + self._diagonal_link(vertex) + back
            self.edges = [e for e in self.edges if e not in (first, second)]
            self.summed.remove(vertex)
            self.loops.setdefault(other, []).append(Loop(chain))
        else:
            self._merge_parallel()

    def _replace(self, vertex: int, old: tuple[Edge, ...], new: Edge) -> None:
        place = self.edges.index(old[0])
        self.edges[place] = new
        self.edges = [e for e in self.edges if e not in old]
        self.summed.remove(vertex)

    def _merge_parallel(self) -> bool:
        """Edges between the same two vertices are one Hadamard product."""
        for k, e in enumerate(self.edges):
            same = [x for x in self.edges[k + 1 :] if {x.a, x.b} == {e.a, e.b}]
            if same:
                chains = [e.chain, *(self.chain(x, e.a) for x in same)]
                back = [self.layout.reverse(c) for c in chains]
                flip = sum(map(transposes, back)) < sum(map(transposes, chains))
                parts = [(self.layout.chain_term(c), 1) for c in (back if flip else chains)]
                merged = Edge(e.a, e.b, (self.layout.link(region(parts), flip),))
                self.edges = [merged if x is e else x for x in self.edges if x not in same]
                return True
        return False


def _squared(term: Term) -> Term | None:
    """X, for the entries of a real matrix squared."""
    if term.op.name != "pow" or term.args[1].number != 2 or not is_real(term.args[0]):
        return None
    return term.args[0]


# ---------------------------------------------------------------------------------------------- products and sums


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
    rest = [x for x in scalars if not is_guard(x[0])]
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
    elif scale is not None and isinstance(scale.number, int) and body.op.name == "div" and body.args[0].number == 1:
        body = call_op("div", scale, body.args[1])
    elif scale is not None:
        body = call_op("mul", scale, body)
    return region(guards, body) if guards else body


def _quotient(value: Any, parts: Sequence[tuple[Term, Power]]) -> Term:
    """A number times scalar powers as one fraction."""
    if not parts:
        return number(value)
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
        pieces = stuck + [_graph_factor(g) for g in graphs]
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


def _graph_factor(graph: Graph) -> Factor:
    """A reduced component as one factor."""
    if len(graph.outs) == 1:
        weight = graph.weight(graph.outs[0])
        assert weight is not None
        return Factor(weight, (graph.outs[0],))
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
    # Next to the identity a number would be read as its multiple: I - 11ᵀ/n.
    beside_identity = len(form.shape) == 2 and any(p.out[0] == p.out[1] for p in terms)
    led_by_flip = terms[0].coef < 0 < present(terms[0]).coef
    for k, p in enumerate(terms):
        shown = present(p)
        # -a(x - y) - b(x - y) is a(y - x) + b(y - x) throughout, and a - b(x - 1) is a + b(1 - x).
        negative = k > 0 > p.coef and (shown.coef < 0 or not (led_by_flip or starts_with_one(shown)))
        if negative:
            shown = present(p.scaled(-1))
        if p.covered():
            pieces.append((negative, product_term(shown, form.shape, layout)))
        elif beside_identity:
            pieces.append((negative, _everywhere(product_term(shown.with_out(()), (), layout), form.shape)))
        else:
            # A number next to arrays broadcasts.
            pieces.append((negative, product_term(shown.with_out(()), (), layout)))
    total: Term | None = None
    for negative, piece in _matrix_before_transpose(pieces):
        piece = counted(piece)
        total = piece if total is None else call_op("sub" if negative else "add", total, piece)
    assert total is not None
    return total


def _everywhere(scalar: Term, shape: tuple[Any, ...]) -> Term:
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
