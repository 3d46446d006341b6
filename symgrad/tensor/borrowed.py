"""Tensors in memory that is there already: of arrays, of buffers, of other libraries' tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad import dtypes
from symgrad.devices import on_cpu
from symgrad.errors import ArgumentError
from symgrad.tape.memory.versions import Foreign, apart
from symgrad.tape.record import plain
from symgrad.tape.standins import StandIn
from symgrad.tensor import Tensor
from symgrad.tensor.creation import tensor
from symgrad.tensor.facts import with_gradient

__all__ = [
    "as_tensor",
    "asarray",
    "from_dlpack",
    "from_numpy",
    "frombuffer",
]


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor sharing memory with ``data`` where that is possible.

    >>> import symgrad as sg
    >>> import numpy as np
    >>> a = np.zeros(2)
    >>> t = sg.as_tensor(a)
    >>> a[0] = 1.0
    >>> t
    tensor([1., 0.], dtype=float64)
    """
    on_cpu(device)
    data = data.tensor if isinstance(data, StandIn) else data
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if hasattr(data, "__dlpack__") and not hasattr(data, "__array__"):
        data = np.from_dlpack(data)
    if isinstance(data, np.ndarray) and (dtype is None or dtypes.as_dtype(dtype) == data.dtype):
        return _sharing(data)
    return tensor(data, dtype=dtype)


def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool | None = None
) -> Tensor:
    """A tensor of ``obj``, sharing its memory where that is possible; ``copy`` forces a copy, or (False) forbids one.

    A tensor of the dtype is its own array, and keeps its graph unless ``requires_grad`` is False.  An object with
    Python's buffer interface that is no array (``bytearray``) is its memory, whose bits are numbers of the dtype.

    >>> import symgrad as sg
    >>> sg.asarray([1, 2])
    tensor([1, 2])
    """
    if _is_buffer(obj):
        obj = np.asarray(frombuffer(obj, dtype=dtype or dtypes.get_default_dtype()))
    found = as_tensor(obj, dtype, device)
    alone = not isinstance(obj, (Tensor, np.ndarray)) or (dtype is not None and found.dtype != obj.dtype)
    if copy is False and alone:
        if hasattr(obj, "dtype") and not isinstance(obj, np.generic):
            old, new = dtypes.torch_name(obj.dtype), dtypes.torch_name(found.dtype)
            raise ArgumentError(f"can't alias tensor with dtype '{old}' into dtype '{new}'.")
        raise ArgumentError(f"can't alias arbitrary sequence into a tensor: {type(obj).__name__} has to be copied.")
    made = found.clone() if copy and not alone else found
    if requires_grad is False and made._requires_grad:
        return made.detach()
    return with_gradient(made)._require() if requires_grad and not made._requires_grad else made


def _is_buffer(obj: Any) -> bool:
    """Whether an object shows memory, and does not say of what numbers."""
    if hasattr(obj, "dtype") or isinstance(obj, (list, tuple)):
        return False
    try:
        return memoryview(obj) is not None
    except TypeError:
        return False


def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A tensor in the memory of an object with Python's buffer interface.  ``ArgumentError`` where it has no number.

    >>> import numpy as np
    >>> import symgrad as sg
    >>> sg.frombuffer(bytearray(b"ab"), dtype=np.uint8)
    tensor([97, 98], dtype=uint8)
    """
    kind = dtypes.as_dtype(dtype)
    try:
        room = memoryview(buffer).nbytes
    except TypeError:
        raise ArgumentError("object does not implement Python buffer protocol.") from None
    if not room or not count:
        raise ArgumentError(f"both buffer length ({room}) and count ({count}) must not be 0")
    if not 0 <= offset < room:
        raise ArgumentError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({room} bytes) minus 1"
        )
    if count < 0 and (room - offset) % kind.itemsize:
        raise ArgumentError(
            f"buffer length ({room - offset} bytes) after offset ({offset} bytes) must be a multiple of element size "
            f"({kind.itemsize})"
        )
    made = _sharing(np.frombuffer(buffer, kind, count, offset))
    return with_gradient(made)._require() if requires_grad else made


def from_numpy(array: Any) -> Tensor:
    """A tensor sharing the memory of a NumPy array.

    >>> import symgrad as sg
    >>> import numpy as np
    >>> sg.from_numpy(np.arange(3))
    tensor([0, 1, 2])
    """
    if not isinstance(array, np.ndarray):
        raise ArgumentError(f"expected np.ndarray (got {type(array).__name__})")
    return _sharing(array)


def _sharing(array: Any) -> Tensor:
    """A tensor in the memory of an array of numbers, with a version number of its own."""
    if not dtypes.is_number(array.dtype):
        raise ArgumentError(
            f"can't convert np.ndarray of type {array.dtype.type.__module__}.{array.dtype.type.__name__}. Tensors have "
            "floating and complex numbers, integers and bools."
        )
    if not array.dtype.isnative:
        raise ArgumentError(
            "given numpy array has byte order different from the native byte order. Conversion between byte orders is "
            "currently not supported: use array.astype(array.dtype.newbyteorder('='))."
        )
    if any(step % array.itemsize for step in array.strides):
        raise ArgumentError(
            f"given numpy array strides not a multiple of the element byte size: the strides {array.strides} of "
            f"entries of {array.itemsize} bytes have to be copied (np.ascontiguousarray)."
        )
    made = plain(Tensor, apart(array, Foreign))
    if not array.size:
        made.more().strides = tuple(step // array.itemsize for step in array.strides)
    return made  # type: ignore[no-any-return]


class _Capsule:
    """What ``__dlpack__`` gave already, as something that has it."""

    def __init__(self, capsule: Any):
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def from_dlpack(ext_tensor: Any) -> Tensor:
    """A tensor sharing the memory of another library's array or tensor (torch, JAX, CuPy on the CPU, NumPy …).

    Whatever has ``__dlpack__`` and ``__dlpack_device__`` will do, and a capsule of memory on the CPU.  What it refuses
    (torch: a tensor that requires grad) it refuses in its own words; a dtype that NumPy does not have is a
    ``BufferError``.

    >>> import numpy as np
    >>> import symgrad as sg
    >>> sg.from_dlpack(np.array([1.0, 2.0]))
    tensor([1., 2.], dtype=float64)
    """
    if isinstance(ext_tensor, Tensor):
        if ext_tensor._requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        return _sharing(ext_tensor._array())
    if type(ext_tensor).__name__ == "PyCapsule":
        ext_tensor = _Capsule(ext_tensor)
    if not hasattr(ext_tensor, "__dlpack__"):
        raise ArgumentError(f"from_dlpack() takes an object with __dlpack__, not {type(ext_tensor).__name__}.")
    try:
        array = np.from_dlpack(ext_tensor)
    except RuntimeError as error:
        raise BufferError(
            f"from_dlpack(): {error}  Cast it to a dtype that NumPy has (bfloat16: .float()) or move it to the CPU."
        ) from error
    return _sharing(array)
