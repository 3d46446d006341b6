"""What layers share that scale and shift what they have normalized."""

from __future__ import annotations

from typing import Any

from symgrad.nn import init
from symgrad.nn.modules.linear import empty_parameter
from symgrad.nn.modules.module import Module


class Scaled(Module):
    """A layer with a weight and perhaps a bias of one shape, or neither."""

    def _layer_scale(self, shape: tuple[int, ...], weight: bool, bias: bool | None, where: tuple[Any, Any]) -> None:
        """Make them; without the attribute ``bias`` where that is None."""
        self.register_parameter("weight", empty_parameter(shape, *where) if weight else None)
        if bias is not None:
            self.register_parameter("bias", empty_parameter(shape, *where) if weight and bias else None)

    def reset_parameters(self) -> None:
        """Weights are 1 and biases 0 again."""
        if self.weight is not None:
            init.ones_(self.weight)
        if getattr(self, "bias", None) is not None:
            init.zeros_(self.bias)
