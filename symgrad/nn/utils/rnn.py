"""Sequences of many lengths as one tensor, with a border or without, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from symgrad.dtypes import torch_name
from symgrad.errors import ArgumentError, ShapeError, UnsupportedMode
from symgrad.ops.indexing.getitem import index_select
from symgrad.ops.shapes.joining import stack
from symgrad.ops.shapes.padding import constant_pad_nd
from symgrad.tensor import Tensor
from symgrad.tensor.creation import full, tensor

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence",
    "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip


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


class PackedSequence(NamedTuple):
    """The entries of sequences of many lengths, those of the first step first.

    ``data`` has the shape (sum of the lengths, …), ``batch_sizes`` says how many sequences reach each step.  The
    sequences stand by falling length; ``sorted_indices`` are their numbers in the batch that was packed and
    ``unsorted_indices`` lead back (both None where the batch was sorted already).  The class is torch's.
    """

    data: Any
    batch_sizes: Any
    sorted_indices: Any = None
    unsorted_indices: Any = None

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The same with data of another dtype; the arguments are those of ``Tensor.to``."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else self._replace(data=data)

    def double(self) -> PackedSequence:
        """The same in float64."""
        return self._replace(data=self.data.double())

    def float(self) -> PackedSequence:
        """The same in float32."""
        return self._replace(data=self.data.float())

    def cpu(self) -> PackedSequence:
        """Itself: there is no other device."""
        return self

    @property
    def is_cuda(self) -> bool:
        """Whether the data lies on a GPU: no."""
        return False

    def is_pinned(self) -> bool:
        """Whether the memory is locked for copies to a GPU: no."""
        return False


def invert_permutation(permutation: Any) -> Any:
    """The permutation that undoes another one; None of None.

    >>> import symgrad as sg
    >>> invert_permutation(sg.tensor([2, 0, 1]))
    tensor([1, 2, 0])
    """
    return None if permutation is None else permutation.argsort()


def _counted(lengths: Any, batch: int) -> Any:
    """The lengths as an array of integers.  Raises ``ShapeError`` unless there is a positive one for each sequence."""
    given = lengths if isinstance(lengths, Tensor) else tensor(lengths)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise ShapeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {given.ndim}D cpu {torch_name(given.dtype)} "
            "tensor"
        )
    counts = given.detach().numpy().astype(np.int64)
    if len(counts) != batch:
        raise ShapeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(counts)} (batch_size={batch})"
        )
    if counts.min(initial=1) <= 0:
        raise ShapeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    return counts


def pack_padded_sequence(
    input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """The entries of padded sequences that are no border, as a :class:`PackedSequence`.

    ``input`` has the shape (longest, count, …), or (count, longest, …) with ``batch_first``; ``lengths`` is a list or a
    tensor of integers.  Unless ``enforce_sorted``, the sequences are sorted by falling length.  Raises ``ShapeError``
    where there are not as many lengths as sequences, one is below 1 or above the longest, or they rise though
    ``enforce_sorted``.  The function is torch's.

    >>> import symgrad as sg
    >>> x = sg.tensor([[1.0, 4.0], [2.0, 5.0], [3.0, 0.0]], requires_grad=True)
    >>> pack_padded_sequence(x, [3, 2]).data
    tensor([1., 4., 2., 5., 3.], grad_fn=<IndexBackward0>)
    """
    if not isinstance(input, Tensor):
        raise ArgumentError(
            f"_pack_padded_sequence(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}"
        )
    x: Any = input
    if batch_first:
        x = x.transpose(0, 1)
    if x.ndim < 2:
        raise ShapeError(f"pack_padded_sequence: steps and sequences are two axes, the input has {x.ndim}.")
    steps, batch = x.shape[:2]
    counts = _counted(lengths, batch)
    order: Any = None
    if not enforce_sorted:
        order = np.argsort(-counts, kind="stable")
        counts, x = counts[order], index_select(x, 1, tensor(order))
    elif (counts[:-1] < counts[1:]).any():
        raise ShapeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you "
            "do not need ONNX exportability."
        )
    if counts.max(initial=0) > steps:
        raise ShapeError(f"pack_padded_sequence: a length of {counts.max()} for an input of {steps} steps.")
    rows, columns = np.nonzero(np.arange(counts.max(initial=0))[:, None] < counts)
    sizes = np.bincount(rows)
    indices = None if order is None else tensor(order)
    return PackedSequence(x[tensor(rows), tensor(columns)], tensor(sizes), indices, invert_permutation(indices))


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Any, Any]:
    """The padded sequences of a :class:`PackedSequence`, in the order in which they were packed, and their lengths.

    The shape is (longest, count, …), or (count, longest, …) with ``batch_first``; ``total_length`` stands in place of
    the longest.  Raises ``ShapeError`` where it is shorter.

    >>> import symgrad as sg
    >>> packed = pack_sequence([sg.tensor([1.0, 2.0, 3.0]), sg.tensor([4.0])])
    >>> pad_packed_sequence(packed, batch_first=True)
    (tensor([[1., 2., 3.],
            [4., 0., 0.]]), tensor([3, 1]))
    """
    sizes = sequence.batch_sizes.numpy()
    longest = len(sizes)
    if total_length is not None and total_length < longest:
        raise ShapeError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {longest}"
        )
    data, count = sequence.data, int(sizes[0])
    reached = np.arange(count) < sizes[:, None]
    rows, columns = np.nonzero(reached)
    shape = (longest if total_length is None else total_length, count, *data.shape[1:])
    border: Any = full(shape, padding_value, dtype=data.dtype)
    padded = border.index_put((tensor(rows), tensor(columns)), data)
    counts = tensor(reached.sum(0))
    if sequence.unsorted_indices is not None:
        padded, counts = padded.index_select(1, sequence.unsorted_indices), counts[sequence.unsorted_indices]
    return (padded.transpose(0, 1) if batch_first else padded), counts


def pack_sequence(sequences: Any, enforce_sorted: bool = True) -> PackedSequence:
    """Sequences of shapes (n₁, …), (n₂, …) … as a :class:`PackedSequence`: :func:`pack_padded_sequence` of them.

    >>> import symgrad as sg
    >>> pack_sequence([sg.tensor([1.0, 2.0, 3.0]), sg.tensor([4.0])]).data
    tensor([1., 4., 2., 3.])
    """
    lengths = tensor([len(row) for row in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Any]:
    """The sequences of a :class:`PackedSequence` as a list of tensors.

    >>> import symgrad as sg
    >>> unpack_sequence(pack_sequence([sg.tensor([1.0, 2.0, 3.0]), sg.tensor([4.0])]))
    [tensor([1., 2., 3.]), tensor([4.])]
    """
    padded, counts = pad_packed_sequence(packed_sequences, batch_first=True)
    return [row[: int(n)] for row, n in zip(padded.unbind(0), counts, strict=True)]
