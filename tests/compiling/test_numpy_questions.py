"""Programs of functions in NumPy's words: what NumPy read of the values is not frozen into the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg

V = np.array([0.3, 0.5, 0.2, 0.9])
K = np.arange(4.0)
TABLE = np.array([1.0, 5.0, 9.0, 20.0, 3.0])

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "argsort": lambda v: np.sum(v[np.argsort(v)] * K),
    "argsort reversed": lambda v: np.sum(v[np.argsort(v)[::-1][:2]]),
    "nonzero": lambda v: np.sum(v[np.nonzero(v > 0.4)] ** 2),
    "flatnonzero": lambda v: np.sum(v[np.flatnonzero(v > 0.4)]),
    "where": lambda v: np.sum(v[np.where(v > 0.4)]),
    "searchsorted": lambda v: np.sum(TABLE[np.searchsorted([0.25, 0.45, 0.7], v)] * v),
    "digitize": lambda v: np.sum(TABLE[np.digitize(v, [0.3, 0.6])] * v),
    "any": lambda v: np.sum(v) if np.any(v > 0.7) else np.sum(v**2),
    "all": lambda v: np.where(np.all(v > 0.1), np.sum(v), np.sum(v**2)),
    "allclose": lambda v: np.sum(v) if np.allclose(v, 0.5, atol=0.3) else np.sum(v**2),
    "count_nonzero": lambda v: np.sum(v) * np.count_nonzero(v > 0.4),
    "isclose": lambda v: np.sum(v * np.isclose(v, 0.3, atol=0.2)),
    "isin": lambda v: np.sum(v * np.isin(np.round(v), [1.0])),
    "lexsort": lambda v: np.sum(v[np.lexsort((v,))] * K),
    "argmax": lambda v: v[np.argmax(v)] * 2,
    "unravel_index": lambda v: v.reshape(2, 2)[np.unravel_index(np.argmax(v), (2, 2))] ** 2,
    "ravel_multi_index": lambda v: v[np.ravel_multi_index((np.argmax(v[:2]), 1), (2, 2))] ** 2,
    "take_along_axis": lambda v: np.sum(np.take_along_axis(v, np.argsort(v)[:2], 0)),
    "compress": lambda v: np.sum(np.compress(v > 0.4, v) ** 2),
    "extract": lambda v: np.sum(np.extract(v > 0.4, v)),
    "delete": lambda v: np.sum(np.delete(v, np.argmax(v))),
    "interp": lambda v: np.sum(np.interp(v, [0.0, 0.4, 1.0], [0.0, 1.0, 5.0]) ** 2),
    "interp between points": lambda v: np.sum(np.interp(np.array([0.4]), np.sort(v), K**2)),
    "interp around": lambda v: np.sum(np.interp(np.array([0.4, 2.5]), v, K, period=1.0)),
    "piecewise": lambda v: np.sum(np.piecewise(v, [v > 0.4, v <= 0.4], [lambda t: t * 2, lambda t: t * t])),
    "choose": lambda v: np.sum(np.choose((v > 0.4) * 1, [v, v * 3])),
    "unwrap": lambda v: np.sum(np.unwrap(v * 9) ** 2),
    "trim_zeros": lambda v: np.sum(np.trim_zeros(np.maximum(v - 0.4, 0)) ** 2),
    "unique": lambda v: np.sum(np.unique(v) * K),
    "partition": lambda v: np.sum(np.partition(v, 1)[:2]),
    "nansum": lambda v: np.nansum(np.where(v > 0.4, v, np.nan)),
    "sum where": lambda v: np.sum(v, where=v > 0.4),
    "mean where": lambda v: np.mean(v, where=v > 0.4),
    "roots": lambda v: np.sum(np.abs(np.roots(v))),
    "lstsq": lambda v: np.sum(np.linalg.lstsq(np.stack([v, v**2], 1), v**3)[0]),
    "matrix_rank": lambda v: np.sum(v) * np.linalg.matrix_rank(v[:, None] * v),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_programs_at_other_values(name: str) -> None:
    f = FUNCTIONS[name]
    slope = sg.func.grad(f)
    program, derived, fast = sg.compile(f, V), sg.compile(slope, V), sg.jit(f)
    for _ in range(3):
        fast(V)
    rng = np.random.default_rng(7)
    for v in rng.uniform(0.05, 1, (4, 4)):
        np.testing.assert_allclose(program(v), f(sg.tensor(v)), rtol=1e-10)
        np.testing.assert_allclose(derived(v), slope(v), rtol=1e-8)
        np.testing.assert_array_equal(fast(v), f(sg.tensor(v)))


def test_an_answer_is_less_than_the_values() -> None:
    """The same order of other values takes the same way: nothing is traced again."""
    program = sg.compile(FUNCTIONS["argsort"], V)
    program(V * 0.5)
    program(V**2)
    assert program.traces == 1
    program(V[::-1].copy())
    assert program.traces == 2


@pytest.mark.parametrize(
    "f",
    [
        lambda A: np.linalg.svd(A)[1].sum(),
        lambda A: np.linalg.svd(A)[0][:, 0].sum() ** 2,
        lambda A: np.linalg.lstsq(A, A[:, 0] ** 2, rcond=None)[0].sum(),
    ],
    ids=["singular values", "singular vectors", "least squares"],
)
def test_one_program_serves_all_matrices(f):
    """The values of a matrix were looked at for what a square one has no need of, and each matrix was traced anew."""
    rng = np.random.default_rng(2)
    program = sg.compile(sg.func.grad(f), rng.random((3, 3)))
    for _ in range(20):
        A = rng.random((3, 3))
        np.testing.assert_allclose(program(A), sg.func.grad(f)(sg.tensor(A)).numpy(), rtol=1e-8, atol=1e-10)
    assert program.traces == 1
