"""Modules beside torch's: texts, values, gradients, buffers and states of layers, all from the same seed."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch")

ELEMENTWISE = (
    "ReLU() ReLU(True) ReLU6() Sigmoid() Hardsigmoid(True) Tanh() SiLU() Mish() Hardswish(True) ELU() "
    "ELU(2.0,inplace=True) CELU() SELU() GELU() GELU('tanh') Hardshrink() Softshrink() Tanhshrink() LeakyReLU() "
    "LogSigmoid() Softplus() Softsign() RReLU() Hardtanh() Hardtanh(-2,2) PReLU() PReLU(4) GLU() Threshold(.1,20) "
    "Softmax(1) Softmin(dim=0) LogSoftmax(-1) Identity() Dropout(0.3) Dropout().eval() Linear(4,2) "
    "Linear(4,2,bias=False) LayerNorm(4) LayerNorm((3,4),bias=False) LayerNorm(4,elementwise_affine=False) RMSNorm(4) "
    "BatchNorm1d(4) Unflatten(1,(2,2))"
).split()
"""Of matrices (3, 4)."""

IMAGES = (
    "Conv{d}d(4,2,3) Conv{d}d(4,2,3,padding=1,stride=2) Conv{d}d(4,2,3,padding='same')"
    " Conv{d}d(4,2,3,groups=2,bias=False) Conv{d}d(4,2,3,padding='same',padding_mode='circular',dilation=2)"
    " Conv{d}d(4,2,3,padding=1,padding_mode='reflect')"
    " ConvTranspose{d}d(4,2,3) ConvTranspose{d}d(4,2,3,padding=1,stride=2) ConvTranspose{d}d(4,2,3,groups=2)"
    " ConvTranspose{d}d(4,2,3,stride=2,output_padding=1) BatchNorm{d}d(4) BatchNorm{d}d(4,momentum=None)"
    " BatchNorm{d}d(4,affine=False,track_running_stats=False) BatchNorm{d}d(4).eval() InstanceNorm{d}d(4)"
    " InstanceNorm{d}d(4,affine=True,track_running_stats=True) MaxPool{d}d(2) MaxPool{d}d(3,2,1,ceil_mode=True)"
    " MaxPool{d}d(2,return_indices=True) AvgPool{d}d(2) AvgPool{d}d(3,stride=2,padding=1,count_include_pad=False)"
    " LPPool{d}d(2,2) AdaptiveAvgPool{d}d(2) AdaptiveMaxPool{d}d(3) ReflectionPad{d}d(1) ReplicationPad{d}d(1)"
    " CircularPad{d}d(1) ZeroPad{d}d(1) ConstantPad{d}d(2,3.5) Dropout{d}d(0.3) Flatten() Flatten(0,1) GroupNorm(2,4)"
    " LocalResponseNorm(2) AlphaDropout(0.3)"
).split()
"""Of arrays (2, 4, 6, …) with d axes of 6."""

OTHERS: list[tuple[str, list[Any]]] = [
    ("Softmax2d()", [(2, 3, 4, 4)]),
    ("FeatureAlphaDropout(0.3)", [(2, 3, 4, 4)]),
    ("FractionalMaxPool2d(2,output_size=3)", [(1, 2, 6, 6)]),
    ("Fold((4,4),2)", [(1, 8, 9)]),
    ("Unfold(2)", [(1, 2, 4, 4)]),
    ("PixelShuffle(2)", [(1, 8, 2, 2)]),
    ("PixelUnshuffle(2)", [(1, 2, 4, 4)]),
    ("ChannelShuffle(2)", [(1, 4, 2, 2)]),
    ("Upsample(scale_factor=2)", [(1, 2, 3, 3)]),
    ("Upsample((5,5),mode='bilinear')", [(1, 2, 3, 3)]),
    ("UpsamplingNearest2d(scale_factor=2)", [(1, 2, 3, 3)]),
    ("UpsamplingBilinear2d((6,6))", [(1, 2, 3, 3)]),
    ("CosineSimilarity()", [(3, 4), (3, 4)]),
    ("PairwiseDistance()", [(3, 4), (3, 4)]),
    ("Bilinear(3,4,2)", [(5, 3), (5, 4)]),
    ("InstanceNorm2d(3)", [(3, 4, 4)]),
    *((f"{name}({reduction})", [(3, 4), (3, 4)])
      for name in ("L1Loss", "MSELoss", "SmoothL1Loss", "HuberLoss")
      for reduction in ("", "reduction='none'", "reduction='sum'")),
    ("MSELoss(False)", [(3,), (3,)]),
    ("MSELoss(reduce=False)", [(3,), (3,)]),
    ("KLDivLoss(log_target=True)", [(3, 4), (3, 4)]),
    ("PoissonNLLLoss()", [(3, 4), "probabilities 3 4"]),
    ("GaussianNLLLoss()", [(3,), (3,), "probabilities 3"]),
    ("BCELoss()", ["probabilities 3 4", "probabilities 3 4"]),
    ("BCEWithLogitsLoss(pos_weight=T([1.,2,3,4]))", [(3, 4), "probabilities 3 4"]),
    ("CrossEntropyLoss()", [(3, 4), "labels 3"]),
    ("CrossEntropyLoss(T([1.,2,3,4]),label_smoothing=.1)", [(3, 4), "labels 3"]),
    ("NLLLoss(ignore_index=1)", [(3, 4), "labels 3"]),
    ("HingeEmbeddingLoss()", [(3,), "signs 3"]),
    ("MultiMarginLoss()", [(3, 4), "labels 3"]),
    ("MultiLabelSoftMarginLoss()", [(3, 4), "probabilities 3 4"]),
    ("MultiLabelMarginLoss()", [(3, 4), "labels 3 4"]),
    ("CosineEmbeddingLoss(.1)", [(3, 4), (3, 4), "signs 3"]),
    ("MarginRankingLoss()", [(3,), (3,), "signs 3"]),
    ("TripletMarginLoss()", [(3, 4), (3, 4), (3, 4)]),
    ("TripletMarginWithDistanceLoss()", [(3, 4), (3, 4), (3, 4)]),
    ("Embedding(4,3)", ["labels 2 3"]),
    ("Embedding(4,3,padding_idx=-2)", ["labels 2 3"]),
    ("Embedding(4,3,max_norm=1.)", ["labels 2 3"]),
    ("Embedding.from_pretrained(T([[1.,2],[3,4],[5,6]]))", ["labels 2 3"]),
    ("EmbeddingBag(4,3)", ["labels 2 3"]),
    ("EmbeddingBag(4,3,mode='max')", ["labels 2 3"]),
    ("EmbeddingBag(4,3,mode='sum',padding_idx=1)", ["labels 2 3"]),
]  # fmt: skip

CASES = [
    *((text, [(3, 4)]) for text in ELEMENTWISE),
    *((text.format(d=d), [(2, 4) + (6,) * d]) for d in (1, 2, 3) for text in IMAGES),
    *OTHERS,
]
REFUSED = (
    "Linear('3',2) Conv2d(3,4,3,groups=2) Conv2d(3,4,3,padding='foo') Conv2d(3,4,3,padding_mode='foo') MaxPool2d() "
    "Conv2d(3,4,3,padding='same',stride=2) ConvTranspose2d(3,4,3,padding_mode='reflect') GroupNorm(3,4) Dropout(2.0) "
    "ELU(1,2,3) Bilinear(0,1,2) Sequential(3)"
).split()


def _array(rng: Any, what: Any) -> Any:
    if isinstance(what, tuple):
        return rng.normal(size=what)
    kind, *shape = what.split()
    draw = {
        "probabilities": lambda size: rng.uniform(0.1, 0.9, size=size),
        "labels": lambda size: rng.integers(0, 3, size=size),
        "signs": lambda size: np.sign(rng.normal(size=size)),
    }[kind]
    return draw(tuple(map(int, shape)))


def _made(library: Any, text: str) -> Any:
    return eval(f"nn.{text}", {"nn": library.nn, "T": lambda x: library.tensor(x, dtype=library.float64)})


def _numbers(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_numbers(v) for v in value]
    return value if value is None else np.asarray(value.detach().numpy())


def _run(library: Any, text: str, inputs: list[Any]) -> tuple[list[Any], list[Any]]:
    """What is compared: texts and names, and numbers."""
    rng = np.random.default_rng(len(text))
    library.manual_seed(7)
    layer = _made(library, text).double()
    args = [library.tensor(_array(rng, what)) for what in inputs]
    for arg, what in zip(args, inputs, strict=True):
        if isinstance(what, tuple):
            arg.requires_grad_()
    library.manual_seed(5)
    result = layer(*(arg * 1 if arg.requires_grad else arg for arg in args))
    whole = result if isinstance(result, tuple) else (result,)
    if any(part.requires_grad for part in whole):
        sum((part * (part + 1)).sum() for part in whole if part.requires_grad).backward()
    named = [*layer.named_parameters(), *layer.named_buffers()]
    words = [repr(layer), [name for name, _ in named], list(layer.state_dict()), [p.grad is None for _, p in named]]
    grads = [t.grad for t in (*args, *layer.parameters()) if t.grad is not None]
    return words, [_numbers(whole), _numbers(grads), _numbers([t for _, t in named])]


def _same(ours: Any, theirs: Any, rtol: float = 1e-10) -> None:
    if isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            _same(a, b, rtol)
    elif theirs is not None:
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=1e-12)


@pytest.mark.parametrize(("text", "inputs"), CASES, ids=[f"{text} of {shape}" for text, shape in CASES])
def test_layers(text: str, inputs: list[Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (words, numbers), (words_there, numbers_there) = (_run(library, text, inputs) for library in (sg, torch))
    assert words == words_there
    # torch's slope of this one is 1/6 in single precision, whatever the dtype.
    _same(numbers, numbers_there, 1e-7 if text.startswith("Hardsigmoid") else 1e-10)


@pytest.mark.parametrize("text", REFUSED)
def test_what_torch_refuses_is_refused(text: str) -> None:
    for library in (sg, torch):
        with pytest.raises((TypeError, ValueError, RuntimeError)):
            _made(library, text)


@pytest.mark.parametrize("size", [(8, 8), (1, 2, 8, 7)])
def test_transposes_of_convolutions_give_the_size_that_is_asked_for(size: tuple[int, ...]) -> None:
    shapes = []
    for library in (sg, torch):
        layer = library.nn.ConvTranspose2d(4, 2, 3, stride=2)
        shapes.append(tuple(layer(library.ones(1, 4, 3, 3), output_size=size).shape))
        with pytest.raises(ValueError, match="requested an output size of"):
            layer(library.ones(1, 4, 3, 3), output_size=(9, 9))
    assert shapes[0] == shapes[1]


def test_states_go_from_one_to_the_other() -> None:
    def net(nn: Any) -> Any:
        return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 1))

    torch.manual_seed(1)
    theirs, ours = net(torch.nn), net(sg.nn)
    state = {name: sg.tensor(value.numpy()) for name, value in theirs.state_dict().items()}
    assert repr(ours.load_state_dict(state)) == repr(theirs.load_state_dict(theirs.state_dict()))
    x = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    np.testing.assert_allclose(
        ours(sg.tensor(x)).detach().numpy(), theirs(torch.tensor(x)).detach().numpy(), rtol=1e-5, atol=1e-6
    )
    file = io.BytesIO()
    sg.save(ours.state_dict(), file)
    file.seek(0)
    again = net(sg.nn)
    again.load_state_dict(sg.load(file))
    assert all(sg.equal(a, b) for a, b in zip(again.parameters(), ours.parameters(), strict=True))


LAZY = [
    ("LazyLinear(2)", (5, 3)),
    ("LazyLinear(2,bias=False)", (3,)),
    ("LazyBatchNorm1d()", (5, 3)),
    ("LazyBatchNorm2d(affine=False)", (5, 3, 4, 4)),
    *((f"Lazy{kind}{d}d({settings})", (2, 4) + (5,) * d)
      for d in (1, 2, 3)
      for kind, settings in (("Conv", "6,3,groups=2"), ("ConvTranspose", "6,3,bias=False"), ("BatchNorm", "1e-3"),
                             ("InstanceNorm", "affine=True,track_running_stats=True"))),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shape"), LAZY, ids=[text for text, _ in LAZY])
def test_lazy_layers_are_fitted_to_their_first_input(text: str, shape: tuple[int, ...]) -> None:
    found = []
    for library in (sg, torch):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            library.manual_seed(3)
            layer, loaded = _made(library, text), _made(library, text)
        before = [repr(layer), [name for name, _ in layer.named_parameters()], type(layer).__name__]
        first = list(layer.parameters())
        x = library.tensor(np.random.default_rng(0).normal(size=shape).astype(np.float32))
        out = layer(x)
        assert all(p is q for p, q in zip(first, layer.parameters(), strict=True))
        loaded.load_state_dict(layer.state_dict())
        if library is sg:  # torch's have num_features 0 then
            assert sg.allclose(loaded.eval()(x), layer.eval()(x))
        words = [*before, repr(layer), type(layer).__name__, list(layer.state_dict())]
        found.append((words, [out, *layer.state_dict().values()]))
    assert found[0][0] == found[1][0]
    for ours, theirs in zip(found[0][1], found[1][1], strict=True):
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-4, atol=1e-6)
