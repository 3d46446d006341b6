r"""How wide a formula is on paper, and lines broken so that they fit a column.

Widths are in points, for the display style of ten-point Computer Modern; the text of LaTeX's article class is 345 wide.
They are estimates from the widths of letters, right to a few percent.
"""

from __future__ import annotations

import re

from symgrad.formula.printing.names import FUNCTIONS

COLUMN = 345.0
"""The width of the text of LaTeX's article class."""

TOKEN = re.compile(
    r"\\(?:operatorname|text|mathrm|mathbf|boldsymbol|mathit)\{[^{}]*\}|\\begin\{\w+\*?\}|\\end\{\w+\*?\}|\\[a-zA-Z]+\s*"
    r"|\\.|\d+|\S"
)
_SCALES = (1.05, 1.05, 0.75, 0.57)
"""Scales of the display, text, script and smaller styles."""

_BINARY = {
    "+": 7.8, "-": 7.8, r"\odot": 7.8, r"\oslash": 7.8, r"\cdot": 2.8, r"\otimes": 7.8, r"\times": 7.8,
    r"\wedge": 6.7, r"\vee": 6.7,
}  # fmt: skip
_RELATIONS = {"=": 7.8, "<": 7.8, ">": 7.8, r"\le": 7.8, r"\ge": 7.8, r"\ne": 7.8}
_PLAIN = {
    "(": 4.5, ")": 4.5, "[": 3.4, "]": 3.4, ",": 4.5, ";": 4.5, "/": 5.0, "|": 2.8, r"\lVert": 5.2, r"\rVert": 5.2,
    r"\left": 0.0, r"\right": 0.0, r"\,": 1.7, r"\:": 2.2, r"\;": 2.8, r"\!": -1.7, r"\quad": 10.0, r"\qquad": 20.0,
    r"\sum": 16.0, r"\prod": 14.0, r"\infty": 10.0, r"\partial": 5.8, r"\ldots": 13.0, r"\vdots": 2.8, r"\top": 7.8,
    "&": 0.0, "{": 0.0, "}": 0.0, ".": 2.8, "'": 2.8, r"\displaystyle": 0.0, r"\limits": 0.0,
}  # fmt: skip


class _Ruler:
    """A walk over the tokens of a text, one bracket after the other."""

    def __init__(self, text: str):
        self.tokens = [found.strip() for found in TOKEN.findall(text)]
        self.at = 0

    def take(self) -> str:
        """The next token; empty at the end."""
        token = self.tokens[self.at] if self.at < len(self.tokens) else ""
        self.at += 1
        return token

    def group(self, style: int) -> float:
        """The width of what a command is applied to."""
        if self.at < len(self.tokens) and self.tokens[self.at] == "{":
            self.at += 1
            return self.row(style, "}")
        return self.one(self.take(), style)

    def row(self, style: int, end: str) -> float:
        """The width up to a closing token; of the widest line where there are several."""
        widest = width = 0.0
        while self.at < len(self.tokens):
            token = self.take()
            if token == end or (end.startswith(r"\end") and token.startswith(r"\end")):
                break
            if token == r"\\":
                widest, width = max(widest, width), 0.0
            elif token in ("^", "_"):
                script = self.group(max(style, 1) + 1)
                if self.at < len(self.tokens) and self.tokens[self.at] in ("^", "_"):
                    self.at += 1
                    script = max(script, self.group(max(style, 1) + 1))
                width += script + 0.5
            else:
                width += self.one(token, style)
        return max(widest, width)

    def one(self, token: str, style: int) -> float:
        """The width of a token with its arguments."""
        style = min(style, 3)
        scale = _SCALES[style]
        if token == r"\frac":
            return max(self.group(style + 1), self.group(style + 1)) + 2.4
        if token in (r"\hat", r"\bar", r"\tilde", r"\dot", r"\overline"):
            return self.group(style)
        if token == r"\sqrt":
            return 9.0 * scale + self.group(style)
        if token == "{":
            return self.row(style, "}")
        if token.startswith(r"\begin"):
            return 10.0 + self.row(1, r"\end")
        if token in _BINARY:
            return _BINARY[token] * scale + (4.4 if style < 2 else 0.0)
        if token in _RELATIONS:
            return _RELATIONS[token] * scale + (5.6 if style < 2 else 0.0)
        if token in _PLAIN:
            return _PLAIN[token] * scale
        return _word(token) * scale


def _word(token: str) -> float:
    inner = re.fullmatch(r"\\(operatorname|text|mathrm|mathbf|boldsymbol|mathit)\{(.*)\}", token)
    if inner:
        return (4.0 if inner[1] == "text" else 5.1) * len(inner[2].replace("\\_", "_")) + (
            2.0 if inner[1] == "operatorname" else 0.0
        )
    if token.startswith("\\"):
        name = token[1:]
        return 5.1 * len(name) + 2.0 if name in FUNCTIONS else 5.9
    if token.isdigit():
        return 5.0 * len(token)
    return _LETTERS.get(token, 6.5)


_LETTERS = dict(
    zip(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        (
            *(7.5, 8.1, 7.9, 8.6, 8.0, 7.8, 7.9, 9.1, 5.2, 6.5, 9.2, 6.8, 10.8, 9.1, 7.9, 7.8, 7.9, 7.7, 6.7, 7.2, 7.9),
            *(8.1, 10.8, 9.1, 8.0, 7.5),
            *(5.3, 4.3, 4.3, 5.2, 4.7, 6.0, 5.1, 5.8, 3.4, 4.7, 5.5, 3.2, 8.8, 6.0, 4.9, 5.0, 4.8, 4.8, 4.7, 3.6, 5.7),
            *(5.2, 7.4, 5.7, 5.3, 5.1),
        ),
        strict=True,
    )
)
"""The widths of italic letters, with what they lean over."""


def width(text: str) -> float:
    r"""The estimated width of a formula in points.

    >>> 50 < width(r"2 A^{\top} \left(A x - b\right)") < 85
    True
    """
    return _Ruler(text).row(0, "")


# ---------------------------------------------------------------------------------------------- lines

CONTINUED = r"\quad {} "
"""How a line starts that goes on with the sum of the one before: the empty group gives the sign the room of a sum."""


def broken(left: str, right: str, column: float | None) -> list[tuple[str, str]]:
    """The lines of ``left = right``, broken before signs of its sum where it is wider than a column."""
    whole = [(left, right)]
    if column is None or width(f"{left} = {right}") <= column:
        return whole
    parts = _summands(right)
    room = column - width(f"{left} =")
    lines: list[str] = []
    for part in parts:
        start = room if len(lines) < 2 else room - width(CONTINUED)
        if lines and width(lines[-1] + part) <= start:
            lines[-1] += part
        else:
            lines.append(part)
    made = [(left, lines[0].strip()), *(("", CONTINUED + line.strip()) for line in lines[1:])]
    return made if len(made) > 1 else whole


def within(rows: list[tuple[str, str]], most: int, left_out: int, column: float | None) -> list[tuple[str, str]]:
    """Definitions and a result in at most so many lines; what was and what is left out is counted before the result."""
    *definitions, result = rows
    end = broken(*result, column)
    room = most - len(end)
    counts = [len(broken(*row, column)) for row in definitions]
    if not left_out and sum(counts) <= room:
        return rows
    kept = 0
    while kept < len(counts) and sum(counts[: kept + 1]) < room:
        kept += 1
    if room < 1 and most > 1:
        # A result that is too long itself: its first lines.
        end, hidden = end[: most - 1], len(end) - most + 1
        return [*end, _more(sum(counts) + left_out + hidden)]
    return [*definitions[:kept], _more(sum(counts[kept:]) + left_out), result]


def _more(lines: int) -> tuple[str, str]:
    return "", rf"\;\;\vdots \quad \text{{({lines} more lines)}}"


def _summands(text: str) -> list[str]:
    """The terms of a sum, each with its sign."""
    depth, start = 0, 0
    out = []
    for found in re.finditer(r"\\begin\{|\\end\{|\\left|\\right|\\.|[{}+-]", text):
        mark = found[0]
        depth += (mark in ("{", r"\left") or mark.startswith(r"\begin")) - (
            mark in ("}", r"\right") or mark.startswith(r"\end")
        )
        depth += mark.startswith((r"\begin", r"\end"))
        sign = (
            mark in ("+", "-")
            and depth == 0
            and text[: found.start()].rstrip()[-1:] not in ("", "(", "=", "<", ">", "&")
        )
        if sign and text[found.start() - 1 : found.start()] == " " and text[found.end() : found.end() + 1] == " ":
            out.append(text[start : found.start()])
            start = found.start()
    return [*out, text[start:]]
