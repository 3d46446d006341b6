"""The calls of JAX: ``jax.numpy`` has NumPy's names, and ``jax.scipy`` and ``jax.nn`` most of the library's kernels."""

from __future__ import annotations

from symgrad.compiler.targets.frameworks.kernels import KERNELS, SPECIAL, parts_of_matrices
from symgrad.compiler.targets.frameworks.rewriting import Framework, Text, told

_SPECIAL = {
    **{name: name for name in (*SPECIAL, "betainc", "betaln", "expi", "spence")},
    "lgamma": "gammaln",
    "hurwitz": "zeta",
    "gamma_function": "gamma",
}
_PLAIN = {
    "nearest": "jnp.rint",
    "left_shift": "jnp.left_shift",
    "right_shift": "jnp.right_shift",
    "sign": "jnp.sign",
    "complex_sign": "jnp.sign",
    "sinc": "jnp.sinc",
    "log2": "jnp.log2",
    "angle": "jnp.angle",
    "logaddexp": "jnp.logaddexp",
    "heaviside": "jnp.heaviside",
    "complex_of": "jax.lax.complex",
    "logsigmoid": "jax.nn.log_sigmoid",
    "softplus": "jax.nn.softplus",
    "matrix_exp": "jax.scipy.linalg.expm",
    "eig": "jnp.linalg.eig",
    "eigvals": "jnp.linalg.eigvals",
}


def _over(name: str) -> object:
    def reduced(x: str, dim: str, keepdim: str) -> str:
        return f"{name}({x}, {dim}{'' if keepdim == 'False' else f', keepdims={keepdim}'})"

    return reduced


def _along(name: str) -> object:
    return lambda x, dim: f"{name}({x}, {dim})"


def _typed(x: Text, kind: str, _device: str) -> str:
    return f"jnp.asarray({x}, jnp.{kind})"


CALLS = {
    **{name: f"jax.scipy.special.{other}" for name, other in _SPECIAL.items()},
    **_PLAIN,
    **parts_of_matrices("jnp"),
    "array": lambda values, dtype=None: (
        f"jnp.array({values})" if dtype == "'int64'" else f"jnp.array({values}, {dtype})"
    ),
    "all_true": _over("jnp.all"),
    "any_true": _over("jnp.any"),
    "logsumexp": _over("jax.scipy.special.logsumexp"),
    "softmax": _along("jax.nn.softmax"),
    "log_softmax": _along("jax.nn.log_softmax"),
    "log_softmax_and_softmax": lambda x, dim: f"(jax.nn.log_softmax({x}, axis={dim}), jax.nn.softmax({x}, axis={dim}))",
    "logcumsumexp": lambda x, dim: f"jax.lax.cumlogsumexp({x}, {dim})",
    "norm": lambda x, p, dim, keepdim: f"vector_norm({x}, {p}, {dim}, {keepdim})",
    "std": lambda x, dim, correction, keepdim: f"jnp.std({x}, {dim}, ddof={correction}, keepdims={keepdim})",
    "var": lambda x, dim, correction, keepdim: f"jnp.var({x}, {dim}, ddof={correction}, keepdims={keepdim})",
    "argsort": lambda x, dim, descending: f"jnp.argsort({x}, {dim}, stable=True, descending={descending})",
    "linalg.cholesky": lambda x: f"jnp.linalg.cholesky({x}, symmetrize_input=False)",  # one triangle, as NumPy
    "linalg.eigh": lambda x: f"jnp.linalg.eigh({x}, symmetrize_input=False)",
    "linalg.eigvalsh": lambda x: f"jnp.linalg.eigvalsh({x}, symmetrize_input=False)",
    "expn": lambda x, n: f"jax.scipy.special.expn({n}, {x})",
    "polygamma": lambda x, n: f"jax.scipy.special.polygamma({n}, {x})",
    "searchsorted": lambda rows, values, right, dtype: (
        f"jnp.searchsorted({rows}, {values}, side={'right' if right == 'True' else 'left'!r}).astype({dtype})"
    ),
    "padded": lambda x, widths, value: f"jnp.pad({x}, {widths}, constant_values={value})",
    "index_put": lambda x, value, index: f"index_put({x}, {value}, {told(index)})",
    "ascontiguousarray": lambda x: x,
    "logdet": lambda x: f"logdet({x})",
    "eigh_vectors": lambda x: f"jnp.linalg.eigh({x}, symmetrize_input=False)[1]",
}


_ASKED = """
    parts = {} if isinstance({}, tuple) else ({},)
    if not any(isinstance(part, jax.core.Tracer) for part in parts):  # which have no values to be asked
        import numpy

        whole = numpy.broadcast_to(False, {})
        whole[tuple(numpy.asarray(part) if isinstance(part, jax.Array) else part for part in parts)]"""
"""JAX drops what is put beyond the end of an axis; NumPy's indices ask for it."""

OWN = {
    **KERNELS,
    "vector_norm": """def vector_norm(x, p, dim, keepdim):
    return jnp.linalg.vector_norm(x, axis=dim, keepdims=keepdim, ord=p)""",
    "logdet": """def logdet(x):
    sign, value = jnp.linalg.slogdet(x)
    return jnp.where(sign < 0, jnp.nan, value)""",
    "solve_triangular": """def solve_triangular(a, b, upper, unit):
    batch = jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = jnp.broadcast_to(a, batch + a.shape[-2:]), jnp.broadcast_to(b, batch + b.shape[-2:])
    return jax.lax.linalg.triangular_solve(a, b, left_side=True, lower=not upper, unit_diagonal=unit)""",
    "embed": """def embed(x, dim, start, size):
    widths = [(0, 0)] * x.ndim
    widths[dim] = (start, size - start - x.shape[dim])
    return jnp.pad(x, widths)""",
    "put": f"""def put(g, index, shape):{_ASKED.format("index", "index", "index", "shape")}
    return jnp.zeros(shape, g.dtype).at[index].add(g)""",
    "index_put": f"""def index_put(x, value, index):{_ASKED.format("index", "index", "index", "x.shape")}
    return x.at[index].set(value)""",
    "div_trunc": """def div_trunc(x, y):
    whole = jnp.issubdtype(jnp.result_type(x, y), jnp.integer)
    return jax.lax.div(*jnp.broadcast_arrays(x, y)) if whole else jnp.trunc(x / y)""",
    "scatter": f"""def scatter(g, index, dim, shape):
    grids = list(jnp.ogrid[tuple(slice(n) for n in index.shape)])
    grids[dim] = index
    grids = tuple(grids){_ASKED.format("grids", "grids", "grids", "shape")}
    return jnp.zeros(shape, g.dtype).at[grids].add(g)""",
    "windows": """def windows(x, dim, size, step, dilation):
    count = (x.shape[dim] - (size - 1) * dilation - 1) // step + 1
    places = step * jnp.arange(count)[:, None] + dilation * jnp.arange(size)
    return jnp.moveaxis(jnp.take(x, places, dim), dim + 1, -1)""",
    "windows_sum": """def windows_sum(g, dim, step, dilation, size):
    g = jnp.moveaxis(g, dim, -2)
    places = step * jnp.arange(g.shape[-2])[:, None] + dilation * jnp.arange(g.shape[-1])
    return jnp.moveaxis(jnp.zeros((*g.shape[:-2], size), g.dtype).at[..., places].add(g), -1, dim)""",
    "step": """def step(x, y):
    return (x > y).astype(x.dtype) + (x == y).astype(x.dtype) / 2""",
}

METHODS = {
    "astype": lambda x, dtype: f"({x}).astype({dtype})",
    "copy": lambda x: x,
    "reshape": lambda x, *sizes: f"({x}).reshape({', '.join(sizes)})",
    "ravel": lambda x: f"({x}).ravel()",
    "transpose": lambda x, *axes: f"({x}).transpose({', '.join(axes)})",
    "swapaxes": lambda x, one, other: f"({x}).swapaxes({one}, {other})",
}


def _others(name: str) -> str | None:
    """NumPy's name in ``jax.numpy``, where it has that."""
    import jax.numpy

    found = jax.numpy
    for part in name.split("."):
        found = getattr(found, part, None)
    return None if found is None else f"jnp.{name}"


LOST = '({}).at[{}].get(mode="fill")'
JAX = Framework("jax", "jnp", "import jax\nimport jax.numpy as jnp\n", CALLS, METHODS, OWN, _others, _typed, lost=LOST)
