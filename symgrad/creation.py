"""Making tensors: from data, constants, ranges and random numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad import dtypes
from symgrad.errors import ArgumentError
from symgrad.op import shape_of
from symgrad.ops.constants import named_pi
from symgrad.ops.noise import SOURCE
from symgrad.ops.shaping import size_args
from symgrad.streams import Generator
from symgrad.tape.names import check_name
from symgrad.tape.record import call_site, plain
from symgrad.tape.versions import changes
from symgrad.tape.watch import WATCH, note_problem
from symgrad.tensor import Tensor

__all__ = [
    "Generator",
    "arange",
    "as_tensor",
    "default_generator",
    "e",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "from_numpy",
    "full",
    "full_like",
    "inf",
    "linspace",
    "manual_seed",
    "nan",
    "newaxis",
    "ones",
    "ones_like",
    "pi",
    "rand",
    "rand_like",
    "randn",
    "randn_like",
    "tensor",
    "zeros",
    "zeros_like",
]


pi = named_pi()
e = math.e
inf = math.inf
nan = math.nan
newaxis = None


def tensor(
    data: Any,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
    name: str | None = None,
    structure: str | None = None,
    device: Any = None,
) -> Tensor:
    """A new leaf from numbers, nested lists, arrays or tensors; the data is copied.

    Python floats become the default dtype (float32, as torch); NumPy arrays keep theirs.  ``name`` is the symbol in
    formulas; without it the variable the result is assigned to gives the name.  ``structure`` states a property of a
    matrix ("symmetric") that formulas may use.

    >>> tensor([1.0, 2.0], requires_grad=True)
    tensor([1., 2.], requires_grad=True)
    """
    value = _as_array(data, dtype)
    made = plain(Tensor, value)
    if name is not None or structure is not None:
        extra = made.more()
        extra.name = None if name is None else check_name(name)
        extra.structure = structure
    made.more().site = call_site(1)
    if not value.ndim:
        made.more().recipe = ("number", {"value": value.item()})
    return made.requires_grad_() if requires_grad else made  # type: ignore[no-any-return]


def _as_array(data: Any, dtype: Any) -> Any:
    if isinstance(data, Tensor):
        data = data._value
    if isinstance(data, (list, tuple)) and _holds_tensors(data):
        data = _strip(data)
    if dtype is None and not isinstance(data, (np.ndarray, np.generic)):
        if isinstance(data, (bool, int, float, complex)):
            dtype = dtypes.for_python_number(data)
        else:
            found = np.asarray(data)
            dtype = found.dtype
            if not found.size and found.dtype.kind == "f":
                dtype = dtypes.get_default_dtype()
            elif found.dtype.kind in "fc" and not _holds_numpy(data):
                dtype = dtypes.for_python_number(1.0 if found.dtype.kind == "f" else 1j)
    value = np.array(data, None if dtype is None else dtypes.as_dtype(dtype))
    if not dtypes.is_number(value.dtype):
        raise ArgumentError(
            f"tensor() takes numbers, got {type(data).__name__} of dtype {value.dtype}; rows must have equal lengths "
            "and hold numbers only."
        )
    return value[()] if not value.ndim else value


def _holds_numpy(data: Any) -> bool:
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return isinstance(data, (np.ndarray, np.generic))


def _holds_tensors(data: Any) -> bool:
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return isinstance(data, Tensor)


def _strip(data: Any) -> Any:
    return [_strip(d) for d in data] if isinstance(data, (list, tuple)) else data._value


def as_tensor(data: Any, dtype: Any = None) -> Tensor:
    """A tensor sharing memory with ``data`` where that is possible."""
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, np.ndarray) and (dtype is None or dtypes.as_dtype(dtype) == data.dtype):
        return _sharing(data)
    return tensor(data, dtype=dtype)


def from_numpy(array: Any) -> Tensor:
    """A tensor sharing the memory of a NumPy array."""
    if not isinstance(array, np.ndarray):
        raise ArgumentError(f"from_numpy() takes a NumPy array, not {type(array).__name__}.")
    return _sharing(array)


def _sharing(array: Any) -> Tensor:
    """A tensor in the memory of an array, with a version number of its own."""
    made = plain(Tensor, array)
    before = changes(array)
    if before:
        made.more().counted = -before
    return made  # type: ignore[no-any-return]


def from_dlpack(ext_tensor: Any) -> Tensor:
    """A tensor sharing the memory of another library's array or tensor (torch, JAX, CuPy on the CPU, NumPy …).

    Whatever has ``__dlpack__`` and ``__dlpack_device__`` will do.  What it refuses (torch: a tensor that requires grad)
    it refuses in its own words; a dtype that NumPy does not have is a ``BufferError``.

    >>> from_dlpack(np.array([1.0, 2.0]))
    tensor([1., 2.], dtype=float64)
    """
    if isinstance(ext_tensor, Tensor):
        return plain(Tensor, ext_tensor.detach()._array())  # type: ignore[no-any-return]
    if not hasattr(ext_tensor, "__dlpack__"):
        raise ArgumentError(f"from_dlpack() takes an object with __dlpack__, not {type(ext_tensor).__name__}.")
    try:
        array = np.from_dlpack(ext_tensor)
    except RuntimeError as error:
        raise BufferError(
            f"from_dlpack(): {error}  Cast it to a dtype that NumPy has (bfloat16: .float()) or move it to the CPU."
        ) from error
    return plain(Tensor, array)  # type: ignore[no-any-return]


def variable(data: Any, requires_grad: bool = False, volatile: Any = None, **options: Any) -> Tensor:
    """The legacy constructor: gives a tensor.  ``volatile`` has no effect and warns, as torch."""
    if volatile is not None:
        import warnings

        warnings.warn(
            "volatile was removed and now has no effect. Use `with no_grad():` instead", UserWarning, stacklevel=2
        )
    base = data if isinstance(data, Tensor) else tensor(data, **options)
    made = plain(Tensor, base._value)
    made.more().site = call_site(1)
    return made.requires_grad_() if requires_grad else made  # type: ignore[no-any-return]


def legacy_value(data: tuple[Any, ...]) -> Any:
    """The array behind ``Tensor(*data)``: data in the default dtype, or zeros of a shape."""
    if data and all(isinstance(d, int) for d in data):
        return np.zeros(data, dtypes.get_default_dtype())
    if len(data) > 1 or (data and not hasattr(data[0], "__len__")):
        raise ArgumentError(
            f"Tensor(): data must be a sequence (got {type(data[0]).__name__}); use tensor() for a number"
        )
    return np.array(_as_array(data[0] if data else [], None), dtypes.get_default_dtype())


def _filled(name: str, fill: Callable[[Any, Any], Any], doc: str, value: Any = None) -> Callable[..., Tensor]:
    def make(
        *size: Any,
        dtype: Any = None,
        requires_grad: bool = False,
        name: str | None = None,
        device: Any = None,
        _depth: int = 2,
    ) -> Tensor:
        shape = tuple(int(s) for s in size_args(size))
        array = fill(shape, dtypes.as_dtype(dtype or dtypes.get_default_dtype()))
        return _finish(array, requires_grad, name, _constant(array, value), _depth)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = doc
    return make


def _constant(array: Any, value: Any) -> Any:
    """How formulas make a constant array; None for values that are data."""
    return None if value is None else ("full", {"shape": array.shape, "value": value, "dtype": array.dtype.name})


def _finish(value: Any, requires_grad: bool, name: str | None, recipe: Any = None, depth: int = 2) -> Tensor:
    made = plain(Tensor, value if value.ndim else value[()])
    extra = made.more()
    extra.site = call_site(depth)
    extra.name = None if name is None else check_name(name)
    extra.recipe = recipe
    return made.requires_grad_() if requires_grad else made  # type: ignore[no-any-return]


zeros = _filled("zeros", np.zeros, "Zeros of a shape: ``zeros(2, 3)`` or ``zeros((2, 3))``.", 0)
ones = _filled("ones", np.ones, "Ones of a shape.", 1)
empty = _filled("empty", np.zeros, "Room for a shape (zeros, so that nothing is undefined).")
default_generator = Generator()
default_generator.seed()


def manual_seed(seed: int) -> Generator:
    """Seed the random functions; returns the generator.  The same seed gives torch's numbers.

    >>> _ = manual_seed(0)
    >>> rand(2)
    tensor([0.4963, 0.7682])
    """
    return default_generator.manual_seed(seed)


def generator() -> Generator:
    """The random generator behind ``rand`` and its kin."""
    if WATCH.count:
        note_problem("random numbers were drawn; draw them outside and pass them as an argument")
    return default_generator


SOURCE[0] = generator

randn = _filled("randn", lambda s, d: generator().normal(s, np.dtype(d)), "Standard normal samples.")
rand = _filled("rand", lambda s, d: generator().uniform(s, np.dtype(d)), "Uniform samples from [0, 1).")


def full(
    size: Any, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False, name: str | None = None
) -> Tensor:
    """One value everywhere."""
    shape = tuple(size) if isinstance(size, (tuple, list)) else (size,)
    array = np.full(shape, fill_value, dtypes.as_dtype(dtype or dtypes.for_python_number(fill_value)))
    return _finish(array, requires_grad, name, _constant(array, fill_value))


def arange(*ends: Any, dtype: Any = None, requires_grad: bool = False, name: str | None = None) -> Tensor:
    """Evenly spaced values: ``arange(stop)``, ``arange(start, stop, step)``."""
    if dtype is None:
        dtype = np.int64 if all(isinstance(e, (int, np.integer)) for e in ends) else dtypes.get_default_dtype()
    return _finish(np.arange(*ends).astype(dtypes.as_dtype(dtype)), requires_grad, name)


def linspace(
    start: Any, end: Any, steps: int, *, dtype: Any = None, requires_grad: bool = False, name: str | None = None
) -> Tensor:
    """``steps`` values from ``start`` to ``end``, both included."""
    value = np.linspace(start, end, steps).astype(dtypes.as_dtype(dtype or dtypes.get_default_dtype()))
    return _finish(value, requires_grad, name)


def eye(
    n: int, m: int | None = None, *, dtype: Any = None, requires_grad: bool = False, name: str | None = None
) -> Tensor:
    """The identity matrix."""
    array = np.eye(n, m, dtype=dtypes.as_dtype(dtype or dtypes.get_default_dtype()))
    recipe = ("eye", {"n": int(n), "dtype": array.dtype.name}) if m is None or m == n else None
    return _finish(array, requires_grad, name, recipe)


def _like(name: str, make: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def call(input: Any, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
        return make(*shape_of(input), dtype=dtype or input.dtype, requires_grad=requires_grad, _depth=3)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"``{make.__name__}`` of the shape and dtype of ``input``."
    return call


zeros_like = _like("zeros_like", zeros)
ones_like = _like("ones_like", ones)
randn_like = _like("randn_like", randn)
rand_like = _like("rand_like", rand)
empty_like = _like("empty_like", empty)


def full_like(input: Any, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """One value everywhere, in the shape and dtype of ``input``."""
    array = np.full(shape_of(input), fill_value, dtypes.as_dtype(dtype or input.dtype))
    return _finish(array, requires_grad, None, _constant(array, fill_value))
