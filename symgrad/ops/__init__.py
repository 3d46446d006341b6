"""The op table, one room per family.

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

from symgrad.ops import (
    activations,
    alignment,
    arithmetic,
    bessel,
    bits,
    blas,
    complex,
    constants,
    contraction,
    convolution,
    copies,
    counting,
    decompositions,
    determinants,
    elementwise,
    extremes,
    fitting,
    floats,
    fourier,
    fused,
    gammas,
    indexing,
    interpolation,
    joining,
    linalg,
    losses,
    masked,
    nets,
    neurons,
    noise,
    orthogonal,
    padding,
    pooling,
    predicates,
    products,
    rearrange,
    reductions,
    refusals,
    scans,
    scatter,
    searching,
    select,
    shaping,
    softmax,
    sorting,
    special,
    spectral,
    statistics,
    strides,
    systems,
    triangular,
)

__all__ = [
    "activations",
    "alignment",
    "arithmetic",
    "bessel",
    "bits",
    "blas",
    "complex",
    "constants",
    "contraction",
    "convolution",
    "copies",
    "counting",
    "decompositions",
    "determinants",
    "elementwise",
    "extremes",
    "fitting",
    "floats",
    "fourier",
    "fused",
    "gammas",
    "indexing",
    "interpolation",
    "joining",
    "linalg",
    "losses",
    "masked",
    "nets",
    "neurons",
    "noise",
    "orthogonal",
    "padding",
    "pooling",
    "predicates",
    "products",
    "rearrange",
    "reductions",
    "refusals",
    "scans",
    "scatter",
    "searching",
    "select",
    "shaping",
    "softmax",
    "sorting",
    "special",
    "spectral",
    "statistics",
    "strides",
    "systems",
    "triangular",
]
