"""The calls of Numba: NumPy's names, of which it compiles many, and the library's kernels in such calls.

What Numba has in part (``keepdims``, ``axis`` of a maximum) is written in what it has; the rest is refused when a file
is written, which compiles it.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from symgrad.compiler.targets.frameworks.kernels import KERNELS
from symgrad.compiler.targets.frameworks.rewriting import Framework, Missing, Text, told


def _axes(text: str) -> list[int]:
    """The axes of a reduction, in an order in which one after the other can be taken."""
    found = ast.literal_eval(text)
    axes = list(found) if isinstance(found, tuple) else [found]
    if any(a < 0 for a in axes) and any(a >= 0 for a in axes):
        raise Missing(f"a reduction over the axes {text}")
    return sorted(axes, reverse=axes[0] >= 0)


def _over(whole: str, single: str) -> Any:
    """A reduction: over all entries, or over one axis after the other."""

    def reduced(x: str, axis: str = "None", keepdims: str = "False") -> str:
        if axis == "None":
            if keepdims != "False":
                raise Missing(f"{whole}(keepdims=True) over all axes")
            return f"{whole}({x})"
        if axis.isidentifier():  # in a kernel, which is given one axis
            return f"{single}({x}, {axis})"
        for a in _axes(axis):
            x = f"{single}({x}, {a})"
            if keepdims == "True":
                x = f"np.expand_dims({x}, {a})"
        return x

    return reduced


def _dtype(text: str) -> str:
    """The dtype that a text names, as Numba has to know it; other arguments as they are."""
    found = re.fullmatch(r"'((?:float|int|uint|complex|bool)\d*)'", text)
    return text if found is None else f"np.{found[1].replace('bool', 'bool_')}"


def _triangular(a: str, b: str, upper: str, unit: str) -> str:
    if unit != "False":
        raise Missing("solve_triangular(unitriangular=True)")
    return f"solve(np.{'triu' if upper == 'True' else 'tril'}({a}), {b})"


def _plain(name: str) -> Any:
    """A call without ``out=``: its result is a new array."""

    def call(*args: str, **named: str) -> str:
        named.pop("out", None)
        row = [*map(_dtype, args), *(f"{k}={_dtype(v)}" for k, v in named.items())]
        return f"np.{name}({', '.join(row)})"

    return call


def _put(g: str, index: str, shape: str) -> str:
    """Zeros with values at places: slices and numbers, or the rows of one index array, which may be there twice."""
    node = ast.parse(index, mode="eval").body
    if isinstance(node, ast.Name):
        return f"put_rows({g}, {index}, {shape})"
    return f"put_part({g}, {told(index)}, {shape})"


def _typed(x: Text, kind: str, _device: str) -> str:
    return f"np.{kind}({x})" if x.plain else f"np.asarray({x}).astype(np.{kind})"


def _einsum(spec: str, *xs: str, optimize: str = "") -> str:
    """A contraction entry by entry, as a sum of a product."""
    given, _, out = spec.strip("\"'").partition("->")
    rows = set(given.split(","))
    axes = [k for k, letter in enumerate(given.split(",")[0]) if letter not in out]
    if len(rows) > 1 or optimize or [x for x in given.split(",")[0] if x in out] != list(out):
        raise Missing("np.einsum")
    text = " * ".join(f"({x})" for x in xs)
    for k in reversed(axes):
        text = f"np.sum({text}, {k})"
    return text


CALLS: dict[str, Any] = {
    "sum": _over("np.sum", "np.sum"),
    "prod": _over("np.prod", "prod_over"),
    "einsum": _einsum,
    "max": _over("np.max", "max_over"),
    "min": _over("np.min", "min_over"),
    "amax": _over("np.max", "max_over"),
    "amin": _over("np.min", "min_over"),
    "mean": _over("np.mean", "mean_over"),
    "nearest": lambda x: f"np.rint({x})",
    "multiply.outer": lambda x, y: f"outer({x}, {y})",
    "matmul": lambda x, y: f"({x} @ {y})",
    "logsumexp": lambda x, dim, keepdim: _over("", "logsumexp_over")(x, dim, keepdim),
    "put": _put,
    "inv_lower": lambda x: f"np.linalg.inv(np.tril({x}))",
    "solve_triangular": _triangular,
    "reshape": lambda x, shape: f"np.ascontiguousarray({x}).reshape({shape})",
    "ones_like": lambda x, **_: f"np.ones_like({x})",
    "zeros_like": lambda x, **_: f"np.zeros_like({x})",
}


def _folded(name: str, step: str) -> str:
    """The text of a reduction that takes one row after the other; the larger of a row and itself is a copy of it."""
    return f"""def {name}(x, axis):
    rows = np.swapaxes(x, axis, 0)
    out = np.maximum(rows[0], rows[0])
    for k in range(1, rows.shape[0]):
        out = {step}
    return out"""


OWN = {
    **KERNELS,
    "softplus": """def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))""",
    "sigmoid": """def sigmoid(x):
    return 0.5 + 0.5 * np.tanh(0.5 * x)""",
    "logsigmoid": """def logsigmoid(x):
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))""",
    "sign": """def sign(x):
    return np.where(np.isnan(x), 0, np.sign(x))""",
    "solve": """def solve(a, b):
    return np.linalg.solve(np.ascontiguousarray(a), np.ascontiguousarray(b))""",
    "outer": """def outer(x, y):
    return np.reshape(np.outer(x, y), x.shape + y.shape)""",
    "softmax": """def softmax(x, dim):
    e = np.exp(x - np.expand_dims(max_over(x, dim), dim))
    return e / np.expand_dims(np.sum(e, dim), dim)""",
    "log_softmax": """def log_softmax(x, dim):
    y = x - np.expand_dims(max_over(x, dim), dim)
    return y - np.expand_dims(np.log(np.sum(np.exp(y), dim)), dim)""",
    "shares": """def shares(x, dim):
    top = np.expand_dims(max_over(x, dim), dim)
    e = np.exp(x - np.where(top == -np.inf, 0, top))
    return e / np.where(np.isfinite(top), np.expand_dims(np.sum(e, dim), dim), 1)""",
    "logsumexp_and_shares": """def logsumexp_and_shares(x, dim):
    return np.expand_dims(logsumexp_over(x, dim), dim), shares(x, dim)""",
    "log_softmax_and_softmax": """def log_softmax_and_softmax(x, dim):
    y = log_softmax(x, dim)
    return y, np.exp(y)""",
    "logsumexp_over": """def logsumexp_over(x, axis):
    m = max_over(x, axis)
    m = np.where(np.isfinite(m), m, 0)
    return m + np.log(np.sum(np.exp(x - np.expand_dims(m, axis)), axis))""",
    "put_part": """def put_part(g, index, shape):
    out = np.zeros(shape, np.asarray(g).dtype)
    out[index] = g
    return out""",
    "put_rows": """def put_rows(g, index, shape):
    out = np.zeros(shape, g.dtype)
    for k in range(index.size):
        out[index[k]] += g[k]
    return out""",
    "max_over": _folded("max_over", "np.maximum(out, rows[k])"),
    "min_over": _folded("min_over", "np.minimum(out, rows[k])"),
    "prod_over": _folded("prod_over", "out * rows[k]"),
    "mean_over": """def mean_over(x, axis):
    return np.sum(x, axis) / x.shape[axis]""",
}

METHODS = {
    "astype": lambda x, dtype: f"np.asarray({x}).astype({dtype})",
    "copy": lambda x: f"np.copy({x})",
    "reshape": lambda x, *sizes: f"np.ascontiguousarray({x}).reshape(({', '.join(sizes)},))",
    "ravel": lambda x: f"np.ascontiguousarray({x}).ravel()",
    "transpose": lambda x, *axes: f"np.transpose({x}, ({', '.join(axes)},))",
    "swapaxes": lambda x, one, other: f"np.swapaxes({x}, {one}, {other})",
}

NUMBA = Framework("numba", "np", "import numba\nimport numpy as np\n", CALLS, METHODS, OWN, _plain, _typed)
