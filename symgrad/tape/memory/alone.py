"""Changes that nothing has to follow: those of parameters that are trained, of buffers, of arrays that are filled.

They are most of the changes that are ever made, and need none of what :mod:`symgrad.tape.memory.inplace` looks after.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.dtypes import float32, float64
from symgrad.op import Op
from symgrad.tape.formulas.constants import SMALL, note_sizes
from symgrad.tape.memory.mirrors import IMAGES, mirrored
from symgrad.tape.memory.overlap import overlaps
from symgrad.tape.memory.versions import Apart, note_change, storage
from symgrad.tape.memory.views import TWINS, inferred, shown, twins
from symgrad.tape.modes import MODE, recording
from symgrad.tape.observers import NODES, may_step_aside, stepped_aside

WATCHERS: list[Callable[[Any, Any, Any, bool], None]] = []
"""Called with the base, the tensor, its new value and whether it is recorded, before a tensor is changed."""

GUARDS: list[Callable[[Any, Any], None]] = []
"""What is asked before any tensor is changed, by an operation or its name, while somebody has to."""


PLAIN: set[type] = set()
"""The classes of tensors that say nothing themselves of what functions do with them; filled in from above."""


def quiet(tensor: Any) -> Any:
    """The memory of a tensor that has it to itself and whose change asks for nothing, which takes no call to see.

    None where :func:`alone` has to look.  Whether an array that owns its memory may be written to is told by NumPy.
    """
    extra, array = tensor._extra, tensor._value
    if (
        tensor._node is not None
        or array.__class__ is not np.ndarray
        or (array.base is not None and not (array.base.__class__ is Apart and array.flags.carray))
        or (tensor._requires_grad and not (MODE.exceptional and not MODE.local.enabled))
        or (extra is not None and (extra.view is not None or extra.views or extra.origin or extra.detached))
        or (extra is not None and (extra.former or extra.source is not None))
        or (WATCHERS or NODES or GUARDS or IMAGES or TWINS)
        or (MODE.inferred and (MODE.local.inference or inferred(tensor)))
    ):
        return None
    return array


def quiet_beside(tensor: Any, others: tuple[Any, ...]) -> Any:
    """:func:`quiet` of a change whose arguments are numbers, and tensors that have memory of their own."""
    array = quiet(tensor)
    if array is None:
        return None
    for other in others:
        kind = other.__class__
        if kind in PLAIN:
            value = other._value
            if (
                (MODE.inferred and inferred(other))
                or value is array
                or (getattr(value, "base", None) is not None and storage(value) is storage(array))
            ):
                return None
        elif kind is not float and kind is not int:
            return None
    return array


def swift(into: tuple[np.ufunc, bool], otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The fast way of an operation in place that NumPy's function ``into`` does; what it does not take goes otherwise.

    It takes tensors of one dtype and numbers, of which no gradient is asked.
    """
    (write, both), two = into, into[0].nin > 1
    expected: Any = PLAIN

    @functools.wraps(otherwise)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.__class__ in expected and not kwargs and len(args) == two and (array := quiet(self)) is not None:
            dtype = array.dtype
            if (two or array.ndim) and (dtype is float64 or (both and dtype is float32)):
                try:
                    if not two:
                        write(array, out=array)
                        note_change(array)
                        return self
                    other = args[0]
                    if other.__class__ in expected:
                        value = other._value
                        free = not other._requires_grad or (MODE.exceptional and not MODE.local.enabled)
                        free = free and not (MODE.inferred and inferred(other))
                        apart = getattr(value, "base", None) is None or storage(value) is not storage(array)
                        if free and value.dtype is dtype and apart:
                            write(array, value, out=array)
                            note_change(array)
                            if other._extra is not None and other._extra.sized:
                                note_sizes(self, args)
                            return self
                    elif other.__class__ is float or other.__class__ is int:
                        write(array, other, out=array)
                        note_change(array)
                        return self
                except (ValueError, TypeError, OverflowError):
                    pass  # nothing is written; the long way has the words for it
        return otherwise(self, *args, **kwargs)

    may_step_aside(call)
    return call


def alone(tensor: Any, others: tuple[Any, ...], recorded: bool = False) -> Any:
    """The memory of a tensor that changes without a view, a history or an onlooker to follow; None where one has to.

    So it is with parameters that are trained under ``no_grad``, and with buffers: most of what is ever changed.
    ``others`` are the arguments of the change, which must not lie in the same memory.  ``recorded``: of a tensor whose
    history goes on with the change, but which nobody else shows.
    """
    if WATCHERS or NODES or mirrored() or (tensor._node is not None and not recorded):
        return None
    if MODE.inferred and (MODE.local.inference or any(map(inferred, (tensor, *others)))):
        return None
    if tensor._requires_grad and not recorded and recording():
        return None
    extra = tensor._extra
    if extra is not None and (extra.view is not None or extra.detached or extra.former or shown(extra)):
        return None
    if twins(tensor):
        return None
    target = tensor._array()
    flags = target.flags
    if not flags.writeable or (not flags.c_contiguous and overlaps(target)):
        return None
    owner = target if target.base is None else storage(target)
    for other in others:
        kind = other.__class__
        if kind in PLAIN or kind is tensor.__class__:
            value = other._value
            if value is owner or (value.base is not None and storage(value) is owner):
                return None
        elif kind is not float and kind is not int:
            return None
    if extra is not None and extra.source is not None:
        settle_constants(tensor)
    return target


def settle_constants(root: Any) -> None:
    """Before memory changes: the constants that a tensor and its views were, as graphs know them, keep their contents.

    The tensors are others from now on.  Of large ones the contents are lost, and programs of those graphs are refused.
    """
    extra = root._extra
    if extra is None:
        return
    for tensor in (root, *(ref() for ref in extra.views or ())):
        if tensor is None or tensor._node is not None or tensor._extra is None:
            continue
        source, tensor._extra.source = tensor._extra.source, None
        if source is not None:
            small = tensor._value.nbytes <= SMALL or WATCHERS  # programs need the values
            source.kept = tensor._value.copy() if small else None
            source.alone()


_INTO = {operator.add: np.add, operator.sub: np.subtract, operator.mul: np.multiply, operator.truediv: np.divide}


def written(op: Op) -> tuple[np.ufunc, bool] | None:
    """NumPy's function that does on arrays what an op does, and can write what it makes into one that there is.

    And whether it is the op's kernel of single precision, too.
    """
    kernel = _INTO.get(op.kernel, op.kernel)
    return (kernel, op.single is None) if isinstance(kernel, np.ufunc) and "f" not in op.refuses else None


def by_arrays(tensor: Any, op: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], target: Any) -> Any:
    """What a function of the table makes of the arrays of a tensor that changes alone, and of those beside it.

    That is written into ``target`` on the spot where it can be.  None where a tensor would be made in another way:
    recorded or looked at, of several dtypes, in other shapes, or with an error, which is raised in words about tensors.
    """
    old = tensor._value
    dtype, kind, open_ = old.dtype, tensor.__class__, recording()
    if (dtype is not float64 and dtype is not float32) or stepped_aside():
        return None
    row = []
    for arg in (*args, *kwargs.values()) if kwargs else args:
        if arg.__class__ in PLAIN or arg.__class__ is kind:
            if arg._value.dtype is not dtype or (open_ and arg._requires_grad):
                return None
            arg = arg._value
        row.append(arg)
    op = getattr(op, "unlabelled", op)
    into = None if kwargs else getattr(op, "written", None)
    try:
        if into is not None and (row or old.ndim) and (dtype is float64 or into[1]):
            return into[0](old, *row, out=target)
        value = (
            op(old, *row[: len(args)], **dict(zip(kwargs, row[len(args) :], strict=True))) if kwargs else op(old, *row)
        )
    except Exception:  # noqa: BLE001  (whatever it is, it is raised again)
        return None
    fits = isinstance(value, (np.ndarray, np.generic)) and value.dtype is dtype and value.shape == old.shape
    return value if fits else None
