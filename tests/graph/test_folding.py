"""Functions that are one node of the tape: values, derivatives of every order, formulas, copies."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.term import evaluate
from symgrad.tape.formulas.reading import read
from symgrad.tape.graph import Source

F = sg.nn.functional
RNG = np.random.default_rng(3)
CALLS = {
    "conv2d": (lambda x, w, b: F.conv2d(x, w, b, padding=1), [(2, 3, 4, 4), (2, 3, 3, 3), (2,)]),
    "conv_transpose1d": (lambda x, w: F.conv_transpose1d(x, w, stride=2), [(1, 2, 4), (2, 3, 2)]),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (4,), w, b), [(3, 4), (4,), (4,)]),
    "group_norm": (lambda x, w: F.group_norm(x, 2, w), [(2, 4, 3), (4,)]),
    "rms_norm": (lambda x: F.rms_norm(x, (4,)), [(3, 4)]),
    "batch_norm": (lambda x, w, b: F.batch_norm(x, None, None, w, b, True), [(4, 2, 3), (2,), (2,)]),
    "instance_norm": (lambda x: F.instance_norm(x), [(2, 2, 4)]),
    "attention": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), [(3, 2), (3, 2), (3, 4)]),
    "cdist": (lambda x, y: sg.cdist(x, y), [(3, 2), (4, 2)]),
    "pdist": (lambda x: F.pdist(x), [(4, 2)]),
    "renorm": (lambda x: sg.renorm(x, 2, 0, 1.0), [(3, 4)]),
    "householder_product": (lambda a, tau: sg.linalg.householder_product(a, tau), [(4, 2), (2,)]),
    "multilabel_margin": (lambda x: F.multilabel_margin_loss(x, sg.tensor([[1, 3, -1, 0]])), [(1, 4)]),
    "grid_sample": (lambda x, p: F.grid_sample(x, p, align_corners=False), [(1, 2, 3, 4), (1, 2, 2, 2)]),
}


def leaves(shapes):
    arrays = [RNG.standard_normal(shape) for shape in shapes]
    return arrays, [sg.tensor(a, requires_grad=True, name=f"v{k}") for k, a in enumerate(arrays)]


@pytest.mark.parametrize("name", CALLS)
def test_one_node_and_derivatives_of_two_orders(name):
    function, shapes = CALLS[name]
    _, tensors = leaves(shapes)
    assert function(*(1 * t for t in tensors))._node.op.kind == "folded"
    assert sg.autograd.gradcheck(function, tensors)
    assert sg.autograd.gradgradcheck(function, tensors)


@pytest.mark.parametrize("name", CALLS)
def test_formulas_show_the_parts(name):
    function, shapes = CALLS[name]
    _, tensors = leaves(shapes)
    out = function(*tensors)
    (out * out).sum().backward()
    for t in (out, *(t.grad for t in tensors)):
        reading, term = read(t)
        values = {n: s.kept if isinstance(s, Source) else s._value for n, s in reading.sources.items()}
        np.testing.assert_allclose(evaluate(term, values), t.detach(), rtol=1e-8, atol=1e-10)


def test_an_argument_that_depends_on_another():
    """The pass through the parts stops at the arguments, so nothing counts twice."""
    x = sg.tensor(RNG.standard_normal((3, 4)), requires_grad=True)
    f = lambda x: (F.layer_norm(x, (4,), x.sum(0), (x * x).sum(0)) ** 2).sum()  # noqa: E731
    assert sg.autograd.gradcheck(f, x)
    assert sg.autograd.gradgradcheck(f, x)


def test_the_formula_of_what_is_named():
    x = sg.tensor(np.eye(2), requires_grad=True, name="x")
    assert (
        F.cross_entropy(2 * x, sg.tensor([0, 1])).latex()
        == F.cross_entropy(sg.tensor(np.eye(2), name="x") * 2, sg.tensor([0, 1])).latex()
    )


@pytest.mark.parametrize("copied", [lambda t: pickle.loads(pickle.dumps(t)), sg.copy_graph], ids=["pickle", "copy"])
def test_copies(copied):
    x = sg.tensor(RNG.standard_normal((3, 4)), requires_grad=True)
    out = F.layer_norm(x * 2, (4,)).sin().sum()
    other = copied(out)
    out.backward()
    other.backward()
    assert other.item() == out.item()


def test_without_grad_nothing_is_folded():
    x = sg.tensor(np.arange(12.0).reshape(3, 4) ** 2, requires_grad=True)  # rows apart from constant ones
    with sg.no_grad():
        assert F.layer_norm(x, (4,)).grad_fn is None
    assert F.layer_norm(x.detach(), (4,)).grad_fn is None
    assert copy.deepcopy(F.layer_norm(x.detach(), (4,))).shape == (3, 4)
    tangent = sg.func.jvp(lambda x: F.layer_norm(x, (4,)), (x,), (x,))[1]
    np.testing.assert_allclose(tangent.detach(), 0, atol=1e-4)


CONSTANTS = {
    "kernel": (lambda x, c: F.conv2d(x, c[:2, :2].reshape(1, 1, 2, 2)), (1, 1, 3, 4)),
    "data": (lambda x, c: F.conv2d(c[None, None], x, padding=1), (2, 1, 2, 2)),
    "transposed": (lambda x, c: F.conv_transpose1d(x, c[:, None], padding=1), (2, 3, 5)),
    "scale": (lambda x, c: F.group_norm(x, 2, c[:2].reshape(-1)[:4]), (2, 4, 3)),
    "weights": (lambda x, c: F.cross_entropy(x, sg.tensor([3, 0, 1]), weight=c[0], label_smoothing=0.1), (3, 4)),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_have_their_values_in_formulas(name):
    """What the parts compute of a constant is not what they would compute of its placeholder."""
    f, shape = CONSTANTS[name]
    x = sg.tensor(RNG.standard_normal(shape), requires_grad=True, name="x")
    c = sg.tensor(RNG.random((3, 4)) + 0.2)
    out = f(x, c)
    np.testing.assert_allclose(sg.formula(out).evaluate(x=x.detach().numpy()), out.detach(), rtol=1e-10)
    (g,) = sg.autograd.grad((out**2).sum(), x, create_graph=True)
    np.testing.assert_allclose(sg.formula(g).evaluate(x=x.detach().numpy()), g.detach(), rtol=1e-9, atol=1e-12)


def _normed(x):
    return F.layer_norm(x, (3,))


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        (lambda x, _: x.data.mul_(2), False),
        (lambda _, y: y.data.mul_(2), False),
        (lambda _, y: y.detach().mul_(2), False),
        (lambda x, _: setattr(x, "data", x.data * 2 + sg.tensor([0.0, 1.0, 5.0], dtype=sg.float64)), False),
        (lambda x, _: x.detach().mul_(2), True),
    ],
    ids=["data of the argument", "data of the result", "result", "other data", "argument"],
)
def test_the_first_run_is_taken_while_its_values_are_what_they_were(change, refused):
    x = sg.tensor([[1.0, 2.0, 4.0]], dtype=sg.float64, requires_grad=True)
    cotangent = sg.tensor([[1.0, -2.0, 0.5]], dtype=sg.float64)
    y = _normed(x)
    change(x, y)
    if refused:
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward(cotangent)
        return
    y.backward(cotangent)
    now = x.data.clone().requires_grad_()
    (expected,) = sg.autograd.grad(_normed(now), now, cotangent)
    assert sg.allclose(x.grad, expected)


@pytest.mark.parametrize("call", ["t.cdist(x, x[:2] + 1)", "t.nn.functional.conv1d(x[:, None], x[:2, None] * 2)"])
def test_memory_that_numpy_wrote_to_is_read_as_it_is(call):
    torch = pytest.importorskip("torch")
    found = []
    for t in (sg, torch):
        leaf = t.tensor([[1.0, 2.0, 4.0], [0.5, 3.0, -1.0], [2.0, 0.0, 1.0]], requires_grad=True)
        x = leaf * 1
        y = eval(call, {"t": t, "x": x})
        x.detach().numpy()[:, 1:] *= 3
        y.sum().backward()
        found.append(leaf.grad.numpy())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)


def test_a_graph_that_is_kept_gives_the_same_again_and_lets_its_first_run_go():
    x = sg.tensor([[1.0, 2.0, 4.0]], requires_grad=True)
    y = (_normed(x) ** 2).sum()
    (call,) = [node.params["call"] for node in _nodes(y._node) if node.op.kind == "folded"]
    assert call.first is not None
    first, second = (sg.autograd.grad(y, x, retain_graph=True)[0] for _ in range(2))
    assert sg.equal(first, second)
    assert call.first is None


def _nodes(node):
    stack, seen = [node], []
    while stack:
        seen.append(stack.pop())
        stack += [arg for arg in seen[-1].args if type(arg) is type(node)]
    return seen
