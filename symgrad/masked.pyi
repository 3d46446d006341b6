"""Reductions over masked entries under the names of ``torch.masked``: plain functions of the op table."""

# Written by ``python -m tests.typed.stubs`` from the functions themselves, which are what to change.

from symgrad.tensor.kinds import DType, Ints, Operand
from symgrad.tensor.tensor import Tensor

def amax(input: Operand, dim: int | Ints | None = None, *, keepdim: bool = False, dtype: DType | None = None, mask: Operand | None = None) -> Tensor:
    """amax over axes of the entries where the mask holds."""
def amin(input: Operand, dim: int | Ints | None = None, *, keepdim: bool = False, dtype: DType | None = None, mask: Operand | None = None) -> Tensor:
    """amin over axes of the entries where the mask holds."""
def argmax(input: Operand, dim: int | None = None, *, keepdim: bool = False, dtype: DType | None = None, mask: Operand | None = None) -> Tensor:
    """argmax among the entries where the mask holds, in ``dtype``: that of the input, as torch has it."""
def argmin(input: Operand, dim: int | None = None, *, keepdim: bool = False, dtype: DType | None = None, mask: Operand | None = None) -> Tensor:
    """argmin among the entries where the mask holds, in ``dtype``: that of the input, as torch has it."""
def cumprod(input: Operand, dim: int, *, dtype: DType | None = None, mask: Operand | None = None) -> Tensor:
    """cumprod along an axis over the entries where the mask holds."""
def cumsum(input: Operand, dim: int, *, dtype: DType | None = None, mask: Operand | None = None) -> Tensor:
    """cumsum along an axis over the entries where the mask holds."""
def log_softmax(input: Operand, dim: int, *, dtype: DType | None = None, mask: Operand | None = None) -> Tensor:
    """log_softmax along an axis over the entries where the mask holds."""
def logaddexp(input: Operand, other: Operand, *, dtype: DType | None = None, input_mask: Operand | None = None, other_mask: Operand | None = None) -> Tensor:
    """log(e^input + e^other), where an entry that its mask hides counts as -inf."""
def logsumexp(input: Operand, dim: int | Ints | None = None, *, keepdim: bool = False, dtype: DType | None = None, mask: Operand | None = None) -> Tensor:
    """log Σ e^input over axes."""
def mean(input: Operand, dim: int | Ints | None = None, *, keepdim: bool = False, dtype: DType | None = None, mask: Operand | None = None) -> Tensor:
    """Mean over axes; nan where the mask leaves nothing."""
def median(input: Operand, dim: int = -1, *, keepdim: bool = False, dtype: DType | None = None, mask: Operand | None = None) -> Tensor:
    """The (lower) median along an axis."""
def norm(input: Operand, ord: float = 2.0, dim: int | Ints | None = None, *, keepdim: bool = False, dtype: DType | None = None, mask: Operand | None = None) -> Tensor:
    """The norm of order ``ord`` over axes."""
def normalize(input: Operand, ord: float, dim: int, *, eps: float = 1e-12, dtype: DType | None = None, mask: Operand | None = None) -> Tensor:
    """Divided by the norm of order ``ord`` along an axis, taken as at least ``eps``."""
def prod(input: Operand, dim: int | Ints | None = None, *, keepdim: bool = False, dtype: DType | None = None, mask: Operand | None = None) -> Tensor:
    """Product over axes; 1 where the mask leaves nothing."""
def softmax(input: Operand, dim: int, *, dtype: DType | None = None, mask: Operand | None = None) -> Tensor:
    """softmax along an axis over the entries where the mask holds."""
def softmin(input: Operand, dim: int, *, dtype: DType | None = None, mask: Operand | None = None) -> Tensor:
    """softmin along an axis over the entries where the mask holds."""
def std(input: Operand, dim: int | Ints | None = None, unbiased: bool | None = None, *, correction: float | None = None, keepdim: bool = False, dtype: DType | None = None, mask: Operand | None = None) -> Tensor:
    """Standard deviation over axes."""
def sum(input: Operand, dim: int | Ints | None = None, *, keepdim: bool = False, dtype: DType | None = None, mask: Operand | None = None) -> Tensor:
    """Sum over axes; 0 where the mask leaves nothing."""
def var(input: Operand, dim: int | Ints | None = None, unbiased: bool | None = None, *, correction: float | None = None, keepdim: bool = False, dtype: DType | None = None, mask: Operand | None = None) -> Tensor:
    """Variance over axes."""
