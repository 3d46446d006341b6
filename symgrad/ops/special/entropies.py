"""Entropies of pairs of numbers, and other short functions under SciPy's names."""

from __future__ import annotations

import math
from typing import Any

from symgrad import kernels
from symgrad.op import Op, of_reals
from symgrad.ops.calls.naming import within
from symgrad.ops.elementwise.select import eq, where
from symgrad.ops.elementwise.smooth import log, logsigmoid
from symgrad.ops.special.bessel import entr
from symgrad.ops.special.common import xlogy
from symgrad.precision.single import rounded

log_ratio: Op = of_reals(
    "log_ratio",
    kernels.log_ratio,
    lambda out, x, y: 1 / x,
    lambda out, x, y: -1 / y,
    single=rounded(kernels.log_ratio),
    domain="positive",
    define=lambda x, y: log(x / y),
    doc="log(x/y) of numbers above 0, with its digits where they are close.",
)
divergence: Op = of_reals(
    "divergence",
    kernels.divergence,
    lambda out, x, y: log_ratio(x, y),
    lambda out, x, y: (y - x) / y,
    single=rounded(kernels.divergence),
    domain="positive",
    define=lambda x, y: x * log(x / y) - x + y,
    doc="x log(x/y) - x + y of numbers above 0, with its digits where they are close.",
)


@within("special")
def rel_entr(x: Any, y: Any) -> Any:
    """x log(x/y) entry by entry, 0 where x is 0 and y not below it, and infinite for other numbers below 0 or y = 0."""
    inside = (x > 0) & (y > 0)
    value = where(inside, x, 1) * log_ratio(where(inside, x, 1), where(inside, y, 1))
    # The value at x = 0 is 0 and the slope -inf, which are those of -entr(x) there; nan stays nan.
    outside = where(eq(x + y, x + y), math.inf, x + y)
    return where(inside, value, where(eq(x, 0) & (y >= 0), -entr(x) - xlogy(x, where(y > 0, y, 1)), outside))


@within("special")
def kl_div(x: Any, y: Any) -> Any:
    """x log(x/y) - x + y entry by entry, where ``rel_entr`` is finite: 0 where both are equal, above 0 elsewhere."""
    inside = (x > 0) & (y > 0)
    return where(inside, divergence(where(inside, x, 1), where(inside, y, 1)), rel_entr(x, y) - x + y)


within("special", "log_expit")(logsigmoid)
