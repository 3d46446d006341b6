"""Backward far down and within itself: graphs of many nodes, and backward called by what backward runs."""

from __future__ import annotations

import gc
import random
import weakref

import pytest

from tests.leaves import leaf

DEPTH = 150_000


class Token:
    """Something that dies with the node in whose metadata it lies."""


def marked(tensor):
    """A weak reference to what lies in the metadata of the node of a tensor."""
    token = Token()
    tensor.grad_fn.metadata["token"] = token
    return weakref.ref(token)


# ---------------------------------------------------------------------------------------------- deep graphs go away


def test_free_deep_graph(t):
    """A chain of 150000 operations can be dropped: nothing recurses along it."""
    x = leaf(t, 1.0)
    y = x.clone()
    token = marked(y)
    for _ in range(DEPTH):
        y = y + x
    assert token() is not None
    del y
    gc.collect()
    assert token() is None


def test_free_deep_graph_complicated(t):
    """The same with random links back to younger results and with operations in place."""
    chance = random.Random(3)
    x = leaf(t, [1.0, 2.0])
    recent = [x.clone(), x.clone()]
    token = marked(recent[0])
    for k in range(DEPTH // 3):
        other, made = chance.choice(recent), recent[-1] + x
        if k % 5 == 0:
            made += other
        if k % 100 == 0:
            made *= 1e-30
        recent = [*recent[-3:], made]
    assert token() is not None
    del recent, made, other
    gc.collect()
    assert token() is None


def test_free_deep_graph_pyfunction(t):
    """The same for a chain of the user's own Functions."""

    class Half(t.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return (a + b) * 0.5

        @staticmethod
        def backward(ctx, g):
            return g, g

    x = leaf(t, 1.0)
    y = x.clone()
    token = marked(y)
    for _ in range(DEPTH // 10):
        y = Half.apply(y, y)
    assert token() is not None
    del y
    gc.collect()
    assert token() is None


# ---------------------------------------------------------------------------------------------- backward in backward


def nested(t, run):
    """A Function that doubles its input and calls ``run(x)`` on a graph of its own while it runs backward."""

    class Nested(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with t.enable_grad():
                ctx.inner = x.detach().requires_grad_()
                ctx.out = ctx.inner * 2
            return ctx.out.detach()

        @staticmethod
        def backward(ctx, g):
            with t.enable_grad():
                run(ctx.out.sum())
            return g * ctx.inner.grad

    return Nested


def test_simple_reentrant(t):
    """A custom backward may call backward on a graph that its forward made."""
    x, y = leaf(t, [1.0, 2.0]), leaf(t, [3.0, 4.0])
    out = nested(t, lambda inner: inner.backward()).apply(x * y)
    out.sum().backward()
    assert y.grad.tolist() == [2.0, 4.0]
    assert x.grad.tolist() == [6.0, 8.0]


def test_reentrant_child_error(t):
    """An error within the inner backward comes out of the outer call as it is."""

    class Failing(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            raise ValueError("deep inside")

    a, b = leaf(t, [1.0]), leaf(t, [2.0])
    fails = Failing.apply(a).sum()
    out = nested(t, lambda inner: (inner.backward(), fails.backward())).apply(b)
    with pytest.raises(ValueError, match="deep inside"):
        out.sum().backward()
    # and the next backward is none the worse for it
    (b * 2).sum().backward()
    assert b.grad.tolist() == [2.0]


def descending(t, order, depth):
    """A Function whose backward runs itself again on a number one less, until that is negative."""

    class Down(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with t.enable_grad():
                ctx.x = x.detach().requires_grad_() - 1
            return ctx.x.detach()

        @staticmethod
        def backward(ctx, g):
            order.append("down")
            if ctx.x < 0:
                return g
            with t.enable_grad():
                Down.apply(ctx.x).sum().backward()
            return g

    return Down


def test_deep_reentrant(t):
    """Two thousand backward calls within one another."""
    order = []
    x = leaf(t, 2000.0)
    descending(t, order, 2000).apply(x).sum().backward()
    assert len(order) == 2001
    assert x.grad.item() == 1.0


def test_reentrant_priority(t):
    """A node that waits beside nested backward calls runs when all of those have ended, as the younger work."""
    order = []

    class Waits(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            order.append("waits")
            return g

    a = Waits.apply(leaf(t, 6.0))
    b = descending(t, order, 9).apply(leaf(t, 9.0))
    (a * b).backward()
    assert order == ["down"] * 10 + ["waits"]


def test_reentrant_with_leaf_variable_hook(t):
    """A leaf's hook may run a backward of its own and put .grad aside meanwhile."""
    x = leaf(t, [2.0])

    def again(g):
        with t.enable_grad():
            aside, x.grad = x.grad, None
            ((x.detach().requires_grad_() * 0 + g) * x).sum().backward()
            inner, x.grad = x.grad, aside
        return g * 10 + inner

    handle = x.register_hook(lambda g: None if busy else _guarded(g))
    busy = []

    def _guarded(g):
        busy.append(True)
        try:
            return again(g)
        finally:
            busy.clear()

    (x * 3).sum().backward()
    assert x.grad.tolist() == [3.0 * 10 + 3.0]
    handle.remove()


def test_reentrant_with_non_leaf_variable_hook(t):
    """A result's hook may run a backward of its own and return another gradient."""
    x, other = leaf(t, [2.0, 3.0]), leaf(t, [1.0, 5.0])

    def again(g):
        with t.enable_grad():
            own = other * g
            own.sum().backward()
        return g + own.detach()

    middle = x * 2
    middle.register_hook(again)
    (middle * 3).sum().backward()
    assert other.grad.tolist() == [3.0, 3.0]
    assert x.grad.tolist() == [2 * (3.0 + 3.0), 2 * (3.0 + 15.0)]


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.filterwarnings("ignore:Using backward")
def test_grad_mode_restored_reentrant(t, create_graph):
    """A nested grad call leaves the grad mode as it was, whichever it is."""
    modes = []

    class Cubes(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            modes.append(t.is_grad_enabled())
            with t.enable_grad():
                inner = t.ones(3, dtype=t.float64, requires_grad=True)
                (result,) = t.autograd.grad(inner**3, inner, grad_outputs=g.detach())
                assert t.is_grad_enabled()
            modes.append(t.is_grad_enabled())
            return result

    x = leaf(t, [1.0, 2.0, 3.0])
    Cubes.apply(x).sum().backward(create_graph=create_graph)
    assert modes == [create_graph, create_graph]
    assert x.grad.tolist() == [3.0] * 3
    x.grad = None
