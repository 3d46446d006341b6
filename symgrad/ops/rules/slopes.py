"""Slopes of functions as ops: a cotangent times a derivative in one step, as in torch's kernels of backward passes."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.dtypes import float64
from symgrad.op import Op, elementwise


def slope_of(op: Op, kernel: Any, bend: Any, rule: Any = None, by_result: bool = False, **fields: Any) -> Op:
    """The op g f'(x) of a function f, which becomes the rule of f.

    The partial derivative of f says what it is, and ``bend(x)`` is the derivative of that; ``rule(c, out, g, x)`` where
    it is not c g bend(x) in torch's steps.  ``by_result``, all of them are functions of f(x) in place of x.  The kernel
    is stated beside it: run on arrays, the definition takes five to ten times as long, and of some it differs in the
    last digit.
    """
    (partial,) = op.partials or ()

    def slope(x: Any) -> Any:
        return partial(x, x)  # of the result and the operand it reads one

    fields = {
        "public": (), "spelled": True, "domain": "real", "refuses": "c" if "c" in op.refuses else "",
        "define": lambda g, x: g * slope(x), **fields,
    }  # fmt: skip
    from_value = ", which is found from its value" if by_result else ""
    made = elementwise(
        f"{op.name}_slope",
        kernel,
        lambda out, g, x: slope(x),
        lambda out, g, x: g * bend(x),
        doc=f"A cotangent times the slope of {op.name}{from_value}.",
        **fields,
    )
    made.vjps = made.jvps = (lambda c, out, g, x: made(c, x), rule or (lambda c, out, g, x: c * g * bend(x)))
    op.vjps = op.jvps = (_at_once(made, by_result),)
    return made


def _at_once(op: Op, by_result: bool) -> Any:
    """The rule ``op(g, x)``, or of the result in place of x, whose kernel NumPy's doubles meet without another call."""
    kernel, double, array = op.kernel, np.float64, np.ndarray

    def rule(g: Any, out: Any, x: Any) -> Any:
        of = out if by_result else x
        kind = of.__class__
        if kind is g.__class__ and (kind is double or (kind is array and of.dtype is float64 is g.dtype)):
            return kernel(g, of)
        return op(g, of)

    return rule
