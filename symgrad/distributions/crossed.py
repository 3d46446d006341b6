"""Kullback-Leibler divergences of distributions of different classes: KL(p ‖ q) = -H(p) - E_p[log q].

A log-density log q(x) is a sum of few functions of x, so that its expectation is made of moments of p: the mean, the
variance, E[log x], and E[exp(-x / s)].  Where p gives values that q never gives, the divergence is infinite.

>>> import symgrad as sg
>>> D = sg.distributions
>>> D.kl_divergence(D.Gamma(2.0, 1.0), D.Exponential(1.0))
tensor(0.4228)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.distributions.bounded import ContinuousBernoulli
from symgrad.distributions.continuous import Exponential, Laplace, Uniform
from symgrad.distributions.counts import Binomial
from symgrad.distributions.discrete import Bernoulli, Poisson
from symgrad.distributions.divergences import kl_divergence, register_kl
from symgrad.distributions.gammas import Beta, Gamma
from symgrad.distributions.normals import Normal
from symgrad.distributions.transformed import Gumbel, Pareto
from symgrad.ops.calls.naming import SPACES
from symgrad.tensor import FUNCTIONS

__all__ = ["kl_divergence", "register_kl"]

# ------------------------------------------------------------------------------------------ moments of p


def _log_of_beta(p: Beta) -> Any:
    return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()


def _log_of_uniform(p: Uniform) -> Any:
    """E[log x]: (h log h - l log l) / (h - l) - 1, also from 0 on; the logarithm has no numbers below."""
    high, low = (FUNCTIONS["xlogy"](end, end) for end in (p.high.clamp(min=0), p.low.clamp(min=0)))
    return (high - low) / (p.high - p.low) - 1


_LOG: dict[type, Callable[[Any], Any]] = {
    Beta: _log_of_beta,
    Exponential: lambda p: -p.rate.log() - np.euler_gamma,
    Gamma: lambda p: p.concentration.digamma() - p.rate.log(),
    Pareto: lambda p: p.scale.log() + p.alpha.reciprocal(),
    Uniform: _log_of_uniform,
}
"""E_p[log x], of distributions of positive numbers."""


def _damped_uniform(p: Uniform, scale: Any) -> Any:
    return scale / (p.high - p.low) * ((-p.low / scale).exp() - (-p.high / scale).exp())


_DAMPED: dict[type, Callable[[Any, Any], Any]] = {
    Exponential: lambda p, scale: p.rate / (p.rate + scale.reciprocal()),
    Gamma: lambda p, scale: (p.rate / (p.rate + scale.reciprocal())).pow(p.concentration),
    Normal: lambda p, scale: (0.5 * (p.scale / scale).pow(2) - p.loc / scale).exp(),
    Uniform: _damped_uniform,
}
"""E_p[exp(-x / scale)]."""


def _of(table: dict[type, Any], p: Any) -> Any:
    return next(table[kind] for kind in type(p).__mro__ if kind in table)


# ------------------------------------------------------------------------------------------ E_p[-log q]


def _surprise_of_normal(p: Any, q: Normal) -> Any:
    return (math.tau**0.5 * q.scale).log() + 0.5 * (p.variance + (p.mean - q.loc).pow(2)) / q.scale.pow(2)


def _surprise_of_exponential(p: Any, q: Exponential) -> Any:
    return q.rate * p.mean - q.rate.log()


def _surprise_of_gamma(p: Any, q: Gamma) -> Any:
    a, logs = q.concentration, _of(_LOG, p)(p)
    return q.rate * p.mean - (a - 1) * logs + a.lgamma() - a * q.rate.log()


def _surprise_of_gumbel(p: Any, q: Gumbel) -> Any:
    damped = (q.loc / q.scale).exp() * _of(_DAMPED, p)(p, q.scale)
    return q.scale.log() + (p.mean - q.loc) / q.scale + damped


def _surprise_of_laplace(p: Normal, q: Laplace) -> Any:
    away, narrow = p.loc - q.loc, 2**0.5 * p.scale
    distance = narrow / math.pi**0.5 * (-(away / narrow).pow(2)).exp() + away * (away / narrow).erf()
    return (2 * q.scale).log() + distance / q.scale


def _surprise_of_beta(p: Uniform, q: Beta) -> Any:
    a, b = q.concentration1, q.concentration0
    rest = Uniform(1 - p.high, 1 - p.low, validate_args=False)
    scales = a.lgamma() + b.lgamma() - (a + b).lgamma()
    return scales - (a - 1) * _log_of_uniform(p) - (b - 1) * _log_of_uniform(rest)


def _surprise_of_continuous_bernoulli(p: Any, q: ContinuousBernoulli) -> Any:
    return SPACES["nn.functional"]["softplus"](q.logits) - q.logits * p.mean - q._log_norm()


def _surprise_of_pareto(p: Uniform, q: Pareto) -> Any:
    return (q.alpha + 1) * _log_of_uniform(p) - q.alpha * q.scale.log() - q.alpha.log()


def _surprise_of_uniform(_p: Any, q: Uniform) -> Any:
    return (q.high - q.low).log()


def _surprise_of_poisson(p: Bernoulli, q: Poisson) -> Any:
    return q.rate - p.probs * q.rate.log()  # of 0 and 1, whose factorials are 1


# ------------------------------------------------------------------------------------------ the pairs


def _below_zero(p: Uniform, _q: Any) -> Any:
    return p.low < 0


def _beyond_1(p: Uniform, _q: Any) -> Any:
    return (p.low < 0) | (p.high > 1)


def _without_mean(p: Pareto, _q: Any) -> Any:
    return p.alpha <= 1


def _register(kinds: str, q: type, surprise: Callable[[Any, Any], Any], outside: Any = None) -> None:
    def divergence(p: Any, q: Any) -> Any:
        found = surprise(p, q) - p.entropy()
        return found if outside is None else FUNCTIONS["where"](outside(p, q), math.inf, found)

    for kind in kinds.split():
        register_kl(_CLASSES[kind], q)(divergence)


_KINDS: tuple[type, ...] = (
    Bernoulli, Beta, Binomial, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Normal, Pareto, Poisson,
    Uniform,
)  # fmt: skip
_CLASSES = {kind.__name__: kind for kind in _KINDS}
_register("Beta ContinuousBernoulli Exponential Gamma Gumbel Laplace Uniform", Normal, _surprise_of_normal)
_register("Pareto", Normal, _surprise_of_normal, lambda p, _q: p.alpha <= 2)
_register("Beta ContinuousBernoulli Gamma", Exponential, _surprise_of_exponential)
_register("Pareto", Exponential, _surprise_of_exponential, _without_mean)
_register("Uniform", Exponential, _surprise_of_exponential, _below_zero)
_register("Beta Exponential", Gamma, _surprise_of_gamma)
_register("Pareto", Gamma, _surprise_of_gamma, _without_mean)
_register("Uniform", Gamma, _surprise_of_gamma, _below_zero)
_register("Exponential Gamma Normal Uniform", Gumbel, _surprise_of_gumbel)
_register("Normal", Laplace, _surprise_of_laplace)
_register("Bernoulli", Poisson, _surprise_of_poisson)
_register("Uniform", Beta, _surprise_of_beta, _beyond_1)
_register("Beta ContinuousBernoulli", ContinuousBernoulli, _surprise_of_continuous_bernoulli)
_register("Uniform", ContinuousBernoulli, _surprise_of_continuous_bernoulli, _beyond_1)
_register("Uniform", Pareto, _surprise_of_pareto, lambda p, q: p.low < q.scale)
_register("Beta ContinuousBernoulli", Uniform, _surprise_of_uniform, lambda _p, q: (q.low > 0) | (q.high < 1))


def _infinite(p: Any, q: Any) -> Any:
    return p.mean.new_full(np.broadcast_shapes(p.batch_shape, q.batch_shape), math.inf)


for _kinds, _others in (
    ("Gumbel Laplace Normal", "Beta ContinuousBernoulli Exponential Gamma Pareto Uniform"),
    ("Exponential Gamma", "Beta ContinuousBernoulli Pareto Uniform"),
    ("Beta ContinuousBernoulli", "Pareto"),
    ("Pareto", "Beta ContinuousBernoulli Uniform"),
    ("Poisson", "Bernoulli Binomial"),
):
    for _kind in _kinds.split():
        for _other in _others.split():
            register_kl(_CLASSES[_kind], _CLASSES[_other])(_infinite)
