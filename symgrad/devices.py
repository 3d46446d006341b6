"""Where tensors live, and how: on the CPU, densely.  Devices, layouts and formats are for code that names them."""

from __future__ import annotations

import re
from typing import Any, Self, TypedDict

import numpy as np

from symgrad.errors import ArgumentError, DeviceError, ShapeError

_TEXT = re.compile(r"([a-z]+)(?::(\d+))?")
_KNOWN = (
    *("cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy"),
    *("vulkan", "mps", "meta", "hpu", "mtia", "privateuseone"),
)


class device:  # noqa: N801  (torch's name)
    """A kind of device and a number: ``device("cpu")``, ``device("cuda:0")``, ``device("cuda", 0)``.

    All of torch's can be named; tensors live on the CPU only, and ``to`` another one, or ``with`` one, raises
    ``DeviceError``.

    >>> import symgrad as sg
    >>> sg.device("cpu"), sg.device("cuda:1").index
    (device(type='cpu'), 1)
    """

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __init__(self, type: Any, index: int | None = None):
        if isinstance(type, device):
            type, index = type.type, type.index if index is None else index
        found = _TEXT.fullmatch(type) if isinstance(type, str) else None
        if found is None or (found[2] is not None and index is not None):
            raise ArgumentError(f"device({type!r}): a device is named 'cpu', or 'cuda:0' with its number.")
        if found[1] not in _KNOWN:
            raise DeviceError(f"device({type!r}): there is no device of this name; there are {', '.join(_KNOWN)}.")
        self.type = found[1]
        self.index = int(found[2]) if found[2] is not None else index

    def __enter__(self) -> Self:
        on_cpu(self)
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing: tensors were made where they always are."""

    def __repr__(self) -> str:
        number = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{number})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple[Any, ...]:
        return (device, (self.type, self.index))


CPU = device("cpu")


def is_device_name(value: Any) -> bool:
    """Whether ``value`` names a device rather than a dtype."""
    return isinstance(value, device) or (
        isinstance(value, str) and re.match(r"(cpu|cuda|mps|xpu|meta)\b", value) is not None
    )


def on_cpu(value: Any) -> None:
    """Raise ``DeviceError`` for any device but the CPU (None is the CPU).

    Tensors of the device ``meta`` are for code that never reads their values; here they are on the CPU, with values.
    """
    if value is not None and device(value).type not in ("cpu", "meta"):
        raise DeviceError(
            f"there is no device {str(value)!r} here: symgrad computes with NumPy, on the CPU. Leave the device away, "
            "or choose it with cuda.is_available(), which is False."
        )


class layout:  # noqa: N801  (torch's name)
    """How a tensor is stored; all tensors here are ``strided``.

    >>> import symgrad as sg
    >>> sg.ones(2).layout
    torch.strided
    """

    __slots__ = ("name",)

    name: str

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class memory_format(layout):  # noqa: N801  (torch's name)
    """The order of the axes in memory: row by row, as given, or with the channels, axis 1, innermost.

    >>> import symgrad as sg
    >>> sg.ones(2, 3).t().contiguous(memory_format=sg.contiguous_format).stride()
    (2, 1)
    """

    __slots__ = ()


strided, sparse_coo, sparse_csr = (layout(name) for name in ("strided", "sparse_coo", "sparse_csr"))
contiguous_format, preserve_format, channels_last, channels_last_3d = (
    memory_format(name) for name in ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
)
legacy_contiguous_format = contiguous_format
"""The name in old code."""


def arranged(array: Any, order: Any) -> Any:
    """An array in a memory format, itself where it is already; raises ``ShapeError`` for channels it does not have."""
    rank = {channels_last: 4, channels_last_3d: 5}.get(order)
    if rank is not None:
        if array.ndim != rank:
            raise ShapeError(f"required rank {rank} tensor to use {order.name} format, got shape {array.shape}")
        return np.moveaxis(np.asarray(np.moveaxis(array, 1, -1), order="C"), -1, 1)
    return np.asarray(array, order="C") if order is contiguous_format and array.ndim else array


class Options(TypedDict, total=False):
    """What torch's factories take besides: where and how the tensor is to lie, and a tensor to put it into."""

    device: Any
    layout: Any
    pin_memory: Any
    memory_format: Any
    out: Any


def accept(name: str, options: Options) -> None:
    """Raise for a place that there is not: ``DeviceError`` for a device, ``ArgumentError`` for a layout."""
    strange = options.keys() - Options.__optional_keys__
    if strange:
        raise ArgumentError(f"{name}() got an unexpected keyword argument {min(strange)!r}")
    on_cpu(options.get("device"))
    if options.get("layout", strided) not in (None, strided):
        raise ArgumentError(f"{name}(): there is no layout {options['layout']!r} here; tensors are strided (dense).")
    if options.get("pin_memory"):
        raise DeviceError(f"{name}(): pin_memory is for copies to a GPU, and there is none; leave it away.")
