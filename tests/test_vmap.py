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


def test_vmap_errors():
    with pytest.raises(ValueError, match="same size in the mapped dimension"):
        vmap(lambda x, y: x)(X, W)
    with pytest.raises(ValueError, match="at least one Tensor"):
        vmap(lambda x: x, in_dims=None)(X)
    with pytest.raises(ValueError, match="in_dim=2 for an input with 2 dimensions"):
        vmap(lambda x: x, in_dims=2)(X)
    with pytest.raises(TypeError, match="cannot vmap over non-Tensor"):
        vmap(lambda x, n: x)(X, 3)
    with pytest.raises(ValueError, match="Only allowed values for randomness"):
        vmap(lambda x: x, randomness="no")
    with pytest.raises(TypeError, match="must only return Tensors"):
        vmap(lambda x: "text")(X)


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
    with pytest.raises(ValueError, match="nested as the primals"):
        push(x, y)
    with pytest.raises(ValueError, match="tangent 0 has shape"):
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
