r"""What a text tells of its arguments: ``x_i^\top w`` speaks of rows of a matrix, ``eye(n)`` of a size."""

from __future__ import annotations

import itertools
import re
from collections.abc import Container, Iterable

from symgrad.errors import FormulaError
from symgrad.formula.reading.people.paper import SUMMED, worded

Costs = dict[int, int]
"""How surprising each rank of an argument would be."""

_ROW = re.compile(r"\\?([A-Za-z]+)_\{?\w\}?\s*\^\s*\{?\s*(?:\\top|\\intercal|T)\b\s*\}?\s*(?:\\?([A-Za-z]+)_)?")
_ROOT_OF_SIZE = re.compile(r"sqrt\s*[({]\s*([dnND](?:_\{?\w+\}?)?)\s*[)}]")
_MADE_BY_SIZE = re.compile(r"\b(?:eye|identity|ones|zeros)\(\s*([A-Za-z]\w*)\s*\)")
_MADE_BY_NUMBER = re.compile(r"\b(?:eye|identity)\(\s*(\d{1,6})\s*\)")


def ranks(text: str) -> dict[str, Costs]:
    r"""The ranks that a text suggests: of what has indices, of bold letters, of the number in ``/ sqrt(d)``.

    >>> ranks(r"\sum_i \log(1 + e^{-y_i x_i^\top w})"), ranks("sum(softmax(Q@K.T/sqrt(d))@V)")
    ({'y': {1: 0, 2: 2, 0: 6}, 'x': {2: 0, 1: 4}}, {'d': {0: 0, 1: 3}})
    """
    text = worded(text)
    roots = {re.sub(r"[{}]", "", name): {0: 0, 1: 3} for name in _ROOT_OF_SIZE.findall(text)}
    return roots | (_ranks_in_latex(text) if "\\" in text else {}) | _rows(without_fonts(text))


def _rows(text: str) -> dict[str, Costs]:
    return {name: dict(ROWS) for pair in _ROW.findall(text) for name in pair if name}


ROWS: Costs = {2: 0, 1: 4}
VECTOR: Costs = {1: 0, 2: 2, 0: 6}
_NAME = r"(\\?[A-Za-z]+)"
_FONT = re.compile(rf"\\(?:mathbf|boldsymbol|bm|math(?:it|rm|sf)|vec|bf)(?![A-Za-z])\s*(?:\{{\s*{_NAME}\s*\}}|{_NAME})")
_BOLD = re.compile(
    r"\\(?:mathbf|boldsymbol|bm|vec)(?![A-Za-z])\s*\{?\s*\\?([A-Za-z]+)\s*\}?(?:\s*_\s*\{?\s*([a-z])(?![A-Za-z]))?"
)
_SMALL = re.compile(r"(?<![A-Za-z\\])[a-z](?![A-Za-z])")
_INDEXED = re.compile(r"\\?([A-Za-z]+)_\s*(?:\{\s*([a-z]\s*,?\s*[a-z]?)\s*\}|([a-z])(?![a-zA-Z]))")
_TRANSPOSE = r"\^\s*\{?\s*(?:\\top|\\intercal|T)\b"
_BESIDE_TRANSPOSE = re.compile(rf"\w\}}?\s*{_TRANSPOSE}\s*\}}?\s*\\?([A-Za-z]+)_\{{?([a-z])\}}?")
_TURNED_SUM = re.compile(rf"\(([^()]*)\)\s*{_TRANSPOSE}")
_EXPONENT = re.compile(r"(?<!e)(?<!\\exp)\s*\^\s*(?:\{\s*)?\\?([A-Za-z]+)(?!\w)")
_POWER = re.compile(r"(?<![A-Za-z\\])([A-Z])\s*\^\s*(?:\{[^{}]*?)?\\?([a-z]+)(?![A-Za-z])")
_NO_NUMBERS = ("T", "H", "top", "intercal", "prime", "dagger", "ast")


def without_fonts(text: str) -> str:
    r"""A text with its letters in plain type.

    >>> without_fonts(r"\mathbf{x}_i^\top \boldsymbol\beta")
    'x_i^\\top \\beta'
    """
    plain = _FONT.sub(lambda m: m[1] or m[2], text)
    return re.sub(r"\\(?:left|right|[bB]igg?[lr]?)(?![A-Za-z])\s*(?=[(\[)\]])", "", plain)


def bold(text: str) -> set[str]:
    """The letters that stand in bold in a text, by name."""
    return {name for name, _ in _BOLD.findall(text)}


def _ranks_in_latex(text: str) -> dict[str, Costs]:
    """The ranks that bold letters and indices suggest, what says most last."""
    plain, in_bold = without_fonts(text), _BOLD.findall(text)
    summed = {x for pair in SUMMED.findall(plain) for x in pair if x}
    found = _numbers_among_entries(plain, summed)
    found |= {name: {0: 0, 1: 3} for name in _EXPONENT.findall(plain) if name not in _NO_NUMBERS}
    if any(name.islower() for name, _ in in_bold):
        letters = set(_SMALL.findall(text)) - {name for name, _ in in_bold}
        found |= {name: {0: 0, 1: 1, 2: 4} for name in letters}
    found |= {base: {0: 0, 1: 2, 2: 3} for base, name in _POWER.findall(plain) if name not in _NO_NUMBERS}
    for inside in _TURNED_SUM.findall(plain):
        terms = [t.strip() for t in re.split(r"[+-]", inside)]
        found |= {t.lstrip("\\"): dict(VECTOR) for t in terms if len(terms) > 1 and re.fullmatch(r"\\?[a-z]+", t)}
    for name, index in in_bold:
        found[name] = dict(ROWS) if index in summed or name[:1].isupper() else {1: 0, 0: 3, 2: 4}
    for name, below, alone in _INDEXED.findall(plain):
        letters = set(re.sub(r"[\s,]", "", below or alone))
        if letters <= summed and name not in ("sum", "prod", *(n for n, _ in in_bold)):
            found[name] = dict(VECTOR) if len(letters) == 1 else {2: 0, 1: 5, 0: 9}
    return found | {name: dict(ROWS) for name, index in _BESIDE_TRANSPOSE.findall(plain) if index in summed}


def _numbers_among_entries(text: str, summed: set[str]) -> dict[str, Costs]:
    r"""The small letters without an index in sums of entries, ``\sum_i (y_i - a x_i)^2``, which are no arrays there."""
    if not summed or _ARRAYS.search(text):
        return {}
    indexed = {name for name, _, _ in _INDEXED.findall(text)}
    letters = {name.lstrip("\\") for name in _LETTER.findall(text)} - indexed - summed
    return {name: {0: 0, 1: 2, 2: 6} for name in letters}


_ARRAYS = re.compile(rf"\\\||\\[lr]?Vert|‖|\\langle|\)\s*_|\\det|tr\b|{_TRANSPOSE}")
_LETTER = re.compile(r"(?<![A-Za-z\\])[a-z](?![A-Za-z])|\\[a-z]+")


def sizes(text: str, names: Iterable[str]) -> list[str]:
    """Those of some names that are nothing but sizes of what ``eye(n)`` and its like make, or divided by.

    >>> sizes("y@inv(K + s**2*eye(n))@y/n", ["y", "K", "s", "n"])
    ['n']
    """
    made = set(_MADE_BY_SIZE.findall(text))
    rest = re.sub(r"/\s*\w+\b(?!\s*\()", "", _MADE_BY_SIZE.sub("", text))
    return [name for name in names if name in made and not re.search(rf"\b{name}\b", rest)]


def numbers(text: str) -> list[int]:
    """The sizes that ``eye(3)`` and its like state.

    >>> numbers("log(det(X.T@X + lam*eye(3)))")
    [3]
    """
    return sorted({int(n) for n in _MADE_BY_NUMBER.findall(text)})


_IDENTITY = re.compile(r"(^|[-+(])\s*(?:[\w.^*/]+\*\s*)?I\s*(?=($|[-+)]))")


def has_identity(text: str) -> bool:
    """Whether every ``I`` of a plain text is a term of a sum, with a factor before it or none, beside matrices.

    >>> has_identity("log(det(X + lam*I))"), has_identity("I**2*R"), has_identity("V - I*R")
    (True, False, False)
    """
    places = len(re.findall(r"(?<![\w.])I(?!\w)", text))
    terms = [pair for pair in _IDENTITY.findall(text) if {"+", "-"} & set(pair)]
    return bool(re.search(r"[A-HJ-Z]", text)) and places == len(terms)


_PRIMED = re.compile(r"(?<![A-Za-z\\])(\\?[a-z]+)\s*[-+]\s*\1\s*(?:'|\^\s*\{?\s*\\prime)")


def primed(text: str) -> list[str]:
    r"""The small letters that stand in a sum with themselves and a prime, which is no transpose there.

    >>> primed(r"\|\mathbf{x} - \mathbf{x}'\|^2"), primed("X + X'")
    (['x'], [])
    """
    return [name.lstrip("\\") for name in _PRIMED.findall(without_fonts(text))]


_D = r"(?:\\(?:mathrm|rm)\s*\{?\s*d\s*\}?|d|\\partial|∂)"
_ASKED_FOR = "a derivative that is to be found is asked for with wrt=, as in formula('sin(x)', wrt='x')"
_UNREAD = {
    "d": (
        re.compile(
            rf"\\[dt]?frac\s*\{{?\s*{_D}\s*\}}?\s*\{{\s*{_D}\s*\\?\w+\s*\}}|(?<![\w.]){_D}/{_D}[^\W\d](?![\w.])"
        ),
        _ASKED_FOR,
    ),
    "E": (
        re.compile(r"\\(?:mathbb|mathsf|operatorname)\s*\{?\s*E\s*\}?"),
        r"expectations are not read; the mean of samples is \frac{1}{n} \sum_i x_i",
    ),
    r"\nabla": (
        re.compile(r"\\(?:nabla|partial)(?![A-Za-z])|[∇∂]"),
        _ASKED_FOR,
    ),
    r"\arg": (
        re.compile(r"\\arg(?![A-Za-z])|\\operatorname\*?\s*\{\s*arg(?:\s+|\s*\\[,;! ]\s*)(?:max|min)\s*\}"),
        r"the place of the largest entry has no derivative; the largest entry is \max_i x_i, and its place argmax(x)",
    ),
    r"\int": (re.compile(r"\\i*int(?![A-Za-z])|[∫∬]"), "integrals are not read; write what it is"),
    r"\lim": (re.compile(r"\\lim(?![A-Za-z])"), "limits are not read; write what it is"),
    r"\pm": (
        re.compile(r"\\(?:pm|mp)(?![A-Za-z])|[±∓]"),
        "this stands for two formulas; write one of them, with + or -",
    ),
    "|": (
        re.compile(r"\\(?:right|[bB]igg?r?)\s*(?:\||\\[rl]?vert(?![A-Za-z]))\s*_|\|\s*_\s*\{[^{}]*="),
        "the value at a point is not read; write the formula, and give the function that it makes the point",
    ),
    r"\pmod": (re.compile(r"\\p?mod(?![A-Za-z])"), r"the remainder of a division is written x \bmod y"),
    r"\star": (
        re.compile(r"\\(?:star|ast|oplus|ominus|boxtimes)(?![A-Za-z])(?!\s*\}|\s*$)(?<!\^\\ast)(?<!\^\\star)"),
        r"this sign has no meaning of its own here; products are written X Y, entry by entry X \odot Y",
    ),
    r"\in": (
        re.compile(r"\\in(?![A-Za-z])\s*\\mathbb"),
        "shapes are stated with shapes=, as in shapes='x=n'",
    ),
    r"\dagger": (
        re.compile(r"\^\s*\{?\s*\\dag(?:ger)?(?![A-Za-z])|[†]"),
        r"this sign is the pseudo-inverse to some, and the adjoint to others; write X^{+} or X^{H}",
    ),
    **{
        name: (
            re.compile(rf"(?<![A-Za-z\\]){name}'+\s*\("),
            f"{name} is no function that is known here; write what it is in its place",
        )
        for name in "fgh"
    },
}
"""What is not read although its letters could be symbols, by the name of the symbol that it would be."""


_APPLIED = re.compile(
    r"(?<![A-Za-z\\_^{])(\\?[A-Za-z]+)(?:_(?:\{(\w+)\}|(\w)))?\s*(?:\\left)?\(\s*\\?([A-Za-z]+)\s*(?:\\right)?\)(?!\s*=)"
)


def unapplied(text: str, names: Container[str], known: Container[str]) -> None:
    """Raise ``FormulaError`` for ``f(x)`` where both are symbols: nobody writes a product so."""
    for found in _APPLIED.finditer(text):
        name = "_".join(part for part in (found[1].lstrip("\\"), found[2] or found[3]) if part)
        if name in names and name not in known and found[4] in names:
            place = found.start()
            raise FormulaError(
                f"cannot read the formula at position {place}: {name} is no function that is known here; write what it "
                f"is in its place, and the product as {name}*{found[4]}\n    {text}\n    {' ' * place}^"
            )


def unread(text: str, known: Container[str]) -> None:
    """Raise ``FormulaError`` for a derivative to be found, an expectation, or the slope of an unknown function."""
    depths = itertools.accumulate((c == "{") - (c == "}") for c in text)
    start = max((k + 1 for k, depth in enumerate(depths) if text[k] == "=" and depth == 0), default=0)
    for name, (pattern, problem) in _UNREAD.items():
        found = None if name in known else pattern.search(text, start)
        if found:
            place = found.start()
            raise FormulaError(
                f"cannot read the formula at position {place}: {problem}\n    {text}\n    {' ' * place}^"
            )
