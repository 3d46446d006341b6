"""What a function gives: one array, or several in containers; and products of it with a cotangent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.check.asking.arrays import as_array, is_array_like
from symgrad.check.asking.calling import copied, is_jax, is_torch, like
from symgrad.check.asking.nested import parts, rebuilt
from symgrad.dtypes import is_floating
from symgrad.errors import ArgumentError
from symgrad.tape.modes import no_grad
from symgrad.tape.record import Recorded, plain
from symgrad.tape.standins import inner
from symgrad.tensor import Tensor

SEED = 7_304_519
"""Of cotangents and tangents; not one that people draw their points with, whose numbers would then be the same."""


def probed(f: Callable[..., Any], flat: Any) -> Any:
    """What ``f`` gives at the point, for its structure: run on the arrays as they were given, else on tensors.

    Where it runs on neither, a function that misses a method, or a kind of argument, is written for tensors.
    """
    try:
        with np.errstate(all="ignore"), no_grad():
            return f(*flat.whole([copied(a) if is_array_like(a) else a for a in flat.args]))
    except Exception as error:  # noqa: BLE001  (f may be written for tensors)
        try:
            with np.errstate(all="ignore"), no_grad():
                values = [plain(Tensor, np.array(as_array(a))[()]) if is_array_like(a) else a for a in flat.args]
                return f(*flat.whole(values))
        except Exception as refused:  # noqa: BLE001
            foreign = any(is_torch(a) or is_jax(a) for a in flat.args)
            raise (error if foreign or not isinstance(error, (AttributeError, TypeError)) else refused) from None


def output_parts(out: Any) -> list[tuple[Any, Any]] | None:
    """``(key, part)`` of several results; None for a single one.  Unlike arguments, every tuple and list is several."""
    if isinstance(out, (tuple, list)) and not hasattr(out, "_fields"):
        return list(enumerate(out))
    return parts(out)


def output_leaves(out: Any, path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], Any]]:
    """``(path, array)`` of the floating-point results, in order."""
    inside = output_parts(out)
    if inside is not None:
        return [leaf for key, part in inside for leaf in output_leaves(part, (*path, key))]
    numeric = isinstance(out, (int, float, complex)) or hasattr(out, "dtype") or hasattr(out, "__array__")
    return [(path, out)] if numeric and is_floating(as_array(out).dtype) else []


def at_path(value: Any, path: Sequence[Any], said: str) -> Any:
    """The part of a derivative, or of a result, that belongs to one of several results."""
    for key in path:
        try:
            if hasattr(value, "dtype"):  # a number of one array is no part
                raise TypeError
            value = getattr(value, key) if isinstance(key, str) and not isinstance(value, dict) else value[key]
        except (AttributeError, IndexError, KeyError, TypeError):
            raise ArgumentError(
                f"{said}, but the derivative has no part {key!r} (it is a {type(value).__name__}); give one derivative "
                "per result, in the same structure, or check lambda *args: f(*args)[0]."
            ) from None
    return value


def several_text(out: Any) -> str:
    """What to say of several results."""
    return f"f gave a {type(out).__name__} of {len(output_parts(out) or ())}"


def path_text(path: Sequence[Any]) -> str:
    """A path as it is written behind a name: ``[0]``, ``['loss']``, ``.loss``."""
    return "".join(f"[{key!r}]" for key in path)


def alone(value: Any, path: tuple[Any, ...], at: tuple[Any, ...] = ()) -> Any:
    """A cotangent of several results that is 0 for all but one of them."""
    inside = output_parts(value)
    if inside is not None:
        return _of_parts(value, [alone(part, path, (*at, key)) for key, part in inside])
    return value if at == path or not output_leaves(value) else value * 0


def _of_parts(out: Any, made: list[Any]) -> Any:
    """Other parts in the structure of a result."""
    if isinstance(out, (tuple, list)) and not hasattr(out, "_fields"):
        return type(out)(made)
    return rebuilt(out, (leaf for part in made for leaf in _flat(part)))


def cotangent_of(out: Any, args: Sequence[Any], rng: np.random.Generator) -> Any:
    """Random numbers in the structure, the precision and the library of a result."""
    inside = output_parts(out)
    if inside is not None:
        return _of_parts(out, [cotangent_of(part, args, rng) for _, part in inside])
    if not output_leaves(out):
        return out
    array = as_array(out)
    drawn = rng.normal(size=array.shape)
    if array.dtype.kind == "c":
        drawn = drawn + 1j * rng.normal(size=array.shape)
    foreign = [a for a in (*args, out) if is_torch(a) or is_jax(a)]
    return like(foreign[0] if foreign else out, drawn.astype(array.dtype))


def _flat(part: Any) -> list[Any]:
    inside = output_parts(part)
    return [part] if inside is None else [leaf for _, below in inside for leaf in _flat(below)]


def product(cotangent: Any, out: Any) -> Any:
    """The real part of ``<cotangent, out>`` over all results."""
    total: Any = 0.0
    for path, leaf in output_leaves(out):
        v = inner(at_path(cotangent, path, several_text(out) if path else "f gave one array"))
        leaf = inner(leaf)
        if isinstance(leaf, Recorded):
            term = _recorded_product(v if isinstance(v, Recorded) else plain(Tensor, np.asarray(as_array(v))[()]), leaf)
        else:
            term = np.real(np.sum(np.conj(as_array(v)) * as_array(leaf)))
        total = term if isinstance(total, float) and not total else total + term
    return total


def _recorded_product(v: Any, out: Any) -> Any:
    return ((v.conj() * out).real if out.is_complex() else v * out).sum()
