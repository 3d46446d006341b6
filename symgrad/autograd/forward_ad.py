"""Forward mode by hand, as in ``torch.autograd.forward_ad``: duals made and taken apart inside a level.

Every op knows how duals flow through it (:mod:`symgrad.tape.forward.dual`).  The primal may require grad, so forward
mode over reverse mode works; leaving the level takes the tangents away.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from symgrad.dtypes import is_floating
from symgrad.errors import ArgumentError, AutogradError
from symgrad.op import shape_of
from symgrad.tape.forward import dual
from symgrad.tape.forward.dual import Dual
from symgrad.tape.record import Recorded
from symgrad.tape.threads import ThreadState
from symgrad.tensor.moving import settle

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]


class UnpackedDualTensor(NamedTuple):
    """A primal and its tangent; the tangent is None where a value does not depend on any dual of the level."""

    primal: Any
    tangent: Any


class _Level(ThreadState):
    tag: int | None = None


_LEVEL = _Level()


def enter_dual_level() -> int:
    """Open the level in which duals live; gives its number.  Levels do not nest (``func.jvp`` does).

    >>> import symgrad as sg
    >>> import symgrad.autograd.forward_ad as fw
    >>> level = fw.enter_dual_level()
    >>> x = fw.make_dual(sg.tensor(3.0), sg.tensor(1.0))
    >>> fw.unpack_dual(x * x).tangent
    tensor(6.)
    >>> fw.exit_dual_level()
    """
    if _LEVEL.tag is not None:
        raise AutogradError(
            "Nested forward mode AD is not supported at the moment: a dual level is open already; use "
            "symgrad.func.jvp, which nests"
        )
    _LEVEL.tag = dual.open_level()
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level: the duals made in it have no tangent any more.

    >>> import symgrad as sg
    >>> level = sg.autograd.forward_ad.enter_dual_level()
    >>> sg.autograd.forward_ad.exit_dual_level()
    """
    if _LEVEL.tag is None:
        raise AutogradError("Dual level must be a positive number: no level is open.")
    if level not in (None, 0):
        raise AutogradError(
            f"Trying to exit a forward AD level that was not the last one that was created (level {level}, open is 0)."
        )
    settle(_LEVEL.tag)
    dual.close_level(_LEVEL.tag)
    _LEVEL.tag = None


class dual_level:  # noqa: N801  (torch's name)
    """Context in which forward derivatives are computed.

    >>> import symgrad as sg
    >>> import symgrad.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     x = fwAD.make_dual(sg.tensor([1.0, 2.0]), sg.tensor([1.0, 0.0]))
    ...     fwAD.unpack_dual(x * x)
    UnpackedDualTensor(primal=tensor([1., 4.]), tangent=tensor([2., 0.]))
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *error: object) -> None:
        exit_dual_level()


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    """``tensor`` moving along ``tangent``, of the same shape; what is made of it moves in its own dtype.

    A thread without a level takes the one that another thread has open.  Raises ``RuntimeError`` outside of a level,
    for another shape, and for a real tangent of a complex tensor or the reverse; ``ArgumentError`` for integers.

    >>> import symgrad as sg
    >>> import symgrad.autograd.forward_ad as fw
    >>> with fw.dual_level():
    ...     x = fw.make_dual(sg.tensor(3.0), sg.tensor(1.0))
    ...     fw.unpack_dual(x * x).tangent
    tensor(6.)
    """
    tag = _opened(level, "make_dual")
    tensor, tangent = dual.faced(tensor), dual.faced(tangent)
    for value, what in ((tensor, "primal"), (tangent, "tangent")):
        if not isinstance(value, (Recorded, Dual)):
            raise ArgumentError(f"make_dual() takes tensors, but its {what} is {type(value).__name__}.")
    for value, what in ((tensor, "primal"), (tangent, "tangent")):
        if not is_floating(value.dtype):
            raise ArgumentError(f"Expected {what} to be floating point or complex, but got: {value.dtype}")
    if any(dual.parts(value, tag)[1] is not None for value in (tensor, tangent)):
        raise AutogradError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not "
            "supported."
        )
    primal = _viewed(tensor)
    if tuple(shape_of(primal)) != tuple(shape_of(tangent)):
        raise AutogradError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(shape_of(primal))} while the given forward gradient is of size "
            f"{list(shape_of(tangent))}."
        )
    if primal.dtype.kind != tangent.dtype.kind:
        raise AutogradError(
            f"Trying to set a forward gradient of dtype {tangent.dtype} for a tensor of dtype {primal.dtype}; cast one "
            "of them with .to()."
        )
    made = dual.make_dual(primal, tangent, tag)
    made.place.given = isinstance(tangent, Recorded)
    return made


def _viewed(primal: Any) -> Any:
    """A primal as duals show it: a view that does not move."""
    return primal if isinstance(primal, Dual) else primal.view_as(primal)


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """``(primal, tangent)`` of a value of the open level; the tangent is None where there is none.

    >>> import symgrad as sg
    >>> import symgrad.autograd.forward_ad as fw
    >>> with fw.dual_level():
    ...     fw.unpack_dual(sg.tensor(3.0))
    UnpackedDualTensor(primal=tensor(3.), tangent=None)
    """
    tensor = dual.faced(tensor)
    if level not in (None, 0):
        raise AutogradError(f"there is no forward AD level {level}; the open one is 0.")
    tag = _LEVEL.tag
    if isinstance(tensor, Dual) and tensor.tag != tag:
        if tensor.tag not in dual.BY_HAND:  # its level was left, or it belongs to a jvp around this level
            return UnpackedDualTensor(tensor.primal if tag is None else tensor, None)
        tag = tensor.tag  # another thread has it open
    primal, tangent = dual.parts(tensor, -1 if tag is None else tag)
    return UnpackedDualTensor(primal if tangent is None else _viewed(primal), tangent)


def _opened(level: int | None, name: str) -> int:
    """The tag of the level of this thread; of one without a level, that which other threads have open, if it is one."""
    tag = _LEVEL.tag
    if tag is None and len(dual.BY_HAND) == 1:
        tag = next(iter(dual.BY_HAND))
    if tag is None or level not in (None, 0):
        raise AutogradError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first "
            f"({name} was called{'' if level is None else f' with level {level}'})."
        )
    return tag


def __getattr__(name: str) -> int:
    """torch's name for the number of the open level, -1 where there is none."""
    if name == "_current_level":
        return -1 if _LEVEL.tag is None else 0
    raise AttributeError(f"module 'symgrad.autograd.forward_ad' has no attribute {name!r}")
