"""Programs as people write them for torch run with symgrad, and give the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from tests.parity import practice, programs

torch = pytest.importorskip("torch", reason="torch is the referee here: pip install torch==2.13.0")


def numbers(found) -> list[float]:
    """All numbers of nested lists and tuples."""
    return [x for part in found for x in numbers(part)] if isinstance(found, (list, tuple)) else [float(found)]


@pytest.mark.filterwarnings("ignore:.torch.jit", "ignore:reduction. .mean. divides")
@pytest.mark.parametrize("program", programs.PROGRAMS + practice.PROGRAMS, ids=lambda p: p.__name__)
def test_program(program):
    rows = []
    for module in (sg, torch):
        before = module.get_default_dtype()
        module.set_default_dtype(module.float64)
        module.manual_seed(0)
        try:
            rows.append(numbers(program(module)))
        finally:
            module.set_default_dtype(before)
    assert len(rows[0]) == len(rows[1])
    np.testing.assert_allclose(rows[0], rows[1], rtol=1e-8, atol=1e-10)
