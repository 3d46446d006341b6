"""Transposes, parts of complex numbers, memory read in another dtype, parts that are no views."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.dtypes import torch_name
from symgrad.errors import DtypeError, ShapeError
from symgrad.notices import notice_once
from symgrad.op import lookup
from symgrad.ops.shapes.shaping import permute_op
from symgrad.tape.modes import MODE
from symgrad.tape.record import Recorded
from symgrad.tape.watching.watch import note_read

_REVERSED = (
    "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw an "
    "error in a future release. Consider `x.mT` to transpose batches of matrices or `x.permute(*torch.arange(x.ndim - "
    "1, -1, -1))` to reverse the dimensions of a tensor."
)

_IDENTITY = "Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases."


class Turned(Recorded):
    """The part of a tensor that shows its entries, or their parts, in another order."""

    __slots__ = ()

    @property
    def T(self) -> Any:
        """The axes in reverse order; of others than matrices torch will refuse it, and warns.

        >>> import symgrad as sg
        >>> sg.ones(2, 3).T.shape
        torch.Size([3, 2])
        """
        if self._value.ndim != 2:
            notice_once(_REVERSED if self._value.ndim else _IDENTITY)
        return permute_op(self, dims=tuple(range(self._value.ndim))[::-1])

    @property
    def mT(self) -> Any:
        """The last two axes exchanged.

        >>> import symgrad as sg
        >>> sg.ones(4, 2, 3).mT.shape
        torch.Size([4, 3, 2])
        """
        return self._exchanged("tensor.mT is only supported on matrices or batches of matrices.")

    @property
    def H(self) -> Any:
        """Conjugate transpose of a matrix.

        >>> import symgrad as sg
        >>> sg.tensor([[1j, 2.0]]).H
        tensor([[0.-1.j],
                [2.-0.j]])
        """
        words = "tensor.H is only supported on matrices (2-D tensors)."
        if (ndim := self._value.ndim) > 2:
            raise ShapeError(f"{words} Got {ndim}-D tensor. For batches of matrices, consider using tensor.mH")
        return self._exchanged(words).conj()

    @property
    def mH(self) -> Any:
        """Conjugate transpose of the last two axes.

        >>> import symgrad as sg
        >>> sg.tensor([[1j, 2.0]]).mH
        tensor([[0.-1.j],
                [2.-0.j]])
        """
        return self._exchanged("tensor.mH is only supported on matrices or batches of matrices.").conj()

    def _exchanged(self, words: str) -> Any:
        tensor: Any = self
        if tensor.ndim == 1:
            raise ShapeError(f"{words} Got 1-D tensor.")
        return tensor.transpose(-2, -1) if tensor.ndim else tensor

    @property
    def real(self) -> Any:
        """Real part; what is assigned to it is written into the tensor.

        >>> import symgrad as sg
        >>> sg.tensor([1 + 2j]).real
        tensor([1.])
        """
        return lookup("real")(self) if self._value.dtype.kind == "c" else self

    @real.setter
    def real(self, value: Any) -> None:
        self.real.copy_(value)

    @property
    def imag(self) -> Any:
        """Imaginary part of a complex tensor; what is assigned to it is written into the tensor.

        >>> import symgrad as sg
        >>> sg.tensor([1 + 2j]).imag
        tensor([2.])
        """
        if self._value.dtype.kind != "c":
            raise DtypeError("imag is not implemented for tensors with non-complex dtypes.")
        return lookup("imag")(self)

    @imag.setter
    def imag(self, value: Any) -> None:
        self.imag.copy_(value)


def read_as(x: Any, dtype: np.dtype[Any]) -> Any:
    """The memory of ``x`` read in another dtype (``x.view(dtype)``), without history.

    In inference mode it is an inference tensor, whatever ``x`` is.
    """
    made = x.detach()
    if MODE.local.inference:
        made.more().inference = True
    array = x._array()
    if x.is_conj() or x.is_neg():
        raise DtypeError(
            "torch.Tensor.view is not supported for conjugate view tensors when converting to a different dtype"
        )
    if dtype.itemsize != array.itemsize:
        _check_sizes(x, array.dtype, dtype)
    if made._node is not None and dtype != array.dtype:  # a tracer, which knows no op that does this to a value
        note_read(x, "view(dtype)")
        made._node = None
    made._value = array.view(dtype) if array.size else np.empty(_width(array, dtype), dtype)
    return made


def unlinked(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of parts that are no views to torch: unrecorded, they know nothing of what they were cut from.

    Recorded ones are views here, since a change of them is a change of the whole, which the gradient must follow.
    """

    @functools.wraps(function)
    def call(input: Any, *args: Any, **kwargs: Any) -> Any:
        parts = function(input, *args, **kwargs)
        if not isinstance(input, Recorded) or MODE.local.enabled or MODE.local.inference:
            return parts
        return tuple([part.detach() for part in parts])

    return call


def _width(array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> tuple[int, ...]:
    rows: tuple[int, ...] = array.shape[:-1]
    return (*rows, array.shape[-1] * array.itemsize // dtype.itemsize)


def _check_sizes(x: Any, of: np.dtype[Any], to: np.dtype[Any]) -> None:
    """Raise torch's errors where entries of another width do not fit into the rows of ``x``."""
    ends = f"to view {torch_name(of)} as {torch_name(to)} (different element sizes), but got"
    shape, strides = x.raw_shape, x.stride()
    if not shape:
        raise ShapeError(f"self.dim() cannot be 0 {ends.partition(',')[0]}")
    if strides[-1] != 1:
        raise ShapeError(f"self.stride(-1) must be 1 {ends} {strides[-1]}")
    ratio = to.itemsize // of.itemsize
    if not ratio:
        return
    checked = {"size(-1)": shape[-1], "storage_offset()": x.storage_offset()}
    checked |= {f"stride({k})": step for k, step in enumerate(strides[:-1])}
    for what, number in checked.items():
        if number % ratio:
            raise ShapeError(f"self.{what} must be divisible by {ratio} {ends} {number}")
