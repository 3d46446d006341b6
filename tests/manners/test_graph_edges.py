"""``autograd.graph``: edges that stand for tensors, node classes, versions, hooks on several tensors."""

from __future__ import annotations

import pytest

import symgrad as sg
from tests.functions import parted
from tests.leaves import leaf

# ---------------------------------------------------------------------------------------------- edges


def test_grad_to_node(t):
    """The edge of a leaf, of a result and of an output of a Function stand for these in grad."""
    x = leaf(t, [1.0, 2.0])
    for place in (x, x * 2, *parted(t).apply(x)):
        out = (place**2).sum()
        edge = t.autograd.graph.get_gradient_edge(place)
        (by_tensor,) = t.autograd.grad(out, place, retain_graph=True)
        (by_edge,) = t.autograd.grad(out, edge)
        assert by_tensor.tolist() == by_edge.tolist()
    with pytest.raises(RuntimeError, match="not possible to get the gradient edge"):
        t.autograd.graph.get_gradient_edge(t.ones(2))


def test_grad_to_node_inplace(t):
    """A change in place gives a tensor a new edge; the old one leads to what it was."""
    x = leaf(t, [1.0, 2.0]).clone()
    before = t.autograd.graph.get_gradient_edge(x)
    x *= 3
    after = t.autograd.graph.get_gradient_edge(x)
    old, new = t.autograd.grad(x.sum(), (before, after))
    assert (old.tolist(), new.tolist()) == ([3.0, 3.0], [1.0, 1.0])


def test_grad_to_node_multi(t):
    """Edges can be made by hand, from a node and an output number."""
    edge = t.autograd.graph.GradientEdge
    x, y = leaf(t, [1.0, 2.0]).clone(), leaf(t, [3.0, 4.0]).clone()
    out = (x * y).sum()
    at_x, at_y = edge(x.grad_fn, x.output_nr), edge(y.grad_fn, y.output_nr)
    for places in ((at_x, at_y), (at_x, y), (x, at_y)):
        gx, gy = t.autograd.grad(out, places, retain_graph=True)
        assert (gx.tolist(), gy.tolist()) == ([3.0, 4.0], [1.0, 2.0])
    first, second = parted(t).apply(leaf(t, [1.0]))
    gfirst, gsecond = t.autograd.grad(
        first + second * 5, (edge(first.grad_fn, first.output_nr), edge(second.grad_fn, second.output_nr))
    )
    assert (gfirst.item(), gsecond.item()) == (1.0, 5.0)


def test_grad_to_node_materialize(t):
    """Zeros are not made for an edge that the output does not lead to; for a tensor beside a used edge they are."""
    x, y, z = (leaf(t, [1.0, 2.0]).clone() for _ in range(3))
    out = (x * 2).sum()
    at_x, at_y = t.autograd.graph.get_gradient_edge(x), t.autograd.graph.get_gradient_edge(y)
    gx, gz = t.autograd.grad(out, (at_x, z), allow_unused=True, materialize_grads=True, retain_graph=True)
    assert (gx.tolist(), gz.tolist()) == ([2.0, 2.0], [0.0, 0.0])
    with pytest.raises(RuntimeError, match="materialize_grads cannot be used when the given input is a GradientEdge"):
        t.autograd.grad(out, (x, at_y), allow_unused=True, materialize_grads=True)


def test_backward_to_node(t):
    """An edge in inputs=: the leaf gets its .grad; tensors beside it get theirs."""
    x, y = leaf(t, [1.0, 2.0]), leaf(t, [3.0, 4.0])
    middle = y * 2
    at_x = t.autograd.graph.get_gradient_edge(x)
    at_middle = t.autograd.graph.get_gradient_edge(middle)
    out = (x * middle).sum()
    out.backward(inputs=[at_x], retain_graph=True)
    assert x.grad.tolist() == [6.0, 8.0]
    assert y.grad is None
    out.backward(inputs=[at_middle, x], retain_graph=True)
    assert x.grad.tolist() == [12.0, 16.0]
    assert y.grad is None
    out.backward(inputs=at_x)
    assert x.grad.tolist() == [18.0, 24.0]


def test_gradient_edge_output(t):
    """An edge as output: the gradient given for it is checked like that of the tensor."""
    x = leaf(t, [1.0, 2.0])
    edge = t.autograd.graph.get_gradient_edge(x * 3)
    v = t.tensor([1.0, 10.0], dtype=t.float64)
    assert t.autograd.grad(edge, x, v, retain_graph=True)[0].tolist() == [3.0, 30.0]
    t.autograd.backward([edge], [v])
    assert x.grad.tolist() == [3.0, 30.0]
    total = t.autograd.graph.get_gradient_edge((x * 3).sum())
    assert t.autograd.grad(total, x)[0].tolist() == [3.0, 3.0]
    edge = t.autograd.graph.get_gradient_edge(x * 3)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        t.autograd.grad(edge, x, t.ones(3, dtype=t.float64))
    with pytest.raises(RuntimeError, match="Mismatch in dtype"):
        t.autograd.grad(edge, x, t.ones(2, dtype=t.complex128))
    with pytest.raises(RuntimeError, match="implicitly created only for scalar outputs"):
        t.autograd.grad(edge, x)


# ---------------------------------------------------------------------------------------------- nodes and versions


def test_autograd_node_isinstance(t):
    """Every node is an instance of graph.Node, its class a subclass; classes of different operations differ."""
    node = t.autograd.graph.Node
    x = leaf(t, [1.0])
    y, z = x * 2, parted(t).apply(x)[0]
    for made in (y.grad_fn, z.grad_fn, y.grad_fn.next_functions[0][0]):
        assert isinstance(made, node)
        assert issubclass(type(made), node)
    assert not isinstance(x, node)
    assert not isinstance(3, node)
    assert not isinstance(y.grad_fn, type(z.grad_fn))
    assert not isinstance(y.grad_fn, type((x + 1).grad_fn))
    with pytest.raises(TypeError):
        node()


def test_increment_version(t):
    """Whoever changes memory by other means says so: backward then objects as usual."""
    x = leaf(t, [1.0, 2.0])
    factor = t.tensor([3.0, 4.0], dtype=t.float64)
    y = x * factor
    before = factor._version
    t.autograd.graph.increment_version(factor)
    assert factor._version == before + 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    t.autograd.graph.increment_version([factor, factor])
    assert factor._version == before + 3


# ---------------------------------------------------------------------------------------------- several tensors


def test_multi_grad_any_hooks(t):
    """With mode="any" the hook is called once per backward, at the first gradient that is known."""
    seen = []
    x, y = leaf(t, [1.0]), leaf(t, [2.0])
    first, second = x * 2, y * 3
    handle = t.autograd.graph.register_multi_grad_hook((first, second), lambda g: seen.append(g.item()), mode="any")
    out = first + second * 5
    out.backward(retain_graph=True)
    assert seen == [5.0]  # second was made last, so its gradient is known first
    out.backward(retain_graph=True)
    assert seen == [5.0, 5.0]
    first.backward(retain_graph=True)
    assert seen == [5.0, 5.0, 1.0]
    handle.remove()
    out.backward()
    assert len(seen) == 3


def test_multi_grad_hooks_invalid_mode(t):
    """There are two modes."""
    with pytest.raises(ValueError, match=r"Expects mode to be one of \('all', 'any'\) but got several"):
        t.autograd.graph.register_multi_grad_hook((leaf(t, [1.0]),), lambda g: None, mode="several")


@pytest.mark.parametrize(
    ("index", "part", "names"),
    [
        (slice(0, 2), lambda x: x[0], ["ExpandBackward0", "ViewBackward0"]),
        (Ellipsis, lambda x: x[0], ["ExpandBackward0", "ViewBackward0"]),
        (0, lambda x: x[0, :1], ["ExpandBackward0", "ViewBackward0"]),
        (0, lambda x: x[:1], ["ViewBackward0", "SliceBackward0"]),
        (slice(0, 2), lambda x: x[:2], ["SliceBackward0"]),
        (slice(0, 2), lambda x: x.sum(), ["SumBackward0"]),
    ],
)
def test_values_written_are_expanded_first(t, index, part, names):
    """The node of an assignment follows from the views by which its value gets the shape of the part."""
    x = t.ones(3, 3, requires_grad=True)
    y = x * 1
    y[index] = part(x)
    step = y.grad_fn.next_functions[1][0]
    found = [step.name(), step.next_functions[0][0].name()]
    assert found[: len(names)] == names
    (y * y).sum().backward()
    assert x.grad.sum().item() == {"SumBackward0": 978.0}.get(names[0], 18.0)


@pytest.mark.parametrize("name", ["sum", "mean", "amax", "prod", "logsumexp"])
def test_reductions_lie_row_by_row(t, name):
    """Also along axes of size one, whatever the strides of the operand are."""
    x = t.ones(3, 4).T
    for dim, strides in ((0, (3, 1)), (1, (1, 1))):
        assert getattr(x, name)(dim, keepdim=True).stride() == strides


def test_names_of_changes_inside_gradients(t):
    """Nodes of torch's own C++ code bear their namespace in the graph of a gradient, too."""
    x = t.tensor([1.0, 2.0, -1.0], requires_grad=True)
    v = x * 2
    v[:2].copy_(v[:2].detach())
    (g,) = t.autograd.grad((v * v * v).sum(), x, create_graph=True)
    names, below = set(), [g.grad_fn]
    while below:
        node = below.pop()
        if node is not None and "AccumulateGrad" not in node.name():
            names.add((type(node).__name__, node.name()))
            below += [place for place, _ in node.next_functions]
    assert ("CopySlices", "torch::autograd::CopySlices") in names
    assert ("CopyBackwards", "torch::autograd::CopyBackwards") in names
    assert not {name for _, name in names} & {"CopySlices", "CopyBackwards"}


@pytest.mark.parametrize("number", [3, -1])
def test_edges_of_results_that_a_node_does_not_have(number):
    """They were those of its only result; torch reads memory that is none of its own."""
    x = leaf(sg, [1.0, 2.0])
    for out in (x * 2, x.max(0).values):
        with pytest.raises(RuntimeError, match=f"output {number} of .* does not exist"):
            sg.autograd.grad(out.sum(), sg.autograd.graph.GradientEdge(out.grad_fn, number))
