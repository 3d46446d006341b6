"""Activations, losses and layers under the names of ``torch.nn.functional``; every one is made of ops of the table."""

# Written by ``python -m tests.typed.stubs`` from the functions themselves, which are what to change.

from collections.abc import Callable, Sequence
from symgrad.tensor.kinds import DType, Ints, Number, Operand, Random
from symgrad.tensor.tensor import Tensor
from typing import Any

def adaptive_avg_pool1d(input: Operand, output_size: int | Ints) -> Tensor:
    """Means over cells, as many as asked for."""
def adaptive_avg_pool2d(input: Operand, output_size: Any) -> Tensor:
    """Means over cells, as many as asked for."""
def adaptive_avg_pool3d(input: Operand, output_size: Any) -> Tensor:
    """Means over cells, as many as asked for."""
def adaptive_max_pool1d(input: Operand, output_size: Any, return_indices: bool = False) -> Tensor:
    """Largest entries of cells, as many as asked for."""
def adaptive_max_pool1d_with_indices(input: Operand, output_size: Any, return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """``adaptive_max_pool1d`` and the flat places of the entries."""
def adaptive_max_pool2d(input: Operand, output_size: Any, return_indices: bool = False) -> Tensor:
    """Largest entries of cells, as many as asked for."""
def adaptive_max_pool2d_with_indices(input: Operand, output_size: Any, return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """``adaptive_max_pool2d`` and the flat places of the entries."""
def adaptive_max_pool3d(input: Operand, output_size: Any, return_indices: bool = False) -> Tensor:
    """Largest entries of cells, as many as asked for."""
def adaptive_max_pool3d_with_indices(input: Operand, output_size: Any, return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """``adaptive_max_pool3d`` and the flat places of the entries."""
def affine_grid(theta: Operand, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The points that affine maps ``theta`` (batch, 2, 3) or (batch, 3, 4) give for an output of ``size``."""
def alpha_dropout(input: Operand, p: float = 0.5, training: bool = False, inplace: bool = False, *, generator: Random | None = None) -> Tensor:
    """Dropout that keeps mean 0 and variance 1 of self-normalising networks (Klambauer et al. 2017)."""
def avg_pool1d(input: Operand, kernel_size: int | Ints, stride: int | Ints | None = None, padding: int | Ints = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None) -> Tensor:
    """Means over windows of the last 1 axes."""
def avg_pool2d(input: Operand, kernel_size: int | Ints, stride: int | Ints | None = None, padding: int | Ints = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None, *, out: Tensor | None = None) -> Tensor:
    """Means over windows of the last 2 axes."""
def avg_pool3d(input: Operand, kernel_size: int | Ints, stride: int | Ints | None = None, padding: int | Ints = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None, *, out: Tensor | None = None) -> Tensor:
    """Means over windows of the last 3 axes."""
def batch_norm(input: Operand, running_mean: Operand, running_var: Operand, weight: Operand | None = None, bias: Operand | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-05) -> Tensor:
    """Standardised per channel (axis 1): by the batch while training (running statistics follow), else by those."""
def bilinear(input1: Operand, input2: Operand, weight: Operand, bias: Operand | None = None) -> Tensor:
    """input1ᵀ weight_k input2 + bias_k for every k."""
def binary_cross_entropy(input: Operand, target: Operand, weight: Operand | None = None, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """-[target log input + (1 - target) log(1 - input)], with the logarithms limited to -100 from below."""
def binary_cross_entropy_with_logits(input: Operand, target: Operand, weight: Operand | None = None, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean', pos_weight: Operand | None = None) -> Tensor:
    """-[target log σ(input) + (1 - target) log σ(-input)] without overflow; ``pos_weight`` weighs the first part."""
def celu(input: Operand, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``input`` above 0, alpha (e^(input/alpha) - 1) below."""
def celu_(input: Operand, *args: Number, **options: Any) -> Tensor:
    """``celu`` in place."""
def channel_shuffle(input: Operand, groups: int) -> Tensor:
    """Channels (axis 1) dealt out over groups: (g, c / g) becomes (c / g, g)."""
def conv1d(input: Operand, weight: Operand, bias: Operand | None = None, stride: int | Ints = 1, padding: int | Ints | str = 0, dilation: int | Ints = 1, groups: int = 1) -> Tensor:
    """Cross-correlation over 1 axes: input (batch, channels, …), weight (out, channels / groups, …); ``padding`` may be "same" or "valid"."""
def conv2d(input: Operand, weight: Operand, bias: Operand | None = None, stride: int | Ints = 1, padding: int | Ints | str = 0, dilation: int | Ints = 1, groups: int = 1) -> Tensor:
    """Cross-correlation over 2 axes: input (batch, channels, …), weight (out, channels / groups, …); ``padding`` may be "same" or "valid"."""
def conv3d(input: Operand, weight: Operand, bias: Operand | None = None, stride: int | Ints = 1, padding: int | Ints | str = 0, dilation: int | Ints = 1, groups: int = 1) -> Tensor:
    """Cross-correlation over 3 axes: input (batch, channels, …), weight (out, channels / groups, …); ``padding`` may be "same" or "valid"."""
def conv_tbc(input: Operand, weight: Operand, bias: Operand, pad: int = 0) -> Tensor:
    """``conv1d`` of sequences that lie as (time, batch, channels), with weights (places, channels, out)."""
def conv_transpose1d(input: Operand, weight: Operand, bias: Operand | None = None, stride: int | Ints = 1, padding: int | Ints = 0, output_padding: int | Ints = 0, groups: int = 1, dilation: int | Ints = 1) -> Tensor:
    """The transpose of ``conv1d`` as a linear map; weight (channels, out / groups, …)."""
def conv_transpose2d(input: Operand, weight: Operand, bias: Operand | None = None, stride: int | Ints = 1, padding: int | Ints = 0, output_padding: int | Ints = 0, groups: int = 1, dilation: int | Ints = 1) -> Tensor:
    """The transpose of ``conv2d`` as a linear map; weight (channels, out / groups, …)."""
def conv_transpose3d(input: Operand, weight: Operand, bias: Operand | None = None, stride: int | Ints = 1, padding: int | Ints = 0, output_padding: int | Ints = 0, groups: int = 1, dilation: int | Ints = 1) -> Tensor:
    """The transpose of ``conv3d`` as a linear map; weight (channels, out / groups, …)."""
def cosine_embedding_loss(input1: Operand, input2: Operand, target: Operand, margin: float = 0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """1 - cos where ``target`` is 1, max(0, cos - margin) where it is -1."""
def cosine_similarity(x1: Operand, x2: Operand, dim: int = 1, eps: float = 1e-08) -> Tensor:
    """x1 · x2 / (max(|x1|, eps) max(|x2|, eps)) along ``dim``."""
def cross_entropy(input: Operand, target: Operand, weight: Operand | None = None, size_average: bool | None = None, ignore_index: int = -100, reduce: bool | None = None, reduction: str = 'mean', label_smoothing: float = 0.0) -> Tensor:
    """-log softmax(input) at the target class; ``target`` holds class numbers or class probabilities."""
def ctc_loss(log_probs: Operand, targets: Operand, input_lengths: Operand, target_lengths: Operand, blank: int = 0, reduction: str = 'mean', zero_infinity: bool = False) -> Tensor:
    """The CTC loss of log-probabilities (time, batch, classes), or (time, classes) for one sample."""
def dropout(input: Operand, p: float = 0.5, training: bool = True, inplace: bool = False, *, generator: Random | None = None) -> Tensor:
    """While training, entries become 0 with probability p and the others are divided by 1 - p."""
def dropout1d(input: Operand, p: float = 0.5, training: bool = True, inplace: bool = False, *, generator: Random | None = None) -> Tensor:
    """While training, channels become 0 with probability p and the others are divided by 1 - p."""
def dropout2d(input: Operand, p: float = 0.5, training: bool = True, inplace: bool = False, *, generator: Random | None = None) -> Tensor:
    """While training, channels become 0 with probability p and the others are divided by 1 - p."""
def dropout3d(input: Operand, p: float = 0.5, training: bool = True, inplace: bool = False, *, generator: Random | None = None) -> Tensor:
    """While training, channels become 0 with probability p and the others are divided by 1 - p."""
def elu(input: Operand, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``input`` above 0, alpha (e^input - 1) below."""
def elu_(input: Operand, *args: Number, **options: Any) -> Tensor:
    """``elu`` in place."""
def embedding(input: Operand, weight: Operand, padding_idx: int | None = None, max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    """Rows of ``weight`` at the numbers in ``input``; the row ``padding_idx`` gets no gradient."""
def embedding_bag(input: Operand, weight: Operand, offsets: Operand | None = None, max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: str = 'mean', sparse: bool = False, per_sample_weights: Operand | None = None, include_last_offset: bool = False, padding_idx: int | None = None) -> Tensor:
    """Sums, means or maxima of rows of ``weight`` over bags: rows of ``input``, or ranges that begin at ``offsets``."""
def feature_alpha_dropout(input: Operand, p: float = 0.5, training: bool = False, inplace: bool = False, *, generator: Random | None = None) -> Tensor:
    """Dropout that keeps mean 0 and variance 1 of self-normalising networks (Klambauer et al. 2017)."""
def fold(input: Operand, output_size: Any, kernel_size: int | Ints, dilation: int | Ints = 1, padding: int | Ints = 0, stride: int | Ints = 1) -> Tensor:
    """Columns of patches added back into images of ``output_size``: the transpose of ``unfold``."""
def fractional_max_pool2d(input: Operand, kernel_size: int | Ints, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False, *, generator: Random | None = None) -> Tensor:
    """Largest entries of windows at random, uneven steps."""
def fractional_max_pool3d(input: Operand, kernel_size: int | Ints, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False, *, generator: Random | None = None) -> Tensor:
    """Largest entries of windows at random, uneven steps."""
def gaussian_nll_loss(input: Operand, target: Operand, var: Operand, full: bool = False, eps: float = 1e-06, reduction: str = 'mean') -> Tensor:
    """[log var + (input - target)²/var]/2, with var limited from below by eps (without gradient)."""
def gelu(input: Operand, approximate: str = 'none', *, out: Tensor | None = None) -> Tensor:
    """input · Φ(input) with the normal distribution function, or its tanh approximation."""
def glu(input: Operand, dim: int = -1) -> Tensor:
    """The first half along ``dim`` times the sigmoid of the second."""
def grid_sample(input: Operand, grid: Operand, mode: str = 'bilinear', padding_mode: str = 'zeros', align_corners: bool | None = None) -> Tensor:
    """``input`` (batch, channels, …) at the points of ``grid`` (batch, …, 2 or 3) in [-1, 1], last axis first."""
def group_norm(input: Operand, num_groups: int, weight: Operand | None = None, bias: Operand | None = None, eps: float = 1e-05) -> Tensor:
    """Mean 0 and variance 1 over every group of channels (axis 1) and all later axes."""
def gumbel_softmax(logits: Operand, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1, *, generator: Random | None = None) -> Tensor:
    """Softmax of the logits with Gumbel noise, over the temperature ``tau`` (Jang, Gu and Poole 2017)."""
def hardshrink(input: Operand, lambd: float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """``input`` outside [-lambd, lambd], 0 inside."""
def hardsigmoid(input: Operand, inplace: bool = False) -> Tensor:
    """(input + 3)/6 between -3 and 3, 0 and 1 outside."""
def hardsigmoid_(input: Operand, *args: Any, **options: Any) -> Tensor:
    """``hardsigmoid`` in place."""
def hardswish(input: Operand, inplace: bool = False) -> Tensor:
    """input · hardsigmoid(input)."""
def hardswish_(input: Operand, *args: Any, **options: Any) -> Tensor:
    """``hardswish`` in place."""
def hardtanh(input: Operand, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """``input`` limited to [min_val, max_val]; derivative 0 at the bounds."""
def hardtanh_(input: Operand, *args: Number, **options: Any) -> Tensor:
    """``hardtanh`` in place."""
def hinge_embedding_loss(input: Operand, target: Operand, margin: float = 1.0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """``input`` where ``target`` is 1, max(0, margin - input) where it is -1."""
def huber_loss(input: Operand, target: Operand, reduction: str = 'mean', delta: float = 1.0, weight: Operand | None = None) -> Tensor:
    """d²/2 of the differences d = input - target for |d| < delta, delta (|d| - delta/2) beyond."""
def instance_norm(input: Operand, running_mean: Operand | None = None, running_var: Operand | None = None, weight: Operand | None = None, bias: Operand | None = None, use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-05) -> Tensor:
    """Standardised per sample and channel (axes 0 and 1)."""
def interpolate(input: Operand, size: int | Ints | None = None, scale_factor: Any = None, mode: str = 'nearest', align_corners: bool | None = None, recompute_scale_factor: bool | None = None, antialias: bool = False) -> Tensor:
    """Axes from 2 on resampled: "nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear", "area"."""
def kl_div(input: Operand, target: Operand, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean', log_target: bool = False) -> Tensor:
    """target (log target - input) entry by entry, ``input`` being a logarithm."""
def l1_loss(input: Operand, target: Operand, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean', *args: Any, weight: Operand | None = None, **options: Any) -> Tensor:
    """Absolute differences."""
def layer_norm(input: Operand, normalized_shape: Sequence[int], weight: Operand | None = None, bias: Operand | None = None, eps: float = 1e-05) -> Tensor:
    """Mean 0 and variance 1 over the last axes, then times ``weight`` plus ``bias``."""
def leaky_relu(input: Operand, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """``input`` above 0, negative_slope · input below."""
def leaky_relu_(input: Operand, *args: Number, **options: Any) -> Tensor:
    """``leaky_relu`` in place."""
def linear(input: Operand, weight: Operand, bias: Operand | None = None, *, out: Tensor | None = None) -> Tensor:
    """input @ weightᵀ + bias, for ``input`` (…, in), ``weight`` (out, in) or (in,), and ``bias`` (out,)."""
def linear_cross_entropy(input: Operand, linear_weight: Operand, target: Operand, *, linear_bias: Operand | None = None, weight: Operand | None = None, reduction: str = 'mean', ignore_index: int | None = None, label_smoothing: float = 0.0, options: None = None) -> Tensor:
    """:func:`cross_entropy` of ``input @ linear_weightᵀ + linear_bias``, the last layer of a classifier with its loss."""
def local_response_norm(input: Operand, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """input / (k + alpha · mean of squares over ``size`` neighbouring channels)^beta."""
def log_softmax(input: Operand, dim: int | None = None, dtype: DType | None = None) -> Tensor:
    """log_softmax along ``dim``, computed in ``dtype`` if given."""
def logsigmoid(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """log of the logistic function."""
def lp_pool1d(input: Operand, norm_type: float, kernel_size: int | Ints, stride: int | Ints | None = None, ceil_mode: bool = False) -> Tensor:
    """``norm_type``-norms of windows over the last 1 axes."""
def lp_pool2d(input: Operand, norm_type: float, kernel_size: int | Ints, stride: int | Ints | None = None, ceil_mode: bool = False) -> Tensor:
    """``norm_type``-norms of windows over the last 2 axes."""
def lp_pool3d(input: Operand, norm_type: float, kernel_size: int | Ints, stride: int | Ints | None = None, ceil_mode: bool = False) -> Tensor:
    """``norm_type``-norms of windows over the last 3 axes."""
def margin_ranking_loss(input1: Operand, input2: Operand, target: Operand, margin: float = 0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """max(0, -target (input1 - input2) + margin)."""
def max_pool1d(input: Operand, kernel_size: int | Ints, stride: int | Ints | None = None, padding: int | Ints = 0, dilation: int | Ints = 1, ceil_mode: bool = False, return_indices: bool = False) -> Tensor:
    """Largest entries of windows over the last 1 axes; the first of equal ones."""
def max_pool1d_with_indices(input: Operand, *args: Any, **options: Any) -> tuple[Tensor, Tensor]:
    """``max_pool1d`` and the flat places of the entries."""
def max_pool2d(input: Operand, kernel_size: int | Ints, stride: int | Ints | None = None, padding: int | Ints = 0, dilation: int | Ints = 1, ceil_mode: bool = False, return_indices: bool = False) -> Tensor:
    """Largest entries of windows over the last 2 axes; the first of equal ones."""
def max_pool2d_with_indices(input: Operand, *args: Any, **options: Any) -> tuple[Tensor, Tensor]:
    """``max_pool2d`` and the flat places of the entries."""
def max_pool3d(input: Operand, kernel_size: int | Ints, stride: int | Ints | None = None, padding: int | Ints = 0, dilation: int | Ints = 1, ceil_mode: bool = False, return_indices: bool = False) -> Tensor:
    """Largest entries of windows over the last 3 axes; the first of equal ones."""
def max_pool3d_with_indices(input: Operand, *args: Any, **options: Any) -> tuple[Tensor, Tensor]:
    """``max_pool3d`` and the flat places of the entries."""
def max_unpool1d(input: Operand, indices: Operand, kernel_size: int | Ints, stride: int | Ints | None = None, padding: int | Ints = 0, output_size: Any = None) -> Tensor:
    """Entries put back where ``max_pool1d`` found them, zeros elsewhere."""
def max_unpool2d(input: Operand, indices: Operand, kernel_size: int | Ints, stride: int | Ints | None = None, padding: int | Ints = 0, output_size: Any = None) -> Tensor:
    """Entries put back where ``max_pool2d`` found them, zeros elsewhere."""
def max_unpool3d(input: Operand, indices: Operand, kernel_size: int | Ints, stride: int | Ints | None = None, padding: int | Ints = 0, output_size: Any = None) -> Tensor:
    """Entries put back where ``max_pool3d`` found them, zeros elsewhere."""
def mish(input: Operand, inplace: bool = False) -> Tensor:
    """input · tanh(softplus(input))."""
def mish_(input: Operand, *args: Any, **options: Any) -> Tensor:
    """``mish`` in place."""
def mse_loss(input: Operand, target: Operand, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean', *args: Any, weight: Operand | None = None, **options: Any) -> Tensor:
    """Squared differences, averaged, summed or as they are."""
def multi_head_attention_forward(query: Operand, key: Operand, value: Operand, embed_dim_to_check: int, num_heads: int, in_proj_weight: Operand, in_proj_bias: Operand, bias_k: Operand, bias_v: Operand, add_zero_attn: bool, dropout_p: float, out_proj_weight: Operand, out_proj_bias: Operand, training: bool = True, key_padding_mask: Operand | None = None, need_weights: bool = True, attn_mask: Operand | None = None, use_separate_proj_weight: bool = False, q_proj_weight: Operand | None = None, k_proj_weight: Operand | None = None, v_proj_weight: Operand | None = None, static_k: Operand | None = None, static_v: Operand | None = None, average_attn_weights: bool = True, is_causal: bool = False) -> tuple[Tensor, Tensor]:
    """Attention with several heads over sequences (length, batch, features); returns (output, weights or None)."""
def multi_margin_loss(input: Operand, target: Operand, p: int = 1, margin: float = 1.0, weight: Operand | None = None, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """Σ max(0, margin - x_target + x_i)^p over the other classes, divided by their number."""
def multilabel_margin_loss(input: Operand, target: Operand, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """Σ max(0, 1 - x_label + x_i) over labels (up to the first -1) and other classes, divided by their number."""
def multilabel_soft_margin_loss(input: Operand, target: Operand, weight: Operand | None = None, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """The mean over classes of -[target log σ(input) + (1 - target) log σ(-input)]."""
def nll_loss(input: Operand, target: Operand, weight: Operand | None = None, size_average: bool | None = None, ignore_index: int = -100, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """-input at the target class (axis 1, or the only axis), weighted by class; "mean" divides by the weights' sum."""
def normalize(input: Operand, p: float = 2.0, dim: int | Ints = 1, eps: float = 1e-12, *, out: Tensor | None = None) -> Tensor:
    """``input`` divided by its p-norm along ``dim``, which is taken as at least ``eps``."""
def one_hot(input: Operand, num_classes: int = -1) -> Tensor:
    """Class numbers as rows with a single 1: shape (…,) becomes (…, num_classes), dtype int64."""
def pad(input: Operand, pad: Sequence[int], mode: str = 'constant', value: Operand | None = None) -> Tensor:
    """A border of a constant, of mirrored entries ("reflect"), of the edge ("replicate") or around ("circular")."""
def pairwise_distance(x1: Operand, x2: Operand, p: float = 2.0, eps: float = 1e-06, keepdim: bool = False) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last axis."""
def pdist(input: Operand, p: float = 2.0) -> Tensor:
    """p-norm distances between all pairs of rows, as one vector."""
def pixel_shuffle(input: Operand, upscale_factor: int) -> Tensor:
    """(…, c r², h, w) becomes (…, c, h r, w r)."""
def pixel_unshuffle(input: Operand, downscale_factor: int) -> Tensor:
    """(…, c, h r, w r) becomes (…, c r², h, w)."""
def poisson_nll_loss(input: Operand, target: Operand, log_input: bool = True, full: bool = False, size_average: bool | None = None, eps: float = 1e-08, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """e^input - target input (or input - target log input), with Stirling's term for targets > 1 when ``full``."""
def prelu(input: Operand, weight: Operand) -> Tensor:
    """``input`` above 0, weight · input below; one weight, or one per channel (axis 1)."""
def relu(input: Operand, inplace: bool = False) -> Tensor:
    """max(input, 0); derivative 0 at 0."""
def relu6(input: Operand, inplace: bool = False) -> Tensor:
    """min(max(input, 0), 6); derivative 0 at both ends."""
def relu6_(input: Operand, *args: Any, **options: Any) -> Tensor:
    """``relu6`` in place."""
def relu_(input: Operand, *args: Any, **options: Any) -> Tensor:
    """``relu`` in place."""
def rms_norm(input: Operand, normalized_shape: Sequence[int], weight: Operand | None = None, eps: float | None = None) -> Tensor:
    """Divided by the root of the mean square over the last axes, then times ``weight``."""
def rrelu(input: Operand, lower: float = 0.125, upper: float = 0.3333333333333333, training: bool = False, inplace: bool = False, *, generator: Random | None = None) -> Tensor:
    """leaky_relu with a slope drawn for every entry that is not positive while training, the mean slope otherwise."""
def rrelu_(input: Operand, *args: Number | bool | Random | None, **options: Any) -> Tensor:
    """``rrelu`` in place."""
def scaled_dot_product_attention(query: Operand, key: Operand, value: Operand, attn_mask: Operand | None = None, dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False) -> Tensor:
    """softmax(query keyᵀ / √d + attn_mask) value, d being the size of the last axis of ``query``."""
def selu(input: Operand, inplace: bool = False) -> Tensor:
    """The self-normalising scale times elu (Klambauer et al. 2017)."""
def selu_(input: Operand, *args: Any, **options: Any) -> Tensor:
    """``selu`` in place."""
def sigmoid(input: Operand, inplace: bool = False) -> Tensor:
    """The logistic function 1/(1 + e^-input)."""
def sigmoid_(input: Operand, *args: Any, **options: Any) -> Tensor:
    """``sigmoid`` in place."""
def silu(input: Operand, inplace: bool = False) -> Tensor:
    """input · sigmoid(input)."""
def silu_(input: Operand, *args: Any, **options: Any) -> Tensor:
    """``silu`` in place."""
def smooth_l1_loss(input: Operand, target: Operand, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean', *args: Any, weight: Operand | None = None, **options: Any) -> Tensor:
    """d²/(2 beta) of the differences d = input - target for |d| < beta, |d| - beta/2 beyond."""
def soft_margin_loss(input: Operand, target: Operand, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean', *args: Any, weight: Operand | None = None, **options: Any) -> Tensor:
    """log(1 + e^(-target input))."""
def softmax(input: Operand, dim: int | None = None, dtype: DType | None = None) -> Tensor:
    """softmax along ``dim``, computed in ``dtype`` if given."""
def softmin(input: Operand, dim: int | None = None, dtype: DType | None = None) -> Tensor:
    """softmin along ``dim``, computed in ``dtype`` if given."""
def softplus(input: Operand, beta: float = 1, threshold: float = 20, *, out: Tensor | None = None) -> Tensor:
    """log(1 + e^(beta input)) / beta."""
def softshrink(input: Operand, lambd: float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """``input`` moved towards 0 by lambd, 0 within it."""
def softsign(input: Operand) -> Tensor:
    """input / (1 + |input|)."""
def tanh(input: Operand, inplace: bool = False) -> Tensor:
    """Hyperbolic tangent."""
def tanh_(input: Operand, *args: Any, **options: Any) -> Tensor:
    """``tanh`` in place."""
def tanhshrink(input: Operand) -> Tensor:
    """input - tanh(input)."""
def threshold(input: Operand, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """``input`` above the threshold, ``value`` elsewhere; both are integers beside integers."""
def threshold_(input: Operand, *args: Number, **options: Any) -> Tensor:
    """``threshold`` in place."""
def triplet_margin_loss(anchor: Operand, positive: Operand, negative: Operand, margin: float = 1.0, p: float = 2, eps: float = 1e-06, swap: bool = False, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin) with the p-norm distance."""
def triplet_margin_with_distance_loss(anchor: Operand, positive: Operand, negative: Operand, *, distance_function: Callable[[Any, Any], Any] | None = None, margin: float = 1.0, swap: bool = False, reduction: str = 'mean') -> Tensor:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin) with any distance."""
def unfold(input: Operand, kernel_size: int | Ints, dilation: int | Ints = 1, padding: int | Ints = 0, stride: int | Ints = 1) -> Tensor:
    """Patches of images as columns: (batch, channels · patch, places)."""
def upsample(input: Operand, size: int | Ints | None = None, scale_factor: Any = None, mode: str = 'nearest', align_corners: bool | None = None) -> Tensor:
    """The old name of ``interpolate``, with torch's warning."""
def upsample_bilinear(input: Operand, size: int | Ints | None = None, scale_factor: Any = None) -> Tensor:
    """``interpolate`` with mode "bilinear" and aligned corners, with torch's warning."""
def upsample_nearest(input: Operand, size: int | Ints | None = None, scale_factor: Any = None) -> Tensor:
    """``interpolate`` with mode "nearest", with torch's warning."""
