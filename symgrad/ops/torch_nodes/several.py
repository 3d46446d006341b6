"""Functions of which torch makes several nodes where it takes one here to name them: the steps, in the answers' words.

``x``, ``y``, ``z``, ``w`` and ``v`` are the tensors that the function was given, in their order.  No derivative
follows from these texts: they are what ``next_functions`` walks through.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.op import shape_of, title
from symgrad.ops.torch_nodes.kinds import Arranged, Steps, Temporary, hiding

_LETTERS = "xyzwv"


# ---------------------------------------------------------------------------------------------- layers


def _convolution(axes: int) -> Any:
    @hiding
    def label(out: Any, input: Any, weight: Any, bias: Any = None, *_: Any, **__: Any) -> str:
        last = "_" if bias is None else "z"
        if len(shape_of(input)) == axes + 2:
            return Steps.of("ConvolutionBackward0", f"Convolution(x,y,{last})")
        shapes = ((1, *shape_of(input)), (1, *shape_of(out)))
        text = f"Squeeze:1(Convolution@1(Unsqueeze@0(x),y,{last}))"
        return Steps.of("SqueezeBackward1", text, *shapes, hidden="ConvolutionBackward0")

    return label


def _line_pool(node: str) -> Any:
    """Pooling along one axis, which torch does in a picture of one row; largest ones directly where nothing follows."""

    def label(out: Any, input: Any, *_: Any, **__: Any) -> str:
        shapes = tuple((*shape[:-1], 1, shape[-1]) for shape in (shape_of(input), shape_of(out)))
        hidden = node.replace(":", "Backward") if ":" in node else f"{node}Backward0"
        return Steps.of("SqueezeBackward1", f"Squeeze:1({node}@1(Unsqueeze@0(x)))", *shapes, hidden=hidden)

    return label if node.startswith("MaxPool") else hiding(label)


def adaptive_avg(axes: int) -> Any:
    """Means over cells, of which a single one is the mean of the whole picture."""

    @hiding
    def label(out: Any, input: Any, *_: Any, **__: Any) -> str | None:
        single = all(size == 1 for size in shape_of(out)[-axes:])
        if axes == 1:
            return _line_pool("Mean:1" if single else "AdaptiveAvgPool2D")(out, input)  # type: ignore[no-any-return]
        return None if single else f"AdaptiveAvgPool{axes}DBackward0"

    return label


_MM = Arranged.of("MmBackward0", (0, 1), {1: ((1,), "TBackward0")})
_ADDMM = Arranged.of("AddmmBackward0", (2, 0, 1), {1: ((0, 1), "TBackward0")})


@hiding
def _linear(out: Any, input: Any, weight: Any, bias: Any = None) -> str | None:
    rank = len(shape_of(input))
    if len(shape_of(weight)) == 1:
        return Steps.of("MvBackward0", "Mv(x,T(y))") if rank == 2 and bias is None else None
    if rank == 1 and bias is None:
        return Steps.of("SqueezeBackward4", "Squeeze:4(Mm(Unsqueeze(x),T(y)))")
    if rank == 1 and not getattr(bias, "is_contiguous", bool)():
        return None
    if rank == 1:
        return Steps.of("ViewBackward0", "View(Addmm(z,View(x),T(y)))", hidden="AddmmBackward0")
    if rank == 2 and bias is None:
        return _MM
    if rank == 2:
        return _ADDMM
    if bias is None:
        return Steps.of("UnsafeViewBackward0", "UnsafeView(Mm(View(x),T(y)))")
    return Temporary.of("ViewBackward0", "AddmmBackward0")


def _rms_norm(out: Any, input: Any, normalized_shape: Any, weight: Any = None, *_: Any, **__: Any) -> str:
    text = "Mul(x,Rsqrt(Add:1(Mean:1(Pow(x)))))"
    return Steps.of("MulBackward0", text if weight is None else f"Mul({text},y)")


@hiding
def _instance_norm(
    out: Any, input: Any, mean: Any = None, var: Any = None, weight: Any = None, bias: Any = None, *_: Any, **__: Any
) -> str:
    """The batch norm of a batch of one, whose weights are those of all examples."""
    return _batch_of_one(weight, bias, _LETTERS[1 + (mean is not None) + (var is not None) :])


@hiding
def _plain_instance_norm(out: Any, input: Any, weight: Any, bias: Any, *_: Any, **__: Any) -> str:
    return _batch_of_one(weight, bias, _LETTERS[1:])


def _batch_of_one(weight: Any, bias: Any, letters: str) -> str:
    given = iter(letters)
    words = ["_" if x is None else f"Repeat({next(given)})" for x in (weight, bias)]
    text = f"View(NativeBatchNorm(View(x),{','.join(words)}))"
    return Steps.of("ViewBackward0", text, hidden="NativeBatchNormBackward0")


@hiding
def _bilinear(out: Any, input1: Any, input2: Any, weight: Any, bias: Any = None) -> str:
    text = "View(Trilinear(View(x),z,View(y)))"
    if bias is None:
        return Steps.of("ViewBackward0", text, hidden="TrilinearBackward0")
    return Steps.of("AddBackward0", f"Add({text},w)")


def _attention(
    out: Any,
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: Any = None,
    enable_gqa: bool = False,
) -> str | None:
    """torch's kernel for batches of heads, which has no derivative by the mask; else its steps."""
    rank = len(shape_of(query))
    if dropout_p:
        return None
    if rank == 4 and not getattr(attn_mask, "requires_grad", False):
        return "ScaledDotProductFlashAttentionForCpuBackward0"
    if rank == 2:
        scores, product, name = "Mm(Mul:1(x),Mul:1(Transpose(y)))", "Mm({},z)", "MmBackward0"
    else:
        scores = "UnsafeView(Bmm(View(Expand(Mul:1(x))),ReshapeAlias(Expand(Mul:1(Transpose(y))))))"
        product, name = "UnsafeView(Bmm(View(Expand({})),View(Expand(z))))", "UnsafeViewBackward0"
    if enable_gqa or not rank == len(shape_of(key)) == len(shape_of(value)):
        return name
    if attn_mask is not None or is_causal:
        scores = f"Add({scores},{'w' if attn_mask is not None and attn_mask.dtype.kind == 'f' else '_'})"
    return Steps.of(name, product.format(f"SafeSoftmax({scores})"))


# ---------------------------------------------------------------------------------------------- losses


def _nll(out: Any, input: Any, *_: Any, **__: Any) -> str:
    return "NllLossBackward0" if len(shape_of(input)) <= 2 else "NllLoss2DBackward0"


def _cross_entropy(
    out: Any,
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> str:
    if len(shape_of(target)) == max(len(shape_of(input)), 1):
        return _of_probabilities(weight, reduction, label_smoothing)
    scores = "a=LogSoftmax(x)" if label_smoothing else "LogSoftmax(x)"
    name = _nll(out, input)
    kind, shape = name.removesuffix("Backward0"), tuple(shape_of(input))
    shapes: tuple[Any, ...] = ()
    text = f"{kind}({scores})"
    if len(shape) == 3:  # torch lays the labels of one axis out as a picture of one row
        row = (*shape[:2], 1, shape[2])
        shapes, text = (row,), f"{kind}(View@0({scores}))"
        if shape_of(out):
            name, text, shapes = "ViewBackward0", f"View({kind}@1(View@0({scores})))", (row, (shape[0], 1, shape[2]))
    elif len(shape) > 4:
        return "AddBackward0" if label_smoothing else name
    if label_smoothing:
        spread = f"MaskedFill(Neg(Sum:1({'a' if weight is None else 'Mul(a,_)'})))"
        spread = {"mean": f"Div(Sum({spread}),_)", "sum": f"Sum({spread})"}.get(reduction, spread)
        return Steps.of("AddBackward0", f"Add(Mul:1({text}),Mul:1({spread}))", *shapes)
    return Steps.of(name, text, *shapes)


def _linear_cross_entropy(
    out: Any, input: Any, linear_weight: Any, target: Any, *_: Any, weight: Any = None, reduction: str = "mean",
    label_smoothing: float = 0.0, **__: Any,
) -> str:  # fmt: skip
    """That of the cross entropy of the logits, of which only the shape is asked."""
    logits = np.broadcast_to(np.float64(0), (*shape_of(input)[:-1], *shape_of(linear_weight)[:-1]))
    return str(_cross_entropy(out, logits, target, weight, reduction=reduction, label_smoothing=label_smoothing))


def _of_probabilities(weight: Any, reduction: str, label_smoothing: float) -> str:
    text = f"Mul(LogSoftmax(x),{'Add:1(Mul:1(y))' if label_smoothing else 'y'})"
    text = text if weight is None else f"Mul({text},_)"
    text = f"Neg(Sum:1({text}))" if reduction == "none" else f"Neg(Sum({text}))"
    return Steps.of("DivBackward1", f"Div:1({text})") if reduction == "mean" else Steps.of("NegBackward0", text)


# ---------------------------------------------------------------------------------------------- matrices


@hiding
def _multi_dot(out: Any, tensors: Any) -> str | None:
    """Products of two, in the order that takes the fewest multiplications."""
    count = len(tensors)
    if not 1 < count <= len(_LETTERS):
        return None
    factors = list(_LETTERS[:count])
    for k in (0, -1):
        if len(shape_of(tensors[k])) == 1:
            factors[k] = f"Unsqueeze({factors[k]})"
    sizes = [1] * (len(shape_of(tensors[0])) == 1) + list(shape_of(tensors[0])) + [shape_of(t)[-1] for t in tensors[1:]]
    if len(shape_of(tensors[-1])) == 1:
        sizes[-1] = 1
    best: dict[tuple[int, int], tuple[int, str]] = {(k, k + 1): (0, factor) for k, factor in enumerate(factors)}
    for length in range(2, count + 1):
        for i in range(count + 1 - length):
            j = i + length
            ways = [
                (best[i, k][0] + best[k, j][0] + sizes[i] * sizes[k] * sizes[j], f"Mm({best[i, k][1]},{best[k, j][1]})")
                for k in (range(j - 1, i, -1) if count == 3 else range(i + 1, j))
            ]
            best[i, j] = min(ways, key=lambda way: way[0])
    return Steps.of("ViewBackward0", f"View({best[0, count][1]})", hidden="MmBackward0")


@hiding
def _cond(out: Any, A: Any, p: Any = None) -> str | None:
    if 0 in shape_of(A)[-2:] or p == "nuc":
        return None
    if p in (None, 2, -2):
        text = "Squeeze:1(Div(Slice(a=LinalgSvd(x)),Slice(a)))"
        return Steps.of("SqueezeBackward1", text, hidden="DivBackward0")
    norm = "LinalgVectorNorm({})" if p == "fro" else f"{'Amax' if p > 0 else 'Amin'}(LinalgVectorNorm({{}}))"
    both = f"{norm.format('x')},{norm.format('MaskedFill(LinalgInvEx(x))')}"
    return Steps.of("NanToNumBackward0", f"NanToNum(Mul({both}))")


# ---------------------------------------------------------------------------------------------- entries


def _diagflat(out: Any, input: Any, *_: Any, **__: Any) -> str:
    return Steps.of("DiagEmbedBackward0", "DiagEmbed(View@0(x))", (math.prod(shape_of(input)),))


def _take_along_dim(out: Any, input: Any, indices: Any, dim: int | None = None) -> str:
    """torch spreads the entries over the axes of the places before it gathers them."""
    shape = shape_of(input)
    if dim is None:
        return Steps.of("GatherBackward0", "Gather(View@0(x))", (math.prod(shape),))
    axis = dim % max(len(shape), 1)
    whole = (n if k == axis else max(n, m) for k, (n, m) in enumerate(zip(shape, shape_of(indices), strict=False)))
    return Steps.of("GatherBackward0", "Gather(Expand@0(x))", tuple(whole))


def _quantile(
    out: Any, input: Any, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> str:
    """Of the entries in order, the one below or on the way to the one above."""
    rank = len(shape_of(input))
    last = rank == 1 or (rank > 1 and dim is not None and dim % rank == rank - 1)
    given = "x" if last else "View(x)" if dim is None or not rank else "Transpose(Unsqueeze(x))"
    text = f"Gather(a=View(Sort({given})))"
    if interpolation in ("linear", "midpoint"):
        moves = interpolation == "linear" and getattr(q, "requires_grad", False)
        text = f"Lerp:1({text},Gather(a),{'Sub(MaskedFill(Mul:1(y)),_)' if moves else '_'})"
    text = f"Transpose:1(Unsqueeze:1({text}))" if shape_of(q) else text
    return Steps.of("SqueezeBackward4", f"Squeeze:4({text})")


def _trapezoid(out: Any, y: Any, x: Any = None, *, dx: Any = 1, dim: int = -1) -> str | None:
    if not shape_of(y)[dim]:
        return None
    if x is not None:
        return Steps.of("DivBackward1", "Div:1(Sum:1(Mul(Add(Slice(x),Slice(x)),Sub(Slice(a=View(y)),Slice(a)))))")
    return Steps.of("MulBackward1", "Mul:1(Sub(Sum:1(x),Mul:1(Add(Select(x),Select(x)))))")


def _cumulative_trapezoid(out: Any, y: Any, x: Any = None, *, dx: Any = 1, dim: int = -1) -> str | None:
    if not shape_of(y)[dim]:
        return None
    if x is not None:
        return Steps.of("DivBackward1", "Div:1(Cumsum(Mul(Add(Slice(x),Slice(x)),Sub(Slice(a=View(y)),Slice(a)))))")
    return Steps.of("CumsumBackward0", "Cumsum(Mul:1(Add(Slice(x),Slice(x))))")


def _combinations(out: Any, input: Any, r: int = 2, with_replacement: bool = False) -> str:
    parts = ",".join(["MaskedSelect(Expand(View(x)))"] * r)
    return Steps.of("StackBackward0", f"Stack({parts})")


def _pairwise_distance(out: Any, x1: Any, x2: Any, *_: Any, **__: Any) -> str:
    return Steps.of("NormBackward1", "Norm:1(Add:1(Sub(x,y)))")


def _margin(text: str, reduction: str) -> str:
    """The part of a difference that is above 0, and what is made of all entries."""
    text = f"ClampMin({text})"
    name = {"mean": "Mean", "sum": "Sum"}.get(reduction)
    return Steps.of("ClampMinBackward0", text) if name is None else Steps.of(f"{name}Backward0", f"{name}({text})")


def _triplet(
    out: Any, anchor: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
    swap: bool = False, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
) -> str:  # fmt: skip
    near, far = "Norm:1(Add:1(Sub(x,y)))", "Norm:1(Add:1(Sub(x,z)))"
    far = f"Minimum({far},Norm:1(Add:1(Sub(y,z))))" if swap else far
    return _margin(f"Sub(Add:1({near}),{far})", reduction)


def _margin_ranking(
    out: Any, input1: Any, input2: Any, target: Any, margin: float = 0, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> str:  # fmt: skip
    turned = "Neg(z)" if getattr(target, "requires_grad", False) else "_"
    return _margin(f"Add:1(Mul({turned},Sub(x,y)))", reduction)


OF_SEVERAL: dict[str, Any] = {
    "combinations": _combinations,
    "cumulative_trapezoid": _cumulative_trapezoid,
    "diagflat": _diagflat,
    "instance_norm": _plain_instance_norm,
    "kron": lambda out, input, other: Steps.of("UnsafeViewBackward0", "UnsafeView(Mul(UnsafeView(x),UnsafeView(y)))"),
    "linalg.cond": _cond,
    "linalg.multi_dot": _multi_dot,
    "nanmean": lambda out, *_, **__: Steps.of("DivBackward0", "Div(Nansum(x),_)"),
    "nanquantile": _quantile,
    "quantile": _quantile,
    "take_along_dim": _take_along_dim,
    "trapezoid": _trapezoid,
    "trapz": _trapezoid,
    "nn.functional.bilinear": _bilinear,
    "nn.functional.cross_entropy": _cross_entropy,
    "nn.functional.instance_norm": _instance_norm,
    "nn.functional.linear": _linear,
    "nn.functional.margin_ranking_loss": _margin_ranking,
    "nn.functional.triplet_margin_loss": _triplet,
    "nn.functional.linear_cross_entropy": _linear_cross_entropy,
    "nn.functional.nll_loss": _nll,
    "nn.functional.rms_norm": _rms_norm,
    "nn.functional.pairwise_distance": _pairwise_distance,
    "nn.functional.scaled_dot_product_attention": _attention,
    **{f"nn.functional.conv{kind}{n}d": _convolution(n) for kind in ("", "_transpose") for n in (1, 2, 3)},
    **{
        f"nn.functional.{name}_pool1d": _line_pool(title(f"{name}_pool2d") + "WithIndices" * (name == "max"))
        for name in ("adaptive_max", "avg", "max")
    },
    **{f"nn.functional.adaptive_avg_pool{n}d": adaptive_avg(n) for n in (1, 2, 3)},
}
"""The labels by the public names of the functions."""
