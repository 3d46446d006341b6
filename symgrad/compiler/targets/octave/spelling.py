"""Names and numbers of Octave, and elementwise ops: what their entries say in C, in operators for arrays."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from symgrad.compiler.targets.forms import identifier
from symgrad.compiler.targets.libraries import CALL
from symgrad.compiler.targets.octave.library import LIBRARY

_KEYWORDS = (
    "break case catch continue do else elseif end end_try_catch end_unwind_protect endfor endfunction endif endswitch "
    "endwhile enumeration events for function global if methods otherwise parfor persistent properties return "
    "switch try until unwind_protect while classdef spmd endparfor"
)
_CALLED = (
    "abs accumarray all ans any arrayfun cat ceil cell class columns cosh cumprod cumsum det diag double e eig end "
    "error exp expm eye false fft fix flip floor fprintf gamma gammaln hypot i I ifft imag inf Inf int64 inv "
    "isempty j J log logical lu max min mod nan NaN NA numel ones permute pi pinv prod qr real rem repmat reshape "
    "single sin cos size sort sparse sqrt sum svd tan tanh tril triu true varargin varargout zeros nargin nargout "
    "isequal full chol bsxfun isreal double ischar eps"
)
_OURS = re.compile(r"t\d+|part\d+|out\d*")


def octave_name(name: str, taken: set[str]) -> str:
    """A name as an identifier that means nothing else to Octave; it joins those that are ``taken``.

    >>> octave_name("end", set()), octave_name("θ", set()), octave_name("_x", set())
    ('end_', 'u03b8', 'x_')
    """
    if name.startswith("_"):  # MATLAB has no such names
        name = f"{name.strip('_') or 'x'}_"
    reserved = {*_KEYWORDS.split(), *_CALLED.split(), *LIBRARY, *FUNCTIONS.values()}
    return identifier(name, taken, lambda word: word in reserved or _OURS.fullmatch(word))


def number(value: Any) -> str:
    """A number as Octave writes it, to the last bit.

    >>> number(0.1), number(-2), number(Fraction(1, 3)), number(float("inf")), number(1 + 2j)
    ('0.1', '-2', '1 / 3', 'Inf', 'complex(1.0, 2.0)')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Fraction):
        return f"{value.numerator} / {value.denominator}"
    if isinstance(value, complex):
        return f"complex({number(value.real)}, {number(value.imag)})"
    if isinstance(value, int):
        return str(value) if abs(value) <= 2**53 else repr(float(value))
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Inf" if value > 0 else "-Inf"
    return repr(float(value))


def closed(text: str) -> str:
    """``text`` in brackets, unless nothing can reach into it.

    >>> closed("a + b"), closed("x(1, 2)"), closed("A.'"), closed("-1"), closed("(a) + (b)")
    ('(a + b)', 'x(1, 2)', "A.'", '(-1)', '((a) + (b))')
    """
    depth = 0
    for k, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        inside = k < len(text) - 1 and text[0] in "(["
        if not depth and (not (c.isalnum() or c in "_.)]'") or (inside and c in ")]")):
            return f"({text})"
    return text


_TIGHTER = (" | ", " & ", " == ", " ~= ", " < ", " > ", " <= ", " >= ", ":", " + ", " - ", " * ", " / ", " .* ", " ./ ")
_LEVELS = (0, 1, 2, 2, 2, 2, 2, 2, 3, 4, 4, 5, 5, 5, 5)
_PLACE = re.compile(r"\{(\d)\}")


def filled(form: str, texts: Sequence[str]) -> str:
    """A format text with its operands, in brackets where an operator of the form would reach into one.

    >>> filled("{0} - {1}", ["a * b", "c - d"]), filled("exp({0})", ["a + b"]), filled("-{0}", ["a * b"])
    ('a * b - (c - d)', 'exp(a + b)', '-(a * b)')
    """

    def text(match: re.Match[str]) -> str:
        given = texts[int(match[1])]
        before, after = form[: match.start()], form[match.end() :]
        if (not before or before.endswith(("(", ", "))) and (not after or after.startswith((")", ","))):
            return given
        sign = next(
            (s for s in (" + ", " - ", " * ", " / ", " .* ", " ./ ") if after.startswith(s) and not before), None
        )
        if sign is not None and _loosest(given) >= (4 if sign in (" + ", " - ") else 5):
            return given
        sign = next((s for s in (" + ", " - ") if before == "{0}" + s and not after), None)
        return given if sign and _loosest(given) >= 5 else closed(given)

    return _PLACE.sub(text, form)


def _loosest(text: str) -> int:
    """How tightly the loosest operator of a text that stands in no bracket binds; a sign in front does as a sum."""
    depth, bare = 0, ""
    for c in text:
        depth -= c in ")]"
        bare += c if not depth else ""
        depth += c in "(["
    found = [level for sign, level in zip(_TIGHTER, _LEVELS, strict=True) if sign in bare]
    return min([*found, 4 if text.startswith(("-", "~")) else 6])


def turned(text: str) -> str:
    """The transpose, never the conjugate one.

    >>> turned("A"), turned("A.'"), turned("a + b")
    ("A.'", 'A', "(a + b).'")
    """
    return text[:-2] if re.fullmatch(r"\w+\.'", text) else f"{closed(text)}.'"


FUNCTIONS = {
    "fabs": "abs", "trunc": "fix", "rint": "nearest", "fmod": "rem", "tgamma": "gamma_of",
    "lgamma": "log_abs_gamma", "fmax": "max", "fmin": "min", "pow": "power_of", "exp2": "exp2",
    "cbrt": "cube_root", "sign": "sign_of",
}  # fmt: skip
"""What functions of <math.h> are called; others have the same name, or are in the library under the name of C's."""

PARTIAL = frozenset(["sqrt", "log", "log2", "log10", "log1p", "asin", "acos", "acosh", "atanh"])
"""Functions of real numbers that are complex beyond their domain here, and nan in NumPy."""

ENTIRE = frozenset(
    ["abs", "sqrt", "log", "exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "atan", "asinh", "choose"]
)
"""Functions that take complex numbers, and have NumPy's value where the imaginary part is 0, which Octave drops."""

_REAL = re.compile(rf"\b({'|'.join(sorted(PARTIAL))})\(\{{\d\}}\)")
_OPERATORS = (
    (re.compile(r"\(double\)"), ""),
    (re.compile(r"&&"), "&"),
    (re.compile(r"\|\|"), "|"),
    (re.compile(r"!="), "~="),
    (re.compile(r"!"), "~"),
    (re.compile(r" \* "), " .* "),
    (re.compile(r" / "), " ./ "),
    (re.compile(r"\bINFINITY\b"), "Inf"),
    (re.compile(r"\bNAN\b"), "NaN"),
)


@functools.cache
def spelled(c: str, imaginary: bool = False) -> str:
    """The format text of an op in Octave, from that in C.

    >>> spelled("{1} == 0 ? 0 : {0} / {1}"), spelled("log({0})"), spelled("pow({0}, {1})", imaginary=True)
    ('choose({1} == 0, 0, {0} ./ {1})', 'reals(log({0}))', '{0} .^ {1}')
    """
    text = c
    for pattern, other in _OPERATORS:
        text = pattern.sub(other, text)
    if imaginary and text == "pow({0}, {1})":
        return "{0} .^ {1}"
    text = CALL.sub(lambda m: f"{FUNCTIONS.get(m[1], m[1])}(", text)
    condition, question, rest = text.partition(" ? ")
    if question:
        first, _, second = rest.partition(" : ")
        return f"choose({condition}, {first}, {second})"
    return text if imaginary else _REAL.sub(r"reals(\g<0>)", text)
