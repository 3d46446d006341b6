"""Structures of matrices: what a tensor may be declared to be, what formulas make of it, and projected gradients.

``symgrad.tensor(..., structure="symmetric")`` is a promise about the values, which are looked at once, when it is made.
Formulas use it (A + Aᵀ is 2A); numbers do not.  A derivative stays the derivative by all entries, as in torch;
:func:`project` gives the part of it that keeps the structure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from symgrad.dtypes import finfo, is_floating
from symgrad.errors import ArgumentError
from symgrad.op import carrier_of, shape_of
from symgrad.ops.elementwise.complex import conj
from symgrad.ops.linalg.matrices import diag_embed, diagonal
from symgrad.ops.linalg.triangles import tril_op, triu_op

SYMMETRIC = frozenset({"symmetric", "diagonal", "psd", "spd"})
"""Structures of real matrices that equal their transpose."""

HERMITIAN = frozenset({"hermitian", "psd", "spd"})
"""Structures of complex matrices that equal their conjugate transpose."""

_NAMES = {"lower_triangular": "lower", "upper_triangular": "upper", "antisymmetric": "skew"}


KNOWN = ("symmetric", "hermitian", "skew", "psd", "spd", "diagonal", "orthogonal", "lower", "upper", *_NAMES)
"""The structures that formulas know."""


LONGEST = 24
"""Products of more matrices are not looked at."""


def known_structure(name: Any, more: Iterable[str] = ()) -> str:
    """The name of a structure that formulas know; an error for others, which would be promises that nobody keeps.

    ``more`` are other words that would do where it was stated.
    """
    if name not in KNOWN:
        raise ArgumentError(f"a structure is one of {', '.join((*KNOWN, *more))}, not {name!r}.")
    return str(name)


def _adjoint_of(a: Any) -> Any:
    return np.conj(np.swapaxes(a, -1, -2))


_STANDS_FOR: dict[str, tuple[Callable[[Any], Any], str]] = {
    "symmetric": (lambda a: np.swapaxes(a, -1, -2), "its transpose"),
    "hermitian": (_adjoint_of, "its conjugate transpose"),
    "psd": (_adjoint_of, "its conjugate transpose"),
    "spd": (_adjoint_of, "its conjugate transpose"),
    "skew": (lambda a: -np.swapaxes(a, -1, -2), "minus its transpose"),
    "diagonal": (lambda a: a * np.eye(a.shape[-1], dtype=a.dtype), "its diagonal"),
    "lower": (np.tril, "its lower triangle"),
    "upper": (np.triu, "its upper triangle"),
}
"""What matrices of a structure are equal to."""


def kept_structure(name: Any, value: Any) -> str:
    """The name of a structure that an array has; an error where it has not, since formulas would be of another one.

    Entries may differ by rounding: up to the root of the dtype's precision, of the largest entry.
    """
    structure = known_structure(name)
    if value.ndim < 2 or value.shape[-1] != value.shape[-2]:
        raise ArgumentError(f"structure={name!r} is one of square matrices; this tensor has shape {list(value.shape)}.")
    if not value.size:
        return structure
    wide = value.astype(np.result_type(value.dtype, float) if value.dtype.kind in "biufc" else float)
    slack = math.sqrt(float(finfo(value.dtype).eps)) if is_floating(value.dtype) or value.dtype.kind == "c" else 0.0
    rule = _NAMES.get(structure, structure)
    if rule == "orthogonal":
        given, wanted, words = _adjoint_of(wide) @ wide, np.eye(value.shape[-1]), ("Q.T @ Q", "the identity")
    else:
        stands_for, words = _STANDS_FOR[rule][0], ("it", _STANDS_FOR[rule][1])
        given, wanted = wide, stands_for(wide)
    with np.errstate(all="ignore"):
        off = np.abs(given - wanted)
        bound = slack * max(1.0 if rule == "orthogonal" else 0.0, float(np.max(np.abs(wide))))
    if np.any(off > bound):  # of a nan nothing is known
        at = tuple(int(k) for k in np.unravel_index(int(np.nanargmax(off)), off.shape))
        there = np.broadcast_to(wanted, given.shape)[at]
        raise ArgumentError(
            f"structure={name!r} is not true of these values: at {list(at)} {words[0]} has {given[at]:.6g}, and "
            f"{words[1]} {there:.6g}. Formulas would be those of another matrix; leave structure= out, or make the "
            "values so before."
        )
    if rule in ("psd", "spd") and np.all(np.isfinite(wide)):
        _require_no_negative(name, wide, max(bound, float(np.finfo(float).tiny)))
    return structure


def _require_no_negative(name: Any, matrix: Any, bound: float) -> None:
    """An error for a matrix with a negative eigenvalue that is larger than rounding."""
    try:
        np.linalg.cholesky(matrix + matrix.shape[-1] * bound * np.eye(matrix.shape[-1]))
    except np.linalg.LinAlgError:
        least = float(np.min(np.linalg.eigvalsh(matrix)))
        raise ArgumentError(
            f"structure={name!r} is not true of these values: the matrix has the eigenvalue {least:.6g}. Leave "
            "structure= out, or state 'symmetric'."
        ) from None


def declared(term: Any) -> str | None:
    """The structure that a symbol was declared to have."""
    structure = term.params.get("structure") if term.op.name == "symbol" else None
    return structure if structure is None else _NAMES.get(structure, structure)


def is_symmetric(term: Any) -> bool:
    """Whether a symbol is declared to equal its transpose."""
    structure = declared(term)
    if term.complex_dtype:
        return structure in ("symmetric", "diagonal")
    return structure in SYMMETRIC or structure == "hermitian"


def shows_symmetry(term: Any, depth: int = 6) -> bool:
    """Whether a real matrix can be seen to equal its transpose: A S Aᵀ, diag(v), v vᵀ, their sums and inverses."""
    name, args = term.op.name, term.args
    if not depth or term.complex_dtype or term.ndim != 2:
        return False
    if name == "symbol":
        return is_symmetric(term)
    if name == "eye" or (name == "einsum" and term.params["output"] == (0, 0)):
        return True
    if name == "full":
        return bool(term.shape[0] == term.shape[1])
    if name == "outer":
        return args[0] is args[1]
    if name == "matmul":
        return _reads_the_same_backwards(term, depth - 1)
    if name == "add" and any(_is_transpose_of(*pair) for pair in (args, args[::-1])):
        return True
    if name in ("inv", "matrix_power", "matrix_exp", "add", "sub", "neg", "mul", "div"):
        return all(a.ndim == 0 or shows_symmetry(a, depth - 1) for a in args)
    return False


def _is_transpose_of(a: Any, b: Any) -> bool:
    return bool(a.op.name == "permute" and a.ndim == 2 and a.args[0] is b)


def _reads_the_same_backwards(product: Any, depth: int) -> bool:
    """Whether a product is its own transpose: (A B S Bᵀ Aᵀ)ᵀ is A B S Bᵀ Aᵀ for symmetric S, always."""
    links: list[tuple[Any, bool]] = []
    waiting = [product]
    while waiting and len(links) <= LONGEST:
        term = waiting.pop()
        if term.op.name == "matmul":
            waiting += term.args[::-1]
        else:
            turned = term.op.name == "permute"
            links.append((term.args[0] if turned else term, turned))
    if waiting:
        return False
    half = len(links) // 2
    pairs = zip(links[:half], links[: -half - 1 : -1], strict=True)
    if not all(a is b and (x != y or shows_symmetry(a, depth)) for (a, x), (b, y) in pairs):
        return False
    return len(links) % 2 == 0 or shows_symmetry(links[half][0], depth)


def is_hermitian(term: Any) -> bool:
    """Whether a complex symbol is declared to equal its conjugate transpose."""
    return term.complex_dtype and declared(term) in HERMITIAN


def _turned(x: Any) -> Any:
    return x.T


def _adjoint(x: Any) -> Any:
    return conj(x.T)


_PROJECTIONS: dict[str, Any] = {
    "symmetric": lambda g, _: (g + _turned(g)) / 2,
    "hermitian": lambda g, _: (g + _adjoint(g)) / 2,
    "psd": lambda g, _: (g + _adjoint(g)) / 2,
    "spd": lambda g, _: (g + _adjoint(g)) / 2,
    "skew": lambda g, _: (g - _turned(g)) / 2,
    "diagonal": lambda g, _: diag_embed(diagonal(g, 0, 0, 1)),
    "lower": lambda g, _: tril_op(g, k=0),
    "upper": lambda g, _: triu_op(g, k=0),
    "orthogonal": lambda g, at: (g - at @ _adjoint(g) @ at) / 2,
}


def project(grad: Any, structure: Any, at: Any = None) -> Any:
    r"""The part of a gradient along matrices of a structure: the steepest ascent that keeps the structure.

    ``grad`` is a square matrix (tensor, array or formula).  ``structure`` is ``"symmetric"`` or ``"psd"`` (G becomes
    (G + Gᵀ)/2), ``"hermitian"`` ((G + Gᴴ)/2), ``"skew"`` ((G - Gᵀ)/2), ``"diagonal"``, ``"lower"``, ``"upper"`` (the
    entries there, zeros elsewhere) or ``"orthogonal"`` ((G - Q Gᵀ Q)/2 at the point ``at`` = Q, the
    tangent space there).  A tensor with a declared structure stands for that structure, and for the point.  The
    result has the shape and dtype of ``grad`` and can be differentiated.  Raises ``ArgumentError`` for other
    structures and for gradients that are not square.
    >>> import symgrad as sg
    >>> A = sg.tensor([[2.0, 1.0], [1.0, 3.0]], requires_grad=True, name="A", structure="symmetric")
    >>> b = sg.tensor([1.0, 2.0], name="b")
    >>> (g,) = sg.autograd.grad(b @ A @ sg.tensor([1.0, 0.0], name="c"), A, create_graph=True)
    >>> sg.project(g, A).latex()
    '\\frac{1}{2} \\left(b c^{\\top} + c b^{\\top}\\right)'
    """
    if not isinstance(structure, str):
        extra = getattr(structure, "_extra", None)
        at, structure = structure if at is None else at, None if extra is None else extra.structure
        if structure is None:
            raise ArgumentError(
                "project: this tensor was declared without a structure; give it one (structure='symmetric') or name "
                "the structure: project(grad, 'symmetric')."
            )
    structure = _NAMES.get(structure, structure)
    if structure not in _PROJECTIONS:
        raise ArgumentError(f"project knows the structures {', '.join(_PROJECTIONS)}; got {structure!r}.")
    shape = shape_of(grad)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ArgumentError(f"project takes the gradient by a square matrix; this one has shape {tuple(shape)}.")
    if structure == "orthogonal" and at is None:
        raise ArgumentError("project: the tangent space of orthogonal matrices depends on the point; pass at=Q.")
    if carrier_of(type(grad)) is None:
        grad = np.asarray(grad)
    return _PROJECTIONS[structure](grad, at)
