"""Products of matrices, and their structure: diagonals, traces, Kronecker products."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.errors import ArgumentError, ShapeError
from symgrad.op import (
    Op,
    Spec,
    broadcast_shapes,
    fixed,
    fixed_length,
    front,
    length_of,
    multilinear,
    primitive,
    sampling,
    shape_of,
)
from symgrad.ops.calls import fits
from symgrad.ops.elementwise.arithmetic import closed
from symgrad.ops.elementwise.complex import conj
from symgrad.ops.linalg.contraction import contract, diagonal_text, einsum
from symgrad.ops.reductions.sums import cast, int_to_long, sum_
from symgrad.ops.rules.refusals import kind_of
from symgrad.ops.shapes.shaping import axis_of, in_rows, movedim, mT, permute_op, reshape, unsqueeze_op
from symgrad.ops.shapes.sizes import product_size
from symgrad.ops.torch_nodes.rewrites import rewritten
from symgrad.precision import adding, single


def mH(x: Any) -> Any:
    """Conjugate transpose of the last two axes."""
    return conj(mT(x))


@front("adjoint")
def _conjugate_transpose(input: Any) -> Any:
    """Conjugate transpose of the last two axes: ``x.mH``."""
    ndim = len(shape_of(input))
    if ndim == 1:
        raise ShapeError("tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return mH(input) if ndim else conj(input)


adjoint: Op = primitive(
    "adjoint",
    lambda x: np.conj(np.swapaxes(x, -1, -2)),
    (lambda g, out, x: adjoint(g),),
    linear=True,
    infer=lambda shape: (*shape[:-2], shape[-1], shape[-2]),
    code=lambda x: f"np.conj(np.swapaxes({x}, -1, -2))",
    define=lambda x: conj(mT(x)),
    expanded=True,
    digits="kernel",
    example=("matrix", {}),
    samples=[sampling.one("real", "n", "m"), sampling.one("real", 2, "n", "m")],
    doc="Conjugate transpose of the last two axes, as formulas write it.",
)
"""Xᴴ as one op: programs run a transpose and a conjugate, texts of formulas show this one."""


def _matmul_spec(a: Any, b: Any) -> Spec:
    """Labels: 0 rows, 1 inner, 2 columns, 10 … batch axes counted from the right (20 … where stretched)."""
    left = (1,) if len(a) == 1 else (0, 1)
    right = (1,) if len(b) == 1 else (1, 2)
    if len(a) <= 2 and len(b) <= 2:
        return (left, right), (*left[:-1], *right[1:])
    batch = broadcast_shapes(tuple(a[:-2]), tuple(b[:-2]))

    def labels(shape: Any) -> tuple[int, ...]:
        sizes = tuple(shape[:-2])
        offset = len(batch) - len(sizes)
        return tuple(
            (20 + 10 * (shape is b) + k) if size == 1 and batch[offset + k] != 1 else 10 + len(batch) - offset - k
            for k, size in enumerate(sizes)
        )

    out = tuple(10 + len(batch) - k for k in range(len(batch)))
    rows = (0,) if len(a) > 1 else ()
    columns = (2,) if len(b) > 1 else ()
    return ((*labels(a), *left), (*labels(b), *right)), (*out, *rows, *columns)


def _matmul_shape(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    if not a or not b or a[-1] != (b[0] if len(b) == 1 else b[-2]):
        raise fits.no_product(a, b)
    batch = broadcast_shapes(tuple(a[:-2]), tuple(b[:-2]))
    return (*batch, *(a[-2:-1] if len(a) > 1 else ()), *(b[-1:] if len(b) > 1 else ()))


def _matmul_node(a: Any, b: Any) -> str:
    kinds = {(1, 1): "Dot", (2, 1): "Mv", (2, 2): "Mm", (1, 2): "SqueezeBackward4"}
    if len(a) == 2 < len(b):  # torch turns the factors round, and the product back
        return "Transpose" if 1 in (a[0], b[-1]) else "Clone"
    return kinds.get((len(a), len(b)), "UnsafeView")


def _copied(mask: int, a: Any, b: Any) -> tuple[int, ...]:
    """The factors that torch has to copy to bring their batch into the rows of a matrix, or into one axis."""
    factors = [a, b]
    if a.ndim <= 2 >= b.ndim:
        return ()
    if a.ndim == b.ndim == 3:  # it takes a batch of one whose gradient is asked as a matrix
        batches = (a.shape[0], b.shape[0])
        factors = [x[0] if mask >> k & 1 and len(x) == 1 != batches[1 - k] else x for k, x in enumerate(factors)]
    small, large = sorted((0, 1), key=lambda k: factors[k].ndim)
    x = factors[large] if large == 0 else factors[large].swapaxes(-1, -2)
    if factors[small].ndim <= 2 < x.ndim:
        copied = _has_to_copy(x, (math.prod(x.shape[:-1]), x.shape[-1]))
        if mask >> small & 1 or not (copied or factors[0].ndim == 2):
            return (large,) if copied else ()
    batch, spread = a.shape[:-2], factors
    if batch != b.shape[:-2]:
        batch = np.broadcast_shapes(*(x.shape[:-2] for x in factors))
        spread = [np.broadcast_to(x, (*batch, *x.shape[-2:])) if x.ndim > 1 else x for x in factors]
    return tuple(k for k, x in enumerate(spread) if _has_to_copy(x, (math.prod(batch), *x.shape[-2:])))


def _has_to_copy(x: Any, shape: tuple[int, ...]) -> bool:
    """Whether no strides show the entries of ``x`` in another shape."""
    return x.ndim > 2 and not x.flags.c_contiguous and not np.may_share_memory(x.reshape(shape), x)


def _seen_through_views(node: Any) -> tuple[bool, bool]:
    """The factors that torch brings into other shapes before it multiplies: vectors before matrices, and batches."""
    a, b = (len(arg.raw_shape) for arg in node.args)
    if getattr(node.args, "label", None) == "BmmBackward0" or max(a, b) < 3:
        return (a, b) == (1, 2), False
    return a > 1 or not node.mask & 1, b > 2  # a vector is spread over the batch, but for its own derivative


matmul_op: Op = multilinear(
    "matmul",
    kernels.matmul,
    _matmul_spec,
    single=single.real(adding.matmul, kernels.matmul),
    refuses="b",
    infer=_matmul_shape,
    node=_matmul_node,
    mirrors=True,
    copies=_copied,
    indirect=_seen_through_views,
    code=lambda a, b: f"{closed(a)} @ {closed(b)}",
    example=("matrix", "vector", {}),
    samples=[
        *(sampling.many(("real", *a), ("real", *b)) for a, b in (("nm", "mp"), ("nm", "m"), ("n", "nm"), ("n", "n"))),
        *(sampling.many(("real", *"qnm"), ("real", *b)) for b in ("qmp", "mp", "m")),
        *(sampling.many(("real", *a), ("real", *b)) for a, b in (("n", "qnm"), ((1, "n", "m"), "qmp"))),
    ],
    doc="Matrix product over the last two axes, batched over the others.",
)


@front("matmul", op=matmul_op)
def matmul(input: Any, other: Any) -> Any:
    """Matrix product with NumPy's rules for vectors and batches.

    Raises ``ShapeError`` when the inner sizes differ.

    Vectors of n entries, matrices (n, m) and batches (…, n, m) are taken; the dtypes are promoted.
    """
    a, b = shape_of(input), shape_of(other)
    if len(a) != 2 or a[-1:] != b[:1] or len(b) > 2:  # else the commonest case, which needs no more questions
        _matmul_shape(a, b)
    made = matmul_op(input, other)
    return rewritten(made) if len(a) == 1 and len(b) == 2 else made


def _ranked(name: str, a: int, b: int, word: str) -> Any:
    def call(input: Any, other: Any) -> Any:
        ranks = (len(shape_of(input)), len(shape_of(other)))
        if (a, b) == (1, 1):
            fits.of_vectors("dot", input, other)
        if ranks != (a, b):
            raise ShapeError(fits.wrong_ranks(name, ranks))
        if name == "bmm":
            fits.batches(shape_of(input), shape_of(other))
        return matmul(input, other)

    call.__name__ = name
    call.__doc__ = f"The matrix product of tensors with {a} and {b} axes."
    return front(name, op=matmul_op, words={word: "other"})(call)


mm = _ranked("mm", 2, 2, "mat2")
front("spmm", "dsmm", op=matmul_op, method=False, words={"mat2": "other"})(mm)  # names of sparse operands' times
mv = _ranked("mv", 2, 1, "vec")
dot = _ranked("dot", 1, 1, "tensor")
inner = _ranked("vdot", 1, 1, "other")
bmm = _ranked("bmm", 3, 3, "mat2")


def _outer_spec(a: Any, b: Any) -> Spec:
    return ((0,), (1,)), (0, 1)


outer_op: Op = multilinear(
    "outer",
    np.multiply.outer,
    _outer_spec,
    infer=lambda a, b: (*a, *b),
    node="Mul",
    indirect=lambda node: (True, False),  # torch stands the first vector up before it multiplies
    code=lambda a, b: f"np.multiply.outer({a}, {b})",
    example=("vector", "vector", {}),
    samples=[sampling.many(("real", "n"), ("real", "m"))],
    doc="a bᵀ of two vectors.",
)


@front("outer", "ger", op=outer_op)
def outer(input: Any, vec2: Any) -> Any:
    """The matrix input_i · vec2_j of two vectors."""
    for k, x in enumerate((input, vec2)):
        if len(shape_of(x)) != 1:
            raise ShapeError(
                f"outer: Expected 1-D argument {'self' if k == 0 else 'vec2'}, but got {len(shape_of(x))}-D"
            )
    return outer_op(input, vec2)


# ------------------------------------------------------------------------------------------ structure


def _diagonal_spec(shape: Any, *, offset: int, dim1: int, dim2: int) -> Spec:
    labels = list(range(len(shape)))
    labels[dim2] = labels[dim1]
    rest = [x for k, x in enumerate(labels) if k not in (dim1, dim2)]
    return (tuple(labels),), (*rest, dim1)


def _with_diagonal(whole: Any, part: Any, *, offset: int, dim1: int, dim2: int) -> Any:
    """A whole whose main diagonal is ``part``; the other ones have been cut to be main ones."""
    assert not offset
    from symgrad.ops.indexing.getitem import Index, index_put_op

    order = (*(k for k in range(len(shape_of(whole))) if k not in (dim1, dim2)), dim1, dim2)
    ends = np.arange(shape_of(part)[-1])
    moved = index_put_op(permute_op(whole, dims=order), part, index=Index((Ellipsis, ends, ends)))
    return permute_op(moved, dims=tuple(int(k) for k in np.argsort(order)))


diagonal_main: Op = multilinear(
    "diagonal",
    kernels.diagonal,
    _diagonal_spec,
    infer=lambda shape, offset, dim1, dim2: (
        *(s for k, s in enumerate(shape) if k not in (dim1, dim2)),
        _shorter(shape[dim1], shape[dim2]),
    ),
    code=diagonal_text,
    view=True,
    put_back=_with_diagonal,
    fused=("DiagonalBackward", None),
    example=("matrix", {"offset": 0, "dim1": 0, "dim2": 1}),
    samples=[
        sampling.one("real", "n", "n", offset=0, dim1=0, dim2=1),
        sampling.one("real", "q", "n", "n", offset=0, dim1=1, dim2=2),
        sampling.one("real", "n", "q", "n", offset=0, dim1=2, dim2=0),
    ],
    doc="Main diagonal of two axes, as the last axis.",
)


def _shorter(a: Any, b: Any) -> Any:
    if a != b and not (isinstance(a, int) and isinstance(b, int)):
        raise ShapeError(f"diagonal: which of {a} and {b} is shorter depends on the numbers that the letters stand for")
    return a if a == b else min(a, b)


def _band(shape: tuple[int, ...], offset: int, dim1: int, dim2: int) -> tuple[slice, slice, int]:
    rows, columns = shape[dim1], shape[dim2]
    length = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    top, left = max(-offset, 0), max(offset, 0)
    return slice(top, top + length), slice(left, left + length), length


@front("diagonal", op=diagonal_main)
def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The ``offset``-th diagonal of the axes ``dim1`` and ``dim2``, as the last axis."""
    shape = shape_of(input)
    a, b = axis_of(dim1, len(shape)), axis_of(dim2, len(shape))
    if a == b:
        raise ShapeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    offset = fixed(offset)
    if offset or shape[a] != shape[b]:
        from symgrad.ops.indexing.getitem import getitem

        if shape[a] == shape[b]:
            ends = slice(max(offset, 0), min(offset, 0) or None), slice(max(-offset, 0), -max(offset, 0) or None)
            columns, rows = ends
        else:
            sizes = tuple(fixed_length(input, k) if k in (a, b) else n for k, n in enumerate(shape))
            rows, columns, _ = _band(tuple(map(int, sizes)), int(offset), a, b)
        index = [slice(None)] * len(shape)
        index[a], index[b] = rows, columns
        input = getitem(input, tuple(index))
    return diagonal_main(input, offset=0, dim1=a, dim2=b)


@front("diag_embed", op=diagonal_main)
def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """The last axis spread over the ``offset``-th diagonal of two new axes, ``dim1`` and ``dim2`` of the result."""
    ndim = len(shape_of(input)) + 1
    if (rows := axis_of(dim1, ndim)) == (columns := axis_of(dim2, ndim)):
        raise ArgumentError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    square = _diagonal_square(input, fixed(offset))
    if (rows, columns) == (ndim - 2, ndim - 1):
        return square
    return in_rows(movedim(square, (-2, -1), (rows, columns)))


def _diagonal_square(input: Any, offset: int) -> Any:
    shape = shape_of(input)
    n = len(shape)
    labels = tuple(range(n))
    square = contract((input,), (labels,), (*labels, n - 1), (*shape, shape[-1]))
    if not offset:
        return square
    from symgrad.ops.shapes.joining import embed_op

    size = length_of(input, -1) + abs(offset)
    rows = embed_op(square, dim=n - 1, start=max(-offset, 0), size=size)
    return embed_op(rows, dim=n, start=max(offset, 0), size=size)


@front("diag", op=diagonal_main)
def diag(input: Any, diagonal: int = 0) -> Any:
    """A vector as a diagonal matrix, or the diagonal of a matrix."""
    ndim = len(shape_of(input))
    if ndim not in (1, 2):
        raise ShapeError(f"diag(): Supports 1D or 2D tensors. Got {ndim}D")
    return diag_embed(input, diagonal) if ndim == 1 else _diagonal_of(input, diagonal)


_diagonal_of = diagonal


def _trace_spec(shape: Any) -> Spec:
    return ((0, 0),), ()


trace_op: Op = multilinear(
    "trace",
    lambda x: np.trace(x, dtype=np.int64 if x.dtype.kind in "bui" else None),
    _trace_spec,
    refuses="b",
    result=int_to_long,
    infer=lambda shape: (),
    code=lambda x: f"np.trace({x})",
    single=single.smooth(np.trace),
    example=("matrix", {}),
    samples=[sampling.one("real", "n", "n")],
    doc="Sum of the diagonal.",
)


@front("trace", op=trace_op)
def trace(input: Any) -> Any:
    """Sum of the main diagonal of a matrix."""
    shape = shape_of(input)
    if len(shape) != 2:
        raise ShapeError(f"trace: expected a matrix, but got tensor with dim {len(shape)}")
    return trace_op(input) if shape[0] == shape[1] else einsum("i->", diagonal(input))


@front("kron", method=True)
def kron(input: Any, other: Any) -> Any:
    """Kronecker product: blocks input_ij · other."""
    a, b = shape_of(input), shape_of(other)
    rank = max(len(a), len(b))
    x = input if len(a) == rank else reshape(input, *(1,) * (rank - len(a)), *a)
    y = other if len(b) == rank else reshape(other, *(1,) * (rank - len(b)), *b)
    left, right = tuple(range(0, 2 * rank, 2)), tuple(range(1, 2 * rank, 2))
    a, b = shape_of(x), shape_of(y)
    pairs = tuple(s for pair in zip(a, b, strict=True) for s in pair)
    blocks = contract((x, y), (left, right), tuple(range(2 * rank)), pairs)
    return reshape(blocks, *(product_size(p, q) for p, q in zip(a, b, strict=True)))


def contracted(x: Any, dim: int) -> Any:
    """The sum along one axis, which stays at size 1."""
    labels = tuple(range(len(shape_of(x))))
    kept = tuple(k for k in labels if k != dim)
    total = contract((x,), (labels,), kept, tuple(shape_of(x)[k] for k in kept))
    return unsqueeze_op(cast(total, x.dtype) if kind_of(x) in "bui" else total, dim=dim)


@front("tensordot", method=False)
def tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    """Sum over pairs of axes: the last ``dims`` of ``a`` with the first of ``b``, or the two lists given."""
    na, nb = len(shape_of(a)), len(shape_of(b))
    if getattr(dims, "ndim", None) == 0:  # a tensor of one number
        dims = int(dims)
    if isinstance(dims, int):
        if not 0 <= dims <= min(na, nb):
            raise ShapeError(
                f"tensordot expects dims {'>= 0' if dims < 0 else '< ndim_a or ndim_b'}, but got dims={dims}"
            )
        dims = (list(range(na - dims, na)), list(range(dims)))
    left, right = ([axis_of(d, n) for d in ds] for ds, n in zip(dims, (na, nb), strict=True))
    la = list(range(na))
    lb = [100 + k for k in range(nb)]
    for i, j in zip(left, right, strict=True):
        if shape_of(a)[i] != shape_of(b)[j] and 1 in (shape_of(a)[i], shape_of(b)[j]):
            # A size of 1 broadcasts, so that the other axis is summed on its own.
            a, b = (contracted(x, k) for x, k in ((a, i), (b, j)))
        if shape_of(a)[i] != shape_of(b)[j]:
            raise ShapeError(
                f"contracted dimensions need to match, but first has size {shape_of(a)[i]} in dim {i} and second has "
                f"size {shape_of(b)[j]} in dim {j}"
            )
        lb[j] = la[i]
    out = [x for k, x in enumerate(la) if k not in left] + [x for k, x in enumerate(lb) if k not in right]
    sizes = dict(zip(la + lb, (*shape_of(a), *shape_of(b)), strict=True))
    return contract((a, b), (tuple(la), tuple(lb)), tuple(out), tuple(sizes[x] for x in out))


weighted_gram_op: Op = primitive(
    "weighted_gram",
    kernels.weighted_gram,
    (
        lambda g, out, x, w: unsqueeze_op(w, dim=1) * (x @ (g + mT(g))),
        lambda g, out, x, likew: sum_(x @ g * x, dim=-1),
    ),
    jvp=(
        lambda t, out, x, w: mT(t) * w @ x + mT(x) * w @ t,
        lambda t, out, x, likew: mT(x) * t @ x,
    ),
    infer=lambda x, w: (x[1], x[1]),
    code=lambda x, w: f"weighted_gram({x}, {w})",
    define=lambda x, w: mT(x) * w @ x,
    spelled=True,
    dtypes="float",
    refuses="c",
    example=([[1.0, 2.0], [3.0, 4.0]], [0.5, 0.25], {}),
    samples=[sampling.many(("real", "n", "m"), ("positive", "n")), sampling.many(("real", "n", "m"), ("real", "n"))],
    doc="Products xᵀ diag(w) x of a matrix with itself, with a weight for every row.",
)
