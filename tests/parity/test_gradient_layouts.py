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


IMAGES = {
    "conv2d": lambda t, x: t.nn.functional.conv2d(x, t.ones(4, 3, 3, 3)),
    "conv2d with a border": lambda t, x: t.nn.functional.conv2d(x, t.ones(4, 3, 3, 3), padding=1, stride=2),
    "conv2d in groups": lambda t, x: t.nn.functional.conv2d(x, t.ones(3, 1, 3, 3), padding=1, groups=3),
    "conv_transpose2d": lambda t, x: t.nn.functional.conv_transpose2d(x, t.ones(3, 2, 3, 3), padding=1),
    "max_pool2d": lambda t, x: t.nn.functional.max_pool2d(x, 3, 2, 1),
    "avg_pool2d": lambda t, x: t.nn.functional.avg_pool2d(x, 3, 1, 1),
    "unfold": lambda t, x: t.nn.functional.unfold(x, 3, padding=1),
    "pad": lambda t, x: t.nn.functional.pad(x, (1, 1, 0, 2)),
    "flip": lambda t, x: x.flip(2, 3),
    "cumsum": lambda t, x: x.cumsum(1),
}


@pytest.mark.parametrize("use", IMAGES)
def test_gradients_on_their_way_may_be_flattened(use: str) -> None:
    """Hooks, functions of one's own and who asks for a gradient with its graph find it row by row, as in torch."""

    def steps(t: Any) -> list[Any]:
        seen = []

        class Same(t.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                return x.clone()

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                seen.append((g.stride(), g.view(g.shape[0], -1).shape))
                return g

        x = t.linspace(-1.0, 1.0, 216).reshape(2, 3, 6, 6).requires_grad_()
        h = x * 1
        h.register_hook(lambda g: seen.append((g.stride(), g.view(-1).shape)))
        ((IMAGES[use](t, h) ** 2).sum() + (IMAGES[use](t, Same.apply(x)) ** 2).sum()).backward()
        (g,) = t.autograd.grad((IMAGES[use](t, x) ** 2).sum(), x, create_graph=True)
        return [*seen, g.stride(), g._is_view(), g.view(-1).shape]

    assert steps(sg) == steps(torch)
