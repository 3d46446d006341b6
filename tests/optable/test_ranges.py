"""What entries state of values: between which numbers they lie, and that they never fall."""

from __future__ import annotations

import numpy as np
import pytest

from symgrad.op import TABLE
from symgrad.proving.laws import is_data
from symgrad.proving.samples import cases, make_case
from symgrad.tape.record import computed

STATED = [(name, k) for name, k in cases() if TABLE[name].rises or TABLE[name].bounds]


def test_some_entries_state_it() -> None:
    assert {"exp", "amax", "mean", "tanh"} <= {name for name, _ in STATED}


@pytest.mark.parametrize(("name", "k"), STATED)
def test_values_lie_between_the_bounds_and_do_not_fall(name: str, k: int) -> None:
    op = TABLE[name]
    args, params = make_case(name, k, dtype=np.float64)
    rng = np.random.default_rng(0)
    low, high = op.bounds or (-np.inf, np.inf)
    for scale in (0.0, 0.1, 1.0, 30.0, 1000.0):
        with np.errstate(all="ignore"):
            moved = [a + scale * rng.uniform(size=np.shape(a)) if _is_real(a) else a for a in args]
            before, after = (np.asarray(computed(op, list(row), params)) for row in (args, moved))
        for value in (before, after):
            assert np.all((value >= low) & (value <= high) | np.isnan(value))
        if op.rises:
            slack = 1e-12 * np.abs(before)
            assert np.all((after >= before - slack) | np.isnan(before)), (name, scale)


def _is_real(a: object) -> bool:
    return is_data(a) and getattr(a, "dtype", np.dtype(float)).kind == "f"
