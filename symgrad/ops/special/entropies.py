"""Entropies of pairs of numbers, and other short functions under SciPy's names."""

from __future__ import annotations

import math
from typing import Any

from symgrad.ops.calls.naming import within
from symgrad.ops.elementwise.select import eq, where
from symgrad.ops.elementwise.smooth import log, logsigmoid
from symgrad.ops.special.bessel import entr
from symgrad.ops.special.common import xlogy


@within("special")
def rel_entr(x: Any, y: Any) -> Any:
    """x log(x/y) entry by entry, 0 where x is 0 and y not below it, and infinite for other numbers below 0 or y = 0.

    >>> import numpy as np
    >>> print(rel_entr(np.array([0.0, 1.0, 1.0]), np.array([1.0, 1.0, 0.0])))
    [ 0.  0. inf]
    """
    inside = (x > 0) & (y > 0)
    value = where(inside, x, 1) * log(where(inside, x, 1) / where(inside, y, 1))
    # The value at x = 0 is 0 and the slope -inf, which are those of -entr(x) there; nan stays nan.
    outside = where(eq(x + y, x + y), math.inf, x + y)
    return where(inside, value, where(eq(x, 0) & (y >= 0), -entr(x) - xlogy(x, where(y > 0, y, 1)), outside))


@within("special")
def kl_div(x: Any, y: Any) -> Any:
    """x log(x/y) - x + y entry by entry, where ``rel_entr`` is not infinite: 0 where both are equal, above 0 elsewhere.

    >>> import numpy as np
    >>> print(kl_div(np.array([0.0, 1.0]), np.array([1.0, 1.0])))
    [1. 0.]
    """
    return rel_entr(x, y) - x + y


within("special", "log_expit")(logsigmoid)
