"""Entries with mean 0 and variance 1 over axes: what the normalising layers have in common."""

from __future__ import annotations

from typing import Any

from symgrad import kernels
from symgrad.op import Op, primitive, sampling
from symgrad.ops.elementwise.complex import conj, real
from symgrad.ops.elementwise.smooth import rsqrt
from symgrad.ops.reductions.sums import mean_op, var_op


def _by_moments(x: Any, *, dim: tuple[int, ...], eps: float) -> Any:
    return (x - mean_op(x, dim=dim, keepdim=True)) * _scale(x, dim, eps)


def _scale(x: Any, dim: tuple[int, ...], eps: float) -> Any:
    return rsqrt(var_op(x, dim=dim, correction=0, keepdim=True) + eps)


def _along(x: Any, y: Any, dim: tuple[int, ...]) -> Any:
    return mean_op(real(x * conj(y)), dim=dim, keepdim=True)


def _without_moments(g: Any, out: Any, x: Any, *, dim: tuple[int, ...], eps: float) -> Any:
    return (g - mean_op(g, dim=dim, keepdim=True) - out * _along(g, out, dim)) * _scale(x, dim, eps)


def _slope_by_result(h: Any, c: Any, g: Any, out: Any, x: Any, *, dim: tuple[int, ...], eps: float) -> Any:
    return -(h * _along(g, out, dim) + g * _along(h, out, dim)) * _scale(x, dim, eps)


def _slope_by_scale(h: Any, c: Any, g: Any, out: Any, x: Any, *, dim: tuple[int, ...], eps: float) -> Any:
    scale = _scale(x, dim, eps)
    slope = standardised_slope(g, out, x, dim=dim, eps=eps)  # computed again: a hook may change c in place
    return (mean_op(x, dim=dim, keepdim=True) - x) * _along(h, slope, dim) * scale * scale


_SHARED: dict[str, Any] = {"spelled": True, "mixes": "dim"}
standardised: Op = primitive(
    "standardised",
    kernels.standardised,
    (lambda g, out, x, *, dim, eps: standardised_slope(g, out, x, dim=dim, eps=eps),),
    jvp=(lambda t, out, x, *, dim, eps: standardised_slope(t, out, x, dim=dim, eps=eps),),
    define=_by_moments,
    single=_by_moments,
    example=("vector", {"dim": (0,), "eps": 0.1}),
    samples=[
        sampling.one("real", "n", "m", dim=(1,), eps=0.1),
        sampling.one("real", "n", "m", dim=(0, 1), eps=0.1),
        sampling.one("real", "n", dim=(0,), eps=0.1),
    ],
    doc="Mean 0 over axes and variance 1, to which eps is added.",
    **_SHARED,
)
standardised_slope: Op = primitive(
    "standardised_slope",
    kernels.standardised_slope,
    (
        lambda h, c, g, out, x, *, dim, eps: standardised_slope(h, out, x, dim=dim, eps=eps),
        _slope_by_result,
        _slope_by_scale,
    ),
    define=_without_moments,
    single=_without_moments,
    imaginary=_without_moments,
    together=True,
    example=("vector", [0.5, -0.5], [1.0, 3.0], {"dim": (0,), "eps": 0.1}),
    samples=[
        sampling.many(("real", "n", "m"), ("real", "n", "m"), ("real", "n", "m"), dim=(1,), eps=0.1),
        sampling.many(("real", "n"), ("real", "n"), ("real", "n"), dim=(0,), eps=0.1),
    ],
    doc="A cotangent times the slope of that, which is symmetric: less what it has along ones and along the result.",
    **_SHARED,
)
