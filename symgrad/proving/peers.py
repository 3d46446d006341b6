"""What other libraries give at a singular point: their function of the same name, and its gradients there."""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.ops.rules.kinks import KINKS
from symgrad.proving.laws import is_leaf
from symgrad.proving.points import Point, differentiable_at

PEERS = ("torch", "jax", "autograd")

_ROOMS = {
    "torch": ("torch", "torch.special", "torch.nn.functional"),
    "jax": ("jax.numpy", "jax.nn", "jax.scipy.special", "jax.lax"),
    "autograd": ("autograd.numpy", "autograd.scipy.special"),
}
"""Where a library keeps its functions."""
_NUMPY = {
    "asin": "arcsin", "acos": "arccos", "acosh": "arccosh", "atanh": "arctanh", "atan2": "arctan2", "pow": "power",
    "sgn": "sign", "amax": "max", "amin": "min", "clamp": "clip", "lgamma": "gammaln", "log_odds": "logit",
    "div": "divide",
}  # fmt: skip
_NAMES: dict[str, dict[str, str]] = {
    "torch": {"log_odds": "logit"},
    "jax": {**_NUMPY, "clamp_min": "clip"},
    "autograd": _NUMPY,
}
"""Functions that have other names there."""
_SPELLED: dict[tuple[str, str], Callable[[Any], Callable[..., Any]]] = {
    ("torch", "norm"): lambda m: lambda x, p, dim, keepdim: m.linalg.vector_norm(x, p, dim, keepdim),
    ("torch", "elu"): lambda m: lambda x, alpha, *_: m.nn.functional.elu(x, alpha),
    ("jax", "elu"): lambda m: lambda x, alpha, *_: m.nn.elu(x, alpha),
    ("jax", "hardswish"): lambda m: m.nn.hard_swish,
    ("jax", "norm"): lambda m: lambda x, **_: m.numpy.linalg.norm(x.ravel()),
    ("jax", "std"): lambda m: lambda x, correction, **_: m.numpy.std(x, ddof=correction),
    ("jax", "clamp_max"): lambda m: lambda x, high: m.numpy.clip(x, None, high),
    ("jax", "amax"): lambda m: lambda x, **_: m.numpy.max(x),
    ("jax", "amin"): lambda m: lambda x, **_: m.numpy.min(x),
    ("autograd", "norm"): lambda m: lambda x, **_: m.numpy.linalg.norm(m.numpy.ravel(x)),
    ("autograd", "std"): lambda m: lambda x, correction, **_: m.numpy.std(x, ddof=correction),
    ("autograd", "amax"): lambda m: lambda x, **_: m.numpy.max(x),
    ("autograd", "amin"): lambda m: lambda x, **_: m.numpy.min(x),
}
"""Functions whose arguments are others there."""
_OTHERS: dict[tuple[str, str, str], tuple[float, ...]] = {
    ("jax", "pow", "x = 0, y = 0"): (math.nan, 0),
    ("jax", "lgamma", "x = 0"): (math.nan,),
    ("jax", "digamma", "x = -1"): (math.inf,),
    ("jax", "xlogy", "x = 0, y = 0"): (-math.inf, math.nan),
    ("jax", "xlog1py", "x = 0, y = -1"): (-math.inf, math.nan),
    ("jax", "copysign", "x = 0"): (-1, 0),
    ("jax", "ndtri", "x = 0"): (0,),
    ("jax", "ndtri", "x = 1"): (0,),
    ("jax", "clamp", "x = lo"): (0.5, 0.5, 0),
    ("jax", "clamp", "x = hi"): (0.5, 0, 0.5),
    ("autograd", "digamma", "x = -1"): (math.inf,),
    ("autograd", "std", "all equal"): (math.nan,),
    ("autograd", "norm", "zero vector"): (math.nan,),
    ("autograd", "atan2", "x = 0, y = 0"): (math.nan, math.nan),
    ("autograd", "hypot", "x = 0, y = 0"): (math.nan, math.nan),
    ("autograd", "fmax", "x = y"): (0.5, 0.5),
    ("autograd", "fmin", "x = y"): (0.5, 0.5),
}
"""What JAX and HIPS autograd give at points that have no row in the table of conventions, or no column there."""


def declared(name: str, point: Point, theirs: Sequence[Any]) -> bool:
    """Whether a library is known to give this, by the table of conventions or by :data:`_OTHERS`."""
    known: Sequence[Any] | None = _OTHERS.get((name, point.op.name, point.where))
    row = KINKS.get(point.op.name)
    if known is None and row is not None and name in ("torch", "jax"):
        known = row.shares(name)
    return known is not None and len(known) == len(theirs) and same([float(v) for v in known], theirs)


def same(ours: Sequence[Any], theirs: Sequence[Any]) -> bool:
    """Whether two rows of gradients are equal, to the digits that single functions differ in."""
    return all(
        np.allclose(0.0 if a is None else a, b, rtol=1e-6, atol=1e-12, equal_nan=True)
        for a, b in zip(ours, theirs, strict=True)
    )


def loaded(name: str) -> Any:
    """A library by its name; None where it is not installed.  ``ArgumentError`` for one that is not known."""
    if name not in PEERS:
        raise ArgumentError(f"--against {name}: the libraries are {', '.join(PEERS)}.")
    try:
        for room in _ROOMS[name]:
            importlib.import_module(room)
    except ImportError:
        return None
    return importlib.import_module(name)


def function_of(name: str, library: Any, point: Point) -> Callable[..., Any] | None:
    """The function of a library that the op of a point is; None where there is none."""
    if (name, point.op.name) in _SPELLED:
        return _SPELLED[name, point.op.name](library)
    wanted = _NAMES[name].get(point.op.name, point.op.name)
    for room in _ROOMS[name]:
        found = getattr(importlib.import_module(room), wanted, None)
        if callable(found):
            return found  # type: ignore[no-any-return]
    return None


def gradients(name: str, library: Any, point: Point) -> list[Any] | None:
    """A library's gradients by the operands that have one here; None where it has no such function or derivative."""
    call = function_of(name, library, point)
    targets = differentiable_at(point)
    if call is None or not targets:
        return None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return _ASKED[name](library, call, point, targets)
        except Exception:  # noqa: BLE001  (whatever a library raises: it has no derivative there)
            return None


def _of_torch(torch: Any, call: Callable[..., Any], point: Point, targets: Sequence[int]) -> list[Any]:
    args = [torch.tensor(a, requires_grad=k in targets) if hasattr(a, "dtype") else a for k, a in enumerate(point.args)]
    out = call(*args, **point.params)
    found = torch.autograd.grad(out.sum(), [args[k] for k in targets], allow_unused=True)
    return [np.zeros_like(point.args[k]) if g is None else g.numpy() for k, g in zip(targets, found, strict=True)]


def _of_jax(jax: Any, call: Callable[..., Any], point: Point, targets: Sequence[int]) -> list[Any]:
    with jax.enable_x64(True):
        found = jax.grad(lambda *xs: call(*xs, **point.params).sum(), tuple(targets))(*_plain(jax.numpy, point))
    return [np.asarray(g) for g in found]


def _of_autograd(autograd: Any, call: Callable[..., Any], point: Point, targets: Sequence[int]) -> list[Any]:
    def total(*xs: Any) -> Any:
        return autograd.numpy.sum(call(*xs, **point.params))

    return [np.asarray(autograd.grad(total, k)(*point.args)) for k in targets]


def _plain(module: Any, point: Point) -> list[Any]:
    return [module.asarray(a) if is_leaf(a) else a for a in point.args]


_ASKED = {"torch": _of_torch, "jax": _of_jax, "autograd": _of_autograd}
