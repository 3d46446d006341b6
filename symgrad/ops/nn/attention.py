"""Attention: softmax(query keyᵀ/√d) value, in one piece or in several heads between projections."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, AttentionMisfit, DtypeError
from symgrad.op import folded, refusing, shape_of
from symgrad.ops.calls.naming import within
from symgrad.ops.elementwise.select import where
from symgrad.ops.linalg.matrices import matmul
from symgrad.ops.nn.layers import linear
from symgrad.ops.noise import dropout
from symgrad.ops.reductions.extremes import amax
from symgrad.ops.reductions.softmax import softmax
from symgrad.ops.reductions.sums import cast_wide, mean, size
from symgrad.ops.reductions.wide import cast_back
from symgrad.ops.shapes.joining import cat
from symgrad.ops.shapes.padding import pad_axes
from symgrad.ops.shapes.shaping import mT, reshape, transpose, unsqueeze

_nn = within("nn.functional")


@_nn
@refusing("bui")
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """softmax(query keyᵀ / √d + attn_mask) value, d being the size of the last axis of ``query``.

    ``attn_mask`` is additive, or boolean: what is True may be looked at.
    """
    if attn_mask is not None and is_causal:
        raise ArgumentError("scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    if attn_mask is not None and attn_mask.dtype.kind in "ui":
        raise DtypeError(
            f"Expected attn_mask dtype to be bool or float, which hide and are added, but got {attn_mask.dtype}"
        )
    if enable_gqa:
        from symgrad.ops.shapes.rearrange import repeat_interleave

        key, value = (repeat_interleave(x, shape_of(query)[-3] // shape_of(x)[-3], -3) for x in (key, value))
    factor = 1 / size(query, (query.ndim - 1,)) ** 0.5 if scale is None else scale
    dtype, turned = query.dtype, scale is not None and scale < 0
    if len(shape_of(query)) != 4:  # torch has no kernel for them: it computes with scaled copies, and keeps those
        query, key, value = cast_wide(query), cast_wide(key), cast_wide(value)
        root = (-factor if turned else factor) ** 0.5
        query, key, factor = query * (-root if turned else root), key * root, None
    if dropout_p:  # which draws other numbers when it is run again
        return cast_back(_attended(query, key, value, attn_mask, is_causal, factor, dropout_p), dtype)
    return cast_back(_attended_at_once(query, key, value, attn_mask, is_causal, factor), dtype)


def _attended(query: Any, key: Any, value: Any, mask: Any, causal: bool, factor: Any, dropped: float = 0.0) -> Any:
    dtype, query, key, value = query.dtype, cast_wide(query), cast_wide(key), cast_wide(value)
    scores = matmul(query if factor is None else query * factor, mT(key))
    if causal:
        mask = np.tri(*(int(n) for n in shape_of(scores)[-2:]), dtype=bool)
    if mask is not None:
        scores = where(mask, scores, -math.inf) if mask.dtype.kind == "b" else scores + mask
    weights = softmax(scores, -1)
    if mask is not None:
        weights = _or_nothing(weights, scores)
    return cast_back(matmul(dropout(weights, dropped) if dropped else weights, value), dtype)


def _or_nothing(weights: Any, scores: Any) -> Any:
    """A row that may look nowhere looks at nothing: zeros, as torch."""
    return where(amax(scores, -1, True) == -math.inf, 0, weights)


_attended_at_once = folded("nn.functional.scaled_dot_product_attention")(_attended)


# ------------------------------------------------------------------------------------------ several heads


def _asked(fits: bool, words: str) -> None:
    if not fits:
        raise AttentionMisfit(words)


def _check(query: Any, key: Any, value: Any, features: int, heads: int, masks: dict[str, Any], causal: bool) -> None:
    """Refuse sizes that do not go together: a mask of another size would be spread, and hide something else."""
    shape, (keys, values) = shape_of(query), (shape_of(key), shape_of(value))
    ndim = len(shape)
    _asked(ndim in (2, 3), f"query should be unbatched 2D or batched 3D tensor but received {ndim}-D query tensor")
    kind = f"For {'batched' if ndim == 3 else 'unbatched'} ({ndim}-D) `query`, expected"
    _asked(
        len(keys) == len(values) == ndim,
        f"{kind} `key` and `value` to be {ndim}-D but found {len(keys)}-D and {len(values)}-D tensors respectively",
    )
    _asked(shape[-1] == features, f"was expecting embedding dimension of {features}, but got {shape[-1]}")
    _asked(features % heads == 0, f"embed_dim {features} not divisible by num_heads {heads}")
    _asked(keys[:-1] == values[:-1], f"key's sequence and batch dims {keys[:-1]} do not match value's {values[:-1]}")
    _asked(shape[1:-1] == keys[1:-1], f"the batch of the query, {shape[1:-1]}, is not that of the key, {keys[1:-1]}")
    batch = shape[1] if ndim == 3 else 1
    for name, mask in masks.items():
        if mask is None:
            continue
        _asked(mask.dtype.kind not in "uic", f"only bool and floating types of {name} are supported, not {mask.dtype}")
        found = tuple(shape_of(mask))
        if name == "key_padding_mask":
            fitting: list[tuple[Any, ...]] = [(batch, keys[0]) if ndim == 3 else (keys[0],)]
        else:
            fitting = [(shape[0], keys[0]), (batch * heads, shape[0], keys[0])]
        _asked(found in fitting, f"{kind} `{name}` of shape {' or '.join(map(str, fitting))}, but found {found}")
    if causal and masks["attn_mask"] is None:
        raise ArgumentError(
            "Need attn_mask if specifying the is_causal hint: give the mask that hides what comes later, "
            "torch.ones(n, n, dtype=torch.bool).triu(1)"
        )


def _hidden(scores: Any, mask: Any) -> Any:
    """Scores of which a mask of truth values hides some, or to which another mask is added."""
    if mask is None:
        return scores
    return where(mask, -math.inf, scores) if mask.dtype.kind == "b" else scores + mask


def _heads(x: Any, count: int) -> Any:
    """(length, batch, features) as (batch · heads, length, features of a head)."""
    length, batch = shape_of(x)[:2]
    return transpose(reshape(x, length, batch * count, -1), 0, 1)


def _longer(mask: Any, more: int) -> Any:
    """A mask for keys that stand behind the given ones, which may be looked at."""
    return mask if mask is None or not more else pad_axes(mask, {len(shape_of(mask)) - 1: (0, more)})


@_nn
def multi_head_attention_forward(
    query: Any,
    key: Any,
    value: Any,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Any,
    in_proj_bias: Any,
    bias_k: Any,
    bias_v: Any,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Any,
    out_proj_bias: Any,
    training: bool = True,
    key_padding_mask: Any = None,
    need_weights: bool = True,
    attn_mask: Any = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Any = None,
    k_proj_weight: Any = None,
    v_proj_weight: Any = None,
    static_k: Any = None,
    static_v: Any = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Any, Any]:
    """Attention with several heads over sequences (length, batch, features); returns (output, weights or None).

    ``is_causal`` says that ``attn_mask`` hides what comes later; where no weights are needed and no key is padding, the
    mask is not looked at then.  Raises ``AssertionError`` for sizes that do not go together, ``ArgumentError`` where
    that mask is missing.  A query that may look at nothing has weights of nan, and looks at zeros unless
    ``need_weights``, as with torch's kernels.
    """
    masks = {"key_padding_mask": key_padding_mask, "attn_mask": attn_mask}
    _check(query, key, value, embed_dim_to_check, num_heads, masks, is_causal)
    batched = len(shape_of(query)) == 3
    if not batched:
        query, key, value = (unsqueeze(x, 1) for x in (query, key, value))
    parts = [slice(k * embed_dim_to_check, (k + 1) * embed_dim_to_check) for k in range(3)]
    apart = (q_proj_weight, k_proj_weight, v_proj_weight)
    weights = apart if use_separate_proj_weight else [in_proj_weight[part] for part in parts]
    biases = [None if in_proj_bias is None else in_proj_bias[part] for part in parts]
    q, k, v = (linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True))
    length, batch = shape_of(q)[:2]
    if bias_k is not None:
        k = cat([k, bias_k.expand(1, batch, -1)], 0)
        v = cat([v, bias_v.expand(1, batch, -1)], 0)
    q = _heads(q, num_heads)
    k = _heads(k, num_heads) if static_k is None else static_k
    v = _heads(v, num_heads) if static_v is None else static_v
    if add_zero_attn:
        zeros = np.zeros((batch * num_heads, 1, shape_of(k)[2]), k.dtype)
        k, v = cat([k, zeros], 1), cat([v, zeros], 1)
    more = (bias_k is not None) + bool(add_zero_attn)
    attn_mask, key_padding_mask = _longer(attn_mask, more), _longer(key_padding_mask, more)
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = ~np.tri(int(length), int(shape_of(k)[1]), dtype=bool)
    scores = _hidden(matmul(q / size(q, (q.ndim - 1,)) ** 0.5, mT(k)), attn_mask)
    if key_padding_mask is not None:
        split = reshape(scores, batch, num_heads, length, -1)
        split = _hidden(split, reshape(key_padding_mask, batch, 1, 1, -1))
        scores = reshape(split, batch * num_heads, length, -1)
    found = softmax(scores, -1)
    if not need_weights and (attn_mask is not None or key_padding_mask is not None):
        found = _or_nothing(found, scores)
    dropped = dropout(found, dropout_p) if training and dropout_p else found
    out = linear(reshape(transpose(matmul(dropped, v), 0, 1), length, batch, -1), out_proj_weight, out_proj_bias)
    shown = None
    if need_weights:
        shown = reshape(dropped, batch, num_heads, length, -1)
        shown = mean(shown, 1) if average_attn_weights else shown
    if not batched:
        out, shown = reshape(out, length, -1), None if shown is None else shown[0]
    return out, shown
