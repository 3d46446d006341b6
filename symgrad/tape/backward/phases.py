"""Functions of complex eigenvectors or singular vectors that depend on their phases, which no decomposition fixes.

The slope along the phases is a sum over the parts of a decomposition that share them: ``u @ vh`` does not depend on
them though each of its factors does.  So it is known when a pass is through.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.dtypes import finfo
from symgrad.errors import AutogradError
from symgrad.ops.calls.still import glanced
from symgrad.ops.torch_nodes.answers import full_name
from symgrad.tape.graph import Node

Turns = dict[Any, tuple[Node, Any, Any]]
"""By the matrices and the decomposition: a node of it, its slopes along the phases, and the sizes of what it got."""

_ROUNDING = 100
"""Rounding errors of numbers of size 1 that a slope may be, whatever it is made of."""


def note(turns: Turns, node: Node, g: Any, out: Any) -> None:
    """Add what a node's result contributes to the slopes along its phases; formulas have no values to look at."""
    came, vectors = glanced(g), glanced(out)
    if not isinstance(came, np.ndarray) or not isinstance(vectors, np.ndarray):
        return
    products = came * vectors.conj()
    axis = node.op.phases
    slope, size = products.imag.sum(axis), np.sqrt((np.abs(came) ** 2).sum(axis))
    if axis == -1:
        slope = -slope  # rows are conjugated
    matrices = node.args[0]
    if isinstance(matrices, Node) and matrices.op.name == "clone":
        matrices = matrices.args[0]  # of a leaf each part keeps a copy of its own
    _, before, sizes = turns.get(key := (matrices, node.op.node), (node, 0, 0))
    turns[key] = node, before + slope, sizes + size


def settle(turns: Turns) -> None:
    """Raise torch's error where a derivative would depend on phases that nobody chose."""
    for node, slope, size in turns.values():
        eps = finfo(node.dtype).eps
        if slope.size and (np.abs(slope) > np.cbrt(eps) * size.max(-1, keepdims=True) + _ROUNDING * eps).any():
            vectors = "singular vectors" if node.op.node == "LinalgSvd" else "eigenvectors"
            raise AutogradError(
                f"{full_name(node.op.node)}: The {vectors} in the complex case are specified "
                "up to multiplication by e^{i phi}. The specified loss function depends on this phase term, making it "
                f"ill-defined (its slopes along the phases are up to {np.abs(slope).max():.2g}). Use a function "
                "that does not depend on them, as abs() or the product of a vector and its adjoint do, or fix the "
                "phases first: v / v[..., :1, :].sgn() makes the first entries of columns v positive."
            )
