"""Rewrites of products and functions, each with the condition under which it holds.

A rewrite sees opaque factors only by their op, arguments and labels, so every rule is a local look-up.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.cases.guards import without_guards
from symgrad.formula.canonical.cases.masks import positive_relu, signed_powers, unclipped, unmasked
from symgrad.formula.canonical.entries.columns import among_zeros
from symgrad.formula.canonical.entries.places import one_label
from symgrad.formula.canonical.entries.slices import entries_of_others, sums_of_placed, unit_place
from symgrad.formula.canonical.matrices.commuting import in_order
from symgrad.formula.canonical.matrices.diagonals import on_diagonals
from symgrad.formula.canonical.matrices.exponentials import adjoint_directions, second_directions
from symgrad.formula.canonical.matrices.inverses import inverses_together, without_inverses
from symgrad.formula.canonical.matrices.kronecker import mixed_products
from symgrad.formula.canonical.matrices.pseudoinverses import penrose
from symgrad.formula.canonical.matrices.spectra import orthogonal_axes, without_singular_vectors, without_spectra
from symgrad.formula.canonical.matrices.triangles import halves_of_symbols, without_cholesky, without_implied
from symgrad.formula.canonical.normal import Factor, Form, Product, constant_form, plain_power, size_factors
from symgrad.formula.canonical.scalars.identities import logistic_quotient
from symgrad.formula.canonical.scalars.imaginary import (
    conjugate,
    conjugate_pairs,
    conjugate_sums,
    part,
    phases,
    unit_powers,
)
from symgrad.formula.canonical.scalars.meetings import without_root
from symgrad.formula.canonical.scalars.numerals import with_whole_parts
from symgrad.formula.canonical.scalars.powers import gathered_powers, norms_together, powers_of_logs, roots_of_products
from symgrad.formula.canonical.sums.quotients import without_own_sums
from symgrad.formula.canonical.sums.shifts import logsumexp, split
from symgrad.formula.term import Term
from symgrad.op import Op, lookup

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser

Rewrite = Callable[[Product, "Canonicaliser"], Product]


# ---------------------------------------------------------------------------------------------- products


def merged(p: Product, run: Canonicaliser) -> Product:
    """A product after all rewrites of factors."""
    run.steps -= 1 + len(p.factors)
    p = once = run.symmetries.upright(on_diagonals(_powers(p, run), run))
    names = {f.base.op.name for f in p.factors}
    for ops, rewrite in _REWRITES:
        if not ops.isdisjoint(names):
            p = rewrite(p, run)
    if any(orthogonal_axes(f.base) for f in p.factors):
        p = without_singular_vectors(without_spectra(p, run), run)
    if any(f.power < 0 for f in p.factors):
        p = _softmax(_logistic(without_own_sums(p, run), run), run)
        names = {f.base.op.name for f in p.factors}
    for ops, rewrite in _LATER_REWRITES:
        if not ops.isdisjoint(names):
            p = rewrite(p, run)
    return p if p is once else _powers(p, run)


def _powers(p: Product, run: Canonicaliser) -> Product:
    """Equal factors become powers.  x·x⁻¹ = 1 holds where x ≠ 0; √x·√x = x where x ≥ 0; [c]² = [c] always."""
    found: dict[Any, Factor] = {}
    for f in p.factors:
        labels = tuple(sorted(f.labels)) if run.symmetries.symmetric(f.base) else f.labels
        old = found.get((f.base, labels))
        power = f.power if old is None else plain_power(old.power + f.power)
        if power > 1 and f.base.dtype is not None and f.base.dtype.kind == "b":
            power = 1
        same = old is None and power == f.power
        found[(f.base, labels)] = f if same else Factor(f.base, f.labels if old is None else old.labels, power)
    left = [f for f in found.values() if f.power]
    same = len(left) == len(p.factors) and all(map(operator.is_, left, p.factors))
    return p if same else p.replaced(list(p.factors), left)


def _probabilities(p: Product) -> Product:
    """Σ softmax = 1 along its axis, always, and so is the sum of a unit vector and of a one-hot row of labels."""
    for f in p.factors:
        if (f.base.op.name in ("softmax", "one_hot") or unit_place(f.base) is not None) and f.power == 1:
            label = f.labels[f.base.params.get("dim", -1)]
            uses = sum(x == label for g in p.factors for x in g.labels)
            if uses == 1 and label not in p.out:
                # Only the summed axis goes without a size factor: the entries along it add up to one.
                rest = Product(p.coef, p.beside(f), (*p.out, label), p.decimal)
                others = {x for g in rest.factors for x in g.labels} | set(rest.out)
                coef, factors = rest.coef, list(rest.factors)
                for x, size in zip(f.labels, f.base.shape, strict=True):
                    if x not in others:
                        scale, letters = size_factors(size)
                        coef, factors = coef * scale, [*letters, *factors]
                return _probabilities(Product(coef, factors, p.out, p.decimal))
    return p


def _one_plus_exp(base: Term, run: Canonicaliser) -> Form | None:
    """v, when ``base`` is 1 + e^v."""
    inside = run.insides.get(base)
    return None if inside is None else one_plus_exp(inside, run)


def one_plus_exp(form: Form, run: Canonicaliser) -> Form | None:
    """v, when a form is 1 + e^v."""
    if len(form.terms) != 2 or any(p.coef != 1 for p in form.terms):
        return None
    first, second = form.terms
    if second.constant:
        first, second = second, first
    return exponent(second, len(form.shape), run) if first.constant else None


def exponent(p: Product, ndim: int, run: Canonicaliser) -> Form | None:
    """v, when a product is e^v along all its axes."""
    if p.coef != 1 or len(p.factors) != 1:
        return None
    f = p.factors[0]
    if (
        f.base.op.name != "exp"
        or sorted(f.labels) != sorted(p.out)
        or len(set(p.out)) != ndim
        or f.base not in run.arguments
    ):
        return None
    v = run.arguments[f.base][0].restricted(tuple(f.labels.index(x) for x in p.out))
    return v.scaled(f.power)


def _logistic(p: Product, run: Canonicaliser) -> Product:
    """1/(1 + e^v) = σ(-v) and e^v/(1 + e^v) = σ(v), always."""
    for f in p.factors:
        if f.power >= 0 or f.power != int(f.power):
            continue
        v = _one_plus_exp(f.base, run)
        if v is None:
            continue
        count = -int(f.power)
        up = next(
            (g for g in p.factors if g.base.op.name == "exp" and g.power > 0 and _same_exponent(g, f, v, run)), None
        )
        used = min(count, int(up.power)) if up is not None and up.power == int(up.power) else 0
        new = []
        if used:
            new.append((v, used))
        if count > used:
            new.append((v.scaled(-1), count - used))
        factors = [_function_factor(run, "sigmoid", u, f.labels, k) for u, k in new]
        old = [f]
        if used and up is not None:
            old.append(up)
            if up.power > used:
                factors.append(Factor(up.base, up.labels, plain_power(up.power - used)))
        return _logistic(p.replaced(old, factors), run)
    return p


def _same_exponent(g: Factor, f: Factor, v: Form, run: Canonicaliser) -> bool:
    if sorted(g.labels) != sorted(f.labels) or g.base not in run.arguments:
        return False
    u = run.arguments[g.base][0].restricted(tuple(g.labels.index(x) for x in f.labels))
    return run.same(u, v)


def _multiple(g: Factor, f: Factor, v: Form, run: Canonicaliser) -> Fraction:
    """c, when a factor is e^(cv); 0 where it is not."""
    if g.base.op.name != "exp" or sorted(g.labels) != sorted(f.labels) or g.base not in run.arguments:
        return Fraction(0)
    u = run.arguments[g.base][0].restricted(tuple(g.labels.index(x) for x in f.labels))
    if not u.terms or len(u.terms) != len(v.terms):
        return Fraction(0)
    c = next((Fraction(p.coef) / v.terms[0].coef for p in u.terms if run.key(p) == run.key(v.terms[0])), Fraction(0))
    return c * g.power if c and run.same(u, v.scaled(c)) else Fraction(0)


def _function_factor(run: Canonicaliser, name: str, v: Form, labels: tuple[int, ...], power: Any) -> Factor:
    """``name(v) ** power`` as a factor with the labels of ``v``'s axes."""
    (p,) = run.elementwise(lookup(name), [v], {}, v.shape).terms
    (f,) = p.factors
    return Factor(f.base, tuple(labels[p.out.index(x)] for x in f.labels), power)


def _softmax(p: Product, run: Canonicaliser) -> Product:
    """e^u / Σe^u = softmax(u), always."""
    for f in p.factors:
        if (
            f.base.op.name != "sum"
            or f.power >= 0
            or f.power != int(f.power)
            or f.base.args[0].op.name != "exp"
            or len(f.base.params["dim"]) != 1
        ):
            continue
        dim = f.base.params["dim"][0]
        for g in p.factors:
            if (
                g.base is f.base.args[0]
                and g.power == 1
                and tuple(x for k, x in enumerate(g.labels) if k != dim) == f.labels
            ):
                made = lookup("softmax")(_without_shift(g.base, dim, run), dim=dim)
                left = [Factor(f.base, f.labels, plain_power(f.power + 1))] if f.power != -1 else []
                return _softmax(p.replaced([f, g], [Factor(made, g.labels), *left]), run)
    return p


def _without_shift(e: Term, dim: int, run: Canonicaliser) -> Term:
    """u of e^u, without what has one value along an axis."""
    parts = [x for form in run.arguments.get(e, ()) if form.shape == e.shape for x in split(form, dim) or ()]
    return run.term(parts[0]) if parts else e.args[0]


def _complements(p: Product, run: Canonicaliser) -> Product:
    """σ(v)·σ(-v) = σ(v)·(1 - σ(v)), always: the form that σ's own derivative has."""
    sigmoids = [f for f in p.factors if f.base.op.name == "sigmoid" and f.base in run.arguments]
    for f in sigmoids:
        v = run.arguments[f.base][0]
        for g in p.factors if f.power >= 1 and f.power == int(f.power) else ():
            times = _multiple(g, f, v.scaled(-1), run)
            if times >= 1 and times == int(times):
                # e^(kv)·σ(-v)ᵏ = σ(v)ᵏ, always.
                both = min(int(times), int(f.power))
                new = [_function_factor(run, "sigmoid", v.scaled(-1), f.labels, both)]
                if f.power > both:
                    new.append(Factor(f.base, f.labels, plain_power(f.power - both)))
                if times > both:
                    new.append(_function_factor(run, "exp", v.scaled(-(times - both)), f.labels, 1))
                return merged(p.replaced([f, g], new), run)
    for k, f in enumerate(sigmoids):
        v = run.arguments[f.base][0]
        for g in sigmoids[k + 1 :]:
            if f.base is g.base or f.power <= 0 or g.power <= 0:
                continue
            if sorted(f.labels) != sorted(g.labels):
                continue
            w = run.arguments[g.base][0].restricted(tuple(g.labels.index(x) for x in f.labels))
            if run.same(v, w.scaled(-1)):
                keep, drop = (f, g) if v.terms[0].coef > 0 else (g, f)
                one = Product(1, (), tuple(range(len(v.shape))))
                minus = Product(-1, [Factor(keep.base, tuple(range(len(v.shape))))], tuple(range(len(v.shape))))
                rest = run.atom(Form([one, minus], keep.base.shape), inner=True)
                labels = tuple(keep.labels[x] for x in rest.labels)
                return _complements(p.replaced([drop], [Factor(rest.base, labels, drop.power)]), run)
    return p


def _complemented(f: Factor, run: Canonicaliser) -> tuple[Factor, Any] | None:
    """σ(v) and c, when a factor is a power of c(1 - σ(v)) for c = ±1."""
    inside = run.insides.get(f.base)
    if inside is None or f.power < 1 or len(inside.terms) != 2:
        return None
    one, other = inside.terms if inside.terms[0].constant else inside.terms[::-1]
    alone = len(other.factors) == 1 and not other.has_delta
    if not one.constant or abs(one.coef) != 1 or other.coef != -one.coef or not alone:
        return None
    s = other.factors[0]
    if s.base.op.name != "sigmoid" or s.base not in run.arguments or sorted(s.labels) != sorted(other.out):
        return None
    return Factor(s.base, tuple(f.labels[other.out.index(x)] for x in s.labels)), one.coef


def _beside_complements(p: Product, run: Canonicaliser) -> Product:
    """e^v·(1 - σ(v)) = σ(v), the same with both signs turned, and 4σ(2v)·(1 - σ(2v)) = 1 - tanh²v, always."""
    for f in p.factors:
        found = _complemented(f, run)
        if found is None:
            continue
        here, sign = found
        v = run.arguments[here.base][0]
        left = [Factor(f.base, f.labels, plain_power(f.power - 1))] if f.power != 1 else []
        for g in p.factors:
            times = _multiple(g, here, v, run)
            if times >= 1 and times == int(times):
                more = [_function_factor(run, "exp", v.scaled(times - 1), f.labels, 1)] if times > 1 else []
                return merged(p.replaced([f, g], [here, *left, *more]).scaled(sign), run)
            if g == here and not left and p.coef % 4 == 0 and all(q.coef % 2 == 0 for q in v.terms):
                slope = _tanh_slope(run, v.scaled(Fraction(1, 2)), here.labels)
                return merged(p.replaced([f, g], [slope]).scaled(Fraction(sign, 4)), run)
    return p


def _tanh_slope(run: Canonicaliser, v: Form, labels: tuple[int, ...]) -> Factor:
    """1 - tanh²v as a factor."""
    square = run.power(run.elementwise(lookup("tanh"), [v], {}, v.shape), 2)
    slope = run.atom(run.plus([constant_form(1), square], (1, -1), v.shape), inner=True)
    return Factor(slope.base, tuple(labels[x] for x in slope.labels))


def _signs(p: Product, run: Canonicaliser) -> Product:
    """|x|·sign(x) = x always, sign(x)/|x| = 1/x for real x ≠ 0, and |x|²ᵏ = x²ᵏ for real x."""
    for f in p.factors:
        if f.base.op.name != "abs" or f.base not in run.arguments:
            continue
        inner = run.product(run.arguments[f.base][0])
        if inner.coef != 1 or len(set(inner.out)) < len(inner.out) or len(inner.out) != len(f.labels):
            continue
        for g in p.factors:
            same = g.base.op.name == "sign" and g.base.args[0] is f.base.args[0] and g.labels == f.labels
            if same and g.power == 1 and f.power >= 1:
                rest = [Factor(f.base, f.labels, plain_power(f.power - 1))] if f.power > 1 else []
                return merged(p.exchanged([f, g], inner, beside=rest), run)
            if same and g.power == 2 and f.power < 0 and not g.base.args[0].complex_dtype:
                # sign(x)²/|x|ᵏ = 1/|x|ᵏ for real x and k > 0, where x is not 0.
                return merged(p.replaced([g]), run)
            odd = f.power < 0 and f.power % 2 == 1
            if same and g.power == 1 and inner.elementwise and odd and not g.base.args[0].complex_dtype:
                # sign(x)/|x|ᵏ = 1/xᵏ for odd k and real x, where x is not 0.
                return merged(p.exchanged([f, g], inner, f.power), run)
            turned = g.base.op.name == "conj" and g.base.args[0].op.name == "sign" and g.labels == f.labels
            if turned and g.base.args[0].args[0] is f.base.args[0] and g.power == 1 and f.power < 0:
                # conj(sign(z))/|z|ᵏ = 1/(z |z|ᵏ⁻¹) where z is not 0.
                z = run.atom(run.arguments[f.base][0], inner=True)
                below = [Factor(z.base, tuple(f.labels[x] for x in z.labels), -1)]
                rest = [Factor(f.base, f.labels, plain_power(f.power + 1))] if f.power != -1 else []
                return merged(p.replaced([f, g], [*below, *rest]), run)
        if inner.elementwise and f.power % 2 == 0 and f.power > 0 and not f.base.args[0].complex_dtype:
            return merged(p.exchanged([f], inner, f.power), run)
    return p


_TANGENTS = (("sin", "cos", "tan"), ("sinh", "cosh", "tanh"))


def _quotients(p: Product, run: Canonicaliser) -> Product:
    """sin/cos = tan, cos·tan = sin, cos/sin = 1/tan and the same of sinh, cosh, tanh, wherever both are defined."""
    for names in _TANGENTS:
        groups: dict[Any, dict[str, Factor]] = {}
        for f in p.factors:
            if f.base.op.name in names and f.power == int(f.power) and f.base in run.arguments:
                groups.setdefault((f.base.args[0], f.labels), {})[f.base.op.name] = f
        for (_, labels), found in groups.items():
            own = [found[n].power if n in found else 0 for n in names]
            sine, cosine = int(own[0] + own[2]), int(own[1] - own[2])
            times = min(sine, -cosine) if sine > 0 > cosine else sine if sine == -cosine else 0
            best = [sine - times, cosine + times, times]
            if len(found) > 1 and best != own:
                v = run.arguments[next(iter(found.values())).base][0]
                new = [_function_factor(run, n, v, labels, k) for n, k in zip(names, best, strict=True) if k]
                return _quotients(p.replaced(list(found.values()), new), run)
    return p


def _exponentials(p: Product, run: Canonicaliser) -> Product:
    """e^v·e^(-v) = 1 and e^(cv)·e^v = e^((c+1)v), always."""
    found = [f for f in p.factors if f.base.op.name == "exp" and f.base in run.arguments]
    for k, f in enumerate(found):
        v = run.arguments[f.base][0]
        for g in found[k + 1 :]:
            if _same_exponent(g, f, v.scaled(-1), run):
                rest = plain_power(f.power - g.power)
                keep = Factor(f.base, f.labels, rest) if rest > 0 else Factor(g.base, g.labels, -rest)
                return _exponentials(p.replaced([f, g], [keep] if rest else []), run)
            c = _multiple(g, f, v, run)
            if c and f.base is not g.base:
                both = [_function_factor(run, "exp", v.scaled(f.power + c), f.labels, 1)] if f.power + c else []
                return _exponentials(p.replaced([f, g], both), run)
    return p


def _alone(rewrite: Callable[[Product], Product]) -> Rewrite:
    return lambda p, _: rewrite(p)


_REWRITES: tuple[tuple[frozenset[str], Rewrite], ...] = (
    (frozenset({"number"}), _alone(with_whole_parts)),
    (frozenset({"number"}), _alone(unit_powers)),
    (frozenset({"exp"}), _exponentials),
    (frozenset({"exp"}), logistic_quotient),
    (frozenset({"cosh", "cos", "tanh", "tan"}), _quotients),
    (frozenset({"inv", "matrix_exp"}), in_order),
    (frozenset({"pinv"}), penrose),
    (frozenset({"inv"}), lambda p, run: inverses_together(without_inverses(p, run), run)),
    (frozenset({"inv", "cholesky"}), without_cholesky),
    (frozenset({"tril", "triu"}), lambda p, run: halves_of_symbols(without_implied(p, run), run)),
    (frozenset({"put"}), lambda p, run: sums_of_placed(entries_of_others(p), run)),
    (frozenset({"cat"}), among_zeros),
    (frozenset({"matrix_exp_frechet"}), adjoint_directions),
    (frozenset({"narrow"}), second_directions),
    (frozenset({"one_hot"}), _alone(one_label)),
    (frozenset({"softmax", "one_hot", "put"}), _alone(_probabilities)),
    (frozenset({"reshape"}), mixed_products),
)
"""Rewrites of products in which one of some ops stands."""

_LATER_REWRITES: tuple[tuple[frozenset[str], Rewrite], ...] = (
    (frozenset({"exp", "sigmoid"}), _beside_complements),
    (frozenset({"sigmoid"}), _complements),
    (frozenset({"ratio"}), without_guards),
    (frozenset({"gt", "ge", "sign"}), lambda p, run: signed_powers(unmasked(p), run)),
    (frozenset({"clamp"}), unclipped),
    (frozenset({"sign", "abs"}), _signs),
    (frozenset({"conj"}), lambda p, run: conjugate_sums(phases(conjugate_pairs(p, run), run), run)),
    (frozenset({"pow"}), gathered_powers),
    (frozenset({"mul"}), roots_of_products),
    (frozenset({"norm"}), _alone(norms_together)),
)
"""The same after quotients have become functions."""


# ---------------------------------------------------------------------------------------------- functions


def simpler_function(run: Canonicaliser, op: Op, args: Sequence[Form], shape: tuple[Any, ...]) -> Form | None:
    """A shorter form of ``op(args)``, or None."""
    rule = _FUNCTIONS.get(op.name)
    found = None if rule is None else rule(run, op, args, shape)
    if found is None and op.parity and args[0].terms and all(p.coef < 0 for p in args[0].terms):
        # f(-x) = -f(x) for odd and f(x) for even functions, always.
        found = run.elementwise(op, [args[0].scaled(-1)], {}, shape).scaled(-1 if op.parity == "odd" else 1)
    return found


def _of_alike(run: Canonicaliser, _: Op, args: Sequence[Form], shape: tuple[Any, ...]) -> Form | None:
    """What both sides of "and" and "or" say."""
    one, other = (a.broadcast(shape) for a in args)
    return one if run.same(one, other) else None


def _of_relu(run: Canonicaliser, _: Op, args: Sequence[Form], shape: tuple[Any, ...]) -> Form | None:
    return None if args[1].terms else positive_relu(run, args, shape)


def _step(run: Canonicaliser, op: Op, args: Sequence[Form], shape: tuple[Any, ...]) -> Form | None:
    """Heaviside's function is one of the difference, which may be short: τu > (τ - 1)u is u > 0.

    That of -u is 1 less that of u, at 0 too, beside one of u.
    """
    if args[1].terms:
        difference = run.settled(run.plus(args, (1, -1), shape))
        if not 0 < len(difference.terms) <= max(len(a.terms) for a in args):
            return None
        p = run.product(difference)
        whole = Form([Product(1 if p.coef > 0 else -1, p.factors, p.out)], shape)
        return run.elementwise(op, [whole, Form((), shape)], {}, shape)
    if args[0].terms and run.stepped(args[0]):
        other = run.elementwise(op, [args[0].scaled(-1), args[1]], {}, shape)
        return run.plus([constant_form(1), other], (1, -1), shape)
    return None


def _erfc(run: Canonicaliser, _: Op, args: Sequence[Form], __: tuple[Any, ...]) -> Form | None:
    """erfc(-u/√2) = 2Φ(u), always."""
    u = without_root(args[0].scaled(-1), run) if args[0].terms else None
    return None if u is None else run.elementwise(lookup("ndtr"), [u], {}, u.shape).scaled(2)


def _of_multiple(run: Canonicaliser, op: Op, args: Sequence[Form], shape: tuple[Any, ...]) -> Form | None:
    """|cx| = |c||x| and sign(cx) = sign(c)sign(x), always."""
    c = args[0].terms[0].coef if len(args[0].terms) == 1 else 1
    if c == 1 or not args[0].terms[0].factors:
        return None
    inner = run.elementwise(op, [args[0].scaled(Fraction(1) / c)], {}, shape)
    return inner.scaled((c if c > 0 else -c) if op.name == "abs" else 1 if c > 0 else -1)


_FUNCTIONS: dict[str, Callable[[Canonicaliser, Op, Sequence[Form], tuple[Any, ...]], Form | None]] = {
    "exp": lambda run, op, args, shape: _exp(run, args[0]),
    "log": lambda run, op, args, shape: _log(run, args[0]),
    "conj": lambda run, op, args, shape: conjugate(run, args[0]),
    "real": lambda run, op, args, shape: part(run, op, args[0]),
    "imag": lambda run, op, args, shape: part(run, op, args[0]),
    "logical_and": _of_alike,
    "logical_or": _of_alike,
    "gt": _of_relu,
    "ne": _of_relu,
    "step": _step,
    "erfc": _erfc,
    "abs": _of_multiple,
    "sign": _of_multiple,
}


def _single(form: Form, name: str) -> Factor | None:
    """The factor of a form that is one call of ``name`` along all its axes."""
    if len(form.terms) != 1:
        return None
    p = form.terms[0]
    if p.coef != 1 or len(p.factors) != 1 or p.factors[0].power != 1 or p.factors[0].base.op.name != name:
        return None
    whole = sorted(p.factors[0].labels) == sorted(p.out) and len(set(p.out)) == len(p.out)
    return p.factors[0] if whole else None


def _exp(run: Canonicaliser, form: Form) -> Form | None:
    """e^0 = 1; e^(log x) = x where x > 0; e^(log softmax) = softmax and e^(x - logsumexp x) = softmax x, always."""
    ndim = len(form.shape)
    if not form.terms:
        return Form([Product(1, (), tuple(range(ndim)))], form.shape)
    f = _single(form, "log")
    if f is not None and f.base in run.arguments:
        labels = [f.labels.index(x) for x in form.terms[0].out]
        return run.arguments[f.base][0].restricted(labels)
    powers = powers_of_logs(run, form)
    if powers is not None:
        return powers
    f = _single(form, "log_softmax")
    if f is not None:
        made = lookup("softmax")(f.base.args[0], dim=f.base.params["dim"])
        return Form([Product(1, [Factor(made, f.labels)], form.terms[0].out)], form.shape)
    for k, p in enumerate(form.terms):
        if (
            p.coef == -1
            and len(p.factors) == 1
            and p.factors[0].base.op.name == "logsumexp"
            and p.factors[0].power == 1
        ):
            found = _shifted(run, form, k)
            if found is not None:
                return found
    return None


def _shifted(run: Canonicaliser, form: Form, k: int) -> Form | None:
    """softmax(x) for e^(x - logsumexp x), where term ``k`` is the logsumexp."""
    f = form.terms[k].factors[0]
    dims = f.base.params["dim"]
    rest = Form([p for i, p in enumerate(form.terms) if i != k], form.shape)
    if len(dims) != 1 or f.base.params["keepdim"]:
        return None
    term = run.term(rest)
    axes = [x for i, x in enumerate(form.terms[k].out) if i != dims[0]]
    if term is f.base.args[0] and list(f.labels) == axes:
        return run.opaque(lookup("softmax")(term, dim=dims[0]))
    if f.base.args[0].shape != form.shape or list(f.labels) != axes:
        return None
    # e^(x - logsumexp(x + log w)) = softmax(x + log w)/w where w > 0.
    gap = run.plus([run.form_of(f.base.args[0]), rest], (1, -1), form.shape)
    kept = gap.covered()
    weight = _exp(run, gap.restricted(kept)) if gap.terms and len(gap.terms) < len(form.terms) else None
    if weight is None:
        return None
    made = run.opaque(lookup("softmax")(f.base.args[0], dim=dims[0]))
    return run.times(made, run.power(weight.spread(kept, form.shape), -1))


def _exponent_apart(p: Product, shape: tuple[Any, ...], run: Canonicaliser) -> tuple[Form, Form] | None:
    """w and v, when a real product is w e^v entry by entry: log(w e^v) = log w + v."""
    f = next(
        (f for f in p.factors if f.base.op.name == "exp" and f.base in run.arguments and not f.base.complex_dtype), None
    )
    if f is None or len(p.factors) < 2 or not p.elementwise:
        return None
    rest = Form([p.replaced([f])], shape)
    v = run.arguments[f.base][0].scaled(f.power)
    return rest, v.spread([p.out.index(x) for x in f.labels], shape)


def _log(run: Canonicaliser, form: Form) -> Form | None:
    """log e^x = x, log(w e^x) = log w + x, log softmax = log_softmax, log Σe^x = logsumexp, log(1 + e^x) = softplus(x).

    All of them always.
    """
    if form.constant is not None and form.constant.coef == 1:
        return Form((), form.shape)
    v = one_plus_exp(form, run)
    if v is not None:
        return run.elementwise(lookup("softplus"), [v], {}, form.shape)
    if len(form.terms) != 1:
        return None
    p = form.terms[0]
    found = exponent(p, len(form.shape), run) if p.factors else None
    if found is not None:
        return found
    parts = _exponent_apart(p, form.shape, run)
    if parts is not None:
        return run.plus([run.elementwise(lookup("log"), [parts[0]], {}, form.shape), parts[1]], [1, 1], form.shape)
    f = _single(form, "softmax")
    if f is not None:
        made = lookup("log_softmax")(f.base.args[0], dim=f.base.params["dim"])
        return Form([Product(1, [Factor(made, f.labels)], p.out)], form.shape)
    inner = run.term(form)
    if inner.op.name == "sum" and inner.args[0].op.name == "exp" and inner.shape == form.shape:
        dims, exponents = inner.params["dim"], run.arguments.get(inner.args[0])
        apart = logsumexp(run, exponents[0], dims[0]) if exponents and len(dims) == 1 else None
        return apart or run.opaque(lookup("logsumexp")(inner.args[0].args[0], dim=dims, keepdim=False))
    return None


__all__ = ["merged", "simpler_function"]
