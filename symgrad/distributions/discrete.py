"""Distributions of truth values, of choices and of counts; of their samples goes no gradient but by ``log_prob``."""

from __future__ import annotations

from typing import Any

from symgrad.distributions.base import BOOLEAN, COUNT, NONNEGATIVE, REAL, UNIT, Constraint, Distribution, broadcast_all
from symgrad.dtypes import finfo
from symgrad.errors import ArgumentError
from symgrad.ops.calls.naming import SPACES
from symgrad.tape.modes import no_grad
from symgrad.tensor import FUNCTIONS, creation
from symgrad.tensor.facts import Shape

_cross_entropy = SPACES["nn.functional"]["binary_cross_entropy_with_logits"]


def _inside(probs: Any) -> Any:
    """Probabilities that a logarithm can take."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def _along_first(values: Any, axes: int) -> Any:
    """A vector along the first axis, before some axes of length 1."""
    return values.reshape(-1, *(1,) * axes)


def _one_of(probs: Any, logits: Any) -> None:
    if (probs is None) == (logits is None):
        raise ArgumentError("Either `probs` or `logits` must be specified, but not both.")


class Bernoulli(Distribution):
    """1 with a probability ``probs``, whose logits may be given instead, and 0 else.

    >>> import symgrad as sg
    >>> sg.distributions.Bernoulli(0.25).log_prob(sg.tensor(1.0))
    tensor(-1.3863)
    """

    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        _one_of(probs, logits)
        self._name = "logits" if probs is None else "probs"
        self._parameters = (self._name,)  # type: ignore[misc]
        (given,) = broadcast_all(logits if probs is None else probs)
        self.__dict__[self._name] = given
        super().__init__(given.shape, validate_args=validate_args)
        self._check(**{self._name: (given, REAL if probs is None else UNIT)})

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        if name == "logits" and "probs" in own:
            p = _inside(own["probs"])
            return p.log() - (-p).log1p()
        if name == "probs" and "logits" in own:
            return own["logits"].sigmoid()
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def param_shape(self) -> Shape:
        """The shape of the parameter."""
        return self.__dict__[self._name].shape  # type: ignore[no-any-return]

    @property
    def mean(self) -> Any:
        """The expected value."""
        return self.probs

    @property
    def mode(self) -> Any:
        """The more probable value, nan where both are equally so."""
        probs = self.probs
        likelier = (probs >= 0.5).to(probs.dtype)
        return FUNCTIONS["where"](probs == 0.5, float("nan"), likelier)

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.probs * (1 - self.probs)

    def expand(self, batch_shape: Any) -> Bernoulli:
        """The same distributions in a larger batch."""
        return Bernoulli(**{self._name: self.__dict__[self._name].expand(batch_shape)}, validate_args=False)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Values without gradient, of shape ``sample_shape + batch_shape + event_shape``."""
        with no_grad():
            return FUNCTIONS["bernoulli"](self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        """The log of the density, or of the probability, at ``value``."""
        self._check_value(value, BOOLEAN)
        logits, value = broadcast_all(self.logits, value)
        return -_cross_entropy(logits, value, reduction="none")

    def entropy(self) -> Any:
        """The entropy in nats."""
        return _cross_entropy(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Any:
        """Both values along a new first axis."""
        values = _along_first(creation.tensor([0, 1], dtype=self.probs.dtype), len(self.batch_shape))
        return values.expand((-1, *self.batch_shape)) if expand else values


class Categorical(Distribution):
    """One of the places 0, 1, … of the last axis of ``probs``, whose logits may be given instead.

    They need not be normalised.

    >>> import symgrad as sg
    >>> sg.distributions.Categorical(sg.tensor([1.0, 3.0])).log_prob(sg.tensor(1))
    tensor(-0.2877)
    """

    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        _one_of(probs, logits)
        given = logits if probs is None else probs
        self._name = "logits" if probs is None else "probs"
        self._parameters = (self._name,)  # type: ignore[misc]
        if given.dim() < 1:
            raise ArgumentError(f"`{self._name}` parameter must be at least one-dimensional.")
        shape = tuple(given.shape)
        self._num_events = shape[-1]
        super().__init__(shape[:-1], validate_args=validate_args)
        self.__dict__[self._name] = (
            given - given.logsumexp(-1, keepdim=True) if probs is None else given / given.sum(-1, keepdim=True)
        )
        allowed = REAL if probs is None else NONNEGATIVE
        self._check(**{self._name: (given, ("Simplex()" if probs is not None else allowed[0], allowed[1]))})

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        if name == "logits" and "probs" in own:
            return _inside(own["probs"]).log()
        if name == "probs" and "logits" in own:
            return own["logits"].softmax(-1)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def param_shape(self) -> Shape:
        """The shape of the parameter."""
        return self.__dict__[self._name].shape  # type: ignore[no-any-return]

    @property
    def mean(self) -> Any:
        """The expected value."""
        return creation.full(tuple(self.batch_shape), float("nan"), dtype=self.probs.dtype)

    variance = mean

    @property
    def mode(self) -> Any:
        """The most probable place."""
        return self.probs.argmax(-1)

    def expand(self, batch_shape: Any) -> Categorical:
        """The same distributions in a larger batch."""
        given = self.__dict__[self._name].expand((*batch_shape, self._num_events))
        return Categorical(**{self._name: given}, validate_args=False)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Values without gradient, of shape ``sample_shape + batch_shape + event_shape``."""
        shape = Shape(sample_shape)
        with no_grad():
            rows = self.probs.reshape(-1, self._num_events)
            return FUNCTIONS["multinomial"](rows, shape.numel(), True).T.reshape(self._extended_shape(shape))

    def log_prob(self, value: Any) -> Any:
        """The log of the density, or of the probability, at ``value``."""
        self._check_value(value, self._places())
        value, logs = FUNCTIONS["broadcast_tensors"](value.long().unsqueeze(-1), self.logits)
        return logs.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        """The entropy in nats."""
        logs = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return -(logs * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        """All places along a new first axis."""
        values = _along_first(creation.tensor(list(range(self._num_events))), len(self.batch_shape))
        return values.expand((-1, *self.batch_shape)) if expand else values

    def _places(self) -> Constraint:
        last = self._num_events - 1
        words = f"IntegerInterval(lower_bound=0, upper_bound={last})"
        return words, lambda x: (x % 1 == 0) & (x >= 0) & (x <= last)


class Poisson(Distribution):
    """Counts of mean ``rate``.

    >>> import symgrad as sg
    >>> sg.distributions.Poisson(2.0).log_prob(sg.tensor(3.0))
    tensor(-1.7123)
    """

    _parameters = ("rate",)

    def __init__(self, rate: Any, validate_args: bool | None = None):
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)
        self._check(rate=(self.rate, NONNEGATIVE))

    @property
    def mean(self) -> Any:
        """The expected value."""
        return self.rate

    variance = mean

    @property
    def mode(self) -> Any:
        """The most probable count."""
        return self.rate.floor()

    def expand(self, batch_shape: Any) -> Poisson:
        """The same distributions in a larger batch."""
        return Poisson(self.rate.expand(batch_shape), validate_args=False)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Values without gradient, of shape ``sample_shape + batch_shape + event_shape``."""
        with no_grad():
            return FUNCTIONS["poisson"](self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        """The log of the density, or of the probability, at ``value``."""
        self._check_value(value, COUNT)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()
