"""Hooks on saved tensors: in which order torch calls them."""

from __future__ import annotations

from typing import Any

import pytest

import symgrad as sg

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytestmark = pytest.mark.peer


ORDERS = ["t.mul(x, y)", "t.div(x, y)", "t.atan2(x, y)", "t.hypot(x, y)", "t.pow(x, y)", "x @ y",
          "t.bmm(x[None], y[None])",
          "t.maximum(x, y)", "t.xlogy(x, y)", "t.nn.functional.linear(x, y)", "x.clamp(y, z)", "x.amax(0)", "x.norm(3)",
          "x.std()", "x.logsumexp(0)", "x.prod(0)", "t.mv(x, y[0])", "t.dot(x[0], y[0])",
          "t.lerp(x, y, z)", "t.cross(y.new_ones(3, 1), t.cat([x, x])[:3, :1], dim=0)",
          "t.addcmul(z, x, y)", "t.nn.functional.mse_loss(x, y)", "x.tanh()", "t.tensordot(x, y, 1)"]  # fmt: skip


@pytest.mark.parametrize("call", ORDERS)
def test_hooks_see_what_is_saved_in_torchs_order(call: str) -> None:
    """By torch's names: ``other`` and ``mat2`` before ``self``, and results last; unpacked in the same order."""

    def seen(t: Any) -> Any:
        rows = [[2.0, 0.5], [0.25, 3.0]], [[1.5, 0.75], [0.6, 4.0]], [[0.1, 0.2], [0.3, 0.4]]
        x, y, z = (t.tensor(row, dtype=t.float64, requires_grad=True) for row in rows)
        heard: list[Any] = []

        def note(kind: str) -> Any:
            return lambda a: (heard.append((kind, tuple(a.shape), round(float(a.detach().reshape(-1)[0]), 6))), a)[1]

        with t.autograd.graph.saved_tensors_hooks(note("pack"), note("unpack")):
            out = eval(call, {"t": t, "x": x, "y": y, "z": z})  # noqa: S307
        out.sum().backward()
        return heard

    assert seen(sg) == seen(torch)
