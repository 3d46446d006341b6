"""What a tensor is, apart from its numbers: shape, dtype, memory; new tensors of its kind; questions about dtypes."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad import dtypes
from symgrad.devices import CPU
from symgrad.ops.shaping import axis_of
from symgrad.tape.graph import Size
from symgrad.tape.record import Recorded, inferred, plain, scalarised
from symgrad.tape.versions import storage

__all__ = [
    "is_complex",
    "is_floating_point",
    "is_inference",
    "is_tensor",
    "numel",
    "promote_types",
    "result_type",
]


class Shape(tuple):  # type: ignore[type-arg]
    """The sizes of a tensor (torch.Size): a tuple whose ints stay recognisable as sizes in formulas."""

    __slots__ = ()

    def numel(self) -> int:
        """Product of the sizes."""
        count = Size(1)
        for size in self:
            count = count * size
        return count

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(str(int(s)) for s in self)}])"


class Facts(Recorded):
    """The part of a tensor that says what it is."""

    __slots__ = ()

    @property
    def shape(self) -> Any:
        """The sizes, as a tuple."""
        return Shape(Size(n) for n in self._value.shape)

    @property
    def raw_shape(self) -> tuple[int, ...]:
        """The sizes as plain ints, for the library's own use."""
        return self._value.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> Any:
        """The NumPy dtype."""
        return self._value.dtype

    @property
    def device(self) -> Any:
        """Where the tensor lives: on the CPU."""
        return CPU

    @property
    def is_cuda(self) -> bool:
        """Whether the tensor lives on a GPU: no."""
        return False

    def get_device(self) -> int:
        """The number of the tensor's device: -1, the CPU."""
        return -1

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return int(self._value.ndim)

    def dim(self) -> int:
        """Number of axes."""
        return int(self._value.ndim)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of one axis."""
        return self.shape if dim is None else self.shape[dim]

    def numel(self) -> int:
        """Number of entries."""
        return self.shape.numel()  # type: ignore[no-any-return]

    nelement = numel

    def sizes(self, dim: tuple[int, ...]) -> int:
        """Number of entries along ``dim``, marked as a size for formulas."""
        return Shape(self.shape[k] for k in dim).numel()

    @property
    def is_contiguous(self) -> Callable[[], bool]:
        """Whether the memory is in row-major order."""
        return lambda: bool(np.asarray(self._value).flags.c_contiguous)

    def is_floating_point(self) -> bool:
        """Whether the dtype is real floating."""
        return dtypes.is_real_floating(self.dtype)

    def is_complex(self) -> bool:
        """Whether the dtype is complex."""
        return bool(self.dtype.kind == "c")

    def element_size(self) -> int:
        """Bytes per entry."""
        return int(self.dtype.itemsize)

    def stride(self, dim: int | None = None) -> Any:
        """How many entries apart neighbours along each axis lie in memory, or along one axis."""
        value = self._value
        if value.size:
            steps = tuple(step // value.itemsize for step in value.strides)
        else:
            # NumPy says 0 of arrays without entries; torch says what it would be if there were some.
            steps = tuple(int(np.prod(np.maximum(value.shape[k + 1 :], 1))) for k in range(value.ndim))
        return steps if dim is None else steps[axis_of(dim, value.ndim)]

    def data_ptr(self) -> int:
        """Address of the first entry."""
        return int(self._array().ctypes.data)

    def untyped_storage(self) -> Any:
        """The array that owns the memory."""
        return storage(self._array())

    def type_as(self, other: Any) -> Any:
        """In the dtype of another tensor."""
        return self.to(other.dtype)  # type: ignore[attr-defined]

    # -------------------------------------------------------------------------------------- other libraries

    def __array_namespace__(self, *, api_version: Any = None) -> Any:
        """The module with the functions for tensors, as the array API standard asks for it."""
        return importlib.import_module("symgrad")

    def __dlpack__(self, **options: Any) -> Any:
        """The memory for another library (``torch.from_dlpack(t)``): shared, not copied.

        ``BufferError`` for tensors that require grad, and for bfloat16, which NumPy cannot hand over.
        """
        if self._requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        if dtypes.is_bfloat16(self.dtype):
            raise BufferError("Can't export bfloat16: NumPy has no DLPack name for it; use tensor.float()")
        # torch's stream on the CPU is -1 or 1, and NumPy wants None there.
        return self._array().__dlpack__(**{**options, "stream": None})

    def __dlpack_device__(self) -> tuple[int, int]:
        """The CPU, in DLPack's numbers."""
        return (1, 0)

    def new_tensor(self, data: Any, *, dtype: Any = None) -> Any:
        """A new leaf from numbers or an array, in the dtype of this tensor unless ``dtype`` is given."""
        return plain(type(self), scalarised(np.array(data, dtypes.as_dtype(dtype or self.dtype))))

    def new_zeros(self, *size: Any, dtype: Any = None, requires_grad: bool = False) -> Any:
        """Zeros of a shape, in the dtype of this tensor unless ``dtype`` is given."""
        return _made("zeros", self, size, dtype, requires_grad)

    def new_ones(self, *size: Any, dtype: Any = None, requires_grad: bool = False) -> Any:
        """Ones of a shape, in the dtype of this tensor unless ``dtype`` is given."""
        return _made("ones", self, size, dtype, requires_grad)

    def new_empty(self, *size: Any, dtype: Any = None, requires_grad: bool = False) -> Any:
        """Room for a shape, in the dtype of this tensor unless ``dtype`` is given."""
        return _made("empty", self, size, dtype, requires_grad)

    def new_full(self, size: Any, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False) -> Any:
        """One value everywhere, in the dtype of this tensor unless ``dtype`` is given."""
        from symgrad.creation import full

        return full(size, fill_value, dtype=dtype or self.dtype, requires_grad=requires_grad)


def _made(name: str, like: Any, size: Any, dtype: Any, requires_grad: bool) -> Any:
    from symgrad import creation

    return getattr(creation, name)(*size, dtype=dtype or like.dtype, requires_grad=requires_grad, _depth=4)


# ------------------------------------------------------------------------------------------ functions


def is_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a tensor."""
    return isinstance(obj, Facts)


def is_floating_point(input: Any) -> bool:
    """Whether the dtype is real floating."""
    return input.is_floating_point()  # type: ignore[no-any-return]


def is_complex(input: Any) -> bool:
    """Whether the dtype is complex."""
    return input.is_complex()  # type: ignore[no-any-return]


def is_inference(input: Any) -> bool:
    """Whether a tensor was made in inference mode, so that no graph may save it."""
    return bool(inferred(input))


def numel(input: Any) -> int:
    """Number of entries."""
    return input.numel()  # type: ignore[no-any-return]


def promote_types(type1: Any, type2: Any) -> np.dtype[Any]:
    """The smallest dtype that holds both, by torch's table.

    >>> promote_types(np.int64, np.float32)
    dtype('float32')
    """
    return dtypes.result_type(dtypes.as_dtype(type1), dtypes.as_dtype(type2))


def result_type(tensor1: Any, tensor2: Any) -> np.dtype[Any]:
    """The dtype of an operation between two tensors or numbers.

    >>> import symgrad as sg
    >>> result_type(sg.ones(2, dtype=sg.int64), 1.5)
    dtype('float32')
    """
    values = [getattr(x, "_value", x) for x in (tensor1, tensor2)]
    arrays = [v for v in values if hasattr(v, "dtype")]
    if len(arrays) == 2:
        return dtypes.promote(*arrays)
    if not arrays:
        return dtypes.result_type(*map(dtypes.for_python_number, values))
    number = next(v for v in values if not hasattr(v, "dtype"))
    return dtypes.weak_with(number, arrays[0].dtype)
