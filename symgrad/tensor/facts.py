"""What a tensor is, apart from its numbers: shape, dtype, memory; new tensors of its kind."""

from __future__ import annotations

import importlib
import math
import sys
from typing import Any, SupportsIndex, overload

import numpy as np

from symgrad import dtypes
from symgrad.devices import CPU, accept, channels_last, channels_last_3d, contiguous_format, on_cpu, strided
from symgrad.dtype_objects import shown
from symgrad.errors import ArgumentError, DeviceError, DtypeError
from symgrad.notices import is_of_user, users_frames
from symgrad.ops.shapes.shaping import axis_of
from symgrad.tape.formulas.lost_sizes import LATELY, READ, note_read
from symgrad.tape.formulas.parts import sizes_of_part
from symgrad.tape.formulas.sizes import Size, note_length, plain_numbers
from symgrad.tape.memory.versions import storage
from symgrad.tape.memory.views import inferred, turned, view_of
from symgrad.tape.numbering import sequence
from symgrad.tape.record import Recorded, plain
from symgrad.tensor.storage import Storage
from symgrad.tensor.strides import in_sizes, steps_by_base, steps_of

_getframe = sys._getframe


class Shape(tuple[int, ...]):
    """The sizes of a tensor (torch.Size): a tuple whose ints stay recognisable as sizes in formulas.

    >>> import symgrad as sg
    >>> sg.zeros(2, 3).shape, sg.Size([2, 3]).numel()
    (torch.Size([2, 3]), 6)
    """

    __slots__ = ()

    def numel(self) -> int:
        """Product of the sizes."""
        return math.prod(self, start=Size(1))

    @overload
    def __getitem__(self, index: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Shape: ...
    def __getitem__(self, index: Any) -> Any:
        part = super().__getitem__(index)
        return Shape(part) if index.__class__ is slice else part

    def __add__(self, other: Any) -> Shape:
        return Shape(super().__add__(other))

    def __radd__(self, other: Any) -> Shape:
        return Shape(other + tuple(self))

    def __mul__(self, count: Any) -> Shape:
        return Shape(super().__mul__(count))

    __rmul__ = __mul__

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(plain_numbers(self, 2), dtype)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        """NumPy's functions: the product of sizes is made of them; of anything else nothing is left but numbers."""
        if function is np.prod and args == (self,) and not options:
            return self.numel()
        args = plain_numbers(args, 2)
        return function(*args, **dict(zip(options, plain_numbers(tuple(options.values()), 2), strict=True)))

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(str(int(s)) for s in self)}])"


def asked_shape(shape: tuple[int, ...]) -> Shape:
    """The sizes of an array that the user's program asks a function for, ``np.shape(x)``."""
    frame = next(users_frames(), None)
    while frame is not None and not is_of_user(frame.f_code.co_filename):
        frame = frame.f_back
    sizes = Shape(map(Size, shape))
    if frame is not None:
        LATELY.append((next(sequence), note_read(frame, sizes)))
    return sizes


def _sized(tensor: Any) -> Shape:
    """The sizes of a tensor, for the caller of the caller of this, which is noted."""
    frame, shape = _getframe(2), tensor._value.shape
    read = READ.get((id(frame.f_code), frame.f_lasti, shape))
    if read is None:
        read = note_read(frame, Shape(map(Size, shape)))
    LATELY.append((next(sequence), read))
    part = sizes_of_part(tensor)
    return read.shape if part is None else Shape(part)


class Facts(Recorded):
    """The part of a tensor that says what it is."""

    __slots__ = ()

    @property
    def shape(self) -> Shape:
        """The sizes, as a tuple.

        >>> import symgrad as sg
        >>> sg.ones(2, 3).shape
        torch.Size([2, 3])
        """
        return _sized(self)

    def __len__(self) -> int:
        if not self.ndim:
            raise ArgumentError("len() of a 0-d tensor")
        note_length(self, sizes_of_part(self))
        return int(self._value.shape[0])

    @property
    def raw_shape(self) -> tuple[int, ...]:
        """The sizes as plain ints, for the library's own use."""
        return self._value.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> Any:
        """The dtype, which NumPy's functions take, with torch's attributes.

        >>> import symgrad as sg
        >>> sg.ones(2).dtype == sg.float32
        True
        """
        return shown(self._value.dtype)

    @property
    def device(self) -> Any:
        """Where the tensor lives: on the CPU.

        >>> import symgrad as sg
        >>> sg.ones(2).device
        device(type='cpu')
        """
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
        """How the tensor is stored: ``strided``.

        >>> import symgrad as sg
        >>> sg.ones(2).layout
        torch.strided
        """
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
        """Number of axes.

        >>> import symgrad as sg
        >>> sg.ones(2, 3).ndim
        2
        """
        return int(self._value.ndim)

    def dim(self) -> int:
        """Number of axes."""
        return int(self._value.ndim)

    @overload
    def size(self, dim: None = None) -> Shape: ...
    @overload
    def size(self, dim: int) -> int: ...
    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of one axis.

        >>> import symgrad as sg
        >>> sg.ones(2, 3).size(), sg.ones(2, 3).size(0)
        (torch.Size([2, 3]), 2)
        """
        shape = _sized(self)
        if dim is None:
            return shape
        try:
            return shape[dim]
        except IndexError:
            return shape[axis_of(dim, len(shape))]  # which has torch's words
        except TypeError as error:
            what = type(dim).__name__
            raise ArgumentError(f"size(): argument 'dim' (position 1) must be int, not {what}") from error

    def numel(self) -> int:
        """Number of entries."""
        return _sized(self).numel()

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
        """Whether the tensor is the conjugate of the memory that it shows.

        >>> import symgrad as sg
        >>> z = sg.tensor([1 + 2j])
        >>> z.conj().is_conj(), z.conj().resolve_conj().is_conj(), z.conj().conj().is_conj()
        (True, False, False)
        """
        return turned(self)[0]

    def is_neg(self) -> bool:
        """Whether the tensor is the negative of the memory that it shows: the imaginary part of a conjugate is.

        >>> import symgrad as sg
        >>> z = sg.tensor([1 + 2j])
        >>> z.conj().imag.is_neg(), z.imag.is_neg()
        (True, False)
        """
        return turned(self)[1]

    def element_size(self) -> int:
        """Bytes per entry."""
        return int(self.dtype.itemsize)

    @property
    def itemsize(self) -> int:
        """Bytes per entry.

        >>> import symgrad as sg
        >>> sg.ones(2).itemsize
        4
        """
        return int(self.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        """Bytes of all entries.

        >>> import symgrad as sg
        >>> sg.ones(2, 3).nbytes
        24
        """
        return _sized(self).numel() * self._value.itemsize  # type: ignore[no-any-return]

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

    @overload
    def stride(self, dim: None = None) -> tuple[int, ...]: ...
    @overload
    def stride(self, dim: int) -> int: ...
    def stride(self, dim: int | None = None) -> Any:
        """How many entries apart neighbours along each axis lie in memory, or along one axis.

        >>> import symgrad as sg
        >>> sg.ones(2, 3).stride(), sg.ones(2, 3).T.stride()
        ((3, 1), (1, 3))
        """
        value = self._value
        told = value.size and (1 not in value.shape or view_of(self) is None)
        steps = steps_of(value) if told else steps_by_base(self)
        if is_of_user(_getframe(1).f_code.co_filename):
            view = view_of(self)
            steps = in_sizes(steps, _sized(self), () if view is None else view.base.raw_shape)
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
        """The bytes of the memory.

        >>> import symgrad as sg
        >>> x = sg.ones(2, 3)
        >>> x[1].untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
        True
        >>> x[1].untyped_storage().nbytes()
        24
        """
        return self._memory().view(np.uint8)

    def storage(self) -> Any:
        """All entries of the memory, one after the other.

        >>> import symgrad as sg
        >>> len(sg.ones(2, 3)[0].storage())
        6
        """
        return self._memory()

    def _memory(self) -> Any:
        found, view = storage(self._array()).ravel(order="K").view(Storage), view_of(self)
        found.sizes = (*self._value.shape, *(() if view is None else view.base.raw_shape))
        return found

    @overload
    def type(self, dtype: None = None) -> str: ...
    @overload
    def type(self, dtype: Any) -> Any: ...
    def type(self, dtype: Any = None) -> Any:
        """torch's name of the tensor's type ("torch.FloatTensor"), or the tensor as another type."""
        if dtype is None:
            return dtypes.type_name(self.dtype)
        return self.to(dtypes.from_type_name(dtype))  # type: ignore[attr-defined]

    def type_as(self, other: Any) -> Any:
        """In the dtype of another tensor."""
        return self.to(other.dtype)  # type: ignore[attr-defined]

    def to_dense(self, dtype: Any = None) -> Any:
        """The tensor itself, which is dense, or in another dtype."""
        return self if dtype is None else self.to(dtype)  # type: ignore[attr-defined]

    # -------------------------------------------------------------------------------------- other libraries

    def __array_namespace__(self, *, api_version: Any = None) -> Any:
        """The functions for tensors by the names of the array API standard: :mod:`symgrad.array_api`.

        Raises ``ValueError`` for versions of the standard before 2021.12 and after 2024.12.
        """
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
            raise ArgumentError(
                f"api_version={api_version!r}: symgrad.array_api has those from '2021.12' to '2024.12'."
            )
        return importlib.import_module("symgrad.array_api")

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
        from symgrad.tensor import Tensor
        from symgrad.tensor.creation import tell_of_copying, value_of_data

        if isinstance(data, Recorded):
            tell_of_copying("tensor.new_tensor")
        made = plain(Tensor, value_of_data(data, dtype or self.dtype))
        return with_gradient(made)._require() if requires_grad else made

    def new_zeros(self, *size: Any, **options: Any) -> Any:
        """Zeros of a shape, in the dtype of this tensor unless ``dtype`` is given."""
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
        from symgrad.tensor.creation import legacy

        data = data if size is None else tuple(size)
        if len(data) == 1 and hasattr(data[0], "raw_shape"):
            return data[0].to(self.dtype).view_as(data[0])
        return legacy(data, self.dtype)


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
