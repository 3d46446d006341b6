"""Comparing tensors in tests and making some: ``assert_close`` and ``make_tensor`` as in ``torch.testing``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from symgrad import random
from symgrad.dtypes import as_dtype, finfo, iinfo
from symgrad.errors import ArgumentError, CheckFailed
from symgrad.tensor import FUNCTIONS, Tensor, creation

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

_TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}
_ALIKE = {"allow_subclasses", "check_device", "check_layout"}
"""torch's arguments about what all tensors have in common here."""
_PARTS = {"complex64": "float32", "complex128": "float64"}


def assert_close(
    actual: Any,
    expected: Any,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_dtype: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
    **others: bool,
) -> None:
    """Raise ``AssertionError`` unless ``|actual - expected| <= atol + rtol |expected|`` in every entry.

    Tensors, arrays, numbers, and sequences and mappings of them.  The tolerances go by the dtype (the coarser one of
    the two), with torch's values; give both or neither.  The shapes must agree and, unless ``check_dtype=False``, the
    dtypes, or the types of two numbers.  ``msg`` replaces the message, or makes it from the one there would be.

    >>> import symgrad as sg
    >>> sg.testing.assert_close(sg.tensor([1.0, 2.0]), sg.tensor([1.0, 2.1]))
    Traceback (most recent call last):
        ...
    symgrad.errors.CheckFailed: Tensor-likes are not close!
    <BLANKLINE>
    Mismatched elements: 1 / 2 (50.0%)
    Greatest absolute difference: 0.09999990463256836 at index (1,) (up to 1e-05 allowed)
    Greatest relative difference: 0.0476190...
    """
    if others.keys() - _ALIKE:
        raise ArgumentError(f"assert_close() got an unexpected keyword argument {min(others.keys() - _ALIKE)!r}")
    if (rtol is None) != (atol is None):
        raise ArgumentError(
            f"rtol and atol must both be specified or both be unspecified; got rtol={rtol}, atol={atol}"
        )
    options = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan, "dtype": check_dtype, "stride": check_stride}
    found = _difference(actual, expected, "", options)
    if found is not None:
        raise CheckFailed(msg(found) if callable(msg) else msg or found)


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """:func:`assert_close` of old programs, for what may be of other dtypes, and of numbers that may be nan.

    >>> import symgrad as sg
    >>> sg.testing.assert_allclose(sg.tensor([1.0]), [1])
    """
    expected = expected if isinstance(expected, Tensor) else creation.tensor(expected)
    actual = actual if isinstance(actual, Tensor) else creation.tensor(actual)
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)


def _difference(actual: Any, expected: Any, where: str, options: dict[str, Any]) -> str | None:
    """What is different, or None."""
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if actual.keys() != expected.keys():
            return f"The keys of the mappings do not match: {sorted(actual)} and {sorted(expected)}{where}"
        pairs = [(key, actual[key], expected[key]) for key in actual]
    elif _is_row(actual) and _is_row(expected):
        if len(actual) != len(expected):
            return f"The length of the sequences mismatch: {len(actual)} != {len(expected)}{where}"
        pairs = [(k, a, b) for k, (a, b) in enumerate(zip(actual, expected, strict=True))]
    else:
        return _array_difference(actual, expected, where, options)
    for key, a, b in pairs:
        found = _difference(a, b, f"{where or chr(10) * 2 + 'The failure occurred for item '}[{key!r}]", options)
        if found is not None:
            return found
    return None


def _is_row(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _array(value: Any) -> Any:
    if value is None or isinstance(value, str):
        raise ArgumentError(f"assert_close() compares tensors, arrays and numbers, not {type(value).__name__}.")
    return np.asarray(value.detach() if isinstance(value, Tensor) else value)


def _array_difference(actual: Any, expected: Any, where: str, options: dict[str, Any]) -> str | None:
    if actual is None and expected is None:
        return None
    numbers = not hasattr(actual, "dtype") and not hasattr(expected, "dtype")
    if numbers and options["dtype"] and type(actual) is not type(expected):
        return f"The (d)types do not match: {type(actual)} != {type(expected)}.{where}"
    a, b = _array(actual), _array(expected)
    if a.shape != b.shape:
        return f"The values for attribute 'shape' do not match: {a.shape} != {b.shape}.{where}"
    if options["dtype"] and not numbers and a.dtype != b.dtype:
        return f"The values for attribute 'dtype' do not match: {a.dtype} != {b.dtype}.{where}"
    if options["stride"] and a.strides != b.strides:
        return f"The values for attribute 'stride()' do not match: {a.strides} != {b.strides} (in bytes).{where}"
    rtol, atol = _tolerances(a.dtype, b.dtype) if options["rtol"] is None else (options["rtol"], options["atol"])
    wide = np.result_type(a, b, np.float64)
    close = a == b  # all digits of whole numbers, which float64 has not
    if rtol or atol or options["equal_nan"]:
        close |= np.isclose(a.astype(wide), b.astype(wide), rtol, atol, options["equal_nan"])
    if close.all():
        return None
    what = "Scalars" if not a.ndim else "Tensor-likes"
    return (
        f"{what} are not {'equal' if not rtol and not atol else 'close'}!\n\n{_report(a, b, close, rtol, atol)}{where}"
    )


def _report(a: Any, b: Any, close: Any, rtol: float, atol: float) -> str:
    with np.errstate(all="ignore"):
        absolute = np.abs(a.astype(np.result_type(a, np.float64)) - b)
        relative = absolute / np.abs(b)
    absolute, relative = np.where(close, 0, absolute), np.where(close, 0, relative)
    lines = []
    if a.ndim:
        count = int((~close).sum())
        lines.append(f"Mismatched elements: {count} / {a.size} ({100 * count / a.size:.1f}%)")
    for kind, size, limit in (("absolute", absolute, atol), ("relative", relative, rtol)):
        worst = np.unravel_index(int(np.argmax(np.nan_to_num(size, nan=np.inf))), a.shape)
        place = f" at index {tuple(map(int, worst))}" if a.ndim else ""
        lines.append(f"Greatest {kind} difference: {float(size[worst])}{place} (up to {limit} allowed)")
    return "\n".join(lines)


def _tolerances(*found: Any) -> tuple[float, float]:
    rows = [_TOLERANCES.get(_PARTS.get(str(d), str(as_dtype(d))), (0.0, 0.0)) for d in found]
    return max(r for r, _ in rows), max(a for _, a in rows)


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any = "cpu",
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Numbers drawn evenly from ``low`` up to ``high``, by torch's stream: -9 and 9 where these are not given.

    ``noncontiguous`` leaves gaps in the memory, ``exclude_zero`` puts the smallest number (1, of whole ones) in the
    place of 0.  Raises ``ArgumentError`` for an empty range.

    >>> import symgrad as sg
    >>> _ = sg.manual_seed(0)
    >>> sg.testing.make_tensor(2, 2, dtype=sg.int64, low=0, high=5)
    tensor([[4, 4],
            [3, 0]])
    """
    kind = as_dtype(dtype)
    sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    if noncontiguous and memory_format is not None:
        raise ArgumentError("The parameters `noncontiguous` and `memory_format` are mutually exclusive")
    if requires_grad and kind.kind in "biu":
        raise ArgumentError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype=}")
    if noncontiguous and math.prod(sizes) > 1:
        sizes = (*sizes[:-1], 2 * sizes[-1])
    if kind.kind in "biu":
        least, most, start, end = (
            (0, 2, 0, 2) if kind.kind == "b" else (iinfo(kind).min, iinfo(kind).max + (kind.itemsize < 8), -9, 10)
        )
        a, b = _range(low, high, (start, end), (least, most))
        made = random.randint(math.ceil(a), math.ceil(b), sizes, dtype=kind, device=device)
    else:
        a, b = _range(low, high, (-9, 9), (finfo(kind).min, finfo(kind).max))
        made = creation.empty(sizes, dtype=kind, device=device)
        drawn = FUNCTIONS["view_as_real"](made) if kind.kind == "c" else made
        wide = b - a >= finfo(kind).max
        drawn.uniform_(a / 2, b / 2).mul_(2) if wide else drawn.uniform_(a, b)
    if noncontiguous and math.prod(sizes) > 1:
        made = made[..., 1::2]
    elif memory_format is not None:
        made = made.clone(memory_format=memory_format)
    if exclude_zero:
        made[FUNCTIONS["eq"](made, 0)] = 1 if kind.kind in "biu" else finfo(kind).tiny
    return made.requires_grad_() if requires_grad else made


def _range(low: Any, high: Any, default: tuple[float, float], bounds: tuple[float, float]) -> tuple[float, float]:
    """From where to where numbers are drawn; those that the dtype does not have are left out."""
    a, b = default[0] if low is None else low, default[1] if high is None else high
    if a != a or b != b:
        raise ArgumentError(f"`low` and `high` cannot be NaN, but got low={a} and high={b}")
    if a >= b:
        raise ArgumentError(f"`low` must be less than `high`, but got {a} >= {b}")
    if b < bounds[0] or a >= bounds[1]:
        raise ArgumentError(
            f"The value interval specified by `low` and `high` is [{a}, {b}), but the dtype only supports "
            f"[{bounds[0]}, {bounds[1]})"
        )
    return min(max(a, bounds[0]), bounds[1]), min(max(b, bounds[0]), bounds[1])
