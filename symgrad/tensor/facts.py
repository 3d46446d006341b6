"""What a tensor is, apart from its numbers: shape, dtype, memory; new tensors of its kind; questions about dtypes."""

from __future__ import annotations

import importlib
import math
import operator
from typing import Any

import numpy as np

from symgrad import dtypes, op
from symgrad.devices import CPU, accept, channels_last, channels_last_3d, contiguous_format, on_cpu, strided
from symgrad.dtype_objects import dtype, shown
from symgrad.errors import ArgumentError, DeviceError, DtypeError, ShapeError
from symgrad.ops.shapes.shaping import axis_of
from symgrad.tape.formulas.sizes import Size
from symgrad.tape.forward.dual import Dual
from symgrad.tape.memory.versions import storage
from symgrad.tape.memory.views import inferred, view_of
from symgrad.tape.record import Recorded, plain
from symgrad.tensor.storage import Storage
from symgrad.tensor.strides import steps_by_base, steps_of

__all__ = [
    "broadcast_shapes", "can_cast", "detach", "detach_", "get_default_device", "get_device", "is_complex",
    "is_conj", "is_floating_point", "is_inference", "is_neg", "is_nonzero", "is_same_size", "is_signed",
    "is_storage", "is_tensor", "numel", "promote_types", "result_type", "set_default_device", "typename",
]  # fmt: skip


class Shape(tuple):  # type: ignore[type-arg]
    """The sizes of a tensor (torch.Size): a tuple whose ints stay recognisable as sizes in formulas.

    >>> import symgrad as sg
    >>> sg.zeros(2, 3).shape, sg.Size([2, 3]).numel()
    (torch.Size([2, 3]), 6)
    """

    __slots__ = ()

    def numel(self) -> int:
        """Product of the sizes."""
        return math.prod(self, start=Size(1))

    def __getitem__(self, index: Any) -> Any:
        part = super().__getitem__(index)
        return Shape(part) if index.__class__ is slice else part

    def __add__(self, other: Any) -> Any:
        return Shape(super().__add__(other))

    def __radd__(self, other: Any) -> Any:
        return Shape(other + tuple(self))

    def __mul__(self, count: Any) -> Any:
        return Shape(super().__mul__(count))

    __rmul__ = __mul__

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
        """The dtype, which NumPy's functions take, with torch's attributes."""
        return shown(self._value.dtype)

    @property
    def device(self) -> Any:
        """Where the tensor lives: on the CPU."""
        return CPU

    @property
    def is_cuda(self) -> bool:
        """Whether the tensor lives on a GPU: no."""
        return False

    is_meta = is_sparse = is_sparse_csr = is_quantized = is_mps = is_xpu = is_cuda
    is_ipu = is_maia = is_mkldnn = is_mtia = is_nested = is_vulkan = is_xla = is_cuda

    @property
    def is_cpu(self) -> bool:
        """Whether the tensor lives on the CPU: yes."""
        return True

    @property
    def layout(self) -> Any:
        """How the tensor is stored: ``strided``."""
        return strided

    def get_device(self) -> int:
        """The number of the tensor's device: -1, the CPU."""
        return -1

    def cpu(self) -> Any:
        """The tensor itself: there is no other device."""
        return self

    def cuda(self, device: Any = "cuda", non_blocking: bool = False) -> Any:  # noqa: ARG002  (torch's signature)
        """On a GPU; raises ``DeviceError``, since there is none.

        >>> import symgrad as sg
        >>> try:
        ...     sg.ones(2).cuda()
        ... except sg.errors.DeviceError:
        ...     print("no GPU")
        no GPU
        """
        on_cpu("cuda")

    def is_pinned(self) -> bool:
        """Whether the memory is locked for copies to a GPU: no."""
        return False

    def pin_memory(self, device: Any = None) -> Any:  # noqa: ARG002  (torch's signature)
        """Raises ``RuntimeError``: memory is locked for copies to a GPU, and there is none.

        >>> import symgrad as sg
        >>> sg.ones(2).pin_memory()
        Traceback (most recent call last):
        symgrad.errors.DeviceError: Cannot access accelerator device when none is available.
        """
        raise DeviceError("Cannot access accelerator device when none is available.")

    def is_shared(self) -> bool:
        """Whether the memory was moved to where other processes see it: no."""
        return False

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return int(self._value.ndim)

    def dim(self) -> int:
        """Number of axes."""
        return int(self._value.ndim)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of one axis.

        >>> import symgrad as sg
        >>> sg.ones(2, 3).size(), sg.ones(2, 3).size(0)
        (torch.Size([2, 3]), 2)
        """
        return self.shape if dim is None else self.shape[dim]

    def numel(self) -> int:
        """Number of entries."""
        return self.shape.numel()  # type: ignore[no-any-return]

    nelement = numel

    def sizes(self, dim: tuple[int, ...]) -> int:
        """Number of entries along ``dim``, marked as a size for formulas."""
        return Shape(self.shape[k] for k in dim).numel()

    def ndimension(self) -> int:
        """Number of axes."""
        return int(self._value.ndim)

    def is_contiguous(self, memory_format: Any = contiguous_format) -> bool:
        """Whether the memory is in row-major order; with a ``channels_last`` format, with the channels innermost.

        >>> import symgrad as sg
        >>> sg.ones(2, 3).is_contiguous(), sg.ones(2, 3).T.is_contiguous()
        (True, False)
        """
        value = np.asarray(self._value)
        if memory_format in (channels_last, channels_last_3d):
            if value.ndim != (4 if memory_format is channels_last else 5):
                return False
            value = np.moveaxis(value, 1, -1)
        return bool(value.flags.c_contiguous)

    def is_floating_point(self) -> bool:
        """Whether the dtype is real floating."""
        return dtypes.is_real_floating(self.dtype)

    def is_complex(self) -> bool:
        """Whether the dtype is complex."""
        return bool(self.dtype.kind == "c")

    def is_signed(self) -> bool:
        """Whether the dtype has negative numbers."""
        return self.dtype.kind in "ifc"

    def is_nonzero(self) -> bool:
        """Whether the one entry of the tensor is not zero; ``AutogradError`` for any other number of entries."""
        return bool(self)

    def is_same_size(self, other: Any) -> bool:
        """Whether another tensor has the same shape."""
        return bool(self._value.shape == other._value.shape)

    def is_conj(self) -> bool:
        """Whether the tensor is the conjugate of what its memory holds: no, conjugates are computed at once."""
        return False

    def is_neg(self) -> bool:
        """Whether the tensor is the negative of what its memory holds: no, negatives are computed at once."""
        return False

    def element_size(self) -> int:
        """Bytes per entry."""
        return int(self.dtype.itemsize)

    @property
    def itemsize(self) -> int:
        """Bytes per entry."""
        return int(self.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        """Bytes of all entries."""
        return int(self._value.nbytes)

    def dim_order(self, *, ambiguity_check: Any = False) -> tuple[int, ...]:
        """The axes from the one whose entries lie farthest apart in memory to the one whose lie nearest.

        With ``ambiguity_check`` axes that could stand elsewhere are an error, unless one listed format alone fits.

        >>> import symgrad as sg
        >>> sg.ones(2, 3).dim_order(), sg.ones(2, 3).T.dim_order()
        ((0, 1), (1, 0))
        """
        steps, sizes = self.stride(), self._value.shape
        order = sorted(range(len(sizes)), key=lambda k: -max(steps[k], 1))
        if ambiguity_check.__class__ not in (bool, list):
            raise ArgumentError("The ambiguity_check argument must be a bool or a list of memory formats.")
        fits = ambiguity_check is not True and sum(map(self.is_contiguous, ambiguity_check or ())) == 1
        if ambiguity_check is not False and not fits and any(sizes[k] < 2 or steps[k] == 0 for k in order):
            raise ArgumentError("The tensor does not have unique dim order.")
        return tuple(order)

    def stride(self, dim: int | None = None) -> Any:
        """How many entries apart neighbours along each axis lie in memory, or along one axis.

        >>> import symgrad as sg
        >>> sg.ones(2, 3).stride(), sg.ones(2, 3).T.stride()
        ((3, 1), (1, 3))
        """
        value = self._value
        told = value.size and (1 not in value.shape or view_of(self) is None)
        steps = steps_of(value) if told else steps_by_base(self)
        return steps if dim is None else steps[axis_of(dim, value.ndim)]

    def storage_offset(self) -> int:
        """How many entries after the beginning of its memory the tensor's first one lies.

        >>> import symgrad as sg
        >>> sg.arange(6)[2:].storage_offset()
        2
        """
        array = self._array()
        return (array.ctypes.data - storage(array).ctypes.data) // array.itemsize if array.size else 0

    def data_ptr(self) -> int:
        """Address of the first entry; 0 where there is none.

        >>> import symgrad as sg
        >>> x = sg.ones(3)
        >>> x.data_ptr() == x.view(3, 1).data_ptr(), x[1:].data_ptr() - x.data_ptr()
        (True, 4)
        """
        return int(self._array().ctypes.data) if self._value.size else 0

    def untyped_storage(self) -> Any:
        """The array that owns the memory.

        >>> import symgrad as sg
        >>> x = sg.ones(2, 3)
        >>> x[1].untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
        True
        """
        return storage(self._array()).view(Storage)

    def storage(self) -> Any:
        """All entries of the memory, one after the other.

        >>> import symgrad as sg
        >>> len(sg.ones(2, 3)[0].storage())
        6
        """
        return self.untyped_storage().ravel(order="K")

    def type_as(self, other: Any) -> Any:
        """In the dtype of another tensor.

        >>> import symgrad as sg
        >>> sg.tensor([1, 2]).type_as(sg.tensor(0.5))
        tensor([1., 2.])
        """
        return self.to(other.dtype)  # type: ignore[attr-defined]

    def to_dense(self) -> Any:
        """The tensor itself: it is dense."""
        return self

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
        if not isinstance(options.get("stream"), (int, type(None))):
            raise ArgumentError(f"stream must be int or None, not {options['stream']!r:.40}")
        # torch's stream on the CPU is -1 or 1, and NumPy wants None there.
        return self._array().__dlpack__(**{**options, "stream": None})

    def __dlpack_device__(self) -> tuple[int, int]:
        """The CPU, in DLPack's numbers."""
        return (1, 0)

    def new_tensor(self, data: Any, *, dtype: Any = None, requires_grad: bool = False, **options: Any) -> Any:
        """A new leaf from numbers or an array, in the dtype of this tensor unless ``dtype`` is given.

        >>> import symgrad as sg
        >>> sg.ones(2, dtype=sg.float64).new_tensor([1, 2])
        tensor([1., 2.], dtype=float64)
        """
        accept("new_tensor", options)  # type: ignore[arg-type]
        from symgrad.tensor.creation import tell_of_copying, value_of_data

        if isinstance(data, Recorded):
            tell_of_copying("tensor.new_tensor")
        made = plain(type(self), value_of_data(data, dtype or self.dtype))
        return with_gradient(made)._require() if requires_grad else made

    def new_zeros(self, *size: Any, **options: Any) -> Any:
        """Zeros of a shape, in the dtype of this tensor unless ``dtype`` is given.

        >>> import symgrad as sg
        >>> sg.tensor([1, 2]).new_zeros(2, 2)
        tensor([[0, 0],
                [0, 0]])
        """
        return _made("zeros", self, size, options)

    def new_ones(self, *size: Any, **options: Any) -> Any:
        """Ones of a shape, in the dtype of this tensor unless ``dtype`` is given."""
        return _made("ones", self, size, options)

    def new_empty(self, *size: Any, **options: Any) -> Any:
        """Room for a shape, in the dtype of this tensor unless ``dtype`` is given."""
        return _made("empty", self, size, options)

    def new_empty_strided(self, size: Any, stride: Any, **options: Any) -> Any:
        """Room for a shape with the given strides, in the dtype of this tensor unless ``dtype`` is given."""
        return _made("empty_strided", self, (size, stride), options)

    def new_full(self, size: Any, fill_value: Any, **options: Any) -> Any:
        """One value everywhere, in the dtype of this tensor unless ``dtype`` is given.

        >>> import symgrad as sg
        >>> sg.tensor([1, 2]).new_full((2,), 7)
        tensor([7, 7])
        """
        return _made("full", self, (size, fill_value), options)

    def new(self, *data: Any, size: Any = None) -> Any:
        """A tensor of the data or sizes, in the dtype of this one (old code; use ``new_tensor``, ``new_empty``).

        Of a tensor it is a view, through which gradients flow.
        """
        data = data if size is None else tuple(size)
        if len(data) == 1 and hasattr(data[0], "raw_shape"):
            return data[0].to(self.dtype).view_as(data[0])
        made: Any = type(self)(*data)
        return made.to(self.dtype)


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


def with_gradient(made: Any) -> Any:
    """A new tensor that shall require grad; its dtype must have gradients."""
    if not dtypes.is_floating(made.dtype):
        raise DtypeError(
            "Only Tensors of floating point and complex dtype can require gradients "
            f"(this one has dtype {made.dtype}; cast it with .double() or dtype=)"
        )
    return made


def _made(name: str, like: Any, args: Any, options: Any) -> Any:
    from symgrad.tensor import creation

    depth = {"_depth": 4} if name in ("zeros", "ones", "empty") else {}
    made = getattr(creation, name)(*args, **{**options, "dtype": options.get("dtype") or like.dtype, **depth})
    if inferred(like) and not inferred(made) and not name.startswith("empty"):
        made.more().counted = 1  # torch fills what it has made
    return made


# ------------------------------------------------------------------------------------------ functions


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
    """Whether two tensors have the same shape.

    >>> import symgrad as sg
    >>> sg.is_same_size(sg.ones(2, 3), sg.zeros(2, 3))
    True
    """
    return input.is_same_size(other)  # type: ignore[no-any-return]


def is_storage(obj: Any) -> bool:
    """Whether ``obj`` is the memory of a tensor (:meth:`Tensor.untyped_storage`): an array here."""
    return isinstance(obj, np.ndarray)


def typename(obj: Any) -> str:
    """torch's name of the type of a tensor; of anything else the name of its class.

    >>> import symgrad as sg
    >>> typename(sg.ones(2)), typename([])
    ('torch.FloatTensor', 'list')
    """
    return dtypes.type_name(obj.dtype) if isinstance(obj, Facts) else type(obj).__name__


def broadcast_shapes(*shapes: Any) -> Shape:
    """The shape that tensors of these shapes have together.  Raises ``ShapeError`` where they do not fit.

    >>> broadcast_shapes((2, 1), (3,))
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

    >>> set_default_device("cpu")
    >>> get_default_device()
    device(type='cpu')
    """
    on_cpu(device)


def is_inference(input: Any) -> bool:
    """Whether a tensor was made in inference mode, so that no graph may save it."""
    return bool(inferred(input))


def numel(input: Any) -> int:
    """Number of entries.

    >>> import symgrad as sg
    >>> sg.numel(sg.ones(2, 3))
    6
    """
    return input.numel()  # type: ignore[no-any-return]


def can_cast(from_: Any, to: Any) -> bool:
    """Whether results of the first dtype may be written into tensors of the second.

    >>> can_cast(np.int64, np.float32), can_cast(np.float32, np.int64)
    (True, False)
    """
    return dtypes.kind_order(dtypes.as_dtype(from_)) <= dtypes.kind_order(dtypes.as_dtype(to))


def promote_types(type1: Any, type2: Any) -> dtype:
    """The smallest dtype that holds both, by torch's table.

    >>> promote_types(np.int64, np.float32)
    dtype('float32')
    """
    return shown(dtypes.result_type(dtypes.as_dtype(type1), dtypes.as_dtype(type2)))


def result_type(tensor: Any, other: Any) -> dtype:
    """The dtype of an operation between two tensors or numbers.

    >>> import symgrad as sg
    >>> result_type(sg.ones(2, dtype=sg.int64), 1.5)
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
