"""Sums of products, transposes and diagonals: what multilinear ops do, by the labels of their axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.compiler.targets.octave.spelling import closed, turned
from symgrad.formula.term import Term

Labels = tuple[int, ...]


def placed(text: str, order: Sequence[int | None], rank: int) -> str:
    """An array whose axes go where ``order`` says; None is a new axis of size 1, and axes left out have that size.

    >>> placed("A", (1, 0), 2), placed("x", (None, 0), 1), placed("A", (0, None, 1), 2), placed("x", (0, None), 1)
    ("A.'", "x.'", 'permute(A, [1, 3, 2])', 'x')
    """
    used = [a + 1 for a in order if a is not None]
    count = max([len(order), rank, 2, *used])
    spare = iter([a for a in range(1, count + 1) if a not in used])
    axes = [next(spare) if a is None else a + 1 for a in order]
    axes += list(spare)
    while len(axes) > max(rank, 2) and axes[-1] == len(axes):  # axes that are not there stay where they are
        axes.pop()
    if axes == sorted(axes):
        return text
    return turned(text) if axes == [2, 1] else f"permute({text}, [{', '.join(map(str, axes))}])"


def fitted(text: str, rank: int, wanted: int) -> str:
    """An operand of ``rank`` axes beside a result of ``wanted``: it is broadcast along the first ones."""
    if not rank or rank == wanted:
        return text
    return placed(text, (*(None for _ in range(wanted - rank)), *range(rank)), rank)


def summed_over(text: str, axes: Sequence[int]) -> str:
    """Sums along axes, which stay with size 1."""
    for axis in axes:
        text = f"sum({text}, {axis + 1})"
    return text


def product(w: Any, term: Term, texts: Sequence[str]) -> str:
    """The text of a multilinear op."""
    inputs, output = term.labels()
    sizes = dict(zip(output, term.shape, strict=True))
    for row, x in zip(inputs, term.args, strict=True):
        sizes.update((label, size) for label, size in zip(row, x.shape, strict=True) if size != 1)
    free = tuple(dict.fromkeys(output))
    operands = [_operand(w, t, row, x) for t, row, x in zip(texts, inputs, term.args, strict=True)]
    while len(operands) > 2:
        first, second, *rest = operands
        later = {*free, *(x for _, row, _ in rest for x in row)}
        kept = tuple(x for x in dict.fromkeys(first[1] + second[1]) if x in later)
        operands = [(_pair(w, (first, second), kept, sizes), kept, tuple(sizes[x] for x in kept)), *rest]
    text = _single(w, *operands[0], free, sizes) if len(operands) == 1 else _pair(w, operands, free, sizes)
    return _on_diagonals(w, text, free, output, sizes)


def _operand(w: Any, text: str, row: Labels, x: Term) -> tuple[str, Labels, tuple[Any, ...]]:
    """A text with its labels, each once, and its sizes."""
    shape = tuple(x.shape)
    while len(set(row)) < len(row):
        label = next(b for b in row if row.count(b) > 1)
        first = row.index(label)
        second = row.index(label, first + 1)
        text = w.helped(f"diagonal_of({text}, {first + 1}, {second + 1})")
        rest = [k for k in range(len(row)) if k not in (first, second)]
        shape = (shape[first], *(shape[k] for k in rest))
        row = (label, *(row[k] for k in rest))
    return text, row, shape


def _single(w: Any, text: str, row: Labels, shape: Sequence[Any], free: Labels, sizes: dict[int, Any]) -> str:
    """One operand: summed, moved and repeated."""
    gone = [k for k, b in enumerate(row) if b not in free and shape[k] != 1]
    text = summed_over(text, gone)
    text = placed(text, [row.index(b) if b in row else None for b in free], len(row))
    times = [1 if b in row and shape[row.index(b)] == sizes[b] else sizes[b] for b in free]
    if all(n == 1 for n in times):
        return text
    return f"repmat({text}, [{', '.join(w.size(n) for n in ([*times, 1])[: max(2, len(times))])}])"


def _pair(w: Any, operands: Sequence[Any], free: Labels, sizes: dict[int, Any]) -> str:
    """Two operands: an elementwise product, a matrix product, or one of stacks."""
    (a, left, ashape), (b, right, bshape) = operands
    known = tuple(x for x in free if x in left or x in right)
    if known != free:  # the result is the same along an axis that no operand has
        return _single(w, _pair(w, operands, known, sizes), known, [sizes[x] for x in known], free, sizes)
    a, left = _without(a, left, ashape, {*right, *free})
    b, right = _without(b, right, bshape, {*left, *free})
    over = tuple(x for x in left if x in right and x not in free)
    both = tuple(x for x in left if x in right and x in free)
    own, other = tuple(x for x in left if x not in right), tuple(x for x in right if x not in left)
    if not over:
        texts = [placed(t, [r.index(x) if x in r else None for x in free], len(r)) for t, r in ((a, left), (b, right))]
        return f"{closed(texts[0])} .* {closed(texts[1])}"
    if not both and len(over) == 1 and len(own) <= 1 and len(other) <= 1:
        return _matrices(a, left, b, right, over, own, other, free)
    if not both and not own and not other and len(over) == 2:
        return summed_over(f"{closed(a)} .* {closed(placed(b, [right.index(x) for x in left], 2))}", (0, 1))
    first = placed(a, [left.index(x) for x in (*own, *over, *both)], len(left))
    second = placed(b, [right.index(x) for x in (*over, *other, *both)], len(right))
    counts = f"{len(own)}, {len(over)}, {len(other)}, {len(both)}"
    made = (*own, *other, *both)
    text = w.helped(f"contracted({first}, {second}, {counts})")
    return placed(text, [made.index(x) for x in free], len(made))


def _without(text: str, row: Labels, shape: Sequence[Any], wanted: set[int]) -> tuple[str, Labels]:
    """An operand summed over what it has alone and the result has not."""
    gone = [k for k, b in enumerate(row) if b not in wanted]
    if not gone:
        return text, row
    text = summed_over(text, [k for k in gone if shape[k] != 1])
    kept = [k for k in range(len(row)) if k not in gone]
    return placed(text, kept, len(row)), tuple(row[k] for k in kept)


def _matrices(
    a: str, left: Labels, b: str, right: Labels, over: Labels, own: Labels, other: Labels, free: Labels
) -> str:
    """A product of matrices and vectors; the result has its axes in the order of ``free``."""
    if not own and not other:
        return f"{turned(a)} * {closed(b)}"
    if not own or (other and free.index(other[0]) < free.index(own[0])):
        a, left, own, b, right, other = b, right, other, a, left, own
    first = placed(a, [left.index(x) for x in (*own, *over)], len(left))
    second = placed(b, [right.index(x) for x in (*over, *other)], len(right))
    return f"{closed(first)} * {closed(second)}"


def _on_diagonals(w: Any, text: str, free: Labels, output: Labels, sizes: dict[int, Any]) -> str:
    """Labels that the result has twice: zeros beside the diagonal."""
    if free == tuple(output):
        return text
    if len(output) == 2:
        return f"diag({text})"
    seen: dict[int, int] = {}
    order: list[int | None] = []
    pairs = []
    for axis, label in enumerate(output):
        if label in seen:
            order.append(None)
            pairs.append((seen[label], axis, label))
        else:
            seen[label] = axis
            order.append(free.index(label))
    text = placed(text, order, len(free))
    for first, second, label in pairs:
        text = w.helped(f"on_diagonal({text}, {first + 1}, {second + 1}, {w.size(sizes[label])})")
    return text
