"""Whether a formula loses digits that another spelling of it keeps: both are computed at points of all sizes."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.errors import SymgradError
from symgrad.formula.digits import in_mpmath
from symgrad.formula.term import NUMBER, SYMBOL, Term, evaluate, make, postorder, rebuilt, substitute, symbol
from symgrad.op import lookup

TOLERANCE = 2.0**-47
"""How far a formula may be off before it is written anew."""
WORTH = 2.0**-40
"""How far it has to be off to be worth functions that nothing else needs; sums that happen to be small are not."""
MUCH = 2.0**-36
"""The same for a formula that costs many times as much."""
WITNESSES = 5
"""At how many points both are compared with the digits."""
NEAR = 100.0
"""Numbers of the formula beyond this are places where a variable may be close to them."""
HOLE = 1e-6
"""Two spellings farther apart where a variable is 0 are not equal there."""
ROUGH = 1e-2
"""Two spellings farther apart in single precision do not differ by their roundings alone."""
NORMAL = 1e30
"""Values beyond this, or its reciprocal, are not what a formula is evaluated for."""
SINGLE = 1e4
"""The same in single precision, where powers of them are to stay in the range of numbers."""

ALIKE = 256
"""Two spellings so many roundings apart are as good as each other."""
NEARLY = 8
"""Beyond them, one that is off by so many times as much as the other is worse."""

_TINY = 5e-324
_SIZES = [10.0**k for k in (-310, -200, -90, -30, -12, -6, -3, 6, 12, 30, 90, 160, 300)]
_SIZES += [0.11, 0.27, 0.4999, 0.5001, 0.73, 0.9, 0.9999, 1.0001, 1.9, 3.3, 7.7, 17.0, 21.9, 26.3, 29.0, 41.0]
_SIZES += [101.0, 361.0, 710.2, 720.0, 1.5e308]
_FAR = np.array([s * x for x in _SIZES for s in (1, -1)] + [0.6180339, 5e-9, -1.0])
_CLOSE = np.array([s * x for x in (1e-170, 1e-9, 0.3, 1.1, 12.0, 300.0, 1e9, 1e160, 1.5e308) for s in (1, -1)])
_LABELS = np.array([1.0, 41.0, 0.0, -41.0])


def probes(k: int) -> Any:
    """Values of the variable number ``k``: in another order for each, then such that all are close, or 0 and 1."""
    step = (k + 1) * np.arange(_FAR.size) % _FAR.size  # their number is prime, so all of them come
    return np.concatenate([_FAR[step], _CLOSE, _CLOSE * (1 - k * 2.0**-30), np.roll(_LABELS, k), np.roll(_LABELS, -k)])


def _ordinary(names: Sequence[str], constants: Sequence[float]) -> dict[str, Any]:
    """Values of ordinary sizes, and those where variables are close to each other, or to a number of the formula.

    A spelling that loses digits here, such as (x - y)² multiplied out, is no better for being right far out.  In
    (x - y)² + (x - z)² two variables that are close are not enough: the digits are lost where all of them are.
    """
    count = len(names)
    base = np.array([[0.37 + 0.21 * k, -0.61 + 0.3 * k, 1.7 - 0.4 * k] for k in range(count)]).reshape(count, -1)
    columns = [base]
    uneven = 2.0 ** np.arange(count)[:, None] - 1  # no sum of differences such as 2y - x - z is 0
    for size in (1e3, -1e9):
        pairs = [(i, j) for i in range(count) for j in range(i)]
        for others in base.T:
            rows = np.repeat(others[:, None], len(pairs), axis=1)
            for n, (i, j) in enumerate(pairs):
                rows[[i, j], n] = size, size * (1 - 2.0**-30)
            columns.append(rows)
        columns.append(size * (1 - uneven * 2.0**-30))
    for c in constants:
        rows = np.repeat(base, count, axis=1)
        for k in range(count):
            rows[k, 3 * k : 3 * k + 3] = c * (1 + np.array([2.0**-30, -(2.0**-20), 0.01]))
        columns.append(rows)
    return dict(zip(names, np.concatenate(columns, axis=1), strict=True))


def _one_far(count: int, small: bool) -> Any:
    """Values of all variables of which one is far out and the others are of ordinary sizes, or all are close.

    ``small``: those of which one is small.
    """
    base = np.array([0.37, -0.61, 1.7])
    columns = [] if small else [np.stack([probes(k)[_FAR.size :] for k in range(count)])]
    far = _FAR[np.abs(_FAR) < 1] if small else _FAR
    for k in range(count):
        rows = np.stack([np.resize(np.roll(base, i), far.size) for i in range(count)])
        rows[k] = far
        columns.append(rows)
    return np.concatenate(columns, axis=1)


def _inside(values: dict[str, Any], bounds: Sequence[tuple[str, float, float]]) -> dict[str, Any]:
    """The values, those beyond the bounds of their variable mirrored at these, and at the other end at last."""
    found = dict(values)
    for name, low, high in bounds:
        if name not in found:  # a variable that cancels
            continue
        v = found[name]
        for end, beyond in ((low, v < low), (high, v > high)):
            v = np.where(beyond, 2 * end - v, v) if np.isfinite(end) else v
        found[name] = np.clip(v, low, high)
    return found


def loses(
    scalar: Term,
    better: Term,
    dear: bool = False,
    further: bool = False,
    bounds: Sequence[tuple[str, float, float]] = (),
    dearer: bool = False,
) -> bool:
    """Whether ``better``, which is equal to a formula of scalars in exact arithmetic, is nearer to the exact values.

    Where they agree up to a few roundings, it is not asked which of them is.  At ordinary places it must not be worse.
    ``dear``: it costs more, so of three or more variables it is not enough that it is nearer where several of these are
    far out independently, or where the value is: 1e-310 · e^720 is an ordinary number, and a · e^-x / b a tiny one at
    x = 720, but nobody pays for these digits with further exponentials per entry.  ``dearer``: it costs many times
    as much, so it has to be nearer where variables are of usual size, however few there are: steps of Newton's method
    whose cubes overflow at 1e103 are no polynomials of degree 54.  ``further``: of
    the functions in the formula some are computed for others anyway, and ``better`` has new ones in their place; of
    three or more variables it then has to be nearer where one of them is small.  ``bounds``: variables that stay
    between two numbers.
    """
    order = postorder([scalar])
    marks = [t for t in order if t.op is SYMBOL]
    if not marks:
        return False
    names = [str(mark.name) for mark in marks]
    bounds = [bound for bound in bounds if bound[0] in names]  # others are gone, as in u - u
    rows = substitute([scalar, better], {mark: symbol(str(mark.name), ("probes",)) for mark in marks})
    constants = [float(t.number) for t in order if t.op is NUMBER and isinstance(t.number, (int, float, Fraction))]
    ordinary = _inside(_ordinary(names, sorted({c for c in constants if abs(c) > NEAR})[:WITNESSES]), bounds)
    if _has_holes(rows, names) or _oversteps(rows, names):
        return False
    dear, further = dear and len(names) > 2, further and len(names) > 2
    far = _one_far(len(names), further) if dear or further else [probes(k) for k in range(len(names))]
    within, tolerance = NORMAL if dear or further else None, WORTH if further else TOLERANCE
    if min(_votes(rows, (scalar, better), ordinary, both=True, times=NEARLY), default=0) < 0:
        rough = ALIKE * np.finfo(float).eps  # some roundings, for digits by the dozen elsewhere
        if min(_votes(rows, (scalar, better), ordinary, both=True, tolerance=rough), default=0) < 0:
            return False
        within, tolerance = NORMAL, WORTH
    values = _inside(dict(zip(names, far, strict=True)), bounds)
    if dearer:
        sizes = np.abs([*values.values()])
        usual = np.all((sizes == 0) | ((sizes > 1 / NORMAL) & (sizes < NORMAL)), axis=0)
        close = _inside(_ordinary(names, constants[:WITNESSES]), bounds)
        values = {name: np.concatenate([close[name], row[usual]]) for name, row in values.items()}
        tolerance = MUCH
    return sum(_votes(rows, (scalar, better), values, within=within, tolerance=tolerance)) > 0


def suffices(plain: Term, scaled: Term, bounds: Sequence[tuple[str, float, float]] = ()) -> bool:
    """Whether a formula is a number wherever ``scaled`` is, its equal, and as near.

    2/(2 + x)² is, however large x may be, when it is divided twice.
    """
    names = [str(t.name) for t in postorder([scaled]) if t.op is SYMBOL]
    rows = substitute([plain, scaled], {symbol(n): symbol(n, ("probes",)) for n in names})
    far = np.concatenate([np.stack([probes(k) for k in range(len(names))]), _one_far(len(names), False)], axis=1)
    values = _inside(dict(zip(names, far, strict=True)), bounds)
    return not has_gaps(plain, scaled, bounds) and sum(_votes(rows, (plain, scaled), values)) <= 0


_DENSE = np.linspace(-3.97, 4.01, 67)
_LONG = 10.0 ** np.arange(-300, 309, 8)
_ENDS = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 1e-8, 1e8])


def keeps(scalar: Term, other: Term, dtype: Any) -> bool:
    """Whether ``other``, which is equal to a formula of scalars in exact arithmetic, may be computed in its place.

    It has a value wherever the formula has one, and where they differ, its error is of the same order, or small.
    """
    values, plain = _everywhere(scalar, dtype)
    if not {str(t.name) for t in postorder([other]) if t.op is SYMBOL} <= set(values):
        return False
    row = substitute([other], {symbol(n): symbol(n, ("probes",)) for n in values})[0]
    with np.errstate(all="ignore"):
        made = np.broadcast_to(evaluate(row, values), plain.shape)
        if np.any(np.isnan(made) & ~np.isnan(plain)) or np.any(np.isfinite(plain) & ~np.isfinite(made)):
            return False
        off = np.abs(plain - made) / (np.abs(made) + np.finfo(dtype).tiny)
    off = np.where(np.isfinite(off) & np.isfinite(plain), off, 0)
    worst = np.argsort(-off, kind="stable")[: 2 * WITNESSES]
    allowed = ALIKE * np.finfo(dtype).eps
    return all(_is_as_near(other, values, k, plain[k], made[k], allowed) for k in worst[off[worst] > allowed])


@functools.lru_cache(maxsize=4)
def _everywhere(scalar: Term, dtype: Any) -> tuple[dict[str, Any], Any]:
    """Values of the variables of a formula that are ordinary, close, far out, and ends, and those that it has there."""
    names = [str(t.name) for t in postorder([scalar]) if t.op is SYMBOL]
    count = len(names)
    columns = [[*_ordinary(names, []).values()], [probes(k) for k in range(count)], _one_far(count, False)]
    columns.append([np.roll(_DENSE * (1 + 0.1 * k), 29 * k) for k in range(count)])
    for size in (_LONG, -_LONG):
        columns.append([size] * count)
        columns += [[size if j == k else np.full(size.size, 0.37 + 0.2 * j) for j in range(count)]
                    for k in range(count)]  # fmt: skip
    columns += [[_ENDS if j == k else np.full(_ENDS.size, base + 0.1 * j) for j in range(count)]
                for k in range(count) for base in (0.37, -0.61, 1.7)]  # fmt: skip
    with np.errstate(all="ignore"):
        values = dict(zip(names, np.concatenate(columns, axis=1).astype(dtype), strict=True))
        row = substitute([scalar], {symbol(n): symbol(n, ("probes",)) for n in names})[0]
        return values, np.broadcast_to(evaluate(row, values), next(iter(values.values())).shape)


def _is_as_near(scalar: Term, values: dict[str, Any], k: int, plain: Any, made: Any, allowed: float) -> bool:
    """Whether ``made`` is not much farther from the value of a formula than ``plain`` is."""
    import mpmath

    try:
        faint = 1e-40 * max(abs(float(plain)), abs(float(made)))
        exact = np.asarray(in_mpmath(scalar, {name: row[k] for name, row in values.items()}, n=30, faint=faint))[()]
        exact = mpmath.mpf(int(exact)) if isinstance(exact, (int, np.integer)) else exact
        with mpmath.workdps(40):
            one, two = (abs(mpmath.mpf(float(v)) - exact) for v in (plain, made))
            return bool(two <= max(NEARLY * one, allowed * abs(exact)))
    except (SymgradError, ArithmeticError, ValueError, TypeError):
        return False


def lost_ends(scalar: Term, better: Term) -> list[Term]:
    """The variables at whose infinities ``better`` is nan although the formula is not: √(1 + x²) - 1 as a quotient.

    So it may be where another variable is far out, too: inf e^-x at 800.
    """
    marks = [t for t in postorder([scalar]) if t.op is SYMBOL]
    rows = substitute([scalar, better], {mark: symbol(str(mark.name), ("probes",)) for mark in marks})
    base = np.array([0.37, -0.61, 1.7, -2.3, 0.9, -0.2, 3.1])  # more than there are variables, so that all orders come
    count = len(marks)
    found = []
    for k, mark in enumerate(marks):
        others = [np.stack([np.roll(base, j) + 0.2 * j for j in range(count)])]
        for far in (800.0, -800.0):
            for j in set(range(count)) - {k}:
                others.append(others[0].copy())
                others[-1][j] = far
        rest = np.concatenate(others * 2, axis=1)
        values = {str(other.name): row for other, row in zip(marks, rest, strict=True)}
        values[str(mark.name)] = np.repeat([np.inf, -np.inf], rest.shape[1] // 2)
        with np.errstate(all="ignore"):
            plain, other = (np.broadcast_to(evaluate(t, values), rest.shape[1]) for t in rows)
        if np.any(np.isnan(other) & ~np.isnan(plain)):
            found.append(mark)
    return found


def has_gaps(scalar: Term, other: Term | None = None, bounds: Sequence[tuple[str, float, float]] = ()) -> bool:
    """Whether a formula is nan where its variables are numbers, and where ``other`` is none if there is such.

    So e^-x² (1 + x⁴) is at 1e200, by a product of 0 and infinity.
    """
    names = [str(t.name) for t in postorder([scalar]) if t.op is SYMBOL]
    if not names:
        return False
    rows = substitute(
        [scalar] if other is None else [scalar, other], {symbol(n): symbol(n, ("probes",)) for n in names}
    )
    far = [np.stack([probes(k) for k in range(len(names))]), _one_far(len(names), False)]
    values = _inside(dict(zip(names, np.concatenate(far, axis=1), strict=True)), bounds)
    with np.errstate(all="ignore"):
        lost, *better = (np.isnan(evaluate(t, values)) for t in rows)
    return bool(np.any(lost & ~better[0] if better else lost))


def _has_holes(rows: Sequence[Term], names: Sequence[str]) -> bool:
    """Whether the other spelling has no value, or another one, where a variable is 0: sign x as |x| / x."""
    base = np.repeat(np.array([0.37, -0.61, 1.7]), len(names))
    values = {name: np.where(np.arange(base.size) % len(names) == k, 0, base + 0.2 * k) for k, name in enumerate(names)}
    with np.errstate(all="ignore"):
        plain, other = (evaluate(t, values) for t in rows)
        close = np.abs(plain - other) <= HOLE * (1 + np.abs(plain))
    return bool(np.any(np.isfinite(plain) & ~close))


def _oversteps(rows: Sequence[Term], names: Sequence[str]) -> bool:
    """Whether the other spelling has a value where the formula has no real one: √x / √x as 1 below 0."""
    signs = 1 - 2 * (np.arange(2 ** len(names)) >> np.arange(len(names))[:, None] & 1)
    values = dict(zip(names, np.concatenate([0.61 * signs, 1.7 * signs], axis=1), strict=True))
    with np.errstate(all="ignore"):
        plain, other = (np.broadcast_to(evaluate(t, values), 2 * signs.shape[1]) for t in rows)
    beyond = np.isnan(plain) & np.isfinite(other)
    return any(_has_complex_value(rows[0], {n: v[[k]] for n, v in values.items()}) for k in np.flatnonzero(beyond))


_UNEVEN = np.array([0.37, -0.61, 1.7, -2.3, 0.9, -0.2, 3.1])
_ONE_SIZE = {False: (60, 100, 150), True: (6, 9, 12, 15, 18)}
"""Of what powers of ten and their reciprocals all variables are at once: in double precision, and in single."""
NEARER, FARTHER = (9, 14, 19, 24, 29), (45, 60, 100, 150, 200, 300)
"""Those within the range that formulas are evaluated for, and those beyond."""
USUAL = (1, 2, 3)
"""Those that are usual: the sixteenth power of 30 is a number in single precision, and twice as high ones are not."""


def is_narrower(
    scalar: Term,
    better: Term,
    bounds: Sequence[tuple[str, float, float]] = (),
    single: bool = False,
    powers: Sequence[int] | None = None,
) -> bool:
    """Whether ``better`` leaves the range of numbers where all variables are of one size and the formula does not.

    So quotients of polynomials of fifth degree do at 1e80, and at 1e9 in single precision.  ``powers``: of ten,
    of which the variables are.
    """
    dtype = np.float32 if single else np.float64
    marks = [t for t in postorder([scalar]) if t.op is SYMBOL]
    rows = substitute([scalar, better], {mark: symbol(str(mark.name), ("probes",)) for mark in marks})
    rows = rebuilt(rows, lambda term, args: _rounded(term.with_args(args), dtype), only={"where"}) if single else rows
    sizes = np.array([10.0 ** (sign * k) for k in powers or _ONE_SIZE[single] for sign in (1, -1)])
    columns = [np.multiply.outer(sizes, np.roll(_UNEVEN, -k)).ravel() for k in range(len(marks))]
    values = _inside(dict(zip([str(mark.name) for mark in marks], columns, strict=True)), bounds)
    values = {name: row.astype(dtype) for name, row in values.items()}
    with np.errstate(all="ignore"):
        plain, other = (np.broadcast_to(evaluate(t, values), columns[0].shape) for t in rows)
        alike = np.abs(other - plain) <= (ROUGH if single else HOLE) * np.abs(plain)
        off = np.isfinite(plain) & ~alike & ((np.abs(plain) > float(np.finfo(dtype).tiny)) | ~np.isfinite(other))
    return any(
        _vote((scalar, better), {name: row[k] for name, row in values.items()}, plain[k], other[k]) == -1
        for k in np.flatnonzero(off)[:WITNESSES]
    )


def is_false(
    scalar: Term,
    better: Term,
    bounds: Sequence[tuple[str, float, float]] = (),
    powers: Sequence[int] = FARTHER,
) -> bool:
    """Whether ``better`` is a number, and not the right one, where the formula is none: all variables are of one size.

    x⁹/(1 + x⁹) is nan at 1e60, and by its cubes, of which a divisor is infinite and no factor is, it is 0 for 1.
    """
    names = [str(t.name) for t in postorder([scalar]) if t.op is SYMBOL]
    rows = substitute([scalar, better], {symbol(n): symbol(n, ("probes",)) for n in names})
    sizes = np.array([10.0 ** (sign * k) for k in powers for sign in (1, -1)])
    columns = [np.multiply.outer(sizes, np.roll(_UNEVEN, -k)).ravel() for k in range(len(names))]
    values = _inside(dict(zip(names, columns, strict=True)), bounds)
    with np.errstate(all="ignore"):
        plain, other = (np.broadcast_to(evaluate(t, values), columns[0].shape) for t in rows)
    places = np.flatnonzero(~np.isfinite(plain) & np.isfinite(other))
    return any(_is_off(better, {name: row[k] for name, row in values.items()}, other[k]) for k in places)


def _is_off(scalar: Term, values: dict[str, Any], found: Any) -> bool:
    """Whether a number is another one than the value of a formula, which is not lost in the range of numbers itself."""
    exact = _exact(scalar, values)
    tiny = float(np.finfo(float).tiny)
    return exact is not None and bool(abs(exact) > tiny and abs(float(found) - exact) > ROUGH * abs(exact))


def _rounded(term: Term, dtype: Any) -> Term:
    """A choice between arrays and numbers in the dtype of the arrays, as programs have it."""
    return make(lookup("cast"), (term,), {"dtype": np.dtype(dtype).name}, term.shape, term.dtype)


def _votes(
    rows: Sequence[Term],
    scalars: tuple[Term, Term],
    values: dict[str, Any],
    both: bool = False,
    within: float | None = None,
    tolerance: float = TOLERANCE,
    times: float = 1,
) -> list[int]:
    """Where the two spellings are farthest apart: 1 where the second is nearer to the truth, -1 where it is not.

    It is not where it is off by more than ``times`` as much.  ``both``: only where both are finite; ``within``: only
    where the second is not beyond this, or its reciprocal.
    """
    shape = next(iter(values.values())).shape
    plain, other = (np.broadcast_to(evaluate(t, values), shape) for t in rows)
    with np.errstate(all="ignore"):
        off = np.abs(plain - other) / (np.abs(other) + 4 * _TINY / TOLERANCE)
    off = np.where(np.isfinite(other) & (np.isfinite(plain) | (not both)), np.where(np.isnan(off), np.inf, off), 0)
    if within is not None:
        with np.errstate(all="ignore"):
            off = np.where((np.abs(other) <= within) & (np.abs(other) >= 1 / within), off, 0)
    worst = np.argsort(-off, kind="stable")
    votes: list[int] = []
    for k in worst[off[worst] > tolerance]:
        vote = _vote(scalars, {name: row[k] for name, row in values.items()}, plain[k], other[k], times)
        votes += [] if vote is None else [vote]
        if len(votes) == WITNESSES:
            break
    return votes


def _has_complex_value(scalar: Term, values: dict[str, Any]) -> bool:
    """Whether a formula that is nan at real numbers has a value at the same numbers as complex ones."""
    with np.errstate(all="ignore"), contextlib.suppress(SymgradError, ArithmeticError, ValueError, TypeError):
        return bool(np.all(np.isfinite(evaluate(scalar, {n: np.asarray(v, complex)[()] for n, v in values.items()}))))
    return False


def _vote(scalars: tuple[Term, Term], values: dict[str, Any], plain: Any, other: Any, times: float = 1) -> int | None:
    """1 where ``other`` is nearer to the value of the second in many digits, -1 where ``plain`` is; None if unknown.

    Where the first is nan as it has no real value, as √x · √x below 0, nothing is lost.
    """
    import mpmath

    if np.isnan(plain) and _has_complex_value(scalars[0], values):
        return None
    exact = _exact(scalars[1], values)
    if exact is None:
        return None
    with mpmath.workdps(40):
        one, two = (abs(mpmath.mpf(float(v)) - exact) if np.isfinite(v) else mpmath.inf for v in (plain, other))
    return int(two < one) - int(two > times * one)


def _exact(scalar: Term, values: dict[str, Any]) -> Any:
    """The value of a formula in many digits; None where it has none, or is no real number."""
    import mpmath

    try:
        exact = np.asarray(in_mpmath(scalar, values, n=30))[()]
    except (SymgradError, ArithmeticError, ValueError, TypeError):
        return None
    exact = mpmath.mpf(int(exact)) if isinstance(exact, (int, np.integer)) else exact
    if not hasattr(exact, "_mpf_") or not mpmath.isfinite(exact):  # a complex number, a truth value, a pole
        return None
    return exact
