"""Matrix notation of einsum products.

Labels are vertices, factors with two labels are edges, factors with one label are weights of their vertex, and factors
without labels are scalars.  Summed vertices are eliminated: without edges they give a dot product or a sum, with one
edge a matrix-vector product, with two a matrix product with the weight as a diagonal matrix in between; parallel edges
are Hadamard products, and a closed cycle is a trace.  What does not reduce stays an einsum, which is right too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from symgrad.formula.canonical.chains import (
    Chain,
    Layout,
    Link,
    call_op,
    diagonal_matrix,
    is_guard,
    matmul,
    ones,
    powered,
    rank_of,
    region,
    transposes,
)
from symgrad.formula.canonical.normal import Factor, Power
from symgrad.formula.term import SYMBOL, Term
from symgrad.op import Labels


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
        if self._is_trace(factors):
            self.edges = [Edge(f.labels[0], f.labels[1], (Link(f.base),)) for f in factors]
            return
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

    def _is_trace(self, factors: Sequence[Factor]) -> bool:
        """Whether all is Σ Sᵢⱼ (K⁻¹)ᵢⱼ of symmetric matrices, which papers write as tr(S K⁻¹)."""
        if len(factors) != 2 or self.outs or set(factors[0].labels) != set(factors[1].labels):
            return False
        plain = all(len(set(f.labels)) == 2 and f.power == 1 and self.layout.symmetric(f.base) for f in factors)
        return plain and any(f.base.op.name == "inv" for f in factors)

    # ---------------------------------------------------------------- pieces

    def chain(self, edge: Edge, start: int) -> Chain:
        """The chain of an edge read from ``start``."""
        return edge.chain if edge.a == start else self.layout.reverse(edge.chain)

    def around(self, vertex: int) -> list[Edge]:
        """Edges at a vertex."""
        return [e for e in self.edges if vertex in (e.a, e.b)]

    def weight(self, vertex: int) -> Term | None:
        """All weights of a vertex as one vector; None without any, or where they cancel.  They are taken away."""
        parts = self.plain.pop(vertex, [])
        parts += [(self.layout.applied(*x), 1) for x in self.arrows.pop(vertex, [])]
        parts += [(self.diagonal(x), 1) for x in self.loops.pop(vertex, [])]
        found = region(parts) if parts else None
        if found is None or found.shape:
            return found
        return None if found.number == 1 else call_op("mul", found, ones(parts[0][0].shape[0]))

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
        """Sum of a vector; the sum of factors is a dot product, of a square a squared norm."""
        if len(parts) == 1:
            base, power = parts[0]
            if power == 2 and base.real_dtype:
                # Σx² = xᵀx = ‖x‖², for real x.
                # ‖|x|‖ = ‖x‖, for complex x too.
                base = base.args[0] if base.op.name == "abs" else base
                if rank_of(base) == 1 and base.real_dtype:
                    return matmul(base, base)
                return call_op("pow", call_op("norm", base, p=2, dim=(0,), keepdim=False), 2)
        elif len(parts) > 1 and all(p > 0 and not is_guard(b) for b, p in parts):
            # wᴴa rather than aᵀ times the conjugate of w.
            *left, right = (
                sorted(parts, key=lambda x: (x[0].op.name != "conj", rank_of(x[0]))) if len(parts) == 2 else parts
            )
            return matmul(region(left), powered(*right))
        return call_op("sum", region(parts), dim=(0,), keepdim=False)

    def _total(self, arrow: Arrow) -> Term:
        """1ᵀ C v."""
        if arrow.vector is None and len(arrow.chain) == 1:
            squared = _squared(arrow.chain[0].term)
            if squared is not None:
                # Σ Xᵢⱼ² = ‖X‖², for real X.
                return call_op("pow", call_op("norm", squared, p=2, dim=(0, 1), keepdim=False), 2)
            return call_op("sum", arrow.chain[0].term, dim=(0, 1), keepdim=False)
        if arrow.vector is not None and rank_of(arrow.vector) == 1:
            return self._form(arrow.chain, None, arrow.vector)
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
        half = self._half(chain)
        if half is not None:
            return call_op("pow", call_op("norm", self.layout.chain_term(half), p=2, dim=(0, 1), keepdim=False), 2)
        return call_op("trace", self.layout.chain_term(self.layout.rotated(chain)))

    def _half(self, chain: Chain) -> Chain | None:
        """AB, for a cycle that is (AB)ᵀAB: tr(BᵀAᵀAB) = ‖AB‖², for real matrices."""
        n = len(chain) // 2
        if len(chain) % 2 or len({x.term for x in chain}) < 2 or not all(x.term.real_dtype for x in chain):
            return None
        turns = [chain[k:] + chain[:k] for k in range(len(chain))]
        halves = [c[n:] for c in turns if c[:n] == self.layout.reverse(c[n:])]
        return min(halves, key=lambda c: (transposes(c), c[0].turned), default=None)

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
        weighted = other in self.plain or other in self.arrows or other in self.loops
        lonely = other not in self.outs and len(self.around(other)) == 2 and not weighted
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
            quadratic = loop[0].term is loop[-1].term and loop[0].turned != loop[-1].turned
            if quadratic and vertex not in self.plain and vertex not in self.arrows and vertex not in self.loops:
                self._cut(vertex, other, (first, second), loop)
            self._merge_parallel()

    def _cut(self, vertex: int, other: int, old: tuple[Edge, Edge], loop: Chain) -> None:
        """(ABᵀ ⊙ A)1 = (A ⊙ AB)1: quadratic forms of rows, cut where the fewest matrices are transposed."""

        def cost(k: int) -> int:
            return transposes(loop[:k]) + transposes(self.layout.reverse(loop[k:]))

        at = len(self.chain(old[0], other))
        best = min(range(1, len(loop)), key=lambda k: (cost(k), k != at))
        new = Edge(other, vertex, loop[:best]), Edge(other, vertex, self.layout.reverse(loop[best:]))
        self.edges = [new[old.index(e)] if e in old else e for e in self.edges]

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
                start, stop = (e.b, e.a) if self.edges_before(e.b, e.a) else (e.a, e.b)
                chains = [self.chain(x, start) for x in (e, *same)]
                back = [self.layout.reverse(c) for c in chains]
                flip = _turns(back, 1) < _turns(chains, 0)
                parts = [(self.layout.chain_term(c), 1) for c in (back if flip else chains)]
                merged = Edge(start, stop, (self.layout.link(region(parts), flip),))
                self.edges = [merged if x is e else x for x in self.edges if x not in same]
                return True
        return False


def _turns(chains: Sequence[Chain], outside: int) -> tuple[int, int]:
    """The transposes of some chains, and those of what is no symbol: Aᵀ E Wᵀ ⊙ M rather than (W Eᵀ A ⊙ Mᵀ)ᵀ."""
    sums = sum(x.turned and x.term.op is not SYMBOL for chain in chains for x in chain)
    return sum(map(transposes, chains)), sums + outside


def _squared(term: Term) -> Term | None:
    """X, for the entries of a real matrix squared."""
    if term.op.name != "pow" or term.args[1].number != 2 or not term.args[0].real_dtype:
        return None
    return term.args[0]
