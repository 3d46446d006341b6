"""Tensors that were made in inference mode: what may be asked of them, and what may not save them."""

from __future__ import annotations

import pytest

from tests.parity.test_changes import alike

pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]


@pytest.mark.parametrize("sizes", [(), (1,), (0,), (2, 0), (2, 1), (2,)])
@pytest.mark.parametrize("norm", ["x.norm()", "x.norm(dim=-1)", "x.norm(dim=0)"])
def test_versions_of_norms_of_inference_tensors(sizes, norm):
    alike(f"with t.inference_mode(): x = t.ones({sizes})\ny = {norm}", "y._version")


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
