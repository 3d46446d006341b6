"""What torch shows of gradients and of tensors changed in place: names of nodes, what follows them, versions."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import symgrad as sg

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peer


def leaves(t: Any) -> tuple[Any, Any]:
    x = t.tensor([0.5, -1.25], dtype=t.float64, requires_grad=True)
    return x, t.tensor([[1.0, 2.0], [3.0, -0.5]], dtype=t.float64, requires_grad=True)


GRADIENTS = {
    "used twice": lambda t, x, W: (x.tanh() * x).sum(),
    "tanh": lambda t, x, W: x.tanh().sum() + W.sigmoid().mean(),
    "sums": lambda t, x, W: x.sum() + x.sum() + x.mean() + W.sum(dim=0).sum(),
    "select": lambda t, x, W: x[0] * x[0] + W[0, 1:].sum(),
    "select of one": lambda t, x, W: W[1].sin().sum() + x[None].exp().sum(),
    "places": lambda t, x, W: x[[0, 0]].sin().sum() + W[W > 0].exp().sum(),
    "matrix and vector": lambda t, x, W: (W @ x).sin().sum(),
    "vector and matrix": lambda t, x, W: (x @ W).sin().sum(),
    "gram": lambda t, x, W: (W @ W.T).sin().sum() + x.dot(x),
    "broadcast": lambda t, x, W: (W * x).sin().sum() + (W + x[0]).exp().sum(),
    "a number": lambda t, x, W: (2 / (x.abs() + 1)).sum() + (3 - W).sin().sum(),
    "chain": lambda t, x, W: (x.sin() + x.cos() * x + x).sum() + W.exp().log1p().sum(),
    "views": lambda t, x, W: (W.view(-1)[:3] * W.t().reshape(-1)[1:]).sum() + x.unsqueeze(0).sin().sum(),
    "lerp": lambda t, x, W: t.lerp(x, x * 2, 0.3).sin().sum() + t.addcmul(W, W, W, value=0.5).sum(),
    "extremes": lambda t, x, W: t.maximum(x, x * 2).sin().sum() + W.max().sin() + W.max(dim=0)[0].sin().sum(),
    "join": lambda t, x, W: t.cat([x, x]).sin().sum() + t.stack([W, W]).exp().sum(),
    "piecewise": lambda t, x, W: (
        x.relu().sin().sum() + W.clamp(-1, 1).sin().sum() + t.where(W > 0, W, W * 2).sin().sum()
    ),
    "masks": lambda t, x, W: x.masked_fill(x > 0, 1.0).sin().sum() + W.tril().sin().sum() + W.diagonal().sin().sum(),
    "softmax": lambda t, x, W: (x.softmax(0) * x).sum() + W.log_softmax(1)[0].sin().sum(),
    "softmin": lambda t, x, W: (
        (t.nn.functional.softmin(x, 0) ** 2).sum() + t.nn.functional.softmin(W, 1)[0].sin().sum()
    ),
    "scan": lambda t, x, W: x.cumsum(0).sin().sum() + x.flip(0).sin().sum() + W.norm(),
    "casts": lambda t, x, W: x.float().sin().sum() + (W + W.float()).sin().sum(),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name: str) -> None:
    """A gradient's node in a recorded pass, and how often torch's engine added into its memory in a plain one."""

    def told(t: Any) -> Any:
        x, W = leaves(t)
        out = GRADIENTS[name](t, x, W)
        recorded = t.autograd.grad(out, (x, W), create_graph=True, allow_unused=True)
        plain = t.autograd.grad(out, (x, W), retain_graph=True, allow_unused=True)
        names = [None if g is None or g.grad_fn is None else type(g.grad_fn).__name__ for g in recorded]
        return names, [None if g is None else g._version for g in (*recorded, *plain)]

    assert told(sg) == told(torch)


FOLLOWING = {
    "lerp": lambda t, x, W: t.lerp(x, x * 2, 0.3),
    "addcmul": lambda t, x, W: t.addcmul(W, W * 2, W),
    "alpha": lambda t, x, W: t.add(x, x * 2, alpha=3),
    "silu": lambda t, x, W: t.nn.functional.silu(x.sin()),
    "mse": lambda t, x, W: t.nn.functional.mse_loss(x, x.detach()),
    "std": lambda t, x, W: W.exp().std(dim=0),
    "where": lambda t, x, W: t.where(x > 0, x, x * 2),
    "masked_fill": lambda t, x, W: x.sin().masked_fill(x > 0, 1.0),
    "index_add": lambda t, x, W: W.index_add(0, t.tensor([0]), W[:1]),
}


@pytest.mark.parametrize("name", FOLLOWING)
def test_composites_are_one_node(name: str) -> None:
    """``next_functions`` of a function made of several ops are those of its arguments."""

    def told(t: Any) -> Any:
        made = FOLLOWING[name](t, *leaves(t))
        return type(made.grad_fn).__name__, [type(f).__name__ for f, _ in made.grad_fn.next_functions]

    assert told(sg) == told(torch)


def _through_data(t: Any) -> Any:
    x = t.ones(3)
    x.add_(1)
    other = x.data
    other.sin_()
    other[0].mul_(2)
    return x._version, other._version, other[1:]._version, x.detach()._version


def _set_data(t: Any) -> Any:
    x = t.ones(3)
    x.add_(1)
    row = x[0]
    x.data = t.zeros(3)
    x.mul_(2)
    return x._version, row._version


def _array(t: Any) -> Any:
    x = t.ones(3)
    x.add_(1)
    other = t.from_numpy(x.detach().numpy())
    other.add_(1)
    return other._version


def _copies(t: Any) -> Any:
    x = t.ones(3, requires_grad=True)
    return copy.deepcopy(x)._version, x.clone()._version, (x * 1).detach_()._version


def _shapes(t: Any) -> Any:
    x = t.ones(2, 3)
    x.t_()
    x.unsqueeze_(0)
    return x._version, x.squeeze_()._version


def _views_of_changed(t: Any) -> Any:
    x = leaves(t)[1] * 1
    row, turned = x[0], x.t()
    row.mul_(2)
    return [type(v.grad_fn).__name__ for v in (x, row, turned)], [v._version for v in (x, row, turned)]


def _written(t: Any) -> Any:
    x = leaves(t)[1]
    made = []
    for index, value in ((0, 1.0), (slice(None), 2.0), ([0, 1], 0.5), (x > 0, 0.5), (slice(None), x[0] * 1)):
        y = x * 1
        y[index] = value
        made.append((type(y.grad_fn).__name__, y._version))
    return made


@pytest.mark.parametrize("case", [_through_data, _set_data, _array, _copies, _shapes, _views_of_changed, _written])
def test_changes_in_place(case: Any) -> None:
    assert case(sg) == case(torch)


def test_names_are_plain_text() -> None:
    """The name of a changed base keeps nothing of the graph alive, and pickles."""
    y = leaves(sg)[1] * 1
    y[0].mul_(2)
    name = type(y.grad_fn).__name__
    assert name == "CopySlices"
    assert type(name) is str


@pytest.mark.parametrize(
    "shapes", [((2, 2, 3), (2, 3, 2)), ((1, 2, 3), (1, 3, 2)), ((2, 3), (2, 3, 2)), ((3,), (3, 2))]
)
def test_second_gradients_of_products_whose_parts_lie_turned(shapes: tuple[tuple[int, ...], ...]) -> None:
    """A sum lies as its first part does, which decides whether torch views it or makes an alias."""

    def names(t: Any) -> list[str]:
        x, y = (t.ones(*shape, requires_grad=True) for shape in shapes)
        first = t.autograd.grad((x @ y).pow(3).sum(), (x, y), create_graph=True)
        second = t.autograd.grad(sum((g * g).sum() for g in first), (x, y), create_graph=True)
        return [type(g.grad_fn).__name__ for g in (*first, *second)]

    assert names(sg) == names(torch)


def _penalty(t, F, x, W, b):
    y = F.linear(F.leaky_relu(F.linear(x, W, b), 0.2), b[None])
    (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
    return ((g.norm(2, dim=1) - 1) ** 2).mean() + y.mean()


def _equation(t, F, x, W, b):
    u = t.tanh(F.linear(x, W, b)) @ b[:, None]
    (slope,) = t.autograd.grad(u, x, t.ones_like(u), create_graph=True)
    (second,) = t.autograd.grad(slope[:, 0].sum(), x, create_graph=True)
    return (second + u * slope).pow(2).mean()


def _adapted(t, F, x, W, b):
    for _ in range(2):
        (g,) = t.autograd.grad((x @ W.t()).pow(2).mean(), W, create_graph=True)
        W = W - 0.1 * g
    return W.sum()


def _squared(make):
    def program(t, F, x, W, b):
        found = t.autograd.grad(make(t, F, x, W, b), (x, W, b), create_graph=True, allow_unused=True)
        return sum(g.pow(2).sum() for g in found if g is not None)

    return program


WALKED = {
    "a gradient penalty": _penalty,
    "a differential equation": _equation,
    "two steps of descent": _adapted,
    "classes": _squared(lambda t, F, x, W, b: F.cross_entropy(F.linear(x, W, b), t.tensor([0, 2]))),
    "softmax": _squared(lambda t, F, x, W, b: (x @ W.t()).softmax(1).pow(2).sum()),
    "einsum": _squared(lambda t, F, x, W, b: t.einsum("ij,kj->ik", x, W).sin().sum()),
    "entries": _squared(lambda t, F, x, W, b: (x[0] * W[1]).sum() + t.cat([x, W * 2]).pow(3).sum()),
    "branches": _squared(lambda t, F, x, W, b: t.where(x > 0, x * x, x).sum() + (W * W).max()),
    "quotients and roots": _squared(lambda t, F, x, W, b: (x / (W[:2] + 1)).sum() + b.add(1).sqrt().sum()),
}


@pytest.mark.parametrize("program", WALKED.values(), ids=WALKED)
def test_a_walk_through_the_graph_of_a_gradient_meets_the_nodes_of_torch(program):
    """How many of each name there are, and how many edges."""
    seen = []
    for t in (sg, torch):
        x = t.ones(2, 4, requires_grad=True)
        W = t.arange(1.0, 13.0).view(3, 4).div(9).requires_grad_()
        b = t.tensor([0.5, -1.0, 0.25], requires_grad=True)
        names, edges, stack = {}, 0, [program(t, t.nn.functional, x, W, b).grad_fn]
        while stack:
            node = stack.pop()
            if node not in names:
                names[node] = node.name()
                below = [n for n, _ in node.next_functions if n is not None]
                edges += len(below)
                stack += below
        seen.append((sorted(names.values()), edges))
    assert seen[0] == seen[1]


def test_the_layouts_of_a_chain_are_found_in_steps_in_proportion_to_its_length(monkeypatch):
    from symgrad.autograd.graphs import torch_graph

    def asked(length):
        x = sg.ones(2, 3, requires_grad=True)
        y = x
        for _ in range(length):
            y = (y * x).sin()
        (g,) = sg.autograd.grad(y.sum(), x, create_graph=True)
        count, edges_of = [0], torch_graph.edges_of

        def counted(node):
            count[0] += 1
            return edges_of(node)

        with monkeypatch.context() as patch:
            patch.setattr(torch_graph, "edges_of", counted)
            assert g.grad_fn.name() == "AddBackward0"
        return count[0]

    assert asked(80) < 5 * asked(20)
