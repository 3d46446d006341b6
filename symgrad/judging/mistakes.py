"""What is wrong with a formula, in a sentence: the hypotheses in order, the most telling first."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.check.asking.subject import Subject
from symgrad.check.diagnosis.case import Case as Comparison
from symgrad.check.diagnosis.constants import constant_name
from symgrad.check.diagnosis.hypotheses import diagnose
from symgrad.check.diagnosis.shapes import explain_shape
from symgrad.check.formulas.changes import factors
from symgrad.check.formulas.search import BUDGET, Search
from symgrad.check.formulas.sentences import sentence, text_of
from symgrad.check.formulas.summands import expanded_summands, summands
from symgrad.check.oracle.answer import Exact
from symgrad.check.report import ArgumentReport, Diagnosis, number_text
from symgrad.formula.sampling import value
from symgrad.formula.term import Term, count, postorder, symbols
from symgrad.judging.points import Point, near, reached
from symgrad.op import lookup


def explained(
    theirs: Term, ours: Term, points: Sequence[Point], symbols: Sequence[Term], wrt: Any, roots: Sequence[Term] = ()
) -> Diagnosis | None:
    """The probable mistake; kind "unknown" when nothing explains the difference.

    ``roots`` are the function and its derivative as they were written, whose parts may be factors that are missing.
    """
    chosen = _telling([p for p in points if not p.special] or points)
    if not chosen:
        return None
    comparison = _comparison(chosen[0], symbols, wrt)
    if any(p.theirs.shape != p.ours.shape for p in chosen):
        return _of_shapes(theirs, ours, chosen, comparison)
    small = count(theirs, ours) <= LARGEST
    for hypothesis in _HYPOTHESES if small else (_multiple, _turned):
        found = hypothesis(theirs, ours, chosen, comparison)
        if found is not None:
            return found
    found = _hidden_factor(theirs, chosen, roots) if small else None
    if found is not None:
        return found
    with np.errstate(all="ignore"):
        found = diagnose(comparison)
    return _in_words(found) if found.kind in _OF_ENTRIES and chosen[0].ours.size > 1 else _UNKNOWN


LARGEST = 600
"""Nodes of formulas up to which single changes are looked for that explain a difference."""

_OF_ENTRIES = ("entry", "entries", "broadcast sum", "permuted", "reversed", "unknown")
"""What the diagnosis of one array of numbers can say of a formula; the rest is about programs."""

_UNKNOWN = Diagnosis("unknown", "No single mistake explains the difference.", "compare with the formula below")


def undefined(theirs: Term, points: Sequence[Point], symbols: Sequence[Term]) -> Diagnosis:
    """The mistake in a formula that has no real value where the exact one has."""
    chosen = _telling([p for p in points if not p.special] or points)
    change = Search(symbols).found(theirs, reached(chosen, [p.ours for p in chosen]))
    if change is not None:
        return sentence(change, of_theirs=True)
    said = "The formula has no real value where the exact one has."
    return Diagnosis("undefined", said, "the logarithm or root of a negative number, or 0/0")


def _telling(points: Sequence[Point]) -> list[Point]:
    """Four points at which different mistakes look different: large arrays, and not all of the same sizes.

    Those first where the formulas differ, as on one side of a branch only.
    """
    generic = sorted((p for p in points if not _degenerate(p)), key=lambda p: (not p.differs, -p.ours.size)) or list(
        points
    )
    firsts = list({tuple(p.sizes.items()): p for p in reversed(generic)}.values())[::-1]
    return [*firsts[:3], *(p for p in generic if p not in firsts[:3])][:4]


def _degenerate(p: Point) -> bool:
    """Whether sizes of 1 or equal sizes make different mistakes look alike."""
    sizes = list(p.sizes.values())
    return 1 in sizes or len(set(sizes)) < len(sizes) or not np.any(p.ours)


def _comparison(point: Point, symbols: Sequence[Term], wrt: Any) -> Comparison:
    """The comparison of two arrays as the gradient checker sees it."""
    names = [str(s.name) for s in symbols]
    name = wrt[0] if isinstance(wrt, (tuple, list)) else wrt
    position = names.index(str(name)) if str(name) in names else 0
    given, exact = (np.asarray(a, dtype=complex if a.dtype.kind == "c" else float) for a in (point.theirs, point.ours))
    tolerance = np.full(exact.shape, point.tolerance)
    of_variable = str(name) not in names or np.shape(point.values[str(name)]) == exact.shape
    kind = "gradient" if of_variable else "jacobian"
    argument = ArgumentReport("f" if name is None else str(name), given, exact, tolerance, 1, None, None, kind=kind)
    subject = Subject(
        lambda *_: None,
        [
            np.asarray(point.values[n], dtype=float)
            if np.asarray(point.values[n]).dtype.kind != "c"
            else point.values[n]
            for n in names
        ],
        [position],
        names,
    )
    return Comparison(argument, 0, subject, Exact("", None, [exact], [tolerance]))


def _in_words(found: Diagnosis) -> Diagnosis:
    return Diagnosis(
        found.kind,
        found.sentence.replace("The gradient", "The formula").replace("The given gradient", "The formula"),
        found.hint,
    )


def _of_shapes(theirs: Term, ours: Term, points: Sequence[Point], comparison: Comparison) -> Diagnosis:
    if theirs.ndim == 2 and all(near(p.theirs.T, p.ours, p.tolerance) for p in points):
        return Diagnosis("transpose", "The formula is the transpose of the exact one.", "A for Aᵀ")
    for root, goals in ((theirs, [p.ours for p in points]), (ours, [p.theirs for p in points])):
        change = Search(symbols(theirs, ours)).found(root, reached(points, goals))
        if change is not None:
            return sentence(change, of_theirs=root is theirs)
    return _in_words(explain_shape(comparison))


# ---------------------------------------------------------------------------------------------- the whole formula


def _multiple(theirs: Term, ours: Term, points: Sequence[Point], comparison: Comparison) -> Diagnosis | None:
    ratios = [ratio(p.theirs, p.ours, p.tolerance) for p in points]
    known = [r for r in ratios if r is not None]
    if len(known) < len(ratios):
        return None
    k = known[0]
    if all(abs(r - k) <= 1e-7 * abs(k) for r in known):
        if len(points) < 2 and points[0].ours.size < 2:
            return None
        if abs(k + 1) < 1e-7:
            return Diagnosis(
                "sign", "The formula has the wrong sign.", "a minus, or a difference taken the other way round"
            )
        name = constant_name(k, comparison) if isinstance(k, float) else None
        plain = Fraction(k).limit_denominator(60) if isinstance(k, float) else None
        text = str(plain) if plain and abs(float(plain) - k) < 1e-7 else name or number_text(k)
        hint = {"2": "a factor 2 too many", "1/2": "the 2 from differentiating a square"}.get(
            text, "a constant factor lost or added"
        )
        return Diagnosis("factor", f"The formula is {text} times the exact one.", hint)
    names = {
        constant_name(r, comparison_at(p, comparison))
        for r, p in zip(ratios, points, strict=True)
        if isinstance(r, float)
    }
    if len(names) == 1 and None not in names and points[0].ours.size > 1:
        return Diagnosis("factor", f"The formula is {names.pop()} times the exact one.", "a size: a mean for a sum")
    return None


def comparison_at(point: Point, like: Comparison) -> Comparison:
    """The same comparison at another point."""
    subject = like.subject
    args = [np.asarray(point.values[n]) for n in subject.names]
    moved = Subject(subject.f, args, subject.positions, subject.names)
    tolerance = np.full(point.ours.shape, point.tolerance)
    argument = ArgumentReport(like.name, point.theirs, point.ours, tolerance, 1, None, None)
    return Comparison(argument, 0, moved, Exact("", None, [point.ours], [tolerance]))


def ratio(a: Any, b: Any, tolerance: float) -> float | complex | None:
    """``k`` with ``a = k b``; None when there is none."""
    norm = float(np.sum(np.abs(b) ** 2))
    if not norm or a.shape != b.shape:
        return None
    k = complex(np.sum(np.conj(b) * a) / norm)
    plain = k.real if abs(k.imag) <= 1e-12 * abs(k) else k
    return plain if plain and abs(plain - 1) > 1e-9 and near(a, plain * b, tolerance * max(1.0, abs(k))) else None


def _turned(theirs: Term, ours: Term, points: Sequence[Point], _: Comparison) -> Diagnosis | None:
    square = theirs.ndim == 2 and theirs.shape[0] == theirs.shape[1]
    if not square or not all(near(p.theirs.T, p.ours, p.tolerance) for p in points):
        return None
    return Diagnosis("transpose", "The formula is the transpose of the exact one.", "A for Aᵀ")


MOST_SQUARE = 4
"""Square matrices of which some may have been taken for symmetric."""


def _assumption(theirs: Term, ours: Term, points: Sequence[Point], comparison: Comparison) -> Diagnosis | None:
    """The formula is right for symmetric matrices."""
    square = [
        n
        for n, a in points[0].values.items()
        if np.ndim(a) == 2 and all(len(set(p.values[n].shape)) == 1 for p in points)
    ]
    for names in (some for k in range(1, len(square) + 1) for some in itertools.combinations(square[:MOST_SQUARE], k)):
        if all(_equal_if(theirs, ours, names, p, lambda a: (a + a.T) / 2) for p in points):
            listed = " and ".join(names)
            stated = ", ".join(f"{name!r}: 'symmetric'" for name in names)
            return Diagnosis(
                "assumption",
                f"The formula is right only if {listed} {'is' if len(names) == 1 else 'are'} symmetric.",
                f"a structure of {listed} taken for granted: state assume={{{stated}}}",
            )
    return None


def _hidden_factor(theirs: Term, points: Sequence[Point], roots: Sequence[Term]) -> Diagnosis | None:
    """A factor that the canonical form of the exact formula does not show: a part of the function as written.

    Or the sum of the entries of a part, which functions such as logsumexp divide by.
    """
    parts = dict.fromkeys(t for t in postorder([theirs, *roots]) if t.args and t.shape in ((), theirs.shape))
    few = list(itertools.islice(reversed(parts), 80))
    for part in [*few, *(lookup("sum")(t, dim=tuple(range(t.ndim)), keepdim=False) for t in few if t.ndim)]:
        values = [value(part, p.values, p.sizes) for p in points]
        if any(v is None or not np.all(np.isfinite(v)) or not np.all(v) for v in values):
            continue
        pairs = list(zip(points, values, strict=True))
        if all(near(p.theirs * v, p.ours, p.tolerance) for p, v in pairs):
            return Diagnosis("factor", f"The factor {text_of(part)} is missing.", "the chain rule")
        if all(near(p.ours * v, p.theirs, p.tolerance) for p, v in pairs):
            return Diagnosis("factor", f"The factor {text_of(part)} is too much.", "the chain rule")
    return None


def _positive_parameter(theirs: Term, ours: Term, points: Sequence[Point], comparison: Comparison) -> Diagnosis | None:
    """The formula is right where a number is positive that it is no derivative by, as the width of Huber's loss."""
    numbers = [n for n, a in points[0].values.items() if not np.ndim(a) and n != comparison.argument.name]
    return _right_where_positive(theirs, ours, points, [[n] for n in numbers])


def _positivity(theirs: Term, ours: Term, points: Sequence[Point], _: Comparison) -> Diagnosis | None:
    """The formula is right where some arrays are positive."""
    every = [n for n, a in points[0].values.items() if np.asarray(a).dtype.kind == "f"]
    return _right_where_positive(theirs, ours, points, [*([n] for n in every), every] if every[1:] else [every])


def _right_where_positive(
    theirs: Term, ours: Term, points: Sequence[Point], ways: Sequence[list[str]]
) -> Diagnosis | None:
    for names in filter(None, ways):
        if all(_equal_if(theirs, ours, names, p, np.abs) for p in points):
            listed, verb = " and ".join(names), "is" if len(names) == 1 else "are"
            hint = f"a sign taken for granted: state assume={{{names[0]!r}: 'positive'}}"
            return Diagnosis("assumption", f"The formula is right only where {listed} {verb} positive.", hint)
    return None


def _zero(theirs: Term, ours: Term, points: Sequence[Point], _: Comparison) -> Diagnosis | None:
    if any(np.any(p.theirs) for p in points):
        return None
    return Diagnosis("zero", "The formula is zero everywhere.", "a derivative taken for that of a constant")


def _equal_if(theirs: Term, ours: Term, names: Sequence[str], p: Point, change: Any) -> bool:
    """Whether formulas are equal where some arrays are changed so that they keep an assumption."""
    values = {n: change(a) if n in names else a for n, a in p.values.items()}
    g = value(ours, values, p.sizes)
    c = value(theirs, values, p.sizes)
    return g is not None and bool(np.all(np.isfinite(g))) and near(c, g, p.tolerance)


# ---------------------------------------------------------------------------------------------- terms of a sum


def _one_term(theirs: Term, ours: Term, points: Sequence[Point], _: Comparison) -> Diagnosis | None:
    """The difference is a multiple of one term of either formula."""
    exact = summands(ours)
    if len(exact) < 2:
        exact = expanded_summands(ours)
    for part in [*exact, *expanded_summands(ours)] if len(exact) > 1 else []:
        k = _multiple_of(part, points, lambda p: p.theirs - p.ours)
        if k is not None:
            text = text_of(part)
            if abs(k + 1) < 1e-7:
                return Diagnosis(
                    "term", f"The term {text} is missing.", "a term of the sum rule or of the product rule"
                )
            if abs(k + 2) < 1e-7:
                return Diagnosis("sign", f"The term {text} has the wrong sign.", "its sign")
            return Diagnosis("factor", f"The term {text} is {_fraction(1 + k)} times what it should be.", "its factor")
    given = summands(theirs)
    for part in given if len(given) > 1 else []:
        k = _multiple_of(part, points, lambda p: p.theirs - p.ours)
        if k is not None and abs(k - 1) < 1e-7:
            return Diagnosis(
                "extra term", f"The term {text_of(part)} is too much.", "a term counted twice or not there"
            )
        if k is not None and abs(k - 2) < 1e-7:
            return Diagnosis("sign", f"The term {text_of(part)} has the wrong sign.", "its sign")
        if k is not None and abs(k - 1) > 1e-7:
            return Diagnosis("factor", f"The factor of the term {text_of(part)} is wrong.", "its factor")
    return None


def _two_terms(theirs: Term, ours: Term, points: Sequence[Point], _: Comparison) -> Diagnosis | None:
    """Two terms of the exact formula are missing."""
    exact = summands(ours)
    for a, b in itertools.combinations(exact, 2) if 2 < len(exact) <= 8 else ():
        k = _multiple_of(a + b, points, lambda p: p.theirs - p.ours)  # type: ignore[operator]
        if k is not None and abs(k + 1) < 1e-7:
            return Diagnosis(
                "term", f"The terms {text_of(a)} and {text_of(b)} are missing.", "a term of the sum or product rule"
            )
    return None


def _one_for_another(theirs: Term, ours: Term, points: Sequence[Point], _: Comparison) -> Diagnosis | None:
    """One term of the given formula stands where the exact one has another."""
    given, exact = expanded_summands(theirs), expanded_summands(ours)
    for a, b in itertools.product(given, exact) if 1 < len(given) * len(exact) <= 36 else ():
        pairs = [(_spread(a, p), _spread(b, p)) for p in points]
        if any(x is None or y is None for x, y in pairs):
            continue
        if not all(near(p.theirs - p.ours, x - y, p.tolerance) for p, (x, y) in zip(points, pairs, strict=True)):
            continue
        said = f"The term {text_of(a)} should be {text_of(b)}."
        if all(ratio(x, y, p.tolerance) is not None for p, (x, y) in zip(points, pairs, strict=True)):
            return Diagnosis("factor", said, "a factor of that term")
        if all(near(x.T, y, p.tolerance) for p, (x, y) in zip(points, pairs, strict=True)):
            return Diagnosis("transpose", said, "A for Aᵀ")
        change = Search().found(a, reached(points, [y for _, y in pairs]))
        kind = "term" if change is None else sentence(change, of_theirs=True).kind
        return Diagnosis(kind, said, "that term")
    return None


def _multiple_of(part: Term, points: Sequence[Point], off: Any) -> float | None:
    """The one ``k`` for which the difference is ``k`` times a term at all points; where both are 0 says nothing."""
    found: float | None = None
    for p in points:
        v = _spread(part, p)
        if v is None:
            return None
        if not np.any(v) and near(off(p), v, p.tolerance):
            continue
        k = ratio(np.asarray(off(p)), v, p.tolerance)
        if not isinstance(k, float) or (found is not None and abs(k - found) > 1e-6 * abs(found)):
            return None
        found = k
    return found


def _spread(part: Term, p: Point) -> Any:
    """The value of a term of a sum, in the shape of the whole; None without one."""
    found = value(part, p.values, p.sizes)
    try:
        return None if found is None else np.broadcast_to(found, p.ours.shape)
    except ValueError:
        return None


def _fraction(k: float) -> str:
    plain = Fraction(k).limit_denominator(60)
    return str(plain) if abs(float(plain) - k) < 1e-6 else number_text(k)


# ---------------------------------------------------------------------------------------------- one change


def _root_factor(theirs: Term, ours: Term, points: Sequence[Point], _: Comparison) -> Diagnosis | None:
    """A factor of the whole formula is missing, or too much."""
    search = Search()
    for root, goals in ((theirs, [p.ours for p in points]), (ours, [p.theirs for p in points])):
        for change in itertools.islice(factors(root), 24):
            if search.meets(root, change, reached(points, goals)):
                return sentence(change, of_theirs=root is theirs)
    return None


def _one_change(theirs: Term, ours: Term, points: Sequence[Point], _: Comparison) -> Diagnosis | None:
    def is_defined(part: Term) -> bool:
        values = [value(part, p.values, p.sizes) for p in points]
        return not any(v is not None and np.isnan(v).any() for v in values)

    search = Search(symbols(theirs, ours), is_defined=is_defined)
    for root, goals in ((theirs, [p.ours for p in points]), (ours, [p.theirs for p in points])):
        change = search.found(root, reached(points, goals))
        if change is not None:
            return sentence(change, of_theirs=root is theirs)
        search.left = max(search.left, BUDGET // 2)
    return None


_HYPOTHESES = (
    _multiple, _turned, _assumption, _one_term, _root_factor, _two_terms, _one_for_another, _positive_parameter,
    _one_change, _positivity, _zero,
)  # fmt: skip
"""What is tried, the most telling first."""
