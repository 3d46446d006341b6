"""Every printed string of generated derivatives reads back to the derivative, at three sizes; canonical forms stay."""

from __future__ import annotations

import warnings

import pytest

from tests.formulas.generator import Generator
from tests.formulas.roundtrip import problems

COUNT = 2_000
"""Expressions of the slow run; the default run takes every twentieth."""


@pytest.mark.parametrize("batch", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 20))])
def test_texts_of_generated_derivatives_read_back(batch: int) -> None:
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(batch, COUNT, 20):
            made, term = Generator(seed).derivative()
            wrong += [f"seed {seed}: {problem}" for problem in problems(made, term, seed)]
    assert not wrong, "\n".join(wrong[:10])
