"""Reading what people hand over: arguments and gradients of NumPy, of this library, of torch, as nested lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.dtypes import finfo, is_floating, is_number, is_real_floating
from symgrad.errors import ArgumentError, DtypeError
from symgrad.interop.ndarray import Array
from symgrad.tape.formulas.names import check_name
from symgrad.tape.record import Recorded
from symgrad.tape.standins import inner

EXTENDED = "gG"
"""What NumPy calls the dtypes that are wider than double precision: gradients may have them, and arguments may not."""

_WIDE = {"f": np.dtype(np.float64), "c": np.dtype(np.complex128)}


def as_array(value: Any) -> Any:
    """A NumPy array of anything array-like: tensors of this library, torch's, JAX's, lists and numbers."""
    value = inner(value) if isinstance(value, Array) else value
    if type(value).__module__.startswith("scipy.sparse"):
        return _of_scipy(value)
    if type(value).__module__.startswith("casadi") and hasattr(value, "full"):
        return _of_casadi(value.full())
    if isinstance(value, Recorded):
        return np.asarray(value._value)
    if hasattr(value, "detach") and hasattr(value, "cpu"):
        value = value.detach().cpu()
        value = value.resolve_conj() if hasattr(value, "resolve_conj") else value
        return np.asarray(value.float().numpy() if "bfloat16" in str(value.dtype) else value.numpy())
    if np.ma.is_masked(value):
        raise ArgumentError(
            "an array with masked entries has numbers that do not count; take .filled(0) or .compressed()."
        )
    if is_endless(value):
        raise ArgumentError(
            f"a {type(value).__name__} is no array: it can be indexed, but has no end. np.r_[...] makes an array."
        )
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ArgumentError(
            f"arguments and gradients are arrays of numbers; these rows have different lengths: {error}"
        ) from error


def is_endless(value: Any) -> bool:
    """Whether a value can be indexed, but not run through: of ``np.r_`` itself NumPy makes arrays without an end."""
    kind = type(value)
    if not hasattr(kind, "__getitem__") or any(hasattr(kind, name) for name in _ENDING):
        return False
    return not hasattr(kind, "__len__") or not len(value)


_ENDING = ("__iter__", "__array__", "__array_interface__", "__buffer__", "dtype", "shape")
"""What tells NumPy how much there is."""


def shape_if_any(value: Any) -> tuple[int, ...] | None:
    """The shape of anything array-like, None of what is not."""
    try:
        return tuple(np.shape(as_array(value)))
    except (ArgumentError, TypeError):
        return None


def is_operator(value: Any) -> bool:
    """Whether a value is a linear map of SciPy, which is a Jacobian, though it can be called."""
    return type(value).__module__.startswith("scipy.sparse.linalg") and hasattr(value, "matmat")


def _of_scipy(value: Any) -> Any:
    """A sparse matrix of SciPy, or a linear map, with all of its entries."""
    if not is_operator(value):
        return np.asarray(value.toarray())
    return np.stack([np.ravel(value.matvec(unit)) for unit in np.eye(value.shape[1])], 1)


def _of_casadi(matrix: Any) -> Any:
    """A result of CasADi, all of which are matrices: a number, or a vector in a column or a row, without these axes."""
    return matrix.reshape([n for n in matrix.shape if n != 1])


def is_array_like(value: Any) -> bool:
    """Whether an argument of ``f`` is numeric data (arrays, tensors, floats), rather than an option."""
    if isinstance(value, (bool, int, str, bytes)) or callable(value) or value is None:
        return False
    if isinstance(value, (float, complex)):
        return True
    if isinstance(value, (list, tuple)):
        return bool(value) and not _is_table(value) and is_floating(as_array(value).dtype)
    return hasattr(value, "dtype") and is_number(as_array(value).dtype)


def _is_table(rows: Sequence[Any]) -> bool:
    """Whether rows are tuples whose places are of one kind each, some of them whole numbers: indices beside values."""
    if not all(isinstance(row, tuple) for row in rows) or len({len(row) for row in rows}) != 1:
        return False
    kinds = [{type(entry) for entry in column} for column in zip(*rows, strict=True)]
    return {int} in kinds and any(kind != {int} for kind in kinds)


def is_differentiable(value: Any) -> bool:
    """Whether an argument is floating-point data."""
    return is_array_like(value) and is_floating(as_array(value).dtype)


def wide(array: Any) -> Any:
    """The array in double precision; integers stay integers."""
    kind = "f" if is_real_floating(array.dtype) else array.dtype.kind  # bfloat16 is of NumPy's kind "V"
    return np.array(array, dtype=_WIDE.get(kind, array.dtype))


def epsilon(*dtypes: Any) -> float:
    """The rounding unit of the least precise floating dtype among ``dtypes``; that of float64 if there is none.

    No gradient is compared to more digits than that, in extended precision either.
    """
    known = (float(finfo(d).eps) for d in dtypes if is_floating(d) and d.char not in EXTENDED)
    return max(known, default=float(np.finfo(np.float64).eps))


def parameter_names(f: Callable[..., Any], count: int, names: Sequence[str] | None) -> list[str]:
    """Names of the first ``count`` arguments: as given, else the function's own parameter names, else x1, x2."""
    if names is not None:
        if len(names) != count:
            raise ArgumentError(f"names= gives {len(names)} names for {count} arguments.")
        return [check_name(name) for name in names]
    import inspect

    f = as_written(f)
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    own = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    own = own[1:] if len(own) == count + 1 and own[0] == "ctx" else own
    return [own[k] if k < len(own) else f"x{k + 1}" for k in range(count)]


def as_written(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function that somebody wrote: ``forward`` behind the ``apply`` of a class, that in a primitive of HIPS."""
    whose = getattr(f, "__self__", None)
    if isinstance(whose, type) and getattr(f, "__name__", "") == "apply" and callable(getattr(whose, "forward", None)):
        return whose.forward  # type: ignore[attr-defined, no-any-return]
    return f.fun if getattr(f, "_is_autograd_primitive", False) else f  # type: ignore[attr-defined]


def given_gradients(
    value: Any, args: Sequence[Any], argnums: int | Sequence[int] | None, names: Sequence[str]
) -> tuple[list[Any], list[int]]:
    """The gradients under check as arrays, and which argument each belongs to.

    A tuple, or a list that holds arrays, is one gradient per argument; without ``argnums`` they belong to the first
    floating-point arguments; None where whole numbers have none is left out.
    """
    if isinstance(value, dict):
        value, argnums = _by_name(value, names)
    several = several_given(value)
    floating = [k for k, arg in enumerate(args) if is_differentiable(arg)]
    if several and argnums is None and len(floating) < len(value) == len(args):
        others = [v for k, v in enumerate(value) if k not in floating]
        value = [value[k] for k in floating] if all(v is None or _is_float0(v) for v in others) else value
    gradients = [as_array(v).copy() for v in (value if several else [value])]  # a buffer may be written to again
    if argnums is None:
        if len(floating) < len(gradients):
            raise ArgumentError(_too_many(len(gradients), len(floating), args, names))
        positions = floating[: len(gradients)]
    else:
        positions = [argnums] if isinstance(argnums, int) else list(argnums)
    if len(positions) != len(gradients):
        raise ArgumentError(
            f"argnums={argnums} names {len(positions)} arguments, but {len(gradients)} gradients were given."
        )
    for position, gradient in zip(positions, gradients, strict=True):
        if not -len(args) <= position < len(args):
            raise ArgumentError(f"argnums={argnums}: there are only {len(args)} arguments.")
        if not is_differentiable(args[position]):
            raise DtypeError(
                f"argument {position} is no floating-point array ({args[position]!r:.40}); it has no gradient."
            )
        if not (is_number(gradient.dtype) or gradient.dtype.char in EXTENDED) or gradient.dtype == bool:
            raise ArgumentError(f"the gradient of {names[position]} is {_said(gradient)}")
    return gradients, [p % len(args) for p in positions]


def several_given(value: Any) -> bool:
    """Whether gradients were given one by one: a tuple, a dict, or a list that holds arrays."""
    return isinstance(value, (tuple, dict)) or (
        isinstance(value, list) and any(hasattr(v, "dtype") and getattr(v, "ndim", 0) for v in value)
    )


def _by_name(gradients: dict[Any, Any], names: Sequence[str]) -> tuple[tuple[Any, ...], list[int]]:
    """Gradients that were given by the names of their arguments, and which argument each belongs to."""
    if not gradients:
        raise ArgumentError("the dict of gradients is empty.")
    for key in gradients:
        if key not in names:
            raise ArgumentError(
                f"gradients in a dict go by the names of the arguments, {', '.join(names)}; {key!r} is none of them."
            )
    return tuple(gradients.values()), [list(names).index(key) for key in gradients]


def _said(gradient: Any) -> str:
    """What stands where a gradient should, and what to do about it."""
    value = gradient.item() if gradient.ndim == 0 else gradient
    if value is None:
        return "None. If grad= returned None, that argument got no gradient: give zeros, or leave it out with argnums=."
    if gradient.ndim == 0 and hasattr(value, "__next__"):
        return "a generator; give a list or a tuple of arrays: tuple(...)."
    if gradient.dtype == object and gradient.ndim:
        return f"an array of objects, not of numbers ({value!r:.60}); make it one of numbers: .astype(float)."
    return f"{gradient.dtype}, not floating-point numbers: {value!r:.60}."


def _is_float0(value: Any) -> bool:
    """Whether a value is what JAX gives for whole numbers in place of a gradient."""
    return str(getattr(value, "dtype", "")) == "[('float0', 'V')]"


def require_floating(args: Sequence[Any], names: Sequence[str]) -> None:
    """Refuse arguments none of which can have a gradient, before a function meets them."""
    if not any(map(is_differentiable, args)):
        raise ArgumentError(_too_many(1, 0, args, names))


def _too_many(given: int, floating: int, args: Sequence[Any], names: Sequence[str]) -> str:
    """What to say of more gradients than arguments that can have one: mostly whole numbers, or a value beside."""
    known = {0: "no argument is a floating-point array", 1: "only one argument is a floating-point array"}
    text = f"{given} gradient{' was' if given == 1 else 's were'} given, but "
    text += known.get(floating, f"only {floating} arguments are floating-point arrays")
    whole = [
        f"{name} is {as_array(arg).dtype}"
        for name, arg in zip(names, args, strict=True)
        if not callable(arg) and not isinstance(arg, str) and as_array(arg).dtype.kind in "iub"
    ]
    if whole:
        return f"{text} ({', '.join(whole)}: pass floats, 1.0 for 1, where you want a gradient)."
    odd = [
        f"{name} is an array of {arg.dtype}"
        for name, arg in zip(names, args, strict=True)
        if isinstance(arg, np.ndarray) and not is_differentiable(arg)
    ]
    if odd:
        return f"{text} ({', '.join(odd)}: take .astype(float), or the columns of a record array one by one)."
    if not floating:
        return (
            f"{text} ({', '.join(f'{name} is a {type(arg).__name__}' for name, arg in zip(names, args, strict=True))})."
        )
    return f"{text}; say with argnums= which arguments they belong to. A value beside the gradient is not part of it."
