"""Special functions under the names of ``torch.special``: views of the op table.

>>> import symgrad as sg
>>> sg.special.erf(sg.tensor(0.0))
tensor(0.)
"""

from __future__ import annotations

from symgrad.ops.calls.naming import SPACES
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
round = FUNCTIONS["round"]
sinc = FUNCTIONS["sinc"]
softmax = FUNCTIONS["softmax"]
xlogy = FUNCTIONS["xlogy"]


globals().update(SPACES["special"])

_OWN = (
    "digamma", "erf", "erfc", "exp2", "expit", "expm1", "gammaln", "log1p", "log_softmax", "logsumexp", "psi",
    "round", "sinc", "softmax", "xlogy",
)  # fmt: skip
__all__ = sorted({*_OWN, *SPACES["special"]})  # noqa: PLE0605
