"""Discrete Fourier transforms: one op for the complex transform; the real ones are made of it."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.dtypes import get_default_dtype
from symgrad.errors import ArgumentError, ShapeError
from symgrad.op import (
    Op,
    as_size,
    fixed,
    front,
    is_complex,
    known_as,
    length_of,
    of_this_length,
    primitive,
    sampling,
    shape_of,
)
from symgrad.ops.calls.naming import within
from symgrad.ops.calls.still import glanced
from symgrad.ops.elementwise.complex import complex_of, conj, real
from symgrad.ops.indexing.windows import windowed, windows_sum_op
from symgrad.ops.reductions.sums import cast
from symgrad.ops.rules import work
from symgrad.ops.rules.refusals import kind_of
from symgrad.ops.shapes.joining import cat, narrow
from symgrad.ops.shapes.padding import pad, pad_axes, width_of
from symgrad.ops.shapes.rearrange import roll
from symgrad.ops.shapes.shaping import axis_of, flip, in_rows, reshape, squeeze, transpose, unsqueeze
from symgrad.precision import digits

_ADJOINT = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def _transform(x: Any, dims: tuple[int, ...], inverse: bool, norm: Any) -> Any:
    return (np.fft.ifftn if inverse else np.fft.fftn)(x, axes=dims, norm=norm)


def _code(x: str, dims: tuple[int, ...], inverse: bool, norm: str) -> str:
    return f'np.fft.{"i" if inverse else ""}fftn({x}, axes={dims}, norm="{norm}")'


def _spectrum(dims: tuple[int, ...], inverse: bool) -> sampling.Sample:
    """Complex values whatever the dtype asked for, in its precision."""

    def sample(make: Any) -> sampling.Case:
        dtype = np.result_type(make.dtype, np.complex64)
        value = make("real", "n", "m") + 1j * make("real", "n", "m")
        return (value.astype(dtype),), {"dims": dims, "inverse": inverse, "norm": "backward"}

    return sample


fourier_op: Op = primitive(
    "fourier",
    _transform,
    (lambda g, out, like, *, dims, inverse, norm: fourier_op(g, dims=dims, inverse=not inverse, norm=_ADJOINT[norm]),),
    linear=True,
    result=complex_of,
    mixes="dims",
    node="FftC2C",
    code=_code,
    digits=digits.fourier,
    example=([0.5 + 0j, -1.5 + 0j], {"dims": (0,), "inverse": False, "norm": "backward"}),
    work=work.fourier,
    samples=[_spectrum(dims, inverse) for dims in ((1,), (0, 1)) for inverse in (False, True)],
    doc="Discrete Fourier transform of complex arrays along axes, or its inverse.",
)


def _complexed(x: Any) -> Any:
    if is_complex(x):
        return x
    if kind_of(x) in "bui":
        x = cast(x, get_default_dtype())
    return cast(x, np.complex64 if x.dtype == np.float32 else np.complex128)


def _norm(norm: str | None) -> str:
    if norm not in (None, "backward", "forward", "ortho"):
        raise ArgumentError(f'Invalid normalization mode: "{norm}"; it is "backward", "forward" or "ortho".')
    return norm or "backward"


def _sized(x: Any, sizes: Sequence[int | None], dims: Sequence[int]) -> Any:
    """Axes cut or filled up with zeros to the sizes asked for."""
    change = {}
    for size, dim in zip(sizes, dims, strict=True):
        if size is not None and size != -1:
            if size < 1:
                raise ShapeError(f"Invalid number of data points ({size}) specified")
            have = length_of(x, dim)
            if size >= have:
                change[dim] = (0, width_of(size - have))
            elif hasattr(size, "kept"):
                x = narrow(x, dim, 0, as_size(size))
            else:
                x = narrow(x, dim, 0, *of_this_length(x, dim, [operator.index(size)]))
    return pad_axes(x, change) if change else x


def _axes(x: Any, s: Any, dim: Any) -> tuple[list[int | None], tuple[int, ...]]:
    """Sizes and axes as torch reads them: by default all axes, or the last ones when only sizes are given."""
    ndim = len(shape_of(x))
    if isinstance(s, int):
        s = (s,)
    if dim is None:
        if s is not None and len(s) > ndim:
            raise ShapeError(f"Got shape with {len(s)} values but input tensor only has {ndim} dimensions.")
        dims = tuple(range(ndim)) if s is None else tuple(range(ndim - len(s), ndim))
    else:
        given = (dim,) if isinstance(dim, int) else tuple(dim)
        if given and not ndim and hasattr(x, "dtype"):
            raise IndexError(f"Dimension specified as {given[0]} but tensor has no dimensions")
        dims = tuple(axis_of(d, ndim) for d in given)
    if len(set(dims)) < len(dims):
        raise ArgumentError(f"FFT dims must be unique, got {dims}.")
    sizes = [None] * len(dims) if s is None else list(s)
    if len(sizes) != len(dims):
        raise ArgumentError(f"When given, dim and shape arguments must have the same length, got {sizes} and {dims}.")
    return sizes, dims


def _c2c(x: Any, s: Any, dim: Any, norm: str | None, inverse: bool) -> Any:
    sizes, dims = _axes(x, s, dim)
    x = _sized(_complexed(x), sizes, dims)
    return fourier_op(x, dims=dims, inverse=inverse, norm=_norm(norm)) if dims else x


def _r2c(x: Any, s: Any, dim: Any, norm: str | None, inverse: bool) -> Any:
    """The half of a real array's spectrum that says it all."""
    if is_complex(x):
        raise ArgumentError("rfft expects a real input tensor; use fft for complex ones.")
    sizes, dims = _axes(x, s, dim)
    x = _sized(x, sizes, dims)
    out = fourier_op(_complexed(x), dims=dims, inverse=inverse, norm=_norm(norm))
    return in_rows(narrow(out, dims[-1], 0, length_of(x, dims[-1]) // 2 + 1))


def _c2r(x: Any, s: Any, dim: Any, norm: str | None, inverse: bool) -> Any:
    """The real array that half a spectrum belongs to."""
    sizes, dims = _axes(x, s, dim)
    last = dims[-1]
    n = sizes[-1] if sizes[-1] not in (None, -1) else 2 * (length_of(x, last) - 1)
    if n < 1:
        raise ShapeError(f"Invalid number of data points ({n}) specified")
    x = _sized(_complexed(x), [*sizes[:-1], n // 2 + 1], dims)
    if len(dims) > 1:
        x = fourier_op(x, dims=dims[:-1], inverse=inverse, norm=_norm(norm))
    rest = n - n // 2 - 1
    if fixed(rest):
        # The other half mirrors the first without its ends.
        x = cat([x, conj(flip(narrow(x, last, 1, rest), last))], last)
    return in_rows(real(fourier_op(x, dims=(last,), inverse=inverse, norm=_norm(norm))))


def _family(name: str, kind: Any, inverse: bool, hermitian: bool, what: str) -> None:
    """One transform in its three forms: one axis, two axes, any axes."""

    def run(x: Any, s: Any, dim: Any, norm: str | None) -> Any:
        if hermitian:
            # hfft is irfft of the conjugate with the other normalisation, ihfft the conjugate of rfft.
            swapped = _ADJOINT[_norm(norm)]
            if kind is _r2c:
                return conj(_r2c(x, s, dim, swapped, False))
            return _c2r(conj(x), s, dim, swapped, True)
        return kind(x, s, dim, norm, inverse)

    def one(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
        if n == -1:  # among the sizes of several axes it stands for the size that is there
            raise ShapeError(f"Invalid number of data points ({n}) specified")
        return run(input, None if n is None else (n,), (dim,), norm)

    def two(input: Any, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Any:
        return run(input, s, dim, norm)

    def many(input: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
        return run(input, s, dim, norm)

    for suffix, call, over in (("", one, "one axis"), ("2", two, "two axes"), ("n", many, "several axes")):
        known_as(call, name + suffix, f'{what}, along {over}; ``norm`` is None, "forward" or "ortho".')
        within("fft")(call)


_family("fft", _c2c, False, False, "Discrete Fourier transform")
_family("ifft", _c2c, True, False, "Inverse discrete Fourier transform")
_family("rfft", _r2c, False, False, "Fourier transform of real input: half of the spectrum")
_family("irfft", _c2r, True, False, "Inverse of rfft: real output")
_family("hfft", _c2r, False, True, "Fourier transform of half a Hermitian signal: real output")
_family("ihfft", _r2c, True, True, "Inverse of hfft")


def _shift(name: str, direction: int) -> Any:
    def call(input: Any, dim: Any = None) -> Any:
        ndim = len(shape_of(input))
        dims = range(ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
        axes = [axis_of(d, ndim) for d in dims]
        return roll(input, [(direction * (length_of(input, a) // 2)) for a in axes], axes) if axes else input

    known_as(call, name, f"The zero frequency moved to the {'middle' if direction > 0 else 'start'} of axes.")
    return within("fft")(call)


fftshift, ifftshift = _shift("fftshift", 1), _shift("ifftshift", -1)

# ------------------------------------------------------------------------------------------ short-time transforms


def _window(window: Any, win_length: int, n_fft: int, dtype: Any) -> Any:
    full = np.ones(win_length, dtype) if window is None else window
    return pad_axes(full, {0: _beside(win_length, n_fft)}) if win_length < n_fft else full


def _beside(win_length: int, n_fft: int) -> tuple[int, int]:
    """How many entries of a frame lie on the left of a shorter window, and on its right."""
    left = (n_fft - win_length) // 2
    return left, n_fft - win_length - left


def _hop(n_fft: int, hop_length: int | None) -> int:
    hop = n_fft // 4 if hop_length is None else hop_length
    if hop <= 0:
        raise ArgumentError(f"expected hop_length > 0, but got hop_length={hop}")
    return hop


@front("stft")
def stft(
    input: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Any:
    """Short-time Fourier transform of signals in the last axis: (…, frequencies, frames).

    Real signals need ``return_complex``; with False the last axis holds real and imaginary parts.  Without ``center``,
    windows of fewer than ``n_fft`` entries begin at the first one of the signal if they are to be aligned.
    """
    if center and align_to_window is not None:
        raise ArgumentError("stft align_to_window should only be set when center = false")
    if return_complex is None and not is_complex(input, window):
        raise ArgumentError("stft requires the return_complex parameter be given for real inputs")
    hop, length = _hop(n_fft, hop_length), n_fft if win_length is None else win_length
    if not 0 < length <= n_fft:
        raise ArgumentError(f"stft: expected 0 < win_length <= n_fft, but got win_length={length} and n_fft={n_fft}")
    x = input if len(shape_of(input)) == 2 else unsqueeze(input, 0)
    if center:
        x = squeeze(pad(unsqueeze(x, 1), (n_fft // 2, n_fft // 2), pad_mode), 1)
    elif align_to_window:
        x = pad_axes(x, {1: _beside(length, n_fft)})
    frames = windowed(x, 1, n_fft, hop) * _window(window, length, n_fft, real(x).dtype)
    halved = (not is_complex(frames)) if onesided is None else onesided
    norm = "ortho" if normalized else None
    spectrum = _r2c(frames, None, (-1,), norm, False) if halved else _c2c(frames, None, (-1,), norm, False)
    out = transpose(spectrum, 1, 2)
    out = out if len(shape_of(input)) == 2 else squeeze(out, 0)
    if return_complex is False:
        from symgrad.ops.elementwise.floats import view_as_real

        return view_as_real(out)
    return out


@front("istft")
def istft(
    input: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Any:
    """Inverse short-time Fourier transform, by overlap and addition.

    Raises ``ArgumentError`` for a spectrum that is not complex, and where windows do not cover the signal.
    """
    hop, size = _hop(n_fft, hop_length), n_fft if win_length is None else win_length
    if not is_complex(input):
        raise ArgumentError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    if window is not None and is_complex(window) and not return_complex:
        raise ArgumentError("Complex windows are incompatible with return_complex=False")
    if not 0 < hop <= size <= n_fft:
        raise ArgumentError(f"istft: expected 0 < hop_length <= win_length <= n_fft, got {hop}, {size} and {n_fft}")
    x = input if len(shape_of(input)) == 3 else unsqueeze(input, 0)
    spectrum = transpose(x, 1, 2)
    norm = "ortho" if normalized else None
    count, halved = shape_of(x)[1], shape_of(x)[1] != n_fft if onesided is None else onesided
    if isinstance(count, int) and count != (n_fft // 2 + 1 if halved else n_fft):
        raise ArgumentError(
            "istft: expected the frequency dimension (3rd to the last) of the input tensor to match "
            f"{'n_fft / 2 + 1' if halved else 'n_fft'} when onesided={bool(halved)}, but got {count}"
        )
    if return_complex:
        frames = _c2c(spectrum, None, (-1,), norm, True)
    else:
        # Of a full spectrum the first half is read, as torch.
        half = spectrum if halved else narrow(spectrum, 2, 0, n_fft // 2 + 1)
        frames = _c2r(half, (n_fft,), (-1,), norm, True)
    taper = _window(window, size, n_fft, real(frames).dtype)
    count = shape_of(frames)[1]
    total = n_fft + hop * (count - 1)
    signal = windows_sum_op(frames * taper, dim=1, step=hop, dilation=1, size=total)
    weight = reshape(taper * taper, 1, n_fft) * np.ones((count, 1), real(frames).dtype)
    envelope = windows_sum_op(weight, dim=0, step=hop, dilation=1, size=total)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else total - (n_fft // 2 if center else 0)
    kept = min(end, total) - start
    covered = narrow(envelope, 0, start, kept)
    found = glanced(covered)
    if isinstance(found, np.ndarray) and not (np.abs(found) > 1e-11).all():
        raise ArgumentError("istft: window overlap add min: 1, so that there are places which no window covers")
    out = narrow(signal, 1, start, kept) / covered
    if end > total:
        out = pad_axes(out, {1: (0, end - total)})
    return out if len(shape_of(input)) == 3 else squeeze(out, 0)
