"""Questions about tensors, dtypes and devices, as functions."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from symgrad import dtypes, op
from symgrad.devices import CPU, on_cpu
from symgrad.dtype_objects import dtype, shown
from symgrad.errors import ArgumentError, ShapeError
from symgrad.tape.forward.dual import Dual
from symgrad.tape.memory.views import inferred
from symgrad.tensor.facts import Facts, Shape, asked_shape

__all__ = [
    "broadcast_shapes", "can_cast", "detach", "detach_", "get_default_device", "get_device", "is_complex",
    "is_conj", "is_floating_point", "is_inference", "is_neg", "is_nonzero", "is_same_size", "is_signed",
    "is_storage", "is_tensor", "numel", "promote_types", "result_type", "set_default_device", "typename",
]  # fmt: skip


def detach(input: Any) -> Any:
    """The same memory without history: ``input.detach()``.

    >>> import symgrad as sg
    >>> sg.detach(sg.ones(2, requires_grad=True)).requires_grad
    False
    """
    return input.detach()


def detach_(input: Any) -> Any:
    """Forget the history of a tensor: ``input.detach_()``.

    >>> import symgrad as sg
    >>> sg.detach_(sg.ones(2, requires_grad=True) * 2).is_leaf
    True
    """
    return input.detach_()


def is_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a tensor.

    >>> import symgrad as sg
    >>> sg.is_tensor(sg.ones(2)), sg.is_tensor([1.0])
    (True, False)
    """
    return isinstance(obj, (Facts, Dual))


def is_floating_point(input: Any) -> bool:
    """Whether the dtype is real floating.

    >>> import symgrad as sg
    >>> sg.is_floating_point(sg.ones(2)), sg.is_floating_point(sg.arange(2))
    (True, False)
    """
    return input.is_floating_point()  # type: ignore[no-any-return]


def is_conj(input: Any) -> bool:
    """Whether the tensor is the conjugate of what its memory holds: never, conjugates are computed at once."""
    return input.is_conj()  # type: ignore[no-any-return]


def is_neg(input: Any) -> bool:
    """Whether the tensor is the negative of what its memory holds: never, negatives are computed at once."""
    return input.is_neg()  # type: ignore[no-any-return]


def is_complex(input: Any) -> bool:
    """Whether the dtype is complex."""
    return input.is_complex()  # type: ignore[no-any-return]


def is_signed(input: Any) -> bool:
    """Whether the dtype has negative numbers."""
    return input.is_signed()  # type: ignore[no-any-return]


def is_nonzero(input: Any) -> bool:
    """Whether the one entry of the tensor is not zero; ``AutogradError`` for any other number of entries.

    >>> import symgrad as sg
    >>> sg.is_nonzero(sg.tensor([0.0]))
    False
    """
    return input.is_nonzero()  # type: ignore[no-any-return]


def is_same_size(input: Any, other: Any) -> bool:
    """Whether two tensors have the same shape."""
    return input.is_same_size(other)  # type: ignore[no-any-return]


def is_storage(obj: Any) -> bool:
    """Whether ``obj`` is the memory of a tensor (:meth:`Tensor.untyped_storage`): an array here."""
    return isinstance(obj, np.ndarray)


def typename(obj: Any) -> str:
    """torch's name of the type of a tensor; of anything else the name of its class.

    >>> import symgrad as sg
    >>> sg.typename(sg.ones(2)), sg.typename([])
    ('torch.FloatTensor', 'list')
    """
    return dtypes.type_name(obj.dtype) if isinstance(obj, Facts) else type(obj).__name__


def broadcast_shapes(*shapes: Any) -> Shape:
    """The shape that tensors of these shapes have together.  Raises ``ShapeError`` where they do not fit.

    >>> import symgrad as sg
    >>> sg.broadcast_shapes((2, 1), (3,))
    torch.Size([2, 3])
    """
    for s in shapes:
        if not isinstance(s, (int, tuple, list)):
            raise ArgumentError(f"Input shapes should be of type ints, a tuple of ints, or a list of ints, got {s}")
    sizes = [(s,) if isinstance(s, int) else tuple(map(operator.index, s)) for s in shapes]
    if any(n < 0 for shape in sizes for n in shape):
        raise ShapeError(f"Attempting to broadcast a dimension with negative length! The shapes are {sizes}")
    return Shape(op.broadcast_shapes(*sizes))


def get_device(input: Any) -> int:
    """The number of a tensor's device: -1, the CPU."""
    return input.get_device()  # type: ignore[no-any-return]


def get_default_device() -> Any:
    """Where new tensors live: on the CPU."""
    return CPU


def set_default_device(device: Any) -> None:
    """Where new tensors are to live.  Raises ``DeviceError`` for anything but the CPU.

    >>> import symgrad as sg
    >>> sg.set_default_device("cpu")
    >>> sg.get_default_device()
    device(type='cpu')
    """
    on_cpu(device)


def is_inference(input: Any) -> bool:
    """Whether a tensor was made in inference mode, so that no graph may save it."""
    return bool(inferred(input))


def numel(input: Any) -> int:
    """Number of entries."""
    return asked_shape(input.raw_shape).numel() if isinstance(input, Facts) else input.numel()


def can_cast(from_: Any, to: Any) -> bool:
    """Whether results of the first dtype may be written into tensors of the second.

    >>> import numpy as np
    >>> import symgrad as sg
    >>> sg.can_cast(np.int64, np.float32), sg.can_cast(np.float32, np.int64)
    (True, False)
    """
    return dtypes.kind_order(dtypes.as_dtype(from_)) <= dtypes.kind_order(dtypes.as_dtype(to))


def promote_types(type1: Any, type2: Any) -> dtype:
    """The smallest dtype that holds both, by torch's table.

    >>> import numpy as np
    >>> import symgrad as sg
    >>> sg.promote_types(np.int64, np.float32)
    dtype('float32')
    """
    return shown(dtypes.result_type(dtypes.as_dtype(type1), dtypes.as_dtype(type2)))


def result_type(tensor: Any, other: Any) -> dtype:
    """The dtype of an operation between two tensors or numbers.

    >>> import symgrad as sg
    >>> sg.result_type(sg.ones(2, dtype=sg.int64), 1.5)
    dtype('float32')
    """
    values = [
        dtypes.as_python_number(x) if isinstance(x, np.generic) else getattr(x, "_value", x) for x in (tensor, other)
    ]
    arrays = [v for v in values if hasattr(v, "dtype")]
    if len(arrays) == 2:
        return shown(dtypes.promote(*arrays))
    if not arrays:
        return shown(dtypes.result_type(*map(dtypes.for_python_number, values)))
    number = next(v for v in values if not hasattr(v, "dtype"))
    return shown(dtypes.weak_with(number, arrays[0].dtype))
