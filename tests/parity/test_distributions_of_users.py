"""Distributions that users write themselves, as published code has them, beside torch's base class."""

import importlib
from typing import Any

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch")


def of_a_user(D, t):
    class Sloped(D.Distribution):
        arg_constraints = {"loc": D.constraints.real, "scale": D.constraints.positive}  # noqa: RUF012
        support = D.constraints.interval(-1.0, 1.0)
        has_rsample = True

        def __init__(self, loc, scale, validate_args=None):
            self.loc, self.scale = D.utils.broadcast_all(loc, scale)
            super().__init__(self.loc.shape, validate_args=validate_args)

        def rsample(self, sample_shape=()):
            return self.loc + self.scale * t.rand(self._extended_shape(sample_shape))

        def log_prob(self, value):
            if self._validate_args:
                self._validate_sample(value)
            return -0.5 * ((value - self.loc) / self.scale) ** 2

    return Sloped


def test_distributions_of_users_own():
    found = []
    for t in (torch, sg):
        D = importlib.import_module(f"{t.__name__}.distributions")
        kind = of_a_user(D, t)
        t.manual_seed(0)
        made = kind(t.zeros(2), t.ones(2))
        row = [repr(made), made.sample((3,)).tolist(), made.log_prob(t.tensor([0.1, 0.2])).tolist()]
        for call in (lambda: kind(t.zeros(1), -t.ones(1)), lambda: made.log_prob(t.tensor([2.0, 0.0]))):
            with pytest.raises(ValueError, match=r"Expected (parameter scale|value argument)") as error:
                call()
            row.append(str(error.value).partition(" of distribution")[0])
        found.append(row)
    assert found[0][0] == found[1][0]
    assert found[0][3:] == found[1][3:]
    for a, b in zip(found[0][1:3], found[1][1:3], strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-6)


def of_bounds(D, t):
    class Between(D.Distribution):
        def __init__(self, low, high, validate_args=None):
            self.low, self.high = D.utils.broadcast_all(low, high)
            super().__init__(self.low.shape, validate_args=validate_args)

        @property
        def arg_constraints(self):
            return {"low": D.constraints.less_than(self.high), "high": D.constraints.real}

        @D.constraints.dependent_property(is_discrete=False, event_dim=0)
        def support(self):
            return D.constraints.interval(self.low, self.high)

        def expand(self, batch_shape, _instance=None):
            new = self._get_checked_instance(Between, _instance)
            new.low, new.high = self.low.expand(batch_shape), self.high.expand(batch_shape)
            super(Between, new).__init__(t.Size(batch_shape), validate_args=False)
            new._validate_args = self._validate_args
            return new

    return Between


def test_distributions_of_users_own_compute_their_constraints_and_expand():
    for t in (torch, sg):
        D = importlib.import_module(f"{t.__name__}.distributions")
        kind = of_bounds(D, t)
        made = kind(t.zeros(2), t.ones(2))
        assert repr(made) == "Between(low: torch.Size([2]), high: torch.Size([2]))"
        wide = made.expand((3, 2))
        assert (type(wide), tuple(wide.batch_shape)) == (kind, (3, 2))
        with pytest.raises(ValueError, match="Expected parameter low"):
            kind(t.ones(2), t.zeros(2))
        other = type("Other", (kind,), {"__init__": lambda self, low: kind.__init__(self, low, low + 1)})
        with pytest.raises(NotImplementedError, match="must also define a custom"):
            other(t.zeros(2)).expand((3, 2))


def test_objects_of_users_own_are_filled_by_expand():
    """As packages of flows do it, which derive from a class here and add attributes before they hand an object on."""
    for t in (torch, sg):
        D = importlib.import_module(f"{t.__name__}.distributions")

        def tagged(base, make, t=t):
            class Tagged(base):
                def __init__(self, tag):
                    super().__init__(*make(t))
                    self.tag = tag

                def expand(self, batch_shape, new=None):
                    new = self._get_checked_instance(Tagged, new)
                    new.tag = self.tag
                    return super().expand(batch_shape, new)

            return Tagged("mine")

        made = [
            tagged(D.Normal, lambda t: (t.zeros(2), t.ones(2))),
            tagged(D.Independent, lambda t, D=D: (D.Normal(t.zeros(2, 3), t.ones(2, 3)), 1)),
            tagged(D.MultivariateNormal, lambda t: (t.zeros(2, 3), t.eye(3))),
            tagged(D.LogNormal, lambda t: (t.zeros(2), t.ones(2))),
            tagged(D.TransformedDistribution, lambda t, D=D: (D.Normal(t.zeros(2), 1.0), [D.ExpTransform()])),
            tagged(D.ContinuousBernoulli, lambda t: (t.full((2,), 0.3),)),
        ]
        for one in made:
            wide = one.expand(t.Size((4, 2)))
            assert (type(wide), wide.tag, tuple(wide.batch_shape)) == (type(one), "mine", (4, 2))
            value = wide.sample()
            assert wide.log_prob(value).shape == (4, 2)


def of_factors(D, t):
    class Bounded(D.constraints.Constraint):
        event_dim = 1

        def check(self, value):
            return value.isfinite().all(-1) & (t.linalg.vector_norm(value, dim=-1) < 3)

    class Factored(D.Distribution):
        arg_constraints = {
            "L": D.constraints.lower_cholesky,
            "loc": Bounded(),
            "rows": D.constraints.independent(Bounded(), 1),
        }  # noqa: E501, RUF012

        def __init__(self, L, loc, rows):
            self.L, self.loc, self.rows = L, loc, rows
            super().__init__(validate_args=True)

        def log_prob(self, value):
            self._validate_sample(value)
            return -value

    return Factored


def test_constraints_of_users_own_are_asked_for_tensors():
    """A check was given arrays, which have no isfinite; and without a support, torch warns and checks no values."""
    for t in (torch, sg):
        D = importlib.import_module(f"{t.__name__}.distributions")
        kind, good = of_factors(D, t), (t.eye(2), t.ones(2), t.ones(2, 2))
        with pytest.warns(UserWarning, match="does not define `support`"):
            assert kind(*good).log_prob(t.tensor(1.0)).item() == -1
        for i, wrong in enumerate((t.ones(2, 2), 4 * t.ones(2), 4 * t.ones(2, 2))):
            with pytest.raises(ValueError, match="Expected parameter (L|loc|rows)"):
                kind(*good[:i], wrong, *good[i + 1 :])


NAMES = {
    "normal": "Normal", "kl": "kl_divergence", "transforms": "TanhTransform", "utils": "broadcast_all",
    "distribution": "Distribution", "transformed_distribution": "TransformedDistribution", "beta": "Beta",
    "categorical": "Categorical", "bernoulli": "Bernoulli", "independent": "Independent", "gamma": "Gamma",
    "multivariate_normal": "MultivariateNormal", "one_hot_categorical": "OneHotCategorical", "uniform": "Uniform",
    "constraint_registry": "biject_to", "relaxed_categorical": "RelaxedOneHotCategorical", "studentT": "StudentT",
    "mixture_same_family": "MixtureSameFamily", "laplace": "Laplace", "binomial": "Binomial", "constraints": "positive",
    "wishart": "Wishart", "lkj_cholesky": "LKJCholesky", "von_mises": "VonMises", "kumaraswamy": "Kumaraswamy",
    "lowrank_multivariate_normal": "LowRankMultivariateNormal", "exp_family": "ExponentialFamily",
    "continuous_bernoulli": "ContinuousBernoulli", "generalized_pareto": "GeneralizedPareto",
}  # fmt: skip


@pytest.mark.parametrize("room", NAMES)
def test_they_are_where_programs_import_them_from(room):
    for t in ("torch", "symgrad"):
        module = importlib.import_module(f"{t}.distributions.{room}")
        assert hasattr(module, NAMES[room])
        assert getattr(importlib.import_module(f"{t}.distributions"), room) is module


@pytest.mark.parametrize("name", ["Normal", "LogNormal", "Categorical", "Gamma", "Geometric"])
def test_a_distribution_may_be_a_module_as_well(name: str) -> None:
    """Priors of libraries are: no name of the one class hides one of the other."""

    def prior(t: Any) -> Any:
        class Prior(t.distributions.distribution.Distribution, t.nn.Module):
            pass

        class Drawn(Prior, getattr(t.distributions, name)):
            def __init__(self, *args: Any) -> None:
                t.nn.Module.__init__(self)
                getattr(t.distributions, name).__init__(self, *args)
                self.register_buffer("scaled", t.as_tensor(args[0]) * 2)

        rows = {"Categorical": (t.tensor([0.25, 0.75]),), "Geometric": (t.tensor(0.25),)}
        return Drawn(*rows.get(name, (0.5, 2.0)))

    here, there = prior(sg), prior(torch)
    assert list(here.state_dict()) == list(there.state_dict()) == ["scaled"]
    one = 1 if name in ("Categorical", "Geometric") else 1.5
    np.testing.assert_allclose(
        here.log_prob(sg.tensor(one)).numpy(), there.log_prob(torch.tensor(one)).numpy(), rtol=1e-6
    )


def test_the_factor_of_a_covariance_has_torchs_name() -> None:
    """Processes that know their covariance otherwise put it in the way."""

    def density(t: Any) -> float:
        class Process(t.distributions.MultivariateNormal):
            @property
            def _unbroadcasted_scale_tril(self) -> Any:
                return 2 * t.eye(2)

            @_unbroadcasted_scale_tril.setter
            def _unbroadcasted_scale_tril(self, given: Any) -> None: ...

        return Process(t.zeros(2), t.eye(2)).log_prob(t.ones(2)).item()

    assert density(sg) == pytest.approx(density(torch))


@pytest.mark.parametrize("name", ["Gamma", "Dirichlet", "Binomial", "LKJCholesky"])
def test_classes_made_of_other_arguments_are_not_expanded(name):
    for t in (sg, torch):
        base = getattr(t.distributions, name)

        class Mine(base):
            def __init__(self, value):
                first = (3,) if name in ("Binomial", "LKJCholesky") else (value,) if name == "Gamma" else ()
                super().__init__(*first, value)

        with pytest.raises(NotImplementedError, match=f"Mine of {name} that defines a custom __init__ method must"):
            Mine(t.full((2,), 0.5)).expand((3, 2))


MADE = {
    "Normal": lambda kind, t: kind(t.zeros(2), t.ones(2)),
    "MultivariateNormal": lambda kind, t: kind(t.zeros(2), t.eye(2)),
    "Wishart": lambda kind, t: kind(t.tensor(3.0), t.eye(2)),
    "LogNormal": lambda kind, t: kind(t.zeros(2), t.ones(2)),
    "Independent": lambda kind, t: kind(t.distributions.Normal(t.zeros(2), t.ones(2)), 1),
    "MixtureSameFamily": lambda kind, t: kind(
        t.distributions.Categorical(t.ones(2)), t.distributions.Normal(t.zeros(2), t.ones(2))
    ),
    "TransformedDistribution": lambda kind, t: kind(
        t.distributions.Normal(t.zeros(2), t.ones(2)), [t.distributions.ExpTransform()]
    ),
}


@pytest.mark.parametrize("name", list(MADE))
def test_classes_of_users_are_what_they_were_once_expanded(name: str) -> None:
    """What they define is theirs still."""

    def told(t: Any) -> list[Any]:
        class Mine(getattr(t.distributions, name)):
            def log_prob(self, value: Any) -> Any:
                return 2 * super().log_prob(value)

        made = MADE[name](Mine, t)
        wide = made.expand((3, *made.batch_shape))
        value = t.full(made.event_shape, 0.5) + (t.eye(2) if name == "Wishart" else 0)
        plain = MADE[name](getattr(t.distributions, name), t)
        assert t.allclose(wide.log_prob(value), 2 * plain.log_prob(value))
        return [type(wide).__name__, wide.batch_shape, repr(wide).split("(")[0]]

    assert told(sg) == told(torch)


@pytest.mark.parametrize("checked", [True, False])
@pytest.mark.parametrize("name", ["Bernoulli", "Gamma", "LogNormal"])
def test_expanded_distributions_check_values_as_they_did(name: str, checked: bool) -> None:
    for t in (sg, torch):
        given = (0.5,) if name == "Bernoulli" else (0.5, 2.0)
        wide = getattr(t.distributions, name)(*map(t.tensor, given), validate_args=checked).expand((3,))
        if checked:
            with pytest.raises(ValueError, match="within the support"):
                wide.log_prob(t.full((3,), -1.5))
        else:
            with np.errstate(invalid="ignore"):
                wide.log_prob(t.full((3,), -1.5))
