"""Labels: torch's word for what a function made of several ops does as a whole, by the function's public name.

A composite has no entry in the table and needs none: its rule comes from its parts.  Its label is what ``grad_fn``
says, and the arguments of the call are what ``next_functions`` lists.  A label is a node's name, or a function
``(out, *arguments) -> name`` where torch names the overloads of a function apart (None: the last op's own name).
Functions whose node torch names like the function stand in ``NAMED_ALIKE``.
"""

from __future__ import annotations

from typing import Any

from symgrad.op import shape_of, title
from symgrad.ops.linalg.subscripts import fitted
from symgrad.ops.torch_nodes.kinds import Arranged, Steps, Temporary, hiding
from symgrad.ops.torch_nodes.several import OF_SEVERAL, adaptive_avg


def _array(x: Any) -> bool:
    return hasattr(x, "dtype")


def _overload(name: str, position: int, keyword: str, numbers: tuple[int, int] = (1, 0)) -> Any:
    """``name`` with torch's number of the overload for a number, or for a tensor, as the argument at ``position``."""

    def label(out: Any, *args: Any, **options: Any) -> str:
        given = args[position] if position < len(args) else options.get(keyword)
        return f"{name}Backward{numbers[_array(given)]}"

    return label


def _normal(out: Any, mean: Any, std: Any = 1.0, *_: Any, **__: Any) -> str | None:
    number = _array(mean) + 2 * _array(std)
    return f"NormalBackward{number}" if number else None


def _clamp(out: Any, input: Any, min: Any = None, max: Any = None) -> str:
    if not (_array(min) or _array(max)):
        return "ClampBackward1"
    given = iter((1, 2))
    bounds = [None if bound is None else next(given) for bound in (min, max)]
    return Arranged.of("ClampBackward0", (0, *bounds), {})


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
    """Said only where axes are named: without them torch's rule is another, as for sums of singular values."""
    return None if p == "nuc" or others.get("axis", dim) is None else "LinalgVectorNormBackward0"


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


def _round(out: Any, input: Any, *, decimals: int | None = None) -> str:
    return f"RoundBackward{int(decimals is not None)}"


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


def _diag(out: Any, input: Any, diagonal: int = 0) -> str:
    return "DiagonalBackward0_copy" if len(shape_of(input)) == 2 else "DiagEmbedBackward0"


@hiding
def _einsum(out: Any, *given: Any, **__: Any) -> str | None:
    """The last of the ops that torch makes of an einsum."""
    operands, inputs, output, _ = fitted(*given)
    summed = not set().union(*inputs) <= set(output)
    if len(inputs) == 1:
        return "SumBackward1" if summed else None
    if not summed:
        return "MulBackward0"
    sizes = [dict(zip(labels, shape_of(x), strict=True)) for labels, x in zip(inputs, operands, strict=True)]
    last = [label for label, size in sizes.pop().items() if size != 1 and label not in output]
    added = any(factor.get(label, 1) != 1 for factor in sizes for label in last)
    return Temporary.of("ViewBackward0", "BmmBackward0" if added else "MulBackward0")


@hiding
def _tensordot(out: Any, input: Any, other: Any, *_: Any, **__: Any) -> str | None:
    if not shape_of(input) or not shape_of(other):
        return None
    return Temporary.of("ViewBackward0", "MmBackward0" if shape_of(out) else "DotBackward0")


def _pad(out: Any, input: Any, pad: Any, mode: str = "constant", value: Any = None) -> str:
    kinds = {"reflect": "Reflection", "replicate": "Replication"}
    if mode in kinds:
        return f"{kinds[mode]}Pad{len(pad) // 2}DBackward0"
    return "CopySlices" if mode == "circular" else "ConstantPadNdBackward0"


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
        return adaptive_avg(axes)(out, input)  # type: ignore[no-any-return]
    return f"Upsample{kinds[mode]}{axes}D{'Aa' if antialias else ''}Backward0"


def _sampled(out: Any, input: Any, *_: Any, **__: Any) -> str:
    return f"GridSampler{len(shape_of(input)) - 2}DBackward0"


def _quantised(out: Any, input: Any, scale: Any, *_: Any, **__: Any) -> str:
    qparams = "TensorQparams" if hasattr(scale, "raw_shape") else ""
    return f"FakeQuantizePerTensorAffineCachemask{qparams}Backward0"


def _aligned(
    out: Any, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0,
    reduction: str = "mean", zero_infinity: bool = False,
) -> str | None:  # fmt: skip
    if reduction != "none" or zero_infinity:
        return None
    return "SqueezeBackward1" if len(shape_of(log_probs)) == 2 else "CtcLossBackward0"


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


def _named_alike(space: str, name: str) -> str:
    return f"{title(f'{space}_{name}' if space in ('special', 'linalg') else name)}Backward0"


NAMED_ALIKE: dict[str, str] = {
    "": "addbmm addcdiv addcmul addmm addmv addr as_strided as_strided_scatter baddbmm block_diag bmm bernoulli "
    "cholesky cholesky_inverse cholesky_solve complex cummax cummin cumprod cumsum diag_embed diagonal "
    "diagonal_scatter dist gather index_add index_copy index_put index_reduce index_select kthvalue ldexp "
    "logcumsumexp logit lu_unpack masked_scatter masked_select mode mvlgamma nan_to_num nansum narrow_copy "
    "native_dropout "
    "ormqr poisson polar put renorm repeat roll rot90 scatter_add scatter_reduce select_scatter sgn "
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

_RENAMED = {
    "AcoshBackward1": "acosh_ arccosh_", "AffineGridGeneratorBackward0": "nn.functional.affine_grid",
    "AsStridedBackward1": "as_strided_", "AsinhBackward1": "arcsinh_ asinh_", "AtanhBackward1": "arctanh_ atanh_",
    "CdistBackward0": "cdist", "Col2ImBackward0": "nn.functional.fold", "ConvTbcBackward0": "nn.functional.conv_tbc",
    "EluBackward0": "nn.functional.selu", "EluBackward1": "nn.functional.selu_",
    "EmbeddingBackward0": "nn.functional.embedding", "EmbeddingBagBackward0": "nn.functional.embedding_bag",
    "FakeQuantizePerChannelAffineCachemaskBackward0": "fake_quantize_per_channel_affine",
    "HardshrinkBackward0": "hardshrink", "HardtanhBackward0": "nn.functional.relu6", "I0Backward0": "special.i0",
    "Im2ColBackward0": "nn.functional.unfold", "LOBPCGAutogradFunctionBackward": "lobpcg",
    "LinalgCholeskyExBackward0": "linalg.cholesky linalg.cholesky_ex", "LinalgCrossBackward0": "cross",
    "LinalgHouseholderProductBackward0": "orgqr", "LinalgLuFactorExBackward0": "linalg.lu_factor linalg.lu_factor_ex",
    "LinalgLuSolveBackward0": "lu_solve", "LinalgQrBackward0": "qr",
    "LinalgSolveExBackward0": "linalg.solve linalg.solve_ex", "LinalgSvdBackward0": "linalg.svd",
    "LogitBackward0": "special.logit", "MaxPool2DWithIndicesBackward0": "nn.functional.max_pool2d",
    "MaxPool3DWithIndicesBackward0": "nn.functional.max_pool3d", "MulBackward1": "special.ndtr",
    "MvlgammaBackward0": "special.multigammaln", "PolygammaBackward1": "polygamma_",
    "PreluKernelBackward0": "nn.functional.prelu prelu", "RepeatBackward0": "tile",
    "RollBackward0": "fft.fftshift fft.ifftshift",
    "RreluWithNoiseBackward0": "nn.functional.rrelu", "RreluWithNoiseBackward1": "nn.functional.rrelu_",
    "SegmentReduceBackward0": "segment_reduce", "SortBackward0": "msort", "SpecialI1Backward0": "special.i1",
    "SqueezeBackward1": "nn.functional.max_unpool1d", "TBackward0": "t", "TBackward1": "t_",
    "TransposeBackward0": "swapaxes swapdims", "TransposeBackward1": "transpose_ swapaxes_ swapdims_",
    "UnbindBackward0": "unbind", "UnsafeSplitBackward0": "unsafe_chunk unsafe_split",
    "UnsafeSplitWithSizesBackward0": "unsafe_split_with_sizes", "UnsqueezeBackward1": "unsqueeze_",
    "UpsampleBilinear2DBackward0": "nn.functional.upsample_bilinear", "WeightNormInterfaceBackward0": "_weight_norm",
}  # fmt: skip
"""Functions by the node that each leaves, where that is called otherwise than the function."""

_OTHERWISE: dict[str, Any] = {
    "adjoint": lambda out, input: "TransposeBackward0" if input.ndim and input.dtype.kind != "c" else None,
    "atleast_2d": _atleast(2),
    "atleast_3d": _atleast(3),
    "add": _scaled("Add"),
    "amax": _bound("Amax"),
    "amin": _bound("Amin"),
    "chunk": lambda out, input, chunks, dim=0: "SplitBackward0" if shape_of(input)[dim] else "SplitWithSizesBackward0",
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
    "diag": _diag,
    "div": _div,
    "divide": _div,
    "einsum": _einsum,
    "flatten": _reshape,
    "fill": _overload("Fill", 1, "value", (0, 2)),
    "fmod": _overload("Fmod", 1, "other", (0, 1)),
    "index_fill": _overload("IndexFill", 3, "value", (0, 1)),
    "inner": _tensordot,
    "lerp": _overload("Lerp", 2, "weight", (0, 1)),
    "masked_fill": _overload("MaskedFill", 2, "value", (0, 1)),
    "max": _extreme("Max"),
    "median": _middle("Median"),
    "min": _extreme("Min"),
    "moveaxis": _moved,
    "movedim": _moved,
    "nanmedian": _middle("Nanmedian"),
    "norm": _norm,
    "normal": _normal,
    "prod": _prod,
    "nn.functional.batch_norm": _batch_norm,
    "batch_norm": _batch_norm,
    "remainder": _overload("Remainder", 1, "other", (0, 1)),
    "repeat_interleave": lambda out, input, repeats, *_, **__: "IndexSelectBackward0" if _array(repeats) else None,
    "reshape": _reshape,
    "reshape_as": _reshape,
    "round": _round,
    "scatter": _scatter,
    "sort": _sort,
    "split": _split,
    "squeeze": _squeeze(0),
    "squeeze_": _squeeze(3),
    "tensordot": _tensordot,
    "norm_except_dim": lambda _, v, pow=2, dim=0: "NormBackward0" if dim == -1 else None,
    "linalg.vecdot": _vecdot,
    "fft.fft": _of_real("FftR2CBackward0"),
    "fft.ifft": _of_real("ConjBackward0"),
    **{f"fft.{name}{axes}": "FftC2RBackward0" for name in ("irfft", "hfft") for axes in ("", "2", "n")},
    **{f"fft.rfft{axes}": "FftR2CBackward0" for axes in ("", "2", "n")},
    **{f"fft.ihfft{axes}": "FftC2CBackward0" for axes in ("2", "n")},
    "nn.functional.pad": _pad,
    "nn.functional.interpolate": _interpolate,
    "nn.functional.upsample": _interpolate,
    "nn.functional.upsample_nearest": lambda out, input, *_, **__: _interpolate(out, input),
    "nn.functional.smooth_l1_loss": _smooth_l1,
    "nn.functional.layer_norm": _affine("NativeLayerNorm"),
    "nn.functional.group_norm": _affine("NativeGroupNorm"),
    "nn.functional.ctc_loss": _aligned,
    "nn.functional.grid_sample": _sampled,
    "grid_sampler": _sampled,
    "grid_sampler_2d": _sampled,
    "grid_sampler_3d": _sampled,
    "fake_quantize_per_tensor_affine": _quantised,
}

_COMPARISONS = {
    "Eq": "eq", "Ge": "ge greater_equal", "Gt": "gt greater", "Le": "le less_equal", "Lt": "lt less",
    "Ne": "ne not_equal",
}  # fmt: skip
"""In place they are recorded, as changes with gradients of zeros."""
_CHANGING = "hardsigmoid hardswish hardtanh mish relu6 silu"
_COPIES = """
    alias as_strided diagonal expand permute select slice split split_with_sizes squeeze t transpose unbind unfold
    unsqueeze view view_as_complex view_as_real
"""

LABELS: dict[str, Any] = {
    f"{space}.{name}" if space else name: _named_alike(space, name)
    for space, names in NAMED_ALIKE.items()
    for name in names.split()
} | {**_OTHERWISE, **OF_SEVERAL}
LABELS |= {name: node for node, names in _RENAMED.items() for name in names.split()}
LABELS |= {f"{name}_copy": f"{title(name)}Backward0_copy" for name in _COPIES.split()}
LABELS |= {
    f"{name}_": _overload(whole, 1, "other", (0, 1)) for whole, names in _COMPARISONS.items() for name in names.split()
}
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
