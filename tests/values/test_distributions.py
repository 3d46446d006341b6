"""Distributions where torch has no number, or another one than the definition: beside SciPy, and by differences."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import symgrad as sg

D = sg.distributions
check = sg.autograd.gradcheck


def x(values):
    return sg.tensor(values, dtype=sg.float64, requires_grad=True)


def test_tails_in_double_precision():
    stats = pytest.importorskip("scipy.stats")
    loc, scale, c = x([0.5, 0.0, -1.0, 1.0]), x([1.0, 2.0, 0.5, 1.0]), x([0.4, -0.3, 0.0, -1.0])
    made = D.GeneralizedPareto(loc, scale, c)
    there = stats.genpareto(c.detach().numpy(), loc.detach().numpy(), scale.detach().numpy())
    values, chances = np.array([1.0, 3.0, 0.5, 1.5]), np.array([0.1, 0.7, 0.5, 0.9])
    np.testing.assert_allclose(made.log_prob(sg.tensor(values)).detach(), there.logpdf(values), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(made.cdf(sg.tensor(values)).detach(), there.cdf(values), rtol=1e-12)
    np.testing.assert_allclose(made.log_cdf(sg.tensor(values)).detach(), there.logcdf(values), rtol=1e-12)
    np.testing.assert_allclose(made.icdf(sg.tensor(chances)).detach(), there.ppf(chances), rtol=1e-12)
    np.testing.assert_allclose(made.entropy().detach(), there.entropy(), rtol=1e-12)
    np.testing.assert_allclose(made.mean.detach(), there.mean(), rtol=1e-12)
    np.testing.assert_allclose(made.variance.detach(), there.var(), rtol=1e-12)
    for what, given in (("log_prob", values), ("cdf", values), ("icdf", chances)):
        assert check(lambda *p, w=what, g=given: getattr(D.GeneralizedPareto(*p), w)(sg.tensor(g))[:3],
                     (loc, scale, c), atol=1e-5)  # fmt: skip
    with pytest.raises(ValueError, match="support"):
        made.log_prob(sg.tensor([0.0, 0.0, 0.0, 0.0], dtype=sg.float64))


def test_the_mode_of_kumaraswamys_distribution_has_the_largest_density():
    made = D.Kumaraswamy(x([2.0, 3.5, 1.0, 1.0, 0.5]), x([3.0, 1.5, 2.0, 1.0, 2.0]))
    mode = made.mode.detach()
    assert mode.isnan().tolist() == [False, False, False, True, True]
    points = sg.linspace(0.001, 0.999, 999, dtype=sg.float64).reshape(-1, 1)
    best = points[made.log_prob(points).argmax(0), 0][:3]
    np.testing.assert_allclose(mode[:3], best, atol=1.1e-3)


def test_the_continuous_bernoulli_distribution_around_a_half_and_far_out():
    given = sg.tensor([-0.003, 0.0, 0.003, 0.5], dtype=sg.float64, requires_grad=True)
    chances = sg.tensor(0.3, dtype=sg.float64)
    for what in (
        lambda logits: D.ContinuousBernoulli(logits=logits).icdf(chances),
        lambda logits: D.ContinuousBernoulli(logits=logits).cdf(chances),
        lambda logits: D.ContinuousBernoulli(logits=logits).log_prob(chances),
        lambda logits: D.ContinuousBernoulli(logits=logits).mean,
        lambda logits: D.ContinuousBernoulli(logits=logits).entropy(),
    ):
        assert check(what, (given,), atol=1e-4)
        assert sg.autograd.grad(what(given).sum(), given)[0].isfinite().all()
    far = sg.tensor([-800.0, 800.0], dtype=sg.float64, requires_grad=True)
    made = D.ContinuousBernoulli(logits=far)
    values = sg.tensor([0.001, 0.999], dtype=sg.float64)
    for found in (made.log_prob(values), made.cdf(values), made.icdf(values), made.mean, made.variance, made.entropy()):
        assert found.isfinite().all()
        assert sg.autograd.grad(found.sum(), far)[0].isfinite().all()
    np.testing.assert_allclose(made.mean.detach(), [1 / 800, 1 - 1 / 800])


@pytest.mark.parametrize("dtype", [sg.float16, sg.float32, sg.float64])
def test_quantiles_of_the_continuous_bernoulli_distribution_are_inside_to_both_ends(dtype):
    logits = sg.tensor([-2000.0, -50.0, -20.0, 3.0, 20.0, 50.0, 200.0, 2000.0], dtype=dtype, requires_grad=True)
    made = D.ContinuousBernoulli(logits=logits)
    ends = made.icdf(sg.tensor([[0.0], [1.0]], dtype=dtype))
    np.testing.assert_allclose(ends.detach(), np.repeat([[0.0], [1.0]], 8, 1), atol=sg.finfo(dtype).eps)
    assert sg.autograd.grad(ends.sum(), logits)[0].isfinite().all()
    few = float(sg.tensor(1e-6, dtype=dtype))
    exact = np.logaddexp(np.log(few), np.log1p(-few) - 50) / 50 + 1
    np.testing.assert_allclose(made.icdf(sg.tensor(few, dtype=dtype))[5].item(), exact, rtol=3 * sg.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [sg.float16, sg.float32, sg.float64])
def test_moments_of_the_continuous_bernoulli_distribution_keep_their_digits_near_a_half(dtype):
    logits = sg.tensor([-0.2, -0.02, 0.005, 0.01, 0.15], dtype=dtype, requires_grad=True)
    made, v = D.ContinuousBernoulli(logits=logits), logits.detach().numpy().astype(float)
    near = sg.finfo(dtype).eps ** 0.6
    np.testing.assert_allclose(made.variance.detach(), 1 / 12 - v**2 / 240 + v**4 / 6048 - v**6 / 172800, rtol=near)
    (slope,) = sg.autograd.grad(made.mean.sum(), logits)
    np.testing.assert_allclose(slope, 1 / 12 - v**2 / 240 + v**4 / 6048 - v**6 / 172800, rtol=near)
    (slope,) = sg.autograd.grad(made.variance.sum(), logits)
    np.testing.assert_allclose(slope, -v / 120 + v**3 / 1512 - v**5 / 28800, atol=near)


def test_the_continuous_bernoulli_distribution_is_of_numbers_and_keeps_its_limits():
    made = D.ContinuousBernoulli(sg.tensor([0.45]), lims=(0.4, 0.6))
    assert not made.has_enumerate_support
    assert sg.equal(made.expand((2, 1)).cdf(sg.tensor(0.3)), made.cdf(sg.tensor(0.3)).expand(2, 1))


def test_series_have_curvatures():
    at, chances = x([0.0, 0.0]), sg.tensor([0.3, 0.8], dtype=sg.float64)
    for what in (
        lambda c: D.GeneralizedPareto(0.2, 1.5, c).log_prob(3 * chances),
        lambda c: D.GeneralizedPareto(0.2, 1.5, c).cdf(3 * chances),
        lambda c: D.GeneralizedPareto(0.2, 1.5, c).icdf(chances),
        lambda c: D.ContinuousBernoulli(logits=c).icdf(chances),
        lambda c: D.ContinuousBernoulli(logits=c).cdf(chances),
        lambda c: D.ContinuousBernoulli(logits=c).log_prob(chances),
        lambda c: D.ContinuousBernoulli(logits=c).variance,
    ):
        assert sg.autograd.gradgradcheck(what, (at,), atol=1e-4)


def test_an_exponential_tail_has_its_infinite_end():
    made = D.GeneralizedPareto(sg.zeros(2), sg.ones(2), sg.tensor([0.0, 0.5]))
    with np.errstate(divide="ignore"):
        assert made.icdf(sg.tensor(1.0)).tolist() == [np.inf, np.inf]
    end = sg.tensor(np.inf)
    assert made.log_prob(end).tolist() == made.log_survival_function(end).tolist() == [-np.inf, -np.inf]
    assert made.cdf(end).tolist() == [1.0, 1.0]


def test_divergences_of_distributions_on_the_same_interval_are_finite():
    flat, bent = D.Uniform(x(0.0), x(1.0)), D.ContinuousBernoulli(x(0.3))
    np.testing.assert_allclose(D.kl_divergence(bent, flat).item(), -bent.entropy().item(), rtol=1e-12)
    points = sg.linspace(0, 1, 20001, dtype=sg.float64)
    np.testing.assert_allclose(D.kl_divergence(flat, bent).item(), -bent.log_prob(points).mean().item(), rtol=1e-4)


def test_divergences_of_wisharts_have_the_slopes_of_both():
    V, W, df, few = x([[2.0, 0.5], [0.5, 1.0]]), x([[1.0, -0.2], [-0.2, 1.5]]), x(4.5), x(3.0)

    def divergence(df, few, V, W):
        made = (D.Wishart(n, (M + M.mT) / 2, validate_args=False) for n, M in ((df, V), (few, W)))
        return D.kl_divergence(*made)

    assert check(divergence, (df, few, V, W))
    assert abs(divergence(df, df, V, V).item()) < 1e-12
    torch = pytest.importorskip("torch")
    T = torch.distributions
    theirs = [
        T.Wishart(torch.tensor(n.item()).double(), torch.tensor(M.tolist()).double()) for n, M in ((df, V), (few, W))
    ]
    np.testing.assert_allclose(divergence(df, few, V, W).item(), T.kl_divergence(*theirs).item(), rtol=1e-7)


def test_wisharts_of_one_dimension_are_gammas():
    df, v = x(3.0), x([[2.0]])
    made, gamma = D.Wishart(df, v), D.Gamma(df / 2, 1 / (2 * v[0, 0]))
    for value in (0.5, 4.0):
        here = made.log_prob(sg.tensor([[value]], dtype=sg.float64))
        np.testing.assert_allclose(here.item(), gamma.log_prob(sg.tensor(value, dtype=sg.float64)).item(), rtol=1e-12)
    np.testing.assert_allclose(made.entropy().item(), gamma.entropy().item(), rtol=1e-12)
    assert check(lambda df, v: D.Wishart(df, v).log_prob(sg.tensor([[0.5]], dtype=sg.float64)), (df, v))


def test_what_is_refused():
    eye = sg.eye(2)
    for refused, words in (
        (lambda: D.LKJCholesky(1), "greater than or equal to 2"),
        (lambda: D.LKJCholesky(2, -1.0), "concentration"),
        (lambda: D.LKJCholesky(2).log_prob(2 * eye), "support"),
        (lambda: D.Wishart(0.5, eye), "greater than ndim - 1 = 1"),
        (lambda: D.Wishart(3.0), "Exactly one"),
        (lambda: D.Wishart(3.0, eye, eye), "Exactly one"),
        (lambda: D.Wishart(3.0, sg.ones(2)), "at least two-dimensional"),
        (lambda: D.Wishart(3.0, -eye), "PositiveDefinite"),
        (lambda: D.VonMises(0.0, 0.0), "concentration"),
        (lambda: D.LowRankMultivariateNormal(sg.zeros(2), sg.ones(3, 1), sg.ones(2)), "2 x m"),
        (lambda: D.LowRankMultivariateNormal(sg.zeros(2), sg.ones(2, 1), sg.ones(3)), r"shape \(2,\)"),
        (lambda: D.LowRankMultivariateNormal(sg.zeros(2), sg.ones(2, 1), -sg.ones(2)), "cov_diag"),
        (
            lambda: D.LowRankMultivariateNormal(sg.zeros(3, 2), sg.ones(2, 2, 1), sg.ones(2)),
            "Incompatible batch shapes",
        ),
        (lambda: D.ContinuousBernoulli(1.5), "probs"),
        (lambda: D.Kumaraswamy(0.0, 1.0), "concentration1"),
    ):
        with pytest.raises(ValueError, match=words):
            refused()
    with pytest.warns(UserWarning, match="Low df values"):
        D.Wishart(1.5, eye)


class Waiting(D.ExponentialFamily):
    """An exponential distribution as a family of one parameter."""

    support = D.constraints.nonnegative
    _mean_carrier_measure = 0

    def __init__(self, rate):
        self.rate = rate
        super().__init__(rate.shape)

    @property
    def _natural_params(self):
        return (-self.rate,)

    def _log_normalizer(self, theta):
        return -(-theta).log()


def test_families_of_users_have_entropies_and_divergences():
    a, b = x([0.5, 2.0]), x([1.5, 1.0])
    for found, want in (
        (Waiting(a).entropy(), D.Exponential(a).entropy()),
        (D.kl_divergence(Waiting(a), Waiting(b)), D.kl_divergence(D.Exponential(a), D.Exponential(b))),
    ):
        np.testing.assert_allclose(found.detach(), want.detach(), rtol=1e-12)
        for leaf in (a, b):
            slopes = [sg.autograd.grad(t.sum(), leaf, retain_graph=True, allow_unused=True)[0] for t in (found, want)]
            assert (slopes[0] is None) == (slopes[1] is None)
            if slopes[0] is not None:
                np.testing.assert_allclose(slopes[0], slopes[1], rtol=1e-12)
    with pytest.raises(NotImplementedError, match="different exponential families"):
        D.kl_divergence(Waiting(a), type("Other", (Waiting,), {})(b))


def test_von_mises_beside_scipy():
    stats = pytest.importorskip("scipy.stats")
    made = D.VonMises(x(0.5), x([0.01, 3.0, 5000.0]))
    points = np.array([0.4, -2.0, 0.51])
    want = stats.vonmises(made.concentration.detach().numpy(), 0.5).logpdf(points)
    np.testing.assert_allclose(made.log_prob(sg.tensor(points)).detach(), want, rtol=1e-9)
    assert check(lambda loc, k: D.VonMises(loc, k).log_prob(sg.tensor(points)), (x(0.5), x([0.01, 3.0, 50.0])))
    sg.manual_seed(0)
    samples = D.VonMises(0.5, sg.tensor([1e-6, 4.0])).sample((4000,))
    assert float(samples.abs().max()) <= np.pi + 1e-6
    R = (samples - 0.5).cos().mean(0)
    np.testing.assert_allclose(1 - R, D.VonMises(0.5, sg.tensor([1e-6, 4.0])).variance, atol=0.03)


def test_help_says_of_each_method_what_it_gives():
    """Also where a class has its own and the text stands with the base class."""
    methods = {
        f"{cls.__name__}.{name}": getattr(cls, name)
        for cls in vars(sg.distributions).values()
        if isinstance(cls, type)
        for name in dir(cls)
        if not name.startswith("_") and isinstance(getattr(cls, name), (type(inspect.getdoc), property))
    }
    assert len(methods) > 600
    assert not [name for name, method in methods.items() if not inspect.getdoc(method)]
