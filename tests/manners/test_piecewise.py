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
