"""Sines, cosines and exponentials that meet in a sum or a product: sin² + cos² = 1 and its kin, always."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.normal import Factor, Form, Product, plain_power
from symgrad.formula.canonical.scalars.pairs import Call, alone, beside, first_pair, keyed, multiple, opposites, spread
from symgrad.op import lookup

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser

_TOGETHER: dict[tuple[str, str, int], tuple[str | None, int]] = {
    # function, other function, sign of its square: the square of what the sum is (or a plain number), and its sign
    ("cos", "sin", 1): (None, 1),
    ("sin", "cos", 1): (None, 1),
    ("cosh", "sinh", -1): (None, 1),
    ("sinh", "cosh", -1): (None, -1),
    ("cos", "1", -1): ("sin", -1),
    ("sin", "1", -1): ("cos", -1),
    ("cosh", "1", -1): ("sinh", 1),
    ("sinh", "1", 1): ("cosh", 1),
}
"""cos² + sin² = 1, cosh² - sinh² = 1, cos² - 1 = -sin², sin² - 1 = -cos², cosh² - 1 = sinh² and sinh² + 1 = cosh²."""


def one_square(form: Form, run: Canonicaliser) -> Form | None:
    """Two terms of a sum that are squares of a function and its partner as what they are together."""
    squares = [(k, f) for k, p in enumerate(form.terms) if (f := _square(p)) is not None]
    for k, f in squares:
        p = form.terms[k]
        for n, q in enumerate(form.terms):
            other = _square(q)
            name = "1" if q.constant else other.base.op.name if other is not None else ""
            if n == k or (other is not None and not _same_argument(f, p, other, q)):
                continue
            sign = 1 if q.coef == p.coef else -1
            if abs(q.coef) != abs(p.coef):
                continue
            whole = _together(f, p, name, sign, run, form.shape)
            if whole is not None:
                return run.sum_of(form.exchanged((k, n), whole), form.shape)
    return None


def shared_square(form: Form, run: Canonicaliser) -> Form | None:
    """r cos²u + r sin²u = r and r cosh²u - r sinh²u = r in a longer sum, always."""
    keys = keyed(form, run) if len(form.terms) > 2 else {}
    for k, p in enumerate(form.terms if keys else ()):
        for f in p.factors if p.elementwise and len(p.factors) > 1 else ():
            if f.base.op.name not in _PARTNERS or f.power != 2 or f.base not in run.arguments:
                continue
            name, sign = _PARTNERS[f.base.op.name]
            rest = beside(form, (k, f))
            other = run.power(_wave(name, run.arguments[f.base][0], form, (k, f), run), 2)
            n, times = multiple(form, k, run.times(rest, other), keys, run)
            if times == sign:
                return run.sum_of(form.exchanged((k, n), rest), form.shape)
    return None


_PARTNERS = {"cos": ("sin", 1), "cosh": ("sinh", -1)}


def hyperbolic(form: Form, run: Canonicaliser) -> Form | None:
    """e^u + e^(-u) = 2 cosh u and e^u - e^(-u) = 2 sinh u, always."""

    def joined(one: Call, other: Call) -> Form | None:
        p, q = form.terms[one[0]], form.terms[other[0]]
        if abs(p.coef) != abs(q.coef) or not opposites(form, one, other, run):
            return None
        made = _wave("cosh" if p.coef == q.coef else "sinh", run.arguments[one[1].base][0], form, one, run)
        return made.scaled(2 * p.coef, p.decimal)

    return first_pair(form, alone(form, "exp", run), joined, run)


def half_tangent(form: Form, run: Canonicaliser) -> Form | None:
    """σ(u) - σ(-u) = tanh(u/2), always."""

    def joined(one: Call, other: Call) -> Form | None:
        p, u = form.terms[one[0]], run.arguments[one[1].base][0]
        if p.coef != -form.terms[other[0]].coef or not opposites(form, one, other, run):
            return None
        turned = -1 if u.terms[0].coef < 0 else 1
        made = _wave("tanh", u.scaled(Fraction(turned, 2)), form, one, run)
        return made.scaled(p.coef * turned, p.decimal)

    return first_pair(form, alone(form, "sigmoid", run), joined, run)


def whole_sigmoid(form: Form, run: Canonicaliser) -> Form | None:
    """r Heaviside(u) - r sign(u) σ(-|u|) = r σ(u), always: slopes of max(u, 0) + log(1 + e^(-|u|)), at 0 too."""
    if not any(f.base.op.name == "sign" for p in form.terms for f in p.factors):
        return None
    keys = keyed(form, run)
    for k, p in enumerate(form.terms):
        for f in p.factors if p.elementwise else ():
            if f.base.op.name != "step" or f.power != 1 or f.base not in run.arguments:
                continue
            call, rest = (k, f), beside(form, (k, f))
            u = run.plus(run.arguments[f.base], (1, -1), f.base.shape)
            size = run.elementwise(lookup("abs"), [u], {}, u.shape).scaled(-1)
            partner = run.times(
                run.times(rest, _wave("sigmoid", size, form, call, run)), _wave("sign", u, form, call, run)
            )
            n, times = multiple(form, k, partner, keys, run)
            if times == -1:
                whole = run.times(rest, _wave("sigmoid", u, form, call, run))
                return run.sum_of(form.exchanged((k, n), whole), form.shape)
    return None


_MEETING = {("sin", "cos"): ("cos", "sin"), ("cos", "cos"): ("sin", "sin")}
"""Which product of functions of u and v meets which: sin u cos v meets cos u sin v, cos u cos v meets sin u sin v."""


def two_angles(form: Form, run: Canonicaliser) -> Form | None:
    """sin u cos v ± cos u sin v = sin(u ± v) and cos u cos v ± sin u sin v = cos(u ∓ v), always."""
    found = [(k, p, waves) for k, p in enumerate(form.terms) if len(waves := _waves(p, run)) > 1]
    keys = {run.key(p): k for k, p, _ in found}
    for k, p, waves in found if len(found) > 1 else ():
        for f in waves:
            for g in waves:
                names = _MEETING.get((f.base.op.name, g.base.op.name))
                if names is None or f is g or f.labels != g.labels:
                    continue
                u, v = (run.arguments[h.base][0] for h in (f, g))
                rest = Form([p.without(f, g)], form.shape)
                other = [_wave(name, w, form, (k, f), run) for name, w in zip(names, (u, v), strict=True)]
                n, sign = multiple(form, k, run.times(run.times(rest, other[0]), other[1]), keys, run)
                if abs(sign) != 1:
                    continue
                total = run.plus([u, v], (1, int(sign if names == ("cos", "sin") else -sign)), u.shape)
                whole = run.times(rest, _wave(f.base.op.name, total, form, (k, f), run))
                return run.sum_of(form.exchanged((k, n), whole), form.shape)
    return None


def _waves(p: Product, run: Canonicaliser) -> list[Factor]:
    """The sines and cosines of an elementwise product."""
    known = [f for f in p.factors if f.base.op.name in ("sin", "cos") and f.power == 1 and f.base in run.arguments]
    return known if p.elementwise else []


def _wave(name: str, u: Form, form: Form, call: Call, run: Canonicaliser) -> Form:
    """``name(u)`` where a call stands in a form."""
    return spread(form, call, run.elementwise(lookup(name), [u], {}, call[1].base.shape))


def _together(f: Factor, p: Product, name: str, sign: int, run: Canonicaliser, shape: tuple[Any, ...]) -> Form | None:
    own = f.base.op.name
    if (own, name, sign) in _TOGETHER:
        made, turn = _TOGETHER[own, name, sign]
        if made is None:
            return Form([Product(p.coef * turn, (), p.out, p.decimal)], shape)
        return _applied(made, 1, f, p, run, shape, 2).scaled(turn)
    if (own, name, sign) == ("cos", "sin", -1):
        return _applied("cos", 2, f, p, run, shape, 1)
    return None


def _applied(
    name: str, times: int, f: Factor, p: Product, run: Canonicaliser, shape: tuple[Any, ...], power: int
) -> Form:
    """``name(times * u) ** power`` times the coefficient of ``p``, for the argument u of ``f``."""
    u = run.arguments[f.base][0].scaled(times)
    made = run.power(run.elementwise(lookup(name), [u], {}, f.base.shape), power).scaled(p.coef, p.decimal)
    return made.spread([p.out.index(x) for x in f.labels], shape)


def _square(p: Product) -> Factor | None:
    """The factor of a product that is nothing but the square of a function."""
    f = p.only
    known = f is not None and f.base.op.name in ("sin", "cos", "sinh", "cosh") and f.power == 2
    return f if known and p.elementwise else None


def _same_argument(f: Factor, p: Product, g: Factor, q: Product) -> bool:
    places = [tuple(r.out.index(x) for x in h.labels) for h, r in ((f, p), (g, q))]
    return f.base.args[0] is g.base.args[0] and places[0] == places[1]


def cotangents(p: Product, run: Canonicaliser) -> Product:
    """(1 + tan²u)/tan u = 2/sin 2u and (1 + tan²u)/tan²u = 1/sin²u, wherever tan u is a number."""
    for f in p.factors if p.elementwise else ():
        if f.base.op.name != "tan" or f.power not in (-1, -2) or f.base not in run.arguments:
            continue
        for g in p.factors:
            inside = run.insides.get(g.base) if g.power == 1 and g.labels == f.labels else None
            if inside is None or not _is_squared_secant(inside, f):
                continue
            times, power = (2, -1) if f.power == -1 else (1, -2)
            u = run.arguments[f.base][0].scaled(times)
            (made,) = run.power(run.elementwise(lookup("sin"), [u], {}, f.base.shape), power).scaled(times).terms
            return p.exchanged([f, g], made)
    return p


def _is_squared_secant(inside: Form, f: Factor) -> bool:
    """Whether a sum is 1 + tan²u, for a factor tan u."""
    if len(inside.terms) != 2 or any(q.coef != 1 for q in inside.terms):
        return False
    one, square = inside.terms if inside.terms[0].constant else inside.terms[::-1]
    found = square.only
    same = found is not None and found.base is f.base and found.power == 2 and square.elementwise
    return same and one.constant


_DOUBLED = {"sin": "cos", "sinh": "cosh"}


def doubled_angle(p: Product, run: Canonicaliser) -> Product:
    """2 sin u cos u = sin 2u and 2 sinh u cosh u = sinh 2u, always; where the coefficient is even, or u are halves."""
    if not p.elementwise:
        return p
    for f in p.factors:
        name = f.base.op.name
        for g in p.factors if name in _DOUBLED and f.power == 1 and f.base in run.arguments else ():
            other = g.base.op.name == _DOUBLED[name] and g.power == 1 and g.labels == f.labels
            if other and g.base.args[0] is f.base.args[0]:
                u = run.arguments[f.base][0]
                if Fraction(p.coef).numerator % 2 and any(Fraction(q.coef).denominator % 2 for q in u.terms):
                    continue
                (made,) = run.elementwise(lookup(name), [u.scaled(2)], {}, f.base.shape).terms
                return p.exchanged([f, g], made).scaled(Fraction(1, 2))
    return p


def logistic_quotient(p: Product, run: Canonicaliser) -> Product:
    """e^u/(e^u + e^v) = σ(u - v), always; of a power as often as it stands there."""
    from symgrad.formula.canonical.rewriting import exponent, merged

    for f in p.factors:
        inside = run.insides.get(f.base)
        if f.power >= 0 or f.power != int(f.power) or inside is None or len(inside.terms) != 2:
            continue
        if (
            sum(g.power for g in p.factors if g.base.op.name == "exp" and sorted(g.labels) == sorted(f.labels))
            < -f.power
        ):
            continue
        u, v = (exponent(q, len(inside.shape), run) for q in inside.terms)
        if u is None or v is None:
            continue
        for g in p.factors:
            if g.base.op.name != "exp" or g.power < 1 or sorted(g.labels) != sorted(f.labels):
                continue
            if g.base not in run.arguments:
                continue
            w = run.arguments[g.base][0].restricted(tuple(g.labels.index(x) for x in f.labels))
            if not run.same(w, u) and not run.same(w, v):
                continue
            first, second = (u, v) if run.same(w, u) else (v, u)
            difference = run.plus([first, second], (1, -1), inside.shape)
            made = run.elementwise(lookup("sigmoid"), [difference], {}, inside.shape)
            if len(made.terms) == 1:
                left = ((f, f.power + 1), (g, g.power - 1))
                rest = [Factor(h.base, h.labels, plain_power(k)) for h, k in left if k]
                return merged(p.exchanged([f, g], made.terms[0], beside=rest), run)
    return p
