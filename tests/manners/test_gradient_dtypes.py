"""The dtype of a leaf's gradient: its own, another that the user chose, or any."""

from __future__ import annotations

import copy

import pytest


def test_grad_dtype(t):
    """A gradient arrives in the dtype that was chosen, for hooks and for ``autograd.grad``, too."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    assert x.grad_dtype == t.float32
    x.grad_dtype = t.float64
    seen = []
    x.register_hook(lambda g: seen.append(g.dtype))
    (x * x).sum().backward()
    (g,) = t.autograd.grad((x * 3).sum(), x)
    assert x.grad.dtype == g.dtype == t.float64
    assert seen == [t.float64, t.float64]
    assert x.grad.tolist() == [2.0, 4.0]
    (x * x).sum().backward()
    assert x.grad.tolist() == [4.0, 8.0]
    y = t.ones(2, requires_grad=True)
    y.grad_dtype = t.float64
    assert y.detach().grad_dtype == copy.deepcopy(y).grad_dtype == t.float32


def test_grad_dtype_none(t):
    """None keeps what arrives; a cast on the way still gives its operand's dtype."""

    class Wide(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g.to(t.float64)

    x, y = (t.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    x.grad_dtype = None
    Wide.apply(x).sum().backward()
    Wide.apply(y).sum().backward()
    assert (x.grad.dtype, y.grad.dtype) == (t.float64, t.float32)
    x.grad = None
    (x.double() * 2).sum().backward()
    assert x.grad.dtype == t.float32
    x.grad = t.tensor([1, 2])
    assert x.grad.dtype == t.int64


def test_grad_dtype_refused(t):
    """Only leaves have it, and it agrees with the gradient that is there."""
    x = t.ones(2, requires_grad=True)
    y = x * 2
    with pytest.raises(RuntimeError, match="grad_dtype can only be accessed on leaf tensors"):
        _ = y.grad_dtype
    with pytest.raises(RuntimeError, match="grad_dtype can only be set on leaf tensors"):
        y.grad_dtype = t.float16
    with pytest.raises(RuntimeError, match="grad_dtype must be a torch.dtype or None, but got str"):
        x.grad_dtype = "half"
    y.sum().backward()
    with pytest.raises(RuntimeError, match=r"Cannot set grad_dtype to 'Half' .* gradient with dtype 'float'"):
        x.grad_dtype = t.float16
    x.grad = None
    x.grad_dtype = t.float16
    with pytest.raises(RuntimeError, match=r"a gradient with dtype 'float' to a tensor with grad_dtype 'Half'"):
        x.grad = t.ones(2)
    x.grad = t.ones(2, dtype=t.float16)
