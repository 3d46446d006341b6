"""Saved-tensor hooks that a backward pass itself enters or leaves, and gradients that hooks keep or give."""

from __future__ import annotations

import gc
import weakref

import pytest


def test_hooks_left_in_a_pass(t):
    """What a pass enters or leaves of saved-tensor hooks is over with the pass."""

    def unpack(x):
        inner.__exit__()
        return x

    hooks = t.autograd.graph.saved_tensors_hooks
    inner, outer = hooks(lambda x: x, unpack), hooks(lambda x: x, lambda x: x)
    with outer:
        inner.__enter__()
        x = t.ones(3, requires_grad=True)
        x.sin().sum().backward()
    inner.__exit__()
    y = t.ones(2, requires_grad=True).exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda x: x, lambda x: x)


def test_hooks_entered_in_a_pass(t):
    """A context that an unpack hook enters again is not kept by that."""

    def scope():
        def unpack(x):
            again().__enter__()
            return x

        context = t.autograd.graph.saved_tensors_hooks(lambda x: x, unpack)
        again = weakref.ref(context)
        with context:
            t.ones(3, requires_grad=True).sin().sum().backward()
        return weakref.ref(unpack)

    gc.collect()
    gc.disable()
    try:
        assert scope()() is None
    finally:
        gc.enable()


# ------------------------------------------------------------------------------------- gradients that hooks keep

KEEPERS = {
    "leaf": lambda t, x, y, keep: x.register_hook(keep),
    "result": lambda t, x, y, keep: y.register_hook(keep),
    "several": lambda t, x, y, keep: t.autograd.graph.register_multi_grad_hook([x, y], keep),
    "any": lambda t, x, y, keep: t.autograd.graph.register_multi_grad_hook([x, y], keep, mode="any"),
    "before a node": lambda t, x, y, keep: y.grad_fn.register_prehook(keep),
    "after a node": lambda t, x, y, keep: y.grad_fn.register_hook(lambda *gradients: keep(gradients)),
    "before accumulation": lambda t, x, y, keep: y.grad_fn.next_functions[0][0].register_prehook(keep),
}


@pytest.mark.parametrize("place", KEEPERS)
def test_kept_gradients_stay_as_they_were(t, place):
    """What a hook keeps is not added into by the next pass."""
    x = t.ones(2, requires_grad=True)
    y = x + 0
    kept = []
    KEEPERS[place](t, x, y, kept.append)
    for _ in range(3):
        (y * 2).sum().backward(retain_graph=True)
    assert x.grad.tolist() == [6.0, 6.0]
    for gradient in kept:
        while not isinstance(gradient, t.Tensor):
            gradient = gradient[0]
        assert gradient.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("place", ["leaf", "result"])
def test_given_gradients_stay_as_they_were(t, place):
    """A hook may give the same tensor in every pass; no pass is added into it."""
    x = t.ones(2, requires_grad=True)
    y = x + 0
    given = t.ones(2)
    KEEPERS[place](t, x, y, lambda g: given)
    for _ in range(3):
        y.sum().backward(retain_graph=True)
    assert given.tolist() == [1.0, 1.0]
    assert x.grad.tolist() == [3.0, 3.0]


def test_gradients_changed_in_place_by_hooks(t):
    """What a hook does to its gradient in place counts, and the next hook sees it."""
    x = t.ones(2, requires_grad=True)
    kept = []

    def tenfold(g):
        g.mul_(10)

    x.register_hook(tenfold)
    x.register_hook(kept.append)
    for _ in range(2):
        (x * 2).sum().backward()
    assert [g.tolist() for g in kept] == [[20.0, 20.0]] * 2
    assert x.grad.tolist() == [40.0, 40.0]


BRANCHES = {
    "where": lambda t, h: t.where(h > 0.5, h, 0).sum(),
    "both sides": lambda t, h: t.where(h > 0.5, h, 3 * h).sum(),
    "nansum": lambda t, h: h.nansum(),
    "nanmean": lambda t, h: h.nanmean(),
    "masked_fill": lambda t, h: h.masked_fill(h > 0.5, 0).sum(),
    "where of one of several": lambda t, h: sum(t.where(a > 0.5, a, 0).sum() for a in h.unbind(0)),
}
CHANGES = {
    "a tensor hook": lambda h, change: h.register_hook(change),
    "a hook before the node": lambda h, change: h.grad_fn.register_prehook(lambda gs: change(gs[0])),
    "a hook after the node": lambda h, change: h.grad_fn.register_hook(lambda gs, _: change(gs[0])),
}


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("place", CHANGES)
@pytest.mark.parametrize("branch", BRANCHES)
def test_gradients_of_branches_that_hooks_change_in_place(t, branch, place, create_graph):
    """What a hook writes into a gradient goes on from there, also where entries of it are zero for good."""

    def gradient(change):
        x = t.tensor([[0.5, -1.0, 2.0], [1.0, 0.25, -3.0]], requires_grad=True)
        h = x * 2
        CHANGES[place](h, change)
        BRANCHES[branch](t, h).backward(create_graph=create_graph)
        return x.grad.detach()

    def threefold(g):
        g.mul_(3)

    def one_entry(g):
        g[0, 1] = 7.0

    plain = gradient(lambda g: None)
    assert plain.abs().max() > 0
    assert t.allclose(gradient(threefold), 3 * plain)
    assert gradient(one_entry)[0, 1] == (14.0 if place != "a hook after the node" else 7.0)


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("place", CHANGES)
def test_gradients_of_means_that_hooks_change_in_place(t, place, create_graph):
    """A mean gives every entry a gradient of its own, also where all are equal."""

    def threefold(g):
        g.mul_(3)
        g[0, 0] = 7.0

    for mean in (t.mean, lambda h: h.mean(1).sum() / 2, lambda h: h.clone().mean()):
        x = t.ones(2, 3, requires_grad=True)
        h = x * 2
        CHANGES[place](h, threefold)
        mean(h).backward(create_graph=create_graph)
        first = 7.0 if place == "a hook after the node" else 14.0
        assert t.allclose(x.grad, t.tensor([[first, 1.0, 1.0], [1.0, 1.0, 1.0]]))


def test_gradients_of_means_that_functions_change_in_place(t):
    class Twofold(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g.mul_(2)

    x = t.ones(2, 3, requires_grad=True)
    Twofold.apply(x).mean().backward()
    assert t.allclose(x.grad, t.full((2, 3), 1 / 3))
    (g,) = t.autograd.grad((x * x).mean(), x, create_graph=True)
    assert g.detach().add_(1)[0, 0].item() == pytest.approx(4 / 3)
    (g,) = t.autograd.grad(x.mean(), x, create_graph=True)
    assert g.detach().add_(1)[0].tolist() == pytest.approx([7 / 6] * 3)


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("create_graph", [False, True])
def test_retained_gradients_are_copies(t, create_graph):
    """They lie row by row, have a node of their own, and stay what they are when others change what was passed on."""

    class InPlace(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g.mul_(3)

    x = t.ones(2, 3, requires_grad=True)
    h = InPlace.apply(x).T
    seen = []
    h.register_hook(seen.append)
    h.retain_grad()
    (h**2).sum().backward(create_graph=create_graph)
    assert h.grad.stride() == (2, 1)
    assert (h.grad.grad_fn is not None) == create_graph
    if create_graph:
        assert h.grad.grad_fn.name() == "CloneBackward0"
    assert h.grad.data_ptr() != seen[0].data_ptr()
    assert h.grad.tolist() == [[2.0, 2.0]] * 3
    assert x.grad.tolist() == [[6.0] * 3] * 2


@pytest.mark.parametrize(
    "norm", ["layer_norm(h, (3,))", "group_norm(h, 3)", "batch_norm(h, None, None, training=True)"]
)
def test_recorded_gradients_of_norms_that_hooks_change_in_place(t, norm):
    """Nothing that the second pass needs is what a hook was given."""

    def second(hook):
        x = t.tensor([[0.5, -1.0, 2.0], [1.0, 0.25, -3.0], [0.0, 2.0, 1.5]], requires_grad=True, dtype=t.float64)
        h = x.sin()
        h.register_hook(hook)
        out = eval(f"f.{norm}", {"f": t.nn.functional, "h": h})
        (g,) = t.autograd.grad((out**3).sum(), x, create_graph=True)
        return t.autograd.grad((g**2).sum(), x)[0]

    assert t.allclose(second(lambda g: g.mul_(5)), second(lambda g: g * 5))
