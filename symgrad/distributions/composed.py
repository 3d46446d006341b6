"""Distributions that are made of others."""

from __future__ import annotations

from typing import Any

from symgrad.distributions.base import Distribution
from symgrad.errors import ArgumentError


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
    def mean(self) -> Any:
        """The expected value."""
        return self.base_dist.mean

    @property
    def mode(self) -> Any:
        """The mode of each of them."""
        return self.base_dist.mode  # type: ignore[attr-defined]

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.base_dist.variance

    def expand(self, batch_shape: Any) -> Independent:
        """The same distributions in a larger batch."""
        inner = tuple(self.event_shape)[: self.reinterpreted_batch_ndims]
        base = self.base_dist.expand((*batch_shape, *inner))
        return Independent(base, self.reinterpreted_batch_ndims, validate_args=False)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Values without gradient, of shape ``sample_shape + batch_shape + event_shape``."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Values by which the parameters can be differentiated."""
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        """The log of the density, or of the probability, at ``value``."""
        return self._added(self.base_dist.log_prob(value))

    def entropy(self) -> Any:
        """The entropy in nats."""
        return self._added(self.base_dist.entropy())

    def _added(self, value: Any) -> Any:
        return value.sum(tuple(range(-self.reinterpreted_batch_ndims, 0))) if self.reinterpreted_batch_ndims else value

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"
