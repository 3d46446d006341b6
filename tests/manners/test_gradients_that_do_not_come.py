"""Hooks where a function gave no gradient: they are called with None, from the function to the leaf."""

from __future__ import annotations


def nothing(t):
    class Nothing(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return None

    return Nothing.apply


def watched(node, seen, name):
    node.register_prehook(lambda gs: seen.append((f"before {name}", [g is None for g in gs])))
    node.register_hook(lambda gi, go: seen.append((f"after {name}", [g is None for g in (*gi, *go)])))


def test_chain(t):
    """Tensors, nodes and the leaf hear of it; only the leaf itself has no gradient."""
    x = t.ones(2, requires_grad=True)
    y = x * 3
    z = y.sin()
    seen = []
    for name, tensor in (("x", x), ("y", y), ("z", z)):
        tensor.register_hook(lambda g, name=name: seen.append((name, g is None)))
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(("there", leaf.grad is None)))
    for name, node in (("y", y.grad_fn), ("z", z.grad_fn), ("x", y.grad_fn.next_functions[0][0])):
        watched(node, seen, name)
    nothing(t)(z).sum().backward()
    assert x.grad is None
    assert seen == [
        ("z", True), ("before z", [True]), ("after z", [True, True]),
        ("y", True), ("before y", [True]), ("after y", [True, True, True]),
        ("x", True), ("before x", [True]), ("there", True), ("after x", [True]),
    ]  # fmt: skip


def test_grad_to_a_result(t):
    """A pass that ends at a result does not run its node."""
    x = t.ones(2, requires_grad=True)
    y = x * 3
    seen = []
    y.register_hook(lambda g: seen.append(g))
    watched(y.grad_fn, seen, "y")
    assert t.autograd.grad(nothing(t)(y.sin()).sum(), y, allow_unused=True) == (None,)
    assert seen == [None]


def test_several_outputs(t):
    """A node of several results hears it once."""
    x = t.ones(2, 3, requires_grad=True)
    a, b = x.unbind()
    seen = []
    a.register_hook(lambda g: seen.append(("a", g is None)))
    b.register_hook(lambda g: seen.append(("b", g is None)))
    watched(a.grad_fn, seen, "node")
    nothing(t)(a).sum().backward()
    assert seen == [("a", True), ("b", True), ("before node", [True, True]), ("after node", [True, True, True])]
    seen.clear()
    (nothing(t)(a) + b).sum().backward()
    assert seen == [("a", True), ("b", False), ("before node", [True, False]), ("after node", [False, True, False])]


def test_hook_on_several_tensors(t):
    """A hook that waits for several gradients is called though one does not come."""
    x = t.ones(2, requires_grad=True)
    a, b = x * 2, x * 3
    seen = []
    t.autograd.graph.register_multi_grad_hook((a, b), lambda gs: seen.append([g is None for g in gs]))
    (nothing(t)(a) + b).sum().backward()
    assert seen == [[True, False]]
