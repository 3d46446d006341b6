"""Distributions of gamma numbers and of their quotients: gamma, χ², beta, Dirichlet's, Student's, Fisher's."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from symgrad.distributions import constraints
from symgrad.distributions.base import Distribution, broadcast_all, room
from symgrad.distributions.implicit import sample_dirichlet, standard_gamma
from symgrad.dtypes import finfo
from symgrad.errors import ArgumentError
from symgrad.ops.calls.naming import SPACES
from symgrad.tensor import FUNCTIONS
from symgrad.tensor.borrowed import as_tensor

_where, _xlogy = FUNCTIONS["where"], FUNCTIONS["xlogy"]


class Gamma(Distribution):
    """The density rate^a x^(a-1) e^(-rate x)/Γ(a) of positive numbers, with a the ``concentration``.

    >>> import symgrad as sg
    >>> sg.distributions.Gamma(2.0, 3.0).log_prob(sg.tensor(1.0))
    tensor(-0.8028)
    """

    has_rsample = True
    support = constraints.nonnegative
    arg_constraints: ClassVar[dict[str, Any]] = {"concentration": constraints.positive, "rate": constraints.positive}

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None):
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.concentration / self.rate

    @property
    def mode(self) -> Any:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Any:
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        value = standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        value.detach().clamp_(min=finfo(value.dtype).tiny)
        return value

    def log_prob(self, value: Any) -> Any:
        value = as_tensor(value, dtype=self.rate.dtype)
        self._validate_sample(value)
        a, rate = self.concentration, self.rate
        return _xlogy(a, rate) + _xlogy(a - 1, value) - rate * value - a.lgamma()

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return SPACES["special"]["gammainc"](self.concentration, self.rate * value)

    def entropy(self) -> Any:
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1.0 - a) * a.digamma()


class Chi2(Gamma):
    """The χ² distribution of ``df`` degrees of freedom: the sum of the squares of so many normal numbers.

    >>> import symgrad as sg
    >>> sg.distributions.Chi2(3.0).mean
    tensor(3.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None):
        (df,) = broadcast_all(df)
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self.concentration * 2


class Dirichlet(Distribution):
    """Positive numbers that add up to 1, of density ∏ xₖ^(aₖ - 1) but for a factor, with a the ``concentration``.

    >>> import symgrad as sg
    >>> sg.distributions.Dirichlet(sg.tensor([1.0, 1.0, 2.0])).mean
    tensor([0.2500, 0.2500, 0.5000])
    """

    has_rsample = True
    support = constraints.simplex
    arg_constraints: ClassVar[dict[str, Any]] = {"concentration": constraints.independent(constraints.positive, 1)}

    def __init__(self, concentration: Any, validate_args: bool | None = None):
        if concentration.dim() < 1:
            raise ArgumentError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.concentration / self.concentration.sum(-1, keepdim=True)

    @property
    def mode(self) -> Any:
        """The value of the largest density; a corner of the simplex where it grows without bounds there."""
        above = (self.concentration - 1).clamp(min=0.0)
        total = above.sum(-1, keepdim=True)
        inside = above / _where(total == 0, math.nan, total)
        corner = SPACES["nn.functional"]["one_hot"](inside.argmax(-1), above.shape[-1]).to(inside.dtype)
        return _where((self.concentration < 1).all(-1, keepdim=True), corner, inside)

    @property
    def variance(self) -> Any:
        total = self.concentration.sum(-1, keepdim=True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Values by which the parameters can be differentiated, once."""
        return sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        a = self.concentration
        return _xlogy(a - 1.0, value).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)

    def entropy(self) -> Any:
        a, k = self.concentration, self.concentration.shape[-1]
        total = a.sum(-1)
        logs = a.lgamma().sum(-1) - total.lgamma()
        return logs - (k - total) * total.digamma() - ((a - 1.0) * a.digamma()).sum(-1)


class Beta(Distribution):
    """Numbers between 0 and 1, of density x^(a-1) (1-x)^(b-1)/B(a, b): a is ``concentration1``, b ``concentration0``.

    >>> import symgrad as sg
    >>> sg.distributions.Beta(2.0, 3.0).mean
    tensor(0.4000)
    """

    has_rsample = True
    support = constraints.unit_interval
    arg_constraints: ClassVar[dict[str, Any]] = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None):
        both = broadcast_all(concentration1, concentration0)
        self._dirichlet = Dirichlet(FUNCTIONS["stack"](both, -1), validate_args=validate_args)
        super().__init__(self._dirichlet.batch_shape, validate_args=validate_args)

    @property
    def concentration1(self) -> Any:
        """The exponent of x, and 1."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Any:
        """The exponent of 1 - x, and 1."""
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self) -> Any:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Any:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Any:
        a, b = self.concentration1, self.concentration0
        return a * b / ((a + b).pow(2) * (a + b + 1))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Values by which the parameters can be differentiated, once."""
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return self._dirichlet.log_prob(FUNCTIONS["stack"]([value, 1.0 - value], -1))

    def entropy(self) -> Any:
        return self._dirichlet.entropy()


class StudentT(Distribution):
    """Student's t distribution of ``df`` degrees of freedom, moved by ``loc`` and stretched by ``scale``.

    >>> import symgrad as sg
    >>> sg.distributions.StudentT(4.0).variance
    tensor(2.)
    """

    has_rsample = True
    support = constraints.real
    arg_constraints: ClassVar[dict[str, Any]] = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None):
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The expected value; nan up to one degree of freedom."""
        return _where(self.df <= 1, math.nan, self.loc)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        """The variance; infinite up to two degrees of freedom, nan up to one."""
        wide = _where(self.df <= 1, math.nan, math.inf)
        finite = _where(self.df > 2, self.df, math.nan)
        return _where(self.df > 2, self.scale.pow(2) * finite / (finite - 2), wide.to(self.df.dtype))

    def rsample(self, sample_shape: Any = ()) -> Any:
        noise = room(self._extended_shape(sample_shape), self.df).normal_()
        return self.loc + self.scale * (noise * (self._chi2.rsample(sample_shape) / self.df).rsqrt())

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        y, df = (value - self.loc) / self.scale, self.df
        total = self.scale.log() + 0.5 * df.log() + 0.5 * math.log(math.pi)
        total = total + (0.5 * df).lgamma() - (0.5 * (df + 1.0)).lgamma()
        return -0.5 * (df + 1.0) * (y**2.0 / df).log1p() - total

    def entropy(self) -> Any:
        half, more = 0.5 * self.df, 0.5 * (self.df + 1)
        log_beta = half.lgamma() + math.lgamma(0.5) - more.lgamma()
        return self.scale.log() + more * (more.digamma() - half.digamma()) + 0.5 * self.df.log() + log_beta


class FisherSnedecor(Distribution):
    """Fisher's F distribution: the quotient of two χ² numbers, each over its degrees of freedom.

    >>> import symgrad as sg
    >>> sg.distributions.FisherSnedecor(2.0, 4.0).mean
    tensor(2.)
    """

    has_rsample = True
    support = constraints.positive
    arg_constraints: ClassVar[dict[str, Any]] = {"df1": constraints.positive, "df2": constraints.positive}

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None):
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gammas = (Gamma(self.df1 * 0.5, self.df1), Gamma(self.df2 * 0.5, self.df2))
        super().__init__(self.df1.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The expected value; nan up to two degrees of freedom of the divisor."""
        df = _where(self.df2 <= 2, math.nan, self.df2)
        return df / (df - 2)

    @property
    def mode(self) -> Any:
        """The value of the largest density; nan up to two degrees of freedom."""
        inside = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return _where(self.df1 <= 2, math.nan, inside)

    @property
    def variance(self) -> Any:
        """The variance; nan up to four degrees of freedom of the divisor."""
        df1, df2 = self.df1, _where(self.df2 <= 4, math.nan, self.df2)
        return 2 * df2.pow(2) * (df1 + df2 - 2) / (df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape: Any = ()) -> Any:
        above, below = (gamma.rsample(sample_shape) for gamma in self._gammas)
        tiny = finfo(below.dtype).tiny
        return (above / below.clamp(min=tiny)).clamp(min=tiny)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        a, b, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        logs = (a + b).lgamma() - a.lgamma() - b.lgamma()
        return logs + a * ratio.log() + (a - 1) * value.log() - (a + b) * (ratio * value).log1p()
