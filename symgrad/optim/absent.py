"""What stands for torch's optimisers where torch is not installed: programs may name them, and are told of the step."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from symgrad.optim.optimizer import NoStep, Optimizer

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
        return _Room(f"symgrad.optim.{name}")
    if name not in _INSTEAD:
        raise AttributeError(f"module 'symgrad.optim' has no attribute {name!r}")
    return _class("optim", name, _INSTEAD[name])


def _class(room: str, name: str, step: str) -> type[Optimizer]:
    def refuse(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ARG001
        raise NoStep(
            f"{room}.{name} is torch's, which is not installed: pip install torch, or take the step yourself: {step}."
        )

    return type(name, (Optimizer,), {"__init__": refuse, "__module__": f"symgrad.{room}", "__doc__": f"Take {step}."})


class _Room(ModuleType):
    """A module of torch.optim, whose classes can be named and not made."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        last = self.__name__.rpartition(".")[2]
        return _class(f"optim.{last}", name, _ROOMS[last])
