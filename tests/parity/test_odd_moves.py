"""Moves at the edge of what torch allows, where the situation is told by what was told later, or by what is empty."""

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


@pytest.mark.parametrize("name", ["kthvalue(1)", "mode()", "kthvalue(3)", "mode(2)"])
@pytest.mark.parametrize("values", ["True", "2 - 1j", "[True, False]", "[1j, 2]", "[]", "1.5"])
@pytest.mark.parametrize("grad", ["", ".requires_grad_()"])
def test_one_entry_is_the_commonest_and_the_first_whatever_its_dtype(name, values, grad):
    made = f"x = t.tensor({values})\nif x.is_complex(): x = x{grad}\nvalue, place = x.{name}"
    alike(made, "'value' in dir() and (value.tolist(), place.tolist())")


@pytest.mark.parametrize("sizes", [(), (1,), (0,), (2, 0), (2, 1), (2,)])
@pytest.mark.parametrize("norm", ["x.norm()", "x.norm(dim=-1)", "x.norm(dim=0)"])
def test_versions_of_norms_of_inference_tensors(sizes, norm):
    alike(f"with t.inference_mode(): x = t.ones({sizes})\ny = {norm}", "y._version")


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


@pytest.mark.parametrize(
    "change",
    ["v.index_add_(0, t.tensor([0]), v[:1])", "v.add_(v[:1])", "v[1:].copy_(v[:1])",
     "x.index_add_(0, t.tensor([0]), v[:1])", "x.index_add_(0, t.tensor([0]), x[:1])"],
)  # fmt: skip
def test_a_conjugate_is_copied_before_what_it_shows_changes(change):
    alike(f"x = t.tensor([1 + 2j, 3 - 1j])\nv = x.conj()\n{change}", "(x.tolist(), v.tolist())")


@pytest.mark.parametrize("where", ["t.inference_mode()", "t.no_grad()"])
@pytest.mark.parametrize("asked", ["[x, v]", "[v]"])
def test_what_claims_to_require_grad_may_be_asked_for(where, asked):
    program = f"""
x = t.ones(3, requires_grad=True)
with {where}: v = t.tensor(2.0, requires_grad=True)
g = t.autograd.grad((x * 2).sum(), {asked}, allow_unused=True)
"""
    alike(program, "[None if a is None else a.tolist() for a in g]")


@pytest.mark.parametrize(
    "result",
    ["t.dist(x, v)", "t.dist(v, x)", "t.nn.functional.smooth_l1_loss(x, v)", "t.cdist(x[None], v[None])",
     "t.ldexp(x, v)", "t.scatter_add(x, 0, i, v)", "t.index_add(x, 0, i, v)", "t.copysign(x, v)", "t.lerp(x, v, 0.5)"],
)  # fmt: skip
def test_functions_of_several_steps_may_not_save_inference_tensors(result):
    program = f"""
x = t.ones(3, requires_grad=True)
with t.inference_mode(): v, i = t.ones(3) * 2, t.tensor([0, 1, 2])
y = {result}
"""
    alike(program, "'y' in dir() and type(y.grad_fn).__name__")


@pytest.mark.parametrize("result", ["t.cat([x, x])", "t.stack([x, x])", "x.repeat(2)"])
def test_recorded_passes_to_leaves_without_entries(result):
    program = f"x = t.tensor([], requires_grad=True)\n{result}.sin().sum().backward(create_graph=True)"
    alike(program, "(x.grad.tolist(), x.grad.shape)")
