"""Formulas of gradients that hooks replaced.

A hook made of tensor operations is run on the formula of the gradient; any other stands in the formula as a function of
the gradient under its own name.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.errors import FormulaError
from symgrad.formula.term import Term, as_term, make
from symgrad.op import Op, unlisted
from symgrad.tape.formulas.formal import Formal, formula_of
from symgrad.tape.modes import no_grad
from symgrad.tape.record import Recorded, plain


class Hooks:
    """The hooks that replaced the gradient at one node, as a static parameter."""

    __slots__ = ("functions", "place")

    def __init__(self, place: int, functions: Sequence[Any]):
        self.place = place
        self.functions = tuple(functions)

    @property
    def digested(self) -> Any:
        """What of it is the same on every machine."""
        return self.functions

    def __hash__(self) -> int:
        return hash((self.place, self.functions))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hooks) and (self.place, self.functions) == (other.place, other.functions)


def through_hooks(functions: Sequence[Any], g: Term) -> Term:
    """The gradient after its hooks."""
    for function in functions:
        found = formula_of(functools.partial(function, Formal(g)))
        g = found.term if isinstance(found, Formal) else _named(function, g)
    return g


def _named(function: Any, g: Term) -> Term:
    name = getattr(function, "__name__", type(function).__name__)
    if not name.isidentifier():
        name = "hook"

    def kernel(value: Any, hook: Hooks, **_: Any) -> Any:
        from symgrad.tensor import Tensor

        given = plain(Tensor, np.array(value)[()])  # a copy, which it may change in place
        with no_grad():
            result = hook.functions[0](given)
        return (result if isinstance(result, Recorded) else given)._value

    op = Op(
        unlisted(name), "function", kernel, _unknown, infer=lambda shape, **_: shape, result=lambda dtype, **_: dtype
    )
    return make(op, (g,), {"hook": Hooks(0, [function])}, g.shape, g.dtype)


def _unknown(i: int, g: Any, *_: Any, **__: Any) -> Any:  # noqa: ARG001  (the rule's signature)
    raise FormulaError("a hook replaced this gradient by means that are no tensor operations: it has no derivative")


def _pull(i: int, g: Any, *_: Any, hooks: Hooks) -> Any:  # noqa: ARG001  (the rule's signature)
    return through_hooks(hooks.functions, as_term(g))


MARK = Op(
    "hooked",
    "function",
    lambda x, hooks: x,
    _pull,
    define=lambda x, hooks: x,
    infer=lambda shape, hooks: shape,
    result=lambda dtype, hooks: dtype,
)


def marked(term: Term, place: int, functions: Sequence[Any]) -> Term:
    """A term whose gradient goes through hooks; its value is the term's own."""
    return make(MARK, (term,), {"hooks": Hooks(place, functions)}, term.shape, term.dtype)
