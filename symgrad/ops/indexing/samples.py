"""Samples of the ops that read and write by an index, for their entries.

Places are numbers, and no size of an operand's: letters are read from recorded sizes by value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.op import sampling
from symgrad.op.sampling import Case, Sample
from symgrad.ops.indexing.gathering import gather_op, one_hot_op, scatter_op
from symgrad.ops.indexing.getitem import HOLE, Index, getitem_op, index_put_op, put_op
from symgrad.ops.indexing.scatter import (
    scatter_combine_op,
    scatter_others_op,
    scatter_others_twice_op,
    scatter_plus_op,
    scatter_set_op,
)
from symgrad.ops.indexing.windows import windows_op, windows_sum_op

_BASIC = (
    1,
    slice(0, 2),
    (slice(None), 1),
    (slice(None, None, -1),),
    (None, slice(None), slice(1, None)),
    (Ellipsis, 0),
    (slice(1, 3), slice(None, None, 2)),
    (slice(None, -1),),
)
_FANCY = (
    np.array([0, 2, 2]),
    (np.array([0, 2, 1, 0]), np.array([1, 1, 3, 1])),
    (slice(None), np.array([[1, 0], [1, 3]])),
    np.array([-1, 0]),
)


_HOLES: tuple[tuple[Any, tuple[tuple[Any, ...], ...]], ...] = (
    (HOLE, (("n", "p"),)),
    ((slice(None), HOLE), (("p",),)),
    ((HOLE, HOLE), (("p", 1), ("n",))),
    ((HOLE, slice(0, 2)), (("p",),)),
)
"""Indices with operands, and the shapes of these."""


def _picking(index: Any, shapes: tuple[tuple[Any, ...], ...]) -> Sample:
    """``x[index]`` with arrays of places as operands, negative and repeated ones among them."""
    return lambda make: (
        (make("real", "n", "m"), *(make("place", *shape) for shape in shapes)),
        {"index": Index(index)},
    )


def _putting(index: Any, shapes: tuple[tuple[Any, ...], ...]) -> Sample:
    def sample(make: Any) -> Case:
        shape, places = (9, 7), [make("place", *shape) for shape in shapes]
        got = np.zeros(shape)[Index(index).filled(places)].shape
        return (make("real", *got), *places), {"index": Index(index), "shape": shape}

    return sample


def _writing(index: Any) -> Sample:
    def sample(make: Any) -> Case:
        x, places = make("real", "n", "m"), np.array([2, -1, 0])  # each once: which of two writes counts is not said
        return (x, make("real", *x[Index(index).filled([places])].shape), places), {"index": Index(index)}

    return sample


def _masked(make: Any) -> Case:
    return (make("real", 3, 4),), {"index": Index(np.arange(12).reshape(3, 4) % 3 == 1)}


def _put(index: Any) -> Sample:
    def sample(make: Any) -> Case:
        # No input has the target's sizes, so they stay the same numbers.
        shape = (9, 8)
        got = np.zeros(shape)[index].shape
        return (make("real", *got),), {"index": Index(index), "shape": shape}

    return sample


def _index_put(index: Any) -> Sample:
    def sample(make: Any) -> Case:
        x = make("real", "n", "m")
        return (x, make("real", *x[index].shape)), {"index": Index(index)}

    return sample


def _scattered(constant: bool = False, places: tuple[int, ...] = (0, 2), **params: Any) -> Sample:
    """Some places of every column; none of them twice unless ``places`` says so."""

    def sample(make: Any) -> Case:
        count = len(places)
        index = np.broadcast_to(np.array(places).reshape(-1, 1), make.shape(count, "m")).copy()
        src = 9 if constant else make("real", count, "m")
        return (make("real", "n", "m"), src, index), {"dim": 0, **sampling.given(make, params)}

    return sample


def _pulled(sample: Sample) -> Sample:
    """The same with a cotangent of the sources before it."""

    def pulled(make: Any) -> Case:
        (x, src, index), params = sample(make)
        return (make("real", len(index), "m"), x, src, index), params

    return pulled


def _ordered(reduce: str) -> Callable[[Any], str]:
    """The largest and smallest of real numbers; complex ones have only a product."""
    return lambda make: "prod" if make.dtype.kind == "c" else reduce


def _gather(make: Any) -> Case:
    return (make("real", "n", "m"), make("index:n", 2, "m")), {"dim": 0}


def _adding(make: Any) -> Case:
    return (make("real", 9, "m"), make("real", 2, "m"), make("index:n", 2, "m")), {"dim": 0}


def _scatter(make: Any) -> Case:
    return (make("real", 2, "m"), make("index:n", 2, "m")), {"dim": 0, "shape": (9, make.size("m"))}


getitem_op.samples = [
    *(sampling.one("real", "n", "m", index=Index(index)) for index in (*_BASIC, *_FANCY)),
    sampling.small(_masked),
    *(_picking(*given) for given in _HOLES),
]
put_op.samples = [
    _put(np.array([0, 2, 2])),
    _put((slice(None), 1)),
    _put((slice(1, 3), slice(None, None, 2))),
    *(_putting(*given) for given in _HOLES),
]
index_put_op.samples = [
    _index_put((slice(None), 1)),
    _index_put(np.array([0, 2])),
    _index_put((slice(0, 2),)),
    _writing(HOLE),
    _writing((slice(None), HOLE)),
]
gather_op.samples = [_gather]
scatter_op.samples = [_scatter]
one_hot_op.samples = [sampling.many(("index:n", "m"), classes=9, dtype=sampling.real)]
scatter_plus_op.samples = [_adding]
scatter_set_op.samples = [_scattered(), _scattered(constant=True)]
scatter_combine_op.samples = [_scattered(reduce=_ordered(r), include_self=True) for r in ("prod", "amax", "amin")]
scatter_others_op.samples = [_scattered(places=(0, 2, 0, 0), include_self=s) for s in (True, False)]
scatter_others_twice_op.samples = [sampling.small(_pulled(sample)) for sample in scatter_others_op.samples]
windows_op.samples = [
    sampling.one("real", "m", dim=0, size=2, step=1, dilation=1),
    sampling.one("real", 7, "m", dim=0, size=3, step=2, dilation=1),
    sampling.one("real", "m", 7, dim=1, size=2, step=1, dilation=2),
]
windows_sum_op.samples = [sampling.one("real", 3, "m", 2, dim=0, step=2, dilation=1, size=7)]
