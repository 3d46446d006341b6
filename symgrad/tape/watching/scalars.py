"""Plain numbers that a program makes of tensors, by ``float()``: no derivative knows what becomes of them."""

from __future__ import annotations

from contextlib import AbstractContextManager

from symgrad.notices import notice_once
from symgrad.tape.modes import recording
from symgrad.tape.threads import ThreadState, meanwhile

_SCALAR = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\nConsider using "
    "tensor.detach() first."
)


class _Made(ThreadState):
    def __init__(self) -> None:
        self.count = 0
        self.read = 0
        self.quiet = False


_MADE = _Made()


def note_number() -> None:
    """A number is made of a tensor that a derivative follows; torch's warning of it is given once, in grad mode."""
    _MADE.count += 1
    if not _MADE.quiet and recording():
        notice_once(_SCALAR)


def note_value() -> None:
    """The value of such a tensor is read by ``item()`` or ``tolist()``, of which torch does not warn."""
    _MADE.read += 1


def numbers_made() -> int:
    """How many such numbers this thread has made."""
    return _MADE.count


def take_back(count: int, read: int) -> None:
    """The last ``count`` of them were made by a run that nobody uses; it ``read`` values, too."""
    _MADE.count -= count
    _MADE.read -= read


def values_read() -> int:
    """How often this thread has read values of such tensors, as numbers or by ``item()`` and ``tolist()``."""
    return _MADE.count + _MADE.read


def numbers_counted() -> AbstractContextManager[None]:
    """Inside, they are counted only: who runs a function looks at the count afterwards."""
    return meanwhile(_MADE, quiet=True)
