"""Attention whose scores are changed by functions of their places: ``torch.nn.attention.flex_attention``.

A function is called once, with all scores and with the numbers of batch, head, query and key as arrays that broadcast.

>>> import symgrad as sg
>>> x = sg.ones(1, 1, 3, 2)
>>> causal = create_block_mask(lambda b, h, q, k: q >= k, None, None, 3, 3)
>>> flex_attention(x, x, x, block_mask=causal).shape
torch.Size([1, 1, 3, 2])
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from symgrad.errors import ShapeError
from symgrad.tensor import FUNCTIONS
from symgrad.tensor.ranges import arange

__all__ = ["BlockMask", "and_masks", "create_block_mask", "create_mask", "flex_attention", "noop_mask", "or_masks"]

Places = Callable[..., Any]


def _places(*sizes: int) -> list[Any]:
    """The numbers along each axis, as arrays that broadcast to all of them."""
    return [FUNCTIONS["reshape"](arange(n), [-1 if k == axis else 1 for k in range(4)]) for axis, n in enumerate(sizes)]


def noop_mask(batch: Any, head: Any, token_q: Any, token_kv: Any) -> Any:  # noqa: ARG001
    """True for every place."""
    return token_q >= 0


def and_masks(*mask_mods: Places) -> Places:
    """The function that is true where all of them are.

    >>> import symgrad as sg
    >>> near = and_masks(lambda b, h, q, k: q >= k, lambda b, h, q, k: q - k < 2)
    >>> create_mask(near, 1, 1, 3, 3)[0, 0].int().tolist()
    [[1, 0, 0], [1, 1, 0], [0, 1, 1]]
    """

    def both(*places: Any) -> Any:
        found = noop_mask(*places)
        for mask in mask_mods:
            found = found & mask(*places)
        return found

    return both


def or_masks(*mask_mods: Places) -> Places:
    """The function that is true where one of them is."""

    def one(*places: Any) -> Any:
        found = ~noop_mask(*places)
        for mask in mask_mods:
            found = found | mask(*places)
        return found

    return one


def create_mask(mod_fn: Places, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None) -> Any:
    """Where a function of places is true, ``(B, H, Q_LEN, KV_LEN)``; None stands for 1."""
    del device
    sizes = (B or 1, H or 1, Q_LEN, KV_LEN)
    return FUNCTIONS["broadcast_to"](mod_fn(*_places(*sizes)), sizes)


class BlockMask:
    """A function of places that tells which keys a query looks at, for which sizes."""

    def __init__(self, mask_mod: Places, shape: tuple[int, int, int, int]):
        self.mask_mod, self.shape = mask_mod, shape

    def sparsity(self) -> float:
        """How many places in a hundred are left out."""
        return float(100.0 * (1 - create_mask(self.mask_mod, *self.shape).double().mean().item()))

    def __repr__(self) -> str:
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%)"


def create_block_mask(
    mask_mod: Places,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: Any = 128,
    _compile: bool = False,
) -> BlockMask:
    """The mask of a function ``mask_mod(batch, head, query, key)``; device and size of blocks are torch's."""
    del device, BLOCK_SIZE, _compile
    return BlockMask(mask_mod, (B or 1, H or 1, Q_LEN, KV_LEN))


def flex_attention(
    query: Any,
    key: Any,
    value: Any,
    score_mod: Places | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: Any = None,
) -> Any:
    """softmax(score_mod(q kᵀ · scale, batch, head, query, key)) v over the keys that ``block_mask`` leaves.

    Queries are ``(B, H, L, E)``, keys ``(B, H, S, E)``, values ``(B, H, S, V)``; with ``enable_gqa`` keys and values
    may have fewer heads, each for several of the queries'.  ``scale`` is 1/√E if none is given.  With ``return_lse``
    the logarithms of the sums of exponentials are given as well.  Queries that look at no key give 0.  Raises
    ``ShapeError`` where the heads do not agree, and for a mask of other numbers of queries or keys.
    """
    del kernel_options
    if any(t.dim() != 4 for t in (query, key, value)):
        raise ShapeError(
            "flex_attention(): query, key, and value must be 4D tensors, (batch, head, place, entry), not of the "
            f"shapes {query.shape}, {key.shape} and {value.shape}."
        )
    heads, own = query.shape[1], key.shape[1]
    if heads != own and not (enable_gqa and heads % own == 0):
        raise ShapeError(
            f"flex_attention(): queries have {heads} heads and keys {own}: they are as many, or with enable_gqa=True a "
            "multiple of them."
        )
    if heads != own:
        key, value = (t.repeat_interleave(heads // own, 1) for t in (key, value))
    scores = query @ key.mT * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    places = _places(*scores.shape)
    if score_mod is not None:
        scores = FUNCTIONS["broadcast_to"](score_mod(scores, *places), scores.shape)
    where = FUNCTIONS["where"]
    if block_mask is not None:
        if block_mask.shape[2:] != tuple(scores.shape[2:]):
            raise ShapeError(
                f"flex_attention(): block_mask was created for block_mask.shape={block_mask.shape} but got "
                f"q_len={scores.shape[2]} and kv_len={scores.shape[3]}: create one for these."
            )
        scores = where(block_mask.mask_mod(*places), scores, -math.inf)
    sums = scores.logsumexp(-1)
    shares = (scores - where(sums == -math.inf, 0.0, sums).unsqueeze(-1)).exp()
    found = shares.to(value.dtype) @ value
    return (found, sums) if return_lse else found
