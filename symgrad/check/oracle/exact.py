"""The exact gradient, and how far rounding alone may carry an honest one from it.

``f`` runs on double-precision tensors and the tape gives the gradient.  A directional derivative by differences of
``f`` itself guards against functions that leave the tape on the way (``float(x)``, ``x.data``); those, and functions
that do not run on tensors at all, are treated as black boxes (:mod:`symgrad.check.oracle.blackbox`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symgrad.check.asking.arrays import as_array, epsilon
from symgrad.check.asking.calling import double_precision
from symgrad.check.asking.derivatives import largest, pulled
from symgrad.check.asking.subject import Subject
from symgrad.check.graph.lines import Line, lines_noted
from symgrad.check.oracle.blackbox import derivative_of_black_box, one_sided_slopes, unit
from symgrad.check.oracle.trust import agrees_on_symmetric_matrices, agrees_with_values, weights_of
from symgrad.dtypes import is_floating
from symgrad.errors import ArgumentError
from symgrad.ops.rules.kinks import conventions
from symgrad.tape.record import Recorded
from symgrad.tape.watching.looks import look_count, looks_limited

ULPS = 32
"""How many times its natural rounding error an honest gradient may be off: room for another order of summation."""

ULPS_OF_HALF = 8
"""The same in half precision, where libraries compute in single precision and round the results."""

ULPS_OF_DOUBLE = 1024
"""The same in double precision: another formula of the gradient may cancel, and no mistake is so small.  In single
precision a look at the gradient in double precision tells the two apart."""

MOST_LOST = 1e-3
"""A larger difference, relative to the largest gradient, is that of a kink, and not of rounding."""

MOST_KINKS = 1000
"""Entries of a black box that are looked at from both sides."""


@dataclass
class Exact:
    """The answer of the oracle.

    gradients  exact gradients in double precision, one per argument under check
    tolerance  how far each entry of an honest gradient may be off
    low, high  the span of each entry over the pieces that meet at the point, where ``f`` has a kink there
    symmetric  the arguments (by position) that count as symmetric matrices, since ``f`` reads one triangle of them
    recorded   what the tape gives where ``f`` leaves it on the way: the gradient with what left it held constant
    output     the result of ``f`` as a tensor with its graph, None for a black box
    leaves     the arguments under check as tensors of that graph
    lines      the lines of f that its operations stand in
    constants  the values of the graph's constants
    surgeons   the recorded sweeps that a diagnosis changes, by what they start from
    replay     the operations with their values
    suspects   local changes that have explained the derivative by one of the arguments
    """

    method: str
    value: Any
    gradients: list[Any]
    tolerance: list[Any]
    low: list[Any] = field(default_factory=list)
    high: list[Any] = field(default_factory=list)
    symmetric: list[int] = field(default_factory=list)
    recorded: list[Any] = field(default_factory=list)
    output: Any = None
    leaves: list[Any] = field(default_factory=list)
    lines: dict[Any, Line] = field(default_factory=dict)
    constants: dict[Any, Any] = field(default_factory=dict)
    surgeons: dict[str, Any] = field(default_factory=dict)
    replay: Any = None
    suspects: list[Any] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass
class _Refusal:
    """Why the tape cannot tell the gradient: in words, the error if there was one, and what is run in its place."""

    reason: str
    error: Exception | None = None
    on_tensors: bool = False
    recorded: list[Any] = field(default_factory=list)


def exact_gradient(subject: Subject, given: Sequence[Any]) -> Exact:
    """The exact gradient at the point, from the tape if ``f`` can be traced and from ``f``'s values if not.

    Functions of arrays are tried on tensors, and then on tensors that have the methods of arrays.
    """
    found = _from_tape(subject, given)
    if isinstance(found, Exact):
        return found
    if not found.on_tensors and subject.is_of_arrays:
        subject.as_arrays = True
        again = _from_tape(subject, given)
        if isinstance(again, Exact):
            return again
        subject.as_arrays = False
    if not found.on_tensors:
        return _off_the_tape(subject, given, found.reason, found.error)
    exact = _black_box(subject, given, subject.on_tensors, found.reason)
    exact.recorded = found.recorded
    return exact


def _from_tape(subject: Subject, given: Sequence[Any]) -> Exact | _Refusal:
    constants: dict[Any, Any] = {}
    try:
        with lines_noted(constants) as lines:
            output, leaves = subject.trace(subject.args)
    except Exception as error:  # noqa: BLE001  (whatever f does with a tensor; it may still run on arrays)
        said = " ".join(str(error).split())
        reason = f"({type(error).__name__}: {said:.60}{'…' * (len(said) > 60)})"
        if subject.functions:
            names = " and ".join(dict.fromkeys(subject.functions))
            return _Refusal(f"the operations in {names} cannot be recorded {reason}", error, True)
        where = "arrays of its own library only" if subject.is_foreign else f"arrays, not on symgrad tensors {reason}"
        return _Refusal(f"f runs on {where}", error)
    value = _real(subject.derivative.value(output))
    if not isinstance(output, Recorded):
        return _Refusal(f"f gave a {type(output).__name__}, which has no history")
    functions = list(dict.fromkeys(subject.functions))
    _require_deterministic(value, subject.on_tensors(subject.args))
    if _means_another(subject, value):
        return _Refusal("f gives another value on symgrad tensors than on arrays")
    weights = weights_of(value)
    weighted = pulled(output, leaves, weights)
    gradients = weighted if subject.derivative.kind == "gradient" else subject.derivative.exact(output, leaves)
    symmetric: list[int] = []
    if not agrees_with_values(subject, weights, weighted):
        symmetric = agrees_on_symmetric_matrices(subject, weights, weighted)
        if not symmetric:
            reason = "f leaves the tape on the way (float(), .item(), .data, .detach() or plain NumPy on values)"
            return _Refusal(reason, None, True, gradients)
    found = Exact("the exact derivative, from the recorded operations", value, gradients, [])
    found.output, found.leaves, found.symmetric, found.lines = output, leaves, symmetric, lines
    found.constants = constants
    if functions:
        names = " and ".join(functions)
        found.notes.append(f"the derivative is that of forward in {names}, whose backward is not asked")
    _set_tolerances(subject, found, given)
    return found


def _means_another(subject: Subject, value: Any) -> bool:
    """Whether ``f`` on its own arrays gives another value than on tensors: the same method may mean something else."""
    try:
        with np.errstate(all="ignore"), double_precision():
            own = as_array(subject.on_own(subject.args))
    except Exception:  # noqa: BLE001  (f is written for tensors)
        return False
    value = as_array(value)
    if own.dtype.kind not in "fc" or own.dtype.itemsize < value.dtype.itemsize:
        return False
    return own.shape != value.shape or not np.allclose(own, value, rtol=1e-6, atol=1e-9, equal_nan=True)


def _off_the_tape(subject: Subject, given: Sequence[Any], reason: str, refused: Exception | None) -> Exact:
    """The gradient of a function that runs on arrays only: its own library's, in double precision where it can."""
    try:
        with np.errstate(all="ignore"), double_precision():
            subject.on_own(subject.args)
    except Exception as error:  # noqa: BLE001  (parameters in single precision, say, do not meet double arguments)
        try:
            with np.errstate(all="ignore"):
                subject.on_own_as_given(subject.args)
        except Exception:  # noqa: BLE001
            raise (error if refused is None or subject.is_foreign else refused) from None
        return _black_box(subject, given, subject.on_own_as_given, reason)
    with double_precision():
        return _black_box(subject, given, subject.on_own, reason)


def _real(value: Any) -> Any:
    if as_array(value).dtype.kind == "c":
        raise ArgumentError(
            "check() compares gradients of a real function, but f gave a complex number; check its abs()."
        )
    return value


def _require_deterministic(value: Any, again: Any) -> None:
    if not np.array_equal(as_array(value), as_array(again), equal_nan=True):
        raise ArgumentError(
            f"f is not deterministic: it gave {value} and then {again} for the same arguments. Fix its random seed "
            "inside f."
        )


def _black_box(subject: Subject, given: Sequence[Any], run: Callable[[Sequence[Any]], Any], reason: str) -> Exact:
    value = _real(run(subject.args))
    _require_deterministic(value, run(subject.args))
    computed, tangents = epsilon(as_array(value).dtype), subject.derivative.tangents
    method, gradients, errors = derivative_of_black_box(run, subject.args, subject.positions, computed, tangents)
    found = Exact(method, value, gradients, [], notes=[f"{reason}; it was treated as a black box"])
    if computed > np.finfo(np.float64).eps:
        found.notes.append(
            f"f computes in {as_array(value).dtype}, and its differences are known to few digits; give it arguments "
            "(and parameters) in float64 for a sharper check"
        )
    for g, error, c, own in zip(gradients, errors, given, subject.eps, strict=True):
        eps = max(epsilon(c.dtype), own, computed)
        found.tolerance.append(4 * error + eps * _ulps(eps) * (np.abs(g) + largest(g)))
    _look_for_kinks(subject, found, given, run, computed)
    return found


def _look_for_kinks(
    subject: Subject, found: Exact, given: Sequence[Any], run: Callable[[Sequence[Any]], Any], eps: float
) -> None:
    """The slopes on both sides of the entries of a black box that are wrong."""
    shape, tangents = np.shape(found.value), subject.derivative.tangents
    for i, (k, g, c, tolerance) in enumerate(
        zip(subject.positions, found.gradients, given, found.tolerance, strict=True)
    ):
        low, high = np.real(g).copy(), np.real(g).copy()
        if c.shape == g.shape and g.dtype.kind == "f":
            for index in np.argwhere(~(np.abs(c - g) <= tolerance))[:MOST_KINKS]:
                place = tuple(index)
                entry = int(np.ravel_multi_index(place[: len(shape)], shape)) if shape else 0
                direction = tangents[i] if tangents else unit(subject.args[k], place[len(shape) :])
                low[place], high[place] = (
                    one_sided_slopes(run, subject.args, k, direction, entry, eps) or (g[place],) * 2
                )
        found.low.append(low)
        found.high.append(high)


# ---------------------------------------------------------------------------------------------- tolerance


def _ulps(eps: float) -> int:
    if eps <= np.finfo(np.float64).eps:
        return ULPS_OF_DOUBLE
    return ULPS if eps < 1e-4 else ULPS_OF_HALF


def _set_tolerances(subject: Subject, found: Exact, given: Sequence[Any]) -> None:
    """Tolerance per entry: rounding of the result, and the exact gradient's own movement under rounded inputs."""
    eps = [max(epsilon(c.dtype), own) for c, own in zip(given, subject.eps, strict=True)]
    near = _moved_gradients(subject, max(eps), 4)
    far = _moved_gradients(subject, 16 * max(eps), 2)
    chosen = _other_conventions(subject)
    lost = _rounding(subject, found.gradients)
    for i, g in enumerate(found.gradients):
        moved = np.max([np.abs(s[i] - g) for s in near], axis=0) if near else np.zeros(g.shape)
        moved_far = np.max([np.abs(s[i] - g) for s in far], axis=0) if far else np.zeros(g.shape)
        ulps = min(ULPS, _ulps(eps[i]))
        floor = eps[i] * (_ulps(eps[i]) * (np.abs(g) + largest(g)) + ulps * lost[i])
        # Noise grows with the size of the move; a jump does not.  What jumps is a kink, and no excuse for an error.
        jump = (moved > np.sqrt(eps[i]) * largest(g)) & (moved_far < 4 * moved) & (moved > floor)
        found.tolerance.append(ulps * np.where(jump | ~np.isfinite(moved), 0, moved) + floor)
        jump |= np.any([np.abs(s[i] - g) > np.sqrt(eps[i]) * largest(s[i]) for s in chosen], axis=0)
        samples = [g, *(s[i] for s in near + far + chosen)]
        found.low.append(np.where(jump, np.min(np.real(samples), axis=0), np.real(g)))
        found.high.append(np.where(jump, np.max(np.real(samples), axis=0), np.real(g)))


def _rounding(subject: Subject, gradients: Sequence[Any]) -> list[float]:
    """By argument: how many units in the last place of 1 a gradient in single precision is off.

    Where large parts cancel, down to 0 in the end, rounding is as large as that of the parts, of which the gradient
    itself shows nothing.  What a kink close by makes of rounded arguments is no rounding.
    """
    single = float(np.finfo(np.float32).eps)
    narrow = list(subject.args)
    for k in subject.data:
        narrow[k] = narrow[k].astype({"f": np.float32, "c": np.complex64}.get(narrow[k].dtype.kind, narrow[k].dtype))
    rounded = [a.astype(subject.args[k].dtype) if k in subject.data else a for k, a in enumerate(narrow)]
    try:
        before = look_count()
        exact = subject.derivative.exact(*subject.trace(rounded))
        with looks_limited(2 * (look_count() - before) + 100):  # a loop may wait for digits that there are not
            found = subject.derivative.exact(*subject.trace(narrow))
    except Exception:  # noqa: BLE001  (f may insist on double precision)
        return [0.0] * len(gradients)
    units = [largest(a - b) / single for a, b in zip(found, exact, strict=True)]
    scale = max(map(largest, (*found, *exact)))
    most = MOST_LOST * max(scale, *map(largest, gradients)) / single
    return [u if u <= most else 0.0 for u in units]


def _other_conventions(subject: Subject) -> list[list[Any]]:
    """Exact gradients at the point with all kinks seen from the left, and from the right."""
    found = []
    for side in ("left", "right"):
        with conventions(side):
            output, leaves = subject.trace(subject.args)
            gradients = subject.derivative.exact(output, leaves)
        if all(np.isfinite(g).all() for g in gradients):
            found.append(gradients)
    return found


def _moved_gradients(subject: Subject, eps: float, count: int) -> list[list[Any]]:
    """Exact gradients at points that all data arguments reach by one rounding error."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(count):
        moves = {}
        for k in subject.data:
            array = subject.args[k]
            if is_floating(array.dtype):
                size = np.where(array == 0, max(largest(array), 1.0), np.abs(array))
                moves[k] = eps * size * rng.choice([-1.0, 1.0], array.shape)
        output, leaves = subject.trace(subject.moved(moves))
        found.append(subject.derivative.exact(output, leaves))
    return found
