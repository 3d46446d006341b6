"""Labels: torch's word for what a function made of several ops does as a whole, by the function's public name.

A composite has no entry in the table and needs none: its rule comes from its parts.  Its label is what ``grad_fn``
says, and the arguments of the call are what ``next_functions`` lists.  A label is a node's name, or a function
``(out, *arguments) -> name`` where torch names the overloads of a function apart (None: the last op's own name).
Functions whose node torch names like the function stand in ``NAMED_ALIKE``.
"""

from __future__ import annotations

import math
from typing import Any

from symgrad.op import shape_of, title


class Temporary(str):
    """The label of a result that is a view of a temporary tensor in torch; ``hidden`` is that of the temporary."""

    __slots__ = ("hidden",)

    hidden: str

    @classmethod
    def of(cls, view: str, hidden: str) -> Temporary:
        """The names of torch's two nodes."""
        made = cls(view)
        made.hidden = hidden
        return made


class Steps(str):
    """The label of a result of which torch makes several nodes: ``text`` in words of the answers, and ``shapes``.

    ``hidden`` is as that of :class:`Temporary`, None where the result is no view of one.
    """

    __slots__ = ("hidden", "shapes", "text")

    hidden: str | None
    text: str
    shapes: tuple[Any, ...]

    @classmethod
    def of(cls, name: str, text: str, *shapes: Any, hidden: str | None = None) -> Steps:
        """The name of the last node, and all of them."""
        made = cls(name)
        made.text, made.shapes, made.hidden = text, shapes, hidden
        return made


class Arranged(str):
    """The label of a result whose inputs stand in another ``order``; some of them are ``steps`` inside of the function.

    A step is ``(path, name)``: where it is found below the node of the result, and what it is called.
    """

    __slots__ = ("order", "steps")

    order: tuple[int, ...]
    steps: dict[int, tuple[tuple[int, ...], str]]

    @classmethod
    def of(cls, name: str, order: tuple[int, ...], steps: dict[int, tuple[tuple[int, ...], str]]) -> Arranged:
        """The name of the whole, its inputs by their numbers among the arguments, and the steps among them."""
        made = cls(name)
        made.order, made.steps = order, steps
        return made


def _array(x: Any) -> bool:
    return hasattr(x, "dtype")


def _overload(name: str, position: int, keyword: str, numbers: tuple[int, int] = (1, 0)) -> Any:
    """``name`` with torch's number of the overload for a number, or for a tensor, as the argument at ``position``."""

    def label(out: Any, *args: Any, **options: Any) -> str:
        given = args[position] if position < len(args) else options.get(keyword)
        return f"{name}Backward{numbers[_array(given)]}"

    return label


def _clamp(out: Any, input: Any, min: Any = None, max: Any = None) -> str:
    return f"ClampBackward{int(not (_array(min) or _array(max)))}"


def _div(out: Any, input: Any, other: Any, **mode: Any) -> str | None:
    return "DivBackward2" if "rounding_mode" in mode and _array(input) else None


def _scaled(name: str) -> Any:
    def label(out: Any, input: Any, other: Any, *, alpha: Any = 1) -> str | None:
        return None if alpha == 1 else f"{name}Backward0"

    return label


def _extreme(name: str) -> Any:
    def label(out: Any, input: Any, dim: Any = None, *_: Any, **__: Any) -> str | None:
        if dim is None:
            return f"{name}Backward1"
        return None if _array(dim) else f"{name}Backward0"

    return label


def _bound(name: str) -> Any:
    def label(out: Any, input: Any, dim: Any = (), keepdim: Any = False, **others: Any) -> str | None:
        """Said only of a number along a named axis, which torch takes as a vector and back."""
        dim, keepdim = others.get("axis", dim), others.get("keepdims", keepdim)
        named = dim is not None and dim != () and not shape_of(input) and not keepdim
        return f"{name}Backward0" if named else None

    return label


def _norm(out: Any, input: Any, p: Any = 2, dim: Any = None, *_: Any, **others: Any) -> str | None:
    """Said only where axes are named: without them torch's rule is another."""
    return None if others.get("axis", dim) is None else "LinalgVectorNormBackward0"


def _moved(out: Any, input: Any, *_: Any, **__: Any) -> str:
    return "PermuteBackward0" if shape_of(input) else "AliasBackward0"


def _middle(name: str) -> Any:
    def label(out: Any, input: Any, dim: Any = None, *_: Any, **__: Any) -> str:
        return f"{name}Backward{int(dim is not None)}"

    return label


def _squeeze(first: int, suffix: str = "") -> Any:
    def label(out: Any, input: Any, dim: Any = None) -> str:
        return f"SqueezeBackward{first + (0 if dim is None else 2 if isinstance(dim, (tuple, list)) else 1)}{suffix}"

    return label


def _prod(out: Any, input: Any, dim: Any = None, *_: Any, **__: Any) -> str:
    return f"ProdBackward{int(dim is not None)}"


def _sort(out: Any, input: Any, dim: Any = -1, descending: Any = False, stable: Any = None) -> str:
    return f"SortBackward{int(stable is not None)}"


def _reshape(out: Any, input: Any, *_: Any, **__: Any) -> str | None:
    """A reshape that has to copy is torch's ``_unsafe_view`` of a clone; one of spread memory an alias of it."""
    if input is out:
        return None
    if not out._is_view():
        return "UnsafeViewBackward0"
    return None if input.is_contiguous() else "ReshapeAliasBackward0"


def _scatter(out: Any, input: Any, dim: Any, index: Any, src: Any = None, **options: Any) -> str:
    if options.get("reduce") is not None:
        return f"ScatterBackward{2 if _array(src) else 3}"
    return f"ScatterBackward{int(not _array(options.get('value') if src is None else src))}"


def _split(out: Any, input: Any, split_size_or_sections: Any, *_: Any, **__: Any) -> str:
    return "SplitBackward0" if isinstance(split_size_or_sections, int) else "SplitWithSizesBackward0"


def _chunk(out: Any, input: Any, chunks: int, dim: int = 0) -> str:
    return "SplitBackward0" if shape_of(input)[dim] else "SplitWithSizesBackward0"


def _round(out: Any, input: Any, *, decimals: int | None = None) -> str:
    return f"RoundBackward{int(decimals is not None)}"


def _repeat_interleave(out: Any, input: Any, repeats: Any, *_: Any, **__: Any) -> str | None:
    return "IndexSelectBackward0" if _array(repeats) else None


def _atleast(rank: int) -> Any:
    def label(out: Any, input: Any, *_: Any, **__: Any) -> str | None:
        ndim = len(shape_of(input)) if _array(input) else rank
        return "UnsqueezeBackward0" if 0 < ndim < rank else None

    return label


def _vecdot(out: Any, x: Any, y: Any, *, dim: int = -1) -> str:
    one = len(shape_of(x)) == len(shape_of(y)) == 1
    return "VdotBackward0" if one else "SumBackward1"


def _smooth_l1(out: Any, input: Any, target: Any, *others: Any, beta: float = 1.0, **_: Any) -> str | None:
    """With nothing to smooth it is the loss of absolute differences."""
    beta = others[3] if len(others) > 3 else beta
    return None if beta == 0 else "SmoothL1LossBackward0"


def _convolution(axes: int) -> Any:
    def label(out: Any, input: Any, weight: Any, bias: Any = None, *_: Any, **__: Any) -> str:
        last = "_" if bias is None else "z"
        if len(shape_of(input)) == axes + 2:
            return Steps.of("ConvolutionBackward0", f"Convolution(x,y,{last})")
        shapes = ((1, *shape_of(input)), (1, *shape_of(out)))
        return Steps.of("SqueezeBackward1", f"Squeeze:1(Convolution@1(Unsqueeze@0(x),y,{last}))", *shapes)

    return label


def _line_pool(node: str) -> Any:
    """Pooling along one axis, which torch does in a picture of one row."""

    def label(out: Any, input: Any, *_: Any, **__: Any) -> str:
        shapes = tuple((*shape[:-1], 1, shape[-1]) for shape in (shape_of(input), shape_of(out)))
        return Steps.of("SqueezeBackward1", f"Squeeze:1({node}@1(Unsqueeze@0(x)))", *shapes)

    return label


def _adaptive_avg(axes: int) -> Any:
    """Means over cells, of which a single one is the mean of the whole picture."""

    def label(out: Any, input: Any, *_: Any, **__: Any) -> str | None:
        single = all(size == 1 for size in shape_of(out)[-axes:])
        if axes == 1:
            return _line_pool("Mean:1" if single else "AdaptiveAvgPool2D")(out, input)  # type: ignore[no-any-return]
        return None if single else f"AdaptiveAvgPool{axes}DBackward0"

    return label


def _diag(out: Any, input: Any, diagonal: int = 0) -> str:
    return "DiagonalBackward0_copy" if len(shape_of(input)) == 2 else "DiagEmbedBackward0"


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


def _einsum(out: Any, *_: Any, **__: Any) -> str | None:
    """The last of the ops that torch makes of an einsum."""
    if out._node.op.name != "einsum":
        return None
    inputs, output = out._node.params["inputs"], out._node.params["output"]
    summed = not set().union(*inputs) <= set(output)
    if len(inputs) == 1:
        return "SumBackward1" if summed else "PermuteBackward0"
    if not summed:
        return "MulBackward0"
    sizes = [dict(zip(labels, x.raw_shape, strict=True)) for labels, x in zip(inputs, out._node.args, strict=True)]
    last = [label for label, size in sizes.pop().items() if size != 1 and label not in output]
    added = any(factor.get(label, 1) != 1 for factor in sizes for label in last)
    return Temporary.of("ViewBackward0", "BmmBackward0" if added else "MulBackward0")


def _tensordot(out: Any, input: Any, other: Any, *_: Any, **__: Any) -> str | None:
    if not shape_of(input) or not shape_of(other):
        return None
    return Temporary.of("ViewBackward0", "MmBackward0" if shape_of(out) else "DotBackward0")


def _pad(out: Any, input: Any, pad: Any, mode: str = "constant", value: Any = None) -> str:
    kinds = {"reflect": "Reflection", "replicate": "Replication"}
    if mode in kinds:
        return f"{kinds[mode]}Pad{len(pad) // 2}DBackward0"
    return "CopySlices" if mode == "circular" else "ConstantPadNdBackward0"


def _instance_norm(*_: Any, **__: Any) -> str:
    return Temporary.of("ViewBackward0", "NativeBatchNormBackward0")


def _interpolate(
    out: Any,
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: Any = None,
    recompute_scale_factor: Any = None,
    antialias: bool = False,
) -> str | None:
    axes = len(shape_of(input)) - 2
    kinds = {"linear": "Linear", "bilinear": "Bilinear", "bicubic": "Bicubic", "trilinear": "Trilinear",
             "nearest": "Nearest", "nearest-exact": "NearestExact"}  # fmt: skip
    if mode == "area":
        return _adaptive_avg(axes)(out, input)  # type: ignore[no-any-return]
    return f"Upsample{kinds[mode]}{axes}D{'Aa' if antialias else ''}Backward0"


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
    """torch's kernel for batches of heads, which has no derivative by the mask; else the product that comes last."""
    if dropout_p:
        return None
    if len(shape_of(query)) == 4 and not getattr(attn_mask, "requires_grad", False):
        return "ScaledDotProductFlashAttentionForCpuBackward0"
    return "MmBackward0" if len(shape_of(query)) == 2 else "UnsafeViewBackward0"


def _sampled(out: Any, input: Any, *_: Any, **__: Any) -> str:
    return f"GridSampler{len(shape_of(input)) - 2}DBackward0"


def _aligned(
    out: Any, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0,
    reduction: str = "mean", zero_infinity: bool = False,
) -> str | None:  # fmt: skip
    if reduction != "none" or zero_infinity:
        return None
    return "SqueezeBackward1" if len(shape_of(log_probs)) == 2 else "CtcLossBackward0"


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
    if len(shape_of(target)) == max(len(shape_of(input)), 1):  # probabilities of the classes
        return "DivBackward1" if reduction == "mean" else "NegBackward0"
    if label_smoothing:
        return "AddBackward0"
    name = _nll(out, input)
    kind, shape = name.removesuffix("Backward0"), tuple(shape_of(input))
    if len(shape) in (1, 2, 4):
        return Steps.of(name, f"{kind}(LogSoftmax(x))")
    if len(shape) != 3:
        return name
    # torch lays the labels of one axis out as a picture of one row.
    row = (*shape[:2], 1, shape[2])
    if shape_of(out):
        return Steps.of("ViewBackward0", f"View({kind}@1(View@0(LogSoftmax(x))))", row, (shape[0], 1, shape[2]))
    return Steps.of(name, f"{kind}(View@0(LogSoftmax(x)))", row)


def _of_real(name: str) -> Any:
    """The transform along one axis is another one for real input."""

    def label(out: Any, input: Any, *_: Any, **__: Any) -> str | None:
        return None if input.dtype.kind == "c" else name

    return label


def _affine(name: str) -> Any:
    """A normalisation: after its input stand the factors and the summands, also where there are none."""

    def label(out: Any, input: Any, _: Any, weight: Any = None, bias: Any = None, *__: Any, **___: Any) -> str:
        return _with_absent(name, "yz", weight, bias)

    return label


def _batch_norm(
    out: Any, input: Any, mean: Any = None, var: Any = None, weight: Any = None, bias: Any = None, *_: Any, **__: Any
) -> str:
    """The running statistics among the arguments get no gradients."""
    return _with_absent("NativeBatchNorm", "yzwv"[(mean is not None) + (var is not None) :], weight, bias)


def _with_absent(name: str, letters: str, weight: Any, bias: Any) -> str:
    given = iter(letters)
    words = ["_" if x is None else next(given) for x in (weight, bias)]
    return Steps.of(f"{name}Backward0", f"{name}(x,{','.join(words)})")


def _linear(out: Any, input: Any, weight: Any, bias: Any = None) -> str | None:
    rank = len(shape_of(input))
    if len(shape_of(weight)) == 1 or rank == 1:
        return None
    if rank == 2 and bias is None:
        return Arranged.of("MmBackward0", (0, 1), {1: ((1,), "TBackward0")})
    if rank == 2:
        return Arranged.of("AddmmBackward0", (2, 0, 1), {1: ((0, 1), "TBackward0")})
    return "UnsafeViewBackward0" if bias is None else Temporary.of("ViewBackward0", "AddmmBackward0")


def _named_alike(space: str, name: str) -> str:
    return f"{title(f'{space}_{name}' if space in ('special', 'linalg') else name)}Backward0"


NAMED_ALIKE: dict[str, str] = {
    "": "addbmm addcdiv addcmul addmm addmv addr as_strided as_strided_scatter baddbmm block_diag bmm bernoulli "
    "cholesky cholesky_inverse cholesky_solve complex cummax cummin cumprod cumsum diag_embed diagonal "
    "diagonal_scatter dist gather index_add index_copy index_put index_reduce index_select kthvalue ldexp "
    "logcumsumexp logit lu_unpack masked_scatter masked_select mode mvlgamma nan_to_num nansum narrow_copy "
    "ormqr polar put renorm repeat roll rot90 scatter_add scatter_reduce select_scatter sgn "
    "slice_scatter take topk trace triangular_solve transpose vdot view_as_complex unfold aminmax "
    "std_mean var_mean select i0 softmax log_softmax",
    "nn.functional": "adaptive_max_pool2d adaptive_max_pool3d avg_pool2d avg_pool3d binary_cross_entropy "
    "binary_cross_entropy_with_logits celu channel_shuffle elu "
    "fractional_max_pool2d fractional_max_pool3d gelu glu hardshrink hardsigmoid hardswish hardtanh huber_loss "
    "leaky_relu max_unpool2d max_unpool3d mish mse_loss multi_margin_loss multilabel_margin_loss pdist pixel_shuffle "
    "pixel_unshuffle silu smooth_l1_loss soft_margin_loss softplus softshrink threshold softmax log_softmax logit",
    "special": "entr erfcx i0e i1 i1e log_ndtr ndtri",
    "linalg": "cross householder_product lstsq lu lu_solve qr solve_triangular",
}
"""Functions by namespace whose node is called like them; in ``special`` and ``linalg`` with the namespace before."""

_OTHERWISE: dict[str, Any] = {
    "acosh_": "AcoshBackward1",
    "adjoint": lambda out, input: "TransposeBackward0" if input.ndim and input.dtype.kind != "c" else None,
    "arccosh_": "AcoshBackward1",
    "arcsinh_": "AsinhBackward1",
    "arctanh_": "AtanhBackward1",
    "as_strided_": "AsStridedBackward1",
    "asinh_": "AsinhBackward1",
    "atanh_": "AtanhBackward1",
    "atleast_2d": _atleast(2),
    "atleast_3d": _atleast(3),
    "add": _scaled("Add"),
    "amax": _bound("Amax"),
    "amin": _bound("Amin"),
    "chunk": _chunk,
    "unsafe_chunk": "UnsafeSplitBackward0",
    "segment_reduce": "SegmentReduceBackward0",
    "unsafe_split": "UnsafeSplitBackward0",
    "unsafe_split_with_sizes": "UnsafeSplitWithSizesBackward0",
    "rsub": _overload("Rsub", 1, "other"),
    "sub": _scaled("Sub"),
    "subtract": _scaled("Sub"),
    "clamp": _clamp,
    "clip": _clamp,
    "clamp_max": _overload("ClampMax", 1, "max", (0, 1)),
    "clamp_min": _overload("ClampMin", 1, "min", (0, 1)),
    "conj_physical": lambda out, input: "ConjPhysicalBackward0" if input.dtype.kind == "c" else None,
    "conj_physical_": lambda out, input: "ConjPhysicalBackward1" if input.dtype.kind == "c" else None,
    "copysign": _overload("Copysign", 1, "other"),
    "cross": "LinalgCrossBackward0",
    "diag": _diag,
    "diagflat": _diagflat,
    "div": _div,
    "divide": _div,
    "einsum": _einsum,
    "flatten": _reshape,
    "fill": _overload("Fill", 1, "value", (0, 2)),
    "fmod": _overload("Fmod", 1, "other", (0, 1)),
    "index_fill": _overload("IndexFill", 3, "value", (0, 1)),
    "inner": _tensordot,
    "kron": "UnsafeViewBackward0",
    "lerp": _overload("Lerp", 2, "weight", (0, 1)),
    "masked_fill": _overload("MaskedFill", 2, "value", (0, 1)),
    "max": _extreme("Max"),
    "median": _middle("Median"),
    "min": _extreme("Min"),
    "moveaxis": _moved,
    "movedim": _moved,
    "cdist": "CdistBackward0",
    "nanmean": "DivBackward0",
    "msort": "SortBackward0",
    "nanmedian": _middle("Nanmedian"),
    "norm": _norm,
    "prod": _prod,
    "qr": "LinalgQrBackward0",
    "lu_solve": "LinalgLuSolveBackward0",
    "orgqr": "LinalgHouseholderProductBackward0",
    "special.i0": "I0Backward0",
    "special.i1": "SpecialI1Backward0",
    "linalg.svd": "LinalgSvdBackward0",
    "nn.functional.batch_norm": _batch_norm,
    "batch_norm": _batch_norm,
    "instance_norm": _instance_norm,
    "nn.functional.instance_norm": _instance_norm,
    "remainder": _overload("Remainder", 1, "other", (0, 1)),
    "repeat_interleave": _repeat_interleave,
    "reshape": _reshape,
    "reshape_as": _reshape,
    "round": _round,
    "scatter": _scatter,
    "sort": _sort,
    "special.logit": "LogitBackward0",
    "special.ndtr": "MulBackward1",
    "split": _split,
    "squeeze": _squeeze(0),
    "squeeze_": _squeeze(3),
    "swapaxes": "TransposeBackward0",
    "swapdims": "TransposeBackward0",
    "t": "TBackward0",
    "t_": "TBackward1",
    "tensordot": _tensordot,
    "tile": "RepeatBackward0",
    "transpose_": "TransposeBackward1",
    "swapaxes_": "TransposeBackward1",
    "swapdims_": "TransposeBackward1",
    "unbind": "UnbindBackward0",
    "unsqueeze_": "UnsqueezeBackward1",
    "polygamma_": "PolygammaBackward1",
    "linalg.cholesky": "LinalgCholeskyExBackward0",
    "linalg.cholesky_ex": "LinalgCholeskyExBackward0",
    "linalg.lu_factor": "LinalgLuFactorExBackward0",
    "linalg.lu_factor_ex": "LinalgLuFactorExBackward0",
    "linalg.solve": "LinalgSolveExBackward0",
    "linalg.solve_ex": "LinalgSolveExBackward0",
    "linalg.vecdot": _vecdot,
    "fft.fft": _of_real("FftR2CBackward0"),
    "fft.ifft": _of_real("ConjBackward0"),
    **{f"fft.{name}{axes}": "FftC2RBackward0" for name in ("irfft", "hfft") for axes in ("", "2", "n")},
    **{f"fft.rfft{axes}": "FftR2CBackward0" for axes in ("", "2", "n")},
    **{f"fft.ihfft{axes}": "FftC2CBackward0" for axes in ("2", "n")},
    **{f"nn.functional.conv{kind}{n}d": _convolution(n) for kind in ("", "_transpose") for n in (1, 2, 3)},
    **{
        f"nn.functional.{name}_pool1d": _line_pool(title(f"{name}_pool2d") + "WithIndices" * (name == "max"))
        for name in ("adaptive_max", "avg", "max")
    },
    **{f"nn.functional.adaptive_avg_pool{n}d": _adaptive_avg(n) for n in (1, 2, 3)},
    "nn.functional.conv_tbc": "ConvTbcBackward0",
    "nn.functional.max_unpool1d": "SqueezeBackward1",
    "nn.functional.pad": _pad,
    "nn.functional.interpolate": _interpolate,
    "nn.functional.upsample": _interpolate,
    "nn.functional.upsample_bilinear": "UpsampleBilinear2DBackward0",
    "nn.functional.upsample_nearest": lambda out, input, *_, **__: _interpolate(out, input),
    "special.multigammaln": "MvlgammaBackward0",
    "nn.functional.pairwise_distance": "NormBackward1",
    "nn.functional.cross_entropy": _cross_entropy,
    "nn.functional.nll_loss": _nll,
    "nn.functional.linear": _linear,
    "nn.functional.embedding": "EmbeddingBackward0",
    "nn.functional.embedding_bag": "EmbeddingBagBackward0",
    "nn.functional.rms_norm": "MulBackward0",
    "nn.functional.prelu": "PreluKernelBackward0",
    "nn.functional.relu6": "HardtanhBackward0",
    "nn.functional.selu": "EluBackward0",
    "nn.functional.selu_": "EluBackward1",
    "nn.functional.rrelu": "RreluWithNoiseBackward0",
    "nn.functional.rrelu_": "RreluWithNoiseBackward1",
    "nn.functional.smooth_l1_loss": _smooth_l1,
    "nn.functional.layer_norm": _affine("NativeLayerNorm"),
    "nn.functional.group_norm": _affine("NativeGroupNorm"),
    "nn.functional.max_pool2d": "MaxPool2DWithIndicesBackward0",
    "nn.functional.max_pool3d": "MaxPool3DWithIndicesBackward0",
    "nn.functional.unfold": "Im2ColBackward0",
    "nn.functional.fold": "Col2ImBackward0",
    "nn.functional.affine_grid": "AffineGridGeneratorBackward0",
    "nn.functional.ctc_loss": _aligned,
    "nn.functional.grid_sample": _sampled,
    "nn.functional.scaled_dot_product_attention": _attention,
    "grid_sampler": _sampled,
    "grid_sampler_2d": _sampled,
    "grid_sampler_3d": _sampled,
    "prelu": "PreluKernelBackward0",
    "take_along_dim": _take_along_dim,
    "hardshrink": "HardshrinkBackward0",
}

_CHANGING = "hardsigmoid hardswish hardtanh mish relu6 silu"
_COPIES = """
    alias as_strided diagonal expand permute select slice split split_with_sizes squeeze t transpose unbind unfold
    unsqueeze view view_as_complex view_as_real
"""

LABELS: dict[str, Any] = {
    f"{space}.{name}" if space else name: _named_alike(space, name)
    for space, names in NAMED_ALIKE.items()
    for name in names.split()
} | _OTHERWISE
LABELS |= {f"{name}_copy": f"{title(name)}Backward0_copy" for name in _COPIES.split()}
LABELS |= {f"nn.functional.{name}_": LABELS[f"nn.functional.{name}"] for name in _CHANGING.split()}
LABELS |= {f"nn.functional.{name}_": f"{title(name)}Backward1" for name in ("celu", "elu", "leaky_relu", "threshold")}
LABELS["squeeze_copy"] = _squeeze(0, "_copy")
"""The label of a function by its public name, with its namespace; in-place forms that differ by the method's."""


def label_of(name: str) -> Any:
    """The label of a function, None if it has none; one of ``nn.functional`` is that of the plain function, too.

    >>> label_of("conj"), label_of("max_pool2d"), label_of("linalg.cholesky")
    (None, 'MaxPool2DWithIndicesBackward0', 'LinalgCholeskyExBackward0')
    """
    return LABELS.get(name) or LABELS.get(f"nn.functional.{name}")
