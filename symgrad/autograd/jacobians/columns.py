"""The Jacobian by forward mode: one run of the function, in which every argument moves along all unit tangents.

The cost is that of as many tangents as the arguments have entries, however many entries the results have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from symgrad.autograd.jacobians.recorded import with_entries
from symgrad.autograd.sweeps.rescue import is_lost, rescued_block
from symgrad.op import shape_of
from symgrad.ops.rules.kinks import keeps_nan
from symgrad.ops.shapes.joining import split
from symgrad.ops.shapes.rearrange import unflatten
from symgrad.ops.shapes.shaping import movedim, squeeze
from symgrad.tape.forward import dual
from symgrad.tape.forward.bundle import Bundle, bundled
from symgrad.tape.forward.dual import Dual
from symgrad.tape.forward.histories import histories_kept, were_chosen
from symgrad.tape.modes import is_grad_enabled
from symgrad.tape.record import Recorded, plain
from symgrad.tape.watching.watch import watching
from symgrad.tensor import Tensor
from symgrad.tensor.moving import settle

Run = Callable[[list[Any]], tuple[list[Any], Any]]


def pushed_columns(run: Run, arguments: Sequence[Any], alike: bool = True) -> tuple[list[list[Any]], Any]:
    """The Jacobian of every result by every argument, and what else ``run`` gave, standing still.

    ``run(arguments)`` gives ``(results, others)``, where ``others(still)`` is what else the caller wants, with every
    value as the function ``still`` has it.  It runs once, or where not all columns are ``alike`` (random numbers) once
    for each of them.
    """
    counts = [int(np.prod(shape_of(a), dtype=int)) for a in arguments]
    width = sum(counts)
    tangents = list(_units(arguments, counts, width))
    if not width:
        found, others = run(list(arguments))
        return [[_zeros(out, a) for a in arguments] for out in found], others(lambda value: value)
    if alike:
        pairs, others = _along(run, arguments, tangents)
        if any(_lost(t) for _, t in pairs) and not keeps_nan("composed"):
            pairs = _together_again(run, arguments, tangents, pairs)
    else:
        rows = [_along(run, arguments, [t.each()[k] for t in tangents]) for k in range(width)]
        pairs, others = _together([pairs for pairs, _ in rows], tangents[0].tag), rows[0][1]
    return [_blocks(out, t, tangents[0].tag, arguments, counts) for out, t in pairs], others


def _units(arguments: Sequence[Any], counts: Sequence[int], width: int) -> Iterator[Bundle]:
    """The unit tangents of every argument: while an entry of one moves, all the others stand still."""
    tag, start = dual.new_tag(), 0
    for argument, count in zip(arguments, counts, strict=True):
        units = np.zeros((width, count), argument.dtype)
        units[range(start, start + count), range(count)] = 1
        yield Bundle(tag, units.reshape(width, *shape_of(argument)))
        start += count


def _along(run: Run, arguments: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[tuple[Any, Any]], Any]:
    """``(result, its tangent or None)`` of a run in which the arguments move, and what else it gave."""
    tag = dual.new_tag()
    try:
        found, others = run([Dual(a, t, tag) for a, t in zip(arguments, tangents, strict=True)])
        pairs, rest = [dual.parts(out, tag) for out in found], others(lambda value: dual.parts(value, tag)[0])
    finally:
        settle(tag)
    if were_chosen(tag):
        with histories_kept(False):
            return _along(run, arguments, tangents)
    return pairs, rest


def _lost(tangent: Any) -> bool:
    """Whether a recorded tangent holds a nan or inf; numbers alone have a second answer from reverse mode."""
    parts = tangent.parts() if isinstance(tangent, Bundle) else (tangent,)
    return any(isinstance(p, Recorded) and p._node is not None and is_lost(p._value) for p in parts)


def _together_again(run: Run, arguments: Sequence[Any], tangents: Sequence[Any], pairs: list[Any]) -> list[Any]:
    """The pairs of another run, in which steps that have a tangent together are taken together, where it has none."""
    with histories_kept():
        again = _along(run, arguments, tangents)[0]
    return [(out, t if new is None or _lost(new) else new) for (out, t), (_, new) in zip(pairs, again, strict=True)]


def _together(rows: Sequence[Sequence[tuple[Any, Any]]], tag: int) -> list[tuple[Any, Any]]:
    """The pairs of several runs as those of one."""
    pairs = []
    for column in zip(*rows, strict=True):
        zeros = plain(Tensor, np.zeros(shape_of(column[0][0]), column[0][0].dtype)[()])
        moved = [zeros if t is None else t for _, t in column]
        pairs.append((column[0][0], Bundle(tag, Bundle(tag, None, moved).stack())))
    return pairs


def _zeros(out: Any, argument: Any) -> Any:
    return plain(Tensor, np.zeros((*shape_of(out), *shape_of(argument)), out.dtype)[()])


def _blocks(out: Any, tangent: Any, tag: int, arguments: Sequence[Any], counts: Sequence[int]) -> list[Any]:
    """The Jacobian of one result by every argument, from its tangents."""
    if tangent is None:
        return [_zeros(out, a) for a in arguments]
    columns = movedim(bundled(tangent, tag, sum(counts)), 0, -1)
    blocks = split(columns, counts, -1) if len(counts) > 1 else [columns]
    shaped = [
        unflatten(block, -1, shape_of(a)) if shape_of(a) else squeeze(block, -1)
        for block, a in zip(blocks, arguments, strict=True)
    ]
    return [_result(block, out, a) for block, a in zip(shaped, arguments, strict=True)]


def _result(block: Any, out: Any, argument: Any) -> Any:
    """A Jacobian as a tensor with its closed formula; its history stays where somebody may differentiate by it."""
    if isinstance(block, Dual):
        return block
    if not isinstance(block, Recorded):
        block = plain(Tensor, block)
    elif not (block._requires_grad and is_grad_enabled()) and watching() is None:
        block = plain(Tensor, block._value)
    real = out.dtype.kind != "c" != argument.dtype.kind
    known = isinstance(out, Recorded) and isinstance(argument, Recorded)
    if real and known and block._node is None and (is_lost(block._value) or is_lost(out._value)):
        block = plain(Tensor, rescued_block(block._value, out, argument))
    return with_entries(block, out, argument) if real else block
