"""Names, numbers, types and brackets of C99."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from symgrad.compiler.targets.forms import identifier
from symgrad.errors import CompileError

TYPES = {
    "float64": "double",
    "float32": "float",
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
    "signbit isnan isinf isfinite remainder round frexp ldexp modf scalbn logb ilogb nearbyint fdim fma"
)
_TAKEN = frozenset(_TAKEN_WORDS.split())
_OURS = re.compile(r"[ikt]\d+|out\d*|.*_t")


def c_name(name: str, taken: set[str]) -> str:
    """A name as an identifier of C that means nothing else there; it joins those that are ``taken``.

    >>> c_name("double", set()), c_name("θ", set()), c_name("A", set())
    ('double_', 'u03b8', 'A')
    """
    return identifier(name, taken, lambda word: word in _TAKEN or word in MATH or _OURS.fullmatch(word))


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
    """A number as a constant of the type ``kind``, to the last bit.

    >>> literal(1 / 3, "double"), literal(2, "float"), literal(-1, "int64_t"), literal(float("inf"), "double")
    ('0.3333333333333333', '2.0f', '-1', 'INFINITY')
    """
    if isinstance(value, complex):
        raise CompileError(
            f"the number {value} is complex, which C programs are not; save the program as a Python file."
        )
    if kind == "bool":
        return "true" if value else "false"
    if kind not in ("double", "float"):
        return str(int(value))
    number = math.pi if isinstance(value, str) else float(value)
    if kind == "float":
        number = float(np.float32(number))
    if not math.isfinite(number):
        return "NAN" if math.isnan(number) else "INFINITY" if number > 0 else "-INFINITY"
    short = repr(number) if kind == "double" else repr(float(str(np.float32(number))))
    return short + "f" * (kind == "float")


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


def _one_bracket(text: str) -> bool:
    """Whether the bracket that opens a text closes at its end; a cast does not."""
    depth = 0
    for k, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if not depth:
            return k == len(text) - 1
    return False
