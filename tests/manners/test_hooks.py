"""Hooks on tensors and retained gradients, also across changes in place."""

from __future__ import annotations

import gc
import weakref
from collections import OrderedDict

import pytest

from tests.functions import parted
from tests.leaves import leaf, ones


class Token:
    """Something whose death can be watched."""


# ---------------------------------------------------------------------------------------------- tensor hooks


def test_hooks(t):
    """Hooks are called in order, once per backward, until they are removed; what one returns goes on."""
    x, y = leaf(t, [1.0, 2.0]), leaf(t, [3.0, 4.0])
    z = x * y + y
    order = []

    def noted(mark):
        def hook(g):
            assert isinstance(g, t.Tensor)
            order.append(mark)

        return hook

    x.register_hook(noted("x"))
    first = z.register_hook(noted("first"))
    z.backward(ones(t, 2), retain_graph=True)
    assert order == ["first", "x"]
    second = z.register_hook(noted("second"))
    order.clear()
    z.backward(ones(t, 2), retain_graph=True)
    assert order == ["first", "second", "x"]
    second.remove()
    order.clear()
    z.backward(ones(t, 2), retain_graph=True)
    assert order == ["first", "x"]
    first.remove()
    z.register_hook(lambda g: g * 2)
    y.grad.zero_()
    z.backward(ones(t, 2), retain_graph=True)
    assert y.grad.tolist() == [4.0, 6.0]
    y.register_hook(lambda g: g * 10)
    y.grad.zero_()
    z.backward(ones(t, 2))
    assert y.grad.tolist() == [40.0, 60.0]


def test_hook_none(t):
    """An output whose input needs no gradient: its hook sees a gradient all the same, never None."""
    seen = []

    class Through(t.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            assert ctx.needs_input_grad == (True, False)
            return a * 1, b * 1

        @staticmethod
        def backward(ctx, g, h):
            return g, None

    p, q = Through.apply(leaf(t, [1.0, 2.0]), ones(t, 2))
    p.register_hook(seen.append)
    q.register_hook(seen.append)
    (p + q * 3).sum().backward()
    assert sorted(g.tolist() for g in seen) == [[1.0, 1.0], [3.0, 3.0]]


def test_hook_with_no_name(t):
    """Anything that can be called is a hook: an object needs no ``__name__``."""

    class Doubled:
        def __call__(self, g):
            return g * 2

    x = leaf(t, [1.0, 2.0])
    x.register_hook(Doubled())
    x.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("custom", [False, True])
@pytest.mark.parametrize("on_tensor", [False, True])
def test_hook_closure_cycle(t, custom, on_tensor):
    """A hook may hold its own node: it works for as long as the graph is held, and goes with it."""

    class Same(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g

    calls = []

    def graph():
        middle = Same.apply(leaf(t, 1.0)) if custom else leaf(t, 1.0).clone()
        node, token = middle.grad_fn, Token()

        def hook(*_):
            calls.append((node, token) is not None)

        (middle if on_tensor else node).register_hook(hook)
        return middle.clone(), weakref.ref(token)

    out, token = graph()
    out.backward(retain_graph=True)
    gc.collect()
    out.backward(retain_graph=True)
    assert len(calls) == 2
    assert token() is not None
    del out
    gc.collect()
    assert token() is None


def test_handles_of_other_tables(t):
    """Classes with hooks of their own enter them under the handle's number, in one table or several."""
    hooks, flags, orders = OrderedDict(), OrderedDict(), OrderedDict()
    first = t.utils.hooks.RemovableHandle(hooks)
    with t.utils.hooks.RemovableHandle(hooks, extra_dict=flags) as second:
        third = t.utils.hooks.RemovableHandle(hooks, extra_dict=[flags, orders])
        assert len(hooks) == 0
        hooks.update({handle.id: print for handle in (first, second, third)})
        flags.update({second.id: True, third.id: True})
        orders[third.id] = 1
    assert list(hooks) == [first.id, third.id]
    assert list(flags) == [third.id]
    third.remove()
    third.remove()
    assert (list(hooks), list(flags), list(orders)) == ([first.id], [], [])


# ---------------------------------------------------------------------------------------------- retained gradients


def test_retain_grad(t):
    """A result that retains its gradient adds it up over backward calls; asking twice or of a leaf changes nothing."""
    x = leaf(t, [[1.0, 2.0, 3.0]])
    h1 = x * 3
    out = (h1 * h1).sum()
    h1.retain_grad()
    h1.retain_grad()
    out.backward(retain_graph=True)
    assert h1.grad.tolist() == [[6.0, 12.0, 18.0]]
    out.backward(retain_graph=True)
    assert h1.grad.tolist() == [[12.0, 24.0, 36.0]]
    x.grad.zero_()
    x.retain_grad()
    x.retain_grad()
    out.backward()
    assert x.grad.tolist() == [[18.0, 36.0, 54.0]]
    assert not x.retains_grad


def test_retain_grad_inplace(t):
    """After a change in place .grad is that of the new value, whether retain_grad came once or again."""
    for again in (False, True):
        x = leaf(t, [1.0])
        y = x.clone()
        y.retain_grad()
        y.mul_(2)
        if again:
            y.retain_grad()
        y.mul_(4)
        (y * 5).sum().backward()
        assert y.grad.tolist() == [5.0]
        assert x.grad.tolist() == [40.0]


def test_retains_grad_inplace_multiple_outputs(t):
    """The same for one output of a function with several."""
    x = leaf(t, [1.0])
    first, second = parted(t).apply(x)
    first.retain_grad()
    first.mul_(2)
    second.retain_grad()
    (first * 7 + second * 5).sum().backward()
    assert first.grad.tolist() == [7.0]
    assert second.grad.tolist() == [5.0]
    assert x.grad.tolist() == [7.0 * 4 + 5.0 * 3]


def test_retain_grad_inplace_over_view(t):
    """The same where the change goes through one of two views of a tensor."""
    x = leaf(t, [1.0])
    base = x.clone()
    view, other = base[:], base[:]
    view.retain_grad()
    other.retain_grad()
    view.mul_(2)
    (view * 3 + other * 5).sum().backward()
    assert view.grad.tolist() == [3.0]
    assert other.grad.tolist() == [5.0]
    assert x.grad.tolist() == [16.0]


def test_retains_grad_can_always_observe_tensor_prehook(t):
    """What is retained is what all tensor hooks left, those set before retain_grad and those set after."""
    for before, after in ((1, 1), (0, 1), (2, 0)):
        y = leaf(t, 1.0).clone()
        for _ in range(before):
            y.register_hook(lambda g: g * 2)
        y.retain_grad()
        for _ in range(after):
            y.register_hook(lambda g: g * 2)
        y.clone().backward()
        assert y.grad.item() == 2.0 ** (before + after)


# ---------------------------------------------------------------------------------------------- changes in place


def test_tensor_hooks_inplace(t):
    """A hook set before a change in place sees the gradient of the old value, one set later that of the new."""
    old, new = [], []

    def noting(seen):
        def hook(g):
            seen.append(g.item())
            return g * 2

        return hook

    x = leaf(t, [1.0])
    y = x.clone()
    y.register_hook(noting(old))
    y.mul_(2)
    y.register_hook(noting(new))
    y.sum().backward()
    assert (old, new) == ([4.0], [1.0])
    assert x.grad.tolist() == [8.0]
    old.clear()
    x = leaf(t, [1.0])
    y = x.clone()
    y.register_hook(noting(old))
    y.mul_(2)
    y.mul_(2)
    y.sum().backward()
    assert old == [4.0]
    assert x.grad.tolist() == [8.0]


def test_tensor_hooks_inplace_multiple_outputs(t):
    """The same for the outputs of a function with several."""
    x, old, new, other = leaf(t, [1.0]), [], [], []
    first, second = parted(t).apply(x)
    first.register_hook(lambda g: old.append(g.item()))
    second.register_hook(lambda g: other.append(g.item()))
    first.mul_(10)
    first.register_hook(lambda g: new.append(g.item()))
    (first + second * 5).sum().backward()
    assert (old, new, other) == ([10.0], [1.0], [5.0])
    assert x.grad.tolist() == [10.0 * 2 + 5.0 * 3]


def test_tensor_hooks_inplace_over_view(t):
    """Views that a change in place has given a new history leave their old hooks behind; new ones are called."""
    left_behind, called = [], []
    base = leaf(t, [1.0]).clone()
    view, other = base[:], base[:]
    view.register_hook(left_behind.append)
    other.register_hook(left_behind.append)
    view.mul_(2)
    assert other.grad_fn is not None
    other.register_hook(lambda g: called.append(g.item()))
    (view + other * 3).sum().backward()
    assert left_behind == []
    assert called == [3.0]


def test_hooks_where_no_gradient_comes(t):
    """Where a function gives None, hooks on the way further down are called with None, in the order of the pass."""

    class Nothing(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return None

    heard = []
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = y.exp()
    for name, place in (("x", x), ("y", y), ("z", z)):
        place.register_hook(lambda g, name=name: heard.append((name, g)))
    z.grad_fn.register_prehook(lambda given: heard.append(("before", *given)))
    z.grad_fn.register_hook(lambda made, given: heard.append(("after", *made, *given)))
    Nothing.apply(z).sum().backward()
    assert heard == [("z", None), ("before", None), ("after", None, None), ("y", None), ("x", None)]
    assert x.grad is None
    heard.clear()
    y = x * 2
    y.register_hook(lambda g: heard.append(g.tolist()))
    (Nothing.apply(y) + y).sum().backward()  # something reaches it all the same
    assert heard[0] == [1.0, 1.0]
    y = x * 2
    y.register_hook(lambda g: t.ones(2))
    with pytest.raises(RuntimeError, match="can't replace a None gradient with a non-None value"):
        Nothing.apply(y).sum().backward()


def test_what_a_hook_writes_on_its_gradient_is_seen_by_others_of_the_pass(t):
    """One tensor comes to all hooks that see a gradient before it is replaced, those of nodes as well."""
    x, seen, marks = leaf(t, [1.0, 2.0]), [], []
    y = x * 3

    def second(g):
        g.mark = True
        return g * 2

    y.register_hook(seen.append)
    y.register_hook(second)
    y.register_hook(seen.append)
    x.register_hook(seen.append)
    x.register_hook(lambda g: marks.append((g is seen[2], hasattr(seen[0], "mark"), hasattr(seen[1], "mark"))))
    y.grad_fn.register_prehook(lambda gs: marks.append(gs[0] is seen[1]))
    y.sum().backward()
    assert marks == [True, (True, True, False)]
    assert x.grad.tolist() == [6.0, 6.0]
