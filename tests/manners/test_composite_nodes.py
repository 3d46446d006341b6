"""Nodes that are one operation in torch and several in symgrad: hooks and calls see the whole, not its last part."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import symgrad as sg
from symgrad.op import FRONTS
from symgrad.ops.torch_nodes.labels import LABELS

WHOLES = {
    "softmax": lambda t, x, y: x.softmax(1),
    "log_softmax": lambda t, x, y: x.log_softmax(1),
    "prod": lambda t, x, y: x.prod(),
    "addmm": lambda t, x, y: t.addmm(x, x * 1, y),
    "mse_loss": lambda t, x, y: t.nn.functional.mse_loss(x, y * x),
    "mean": lambda t, x, y: x.mean(0),
    "var": lambda t, x, y: x.var(1),
    "cumsum": lambda t, x, y: x.cumsum(1),
    "max": lambda t, x, y: x.max(1)[0],
}


def leaves(t):
    x = t.tensor([[1.0, 2.0], [3.0, 5.0]], dtype=t.float64, requires_grad=True)
    y = t.tensor([[0.5, 2.0], [-1.0, 0.25]], dtype=t.float64, requires_grad=True)
    return x, y


def weights(t, out):
    return t.linspace(1.0, 2.0, out.numel(), dtype=t.float64).reshape(out.shape)


def shown(grads):
    return [None if g is None else g.detach().numpy() for g in grads]


def alike(found, wanted):
    assert [g is None for g in found] == [g is None for g in wanted]
    for a, b in zip(found, wanted, strict=True):
        if a is not None:
            np.testing.assert_allclose(a, b, rtol=1e-12)


def reference(name):
    """What torch's hook of the node saw, and the gradients of the leaves."""
    torch = pytest.importorskip("torch")
    return observed(torch, name)


def observed(t, name):
    x, y = leaves(t)
    out = WHOLES[name](t, x, y)
    seen = []
    out.grad_fn.register_hook(lambda inputs, outputs: seen.append((shown(inputs), shown(outputs))))
    out.backward(weights(t, out))
    return seen, shown([x.grad, y.grad])


@pytest.mark.peer
@pytest.mark.parametrize("name", WHOLES)
def test_hook_sees_the_whole(t, name):
    """Gradients of the inputs and of the output as torch gives them to the hook."""
    (seen, grads), (wanted, wanted_grads) = observed(t, name), reference(name)
    assert len(seen) == len(wanted) == 1
    for found, expected in zip(seen[0], wanted[0], strict=True):
        alike(found, expected)
    alike(grads, wanted_grads)


@pytest.mark.peer
@pytest.mark.parametrize("name", WHOLES)
def test_call_is_the_whole(t, name):
    """A node called by itself gives what torch's gives; a path beside it, from input to input, is not followed."""
    results = []
    for module in (t, pytest.importorskip("torch")):
        x, y = leaves(module)
        out = WHOLES[name](module, x, y)
        made = out.grad_fn(weights(module, out))
        results.append(shown(made if isinstance(made, tuple) else (made,)))
    alike(*results)


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("create_graph", [False, True])
def test_hook_replaces_the_whole(t, create_graph):
    """What the hook returns goes on to the inputs; the gradient by one input alone comes out the same."""
    for targets in (0, 1, None):
        x, y = leaves(t)
        out = t.addmm(x, x * 1, y)
        out.grad_fn.register_hook(lambda inputs, outputs: tuple(None if g is None else g * 10 for g in inputs))
        plain = t.addmm(x, x * 1, y)
        chosen = [x, y] if targets is None else [(x, y)[targets]]
        found = t.autograd.grad(out.sum(), chosen, create_graph=create_graph)
        wanted = t.autograd.grad(plain.sum(), chosen)
        alike(shown(found), shown([g * 10 for g in wanted]))
        assert found[0].requires_grad is create_graph


def test_hooks_of_inputs_run_once(t):
    """Hooks on the tensors that go in are called once, as without a hook on the node."""
    x, y = leaves(t)
    middle = y * x
    calls = []
    middle.register_hook(lambda g: calls.append("middle"))
    x.register_hook(lambda g: calls.append("x"))
    out = t.nn.functional.mse_loss(x, middle)
    out.grad_fn.register_hook(lambda inputs, outputs: calls.append("node"))
    out.register_hook(lambda g: calls.append("out"))
    out.backward()
    assert calls == ["out", "node", "middle", "x"]


@pytest.mark.parametrize("name", sorted(n for n in LABELS.keys() & FRONTS.keys() if callable(LABELS[n])))
def test_names_are_found_however_arguments_are_given(name):
    given = inspect.signature(LABELS[name]).parameters
    asked = inspect.signature(FRONTS[name].call).parameters.values()
    if not any(p.kind is p.VAR_KEYWORD for p in given.values()):
        assert [p.name for p in asked if p.kind is not p.VAR_POSITIONAL and p.name not in given] == []


def test_arguments_by_name(t):
    assert type(t.diagflat(t.ones(2, requires_grad=True), offset=1).grad_fn).__name__ == "DiagEmbedBackward0"
    assert type(t.adjoint(input=t.ones(2, 2, requires_grad=True)).grad_fn).__name__ == "TransposeBackward0"


def test_linear_layer(t):
    """A linear layer is torch's product with a sum, of the bias, the input and the turned weight, in this order."""
    x, w, b = (t.ones(*size, requires_grad=True) for size in ((2, 3), (4, 3), (4,)))
    node = t.nn.functional.linear(x, w, b).grad_fn
    (bias, _), (leaf, _), (turned, _) = node.next_functions
    assert [edge.name().rpartition("::")[2] for edge in (node, turned)] == ["AddmmBackward0", "TBackward0"]
    assert (bias.variable is b, leaf.variable is x, turned.next_functions[0][0].variable is w) == (True, True, True)
    seen = []
    node.register_hook(lambda gi, go: seen.append([tuple(g.shape) for g in gi]))
    for name, edge in (("b", bias), ("w", turned.next_functions[0][0]), ("x", leaf), ("t", turned)):
        edge.register_prehook(lambda gs, name=name: seen.append(name))
    t.nn.functional.linear(x, w).sum().backward()
    y = t.nn.functional.linear(x, w)
    assert y.grad_fn.name() == "MmBackward0"
    assert y.grad_fn.next_functions[1][0].name() == "TBackward0"
    constant = t.nn.functional.linear(x.detach(), w, b.detach()).grad_fn
    assert [edge and edge.name() for edge, _ in constant.next_functions] == [None, None, "TBackward0"]


def test_order_of_a_linear_layer(t):
    """Hooks on all of its nodes run in torch's order, and see the gradients of its inputs."""
    x, w, b = (t.ones(*size, requires_grad=True) for size in ((2, 3), (4, 3), (4,)))
    y = t.nn.functional.linear(x * 1, w, b)
    seen = []
    node = y.grad_fn
    (bias, _), (scaled, _), (turned, _) = node.next_functions
    node.register_hook(lambda gi, go: seen.append([tuple(g.shape) for g in gi]))
    for name, edge in (("b", bias), ("x", scaled), ("t", turned)):
        edge.register_prehook(lambda gs, name=name: seen.append(name))
    w.register_hook(lambda g: seen.append("w"))
    y.sum().backward()
    assert seen == [[(4,), (2, 3), (3, 4)], "b", "t", "w", "x"]
    assert w.grad.tolist() == [[2.0] * 3] * 4


def test_names_of_layers(t):
    """Layers that torch has one node for."""
    functional, table = t.nn.functional, t.ones(4, 3, requires_grad=True)
    picked = functional.embedding(t.tensor([0, 2]), table)
    assert picked.grad_fn.name() == "EmbeddingBackward0"
    assert picked.grad_fn.next_functions[0][0].variable is table
    assert functional.embedding_bag(t.tensor([[0, 2]]), table).grad_fn.name() == "EmbeddingBagBackward0"
    assert functional.rms_norm(table, (3,)).grad_fn.name() == "MulBackward0"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_float_power_casts_what_is_narrow(t, dtype):
    """Numbers in double precision are taken as they are, without a node for a cast."""
    x = t.tensor([1.0, 2.0], dtype=getattr(t, dtype), requires_grad=True)
    node = t.float_power(x, x * 1).grad_fn
    names = [type(found).__name__ for found, _ in node.next_functions]
    assert names == (["ToCopyBackward0"] * 2 if dtype == "float32" else ["AccumulateGrad", "MulBackward0"])


def _pictures(t, axes):
    sizes = (4,) * axes
    return t.ones(1, 2, *sizes, requires_grad=True), t.ones(3, 2, *(2,) * axes, requires_grad=True)


def _convolution(t, axes, bias, batched=True):
    x, w = _pictures(t, axes)
    x = x if batched else t.ones(2, *(4,) * axes, requires_grad=True)
    return getattr(t.nn.functional, f"conv{axes}d")(x, w, *([t.ones(3, requires_grad=bias > 1)] if bias else []))


def _surprise(t, *axes, **options):
    labels = t.ones(4, *axes, dtype=t.int64)
    return t.nn.functional.cross_entropy(t.ones(4, 3, *axes, requires_grad=True), labels, **options)


def _norm(t, name, *args, given=""):
    x = t.ones(2, 4, 3, requires_grad=True)
    size = 3 if name == "layer_norm" else 4
    parts = {"w": t.ones(size, requires_grad=True), "b": t.ones(size, requires_grad=True)}
    named = {n: parts[n[0]] for n in ("weight", "bias") if n[0] in given}
    if name == "batch_norm":
        args = tuple(t.ones(4) for _ in range(2)) if "r" in given else (None, None)
        named["training"] = True
    return getattr(t.nn.functional, name)(x, *args, **named)


EDGES = {
    "cross_entropy": lambda t: _surprise(t),
    "cross_entropy sum": lambda t: _surprise(t, reduction="sum"),
    "cross_entropy weight": lambda t: _surprise(t, weight=t.ones(3)),
    "cross_entropy ignore": lambda t: _surprise(t, ignore_index=0),
    "cross_entropy vector": lambda t: t.nn.functional.cross_entropy(t.ones(3, requires_grad=True), t.tensor(1)),
    "cross_entropy 3": lambda t: _surprise(t, 5),
    "cross_entropy 3 none": lambda t: _surprise(t, 5, reduction="none"),
    "cross_entropy 4": lambda t: _surprise(t, 5, 6),
    "logdet": lambda t: t.logdet(t.eye(3, requires_grad=True) * 2),
    **{
        f"conv{axes}d {bias} {batched}": lambda t, axes=axes, bias=bias, batched=batched: _convolution(
            t, axes, bias, batched
        )
        for axes in (1, 2, 3)
        for bias in (0, 1, 2)
        for batched in (True, False)
    },
    **{f"layer_norm {k}": lambda t, k=k: _norm(t, "layer_norm", (3,), given=k) for k in ("", "w", "b", "wb")},
    **{f"group_norm {k}": lambda t, k=k: _norm(t, "group_norm", 2, given=k) for k in ("", "w", "b", "wb")},
    **{f"batch_norm {k}": lambda t, k=k: _norm(t, "batch_norm", given=k) for k in ("", "wb", "r", "rw", "rwb")},
}


@pytest.mark.peer
@pytest.mark.parametrize("case", EDGES)
def test_edges_of_common_functions(case):
    """Steps inside of a function, and places of arguments that are absent, stand in the graph."""

    def walk(t):
        found, todo = [], [(EDGES[case](t).grad_fn, 0)]
        while todo:
            node, depth = todo.pop()
            found.append((None if node is None else node.name(), depth))
            todo += [(below, depth + 1) for below, _ in (() if node is None else node.next_functions)]
        return found

    assert walk(sg) == walk(pytest.importorskip("torch", reason="torch, the referee of these tests, is not installed"))


def edges(node):
    return [
        None if place is None else place.name().removeprefix("torch::autograd::") for place, _ in node.next_functions
    ]


CONVOLUTIONS = {"conv1d": (1, 4), "conv2d": (1, 3, 3), "conv_transpose2d": (1, 3, 3), "conv3d": (1, 3, 3, 3)}


@pytest.mark.parametrize("name", CONVOLUTIONS)
@pytest.mark.parametrize("tracked", [True, False])
def test_the_derivative_of_a_convolution_is_one_node_of_all_that_it_reads(t, name, tracked):
    """It leads to the input and the weights, though by one of them it is the same everywhere."""
    shape = (1, *CONVOLUTIONS[name])
    x = t.ones(shape, dtype=t.float64, requires_grad=True)
    w = t.full((1, 1, *[2] * (len(shape) - 2)), 3.0, dtype=t.float64, requires_grad=tracked)
    given = [x, w] if tracked else [x]
    out = getattr(t.nn.functional, name)(x, w)
    grads = t.autograd.grad((out * out).sum(), given, create_graph=True)
    for g in grads:
        assert g.grad_fn.name() == "ConvolutionBackwardBackward0"
        assert edges(g.grad_fn) == ["AddBackward0", "AccumulateGrad", "AccumulateGrad" if tracked else None]
    first = t.autograd.grad(getattr(t.nn.functional, name)(x, w).sum(), x, create_graph=True)[0]
    assert first.requires_grad
    seconds = t.autograd.grad(first.sum(), given, allow_unused=True)
    assert seconds[0] is None
    assert not tracked or seconds[1].shape == w.shape


def test_the_derivative_of_layers_and_samples_is_one_node(t):
    nn = t.nn.functional
    x = t.tensor([[1.0, 2.0, 4.0], [0.0, 1.0, -1.0]], dtype=t.float64, requires_grad=True)
    w = t.ones(3, dtype=t.float64, requires_grad=True)
    for out, name in (
        (nn.layer_norm(x, (3,), w), "NativeLayerNormBackwardBackward0"),
        (nn.batch_norm(x, None, None, w, None, True), "NativeBatchNormBackwardBackward0"),
    ):
        for g in t.autograd.grad((out**2).sum(), (x, w), create_graph=True):
            assert g.grad_fn.name() == name
            t.autograd.grad((g * g).sum(), (x, w), retain_graph=True)
    grid = t.zeros(1, 2, 2, 2, dtype=t.float64, requires_grad=True)
    image = t.ones(1, 1, 3, 3, dtype=t.float64, requires_grad=True)
    out = nn.grid_sample(image, grid, align_corners=False)
    (g,) = t.autograd.grad(out.sum(), image, create_graph=True)
    assert g.grad_fn.name() == "GridSampler2DBackwardBackward0"
