"""Sequences of many lengths as one tensor, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from symgrad.errors import ArgumentError, ShapeError, UnsupportedMode
from symgrad.ops.shapes.joining import stack
from symgrad.ops.shapes.padding import constant_pad_nd
from symgrad.tensor import Tensor

__all__ = ["pad_sequence", "unpad_sequence"]


def pad_sequence(
    sequences: Iterable[Any], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Any:
    """Sequences of shapes (n₁, …), (n₂, …) … as one tensor of shape (max n, count, …), with a border where they end.

    With ``batch_first`` the shape is (count, max n, …); the dtype is that of the first sequence.  Raises ``ShapeError``
    where there is no sequence, a number among them, or the axes behind the first differ; ``UnsupportedMode`` for a
    ``padding_side`` that is neither "right" nor "left".  The function is torch's.

    >>> import symgrad as sg
    >>> a, b = sg.tensor([1.0, 2.0, 3.0], requires_grad=True), sg.tensor([4.0])
    >>> pad_sequence([a, b], batch_first=True)
    tensor([[1., 2., 3.],
            [4., 0., 0.]], grad_fn=<StackBackward0>)
    """
    if not isinstance(sequences, Iterable):
        raise ArgumentError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    if padding_side not in ("right", "left"):
        raise UnsupportedMode(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    rows = list(sequences)
    for k, row in enumerate(rows):
        if not isinstance(row, Tensor):
            raise ArgumentError(f"expected Tensor as element {k} in argument 0, but got {type(row).__name__}")
        if not row.ndim:
            raise ShapeError(f"pad_sequence: sequence {k} is a number; a sequence has at least one axis.")
    if not rows:
        raise ShapeError("received an empty list of sequences")
    first, longest = rows[0], max(row.shape[0] for row in rows)
    value = first.new_full((), padding_value).item()  # as an integer, where the first sequence is one of integers
    return stack([_bordered(row, first, longest, value, padding_side) for row in rows], 0 if batch_first else 1)


def _bordered(row: Any, first: Any, longest: int, value: Any, side: str) -> Any:
    """One sequence with the dtype and the axes behind of the first, and the length of the longest."""
    row = row.to(first.dtype).expand((row.shape[0], *first.shape[1:]))
    missing = longest - row.shape[0]
    if not missing:
        return row
    widths = (0, missing) if side == "right" else (missing, 0)
    return constant_pad_nd(row, (0, 0) * (row.ndim - 1) + widths, value)


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Any]:
    """The sequences of what :func:`pad_sequence` made (to the right), from their lengths: a tensor or list of integers.

    Raises ``ShapeError`` unless there are as many lengths as sequences.  Unlike torch's, it leaves its argument as it
    is, which torch transposes in place.

    >>> import symgrad as sg
    >>> unpad_sequence(sg.tensor([[1.0, 2.0, 3.0], [4.0, 0.0, 0.0]]), [3, 1], batch_first=True)
    [tensor([1., 2., 3.]), tensor([4.])]
    """
    rows = padded_sequences.unbind(0 if batch_first else 1)
    counts = [int(n) for n in lengths]
    if len(counts) != len(rows):
        raise ShapeError(f"unpad_sequence: {len(counts)} lengths for {len(rows)} sequences.")
    return [row[:n] for row, n in zip(rows, counts, strict=True)]
