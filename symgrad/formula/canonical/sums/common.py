"""Factors that terms of a sum have in common: which of them to take out of which terms, and what that saves."""

from __future__ import annotations

import collections
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from symgrad.formula.canonical.normal import Factor, Form, Power, Product
from symgrad.formula.canonical.sums.mirrored import one_sided, partners
from symgrad.formula.term import SIZE, SYMBOL, Term, postorder

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser


class Handle(NamedTuple):
    """How a factor stands in a product: its base, power, and per axis the output axes it is, or () when summed.

    ``scaled`` are those of its axes along which a sum over it is multiplied: z ⊙ Aw is no matrix times a vector.
    """

    base: int
    power: Power
    places: tuple[tuple[int, ...], ...]
    out: tuple[int, ...]
    scaled: frozenset[int]


class Use(NamedTuple):
    """A handle of one factor of one product."""

    handle: Handle
    term: int
    factor: Factor


def best_group(form: Form, run: Canonicaliser, beside: bool) -> list[Use] | None:
    """The uses of the handle that saves most."""
    groups: dict[Handle, dict[int, Use]] = {}
    for use in _uses(form, run):
        groups.setdefault(use.handle, {}).setdefault(use.term, use)
    best, best_saving = None, 0
    mirror = partners(form, run)
    for group in groups.values():
        for uses in _alike(form, list(group.values())) if len(group) > 1 else ():
            if mirror and one_sided(form, [use.term for use in uses], uses[0].factor, mirror, run):
                continue
            saving = _saving(form, uses, run, beside)
            if saving and saving >= best_saving:
                best, best_saving = uses, saving
    return best


def _uses(form: Form, run: Canonicaliser) -> list[Use]:
    found = []
    times = collections.Counter(base for p in form.terms for base in {f.base for f in p.factors})
    for k, p in enumerate(form.terms):
        run.steps -= 1 + len(p.factors)
        counts: dict[int, int] = {}
        for f in p.factors:
            for x in f.labels:
                counts[x] = counts.get(x, 0) + 1
        pattern = tied_axes(p)
        for f in p.factors:
            base = run.ordinal(f.base)
            if times[f.base] < 2:
                continue  # common to no other
            summed = [x for x in f.labels if x not in p.out]
            if len(summed) > 1 or (summed and f.labels.count(summed[0]) > 1):
                continue
            if summed and counts[summed[0]] < 2 and len(f.labels) < 2:
                continue
            places = tuple(tuple(i for i, y in enumerate(p.out) if y == x) for x in f.labels)
            if run.symmetries.symmetric(f.base):
                places = tuple(sorted(places))
            powers: list[Power] = [f.power]
            if not summed:
                # Of x³ and x² the common factor is x²; of x⁻¹ and x⁻² it is x⁻¹, of x⁻¹ᐟ² and x⁻³ᐟ² x⁻¹ᐟ².
                step = 1 if f.power > 0 else -1
                powers = [f.power - step * k for k in reversed(range(math.ceil(abs(float(f.power)))))]
            # A scalar may be taken out of a matrix and out of a multiple of the identity, as one.
            shape = pattern if f.labels else ()
            met = {x for x in f.labels if counts[x] > 1} if summed else set()
            scaled = frozenset(i for i, x in enumerate(p.out) if x in met)
            found += [Use(Handle(base, q, places, shape, scaled), k, Factor(f.base, f.labels, q)) for q in powers[-12:]]
    return found


def tied_axes(p: Product) -> tuple[int, ...]:
    """Which output axes a delta makes one: for each the first that it equals."""
    return tuple(p.out.index(x) for x in p.out)


def _alike(form: Form, group: list[Use]) -> Iterator[list[Use]]:
    """A group, and the part of it whose rests do not vary along the axis of a vector: x in xxᵀA + xxᵀAᵀ + diag(x)A."""
    yield group
    factor, p = group[0].factor, form.terms[group[0].term]
    if len(group) > 2 and len(factor.labels) == 1 < len(form.shape) and factor.labels[0] in p.out:
        part = [use for use in group if not _varies(form.terms[use.term], use)]
        if 1 < len(part) < len(group):
            yield part


def _saving(form: Form, group: Sequence[Use], run: Canonicaliser, beside: bool) -> int:
    """Nodes saved by taking a factor out, less the bracket; 0 where a bare number would stay in the bracket."""
    factor = group[0].factor
    weight = 2 * (1 + (factor.power not in (1, -1)) + len(factor.labels)) + (factor.power != 1)
    weight += 2 * (not factor.labels and bool(factor.base.args))
    if len(rest_axes(form, group)) > max(2, len(form.shape)):
        return 0  # an array of higher order has no matrix notation
    bare = 0
    for use in group:
        p = form.terms[use.term]
        (own,) = [f for f in p.factors if f.base is factor.base and f.labels == use.factor.labels][:1]
        if own.power == factor.power and len(p.factors) == 1:
            bare += len(set(p.out)) == len(p.out)  # what is left of a multiple of the identity is the identity
        elif own.power == factor.power + (1 if factor.power > 0 else -1) != factor.power and abs(factor.power) == 1:
            weight -= 1
    counts = bool(bare) and _counts(form, group)
    if (
        bare
        and (factor.base.op in (SYMBOL, SIZE) or abs(factor.power) != 1 or bare == len(group))
        and not factor.labels
        and not counts
        and not (beside and len(group) == len(form.terms))  # k(m - mx) is km(1 - x)
        and not (factor.power == -1 and len(group) - bare > 1)  # (1 - s - t)/n
    ):
        return 0
    sums = [any(x not in form.terms[use.term].out for x in use.factor.labels) for use in group]
    alone = [_row_sum(form.terms[use.term], use.factor) for use in group] if sums[0] else []
    if any(alone) and (all(alone) or (factor.base.op is SYMBOL and _makes_differences(form, group))):
        return 0
    if sums[0] and len(factor.labels) == 1 and len(rest_axes(form, group)) > 1:
        shared = set[Any].intersection(*(_vectors_along(form.terms[use.term], use) for use in group))
        weights = [_weights(form.terms[use.term], use, shared) for use in group]
        if all(weights) or any(use.factor.labels[0] in w for use, w in zip(group, weights, strict=True)):
            return 0  # Wᵀ(a ⊙ c) + Vᵀ(b ⊙ c) stays, not (diag(a)W + diag(b)V)ᵀc
    if not sums[0] and len(factor.labels) == 1 < len(form.shape):
        # x(Uᵀx)ᵀ - diag(x)²U stays: diag(x) in front would leave a column of ones in the bracket.
        varying = [_varies(form.terms[use.term], use) for use in group]
        if any(varying) and not all(varying) and not _stands_elsewhere(form, group, run):
            return 0
    if not sums[0] and len(set(factor.labels)) == 2 and _sums_itself(form, group):
        return 0  # P ⊙ A - diag((A ⊙ P)1)P stays, not P ⊙ (A - (A ⊙ P)11ᵀ)
    # x - a ⊙ x stays, x - cx is (1 - c)x, X - diag(a)X is diag(1 - a)X, and b ⊙ (x - a ⊙ x) is b ⊙ x ⊙ (1 - a).
    kept = bare and factor.labels and _is_named(factor.base) and not sums[0]
    kept = kept and not (beside and len(group) == len(form.terms))
    if kept and rest_axes(form, group) == sorted({form.terms[group[0].term].out.index(x) for x in factor.labels}):
        return 0
    # s(a + b) - s(c + d) + x is s(a + b - c - d) + x: there is a bracket already.
    open_already = all(_is_bracket(others(form.terms[use.term], use), run) for use in group)
    bracket = 2 * (len(group) < len(form.terms) and not counts and not open_already)
    return weight * (len(group) - 1) - bracket


def _is_named(base: Term) -> bool:
    """Whether an array is a symbol, or a range of one."""
    return base.op is SYMBOL or (base.op.name in ("getitem", "narrow") and base.args[0].op is SYMBOL)


def _is_bracket(factors: Sequence[Factor], run: Canonicaliser) -> bool:
    return len(factors) == 1 and factors[0].power == 1 and factors[0].base in run.insides


def _makes_differences(form: Form, group: Sequence[Use]) -> bool:
    """Whether the rests vary along one axis each, and not the same: a ⊙ W1 - Wb stays, not (W ⊙ (a1ᵀ - 1bᵀ))1."""
    rests = [{x for f in others(form.terms[use.term], use) for x in f.labels} for use in group]
    return len(rest_axes(form, group)) > 1 and all(len(labels) < 2 for labels in rests)


def _counts(form: Form, group: Sequence[Use]) -> bool:
    """Whether sizes and numbers are all that stands beside a scalar: ns - s is (n - 1)s."""
    rests = [f for use in group for f in others(form.terms[use.term], use)]
    return group[0].factor.base.op is not SIZE and bool(rests) and all(f.base.op is SIZE for f in rests)


def _sums_itself(form: Form, group: Sequence[Use]) -> bool:
    """Whether a matrix is weighed by rows or columns that are sums over the matrix itself, and by matrices."""
    rests = [(others(form.terms[use.term], use), form.terms[use.term].out) for use in group]
    along = [{x for f in rest for x in f.labels if x in out} for rest, out in rests]
    bases = {f.base for (rest, _), axes in zip(rests, along, strict=True) if len(axes) == 1 for f in rest}
    return any(len(axes) == 2 for axes in along) and group[0].factor.base in postorder(bases)


def _stands_elsewhere(form: Form, group: Sequence[Use], run: Canonicaliser) -> bool:
    """Whether the bracket that taking a factor out would make is one that the formula has: X - 1mᵀ."""
    axes = rest_axes(form, group)
    alike = [use for use in group if not _varies(form.terms[use.term], use)]
    means = any(len(others(form.terms[use.term], use)) > 1 for use in alike)
    if means or len(axes) > len(form.shape) or -1 in axes:
        return False
    rests = [rest_of(form.terms[use.term], use, axes) for use in group]
    return run.has_bracket(Form(rests, tuple(form.shape[axis] for axis in axes)))


def _varies(p: Product, use: Use) -> bool:
    """Whether a product without a factor still varies along the axis of that factor, or is diagonal in it."""
    label = use.factor.labels[0]
    return p.out.count(label) > 1 or any(label in f.labels for f in others(p, use))


def _vectors_along(p: Product, use: Use) -> set[tuple[Any, Any]]:
    """The other vectors of a product along the axis of one that is taken out, and their powers."""
    return {(f.base, f.power) for f in others(p, use) if f.labels == use.factor.labels}


def _weights(p: Product, use: Use, shared: set[tuple[Any, Any]]) -> set[int]:
    """The summed labels where a product without a factor has vectors beside matrices: each would be a diagonal.

    Those that all products have along the axis of the factor are taken out next, and do not count.
    """
    rest = others(p, use)
    vectors = {x for f in rest if len(f.labels) == 1 and (f.base, f.power) not in shared for x in f.labels}
    matrices = collections.Counter(x for f in rest if len(f.labels) > 1 for x in {*f.labels})
    return {x for x in vectors - {*p.out} if matrices[x] > (x not in use.factor.labels)}


def _row_sum(p: Product, factor: Factor) -> bool:
    """Whether nothing meets the summed axis of a factor: what is left is a sum along it."""
    summed = [x for x in factor.labels if x not in p.out]
    return sum(x == summed[0] for f in p.factors for x in f.labels) < 2


def outer_label(p: Product, use: Use, axis: int) -> int:
    """The label of an output axis, or for -1 the summed one of the factor."""
    if axis >= 0:
        return p.out[axis]
    return next(x for x in use.factor.labels if x not in p.out)


def rest_axes(form: Form, group: Sequence[Use]) -> list[int]:
    """Axes of the rests: output axes that a rest varies along, and -1 for the summed one."""
    wanted: set[int] = set()
    for use in group:
        p = form.terms[use.term]
        inside = {x for f in others(p, use) for x in f.labels}
        wanted |= {p.out.index(x) for x in p.out if x in inside}
        pattern_extra = [k for k, x in enumerate(p.out) if p.out.count(x) > 1 and x not in use.factor.labels]
        wanted |= {p.out.index(p.out[k]) for k in pattern_extra}
    axes = sorted(wanted)
    p = form.terms[group[0].term]
    return axes + ([-1] if any(x not in p.out for x in group[0].factor.labels) else [])


def others(p: Product, use: Use) -> list[Factor]:
    """The factors without the one taken out; a higher power leaves the difference."""
    out = list(p.factors)
    k = next(k for k, f in enumerate(out) if f.base is use.factor.base and f.labels == use.factor.labels)
    rest = out[k].power - use.factor.power
    out[k : k + 1] = [Factor(out[k].base, out[k].labels, rest)] if rest else []
    return out


def rest_of(p: Product, use: Use, axes: Sequence[int]) -> Product:
    """The product of the others along some axes."""
    out = tuple(outer_label(p, use, axis) for axis in axes)
    return Product(p.coef, others(p, use), out, p.decimal)
