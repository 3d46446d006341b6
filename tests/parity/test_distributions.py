"""``distributions`` against torch's: log-densities, moments, divergences, their gradients, and samples by seed."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch", reason="torch is the referee here: pip install torch==2.13.0")
pytestmark = pytest.mark.peer

A = [[0.3, -1.2, 0.7], [1.1, 0.4, -0.6]]
S = [[0.5, 1.5, 2.0], [1.0, 0.7, 3.0]]
P = [[0.2, 0.5, 0.9], [0.35, 0.6, 0.1]]
L = [[1.2, 0.0], [-0.4, 0.8]]
V = [[2.0, 0.5], [0.5, 1.0]]
MADE = {
    "Normal": (lambda D, x, s: D.Normal(x(A), x(S)), A),
    "Normal of numbers": (lambda D, x, s: D.Normal(0.5, 2.0), [0.3, -1.0]),
    "Normal of both": (lambda D, x, s: D.Normal(x(A), 2.0), A),
    "LogNormal": (lambda D, x, s: D.LogNormal(x(A), x(S)), S),
    "Uniform": (lambda D, x, s: D.Uniform(x(A), x(A) + x(S)), [[0.5, 0.1, 1.0], [1.5, 0.9, 1.0]]),
    "Exponential": (lambda D, x, s: D.Exponential(x(S)), S),
    "Laplace": (lambda D, x, s: D.Laplace(x(A), x(S)), P),
    "Bernoulli": (lambda D, x, s: D.Bernoulli(x(P)), [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]),
    "Bernoulli of logits": (lambda D, x, s: D.Bernoulli(logits=x(A)), [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]),
    "Categorical": (lambda D, x, s: D.Categorical(x(S)), [2, 0]),
    "Categorical of logits": (lambda D, x, s: D.Categorical(logits=x(A)), [1, 2]),
    "Poisson": (lambda D, x, s: D.Poisson(x(S)), [[0.0, 1.0, 4.0], [2.0, 0.0, 3.0]]),
    "MultivariateNormal": (lambda D, x, s: D.MultivariateNormal(x([0.5, -1.0]), x(V)), [[0.1, 0.2], [1.0, -3.0]]),
    "its factor": (lambda D, x, s: D.MultivariateNormal(x([0.5, -1.0]), scale_tril=x(L)), [[0.1, 0.2], [1.0, -3.0]]),
    "its inverse": (
        lambda D, x, s: D.MultivariateNormal(x([[0.5, -1.0], [0.0, 0.0]]), precision_matrix=x(V)),
        [[0.1, 0.2], [1.0, -3.0]],
    ),
    "low rank": (
        lambda D, x, s: D.LowRankMultivariateNormal(x([[0.5, -1.0], [0.0, 0.0]]), x([[0.7], [-0.4]]), x([0.5, 1.5])),
        [[0.1, 0.2], [1.0, -3.0]],
    ),
    "LKJCholesky": (
        lambda D, x, s: D.LKJCholesky(3, x([0.7, 2.5])),
        [[[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.6, 0.8]], [[1.0, 0.0, 0.0], [-0.8, 0.6, 0.0], [0.28, 0.0, 0.96]]],
    ),
    "Wishart": (
        lambda D, x, s: D.Wishart(x([4.5, 3.0]), x([[2.0, 0.5], [0.5, 1.0]])), [[[1.0, 0.3], [0.3, 2.0]]] * 2
    ),
    "its root": (lambda D, x, s: D.Wishart(5.0, scale_tril=x(L).tril()), [[1.0, 0.3], [0.3, 2.0]]),
    "VonMises": (lambda D, x, s: D.VonMises(x(A), x(S)), A),
    "ContinuousBernoulli": (
        lambda D, x, s: D.ContinuousBernoulli(x([[0.2, 0.45, 0.9], [0.35, 0.6, 0.1]])),
        [[0.3, 0.1, 0.0], [1.0, 0.9, 0.2]],
    ),
    "ContinuousBernoulli of logits": (lambda D, x, s: D.ContinuousBernoulli(logits=x(A)), P),
    "Kumaraswamy": (lambda D, x, s: D.Kumaraswamy(x(S), 0.1 + x(P)), P),
    "GeneralizedPareto": (lambda D, x, s: D.GeneralizedPareto(x(P), x(S), x([0.4, -0.2, 0.7])), [[0.5, 1.0, 1.5]] * 2),
    "GeneralizedPareto at 0": (lambda D, x, s: D.GeneralizedPareto(0.0, x(S), s.zeros(3)), P),
    "Independent": (lambda D, x, s: D.Independent(D.Normal(x(A), x(S)), 1), A),
    "Gamma": (lambda D, x, s: D.Gamma(x(S), x(P)), S),
    "Chi2": (lambda D, x, s: D.Chi2(x(S)), S),
    "InverseGamma": (lambda D, x, s: D.InverseGamma(0.1 + x(S), x(P)), S),
    "Beta": (lambda D, x, s: D.Beta(x(S), x(P)), P),
    "Dirichlet": (lambda D, x, s: D.Dirichlet(x(S)), [[0.2, 0.5, 0.3], [0.7, 0.2, 0.1]]),
    "Dirichlet at a corner": (lambda D, x, s: D.Dirichlet(x(P)), [[0.2, 0.5, 0.3], [0.7, 0.2, 0.1]]),
    "StudentT": (lambda D, x, s: D.StudentT(x(S), x(A), x(P)), A),
    "FisherSnedecor": (lambda D, x, s: D.FisherSnedecor(3 * x(S), 3 * x(S)), S),
    "Cauchy": (lambda D, x, s: D.Cauchy(x(A), x(S)), A),
    "HalfNormal": (lambda D, x, s: D.HalfNormal(x(S)), P),
    "HalfCauchy": (lambda D, x, s: D.HalfCauchy(x(S)), P),
    "Gumbel": (lambda D, x, s: D.Gumbel(x(A), x(S)), A),
    "Weibull": (lambda D, x, s: D.Weibull(x(S), 1 + x(P)), S),
    "Pareto": (lambda D, x, s: D.Pareto(x(P), 2 + x(S)), S),
    "LogisticNormal": (lambda D, x, s: D.LogisticNormal(x(A), x(S)), [[0.1, 0.2, 0.3, 0.4], [0.4, 0.1, 0.3, 0.2]]),
    "Geometric": (lambda D, x, s: D.Geometric(x(P)), [[0.0, 3.0, 1.0], [2.0, 0.0, 7.0]]),
    "Geometric of logits": (lambda D, x, s: D.Geometric(logits=x(A)), [[0.0, 3.0, 1.0], [2.0, 0.0, 7.0]]),
    "Binomial": (lambda D, x, s: D.Binomial(5, x(P)), [[0.0, 3.0, 1.0], [2.0, 0.0, 5.0]]),
    "Binomial of logits": (lambda D, x, s: D.Binomial(30, logits=x(A)), [[0.0, 3.0, 21.0], [2.0, 0.0, 5.0]]),
    "NegativeBinomial": (lambda D, x, s: D.NegativeBinomial(x(S), x(P)), [[0.0, 3.0, 1.0], [2.0, 0.0, 5.0]]),
    "Multinomial": (lambda D, x, s: D.Multinomial(6, x(S)), [[1.0, 3.0, 2.0], [0.0, 6.0, 0.0]]),
    "OneHotCategorical": (lambda D, x, s: D.OneHotCategorical(x(S)), [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
    "straight through": (
        lambda D, x, s: D.OneHotCategoricalStraightThrough(logits=x(A)), [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    ),
    "RelaxedBernoulli": (lambda D, x, s: D.RelaxedBernoulli(x(0.7), x(P)), P),
    "RelaxedBernoulli of logits": (lambda D, x, s: D.RelaxedBernoulli(x(0.7), logits=x(A)), P),
    "RelaxedOneHotCategorical": (
        lambda D, x, s: D.RelaxedOneHotCategorical(x(0.7), logits=x(A)), [[0.2, 0.5, 0.3], [0.7, 0.2, 0.1]]
    ),
    "squashed": (
        lambda D, x, s: D.TransformedDistribution(
            D.Normal(x(A), x(S)), [D.TanhTransform(cache_size=1), D.AffineTransform(1.0, x([2.0, -1.0, 0.5]))]
        ),
        [[0.3, 0.5, 0.9], [0.1, 0.9, 1.1]],
    ),
    "squashed vectors": (
        lambda D, x, s: D.Independent(
            D.TransformedDistribution(D.Normal(x(A), x(S)), [D.SigmoidTransform(), D.AffineTransform(-1, 2)]), 1
        ),
        P,
    ),
    "softplus of powers": (
        lambda D, x, s: D.TransformedDistribution(D.Gamma(x(S), x(P)), [D.PowerTransform(2.0), D.SoftplusTransform()]),
        [[0.8, 1.5, 1.9], [1.35, 1.6, 1.1]],
    ),
    "reshaped": (
        lambda D, x, s: D.TransformedDistribution(
            D.Independent(D.Normal(x(A), x(S)), 1),
            [D.AffineTransform(x([0.5, 1.0, 2.0]), x([2.0, 3.0, 4.0]), event_dim=1), D.ReshapeTransform((3,), (3, 1))],
        ),
        [[[0.3], [0.5], [0.9]], [[0.1], [0.9], [1.1]]],
    ),
    "MixtureSameFamily": (
        lambda D, x, s: D.MixtureSameFamily(D.Categorical(logits=x(A)), D.Normal(x(P), x(S))), [0.3, -1.0]
    ),
    "mixture of vectors": (
        lambda D, x, s: D.MixtureSameFamily(
            D.Categorical(x([1.0, 2.0])), D.Independent(D.Normal(x(A), x(S)), 1)
        ), [0.3, -1.0, 0.5]
    ),
}  # fmt: skip
WITHOUT_SLOPES = ("Gamma", "Chi2", "softplus of powers", "InverseGamma")
"""Whose probabilities torch cannot differentiate."""
IMPLICIT = (
    "Gamma",
    "Chi2",
    "Beta",
    "Dirichlet",
    "StudentT",
    "FisherSnedecor",
    "softplus of powers",
    "Wishart",
    "its root",
)
"""Of their samples torch has gradients to three digits."""


class Side:
    """One library: the distribution, and the leaves that it was made of."""

    def __init__(self, t: Any, make: Any, dtype: str = "float64"):
        self.t, self.D = t, importlib.import_module(f"{t.__name__}.distributions")
        self.leaves: list[Any] = []

        def leaf(values: Any) -> Any:
            made = t.tensor(values, dtype=getattr(t, dtype), requires_grad=True)
            self.leaves.append(made)
            return made

        self.made = make(self.D, leaf, t)

    def slopes(self, value: Any) -> list[Any]:
        if not self.leaves or not value.requires_grad:
            return []
        weights = self.t.arange(1, value.numel() + 1).reshape(value.shape).to(value.dtype)
        found = self.t.autograd.grad((value * weights).sum(), self.leaves, allow_unused=True, create_graph=True)
        return [None if g is None else g.detach().numpy().copy() for g in found]


def same(a: Any, b: Any, rtol: float = 1e-9) -> None:
    assert tuple(a.shape) == tuple(b.shape)
    assert str(a.dtype).removeprefix("torch.") == str(b.dtype).removeprefix("torch.")
    np.testing.assert_allclose(b.detach().numpy(), a.detach().numpy(), rtol=rtol, atol=1e-12, equal_nan=True)


WITHOUT = {
    "Kumaraswamy": ("mode",),  # which is nan in torch, for all parameters
    "GeneralizedPareto": ("log_prob", "cdf", "icdf"),  # for which torch compares float64 with float32, and stops
    "GeneralizedPareto at 0": ("log_prob", "cdf"),
}


@pytest.mark.parametrize("name", MADE)
def test_densities_and_moments(name):
    make, values = MADE[name]
    sides = [Side(t, make) for t in (torch, sg)]
    if name not in ("LogNormal", "mixture of vectors"):  # of which torch tells nothing, and what it computed on the way
        assert repr(sides[0].made) == repr(sides[1].made)
    kinds = (torch.float64, sg.float64) if isinstance(np.ravel(values)[0], float) else (torch.int64, sg.int64)
    asked = {"log_prob": [s.t.tensor(values, dtype=k) for s, k in zip(sides, kinds, strict=True)]}
    asked |= dict.fromkeys(("mean", "mode", "variance", "stddev", "entropy", "perplexity", "cdf", "icdf"))
    for what, given in asked.items():
        if what in WITHOUT.get(name, ()):
            continue
        found = []
        for k, side in enumerate(sides):
            try:
                attribute = getattr(side.made, what)
                if what in ("cdf", "icdf"):
                    points = P if what == "icdf" else values
                    given = [s.t.tensor(points, dtype=getattr(s.t, "float64")) for s in sides]
                if name == "Normal of numbers" and given is not None:
                    given = [x.float() for x in given]
                attribute = attribute(given[k]) if given else attribute() if callable(attribute) else attribute
            except (NotImplementedError, AttributeError):
                attribute = None
            found.append(attribute)
        assert (found[0] is None) == (found[1] is None), what
        if found[0] is None:
            continue
        rough = name in ("Normal of numbers", "Multinomial", "VonMises")  # torch counts in float32, or for it
        same(*found, rtol=1e-6 if rough else 1e-9)
        if what == "cdf" and name in WITHOUT_SLOPES:
            continue
        for a, b in zip(*(side.slopes(x) for side, x in zip(sides, found, strict=True)), strict=True):
            assert (a is None) == (b is None), what
            if a is not None:
                np.testing.assert_allclose(
                    b, a, rtol=1e-5 if rough else 1e-7, atol=1e-7 if rough else 1e-10, err_msg=what
                )
    assert tuple(sides[0].made.batch_shape) == tuple(sides[1].made.batch_shape)
    assert tuple(sides[0].made.event_shape) == tuple(sides[1].made.event_shape)
    if "log_prob" in WITHOUT.get(name, ()):
        return
    wider = [side.made.expand((2, *side.made.batch_shape)) for side in sides]
    same(*(w.log_prob(x.float() if "numbers" in name else x) for w, x in zip(wider, asked["log_prob"], strict=True)),
         rtol=1e-6 if rough else 1e-9)  # fmt: skip


@pytest.mark.filterwarnings("ignore:Singular sample detected")  # torch calls all but the singular ones so
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", MADE)
def test_samples_are_torchs_for_every_seed(name, dtype):
    make, _ = MADE[name]
    sides = [Side(t, make, dtype) for t in (torch, sg)]
    for shape in ((), (5,), (2, 3)):
        for what in ("sample", "rsample"):
            found = []
            for side in sides:
                side.t.manual_seed(7)
                try:
                    found.append(getattr(side.made, what)(side.t.Size(shape)))
                except NotImplementedError:
                    found.append(None)
            assert (found[0] is None) == (found[1] is None)
            if found[0] is None:
                assert not sides[1].made.has_rsample
                continue
            same(*found, rtol=1e-5 if dtype == "float32" else 1e-11)
            assert found[0].requires_grad == found[1].requires_grad == (what == "rsample" and bool(sides[0].leaves))
            if shape and name in ("Wishart", "its root"):
                continue  # torch writes into what its backward pass needs
            for a, b in zip(*(side.slopes(x) for side, x in zip(sides, found, strict=True)), strict=True):
                digits = 1e-4 if dtype == "float32" else 1e-9
                digits = 2e-3 if name.endswith(IMPLICIT) or name.startswith(IMPLICIT) else digits
                np.testing.assert_allclose(b, a, rtol=digits, atol=1e-5)


PAIRS = {
    "Normal": lambda D, x: (D.Normal(x(A), x(S)), D.Normal(x(P), x(S[::-1]))),
    "LogNormal": lambda D, x: (D.LogNormal(x(A), x(S)), D.LogNormal(x(P), x(S[::-1]))),
    "Bernoulli": lambda D, x: (D.Bernoulli(x(P)), D.Bernoulli(logits=x(A))),
    "certain": lambda D, x: (D.Bernoulli(x([0.0, 1.0, 0.5])), D.Bernoulli(x([0.0, 0.0, 1.0]))),
    "Categorical": lambda D, x: (D.Categorical(x(S)), D.Categorical(logits=x(A))),
    "impossible": lambda D, x: (D.Categorical(x([0.0, 1.0, 2.0])), D.Categorical(x([1.0, 0.0, 2.0]))),
    "Poisson": lambda D, x: (D.Poisson(x(S)), D.Poisson(x(P))),
    "Uniform": lambda D, x: (D.Uniform(x(A), x(A) + x(S)), D.Uniform(x(A) - x(P), x(A) + x(S) + 1)),
    "beyond": lambda D, x: (D.Uniform(x([0.0]), x([2.0])), D.Uniform(x([0.0]), x([1.0]))),
    "Exponential": lambda D, x: (D.Exponential(x(S)), D.Exponential(x(P))),
    "Laplace": lambda D, x: (D.Laplace(x(A), x(S)), D.Laplace(x(P), x(S[::-1]))),
    "MultivariateNormal": lambda D, x: (
        D.MultivariateNormal(x([0.5, -1.0]), x(V)), D.MultivariateNormal(x([0.0, 1.0]), scale_tril=x(L))
    ),
    "low rank": lambda D, x: (
        D.LowRankMultivariateNormal(x([0.5, -1.0]), x([[0.7], [-0.4]]), x([0.5, 1.5])),
        D.LowRankMultivariateNormal(x([[0.5, 1.0], [0.0, 0.3]]), x([[0.2], [0.4]]), x([2.5, 1.5])),
    ),
    "of low rank": lambda D, x: (
        D.LowRankMultivariateNormal(x([0.5, -1.0]), x([[0.7], [-0.4]]), x([0.5, 1.5])),
        D.MultivariateNormal(x([0.0, 1.0]), scale_tril=x(L)),
    ),
    "from low rank": lambda D, x: (
        D.MultivariateNormal(x([0.0, 1.0]), x(V)),
        D.LowRankMultivariateNormal(x([0.5, -1.0]), x([[0.7], [-0.4]]), x([0.5, 1.5])),
    ),
    "ContinuousBernoulli": lambda D, x: (D.ContinuousBernoulli(x(P[1])), D.ContinuousBernoulli(logits=x(A[0]))),
    "Gamma": lambda D, x: (D.Gamma(x(S), x(P)), D.Gamma(x(P), x(S[::-1]))),
    "Chi2": lambda D, x: (D.Chi2(x(S)), D.Gamma(x(P), x(S[::-1]))),
    "Beta": lambda D, x: (D.Beta(x(S), x(P)), D.Beta(x(P), x(S[::-1]))),
    "Dirichlet": lambda D, x: (D.Dirichlet(x(S)), D.Dirichlet(x(P))),
    "Binomial": lambda D, x: (D.Binomial(3, x(P)), D.Binomial(3, logits=x(A))),
    "more trials": lambda D, x: (D.Binomial(4, x(P)), D.Binomial(3, logits=x(A))),
    "Geometric": lambda D, x: (D.Geometric(x(P)), D.Geometric(logits=x(A))),
    "Cauchy": lambda D, x: (D.Cauchy(x(A), x(S)), D.Cauchy(x(P), x(S[::-1]))),
    "Gumbel": lambda D, x: (D.Gumbel(x(A), x(S)), D.Gumbel(x(P), x(S[::-1]))),
    "HalfNormal": lambda D, x: (D.HalfNormal(x(P)), D.HalfNormal(x(S))),
    "Pareto": lambda D, x: (D.Pareto(x(S), x(P)), D.Pareto(x(P), x(S))),
    "OneHotCategorical": lambda D, x: (D.OneHotCategorical(x(S)), D.OneHotCategorical(logits=x(A))),
    "transformed": lambda D, x: tuple(
        D.TransformedDistribution(base, [D.ExpTransform(), D.AffineTransform(1.0, 2.0)])
        for base in (D.Normal(x(A), x(S)), D.Normal(x(P), x(S[::-1])))
    ),
    "Independent": lambda D, x: (
        D.Independent(D.Normal(x(A), x(S)), 1), D.Independent(D.Normal(x(P), x(S[::-1])), 1)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_divergences(name):
    sides = [Side(t, lambda D, x, s: PAIRS[name](D, x)) for t in (torch, sg)]
    found = [side.D.kl_divergence(*side.made) for side in sides]
    same(*found)
    if np.isfinite(found[0].detach().numpy()).all() and name != "certain":
        for a, b in zip(*(side.slopes(x) for side, x in zip(sides, found, strict=True)), strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-7, atol=1e-10)


ZEROS, ONES, THREES, LOW = [[0.0] * 3] * 2, [[1.0] * 3] * 2, [[3.5] * 3] * 2, [[-2.0] * 3] * 2
MEMBERS = {
    "Bernoulli": lambda D, x: D.Bernoulli(logits=x(A)),
    "Beta": lambda D, x: D.Beta(x(P), x(S)),
    "Binomial": lambda D, x: D.Binomial(3, logits=x(A)),
    "Chi2": lambda D, x: D.Chi2(x(P)),
    "ContinuousBernoulli": lambda D, x: D.ContinuousBernoulli(logits=x(A)),
    "Exponential": lambda D, x: D.Exponential(x(S)),
    "Gamma": lambda D, x: D.Gamma(x(S), x(P)),
    "Gumbel": lambda D, x: D.Gumbel(x(A), x(S)),
    "Laplace": lambda D, x: D.Laplace(x(A[::-1]), x(P)),
    "Normal": lambda D, x: D.Normal(x(A), x(P)),
    "Pareto": lambda D, x: D.Pareto(x(P), x(S)),
    "Poisson": lambda D, x: D.Poisson(x(S)),
    "Uniform": lambda D, x: D.Uniform(x(P), x(THREES)),
    "unit": lambda D, x: D.Uniform(x(ZEROS), x(ONES)),
    "around 0": lambda D, x: D.Uniform(x(LOW), x(P)),
}


@pytest.mark.parametrize("p", MEMBERS)
@pytest.mark.parametrize("q", MEMBERS)
def test_divergences_of_different_classes(p, q):
    if (p, q) in (("unit", "ContinuousBernoulli"), ("ContinuousBernoulli", "unit")):
        return  # which torch calls infinite: tests/values/test_distributions.py
    sides = [Side(t, lambda D, x, s: (MEMBERS[p](D, x), MEMBERS[q](D, x))) for t in (torch, sg)]
    try:
        want = sides[0].D.kl_divergence(*sides[0].made)
    except NotImplementedError:
        with pytest.raises(NotImplementedError, match="KL"):
            sides[1].D.kl_divergence(*sides[1].made)
        return
    found = [want, sides[1].D.kl_divergence(*sides[1].made)]
    same(*found)
    if want.requires_grad and np.isfinite(want.detach().numpy()).all():
        for a, b in zip(*(side.slopes(x) for side, x in zip(sides, found, strict=True)), strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-7, atol=1e-10)


def test_infinite_divergences_leave_the_other_gradients():
    D, alpha = sg.distributions, sg.tensor([0.5, 3.0], requires_grad=True)
    for q in (D.Normal(0.0, 1.0), D.Exponential(1.0), D.Gamma(2.0, 1.0)):
        found = D.kl_divergence(D.Pareto(1.0, alpha), q)
        assert found[0].item() == np.inf
        (slope,) = sg.autograd.grad(found[1], alpha)
        assert slope[0].item() == 0
        assert np.isfinite(slope[1].item())
    assert D.kl_divergence(D.Normal(0.0, 1.0), D.Gamma(sg.ones(2, 1), sg.ones(3))).shape == (2, 3)


REFUSED = [
    "D.Normal(t.zeros(2), t.tensor([1.0, -1.0]))",
    "D.Normal('a', 1.0)",
    "D.Bernoulli(1.5)",
    "D.Bernoulli()",
    "D.Bernoulli(0.5, logits=0.0)",
    "D.Categorical(t.tensor([-1.0, 2.0]))",
    "D.Categorical(t.tensor(1.0))",
    "D.Uniform(1.0, 0.0)",
    "D.Exponential(t.tensor([0.0]))",
    "D.Poisson(-1.0)",
    "D.MultivariateNormal(t.zeros(2))",
    "D.MultivariateNormal(t.tensor(0.0), t.eye(1))",
    "D.MultivariateNormal(t.zeros(2), t.ones(2, 2))",
    "D.Independent(D.Normal(0.0, 1.0), 1)",
    "D.Normal(0.0, 1.0).log_prob(t.tensor(float('nan')))",
    "D.Normal(0.0, 1.0).log_prob(1.0)",
    "D.Normal(t.zeros(3), t.ones(3)).log_prob(t.zeros(2))",
    "D.MultivariateNormal(t.zeros(2), t.eye(2)).log_prob(t.zeros(3))",
    "D.Bernoulli(0.5).log_prob(t.tensor(2.0))",
    "D.Categorical(t.ones(3)).log_prob(t.tensor(3))",
    "D.Uniform(0.0, 1.0).log_prob(t.tensor(2.0))",
    "D.Poisson(1.0).log_prob(t.tensor(0.5))",
    "D.Poisson(1.0).rsample()",
    "D.Gamma(0.0, 1.0)",
    "D.Beta(1.0, -1.0)",
    "D.Beta(1.0, 2.0).log_prob(t.tensor(1.5))",
    "D.Dirichlet(t.tensor(1.0))",
    "D.Dirichlet(t.ones(3)).log_prob(t.ones(3))",
    "D.StudentT(0.0)",
    "D.HalfNormal(-1.0)",
    "D.HalfNormal(1.0).log_prob(t.tensor(-1.0))",
    "D.Geometric(0.0)",
    "D.Geometric(0.5, 0.5)",
    "D.Geometric(0.5).rsample()",
    "D.Binomial(2, 0.5).log_prob(t.tensor(3.0))",
    "D.Binomial(t.tensor([1.0, 2.0]), t.tensor([0.5, 0.5])).enumerate_support()",
    "D.Multinomial(t.tensor(2), t.ones(2))",
    "D.Multinomial(2, t.ones(2)).rsample()",
    "D.OneHotCategorical(t.ones(2)).log_prob(t.tensor([0.5, 0.5]))",
    "D.OneHotCategorical(t.ones(2)).rsample()",
    "D.TransformedDistribution(D.Normal(0.0, 1.0), 3)",
    "D.TransformedDistribution(D.Normal(0.0, 1.0), [3])",
    "D.TransformedDistribution(D.Normal(0.0, 1.0), D.StickBreakingTransform())",
    "D.TransformedDistribution(D.Normal(0.0, 1.0), D.TanhTransform()).log_prob(t.tensor(2.0))",
    "D.ReshapeTransform((2,), (3,))",
    "D.AbsTransform().log_abs_det_jacobian(t.ones(1), t.ones(1))",
    "D.MixtureSameFamily(D.Normal(0.0, 1.0), D.Normal(t.zeros(2), 1.0))",
    "D.MixtureSameFamily(D.Categorical(t.ones(3)), D.Normal(t.zeros(2), 1.0))",
    "D.kl_divergence(D.Gamma(1.0, 1.0), D.Poisson(1.0))",
    "D.kl_divergence(D.Binomial(3, 0.5), D.Binomial(5, 0.5))",
    "D.MultivariateNormal(t.zeros(2), t.tensor([[1.0, 0.5], [0.0, 1.0]]))",
    "D.MultivariateNormal(t.zeros(2), precision_matrix=t.tensor([[1.0, 0.5], [0.0, 1.0]]))",
    "D.MultivariateNormal(t.zeros(2), scale_tril=t.ones(2, 2))",
    "D.MultivariateNormal(t.zeros(2), scale_tril=t.zeros(2, 2))",
    "D.Gamma(1.0, 1.0).icdf(t.tensor(0.5))",
    "D.Beta(1.0, 1.0).cdf(t.tensor(0.5))",
    "D.Normal(0.0, 1.0).enumerate_support()",
    "D.Multinomial(2, t.ones(2)).mode",
    "D.Bernoulli(0.5).rsample()",
    "D.kl_divergence(D.Normal(0.0, 1.0), D.Poisson(1.0))",
]


@pytest.mark.parametrize("call", REFUSED)
def test_what_is_refused(call):
    torch.distributions.Distribution.set_default_validate_args(True)  # torch.compile switches the checks off for good
    classes = []
    for t in (torch, sg):
        with pytest.raises(Exception) as caught:  # noqa: PT011  (the class is compared)
            eval(call, {"t": t, "D": importlib.import_module(f"{t.__name__}.distributions")})
        classes.append(next(c for c in type(caught.value).__mro__ if c.__module__ == "builtins"))
    assert issubclass(caught.type, classes[0])


def test_checks_can_be_left_out():
    D = sg.distributions
    assert D.Normal(0.0, -1.0, validate_args=False).scale.item() == -1.0
    assert D.Uniform(0.0, 1.0, validate_args=False).log_prob(sg.tensor(2.0)).item() == -np.inf
    D.Distribution.set_default_validate_args(False)
    try:
        assert D.Bernoulli(2.0).probs.item() == 2.0
    finally:
        D.Distribution.set_default_validate_args(True)


def test_the_most_derived_divergence_is_taken():
    D = sg.distributions

    class Mine(D.Normal):
        pass

    @D.register_kl(Mine, D.Normal)
    def _mine(p, q):
        return sg.tensor(42.0)

    assert D.kl_divergence(Mine(0.0, 1.0), D.Normal(0.0, 1.0)).item() == 42.0
    assert D.kl_divergence(D.Normal(0.0, 1.0), Mine(0.0, 1.0)).item() == 0.0


def test_formulas_and_programs_of_densities():
    D = sg.distributions

    def score(m, s, x):
        return sg.func.grad(lambda m: D.Normal(m, s).log_prob(x).sum())(m)

    text = sg.latex(score, (3,), (), (3,))
    assert text == r"\frac{1}{s^{2}} \left(x - m\right)"
    program = sg.compile(score, np.zeros(3), np.float64(1.0), np.ones(3))
    assert program(np.zeros(3), np.float64(-2.0), np.ones(3)) == pytest.approx(np.full(3, 0.25))  # as no check stops it


class Squash:
    """A transform of a user's own, as published code for actors has it."""

    def __new__(cls, D):
        class Own(D.transforms.Transform):
            domain = D.constraints.real
            codomain = D.constraints.interval(-1.0, 1.0)
            bijective = True
            sign = +1

            def __init__(self, cache_size=1):
                super().__init__(cache_size=cache_size)

            def __eq__(self, other):
                return isinstance(other, Own)

            __hash__ = None

            def _call(self, x):
                return x.tanh()

            def _inverse(self, y):
                return 0.5 * (y.log1p() - (-y).log1p())

            def log_abs_det_jacobian(self, x, y):
                return 2.0 * (np.log(2.0) - x - (-2.0 * x).exp().log1p())

        return Own()


def test_an_actor_of_soft_actor_critic():
    """Its samples are squashed, and the value before that is kept: atanh of 1 is infinite."""
    found = []
    for t in (torch, sg):
        D = importlib.import_module(f"{t.__name__}.distributions")
        t.manual_seed(1)
        mean = t.tensor([[0.5, 30.0]], requires_grad=True)
        log_std = t.tensor([[-1.0, 0.5]], requires_grad=True)
        policy = D.TransformedDistribution(D.Normal(mean, log_std.exp()), [Squash(D)])
        action = policy.rsample()
        log_p = policy.log_prob(action).sum(-1, keepdim=True)
        (0.2 * log_p - action.sum()).mean().backward()
        found.append([v.tolist() for v in (action.detach(), log_p.detach(), mean.grad, log_std.grad)])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-4)


def test_gamma_samples_have_derivatives_of_any_order():
    """dx/da is exact, as is the next: the sample is the quantile of a fixed probability."""
    scipy = pytest.importorskip("scipy.special")
    sg.manual_seed(4)
    a = sg.tensor([0.7, 2.0, 9.0], dtype=sg.float64, requires_grad=True)
    x = sg.distributions.Gamma(a, 1.0).rsample()
    (first,) = sg.autograd.grad(x.sum(), a, create_graph=True)
    (second,) = sg.autograd.grad(first.sum(), a)
    chance, h = scipy.gammainc(a.tolist(), x.tolist()), 1e-3

    def moved(by):
        return scipy.gammaincinv(np.array(a.tolist()) + by, chance)

    np.testing.assert_allclose(first.tolist(), (moved(h) - moved(-h)) / (2 * h), rtol=1e-4)
    np.testing.assert_allclose(second.tolist(), (moved(h) - 2 * moved(0) + moved(-h)) / h**2, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("row", [[0.01, 10.0], [0.01, 0.02], [1.0, 0.01], [0.1, 1e4], [1e4, 0.01], [0.02, 0.3, 5.0]])
def test_gradients_of_shares_near_the_ends(row, dtype):
    """They were nan or infinite from a share of 1e-30 on, which half of the samples have for 0.01."""
    found = []
    for t in (torch, sg):
        t.manual_seed(3)
        D = importlib.import_module(f"{t.__name__}.distributions")
        a = t.tensor([row] * 20, dtype=getattr(t, dtype), requires_grad=True)
        (D.Dirichlet(a).rsample() * t.tensor(range(len(row)), dtype=a.dtype)).sum().backward()
        found.append(a.grad.numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=5e-3, atol=1e-9)


def test_samples_of_dirichlet_are_differentiated_once():
    a = sg.tensor([0.7, 2.0, 9.0], requires_grad=True)
    (g,) = sg.autograd.grad(sg.distributions.Dirichlet(a).rsample()[0], a, create_graph=True)
    with pytest.raises(RuntimeError, match="does not require grad"):
        sg.autograd.grad(g.sum(), a)


def test_constraints():
    values = [-1.0, 0.0, 0.5, 1.0, 2.0, 3.5]
    for name in ("real", "positive", "nonnegative", "unit_interval", "boolean", "nonnegative_integer", "simplex",
                 "one_hot", "positive_integer", "real_vector"):  # fmt: skip
        a, b = (importlib.import_module(f"{t.__name__}.distributions").constraints for t in (torch, sg))
        a, b = getattr(a, name), getattr(b, name)
        assert repr(a) == repr(b)
        assert (a.event_dim, a.is_discrete) == (b.event_dim, b.is_discrete)
        assert a.check(torch.tensor(values)).tolist() == b.check(sg.tensor(values)).tolist()
    M = [[2.0, 0.0], [0.5, 1.0]]
    for name in ("lower_cholesky", "lower_triangular", "positive_definite"):
        for matrix in (M, V, [[-1.0, 0.0], [0.0, 1.0]]):
            a, b = (
                getattr(importlib.import_module(f"{t.__name__}.distributions").constraints, name) for t in (torch, sg)
            )
            assert bool(a.check(torch.tensor(matrix))) == bool(b.check(sg.tensor(matrix))), name


def test_a_covariance_is_symmetric_as_far_as_it_is_rounded():
    for t in (torch, sg):
        D = importlib.import_module(f"{t.__name__}.distributions")
        C = t.tensor([[5000.0, 1000.0], [1000.001, 4000.0]])
        assert np.isfinite(D.MultivariateNormal(t.zeros(2), C).log_prob(t.ones(2)).item())


def test_divergences_of_certain_trials():
    """Each trial has the divergence of a Bernoulli; torch has -inf for 3 log 2."""
    B = sg.distributions.Binomial
    n, p = sg.tensor([3.0, 3.0, 0.0]), sg.tensor([1.0, 0.0, 0.5])
    found = sg.distributions.kl_divergence(B(n, p), B(n, sg.tensor([0.5, 0.5, 0.0])))
    np.testing.assert_allclose(found.tolist(), [3 * np.log(2), 3 * np.log(2), 0.0], rtol=1e-6)


@pytest.mark.parametrize("given", ["covariance_matrix", "precision_matrix", "scale_tril"])
@pytest.mark.parametrize("name", ["MultivariateNormal", "Wishart"])
def test_what_is_expanded_shows_the_matrix_that_was_given(name, given):
    texts = []
    for library in (sg, torch):
        first = library.tensor(5.0) if name == "Wishart" else library.zeros(2)
        made = getattr(library.distributions, name)(first, **{given: library.eye(2) * 4}).expand((3,)).expand((2, 3))
        texts.append((repr(made), *(getattr(made, matrix).tolist() for matrix in ("covariance_matrix", given))))
    assert texts[0] == texts[1]
