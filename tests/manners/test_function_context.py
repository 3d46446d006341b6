"""What a custom Function saves and keeps: None, outputs with their number, the ctx itself, cycles, the node run."""

from __future__ import annotations

import gc
import weakref

import pytest

from tests.leaves import leaf


class Token:
    """Something whose death can be watched."""


# ---------------------------------------------------------------------------------------------- what is saved


def test_save_none_for_backward(t):
    """None can be saved among tensors and comes back as None."""

    class Saves(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(None, x, None)
            return x * x

        @staticmethod
        def backward(ctx, g):
            first, x, last = ctx.saved_tensors
            assert first is None
            assert last is None
            return g * 2 * x

    x = leaf(t, [3.0])
    Saves.apply(x).backward()
    assert x.grad.tolist() == [6.0]


def test_save_output_nr(t):
    """An output of one Function that another one saves keeps its number."""
    numbers = []

    class Parted(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[:, :2] * 1, x[:, 2:] * 1

        @staticmethod
        def backward(ctx, g, h):
            return t.cat([g, h], 1)

    class Saves(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            numbers.append(x.output_nr)
            return g * 2

    x = leaf(t, [[1.0, 2.0, 3.0]])
    first, second = Parted.apply(x)
    assert (first.output_nr, second.output_nr) == (0, 1)
    Saves.apply(second).sum().backward()
    Saves.apply(first).sum().backward()
    assert numbers == [1, 0]


def test_saved_variables_deprecated(t):
    """The old name ctx.saved_variables still works, with a warning."""

    class Product(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_variables
            return g * y, g * x

    x, y = leaf(t, [2.0]), leaf(t, [5.0])
    with pytest.warns(DeprecationWarning, match="saved_variables.*deprecated"):
        Product.apply(x, y).backward()
    assert (x.grad.item(), y.grad.item()) == (5.0, 2.0)


# ---------------------------------------------------------------------------------------------- kept too long


def keeping(t, contexts):
    """A Function that saves its input and puts its ctx aside while it runs backward."""

    class Keeps(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            contexts.append(ctx)
            return g

    return Keeps


def test_naughty_anomaly_access(t):
    """The metadata of a node can be read after backward and after its tensor is gone."""
    x = leaf(t, [1.0])
    y = keeping(t, []).apply(x)
    y.backward()
    y.grad_fn.metadata["note"] = 7
    node = y.grad_fn
    del y
    assert node.metadata["note"] == 7


def test_naughty_autograd_function_stashing_ctx(t):
    """A ctx that was put aside still gives its saved tensors, once backward has retained the graph."""
    contexts = []
    x = leaf(t, [3.0])
    y = keeping(t, contexts).apply(x)
    y.backward(retain_graph=True)
    assert contexts[0].saved_tensors[0].tolist() == [3.0]
    del y
    gc.collect()
    (saved,) = contexts[0].saved_tensors
    assert saved.tolist() == [3.0]


def test_gc_in_destructor(t):
    """A Function whose destructor collects garbage does no harm."""

    class Collects(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.held = Sweeps()
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

        def __del__(self):
            gc.collect()

    class Sweeps:
        def __del__(self):
            gc.collect()

    x = leaf(t, [1.0])
    Collects.apply(Collects.apply(x)).backward()
    Collects.apply(x)
    assert x.grad.tolist() == [4.0]


@pytest.mark.parametrize("run", [True, False])
def test_custom_function_cycle(t, run):
    """The output held by an attribute of its own ctx: backward works, and the cycle is collected."""

    class Cycle(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, notes):
            y = x.clone()
            ctx.notes = notes
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            assert y.item() == ctx.notes["out"].item() == 2.5
            return g * y, None

    def use():
        x, notes, token = leaf(t, 2.5), {}, Token()
        y = Cycle.apply(x, notes)
        notes["out"], notes["token"] = y, token
        if run:
            y.backward()
            assert x.grad.item() == 2.5
        return weakref.ref(token)

    enabled = gc.isenabled()
    gc.disable()
    try:
        token = use()
        assert token() is not None
        gc.collect()
        assert token() is None
    finally:
        if enabled:
            gc.enable()


def test_current_node(t):
    """Hooks and backward can ask for the node that is being run."""
    current = t._C._current_autograd_node if t.__name__ == "torch" else t.autograd.graph.current_node
    seen = []

    class Own(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            seen.append(current().name())
            return g

    x = leaf(t, [0.5])
    y = x.sin()
    z = Own.apply(y)
    z.grad_fn.register_prehook(lambda gs: seen.append(("pre", current() is z.grad_fn)))
    y.register_hook(lambda g: seen.append(("tensor", current() is y.grad_fn)))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append(("post", current() is y.grad_fn)))
    z.sum().backward()
    assert seen == [("pre", True), "OwnBackward", ("tensor", True), ("post", True)]
    assert current() is None


# ---------------------------------------------------------------------------------------------- what marks refuse


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        (lambda ctx: ctx.mark_dirty(3), "mark_dirty can only accept variables, but argument"),
        (
            lambda ctx: ctx.mark_non_differentiable(3),
            "mark_non_differentiable only accepts variable arguments, but got",
        ),
        (lambda ctx: ctx.set_materialize_grads("a"), r"set_materialize_grads received .*but expected \(bool\)"),
    ],
)
def test_marks_of_other_things(t, mark, words):
    """Marks take tensors, and the switch a bool."""

    class Marks(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            mark(ctx)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g

    with pytest.raises((TypeError, RuntimeError), match=words):
        Marks.apply(leaf(t, [1.0]))


@pytest.mark.parametrize("source", ["leaf", "view", "plain"])
def test_dirty_but_not_returned(t, source):
    """That a changed input must be returned is said before anything else that is wrong with it."""

    class Loses(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x.add_(1))
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g

    x = leaf(t, [1.0, 2.0])
    with pytest.raises(RuntimeError, match="Some elements marked as dirty during the forward method were not returned"):
        Loses.apply({"leaf": x, "view": x.view(2), "plain": x.detach()}[source])


def test_no_outputs(t):
    """A function of a tensor may give nothing."""

    class Nothing(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return ()

        @staticmethod
        def backward(ctx, *grads):
            raise AssertionError("there is nothing to come from")

    assert Nothing.apply(leaf(t, [1.0])) == ()


# ---------------------------------------------------------------------------------------------- arguments and gradients


def test_needs_input_grad_counts_defaults(t):
    """With ``setup_context`` the defaults of ``forward`` are arguments, too, and want their None from backward."""

    class Scaled(t.autograd.Function):
        gives = 3

        @staticmethod
        def forward(x, y, k=2):
            return x * y * k

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs[:2])
            ctx.k = inputs[2]

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return (g * y * ctx.k, g * x * ctx.k, None)[: Scaled.gives]

    x = leaf(t, [3.0])
    y = Scaled.apply(x, x.detach())
    assert y.grad_fn.needs_input_grad == (True, False, False)
    y.backward()
    assert x.grad.tolist() == [6.0]
    Scaled.gives = 2
    with pytest.raises(RuntimeError, match=r"incorrect number of gradients \(expected 3, got 2\)"):
        Scaled.apply(x, x).backward()


@pytest.mark.parametrize(
    ("gradients", "words"),
    [
        (lambda g: (g, g), "returned a gradient different than None at position 2, but the corresponding forward"),
        (lambda g: (1.5, None), r"expected Variable or None \(got float\)"),
    ],
)
def test_gradients_that_are_refused(t, gradients, words):
    """A gradient for an argument that is no tensor, and one that is no tensor itself."""

    class Scaled(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, k):
            return x * k

        @staticmethod
        def backward(ctx, g):
            return gradients(g)

    with pytest.raises(RuntimeError, match=words):
        Scaled.apply(leaf(t, [3.0]), 2).backward()


def test_the_context_is_a_node_in_backward(t):
    """What nodes are asked, ``backward`` may ask its context; before there is a node it has no such attributes."""
    seen = []

    class Double(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            return x * factor

        @staticmethod
        def backward(ctx, g):
            seen.append([None if node is None else node.name() for node, _ in ctx.next_functions])
            seen.append(ctx.metadata)
            return g * 2, None

    x = t.ones(2, requires_grad=True)
    y = Double.apply(x.exp(), 2.0)
    y.grad_fn.metadata["note"] = 1
    y.sum().backward()
    assert seen == [["ExpBackward0"], {"note": 1}]
    assert not hasattr(y.grad_fn, "anything_else")
