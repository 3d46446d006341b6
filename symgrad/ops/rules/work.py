"""Floating-point operations of ops that are not one per entry, as products of sizes.

Those of factorisations are the leading terms of Golub and Van Loan, "Matrix Computations" (4th edition), sections 3.1,
3.2, 4.2 and 5.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

Work = list[tuple[Any, tuple[Any, ...]]]
"""Products of sizes with their factors: ``[(2, ("n", "n", "k"))]`` is 2 n² k."""

UNKNOWN = "unknown"
"""The work of what iterates until it is good enough, such as eigenvalues."""


def cubic(factor: Any) -> Callable[..., Work]:
    """A factor times n³, for every matrix (n, n) of a stack.

    >>> cubic(2)(("b", "n", "n"))
    [(2, ('b', 'n', 'n', 'n'))]
    """
    return lambda a, **_: [(factor, (*a, a[-1]))]


def system(a: Sequence[Any], b: Sequence[Any], **_: Any) -> Work:
    """Gauss's elimination, and two triangular systems for every right-hand side.

    >>> system(("n", "n"), ("n",))
    [(Fraction(2, 3), ('n', 'n', 'n')), (2, ('n', 'n'))]
    """
    return [(Fraction(2, 3), (*a, a[-1])), (2, (a[-1], *b))]


def elimination(a: Sequence[Any], **_: Any) -> Work:
    """The triangles of a matrix (m, n): m n² - n³ / 3, which is 2/3 n³ where it is square.

    >>> elimination(("m", "n"))
    [(1, ('m', 'n', 'n')), (Fraction(-1, 3), ('n', 'n', 'n'))]
    """
    return [(1, (*a, a[-1])), (Fraction(-1, 3), (*a[:-2], a[-1], a[-1], a[-1]))]


def reflections(a: Sequence[Any], **_: Any) -> Work:
    """Householder's reflections of a matrix (m, n): 2 m n² - 2/3 n³.

    >>> reflections(("m", "n"))
    [(2, ('m', 'n', 'n')), (Fraction(-2, 3), ('n', 'n', 'n'))]
    """
    return [(2, (*a, a[-1])), (Fraction(-2, 3), (*a[:-2], a[-1], a[-1], a[-1]))]


def per_entry(count: int) -> Callable[..., Work]:
    """So many operations for every entry of the first operand.

    >>> per_entry(4)(("n", "m"))
    [(4, ('n', 'm'))]
    """
    return lambda a, *_, **__: [(count, tuple(a))]


def fourier(a: Sequence[Any], *, dims: Sequence[int], **_: Any) -> Work:
    """5 n log2(n) for every line of n numbers, as transforms are compared by (Frigo and Johnson, benchFFT).

    >>> fourier(("m", "n"), dims=(1,))
    [(5, ('m', 'n', 'log2(n)'))]
    """
    return [(5, (*a, f"log2({a[d]})")) for d in dims]
