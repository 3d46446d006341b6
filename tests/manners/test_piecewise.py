"""Activations that are linear by pieces: their recorded gradients depend on where they were taken."""

from __future__ import annotations

import pytest

PIECEWISE = ["relu", "leaky_relu", "hardtanh", "relu6", "hardsigmoid", "softshrink", "hardshrink"]


@pytest.mark.parametrize("name", [*PIECEWISE, "threshold"])
@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_recorded_gradients_require_grad(t, name, dtype):
    """The slope is recorded as a function of the input, with derivative zero."""
    x = t.tensor([-7.0, -2.0, 0.25, 5.0], dtype=getattr(t, dtype), requires_grad=True)
    options = (0.0, 1.0) if name == "threshold" else ()
    y = getattr(t.nn.functional, name)(x, *options)
    (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
    assert g.requires_grad
    assert g.dtype == x.dtype
    if name != "hardsigmoid":  # whose second derivative torch does not have
        (second,) = t.autograd.grad(g.sum(), x, retain_graph=True)
        assert second.tolist() == [0.0] * 4
    y.sum().backward()
    assert x.grad.tolist() == g.tolist()


@pytest.mark.parametrize("call", ["elu(x)", "elu(x, 2.0)", "celu(x, 2.0)", "selu(x)"])
def test_bent_at_zero(t, call):
    """The slope at 0 is the one from below, its own slope the one from above."""
    x = t.tensor([-1e-9, 0.0, 1e-9], dtype=t.float64, requires_grad=True)
    y = eval(f"f.{call}", {"f": t.nn.functional, "x": x})
    (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
    assert g[1].item() == pytest.approx(g[0].item(), rel=1e-6)
    (second,) = t.autograd.grad(g.sum(), x)
    assert second[0].item() != 0
    assert second[1:].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("values", [0.5, [0.5], [0.5, 0.5]])
def test_spread_of_equal_values(t, values):
    """The derivatives of all orders are 0 where there is no spread."""
    x = t.tensor(values, dtype=t.float64, requires_grad=True)
    total = x.std(dim=-1, unbiased=False).sum()
    for _ in range(4):
        (g,) = t.autograd.grad(total, x, create_graph=True)
        assert not g.detach().abs().sum()
        total = g.sin().sum()
