"""Text of Python's functions, R, MATLAB and Mathematica in the notation of NumPy or of paper; LaTeX stays as it is."""

from __future__ import annotations

import re

from symgrad.errors import FormulaError


def plain(text: str) -> str:
    """A text with one sign for each thing; of a function it is the body, and loops in sums are indices.

    >>> plain("def g(x): return 2*sum(a[i]*x[i] for i in range(n))")
    ' return 2*(sum_i^(n) (a_i *x_i ))'
    >>> plain("y * t(A) %*% x"), plain("Transpose[A].x")
    ('y * (transpose(A) @ x)', 'Transpose[A]@x')
    """
    text = _REMARKS.sub("", text.replace("⁄", "/").replace("∕", "/"))
    text = _HEAD_OF_FUNCTION.sub("", text)
    found = _STEERING.search(text)
    if found is not None:
        raise FormulaError(
            f"cannot read a text with the statement {found[0].strip()!r}; a formula has definitions y = … alone; "
            "write a sum as sum(… for i in range(n)), and a case as where(x > 0, …, …)"
        )
    text = _with_products_first(_with_indices(_STEP.sub(r"\1\2 = \2 \3 (\4)", text)))
    for sign, rewrites in _DIALECTS:
        if re.search(sign, text):
            for pattern, meant in rewrites:
                text = re.sub(pattern, meant, text)
    return text


_REMARKS = re.compile(r"#[^\n]*|\"{3}.*?\"{3}|'{3}.*?'{3}", re.DOTALL)
_HEAD_OF_FUNCTION = re.compile(r"^\s*(?:def\s+\w+\s*\([^()]*\)[^:\n]*:|(?:\w+\s*=\s*)?lambda\b[^:()]*:)")
_STEERING = re.compile(r"^[ \t]*(?:if|elif|else|for|while|with|try)\b[^\n]*:[^\n]*$", re.MULTILINE)
_STEP = re.compile(r"(^|;)(\s*\w+)\s*([-+*/@])=(?!=)\s*([^\n;]*)", re.MULTILINE)
_DIALECTS = (
    (r"%\*%|\bt?crossprod\(", ((r"%\*%", "@"), (r"\bt\(", "transpose("))),  # R
    (r"\.'", ((r"(?<=[\w)\]])\.'", "'"),)),  # MATLAB
    (r"\b[A-Z][a-z]+\[", ((r"(?<=[\w)\]])\.(?=[A-Za-z(])", "@"),)),  # Mathematica
)
"""What tells a dialect, and what its signs are here."""
_SUM = re.compile(r"\b(?:np\.)?sum\(")
_EACH = re.compile(
    r"\[?(?P<body>.*?)\s+for\s+(?P<letter>[a-z])\s+in\s+range\(\s*(?:0\s*,\s*)?"
    r"(?:len\(\w+\)|\w+\.(?:shape\[\d+\]|size)|(?P<end>\d+|[a-zA-Z](?:\s*-\s*\d+)?))\s*\)\]?",
    re.DOTALL,
)
"""A loop over all entries, or over the first ones; what begins elsewhere, or has steps, is no sum that can be read."""

_LOOP = re.compile(r"\bfor\s+\w+\s+in\s+\w+\(")
_SUMMED = re.compile(r"(?:\bsum|\bprod|[∑∏])_([a-z])\b")
_INDEX = re.compile(r"(?<=\w)\[\s*([a-z](?:\s*,\s*[a-z])*)\s*\]")


def _with_indices(text: str) -> str:
    """A text with sums over a letter in place of Python's sums over loops, and x_i for its x[i]."""
    for found in reversed([*_SUM.finditer(text)]):
        end = _closing(text, found.end())
        each = _EACH.fullmatch(text[found.end() : end].strip())
        if each is not None:
            body, letter, last = each.group("body", "letter", "end")
            body = re.sub(rf"(?<![\w\[,.]){letter}(?![\w\],])", f"({letter} - 1)", body)  # which is from 1 in sums
            limit = f"^({last})" if last else ""
            text = f"{text[: found.start()]}(sum_{letter}{limit} ({body})){text[end + 1 :]}"
    rest = _LOOP.search(text)
    if rest is not None:
        loop = text[rest.start() : _closing(text, rest.end()) + 1]
        raise FormulaError(
            f"cannot read {loop!r}; a sum over a loop runs over range(n), one over other entries is x[1:].sum()"
        )
    summed = {*_SUMMED.findall(text)}

    def below(found: re.Match[str]) -> str:
        letters = re.findall("[a-z]", found[1])
        return f"_{''.join(letters)} " if summed & {*letters} else found[0]

    return _INDEX.sub(below, text) if summed else text


_BRACKETS = re.compile(r"[(\[][^()\[\]]*[)\]]")
_HELD = re.compile("[\ue000-\uf8ff]")
_OPERAND = r"(?:[\w.]+|[\ue000-\uf8ff])[\ue000-\uf8ff]*(?:\s*\^\s*-?[\w.\ue000-\uf8ff]+)?"
_PRODUCTS = re.compile(rf"{_OPERAND}(?:\s*%\*%\s*-?{_OPERAND})+")


def _with_products_first(text: str) -> str:
    """R's matrix products in brackets: a * A %*% x is a * (A %*% x) there, which * and @ of Python are not."""
    if "%*%" not in text:
        return text
    held: list[str] = []

    def hold(found: re.Match[str]) -> str:
        held.append(_PRODUCTS.sub(r"(\g<0>)", found[0]))
        return chr(0xE000 + len(held) - 1)

    while (shorter := _BRACKETS.sub(hold, text)) != text:
        text = shorter
    text = _PRODUCTS.sub(r"(\g<0>)", text)
    while _HELD.search(text):
        text = _HELD.sub(lambda found: held[ord(found[0]) - 0xE000], text)
    return text


def _closing(text: str, start: int) -> int:
    """The place of the bracket that closes the one before ``start``; the end where there is none."""
    depth = 1
    for k in range(start, len(text)):
        depth += (text[k] in "([{") - (text[k] in ")]}")
        if not depth:
            return k
    return len(text)
