"""Pieces of matrix notation: elementwise regions, chains of matrices, and their transposes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from symgrad.formula.canonical.normal import Power, number_of, plain_power
from symgrad.formula.structures import shows_symmetry
from symgrad.formula.term import NUMBER, SIZE, SYMBOL, Term, apply, full, number, postorder
from symgrad.op import lookup
from symgrad.ops.linalg.contraction import contract

FLOAT = np.dtype(float)
"""The dtype of constants of a formula."""


class Link(NamedTuple):
    """One matrix of a chain."""

    term: Term
    turned: bool = False


Chain = tuple[Link, ...]


def call_op(name: str, *args: Any, **params: Any) -> Term:
    """A term of the op of that name."""
    return lookup(name)(*args, **params)  # type: ignore[no-any-return]


def turned(term: Term) -> Term:
    """The transpose of a matrix; a transpose is taken off again."""
    if is_transpose(term):
        return term.args[0]
    return call_op("permute", term, dims=(1, 0))


def is_transpose(term: Term) -> bool:
    """Whether a term is the transpose of a matrix."""
    return term.op.name == "permute" and term.params["dims"] == (1, 0)


def count_transposes(term: Term, inverses: bool = True) -> int:
    """Transposes in the first layers of a term, where its orientation shows; without X⁻ᵀ in a few layers more."""
    total, layer = 0, [term]
    for _ in range(3 if inverses else 6):
        total += sum(is_transpose(t) and (inverses or t.args[0].op.name != "inv") for t in layer)
        layer = [a for t in layer if t.ndim == 2 for a in t.args if a.ndim == 2][:16]
    return total


def turned_sums(term: Term) -> int:
    """Transposes of what is neither a symbol nor an inverse: of sums, masks and functions, where nobody writes them."""
    transposed = [t.args[0] for t in postorder([term]) if is_transpose(t)]
    return sum(t.op is not SYMBOL and t.op.name not in ("inv", "conj", "matrix_power") for t in transposed)


def price(term: Term, inverses: bool = True) -> int:
    """The operations of a formula as printed, shared parts counted every time; numbers, symbols, I and 1 are free.

    ``inverses`` says whether transposes of inverses count.
    """
    prices: dict[Term, int] = {}
    for t in postorder([term]):
        adjoint = is_transpose(t) and t.args[0].op.name == "conj"
        adjoint = adjoint or (not inverses and is_transpose(t) and t.args[0].op.name == "inv")
        own = 0 if adjoint or t.op in (NUMBER, SIZE, SYMBOL) or t.op.name in ("eye", "full") else 1
        prices[t] = min(own + sum(prices[a] for a in t.args), 10**9)
    return prices[term]


def identity(size: Any, dtype: str = "float64") -> Term:
    """The identity matrix."""
    return apply(lookup("eye"), (), {"n": size, "dtype": dtype})  # type: ignore[no-any-return]


def ones(size: Any) -> Term:
    """A vector of ones."""
    return full((size,), 1, FLOAT)


def is_truth(term: Term) -> bool:
    """Whether a term is an array of truth values."""
    return term.dtype is not None and term.dtype.kind == "b"


def counted(term: Term) -> Term:
    """Truth values as numbers, where NumPy would combine them by logic or refuse."""
    return call_op("cast", term, dtype="float64") if is_truth(term) else term


def matmul(a: Term, b: Term) -> Term:
    """A matrix product; of truth values, as numbers."""
    return call_op("matmul", counted(a) if is_truth(b) else a, b)


def diagonal_matrix(vector: Term) -> Term:
    """diag(v)."""
    n = vector.shape[0]
    return contract((vector,), ((0,),), (0, 0), (n, n))  # type: ignore[no-any-return]


# ---------------------------------------------------------------------------------------------- regions

_HALVES = (Fraction(1, 2), Fraction(-1, 2))


def rank_of(term: Term) -> float:
    """Place in a product: numbers and sizes, symbols, their entries, sums of scalars' names, functions, other sums."""
    if term.op in (NUMBER, SIZE):
        return 0
    if term.op is SYMBOL or (term.op.name in ("permute", "select") and term.args[0].op is SYMBOL):
        return 1
    if _is_entry(term):
        return 1.25
    if term.op.name not in ("add", "sub"):
        return 2
    return 1.5 if not term.shape and all(map(_is_name, term.args)) else 3


def _is_entry(term: Term) -> bool:
    """Whether a term is an entry of a symbol at a fixed place."""
    return term.op.name == "getitem" and not term.shape and len(term.args) == 1 and term.args[0].op is SYMBOL


def _in_order(parts: list[tuple[Term, Power]]) -> list[tuple[Term, Power]]:
    """Factors by their places in a product; entries of one array in the order of their indices among themselves."""
    found = sorted(parts, key=_place)
    entries = [k for k, (base, _) in enumerate(found) if _is_entry(base)]
    for array in {found[k][0].args[0] for k in entries}:
        own = [k for k in entries if found[k][0].args[0] is array]
        by_index = sorted((found[k] for k in own), key=lambda part: _index(part[0]))
        for k, part in zip(own, by_index, strict=True):
            found[k] = part
    return found


def _index(entry: Term) -> list[int]:
    return [k if isinstance(k, int) else 0 for k in entry.params["index"].parts]


def _place(part: tuple[Term, Power]) -> tuple[float, str]:
    """Place of a factor in a product; sizes in the order of the alphabet."""
    return rank_of(part[0]), str(part[0].name) if part[0].op is SIZE else ""


def _is_name(term: Term) -> bool:
    """Whether a term of a sum is a number, a scalar's name, a multiple of one, or such a sum."""
    if term.op.name in ("add", "sub", "mul", "neg"):
        return all(map(_is_name, term.args))
    return term.op in (NUMBER, SIZE, SYMBOL)


def powered(base: Term, power: Power) -> Term:
    """``base ** power`` for a positive power; powers of norms along an axis are those of sums of powers."""
    if power == 1:
        return base
    order = base.params["p"] if base.op.name == "norm" and base.ndim and base.args[0].real_dtype else 0
    if power == int(power) and order > 1 and order == order // 1 < math.inf:
        of = base.args[0] if order % 2 == 0 else call_op("abs", base.args[0])
        sums = call_op("sum", call_op("pow", of, number(int(order))), dim=base.params["dim"], keepdim=False)
        return powered(sums, plain_power(Fraction(power) / int(order)))
    return call_op("sqrt", base) if power == _HALVES[0] else call_op("pow", base, number(number_of(power, True)))


def is_guard(base: Term) -> bool:
    """``ratio(1, y)``: one over y, and 0 where y is 0."""
    return base.op.name == "ratio" and base.args[0].number == 1


def _multiplied(terms: Sequence[Term]) -> Term | None:
    out: Term | None = None
    for t in terms:
        out = t if out is None else call_op("mul", out, t)
    return out


def region(parts: Sequence[tuple[Term, Power]], above: Term | None = None) -> Term:
    """The elementwise product of powers as numerator over denominator; ``above`` is a first numerator factor.

    Guarded reciprocals come last: ``ratio(numerator, y)``.
    """
    found: dict[Term, Power] = {}
    for base, power in parts:
        found[base] = found[base] + power if base in found else power
    parts = _one_root([(b, plain_power(x)) for b, p in found.items() for x in _whole_and_half(b, p) if x])
    guards = [x for x in parts if is_guard(x[0])]
    plain = [x for x in parts if not is_guard(x[0])] if guards else parts
    plain = _in_order(plain) if len(plain) > 1 else plain
    over = [powered(b, p) for b, p in plain if p > 0]
    under = _multiplied([powered(b, -p) for b, p in plain if p < 0])
    top = _multiplied([*([above] if above is not None else []), *over])
    if under is not None:
        top = call_op("div", number(1) if top is None else top, under)
    for base, power in guards:
        # ratio(1, y)ᵏ = ratio(1, yᵏ) always.
        top = call_op("ratio", number(1) if top is None else top, powered(base.args[1], power))
    return number(1) if top is None else top


def _whole_and_half(base: Term, power: Power) -> tuple[Power, ...]:
    """The powers of a number that are written: 2√2 and no 2^(3/2)."""
    if base.op is not NUMBER or power.__class__ is not Fraction or power.denominator != 2:
        return (power,)
    half = Fraction(1 if power > 0 else -1, 2)
    return power - half, half


def _one_root(parts: list[tuple[Term, Power]]) -> list[tuple[Term, Power]]:
    """√2·√π as √(2π), for positive constants."""
    halves = [x for x in parts if isinstance(x[1], Fraction) and x[1] in _HALVES]
    roots = [x for x in halves if x[0].op is NUMBER or x[0].name == "pi"]
    found = parts
    for power in _HALVES if len(roots) > 1 else ():
        same = [x for x in roots if x[1] == power]
        whole = _multiplied(sorted((b for b, _ in same), key=lambda b: b.op is not NUMBER))
        if len(same) > 1 and whole is not None:
            found = [(whole, power) if x is same[0] else x for x in found if x not in same[1:]]
    return found


# ---------------------------------------------------------------------------------------------- chains


class Layout:
    """Products and sums as matrix terms; ``symmetric`` tells which matrices need no transpose."""

    def __init__(self, symmetric: Callable[[Term], bool]):
        self.symmetric = symmetric

    def link(self, term: Term, flip: bool) -> Link:
        """A matrix in a chain, with transposes moved into the flag."""
        if is_transpose(term):
            term, flip = term.args[0], not flip
        flip = flip and not (self.symmetric(term) or shows_symmetry(term))
        if flip and term.op.name in ("tril", "triu") and shows_symmetry(term.args[0]):
            # tril(S)ᵀ = triu(S) for symmetric S, always.
            return Link(call_op("triu" if term.op.name == "tril" else "tril", term.args[0], k=-term.params["k"]))
        return Link(term, flip)

    def reverse(self, chain: Chain) -> Chain:
        """The transpose of a chain."""
        return tuple(self.link(x.term, not x.turned) for x in reversed(chain))

    def chain_term(self, chain: Chain) -> Term:
        """The matrix product of a chain without identities, neighbouring inverses under one sign."""
        links = self._collapsed(chain)
        out: Term | None = None
        for x in [x for x in links if x.term is not identity(x.term.shape[0])] or links[:1]:
            piece = turned(x.term) if x.turned else x.term
            out = piece if out is None else matmul(out, piece)
        assert out is not None
        return out

    def _collapsed(self, chain: Chain) -> list[Link]:
        """A⁻¹B⁻¹ = (BA)⁻¹ always; the transposes of two inverses multiply in the other order."""
        links = list(chain)
        k = 0
        while k + 1 < len(links):
            a, b = links[k], links[k + 1]
            if a.term.op.name == b.term.op.name == "inv" and a.turned == b.turned and a.term is not b.term:
                x, y = (a.term.args[0], b.term.args[0]) if a.turned else (b.term.args[0], a.term.args[0])
                links[k : k + 2] = [Link(call_op("inv", matmul(x, y)), a.turned)]
            else:
                k += 1
        return self._powers(links)

    def _powers(self, links: Sequence[Link]) -> list[Link]:
        """Equal neighbours as one power: AA = A², A⁻¹A⁻¹ = A⁻², always."""
        found: list[Link] = []
        for link, run in itertools.groupby(links):
            n = len(list(run))
            if n == 1:
                found.append(link)
            elif link.term.op.name == "inv":
                found.append(Link(call_op("matrix_power", link.term.args[0], n=-n), link.turned))
            else:
                found.append(Link(call_op("matrix_power", counted(link.term), n=n), link.turned))
        return _power_of_pairs(found)

    def applied(self, chain: Chain, vector: Term | None) -> Term:
        """A chain times a vector, or its row sums."""
        if vector is not None:
            for x in reversed(self._collapsed(chain)):
                vector = matmul(turned(x.term) if x.turned else x.term, vector)
            return vector
        *rest, last = chain
        sums = call_op("sum", last.term, dim=(0 if last.turned else 1,), keepdim=False)
        return self.applied(tuple(rest), sums) if rest else sums

    def rotated(self, chain: Chain) -> Chain:
        """The rotation of a cycle, or of its transpose, with the fewest transposes; the first in the alphabet of those.

        tr(AB) = tr(BA) = tr((AB)ᵀ) always.
        """
        both = (chain, self.reverse(chain))
        options = [c[k:] + c[:k] for c in both for k in range(len(c))]

        def rank(c: Chain) -> tuple[Any, ...]:
            quadratic = len(c) > 2 and c[0].term is c[-1].term and c[0].turned != c[-1].turned
            return transposes(c), not quadratic, [x.term.name or "~" for x in c]

        return min(options, key=rank)


def _power_of_pairs(links: list[Link]) -> list[Link]:
    """XᵀXXᵀX = (XᵀX)², always; of an odd chain the last pairs are taken: X(XᵀX)²."""
    for k in range(max(0, len(links) - 3)):
        pair = links[k : k + 2]
        times = next(n for n in itertools.count(1) if links[k + 2 * n : k + 2 * n + 2] != pair)
        follows = links[k + 2 * times : k + 2 * times + 1] == pair[:1]
        gram = len({x.term for x in pair}) == 1
        if times > 1 and pair[0] != pair[1] and not follows and (gram or times > 2):
            both = matmul(*(turned(x.term) if x.turned else x.term for x in pair))
            whole = Link(call_op("matrix_power", both, n=times))
            return [*links[:k], whole, *_power_of_pairs(links[k + 2 * times :])]
    return links


def transposes(chain: Chain) -> int:
    """How many links are transposed."""
    return sum(x.turned for x in chain)
