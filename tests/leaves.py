"""Tensors that many tests begin with, made by the module that they run with, and what they ask of results."""

from __future__ import annotations

import numpy as np


def leaf(t, values):
    """A leaf of these numbers."""
    return t.tensor(values, dtype=t.float64, requires_grad=True)


def ramp(t, *shape, dtype=None):
    """A leaf of a shape: quarters, from one on."""
    size = int(np.prod(shape))
    return t.tensor(np.arange(1.0, 1 + size).reshape(shape) / 4, dtype=dtype or t.float64, requires_grad=True)


def ones(t, *shape):
    """Ones, which require no grad."""
    return t.ones(*shape, dtype=t.float64)


def values(tensor) -> list:
    """The numbers of a tensor."""
    return tensor.detach().numpy().tolist()


def node(tensor) -> str:
    """The name of the node that made a tensor."""
    return tensor.grad_fn.name().rsplit("::", 1)[-1]
