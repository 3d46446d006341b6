"""Hessians here and in torch.func and JAX: those of Laue, Mitterreiter and Giesen (NeurIPS 2018), and a sparse one.

Here a Hessian is a program of the small arrays that it is made of (``structured_hessian``), or of its nonzeros
(``sparse_hessian``); "dense" writes the array out that the peers give.  JAX runs jitted, in double precision.
Tracing and compiling are not timed.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from symgrad import func
from symgrad.compiler import compile as compiled
from symgrad.proving.benches.clock import Run, interleaved

PEERS = ("torch", "jax")


class Problem(NamedTuple):
    """A function, made of the calls of a library, with its arguments: the Hessian is that by the first."""

    title: str
    function: Callable[[Any], Callable[..., Any]]
    args: tuple[Any, ...]
    own: Callable[[Any, tuple[Any, ...]], Run]


class Row(NamedTuple):
    """Times in seconds by contestant, the first that of the structured result, and the largest difference of any two.

    ``scale``: the largest entry of the Hessian.
    """

    title: str
    times: dict[str, float]
    difference: float
    scale: float


def rows(peers: Sequence[str], scale: float, seconds: float) -> Iterator[Row]:
    """One problem after the other, measured in turns."""
    for problem in problems(scale):
        runs = {
            "symgrad": problem.own(problem.function(np), problem.args),
            "dense": _dense(problem.function(np), problem.args),
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # peers deprecate parts of their own that they use
            runs |= {peer: _OF[peer](problem) for peer in peers}
            times = interleaved(list(runs.values()), seconds)
            found = [_written_out(run()) for run in runs.values()]
        apart = max(float(abs(x - found[0]).max()) for x in found)
        yield Row(problem.title, dict(zip(runs, times, strict=True)), apart, float(abs(found[0]).max()))


def missing(peers: Sequence[str]) -> list[str]:
    """Those of the peers that are not installed."""
    return [peer for peer in peers if importlib.util.find_spec(peer) is None]


def problems(scale: float) -> list[Problem]:
    """The four problems; their sizes are those of the paper's experiments times ``scale``."""
    rng = np.random.default_rng(0)

    def size(n: int) -> int:
        return max(2, round(n * scale))

    n = size(500)
    quadratic = (rng.standard_normal(n), rng.standard_normal((n, n)))
    rows, columns = size(1000), size(200)
    logistic = (
        rng.standard_normal(columns),
        rng.standard_normal((rows, columns)),
        np.sign(rng.standard_normal(rows)),
    )
    side, rank = size(150), 5
    factorisation = tuple(rng.standard_normal(s) for s in ((side, rank), (side, side), (side, rank)))
    chain = size(1000)
    return [
        Problem(f"xᵀAx, n = {n}", lambda _: lambda x, A: x @ A @ x, quadratic, _structured),
        Problem(
            f"Σ log(1 + exp(-y ⊙ Xw)), X {rows} x {columns}",
            lambda lib: lambda w, X, y: lib.log1p(lib.exp(-y * (X @ w))).sum(),
            logistic,
            _structured,
        ),
        Problem(
            f"‖T - UVᵀ‖², T {side} x {side}, k = {rank}",
            lambda _: lambda U, T, V: ((T - U @ V.T) ** 2).sum(),
            factorisation,
            _structured,
        ),
        Problem(
            f"Σ 100 (x' - x²)² + (1 - x)², n = {chain}",
            lambda _: lambda x: (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum(),
            (rng.standard_normal(chain),),
            _sparse,
        ),
    ]


def _structured(function: Any, args: tuple[Any, ...]) -> Run:
    take = func.structured_hessian(function)
    return lambda: take(*args)


def _sparse(function: Any, args: tuple[Any, ...]) -> Run:
    pattern = func.sparse_hessian(function)(*args)
    take = compiled(func.sparse_hessian(function, pattern=pattern), *args)
    return lambda: take(*args)


def _dense(function: Any, args: tuple[Any, ...]) -> Run:
    take = compiled(func.hessian(function), *args)
    return lambda: take(*args)


def _of_torch(problem: Problem) -> Run:
    import torch

    tensors = [torch.tensor(a) for a in problem.args]
    take = torch.func.hessian(problem.function(torch))
    return lambda: take(*tensors).numpy()


def _of_jax(problem: Problem) -> Run:
    import jax

    jax.config.update("jax_enable_x64", True)
    arrays = [jax.numpy.asarray(a) for a in problem.args]
    take = jax.jit(jax.hessian(problem.function(jax.numpy)))
    return lambda: take(*arrays).block_until_ready()


_OF = {"torch": _of_torch, "jax": _of_jax}


def _written_out(value: Any) -> Any:
    """A result as an array."""
    if not isinstance(value, tuple):
        return np.asarray(value.todense() if hasattr(value, "todense") else value)
    data, columns, starts = value
    out = np.zeros((len(starts) - 1,) * 2)
    out[np.repeat(np.arange(len(out)), np.diff(starts)), columns] = data
    return out
