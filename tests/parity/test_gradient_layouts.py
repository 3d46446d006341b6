"""How gradients lie in memory: as the leaves do that they belong to, so that ``p.grad.view(-1)`` is a vector."""

from __future__ import annotations

from typing import Any

import pytest

import symgrad as sg

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytestmark = pytest.mark.peer

LEAVES = {
    "rows": lambda t: t.ones(4, 3),
    "columns": lambda t: t.ones(3, 4).t(),
    "gaps": lambda t: t.ones(4, 6)[:, ::2],
    "every other row": lambda t: t.ones(8, 3)[::2],
}
USES = {
    "linear": lambda t, w: t.nn.functional.linear(t.ones(2, 3), w),
    "linear with a bias": lambda t, w: t.nn.functional.linear(t.ones(2, 3), w, t.ones(4)),
    "linear of a batch": lambda t, w: t.nn.functional.linear(t.ones(5, 2, 3), w),
    "linear of what moves": lambda t, w: t.nn.functional.linear(t.ones(2, 3).requires_grad_(), w),
    "product": lambda t, w: t.ones(2, 4) @ w,
    "product in front": lambda t, w: w @ t.ones(3, 2),
    "product of the transpose": lambda t, w: w.t() @ t.ones(4, 2),
    "a vector": lambda t, w: w @ t.ones(3),
    "transpose": lambda t, w: w.t().contiguous(),
    "expanded": lambda t, w: w.expand(5, 4, 3),
    "entries": lambda t, w: w.exp(),
    "twice": lambda t, w: t.ones(2, 3) @ w.t() + t.ones(2, 3) @ w.exp().t(),
}


def loss(t: Any, w: Any, use: str) -> Any:
    return (USES[use](t, w) ** 2).sum()


@pytest.mark.parametrize("leaf", LEAVES)
@pytest.mark.parametrize("use", USES)
@pytest.mark.filterwarnings("ignore:Using backward")
def test_gradients_lie_as_leaves(leaf: str, use: str) -> None:
    def steps(t: Any) -> list[Any]:
        w = LEAVES[leaf](t).detach().requires_grad_()
        loss(t, w, use).backward()
        found = [w.grad.stride()]
        loss(t, w, use).backward()
        found.append(w.grad.stride())
        w.grad = None
        loss(t, w, use).backward(create_graph=True)
        return [*found, w.grad.stride()]

    assert steps(sg) == steps(torch)


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("use", [u for u in USES if u.startswith(("linear", "product", "a vector"))])
def test_gradients_of_products_lie_as_their_operands(use: str, create_graph: bool) -> None:
    def steps(t: Any) -> Any:
        w = t.ones(4, 3, requires_grad=True)
        (g,) = t.autograd.grad(loss(t, w, use), w, create_graph=create_graph)
        return g.stride(), g.view(-1).tolist()

    assert steps(sg) == steps(torch)
