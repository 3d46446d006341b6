"""Kullback-Leibler divergences of distributions, by their classes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.distributions.base import Distribution, ExponentialFamily
from symgrad.distributions.composed import Independent
from symgrad.distributions.continuous import Cauchy, Exponential, Laplace, Uniform
from symgrad.distributions.counts import Binomial, Geometric
from symgrad.distributions.discrete import Bernoulli, Categorical, Odds, Poisson
from symgrad.distributions.gammas import Beta, Dirichlet, Gamma
from symgrad.distributions.matrices import Wishart
from symgrad.distributions.normals import Normal, NormalVectors
from symgrad.distributions.relaxed import OneHotCategorical
from symgrad.distributions.transformed import Gumbel, HalfNormal, Pareto, TransformedDistribution
from symgrad.distributions.transforming import sum_rightmost
from symgrad.errors import ArgumentError
from symgrad.ops.calls.naming import SPACES
from symgrad.tensor import FUNCTIONS

_REGISTRY: dict[tuple[type, type], Callable[[Any, Any], Any]] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Any], Any]:
    """A decorator: the function gives KL(p ‖ q) for distributions of these classes, and of ones derived from them.

    They may be those of another library, which call their own ``kl_divergence`` of them.  Raises ``ArgumentError`` for
    what are no classes.
    """
    for kind in (type_p, type_q):
        if not isinstance(kind, type):
            raise ArgumentError(f"Expected type_p and type_q to be Distribution subclasses but got {kind}")

    def register(function: Any) -> Any:
        _REGISTRY[type_p, type_q] = function
        return function

    return register


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """KL(p ‖ q) = E_p[log p - log q], of shape ``batch_shape``.

    Raises ``NotImplementedError`` for a pair of classes that no function is registered for.

    >>> import symgrad as sg
    >>> N = sg.distributions.Normal
    >>> sg.distributions.kl_divergence(N(1.0, 1.0), N(0.0, 1.0))
    tensor(0.5000)
    """
    known = [(a, b) for a, b in _REGISTRY if isinstance(p, a) and isinstance(q, b)]
    if not known:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}: write one, and "
            "register it with register_kl"
        )

    def distance(pair: tuple[type, type]) -> tuple[int, int]:
        return type(p).__mro__.index(pair[0]), type(q).__mro__.index(pair[1])

    return _REGISTRY[min(known, key=distance)](p, q)


@register_kl(Normal, Normal)
def _normals(p: Normal, q: Normal) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(NormalVectors, NormalVectors)
def _vectors(p: NormalVectors, q: NormalVectors) -> Any:
    if p.event_shape != q.event_shape:
        raise ArgumentError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be computed"
        )
    widths = sum(q._widths(B) for B in p._factors())
    away = q._widths((q.loc - p.loc).unsqueeze(-1))
    return q._half_log_det() - p._half_log_det() + 0.5 * (widths + away - p.event_shape[0])


@register_kl(Wishart, Wishart)
def _wisharts(p: Wishart, q: Wishart) -> Any:
    if p.event_shape != q.event_shape:
        raise ArgumentError("KL-divergence between two Wisharts with different event shapes cannot be computed")
    n = p.event_shape[-1]
    logs = q.df * (q._half_log_det() - p._half_log_det()) + p.df / 2 * (q._widths(p.scale_tril) - n)
    scales = FUNCTIONS["mvlgamma"](q.df / 2, n) - FUNCTIONS["mvlgamma"](p.df / 2, n)
    return logs + scales + (p.df - q.df) / 2 * p._digammas()


@register_kl(ExponentialFamily, ExponentialFamily)
def _families(p: ExponentialFamily, q: ExponentialFamily) -> Any:
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed using Bregman "
            "divergences: write one, and register it with register_kl"
        )
    natural, others = p._naturals(), q._natural_params
    found, slopes = p._normalised(natural)
    found = q._log_normalizer(*others) - found
    for own, other, slope in zip(natural, others, slopes, strict=True):
        found = found - sum_rightmost((other - own) * slope, len(q.event_shape))
    return found


@register_kl(Bernoulli, Bernoulli)
def _bernoullis(p: Odds, q: Odds) -> Any:
    softplus, where = SPACES["nn.functional"]["softplus"], FUNCTIONS["where"]
    of_1 = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    of_1 = where(p.probs == 0, 0.0, where(q.probs == 0, math.inf, of_1))
    of_0 = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    return of_1 + where(p.probs == 1, 0.0, where(q.probs == 1, math.inf, of_0))


@register_kl(Categorical, Categorical)
def _choices(p: Categorical, q: Categorical) -> Any:
    where = FUNCTIONS["where"]
    parts = p.probs * (p.logits - q.logits)
    return where(p.probs == 0, 0.0, where(q.probs == 0, math.inf, parts)).sum(-1)


@register_kl(Poisson, Poisson)
def _counts(p: Poisson, q: Poisson) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _uniforms(p: Uniform, q: Uniform) -> Any:
    outside = (q.low > p.low) | (q.high < p.high)
    return FUNCTIONS["where"](outside, math.inf, ((q.high - q.low) / (p.high - p.low)).log())


@register_kl(Exponential, Exponential)
def _exponentials(p: Exponential, q: Exponential) -> Any:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Laplace, Laplace)
def _laplaces(p: Laplace, q: Laplace) -> Any:
    ratio, away = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + away / q.scale + ratio * (-away / p.scale).exp() - 1


@register_kl(Gamma, Gamma)
def _gammas(p: Gamma, q: Gamma) -> Any:
    a, b = p.concentration, q.concentration
    logs = b * (p.rate / q.rate).log() + b.lgamma() - a.lgamma() + (a - b) * a.digamma()
    return logs + (q.rate - p.rate) * (a / p.rate)


@register_kl(Dirichlet, Dirichlet)
def _shares(p: Dirichlet, q: Dirichlet) -> Any:
    a, b = p.concentration, q.concentration
    total = a.sum(-1, keepdim=True)
    scales = a.sum(-1).lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return scales + ((a - b) * (a.digamma() - total.digamma())).sum(-1)


@register_kl(Beta, Beta)
def _betas(p: Beta, q: Beta) -> Any:
    return _shares(p._dirichlet, q._dirichlet)


@register_kl(Binomial, Binomial)
def _trials(p: Binomial, q: Binomial) -> Any:
    where, n, most = FUNCTIONS["where"], p.total_count, q.total_count
    if bool((n < most).any()):
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    return where(n > most, math.inf, n * where(n == 0, 0.0, _bernoullis(p, q)))


@register_kl(Geometric, Geometric)
def _waits(p: Geometric, q: Geometric) -> Any:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Cauchy, Cauchy)
def _cauchys(p: Cauchy, q: Cauchy) -> Any:
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()


@register_kl(Gumbel, Gumbel)
def _gumbels(p: Gumbel, q: Gumbel) -> Any:
    ratio, away = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return away - ratio.log() + ratio * np.euler_gamma + ((1 + ratio).lgamma() - away).exp() - (1 + np.euler_gamma)


@register_kl(HalfNormal, HalfNormal)
def _halves(p: HalfNormal, q: HalfNormal) -> Any:
    return _normals(p.base_dist, q.base_dist)


@register_kl(Pareto, Pareto)
def _paretos(p: Pareto, q: Pareto) -> Any:
    ratio = q.alpha / p.alpha
    inside = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return FUNCTIONS["where"](p.scale < q.scale, math.inf, inside)


@register_kl(OneHotCategorical, OneHotCategorical)
def _vectors_of_choices(p: OneHotCategorical, q: OneHotCategorical) -> Any:
    return _choices(p._categorical, q._categorical)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: TransformedDistribution, q: TransformedDistribution) -> Any:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("KL of transformed distributions needs equal transforms and event shapes")
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("KL of Independent distributions needs equal reinterpreted_batch_ndims")
    return p._added(kl_divergence(p.base_dist, q.base_dist))
