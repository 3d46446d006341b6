"""Changing shape without arithmetic: reshape, transpose, broadcast, flip, and constant arrays."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.errors import ArgumentError, ShapeError
from symgrad.op import Length, Op, Rest, Spec, as_size, front, lookup, multilinear, primitive, sampling, shape_of
from symgrad.ops.calls import fits
from symgrad.ops.elementwise.arithmetic import closed
from symgrad.ops.shapes.sizes import letters_of, product_size


def axis_of(dim: Any, ndim: int) -> int:
    """A non-negative axis.  Raises ``IndexError`` in torch's words when it is out of range."""
    if dim.__class__ is int and -ndim <= dim < ndim:
        return dim if dim >= 0 else dim + ndim
    limit = max(ndim, 1)
    if not -limit <= dim < limit:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-limit}, {limit - 1}], but got {dim})")
    return index(dim) % limit


def shape_text(shape: Sequence[Any]) -> str:
    """Text of a tuple whose entries are sizes, the names of their variables, or other texts."""
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def size_args(sizes: tuple[Any, ...]) -> tuple[Any, ...]:
    """``f(2, 3)`` and ``f((2, 3))`` alike."""
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = tuple(sizes[0])
    for size in sizes:
        if size.__class__ is not int and size.__class__ is not Length:
            fits.whole(sizes)
            break
    return sizes


def in_rows(x: Any) -> Any:
    """``x``, or a copy of it that lies row by row in memory: what torch's kernels write, ``view(-1)`` takes."""
    contiguous = getattr(x, "is_contiguous", None)
    return x if contiguous is None or contiguous() else x.contiguous()


def apart(x: Any) -> Any:
    """A copy that lies row by row."""
    laid = in_rows(x)
    return laid if laid is not x else lookup("clone")(x)


def owned(x: Any) -> Any:
    """``x``, or a copy of it if it lies in the memory of another tensor: what a function makes may be overwritten."""
    return x if getattr(x, "_base", None) is None else apart(x)


# ------------------------------------------------------------------------------------------ reshape family

reshape_op: Op = primitive(
    "reshape",
    lambda x, shape: np.reshape(x, shape),
    (lambda g, out, like, *, shape: reshape_op(g, shape=shape_of(like)),),
    linear=True,
    infer=lambda _, shape: tuple(shape),
    size_params=("shape",),
    node="View",
    code=lambda x, shape: f"{closed(x)}.reshape({', '.join(map(str, shape)) or '()'})",
    boxed=True,
    view=lambda x, shape: x.reshape(shape),
    example=("matrix", {"shape": (4,)}),
    samples=[
        sampling.one("real", "n", "m", shape=lambda make: (make.size("n") * make.size("m"),)),
        sampling.one("real", "n", "m", "q", shape=lambda make: (make.size("n"), make.size("m") * make.size("q"))),
        sampling.one("real", "n", shape=lambda make: (make.size("n"), 1)),
        sampling.one("real", shape=(1, 1)),
    ],
    doc="The same entries in row-major order under another shape.",
)


def resolve_shape(old: tuple[Any, ...], sizes: Sequence[Any]) -> tuple[int, ...]:
    """Fill in one -1.  Raises ``RuntimeError`` in torch's words when the number of entries differs.

    Sizes that are letters are believed; ``ShapeError`` where -1 stands for no product of them.
    """
    try:
        total: Any = math.prod(old)
    except TypeError:
        total = ""
    if isinstance(total, str):
        return tuple(_left_over(old, sizes) if s == -1 else s for s in sizes)
    if sizes.__class__ is tuple and _settled(sizes) and math.prod(sizes) == total:
        return sizes
    made = [as_size(s) for s in sizes]
    new = [int.__int__(s) for s in made]
    if new.count(-1) == 1:
        rest = -math.prod(new)
        if rest and total % rest == 0:
            k = new.index(-1)
            made[k] = new[k] = Rest(total // rest)
    fits.reshaped(sizes, new, total)
    return tuple(made)


def _settled(sizes: tuple[Any, ...]) -> bool:
    """Whether sizes are plain whole numbers as they stand."""
    for size in sizes:  # noqa: SIM110  (of every view; in a generator it would take three times as long)
        if (size.__class__ is not int and size.__class__ is not Length) or size < 0:
            return False
    return True


def _left_over(old: tuple[Any, ...], sizes: Sequence[Any]) -> Any:
    """The size that -1 stands for: the product of those of the old sizes that are not among the new ones."""
    left = list(old)
    for size in sizes:
        if size in left:
            left.remove(size)
        elif size not in (1, -1):
            raise ShapeError(
                f"an array of shape {tuple(old)} as one of shape {tuple(sizes)}: -1 stands for no product of its "
                "sizes; write the size."
            )
    return functools.reduce(product_size, left, 1)


@front("reshape", "view", op=reshape_op)
def reshape(input: Any, *shape: Any) -> Any:
    """The same entries in row-major order under another shape; one size may be -1."""
    new = resolve_shape(shape_of(input), size_args(shape))
    return reshape_op(input, shape=new)


@front("view_as", "reshape_as", op=reshape_op, function=False)
def reshape_as(input: Any, other: Any) -> Any:
    """``input`` reshaped to the shape of ``other``."""
    return reshape(input, shape_of(other))


@front(op=reshape_op)
def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Axes ``start_dim`` … ``end_dim`` joined into one."""
    shape = shape_of(input)
    first, last = axis_of(start_dim, len(shape)), axis_of(end_dim, len(shape))
    if first > last:
        raise ArgumentError("flatten() has invalid args: start_dim cannot come after end_dim")
    if first == last and shape:
        return input
    return reshape(input, *shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :])


@front("ravel", op=reshape_op)
def ravel(input: Any) -> Any:
    """All entries in one axis; those that are not next to each other in memory are copied."""
    spread = hasattr(input, "is_contiguous") and not input.is_contiguous()
    return reshape(input.contiguous() if spread else input, -1)


def _axes(dim: Any, ndim: int) -> list[int]:
    return [axis_of(d, ndim) for d in ((dim,) if isinstance(dim, int) else np.atleast_1d(dim))]


@front(op=reshape_op)
def squeeze(input: Any, dim: Any = None) -> Any:
    """Without the axes of size 1 (all of them, or those named).

    Named axes of another size stay.
    """
    shape = shape_of(input)
    dims = range(len(shape)) if dim is None else _axes(dim, len(shape))
    fits.named_once(dims)
    drop = {d for d in dims if len(shape) and shape[d] == 1}
    return squeeze_op(input, dim=tuple(sorted(drop)))


@front(op=reshape_op)
def unsqueeze(input: Any, dim: int) -> Any:
    """With a new axis of size 1 at ``dim``.

    ``dim`` may be as large as the number of axes.
    """
    return unsqueeze_op(input, dim=axis_of(dim, len(shape_of(input)) + 1))


def _squeeze_spec(shape: Any, *, dim: tuple[int, ...]) -> Spec:
    labels = tuple(range(len(shape)))
    return (labels,), tuple(k for k in labels if k not in dim)


def _squeezed(shape: Any, *, dim: tuple[int, ...]) -> tuple[Any, ...]:
    """The other axes.  Raises ``ShapeError`` for one that has one entry by chance, as n - 1 rows do where n is 2."""
    if any(isinstance(shape[k], str) and letters_of(shape[k]) for k in dim):
        raise ShapeError(f"squeeze: axes {dim} of a shape {shape} have more entries than one at other sizes")
    return tuple(s for k, s in enumerate(shape) if k not in dim)


def _unsqueeze_spec(shape: Any, *, dim: int) -> Spec:
    labels = tuple(range(len(shape)))
    return (labels,), (*labels[:dim], len(shape), *labels[dim:])


squeeze_op: Op = multilinear(
    "squeeze",
    lambda x, dim: np.squeeze(x, dim),
    _squeeze_spec,
    infer=_squeezed,
    code=lambda x, dim: (
        f"{closed(x)}[{', '.join('0' if k in dim else ':' for k in range(max(dim) + 1))}]" if dim else x
    ),
    boxed=True,
    view=lambda x, dim: x.squeeze(dim),
    example=([[1.0, 2.0]], {"dim": (0,)}),
    samples=[
        sampling.one("real", "n", 1, "m", dim=(1,)),
        sampling.one("real", 1, 1, dim=(0, 1)),
        sampling.one("real", "n", dim=()),
    ],
    doc="Without some axes of size 1.",
)
unsqueeze_op: Op = multilinear(
    "unsqueeze",
    lambda x, dim: np.asarray(x)[(*(slice(None),) * dim, None)],
    _unsqueeze_spec,
    infer=lambda shape, dim: (*shape[:dim], 1, *shape[dim:]),
    code=lambda x, dim: f"{closed(x)}[{':, ' * dim}None]",
    boxed=True,
    view=lambda x, dim: x[(*(slice(None),) * dim, None)],
    example=("vector", {"dim": 0}),
    samples=[sampling.one("real", "n", "m", dim=0), sampling.one("real", "n", "m", dim=2), sampling.one("real", dim=0)],
    doc="With a new axis of size 1.",
)

# ------------------------------------------------------------------------------------------ permutations


def _permute_spec(shape: Any, *, dims: tuple[int, ...]) -> Spec:
    return (tuple(range(len(shape))),), dims


permute_op: Op = multilinear(
    "permute",
    lambda x, dims: np.asarray(x).transpose(dims),
    _permute_spec,
    infer=lambda shape, dims: tuple(shape[k] for k in dims),
    code=lambda x, dims: f"{closed(x)}.T" if dims == (1, 0) else f"np.transpose({x}, {dims})",
    boxed=True,
    view=True,
    put_back=lambda whole, part, dims: permute_op(part, dims=tuple(int(k) for k in np.argsort(dims))),
    example=("matrix", {"dims": (1, 0)}),
    samples=[sampling.one("real", "n", "m", dims=(1, 0)), sampling.one("real", "n", "m", "p", dims=(2, 0, 1))],
    doc="Axes in another order.",
)


@front(op=permute_op)
def permute(input: Any, *dims: Any) -> Any:
    """Axes in the order ``dims``."""
    ndim = len(shape_of(input))
    order = tuple(axis_of(d, ndim) for d in size_args(dims))
    fits.permuted(order, ndim)
    return permute_op(input, dims=order)


@front("transpose", "swapdims", op=permute_op)
def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """Two axes exchanged.

    The result is a view.  Raises ``IndexError`` for axes that are not there.
    """
    ndim = len(shape_of(input))
    order = list(range(ndim))
    a, b = axis_of(dim0, ndim), axis_of(dim1, ndim)
    if ndim:
        order[a], order[b] = order[b], order[a]
    return permute_op(input, dims=tuple(order))


@front("movedim", "moveaxis", op=permute_op)
def movedim(input: Any, source: Any, destination: Any) -> Any:
    """Axes moved to new places, the others keeping their order."""
    ndim = len(shape_of(input))
    source, destination = ([d] if isinstance(d, int) else np.atleast_1d(d).tolist() for d in (source, destination))
    src, dst = ([axis_of(d, ndim) for d in axes] for axes in (source, destination))
    if not ndim:
        return permute_op(input, dims=())
    fits.moved(source, destination, src, dst)
    order = [k for k in range(ndim) if k not in src]
    for d, s in sorted(zip(dst, src, strict=True)):
        order.insert(d, s)
    return permute_op(input, dims=tuple(order))


@front("t", op=permute_op)
def t(input: Any) -> Any:
    """The transpose of a matrix; vectors and scalars as they are."""
    ndim = len(shape_of(input))
    if ndim > 2:
        raise ShapeError(f"t() expects a tensor with <= 2 dimensions, but self is {ndim}D")
    return permute_op(input, dims=(1, 0)) if ndim == 2 else input


def mT(x: Any) -> Any:
    """The last two axes exchanged."""
    ndim = len(shape_of(x))
    return permute_op(x, dims=(*range(ndim - 2), ndim - 1, ndim - 2))


# ------------------------------------------------------------------------------------------ broadcasting


def _expand_spec(old: Any, /, *, shape: Any) -> Spec:
    target = shape
    offset = len(target) - len(old)
    inside, outside = [], list(range(len(target)))
    for k, size in enumerate(old):
        stretched = size == 1 and target[offset + k] != 1
        inside.append(100 + k if stretched else offset + k)
    return (tuple(inside),), tuple(outside)


def _once(whole: Any, part: Any, *, shape: Any) -> Any:
    """What was repeated: the first of the repetitions, or the whole where it is repeated no times."""
    if 0 in shape and 0 not in shape_of(whole):
        return whole
    from symgrad.ops.indexing.getitem import Index, getitem_op

    sizes = (1,) * (len(shape) - len(shape_of(whole))) + tuple(shape_of(whole))
    first = tuple(slice(0, 1) if s == 1 != n else slice(None) for s, n in zip(sizes, shape_of(part), strict=True))
    return reshape_op(getitem_op(part, index=Index(first)), shape=shape_of(whole))


expand_op: Op = multilinear(
    "expand",
    kernels.spread,
    _expand_spec,
    infer=lambda _, shape: tuple(shape),
    size_params=("shape",),
    code=lambda x, shape: f"np.broadcast_to({x}, {shape_text(shape)})",
    boxed=True,
    view=True,
    put_back=_once,
    example=("vector", {"shape": (3, 2)}),
    samples=[
        sampling.one("real", "m", shape=lambda make: make.shape(2, "m")),
        sampling.one("real", "n", 1, shape=lambda make: make.shape(3, "n", 2)),
        sampling.one("real", shape=(3,)),
    ],
    doc="Broadcast to a larger shape.",
)


@front("expand", "broadcast_to", op=expand_op)
def expand(input: Any, *sizes: Any) -> Any:
    """Axes of size 1 (and new leading axes) repeated; -1 keeps a size."""
    old, new = shape_of(input), list(size_args(sizes))
    offset = len(new) - len(old)
    for k, size in enumerate(old):
        if offset >= 0 and new[offset + k] == -1:
            new[offset + k] = size
    fits.expanded(tuple(old), new)
    return expand_op(input, shape=tuple(new))


def spread(input: Any, *sizes: Any) -> Any:
    """As :func:`expand`, but what has the shape already stays as it is, without a node: for use inside of other ops."""
    old, new = shape_of(input), size_args(sizes)
    same = len(old) == len(new) and all(n in (-1, size) for n, size in zip(new, old, strict=True))
    return input if same else expand(input, *new)


@front("expand_as", op=expand_op, function=False)
def expand_as(input: Any, other: Any) -> Any:
    """Broadcast to the shape of ``other``."""
    return expand(input, shape_of(other))


def _full_text(sizes: Sequence[Any], value: Any, dtype: str) -> str:
    """Zeros by their own function, to which the operating system gives memory that is zero already; ones by theirs."""
    shape = str(sizes[0]) if len(sizes) == 1 else shape_text(sizes)
    for number, name in (0, "zeros"), (1, "ones"):
        if str(value) in (str(number), str(float(number))):
            return f"np.{name}({shape})" if dtype == "float64" else f'np.{name}({shape}, "{dtype}")'
    return f'np.full({shape}, {value}, "{dtype}")'


full_op: Op = primitive(
    "full",
    lambda *, shape, value, dtype: np.full(shape, value, dtype)[()],
    (),
    infer=lambda shape, value, dtype: tuple(shape),
    result=lambda shape, value, dtype: np.dtype(dtype),
    size_params=("shape",),
    code=lambda shape, value, dtype: _full_text(shape, value, dtype),
    digits=lambda mp, shape, value, dtype: np.full(shape, value, object),
    example=({"shape": (2,), "value": 1, "dtype": "float64"},),
    samples=[lambda make: ((), {"shape": make.shape("n", "m"), "value": 2, "dtype": make.dtype.name})],
    doc="A constant array.",
)


def zeros_like(x: Any) -> Any:
    """Zeros of the shape and dtype of ``x``."""
    return _constant_like(x, 0)


def ones_like(x: Any) -> Any:
    """Ones of the shape and dtype of ``x``."""
    return _constant_like(x, 1)


def _constant_like(x: Any, value: int) -> Any:
    if isinstance(x, (np.ndarray, np.generic)):
        return np.full_like(x, value)[()]
    if not hasattr(x, "dtype"):
        return value
    return x.full_like(value)


# ------------------------------------------------------------------------------------------ flip


def _flip_text(x: str, dims: Sequence[int]) -> str:
    """Slices, which take a tenth of the time of ``np.flip``."""
    if not dims or min(dims) < 0:
        return f"np.flip({x}, {tuple(dims)})"
    steps = ["::-1" if k in dims else ":" for k in range(max(dims) + 1)]
    return f"{closed(x)}[{', '.join(steps)}]"


flip_op: Op = primitive(
    "flip",
    lambda x, dims: np.flip(x, dims).copy("K"),
    (lambda g, out, like, *, dims: flip_op(g, dims=dims),),
    linear=True,
    code=_flip_text,
    aliased=True,
    layout="kept",
    digits="kernel",
    example=("vector", {"dims": (0,)}),
    samples=[
        sampling.one("real", "n", "m", dims=(0,)),
        sampling.one("real", "n", "m", dims=(0, 1)),
        sampling.one("real", "n", dims=()),
    ],
    doc="Axes in reverse order.",
)


@front(op=flip_op)
def flip(input: Any, *axes: Any, dims: Any = ()) -> Any:
    """The axes named, one by one or as a tuple ``dims``, in reverse order."""
    ndim = len(shape_of(input))
    chosen = size_args(axes) or ((dims,) if isinstance(dims, int) else dims)
    axes = tuple(axis_of(d, ndim) for d in chosen)
    for axis in axes:
        if axes.count(axis) > 1:
            raise ShapeError(f"dim {axis} appears multiple times in the list of dims")
    return flip_op(input, dims=axes if ndim else ())


@front("repeat", op=expand_op)
def repeat(input: Any, *repeats: Any) -> Any:
    """Tiled: axis k occurs ``repeats[k]`` times over (torch's ``repeat``, NumPy's ``tile``)."""
    counts = size_args(repeats)
    old = shape_of(input)
    if len(counts) < len(old):
        raise ShapeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor: "
            f"repeat({tuple(counts)}) of {tuple(old)}."
        )
    old = (1,) * (len(counts) - len(old)) + tuple(old)
    pairs = tuple(s for pair in zip(counts, old, strict=True) for s in pair)
    wide = spread(reshape(input, *(s for n in old for s in (1, n))), pairs)
    return reshape(wide, *(n if c.__class__ is int and c == 1 else c * n for c, n in zip(counts, old, strict=True)))
