"""Tensors pickle and deep-copy with their graph; what they share stays shared, and deep graphs are no problem."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import SymgradWarning


def through_pickle(value):
    return pickle.loads(pickle.dumps(value))


COPIERS = pytest.mark.parametrize("copied", [through_pickle, sg.copy_graph], ids=["pickle", "copy_graph"])


class Scaled(sg.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.k = k
        ctx.save_for_backward(x)
        return x * x * k

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * ctx.k * x * g, None


def doubled(g):
    return g * 2


@COPIERS
def test_leaf(copied):
    x = sg.tensor([1.0, 2.0], requires_grad=True, name="w")
    x.grad = sg.tensor([3.0, 4.0])
    y = copied(x)
    assert y is not x
    assert repr(y) == repr(x)
    assert y.grad.tolist() == [3.0, 4.0]
    assert y.name == "w"
    y.data[0] = 9.0
    y.grad.zero_()
    assert x.tolist() == [1.0, 2.0]
    assert x.grad.tolist() == [3.0, 4.0]


@COPIERS
def test_graph_goes_along(copied):
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    y = (x.sin() * x).sum()
    x2, y2 = copied((x, y))
    assert repr(y2) == repr(y)
    y2.backward()
    assert x.grad is None
    y.backward()
    assert x2.grad.tolist() == x.grad.tolist()


@COPIERS
def test_shared_parts_stay_shared(copied):
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    z = y.sum()
    for order in ([z, y, x], [x, y, z]):
        found = dict(zip(map(id, order), copied(order), strict=True))
        (g,) = sg.autograd.grad(found[id(z)], found[id(y)], retain_graph=True)
        assert g.tolist() == [1.0, 1.0]
        found[id(z)].backward()
        assert found[id(x)].grad.tolist() == [2.0, 4.0]


@COPIERS
def test_formulas_go_along(copied):
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    y = copied(x)
    assert str(y.grad.expr) == str(x.grad.expr) == "2*x"


@COPIERS
def test_gradient_with_a_graph(copied):
    x = sg.tensor(2.0, requires_grad=True)
    (g,) = sg.autograd.grad(x**3, x, create_graph=True)
    x2, g2 = copied((x, g))
    assert sg.autograd.grad(g2, x2)[0].item() == 12.0


@COPIERS
def test_custom_function(copied):
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    x2, y2 = copied((x, Scaled.apply(x, 3).sum()))
    y2.backward()
    assert x2.grad.tolist() == [6.0, 12.0]


@COPIERS
@pytest.mark.parametrize("depth", [5_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_deep_chain(copied, depth):
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    y = x
    for _ in range(depth):
        y = y * 1.0
    x2, y2 = copied((x, y))
    y2.sum().backward()
    assert x2.grad.tolist() == [1.0, 1.0]


@COPIERS
def test_importable_hooks_go_along(copied):
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(doubled)
    y = copied(x)
    (y * 1).sum().backward()
    assert y.grad.tolist() == [2.0, 2.0]


@COPIERS
def test_other_hooks_are_dropped_with_a_warning(copied):
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: g * 2)
    with pytest.warns(SymgradWarning, match="left out of the copy or pickle"):
        y = copied(x)
    (y * 1).sum().backward()
    assert y.grad.tolist() == [1.0, 1.0]


@COPIERS
def test_freed_graphs_stay_freed(copied):
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        copied(y).backward()


def test_deepcopy_is_for_leaves():
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    x.grad = sg.ones(2)
    y = copy.deepcopy(x)
    assert y.tolist() == x.tolist()
    assert y.grad.tolist() == [1.0, 1.0]
    assert y.requires_grad
    with pytest.raises(RuntimeError, match=r"Only Tensors created explicitly by the user .*copy_graph"):
        copy.deepcopy(x * 2)


def test_deepcopy_keeps_shared_memory():
    x = sg.tensor(np.ones(3))
    x2, y2 = copy.deepcopy((x, x.detach()))
    x2[0] = 5.0
    assert y2.tolist() == [5.0, 1.0, 1.0]


def test_sizes_pickle_as_ints_and_stay_sizes_in_a_graph():
    x = sg.ones(3, 2, requires_grad=True, name="x")
    rows = x.shape[0]
    assert [type(n) for n in (through_pickle(rows), through_pickle(x.numel()))] == [int, int]
    mean = x.sum() / rows
    assert str(through_pickle(mean).term) == str(mean.term)
    assert type(copy.deepcopy(rows)) is type(rows)


SEVERAL = {
    "unbind": lambda x: x.unbind(0),
    "split": lambda x: x.split(1),
    "var_mean": sg.var_mean,
    "qr": sg.linalg.qr,
    "svd": sg.linalg.svd,
    "slogdet": lambda x: tuple(sg.linalg.slogdet(x)),
}


@COPIERS
@pytest.mark.parametrize("name", SEVERAL)
def test_outputs_of_one_node_stay_together(copied, name):
    x = sg.tensor([[2.0, 1.0], [0.5, 3.0]], requires_grad=True, name="x")
    outs = tuple(SEVERAL[name](x))
    made = copied(outs)
    assert [o.grad_fn.name() for o in made if o.requires_grad] == [o.grad_fn.name() for o in outs if o.requires_grad]
    assert [o.output_nr for o in made] == [o.output_nr for o in outs]
    live = [o for o in made if o.requires_grad]
    assert all(o.grad_fn is live[0].grad_fn for o in live)
    heard = []
    live[0].grad_fn.register_hook(lambda gi, go: heard.append(len(go)))
    sum(o.sum() for o in live).backward()
    assert heard == [len(outs)]


@COPIERS
def test_an_output_whose_siblings_are_gone(copied):
    x = sg.tensor([[2.0, 1.0], [0.5, 3.0]], requires_grad=True)
    last = copied(x.unbind(0)[1])
    assert (last.output_nr, last.grad_fn.name()) == (1, "UnbindBackward0")
    heard = []
    last.grad_fn.register_prehook(lambda go: heard.append([g is None for g in go]))
    last.sum().backward()
    assert heard == [[True, False]]


def tripled(gi, go):
    return tuple(None if g is None else 3 * g for g in gi)


@COPIERS
def test_hooks_on_the_node_of_several_outputs_go_along(copied):
    x = sg.tensor([[2.0, 1.0], [0.5, 3.0]], requires_grad=True)
    a, b = x.unbind(0)
    a.grad_fn.register_hook(tripled)
    x2, a2, b2 = copied((x, a, b))
    (a2.sum() + 2 * b2.sum()).backward()
    assert x2.grad.tolist() == [[3.0, 3.0], [6.0, 6.0]]


def test_siblings_that_are_pickled_apart_stay_apart():
    x = sg.tensor([[2.0, 1.0], [0.5, 3.0]], requires_grad=True)
    a, b = x.unbind(0)
    a, b = through_pickle(a), through_pickle(b)
    assert (a.output_nr, b.output_nr) == (0, 1)
    (a.sum() + b.sum()).backward()


class Both(sg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2, x * x

    @staticmethod
    def backward(ctx, g, h):
        return 2 * g + 2 * h * ctx.saved_tensors[0]


@COPIERS
def test_outputs_of_a_custom_function_stay_together(copied):
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    x, a, b = copied((x, *Both.apply(x)))
    assert (a.output_nr, b.output_nr) == (0, 1)
    assert a.grad_fn is b.grad_fn
    heard = []
    b.register_hook(lambda g: heard.append(g))
    a.sum().backward()
    assert heard == [None] or heard[0].tolist() == [0.0, 0.0]
    assert x.grad.tolist() == [2.0, 2.0]


def roles(node):
    found, waiting = [], [node]
    while waiting:
        node = waiting.pop()
        if hasattr(node, "sequence_nr"):
            found.append(getattr(node.args, "role", ""))
            waiting.extend(node.args)
    return found


@COPIERS
def test_what_a_change_of_a_view_made_of_nodes_goes_along(copied):
    base = sg.ones(3, requires_grad=True) * 1
    base[:2].mul_(3)
    made = copied(base)
    assert set(roles(base._node)) > {""}
    assert roles(made._node) == roles(base._node)
    assert made.grad_fn.name() == base.grad_fn.name()


@COPIERS
@pytest.mark.filterwarnings("ignore:the hook", "ignore:Using backward")
@pytest.mark.parametrize("recorded", [False, True])
def test_gradients_that_hooks_have_seen_are_copied(copied, recorded):
    x = sg.tensor([1.0, 2.0], requires_grad=True, name="x")
    kept: list[sg.Tensor] = []
    y = x.exp()
    y.register_hook(lambda g: kept.append(g) or 2 * g if recorded else kept.append(g))
    y.sum().backward(create_graph=recorded)
    again = copied(x.grad)
    assert again.tolist() == x.grad.tolist()
    assert str(again.expr) == str(x.grad.expr)
