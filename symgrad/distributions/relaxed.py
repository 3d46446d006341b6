"""Choices as vectors, and what is near to them and can be differentiated."""

from __future__ import annotations

from typing import Any, ClassVar

from symgrad.distributions import constraints
from symgrad.distributions.base import Distribution, broadcast_all
from symgrad.distributions.discrete import Categorical, Odds, inside
from symgrad.ops.calls.naming import SPACES
from symgrad.random import rand
from symgrad.tensor import creation


class OfCategories(Distribution):
    """A distribution of vectors with an entry for each place of a :class:`Categorical`."""

    arg_constraints: ClassVar[dict[str, Any]] = Categorical.arg_constraints

    @property
    def _parameter_names(self) -> tuple[str, ...]:
        return (self._name,)

    def _is_given(self, name: str) -> bool:  # noqa: ARG002
        return False  # the categories are checked

    def _choose(self, probs: Any, logits: Any, validate_args: bool | None) -> None:
        self._categorical = Categorical(probs, logits)
        self._name = self._categorical._name
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args)

    @property
    def probs(self) -> Any:
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """The logits."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._categorical.param_shape


class OneHotCategorical(OfCategories):
    """Vectors of zeros with one 1, at a place drawn with the probabilities ``probs``.

    >>> import symgrad as sg
    >>> sg.distributions.OneHotCategorical(sg.tensor([0.0, 1.0])).sample()
    tensor([0., 1.])
    """

    has_enumerate_support = True
    support = constraints.one_hot

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        self._choose(probs, logits, validate_args)

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        return self._one_hot(self.probs.argmax(-1))

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        return self._one_hot(self._categorical.sample(sample_shape))

    def _one_hot(self, places: Any) -> Any:
        return SPACES["nn.functional"]["one_hot"](places, self.event_shape[0]).to(self.probs.dtype)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Any:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Any:
        n, batch = self.event_shape[0], tuple(self.batch_shape)
        eye: Any = creation.eye(n, dtype=self.probs.dtype)
        rows = eye.reshape((n, *(1 for _ in batch), n))
        return rows.expand((n, *batch, n)) if expand else rows


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """The same, with samples whose gradient goes to the probabilities as if they were these (Bengio et al. 2013).

    >>> import symgrad as sg
    >>> sg.distributions.OneHotCategoricalStraightThrough(sg.tensor([0.0, 1.0])).rsample()
    tensor([0., 1.])
    """

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Any:
        probs = self.probs
        return self.sample(sample_shape) + (probs - probs.detach())


class ExpRelaxedCategorical(OfCategories):
    """The logarithm of a relaxed choice (Maddison, Mnih and Teh 2017).

    >>> import symgrad as sg
    >>> from symgrad.distributions.relaxed import ExpRelaxedCategorical
    >>> ExpRelaxedCategorical(sg.tensor(0.5), sg.ones(3)).rsample().logsumexp(0).abs() < 1e-5
    tensor(True)
    """

    has_rsample = True
    support = constraints.real_vector
    _alike = ("temperature",)

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        self.temperature = temperature
        self._choose(probs, logits, validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        chances = inside(rand(self._extended_shape(sample_shape), dtype=self.logits.dtype))
        scores = (self.logits - (-chances.log()).log()) / self.temperature
        return scores - scores.logsumexp(-1, keepdim=True)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        count, t = self.event_shape[0], self.temperature
        logits, value = broadcast_all(self.logits, value)
        counts: Any = creation.full(tuple(t.shape), float(count), dtype=t.dtype)
        scale = counts.lgamma() + (count - 1) * t.log()
        score = logits - value.mul(t)
        return (score - score.logsumexp(-1, keepdim=True)).sum(-1) + scale


class LogitRelaxedBernoulli(Odds):
    """The logit of a relaxed truth value.

    >>> import symgrad as sg
    >>> from symgrad.distributions.relaxed import LogitRelaxedBernoulli
    >>> LogitRelaxedBernoulli(sg.tensor(1.0), 0.5).log_prob(sg.tensor(0.0))
    tensor(-1.3863)
    """

    has_rsample, has_enumerate_support = True, False
    support = constraints.real
    _alike = ("temperature",)

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        self.temperature = temperature
        self._take_chance(probs, logits, validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        probs = inside(self.probs.expand(shape))
        noise = inside(rand(shape, dtype=probs.dtype))
        return (noise.log() - (-noise).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        away = logits - value.mul(self.temperature)
        return self.temperature.log() + away - 2 * away.exp().log1p()
