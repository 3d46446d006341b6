"""Whether a formula loses digits that another spelling of it keeps: both are computed at points of all sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.errors import SymgradError
from symgrad.formula.digits import in_mpmath
from symgrad.formula.term import SYMBOL, Term, evaluate, postorder, substitute, symbol

TOLERANCE = 2.0**-47
"""How far a formula may be off before it is written anew."""
WITNESSES = 5
"""At how many points both are compared with the digits."""

_TINY = 5e-324
_SIZES = [10.0**k for k in (-310, -200, -90, -30, -12, -6, -3, 6, 12, 30, 90, 160, 300)]
_SIZES += [0.11, 0.27, 0.4999, 0.5001, 0.73, 0.9, 0.9999, 1.0001, 1.9, 3.3, 7.7, 17.0, 21.9, 26.3, 29.0, 41.0]
_SIZES += [101.0, 400.0, 710.2, 720.0, 1.5e308]
_FAR = np.array([s * x for x in _SIZES for s in (1, -1)] + [0.6180339, 5e-9, -1.0])
_CLOSE = np.array([s * x for x in (1e-170, 1e-9, 0.3, 1.1, 12.0, 300.0, 1e9, 1e160, 1.5e308) for s in (1, -1)])


def probes(k: int) -> Any:
    """Values of the variable number ``k``: in another order for each, then such that all are close."""
    step = (k + 1) * np.arange(_FAR.size) % _FAR.size  # their number is prime, so all of them come
    return np.concatenate([_FAR[step], _CLOSE, _CLOSE * (1 - k * 2.0**-30)])


def loses(scalar: Term, better: Term) -> bool:
    """Whether ``better``, which is equal to a formula of scalars in exact arithmetic, is nearer to the exact values.

    Where they agree up to a few roundings, it is not asked which of them is.
    """
    marks = [t for t in postorder([scalar]) if t.op is SYMBOL]
    values = {str(mark.name): probes(k) for k, mark in enumerate(marks)}
    rows = substitute([scalar, better], {mark: symbol(str(mark.name), ("probes",)) for mark in marks})
    plain, other = (np.broadcast_to(evaluate(t, values), probes(0).shape) for t in rows)
    with np.errstate(all="ignore"):
        off = np.abs(plain - other) / (np.abs(other) + 4 * _TINY / TOLERANCE)
    off = np.where(np.isfinite(other), np.where(np.isnan(off), np.inf, off), 0)
    worst = np.argsort(-off, kind="stable")[:WITNESSES]
    worst = worst[off[worst] > TOLERANCE]
    return sum(_vote(better, {name: row[k] for name, row in values.items()}, plain[k], other[k]) for k in worst) > 0


def _vote(better: Term, values: dict[str, Any], plain: Any, other: Any) -> int:
    """1 where ``other`` is nearer to the value of ``better`` in many digits, -1 where ``plain`` is."""
    import mpmath

    try:
        exact = np.asarray(in_mpmath(better, values, n=30))[()]
    except (SymgradError, ArithmeticError, ValueError, TypeError):
        return 0
    if not hasattr(exact, "_mpf_") or not mpmath.isfinite(exact):  # a complex number, a truth value, a pole
        return 0
    with mpmath.workdps(40):
        one, two = (abs(mpmath.mpf(float(v)) - exact) if np.isfinite(v) else mpmath.inf for v in (plain, other))
    return int(two < one) - int(two > one)
