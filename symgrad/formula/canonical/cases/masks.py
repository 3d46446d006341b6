"""Products with truth values and signs: where a factor is 0 anyway nothing has to say so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.normal import Factor, Form, Product, plain_power
from symgrad.op import lookup

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser


def unmasked(p: Product) -> Product:
    """relu(u)·[u > 0] = relu(u), always."""
    said = [f for f in p.factors if f.base.op.name in ("gt", "ge") and any(_is_relu_of(g, f) for g in p.factors)]
    return p.without(*said) if said else p


def _is_relu_of(g: Factor, mask: Factor) -> bool:
    u, bound = mask.base.args
    return g.base.op.name == "relu" and g.base.args[0] is u and g.labels == mask.labels and bound.number == 0 < g.power


def unclipped(p: Product, run: Canonicaliser) -> Product:
    """clip(u, a, b)·[a ≤ u ≤ b] = u·[a ≤ u ≤ b], always."""
    for m in p.factors:
        sides = {x.op.name: x.args for x in m.base.args} if m.base.op.name == "logical_and" else {}
        for g in p.factors if set(sides) == {"ge", "le"} else ():
            (u, a), (v, b) = sides["ge"], sides["le"]
            known = g.base.op.name == "clamp" and g.base in run.arguments and g.labels == m.labels
            if not known or g.base.args != (u, a, b) or u is not v or g.power != int(g.power) or g.power < 1:
                continue
            inner = run.product(run.arguments[g.base][0])
            if inner.elementwise and len(inner.out) == len(g.labels):
                return p.exchanged([g], inner, g.power)
    return p


def positive_relu(run: Canonicaliser, args: Sequence[Form], shape: tuple[Any, ...]) -> Form | None:
    """[relu(u) > 0] and [relu(u) ≠ 0] are [u > 0], always."""
    p = args[0].only
    f = p.factors[0] if p is not None and len(p.factors) == 1 else None
    if p is None or f is None or f.base.op.name != "relu" or f.base not in run.arguments or p.coef <= 0:
        return None
    if sorted(f.labels) != sorted(p.out) or len(set(p.out)) < len(p.out) or f.power < 1:
        return None
    inner = run.arguments[f.base][0].restricted([f.labels.index(x) for x in p.out])
    return run.elementwise(lookup("gt"), [inner, args[1]], {}, shape)


def signed_powers(p: Product, run: Canonicaliser) -> Product:
    """xᵏ·sign(x) = xᵏ⁻¹·|x| for real x and k > 0, always."""
    for f in p.factors:
        if f.base.op.name != "sign" or f.power != 1 or f.base.dtype is None or f.base.dtype.kind == "c":
            continue
        for g in p.factors:
            if g.base is not f.base.args[0] or g.labels != f.labels or g.power != int(g.power) or g.power < 1:
                continue
            size = run.elementwise(lookup("abs"), [run.opaque(g.base)], {}, g.base.shape).terms[0]
            if len(size.factors) != 1 or size.coef != 1:
                continue
            names = dict(zip(size.out, g.labels, strict=True))
            (whole,) = size.factors
            new = [Factor(g.base, g.labels, plain_power(g.power - 1))] if g.power > 1 else []
            new.append(Factor(whole.base, tuple(names[x] for x in whole.labels), whole.power))
            rest = p.beside(f, g)
            return p.with_factors([*rest, *new])
    return p
