"""Terms of a sum that meet: the calls of a function in them, what stands beside these, and which two are one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.normal import Factor, Form

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser

Call = tuple[int, Factor]
"""The place of a term, and the call that stands in it."""


def calls(form: Form, name: str) -> list[Call]:
    """The terms in which one call of a function stands once, with it."""
    found = []
    for k, p in enumerate(form.terms):
        own = [f for f in p.factors if f.base.op.name == name]
        if len(own) == 1 and own[0].power == 1 and p.elementwise and len(set(own[0].labels)) == len(own[0].labels):
            found.append((k, own[0]))
    return found


def alone(form: Form, name: str, run: Canonicaliser) -> list[Call]:
    """The terms that are nothing but a function, times a number."""
    return [(k, f) for k, f in calls(form, name) if len(form.terms[k].factors) == 1 and f.base in run.arguments]


def axes_of(form: Form, call: Call) -> list[int]:
    """The axes of the sum that those of a call are."""
    k, f = call
    return [form.terms[k].out.index(x) for x in f.labels]


def beside(form: Form, call: Call) -> Form:
    """What a call is multiplied with."""
    return Form([form.terms[call[0]].without(call[1])], form.shape)


def spread(form: Form, call: Call, value: Form) -> Form:
    """A form with the axes of a call's value, along those axes of the sum."""
    return value.spread(axes_of(form, call), form.shape) if value.shape else value.broadcast(form.shape)


def first_pair(
    form: Form, found: list[Call], joined: Callable[[Call, Call], Form | None], run: Canonicaliser
) -> Form | None:
    """The form with the first two terms that can be joined as what they are together."""
    for i, one in enumerate(found):
        for other in found[i + 1 :]:
            whole = joined(one, other)
            if whole is not None:
                return run.sum_of(form.exchanged((one[0], other[0]), whole.broadcast(form.shape)), form.shape)
    return None


def opposites(form: Form, one: Call, other: Call, run: Canonicaliser) -> bool:
    """Whether two calls are f(u) and f(-u), along the same axes."""
    u, v = (run.arguments[f.base][0] for _, f in (one, other))
    return axes_of(form, one) == axes_of(form, other) and run.same(u, v.scaled(-1))


def keyed(form: Form, run: Canonicaliser) -> dict[Any, int]:
    """The places of terms by what they are multiples of."""
    return {run.key(p): k for k, p in enumerate(form.terms)}


def multiple(form: Form, k: int, of: Form, keys: Mapping[Any, int], run: Canonicaliser) -> tuple[int, Fraction]:
    """The place of another term than ``k`` that is a multiple of a form, and which; 0 times it where there is none."""
    n = k if of.only is None else keys.get(run.key(of.only), k)
    return (k, Fraction(0)) if of.only is None or n == k else (n, Fraction(form.terms[n].coef) / of.only.coef)
