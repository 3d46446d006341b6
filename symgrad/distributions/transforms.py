"""Functions that samples go through, with the logarithms of their slopes: ``torch.distributions.transforms``.

A transform of one's own has ``domain``, ``codomain``, ``_call``, ``_inverse`` and ``log_abs_det_jacobian``.

>>> import symgrad as sg
>>> t = sg.distributions.transforms.TanhTransform()
>>> t.inv(t(sg.tensor(0.5)))
tensor(0.5000)
"""

from __future__ import annotations

import math
from typing import Any

from symgrad.distributions import constraints
from symgrad.distributions.base import broadcast_all
from symgrad.distributions.joined_transforms import CatTransform, StackTransform
from symgrad.distributions.matrix_transforms import (
    CorrCholeskyTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
)
from symgrad.distributions.transforming import (
    ComposeTransform,
    IndependentTransform,
    ReshapeTransform,
    Transform,
    _InverseTransform as _InverseTransform,  # a private name of torch that packages of flows import
    identity_transform,
    sum_rightmost,
)
from symgrad.dtypes import finfo
from symgrad.errors import ArgumentError
from symgrad.op import broadcast_shapes
from symgrad.ops.calls.naming import SPACES
from symgrad.tensor import FUNCTIONS, creation
from symgrad.tensor.borrowed import as_tensor
from symgrad.tensor.facts import Shape

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
    "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
    "SoftplusTransform", "StackTransform", "StickBreakingTransform", "TanhTransform", "Transform", "identity_transform",
]  # fmt: skip


class ExpTransform(Transform):
    """y = eˣ."""

    domain, codomain = constraints.real, constraints.positive
    bijective, sign = True, 1

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:  # noqa: ARG002
        return x


class PowerTransform(Transform):
    """y = x to an ``exponent``."""

    _settings = ("exponent",)
    domain, codomain = constraints.positive, constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0):
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    @property
    def sign(self) -> Any:
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool(self.exponent.eq(other.exponent).all())

    __hash__ = object.__hash__

    def _call(self, x: Any) -> Any:
        return x.pow(self.exponent)

    def _inverse(self, y: Any) -> Any:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Any) -> Any:
        return Shape(broadcast_shapes(tuple(shape), tuple(self.exponent.shape)))

    inverse_shape = forward_shape


def _inside(chance: Any) -> Any:
    """Probabilities that are not 0 or 1."""
    known = finfo(chance.dtype)
    return chance.clamp(min=known.tiny, max=1.0 - known.eps)


class SigmoidTransform(Transform):
    """y = 1/(1 + e⁻ˣ)."""

    domain, codomain = constraints.real, constraints.unit_interval
    bijective, sign = True, 1

    def _call(self, x: Any) -> Any:
        return _inside(x.sigmoid())

    def _inverse(self, y: Any) -> Any:
        y = _inside(y)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:  # noqa: ARG002
        return -_softplus(-x) - _softplus(x)


class SoftplusTransform(Transform):
    """y = log(1 + eˣ)."""

    domain, codomain = constraints.real, constraints.positive
    bijective, sign = True, 1

    def _call(self, x: Any) -> Any:
        return _softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:  # noqa: ARG002
        return -_softplus(-x)


class TanhTransform(Transform):
    """y = tanh x; with ``cache_size=1`` the x of a sample is not lost where y is rounded to 1."""

    domain, codomain = constraints.real, constraints.interval(-1.0, 1.0)
    bijective, sign = True, 1

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:  # noqa: ARG002
        return 2.0 * (math.log(2.0) - x - _softplus(-2.0 * x))


class AbsTransform(Transform):
    """y = |x|, whose inverse is one of two."""

    domain, codomain = constraints.real, constraints.positive

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


class AffineTransform(Transform):
    """y = loc + scale x, for numbers or tensors; ``event_dim`` axes are one event."""

    _settings = ("loc", "scale", "_event_dim")
    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0):
        super().__init__(cache_size=cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def event_dim(self) -> int:
        """The number of axes of one event."""
        return self._event_dim

    @property
    def domain(self) -> Any:
        """The constraint on what goes in, and on what comes out."""
        return constraints.independent(constraints.real, self._event_dim) if self._event_dim else constraints.real

    codomain = domain

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AffineTransform):
            return False
        pairs: Any = ((self.loc, other.loc), (self.scale, other.scale))
        return all(a is b or bool(FUNCTIONS["eq"](as_tensor(a), b).all()) for a, b in pairs)

    __hash__ = object.__hash__

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, (int, float)):
            return (self.scale > 0) - (self.scale < 0)
        return self.scale.sign()

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:  # noqa: ARG002
        """The logarithm of the slope, added along the axes of one event."""
        shape = tuple(x.shape)
        if isinstance(self.scale, (int, float)):
            logs: Any = creation.full(shape, math.log(abs(self.scale)), dtype=x.dtype)
        else:
            logs = self.scale.abs().log()
        if self._event_dim:
            logs, shape = sum_rightmost(logs, self._event_dim), shape[: -self._event_dim]
        return logs.expand(shape)

    def forward_shape(self, shape: Any) -> Any:
        return Shape(broadcast_shapes(tuple(shape), *(tuple(getattr(p, "shape", ())) for p in (self.loc, self.scale))))

    inverse_shape = forward_shape


class SoftmaxTransform(Transform):
    """The softmax of the last axis, which is no bijection."""

    domain, codomain = constraints.real_vector, constraints.simplex

    def _call(self, x: Any) -> Any:
        parts = (x - x.max(-1, True)[0]).exp()
        return parts / parts.sum(-1, True)

    def _inverse(self, y: Any) -> Any:
        return y.log()


class StickBreakingTransform(Transform):
    """Vectors as positive ones that add up to 1 and have one entry more: what is left is broken again and again."""

    domain, codomain = constraints.real_vector, constraints.simplex
    bijective = True

    @staticmethod
    def _offset(x: Any) -> Any:
        return x.shape[-1] + 1 - x.new_ones((x.shape[-1],)).cumsum(-1)

    def _call(self, x: Any) -> Any:
        pad = SPACES["nn.functional"]["pad"]
        z = _inside((x - self._offset(x).log()).sigmoid())
        return pad(z, [0, 1], value=1) * pad((1 - z).cumprod(-1), [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        parts = y[..., :-1]
        left = (1 - parts.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        return parts.log() - left.log() + self._offset(parts).log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        x = x - self._offset(x).log()
        return (-x + SPACES["nn.functional"]["logsigmoid"](x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        return self._longer(shape, 1)

    def inverse_shape(self, shape: Any) -> Any:
        return self._longer(shape, -1)

    @staticmethod
    def _longer(shape: Any, by: int) -> Any:
        if not len(shape):
            raise ArgumentError("Too few dimensions on input")
        return Shape((*shape[:-1], shape[-1] + by))


class CumulativeDistributionTransform(Transform):
    """The probability that a ``distribution`` gives at most x, so that what is distributed so becomes uniform."""

    _settings = ("distribution",)
    codomain = constraints.unit_interval
    bijective, sign = True, 1

    def __init__(self, distribution: Any, cache_size: int = 0):
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        """What the distribution gives."""
        return self.distribution.support

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:  # noqa: ARG002
        """The logarithm of the slope, which is the density."""
        return self.distribution.log_prob(x)


def _softplus(x: Any) -> Any:
    return SPACES["nn.functional"]["softplus"](x)
