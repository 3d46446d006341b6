"""The op table, one room per family.

What entries share stands in ``rules`` (derivatives), ``calls`` (names, arguments, results) and ``torch_nodes`` (what
torch's graph shows).

Grammar of rules
----------------
A rule gives a derivative in the library's own ops, so that the same text serves numbers, differentiable tensors,
formulas and forward mode.

* Only ops and operators; never ``np.`` or ``sp.`` on data (``shape_of`` reads a shape).
* Constants are ints, ``exact(n)`` or ``PI``; floats leak into formulas and widen dtypes.  ``one(x)`` is 1, and cheaper
  next to arrays.
* Sizes come from ``shape_of(x)`` and ``size(x, dim)``, never as numbers.
* No branching on values (use ``where``); branching on parameters, ranks and dtypes is fine.
* Array data is positional, static parameters are keyword-only.
* Reuse ``out`` where that is cheaper.  An argument that is not read is not saved for the backward pass; one that is
  read for its shape or dtype only is named ``like…``.
* Forget broadcasting and dtype casts: the engine undoes them in one place.
* ``None`` instead of a rule means "no gradient", which is not zero.
"""

from __future__ import annotations

from typing import Any

from symgrad.ops import fourier, noise
from symgrad.ops.elementwise import arithmetic, bits, choosing, complex, floats, fused, inverses, select, smooth
from symgrad.ops.indexing import counting, gathering, getitem, samples, scatter, searching, segments, sorting, windows
from symgrad.ops.linalg import (
    blas,
    contraction,
    decompositions,
    determinants,
    inverse,
    matrices,
    matrix_functions,
    spectral,
    symmetric,
    systems,
    triangular,
)
from symgrad.ops.nn import (
    activations,
    alignment,
    attention,
    cells,
    classes,
    convolution,
    interpolation,
    layers,
    losses,
    neurons,
    norms,
    pooling,
    quantisation,
    recurrent,
)
from symgrad.ops.reductions import extremes, masked, predicates, products, scans, softmax, statistics, sums
from symgrad.ops.rules import constants, fitting, refusals
from symgrad.ops.shapes import copies, joining, padding, rearrange, shaping, strides
from symgrad.ops.special import (
    airy,
    bessel,
    common,
    distributions,
    elliptic,
    entropies,
    euler,
    faddeeva,
    gammas,
    integrals,
    jacobi,
    orders,
    orthogonal,
    powers,
)

NAMESPACES: dict[str, Any] = {}
"""Operators of users, as ``symgrad.ops.NAMESPACE.NAME`` finds them; filled in by :mod:`symgrad.library`."""


def __getattr__(name: str) -> Any:
    if name in NAMESPACES:
        return NAMESPACES[name]
    raise AttributeError(f"module 'symgrad.ops' has no attribute {name!r}: no custom_op has this namespace")
