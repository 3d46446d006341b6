"""Hessians here and in torch.func and jax, interleaved in one process: prints times and ratios, asserts nothing.

Run ``python tests/bench/hessians.py``; peers that are not installed are left out.  The problems are those of Laue,
Mitterreiter and Giesen (NeurIPS 2018): a quadratic form, logistic regression and a matrix factorisation, and a
tridiagonal one.  A ratio is a peer's time by that of symgrad's first column, which holds the small arrays of the result
(``structured_hessian``) or its nonzeros (``sparse_hessian``); "dense" writes out the array that the peers give, as a
compiled program.  JAX runs jitted, in double precision; compiling is not timed.  The last column is the largest
difference of the written-out results.
"""

from __future__ import annotations

import importlib.util
import time

import numpy as np

import symgrad as sg

rng = np.random.default_rng(0)


def quadratic(n):
    return (lambda lib: lambda x, A: x @ A @ x), (rng.standard_normal(n), rng.standard_normal((n, n)))


def logistic(m, n):
    args = (rng.standard_normal(n), rng.standard_normal((m, n)), np.sign(rng.standard_normal(m)))
    return (lambda lib: lambda w, X, y: lib.log1p(lib.exp(-y * (X @ w))).sum()), args


def factorisation(n, m, k):
    args = (rng.standard_normal((n, k)), rng.standard_normal((n, m)), rng.standard_normal((m, k)))
    return (lambda lib: lambda U, T, V: ((T - U @ V.T) ** 2).sum()), args


def tridiagonal(n):
    return (lambda lib: lambda x: (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()), (
        rng.standard_normal(n),
    )


# ------------------------------------------------------------------------------------------------ libraries


def of_torch(problem, args):
    import torch

    torch.set_num_threads(1)
    tensors = [torch.tensor(a) for a in args]
    take = torch.func.hessian(problem(torch))
    return lambda: take(*tensors).numpy()


def of_jax(problem, args):
    import jax

    jax.config.update("jax_enable_x64", True)

    arrays = [jax.numpy.asarray(a) for a in args]
    take = jax.jit(jax.hessian(problem(jax.numpy)))
    take(*arrays).block_until_ready()
    return lambda: take(*arrays).block_until_ready()


def structured(problem, args):
    take = sg.func.structured_hessian(problem(sg))
    return lambda: take(*args)


def sparse(problem, args):
    first = sg.func.sparse_hessian(problem(sg))(*args)
    take = sg.func.sparse_hessian(problem(sg), pattern=first)
    return lambda: take(*args)


def dense(problem, args):
    take = sg.compile(sg.func.hessian(problem(sg)), *args)
    return lambda: take(*args)


PEERS = {"torch": of_torch, "jax": of_jax}


# ------------------------------------------------------------------------------------------------ table


def timed(f, number):
    start = time.perf_counter()
    for _ in range(number):
        f()
    return (time.perf_counter() - start) / number


def interleaved(functions, seconds=3.0, turn=0.005):
    """The best time of each function, measured in turns of some milliseconds each."""
    for f in functions:
        f()  # traces, if it has to
    numbers = [max(1, int(turn / timed(f, 1))) for f in functions]
    best = [float("inf")] * len(functions)
    end = time.perf_counter() + seconds
    for k in range(100):
        best = [min(b, timed(f, n)) for b, f, n in zip(best, functions, numbers, strict=True)]
        if k >= 2 and time.perf_counter() > end:
            break
    return best


def written_out(value):
    """A result as an array."""
    return np.asarray(value.todense().numpy() if hasattr(value, "todense") else value)


def row(title, made, own, peers):
    problem, args = made
    functions = [own(problem, args), dense(problem, args), *(PEERS[p](problem, args) for p in peers)]
    times = interleaved(functions)
    found = [written_out(f()) for f in functions]
    apart = max(abs(x - found[0]).max() for x in found)
    cells = "".join(f"{t * 1e6:12.1f} ({t / times[0]:8.1f}x)" for t in times[1:])
    print(f"{title:34s}{times[0] * 1e6:12.1f}{cells}   {apart:.1e}")


def main():
    peers = [p for p in PEERS if importlib.util.find_spec(p)]
    print(f"{'µs (ratio to the first column)':34s}{'symgrad':>12s}" + "".join(f"{p:>23s}" for p in ["dense", *peers]))
    for n in (100, 500):
        row(f"xᵀAx, n = {n}", quadratic(n), structured, peers)
    for m, n in ((1000, 20), (1000, 200)):
        row(f"logistic, X {m} x {n}", logistic(m, n), structured, peers)
    for n in (50, 150):
        row(f"‖T - UVᵀ‖², T {n} x 100, k = 5", factorisation(n, 100, 5), structured, peers)
    for n in (100, 1000):
        row(f"tridiagonal, n = {n}", tridiagonal(n), sparse, peers)
    for n in (10_000, 100_000):
        problem, args = tridiagonal(n)
        start = time.perf_counter()
        first = sg.func.sparse_hessian(problem(sg))(*args)
        search = time.perf_counter() - start
        (again,) = interleaved([sparse(problem, args)], 1.0)
        print(f"tridiagonal, n = {n}: {first.nnz} entries, first call {search:.2f} s, with its pattern {again:.3f} s")


if __name__ == "__main__":
    main()
