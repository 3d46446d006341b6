"""Layers that make arrays larger at their ends: by a number, by what is there mirrored, repeated or taken around."""

from __future__ import annotations

from typing import Any, ClassVar

from symgrad.nn import functional
from symgrad.nn.modules.module import Module


class _Padding(Module):
    """What the layers share: the width at both ends of each axis, the last axis first; a number is for all of them."""

    _layer_shown = "{padding}"

    _layer_axes: ClassVar[int]
    _layer_mode: ClassVar[str]

    def __init__(self, padding: Any):
        super().__init__()
        self.padding = (padding,) * (2 * self._layer_axes) if isinstance(padding, int) else tuple(padding)

    def forward(self, input: Any) -> Any:
        """The padded input."""
        return functional.pad(input, self.padding, self._layer_mode)


class _Constant(_Padding):
    _layer_shown = "padding={padding}, value={value}"
    _layer_mode = "constant"

    def __init__(self, padding: Any, value: float):
        super().__init__(padding)
        self.value = value

    def forward(self, input: Any) -> Any:
        """The padded input."""
        return functional.pad(input, self.padding, self._layer_mode, self.value)


class _Zero(_Padding):
    _layer_mode = "constant"


class ConstantPad1d(_Constant):
    """A value at the ends of the last axis."""

    _layer_axes = 1


class ConstantPad2d(_Constant):
    """A value around the last two axes."""

    _layer_axes = 2


class ConstantPad3d(_Constant):
    """A value around the last three axes."""

    _layer_axes = 3


class ZeroPad1d(_Zero):
    """Zeros at the ends of the last axis."""

    _layer_axes = 1


class ZeroPad2d(_Zero):
    """Zeros around the last two axes."""

    _layer_axes = 2


class ZeroPad3d(_Zero):
    """Zeros around the last three axes."""

    _layer_axes = 3


class ReflectionPad1d(_Padding):
    """The entries mirrored at the ends of the last axis."""

    _layer_axes, _layer_mode = 1, "reflect"


class ReflectionPad2d(_Padding):
    """The entries mirrored around the last two axes."""

    _layer_axes, _layer_mode = 2, "reflect"


class ReflectionPad3d(_Padding):
    """The entries mirrored around the last three axes."""

    _layer_axes, _layer_mode = 3, "reflect"


class ReplicationPad1d(_Padding):
    """The outermost entries repeated at the ends of the last axis."""

    _layer_axes, _layer_mode = 1, "replicate"


class ReplicationPad2d(_Padding):
    """The outermost entries repeated around the last two axes."""

    _layer_axes, _layer_mode = 2, "replicate"


class ReplicationPad3d(_Padding):
    """The outermost entries repeated around the last three axes."""

    _layer_axes, _layer_mode = 3, "replicate"


class CircularPad1d(_Padding):
    """The entries of the other end of the last axis."""

    _layer_axes, _layer_mode = 1, "circular"


class CircularPad2d(_Padding):
    """The entries of the other ends of the last two axes."""

    _layer_axes, _layer_mode = 2, "circular"


class CircularPad3d(_Padding):
    """The entries of the other ends of the last three axes."""

    _layer_axes, _layer_mode = 3, "circular"
