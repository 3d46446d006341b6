"""What every test starts from: the same default dtype and the same random numbers."""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import symgrad as sg
from symgrad import dtypes
from symgrad.autograd.sweeps import autopsy
from symgrad.check import inquiry, report
from symgrad.check.diagnosis import case, proven
from symgrad.check.graph import surgery
from symgrad.check.mending import search
from symgrad.proving import exact

settings.register_profile("any machine", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
# Hypothesis draws constants of all modules that are loaded, too, and would parse the whole package for them at every
# start (6 s in each worker); which examples are drawn would depend on what else runs.
with contextlib.suppress(ImportError):
    from hypothesis.internal.conjecture import providers

    providers._get_local_constants = lambda: providers._local_constants


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what stays until the end: the modules and thousands of tests."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def fresh_state() -> Iterator[None]:
    """Reset what a test may have set globally.

    What the tests before asked of sizes belongs to a graph between them and the next one.
    """
    sg.manual_seed(0)
    _ = sg.ones((), requires_grad=True) + 1
    yield
    dtypes.set_default_dtype(np.float32)


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count the time of searches by what they compute, slowly: a busy machine finds no less, nor does a slow one."""

    def clock() -> float:
        return time.thread_time() / 4

    for module in (case, inquiry, proven, report, search, surgery):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=clock, thread_time=clock))
    monkeypatch.setattr(autopsy, "_SECONDS", 60.0)
    monkeypatch.setattr(exact, "SECONDS", 60.0)


@pytest.fixture
def rng() -> np.random.Generator:
    """Reproducible random numbers."""
    return np.random.default_rng(20261121)
