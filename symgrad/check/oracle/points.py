"""Other points at which a change or a name has to be right: values of the same design as the given ones, and sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from symgrad.check.asking.arrays import as_array
from symgrad.check.asking.calling import like
from symgrad.check.asking.subject import Subject
from symgrad.check.oracle.trust import symmetrised

Design = Mapping[int, Callable[[Any], Any]]
"""What makes other values of an argument such as the given ones are, by its number."""


def design_of(subject: Subject) -> Design:
    """The arguments that are special: matrices that are symmetric or orthogonal, shares, directions, masks and labels.

    A gradient that takes it for granted is right all the same: Y - P of a cross entropy for labels Y that sum to one,
    and W * (A - U @ V) for weights of zeros and ones, whose squares they are.
    """
    found = {}
    for k, value in enumerate(subject.given_args()[: subject.given]):
        array = as_array(value) if k in subject.data else np.empty(0, dtype=bool)
        if array.dtype.kind in "fc" and array.size > 1:
            steps: list[Callable[[Any], Any]] = [made for holds, made in _MATRICES if holds(array)]
            steps += [made for holds, made in _SCALES if holds(array)][:1]  # a label has the sum of one, and the length
            if k not in subject.positions and np.isin(array, (-1, 0, 1)).all():
                steps = [np.sign if (array < 0).any() else _is_more_than_nothing, *steps]
            if steps:
                found[k] = _one_after_the_other(steps)
    return found


def each_design(array: Any) -> list[Callable[[Any], Any]]:
    """What makes other values such as these, one way of being special at a time: identities are so in all of them."""
    return [made for holds, made in (*_MATRICES, *_SCALES) if array.size > 1 and holds(array)]


def at_other_values(subject: Subject, low: float, high: float, rng: np.random.Generator, design: Design) -> list[Any]:
    """Arguments that are multiplied by numbers between two, entry by entry, and of the same design."""
    args = subject.given_args()
    for k in [k for k in subject.data if k < subject.given]:
        array = as_array(args[k])
        if array.dtype.kind in "fc":
            moved = array * (low + (high - low) * rng.random(array.shape))
            args[k] = _given_back(subject, k, design[k](moved) if k in design else moved)
    return args


def at_other_sizes(subject: Subject, design: Design) -> Iterator[list[Any]]:
    """Arguments of twice their sizes, and such that all axes of one length have one entry less, or more.

    Twice is what pooling and wavelets take; less of a matrix has the same signs.
    """
    sizes = sorted({n for k in subject.data for n in subject.args[k].shape if n > 1})
    twice = {n: [*range(n), *range(n)] for n in sizes}
    for rows in (twice, *({n: row} for n in sizes for row in ([*range(n - 1)], [*range(n), 0]))):
        args, changed = subject.given_args(), False
        for k in subject.data:
            array = made = as_array(args[k])
            for axis, size in enumerate(array.shape):
                if len(rows.get(size, ())) > 1:
                    made = np.take(made, rows[size], axis)
            if made is not array:
                args[k] = _given_back(subject, k, design[k](made) if k in design else made)
                changed = True
        if changed:  # no axis is shortened to a single entry
            yield args


def _given_back(subject: Subject, k: int, array: Any) -> Any:
    """An array as the argument that it stands for was given."""
    return like(subject.originals[k], array.astype(subject.args[k].dtype))


def _one_after_the_other(steps: list[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def made(array: Any) -> Any:
        with np.errstate(all="ignore"):  # a row of shares may have lost all that it had
            for step in steps:
                array = step(array)
        return array

    return made


def _is_square(array: Any) -> bool:
    return bool(array.ndim > 1 and array.shape[-1] == array.shape[-2] > 1)


def _is_symmetric(array: Any) -> bool:
    return _is_square(array) and bool(np.allclose(array, array.swapaxes(-1, -2).conj()))


def _is_orthogonal(array: Any) -> bool:
    return _is_square(array) and bool(np.allclose(array @ array.swapaxes(-1, -2).conj(), np.eye(array.shape[-1])))


def _nearest_orthogonal(array: Any) -> Any:
    left, _, right = np.linalg.svd(array)
    return left @ right


def _sums_to_one(axis: int | None) -> tuple[Callable[[Any], bool], Callable[[Any], Any]]:
    return (
        lambda a: (axis is None or (a.ndim > 1 and a.shape[axis] > 1)) and np.allclose(a.sum(axis), 1),
        lambda a: a / a.sum(axis, keepdims=True),
    )


def _is_of_directions(array: Any) -> bool:
    return array.ndim > 0 and array.shape[-1] > 1 and bool(np.allclose(np.linalg.norm(array, axis=-1), 1))


def _directions(array: Any) -> Any:
    return array / np.linalg.norm(array, axis=-1, keepdims=True)


def _is_more_than_nothing(array: Any) -> Any:
    return np.abs(np.sign(array))


_MATRICES = ((_is_symmetric, symmetrised), (_is_orthogonal, _nearest_orthogonal))
_SCALES = (*map(_sums_to_one, (None, -1, 0)), (_is_of_directions, _directions))
"""What arrays may be by design, and what makes them so."""
