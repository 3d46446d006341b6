"""Distributions of numbers between bounds: the continuous Bernoulli distribution, Kumaraswamy's, and tails."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from symgrad.distributions import constraints
from symgrad.distributions.base import Distribution, broadcast_all
from symgrad.distributions.continuous import Uniform
from symgrad.distributions.discrete import Odds
from symgrad.distributions.transformed import TransformedDistribution
from symgrad.distributions.transforms import AffineTransform, PowerTransform
from symgrad.dtypes import finfo
from symgrad.ops.calls.naming import SPACES
from symgrad.random import rand
from symgrad.tensor import FUNCTIONS

_where, _functional = FUNCTIONS["where"], SPACES["nn.functional"]


def _finite(x: Any) -> Any:
    """0 for what is infinite, so that a slope of 0 there gives 0."""
    return _where(x.isinf(), 0.0, x)


class ContinuousBernoulli(Odds):
    """The density C pˣ (1 - p)¹⁻ˣ of numbers x between 0 and 1, for ``probs`` p or their ``logits``.

    Where p is inside of ``lims``, around the uniform distribution, series in the logits stand for what would be 0/0.
    They have two terms more than torch's for ``cdf`` and ``icdf``, so that samples have slopes and curvatures, too; for
    mean, variance and density they stand as far out as differences of large numbers would take more digits.

    >>> import symgrad as sg
    >>> sg.distributions.ContinuousBernoulli(0.3).mean
    tensor(0.4302)
    """

    has_rsample = True
    has_enumerate_support = False
    support = constraints.unit_interval

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ):
        self._lims = lims
        self._take_chance(probs, logits, validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        made = super().expand(batch_shape, _instance)
        made._lims = self._lims
        return made

    def _at(self, series: Any, exact: Any, upto: float = 0.0) -> Any:
        """A function of the logits: by its series near 0, and below ``upto``, and as it is elsewhere."""
        x, probs = self.logits, self.probs
        near = ((probs > self._lims[0]) & (probs <= self._lims[1])) | (x.abs() < upto)
        return _where(near, series(x), exact(_where(near, 1.0, x)))

    def _moment(self, series: Any, exact: Any) -> Any:
        """The same for differences of powers of 1/x: up to where both have lost as few digits."""
        return self._at(series, exact, finfo(self.logits.dtype).eps ** 0.125)

    def _log_norm(self) -> Any:
        """log C = log(x / tanh(x/2)) for the logits x."""
        return self._moment(
            lambda x: math.log(2) + x.pow(2) / 12 - 7 * x.pow(4) / 1440, lambda x: (x / (x / 2).tanh()).log()
        )

    @property
    def mean(self) -> Any:
        return self._moment(
            lambda x: 0.5 + x / 12 - x.pow(3) / 720, lambda x: 0.5 + 0.5 / (x / 2).tanh() - x.reciprocal()
        )

    @property
    def variance(self) -> Any:

        def exact(x: Any) -> Any:
            t = (x / 2).tanh()
            return x.pow(-2) - (1 - t) * (1 + t) / (2 * t).pow(2)

        return self._moment(lambda x: 1 / 12 - x.pow(2) / 240 + x.pow(4) / 6048, exact)

    @property
    def stddev(self) -> Any:
        return self.variance.sqrt()

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.icdf(rand(self._extended_shape(sample_shape), dtype=self.probs.dtype))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        loss = _functional["binary_cross_entropy_with_logits"](logits, value, reduction="none")
        return self._log_norm() - loss

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        v = value.clamp(min=0, max=1)

        def exact(x: Any) -> Any:
            """(eˣᵛ - 1)/(eˣ - 1), from the other end where x is positive, so that no power overflows."""
            share = _where(x > 0, 1 - v, v)
            found = (-x.abs() * share).expm1() / (-x.abs()).expm1()
            return _where(x > 0, 1 - found, found)

        return self._at(lambda x: v - x * v * (1 - v) * (0.5 - x * (1 - 2 * v) / 12), exact)

    def icdf(self, value: Any) -> Any:

        def exact(x: Any) -> Any:
            """log(1 - s + s e⁻ᵃ)/-a for a = |x|: by what is left of 1, where that is little."""
            a, rest = x.abs(), _where(x > 0, value, 1 - value)
            away, left = (1 - rest) * (-a).expm1(), rest + (1 - rest) * (-a).exp()
            far, out = away <= -0.5, left == 0  # both are 0 where the power is too small for the dtype
            log = _where(far, _where(far & ~out, left, 1.0).log(), _where(far, 0.0, away).log1p())
            found = _where(out, 1.0, log / -a)
            return _where(x > 0, 1 - found, found)

        return self._at(lambda x: value + x * value * (1 - value) * (0.5 + x * (1 - 2 * value) / 6), exact)

    def entropy(self) -> Any:
        return _functional["softplus"](self.logits) - self.logits * self.mean - self._log_norm()


class Kumaraswamy(TransformedDistribution):
    """The density a b xᵃ⁻¹ (1 - xᵃ)ᵇ⁻¹ between 0 and 1, for ``concentration1`` a and ``concentration0`` b.

    >>> import symgrad as sg
    >>> sg.distributions.Kumaraswamy(2.0, 3.0).log_prob(sg.tensor(0.5))
    tensor(0.5232)
    """

    has_rsample = True
    support = constraints.unit_interval
    arg_constraints: ClassVar[dict[str, Any]] = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None):
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        a, b = self.concentration1, self.concentration0
        if validate_args is not None:
            self._validate_args = bool(validate_args)
        self._check_parameters()  # before there is 1/0
        zeros = b.new_zeros(tuple(b.shape))
        powers = [PowerTransform(b.reciprocal()), AffineTransform(1.0, -1.0), PowerTransform(a.reciprocal())]
        super().__init__(Uniform(zeros, zeros + 1, validate_args=validate_args), powers, validate_args=validate_args)

    def _moment(self, n: int) -> Any:
        b, more = self.concentration0, 1 + n / self.concentration1
        return b * (more.lgamma() + b.lgamma() - (more + b).lgamma()).exp()

    @property
    def mean(self) -> Any:
        return self._moment(1)

    @property
    def variance(self) -> Any:
        return self._moment(2) - self.mean.pow(2)

    @property
    def mode(self) -> Any:
        """The value of the largest density; nan where there is none between 0 and 1."""
        a, b = self.concentration1, self.concentration0
        inside = (a >= 1) & (b >= 1) & (a * b > 1)
        odds = _where(inside, a - 1, 0.5) / _where(inside, a * b - 1, 1.0)
        return _where(inside, odds.pow(1 / a), math.nan)

    def entropy(self) -> Any:
        a, b = self.concentration1, self.concentration0
        return (1 - 1 / b) + (1 - 1 / a) * ((b + 1).digamma() + np.euler_gamma) - a.log() - b.log()


class GeneralizedPareto(Distribution):
    """What is left above ``loc``, at the length ``scale``, with a tail that ``concentration`` c tells.

    The probability of more than x is (1 + c z)^(-1/c) for z = (x - loc)/scale, and e^(-z) at c = 0.

    >>> import symgrad as sg
    >>> sg.distributions.GeneralizedPareto(0.0, 1.0, 0.5).cdf(sg.tensor(2.0))
    tensor(0.7500)
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Any]] = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None):
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def _at(self, series: Any, exact: Any) -> Any:
        """A function of the concentration: by its series near 0, and as it is elsewhere."""
        c = self.concentration
        near = c.abs() <= 1e-8
        return _where(near, series(c), exact(_where(near, 1.0, c)))

    @property
    def support(self) -> Any:
        """From ``loc`` on, up to an end where the concentration is negative."""
        c, loc = self.concentration.detach(), self.loc.detach()
        end = _where(c < 0, loc - self.scale.detach() / _where(c < 0, c, -1.0), math.inf)
        return constraints.interval(loc, end)

    @property
    def mean(self) -> Any:
        """The expected value; nan where there is none."""
        c = self.concentration
        return _where(c < 1, self.loc + self.scale / (1 - _where(c < 1, c, 0.5)), math.nan)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        """The variance; nan where there is none."""
        safe = _where(self.concentration < 0.5, self.concentration, 0.25)
        found = self.scale.pow(2) / ((1 - safe).pow(2) * (1 - 2 * safe))
        return _where(self.concentration < 0.5, found, math.nan)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.icdf(rand(self._extended_shape(sample_shape), dtype=self.loc.dtype))

    def log_survival_function(self, value: Any) -> Any:
        """The log of the probability of more than ``value``."""
        self._validate_sample(value)
        z = (value - self.loc) / self.scale
        near = _finite(z)
        return self._at(lambda c: c * near.pow(2) * (0.5 - c * near / 3) - z, lambda c: -(c * z).log1p() / c)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        z = (value - self.loc) / self.scale

        def exact(c: Any) -> Any:
            y = 1 / c + 1
            return _where(y == 0, y, y * (c * z).log1p())  # a uniform density, to its end

        near = _finite(z)
        return -self.scale.log() - self._at(
            lambda c: z + c * near * (1 - near / 2 + c * near * (near / 3 - 0.5)), exact
        )

    def log_cdf(self, value: Any) -> Any:
        """The log of the probability of at most ``value``."""
        return (-self.log_survival_function(value).exp()).log1p()

    def cdf(self, value: Any) -> Any:
        return -self.log_survival_function(value).expm1()

    def icdf(self, value: Any) -> Any:
        logs = (-value).log1p()
        near = _finite(logs)
        away = self._at(lambda c: c * near.pow(2) * (0.5 - c * near / 6) - logs, lambda c: (-c * logs).expm1() / c)
        return self.loc + self.scale * away

    def entropy(self) -> Any:
        return self.scale.log() + self.concentration + 1
