"""NumPy kernels of products without some of their factors: of numbers, of running products, and of matrices.

Where nothing stands against it they divide the product that is known; else they multiply the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def prod_others(x: Any, dim: int) -> Any:
    """Product of all other entries along an axis, without division: prefix times suffix products."""
    x = np.moveaxis(x, dim, -1)
    left, right = np.ones_like(x), np.ones_like(x)
    np.cumprod(x[..., :-1], -1, out=left[..., 1:])
    np.cumprod(x[..., :0:-1], -1, out=right[..., -2::-1])
    return np.moveaxis(left * right, -1, dim)


def divisible(out: Any, x: Any) -> Any:
    """Whether products ``out`` of entries of ``x`` may be divided by them: no zeros, nothing over- or underflowed."""
    size = np.abs(out)
    return np.all(x) and np.all((size >= np.finfo(size.dtype).tiny) & (size < np.inf))


def divided_where(x: Any, y: Any, keep: Any) -> Any:
    """x / y, and 0 where ``keep`` does not hold."""
    if keep is True or (getattr(keep, "shape", None) == () and keep):
        return np.divide(x, y)
    kind = np.result_type(x, y)  # which a chosen number, that is not as weak as it was, must not widen
    parts = np.divide(x, np.where(keep, y, 1), dtype=None if kind.kind in "bui" else kind)
    return np.where(keep, parts, 0)[()]


def prod_divided(out: Any, x: Any, dim: int, keepdim: bool) -> Any:
    """A product along an axis divided by each of its factors; the products of the others where that cannot be done."""
    if not divisible(out, x):
        return prod_others(x, dim)
    return (out if keepdim else np.expand_dims(out, dim)) / x


def prod_divided_twice(g: Any, out: Any, x: Any, dim: int, keepdim: bool) -> Any:
    """How a product divided by its factors follows them: -g · out / x² (conjugate); or by products of all but two."""
    if divisible(out, x):
        return -g * np.conj((out if keepdim else np.expand_dims(out, dim)) / x / x)
    x, g = (np.moveaxis(a, dim, 0) for a in np.broadcast_arrays(np.conj(x), g))
    (left, to_left), (right, to_right) = before(x, g), before(x[::-1], g[::-1])
    return np.moveaxis(to_left * right[::-1] + left * to_right[::-1], 0, dim)


def before(x: Any, t: Any) -> Any:
    """The products of all rows before each, and their tangents when the rows move along ``t``."""
    out = np.ones((2, *x.shape), np.result_type(x, t))
    out[1, :1] = 0
    for k in range(1, len(x)):
        out[0, k] = out[0, k - 1] * x[k - 1]
        out[1, k] = out[1, k - 1] * x[k - 1] + out[0, k - 1] * t[k - 1]
    return out


def cumprod_divided(g: Any, out: Any, x: Any, dim: int) -> Any:
    """The sum of g_j · out_j / x_i over j >= i along an axis (conjugate factors); without dividing where that fails."""
    g, out, x = (np.moveaxis(a, dim, 0) for a in np.broadcast_arrays(g, np.conj(out), np.conj(x)))
    if divisible(out, x):
        terms = g * out
        sums = np.cumsum(terms[::-1], 0, np.result_type(terms.dtype, np.float64))[::-1]
        return np.moveaxis(sums.astype(terms.dtype) / x, 0, dim)
    others = np.ones(x.shape, x.dtype)
    np.cumprod(x[:-1], 0, out=others[1:])
    return np.moveaxis(others * after(g, x)[0], 0, dim)


def after(g: Any, x: Any, t: Any = None) -> Any:
    """The sums of g_j times the rows from the next to the j-th, for j >= i; with ``t`` their tangents along it, too."""
    out = np.zeros((1 if t is None else 2, *x.shape), np.result_type(g, x) if t is None else np.result_type(g, x, t))
    out[0] = g
    x = np.ascontiguousarray(x)
    for k in range(len(x) - 2, -1, -1):
        out[0, k] += x[k + 1] * out[0, k + 1]
        if t is not None:
            out[1, k] += x[k + 1] * out[1, k + 1] + t[k + 1] * out[0, k + 1]
    return out


def cumprod_moved(t: Any, out: Any, x: Any, dim: int) -> Any:
    """The tangent of running products ``out`` when their factors move along ``t``."""
    t, out, x = (np.moveaxis(a, dim, 0) for a in np.broadcast_arrays(t, out, x))
    if divisible(out, x):
        terms = t / x
        moved = out * np.cumsum(terms, 0, np.result_type(terms.dtype, np.float64)).astype(terms.dtype)
    else:
        made, tangents = before(x, t)
        moved = tangents * x + made * t
    return np.moveaxis(moved, 0, dim)


def cumprod_divided_twice(h: Any, g: Any, out: Any, x: Any, dim: int) -> Any:
    """How :func:`cumprod_divided` follows the factors, pulled back along ``h``."""
    if divisible(out, x):
        return -np.conj(h / x) * cumprod_divided(g, out, x, dim)
    h, g, x = (np.moveaxis(a, dim, 0) for a in np.broadcast_arrays(np.conj(h), g, np.conj(x)))
    (left, to_left), (right, to_right) = before(x, h), after(g, x, h)
    return np.moveaxis(to_left * right + left * to_right, 0, dim)


def weighed(x: Any, weights: Any, dim: int) -> Any:
    """The product with a matrix (results, entries) along an axis; a weight of 0 keeps out what is not finite."""
    with np.errstate(invalid="ignore"):
        out = np.moveaxis(np.tensordot(x, weights, (dim, 1)), -1, dim)
        if np.isfinite(np.sum(out)):
            return out
        lost = ~np.isfinite(x)
        out = np.ascontiguousarray(np.moveaxis(np.tensordot(np.where(lost, 0, x), weights, (dim, 1)), -1, dim))
        entries, rows, holes = (np.moveaxis(a, dim, 0) for a in (x, out, lost))
        for k in np.flatnonzero(np.any(holes, tuple(range(1, x.ndim)))):
            for i in np.flatnonzero(weights[:, k]):
                rows[i] += np.where(holes[k], entries[k], 0) * weights[i, k]
    return out


def adjugate(x: Any) -> Any:
    """The transposed cofactor matrix, right for singular matrices too (through the SVD); nan for infinite ones."""
    if np.shape(x)[-1] == 1:
        return np.ones_like(x)
    known = np.all(np.isfinite(x), (-2, -1), keepdims=True)
    u, s, vh = np.linalg.svd(np.where(known, x, 0))
    sign = np.linalg.det(u) * np.linalg.det(vh)
    found = np.conj(np.swapaxes(vh, -1, -2)) @ (
        prod_others(s, -1)[..., None] * sign[..., None, None] * np.conj(np.swapaxes(u, -1, -2))
    )
    return np.where(known, found, np.nan)


def nonsingular(out: Any) -> Any:
    """Whether a matrix with the determinant ``out`` has an inverse that can be trusted."""
    size = np.abs(out)
    return (size >= 100 * np.finfo(size.dtype).eps) & (size < np.inf)


def det_divided(out: Any, x: Any) -> Any:
    """The determinant ``out`` times the inverse of ``x``; the adjugate of matrices that are nearly singular."""
    dets = np.reshape(out, -1)
    rows = x.reshape(dets.size, *x.shape[-2:])
    rows = rows.astype(np.result_type(x.dtype, np.float64))
    found, whole = np.empty_like(rows), nonsingular(dets)
    found[whole] = dets[whole, None, None] * np.linalg.inv(rows[whole])
    found[~whole] = adjugate(rows[~whole])
    return found.reshape(x.shape).astype(x.dtype)


def det_divided_twice(g: Any, out: Any, x: Any) -> Any:
    """How :func:`det_divided` follows the matrix, pulled back along ``g``; as the adjugate where it is singular."""
    shape, whole = x.shape, nonsingular(np.reshape(out, -1))
    g, x = (a.reshape(whole.size, *shape[-2:]) for a in np.broadcast_arrays(g, x))
    found = np.empty(g.shape, np.result_type(g, x))
    inverse = np.conj(np.swapaxes(np.linalg.inv(x[whole]), -1, -2))
    found[whole] = -np.conj(np.reshape(out, -1)[whole, None, None]) * (inverse @ g[whole] @ inverse)
    found[~whole] = adjugate_moved(x[~whole], g[~whole])
    return found.reshape(shape)


def adjugate_moved(x: Any, g: Any) -> Any:
    """The derivative of the adjugate at ``x``, transposed and applied to ``g``; right for singular matrices, too.

    Of a diagonal matrix S the adjugate moves along K by the products of all entries of S but two.
    """
    n, known = np.shape(x)[-1], np.all(np.isfinite(x), (-2, -1), keepdims=True)
    u, s, vh = np.linalg.svd(np.where(known, x, 0))
    sign = np.linalg.det(u) * np.linalg.det(vh)
    apart = ~np.eye(n, dtype=bool)
    rest = np.where(apart, prod_others(np.where(apart, s[..., None, :], 1), -1), 0)
    turned = vh @ g @ u
    moved = -turned * rest
    moved[..., range(n), range(n)] = (rest @ np.diagonal(turned, 0, -2, -1)[..., None])[..., 0]
    return np.where(known, np.conj(sign)[..., None, None] * (u @ moved @ vh), np.nan)


def matmul(a: Any, b: Any) -> Any:
    """The matrix product; of a column and a row entry by entry, so that zeros keep their signs, as in torch."""
    if a.ndim == b.ndim == 2 and a.shape[1] == b.shape[0] == 1 < min(len(a), b.shape[1]) and a.dtype.kind == "f":
        return a * b
    return np.matmul(a, b)
