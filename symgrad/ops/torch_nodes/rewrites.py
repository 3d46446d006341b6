"""How often torch's functions change their result in place before they give it away, which ``_version`` shows.

Where a graph is recorded those changes go unseen, but for two: the product of a vector and a matrix loses its axis in
place, and quantiles are weighed and arranged there.  Of inference tensors, which know no graph, all are seen once
inference mode has ended.

An entry is a number, or a function ``(out, *arguments, **options)`` that gives it, None where what the ops of the
function did is all; arrays are NumPy's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Count = int | Callable[..., int | None]


def _power(out: Any, base: Any, exponent: Any, **_: Any) -> int:
    """Filled or copied where the exponent or the base is a number that says so."""
    if hasattr(base, "dtype"):
        return int(not hasattr(exponent, "dtype") and exponent in (0, 1))
    return 1


def _product(out: Any, a: Any, b: Any) -> int:
    return int(b.ndim == 1 or not a.shape[-1])


def _mean(out: Any, x: Any, **_: Any) -> int:
    return 1 if x.dtype.itemsize == 2 and x.dtype.kind == "f" else 2


def _variance(out: Any, x: Any, dim: Any = (), **_: Any) -> int:
    return 1 if x.dtype.kind == "c" or not x.size else int(_filled(x, dim))


def _deviation(out: Any, x: Any, dim: Any = (), **_: Any) -> int:
    return 2 if x.dtype.kind == "c" else _variance(out, x, dim)


def _least(out: Any, x: Any, **_: Any) -> int:
    return int(out.size > 0 and x.dtype.kind != "i")


def _norm(out: Any, x: Any, dim: Any = (), **_: Any) -> int:
    return int(not x.size or math.prod(x.shape[d] for d in dim) <= 1)


def _none_left(out: Any, x: Any, *_: Any, **__: Any) -> int:
    return int(not x.size or not x.ndim)


def _of_integers(out: Any, x: Any, *_: Any, **__: Any) -> int:
    return int(x.dtype.kind in "iu")


_ONCE = """
abs all any argsort cast clone complex deg2rad det logabsdet logical_and logical_not logical_or logical_xor
logsumexp prod rad2deg solve sum
"""
_WHOLE_ONCE = """
argsort baddbmm cummax cummin isclose kthvalue msort nan_to_num nansum nonzero polar prod repeat repeat_interleave
sort tile vdot nn.functional.hardtanh nn.functional.relu6
"""

OF_OPS: dict[str, Count] = {
    **dict.fromkeys(_ONCE.split(), 1),
    "amax": lambda out, x, **_: int(out.size > 0),
    "amin": _least,
    "angle": lambda out, x: int(x.dtype.kind == "c"),
    "inv": 3,
    "matmul": _product,
    "mean": _mean,
    "norm": _norm,
    "pow": _power,
    "std": _deviation,
    "var": _variance,
    "isfinite": lambda out, x: int(x.dtype.kind != "f"),
    "isreal": lambda out, x: int(x.dtype.kind != "c"),
    **dict.fromkeys(("floor", "ceil", "round", "trunc"), _of_integers),
}
"""By the name of an op, for whatever is made of it."""


def _extreme(out: Any, x: Any, dim: Any = None, keepdim: Any = False, *_: Any, **__: Any) -> int | None:
    if dim is None or hasattr(dim, "dtype"):
        return None if dim is not None else 1
    return 0 if not out.size or (keepdim and x.ndim) else min(x.ndim, 1) + 1


def _bounds(out: Any, x: Any, *, dim: Any = None, **_: Any) -> int | None:
    return None if dim is None else min(x.ndim, 1) + 1


def _along(out: Any, x: Any, dim: Any = None, *_: Any, **__: Any) -> int | None:
    return None if dim is None or hasattr(dim, "dtype") else 1


def _place(out: Any, x: Any, dim: Any = None, *_: Any, **__: Any) -> int:
    return int(dim is not None and x.ndim > 0 and x.shape[dim] == 1)


def _flipped(out: Any, x: Any, *dims: Any, **options: Any) -> int:
    dims = options.get("dims", dims[0] if dims and isinstance(dims[0], (tuple, list)) else dims)
    return int(not x.size or not x.ndim or all(x.shape[d] == 1 for d in np.atleast_1d(dims)))


def _averaged(
    out: Any, x: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean", **_: Any
) -> int | None:
    return None if reduction == "none" else min(x.ndim, 1) + 1


def _diagonal(out: Any, x: Any, *_: Any, **__: Any) -> int:
    return 2 if x.ndim == 1 else 1


def _moments(root: int) -> Callable[..., int]:
    def count(out: Any, x: Any, *_: Any, **__: Any) -> int:
        return (1 + root if x.dtype.kind == "c" else 1) if x.dtype.kind == "c" or not x.size else 0

    return count


def _summed(out: Any, equation: str, *operands: Any) -> int | None:
    return 1 if len(operands) == 1 and isinstance(equation, str) and _sums(equation) else None


def _sums(equation: str) -> bool:
    inputs, arrow, output = equation.partition("->")
    return bool(arrow) and bool(set(inputs.replace(" ", "")) - set(output))


OF_FUNCTIONS: dict[str, Count | tuple[Count, Count]] = {
    **dict.fromkeys(_WHOLE_ONCE.split(), 1),
    **dict.fromkeys(("scatter", "softmax", "log_softmax", "bitwise_and", "bitwise_or", "bitwise_xor"), 0),
    **dict.fromkeys(("diag_embed", "diagflat", "nn.functional.pad"), 2),
    **dict.fromkeys(("max", "min"), _extreme),
    **dict.fromkeys(("argmax", "argmin"), _place),
    **dict.fromkeys(("nn.functional.mse_loss", "nn.functional.smooth_l1_loss"), _averaged),
    **dict.fromkeys(("cumsum", "cumprod", "logcumsumexp"), _none_left),
    "aminmax": _bounds,
    "diag": _diagonal,
    "einsum": _summed,
    "flip": _flipped,
    "linalg.vecdot": lambda out, x, *_, **__: int(x.ndim == 1),
    "median": _along,
    "nanmedian": _along,
    "mode": lambda out, *_, **__: 2 if out.size else 0,
    "norm": lambda out, x, p=2, dim=None, *_, **__: 0 if dim is not None and dim != () and not x.ndim else None,
    "roll": lambda out, x, *_, **__: int(not x.size),
    "std_mean": (_moments(1), _moments(0)),
    "topk": lambda out, x, *_, **__: int(not x.ndim),
    "var_mean": (_moments(0), _moments(0)),
}
"""By the public name of a function, which counts instead of what it is made of; a pair where its results differ."""


FILLING = frozenset(("cumsum", "cumprod", "logcumsumexp", "max", "min", "mode"))
"""Functions along an axis that fill their result with their argument where that has none: this torch records."""


def _filled(x: Any, dim: Any = (), **_: Any) -> bool:
    """Whether a variance is one number, which torch computes by itself and fills into its result."""
    one = all(k in dim or n == 1 for k, n in enumerate(x.shape))
    return bool(one and x.size and x.dtype.kind != "c" and x.dtype.itemsize > 2)


def _of_dim(x: Any, dim: Any = None, *_: Any, **__: Any) -> bool:
    return dim is not None


INTO_PLACES: dict[str, tuple[str, Callable[..., bool] | None]] = {
    "abs": ("abs", None),
    "cummax": ("cummax", None),
    "cummin": ("cummin", None),
    "inv": ("_linalg_solve_ex", None),
    "kthvalue": ("kthvalue", None),
    "logsumexp": ("logsumexp", lambda x, **_: x.size > 0),
    "mean": ("sum", None),
    "median": ("median", _of_dim),
    "nan_to_num": ("nan_to_num", None),
    "nanmedian": ("nanmedian", _of_dim),
    "nn.functional.hardtanh": ("hardtanh", None),
    "nn.functional.relu6": ("hardtanh", None),
    "pow": ("pow", lambda base, exponent: not hasattr(base, "dtype") and base != 1),
    "solve": ("linalg_lu_factor_ex", None),
    "std": ("sum", _filled),
    "var": ("sum", _filled),
}
"""Functions and ops that torch computes by another one into a place (``out=``), and when; it refuses that for inference
tensors that claim to require grad, since nothing records them."""

COPYING: dict[str, Any] = {"pow": lambda base, exponent: exponent.__class__ in (int, float) and exponent == 1}
"""Ops that are a copy of their first operand in torch, and when: those of inference tensors are recorded as copies."""


def no_place_for(name: str, args: Any, options: Any) -> str | None:
    """torch's words where it refuses a function of inference tensors that claim to require grad.

    >>> no_place_for("mean", [np.ones(3)], {})[:6], no_place_for("median", [np.ones(3)], {})
    ('sum():', None)
    """
    known, when = INTO_PLACES.get(name, ("", None))
    if not known or (when is not None and not when(*args, **options)):
        return None
    return (
        f"{known}(): functions with out=... arguments don't support automatic differentiation, but one of the "
        "arguments requires grad. It is an inference tensor: use its clone()."
    )


def rewrites(entry: Any, out: Any, args: Any, options: Any) -> int | None:
    """How often torch changes a result of inference tensors, by an entry of the tables.

    >>> rewrites(OF_OPS["mean"], np.ones(()), [np.ones(3)], {}), rewrites(OF_OPS["inv"], None, [], {})
    (2, 3)
    """
    return entry if entry is None or isinstance(entry, int) else entry(out, *args, **options)


def rewritten(made: Any, times: int = 1) -> Any:
    """A result that torch changed in place so many times more; arrays and formulas do not count."""
    if hasattr(made, "more"):
        made.more().counted += times
    return made
