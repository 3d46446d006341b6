"""Hooks on nodes, on accumulation nodes and on .grad; what runs when; callbacks at the end of backward."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from tests.leaves import leaf


def accumulation(x):
    """The node where the gradients of a leaf end."""
    return x.view_as(x).grad_fn.next_functions[0][0]


class Token:
    """Something whose death can be watched."""


# ---------------------------------------------------------------------------------------------- before a node


def test_grad_fn_prehooks(t):
    """Pre-hooks run in order before the node and may replace what comes in; post-hooks see what went out."""
    x = leaf(t, [1.0, 2.0])
    y = x * 3
    order = []

    def doubled(outputs):
        order.append(("pre", outputs[0].tolist()))
        return (outputs[0] * 2,)

    def silent(outputs):
        order.append(("silent", outputs[0].tolist()))

    def after(inputs, outputs):
        order.append(("post", inputs[0].tolist(), outputs[0].tolist()))

    y.grad_fn.register_prehook(doubled)
    y.grad_fn.register_hook(after)
    y.grad_fn.register_prehook(silent)
    y.sum().backward()
    assert order == [("pre", [1.0, 1.0]), ("silent", [2.0, 2.0]), ("post", [6.0, 6.0], [2.0, 2.0])]
    assert x.grad.tolist() == [6.0, 6.0]


def test_grad_fn_prehooks_multiple_outputs(t):
    """A node with several outputs: its pre-hook sees a gradient each, None where the output is no tensor."""

    class Scaled(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor, y):
            ctx.factor = factor
            return x * factor, factor, y * factor

        @staticmethod
        def backward(ctx, g, none, h):
            assert none is None
            return g * ctx.factor, None, h * ctx.factor

    x, y = leaf(t, [2.0]), leaf(t, [3.0])
    seen = []

    def doubled(outputs):
        seen.append([None if g is None else g.item() for g in outputs])
        return tuple(None if g is None else g * 2 for g in outputs)

    p, _, q = Scaled.apply(x, 5, y)
    p.grad_fn.register_prehook(doubled)
    p.grad_fn.register_hook(lambda inputs, outputs: seen.append([g.item() for g in (inputs[0], inputs[-1])]))
    (p + q * 10).sum().backward()
    assert seen == [[1.0, None, 10.0], [10.0, 100.0]]
    assert (x.grad.item(), y.grad.item()) == (10.0, 100.0)


def test_grad_fn_prehooks_remove_hooks(t):
    """A removed pre-hook is not called again; one may also remove itself, or others, while hooks run."""
    x = leaf(t, [1.0])
    y = x * 1
    order, handles = [], {}

    def hook(mark, drop=()):
        def run(outputs):
            order.append(mark)
            for other in drop:
                handles[other].remove()

        handles[mark] = y.grad_fn.register_prehook(run)

    hook("a", drop=("a",))
    hook("b")
    hook("c", drop=("b",))
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    assert order == ["a", "b", "c", "c"]
    handles["c"].remove()
    y.backward()
    assert order == ["a", "b", "c", "c"]


def test_prehook_ordering(t):
    """Tensor hooks come before node pre-hooks, however they were registered; grad and inputs= run them, too."""
    order = []

    def on_tensor(g):
        order.append("tensor")
        return g * 3

    def on_node(gs):
        order.append("node")
        return tuple(g * 2 for g in gs)

    x = leaf(t, [1.0])
    y = x.clone()
    y.grad_fn.register_prehook(on_node)
    y.register_hook(on_tensor)
    y.grad_fn.register_prehook(on_node)
    node = y.grad_fn.next_functions[0][0]
    x.register_hook(on_tensor)
    node.register_prehook(on_node)
    x.register_hook(on_tensor)
    y.sum().backward(retain_graph=True)
    assert order == ["tensor", "node", "node", "tensor", "tensor", "node"]
    assert x.grad.item() == 3 * 2 * 2 * 3 * 3 * 2
    # grad runs the tensor hooks of a leaf, but not its accumulation node
    order.clear()
    (g,) = t.autograd.grad(y.sum(), (x,), retain_graph=True)
    assert order == ["tensor", "node", "node", "tensor", "tensor"]
    assert g.item() == 3 * 2 * 2 * 3 * 3
    # a result named in inputs= has what its tensor hooks left
    order.clear()
    y.sum().backward(inputs=(y,))
    assert order == ["tensor", "node", "node"]
    assert y.grad.item() == 3.0


# ---------------------------------------------------------------------------------------------- after a node

INPUTS = {
    "a power of a tensor": (lambda t, x, y: x**2, [True]),
    "a power of a number": (lambda t, x, y: 2**x, [True]),
    "a number less a tensor": (lambda t, x, y: 1 - x, [True]),
    "a product with a number": (lambda t, x, y: 2 * x, [True, False]),
    "a constant, and a tensor": (lambda t, x, y: t.ones(2) * x, [False, True]),
    "a choice": (lambda t, x, y: t.where(x > 0, x, y), [True, True]),
    "a choice of a number": (lambda t, x, y: t.where(x > 0, 0.0, y), [False, True]),
    "an index": (lambda t, x, y: x[t.tensor([0, 1, 1])], [True]),
    "a remainder": (lambda t, x, y: x % 2, [True]),
    "xlogy of a number": (lambda t, x, y: t.xlogy(2.0, x), [True]),
    "a norm over a layer without weights": (
        lambda t, x, y: t.nn.functional.layer_norm(x, (2,)),
        [True, False, False],
    ),
    "a convolution without bias": (
        lambda t, x, y: t.nn.functional.conv1d(x.view(1, 1, 2), t.ones(1, 1, 1, dtype=t.float64)),
        [True, False, False],
    ),
    "a product and a sum": (lambda t, x, y: t.addcmul(x, y, t.ones(2)), [True, True, False]),
}


@pytest.mark.parametrize("case", INPUTS.values(), ids=INPUTS)
def test_grad_inputs_of_a_post_hook_are_the_next_functions(t, case):
    """A hook after a node sees one gradient per input that ``next_functions`` lists, and may replace them there."""
    function, given = case
    x, y = leaf(t, [0.5, 2.0]), leaf(t, [1.5, 3.0])
    out = function(t, x, y)
    assert len(out.grad_fn.next_functions) == len(given)
    function(t, x, y).sum().backward()
    before = [None if a.grad is None else a.grad.tolist() for a in (x, y)]
    x.grad = y.grad = None
    seen = []

    def tripled(grads, _):
        seen.append([g is not None for g in grads])
        return tuple(None if g is None else g * 3 for g in grads)

    out.grad_fn.register_hook(tripled)
    out.sum().backward()
    assert seen == [given]
    after = [None if a.grad is None else (a.grad / 3).tolist() for a in (x, y)]
    assert all((a is None) == (b is None) and (a is None or a == pytest.approx(b)) for a, b in zip(after, before))


# ---------------------------------------------------------------------------------------------- accumulation nodes


def test_accumulate_grad_posthooks_can_observe_tensor_prehook(t):
    """A hook of an accumulation node sees what the leaf's tensor hook returned."""
    seen = []
    x = leaf(t, 1.0)
    y = x.clone()
    node = y.grad_fn.next_functions[0][0]
    node.register_hook(lambda inputs, outputs: seen.append((inputs, outputs[0].item())))
    x.register_hook(lambda g: g * 4)
    y.backward()
    assert seen == [((), 4.0)]


def test_accumulate_grad_posthooks_should_not_execute(t):
    """Neither do the hooks of a leaf's accumulation node run nor its tensor hooks when inputs= leaves it out."""

    def never(*_):
        raise AssertionError("this leaf was not asked for")

    x, y = leaf(t, 1.0), leaf(t, 2.0)
    z = x.clone()
    node = z.grad_fn.next_functions[0][0]
    node.register_hook(never)
    x.register_hook(never)
    x.register_post_accumulate_grad_hook(never)
    (x * y + z).backward(inputs=[y])
    assert y.grad.item() == 1.0
    assert x.grad is None


def counting(tensor, node):
    """Register a hook of each kind; gives the counts ``[tensor hooks, node pre-hooks, node post-hooks]``."""
    counts = [0, 0, 0]

    def bump(k):
        def hook(*_):
            counts[k] += 1

        return hook

    tensor.register_hook(bump(0))
    node.register_prehook(bump(1))
    node.register_hook(bump(2))
    return counts


def test_hook_edge_case_when_called_with_grad(t):
    """All hooks run along the way; at the tensor asked for grad runs tensor hooks only, backward runs the node, too."""
    x = leaf(t, 1.0)
    y = x * 2
    z = y * 3
    node = y.grad_fn.next_functions[0][0]
    at_x, at_y, at_z = counting(x, node), counting(y, y.grad_fn), counting(z, z.grad_fn)

    def run(call):
        for counts in (at_x, at_y, at_z):
            counts[:] = [0, 0, 0]
        call()
        return [list(counts) for counts in (at_x, at_y, at_z)]

    none, stopped, full = [0, 0, 0], [1, 0, 0], [1, 1, 1]
    assert run(lambda: t.autograd.grad(z, (z,), retain_graph=True)) == [none, none, stopped]
    assert run(lambda: t.autograd.grad(z, (y,), retain_graph=True)) == [none, stopped, full]
    assert run(lambda: t.autograd.grad(z, (x,), retain_graph=True)) == [[1, 0, 0], full, full]
    assert run(lambda: t.autograd.grad(z, (x, y), retain_graph=True)) == [[1, 0, 0], full, full]
    assert run(lambda: z.backward(retain_graph=True)) == [full, full, full]
    assert run(lambda: z.backward(retain_graph=True, inputs=(x,))) == [full, full, full]
    assert run(lambda: z.backward(retain_graph=True, inputs=(y,))) == [none, full, full]


# ---------------------------------------------------------------------------------------------- after .grad is set


def test_post_accumulate_grad_hook_on_non_leaf(t):
    """A result has no .grad to wait for: such a hook is refused."""
    y = leaf(t, [1.0]) * 2
    with pytest.raises(RuntimeError, match="post accumulate grad hooks cannot be registered on non-leaf tensors"):
        y.register_post_accumulate_grad_hook(lambda p: None)


def test_post_accumulate_grad_hook_multiple_hooks(t):
    """Two such hooks run in order, each after .grad is set: the second sees what the first did."""
    x = leaf(t, [1.0, 2.0])

    def descend(p):
        with t.no_grad():
            p.sub_(p.grad)

    def clear(p):
        assert p.tolist() == [1.0 - 5.0, 2.0 - 5.0]
        p.grad = None

    x.register_post_accumulate_grad_hook(descend)
    x.register_post_accumulate_grad_hook(clear)
    (x * 5).sum().backward()
    assert x.grad is None
    assert x.tolist() == [-4.0, -3.0]


def test_post_accumulate_grad_hook_multiple_tensors(t):
    """One hook may serve two leaves; it is told which one is ready."""
    x, y = leaf(t, [1.0]), leaf(t, [2.0])
    ready = []
    for p in (x, y):
        p.register_post_accumulate_grad_hook(lambda p: ready.append((p, p.grad.item())))
    (x * 3 + y * 4).sum().backward()
    assert sorted(g for _, g in ready) == [3.0, 4.0]
    assert {id(p) for p, _ in ready} == {id(x), id(y)}


def test_post_accumulate_grad_hook_returns_not_None(t):
    """There is nothing to replace any more: returning something is an error, once .grad is set."""
    x = leaf(t, [1.0, 2.0])
    x.register_post_accumulate_grad_hook(lambda p: p.grad)
    with pytest.raises(RuntimeError, match="hooks should return None"):
        (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_post_accumulate_grad_hook_returns_no_tensor(t):
    """What is no tensor at all is the error of other hooks, a TypeError."""
    x = leaf(t, [1.0, 2.0])
    x.register_post_accumulate_grad_hook(lambda p: (p.grad.clone(), None))
    with pytest.raises(TypeError, match="expected Variable, but hook returned 'tuple'"):
        (x * 2).sum().backward()


def test_post_accumulate_grad_hook_may_return_the_leaf(t):
    x = leaf(t, [1.0, 2.0])
    x.register_post_accumulate_grad_hook(lambda p: p.add_(p.grad, alpha=-0.5))
    (x * 2).sum().backward()
    assert x.tolist() == [0.0, 1.0]


def test_post_accumulate_grad_hook_ordering(t):
    """Tensor hook, node pre-hook, post-accumulate hook, node post-hook; the latter see what the former left."""
    x = leaf(t, [1.0])
    order = []

    def tensor_hook(g):
        order.append("tensor")
        return g + 1

    def before(gs):
        order.append(("before", gs[0].item()))
        return (gs[0] * 10,)

    def accumulated(p):
        order.append(("accumulated", p.grad.item()))
        p.grad.add_(0.5)

    def after(inputs, outputs):
        order.append("after")

    y = x.clone()
    node = y.grad_fn.next_functions[0][0]
    node.register_hook(after)
    x.register_post_accumulate_grad_hook(accumulated)
    node.register_prehook(before)
    x.register_hook(tensor_hook)
    y.sum().backward()
    assert order == ["tensor", ("before", 2.0), ("accumulated", 20.0), "after"]
    assert x.grad.tolist() == [20.5]


@pytest.mark.parametrize("shape", [(), (3,)])
@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (None, (3, 1)),
        (lambda keep, g: None, (3, 1)),
        (lambda keep, g: (g * 2,), (6, 2)),
        (lambda keep, g: keep.append(g), (1, 1)),
        (lambda keep, g: (keep.append(g * 2), (keep[-1],))[1], (2, 2)),
    ],
)
def test_post_hooks_see_what_became_of_the_gradient_that_grad_took(t, shape, passes, before, expected):
    """The first gradient becomes ``.grad`` itself where no hook keeps it, and a later one is added into that."""
    x, kept, seen = leaf(t, np.ones(shape).tolist()), [], []
    node = accumulation(x)
    if before is not None:
        node.register_prehook(lambda gradients: before(kept, *gradients))
    x.register_post_accumulate_grad_hook(lambda p: (p.grad.mul_(3), None)[1])
    node.register_hook(lambda _, gradients: seen.append(gradients[0].max().item()))
    for _ in range(passes):
        (x * 1).sum().backward()
    assert seen == list(expected[:passes])


def test_post_accumulate_grad_hook_gets_cleaned_up(t):
    """What the hook holds goes when the leaf goes."""

    def use():
        token, x = Token(), leaf(t, [1.0])
        x.register_post_accumulate_grad_hook(lambda p: None if token else None)
        x.sum().backward(inputs=[x])
        gc.collect()
        watched = weakref.ref(token)
        assert watched() is not None
        return watched

    watched = use()
    gc.collect()
    assert watched() is None


# ---------------------------------------------------------------------------------------------- callbacks


def test_callback_adds_callback(t):
    """A callback that runs at the end of backward may queue another one, which runs, too."""
    queue = t.autograd.Variable._execution_engine.queue_callback
    order = []

    class Queues(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            queue(first)
            order.append("backward")
            return g

    def first():
        order.append(("first", x.grad.tolist()))
        queue(lambda: order.append("second"))

    x = leaf(t, [1.0])
    Queues.apply(x).sum().backward()
    assert order == ["backward", ("first", [1.0]), "second"]


def callbacks_of(t, depths):
    """The order of events where callbacks are queued in the outer backward (0), in the nested one (1), or in both."""
    queue = t.autograd.Variable._execution_engine.queue_callback
    order = []

    class Inner(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            if 1 in depths:
                queue(lambda: order.append("inner callback"))
            return g

    class Outer(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with t.enable_grad():
                ctx.x = x.detach().requires_grad_()
                ctx.out = Inner.apply(ctx.x)
            return ctx.out.detach()

        @staticmethod
        def backward(ctx, g):
            if 0 in depths:
                queue(lambda: order.append("outer callback"))
            with t.enable_grad():
                ctx.out.sum().backward()
            order.append("inner backward ended")
            return g

    Outer.apply(leaf(t, [1.0, 2.0])).sum().backward()
    order.append("outer backward ended")
    return order


def test_reentrant_with_callbacks_depth_0(t):
    """Queued in the outer backward: it runs once, at the end of that."""
    assert callbacks_of(t, [0]) == ["inner backward ended", "outer callback", "outer backward ended"]


def test_reentrant_with_callbacks_depth_1(t):
    """Queued in the nested backward: it runs once, at the end of that one."""
    assert callbacks_of(t, [1]) == ["inner callback", "inner backward ended", "outer backward ended"]


def test_reentrant_with_callbacks_both_depths(t):
    """Both, each at the end of its own."""
    assert callbacks_of(t, [0, 1]) == [
        "inner callback",
        "inner backward ended",
        "outer callback",
        "outer backward ended",
    ]
