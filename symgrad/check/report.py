"""What a check found: plain data, a verdict, and a page of text 80 columns wide."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from symgrad.errors import CheckFailed, NameProblem, SymgradError
from symgrad.guesses import OF_REPORTS, missing

WIDTH = 80

LONGEST = 240
"""Characters of a formula that are printed."""


LONGEST_SEARCH = 20
"""Seconds for finding the mistakes."""

UNNAMED = ("unknown", "entries")
"""Kinds of diagnosis that say which entries are wrong, and not why."""


@dataclass(frozen=True)
class Diagnosis:
    """The probable mistake: a kind to test for, and a sentence to read.

    kind      "factor", "sign", "transpose", "missing sum", "term", "entry", … ; "unknown" if nothing explains it
    sentence  what is wrong, with names and numbers
    hint      what to look for in the code
    line      the line of f whose derivative it is about, where there is one: "losses.py:12: r = X @ w - y"
    """

    kind: str
    sentence: str
    hint: str = ""
    line: str = ""

    def __str__(self) -> str:
        return f"{self.sentence} Look for: {self.hint}." if self.hint else self.sentence


@dataclass(frozen=True)
class Mend:
    """A change of one line in the function of a derivative with which all of it is right, at two points.

    file   the file that the line stands in
    line   its number
    was    the line as it is, or several
    right  the same as it should be; "pass" for one that should not be there
    also   the change of another line that it takes besides, where there are two mistakes
    """

    file: str
    line: int
    was: str
    right: str
    also: Mend | None = None

    def __str__(self) -> str:
        lines = [f"- {line}" for line in self.was.splitlines()] + [f"+ {line}" for line in self.right.splitlines()]
        return "\n".join([self.place, *lines, *([] if self.also is None else [str(self.also)])])

    @property
    def place(self) -> str:
        """The file and the number of the line."""
        return f"{Path(self.file).name}:{self.line}"


@dataclass
class ArgumentReport:
    """The comparison for one argument.

    ``given`` and ``exact`` are arrays; ``tolerance`` has the shape of ``exact``.  ``worst`` is the index of the entry
    whose error is the most tolerances wide (None when shapes differ).  ``wrong`` counts entries out of tolerance.
    ``kind`` is "gradient", "jacobian", "vjp", "jvp" or "elementwise", ``function`` what was differentiated,
    ``outputs`` how many leading axes of the arrays belong to its value, and ``measured`` whether ``exact`` is known
    from values of the function only.
    """

    name: str
    given: Any
    exact: Any
    tolerance: Any
    wrong: int
    worst: tuple[int, ...] | None
    diagnosis: Diagnosis | None
    notes: list[str] = field(default_factory=list)
    formulas: Callable[[], tuple[str, str] | None] = field(default=lambda: None, repr=False)
    kind: str = "gradient"
    function: str = "f"
    outputs: int = 0
    measured: bool = False

    @property
    def reference(self) -> str:
        """What ``exact`` is called in the report."""
        return "measured" if self.measured else "exact"

    def place(self, index: tuple[Any, ...]) -> str:
        """An entry in words: ``W[0, 1]`` of a gradient, ``d f[2] / d W[0, 1]`` of a Jacobian, ``f[2]`` of a jvp."""
        if self.kind == "jvp":
            return _entry(self.function, index)
        inner = _entry(self.name, index[self.outputs :])
        if self.kind != "jacobian":
            return inner
        return f"d {_entry(self.function, index[: self.outputs])} / d {inner}"

    @property
    def title(self) -> str:
        """What was compared, in words."""
        if self.kind == "vjp":
            return f"vjp of {self.function} by {self.name}"
        if self.kind == "jvp":
            return f"jvp of {self.function} along d{self.name}"
        return f"d {self.function} / d {self.name}"

    @property
    def ok(self) -> bool:
        """Whether the gradient has the right shape and every entry is within tolerance."""
        return self.diagnosis is None and not self.wrong and self.given.shape == self.exact.shape

    @property
    def ratio(self) -> Any:
        """Given over exact at the worst entry; None where that says nothing."""
        if self.worst is None:
            return None
        exact = self.exact[self.worst]
        return None if exact == 0 or not np.isfinite(exact) else (self.given[self.worst] / exact).item()

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain data."""
        found: dict[str, Any] = {"name": self.name, "function": self.function, "kind": self.kind, "ok": self.ok}
        found |= {"shape": list(self.exact.shape), "entries": int(self.exact.size), "wrong": self.wrong}
        if self.ok:
            return found | {"notes": list(self.notes)}
        if self.worst is not None:
            given, exact = _plain(self.given[self.worst]), _plain(self.exact[self.worst])
            found["worst"] = {"index": list(self.worst), "given": given, "exact": exact}
        else:
            found["given_shape"] = list(self.given.shape)
        d = self.diagnosis
        mistake = {"kind": d.kind, "sentence": d.sentence, "look_for": d.hint, "line": d.line} if d else None
        found["mistake"] = mistake  # None where none was looked for
        formulas = dict(zip(("formula", "latex"), _formulas(self) or ("", ""), strict=True))
        return found | formulas | {"notes": list(self.notes)}

    @property
    def formula(self) -> str | None:
        """The exact gradient as text; None when ``f`` had to be treated as a black box."""
        found = self.formulas()
        return None if found is None else found[0]

    @property
    def latex(self) -> str | None:
        """The exact gradient in LaTeX; None when ``f`` had to be treated as a black box."""
        found = self.formulas()
        return None if found is None else found[1]


def _plain(value: Any) -> Any:
    """A number as JSON has it; texts for those that it does not have."""
    number = np.asarray(value).item()
    return number if isinstance(number, (int, float)) and np.isfinite(number) else str(number)


@dataclass(repr=False)
class Report:
    """The verdict on a gradient.  True when it is right.

    ``method`` says how the exact gradient was found, ``value`` is f at the point, ``arguments`` holds one
    :class:`ArgumentReport` per gradient, and ``notes`` what else deserves to be known.  ``mend`` is the line of the
    gradient's own function that makes it right when it is changed, where one was found.  ``pending`` holds the searches
    for mistakes that :meth:`explain` has still to make.
    """

    function: str
    method: str
    value: Any
    arguments: list[ArgumentReport]
    notes: list[str] = field(default_factory=list)
    mend: Mend | None = None
    pending: list[Any] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        raise missing("'Report' object", name, OF_REPORTS, self)

    @property
    def ok(self) -> bool:
        """Whether every gradient is right."""
        return all(a.ok for a in self.arguments)

    def __bool__(self) -> bool:
        return self.ok

    def __getitem__(self, name: str) -> ArgumentReport:
        """The comparison for the argument of that name."""
        for argument in self.arguments:
            if argument.name == name:
                return argument
        raise NameProblem(
            f"no gradient of {name!r} was checked; there are {', '.join(a.name for a in self.arguments)}."
        )

    @property
    def diagnosis(self) -> Diagnosis | None:
        """The first mistake that has a name, or the first of all; None when all is right, or none was looked for."""
        wrong = self._most_telling
        return None if wrong is None else wrong.diagnosis

    def explain(self, seconds: float = LONGEST_SEARCH) -> Report:
        """Look for the mistakes that ``check(..., diagnose=False)`` has not looked for; gives itself.

        Several derivatives that are wrong share the ``seconds``.  The functions may run again, at the point and close
        by: they have to be as they were.

        >>> import symgrad as sg
        >>> report = sg.check(lambda x: (x**2).sum(), lambda x: x, np.array([1.0, 2.0]), diagnose=False)
        >>> report.ok, report.diagnosis
        (False, None)
        >>> report.explain(seconds=1).diagnosis.sentence
        'Every entry is 1/2 times the exact one.'
        """
        end = time.monotonic() + seconds
        alone = len(self.pending) == 1  # a change that mends one result of several is not the mend of all
        while self.pending:
            mend, notes = self.pending.pop(0).run(max(end - time.monotonic(), 0) / (len(self.pending) + 1))
            self.mend = mend if alone else None
            self.notes += [note for note in notes if note not in self.notes]
        return self

    @property
    def _most_telling(self) -> ArgumentReport | None:
        wrong = [a for a in self.arguments if not a.ok]
        named = (a for a in wrong if a.diagnosis is not None and a.diagnosis.kind not in UNNAMED)
        return next(named, wrong[0] if wrong else None)

    @property
    def headline(self) -> str:
        """One line: the most telling mistake and whose it is, or that all is right."""
        wrong = self._most_telling
        if wrong is None:
            return f"{', '.join(a.title for a in self.arguments)}: right"
        if wrong.diagnosis is None:
            return f"{wrong.title}: WRONG"
        return f"{wrong.title}: {' '.join(wrong.diagnosis.sentence.split())}"

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data for JSON: verdict, and for each argument the worst entry, mistake and formula."""
        return {
            "ok": self.ok,
            "function": self.function,
            "method": self.method,
            "arguments": [a.to_dict() for a in self.arguments],
            "mend": None if self.mend is None else asdict(self.mend),
            "notes": list(self.notes),
        }

    def raise_for_mismatch(self) -> Report:
        """Raise ``CheckFailed`` (an ``AssertionError``) with this report as text unless it is right; gives itself."""
        __tracebackhide__ = True  # pytest shows the line of the test
        if not self.ok:
            raise CheckFailed(f"{self.headline}\n{self}")  # summaries of many tests show the first line
        return self

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return self._text()

    @property
    def verdict(self) -> str:
        """What is right and what is wrong, by how much, without the mistakes."""
        return "\n".join(line for a in self.arguments for line in [*_titled(a), *([] if a.ok else _measure_rows(a))])

    @property
    def findings(self) -> str:
        """What there is to say besides the verdict: the mistakes, formulas and notes."""
        return self._text(measures=False)

    def _text(self, measures: bool = True) -> str:
        first = self._most_telling
        if first is None:
            lines = [line for a in self.arguments for line in _right_page(a)]
        else:  # pytest shows the beginning of a report
            lines = _page(first, self.mend, measures)
            told = {str(first.diagnosis): first.name}
            others = [a for a in self.arguments if a is not first]
            lines += [line for a in others if not a.ok for line in _short_page(a, told, measures)]
            lines += self._right_row()
            lines += [line for a in others for note in a.notes for line in _row("note", f"{a.name}: {note}")]
        lines += _row("compared to", self.method)
        for note in self.notes:
            lines += _row("note", note)
        return "\n".join(lines)

    def _right_row(self) -> list[str]:
        """The derivatives that are right, in one row of a report on others that are not."""
        right = [a for a in self.arguments if a.ok]
        alone = len({a.name for a in self.arguments}) == len(self.arguments)  # with several results it is not
        return _row("right", ", ".join(a.name if alone else a.title for a in right)) if right else []


def _titled(a: ArgumentReport) -> list[str]:
    return textwrap.wrap(f"{a.title}: {'right' if a.ok else 'WRONG'}", WIDTH)


def _right_page(a: ArgumentReport) -> list[str]:
    return [*_titled(a), *_row("entries", _count(a)), *(line for note in a.notes for line in _row("note", note))]


def _page(a: ArgumentReport, mend: Mend | None, measures: bool) -> list[str]:
    """All that is known of a wrong derivative, the mistake first; by how much it is wrong only with ``measures``."""
    lines = [*_titled(a), *_mistake(a), *_mend_rows(mend), *(_measure_rows(a) if measures else []), *_formula_rows(a)]
    return lines + [line for note in a.notes for line in _row("note", note)]


def _short_page(a: ArgumentReport, told: dict[str, str], measures: bool) -> list[str]:
    """The mistake of one more wrong derivative; ``told`` holds the mistakes of those before, with whose they are."""
    same = told.get(str(a.diagnosis)) if a.diagnosis else None
    told.setdefault(str(a.diagnosis), a.name)
    mistake = _mistake(a) if same is None else _row("mistake", f"The same as for {same}.")
    unnamed = a.diagnosis is not None and a.diagnosis.kind in UNNAMED  # all that there is to look at is the formula
    worst = _worst_row(a) if measures else []
    return [*_titled(a), *mistake, *worst, *(_formula_rows(a) if unnamed else [])]


def _mistake(a: ArgumentReport) -> list[str]:
    found = a.diagnosis
    if found is None:
        return []
    rows = _row("mistake", found.sentence)
    rows += _row("line", found.line) if found.line else []
    return rows + (_row("look for", found.hint) if found.hint else [])


def _mend_rows(mend: Mend | None) -> list[str]:
    """The lines to change, whole: they are there to be copied."""
    if mend is None:
        return []
    _, *rest = str(mend).splitlines()
    places = mend.place if mend.also is None else f"{mend.place} and {mend.also.place}"
    return [
        *_row("mend", f"{places}, with which all agrees, at this point and at another one"),
        *(" " * 14 + line for line in rest),
    ]


def _measure_rows(a: ArgumentReport) -> list[str]:
    """By how much a derivative is wrong, at most and in how many entries."""
    return [*_worst_row(a), *(_row("entries", _count(a)) if a.given.shape == a.exact.shape else [])]


def _worst_row(a: ArgumentReport) -> list[str]:
    if a.given.shape != a.exact.shape:
        return _row("shape", f"{tuple(a.given.shape)} given, {tuple(a.exact.shape)} {a.reference}")
    return [] if a.worst is None else _row("worst", _worst(a))


def _count(a: ArgumentReport) -> str:
    size = int(a.exact.size)
    if not size:
        return "none: the argument is empty"
    finite = a.tolerance[np.isfinite(a.tolerance)]
    width = float(np.max(finite)) if finite.size else 0.0
    right = "all" if size > 1 else "the only one"
    text = f"{right} of {size} agree" if size > 1 else "the only one agrees"
    if not a.ok:
        text = f"{a.wrong} of {size} differ"
    return f"{text} (tolerance {width:.1e})"


def _worst(a: ArgumentReport) -> str:
    given, exact = a.given[a.worst], a.exact[a.worst]
    ratio = a.ratio
    text = "{}: given {}, {ref} {}".format(a.place(a.worst or ()), *two_texts(given, exact), ref=a.reference)
    return text if ratio is None or not np.isfinite(ratio) else f"{text}, ratio {number_text(ratio)}"


def _entry(name: str, index: tuple[Any, ...]) -> str:
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def number_text(value: Any, digits: int = 9) -> str:
    """A number for reading; what is nearly one is told by how far it is from it."""
    if isinstance(value, (complex, np.complexfloating)):
        return f"{complex(value):.{digits}g}"
    text = f"{float(value) + 0:.{digits}g}"  # no -0
    away = float(value) - 1
    return f"1 {'-' if away < 0 else '+'} {abs(away):.3g}" if text == "1" and away else text


def two_texts(a: Any, b: Any, fewest: int = 9) -> tuple[str, str]:
    """Two numbers with as many digits as tell them apart, of ``fewest`` at least."""
    form = complex if any(isinstance(v, (complex, np.complexfloating)) for v in (a, b)) else float
    digits = next((n for n in range(fewest, 17) if f"{form(a):.{n}g}" != f"{form(b):.{n}g}"), 17)
    return f"{form(a):.{digits}g}", f"{form(b):.{digits}g}"


def _formulas(a: ArgumentReport) -> tuple[str, str] | None:
    """The exact formula and its LaTeX; None where there is none, or none that could be written out."""
    try:
        return a.formulas()
    except SymgradError:
        return None


def _formula_rows(a: ArgumentReport) -> list[str]:
    """The exact formula, where a person can read it."""
    found = _formulas(a)
    if found is None:
        return []
    text, latex = found
    if len(text) > LONGEST:
        return _row("formula", f'of {len(text)} characters: report["{a.name}"].formula, and .latex')
    short = len(latex) <= LONGEST and "\\begin" not in latex  # several lines of LaTeX are for printing, not for reading
    return [*_row("formula", text), *(_row("LaTeX", latex) if short else [])]


def _row(label: str, text: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=f"  {label:<12}",
        subsequent_indent=" " * 14,
        break_on_hyphens=False,
        break_long_words=True,
    )
