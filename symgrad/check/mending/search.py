"""The search: run the gradient with one change after the other, and believe the one that is right at two points."""

from __future__ import annotations

import ast
import contextlib
import io
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from itertools import zip_longest
from typing import Any

import numpy as np

from symgrad.check.asking.arrays import as_array
from symgrad.check.asking.calling import like
from symgrad.check.asking.nested import Given
from symgrad.check.asking.subject import Subject
from symgrad.check.mending.edits import Edit, Spot, edits, probe, spots_of
from symgrad.check.mending.routines import NotThisText, Routine, routines
from symgrad.check.oracle.exact import exact_gradient
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
        self.wanted = _WANTED.get()
        self._tries: Iterator[tuple[Routine, Edit]] | None = None
        self._seen: set[tuple[int, str]] = set()

    def go_on(self, seconds: float, end: float) -> Mend | None:
        """The change that makes the whole derivative right; None while none is found.

        ``seconds`` of work, not counting what other programs take, but until ``end`` of ``time.monotonic()`` at most.
        """
        if not seconds or not self.wanted:
            return self.found
        worked, waited = time.thread_time() + seconds, min(time.monotonic() + 2 * seconds, end)
        if self._tries is None:
            self._tries = self._all()
        for routine, edit in self._tries if self.found is None else ():
            text = edit.applied(routine.text)
            if (id(routine), text) not in self._seen:
                self._seen.add((id(routine), text))
                if self._is_right(_with(routine, text, self._gradients)) and self._right_elsewhere(routine, text):
                    self.found = _mend(routine, edit)
                    break
            if time.thread_time() > worked or time.monotonic() > waited:
                break
        return self.found

    def _gradients(self) -> list[Any] | None:
        again = self.given.again
        return None if again is None else _quietly(lambda: again(self.subject.given_args()))

    def _is_right(self, made: Any) -> bool:
        return made is not None and all(
            _near(g, a.exact, a.tolerance) for g, a in zip(made, self.arguments, strict=True)
        )

    def _all(self) -> Iterator[tuple[Routine, Edit]]:
        """The changes to try: none where there is no function, or where it is slow, or has very many numbers."""
        start = time.thread_time()
        first = self._gradients()
        if first is None or not all(_near(g, a.given, a.tolerance) for g, a in zip(first, self.arguments, strict=True)):
            return
        sizes = [np.size(v) for k, v in enumerate(self.subject.args) if k in self.subject.data]
        took = time.thread_time() - start
        if took > SLOWEST or max(sizes, default=0) > LARGEST:
            return
        found = _quietly(lambda: routines(self._gradients, lambda: self.given.f(*self.subject.given_args())))
        yield from _tries(found or [], self._gradients, self.arguments, took)

    def _right_elsewhere(self, routine: Routine, text: str) -> bool:
        """Whether a text that is right at the point is so at another one, close by."""
        rng, subject, again = np.random.default_rng(5), self.subject, self.given.again
        assert again is not None
        args = subject.given_args()
        for k in [k for k in subject.data if k < subject.given]:
            array = as_array(args[k])
            if array.dtype.kind in "fc":
                moved = array * (1 + 0.1 * rng.random(array.shape))
                args[k] = like(subject.originals[k], moved.astype(subject.args[k].dtype))
        with routine.reading(text):
            made = _quietly(lambda: again(args))
        if made is None:
            return False
        there = Subject(self.given.f, args, subject.positions, subject.names, subject.derivative, subject.given)
        exact = _quietly(lambda: exact_gradient(there, made))
        return exact is not None and all(
            _near(g, e, 4 * t) for g, e, t in zip(made, exact.gradients, exact.tolerance, strict=True)
        )


LARGEST = 3000
"""Entries of an argument: the product of two that were made a row and a column by a change still fits in memory."""


def _tries(
    found: Sequence[Routine], gradients: Callable[[], Any], arguments: Sequence[ArgumentReport], took: float
) -> Iterator[tuple[Routine, Edit]]:
    """The changes in the order in which they are tried: those first that concern what is wrong, and nothing else."""
    ranked: dict[int, list[Iterator[tuple[Routine, Edit]]]] = {0: [], 1: [], 2: []}
    for routine in found:
        spots: dict[int | None, list[Spot]] = {0: [], 1: [], 2: [], None: []}
        every = list(spots_of(routine))
        soon = len(every) * took < SLOWEST
        for spot in every:
            spots[_rank(routine, spot, gradients, arguments) if soon else 2].append(spot)
        for rank, those in ranked.items():
            those.append(_edits_of(routine, spots[rank]))
    for those in ranked.values():
        for tries in zip_longest(*those):
            yield from filter(None, tries)


def _edits_of(routine: Routine, spots: Sequence[Spot]) -> Iterator[tuple[Routine, Edit]]:
    return ((routine, edit) for edit in edits(routine, spots))


def _rank(
    routine: Routine, spot: Spot, gradients: Callable[[], Any], arguments: Sequence[ArgumentReport]
) -> int | None:
    """0 if a value moves all that is wrong and no argument that is right, 1 if others, too; None if too little moves.

    2 if that is not known.
    """
    probed = probe(spot, routine.text)
    made = None if probed is None else _with(routine, probed.applied(routine.text), gradients)
    if made is None:
        return 2
    others = False
    for g, a in zip(made, arguments, strict=True):
        if np.shape(g) != a.given.shape or a.given.shape != a.exact.shape:
            return 2
        moved = g != a.given
        if a.wrong and not moved[np.abs(a.given - a.exact) > 2 * a.tolerance].all():
            return None
        others = others or (not a.wrong and bool(np.any(moved)))
    return int(others)


def _with(routine: Routine, text: str, gradients: Callable[[], Any]) -> Any:
    """The gradients when a function has another text; None where that is no function, or fails."""
    try:
        with routine.reading(text):
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


def _near(a: Any, b: Any, tolerance: Any) -> bool:
    if np.shape(a) != np.shape(b):
        return False
    scale = float(np.max(np.abs(b), initial=0.0))
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
    rest = len(old) - at
    while rest > 1 and len(new) - at > 0 and old[at + rest - 1 :] == new[len(new) - (len(old) - at - rest + 1) :]:
        rest -= 1
    after = len(old) - at - rest
    before = text[: edit.start].count("\n")
    line = routine.first + before
    was, right = old[at : at + rest], new[at : len(new) - after]
    return Mend(routine.file, line, "\n".join(map(str.strip, was)), "\n".join(map(str.strip, right)))


def _without_pair(words: str, k: int) -> str | None:
    """A text without the parenthesis at a place and the one that closes it."""
    depth = 0
    for j in range(k, len(words)):
        depth += (words[j] == "(") - (words[j] == ")")
        if not depth:
            return words[:k] + words[k + 1 : j] + words[j + 1 :]
    return None
