"""What is not entrywise, on arrays of mpmath's numbers: sums, softmax, matrices; and ops that only move entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.formula.digits.matrices import matrix_functions
from symgrad.op import lookup

MOVERS = frozenset({
    "permute", "squeeze", "unsqueeze", "expand", "diagonal", "outer", "matmul", "einsum", "reshape", "cat", "narrow",
    "embed", "stack", "select", "flip", "where", "any", "all", "isin", "getitem", "put", "gather", "scatter_into",
    "index_put", "tril", "triu", "pad", "scatter", "scatter_combine", "scatter_others", "windows", "windows_sum",
    "roll", "amax", "amin", "searchsorted", "one_hot", "adjoint", "chosen", "cumsum", "cumprod", "prod",
})  # fmt: skip
"""Ops whose kernel moves, compares, adds and multiplies entries, whatever they are."""

ORDERERS = ("argmax", "argmin", "argsort", "argkth", "argtop", "argcummax", "argcummin", "argmax_of_pool")
"""Ops that only ask which entries are larger."""


def ranks(x: Any) -> Any:
    """Small numbers in the order of the entries."""
    x = np.asarray(x)
    place = {v: k for k, v in enumerate(sorted({v for v in x.flat if v == v}))}
    return np.array([place.get(v, np.nan) for v in x.flat], float).reshape(x.shape)


def _order_functions(mp: Any) -> dict[str, Callable[..., Any]]:
    def by_ranks(name: str) -> Callable[..., Any]:
        return lambda x, **params: lookup(name).kernel(ranks(x), **params)

    def middle(x: Any, skip_nan: bool) -> Any:
        x = np.asarray(x)
        place = lookup("middle").kernel(ranks(x), skip_nan=skip_nan)
        return x[np.argmax(ranks(x) == place)] if place == place else mp.nan

    return {"middle": middle, **{name: by_ranks(name) for name in ORDERERS}}


def array_functions(mp: Any, each: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """The functions ``(*arrays, **params)``; ``each(name, *arrays)`` calls an entrywise one."""

    def total(x: Any, dim: Any, keepdim: bool) -> Any:
        return np.sum(np.asarray(x), axis=dim, keepdims=keepdim)

    def logsumexp(x: Any, dim: Any, keepdim: bool) -> Any:
        return each("log", total(each("exp", x), dim, keepdim))

    def softmax(x: Any, dim: int) -> Any:
        made = each("exp", x)
        return made / total(made, dim, True)

    def var(x: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
        x = np.asarray(x)
        count = int(np.prod([x.shape[k] for k in dim], dtype=int))
        off = each("abs", x - total(x, dim, True) / count)
        return each("div", total(off * off, dim, keepdim), mp.mpf(max(count - correction, 0)))

    def norm(x: Any, p: Any, dim: Any, keepdim: bool) -> Any:
        size = each("abs", x)
        if np.isinf(p):
            return (np.max if p > 0 else np.min)(size, axis=dim, keepdims=keepdim)
        if p == 0:
            return total(each("ne", size, 0), dim, keepdim)
        return each("pow", total(each("pow", size, mp.mpf(p)), dim, keepdim), 1 / mp.mpf(p))

    def others(x: Any, dim: int) -> Any:
        x = np.moveaxis(np.asarray(x), dim, 0)
        one = np.full_like(x[:1], mp.mpf(1))
        before = np.multiply.accumulate(np.concatenate([one, x[:-1]]), axis=0)
        after = np.multiply.accumulate(np.concatenate([one, x[:0:-1]]), axis=0)[::-1]
        return np.moveaxis(before * after, 0, dim)

    def fourier(x: Any, dims: Sequence[int], inverse: bool, norm: str) -> Any:
        x = np.asarray(x)
        scaled = {"ortho": 0.5, "forward": 0 if inverse else 1, "backward": 1 if inverse else 0}[norm or "backward"]
        for dim in dims:
            n = x.shape[dim]
            roots = np.array([mp.expjpi(mp.mpf(2 * k if inverse else -2 * k) / n) for k in range(n)], dtype=object)
            matrix = roots[np.outer(np.arange(n), np.arange(n)) % n]
            x = np.moveaxis(np.tensordot(matrix, x, (1, dim)), 0, dim) / mp.power(n, scaled)
        return x

    def cast(x: Any, dtype: Any) -> Any:
        kind = np.dtype(dtype).kind
        if kind == "b":
            return each("ne", x, 0)
        if kind in "iu":
            return np.asarray(each("trunc", x)).astype(np.int64)
        return x

    return {
        **_order_functions(mp),
        "sum": total,
        "trace": lambda x: np.trace(np.asarray(x)),
        "logsumexp": logsumexp,
        "softmax": softmax,
        "logcumsumexp": lambda x, dim: each("log", np.cumsum(each("exp", x), dim)),
        "var": var,
        "std": lambda x, dim, correction, keepdim: each("sqrt", var(x, dim, correction, keepdim)),
        "norm": norm,
        "prod_others": others,
        "divisible": lambda out, x: np.bool_(np.all(each("ne", x, 0))),
        "fourier": fourier,
        "cast": cast,
        "full": lambda shape, value, dtype: np.full(shape, value, object),
        "eye": lambda n, dtype: np.eye(n, dtype=int),
        "exponent": lambda x: np.frompyfunc(lambda v: mp.frexp(v)[1], 1, 1)(x),
        "view_as_real": lambda x: np.stack([each("real", x), each("imag", x)], axis=-1),
        "view_as_complex": lambda x: each("complex", x[..., 0], x[..., 1]),
        **matrix_functions(mp),
    }
