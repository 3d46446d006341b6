"""Samples of the gamma and of Dirichlet's distribution, with gradients by implicit differentiation.

With u = P(a, x) held fixed, dx/da is -(∂P/∂a)/p(x): the sample moves so that the probability of less stays what it is
(Figurnov, Mohamed and Mnih 2018; Jankowiak and Obermeyer 2018).
"""

from __future__ import annotations

from typing import Any

from symgrad.autograd.function import Function, once_differentiable
from symgrad.kernels.randomness.gammas import dirichlet_numbers, gamma_numbers
from symgrad.op import lookup, refusal
from symgrad.ops.calls.still import values_of
from symgrad.ops.noise import drawn
from symgrad.tensor import FUNCTIONS, creation


class StandardGamma(Function):
    """``drawn``, a sample of the gamma distribution of shape ``a``, as it moves with ``a``."""

    @staticmethod
    def forward(ctx: Any, a: Any, drawn: Any) -> Any:
        """The sample."""
        sample = drawn.clone()
        ctx.save_for_backward(a, sample)
        return sample

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """The gradient by ``a``, which is made of ops and so has derivatives of its own."""
        a, x = ctx.saved_tensors
        return -g * lookup("gammainc_slope")(a, x, n=1) / lookup("gamma_density")(a, x), None


class _Dirichlet(Function):
    """``drawn``, a sample of Dirichlet's distribution, as it moves with its parameters; torch has the name."""

    @staticmethod
    def forward(ctx: Any, concentration: Any, drawn: Any) -> Any:
        sample = drawn.clone()
        ctx.save_for_backward(concentration, sample)
        return sample

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Any) -> Any:
        a, x, g = (part.double() for part in (*ctx.saved_tensors, grad))  # as torch's kernel does, whatever the dtype
        total = a.sum(-1, keepdim=True)
        rest = total - a
        # Near 0 the probability of less is x^a/(a B(a, b)), but for a 10⁻¹²th; its slopes by quadrature are nan there.
        near = x * (1 + total) < 1e-12
        first = (x / a) * ((a + 1).digamma() - total.digamma() - x.log())
        x_ = FUNCTIONS["where"](near, 0.5, x)
        logs = (a - 1) * x_.log() + (rest - 1) * (-x_).log1p() - lookup("betaln")(a, rest)
        slopes = -lookup("betainc_slope")(a, rest, x_, m=1, n=0) / (logs.exp() * (1 - x_))
        slopes = FUNCTIONS["where"](near, first, slopes)
        return (slopes * (g - (x * g).sum(-1, keepdim=True))).to(grad.dtype), None


def standard_gamma(concentration: Any, generator: Any = None) -> Any:
    """A sample of the gamma distribution of rate 1 for each of the shapes, by which these can be differentiated.

    >>> import symgrad as sg
    >>> sg.distributions.implicit.standard_gamma(sg.ones(3)).shape
    torch.Size([3])
    """
    if concentration.dtype.kind != "f" or concentration.dtype.itemsize == 2:
        raise refusal("_standard_gamma", "gamma_cpu", concentration.dtype)
    sample = gamma_numbers(values_of(concentration), drawn(generator))
    return StandardGamma.apply(concentration, creation.tensor(sample))


_standard_gamma = standard_gamma  # torch's name, by which programs call it


def sample_dirichlet(concentration: Any) -> Any:
    """Samples of Dirichlet's distribution with parameters along the last axis, which can be differentiated by once."""
    sample = dirichlet_numbers(values_of(concentration), drawn(None))
    return _Dirichlet.apply(concentration, creation.tensor(sample))
