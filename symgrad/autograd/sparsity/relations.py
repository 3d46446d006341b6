"""Which entries of an operand each entry of an op's result depends on, read from the op's entry in the table.

A relation sorts the entries of the result and those of the operand into groups: an entry of the result depends on those
of the operand in its group, and an entry in group -1 on none.  That is a statement about the op and not about values:
entries may be listed that do not matter at the point (a superset), never the reverse.  In this order:

* entrywise and multilinear ops: the axes that result and operand share by their labels
* ops whose rule reads no values: the rule is a fixed linear map.  It is run on the numbers of the places, which tells
  where each goes, and on random numbers, which tell whether it goes there alone
* ops that say along which axes they mix entries (``mixes``, ``along``): the other axes
* all others: everything depends on everything
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.autograd.sparsity.pattern import INT
from symgrad.dtypes import is_floating
from symgrad.op import FROM
from symgrad.ops.rules.fitting import fit
from symgrad.tape.graph import FREED, Node
from symgrad.tape.observers import PackedRow

Labels = Sequence[Any]
Groups = tuple[Any, Any, int]
"""``(group of every result's entry, group of every operand's entry, number of groups)``."""

_TURN = 0.8 + 0.6j  # the real part of a value that an op takes alone, or the imaginary one, does not vanish
_EXACT = 1e-9


def relation(node: Node, i: int, arguments: Callable[[Node, Any], Any]) -> Groups | None:
    """The groups of a node's result and its operand ``i``; None where the entries are the same, place by place.

    ``arguments(node, saved)`` gives what the node's rules get.
    """
    op, out, own = node.op, tuple(node.shape), tuple(node.args[i].raw_shape)
    if op.entrywise:
        if own == out:
            return None
        return by_labels(out, range(len(out)), own, range(len(out) - len(own), len(out)))
    if op.kind == "multilinear":
        labels, output = op.einsum(*(tuple(_shape(arg)) for arg in node.args), **(node.params or {}))
        return by_labels(out, output, own, labels[i])
    if op.kind != "primitive":
        return _everything(out, own)
    found = _moved(node, i, arguments) if _fixed(node, i) else None
    if found is not None:
        return found
    unmixed = _unmixed(node, i)
    return _everything(out, own) if unmixed is None else by_labels(out, unmixed[0], own, unmixed[1])


def _shape(arg: Any) -> Any:
    return getattr(arg, "raw_shape", ())


def _everything(out: Sequence[int], own: Sequence[int]) -> Groups:
    return np.zeros(_count(out), INT), np.zeros(_count(own), INT), 1


def _count(shape: Sequence[int]) -> int:
    return int(np.prod(shape, dtype=INT))


# ---------------------------------------------------------------------------------------------- axes


def by_labels(out: Sequence[int], output: Labels, own: Sequence[int], labels: Labels) -> Groups:
    """The groups of arrays whose axes have labels: entries belong together where the labels of both agree.

    A label that stands twice in one of them is a diagonal.  An axis of size 1 beside a longer one is broadcast.
    """
    sizes = dict(zip(output, out, strict=True))
    shared = [x for x, n in dict(zip(labels, own, strict=True)).items() if x is not None and sizes.get(x) == n]
    strides, count = {}, 1
    for label in reversed(shared):
        strides[label] = count
        count *= sizes[label]
    return _numbered(out, output, strides), _numbered(own, labels, strides), count


def _numbered(shape: Sequence[int], labels: Labels, strides: dict[Any, int]) -> Any:
    groups, apart = np.zeros(tuple(shape), INT), None
    first: dict[Any, Any] = {}
    for axis, label in enumerate(labels):
        along = np.arange(shape[axis]).reshape([-1 if k == axis else 1 for k in range(len(shape))])
        if label is None:
            continue
        if label in first:
            differ = first[label] != along
            apart = differ if apart is None else apart | differ
        else:
            first[label] = along
            if label in strides:
                groups += along * strides[label]
    if apart is not None:
        groups[np.broadcast_to(apart, groups.shape)] = -1
    return groups.reshape(-1)


def _unmixed(node: Node, i: int) -> tuple[Labels, Labels] | None:
    """Labels of the axes of the result and of operand ``i`` where those that the op mixes have labels of their own."""
    op = node.op
    mixes = "dim" if op.along else op.mixes
    if mixes is None:
        return None
    shapes = [tuple(_shape(arg)) for arg in node.args]
    rank, out = max(map(len, (*shapes, node.shape))), len(node.shape)
    if isinstance(mixes, int):
        batch = max(len(shape) - mixes for shape in shapes)
        mine = max(0, len(shapes[i]) - mixes)
        if batch < 0 or out < batch:
            return None
        inner = [None] * (len(shapes[i]) - mine)
        return [*range(batch), *[None] * (out - batch)], [*range(batch - mine, batch), *inner]
    given = (node.params or {}).get(mixes)
    given = range(rank) if given is None else given if isinstance(given, (tuple, list)) else (given,)
    dims = {int(d) % rank for d in given} if rank else set()
    found = [_placed(len(shape), rank, dims) for shape in (node.shape, shapes[i])]
    return None if None in found else (found[0], found[1])  # type: ignore[return-value]


def _placed(own: int, rank: int, dims: set[int]) -> Labels | None:
    """The axes of an array of all axes, or of one from which those in ``dims`` are gone."""
    if own == rank:
        return [None if k in dims else k for k in range(rank)]
    return [k for k in range(rank) if k not in dims] if own == rank - len(dims) else None


# ---------------------------------------------------------------------------------------------- fixed maps


def _fixed(node: Node, i: int) -> bool:
    """Whether the rule to operand ``i`` reads no values but whole numbers, so that it is the same at every point."""
    saved, _ = node.op.needs(1 << i)
    count = len(node.args)
    for position in saved:
        if position == -1:
            read: Any = (node,)
        elif position >= 0:
            read = node.args[position : position + 1]
        elif position == -2:
            read = node.args
        elif position <= FROM:
            read = node.args[FROM - position :]
        else:
            read = [node.args[k] for k in range(count) if k != -3 - position]
        if any(is_floating(getattr(arg, "dtype", np.dtype(int))) for arg in read):
            return False
    return True


def _moved(node: Node, i: int, arguments: Callable[[Node, Any], Any]) -> Groups | None:
    """The groups where every entry of the operand goes to one place, or every entry of the result comes from one."""
    saved = node.saved
    if saved is FREED or saved is None or saved.__class__ is PackedRow:
        return None
    op, params, own, out = node.op, node.params or {}, tuple(_shape(node.args[i])), tuple(node.shape)
    out_value, *inputs = arguments(node, saved)

    def pulled(g: Any) -> Any:
        return op.pullback(i, g, out_value, inputs, params)

    found = _single(pulled, out, node.dtype, own)
    if found is not None:
        return np.arange(_count(out)), found, _count(out)
    rule = op.jvps[i] if op.jvps is not None and i < len(op.jvps) else None
    if rule is None:
        return None
    found = _single(lambda t: rule(t, out_value, *inputs, **params), own, node.args[i].dtype, out)
    return None if found is None else (found, np.arange(_count(own)), _count(own))


def _single(push: Callable[[Any], Any], given: tuple[int, ...], dtype: Any, shape: tuple[int, ...]) -> Any:
    """Which entry of its argument each entry of a linear map's result is a multiple of, and -1 where it is zero.

    None where one has several.
    """
    count = _count(given)
    turn = _TURN if dtype.kind == "c" else 1.0
    noise = np.random.default_rng(count).uniform(1, 2, count)
    rows = []
    for values in (np.ones(count), np.arange(1.0, count + 1), noise):
        found = push((turn * values).reshape(given)[()])
        found = np.zeros(shape) if found is None else np.asarray(fit(found, shape, None))
        if found.shape != shape:
            return None
        rows.append(found.reshape(-1))
    factor, numbers, mixed = rows
    nothing = (factor == 0) & (numbers == 0) & (mixed == 0)
    with np.errstate(all="ignore"):
        ratio = np.where(nothing, 1, numbers / factor)
    if not np.isfinite(ratio).all():
        return None
    place = np.rint(ratio.real).astype(INT)
    if (abs(ratio - place) > 0.25).any() or (len(place) and not 1 <= place.min() <= place.max() <= count):
        return None
    alone = abs(mixed - factor * noise[place - 1]) <= _EXACT * abs(factor) if count else nothing
    return np.where(nothing, -1, place - 1) if alone.all() else None
