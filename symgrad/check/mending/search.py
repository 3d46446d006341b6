"""The search: run the gradient with one change after the other, and believe the one that is right at two points."""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import itertools
import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import replace
from itertools import zip_longest
from operator import itemgetter
from typing import Any

import numpy as np

from symgrad.check.asking.arrays import as_array
from symgrad.check.asking.nested import Given
from symgrad.check.asking.outputs import output_leaves
from symgrad.check.asking.outside import Constant, numbers_read
from symgrad.check.asking.subject import Subject
from symgrad.check.mending.edits import edits, held_data
from symgrad.check.mending.informed import TERMS, informed_edits
from symgrad.check.mending.pairs import Change, Pairs
from symgrad.check.mending.routines import NotThisText, Routine, routines
from symgrad.check.mending.spots import Edit, Spot, is_repeated, is_shared, probes, spots_of
from symgrad.check.mending.statements import forgotten
from symgrad.check.oracle.exact import exact_gradient
from symgrad.check.oracle.points import Design, at_other_sizes, at_other_values, design_of
from symgrad.check.report import ArgumentReport, Mend

_WANTED = ContextVar("whether mends are looked for", default=True)


@contextlib.contextmanager
def looking_for_mends(wanted: bool) -> Iterator[None]:
    """Inside, the user's functions run with changed texts, or as they are written only."""
    before = _WANTED.set(wanted)
    try:
        yield
    finally:
        _WANTED.reset(before)


SLOWEST = 0.25
"""Seconds that one run of a gradient may take, so that there is time for many."""


class Search:
    """The changes of one expression in the functions of a gradient, one after the other, while there is time."""

    def __init__(self, subject: Subject, given: Given, arguments: Sequence[ArgumentReport]):
        self.subject, self.given, self.arguments = subject, given, arguments
        self.found: Mend | None = None
        self.special: Mend | None = None  # what is right for arguments of the design, or the sizes, of those given
        self.wanted = _WANTED.get()
        self._tries: Iterator[Change] | None = None
        self._seen: set[tuple[int, str]] = set()
        self._pairs = Pairs(arguments)
        self._likely = True
        self._rng = np.random.default_rng(5)
        self._places: dict[Rank, list[tuple[Routine, list[Spot]]]] = {}

    def go_on(self, seconds: float, end: float, likely: float = 0.0, two: bool = False) -> Mend | None:
        """The change that makes the whole derivative right; None while none is found.

        ``seconds`` of work, and ``likely`` while likely changes are tried, not counting what other programs take, but
        until ``end`` of ``time.monotonic()`` at most.  With ``two`` it may also be two of the changes that were tried.
        """
        if not seconds or not self.wanted:
            return self.found
        start, began = time.monotonic(), time.thread_time()
        if self._tries is None:
            self._tries = self._all()
        for change in self._tries if self.found is None else ():
            self._try(change)
            longest, now = max(likely, seconds) if self._likely else seconds, time.monotonic()
            enough = now > start + longest and time.thread_time() > began + longest
            if self.found or enough or now > min(start + 2 * longest, end):
                break
        if two and self.found is None:
            self.found = self._of_two(end)
        return self.found

    def informed(self, kinds: set[str], missing: Sequence[Any], seconds: float, end: float) -> Mend | None:
        """The same with what is missing in mistakes of these kinds, where it moves nothing but what is wrong.

        ``missing`` holds what is known to be, in numbers; it is what a line that was forgotten has to add.
        """
        for changes in (self._lines(kinds, missing), self._parts_missing(kinds)):
            began, last = time.thread_time(), min(time.monotonic() + 2 * seconds, end)
            for change in changes:
                self._try(change)
                if self.found:
                    return self.found
                if time.monotonic() > last or time.thread_time() > began + seconds:
                    break
        self.found = self._of_two(end)  # the same mistake may be made for two arguments
        return self.found

    def _lines(self, kinds: set[str], missing: Sequence[Any]) -> Iterator[Change]:
        """Lines that were forgotten."""
        wrong = [a for a in self.arguments if a.wrong and a.given.shape == a.exact.shape]
        lacking = [np.where(np.abs(a.exact - a.given) > a.tolerance, a.exact - a.given, 0) for a in wrong]
        own = {id(r): r for places in self._places.values() for r, _ in places} if kinds & {*TERMS} else {}
        for routine in own.values():
            yield from (Change(routine, edit) for edit in forgotten(routine, [*lacking, *missing]))

    def _parts_missing(self, kinds: set[str]) -> Iterator[Change]:
        """Factors and terms that were forgotten."""
        for _, places in sorted(self._places.items()):
            for tries in zip_longest(*(informed_edits(r, spots, kinds, self._ratio()) for r, spots in places)):
                yield from (Change(r, e) for (r, _), e in zip(places, tries, strict=True) if e is not None)

    def _ratio(self) -> float | None:
        """The number that all that is wrong lacks as a factor; None where there is none."""
        wrong = [a for a in self.arguments if not a.ok]
        if any(a.given.shape != a.exact.shape or a.exact.dtype.kind != "f" for a in wrong):
            return None
        given, exact = (np.concatenate([np.ravel(getattr(a, w)) for a in wrong]) for w in ("given", "exact"))
        size = float(np.sum(given * given))
        k = float(np.sum(given * exact)) / size if size and np.isfinite(size) else 0.0
        fits = all(_near(k * a.given, a.exact, a.tolerance * max(1.0, abs(k))) for a in wrong)
        return k if k and fits and exact.size > 1 else None

    def _try(self, change: Change) -> None:
        routine, edit = change
        text = edit.applied(routine.text)
        if (id(routine), text) in self._seen:
            return
        self._seen.add((id(routine), text))
        made = _with([(routine, text)], self._gradients)
        if made is None:
            return
        if not self._is_right(made) or not self._is_kept(change, [(routine, text)]):
            self._pairs.note(made, change)

    def _is_kept(self, change: Change, texts: Texts) -> bool:
        """Whether a change that is right at the point is what was looked for, or the best if nothing else is."""
        routine, edit = change
        if self._right_elsewhere(texts, {}):
            sized = self._right_at_other_sizes(texts, {})
            if sized or (sized is None and not self._may_be_sizes(change)):
                if self._right_at_all_numbers(texts):
                    self.found = _mend(routine, edit)
                    return True
                special = True
            else:
                special = sized is None or (not self._numbers(change) and self._writes_sizes(routine))
        else:
            special = bool(self._design) and self._right_elsewhere(texts, self._design)
            special = special and self._right_at_other_sizes(texts, self._design) is not False
        if special and self.special is None:
            self.special = _mend(routine, edit)
        return special

    def _of_two(self, end: float) -> Mend | None:
        """Two changes that make the derivative right together."""
        for one, other in itertools.islice(self._pairs.complete(), MOST_PAIRS):
            texts = _together(one, other)
            if time.monotonic() > end:
                break
            here = bool(texts) and self._is_right(_with(texts, self._gradients)) and self._right_elsewhere(texts, {})
            if here and self._right_at_other_sizes(texts, {}) is not False:
                return _mend_of_two(one, other)
        return None

    def _gradients(self) -> list[Any] | None:
        again = self.given.again
        return None if again is None else _quietly(lambda: again(self.subject.given_args()))

    def _is_right(self, made: Any) -> bool:
        return made is not None and all(
            _near(g, a.exact, a.tolerance) for g, a in zip(made, self.arguments, strict=True)
        )

    def _all(self) -> Iterator[Change]:
        """The changes to try: none where there is no function, or where it is slow, or has very many numbers."""
        took = SLOWEST + 1
        for _ in range(2):  # the first call of a library may be slow
            start = time.thread_time()
            first = self._gradients()
            took = min(took, time.thread_time() - start)
            if took < SLOWEST:
                break
        if first is None or not all(map(_repeated, first, self.arguments)):
            return
        sizes = [np.size(v) for k, v in enumerate(self.subject.args) if k in self.subject.data]
        if took > SLOWEST or max(sizes, default=0) > LARGEST:
            return
        found = _quietly(lambda: routines(self._gradients, self._values)) or []
        for shared in (False, True):
            ranked: dict[Rank, list[tuple[Routine, list[Spot]]]] = {}
            for routine in found:
                for rank, spots in self._by_rank(routine, took, shared).items():
                    ranked.setdefault(rank, []).append((routine, spots))
            self._places = self._places or {rank: those for rank, those in ranked.items() if rank[1] != _UNKNOWN}
            for (_, those), self._likely in _stages(ranked):
                for tries in zip_longest(*(_edits_of(routine, spots, self._likely) for routine, spots in those)):
                    yield from filter(None, tries)

    def _values(self, args: Sequence[Any] | None = None) -> list[Any] | None:
        """What the function under the derivative gives, as arrays."""
        at = self.subject.given_args() if args is None else args
        made: list[Any] | None = _quietly(lambda: [as_array(v) for _, v in output_leaves(self.given.f(*at))])
        return made

    def _by_rank(self, routine: Routine, took: float, shared: bool) -> dict[Rank, list[Spot]]:
        """The expressions of a function: those first that move what is wrong, and nothing else.

        What people copied from the function under the derivative comes last.
        They are its own, or the ``shared`` ones, which the function under the derivative runs, too, and whose values
        are not its result: what a forward pass keeps, or the gradient that it computes beside.
        """
        every, ranked = [s for s in spots_of(routine) if is_shared(s, routine) == shared], dict[Rank, list[Spot]]()
        soon = len(every) * took * (1 + shared) < SLOWEST
        for spot in every:
            rank = self._rank(routine, spot, shared) if soon else _UNKNOWN
            if rank is not None:
                ranked.setdefault((is_repeated(spot, routine), rank), []).append(spot)
        return ranked

    def _rank(self, routine: Routine, spot: Spot, shared: bool) -> int | None:
        """0 if a value moves all that is wrong and no argument that is right, 1 if others, too, and _UNKNOWN.

        _PART if it moves some of what is wrong, which takes a second change; None if nothing moves, or the function
        under the derivative does.
        """
        made, several = None, probes(spot, routine.text)
        for probed in several:
            text = probed.applied(routine.text)
            if shared and not self._same_value([(routine, text)]):
                return None
            made = _with([(routine, text)], self._gradients)
            if made is not None:
                break
        else:
            return _UNKNOWN
        others = False
        for g, a in zip(made, self.arguments, strict=True):
            if np.shape(g) != a.given.shape or a.given.shape != a.exact.shape:
                return _UNKNOWN
            moved = g != a.given
            if a.wrong and not moved[np.abs(a.given - a.exact) > 2 * a.tolerance].all():
                # what is written may be another place, and what a loop writes first is not all that it writes
                elsewhere = probed.start != spot.start and (moved.any() or probed is not several[0])
                return _UNKNOWN if elsewhere else _PART if self._moves(made) else None
            others = others or (not a.wrong and bool(np.any(moved)))
        return int(others)

    def _moves(self, made: Sequence[Any]) -> bool:
        """Whether gradients are others than those that were given, in what is wrong only."""
        pairs = [(g != a.given, a) for g, a in zip(made, self.arguments, strict=True)]
        return any(moved.any() for moved, _ in pairs) and not any(moved.any() for moved, a in pairs if not a.wrong)

    def _same_value(self, texts: Texts, args: Sequence[Any] | None = None) -> bool:
        """Whether the function under the derivative gives the same with other texts of functions that it may call."""
        here, there = self._values(args), _with(texts, lambda: self._values(args))
        return here is not None and there is not None and len(here) == len(there) and all(map(_same, here, there))

    @functools.cached_property
    def _design(self) -> Design:
        return design_of(self.subject)

    def _right_elsewhere(self, texts: Texts, design: Design) -> bool:
        """Whether texts that are right at the point are so close by, too, and leave the function itself as it is.

        And farther away, where that is known and takes little time: the sides of branches that entries take change.
        """
        start = time.monotonic()
        if not self._right_between(texts, 1, 1.1, design):
            return False
        if time.monotonic() - start > SLOWEST:
            return True
        turned = MOST_TURNED if any(_conditions(r.text) != _conditions(text) for r, text in texts) else 0
        far = [(0.4, 1.6)] * MOST_FAR + [(-1.6, 1.6)] * turned  # a new condition may hold at all points alike
        return all(self._right_between(texts, low, high, design) is not False for low, high in far)

    def _right_between(self, texts: Texts, low: float, high: float, design: Design) -> bool | None:
        """The same where all arguments are multiplied by numbers between two; None where it is not known."""
        return self._right_at(texts, at_other_values(self.subject, low, high, self._rng, design))

    def _right_at_all_numbers(self, texts: Texts) -> bool:
        """Whether texts are right with other signs of the arguments, and of numbers that both functions read."""
        if self._right_between(texts, -1.6, 1.6, {}) is False:
            return False
        for number in self._read_from_outside:
            with number.being(number.value + 1 if isinstance(number.value, int) else 1.25 * number.value + 0.125):
                if self._right_at(texts, self.subject.given_args()) is False:
                    return False
        return True

    @functools.cached_property
    def _read_from_outside(self) -> list[Constant]:
        return numbers_read(self.given.f, self.given.again)[:MOST_NUMBERS]

    def _right_at_other_sizes(self, texts: Texts, design: Design) -> bool | None:
        """Whether texts are right where arguments have other sizes; None where the function has no others."""
        known = [self._right_at(texts, args) for args in at_other_sizes(self.subject, design)]
        return None if {*known} <= {None} else False not in known

    def _may_be_sizes(self, change: Change) -> bool:
        """Whether numbers that come or go may be sizes, or by how much one is larger, where the exact formula has any.

        But for 2 and 1/2, which derivatives bring.
        """
        sizes = self._sizes(change.routine)
        if (self._numbers(change) - {2, 0.5}).isdisjoint(n / m for n, m in itertools.permutations(sizes, 2)):
            return False
        texts = [found[0] for a in self.arguments if a.wrong and (found := _quietly(a.formulas))]
        return any({*_LETTERS.findall(text)} - {*self.subject.names} for text in texts)

    def _sizes(self, routine: Routine) -> set[int]:
        """How many entries arguments and variables have along an axis, and one."""
        arrays = [*self.subject.args, *(value for _, value in held_data(routine))]
        return {1, *(n for a in arrays for n in np.shape(a))} - {0}

    def _writes_sizes(self, routine: Routine) -> bool:
        """Whether a text has sizes as numbers, or the place of the last entry: nothing makes it right at others."""
        sizes = self._sizes(routine)
        last = {float(n) + 1 for part in _PLACES.findall(routine.text) for n in _NUMBERS.findall(part)}
        return any(n in sizes for n in {*map(float, _NUMBERS.findall(routine.text)), *last} if n > 2)

    @staticmethod
    def _numbers(change: Change) -> set[float]:
        """The numbers that a change puts in or takes out, but for exponents."""
        old, new = change.routine.text[change.edit.start : change.edit.end], change.edit.words
        counts = [Counter(_NUMBERS.findall(_POWERS.sub("", text))) for text in (old, new)]
        return {float(k) for k in counts[0].keys() | counts[1].keys() if counts[0][k] != counts[1][k]}

    def _right_at(self, texts: Texts, args: list[Any]) -> bool | None:
        """Whether texts are right for other arguments; None where it is not known."""
        subject, again = self.subject, self.given.again
        assert again is not None
        made = _with(texts, lambda: _quietly(lambda: again(args)))
        if made is None:
            return None
        there = Subject(self.given.f, args, subject.positions, subject.names, subject.derivative, subject.given)
        exact = _quietly(lambda: exact_gradient(there, made))
        if exact is None or not all(np.isfinite(e).all() for e in exact.gradients):
            return None
        if list(map(np.shape, made)) != list(map(np.shape, exact.gradients)):
            return None  # the function writes down how long its arrays are
        if any(r.shared for r, _ in texts) and not self._same_value(texts, args):
            return False
        return all(_near(g, e, 4 * t) for g, e, t in zip(made, exact.gradients, exact.tolerance, strict=True))


_NUMBERS, _LETTERS = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])"), re.compile(r"\b[a-z]\b(?!\()")
"""Numbers in a text of Python, and single letters in a formula: variables and sizes."""

_PLACES, _POWERS = re.compile(r"\[[^\[\]]*\]"), re.compile(r"\*\*\s*\d+")
"""What stands in brackets, and exponents."""

_UNKNOWN, _PART = 2, 3
"""The ranks of an expression of which it is not known what it moves, and of one that moves too little."""

Rank = tuple[bool, int]
"""Whether an expression is repeated, and its rank."""

MOST_NUMBERS = 4
"""Numbers from outside of which other values are tried."""

MOST_FAR, MOST_TURNED = 2, 6
"""Points farther away at which a change has to be right as well, and of those with other signs for conditions."""

LARGEST = 3000
"""Entries of an argument: the product of two that were made a row and a column by a change still fits in memory."""


MOST_PAIRS = 40
"""Pairs of changes that are tried where two mistakes may be what is wrong."""

Texts = list[tuple[Routine, str]]


def _stages(ranked: dict[Rank, Any]) -> Iterator[tuple[Any, bool]]:
    """Expressions by rank: the likely changes of all that may be the mistake first, then all others."""
    order = sorted(ranked.items(), key=itemgetter(0))
    whole, part = ([item for item in order if (item[0][1] == _PART) == of_part] for of_part in (False, True))
    yield from ((item, likely) for items in (whole, part) for likely in (True, False) for item in items)


def _edits_of(routine: Routine, spots: Sequence[Spot], likely: bool) -> Iterator[Change]:
    return (Change(routine, edit) for edit in edits(routine, spots, likely))


def _together(one: Change, other: Change) -> Texts:
    """The texts with two changes; none where these are of the same place."""
    if one.routine is not other.routine:
        return [(c.routine, c.edit.applied(c.routine.text)) for c in (one, other)]
    both = _merged(one, other)
    return [] if both is None else [(one.routine, both.applied(one.routine.text))]


def _merged(one: Change, other: Change) -> Edit | None:
    """Two changes of one text as one, with what stands between them."""
    first, last = sorted((one.edit, other.edit))
    if first.end > last.start:
        return None
    return Edit(first.start, last.end, first.words + one.routine.text[first.end : last.start] + last.words)


def _conditions(text: str) -> list[str]:
    """The comparisons of a text."""
    return [ast.dump(node) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Compare)]


def _with(texts: Texts, gradients: Callable[[], Any]) -> Any:
    """The gradients when functions have other texts; None where one is no function, or fails."""
    try:
        with contextlib.ExitStack() as stack:
            for routine, text in texts:
                stack.enter_context(routine.reading(text))
            made = gradients()
    except NotThisText:
        return None
    return made


def _quietly(call: Callable[[], Any]) -> Any:
    """The result of a call; None if it fails, whose words nobody has asked for."""
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except Exception:  # noqa: BLE001  (whatever a changed function does)
            return None


def _same(a: Any, b: Any) -> bool:
    return np.array_equal(a, b, equal_nan=a.dtype.kind in "fc") or (a.dtype.kind in "fc" and _near(a, b, 0.0))


def _repeated(again: Any, a: ArgumentReport) -> bool:
    """Whether a gradient is what it was, within its tolerance where that has its shape."""
    return _near(again, a.given, a.tolerance if a.given.shape == a.exact.shape else 0.0)


def _near(a: Any, b: Any, tolerance: Any) -> bool:
    if np.shape(a) != np.shape(b):
        return False
    scale = float(np.max(np.abs(b), initial=0.0))
    with np.errstate(invalid="ignore"):
        return bool(np.all(np.abs(a - b) <= 2 * tolerance + 1e-12 * scale))


def _mend(routine: Routine, edit: Edit) -> Mend:
    """The lines that change, as they are and as they are right, with as few parentheses as that takes."""
    text = routine.text
    best = edit.applied(text)
    tree = ast.dump(ast.parse(best))
    for k in [i for i, c in enumerate(edit.words) if c == "("]:
        bare = _without_pair(edit.words, k)
        if bare is not None:
            other = edit._replace(words=bare).applied(text)
            with contextlib.suppress(SyntaxError):
                if ast.dump(ast.parse(other)) == tree:
                    best = other
                    break
    old, new = text.splitlines(), best.splitlines()
    at = next(k for k, (a, b) in enumerate(zip_longest(old, new)) if a != b)
    if at and new[at + 1 :] == old[at:] and _indented(new[at]) > _indented(old[at]):
        at -= 1  # a line more at the end of a loop is shown with the one before it
    rest = len(old) - at
    while rest > 1 and len(new) - at > 0 and old[at + rest - 1 :] == new[len(new) - (len(old) - at - rest + 1) :]:
        rest -= 1
    after = len(old) - at - rest
    before = text[: edit.start].count("\n")
    line = routine.first + before
    was, right = old[at : at + rest], new[at : len(new) - after]
    return Mend(routine.file, line, "\n".join(map(str.strip, was)), "\n".join(map(str.strip, right)))


def _indented(line: str) -> int:
    return len(line) - len(line.lstrip())


def _mend_of_two(one: Change, other: Change) -> Mend:
    """Two changes, in the order of their lines; as one where they are of the same or neighbouring lines."""
    (first, a), (second, b) = sorted((one, other), key=lambda c: (c.routine.first, c.edit))
    both = _merged(one, other) if first is second else None
    if both is not None and "\n" not in first.text[a.end : b.start]:
        return _mend(first, both)
    return replace(_mend(first, a), also=_mend(second, b))


def _without_pair(words: str, k: int) -> str | None:
    """A text without the parenthesis at a place and the one that closes it."""
    depth = 0
    for j in range(k, len(words)):
        depth += (words[j] == "(") - (words[j] == ")")
        if not depth:
            return words[:k] + words[k + 1 : j] + words[j + 1 :]
    return None
