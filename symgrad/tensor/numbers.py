"""What leaves a tensor as numbers: Python's and NumPy's, without history.  A tracer is told of each."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, AutogradError, DtypeError
from symgrad.notices import is_of_user
from symgrad.ops.calls.still import recorded
from symgrad.tape.formulas.lost_sizes import note_shape
from symgrad.tape.formulas.sizes import note_entries
from symgrad.tape.modes import MODE
from symgrad.tape.record import Recorded
from symgrad.tape.watching.looks import DECIDED, OF_PLACES, note_look, note_places
from symgrad.tape.watching.scalars import note_number, note_value
from symgrad.tape.watching.taken import is_retold
from symgrad.tape.watching.watch import WATCH, note_read

_getframe = sys._getframe


class Numbers(Recorded):
    """The part of a tensor that gives its value to Python and NumPy."""

    __slots__ = ()

    def item(self) -> Any:
        """The value of a one-element tensor as a Python number.

        >>> import symgrad as sg
        >>> sg.tensor([2.5]).item()
        2.5
        """
        if self._value.size != 1:
            raise AutogradError(
                f"a Tensor with {self._value.size} elements cannot be converted to Scalar (shape {self._value.shape})"
            )
        return self._taken("item()")

    def _told(self, frame: Any, spec: str) -> Any:
        """The value for a text; without a format a tracer hears of it where the user's program reads the text again."""
        told = spec or not WATCH.count or is_retold(frame.f_code, frame.f_lasti)
        return self.item() if told else self._value.item()

    def _taken(self, how: str) -> Any:
        """The value of a tensor of one entry."""
        if WATCH.count or self._node is not None or self._requires_grad:
            note_read(self, how)
            if self._requires_grad:
                note_value()
        elif self._extra is not None:
            self._taken_of_constant(self._extra, how)
        return self._value.item()

    def _taken_of_constant(self, extra: Any, how: str) -> None:
        """A program that takes the constant as an argument holds for what its run took out of it."""
        if extra.sized:
            note_entries(extra.sized)
        if extra.name is not None:
            note_look(self, how)

    def _taken_as_array(self, how: str, frame: Any) -> None:
        """The entries go on as an array of NumPy's, and nobody follows what becomes of it."""
        if WATCH.count:
            note_read(self, how)
            return
        extra = self._extra
        if self._node is not None or self._requires_grad:
            if is_of_user(frame.f_code.co_filename):
                note_look(self, how)
        elif extra is not None:
            shared = extra if extra.view is None else extra.view.base._extra
            origin = None if shared is None or shared.detached is None else shared.detached()
            told = extra.sized or extra.name is not None
            if (told or origin is not None) and is_of_user(frame.f_code.co_filename):
                if told:
                    self._taken_of_constant(extra, how)
                if origin is not None:  # x.detach().numpy()
                    note_look(origin, how)
        note_shape(frame, self._value.shape)

    def tolist(self) -> Any:
        """Nested lists of Python numbers."""
        if WATCH.count or self._node is not None or self._requires_grad:
            note_read(self, "tolist()")
        elif self._extra is not None:
            self._taken_of_constant(self._extra, "tolist()")
        if self._requires_grad:
            note_value()
        note_shape(_getframe(1), self._value.shape)
        return self._value.tolist()

    def numpy(self, *, force: bool = False) -> np.ndarray[Any, Any]:
        """The value as an array sharing memory; refused while grad is required unless ``force``, or under no_grad.

        >>> import symgrad as sg
        >>> sg.tensor([1.0, 2.0]).numpy()
        array([1., 2.], dtype=float32)
        >>> sg.tensor([1.0, 2.0], requires_grad=True).numpy(force=True)
        array([1., 2.], dtype=float32)
        """
        self._taken_as_array("numpy()", _getframe(1))
        if self.requires_grad and not force and MODE.local.asked:  # type: ignore[attr-defined]
            raise AutogradError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        return self._array()  # type: ignore[no-any-return]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        self._taken_as_array("np.asarray()", _getframe(1))
        if self.requires_grad and MODE.local.asked:  # type: ignore[attr-defined]
            raise AutogradError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        value = self._array()
        if dtype is None or np.dtype(dtype) == value.dtype:
            return value.copy() if copy else value
        if copy is False:
            raise ValueError(
                f"Unable to avoid a copy: the tensor is {value.dtype}, and {np.dtype(dtype)} was asked for."
            )
        return value.astype(dtype)

    def __bool__(self) -> bool:
        if self._value.size != 1:
            count = "more than one value" if self._value.size else "no values"
            raise AutogradError(f"Boolean value of Tensor with {count} is ambiguous")
        if WATCH.count or self._node is not None or self._requires_grad:
            note_read(self, "bool()")
        return bool(self._value)

    def __float__(self) -> float:
        if self._requires_grad:
            note_number()
        return float(self._number("double"))

    def __int__(self) -> int:
        return int(self._number("int64_t", "int()"))

    def _decides(self) -> None:
        """A result without derivative hangs on these values; while somebody watches, reading them tells it."""
        if not WATCH.count and recorded(self):
            note_look(self, DECIDED)

    def _counts_from_zero(self) -> None:
        """These are places, of which none may be below 0 where a program of what is recorded takes others."""
        if not WATCH.count and (self._node is not None or (self._extra is not None and self._extra.name is not None)):
            note_places(self.edge())

    def _lies_outside(self) -> bool:
        """The answer to whether places lie outside of what there is, which a tracer is told of as such."""
        if WATCH.count:
            note_read(self, OF_PLACES)
        return bool(self._value)

    def _number(self, real: str = "", how: str = "item()") -> Any:
        if self._value.size != 1:
            raise ArgumentError(
                f"only one element tensors can be converted to Python scalars (this one has shape {self._value.shape})"
            )
        number = self._taken(how)
        if real and isinstance(number, complex):
            if number.imag:
                raise DtypeError(f"value cannot be converted to type {real} without overflow ({number} is not real)")
            return number.real
        return number

    def __complex__(self) -> complex:
        if self._requires_grad:
            note_number()
        return complex(self._number())

    def __index__(self) -> int:
        if self._value.dtype.kind not in "bui" or self._value.size != 1:
            raise ArgumentError("only integer tensors of a single element can be converted to an index")
        return int(self._taken("int()"))
