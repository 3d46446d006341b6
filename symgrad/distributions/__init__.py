r"""Probability distributions under the names of ``torch.distributions``: log-densities, entropies and samples.

Log-densities and entropies are made of ops, so that derivatives, formulas and programs come by themselves.  Samples
are torch's for every seed; ``rsample`` gives ones that gradients flow through.

>>> import symgrad as sg
>>> print(sg.latex(lambda x, m, s: sg.distributions.Normal(m, s).log_prob(x), (), (), ()))
-\frac{\left(x - m\right)^{2}}{2 s^{2}} - \log\left(s\right) - \frac{\log\left(2 \pi\right)}{2}
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from symgrad.distributions import (
    base,
    bounded,
    circular,
    composed,
    constraints,
    continuous,
    counts,
    crossed,
    discrete,
    gammas,
    matrices,
    normals,
    registry,
    relaxed,
    transformed,
    transforms,
    utils,
)
from symgrad.distributions.base import Distribution, ExponentialFamily
from symgrad.distributions.bounded import ContinuousBernoulli, GeneralizedPareto, Kumaraswamy
from symgrad.distributions.circular import VonMises
from symgrad.distributions.composed import Independent, MixtureSameFamily
from symgrad.distributions.continuous import Cauchy, Exponential, Laplace, Uniform
from symgrad.distributions.counts import Binomial, Geometric, Multinomial, NegativeBinomial
from symgrad.distributions.crossed import kl_divergence, register_kl
from symgrad.distributions.discrete import Bernoulli, Categorical, Poisson
from symgrad.distributions.gammas import Beta, Chi2, Dirichlet, FisherSnedecor, Gamma, StudentT
from symgrad.distributions.matrices import LKJCholesky, Wishart
from symgrad.distributions.normals import LowRankMultivariateNormal, MultivariateNormal, Normal
from symgrad.distributions.registry import biject_to, transform_to
from symgrad.distributions.relaxed import OneHotCategorical, OneHotCategoricalStraightThrough
from symgrad.distributions.transformed import (
    Gumbel,
    HalfCauchy,
    HalfNormal,
    InverseGamma,
    LogisticNormal,
    LogNormal,
    Pareto,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
    TransformedDistribution,
    Weibull,
)
from symgrad.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    CatTransform,
    ComposeTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
    identity_transform,
)

__all__ = [
    "AbsTransform", "AffineTransform", "Bernoulli", "Beta", "Binomial", "CatTransform", "Categorical", "Cauchy", "Chi2",
    "ComposeTransform", "ContinuousBernoulli", "CorrCholeskyTransform", "CumulativeDistributionTransform", "Dirichlet",
    "Distribution", "ExpTransform", "Exponential", "ExponentialFamily", "FisherSnedecor", "Gamma", "GeneralizedPareto",
    "Geometric", "Gumbel", "HalfCauchy", "HalfNormal", "Independent", "IndependentTransform", "InverseGamma",
    "Kumaraswamy", "LKJCholesky", "Laplace", "LogNormal", "LogisticNormal", "LowRankMultivariateNormal",
    "LowerCholeskyTransform", "MixtureSameFamily", "Multinomial", "MultivariateNormal", "NegativeBinomial", "Normal",
    "OneHotCategorical", "OneHotCategoricalStraightThrough", "Pareto", "Poisson", "PositiveDefiniteTransform",
    "PowerTransform", "RelaxedBernoulli", "RelaxedOneHotCategorical", "ReshapeTransform", "SigmoidTransform",
    "SoftmaxTransform", "SoftplusTransform", "StackTransform", "StickBreakingTransform", "StudentT", "TanhTransform",
    "Transform", "TransformedDistribution", "Uniform", "VonMises", "Weibull", "Wishart", "biject_to", "constraints",
    "identity_transform", "kl_divergence", "register_kl", "transform_to", "transforms", "utils",
]  # fmt: skip

_ROOMS = {
    "bernoulli categorical poisson": discrete,
    "beta chi2 dirichlet fishersnedecor gamma studentT": gammas,
    "binomial geometric multinomial negative_binomial": counts,
    "cauchy exponential laplace uniform": continuous,
    "continuous_bernoulli generalized_pareto kumaraswamy": bounded,
    "constraint_registry": registry,
    "distribution exp_family": base,
    "gumbel half_cauchy half_normal inverse_gamma pareto transformed_distribution weibull": transformed,
    "log_normal logistic_normal": transformed,
    "independent mixture_same_family": composed,
    "kl": crossed,
    "lkj_cholesky wishart": matrices,
    "lowrank_multivariate_normal multivariate_normal normal": normals,
    "one_hot_categorical": relaxed,
    "relaxed_bernoulli relaxed_categorical": transformed,
    "von_mises": circular,
}
for _names, _room in _ROOMS.items():
    for _name in _names.split():  # torch has a module for each, from which programs import
        globals()[_name] = sys.modules[f"{__name__}.{_name}"] = _room


if not TYPE_CHECKING:  # which knows what there is

    def __getattr__(name: str) -> Any:
        raise AttributeError(
            f"module 'symgrad.distributions' has no attribute {name!r}: write the log-density with ops (lgamma, log)."
        )
