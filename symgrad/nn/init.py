"""First values of weights, written in place and not recorded: torch.nn.init, with torch's numbers.

Glorot and Bengio (2010) and He et al. (2015) choose the spread by the number of inputs and outputs, Saxe et al. (2013)
orthogonal matrices.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

from symgrad.errors import ArgumentError
from symgrad.notices import renamed
from symgrad.ops.elementwise.select import where
from symgrad.ops.linalg.decompositions import qr
from symgrad.random import randperm
from symgrad.tape.modes import no_grad
from symgrad.tensor.creation import empty_like

__all__ = [
    "calculate_gain", "constant_", "dirac_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_",
    "orthogonal_", "sparse_", "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_",
]  # fmt: skip

_GAINS = {"tanh": 5 / 3, "relu": math.sqrt(2), "selu": 3 / 4} | dict.fromkeys(
    ["linear", "sigmoid", *(f"conv{t}{n}d" for t in ("", "_transpose") for n in (1, 2, 3))], 1.0
)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which a nonlinearity shrinks deviations, which the spread of weights makes good.

    ``param`` is the slope of "leaky_relu", 0.01 unless told.

    >>> calculate_gain("relu")
    1.4142135623730951
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ArgumentError(f"negative_slope {param} not a valid number")
        return math.sqrt(2 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise ArgumentError(f"Unsupported nonlinearity {nonlinearity}; there are leaky_relu, {', '.join(_GAINS)}.")
    return _GAINS[nonlinearity]


def _calculate_fan_in_and_fan_out(tensor: Any) -> tuple[int, int]:
    """How many inputs and outputs every unit has: the axes from the third on are those of a convolution's window."""
    if tensor.ndim < 2:
        raise ArgumentError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    window = math.prod(tensor.shape[2:])
    return tensor.shape[1] * window, tensor.shape[0] * window


def _calculate_correct_fan(tensor: Any, mode: str) -> int:
    modes = ("fan_in", "fan_out")
    if mode.lower() not in modes:
        raise ArgumentError(f"Mode {mode.lower()} not supported, please use one of {list(modes)}")
    return _calculate_fan_in_and_fan_out(tensor)[modes.index(mode.lower())]


@no_grad()
def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Any:
    """Uniform samples between ``a`` and ``b``.

    >>> import symgrad as sg
    >>> _ = sg.manual_seed(0)
    >>> sg.nn.init.uniform_(sg.empty(3), -1, 1)
    tensor([-0.0075,  0.5364, -0.8230])
    """
    return tensor.uniform_(a, b, generator=generator)


@no_grad()
def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Any:
    """Normal samples.

    >>> import symgrad as sg
    >>> _ = sg.manual_seed(0)
    >>> sg.nn.init.normal_(sg.empty(3), std=0.1)
    tensor([ 0.1541, -0.0293, -0.2179])
    """
    return tensor.normal_(mean, std, generator=generator)


@no_grad()
def trunc_normal_(
    tensor: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Any:
    """Normal samples that lie between ``a`` and ``b``: those outside are drawn again.

    Where few would lie inside, candidates are uniform, and kept by the ratio of the density to its peak.

    >>> import symgrad as sg
    >>> _ = sg.manual_seed(0)
    >>> bool((sg.nn.init.trunc_normal_(sg.empty(1000), a=-1, b=1).abs() <= 1).all())
    True
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be "
            "incorrect.",
            UserWarning,
            stacklevel=3,
        )
    below, above = ((1 + math.erf((edge - mean) / std / math.sqrt(2))) / 2 for edge in (a, b))
    low, high = tensor.new_tensor([a, b]).tolist()

    def drawn(place: Any) -> tuple[Any, Any]:  # where the numbers go: the order in memory decides on their order
        if above - below > 0.3:
            values = place.normal_(mean, std, generator=generator)
            return values, (values < low) | (values > high)
        values = place.uniform_(a, b, generator=generator)
        peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
        density = ((values - mean) / std) ** 2 * -0.5 - peak
        return values, empty_like(tensor).uniform_(generator=generator).log() > density

    values, wrong = drawn(tensor)
    while wrong.any():
        again, refused = drawn(empty_like(tensor))
        values, wrong = where(wrong, again, values), wrong & refused
    return tensor.copy_(values)


@no_grad()
def constant_(tensor: Any, val: float) -> Any:
    """One value everywhere.

    >>> import symgrad as sg
    >>> sg.nn.init.constant_(sg.empty(2), 0.5)
    tensor([0.5000, 0.5000])
    """
    return tensor.fill_(val)


@no_grad()
def ones_(tensor: Any) -> Any:
    """Ones.

    >>> import symgrad as sg
    >>> sg.nn.init.ones_(sg.empty(2))
    tensor([1., 1.])
    """
    return tensor.fill_(1.0)


@no_grad()
def zeros_(tensor: Any) -> Any:
    """Zeros.

    >>> import symgrad as sg
    >>> sg.nn.init.zeros_(sg.empty(2))
    tensor([0., 0.])
    """
    return tensor.zero_()


@no_grad()
def eye_(tensor: Any) -> Any:
    """The identity, of a matrix of any shape.

    >>> import symgrad as sg
    >>> sg.nn.init.eye_(sg.empty(2, 3))
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    if tensor.ndim != 2:
        raise ArgumentError("Only tensors with 2 dimensions are supported")
    tensor.zero_().diagonal().fill_(1.0)
    return tensor


@no_grad()
def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Uniform samples with deviation gain · √(2/(inputs + outputs)).

    >>> import symgrad as sg
    >>> w = xavier_uniform_(sg.empty(3, 5))
    >>> bool(w.abs().max() <= (6 / 8) ** 0.5)
    True
    """
    bound = gain * math.sqrt(2 / sum(_calculate_fan_in_and_fan_out(tensor))) * math.sqrt(3)
    return tensor.uniform_(-bound, bound, generator=generator)


@no_grad()
def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Normal samples with deviation gain · √(2/(inputs + outputs)).

    >>> import symgrad as sg
    >>> _ = sg.manual_seed(0)
    >>> w = sg.nn.init.xavier_normal_(sg.empty(100, 300))
    >>> round(w.std().item(), 2), (2 / 400) ** 0.5
    (0.07, 0.07071067811865475)
    """
    return tensor.normal_(0.0, gain * math.sqrt(2 / sum(_calculate_fan_in_and_fan_out(tensor))), generator=generator)


def _spread(tensor: Any, a: float, mode: str, nonlinearity: str) -> float | None:
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", UserWarning, stacklevel=4)
        return None
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


@no_grad()
def kaiming_uniform_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Any:
    """Uniform samples with deviation gain/√fan, by the gain of the nonlinearity that follows (``a``: its slope).

    >>> import symgrad as sg
    >>> _ = sg.manual_seed(0)
    >>> w = sg.nn.init.kaiming_uniform_(sg.empty(100, 600), nonlinearity="relu")
    >>> round(w.abs().max().item(), 3)  # the square root of 6/600
    0.1
    """
    spread = _spread(tensor, a, mode, nonlinearity)
    if spread is None:
        return tensor
    bound = math.sqrt(3) * spread
    return tensor.uniform_(-bound, bound, generator=generator)


@no_grad()
def kaiming_normal_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Any:
    """Normal samples with deviation gain/√fan, by the gain of the nonlinearity that follows (``a``: its slope).

    >>> import symgrad as sg
    >>> _ = sg.manual_seed(0)
    >>> w = sg.nn.init.kaiming_normal_(sg.empty(100, 200), nonlinearity="relu")
    >>> round(w.std().item(), 2)  # the square root of 2/200
    0.1
    """
    spread = _spread(tensor, a, mode, nonlinearity)
    return tensor if spread is None else tensor.normal_(0, spread, generator=generator)


@no_grad()
def orthogonal_(tensor: Any, gain: float = 1, generator: Any = None) -> Any:
    """A random matrix with orthogonal rows or columns; the axes from the second on count as one.

    >>> import symgrad as sg
    >>> w = sg.nn.init.orthogonal_(sg.empty(2, 5))
    >>> sg.allclose(w @ w.T, sg.eye(2), atol=1e-5)
    True
    """
    if tensor.ndim < 2:
        raise ArgumentError("Only tensors with 2 or more dimensions are supported")
    if not tensor.numel():
        return tensor
    rows = tensor.shape[0]
    drawn = tensor.new_empty((rows, tensor.numel() // rows)).normal_(0, 1, generator=generator)
    wide = rows < drawn.shape[1]
    q, r = qr(drawn.t() if wide else drawn)
    q = q * r.diagonal().sign()
    return tensor.copy_((q.t() if wide else q).reshape(tensor.shape)).mul_(gain)


@no_grad()
def dirac_(tensor: Any, groups: int = 1) -> Any:
    """The kernel of a convolution, of 3 to 5 axes, that gives its input channels back; others are zero.

    >>> import symgrad as sg
    >>> sg.nn.init.dirac_(sg.empty(2, 1, 3)).tolist()
    [[[0.0, 1.0, 0.0]], [[0.0, 0.0, 0.0]]]
    """
    if tensor.ndim not in (3, 4, 5):
        raise ArgumentError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups:
        raise ArgumentError("dim 0 must be divisible by groups")
    own = tensor.shape[0] // groups
    tensor.zero_()
    middle = [n // 2 for n in tensor.shape[2:]]
    for channel in range(min(own, tensor.shape[1])):
        tensor[(slice(channel, None, own), channel, *middle)] = 1
    return tensor


@no_grad()
def sparse_(tensor: Any, sparsity: float, std: float = 0.01, generator: Any = None) -> Any:
    """A matrix of normal samples, of which the share ``sparsity`` of every column is zero (Martens 2010).

    >>> import symgrad as sg
    >>> (sg.nn.init.sparse_(sg.empty(4, 3), 0.5) == 0).sum(0).tolist()
    [2, 2, 2]
    """
    if tensor.ndim != 2:
        raise ArgumentError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    tensor.normal_(0, std, generator=generator)
    for column in range(columns):
        tensor[randperm(rows)[: math.ceil(sparsity * rows)], column] = 0
    return tensor


_no_grad_fill_, _no_grad_normal_, _no_grad_uniform_ = constant_, normal_, uniform_
"""torch's names of what its initialisers are made of: code with initialisers of its own imports them."""
_no_grad_trunc_normal_ = trunc_normal_  # a private name of torch that programs import
_RENAMED = (
    "uniform", "normal", "constant", "eye", "dirac", "xavier_uniform", "xavier_normal", "kaiming_uniform",
    "kaiming_normal", "orthogonal", "sparse",
)  # fmt: skip
"""The names of old programs, which torch still has."""


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        return renamed(globals()[f"{name}_"], "nn.init")
    raise AttributeError(f"module 'symgrad.nn.init' has no attribute {name!r}")
