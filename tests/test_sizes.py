"""Sizes that a program composes (n+p of a join, n-1 of a cut) meet leaves that have them by value."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import FormulaError
from symgrad.formula.term import evaluate
from symgrad.tape.formula import read


def gradient_formula(function, *values):
    leaves = [sg.tensor(v, requires_grad=True, name=f"v{k}") for k, v in enumerate(values)]
    function(*leaves).backward()
    named = {f"v{k}": v for k, v in enumerate(values)}
    for leaf in leaves:
        found, term = read(leaf.grad)
        letters = [found[edge].shape for edge in found.sources.values()]
        sizes = dict(zip(itertools.chain(*letters), itertools.chain(*map(np.shape, values)), strict=True))
        np.testing.assert_allclose(evaluate(term, named, sizes), leaf.grad.numpy(), rtol=1e-13)
    return leaves


def test_join_times_a_leaf_of_the_joint_size():
    rng = np.random.default_rng(0)
    gradient_formula(lambda a, b, w: (sg.cat([a, b]) * w * w).sum(), rng.random(3), rng.random(4), rng.random(7))


def test_differences_times_a_leaf():
    rng = np.random.default_rng(1)
    gradient_formula(lambda x, w: ((x[1:] - x[:-1]) ** 2 * w).sum(), rng.random(6), rng.random(5))


def test_differences_are_size_generic():
    x = sg.tensor(np.arange(5.0), requires_grad=True, name="x")
    ((x[1:] - x[:-1]) ** 2).sum().backward()
    fresh = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0])
    want = np.zeros(7)
    want[1:] += 2 * np.diff(fresh)
    want[:-1] -= 2 * np.diff(fresh)
    np.testing.assert_allclose(evaluate(x.grad.term, {"x": fresh}), want)


def test_stack_beside_a_leaf_with_as_many_rows():
    rng = np.random.default_rng(2)
    gradient_formula(lambda a, b, w: (w @ sg.stack([a, b])).sum(), rng.random(3), rng.random(3), rng.random(2))


def test_rows_picked_by_an_index_beside_a_leaf_of_that_size():
    rng = np.random.default_rng(3)
    gradient_formula(lambda x, w: (x[[0, 2]] * w[:, None]).sum(), rng.random((4, 3)), rng.random(2))


def test_a_size_that_no_symbol_tells_is_named():
    x = sg.tensor(np.arange(5.0), requires_grad=True, name="x")
    x.mean().backward()
    with pytest.raises(FormulaError, match="sizes="):
        evaluate(x.grad.term, {})
