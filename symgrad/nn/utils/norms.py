"""Weights that are computed before each call of their module: torch's older spelling of two parametrizations."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

from symgrad.errors import ArgumentError
from symgrad.nn import functional
from symgrad.nn.parameter import Parameter
from symgrad.nn.utils.parametrizations import as_matrix, usual_axis
from symgrad.tape.modes import no_grad
from symgrad.tensor import FUNCTIONS

__all__ = ["remove_spectral_norm", "remove_weight_norm", "spectral_norm", "weight_norm"]


class _Computed:
    """A hook before ``forward`` that sets an attribute to what it computes of the parameters that stand for it."""

    kind: ClassVar[str]
    held: ClassVar[tuple[str, ...]]

    def __init__(self, name: str):
        self.name = name

    def __call__(self, module: Any, _: Any) -> None:
        setattr(module, self.name, self.compute(module, module.training))

    def compute(self, module: Any, training: bool) -> Any:
        """The weight."""
        raise NotImplementedError

    def put_on(self, module: Any, parts: dict[str, Any]) -> Any:
        """Hold the parts in the place of the parameter, and compute it before each call."""
        delattr(module, self.name)
        for suffix, part in parts.items():
            hold = module.register_parameter if isinstance(part, Parameter) else module.register_buffer
            hold(self.name + suffix, part)
        setattr(module, self.name, self.compute(module, False))
        module.register_forward_pre_hook(self)
        return module

    def check_first(self, module: Any) -> None:
        """Refuse a second hook of the kind on one parameter."""
        if any(type(hook) is type(self) and hook.name == self.name for hook in module._forward_pre_hooks.values()):
            raise ArgumentError(f"Cannot register two {self.kind} hooks on the same parameter {self.name}")

    @classmethod
    def take_off(cls, module: Any, name: str) -> Any:
        """The parameter is held again, with the values that it has."""
        for number, hook in module._forward_pre_hooks.items():
            if isinstance(hook, cls) and hook.name == name:
                with no_grad():
                    weight = hook.compute(module, False)
                for suffix in ("", *cls.held):
                    delattr(module, name + suffix)
                module.register_parameter(name, Parameter(weight.detach()))
                del module._forward_pre_hooks[number]
                return module
        raise ArgumentError(f"{cls.kind} of '{name}' not found in {module}")


class WeightNorm(_Computed):
    """g v/‖v‖."""

    kind, held = "weight_norm", ("_g", "_v")

    def __init__(self, name: str, dim: int | None):
        super().__init__(name)
        self.dim = -1 if dim is None else dim

    def compute(self, module: Any, training: bool) -> Any:  # noqa: ARG002
        """See the class."""
        g, v = (getattr(module, self.name + suffix) for suffix in self.held)
        return FUNCTIONS["_weight_norm"](v, g, self.dim)


class SpectralNorm(_Computed):
    """W/σ, where the vectors of σ follow the weight by power iterations in training."""

    kind, held = "spectral_norm", ("_u", "_v", "_orig")

    def __init__(self, name: str, n_power_iterations: int, eps: float, dim: int):
        super().__init__(name)
        if n_power_iterations <= 0:
            raise ArgumentError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.n_power_iterations, self.eps, self.dim = n_power_iterations, eps, dim

    def compute(self, module: Any, training: bool) -> Any:
        """See the class."""
        u, v, weight = (getattr(module, self.name + suffix) for suffix in self.held)
        matrix = as_matrix(weight, self.dim)
        if training:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(functional.normalize(matrix.mH @ u, dim=0, eps=self.eps))
                    u.copy_(functional.normalize(matrix @ v, dim=0, eps=self.eps))
        return weight / FUNCTIONS["dot"](u.clone(), matrix @ v.clone())


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """The weight is g v/‖v‖, computed before each call: of the parameters ``weight_g`` and ``weight_v``.

    ``nn.utils.parametrizations.weight_norm`` is the newer spelling, as torch warns.  Raises ``RuntimeError`` where the
    parameter is computed so already.

    >>> import symgrad as sg, warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     layer = sg.nn.utils.weight_norm(sg.nn.Linear(3, 2))
    >>> [name for name, _ in layer.named_parameters()]
    ['bias', 'weight_g', 'weight_v']
    """
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    hook, weight = WeightNorm(name, dim), getattr(module, name)
    hook.check_first(module)
    length = FUNCTIONS["norm_except_dim"](weight.detach(), 2, hook.dim)
    return hook.put_on(module, {"_g": Parameter(length), "_v": Parameter(weight.detach())})


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Hold the weight as a parameter again; raises ``ValueError`` where :func:`weight_norm` was not called.

    >>> import symgrad as sg, warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     layer = sg.nn.utils.weight_norm(sg.nn.Linear(3, 2))
    >>> [name for name, _ in sg.nn.utils.remove_weight_norm(layer).named_parameters()]
    ['bias', 'weight']
    """
    return WeightNorm.take_off(module, name)


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """The weight is ``weight_orig`` divided by its largest singular value, computed before each call.

    ``nn.utils.parametrizations.spectral_norm`` is the newer spelling.  Raises ``RuntimeError`` where the parameter is
    computed so already, ``ValueError`` for numbers of iterations below 1.

    >>> import symgrad as sg
    >>> layer = sg.nn.utils.spectral_norm(sg.nn.Linear(3, 2))
    >>> list(layer.state_dict())
    ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    hook = SpectralNorm(name, n_power_iterations, eps, usual_axis(module) if dim is None else dim)
    hook.check_first(module)
    weight = module._parameters[name]
    if weight is None:
        raise ArgumentError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    matrix = as_matrix(weight.detach(), hook.dim)
    drawn = [functional.normalize(matrix.new_empty(n).normal_(0, 1), dim=0, eps=eps) for n in matrix.shape]
    return hook.put_on(module, {"_orig": weight, "_u": drawn[0], "_v": drawn[1]})


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Hold the weight as a parameter again; raises ``ValueError`` where :func:`spectral_norm` was not called.

    >>> import symgrad as sg
    >>> layer = sg.nn.utils.spectral_norm(sg.nn.Linear(3, 2))
    >>> list(sg.nn.utils.remove_spectral_norm(layer).state_dict())
    ['bias', 'weight']
    """
    return SpectralNorm.take_off(module, name)
