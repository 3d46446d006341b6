"""Whether a gradient at a kink is a subgradient as a whole: in the hull of the gradients close by.

Entry by entry each may lie between those of the pieces that meet, and yet be no subgradient together: (1, 1) for the
maximum of two equal numbers.  The other way round, of a norm at 0 every vector of the unit ball is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.check.asking.derivatives import pulled
from symgrad.check.asking.subject import Subject
from symgrad.check.graph.surgery import nodes_below
from symgrad.check.oracle.answer import Exact

CLOSE_BY = 1e-6
"""Steps to the points that are looked at, relative to the entries."""

CLOSER = 0.01
"""How much smaller the steps are at which a jump is as large."""

SAMPLES = 200
"""Points close by."""

MOST_ENTRIES = 200
"""Entries of all arguments up to which points close by are looked at."""

MOST_KINKS = 4
"""Entries on kinks of which the points are sure to enter all pieces that meet."""

INSIDE, OUTSIDE = 0.02, 0.05
"""Distances from the hull, relative to the largest entry, up to and from which it is clear."""


def look_at_subgradients(subject: Subject, exact: Exact, given: Sequence[Any]) -> None:
    """Widen the span of entries on kinks where the gradient is a subgradient, and close it where it is clearly none."""
    if not _may_be(subject, exact, given):
        return
    here, wanted = _joined(exact.gradients), _joined(given)
    rng = np.random.default_rng(4)
    found: list[Any] = []
    for k in range(SAMPLES):
        near = _near(subject, rng, CLOSE_BY)
        if near is None:
            return
        found.append(near)
        if k == 2 and all(_is_close(v, here, CLOSE_BY**0.5) for v in found):
            return  # the gradient is continuous
    points = np.array(found)
    kinks = np.ptp(points, axis=0) > CLOSE_BY**0.5 * (1e-300 + np.max(np.abs(points), axis=0))
    kinks &= _stay(subject, np.ptp(points, axis=0), rng) if kinks.any() else False
    if not kinks.any():
        return
    off = _distance(points[:, kinks], wanted[kinks]) / (1e-300 + np.max(np.abs(points[:, kinks])))
    start = 0
    for i, g in enumerate(exact.gradients):
        mine = kinks[start : start + g.size].reshape(g.shape)
        start += g.size
        if off <= INSIDE:
            exact.low[i] = np.where(mine, np.minimum(exact.low[i], given[i]), exact.low[i])
            exact.high[i] = np.where(mine, np.maximum(exact.high[i], given[i]), exact.high[i])
        elif off >= OUTSIDE and kinks.sum() <= MOST_KINKS:
            exact.low[i], exact.high[i] = (np.where(mine, g, span) for span in (exact.low[i], exact.high[i]))


def _may_be(subject: Subject, exact: Exact, given: Sequence[Any]) -> bool:
    """Whether the gradient differs, and the function can be asked at points close by."""
    if exact.output is None or exact.output._node is None or subject.derivative.kind != "gradient" or exact.symmetric:
        return False
    if any(
        c.shape != g.shape or g.dtype.kind != "f" or c.dtype.kind != "f"
        for c, g in zip(given, exact.gradients, strict=True)
    ):
        return False
    if sum(g.size for g in exact.gradients) > MOST_ENTRIES or not all(np.isfinite(c).all() for c in given):
        return False
    if not any(n.op.kinks or n.op.structural is not None for n in nodes_below(exact.output._node)):
        return False  # a steep gradient is not one that jumps
    return any(np.any(np.abs(c - g) > t) for c, g, t in zip(given, exact.gradients, exact.tolerance, strict=True))


def _stay(subject: Subject, spread: Any, rng: np.random.Generator) -> Any:
    """Which entries differ as much at points that are closer: steep ones do so less, as those of a deviation."""
    closer = [_near(subject, rng, CLOSE_BY * CLOSER) for _ in range(SAMPLES // 4)]
    found = [near for near in closer if near is not None]
    return np.ptp(np.array(found), axis=0) > spread / 10 if found else np.zeros(spread.shape, bool)


def _near(subject: Subject, rng: np.random.Generator, step: float) -> Any:
    """The gradients at a point close by, as one vector; None where there are none."""
    moves = {
        k: step * (1 + np.abs(subject.args[k])) * rng.normal(size=subject.args[k].shape) for k in subject.positions
    }
    try:
        with np.errstate(all="ignore"):
            output, leaves = subject.trace(subject.moved(moves))
            found = _joined(pulled(output, leaves))
    except Exception:  # noqa: BLE001  (whatever the function does there)
        return None
    return found if np.isfinite(found).all() else None


def _joined(gradients: Sequence[Any]) -> Any:
    return np.concatenate([np.ravel(g) for g in gradients]).astype(float)


def _is_close(a: Any, b: Any, part: float) -> bool:
    return bool(np.max(np.abs(a - b)) <= part * (1e-300 + np.max(np.abs(b))))


def _distance(points: Any, target: Any) -> float:
    """From a point to the convex hull of others: weights by non-negative least squares (Lawson and Hanson, 1974)."""
    heavy = 1e3 * (1 + np.max(np.abs(points)))  # of the equation that the weights add up to 1
    matrix = np.concatenate([points.T, np.full((1, len(points)), heavy)])
    wanted = np.concatenate([target, [heavy]])
    weights, free = np.zeros(len(points)), np.zeros(len(points), bool)
    for _ in range(3 * len(target) + 20):
        slope = matrix.T @ (wanted - matrix @ weights)
        slope[free] = -np.inf
        best = int(np.argmax(slope))
        if slope[best] <= 1e-9 * heavy**2:
            break
        free[best] = True
        while True:
            trial = np.zeros(len(points))
            trial[free] = np.linalg.lstsq(matrix[:, free], wanted, rcond=None)[0]
            if (trial[free] > 0).all():
                break
            bad = free & (trial <= 0)
            step = np.min(weights[bad] / np.maximum(weights[bad] - trial[bad], 1e-300))
            weights = weights + step * (trial - weights)
            free &= weights > 1e-14
            if not free.any():
                break
        weights = trial
    return float(np.max(np.abs(points.T @ weights / max(weights.sum(), 1e-300) - target)))
