r"""Tokens of formulas as people type them in LaTeX, rewritten to the notation of :mod:`symgrad.formula.reading.tex`."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from symgrad.errors import FormulaError
from symgrad.formula.printing.names import FUNCTIONS
from symgrad.formula.reading.atoms import word
from symgrad.formula.reading.called import called
from symgrad.formula.reading.people.paper import FRACTION, LOWERED, RAISED, in_braces, with_members
from symgrad.formula.reading.text import Tokens
from symgrad.op import FRONTS, TABLE

Token = tuple[str, str, int]

TOKEN = re.compile(
    r"(?P<skip>\s+|\\[,;:!> ]|~|\$+|\\[\[\]()]|\\(?:label|tag|hspace|vspace|color|textcolor)\*?\{[^}]*\}"
    r"|\\(?:displaystyle|textstyle|limits|nolimits|mathstrut|quad|qquad|left|right|middle|[bB]igg?[lrm]?|nonumber|notag)"
    r"(?![a-zA-Z])\.?)"
    r"|(?P<define>:=)|(?P<brace>\\[{}])|(?P<begin>\\begin\{\w+\*?\})|(?P<end>\\end\{\w+\*?\})|(?P<name>\\operatorname\*?\{(?:[^}\\]|\\_)*\})"
    r"|(?P<word>\\(?:text|mathrm|textrm|mathsf|mathtt)\{(?:[^}\\]|\\_)*\})"
    r"|(?P<bold>\\(?:mathbf|mathbb|mathit|boldsymbol|bm)\{[a-zA-Z]{2,}\})"
    r"|(?P<ones>\\(?:mathbf|boldsymbol|bm|mathbb)\s*(?:\{1\}|1))"
    r"|(?P<number>\d+\.\d+|\.\d+|\d+)|(?P<row>\\\\)|(?P<norm>\\\||\\[lr]?Vert(?![a-zA-Z]))|(?P<command>\\[a-zA-Z]+)"
    rf"|(?P<raised>{RAISED}+)|(?P<lowered>{LOWERED}+)|(?P<fraction>{FRACTION})"
    r"|(?P<bare>(?<![a-zA-Z\\])[a-zA-Z]{2,}(?=\())|(?P<char>.)",
    re.DOTALL,
)
_MATRIX = re.compile(r"\\(begin|end)\{(?:[pB]|small)?matrix\}")
_BRACES = ("underbrace", "overbrace")
"""Braces with a word beside them, which says what the part is called."""
_FONTS = {
    rf"\{f}"
    for f in (
        "mathbf",
        "boldsymbol",
        "bm",
        "mathit",
        "mathcal",
        "mathsf",
        "vec",
        "mathrm",
        "mathbb",
        "bf",
        "rm",
        "it",
        "sf",
        "cal",
        "boxed",
        "underline",
        *_BRACES,
    )
}
TURNED = {"T", "t", r"\top", r"\intercal", r"\mathsf{T}", r"\mathrm{T}", r"\text{T}", r"\prime", "'", "⊤", "ᵀ"}
LETTERS_TURNED = ("T", "t", "H")
"""Letters that are transposes where they are no symbols."""

ADJOINT = {"H", r"\dagger", r"\mathsf{H}", r"\mathrm{H}", "*", r"\ast"}
_SAME = {
    r"\circ": r"\odot", "×": r"\times", "*": r"\cdot", "·": r"\cdot", "⊙": r"\odot", r"\ln": r"\log",
    r"\tfrac": r"\frac", r"\dfrac": r"\frac", r"\cfrac": r"\frac",
    r"\Re": r"\operatorname{Re}", r"\Im": r"\operatorname{Im}",
    r"\lg": r"\operatorname{log10}", "⌊": r"\lfloor", "⌋": r"\rfloor", "⌈": r"\lceil", "⌉": r"\rceil",
    r"\leq": r"\le", r"\geq": r"\ge", r"\neq": r"\ne", r"\lvert": "|", r"\rvert": "|",
    r"\vert": "|",
    r"\land": r"\wedge", r"\lor": r"\vee", "−": "-", r"\lbrack": "[", r"\rbrack": "]", r"\lbrace": "(", r"\rbrace": ")",
    r"\{": "(", r"\}": ")", r"\widehat": r"\hat", r"\widetilde": r"\tilde", r"\trace": r"\operatorname{tr}",
    r"\tr": r"\operatorname{tr}", r"\Tr": r"\operatorname{tr}", r"\diag": r"\operatorname{diag}",
    r"\sign": r"\operatorname{sign}", r"\sgn": r"\operatorname{sign}", r"\softmax": r"\operatorname{softmax}",

    r"\prime": "'", r"\dag": r"\dagger", "⋅": r"\cdot", "∘": r"\odot", "′": "'",
    r"\mid": "|", "δ": r"\delta", "∑": r"\sum", "∏": r"\prod", ":=": "=", r"\coloneqq": "=",
    r"\triangleq": "=", r"\equiv": "=", r"\nicefrac": r"\frac", r"\sfrac": r"\frac", r"\dots": r"\ldots",
    r"\cdots": r"\ldots", "…": r"\ldots", r"\forall": r"\for",
}  # fmt: skip
ACCENTS = (r"\hat", r"\bar", r"\tilde", r"\dot")
OPERATORS = {
    "Tr": "trace", "trace": "trace", "sgn": "sign", "expm": "matrix_exp", "ReLU": "relu", "Diag": "diag", "log": "log",
    "inv": "inv", "sech": "sech", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "arsinh": "asinh",
    "artanh": "atanh", "asin": "asin", "softplus": "softplus", "logdet": "logdet", "sigmoid": "sigmoid", "ln": "log",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "Abs": "abs", "fabs": "abs", "transpose": "transpose",
    "det": "det", "avg": "mean", "exp": "exp", "vec": "vec", "adj": "adj", "adjugate": "adj", "Heaviside": "step",
    "heaviside": "step", "pinv": "pinv", "kron": "kron", "Inverse": "inv", "Transpose": "transpose", "Trace": "trace",
    "Determinant": "det", "logistic": "sigmoid", "sigm": "sigmoid", "expit": "sigmoid", "cof": "cof", "sym": "sym",
    "adjoint": "adj", "ifelse": "where", "pmax": "maximum", "pmin": "minimum", "plogis": "sigmoid", "pnorm": "ndtr",
    "normcdf": "ndtr", "qnorm": "ndtri", "norminv": "ndtri", "dnorm": "normpdf",
    "length": "len", "nrow": "len", "numel": "size", "NROW": "len",
}  # fmt: skip
_TAKES = {r"\frac": 2, r"\sqrt": 1, "^": 1, "_": 1, r"\hat": 1, r"\bar": 1, r"\tilde": 1, r"\overline": 1, r"\dot": 1}


# ---------------------------------------------------------------------------------------------- tokens


class PeopleTokens(Tokens):
    """Tokens whose errors show the place with a caret."""

    def error(self, problem: str, kind: type[Exception] = FormulaError) -> Exception:
        """An error with the text and a caret below the place where reading stopped."""
        place = self.items[self.at][2] if self.at < len(self.items) else len(self.text)
        start = max(0, place - 50)
        line = self.text[start : start + 72].replace("\n", " ")
        return kind(f"cannot read the formula at position {place}: {problem}\n    {line}\n    {' ' * (place - start)}^")


def _pieces(text: str) -> Iterator[Token]:
    """The tokens as they stand there, without spaces; small letters and fractions of Unicode have braces."""
    for match in TOKEN.finditer(text):
        kind = str(match.lastgroup)
        if kind in ("raised", "lowered", "fraction"):
            yield from in_braces(kind, match[0], match.start())
        elif kind in ("begin", "end") and match[0].endswith(("{vmatrix}", "{Vmatrix}")):
            yield from _between_bars(kind, match[0], match.start())
        elif kind != "skip":
            yield kind, _MATRIX.sub(r"\\\1{bmatrix}", match[0]), match.start()


def _between_bars(kind: str, text: str, place: int) -> Iterator[Token]:
    """A matrix whose bars say what is meant of it: the determinant or the norm."""
    if kind == "begin":
        yield ("command", r"\det", place) if "{v" in text else ("norm", r"\|", place)
    yield kind, rf"\{kind}{{bmatrix}}", place
    if kind == "end" and "{V" in text:
        yield "norm", r"\|", place


def tokenize(text: str) -> Tokens:
    """The tokens of LaTeX typed by people, rewritten to the strict notation."""
    items: list[Token] = []
    for kind, found, place in _pieces(with_members(text)):
        if kind == "word" and word(found).strip() in _WORDS:
            kind, found = "char", _WORDS[word(found).strip()]
        elif kind == "word" and word(found) in ("otherwise", "else"):
            found = r"\text{otherwise}"
        elif kind == "bold" and not _is_function(word(found)):
            items += [(k, text, place + at) for k, text, at in _pieces(found.replace("{", "{ "))]
            continue
        elif kind == "bare" and not _is_function(found):
            items += [("char", letter, place + k) for k, letter in enumerate(found)]
            continue
        elif kind == "bare":  # det(X) without its backslash, as in plain text
            kind, found = "name", rf"\operatorname{{{found}}}"
        elif kind == "word" and found.startswith(r"\text") and word(found).strip() in _FILLERS:
            continue
        elif kind in ("word", "bold") and _is_function(word(found)):
            kind, found = "name", rf"\operatorname{{{word(found)}}}"
        elif found in (r"\max", r"\min") and _names_something(items, text[place + len(found) :]):
            kind, found = "name", rf"\operatorname{{{found[1:]}}}"
        elif kind == "name":
            found = found.replace("*{", "{")
        elif kind == "word" and len(word(found)) == 1 and word(found).isalpha():
            kind, found = "char", word(found)
        elif kind == "ones":
            found = r"\mathbf{1}"
        elif found == "*" and [i[1] for i in items[-2:]] in (["^", "{"], [*[i[1] for i in items[-2:-1]], "^"]):
            found = r"\ast"
        elif kind == "norm":
            kind, found = "char", r"\|"
        found = _SAME.get(found, found)
        kind = "name" if found.startswith(r"\operatorname") else kind
        items.append((kind, found, place))
    return PeopleTokens(text, scripted(fractions(primes(bars(lines(without_fonts(items)))))))


def _names_something(items: list[Token], rest: str) -> bool:
    r"""Whether ``\max`` is a part of a name, as in ``\theta_{\max}``; ``\lambda_{\max}(A)`` is a function of A."""
    before = [i[1] for i in items[-3:]]
    eigenvalue = before[:1] in ([r"\lambda"], [r"\sigma"]) and re.match(r"\}\s*(\\left\s*)?\(", rest)
    return before[1:] == ["_", "{"] and not eigenvalue


_FILLERS = ("if", "and", "")
_WORDS = {
    "T": "T", "⊤": "T", "H": "H", "e": "e", "I": "I", "Id": "I", "F": "F", "where": ";", "with": ";", "since": ";",
    "because": ";", "for": r"\for", "for all": r"\for", "for each": r"\for",
}  # fmt: skip
"""Words that are signs: letters in upright type, and what introduces definitions or the range of indices."""


def _is_function(name: str) -> bool:
    return name in TABLE or name in FRONTS or name in OPERATORS or name in ("tr", "diag")


def without_fonts(items: list[Token]) -> list[Token]:
    """The tokens without commands for bold and other letters, frames, and braces with what stands beside them."""
    out: list[Token] = []
    closes: list[tuple[int, bool]] = []
    depth = 0
    k = 0
    while k < len(items):
        kind, text, place = items[k]
        if text in _FONTS:
            if k + 1 < len(items) and items[k + 1][1] == "{":
                closes.append((depth, text[1:] in _BRACES))
                depth += 1
                k += 1
        elif text == "}" and closes and closes[-1][0] == depth - 1:
            depth -= 1
            if closes.pop()[1] and k + 2 < len(items) and items[k + 1][1] in ("_", "^"):
                k = closing(items, k + 2) if items[k + 2][1] == "{" else k + 2
        else:
            depth += (text == "{") - (text == "}")
            out.append((kind, text, place))
        k += 1
    return out


def lines(items: list[Token]) -> list[Token]:
    """The tokens of displayed lines one after the other: a line goes on with a sign, and ends the last one without."""
    out: list[Token] = []
    inside = resume = 0
    for k, (kind, text, place) in enumerate(items):
        if k < resume:
            continue
        if kind in ("begin", "end") and text[text.index("{") + 1 : -1].rstrip("*") in _DISPLAYS:
            continue
        inside += (kind == "begin") - (kind == "end")
        if inside or text not in ("&", r"\\"):
            out.append((kind, text, place))
        elif text == r"\\":
            resume = k + 1
            while [i[1] for i in items[resume : resume + 1]] == ["&"]:
                resume += 1
            if [i[1] for i in items[resume : resume + 2]] == ["{", "}"]:
                resume += 2
            following = items[resume][1] if resume < len(items) else ""
            if out and out[-1][1] in (".", ",", ";"):
                out.pop()
            goes_on = following in _GOES_ON and not _is_named_in(out, items[resume:])
            if not goes_on and not following.startswith(r"\end"):
                out.append(("char", ";", place))
    while out and out[-1][1] in (".", ",", ";"):
        out.pop()
    return out


_DISPLAYS = (
    "aligned", "align", "equation", "gather", "gathered", "multline", "split", "eqnarray", "displaymath", "math",
)  # fmt: skip
_GOES_ON = ("=", "+", "-", r"\cdot", r"\odot", ")", "]", "")


def _is_named_in(before: list[Token], after: list[Token]) -> bool:
    """Whether a row uses what the row before defines, so that it is no part of that: ``t = Ax``, and then ``-2 t``."""
    row = [text for _, text, _ in before]
    row = row[len(row) - row[::-1].index(";") :] if ";" in row else row
    name = [text for text in row[: row.index("=")] if text != "&"] if "=" in row else []
    words = [text for _, text, _ in itertools.takewhile(lambda item: item[0] != "row" and item[1] != ";", after)]
    return bool(name) and any(name == words[k : k + len(name)] for k in range(len(words)))


def fractions(items: list[Token]) -> list[Token]:
    r"""The tokens with ``{a \over b}`` as ``\frac{a}{b}``."""
    items = list(items)
    while any(text == r"\over" for _, text, _ in items):
        at = next(k for k, item in enumerate(items) if item[1] == r"\over")
        start, end, depth = 0, len(items), 0
        for k in range(at - 1, -1, -1):
            depth += (items[k][1] == "}") - (items[k][1] == "{")
            if depth < 0:
                start = k + 1
                break
        depth = 0
        for k in range(at + 1, len(items)):
            depth += (items[k][1] == "{") - (items[k][1] == "}")
            if depth < 0:
                end = k
                break
        place = items[at][2]
        opened, joined, closed = ([("char", text, place) for text in texts] for texts in ((r"\frac", "{"), "}{", "}"))
        items[start:end] = [*opened, *items[start:at], *joined, *items[at + 1 : end], *closed]
    return items


def bars(items: list[Token]) -> list[Token]:
    """The tokens with ``||x||`` as a norm; the two bars in the middle of ``|x||y|`` stay two."""
    out: list[Token] = []
    inside: list[str] = []
    k = 0
    while k < len(items):
        kind, text, place = items[k]
        twice = text == "|" and [i[1] for i in items[k + 1 : k + 2]] == ["|"] and inside[-1:] != ["|"]
        text = r"\|" if twice else text
        if text in ("|", r"\|"):
            inside.pop() if inside[-1:] == [text] else inside.append(text)
        out.append((kind, text, place))
        k += 1 + twice
    return out


def primes(items: list[Token]) -> list[Token]:
    r"""The tokens with ``A'`` and ``A^\prime`` as transposes; ``\sigma'`` stays the derivative of a function."""
    out: list[Token] = []
    skipped = 0
    for k, (kind, text, place) in enumerate(items):
        if skipped:
            skipped -= 1
            continue
        if text != "'":
            out.append((kind, text, place))
            continue
        if [i[1] for i in out[-2:]] == ["^", "{"] and [i[1] for i in items[k + 1 : k + 2]] == ["}"]:
            del out[-2:]
            skipped = 1
        elif out and out[-1][1] == "^":
            out.pop()
        if out and (out[-1][0] == "name" or _is_derived(out[-1][1])):
            out.append((kind, text, place))
        else:
            out += [("char", part, place) for part in ("^", "{", r"\top", "}")]
    return out


RECIPROCALS = tuple(rf"\{name}" for name in ("sec", "csc", "cot", "sech", "csch", "coth"))


def _is_derived(text: str) -> bool:
    """Whether a prime means the derivative: behind functions, but for letters that matrices are called by."""
    function = text in called().commands and text[1:] in (*FUNCTIONS, "sigma", "psi")
    return function or text in RECIPROCALS


def braced(items: list[Token]) -> list[Token]:
    r"""The tokens with braces around arguments of one token, as in ``\frac12`` and ``x^2``."""
    items = list(items)
    out: list[Token] = []
    k = 0
    while k < len(items):
        k = _unit(items, k, out)
    return out


def scripted(items: list[Token]) -> list[Token]:
    r"""The tokens with braces, where ``1^\top`` and ``11^\top`` are ones, and ``\|X\|^2_F`` has its index first."""
    out = braced(items)
    for k in range(len(out) - 4, -1, -1):
        if out[k][1] == "11" and [text for _, text, _ in out[k + 1 : k + 3]] == ["^", "{"] and out[k + 3][1] in TURNED:
            out[k : k + 1] = [("ones", r"\mathbf{1}", out[k][2] + j) for j in range(2)]
    words = [text for _, text, _ in out]
    for k, (kind, text, place) in enumerate(out):
        if _is_block_of_zeros(out, k):
            out[k] = ("zeros", r"\mathbf{0}", place)
        if words[k + 1 : k + 3] != ["^", "{"]:
            continue
        if kind == "number" and text == "1" and words[k + 3] in TURNED:
            out[k] = ("ones", r"\mathbf{1}", place)
        end = closing(out, k + 2)
        if text == r"\|" and words[end + 1 : end + 3] == ["_", "{"]:
            last = closing(out, end + 2) + 1
            out[k + 1 : last] = out[end + 1 : last] + out[k + 1 : end + 1]
    return out


def _is_block_of_zeros(items: list[Token], k: int) -> bool:
    r"""Whether ``0_{n - 2}`` comes, with its size, between the ``&``, ``\\`` and ends of a matrix."""
    if items[k][:2] != ("number", "0") or [text for _, text, _ in items[k + 1 : k + 3]] != ["_", "{"]:
        return False
    around = [*items[k - 1 : k], *items[closing(items, k + 2) + 1 :][:1]]
    return len(around) == 2 and all(kind in ("begin", "row", "end") or text == "&" for kind, text, _ in around)


def _unit(items: list[Token], k: int, out: list[Token]) -> int:
    """Copy one token with its arguments; gives the place after them."""
    text = items[k][1]
    out.append(items[k])
    k += 1
    if text == r"\sqrt" and k < len(items) and items[k][1] == "[":
        while k < len(items) and items[k - 1][1] != "]":
            out.append(items[k])
            k += 1
    for _ in range(_TAKES.get(text, 0)):
        k = _argument(items, k, out, split=text in (r"\frac", r"\sqrt"))
    return k


def _argument(items: list[Token], k: int, out: list[Token], split: bool) -> int:
    if k >= len(items):
        return k
    kind, text, place = items[k]
    if text == "{":
        end = closing(items, k)
        out += [items[k], *braced(items[k + 1 : end])]
        out += items[end : end + 1]
        return end + 1
    out.append(("char", "{", place))
    if split and kind == "number" and text.isdigit() and len(text) > 1:
        out.append((kind, text[0], place))
        items[k] = (kind, text[1:], place + 1)
    elif text == "-" and k + 1 < len(items):
        out.append(items[k])
        k = _unit(items, k + 1, out)
    else:
        k = _unit(items, k, out)
    out.append(("char", "}", place))
    return k


def closing(items: list[Token], k: int, brackets: str = "{}") -> int:
    """The place of the bracket that closes the one at ``k``; the end where there is none."""
    depth = 0
    for j in range(k, len(items)):
        depth += (items[j][1] == brackets[0]) - (items[j][1] == brackets[1])
        if not depth:
            return j
    return len(items)
