"""Distributions that are made of others."""

from __future__ import annotations

from typing import Any

from symgrad.distributions import constraints
from symgrad.distributions.base import Distribution
from symgrad.distributions.discrete import Categorical
from symgrad.errors import ArgumentError
from symgrad.tape.modes import no_grad
from symgrad.tensor.facts import Shape


class Independent(Distribution):
    """The last ``reinterpreted_batch_ndims`` axes of a batch of distributions as those of one event.

    >>> import symgrad as sg
    >>> sg.distributions.Independent(sg.distributions.Normal(sg.zeros(3), sg.ones(3)), 1).log_prob(sg.zeros(3))
    tensor(-2.7568)
    """

    def __init__(
        self, base_distribution: Distribution, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ):
        batch, count = tuple(base_distribution.batch_shape), reinterpreted_batch_ndims
        if count > len(batch):
            raise ArgumentError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{count} vs {len(batch)}"
            )
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, count
        cut = len(batch) - count
        super().__init__(batch[:cut], (*batch[cut:], *base_distribution.event_shape), validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether gradients flow through samples."""
        return self.base_dist.has_rsample

    @property
    def support(self) -> Any:
        """The constraint of the distribution, of all entries of an event."""
        support, count = self.base_dist.support, self.reinterpreted_batch_ndims
        return constraints.independent(support, count) if count else support

    @property
    def mean(self) -> Any:
        return self.base_dist.mean

    @property
    def mode(self) -> Any:
        """The mode of each of them."""
        return self.base_dist.mode

    @property
    def variance(self) -> Any:
        return self.base_dist.variance

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        inner = tuple(self.event_shape)[: self.reinterpreted_batch_ndims]
        base = self.base_dist.expand((*batch_shape, *inner))
        return self._filled(_instance, Independent(base, self.reinterpreted_batch_ndims, validate_args=False))

    def sample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        return self._added(self.base_dist.log_prob(value))

    def entropy(self) -> Any:
        return self._added(self.base_dist.entropy())

    def _added(self, value: Any) -> Any:
        return value.sum(tuple(range(-self.reinterpreted_batch_ndims, 0))) if self.reinterpreted_batch_ndims else value

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamily(Distribution):
    """A choice by ``mixture_distribution`` among those of the last batch axis of ``component_distribution``.

    >>> import symgrad as sg
    >>> D = sg.distributions
    >>> parts = D.Normal(sg.tensor([-1.0, 1.0]), 1.0)
    >>> D.MixtureSameFamily(D.Categorical(sg.ones(2)), parts).mean
    tensor(0.)
    """

    def __init__(
        self, mixture_distribution: Any, component_distribution: Distribution, validate_args: bool | None = None
    ):
        self.mixture_distribution, self.component_distribution = mixture_distribution, component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ArgumentError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ArgumentError(
                "The Component distribution needs to be an instance of torch.distributions.Distribution"
            )
        chosen, batch = tuple(mixture_distribution.batch_shape), tuple(component_distribution.batch_shape)
        if any(1 not in (i, j) and i != j for i, j in zip(reversed(chosen), reversed(batch[:-1]), strict=False)):
            raise ArgumentError(
                f"`mixture_distribution.batch_shape` ({Shape(chosen)}) is not compatible with "
                f"`component_distribution.batch_shape`({Shape(batch[:-1])})"
            )
        count = mixture_distribution.logits.shape[-1]
        if count != batch[-1]:
            raise ArgumentError(
                f"`mixture_distribution component` ({count}) does not equal `component_distribution.batch_shape[-1]` "
                f"({batch[-1]})"
            )
        self._count, self._event_ndims = count, len(component_distribution.event_shape)
        super().__init__(batch[:-1], component_distribution.event_shape, validate_args)

    @property
    def support(self) -> Any:
        """The constraint of the components."""
        return self.component_distribution.support

    @property
    def mean(self) -> Any:
        return (self._weights() * self.component_distribution.mean).sum(-1 - self._event_ndims)

    @property
    def variance(self) -> Any:
        axis, parts, weights = -1 - self._event_ndims, self.component_distribution, self._weights()
        inside = (weights * parts.variance).sum(axis)
        return inside + (weights * (parts.mean - self.mean.unsqueeze(axis)).pow(2.0)).sum(axis)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        parts = self.component_distribution.expand((*batch_shape, self._count))
        made = MixtureSameFamily(self.mixture_distribution.expand(batch_shape), parts, validate_args=False)
        return self._filled(_instance, made)

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            axis, event = len(sample_shape) + len(self.batch_shape), tuple(self.event_shape)
            places = self.mixture_distribution.sample(sample_shape)
            values = self.component_distribution.sample(sample_shape)
            places = places.reshape((*places.shape, 1, *(1 for _ in event))).expand((*places.shape, 1, *event))
            return values.gather(axis, places).squeeze(axis)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logs = self.component_distribution.log_prob(value.unsqueeze(-1 - self._event_ndims))
        return (logs + self.mixture_distribution.logits.log_softmax(-1)).logsumexp(-1)

    def cdf(self, value: Any) -> Any:
        below = self.component_distribution.cdf(value.unsqueeze(-1 - self._event_ndims))
        return (below * self.mixture_distribution.probs).sum(-1)

    def _weights(self) -> Any:
        """The chances of the components, beside the axes of their events."""
        chances, own = self.mixture_distribution.probs, len(self.mixture_distribution.batch_shape)
        more = 0 if own == 1 else len(self.batch_shape) - own
        shape = tuple(chances.shape)
        return chances.reshape((*shape[:-1], *(1,) * more, shape[-1], *(1,) * self._event_ndims))

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
