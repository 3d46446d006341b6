r"""The layout of a printed formula: the boxes that the LaTeX printer's text is made of.

There is one printer (:mod:`symgrad.formula.printing.latex`).  Other formats spell the same boxes in their own way
(:mod:`symgrad.formula.printing.formats`), so precedence, brackets and names are decided in one place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from symgrad.errors import FormulaError, FormulaTooDeep
from symgrad.formula.printing.names import FUNCTIONS, GREEK_LETTERS, SCRIPT

DEPTH = 180
"""Levels of boxes inside boxes."""

TOKEN = re.compile(
    r"(?P<skip>\s+|\\[,:;! ]|\\quad|\\displaystyle)|(?P<begin>\\begin\{\w+\})|(?P<end>\\end\{\w+\})|(?P<row>\\\\)"
    r"|(?P<upright>\\(?:operatorname|mathrm|text)\{(?:[^}\\]|\\_|\\Gamma)*\})|(?P<number>\d+(?:\.\d+)?)"
    r"|(?P<call>(?<=\S)\\left(?=\())|(?P<command>\\[a-zA-Z]+|\\_)|(?P<char>.)",
    re.DOTALL,
)
SIGNS = {
    "+": "+", "-": "−", "=": "=", "<": "<", ">": ">", r"\le": "≤", r"\ge": "≥", r"\ne": "≠", r"\odot": "⊙",
    r"\cdot": "·", r"\wedge": "∧", r"\vee": "∨", r"\otimes": "⊗", r"\times": "×", r"\bmod": "mod",
}  # fmt: skip
PREFIXES = {r"\neg": "¬", r"\partial": "∂", r"\sum": "∑", r"\prod": "∏", r"\int": "∫"}
PLAIN = {r"\infty": "∞", r"\top": "⊤", r"\ldots": "…", r"\vdots": "⋮", "'": "′", r"\nabla": "∇"}
ACCENTS = {r"\hat": "\u0302", r"\bar": "\u0304", r"\tilde": "\u0303", r"\dot": "\u0307", r"\vec": "\u20d7"}
_FENCES = {"(": "()", "[": "[]", "|": "||", r"\lVert": "‖‖", r"\lfloor": "⌊⌋", r"\lceil": "⌈⌉"}


@dataclass(frozen=True)
class Box:
    """One part of a layout.

    ``kind`` is "row", "letter", "number", "word" (an upright name), "text", "sign", "prefix", "plain", "frac", "root",
    "script" (base, index, exponent), "fence", "argument" (the fence of a function's), "accent", "over", "bold", "cases"
    or "lines" (both hold rows of two), or "blocks" (the cells of a matrix, row by row; the text is the number of
    columns).
    """

    kind: str
    text: str = ""
    parts: tuple[Box | None, ...] = ()


def layout(latex: str) -> Box:
    r"""The boxes of LaTeX as :func:`symgrad.formula.printing.latex.latex` prints it.

    >>> layout(r"\frac{1}{2} x").parts[0].kind
    'frac'
    """
    items = [(str(m.lastgroup), m[0]) for m in TOKEN.finditer(latex) if m.lastgroup != "skip"]
    return _Boxes(items).whole()


class _Boxes:
    def __init__(self, items: list[tuple[str, str]]):
        self.items = items
        self.at = 0
        self.depth = 0

    def peek(self) -> str:
        return self.items[self.at][1] if self.at < len(self.items) else ""

    def take(self) -> tuple[str, str]:
        self.at += 1
        return self.items[self.at - 1] if self.at <= len(self.items) else ("end", "")

    def expect(self, text: str) -> None:
        found = self.take()[1]
        if found != text:
            raise FormulaError(f"this LaTeX has {found!r} in the place of {text!r}; printed formulas are laid out")

    def whole(self) -> Box:
        found = self.row(())
        if self.at < len(self.items):
            raise FormulaError(f"this LaTeX has an unexpected {self.peek()!r}; only printed formulas are laid out")
        return found

    def row(self, ends: tuple[str, ...]) -> Box:
        """Boxes side by side, up to one of ``ends``."""
        self.depth += 1
        if self.depth > DEPTH:
            raise FormulaTooDeep(f"this formula nests more than {DEPTH} levels; print it with where=True.")
        parts: list[Box | None] = []
        while self.at < len(self.items) and self.peek() not in ends and self.peek() != "}":
            if self.peek() in ("^", "_"):
                self.script(parts)
            elif self.peek() == "{":
                # An empty group gives a sign at the start of a line the room of a sum.
                self.group()
            else:
                parts.append(self.one())
        self.depth -= 1
        return parts[0] if len(parts) == 1 and parts[0] is not None else Box("row", "", tuple(parts))

    def script(self, parts: list[Box | None]) -> None:
        """An index or exponent of the box before it."""
        mark = self.take()[1]
        inner = self.group()
        base = parts.pop() if parts else Box("row")
        sub, sup = (inner, None) if mark == "_" else (None, inner)
        if base is not None and base.kind == "script" and (base.parts[1] is None or base.parts[2] is None):
            old_base, old_sub, old_sup = base.parts
            if (sub is None) != (old_sub is None):
                base, sub, sup = old_base, sub or old_sub, sup or old_sup
        parts.append(Box("script", "", (base, sub, sup)))

    def group(self) -> Box:
        self.expect("{")
        found = self.row(())
        self.expect("}")
        return found

    def one(self) -> Box:
        """The box that starts here."""
        kind, text = self.take()
        if kind == "number":
            return Box("number", text)
        if kind == "upright":
            inner = text[text.index("{") + 1 : -1].replace(r"\_", "_").replace(r"\Gamma", "Γ")
            if text == r"\mathrm{d}":
                return Box("prefix", "d")
            return Box("text" if text.startswith(r"\text") else "word", inner)
        if kind == "begin":
            return self.rows(text)
        if text in SIGNS:
            return Box("sign", SIGNS[text])
        if text in PREFIXES:
            return Box("prefix", PREFIXES[text])
        if text in PLAIN:
            return Box("plain", PLAIN[text])
        if text in ACCENTS:
            return Box("accent", ACCENTS[text], (self.group(),))
        if text == r"\mathcal":
            return Box("letter", SCRIPT[self.group().text])
        if kind == "call":
            return Box("argument", "()", self.fence().parts)
        rule = _CONSTRUCTS.get(text)
        if rule is not None:
            return rule(self)
        if text.startswith("\\") and text[1:] in FUNCTIONS:
            return Box("word", text[1:])
        if text[1:] in GREEK_LETTERS:
            return Box("letter", GREEK_LETTERS[text[1:]])
        if kind == "command":
            raise FormulaError(f"{text} is no part of a printed formula")
        return Box("letter" if text.isalpha() else "plain", text)

    def fence(self) -> Box:
        left = self.take()[1]
        inner = self.row((r"\right",))
        self.expect(r"\right")
        self.take()
        return Box("fence", _FENCES[left], (inner,))

    def norm(self) -> Box:
        inner = self.row((r"\rVert",))
        self.expect(r"\rVert")
        return Box("fence", "‖‖", (inner,))

    def root(self) -> Box:
        index = ""
        if self.peek() == "[":
            self.take()
            index = self.take()[1]
            self.expect("]")
        return Box("root", index, (self.group(),))

    def rows(self, begin: str) -> Box:
        """The rows of ``cases`` or of an alignment, each of two cells."""
        end = begin.replace("begin", "end")
        if "matrix" in begin:
            return self.blocks(end)
        cells: list[Box | None] = []
        while True:
            cells.append(self.row(("&",)))
            self.expect("&")
            cells.append(self.row((r"\\", end)))
            if self.take()[1] == end:
                break
        return Box("cases" if "cases" in begin else "lines", "", tuple(cells))

    def blocks(self, end: str) -> Box:
        """The rows of a matrix of blocks; the text says how many columns it has."""
        cells: list[Box | None] = []
        ends = 0
        while True:
            cells.append(self.row(("&", r"\\", end)))
            mark = self.take()[1]
            ends += mark != "&"
            if mark == end:
                return Box("blocks", str(len(cells) // ends), tuple(cells))


_CONSTRUCTS = {
    r"\frac": lambda b: Box("frac", "", (b.group(), b.group())),
    r"\sqrt": _Boxes.root,
    r"\overline": lambda b: Box("over", "", (b.group(),)),
    r"\mathbf": lambda b: Box("bold", "", (b.group(),)),
    r"\boldsymbol": lambda b: Box("bold", "", (b.group(),)),
    r"\left": _Boxes.fence,
    r"\lVert": _Boxes.norm,
}


__all__ = ["Box", "layout"]
