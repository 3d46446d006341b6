"""Structures of matrices: what a tensor may be declared to be, what formulas make of it, and projected gradients.

``symgrad.tensor(..., structure="symmetric")`` is a promise about the values.  Formulas use it (A + Aᵀ is 2A); numbers
do not.  A derivative stays the derivative by all entries, as in torch; :func:`project` gives the part of it that keeps
the structure.
"""

from __future__ import annotations

from typing import Any

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


def known_structure(name: Any) -> str:
    """The name of a structure that formulas know; an error for others, which would be promises that nobody keeps."""
    if name not in KNOWN:
        raise ArgumentError(f"a structure is one of {', '.join(KNOWN)}, not {name!r}.")
    return str(name)


def declared(term: Any) -> str | None:
    """The structure that a symbol was declared to have."""
    structure = term.params.get("structure") if term.op.name == "symbol" else None
    return structure if structure is None else _NAMES.get(structure, structure)


def _complex(term: Any) -> bool:
    return term.dtype is not None and term.dtype.kind == "c"


def is_symmetric(term: Any) -> bool:
    """Whether a symbol is declared to equal its transpose."""
    structure = declared(term)
    if _complex(term):
        return structure in ("symmetric", "diagonal")
    return structure in SYMMETRIC or structure == "hermitian"


def shows_symmetry(term: Any, depth: int = 6) -> bool:
    """Whether a real matrix can be seen to equal its transpose: A S Aᵀ, diag(v), v vᵀ, their sums and inverses."""
    name, args = term.op.name, term.args
    if not depth or _complex(term) or term.ndim != 2:
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
    if name in ("inv", "matrix_power", "matrix_exp", "add", "sub", "neg", "mul", "div"):
        return all(a.ndim == 0 or shows_symmetry(a, depth - 1) for a in args)
    return False


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
    return _complex(term) and declared(term) in HERMITIAN


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
        import numpy as np

        grad = np.asarray(grad)
    return _PROJECTIONS[structure](grad, at)
