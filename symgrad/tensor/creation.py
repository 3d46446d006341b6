"""Making tensors: from data, and from constants.

Ranges are made in :mod:`symgrad.tensor.ranges`, random numbers in :mod:`symgrad.random`, tensors in memory that is
there already in :mod:`symgrad.tensor.borrowed`.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, Unpack

import numpy as np

from symgrad import dtypes
from symgrad.devices import Options, accept, arranged, preserve_format
from symgrad.errors import ArgumentError, AutogradError, DtypeError, ShapeError
from symgrad.formula.structures import kept_structure
from symgrad.kernels import kept_order
from symgrad.notices import notice
from symgrad.op import as_size, known_as, shape_of
from symgrad.ops.indexing.places import fitted
from symgrad.ops.rules.constants import named_pi
from symgrad.ops.shapes.shaping import size_args
from symgrad.tape.formulas.constants import note_lengths
from symgrad.tape.formulas.names import check_name
from symgrad.tape.formulas.parts import sizes_of
from symgrad.tape.formulas.sizes import as_number
from symgrad.tape.forward.dualwrites import memory
from symgrad.tape.memory.outputs import into
from symgrad.tape.record import Recorded, call_site, plain
from symgrad.tape.watching.watch import WATCH, note_read
from symgrad.tensor import Tensor
from symgrad.tensor.facts import Shape, with_gradient

__all__ = [
    "e", "empty", "empty_like", "empty_permuted", "empty_strided", "eye", "full", "full_like", "inf", "nan",
    "newaxis", "ones", "ones_like", "pi", "scalar_tensor", "tensor", "zeros", "zeros_like",
]  # fmt: skip


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
    **options: Unpack[Options],
) -> Tensor:
    """A new leaf from numbers, nested lists, arrays or tensors; the data is copied.

    Python floats become the default dtype (float32, as torch); NumPy arrays keep theirs.  ``name`` is the symbol in
    formulas; without it the variable the result is assigned to gives the name.  ``structure`` states a property of a
    matrix ("symmetric") that formulas may use; ``ArgumentError`` where the values do not have it.

    >>> import symgrad as sg
    >>> sg.tensor([1.0, 2.0], requires_grad=True)
    tensor([1., 2.], requires_grad=True)
    """
    accept("tensor", options)
    if isinstance(data, Tensor):
        tell_of_copying("torch.tensor")
    value = value_of_data(data, dtype)
    made = plain(Tensor, value)
    if name is not None or structure is not None:
        extra = made.more()
        extra.name = None if name is None else check_name(name)
        extra.structure = None if structure is None else kept_structure(structure, value)
    made.more().site = call_site(1)
    if not value.size and isinstance(data, np.ndarray):
        made.more().strides = tuple(step // data.itemsize for step in data.strides)
    if not value.ndim:
        made.more().recipe = ("number", {"value": value.item()})
    return with_gradient(made)._require() if requires_grad else made  # type: ignore[no-any-return]


def tell_of_copying(name: str) -> None:
    """torch's warning of a constructor that is given a tensor."""
    notice(
        "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
        f"sourceTensor.detach().clone().requires_grad_(True), rather than {name}(sourceTensor)."
    )


def value_of_data(data: Any, dtype: Any) -> Any:
    """A new array, or NumPy scalar, of numbers, nested lists, arrays or tensors; by torch's rules without a dtype."""
    if isinstance(data, Tensor):
        data = _read(data)
    if isinstance(data, np.generic) and dtype is not None:
        data = dtypes.as_python_number(data)
    if data is None or isinstance(data, str) or getattr(getattr(data, "dtype", None), "kind", "") in tuple("OSU"):
        raise _no_array(data)
    if isinstance(data, (list, tuple)):
        found: set[Any] = set()
        try:
            data = _listed(data, found)
        except RecursionError:
            raise ArgumentError(f"too many dimensions '{type(data).__name__}': does it contain itself?") from None
        if dtype is None:
            dtype = functools.reduce(dtypes.result_type, found) if found else dtypes.get_default_dtype()
    elif isinstance(data, (bool, int, float, complex)) and not isinstance(data, np.generic):
        data = as_number(data)
        dtype = dtypes.for_python_number(data) if dtype is None else dtype
    elif hasattr(data, "__dlpack__") and not hasattr(data, "__array__"):
        data = np.from_dlpack(data)
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    try:
        value = np.array(data, wanted, order=kept_order(data))
    except OverflowError:
        value = dtypes.narrowed(data, dtypes.as_dtype(dtype))
    except (ValueError, TypeError) as error:
        raise _no_array(data) from error
    if not dtypes.is_number(value.dtype):
        raise _no_array(data)
    value = dtypes.in_native_order(value)
    return value[()] if not value.ndim else value


def _read(tensor: Any) -> Any:
    """The array under a tensor, whose values leave the tape: a program holds only where they are the same."""
    if WATCH.count and isinstance(tensor, Recorded):
        note_read(tensor, "tensor()")
    return memory(tensor)


def _no_array(data: Any) -> ArgumentError:
    """What is wrong with data that is no array of numbers: rows of several lengths, in torch's words, or no numbers."""
    axis = 0
    while isinstance(data, (list, tuple)) and data:
        lengths = [len(row) if isinstance(row, (list, tuple)) else 0 for row in data]
        axis += 1
        for n in lengths:
            if n != lengths[0]:
                return ArgumentError(
                    f"expected sequence of length {lengths[0]} at dim {axis} (got {n}): rows must have equal lengths"
                )
        strange = [x for x in data if not isinstance(x, (list, tuple, int, float, complex, np.generic, np.ndarray))]
        data = strange[0] if strange else data[0]
    if isinstance(data, str):
        return ArgumentError(f"new(): invalid data type 'str' ({data!r:.40}); tensor() takes numbers and lists of them")
    return ArgumentError(
        f"Could not infer dtype of {type(data).__name__} ({data!r:.40}); tensor() takes numbers and lists of them"
    )


def _listed(data: Sequence[Any], found: set[Any]) -> Sequence[Any]:
    """A nested list without tensors in it; ``found`` gets the dtypes of all that stands in it."""
    kinds = set(map(type, data))
    if kinds <= _PYTHON:
        found.update(dtypes.for_python_number(kind(0)) for kind in kinds)
        return data
    rows = []
    for item in data:
        if isinstance(item, (list, tuple)):
            item = _listed(item, found)
        elif isinstance(item, Tensor):
            item = _read(item)
            found.add(item.dtype)
        else:
            item = as_number(item)
            plain_number = isinstance(item, (bool, int, float, complex)) and not isinstance(item, np.generic)
            dtype = dtypes.for_python_number(item) if plain_number else np.asarray(item).dtype
            if not dtypes.is_number(dtype):
                raise _no_array(item)
            found.add(dtype)
            item = dtypes.as_python_number(item) if isinstance(item, np.generic) else item
        rows.append(item)
    return rows


_PYTHON = {bool, int, float, complex}


def scalar_tensor(s: Any, *, dtype: Any = None, requires_grad: bool = False, **options: Unpack[Options]) -> Tensor:
    """A 0-d tensor of a number, in the default dtype.

    >>> import symgrad as sg
    >>> sg.scalar_tensor(2)
    tensor(2.)
    """
    return tensor(s, dtype=dtype or dtypes.get_default_dtype(), requires_grad=requires_grad, **options)


def variable(data: Any, requires_grad: bool = False, volatile: Any = None, **options: Any) -> Tensor:
    """The legacy constructor: gives a tensor.  ``volatile`` has no effect and warns, as torch."""
    if volatile is not None:
        import warnings

        warnings.warn(
            "volatile was removed and now has no effect. Use `with no_grad():` instead", UserWarning, stacklevel=2
        )
    base = data if isinstance(data, Tensor) else tensor(data, **options)
    made = plain(Tensor, memory(base))
    made.more().site = call_site(1)
    return with_gradient(made)._require() if requires_grad else made  # type: ignore[no-any-return]


def legacy_value(data: tuple[Any, ...], dtype: Any = None) -> Any:
    """The array behind ``Tensor(*data)``: data in the dtype, the default one, or zeros of a shape."""
    dtype = dtypes.get_default_dtype() if dtype is None else dtypes.as_dtype(dtype)
    if len(data) == 1 and isinstance(data[0], Shape):
        return np.zeros(data[0], dtype)
    if data and all(isinstance(d, int) for d in data):
        return np.zeros(data, dtype)
    if len(data) > 1 or (data and not hasattr(data[0], "__len__")):
        raise ArgumentError(
            f"Tensor(): data must be a sequence (got {type(data[0]).__name__}); use tensor() for a number"
        )
    return np.array(value_of_data(data[0] if data else [], dtype), dtype)


def legacy(data: tuple[Any, ...], dtype: Any) -> Tensor:
    """``Tensor(*data)`` in another dtype, in which the data are read: no digit is lost in between."""
    made: Tensor = plain(Tensor, legacy_value(data, dtype))
    made.more().site = call_site(2)
    return made


def whole_sizes(size: tuple[Any, ...]) -> tuple[int, ...]:
    """The sizes of a tensor to make; raises torch's errors for others than numbers from 0 on."""
    shape = tuple(as_size(s) if isinstance(s, int) else operator.index(s) for s in size_args(size))
    for s in shape:
        if s < 0:
            raise ShapeError(f"Trying to create tensor with negative dimension {s}: {list(shape)}")
    return shape


def filled(name: str, fill: Callable[[Any, Any], Any], doc: str, value: Any = None) -> Callable[..., Tensor]:
    """A factory of tensors of a given size: ``fill(shape, dtype)`` makes the array."""

    def make(
        *size: Any,
        dtype: Any = None,
        requires_grad: bool = False,
        name: str | None = None,
        _depth: int = 2,
        **options: Any,
    ) -> Tensor:
        shape = whole_sizes((options.pop("size"),) if "size" in options else size)
        array = fill(shape, made_in(dtype, options))
        recipe = _constant(array, value, shape)
        return finished(called, array, requires_grad, name, options, recipe, _depth, dtype is None, shape)

    called = make.__name__ = make.__qualname__ = name
    make.__doc__ = doc
    return make


def made_in(dtype: Any, options: Options | dict[str, Any], default: Any = None) -> Any:
    """The dtype of what is made: the one asked for, that of ``out=``, or the default one.

    Raises ``DtypeError`` in torch's words where the first two differ.
    """
    out = options.get("out")
    kind = dtypes.as_dtype(dtype) if dtype is not None else out.dtype if out is not None else None
    if kind is None:
        return dtypes.as_dtype(default or dtypes.get_default_dtype())
    if out is not None and kind != out.dtype:
        raise DtypeError(
            f"dtype {dtypes.torch_name(kind)} does not match dtype of out parameter ({dtypes.torch_name(out.dtype)})"
        )
    return kind


def _constant(array: Any, value: Any, shape: tuple[int, ...]) -> Any:
    """How formulas make a constant array of these sizes; None for values that are data."""
    if value.__class__ is int and value < 0 and array.dtype.kind == "u":
        value += 1 << 8 * array.dtype.itemsize
    return None if value is None else ("full", {"shape": shape, "value": value, "dtype": dtypes.name_of(array.dtype)})


_IN_ITS_SHAPE = ("arange", "linspace", "logspace", "range")
"""Functions that write their row into an ``out=`` of as many entries as that lies, whatever its shape."""


def finished(
    factory: str,
    value: Any,
    requires_grad: bool,
    name: str | None,
    options: Any,
    recipe: Any = None,
    depth: int = 2,
    undetermined: bool = False,
    sized: Sequence[Any] = (),
) -> Tensor:
    """The array that a factory made as a tensor where, and as what, the caller wants it; ``sized`` by these sizes."""
    accept(factory, options)
    out = options.get("out")
    if out is not None:  # and numbers are made in its dtype, whatever it is
        value = value.astype(out.dtype)
        if factory in _IN_ITS_SHAPE and memory(out).size == value.size:
            value = value.reshape(memory(out).shape)
    value = arranged(value, options.get("memory_format"))
    made = plain(Tensor, value if value.ndim else value[()])
    if out is not None:
        had = memory(out).size
        if factory == "arange" and had not in (0, value.size):
            notice(
                f"The number of elements in the out tensor of shape {list(out.shape)} is {had} which does not match "
                f"the computed number of elements {value.size}. Note that this may occur as a result of rounding "
                f"error. The out tensor will be resized to a tensor of shape ({value.size},)."
            )
        return into(out, factory, lambda: made, (), {}, told=False)  # type: ignore[no-any-return]
    extra = made.more()
    if recipe is None or requires_grad or not WATCH.count:  # in a run that is watched, what makes it says more
        extra.site = call_site(depth)
    extra.name = None if name is None else check_name(name)
    extra.recipe = recipe
    note_lengths(made, sized)
    extra.undetermined = undetermined and recipe is not None
    return with_gradient(made)._require() if requires_grad else made  # type: ignore[no-any-return]


zeros = filled("zeros", np.zeros, "Zeros of a shape: ``zeros(2, 3)`` or ``zeros((2, 3))``.", 0)
ones = filled("ones", np.ones, "Ones of a shape.", 1)
empty = filled("empty", np.zeros, "Room for a shape (zeros, so that nothing is undefined).")


def _number(factory: str, value: Any) -> Any:
    """A value to fill with: a Python number, or that of a tensor."""
    if isinstance(value, np.generic):
        return dtypes.as_python_number(value)
    if isinstance(value, Recorded):
        if value._requires_grad and not WATCH.count:
            raise TypeError(
                f"{factory}(): argument 'fill_value' (position 2) must be Number, not Tensor: it requires grad, and "
                "its gradient would be lost. Use value.expand(size), or value.item() where none is wanted."
            )
        value = _read(value)
    if not hasattr(value, "dtype") and not isinstance(value, (int, float, complex)):
        raise TypeError(f"{factory}(): argument 'fill_value' (position 2) must be Number, not {type(value).__name__}")
    return as_number(value)


def _full(shape: Any, value: Any, dtype: Any) -> Any:
    if isinstance(value, (int, float, complex)):
        value = fitted(value, dtype)
    if dtype.kind in "ui" and isinstance(value, int):
        value = dtypes.narrowed(value, dtype)
    return np.full(shape, value, dtype)


def full(
    size: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
    name: str | None = None,
    **options: Unpack[Options],
) -> Tensor:
    """One value everywhere.

    >>> import symgrad as sg
    >>> sg.full((2,), 0.5)
    tensor([0.5000, 0.5000])
    """
    shape = whole_sizes((size,))
    fill_value = _number("full", fill_value)
    kind = fill_value.dtype if hasattr(fill_value, "dtype") else dtypes.for_python_number(fill_value)
    array = _full(shape, fill_value, made_in(dtype, options, kind))
    return finished(
        "full", array, requires_grad, name, options, _constant(array, fill_value, shape), 2, dtype is None, shape
    )


def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
    name: str | None = None,
    **options: Unpack[Options],
) -> Tensor:
    """The identity matrix.

    >>> import symgrad as sg
    >>> sg.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    for letter, count in (("n", n), ("m", n if m is None else m)):
        if count < 0:
            raise ShapeError(f"{letter} must be greater or equal to 0, got {count}")
    array = np.eye(n, m, dtype=made_in(dtype, options))
    recipe = ("eye", {"n": as_size(n), "dtype": array.dtype.name}) if m is None or m == n else None
    return finished("eye", array, requires_grad, name, options, recipe, 2, dtype is None, (n, m))


def empty_strided(
    size: Any, stride: Any, *, dtype: Any = None, requires_grad: bool = False, **options: Unpack[Options]
) -> Tensor:
    """Room for a shape with the given strides, counted in entries (zeros, so that nothing is undefined).

    >>> import symgrad as sg
    >>> sg.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    if len(size) != len(stride):
        raise ArgumentError(
            f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})"
        )
    size, kind = whole_sizes((size,)), made_in(dtype, options)
    if any(step < 0 for step in stride):
        raise AutogradError(
            f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}: strides are not "
            "negative"
        )
    span = 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    memory = np.zeros(span if all(size) else 0, kind)
    array = np.lib.stride_tricks.as_strided(memory, size, tuple(step * kind.itemsize for step in stride))
    return finished("empty_strided", array, requires_grad, None, options)


def empty_permuted(
    size: Any, physical_layout: Any, *, dtype: Any = None, requires_grad: bool = False, **options: Unpack[Options]
) -> Tensor:
    """Room for a shape whose axes lie in memory in the given order, the outermost first.

    >>> import symgrad as sg
    >>> sg.empty_permuted((2, 3), (1, 0)).stride()
    (1, 2)
    """
    if len(physical_layout) != len(size):
        raise ShapeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. "
            f"len(size) = {len(size)} is not equal to len(physical_layout) = {len(physical_layout)}"
        )
    for k, axis in enumerate(physical_layout):
        if not 0 <= axis < len(size):
            raise ShapeError(
                f"Dimension out of range (expected to be between 0 and {len(size) - 1}, but got {axis} at index {k})"
            )
    if len(set(physical_layout)) < len(physical_layout):
        raise ShapeError("Duplicate dim not allowed")
    stride, step = [0] * len(size), 1
    for axis in reversed(physical_layout):
        stride[axis] = step
        step *= max(size[axis], 1)
    return empty_strided(size, stride, dtype=dtype, requires_grad=requires_grad, **options)


def model_of(input: Any, options: Options | dict[str, Any]) -> Any:
    """Whose layout a new tensor takes over: that of ``input``, unless a ``memory_format`` has it lie row by row."""
    return input if options.get("memory_format") in (None, preserve_format) else None


def laid_like(array: Any, input: Any) -> Any:
    """``array`` in the layout of a tensor of the same shape, where that is dense and not row by row."""
    value = getattr(input, "_value", None)
    if not isinstance(value, np.ndarray) or value.flags.c_contiguous or kept_order(value) == "C":
        return array
    laid = np.empty_like(value, array.dtype)
    laid[...] = array
    return laid


def like(name: str, make: Callable[..., Tensor], *, told: bool = False) -> Callable[..., Tensor]:
    """The factory ``make`` with the shape and dtype of a tensor, which it is ``told`` if it asks how that lies."""

    def call(input: Any, *, dtype: Any = None, requires_grad: bool = False, **options: Any) -> Tensor:
        kind = dtype or input.dtype
        model = model_of(input, options)
        if told:
            options["_like"] = model
        made = make(*sizes_of(input), dtype=kind, requires_grad=requires_grad, _depth=3, **options)
        made._value = laid_like(made._value, model)
        return made

    return known_as(call, name, f"``{make.__name__}`` of the shape and dtype of ``input``.")


zeros_like = like("zeros_like", zeros)
ones_like = like("ones_like", ones)
empty_like = like("empty_like", empty)


def full_like(
    input: Any, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False, **options: Unpack[Options]
) -> Tensor:
    """One value everywhere, in the shape and dtype of ``input``.

    >>> import symgrad as sg
    >>> sg.full_like(sg.ones(2), 7)
    tensor([7., 7.])
    """
    fill_value = _number("full_like", fill_value)
    array = laid_like(
        _full(shape_of(input), fill_value, dtypes.as_dtype(dtype or input.dtype)), model_of(input, options)
    )
    return finished("full_like", array, requires_grad, None, options, _constant(array, fill_value, sizes_of(input)))
