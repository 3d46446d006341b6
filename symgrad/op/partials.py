"""Pullbacks of entrywise ops from their partials, which are written in ops."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from symgrad.errors import AutogradError

Rule = Callable[..., Any]


def same(g: Any, *_: Any, **__: Any) -> Any:
    """The pullback of an input that passes through unchanged; the engine recognises it and skips the call."""
    return g


def negated(g: Any, *_: Any, **__: Any) -> Any:
    """The pullback of an input that passes through with its sign changed."""
    return -g


def zeroed(g: Any, *_: Any, **__: Any) -> Any:
    """The pullback of an input with derivative zero everywhere (``sign``, ``floor``)."""
    from symgrad.ops.shapes.shaping import zeros_like

    return zeros_like(g)


def absent(name: str, instead: str) -> Rule:
    """The pullback of an op that has no derivative: torch's error for whoever asks for it."""

    def rule(g: Any, *_: Any, **__: Any) -> Any:  # noqa: ARG001
        raise AutogradError(f"derivative for aten::{name} is not implemented; {instead}")

    return rule


def first(out: Any, x: Any, y: Any) -> Any:  # noqa: ARG001
    """The partial that is the first input."""
    return x


def second(out: Any, x: Any, y: Any) -> Any:  # noqa: ARG001
    """The partial that is the second input."""
    return y


def times_first(g: Any, out: Any, x: Any, y: Any) -> Any:  # noqa: ARG001
    """The pullback of the second factor; the engine does it without the call."""
    return g * x


def times_second(g: Any, out: Any, x: Any, y: Any) -> Any:  # noqa: ARG001
    """The pullback of the first factor."""
    return g * y


def times(partial: Rule) -> Rule:
    """The pullback whose factor is a partial."""
    if partial is first or partial is second:
        # Multiplication is the commonest op; one call instead of two.
        return times_first if partial is first else times_second

    if partial in DIVISORS:
        return _divided(partial)

    def of_one(g: Any, out: Any, x: Any) -> Any:  # the same as below, without packing and unpacking arguments
        return g * partial(out, x)

    def rule(g: Any, out: Any, *inputs: Any) -> Any:
        return g * partial(out, *inputs)

    return of_one if partial.__code__.co_argcount == 2 else rule


def times_conj(partial: Rule) -> Rule:
    """The pullback whose factor is the conjugate of a partial, for complex gradients."""
    divides = partial in DIVISORS

    def rule(g: Any, out: Any, *inputs: Any) -> Any:
        from symgrad.ops.elementwise.complex import conj

        factor = conj(partial(out, *inputs))
        return g / factor if divides else g * factor

    return rule


DIVISORS: set[Rule] = set()
"""Partials that are written as their reciprocals."""


def over(divisor: Rule) -> Rule:
    """The partial one over ``divisor(out, *inputs)``: its pullback divides, which rounds once less than multiplying."""
    DIVISORS.add(divisor)
    return divisor


def factor_of(partial: Rule, out: Any, *inputs: Any, **params: Any) -> Any:
    """What a partial multiplies by: the reciprocal of those that are written so."""
    value = partial(out, *inputs, **params)
    return 1 / value if partial in DIVISORS else value


def by_second(out: Any, x: Any, y: Any) -> Any:  # noqa: ARG001
    """The divisor of a quotient."""
    return y


quotient = over(by_second)
"""The partial of a quotient by its first input: one over the second."""


def _divided(divisor: Rule) -> Rule:
    def rule(g: Any, out: Any, *inputs: Any) -> Any:
        return g / divisor(out, *inputs)

    return rule


def rules_of(partials: Iterable[Any], factor: Callable[[Rule], Rule]) -> tuple[Rule | None, ...]:
    """The pullbacks of an entrywise op, one per partial."""
    marks: dict[int, Rule] = {1: same, -1: negated, 0: zeroed}
    return tuple(None if p is None else marks[p] if isinstance(p, int) else factor(p) for p in partials)
