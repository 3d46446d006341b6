"""The calls of torch: its names, ``dim=`` and ``keepdim=``, and the device on which new arrays are made."""

from __future__ import annotations

import ast

from symgrad.compiler.targets.frameworks.kernels import KERNELS, SPECIAL, parts_of_matrices
from symgrad.compiler.targets.frameworks.rewriting import DEVICE, Framework, Missing, Text, told

_SAME = [
    "abs", "arccosh", "arcsin", "arcsinh", "arccos", "arctan", "arctanh", "bitwise_and", "bitwise_or",
    "bitwise_xor", "ceil", "cos", "cosh", "deg2rad", "exp", "exp2", "expm1", "floor", "floor_divide", "fmod",
    "isfinite", "isin", "isinf", "isnan", "isneginf", "isposinf", "isreal", "log", "log10", "log1p", "log2",
    "logical_not", "rad2deg", "real", "imag", "remainder", "signbit", "sin", "sinh", "sqrt", "square", "tan",
    "tanh", "trunc", "tril", "triu", "sign", "zeros_like", "ones_like", "moveaxis", "diagonal", "diag", "trace",
]  # fmt: skip
_PAIRED = [
    "arctan2", "fmax", "fmin", "hypot", "logaddexp", "logaddexp2", "nextafter", "heaviside", "gcd", "lcm",
    "logical_and", "logical_or", "logical_xor", "copysign",
]  # fmt: skip
_RENAMED = {
    **{name: f"linalg.{name}" for name in ("matrix_exp", "eig", "eigvals")},
    **{f"linalg.{name}": f"linalg.{name}" for name in (
        "cholesky", "det", "eigh", "eigvalsh", "inv", "matrix_power", "qr", "slogdet", "solve",
    )},
    **{name: f"special.{name}" for name in (*SPECIAL, "erfcx")},
    "absolute": "abs", "conj": "conj", "conjugate": "conj", "equal": "eq", "invert": "bitwise_not", "less": "lt",
    "power": "pow", "rint": "round", "nearest": "round", "swapaxes": "transpose", "broadcast_to": "broadcast_to",
    "lgamma": "special.gammaln", "hurwitz": "special.zeta", "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift", "logdet": "logdet", "log2": "log2", "sinc": "sinc", "sign": "sign",
    "complex_sign": "sgn", "angle": "angle", "complex_of": "complex", "complex_values": "view_as_complex",
    "parts_of_complex": "view_as_real", "logsigmoid": "nn.functional.logsigmoid", "logcumsumexp": "logcumsumexp",
}  # fmt: skip
"""Functions of NumPy and kernels of the library, by what torch calls them."""


def _over(name: str) -> object:
    """A reduction: over all axes, over some, or over none."""

    def reduced(x: str, axis: str | None = None, keepdims: str = "False") -> str:
        if axis == "()":
            return x
        return f"torch.{name}({x}{_dims(axis, keepdims)})"

    return reduced


def _dims(axis: str | None, keepdims: str) -> str:
    axes = "" if axis is None else f", dim={axis}"
    return axes if keepdims == "False" else f"{axes}, keepdim={keepdims}"


def _kernel_over(call: str) -> object:
    """A kernel of the library that reduces, which says ``dim`` and ``keepdim``."""

    def reduced(x: str, dim: str, keepdim: str) -> str:
        return f"{call}({x}{_dims(dim, keepdim)})"

    return reduced


def _along(name: str) -> object:
    return lambda x, axis: f"torch.{name}({x}, dim={axis})"


def _bounded(name: str, end: str) -> object:
    """``maximum`` and ``minimum``, which take no plain numbers."""

    def bounded(x: Text, y: Text) -> str:
        if x.plain and y.plain:
            raise Missing(f"np.{name}")
        if x.plain or y.plain:
            return f"torch.clamp({y if x.plain else x}, {end}={x if x.plain else y})"
        return f"torch.{name}({x}, {y})"

    return bounded


def _paired(name: str) -> object:
    """A function of two arrays, which takes no plain numbers in torch."""

    def paired(x: Text, y: Text) -> str:
        if x.plain and y.plain:
            raise Missing(f"np.{name}")
        first = f"torch.full_like({y}, {x})" if x.plain else x
        return f"torch.{name}({first}, {f'torch.full_like({x}, {y})' if y.plain else y})"

    return paired


def _where(condition: str, x: Text, y: Text) -> str:
    first = str(x)
    if x.plain and y.plain:
        first = _number(x, "int64" if x.whole and y.whole else "float64")
    if not isinstance(ast.parse(condition, mode="eval").body, ast.Compare):
        condition = f"{_closed(condition)} != 0"  # numbers are no conditions in torch
    return f"torch.where({condition}, {first}, {y})"


def _number(x: str, kind: str) -> str:
    return f"torch.tensor({x}, dtype=torch.{kind}{DEVICE})"


def _typed(x: Text, kind: str, device: str) -> str:
    return _number(x, kind).replace(DEVICE, device) if x.plain else f"{_closed(x)}.to(torch.{kind})"


def _closed(text: str) -> str:
    node = ast.parse(text, mode="eval").body
    return text if isinstance(node, (ast.Name, ast.Call, ast.Attribute, ast.Subscript)) else f"({text})"


def _dtype(text: str | None) -> str:
    """A dtype as it stands in a call: ``'float64'`` is ``torch.float64``."""
    if text is None:
        return ""
    return f", dtype=torch.{text[1:-1]}" if text[0] in "'\"" else f", dtype={text}"


def _padded(x: str, widths: str, value: str) -> str:
    rows = ast.literal_eval(widths) if widths.isascii() and not any(c.isalpha() for c in widths) else None
    if rows is None:
        node = ast.parse(widths, mode="eval").body
        if not isinstance(node, ast.Tuple) or not all(isinstance(e, ast.Tuple) for e in node.elts):
            raise Missing("padded")
        rows = [[ast.unparse(e) for e in row.elts] for row in node.elts]  # type: ignore[attr-defined]
    flat = ", ".join(str(end) for row in reversed(rows) for end in row)
    return f"torch.nn.functional.pad({x}, ({flat}), value={value})"


def _norm(x: str, p: str, dim: str, keepdim: str) -> str:
    return f"torch.linalg.vector_norm({x}, ord={p}{_dims(dim, keepdim)})"


def _std(x: str, dim: str, correction: str, keepdim: str) -> str:
    return f"torch.std({x}, dim={dim}, correction={correction}, keepdim={keepdim})"


def _var(x: str, dim: str, correction: str, keepdim: str) -> str:
    return f"torch.var({x}, dim={dim}, correction={correction}, keepdim={keepdim})"


def _take_along(x: str, places: str, axis: str) -> str:
    return f"take_along({x}, {places}, {axis})"


def _svd(x: str, compute_uv: str = "True", full_matrices: str = "True") -> str:
    return f"torch.linalg.svdvals({x})" if compute_uv == "False" else f"torch.linalg.svd({x}, {full_matrices})"


def _fourier(name: str) -> object:
    return lambda x, axes, norm: f"torch.fft.{name}({x}, dim={axes}, norm={norm})"


def _sizes(shape: str) -> str:
    """A shape as a tuple, also of one axis, of which NumPy takes the number alone."""
    one = isinstance(ast.parse(shape, mode="eval").body, (ast.Name, ast.Constant, ast.BinOp))
    return f"({shape},)" if one else shape


CALLS = {
    **{name: f"torch.{name}" for name in _SAME},
    **{name: _paired(name) for name in _PAIRED},
    **parts_of_matrices("torch"),
    **{name: f"torch.{other}" for name, other in _RENAMED.items()},
    "sum": _over("sum"),
    "mean": _over("mean"),
    "max": _over("amax"),
    "min": _over("amin"),
    "prod": _over("prod"),
    "argmax": _over("argmax"),
    "argmin": _over("argmin"),
    "all_true": _kernel_over("torch.all"),
    "any_true": _kernel_over("torch.any"),
    "lerp": "torch.lerp",
    "logsumexp": _kernel_over("torch.logsumexp"),
    "softmax": lambda x, dim: f"torch.softmax({x}, dim={dim})",
    "log_softmax": lambda x, dim: f"torch.log_softmax({x}, dim={dim})",
    "log_softmax_and_softmax": lambda x, dim: f"(torch.log_softmax({x}, dim={dim}), torch.softmax({x}, dim={dim}))",
    "cumsum": _along("cumsum"),
    "cumprod": _along("cumprod"),
    "concatenate": _along("cat"),
    "stack": _along("stack"),
    "logcumsumexp": lambda x, dim: f"torch.logcumsumexp({x}, dim={dim})",
    "maximum": _bounded("maximum", "min"),
    "minimum": _bounded("minimum", "max"),
    "where": _where,
    "transpose": lambda x, axes: f"torch.permute({x}, {axes})",
    "expand_dims": lambda x, axis: f"torch.unsqueeze({x}, {axis})",
    "squeeze": lambda x, axis: f"torch.squeeze({x}, dim={axis})",
    "flip": lambda x, axes: f"torch.flip({x}, {axes})",
    "roll": lambda x, shift, axis: f"torch.roll({x}, {shift}, {axis})",
    "multiply.outer": lambda x, y: f"torch.tensordot({x}, {y}, dims=0)",
    "einsum": lambda axes, *xs, optimize="": f"torch.einsum({axes}, {', '.join(xs)})",
    "tensordot": lambda x, y, axes: f"torch.tensordot({x}, {y}, dims={axes})",
    "padded": _padded,
    "take_along_axis": _take_along,
    "full": lambda shape, value, dtype=None: f"torch.full({_sizes(shape)}, {value}{_dtype(dtype)}{DEVICE})",
    "zeros": lambda shape, dtype="'float64'": f"torch.zeros({shape}{_dtype(dtype)}{DEVICE})",
    "ones": lambda shape, dtype="'float64'": f"torch.ones({shape}{_dtype(dtype)}{DEVICE})",
    "eye": lambda n, m=None, dtype="'float64'": f"torch.eye({n}{'' if m is None else f', {m}'}{_dtype(dtype)}{DEVICE})",
    "arange": lambda *ends, dtype=None: f"torch.arange({', '.join(ends)}{_dtype(dtype)}{DEVICE})",
    "array": lambda values, dtype=None: f"torch.tensor({values}{_dtype(dtype)}{DEVICE})",
    "linalg.svd": _svd,
    "ascontiguousarray": lambda x: f"{_closed(x)}.contiguous()",
    "fft.fftn": _fourier("fftn"),
    "fft.ifftn": _fourier("ifftn"),
    "norm": _norm,
    "polygamma": lambda x, n: f"torch.special.polygamma({n}, {x})",
    "div_trunc": lambda x, y: f"torch.div({x}, {y}, rounding_mode='trunc')",
    "one_hot": lambda index, classes, dtype: f"one_hot({index}, {classes}, torch.{dtype[1:-1]})",
    "searchsorted": lambda rows, values, right, dtype: (
        f"torch.searchsorted({rows}, {values}, right={right}).to(torch.{dtype[1:-1]})"
    ),
    "index_put": lambda x, value, index: f"index_put({x}, {value}, {told(index)})",
    "cbrt": lambda x: f"cbrt({x})",
    "std": _std,
    "var": _var,
    "argsort": lambda x, dim, descending: f"torch.argsort({x}, dim={dim}, descending={descending}, stable=True)",
    "softplus": lambda x: f"torch.logaddexp({x}, torch.zeros_like({x}))",
    "eigh_vectors": lambda x: f"torch.linalg.eigh({x})[1]",
    "solve_triangular": lambda a, b, upper, unit: (
        f"torch.linalg.solve_triangular({a}, {b}, upper={upper}, unitriangular={unit})"
    ),
    "frexp": lambda x: f"torch.frexp({x})",
}

OWN = {
    **KERNELS,
    # torch's take_along_dim takes a place beyond the axis for one inside, and gather raises, but does not broadcast
    "take_along": """def take_along(x, places, axis):
    axis %= x.ndim
    row = [a.shape[:axis] + (1,) + a.shape[axis + 1 :] for a in (x, places)]
    shape = torch.broadcast_shapes(*row)
    places = torch.where(places < 0, places + x.shape[axis], places)
    wide = [a.expand(shape[:axis] + (a.shape[axis],) + shape[axis + 1 :]) for a in (x, places)]
    return torch.gather(wide[0], axis, wide[1])""",
    "embed": """def embed(x, dim, start, size):
    widths = [0, 0] * (x.ndim - dim - 1) + [start, size - start - x.shape[dim]]
    return torch.nn.functional.pad(x, widths)""",
    "put": """def put(g, index, shape):
    places = torch.arange(math.prod(shape), device=g.device).reshape(shape)[index]
    zeros = torch.zeros(math.prod(shape), dtype=g.dtype, device=g.device)
    return zeros.index_add(0, places.reshape(-1), torch.broadcast_to(g, places.shape).reshape(-1)).reshape(shape)""",
    "index_put": """def index_put(x, value, index):
    places = torch.arange(x.numel(), device=x.device).reshape(x.shape)[index]
    value = torch.broadcast_to(torch.as_tensor(value, dtype=x.dtype, device=x.device), places.shape)
    return x.reshape(-1).scatter(0, places.reshape(-1), value.reshape(-1)).reshape(x.shape)""",
    "scatter": """def scatter(g, index, dim, shape):
    index = torch.where(index < 0, index + shape[dim], index)
    zeros = torch.zeros(shape, dtype=g.dtype, device=g.device)
    return zeros.scatter_add(dim, index, torch.broadcast_to(g, index.shape))""",
    "windows": """def windows(x, dim, size, step, dilation):
    return x.unfold(dim, (size - 1) * dilation + 1, step)[..., ::dilation]""",
    "windows_sum": """def windows_sum(g, dim, step, dilation, size):
    g = torch.movedim(g, dim, -2)
    starts = step * torch.arange(g.shape[-2], device=g.device)
    places = (starts[:, None] + dilation * torch.arange(g.shape[-1], device=g.device)).reshape(-1)
    zeros = torch.zeros((*g.shape[:-2], size), dtype=g.dtype, device=g.device)
    return torch.movedim(zeros.index_add(-1, places, g.reshape(*g.shape[:-2], -1)), -1, dim)""",
    "step": """def step(x, y):
    x, y = torch.broadcast_tensors(x, torch.as_tensor(y, dtype=x.dtype, device=x.device))
    return (x > y).to(x.dtype) + (x == y).to(x.dtype) / 2""",
    "cbrt": """def cbrt(x):
    return torch.copysign(torch.abs(x) ** (1 / 3), x)""",
}

METHODS = {
    "astype": lambda x, dtype: f"{_closed(x)}.to({dtype if dtype[0] not in _QUOTES else f'torch.{dtype[1:-1]}'})",
    "copy": lambda x: f"{_closed(x)}.clone()",
    "reshape": lambda x, *sizes: f"{_closed(x)}.reshape({', '.join(sizes)})",
    "ravel": lambda x: f"{_closed(x)}.reshape(-1)",
    "transpose": lambda x, *axes: f"{_closed(x)}.permute({', '.join(axes)})",
    "swapaxes": lambda x, one, other: f"{_closed(x)}.transpose({one}, {other})",
}
_QUOTES = "'\""

TORCH = Framework("torch", "torch", "import torch\n", CALLS, METHODS, OWN, lambda name: None, _typed, "torch.flip")
