"""What the ``jvp`` of a custom Function may answer: as its output is, so must be the tangent."""

from __future__ import annotations

import warnings

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")  # torch's own


def function(t, forward, jvp=None, backward=lambda ctx, g: g):
    """A custom function of the given parts."""
    parts = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Made", (t.autograd.Function,), parts | ({} if jvp is None else {"jvp": staticmethod(jvp)}))


def pushed(t, made, *more):
    """``(dual, tangent that went in, outputs)`` of a function on two numbers that move."""
    given = t.ones(2)
    dual = t.autograd.forward_ad.make_dual(t.tensor([1.0, 2.0]), given)
    return dual, given, made.apply(dual, *more)


def tangent(t, out):
    return t.autograd.forward_ad.unpack_dual(out).tangent


def changed(ctx, x):
    ctx.mark_dirty(x)
    return x.mul_(2)


def test_custom_function_forward_mode_inplace_checks(t):
    """An input that forward changes in place has a tangent that jvp changes in place, and stays the same dual."""
    with t.autograd.forward_ad.dual_level():
        dual, given, out = pushed(t, function(t, changed, lambda ctx, v: v.mul_(2)))
        assert out is dual
        assert tangent(t, out) is given
        assert given.tolist() == [2.0, 2.0]
        for jvp in (lambda ctx, v: v * 2, lambda ctx, v: v, lambda ctx, v: None):
            with pytest.raises(RuntimeError, match="jvp function must modify the corresponding gradient inplace"):
                pushed(t, function(t, changed, jvp))


@pytest.mark.parametrize("forward", [lambda ctx, x: x, lambda ctx, x: x[:]], ids=["as it is", "view"])
def test_custom_function_forward_mode_view_checks(t, forward):
    """Where forward hands its input or a view of it back, jvp answers a view of its tangent."""
    with t.autograd.forward_ad.dual_level():
        _, given, out = pushed(t, function(t, forward, lambda ctx, v: v.view_as(v)))
        assert tangent(t, out)._base is given
        for jvp in (lambda ctx, v: v, lambda ctx, v: v * 2):
            with pytest.raises(RuntimeError, match=r"returning a view \(or an input as-is\) but the jvp is not"):
                pushed(t, function(t, forward, jvp))
        with pytest.raises(RuntimeError, match="jvp is not returning a view of the given grad input"):
            pushed(t, function(t, forward, lambda ctx, v: v.clone().view_as(v)))
        inner = t.autograd.forward_ad.make_dual(t.ones(2, 2), t.ones(2, 2))[0]
        with pytest.raises(RuntimeError, match="jvp is not returning a view of the same base"):
            function(t, forward, lambda ctx, v: v.clone().view_as(v)).apply(inner)
        _, _, out = pushed(t, function(t, lambda ctx, x: x.clone()[:], lambda ctx, v: v))  # a view of something else
        assert tangent(t, out).tolist() == [1.0, 1.0]


def test_custom_function_forward_mode_non_differentiable(t):
    """Outputs without derivative, whole or marked, have None; what is no tensor may have anything."""

    def marked(ctx, x):
        still = x * 2
        ctx.mark_non_differentiable(still)
        return still, x * 3

    def whole(ctx, x):
        return x.to(t.int64), x * 3

    with t.autograd.forward_ad.dual_level():
        for forward in (marked, whole):
            _, _, (still, moving) = pushed(t, function(t, forward, lambda ctx, v: (None, v * 3)))
            assert tangent(t, still) is None
            assert tangent(t, moving).tolist() == [3.0, 3.0]
            with pytest.raises(RuntimeError, match="You should return None at that position instead"):
                pushed(t, function(t, forward, lambda ctx, v: (v, v)))
        _, _, (moving, word) = pushed(t, function(t, lambda ctx, x: (x * 1, "word"), lambda ctx, v: (v, v)))
        assert word == "word"
        with pytest.raises(RuntimeError, match=r"expected Variable or None \(got float\) for grad output 0"):
            pushed(t, function(t, lambda ctx, x: x * 1, lambda ctx, v: 3.0))
        with pytest.raises(
            RuntimeError, match=r"Function's jvp returned an invalid number .* \(expected 1 but got 2\)"
        ):
            pushed(t, function(t, lambda ctx, x: x * 1, lambda ctx, v: (v, v)))


def test_custom_function_save_for_forward(t):
    """``jvp`` finds what was saved for forward, nothing else."""
    seen = []

    def saving(way):
        def forward(ctx, x):
            getattr(ctx, way)(x)
            return x * 1

        return forward

    def jvp(ctx, v):
        seen.append(len(ctx.saved_tensors))
        return v

    with t.autograd.forward_ad.dual_level():
        for way in ("save_for_backward", "save_for_forward"):
            pushed(t, function(t, saving(way), jvp))
    assert seen == [0, 1]


def test_autograd_python_custom_function_inplace(t):
    """``mark_dirty`` is for inputs: anything else is warned of, and refused where it is a view."""

    def stray(ctx, x):
        made = x * 3
        ctx.mark_dirty(made)
        return made

    def stray_view(ctx, x):
        made = x.clone().view_as(x)
        ctx.mark_dirty(made)
        return made

    x = t.tensor([1.0, 2.0], requires_grad=True)
    with pytest.warns(UserWarning, match="received a tensor that was not an input"):
        y = function(t, stray, backward=lambda ctx, g: 3 * g).apply(x.clone())
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match="received a tensor that was not an input"):
        function(t, stray_view).apply(x.clone())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert function(t, stray).apply(x.detach()).tolist() == [3.0, 6.0]


@pytest.mark.parametrize(
    "forward",
    [lambda ctx, x: x, lambda ctx, x: x[:], lambda ctx, x: x.clone()[:]],
    ids=["as it is", "view", "view of another"],
)
def test_inplace_not_requires_grad(t, forward):
    """Views from a function that nobody differentiates through may be changed, but not by what requires grad."""
    x = t.tensor([1.0, 2.0])
    y = function(t, forward).apply(x)
    assert y is not x
    assert y._is_view()
    y += 1
    assert y.tolist() == [2.0, 3.0]
    for change in (lambda: y.add_(t.ones(2, requires_grad=True)), lambda: y.copy_(t.ones(2, requires_grad=True))):
        with pytest.raises(
            RuntimeError,
            match="modified inplace with grad mode enabled. This view was created inside a custom Function",
        ):
            change()


def without_history(t, how):
    """x³ as a custom function whose backward leaves no history of the gradient that it is given."""

    class Cube(t.autograd.Function):
        @staticmethod
        def forward(x):
            return x**3

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs[0])

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            if how == "partly":
                return g * x**2 + 2 * g.detach() * x**2
            if how == "no_grad":
                with t.no_grad():
                    return 3 * g * x**2
            return 3 * g.detach() * x**2 if how == "detach" else 3 * g * x**2

    if how == "once":
        Cube.backward = staticmethod(t.autograd.function.once_differentiable(Cube.backward))
    return Cube.apply


FORWARD = {
    "jvp": lambda t, f, x: t.func.jvp(f, (x,), (x,)),
    "linearize": lambda t, f, x: t.func.linearize(f, x)[1](x),
    "jacfwd": lambda t, f, x: t.func.jacfwd(f)(x),
}


@pytest.mark.parametrize("transform", FORWARD)
@pytest.mark.parametrize("how", ["once", "detach", "no_grad", "partly"])
def test_a_backward_without_history_tells_no_tangents(t, how, transform):
    """Forward mode transposes it; what it computed without history was a tangent of 0, silently."""
    function, x = without_history(t, how), t.tensor([1.0, 2.0])
    with pytest.raises((NotImplementedError, RuntimeError)):
        FORWARD[transform](t, function, x)


@pytest.mark.parametrize("transform", FORWARD)
def test_nor_does_one_whose_gradients_of_ones_are_zero(t, transform):
    """What adds up to 1 has a gradient of 0 by ones, which looked like one that is 0: its tangents were 0, silently."""

    class Shares(t.autograd.Function):
        @staticmethod
        def forward(x):
            return x.softmax(-1)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)

        @staticmethod
        @t.autograd.function.once_differentiable
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return y * (g - (y * g).sum(-1, keepdim=True))

    with pytest.raises((NotImplementedError, RuntimeError)):
        FORWARD[transform](t, Shares.apply, t.tensor([1.0, 2.0, 4.0]))


def test_a_backward_with_history_tells_them(t):
    if t.__name__ == "torch":
        pytest.skip("torch wants a jvp")
    function, x = without_history(t, "kept"), t.tensor([1.0, 2.0])
    assert FORWARD["jvp"](t, function, x)[1].tolist() == FORWARD["linearize"](t, function, x).tolist() == [3, 24]
