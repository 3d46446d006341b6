"""Modules of sequences beside torch's: recurrent networks, attention, transformers, and the adaptive softmax."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import SymgradError

torch = pytest.importorskip("torch")

Case = tuple[str, str]
"""A module, and the call of it: T(…) is a tensor of normal numbers, I(n, …) of integers below n, B(…) a mask."""

RECURRENT: list[Case] = [
    *((f"{kind}({settings})", call)
      for kind in ("RNN", "GRU", "LSTM")
      for settings, call in (
          ("3,4", "m(T(5,2,3))"),
          ("3,4,2", "m(T(5,3))"),
          ("3,4,2,bias=False,batch_first=True", "m(T(2,5,3))"),
          ("3,4,batch_first=True", "m(T(5,3))"),
          ("3,4,2,bidirectional=True", "m(T(5,2,3))"),
          ("3,4,2,dropout=0.5", "m(T(5,2,3))"),
          ("3,4,2,bidirectional=True", "m(P(T(5,3,3),[2,5,3]))"),
          ("3,4", "m(P(T(5,3,3),[5,3,2],True))"),
      )),
    ("RNN(3,4,2,'relu')", "m(T(5,2,3),T(2,2,4))"),
    ("RNN(3,4,nonlinearity='relu',bias=False)", "m(T(5,3),T(1,4))"),
    ("GRU(3,4,bidirectional=True)", "m(P(T(5,3,3),[2,5,3]),T(2,3,4))"),
    ("LSTM(3,4,proj_size=2)", "m(T(5,2,3),(T(1,2,2),T(1,2,4)))"),
    ("LSTM(3,4,2,proj_size=2,bidirectional=True,bias=False)", "m(T(5,3))"),
    ("LSTM(3,4)", "m(T(5,3),(T(1,4),T(1,4)))"),
    ("LSTM(3,4)", "m(P(T(5,3,3),[2,5,3]),(T(1,3,4),T(1,3,4)))"),
    ("RNNCell(3,4)", "m(T(2,3))"),
    ("RNNCell(3,4,nonlinearity='relu',bias=False)", "m(T(3),T(4))"),
    ("GRUCell(3,4)", "m(T(2,3),T(2,4))"),
    ("GRUCell(3,4,False)", "m(T(3))"),
    ("LSTMCell(3,4)", "m(T(2,3),(T(2,4),T(2,4)))"),
    ("LSTMCell(3,4)", "m(T(3),(T(4),T(4)))"),
]  # fmt: skip

ATTENTION: list[Case] = [
    ("MultiheadAttention(4,2)", "(lambda x: m(x,x,x))(T(5,3,4))"),
    ("MultiheadAttention(4,2)", "m(T(5,4),T(6,4),T(6,4))"),
    ("MultiheadAttention(4,2,batch_first=True)", "m(T(3,5,4),T(3,6,4),T(3,6,4),average_attn_weights=False)"),
    ("MultiheadAttention(4,2,bias=False)", "m(T(5,3,4),T(6,3,4),T(6,3,4),need_weights=False)"),
    ("MultiheadAttention(4,2,kdim=3,vdim=5)", "m(T(5,3,4),T(6,3,3),T(6,3,5))"),
    ("MultiheadAttention(4,2,dropout=0.5)", "m(T(5,3,4),T(6,3,4),T(6,3,4))"),
    ("MultiheadAttention(4,2,dropout=0.5)", "m(T(5,3,4),T(6,3,4),T(6,3,4),need_weights=False)"),
    ("MultiheadAttention(4,2,add_bias_kv=True,add_zero_attn=True)", "m(T(5,3,4),T(6,3,4),T(6,3,4),B(3,6))"),
    ("MultiheadAttention(4,2,add_bias_kv=True)", "m(T(5,3,4),T(6,3,4),T(6,3,4),attn_mask=B(5,6))"),
    ("MultiheadAttention(4,2,add_zero_attn=True)", "m(T(5,3,4),T(6,3,4),T(6,3,4),B(3,6),attn_mask=T(5,6))"),
    ("MultiheadAttention(4,2)", "m(T(5,3,4),T(6,3,4),T(6,3,4),T(3,6),attn_mask=T(6,5,6))"),
    ("MultiheadAttention(4,2)", "m(T(5,4),T(6,4),T(6,4),B(6),attn_mask=B(2,5,6))"),
    ("MultiheadAttention(4,2)", "m(T(5,3,4),T(6,3,4),T(6,3,4),B(3,6),need_weights=False,attn_mask=B(5,6))"),
    ("MultiheadAttention(4,2)", "m(T(5,3,4),T(5,3,4),T(5,3,4),attn_mask=C(5),is_causal=True)"),
    ("MultiheadAttention(4,2)", "m(T(5,3,4),T(5,3,4),T(5,3,4),attn_mask=C(5),is_causal=True,need_weights=False)"),
    ("MultiheadAttention(4,2)", "m(T(5,3,4),T(5,3,4),T(5,3,4),ALL(3,5),need_weights=False)"),
]

TRANSFORMERS: list[Case] = [
    ("TransformerEncoderLayer(4,2,8,0.)", "m(T(5,3,4))"),
    ("TransformerEncoderLayer(4,2,8)", "m(T(5,3,4))"),
    ("TransformerEncoderLayer(4,2,8,0.,'gelu',norm_first=True,batch_first=True)", "m(T(3,5,4),C(5),B(3,5),True)"),
    ("TransformerEncoderLayer(4,2,8,0.,nn.GELU(),bias=False)", "m(T(5,4))"),
    ("TransformerDecoderLayer(4,2,8,0.)", "m(T(5,3,4),T(6,3,4))"),
    ("TransformerDecoderLayer(4,2,8,0.1,norm_first=True)", "m(T(5,3,4),T(6,3,4),tgt_mask=C(5))"),
    ("TransformerDecoderLayer(4,2,8,0.,batch_first=True)",
     "m(T(3,5,4),T(3,6,4),C(5),T(5,6),B(3,5),B(3,6),tgt_is_causal=True)"),
    ("TransformerEncoder(nn.TransformerEncoderLayer(4,2,8,0.),2)", "m(T(5,3,4),C(5))"),
    ("TransformerEncoder(nn.TransformerEncoderLayer(4,2,8),2,nn.LayerNorm(4))", "m(T(5,3,4),None,B(3,5))"),
    ("TransformerDecoder(nn.TransformerDecoderLayer(4,2,8),2,nn.LayerNorm(4))", "m(T(5,3,4),T(6,3,4),C(5))"),
    ("Transformer(4,2,1,1,8,0.)", "m(T(5,3,4),T(6,3,4))"),
    ("Transformer(4,2,2,1,8,batch_first=True,norm_first=True,activation='gelu')",
     "m(T(3,5,4),T(3,6,4),C(5),C(6),None,B(3,5),B(3,6),B(3,5))"),
    ("Transformer(4,2,1,1,8,bias=False).eval()", "m(T(5,4),T(6,4),tgt_mask=m.generate_square_subsequent_mask(6))"),
]  # fmt: skip

OTHERS: list[Case] = [
    ("AdaptiveLogSoftmaxWithLoss(8,12,[4,7],2.)", "m(T(6,8),I(12,6))"),
    ("AdaptiveLogSoftmaxWithLoss(8,12,[4,7,9],2.,True)", "m(T(8),I(12))"),
    ("AdaptiveLogSoftmaxWithLoss(8,12,[6],2.)", "m(T(3,8),I(6,3))"),
    ("AdaptiveLogSoftmaxWithLoss(8,12,[4,7],2.)", "m.log_prob(T(6,8))"),
    ("AdaptiveLogSoftmaxWithLoss(8,12,[4,7],2.)", "m.predict(T(6,8))"),
]

REFUSED: list[Case] = [
    *((f"{kind}({settings})", "m(T(5,2,3))")
      for kind in ("RNN", "GRU", "LSTM")
      for settings in ("0,4", "3,-1", "3,4,0", "3,4,dropout=2", "3,4,dropout=True", "3.,4", "3,4,bias=1",
                       "3,4,batch_first=None", "3,4,proj_size=4", "3,4,proj_size=-1")),
    ("RNN(3,4,nonlinearity='sin')", ""),
    ("RNNBase('QRNN',3,4)", ""),
    *((f"{kind}(3,4)", call)
      for kind in ("RNN", "GRU", "LSTM")
      for call in ("m(T(3))", "m(T(5,2,4))", "m(T(5,2,3).float())")),
    *((f"{kind}(3,4)", call)
      for kind in ("RNN", "GRU")
      for call in ("m(T(5,2,3),T(1,4))", "m(T(5,3),T(1,2,4))", "m(T(5,2,3),T(1,3,4))")),
    ("LSTM(3,4)", "m(T(5,2,3),(T(1,4),T(1,4)))"),
    ("LSTM(3,4)", "m(T(5,3),(T(1,2,4),T(1,2,4)))"),
    ("LSTM(3,4)", "m(T(5,2,3),(T(1,2,4),T(1,2,3)))"),
    *((f"{kind}(3,4)", call) for kind in ("RNNCell", "GRUCell", "LSTMCell") for call in ("m(T(2,2,3))", "m(T(2,4))")),
    ("GRUCell(3,4)", "m(T(2,3),T(1,2,4))"),
    ("LSTMCell(3,4)", "m(T(2,3),(T(2,4),T(1,2,4)))"),
    ("RNNCell(3,4,nonlinearity='sin')", "m(T(2,3))"),
    ("MultiheadAttention(5,2)", ""),
    ("MultiheadAttention(0,2)", ""),
    *(("MultiheadAttention(4,2)", call) for call in (
        "m(T(4),T(4),T(4))", "m(T(5,3,4),T(5,4),T(5,4))", "m(T(5,3,4),T(6,3,4),T(6,3,4),B(6))",
        "m(T(5,3,4),T(6,3,4),T(6,3,4),attn_mask=B(6))", "m(T(5,4),T(6,4),T(6,4),attn_mask=B(3,5,6))",
        "m(T(5,3,4),T(6,3,4),T(6,3,4),attn_mask=B(6,5))", "m(T(5,3,4),T(6,3,4),T(6,3,4),attn_mask=I(2,5,6))",
        "m(T(5,3,4),T(6,3,4),T(6,3,4),is_causal=True)", "m(T(5,3,3),T(6,3,3),T(6,3,3))",
        "m(T(5,3,4),T(6,3,4),T(7,3,4))", "m(T(5,3,4),T(6,3,4),T(6,3,4),attn_mask=B(3,5,6))",
        "m(T(5,4),T(6,3,4),T(6,3,4))", "m(T(5,4),T(6,4),T(6,4),B(1,6))")),
    ("TransformerEncoderLayer(4,2,8,activation='tanh')", ""),
    ("Transformer(4,2,1,1,8)", "m(T(5,3,4),T(6,2,4))"),
    ("Transformer(4,2,1,1,8)", "m(T(5,3,3),T(6,3,3))"),
    ("AdaptiveLogSoftmaxWithLoss(8,12,[7,4])", ""),
    ("AdaptiveLogSoftmaxWithLoss(8,12,[])", ""),
    ("AdaptiveLogSoftmaxWithLoss(8,12,[4,12])", ""),
    ("AdaptiveLogSoftmaxWithLoss(8,12,[4],2.)", "m(T(6,8),I(12,5))"),
    ("AdaptiveLogSoftmaxWithLoss(8,12,[4],2.)", "m(T(8),I(12,1))"),
    ("AdaptiveLogSoftmaxWithLoss(8,12,[4],2.)", "m(T(2,8),I(12,2)+12)"),
    ("AdaptiveLogSoftmaxWithLoss(8,12,[4],2.)", "m(T(2,2,8),I(12,2,2))"),
]  # fmt: skip


def _run(library: Any, text: str, call: str) -> tuple[list[Any], list[Any]]:
    """What is compared: texts and names, and numbers."""
    rng = np.random.default_rng(len(text))
    leaves: list[Any] = []

    def normal(*shape: int) -> Any:
        leaves.append(library.tensor(rng.normal(size=shape)).requires_grad_())
        return leaves[-1]

    def integers(below: int, *shape: int) -> Any:
        return library.tensor(rng.integers(0, below, size=shape))

    def mask(*shape: int) -> Any:
        hidden = rng.uniform(size=shape) < 0.3
        hidden[..., 0] = False
        return library.tensor(hidden)

    def packed(x: Any, lengths: Any, enforce_sorted: bool = False) -> Any:
        return library.nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=enforce_sorted)

    library.manual_seed(7)
    layer = eval(f"nn.{text}", {"nn": library.nn}).double()
    words = [repr(layer), list(layer.state_dict()), [name for name, _ in layer.named_parameters()]]
    numbers = [[p.detach().numpy().copy() for p in layer.parameters()]]
    if not call:
        return words, numbers
    names = {
        "m": layer, "T": normal, "I": integers, "B": mask, "P": packed,
        "C": lambda n: library.ones(n, n, dtype=library.bool).triu(1),
        "ALL": lambda *shape: library.ones(*shape, dtype=library.bool),
    }  # fmt: skip
    library.manual_seed(5)
    parts = list(_tensors(eval(call, names)))
    if any(part.requires_grad for part in parts):
        sum((part * (part + 1)).sum() for part in parts if part.requires_grad).backward()
    grads = [*(leaf.grad for leaf in leaves), *(p.grad for p in layer.parameters())]
    words.append([grad is None for grad in grads])
    return words, [*numbers, [p.detach().numpy() for p in parts], [g.numpy() for g in grads if g is not None]]


def _tensors(result: Any) -> Any:
    if isinstance(result, tuple):
        for part in result:
            yield from _tensors(part)
    elif result is not None:
        yield result


@pytest.mark.parametrize(("text", "call"), [*RECURRENT, *ATTENTION, *TRANSFORMERS, *OTHERS])
def test_modules_of_sequences(text: str, call: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (words, numbers), (words_there, numbers_there) = (_run(library, text, call) for library in (sg, torch))
    assert words == words_there
    for ours, theirs in zip(numbers, numbers_there, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize(("text", "call"), REFUSED)
def test_what_torch_refuses_is_refused(text: str, call: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((TypeError, ValueError, RuntimeError, AssertionError)) as theirs:
            _run(torch, text, call)
        with pytest.raises(SymgradError) as ours:
            _run(sg, text, call)
    assert issubclass(ours.type, theirs.type), (ours.value, theirs.value)
