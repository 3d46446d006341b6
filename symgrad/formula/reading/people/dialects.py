"""Text of Python's functions, R, MATLAB and Mathematica in the notation of NumPy or of paper; LaTeX stays as it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from symgrad.errors import FormulaError
from symgrad.formula.reading.people.programs import as_formula


def plain(text: str, table: Mapping[str, Any] | None = None) -> str:
    """A text with one sign for each thing; of a program it is what that gives, and loops in sums are indices.

    >>> plain("def g(x): return 2*sum(a[i]*x[i] for i in range(n))")
    '2 * (sum_i^(n) (a _{i}  * x _{i} ))'
    >>> plain("y * t(A) %*% x"), plain("Transpose[A].x")
    ('y * (transpose(A) @ x)', 'Transpose[A]@x')
    """
    text = _REMARKS.sub("", text.replace("⁄", "/").replace("∕", "/"))
    text = re.sub(r"%[^\n]*", "", text) if language(text) == MATLAB else text
    text = as_formula(text, table or {}) or text
    text = _FUNCTION.sub(r"\g<body>", _HEAD_OF_FUNCTION.sub("", text))
    found = _STEERING.search(text) or _LOOP.search(text)
    if found is not None:
        raise FormulaError(
            f"cannot read a text with {found[0].strip()!r}; a formula has definitions y = … alone; "
            "write a sum as sum(… for i in range(n)), and a case as where(x > 0, …, …)"
        )
    text = _with_products_first(_with_indices(_STEP.sub(r"\1\2 = \2 \3 (\4)", text)))
    for sign, rewrites in _DIALECTS:
        if re.search(sign, text):
            for pattern, meant in rewrites:
                text = re.sub(pattern, meant, text)
    return text


def language(text: str) -> str:
    """The language of a text that begins as a function does there; empty for others.

    >>> language("@(A) A'*A"), language("g <- function(x) sum(x^2)"), language("sum(x**2)")
    ('MATLAB', 'R', '')
    """
    return next((name for name, head in _HEADS.items() if re.match(rf"\s*{head}", text)), "")


def recycles(text: str) -> bool:
    """Whether entries of a vector belong to the rows of a matrix beside it, as in R and MATLAB; in NumPy to columns.

    >>> recycles("t(A) %*% x * w"), recycles("A .* w"), recycles("A * w")
    (True, True, False)
    """
    return any((language(text), _RECYCLING.search(text), LEFT_DIVISION.search(text)))


_RECYCLING = re.compile(r"%[*ox]%|<-|\bt?crossprod\(|(?<!\d)\.[*/^]")
"""Signs that R or MATLAB alone has."""
_REMARKS = re.compile(r"#[^\n]*|\"{3}.*?\"{3}|'{3}.*?'{3}", re.DOTALL)
_HEAD_OF_FUNCTION = re.compile(r"^\s*(?:def\s+\w+\s*\([^()]*\)[^:\n]*:|(?:\w+\s*=\s*)?lambda\b[^:()]*:)")
MATLAB, R = "MATLAB", "R"
_HEADS = {
    R: r"(?:\w+\s*(?:<-|=)\s*)?function\s*\([^()]*\)\s*\{?",
    MATLAB: r"(?:function\s+\[?\s*\w+\s*\]?\s*=\s*\w+\s*\([^()]*\)|(?:\w+\s*=\s*)?@\([^()]*\))",
}
"""How functions begin in a language."""
_FUNCTION = re.compile(
    r"^\s*(?:" + "|".join(_HEADS.values()) + r")(?P<body>.*?)[\s;]*(?:\}|\bend)?[\s;]*$",
    re.DOTALL,
)
_STEERING = re.compile(r"^[ \t]*(?:if|elif|else|for|while|with|try)\b[^\n]*:[^\n]*$", re.MULTILINE)
_STEP = re.compile(r"(^|;)(\s*\w+)\s*([-+*/@])=(?!=)\s*([^\n;]*)", re.MULTILINE)
LEFT_DIVISION = re.compile(r"(?<=[\w)\]'])\s*\\\s*(?=[a-zA-Z](?![a-zA-Z])|\()")
r"""MATLAB's ``A\b``: a command of LaTeX has more letters."""
_DIALECTS = (
    (
        r"%[*ox]%|<-|\bt?crossprod\(",
        ((r"(?<![\w.])c\(([^(),]*(?:\([^()]*\)[^(),]*)*)\)", r"(\1)"),),
    ),  # R's vector of one
    (r"%[*ox]%|\bt?crossprod\(", ((r"%\*%", "@"), (r"\bt\(", "transpose("))),  # R
    (r"\bas\.|\bdrop\(", ((r"\b(?:as\.(?:numeric|vector|matrix)|drop)\(", "("),)),
    (r"<-", ((r"(^|[;\n])(\s*[^\W\d]\w*\s*)<-", r"\1\2="),)),
    (r"\bnorm\.[pc]df\(", ((r"\b(?:(?:scipy|stats|sp)\.)*norm\.([pc]df)\(", r"norm\1("),)),  # SciPy
    (r"'fro'", ((r",\s*'fro'\s*\)", ")"),)),  # which norm() is
    (r"\\", ((LEFT_DIVISION.pattern, "∖"),)),
    (r"\.'", ((r"(?<=[\w)\]])\.'", "'"),)),  # MATLAB
    (r"\b[A-Z][a-z]+\[", ((r"(?<=[\w)\]])\.(?=[A-Za-z(])", "@"),)),  # Mathematica
)
"""What tells a dialect, and what its signs are here."""

_LOOP = re.compile(r"\bfor\s+\w+\s+in\b[^\n]*")
_SUMMED = re.compile(r"(?:\bsum|\bprod|[∑∏])_([a-z])\b")
_INDEX = re.compile(r"(?<=\w)\[\s*([a-z](?:\s*,\s*[a-z])*)\s*\]")


def _with_indices(text: str) -> str:
    """A text with x_i for x[i] where it has a sum over i."""
    summed = {*_SUMMED.findall(text)}

    def below(found: re.Match[str]) -> str:
        letters = re.findall("[a-z]", found[1])
        return f"_{''.join(letters)} " if summed & {*letters} else found[0]

    return _INDEX.sub(below, text) if summed else text


_BRACKETS = re.compile(r"[(\[][^()\[\]]*[)\]]")
_HELD = re.compile("[\ue000-\uf8ff]")
_OPERAND = r"(?:[\w.]+|[\ue000-\uf8ff])[\ue000-\uf8ff]*(?:\s*\^\s*-?[\w.\ue000-\uf8ff]+)?"
_PRODUCTS = re.compile(rf"{_OPERAND}(?:\s*%[*ox]%\s*-?{_OPERAND})+")


def _grouped(found: re.Match[str]) -> str:
    """A chain of R's products, which are taken from the left."""
    made, *rest = re.split(r"\s*%([*ox])%\s*", found[0])
    for sign, right in zip(rest[::2], rest[1::2], strict=True):
        made = f"{made} %*% {right}" if sign == "*" else f"{'outer' if sign == 'o' else 'kron'}({made}, {right})"
    return f"({made})"


def _with_products_first(text: str) -> str:
    """R's matrix products in brackets: a * A %*% x is a * (A %*% x) there, which * and @ of Python are not."""
    if re.search("%[*ox]%", text) is None:
        return text
    held: list[str] = []

    def hold(found: re.Match[str]) -> str:
        held.append(_PRODUCTS.sub(_grouped, found[0]))
        return chr(0xE000 + len(held) - 1)

    while (shorter := _BRACKETS.sub(hold, text)) != text:
        text = shorter
    text = _PRODUCTS.sub(_grouped, text)
    while _HELD.search(text):
        text = _HELD.sub(lambda found: held[ord(found[0]) - 0xE000], text)
    return text
