"""Custom functions looked at from outside: classes that are not to be instantiated, and what their nodes say."""

from __future__ import annotations

import pytest


def cube(t):
    class Cube(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3, x.sum()

        @staticmethod
        def backward(ctx, g, h):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * g + h

    return Cube


def test_instance(t):
    """Making one warns, and gives an object that cannot be called."""
    Cube = cube(t)
    with pytest.warns(DeprecationWarning, match="should not be instantiated. Methods on autograd functions are all"):
        made = Cube()
    assert isinstance(made, Cube)
    with pytest.raises(RuntimeError, match="Legacy autograd function with non-static forward method is deprecated"):
        made(t.ones(2))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_methods_of_an_instance(t):
    """Methods that are not static can be called by hand; only a call of the instance is refused."""

    class Old(t.autograd.Function):
        def forward(self, x):
            return x * 2

    x = t.ones(2, requires_grad=True)
    Old().forward(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="non-static forward method is deprecated"):
        Old()(x)


@pytest.mark.parametrize("forward_is_static", [False, True])
@pytest.mark.parametrize("backward_is_static", [False, True])
def test_methods_without_staticmethod(t, forward_is_static, backward_is_static):
    """``apply`` takes functions whose author forgot to say that they are static."""

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    def backward(ctx, g):
        return g * 2 * ctx.saved_tensors[0]

    methods = {
        "forward": staticmethod(forward) if forward_is_static else forward,
        "backward": staticmethod(backward) if backward_is_static else backward,
    }
    Square = type("Square", (t.autograd.Function,), methods)
    x = t.tensor([3.0], requires_grad=True)
    Square.apply(x).backward()
    assert x.grad.tolist() == [6.0]


def test_vmap_attributes(t):
    """A function has no rule for batches unless it says so."""
    Cube = cube(t)
    assert Cube.generate_vmap_rule is False
    with pytest.raises(NotImplementedError, match="you must either override the vmap staticmethod or set"):
        Cube.vmap(None, (0,), t.ones(2))


def test_input_metadata(t):
    """A node says what the gradients that it takes look like: one per output."""
    x = t.ones(2, 3, dtype=t.float64, requires_grad=True)
    y, total = cube(t).apply(x)
    (power,) = (x**2).grad_fn._input_metadata
    assert (list(power.shape), power.dtype, str(power.device)) == ([2, 3], t.float64, "cpu")
    assert not power.is_nested_tensor
    assert [list(row.shape) for row in y.grad_fn._input_metadata] == [[2, 3], []]
    assert [list(row.shape) for row in t.var_mean(x, 0)[0].grad_fn._input_metadata] == [[3], [3]]
    (leaf,) = y.grad_fn.next_functions[0][0]._input_metadata
    assert list(leaf.shape) == [2, 3]
    assert y.grad_fn._forward_cls.__name__ == "Cube"
    assert y.grad_fn.requires_grad


def test_nodes_above_a_gradient(t):
    """A recorded gradient is a copy of what arrived; one that may not be differentiated again is an error."""

    class Once(t.autograd.Function):
        @staticmethod
        def forward(ctx, a, scale, b):
            ctx.save_for_backward(a, b)
            return a * b * scale

        @staticmethod
        @t.autograd.function.once_differentiable
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            return g * b, None, g * a

    def shown(node):
        return node and (type(node).__name__, *(shown(edge) for edge, _ in node.next_functions))

    a, b = t.ones(2, requires_grad=True), t.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="create_graph=True"):
        Once.apply(a, 1, b).sum().backward(t.ones((), requires_grad=True), create_graph=True)
    leaf = ("AccumulateGrad",)
    assert shown(a.grad.grad_fn) == shown(b.grad.grad_fn) == ("CopyBackwards", None, ("Error", leaf, None, leaf))
    a.grad, b.grad = None, None
