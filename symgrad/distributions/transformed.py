"""Distributions of what is computed from samples of others: half of them, their powers, and relaxed choices."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from symgrad.distributions import constraints
from symgrad.distributions.base import Distribution, broadcast_all, kind_of
from symgrad.distributions.composed import Independent
from symgrad.distributions.continuous import Cauchy, Exponential, Uniform
from symgrad.distributions.gammas import Gamma
from symgrad.distributions.normals import Normal
from symgrad.distributions.relaxed import ExpRelaxedCategorical, LogitRelaxedBernoulli
from symgrad.distributions.transforming import ComposeTransform, Transform, sum_rightmost
from symgrad.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    StickBreakingTransform,
)
from symgrad.dtypes import finfo
from symgrad.errors import ArgumentError
from symgrad.tape.modes import no_grad
from symgrad.tensor import FUNCTIONS, creation
from symgrad.tensor.facts import Shape

_where = FUNCTIONS["where"]


class TransformedDistribution(Distribution):
    """What comes out of ``transforms``, one after the other, for samples of ``base_distribution``.

    Raises ``ArgumentError`` for what are no transforms, and for distributions of too few axes.

    >>> import symgrad as sg
    >>> D = sg.distributions
    >>> D.TransformedDistribution(D.Normal(0.0, 1.0), [D.transforms.ExpTransform()]).log_prob(sg.tensor(2.0))
    tensor(-1.8523)
    """

    def __init__(self, base_distribution: Distribution, transforms: Any, validate_args: bool | None = None):
        parts = [transforms] if isinstance(transforms, Transform) else transforms
        if not isinstance(parts, list):
            raise ArgumentError(f"transforms must be a Transform or list, but was {transforms}")
        if not all(isinstance(part, Transform) for part in parts):
            raise ArgumentError("transforms must be a Transform or a list of Transforms")
        self.transforms, whole = parts, ComposeTransform(parts)
        shape = Shape((*base_distribution.batch_shape, *base_distribution.event_shape))
        own, wanted = len(base_distribution.event_shape), whole.domain.event_dim
        if len(shape) < wanted:
            raise ArgumentError(f"base_distribution needs to have shape with size at least {wanted}, but got {shape}.")
        made = tuple(whole.forward_shape(shape))
        wide = tuple(whole.inverse_shape(made))
        if tuple(shape) != wide:
            base_distribution = base_distribution.expand(wide[: len(wide) - own])
        self.base_dist: Any = Independent(base_distribution, wanted - own) if wanted > own else base_distribution
        cut = len(made) - max(whole.codomain.event_dim, own + whole.codomain.event_dim - wanted)
        super().__init__(made[:cut], made[cut:], validate_args=validate_args)

    @property
    def support(self) -> Any:
        """What the last transform gives."""
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        more = len(self.event_shape) - support.event_dim
        return constraints.independent(support, more) if more > 0 else support

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether gradients flow through samples."""
        return self.base_dist.has_rsample  # type: ignore[no-any-return]

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        if kind_of(self) is not TransformedDistribution:
            return super().expand(batch_shape, _instance)
        shape = Shape((*batch_shape, *self.event_shape))
        for part in reversed(self.transforms):
            shape = part.inverse_shape(shape)
        base = self.base_dist.expand(tuple(shape)[: len(shape) - len(self.base_dist.event_shape)])
        return self._filled(_instance, TransformedDistribution(base, self.transforms, validate_args=False))

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            return self._through(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._through(self.base_dist.rsample(sample_shape))

    def _through(self, x: Any) -> Any:
        for part in self.transforms:
            x = part(x)
        return x

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        ndim, logs = len(self.event_shape), 0.0
        for part in reversed(self.transforms):
            x = part.inv(value)
            ndim += part.domain.event_dim - part.codomain.event_dim
            logs = logs - sum_rightmost(part.log_abs_det_jacobian(x, value), ndim - part.domain.event_dim)
            value = x
        return logs + sum_rightmost(self.base_dist.log_prob(value), ndim - len(self.base_dist.event_shape))

    def cdf(self, value: Any) -> Any:
        for part in reversed(self.transforms):
            value = part.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._risen(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Any:
        return self._through(self.base_dist.icdf(self._risen(value)))

    def _risen(self, chance: Any) -> Any:
        """A probability, from the other end where the transforms fall."""
        sign = ComposeTransform(self.transforms).sign
        return chance if isinstance(sign, int) and sign == 1 else sign * (chance - 0.5) + 0.5


class _Half(TransformedDistribution):
    """The absolute values of what is distributed evenly around 0."""

    support = constraints.nonnegative
    arg_constraints: ClassVar[dict[str, Any]] = {"scale": constraints.positive}

    @property
    def scale(self) -> Any:
        """The scale of what the absolute value is taken of."""
        return self.base_dist.scale

    @property
    def mode(self) -> Any:
        return self.scale.detach() * 0

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return _where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value: Any) -> Any:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Any:
        return self.base_dist.entropy() - math.log(2)


class HalfNormal(_Half):
    """The absolute value of a normal number of mean 0 and standard deviation ``scale``.

    >>> import symgrad as sg
    >>> sg.distributions.HalfNormal(1.0).mean
    tensor(0.7979)
    """

    def __init__(self, scale: Any, validate_args: bool | None = None):
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Any:
        return self.scale.pow(2) * (1 - 2 / math.pi)


class HalfCauchy(_Half):
    """The absolute value of what has Cauchy's distribution around 0.

    >>> import symgrad as sg
    >>> sg.distributions.HalfCauchy(1.0).cdf(sg.tensor(1.0))
    tensor(0.5000)
    """

    def __init__(self, scale: Any, validate_args: bool | None = None):
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """Infinite."""
        return creation.full(tuple(self._extended_shape(())), math.inf, dtype=self.scale.dtype)

    @property
    def variance(self) -> Any:
        """Infinite."""
        return self.base_dist.variance


class LogNormal(TransformedDistribution):
    """What has a normal logarithm, of mean ``loc`` and standard deviation ``scale``.

    >>> import symgrad as sg
    >>> sg.distributions.LogNormal(0.0, 1.0).mean
    tensor(1.6487)
    """

    support = constraints.positive
    arg_constraints: ClassVar[dict[str, Any]] = Normal.arg_constraints

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None):
        base = Normal(loc, scale, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Any:
        """The mean of the logarithm."""
        return self.base_dist.loc

    @property
    def scale(self) -> Any:
        """The standard deviation of the logarithm."""
        return self.base_dist.scale

    @property
    def mean(self) -> Any:
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Any:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Any:
        squares = self.scale.pow(2)
        return squares.expm1() * (2 * self.loc + squares).exp()

    def entropy(self) -> Any:
        return self.base_dist.entropy() + self.loc


class Gumbel(TransformedDistribution):
    """Gumbel's distribution of the largest of many numbers, moved by ``loc`` and stretched by ``scale``.

    >>> import symgrad as sg
    >>> sg.distributions.Gumbel(0.0, 1.0).mean
    tensor(0.5772)
    """

    support = constraints.real
    arg_constraints: ClassVar[dict[str, Any]] = {"loc": constraints.real, "scale": constraints.positive}

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None):
        self.loc, self.scale = broadcast_all(loc, scale)
        known, ones = finfo(self.loc.dtype), self.scale.new_ones(tuple(self.scale.shape))
        base = Uniform(ones * known.tiny, ones * (1 - known.eps), validate_args=validate_args)
        log = ExpTransform().inv
        parts = [log, AffineTransform(0, -ones), log, AffineTransform(self.loc, -self.scale)]
        super().__init__(base, parts, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.loc + self.scale * np.euler_gamma

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def stddev(self) -> Any:
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self) -> Any:
        return self.stddev.pow(2)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return y - y.exp() - self.scale.log()

    def entropy(self) -> Any:
        return self.scale.log() + (1 + np.euler_gamma)


class Weibull(TransformedDistribution):
    """Weibull's distribution: ``scale`` times an exponential number to the power of 1/``concentration``.

    >>> import symgrad as sg
    >>> sg.distributions.Weibull(2.0, 1.0).mean
    tensor(2.)
    """

    support = constraints.positive
    arg_constraints: ClassVar[dict[str, Any]] = {"scale": constraints.positive, "concentration": constraints.positive}

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None):
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(self.scale.new_ones(tuple(self.scale.shape)), validate_args=validate_args)
        parts = [PowerTransform(self.concentration_reciprocal), AffineTransform(0, self.scale)]
        super().__init__(base, parts, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.scale * (1 + self.concentration_reciprocal).lgamma().exp()

    @property
    def mode(self) -> Any:
        return self.scale * ((self.concentration - 1) / self.concentration) ** self.concentration.reciprocal()

    @property
    def variance(self) -> Any:
        squares = (1 + 2 * self.concentration_reciprocal).lgamma().exp()
        return self.scale.pow(2) * (squares - (2 * (1 + self.concentration_reciprocal).lgamma()).exp())

    def entropy(self) -> Any:
        part = self.concentration_reciprocal
        return np.euler_gamma * (1 - part) + (self.scale * part).log() + 1


class Pareto(TransformedDistribution):
    """Pareto's distribution of numbers above ``scale``, of density alpha scaleᵃ/xᵃ⁺¹ with a the ``alpha``.

    >>> import symgrad as sg
    >>> sg.distributions.Pareto(1.0, 3.0).mean
    tensor(1.5000)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None):
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        super().__init__(base, [ExpTransform(), AffineTransform(0, self.scale)], validate_args=validate_args)

    @property
    def support(self) -> Any:
        """From the scale on."""
        return constraints.greater_than_eq(self.scale.detach())

    @property
    def mean(self) -> Any:
        a = _where(self.alpha > 1, self.alpha, math.nan)
        return _where(self.alpha > 1, a * self.scale / (a - 1), math.inf)

    @property
    def mode(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        a = _where(self.alpha > 2, self.alpha, math.nan)
        return _where(self.alpha > 2, self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2)), math.inf)

    def entropy(self) -> Any:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class InverseGamma(TransformedDistribution):
    """1/x for x of the gamma distribution with these parameters.

    >>> import symgrad as sg
    >>> sg.distributions.InverseGamma(3.0, 4.0).mean
    tensor(2.)
    """

    support = constraints.positive
    arg_constraints: ClassVar[dict[str, Any]] = {"concentration": constraints.positive, "rate": constraints.positive}

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None):
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args=validate_args)

    @property
    def concentration(self) -> Any:
        """The shape of the gamma distribution."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Any:
        """The rate of the gamma distribution."""
        return self.base_dist.rate

    @property
    def mean(self) -> Any:
        a = self.concentration
        return _where(a > 1, self.rate / (_where(a > 1, a, math.nan) - 1), math.inf)

    @property
    def mode(self) -> Any:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Any:
        a = self.concentration
        b = _where(a > 2, a, math.nan)
        return _where(a > 2, self.rate.square() / ((b - 1).square() * (b - 2)), math.inf)

    def entropy(self) -> Any:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()


class LogisticNormal(TransformedDistribution):
    """Positive numbers that add up to 1, made of one normal number less by breaking a stick.

    >>> import symgrad as sg
    >>> sg.distributions.LogisticNormal(sg.zeros(3), sg.ones(3)).event_shape
    torch.Size([4])
    """

    support = constraints.simplex
    arg_constraints: ClassVar[dict[str, Any]] = {"loc": constraints.real, "scale": constraints.positive}

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None):
        base: Any = Normal(loc, scale, validate_args=validate_args)
        base = base if len(base.batch_shape) else base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Any:
        """The means of the normal numbers."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Any:
        """The standard deviations of the normal numbers."""
        return self.base_dist.base_dist.scale


class _Relaxed(TransformedDistribution):
    """A relaxed choice, made of its logarithm or its logit."""

    _alike = ("temperature",)

    @property
    def _parameter_names(self) -> tuple[str, ...]:
        return (self.base_dist._name,)

    def _is_given(self, name: str) -> bool:  # noqa: ARG002
        return False  # what it is made of is checked

    @property
    def temperature(self) -> Any:
        """The temperature: the lower, the nearer to a choice."""
        return self.base_dist.temperature

    @property
    def probs(self) -> Any:
        """The probabilities of the choice."""
        return self.base_dist.probs

    @property
    def logits(self) -> Any:
        """The logits of the choice."""
        return self.base_dist.logits


class RelaxedBernoulli(_Relaxed):
    """Numbers between 0 and 1 that are near to the ends at low temperatures, with gradients by the probabilities.

    >>> import symgrad as sg
    >>> sg.distributions.RelaxedBernoulli(sg.tensor(0.5), 0.25).log_prob(sg.tensor(0.5))
    tensor(-0.9808)
    """

    support = constraints.unit_interval

    arg_constraints: ClassVar[dict[str, Any]] = LogitRelaxedBernoulli.arg_constraints

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)


class RelaxedOneHotCategorical(_Relaxed):
    """Positive numbers that add up to 1, one of them near to 1 at low temperatures (Gumbel's softmax).

    >>> import symgrad as sg
    >>> sg.distributions.RelaxedOneHotCategorical(sg.tensor(0.5), sg.ones(3)).rsample().shape
    torch.Size([3])
    """

    support = constraints.simplex

    arg_constraints: ClassVar[dict[str, Any]] = ExpRelaxedCategorical.arg_constraints

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)
