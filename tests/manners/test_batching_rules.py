"""Custom functions with a rule for batches: when ``vmap`` calls it, with what, and what it may give."""

from __future__ import annotations

import pytest


def scaled(t, rule=None, **fields):
    """``x * y``, with a note of every call of its rule."""

    class Scaled(t.autograd.Function):
        calls = []

        @staticmethod
        def forward(x, y):
            return x * y

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y, (g * x).sum_to_size(y.shape)

    def own(info, in_dims, x, y):
        Scaled.calls.append((info.batch_size, info.randomness, in_dims, tuple(x.shape), tuple(y.shape)))
        if in_dims[0] == 1:
            x = x.movedim(1, 0)
        return Scaled.apply(x, y), 0

    for name, value in fields.items():
        setattr(Scaled, name, value)
    if not fields.get("generate_vmap_rule"):
        Scaled.vmap = staticmethod(rule or own)
    return Scaled


def batch(t):
    return t.arange(6.0).reshape(3, 2), t.tensor([2.0, 3.0], requires_grad=True)


def test_the_rule_runs_once(t):
    """It gets the batch as it lies, the axis of the batch, and what all examples share."""
    f = scaled(t)
    x, y = batch(t)
    out = t.func.vmap(f.apply, (0, None))(x, y)
    assert f.calls == [(3, "error", (0, None), (3, 2), (2,))]
    assert out.tolist() == [[0.0, 3.0], [4.0, 9.0], [8.0, 15.0]]
    assert type(out.grad_fn).__name__ == "ScaledBackward"
    out.sum().backward()
    assert y.grad.tolist() == [6.0, 9.0]
    t.func.vmap(f.apply, (1, None), randomness="different")(x.T, y)
    assert f.calls[1:] == [(3, "different", (1, None), (2, 3), (2,))]


def test_inside_of_a_program(t):
    """What else the function does goes on before and after it, and out_dims says where the batch goes."""
    f = scaled(t)
    x, y = batch(t)
    out = t.func.vmap(lambda a: (f.apply(a + 1, y).exp()[0], a.sum()), out_dims=(0, 0))(x)
    assert [tuple(o.shape) for o in out] == [(3,), (3,)]
    assert out[0].tolist() == pytest.approx([7.389056, 403.42879, 22026.465])
    assert len(f.calls) == 1
    assert t.func.vmap(lambda a: f.apply(a * 2, y), out_dims=1)(x).shape == (2, 3)
    slope = t.func.grad(lambda z: t.func.vmap(lambda a: f.apply(a, z).sum())(x).sum())(y.detach())
    assert slope.tolist() == [6.0, 9.0]
    assert len(f.calls) == 3


def test_what_is_no_batch(t):
    """Where no argument is one, the function itself is applied."""
    f = scaled(t)
    x, y = batch(t)
    assert t.func.vmap(lambda a: f.apply(y, y) + a)(x).shape == (3, 2)
    assert f.calls == []


def test_batches_of_batches(t):
    """The rule of the inner call is run on the batch of the outer one."""
    f = scaled(t)
    x, y = t.arange(24.0).reshape(4, 3, 2), batch(t)[1]
    out = t.func.vmap(t.func.vmap(f.apply, (0, None)), (0, None))(x, y)
    assert [call[:3] for call in f.calls] == [(3, "error", (0, None)), (4, "error", (0, None))]
    assert out.tolist() == (x * y).tolist()


def test_other_outputs(t):
    """Several outputs with axes of their own; None for what all examples share."""
    f = scaled(t, lambda info, in_dims, x, y: ((x.T * 2, y, [x]), (1, None, [0])))
    x, y = batch(t)
    doubled, same, (again,) = t.func.vmap(f.apply, (0, None), out_dims=(0, None, [0]))(x, y)
    assert doubled.tolist() == (x * 2).tolist()
    assert same is y
    assert again.tolist() == x.tolist()


def test_arguments_that_are_no_tensors(t):
    seen = []

    class Power(t.autograd.Function):
        @staticmethod
        def forward(x, k, word):
            return x**k

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x, k, word):
            seen.append((in_dims, k, word))
            return x**k, in_dims[0]

    x, _ = batch(t)
    assert t.func.vmap(lambda a: Power.apply(a, 3, "q"))(x).tolist() == (x**3).tolist()
    assert seen == [((0, None, None), 3, "q")]


def test_generated_rule(t):
    """``generate_vmap_rule`` runs the function on examples, and its backward too."""
    f = scaled(t, generate_vmap_rule=True)
    x, y = batch(t)
    out = t.func.vmap(f.apply, (0, None))(x, y)
    out.sum().backward()
    assert y.grad.tolist() == [6.0, 9.0]
    g = scaled(t)
    both = t.func.vmap(lambda a: g.apply(f.apply(a, y), y))(x)
    assert both.tolist() == (x * y * y).tolist()


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (lambda *a: a[2], "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree"),
        (lambda *a: (a[2], 0, 1), "Got 3 returns instead"),
        (lambda *a: (a[2], (0,)), r"returned an incompatible \(output, out_dims\) tuple. Expected out_dims=\(0,\)"),
        (lambda *a: ((a[2], a[2]), (0, 0, 0)), "to be compatible with the structure of `output`"),
        (lambda *a: 1 / 0, "division by zero"),
        (lambda *a: (a[2] * 2, 5), r"expected to be in range of \[-\d, \d\], but got 5"),
    ],
    ids=["alone", "three", "nested", "uneven", "raises", "beyond"],
)
def test_rules_that_are_refused(t, rule, words):
    f = scaled(t, rule)
    x, y = batch(t)
    with pytest.raises((RuntimeError, ZeroDivisionError, IndexError), match=words):
        t.func.vmap(f.apply, (0, None))(x, y)


def test_two_rules(t):
    f = scaled(t)
    f.generate_vmap_rule = True
    x, y = batch(t)
    with pytest.raises(RuntimeError, match="has both generate_vmap_rule=True and an overridden vmap staticmethod"):
        t.func.vmap(f.apply, (0, None))(x, y)


def test_other_numbers_for_what_all_examples_share(t):
    """There is one of it, so it cannot hold other numbers for every example: it was said that none may be drawn."""

    def noise(x, shared):
        shared.normal_()
        return x + shared

    with pytest.raises(RuntimeError, match="Cannot ask for different inplace randomness on an unbatched tensor"):
        t.func.vmap(noise, (0, None), randomness="different")(t.zeros(2, 3), t.zeros(3))
    rows = t.func.vmap(noise, (0, None), randomness="same")(t.zeros(2, 3), t.zeros(3))
    assert t.equal(rows[0], rows[1])
