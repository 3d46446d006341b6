"""For which sizes a program holds: its function is traced once more, at other sizes, and has to do the same there.

A size that Python turned into a plain number (``len(x)``, ``math.sqrt(x.shape[0])``, a loop over the rows) looks like
any other number in a trace.  Calls are safe all the same, as each shape is traced; but source text, the program alone
and saved files are used at any size, so they ask here first.  Numbers that follow the sizes at three choices of them,
such as ``0.5 * len(x)``, are written with letters; what follows no rule holds for one size.  What the function asks of
sizes is known, and the program says so: it holds where the answers are the same.  Where it asks NumPy or C, nobody
tells; so fewer entries, many, and tall arrays for wide ones are tried, too.  There the function may take another way;
it may also fail, and other operations give the same numbers.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from symgrad.compiler.program import build
from symgrad.compiler.trace import OF_SIZES, Output, Trace, is_array, trace
from symgrad.errors import SymgradError
from symgrad.formula.joined import joined
from symgrad.formula.term import evaluate, postorder, size_letter
from symgrad.op import lookup
from symgrad.ops.shapes.sizes import letters_of, size_value
from symgrad.tape import containers
from symgrad.tape.formulas.fitting import has_sizes
from symgrad.tape.record import Recorded, plain
from symgrad.tensor import Tensor

LARGE = 100_000
"""Entries beyond which an array with all its axes as long as the longest is too much work."""


Values = dict[str, list[Any]]
"""The constants that grow with an argument, by name: their values in the trace, and at other sizes."""


def fixed_sizes(function: Callable[..., Any], args: Sequence[Any], found: Trace) -> tuple[set[int], Values]:
    """The sizes among the letters of ``found`` for which alone the program holds, and the constants that grow.

    ``args`` has the structure of the arguments; what is an array there is taken from the trace.
    """
    grown: Values = {}
    moves = _moves(found)
    letters = moves[0].keys()
    if not letters:
        return set(), grown
    same = all(_same_at(function, args, found, sizes, grown) for sizes in moves)
    far = _far(found)
    if same and not any(_other_at(function, args, found, sizes, grown) for sizes in far):
        note_order(function, args, found)
        return {found.sizes[letter] for letter in _inside_constants(function, args, found, grown)}, grown
    alone = {
        letter
        for letter in letters
        if not all(_same_at(function, args, found, {letter: sizes[letter]}, grown) for sizes in moves)
        or any(_other_at(function, args, found, {letter: sizes[letter]}) for sizes in far if letter in sizes)
    }
    return {found.sizes[letter] for letter in alone or letters}, grown


def _inside_constants(function: Callable[..., Any], args: Sequence[Any], found: Trace, grown: Values) -> set[str]:
    """The letters that the entries of constants follow which grow with others: ``linspace(0, n, m)`` follows n."""
    letters = {
        c.name: {s for size in c.shape if isinstance(size, str) for s in letters_of(size)}
        for c in found.constants
        if c.name in grown
    }
    inside: set[str] = set()
    for sizes in _moves(found):
        for letter in sizes.keys() - inside:
            names = [name for name, shape in letters.items() if letter not in shape]
            other = _trace_at(function, args, found, _followed(found, {letter: sizes[letter]})) if names else None
            values = {} if other is None else {c.name: c.value for c in other.constants}
            if any(name in values and not _equal(values[name], grown[name][0]) for name in names):
                inside.add(letter)
    return inside


def with_sizes(function: Callable[..., Any], args: Sequence[Any], found: Trace) -> Trace | None:
    """The trace with sizes for the numbers that Python made of them, ``0.5 * len(x)``; None where that is not all.

    The traces at two more choices of sizes tell how the numbers follow them, and fewer entries have to agree.
    """
    traces, moves, grown = [found], _moves(found), Values()
    for sizes in moves:
        other = _trace_at(function, args, found, _followed(found, sizes))
        if other is None or not _same_surroundings(found, other, grown):
            return None
        traces.append(other)
    whole = _joined(traces, [{s: t[s] for s in moves[0] if s.isidentifier()} for t in (found.sizes, *moves)])
    if whole is None or any(_other_at(function, args, whole, sizes) for sizes in _far(found)):
        return None
    if _inside_constants(function, args, found, grown):
        return None
    note_order(function, args, whole)
    return whole


def _joined(traces: Sequence[Trace], sizes: Sequence[Mapping[str, int]]) -> Trace | None:
    """One trace of several at different sizes, of which each number that differs follows the sizes."""
    first = traces[0]
    made = copy.copy(first)
    if first.base is not None:
        bases = [t.base for t in traces if t.base is not None]
        made.base = _joined(bases, sizes) if len(bases) == len(traces) else None
    if (made.base is None) != (first.base is None) or len({len(t.outputs) for t in traces}) > 1:
        return None
    made.outputs = []
    for row in zip(*(t.outputs for t in traces), strict=True):
        term = joined([o.term for o in row], sizes)
        if term is None:
            return None
        made.outputs.append(Output(term, row[0].dtype, row[0].shape, row[0].derivative))
    return made


def _moves(found: Trace) -> tuple[dict[str, int], dict[str, int]]:
    """Other sizes for the letters of a trace, twice."""
    written = {s for i in found.inputs for s in i.shape if isinstance(s, str) and s in found.sizes}
    letters = {s for s in written if s.isidentifier()} or written
    taken = {n for i in found.inputs for n in np.shape(i.value)}
    own = {n for c in found.constants for n in np.shape(c.value)}  # as long as these, they would look like them
    # What was wide stays wide, and what was tall stays tall.
    rising = sorted(letters, key=found.sizes.__getitem__)
    # One more, and steps between them that no padding, window or difference makes.
    above = itertools.accumulate(itertools.count(7), initial=max(taken, default=0) + 1)
    others = dict(zip(rising, (n for n in above if n not in own), strict=False))
    if _entries(found, others) > LARGE:
        others = _next_free(rising, found.sizes, taken)
    # One more may not change what was divided and rounded, such as the n // 2 + 1 waves of a real signal; twice does.
    # Far from each other, so that no part of one axis is as long as another axis.
    lowest = {letter: 2 * found.sizes[letter] + 1 + 17 * k for k, letter in enumerate(others)}
    apart = {letter: next(n for n in itertools.count(low) if n not in own) for letter, low in lowest.items()}
    if _entries(found, apart) > LARGE:
        apart = _next_free(rising, {letter: 2 * n for letter, n in found.sizes.items()}, taken)
    first = _same_way(found, others)
    return first, _same_way(found, apart, first)


def _same_way(found: Trace, sizes: dict[str, int], taken: Mapping[str, int] | None = None) -> dict[str, int]:
    """Sizes near these, or else near those of the trace, at which the function goes its way, where there are such."""
    above = [{letter: n + k for letter, n in sizes.items()} for k in range(NEAR)]
    close = [
        {letter: found.sizes[letter] + k + step * place for place, letter in enumerate(sizes)}
        for step, k in itertools.product((2, 1), range(1, NEAR))
    ]
    return next((s for s in (*above, *close) if s != taken and holds_at(found, s)), sizes)


NEAR = 8
"""Steps to sizes at which a function goes the same way: those that are divided by eight."""


def holds_at(found: Trace, sizes: Mapping[str, int]) -> bool:
    """Whether what the function asked of sizes has the same answers at other ones, and its slices the same lengths."""
    known = {**found.sizes, **_followed(found, sizes)}
    return _asked_at(found, sizes) and all(size_value(size, known) >= least for size, least in found.least)


def _asked_at(found: Trace, sizes: Mapping[str, int]) -> bool:
    """Whether what the function asked of sizes has the same answers at other ones."""
    known = {**found.sizes, **_followed(found, sizes)}
    return all(evaluate(term, {}, known) for term in found.compared)


def guarded(function: Callable[..., Any], args: Sequence[Any], found: Trace) -> Trace:
    """The trace with what it asks of sizes among what the function looked at: a program for more than one size."""
    asked = [term for term in found.compared if has_sizes(term)]
    short = (row for row in found.least if not _holds_for_short(function, args, found, *row))
    asked += [lookup("ge")(size_letter(size), least) for size, least in short]
    if not asked:
        return found
    made = copy.copy(found)
    made.guards = [*found.guards, *((term, np.array(True), OF_SIZES) for term in asked)]
    return made


def _holds_for_short(function: Callable[..., Any], args: Sequence[Any], found: Trace, size: str, least: int) -> bool:
    """Whether a program gives what its function does where an axis is a little too short for a slice: a sum does."""
    if not size.isidentifier():
        return False
    shorter = _followed(found, {size: least - 1})
    runs = min(shorter.values()) >= 0 and _asked_at(found, shorter)
    other = _trace_at(function, args, found, shorter) if runs else None
    return other is not None and bool(_agrees(found, other))


def beside_constants(function: Callable[..., Any], args: Sequence[Any], found: Trace) -> Trace:
    """The trace at other sizes where those of arguments are as long by chance as an axis of what the function holds.

    Sixteen examples for sixteen units of a layer look like one size.
    """
    moves, mixed = _moves(found)[0], {s for c in found.constants for s in c.shape}
    free = {s: n for s, n in moves.items() if s in mixed and _trace_at(function, args, found, {s: n}) is not None}
    return (_elsewhere(function, args, found, free) if free else None) or found


def beside_numbers(function: Callable[..., Any], args: Sequence[Any], found: Trace) -> Trace | None:
    """The trace at other sizes where it holds for more than those: one of the example is a user's number by chance.

    The three largest of three entries look like all of them.
    """
    first, second = _moves(found)
    other = _elsewhere(function, args, found, first) if first else None
    again = None if other is None else _trace_at(function, args, found, _followed(found, second))
    if other is None or again is None or not _same_terms(other, again):
        return None
    fixed, grown = fixed_sizes(function, args, other)
    return None if fixed or grown else other


def _elsewhere(
    function: Callable[..., Any], args: Sequence[Any], found: Trace, moved: Mapping[str, int]
) -> Trace | None:
    """The trace at other sizes, if its program gives what the function does at those of the example as well."""
    other = _trace_at(function, args, found, _followed(found, moved))
    if other is None or other.guards or found.guards or not _same_constants(found, other):
        return None
    pairs = zip(other.inputs, found.inputs, strict=True)
    sizes = {s: n for i, j in pairs for s, n in zip(i.shape, np.shape(j.value), strict=True) if isinstance(s, str)}
    there = _trace_at(function, args, other, sizes) if holds_at(other, sizes) else None
    return other if there is not None and _agrees(other, there) else None


def _same_constants(a: Trace, b: Trace) -> bool:
    """Whether two traces hold the same arrays."""
    values = {c.name: c.value for c in b.constants}
    return values.keys() == {c.name for c in a.constants} and all(_equal(c.value, values[c.name]) for c in a.constants)


def apart(function: Callable[..., Any], args: Sequence[Any], found: Trace) -> Trace | None:
    """The trace at sizes of which none is made of others, where the function runs there as well.

    Of six rows and seven columns ``m - 1`` may be the number of rows, or no more than happens to be it.
    """
    written = dict.fromkeys(s for i in found.inputs for s in i.shape if isinstance(s, str))
    if all(s.isidentifier() for s in written):
        return None
    sizes = {s: size_value(s, found.sizes) + 13 * k * k for k, s in enumerate(written, 1)}
    if _entries(found, sizes) > LARGE:
        return None
    try:
        with np.errstate(all="ignore"):
            other = trace(function, filled(args, [_resized(i, sizes, False) for i in found.inputs]))
    except Exception:  # noqa: BLE001  (whatever the function does with arrays of other sizes)
        return None
    plain = all(s.isidentifier() for i in other.inputs for s in i.shape if isinstance(s, str))
    return other if plain and not (other.guards or other.constants) else None


def _fewer(found: Trace) -> dict[str, int]:
    """The smallest size for each letter, from 2 on, that is no size of another, and in the same order."""
    taken = {n for i in found.inputs for n in np.shape(i.value)}
    fewer: dict[str, int] = {}
    for letter in sorted(_moves(found)[0], key=found.sizes.__getitem__):
        free = next(
            (n for n in range(2, found.sizes[letter]) if n not in taken and n > max([1, *fewer.values()])), None
        )
        if free is not None:
            fewer[letter] = free
    return fewer


def note_order(function: Callable[..., Any], args: Sequence[Any], found: Trace) -> None:
    """Let a trace hold for arrays that are as tall or as wide as they are, where others give other numbers.

    An op has as many singular values as the smaller size says.
    """
    letters = sorted(_moves(found)[0], key=found.sizes.__getitem__)
    turned = {a: found.sizes[b] for a, b in zip(letters, reversed(letters), strict=True)}
    if len(letters) > 1 and _other_at(function, args, found, turned):
        less = lookup("lt")
        found.compared = [*found.compared, *(less(*map(size_letter, pair)) for pair in itertools.pairwise(letters))]


def _far(found: Trace) -> list[dict[str, int]]:
    """Sizes at which the function may take another way: the smallest, and as large as is cheap."""
    letters = _moves(found)[0]
    times = ({s: k * found.sizes[s] + 1 for s in letters} for k in (1000, 300, 100, 30, 10))
    many = next((sizes for sizes in times if _widest(found, sizes) <= LARGE), {})
    return [sizes for sizes in (_fewer(found), many) if sizes]


def _widest(found: Trace, sizes: Mapping[str, int]) -> int:
    """How many entries the largest array of a program has at other sizes."""
    known = {**found.sizes, **_followed(found, sizes)}
    terms = postorder([o.term for o in (found.base or found).outputs])
    return max((math.prod(size_value(s, known) for s in shape) for shape in {t.shape for t in terms}), default=0)


def _entries(found: Trace, sizes: Mapping[str, int]) -> int:
    """How many entries the largest input has at other sizes."""
    moved = _followed(found, sizes)
    shapes = [zip(i.shape, np.shape(i.value), strict=True) for i in found.inputs]
    return max((math.prod(moved.get(s, n) for s, n in shape) for shape in shapes), default=0)


def _followed(found: Trace, sizes: Mapping[str, int]) -> Mapping[str, int]:
    """Other sizes, with those that are made of them."""
    known = {**found.sizes, **sizes}
    made = {s for i in found.inputs for s in i.shape if isinstance(s, str) and not s.isidentifier()}
    return {**sizes, **{s: size_value(s, known) for s in made - sizes.keys() if letters_of(s) <= known.keys()}}


def _next_free(rising: Sequence[str], sizes: Mapping[str, int], taken: set[int]) -> dict[str, int]:
    """The next larger number for each letter that is no size of another; for arrays of many axes, which stay small."""
    moved: dict[str, int] = {}
    last = 0
    for letter in rising:
        last = next(n for n in itertools.count(max(last, sizes[letter]) + 1) if n not in taken)
        moved[letter] = last
    return moved


def filled(args: Sequence[Any], arrays: Sequence[Any]) -> list[Any]:
    """Arguments of the structure of ``args``, with these arrays one after the other where it has arrays."""
    row = iter(arrays)
    return [containers.tree_map(lambda x: _as_given(next(row), x) if is_array(x) else x, a) for a in args]


def _as_given(value: Any, example: Any) -> Any:
    """A value as the kind of thing that the example is: a tensor, whose methods are meant, or a plain number."""
    if isinstance(example, Recorded):
        return plain(Tensor, value)
    return value.item() if example.__class__ in (float, complex) else value


def _same_at(
    function: Callable[..., Any], args: Sequence[Any], found: Trace, sizes: Mapping[str, int], grown: Values
) -> bool:
    """Whether a trace at other sizes gives the same formulas."""
    other = _trace_at(function, args, found, _followed(found, sizes))
    return other is not None and _same_terms(found, other) and _same_surroundings(found, other, grown)


def _other_at(
    function: Callable[..., Any],
    args: Sequence[Any],
    found: Trace,
    sizes: Mapping[str, int],
    grown: Values | None = None,
) -> bool:
    """Whether a function runs at other sizes as well, and gives other numbers there: ``min(len(x), 10)``."""
    other = _trace_at(function, args, found, _followed(found, sizes)) if sizes and holds_at(found, sizes) else None
    if other is None or (
        _same_terms(found, other) and _same_surroundings(found, other, {} if grown is None else grown)
    ):
        return False
    return _agrees(found, other) is False


def _agrees(found: Trace, other: Trace) -> bool | None:
    """Whether the program of a trace gives what another one at other sizes does; None where one of them fails."""
    program = build(found)
    values = {i.name: i.value for i in (*other.inputs, *other.constants)}
    with suppress(SymgradError, ValueError, TypeError, ArithmeticError, LookupError, np.linalg.LinAlgError):
        with np.errstate(all="ignore"):
            given = program.function(**{a.name: values[a.name] for a in program.arguments if a.name in values})
        for mine, there in zip(given if len(program.results) > 1 else (given,), other.outputs, strict=False):
            exact = evaluate(there.term, values, other.sizes)
            if np.shape(mine) != np.shape(exact) or not np.allclose(mine, exact, rtol=1e-4, equal_nan=True):
                return False
        return True
    return None


def _trace_at(
    function: Callable[..., Any], args: Sequence[Any], found: Trace, sizes: Mapping[str, int]
) -> Trace | None:
    """A trace at other sizes; None where there are none, as for taps that outnumber samples, or it does not run."""
    if min(sizes.values(), default=0) < 0:
        return None
    for definite in (False, True):
        moved = filled(args, [_resized(i, sizes, definite) for i in found.inputs])
        try:
            with np.errstate(all="ignore"):
                return trace(function, moved)
        except np.linalg.LinAlgError:
            continue
        except Exception:  # noqa: BLE001  (whatever the function does with arrays of other sizes)
            return None
    return None


def _resized(i: Any, sizes: Mapping[str, int], definite: bool) -> Any:
    """The values of an input at other sizes, over and over; or positive definite matrices."""
    shape = tuple(sizes.get(s, n) for s, n in zip(i.shape, np.shape(i.value), strict=True))
    if shape == np.shape(i.value):
        return i.value
    made = np.resize(i.value, shape).astype(i.dtype)
    if definite and len(shape) >= 2 and shape[-1] == shape[-2] and i.dtype.kind in "fc":
        made = (made @ np.conj(np.swapaxes(made, -1, -2)) + shape[-1] * np.eye(shape[-1])).astype(i.dtype)
    return made


def _same_terms(a: Trace, b: Trace) -> bool:
    """Whether two traces have the same formulas."""
    return [o.term for o in a.outputs] == [o.term for o in b.outputs]


def _same_surroundings(a: Trace, b: Trace, grown: Values) -> bool:
    """Whether two traces looked at the same and took the same constants.

    A constant that has grown with an argument is noted with its values; the shapes of both tell.
    """
    if len(a.guards) != len(b.guards) or a.compared != b.compared:
        return False
    for (term, seen, _), (other, also, _) in zip(a.guards, b.guards, strict=True):
        if term is not other or not np.array_equal(seen, also, equal_nan=seen.dtype.kind in "fc"):
            return False
    constants = {c.name: c.value for c in b.constants}
    told = {s for i in a.inputs for s in i.shape}
    changes: list[tuple[Any, Any]] = []
    for c in a.constants:
        if c.name not in constants:
            return False
        value = constants[c.name]
        changed = [s for s, n, m in zip(c.shape, np.shape(c.value), np.shape(value), strict=True) if n != m]
        if not told.issuperset(changed) or not (changed or _equal(c.value, value)):
            return False
        if changed:
            changes.append((c, value))
    for c, value in changes:
        grown.setdefault(c.name, [c.value]).append(value)
    return True


def _equal(a: Any, b: Any) -> bool:
    return np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind in "fc")
