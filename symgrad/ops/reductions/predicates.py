"""Truth values of whole arrays: any, all, and comparisons of two arrays up to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.dtypes import torch_name
from symgrad.errors import ArgumentError, DtypeError
from symgrad.op import Op, front, primitive, sampling, shape_of
from symgrad.ops.elementwise.select import abs_, eq, isfinite, isnan, le, logical_and, logical_not
from symgrad.ops.reductions.sums import axes_of, reduced_shape


def _truth(name: str, kernel: Any, doc: str) -> Op:
    return primitive(
        name,
        kernel,
        (None,),
        infer=reduced_shape,
        result=lambda dtype, **_: dtype if dtype == np.uint8 else np.dtype(bool),
        digits="kernel",
        example=("vector", {"dim": (0,), "keepdim": False}),
        samples=sampling.reductions(),
        stacks=True,
        doc=doc,
    )


any_op: Op = _truth("any", kernels.any_true, "Whether some entry is not zero; no derivative.")
all_op: Op = _truth("all", kernels.all_true, "Whether no entry is zero; no derivative.")


@front("any", op=any_op)
def any_(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Whether some entry along ``dim`` (of all, by default) is not zero."""
    return any_op(input, dim=_asked(dim, len(shape_of(input))), keepdim=keepdim)


@front("all", op=all_op)
def all_(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Whether no entry along ``dim`` (of all, by default) is zero."""
    return all_op(input, dim=_asked(dim, len(shape_of(input))), keepdim=keepdim)


def _asked(dim: Any, ndim: int) -> tuple[int, ...]:
    """The axes to look along; where none is listed every entry answers for itself, as in torch and NumPy."""
    return () if isinstance(dim, (tuple, list)) and not dim else axes_of(dim, ndim)


isin_op: Op = primitive(
    "isin",
    lambda x, among: np.isin(x, among),
    (None, None),
    result=lambda *_: np.dtype(bool),
    code=lambda x, among: f"np.isin({x}, {among})",
    digits="kernel",
    example=("vector", "vector", {}),
    samples=[sampling.many(("real", "n", "m"), ("real", "n"))],
    doc="Whether each entry of x occurs among others; no derivative.",
)


@front("isin", op=isin_op, method=False, words={"element": "elements", "test_element": "test_elements"})
def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Any:
    """Whether each of ``elements`` is (``invert``: is not) one of ``test_elements``."""
    found = isin_op(elements, test_elements)
    return logical_not(found) if invert else found


@front("isclose")
def isclose(input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Where ``|input - other| <= atol + rtol |other|``, or both are the same infinity."""
    kinds: list[Any] = [getattr(x, "dtype", None) for x in (input, other)]
    if all(kind is not None for kind in kinds) and kinds[0] != kinds[1]:
        raise DtypeError(f"{torch_name(kinds[0])} did not match {torch_name(kinds[1])}; cast one of them with .to()")
    for name, limit in (("rtol", rtol), ("atol", atol)):
        if limit < 0:
            raise ArgumentError(f"{name} must be greater than or equal to zero, but got {limit}")
    close = eq(input, other)
    if equal_nan:
        close = close | logical_and(isnan(input), isnan(other))
    if kinds[0] is not None and kinds[0].kind == "b":
        return close | le(1, other * rtol + atol)
    apart = abs_(input - other)
    return close | logical_and(isfinite(apart), le(apart, abs_(other) * rtol + atol))


@front("allclose")
def allclose(input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all entries are close; see :func:`isclose`."""
    return bool(all_(isclose(input, other, rtol, atol, equal_nan)))


@front("equal")
def equal(input: Any, other: Any) -> bool:
    """Whether both have the same shape and entries."""
    if not hasattr(other, "dtype"):
        raise ArgumentError(f"equal(): argument 'other' (position 2) must be Tensor, not {type(other).__name__}")
    return shape_of(input) == shape_of(other) and bool(all_(eq(input, other)))
