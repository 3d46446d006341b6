"""From a wrong gradient to the probable mistake: hypotheses in order, the most telling first.

Every hypothesis predicts what the mistake would have made of the exact gradient.  It is believed when the prediction
meets the given gradient within rounding, and explains the difference to five digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np

from symgrad.check.diagnosis.case import Case
from symgrad.check.diagnosis.constants import constant_name, parameter_name, value_name
from symgrad.check.diagnosis.elsewhere import elsewhere
from symgrad.check.diagnosis.entries import entries_shared
from symgrad.check.diagnosis.finite import not_finite, some_of
from symgrad.check.diagnosis.kinks import decided_elsewhere, let_through
from symgrad.check.diagnosis.loops import constant_value, every_round, rounds_scaled, rounds_scaled_by_any, some_rounds
from symgrad.check.diagnosis.others import other_function, other_values
from symgrad.check.diagnosis.paths import inner_derivative, path, path_with_factor, simple_path, turned
from symgrad.check.diagnosis.proven import is_proven, proven_name
from symgrad.check.diagnosis.rounds import rounds_mixed_up
from symgrad.check.diagnosis.rules import inside_rule
from symgrad.check.diagnosis.shapes import explain_shape
from symgrad.check.diagnosis.shortcuts import as_of_numbers, one_row
from symgrad.check.diagnosis.variants import overwritten, two_parts, variant
from symgrad.check.diagnosis.windows import (
    parts_overwritten,
    rounds_overwritten,
    windows_elsewhere,
    windows_overwritten,
)
from symgrad.check.graph.surgery import text_of as describe_edge
from symgrad.check.report import Diagnosis, number_text, two_texts
from symgrad.tape.graph import Node

TELLING = 5
"""Bits from which on it is no chance that entries of which some are equal stand in a certain other order."""


def diagnose(case: Case) -> Diagnosis:
    """The first hypothesis that explains the given gradient; kind "unknown" when none does."""
    if case.c.shape != case.g.shape:
        return explain_shape(case)
    for hypothesis in (Case.suspected, *_HYPOTHESES):
        found = None if hypothesis in case.refuted else hypothesis(case)
        if found is not None:
            return _with_cause(case, found) if found.kind in _OF_ENTRIES else found
        if hypothesis in _HYPOTHESES and not case.is_late:
            case.refuted.add(hypothesis)
    if case.surgeon is not None:
        case.surgeon.patience *= PATIENCE
    found = _past_still(case) or _remaining_entries(case)
    if found is not None:
        return found
    with np.errstate(all="ignore"):
        ratio = np.abs(case.c / case.g)
    ratio = ratio[np.isfinite(ratio)]
    spread = f"; the ratios run from {ratio.min():.3g} to {ratio.max():.3g}" if ratio.size > 1 else ""
    hint = "compare with the formula below"
    if case.exact.measured:  # there are no operations to look at
        hint = "its terms one by one; of a function written with NumPy's or this library's, more can be said"
    return Diagnosis("unknown", f"No single mistake explains the difference{spread}.", hint)


# ---------------------------------------------------------------------------------------------- all entries alike


def _complex_for_real(case: Case) -> Diagnosis | None:
    if case.c.dtype.kind != "c" or case.g.dtype.kind == "c" or not np.any(case.c.imag):
        return None
    rest = "the real part is right" if case.meets(case.c.real + 0j, case.g + 0j) else "the real part is wrong, too"
    return Diagnosis(
        "complex part",
        f"The {case.what} is complex, but {case.name} is real; {rest}.",
        "a real part to be taken: the gradient of a real variable is real",
    )


def _held_constant(case: Case) -> Diagnosis | None:
    if not case.exact.recorded or not case.meets(case.exact.recorded[case.number]):
        return None
    return Diagnosis(
        "held constant",
        "This is the gradient with what f detaches, or turns into plain numbers, held constant.",
        f"what depends on {case.name} and is detached; if that is meant, give it to f as an argument of its own",
    )


def _zero(case: Case) -> Diagnosis | None:
    if np.any(case.c):
        return None
    return Diagnosis(
        "zero",
        f"The given {case.what} is zero everywhere.",
        f"{case.name} cut off: detached, copied, or rounded to integers",
    )


def _swapped(case: Case) -> Diagnosis | None:
    for j, other in enumerate(case.exact.gradients):
        if j != case.number and case.meets(other):
            name = case.subject.names[case.subject.positions[j]]
            return Diagnosis(
                "swapped", f"This is the {case.what} of {name}, not of {case.name}.", "the order of the results"
            )
    return None


def _factor(case: Case, plain_only: bool = False) -> Diagnosis | None:
    k = case.multiple_of(case.g)
    if k is None:
        return None
    k = 1 + k
    if np.max(np.abs(case.c - k * case.g)) > 1e-5 * np.max(np.abs(case.c)) + float(np.max(case.argument.tolerance)):
        return None  # so small that any factor near 0 would do
    if isinstance(k, float) and abs(k + 1) < 1e-4 and case.meets(-case.g) and is_proven(-1, case):
        whole = f"The {case.what}" if case.g.size == 1 else "Every entry"
        return Diagnosis("sign", f"{whole} has the wrong sign.", "a minus, or a difference taken the other way round")
    name = proven_name(k, case)
    if name is None and (plain_only or (case.g.size == 1 and len(case.exact.gradients) > 1)):
        return None  # other arguments tell more of the place
    value = value_name(k, case) if name is None and case.g.size > 2 else None
    text = name or value or number_text(k)
    whole = f"The {case.what} is" if case.g.size == 1 else "Every entry is"
    hint = {
        "2": "a factor 2 too many", "1/2": "the 2 from differentiating a square",
    }.get(text, "a constant lost or added: a mean for a sum, a factor from the chain rule")  # fmt: skip
    if value is not None:
        left = ("factor", "division") if value.lstrip("-").startswith("1/(") else ("division", "factor")
        hint = f"a {left[0]} that is left out, or a {left[1]} too many"
    return Diagnosis("factor", f"{whole} {text} times the exact one.", hint)


def _plain_factor(case: Case) -> Diagnosis | None:
    """For one entry every factor fits, so that only well-known ones say something."""
    return _factor(case, plain_only=case.g.size == 1)


def _complex_parts(case: Case) -> Diagnosis | None:
    if case.g.dtype.kind != "c":
        return None
    if case.meets(np.conj(case.g)):
        return Diagnosis(
            "conjugate",
            "Every entry is the complex conjugate of the exact one.",
            "JAX's convention: symgrad and torch give the conjugate, the direction of steepest ascent",
        )
    for part, kept in (("imaginary", case.g.real + 0j), ("real", 1j * case.g.imag)):
        if case.meets(kept):
            return Diagnosis("complex part", f"The {part} part is missing.", "a cast to a real dtype")
    return None


def _arrangements(g: Any) -> float:
    """In how many orders the entries of an array may stand, in bits; without end where all are different."""
    counts = np.unique(g, return_counts=True)[1]
    if counts.max(initial=1) == 1:
        return math.inf
    return (math.lgamma(g.size + 1) - sum(math.lgamma(count + 1) for count in counts)) / math.log(2)


def _order(case: Case) -> Diagnosis | None:
    g, name = case.g, case.name
    if _arrangements(g) < TELLING:
        return None  # slopes of 1 and 0.1 for each other may look like entries that run backwards
    if g.ndim == 2 and g.shape[0] == g.shape[1] and case.meets(g.T):
        return Diagnosis("transpose", f"The given {case.what} of {name} is the transpose of the exact one.", "A for Aᵀ")
    for i, j in combinations(range(g.ndim if g.ndim > 2 else 0), 2):
        if g.shape[i] == g.shape[j] and case.meets(np.swapaxes(g, i, j)):
            return Diagnosis("transpose", f"Axes {i} and {j} of the {case.what} are swapped.", "the order of the axes")
    if g.ndim >= 2 and case.meets(g.ravel("F").reshape(g.shape)):
        return Diagnosis(
            "order", "The entries are in column-major order.", "reshape(order='F'), or a transpose before ravel"
        )
    for axes in (axes for count in (1, 2) for axes in combinations(range(g.ndim), count)):
        if case.meets(np.flip(g, axes)):
            along = " and ".join(f"axis {axis}" for axis in axes)
            return Diagnosis("order", f"The entries run backwards along {along}.", "a reversed slice")
    for axis in range(g.ndim):
        if case.meets(np.roll(np.flip(g, axis), 1, axis)):
            said = f"The entries run backwards along axis {axis}, all but the first."
            return Diagnosis("order", said, "a Fourier transform for its inverse, or an index -k for k")
        for shift in (1, -1):
            if case.meets(np.roll(g, shift, axis)):
                return Diagnosis(
                    "order", f"The entries are shifted by {shift} along axis {axis}.", "an index off by one"
                )
    shifted = _shifted(case)
    if shifted is not None:
        return shifted
    swapped = _swapped_lines(case)
    if swapped is not None:
        return swapped
    return None


def _permuted(case: Case) -> Diagnosis | None:
    g = case.g
    if g.size > 1 and g.dtype.kind == "f" and case.meets(np.sort(g.ravel()), np.sort(case.c.ravel())):
        return Diagnosis("order", "The entries are right, but in another order.", "an index, a sort, or a permutation")
    return None


def _shifted(case: Case) -> Diagnosis | None:
    """Entries shifted along one of the last axes, or along both, with others at the ends."""
    g, c = case.g, case.c
    axes = [k for k in range(max(g.ndim - 2, 0), g.ndim) if g.shape[k] > 2]
    for shift in product((0, 1, -1), repeat=len(axes)):
        moved = [(axis, k) for axis, k in zip(axes, shift, strict=True) if k]
        inner, from_ = [slice(None)] * g.ndim, [slice(None)] * g.ndim
        for axis, k in moved:
            late, early = slice(1, None), slice(None, -1)
            inner[axis], from_[axis] = (late, early) if k > 0 else (early, late)
        a, b = c[tuple(inner)], g[tuple(from_)]
        if moved and a.size > 1 and np.any(b != b.flat[0]) and case.meets(b, a):
            said = " and ".join(f"by {k} along axis {axis}" for axis, k in moved)
            return Diagnosis("order", f"The entries are shifted {said}.", "an index or a slice off by one")
    return None


def _swapped_lines(case: Case) -> Diagnosis | None:
    """Rows, columns or groups of them in each other's place."""
    g, c = case.g, case.c
    for axis in range(g.ndim):
        n = g.shape[axis]
        mine, theirs = (np.moveaxis(v, axis, 0).reshape(n, -1) for v in (g, c))
        if not 1 < n <= MOST_LINES or mine.shape[1] * n > 100_000:
            continue
        room = 8 * float(np.max(case.argument.tolerance)) + 1e-5 * float(np.max(np.abs(case.off)))
        same = np.array([[np.all(np.abs(a - b) <= room) for b in mine] for a in theirs])
        places = same.argmax(axis=1)
        wrong = np.flatnonzero(places != np.arange(n))
        if same.any(axis=1).all() and len(set(places)) == n and wrong.size:
            first, other = int(wrong[0]), int(places[wrong[0]])
            at = [
                case.argument.place(tuple(str(k) if j == axis else ":" for j in range(g.ndim))) for k in (first, other)
            ]
            return Diagnosis("order", f"{at[0]} holds what belongs to {at[1]}, and so on.", "the order of the parts")
    return None


MOST_LINES = 100
"""Rows or columns that are compared with each other."""


# ---------------------------------------------------------------------------------------------- some entries


def _few_entries(case: Case) -> Diagnosis | None:
    wrong = np.abs(case.c - case.g) > case.argument.tolerance
    count, size = int(wrong.sum()), wrong.size
    if size == 1 or count == size:
        return None
    if count == 1:
        index = tuple(int(k) for k in np.argwhere(wrong)[0])
        given, exact = two_texts(case.c[index], case.g[index])
        with np.errstate(all="ignore"):
            factor = (case.c[index] / case.g[index]).item()
        name = parameter_name(factor, case, constant_name(factor, case))
        times = "" if name is None else f", {name} times what it should be"
        return Diagnosis(
            "entry",
            f"Only {case.argument.place(index)} is wrong: {given} instead of {exact}{times}.",
            "that index, or an edge case",
        )
    if np.all(case.g[wrong] == 0):
        return Diagnosis(
            "mask", f"{some_of(count, size)} not 0, though they should be; the others are right.", "a mask left out"
        )
    if np.all(case.c[wrong] == 0):
        return Diagnosis(
            "zeros", f"{some_of(count, size)} zero, the others are right.", "a mask, a slice, or a loop that ends early"
        )
    if case.meets(np.abs(case.g)):
        return Diagnosis(
            "absolute value", "Every entry is the absolute value of the exact one.", "abs() or a square root"
        )
    if case.meets(np.where(wrong, -case.g, case.g)):
        return Diagnosis(
            "signs", f"{some_of(count, size)} of the wrong sign, the others are right.", "the case distinction"
        )
    for axis in range(case.g.ndim if case.g.ndim > 1 else 0):
        others = tuple(k for k in range(case.g.ndim) if k != axis)
        lines = np.flatnonzero(wrong.any(axis=others))
        if len(lines) == 1 < case.g.shape[axis]:
            at = tuple(str(int(lines[0])) if k == axis else ":" for k in range(case.g.ndim))
            return Diagnosis(
                "slice", f"Only {case.argument.place(at)} is wrong.", "that row or column, or an edge case"
            )
    return None


def _remaining_entries(case: Case) -> Diagnosis | None:
    wrong = np.abs(case.c - case.g) > case.argument.tolerance
    count, size = int(wrong.sum()), wrong.size
    if wrong.ndim == 2 and wrong.shape[0] == wrong.shape[1] > 1 and np.array_equal(wrong, np.eye(len(wrong)) > 0):
        return Diagnosis("entries", "The diagonal is wrong, all other entries are right.", "the case i = j")
    if count > size / 2 or size == 1:
        return None
    index = tuple(int(k) for k in np.argwhere(wrong)[0])
    apart, offs = case.c[wrong] / case.g[wrong], case.off[wrong]
    known = None if count < 2 or not np.allclose(apart, apart[0], rtol=1e-6) else constant_name(apart[0].item(), case)
    if known is not None:
        said = f"{known} times what they should be"
    elif count > 1 and np.isrealobj(offs) and np.allclose(offs, offs[0], rtol=1e-6):
        said = f"too {'large' if offs[0] > 0 else 'small'} by {number_text(abs(offs[0]))}"
    else:
        said = "wrong"
    return Diagnosis(
        "entries",
        f"{some_of(count, size)} {said}, first {case.argument.place(index)}; the others are right.",
        "a case or a mask",
    )


# ---------------------------------------------------------------------------------------------- values changed later


def _added(case: Case, any_number: bool = False) -> Diagnosis | None:
    """A multiple of x, of an argument or of 1; first by a number of few digits only, as people write them."""
    if case.g.size < 2:
        return None
    directions = [(case.x, case.name, "regularisation"), (np.ones_like(case.g), "1", "offset")]
    if case.x.dtype.kind == "f" and (not any_number or case.g.size > 4):  # few signs are met by chance
        directions.append((np.sign(case.x), f"sign({case.name})", "regularisation"))
    own = case.subject.positions[case.number]
    others = [k for k in case.subject.data if k != own and case.subject.args[k].shape == case.g.shape]
    directions += [(case.subject.args[k], case.subject.names[k], "offset") for k in others]
    for direction, text, kind in directions:
        k = case.multiple_of(direction)
        if k is not None and not isinstance(k, complex) and (any_number or _is_short(k, case)):
            whole = abs(abs(k) - 1) < 1e-9
            amount = number_text(abs(k)) if text == "1" else text if whole else f"{number_text(abs(k))} * {text}"
            verb = "too much" if k > 0 else "missing"
            hint = "a regularisation term" if kind == "regularisation" else "a term added to the gradient"
            return Diagnosis(kind, f"{amount} is {verb} in every entry.", hint)
    return None


def _added_by_any_number(case: Case) -> Diagnosis | None:
    return _added(case, True)


def _is_short(k: float, case: Case) -> bool:
    """Whether a number has three digits at most, or a name."""
    return abs(k - float(f"{k:.3g}")) <= 1e-6 * abs(k) or constant_name(k, case) is not None


def _factor_by_slices(case: Case) -> Diagnosis | None:
    """A factor of its own in every row: a norm, a count."""
    g, c = case.g, case.c
    for axis in range(g.ndim if g.ndim > 1 and g.dtype.kind == "f" else 0):
        others = tuple(k for k in range(g.ndim) if k != axis)
        if g.shape[axis] < 2 or g.size == g.shape[axis]:
            continue
        with np.errstate(all="ignore"):
            factors = np.sum(g * c, axis=others, keepdims=True) / np.sum(g * g, axis=others, keepdims=True)
        if np.isfinite(factors).all() and case.meets(factors * g):
            at = case.argument.place(tuple("i" if k == axis else ":" for k in range(g.ndim)))
            source = _source_of_factors(case, factors.ravel())
            if source is not None:
                said = f"Every {at} is multiplied by entry i of {source}."
                return Diagnosis("slice factors", said, "that value, left out, put in twice, or computed otherwise")
            low, high = two_texts(factors.min(), factors.max(), 3)
            return Diagnosis(
                "slice factors",
                f"Every {at} has a factor of its own, from {low} to {high}.",
                "a norm, a variance or a count per row, left out or put in twice",
            )
    return None


def _source_of_factors(case: Case, factors: Any) -> str | None:
    """The value of the function that factors are, its inverse, or its ratio to what it is without a constant."""
    if case.replay is None or case.exact.output is None:
        return None
    known = [(edge, case.replay.value(edge)) for node in case.replay.nodes for edge in (*node.args, node)]
    for edge, value in known:
        if value is None or value.size != factors.size or value.dtype.kind != "f":
            continue
        forms = [(value, "{0}"), (1 / value, "1/({0})")]
        for other in case.replay.without_constants():
            changed = case.replay.values_of(other).get(edge) if isinstance(edge, Node) else None
            if changed is not None and changed.size == value.size:
                forms.append((changed / value, f"({{0}} {other.said}) / ({{0}})"))
                forms.append((value / changed, f"({{0}}) / ({{0}} {other.said})"))
        for array, said in forms:
            if np.allclose(np.ravel(array), factors, rtol=1e-6, atol=0):
                return said.format(describe_edge(case.exact.output, edge))
    return None


def _spread(case: Case) -> Diagnosis | None:
    for axis in range(case.g.ndim if case.g.size > 1 else 0):
        for what, total in (("sum", case.g.sum(axis, keepdims=True)), ("mean", case.g.mean(axis, keepdims=True))):
            if case.meets(np.broadcast_to(total, case.g.shape)):
                return Diagnosis(
                    "broadcast sum",
                    f"Every entry is the {what} of the exact ones along axis {axis}.",
                    "a sum that should not be there, broadcast back",
                )
    return None


def _shape_of_values(case: Case) -> Diagnosis | None:
    """Values that went through a function afterwards: a sign, clipping, a power, a product with x."""
    g, c, x = case.g, case.c, case.x
    if g.dtype.kind == "c" or g.size < 2:
        return None
    if case.meets(np.sign(g)):
        return Diagnosis("function", "Every entry of the exact gradient is replaced by its sign.", "sign()")
    low, high = float(c.min()), float(c.max())
    clipped = ((c == low) | (c == high)) & (np.abs(c - g) > case.argument.tolerance)
    several = min(clipped.sum(), (~clipped).sum()) > 1 or low == -high
    if case.meets(np.clip(g, low, high)) and clipped.any() and several:
        return Diagnosis("clipped", f"The gradient is clipped to [{low:.4g}, {high:.4g}].", "gradient clipping")
    with np.errstate(all="ignore"):
        functions = [(g * g, "squared")]
        if x.shape == g.shape:
            functions += [(g * x, f"multiplied by {case.name}"), (g / x, f"divided by {case.name}")]
    for prediction, text in functions:
        if np.isfinite(prediction).all() and case.meets(prediction):
            return Diagnosis(
                "function", f"Every entry of the exact gradient is {text}.", "a derivative taken by another variable"
            )
    return None


def _symmetrised(case: Case) -> Diagnosis | None:
    g = case.g
    if g.ndim != 2 or g.shape[0] != g.shape[1] or g.size < 2:
        return None
    predictions = [
        ((g + g.T) / 2, "symmetrised: (G + Gᵀ)/2 instead of G"),
        (g + g.T, "G + Gᵀ instead of G"),
        (np.tril(g), "cut to its lower triangle"),
        (np.triu(g), "cut to its upper triangle"),
        (np.diag(np.diag(g)), "cut to its diagonal"),
        (2 * g - np.diag(np.diag(g)), "doubled off the diagonal"),
        ((g + np.diag(np.diag(g))) / 2, "halved off the diagonal"),
    ]
    for prediction, text in predictions:
        if case.meets(prediction, case.argument.given):
            return Diagnosis("symmetry", f"The gradient is {text}.", "a symmetric argument taken for granted")
    if case.meets(g, (case.c + case.c.T) / 2):
        said = "The gradient G is not symmetrised: (G + Gᵀ)/2 is right."
        return Diagnosis("symmetry", said, "f makes a symmetric matrix of its argument, whose derivative is left out")
    return None


def _elsewhere(case: Case) -> Diagnosis | None:
    if (case.exact.output is None and not case.exact.measured) or case.off is None or case.g.size < 2:
        return None
    for what, place, gradient in elsewhere(case):
        if gradient is not None and case.meets(gradient):
            return Diagnosis("argument", f"This is the gradient with {what}.", place)
    return None


def _precision(case: Case) -> Diagnosis | None:
    size = float(np.max(np.abs(case.g)))
    error = float(np.max(np.abs(case.c - case.g)))
    if not size or error > LEAST_PRECISE * size:
        return None
    if case.meets(case.g.astype(np.complex64 if case.g.dtype.kind == "c" else np.float32)):
        return Diagnosis("precision", "The gradient is right to single precision only.", "a float32 on the way")
    digits = int(-np.log10(error / size))
    hint = "finite differences, single precision, or an approximation"
    if case.exact.measured:
        hint += (
            "; or f is one itself: if it has a tolerance (a solver, an iteration), tighten that, or widen rtol= here"
        )
    return Diagnosis("precision", f"The gradient is right to about {digits} digits only.", hint)


LEAST_PRECISE = 1e-3
"""How far off an approximation is at most; what is farther off is another formula."""

_HYPOTHESES: tuple[Callable[[Case], Diagnosis | None], ...] = (
    not_finite,
    _complex_for_real,
    _held_constant,
    _zero,
    _swapped,
    _plain_factor,
    _complex_parts,
    overwritten,
    rounds_overwritten,
    simple_path,
    windows_overwritten,
    let_through,
    decided_elsewhere,
    _few_entries,
    _order,
    _symmetrised,
    every_round,
    path,
    _added,
    _spread,
    inner_derivative,
    turned,
    windows_elsewhere,
    entries_shared,
    _shape_of_values,
    _elsewhere,
    rounds_scaled,
    variant,
    one_row,
    as_of_numbers,
    other_function,
    _permuted,
    rounds_mixed_up,
    inside_rule,
    two_parts,
    constant_value,
    parts_overwritten,
    other_values,
    _factor_by_slices,
    some_rounds,
    rounds_scaled_by_any,
    _added_by_any_number,
    path_with_factor,
    _precision,
    _factor,
)

_EXACT: tuple[Callable[[Case], Diagnosis | None], ...] = (inner_derivative, every_round, variant, rounds_mixed_up)
"""Those that leave no number open, and so can be told from one entry."""


_OF_ENTRIES = ("entry", "slice", "zeros")
"""Kinds of diagnosis that say which entries are wrong, where one mistake in the function may explain them."""

PATIENCE = 0.25
"""How much less is tried for the arguments after one that nothing explains: mostly the mistake is the same."""


def _with_cause(case: Case, found: Diagnosis) -> Diagnosis:
    """What explains wrong entries, as one of a vector of parameters: it has to do so to all digits."""
    if not 1 < case.g.size <= MOST_PARAMETERS:
        return found
    strict = replace(case, strict=True)
    cause = next((d for d in (hypothesis(strict) for hypothesis in _EXACT) if d is not None), None)
    if cause is None or cause.sentence == found.sentence:
        return cause or found
    return Diagnosis(found.kind, f"{found.sentence} Probably: {cause.sentence}", cause.hint, cause.line)


MOST_PARAMETERS = 50
"""Entries of an argument that may be parameters, each with its own place in the function."""

_PAST: tuple[Callable[[Case], Diagnosis | None], ...] = (
    path,
    turned,
    windows_overwritten,
    entries_shared,
    every_round,
    variant,
)


def _past_still(case: Case) -> Diagnosis | None:
    """A mistake of those who leave out paths: to the largest entry in a softmax, or to the sum that it is divided by.

    The first brings nothing.  Of the second people know what it brings when all is right, as in p - t for a softmax and
    weights t that add up to 1, and write that down.
    """
    surgeon = case.by_rows().surgeon
    if surgeon is not None and surgeon.sweeps:
        for still in (surgeon.idle, surgeon.sums):
            past = replace(case, still=still)
            for hypothesis in _PAST if still else ():
                found = hypothesis(past)
                if found is not None:
                    return found
    return None
