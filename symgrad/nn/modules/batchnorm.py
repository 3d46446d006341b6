"""Normalization by the mean and variance of each channel, of a batch or of each of its examples."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

from symgrad.dtypes import int64
from symgrad.errors import ArgumentError
from symgrad.nn import functional
from symgrad.nn.modules.scaling import Scaled
from symgrad.tensor.creation import ones, tensor, zeros


class _NormBase(Scaled):
    """What both share: weight and bias of each channel if ``affine``; running mean and variance if tracked."""

    _layer_shown = (
        "{num_features}, eps={eps}, momentum={momentum}, affine={affine}, bias={bias}, "
        "track_running_stats={track_running_stats}"
    )

    _layer_ndims: ClassVar[tuple[int, ...]]
    _version = 2

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self._layer_scale((num_features,), affine, bias, (device, dtype))
        tracked = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, device=device, dtype=dtype) if tracked else None)
        self.register_buffer("running_var", ones(num_features, device=device, dtype=dtype) if tracked else None)
        self.register_buffer("num_batches_tracked", tensor(0, dtype=int64) if tracked else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget the batches: mean 0 and variance 1."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Weights are 1 and biases 0 again, and the batches are forgotten."""
        self.reset_running_stats()
        super().reset_parameters()

    def _check_input_dim(self, input: Any) -> None:
        if input.ndim not in self._layer_ndims:
            wanted = " or ".join(f"{ndim}D" for ndim in self._layer_ndims)
            raise ArgumentError(f"expected {wanted} input (got {input.ndim}D input)")

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: dict[str, Any], *rest: Any) -> None:
        """States of the first version do not have the number of batches."""
        key = prefix + "num_batches_tracked"
        if local_metadata.get("version", 0) < 2 and self.track_running_stats and key not in state_dict:
            state_dict[key] = self.num_batches_tracked
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _BatchNorm(_NormBase):
    def forward(self, input: Any) -> Any:
        """The shape of the input; in training, the running mean and variance move by ``momentum``."""
        self._check_input_dim(input)
        rate = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the mean of all batches
                rate = 1.0 / float(self.num_batches_tracked)
        tracked = not self.training or self.track_running_stats
        return functional.batch_norm(
            input,
            self.running_mean if tracked else None,
            self.running_var if tracked else None,
            self.weight,
            self.bias,
            self.training or self.running_mean is None,
            rate,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """(x - mean)/√(var + ε) · weight + bias for each channel of (N, C) or (N, C, L).

    >>> import symgrad as sg
    >>> norm = sg.nn.BatchNorm1d(2)
    >>> norm(sg.tensor([[1.0, 5.0], [3.0, 9.0]]))
    tensor([[-1.0000, -1.0000],
            [ 1.0000,  1.0000]], grad_fn=<NativeBatchNormBackward0>)
    """

    _layer_ndims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """The same for (N, C, H, W)."""

    _layer_ndims = (4,)


class BatchNorm3d(_BatchNorm):
    """The same for (N, C, D, H, W)."""

    _layer_ndims = (5,)


class _InstanceNorm(_NormBase):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Any) -> Any:
        """The shape of the input, which may also be one example."""
        self._check_input_dim(input)
        alone = input.ndim == self._layer_ndims[0]
        axis = 0 if alone else 1
        if input.shape[axis] != self.num_features:
            self._tell(axis, input.shape[axis])
        made = functional.instance_norm(
            input.unsqueeze(0) if alone else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return made.squeeze(0) if alone else made

    def _tell(self, axis: int, channels: int) -> None:
        if self.affine:
            raise ArgumentError(
                f"expected input's size at dim={axis} to match num_features ({self.num_features}), but got: {channels}."
            )
        warnings.warn(
            f"input's size at dim={axis} does not match num_features. You can silence this warning by not passing in "
            "num_features, which is not used because affine=False",
            stacklevel=4,
        )


class InstanceNorm1d(_InstanceNorm):
    """(x - mean)/√(var + ε) for each channel of each example of (N, C, L)."""

    _layer_ndims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """The same for (N, C, H, W)."""

    _layer_ndims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """The same for (N, C, D, H, W)."""

    _layer_ndims = (4, 5)
