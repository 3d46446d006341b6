"""How far an honest gradient may be from the exact one: rounding, the conditioning of ``f``, and its kinks."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.check.asking.arrays import epsilon
from symgrad.check.asking.derivatives import largest
from symgrad.check.asking.outside import arrays_read, is_round
from symgrad.check.asking.subject import Subject
from symgrad.check.graph.surgery import CarefulSweep, nodes_below
from symgrad.check.oracle.answer import Exact
from symgrad.dtypes import is_floating
from symgrad.ops.rules.kinks import conventions
from symgrad.tape.graph import Masked
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


def ulps_of(eps: float) -> int:
    """How many rounding units an honest gradient in the precision of ``eps`` may be off."""
    if eps <= np.finfo(np.float64).eps:
        return ULPS_OF_DOUBLE
    return ULPS if eps < 1e-4 else ULPS_OF_HALF


def set_tolerances(subject: Subject, found: Exact, given: Sequence[Any]) -> None:
    """Tolerance per entry: rounding of the result, and the exact gradient's own movement under rounded inputs."""
    inside = epsilon(*_dtypes_inside(found))
    eps = [max(epsilon(c.dtype), own, inside) for c, own in zip(given, subject.eps, strict=True)]
    near = _moved_gradients(subject, max(eps), 4)
    far = _moved_gradients(subject, 16 * max(eps), 2)
    chosen = _other_conventions(subject)
    lost = _rounding(subject, found.gradients)
    faint, swept = _faint(subject, found.value), None
    for i, g in enumerate(found.gradients):
        moved = np.max([np.abs(s[i] - g) for s in near], axis=0) if near else np.zeros(g.shape)
        moved_far = np.max([np.abs(s[i] - g) for s in far], axis=0) if far else np.zeros(g.shape)
        ulps = min(ULPS, ulps_of(eps[i]))
        floor = eps[i] * (ulps_of(eps[i]) * (np.abs(g) + largest(g)) + ulps * lost[i] + faint[i])
        # Noise grows with the size of the move; a jump does not.  What jumps is a kink, and no excuse for an error.
        jump = (moved > np.sqrt(eps[i]) * largest(g)) & (moved_far < 4 * moved) & (moved > floor)
        found.tolerance.append(ulps * np.where(jump | ~np.isfinite(moved), 0, moved) + floor)
        jump |= np.any([np.abs(s[i] - g) > np.sqrt(eps[i]) * largest(s[i]) for s in chosen], axis=0)
        samples = [g, *(s[i] for s in near + far + chosen)]
        if np.shape(given[i]) == g.shape and np.any(np.abs(given[i] - g) > found.tolerance[i]):
            swept = _swept(found) if swept is None else swept
            found.tolerance[i] = found.tolerance[i] + eps[i] * ulps * swept[i]
        found.low.append(np.where(jump, np.min(np.real(samples), axis=0), np.real(g)))
        found.high.append(np.where(jump, np.max(np.real(samples), axis=0), np.real(g)))


def _faint(subject: Subject, value: Any) -> list[float]:
    """By argument: how small a gradient moves values by less than the rounding of their rounding error.

    Where ``softmax`` is all but 0 and 1, one honest gradient is 1e-100, and another one 1 - 1.
    """
    sizes = [largest(subject.args[k]) for k in subject.positions]
    return [float(np.finfo(float).eps) * largest(np.asarray(value)) / size if size else 0.0 for size in sizes]


_NOISE = 2.0**-20
"""The part of what goes along an edge that is added to it or taken away."""


class _Noised(CarefulSweep):
    """A sweep in which all that goes along edges is off by a small part of it, and so is what cancels afterwards."""

    def __init__(self, root: Any, seed: int):
        super().__init__(root, np.ones(root.shape))
        self.rng = np.random.default_rng(seed)

    def _contribution(self, *edge: Any) -> Any:
        found = super()._contribution(*edge)
        if isinstance(found, Masked):
            return Masked(self._noised(found.value), found.keep, found.zeroing)
        return self._noised(found)

    def _noised(self, value: Any) -> Any:
        if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind not in "fc":
            return value
        noise: Any = 1 + _NOISE * self.rng.choice([-1.0, 1.0], np.shape(value))
        return value * noise


def moved_by_constants(subject: Subject, found: Exact) -> list[Any]:
    """How far the gradients move when arrays that ``f`` reads from outside are rounded otherwise; round entries stay.

    What ``f`` makes of them beside the tape, an inverse or a table of powers, is a constant to the exact gradient,
    with whatever digits it has lost.  A larger move is a jump, and no rounding.
    """
    rng, arrays, moved = np.random.default_rng(4), arrays_read(subject.f), [np.zeros(g.shape) for g in found.gradients]
    for _ in range(4 if arrays and not found.measured else 0):
        with contextlib.ExitStack() as stack:
            for array in arrays:
                step = np.finfo(float).eps * rng.choice([-1.0, 1.0], array.value.shape)
                stack.enter_context(array.being(array.value * (1 + np.where(is_round(array.value), 0, step))))
            try:
                gradients = subject.derivative.exact(*subject.trace(subject.args))
            except Exception:  # noqa: BLE001  (whatever f does with another table)
                continue
        pairs = [(np.abs(a - g), m, g) for a, m, g in zip(gradients, moved, found.gradients, strict=True)]
        moved = [np.maximum(m, off) if largest(off) <= MOST_LOST * largest(g) else m for off, m, g in pairs]
    return [ULPS * m for m in moved]


def _swept(found: Exact) -> list[float]:
    """By argument: how many units in the last place of 1 the rounding of the parts makes a gradient move.

    A gradient that cancels to 1e-12, or to nothing, is off by the rounding of what it is the difference of: no single
    precision shows that, where the gradient is all rounding.
    """
    node = None if found.output is None else found.output._node
    moved = [0.0] * len(found.gradients)
    if node is None or node.shape:
        return moved
    for seed in range(2):
        sweep = _Noised(node, seed)
        with np.errstate(all="ignore"):
            sweep.run()
        for i, (leaf, g) in enumerate(zip(found.leaves, found.gradients, strict=True)):
            made = sweep.found.get(leaf)
            off = 0.0 if made is None else largest(np.asarray(made) - g) / _NOISE
            moved[i] = max(moved[i], off if np.isfinite(off) else 0.0)
    return moved


def _dtypes_inside(found: Exact) -> list[Any]:
    """The dtypes that ``f`` computes in: its arguments are in double precision, and it may make others of them."""
    node = None if found.output is None else found.output._node
    return [] if node is None else list({below.dtype for below in nodes_below(node)})


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
