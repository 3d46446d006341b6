"""The number against the formula: how many units in the last place they differ by."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.dtypes import finfo, is_floating
from symgrad.errors import ArgumentError, FormulaError, SymgradError
from symgrad.explaining.answer import Told, at_text, json_numbers, number_text
from symgrad.explaining.bars import called, errorbars, ulp
from symgrad.explaining.scene import largest
from symgrad.tape.formulas.digits import exact
from symgrad.tape.record import Recorded

_UNKNOWN = 64.0
"""Ulps that are allowed where the program cannot be run again to find its error bars."""


class Verification(Told):
    """What :func:`symgrad.verify` found.

    ``of``       what the tensor is called
    ``ok``       whether the number is that of the formula, but for rounding
    ``ulps``     by how much they differ, in units in the last place, per entry (float64)
    ``allowed``  up to how many rounding may bring, per entry
    ``worst``    the entry with the largest difference
    ``digits``   to how many digits the formula was evaluated

    As a truth value it is ``ok``.
    """

    def __init__(self, of: str, value: Any, found: Any, ulps: Any, allowed: Any, digits: int):
        self.of = of
        self.value = value
        self.exact = found
        self.ulps = ulps
        self.allowed = allowed
        self.digits = digits

    def __bool__(self) -> bool:
        return self.ok

    @property
    def ok(self) -> bool:
        """Whether every entry differs by no more than rounding may bring."""
        return bool(np.all(self.ulps <= self.allowed))

    @property
    def worst(self) -> tuple[int, ...]:
        """The entry that differs most, of what is allowed."""
        with np.errstate(all="ignore"):
            return largest(np.nan_to_num(self.ulps / self.allowed, nan=0.0, posinf=1e300)) if self.ulps.ndim else ()

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON knows it; numbers that are not finite are texts."""
        at = self.worst
        most = float(self.ulps[at]) if self.ulps.size else 0.0
        return {
            "of": self.of,
            "ok": self.ok,
            "ulps": json_numbers(most),
            "worst": list(at),
            "digits": self.digits,
            "entries": int(self.ulps.size),
        }

    def __str__(self) -> str:
        if not self.ulps.size:
            return f"{self.of} has no entries: nothing to verify."
        at = self.worst
        if self.ok:
            most = float(np.max(self.ulps))
            place = at_text(largest(self.ulps))
            return (
                f"{self.of} agrees with its formula, evaluated to {self.digits} digits: the largest difference is "
                f"{number_text(most)} ulp{place}, no more than rounding explains."
            )
        given, exact_value = self.value[at].item(), _shown(self.exact[at])
        return (
            f"{self.of} is not what its formula gives{at_text(at)}: {given!r} where the formula, evaluated to "
            f"{self.digits} digits, gives {exact_value}. That is {number_text(self.ulps[at])} ulp; rounding explains "
            f"{number_text(self.allowed[at])}."
        )


def verify(t: Any, digits: int = 30) -> Verification:
    """Whether the numbers of a tensor are those of its formula, to ``digits`` digits; the difference in ulps.

    t
        A computed tensor or a gradient, of any shape, floating-point.
    digits
        Decimal digits of the evaluation, from exactly the floats that the leaves hold.

    What rounding may bring is :func:`symgrad.errorbars`' answer, and at least one ulp.  Whoever asks needs no trust in
    the formula or in the number: they come from the same rules by different ways, and agree or not.

    Raises ``ArgumentError`` for what is no floating-point tensor, ``FormulaError`` for values without a formula that
    can be evaluated, ``AutogradError`` where a leaf was changed since.

    >>> import symgrad as sg
    >>> x = sg.tensor([0.1, 0.2, 0.3], dtype=sg.float64, requires_grad=True)
    >>> y = (sg.tanh(x) ** 2).sum()
    >>> y.backward()
    >>> found = sg.verify(x.grad)
    >>> found.ok, bool(found.ulps.max() < 4)
    (True, True)
    """
    if not isinstance(t, Recorded) or not is_floating(t._value.dtype):
        raise ArgumentError("verify(t): t is a floating-point tensor: a computed value, or a gradient.")
    value = np.asarray(t._value)
    try:
        found = np.asarray(exact(t, digits), object)
    except (OverflowError, ZeroDivisionError) as error:
        raise FormulaError(f"verify: the formula has no value in {digits} digits: {error}") from None
    found = np.broadcast_to(found, value.shape)
    off, unit = differences(value, found)
    try:
        bars = errorbars(t).bars
    except SymgradError:
        bars = np.asarray(_UNKNOWN * unit)
    with np.errstate(all="ignore"):
        allowed = np.maximum(np.nan_to_num(bars, nan=np.inf) / unit, 1.0)
        ulps = off / unit
    return Verification(called(t), value, found, ulps, allowed, digits)


def differences(value: Any, found: Any) -> tuple[Any, Any]:
    """|value - found| per entry, and one ulp of the larger of the two."""
    import mpmath

    off, size = np.zeros(value.shape), np.array(np.abs(value), value.real.dtype)
    for at in np.ndindex(value.shape):
        number, other = value[at].item(), mpmath.mpmathify(found[at])
        off[at] = _difference(mpmath, number, other, float(finfo(value.dtype).max))
        if off[at] < math.inf:
            size[at] = max(size[at], float(abs(other)) if other == other else 0.0)
    return off, ulp(size)


def _difference(mpmath: Any, number: Any, other: Any, limit: float) -> float:
    """|number - other|: 0 where both are nan, or both beyond what the dtype holds."""
    if number != number or other != other:
        return 0.0 if number != number and other != other else math.inf
    if abs(number) == math.inf:
        same = not isinstance(number, complex) and abs(other) > limit and (other > 0) == (number > 0)
        return 0.0 if same else math.inf
    with mpmath.workdps(60):
        return float(abs(mpmath.mpmathify(number) - other))


def _shown(value: Any) -> str:
    import mpmath

    return str(mpmath.nstr(mpmath.mpmathify(value), 20))
