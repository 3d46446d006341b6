"""Eager forward + backward against torch, interleaved in one run: ``python tests/bench/eager.py``.

A chain of 999 operations, y <- tanh(y*a + b), then the gradient with respect to y, a and b.  Prints the time per
operation, the ratio to torch, and the bytes of graph that each operation leaves.  One thread, float64.
"""

from __future__ import annotations

import gc
import time
import tracemalloc

import numpy as np

import symgrad as sg

LIMITS = {(): 0.35, (3,): 0.6, (1000,): 0.65}
OPERATIONS = 999


def symgrad_chain(shape, n=OPERATIONS):
    leaves = [sg.tensor(np.full(shape, v), requires_grad=True) for v in (0.5, 1.3, 0.1)]

    def run():
        y, a, b = leaves
        for _ in range(n // 3):
            y = sg.tanh(y * a + b)
        return sg.autograd.grad(y.sum() if shape else y, leaves)

    return run


def torch_chain(shape, n=OPERATIONS):
    import torch

    torch.set_num_threads(1)
    leaves = [torch.tensor(np.full(shape, v), requires_grad=True) for v in (0.5, 1.3, 0.1)]

    def run():
        y, a, b = leaves
        for _ in range(n // 3):
            y = torch.tanh(y * a + b)
        return torch.autograd.grad(y.sum() if shape else y, leaves)

    return run


def least(runs, rounds=25):
    """The least time of each contestant over interleaved rounds; it takes out time-slicing by other jobs."""
    best = [float("inf")] * len(runs)
    for _ in range(rounds):
        for k, run in enumerate(runs):
            start = time.perf_counter()
            run()
            best[k] = min(best[k], time.perf_counter() - start)
    return best


def bytes_per_operation(shape, n=99_999):
    y, a, b = (sg.tensor(np.full(shape, v), requires_grad=True) for v in (0.5, 1.3, 0.1))
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(n // 3):
        y = sg.tanh(y * a + b)
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return (after - before) / n


def main():
    try:
        import torch  # noqa: F401
    except ImportError:
        print("torch is not installed: pip install torch==2.13.0 (CPU)")
        return
    print(f"{'shape':>8} {'symgrad us/op':>14} {'torch us/op':>12} {'ratio':>6} {'goal':>6}")
    for shape, limit in LIMITS.items():
        runs = [symgrad_chain(shape), torch_chain(shape)]
        for ours, theirs in zip(runs[0](), runs[1](), strict=True):
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-10)
        ours, theirs = (t / OPERATIONS * 1e6 for t in least(runs))
        print(f"{shape!s:>8} {ours:14.2f} {theirs:12.2f} {ours / theirs:6.2f} {limit:6.2f}")
    print(f"graph bytes per operation, 0-d: {bytes_per_operation(()):.0f} (goal 400)")


if __name__ == "__main__":
    main()
