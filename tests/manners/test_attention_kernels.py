"""torch.nn.attention: programs that choose a kernel of attention, mostly for second derivatives, run as they are."""

from __future__ import annotations

import importlib

import pytest


def test_second_derivatives_of_attention(t):
    room = importlib.import_module(f"{t.__name__}.nn.attention")
    q = t.tensor([[[0.5, -1.0], [2.0, 0.25]]], dtype=t.float64, requires_grad=True)
    with room.sdpa_kernel(room.SDPBackend.MATH):
        y = t.nn.functional.scaled_dot_product_attention(q, q, q)
    weights = (q @ q.mT / 2**0.5).softmax(-1) @ q
    seconds = []
    for found in (y, weights):
        (g,) = t.autograd.grad(found.sum(), q, create_graph=True)
        seconds += t.autograd.grad((g * g).sum(), q)
    assert t.allclose(*seconds)


def test_several_kernels(t):
    room = importlib.import_module(f"{t.__name__}.nn.attention")
    kinds = room.SDPBackend
    with room.sdpa_kernel([kinds.FLASH_ATTENTION, kinds.EFFICIENT_ATTENTION, kinds.MATH], set_priority=True):
        x = t.ones(1, 2, 2)
        assert t.nn.functional.scaled_dot_product_attention(x, x, x).shape == (1, 2, 2)
    assert [int(kind) for kind in (kinds.ERROR, kinds.MATH, kinds.CUDNN_ATTENTION)] == [-1, 0, 3]


@pytest.mark.parametrize("backends", ["math", None, 0])
def test_what_is_no_kernel(t, backends):
    room = importlib.import_module(f"{t.__name__}.nn.attention")
    with pytest.raises(AssertionError, match="Backend must be an instance of SDPBackend"), room.sdpa_kernel(backends):
        pass
