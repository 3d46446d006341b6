"""Distributions of truth values, of choices and of counts; of their samples goes no gradient but by ``log_prob``."""

from __future__ import annotations

from typing import Any, ClassVar

from symgrad.distributions import constraints
from symgrad.distributions.base import Distribution, broadcast_all
from symgrad.dtypes import finfo
from symgrad.errors import ArgumentError
from symgrad.ops.calls.naming import SPACES
from symgrad.tape.modes import no_grad
from symgrad.tensor import FUNCTIONS, creation
from symgrad.tensor.facts import Shape

_cross_entropy = SPACES["nn.functional"]["binary_cross_entropy_with_logits"]


def inside(probs: Any) -> Any:
    """Probabilities that a logarithm can take."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


class Chances(Distribution):
    """A distribution of probabilities or their logits: what is not given is computed when it is asked for."""

    has_enumerate_support = True
    _name: str
    """Which of both is given."""

    @property
    def _parameter_names(self) -> tuple[str, ...]:
        return (self._name,)

    def _is_given(self, name: str) -> bool:
        return name in self.__dict__

    def _choose(self, probs: Any, logits: Any) -> Any:
        """The parameter that is given, under its name; raises ``ArgumentError`` for both or none."""
        if (probs is None) == (logits is None):
            raise ArgumentError("Either `probs` or `logits` must be specified, but not both.")
        self._name = "logits" if probs is None else "probs"
        return logits if probs is None else probs

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        if name == "logits" and "probs" in own:
            return self._logits(own["probs"])
        if name == "probs" and "logits" in own:
            return self._probs(own["logits"])
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @staticmethod
    def _logits(probs: Any) -> Any:
        raise NotImplementedError

    @staticmethod
    def _probs(logits: Any) -> Any:
        raise NotImplementedError

    @property
    def param_shape(self) -> Shape:
        """The shape of the parameter."""
        return self.__dict__[self._name].shape  # type: ignore[no-any-return]

    def _along_first(self, values: Any, expand: bool) -> Any:
        """A vector along a new first axis, for every distribution of the batch."""
        values = values.reshape(-1, *(1,) * len(self.batch_shape))
        return values.expand((-1, *self.batch_shape)) if expand else values


class Odds(Chances):
    """A distribution of the probability of an event, or of its logit."""

    arg_constraints: ClassVar[dict[str, Any]] = {"probs": constraints.unit_interval, "logits": constraints.real}

    def _take_chance(self, probs: Any, logits: Any, validate_args: bool | None, count: Any = None) -> None:
        """Take the parameter that is given, and a number of trials, of one shape with it."""
        given = self._choose(probs, logits)
        if count is None:
            (given,) = broadcast_all(given)
        else:
            count, given = broadcast_all(count, given)
            self.total_count = count.to(given.dtype)
        self.__dict__[self._name] = given
        Distribution.__init__(self, given.shape, validate_args=validate_args)

    @staticmethod
    def _logits(probs: Any) -> Any:
        p = inside(probs)
        return p.log() - (-p).log1p()

    @staticmethod
    def _probs(logits: Any) -> Any:
        return logits.sigmoid()


class Bernoulli(Odds):
    """1 with a probability ``probs``, whose logits may be given instead, and 0 else.

    >>> import symgrad as sg
    >>> sg.distributions.Bernoulli(0.25).log_prob(sg.tensor(1.0))
    tensor(-1.3863)
    """

    support = constraints.boolean

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        self._take_chance(probs, logits, validate_args)

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        """The more probable value, nan where both are equally so."""
        probs = self.probs
        likelier = (probs >= 0.5).to(probs.dtype)
        return FUNCTIONS["where"](probs == 0.5, float("nan"), likelier)

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            return FUNCTIONS["bernoulli"](self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -_cross_entropy(logits, value, reduction="none")

    def entropy(self) -> Any:
        return _cross_entropy(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Any:
        return self._along_first(creation.tensor([0, 1], dtype=self.probs.dtype), expand)


class Categorical(Chances):
    """One of the places 0, 1, … of the last axis of ``probs``, whose logits may be given instead.

    They need not be normalised.

    >>> import symgrad as sg
    >>> sg.distributions.Categorical(sg.tensor([1.0, 3.0])).log_prob(sg.tensor(1))
    tensor(-0.2877)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        given = self._choose(probs, logits)
        if given.dim() < 1:
            raise ArgumentError(f"`{self._name}` parameter must be at least one-dimensional.")
        shape = tuple(given.shape)
        self._num_events = shape[-1]
        self.__dict__[self._name] = (
            given - given.logsumexp(-1, keepdim=True) if probs is None else given / given.sum(-1, keepdim=True)
        )
        super().__init__(shape[:-1], validate_args=validate_args)

    @staticmethod
    def _logits(probs: Any) -> Any:
        return inside(probs).log()

    @staticmethod
    def _probs(logits: Any) -> Any:
        return logits.softmax(-1)

    @property
    def mean(self) -> Any:
        return creation.full(tuple(self.batch_shape), float("nan"), dtype=self.probs.dtype)

    variance = mean

    @property
    def mode(self) -> Any:
        return self.probs.argmax(-1)

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = Shape(sample_shape)
        with no_grad():
            rows = self.probs.reshape(-1, self._num_events)
            return FUNCTIONS["multinomial"](rows, shape.numel(), True).T.reshape(self._extended_shape(shape))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        value, logs = FUNCTIONS["broadcast_tensors"](value.long().unsqueeze(-1), self.logits)
        return logs.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        logs = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return -(logs * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        return self._along_first(creation.tensor(list(range(self._num_events))), expand)

    @property
    def support(self) -> Any:
        """The places."""
        return constraints.integer_interval(0, self._num_events - 1)


class Poisson(Distribution):
    """Counts of mean ``rate``.

    >>> import symgrad as sg
    >>> sg.distributions.Poisson(2.0).log_prob(sg.tensor(3.0))
    tensor(-1.7123)
    """

    support = constraints.nonnegative_integer
    arg_constraints: ClassVar[dict[str, Any]] = {"rate": constraints.nonnegative}

    def __init__(self, rate: Any, validate_args: bool | None = None):
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.rate

    variance = mean

    @property
    def mode(self) -> Any:
        return self.rate.floor()

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            return FUNCTIONS["poisson"](self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()
