"""The functions and attributes of NumPy's notation, by the names that they have in NumPy, SciPy, torch and SymPy."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from symgrad.errors import FormulaError
from symgrad.formula.canonical.normal import size_text
from symgrad.formula.derive import gradient
from symgrad.formula.reading.misfits import ProductMisfit
from symgrad.formula.reading.values import diag, op, pseudo_inverse, vec
from symgrad.formula.term import (
    Term,
    apply,
    as_term,
    constant_value,
    full,
    number,
    size_letter,
    size_product,
    substitute,
    symbol,
)
from symgrad.op import FRONTS, TABLE, lookup
from symgrad.ops.calls.naming import SPACES
from symgrad.ops.indexing.getitem import static_index
from symgrad.ops.rules.constants import PI
from symgrad.ops.shapes.shaping import resolve_shape
from symgrad.ops.shapes.sizes import product_size


def static(value: Any) -> Any:
    """The number of a constant term, for parameters such as an axis."""
    if isinstance(value, tuple):
        return tuple(static(v) for v in value)
    found = value.number if isinstance(value, Term) else None
    return found if isinstance(found, int) and not isinstance(found, bool) else value


def _trace(a: Term) -> Any:
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise ProductMisfit(f"the trace of an array of shape {a.shape}")
    return op("trace", a)


def commutation(m: Any, n: Any) -> Any:
    """The matrix K with K vec X = vec Xᵀ for X of m rows and n columns (Magnus and Neudecker, 1979)."""
    made = FRONTS["einsum"].call("ac,bd->abdc", *(op("eye", n=size, dtype="float64") for size in (m, n)))
    return op("reshape", made, shape=(product_size(m, n), product_size(n, m)))


def _square(name: str) -> Callable[..., Any]:
    def call(a: Term) -> Any:
        if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
            raise ProductMisfit(f"{name}() of an array of shape {a.shape}, which is no square matrix")
        return apply(lookup(name), (a,), {})

    return call


def _softmax(name: str) -> Callable[..., Any]:
    def call(a: Term, axis: Any = None, dim: Any = None) -> Any:
        given = axis if axis is not None else dim
        return FRONTS[name].call(a, a.ndim - 1 if given is None else static(given))

    return call


def _logsumexp(a: Term, axis: Any = None, dim: Any = None, keepdims: bool = False) -> Any:
    given = static(axis if axis is not None else dim)
    return FRONTS["logsumexp"].call(a, tuple(range(a.ndim)) if given is None else given, keepdims)


def _norm(a: Term, ord: Any = None, **params: Any) -> Any:
    """NumPy's: without axes, the orders of a matrix but "fro" are those of operators; and torch's, which says ``p``."""
    if "p" in params:
        return FRONTS["norm"].call(a, **{name: static(value) for name, value in params.items()})
    p = 2 if ord in (None, "fro", "f") else static(ord)
    p = math.inf if isinstance(p, Term) and constant_value(p) == math.inf else p
    if a.ndim == 2 and isinstance(p, (int, float)) and ord not in (None, "fro", "f") and not params:
        if abs(p) == 2 and any(isinstance(size, str) for size in a.shape):
            raise FormulaError(
                f"norm(…, {p}) of a matrix is one of its singular values, as in NumPy, which needs sizes that are "
                "numbers, as in shapes='X=4,3'; that of the entries is norm(X) or norm(X, 'fro')"
            )
        return SPACES["linalg"]["matrix_norm"](a, p)
    return FRONTS["norm"].call(a, p, **params)


def _transpose(a: Term, *axes: Any) -> Any:
    flat = axes[0] if len(axes) == 1 and isinstance(axes[0], tuple) else axes
    return op("permute", a, dims=tuple(static(x) for x in flat)) if len(flat) == a.ndim else a.T


def _reshape(a: Term, *sizes: Any) -> Any:
    flat = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], tuple) else sizes
    plain = resolve_shape(a.shape, tuple(size_text(s) if isinstance(s, Term) else s for s in map(static, flat)))
    if a.ndim == 1 and plain in ((a.shape[0], 1), (1, a.shape[0]), a.shape):
        return a if len(plain) == 1 else op("unsqueeze", a, dim=plain.index(1))
    return op("reshape", a, shape=plain)


def _along_axis(name: str) -> Callable[..., Any]:
    def call(a: Term, axis: Any = None, dim: Any = None) -> Any:
        given = static(axis if axis is not None else dim)
        if given is None and a.ndim != 1:
            raise ProductMisfit(f"{name}() of an array with {a.ndim} axes needs axis=")
        return FRONTS[name].call(a, 0 if given is None else given)

    return call


def _flip(a: Term, axis: Any = None) -> Any:
    given = static(axis)
    dims = tuple(range(a.ndim)) if given is None else given
    return FRONTS["flip"].call(a, dims if isinstance(dims, tuple) else (dims,))


def _tensordot(a: Term, b: Term, axes: Any = 2) -> Any:
    given = static(axes)
    pairs = tuple(x if isinstance(x, tuple) else (x,) for x in given) if isinstance(given, tuple) else given
    return FRONTS["tensordot"].call(a, b, pairs)


def _einsum(text: Any, *operands: Term, **_: Any) -> Any:
    return FRONTS["einsum"].call(text.replace(" ", ""), *operands)


def _by_transpose(a: Term, b: Term) -> Any:
    """``a @ b.T``, where vectors are columns."""
    return FRONTS["outer"].call(a, b) if a.ndim == b.ndim == 1 else _dot(a, b.T)


def _folded(name: str) -> Callable[..., Any]:
    return lambda *args: functools.reduce(lookup(name), args)


ATTRIBUTES: dict[str, Callable[[Term], Any]] = {
    "T": lambda a: a.T,
    "mT": lambda a: FRONTS["swapaxes"].call(a, -1, -2),
    "H": lambda a: op("conj", a.T),
    "I": lambda a: _square("inv")(a),
    "size": lambda a: size_product(a.shape),
    "real": lambda a: op("real", a),
    "imag": lambda a: op("imag", a),
    "mH": lambda a: op("conj", FRONTS["swapaxes"].call(a, -1, -2)),
    "shape": lambda a: tuple(size_letter(s) for s in a.shape),
    "ndim": lambda a: number(a.ndim),
}


def _dot(a: Term, b: Term) -> Any:
    return lookup("matmul")(a, b) if a.ndim and b.ndim else lookup("mul")(a, b)


def _full(value: int) -> Callable[..., Any]:
    def call(*sizes: Any, **_: Any) -> Any:
        flat = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], tuple) else sizes
        return full(tuple(size_text(s) for s in flat), value, "float64")

    return call


def _sizes(shape: Any) -> tuple[Any, ...]:
    """The sizes of a shape, from terms."""
    return tuple(size_text(s) if isinstance(s, Term) else s for s in (shape if isinstance(shape, tuple) else (shape,)))


def _spread(a: Term, *shape: Any) -> Any:
    """``np.broadcast_to`` and torch's ``expand``."""
    sizes = _sizes(shape[0] if len(shape) == 1 else shape)
    kept = (*(-1,) * (len(sizes) - a.ndim), *a.shape)
    return op("expand", a, shape=tuple(k if s == -1 else s for s, k in zip(sizes, kept, strict=True)))


def _tile(a: Term, *counts: Any) -> Any:
    """``np.tile``, where what is repeated has one entry along an axis whose number of copies is a size."""
    sizes = _sizes(counts[0] if len(counts) == 1 else counts)
    a = op("reshape", a, shape=(*(1,) * (len(sizes) - a.ndim), *a.shape)) if len(sizes) > a.ndim else a
    sizes = (*(1,) * (a.ndim - len(sizes)), *sizes)
    along = [axis for axis, (s, count) in enumerate(zip(a.shape, sizes, strict=True)) if s == 1 and count != 1]
    a = op("expand", a, shape=tuple(sizes[k] if k in along else s for k, s in enumerate(a.shape)))
    rest = [1 if k in along else count for k, count in enumerate(sizes)]
    if not all(isinstance(count, int) for count in rest):
        raise ProductMisfit(f"the number of copies along an axis with several entries is a size, {rest}")
    return a if all(count == 1 for count in rest) else FRONTS["tile"].call(a, tuple(rest))


def _repeat(a: Term, *counts: Any, axis: Any = None) -> Any:
    """NumPy's along an axis, and torch's, which is NumPy's ``tile``."""
    at = static(counts[-1])
    if axis is None and len(counts) == 2 and isinstance(at, int) and at < a.ndim:
        counts, axis = counts[:1], at
    if axis is None and len(counts) == 1 and not isinstance(counts[0], tuple):
        raise ProductMisfit("repeat() without an axis repeats entries in NumPy, and the whole in torch; write axis=")
    if axis is None:
        return _tile(a, *counts)
    axis = static(axis) % a.ndim
    if a.shape[axis] == 1:
        return _tile(a, tuple(counts[0] if k == axis else 1 for k in range(a.ndim)))
    return FRONTS["repeat_interleave"].call(a, static(counts[0]), axis)


def _filled(shape: Any, value: Any) -> Any:
    """``np.full``."""
    return op("mul", full(_sizes(shape), 1, "float64"), value)


def _eye(n: Any) -> Any:
    return op("eye", n=size_text(n), dtype="float64")


def joined(entries: Any, name: str = "stack", axis: Any = 0) -> Any:
    """The array of a list of arrays, stacked or put one after the other."""
    if not isinstance(entries, tuple):
        return entries
    parts = [joined(x) for x in entries]
    if name == "cat":
        parts = [x if x.ndim else op("unsqueeze", x, dim=0) for x in parts]
    return FRONTS[name].call(parts, static(axis))


def _polygamma(n: Any, a: Term) -> Any:
    order = static(n)
    if not isinstance(order, int) or not 0 <= order <= 64:
        raise ValueError("the order is a whole number up to 64")
    return op("polygamma", a, n=order)


def _differences(a: Term, n: Any = 1, axis: Any = -1) -> Any:
    """``np.diff`` along the last axis."""
    if static(n) != 1 or static(axis) not in (-1, a.ndim - 1):
        raise ProductMisfit("diff() is read here for the last axis, once")
    later, earlier = (op("getitem", a, index=static_index((..., part))) for part in (slice(1, None), slice(-1)))
    return op("sub", later, earlier)


def _several(name: str) -> Callable[..., Any]:
    """``stack`` and ``cat``: of a list, as in NumPy, and of arrays one by one, as they are printed."""

    def call(first: Any, *more: Any, axis: Any = None, dim: Any = None) -> Any:
        given = axis if axis is not None else dim
        if not isinstance(first, tuple):
            return joined((first, *more), name, 0 if given is None else given)
        if len(more) > (given is None):
            raise TypeError("it takes a list of arrays and an axis")
        return joined(first, name, more[0] if more else 0 if given is None else given)

    return call


def _appended(axis: int) -> Callable[..., Any]:
    """``hstack`` and ``vstack``: vectors are rows of the one and parts of the other."""

    def call(entries: Any) -> Any:
        flat = joined(entries[0]).ndim < 2
        return joined(entries, "stack" if flat and not axis else "cat", 0 if flat else axis)

    return call


def _along(name: str, axis: int) -> Callable[..., Any]:
    """R's sums and means of rows or columns."""
    return lambda a: FRONTS[name].call(a, axis)


def density(x: Term) -> Any:
    """The density of the normal distribution."""
    return op("div", op("exp", op("div", op("neg", op("mul", x, x)), 2)), op("sqrt", op("mul", 2, as_term(PI))))


def factorial(k: Term) -> Term:
    """``k!``, by the gamma function."""
    return op("exp", op("lgamma", op("add", k, 1)))  # type: ignore[no-any-return]


def slope(f: Callable[[Term], Any]) -> Callable[[Term], Any]:
    """The derivative of an entrywise function, as ``tanh'`` of tanh."""

    def call(x: Term) -> Any:
        at = symbol("·", x.shape, x.dtype)
        made = f(at)
        total = op("sum", made, dim=tuple(range(made.ndim)), keepdim=False) if made.ndim else made
        return substitute([gradient(total, [at])[0]], {at: x})[0]

    return call


def entrywise_function(name: str) -> Callable[..., Any] | None:
    """The function of a name that is taken entry by entry; None for others."""
    if name in ENTRYWISE:
        return ENTRYWISE[name]
    plain = name in TABLE and TABLE[name].kind == "elementwise" and name not in FUNCTIONS
    return lookup(name) if plain else None


def function(name: str) -> Callable[..., Any] | None:
    """The function of a name; None for ops of the table and names that are not known."""
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    if name in ENTRYWISE:
        return ENTRYWISE[name]
    if name in FRONTS:
        return lambda *args, **params: FRONTS[name].call(*args[:1], *map(static, args[1:]), **params)
    return next((space[name] for space in (SPACES["special"], SPACES["linalg"]) if name in space), None)


def _reciprocal(name: str) -> Callable[..., Any]:
    return lambda a: op("div", 1, op(name, a))


def _elementwise(name: str) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        if len(args) != 1:
            raise TypeError("it takes one array")
        return apply(lookup(name), args, {})

    return call


ENTRYWISE: dict[str, Callable[..., Any]] = {
    "sec": _reciprocal("cos"),
    "csc": _reciprocal("sin"),
    "cot": _reciprocal("tan"),
    "sech": _reciprocal("cosh"),
    "csch": _reciprocal("sinh"),
    "coth": _reciprocal("tanh"),
    "gamma": lambda a: op("exp", op("lgamma", a)),
    "factorial": factorial,
    "normpdf": density,
    "beta": lambda a, b: op("exp", op("lgamma", a) + op("lgamma", b) - op("lgamma", a + b)),
    **{name: _elementwise(name) for name in ("log", "exp", "sqrt", "sign", "softplus", "relu", "sigmoid", "square")},
}
"""Functions that are taken entry by entry, by the names that people use."""

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "trace": _trace,
    "tr": _trace,
    "vec": vec,
    "diag": diag,
    "softmax": _softmax("softmax"),
    "log_softmax": _softmax("log_softmax"),
    "logsumexp": _logsumexp,
    "norm": _norm,
    "dot": _dot,
    "transpose": _transpose,
    "permute": _transpose,
    "Transpose": lambda a: a.T,
    "reshape": _reshape,
    "flatten": lambda a: _reshape(a, -1),
    "expand_dims": lambda a, axis: op("unsqueeze", a, dim=static(axis) % (a.ndim + 1)),
    "cumsum": _along_axis("cumsum"),
    "cumprod": _along_axis("cumprod"),
    "flip": _flip,
    "sort": lambda a, axis=-1: FRONTS["sort"].call(a, static(axis))[0],  # NumPy's, which gives the values alone
    "einsum": _einsum,
    "tensordot": _tensordot,
    "pinv": lambda a, *_: pseudo_inverse(a),
    "array": joined,
    "asarray": joined,
    "stack": _several("stack"),
    **dict.fromkeys(("concatenate", "cat", "concat"), _several("cat")),
    "hstack": _appended(1),
    "vstack": _appended(0),
    "diff": _differences,
    **{short: SPACES["special"][f"bessel_{short}"] for short in ("j0", "j1", "y0", "y1")},
    **{short: SPACES["special"][f"modified_bessel_{short}"] for short in ("k0", "k1")},
    "polygamma": _polygamma,
    "solve": lambda a, b=None: _square("inv")(a) if b is None else SPACES["linalg"]["solve"](a, b),
    "multi_dot": lambda arrays: functools.reduce(_dot, arrays),
    "crossprod": lambda a, b=None: _dot(a.T, a if b is None else b),
    "tcrossprod": lambda a, b=None: _by_transpose(a, a if b is None else b),
    "len": lambda a: size_letter(a.shape[0]),
    "ncol": lambda a: size_letter(a.shape[1]),
    "power": lambda a, b: lookup("pow")(a, b),
    "Pow": lambda a, b: lookup("pow")(a, b),
    "Add": _folded("add"),
    "Mul": _folded("mul"),
    "MatMul": _folded("matmul"),
    "HadamardProduct": _folded("mul"),
    "Matrix": joined,
    "Integer": lambda a: a,
    "S": lambda a: a,
    "Rational": lambda p, q=1: number(Fraction(p.number) / Fraction(q.number if isinstance(q, Term) else q)),
    "Heaviside": lambda x, at=None: lookup("heaviside")(x, number(0) if at is None else at),
    "Inverse": lambda a: _square("inv")(a),
    "Trace": lambda a: _trace(a),
    "Determinant": lambda a: _square("det")(a),
    "ones": _full(1),
    "full": _filled,
    **dict.fromkeys(("broadcast_to", "expand"), _spread),
    "tile": _tile,
    "repmat": lambda a, m, n: _tile(op("unsqueeze", a, dim=1) if a.ndim == 1 else a, (m, n)),  # MATLAB's
    "repeat": _repeat,
    "zeros": _full(0),
    "ones_like": lambda a: full(a.shape, 1, a.dtype),
    "zeros_like": lambda a: full(a.shape, 0, a.dtype),
    "eye": _eye,
    **{name: _square(name) for name in ("inv", "det", "logdet", "logabsdet")},
    "max": lambda a, *rest, **params: FRONTS["maximum"].call(a, *rest) if rest else FRONTS["amax"].call(a, **params),
    "min": lambda a, *rest, **params: FRONTS["minimum"].call(a, *rest) if rest else FRONTS["amin"].call(a, **params),
    "size": lambda a, axis=None: size_product(a.shape) if axis is None else size_letter(a.shape[static(axis)]),
    "diagflat": diag,
    **{f"row{name}s": _along(name.lower(), 1) for name in ("Sum", "Mean")},
    **{f"col{name}s": _along(name.lower(), 0) for name in ("Sum", "Mean")},
    "cof": lambda a: op("mul", _square("det")(a), _square("inv")(a).T),
    "adj": lambda a: op("mul", _square("det")(a), _square("inv")(a)),
    "sym": lambda a: op("div", op("add", a, a.T), 2),
}
