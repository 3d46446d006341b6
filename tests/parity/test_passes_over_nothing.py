"""Passes that reach nothing, or places and leaves without entries: they run, save and give zeros as in torch."""

from __future__ import annotations

import pytest

from tests.parity.test_changes import alike

pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]


@pytest.mark.parametrize("asked", ["v", "x"])
@pytest.mark.parametrize("function", ["floor", "sin", "clone"])
def test_a_pass_that_asks_only_for_what_is_out_of_reach_runs_nothing(asked, function):
    program = f"""
x = t.ones(4)
v = x.transpose(0, -1)
x.requires_grad = True
s = v.{function}().sin().sum()
s.backward()
s.backward(inputs=[{asked}])
"""
    alike(program, "None if x.grad is None else x.grad.tolist()")


@pytest.mark.parametrize("index", ["t.zeros(2, 0, dtype=t.int64)", "t.zeros(0, 2, dtype=t.int64)"])
@pytest.mark.parametrize("source", ["0.25", "x.detach()"])
@pytest.mark.parametrize("shape", [(2, 0), (2, 3)])
def test_places_are_saved_even_where_there_are_none(shape, index, source):
    program = f"""
x = t.ones({shape}, requires_grad=True)
y = x.scatter(1, {index}, {source})
s = y.sum()
s.backward()
y.sum().backward()
"""
    alike(program, "(x.grad.tolist(), type(y.grad_fn).__name__)")


@pytest.mark.parametrize(
    "view", ["x.permute(0)", "x[None].squeeze(0)", "x.view(3)", "x.unsqueeze(1).transpose(0, 1)[0]", "x"]
)
@pytest.mark.parametrize("late", ["z", "z + (w * 2).sum()", "z + u.sum() + (w * v.sum()).sum()"])
def test_zeros_without_entries_reach_leaves_through_views(view, late):
    program = f"""
x, w, u = (t.full((3,), 0.5, requires_grad=True) for _ in range(3))
v = {view}
y = (v.sgn() * 0.5).sum()
y.backward(retain_graph=True)
z = w.exp().sum() + y.mean() + x.sin().sum()
({late}).backward()
"""
    alike(program, "[None if a.grad is None else (a.grad + 0).tolist() for a in (x, w, u)]")


@pytest.mark.parametrize("result", ["t.cat([x, x])", "t.stack([x, x])", "x.repeat(2)"])
def test_recorded_passes_to_leaves_without_entries(result):
    program = f"x = t.tensor([], requires_grad=True)\n{result}.sin().sum().backward(create_graph=True)"
    alike(program, "(x.grad.tolist(), x.grad.shape)")
