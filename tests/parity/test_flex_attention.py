"""``nn.attention.flex_attention`` beside torch's: scores and masks that are functions of places; and gradients."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch", reason="torch is the referee here: pip install torch==2.13.0")
there = pytest.importorskip("torch.nn.attention.flex_attention")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]
SIDES = ((sg, importlib.import_module("symgrad.nn.flex_attention")), (torch, there))

CASES = {
    "plain": lambda F, t, x: {},
    "scaled": lambda F, t, x: {"scale": 0.3},
    "causal": lambda F, t, x: {
        "block_mask": F.create_block_mask(lambda b, h, q, k: q >= k, None, None, 5, 5, device="cpu")
    },
    "window": lambda F, t, x: {
        "block_mask": F.create_block_mask(
            F.and_masks(lambda b, h, q, k: q >= k, lambda b, h, q, k: q - k < 2), 2, 4, 5, 5, device="cpu"
        )
    },
    "either": lambda F, t, x: {
        "block_mask": F.create_block_mask(
            F.or_masks(lambda b, h, q, k: q == k, lambda b, h, q, k: k < h), 2, 4, 5, 5, device="cpu"
        )
    },
    "distance": lambda F, t, x: {"score_mod": lambda s, b, h, q, k: s - 0.1 * (h + 1) * (q - k).abs()},
    "learned": lambda F, t, x: {"score_mod": lambda s, b, h, q, k: s + x[q - k + 4]},
    "soft cap": lambda F, t, x: {"score_mod": lambda s, b, h, q, k: 2.0 * t.tanh(s / 2.0)},
    "without scores": lambda F, t, x: {"score_mod": lambda s, b, h, q, k: x[h]},
    "masked": lambda F, t, x: {"score_mod": lambda s, b, h, q, k: t.where(q >= k, s, -float("inf"))},
}


@pytest.mark.parametrize("heads", [4, 2])
@pytest.mark.parametrize("name", CASES)
def test_attention(name, heads):
    found = []
    for t, F in SIDES:
        rng = np.random.default_rng(0)
        q, k, v = (t.tensor(rng.normal(size=(2, h, 5, 3)), dtype=t.float32) for h in (4, heads, heads))
        options = CASES[name](F, t, t.tensor(rng.normal(size=9), dtype=t.float32))
        out, lse = F.flex_attention(q, k, v, enable_gqa=heads != 4, return_lse=True, **options)
        found.append([out.numpy(), lse.numpy()])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    """Which torch does not have on the CPU."""
    F, rng = SIDES[0][1], np.random.default_rng(0)
    q, k, v, bias = (
        sg.tensor(rng.normal(size=size), requires_grad=True) for size in ((1, 2, 5, 3), (1, 1, 5, 3), (1, 1, 5, 2), 9)
    )

    def attention(q, k, v, bias):
        return F.flex_attention(q, k, v, enable_gqa=True, **CASES[name](F, sg, bias)) + 0 * bias.sum()

    assert sg.autograd.gradcheck(attention, (q, k, v, bias))


def test_masks():
    found = []
    for _, F in SIDES:
        mask = F.create_mask(lambda b, h, q, k: q >= k + h, 1, 2, 3, 4, device="cpu")
        everything = F.create_block_mask(F.noop_mask, 1, 1, 128, 128, device="cpu")
        found.append((mask.tolist(), tuple(everything.shape), everything.sparsity()))
    assert found[0] == found[1]


def test_queries_without_keys_give_nothing():
    _, F = SIDES[0]
    x = sg.randn(1, 1, 3, 2, requires_grad=True)
    out = F.flex_attention(x, x, x, block_mask=F.create_block_mask(lambda b, h, q, k: q < k, None, None, 3, 3))
    assert out[0, 0, 2].tolist() == [0.0, 0.0]
    out.sum().backward()
    assert x.grad.isfinite().all()
    for t, F in SIDES:
        y = t.ones(1, 1, 3, 2)
        for sizes in ((3, 2), (4, 3)):
            mask = F.create_block_mask(F.noop_mask, None, None, *sizes, device="cpu")
            with pytest.raises((RuntimeError, ValueError), match="block_mask was created for block_mask.shape="):
                F.flex_attention(y, y, y, block_mask=mask)
        with pytest.raises((RuntimeError, NotImplementedError), match="query, key, and value must be 4D tensors"):
            F.flex_attention(y[0], y[0], y[0])
    F = SIDES[0][1]
    with pytest.raises(RuntimeError, match="queries have 1 heads and keys 2"):
        F.flex_attention(x, x.repeat(1, 2, 1, 1), x)
