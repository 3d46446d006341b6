r"""Sizes in LaTeX: ``n - 1``, ``2 \cdot m`` and ``\left\lceil \frac{n}{2} \right\rceil``, and how they are read.

What a size is written like inside of formulas is :mod:`symgrad.ops.shapes.sizes`' business: ``len(range(n)[::2])``.
"""

from __future__ import annotations

import re
from typing import Any

from symgrad.ops.shapes.sizes import signed_parts

_EVERY = re.compile(r"len\(range\(([^()]+)\)\[::(\d+)\]\)")
_PARTED = re.compile(r"\\left\\lceil(?:\\frac\{([^{}]+)\}\{(\d+)\}|\(?([^()]+?)\)?/(\d+))\\right\\rceil")


def size_tex(size: Any) -> str:
    r"""A size in LaTeX.

    >>> size_tex(3), size_tex("n-2*m"), size_tex("len(range(n-1)[::2])")
    ('3', 'n - 2 \\cdot m', '\\left\\lceil \\frac{n - 1}{2} \\right\\rceil')
    """
    out = ""
    for sign, part in signed_parts(str(size)):
        every = _EVERY.fullmatch(part)
        if every is not None:
            text = rf"\left\lceil \frac{{{size_tex(every[1])}}}{{{every[2]}}} \right\rceil"
        else:
            text = part if "(" in part else part.replace("*", r" \cdot ")
        out += f" {'-' if sign < 0 else '+'} {text}"
    return out.removeprefix(" + ") if out.startswith(" + ") else f"-{out[3:]}"


def read_size(text: str) -> str:
    r"""The size that LaTeX without its spaces says, or Unicode text in its signs.

    >>> read_size(r"\left\lceil\frac{n-1}{2}\right\rceil+m")
    'len(range(n-1)[::2])+m'
    >>> read_size("n^{2}"), read_size("nm")
    ('n*n', 'n*m')
    """
    if re.fullmatch(r"[a-zA-Z](\^\{?\d\}?)?([a-zA-Z](\^\{?\d\}?)?)*", text):
        powers = re.findall(r"([a-zA-Z])(?:\^\{?(\d)\}?)?", text)
        return "*".join(letter for letter, power in powers for _ in range(int(power or 1)))
    return _PARTED.sub(lambda m: f"len(range({m[1] or m[3]})[::{m[2] or m[4]}])", text).replace(r"\cdot", "*")
