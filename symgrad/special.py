"""Special functions under the names of ``torch.special``: views of the op table.

>>> import symgrad as sg
>>> sg.special.erf(sg.tensor(0.0))
tensor(0.)
"""

from __future__ import annotations

from typing import Any

from symgrad.errors import ArgumentError
from symgrad.ops.composite import entr, logit, xlog1py
from symgrad.ops.special import polygamma_op
from symgrad.tensor import FUNCTIONS

erf = FUNCTIONS["erf"]
erfc = FUNCTIONS["erfc"]
exp2 = FUNCTIONS["exp2"]
expit = FUNCTIONS["expit"]
expm1 = FUNCTIONS["expm1"]
digamma = FUNCTIONS["digamma"]
gammaln = FUNCTIONS["gammaln"]
log1p = FUNCTIONS["log1p"]
log_softmax = FUNCTIONS["log_softmax"]
logsumexp = FUNCTIONS["logsumexp"]
psi = FUNCTIONS["psi"]
sinc = FUNCTIONS["sinc"]
softmax = FUNCTIONS["softmax"]
xlogy = FUNCTIONS["xlogy"]


def polygamma(n: int, input: Any) -> Any:
    """The n-th derivative of the digamma function at x > 0, of any shape.

    Raises ``ArgumentError`` for a negative ``n``.

    >>> import numpy as np
    >>> round(float(polygamma(1, np.float64(1.0))), 9)  # π²/6
    1.644934067
    """
    if n < 0:
        raise ArgumentError(f"polygamma(n, x) does not support negative n, got {n}.")
    return polygamma_op(input, n=int(n))


__all__ = [
    "digamma",
    "entr",
    "erf",
    "erfc",
    "exp2",
    "expit",
    "expm1",
    "gammaln",
    "log1p",
    "log_softmax",
    "logit",
    "logsumexp",
    "polygamma",
    "psi",
    "sinc",
    "softmax",
    "xlog1py",
    "xlogy",
]
