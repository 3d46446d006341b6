"""Memory that arrays share: whether a change of one may be, and which others it reaches."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, AutogradError
from symgrad.tape.memory.mirrors import memory
from symgrad.tape.memory.versions import Foreign, counter, storage

PARTIAL = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
    "location. Please clone() the tensor before performing the operation."
)
OVERLAP = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
    "Please clone() the tensor before performing the operation."
)


def meets(one: Any, other: Any, apart: bool) -> bool:
    """Whether two tensors share memory without being the same part of it; torch asks of dense ones only.

    It copies conjugates first, and does not know that an array of NumPy's is memory of another tensor.
    """
    a, b = one._value, other._array()
    if not a.size or not b.size or counter(a, Foreign) is not counter(b, Foreign) or memory(a) is not storage(a):
        return False
    if not (_dense(a) and _dense(b)):
        return False
    ends = [np.lib.array_utils.byte_bounds(x) for x in (a, b)]
    if ends[0] == ends[1]:
        return bool(apart or one.stride() != other.stride())
    return bool(ends[0][0] < ends[1][1] and ends[1][0] < ends[0][1])


def _dense(array: Any) -> bool:
    """Whether the entries fill a stretch of memory."""
    low, high = np.lib.array_utils.byte_bounds(array)
    return bool(high - low == array.nbytes)


def writable(target: Any, even: bool) -> Any:
    """The region with leave to write: views that NumPy marks read-only are memory of ours all the same."""
    if not even and overlaps(target):
        raise AutogradError(OVERLAP)
    if not target.flags.writeable:
        target = target.view()
        try:
            target.flags.writeable = True
        except ValueError:  # a view of a view that NumPy protects: the same entries of the memory itself
            owner = storage(target)
            start = target.ctypes.data - owner.ctypes.data
            whole = owner if owner.flags.c_contiguous else owner.T
            target = np.ndarray(target.shape, target.dtype, whole, start, target.strides)
    if not target.flags.writeable:
        raise ArgumentError(
            f"the memory of a tensor of shape {target.shape} is read-only: it is that of an array with "
            "flags.writeable=False. Change a clone() of it."
        )
    return target


def overlaps(array: Any) -> bool:
    """Whether entries share memory: some step is shorter than what the axes of shorter steps reach over."""
    if array.flags.c_contiguous or not array.size:
        return False
    reach = array.itemsize
    for step, size in sorted((abs(step), size) for step, size in zip(array.strides, array.shape, strict=True)):
        if size > 1 and step < reach:
            return True
        reach += step * (size - 1)
    return False


def same_place(a: Any, b: Any) -> bool:
    """Whether two arrays show the same entries of the same memory."""
    return bool(a.shape == b.shape and a.strides == b.strides and a.ctypes.data == b.ctypes.data)


def reshaped(a: Any, b: Any) -> bool:
    """Whether two arrays show the same entries of the same memory in the same order, be it in other shapes."""
    in_order = a.flags.c_contiguous and b.flags.c_contiguous
    return same_place(a, b) or bool(in_order and a.size == b.size and a.ctypes.data == b.ctypes.data)


class Others:
    """Arguments that lie in the memory which is about to change: what nodes save of them is stale then, as in torch.

    ``values`` are their arrays, told apart by identity from that of the tensor itself, whose old contents are kept.
    """

    __slots__ = ("values",)

    def __init__(self) -> None:
        self.values: list[Any] = []

    def apart(self, arg: Any, owner: Any) -> Any:
        """The argument, or its twin with an array of its own on the same memory."""
        value = getattr(arg, "_value", None)
        if not isinstance(value, np.ndarray) or memory(value) is not owner:
            return arg
        if arg._requires_grad and not arg._node:  # a leaf, which is its own place in the graph
            arg._value = value[...]
            self.values.append(arg._value)
            return arg
        twin = blank(arg)
        twin._value, twin._node, twin._requires_grad, twin._extra = (
            value[...],
            arg._node,
            arg._requires_grad,
            arg._extra,
        )
        self.values.append(twin._value)
        return twin

    def __contains__(self, value: Any) -> bool:
        for own in self.values:  # noqa: SIM110  (of most changes there is none)
            if value is own:
                return True
        return False


def blank(tensor: Any) -> Any:
    """A tensor of the same class with nothing in it."""
    cls: Any = type(tensor)
    return cls.__new__(cls)
