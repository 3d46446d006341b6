"""Distributions of angles."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from symgrad.distributions import constraints
from symgrad.distributions.base import Distribution, broadcast_all
from symgrad.dtypes import float64
from symgrad.ops.calls.naming import SPACES
from symgrad.random import rand
from symgrad.tape.modes import no_grad
from symgrad.tensor import FUNCTIONS, creation

_i0e, _i1e = SPACES["special"]["i0e"], SPACES["special"]["i1e"]


class VonMises(Distribution):
    """The density e^(concentration cos(x - loc)) / (2π I₀(concentration)) of angles x.

    Its mean and its variance are those of the circle: the angle of the mean point there, and how far that is inside.

    >>> import symgrad as sg
    >>> sg.distributions.VonMises(0.0, 1.0).log_prob(sg.tensor(0.0))
    tensor(-1.0738)
    """

    support = constraints.real
    arg_constraints: ClassVar[dict[str, Any]] = {"loc": constraints.real, "concentration": constraints.positive}

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None):
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The mean angle."""
        return self.loc

    mode = mean

    @property
    def variance(self) -> Any:
        """1 less the length of the mean point."""
        return 1 - _i1e(self.concentration) / _i0e(self.concentration)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return self.concentration * ((value - self.loc).cos() - 1) - (math.tau * _i0e(self.concentration)).log()

    def sample(self, sample_shape: Any = ()) -> Any:
        """Values without gradient, between -π and π: of a wrapped Cauchy distribution, as far as they are accepted."""
        x: Any
        where, shape = FUNCTIONS["where"], self._extended_shape(sample_shape)
        with no_grad():
            loc, kappa = self.loc.to(float64), self.concentration.to(float64)
            wide = 1 + (1 + 4 * kappa.square()).sqrt()
            rho = (wide - (2 * wide).sqrt()) / (2 * kappa)
            r = where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho.square()) / (2 * rho))
            x = creation.zeros(tuple(shape), dtype=float64)
            done = x > 0
            while not bool(done.all()):
                u1, u2, u3 = FUNCTIONS["unbind"](rand((3, *shape), dtype=float64))
                z = (math.pi * u1).cos()
                f = (1 + r * z) / (r + z)
                c = kappa * (r - f)
                accepted = (c * (2 - c) > u2) | ((c / u2).log() + 1 - c >= 0)
                x = where(accepted, (u3 - 0.5).sign() * f.acos(), x)  # those of before, too, as torch does
                done = done | accepted
            return ((x + math.pi + loc) % math.tau - math.pi).to(self.loc.dtype)
