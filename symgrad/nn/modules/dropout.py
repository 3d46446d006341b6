"""Layers that drop entries in training, and do nothing afterwards."""

from __future__ import annotations

from symgrad.errors import ArgumentError
from symgrad.nn import functional
from symgrad.nn.modules.applied import Applied


class _DropoutNd(Applied):
    """What the layers share: the probability ``p`` to be dropped."""

    _layer_shown, _layer_usual = "p={p}, inplace={inplace}", {}
    _layer_trains = True
    p: float = 0.5
    inplace: bool = False

    def __init__(self, p: float = 0.5, inplace: bool = False):
        super().__init__(p, inplace)
        if not 0 <= p <= 1:
            raise ArgumentError(f"dropout probability has to be between 0 and 1, but got {p}")


class Dropout(_DropoutNd):
    """Entries are 0 with probability ``p``, and 1/(1 - p) times as large otherwise."""

    _layer_function = staticmethod(functional.dropout)


class Dropout1d(_DropoutNd):
    """Whole channels of (N, C, L) are dropped."""

    _layer_function = staticmethod(functional.dropout1d)


class Dropout2d(_DropoutNd):
    """Whole channels of (N, C, H, W) are dropped."""

    _layer_function = staticmethod(functional.dropout2d)


class Dropout3d(_DropoutNd):
    """Whole channels of (N, C, D, H, W) are dropped."""

    _layer_function = staticmethod(functional.dropout3d)


class AlphaDropout(_DropoutNd):
    """Drops entries so that mean and variance stay, as goes with :class:`SELU`."""

    _layer_function = staticmethod(functional.alpha_dropout)


class FeatureAlphaDropout(_DropoutNd):
    """Drops whole channels as :class:`AlphaDropout` does entries."""

    _layer_function = staticmethod(functional.feature_alpha_dropout)
