"""The base class for optimisers of users' own; for each one of torch's, this room tells what to write instead.

A step is a line of code under ``no_grad``; SciPy's minimisers take a function that :func:`symgrad.compile` made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symgrad.optim.optimizer import Optimizer

__all__ = ["Optimizer"]

_ADAM = (
    "under no_grad(), for every p with its m and v of zeros, at step t: m.lerp_(p.grad, 0.1); "
    "v.mul_(0.999).addcmul_(p.grad, p.grad, value=0.001); "
    "p.addcdiv_(m / (1 - 0.9**t), (v / (1 - 0.999**t)).sqrt() + 1e-8, value=-rate)"
)
_INSTEAD = {
    "Adam": _ADAM,
    "AdamW": f"under no_grad(), p.mul_(1 - rate * decay), and then as Adam: {_ADAM}",
    "LBFGS": "scipy.optimize.minimize(f, x0, jac=True, method='L-BFGS-B'), where f gives the value and the gradient",
    "lr_scheduler": "the rate is a number of the loop, in which with no_grad(): p -= rate * p.grad takes the step",
}


if not TYPE_CHECKING:  # which knows what there is

    def __getattr__(name: str) -> Any:
        step = _INSTEAD.get(name, "with no_grad(): p -= rate * p.grad for every parameter, and then p.grad = None")
        raise AttributeError(f"module 'symgrad.optim' has no attribute {name!r}: take the step yourself: {step}.")
