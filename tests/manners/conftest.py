"""What PyTorch's own autograd tests demand, one test per demand, in our words and with our inputs.

Each file is one chapter (backward and grad, hooks, …); each test bears the name under which PyTorch tests the same
behaviour.  Every test runs twice, on symgrad and on torch: that torch passes proves the test right.  What symgrad
cannot meet bears the mark ``except_symgrad`` with the reason, a strict ``xfail`` there: the tests are the list of
exceptions.
"""

from __future__ import annotations

from types import ModuleType

import pytest

import symgrad


@pytest.fixture(params=["symgrad", pytest.param("torch", marks=pytest.mark.peer)])
def t(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module under test; torch's half is skipped where torch is not installed.

    ``@pytest.mark.except_symgrad("reason")`` on a test says that symgrad must fail it, and why; torch still must pass.
    """
    if request.param == "symgrad":
        if exception := request.node.get_closest_marker("except_symgrad"):
            request.applymarker(pytest.mark.xfail(reason=exception.args[0], strict=True))
        monkeypatch.setattr("symgrad.notices._given", set())  # each test by itself, whatever ran before
        return symgrad
    torch = pytest.importorskip("torch", reason="torch, the referee of these tests, is not installed")
    torch.manual_seed(0)
    torch.set_warn_always(True)
    return torch
