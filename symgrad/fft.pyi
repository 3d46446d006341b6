"""Discrete Fourier transforms under the names of ``torch.fft``: views of the op table."""

# Written by ``python -m tests.typed.stubs`` from the functions themselves, which are what to change.

from symgrad.devices import Options
from symgrad.tensor.kinds import DType, Ints, Operand
from symgrad.tensor.tensor import Tensor
from typing import Unpack

def fft(input: Operand, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Discrete Fourier transform, along one axis; ``norm`` is None, "forward" or "ortho"."""
def fft2(input: Operand, s: int | Ints | None = None, dim: int | Ints = ..., norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Discrete Fourier transform, along two axes; ``norm`` is None, "forward" or "ortho"."""
def fftfreq(n: int, d: float = 1.0, *, dtype: DType | None = None, requires_grad: bool = False, name: str | None = None, **options: Unpack[Options]) -> Tensor:
    """The frequencies of ``fft`` for ``n`` samples ``d`` apart."""
def fftn(input: Operand, s: int | Ints | None = None, dim: int | Ints | None = None, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Discrete Fourier transform, along several axes; ``norm`` is None, "forward" or "ortho"."""
def fftshift(input: Operand, dim: int | Ints | None = None, *, out: Tensor | None = None) -> Tensor:
    """The zero frequency moved to the middle of axes."""
def hfft(input: Operand, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Fourier transform of half a Hermitian signal: real output, along one axis; ``norm`` is None, "forward" or "ortho"."""
def hfft2(input: Operand, s: int | Ints | None = None, dim: int | Ints = ..., norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Fourier transform of half a Hermitian signal: real output, along two axes; ``norm`` is None, "forward" or "ortho"."""
def hfftn(input: Operand, s: int | Ints | None = None, dim: int | Ints | None = None, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Fourier transform of half a Hermitian signal: real output, along several axes; ``norm`` is None, "forward" or "ortho"."""
def ifft(input: Operand, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Inverse discrete Fourier transform, along one axis; ``norm`` is None, "forward" or "ortho"."""
def ifft2(input: Operand, s: int | Ints | None = None, dim: int | Ints = ..., norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Inverse discrete Fourier transform, along two axes; ``norm`` is None, "forward" or "ortho"."""
def ifftn(input: Operand, s: int | Ints | None = None, dim: int | Ints | None = None, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Inverse discrete Fourier transform, along several axes; ``norm`` is None, "forward" or "ortho"."""
def ifftshift(input: Operand, dim: int | Ints | None = None, *, out: Tensor | None = None) -> Tensor:
    """The zero frequency moved to the start of axes."""
def ihfft(input: Operand, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Inverse of hfft, along one axis; ``norm`` is None, "forward" or "ortho"."""
def ihfft2(input: Operand, s: int | Ints | None = None, dim: int | Ints = ..., norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Inverse of hfft, along two axes; ``norm`` is None, "forward" or "ortho"."""
def ihfftn(input: Operand, s: int | Ints | None = None, dim: int | Ints | None = None, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Inverse of hfft, along several axes; ``norm`` is None, "forward" or "ortho"."""
def irfft(input: Operand, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Inverse of rfft: real output, along one axis; ``norm`` is None, "forward" or "ortho"."""
def irfft2(input: Operand, s: int | Ints | None = None, dim: int | Ints = ..., norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Inverse of rfft: real output, along two axes; ``norm`` is None, "forward" or "ortho"."""
def irfftn(input: Operand, s: int | Ints | None = None, dim: int | Ints | None = None, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Inverse of rfft: real output, along several axes; ``norm`` is None, "forward" or "ortho"."""
def rfft(input: Operand, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Fourier transform of real input: half of the spectrum, along one axis; ``norm`` is None, "forward" or "ortho"."""
def rfft2(input: Operand, s: int | Ints | None = None, dim: int | Ints = ..., norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Fourier transform of real input: half of the spectrum, along two axes; ``norm`` is None, "forward" or "ortho"."""
def rfftfreq(n: int, d: float = 1.0, *, dtype: DType | None = None, requires_grad: bool = False, name: str | None = None, **options: Unpack[Options]) -> Tensor:
    """The frequencies of ``rfft`` for ``n`` samples ``d`` apart."""
def rfftn(input: Operand, s: int | Ints | None = None, dim: int | Ints | None = None, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Fourier transform of real input: half of the spectrum, along several axes; ``norm`` is None, "forward" or "ortho"."""
