"""What losses and other functions of several tensors demand of their shapes, in torch's words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.dtypes import torch_name
from symgrad.errors import ArgumentError, DtypeError, ShapeError
from symgrad.op import shape_of


def of_vectors(name: str, a: Any, b: Any) -> None:
    """Two vectors of one dtype and one length."""
    shapes, dtypes = [tuple(shape_of(x)) for x in (a, b)], [getattr(x, "dtype", None) for x in (a, b)]
    if any(len(shape) != 1 for shape in shapes):
        raise ShapeError(f"1D tensors expected, but got {len(shapes[0])}D and {len(shapes[1])}D tensors")
    if all(dtype is not None for dtype in dtypes) and dtypes[0] != dtypes[1]:
        here, there = map(torch_name, dtypes)  # type: ignore[arg-type]
        raise DtypeError(f"{name} : expected both vectors to have same dtype, but found {here} and {there}")
    if shapes[0] != shapes[1] and all(isinstance(shape[0], int) for shape in shapes):
        raise unlike(shapes[0][0], shapes[1][0])


def unlike(n: int, m: int) -> ShapeError:
    """What torch says of vectors of two lengths."""
    return ShapeError(
        f"inconsistent tensor size, expected tensor [{n}] and src [{m}] to have the same number of elements, but "
        f"got {n} and {m} elements respectively"
    )


def no_product(a: tuple[Any, ...], b: tuple[Any, ...]) -> ShapeError:
    """What torch says of a matrix product whose inner sizes differ, by the function that it computes it with."""
    if not a or not b:
        return ShapeError(f"both arguments to matmul need to be at least 1D, but they are {len(a)}D and {len(b)}D")
    if all(isinstance(n, int) for n in (*a, *b)):
        if len(a) == len(b) == 1:
            return unlike(a[0], b[0])
        if len(a) >= 2 and len(b) == 1:
            rows = math.prod(a[:-1])  # a batch of matrices times a vector is one matrix of all their rows
            return ShapeError(
                f"size mismatch, got input ({rows}), mat ({rows}x{a[-1]}), vec ({b[0]}): the last axis of the matrix "
                f"of shape {tuple(a)} must equal the only axis of the vector."
            )
        if len(a) == 1 and len(b) == 2:
            a = (1, *a)  # a vector from the left is a row
    shown = " and ".join("x".join(map(str, s)) for s in (a, b))
    return ShapeError(
        f"mat1 and mat2 shapes cannot be multiplied ({shown}): the last axis of the first must equal the "
        f"{'only' if len(b) == 1 else 'second-last'} axis of the second."
    )


def _called(name: str) -> str:
    """A function by the name that torch's errors give it: ``logdet`` stands outside of ``linalg``."""
    return name if name == "logdet" else f"linalg.{name}"


def matrix(name: str, x: Any) -> None:
    """At least rows and columns."""
    if len(shape_of(x)) < 2:
        raise no_square(name, shape_of(x))


def no_square(name: str, shape: tuple[Any, ...]) -> ShapeError:
    """What torch says where square matrices are asked for."""
    if len(shape) < 2:
        return ShapeError(
            f"{_called(name)}: The input tensor A must have at least 2 dimensions. Its shape is {tuple(shape)}."
        )
    return ShapeError(
        f"{_called(name)}: A must be batches of square matrices, but they are {shape[-2]} by {shape[-1]} matrices"
    )


def unfit_system(name: str, a: Any, b: Any) -> ShapeError:
    """What torch says of a system whose right side, of shape ``b``, has not as many rows as the matrix."""
    shown = (f"{shape[-2]}x{shape[-1]}" if len(shape) > 1 else f"{shape[0]}x1" for shape in (a, b))
    return ShapeError(f"linalg.{name}: Incompatible shapes of A and B for the equation AX = B ({' and '.join(shown)})")


def batches(a: tuple[Any, ...], b: tuple[Any, ...]) -> None:
    """As many matrices in both batches, and as many rows in those of the second as columns in those of the first."""
    if (a[0], a[2]) != tuple(b[:2]):
        raise ShapeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{a[0]}, {a[2]}] but got: [{b[0]}, "
            f"{b[1]}]. The shapes are {tuple(a)} and {tuple(b)}."
        )


def wrong_ranks(name: str, ranks: tuple[int, int]) -> str:
    """torch's words for operands of a product that have too many axes, or too few."""
    if name == "mm":
        return f"{'self' if ranks[0] != 2 else 'mat2'} must be a matrix"
    if name == "mv":
        return f"vector + matrix @ vector expected, got 1, {ranks[0]}, {ranks[1]}"
    return f"batch{1 if ranks[0] != 3 else 2} must be a 3D tensor"


def prelu(input: Any, weight: Any) -> None:
    """One weight, or one per channel."""
    shape, weights = shape_of(input), shape_of(weight)
    if len(weights) > 1:
        raise ShapeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {len(weights)}")
    if not weights or weights[0] == 1:
        return
    if not shape:
        raise ShapeError("Not allow zero-dim input tensor.")
    channels = shape[1] if len(shape) > 1 else 1
    if isinstance(channels, int) and weights[0] != channels:
        raise ShapeError(
            f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {weights[0]} and channel "
            f"size = {channels}."
        )


def channels(input: Any, named: dict[str, Any]) -> None:
    """As many entries as there are channels (axis 1) in each of some parameters; None stands for none."""
    shape = shape_of(input)
    for name, x in named.items():
        have, wanted = None if x is None else math.prod(shape_of(x)), shape[1] if len(shape) > 1 else 0
        if have is not None and have != wanted:
            raise ShapeError(f"{name} should contain {wanted} elements not {have}")


def _rows(input: Any) -> tuple[int, int]:
    """How many samples and classes: a matrix, or a vector for one sample."""
    shape = shape_of(input)
    if len(shape) > 2 or (shape and not shape[-1]):
        raise ShapeError(f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(shape)}")
    return (shape[0], shape[1]) if len(shape) == 2 else (1, shape[0] if shape else 1)


def multi_margin(input: Any, target: Any, weight: Any) -> None:
    """A class for every sample, and a weight for every class."""
    count, classes = _rows(input)
    if len(shape_of(target)) > 1 or shape_of(target) not in ((count,), () if count == 1 else (count,)):
        raise ShapeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch "
            f"size). Expected target size [{count}], but got {list(shape_of(target))}. Input has shape "
            f"{list(shape_of(input))}"
        )
    if weight is not None and shape_of(weight) != (classes,):
        raise ShapeError(f"inconsistent weight size, expected {classes} but got {list(shape_of(weight))}")
    _long(target)


def multilabel_margin(input: Any, target: Any) -> None:
    """Labels in the shape of the input."""
    _rows(input)
    if shape_of(target) != shape_of(input) and (len(shape_of(input)) == 2 or len(shape_of(target)) > 1):
        raise ShapeError(
            f"inconsistent target size: {list(shape_of(target))} for input of size: {list(shape_of(input))}"
        )
    _long(target)


def _long(target: Any) -> None:
    dtype = getattr(target, "dtype", None)
    if dtype is not None and dtype.kind not in "iu":
        raise DtypeError(f"expected scalar type Long but found {torch_name(dtype)}")


def triplet(anchor: Any, positive: Any, negative: Any) -> None:
    """Three tensors of as many axes."""
    a, p, n = (len(shape_of(x)) for x in (anchor, positive, negative))
    if not a == p == n:
        raise ShapeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {a}D, positive {p}D, and negative {n}D inputs"
        )


def margin_ranking(input1: Any, input2: Any, target: Any) -> None:
    """Three tensors of as many axes."""
    shapes = [list(shape_of(x)) for x in (input1, input2, target)]
    if len({len(shape) for shape in shapes}) > 1:
        raise ShapeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: torch.Size({shapes[0]}), input2: torch.Size({shapes[1]}), target: torch.Size({shapes[2]})"
        )


def normalized(name: str, input: Any, wanted: tuple[Any, ...], weight: Any, bias: Any = None) -> None:
    """The last axes as ``normalized_shape`` says, and parameters of that shape."""
    shape, sizes = tuple(shape_of(input)), list(wanted)
    if not wanted:
        raise ShapeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []"
        )
    for kind, given in (("weight", weight), ("bias", bias)):
        if given is not None and tuple(shape_of(given)) != wanted and not _letters(shape_of(given)):
            raise ShapeError(
                f"Expected {kind} to be of same shape as normalized_shape, but got {kind} of shape "
                f"{list(shape_of(given))} and normalized_shape = {sizes}"
            )
    if shape[-len(wanted) :] != wanted and not _letters(shape):
        first = ", " if name == "layer_norm" else ""
        raise ShapeError(
            f"Given normalized_shape={sizes}, expected input with shape [*{first}{str(sizes)[1:]}, but got input of "
            f"size{list(shape)}"
        )


def _letters(shape: Any) -> bool:
    return any(isinstance(size, str) for size in shape)


def unpooled(input: Any, indices: Any) -> None:
    """A place for every entry."""
    if shape_of(input) != shape_of(indices):
        raise ShapeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(shape_of(input))}) but got "
            f"indices tensor with shape: {list(shape_of(indices))}"
        )


def gathered(shape: tuple[Any, ...], index: tuple[Any, ...], dim: int) -> None:
    """Places in no more rows than there are."""
    for axis, (have, wanted) in enumerate(zip(shape, index, strict=True)):
        if axis != dim and not _letters((have, wanted)) and wanted > have:
            raise ShapeError(
                f"Size does not match at dimension {axis} expected index {list(index)} to be no larger than self "
                f"{list(shape)} apart from dimension {dim}"
            )


def parts(real: Any, imag: Any) -> None:
    """Two real arrays of one floating dtype."""
    dtypes = [getattr(x, "dtype", None) for x in (real, imag)]
    if any(dtype is None for dtype in dtypes):
        return
    names = [torch_name(dtype) for dtype in dtypes]  # type: ignore[arg-type]
    if any(dtype.kind != "f" for dtype in dtypes):  # type: ignore[union-attr]
        raise DtypeError(f"Expected both inputs to be Half, Float or Double tensors but got {names[0]} and {names[1]}")
    if dtypes[0] != dtypes[1]:
        raise DtypeError(
            f"Expected object of scalar type {names[0]} but got scalar type {names[1]} for second argument"
        )


def reshaped(sizes: Any, new: list[int], total: int) -> None:
    """Sizes whose product is the number of entries, with one of them left open at most."""
    if new.count(-1) > 1:
        raise ShapeError("only one dimension can be inferred")
    if not total and -1 in new:
        raise ShapeError(
            f"cannot reshape tensor of 0 elements into shape {new} because the unspecified dimension size -1 can be "
            "any value and is ambiguous"
        )
    if math.prod(new) != total or min(new, default=0) < 0:
        raise ShapeError(f"shape '{list(sizes)}' is invalid for input of size {total}")


def whole(sizes: tuple[Any, ...]) -> None:
    """Sizes and axes that are whole numbers."""
    for k, size in enumerate(sizes):
        if isinstance(size, float):
            raise TypeError(f"argument 'size' must be tuple of ints, not float (element {k} is {size})")


def apart(first: tuple[int, ...], second: tuple[int, ...]) -> str | None:
    """torch's words where two shapes do not broadcast against each other, from the last axis on; None where they do."""
    for axis in range(1, 1 + min(len(first), len(second))):
        a, b = first[-axis], second[-axis]
        if a != b and 1 not in (a, b):
            dim = max(len(first), len(second)) - axis
            return f"The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton dimension {dim}"
    return None


def together(shapes: Sequence[tuple[int, ...]]) -> str | None:
    """torch's words for the first shape that does not broadcast against those before it; None where all do."""
    whole: tuple[int, ...] = ()
    for shape in shapes:
        if (words := apart(whole, shape)) is not None:
            return words
        whole = np.broadcast_shapes(whole, shape)
    return None


def expanded(old: tuple[Any, ...], new: list[Any]) -> None:
    """At least as many axes as before, which keep their size or stretch from 1."""
    offset = len(new) - len(old)
    if offset < 0:
        raise ShapeError(
            f"expand(torch.FloatTensor{{{list(old)}}}, size={list(new)}): the number of sizes provided ({len(new)}) "
            f"must be greater or equal to the number of dimensions in the tensor ({len(old)})"
        )
    for k, size in enumerate(new[:offset]):
        if not isinstance(size, str) and size < 0:
            raise ShapeError(
                f"The expanded size of the tensor ({size}) isn't allowed in a leading, non-existing dimension {k}"
            )
    wrong = [k for k, size in enumerate(old) if size not in (1, new[offset + k])]
    if wrong:
        k = wrong[-1]
        raise ShapeError(
            f"The expanded size of the tensor ({new[offset + k]}) must match the existing size ({old[k]}) at "
            f"non-singleton dimension {offset + k}.  Target sizes: {list(new)}.  Tensor sizes: {list(old)}"
        )


def parted(sizes: Any, total: int, dim: int) -> None:
    """A size to part an axis by, or sizes of parts that make it up."""
    if isinstance(sizes, int):
        if sizes < 0:
            raise ShapeError(f"split expects split_size be non-negative, but got split_size={sizes}")
        if total and not sizes:
            raise ShapeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {total}")
        return
    if isinstance(sizes, float):
        raise TypeError("split_with_sizes(): argument 'split_sizes' (position 2) must be tuple of ints, not float")
    if any(size < 0 for size in sizes):
        raise ShapeError(
            f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={list(sizes)}"
        )
    if sum(sizes) != total:
        raise ShapeError(
            f"split_with_sizes expects split_sizes to sum exactly to {total} (input tensor's size at dimension {dim}), "
            f"but got split_sizes={list(sizes)}"
        )


def permuted(order: tuple[int, ...], ndim: int) -> None:
    """An order of all axes."""
    if len(order) != ndim:
        raise ShapeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = {len(order)}"
        )
    if len(set(order)) < ndim:
        raise ShapeError(f"permute(): duplicate dims are not allowed: {list(order)}.")


def named_once(dims: Any) -> None:
    """Axes of which none is named twice."""
    for dim in dims:
        if dims.count(dim) > 1:
            raise ShapeError(f"dim {dim} appears multiple times in the list of dims")


def moved(source: list[int], destination: list[int], src: list[int], dst: list[int]) -> None:
    """As many axes as places for them, each named once."""
    if len(src) != len(dst):
        raise ArgumentError(
            f"movedim: Invalid source or destination dims: source ({source} dims) should contain the same number of "
            f"dims as destination ({destination} dims)"
        )
    for name, given, found in (("source", source, src), ("destination", destination, dst)):
        if len(set(found)) < len(found):
            raise ArgumentError(f"movedim: repeated dim in `{name}` ({given})")
