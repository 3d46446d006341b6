"""JAX's primitives as operations of the op table: ``PRIMITIVES[name](params, out)`` gives the function that runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.errors import UnsupportedFunction
from symgrad.foreign.places import gather, scatter
from symgrad.op import shape_of
from symgrad.ops.reductions.sums import cast
from symgrad.tape.record import Recorded

Rule = Callable[[dict[str, Any], Any], Callable[..., Any]]


def plain(run: Callable[..., Any]) -> Rule:
    """A primitive without parameters that matter."""
    return lambda params, out: run


def _logical(whole: Any, bits: Any) -> Rule:
    return lambda params, out: whole if np.dtype(out.dtype).kind == "b" else bits


def _reduced(run: Any) -> Rule:
    return lambda params, out: lambda x: run(x, tuple(params["axes"])) if params["axes"] else x


def _product(params: dict[str, Any], _: Any) -> Any:
    def run(x: Any) -> Any:
        for axis in sorted(params["axes"], reverse=True):
            x = sg.prod(x, axis)
        return x

    return run


def _best(run: Any) -> Rule:
    def rule(params: dict[str, Any], out: Any) -> Any:
        (axis,) = params["axes"]
        return lambda x: _cast(run(x, axis), out.dtype)

    return rule


def _cumulative(run: Any) -> Rule:
    def rule(params: dict[str, Any], _: Any) -> Any:
        axis = params["axis"]
        if params["reverse"]:
            return lambda x: sg.flip(run(sg.flip(x, (axis,)), axis), (axis,))
        return lambda x: run(x, axis)

    return rule


def _cast(x: Any, dtype: Any) -> Any:
    dtype = np.dtype(dtype)
    return cast(x, dtype) if isinstance(x, Recorded) else np.asarray(x).astype(dtype)[()]


def _broadcast(params: dict[str, Any], out: Any) -> Any:
    shape, places = tuple(params["shape"]), tuple(params["broadcast_dimensions"])

    def run(x: Any) -> Any:
        if not isinstance(x, Recorded):
            x = np.asarray(x, dtype=None if isinstance(x, np.ndarray) else out.dtype)
        sizes = dict(zip(places, shape_of(x), strict=True))
        x = sg.reshape(x, tuple(sizes.get(k, 1) for k in range(len(shape))))
        return x if tuple(shape_of(x)) == shape else sg.broadcast_to(x, shape)

    return run


def _dot(params: dict[str, Any], _: Any) -> Any:
    (left, right), (left_batch, right_batch) = params["dimension_numbers"]

    def run(x: Any, y: Any) -> Any:
        letters = iter("abcdefghijklmnopqrstuvwxyz")
        one, two = [""] * len(shape_of(x)), [""] * len(shape_of(y))
        for i, j in [*zip(left_batch, right_batch, strict=True), *zip(left, right, strict=True)]:
            one[i] = two[j] = next(letters)
        out = [one[i] for i in left_batch]
        for labels in (one, two):
            for k, label in enumerate(labels):
                if not label:
                    labels[k] = next(letters)
                    out.append(labels[k])
        return sg.einsum(f"{''.join(one)},{''.join(two)}->{''.join(out)}", x, y)

    return run


def _slice(params: dict[str, Any], _: Any) -> Any:
    steps = params["strides"] or (1,) * len(params["start_indices"])
    index = tuple(map(slice, params["start_indices"], params["limit_indices"], steps))
    return lambda x: x[index]


def _dynamic_slice(params: dict[str, Any], _: Any) -> Any:
    sizes = params["slice_sizes"]

    def run(x: Any, *starts: Any) -> Any:
        for axis, (start, size) in enumerate(zip(starts, sizes, strict=True)):
            most = shape_of(x)[axis] - size
            if size == shape_of(x)[axis]:
                continue
            x = (
                sg.index_select(x, axis, sg.clamp(start, 0, most) + np.arange(size))
                if isinstance(start, Recorded)
                else (x[(slice(None),) * axis + (slice(k := min(max(int(start), 0), most), k + size),)])
            )
        return x

    return run


def _pad(params: dict[str, Any], _: Any) -> Any:
    widths = params["padding_config"]
    if any(inner for _, _, inner in widths):
        raise UnsupportedFunction("pad with entries between the entries (interior padding) is not known here.")
    flat = [int(w) for low, high, _ in reversed(widths) for w in (low, high)]
    return lambda x, value: sg.nn.functional.pad(x, flat, value=value)


def _select(which: Any, *cases: Any) -> Any:
    if len(cases) == 1:
        return cases[0]
    if len(cases) == 2:
        return sg.where(
            which if np.dtype(getattr(which, "dtype", bool)).kind == "b" else which != 0, cases[1], cases[0]
        )
    out = cases[-1]
    for k in range(len(cases) - 2, -1, -1):
        out = sg.where(which == k, cases[k], out)
    return out


def _sort(params: dict[str, Any], _: Any) -> Any:
    axis = params["dimension"]
    if params["num_keys"] != 1:
        raise UnsupportedFunction("sort by several keys is not known here.")

    def run(key: Any, *others: Any) -> Any:
        values, order = sg.sort(key, axis, stable=True) if isinstance(key, Recorded) else (
            np.sort(key, axis, kind="stable"), np.argsort(key, axis, kind="stable")
        )  # fmt: skip
        return (values, *[sg.take_along_dim(x, order, axis) for x in others]) if others else values

    return run


def _triangular(params: dict[str, Any], _: Any) -> Any:
    turned = params["transpose_a"]
    upper = params["lower"] == turned  # the transpose of a lower triangle is an upper one

    def run(a: Any, b: Any) -> Any:
        a = sg.conj(a) if params["conjugate_a"] else a
        return sg.linalg.solve_triangular(
            sg.transpose(a, -1, -2) if turned else a, b, upper=upper, left=params["left_side"],
            unitriangular=params["unit_diagonal"],
        )  # fmt: skip

    return run


def _svd(params: dict[str, Any], _: Any) -> Any:
    if not params["compute_uv"]:
        return sg.linalg.svdvals

    def run(x: Any) -> Any:
        u, s, vh = sg.linalg.svd(x, full_matrices=params["full_matrices"])
        return s, u, vh

    return run


def _eigh(params: dict[str, Any], _: Any) -> Any:
    uplo = "L" if params.get("lower", True) else "U"

    def run(x: Any) -> Any:
        values, vectors = sg.linalg.eigh(x, UPLO=uplo)
        return vectors, values

    return run


def _iota(params: dict[str, Any], _: Any) -> Any:
    shape, axis = params["shape"], params["dimension"]
    line = np.arange(shape[axis], dtype=params["dtype"]).reshape([-1 if k == axis else 1 for k in range(len(shape))])
    return lambda: np.broadcast_to(line, shape)


def _round(params: dict[str, Any], _: Any) -> Any:
    if int(params["rounding_method"]) != 1:
        raise UnsupportedFunction("round half away from zero is not known here; jnp.round rounds half to even.")
    return sg.round


def _integer_pow(params: dict[str, Any], _: Any) -> Any:
    return lambda x: sg.pow(x, params["y"])


def _top(params: dict[str, Any], _: Any) -> Any:
    return lambda x: tuple(sg.topk(x, params["k"], params.get("axis", -1)))


def _reshape(params: dict[str, Any], _: Any) -> Any:
    return lambda x: sg.reshape(x, tuple(params["new_sizes"]))


def _squeeze(params: dict[str, Any], _: Any) -> Any:
    return lambda x: sg.squeeze(x, tuple(params["dimensions"]))


PRIMITIVES: dict[str, Rule] = {
    **{name: plain(getattr(sg, name)) for name in (
        "add", "sub", "mul", "div", "neg", "exp", "exp2", "expm1", "log", "log1p", "sin", "cos", "tan", "asin", "acos",
        "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "atan2", "sqrt", "rsqrt", "square", "pow", "abs",
        "sign", "floor", "ceil", "lgamma", "digamma", "erf", "erfc", "eq", "ne", "lt", "le", "gt", "ge", "real", "imag",
        "conj", "complex", "nextafter", "igamma", "igammac",
    )},
    "add_any": plain(sg.add), "logistic": plain(sg.sigmoid),
    "erf_inv": plain(sg.erfinv), "is_finite": plain(sg.isfinite),
    "max": plain(sg.maximum), "min": plain(sg.minimum), "rem": plain(sg.fmod),
    "clamp": plain(lambda low, x, high: sg.clamp(x, low, high)),
    "and": _logical(sg.logical_and, sg.bitwise_and), "or": _logical(sg.logical_or, sg.bitwise_or),
    "xor": _logical(sg.logical_xor, sg.bitwise_xor), "not": _logical(sg.logical_not, sg.bitwise_not),
    "copy": plain(lambda x: x), "copy_p": plain(lambda x: x), "stop_gradient": plain(
        lambda x: sg.detach(x) if isinstance(x, Recorded) else x
    ),
    "convert_element_type": lambda params, out: lambda x: _cast(x, params["new_dtype"]),
    "reduce_sum": _reduced(sg.sum), "reduce_max": _reduced(sg.amax), "reduce_min": _reduced(sg.amin),
    "reduce_and": _reduced(sg.all), "reduce_or": _reduced(sg.any), "reduce_prod": _product,
    "argmax": _best(sg.argmax), "argmin": _best(sg.argmin),
    "cumsum": _cumulative(sg.cumsum), "cumprod": _cumulative(sg.cumprod),
    "cumlogsumexp": _cumulative(sg.logcumsumexp),
    "cummax": _cumulative(lambda x, axis: sg.cummax(x, axis)[0]),
    "cummin": _cumulative(lambda x, axis: sg.cummin(x, axis)[0]),
    "gather": gather, "scatter": scatter(False), "scatter-add": scatter(True), "scatter_add": scatter(True),
    "broadcast_in_dim": _broadcast, "dot_general": _dot, "slice": _slice, "dynamic_slice": _dynamic_slice, "pad": _pad,
    "select_n": plain(_select), "sort": _sort, "triangular_solve": _triangular, "svd": _svd, "eigh": _eigh,
    "iota": _iota, "round": _round, "integer_pow": _integer_pow, "top_k": _top, "reshape": _reshape,
    "squeeze": _squeeze,
    "qr": lambda params, out: lambda x: tuple(sg.linalg.qr(x, "complete" if params["full_matrices"] else "reduced")),
    "cholesky": plain(sg.linalg.cholesky),
    "transpose": lambda params, out: lambda x: sg.permute(x, tuple(params["permutation"])),
    "rev": lambda params, out: lambda x: sg.flip(x, tuple(params["dimensions"])),
    "concatenate": lambda params, out: lambda *xs: sg.cat(xs, params["dimension"]),
    "stack": lambda params, out: lambda *xs: sg.stack(xs, params["axis"]),
    "split": lambda params, out: lambda x: tuple(sg.split(x, list(params["sizes"]), params["axis"])),
}  # fmt: skip
"""How JAX's primitives run here; one that is not in the table is refused by its name."""
