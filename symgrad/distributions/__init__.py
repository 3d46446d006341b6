r"""Probability distributions under the names of ``torch.distributions``: log-densities, entropies and samples.

Log-densities and entropies are made of ops, so that derivatives, formulas and programs come by themselves.  Samples
are torch's for every seed; ``rsample`` gives ones that gradients flow through.

>>> import symgrad as sg
>>> print(sg.latex(lambda x, m, s: sg.distributions.Normal(m, s).log_prob(x), (), (), ()))
-\frac{\left(x - m\right)^{2}}{2 s^{2}} - \log\left(s\right) - \frac{\log\left(2 \pi\right)}{2}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symgrad.distributions.base import Distribution
from symgrad.distributions.composed import Independent
from symgrad.distributions.continuous import Exponential, Laplace, Uniform
from symgrad.distributions.discrete import Bernoulli, Categorical, Poisson
from symgrad.distributions.divergences import kl_divergence, register_kl
from symgrad.distributions.normals import LogNormal, MultivariateNormal, Normal

__all__ = [
    "Bernoulli", "Categorical", "Distribution", "Exponential", "Independent", "Laplace", "LogNormal",
    "MultivariateNormal", "Normal", "Poisson", "Uniform", "kl_divergence", "register_kl",
]  # fmt: skip

_INSTEAD = {
    "Gamma": "log_p = a * log(b) + (a - 1) * log(x) - b * x - lgamma(a)",
    "Beta": "log_p = (a - 1) * log(x) + (b - 1) * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b)",
    "Dirichlet": "log_p = ((a - 1) * log(x)).sum(-1) + lgamma(a.sum(-1)) - lgamma(a).sum(-1)",
    "StudentT": "log_p = -(v + 1) / 2 * log1p(x * x / v) - log(v * pi) / 2 + lgamma((v + 1) / 2) - lgamma(v / 2)",
}
"""Log-densities of distributions that are not here."""


if not TYPE_CHECKING:  # which knows what there is

    def __getattr__(name: str) -> Any:
        words = _INSTEAD.get(name, "write the log-density with ops (lgamma, log, …)")
        raise AttributeError(f"module 'symgrad.distributions' has no attribute {name!r}: {words}.")
