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


def _heads(t, added=False, **options):
    x = t.arange(24.0, dtype=t.float64).view(3, 2, 4) / 10
    w, b = (t.arange(48.0, dtype=t.float64).view(12, 4) - 20) / 30, t.zeros(12, dtype=t.float64)
    o, zero = t.eye(4, dtype=t.float64), t.zeros(4, dtype=t.float64)
    attend = t.nn.functional.multi_head_attention_forward
    return attend(x, x, x, 4, 2, w, b, None, None, added, 0.0, o, zero, **options)


def test_the_hint_that_a_mask_is_causal(t):
    later, none = t.ones(3, 3, dtype=t.bool).triu(1), t.zeros(3, 3, dtype=t.bool)
    for needed, mask in ((True, none), (False, later)):  # without weights the hint is taken for the mask
        hinted, _ = _heads(t, is_causal=True, attn_mask=none, need_weights=needed)
        assert t.allclose(hinted, _heads(t, attn_mask=mask)[0])
    assert not t.allclose(_heads(t, attn_mask=later)[0], _heads(t)[0])
    with pytest.raises(RuntimeError, match="Need attn_mask if specifying the is_causal hint"):
        _heads(t, is_causal=True)


def test_padding_beside_keys_that_are_added(t):
    padding = t.tensor([[False, False, True], [False, True, False]])
    found, weights = _heads(t, added=True, key_padding_mask=padding)
    assert weights.shape == (2, 3, 4)
    assert weights[0, :, 2].eq(0).all()
    assert weights[..., 3].gt(0).all()
    assert found.isfinite().all()
