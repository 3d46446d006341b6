"""What stands for torch's optimisers where torch is not installed: programs may name them, and are told of the step."""

from __future__ import annotations

from typing import Any

from symgrad.absent import AbsentRoom, absent_class
from symgrad.optim.optimizer import Optimizer

_WHY = "is torch's, which is not installed: pip install torch, or take the step yourself: {}."
_ADAM = (
    "under no_grad(), for every p with its m and v of zeros, at step t: m.lerp_(p.grad, 0.1); "
    "v.mul_(0.999).addcmul_(p.grad, p.grad, value=0.001); "
    "p.addcdiv_(m / (1 - 0.9**t), (v / (1 - 0.999**t)).sqrt() + 1e-8, value=-rate)"
)
_STEP = "with no_grad(): p -= rate * p.grad for every parameter, and then p.grad = None"
_NAMES = "ASGD Adadelta Adafactor Adagrad Adam AdamW Adamax LBFGS Muon NAdam RAdam RMSprop Rprop SGD SparseAdam"
_INSTEAD = dict.fromkeys(_NAMES.split(), _STEP) | {
    "Adam": _ADAM,
    "AdamW": f"under no_grad(), p.mul_(1 - rate * decay), and then as Adam: {_ADAM}",
    "LBFGS": "scipy.optimize.minimize(f, x0, jac=True, method='L-BFGS-B'), where f gives the value and the gradient",
}
_RATES = "the rate is a number of the loop, in which with no_grad(): p -= rate * p.grad takes the step"
_ROOMS = {"lr_scheduler": _RATES, "swa_utils": "under no_grad(), mean.lerp_(p, 1 / count) for every parameter"}


def absent(name: str) -> Any:
    """A class of this name that cannot be made, or a room of such; ``AttributeError`` for what torch has not."""
    if name in _ROOMS:
        return AbsentRoom(f"symgrad.optim.{name}", _WHY.format(_ROOMS[name]), Optimizer)
    if name not in _INSTEAD:
        raise AttributeError(f"module 'symgrad.optim' has no attribute {name!r}")
    return absent_class(name, "symgrad.optim", _WHY.format(_INSTEAD[name]), Optimizer)
