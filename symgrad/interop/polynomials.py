"""NumPy's polynomials by their coefficients: ``np.polymul``, ``np.polyder``, ``np.polyfit``, ``np.roots``.

The coefficient of the highest power stands first, as in NumPy's functions of the same names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.interop.functions import bare, front_of, tensor, unsupported
from symgrad.interop.pieces import convolve, trimmed
from symgrad.ops.calls.naming import SPACES


def _row(p: Any) -> Any:
    """The coefficients as a tensor of one axis."""
    p = tensor(p)
    return p.reshape(1) if not p.ndim else p


def _value(p: Any, x: Any) -> Any:
    out: Any = 0
    for k in range(len(p)):
        out = out * x + p[k]
    return out


def _joined(sign: int) -> Callable[..., Any]:
    """The sum or the difference of two polynomials: the shorter one begins with zeros."""

    def call(a1: Any, a2: Any) -> Any:
        a, b = _row(a1), _row(a2)
        n = max(len(a), len(b))
        pad = SPACES["nn.functional"]["pad"]
        a, b = (pad(p, [n - len(p), 0]) for p in (a, b))
        return a + b if sign > 0 else a - b

    call.__name__ = "polyadd" if sign > 0 else "polysub"
    return call


def _product(a1: Any, a2: Any) -> Any:
    """Zeros that a polynomial begins with are no coefficients of its product."""
    a, b = (trimmed(_row(p), "f") for p in (a1, a2))
    return convolve(a if len(a) else tensor([0.0]), b if len(b) else tensor([0.0]))


def _derivative(p: Any, m: int = 1) -> Any:
    if m < 0:
        raise ArgumentError("Order of derivative must be positive (see polyint)")
    p = _row(p)
    for _ in range(m):
        p = p[:-1] * tensor(np.arange(len(p) - 1, 0, -1)).to(p.dtype)
    return p


def _integral(p: Any, m: int = 1, k: Any = None) -> Any:
    if m < 0:
        raise ArgumentError("Order of integral must be positive (see polyder)")
    p = _row(p)
    constants = tensor(np.zeros(m)) if k is None else _row(k)
    if len(constants) == 1 and m > 1:
        constants = constants.expand(m)
    if len(constants) < m:
        raise ArgumentError("k must be a scalar or a rank-1 array of length 1 or >m.")
    for step in range(m):
        powers = tensor(np.arange(len(p), 0, -1)).to(p.dtype)
        p = front_of("cat")([p / powers, constants[step : step + 1].to(p.dtype)], 0)
    return p


def _roots(p: Any) -> Any:
    """Eigenvalues of the companion matrix; zeros at the end of ``p`` are roots at zero."""
    p = _row(p)
    if p.ndim != 1:
        raise ArgumentError("Input must be a rank-1 array.")
    places = np.flatnonzero(bare(p != 0))
    if not len(places):
        return tensor(np.array([]))
    first, last = int(places[0]), int(places[-1])
    at_zero = len(p) - 1 - last
    p, n = p[first : last + 1], last - first
    if not n:
        return tensor(np.zeros(at_zero))
    below = tensor(np.eye(n - 1, n, dtype=p.dtype))
    found = SPACES["linalg"]["eigvals"](front_of("cat")([-(p[1:] / p[0])[None], below], 0))
    return SPACES["nn.functional"]["pad"](found, [0, at_zero]) if at_zero else found


def _from_roots(seq_of_zeros: Any) -> Any:
    z = tensor(seq_of_zeros)
    if z.ndim == 2 and z.shape[0] == z.shape[1] and len(z):
        z = SPACES["linalg"]["eigvals"](z)
    elif z.ndim > 1:
        raise ArgumentError("input must be 1d or non-empty square 2d array.")
    out = z.detach().new_ones(1)
    for k in range(z.numel()):
        out = convolve(out, front_of("cat")([z.detach().new_ones(1), -z.reshape(-1)[k : k + 1]], 0))
    conjugated = z.is_complex() and np.array_equal(np.sort(bare(z)), np.sort(bare(z).conj()))
    return out.real if conjugated else out


def least_squares(a: Any, b: Any, rcond: Any = None) -> Any:
    """``np.linalg.lstsq``: solution, residuals and singular values with their gradients, and the rank."""
    a, b = tensor(a), tensor(b)
    cut = np.finfo(a.dtype).eps * max(a.shape) if rcond is None else rcond
    linalg = SPACES["linalg"]
    values = linalg["svdvals"](a)
    rank = np.int32(bare((values.detach() > cut * values.detach().amax()).sum()))
    columns = b if b.ndim == 2 else b[:, None]
    whole = rank == min(a.shape)
    found = linalg["lstsq"](a, columns)[0] if whole else linalg["pinv"](a, rtol=cut) @ columns
    off = (columns - a @ found).abs() ** 2
    residuals = off.sum(0) if rank == a.shape[1] < a.shape[0] else off.sum(0)[:0]
    return found if b.ndim == 2 else found[:, 0], residuals, rank, values


def _fit(x: Any, y: Any, deg: int, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False) -> Any:
    if full or cov:
        raise unsupported("np.polyfit(…, full=True or cov=True)", " in this form")
    x, y = tensor(x), tensor(y)
    powers = front_of("vander")(x, deg + 1)
    if w is not None:
        w = tensor(w)
        powers, y = powers * w[:, None], y * (w[:, None] if y.ndim == 2 else w)
    scale = front_of("sqrt")((powers**2).sum(0))  # columns of one size keep the digits of the powers
    found = least_squares(powers / scale, y, len(x) * np.finfo(powers.dtype).eps if rcond is None else rcond)[0]
    return (found.T / scale).T if found.ndim == 2 else found / scale


POLYNOMIALS: dict[Any, Callable[..., Any]] = {
    np.polyval: _value,
    np.polyadd: _joined(1),
    np.polysub: _joined(-1),
    np.polymul: _product,
    np.polyder: _derivative,
    np.polyint: _integral,
    np.polyfit: _fit,
    np.roots: _roots,
    np.poly: _from_roots,
    np.linalg.lstsq: least_squares,
}
