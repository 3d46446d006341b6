"""What autograd's own functions, and those that make tensors, refuse: the error's class and the start of its words."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

REFUSED = {
    "x.requires_grad_(None)": (TypeError, "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not"),
    "x.requires_grad_(0)": (TypeError, "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not int"),
    "'a' in x": (
        RuntimeError,
        "Tensor.__contains__ only supports Tensor or scalar, but you passed in a <class 'str'>.",
    ),
    "None in x": (RuntimeError, "Tensor.__contains__ only supports Tensor or scalar, but you passed in a <class 'None"),
    "setattr(x, 'data', 3)": (TypeError, "Variable data has to be a tensor, but got int"),
    "setattr(x, 'data', [1.0])": (TypeError, "Variable data has to be a tensor, but got list"),
    "grad(y, [x, 3])": (RuntimeError, "all inputs have to be Tensors or GradientEdges, but got int"),
    "grad(y, 'x')": (RuntimeError, "all inputs have to be Tensors or GradientEdges, but got str"),
    "y.backward(inputs=[3])": (RuntimeError, "all inputs have to be Tensors or GradientEdges, but got int"),
    "y.backward(inputs='x')": (RuntimeError, "all inputs have to be Tensors or GradientEdges, but got str"),
    "y.backward(inputs=[t.ones(2)])": (RuntimeError, "can't retain_grad on Tensor that has requires_grad=False"),
    "t.from_dlpack(x)": (BufferError, "Can't export tensors that require gradient, use tensor.detach()"),
    "t.from_numpy(np.array(['a']))": (TypeError, "can't convert np.ndarray of type numpy.str_."),
    "t.from_numpy(np.array([None]))": (TypeError, "can't convert np.ndarray of type numpy.object_."),
    "t.rand(2, dtype=t.int64)": (NotImplementedError, "\"check_uniform_bounds\" not implemented for 'Long'"),
    "t.rand_like(t.ones(2, dtype=t.bool))": (
        NotImplementedError,
        "\"check_uniform_bounds\" not implemented for 'Bool'",
    ),
    "t.randn(2, dtype=t.int32)": (NotImplementedError, "\"normal_kernel_cpu\" not implemented for 'Int'"),
    "t.randint(3)": (TypeError, "randint() "),
    "t.randint()": (TypeError, "randint() "),
    "t.ones(2).resize_(-1)": (RuntimeError, ""),
    "t.autograd.set_detect_anomaly('a')": (TypeError, "set_"),
    "F.interpolate(image, mode='bilinear')": (ValueError, "either size or scale_factor should be defined"),
    "F.interpolate(image, 3, 2)": (ValueError, "only one of size or scale_factor should be defined"),
    "F.interpolate(image, 3, align_corners=True)": (ValueError, "align_corners option can only be set with the inter"),
    "F.interpolate(image, 3, antialias=True)": (
        ValueError,
        "Anti-alias option is restricted to bilinear, bicubic, and",
    ),
    "F.batch_norm(image, None, None)": (RuntimeError, "running_mean must be defined in evaluation mode"),
    "F.embedding_bag(t.tensor([[0]]), t.ones(2, 2), mode='least')": (
        ValueError,
        "mode has to be one of sum, mean or m",
    ),
    "t.autograd.gradcheck(lambda x: 3.0, double)": ((TypeError, AttributeError), ""),
    "t.autograd.gradcheck(lambda x: (x, x.sum().item()), double)": ((TypeError, AttributeError), ""),
}


@pytest.mark.parametrize("call", REFUSED)
def test_refused(t, call):
    """The call fails and changes nothing."""
    kind, words = REFUSED[call]
    x = t.tensor([1.0, 2.0], requires_grad=True)
    double = t.tensor([1.0], dtype=t.float64, requires_grad=True)
    names = {"t": t, "np": np, "x": x, "y": (x * x).sum(), "grad": t.autograd.grad, "double": double}
    names |= {"F": t.nn.functional, "image": t.ones(1, 2, 4, 4)}
    with pytest.raises(kind) as caught:
        eval(call, names)
    assert str(caught.value).startswith(words)
    assert x.tolist() == [1.0, 2.0]
    assert x.requires_grad
    assert x.grad is None


def test_batch_of_another_shape(t):
    """The error of a batched gradient says what a batch is, and what to do if it is none."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="If `is_grads_batched=True`, we interpret the first dimension") as caught:
        t.autograd.grad(x**2, x, t.ones(3, 1), is_grads_batched=True)
    assert str(caught.value).endswith("consider using vmap.")


def test_nodes_of_no_gradient(t):
    """A node that is called without a gradient gives none."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    assert (x / x).grad_fn(None) == (None, None)
    assert t.cat([x, x * 2]).grad_fn(None) == (None, None)
    for y in (x.sum(), x.exp(), x.softmax(0), x.mean()):
        assert y.grad_fn(None) is None


def test_volatile_is_set(t):
    """Setting what is no more warns, and does nothing."""
    x = t.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="volatile was removed and now has no effect"):
        x.volatile = True
    assert (x * 2).requires_grad


def test_products_warn_of_nothing(t):
    """``cartesian_prod`` says itself how its axes lie."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert t.cartesian_prod(t.ones(1), t.zeros(2)).tolist() == [[1.0, 0.0], [1.0, 0.0]]


def test_contained(t):
    """Numbers and tensors can be looked for."""
    x = t.tensor([1.0, 2.0])
    assert 1.0 in x
    assert True in x
    assert 3 not in x
    assert t.tensor(2.0) in x
    assert np.float64(2) in x
