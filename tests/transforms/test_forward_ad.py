"""forward_ad: duals by hand, as in torch."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import symgrad as sg
import symgrad.autograd.forward_ad as fwAD


def test_tangents_follow_operations():
    x, t = sg.tensor([0.3, 1.2]), sg.tensor([1.0, -2.0])
    with fwAD.dual_level():
        y = (fwAD.make_dual(x, t).sin() * 3).sum()
        primal, tangent = fwAD.unpack_dual(y)
    np.testing.assert_allclose(primal.item(), 3 * np.sin([0.3, 1.2]).sum(), rtol=1e-6)
    np.testing.assert_allclose(tangent.item(), (3 * np.cos([0.3, 1.2]) * [1, -2]).sum(), rtol=1e-6)


def test_constants_have_no_tangent():
    x = sg.tensor([1.0])
    with fwAD.dual_level():
        assert fwAD.unpack_dual(x) == (x, None)
    assert fwAD.unpack_dual(x).tangent is None


def test_the_level_takes_the_tangents_with_it():
    with fwAD.dual_level():
        d = fwAD.make_dual(sg.tensor([1.0]), sg.tensor([2.0]))
    assert fwAD.unpack_dual(d).tangent is None
    with fwAD.dual_level():
        assert fwAD.unpack_dual(d).tangent is None


def test_forward_over_reverse():
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    with fwAD.dual_level():
        _, tangent = fwAD.unpack_dual((fwAD.make_dual(x, sg.tensor([1.0, 0.0])) ** 3).sum())
        (g,) = sg.autograd.grad(tangent, x)
    assert g.tolist() == [6.0, 0.0]


def test_errors():
    x = sg.tensor([1.0, 2.0])
    with pytest.raises(RuntimeError, match="no level exists, make sure to enter_dual_level"):
        fwAD.make_dual(x, x)
    with pytest.raises(RuntimeError, match="Dual level must be a positive number"):
        fwAD.exit_dual_level()
    with fwAD.dual_level():
        with pytest.raises(RuntimeError, match="different size than that of the original Tensor"):
            fwAD.make_dual(x, sg.ones(3))
        with pytest.raises(RuntimeError, match="Nested forward mode AD is not supported"):
            fwAD.enter_dual_level()
        with pytest.raises(ValueError, match="Expected primal to be floating point or complex"):
            fwAD.make_dual(sg.tensor([1, 2]), sg.tensor([1, 2]))
        with pytest.raises(TypeError, match="its tangent is float"):
            fwAD.make_dual(x, 1.0)


@pytest.mark.peer
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", ["sin", "exp", "tanh", "sigmoid", "abs", "square"])
def test_same_as_torch(name):
    torch = pytest.importorskip("torch")
    import torch.autograd.forward_ad as theirs

    found = []
    for lib, mode in ((torch, theirs), (sg, fwAD)):
        with mode.dual_level():
            d = mode.make_dual(lib.tensor([0.3, -1.2]).double(), lib.tensor([1.0, -2.0]).double())
            found.append(mode.unpack_dual(getattr(d, name)()))
    for ours, peer in zip(found[1], found[0], strict=True):
        np.testing.assert_allclose(ours.numpy(), peer.numpy(), rtol=1e-12)


class Twice(sg.autograd.Function):
    """What its author says is the derivative counts: that of rounding is 2."""

    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g * 2


class Both(sg.autograd.Function):
    """Products and sums with a number among arguments and outputs."""

    @staticmethod
    def forward(ctx, x, y, k):
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)
        return x * y, k, x + y

    @staticmethod
    def backward(ctx, g, _, h):
        x, y = ctx.saved_tensors
        return g * y + h, g * x + h if ctx.needs_input_grad[1] else None, None


class BothPushed(Both):
    @staticmethod
    def jvp(ctx, tx, ty, tk):
        x, y = ctx.saved_tensors
        assert tk is None
        return tx * y + ty * x, None, tx + ty


@pytest.mark.parametrize("function", [Both, BothPushed])
def test_custom_functions_have_tangents(function):
    x, y = sg.tensor([1.5, 2.5]), sg.tensor([3.0, -1.0])
    u, v = sg.tensor([1.0, 2.0]), sg.tensor([0.5, 0.25])
    with fwAD.dual_level():
        product, number, total = function.apply(fwAD.make_dual(x, u), fwAD.make_dual(y, v), 3)
        assert number == 3
        np.testing.assert_allclose(fwAD.unpack_dual(product).tangent, u * y + v * x)
        np.testing.assert_allclose(fwAD.unpack_dual(total).tangent, u + v)
        product, _, _ = function.apply(fwAD.make_dual(x, u), y, 3)
        np.testing.assert_allclose(fwAD.unpack_dual(product).tangent, u * y)


def test_the_backward_of_a_custom_function_counts_in_forward_mode():
    x = sg.tensor([1.2, 2.7])
    value, tangent = sg.func.jvp(Twice.apply, (x,), (sg.ones(2),))
    np.testing.assert_array_equal(value, [1.0, 3.0])
    np.testing.assert_array_equal(tangent, [2.0, 2.0])


def test_a_jvp_is_checked():
    class Short(Both):
        @staticmethod
        def jvp(ctx, tx, ty, tk):
            return tx

    class Large(Twice):
        @staticmethod
        def jvp(ctx, tx):
            return sg.ones(5)

    class Hidden(Twice):
        @staticmethod
        def backward(ctx, g):
            return sg.tensor(g.detach().numpy() * 2)

    x = sg.tensor([1.5, 2.5])
    with fwAD.dual_level():
        d = fwAD.make_dual(x, sg.ones(2))
        with pytest.raises(RuntimeError, match=r"invalid number of forward gradients \(expected 3 but got 1\)"):
            Short.apply(d, x, 3)
        with pytest.raises(RuntimeError, match=r"Tensor is of size \[2\] while the given forward gradient"):
            Large.apply(d)
        with pytest.raises(NotImplementedError, match="must implement the jvp"):
            Hidden.apply(d)
    nested = lambda t: sg.func.jvp(Twice.apply, (t,), (t,))[1]  # noqa: E731
    assert sg.func.jvp(nested, (x,), (x,))[1].tolist() == [3.0, 5.0]


def test_ops_without_tangent_rule_in_a_fresh_process():
    """The transposition that they need is found though nobody has used the functions of functions."""
    code = """
import symgrad as sg
forward = sg.autograd.forward_ad
with forward.dual_level():
    moved = sg.linalg.vector_norm(forward.make_dual(sg.tensor([3.0, 4.0]), sg.tensor([1.0, 0.0])))
    print(forward.unpack_dual(moved).tangent.item())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip()[:6] in ("0.6", "0.6000"), done.stderr
