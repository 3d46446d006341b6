"""The lower and the upper triangle of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.errors import ShapeError
from symgrad.op import Op, front, primitive, sampling, shape_of


def _triangle(name: str, kernel: Any, lower: bool) -> Op:
    def rule(g: Any, out: Any, like: Any, *, k: int) -> Any:
        return op(g, k=k)

    op = primitive(
        name,
        lambda x, k: kernel(x, k),
        (rule,),
        linear=True,
        mixes=2,
        code=lambda x, k: f"np.{name}({x}, {k})",
        digits="kernel",
        example=("matrix", {"k": 0}),
        samples=[*sampling.square("real", k=0), sampling.one("real", "n", "m", k=1 if lower else -1)],
        doc=f"The {'lower' if lower else 'upper'} triangle of matrices, zeros elsewhere.",
    )
    return op


tril_op: Op = _triangle("tril", np.tril, True)
triu_op: Op = _triangle("triu", np.triu, False)


@front("tril", op=tril_op)
def tril(input: Any, diagonal: int = 0) -> Any:
    """Lower triangle up to the ``diagonal``-th diagonal, zeros above."""
    _check_matrix("tril", input)
    return tril_op(input, k=diagonal)


@front("triu", op=triu_op)
def triu(input: Any, diagonal: int = 0) -> Any:
    """Upper triangle from the ``diagonal``-th diagonal, zeros below."""
    _check_matrix("triu", input)
    return triu_op(input, k=diagonal)


def _check_matrix(name: str, input: Any) -> None:
    if len(shape_of(input)) < 2:
        raise ShapeError(f"{name}: input tensor must have at least 2 dimensions, got shape {tuple(shape_of(input))}")
