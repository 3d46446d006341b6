"""gradcheck: what it accepts, what it catches, and in which words."""

from __future__ import annotations

import numpy as np
import pytest

from tests.leaves import ramp

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")  # torch's own


def function(t, forward, backward):
    """A custom function of one tensor, from two plain functions."""

    class Made(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return forward(x)

        @staticmethod
        def backward(ctx, g):
            return backward(g, *ctx.saved_tensors)

    return Made.apply


BOTH_MODES = pytest.mark.parametrize("fast_mode", [False, True], ids=["slow", "fast"])


@BOTH_MODES
def test_gradcheck_single_input(t, fast_mode):
    """One tensor stands for a tuple of one."""
    x = ramp(t, 4)
    assert t.autograd.gradcheck(lambda x: x.mul(5).sin(), x, fast_mode=fast_mode)
    assert t.autograd.gradgradcheck(lambda x: x.mul(5).sin(), x, fast_mode=fast_mode)


@BOTH_MODES
def test_gradcheck_nondeterministic(t, fast_mode):
    """A backward that answers differently each time is found out, unless the tolerance covers the difference."""
    calls = [0]

    def noisy(g, x):
        calls[0] += 1
        return g * (3 + 1e-7 * (calls[0] % 2))

    unsteady = function(t, lambda x: x * 3, noisy)
    x = ramp(t, 3)
    with pytest.raises(RuntimeError, match="Backward is not reentrant"):
        t.autograd.gradcheck(unsteady, (x,), fast_mode=fast_mode)
    assert not t.autograd.gradcheck(unsteady, (x,), fast_mode=fast_mode, raise_exception=False)
    assert t.autograd.gradcheck(unsteady, (x,), nondet_tol=1e-5, fast_mode=fast_mode)
    assert t.autograd.gradgradcheck(lambda x: x**3, (x,), fast_mode=fast_mode)


@BOTH_MODES
def test_gradcheck_check_no_differentiable_outputs(t, fast_mode):
    """A function that leaves the graph fails if it depends on its input; one that returns nothing passes."""
    x = ramp(t, 3)
    with pytest.raises(RuntimeError, match="Numerical gradient for function expected to be zero"):
        t.autograd.gradcheck(lambda x: t.tensor([x.detach()[0].item()], dtype=t.float64), (x,), fast_mode=fast_mode)
    assert not t.autograd.gradcheck(
        lambda x: t.tensor([x.detach()[0].item()], dtype=t.float64), (x,), raise_exception=False, fast_mode=fast_mode
    )
    assert t.autograd.gradcheck(lambda x: t.ones(2, dtype=t.float64), (x,), fast_mode=fast_mode)
    assert t.autograd.gradcheck(lambda x: (), (x,), fast_mode=fast_mode)


@BOTH_MODES
def test_gradcheck_undefined_grad(t, fast_mode):
    """A backward that takes no None for a gradient is found out, unless the check is switched off."""

    def pair(careful):
        class Pair(t.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.set_materialize_grads(False)
                return x * 2, x * 3

            @staticmethod
            def backward(ctx, g, h):
                if careful and (g is None or h is None):
                    if g is None and h is None:
                        return None
                    return g * 2 if h is None else h * 3
                if g is None or h is None:
                    raise RuntimeError("both are needed")
                return g * 2 + h * 3

        return lambda x: sum(Pair.apply(x)) if not careful else Pair.apply(x)

    x = ramp(t, 3)
    refused = pytest.raises(RuntimeError, match="Expected backward function to handle undefined output grads")
    with pytest.warns(UserWarning, match="New undefined gradient support checking feature"), refused:
        t.autograd.gradcheck(pair(False), (x,), fast_mode=fast_mode)
    assert t.autograd.gradcheck(pair(True), (x,), fast_mode=fast_mode)


@BOTH_MODES
def test_gradcheck_jacobian_mismatch(t, fast_mode):
    """A wrong gradient is told with output, input and both Jacobians, for real and complex on either side."""
    slow = r"Jacobian mismatch for output 0 with respect to input 0"
    real, imaginary = ramp(t, 2), t.tensor([1 + 2j, -1j], dtype=t.complex128, requires_grad=True)
    cases = [
        (function(t, lambda x: x * 2, lambda g, x: g * 2.5), real),
        (function(t, lambda z: z * z, lambda g, z: g * z.conj() * 3), imaginary),
        (function(t, lambda x: x * (1 + 1j), lambda g, x: g.real * 7), real),
        (function(t, lambda z: z.abs(), lambda g, z: g * 2 * z / z.abs()), imaginary),
    ]
    for wrong, x in cases:
        with pytest.raises(RuntimeError, match=slow):
            t.autograd.gradcheck(wrong, (x,), fast_mode=fast_mode)
        assert t.autograd.gradcheck(wrong, (x,), raise_exception=False, fast_mode=fast_mode) is False
    conjugated = function(t, lambda z: z * z, lambda g, z: g * 2 * z)  # the conjugate is missing
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        t.autograd.gradcheck(conjugated, (imaginary,), fast_mode=fast_mode)


@BOTH_MODES
def test_gradcheck_output_shape_or_dtype_depend_on_values(t, fast_mode):
    """A function whose output changes its form when the input is moved a little cannot be checked."""
    x = t.ones(4, dtype=t.float64, requires_grad=True)

    def shape(x):
        return t.cat([x, x]) if (x >= 1).numpy(force=True).all() else x

    def dtype(x):
        return x if (x >= 1).numpy(force=True).all() else x.to(t.float32)

    with pytest.raises(AssertionError, match="return outputs with the same shape"):
        t.autograd.gradcheck(shape, (x,), fast_mode=fast_mode)
    with pytest.raises(AssertionError, match="return outputs with the same dtype"):
        t.autograd.gradcheck(dtype, (x,), fast_mode=fast_mode)


@BOTH_MODES
def test_gradcheck_complex_non_complex_outputs(t, fast_mode):
    """Complex and real results may stand side by side."""
    z = t.tensor([1 + 2j, -1.5j], dtype=t.complex128, requires_grad=True)
    x = ramp(t, 2)
    assert t.autograd.gradcheck(lambda z: (z * z, z.abs()), (z,), fast_mode=fast_mode)
    assert t.autograd.gradcheck(lambda x: (x * 1j, x * 2), (x,), fast_mode=fast_mode)


def test_gradcheck_custom_error(t):
    """A mismatch raises GradcheckError, which is a RuntimeError; what the function itself raises passes through."""
    GradcheckError = t.autograd.gradcheck.__globals__["GradcheckError"]
    assert issubclass(GradcheckError, RuntimeError)
    wrong = function(t, lambda x: x * 2, lambda g, x: g * 3)
    x = ramp(t, 2)
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        t.autograd.gradcheck(wrong, (x,))

    def fails(x):
        raise RuntimeError("not my day")

    for raise_exception in (True, False):
        with pytest.raises(RuntimeError, match="not my day") as caught:
            t.autograd.gradcheck(fails, (x,), raise_exception=raise_exception)
        assert not isinstance(caught.value, GradcheckError)


def doubled(t, forward_fails=False, backward_fails=False, calls=None):
    """Twice its first argument, and the second one as a copy; each derivative fails on request."""

    class Doubled(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            if t.autograd.forward_ad._current_level >= 0:
                assert not x.requires_grad
                assert not y.requires_grad
            return x * 2, y.clone()

        @staticmethod
        def backward(ctx, g, h):
            if backward_fails:
                raise RuntimeError("no way back")
            return g * 2, h

        @staticmethod
        def jvp(ctx, v, w):
            if forward_fails:
                raise RuntimeError("no way forward")
            if calls is not None:
                calls.append(1)
            return v * 2, w.clone()

    return Doubled.apply


@BOTH_MODES
def test_gradcheck_check_forward_or_backward_only(t, fast_mode):
    """What is not to be checked is not run; of two failures that of backward is told."""
    x, y = ramp(t, 2), ramp(t, 2)

    def check(forward, backward, *fail):
        modes = {"check_forward_ad": forward, "check_backward_ad": backward, "check_undefined_grad": backward}
        return t.autograd.gradcheck(doubled(t, *fail), (x, y), fast_mode=fast_mode, **modes)

    assert check(True, True)
    assert check(True, False, False, True)
    assert check(False, True, True, False)
    for forward, fails, words in ((True, (True, False), "no way forward"), (True, (True, True), "no way back")):
        with pytest.raises(RuntimeError, match=words):
            check(forward, True, *fails)
    with pytest.raises(AssertionError, match="Expected at least one of check_forward_ad or check_backward_ad"):
        check(False, False)


def test_gradcheck_contradicting_flags(t):
    """Flags that ask for what other flags leave out."""
    x = ramp(t, 2)
    with pytest.raises(AssertionError, match="check_batched_grad=True requires check_backward_ad"):
        t.autograd.gradcheck(t.sin, (x,), check_forward_ad=True, check_backward_ad=False, check_batched_grad=True)
    with pytest.raises(AssertionError, match="check_batched_forward_grad=True requires check_forward_ad"):
        t.autograd.gradcheck(t.sin, (x,), check_batched_forward_grad=True)
    with pytest.raises(AssertionError, match="check_undefined_grad=True requires check_rev_over_rev"):
        t.autograd.gradgradcheck(t.sin, (x,), check_fwd_over_rev=True, check_rev_over_rev=False)


def test_gradcheck_forward_ad_respects_requires_grad(t):
    """Inputs that require grad move, one after the other and without requiring it; once more without a tangent."""
    calls = []
    only_forward = {"check_forward_ad": True, "check_backward_ad": False, "check_batched_grad": False}
    for inputs, undefined, count in (
        ((ramp(t, 1), ramp(t, 1)), False, 2),
        ((ramp(t, 1), ramp(t, 1)), True, 6),
        ((ramp(t, 1), ramp(t, 1).detach()), True, 2),
    ):
        calls.clear()
        assert t.autograd.gradcheck(
            doubled(t, calls=calls),
            inputs,
            check_undefined_grad=undefined,
            check_batched_forward_grad=False,
            **only_forward,
        )
        assert len(calls) == count


def test_gradcheck_undefined_tangents(t):
    """A jvp that takes a missing tangent for something else than zeros is found out."""

    class Careless(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.set_materialize_grads(False)
            return x + y

        @staticmethod
        def jvp(ctx, v, w):
            return v * 3 if w is None else w * 3 if v is None else v + w

    with pytest.raises(RuntimeError, match="tangent value"):
        t.autograd.gradcheck(
            Careless.apply, (ramp(t, 2), ramp(t, 2)), check_forward_ad=True, check_backward_ad=False, fast_mode=True
        )


def test_gradcheck_parts_of_complex_outputs(t):
    """The imaginary part of a complex output is told first, then the real one, each as what it is."""
    z = t.tensor([1 + 2j, -1j], dtype=t.complex128, requires_grad=True)
    x = ramp(t, 2)
    for words, made, point in (
        ("imaginary part of complex outputs only, J", function(t, lambda z: z * 1, lambda g, z: g * 1.5), z),
        (
            "real part of complex outputs only, J",
            function(t, lambda x: x * (1 + 1j), lambda g, x: 2 * g.real + g.imag),
            x,
        ),
    ):
        with pytest.raises(RuntimeError, match=words):
            t.autograd.gradcheck(made, (point,), check_undefined_grad=False)


# ------------------------------------------------------------------------------------------ other ways to the input


def test_inputs_are_perturbed_where_they_lie(t):
    """A function that reaches its input by another way than its argument is seen through."""
    x = t.tensor([0.5, 2.0], dtype=t.float64, requires_grad=True)
    seen = set()

    def watching(y):
        seen.add(y is x and y.is_leaf)
        return y * y

    assert t.autograd.gradcheck(watching, (x,))
    assert seen == {True}
    assert t.autograd.gradcheck(lambda y: x * y, (x,))
    assert t.autograd.gradgradcheck(lambda _: x * x * x, (x,))
    array = np.array([1.0, 2.0])
    leaf = t.from_numpy(array).requires_grad_()
    with pytest.raises(RuntimeError, match="Jacobian mismatch for output 0 with respect to input 0"):
        t.autograd.gradcheck(lambda y: y * t.from_numpy(array), (leaf,))
    with pytest.raises(RuntimeError, match="Jacobian computed with forward mode mismatch"):
        t.autograd.gradcheck(lambda y: x * y, (x,), check_forward_ad=True)
    number = t.tensor(2.0, dtype=t.float64, requires_grad=True)
    assert t.autograd.gradcheck(lambda y: number * y, (number,), fast_mode=True)
    assert (x.tolist(), x._version, x.grad, array.tolist()) == ([0.5, 2.0], 0, None, [1.0, 2.0])
