"""Custom Functions: arguments, what is saved, what backward gets and may return, second derivatives."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from tests.leaves import leaf, ones


def described(node):
    """The class names of a node and of all it leads to."""
    if node is None:
        return "None"
    parts = ", ".join(described(following) for following, _ in node.next_functions)
    return f"{type(node).__name__}({parts})"


# ---------------------------------------------------------------------------------------------- derivatives


def plane(t):
    """x + k y + x y, with the number k in the middle."""

    class Plane(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, k, y):
            ctx.k = k
            ctx.save_for_backward(x, y)
            return x + k * y + x * y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            assert isinstance(x, t.Tensor)
            assert isinstance(y, t.Tensor)
            return g + g * y, None, g * ctx.k + g * x

    return Plane


def test_function(t):
    """Tensors and a number as arguments; first and second derivatives; the graph of a gradient is that of backward."""
    x, y, v = leaf(t, [1.0, 2.0]), leaf(t, [3.0, 4.0]), leaf(t, [1.0, 10.0])
    out = plane(t).apply(x, 2, y)
    assert out.tolist() == [1 + 6 + 3.0, 2 + 8 + 8.0]
    assert type(out.grad_fn).__name__ == "PlaneBackward"
    gx, gy = t.autograd.grad(out, (x, y), v, create_graph=True)
    assert gx.tolist() == [4.0, 50.0]
    assert gy.tolist() == [3.0, 40.0]
    through = "AccumulateGrad()"
    assert described(gx.grad_fn) == f"AddBackward0({through}, MulBackward0({through}, {through}))"
    assert described(gy.grad_fn) == f"AddBackward0(MulBackward0({through}, None), MulBackward0({through}, {through}))"
    hx, hy = t.autograd.grad(gx.sum() + (gy * 3).sum(), (x, y))
    assert hx.tolist() == [3.0, 30.0]
    assert hy.tolist() == [1.0, 10.0]


def test_once_differentiable(t):
    """Grad mode is off within such a backward, and what leads back from its results is an error node."""
    modes = []
    once = t.autograd.function.once_differentiable

    class Square(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, k, y):
            ctx.save_for_backward(x, y)
            return x * x * k + y

        @staticmethod
        @once
        def backward(ctx, g):
            modes.append(t.is_grad_enabled())
            x, _ = ctx.saved_tensors
            return g * 2 * x, None, g

    x, y, v = leaf(t, [3.0]), leaf(t, [1.0]), leaf(t, [1.0])
    (g,) = t.autograd.grad(Square.apply(x, 1, y), x, v, create_graph=True)
    assert modes == [False]
    assert g.tolist() == [6.0]
    assert type(g.grad_fn).__name__ == "Error"
    with pytest.raises(RuntimeError, match="trying to differentiate twice a function that was marked with @once_diff"):
        g.sum().backward()


def test_custom_autograd_repeated_grad_grad(t):
    """Double backward through a hand-written backward gives the same the second time."""

    class Product(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.prod(dim=-1)
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return (g * y)[:, None] / x

    x = leaf(t, [[1.0, 2.0, 4.0], [1.0, 1.0, 1.0]])
    for y in (x.prod(dim=-1), Product.apply(x)):
        results = []
        for _ in range(2):
            (g,) = t.autograd.grad(y[0], x, create_graph=True)
            results.append(t.autograd.grad(g[0, 0], x, retain_graph=True)[0].tolist())
        # d/dx of x1 x2
        assert results[0] == results[1] == [[0.0, 4.0, 2.0], [0.0, 0.0, 0.0]]


def test_custom_autograd_no_early_free(t):
    """Both the input and the output are saved and either is used: nothing is freed too soon."""

    class Square(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x**2
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, g):
            x, _ = ctx.saved_tensors
            return g * 2 * x

    class ByOutput(Square):
        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * 2 * y / x

    x = leaf(t, 2.0)
    for function in (Square.apply, ByOutput.apply):
        assert t.autograd.gradcheck(function, [x])
        assert t.autograd.gradgradcheck(function, [x])
        y = function(x)
        (first,) = t.autograd.grad(y, x, create_graph=True)
        del y
        assert first.item() == 4.0
        assert t.autograd.grad(first, x)[0].item() == 2.0


# ---------------------------------------------------------------------------------------------- gradients that come in


def parted(t, seen, materialize=True):
    """Twice and three times the input; backward notes what came in."""

    class Parted(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g, h):
            seen.append((g, h))
            return g * 2 + (0 if h is None else h * 3)

    return Parted


def test_materialize_grads(t):
    """A gradient that does not exist comes in as zeros: of an unused output, and where what follows gave None."""
    seen = []
    parted(t, seen).apply(leaf(t, [1.0, 2.0]))[0].sum().backward()
    assert seen[0][1].tolist() == [0.0, 0.0]

    class Ends(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return None

    class Notes(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            seen.append(g.tolist())
            return g

    x = leaf(t, [1.0, 2.0])
    Ends.apply(Notes.apply(x)).sum().backward()
    assert seen[1] == [0.0, 0.0]
    assert x.grad.tolist() == [0.0, 0.0]


def test_hooks_where_no_gradient_comes(t):
    """Hooks on a node that no gradient reaches see None for each output and may not put anything in its place."""
    seen = []

    class Ends(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, g):
            return None, None

    x = leaf(t, [1.0, 2.0])
    first, second = parted(t, []).apply(x)
    first.grad_fn.register_prehook(seen.append)
    first.grad_fn.register_hook(lambda inputs, outputs: seen.append(inputs[0].tolist()))
    ends = Ends.apply(first, second).sum()
    ends.backward(retain_graph=True)
    assert seen == [(None, None), [0.0, 0.0]]
    assert x.grad.tolist() == [0.0, 0.0]
    first.grad_fn.register_prehook(lambda outputs: (None, ones(t, 2)))
    with pytest.raises(RuntimeError, match="can't replace a None gradient with a non-None value"):
        ends.backward()


def test_dont_materialize_grads(t):
    """After ctx.set_materialize_grads(False) it comes in as None."""
    seen = []
    x = leaf(t, [1.0, 2.0])
    parted(t, seen, materialize=False).apply(x)[0].sum().backward()
    assert seen[0][1] is None
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("wanted", [True, False])
def test_set_materialize_non_diff_grads(t, wanted):
    """The same switch for outputs that are marked as non-differentiable."""
    seen = []

    class Half(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            first, marked = x.clone(), x.clone()
            ctx.mark_non_differentiable(marked)
            ctx._materialize_non_diff_grads = wanted
            return first, marked

        @staticmethod
        def backward(ctx, g, none):
            seen.append(none)
            return g

    x = leaf(t, [1.0])
    Half.apply(x)[0].sum().backward()
    assert x.grad.tolist() == [1.0]
    assert (seen[0].tolist() == [0.0]) if wanted else seen == [None]


def test_unused_grad_requires_grad_with_materialize(t):
    """Zeros made for an unused output are constants, also in a backward that is recorded."""
    seen = []
    x = leaf(t, [1.0, 2.0])
    first, _ = parted(t, seen).apply(x)
    t.autograd.grad((first**2).sum(), x, create_graph=True)
    g, h = seen[0]
    assert g.requires_grad
    assert not h.requires_grad
    assert h.tolist() == [0.0, 0.0]


# ---------------------------------------------------------------------------------------------- gradients that go out


def giving(t, answer):
    """x + y, whose backward gives ``answer(g)``."""

    class Gives(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, g):
            return answer(g)

    return Gives


def test_function_returns_undefined_tensor(t):
    """A backward that returns None leaves no gradient anywhere below."""
    x = leaf(t, [1.0])
    y = ones(t, 1)
    nothing = giving(t, lambda g: (None, None))
    nothing.apply(x, y).backward()
    assert x.grad is None
    nothing.apply(x**2, y).backward()
    assert x.grad is None
    nothing.apply(x, y).sum().backward()
    assert x.grad is None
    assert t.autograd.grad(nothing.apply(x, y), x, allow_unused=True) == (None,)


def test_custom_function_exception(t):
    """What backward raises reaches the caller as it is."""

    class Own(Exception):
        pass

    def fail(g):
        raise Own("of my own making")

    with pytest.raises(Own, match="of my own making"):
        giving(t, fail).apply(leaf(t, [1.0]), ones(t, 1)).backward()


def test_invalid_gradients(t):
    """A gradient of the wrong shape is refused with the shape that was expected."""
    x = leaf(t, [[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(RuntimeError, match=r"returned an invalid gradient at index 0.*expected shape.*\[2, 2\]"):
        giving(t, lambda g: (ones(t, 3), None)).apply(x, ones(t, 2, 2)).sum().backward()


@pytest.mark.parametrize("leaf_itself", [True, False])
def test_a_complex_gradient_of_a_real_argument(t, leaf_itself):
    """It is refused, since its imaginary part would get lost; a real gradient of a complex argument is fine."""
    x = leaf(t, [1.0, 2.0])
    with pytest.raises(RuntimeError, match=r"input_is_complex == grad_is_complex\) to be true, but got false"):
        giving(t, lambda g: (g * 1j, None)).apply(x if leaf_itself else x * 2, ones(t, 2)).sum().backward()
    assert x.grad is None
    z = x.detach().to(t.complex128).requires_grad_()
    giving(t, lambda g: (g.real, None)).apply(z * 1, ones(t, 2)).sum().real.backward()
    assert z.grad.tolist() == [1, 1]


def test_gradients_of_integers(t):
    """They are taken for real arguments, not for complex ones."""
    x, z = leaf(t, [1.0, 2.0]), leaf(t, [1.0, 2.0]).detach().to(t.complex128).requires_grad_()
    whole = giving(t, lambda g: (t.tensor([3, 4]), None))
    whole.apply(x, ones(t, 2)).sum().backward()
    assert x.grad.tolist() == [3, 4]
    with pytest.raises(RuntimeError, match=r"input_is_complex == grad_is_complex\) to be true, but got false"):
        whole.apply(z, ones(t, 2)).sum().real.backward()


def test_too_many_grads(t):
    """Gradients beyond the number of arguments may be None."""
    x = leaf(t, [1.0])
    giving(t, lambda g: (g, None, None, None)).apply(x, ones(t, 1)).backward()
    assert x.grad.tolist() == [1.0]
    with pytest.raises(RuntimeError, match="incorrect number of gradients"):
        giving(t, lambda g: (g, None, g)).apply(x, ones(t, 1)).backward()


def test_too_few_grads(t):
    """The pass fails; gradients that an earlier pass recorded through the function keep their names."""
    x = leaf(t, [1.0, 2.0])
    out = giving(t, lambda g: g).apply(ones(t, 2), x)
    loss = (out * out * out).sum()
    (grad,) = t.autograd.grad(loss, [out], create_graph=True)
    with pytest.raises(RuntimeError, match=r"incorrect number of gradients \(expected 2, got 1\)"):
        t.autograd.grad(loss, [x], create_graph=True)
    assert type(grad.grad_fn).__name__ == "AddBackward0"


# ---------------------------------------------------------------------------------------------- arguments and outputs


def test_custom_function_non_tensor_inputs_outputs(t):
    """Numbers, None, bools and strings go in and come out among tensors; backward gets and gives None for them."""
    seen = []

    class Mixed(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, n, y, label, flag):
            ctx.n = n
            ctx.save_for_backward(x, y)
            return x * y, None, label, flag, x + n * y, n

        @staticmethod
        def backward(ctx, *grads):
            seen.append([g is None for g in grads])
            x, y = ctx.saved_tensors
            return grads[0] * y + grads[4], None, grads[0] * x + grads[4] * ctx.n, None, None

    x, y = leaf(t, [1.0, 2.0]), leaf(t, [3.0, 4.0])
    product, none, label, flag, total, n = Mixed.apply(x, 2, y, "name", True)
    assert (none, label, flag, n) == (None, "name", True, 2)
    (product + total * 10).sum().backward()
    assert seen == [[False, True, True, True, False, True]]
    assert x.grad.tolist() == [13.0, 14.0]
    assert y.grad.tolist() == [21.0, 22.0]


def test_custom_function_no_tensors(t):
    """A Function can be applied to no tensor at all."""

    class Plain(t.autograd.Function):
        @staticmethod
        def forward(ctx, a, b, label):
            return a + b, label, None

        @staticmethod
        def backward(ctx, *grads):
            raise AssertionError("nothing to differentiate")

    assert Plain.apply(1.5, 2.0, "x") == (3.5, "x", None)


def test_legacy_function_deprecation_exception(t):
    """The old way, an instance with a forward that is not static, is refused in words."""

    class Old(t.autograd.Function):
        def forward(self, x):
            return x

        def backward(self, g):
            return g

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with pytest.raises(RuntimeError, match="Legacy autograd function with non-static forward method is deprecated"):
            Old()(t.ones(2))


def test_no_grad_python_function(t):
    """Under no_grad the result of a Function does not require grad."""
    x = leaf(t, [1.0])
    with t.no_grad():
        y = giving(t, lambda g: (g, g)).apply(x, x)
    assert not y.requires_grad
    assert y.grad_fn is None


# ---------------------------------------------------------------------------------------------- setup_context


def test_custom_function_setup_context_simple(t):
    """forward without ctx, and setup_context to save."""

    class Square(t.autograd.Function):
        @staticmethod
        def forward(x):
            return x**2

        @staticmethod
        def setup_context(ctx, inputs, output):
            (x,) = inputs
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 2 * x

    assert t.autograd.gradcheck(Square.apply, [leaf(t, [1.0, -2.0])])
    assert t.autograd.gradgradcheck(Square.apply, [leaf(t, [1.0, -2.0])])


def test_custom_function_setup_context_multi_output(t):
    """One of the outputs is no tensor."""

    class Square(t.autograd.Function):
        @staticmethod
        def forward(x):
            factor = 2 * float(x.max())
            return x**2, factor

        @staticmethod
        def setup_context(ctx, inputs, output):
            (x,), (_, ctx.factor) = inputs, output
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx, g, none):
            assert none is None
            (x,) = ctx.saved_tensors
            return g * ctx.factor * x / x.max()

    x = leaf(t, [1.0, 4.0])
    y, factor = Square.apply(x)
    assert factor == 8.0
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 8.0]


def test_custom_function_setup_context_multi_input(t):
    """Several arguments that are no tensors: the two styles agree."""

    def reshaped_sum(x, scale, shape, add):
        return (x * scale).reshape(shape).sum(0) + add

    def pushed(x, scale, shape, g):
        return (g.expand(shape) * scale).reshape(x.shape)

    class Combined(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, scale, shape, add):
            ctx.save_for_backward(x)
            ctx.scale, ctx.shape = scale, shape
            return reshaped_sum(x, scale, shape, add)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return pushed(x, ctx.scale, ctx.shape, g), None, None, None

    class Separate(Combined):
        @staticmethod
        def forward(x, scale, shape, add):
            return reshaped_sum(x, scale, shape, add)

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, ctx.scale, ctx.shape, _ = inputs
            ctx.save_for_backward(x)

    weights = t.tensor([1.0, 10.0, 100.0], dtype=t.float64)
    results = []
    for function in (Combined, Separate):
        x = leaf(t, np.arange(6.0))
        y = function.apply(x, 3, (2, 3), 1.5)
        (y * weights).sum().backward()
        results.append((y.tolist(), x.grad.tolist()))
    assert results[0] == results[1]
    assert results[0][1] == [3.0, 30.0, 300.0] * 2


def test_setup_context_when_forward_has_default_args(t):
    """Defaults of forward are among the inputs of setup_context; the methods may be class methods."""

    class Power(t.autograd.Function):
        @staticmethod
        def forward(x, n=3):
            return x**n

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, ctx.n = inputs
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * ctx.n * x ** (ctx.n - 1), None

    class OfTheClass(t.autograd.Function):
        @classmethod
        def forward(cls, x, n=3):
            return x**n

        @classmethod
        def setup_context(cls, ctx, inputs, output):
            x, ctx.n = inputs
            ctx.save_for_backward(x)

        @classmethod
        def backward(cls, ctx, g):
            (x,) = ctx.saved_tensors
            return g * ctx.n * x ** (ctx.n - 1), None

    for function in (Power, OfTheClass):
        x = leaf(t, [2.0])
        y = function.apply(x)
        assert y.tolist() == [8.0]
        y.backward()
        assert x.grad.tolist() == [12.0]
        assert t.autograd.grad(function.apply(x, 2), x)[0].tolist() == [4.0]
