r"""Recurrences as where-lists: every step is written out, with a name for each state, before a reader sees the text."""

from __future__ import annotations

import re

from symgrad.errors import FormulaError

_FIRST = 10_000
"""The number of the first name; printed formulas have smaller ones."""

_RANGE = re.compile(r",? ?(?:\\quad )?([a-zA-Z]+(?:_\{\w*\})?) = (\d+), \\ldots, (\d+)$")
_STATE = re.compile(r"(?:\\[a-zA-Z]+\{[^{}]*(?:\{[^{}]*\})?\}|\\[a-zA-Z]+|[a-zA-Z])(?:_\{[^{}]*\})?\^\{\((\d+)\)\}")
_SUM = re.compile(r"(-? ?)\\sum_\{(\S+)=(\d+)\}\^\{(\d+)\} ?(.*)$", re.DOTALL)
_BEGIN, _END = r"\begin{aligned}", r"\end{aligned}"


def has_recurrence(text: str) -> bool:
    """Whether a text has lines that hold for many steps."""
    return text.startswith(_BEGIN) and r", \ldots, " in text


def expanded(text: str) -> str:
    r"""The text with every step written out.

    >>> print(expanded(r"\begin{aligned} x^{(0)} &= x \\ x^{(k+1)} &= 2 x^{(k)}, \quad k = 0, \ldots, 1 \\ & x^{(2)} "
    ...                r"\end{aligned}"))
    \begin{aligned} t_{10000} &= x \\ t_{10001} &= 2 t_{10000} \\ t_{10002} &= 2 t_{10001} \\ & t_{10002} \end{aligned}
    """
    lines: list[str] = []
    waiting: list[tuple[str, str]] = []
    for left, right in _rows(text):
        said = _RANGE.search(right)
        if said is None and not re.search(r"\^\{\([a-zA-Z]|_\{\[[^\]]*[a-zA-Z]", left):
            lines += [f"{one} &= {_summed(right)}" for one in left.split(" = ")] if left else [f"& {_summed(right)}"]
            continue
        listed = right.split(r",\; ") if said is None and r",\; " in right else None
        if listed:
            letter = re.findall(r"\^\{\(([a-zA-Z]+)\)\}", left)[0]
            lines += [f"{_at(left, letter, k)} &= {value}" for k, value in enumerate(listed)]
            continue
        if r"\bar" in left and "_{[" in left:
            raise FormulaError("this gradient is told entry by entry, step by step, and not as one formula")
        waiting.append((left, right if said is None else right[: said.start()]))
        if said is None:
            continue
        letter, first, last = said[1], int(said[2]), int(said[3])
        step = 1 if first <= last else -1
        for k in range(first, last + step, step):
            lines += [f"{_at(a, letter, k)} &= {_at(b, letter, k)}" for a, b in waiting if b]
        waiting = []
    if waiting:
        raise FormulaError("this recurrence does not say for which steps it holds")
    lines = _gathered(lines)
    numbers: dict[str, int] = {}

    def name(found: re.Match[str]) -> str:
        return f"t_{{{_FIRST + numbers.setdefault(found[0], len(numbers))}}}"

    body = r" \\ ".join(_STATE.sub(name, line) for line in lines)
    return f"{_BEGIN} {body} {_END}"


def _gathered(lines: list[str]) -> list[str]:
    """The lines with one for each array whose rows had lines, and with numbered names for the adjoints of arrays."""
    rows: dict[tuple[str, int], list[str]] = {}
    out: list[str] = []
    for line in lines:
        left, _, right = line.partition(" &= ")
        found = re.fullmatch(r"(.*)_\{\[((?::, ?)*)\d+\]\}", left)
        if found is not None:
            rows.setdefault((found[1], found[2].count(":")), []).append(right)
            continue
        for (name, axis), row in rows.items():
            out.append(rf"{name} &= \operatorname{{stack}}_{{{axis}}}\left({', '.join(row)}\right)")
        rows = {}
        out.append(line)
    text = "\n".join(out)
    for n, name in enumerate(re.findall(r"^(\S*\\bar\{\S+\}) &=", text, re.MULTILINE)):
        text = text.replace(name, f"t_{{{2 * _FIRST + n}}}")
    return text.split("\n")


def _rows(text: str) -> list[tuple[str, str]]:
    """Left and right sides; lines that go on with the one before are put together."""
    rows: list[tuple[str, str]] = []
    for line in _lines(text[len(_BEGIN) : text.rindex(_END)]):
        left, _, right = line.strip().partition("&")
        left, right = left.strip(), right.strip()
        right = right[1:].strip() if left or right.startswith("=") else right
        continued = right.startswith(r"\quad {}")
        if rows and not left and (continued or _RANGE.fullmatch(right)):
            before = rows.pop()
            rows.append((before[0], f"{before[1]} {right.removeprefix(chr(92) + 'quad {}').strip()}"))
        else:
            rows.append((left, right))
    return rows


def _lines(text: str) -> list[str]:
    """The lines between breaks that are in no environment of their own, as those of cases are."""
    out, start, depth = [], 0, 0
    for mark in re.finditer(r"\\(begin|end)\b|\\\\", text):
        depth += {"begin": 1, "end": -1}.get(mark[1] or "", 0)
        if mark[1] is None and not depth:
            out.append(text[start : mark.start()])
            start = mark.end()
    return [*out, text[start:]]


def _at(text: str, letter: str, k: int) -> str:
    """A line in step ``k``."""
    alone = rf"(?<![A-Za-z\\]){re.escape(letter)}(?![A-Za-z_])"

    def index(found: re.Match[str]) -> str:
        parts = [_place(part, alone, k) if re.search(alone, part) else part for part in found[2].split(",")]
        return found[1] + ",".join(parts) + found[3]

    text = re.sub(r"(\^\{\()([^(){}]*)(\)\})", index, text)
    text = re.sub(r"(_\{\[)([^\[\]{}]*)(\]\})", index, text)
    text = re.sub(r"(_\{)([^\[\]{}=]*)(\})", index, text)
    return re.sub(alone, rf"\\left({k}\\right)", text)


def _place(part: str, alone: str, k: int) -> str:
    """The number of a place such as ``k+1``, ``4-k`` or ``2 k-1``."""
    found = re.fullmatch(rf"(?:(\d+)(?=-))?(-?)(\d+ )?{alone}([+-]\d+)?", part.strip())
    if found is None:
        raise FormulaError(f"the index {part!r} of a recurrence cannot be read")
    slope = int(found[3] or 1) * (-1 if found[2] else 1)
    return str(int(found[1] or 0) + slope * k + int(found[4] or 0))


def _summed(text: str) -> str:
    """A text whose last part is a sum over steps, with its summands."""
    found = _SUM.search(text)
    if found is None:
        return text
    sign, letter, first, last, body = found.groups()
    parts = " + ".join(rf"\left({_at(body, letter, k)}\right)" for k in range(int(first), int(last) + 1))
    return f"{text[: found.start()]}{sign}\\left({parts}\\right)"


__all__ = ["expanded", "has_recurrence"]
