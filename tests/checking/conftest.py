"""What the tests of checks start from: what is told from the function alone, which takes less time."""

from __future__ import annotations

import pytest

from symgrad.check import inquiry


@pytest.fixture(autouse=True)
def no_mending(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not look for lines to change; that is what test_mending is about."""
    monkeypatch.setattr(inquiry, "FIRST_MENDING", 0)
    monkeypatch.setattr(inquiry, "LONGEST_MENDING", 0)
