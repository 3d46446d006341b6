"""Intervals of all values of some formulas, narrowed by comparisons: forward from the arguments, and back to them.

Ends are moved outward by more than floats round; what is not known of an op is that its values lie anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from symgrad.formula.term import SYMBOL, Term, concrete, images, postorder
from symgrad.op import lookup
from symgrad.tape.record import computed

_ROUNDS = 12
_SLACK = 1e-13
"""By what part an end is moved outward, of the largest number on the way to it."""
_HUGE = 1e300
_EXACT = 2**50


class Empty(Exception):
    """An interval has no room left."""


class Box(NamedTuple):
    """The lowest and the highest number of every entry."""

    low: Any
    high: Any


class Boxes:
    """The intervals of all terms below some comparisons ``(a, b, strict)``: a > b, or a >= b.

    ``values`` are arrays by symbol; the symbols ``moving`` may have any real numbers in place of theirs.
    """

    def __init__(self, told: Sequence[Any], values: dict[str, Any], moving: Sequence[Term], letters: dict[str, int]):
        self.told = told
        self.letters = dict(letters)
        self.order = postorder([t for a, b, _ in told for t in (a, b)])
        found = images(self.order, values, self.letters)
        self.loose: set[Term] = set(moving)
        self.box: dict[Term, Box] = {}
        for t in self.order:
            value = np.asarray(found[t])
            if any(a in self.loose for a in t.args):
                self.loose.add(t)
            if t in self.loose or value.dtype.kind not in "biuf" or not np.all(np.isfinite(value)):
                self.box[t] = _anywhere(value.shape)
            else:
                self.box[t] = Box(value.astype(float), value.astype(float))

    def hull(self, term: Term) -> tuple[float, float]:
        """Between which numbers all entries of a term lie."""
        box = self.box.get(term)
        if box is None or not np.size(box.low):
            return -math.inf, math.inf
        return float(np.min(box.low)), float(np.max(box.high))

    def narrow(self) -> None:
        """Narrow until nothing changes; raises ``Empty`` where nothing is left."""
        with np.errstate(all="ignore"):
            for _ in range(_ROUNDS):
                self.changed = False
                for t in self.order:
                    if t in self.loose and t.op is not SYMBOL:
                        self._meet(t, *self._forward(t))
                for a, b, strict in self.told:
                    self._compared(a, b, strict)
                for t in reversed(self.order):
                    if t in self.loose and t.op is not SYMBOL:
                        self._back(t)
                if not self.changed:
                    return

    def _meet(self, t: Term, low: Any, high: Any) -> None:
        """Narrow the interval of a term to what it has in common with another, of a shape it may be broadcast to."""
        if t not in self.loose:
            return
        own = self.box[t]
        low, high = _fitted(low, own.low.shape, np.max), _fitted(high, own.high.shape, np.min)
        low, high = np.fmax(own.low, low), np.fmin(own.high, high)  # nan says nothing
        if np.any(low > high):
            raise Empty
        gained = np.any(low > own.low) or np.any(high < own.high)
        self.changed = self.changed or bool(gained)
        self.box[t] = Box(low, high)

    def _compared(self, a: Term, b: Term, strict: bool) -> None:
        one, two = self.box[a], self.box[b]
        if np.any(one.high <= two.low if strict else one.high < two.low):
            raise Empty
        self._meet(a, two.low, math.inf)
        self._meet(b, -math.inf, one.high)

    # ---------------------------------------------------------------------------------- forward

    def _forward(self, t: Term) -> Box:
        low, high = self._values(t)
        if t.op.bounds is not None:
            low, high = np.fmax(low, t.op.bounds[0]), np.fmin(high, t.op.bounds[1])
        return Box(low, high)

    def _values(self, t: Term) -> Box:
        op, boxes = t.op, [self.box[a] for a in t.args]
        signs = _signs(t)
        if signs is not None:
            ends = [b if s > 0 else Box(-b.high, -b.low) for b, s in zip(boxes, signs, strict=True)]
            return _outward(sum(e.low for e in ends), sum(e.high for e in ends), *_sizes(ends))
        if op is lookup("mul"):
            if t.args[0] is t.args[1]:
                return _squared(boxes[0], 2)
            return _hull([_product(x, y) for x in boxes[0] for y in boxes[1]])
        if op is lookup("div"):
            low, high = boxes[1]
            if not (np.all(low >= 0) or np.all(high <= 0)):
                return _anywhere(())
            turned = [1 / np.abs(high), 1 / np.abs(low)] if np.all(low >= 0) else [-1 / np.abs(high), -1 / np.abs(low)]
            return _hull([_product(x, y) for x in boxes[0] for y in turned])
        if op is lookup("pow") and t.args[1].number is not None:
            return _power(boxes[0], t.args[1].number)
        if op is lookup("abs"):
            return _squared(boxes[0], 1)
        if op.among is not None:
            chosen = [boxes[k] for k in op.among]
            if not op.rises:
                return Box(np.minimum(chosen[0].low, chosen[1].low), np.maximum(chosen[0].high, chosen[1].high))
        whole = all(a not in self.loose or (a.dtype is not None and a.dtype.kind == "f") for a in t.args)
        if whole and (op.rises or op.view is not None or (op.kind == "multilinear" and len(t.args) == 1)):
            return self._risen(t, boxes)
        if op.kind == "multilinear" and len(t.args) == 2 and t.args[0] is t.args[1]:
            labels, _ = t.labels()
            return Box(np.float64(0 if labels[0] == labels[1] else -math.inf), np.float64(math.inf))
        return _anywhere(())

    def _risen(self, t: Term, boxes: list[Box]) -> Box:
        params = concrete(t.op, t.params, self.letters)
        low, high, size = (
            computed(t.op, [np.asarray(e, float)[()] for e in ends], params)
            for ends in ([b.low for b in boxes], [b.high for b in boxes], _sizes(boxes))
        )
        return _outward(low, high, *([] if t.op.kind == "elementwise" else [np.abs(size)]))

    # ---------------------------------------------------------------------------------- back

    def _back(self, t: Term) -> None:
        op, out, boxes = t.op, self.box[t], [self.box[a] for a in t.args]
        signs = _signs(t)
        if signs is not None:
            ends = [b if s > 0 else Box(-b.high, -b.low) for b, s in zip(boxes, signs, strict=True)]
            for k, arg in enumerate(t.args):
                others = [e for j, e in enumerate(ends) if j != k]
                rest = Box(sum((e.low for e in others), np.float64(0)), sum((e.high for e in others), np.float64(0)))
                low, high = _outward(out.low - rest.high, out.high - rest.low, np.abs(out.low), *_sizes([rest]))
                self._meet(arg, *((low, high) if signs[k] > 0 else (-high, -low)))
        elif op is lookup("mul") and t.args[0] is t.args[1]:
            self._even(t.args[0], out, 2)
        elif op is lookup("mul"):
            for k in (0, 1):
                other = boxes[1 - k]
                if np.all((other.low > 0) | (other.high < 0)):
                    self._meet(t.args[k], *_hull([x / y for x in out for y in other]))
        elif op is lookup("pow") and t.args[1].number is not None and _is_even(t.args[1].number):
            self._even(t.args[0], out, t.args[1].number)
        elif op is lookup("abs") or op is lookup("square"):
            self._even(t.args[0], out, 1 if op is lookup("abs") else 2)
        elif op.view is not None and t.args[0].dtype is not None and not any(a in self.loose for a in t.args[1:]):
            self._shown(t, out)
        elif op.rises and op.kind == "elementwise" and len(t.args) == 1:
            self._meet(t.args[0], *self._inverse(t, out))

    def _even(self, arg: Term, out: Box, power: Any) -> None:
        """The argument of an even power: within its root, and outside of that of the lowest value."""
        own = self.box[arg]
        _, most = _outward(0.0, np.maximum(out.high, 0) ** (1 / float(power)))
        least, _ = _outward(np.maximum(out.low, 0) ** (1 / float(power)), 0.0)
        least = np.where(np.isfinite(least), least, 0)
        shape = np.broadcast_shapes(own.low.shape, np.shape(least))
        if shape == own.low.shape:
            self._meet(arg, np.where(own.low > -least, least, -most), np.where(own.high < least, -least, most))
        else:
            self._meet(arg, -most, most)

    def _shown(self, t: Term, out: Box) -> None:
        """The entries of an array of which a view shows some."""
        own = self.box[t.args[0]]
        places = np.arange(own.low.size, dtype=float).reshape(own.low.shape)
        rest = [self.box[a].low.astype(int)[()] for a in t.args[1:]]
        shown = np.asarray(computed(t.op, [places, *rest], concrete(t.op, t.params, self.letters))).astype(int).ravel()
        low, high = np.full(own.low.size, -math.inf), np.full(own.low.size, math.inf)
        np.maximum.at(low, shown, np.broadcast_to(out.low, _shape(out)).ravel())
        np.minimum.at(high, shown, np.broadcast_to(out.high, _shape(out)).ravel())
        self._meet(t.args[0], low.reshape(own.low.shape), high.reshape(own.low.shape))

    def _inverse(self, t: Term, out: Box) -> Box:
        """Where a function that rises has values in an interval: between floats, found by halving their number."""
        params, own = concrete(t.op, t.params, self.letters), self.box[t.args[0]]
        least, most = _outward(out.low, out.high)

        def at(keys: Any) -> Any:
            return np.asarray(computed(t.op, [_float_of(keys)[()]], params))

        first = _key_of(np.maximum(own.low, -_HUGE))
        last = _key_of(np.minimum(own.high, _HUGE))
        if np.any(np.isnan(at(last))):  # one whose domain ends above is not asked
            return _anywhere(())
        low, high = first, last
        start, stop = first, last
        for _ in range(66):
            middle = (low >> 1) + (high >> 1) + (low & high & 1)
            below = ~(at(middle) >= least)  # and what is nan, below the domain
            start, low, high = (
                np.where(below, middle, start),
                np.where(below, middle, low),
                np.where(below, high, middle),
            )
        low, high = first, last
        for _ in range(66):
            middle = (low >> 1) + (high >> 1) + (low & high & 1)
            above = at(middle) > most
            stop, low, high = np.where(above, middle, stop), np.where(above, low, middle), np.where(above, middle, high)
        return Box(
            np.where(start == first, own.low, _float_of(start)), np.where(stop == last, own.high, _float_of(stop))
        )


def _shape(box: Box) -> tuple[int, ...]:
    """The shape of an interval's array."""
    return np.broadcast_shapes(np.shape(box.low), np.shape(box.high))


# ---------------------------------------------------------------------------------------------- arithmetic


def _anywhere(shape: tuple[int, ...]) -> Box:
    return Box(np.full(shape, -math.inf), np.full(shape, math.inf))


def _signs(t: Term) -> Sequence[int] | None:
    """The signs of the terms of a sum."""
    partials = t.op.partials or ()
    return partials if partials and len(partials) == len(t.args) and all(p in (1, -1) for p in partials) else None


def _sizes(boxes: Sequence[Box]) -> list[Any]:
    return [np.maximum(np.abs(b.low), np.abs(b.high)) for b in boxes]


def _outward(low: Any, high: Any, *sizes: Any) -> Box:
    """An interval with its ends moved outward by what rounding may have moved them inward."""
    most: Any = 0.0
    if sizes and all(_whole(x) for x in (low, high, *sizes)):
        return Box(low, high)  # sums of whole numbers are exact
    for size in sizes:
        most = np.maximum(most, np.where(np.isfinite(size), size, 0))
    return Box(
        low - _SLACK * np.maximum(np.where(np.isfinite(low), np.abs(low), 0), most),
        high + _SLACK * np.maximum(np.where(np.isfinite(high), np.abs(high), 0), most),
    )


def _whole(x: Any) -> bool:
    return bool(np.all((np.rint(x) == x) & (np.abs(x) < _EXACT) | np.isinf(x)))


def _product(x: Any, y: Any) -> Any:
    return np.where((x == 0) | (y == 0), 0.0, x * y)


def _hull(points: Sequence[Any]) -> Box:
    """The interval of some points; where one is nan, all numbers."""
    low, high = points[0], points[0]
    for p in points[1:]:
        low, high = np.minimum(low, p), np.maximum(high, p)
    return _outward(np.where(np.isnan(low), -math.inf, low), np.where(np.isnan(high), math.inf, high))


def _is_even(power: Any) -> bool:
    return power > 0 and power == int(power) and int(power) % 2 == 0


def _power(box: Box, power: Any) -> Box:
    if power == int(power) and power > 0:
        if int(power) % 2 == 0:
            return _squared(box, float(power))
        return _outward(box.low ** float(power), box.high ** float(power))
    if power > 0:  # a root: of numbers that are not negative
        return _outward(np.maximum(box.low, 0) ** float(power), np.maximum(box.high, 0) ** float(power))
    return Box(np.where(box.low >= 0, 0.0, -math.inf), np.float64(math.inf))


def _squared(box: Box, power: float) -> Box:
    size = np.maximum(np.abs(box.low), np.abs(box.high))
    least = np.where((box.low <= 0) & (box.high >= 0), 0.0, np.minimum(np.abs(box.low), np.abs(box.high)))
    return Box(least, size) if power == 1 else _outward(least**power, size**power)


def _fitted(end: Any, shape: tuple[int, ...], joined: Any) -> Any:
    """An end as an array of a shape: broadcast to it, or the tightest of those along axes that were broadcast."""
    end = np.asarray(end, float)
    extra = end.ndim - len(shape)
    if extra > 0:
        end = joined(end, axis=tuple(range(extra)))
    stretched = tuple(k for k in range(end.ndim) if shape[len(shape) - end.ndim + k] == 1 != end.shape[k])
    if stretched:
        end = joined(end, axis=stretched, keepdims=True)
    return np.broadcast_to(end, shape)


def _key_of(x: Any) -> Any:
    """Floats as whole numbers in the same order."""
    bits = np.asarray(x, float).copy().view(np.int64)
    return np.where(bits < 0, np.int64(-(2**63)) - bits, bits)


def _float_of(keys: Any) -> Any:
    """The floats of these whole numbers."""
    return np.where(keys < 0, np.int64(-(2**63)) - keys, keys).astype(np.int64).view(float)
