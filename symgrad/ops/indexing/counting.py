"""Which entries are not zero, how often numbers occur, histograms.  What is counted by values has no derivative.

The weights of ``bincount`` have one.
"""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from symgrad.errors import ArgumentError, AutogradError, DtypeError
from symgrad.op import front, refusal, refusing, shape_of
from symgrad.ops.calls.results import Named, named
from symgrad.ops.calls.still import decided_by, recorded, values_of
from symgrad.ops.elementwise.select import ne
from symgrad.ops.indexing.scatter import scatter_add
from symgrad.ops.reductions.extremes import amax
from symgrad.ops.reductions.sums import cast_op

_INT = np.dtype(np.int64)


def _indices(input: Any, values: Any) -> Any:
    """Whole numbers as what ``input`` is: a tensor, or an array."""
    wrap = getattr(input, "new_tensor", None)
    return np.asarray(values, _INT) if wrap is None else wrap(values, dtype=_INT)


def _present(input: Any) -> Any:
    """Which entries are not zero."""
    return decided_by(input if getattr(input, "dtype", None) in (None, np.bool_) else ne(input, 0))


@overload
def nonzero(input: Any, *, as_tuple: Literal[False] = False) -> Any: ...
@overload
def nonzero(input: Any, *, as_tuple: Literal[True]) -> tuple[Any, ...]: ...
@front("nonzero")
def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """Places of the entries that are not zero: shape (count, ndim), or with ``as_tuple`` one row of places per axis."""
    values = _present(input)
    if as_tuple:
        return tuple(_indices(input, row) for row in np.nonzero(np.atleast_1d(values)))
    return _indices(input, np.argwhere(values))


@front("nonzero_static")
def nonzero_static(input: Any, *, size: int, fill_value: int = -1) -> Any:
    """The first ``size`` places of entries that are not zero, shape (size, ndim); ``fill_value`` where there are fewer.

    >>> import symgrad as sg
    >>> import numpy as np
    >>> sg.nonzero_static(np.array([0, 7, 5]), size=3)
    array([[ 1],
           [ 2],
           [-1]])
    """
    if size < 0:
        raise ArgumentError("nonzero_static: 'size' must be an non-negative integer")
    found = np.argwhere(_present(input))[:size]
    places = np.full((size, found.shape[1]), fill_value, np.int64)
    places[: len(found)] = found
    return _indices(input, places)


@front("argwhere")
def argwhere(input: Any) -> Any:
    """Places of the entries that are not zero: shape (count, ndim)."""
    return nonzero(input)


@front("unravel_index", method=False)
def unravel_index(indices: Any, shape: Any) -> tuple[Any, ...]:
    """The places along every axis that places in the flattened array stand for."""
    values = decided_by(indices)
    if values.dtype.kind not in "iu":
        raise ArgumentError(f"expected 'indices' to be integer dtype, but got {values.dtype}")
    if not isinstance(shape, (int, tuple, list)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    for size in sizes:
        if not hasattr(size, "__index__"):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(size)}")
    if any(size < 0 for size in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    if not sizes:
        return ()
    steps = np.cumprod((1, *sizes[:0:-1]))[::-1]
    return tuple(_indices(indices, values // step % size) for size, step in zip(sizes, steps, strict=True))


@front("bincount")
def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each number from 0 on occurs, or the sum of the ``weights`` that stand at it.

    Raises torch's errors for anything but one axis of whole numbers that are not negative.
    """
    values = values_of(input)
    if values.dtype.kind not in "ui":
        raise refusal("bincount", "", values.dtype)
    if values.ndim != 1 or values.min(initial=0) < 0:
        raise AutogradError(
            "bincount only supports 1-d non-negative integral inputs. "
            f"(It got shape {values.shape}, smallest {values.min(initial=0)}.)"
        )
    if minlength < 0:
        raise ArgumentError(f"minlength should be >= 0, got {minlength}")
    formula = recorded(input) and values.size > 0
    if formula:  # programs of a graph count other numbers, too, of which the largest is this one
        decided_by(amax(input))
    if weights is None and not formula:
        return _indices(input, np.bincount(values, minlength=minlength))
    if weights is not None and shape_of(weights) != values.shape:
        raise AutogradError(f"weights should be 1-d and have the same length as input ({values.shape})")
    count = max(minlength, int(values.max(initial=0)) + 1 if values.size else 0)
    if weights is None:
        return scatter_add(
            _indices(input, np.zeros(count, _INT)), 0, cast_op(input, dtype="int64"), np.ones_like(values, _INT)
        )
    if weights.dtype.kind != "f":
        decided_by(input)
        sums = np.bincount(values, values_of(weights), minlength)  # float64, as in torch
        return input.new_tensor(sums, dtype=sums.dtype) if hasattr(input, "new_tensor") else sums
    if weights.dtype.itemsize == 2:
        weights = cast_op(weights, dtype="float64")  # as in torch
    places = cast_op(input, dtype="int64") if formula else values.astype(_INT)
    return scatter_add(np.zeros(count, weights.dtype), 0, places, weights)


@front("histc")
@refusing({"b": "linspace_cpu", "ui": "histogram_cpu", "c": "aminmax_cpu"})
def histc(input: Any, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    """How many entries lie in each of ``bins`` equal parts of [min, max], or of their range if both are 0."""
    if bins <= 0:
        raise ArgumentError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    values = decided_by(input)
    if min > max:
        raise AutogradError(f"torch.histc: max must be larger than min (min={min}, max={max})")
    low, high = (min, max) if min != max or not values.size else (values.min(), values.max())
    if not np.isfinite([low, high]).all():
        raise AutogradError(f"torch.histc: range of [{low}, {high}] is not finite")
    low, high = (low - 1, high + 1) if low == high else (low, high)
    low, high = np.asarray(low, values.dtype), np.asarray(high, values.dtype)
    inside = values[(values >= low) & (values <= high)]
    # By torch's arithmetic, which tells on which side of an edge an entry lies that is there but for rounding.
    places = np.minimum(((inside - low) * bins / (high - low)).astype(np.int64), bins - 1)
    counts = np.bincount(places, minlength=bins).astype(values.dtype)
    wrap = getattr(input, "new_tensor", None)
    return counts if wrap is None else wrap(counts)


def _edges(values: Any, bins: Any, limits: Any, dim: int = 0) -> Any:
    """The edges of the parts: those given, or of so many equal parts of the limits or of the range of the values."""
    if not isinstance(bins, int):
        edges = values_of(bins)
        if edges.dtype != values.dtype or not edges.size:
            raise AutogradError(
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, and these at least 1 "
                f"element, but got input with dtype {values.dtype} and {edges.size} bins for dimension {dim} with "
                f"dtype {edges.dtype}"
            )
    parts = bins if isinstance(bins, int) else edges.size - 1
    if parts <= 0:
        raise AutogradError(f"torch.histogram(): bins must be > 0, but got {parts} for dimension {dim}")
    if not isinstance(bins, int):
        return edges
    low, high = limits or ((values.min(), values.max()) if values.size else (0, 1))
    if not np.isfinite([low, high]).all():
        raise AutogradError(f"torch.histogramdd: dimension {dim}'s range [{low}, {high}] is not finite")
    if low > high:
        raise AutogradError(f"torch.histogramdd: min should not exceed max, but got min {low} max {high}")
    low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
    return np.linspace(low, high, bins + 1, dtype=values.dtype)


@front("histogram")
@refusing({"buic": "histogramdd"})
def histogram(input: Any, bins: Any = 100, *, range: Any = None, weight: Any = None, density: bool = False) -> Named:
    """How many entries (or what ``weight``) lies in each of ``bins`` parts, and the edges of these.

    ``bins`` is a number of equal parts of ``range``, which is that of the entries by default, or the edges themselves.
    With ``density`` the parts have a total area of 1.

    >>> import symgrad as sg
    >>> import numpy as np
    >>> counts, edges = sg.histogram(np.array([1.0, 2.0, 1.0]), 2, range=(0, 3))
    >>> counts, edges
    (array([2., 1.]), array([0. , 1.5, 3. ]))
    """
    values = decided_by(input)
    edges = _edges(values, bins, range)
    weights = None if weight is None else values_of(weight)
    if weights is not None and weights.shape != values.shape:
        raise AutogradError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor, but "
            f"got input with shape {list(values.shape)} and weight with shape {list(weights.shape)}"
        )
    if weights is not None and weights.dtype != values.dtype:
        raise DtypeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same "
            f"dtype, but got input({values.dtype}), and weight({weights.dtype})"
        )
    flat = None if weights is None else weights.ravel()
    counts = np.histogram(values.ravel(), edges, weights=flat, density=density)[0].astype(values.dtype)
    wrap = getattr(input, "new_tensor", None)
    return named("histogram")((counts, edges) if wrap is None else (wrap(counts), wrap(edges)))


@front("histogramdd", method=False)
@refusing({"buic": "histogramdd"})
def histogramdd(input: Any, bins: Any, range: Any = None, weight: Any = None, density: bool = False) -> Named:
    """How many points (or what ``weight``) lie in each cell of a grid, and the edges along every axis of it.

    The last axis of ``input`` holds the coordinates of a point.  ``bins`` is one number of parts for all of them, a
    number for each, or a vector of edges for each; ``range`` holds the two limits of the first coordinate, of the
    second and so on.  With ``density`` the cells have a total volume of 1.

    Raises torch's errors where numbers of coordinates, limits or weights do not fit.

    >>> import symgrad as sg
    >>> import numpy as np
    >>> counts, edges = sg.histogramdd(np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), [2, 2])
    >>> counts, edges[0]
    (array([[0., 1.],
           [1., 1.]]), array([0., 1., 2.]))
    """
    values = decided_by(input)
    if values.ndim < 2:
        raise AutogradError("torch.histogramdd: input tensor should have at least 2 dimensions")
    count = values.shape[-1]
    each = [bins] * count if isinstance(bins, int) else list(bins)
    if len(each) != count:
        if all(isinstance(b, int) for b in each):
            raise AutogradError(
                "histogramdd: The size of bins must be equal to the innermost dimension of the input. "
                f"(bins has {len(each)} entries, the input shape {values.shape}.)"
            )
        raise AutogradError(
            f"torch.histogramdd: expected {count} sequences of bin edges for a {count}-dimensional histogram but got "
            f"{len(each)}"
        )
    if range is not None and len(range) != 2 * count:
        raise AutogradError(
            f"torch.histogramdd: for a {count}-dimensional histogram range should have {2 * count} elements, but got "
            f"{len(range)}"
        )
    weights = None if weight is None else values_of(weight)
    if weights is not None and weights.shape != values.shape[:-1]:
        raise AutogradError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor "
            f"excluding its innermost dimension, but got input with shape {list(values.shape)} and weight with shape "
            f"{list(weights.shape)}"
        )
    points = values.reshape(-1, count)
    limits = [None if range is None else tuple(range[2 * k : 2 * k + 2]) for k in np.arange(count)]
    edges = [_edges(points[:, k], b, limits[k], k) for k, b in enumerate(each)]
    flat = None if weights is None else weights.ravel()
    counts = np.histogramdd(points, edges, density=density, weights=flat)[0].astype(values.dtype)
    wrap = getattr(input, "new_tensor", np.asarray)
    return named("histogramdd")((wrap(counts), tuple(map(wrap, edges))))
