r"""Sizes in LaTeX: ``n - 1``, ``2 \cdot m`` and ``\left\lceil \frac{n}{2} \right\rceil``, and how they are read.

What a size is written like inside of formulas is :mod:`symgrad.ops.shapes.sizes`' business: ``len(range(n)[::2])``.
"""

from __future__ import annotations

import re
from typing import Any

from symgrad.ops.shapes.sizes import factors_of, signed_parts, sliced

_PARTED = re.compile(
    r"\\left\\l(ceil|floor)(?:\\frac\{([^{}]+)\}\{(\d+)\}|\(?((?:(?!\\left)[^()])+?|len\([^/]+)\)?/(\d+))\\right\\r\1"
)


def size_tex(size: Any) -> str:
    r"""A size in LaTeX.

    >>> size_tex(3), size_tex("n-2*m"), size_tex("len(range(n-1)[::2])")
    ('3', 'n - 2 \\cdot m', '\\left\\lceil \\frac{n - 1}{2} \\right\\rceil')
    >>> size_tex("2*len(range(n)[2::3])")
    '2 \\cdot \\left\\lfloor \\frac{n}{3} \\right\\rfloor'
    """
    out = ""
    for sign, part in signed_parts(str(size)):
        text = r" \cdot ".join(map(_factor_tex, factors_of(part)))
        out += f" {'-' if sign < 0 else '+'} {text}"
    return out.removeprefix(" + ") if out.startswith(" + ") else f"-{out[3:]}"


def _factor_tex(factor: str) -> str:
    """A factor of a size: every second of some entries are half of them, rounded up, or down without the first."""
    axis, every = sliced(factor) or ("", slice(None))
    if every.stop is None and (every.step or 1) > 1 and every.start in (None, every.step - 1):
        kind = "ceil" if every.start is None else "floor"
        return rf"\left\l{kind} \frac{{{size_tex(axis)}}}{{{every.step}}} \right\r{kind}"
    return factor


def read_size(text: str) -> str:
    r"""The size that LaTeX without its spaces says, or Unicode text in its signs.

    >>> read_size(r"\left\lceil\frac{n-1}{2}\right\rceil+m")
    'len(range(n-1)[::2])+m'
    >>> read_size("n^{2}"), read_size("nm"), read_size(r"2\cdot\left\lfloor\frac{n}{3}\right\rfloor")
    ('n*n', 'n*m', '2*len(range(n)[2::3])')
    """
    if re.fullmatch(r"[a-zA-Z](\^\{?\d\}?)?([a-zA-Z](\^\{?\d\}?)?)*", text):
        powers = re.findall(r"([a-zA-Z])(?:\^\{?(\d)\}?)?", text)
        return "*".join(letter for letter, power in powers for _ in range(int(power or 1)))
    count = 1
    while count:  # inside first
        text, count = _PARTED.subn(_slice, text)
    return text.replace(r"\cdot", "*")


def _slice(found: re.Match[str]) -> str:
    """The text of a size that is another one, divided and rounded."""
    size, k = found[2] or found[4], found[3] or found[5]
    return f"len(range({size})[{'' if found[1] == 'ceil' else int(k) - 1}::{k}])"
