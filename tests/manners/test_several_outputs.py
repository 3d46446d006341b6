"""Functions with several results are one node: its hooks see the gradients of all of them, None for what is missing."""

from __future__ import annotations

import gc

import pytest

TOGETHER = {
    "unbind": lambda t, x: t.unbind(x),
    "iteration": lambda t, x: tuple(x),
    "split": lambda t, x: x.split(1),
    "split sizes": lambda t, x: t.split(x, [2, 1]),
    "chunk": lambda t, x: t.chunk(x, 3, 1),
    "unsafe_chunk": lambda t, x: t.unsafe_chunk(x, 3),
    "var_mean": lambda t, x: t.var_mean(x, 0),
    "std_mean": lambda t, x: t.std_mean(x, 1),
    "aminmax": lambda t, x: t.aminmax(x, dim=0),
    "svd": lambda t, x: t.linalg.svd(x),
    "eigh": lambda t, x: t.linalg.eigh(x),
    "qr": lambda t, x: t.linalg.qr(x),
}


def matrix(t, **options):
    return t.tensor([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]], **options)


@pytest.mark.parametrize("name", TOGETHER)
def test_one_node(t, name):
    """One ``grad_fn`` that has an output number per result, and hooks that see what each of them got."""
    x = matrix(t, requires_grad=True)
    rows = TOGETHER[name](t, x)
    node = rows[0].grad_fn
    assert all(row.grad_fn is node for row in rows)
    assert [row.output_nr for row in rows] == list(range(len(rows)))
    seen = []
    for k, row in enumerate(rows):
        row.register_hook(lambda g, k=k: seen.append((k, g is None)))
    node.register_prehook(lambda gs: seen.append([g is None for g in gs]))
    node.register_hook(lambda gi, go: seen.append((len(gi), gi[0].shape == x.shape, [g is None for g in go])))
    (rows[1] * 2).sum().backward()
    missing = [k != 1 for k in range(len(rows))]
    assert seen == [*enumerate(missing), missing, (1, True, missing)]


@pytest.mark.parametrize("name", TOGETHER)
@pytest.mark.parametrize("create_graph", [False, True])
def test_hooks_of_the_whole(t, name, create_graph):
    """What its hooks make of the gradients counts, before and after; without hooks the gradient is the same sum."""
    x, y = matrix(t, requires_grad=True), matrix(t, requires_grad=True)
    plain, hooked = TOGETHER[name](t, x), TOGETHER[name](t, y)
    hooked[-1].grad_fn.register_prehook(lambda gs: tuple(g * 2 for g in gs))
    hooked[0].grad_fn.register_hook(lambda gi, go: tuple(g * 3 for g in gi))
    (g,), (h,) = (
        t.autograd.grad(sum((row * row).sum() for row in rows), z, create_graph=create_graph)
        for rows, z in ((plain, x), (hooked, y))
    )
    assert t.allclose(h, g * 6, atol=1e-5)


def test_grad_of_results(t):
    """Results may be asked for: they get what arrives at them, and hooks of the node do not run for it."""
    x = matrix(t, requires_grad=True)
    a, b, c = x.unbind()
    ran = []
    a.register_hook(lambda g: ran.append("a") or g * 2)
    b.register_hook(lambda g: ran.append(None if g is None else "b"))
    a.grad_fn.register_prehook(lambda gs: ran.append("node"))
    out = (a * 3).sum() + (c * 5).sum()
    ga, gc_ = t.autograd.grad(out, (a, c), retain_graph=True)
    assert (ga.tolist(), gc_.tolist()) == ([6.0] * 3, [5.0] * 3)
    assert ran == ["a", None]
    gx, ga = t.autograd.grad(out, (x, a))
    assert gx.tolist() == [[6.0] * 3, [0.0] * 3, [5.0] * 3]
    assert ga.tolist() == [3.0] * 3
    assert ran[2:] == ["a", None, "node"]


def test_retained_and_changed(t):
    """A result may be changed in place, and keep the gradient that it has afterwards."""
    x = matrix(t, requires_grad=True)
    var, mean = t.var_mean(x, 0)
    node = mean.grad_fn
    var.retain_grad()
    var.mul_(2)
    assert var.grad_fn is not node
    assert var.grad_fn.next_functions[0] == (node, 0)
    (var * 3 + mean).sum().backward()
    assert var.grad.tolist() == [3.0] * 3


def test_retained(t):
    """A result that keeps its gradient has none where nothing reached it."""
    x = matrix(t, requires_grad=True)
    a, b, c = x.unbind()
    a.retain_grad()
    c.retain_grad()
    (c * 2 + b).sum().backward()
    assert a.grad is None
    assert c.grad.tolist() == [2.0] * 3


def test_edges_of_results(t):
    """An edge says which result it is of; the node can be called with a gradient per result."""
    x = matrix(t, requires_grad=True)
    a, b, c = x.unbind()
    edge = t.autograd.graph.GradientEdge(c.grad_fn, c.output_nr)
    assert (edge.node, edge.output_nr) == (a.grad_fn, 2)
    assert t.autograd.graph.get_gradient_edge(b)[:2] == (a.grad_fn, 1)
    (g,) = t.autograd.grad((c * 2).sum(), edge)
    assert g.tolist() == [2.0] * 3
    one = t.ones(3)
    assert a.grad_fn(one, one * 2, one * 3).tolist() == [[1.0] * 3, [2.0] * 3, [3.0] * 3]
    with pytest.raises(TypeError, match="expected 3 arguments, got 1 instead"):
        a.grad_fn(one)


def test_hook_on_several_results(t):
    """A hook on several tensors is called once, though not all of these results are used."""
    x = matrix(t, requires_grad=True)
    a, b, c = x.unbind()
    seen = []
    t.autograd.graph.register_multi_grad_hook((a, c), lambda gs: seen.append([g is None for g in gs]))
    (a * 2).sum().backward()
    assert seen == [[False, True]]


def test_results_that_are_gone(t):
    """Results that nobody holds are missing in the same way."""
    x = matrix(t, requires_grad=True)
    b = x.unbind()[1]
    gc.collect()
    seen = []
    b.grad_fn.register_prehook(lambda gs: seen.append([g is None for g in gs]))
    b.grad_fn.metadata["note"] = 1
    assert b.grad_fn.metadata == {"note": 1}
    b.sum().backward()
    assert seen == [[True, False, True]]
    assert x.grad.tolist() == [[0.0] * 3, [1.0] * 3, [0.0] * 3]


def test_not_together(t):
    """Functions that call others for each result have a node for each."""
    x = matrix(t, requires_grad=True)
    for rows in (t.tensor_split(x, 3), t.broadcast_tensors(x, x[0]), t.meshgrid(x[0], x[1], indexing="ij")):
        assert rows[0].grad_fn is not rows[1].grad_fn
        assert [row.output_nr for row in rows] == [0] * len(rows)
