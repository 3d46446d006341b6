"""The singular points of ops: where a derivative jumps, is infinite or is only one-sided, and what holds there.

They follow from the entries' fields ``kinks`` and ``regular``.  At each the number, the formula and the program agree,
in every real dtype, and lie between the slopes on both sides, unless the table of conventions says otherwise.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from symgrad import dtypes
from symgrad.compiler import compile as compiled
from symgrad.errors import DtypeError
from symgrad.formula.derive import gradient
from symgrad.formula.digits import Digits
from symgrad.formula.term import as_term, evaluate, symbol
from symgrad.op import Op
from symgrad.ops.rules.kinks import KINKS
from symgrad.proving.laws import demand, differentiable, is_data
from symgrad.proving.samples import make_case, samples
from symgrad.tensor.creation import tensor

_GROWS = 1.5
"""A slope that grows by this factor from 1e-40 to 1e-80 of the point is infinite there: that of a logarithm doubles."""


class Point(NamedTuple):
    """A singular point of an op: in words, and as operands and parameters."""

    op: Op
    where: str
    args: tuple[Any, ...]
    params: dict[str, Any]


_WORDS: dict[str, tuple[float, ...]] = {"x = y": (1.0, 1.0), "x = lo": (1.0, 1.0, 2.0), "x = hi": (2.0, 1.0, 2.0)}
"""Operands at a kink that is told in words."""
_CONSTANT = {"all equal": 1.0, "ties": 1.0, "zero vector": 0.0}
"""The number that all entries are at such a kink."""


def points(op: Op) -> Iterator[Point]:
    """The singular points of an op."""
    seen = set()
    for kink in (*(op.kinks or ()), *_edges(op)):
        if kink not in seen:
            seen.add(kink)
            yield _at(op, kink)


def _at(op: Op, kink: Any) -> Point:
    if kink in _CONSTANT:
        args, params = make_case(op.name, 0)
        return Point(op, kink, tuple(_filled(a, _CONSTANT[kink]) for a in args), params)
    if kink in _WORDS:
        found = _WORDS[kink]
        arity = len(op.vjps)
        return Point(op, kink, tuple(np.float64(v) for v in (found if arity > 2 else _pair(kink, found))), {})
    values = kink if isinstance(kink, tuple) else (kink,)
    args, params = make_case(op.name, _of_numbers(op))
    rest = args[len(values) :]
    numbers = [v if k in (op.settings or ()) else np.float64(v) for k, v in enumerate(values)]
    return Point(op, _told(values), (*numbers, *rest), params)


def _pair(kink: str, found: tuple[float, ...]) -> tuple[float, float]:
    return (found[0], found[2]) if kink == "x = hi" else (found[0], found[1])


def _of_numbers(op: Op) -> int:
    """The number of a sample whose operands have no axes; the first where there is none."""
    for k in range(len(samples(op))):
        if all(not np.ndim(a) for a in make_case(op.name, k)[0]):
            return k
    return 0


def _filled(value: Any, by: float) -> Any:
    return np.full_like(value, by) if is_data(value) and value.dtype.kind == "f" else value


def _told(values: tuple[Any, ...]) -> str:
    return ", ".join(f"{name} = {Fraction(v).limit_denominator(1000)}" for name, v in zip("xyzw", values, strict=False))


def _edges(op: Op) -> Iterator[Any]:
    """The ends of where the entry says that it is regular."""
    if op.regular is None:
        return
    i, condition = op.regular
    found = re.fullmatch(r"(abs\(\{\}\)|\{\}) (?:<|>|!=) (-?\d+)", condition)
    if found is None:
        return
    end = int(found[2])
    for v in (-end, end) if found[1] != "{}" else (end,):
        yield (1, v) if i else v


class There(NamedTuple):
    """What holds at a singular point: the gradients of the operands, and the slopes before and behind it."""

    gradients: list[Any]
    sides: tuple[float, float] | None


def there(point: Point) -> There:
    """The eager gradients at a point, and the slopes on both sides where one operand is a number and moves alone."""
    return There(_eager(point, np.float64)[0], _sides(point))


def points_law(point: Point) -> None:
    """The number is what formula and program say, in every real dtype, and no slope that neither side has."""
    op, where = point.op, point.where
    want, leaves, w = _eager(point, np.float64)
    values = {f"x{k}": a for k, a in enumerate(point.args) if is_data(a)}
    if w is not None:
        values["w"] = w
    for leaf, number in zip(leaves, want, strict=True):
        if number is None:
            continue
        what = f"{op.name} at {where}"
        _same(evaluate(leaf.grad.term, values), number, f"{what}: formula")
        with np.errstate(all="ignore"):
            _same(compiled(leaf.grad, list(values))(*values.values()), number, f"{what}: program")
    for dtype in ("float32", "float16", "bfloat16"):
        if "h" in op.refuses and dtype != "float32":
            continue
        try:
            narrow = dtypes.as_dtype(dtype)
        except DtypeError:  # bfloat16, where ml_dtypes is not installed
            continue
        for got, number in zip(_eager(point, narrow)[0], want, strict=True):
            if number is not None:
                with np.errstate(all="ignore"):
                    rounded = np.asarray(number).astype(narrow).astype(np.float64)
                _same(np.asarray(got).astype(np.float64), rounded, f"{op.name} at {where}: {dtype}", 2e-2)
    _between(point, want)


def _eager(point: Point, dtype: Any) -> tuple[list[Any], list[Any], Any]:
    """The gradients by the operands that have one, these as tensors, and the cotangent: ones."""
    args = [np.asarray(a).astype(dtype)[()] if is_data(a) and a.dtype.kind == "f" else a for a in point.args]
    targets = differentiable_at(point)
    leaves = [tensor(a, name=f"x{k}", requires_grad=k in targets) if is_data(a) else a for k, a in enumerate(args)]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        out = point.op(*leaves, **point.params)
        w = None
        if out.requires_grad:
            w = np.ones(out.shape).astype(out.dtype)[()]
            out.backward(tensor(w, name="w"))
    wanted: list[Any] = [leaves[k] for k in targets]
    return [None if x.grad is None else x.grad._value for x in wanted], wanted, w


def differentiable_at(point: Point) -> list[int]:
    """Positions of the operands that have a derivative."""
    return [] if point.op.underived else differentiable(point.op, point.args)


def _same(got: Any, want: Any, what: str, slack: float = 1e-12) -> None:
    got, want = np.broadcast_to(np.asarray(got, float), np.shape(want)), np.asarray(want, float)
    equal = (got == want) | (np.isnan(got) & np.isnan(want))
    with np.errstate(all="ignore"):
        near = equal | (np.abs(got - want) <= slack * np.maximum(1, np.abs(want)))
    demand(near.all(), f"{what} gives {got.tolist()}, the number is {want.tolist()}")


def _between(point: Point, found: list[Any]) -> None:
    sides = _sides(point)
    if sides is None or point.op.name in KINKS or point.op.decided or not found or found[0] is None:
        return
    value = float(found[0])
    known = [s for s in sides if not math.isnan(s)]
    if known == [math.inf, -math.inf] and math.isnan(value):  # a pole of even order in the value: no limit
        return
    demand(
        not known or min(known) <= value <= max(known) or math.isclose(value, known[0], rel_tol=1e-9),
        f"{point.op.name} at {point.where}: the gradient is {value}, the slopes beside are {sides[0]} and {sides[1]}",
    )


def _sides(point: Point) -> tuple[float, float] | None:
    """The slopes by the first operand, next to the point; nan where the op has no value there."""
    op, args = point.op, point.args
    if any(np.ndim(a) for a in args) or 0 not in differentiable_at(point):
        return None
    numbers = Digits(200)
    terms = [symbol(f"x{k}", (), a.dtype) if is_data(a) else as_term(a) for k, a in enumerate(args)]
    out = as_term(op(*terms, **point.params))
    (slope,) = gradient(out, [terms[0]])

    def at(move: Any) -> Any:
        values = {f"x{k}": a for k, a in enumerate(args) if is_data(a)}
        values["x0"] = np.asarray(numbers.mp.convert(float(args[0])) + move, object)
        try:
            if not np.all([v == v for v in np.asarray(numbers.value(out, values, {}), object).flat]):
                return math.nan
            return numbers.value(slope, values, {}).item()
        except (ArithmeticError, ValueError):
            return math.nan

    def limit(sign: int) -> float:
        far, near = (at(sign * numbers.mp.mpf(10) ** -k) for k in (40, 80))
        if abs(near) > max(1, abs(far) * _GROWS):
            return math.copysign(math.inf, near)
        return round(float(near), 12)

    return limit(-1), limit(1)
