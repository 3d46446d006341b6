"""How exact a number is: rounding errors put in at random, many times, and condition numbers.

Every operation is run again with its result changed by about as much as rounding changes it; operations that add up
many entries have their operands changed as well, which is how far a stable algorithm for them may be off.  The spread
of what comes out is the error bar.  (Monte Carlo arithmetic: D. S. Parker, UCLA CSD-970002, 1997; the model of
backward-stable operations: N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., SIAM 2002, ch. 1, 3.)
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.dtypes import finfo, is_floating
from symgrad.errors import ArgumentError
from symgrad.explaining.answer import Told, at_text, json_numbers, number_text
from symgrad.explaining.ranking import contributions
from symgrad.explaining.replay import Replay, passes_of, swept
from symgrad.explaining.scene import largest, leaf_name
from symgrad.tape.formulas.origin import origin_of
from symgrad.tape.graph import Node
from symgrad.tape.record import Recorded

_WIDE = 4.0
"""An error bar in standard deviations: the errors are those of few operations, whose tails are not a Gaussian's."""
_LANES = 12.0
"""The root of 1 + (terms - 1) / 12 is the ratio of the errors of a sum one after the other, at random signs, to changes
of its terms: the mean square of n partial sums is n/2 times a term's, and of a rounding a quarter of a change's."""
_LEAST = 0.01
"""Operations with less than this part of the error are not told of."""
_SMALL = 1e-7
"""The relative change of the leaves that gives the condition number; of float32 the root of its precision."""


class ErrorBars(Told):
    """A value with the error bar of every entry; what :func:`symgrad.errorbars` gives.

    ``of``         what the value is called
    ``value``      the array
    ``bars``       the error that rounding may have brought, in the same units
    ``ulps``       the same in units in the last place of each entry
    ``digits``     decimal digits of each entry that are right
    ``condition``  by how much relative changes of the leaves are multiplied on their way to the value (norms)
    ``operations`` of a computed number: those that bring most of the error, :class:`Contribution` objects
    ``leaves``     of a computed number: what it hangs on, by the condition number for each
    """

    def __init__(self, of: str, value: Any, bars: Any, condition: float, ranked: Any = ((), ())):
        self.of = of
        self.value = np.asarray(value)
        self.bars = np.asarray(bars)
        self.condition = condition
        self.operations, self.leaves = map(tuple, ranked)

    @property
    def ulps(self) -> Any:
        """The bars in units in the last place."""
        with np.errstate(all="ignore"):
            return self.bars / ulp(self.value)

    @property
    def digits(self) -> Any:
        """Decimal digits that are right."""
        with np.errstate(all="ignore"):
            relative = self.bars / np.abs(self.value)
            most = -math.log10(finfo(self.value.dtype).eps / 2)
            found = np.where(self.bars == 0, most, np.where(self.value == 0, 0.0, -np.log10(relative)))
        return np.clip(np.nan_to_num(found), 0.0, most)

    @property
    def worst(self) -> tuple[int, ...]:
        """The entry with the fewest right digits."""
        return largest(-self.digits) if self.digits.ndim else ()

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON knows it; numbers that are not finite are texts."""
        return {
            "of": self.of,
            "bars": _listed(self.bars),
            "ulps": _listed(self.ulps),
            "digits": _listed(self.digits),
            "worst": list(self.worst),
            "condition": json_numbers(self.condition),
            "operations": [{"text": c.text, "op": c.op, "share": c.share} for c in self.operations],
            "leaves": [{"text": c.text, "condition": _listed(c.share)} for c in self.leaves],
        }

    def __str__(self) -> str:
        if not self.value.size:
            return f"{self.of} has no entries."
        at = self.worst
        low, high = float(np.min(self.digits)), float(np.max(self.digits))
        digits = f"{low:.1f}" if self.value.size == 1 or high - low < 0.1 else f"{low:.1f} to {high:.1f}"
        shown = f"{number_text(self.value[at])} ± {float(self.bars[at]):.2g}"
        name = f"{self.of}{at_text(at)}"
        rows = [
            f"{self.of} has {digits} right decimal digits of {_most(self.value.dtype):.1f}.",
            f"{'Worst: ' if self.value.size > 1 else ''}{name} = {shown}, {number_text(self.ulps[at])} ulp.",
            f"Condition number: {number_text(self.condition)}.",
        ]
        told = [c for c in self.operations[:3] if c.share >= _LEAST]
        if told:
            parts = ", ".join(f"{c.share:.0%} from {c.text}" for c in told)
            rows.append(f"The error comes to {parts}.")
        if len(self.leaves) > 1:
            parts = ", ".join(f"{c.text} {number_text(c.share)}" for c in self.leaves[:5])
            rows.append(f"By leaf: {parts}.")
        return "\n".join(rows)


def _listed(array: Any) -> Any:
    return json_numbers(np.ravel(array) if np.ndim(array) else array)


def _most(dtype: Any) -> float:
    return -math.log10(float(finfo(dtype).eps) / 2)


def ulp(value: Any) -> Any:
    """The unit in the last place of every entry, in float64; of 0 that of the smallest normal number."""
    value = np.abs(np.asarray(value))
    kind = finfo(value.dtype)
    held = np.clip(value.astype(float), float(kind.tiny), float(kind.max))
    _, exponents = np.frexp(held)  # np.spacing knows no bfloat16
    return np.where(np.isnan(held), np.nan, np.ldexp(float(kind.eps), exponents - 1))


def errorbars(t: Any, samples: int = 12, seed: int = 0) -> ErrorBars:
    """How far rounding may have moved every entry of a value or gradient, and how well it is conditioned.

    t
        A gradient (``x.grad``, or what ``autograd.grad`` gave) or a computed tensor, of any shape, floating-point.
    samples
        How often the program is run with rounding errors put in at random.
    seed
        Of the random numbers: the same call gives the same bars.

    The bars hold for errors of rounding alone: the leaves are taken to be exactly what they hold.  They cover the true
    error unless operations cancel in a way that twelve samples do not meet; ``sg.verify(t)`` gives the true one.

    Raises ``ArgumentError`` for what is no floating-point tensor with a history, and for less than two samples,
    ``AutogradError`` where leaves were changed since.

    >>> import symgrad as sg
    >>> x = sg.tensor(1e-8, dtype=sg.float64, requires_grad=True)
    >>> y = (1 - sg.cos(x)) / x**2
    >>> bool(sg.errorbars(y).digits < 1)
    True
    >>> z = 2 * (sg.sin(x / 2) / x) ** 2
    >>> bool(sg.errorbars(z).digits > 14)
    True
    """
    if not isinstance(t, Recorded) or not is_floating(t._value.dtype):
        raise ArgumentError("errorbars(t): t is a floating-point tensor: a computed value, or a gradient.")
    if not isinstance(samples, int):
        raise ArgumentError(
            f"errorbars(t, samples): samples is a whole number, not {type(samples).__name__}; of a gradient, take "
            "errorbars(x.grad) after backward()."
        )
    if samples < 2:
        raise ArgumentError(f"errorbars(samples={samples}): at least 2 samples are needed.")
    run, name = _program(t), called(t)
    value = np.asarray(run(None, None))
    rng = np.random.default_rng(seed)
    eps = float(finfo(value.dtype).eps)
    spread = _spread(lambda: run(_noise(rng, 1.0), None), value, samples)
    delta = max(_SMALL, math.sqrt(eps))
    moved = _spread(lambda: run(None, _noise(rng, delta, scaled=False)), value, max(samples // 3, 2))
    norm = float(np.sqrt(np.sum(np.abs(value.astype(complex if value.dtype.kind == "c" else float)) ** 2)))
    with np.errstate(all="ignore"):
        condition = float(np.sqrt(np.sum(moved**2))) / (delta * norm) if norm else math.inf
    number = value.size == 1 and value.dtype.kind != "c" and t._node is not None
    return ErrorBars(name, value, _WIDE * spread, condition, contributions(t.edge()) if number else ((), ()))


def called(t: Any) -> str:
    """What a value or a gradient is called in a sentence."""
    origin = origin_of(t)
    if isinstance(origin, list) and origin and t._node is None:
        edge = origin[-1][1]
        return f"{(None if isinstance(edge, Node) else leaf_name(edge)) or 'x'}.grad"
    return leaf_name(t) or "the value"


def _program(t: Any) -> Callable[[Any, Any], Any]:
    """What computes the value again, with noise and other leaves."""
    origin = origin_of(t)
    if origin and t._node is None:
        asked = passes_of(origin)
        return lambda noise, leaves: swept(*asked, noise=noise, leaves=leaves).gradient
    if t._node is None:
        raise ArgumentError(
            "errorbars(t): t was not computed from anything that is recorded, so no rounding error is known. Ask about "
            "a result of tensors that require a gradient, or about x.grad after backward."
        )
    root = t.edge()

    def run(noise: Any, leaves: Any) -> Any:
        replay = Replay([root], noise=noise, leaves=leaves)
        return replay.values[replay.twins[root]]

    return run


@functools.cache
def _precision(dtype: Any) -> float:
    """The step beside 1; kept, as it is asked for at every node of every run."""
    return float(finfo(dtype).eps)


def _noise(rng: Any, size: float, scaled: bool = True) -> Callable[..., Any]:
    """Relative changes at random: up to ``size`` times the precision of each array, or (``scaled`` off) up to it.

    Of a sum of n terms that are added one after the other every partial sum is rounded; n of them bring an error that
    grows as n, and changes of the terms one that grows as the root of n.  Kernels keep some partial sums side by side.
    """

    def change(value: Any, terms: int = 1) -> Any:
        unit = _precision(value.dtype) * math.sqrt(1 + (terms - 1) / _LANES) if scaled else 1.0
        wide = np.asarray(value).astype(complex if value.dtype.kind == "c" else float)
        return (wide * (1 + size * unit * rng.uniform(-1, 1, wide.shape))).astype(value.dtype)[()]

    return change


def _spread(run: Callable[[], Any], value: Any, samples: int) -> Any:
    """The root mean square of how far runs are from a value; infinite where they are not finite."""
    total = np.zeros(value.shape)
    wide = complex if value.dtype.kind == "c" else float
    with np.errstate(all="ignore"):
        for _ in range(samples):
            found = run()
            total += np.abs(np.asarray(0 if found is None else found).astype(wide) - value.astype(wide)) ** 2
    return np.where(np.isfinite(total), np.sqrt(total / samples), np.inf)
