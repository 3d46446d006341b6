"""symgrad: derivatives as numbers and as exact formulas, side by side."""

# Written by ``python -m tests.typed.stubs`` from the functions themselves, which are what to change.

from builtins import bool as _bool, float as _float, int as _int
from collections.abc import Sequence
from symgrad.dtype_objects import dtype as _dtype
from symgrad.tensor.kinds import DType, Device, Ints, Layout, Number, Operand, Random
from typing import Any, Literal, overload

BFloat16Tensor: type[Tensor]
BoolTensor: type[Tensor]
ByteTensor: type[Tensor]
CharTensor: type[Tensor]
ComplexDoubleTensor: type[Tensor]
ComplexFloatTensor: type[Tensor]
DoubleTensor: type[Tensor]
FloatTensor: type[Tensor]
from symgrad.futures import Future as Future
from symgrad.random import Generator as Generator
from symgrad.amp import GradScaler as GradScaler
HalfTensor: type[Tensor]
IntTensor: type[Tensor]
LongTensor: type[Tensor]
from symgrad.errors import OutOfMemoryError as OutOfMemoryError
ShortTensor: type[Tensor]
from symgrad.tensor.facts import Shape
Size = Shape
from symgrad.tensor.tensor import Tensor as Tensor
from symgrad.autograd import Variable as Variable
__version__: str
def abs(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Absolute value; derivative 0 at 0."""
def abs_(input: Operand) -> Tensor: ...
def absolute(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Absolute value; derivative 0 at 0."""
from symgrad.backends import accelerator as accelerator
def acos(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse cosine."""
def acos_(input: Operand) -> Tensor: ...
def acosh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse hyperbolic cosine."""
def acosh_(input: Operand) -> Tensor: ...
def adaptive_avg_pool1d(input: Operand, output_size: _int | Ints, *, out: Tensor | None = None) -> Tensor:
    """Means over cells, as many as asked for."""
def adaptive_max_pool1d(input: Operand, output_size: _int | Ints, return_indices: _bool = False, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, Tensor]:
    """``adaptive_max_pool1d`` and the flat places of the entries."""
def add(input: Operand, other: Operand, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """input + alpha * other."""
def addbmm(input: Operand, batch1: Operand, batch2: Operand, *, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """beta · input + alpha · (the sum over the batch of batch1 @ batch2)."""
def addcdiv(input: Operand, tensor1: Operand, tensor2: Operand, *, value: Number = 1, out: Tensor | None = None) -> Tensor:
    """input + value · tensor1 / tensor2."""
def addcmul(input: Operand, tensor1: Operand, tensor2: Operand, *, value: Number = 1, out: Tensor | None = None) -> Tensor:
    """input + value · tensor1 · tensor2."""
def addmm(input: Operand, mat1: Operand, mat2: Operand, *, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """beta · input + alpha · (mat1 @ mat2) of matrices."""
def addmv(input: Operand, mat: Operand, vec: Operand, *, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """beta · input + alpha · (mat @ vec)."""
def addmv_(input: Operand, mat: Operand, vec: Operand, *, beta: Number = 1, alpha: Number = 1) -> Tensor: ...
def addr(input: Operand, vec1: Operand, vec2: Operand, *, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """beta · input + alpha · vec1 vec2ᵀ."""
def adjoint(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Conjugate transpose of the last two axes: ``x.mH``."""
def alias_copy(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """A copy of what ``alias`` shows of ``input``, in memory of its own, row by row."""
def all(input: Operand, dim: Ints | _int | None = None, keepdim: _bool = False, *, out: Tensor | None = None, axis: Ints | _int | None = ..., keepdims: _bool = ...) -> Tensor:
    """Whether no entry along ``dim`` (of all, by default) is zero."""
def allclose(input: Operand, other: Operand, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> _bool:
    """Whether all entries are close; see :func:`isclose`."""
def alpha_dropout(input: Operand, p: _float = 0.5, training: _bool = False, inplace: _bool = False, *, generator: Random | None = None) -> Tensor:
    """Dropout that keeps mean 0 and variance 1 of self-normalising networks (Klambauer et al. 2017)."""
def alpha_dropout_(input: Operand, p: _float = 0.5, training: _bool = False, *, generator: Random | None = None) -> Tensor:
    """``alpha_dropout`` in place."""
def amax(input: Operand, dim: _int | Ints | None = (), keepdim: _bool = False, *, out: Tensor | None = None, axis: _int | Ints | None = ..., keepdims: _bool = ...) -> Tensor:
    """Largest entry over axes; ties share the gradient equally."""
def amin(input: Operand, dim: _int | Ints | None = (), keepdim: _bool = False, *, out: Tensor | None = None, axis: _int | Ints | None = ..., keepdims: _bool = ...) -> Tensor:
    """Smallest entry over axes; ties share the gradient equally."""
def aminmax(input: Operand, *, dim: _int | None = None, keepdim: _bool = False, out: Sequence[Tensor] | None = None, axis: _int | None = ..., keepdims: _bool = ...) -> return_types.aminmax:
    """The pair (min, max) of all entries or along ``dim``; ties share the gradient equally."""
from symgrad import amp as amp
def angle(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """The angle of a complex number; 0 or π for real ones, derivative 0 there and at 0."""
def any(input: Operand, dim: Ints | _int | None = None, keepdim: _bool = False, *, out: Tensor | None = None, axis: Ints | _int | None = ..., keepdims: _bool = ...) -> Tensor:
    """Whether some entry along ``dim`` (of all, by default) is not zero."""
from symgrad.tensor.ranges import arange as arange
def arccos(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse cosine."""
def arccos_(input: Operand) -> Tensor: ...
def arccosh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse hyperbolic cosine."""
def arccosh_(input: Operand) -> Tensor: ...
def arcsin(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse sine."""
def arcsin_(input: Operand) -> Tensor: ...
def arcsinh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse hyperbolic sine."""
def arcsinh_(input: Operand) -> Tensor: ...
def arctan(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse tangent."""
def arctan2(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """The angle of the point (other, input), which is arctan(input/other) turned into its quadrant; derivatives 0 at the origin."""
def arctan_(input: Operand) -> Tensor: ...
def arctanh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse hyperbolic tangent."""
def arctanh_(input: Operand) -> Tensor: ...
from symgrad.switches import are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled
def argmax(input: Operand, dim: _int | None = None, keepdim: _bool = False, *, out: Tensor | None = None, axis: _int | None = ..., keepdims: _bool = ...) -> Tensor:
    """The place of the largest entry along ``dim``, or of the flattened input without it, the first of equal ones; no derivative."""
def argmin(input: Operand, dim: _int | None = None, keepdim: _bool = False, *, out: Tensor | None = None, axis: _int | None = ..., keepdims: _bool = ...) -> Tensor:
    """The place of the smallest entry along ``dim``, or of the flattened input without it, the first of equal ones; no derivative."""
def argsort(input: Operand, dim: _int = -1, descending: _bool = False, stable: _bool = False, *, out: Tensor | None = None, axis: _int = ...) -> Tensor:
    """The places that sort an axis."""
def argwhere(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Places of the entries that are not zero: shape (count, ndim)."""
from symgrad import array_api as array_api
def as_strided(input: Operand, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None, *, out: Tensor | None = None) -> Tensor:
    """The entries at the places ``storage_offset`` + Σ i_k · ``stride``_k of the memory that ``input`` lies in."""
def as_strided_(input: Operand, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None) -> Tensor: ...
def as_strided_copy(input: Operand, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None, *, out: Tensor | None = None) -> Tensor:
    """A copy of what ``as_strided`` shows of ``input``, in memory of its own, row by row."""
def as_strided_scatter(input: Operand, src: Operand, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None, *, out: Tensor | None = None) -> Tensor:
    """``input`` with the entries that ``as_strided`` would give replaced by ``src``."""
from symgrad.tensor.borrowed import as_tensor as as_tensor
from symgrad.tensor.borrowed import asarray as asarray
def asin(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse sine."""
def asin_(input: Operand) -> Tensor: ...
def asinh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse hyperbolic sine."""
def asinh_(input: Operand) -> Tensor: ...
def atan(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse tangent."""
def atan2(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """The angle of the point (other, input), which is arctan(input/other) turned into its quadrant; derivatives 0 at the origin."""
def atan_(input: Operand) -> Tensor: ...
def atanh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse hyperbolic tangent."""
def atanh_(input: Operand) -> Tensor: ...
@overload
def atleast_1d(tensor: Operand, *, out: Tensor | None = None) -> Tensor: ...
@overload
def atleast_1d(*tensors: Operand | Sequence[Operand], out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """Tensors with fewer than 1 axes get axes of size 1 (one tensor, or a tuple of them)."""
@overload
def atleast_2d(tensor: Operand, *, out: Tensor | None = None) -> Tensor: ...
@overload
def atleast_2d(*tensors: Operand | Sequence[Operand], out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """Tensors with fewer than 2 axes get axes of size 1 (one tensor, or a tuple of them)."""
@overload
def atleast_3d(tensor: Operand, *, out: Tensor | None = None) -> Tensor: ...
@overload
def atleast_3d(*tensors: Operand | Sequence[Operand], out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """Tensors with fewer than 3 axes get axes of size 1 (one tensor, or a tuple of them)."""
from symgrad.switches import autocast as autocast
from symgrad import autograd as autograd
def avg_pool1d(input: Operand, kernel_size: _int | Ints, stride: _int | Ints | None = None, padding: _int | Ints = 0, ceil_mode: _bool = False, count_include_pad: _bool = True, divisor_override: _int | None = None, *, out: Tensor | None = None) -> Tensor:
    """Means over windows of the last 1 axes."""
from symgrad import backends as backends
def baddbmm(input: Operand, batch1: Operand, batch2: Operand, *, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """beta · input + alpha · (batch1 @ batch2) of batches of matrices."""
from symgrad.tensor.ranges import bartlett_window as bartlett_window
def batch_norm(input: Operand, weight: Operand | None, bias: Operand | None, running_mean: Operand | None, running_var: Operand | None, training: _bool, momentum: _float, eps: _float, cudnn_enabled: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """``nn.functional.batch_norm`` with the order of arguments of torch's plain name."""
def bernoulli(input: Operand, p: _float | None = None, *, generator: Random | None = None, out: Tensor | None = None) -> Tensor:
    """0 or 1, with the probabilities in ``input`` (or ``p`` everywhere); derivative 0 unless given a reward."""
bfloat16: _dtype
def bilinear(input1: Operand, input2: Operand, weight: Operand, bias: Operand | None = None) -> Tensor:
    """input1ᵀ weight_k input2 + bias_k for every k."""
def binary_cross_entropy_with_logits(input: Operand, target: Operand, weight: Operand | None = None, pos_weight: Operand | None = None, reduction: _int = 0) -> Tensor:
    """``nn.functional.binary_cross_entropy_with_logits`` with torch's number for the reduction: 0 none (torch's default), 1 mean, 2 sum."""
def bincount(input: Operand, weights: Operand | None = None, minlength: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """How often each number from 0 on occurs, or the sum of the ``weights`` that stand at it."""
def binomial(count: Operand, prob: Operand, generator: Random | None = None, *, out: Tensor | None = None) -> Tensor:
    """Successes in ``count`` trials of probability ``prob`` each, tensors of one dtype, float32 or float64."""
def bitwise_and(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """``input & other``: on integers bit by bit."""
def bitwise_left_shift(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """input · 2**other: the bits moved up; no derivative."""
def bitwise_not(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """``~input``: on integers all bits turned, on truth values the opposite."""
def bitwise_or(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """``input | other``: on integers bit by bit."""
def bitwise_right_shift(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """input / 2**other rounded down: the bits moved down; no derivative."""
def bitwise_xor(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """``input ^ other``: on integers bit by bit."""
from symgrad.tensor.ranges import blackman_window as blackman_window
def block_diag(*tensors: Operand | Sequence[Operand], out: Tensor | None = None) -> Tensor:
    """Matrices along the diagonal of a larger one, zeros elsewhere."""
def bmm(input: Operand, mat2: Operand, *, out: Tensor | None = None) -> Tensor:
    """The matrix product of tensors with 3 and 3 axes."""
bool: _dtype
from symgrad.dtype_objects import bool_ as bool_
from symgrad.tensor.questions import broadcast_shapes as broadcast_shapes
def broadcast_tensors(*tensors: Operand | Sequence[Operand], out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """All tensors at their common shape."""
def broadcast_to(input: Operand, *sizes: _int | Ints, size: Ints = ..., out: Tensor | None = None) -> Tensor:
    """Axes of size 1 (and new leading axes) repeated; -1 keeps a size."""
def bucketize(input: Operand, boundaries: Operand, *, out_int32: _bool = False, right: _bool = False, out: Tensor | None = None) -> Tensor:
    """Numbers of the intervals between ``boundaries``, which have one axis, that the entries of ``input`` lie in."""
from symgrad.tensor.questions import can_cast as can_cast
def cartesian_prod(*tensors: Operand | Sequence[Operand], out: Tensor | None = None) -> Tensor:
    """All tuples with one entry from every vector, as rows."""
def cat(tensors: Sequence[Operand], dim: _int = 0, *, out: Tensor | None = None, axis: _int = ...) -> Tensor:
    """Tensors joined along the axis ``dim``; their other sizes must agree."""
def cbrt(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Cube root."""
def cdist(x1: Operand, x2: Operand, p: _float = 2.0, compute_mode: str = '', *, out: Tensor | None = None) -> Tensor:
    """p-norm distances between the rows of two (batches of) matrices; derivative 0 where rows coincide."""
from symgrad.dtype_objects import cdouble as cdouble
def ceil(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Smallest integer not below input; derivative 0."""
def ceil_(input: Operand) -> Tensor: ...
def celu(input: Operand, alpha: _float = 1.0) -> Tensor:
    """``input`` above 0, alpha (e^(input/alpha) - 1) below."""
def celu_(input: Operand, alpha: _float = 1.0) -> Tensor:
    """``celu`` in place."""
from symgrad.dtype_objects import cfloat as cfloat
from symgrad.linalg import chain_matmul as chain_matmul
def channel_shuffle(input: Operand, groups: _int, *, out: Tensor | None = None) -> Tensor:
    """Channels (axis 1) dealt out over groups: (g, c / g) becomes (c / g, g)."""
from symgrad.devices import channels_last as channels_last
from symgrad.devices import channels_last_3d as channels_last_3d
from symgrad.check import check as check
def cholesky(input: Operand, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Lower triangular L with input = L Lᴴ, or upper triangular with input = Uᴴ U."""
def cholesky_inverse(L: Operand, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The inverse of L Lᴴ (Uᴴ U if ``upper``) from its Cholesky factor."""
def cholesky_solve(input: Operand, L: Operand, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """X with L Lᴴ X = B (Uᴴ U if ``upper``)."""
def chunk(input: Operand, chunks: _int, dim: _int = 0, *, out: Sequence[Tensor] | None = None, axis: _int = ...) -> tuple[Tensor, ...]:
    """At most ``chunks`` ranges of an axis, all but the last of equal size."""
def clamp(input: Operand, min: Operand | None = None, max: Operand | None = None, *, out: Tensor | None = None) -> Tensor:
    """``input`` limited to [min, max]; either bound may be None, not both."""
def clamp_(input: Operand, min: Operand | None = None, max: Operand | None = None) -> Tensor: ...
def clamp_max(input: Operand, max: Operand, *, out: Tensor | None = None) -> Tensor:
    """input limited from above; derivative 1 at the bound."""
def clamp_max_(input: Operand, other: Operand) -> Tensor: ...
def clamp_min(input: Operand, min: Operand, *, out: Tensor | None = None) -> Tensor:
    """input limited from below; derivative 1 at the bound."""
def clamp_min_(input: Operand, other: Operand) -> Tensor: ...
def clip(input: Operand, min: Operand | None = None, max: Operand | None = None, *, out: Tensor | None = None) -> Tensor:
    """``input`` limited to [min, max]; either bound may be None, not both."""
def clip_(input: Operand, min: Operand | None = None, max: Operand | None = None) -> Tensor: ...
def clone(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """A copy with history."""
def column_stack(tensors: Sequence[Operand], *, out: Tensor | None = None) -> Tensor:
    """Vectors as the columns of a matrix; matrices side by side."""
def combinations(input: Operand, r: _int = 2, with_replacement: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """All choices of ``r`` entries of a vector, as rows."""
from symgrad.compiler import compile as compile
from symgrad import compiler as compiler
def complex(real: Operand, imag: Operand, *, out: Tensor | None = None) -> Tensor:
    """real + i·imag."""
from symgrad.dtype_objects import complex128 as complex128
from symgrad.dtype_objects import complex64 as complex64
def concat(tensors: Sequence[Operand], dim: _int = 0, *, out: Tensor | None = None, axis: _int = ...) -> Tensor:
    """Tensors joined along the axis ``dim``; their other sizes must agree."""
def concatenate(tensors: Sequence[Operand], dim: _int = 0, *, out: Tensor | None = None, axis: _int = ...) -> Tensor:
    """Tensors joined along the axis ``dim``; their other sizes must agree."""
from symgrad._higher_order_ops import cond as cond
def conj(x: Operand, *, out: Tensor | None = None) -> Tensor:
    """Complex conjugate; the input itself when it is real."""
def conj_physical(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Complex conjugate."""
def conj_physical_(input: Operand) -> Tensor: ...
def constant_pad_nd(input: Operand, pad: Sequence[_int], value: Number = 0, *, out: Tensor | None = None) -> Tensor:
    """A constant border, with widths in pairs from the last axis backwards; negative widths cut."""
from symgrad.devices import contiguous_format as contiguous_format
def conv1d(input: Operand, weight: Operand, bias: Operand | None = None, stride: _int | Ints = 1, padding: _int | Ints | str = 0, dilation: _int | Ints = 1, groups: _int = 1, *, out: Tensor | None = None) -> Tensor:
    """Cross-correlation over 1 axes: input (batch, channels, …), weight (out, channels / groups, …); ``padding`` may be "same" or "valid"."""
def conv2d(input: Operand, weight: Operand, bias: Operand | None = None, stride: _int | Ints = 1, padding: _int | Ints | str = 0, dilation: _int | Ints = 1, groups: _int = 1, *, out: Tensor | None = None) -> Tensor:
    """Cross-correlation over 2 axes: input (batch, channels, …), weight (out, channels / groups, …); ``padding`` may be "same" or "valid"."""
def conv3d(input: Operand, weight: Operand, bias: Operand | None = None, stride: _int | Ints = 1, padding: _int | Ints | str = 0, dilation: _int | Ints = 1, groups: _int = 1, *, out: Tensor | None = None) -> Tensor:
    """Cross-correlation over 3 axes: input (batch, channels, …), weight (out, channels / groups, …); ``padding`` may be "same" or "valid"."""
def conv_tbc(input: Operand, weight: Operand, bias: Operand, pad: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """``conv1d`` of sequences that lie as (time, batch, channels), with weights (places, channels, out)."""
def conv_transpose1d(input: Operand, weight: Operand, bias: Operand | None = None, stride: _int | Ints = 1, padding: _int | Ints = 0, output_padding: _int | Ints = 0, groups: _int = 1, dilation: _int | Ints = 1, *, out: Tensor | None = None) -> Tensor:
    """The transpose of ``conv1d`` as a linear map; weight (channels, out / groups, …)."""
def conv_transpose2d(input: Operand, weight: Operand, bias: Operand | None = None, stride: _int | Ints = 1, padding: _int | Ints = 0, output_padding: _int | Ints = 0, groups: _int = 1, dilation: _int | Ints = 1, *, out: Tensor | None = None) -> Tensor:
    """The transpose of ``conv2d`` as a linear map; weight (channels, out / groups, …)."""
def conv_transpose3d(input: Operand, weight: Operand, bias: Operand | None = None, stride: _int | Ints = 1, padding: _int | Ints = 0, output_padding: _int | Ints = 0, groups: _int = 1, dilation: _int | Ints = 1, *, out: Tensor | None = None) -> Tensor:
    """The transpose of ``conv3d`` as a linear map; weight (channels, out / groups, …)."""
from symgrad.ops.rules.kinks import conventions as conventions
from symgrad.tape.pickling import copy_graph as copy_graph
def copysign(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """|input| with the sign of other; derivative 0 at input = 0."""
def corrcoef(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Correlations of variables in rows."""
def cos(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Cosine (radians)."""
def cos_(input: Operand) -> Tensor: ...
def cosh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Hyperbolic cosine."""
def cosh_(input: Operand) -> Tensor: ...
def cosine_embedding_loss(input1: Operand, input2: Operand, target: Operand, margin: _float = 0, reduction: _int = 0) -> Tensor:
    """``nn.functional.cosine_embedding_loss`` with torch's number for the reduction: 0 none (torch's default), 1 mean, 2 sum."""
def cosine_similarity(x1: Operand, x2: Operand, dim: _int = 1, eps: _float = 1e-08) -> Tensor:
    """x1 · x2 / (max(|x1|, eps) max(|x2|, eps)) along ``dim``."""
def count_nonzero(input: Operand, dim: _int | Ints | None = None, *, out: Tensor | None = None, axis: _int | Ints | None = ...) -> Tensor:
    """How many entries along ``dim`` (of all, by default) are not zero."""
def cov(input: Operand, *, correction: _int = 1, fweights: Operand | None = None, aweights: Operand | None = None, out: Tensor | None = None) -> Tensor:
    """The covariance matrix of variables in rows; observations in columns may be counted or weighted."""
def cross(input: Operand, other: Operand, dim: _int | None = None, *, out: Tensor | None = None) -> Tensor:
    """The cross product along an axis of size 3 (the first such one by default)."""
def ctc_loss(log_probs: Operand, targets: Operand, input_lengths: Ints | Operand, target_lengths: Ints | Operand, blank: _int = 0, reduction: _int = 0, zero_infinity: _bool = False) -> Tensor:
    """``nn.functional.ctc_loss`` with torch's number for the reduction: 0 none (torch's default), 1 mean, 2 sum."""
from symgrad import cuda as cuda
@overload
def cummax(input: Operand, dim: _int, *, out: Sequence[Tensor] | None = None) -> return_types.cummax: ...
@overload
def cummax(input: Operand, *, axis: _int, out: Sequence[Tensor] | None = None) -> return_types.cummax:
    """The running maximum along ``dim`` and its places."""
@overload
def cummin(input: Operand, dim: _int, *, out: Sequence[Tensor] | None = None) -> return_types.cummin: ...
@overload
def cummin(input: Operand, *, axis: _int, out: Sequence[Tensor] | None = None) -> return_types.cummin:
    """The running minimum along ``dim`` and its places."""
@overload
def cumprod(input: Operand, dim: _int, *, dtype: DType | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def cumprod(input: Operand, *, axis: _int, dtype: DType | None = None, out: Tensor | None = None) -> Tensor:
    """Running product along the axis ``dim``."""
@overload
def cumsum(input: Operand, dim: _int, *, dtype: DType | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def cumsum(input: Operand, *, axis: _int, dtype: DType | None = None, out: Tensor | None = None) -> Tensor:
    """Cumulative sum along the axis ``dim``."""
def cumulative_trapezoid(y: Operand, x: Operand | None = None, *, dx: Number = 1, dim: _int = -1, out: Tensor | None = None, axis: _int = ...) -> Tensor:
    """The running integral along ``dim`` by the trapezoidal rule."""
from symgrad.random import default_generator as default_generator
def deg2rad(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Degrees in radians."""
def deg2rad_(input: Operand) -> Tensor: ...
def degrees(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Radians in degrees."""
from symgrad.notation.steps import derive as derive
def det(A: Operand, *, out: Tensor | None = None) -> Tensor:
    """Determinant of square matrices.  Raises ``ShapeError`` unless the last two axes are square."""
from symgrad.tensor.questions import detach as detach
from symgrad.tensor.questions import detach_ as detach_
def detach_copy(x: Operand, *, out: Tensor | None = None) -> Tensor:
    """A copy of what ``detach`` shows of ``input``, in memory of its own, row by row."""
from symgrad.devices import device as device
def diag(input: Operand, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """A vector as a diagonal matrix, or the diagonal of a matrix."""
def diag_embed(input: Operand, offset: _int = 0, dim1: _int = -2, dim2: _int = -1, *, out: Tensor | None = None) -> Tensor:
    """The last axis spread over the ``offset``-th diagonal of two new axes, ``dim1`` and ``dim2`` of the result."""
def diagflat(input: Operand, offset: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """All entries on the ``offset``-th diagonal of a square matrix."""
def diagonal(input: Operand, offset: _int = 0, dim1: _int = 0, dim2: _int = 1, *, out: Tensor | None = None) -> Tensor:
    """The ``offset``-th diagonal of the axes ``dim1`` and ``dim2``, as the last axis."""
def diagonal_copy(input: Operand, offset: _int = 0, dim1: _int = 0, dim2: _int = 1, *, out: Tensor | None = None) -> Tensor:
    """A copy of what ``diagonal`` shows of ``input``, in memory of its own, row by row."""
def diagonal_scatter(input: Operand, src: Operand, offset: _int = 0, dim1: _int = 0, dim2: _int = 1, *, out: Tensor | None = None) -> Tensor:
    """``input`` with a diagonal of two axes replaced by ``src``."""
def diff(input: Operand, n: _int = 1, dim: _int = -1, prepend: Operand | None = None, append: Operand | None = None, *, out: Tensor | None = None, axis: _int = ...) -> Tensor:
    """Differences of neighbours along ``dim``, ``n`` times over."""
def digamma(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Derivative of log Γ."""
from symgrad.notation import digest as digest
def dist(input: Operand, other: Operand, p: _float = 2, *, out: Tensor | None = None) -> Tensor:
    """The p-norm of the difference."""
from symgrad import distributed as distributed
from symgrad import distributions as distributions
def div(input: Operand, other: Operand, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Tensor:
    """input / other; ``rounding_mode`` None, "trunc" or "floor" (rounded results have derivative 0)."""
def divide(input: Operand, other: Operand, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Tensor:
    """input / other; ``rounding_mode`` None, "trunc" or "floor" (rounded results have derivative 0)."""
def dot(input: Operand, tensor: Operand, *, out: Tensor | None = None) -> Tensor:
    """The matrix product of tensors with 1 and 1 axes."""
from symgrad.dtype_objects import double as double
from symgrad.draw import draw as draw
def dropout(input: Operand, p: _float, train: _bool, *, out: Tensor | None = None) -> Tensor:
    """``dropout`` with all of its arguments: the probability, and whether it is training."""
def dropout_(input: Operand, p: _float, train: _bool, *, out: Tensor | None = None) -> Tensor:
    """``dropout`` with all of its arguments, in place: the probability, and whether it is training."""
def dsmm(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """The matrix product of tensors with 2 and 2 axes."""
def dsplit(input: Operand, sections: Ints | _int, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """``tensor_split`` along axis 2."""
def dstack(tensors: Sequence[Operand], *, out: Tensor | None = None) -> Tensor:
    """Joined along the third axis."""
from symgrad.dtype_objects import dtype as dtype
from symgrad.tensor.creation import e as e
def einsum(equation: str, *operands: Operand | Sequence[Operand], out: Tensor | None = None) -> Tensor:
    """Sum of products in Einstein's notation, as ``numpy.einsum`` and ``torch.einsum``."""
from symgrad.notation.elements import element as element
def embedding(weight: Operand, indices: Operand, padding_idx: _int = -1, scale_grad_by_freq: _bool = False, sparse: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """``nn.functional.embedding`` with the order of arguments of torch's plain name, where -1 is no padding."""
from symgrad.tensor.creation import empty as empty
from symgrad.tensor.creation import empty_like as empty_like
from symgrad.tensor.creation import empty_permuted as empty_permuted
from symgrad.tensor.creation import empty_strided as empty_strided
from symgrad.autograd import enable_grad as enable_grad
def eq(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """input == other entry by entry; no derivative."""
def equal(input: Operand, other: Operand) -> _bool:
    """Whether both have the same shape and entries."""
def erf(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Error function."""
def erf_(input: Operand) -> Tensor: ...
def erfc(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Complementary error function 1 - erf(input)."""
def erfc_(input: Operand) -> Tensor: ...
def erfinv(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse of the error function, on (-1, 1)."""
from symgrad.explaining import errorbars as errorbars
from symgrad import errors as errors
def exp(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """e**input."""
def exp2(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """2**input."""
def exp2_(input: Operand) -> Tensor: ...
def exp_(input: Operand) -> Tensor: ...
def expand(input: Operand, *sizes: _int | Ints, out: Tensor | None = None) -> Tensor:
    """Axes of size 1 (and new leading axes) repeated; -1 keeps a size."""
def expand_copy(input: Operand, *sizes: _int | Ints, size: Ints = ..., out: Tensor | None = None) -> Tensor:
    """A copy of what ``expand`` shows of ``input``, in memory of its own, row by row."""
def expit(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """The logistic function 1/(1 + e^-input)."""
from symgrad.explaining import explain as explain
from symgrad.notation.elements import explicit as explicit
from symgrad.explaining import explore as explore
def expm1(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """e**input - 1."""
def expm1_(input: Operand) -> Tensor: ...
from symgrad.tensor.creation import eye as eye
def fake_quantize_per_channel_affine(input: Operand, scale: Operand, zero_point: Operand, axis: _int, quant_min: _int, quant_max: _int, *, out: Tensor | None = None) -> Tensor:
    """:func:`fake_quantize_per_tensor_affine` with a ``scale`` and a ``zero_point`` for every place along ``axis``."""
def fake_quantize_per_tensor_affine(input: Operand, scale: Operand, zero_point: Operand, quant_min: _int, quant_max: _int, *, out: Tensor | None = None) -> Tensor:
    """``(clamp(round(input / scale) + zero_point, quant_min, quant_max) - zero_point) * scale``, passing gradients on."""
def feature_alpha_dropout(input: Operand, p: _float = 0.5, training: _bool = False, inplace: _bool = False, *, generator: Random | None = None) -> Tensor:
    """Dropout that keeps mean 0 and variance 1 of self-normalising networks (Klambauer et al. 2017)."""
def feature_alpha_dropout_(input: Operand, p: _float = 0.5, training: _bool = False, *, generator: Random | None = None) -> Tensor:
    """``feature_alpha_dropout`` in place."""
def feature_dropout(input: Operand, p: _float, train: _bool, *, out: Tensor | None = None) -> Tensor:
    """``feature_dropout`` with all of its arguments: the probability, and whether it is training."""
def feature_dropout_(input: Operand, p: _float, train: _bool, *, out: Tensor | None = None) -> Tensor:
    """``feature_dropout`` with all of its arguments, in place: the probability, and whether it is training."""
from symgrad import fft as fft
def fill(input: Operand, value: Operand, *, out: Tensor | None = None) -> Tensor:
    """One value in the shape and dtype of ``input``; the gradient of ``input`` is zero."""
def fill_(self: Operand, value: Operand) -> Tensor:
    """Fill with one value in place."""
from symgrad.dtypes import finfo as finfo
def fix(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Integer part; derivative 0."""
def fix_(input: Operand) -> Tensor: ...
def flatten(input: Operand, start_dim: _int = 0, end_dim: _int = -1, *, out: Tensor | None = None) -> Tensor:
    """Axes ``start_dim`` … ``end_dim`` joined into one."""
def flip(input: Operand, *axes: _int | Ints, dims: Ints = (), out: Tensor | None = None) -> Tensor:
    """The axes named, one by one or as a tuple ``dims``, in reverse order."""
def fliplr(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """The second axis in reverse order."""
def flipud(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """The first axis in reverse order."""
float: _dtype
from symgrad.dtype_objects import float16 as float16
from symgrad.dtype_objects import float32 as float32
from symgrad.dtype_objects import float64 as float64
def float_power(input: Operand, exponent: Operand, *, out: Tensor | None = None) -> Tensor:
    """input^exponent in double precision (complex when either is)."""
def floor(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Largest integer not above input; derivative 0."""
def floor_(input: Operand) -> Tensor: ...
def floor_divide(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Quotient rounded down; as in torch without a derivative, which div with rounding_mode has."""
def fmax(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """The larger entry, numbers before nan; a tie gives input the gradient."""
def fmin(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """The smaller entry, numbers before nan; a tie gives input the gradient."""
def fmod(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """input - other * trunc(input/other), with the sign of input."""
from symgrad.notation import formula as formula
def frac(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Fractional part, with the sign of input."""
def frac_(input: Operand) -> Tensor: ...
def frexp(input: Operand, *, out: Sequence[Tensor] | None = None) -> return_types.frexp:
    """Mantissa in [1/2, 1) and exponent of two."""
from symgrad.linalg import frobenius_norm as frobenius_norm
from symgrad.tensor.borrowed import from_dlpack as from_dlpack
from symgrad.foreign import from_fx as from_fx
from symgrad.foreign import from_jax as from_jax
from symgrad.foreign import from_jaxpr as from_jaxpr
from symgrad.notation.typed import from_latex as from_latex
from symgrad.tensor.borrowed import from_numpy as from_numpy
from symgrad.notation.exchange import from_sympy as from_sympy
from symgrad.tensor.borrowed import frombuffer as frombuffer
from symgrad.tensor.creation import full as full
from symgrad.tensor.creation import full_like as full_like
from symgrad import func as func
from symgrad import futures as futures
def gammaln(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """log|Γ(input)|."""
@overload
def gather(input: Operand, dim: _int, index: Operand, *, sparse_grad: _bool = False, out: Tensor | None = None) -> Tensor: ...
@overload
def gather(input: Operand, *, axis: _int, index: Operand, sparse_grad: _bool = False, out: Tensor | None = None) -> Tensor:
    """Entries of ``input`` along ``dim`` picked by ``index``, which may be smaller in the other axes (as torch)."""
def gcd(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Greatest common divisor; no derivative."""
def gcd_(input: Operand, other: Operand) -> Tensor: ...
def ge(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """input >= other entry by entry; no derivative."""
def geqrf(A: Operand, *, out: Sequence[Tensor] | None = None) -> return_types.geqrf:
    """R, with the vectors of the reflections that ``householder_product`` takes below it, and their factors."""
def ger(input: Operand, vec2: Operand, *, out: Tensor | None = None) -> Tensor:
    """The matrix input_i · vec2_j of two vectors."""
from symgrad.switches import get_autocast_cpu_dtype as get_autocast_cpu_dtype
from symgrad.switches import get_autocast_dtype as get_autocast_dtype
from symgrad.switches import get_autocast_gpu_dtype as get_autocast_gpu_dtype
from symgrad.tensor.questions import get_default_device as get_default_device
from symgrad.dtype_objects import get_default_dtype as get_default_dtype
from symgrad.tensor.questions import get_device as get_device
from symgrad.switches import get_float32_matmul_precision as get_float32_matmul_precision
from symgrad.switches import get_num_threads as get_num_threads
from symgrad.tensor.display import get_printoptions as get_printoptions
from symgrad.random import get_rng_state as get_rng_state
def gradient(input: Operand, *, spacing: Number | Sequence[Number] | Sequence[Operand] | None = 1, dim: Ints | _int | None = None, edge_order: _int = 1, out: Sequence[Tensor] | None = None, axis: Ints | _int | None = ...) -> tuple[Tensor, ...]:
    """Slopes along every axis (or those in ``dim``) by central differences; one-sided at the edges."""
def greater(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """input > other entry by entry; no derivative."""
def greater_equal(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """input >= other entry by entry; no derivative."""
def grid_sampler(input: Operand, grid: Operand, interpolation_mode: _int, padding_mode: _int, align_corners: _bool, *, out: Tensor | None = None) -> Tensor:
    """``grid_sample`` with its modes as numbers."""
def grid_sampler_2d(input: Operand, grid: Operand, interpolation_mode: _int, padding_mode: _int, align_corners: _bool, *, out: Tensor | None = None) -> Tensor:
    """``grid_sample`` with its modes as numbers."""
def grid_sampler_3d(input: Operand, grid: Operand, interpolation_mode: _int, padding_mode: _int, align_corners: _bool, *, out: Tensor | None = None) -> Tensor:
    """``grid_sample`` with its modes as numbers."""
def group_norm(input: Operand, num_groups: _int, weight: Operand | None = None, bias: Operand | None = None, eps: _float = 1e-05) -> Tensor:
    """Mean 0 and variance 1 over every group of channels (axis 1) and all later axes."""
def gru(*args: Any, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """Gated recurrent units (Cho et al. 2014) over whole sequences, in torch's order of arguments."""
def gru_cell(input: Operand, hx: Operand, w_ih: Operand, w_hh: Operand, b_ih: Operand | None = None, b_hh: Operand | None = None, *, out: Tensor | None = None) -> Tensor:
    """The next state of a gated recurrent unit (Cho et al. 2014), gates in the order reset, update, new."""
def gt(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """input > other entry by entry; no derivative."""
from symgrad.dtype_objects import half as half
from symgrad.tensor.ranges import hamming_window as hamming_window
from symgrad.tensor.ranges import hann_window as hann_window
def hardshrink(input: Operand, lambd: _float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """``input`` outside [-lambd, lambd], 0 inside."""
def heaviside(input: Operand, values: Operand, *, out: Tensor | None = None) -> Tensor:
    """0 below 0, other where input is 0, 1 above; derivative 0, and 1 by other where input is 0."""
def hinge_embedding_loss(input: Operand, target: Operand, margin: _float = 1.0, reduction: _int = 0) -> Tensor:
    """``nn.functional.hinge_embedding_loss`` with torch's number for the reduction: 0 none (torch's default), 1 mean, 2 sum."""
def histc(input: Operand, bins: _int = 100, min: _float = 0, max: _float = 0, *, out: Tensor | None = None) -> Tensor:
    """How many entries lie in each of ``bins`` equal parts of [min, max], or of their range if both are 0."""
def histogram(input: Operand, bins: Operand = 100, *, range: Sequence[_float] | None = None, weight: Operand | None = None, density: _bool = False, out: Sequence[Tensor] | None = None) -> return_types.histogram:
    """How many entries (or what ``weight``) lies in each of ``bins`` parts, and the edges of these."""
@overload
def histogramdd(input: Operand, bins: _int, range: Sequence[_float] | None = None, weight: Operand | None = None, density: _bool = False, *, out: Tensor | None = None) -> Tensor: ...
@overload
def histogramdd(input: Operand, bins: Ints, range: Sequence[_float] | None = None, weight: Operand | None = None, density: _bool = False, *, out: Tensor | None = None) -> Tensor: ...
@overload
def histogramdd(input: Operand, bins: Sequence[Operand], range: Sequence[_float] | None = None, weight: Operand | None = None, density: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """How many points (or what ``weight``) lie in each cell of a grid, and the edges along every axis of it."""
def hsplit(input: Operand, sections: Ints | _int, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """``tensor_split`` along axis 1 (0 for vectors)."""
def hstack(tensors: Sequence[Operand], *, out: Tensor | None = None) -> Tensor:
    """Joined along the second axis (vectors along their only one)."""
def hypot(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """sqrt(input² + other²)."""
def i0(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Modified Bessel function of the first kind, of order 0."""
def i0_(input: Operand) -> Tensor: ...
def igamma(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Regularised lower incomplete gamma function P(input, other) of order input, the gamma distribution's probability up to other."""
def igammac(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Regularised upper incomplete gamma function Q(input, other) = 1 - P(input, other) of order input."""
from symgrad.dtypes import iinfo as iinfo
def imag(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Imaginary part."""
from symgrad import implicit as implicit
@overload
def index_add(input: Operand, dim: _int, index: Operand, source: Operand, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor: ...
@overload
def index_add(input: Operand, *, axis: _int, index: Operand, source: Operand, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """``input`` with ``alpha`` times the slices of ``source`` added to its slices ``index`` of the axis ``dim``."""
@overload
def index_copy(input: Operand, dim: _int, index: Operand, source: Operand, *, out: Tensor | None = None) -> Tensor: ...
@overload
def index_copy(input: Operand, *, axis: _int, index: Operand, source: Operand, out: Tensor | None = None) -> Tensor:
    """``input`` with its slices ``index`` of the axis ``dim`` replaced by those of ``source``."""
@overload
def index_fill(input: Operand, dim: _int, index: Operand, value: Operand, *, out: Tensor | None = None) -> Tensor: ...
@overload
def index_fill(input: Operand, *, axis: _int, index: Operand, value: Operand, out: Tensor | None = None) -> Tensor:
    """``input`` with its slices ``index`` of the axis ``dim`` filled with one value."""
def index_put(input: Operand, indices: Sequence[Operand], values: Operand, accumulate: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """``input`` with ``values`` written at ``indices`` (a tuple, one per axis), or added to what is there."""
def index_put_(input: Operand, indices: Sequence[Operand], values: Operand, accumulate: _bool = False) -> Tensor: ...
@overload
def index_reduce(input: Operand, dim: _int, index: Operand, source: Operand, reduce: str, *, include_self: _bool = True, out: Tensor | None = None) -> Tensor: ...
@overload
def index_reduce(input: Operand, *, axis: _int, index: Operand, source: Operand, reduce: str, include_self: _bool = True, out: Tensor | None = None) -> Tensor:
    """``input`` combined ("prod", "mean", "amax", "amin") with the slices of ``source`` at ``index`` of an axis."""
@overload
def index_select(input: Operand, dim: _int, index: Operand, *, out: Tensor | None = None) -> Tensor: ...
@overload
def index_select(input: Operand, *, axis: _int, index: Operand, out: Tensor | None = None) -> Tensor:
    """Entries ``index`` of the axis ``dim``."""
from symgrad.tensor.creation import inf as inf
from symgrad.autograd import inference_mode as inference_mode
from symgrad.random import initial_seed as initial_seed
def inner(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Sums of products along the last axes."""
from symgrad.stand_in import install_as_torch as install_as_torch
def instance_norm(input: Operand, weight: Operand | None, bias: Operand | None, running_mean: Operand | None, running_var: Operand | None, use_input_stats: _bool, momentum: _float, eps: _float, cudnn_enabled: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """``nn.functional.instance_norm`` with the order of arguments of torch's plain name."""
int: _dtype
from symgrad.dtype_objects import int16 as int16
from symgrad.dtype_objects import int32 as int32
from symgrad.dtype_objects import int64 as int64
from symgrad.dtype_objects import int8 as int8
def inverse(A: Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse of square matrices.  Raises ``ShapeError`` unless the last two axes are square."""
from symgrad.autograd.anomaly_mode import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from symgrad.autograd.anomaly_mode import is_anomaly_enabled as is_anomaly_enabled
from symgrad.switches import is_autocast_cache_enabled as is_autocast_cache_enabled
from symgrad.switches import is_autocast_cpu_enabled as is_autocast_cpu_enabled
from symgrad.switches import is_autocast_enabled as is_autocast_enabled
from symgrad.tensor.questions import is_complex as is_complex
from symgrad.tensor.questions import is_conj as is_conj
from symgrad.tensor.questions import is_floating_point as is_floating_point
from symgrad.autograd import is_grad_enabled as is_grad_enabled
from symgrad.tensor.questions import is_inference as is_inference
from symgrad.autograd import is_inference_mode_enabled as is_inference_mode_enabled
from symgrad.tensor.questions import is_neg as is_neg
from symgrad.tensor.questions import is_nonzero as is_nonzero
from symgrad.tensor.questions import is_same_size as is_same_size
from symgrad.tensor.questions import is_signed as is_signed
from symgrad.tensor.questions import is_storage as is_storage
from symgrad.tensor.questions import is_tensor as is_tensor
from symgrad.switches import is_warn_always_enabled as is_warn_always_enabled
def isclose(input: Operand, other: Operand, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Where ``|input - other| <= atol + rtol |other|``, or both are the same infinity."""
def isfinite(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether an entry is neither an infinity nor nan; no derivative."""
def isin(element: Operand, test_element: Operand, *, assume_unique: _bool = False, invert: _bool = False, out: Tensor | None = None) -> Tensor:
    """Whether each of ``elements`` is (``invert``: is not) one of ``test_elements``."""
def isinf(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether an entry is an infinity; no derivative."""
def isnan(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether an entry is nan; no derivative."""
def isneginf(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether an entry is -inf; no derivative."""
def isposinf(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether an entry is inf; no derivative."""
def isreal(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether an entry has no imaginary part; no derivative."""
def istft(input: Operand, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: Operand | None = None, center: _bool = True, normalized: _bool = False, onesided: _bool | None = None, length: _int | None = None, return_complex: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Inverse short-time Fourier transform, by overlap and addition."""
from symgrad.compiler import jit as jit
from symgrad.judging import judge as judge
from symgrad.tensor.ranges import kaiser_window as kaiser_window
def kl_div(input: Operand, target: Operand, reduction: _int = 0, log_target: _bool = False) -> Tensor:
    """``nn.functional.kl_div`` with torch's number for the reduction: 0 none (torch's default), 1 mean, 2 sum."""
def kron(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Kronecker product: blocks input_ij · other."""
def kthvalue(input: Operand, k: _int, dim: _int = -1, keepdim: _bool = False, *, out: Sequence[Tensor] | None = None, axis: _int = ..., keepdims: _bool = ...) -> return_types.kthvalue:
    """The ``k``-th smallest entry along ``dim`` (from 1) and its place."""
from symgrad.notation import latex as latex
def layer_norm(input: Operand, normalized_shape: Sequence[_int], weight: Operand | None = None, bias: Operand | None = None, eps: _float = 1e-05) -> Tensor:
    """Mean 0 and variance 1 over the last axes, then times ``weight`` plus ``bias``."""
from symgrad.devices import layout as layout
def lcm(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Least common multiple; no derivative."""
def lcm_(input: Operand, other: Operand) -> Tensor: ...
def ldexp(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """input · 2^other, in the dtype of the input where that is one of floats and ``other`` counts in integers."""
def ldexp_(input: Operand, other: Operand) -> Tensor: ...
def le(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """input <= other entry by entry; no derivative."""
from symgrad.devices import legacy_contiguous_format as legacy_contiguous_format
def lerp(input: Operand, end: Operand, weight: Operand, *, out: Tensor | None = None) -> Tensor:
    """input + weight · (end - input)."""
def less(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """input < other entry by entry; no derivative."""
def less_equal(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """input <= other entry by entry; no derivative."""
def lgamma(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """log|Γ(input)|."""
from symgrad import library as library
from symgrad import linalg as linalg
from symgrad.tensor.ranges import linspace as linspace
from symgrad.tensor.storing import load as load
def lobpcg(A: Operand, k: _int | None = None, B: Operand | None = None, X: Operand | None = None, n: _int | None = None, iK: Operand | None = None, niter: _int | None = None, tol: _float | None = None, largest: _bool | None = None, method: str | None = None, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """The ``k`` largest (or smallest) λ with A x = λ B x of symmetric matrices, and such x in columns, with xᵀB x = 1."""
def log(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Natural logarithm."""
def log10(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Logarithm to base 10."""
def log10_(input: Operand) -> Tensor: ...
def log1p(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """log(1 + input)."""
def log1p_(input: Operand) -> Tensor: ...
def log2(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Logarithm to base 2."""
def log2_(input: Operand) -> Tensor: ...
def log_(input: Operand) -> Tensor: ...
@overload
def log_softmax(input: Operand, dim: _int, dtype: DType | None = None, *, out: Tensor | None = None) -> Tensor: ...
@overload
def log_softmax(input: Operand, *, axis: _int, dtype: DType | None = None, out: Tensor | None = None) -> Tensor:
    """input - log Σ e^input along the axis ``dim``, without overflow."""
def logaddexp(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """log(e^input + e^other) without overflow."""
def logaddexp2(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """log2(2^input + 2^other) without overflow."""
@overload
def logcumsumexp(input: Operand, dim: _int, *, out: Tensor | None = None) -> Tensor: ...
@overload
def logcumsumexp(input: Operand, *, axis: _int, out: Tensor | None = None) -> Tensor:
    """log of the running sum of e^input along the axis ``dim``."""
def logdet(A: Operand, *, out: Tensor | None = None) -> Tensor:
    """log det of square matrices; nan for a negative determinant.  Raises ``ShapeError`` unless the last two axes are square."""
def logical_and(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether neither of two entries is zero; no derivative."""
def logical_not(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether an entry is zero; no derivative."""
def logical_or(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether one of two entries, or both, are not zero; no derivative."""
def logical_xor(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether just one of two entries is not zero; no derivative."""
def logit(input: Operand, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """log(input / (1 - input)), with ``input`` limited to [eps, 1 - eps] if given."""
def logit_(input: Operand, eps: _float | None = None) -> Tensor: ...
def logsigmoid(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """log of the logistic function."""
from symgrad.tensor.ranges import logspace as logspace
@overload
def logsumexp(input: Operand, dim: _int | Ints, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor: ...
@overload
def logsumexp(input: Operand, *, axis: _int | Ints, keepdims: _bool = ..., keepdim: _bool = False, out: Tensor | None = None) -> Tensor:
    """log Σ e^input over the axes ``dim``, without overflow."""
from symgrad.dtype_objects import long as long
def lstm(*args: Any, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """Long short-term memory (Hochreiter and Schmidhuber 1997) over whole sequences, in torch's order of arguments."""
def lstm_cell(input: Operand, hx: Sequence[Operand], w_ih: Operand, w_hh: Operand, b_ih: Operand | None = None, b_hh: Operand | None = None, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, Tensor]:
    """The next state and memory of a long short-term memory (Hochreiter and Schmidhuber 1997), from ``hx = (h, c)``."""
def lt(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """input < other entry by entry; no derivative."""
def lu(A: Operand, pivot: _bool = True, get_infos: _bool = False, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """L and U in one array, LAPACK's pivots, and if asked for the number of the first that is 0."""
def lu_solve(b: Operand, LU_data: Operand, LU_pivots: Operand, *, out: Tensor | None = None) -> Tensor:
    """X with A X = b from the results of ``lu_factor``."""
def lu_unpack(LU_data: Operand, LU_pivots: Operand, unpack_data: _bool = True, unpack_pivots: _bool = True, *, out: Sequence[Tensor] | None = None) -> return_types.lu_unpack:
    """P, L and U from the results of ``lu_factor``."""
from symgrad.random import manual_seed as manual_seed
def margin_ranking_loss(input1: Operand, input2: Operand, target: Operand, margin: _float = 0, reduction: _int = 0) -> Tensor:
    """``nn.functional.margin_ranking_loss`` with torch's number for the reduction: 0 none (torch's default), 1 mean, 2 sum."""
from symgrad import masked as masked
def masked_fill(input: Operand, mask: Operand, value: Operand, *, out: Tensor | None = None) -> Tensor:
    """``value`` where ``mask`` holds, ``input`` elsewhere."""
def masked_scatter(input: Operand, mask: Operand, source: Operand, *, out: Tensor | None = None) -> Tensor:
    """``input`` with the entries where ``mask`` holds replaced by those of ``source``, in order."""
def masked_select(input: Operand, mask: Operand, *, out: Tensor | None = None) -> Tensor:
    """The entries where ``mask`` holds, in one axis."""
def matmul(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Matrix product with NumPy's rules for vectors and batches."""
def matrix_exp(A: Operand, *, out: Tensor | None = None) -> Tensor:
    """The matrix exponential of square matrices (the last two axes)."""
def matrix_power(A: Operand, n: _int, *, out: Tensor | None = None) -> Tensor:
    """A multiplied n times with itself; the inverse's power for negative n, the identity for 0."""
@overload
def max(input: Operand, *, out: Tensor | None = None) -> Tensor: ...
@overload
def max(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor: ...
@overload
def max(input: Operand, dim: _int, keepdim: _bool = False, *, out: Sequence[Tensor] | None = None) -> return_types.max: ...
@overload
def max(input: Operand, *, axis: _int, keepdims: _bool = ..., keepdim: _bool = False, out: Sequence[Tensor] | None = None) -> return_types.max:
    """Three forms, as torch: the max of all entries; with ``dim`` the pair (values, indices), where the gradient goes to the entry returned; with a second tensor the entrywise one."""
def max_pool1d(input: Operand, kernel_size: _int | Ints, stride: _int | Ints | None = None, padding: _int | Ints = 0, dilation: _int | Ints = 1, ceil_mode: _bool = False, return_indices: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Largest entries of windows over the last 1 axes; the first of equal ones."""
def max_pool2d(input: Operand, kernel_size: _int | Ints, stride: _int | Ints | None = None, padding: _int | Ints = 0, dilation: _int | Ints = 1, ceil_mode: _bool = False, return_indices: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Largest entries of windows over the last 2 axes; the first of equal ones."""
def max_pool3d(input: Operand, kernel_size: _int | Ints, stride: _int | Ints | None = None, padding: _int | Ints = 0, dilation: _int | Ints = 1, ceil_mode: _bool = False, return_indices: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Largest entries of windows over the last 3 axes; the first of equal ones."""
def maximum(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """The larger entry; a tie shares the gradient equally."""
def mean(input: Operand, dim: _int | Ints | None = None, keepdim: _bool = False, *, dtype: DType | None = None, out: Tensor | None = None, axis: _int | Ints | None = ..., keepdims: _bool = ...) -> Tensor:
    """Mean over the axes ``dim`` (all by default).  Integer input needs ``dtype=``, as torch."""
@overload
def median(input: Operand, *, out: Tensor | None = None) -> Tensor: ...
@overload
def median(input: Operand, dim: _int, keepdim: _bool = False, *, out: Sequence[Tensor] | None = None) -> return_types.median:
    """The (lower) median of all entries, or along ``dim`` with its place; nan when an entry is."""
from symgrad.devices import memory_format as memory_format
def meshgrid(*tensors: Operand | Sequence[Operand], indexing: str | None = None, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """Coordinate arrays of the grid spanned by vectors; "xy" exchanges the first two axes, "ij" (the default) none."""
@overload
def min(input: Operand, *, out: Tensor | None = None) -> Tensor: ...
@overload
def min(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor: ...
@overload
def min(input: Operand, dim: _int, keepdim: _bool = False, *, out: Sequence[Tensor] | None = None) -> return_types.min: ...
@overload
def min(input: Operand, *, axis: _int, keepdims: _bool = ..., keepdim: _bool = False, out: Sequence[Tensor] | None = None) -> return_types.min:
    """Three forms, as torch: the min of all entries; with ``dim`` the pair (values, indices), where the gradient goes to the entry returned; with a second tensor the entrywise one."""
def minimum(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """The smaller entry; a tie shares the gradient equally."""
def mm(input: Operand, mat2: Operand, *, out: Tensor | None = None) -> Tensor:
    """The matrix product of tensors with 2 and 2 axes."""
def mode(input: Operand, dim: _int = -1, keepdim: _bool = False, *, out: Sequence[Tensor] | None = None, axis: _int = ..., keepdims: _bool = ...) -> return_types.mode:
    """The commonest entry along ``dim`` (the smallest of equally common ones) and a place where it stands."""
def moveaxis(input: Operand, source: _int | Ints, destination: _int | Ints, *, out: Tensor | None = None) -> Tensor:
    """Axes moved to new places, the others keeping their order."""
def movedim(input: Operand, source: _int | Ints, destination: _int | Ints, *, out: Tensor | None = None) -> Tensor:
    """Axes moved to new places, the others keeping their order."""
from symgrad.backends import mps as mps
def msort(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Sorted along the first axis."""
def mul(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """input * other entry by entry, with broadcasting."""
def multigammaln(input: Operand, p: _int, *, out: Tensor | None = None) -> Tensor:
    """The multivariate log-gamma function of dimension ``p``, for ``input`` > (p - 1)/2."""
def multinomial(input: Operand, num_samples: _int, replacement: _bool = False, *, generator: Random | None = None, out: Tensor | None = None) -> Tensor:
    """Places in the last axis, drawn with the probabilities or weights in ``input``: shape (num_samples,) or (m, …)."""
def multiply(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """input * other entry by entry, with broadcasting."""
from symgrad import multiprocessing as multiprocessing
def mv(input: Operand, vec: Operand, *, out: Tensor | None = None) -> Tensor:
    """The matrix product of tensors with 2 and 1 axes."""
def mvlgamma(input: Operand, p: _int, *, out: Tensor | None = None) -> Tensor:
    """The multivariate log-gamma function of dimension ``p``, for ``input`` > (p - 1)/2."""
from symgrad.tensor.creation import nan as nan
def nan_to_num(input: Operand, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """Numbers in place of nan (0) and of the infinities (the largest finite numbers); their derivative is 0."""
def nan_to_num_(input: Operand, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None) -> Tensor: ...
def nanmean(input: Operand, dim: _int | Ints | None = None, keepdim: _bool = False, *, dtype: DType | None = None, out: Tensor | None = None, axis: _int | Ints | None = ..., keepdims: _bool = ...) -> Tensor:
    """Mean of the entries that are numbers."""
@overload
def nanmedian(input: Operand, *, out: Tensor | None = None) -> Tensor: ...
@overload
def nanmedian(input: Operand, dim: _int, keepdim: _bool = False, *, out: Sequence[Tensor] | None = None) -> return_types.nanmedian:
    """The (lower) median of the entries that are numbers."""
def nanquantile(input: Operand, q: Operand, dim: _int | None = None, keepdim: _bool = False, *, interpolation: str = 'linear', out: Tensor | None = None, axis: _int | None = ..., keepdims: _bool = ...) -> Tensor:
    """The ``q``-quantiles of the entries that are numbers."""
def nansum(input: Operand, dim: _int | Ints | None = None, keepdim: _bool = False, *, dtype: DType | None = None, out: Tensor | None = None, axis: _int | Ints | None = ..., keepdims: _bool = ...) -> Tensor:
    """Sum of the entries that are numbers."""
@overload
def narrow(input: Operand, dim: _int, start: _int, length: _int, *, out: Tensor | None = None) -> Tensor: ...
@overload
def narrow(input: Operand, *, axis: _int, start: _int, length: _int, out: Tensor | None = None) -> Tensor:
    """Entries ``start`` … ``start + length - 1`` of an axis."""
def narrow_copy(input: Operand, dim: _int, start: _int, length: _int, *, out: Tensor | None = None) -> Tensor:
    """A copy of what ``narrow`` shows of ``input``, in memory of its own, row by row."""
def native_dropout(input: Operand, p: _float, train: _bool | None, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, Tensor]:
    """Dropout with the mask of what was kept: while training, entries become 0 with probability p."""
def ne(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """input != other entry by entry; no derivative."""
def neg(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """-input."""
def neg_(input: Operand) -> Tensor: ...
def negative(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """-input."""
def negative_(input: Operand) -> Tensor: ...
from symgrad.tensor.creation import newaxis as newaxis
def nextafter(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """The next number after input towards other: as input itself in derivatives."""
from symgrad import nn as nn
from symgrad.autograd import no_grad as no_grad
@overload
def nonzero(input: Operand, *, as_tuple: Literal[False] = False, out: Tensor | None = None) -> Tensor: ...
@overload
def nonzero(input: Operand, *, as_tuple: Literal[True], out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """Places of the entries that are not zero: shape (count, ndim), or with ``as_tuple`` one row of places per axis."""
def nonzero_static(input: Operand, *, size: _int, fill_value: _int = -1, out: Tensor | None = None) -> Tensor:
    """The first ``size`` places of entries that are not zero, shape (size, ndim); ``fill_value`` where there are fewer."""
def norm(input: Operand, p: Any = 'fro', dim: _int | Ints | None = None, keepdim: _bool = False, *, dtype: DType | None = None, out: Tensor | None = None, axis: _int | Ints | None = ..., keepdims: _bool = ...) -> Tensor:
    """The p-norm of all entries, or over the axes ``dim``; "fro" is the 2-norm, "nuc" the sum of singular values."""
def norm_except_dim(v: Operand, pow: _int = 2, dim: _int = 0, *, out: Tensor | None = None, axis: _int = ...) -> Tensor:
    """The norms of order ``pow`` of the parts of ``v`` along ``dim``, whose other axes have size 1 then."""
def normal(mean: Operand, std: Operand = 1.0, size: Ints | None = None, *, generator: Random | None = None, dtype: DType | None = None, device: Device | None = 'cpu', layout: Layout | None = None, pin_memory: _bool = False, requires_grad: _bool = False, out: Tensor | None = None) -> Tensor:
    """Normal samples of the given means and deviations (or numbers with a ``size``); derivative 0, as torch has it."""
def not_equal(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """input != other entry by entry; no derivative."""
from symgrad.linalg import nuclear_norm as nuclear_norm
from symgrad.tensor.questions import numel as numel
from symgrad.tensor.creation import ones as ones
from symgrad.tensor.creation import ones_like as ones_like
from symgrad import optim as optim
def orgqr(A: Operand, tau: Operand, *, out: Tensor | None = None) -> Tensor:
    """The first columns of the product of the reflections I - tau_k v_k v_kᴴ, with v_k below the diagonal of A."""
def ormqr(input: Operand, tau: Operand, other: Operand, left: _bool = True, transpose: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Q · other (or other · Q), or with Qᴴ, for the Q of ``householder_product``."""
def outer(input: Operand, vec2: Operand, *, out: Tensor | None = None) -> Tensor:
    """The matrix input_i · vec2_j of two vectors."""
from symgrad import overrides as overrides
def pairwise_distance(x1: Operand, x2: Operand, p: _float = 2.0, eps: _float = 1e-06, keepdim: _bool = False) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last axis."""
from symgrad import parallel as parallel
def pca_lowrank(A: Operand, q: _int | None = None, center: _bool = True, niter: _int = 2, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """``svd_lowrank`` of a matrix whose columns are centred first."""
def pdist(input: Operand, p: _float = 2.0) -> Tensor:
    """p-norm distances between all pairs of rows, as one vector."""
def permute(input: Operand, *sizes: _int | Ints, dims: Ints = ..., out: Tensor | None = None) -> Tensor:
    """Axes in the order ``dims``."""
def permute_copy(input: Operand, *sizes: _int | Ints, dims: Ints = ..., out: Tensor | None = None) -> Tensor:
    """A copy of what ``permute`` shows of ``input``, in memory of its own, row by row."""
from symgrad.tensor.creation import pi as pi
def pinverse(input: Operand, rcond: _float = 1e-15, *, out: Tensor | None = None) -> Tensor:
    """The Moore-Penrose pseudo-inverse."""
def pixel_shuffle(input: Operand, upscale_factor: _int, *, out: Tensor | None = None) -> Tensor:
    """(…, c r², h, w) becomes (…, c, h r, w r)."""
def pixel_unshuffle(input: Operand, downscale_factor: _int, *, out: Tensor | None = None) -> Tensor:
    """(…, c, h r, w r) becomes (…, c r², h, w)."""
def poisson(input: Operand, generator: Random | None = None, *, out: Tensor | None = None) -> Tensor:
    """Counts of Poisson's distribution with the rates in ``input``, in its dtype; derivative 0, as torch has it."""
def poisson_nll_loss(input: Operand, target: Operand, log_input: _bool = True, full: _bool = False, eps: _float = 1e-08, reduction: _int = 0) -> Tensor:
    """``nn.functional.poisson_nll_loss`` with torch's number for the reduction: 0 none (torch's default), 1 mean, 2 sum."""
def polar(abs: Operand, angle: Operand, *, out: Tensor | None = None) -> Tensor:
    """abs · (cos angle + i·sin angle)."""
def polygamma(n: _int, input: Operand, *, out: Tensor | None = None) -> Tensor:
    """The n-th derivative of the digamma function at ``input`` > 0; as a method ``x.polygamma(n)``."""
def positive(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """The input itself."""
def pow(input: Operand, exponent: Operand, *, out: Tensor | None = None) -> Tensor:
    """input to the power other; input**0 has derivative 0 at input = 0, as torch."""
def prelu(input: Operand, weight: Operand, *, out: Tensor | None = None) -> Tensor:
    """``input`` above 0, weight · input below; one weight, or one per channel (axis 1)."""
from symgrad.devices import preserve_format as preserve_format
def prod(input: Operand, dim: _int | None = None, keepdim: _bool = False, *, dtype: DType | None = None, out: Tensor | None = None, axis: _int | None = ..., keepdims: _bool = ...) -> Tensor:
    """Product over one axis, or over all entries."""
from symgrad import profiler as profiler
from symgrad.formula.structures import project as project
from symgrad.tensor.questions import promote_types as promote_types
def psi(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Derivative of log Γ."""
def put(input: Operand, index: Operand, source: Operand, accumulate: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """``input`` with ``source`` written at flat places ``index``, or added to what is there."""
def qr(input: Operand, some: _bool = True, *, out: Sequence[Tensor] | None = None) -> return_types.qr:
    """Q and R with input = Q R, reduced if ``some``."""
def quantile(input: Operand, q: Operand, dim: _int | None = None, keepdim: _bool = False, *, interpolation: str = 'linear', out: Tensor | None = None, axis: _int | None = ..., keepdims: _bool = ...) -> Tensor:
    """The ``q``-quantiles (levels in [0, 1]) of all entries or along ``dim``; nan when an entry is."""
from symgrad import quasirandom as quasirandom
def rad2deg(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Radians in degrees."""
def rad2deg_(input: Operand) -> Tensor: ...
def radians(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Degrees in radians."""
from symgrad.random import rand as rand
from symgrad.random import rand_like as rand_like
from symgrad.random import randint as randint
from symgrad.random import randint_like as randint_like
from symgrad.random import randn as randn
from symgrad.random import randn_like as randn_like
from symgrad.random import randperm as randperm
from symgrad.tensor.ranges import range as range
def ravel(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """All entries in one axis; those that are not next to each other in memory are copied."""
def real(x: Operand, *, out: Tensor | None = None) -> Tensor:
    """Real part; the input itself when it is real."""
def reciprocal(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """1/input."""
def reciprocal_(input: Operand) -> Tensor: ...
def relu(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """max(input, 0); derivative 0 at 0."""
def relu_(input: Operand) -> Tensor: ...
def remainder(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """input - other * floor(input/other), with the sign of other."""
def renorm(input: Operand, p: _float, dim: _int, maxnorm: _float, *, out: Tensor | None = None) -> Tensor:
    """Slices along ``dim`` scaled down to a p-norm of at most ``maxnorm``."""
def repeat(input: Operand, *repeats: _int | Ints, out: Tensor | None = None) -> Tensor:
    """Tiled: axis k occurs ``repeats[k]`` times over (torch's ``repeat``, NumPy's ``tile``)."""
def repeat_interleave(input: Operand, repeats: Operand | None = None, dim: _int | None = None, *, output_size: _int | None = None, out: Tensor | None = None, axis: _int | None = ...) -> Tensor:
    """Every entry of the axis ``dim`` ``repeats`` times in a row; ``repeats`` may differ from entry to entry."""
from symgrad.explaining.precise import replay as replay
def reshape(input: Operand, *sizes: _int | Ints, shape: Ints = ..., out: Tensor | None = None) -> Tensor:
    """The same entries in row-major order under another shape; one size may be -1."""
def resize_as_(self: Operand, other: Operand) -> Tensor:
    """The shape of another tensor in place, as :meth:`resize_`."""
def resolve_conj(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """The input itself, or a copy of what is a conjugate of the memory that it shows."""
def resolve_neg(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """The input itself, or a copy of what is a negative of the memory that it shows."""
from symgrad.tensor.questions import result_type as result_type
from symgrad import return_types as return_types
def rms_norm(input: Operand, normalized_shape: Sequence[_int], weight: Operand | None = None, eps: _float | None = None) -> Tensor:
    """Divided by the root of the mean square over the last axes, then times ``weight``."""
def rnn_relu(*args: Any, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """A recurrent network of relu units over whole sequences, in torch's order of arguments."""
def rnn_relu_cell(input: Operand, hx: Operand, w_ih: Operand, w_hh: Operand, b_ih: Operand | None = None, b_hh: Operand | None = None, *, out: Tensor | None = None) -> Tensor:
    """The next state relu(w_ih input + b_ih + w_hh hx + b_hh) of a recurrent network."""
def rnn_tanh(*args: Any, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """A recurrent network of tanh units over whole sequences, in torch's order of arguments."""
def rnn_tanh_cell(input: Operand, hx: Operand, w_ih: Operand, w_hh: Operand, b_ih: Operand | None = None, b_hh: Operand | None = None, *, out: Tensor | None = None) -> Tensor:
    """The next state tanh(w_ih input + b_ih + w_hh hx + b_hh) of a recurrent network."""
def roll(input: Operand, shifts: _int | Ints, dims: _int | Ints | None = None, *, out: Tensor | None = None) -> Tensor:
    """Entries moved by ``shifts`` along ``dims`` (in the flattened tensor without ``dims``), around the ends."""
def rot90(input: Operand, k: _int = 1, dims: Sequence[_int] = (0, 1), *, out: Tensor | None = None) -> Tensor:
    """The plane of two axes turned by ``k`` right angles, from the first towards the second."""
def round(input: Operand, *, decimals: _int = 0, out: Tensor | None = None) -> Tensor:
    """The nearest integer, or multiple of 10^-decimals; halves to even, derivative 0."""
def round_(input: Operand, *, decimals: _int = 0) -> Tensor: ...
def row_stack(tensors: Sequence[Operand], *, out: Tensor | None = None) -> Tensor:
    """Joined along the first axis; vectors are rows."""
def rrelu(input: Operand, lower: _float = 0.125, upper: _float = 0.3333333333333333, training: _bool = False, *, generator: Random | None = None) -> Tensor:
    """leaky_relu with a slope drawn for every entry that is not positive while training, the mean slope otherwise."""
def rrelu_(input: Operand, lower: _float = 0.125, upper: _float = 0.3333333333333333, training: _bool = False, *, generator: Random | None = None) -> Tensor:
    """``rrelu`` in place."""
def rsqrt(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """1/sqrt(input)."""
def rsqrt_(input: Operand) -> Tensor: ...
def rsub(input: Operand, other: Operand, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """other - alpha * input."""
from symgrad.tensor.storing import save as save
from symgrad.tensor.creation import scalar_tensor as scalar_tensor
@overload
def scatter(input: Operand, dim: _int, index: Operand, src: Operand | None = None, *, value: Number | None = None, reduce: str | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def scatter(input: Operand, *, axis: _int, index: Operand, src: Operand | None = None, value: Number | None = None, reduce: str | None = None, out: Tensor | None = None) -> Tensor:
    """``input`` with ``src`` (or one ``value``) written along ``dim`` at ``index``; ``reduce`` "add" or "multiply"."""
@overload
def scatter_add(input: Operand, dim: _int, index: Operand, src: Operand, *, out: Tensor | None = None) -> Tensor: ...
@overload
def scatter_add(input: Operand, *, axis: _int, index: Operand, src: Operand, out: Tensor | None = None) -> Tensor:
    """``input`` with ``src`` added along ``dim`` at ``index``; repeated places add up."""
@overload
def scatter_reduce(input: Operand, dim: _int, index: Operand, src: Operand, reduce: str, *, include_self: _bool = True, out: Tensor | None = None) -> Tensor: ...
@overload
def scatter_reduce(input: Operand, *, axis: _int, index: Operand, src: Operand, reduce: str, include_self: _bool = True, out: Tensor | None = None) -> Tensor:
    """``input`` combined with ``src`` along ``dim`` at ``index``: "sum", "mean", "prod", "amax" or "amin"."""
def searchsorted(sorted_sequence: Operand, input: Operand, *, out_int32: _bool = False, right: _bool = False, side: str | None = None, sorter: Operand | None = None, out: Tensor | None = None) -> Tensor:
    """Places at which ``input`` could be put into the sorted last axis of ``sorted_sequence``."""
from symgrad.random import seed as seed
def segment_reduce(data: Operand, reduce: str, *, lengths: Operand | None = None, indices: Operand | None = None, offsets: Operand | None = None, axis: _int = 0, unsafe: _bool = False, initial: Number | None = None, out: Tensor | None = None) -> Tensor:
    """The "sum", "mean", "prod", "max" or "min" of ranges of an axis that follow each other, from ``initial`` on."""
@overload
def select(input: Operand, dim: _int, index: _int, *, out: Tensor | None = None) -> Tensor: ...
@overload
def select(input: Operand, *, axis: _int, index: _int, out: Tensor | None = None) -> Tensor:
    """Entry ``index`` of the axis ``dim``."""
def select_copy(input: Operand, dim: _int, index: _int, *, out: Tensor | None = None) -> Tensor:
    """A copy of what ``select`` shows of ``input``, in memory of its own, row by row."""
@overload
def select_scatter(input: Operand, src: Operand, dim: _int, index: _int, *, out: Tensor | None = None) -> Tensor: ...
@overload
def select_scatter(input: Operand, src: Operand, *, axis: _int, index: _int, out: Tensor | None = None) -> Tensor:
    """``input`` with the entry ``index`` of the axis ``dim`` replaced by ``src``."""
def selu(input: Operand) -> Tensor:
    """The self-normalising scale times elu (Klambauer et al. 2017)."""
def selu_(input: Operand) -> Tensor:
    """``selu`` in place."""
from symgrad import serialization as serialization
from symgrad.autograd.anomaly_mode import set_anomaly_enabled as set_anomaly_enabled
from symgrad.tensor.questions import set_default_device as set_default_device
from symgrad.dtypes import set_default_dtype as set_default_dtype
from symgrad.tensor.legacy import set_default_tensor_type as set_default_tensor_type
from symgrad.switches import set_float32_matmul_precision as set_float32_matmul_precision
from symgrad.autograd import set_grad_enabled as set_grad_enabled
from symgrad.switches import set_num_threads as set_num_threads
from symgrad.tensor.display import set_printoptions as set_printoptions
from symgrad.random import set_rng_state as set_rng_state
from symgrad.switches import set_warn_always as set_warn_always
def sgn(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """input/|input| of complex input, 0 at 0."""
from symgrad.dtype_objects import short as short
def sigmoid(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """The logistic function 1/(1 + e^-input)."""
def sigmoid_(input: Operand) -> Tensor: ...
def sign(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """-1, 0 or 1; derivative 0."""
from symgrad import signal as signal
def signbit(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether the sign bit is set; no derivative."""
def sin(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Sine (radians)."""
def sin_(input: Operand) -> Tensor: ...
def sinc(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """sin(πx)/(πx), and 1 at 0."""
def sinc_(input: Operand) -> Tensor: ...
def sinh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Hyperbolic sine."""
def sinh_(input: Operand) -> Tensor: ...
def slice_copy(input: Operand, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1, *, out: Tensor | None = None) -> Tensor:
    """A copy of what ``slice`` shows of ``input``, in memory of its own, row by row."""
def slice_scatter(input: Operand, src: Operand, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1, *, out: Tensor | None = None, axis: _int = ...) -> Tensor:
    """``input`` with a range of the axis ``dim`` replaced by ``src``."""
def slogdet(input: Operand, *, out: Sequence[Tensor] | None = None) -> return_types.slogdet:
    """Sign and log|det| of square matrices."""
@overload
def softmax(input: Operand, dim: _int, dtype: DType | None = None, *, out: Tensor | None = None) -> Tensor: ...
@overload
def softmax(input: Operand, *, axis: _int, dtype: DType | None = None, out: Tensor | None = None) -> Tensor:
    """e^input / Σ e^input along the axis ``dim``."""
def sort(input: Operand, dim: _int = -1, descending: _bool = False, stable: _bool | None = False, *, out: Sequence[Tensor] | None = None, axis: _int = ...) -> return_types.sort:
    """Sorted values along ``dim`` and the places they came from."""
from symgrad import sparse as sparse
from symgrad.devices import sparse_coo as sparse_coo
from symgrad.sparse import sparse_coo_tensor as sparse_coo_tensor
from symgrad.devices import sparse_csr as sparse_csr
from symgrad import special as special
def split(input: Operand, split_size_or_sections: _int | Ints, dim: _int = 0, *, out: Sequence[Tensor] | None = None, axis: _int = ...) -> tuple[Tensor, ...]:
    """Ranges of an axis: of one size (the last may be smaller), or of the sizes listed."""
def split_copy(input: Operand, split_size: _int, dim: _int = 0, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """A copy of what ``split`` shows of ``input``, in memory of its own, row by row."""
def split_with_sizes(input: Operand, split_sizes: Sequence[_int], dim: _int = 0, *, out: Sequence[Tensor] | None = None, axis: _int = ...) -> tuple[Tensor, ...]:
    """Ranges of an axis of the sizes listed."""
def split_with_sizes_copy(input: Operand, split_sizes: Sequence[_int], dim: _int = 0, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """A copy of what ``split_with_sizes`` shows of ``input``, in memory of its own, row by row."""
def spmm(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """The matrix product of tensors with 2 and 2 axes."""
def sqrt(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Square root; the derivative at 0 is +inf."""
def sqrt_(input: Operand) -> Tensor: ...
def square(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """input squared."""
def square_(input: Operand) -> Tensor: ...
def squeeze(input: Operand, dim: _int | Ints | None = None, *, out: Tensor | None = None, axis: _int | Ints | None = ...) -> Tensor:
    """Without the axes of size 1 (all of them, or those named)."""
def squeeze_copy(input: Operand, dim: _int | Ints | None = None, *, out: Tensor | None = None) -> Tensor:
    """A copy of what ``squeeze`` shows of ``input``, in memory of its own, row by row."""
def stack(tensors: Sequence[Operand], dim: _int = 0, *, out: Tensor | None = None, axis: _int = ...) -> Tensor:
    """Tensors of one shape joined along a new axis ``dim``."""
def std(input: Operand, dim: _int | Ints | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: Number | None = None, out: Tensor | None = None, axis: _int | Ints | None = ..., keepdims: _bool = ...) -> Tensor:
    """Standard deviation over axes; derivative 0 where all entries are equal.  ``correction`` is 1 by default (Bessel's), as torch."""
def std_mean(input: Operand, dim: _int | Ints | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, out: Sequence[Tensor] | None = None, axis: _int | Ints | None = ..., keepdims: _bool = ..., **options: Any) -> tuple[Tensor, Tensor]:
    """The pair (std, mean) over axes."""
def stft(input: Operand, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: Operand | None = None, center: _bool = True, pad_mode: str = 'reflect', normalized: _bool = False, onesided: _bool | None = None, return_complex: _bool | None = None, align_to_window: _bool | None = None, *, out: Tensor | None = None) -> Tensor:
    """Short-time Fourier transform of signals in the last axis: (…, frequencies, frames)."""
from symgrad.devices import strided as strided
def sub(input: Operand, other: Operand, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """input - alpha * other."""
def subtract(input: Operand, other: Operand, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """input - alpha * other."""
def sum(input: Operand, dim: _int | Ints | None = None, keepdim: _bool = False, *, dtype: DType | None = None, out: Tensor | None = None, axis: _int | Ints | None = ..., keepdims: _bool = ...) -> Tensor:
    """Sum over the axes ``dim`` (all by default); ``keepdim`` leaves them at size 1."""
def svd(input: Operand, some: _bool = True, compute_uv: _bool = True, *, out: Sequence[Tensor] | None = None) -> return_types.svd:
    """U, S and V (not its transpose) with input = U diag(S) Vᴴ."""
def svd_lowrank(A: Operand, q: _int = 6, niter: _int = 2, M: Operand | None = None, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """U, S and V of about the ``q`` largest singular values of A (of A - M), by ``niter`` rounds from a random start."""
def swapaxes(input: Operand, axis0: _int, axis1: _int, *, out: Tensor | None = None) -> Tensor:
    """Two axes exchanged, as :func:`transpose` does."""
def swapdims(input: Operand, dim0: _int, dim1: _int, *, out: Tensor | None = None) -> Tensor:
    """Two axes exchanged."""
def t(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """The transpose of a matrix; vectors and scalars as they are."""
def t_copy(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """A copy of what ``t`` shows of ``input``, in memory of its own, row by row."""
def take(input: Operand, index: Operand, *, out: Tensor | None = None) -> Tensor:
    """Entries at flat places, in the shape of ``index``."""
def take_along_dim(input: Operand, indices: Operand, dim: _int | None = None, *, out: Tensor | None = None, axis: _int | None = ...) -> Tensor:
    """Entries along ``dim`` picked by ``indices``, which broadcasts against the other axes."""
def tan(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Tangent (radians)."""
def tan_(input: Operand) -> Tensor: ...
def tanh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Hyperbolic tangent."""
def tanh_(input: Operand) -> Tensor: ...
from symgrad.tensor.creation import tensor as tensor
def tensor_split(input: Operand, indices_or_sections: Any = None, dim: _int = 0, *, out: Sequence[Tensor] | None = None, axis: _int = ..., **named: Any) -> tuple[Tensor, ...]:
    """Ranges of an axis: that many of nearly equal size, or cut at the indices given."""
def tensordot(a: Operand, b: Operand, dims: Any = 2, *, out: Tensor | None = None) -> Tensor:
    """Sum over pairs of axes: the last ``dims`` of ``a`` with the first of ``b``, or the two lists given."""
from symgrad import testing as testing
def threshold(input: Operand, threshold: _float, value: _float) -> Tensor:
    """``input`` above the threshold, ``value`` elsewhere; both are integers beside integers."""
def threshold_(input: Operand, threshold: _float, value: _float) -> Tensor:
    """``threshold`` in place."""
def tile(input: Operand, *sizes: _int | Ints, dims: Ints = ..., out: Tensor | None = None) -> Tensor:
    """NumPy's tile: like ``repeat``, with missing counts taken as 1."""
from symgrad.notation.exchange import to_matexpr as to_matexpr
def topk(input: Operand, k: _int, dim: _int = -1, largest: _bool = True, sorted: _bool = True, *, out: Sequence[Tensor] | None = None) -> return_types.topk:
    """The ``k`` largest (or smallest) entries along ``dim``, in order, and their places."""
def trace(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Sum of the main diagonal of a matrix."""
def transpose(input: Operand, dim0: _int, dim1: _int, *, out: Tensor | None = None) -> Tensor:
    """Two axes exchanged."""
def transpose_copy(input: Operand, dim0: _int, dim1: _int, *, out: Tensor | None = None) -> Tensor:
    """A copy of what ``transpose`` shows of ``input``, in memory of its own, row by row."""
def trapezoid(y: Operand, x: Operand | None = None, *, dx: Number = 1, dim: _int = -1, out: Tensor | None = None, axis: _int = ...) -> Tensor:
    """The integral along ``dim`` by the trapezoidal rule, at points ``x`` or ``dx`` apart."""
def trapz(y: Operand, x: Operand | None = None, *, dx: _float = 1, dim: _int = -1, out: Tensor | None = None, axis: _int = ...) -> Tensor:
    """The integral along ``dim`` by the trapezoidal rule, at points ``x`` or ``dx`` apart."""
def triangular_solve(input: Operand, A: Operand, upper: _bool = True, transpose: _bool = False, unitriangular: _bool = False, *, out: Sequence[Tensor] | None = None) -> return_types.triangular_solve:
    """The pair (X, A) with A X = b for a triangular A."""
def tril(input: Operand, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """Lower triangle up to the ``diagonal``-th diagonal, zeros above."""
from symgrad.tensor.ranges import tril_indices as tril_indices
def triplet_margin_loss(anchor: Operand, positive: Operand, negative: Operand, margin: _float = 1.0, p: _float = 2, eps: _float = 1e-06, swap: _bool = False, reduction: _int = 0) -> Tensor:
    """``nn.functional.triplet_margin_loss`` with torch's number for the reduction: 0 none (torch's default), 1 mean, 2 sum."""
def triu(input: Operand, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """Upper triangle from the ``diagonal``-th diagonal, zeros below."""
from symgrad.tensor.ranges import triu_indices as triu_indices
def true_divide(input: Operand, other: Operand, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Tensor:
    """input / other; ``rounding_mode`` None, "trunc" or "floor" (rounded results have derivative 0)."""
def trunc(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Integer part; derivative 0."""
def trunc_(input: Operand) -> Tensor: ...
from symgrad.tensor.questions import typename as typename
from symgrad import types as types
from symgrad.dtype_objects import uint16 as uint16
from symgrad.dtype_objects import uint32 as uint32
from symgrad.dtype_objects import uint64 as uint64
from symgrad.dtype_objects import uint8 as uint8
def unbind(input: Operand, dim: _int = 0, *, out: Sequence[Tensor] | None = None, axis: _int = ...) -> tuple[Tensor, ...]:
    """All entries of an axis, as a tuple."""
def unbind_copy(input: Operand, dim: _int = 0, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """A copy of what ``unbind`` shows of ``input``, in memory of its own, row by row."""
@overload
def unflatten(input: Operand, dim: _int, sizes: Sequence[_int], *, out: Tensor | None = None) -> Tensor: ...
@overload
def unflatten(input: Operand, *, axis: _int, sizes: Sequence[_int], out: Tensor | None = None) -> Tensor:
    """One axis split into several; one of the sizes may be -1."""
def unfold(input: Operand, dimension: _int, size: _int, step: _int, *, out: Tensor | None = None) -> Tensor:
    """Windows of ``size`` entries along an axis, every ``step``-th, with a new last axis inside them."""
def unfold_copy(input: Operand, dimension: _int, size: _int, step: _int, *, out: Tensor | None = None) -> Tensor:
    """A copy of what ``unfold`` shows of ``input``, in memory of its own, row by row."""
@overload
def unique(input: Operand, sorted: _bool = True, return_inverse: Literal[False] = False, return_counts: Literal[False] = False, dim: _int | None = None, *, out: Tensor | None = None, axis: _int | None = ...) -> Tensor: ...
@overload
def unique(input: Operand, sorted: _bool = True, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None, *, out: Sequence[Tensor] | None = None, axis: _int | None = ...) -> tuple[Tensor, ...]:
    """The different entries (with ``dim``: slices), in order; on demand the number of each, and how many it has."""
@overload
def unique_consecutive(input: Operand, return_inverse: Literal[False] = False, return_counts: Literal[False] = False, dim: _int | None = None, *, out: Tensor | None = None, axis: _int | None = ...) -> Tensor: ...
@overload
def unique_consecutive(input: Operand, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None, *, out: Sequence[Tensor] | None = None, axis: _int | None = ...) -> tuple[Tensor, ...]:
    """The entries (with ``dim``: slices) that differ from the one before them."""
def unravel_index(indices: Operand, shape: _int | Ints, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """The places along every axis that places in the flattened array stand for."""
def unsafe_chunk(input: Operand, chunks: _int, dim: _int = 0, *, out: Sequence[Tensor] | None = None, axis: _int = ...) -> tuple[Tensor, ...]:
    """At most ``chunks`` ranges of an axis, all but the last of equal size."""
def unsafe_split(input: Operand, split_size: _int, dim: _int = 0, *, out: Sequence[Tensor] | None = None, axis: _int = ...) -> tuple[Tensor, ...]:
    """Ranges of an axis: of one size (the last may be smaller), or of the sizes listed."""
def unsafe_split_with_sizes(input: Operand, split_sizes: Sequence[_int], dim: _int = 0, *, out: Sequence[Tensor] | None = None, axis: _int = ...) -> tuple[Tensor, ...]:
    """Ranges of an axis of the sizes listed."""
@overload
def unsqueeze(input: Operand, dim: _int, *, out: Tensor | None = None) -> Tensor: ...
@overload
def unsqueeze(input: Operand, *, axis: _int, out: Tensor | None = None) -> Tensor:
    """With a new axis of size 1 at ``dim``."""
def unsqueeze_copy(input: Operand, dim: _int, *, out: Tensor | None = None) -> Tensor:
    """A copy of what ``unsqueeze`` shows of ``input``, in memory of its own, row by row."""
from symgrad.switches import use_deterministic_algorithms as use_deterministic_algorithms
from symgrad import utils as utils
def vander(x: Operand, N: _int | None = None, increasing: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The powers of every entry of a vector along a new last axis, the highest first unless ``increasing``."""
def var(input: Operand, dim: _int | Ints | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: Number | None = None, out: Tensor | None = None, axis: _int | Ints | None = ..., keepdims: _bool = ...) -> Tensor:
    """Variance over axes: squared deviations over (n - correction).  ``correction`` is 1 by default (Bessel's), as torch."""
def var_mean(input: Operand, dim: _int | Ints | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, out: Sequence[Tensor] | None = None, axis: _int | Ints | None = ..., keepdims: _bool = ..., **options: Any) -> tuple[Tensor, Tensor]:
    """The pair (var, mean) over axes."""
def vdot(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Σ conj(input) · other of two vectors."""
from symgrad.explaining import verify as verify
from symgrad import version as version
def view(input: Operand, *shape: _int | Ints, out: Tensor | None = None) -> Tensor:
    """The same entries in row-major order under another shape; one size may be -1."""
def view_as_complex(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """The last axis (of size 2) read as real and imaginary part, as a view where these lie side by side."""
def view_as_complex_copy(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """A copy of what ``view_as_complex`` shows of ``input``, in memory of its own, row by row."""
def view_as_real(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Real and imaginary parts along a new last axis, as a view."""
def view_as_real_copy(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """A copy of what ``view_as_real`` shows of ``input``, in memory of its own, row by row."""
def view_copy(input: Operand, *shape: DType | _int | Ints, size: Ints = ..., out: Tensor | None = None) -> Tensor:
    """A copy of what ``view`` shows of ``input``, in memory of its own, row by row."""
from symgrad.func import vmap as vmap
def vsplit(input: Operand, sections: Ints | _int, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """``tensor_split`` along axis 0."""
def vstack(tensors: Sequence[Operand], *, out: Tensor | None = None) -> Tensor:
    """Joined along the first axis; vectors are rows."""
@overload
def where(condition: Operand, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]: ...
@overload
def where(condition: Operand, input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Entries of ``input`` where ``condition`` holds, of ``other`` elsewhere; shapes broadcast."""
from symgrad.notation import where_list as where_list
from symgrad._higher_order_ops import while_loop as while_loop
def xlogy(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """input log other, and 0 where input is 0 and other a number."""
def xlogy_(input: Operand, other: Operand) -> Tensor: ...
from symgrad.backends import xpu as xpu
def zero_(self: Operand) -> Tensor:
    """Fill with zeros in place."""
from symgrad.tensor.creation import zeros as zeros
from symgrad.tensor.creation import zeros_like as zeros_like
