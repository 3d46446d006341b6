"""Examples of public functions: a call on small arguments, run when somebody reads it.

The arguments are those of the table below, or the ones that show the op on its card, or a vector for every tensor asked
for.  What is shown is what came out, and the gradient where there is one.
"""

from __future__ import annotations

import ast
import functools
import inspect
import pickle
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.commands.card import example as arguments_of
from symgrad.commands.facts import facts, op_of
from symgrad.op import FRONTS
from symgrad.random import default_generator
from symgrad.tape.modes import enable_grad

_CALLS = """
[0.5, -1.5, 2.0], 0 : softmax log_softmax softmin cumsum cumprod logcumsumexp cummax cummin normalize
[0.5, -1.5, 2.0], 1 : hsplit
[0.5, -1.5, 2.0], 2 : chunk unsafe_chunk split unsafe_split kthvalue float_power repeat repeat_interleave topk
[0.5, -1.5, 2.0], 2 : tensor_split split_copy
[0.5, -1.5, 2.0], 0.5 : quantile nanquantile
[0.5, -1.5, 2.0], 1.0 : fill
[0.5, -1.5, 2.0], (1, 2) : split_with_sizes unsafe_split_with_sizes split_with_sizes_copy
[0.5, -1.5, 2.0], (2,) : tile
[0.5, -1.5, 2.0], (1,) : sum_to_size
[0.5, -1.5, 2.0], (2, 3) : expand broadcast_to expand_copy
[0.5, -1.5, 2.0], (1, 1) : pad constant_pad_nd
[0.5, -1.5, 2.0], (3,) : layer_norm rms_norm
[0.5, -1.5, 2.0], (3,), (1,), 0 : as_strided as_strided_copy
[0.5, -1.5, 2.0], [9.0, 8.0], (2,), (1,) : as_strided_scatter
[0.5, -1.5, 2.0], 0, 1 : select select_copy
[0.5, -1.5, 2.0], 1, 0 : roll
[0.5, -1.5, 2.0], 0, 1, 2 : narrow narrow_copy slice_copy
[0.5, -1.5, 2.0], 0 : unsqueeze unsqueeze_ unsqueeze_copy
[0.5, -1.5, 2.0], (3, 1) : view_copy view reshape
[0.5, 1.5, 2.0], 1 : polygamma_
[0.5, -1.5, 2.0], 0, 2, 1 : unfold unfold_copy Tensor.unfold
[0.5, -1.5, 2.0], 0, [2, 0] : index_select gather
[0.5, -1.5, 2.0], 0, [2, 0], [9.0, 8.0] : scatter scatter_add index_add index_copy
[0.5, -1.5, 2.0], 0, [2, 0], [9.0, 8.0], "prod" : scatter_reduce index_reduce
[0.5, -1.5, 2.0], 0, [2, 0], 9.0 : index_fill
[0.5, -1.5, 2.0], ([2, 0],), [9.0, 8.0] : index_put
[0.5, -1.5, 2.0], [2, 0], [9.0, 8.0] : put
[0.5, -1.5, 2.0], [2, 0] : take
[0.5, -1.5, 2.0], [2, 0], 0 : take_along_dim
[0.5, -1.5, 2.0], sg.tensor(9.0), 0, 1 : select_scatter
[0.5, -1.5, 2.0], [9.0, 8.0], 0, 1 : slice_scatter
[0.5, -1.5, 2.0], [True, False, True] : masked_select
[0.5, -1.5, 2.0], [True, False, True], 9.0 : masked_fill
[0.5, -1.5, 2.0], [True, False, True], [9.0, 8.0] : masked_scatter
[0.5, -1.5, 2.0], 0.1, 20.0 : threshold threshold_
[0.5, -1.5, 2.0], 0.5, True : dropout
[0.5, -1.5, 2.0] : nn.functional.dropout
[0.5, -1.5, 2.0], 0.5, True : dropout_ alpha_dropout_ native_dropout
[[0.5, -1.5], [2.0, 1.0]], 0.5, True : feature_dropout feature_dropout_ feature_alpha_dropout_
[6, 4, 9], [2, 3, 1] : gcd_ lcm_
[[[1.0]], [[2.0]], [[4.0]]], [[[1.0]], [[-1.0]]], [0.5] : conv_tbc
[[2.0, 1.0], [1.0, 3.0]], 1 : frobenius_norm
[0.5, -1.5, 2.0], [1.0, 2.0, 4.0], True, False, 1e-08, 1 : poisson_nll_loss
[0.5, -1.5, 2.0], 2, 0 : masked.normalize nn.functional.normalize
[0.5, -1.5, 2.0], -1.0, 1.0 : clip clamp
[0.5, -1.5, 2.0], [1.0, 2.0, 4.0], 0 : cosine_similarity
[0.5, -1.5, 2.0], [2, 0, 1] : ldexp
[0.5, 1.5, 2.0] : y0 y1 k0 k1 k0e k1e bessel_y0 bessel_y1 modified_bessel_k0 modified_bessel_k1
[0.5, 1.5, 2.0] : scaled_modified_bessel_k0 scaled_modified_bessel_k1 exp1 sici factorial
[0.5, 1.5, 2.0], [1.0, 2.0, 4.0] : igamma igammac gammainc gammaincc
[0.5, float("nan"), float("inf")] : isnan isinf isfinite isposinf isneginf isreal nan_to_num nansum nanmean nanmedian
[0.5, -1.5, 2.0], [1.0, 2.0, 4.0], [2.0, 4.0, 8.0] : addcmul addcdiv triplet_margin_loss
[0.5, -1.5, 2.0], [1.0, 2.0, 4.0], [2.0, 4.0, 8.0] : triplet_margin_with_distance_loss
[0.5, -1.5, 2.0], [1.0, 2.0, 4.0], 0.25 : lerp
[0.5, -1.5, 2.0], 0, (1, 3) : unflatten
[0.5, -1.5, 2.0], [1.0, 2.0, 4.0], reduction="sum" : nn.functional.kl_div
[0.5, -1.5, 2.0], [1.0, 2.0, 4.0] : dist outer ger vdot dot inner vecdot pairwise_distance kl_div
[0.5, -1.5, 2.0], [1.0, 2.0, 4.0] : mse_loss l1_loss smooth_l1_loss huber_loss poisson_nll_loss cross gaussian_nll_loss
[0.5, -1.5, 2.0], [1.0, 2.0, 4.0], [1.0, 0.5, 2.0] : gaussian_nll_loss
[0.5, -1.5, 2.0], [1.0, 2.0, 4.0], [1.0, -1.0, 1.0] : margin_ranking_loss
[0.5, -1.5, 2.0], [1.0, -1.0, 1.0] : soft_margin_loss hinge_embedding_loss
[0.5, -1.5, 2.0], [1.0, 0.0, 1.0] : binary_cross_entropy_with_logits multilabel_soft_margin_loss
[0.5, 0.25, 0.75], [1.0, 0.0, 1.0] : binary_cross_entropy
[0.5, 0.25, 0.75] : bernoulli logit ndtri erfinv
[0.5, -1.5, 2.0], [2, 0, -1] : multilabel_margin_loss
[0.5, -1.5, 2.0], 3 : vander
[0.5, 0.25, 0.75], 2 : mvlgamma multigammaln
[0.5, -0.25, 0.75], 3 : chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w
[0.5, -0.25, 0.75], 3 : shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v
[0.5, -0.25, 0.75], 3 : shifted_chebyshev_polynomial_w legendre_polynomial_p laguerre_polynomial_l
[0.5, -0.25, 0.75], 3 : hermite_polynomial_h hermite_polynomial_he
[2.5, 3.0, 4.5], 2 : mvlgamma multigammaln
[0.5, 2.0], [0.1, 3.0] : complex polar
[6, 4, 9], [2, 3, 1] : bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift gcd lcm
[6, 4, 9] : bitwise_not bincount
[6, 4, 9], [4, 5] : isin
[0.5, -1.5, 2.0], 4 : histc
[2.0, 2.0, 0.5] : unique unique_consecutive
[[0.5, -1.5, 2.0]] : squeeze
[6, 4, 9], (2, 5) : unravel_index
[[2.0, 1.0], [1.0, 3.0]] : t adjoint mT fliplr flipud rot90 cov corrcoef nuclear_norm cond trace triu tril logdet
[[2.0, 1.0], [1.0, 3.0]] : matrix_norm matrix_rank slogdet lu lu_factor lu_factor_ex ldl_factor ldl_factor_ex pinverse
[[2.0, 1.0], [1.0, 3.0]] : msort diag_embed pdist svd_lowrank pca_lowrank argwhere diagonal diagonal_copy svd qr
[[3.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0]] : lobpcg
[[2.0, 1.0], [1.0, 3.0]] : cholesky fft2 ifft2 rfft2 irfft2 hfft2 ihfft2
[2.0, 1.0, 3.0] : linalg.vander
[[2.0, 1.0], [1.0, 3.0]], 2 : matrix_power vsplit
[[2.0, 1.0], [1.0, 3.0]], (1, 0) : permute permute_copy
[[2.0, 1.0], [1.0, 3.0]], 0, 1 : transpose swapaxes swapdims movedim moveaxis transpose_copy
[[2.0, 1.0], [1.0, 3.0]], (0,) : flip
[[2.0, 1.0], [1.0, 3.0]], [9.0, 8.0] : diagonal_scatter
[[2.0, 1.0], [1.0, 3.0]], 2, 0, 1.0 : renorm
[[2.0, 1.0], [1.0, 3.0]], [[2.0, 0.0], [1.0, 4.0]] : mm spmm dsmm matmul kron chain_matmul cdist
[[2.0, 1.0], [1.0, 3.0]], [1.0, 2.0] : mv
[[2.0, 1.0], [1.0, 3.0]], [1.0, 2.0] : solve tensorsolve
[[2.0, 1.0], [1.0, 3.0]], [[1.0], [2.0]] : lstsq solve_ex
[[2.0, 0.0], [1.0, 3.0]] : cholesky_inverse
[[1.0], [2.0]], [[2.0, 0.0], [1.0, 3.0]] : cholesky_solve
[[1.0], [2.0]], [[2.0, 1.0], [0.0, 3.0]] : triangular_solve
[[1.0], [2.0]], [[2.0, 1.0], [0.5, 2.5]], sg.arange(1, 3, dtype=sg.int32) : lu_solve
[[2.0, 1.0], [0.5, 2.5]], sg.arange(1, 3, dtype=sg.int32) : lu_unpack
[[2.0, 1.0], [0.5, 2.5]], sg.arange(1, 3, dtype=sg.int32), [[1.0], [2.0]] : linalg.lu_solve
[[2.0, 0.0], [0.5, 2.5]], sg.arange(1, 3, dtype=sg.int32), [[1.0], [2.0]] : ldl_solve
[[2.0, 1.0], [0.0, 3.0]], [[1.0], [2.0]], upper=True : solve_triangular
[[2.0, 1.0], [0.5, 2.5]], [1.5, 0.0] : householder_product orgqr
[[2.0, 1.0], [0.5, 2.5]], [1.5, 0.0], [[1.0], [2.0]] : ormqr
[[2.0, 1.0], [1.0, 3.0]], [[2.0, 0.0], [1.0, 4.0]], 1 : tensordot
[[0.0, 0.0], [0.0, 0.0]], [[2.0, 1.0], [1.0, 3.0]], [[2.0, 0.0], [1.0, 4.0]] : addmm sspaddmm
[0.5, -1.5], [[2.0, 1.0], [1.0, 3.0]], [1.0, 2.0] : addmv
[[0.0, 0.0], [0.0, 0.0]], [0.5, -1.5], [1.0, 2.0] : addr
[[0.0]], [[[2.0, 1.0]]], [[[1.0], [3.0]]] : addbmm
[[[0.0]]], [[[2.0, 1.0]]], [[[1.0], [3.0]]] : baddbmm
[[[2.0, 1.0]]], [[[1.0], [3.0]]] : bmm
([0.5, -1.5], [1.0, 2.0]) : cat concat concatenate stack hstack vstack dstack column_stack row_stack
[0.5, -1.5], [1.0, 2.0] : atleast_1d atleast_2d atleast_3d block_diag meshgrid cartesian_prod broadcast_tensors
([[2.0, 1.0], [1.0, 3.0]], [[2.0, 0.0], [1.0, 4.0]]) : multi_dot
[[[0.5, -1.5, 2.0, 1.0]]], 2 : adaptive_max_pool1d_with_indices
[[[0.5, -1.5, 2.0, 1.0]]], 2 : max_pool1d avg_pool1d max_pool1d_with_indices adaptive_avg_pool1d adaptive_max_pool1d
[[[0.5, -1.5, 2.0, 1.0]]], 2 : local_response_norm channel_shuffle
[[[0.5, -1.5, 2.0, 1.0]]], 2, 2 : lp_pool1d
[[[0.5, -1.5, 2.0, 1.0]]], [[[1.0, -1.0]]] : conv1d conv_transpose1d
[[[0.5, 2.0]]], [[[1, 2]]], 2 : max_unpool1d
[[[[0.5, -1.5], [2.0, 1.0]]]], 2 : max_pool2d avg_pool2d max_pool2d_with_indices pixel_unshuffle nn.functional.unfold
[[[[0.5, -1.5], [2.0, 1.0]]]], 1 : adaptive_max_pool2d_with_indices
[[[[0.5, -1.5], [2.0, 1.0]]]], 1 : adaptive_avg_pool2d adaptive_max_pool2d channel_shuffle
[[[[0.5, -1.5], [2.0, 1.0]]]], 2, 2 : lp_pool2d
[[[[0.5, -1.5], [2.0, 1.0]]]], [[[[1.0, -1.0]]]] : conv2d conv_transpose2d
[[[[2.0]]]], [[[[3]]]], 2 : max_unpool2d
[[[[0.5, -1.5, 2.0], [1.0, 3.0, -1.0], [0.0, 4.0, -2.0]]]], 2, output_size=1 : fractional_max_pool2d
[[[[[0.5, -1.5], [2.0, 1.0]], [[3.0, 0.0], [-1.0, 4.0]]]]], 2 : max_pool3d avg_pool3d max_pool3d_with_indices
[[[[[0.5, -1.5], [2.0, 1.0]], [[3.0, 0.0], [-1.0, 4.0]]]]], 1 : adaptive_max_pool3d_with_indices
[[[[[0.5, -1.5], [2.0, 1.0]], [[3.0, 0.0], [-1.0, 4.0]]]]], 1 : adaptive_avg_pool3d adaptive_max_pool3d
[[[[[0.5, -1.5], [2.0, 1.0]], [[3.0, 0.0], [-1.0, 4.0]]]]], 1, output_size=1 : fractional_max_pool3d
[[[[[0.5, -1.5], [2.0, 1.0]], [[3.0, 0.0], [-1.0, 4.0]]]]], 2, 2 : lp_pool3d
[[[[[0.5, -1.5], [2.0, 1.0]]]]], [[[[[1.0, -1.0]]]]] : conv3d conv_transpose3d
[[[[[2.0]]]]], [[[[[3]]]]], 2 : max_unpool3d
[[[[0.5]], [[-1.5]], [[2.0]], [[1.0]]]], 2 : pixel_shuffle
[[0.5], [-1.5], [2.0], [1.0]], (2, 2), 2 : fold
[[[[0.5, -1.5], [2.0, 1.0]]]], [[[[0.0, 0.5]]]], align_corners=True : grid_sample
[[[[0.5, -1.5], [2.0, 1.0]]]], [[[[0.0, 0.5]]]], 0, 0, True : grid_sampler grid_sampler_2d
[[[[[0.5, -1.5], [2.0, 1.0]]]]], [[[[[0.0, 0.5, 0.0]]]]], 0, 0, True : grid_sampler_3d
[[[1.0, 0.0, 0.5], [0.0, 1.0, 0.0]]], (1, 1, 2, 2), align_corners=True : affine_grid
[[[[0.5, -1.5], [2.0, 1.0]]]], scale_factor=2 : interpolate upsample upsample_nearest
[[[[0.5, -1.5], [2.0, 1.0]]]], (3, 3) : upsample_bilinear
[[0.5, -1.5], [2.0, 1.0]], 1 : group_norm
[[0.5, -1.5], [2.0, 1.0]], 2 : glu
[[0.5, -1.5], [2.0, 1.0]] : glu instance_norm
[[[0.5, -1.5], [2.0, 1.0]]] : instance_norm dropout1d
[[[[0.5, -1.5], [2.0, 1.0]]]] : dropout2d dropout3d
[[0.5, -1.5], [2.0, 1.0]], None, None, None, None, True, 0.1, 1e-05 : batch_norm
[[[0.5, -1.5], [2.0, 1.0]]], None, None, None, None, True, 0.1, 1e-05 : instance_norm
[[0.5, -1.5], [2.0, 1.0]], [0.0, 0.0], [1.0, 1.0] : nn.functional.batch_norm
[[[0.5, -1.5], [2.0, 1.0]]] : nn.functional.instance_norm
[[0.5, -1.5, 2.0], [1.0, 0.0, 3.0]], [2, 0] : cross_entropy nll_loss multi_margin_loss
[[[-0.5, -0.9328]], [[-1.2, -0.3584]]], [[1]], [2], [1] : ctc_loss
[[0.5, -1.5]], [[1.0, 2.0]], [[[1.0, 0.0], [0.0, 1.0]]] : bilinear
[[0.5, -1.5]], [[1.0, 2.0]], [1] : cosine_embedding_loss
[[0.5, -1.5]], [[1.0, 2.0]] : linear
[[0.5, -1.5]], [0.25] : prelu
[[0.5, -1.5], [2.0, 1.0]], [1, 0] : embedding
[1, 0], [[0.5, -1.5], [2.0, 1.0]] : nn.functional.embedding
[[1, 0]], [[0.5, -1.5], [2.0, 1.0]] : embedding_bag
[1, 0] : one_hot
[[0.5, -1.5]], [[1.0, 2.0]], [[3.0, 4.0]] : scaled_dot_product_attention
[0.5, -1.5, 2.0, 1.0], 4, return_complex=True, window=[1.0, 1.0, 1.0, 1.0] : stft
[[1.0 + 0j], [0j], [1.0 + 0j]], 4, center=False : istft
[[[0.5, -1.5]]], 2 : dsplit
[[[0.5, -1.5]], [[2.0, 1.0]]], 2 : tensorinv
"ij,j->i", [[2.0, 1.0], [1.0, 3.0]], [1.0, 2.0] : einsum
[True, False, True], [0.5, -1.5, 2.0], 0.0 : where
[1 + 2j, 3 - 1j] : view_as_real view_as_real_copy conj conj_physical resolve_conj real imag angle
[[1.0, 2.0], [3.0, -1.0]] : view_as_complex view_as_complex_copy
[1.0, 3.0, 5.0], [2.0, 4.0] : searchsorted
[2.0, 4.0], [1.0, 3.0, 5.0] : bucketize
[0.14, 0.76], 0.1, 0, -8, 7 : fake_quantize_per_tensor_affine
[0.5, -1.5], 1.0, 2.0 : normal_ uniform_
[0.5, -1.5], 1.0, 2.0 : cauchy_ log_normal_
[0.5, -1.5, 2.0], (2, 2) : resize_ Tensor.new_empty Tensor.new_ones Tensor.new_zeros
[0.5, -1.5, 2.0], (2, 2), (1, 2) : Tensor.new_empty_strided
[0.5, -1.5, 2.0], 7.0 : Tensor.full_like
[0.5, -1.5, 2.0], [9.0, 8.0] : Tensor.new resize_as_
[0.5, -1.5, 2.0], [True, False, True], 0.0 : Tensor.where
(2, 3) : zeros ones empty rand randn
[2.0] : Tensor.is_nonzero
[[0.5, -1.5, 2.0]], (0, 1) : Tensor.sizes
"cpu" : is_autocast_enabled get_autocast_dtype
[2.0], [3.0], [0.25] : betaincc gdtr gdtrc
[2.0], [3.0] : chdtr chdtrc
[4.5], [2.0] : binom
1, [0.5, 1.5, 2.0] : pdtr pdtrc expn spherical_jn spherical_yn polygamma
1, 2.0, [0.25, 0.5] : bdtr bdtrc nbdtr
[0.5], [0.25] : ellipj rel_entr special.kl_div inv_boxcox inv_boxcox1p
0.5, [0.5, 1.5, 2.0] : iv ive kve
[0.5], [1.0], [0.5] : voigt_profile
5 : hann hamming blackman nuttall hann_window hamming_window blackman_window bartlett_window kaiser_window
"""
"""Arguments, and who is called with them: by name, or by namespace and name where those of other rooms differ.

A list stands for a tensor; a line further down goes before one further up.
"""

_VECTOR = "[0.5, -1.5, 2.0]"
_OTHER = "[1.0, 2.0, 4.0]"
_MATRIX = "[[2.0, 1.0], [1.0, 3.0]]"


@functools.cache
def _calls() -> dict[str, str]:
    """The table of arguments, by name."""
    found: dict[str, str] = {}
    for line in _CALLS.strip().splitlines():
        arguments, _, names = line.rpartition(" : ")
        found.update(dict.fromkeys(names.split(), arguments))
    return found


def described(text: str, place: str, function: Callable[..., Any]) -> str:
    """A docstring with what the table and torch's signatures say of the function, and an example."""
    words, prompt, shown = inspect.cleandoc(text).partition(">>>")
    made = prompt + shown if prompt else example(place, function)
    return "\n\n".join(filter(None, (words.rstrip(), facts(place.removeprefix("symgrad."), function), made)))


def example(place: str, function: Callable[..., Any]) -> str | None:
    """An example of a public function, as the prompt shows it; None where none is known.

    >>> import symgrad as sg
    >>> example("symgrad.square", sg.square).splitlines()[-2:]
    ['>>> x.grad', 'tensor([1.])']
    """
    arguments = _arguments(place.removeprefix("symgrad."), function)
    if arguments is None:
        return None
    state = default_generator.get_state()
    try:
        for tracked in (True, False):
            shown = _told(_statements(place, arguments, tracked), tracked)
            if shown is not None:
                return shown
    finally:
        default_generator.set_state(state)
    return None


def _arguments(place: str, function: Callable[..., Any]) -> str | None:
    """The arguments of a call as program text, with lists for tensors."""
    name = place.rpartition(".")[2]
    for key in (place, name, name.removesuffix("_")):
        if key in _calls():
            return _calls()[key]
    front, op = FRONTS.get(name.removesuffix("_")), op_of(place)
    if op is not None:
        values, params = arguments_of(op)
        if not params:
            return ", ".join(f"[{np.asarray(value).tolist()!r}]" for value in values)
    try:
        given = inspect.signature(front.call if front and name.endswith("_") else function).parameters.values()
    except ValueError:
        return None
    if not given:
        return ""
    asked = [p for p in given if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if len(asked) > 2 or (len(asked) == 2 and asked[1].name != "other"):
        return None
    first = _MATRIX if asked and asked[0].name == "A" else _VECTOR
    return first if len(asked) < 2 else f"{first}, {_OTHER}"


class _Tensors(ast.NodeTransformer):
    """Lists as calls of ``sg.tensor``."""

    def visit_List(self, node: ast.List) -> ast.AST:
        return ast.Call(ast.parse("sg.tensor", mode="eval").body, [node], [])


def _statements(place: str, arguments: str, tracked: bool) -> list[str]:
    """The lines of an example: ``x``, which requires grad where it is ``tracked``, and ``y``, what is made of it."""
    call = ast.parse(f"f({arguments})", mode="eval").body
    assert isinstance(call, ast.Call)
    given = [ast.unparse(_Tensors().visit(argument)) for argument in call.args]
    options = [ast.unparse(_Tensors().visit(keyword)) for keyword in call.keywords]
    lines = []
    if given and given[0].startswith("sg.tensor("):
        lines.append(f"x = {given[0].removesuffix(')')}{', requires_grad=True' if tracked else ''})")
        given[0] = "x"
    if place.startswith("Tensor."):
        name = f"{given.pop(0)}.{place.removeprefix('Tensor.')}"
    else:
        name = f"sg.{place.removeprefix('symgrad.')}"
    return [*lines, f"y = {name}({', '.join([*given, *options])})", "y"]


def _told(lines: list[str], tracked: bool) -> str | None:
    """The lines with what each of them shows; None where one of them fails, or where nothing tells the story."""
    scope: dict[str, Any] = {"sg": sys.modules["symgrad"]}
    try:
        with warnings.catch_warnings(), enable_grad():
            warnings.simplefilter("ignore")
            before = pickle.dumps(default_generator.get_state())
            told = _session(lines, scope)
            if before != pickle.dumps(default_generator.get_state()):  # it draws: from numbers that all readers have
                lines = ["_ = sg.manual_seed(0)", *lines]
                told = _session(lines, scope)
            y = scope["y"]
            if y is None or " at 0x" in repr(y) or (tracked and not getattr(y, "requires_grad", False)):
                return None
            if tracked:
                told += _session(["y.sum().backward()" if y.ndim else "y.backward()", "x.grad"], scope)
    except Exception:  # noqa: BLE001  (whatever a function refuses: the next form of the example is tried)
        return None
    return "\n".join([">>> import symgrad as sg", *told])


def _session(lines: list[str], scope: dict[str, Any]) -> list[str]:
    """What stands on the screen after the lines were typed at the prompt."""
    told = []
    for line in lines:
        told.append(f">>> {line}")
        if line.isidentifier() or line == "x.grad":
            shown = repr(eval(line, scope))  # noqa: S307  (the library's own text, from the table above)
            told.append(shown.replace("\n\n", "\n<BLANKLINE>\n"))
        else:
            exec(line, scope)  # noqa: S102
    return told
