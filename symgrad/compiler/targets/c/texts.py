"""Names, numbers, types and brackets of C99."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.compiler.targets.c.library import LIBRARY
from symgrad.compiler.targets.forms import identifier
from symgrad.errors import CompileError

TYPES = {
    "float64": "double",
    "float32": "float",
    "complex128": "double complex",
    "complex64": "float complex",
    "bool": "bool",
    **{f"{kind}{bits}": f"{kind}{bits}_t" for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
}
"""What NumPy's dtypes are called."""

_MATH_WORDS = (
    "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p sqrt cbrt "
    "hypot pow fabs floor ceil trunc rint fmod copysign nextafter erf erfc lgamma tgamma fmax fmin"
)
MATH = frozenset(_MATH_WORDS.split())
"""Functions of <math.h>, whose names end in f for single precision."""

_TAKEN_WORDS = (
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool true "
    "false main status done held s malloc free calloc NULL INFINITY NAN abs div exit printf gamma y0 y1 yn j0 j1 jn "
    "signbit isnan isinf isfinite remainder round frexp ldexp modf scalbn logb ilogb nearbyint fdim fma complex I "
    "imaginary conj creal cimag carg cabs cexp clog csqrt cpow cproj csin ccos ctan casin cacos catan csinh ccosh "
    "ctanh casinh cacosh catanh"
)
_TAKEN = frozenset((*_TAKEN_WORDS.split(), *LIBRARY))
_OURS = re.compile(r"[ikt]\d+|out\d*|.*_t")


def c_name(name: str, taken: set[str]) -> str:
    """A name as an identifier of C that means nothing else there; it joins those that are ``taken``.

    >>> c_name("double", set()), c_name("θ", set()), c_name("A", set())
    ('double_', 'u03b8', 'A')
    """
    return identifier(name, taken, lambda word: is_taken(word) or _OURS.fullmatch(word))


def is_taken(word: str) -> bool:
    """Whether a word is one of C's, of its headers, or of the library."""
    return word in _TAKEN or word in MATH


def type_of(dtype: Any, what: str) -> str:
    """The type of C for a dtype; ``CompileError`` where there is none."""
    found = TYPES.get(np.dtype(dtype).name)
    if found is None:
        raise CompileError(
            f"{what} has dtype {np.dtype(dtype)}, which C programs do not have: they have {', '.join(TYPES)}. Save the "
            "program as a Python file, or compile it for another dtype."
        )
    return found


def literal(value: Any, kind: str) -> str:
    """A number as a constant of the type ``kind``, to the last bit; a complex one may call ``complexed``.

    >>> literal(1 / 3, "double"), literal(2, "float"), literal(-1, "int64_t"), literal(float("inf"), "double")
    ('0.3333333333333333', '2.0f', '-1', 'INFINITY')
    >>> literal(1, "double complex"), literal(1 - 2j, "double complex")
    ('1.0', 'complexed(1.0, -2.0)')
    """
    if kind == "bool":
        return "true" if value else "false"
    if is_complex(kind):
        number = complex(math.pi if isinstance(value, str) else value)
        parts = literal(number.real, "double"), literal(number.imag, "double")
        return f"complexed({parts[0]}, {parts[1]})" if isinstance(value, complex) else parts[0]
    if isinstance(value, complex):
        raise CompileError(
            f"the number {value} is complex where the program needs a {kind}; cast what it stands beside."
        )
    if kind not in ("double", "float"):
        return str(int(value)) if value != -(2**63) else "INT64_MIN"
    number = math.pi if isinstance(value, str) else float(value)
    if kind == "float":
        number = float(np.float32(number))
    if not math.isfinite(number):
        return "NAN" if math.isnan(number) else "INFINITY" if number > 0 else "-INFINITY"
    short = repr(number) if kind == "double" else repr(float(str(np.float32(number))))
    return short + "f" * (kind == "float")


def constant(value: Any, kind: str) -> str:
    """A number in an array that is data of the file.

    >>> constant(1 - 2j, "double complex"), constant(0.5, "double")
    ('1.0 - 2.0 * I', '0.5')
    """
    if not is_complex(kind):
        return literal(value, kind)
    number = complex(value)
    if not math.isfinite(number.real) or not math.isfinite(number.imag):
        raise CompileError("a complex array with entries that are not finite is no data of C; give it as an argument.")
    real, imaginary = (literal(part, "double") for part in (number.real, abs(number.imag)))
    return f"{real} {'-' if math.copysign(1, number.imag) < 0 else '+'} {imaginary} * I"


def is_complex(kind: str) -> bool:
    """Whether a type of C is one of complex numbers."""
    return kind.endswith("complex")


def is_whole(kind: str) -> bool:
    """Whether a type of C is one of whole numbers of so many bits."""
    return kind.endswith("_t") and kind != "ptrdiff_t"


def wide(kind: str) -> str:
    """The type in which entries of a type are added up: whole numbers go round there as NumPy's do.

    >>> wide("float"), wide("int8_t"), wide("float complex"), wide("bool")
    ('double', 'uint64_t', 'double complex', 'bool')
    """
    if is_complex(kind):
        return "double complex"
    return "double" if kind == "float" else "uint64_t" if is_whole(kind) else kind


def closed(text: str) -> str:
    """``text`` in brackets, unless nothing can reach into it.

    >>> closed("a + b"), closed("x[i + 1]"), closed("f(a)(b)"), closed("-1")
    ('(a + b)', 'x[i + 1]', 'f(a)(b)', '(-1)')
    """
    depth = 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if not depth and not (c.isalnum() or c in "_.])"):
            return f"({text})"
    return f"({text})" if text.startswith("(") and not _one_bracket(text) else text


_PLACE = re.compile(r"(?:(?<=\()|(?<=, ))\{(\d)\}(?=\)|, )|\{(\d)\}")
"""Where a form has an operand: as an argument of a call, and elsewhere."""


def filled(form: str, texts: Sequence[str]) -> str:
    """A form with texts in its places: in brackets, unless it has them around each of these already.

    >>> filled("sqrt({0}) * {1}", ["a + b", "c + d"]), filled("hypot({0}, {1})", ["a + b", "c"])
    ('sqrt(a + b) * (c + d)', 'hypot(a + b, c)')
    """
    return _PLACE.sub(lambda m: texts[int(m[1])] if m[1] else closed(texts[int(m[2])]), form)


def _one_bracket(text: str) -> bool:
    """Whether the bracket that opens a text closes at its end; a cast does not."""
    depth = 0
    for k, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if not depth:
            return k == len(text) - 1
    return False
