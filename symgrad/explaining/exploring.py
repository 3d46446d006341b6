"""``explore``: every way through a function that branches on values.

A run records the conditions that the program asked for; each of them is then turned over, and inputs are looked for
that take the other side.  (Dynamic symbolic execution: P. Godefroid, N. Klarlund, K. Sen, DART, PLDI 2005; the solver
here is the derivative.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.dtypes import is_floating
from symgrad.errors import ArgumentError
from symgrad.explaining.impossible import impossible
from symgrad.explaining.steering import steered
from symgrad.explaining.ways import Path, Way, Ways
from symgrad.formula.term import Term, symbols
from symgrad.notices import line_text
from symgrad.sources.running import called, parameters
from symgrad.tape.formulas.reading import LETTERS, Reading
from symgrad.tape.modes import enable_grad
from symgrad.tape.record import Recorded
from symgrad.tape.watching.conditions import Conditions, branch
from symgrad.tape.watching.looks import TooManyLooks, looks_limited
from symgrad.tape.watching.watch import Read, Watch
from symgrad.tensor.creation import tensor as make_tensor

_LOOKS = 200
"""Conditions that one run may ask for."""
_SHORT = 20
"""Conditions of which those are sought that contradict each other."""
_SAMPLES = 16
"""Random points that are tried before conditions are turned over."""
_SCALES = (1.0, 10.0, 0.1, 100.0)
_CHOICES = ("bool()", "in")


def explore(f: Callable[..., Any], *inputs: Any, most: int = 32, seed: int = 0) -> Ways:
    """Every way through a function that branches on values, and one formula of all cases.

    f
        A function of tensors that gives a tensor; it may use ``if``, ``while``, ``and`` on values.
    inputs
        Example arguments, arrays or numbers: the shapes and dtypes.  Floating-point ones are varied, others stay.
    most
        Up to how many ways are looked for.
    seed
        Of the random points.

    Each condition that a run asks for is turned over, and inputs are searched that take the other side.  Where there
    are none, a proof is tried that no real numbers take it (``impossible``).  ``complete`` says whether all were found
    or proved impossible; what is left in ``unreached`` may be impossible or only hard.

    Raises ``ArgumentError`` where ``f`` gives no tensor, and no floating-point argument is there to vary.

    >>> import symgrad as sg
    >>> def huber(r):
    ...     if abs(r) <= 1:
    ...         return r**2 / 2
    ...     return abs(r) - 0.5
    >>> found = sg.explore(huber, 0.3)
    >>> print(found)
    r²/2  if |r| ≤ 1
    |r| − ½  if |r| > 1
    >>> float(found(-3.0))
    2.5
    >>> print(found.gradient("r"))
    r  if |r| ≤ 1
    sign(r)  if |r| > 1
    """
    search = _Search(f, inputs, most, seed)
    search.run()
    return search.found()


class _Search:
    def __init__(self, f: Callable[..., Any], inputs: Sequence[Any], most: int, seed: int):
        self.f = f
        self.names = parameters(f, len(inputs))
        self.inputs = [np.asarray(getattr(a, "_value", a)) for a in inputs]
        if len(self.names) < len(inputs):
            raise ArgumentError(f"{called(f)} takes {len(self.names)} arguments, but {len(inputs)} were given.")
        self.varied = [k for k, a in enumerate(self.inputs) if is_floating(a.dtype)]
        if not self.varied:
            raise ArgumentError(f"explore({called(f)}): none of the arguments is of floating-point numbers to vary.")
        sizes = dict.fromkeys(n for a in self.inputs for n in a.shape if n > 1)
        free = [x for x in LETTERS if x not in self.names]
        self.letters = dict(zip(sizes, free, strict=False))
        self.most = most
        self.rng = np.random.default_rng(seed)
        self.ways: dict[Path, Way] = {}
        self.symbols: dict[str, Term] = {}
        self.tried: set[Path] = set()
        self.failed: dict[Path, str] = {}
        self.proved: dict[Path, str] = {}
        self.notes: dict[str, None] = {}
        self.runs = 0
        self.cut = False

    def run(self) -> None:
        """Run at the inputs, at random points, and then where the conditions lead."""
        self._at(self.inputs)
        for k in range(_SAMPLES):
            self._at(self._random(_SCALES[k % len(_SCALES)]))
        while len(self.ways) < self.most:
            goal = self._untried()
            if goal is None:
                return
            self.tried.add(goal)
            if not self._reach(goal):
                core = self._proof(goal)
                (self.failed if core is None else self.proved)[core or goal] = self._line_of(goal)
        self.cut = self._untried() is not None

    def _untried(self) -> Path | None:
        """The shortest path with its last condition turned over that nothing has taken."""
        taken = {way.path[: k + 1] for way in self.ways.values() for k in range(len(way.path))}
        turned = ((*path[:-1], (path[-1][0], not path[-1][1])) for path in sorted(taken, key=len))
        return next((goal for goal in turned if goal not in taken and goal not in self.tried), None)

    def _reach(self, goal: Path) -> bool:
        """Whether inputs were found that take a path."""
        near = [w.example for w in self.ways.values() if w.path[: len(goal) - 1] == goal[:-1]][:3]
        starts = [*near, *(self._random(scale) for scale in _SCALES)]
        moving = [self.symbols[self.names[k]] for k in self.varied if self.names[k] in self.symbols]
        values = [dict(zip(self.names, start, strict=True)) for start in starts]
        sizes = {letter: n for n, letter in self.letters.items()}
        for found in steered(goal, values, moving, sizes):
            row = [found[name] for name in self.names]
            for candidate in (row, [np.round(a) if k in self.varied else a for k, a in enumerate(row)]):
                self._at(candidate)
                if any(w.path[: len(goal)] == goal for w in self.ways.values()):
                    return True
        return False

    def _proof(self, goal: Path) -> Path | None:
        """The conditions of a path that contradict the last one, as few as suffice; None where there is no proof."""
        values = dict(zip(self.names, self.inputs, strict=True))
        moving = [self.symbols[self.names[k]] for k in self.varied if self.names[k] in self.symbols]
        sizes = {letter: n for n, letter in self.letters.items()}
        if not impossible(goal, values, moving, sizes):
            return None
        core = goal
        for wanted in goal[:-1] if len(goal) <= _SHORT else ():
            without = tuple(w for w in core if w is not wanted)
            if impossible(without, values, moving, sizes):
                core = without
        return core

    def _random(self, scale: float) -> list[Any]:
        return [
            (self.rng.normal(size=a.shape) * scale).astype(a.dtype) if k in self.varied else a
            for k, a in enumerate(self.inputs)
        ]

    def _line_of(self, goal: Path) -> str:
        for way in self.ways.values():
            for k, wanted in enumerate(way.path[: len(goal)]):
                if wanted[0] is goal[-1][0]:
                    return way.lines[k]
        return ""

    # -------------------------------------------------------------------------------------- one run

    def _at(self, row: Sequence[Any]) -> None:
        """Run the function, and note the way that it took."""
        self.runs += 1
        given = [
            make_tensor(np.asarray(a), requires_grad=is_floating(np.asarray(a).dtype), name=name)
            for a, name in zip(row, self.names, strict=True)
        ]
        watch, error, result = Watch(), "", None
        watch.inputs.update(map(id, given))
        with watch, enable_grad(), np.errstate(all="ignore"), looks_limited(_LOOKS):
            try:
                result = self.f(*given)
            except TooManyLooks:
                error = f"no result within {_LOOKS} conditions"
                self.notes.setdefault(f"A run asked for more than {_LOOKS} conditions: a loop that may not end.")
            except Exception as raised:  # noqa: BLE001  (whatever the function does with arguments that nobody gave)
                error = f"{type(raised).__name__}: {raised}".splitlines()[0]
        if not error and not isinstance(result, Recorded):
            raise ArgumentError(f"{called(self.f)} gives {type(result).__name__}; explore() needs a tensor.")
        self._note(given, result, watch.reads, error, tuple(np.asarray(a) for a in row))

    def _note(self, given: Sequence[Any], result: Any, reads: list[Read], error: str, row: tuple[Any, ...]) -> None:
        asked = [(r, line_text(r.line)) for r in reads if r.how in _CHOICES]
        for read in reads:
            if read.how not in _CHOICES:
                self.notes.setdefault(
                    f"{read.how} takes a value out; what is chosen by it is not seen. {line_text(read.line)}".rstrip()
                )
        roots = [r.edge for r, _ in asked] + [t.edge() for t in given] + ([] if error else [result.edge()])
        reading = Reading(roots, {id(t): name for t, name in zip(given, self.names, strict=True)}, dict(self.letters))
        for t, name in zip(given, self.names, strict=True):
            if id(t.edge()) in reading.terms:
                self.symbols.setdefault(name, reading[t.edge()])
        path: dict[Term, tuple[bool, str]] = {}
        for read, line in asked:
            condition = reading[read.edge]
            if symbols(condition):
                path.setdefault(condition, (bool(read.seen), line))
        key: Path = tuple((condition, value) for condition, (value, _) in path.items())
        term = None if error else reading[result.edge()]
        if key not in self.ways:
            self.ways[key] = Way(key, term, row, tuple(line for _, line in path.values()), error)

    def found(self) -> Ways:
        """What was found; of two ways that part, the one on which the condition holds comes first."""
        names = [self.symbols[name] for name in self.names if name in self.symbols]
        unreached = [branch(goal[-1][0], goal[-1][1], line) for goal, line in self.failed.items()]
        proved = [Conditions([branch(*wanted, line) for wanted in core]) for core, line in self.proved.items()]
        return Ways(
            sorted(self.ways.values(), key=lambda way: tuple(not value for _, value in way.path)),
            names,
            {letter: n for n, letter in self.letters.items()},
            list(dict.fromkeys(unreached)),
            [*self.notes, *([f"There are more than {self.most} ways; most= looks for more."] if self.cut else [])],
            not self.failed and not self.notes and not self.cut,
            self.runs,
            proved,
        )
