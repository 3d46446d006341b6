"""Distributions of counts of trials, of successes and of choices; gradients go by ``log_prob`` of what was drawn."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from symgrad.distributions import constraints
from symgrad.distributions.base import broadcast_all, room
from symgrad.distributions.discrete import Odds
from symgrad.distributions.gammas import Gamma
from symgrad.distributions.relaxed import OfCategories
from symgrad.dtypes import finfo
from symgrad.ops.calls.naming import SPACES
from symgrad.tape.modes import no_grad
from symgrad.tensor import FUNCTIONS, creation

_functional, _where = SPACES["nn.functional"], FUNCTIONS["where"]


class Geometric(Odds):
    """The number of failures before the first success, whose probability is ``probs``.

    >>> import symgrad as sg
    >>> sg.distributions.Geometric(0.25).mean
    tensor(3.)
    """

    has_enumerate_support = False
    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        self._take_chance(probs, logits, validate_args)
        if probs is not None:
            self._hold(probs=(self.probs, constraints.positive))

    @property
    def mean(self) -> Any:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Any:
        return self.probs.detach() * 0

    @property
    def variance(self) -> Any:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            u = room(self._extended_shape(sample_shape), self.probs).uniform_(finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        probs = _where((probs == 1) & (value == 0), 0.0, probs)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Any:
        return _functional["binary_cross_entropy_with_logits"](self.logits, self.probs, reduction="none") / self.probs


class _Trials(Odds):
    """A distribution of a number of trials, and of a probability."""

    @property
    def _parameter_names(self) -> tuple[str, ...]:
        return "total_count", self._name


class Binomial(_Trials):
    """The number of successes of ``total_count`` trials, each with the probability ``probs``.

    >>> import symgrad as sg
    >>> sg.distributions.Binomial(4, 0.5).log_prob(sg.tensor(2.0)).exp()
    tensor(0.3750)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }

    def __init__(self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        self._take_chance(probs, logits, validate_args, total_count)

    @property
    def support(self) -> Any:
        """Up to the number of trials."""
        return constraints.integer_interval(0, self.total_count.detach())

    @property
    def mean(self) -> Any:
        return self.total_count * self.probs

    @property
    def mode(self) -> Any:
        return FUNCTIONS["minimum"](((self.total_count + 1) * self.probs).floor(), self.total_count)

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return FUNCTIONS["binomial"](self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        n, logits = self.total_count, self.logits
        at_zero = (logits.clamp(min=0) + logits - logits.clamp(max=0)) / 2  # half of the slope at 0, as torch has it
        scale = n * at_zero + n * (-logits.abs()).exp().log1p() - (n + 1).lgamma()
        return value * logits - (value + 1).lgamma() - (n - value + 1).lgamma() - scale

    def entropy(self) -> Any:
        """The entropy in nats, for one number of trials."""
        logs = self.log_prob(self.enumerate_support(False))
        return -(logs.exp() * logs).sum(0)

    def enumerate_support(self, expand: bool = True) -> Any:
        """All counts along a new first axis; raises ``NotImplementedError`` for several numbers of trials."""
        count = int(self.total_count.max())
        if self.total_count.min() != count:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        return self._along_first(creation.tensor(list(range(count + 1)), dtype=self.probs.dtype), expand)


class NegativeBinomial(_Trials):
    """The number of successes, each of the probability ``probs``, before ``total_count`` failures.

    >>> import symgrad as sg
    >>> sg.distributions.NegativeBinomial(3.0, 0.5).mean
    tensor(3.)
    """

    has_enumerate_support = False
    support = constraints.nonnegative_integer
    arg_constraints: ClassVar[dict[str, Any]] = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }

    def __init__(self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        self._take_chance(probs, logits, validate_args, total_count)

    @property
    def mean(self) -> Any:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Any:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Any:
        return self.mean / (-self.logits).sigmoid()

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            rates = Gamma(self.total_count, (-self.logits).exp(), validate_args=False)
            return FUNCTIONS["poisson"](rates.sample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        n, logsigmoid = self.total_count, _functional["logsigmoid"]
        logs = n * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        ways = -(n + value).lgamma() + (1.0 + value).lgamma() + n.lgamma()
        return logs - _where(n + value == 0.0, 0.0, ways)


class Multinomial(OfCategories):
    """How often each place was chosen in ``total_count`` choices with the probabilities ``probs``.

    >>> import symgrad as sg
    >>> sg.distributions.Multinomial(4, sg.tensor([0.0, 1.0])).sample()
    tensor([0., 4.])
    """

    _alike = ("total_count",)

    def __init__(self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._choose(probs, logits, validate_args)

    @property
    def support(self) -> Any:
        """Counts that add up to no more than that of the choices."""
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Any:
        return self.probs * self.total_count

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        places = self._categorical.sample((self.total_count, *sample_shape)).movedim(0, -1)
        counts: Any = creation.zeros(tuple(self._extended_shape(sample_shape)), dtype=self.probs.dtype)
        return counts.scatter_add_(-1, places, places.new_ones(tuple(places.shape)).to(self.probs.dtype))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = _where((value == 0) & (logits == -math.inf), 0.0, logits)
        return (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1) + (logits * value).sum(-1)

    def entropy(self) -> Any:
        n = float(self.total_count)
        parts = Binomial(self.total_count, probs=self.probs)
        counts = parts.enumerate_support(expand=False)[1:]
        inside = (parts.log_prob(counts).exp() * (counts + 1).lgamma()).sum((0, -1))
        return n * self._categorical.entropy() - math.lgamma(n + 1) + inside
