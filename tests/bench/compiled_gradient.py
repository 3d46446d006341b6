"""Compiled gradients beside hand-written NumPy, interleaved in one process: prints ratios, asserts nothing.

Run ``python tests/bench/compiled_gradient.py``.  A ratio of 1 means as fast as the hand-written line.
"""

from __future__ import annotations

import time

import numpy as np

import symgrad as sg
from symgrad.ops.elementwise.smooth import softplus

rng = np.random.default_rng(0)


def loss(X, y, w, lam):
    """The demonstration: regularised logistic regression."""
    return softplus(-y * (X @ w)).mean() + lam / 2 * (w @ w)


@np.errstate(over="ignore")
def gradient_by_hand(X, y, w, lam):
    return lam * w - X.T @ (y / (1 + np.exp(y * (X @ w)))) / len(y)


@np.errstate(over="ignore")
def gradient_by_hand_rows(X, y, w, lam):
    return lam * w - (y / (1 + np.exp(y * (X @ w)))) @ X / len(y)


@np.errstate(over="ignore")
def hessian_by_hand(X, y, w, lam):
    s = 1 / (1 + np.exp(y * (X @ w)))
    return (X.T * (s * (1 - s) / len(y))) @ X + lam * np.eye(len(w))


def tanh_by_hand(w, x):
    t = np.tanh(w * x)
    return (1 - t * t) * x


def interleaved(functions, args, repeats=15, target=0.02):
    """Best time of each function, measured in turns."""
    start = time.perf_counter()
    functions[0](*args)
    number = max(1, int(target / max(time.perf_counter() - start, 1e-7)))
    best = [float("inf")] * len(functions)
    for _ in range(repeats):
        for k, f in enumerate(functions):
            start = time.perf_counter()
            for _ in range(number):
                f(*args)
            best[k] = min(best[k], (time.perf_counter() - start) / number)
    return best


def row(title, compiled, hands, args):
    program = compiled.program.function
    times = interleaved([compiled, program, *hands], args)
    hand = min(times[2:])
    print(
        f"{title:42s} hand {hand * 1e6:10.2f} µs   function ×{times[1] / hand:5.2f}   with checks ×{times[0] / hand:5.2f}"
    )


def main():
    for n, m in ((100, 5), (1000, 20), (1000, 200), (10000, 100)):
        args = (rng.standard_normal((n, m)), np.sign(rng.standard_normal(n)), rng.standard_normal(m), np.float64(0.1))
        gradient = sg.compile(sg.func.grad(loss, argnums=2), *args)
        row(f"logistic gradient, X {n} × {m}", gradient, [gradient_by_hand, gradient_by_hand_rows], args)
    for n, m in ((1000, 20), (1000, 200)):
        args = (rng.standard_normal((n, m)), np.sign(rng.standard_normal(n)), rng.standard_normal(m), np.float64(0.1))
        row(f"logistic Hessian, X {n} × {m}", sg.compile(sg.func.hessian(loss, argnums=2), *args), [hessian_by_hand], args)
    for n in (10, 1000, 100000):
        args = (rng.standard_normal(n), rng.standard_normal(n))
        compiled = sg.compile(sg.func.grad(lambda w, x: sg.tanh(w * x).sum()), *args)
        row(f"gradient of Σ tanh(w x), n = {n}", compiled, [tanh_by_hand], args)


if __name__ == "__main__":
    main()
