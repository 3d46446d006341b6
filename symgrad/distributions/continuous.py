"""Other distributions of real numbers: uniform, exponential, Laplace's, Cauchy's."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from symgrad.distributions import constraints
from symgrad.distributions.base import Distribution, Located, broadcast_all, room
from symgrad.dtypes import finfo
from symgrad.errors import ArgumentError
from symgrad.random import rand
from symgrad.tensor import FUNCTIONS, creation


class Uniform(Distribution):
    """Equal densities between ``low`` and ``high``.

    >>> import symgrad as sg
    >>> sg.distributions.Uniform(0.0, 4.0).log_prob(sg.tensor(1.0))
    tensor(-1.3863)
    """

    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None):
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.shape, validate_args=validate_args)
        if self._validate_args and not bool((self.low.detach() < self.high.detach()).all()):
            raise ArgumentError("Uniform is not defined when low>= high")

    @property
    def arg_constraints(self) -> dict[str, Any]:  # type: ignore[override]
        """Each bound is on its side of the other."""
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    @property
    def mean(self) -> Any:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Any:
        """nan: no value has a larger density than the others."""
        return math.nan * self.high

    @property
    def stddev(self) -> Any:
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Any:
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Any = ()) -> Any:
        part = rand(self._extended_shape(sample_shape), dtype=self.low.dtype)
        return self.low + part * (self.high - self.low)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        inside = self.low.le(value) & self.high.gt(value)
        return FUNCTIONS["where"](inside, -(self.high - self.low).log(), -math.inf)

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Any) -> Any:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Any:
        return (self.high - self.low).log()

    @property
    def support(self) -> Any:
        """Between the parameters."""
        return constraints.interval(self.low.detach(), self.high.detach())


class Exponential(Distribution):
    """The density rate e^(-rate x) of positive numbers.

    >>> import symgrad as sg
    >>> sg.distributions.Exponential(2.0).mean
    tensor(0.5000)
    """

    has_rsample = True
    support = constraints.nonnegative
    arg_constraints: ClassVar[dict[str, Any]] = {"rate": constraints.positive}

    def __init__(self, rate: Any, validate_args: bool | None = None):
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.rate.reciprocal()

    stddev = mean

    @property
    def mode(self) -> Any:
        return self.rate.detach() * 0

    @property
    def variance(self) -> Any:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return room(self._extended_shape(sample_shape), self.rate).exponential_() / self.rate

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return 1 - (-self.rate * value).exp()

    def icdf(self, value: Any) -> Any:
        return -(-value).log1p() / self.rate

    def entropy(self) -> Any:
        return 1 - self.rate.log()


class Laplace(Located):
    """The density e^(-|x - loc|/scale) / (2 scale).

    >>> import symgrad as sg
    >>> sg.distributions.Laplace(0.0, 1.0).log_prob(sg.tensor(0.0))
    tensor(-0.6931)
    """

    @property
    def stddev(self) -> Any:
        return 2**0.5 * self.scale

    @property
    def variance(self) -> Any:
        return 2 * self.scale.pow(2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        u = room(self._extended_shape(sample_shape), self.loc).uniform_(finfo(self.loc.dtype).eps - 1, 1)
        return self.loc - self.scale * u.sign() * (-u.abs()).log1p()

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        away = value - self.loc
        return 0.5 - 0.5 * away.sign() * (-away.abs() / self.scale).expm1()

    def icdf(self, value: Any) -> Any:
        away = value - 0.5
        return self.loc - self.scale * away.sign() * (-2 * away.abs()).log1p()

    def entropy(self) -> Any:
        return 1 + (2 * self.scale).log()


class Cauchy(Located):
    """Cauchy's distribution, of density scale/(π (scale² + (x - loc)²)), without mean.

    >>> import symgrad as sg
    >>> sg.distributions.Cauchy(0.0, 1.0).cdf(sg.tensor(1.0))
    tensor(0.7500)
    """

    @property
    def mean(self) -> Any:
        """nan: there is none."""
        return creation.full(tuple(self._extended_shape(())), math.nan, dtype=self.loc.dtype)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        """Infinite."""
        return creation.full(tuple(self._extended_shape(())), math.inf, dtype=self.loc.dtype)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.loc + room(self._extended_shape(sample_shape), self.loc).cauchy_() * self.scale

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return ((value - self.loc) / self.scale).atan() / math.pi + 0.5

    def icdf(self, value: Any) -> Any:
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Any:
        return math.log(4 * math.pi) + self.scale.log()
