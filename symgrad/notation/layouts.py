r"""Layouts of derivatives: which way the axes of gradients and Jacobians lie on paper.

In the numerator layout a derivative stands before the differential as it is: df = ∂f/∂x dx, with a row for ∂f/∂x, and
df = tr(∂f/∂X dX).  In the denominator layout it is the transpose of that.  The mixed layout, which is that of arrays,
gives gradients the shape of their variable, and Jacobians one row for each entry of the result.  The names are those
of the article "Matrix calculus" of Wikipedia; Magnus and Neudecker use the numerator layout, Boyd and Vandenberghe
the mixed one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from symgrad.errors import ArgumentError
from symgrad.formula.printing.names import bolded, texts
from symgrad.formula.term import Term
from symgrad.op import lookup

LAYOUTS = ("mixed", "numerator", "denominator")
HEADERS = ("leibniz", "nabla", "D")


@dataclass(frozen=True)
class Derivative:
    """Of what a formula is the derivative, as LaTeX, and by which arrays: names with their numbers of axes."""

    function: str
    by: tuple[tuple[str, int], ...]

    def head(self, notation: str) -> str:
        r"""The left side: ``\frac{\partial f}{\partial x}``, ``\nabla_{x} f`` or ``\mathrm{D}_{x} f``."""
        below = [name for name, _ in self.by]
        twice = len(below) == 2 and below[0] == below[1]
        if notation == "D":
            return rf"\mathrm{{D}}_{{{below[0]}}}{'^{2}' if twice else ''} {self.function}"
        if twice or notation == "nabla":
            return rf"\nabla_{{{below[0]}}}{'^{2}' if twice else ''} {self.function}"
        order = rf"\partial^{{{len(below)}}}" if len(below) > 1 else r"\partial"
        under = " ".join(rf"\partial {name}" for name in below)
        return rf"\frac{{{order} {self.function}}}{{{under}}}"

    def in_bold(self) -> Derivative:
        """The same with arrays in bold, as the formula beside it has them."""
        return Derivative(self.function, tuple((bolded(name) if axes else name, axes) for name, axes in self.by))

    def checked_head(self, notation: str, value: int, layout: str) -> str:
        """The same; an error for a notation that means something else than the formula, whose value has so many axes.

        ∇f is a gradient in the shape of its variable, and Df the numerator layout's derivative.
        """
        if notation not in HEADERS:
            raise ArgumentError(f"header= is True or one of {', '.join(HEADERS)}, not {notation!r}.")
        if notation != "leibniz" and len({name for name, _ in self.by}) > 1:
            raise ArgumentError(f'header="{notation}" is for derivatives by one variable; header=True names several.')
        if notation == "nabla" and (value or layout == "numerator"):
            what = "a Jacobian" if value else "its transpose"
            raise ArgumentError(f'header="nabla" is the gradient of a scalar, a column, and this is {what}; take "D".')
        if notation == "D" and self.turned("numerator", value) != self.turned(layout, value):
            raise ArgumentError('header="D" is the derivative of the numerator layout; say layout="numerator", too.')
        return self.head(notation)

    def turned(self, layout: str, value: int) -> bool:
        """Whether the axes stand in the other order than those of the array; ``value`` has so many axes."""
        if layout not in LAYOUTS:
            raise ArgumentError(f"layout= is one of {', '.join(LAYOUTS)}, not {layout!r}.")
        axes = [count for _, count in self.by]
        if layout == "mixed" or value + sum(axes) == 0:
            return False
        if len(axes) == 2 and not value and self.by[0] == self.by[1] and axes[0] < 2:
            return False  # a Hessian is symmetric
        if len(axes) > 1 or value + axes[0] > 2:
            raise ArgumentError(
                f'layout="{layout}" is for derivatives of one or two axes, by one variable; this one has '
                f'{value + sum(axes)}. layout="mixed" prints the axes of the result, then those of the variable.'
            )
        return (layout == "numerator") == (value == 0)

    def caption(self, layout: str, value: int) -> str:
        """The line that states a layout by what the derivative is for: the differential of the function."""
        if len(self.by) > 1:
            return rf"\text{{({layout} layout)}}"
        ((name, count),) = self.by
        transposed = self.turned(layout, value) != self.turned("numerator", value)
        head = self.head("leibniz")
        factor = rf"\left({head}\right)^{{\top}}" if transposed else head
        product = rf"{factor} \, {_differential(name)}"
        whole = rf"\operatorname{{tr}}\left({product}\right)" if count == 2 else product
        return rf"{_differential(self.function)} = {whole} \quad \text{{({layout} layout)}}"


def _differential(name: str) -> str:
    """d and a name; a thin space before a name of several upright letters."""
    return rf"\mathrm{{d}} \, {name}" if name.startswith(r"\mathrm") else rf"\mathrm{{d}}{name}"


def derivative_of(function: str, targets: Sequence[Term], symbols: Sequence[Term]) -> Derivative | None:
    """The derivative of a function by some of the symbols; None by none."""
    spelled = texts(str(s.name) for s in symbols)
    by = tuple((spelled[str(t.name)], t.ndim) for t in targets)
    return Derivative(function, by) if by else None


def transposed(term: Any) -> Term:
    """A vector as a row, and a matrix as its transpose."""
    return lookup("unsqueeze")(term, dim=0) if term.ndim == 1 else term.T  # type: ignore[no-any-return]
