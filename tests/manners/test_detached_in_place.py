"""What ``detach_()`` leaves behind: hooks, the wish to retain a gradient, and operands that somebody saved."""

from __future__ import annotations

import pytest

from tests.leaves import leaf, values


def test_hooks_and_retaining_outlive_detach_(t):
    """Hooks are the tensor's and its old node's: both see gradients, also when the tensor is a leaf by then."""
    x = leaf(t, [1.0, 2.0])
    y = x * 2
    y.retain_grad()
    seen = []
    handle = y.register_hook(lambda g: seen.append(values(g)))
    above = y * 3
    y.detach_()
    assert (y.retains_grad, y.requires_grad, y.is_leaf) == (True, False, True)
    above.sum().backward()
    assert values(y.grad) == [3.0, 3.0]
    assert values(x.grad) == [6.0, 6.0]
    y.requires_grad_()
    (y * y).sum().backward()
    assert values(y.grad) == [7.0, 11.0]
    assert seen == [[3.0, 3.0], [4.0, 8.0]]
    handle.remove()
    (y * y).sum().backward()
    assert len(seen) == 2


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("detached", [(0,), (1,), (0, 1)])
def test_operand_that_a_function_saved(t, detached, again):
    """``saved_tensors`` has the tensor itself: a constant, or a leaf of its own when it was told to require grad."""

    class Product(t.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            return g * b, g * a

    leaves = leaf(t, [1.0, 2.0]), leaf(t, [3.0, 4.0])
    operands = [x * 1 for x in leaves]
    y = Product.apply(*operands)
    for k in detached:
        operands[k].detach_().requires_grad_(again)
        assert y.grad_fn.saved_tensors[k] is operands[k]
    first = t.autograd.grad(y.sum(), leaves, create_graph=True)
    for k, g in enumerate(first):
        other = 1 - k
        assert g.requires_grad is (again or other not in detached)
        if not g.requires_grad:
            continue
        of_leaf, of_operand = t.autograd.grad(
            g.sum(), [leaves[other], operands[other]], allow_unused=True, retain_graph=True
        )
        assert (of_leaf is None) is (other in detached)
        assert values(of_operand if other in detached else of_leaf) == [1.0, 1.0]


@pytest.mark.parametrize("stop", ["detach_()", "requires_grad_(False)"])
def test_leaf_that_is_computed_since(t, stop):
    """Its gradient has no place in .grad; grad() says that the tensor of now was not used."""
    x = leaf(t, [1.0, 2.0])
    factor, y = x.sin(), x * 3
    eval(f"x.{stop}")
    x.mul_(factor)
    assert (x.is_leaf, x.requires_grad) == (False, True)
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        t.autograd.grad(y.sum(), x, retain_graph=True)
    with pytest.raises(RuntimeError, match="leaf variable has been moved into the graph interior"):
        y.sum().backward()
    z = leaf(t, [1.0, 2.0]) * 2
    z.sum().backward(inputs=[z])
    assert values(z.grad) == [1.0, 1.0]


def test_data_of_parts_that_numpy_protects(t):
    """``.data`` of a diagonal, and of what is expanded to its own shape, may be changed as others."""
    x = t.tensor([[1.0, 2.0], [3.0, 4.0]])
    x.diagonal().data.mul_(2)
    assert values(x) == [[2.0, 2.0], [3.0, 8.0]]
    x.diagonal().data[0] = 5.0
    assert values(x) == [[5.0, 2.0], [3.0, 8.0]]
    t.sin(t.zeros(2), out=x.diagonal().data)
    assert values(x) == [[0.0, 2.0], [3.0, 0.0]]
    x.diagonal().numpy()[:] = 1.0
    assert values(x) == [[1.0, 2.0], [3.0, 1.0]]
    x.expand(2, 2).data.add_(1)
    x.expand(2, 2).data[0] = 7.0
    assert values(x) == [[7.0, 7.0], [4.0, 2.0]]
