"""forward_ad: duals by hand, as in torch."""

from __future__ import annotations

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
