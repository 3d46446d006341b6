"""gradcheck: what it accepts, what it catches, and in which words."""

from __future__ import annotations

import numpy as np
import pytest


def leaf(t, *shape, dtype=None):
    size = int(np.prod(shape))
    return t.tensor(np.arange(1.0, 1 + size).reshape(shape) / 4, dtype=dtype or t.float64, requires_grad=True)


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
    x = leaf(t, 4)
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
    x = leaf(t, 3)
    with pytest.raises(RuntimeError, match="Backward is not reentrant"):
        t.autograd.gradcheck(unsteady, (x,), fast_mode=fast_mode)
    assert not t.autograd.gradcheck(unsteady, (x,), fast_mode=fast_mode, raise_exception=False)
    assert t.autograd.gradcheck(unsteady, (x,), nondet_tol=1e-5, fast_mode=fast_mode)
    assert t.autograd.gradgradcheck(lambda x: x**3, (x,), fast_mode=fast_mode)


@BOTH_MODES
def test_gradcheck_check_no_differentiable_outputs(t, fast_mode):
    """A function that leaves the graph fails if it depends on its input; one that returns nothing passes."""
    x = leaf(t, 3)
    with pytest.raises(RuntimeError, match="Numerical gradient for function expected to be zero"):
        t.autograd.gradcheck(lambda x: t.tensor([x.detach()[0].item()], dtype=t.float64), (x,), fast_mode=fast_mode)
    assert not t.autograd.gradcheck(
        lambda x: t.tensor([x.detach()[0].item()], dtype=t.float64), (x,), raise_exception=False, fast_mode=fast_mode
    )
    assert t.autograd.gradcheck(lambda x: t.ones(2, dtype=t.float64), (x,), fast_mode=fast_mode)
    assert t.autograd.gradcheck(lambda x: (), (x,), fast_mode=fast_mode)


@BOTH_MODES
@pytest.mark.filterwarnings("ignore:Backwards compatibility")
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

    x = leaf(t, 3)
    with pytest.raises(RuntimeError, match="Expected backward function to handle undefined output grads"):
        t.autograd.gradcheck(pair(False), (x,), fast_mode=fast_mode)
    assert t.autograd.gradcheck(pair(True), (x,), fast_mode=fast_mode)


@BOTH_MODES
def test_gradcheck_jacobian_mismatch(t, fast_mode):
    """A wrong gradient is told with output, input and both Jacobians, for real and complex on either side."""
    slow = r"Jacobian mismatch for output 0 with respect to input 0"
    real, imaginary = leaf(t, 2), t.tensor([1 + 2j, -1j], dtype=t.complex128, requires_grad=True)
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
    x = leaf(t, 2)
    assert t.autograd.gradcheck(lambda z: (z * z, z.abs()), (z,), fast_mode=fast_mode)
    assert t.autograd.gradcheck(lambda x: (x * 1j, x * 2), (x,), fast_mode=fast_mode)


def test_gradcheck_custom_error(t):
    """A mismatch raises GradcheckError, which is a RuntimeError; what the function itself raises passes through."""
    GradcheckError = t.autograd.gradcheck.__globals__["GradcheckError"]
    assert issubclass(GradcheckError, RuntimeError)
    wrong = function(t, lambda x: x * 2, lambda g, x: g * 3)
    x = leaf(t, 2)
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        t.autograd.gradcheck(wrong, (x,))

    def fails(x):
        raise RuntimeError("not my day")

    for raise_exception in (True, False):
        with pytest.raises(RuntimeError, match="not my day") as caught:
            t.autograd.gradcheck(fails, (x,), raise_exception=raise_exception)
        assert not isinstance(caught.value, GradcheckError)
