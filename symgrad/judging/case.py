"""Judging a formula written by a person against the exact one."""

from __future__ import annotations

import contextlib
import copy
import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from symgrad.check.report import Diagnosis
from symgrad.errors import ArgumentError, FormulaError, SymgradError
from symgrad.formula.canonical.simplify import canonical
from symgrad.formula.reading.misfits import ProductMisfit
from symgrad.formula.reading.people.dialects import language
from symgrad.formula.reading.people.stars import ENTRIES, PRODUCTS
from symgrad.formula.reading.people.text import is_numpy
from symgrad.formula.sampling import letters_of, sample
from symgrad.formula.term import SYMBOL, Term, constant_value, count, postorder, substitute, symbols as symbols_of
from symgrad.judging.differentials import derivative_stated, names_entries, without_vec
from symgrad.judging.mistakes import explained, undefined
from symgrad.judging.points import (
    DIGITS,
    NEEDED,
    Point,
    compared,
    differs_beside,
    one_size_alone,
    random_points,
    smallest,
    told_apart,
)
from symgrad.judging.readings import (
    MISFITS,
    Read,
    chained,
    functions_named,
    is_header,
    is_misfit,
    read_first,
    readings,
    repaired,
    result_named,
)
from symgrad.judging.sizes import with_other_sizes
from symgrad.judging.values import best_of_values, laid_out, stacked, turned
from symgrad.judging.verdict import Verdict
from symgrad.op import lookup
from symgrad.ops.indexing.getitem import static_index
from symgrad.sources import Source, source
from symgrad.sources.asked import checked, names_of, too_deep

CANONICAL_SIZE = 3_000
"""Nodes up to which canonical forms are compared."""

ROW = "the text is a row; gradients are columns here."
KINK = "they differ at a kink, where the value of the derivative is a convention."


def judge(
    given: Any,
    *args: Any,
    of: Any,
    wrt: Any = None,
    shapes: Any = None,
    assume: Any = None,
    layout: str | None = None,
) -> Verdict:
    """Whether a formula that a person wrote is the derivative of ``of`` by ``wrt``.

    ``given`` is NumPy-like text, LaTeX, or a SymPy expression; nothing of it is evaluated as code.  ``of`` is a
    function (run on ``args``: arrays, numbers or shapes; without them shapes are found by trying), a recorded tensor,
    or a text.  ``wrt`` names the variable (a tuple of names: one derivative after the other); without it the formula is
    compared with the value of ``of`` itself.  The derivative of an array is its Jacobian ∂fᵢ/∂xⱼ, or that of vec f by
    vec x, which stacks columns (Magnus and Neudecker, 1988) or rows; a note says so.  A text may be the differential,
    too: ``df = tr(A dX)``.  ``shapes`` states shapes of arguments, as ``"X=n,m w=m"``, and ``assume`` structures, as
    ``{"W": "symmetric"}``.

    A gradient has the shape of its variable, and a Jacobian the shape (result, variable).  What is right in the
    numerator or the denominator layout instead is EQUAL, and a note names the layout, where shapes tell the two apart;
    of square matrices they do not.  ``layout="numerator"``, ``"denominator"`` or ``"mixed"`` asks for that one alone.

    The verdict is EQUAL (the same canonical form, or equal at many random points of several sizes), DIFFERENT (with the
    smallest integer counterexample found, and the probable mistake) or UNDECIDED.  Raises ``FormulaError`` with a caret
    at the place where the text cannot be read, and ``NameProblem`` for unknown names.

    >>> import symgrad as sg
    >>> verdict = sg.judge("2*A.T*(A*x-b)", of="norm(A@x-b)**2", wrt="x")
    >>> verdict.verdict, verdict.proof
    ('EQUAL', 'structural')
    >>> print(sg.judge(r"A^T(Ax-b)", of="norm(A@x-b)**2", wrt="x"))
    DIFFERENT: A^T(Ax-b) is not df/dx.
      mistake     The formula is 1/2 times the exact one.
      look for    the 2 from differentiating a square
      at          A = [[1]], x = [0], b = [1]
      given       [-1]
      exact       [-2]
      formula     df/dx = 2*(A.T @ (A @ x - b))
    """
    if given is None or (callable(given) and not isinstance(given, str)):
        raise ArgumentError("judge() takes the formula first: judge('2*x', of=f, wrt='x').")
    checked(given, "the formula")

    def judged(about: Source) -> Verdict:
        return _of_source(given, about, names_of(wrt), assume or {}, layout)

    try:
        about, found = best_of_values(judged, of, args, shapes, wrt is not None)
        wrt = names_of(wrt)
        for note, other in _read_otherwise(of, about, shapes, wrt) if not found else ():
            again = _of_source(given, other, wrt, assume or {}, layout)
            if again:
                again.notes.append(note)
                return again
    except RecursionError:
        if not isinstance(of, str):
            raise
        raise too_deep() from None
    return found


def _of_source(given: Any, about: Source, wrt: Any, assume: dict[str, str], layout: str | None) -> Verdict:
    """The verdict about one source, under assumptions."""
    halves = {name: "symmetric" for name in about.read_by_half() if name not in assume}
    found = _at_best_sizes(given, about.assuming({**halves, **assume}), wrt, layout)
    found.notes += [f"{name} is taken to be symmetric: only one half of it is read." for name in halves]
    return found


def _read_otherwise(of: Any, about: Source, shapes: Any, wrt: Any) -> Iterator[tuple[str, Source]]:
    """The source with what else ``*`` can mean in its text, where that gives another value."""
    for star, meaning in ((ENTRIES, "entry by entry"), (PRODUCTS, "as the matrix product")) if about.star else ():
        try:
            other = source(of, (), shapes, scalar=wrt is not None, star=star)
        except SymgradError:
            continue
        alike = [s.ndim for s in other.symbols] == [s.ndim for s in about.symbols]
        if alike and other.term is not about.term:
            yield f"* in f is read {meaning}; write @ for the matrix product and .* for the other one.", other


def _at_best_sizes(given: Any, about: Source, wrt: Any, layout: str | None) -> Verdict:
    """The verdict with the letters for sizes with which a text is right, or fits best."""
    try:
        found = _judged(given, about, wrt, layout)
        if found:
            return found
        tried = [found]
    except SymgradError as error:
        refusal, tried = error, []
    for note, other in with_other_sizes(given, about):
        try:
            found = _judged(given, other, wrt, layout)
        except SymgradError:
            continue
        found.notes += [note] * bool(note)
        tried.append(found)
        if found:
            return found
    if not tried:
        raise refusal
    best = min(tried, key=_distance)
    if wrt is None:
        best.notes.append("the formula is compared with f itself; a derivative is asked for by wrt=.")
    return best


def _distance(found: Verdict) -> int:
    """How far off a way to read the sizes of a text is: most where shapes do not fit."""
    if found.theirs is None or found.theirs.shape != found.ours.shape:
        return 2
    return int(_is_unexplained(found))


def _judged(given: Any, about: Source, wrt: Any, layout: str | None) -> Verdict:
    """The verdict on a text; of a chain of equations, on all of them."""
    ours = about.derivative(wrt)
    given = without_vec(given, wrt)
    differential = derivative_stated(given, about, wrt)
    if differential is not None:
        case = Case(differential, about, wrt, ours)
        case.text = given
        return case.verdict()
    if layout is not None:
        ours = laid_out(about, wrt, ours, layout)
    case = Case(given, about, wrt, ours)
    variables = (wrt,) if isinstance(wrt, str) else tuple(wrt or ())
    for side in chained(given, about.symbols, variables):
        if side.named and is_header(side.text):
            continue
        try:
            verdict = Case(side.text, about, wrt, ours).verdict()
        except SymgradError:
            if not side.named:
                raise
            continue
        if not verdict:
            verdict.notes.append("the text is a chain of equations, of which this one is judged.")
            return verdict
    found = case.verdict()
    meant = found
    fixed = layout is not None or names_entries(given, wrt)
    for note, other in () if found or fixed else (*turned(about, wrt, ours), *stacked(about, wrt, ours)):
        with contextlib.suppress(SymgradError):  # a text that has the axes of the derivative
            again = Case(given, about, wrt, other)
            verdict = again.verdict()
            verdict.notes.append(note)
            if verdict and other.shape != ours.shape:
                return verdict
            if verdict:  # shapes do not tell a layout from a mistake
                found.notes.append(f"{note} If it is meant so it is right, and layout= says so.")
            if meant is found and again.taken in (other.shape, other.shape[::-1]) and case.taken != ours.shape:
                meant = verdict
    return meant


class Case:
    """One formula under judgement."""

    def __init__(self, given: Any, about: Source, wrt: Any, ours: Term):
        self.given = given
        self.about = about
        self.wrt = wrt
        self.raw = ours
        self.ours = within_budget(ours)
        self.symbols = _with_letters(about.symbols, ours)
        self.text = given if isinstance(given, str) else str(given)
        self.target = _target_text(about.name, wrt)
        self.note = ""
        self.taken: tuple[Any, ...] | None = None  # the shape of the text, as it is read

    def verdict(self) -> Verdict:
        """The verdict on the first reading that is equal, or on the likeliest one."""
        ways = readings(self.given, self.symbols, self.ours.shape, self.about.star is not None)
        reads, error = read_first(
            ways, self.ours.shape, isinstance(self.given, str) and is_numpy(self.given) and not language(self.given)
        )
        reads += self._of_result() + self._of_functions()
        if not reads:
            return self._unread(error)
        results = []
        plain = False
        for one in reads:
            if plain and not one.also:
                continue
            case = copy.copy(self) if one.cut is None else self.cut(one.cut)  # with points of its own
            found = case._compared(one.term)
            unlike = one.starred and self.about.star is None
            if found.verdict == "EQUAL" and unlike and any(other.numpy for other in reads):
                return self._starred(next(other for other in reads if other.numpy))
            if found.verdict == "EQUAL":
                found.formula, found.latex = self._formula()
                found.notes += [one.note] * bool(one.note) + [ROW] * (one.row and len(self.ours.shape) == 1)
                if not self.about.chosen:  # whose sizes the text may call as it likes
                    found.notes += [f"{letter}, at which a sum ends, is read as {size}." for letter, size in one.ends]
                return found
            results.append((case, found, one.term))
            plain = plain or one.term.shape == case.ours.shape
        case, found, term = results[0]
        self.taken = term.shape
        made = case._explained(found, term)
        for case, found, term in results[1:] if self.about.star and _is_unexplained(made) else ():
            other = case._explained(found, term)
            made = made if _is_unexplained(other) else other
        return made

    def _of_result(self) -> list[Read]:
        """The readings of a text that names the function itself, as ``f`` in ``f(1-f)``."""
        own = result_named(self.given, self.about)
        if own is None:
            return []
        result, text = own
        ways = readings(text, [*self.symbols, result], self.ours.shape, self.about.star is not None)
        values = {result: self.about.term}
        found, _ = read_first(ways, self.ours.shape)
        return [
            r._replace(term=substitute([r.term], values)[0], also=True) for r in found if result in symbols_of(r.term)
        ]

    def _of_functions(self) -> list[Read]:
        """The readings of a text in which a letter stands for the function of the value, as φ for tanh."""
        out = []
        for text, note in functions_named(self.given, self.about):
            found, _ = read_first(readings(text, self.symbols, self.ours.shape), self.ours.shape)
            out += [r._replace(note=f"{note} {r.note}".strip(), also=True) for r in found]
        return out

    def _starred(self, read: Read) -> Verdict:
        """The verdict on a text that is right only where ``*`` is a matrix product, and that NumPy can compute."""
        made = self._explained(self._compared(read.term), read.term)
        sentence = "A product is entry by entry, as * is in NumPy, and should be a matrix product."
        made.diagnosis = Diagnosis("hadamard", sentence, "@ for *; as SymPy and MATLAB mean *, the formula is right")
        return made

    def cut(self, index: tuple[slice, ...]) -> Case:
        """The same case for some of the entries: those for which shifted indices stay inside."""
        made = copy.copy(self)
        made.ours, made.raw = (lookup("getitem")(t, index=static_index(index)) for t in (self.ours, self.raw))
        made.note = "the entries are compared for which indices such as i+1 stay inside; the ends are not judged."
        return made

    def _made(self, verdict: str, proof: str, **fields: Any) -> Verdict:
        made = Verdict(verdict, proof, self.text, self.target, **fields)
        made.notes += [self.note] * bool(self.note)
        return made

    def _compared(self, theirs: Term) -> Verdict:
        if theirs.shape == self.ours.shape and self._same_form(theirs):
            return self._made("EQUAL", "structural")
        points = [p for p in random_points(theirs, self.raw, self.symbols) if p.known]
        defined = [p for p in points if p.defined]
        different = [p for p in defined if p.differs]
        agreeing = [p for p in defined if p.agrees]
        kinks = self.wrt is not None and different and all(p.special for p in different)
        kinks = kinks and not any(differs_beside(theirs, self.raw, p) for p in different)
        if kinks and len(agreeing) > 2 * NEEDED and not told_apart(theirs, self.raw, agreeing):
            found = self._made("EQUAL", "numerical", points=len(agreeing))
            found.notes.append(KINK)
            return self._with_domain(found, defined, points)
        beyond = [p for p in different if p.beyond]
        if (
            any(p.gap > 1e-3 for p in different)
            or 2 * len(different) > len(defined)
            or told_apart(theirs, self.raw, beyond)
        ):
            self.points = points
            return self._made("DIFFERENT", "counterexample", points=len(defined))
        alone = one_size_alone(points)
        if alone:
            note = f"the text has a value where {alone} is 1 alone; its shapes fit at no other size."
            return self._made("UNDECIDED", "", notes=[note])
        enough = len(agreeing) >= min(NEEDED, max(1, len(points))) and len(agreeing) >= 3
        close = [] if different else [p for p in defined if p.known and p.theirs.shape == p.ours.shape]
        apart = told_apart(theirs, self.raw, agreeing if enough else close)
        if apart:
            self.points = points
            return self._made("DIFFERENT", "counterexample", points=len(defined))
        if enough or (apart is False and len(close) >= NEEDED):
            return self._with_domain(
                self._made("EQUAL", "numerical", points=len(agreeing if enough else close)), defined, points
            )
        if not defined and sum(p.undefined for p in points) >= NEEDED:
            self.points = points
            return self._made("DIFFERENT", "counterexample", points=len(points))
        note = (
            "the exact formula has no finite value at the points tried"
            if not points
            else (f"the text has a value at {len(defined)} of {len(points)} points only")
        )
        return self._made("UNDECIDED", "", notes=[f"{note}; state shapes= or give example arguments in its domain."])

    def _with_domain(self, found: Verdict, defined: Sequence[Point], points: Sequence[Point]) -> Verdict:
        """The verdict with a note where the given formula has no value."""
        if len(defined) < len(points):
            missing = len(points) - len(defined)
            found.notes.append(f"at {missing} of {len(points)} points only the exact formula has a value.")
        return found

    def _same_form(self, theirs: Term) -> bool:
        mine = within_budget(theirs)
        if mine is self.ours:
            return True
        if count(mine, self.ours) > CANONICAL_SIZE:
            return False
        try:
            rest = canonical(self.ours - mine)  # type: ignore[operator]
        except (SymgradError, RecursionError):
            return False
        return constant_value(rest) == 0 and not isinstance(constant_value(rest), str)

    def _explained(self, found: Verdict, theirs: Term) -> Verdict:
        found.formula, found.latex = self._formula()
        if found.verdict != "DIFFERENT":
            return found
        first = next(p for p in self.points if p.differs or p.undefined)
        shown = smallest(theirs, self.raw, self.ours, self.symbols, first)
        found.counterexample = {str(s.name): shown.values[str(s.name)] for s in self.about.symbols}
        found.theirs, found.ours = shown.theirs, shown.ours
        generic = [p for p in self.points if p.defined]
        if first.apart:
            part = f"a part of {first.apart:.2g} of the value" if first.apart < math.inf else "a little, where it is 0"
            words = f"It differs by {part} only: {DIGITS} digits tell that from rounding."
            found.diagnosis = Diagnosis("digits", words, "a constant that is rounded or mistyped")
        elif generic:
            found.diagnosis = explained(
                theirs, self.ours, generic, self.about.symbols, self.wrt, (self.about.term, self.raw)
            )
        else:
            found.diagnosis = undefined(theirs, self.points, self.about.symbols)
        return found

    def _unread(self, error: Exception | None) -> Verdict:
        """A text whose shapes do not fit is different; one that cannot be read is an error."""
        if not is_misfit(error) or not isinstance(self.given, str):
            raise (
                error if isinstance(error, SymgradError) else FormulaError(f"cannot read the formula: {error}")
            ) from error
        found = self._made("DIFFERENT", "shapes")
        found.formula, found.latex = self._formula()
        advice = getattr(error, "advice", ProductMisfit.advice)
        found.diagnosis = Diagnosis("shapes", f"{_first_line(error).rstrip('.')}.", advice)
        for misfit, term in repaired(self.given, self.symbols, self.ours.shape):
            if term.shape == self.ours.shape and self._compared(term).verdict == "EQUAL":
                kind, sentence = MISFITS[misfit]
                found.diagnosis = Diagnosis(kind, sentence, _first_line(error))
                break
        shown = self._regular_point()
        if shown is not None:
            found.counterexample = {str(s.name): shown.values[str(s.name)] for s in self.about.symbols}
            found.ours = shown.ours
        return found

    def _regular_point(self) -> Point | None:
        """A point of small sizes, none of them equal, at which the exact formula has a value that can be trusted."""
        rng = np.random.default_rng(5)
        letters = letters_of(*self.symbols, self.ours)
        for order in (letters, letters[::-1]):
            sizes = {letter: 2 + k for k, letter in enumerate(order)}
            for kind in ("integer", "positive", "definite", "unit"):
                drawn = sample(self.symbols, sizes, kind, rng)
                values = {k: np.asarray(np.round(v) if kind == "integer" else v)[()] for k, v in drawn.items()}
                point = compared(self.raw, self.raw, values, sizes, rng)
                if point is not None and point.known:
                    return point
        return None

    def _formula(self) -> tuple[str, str]:
        from symgrad.formula.printing.latex import latex
        from symgrad.formula.sympy.texts import text

        try:
            return text(self.raw, symbols=self.symbols), latex(self.raw)
        except SymgradError as error:
            return f"(not shown: {error})", ""


def _is_unexplained(found: Verdict) -> bool:
    return found.diagnosis is None or found.diagnosis.kind == "unknown"


def _first_line(error: Exception | None) -> str:
    text = str(error).splitlines()[0]
    return textwrap.shorten(text.partition(": ")[2] or text, 240, placeholder=" …")


def within_budget(term: Term) -> Term:
    """The canonical form of a formula that is not too large."""
    if count(term) > CANONICAL_SIZE:
        return term
    try:
        return canonical(term)
    except (SymgradError, RecursionError):
        return term


def _with_letters(symbols: Sequence[Term], ours: Term) -> list[Term]:
    known = {str(s.name) for s in symbols}
    return [*symbols, *(t for t in postorder([ours]) if t.op is SYMBOL and str(t.name) not in known)]


def _target_text(name: str, wrt: Any) -> str:
    if wrt is None:
        return name
    names = [str(w) for w in (wrt if isinstance(wrt, (tuple, list)) else (wrt,))]
    order = len(names)
    if order == 1:
        return f"d{name}/d{names[0]}"
    return f"d^{order} {name}/({' '.join(f'd{n}' for n in names)})"


__all__ = ["Case", "Point", "judge"]
