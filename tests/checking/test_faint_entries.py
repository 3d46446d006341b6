"""Mistakes in entries that are 1e-13 of the largest one, which its rounding hides: they keep their ratio everywhere."""

from __future__ import annotations

import numpy as np
import pytest

from symgrad.check import check


def weighted(x, s):
    return (s * x**2).sum()


X, S = np.array([1.0, 2.0, 1.5]), np.array([1e8, 1.0, 1e-8])
WRONG = {
    "a factor": (lambda x: np.exp(x).sum(), lambda x: np.exp(x) * np.array([1, 1, 2.0]), (np.array([1.0, 2, -40]),)),
    "a sign": (weighted, lambda x, s: 2 * s * x * np.array([1, 1, -1.0]), (X, S)),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_in_a_faint_entry_is_found(name):
    report = check(*WRONG[name][:2], *WRONG[name][2], argnums=0)
    assert not report.ok
    assert report.diagnosis.kind == "entry"
    assert "x[2]" in report.diagnosis.sentence
    assert report.mend is None


OTHERS = {
    "another function": (lambda x: np.exp(x).sum(), lambda x: np.exp(x) * np.where(x < -40, x**2, 1), [1.0, 2, -60]),
    "another argument": (lambda x: np.exp(-x * x).sum(), lambda x: np.where(x > 9, -1, -2 * x) * np.exp(-x * x),
                         [0.3, 1.0, 10.0]),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_a_faint_entry_of_another_function_is_found(name):
    """Its ratio is another one at every point, as that of rounding is."""
    f, grad, x = OTHERS[name]
    report = check(f, grad, np.array(x))
    assert not report.ok
    assert report["x"].worst == (2,)


def softmax_loss(x):
    return np.log(np.exp(x).sum()) - x[3]


RIGHT = {
    "of their own": (weighted, lambda x, s: 2 * s * x, (X, S)),
    "left by rounding": (softmax_loss, lambda x: np.exp(x) / np.exp(x).sum() - np.eye(4)[3], ([1.0, 2, -50, 40],)),
    "saturated": (lambda x: np.tanh(x).sum(), lambda x: 1 - np.tanh(x) ** 2, ([0.1, 15.0, 17.0],)),
    "a step of rounding": (
        lambda x: np.log1p(np.exp(-x)).sum(),
        lambda x: 1 / (1 + np.exp(-x)) - 1,
        ([-1.0, 36.0, 30.0],),
    ),
    "of arguments that are a direction": (
        lambda x: np.sin(np.pi / 2 * x).sum(),
        lambda x: np.pi / 2 * np.sin(np.pi / 2 * (x + 1)),
        ([1.0, 0, 0],),
    ),
    "of arguments that are 0": (
        lambda x: np.sin(x + np.pi / 2).sum() + 2 * x[1],
        lambda x: np.sin(x + np.pi) + np.array([0.0, 2]),
        ([0.0, 0.3],),
    ),
    "cancelled among small ones": (
        lambda x: 1e-30 * np.log(np.exp(x[:3]).sum()) - 1e-30 * x[:3].mean() + x[3] ** 2,
        lambda x: np.append(1e-30 * (np.exp(x[:3]) / np.exp(x[:3]).sum() - 1 / 3), 2 * x[3]),
        ([0.5, 0.5, 0.5, 2.0],),
    ),
    "cancelled": (lambda x: ((x - x.mean()) ** 2).sum(), lambda x: 2 * (x - x.mean()), ([1e9, -1e9, 0, 1, -1],)),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_rounding_makes_of_a_faint_entry_is_no_mistake(name):
    f, grad, args = RIGHT[name]
    assert check(f, grad, *map(np.array, args), argnums=0)
