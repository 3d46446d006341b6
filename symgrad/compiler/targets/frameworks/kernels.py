"""Kernels of the library that branch or write to arrays, once more without: in NumPy's spelling.

They are for libraries that have no function of their own for what a kernel computes.  Kernels that are assignments and
a result need no entry here: their own text is rewritten (``frameworks/rewriting.py``).
"""

from __future__ import annotations

SPECIAL = (
    "erf", "erfc", "erfinv", "digamma", "log_ndtr", "ndtr", "ndtri", "entr", "xlogy", "xlog1py", "gammainc",
    "gammaincc",
)  # fmt: skip
"""Kernels that ``torch.special`` and ``jax.scipy.special`` have under the library's names."""


def parts_of_matrices(module: str) -> dict[str, object]:
    """Parts of decompositions, by the functions of ``linalg`` that give all of them."""
    parts = {"slogdet_sign": ("slogdet({})", 0), "logabsdet": ("slogdet({})", 1), "svd_u": ("svd({}, False)", 0)}
    parts |= {"svd_vh": ("svd({}, False)", 2), "qr_q": ("qr({})", 0), "qr_r": ("qr({})", 1)}
    calls: dict[str, object] = {
        name: lambda x, call=call, k=k: f"{module}.linalg.{call.format(x)}[{k}]" for name, (call, k) in parts.items()
    }
    calls["svd"] = lambda x: f"{module}.linalg.svd({x}, False)"
    return {**calls, "inv_lower": lambda x: f"{module}.linalg.inv({module}.tril({x}))"}


KERNELS = {
    "divided_where": """def divided_where(x, y, keep):
    return np.where(keep != 0, x / np.where(keep != 0, y, 1), 0)""",
    "ratio": """def ratio(x, y):
    return np.where(y == 0, 0, x / np.where(y == 0, 1, y))""",
    "masked": """def masked(x, keep):
    return np.where(keep != 0, x * keep, 0)""",
    "xlogy_slope": """def xlogy_slope(g, x, y):
    past = (x == 0) & (y <= 0)
    return np.where(past, 0, xlogy(g, np.where(past, 1, y)))""",
    "xlog1py_slope": """def xlog1py_slope(g, x, y):
    past = (x == 0) & (y <= -1)
    return np.where(past, 0, xlog1py(g, np.where(past, 0, y)))""",
    "lerp": """def lerp(x, y, weight):
    near = np.abs(weight) < 0.5
    return np.where(near, x, y) + (y - x) * np.where(near, weight, weight - 1)""",
    "label_cross_entropy": """def label_cross_entropy(x, labels):
    return -chosen(log_softmax(x, -1), labels)""",
    "bce": """def bce(p, t):
    return -(t * np.maximum(np.log(p), -100) + (1 - t) * np.maximum(np.log1p(-p), -100))""",
    "weighted_gram": """def weighted_gram(x, w):
    return (np.swapaxes(x, 0, 1) * w) @ x""",
    "shares": """def shares(x, dim):
    return logsumexp_and_shares(x, dim)[1]""",
    "logsumexp_and_shares": """def logsumexp_and_shares(x, dim):
    top = np.max(x, dim, keepdims=True)
    e = np.exp(x - np.where(top == -np.inf, 0, top))
    total = np.where(np.isfinite(top), np.sum(e, dim, keepdims=True), 1)
    return np.log(total) + top, e / total""",
    "prod_others": """def prod_others(x, dim):
    x = np.moveaxis(x, dim, -1)
    ones = np.ones_like(x[..., :1])
    left = np.cumprod(np.concatenate((ones, x[..., :-1]), -1), -1)
    right = np.flip(np.cumprod(np.concatenate((ones, np.flip(x[..., 1:], (-1,))), -1), -1), (-1,))
    return np.moveaxis(left * right, -1, dim)""",
    "weighed": """def weighed(x, weights, dim):
    near = np.moveaxis(x, dim, -1)
    lost = np.where(np.isfinite(near), 0, near)[..., None, :]
    out = np.where(np.isfinite(near), near, 0) @ weights.T + np.sum(np.where(weights != 0, lost * weights, 0), -1)
    return np.moveaxis(out, -1, dim)""",
    "one_hot": """def one_hot(index, classes, dtype):
    places = index[..., None]
    return (np.where(places < 0, places + classes, places) == np.arange(classes)).astype(dtype)""",
    "chosen": """def chosen(x, labels):
    return np.take_along_axis(x, labels[..., None], -1)[..., 0]""",
    "cross": """def cross(a, b, dim):
    (a1, a2, a3), (b1, b2, b3) = np.moveaxis(a, dim, 0), np.moveaxis(b, dim, 0)
    return np.stack((a2 * b3 - a3 * b2, a3 * b1 - a1 * b3, a1 * b2 - a2 * b1), dim)""",
    "solve": """def solve(a, b):
    return np.linalg.solve(a, b[:, None])[..., 0] if b.ndim == 1 else np.linalg.solve(a, b)""",
    "pinv": """def pinv(x, atol, rtol):
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    kept = (s > rtol * np.max(s, -1, keepdims=True)) & (s > atol)
    inverse = np.where(kept, 1 / np.where(kept, s, 1), 0)
    return np.conj(np.swapaxes(vh, -1, -2)) @ (inverse[..., None] * np.conj(np.swapaxes(u, -1, -2)))""",
    "_delta": """def _delta(x, where):
    order = sorted(range(x.ndim), key=where.index)
    firsts = [where.index(k) for k in order]
    out = np.transpose(x, tuple(order))
    out = out.reshape([x.shape[k] if place in firsts else 1 for place, k in enumerate(where)])
    for place, k in enumerate(where):
        if place not in firsts:
            n = x.shape[k]
            row, column = [1] * len(where), [1] * len(where)
            row[where.index(k)], column[place] = n, n
            out = np.where(np.arange(n).reshape(row) == np.arange(n).reshape(column), out, 0)
    return out""",
    "balancing": """def balancing(x):
    n = x.shape[-1] // 2
    size = np.abs(x)
    corner = np.max(size[:n, n:])
    blocks = np.maximum(np.maximum(np.max(size[:n, :n]), np.max(size[n:, n:])), 1)
    large = (blocks < corner) & np.isfinite(corner)
    scale = np.where(large, 2.0 ** np.ceil(np.log2(np.where(large, corner, 1) / blocks)), 1)
    ones = np.ones_like(size[0, :n])
    return np.concatenate((ones, ones / scale), 0)""",
    "adjugate": """def adjugate(x):
    if x.shape[-1] == 1:
        return np.ones_like(x)
    u, s, vh = np.linalg.svd(x)
    sign = np.linalg.det(u) * np.linalg.det(vh)
    middle = prod_others(s, -1)[..., None] * sign[..., None, None] * np.conj(np.swapaxes(u, -1, -2))
    return np.conj(np.swapaxes(vh, -1, -2)) @ middle""",
}
