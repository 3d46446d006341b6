"""The derivative of a function that the tape cannot follow, measured at points close by, and why it cannot.

How sharp that is follows from the differences themselves, and from the noise of the function's values: one that
computes in single precision inside shows it there, whatever dtype its result has.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symgrad.check.asking.arrays import as_array, epsilon
from symgrad.check.asking.calling import double_precision
from symgrad.check.asking.derivatives import largest
from symgrad.check.asking.subject import Subject
from symgrad.check.graph.lines import line_text
from symgrad.check.oracle.answer import Exact
from symgrad.check.oracle.blackbox import derivative_of_black_box, noise_of, one_sided_slopes, unit
from symgrad.check.oracle.repeats import require_deterministic
from symgrad.check.oracle.screening import MOST_ENTRIES, Screened
from symgrad.check.oracle.tolerance import ulps_of
from symgrad.errors import ArgumentError
from symgrad.notices import is_of_program, is_of_user
from symgrad.tape.formulas.program_texts import position_of
from symgrad.tape.watching.looks import look_count, looks

MOST_KINKS = 1000
"""Entries of a black box that are looked at from both sides."""

MOST_KINKS_OF_MANY = 10
"""The same where there are too many entries to measure each."""

DIFFERENCES = 1e-9
"""Differences are not believed to more than this, relative to the largest entry, whatever their estimate is."""

HOPELESS = 0.1
"""Where the error is larger than this part of the derivative, nothing can be said."""

Run = Callable[[Sequence[Any]], Any]


@dataclass
class Refusal:
    """Why the tape cannot tell the gradient.

    reason      in words, which follow "f"
    line        of ``f`` that it is about, where that is known
    error       that was raised, if any
    on_tensors  whether ``f`` runs on tensors all the same, and so may be measured with them
    recorded    the gradient with what left the tape held constant
    """

    reason: str
    line: str = ""
    error: Exception | None = None
    on_tensors: bool = False
    recorded: list[Any] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The reason with the line."""
        return f"f {self.reason}{f', in {self.line}' if self.line else ''}"


def line_of_error(error: Exception) -> str:
    """The line of the user's program that an error comes from."""
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if is_of_user(frame.filename)]
    own = [frame for frame in own if is_of_program(frame.filename)] or own  # f calls a library that calls NumPy
    return line_text((own[-1].filename, own[-1].lineno or 0)) if own else ""


def line_of_number(count: int) -> str:
    """The first line where, after so many looks, a value was made a plain number or array."""
    fresh = looks()[-(look_count() - count) or len(looks()) :]
    sites = [look.site for look in fresh if look.how != "bool()" and look.site is not None]
    return line_text((sites[0][0].co_filename, position_of(*sites[0])[0] or 0)) if sites else ""


def measured(subject: Subject, given: Sequence[Any], refusal: Refusal, method: str | None = None) -> Exact:
    """The derivative by values of ``f`` on tensors, or on arrays of its own library; ``method`` as in ``check``."""
    if refusal.on_tensors:
        found = _black_box(subject, given, subject.on_tensors, refusal, method)
        found.recorded = refusal.recorded
        return found
    try:
        with np.errstate(all="ignore"), double_precision():
            subject.on_own(subject.args)
    except Exception as error:  # noqa: BLE001  (parameters in single precision, say, do not meet double arguments)
        try:
            with np.errstate(all="ignore"):
                subject.on_own_as_given(subject.args)
        except Exception:  # noqa: BLE001
            raise (error if refusal.error is None or subject.is_foreign else refusal.error) from None
        return _black_box(subject, given, subject.on_own_as_given, refusal, method)
    with double_precision():
        return _black_box(subject, given, subject.on_own, refusal, method)


def real(value: Any) -> Any:
    """A value of ``f``; refuses complex ones."""
    if as_array(value).dtype.kind == "c":
        raise ArgumentError(
            "check() compares gradients of a real function, but f gave a complex number; check its abs()."
        )
    return value


def _black_box(subject: Subject, given: Sequence[Any], run: Run, refusal: Refusal, method: str | None) -> Exact:
    value = real(run(subject.args))
    order = require_deterministic(value, lambda: run(subject.args))
    computed = epsilon(as_array(value).dtype)
    noise = noise_of(run, subject.args, subject.positions, computed)
    by_step, gradients, errors, screened = _derivatives(subject, given, run, noise, method)
    _require_known(subject, value, gradients, errors, refusal)
    found = Exact("", value, gradients, [], measured=True, notes=order)
    if refusal.reason:
        found.notes.append(f"black box: {refusal.text}; only its values are known")
    if noise > np.finfo(np.float64).eps:
        dtype = as_array(value).dtype
        known = f"computes in {dtype}" if computed == noise else f"gives values that are known to {_digits(noise)}"
        found.notes.append(
            f"f {known}, and so its differences to few; give it arguments (and parameters) in float64, and solvers "
            "closer tolerances, for a sharper check"
        )
    for g, error, c, own in zip(gradients, errors, given, subject.eps, strict=True):
        eps = max(epsilon(c.dtype), own, noise)
        floor = 0.0 if by_step else DIFFERENCES * largest(g)
        found.tolerance.append(np.maximum(4 * error + eps * ulps_of(eps) * (np.abs(g) + largest(g)), floor))
    ratio = [largest(t) / largest(g) for t, g in zip(found.tolerance, gradients, strict=True) if largest(g)]
    found.method = "complex-step differentiation" if by_step else "central differences with extrapolation"
    found.method += f", right to about {_digits(max(ratio))}" if ratio and not by_step else ""
    _look_for_kinks(subject, found, given, run, noise)
    for k, s in screened.items():
        rest = "the others along random directions" if s.whole else "of the others nothing is known"
        found.notes.append(
            f"{subject.names[k]} has {s.gradient.size} entries: {s.measured} of them were measured one by one, {rest}"
        )
        if not s.whole:
            found.sampled[k] = s.measured
    return found


def _derivatives(
    subject: Subject, given: Sequence[Any], run: Run, eps: float, method: str | None
) -> tuple[bool, list[Any], list[Any], dict[int, Screened]]:
    """``(by complex step, derivatives, errors, those of them with too many entries to measure each)``."""
    by_step, gradients, errors, screened = True, [], [], {}
    for i, k in enumerate(subject.positions):
        x, c = subject.args[k], given[i]
        many = subject.derivative.kind == "gradient" and x.dtype.kind == "f" and x.size > MOST_ENTRIES
        if many and c.shape == x.shape and c.dtype.kind == "f" and np.isfinite(c).all():
            found = screened[k] = Screened(run, subject.args, k, c, eps, method != "fd")
            gradients.append(found.gradient)
            errors.append(found.error)
            by_step = by_step and found.by_step
            continue
        tangents = subject.derivative.tangents[i : i + 1]
        exact, slopes, error = derivative_of_black_box(run, subject.args, [k], eps, tangents, method)
        gradients += slopes
        errors += error
        by_step = by_step and exact
    return by_step, gradients, errors, screened


def _digits(error: float) -> str:
    count = max(int(-np.log10(error)), 0) if error > 0 else 16
    return f"{count} digit{'s' * (count != 1)}"


def _require_known(
    subject: Subject, value: Any, gradients: Sequence[Any], errors: Sequence[Any], refusal: Refusal
) -> None:
    """Refuse to judge by differences that are mostly error: of functions that move in steps, or at random."""
    for k, g, error in zip(subject.positions, gradients, errors, strict=True):
        if not g.size or not np.isfinite(error).all():
            continue
        scale = np.max(np.abs(subject.args[k]), initial=0.0) or 1.0
        if np.max(error) > HOPELESS * largest(g) and np.max(error) * scale > 1e-4 * largest(as_array(value)):
            why = f" ({refusal.text})" if refusal.reason else ""
            raise ArgumentError(
                f"the derivative of f by {subject.names[k]} cannot be measured: values of f close by move in steps or "
                f"at random, and their differences give {largest(g):.3g} ± {np.max(error):.1g}{why}. Write f so that "
                "symgrad can follow it, without rounding, or check a smooth part of it."
            )


def _look_for_kinks(subject: Subject, found: Exact, given: Sequence[Any], run: Run, eps: float) -> None:
    """The slopes on both sides of the entries of a black box that are wrong."""
    shape, tangents = np.shape(found.value), subject.derivative.tangents
    for i, (k, g, c, tolerance) in enumerate(
        zip(subject.positions, found.gradients, given, found.tolerance, strict=True)
    ):
        low, high = np.real(g).copy(), np.real(g).copy()
        if c.shape == g.shape and g.dtype.kind == "f":
            most = MOST_KINKS if g.size <= MOST_ENTRIES else MOST_KINKS_OF_MANY
            for index in np.argwhere(~(np.abs(c - g) <= tolerance))[:most]:
                place = tuple(index)
                entry = int(np.ravel_multi_index(place[: len(shape)], shape)) if shape else 0
                direction = tangents[i] if tangents else unit(subject.args[k], place[len(shape) :])
                low[place], high[place] = (
                    one_sided_slopes(run, subject.args, k, direction, entry, eps) or (g[place],) * 2
                )
        found.low.append(low)
        found.high.append(high)
