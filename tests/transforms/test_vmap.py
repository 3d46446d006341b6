"""func.vmap, func.linearize and func.grad_and_value."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.func import grad, grad_and_value, jvp, linearize, vmap

X = np.arange(12.0).reshape(3, 4)
W = np.linspace(-1, 1, 4)


def test_batch_axes_in_and_out():
    np.testing.assert_allclose(vmap(lambda x, w: x @ w, in_dims=(0, None))(X, W).numpy(), X @ W)
    np.testing.assert_allclose(vmap(lambda x: x * 2, in_dims=1)(X).numpy(), 2 * X.T)
    np.testing.assert_allclose(vmap(lambda x: x * 2, out_dims=1)(X).numpy(), 2 * X.T)
    np.testing.assert_allclose(vmap(lambda x: x * 2, in_dims=-1, out_dims=-1)(X).numpy(), 2 * X)
    np.testing.assert_allclose(vmap(vmap(lambda a: a * a))(X).numpy(), X * X)


def test_nested_arguments_and_results():
    params = {"w": W, "b": 1.0}
    f = vmap(
        lambda p, x: {"y": (p["w"] * x).sum() + p["b"], "x": x},
        in_dims=({"w": None, "b": None}, 0),
        out_dims={"y": 0, "x": 1},
    )
    out = f(params, X)
    np.testing.assert_allclose(out["y"].numpy(), X @ W + 1)
    np.testing.assert_allclose(out["x"].numpy(), X.T)


def test_per_example_gradients_and_gradients_through():
    w = sg.tensor(W, requires_grad=True)
    per = vmap(grad(lambda w, x: (w * x).sum() ** 2), in_dims=(None, 0))(W, X)
    np.testing.assert_allclose(per.numpy(), 2 * (X @ W)[:, None] * X)
    vmap(lambda x: (w * x).sum() ** 2)(X).sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), per.numpy().sum(0))
    _, t = jvp(vmap(lambda x: x.sin()), (X,), (np.ones_like(X),))
    np.testing.assert_allclose(t.numpy(), np.cos(X))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: vmap(lambda x, y: x)(X, W), "same size in the mapped dimension"),
        (lambda: vmap(lambda x: x, in_dims=(None,))(X), "at least one Tensor"),
        (lambda: vmap(lambda x: x, in_dims=2)(X), "Got in_dim=2 for some input, but that input is a Tensor of dimens"),
        (lambda: vmap(lambda x, n: x)(X, 3), "Got in_dim=0 for an input but the input is of type <class 'int'>"),
        (lambda: vmap(lambda x, y: x, in_dims=[0, 0])(X, X), "expected `in_dims` to be int or a .potentially nested"),
        (lambda: vmap(lambda x, y: x, in_dims=(0,))(X, X), "in_dims is not compatible with the structure of `inputs`"),
        (lambda: vmap(lambda x: x[0], in_dims=((0, 0),))([X, X]), "in_dims is not compatible with the structure"),
        (lambda: vmap(lambda: sg.ones(2))(), "got no inputs"),
        (lambda: vmap(lambda x: x, randomness="no"), "Only allowed values for randomness"),
        (lambda: vmap(lambda x: "text")(X), "must only return Tensors, got type <class 'str'>"),
        (lambda: vmap(lambda x: (x, 3))(X), "must only return Tensors, got type <class 'int'>"),
        (lambda: vmap(lambda x: x, out_dims="no")(X), "`out_dims` must be an int, None or a python collection of ints"),
        (lambda: vmap(lambda x: (x, x), out_dims=(0,))(X), "out_dims is not compatible with the structure of"),
        (lambda: vmap(lambda x: x, out_dims=(0, 0))(X), "out_dims is not compatible with the structure"),
        (lambda: vmap(lambda x: x, out_dims=None)(X), "can not return a BatchedTensor when out_dim is None"),
        (lambda: vmap(lambda x: x, out_dims=2)(X), "Dimension out of range"),
    ],
)
def test_vmap_errors(call, words):
    with pytest.raises((ValueError, IndexError), match=words):
        call()


def test_results_that_no_example_has_for_itself():
    values, text = vmap(lambda x: (x, "text"), out_dims=(0, None))(X)
    assert values.shape == X.shape
    assert text == "text"
    assert vmap(lambda x: sg.arange(3), out_dims=None)(X).tolist() == [0, 1, 2]
    w = sg.zeros(3, requires_grad=True)
    with pytest.raises(ValueError, match="out_dim is None"):
        vmap(lambda x: w * x[0], out_dims=None)(X)  # equal numbers, and different derivatives
    assert vmap(lambda x: w, out_dims=None)(X) is w
    assert vmap(lambda x: x * 2, out_dims=(1,))(X).shape == X.T.shape


def test_an_empty_batch_has_the_shape_of_its_results():
    empty = sg.zeros(0, 2, 2, requires_grad=True)
    total, inverse = vmap(lambda x: (x.sum(), sg.linalg.inv(x)), out_dims=(0, 1))(empty)
    assert (total.shape, inverse.shape) == ((0,), (2, 0, 2))
    inverse.sum().backward()
    assert empty.grad.shape == (0, 2, 2)
    assert vmap(lambda k: sg.arange(3)[k])(sg.zeros(0, dtype=sg.int64)).shape == (0,)


def test_what_all_examples_share_is_not_changed_by_each():
    counter = sg.zeros(())
    with pytest.raises(RuntimeError, match="inplace operation on an argument with in_dim=None"):
        vmap(lambda x, c: x + c.add_(1), in_dims=(0, None))(X, counter)
    rows = sg.tensor(X)
    vmap(lambda x: x.mul_(2))(rows)
    np.testing.assert_allclose(rows.numpy(), 2 * X)


DRAWS = {
    "rand": lambda x: sg.rand(20),
    "randn_like": lambda x: sg.randn_like(sg.ones(20)),
    "randint": lambda x: sg.randint(0, 1000, (20,)),
    "randperm": lambda x: sg.randperm(20),
    "bernoulli": lambda x: sg.bernoulli(sg.full((60,), 0.5)),
    "dropout": lambda x: sg.nn.functional.dropout(x.new_ones(60)),
    "in place": lambda x: x.new_ones(20).normal_(),
    "a generator": lambda x, g=sg.Generator(): sg.rand(20, generator=g),
    "numpy": lambda x, g=np.random.default_rng(0): sg.rand(20, generator=g),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_random_numbers_as_asked_for(draw):
    with pytest.raises(RuntimeError, match="called random operation while in randomness error mode"):
        vmap(draw)(X)
    same = vmap(draw, randomness="same")(X)
    assert (same == same[0]).all()
    other = vmap(draw, randomness="different")(X)
    assert not (other[0] == other[1]).all()
    nested = vmap(vmap(draw, randomness="same"), randomness="different")(X[:, :, None])
    assert (nested[0] == nested[0, 0]).all()
    assert not (nested[0, 0] == nested[1, 0]).all()
    with pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(vmap(draw, randomness="same"))(X[:, :, None])
    draw(sg.ones(1))  # outside nothing is refused


def test_linearize():
    calls = []

    def f(p, y):
        calls.append(1)
        return {"a": p["x"].sin() * y, "b": (p["x"] * p["x"]).sum()}

    x, y = np.array([0.3, 1.2]), np.array([2.0, -1.0])
    out, push = linearize(f, {"x": x}, y)
    assert len(calls) == 1
    np.testing.assert_allclose(out["a"].numpy(), np.sin(x) * y)
    for dx, dy in ((np.array([1.0, 0.0]), np.zeros(2)), (np.array([0.5, -2.0]), np.array([1.0, 3.0]))):
        t = push({"x": dx}, dy)
        np.testing.assert_allclose(t["a"].numpy(), np.cos(x) * y * dx + np.sin(x) * dy)
        np.testing.assert_allclose(t["b"].item(), 2 * x @ dx)
    assert len(calls) == 1
    with pytest.raises(ValueError, match="to have the same argspec as the primals"):
        push(x, y)
    with pytest.raises(ValueError, match="tangent:0 with shape .* doesn't match the shape"):
        push({"x": np.ones(3)}, y)
    assert linearize(lambda x: sg.ones(2), x)[1](x).tolist() == [0.0, 0.0]


def test_grad_and_value():
    g, value = grad_and_value(lambda x: (x * x).sum())(W)
    np.testing.assert_allclose(g.numpy(), 2 * W)
    np.testing.assert_allclose(value.item(), W @ W)
    g, (value, aux) = grad_and_value(lambda x: ((x * x).sum(), x * 3), has_aux=True)(W)
    np.testing.assert_allclose(aux.numpy(), 3 * W)


@pytest.mark.peer
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_same_as_torch():
    torch = pytest.importorskip("torch")
    theirs = torch.func.vmap(torch.func.grad(lambda w, x: (w * x).sum() ** 2), in_dims=(None, 0), out_dims=1)(
        torch.tensor(W), torch.tensor(X)
    )
    ours = vmap(grad(lambda w, x: (w * x).sum() ** 2), in_dims=(None, 0), out_dims=1)(W, X)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-12)
    out, push = torch.func.linearize(lambda x: x.sin() * x, torch.tensor(W))
    mine, mine_push = linearize(lambda x: x.sin() * x, W)
    np.testing.assert_allclose(mine.numpy(), out.numpy(), rtol=1e-12)
    np.testing.assert_allclose(mine_push(W).numpy(), push(torch.tensor(W)).numpy(), rtol=1e-12)
