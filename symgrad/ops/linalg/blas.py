"""Products with sums: addmm and its family, addcmul, lerp, distances, cross products, covariance.

Only cross products have rules here: the others are plain functions of ops.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.dtypes import get_default_dtype, is_real_floating, narrowed, promote, result_type, torch_name
from symgrad.errors import ArgumentError, DtypeError, ShapeError
from symgrad.notices import notice
from symgrad.op import (
    Op,
    broadcast_shapes,
    fixed_length,
    folded,
    front,
    is_complex,
    length_of,
    primitive,
    refusal,
    refusing,
    sampling,
    shape_of,
)  # fmt: skip
from symgrad.ops.calls import fits
from symgrad.ops.calls.naming import inplace, within
from symgrad.ops.calls.still import plain_number
from symgrad.ops.elementwise import fused
from symgrad.ops.elementwise.arithmetic import static_number
from symgrad.ops.elementwise.complex import conj, imag, real
from symgrad.ops.elementwise.fused import times
from symgrad.ops.elementwise.select import clamp, clamp_min, guard, where
from symgrad.ops.elementwise.smooth import sqrt
from symgrad.ops.indexing.places import everywhere
from symgrad.ops.linalg.contraction import einsum
from symgrad.ops.linalg.matrices import diag, inner, matmul, outer, tensordot
from symgrad.ops.reductions.sums import axes_of, cast, norm_op, sum_
from symgrad.ops.reductions.wide import rounded_once
from symgrad.ops.rules.refusals import TWO_KINDS, barred, kind_of
from symgrad.ops.shapes.shaping import axis_of, mT, spread, squeeze, unsqueeze

inplace("addmm", "addmv", "addr", "addbmm", "baddbmm", "addcmul", "addcdiv", "lerp", "renorm")


def _plus(input: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """beta · input + alpha · product; with beta = 0 the input is not looked at, so its nan does not matter."""
    if kind_of(input) != "c" and kind_of(product) != "c" and complex in (type(beta), type(alpha)):
        raise DtypeError("value cannot be converted to type float without overflow: beta and alpha are real, as input")
    if all(getattr(x, "dtype", np.dtype(float)).kind in "bui" for x in (input, product)):
        if input.dtype.kind == product.dtype.kind == "b":
            beta, alpha = bool(beta), bool(alpha)
        beta, alpha = (int(x) if isinstance(x, float) else x for x in (beta, alpha))  # whole, as torch makes them
    fits.expanded(shape_of(input), list(shape_of(product)))
    total = times(product, alpha)
    if static_number(beta) == 0:
        return total + where(np.zeros(shape_of(total), bool), input, 0)
    return times(input, beta) + total


def _ranked(name: str, *pairs: tuple[Any, int]) -> None:
    for k, (x, rank) in enumerate(pairs, 1):
        if len(shape_of(x)) != rank:
            if name == "addmm":
                raise ShapeError(f"mat{k} must be a matrix, got {len(shape_of(x))}-D tensor")
            raise ShapeError(f"batch{k} must be a 3D tensor, not of shape {tuple(shape_of(x))} ({name})")


@front("addmm")
@rounded_once
def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta · input + alpha · (mat1 @ mat2) of matrices."""
    _ranked("addmm", (mat1, 2), (mat2, 2))
    return _plus(input, matmul(mat1, mat2), beta, alpha)


@front("addmv")
@rounded_once
def addmv(input: Any, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta · input + alpha · (mat @ vec)."""
    ranks = (len(shape_of(input)), len(shape_of(mat)), len(shape_of(vec)))
    if ranks[1:] != (2, 1) or ranks[0] > 1:
        raise ShapeError(f"vector + matrix @ vector expected, got {ranks[0]}, {ranks[1]}, {ranks[2]}")
    return _plus(input, matmul(mat, vec), beta, alpha)


@front("addr")
@rounded_once
def addr(input: Any, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta · input + alpha · vec1 vec2ᵀ."""
    for name, factor in (("beta", beta), ("alpha", alpha)):
        if isinstance(factor, float) and all(kind_of(x) in "bui" for x in (input, vec1, vec2)):
            raise DtypeError(f"For integral input tensors, argument {name} must not be a floating point number.")
    product = outer(vec1, vec2)
    if input.dtype != product.dtype and not shape_of(input):
        input = spread(input, shape_of(product))  # its dtype counts in full
    return _plus(input, product, beta, alpha)


@front("baddbmm")
@rounded_once
def baddbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta · input + alpha · (batch1 @ batch2) of batches of matrices."""
    _ranked("baddbmm", (batch1, 3), (batch2, 3))
    return _plus(input, matmul(batch1, batch2), beta, alpha)


@front("addbmm")
@rounded_once
def addbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta · input + alpha · (the sum over the batch of batch1 @ batch2)."""
    _ranked("addbmm", (batch1, 3), (batch2, 3))
    return _plus(input, einsum("bij,bjk->ik", batch1, batch2), beta, alpha)


def _joint(*operands: Any) -> Any:
    """The dtype of an operation of several arrays: those without axes do not widen the others within their kind."""
    groups = [[x.dtype for x in operands if bool(x.ndim) is axes] for axes in (True, False)]
    dtypes = [functools.reduce(result_type, group) for group in groups if group]
    return dtypes[0] if len(dtypes) == 1 else promote(np.empty(1, dtypes[0]), np.empty((), dtypes[1]))


@front("addcmul")
@refusing("b")
def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """input + value · tensor1 · tensor2."""
    if fused.fits(input, tensor1, tensor2):
        return fused.addcmul(input, tensor1, tensor2, value)
    whole = [kind_of(t) in "ui" and hasattr(t, "dtype") for t in (tensor1, tensor2)]
    if sum(whole) == 1 and fused.fits(input, tensor1 if whole[1] else tensor2):  # which reads it as it is by backward
        return fused.addcmul(input, tensor1, tensor2, value)
    if kind_of(input) in "fc":
        tensor1, tensor2 = (cast(t, input.dtype) if kind_of(t) in "ui" else t for t in (tensor1, tensor2))
    if fused.fits(input, tensor1, tensor2):
        return fused.addcmul(input, tensor1, tensor2, value)
    if all(hasattr(x, "dtype") and kind_of(x) in "bui" for x in (input, tensor1, tensor2)):
        # The product has room in the dtype of the result; in that of its factors it might wrap.
        dtype = _joint(input, tensor1, tensor2)
        tensor1, tensor2 = cast(tensor1, dtype), cast(tensor2, dtype)
        if value.__class__ in (int, float):
            narrowed(int(value), dtype)  # raises for a factor that the dtype does not have
    product = tensor1 * tensor2
    if isinstance(value, float) and all(getattr(x, "dtype", np.dtype(float)).kind in "bui" for x in (input, product)):
        value = int(value)
    return input + times(product, value)


@front("addcdiv")
@refusing({"bui": "Integer division with addcdiv is no longer supported: use input + value * tensor1 / tensor2"})
def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """input + value · tensor1 / tensor2."""
    if kind_of(tensor1) in "bui" and kind_of(tensor2) in "bui":
        raise DtypeError(
            "Integer division with addcdiv is no longer supported, and in a future release addcdiv will perform a true "
            "division of tensor1 and tensor2. Divide first (input + value * torch.trunc(tensor1 / tensor2)), or cast."
        )
    if kind_of(tensor2) in "bui" and kind_of(tensor1) in "fc":
        # torch's derivative divides the value by tensor2 in the dtype of tensor2.
        words = f"result type Float can't be cast to the desired output type {torch_name(tensor2.dtype)}"
        return input + times(barred(tensor1 / tensor2, tensor1, words=words), value)
    if fused.fits(input, tensor1, tensor2):
        return fused.addcdiv(input, tensor1, tensor2, value)
    return input + times(tensor1, value) / tensor2


@front("lerp")
def lerp(input: Any, end: Any, weight: Any) -> Any:
    """input + weight · (end - input)."""
    if input.dtype != end.dtype:
        raise DtypeError(f"expected dtype {input.dtype} for `end` but got dtype {end.dtype}")
    if input.dtype is not None and input.dtype.kind in "bui":
        raise refusal("lerp", "", input.dtype)
    return fused.lerp(input, end, weight)


@front("inner")
def inner_(input: Any, other: Any) -> Any:
    """Sums of products along the last axes."""
    if not shape_of(input) or not shape_of(other):
        return input * other
    return tensordot(input, other, ([-1], [-1]))


@front("vdot")
def vdot(input: Any, other: Any) -> Any:
    """Σ conj(input) · other of two vectors."""
    return inner(conj(input), other)


# ------------------------------------------------------------------------------------------ distances


def _distance(difference: Any, p: float, dim: int, keepdim: bool = False) -> Any:
    return norm_op(difference, p=plain_number("norm", "p", p), dim=(dim,), keepdim=keepdim)


@front("dist")
def dist(input: Any, other: Any, p: float = 2) -> Any:
    """The p-norm of the difference."""
    if {kind_of(input), kind_of(other)} == {"c", "f"}:
        difference = barred(input - other, input if kind_of(input) == "f" else other, words=TWO_KINDS)
    else:
        difference = input - other
    return norm_op(
        difference, p=plain_number("dist", "p", p), dim=tuple(range(len(shape_of(difference)))), keepdim=False
    )


_WAYS = (("use_mm", "_if_necessary"), ("use_mm", ""), ("donot_use_mm", ""))


@front("cdist", method=False)
@folded("cdist", result=True)
def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: str = "") -> Any:
    """p-norm distances between the rows of two (batches of) matrices; derivative 0 where rows coincide."""
    if p < 0:
        raise ArgumentError(f"cdist only supports non-negative p values, got {p}")
    if compute_mode not in ("", None, *(f"{way}_for_euclid_dist{when}" for way, when in _WAYS)):
        raise ArgumentError(f"{compute_mode} is not a valid value for compute_mode")
    for name, x in (("X1", x1), ("X2", x2)):
        if len(shape_of(x)) < 2:
            raise ShapeError(f"cdist only supports at least 2D tensors, {name} got: {len(shape_of(x))}D")
    columns = [shape_of(x)[-1] for x in (x1, x2) if shape_of(x)]
    if len(columns) == 2 and columns[0] != columns[1]:
        raise ShapeError(f"X1 and X2 must have the same number of columns. X1: {columns[0]} X2: {columns[1]}")
    difference = unsqueeze(x1, -2) - unsqueeze(x2, -3)
    return _distance(difference, p, len(shape_of(difference)) - 1)


@within("nn.functional")
@folded("nn.functional.pdist", result=True)
def pdist(input: Any, p: float = 2.0) -> Any:
    """p-norm distances between all pairs of rows, as one vector."""
    from symgrad.ops.indexing.getitem import getitem

    if len(shape_of(input)) != 2:
        raise ShapeError(f"pdist only supports 2D tensors, got: {len(shape_of(input))}D")
    if p < 0:
        raise ArgumentError(f"pdist only supports non-negative p values, got {p}")
    first, second = np.triu_indices(fixed_length(input, 0), 1)
    return _distance(getitem(input, first) - getitem(input, second), p, 1)


@within("nn.functional")
def pairwise_distance(x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    """The p-norm of x1 - x2 + eps along the last axis."""
    difference = x1 - x2 + eps
    return _distance(difference, p, len(shape_of(difference)) - 1, keepdim)


@within("nn.functional")
def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """x1 · x2 / (max(|x1|, eps) max(|x2|, eps)) along ``dim``.

    Raises ``DtypeError`` for complex and whole numbers.
    """
    shape = broadcast_shapes(tuple(shape_of(x1)), tuple(shape_of(x2)))
    axis = axis_of(dim, len(shape))
    dtype = result_type(x1.dtype, x2.dtype)
    if not is_real_floating(dtype):
        raise DtypeError(f"expected common dtype to be floating point, yet common dtype is {torch_name(dtype)}")
    a, b = (spread(x if x.dtype == dtype else cast(x, dtype), shape or (1,)) for x in (x1, x2))
    return sum_(_unit(a, axis, eps) * _unit(b, axis, eps), axis)


def _unit(x: Any, axis: int, eps: float) -> Any:
    size = norm_op(x, p=2, dim=axes_of(axis, len(shape_of(x))), keepdim=True)
    return x / clamp_min(size, eps)


@front("renorm")
@folded("renorm")
@rounded_once
def renorm(input: Any, p: float, dim: int, maxnorm: float) -> Any:
    """Slices along ``dim`` scaled down to a p-norm of at most ``maxnorm``.

    Raises ``ArgumentError`` for p <= 0 or a negative ``maxnorm`` and ``ShapeError`` for fewer than two axes.
    """
    if p <= 0:
        raise ArgumentError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise ArgumentError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    if len(shape_of(input)) < 2:
        raise ShapeError(f"renorm: input needs at least 2 dimensions, got {len(shape_of(input))} dimensions")
    axis = axis_of(dim, len(shape_of(input)))
    rest = tuple(k for k in range(len(shape_of(input))) if k != axis)
    above = norm_op(input, p=p, dim=rest, keepdim=True) > maxnorm
    size = norm_op(guard(input, above), p=p, dim=rest, keepdim=True)  # slices that stay have no norm, which may be nan
    return input * where(above, maxnorm / (size + 1e-7), 1)


# ------------------------------------------------------------------------------------------ cross product


cross_op: Op = primitive(
    "cross",
    kernels.cross,
    (
        lambda g, out, likea, b, *, dim: cross_op(conj(b), g, dim=dim),
        lambda g, out, a, likeb, *, dim: cross_op(g, conj(a), dim=dim),
    ),
    jvp=(
        lambda t, out, likea, b, *, dim: cross_op(t, b, dim=dim),
        lambda t, out, a, likeb, *, dim: cross_op(a, t, dim=dim),
    ),
    infer=broadcast_shapes,
    node="LinalgCross",
    turn=(2, 1),
    mixes="dim",
    together=True,
    refuses={"b": "cross"},
    digits="kernel",
    example=([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], {"dim": 0}),
    samples=[
        sampling.many(("real", 3), ("real", 3), dim=0),
        sampling.many(("real", "n", 3, "m"), ("real", "n", 3, "m"), dim=1),
    ],
    doc="Cross product of the vectors of three entries along an axis.",
)


@front("cross")
@refusing({"b": "cross"})
def cross(input: Any, other: Any, dim: int | None = None) -> Any:
    """The cross product along an axis of size 3 (the first such one by default)."""
    shape = broadcast_shapes(tuple(shape_of(input)), tuple(shape_of(other)))
    if dim is None:
        lettered = len(shape) == 1 and isinstance(shape[0], str)
        if 3 not in shape and not lettered:
            raise ShapeError("no dimension of size 3 in input")
        dim = 0 if lettered else shape.index(3)
    axis = axis_of(dim, len(shape))
    if shape[axis] != 3 and not isinstance(shape[axis], str):
        raise ShapeError(f"linalg.cross: inputs dimension {axis} must have length 3. Got {shape[axis]}")
    return cross_op(spread(input, shape), spread(other, shape), dim=axis)


@within("linalg", "cross")
def linalg_cross(input: Any, other: Any, *, dim: int = -1) -> Any:
    """The cross product along an axis of size 3."""
    a, b = shape_of(input), shape_of(other)
    if len(a) != len(b):
        raise ShapeError(f"linalg.cross: inputs must have the same number of dimensions, got {len(a)} and {len(b)}.")
    axis = axis_of(dim, len(a))
    if (a[axis], b[axis]) != (3, 3):
        raise ShapeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {a[axis]} and {b[axis]}")
    return cross(input, other, dim)


@within("linalg")
def vecdot(x: Any, y: Any, *, dim: int = -1) -> Any:
    """Σ conj(x) · y along an axis."""
    return inner(conj(x), y) if len(shape_of(x)) == len(shape_of(y)) == 1 else sum_(conj(x) * y, dim)


# ------------------------------------------------------------------------------------------ covariance


def _check_weights(name: str, weights: Any, kinds: str, count: int) -> None:
    """Raise unless there is a weight for every observation, of the right kind and none below 0."""
    axes, dtype = len(shape_of(weights)), weights.dtype
    if axes > 1:
        raise ShapeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with {axes} dimensions"
        )
    if dtype.kind not in kinds:
        wanted = "integral" if kinds == "iu" else "floating point"
        raise DtypeError(f"cov(): expected {name} to have {wanted} dtype but got {name} with {torch_name(dtype)} dtype")
    have = shape_of(weights)[0] if axes else 1
    if have != count:
        raise ShapeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got {have} != "
            f"{count}"
        )
    if not everywhere(weights, lambda x: ~(x < 0)):
        raise ArgumentError(f"cov(): {name} cannot be negative")


@front("cov")
def cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """The covariance matrix of variables in rows; observations in columns may be counted or weighted."""
    if len(shape_of(input)) > 2:
        raise ShapeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {len(shape_of(input))} "
            "dimensions"
        )
    x = input if len(shape_of(input)) == 2 else input.reshape(1, -1)
    for name, counts, kinds in (("fweights", fweights, "iu"), ("aweights", aweights, "fV")):
        if counts is not None:
            _check_weights(name, counts, kinds, shape_of(x)[1])
    weights = fweights
    if aweights is not None:
        weights = aweights if fweights is None else fweights * aweights
    if weights is None:
        count: Any = length_of(x, 1)
        x = cast(x, get_default_dtype()) if kind_of(x) in "bui" else x
        centred = x - sum_(x, 1, True) / count if shape_of(x)[1] else x
        weighted = centred
        total = count - correction
        if isinstance(total, int) and total <= 0:
            notice(
                "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations."
            )
    else:
        count = sum_(weights)
        centred = x - sum_(x * weights, 1, True) / count
        weighted = centred * weights
        bias = 1 if aweights is None else sum_(weights * aweights) / count
        total = count - correction * bias
    product = matmul(weighted, conj(mT(centred)))
    with np.errstate(divide="ignore", invalid="ignore"):  # which was told in torch's words
        out = product / (max(total, 0) if isinstance(total, (int, float)) else clamp(total, 0))
    return squeeze(out)


@front("corrcoef")
def corrcoef(input: Any) -> Any:
    """Correlations of variables in rows."""
    c = cov(input)
    if not shape_of(c):
        return c / c
    scale = sqrt(real(diag(c)))
    out = c / unsqueeze(scale, 1) / unsqueeze(scale, 0)
    if is_complex(out):
        return clamp(real(out), -1, 1) + 1j * clamp(imag(out), -1, 1)
    return clamp(out, -1, 1)
