"""Evenly spaced numbers, places in triangles, and windows of signal processing."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Callable
from typing import Any, Unpack

import numpy as np

from symgrad import dtypes, kernels
from symgrad.devices import Options
from symgrad.errors import ArgumentError, AutogradError, DtypeError, ShapeError
from symgrad.op import as_size, fixed, known_as
from symgrad.tape.formulas.constants import counted
from symgrad.tensor import Tensor
from symgrad.tensor.creation import finished, made_in

__all__ = [
    "arange", "bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window", "linspace",
    "logspace", "range", "tril_indices", "triu_indices",
]  # fmt: skip


def _plain(number: Any) -> Any:
    """A Python or NumPy number; 0-d tensors may stand for one."""
    return number.item() if isinstance(number, Tensor) else number


def arange(
    *ends: Any,
    start: Any = None,
    end: Any = None,
    step: Any = None,
    dtype: Any = None,
    requires_grad: bool = False,
    name: str | None = None,
    **options: Unpack[Options],
) -> Tensor:
    """Evenly spaced values, the end excluded: ``arange(end)``, ``arange(start, end, step)``.

    >>> import symgrad as sg
    >>> sg.arange(1, 2, 0.25)
    tensor([1.0000, 1.2500, 1.5000, 1.7500])
    """
    row = [_plain(e) for e in ends]
    if end is None and not row:
        raise ArgumentError("arange() received an invalid combination of arguments - got (): it needs an end")
    if end is None:
        end = row.pop(0 if len(row) == 1 else 1)
    if start is None:
        start = row.pop(0) if row else 0
    if step is None:
        step = row.pop(0) if row else 1
    start, end, step = sized = _plain(start), _plain(end), _plain(step)
    if any(isinstance(e, complex) for e in (start, end, step)):
        raise DtypeError("value cannot be converted to type double without overflow: arange() takes real numbers")
    integers = all(isinstance(e, (int, np.integer)) for e in (start, end, step))
    kind = made_in(dtype, options, dtypes.int64 if integers else None)
    whole = kind == np.int64 and math.isfinite(start) and math.isfinite(end)
    if not step or (whole and not int(step)):
        raise ArgumentError("step must be nonzero")
    if not math.isfinite(start) or not math.isfinite(end):
        raise AutogradError(f"unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise ArgumentError(f"upper bound and lower bound inconsistent with step sign: arange({start}, {end}, {step})")
    if whole:  # torch counts in the dtype's own numbers
        start, end, step = int(start), as_size(end), int(step)
        if max(abs(start), abs(end), abs(step)) >= 2**63:
            raise DtypeError("value cannot be converted to type int64_t without overflow")
    value = np.arange(start, end, step)
    if kind.kind in "ui" and value.dtype.kind == "f":  # torch rounds the ends, and not every number
        value = int(start) + int(step) * np.arange(len(value))
    value = value.astype(kind)
    recipe = None
    if step == 1 and start == int(start) and (len(value) > 1 or hasattr(end, "kept")):
        recipe = counted(start, as_size(end) if not start and end == len(value) else len(value), kind)
    return finished("arange", value, requires_grad, name, options, recipe, sized=sized)


def range(
    start: Any,
    end: Any,
    step: Any = 1,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
    name: str | None = None,
    **options: Unpack[Options],
) -> Tensor:
    """Evenly spaced values, the end included; deprecated in torch, since Python's ``range`` leaves the end out.

    >>> import symgrad as sg
    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> sg.range(0, 1, 0.5)
    tensor([0.0000, 0.5000, 1.0000])
    """
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end).",
        UserWarning,
        stacklevel=2,
    )
    start, end, step = _plain(start), _plain(end), _plain(step)
    if not step:
        raise AutogradError("step must be nonzero")
    if not math.isfinite(start) or not math.isfinite(end):
        raise AutogradError(f"unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise AutogradError(f"upper bound and lower bound inconsistent with step sign ({start}, {end}, {step})")
    count = math.floor((end - start) / step) + 1
    value = (start + step * np.arange(count)).astype(made_in(dtype, options))
    return finished("range", value, requires_grad, name, options, sized=(start, end, step))


def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
    name: str | None = None,
    **options: Unpack[Options],
) -> Tensor:
    """``steps`` values from ``start`` to ``end``, both included.

    >>> import symgrad as sg
    >>> sg.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    ends = _ends("linspace", start, end, steps)
    value = _spaced(*ends, int(steps), _of_ends("linspace", ends, dtype, options))
    return finished("linspace", value, requires_grad, name, options, sized=(*ends, steps))


def _ends(name: str, start: Any, end: Any, steps: Any) -> tuple[Any, Any]:
    """The ends as numbers.  Raises torch's errors for ends that are none, and for steps that cannot be counted."""
    ranks = [x.ndim if isinstance(x, Tensor) else 0 for x in (start, end)]
    if any(ranks):
        raise AutogradError(
            f"{name} only supports 0-dimensional start and end tensors, but got start with {ranks[0]} dimension(s) and "
            f"end with {ranks[1]} dimension(s)."
        )
    if not hasattr(steps, "__index__"):
        kinds = [type(x).__name__ for x in (start, end, steps)]
        raise ArgumentError(
            f"{name}() received an invalid combination of arguments - got ({', '.join(kinds)}), but expected "
            "one of:\n * (Number start, Number end, int steps)"
        )
    if steps < 0:
        raise AutogradError("number of steps must be non-negative")
    return _plain(start), _plain(end)


def _spaced(start: Any, end: Any, steps: int, dtype: Any) -> Any:
    """The values of ``linspace`` to torch's last digit: half of them counted from either end, which mirrors them."""
    given = [start, end][:steps]  # a single one is the start, whatever the end
    ends = dtypes.narrowed(given, dtype) if dtype.kind in "ui" else np.array(given).astype(dtype)
    if steps < 2:
        return ends
    wide = ends.astype(np.float64) if dtype.kind in "bui" else ends
    step = (wide[1] - wide[0]) / wide.dtype.type(steps - 1)
    count = np.arange(steps)
    near = count < steps // 2
    turns = np.where(near, count, count + 1 - steps).astype(wide.dtype)
    return kernels.fused(step, turns, np.where(near, *wide)).astype(dtype)


def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
    name: str | None = None,
    **options: Unpack[Options],
) -> Tensor:
    """``steps`` powers of ``base``, with evenly spaced exponents from ``start`` to ``end``, both included.

    >>> import symgrad as sg
    >>> sg.logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    ends = _ends("logspace", start, end, steps)
    kind = _of_ends("logspace", ends, dtype, options)
    if kind.kind in "ui" and steps > 1:  # as in torch
        dtypes.narrowed(ends, kind)  # raises for an end that the dtype does not have
        ends = int(ends[0]), int(ends[1])
    exponents = np.linspace(*ends, int(steps)) if steps > 1 else np.array(ends[:steps])  # a single one is the start
    value = np.power(float(base), exponents)
    if kind.kind in "ui" and steps == 1:
        dtypes.narrowed(value, kind)  # raises for a power that the dtype does not have
    return finished("logspace", value.astype(kind), requires_grad, name, options, sized=(*ends, steps))


def _of_ends(name: str, ends: tuple[Any, Any], dtype: Any, options: Options) -> Any:
    """The dtype of numbers between two ends: complex where one of them is.  ``DtypeError`` where it may not be."""
    between = next(
        (dtypes.for_python_number(complex(x)) for x in ends if isinstance(x, (complex, np.complexfloating))), None
    )
    kind = made_in(dtype, options, between)
    if between is not None and kind.kind != "c":
        inferred, given = dtypes.torch_name(between), dtypes.torch_name(kind)
        raise DtypeError(f"torch.{name}(): inferred dtype {inferred} can't be safely cast to passed dtype {given}")
    return kind


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, **options: Unpack[Options]) -> Tensor:
    """Rows and columns of the entries of a matrix on and below a diagonal: shape (2, count).

    >>> import symgrad as sg
    >>> sg.tril_indices(2, 2)
    tensor([[0, 1, 1],
            [0, 0, 1]])
    """
    return _triangle("tril_indices", np.tril_indices, row, col, offset, dtype, options)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, **options: Unpack[Options]) -> Tensor:
    """Rows and columns of the entries of a matrix on and above a diagonal: shape (2, count).

    >>> import symgrad as sg
    >>> sg.triu_indices(2, 3)
    tensor([[0, 0, 0, 1, 1],
            [0, 1, 2, 1, 2]])
    """
    return _triangle("triu_indices", np.triu_indices, row, col, offset, dtype, options)


def _triangle(name: str, places: Any, row: Any, col: Any, offset: Any, dtype: Any, options: Any) -> Tensor:
    for what, size in (("row", row), ("col", col)):
        if size < 0:
            raise ShapeError(f"{what} must be non-negative, got {size}")
    if not hasattr(offset, "__index__"):
        raise TypeError(f"{name}(): argument 'offset' (position 3) must be int, not {type(offset).__name__}")
    value = np.stack(places(fixed(row), offset, fixed(col))).astype(made_in(dtype, options, dtypes.int64))
    return finished(name, value, False, None, options, depth=3)


# ------------------------------------------------------------------------------------------ windows


def _window(name: str, shape: Callable[..., Any], parameters: dict[str, float], doc: str) -> Callable[..., Tensor]:
    def make(
        window_length: Any, periodic: bool = True, *given: float, dtype: Any = None, requires_grad: bool = False,
        **options: Any,
    ) -> Tensor:  # fmt: skip
        numbers = {**parameters, **dict(zip(parameters, given, strict=False))}
        numbers.update({key: options.pop(key) for key in parameters if key in options})
        kind, length = made_in(dtype, options), operator.index(window_length)
        if kind.kind in "bui":
            raise DtypeError(f"{name} expects floating point dtypes, got: {dtypes.torch_name(kind)}")
        if length < 0:
            raise ArgumentError(f"{name} requires non-negative window_length, got window_length={length}")
        if length < 2:
            value = np.ones(length, kind)
        else:
            last = length if periodic else length - 1
            value = shape(np.arange(length) / last, **numbers).astype(kind)
        recipe, size = None, window_length if hasattr(window_length, "kept") else None
        if size is not None and not (size - 2).is_behind():  # how it is made at every size
            t = arange(size, dtype=np.dtype(np.float64)) / (size if periodic else size - 1)
            recipe = shape(t, **numbers).to(kind).more().recipe
        return finished(name, value, requires_grad, None, options, recipe, sized=(window_length, *numbers.values()))

    return known_as(make, name, f"{doc}  ``periodic=False`` makes both ends equal, for filters.")


def _cosines(*weights: float) -> Callable[[Any], Any]:
    return lambda t: sum(w * np.cos(2 * np.pi * k * t) for k, w in enumerate(weights))


hann_window = _window("hann_window", _cosines(0.5, -0.5), {}, "The Hann window, 1/2 - cos(2 pi t)/2.")
hamming_window = _window(
    "hamming_window",
    lambda t, alpha, beta: alpha - beta * np.cos(2 * np.pi * t),
    {"alpha": 0.54, "beta": 0.46},
    "The Hamming window, alpha - beta cos(2 pi t).",
)
blackman_window = _window("blackman_window", _cosines(0.42, -0.5, 0.08), {}, "The Blackman window.")
bartlett_window = _window(
    "bartlett_window", lambda t: 1 - np.abs(2 * t - 1), {}, "The Bartlett (triangular) window, 1 - |2 t - 1|."
)
kaiser_window = _window(
    "kaiser_window",
    lambda t, beta: np.i0(beta * np.sqrt(np.maximum(1 - (2 * t - 1) ** 2, 0))) / np.i0(beta),
    {"beta": 12.0},
    "The Kaiser window of shape ``beta``.",
)
