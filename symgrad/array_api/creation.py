"""Making tensors by the names and arguments of the array API standard."""

from __future__ import annotations

from typing import Any

import symgrad as sg

Shape = int | tuple[int, ...]


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> Any:
    """A tensor of an array, of numbers or of rows of them; it shares memory with an array unless ``copy``."""
    return sg.asarray(obj if copy is False else _stacked(obj), dtype=dtype, device=device, copy=copy)


def _stacked(obj: Any) -> Any:
    """Rows with tensors among them as one tensor, through which gradients go; other things as they are."""
    if not isinstance(obj, (list, tuple)):
        return obj
    parts = [_stacked(part) for part in obj]
    return sg.stack([sg.asarray(part) for part in parts]) if any(isinstance(p, sg.Tensor) for p in parts) else obj


def from_dlpack(x: Any, /, *, device: Any = None, copy: Any = None) -> Any:
    """A tensor in the memory of another library's array."""
    made = sg.from_dlpack(x)
    made = made.clone() if copy else made
    return made if device is None else made.to(device)


def zeros(shape: Shape, *, dtype: Any = None, device: Any = None) -> Any:
    """Zeros."""
    return sg.zeros(shape, dtype=dtype, device=device)


def ones(shape: Shape, *, dtype: Any = None, device: Any = None) -> Any:
    """Ones."""
    return sg.ones(shape, dtype=dtype, device=device)


def empty(shape: Shape, *, dtype: Any = None, device: Any = None) -> Any:
    """Whatever is in memory."""
    return sg.empty(shape, dtype=dtype, device=device)


def full(shape: Shape, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """One value everywhere."""
    return sg.full((shape,) if isinstance(shape, int) else shape, fill_value, dtype=dtype, device=device)


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Zeros of the shape of ``x``."""
    return sg.zeros_like(x, dtype=dtype, device=device)


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Ones of the shape of ``x``."""
    return sg.ones_like(x, dtype=dtype, device=device)


def empty_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Whatever is in memory, of the shape of ``x``."""
    return sg.empty_like(x, dtype=dtype, device=device)


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """One value in the shape of ``x``."""
    return sg.full_like(x, fill_value, dtype=dtype, device=device)


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None) -> Any:
    """Ones on the ``k``-th diagonal, zeros elsewhere."""
    columns = n_rows if n_cols is None else n_cols
    return sg.ones((n_rows, columns), dtype=dtype, device=device).triu(k).tril(k)


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None) -> Any:
    """``start``, ``start + step`` … below ``stop``; one number alone is ``stop``."""
    start, stop = (0, start) if stop is None else (start, stop)
    if (stop - start) * step <= 0:
        return sg.arange(0, dtype=dtype, device=device)
    return sg.arange(start, stop, step, dtype=dtype, device=device)


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: bool = True
) -> Any:
    """``num`` numbers at equal distances, the last of them ``stop`` unless ``endpoint`` is False."""
    made = sg.linspace(start, stop, num if endpoint else num + 1, dtype=dtype, device=device)
    return made if endpoint else made[:-1]


def meshgrid(*arrays: Any, indexing: str = "xy") -> list[Any]:
    """The coordinates of a grid."""
    return list(sg.meshgrid(*arrays, indexing=indexing))
