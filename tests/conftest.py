"""What every test starts from: the same default dtype and the same random numbers."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import numpy as np
import pytest

import symgrad as sg
from symgrad import dtypes


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what stays until the end: the modules and thousands of tests."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def fresh_state() -> Iterator[None]:
    """Reset what a test may have set globally."""
    sg.manual_seed(0)
    yield
    dtypes.set_default_dtype(np.float32)


@pytest.fixture
def rng() -> np.random.Generator:
    """Reproducible random numbers."""
    return np.random.default_rng(20261121)
