"""What a custom Function may return: marked outputs, the same tensor twice, its input, a leaf, a view."""

from __future__ import annotations

import pytest

from tests.functions import doubling
from tests.leaves import leaf, ones

# ---------------------------------------------------------------------------------------------- marked outputs


def test_mark_non_differentiable(t):
    """An output of bools that is marked has no gradient; the other arguments have theirs."""

    class Positive(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            positive = x > 0
            ctx.mark_non_differentiable(positive)
            return positive

        @staticmethod
        def backward(ctx, g):
            return g * 0

    x = leaf(t, [1.0, -2.0])
    positive = Positive.apply(x)
    assert not positive.requires_grad
    assert positive.tolist() == [True, False]
    x.masked_fill(positive, 0).sum().backward()
    assert x.grad.tolist() == [0.0, 1.0]


def test_mark_non_differentiable_mixed(t):
    """One output marked, one not: backward gets zeros for the former."""
    seen = []

    class Mixed(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            marked, other = x + 1, x + 2
            ctx.mark_non_differentiable(marked)
            return marked, other

        @staticmethod
        def backward(ctx, g, h):
            seen.append((g.tolist(), h.tolist()))
            return h

    x = leaf(t, [1.0, 2.0])
    marked, other = Mixed.apply(x)
    assert (marked.requires_grad, other.requires_grad) == (False, True)
    other.sum().backward()
    assert seen == [([0.0, 0.0], [1.0, 1.0])]
    assert x.grad.tolist() == [1.0, 1.0]


def test_mark_non_differentiable_none(t):
    """The only output is marked and backward returns None: what comes before it is not disturbed."""

    class Marked(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            out = x.clone()
            ctx.mark_non_differentiable(out)
            return out

        @staticmethod
        def backward(ctx, g):
            return None

    x = leaf(t, [1.0, 2.0])
    out = Marked.apply(x * x)
    (out * x).sum().backward()
    assert x.grad.tolist() == [1.0, 4.0]


def test_dep_nograd(t):
    """A marked output that goes into another Function does not lead back into the graph."""

    class Pair(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            other = t.ones(2, dtype=t.float64) * 5
            ctx.mark_non_differentiable(other)
            return x, other

        @staticmethod
        def backward(ctx, g, ignored):
            return g

    class First(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, ignored):
            return x

        @staticmethod
        def backward(ctx, g):
            return g, None

    x = leaf(t, [1.0, 2.0])
    a, b = Pair.apply(x)
    b = b + 1
    assert (a.requires_grad, b.requires_grad) == (True, False)
    First.apply(a, b).backward(ones(t, 2))
    assert x.grad.tolist() == [1.0, 1.0]


# ---------------------------------------------------------------------------------------------- inputs and twins


@pytest.mark.parametrize("shape", [(1,), ()])
def test_function_returns_input(t, shape):
    """forward may hand back its input as it came; backward counts all the same."""

    class Same(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = t.ones(shape, dtype=t.float64, requires_grad=True)
    Same.apply(x).backward()
    assert x.grad.item() == 2.0
    with t.no_grad():
        x.grad.zero_()
    Same.apply(x.clone()).backward()
    assert x.grad.item() == 2.0
    assert x.grad_fn is None


def test_return_duplicate(t):
    """A tensor returned twice is one object, whose gradients add up."""

    class Twice(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            out = x * 2
            return out, out

        @staticmethod
        def backward(ctx, g, h):
            return g * 2 + h * 2

    def function(x):
        a, b = Twice.apply(x)
        assert a is b
        return a + b

    x = leaf(t, [1.0, 2.0])
    assert t.autograd.gradcheck(function, [x])
    assert t.autograd.gradgradcheck(function, [x])


def test_gradient_of_what_is_returned_twice(t):
    """It comes to the last place of a result, and to both of an input, of which there are two views."""

    class Twice(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, copied):
            out = x * 1 if copied else x
            return out, out

        @staticmethod
        def backward(ctx, g, h):
            return g + 10 * h, None

    x = leaf(t, [1.0, 2.0])
    a, b = Twice.apply(x, True)
    assert a is b
    assert t.autograd.grad((a * 3 + b).sum(), x)[0].tolist() == [40.0, 40.0]
    a, b = Twice.apply(x, False)
    assert a is not b
    assert a._base is b._base is x
    assert t.autograd.grad((a * 3 + b).sum(), x)[0].tolist() == [13.0, 13.0]
    with t.no_grad():
        a, b = Twice.apply(x, False)
    assert a is not b


def test_input_marked_as_without_derivative(t):
    """Handed back it is detached: in the memory of the input, and without a way to it."""

    class Marked(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_non_differentiable(x)
            return x, x * 2

        @staticmethod
        def backward(ctx, g, h):
            return 2 * h

    x = leaf(t, [1.0, 2.0])
    fixed, doubled = Marked.apply(x)
    assert not fixed.requires_grad
    assert not fixed._is_view()
    assert fixed.data_ptr() == x.data_ptr()
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
        fixed.sum().backward()
    assert t.autograd.grad(doubled.sum(), x)[0].tolist() == [2.0, 2.0]


def test_return_duplicate_inplace(t):
    """The same for an input that was changed; a leaf, or a view among several outputs, is refused."""

    class Doubled(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x, x

        @staticmethod
        def backward(ctx, g, h):
            return g * 2 + h * 2

    def function(x):
        a, b = Doubled.apply(x.clone())
        assert a is b
        return a + b

    x = leaf(t, [1.0, 2.0])
    assert t.autograd.gradcheck(function, [x])
    assert t.autograd.gradgradcheck(function, [x])
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        Doubled.apply(leaf(t, [1.0]))
    with pytest.raises(RuntimeError, match="your Function cannot return more than one"):
        Doubled.apply(x.clone()[:1])


def test_return_leaf(t):
    """A leaf handed back is a tensor of the graph, whose hook sees the gradient of this output alone."""

    class Pair(t.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a, a + b

        @staticmethod
        def backward(ctx, g, h):
            return g + h, h

    x, y = leaf(t, [1.0, 2.0]), leaf(t, [3.0, 4.0])
    seen = []
    same, total = Pair.apply(x, y)
    same.register_hook(lambda g: seen.append(g.tolist()))
    (same + total + x).sum().backward()
    assert seen == [[1.0, 1.0]]
    assert x.grad.tolist() == [3.0, 3.0]
    assert y.grad.tolist() == [1.0, 1.0]


def test_return_leaf_inplace(t):
    """A Function that changes a plain tensor returns that very object, which now has the Function's node."""

    class Added(t.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.mark_dirty(a)
            return a.add_(b), b + 2

        @staticmethod
        def backward(ctx, g, h):
            return g, g + h

    x, y = ones(t, 2), leaf(t, [3.0, 4.0])
    first, second = Added.apply(x, y)
    assert first is x
    assert type(first.grad_fn).__name__ == "AddedBackward"
    assert first.grad_fn is second.grad_fn
    assert first.requires_grad
    assert first.tolist() == [4.0, 5.0]
    first.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0]


def test_no_grad_input(t):
    """Under no_grad a returned input keeps its flags and has no node."""

    class Same(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g

    x = leaf(t, [1.0])
    with t.no_grad():
        y = Same.apply(x)
    assert x.requires_grad
    assert x.grad_fn is None
    assert y.grad_fn is None


# ---------------------------------------------------------------------------------------------- views


@pytest.mark.parametrize("change", [False, True])
def test_custom_function_local_inplace(t, change):
    """Work in place on a view that forward made for itself leaves the Function's node on the result."""

    class Cut(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            part = x.clone()[:2]
            if change:
                part += 2
            return part

        @staticmethod
        def backward(ctx, g):
            return t.cat([g, t.zeros(1, dtype=t.float64)])

    x = leaf(t, [1.0, 2.0, 3.0])
    part = Cut.apply(x)
    assert type(part.grad_fn).__name__ == "CutBackward"
    part.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 0.0]


def alias(t):
    """A Function that returns a view of its input."""

    class Alias(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[:]

        @staticmethod
        def backward(ctx, g):
            return g

    return Alias


def test_custom_function_return_view_in_nograd(t):
    """A view that a Function returned under no_grad is like any such view: changing it with grad on is refused."""
    x = leaf(t, [1.0, 2.0])
    with t.no_grad():
        out, plain = alias(t).apply(x), x[:]
    assert out.requires_grad == plain.requires_grad
    for view in (out, plain):
        with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
            view.zero_()


def test_autograd_multiple_views_python(t):
    """A Function that returns a view by several steps: one call of backward, and no change in place of the result."""
    calls = []

    class Row(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, k):
            ctx.save_for_backward(x)
            ctx.k = k
            return x.narrow(0, k, 1).select(0, 0)

        @staticmethod
        def backward(ctx, g):
            calls.append(1)
            (x,) = ctx.saved_tensors
            full = t.zeros_like(x)
            full[ctx.k] = g
            return full, None

    x = leaf(t, [[1.0, 2.0], [3.0, 4.0]])
    (Row.apply(x.clone(), 1) * 3).sum().backward()
    assert calls == [1]
    assert x.grad.tolist() == [[0.0, 0.0], [3.0, 3.0]]
    out = Row.apply(x.clone(), 0)
    with pytest.raises(RuntimeError, match="Output 0 of Row(Backward)? is a view and is being modified inplace"):
        out += 1


def test_inplace_not_requires_grad(t):
    """A view of a plain tensor, from a Function or from unbind, cannot take in place what requires grad."""
    whole, other = ones(t, 1, 2), leaf(t, [5.0])
    view = alias(t).apply(whole)
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being modified inplace"):
        view += other
    view = whole.unbind(1)[0]
    with pytest.raises(RuntimeError, match="the output of a function that returns multiple views"):
        view += other
    assert whole.tolist() == [[1.0, 1.0]]


# ---------------------------------------------------------------------------------------------- changed inputs


def adder(t, calls, finish, dirty=True):
    """A Function that adds its second argument to the first in place; ``finish(a, b)`` is what it returns."""

    class Adder(t.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            a.add_(b)
            if dirty:
                ctx.mark_dirty(a)
            return finish(a, b)

        @staticmethod
        def backward(ctx, *grads):
            calls.append(1)
            return sum(grads), sum(grads)

    return Adder


def test_autograd_python_custom_function_inplace(t):
    """mark_dirty: a result, a view of one, a change afterwards; refused where not returned, or a view among several."""
    a, b = leaf(t, [1.0, 2.0]), leaf(t, [3.0, 4.0])
    calls = []
    returned = adder(t, calls, lambda x, y: x)

    def gradients(call, *others):
        a.grad = b.grad = None
        calls.clear()
        call().sum().backward()
        return calls, a.grad.tolist(), b.grad.tolist()

    assert gradients(lambda: returned.apply(a.clone(), b)) == ([1], [1.0, 1.0], [1.0, 1.0])

    def changed_later():
        out = returned.apply(a.clone(), b)
        out *= 3
        return out

    assert gradients(changed_later) == ([1], [3.0, 3.0], [3.0, 3.0])

    # The input is a view: its base has changed with it.
    whole = a.clone()
    out = returned.apply(whole[:1], b[:1])
    assert whole.tolist() == [4.0, 2.0]
    assert gradients(lambda: out) == ([1], [1.0, 0.0], [1.0, 0.0])
    assert gradients(lambda: _through_base(t, returned, a, b)) == ([1], [1.0, 10.0], [1.0, 0.0])

    # Marked, but not among the outputs.
    with pytest.raises(RuntimeError, match="Some elements marked as dirty .* were not returned as output"):
        adder(t, calls, lambda x, y: x + y).apply(a.clone(), b)

    # Several outputs, one of them the changed input: fine for a whole tensor, refused for a view.
    several = adder(t, calls, lambda x, y: (x, x.clone() + y))
    assert gradients(lambda: sum(several.apply(a.clone(), b))) == ([1], [2.0, 2.0], [2.0, 2.0])
    with pytest.raises(RuntimeError, match="your Function cannot return more than one"):
        several.apply(a.clone()[:1], b[:1])


def _through_base(t, function, a, b):
    """The base of a view that a Function changed, weighted."""
    whole = a.clone()
    function.apply(whole[:1], b[:1])
    return whole * t.tensor([1.0, 10.0], dtype=t.float64)


def test_saved_output_without_derivative(t):
    """A saved output that was marked non-differentiable makes no gradient differentiable."""

    class Positive(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            mask = x > 0
            ctx.mark_non_differentiable(mask)
            ctx.save_for_backward(mask)
            return x * mask, mask

        @staticmethod
        def backward(ctx, g, _):
            (mask,) = ctx.saved_tensors
            assert not mask.requires_grad
            return g * mask

    x = t.tensor([1.0, -2.0], requires_grad=True)
    (g,) = t.autograd.grad(Positive.apply(x)[0].sum(), x, create_graph=True)
    assert not g.requires_grad
    assert g.tolist() == [1.0, 0.0]


def two_outputs(t):
    class Twice(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g2, g3):
            return g2 * 2 + g3 * 3

    return Twice


def test_hooks_of_outputs_without_gradient(t):
    """The hooks of an output that the pass does not reach see None when the function runs; they may not replace it."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    a, b = two_outputs(t).apply(x)
    seen = []
    b.register_hook(seen.append)
    a.sum().backward(retain_graph=True)
    assert seen == [None]
    t.autograd.grad(a.sum(), b, allow_unused=True, retain_graph=True)
    assert seen == [None, None]
    b.sum().backward(retain_graph=True)
    assert seen[2].tolist() == [1.0, 1.0]
    b.register_hook(lambda g: t.ones(2))
    with pytest.raises(RuntimeError, match="can't replace a None gradient"):
        a.sum().backward()


def test_one_output_wanted_runs_what_leads_to_the_others(t):
    """The gradient of one output is found at the function, so what stands between the others and the loss is freed."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    a, b = two_outputs(t).apply(x)
    loss = b.sin().sum()
    assert t.autograd.grad(loss, a, allow_unused=True) == (None,)
    with pytest.raises(RuntimeError, match="a second time"):
        loss.backward()


def test_gradients_of_arguments_out_of_reach(t):
    """What a function gives to a view that was cut under ``no_grad`` goes nowhere, so its shape does not matter."""

    class Odd(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return t.ones(7, 5)

    x = t.tensor([1.0, 2.0], requires_grad=True)
    with t.no_grad():
        v = x.view(-1)
    Odd.apply(v).sum().backward()
    assert x.grad is None


def test_refused_change_of_a_view(t):
    """A function that changes a view of a leaf is refused afterwards; other views of the leaf show that it changed."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    v, other = x[:], x[1:]
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        doubling(t).apply(v)
    assert x.tolist() == [2.0, 4.0]
    assert other.grad_fn.name() == "AsStridedBackward0"
