"""A function as a formula: it is run on example arrays, of several sizes where its formula holds sizes as numbers.

``X.shape[0]`` is a number while a function runs, so that the formula of a mean written by hand says 1/3 for three rows.
The formulas of three runs at different sizes are put together: a number that follows a size becomes that size.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, ShapeError
from symgrad.formula.joined import joined
from symgrad.formula.term import Term, evaluate
from symgrad.interop.array_calls import called as called_with_arrays
from symgrad.sources.running import ran
from symgrad.sources.shapes import Reached, Shapes, infer_shapes, reached
from symgrad.tape.formulas.reading import Reading
from symgrad.tape.modes import enable_grad
from symgrad.tape.record import Recorded, value_of
from symgrad.tape.watching.conditions import looks_before
from symgrad.tensor.creation import tensor

SIZES = (3, 4, 5, 6, 7, 2, 8, 9, 10, 11, 12)
OTHER_SIZES = (13, 11, 17, 7, 19, 5, 23, 29, 31, 37, 41)
THIRD_SIZES = (8, 10, 6, 12, 4, 14, 2, 16, 18, 20, 22)
"""Sizes of letters in the first, second and third run: odd ones and even ones, as n // 2 is (n - 1) / 2 for odd n."""

MULTIPLES = (7, 11, 13)
"""By what sizes are multiplied where arrays fit each other only as they were given; programs hold few such numbers."""
ALONE = (17, 19, 23, 29, 31, 37, 41, 43, 47)
"""By what a size is multiplied that fits the others whatever it is: in other proportions to them in each run."""
_LARGEST = 10**6
"""Arrays with more entries are not made for that."""
_FLOAT = np.dtype(float)


def run_on_examples(f: Callable[..., Any], known: Shapes, scalar: bool) -> tuple[Reading, Term]:
    """A function run on example arrays; ``known`` shapes keep their letters, the others are found by trying.

    Where the formula is another one at every size, it is that of one size, which stands in place of its letter.
    """
    names, shapes = example_shapes(f, known, scalar)

    def run(sizes: dict[Any, int], lettered: bool = True) -> tuple[Reading, Term]:
        letters = {n: letter for letter, n in sizes.items()} if lettered else {}
        with np.errstate(all="ignore"):
            try:
                return ran(f, _arrays(names, shapes, sizes), letters)
            except np.linalg.LinAlgError:
                return ran(f, _arrays(names, shapes, sizes, definite=True), letters)

    def again(order: Sequence[int]) -> tuple[dict[Any, int], Term]:
        sizes = sizes_of(shapes, order)
        return sizes, run(sizes)[1]

    first = sizes_of(shapes, SIZES)
    try:
        reading, term = run(first)
    except np.linalg.LinAlgError:
        # XᵀX of a wide X is singular at any entries.
        first = sizes_of(shapes, SIZES[::-1])
        reading, term = run(first)
    try:
        found = _for_all_sizes(term, first, again)
        if found is None:
            # At small sizes an index may be that of the last entry, or a slice the whole axis.
            larger = sizes_of(shapes, OTHER_SIZES)
            other, general = run(larger)
            found = _for_all_sizes(general, larger, again)
            if found is not None and _agree(found, term, reading):
                return other, found
            found = None
    except ShapeError:
        return run(first, lettered=False)  # the sizes are those of arrays that the function holds
    return (reading, found) if found is not None else run(first, lettered=False)


def run_on(f: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Reading, Term]:
    """A function run on given arguments, and at other sizes where all of them are arrays, numbers or shapes.

    Sizes at which its formula is another one each time are numbers: it is not taken for the formula of others.
    """
    with np.errstate(all="ignore"):
        reading, term = ran(f, args)
    given = [() if isinstance(a, float) else a if isinstance(a, tuple) else getattr(a, "shape", None) for a in args]
    if not all(isinstance(s, tuple) and all(isinstance(n, int) for n in s) for s in given):
        return reading, term
    letters = reading.letters
    names = [str(k) for k in range(len(args))]
    shapes: Shapes = {k: tuple(letters.get(n, n) for n in s) for k, s in zip(names, given, strict=True)}  # type: ignore[union-attr]
    first = {letter: n for n, letter in letters.items()}

    def run(shapes: Shapes, sizes: dict[Any, int]) -> tuple[Reading, Term]:
        plain, definite = (_arrays(names, shapes, sizes, d) for d in (False, True))
        examples = [_alike(a, e, d) for a, e, d in zip(args, plain, definite, strict=True)]
        with np.errstate(all="ignore"):
            return ran(f, examples, {n: letter for letter, n in sizes.items()})

    def at_other_sizes(term: Term, moving: Collection[str]) -> Term | None:
        """The formula for all sizes of these letters, the others being as they are."""
        fixed = {k: tuple(s if s in moving else first.get(s, s) for s in shape) for k, shape in shapes.items()}

        def again(order: Sequence[int]) -> tuple[dict[Any, int], Term]:
            sizes = sizes_of(fixed, order)
            # What was wide stays wide, and what was tall stays tall.
            sizes = dict(zip(sorted(sizes, key=first.__getitem__), sorted(sizes.values()), strict=True))
            return sizes, run(fixed, sizes)[1]

        return _for_all_sizes(term, {letter: first[letter] for letter in first if letter in moving}, again)

    try:
        found = at_other_sizes(term, first)
    except Exception:  # noqa: BLE001  (whatever the function does with arrays of other sizes)
        # Others may go another way through a function that looks at values, and have other constants.
        alike = not (looks_before(reading) or reading.taken)
        multiples = _at_multiples(shapes, first, functools.partial(run, shapes)) if alike else None
        if multiples is not None and _agree(multiples[1], term, reading) and not _agree(term, *multiples[::-1]):
            return multiples
        if reading.taken or reading.composed or reading.met:
            return reading, term  # the sizes are those of arrays from elsewhere, or n + 1, which examples do not keep
        found = None
    return (reading, found) if found is not None else _with_numbers(f, args, at_other_sizes, letters)


def _at_multiples(
    shapes: Shapes, first: dict[str, int], run: Callable[[dict[Any, int]], tuple[Reading, Term]]
) -> tuple[Reading, Term] | None:
    """The formula of three runs whose sizes are multiples of the given ones: halves of these stay their halves.

    A size that fits the others whatever it is, is another multiple: it is not taken for twice another one by chance.
    """
    runs: list[tuple[dict[str, int], Reading, Term]] = []

    def at(by: dict[str, int]) -> tuple[dict[str, int], Reading, Term] | None:
        sizes = {letter: by[letter] * n for letter, n in first.items()}
        entries = [np.prod([sizes.get(str(s), 1) for s in shape]) for shape in shapes.values()]
        try:
            return None if max(entries) > _LARGEST else (sizes, *run(sizes))
        except Exception:  # noqa: BLE001  (as in run_on)
            return None

    alone = [x for x in first if len(first) > 1 and at({letter: ALONE[0] if letter == x else 1 for letter in first})]
    for k, multiple in enumerate(MULTIPLES):
        own = {x: ALONE[(len(MULTIPLES) * j + k) % len(ALONE)] for j, x in enumerate(alone)}
        found = at({**dict.fromkeys(first, multiple), **own})
        if found is None:
            return None
        runs.append(found)
    term = joined([term for *_, term in runs], [sizes for sizes, *_ in runs]) if first else None
    return None if term is None else (runs[0][1], term)


def _agree(found: Term, term: Term, reading: Reading) -> bool:
    """Whether a formula of other runs gives the value of the one that was read, too."""
    values = {name: value_of(leaf) for name, leaf in reading.sources.items()}
    sizes = {letter: n for n, letter in reading.letters.items()}
    try:
        with np.errstate(all="ignore"):
            return np.allclose(evaluate(found, values, sizes), evaluate(term, values, sizes), rtol=1e-6, equal_nan=True)
    except Exception:  # noqa: BLE001  (a formula of arrays that this run does not have)
        return False


def _alike(a: Any, example: Any, definite: Any) -> Any:
    """An example in an argument's place, of its dtype: positive definite where it is symmetric, the same integers."""
    value = getattr(a, "_value", a)
    dtype = getattr(value, "dtype", None) or _FLOAT
    if dtype.kind in "biu":
        return np.resize(a, np.shape(example))
    square = getattr(value, "ndim", 0) == 2 and value.shape[0] == value.shape[1]
    if square and np.array_equal(value, value.conj().T):
        example = definite
    if dtype.kind == "c":
        example = _turned(example)
    return example if isinstance(example, float) else np.asarray(example, dtype)


def _turned(example: Any) -> Any:
    """A complex example of a real one; symmetric matrices become Hermitian ones with the same eigenvalues."""
    if np.ndim(example) == 2 and np.array_equal(example, example.T):
        turns = np.exp(0.5j * np.arange(len(example)))
        return turns[:, None] * example * turns.conj()
    return example * np.exp(0.5j * np.arange(np.size(example)).reshape(np.shape(example)) + 0.3j)


def _with_numbers(
    f: Callable[..., Any], args: tuple[Any, ...], at_other_sizes: Callable[..., Term | None], letters: dict[int, str]
) -> tuple[Reading, Term]:
    """The run of a function with numbers for the sizes for which alone its formula holds."""

    def attempt(moving: dict[int, str]) -> tuple[Reading, Term | None]:
        with np.errstate(all="ignore"):
            reading, term = ran(f, args, moving)
        try:
            return reading, at_other_sizes(term, moving.values())
        except Exception:  # noqa: BLE001  (as above)
            return reading, None

    general = {n: letter for n, letter in letters.items() if attempt({n: letter})[1] is not None}
    reading, found = attempt(general)
    if found is None:
        with np.errstate(all="ignore"):
            return ran(f, args, {})
    return reading, found


# ---------------------------------------------------------------------------------------------- sizes


def _for_all_sizes(term: Term, sizes: dict[Any, int], again: Callable[..., tuple[dict[Any, int], Term]]) -> Term | None:
    """The formula of a function that holds at all sizes; None where it is another one at every size."""
    if not sizes:
        return term
    # A line goes through any two points, and any function through one: each letter has three sizes.
    others, second = again([n for n in OTHER_SIZES if n not in sizes.values()])
    if second is term:
        return term
    third, proof = again([n for n in THIRD_SIZES if n not in sizes.values()])
    return joined([term, second, proof], [sizes, others, third])


def sizes_of(shapes: Shapes, order: Sequence[int]) -> dict[Any, int]:
    """A size for every letter, none of which is a number of the shapes."""
    letters = dict.fromkeys(s for shape in shapes.values() for s in shape if isinstance(s, str))
    fixed = {s for shape in shapes.values() for s in shape if isinstance(s, int)}
    free = (n for n in itertools.chain(order, itertools.count(43)) if n not in fixed)
    return dict(zip(letters, free, strict=False))


def _arrays(names: Sequence[str], shapes: Shapes, sizes: dict[Any, int], definite: bool = False) -> tuple[Any, ...]:
    """An example for every name: entries near 1, where most functions are defined; or square ones positive definite."""
    out = []
    for k, name in enumerate(names):
        shape: tuple[int, ...] = tuple(s if isinstance(s, int) else sizes[s] for s in shapes[name])
        steps = np.arange(int(np.prod(shape)), dtype=np.float64)
        array = (1 + 0.4 * np.sin(steps * steps + 1 + k)).reshape(shape)
        if definite and len(shape) == 2 and shape[0] == shape[1]:
            array = array @ array.T + (1 + k) * np.eye(shape[0])
        out.append(array if shape else float(array))
    return tuple(out)


# ---------------------------------------------------------------------------------------------- shapes


def example_shapes(f: Callable[..., Any], known: Shapes, scalar: bool) -> tuple[list[str], Shapes]:
    """The parameters of a function, and shapes of them with which it runs."""
    names = _all_parameters(f)
    if set(names) <= set(known):
        return names, known

    ends = [(-1.0, "")]

    def attempt(shapes: Shapes) -> tuple[bool, Reached]:
        progress = _Progress()
        out: Any = None
        for definite in (False, True):
            values = [tensor(a, requires_grad=True) for a in _arrays(names, shapes, sizes_of(shapes, SIZES), definite)]
            with np.errstate(all="ignore"), enable_grad():
                try:
                    out = called_with_arrays(f, values)
                    break
                except np.linalg.LinAlgError:
                    continue
                except Exception as error:  # noqa: BLE001  (whatever the function does with arguments that do not fit)
                    found = reached(progress.made(), error)
                    ends.append((found.far, f"{type(error).__name__}: {error}"))
                    return False, found
        good = isinstance(out, Recorded) and (not scalar or set(out._value.shape) <= {1})
        if not good:
            what = f"of shape {out._value.shape}" if isinstance(out, Recorded) else f"of type {type(out).__name__}"
            ends.append((1e9, f"a result {what}, where {'a number' if scalar else 'an array or a number'} is needed."))
        return good, Reached(1e9)

    try:
        return names, infer_shapes(names, attempt, known)
    except ShapeError as error:
        raise ShapeError(f"{error} The try that went farthest ended with {max(ends)[1]:.300}") from error


class _Progress:
    """How many nodes were recorded since it was made."""

    def __init__(self) -> None:
        self.start = self._now()

    @staticmethod
    def _now() -> int:
        probe: Any = tensor(1.0, requires_grad=True) * 2  # type: ignore[operator]
        return int(probe.edge().sequence_nr)

    def made(self) -> float:
        """The number of nodes so far."""
        return float(self._now() - self.start)


def _all_parameters(f: Callable[..., Any]) -> list[str]:
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        raise ArgumentError("the parameters of this function cannot be read; pass example arguments.") from None
    needed = [p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if not needed:
        raise ArgumentError("this function has no positional parameters; pass example arguments.")
    return [p.name for p in needed]
