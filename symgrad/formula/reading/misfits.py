"""The error of operands that do not fit together: it says something of a formula, which unreadable text does not."""

from __future__ import annotations

from symgrad.errors import FormulaError


class ProductMisfit(FormulaError):
    """Operands whose shapes have no product, sum or function in the order in which they stand."""

    advice = "a transpose, the order of factors, or ⊙"


class LimitMisfit(ProductMisfit):
    """A sum that ends at another size than what it adds up has."""

    advice = "the size at which the sum ends"


class TwoMeanings(FormulaError):
    """A text that is read in two ways, of which neither is more usual."""


def said(error: Exception) -> str:
    """The words of an error, to stand inside of another one."""
    return str(error).rstrip(".").replace("'", "")
