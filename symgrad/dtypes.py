"""dtypes and promotion: torch's rules on NumPy's dtypes.

Python numbers are weak: they never widen a floating dtype, and next to integers a Python float gives the default
dtype.  A 0-d tensor does not widen a tensor with dimensions of the same kind (torch's category rule).

NumPy has no bfloat16; the package ml_dtypes gives it one, which is loaded when bfloat16 is first named.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from symgrad.errors import DtypeError, NumberTooLarge

float16 = np.dtype(np.float16)
float32 = np.dtype(np.float32)
float64 = np.dtype(np.float64)
complex64 = np.dtype(np.complex64)
complex128 = np.dtype(np.complex128)
int8 = np.dtype(np.int8)
int16 = np.dtype(np.int16)
int32 = np.dtype(np.int32)
int64 = np.dtype(np.int64)
uint8 = np.dtype(np.uint8)
uint16 = np.dtype(np.uint16)
uint32 = np.dtype(np.uint32)
uint64 = np.dtype(np.uint64)
bool_ = np.dtype(np.bool_)

half, double = float16, float64
cfloat, cdouble = complex64, complex128
short, long = int16, int64

_default = float32

_OF_CALL: ContextVar[np.dtype[Any] | None] = ContextVar("the default dtype inside of one call", default=None)

TYPE_NAMES = {
    "float16": "Half", "bfloat16": "BFloat16", "float32": "Float", "float64": "Double", "complex64": "ComplexFloat",
    "complex128": "ComplexDouble", "int64": "Long", "int32": "Int", "int16": "Short", "int8": "Char", "uint8": "Byte",
    "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64", "bool": "Bool",
}  # fmt: skip
"""What torch's messages call a dtype, by its name here; with "Tensor" torch's old name of the tensor type."""


def torch_name(dtype: np.dtype[Any]) -> str:
    """What torch's messages call a dtype.

    >>> torch_name(int64)
    'Long'
    """
    return TYPE_NAMES.get(dtype.name, dtype.name)


_C_NAMES = {
    "bool": "bool", "int8": "signed char", "uint8": "unsigned char", "int16": "short int", "int32": "int",
    "uint16": "short unsigned int", "uint32": "unsigned int", "uint64": "long unsigned int",
    "int64": "long int", "float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float",
    "float64": "double", "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip
"""What torch calls a dtype where it names the one of C++."""


def c_name(dtype: np.dtype[Any]) -> str:
    """What torch's messages call a dtype where they name the one of C++.

    >>> c_name(int64)
    'long int'
    """
    return _C_NAMES.get(dtype.name, dtype.name)


_KIND_ORDER = {"b": 0, "u": 1, "i": 1, "f": 2, "V": 2, "c": 3}
"""NumPy files bfloat16, which is not its own, under "V"; no other dtype of that kind becomes a tensor."""

_FIRST_FOREIGN = 256
"""``dtype.num`` from here on is of dtypes that are not NumPy's own."""

NARROW = "eE"
"""``dtype.char`` of float16 and bfloat16, whose arithmetic is done in float32 and rounded once, as in torch."""

SINGLE = "fF"
"""``dtype.char`` of float32 and complex64."""


def load_bfloat16() -> np.dtype[Any]:
    """The dtype bfloat16.  ``DtypeError`` names the extra to install where ml_dtypes is absent."""
    try:
        import ml_dtypes
    except ImportError:
        raise DtypeError(
            "bfloat16 needs the package ml_dtypes, which is not installed: pip install 'symgrad[bfloat16]'."
        ) from None
    found: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return found


@functools.cache
def name_of(dtype: np.dtype[Any]) -> str:
    """NumPy's name of a dtype, which NumPy makes anew whenever it is asked for."""
    return dtype.name


def as_dtype(dtype: Any) -> np.dtype[Any]:
    """A dtype from whatever names one: a NumPy or torch dtype, a class, a Python type, or text, also ``"bfloat16"``.

    Raises ``DtypeError`` for what names none, and for NumPy's dtypes that are no numbers, such as those of texts.

    >>> as_dtype("float16"), as_dtype(int)
    (dtype('float16'), dtype('int64'))
    """
    if type(dtype).__module__ == "torch":
        dtype = str(dtype).removeprefix("torch.")
    if isinstance(dtype, str) and dtype == "bfloat16":
        return load_bfloat16()
    try:
        found: np.dtype[Any] | None = np.dtype(dtype)
    except TypeError:
        found = None
    if found is None or not is_number(found):
        import difflib  # takes a while, and nobody else needs it

        near = difflib.get_close_matches(dtype, _SPELLED, n=1) if isinstance(dtype, str) else ()
        hint = f" Did you mean {near[0]!r}?" if near else " Give one such as symgrad.float64 or 'float64'."
        raise DtypeError(f"{dtype!r:.60} is no dtype of numbers.{hint}")
    return found


_SPELLED = (
    *("float16", "float32", "float64", "bfloat16", "complex64", "complex128", "bool"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)


def is_bfloat16(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype is bfloat16, asked without loading the package that defines it."""
    module = sys.modules.get("ml_dtypes") if dtype.kind == "V" else None
    return module is not None and dtype.type is module.bfloat16


def is_number(dtype: np.dtype[Any]) -> bool:
    """Whether tensors may have this dtype; NumPy's longdouble is no dtype of theirs."""
    return (dtype.kind in "biufc" and dtype.num < _FIRST_FOREIGN and dtype.char not in "gG") or is_bfloat16(dtype)


def is_narrow(dtype: Any) -> bool:
    """Whether a dtype is float16 or bfloat16; None, the dtype of a weak constant, is neither."""
    return dtype is not None and dtype.char in NARROW


def widened(value: Any) -> Any:
    """A float16 or bfloat16 array or scalar in float32; anything else as it is."""
    if not is_narrow(getattr(value, "dtype", None)):
        return value
    if value.dtype.char == "e" and value.size >= _MANY and value.flags.c_contiguous:
        return _every_half().take(value.view(np.uint16))
    return value.astype(float32)


def rounded_to(value: Any, dtype: np.dtype[Any]) -> Any:
    """A float32 array or scalar in a narrower dtype, rounded to the nearest."""
    many = dtype.char == "e" and getattr(value, "size", 0) >= _MANY and value.dtype == float32
    if not many or not value.flags.c_contiguous:
        return value.astype(dtype)
    out, flat = np.empty(value.shape, np.float16), value.reshape(-1)
    bits = out.reshape(-1).view(np.uint16)
    for start in range(0, flat.size, BLOCK):
        bits[start : start + BLOCK] = _halves_of(flat[start : start + BLOCK])
    return out


_MANY = 1000
"""Entries from which on NumPy's own conversions of float16 are slower, by far if results are small or infinite."""
BLOCK = 1 << 14
"""Entries that are converted at a time: what is made on the way stays in the processor's cache."""


@functools.cache
def _every_half() -> Any:
    """All numbers of float16 in float32, by their bits."""
    return np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)


def _choose(out: Any, other: Any, where: Any) -> None:
    """Write ``other`` into ``out`` at some entries, without branches; ``other`` is lost."""
    other ^= out
    other *= where
    out ^= other


def _halves_of(x: Any) -> Any:
    """The bits of the float16 numbers nearest to those of float32, ties to even: exponents are 112 less."""
    bits = x.view(np.uint32)
    size = bits & np.uint32(0x7FFFFFFF)
    out = size >> np.uint32(13)
    out &= np.uint32(1)
    out += size
    out += np.uint32(0xC8000FFF)
    out >>= np.uint32(13)
    small = size < np.uint32(113 << 23)
    if small.any():  # below 2^-14: the sum with 1/2 has the digits where float16 has them
        shifted = (size.view(np.float32) + np.float32(0.5)).view(np.uint32)
        shifted -= np.uint32(0x3F000000)
        _choose(out, shifted, small)
    large = size >= np.uint32(143 << 23)
    if large.any():
        beyond = (size > np.uint32(255 << 23)) * np.uint32(0x0200)
        beyond += np.uint32(0x7C00)
        _choose(out, beyond, large)
    bits = bits >> np.uint32(16)
    bits &= np.uint32(0x8000)
    out |= bits
    return out


class finfo:  # noqa: N801  (torch's name)
    """The limits of a floating dtype, as Python numbers; those of its parts for a complex one.

    >>> import symgrad as sg
    >>> sg.finfo(sg.float32).eps, sg.finfo("float16").max
    (1.1920928955078125e-07, 65504.0)
    """

    __slots__ = ("bits", "dtype", "eps", "max", "min", "nmant", "resolution", "smallest_normal", "tiny")

    def __init__(self, dtype: Any = None):
        """Of the default dtype, unless told otherwise."""
        dtype = get_default_dtype() if dtype is None else as_dtype(dtype)
        limits: Any
        if is_bfloat16(dtype):
            import ml_dtypes

            limits = ml_dtypes.finfo(dtype)
        else:
            if dtype.kind not in "fc":
                raise TypeError(
                    "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
                )
            limits = np.finfo(dtype)
        self.dtype = str(limits.dtype)
        self.bits, self.nmant = int(limits.bits), int(limits.nmant)
        self.eps, self.max, self.min = float(limits.eps), float(limits.max), float(limits.min)
        self.smallest_normal = self.tiny = float(limits.smallest_normal)
        self.resolution = float(f"1e-{limits.precision}")

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        return f"finfo({', '.join(f'{name}={getattr(self, name):g}' for name in names)}, dtype={self.dtype})"


class iinfo:  # noqa: N801  (torch's name)
    """The limits of an integer dtype.

    >>> import numpy as np
    >>> import symgrad as sg
    >>> sg.iinfo(np.int8).max
    127
    """

    __slots__ = ("bits", "dtype", "max", "min")

    def __init__(self, dtype: Any):
        of = as_dtype(dtype)
        if of.kind not in "iu":
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.finfo'")
        limits = np.iinfo(of)
        self.dtype, self.bits, self.max, self.min = of.name, limits.bits, int(limits.max), int(limits.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


def type_name(dtype: np.dtype[Any]) -> str:
    """torch's old name for tensors of a dtype, as ``t.type()`` gives it.

    >>> type_name(float32)
    'torch.FloatTensor'
    """
    return f"torch.{TYPE_NAMES[dtype.name]}Tensor" if dtype.name in TYPE_NAMES else str(dtype)


def from_type_name(kind: Any) -> np.dtype[Any]:
    """The dtype of ``"torch.FloatTensor"`` or of the constructor ``FloatTensor``, or whatever else names a dtype."""
    name = (kind if isinstance(kind, str) else getattr(kind, "__name__", "")).removeprefix("torch.")
    found = next((dtype for dtype, old in TYPE_NAMES.items() if f"{old}Tensor" == name), None)
    return as_dtype(found or (name if isinstance(kind, str) else kind))


def get_default_dtype() -> np.dtype[Any]:
    """The dtype given to Python floats; ``float32`` unless changed, as in torch.

    >>> import symgrad as sg
    >>> sg.get_default_dtype()
    dtype('float32')
    """
    inside = _OF_CALL.get()
    return _default if inside is None else inside


@contextmanager
def default_dtype(dtype: np.dtype[Any]) -> Iterator[None]:
    """Inside, Python floats have this dtype, in this thread alone."""
    before = _OF_CALL.set(dtype)
    try:
        yield
    finally:
        _OF_CALL.reset(before)


def set_default_dtype(dtype: Any) -> None:
    """Set the dtype given to Python floats (a floating dtype; anything else is a ``DtypeError``).

    >>> import symgrad as sg
    >>> sg.set_default_dtype(sg.float64)
    >>> sg.tensor(1.0).dtype
    dtype('float64')
    >>> sg.set_default_dtype(sg.float32)
    """
    global _default
    new = as_dtype(dtype)
    if not is_real_floating(new):
        raise DtypeError(f"set_default_dtype() needs a floating dtype, got {new}; use float32 or float64.")
    _default = new
    _OF_CALL.set(None)  # whoever says it inside of a call means what follows


def is_floating(dtype: np.dtype[Any]) -> bool:
    """True for real and complex floating dtypes, the ones that can require grad."""
    return dtype.kind in "fVc"


def real_part(dtype: np.dtype[Any], *_: Any, **__: Any) -> np.dtype[Any]:
    """The dtype of the absolute values of numbers of a dtype."""
    return np.zeros((), dtype).real.dtype


def in_native_order(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array with its bytes as this machine has them, which files of other ones have not.

    >>> in_native_order(np.ones(2, ">f8")).dtype.isnative
    True
    """
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def is_real_floating(dtype: np.dtype[Any]) -> bool:
    """True for real floating dtypes."""
    return dtype.kind in "fV"


def kind_order(dtype: np.dtype[Any]) -> int:
    """bool 0, integers 1, floats 2, complex 3."""
    return _KIND_ORDER[dtype.kind]


def for_python_number(value: complex | float | bool) -> np.dtype[Any]:
    """The dtype ``tensor(value)`` gets.

    >>> for_python_number(1), for_python_number(1.0), for_python_number(True)
    (dtype('int64'), dtype('float32'), dtype('bool'))
    """
    if isinstance(value, bool):
        return bool_
    if isinstance(value, int):
        return int64
    default = get_default_dtype()
    if isinstance(value, float):
        return default
    return complex128 if default == float64 else complex64


def as_python_number(scalar: Any) -> complex | float | int:
    """The Python number that a NumPy scalar counts as beside tensors, as in torch, which takes bools for floats here.

    >>> as_python_number(np.float64(2.5)), as_python_number(np.uint8(3)), as_python_number(np.bool_(True))
    (2.5, 3, 1.0)
    """
    kind = scalar.dtype.kind
    return int(scalar) if kind in "iu" else complex(scalar) if kind == "c" else float(scalar)


def weak_with(value: complex | float | bool, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of an operation between an array of ``dtype`` and a Python number."""
    if value.__class__ is float and dtype.kind == "f":
        return dtype
    number = for_python_number(value)
    if kind_order(number) <= kind_order(dtype):
        return dtype
    if number.kind == "c" and is_real_floating(dtype):
        return complex128 if dtype == float64 else complex64
    return number


def narrowed(values: Any, dtype: np.dtype[Any]) -> Any:
    """Python integers in an integer dtype, where unsigned ones count negative numbers from their end, as torch's.

    Raises torch's error for numbers that the dtype does not have.

    >>> narrowed(-5, np.dtype(np.uint8))
    array(251, dtype=uint8)
    """
    wide, ends = np.asarray(values), np.iinfo(dtype)
    least = -ends.max if dtype.kind == "u" else ends.min
    if wide.dtype.kind == "O":
        raise NumberTooLarge(f"Overflow when unpacking long long: {values!r:.60} has more than 64 bits")
    if not (wide.min(initial=0) >= least and wide.max(initial=0) <= ends.max):  # nor nan
        raise DtypeError(f"value cannot be converted to type {dtype} without overflow: it has {ends.min} to {ends.max}")
    return wide.astype(dtype)


def wrapped(values: Any) -> list[Any]:
    """Operands whose Python integers, too large for the arrays beside them, are taken modulo their range, as in C."""
    found = [x.dtype for x in values if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "ui"]
    if not found:
        return list(values)
    return [np.asarray(x).astype(found[0])[()] if x.__class__ is int else x for x in values]


def promote(a: Any, b: Any) -> np.dtype[Any]:
    """The dtype of an operation between two arrays (or NumPy scalars), by torch's category rule."""
    da, db = a.dtype, b.dtype
    if da is db or da == db:
        return da  # type: ignore[no-any-return]
    if (a.ndim == 0) != (b.ndim == 0):
        return _beside(db, da) if a.ndim == 0 else _beside(da, db)
    return result_type(da, db)


def _beside(large: np.dtype[Any], small: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of arrays with axes, of ``large``, beside such without, of ``small``."""
    if kind_order(small) <= kind_order(large):
        return large
    if small.kind == "c" and is_real_floating(large):
        return complex128 if large == float64 else complex64
    return small


def shared(operands: Sequence[Any]) -> np.dtype[Any]:
    """The dtype of an operation of arrays: those with axes, and those without, agree among themselves first.

    >>> shared([np.ones(2, np.bool_), np.float64(1.0), np.ones(2, np.float32)])
    dtype('float32')
    """
    if len(operands) == 2:
        return promote(*operands)
    large, small = ([x.dtype for x in operands if bool(x.ndim) is axes] for axes in (True, False))
    common = [functools.reduce(result_type, kinds) for kinds in (large, small) if kinds]
    return _beside(*common) if len(common) == 2 else common[0]


def result_type(da: np.dtype[Any], db: np.dtype[Any]) -> np.dtype[Any]:
    """Promotion of two dtypes: torch's table, where an integer never widens a float.

    >>> result_type(int64, float32)
    dtype('float32')
    """
    if da is db or da == db:
        return da
    oa, ob = kind_order(da), kind_order(db)
    if oa != ob and max(oa, ob) >= 2:
        low, high = (da, db) if oa < ob else (db, da)
        if low.kind in "bui":
            return high
    if da.char in NARROW and db.char in NARROW:
        return float32
    return np.promote_types(da, db)
