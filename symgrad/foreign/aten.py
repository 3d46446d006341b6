"""The calls of ATen, which exported programs are made of: their schemas say what their arguments are called."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import symgrad as sg
from symgrad.errors import UnsupportedFunction

ELSEWHERE = frozenset(
    ("layout", "device", "pin_memory", "memory_format", "non_blocking", "cudnn_enable", "cudnn_enabled", "benchmark",
     "deterministic", "allow_tf32", "half_to_float", "implicit", "generator")
)  # fmt: skip
"""Arguments that say where and how something is computed, and not what."""
REDUCTIONS = ("none", "mean", "sum")
"""What ATen's numbers for ``reduction`` mean."""
RENAMED = {
    "cross_entropy_loss": "cross_entropy", "nll_loss_nd": "nll_loss", "nll_loss2d": "nll_loss",
    "_softmax": "softmax", "_log_softmax": "log_softmax", "_unsafe_view": "reshape", "view": "reshape",
    "_reshape_copy": "reshape", "lift_fresh": "clone", "lift_fresh_copy": "clone",
    "detach_copy": "detach",
}  # fmt: skip
"""Calls that have another name among users' functions.  Of a view, the values matter and not the memory."""


def aten_of(target: Any) -> Callable[..., Any]:
    """The function here for a call of ATen; ``UnsupportedFunction`` where there is none."""
    overload = target if hasattr(target, "_schema") else getattr(target, target.overloads()[0])
    schema = overload._schema
    space, _, base = schema.name.partition("::")
    if space != "aten":
        raise UnsupportedFunction(f"it is not of torch: {schema.name}")
    if base in WRITTEN:
        return WRITTEN[base]
    if base == "alias":
        raise UnsupportedFunction(
            "run_decompositions() writes it for detach(), too; give from_fx() the program as it was exported"
        )
    call, named = _found(RENAMED.get(base, base))
    takes = _parameters(call) if named else None
    listed = list(schema.arguments)

    def run(*args: Any, **kwargs: Any) -> Any:
        given = [*zip(listed, args, strict=False)]
        given += [(a, kwargs.get(a.name, a.default_value)) for a in listed[len(args) :] if _told(a, kwargs)]
        first: list[Any] = []
        rest: dict[str, Any] = {}
        for k, (argument, value) in enumerate(given):
            name = argument.name
            if name in ELSEWHERE:
                continue
            if name == "reduction" and named:
                value = REDUCTIONS[value]
            if k == 0 or (k < len(args) and not named):
                first.append(value)
            elif takes is not None and name not in takes and argument.has_default_value():
                if value != argument.default_value:
                    raise UnsupportedFunction(f"{schema.name} with {name}={value!r} is not known here")
            else:
                rest[name] = value
        return call(*first, **rest)

    return run


def _told(argument: Any, kwargs: dict[str, Any]) -> bool:
    """Whether an argument that is not given by position is passed on: ATen has another default for one."""
    return argument.name in kwargs or argument.name == "reduction"


def _found(name: str) -> tuple[Callable[..., Any], bool]:
    """The function of that name, and whether its arguments are given by name, as those of ``nn.functional`` are."""
    for space in ("linalg", "special", "fft"):
        found = getattr(getattr(sg, space), name.removeprefix(f"{space}_"), None)
        if name.startswith(f"{space}_") and found is not None:
            return found, False
    if callable(getattr(sg, name, None)):
        return getattr(sg, name), False
    if hasattr(sg.nn.functional, name):
        return getattr(sg.nn.functional, name), True
    if hasattr(sg.Tensor, name):
        return (lambda x, *args, **kwargs: getattr(x, name)(*args, **kwargs)), False
    raise UnsupportedFunction("there is no function of that name here")


@functools.cache
def _parameters(call: Callable[..., Any]) -> frozenset[str] | None:
    try:
        return frozenset(inspect.signature(call).parameters)
    except (TypeError, ValueError):
        return None


# -------------------------------------------------------------------------- calls that no function of users has


def _slice(x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    return x[(slice(None),) * (dim % x.ndim) + (slice(start, end, step),)]


def _convolution(
    x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, turned: bool, output: Any, groups: int
) -> Any:
    f, n = sg.nn.functional, x.ndim - 2
    options = {"stride": tuple(stride), "padding": tuple(padding), "dilation": tuple(dilation), "groups": groups}
    if turned:
        convolve = (f.conv_transpose1d, f.conv_transpose2d, f.conv_transpose3d)[n - 1]
        return convolve(x, weight, bias, output_padding=tuple(output), **options)
    return (f.conv1d, f.conv2d, f.conv3d)[n - 1](x, weight, bias, **options)


def _layer_norm(x: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    mean = sg.mean(x, axes, keepdim=True)
    scale = sg.rsqrt(sg.var(x, axes, correction=0, keepdim=True) + eps)
    return sg.nn.functional.layer_norm(x, tuple(shape), weight, bias, eps), mean, scale


def _batch_norm(x: Any, weight: Any, bias: Any, mean: Any, var: Any, momentum: float, eps: float) -> Any:
    out = sg.nn.functional.batch_norm(x, mean, var, weight, bias, training=False, momentum=momentum, eps=eps)
    return out, sg.zeros(0), sg.zeros(0)


def _to_copy(x: Any, dtype: Any = None, **_: Any) -> Any:
    return x.clone() if dtype is None else x.to(dtype)


def _nll_loss(x: Any, target: Any, weight: Any, reduction: int, ignore: int) -> Any:
    f = sg.nn.functional.nll_loss
    total = f(sg.ones_like(x).neg(), target, weight, ignore_index=ignore, reduction="sum")
    return f(x, target, weight, ignore_index=ignore, reduction=REDUCTIONS[reduction]), total


def _pooled(x: Any, *args: Any) -> Any:
    return sg.nn.functional.max_pool2d(x, *args, return_indices=True)


def _trilinear(x: Any, y: Any, z: Any, new_x: Any, new_y: Any, new_z: Any, dims: Any, *_: Any) -> Any:
    found = []
    for value, new in ((x, new_x), (y, new_y), (z, new_z)):
        for dim in new:
            value = sg.unsqueeze(value, dim)
        found.append(value)
    return sg.sum(found[0] * found[1] * found[2], tuple(dims))


def _nothing(*_: Any, **__: Any) -> None:
    return None


WRITTEN: dict[str, Callable[..., Any]] = {
    "slice": _slice, "convolution": _convolution, "native_layer_norm": _layer_norm,
    "_native_batch_norm_legit_no_training": _batch_norm, "_to_copy": _to_copy, "nll_loss_forward": _nll_loss,
    "max_pool2d_with_indices": _pooled, "_assert_tensor_metadata": _nothing, "_assert_scalar": _nothing,
    "_trilinear": _trilinear,
    "sym_size": lambda x, dim: x.shape[dim], "copy": lambda x, y, *_: sg.broadcast_to(y.to(x.dtype), x.shape),
    "index": lambda x, places: x[tuple(slice(None) if p is None else p for p in places)],
}  # fmt: skip
"""Calls whose arguments or results are not those of the function that users call."""
