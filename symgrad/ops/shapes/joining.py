"""Joining arrays along an axis, and taking parts of one: cat, stack, narrow, select, split."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.errors import ArgumentError, ShapeError
from symgrad.op import Op, fixed, fixed_length, front, length_of, of_this_length, primitive, sampling, shape_of
from symgrad.ops.calls import fits
from symgrad.ops.elementwise.arithmetic import closed
from symgrad.ops.shapes.shaping import axis_of, reshape_op, shape_text, unsqueeze_op, zeros_like
from symgrad.ops.shapes.sizes import total_size


def _part(g: Any, likes: Sequence[Any], i: int, dim: int) -> Any:
    """What belongs to argument ``i`` of what was joined; one without entries has nothing to do with it, as in torch."""
    shape = shape_of(likes[i])
    if shape == (0,):
        return zeros_like(likes[i])
    return narrow_op(g, dim=dim, start=_offset(likes, i, dim), length=shape[dim])


def _joined_shape(shapes: Sequence[tuple[Any, ...]], dim: int, size: Any, rest: int) -> tuple[Any, ...]:
    """The shape of what is joined, whose other sizes agree: a size that is a letter is not one that is a number."""
    around = {(*s[:dim], *s[rest:]) for s in shapes if s != (0,)}
    if len(around) > 1:
        raise ShapeError(f"arrays of shapes {', '.join(map(str, shapes))} cannot be joined along axis {dim}")
    first = next((s for s in shapes if s != (0,)), shapes[0])
    return (*first[:dim], size, *first[rest:])


concat_op: Op = primitive(
    "cat",
    lambda *xs, dim: np.concatenate(xs, dim),
    lambda i, g, out, *likes, dim: _part(g, likes, i, dim),
    jvp=lambda i, t, out, *likes, dim: _padded(t, likes, i, dim),
    infer=lambda *shapes, dim: _joined_shape(shapes, dim, total_size([s[dim] for s in shapes]), dim + 1),
    code=lambda *xs, dim: f"np.concatenate({shape_text(xs)}, {dim})",
    stacks=True,
    together=True,
    digits="kernel",
    example=("vector", "vector", {"dim": 0}),
    samples=[
        sampling.many(("real", "n", "m"), ("real", "p", "m"), dim=0),
        sampling.many(("real", "n", 2), ("real", "n", 1), dim=1),
    ],
    rises=True,
    doc="Arrays joined along an axis.",
)


_FEW = 8
"""Arguments of which a sum of lengths remembers each."""


def _offset(xs: Sequence[Any], i: int, dim: int) -> Any:
    """Where the argument ``i`` begins in what was joined; behind a few others that is made of their lengths."""
    before = xs[:i]
    if 0 < i <= _FEW and hasattr(before[0], "raw_shape"):
        return functools.reduce(operator.add, [length_of(x, dim) for x in before])
    try:
        sizes = [x.raw_shape[dim] for x in before]  # of thousands of pieces, each asks for its place
    except AttributeError:
        sizes = [shape_of(x)[dim] for x in before]
    try:
        return sum(sizes)
    except TypeError:  # letters
        return total_size(sizes)


def _padded(t: Any, likes: Sequence[Any], i: int, dim: int) -> Any:
    return concat_op(*(t if k == i else zeros_like(x) for k, x in enumerate(likes)), dim=dim)


def _with_part(whole: Any, part: Any, dim: int, at: int | slice) -> Any:
    """A whole with another part at a place, or range, of an axis."""
    from symgrad.ops.indexing.getitem import Index, index_put_op

    return index_put_op(whole, part, index=Index((*(slice(None),) * dim, at)))


def _with_range(whole: Any, part: Any, dim: int, start: int, length: int) -> Any:
    """A whole with another part in a range; between sizes it is joined of three parts, which have sizes, too."""
    if {start.__class__, length.__class__} == {int}:
        return _with_part(whole, part, dim, slice(start, start + length))
    end = start + length
    before = [narrow_op(whole, dim=dim, start=0, length=start)] if start.__class__ is not int or start else []
    rest = length_of(whole, dim) - end
    behind = [narrow_op(whole, dim=dim, start=end, length=rest)]
    return concat_op(*before, part, *behind, dim=dim)


def _slice_text(start: Any, length: Any) -> str:
    """A range as a slice; sizes come as texts."""
    start, length = str(start), str(length)
    if start == "0":
        return f":{length}"
    whole = start.isdigit() and length.isdigit()
    return f"{start}:{int(start) + int(length)}" if whole else f"{start}:{start} + {length}"


def _narrow(x: Any, dim: int, start: int, length: int) -> Any:
    first = operator.index(start)  # numbers for NumPy, which need not remember what they are made of
    return x[(*(slice(None),) * dim, slice(first, first + operator.index(length)))]


narrow_op: Op = primitive(
    "narrow",
    _narrow,
    (lambda g, out, like, *, dim, start, length: embed_op(g, dim=dim, start=start, size=shape_of(like)[dim]),),
    linear=True,
    infer=lambda shape, dim, start, length: (*shape[:dim], length, *shape[dim + 1 :]),
    size_params=("start", "length"),
    node="Slice",
    code=lambda x, dim, start, length: f"{closed(x)}[{':, ' * dim}{_slice_text(start, length)}]",
    view=True,
    put_back=lambda whole, part, dim, start, length: _with_range(whole, part, dim, start, length),
    example=("vector", {"dim": 0, "start": 1, "length": 1}),
    along=True,
    samples=[
        sampling.one("real", "n", "m", dim=0, start=1, length=2),
        sampling.one("real", "n", "m", dim=1, start=0, length=3),
    ],
    doc="A range of an axis.",
)


def _range_text(dim: int, start: Any, length: Any) -> str | None:
    """A range of an axis as the text of an index, where its ends are plain numbers."""
    if not isinstance(start, int) or not isinstance(length, int):
        return None
    return f"{':, ' * dim}{start}:{start + length}"


embed_op: Op = primitive(
    "embed",
    kernels.embed,
    (lambda g, out, like, *, dim, start, size: narrow_op(g, dim=dim, start=start, length=shape_of(like)[dim]),),
    linear=True,
    infer=lambda shape, dim, start, size: (*shape[:dim], size, *shape[dim + 1 :]),
    size_params=("start", "size"),
    node="SliceBackwardBackward0",
    place=lambda g, *, dim, start, size: _range_text(dim, start, g[dim]),
    digits="kernel",
    example=("vector", {"dim": 0, "start": 1, "size": 4}),
    along=True,
    samples=[
        sampling.one("real", 2, "m", dim=0, start=1, size=9),
        sampling.one("real", "n", 1, dim=1, start=0, size=3),
    ],
    doc="Zeros with the input in a range of an axis: the transpose of narrow.",
)


@front("narrow", op=narrow_op)
def narrow(input: Any, dim: int, start: int, length: int) -> Any:
    """Entries ``start`` … ``start + length - 1`` of an axis."""
    shape = shape_of(input)
    if not shape:
        raise ShapeError("narrow() cannot be applied to a 0-dim tensor.")
    dim = axis_of(dim, len(shape))
    if length < 0:
        raise ArgumentError(f"narrow(): length must be non-negative. (got {length})")
    if not isinstance(start, int) and (shape_of(start) or getattr(start, "dtype", start).kind not in "iu"):
        raise ArgumentError("start must be an 0-dim integral Tensor.")
    start = start if isinstance(start, int) else int(start)
    if not -shape[dim] <= start <= shape[dim]:
        raise IndexError(
            f"start out of range (expected to be in range of [-{shape[dim]}, {shape[dim]}], but got {start})"
        )
    start = length_of(input, dim) + start if start < 0 else start
    if not 0 <= start <= start + length <= shape[dim]:
        raise ShapeError(f"start ({start}) + length ({length}) exceeds dimension size ({shape[dim]}).")
    _inside(length_of(input, dim), start, length)
    return narrow_op(input, dim=dim, start=start, length=length)


def narrowed(input: Any, dim: int, start: int, length: int) -> Any:
    """:func:`narrow` to a range that lies inside of its axis at every size, as who calls this knows."""
    return narrow_op(input, dim=axis_of(dim, len(shape_of(input))), start=start, length=length)


def _inside(whole: Any, start: Any, length: Any) -> None:
    """Note that a range which sizes tell lies inside of its axis, where it may not do so at other sizes."""
    for made in (start, length, whole - (start + length)) if {start.__class__, length.__class__} != {int} else ():
        if hasattr(made, "is_behind"):
            made.is_behind()


def _arrays(tensors: Any, name: str) -> tuple[Any, ...]:
    if not isinstance(tensors, (tuple, list)):
        got = type(tensors).__name__
        raise ArgumentError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not {got}")
    if not tensors:
        words = "stack expects a non-empty TensorList" if name == "stack" else None
        raise ArgumentError(words or f"torch.{name}(): expected a non-empty list of Tensors")
    for k, x in enumerate(tensors):
        if not hasattr(x, "dtype") and not isinstance(x, (Number, list, tuple)):
            raise ArgumentError(f"expected Tensor as element {k} in argument 0, but got {type(x).__name__}")
    return tuple(tensors)


@front("cat", "concat", "concatenate", op=concat_op, method=False)
def cat(tensors: Sequence[Any], dim: int = 0) -> Any:
    """Tensors joined along the axis ``dim``; their other sizes must agree.

    Raises ``ShapeError`` where they do not, and ``ArgumentError`` for no tensors.
    """
    xs = _arrays(tensors, "cat")
    shapes = [shape_of(x) for x in xs]
    full = next((s for s in shapes if s != (0,)), (0,))
    if not full:
        raise ShapeError("zero-dimensional tensor (at position 0) cannot be concatenated; use stack()")
    if full == (0,):  # and where all are such vectors, torch takes any axis
        return concat_op(*xs, dim=0)
    axis = axis_of(dim, len(full))
    nothing = (*full[:axis], 0, *full[axis + 1 :])  # a vector of no entries goes with everything
    for k, s in enumerate(shapes):
        if s == (0,) not in (full, nothing):
            xs = (*xs[:k], reshape_op(xs[k], shape=nothing), *xs[k + 1 :])
        elif len(s) != len(full):
            raise ShapeError(f"Tensors must have same number of dimensions: got {len(full)} and {len(s)}")
        elif odd := [(a, b) for j, (a, b) in enumerate(zip(full, s, strict=True)) if j != axis and a != b]:
            raise ShapeError(
                f"Sizes of tensors must match except in dimension {axis}. Expected size {odd[0][0]} but got size "
                f"{odd[0][1]} for tensor number {k} in the list: shapes {', '.join(map(str, shapes))}."
            )
    return concat_op(*xs, dim=axis)


@front("stack", op=concat_op, method=False)
def stack(tensors: Sequence[Any], dim: int = 0) -> Any:
    """Tensors of one shape joined along a new axis ``dim``.

    Raises ``ShapeError`` for several shapes, and ``ArgumentError`` for no tensors.
    """
    xs = _arrays(tensors, "stack")
    shapes = [tuple(shape_of(x)) for x in xs]
    for k, s in enumerate(shapes):
        if s != shapes[0]:
            raise ShapeError(
                f"stack expects each tensor to be equal size, but got {list(shapes[0])} at entry 0 and {list(s)} at "
                f"entry {k}"
            )
    axis = axis_of(dim, len(shapes[0]) + 1)
    return stack_op(*xs, dim=axis)


stack_op: Op = primitive(
    "stack",
    lambda *xs, dim: np.stack(xs, dim),
    lambda i, g, out, *likes, dim: select_op(g, dim=dim, index=i),
    jvp=lambda i, t, out, *likes, dim: stack_op(
        *(t if k == i else zeros_like(x) for k, x in enumerate(likes)), dim=dim
    ),
    infer=lambda *shapes, dim: _joined_shape(shapes, dim, len(shapes), dim),
    code=lambda *xs, dim: f"np.stack({shape_text(xs)}, {dim})",
    stacks=True,
    together=True,
    digits="kernel",
    example=("vector", "vector", {"dim": 0}),
    samples=[
        sampling.many(("real", "n", "m"), ("real", "n", "m"), dim=0),
        sampling.many(("real", "n"), ("real", "n"), dim=1),
    ],
    rises=True,
    doc="Arrays joined along a new axis.",
)


select_op: Op = primitive(
    "select",
    lambda x, dim, index: x[(slice(None),) * dim + (index,)],
    (
        lambda g, out, like, *, dim, index: embed_op(
            unsqueeze_op(g, dim=dim), dim=dim, start=index, size=shape_of(like)[dim]
        ),
    ),
    linear=True,
    infer=lambda shape, dim, index: (*shape[:dim], *shape[dim + 1 :]),
    code=lambda x, dim, index: f"{closed(x)}[{':, ' * dim}{index}]",
    fused=("SelectBackward", None),
    view=lambda x, dim, index: x[(*(slice(None),) * dim, index, ...)],
    put_back=lambda whole, part, dim, index: _with_part(whole, part, dim, int(index)),
    example=("vector", {"dim": 0, "index": 1}),
    samples=[sampling.one("real", "n", "m", dim=0, index=1), sampling.one("real", "n", "m", dim=1, index=2)],
    doc="One entry of an axis.",
)


@front("select", op=select_op)
def select(input: Any, dim: int, index: int) -> Any:
    """Entry ``index`` of the axis ``dim``."""
    shape = shape_of(input)
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim = axis_of(dim, len(shape))
    if not -shape[dim] <= index < shape[dim]:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(shape)} at dimension {dim}")
    return select_op(input, dim=dim, index=index % length_of(input, dim) if index < 0 else index)


@front("unbind", op=select_op)
def unbind(input: Any, dim: int = 0) -> tuple[Any, ...]:
    """All entries of an axis, as a tuple."""
    shape = shape_of(input)
    if not shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    axis = axis_of(dim, len(shape))
    fixed_length(input, axis)  # a program may count them
    places = of_this_length(input, axis, range(shape[axis]))
    return tuple([select_op(input, dim=axis, index=k) for k in places])


@front("split", op=narrow_op, words={"tensor": "input", "split_size": "split_size_or_sections"})
def split(input: Any, split_size_or_sections: Any, dim: int = 0) -> tuple[Any, ...]:
    """Ranges of an axis: of one size (the last may be smaller), or of the sizes listed."""
    shape = shape_of(input)
    if not shape:
        raise ShapeError("split expects at least a 1-dimensional tensor")
    axis = axis_of(dim, len(shape))
    total = shape[axis]
    given = split_size_or_sections
    sizes = given.tolist() if hasattr(given, "tolist") else given
    fits.parted(sizes, total, dim)
    if isinstance(sizes, int):
        made, sizes = sizes, operator.index(sizes)
        if total and sizes:
            length, count = length_of(input, axis), total // sizes
            if count * sizes == total and hasattr(made, "is_share") and made.is_share(length, count):
                return _shares(input, axis, count)
            fixed(made)
            fixed(-(-length // sizes))  # a program may count them
        sizes = [min(sizes, total - k) for k in range(0, total, sizes)] if total else [0]
    starts = [*itertools.accumulate(sizes, initial=0)][:-1]
    if total and any(hasattr(n, "fixed") for n in sizes) and all(hasattr(s, "fixed") for s in starts[1:]):
        fixed(length_of(input, axis) - (starts[-1] + sizes[-1]))
        return tuple([narrow_op(input, dim=axis, start=s, length=n) for s, n in zip(starts, sizes, strict=True)])
    if sizes and total:
        # Of another length, the last range is another one; and so are all where a size says how long they are.
        first = 0 if hasattr(given, "fixed") else len(sizes) - 1
        return _ranges(input, axis, sizes, [*sizes[:first], *of_this_length(input, axis, sizes[first:])])
    return _ranges(input, axis, sizes, sizes)


def _ranges(x: Any, axis: int, sizes: Sequence[int], lengths: Sequence[int]) -> tuple[Any, ...]:
    """Ranges of an axis one after another; ``lengths`` are ``sizes``, some of which remember what they are made of."""
    starts = map(int, itertools.accumulate(sizes, initial=0))
    return tuple([narrow_op(x, dim=axis, start=s, length=n) for s, n in zip(starts, lengths, strict=False)])


def _shares(x: Any, axis: int, count: int) -> tuple[Any, ...]:
    """As many ranges of one length, which fill an axis."""
    whole = length_of(x, axis)
    length = whole.share(count) if hasattr(whole, "share") else whole // count
    return tuple([narrow_op(x, dim=axis, start=length * k, length=length) for k in range(count)])


@front("chunk", op=narrow_op)
def chunk(input: Any, chunks: int, dim: int = 0) -> tuple[Any, ...]:
    """At most ``chunks`` ranges of an axis, all but the last of equal size."""
    shape = shape_of(input)
    if not shape:
        raise ShapeError("chunk expects at least a 1-dimensional tensor")
    if chunks < 1:
        raise ShapeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    axis = axis_of(dim, len(shape))
    total = shape[axis]
    if total and total % chunks == 0 and not hasattr(chunks, "fixed"):
        return _shares(input, axis, chunks)
    part = -(-total // chunks)
    sizes = [min(part, total - k) for k in range(0, total, part)] if total else [0] * chunks
    return _ranges(input, axis, sizes, of_this_length(input, axis, sizes))
