"""Random arrays for the symbols of a formula, and its value there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.dtypes import is_number
from symgrad.errors import SymgradError
from symgrad.formula.signs import ASSUMED
from symgrad.formula.term import Term, evaluate, postorder
from symgrad.ops.shapes.sizes import size_value

KINDS = ("normal", "positive", "unit", "integer", "spread", "definite", "mixed")
"""Kinds of random arrays; for conditions there are those of numbers that are ``far`` from 0 as well."""

SIZES = (3, 2, 4, 5, 1)
"""Sizes at which formulas are looked at."""


def value(term: Term, values: dict[str, Any], sizes: dict[str, int]) -> Any:
    """The value of a formula as an array; None where it cannot be computed (a singular matrix)."""
    try:
        with np.errstate(all="ignore"):
            found = np.asarray(evaluate(term, values, sizes))
    except UNDEFINED:
        return None
    return found if is_number(found.dtype) else None


UNDEFINED = (
    SymgradError, ValueError, ArithmeticError, IndexError, KeyError, TypeError, AttributeError, np.linalg.LinAlgError,
)  # fmt: skip
"""What kernels raise at arrays for which they have no value."""


def cancelled(term: Term, values: dict[str, Any], sizes: dict[str, int]) -> float:
    """The largest number that is added to another on the way to a value: what may cancel, and leave its rounding."""
    largest = 0.0
    parts = {a for t in postorder([term]) if _adds(t) for a in t.args if a.args}
    for part in parts if len(parts) <= 40 else ():
        found = value(part, values, sizes)
        if found is not None and np.all(np.isfinite(found)):
            largest = max(largest, float(np.max(np.abs(found), initial=0.0)))
    return largest


def _adds(term: Term) -> bool:
    """Whether entries of the operands are added up: terms of a sum, or all along an axis that the result has not."""
    if term.op.kind == "multilinear":
        labels, output = term.labels()
        return not set().union(*labels) <= set(output)
    return term.op.partials is not None and len(term.args) == 2 and set(term.op.partials) <= {1, -1}


def letters_of(*terms: Term) -> list[str]:
    """The size letters of the symbols of formulas."""
    found: dict[str, None] = {}
    for t in terms:
        for s in t.shape:
            if isinstance(s, str) and s.isalnum():
                found[s] = None
    return list(found)


def shape_at(term: Term, sizes: dict[str, int]) -> tuple[int, ...]:
    """The shape of a symbol at given sizes."""
    return tuple(size_value(s, sizes) for s in term.shape)


def sample(symbols: Sequence[Term], sizes: dict[str, int], kind: str, rng: Any) -> dict[str, Any]:
    """Random arrays for symbols; those with a structure have it."""
    return {str(s.name): with_structure(_draw(s, shape_at(s, sizes), kind, rng), s) for s in symbols}


def _draw(s: Term, shape: tuple[int, ...], kind: str, rng: Any) -> Any:
    dtype = s.dtype or np.dtype(float)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return rng.integers(0, 3, shape).astype(dtype)
    if kind == "positive":
        array = rng.uniform(0.3, 2.5, shape)
    elif kind == "mixed":
        array = 10.0 ** rng.integers(-2, 2) * rng.uniform(0.3, 1.5, shape)
    elif kind == "unit":
        array = rng.uniform(0.05, 0.95, shape)
    elif kind == "integer":
        array = rng.integers(-4, 5, shape).astype(float)
    elif kind == "spread":
        array = 4 * rng.standard_normal(shape)
    elif kind == "far":
        array = 12 * rng.standard_normal(shape)
    elif kind == "definite":
        array = rng.uniform(0.3, 1.5, shape)
        if len(shape) == 2 and shape[0] == shape[1]:
            array = array @ array.T + np.eye(shape[0])
    else:
        array = rng.standard_normal(shape)
    if dtype.kind == "c":
        array = array + 1j * rng.standard_normal(shape)
    return np.asarray(array)[()]


def with_structure(array: Any, s: Term) -> Any:
    """The array made to have the structure that a symbol states."""
    structure = s.params.get("structure")
    if structure in ASSUMED:
        return _with_sign(array, structure)
    if structure is None or np.ndim(array) != 2:
        return array
    turned = array.T
    made: dict[str, Callable[[], Any]] = {
        "symmetric": lambda: array + turned,
        "hermitian": lambda: array + turned.conj(),
        "skew": lambda: array - turned,
        "antisymmetric": lambda: array - turned,
        "psd": lambda: array @ turned + np.eye(len(array)),
        "spd": lambda: array @ turned + np.eye(len(array)),
        "diagonal": lambda: np.diag(np.diag(array)),
        "orthogonal": lambda: np.linalg.qr(array)[0],
        "lower": lambda: np.tril(array),
        "upper": lambda: np.triu(array),
        "lower_triangular": lambda: np.tril(array),
        "upper_triangular": lambda: np.triu(array),
    }
    return made[structure]() if structure in made else array


def _with_sign(array: Any, assumed: str) -> Any:
    """The array with entries of the signs, and of the kind of numbers, that are assumed of it."""
    signs, whole = ASSUMED[assumed], np.asarray(array)
    if assumed == "integer":
        whole = np.round(2 * whole)
    if 0 not in signs:
        whole = np.where(whole == 0, 1, whole)
    if signs <= {0, 1}:
        whole = np.abs(whole)
    if signs <= {-1, 0}:
        whole = -np.abs(whole)
    return whole.astype(np.asarray(array).dtype)[()]
