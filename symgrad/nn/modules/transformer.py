"""Transformers (Vaswani et al. 2017): layers of attention and of feeding forward, around which inputs go by."""

from __future__ import annotations

import copy
import math
from typing import Any

from symgrad.errors import ArgumentError, ShapeError
from symgrad.nn import functional, init
from symgrad.nn.modules.attention import MultiheadAttention
from symgrad.nn.modules.container import ModuleList
from symgrad.nn.modules.dropout import Dropout
from symgrad.nn.modules.linear import Linear
from symgrad.nn.modules.module import Module
from symgrad.nn.modules.normalization import LayerNorm
from symgrad.tensor.creation import full

_ACTIVATIONS = {"relu": functional.relu, "gelu": functional.gelu}


def _get_clones(module: Any, N: int) -> ModuleList:
    """Copies of a layer; a private name of torch that programs import."""
    return ModuleList(copy.deepcopy(module) for _ in range(N))


class _Layer(Module):
    """What both kinds of layers share: attentions and two linear layers, each with a dropout and a norm of its own."""

    attentions: tuple[str, ...]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = functional.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        where = {"bias": bias, "device": device, "dtype": dtype}
        for name in self.attentions:
            setattr(self, name, MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, **where))
        self.linear1 = Linear(d_model, dim_feedforward, **where)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **where)
        self.norm_first = norm_first
        parts = range(1, len(self.attentions) + 2)
        for k in parts:
            setattr(self, f"norm{k}", LayerNorm(d_model, layer_norm_eps, **where))
        for k in parts:
            setattr(self, f"dropout{k}", Dropout(dropout))
        if isinstance(activation, str) and activation not in _ACTIVATIONS:
            raise ArgumentError(f"activation should be relu/gelu, not {activation}")
        self.activation = _ACTIVATIONS[activation] if isinstance(activation, str) else activation

    def _around(self, x: Any, part: int, compute: Any) -> Any:
        """The sum of what goes in and what a part makes of it, one of which is normalized."""
        norm, dropout = getattr(self, f"norm{part}"), getattr(self, f"dropout{part}")
        if self.norm_first:
            return x + dropout(compute(norm(x)))
        return norm(x + dropout(compute(x)))

    def _feed(self, x: Any) -> Any:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


def _looking(attention: Any, memory: Any, mask: Any, padding: Any, is_causal: bool) -> Any:
    """A function that looks with its argument at a memory, or at the argument itself."""

    def look(x: Any) -> Any:
        seen = x if memory is None else memory
        return attention(
            x, seen, seen, attn_mask=mask, key_padding_mask=padding, is_causal=is_causal, need_weights=False
        )[0]

    return look


class TransformerEncoderLayer(_Layer):
    """Attention of a sequence to itself, then ``linear2(activation(linear1))``, each added to what went in.

    ``activation`` is "relu", "gelu" or a function; with ``norm_first`` the norms stand before the parts, and otherwise
    behind the sums.  Raises ``RuntimeError`` for other names.

    >>> import symgrad as sg
    >>> sg.nn.TransformerEncoderLayer(4, 2, 8)(sg.ones(5, 3, 4)).shape
    torch.Size([5, 3, 4])
    """

    attentions = ("self_attn",)

    def forward(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False) -> Any:
        """The shape of ``src``, (length, batch, d_model); masks are those of :class:`MultiheadAttention`."""
        x = self._around(src, 1, _looking(self.self_attn, None, src_mask, src_key_padding_mask, is_causal))
        return self._around(x, 2, self._feed)


class TransformerDecoderLayer(_Layer):
    """Attention of a sequence to itself and to a memory, then ``linear2(activation(linear1))``.

    Settings are those of :class:`TransformerEncoderLayer`.

    >>> import symgrad as sg
    >>> sg.nn.TransformerDecoderLayer(4, 2, 8)(sg.ones(5, 3, 4), sg.ones(7, 3, 4)).shape
    torch.Size([5, 3, 4])
    """

    attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Any:
        """The shape of ``tgt``, (length, batch, d_model); masks are those of :class:`MultiheadAttention`."""
        x = self._around(tgt, 1, _looking(self.self_attn, None, tgt_mask, tgt_key_padding_mask, tgt_is_causal))
        beyond = _looking(self.multihead_attn, memory, memory_mask, memory_key_padding_mask, memory_is_causal)
        return self._around(self._around(x, 2, beyond), 3, self._feed)


class _Stack(Module):
    """Copies of a layer, one after the other, and a norm at the end."""

    def _layer_set_up(self, layer: Any, num_layers: int, norm: Any) -> None:
        self.layers = _get_clones(layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def _through(self, x: Any, *args: Any, **settings: Any) -> Any:
        for layer in self.layers:
            x = layer(x, *args, **settings)
        return x if self.norm is None else self.norm(x)


class TransformerEncoder(_Stack):
    """``num_layers`` copies of a layer, which begin with the same weights, and ``norm`` behind them.

    ``enable_nested_tensor`` and ``mask_check`` are torch's choice of kernel.

    >>> import symgrad as sg
    >>> layer = sg.nn.TransformerEncoderLayer(4, 2, 8)
    >>> sg.nn.TransformerEncoder(layer, 2)(sg.ones(5, 3, 4)).shape
    torch.Size([5, 3, 4])
    """

    def __init__(
        self,
        encoder_layer: Any,
        num_layers: int,
        norm: Any = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ):
        super().__init__()
        self._layer_set_up(encoder_layer, num_layers, norm)
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check

    def forward(
        self, src: Any, mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool | None = None
    ) -> Any:
        """The shape of ``src``."""
        return self._through(src, src_mask=mask, src_key_padding_mask=src_key_padding_mask, is_causal=bool(is_causal))


class TransformerDecoder(_Stack):
    """``num_layers`` copies of a layer, which begin with the same weights, and ``norm`` behind them.

    >>> import symgrad as sg
    >>> layer = sg.nn.TransformerDecoderLayer(4, 2, 8)
    >>> sg.nn.TransformerDecoder(layer, 2)(sg.ones(5, 3, 4), sg.ones(7, 3, 4)).shape
    torch.Size([5, 3, 4])
    """

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Any = None):
        super().__init__()
        self._layer_set_up(decoder_layer, num_layers, norm)

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Any:
        """The shape of ``tgt``."""
        return self._through(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=bool(tgt_is_causal),
            memory_is_causal=memory_is_causal,
        )


class Transformer(Module):
    """An encoder, and a decoder that looks at what it gives.

    >>> import symgrad as sg
    >>> net = sg.nn.Transformer(4, 2, 1, 1, 8)
    >>> net(sg.ones(5, 3, 4), sg.ones(7, 3, 4)).shape
    torch.Size([7, 3, 4])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = functional.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        settings: Any = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, device,
            dtype,
        )  # fmt: skip

        def norm() -> Any:
            return LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)

        self.encoder = custom_encoder
        if custom_encoder is None:
            self.encoder = TransformerEncoder(TransformerEncoderLayer(*settings), num_encoder_layers, norm())
        self.decoder = custom_decoder
        if custom_decoder is None:
            self.decoder = TransformerDecoder(TransformerDecoderLayer(*settings), num_decoder_layers, norm())
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self,
        src: Any,
        tgt: Any,
        src_mask: Any = None,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        src_key_padding_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Any:
        """The shape of ``tgt``, (length, batch, d_model), as that of ``src``; the batch is first if ``batch_first``.

        Raises ``RuntimeError`` where batches or features are of another size.
        """
        axis = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[axis] != tgt.shape[axis]:
            raise ShapeError("the batch number of src and tgt must be equal")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise ShapeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask,
            memory_mask,
            tgt_key_padding_mask,
            memory_key_padding_mask,
            tgt_is_causal,
            memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Any:
        """A mask (sz, sz) that is added: -inf where the source comes after the target, 0 elsewhere.

        >>> import symgrad as sg
        >>> sg.nn.Transformer.generate_square_subsequent_mask(2)
        tensor([[0., -inf],
                [0., 0.]])
        """
        mask: Any = full((sz, sz), -math.inf, dtype=dtype, device=device)
        return mask.triu(1)
