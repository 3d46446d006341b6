"""Every printed string of generated derivatives reads back to the derivative, at three sizes; canonical forms stay."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest

from tests.formulas.generator import Generator, WideGenerator
from tests.formulas.roundtrip import problems, problems_of_a_tensor

COUNT = 2_000
"""Expressions of the slow run; the default run takes every fortieth."""

WIDE = 600
"""The same of the wide profile."""


BATCHES = [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 40))]


def problems_of_seeds(generator: type[Generator], seeds: range) -> list[str]:
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in seeds:
            made, term = generator(seed).derivative()
            wrong += [f"seed {seed}: {problem}" for problem in problems(made, term, seed)]
    return wrong


@pytest.mark.parametrize("batch", BATCHES)
def test_texts_of_generated_derivatives_read_back(batch: int) -> None:
    wrong = problems_of_seeds(Generator, range(batch, COUNT, 40))
    assert not wrong, "\n".join(wrong[:10])


@pytest.mark.parametrize("batch", BATCHES)
def test_texts_of_the_wide_profile_read_back(batch: int) -> None:
    wrong = problems_of_seeds(WideGenerator, range(batch, WIDE, 40))
    assert not wrong, "\n".join(wrong[:10])


@pytest.mark.parametrize("seed", [105, 110, 124, 201, 855, 977, 1068, 1282, 1345, 1466])
def test_texts_of_programs_with_many_cases_read_back(seed: int) -> None:
    """Telling cases apart takes no steps from the rest; quotients of entries stay inside of their sum, and cancel."""
    wrong = problems_of_seeds(Generator, range(seed, seed + 1))
    assert not wrong, "\n".join(wrong[:10])


@pytest.mark.parametrize("seed", [4812, 10328, 50086, 60069, 60224, 60236])
def test_texts_of_seeds_that_did_not_read_back(seed: int) -> None:
    wrong = problems_of_seeds(WideGenerator, range(seed, seed + 1))
    assert not wrong, "\n".join(wrong[:10])


@pytest.mark.slow
def test_texts_of_the_set_of_identities_read_back() -> None:
    shared = Path(__file__).parents[3] / "shared"
    if not (shared / "data" / "formulas_public.jsonl").exists():
        pytest.skip("the set of identities is not here")
    assert not problems_of_the_set(shared)


def problems_of_the_set(shared: Path) -> list[str]:
    """What is wrong with the texts of the derivatives of the set, and which canonical forms change again."""
    sys.path.insert(0, str(shared / "tools"))
    import check_formulas as tool

    adapter, wrong = tool.SymgradAdapter(), []
    for entry in tool.load(str(shared / "data" / "formulas_public.jsonl")):
        for which in (0, 1):
            values = tool.sample(entry, which)
            tensor = tool.derive(entry, adapter, values)
            wrong += [f"{entry['id']}: {problem}" for problem in problems_of_a_tensor(tensor, values)]
    return wrong
