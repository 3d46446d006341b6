"""There are no distributions here: this room stands for torch.distributions, and tells what to write instead.

A log-density is a formula of ops, whose derivatives and LaTeX come by themselves; samples come from ``randn``,
``rand``, ``bernoulli``, ``multinomial``, ``poisson`` and ``binomial``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__: list[str] = []

_INSTEAD = {
    "Normal": "log_p = -((x - mean) / std) ** 2 / 2 - log(std) - log(2 * pi) / 2, a sample is mean + std * randn(…)",
    "Bernoulli": "log_p = -nn.functional.binary_cross_entropy_with_logits(logits, x, reduction='none'); "
    "bernoulli(p) draws",
    "Categorical": "log_p = log_softmax(logits, -1).gather(-1, k[..., None]), multinomial(p, 1) draws",
    "Uniform": "log_p = -log(b - a) between a and b, a sample is a + (b - a) * rand(…)",
    "Poisson": "log_p = k * log(rate) - rate - lgamma(k + 1), poisson(rate) draws",
    "Gamma": "log_p = a * log(b) + (a - 1) * log(x) - b * x - lgamma(a)",
    "Beta": "log_p = (a - 1) * log(x) + (b - 1) * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b)",
    "MultivariateNormal": "log_p = -(z * z).sum() / 2 - L.diagonal().log().sum() - n * log(2 * pi) / 2 with "
    "L = linalg.cholesky(S), z = linalg.solve_triangular(L, x - mean, upper=False)",
}


if not TYPE_CHECKING:  # which knows what there is

    def __getattr__(name: str) -> Any:
        words = _INSTEAD.get(name, "write the log-density with ops (lgamma, log, …)")
        raise AttributeError(f"module 'symgrad.distributions' has no attribute {name!r}: {words}.")
