"""The reader of Unicode text as this library prints it: its signs become the tokens of the strict LaTeX reader.

Spaces tell a product from an index (``x [y > 0]`` and ``x[1:3]``), and an opening bar from a closing one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from symgrad.formula.printing.decompositions import parts
from symgrad.formula.printing.formats import LOWERED, RAISED, STEPS, VULGAR
from symgrad.formula.printing.names import FUNCTIONS, GREEK_LETTERS, SCRIPT
from symgrad.formula.reading.atoms import is_upright
from symgrad.formula.reading.recurrences import expanded
from symgrad.formula.reading.tex import _TexReader, tokenize as in_latex
from symgrad.formula.reading.text import Tokens, symbol_table
from symgrad.formula.reading.values import as_term as settled, divided, named_term
from symgrad.formula.term import Term

_UP = {v: k for k, v in (RAISED | STEPS).items()}
_LOW = {v: k for k, v in LOWERED.items()}
_UP_CHARS, _LOW_CHARS = "".join(_UP), "".join(_LOW)
_DIGITS_UP = "".join(RAISED[c] for c in "-−0123456789" if c in RAISED)
_MARKS = "\u0302\u0304\u0303\u0307\u20d7"
TOKEN = re.compile(
    rf"(?P<skip>\s+)|(?P<number>(?:[0-9]+(?:\.[0-9]+)? · )?10[{_DIGITS_UP}]+|[0-9]+(?:\.[0-9]+)?)"
    rf"|(?P<vulgar>[{''.join(VULGAR.values())}])"
    rf"|(?P<up>[{re.escape(_UP_CHARS)}]+)|(?P<low>[{_LOW_CHARS}]+)|(?P<quoted>'[^']*')"
    r"|(?P<name>[A-Za-z](?:[A-Za-z0-9]|_(?=[A-Za-z0-9]))+"
    rf"|(?![{_UP_CHARS}{_LOW_CHARS}])[^\W\d_](?:[{_MARKS}]|(?:(?![{_UP_CHARS}{_LOW_CHARS}])[^\W\d_])*))"
    r"|(?P<char>.)",
    re.DOTALL,
)
_SIGNS = {
    "−": "-", "≤": r"\le", "≥": r"\ge", "≠": r"\ne", "⊙": r"\odot", "·": r"\cdot", "∧": r"\wedge", "∨": r"\vee",
    "×": r"\times", "⊗": r"\otimes",
    "¬": r"\neg", "∑": r"\sum", "∏": r"\prod", "∞": r"\infty", "…": r"\ldots",
    "⌊": r"\left\lfloor", "⌋": r"\right\rfloor",
    "⌈": r"\left\lceil", "⌉": r"\right\rceil", "⋮": r"\vdots", "′": "'", "√": r"\sqrt", "∛": r"\sqrt",
}  # fmt: skip
_OPENING = ("", " ", "(", "[", "{", "‖", "|", "∑", "∏", "−", "¬", "/", "\n")
_GREEK = {letter: rf"\{name}" for name, letter in GREEK_LETTERS.items()}
_DECOMPOSED = re.compile(r"(\S+) diag\((\S+)\) (\S+)ᵀ\s+'\((\w+)\)'")
"""What singular vectors or eigenvectors are called."""
_RANGE = re.compile(r", \w = \d+, …, \d+$")
"""For which steps a line of a recurrence holds."""
_WORDS = ("None", "True", "False", "nan")


def tokenize(text: str) -> Tokens:
    """The tokens of Unicode text, in the words of LaTeX."""
    return Tokens(text, _Tokens(text).items)


class _Tokens:
    def __init__(self, text: str):
        self.text = text
        self.items: list[tuple[str, str, int]] = []
        self.open: list[str] = []
        self.bars: list[str] = []
        self.begun: list[int] = []
        self.closing: set[int] = set()
        matches = [m for m in TOKEN.finditer(text) if m.lastgroup != "skip"]
        self.matches = matches
        self.k = 0
        while self.k < len(matches):
            self.one(matches[self.k])
            self.k += 1

    def put(self, *parts: str, kind: str = "char") -> None:
        place = self.matches[min(self.k, len(self.matches) - 1)].start()
        for part in parts:
            self.items.append((kind, part, place))

    def one(self, m: re.Match[str]) -> None:
        kind, text = str(m.lastgroup), m[0]
        if kind == "number":
            power = text.lstrip(".0123456789 ·")
            digits = text.removesuffix(f"10{power}").removesuffix(" · ") if power else text
            exponent = "".join(_UP[c] for c in power).replace("−", "-")
            front = rf"{digits} \cdot " if digits else ""
            self.put(rf"{front}10^{{{exponent}}}" if power else digits, kind="number")
        elif kind == "vulgar":
            top, bottom = next(k for k, v in VULGAR.items() if v == text).split("/")
            self.put(r"\frac", "{")
            self.put(top, kind="number")
            self.put("}", "{")
            self.put(bottom, kind="number")
            self.put("}")
        elif kind == "up":
            self.script("^", "".join(_UP[c] for c in text))
        elif kind == "low":
            self.script("_", "".join(_LOW[c] for c in text))
        elif kind == "quoted":
            self.put(rf"\text{{{text[1:-1]}}}", kind="word")
        elif kind == "name":
            self.name(text)
        else:
            self.sign(text, m)

    def script(self, mark: str, inner: str) -> None:
        """An index or exponent of small signs."""
        self.put(mark, "{")
        for part in re.findall(r"\d+|.", inner):
            part = {"⊤": r"\top", "−": "-"}.get(part, part)
            self.put(part, kind="number" if part.isdigit() else "char")
        self.put("}")

    def name(self, text: str) -> None:
        following = self.matches[self.k + 1][0] if self.k + 1 < len(self.matches) else ""
        if following == "=" and self.open[-1:] == ["f("]:
            self.put(rf"\mathrm{{{text}}}", kind="word")
        elif text in SCRIPT.values():
            self.put(r"\mathcal", "{", next(k for k, v in SCRIPT.items() if v == text), "}", kind="command")
        elif text == "𝐞" and following == "_":
            self.put(r"\mathbf{e}", kind="unit")
        elif text == "ⅈ":
            self.put(r"\mathrm{i}", kind="word")
        elif text in _WORDS:
            self.put(rf"\mathrm{{{text}}}", kind="word")
        elif text in ("for", "otherwise") and "{" in self.open:
            self.put("&")
            self.put(rf"\text{{{text}}}", kind="word")
        elif is_upright(text) and self.called() and following != "ₑₓₚ":  # Fréchet's L and no polynomial
            self.put(rf"\mathrm{{{text}}}", kind="word")
        elif text.startswith("I_") and self.called():
            self.put(r"\mathrm{I}", kind="word")
            self.put("_", "{")
            for kind, part, _ in tokenize(text[2:]).items:
                self.put(part, kind=kind)
            self.put("}")
        elif text in ("L_exp", "L_log"):
            self.put("L", "_", "{", rf"\{text[2:]}", "}")
        elif text == "mod":
            self.put(r"\bmod")
        elif text in FUNCTIONS:
            self.put(rf"\{text}", kind="command")
        elif len(text) == 1:
            self.put(_GREEK.get(text, text))
        elif len(text) == 2 and text[1] in _MARKS:
            self.put(text)
        else:
            self.put(rf"\operatorname{{{text}}}", kind="name")

    def called(self) -> bool:
        """Whether a bracket follows the name here, perhaps behind an accent or an index."""
        at = self.matches[self.k].end()
        mark = re.compile(rf"′|[{_LOW_CHARS}]+|_\(").match(self.text, at)
        if mark is not None:
            at, depth = mark.end(), int(mark[0] == "_(")
            while depth and at < len(self.text):
                depth += {"(": 1, ")": -1}.get(self.text[at], 0)
                at += 1
        return self.text[at : at + 1] == "("

    def begins(self, place: int) -> bool:
        """Whether nothing that could be called, indexed or closed stands before a place."""
        return self.text[place - 1 : place] in _OPENING and place - 1 not in self.closing

    def sign(self, text: str, m: re.Match[str]) -> None:
        begins = self.begins(m.start())
        if text in ("^", "_"):
            self.raised(text)
        elif text in "‖|":
            closing = not begins and text in self.bars
            if closing:
                self.closing.add(m.start())
                self.bars.remove(text)
            else:
                self.bars.append(text)
            left, right = (r"\lVert", r"\rVert") if text == "‖" else (r"\left|", r"\right|")
            self.put(right if closing else left, kind="command" if text == "‖" else "bar")
        elif text in "𝟎𝟏":
            self.put(*((r"\mathbf{1}",) if text == "𝟏" else (r"\mathbf{0}",)), kind="ones" if text == "𝟏" else "zeros")
        elif text == "[" and not begins and self.items:
            self.open.append("_[")
            self.put("_", "{", "[")
        elif text == "[" and (self.open[-1:] in (["=["], ["_["]) or self.is_parameter()):
            self.open.append("=[")
            self.put(text)
        elif text in "([{":
            self.open.append("f(" if text == "(" and not begins else text)
            self.begun += [len(self.items)] * (text == "[")
            self.put(r"\begin{cases}" if text == "{" else text, kind="begin" if text == "{" else "char")
        elif text in ")]}":
            self.close(text)
        elif text in ",;" and self.open[-1:] in (["["], ["[;"]):
            self.next_block(text)
        elif text == ";" and self.open[-1:] == ["{"]:
            self.put(r"\\", kind="row")
        elif text in "√∛":
            self.put(r"\sqrt", *("[3]" if text == "∛" else ""))
            self.open_group()
        else:
            self.put(_SIGNS.get(text, text), kind="bar" if text in "⌊⌋⌈⌉" else "char")

    def is_parameter(self) -> bool:
        """Whether an index stands here, as in ``put(v; index = [:, 0])``, and no condition or block matrix."""
        key, equals = [("", "", 0), *self.items][-2:] if self.items else [("", "", 0)] * 2
        return self.open[-1:] == ["f("] and equals[1] == "=" and key[0] == "word"

    def close(self, text: str) -> None:
        was = self.open.pop() if self.open else ""
        if was in ("[", "[;"):
            self.begun.pop()
        if was == "[;":
            self.put(r"\end{bmatrix}", kind="end")
        elif was == "{":
            self.put(r"\end{cases}", kind="end")
        elif was == "_[":
            self.put("]", "}")
        else:
            self.put("}" if was == "group" else text)

    def next_block(self, text: str) -> None:
        """Between the blocks of ``[A, B; C, D]``, whose first bracket looked like one around a condition."""
        place = self.begun[-1]
        self.items[place] = ("begin", r"\begin{bmatrix}", self.items[place][2])
        self.open[-1] = "[;"
        self.put(*(("&",) if text == "," else (r"\\",)), kind="char" if text == "," else "row")

    def open_group(self) -> None:
        """The bracket that follows stands for LaTeX's braces."""
        self.k += 1
        self.open.append("group")
        self.put("{")

    def raised(self, mark: str) -> None:
        """An index or exponent after its sign: in brackets, or one sign."""
        self.put(mark)
        following = [m[0] for m in self.matches[self.k + 1 : self.k + 3]]
        if following[:2] == ["⊙", "("]:
            self.k += 1
            self.open_group()
            self.put(r"\odot")
        elif following[:1] == ["("]:
            self.open_group()
        else:
            self.put("{")
            for _ in range(2 if following[:1] == ["⊙"] else 1):
                self.k += 1
                if self.k < len(self.matches):
                    self.one(self.matches[self.k])
            self.put("}")


class _RatioReader(_TexReader):
    """The strict reader in which ``/`` divides what stands on its two sides."""

    def ratio(self) -> Any:
        """A factor, or a quotient of two."""
        out = self.factor()
        return divided(out, self.factor()) if self.tokens.found("/") else out


class PlainReader(_RatioReader):
    """The same of tokens of Unicode text."""

    form = "unicode"
    tokenize = staticmethod(tokenize)


class _StepReader(_RatioReader):
    """The same of the lines of a recurrence: numbered names in LaTeX, and those of the text as it spells them."""

    def __init__(self, tokens: Tokens, table: dict[str, Term]):
        super().__init__(tokens, table)
        self.names += [name for name in PlainReader(tokens, table).names if name not in self.names]
        self.names.sort(key=lambda entry: -len(entry[0]))


def from_unicode(text: str, symbols: Mapping[str, Any] | Iterable[Term], shape: tuple[Any, ...] | None = None) -> Term:
    """The term of Unicode text as this library prints it; arguments as for ``from_latex``.

    >>> from_unicode("2 Xᵀ (X w − y)", {"X": ("n", "m"), "w": ("m",), "y": ("n",)}).shape
    ('m',)
    """
    table = symbol_table(symbols)
    lines = [line.strip() for line in unicodedata.normalize("NFC", text).strip().splitlines() if line.strip()]
    if any(_RANGE.search(line) for line in lines):
        steps = _StepReader(in_latex(expanded(_recurrence(lines))), table)
        return settled(steps.whole(), shape)
    known: list[tuple[str, Term]] = []
    for line in lines[:-1]:
        left, _, right = line.partition(" = ")
        letters = _DECOMPOSED.fullmatch(right.strip())
        if letters is not None:
            found = parts(letters[4], settled(_value(left, table, known), None))
            known += zip(letters.groups(), found, strict=False)
        else:
            known.append((left, named_term(_value(right, table, known))))
    left, _, right = lines[-1].partition(" = ")
    last = right if right and (known or "∂" in left) and not re.search(r"[(\[{]", left) else lines[-1]
    return settled(_value(last, table, known), shape)


def _recurrence(lines: Iterable[str]) -> str:
    """A recurrence in LaTeX's signs; quotients keep their stroke."""
    rows = []
    for line in "\n".join(lines).replace(",\n", ", ").split("\n"):  # the steps may stand in a line of their own
        names, right = re.fullmatch(r"((?:[^\s(∑\[]+(?:\[[^\]]*\])? = )*)(.*)", line).groups()  # type: ignore[union-attr]
        left = " = ".join(map(_spelled, names.split(" = ")[:-1]))
        listed = re.fullmatch(r"[^,(]+(, [^,(…]+)+", right)
        value = r",\; ".join(map(_spelled, right.split(", "))) if listed else _spelled(right)
        rows.append(f"{left} &= {value}" if left else f"& {value}")
    return r"\begin{aligned} " + r" \\ ".join(rows) + r" \end{aligned}"


def _spelled(text: str) -> str:
    """The tokens of a line as one text."""
    out = ""
    for _, part, _ in tokenize(unicodedata.normalize("NFD", text)).items:
        part = rf"\bar{{{part[0]}}}" if part[1:] == "\u0304" else part
        out += " " * (out[-1:].isalnum() and (part[0] == "\\" or part[0].isalnum())) + part
    return re.sub(r",(\w)=(\d+),\\ldots,(\d+)$", r", \1 = \2, \\ldots, \3", out)


def _value(text: str, table: dict[str, Term], known: Iterable[tuple[str, Term]]) -> Any:
    reader = PlainReader(tokenize(text), table)
    for name, term in known:
        reader.define(name, term)
    found = reader.condition()
    reader.tokens.end()
    return found
