"""What the namespace can do, as the array API standard asks for it."""

from __future__ import annotations

from typing import Any

from symgrad import dtype_objects as dtypes
from symgrad.devices import device

_KINDS = {
    "bool": ("bool_",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_GROUPS = {
    "integral": ("signed integer", "unsigned integer"),
    "numeric": ("signed integer", "unsigned integer", "real floating", "complex floating"),
}


class Info:
    """Capabilities, devices and dtypes."""

    def capabilities(self) -> dict[str, Any]:
        """Masks and results of a length that depends on values are there."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Any:
        """The CPU."""
        return device("cpu")

    def devices(self) -> list[Any]:
        """The CPU."""
        return [device("cpu")]

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:  # noqa: ARG002
        """The dtypes of what is made of Python's numbers."""
        real = dtypes.get_default_dtype()
        double = real == dtypes.float64
        return {
            "real floating": real,
            "complex floating": dtypes.complex128 if double else dtypes.complex64,
            "integral": dtypes.int64,
            "indexing": dtypes.int64,
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:  # noqa: ARG002
        """The dtypes by their names, of a kind such as "real floating", or of several."""
        asked = tuple(_KINDS) if kind is None else kind if isinstance(kind, tuple) else (kind,)
        kinds = [each for name in asked for each in _GROUPS.get(name, (name,))]
        return {name.removesuffix("_"): getattr(dtypes, name) for each in kinds for name in _KINDS[each]}
