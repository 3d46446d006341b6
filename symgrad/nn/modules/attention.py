"""Attention with several heads, which holds the weights of its projections."""

from __future__ import annotations

from typing import Any

from symgrad.errors import AttentionMisfit
from symgrad.nn import functional, init
from symgrad.nn.modules.linear import NonDynamicallyQuantizableLinear, empty_parameter
from symgrad.nn.modules.module import Module


class MultiheadAttention(Module):
    """softmax(q kᵀ/√d) v in ``num_heads`` parts of the features, between projections (Vaswani et al. 2017).

    ``in_proj_weight`` (3 embed_dim, embed_dim) projects queries, keys and values, or ``q_proj_weight``,
    ``k_proj_weight`` (embed_dim, kdim) and ``v_proj_weight`` (embed_dim, vdim) where widths differ; ``out_proj`` is a
    layer.  ``add_bias_kv``: a key and a value that are learned stand behind the given ones; ``add_zero_attn``: zeros.
    Raises ``ValueError`` for sizes below 1, ``AssertionError`` unless the heads divide ``embed_dim``.

    >>> import symgrad as sg
    >>> x = sg.ones(5, 2, 4)
    >>> out, weights = sg.nn.MultiheadAttention(4, 2)(x, x, x)
    >>> out.shape, weights.shape
    (torch.Size([5, 2, 4]), torch.Size([2, 5, 5]))
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ):
        if embed_dim <= 0 or num_heads <= 0:
            raise AttentionMisfit(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} "
                "instead"
            )
        if embed_dim % num_heads:
            raise AttentionMisfit(f"embed_dim must be divisible by num_heads: {embed_dim} is not by {num_heads}")
        super().__init__()
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim, self.vdim = (embed_dim if width is None else width for width in (kdim, vdim))
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        apart = {"q_proj_weight": embed_dim, "k_proj_weight": self.kdim, "v_proj_weight": self.vdim}
        shapes: dict[str, Any] = {name: (embed_dim, width) for name, width in apart.items()}
        together = {"in_proj_weight": (3 * embed_dim, embed_dim)}
        if self._qkv_same_embed_dim:
            shapes = {**together, **dict.fromkeys(apart)}
        else:
            shapes = {**shapes, **dict.fromkeys(together)}
        shapes["in_proj_bias"] = (3 * embed_dim,) if bias else None
        for name, shape in shapes.items():
            self.register_parameter(name, None if shape is None else empty_parameter(shape, device, dtype))
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, device, dtype)
        for name in ("bias_k", "bias_v"):
            setattr(self, name, empty_parameter((1, 1, embed_dim), device, dtype) if add_bias_kv else None)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        """Draw the values of the beginning again, but for ``out_proj.weight``; biases of projections are 0."""
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            if getattr(self, name) is not None:
                init.xavier_uniform_(getattr(self, name))
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for added in (self.bias_k, self.bias_v):
            if added is not None:
                init.xavier_normal_(added)

    def forward(
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any]:
        """What is looked at, (targets, batch, embed_dim), and by which weights, or None unless ``need_weights``.

        ``query`` is (targets, batch, embed_dim), ``key`` and ``value`` are (sources, batch, width); the batch is first
        if ``batch_first``, and may be left out.  Masks are added, or hide what is True: ``key_padding_mask`` (batch,
        sources), ``attn_mask`` (targets, sources) or (batch · heads, targets, sources); ``is_causal`` tells that
        ``attn_mask`` hides what comes later.  The weights are (batch, targets, sources), and have an axis of heads
        unless ``average_attn_weights``.
        """
        turned = self.batch_first and query.ndim == 3
        if turned:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        out, weights = functional.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return out.transpose(0, 1) if turned else out, weights
