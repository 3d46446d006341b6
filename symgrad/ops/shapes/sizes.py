"""Sums and values of sizes that are written with letters, such as ``n+m`` and ``len(range(n)[::2])-1``."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

LETTER = re.compile(r"(?<!\w)[^\W\d]\w*")
"""A letter in a size such as ``2*n-1``, or a word of it."""


def letters_of(size: str) -> set[str]:
    """The letters in a size; ``len`` and ``range`` of slices are words of their own.

    >>> sorted(letters_of("len(range(n)[::2])+2*m"))
    ['m', 'n']
    """
    return set(LETTER.findall(size)) - {"len", "range"}


def total_size(sizes: Sequence[Any], signs: Sequence[int] | None = None) -> Any:
    """A signed sum of sizes: a number where they are, else text in which nothing is added and taken away again.

    >>> total_size(["n-1", 1]), total_size(["n", "m", "n"]), total_size([2, 3])
    ('n', 'n+m+n', 5)
    """
    number, parts = 0, dict[str, int]()
    order: list[str] = []
    for size, outer in zip(sizes, signs or [1] * len(sizes), strict=True):
        for inner, whole in signed_parts(str(size)):
            by, part = _without_count(whole)
            by *= outer * inner
            if part.isdigit():
                number += by * int(part)
            else:
                parts[part] = parts.get(part, 0) + by
                order.append(part)
    slices = _of_slices(parts)
    text = ""
    for part in order:
        if parts.get(part, 0) > 0:
            text, parts[part] = f"{text}+{part}", parts[part] - 1
    for part, count in parts.items():
        text += f"-{part}" * -count
    text = slices + text if text.startswith("-") and slices.startswith("+") else text + slices
    return f"{text}{number:+d}".lstrip("+") if text and number else text.lstrip("+") or number


_SHARE = re.compile(r"len\(range\((.+)\)\[(\d+)::(\d+)\]\)")
"""A share: ``len(range(n)[1::2])`` is one half of n, as slices that begin at 0 have other texts."""


def share_size(size: str, k: int) -> str:
    """One of ``k`` shares of a size that they fill.

    >>> share_size("n", 2), total_size(["n", share_size("n", 2)], (1, -1)), product_size(2, share_size("n", 2))
    ('len(range(n)[1::2])', 'len(range(n)[1::2])', 'n')
    """
    return f"len(range({size})[{k - 1}::{k}])"


def _without_count(part: str) -> tuple[int, str]:
    """How often a product with the length of a slice is counted, and the others of its factors."""
    if "len(" not in part:
        return 1, part
    factors = factors_of(part)
    others = [factor for factor in factors if not factor.isdigit()]
    return math.prod(int(factor) for factor in factors if factor.isdigit()), "*".join(others)


def _of_slices(parts: dict[str, int]) -> str:
    """Take the lengths of slices out of a sum, and what they are shares of, which these fill together."""
    text = ""
    slices = [part for part in parts if "len(" in part]
    for part in sorted(slices, key=len, reverse=True):  # a share of a share before that
        count = parts.pop(part, 0)
        if (share := _SHARE.fullmatch(part)) is not None:
            whole, k = share[1], int(share[3])
            count += k * parts.pop(whole, 0)
            part, count = (whole, count // k) if count % k == 0 else (part, count)
        text += f"{count:+d}*{part}".replace("+1*", "+").replace("-1*", "-") if count else ""
    return text


def product_size(a: Any, b: Any) -> Any:
    """The product of two sizes, written as a sum.

    >>> product_size(2, "n+1"), product_size("n", "m-1"), product_size(2, 3)
    ('2*n+2', 'n*m-n', 6)
    """
    pairs = [(s * t, _monomial(p, q)) for s, p in signed_parts(str(a)) for t, q in signed_parts(str(b))]
    return total_size([size for _, size in pairs], [sign for sign, _ in pairs])


def _monomial(p: str, q: str) -> str:
    if p.isdigit() and q.isdigit():
        return str(int(p) * int(q))
    return "*".join(x for x in (p, q) if x != "1")


def signed_parts(text: str) -> list[tuple[int, str]]:
    """The terms of a sum with their signs; what stands in brackets is not looked into."""
    return [(-1 if sign == "-" else 1, part) for sign, part in _cut(text, "+-") if part]


def factors_of(part: str) -> list[str]:
    """The factors of a term of a size."""
    return [factor for _, factor in _cut(part, "*")]


def _cut(text: str, signs: str) -> list[tuple[str, str]]:
    """The parts between signs that stand outside of brackets, each with the sign before it."""
    depth, found = 0, [("", "")]
    for sign in text:
        depth += (sign in "([") - (sign in ")]")
        if sign in signs and not depth:
            found.append((sign, ""))
        else:
            found[-1] = (found[-1][0], found[-1][1] + sign)
    return found


def sliced(factor: str) -> tuple[str, slice] | None:
    """The axis and the slice of which a factor of a size is the length, if it is one.

    >>> sliced("len(range(len(range(n)[::2]))[-3:])"), sliced("n")
    (('len(range(n)[::2])', slice(-3, None, None)), None)
    """
    if not factor.startswith("len("):
        return None
    axis, _, ends = factor[len("len(range(") : -len("])")].rpartition(")[")
    return axis, slice(*(int(end) if end else None for end in ends.split(":")))


_SLICED = re.compile(r"len\(range\((.+)\)\[-?\d*:-?\d*(?::-?\d+)?\]\)")


def is_size(text: str) -> bool:
    """Whether a text is a size as formulas have them: a letter, or a sum of products of letters and numbers.

    >>> [is_size(text) for text in ("n", "n-m+1", "2*n", "len(range(n)[::2])", "n--1", "n/2", "f(n)")]
    [True, True, True, True, False, False, False]
    """
    return all(_is_factor(f) for _, part in _cut(text.removeprefix("-"), "+-") for f in factors_of(part))


def _is_factor(text: str) -> bool:
    within = _SLICED.fullmatch(text)
    return text.isdigit() or text.isidentifier() if within is None else is_size(within[1])


def spaced(size: str, written: Callable[[str], str] = str) -> str:
    """A size as an operand of source text, where spaces tell the operators that bind it; factors as ``written``.

    >>> spaced("n"), spaced("2*n-m"), spaced("len(range(n)[::-2])+1"), spaced("2*n", str.upper)
    ('n', '2 * n - m', 'len(range(n)[::-2]) + 1', '2 * N')
    """
    parts = ((sign, " * ".join(map(written, factors_of(part)))) for sign, part in signed_parts(size))
    text = "".join(f"{' - ' if sign < 0 else ' + '}{part}" for sign, part in parts)
    return text.removeprefix(" + ") if text.startswith(" + ") else f"-{text[3:]}"


def size_value(size: Any, letters: dict[str, int]) -> int:
    """The number of a size expression made of letters, ints, ``*``, ``+``, ``-`` and ``len(range(n)[::2])``."""
    if not isinstance(size, str):
        return int(size)
    return sum(sign * math.prod(_value(f, letters) for f in factors) for sign, factors in _read(size))


@functools.lru_cache(maxsize=4096)
def _read(size: str) -> list[tuple[int, list[Any]]]:
    """The terms of a size: signs with factors, which are numbers, letters and slices of axes."""
    return [
        (s, [int(f) if f.isdigit() else sliced(f) or f for f in factors_of(part)]) for s, part in signed_parts(size)
    ]


def _value(factor: Any, letters: dict[str, int]) -> int:
    if isinstance(factor, tuple):
        axis: str = factor[0]
        part: slice = factor[1]
        return len(range(size_value(axis, letters))[part])
    return factor if isinstance(factor, int) else letters[factor]
