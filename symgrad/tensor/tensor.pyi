"""The tensor users hold: data, flags, methods bound from the op table, NumPy protocols.  No mathematics."""

# Written by ``python -m tests.typed.stubs`` from the functions themselves, which are what to change.

import numpy as np
from builtins import bool as _bool, float as _float, int as _int, type as _type
from collections.abc import Callable, Iterator, Sequence
from symgrad import return_types
from symgrad.devices import device as _device, layout as _layout
from symgrad.dtype_objects import dtype as _dtype
from symgrad.sparse import SparseTensor
from symgrad.tape.graph import Source
from symgrad.tape.record import Extra, Recorded
from symgrad.tensor.facts import Shape
from symgrad.tensor.kinds import DType, Device, Format, Index, Ints, Number, Operand, Random
from typing import Any, Literal, overload

class Tensor(Recorded):
    """A value with an optional history: number, formula and gradient of one array."""

    @property
    def H(self) -> Tensor:
        """Conjugate transpose of a matrix."""
    @property
    def T(self) -> Tensor:
        """The axes in reverse order; of others than matrices torch will refuse it, and warns."""
    def abs(self) -> Tensor:
        """Absolute value; derivative 0 at 0."""
    def abs_(self) -> Tensor: ...
    def absolute(self) -> Tensor:
        """Absolute value; derivative 0 at 0."""
    def absolute_(self) -> Tensor: ...
    def acos(self) -> Tensor:
        """Inverse cosine."""
    def acos_(self) -> Tensor: ...
    def acosh(self) -> Tensor:
        """Inverse hyperbolic cosine."""
    def acosh_(self) -> Tensor: ...
    def add(self, other: Operand, *, alpha: Number = 1) -> Tensor:
        """input + alpha * other."""
    def add_(self, other: Operand, *, alpha: Number = 1) -> Tensor: ...
    def addbmm(self, batch1: Operand, batch2: Operand, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta · input + alpha · (the sum over the batch of batch1 @ batch2)."""
    def addbmm_(self, batch1: Operand, batch2: Operand, *, beta: Number = 1, alpha: Number = 1) -> Tensor: ...
    def addcdiv(self, tensor1: Operand, tensor2: Operand, *, value: Number = 1) -> Tensor:
        """input + value · tensor1 / tensor2."""
    def addcdiv_(self, tensor1: Operand, tensor2: Operand, *, value: Number = 1) -> Tensor: ...
    def addcmul(self, tensor1: Operand, tensor2: Operand, *, value: Number = 1) -> Tensor:
        """input + value · tensor1 · tensor2."""
    def addcmul_(self, tensor1: Operand, tensor2: Operand, *, value: Number = 1) -> Tensor: ...
    def addmm(self, mat1: Operand, mat2: Operand, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta · input + alpha · (mat1 @ mat2) of matrices."""
    def addmm_(self, mat1: Operand, mat2: Operand, *, beta: Number = 1, alpha: Number = 1) -> Tensor: ...
    def addmv(self, mat: Operand, vec: Operand, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta · input + alpha · (mat @ vec)."""
    def addmv_(self, mat: Operand, vec: Operand, *, beta: Number = 1, alpha: Number = 1) -> Tensor: ...
    def addr(self, vec1: Operand, vec2: Operand, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta · input + alpha · vec1 vec2ᵀ."""
    def addr_(self, vec1: Operand, vec2: Operand, *, beta: Number = 1, alpha: Number = 1) -> Tensor: ...
    def adjoint(self) -> Tensor:
        """Conjugate transpose of the last two axes: ``x.mH``."""
    def all(self, dim: Ints | _int | None = None, keepdim: _bool = False, *, axis: Ints | _int | None = ..., keepdims: _bool = ...) -> Tensor:
        """Whether no entry along ``dim`` (of all, by default) is zero."""
    def allclose(self, other: Operand, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> _bool:
        """Whether all entries are close; see :func:`isclose`."""
    def amax(self, dim: _int | Ints | None = (), keepdim: _bool = False, *, axis: _int | Ints | None = ..., keepdims: _bool = ...) -> Tensor:
        """Largest entry over axes; ties share the gradient equally."""
    def amin(self, dim: _int | Ints | None = (), keepdim: _bool = False, *, axis: _int | Ints | None = ..., keepdims: _bool = ...) -> Tensor:
        """Smallest entry over axes; ties share the gradient equally."""
    def aminmax(self, *, dim: _int | None = None, keepdim: _bool = False, axis: _int | None = ..., keepdims: _bool = ...) -> return_types.aminmax:
        """The pair (min, max) of all entries or along ``dim``; ties share the gradient equally."""
    def angle(self) -> Tensor:
        """The angle of a complex number; 0 or π for real ones, derivative 0 there and at 0."""
    def any(self, dim: Ints | _int | None = None, keepdim: _bool = False, *, axis: Ints | _int | None = ..., keepdims: _bool = ...) -> Tensor:
        """Whether some entry along ``dim`` (of all, by default) is not zero."""
    def apply_(self, callable: Callable[[Any], Any]) -> Tensor:
        """A Python function of a number on every entry, in place.  It has no derivative: see ``autograd.Function``."""
    def arccos(self) -> Tensor:
        """Inverse cosine."""
    def arccos_(self) -> Tensor: ...
    def arccosh(self) -> Tensor:
        """Inverse hyperbolic cosine."""
    def arccosh_(self) -> Tensor: ...
    def arcsin(self) -> Tensor:
        """Inverse sine."""
    def arcsin_(self) -> Tensor: ...
    def arcsinh(self) -> Tensor:
        """Inverse hyperbolic sine."""
    def arcsinh_(self) -> Tensor: ...
    def arctan(self) -> Tensor:
        """Inverse tangent."""
    def arctan2(self, other: Operand) -> Tensor:
        """The angle of the point (other, input), which is arctan(input/other) turned into its quadrant; derivatives 0 at the origin."""
    def arctan2_(self, other: Operand) -> Tensor: ...
    def arctan_(self) -> Tensor: ...
    def arctanh(self) -> Tensor:
        """Inverse hyperbolic tangent."""
    def arctanh_(self) -> Tensor: ...
    def argmax(self, dim: _int | None = None, keepdim: _bool = False, *, axis: _int | None = ..., keepdims: _bool = ...) -> Tensor:
        """The place of the largest entry along ``dim``, or of the flattened input without it, the first of equal ones; no derivative."""
    def argmin(self, dim: _int | None = None, keepdim: _bool = False, *, axis: _int | None = ..., keepdims: _bool = ...) -> Tensor:
        """The place of the smallest entry along ``dim``, or of the flattened input without it, the first of equal ones; no derivative."""
    def argsort(self, dim: _int = -1, descending: _bool = False, stable: _bool = False, *, axis: _int = ...) -> Tensor:
        """The places that sort an axis."""
    def argwhere(self) -> Tensor:
        """Places of the entries that are not zero: shape (count, ndim)."""
    def as_strided(self, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None) -> Tensor:
        """The entries at the places ``storage_offset`` + Σ i_k · ``stride``_k of the memory that ``input`` lies in."""
    def as_strided_(self, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None) -> Tensor: ...
    def as_strided_scatter(self, src: Operand, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None) -> Tensor:
        """``input`` with the entries that ``as_strided`` would give replaced by ``src``."""
    def as_subclass(self, cls: _type[Any]) -> Any:
        """A view of the tensor, of a class derived from ``Tensor``."""
    def asin(self) -> Tensor:
        """Inverse sine."""
    def asin_(self) -> Tensor: ...
    def asinh(self) -> Tensor:
        """Inverse hyperbolic sine."""
    def asinh_(self) -> Tensor: ...
    def atan(self) -> Tensor:
        """Inverse tangent."""
    def atan2(self, other: Operand) -> Tensor:
        """The angle of the point (other, input), which is arctan(input/other) turned into its quadrant; derivatives 0 at the origin."""
    def atan2_(self, other: Operand) -> Tensor: ...
    def atan_(self) -> Tensor: ...
    def atanh(self) -> Tensor:
        """Inverse hyperbolic tangent."""
    def atanh_(self) -> Tensor: ...
    def backward(self, gradient: Operand | None = None, retain_graph: _bool | None = None, create_graph: _bool = False, inputs: Operand | None = None, **legacy: Operand) -> None:
        """Add the gradient of this tensor to the ``.grad`` of the leaves it came from."""
    def baddbmm(self, batch1: Operand, batch2: Operand, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta · input + alpha · (batch1 @ batch2) of batches of matrices."""
    def baddbmm_(self, batch1: Operand, batch2: Operand, *, beta: Number = 1, alpha: Number = 1) -> Tensor: ...
    def bernoulli(self, p: _float | None = None, *, generator: Random | None = None) -> Tensor:
        """0 or 1, with the probabilities in ``input`` (or ``p`` everywhere); derivative 0 unless given a reward."""
    def bernoulli_(self, p: Operand = 0.5, *, generator: Random | None = None) -> Tensor:
        """1 with probability ``p`` (a number, or a tensor of one for every entry) and 0 else, in place."""
    def bfloat16(self, *, memory_format: Format | None = None) -> Tensor:
        """The tensor in bfloat16."""
    def bincount(self, weights: Operand | None = None, minlength: _int = 0) -> Tensor:
        """How often each number from 0 on occurs, or the sum of the ``weights`` that stand at it."""
    def bitwise_and(self, other: Operand) -> Tensor:
        """``input & other``: on integers bit by bit."""
    def bitwise_and_(self, other: Operand) -> Tensor: ...
    def bitwise_left_shift(self, other: Operand) -> Tensor:
        """input · 2**other: the bits moved up; no derivative."""
    def bitwise_left_shift_(self, other: Operand) -> Tensor: ...
    def bitwise_not(self) -> Tensor:
        """``~input``: on integers all bits turned, on truth values the opposite."""
    def bitwise_not_(self) -> Tensor: ...
    def bitwise_or(self, other: Operand) -> Tensor:
        """``input | other``: on integers bit by bit."""
    def bitwise_or_(self, other: Operand) -> Tensor: ...
    def bitwise_right_shift(self, other: Operand) -> Tensor:
        """input / 2**other rounded down: the bits moved down; no derivative."""
    def bitwise_right_shift_(self, other: Operand) -> Tensor: ...
    def bitwise_xor(self, other: Operand) -> Tensor:
        """``input ^ other``: on integers bit by bit."""
    def bitwise_xor_(self, other: Operand) -> Tensor: ...
    def bmm(self, mat2: Operand) -> Tensor:
        """The matrix product of tensors with 3 and 3 axes."""
    def bool(self, *, memory_format: Format | None = None) -> Tensor:
        """The tensor in bool."""
    def broadcast_to(self, *sizes: _int | Ints, size: Ints = ...) -> Tensor:
        """Axes of size 1 (and new leading axes) repeated; -1 keeps a size."""
    def byte(self, *, memory_format: Format | None = None) -> Tensor:
        """The tensor in uint8."""
    def cauchy_(self, median: _float = 0.0, sigma: _float = 1.0, *, generator: Random | None = None) -> Tensor:
        """Cauchy samples in place."""
    def cbrt(self) -> Tensor:
        """Cube root."""
    def cdouble(self, *, memory_format: Format | None = None) -> Tensor:
        """The tensor in complex128."""
    def ceil(self) -> Tensor:
        """Smallest integer not below input; derivative 0."""
    def ceil_(self) -> Tensor: ...
    def cfloat(self, *, memory_format: Format | None = None) -> Tensor:
        """The tensor in complex64."""
    def char(self, *, memory_format: Format | None = None) -> Tensor:
        """The tensor in int8."""
    def cholesky(self, upper: _bool = False) -> Tensor:
        """Lower triangular L with input = L Lᴴ, or upper triangular with input = Uᴴ U."""
    def cholesky_inverse(self, upper: _bool = False) -> Tensor:
        """The inverse of L Lᴴ (Uᴴ U if ``upper``) from its Cholesky factor."""
    def cholesky_solve(self, L: Operand, upper: _bool = False) -> Tensor:
        """X with L Lᴴ X = B (Uᴴ U if ``upper``)."""
    def chunk(self, chunks: _int, dim: _int = 0, *, axis: _int = ...) -> tuple[Tensor, ...]:
        """At most ``chunks`` ranges of an axis, all but the last of equal size."""
    def clamp(self, min: Operand | None = None, max: Operand | None = None) -> Tensor:
        """``input`` limited to [min, max]; either bound may be None, not both."""
    def clamp_(self, min: Operand | None = None, max: Operand | None = None) -> Tensor: ...
    def clamp_max(self, max: Operand) -> Tensor:
        """input limited from above; derivative 1 at the bound."""
    def clamp_max_(self, other: Operand) -> Tensor: ...
    def clamp_min(self, min: Operand) -> Tensor:
        """input limited from below; derivative 1 at the bound."""
    def clamp_min_(self, other: Operand) -> Tensor: ...
    def clip(self, min: Operand | None = None, max: Operand | None = None) -> Tensor:
        """``input`` limited to [min, max]; either bound may be None, not both."""
    def clip_(self, min: Operand | None = None, max: Operand | None = None) -> Tensor: ...
    def clone(self, *, memory_format: Format | None = None) -> Tensor:
        """A copy with history."""
    def combinations(self, r: _int = 2, with_replacement: _bool = False) -> Tensor:
        """All choices of ``r`` entries of a vector, as rows."""
    def conj(self) -> Tensor:
        """Complex conjugate; the input itself when it is real."""
    def conj_physical(self) -> Tensor:
        """Complex conjugate."""
    def conj_physical_(self) -> Tensor: ...
    def contiguous(self, memory_format: Format = ...) -> Tensor:
        """The tensor itself where its memory is in this order, row-major unless stated, else a copy that is."""
    def copy_(self, other: Operand, non_blocking: _bool = False) -> Tensor:
        """Copy another tensor's values into this one, cast to its dtype."""
    def copysign(self, other: Operand) -> Tensor:
        """|input| with the sign of other; derivative 0 at input = 0."""
    def copysign_(self, other: Operand) -> Tensor: ...
    def corrcoef(self) -> Tensor:
        """Correlations of variables in rows."""
    def cos(self) -> Tensor:
        """Cosine (radians)."""
    def cos_(self) -> Tensor: ...
    def cosh(self) -> Tensor:
        """Hyperbolic cosine."""
    def cosh_(self) -> Tensor: ...
    def count_nonzero(self, dim: _int | Ints | None = None, *, axis: _int | Ints | None = ...) -> Tensor:
        """How many entries along ``dim`` (of all, by default) are not zero."""
    def cov(self, *, correction: _int = 1, fweights: Operand | None = None, aweights: Operand | None = None) -> Tensor:
        """The covariance matrix of variables in rows; observations in columns may be counted or weighted."""
    def cpu(self) -> Tensor:
        """The tensor itself: there is no other device."""
    def cross(self, other: Operand, dim: _int | None = None) -> Tensor:
        """The cross product along an axis of size 3 (the first such one by default)."""
    def cuda(self, device: Device = 'cuda', non_blocking: _bool = False) -> Tensor:
        """On a GPU; raises ``DeviceError``, since there is none."""
    @overload
    def cummax(self, dim: _int) -> return_types.cummax: ...
    @overload
    def cummax(self, *, axis: _int) -> return_types.cummax:
        """The running maximum along ``dim`` and its places."""
    @overload
    def cummin(self, dim: _int) -> return_types.cummin: ...
    @overload
    def cummin(self, *, axis: _int) -> return_types.cummin:
        """The running minimum along ``dim`` and its places."""
    @overload
    def cumprod(self, dim: _int, *, dtype: DType | None = None) -> Tensor: ...
    @overload
    def cumprod(self, *, axis: _int, dtype: DType | None = None) -> Tensor:
        """Running product along the axis ``dim``."""
    def cumprod_(self, dim: _int, *, dtype: DType | None = None) -> Tensor: ...
    @overload
    def cumsum(self, dim: _int, *, dtype: DType | None = None) -> Tensor: ...
    @overload
    def cumsum(self, *, axis: _int, dtype: DType | None = None) -> Tensor:
        """Cumulative sum along the axis ``dim``."""
    def cumsum_(self, dim: _int, *, dtype: DType | None = None) -> Tensor: ...
    def cumulative_trapezoid(self, x: Operand | None = None, *, dx: Operand = 1, dim: _int = -1, axis: _int = ...) -> Tensor:
        """The running integral along ``dim`` by the trapezoidal rule."""
    @property
    def data(self) -> Tensor:
        """The same memory without history; changes through it are counted apart, so backward does not object."""
    @data.setter
    def data(self, value: Any) -> None: ...
    def data_ptr(self) -> _int:
        """Address of the first entry; 0 where there is none."""
    def deg2rad(self) -> Tensor:
        """Degrees in radians."""
    def deg2rad_(self) -> Tensor: ...
    def degrees(self) -> Tensor:
        """Radians in degrees."""
    def det(self) -> Tensor:
        """Determinant of square matrices.  Raises ``ShapeError`` unless the last two axes are square."""
    def detach(self) -> Tensor:
        """The same memory without history; a new symbol in formulas."""
    def detach_(self) -> Tensor:
        """Forget the history of this tensor; a view cannot.  In inference mode nothing happens, as in torch."""
    @property
    def device(self) -> _device:
        """Where the tensor lives: on the CPU."""
    def diag(self, diagonal: _int = 0) -> Tensor:
        """A vector as a diagonal matrix, or the diagonal of a matrix."""
    def diag_embed(self, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
        """The last axis spread over the ``offset``-th diagonal of two new axes, ``dim1`` and ``dim2`` of the result."""
    def diagflat(self, offset: _int = 0) -> Tensor:
        """All entries on the ``offset``-th diagonal of a square matrix."""
    def diagonal(self, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """The ``offset``-th diagonal of the axes ``dim1`` and ``dim2``, as the last axis."""
    def diagonal_scatter(self, src: Operand, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """``input`` with a diagonal of two axes replaced by ``src``."""
    def diff(self, n: _int = 1, dim: _int = -1, prepend: Operand | None = None, append: Operand | None = None, *, axis: _int = ...) -> Tensor:
        """Differences of neighbours along ``dim``, ``n`` times over."""
    def digamma(self) -> Tensor:
        """Derivative of log Γ."""
    def digamma_(self) -> Tensor: ...
    def dim(self) -> _int:
        """Number of axes."""
    def dim_order(self, *, ambiguity_check: Operand = False) -> tuple[_int, ...]:
        """The axes from the one whose entries lie farthest apart in memory to the one whose lie nearest."""
    def dist(self, other: Operand, p: _float = 2) -> Tensor:
        """The p-norm of the difference."""
    def div(self, other: Operand, *, rounding_mode: str | None = None) -> Tensor:
        """input / other; ``rounding_mode`` None, "trunc" or "floor" (rounded results have derivative 0)."""
    def div_(self, other: Operand, *, rounding_mode: str | None = None) -> Tensor: ...
    def divide(self, other: Operand, *, rounding_mode: str | None = None) -> Tensor:
        """input / other; ``rounding_mode`` None, "trunc" or "floor" (rounded results have derivative 0)."""
    def divide_(self, other: Operand, *, rounding_mode: str | None = None) -> Tensor: ...
    def dot(self, tensor: Operand) -> Tensor:
        """The matrix product of tensors with 1 and 1 axes."""
    def double(self, *, memory_format: Format | None = None) -> Tensor:
        """The tensor in float64."""
    def dsplit(self, sections: Ints | _int) -> tuple[Tensor, ...]:
        """``tensor_split`` along axis 2."""
    @property
    def dtype(self) -> _dtype:
        """The dtype, which NumPy's functions take, with torch's attributes."""
    def edge(self, saved: _bool | None = None) -> Tensor:
        """What a node stores for this argument: the node it came from, the leaf itself, or a constant's record."""
    def element_size(self) -> _int:
        """Bytes per entry."""
    def eq(self, other: Operand) -> Tensor:
        """input == other entry by entry; no derivative."""
    def eq_(self, other: Operand) -> Tensor: ...
    def equal(self, other: Operand) -> _bool:
        """Whether both have the same shape and entries."""
    def erf(self) -> Tensor:
        """Error function."""
    def erf_(self) -> Tensor: ...
    def erfc(self) -> Tensor:
        """Complementary error function 1 - erf(input)."""
    def erfc_(self) -> Tensor: ...
    def erfinv(self) -> Tensor:
        """Inverse of the error function, on (-1, 1)."""
    def erfinv_(self) -> Tensor: ...
    def evalf(self, n: _int = 15) -> Any:
        """The value to ``n`` digits: what the recorded program gives without rounding, from exactly the floats it read."""
    def exp(self) -> Tensor:
        """e**input."""
    def exp2(self) -> Tensor:
        """2**input."""
    def exp2_(self) -> Tensor: ...
    def exp_(self) -> Tensor: ...
    def expand(self, *sizes: _int | Ints, size: Ints = ...) -> Tensor:
        """Axes of size 1 (and new leading axes) repeated; -1 keeps a size."""
    def expand_as(self, other: Operand) -> Tensor:
        """Broadcast to the shape of ``other``."""
    def expit(self) -> Tensor:
        """The logistic function 1/(1 + e^-input)."""
    def expm1(self) -> Tensor:
        """e**input - 1."""
    def expm1_(self) -> Tensor: ...
    def exponential_(self, lambd: _float = 1.0, *, generator: Random | None = None) -> Tensor:
        """Exponential samples of rate ``lambd`` in place."""
    @property
    def expr(self) -> Any:
        """The exact formula as a SymPy expression, built when first asked for."""
    def fill(self, value: Operand) -> Tensor:
        """One value in the shape and dtype of ``input``; the gradient of ``input`` is zero."""
    def fill_(self, value: Operand) -> Tensor:
        """Fill with one value in place."""
    def fill_diagonal_(self, fill_value: _float, wrap: _bool = False) -> Tensor:
        """One value on the main diagonal in place; ``wrap`` starts again below the square of a tall matrix."""
    def fix(self) -> Tensor:
        """Integer part; derivative 0."""
    def fix_(self) -> Tensor: ...
    def flatten(self, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
        """Axes ``start_dim`` … ``end_dim`` joined into one."""
    def flip(self, *axes: _int | Ints, dims: Ints = ()) -> Tensor:
        """The axes named, one by one or as a tuple ``dims``, in reverse order."""
    def fliplr(self) -> Tensor:
        """The second axis in reverse order."""
    def flipud(self) -> Tensor:
        """The first axis in reverse order."""
    def float(self, *, memory_format: Format | None = None) -> Tensor:
        """The tensor in float32."""
    def float_power(self, exponent: Operand) -> Tensor:
        """input^exponent in double precision (complex when either is)."""
    def float_power_(self, exponent: Operand) -> Tensor: ...
    def floor(self) -> Tensor:
        """Largest integer not above input; derivative 0."""
    def floor_(self) -> Tensor: ...
    def floor_divide(self, other: Operand) -> Tensor:
        """Quotient rounded down; as in torch without a derivative, which div with rounding_mode has."""
    def floor_divide_(self, other: Operand) -> Tensor: ...
    def fmax(self, other: Operand) -> Tensor:
        """The larger entry, numbers before nan; a tie gives input the gradient."""
    def fmax_(self, other: Operand) -> Tensor: ...
    def fmin(self, other: Operand) -> Tensor:
        """The smaller entry, numbers before nan; a tie gives input the gradient."""
    def fmin_(self, other: Operand) -> Tensor: ...
    def fmod(self, other: Operand) -> Tensor:
        """input - other * trunc(input/other), with the sign of input."""
    def fmod_(self, other: Operand) -> Tensor: ...
    def frac(self) -> Tensor:
        """Fractional part, with the sign of input."""
    def frac_(self) -> Tensor: ...
    def frexp(self) -> return_types.frexp:
        """Mantissa in [1/2, 1) and exponent of two."""
    def full_like(self, value: Operand) -> Tensor:
        """A constant tensor of this shape and dtype, which formulas show as its number."""
    def gammaln(self) -> Tensor:
        """log|Γ(input)|."""
    @overload
    def gather(self, dim: _int, index: Operand, *, sparse_grad: _bool = False) -> Tensor: ...
    @overload
    def gather(self, *, axis: _int, index: Operand, sparse_grad: _bool = False) -> Tensor:
        """Entries of ``input`` along ``dim`` picked by ``index``, which may be smaller in the other axes (as torch)."""
    def gcd(self, other: Operand) -> Tensor:
        """Greatest common divisor; no derivative."""
    def gcd_(self, other: Operand) -> Tensor: ...
    def ge(self, other: Operand) -> Tensor:
        """input >= other entry by entry; no derivative."""
    def ge_(self, other: Operand) -> Tensor: ...
    def geometric_(self, p: _float, *, generator: Random | None = None) -> Tensor:
        """The number of trials up to the first success of probability ``p``, in place."""
    def geqrf(self) -> return_types.geqrf:
        """R, with the vectors of the reflections that ``householder_product`` takes below it, and their factors."""
    def ger(self, vec2: Operand) -> Tensor:
        """The matrix input_i · vec2_j of two vectors."""
    def get_device(self) -> _int:
        """The number of the tensor's device: -1, the CPU."""
    @property
    def grad(self) -> Tensor | Any:
        """The accumulated gradient: None until a backward pass reaches this leaf."""
    @grad.setter
    def grad(self, value: Any) -> None: ...
    @property
    def grad_dtype(self) -> _dtype:
        """The dtype of this leaf's gradient: its own unless set to another; None lets a gradient keep what it has."""
    @grad_dtype.setter
    def grad_dtype(self, value: Any) -> None: ...
    @property
    def grad_fn(self) -> Any:
        """The node that computed this tensor; None for leaves."""
    def greater(self, other: Operand) -> Tensor:
        """input > other entry by entry; no derivative."""
    def greater_(self, other: Operand) -> Tensor: ...
    def greater_equal(self, other: Operand) -> Tensor:
        """input >= other entry by entry; no derivative."""
    def greater_equal_(self, other: Operand) -> Tensor: ...
    def gt(self, other: Operand) -> Tensor:
        """input > other entry by entry; no derivative."""
    def gt_(self, other: Operand) -> Tensor: ...
    def half(self, *, memory_format: Format | None = None) -> Tensor:
        """The tensor in float16."""
    def hardshrink(self, lambd: _float = 0.5) -> Tensor:
        """``input`` outside [-lambd, lambd], 0 inside."""
    def has_hooks(self) -> _bool:
        """Whether something runs when this leaf's gradient is complete."""
    def heaviside(self, values: Operand) -> Tensor:
        """0 below 0, other where input is 0, 1 above; derivative 0, and 1 by other where input is 0."""
    def heaviside_(self, other: Operand) -> Tensor: ...
    def histc(self, bins: _int = 100, min: _float = 0, max: _float = 0) -> Tensor:
        """How many entries lie in each of ``bins`` equal parts of [min, max], or of their range if both are 0."""
    def histogram(self, bins: Operand = 100, *, range: Sequence[_float] | None = None, weight: Operand | None = None, density: _bool = False) -> return_types.histogram:
        """How many entries (or what ``weight``) lies in each of ``bins`` parts, and the edges of these."""
    def hsplit(self, sections: Ints | _int) -> tuple[Tensor, ...]:
        """``tensor_split`` along axis 1 (0 for vectors)."""
    def hypot(self, other: Operand) -> Tensor:
        """sqrt(input² + other²)."""
    def hypot_(self, other: Operand) -> Tensor: ...
    def i0(self) -> Tensor:
        """Modified Bessel function of the first kind, of order 0."""
    def i0_(self) -> Tensor: ...
    def igamma(self, other: Operand) -> Tensor:
        """Regularised lower incomplete gamma function P(input, other) of order input, the gamma distribution's probability up to other."""
    def igamma_(self, other: Operand) -> Tensor: ...
    def igammac(self, other: Operand) -> Tensor:
        """Regularised upper incomplete gamma function Q(input, other) = 1 - P(input, other) of order input."""
    def igammac_(self, other: Operand) -> Tensor: ...
    @property
    def imag(self) -> Tensor:
        """Imaginary part of a complex tensor; what is assigned to it is written into the tensor."""
    @imag.setter
    def imag(self, value: Any) -> None: ...
    @overload
    def index_add(self, dim: _int, index: Operand, source: Operand, *, alpha: Number = 1) -> Tensor: ...
    @overload
    def index_add(self, *, axis: _int, index: Operand, source: Operand, alpha: Number = 1) -> Tensor:
        """``input`` with ``alpha`` times the slices of ``source`` added to its slices ``index`` of the axis ``dim``."""
    def index_add_(self, dim: _int, index: Operand, source: Operand, *, alpha: Number = 1) -> Tensor: ...
    @overload
    def index_copy(self, dim: _int, index: Operand, source: Operand) -> Tensor: ...
    @overload
    def index_copy(self, *, axis: _int, index: Operand, source: Operand) -> Tensor:
        """``input`` with its slices ``index`` of the axis ``dim`` replaced by those of ``source``."""
    def index_copy_(self, dim: _int, index: Operand, source: Operand) -> Tensor: ...
    @overload
    def index_fill(self, dim: _int, index: Operand, value: Operand) -> Tensor: ...
    @overload
    def index_fill(self, *, axis: _int, index: Operand, value: Operand) -> Tensor:
        """``input`` with its slices ``index`` of the axis ``dim`` filled with one value."""
    def index_fill_(self, dim: _int, index: Operand, value: Operand) -> Tensor: ...
    def index_put(self, indices: Sequence[Operand], values: Operand, accumulate: _bool = False) -> Tensor:
        """``input`` with ``values`` written at ``indices`` (a tuple, one per axis), or added to what is there."""
    def index_put_(self, indices: Sequence[Operand], values: Operand, accumulate: _bool = False) -> Tensor: ...
    @overload
    def index_reduce(self, dim: _int, index: Operand, source: Operand, reduce: str, *, include_self: _bool = True) -> Tensor: ...
    @overload
    def index_reduce(self, *, axis: _int, index: Operand, source: Operand, reduce: str, include_self: _bool = True) -> Tensor:
        """``input`` combined ("prod", "mean", "amax", "amin") with the slices of ``source`` at ``index`` of an axis."""
    def index_reduce_(self, dim: _int, index: Operand, source: Operand, reduce: str, *, include_self: _bool = True) -> Tensor: ...
    @overload
    def index_select(self, dim: _int, index: Operand) -> Tensor: ...
    @overload
    def index_select(self, *, axis: _int, index: Operand) -> Tensor:
        """Entries ``index`` of the axis ``dim``."""
    def inner(self, other: Operand) -> Tensor:
        """Sums of products along the last axes."""
    def int(self, *, memory_format: Format | None = None) -> Tensor:
        """The tensor in int32."""
    def inverse(self) -> Tensor:
        """Inverse of square matrices.  Raises ``ShapeError`` unless the last two axes are square."""
    def is_complex(self) -> _bool:
        """Whether the dtype is complex."""
    def is_conj(self) -> _bool:
        """Whether the tensor is the conjugate of the memory that it shows."""
    def is_contiguous(self, memory_format: Format = ...) -> _bool:
        """Whether the memory is in row-major order; with a ``channels_last`` format, with the channels innermost."""
    @property
    def is_cpu(self) -> _bool:
        """Whether the tensor lives on the CPU: yes."""
    @property
    def is_cuda(self) -> _bool:
        """Whether the tensor lives on a GPU: no."""
    def is_floating_point(self) -> _bool:
        """Whether the dtype is real floating."""
    def is_inference(self) -> _bool:
        """Whether the tensor was made in inference mode, so that no graph may save it."""
    @property
    def is_ipu(self) -> _bool:
        """Whether the tensor lives on a GPU: no."""
    @property
    def is_leaf(self) -> _bool:
        """True for tensors the user made, and for all that do not require grad."""
    @property
    def is_maia(self) -> _bool:
        """Whether the tensor lives on a GPU: no."""
    @property
    def is_meta(self) -> _bool:
        """Whether the tensor lives on a GPU: no."""
    @property
    def is_mkldnn(self) -> _bool:
        """Whether the tensor lives on a GPU: no."""
    @property
    def is_mps(self) -> _bool:
        """Whether the tensor lives on a GPU: no."""
    @property
    def is_mtia(self) -> _bool:
        """Whether the tensor lives on a GPU: no."""
    def is_neg(self) -> _bool:
        """Whether the tensor is the negative of the memory that it shows: the imaginary part of a conjugate is."""
    @property
    def is_nested(self) -> _bool:
        """Whether the tensor lives on a GPU: no."""
    def is_nonzero(self) -> _bool:
        """Whether the one entry of the tensor is not zero; ``AutogradError`` for any other number of entries."""
    def is_pinned(self) -> _bool:
        """Whether the memory is locked for copies to a GPU: no."""
    @property
    def is_quantized(self) -> _bool:
        """Whether the tensor lives on a GPU: no."""
    def is_same_size(self, other: Operand) -> _bool:
        """Whether another tensor has the same shape."""
    def is_set_to(self, tensor: Operand) -> _bool:
        """Whether another tensor shows the same entries of the same memory."""
    def is_shared(self) -> _bool:
        """Whether the memory was moved to where other processes see it: no."""
    def is_signed(self) -> _bool:
        """Whether the dtype has negative numbers."""
    @property
    def is_sparse(self) -> _bool:
        """Whether the tensor lives on a GPU: no."""
    @property
    def is_sparse_csr(self) -> _bool:
        """Whether the tensor lives on a GPU: no."""
    @property
    def is_vulkan(self) -> _bool:
        """Whether the tensor lives on a GPU: no."""
    @property
    def is_xla(self) -> _bool:
        """Whether the tensor lives on a GPU: no."""
    @property
    def is_xpu(self) -> _bool:
        """Whether the tensor lives on a GPU: no."""
    def isclose(self, other: Operand, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> Tensor:
        """Where ``|input - other| <= atol + rtol |other|``, or both are the same infinity."""
    def isfinite(self) -> Tensor:
        """Whether an entry is neither an infinity nor nan; no derivative."""
    def isinf(self) -> Tensor:
        """Whether an entry is an infinity; no derivative."""
    def isnan(self) -> Tensor:
        """Whether an entry is nan; no derivative."""
    def isneginf(self) -> Tensor:
        """Whether an entry is -inf; no derivative."""
    def isposinf(self) -> Tensor:
        """Whether an entry is inf; no derivative."""
    def isreal(self) -> Tensor:
        """Whether an entry has no imaginary part; no derivative."""
    def istft(self, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: Operand | None = None, center: _bool = True, normalized: _bool = False, onesided: _bool | None = None, length: _int | None = None, return_complex: _bool = False) -> Tensor:
        """Inverse short-time Fourier transform, by overlap and addition."""
    def item(self) -> Any:
        """The value of a one-element tensor as a Python number."""
    @property
    def itemsize(self) -> _int:
        """Bytes per entry."""
    def kron(self, other: Operand) -> Tensor:
        """Kronecker product: blocks input_ij · other."""
    def kthvalue(self, k: _int, dim: _int = -1, keepdim: _bool = False, *, axis: _int = ..., keepdims: _bool = ...) -> return_types.kthvalue:
        """The ``k``-th smallest entry along ``dim`` (from 1) and its place."""
    def latex(self, **options: Any) -> str:
        """The formula in LaTeX, as a text without dollars; the options are those of :func:`symgrad.latex`."""
    @property
    def layout(self) -> _layout:
        """How the tensor is stored: ``strided``."""
    def lcm(self, other: Operand) -> Tensor:
        """Least common multiple; no derivative."""
    def lcm_(self, other: Operand) -> Tensor: ...
    def ldexp(self, other: Operand) -> Tensor:
        """input · 2^other, in the dtype of the input where that is one of floats and ``other`` counts in integers."""
    def ldexp_(self, other: Operand) -> Tensor: ...
    def le(self, other: Operand) -> Tensor:
        """input <= other entry by entry; no derivative."""
    def le_(self, other: Operand) -> Tensor: ...
    def lerp(self, end: Operand, weight: Operand) -> Tensor:
        """input + weight · (end - input)."""
    def lerp_(self, end: Operand, weight: Operand) -> Tensor: ...
    def less(self, other: Operand) -> Tensor:
        """input < other entry by entry; no derivative."""
    def less_(self, other: Operand) -> Tensor: ...
    def less_equal(self, other: Operand) -> Tensor:
        """input <= other entry by entry; no derivative."""
    def less_equal_(self, other: Operand) -> Tensor: ...
    def lgamma(self) -> Tensor:
        """log|Γ(input)|."""
    def lgamma_(self) -> Tensor: ...
    def log(self) -> Tensor:
        """Natural logarithm."""
    def log10(self) -> Tensor:
        """Logarithm to base 10."""
    def log10_(self) -> Tensor: ...
    def log1p(self) -> Tensor:
        """log(1 + input)."""
    def log1p_(self) -> Tensor: ...
    def log2(self) -> Tensor:
        """Logarithm to base 2."""
    def log2_(self) -> Tensor: ...
    def log_(self) -> Tensor: ...
    def log_normal_(self, mean: _float = 1.0, std: _float = 2.0, *, generator: Random | None = None) -> Tensor:
        """The exponential of normal samples in place."""
    @overload
    def log_softmax(self, dim: _int, dtype: DType | None = None) -> Tensor: ...
    @overload
    def log_softmax(self, *, axis: _int, dtype: DType | None = None) -> Tensor:
        """input - log Σ e^input along the axis ``dim``, without overflow."""
    def logaddexp(self, other: Operand) -> Tensor:
        """log(e^input + e^other) without overflow."""
    def logaddexp2(self, other: Operand) -> Tensor:
        """log2(2^input + 2^other) without overflow."""
    @overload
    def logcumsumexp(self, dim: _int) -> Tensor: ...
    @overload
    def logcumsumexp(self, *, axis: _int) -> Tensor:
        """log of the running sum of e^input along the axis ``dim``."""
    def logdet(self) -> Tensor:
        """log det of square matrices; nan for a negative determinant.  Raises ``ShapeError`` unless the last two axes are square."""
    def logical_and(self, other: Operand) -> Tensor:
        """Whether neither of two entries is zero; no derivative."""
    def logical_and_(self, other: Operand) -> Tensor: ...
    def logical_not(self) -> Tensor:
        """Whether an entry is zero; no derivative."""
    def logical_not_(self) -> Tensor: ...
    def logical_or(self, other: Operand) -> Tensor:
        """Whether one of two entries, or both, are not zero; no derivative."""
    def logical_or_(self, other: Operand) -> Tensor: ...
    def logical_xor(self, other: Operand) -> Tensor:
        """Whether just one of two entries is not zero; no derivative."""
    def logical_xor_(self, other: Operand) -> Tensor: ...
    def logit(self, eps: _float | None = None) -> Tensor:
        """log(input / (1 - input)), with ``input`` limited to [eps, 1 - eps] if given."""
    def logit_(self, eps: _float | None = None) -> Tensor: ...
    def logsigmoid(self) -> Tensor:
        """log of the logistic function."""
    @overload
    def logsumexp(self, dim: _int | Ints, keepdim: _bool = False) -> Tensor: ...
    @overload
    def logsumexp(self, *, axis: _int | Ints, keepdims: _bool = ..., keepdim: _bool = False) -> Tensor:
        """log Σ e^input over the axes ``dim``, without overflow."""
    def long(self, *, memory_format: Format | None = None) -> Tensor:
        """The tensor in int64."""
    def lt(self, other: Operand) -> Tensor:
        """input < other entry by entry; no derivative."""
    def lt_(self, other: Operand) -> Tensor: ...
    def lu(self, pivot: _bool = True, get_infos: _bool = False) -> tuple[Tensor, ...]:
        """L and U in one array, LAPACK's pivots, and if asked for the number of the first that is 0."""
    def lu_solve(self, LU_data: Operand, LU_pivots: Operand) -> Tensor:
        """X with A X = b from the results of ``lu_factor``."""
    @property
    def mH(self) -> Tensor:
        """Conjugate transpose of the last two axes."""
    @property
    def mT(self) -> Tensor:
        """The last two axes exchanged."""
    def map2_(self, x: Operand, y: Operand, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
        """A Python function of three numbers, entries of this tensor and of two others, in place; no derivative."""
    def map_(self, tensor: Operand, callable: Callable[[Any, Any], Any]) -> Tensor:
        """A Python function of two numbers, this tensor's entries and another's, in place; without a derivative."""
    def masked_fill(self, mask: Operand, value: Operand) -> Tensor:
        """``value`` where ``mask`` holds, ``input`` elsewhere."""
    def masked_fill_(self, mask: Operand, value: Operand) -> Tensor: ...
    def masked_scatter(self, mask: Operand, source: Operand) -> Tensor:
        """``input`` with the entries where ``mask`` holds replaced by those of ``source``, in order."""
    def masked_scatter_(self, mask: Operand, source: Operand) -> Tensor: ...
    def masked_select(self, mask: Operand) -> Tensor:
        """The entries where ``mask`` holds, in one axis."""
    def matmul(self, other: Operand) -> Tensor:
        """Matrix product with NumPy's rules for vectors and batches."""
    def matrix_exp(self) -> Tensor:
        """The matrix exponential of square matrices (the last two axes)."""
    def matrix_power(self, n: _int) -> Tensor:
        """A multiplied n times with itself; the inverse's power for negative n, the identity for 0."""
    @overload
    def max(self) -> Tensor: ...
    @overload
    def max(self, other: Operand) -> Tensor: ...
    @overload
    def max(self, dim: _int, keepdim: _bool = False) -> return_types.max: ...
    @overload
    def max(self, *, axis: _int, keepdims: _bool = ..., keepdim: _bool = False) -> return_types.max:
        """Three forms, as torch: the max of all entries; with ``dim`` the pair (values, indices), where the gradient goes to the entry returned; with a second tensor the entrywise one."""
    def maximum(self, other: Operand) -> Tensor:
        """The larger entry; a tie shares the gradient equally."""
    def mean(self, dim: _int | Ints | None = None, keepdim: _bool = False, *, dtype: DType | None = None, axis: _int | Ints | None = ..., keepdims: _bool = ...) -> Tensor:
        """Mean over the axes ``dim`` (all by default).  Integer input needs ``dtype=``, as torch."""
    @overload
    def median(self) -> Tensor: ...
    @overload
    def median(self, dim: _int, keepdim: _bool = False) -> return_types.median:
        """The (lower) median of all entries, or along ``dim`` with its place; nan when an entry is."""
    @overload
    def min(self) -> Tensor: ...
    @overload
    def min(self, other: Operand) -> Tensor: ...
    @overload
    def min(self, dim: _int, keepdim: _bool = False) -> return_types.min: ...
    @overload
    def min(self, *, axis: _int, keepdims: _bool = ..., keepdim: _bool = False) -> return_types.min:
        """Three forms, as torch: the min of all entries; with ``dim`` the pair (values, indices), where the gradient goes to the entry returned; with a second tensor the entrywise one."""
    def minimum(self, other: Operand) -> Tensor:
        """The smaller entry; a tie shares the gradient equally."""
    def mm(self, mat2: Operand) -> Tensor:
        """The matrix product of tensors with 2 and 2 axes."""
    def mode(self, dim: _int = -1, keepdim: _bool = False, *, axis: _int = ..., keepdims: _bool = ...) -> return_types.mode:
        """The commonest entry along ``dim`` (the smallest of equally common ones) and a place where it stands."""
    def more(self) -> Extra:
        """The record of rare things, made on first use."""
    def moveaxis(self, source: _int | Ints, destination: _int | Ints) -> Tensor:
        """Axes moved to new places, the others keeping their order."""
    def movedim(self, source: _int | Ints, destination: _int | Ints) -> Tensor:
        """Axes moved to new places, the others keeping their order."""
    def msort(self) -> Tensor:
        """Sorted along the first axis."""
    def mul(self, other: Operand) -> Tensor:
        """input * other entry by entry, with broadcasting."""
    def mul_(self, other: Operand) -> Tensor: ...
    def multigammaln(self, p: _int) -> Tensor:
        """The multivariate log-gamma function of dimension ``p``, for ``input`` > (p - 1)/2."""
    def multinomial(self, num_samples: _int, replacement: _bool = False, *, generator: Random | None = None) -> Tensor:
        """Places in the last axis, drawn with the probabilities or weights in ``input``: shape (num_samples,) or (m, …)."""
    def multiply(self, other: Operand) -> Tensor:
        """input * other entry by entry, with broadcasting."""
    def multiply_(self, other: Operand) -> Tensor: ...
    def mv(self, vec: Operand) -> Tensor:
        """The matrix product of tensors with 2 and 1 axes."""
    def mvlgamma(self, p: _int) -> Tensor:
        """The multivariate log-gamma function of dimension ``p``, for ``input`` > (p - 1)/2."""
    def mvlgamma_(self, p: _int) -> Tensor: ...
    @property
    def name(self) -> str | None:
        """The symbol in formulas: given at creation, else read from the assignment."""
    @name.setter
    def name(self, value: str) -> None: ...
    def nan_to_num(self, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None) -> Tensor:
        """Numbers in place of nan (0) and of the infinities (the largest finite numbers); their derivative is 0."""
    def nan_to_num_(self, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None) -> Tensor: ...
    def nanmean(self, dim: _int | Ints | None = None, keepdim: _bool = False, *, dtype: DType | None = None, axis: _int | Ints | None = ..., keepdims: _bool = ...) -> Tensor:
        """Mean of the entries that are numbers."""
    @overload
    def nanmedian(self) -> Tensor: ...
    @overload
    def nanmedian(self, dim: _int, keepdim: _bool = False) -> return_types.nanmedian:
        """The (lower) median of the entries that are numbers."""
    def nanquantile(self, q: Operand, dim: _int | None = None, keepdim: _bool = False, *, interpolation: str = 'linear', axis: _int | None = ..., keepdims: _bool = ...) -> Tensor:
        """The ``q``-quantiles of the entries that are numbers."""
    def nansum(self, dim: _int | Ints | None = None, keepdim: _bool = False, *, dtype: DType | None = None, axis: _int | Ints | None = ..., keepdims: _bool = ...) -> Tensor:
        """Sum of the entries that are numbers."""
    @overload
    def narrow(self, dim: _int, start: _int, length: _int) -> Tensor: ...
    @overload
    def narrow(self, *, axis: _int, start: _int, length: _int) -> Tensor:
        """Entries ``start`` … ``start + length - 1`` of an axis."""
    def narrow_copy(self, dim: _int, start: _int, length: _int) -> Tensor:
        """A copy of what ``narrow`` shows of ``input``, in memory of its own, row by row."""
    @property
    def nbytes(self) -> _int:
        """Bytes of all entries."""
    @property
    def ndim(self) -> _int:
        """Number of axes."""
    def ndimension(self) -> _int:
        """Number of axes."""
    def ne(self, other: Operand) -> Tensor:
        """input != other entry by entry; no derivative."""
    def ne_(self, other: Operand) -> Tensor: ...
    def neg(self) -> Tensor:
        """-input."""
    def neg_(self) -> Tensor: ...
    def negative(self) -> Tensor:
        """-input."""
    def negative_(self) -> Tensor: ...
    def nelement(self) -> _int:
        """Number of entries."""
    def new(self, *data: Any, size: _int | Ints | None = None) -> Tensor:
        """A tensor of the data or sizes, in the dtype of this one (old code; use ``new_tensor``, ``new_empty``)."""
    def new_empty(self, *sizes: _int | Ints, size: Ints = ..., **options: Any) -> Tensor:
        """Room for a shape, in the dtype of this tensor unless ``dtype`` is given."""
    def new_empty_strided(self, size: Ints, stride: Ints, **options: Any) -> Tensor:
        """Room for a shape with the given strides, in the dtype of this tensor unless ``dtype`` is given."""
    def new_full(self, size: Ints, fill_value: Number, **options: Any) -> Tensor:
        """One value everywhere, in the dtype of this tensor unless ``dtype`` is given."""
    def new_ones(self, *sizes: _int | Ints, size: Ints = ..., **options: Any) -> Tensor:
        """Ones of a shape, in the dtype of this tensor unless ``dtype`` is given."""
    def new_tensor(self, data: Any, *, dtype: DType | None = None, requires_grad: _bool = False, **options: Any) -> Tensor:
        """A new leaf from numbers or an array, in the dtype of this tensor unless ``dtype`` is given."""
    def new_zeros(self, *sizes: _int | Ints, size: Ints = ..., **options: Any) -> Tensor:
        """Zeros of a shape, in the dtype of this tensor unless ``dtype`` is given."""
    def nextafter(self, other: Operand) -> Tensor:
        """The next number after input towards other: as input itself in derivatives."""
    def nextafter_(self, other: Operand) -> Tensor: ...
    @overload
    def nonzero(self, *, as_tuple: Literal[False] = False) -> Tensor: ...
    @overload
    def nonzero(self, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]:
        """Places of the entries that are not zero: shape (count, ndim), or with ``as_tuple`` one row of places per axis."""
    def nonzero_static(self, *, size: _int, fill_value: _int = -1) -> Tensor:
        """The first ``size`` places of entries that are not zero, shape (size, ndim); ``fill_value`` where there are fewer."""
    def norm(self, p: Any = 'fro', dim: _int | Ints | None = None, keepdim: _bool = False, *, dtype: DType | None = None, axis: _int | Ints | None = ..., keepdims: _bool = ...) -> Tensor:
        """The p-norm of all entries, or over the axes ``dim``; "fro" is the 2-norm, "nuc" the sum of singular values."""
    def normal_(self, mean: _float = 0.0, std: _float = 1.0, *, generator: Random | None = None) -> Tensor:
        """Normal samples in place; of complex numbers both parts have the mean, and half of the variance."""
    def not_equal(self, other: Operand) -> Tensor:
        """input != other entry by entry; no derivative."""
    def not_equal_(self, other: Operand) -> Tensor: ...
    def numel(self) -> _int:
        """Number of entries."""
    def numpy(self, *, force: _bool = False) -> np.ndarray[Any, Any]:
        """The value as an array sharing memory; refused while grad is required unless ``force``, or under no_grad."""
    def orgqr(self, tau: Operand) -> Tensor:
        """The first columns of the product of the reflections I - tau_k v_k v_kᴴ, with v_k below the diagonal of A."""
    def ormqr(self, tau: Operand, other: Operand, left: _bool = True, transpose: _bool = False) -> Tensor:
        """Q · other (or other · Q), or with Qᴴ, for the Q of ``householder_product``."""
    def outer(self, vec2: Operand) -> Tensor:
        """The matrix input_i · vec2_j of two vectors."""
    @property
    def output_nr(self) -> _int:
        """Which output of ``grad_fn`` this tensor is."""
    def permute(self, *sizes: _int | Ints, dims: Ints = ...) -> Tensor:
        """Axes in the order ``dims``."""
    def pin_memory(self, device: Device | None = None) -> Tensor:
        """Raises ``RuntimeError``: memory is locked for copies to a GPU, and there is none."""
    def pinverse(self, rcond: _float = 1e-15) -> Tensor:
        """The Moore-Penrose pseudo-inverse."""
    def polygamma(self, n: _int) -> Tensor:
        """The n-th derivative of the digamma function at ``input`` > 0; as a method ``x.polygamma(n)``."""
    def polygamma_(self, input: Operand) -> Tensor: ...
    def positive(self) -> Tensor:
        """The input itself."""
    def pow(self, exponent: Operand) -> Tensor:
        """input to the power other; input**0 has derivative 0 at input = 0, as torch."""
    def pow_(self, other: Operand) -> Tensor: ...
    def prelu(self, weight: Operand) -> Tensor:
        """``input`` above 0, weight · input below; one weight, or one per channel (axis 1)."""
    def prod(self, dim: _int | None = None, keepdim: _bool = False, *, dtype: DType | None = None, axis: _int | None = ..., keepdims: _bool = ...) -> Tensor:
        """Product over one axis, or over all entries."""
    def psi(self) -> Tensor:
        """Derivative of log Γ."""
    def put(self, index: Operand, source: Operand, accumulate: _bool = False) -> Tensor:
        """``input`` with ``source`` written at flat places ``index``, or added to what is there."""
    def put_(self, index: Operand, source: Operand, accumulate: _bool = False) -> Tensor: ...
    def qr(self, some: _bool = True) -> return_types.qr:
        """Q and R with input = Q R, reduced if ``some``."""
    def quantile(self, q: Operand, dim: _int | None = None, keepdim: _bool = False, *, interpolation: str = 'linear', axis: _int | None = ..., keepdims: _bool = ...) -> Tensor:
        """The ``q``-quantiles (levels in [0, 1]) of all entries or along ``dim``; nan when an entry is."""
    def rad2deg(self) -> Tensor:
        """Radians in degrees."""
    def rad2deg_(self) -> Tensor: ...
    def radians(self) -> Tensor:
        """Degrees in radians."""
    def random_(self, *bounds: _int | None, generator: Random | None = None, **named: _int | None) -> Tensor:
        """Integers in place: from ``from`` up to ``to`` (excluded), below ``to`` given alone, or all there are."""
    def ravel(self) -> Tensor:
        """All entries in one axis; those that are not next to each other in memory are copied."""
    @property
    def raw_shape(self) -> tuple[_int, ...]:
        """The sizes as plain ints, for the library's own use."""
    @property
    def real(self) -> Tensor:
        """Real part; what is assigned to it is written into the tensor."""
    @real.setter
    def real(self, value: Any) -> None: ...
    def reciprocal(self) -> Tensor:
        """1/input."""
    def reciprocal_(self) -> Tensor: ...
    def register_hook(self, hook: Callable[[Any], Any]) -> Any:
        """Call ``hook(grad)`` whenever the gradient is computed; its result, if any, replaces it."""
    def register_post_accumulate_grad_hook(self, hook: Callable[[Any], None]) -> Any:
        """Call ``hook(leaf)`` whenever a backward pass has added to this leaf's ``.grad``."""
    def reinforce(self, reward: Operand) -> None:
        """Give a sample its reward: backward sends reward · ∂ log p / ∂θ to the parameters θ it was drawn with."""
    def relu(self) -> Tensor:
        """max(input, 0); derivative 0 at 0."""
    def relu_(self) -> Tensor: ...
    def remainder(self, other: Operand) -> Tensor:
        """input - other * floor(input/other), with the sign of other."""
    def remainder_(self, other: Operand) -> Tensor: ...
    def renorm(self, p: _float, dim: _int, maxnorm: _float) -> Tensor:
        """Slices along ``dim`` scaled down to a p-norm of at most ``maxnorm``."""
    def renorm_(self, p: _float, dim: _int, maxnorm: _float) -> Tensor: ...
    def repeat(self, *sizes: _int | Ints, repeats: Ints = ...) -> Tensor:
        """Tiled: axis k occurs ``repeats[k]`` times over (torch's ``repeat``, NumPy's ``tile``)."""
    def repeat_interleave(self, repeats: Operand | None = None, dim: _int | None = None, *, output_size: _int | None = None, axis: _int | None = ...) -> Tensor:
        """Every entry of the axis ``dim`` ``repeats`` times in a row; ``repeats`` may differ from entry to entry."""
    @property
    def requires_grad(self) -> _bool:
        """Whether gradients flow to this tensor."""
    @requires_grad.setter
    def requires_grad(self, value: _bool) -> None: ...
    def requires_grad_(self, requires_grad: _bool = True) -> Tensor:
        """Set ``requires_grad`` of a leaf and return it."""
    def reshape(self, *sizes: _int | Ints, shape: Ints = ...) -> Tensor:
        """The same entries in row-major order under another shape; one size may be -1."""
    def reshape_as(self, other: Operand) -> Tensor:
        """``input`` reshaped to the shape of ``other``."""
    def resize_(self, *sizes: _int | Ints, size: Ints = ...) -> Tensor:
        """Another shape in place, with the entries that lie in memory from the first one on, and zeros behind it."""
    def resize_as_(self, other: Operand) -> Tensor:
        """The shape of another tensor in place, as :meth:`resize_`."""
    def resolve_conj(self) -> Tensor:
        """The input itself, or a copy of what is a conjugate of the memory that it shows."""
    def resolve_neg(self) -> Tensor:
        """The input itself, or a copy of what is a negative of the memory that it shows."""
    def retain_grad(self) -> None:
        """Keep the gradient of this non-leaf in ``.grad``; no effect on a leaf."""
    @property
    def retains_grad(self) -> _bool:
        """Whether this non-leaf keeps its gradient."""
    def roll(self, shifts: _int | Ints, dims: _int | Ints | None = None) -> Tensor:
        """Entries moved by ``shifts`` along ``dims`` (in the flattened tensor without ``dims``), around the ends."""
    def rot90(self, k: _int = 1, dims: Sequence[_int] = (0, 1)) -> Tensor:
        """The plane of two axes turned by ``k`` right angles, from the first towards the second."""
    def round(self, *, decimals: _int = 0) -> Tensor:
        """The nearest integer, or multiple of 10^-decimals; halves to even, derivative 0."""
    def round_(self, *, decimals: _int = 0) -> Tensor: ...
    def rsqrt(self) -> Tensor:
        """1/sqrt(input)."""
    def rsqrt_(self) -> Tensor: ...
    def rsub(self, other: Operand, *, alpha: Operand = 1) -> Tensor:
        """other - alpha * input."""
    @overload
    def scatter(self, dim: _int, index: Operand, src: Operand | None = None, *, value: Number | None = None, reduce: str | None = None) -> Tensor: ...
    @overload
    def scatter(self, *, axis: _int, index: Operand, src: Operand | None = None, value: Number | None = None, reduce: str | None = None) -> Tensor:
        """``input`` with ``src`` (or one ``value``) written along ``dim`` at ``index``; ``reduce`` "add" or "multiply"."""
    def scatter_(self, dim: _int, index: Operand, src: Operand | None = None, *, value: Number | None = None, reduce: str | None = None) -> Tensor: ...
    @overload
    def scatter_add(self, dim: _int, index: Operand, src: Operand) -> Tensor: ...
    @overload
    def scatter_add(self, *, axis: _int, index: Operand, src: Operand) -> Tensor:
        """``input`` with ``src`` added along ``dim`` at ``index``; repeated places add up."""
    def scatter_add_(self, dim: _int, index: Operand, src: Operand) -> Tensor: ...
    @overload
    def scatter_reduce(self, dim: _int, index: Operand, src: Operand, reduce: str, *, include_self: _bool = True) -> Tensor: ...
    @overload
    def scatter_reduce(self, *, axis: _int, index: Operand, src: Operand, reduce: str, include_self: _bool = True) -> Tensor:
        """``input`` combined with ``src`` along ``dim`` at ``index``: "sum", "mean", "prod", "amax" or "amin"."""
    def scatter_reduce_(self, dim: _int, index: Operand, src: Operand, reduce: str, *, include_self: _bool = True) -> Tensor: ...
    @overload
    def select(self, dim: _int, index: _int) -> Tensor: ...
    @overload
    def select(self, *, axis: _int, index: _int) -> Tensor:
        """Entry ``index`` of the axis ``dim``."""
    @overload
    def select_scatter(self, src: Operand, dim: _int, index: _int) -> Tensor: ...
    @overload
    def select_scatter(self, src: Operand, *, axis: _int, index: _int) -> Tensor:
        """``input`` with the entry ``index`` of the axis ``dim`` replaced by ``src``."""
    def set_(self, source: Operand | None = None, storage_offset: _int = 0, size: Sequence[_int] | None = None, stride: _int | Ints | None = None) -> Tensor:
        """Show the memory of another tensor (or array) of the same dtype from now on; without one, no entries."""
    def sgn(self) -> Tensor:
        """input/|input| of complex input, 0 at 0."""
    def sgn_(self) -> Tensor: ...
    @property
    def shape(self) -> Shape:
        """The sizes, as a tuple."""
    def short(self, *, memory_format: Format | None = None) -> Tensor:
        """The tensor in int16."""
    def sigmoid(self) -> Tensor:
        """The logistic function 1/(1 + e^-input)."""
    def sigmoid_(self) -> Tensor: ...
    def sign(self) -> Tensor:
        """-1, 0 or 1; derivative 0."""
    def sign_(self) -> Tensor: ...
    def signbit(self) -> Tensor:
        """Whether the sign bit is set; no derivative."""
    def sin(self) -> Tensor:
        """Sine (radians)."""
    def sin_(self) -> Tensor: ...
    def sinc(self) -> Tensor:
        """sin(πx)/(πx), and 1 at 0."""
    def sinc_(self) -> Tensor: ...
    def sinh(self) -> Tensor:
        """Hyperbolic sine."""
    def sinh_(self) -> Tensor: ...
    @overload
    def size(self, dim: None = None) -> Shape: ...
    @overload
    def size(self, dim: _int) -> _int:
        """The shape, or the size of one axis."""
    def sizes(self, dim: tuple[_int, ...]) -> _int:
        """Number of entries along ``dim``, marked as a size for formulas."""
    def slice_scatter(self, src: Operand, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1, *, axis: _int = ...) -> Tensor:
        """``input`` with a range of the axis ``dim`` replaced by ``src``."""
    def slogdet(self) -> return_types.slogdet:
        """Sign and log|det| of square matrices."""
    @overload
    def softmax(self, dim: _int, dtype: DType | None = None) -> Tensor: ...
    @overload
    def softmax(self, *, axis: _int, dtype: DType | None = None) -> Tensor:
        """e^input / Σ e^input along the axis ``dim``."""
    def sort(self, dim: _int = -1, descending: _bool = False, stable: _bool | None = False, *, axis: _int = ...) -> return_types.sort:
        """Sorted values along ``dim`` and the places they came from."""
    def source(self, saved: _bool | None = None) -> Source:
        """How this tensor appears as a constant of other tensors' graphs; ``saved``: with its value."""
    def split(self, split_size_or_sections: _int | Ints, dim: _int = 0, *, axis: _int = ...) -> tuple[Tensor, ...]:
        """Ranges of an axis: of one size (the last may be smaller), or of the sizes listed."""
    def split_with_sizes(self, split_sizes: Sequence[_int], dim: _int = 0, *, axis: _int = ...) -> tuple[Tensor, ...]:
        """Ranges of an axis of the sizes listed."""
    def sqrt(self) -> Tensor:
        """Square root; the derivative at 0 is +inf."""
    def sqrt_(self) -> Tensor: ...
    def square(self) -> Tensor:
        """input squared."""
    def square_(self) -> Tensor: ...
    def squeeze(self, dim: _int | Ints | None = None, *, axis: _int | Ints | None = ...) -> Tensor:
        """Without the axes of size 1 (all of them, or those named)."""
    def squeeze_(self, dim: _int | Ints | None = None) -> Tensor: ...
    def std(self, dim: _int | Ints | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: Number | None = None, axis: _int | Ints | None = ..., keepdims: _bool = ...) -> Tensor:
        """Standard deviation over axes; derivative 0 where all entries are equal.  ``correction`` is 1 by default (Bessel's), as torch."""
    def std_mean(self, dim: _int | Ints | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, axis: _int | Ints | None = ..., keepdims: _bool = ..., **options: Any) -> tuple[Tensor, Tensor]:
        """The pair (std, mean) over axes."""
    def stft(self, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: Operand | None = None, center: _bool = True, pad_mode: str = 'reflect', normalized: _bool = False, onesided: _bool | None = None, return_complex: _bool | None = None, align_to_window: _bool | None = None) -> Tensor:
        """Short-time Fourier transform of signals in the last axis: (…, frequencies, frames)."""
    def storage(self) -> Any:
        """All entries of the memory, one after the other."""
    def storage_offset(self) -> _int:
        """How many entries after the beginning of its memory the tensor's first one lies."""
    @overload
    def stride(self, dim: None = None) -> tuple[_int, ...]: ...
    @overload
    def stride(self, dim: _int) -> _int:
        """How many entries apart neighbours along each axis lie in memory, or along one axis."""
    def sub(self, other: Operand, *, alpha: Number = 1) -> Tensor:
        """input - alpha * other."""
    def sub_(self, other: Operand, *, alpha: Number = 1) -> Tensor: ...
    def subtract(self, other: Operand, *, alpha: Number = 1) -> Tensor:
        """input - alpha * other."""
    def subtract_(self, other: Operand, *, alpha: Number = 1) -> Tensor: ...
    def sum(self, dim: _int | Ints | None = None, keepdim: _bool = False, *, dtype: DType | None = None, axis: _int | Ints | None = ..., keepdims: _bool = ...) -> Tensor:
        """Sum over the axes ``dim`` (all by default); ``keepdim`` leaves them at size 1."""
    def sum_to_size(self, *sizes: _int | Ints, size: Ints = ...) -> Tensor:
        """Summed over the axes along which ``size`` would broadcast to the input's shape."""
    def svd(self, some: _bool = True, compute_uv: _bool = True) -> return_types.svd:
        """U, S and V (not its transpose) with input = U diag(S) Vᴴ."""
    def swapaxes(self, axis0: _int, axis1: _int) -> Tensor:
        """Two axes exchanged, as :func:`transpose` does."""
    def swapaxes_(self, axis0: _int, axis1: _int) -> Tensor: ...
    def swapdims(self, dim0: _int, dim1: _int) -> Tensor:
        """Two axes exchanged."""
    def swapdims_(self, dim0: _int, dim1: _int) -> Tensor: ...
    def t(self) -> Tensor:
        """The transpose of a matrix; vectors and scalars as they are."""
    def t_(self) -> Tensor: ...
    def take(self, index: Operand) -> Tensor:
        """Entries at flat places, in the shape of ``index``."""
    def take_along_dim(self, indices: Operand, dim: _int | None = None, *, axis: _int | None = ...) -> Tensor:
        """Entries along ``dim`` picked by ``indices``, which broadcasts against the other axes."""
    def tan(self) -> Tensor:
        """Tangent (radians)."""
    def tan_(self) -> Tensor: ...
    def tanh(self) -> Tensor:
        """Hyperbolic tangent."""
    def tanh_(self) -> Tensor: ...
    def tensor_split(self, indices_or_sections: Any = None, dim: _int = 0, *, axis: _int = ..., **named: Any) -> tuple[Tensor, ...]:
        """Ranges of an axis: that many of nearly equal size, or cut at the indices given."""
    @property
    def term(self) -> Any:
        """The formula as a :class:`~symgrad.formula.term.Term` (array-level, no values)."""
    def tile(self, *sizes: _int | Ints, dims: Ints = ...) -> Tensor:
        """NumPy's tile: like ``repeat``, with missing counts taken as 1."""
    def to(self, *args: Any, dtype: DType | None = None, copy: _bool = False, device: Device | None = None, non_blocking: _bool = False, memory_format: Format = ...) -> Tensor:
        """In another dtype, or in that of another tensor; the one device there is, is the CPU."""
    def to_dense(self, dtype: DType | None = None) -> Tensor:
        """The tensor itself, which is dense, or in another dtype."""
    def to_sparse(self, sparse_dim: _int | None = None) -> SparseTensor:
        """The entries that are not zero, as a sparse tensor; see :mod:`symgrad.sparse`."""
    def tolist(self) -> Any:
        """Nested lists of Python numbers."""
    def topk(self, k: _int, dim: _int = -1, largest: _bool = True, sorted: _bool = True) -> return_types.topk:
        """The ``k`` largest (or smallest) entries along ``dim``, in order, and their places."""
    def trace(self) -> Tensor:
        """Sum of the main diagonal of a matrix."""
    def transpose(self, dim0: _int, dim1: _int) -> Tensor:
        """Two axes exchanged."""
    def transpose_(self, dim0: _int, dim1: _int) -> Tensor: ...
    def trapezoid(self, x: Operand | None = None, *, dx: Operand = 1, dim: _int = -1, axis: _int = ...) -> Tensor:
        """The integral along ``dim`` by the trapezoidal rule, at points ``x`` or ``dx`` apart."""
    def trapz(self, x: Operand | None = None, *, dx: Operand = 1, dim: _int = -1, axis: _int = ...) -> Tensor:
        """The integral along ``dim`` by the trapezoidal rule, at points ``x`` or ``dx`` apart."""
    def triangular_solve(self, A: Operand, upper: _bool = True, transpose: _bool = False, unitriangular: _bool = False) -> return_types.triangular_solve:
        """The pair (X, A) with A X = b for a triangular A."""
    def tril(self, diagonal: _int = 0) -> Tensor:
        """Lower triangle up to the ``diagonal``-th diagonal, zeros above."""
    def tril_(self, diagonal: _int = 0) -> Tensor: ...
    def triu(self, diagonal: _int = 0) -> Tensor:
        """Upper triangle from the ``diagonal``-th diagonal, zeros below."""
    def triu_(self, diagonal: _int = 0) -> Tensor: ...
    def true_divide(self, other: Operand, *, rounding_mode: str | None = None) -> Tensor:
        """input / other; ``rounding_mode`` None, "trunc" or "floor" (rounded results have derivative 0)."""
    def true_divide_(self, other: Operand, *, rounding_mode: str | None = None) -> Tensor: ...
    def trunc(self) -> Tensor:
        """Integer part; derivative 0."""
    def trunc_(self) -> Tensor: ...
    @overload
    def type(self, dtype: None = None) -> str: ...
    @overload
    def type(self, dtype: DType) -> Tensor:
        """torch's name of the tensor's type ("torch.FloatTensor"), or the tensor as another type."""
    def type_as(self, other: Operand) -> Tensor:
        """In the dtype of another tensor."""
    def unbind(self, dim: _int = 0, *, axis: _int = ...) -> tuple[Tensor, ...]:
        """All entries of an axis, as a tuple."""
    @overload
    def unflatten(self, dim: _int, sizes: Sequence[_int]) -> Tensor: ...
    @overload
    def unflatten(self, *, axis: _int, sizes: Sequence[_int]) -> Tensor:
        """One axis split into several; one of the sizes may be -1."""
    def unfold(self, dimension: _int, size: _int, step: _int) -> Tensor:
        """Windows of ``size`` entries along an axis, every ``step``-th, with a new last axis inside them."""
    def uniform_(self, a: _float = 0.0, b: _float = 1.0, *, generator: Random | None = None) -> Tensor:
        """Uniform samples from [a, b) in place; of complex numbers both parts."""
    @overload
    def unique(self, sorted: _bool = True, return_inverse: Literal[False] = False, return_counts: Literal[False] = False, dim: _int | None = None, *, axis: _int | None = ...) -> Tensor: ...
    @overload
    def unique(self, sorted: _bool = True, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None, *, axis: _int | None = ...) -> tuple[Tensor, ...]:
        """The different entries (with ``dim``: slices), in order; on demand the number of each, and how many it has."""
    @overload
    def unique_consecutive(self, return_inverse: Literal[False] = False, return_counts: Literal[False] = False, dim: _int | None = None, *, axis: _int | None = ...) -> Tensor: ...
    @overload
    def unique_consecutive(self, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None, *, axis: _int | None = ...) -> tuple[Tensor, ...]:
        """The entries (with ``dim``: slices) that differ from the one before them."""
    def unsafe_chunk(self, chunks: _int, dim: _int = 0, *, axis: _int = ...) -> tuple[Tensor, ...]:
        """At most ``chunks`` ranges of an axis, all but the last of equal size."""
    def unsafe_split(self, split_size: _int, dim: _int = 0, *, axis: _int = ...) -> tuple[Tensor, ...]:
        """Ranges of an axis: of one size (the last may be smaller), or of the sizes listed."""
    def unsafe_split_with_sizes(self, split_sizes: Sequence[_int], dim: _int = 0, *, axis: _int = ...) -> tuple[Tensor, ...]:
        """Ranges of an axis of the sizes listed."""
    @overload
    def unsqueeze(self, dim: _int) -> Tensor: ...
    @overload
    def unsqueeze(self, *, axis: _int) -> Tensor:
        """With a new axis of size 1 at ``dim``."""
    def unsqueeze_(self, dim: _int) -> Tensor: ...
    def untyped_storage(self) -> Any:
        """The bytes of the memory."""
    @property
    def valid_when(self) -> Any:
        """The conditions under which the formula holds: branches taken, indices chosen, and kinks of derivatives."""
    def var(self, dim: _int | Ints | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: Number | None = None, axis: _int | Ints | None = ..., keepdims: _bool = ...) -> Tensor:
        """Variance over axes: squared deviations over (n - correction).  ``correction`` is 1 by default (Bessel's), as torch."""
    def var_mean(self, dim: _int | Ints | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, axis: _int | Ints | None = ..., keepdims: _bool = ..., **options: Any) -> tuple[Tensor, Tensor]:
        """The pair (var, mean) over axes."""
    def vdot(self, other: Operand) -> Tensor:
        """Σ conj(input) · other of two vectors."""
    def verify(self, digits: _int = 30) -> Any:
        """Whether the numbers are those of the formula, and by how many ulps they differ: :func:`symgrad.verify`."""
    def view(self, *shape: DType | _int | Ints, size: Ints = ...) -> Tensor:
        """The same entries in row-major order under another shape; one size may be -1."""
    def view_as(self, other: Operand) -> Tensor:
        """``input`` reshaped to the shape of ``other``."""
    @property
    def volatile(self) -> _bool:
        """False: there are no volatile tensors any more; asking warns, as in torch."""
    @volatile.setter
    def volatile(self, value: Any) -> None: ...
    def vsplit(self, sections: Ints | _int) -> tuple[Tensor, ...]:
        """``tensor_split`` along axis 0."""
    def where(self, condition: Operand, other: Operand) -> Tensor:
        """The tensor's entries where ``condition`` holds, those of ``other`` elsewhere."""
    def xlogy(self, other: Operand) -> Tensor:
        """input log other, and 0 where input is 0 and other a number."""
    def xlogy_(self, other: Operand) -> Tensor: ...
    def zero_(self) -> Tensor:
        """Fill with zeros in place."""
    def __abs__(self) -> Tensor: ...
    def __add__(self, other: Operand) -> Tensor: ...
    def __and__(self, other: Operand) -> Tensor: ...
    def __array__(self, dtype: Any = None, copy: _bool | None = None) -> Any: ...
    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any: ...
    def __array_namespace__(self, *, api_version: Any = None) -> Any: ...
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any: ...
    def __bool__(self) -> _bool: ...
    def __complex__(self) -> complex: ...
    def __contains__(self, item: Any) -> _bool: ...
    def __copy__(self) -> Any: ...
    def __deepcopy__(self, memo: dict[_int, Any]) -> Any: ...
    def __delitem__(self, index: Any) -> None: ...
    def __dlpack__(self, **options: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[_int, _int]: ...
    def __eq__(self, other: Operand) -> Tensor: ...  # type: ignore[override]
    def __float__(self) -> _float: ...
    def __floordiv__(self, other: Operand) -> Tensor: ...
    def __format__(self, spec: str) -> str: ...
    def __ge__(self, other: Operand) -> Tensor: ...
    def __getitem__(self, index: Index) -> Tensor: ...
    def __gt__(self, other: Operand) -> Tensor: ...
    def __hash__(self) -> _int: ...
    def __iadd__(self, other: Operand) -> Tensor: ...
    def __iand__(self, other: Operand) -> Tensor: ...
    def __ifloordiv__(self, other: Operand) -> Tensor: ...
    def __ilshift__(self, other: Operand) -> Tensor: ...
    def __imod__(self, other: Operand) -> Tensor: ...
    def __imul__(self, other: Operand) -> Tensor: ...
    def __index__(self) -> _int: ...
    def __init__(self, *data: Any, **options: Any) -> None: ...
    def __int__(self) -> _int: ...
    def __invert__(self) -> Tensor: ...
    def __ior__(self, other: Operand) -> Tensor: ...
    def __ipow__(self, other: Operand) -> Tensor: ...
    def __irshift__(self, other: Operand) -> Tensor: ...
    def __isub__(self, other: Operand) -> Tensor: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __itruediv__(self, other: Operand) -> Tensor: ...
    def __ixor__(self, other: Operand) -> Tensor: ...
    def __le__(self, other: Operand) -> Tensor: ...
    def __len__(self) -> _int: ...
    def __lshift__(self, other: Operand) -> Tensor: ...
    def __lt__(self, other: Operand) -> Tensor: ...
    def __matmul__(self, other: Operand) -> Tensor: ...
    def __mod__(self, other: Operand) -> Tensor: ...
    def __mul__(self, other: Operand) -> Tensor: ...
    def __ne__(self, other: Operand) -> Tensor: ...  # type: ignore[override]
    def __neg__(self) -> Tensor: ...
    def __or__(self, other: Operand) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __pow__(self, other: Operand) -> Tensor: ...
    def __radd__(self, other: Operand) -> Tensor: ...
    def __rand__(self, other: Operand) -> Tensor: ...
    def __repr__(self) -> str: ...
    def __reversed__(self) -> Tensor: ...
    def __rfloordiv__(self, other: Operand) -> Tensor: ...
    def __rlshift__(self, other: Operand) -> Tensor: ...
    def __rmatmul__(self, other: Operand) -> Tensor: ...
    def __rmod__(self, other: Operand) -> Tensor: ...
    def __rmul__(self, other: Operand) -> Tensor: ...
    def __ror__(self, other: Operand) -> Tensor: ...
    def __rpow__(self, other: Operand) -> Tensor: ...
    def __rrshift__(self, other: Operand) -> Tensor: ...
    def __rshift__(self, other: Operand) -> Tensor: ...
    def __rsub__(self, other: Operand) -> Tensor: ...
    def __rtruediv__(self, other: Operand) -> Tensor: ...
    def __rxor__(self, other: Operand) -> Tensor: ...
    def __setitem__(self, index: Index, value: Any) -> None: ...
    def __sub__(self, other: Operand) -> Tensor: ...
    def __truediv__(self, other: Operand) -> Tensor: ...
    def __xor__(self, other: Operand) -> Tensor: ...
    @property
    def _base(self) -> Any:
        ...
    def _is_view(self) -> _bool: ...
    @staticmethod
    def _make_subclass(cls: _type[Any], data: Any, require_grad: _bool = False) -> Any:
        """A leaf in the memory of ``data``, of a class derived from ``Tensor``: for the ``__new__`` of that class."""
    @property
    def _version(self) -> _int:
        ...
