"""From a wrong gradient to the probable mistake: hypotheses in order, the most telling first.

Every hypothesis predicts what the mistake would have made of the exact gradient.  It is believed when the prediction
meets the given gradient within rounding, and explains the difference to five digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symgrad.check import surgery
from symgrad.check.constants import constant_name
from symgrad.check.elsewhere import elsewhere
from symgrad.check.lines import line_text
from symgrad.check.oracle import Exact
from symgrad.check.report import ArgumentReport, Diagnosis, number_text, two_texts
from symgrad.check.shapes import explain_shape
from symgrad.check.subject import Subject


@dataclass
class Case:
    """One wrong derivative and everything known about it.

    ``seeds`` are the cotangents whose products with the derivative are compared, for sweeps of the tape; None for a
    gradient, where there is but one.
    """

    argument: ArgumentReport
    number: int
    subject: Subject
    exact: Exact
    seeds: Any = None

    def __post_init__(self) -> None:
        self.name = self.argument.name
        self.what = {"jacobian": "Jacobian", "jvp": "tangent"}.get(self.argument.kind, "gradient")
        self.g = self.argument.exact
        self.c = self.argument.given
        self.x = self.subject.args[self.subject.positions[self.number]]
        self.off = self.c - self.g if self.c.shape == self.g.shape else None

    def meets(self, prediction: Any, given: Any = None) -> bool:
        """Whether a predicted gradient is the given one, and so explains the whole difference."""
        c = self.c if given is None else given
        if np.shape(prediction) != c.shape:
            return False
        aligned = c is self.c and c.shape == self.g.shape
        room = 8 * (self.argument.tolerance if aligned else float(np.max(self.argument.tolerance)))
        if self.off is not None:
            room = room + 1e-5 * float(np.max(np.abs(self.off)))
        else:
            room = room + 1e-5 * float(np.max(np.abs(prediction)))
        return bool(np.all(np.abs(c - prediction) <= room))

    def multiple_of(self, direction: Any) -> float | complex | None:
        """``k`` if the difference to the exact gradient is ``k * direction``, else None."""
        norm = float(np.sum(np.abs(direction) ** 2))
        if self.off is None or not norm or not np.isfinite(norm) or np.shape(direction) != self.off.shape:
            return None
        k = np.sum(np.conj(direction) * self.off) / norm
        k = float(np.real(k)) if abs(np.imag(k)) <= 1e-9 * abs(k) else complex(k)
        return k if k and self.meets(self.g + k * direction) else None

    def by_rows(self) -> Case:
        """The same for a few products with cotangents, which a sweep of the tape gives; itself for a gradient."""
        derivative, value = self.subject.derivative, np.asarray(self.exact.value)
        if derivative.kind == "gradient" or self.off is None:
            return self
        seeds = np.random.default_rng(3).normal(size=(min(MOST_ROWS, value.size), *value.shape))
        argument = replace(
            self.argument,
            exact=derivative.contracted(self.g, seeds),
            given=derivative.contracted(self.c, seeds),
            tolerance=derivative.contracted(self.argument.tolerance, np.abs(seeds)),
        )
        return Case(argument, self.number, self.subject, self.exact, seeds)

    def altered(self, node: Any, i: int, change: str = "cut") -> Any:
        """What the sweep gives when argument ``i`` of a node receives something else."""
        output, leaf = self.exact.output, self.exact.leaves[self.number]
        if self.seeds is None:
            return surgery.altered_gradient(output, leaf, node, i, change)
        rows = [surgery.altered_gradient(output, leaf, node, i, change, seed) for seed in self.seeds]
        return np.array([self.subject.derivative.row(row, self.number) for row in rows])

    def edges(self) -> Iterator[tuple[Any, int]]:
        """The edges of the graph that may be altered; none for a black box."""
        output = self.exact.output
        if output is None or output._node is None:
            return iter(())
        return surgery.edges(output, 1 if self.seeds is None else len(self.seeds))


MOST_ROWS = 4
"""Cotangents that a Jacobian is looked at through."""


def diagnose(case: Case) -> Diagnosis:
    """The first hypothesis that explains the given gradient; kind "unknown" when none does."""
    if case.c.shape != case.g.shape:
        return explain_shape(case)
    for hypothesis in _HYPOTHESES:
        found = hypothesis(case)
        if found is not None:
            return found
    with np.errstate(all="ignore"):
        ratio = np.abs(case.c / case.g)
    ratio = ratio[np.isfinite(ratio)]
    spread = f"; the ratios run from {ratio.min():.3g} to {ratio.max():.3g}" if ratio.size else ""
    return Diagnosis("unknown", f"No single mistake explains the difference{spread}.", "compare with the formula below")


# ---------------------------------------------------------------------------------------------- all entries alike


def _non_finite(case: Case) -> Diagnosis | None:
    bad = ~np.isfinite(case.c) & np.isfinite(case.g)
    if not bad.any():
        return None
    index = tuple(int(k) for k in np.argwhere(bad)[0])
    kinds = (
        "NaN" if np.isnan(case.c[bad]).all() else "infinite" if not np.isnan(case.c[bad]).any() else "NaN or infinite"
    )
    return Diagnosis(
        "non-finite",
        f"{_some(int(bad.sum()), case.c.size)} {kinds}, first {case.argument.place(index)}; the exact one is finite.",
        "0/0, inf - inf, log 0 or an overflowing exp on the way",
    )


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
    if isinstance(k, float) and abs(k + 1) < 1e-4 and case.meets(-case.g):
        return Diagnosis(
            "sign", "Every entry has the wrong sign.", "a minus, or a difference taken the other way round"
        )
    name = constant_name(k, case)
    if plain_only and name is None:
        return None
    text = number_text(k) if name is None else name
    whole = f"The {case.what} is" if case.g.size == 1 else "Every entry is"
    hint = {
        "2": "a factor 2 too many", "1/2": "the 2 from differentiating a square",
    }.get(text, "a constant lost or added: a mean for a sum, a factor from the chain rule")  # fmt: skip
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


def _order(case: Case) -> Diagnosis | None:
    g, name = case.g, case.name
    if g.ndim == 2 and g.shape[0] == g.shape[1] and case.meets(g.T):
        return Diagnosis("transpose", f"The given {case.what} of {name} is the transpose of the exact one.", "A for Aᵀ")
    if g.ndim >= 2 and case.meets(g.ravel("F").reshape(g.shape)):
        return Diagnosis(
            "order", "The entries are in column-major order.", "reshape(order='F'), or a transpose before ravel"
        )
    for axis in range(g.ndim):
        if case.meets(np.flip(g, axis)):
            return Diagnosis("order", f"The entries run backwards along axis {axis}.", "a reversed slice")
        for shift in (1, -1):
            if case.meets(np.roll(g, shift, axis)):
                return Diagnosis(
                    "order", f"The entries are shifted by {shift} along axis {axis}.", "an index off by one"
                )
    if g.size > 1 and g.dtype.kind == "f" and case.meets(np.sort(g.ravel()), np.sort(case.c.ravel())):
        return Diagnosis("order", "The entries are right, but in another order.", "an index, a sort, or a permutation")
    return None


# ---------------------------------------------------------------------------------------------- some entries


def _few_entries(case: Case) -> Diagnosis | None:
    wrong = np.abs(case.c - case.g) > case.argument.tolerance
    count, size = int(wrong.sum()), wrong.size
    if size == 1 or count == size:
        return None
    if count == 1:
        index = tuple(int(k) for k in np.argwhere(wrong)[0])
        given, exact = two_texts(case.c[index], case.g[index])
        return Diagnosis(
            "entry",
            f"Only {case.argument.place(index)} is wrong: {given} instead of {exact}.",
            "that index, or an edge case",
        )
    if np.all(case.c[wrong] == 0):
        return Diagnosis(
            "zeros", f"{_some(count, size)} zero, the others are right.", "a mask, a slice, or a loop that ends early"
        )
    if case.meets(np.abs(case.g)):
        return Diagnosis(
            "absolute value", "Every entry is the absolute value of the exact one.", "abs() or a square root"
        )
    if case.meets(np.where(wrong, -case.g, case.g)):
        return Diagnosis(
            "signs", f"{_some(count, size)} of the wrong sign, the others are right.", "the case distinction"
        )
    for axis in range(case.g.ndim if case.g.ndim > 1 else 0):
        others = tuple(k for k in range(case.g.ndim) if k != axis)
        lines = np.flatnonzero(wrong.any(axis=others))
        if len(lines) == 1:
            at = tuple(str(int(lines[0])) if k == axis else ":" for k in range(case.g.ndim))
            return Diagnosis(
                "slice", f"Only {case.argument.place(at)} is wrong.", "that row or column, or an edge case"
            )
    return None


def _remaining_entries(case: Case) -> Diagnosis | None:
    wrong = np.abs(case.c - case.g) > case.argument.tolerance
    count, size = int(wrong.sum()), wrong.size
    if count > size / 2 or size == 1:
        return None
    index = tuple(int(k) for k in np.argwhere(wrong)[0])
    return Diagnosis(
        "entries",
        f"{_some(count, size)} wrong, first {case.argument.place(index)}; the others are right.",
        "a case or a mask",
    )


# ---------------------------------------------------------------------------------------------- paths of the graph


def _path(case: Case) -> Diagnosis | None:
    """A path of the graph missing, doubled, or with the wrong sign or factor."""
    output, rows = case.exact.output, case.by_rows()
    unnamed = None
    for node, i in rows.edges():
        k = rows.multiple_of(rows.g - rows.altered(node, i))
        if k is None or isinstance(k, complex):
            continue
        # The outermost edge that fits tells most: below it the same part runs through every edge of a chain.
        name = constant_name(1 + k, case) if abs(k + 1) > 1e-4 else "0"
        if name is not None:
            return _part_sentence(surgery.describe(output, node, i), name, _line(case, node.args[i]))
        if unnamed is None and rows.g.size > 1:
            unnamed = _part_sentence(surgery.describe(output, node, i), number_text(1 + k), _line(case, node.args[i]))
    return unnamed


def _line(case: Case, edge: Any) -> str:
    return line_text(case.exact.lines.get(edge))


def _part_sentence(what: str, factor: str, line: str) -> Diagnosis:
    through = f"The part of the gradient that comes from {what}"
    if factor == "0":
        return Diagnosis("term", f"{through} is missing.", "a term of the sum, or a path of the chain rule", line)
    if factor == "-1":
        return Diagnosis("term", f"{through} has the wrong sign.", "its sign", line)
    if factor == "2":
        return Diagnosis("term", f"{through} is counted twice.", "a term added in two places", line)
    return Diagnosis("term", f"{through} is {factor} times what it should be.", "its factor", line)


def _inner_derivative(case: Case) -> Diagnosis | None:
    output, rows = case.exact.output, case.by_rows()
    for node, i in rows.edges():
        if surgery.is_unary(node) and rows.meets(rows.altered(node, i, "skip")):
            return Diagnosis(
                "inner derivative",
                f"The derivative of {node.op.name} is left out, in {surgery.describe_node(output, node)}.",
                "the chain rule",
                _line(case, node),
            )
    return None


def _turned(case: Case) -> Diagnosis | None:
    """A square matrix on the way that is taken for its transpose."""
    output, rows = case.exact.output, case.by_rows()
    for node, i in rows.edges():
        line = _line(case, node)
        if surgery.is_square(node, i) and rows.meets(rows.altered(node, i, "turn")):
            part = surgery.describe(output, node, i)
            return Diagnosis(
                "transpose", f"The gradient of {part} is taken for its transpose on the way.", "A for Aᵀ", line
            )
        others = [j for j in range(len(node.args)) if j != i and surgery.is_square(node, j)]
        if others and node.op.kind == "multilinear" and rows.meets(rows.altered(node, i, "turn others")):
            part = surgery.describe(output, node, others[0])
            return Diagnosis(
                "transpose", f"{part} is taken for its transpose, or the transpose for it.", "A for Aᵀ", line
            )
    return None


# ---------------------------------------------------------------------------------------------- values changed later


def _added(case: Case) -> Diagnosis | None:
    if case.g.size < 2:
        return None
    directions = [(case.x, case.name, "regularisation"), (np.ones_like(case.g), "1", "offset")]
    if case.x.dtype.kind == "f":
        directions.append((np.sign(case.x), f"sign({case.name})", "regularisation"))
    own = case.subject.positions[case.number]
    others = [k for k in case.subject.data if k != own and case.subject.args[k].shape == case.g.shape]
    directions += [(case.subject.args[k], case.subject.names[k], "offset") for k in others]
    for direction, text, kind in directions:
        k = case.multiple_of(direction)
        if k is not None and not isinstance(k, complex):
            amount = f"{number_text(abs(k))} * {text}" if text != "1" else number_text(abs(k))
            verb = "too much" if k > 0 else "missing"
            hint = "a regularisation term" if kind == "regularisation" else "a term added to the gradient"
            return Diagnosis(kind, f"{amount} is {verb} in every entry.", hint)
    return None


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
            low, high = number_text(factors.min(), 3), number_text(factors.max(), 3)
            return Diagnosis(
                "slice factors",
                f"Every {at} has a factor of its own, from {low} to {high}.",
                "a norm, a variance or a count per row, left out or put in twice",
            )
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
    if case.meets(np.clip(g, low, high)) and clipped.any():
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
    ]
    for prediction, text in predictions:
        if case.meets(prediction):
            return Diagnosis("symmetry", f"The gradient is {text}.", "a symmetric argument taken for granted")
    return None


def _elsewhere(case: Case) -> Diagnosis | None:
    if case.exact.output is None or case.off is None:
        return None
    for what, place, gradient in elsewhere(case.subject, case.number):
        if gradient is not None and case.meets(gradient):
            return Diagnosis("argument", f"This is the gradient with {what}.", place)
    return None


def _precision(case: Case) -> Diagnosis | None:
    size = float(np.max(np.abs(case.g)))
    error = float(np.max(np.abs(case.c - case.g)))
    if not size or error > 1e-2 * size:
        return None
    if case.meets(case.g.astype(np.complex64 if case.g.dtype.kind == "c" else np.float32)):
        return Diagnosis("precision", "The gradient is right to single precision only.", "a float32 on the way")
    digits = int(-np.log10(error / size))
    return Diagnosis(
        "precision",
        f"The gradient is right to about {digits} digits only.",
        "finite differences, single precision, or an approximation",
    )


_HYPOTHESES: tuple[Callable[[Case], Diagnosis | None], ...] = (
    _non_finite,
    _complex_for_real,
    _held_constant,
    _zero,
    _swapped,
    _plain_factor,
    _complex_parts,
    _few_entries,
    _order,
    _symmetrised,
    _path,
    _added,
    _spread,
    _inner_derivative,
    _turned,
    _shape_of_values,
    _factor_by_slices,
    _elsewhere,
    _precision,
    _factor,
    _remaining_entries,
)


def _some(count: int, size: int) -> str:
    return f"{count} of {size} entries {'is' if count == 1 else 'are'}"
