"""``vectorize=True`` and ``is_grads_batched=True``: the same numbers as one by one, without warnings."""

from __future__ import annotations

import warnings

import numpy as np
import pytest


def tensor(t, values, dtype=None):
    return t.tensor(values, dtype=dtype or t.float64)


def flat(result):
    """The arrays in nested tuples, in order, with their dtypes."""
    if isinstance(result, tuple):
        return [array for part in result for array in flat(part)]
    return [result.detach().numpy()]


def compared(of, function, inputs):
    """``of`` (jacobian or hessian) with and without vectorize; gives the former after comparing."""
    together, one_by_one = of(function, inputs, vectorize=True), of(function, inputs)
    assert type(together) is type(one_by_one)
    for a, b in zip(flat(together), flat(one_by_one), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-12)
    return together


def silent(call):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call()


# ---------------------------------------------------------------------------------------------- jacobian


def test_jacobian_err_check_strict_vectorize(t):
    """strict and vectorize exclude each other."""
    with pytest.raises(RuntimeError, match="not supported together"):
        t.autograd.functional.jacobian(lambda x: x * 2, tensor(t, [1.0]), strict=True, vectorize=True)


def test_jacobian_vectorize_raises_no_warnings(t):
    """No warning comes of it."""
    silent(lambda: t.autograd.functional.jacobian(lambda x: x.exp(), tensor(t, [[1.0, 2.0]]), vectorize=True))


def test_jacobian_vectorize_correctness_simple(t):
    """One input, one output, of several shapes."""
    jacobian = t.autograd.functional.jacobian
    for x in ([1.0, 2.0, 3.0], [[1.0, -2.0], [0.5, 3.0]]):
        compared(jacobian, lambda x: x * x.sum() + x.sin(), tensor(t, x))
    x = tensor(t, [1.0, 2.0])
    assert compared(jacobian, lambda x: x**2, x).tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_jacobian_vectorize_correctness_multi_input(t):
    """Several inputs give a tuple."""
    x, y = tensor(t, [[1.0, 2.0], [3.0, 4.0]]), tensor(t, [5.0, 6.0])
    compared(t.autograd.functional.jacobian, lambda x, y: (x * y) @ y, (x, y))


def test_jacobian_vectorize_correctness_multi_input_multi_output(t):
    """Several inputs and outputs give a tuple of tuples."""
    x, y = tensor(t, [[1.0, 2.0, 3.0], [0.0, 1.0, -1.0]]), tensor(t, [2.0, 3.0, 4.0])
    result = compared(t.autograd.functional.jacobian, lambda x, y: (x @ y, (x * y).sum(), y.exp()), (x, y))
    assert [[tuple(part.shape) for part in row] for row in result] == [
        [(2, 2, 3), (2, 3)],
        [(2, 3), (3,)],
        [(3, 2, 3), (3, 3)],
    ]


def test_jacobian_vectorize_correctness_unrelated_outputs(t):
    """Outputs that ignore an input, or all of them, have zeros."""
    x, y = tensor(t, [1.0, 2.0]), tensor(t, [3.0, 4.0, 5.0])
    jacobian = t.autograd.functional.jacobian
    result = compared(jacobian, lambda x, y: (x, x, tensor(t, [1.0])), (x, y))
    assert result[0][1].tolist() == [[0.0] * 3] * 2
    assert result[2][0].tolist() == [[0.0, 0.0]]


def test_jacobian_vectorize_correctness_zero_dim(t):
    """Inputs and outputs without axes."""
    x, y = tensor(t, 2.0), tensor(t, [3.0, 4.0])
    jacobian = t.autograd.functional.jacobian
    assert compared(jacobian, lambda x: x**3, x).item() == 12.0
    compared(jacobian, lambda x, y: (x.exp(), (x * y).sum(), x * y), (x, y))


def test_jacobian_vectorize_correctness_different_dtype(t):
    """Inputs and outputs of different precision: each part has the dtype of its input."""
    x, y = tensor(t, [1.0, 2.0], t.float32), tensor(t, [3.0, 4.0])
    result = compared(
        t.autograd.functional.jacobian, lambda x, y: ((x * y).to(t.float32), (x * y).to(t.float64)), (x, y)
    )
    assert [[part.dtype for part in row] for row in result] == [[t.float32, t.float64]] * 2


# ---------------------------------------------------------------------------------------------- hessian


def test_hessian_err_check_strict_vectorize(t):
    """strict and vectorize exclude each other here, too."""
    with pytest.raises(RuntimeError, match="not supported together"):
        t.autograd.functional.hessian(lambda x: (x**2).sum(), tensor(t, [1.0]), strict=True, vectorize=True)


def test_hessian_vectorize_raises_no_warnings(t):
    """No warning comes of it."""
    silent(lambda: t.autograd.functional.hessian(lambda x: x.exp().sum(), tensor(t, [1.0, 2.0]), vectorize=True))


def test_hessian_vectorize_correctness_simple(t):
    """One input."""
    x = tensor(t, [[1.0, 2.0], [3.0, 4.0]])
    compared(t.autograd.functional.hessian, lambda x: (x * x.sum()).sin().sum(), x)


def test_hessian_vectorize_correctness_multi_input(t):
    """Several inputs: blocks."""
    x, y = tensor(t, [[1.0, 2.0], [3.0, 4.0]]), tensor(t, [5.0, 6.0])
    compared(t.autograd.functional.hessian, lambda x, y: ((x @ y) ** 2).sum() * y.prod(), (x, y))


def test_hessian_vectorize_correctness_unrelated_outputs(t):
    """Inputs that do not matter, or only to the first order, have blocks of zeros."""
    x, y = tensor(t, [1.0, 2.0]), tensor(t, [3.0, 4.0])
    hessian = t.autograd.functional.hessian
    result = compared(hessian, lambda x, y: (x**2).sum(), (x, y))
    assert result[1][1].tolist() == result[0][1].tolist() == [[0.0, 0.0]] * 2
    compared(hessian, lambda x, y: (x * 3 + y).sum(), (x, y))
    compared(hessian, lambda x, y: tensor(t, 1.0), (x, y))


# ---------------------------------------------------------------------------------------------- batches of gradients


def test_grad_batched_grad(t):
    """is_grads_batched: the first axis of grad_outputs numbers the gradients; shapes must agree but for it."""
    x = t.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 3
    batch = t.arange(12.0).reshape(3, 2, 2)
    (g,) = t.autograd.grad(y, (x,), (batch,), is_grads_batched=True, retain_graph=True)
    assert g.tolist() == (batch * 3).tolist()
    (g,) = t.autograd.grad(y.sum(), (x,), (t.arange(3.0),), is_grads_batched=True, retain_graph=True)
    assert g.tolist() == [[[3.0 * k] * 2] * 2 for k in range(3)]
    for out, wrong in ((y, t.ones(2, 2)), (y.sum(), t.ones(2, 1))):
        with pytest.raises(RuntimeError, match="If `is_grads_batched=True`, we interpret the first"):
            t.autograd.grad(out, (x,), (wrong,), is_grads_batched=True, retain_graph=True)


def test_batched_grad_refusals(t):
    """What a batch of gradients cannot be: none, of several lengths, of another number of outputs, empty."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    cases = [
        (ValueError, "Got in_dim=0 for some input", [(x * x).sum()], None),
        (ValueError, "Got in_dim=0 for some input", [(x * x).sum(), x * 2], [None, t.eye(2)]),
        (
            ValueError,
            r"same size in the mapped dimension, got sizes \[2, 3\]",
            [x * 2, x * 3],
            [t.eye(2), t.ones(3, 2)],
        ),
        (RuntimeError, "got 2 tensors and 1 gradients", [x * 2, x * 3], [t.eye(2)]),
        (TypeError, "gradients can be either Tensors or None, but got list", [x * 2], [[[1.0, 2.0]]]),
        (RuntimeError, "element 0 of tensors does not require grad", [x.detach() * 2], [t.eye(2)]),
        (RuntimeError, "For complex Tensors, both grad_output", [x * 2], [t.eye(2) * 1j]),
        (IndexError, "out of bounds for dimension 0 with size 0", [x * 2], [t.zeros(0, 2)]),
    ]
    for kind, words, outputs, gradients in cases:
        with pytest.raises(kind, match=words):
            t.autograd.grad(outputs, x, gradients, is_grads_batched=True)
    with pytest.raises(RuntimeError, match="One of the differentiated Tensors does not require grad"):
        t.autograd.grad(x * 2, x.detach(), t.eye(2), is_grads_batched=True)


def test_batched_grad_of_what_is_not_used(t):
    """None or torch's error; materialized zeros have the shape of the input, without the batch."""
    x, z = t.tensor([1.0, 2.0], requires_grad=True), t.ones(3, requires_grad=True)

    def grad(**options):
        return t.autograd.grad(x * 2, [x, z], t.eye(2), is_grads_batched=True, **options)

    assert grad(allow_unused=True)[1] is None
    assert grad(materialize_grads=True)[1].tolist() == [0.0] * 3
    with pytest.raises(RuntimeError, match="The differentiated Tensor at index 1 appears to not have been used"):
        grad()


def test_batched_grad_frees_the_graph(t):
    """As a single gradient does, unless it is retained."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sin()
    (first,) = t.autograd.grad(y, x, t.eye(2), is_grads_batched=True, retain_graph=True)
    (second,) = t.autograd.grad(y, x, t.eye(2), is_grads_batched=True)
    assert first.tolist() == second.tolist()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        t.autograd.grad(y, x, t.eye(2), is_grads_batched=True)


def test_batched_grad_of_several_outputs(t):
    """Batches of gradients for several outputs, through views, indices and scans, by a leaf and by what is between."""
    x = t.arange(6.0, dtype=t.float64).requires_grad_()
    y = x.reshape(2, 3).t()[1:].flip(0).cumsum(0).contiguous().view(-1)
    outputs = [t.cat([y[t.tensor([0, 0, 1])], x.sort(descending=True)[0], x.cumprod(0)]), x.unfold(0, 2, 2).amax(1)]
    rows = [t.linspace(-1.0, 1.0, 4 * len(o), dtype=t.float64).reshape(4, len(o)) for o in outputs]
    together = t.autograd.grad(outputs, [x, y], rows, retain_graph=True, is_grads_batched=True)
    for k in range(4):
        one = t.autograd.grad(outputs, [x, y], [r[k] for r in rows], retain_graph=True)
        for whole, row in zip(together, one, strict=True):
            np.testing.assert_allclose(whole[k].numpy(), row.numpy(), rtol=1e-12)


def test_batched_grad_where_somebodys_code_runs(t):
    """Hooks and custom functions get one gradient after the other, or all at once, with the same result."""

    class Double(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = Double.apply(x) * x
    shapes = []
    y.register_hook(lambda g: shapes.append(tuple(g.shape)) or g * 10)
    (g,) = t.autograd.grad(y, x, t.eye(2), is_grads_batched=True)
    assert g.tolist() == [[40.0, 0.0], [0.0, 80.0]]
    assert set(shapes) == {(2,)}


@pytest.mark.parametrize("root", ["x.movedim(0, -1)", "x", "(x * 2).view(-1)", "(x * 2).sin()"])
def test_hooks_of_a_root_that_leads_to_nothing_wanted(t, root):
    """They run on what reaches the root, also when a batch of cotangents does."""
    x = t.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    out = eval(root, {"x": x})  # noqa: S307
    seen = []
    out.register_hook(lambda g: seen.append(tuple(g.shape)))
    batch = t.eye(4).view(4, *out.shape)
    found = t.autograd.grad(out, x * 1, batch, is_grads_batched=True, allow_unused=True)
    assert found[0] is None
    assert seen
    assert set(seen) == {tuple(out.shape)}
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        t.autograd.grad(out, t.ones(1, requires_grad=True), batch, is_grads_batched=True)
