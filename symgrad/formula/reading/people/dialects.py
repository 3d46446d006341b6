"""Text of Python's functions, R, MATLAB and Mathematica in the notation of NumPy or of paper; LaTeX stays as it is."""

from __future__ import annotations

import re


def plain(text: str) -> str:
    """A text with one sign for each thing; of a function it is the body, and loops in sums are indices.

    >>> plain("def g(x): return 2*sum(a[i]*x[i] for i in range(n))")
    ' return 2*(sum_i (a_i *x_i ))'
    >>> plain("t(A) %*% x"), plain("Transpose[A].x")
    ('transpose(A) @ x', 'Transpose[A]@x')
    """
    text = _REMARKS.sub("", text.replace("⁄", "/").replace("∕", "/"))
    text = _with_indices(_HEAD_OF_FUNCTION.sub("", text))
    for sign, rewrites in _DIALECTS:
        if re.search(sign, text):
            for pattern, meant in rewrites:
                text = re.sub(pattern, meant, text)
    return text


_REMARKS = re.compile(r"#[^\n]*|\"{3}.*?\"{3}|'{3}.*?'{3}", re.DOTALL)
_HEAD_OF_FUNCTION = re.compile(r"^\s*(?:def\s+\w+\s*\([^()]*\)[^:\n]*:|(?:\w+\s*=\s*)?lambda\b[^:()]*:)")
_DIALECTS = (
    (r"%\*%|\bt?crossprod\(", ((r"%\*%", "@"), (r"\bt\(", "transpose("))),  # R
    (r"\.'", ((r"(?<=[\w)\]])\.'", "'"),)),  # MATLAB
    (r"\b[A-Z][a-z]+\[", ((r"(?<=[\w)\]])\.(?=[A-Za-z(])", "@"),)),  # Mathematica
)
"""What tells a dialect, and what its signs are here."""
_SUM = re.compile(r"\b(?:np\.)?sum\(")
_EACH = re.compile(r"\[?(.*?)\s+for\s+([a-z])\s+in\s+range\([^()]*(?:\([^()]*\)[^()]*)?\)\]?", re.DOTALL)


_SUMMED = re.compile(r"(?:\bsum|\bprod|[∑∏])_([a-z])\b")
_INDEX = re.compile(r"(?<=\w)\[\s*([a-z](?:\s*,\s*[a-z])*)\s*\]")


def _with_indices(text: str) -> str:
    """A text with sums over a letter in place of Python's sums over loops, and x_i for its x[i]."""
    for found in reversed([*_SUM.finditer(text)]):
        end = _closing(text, found.end())
        each = _EACH.fullmatch(text[found.end() : end].strip())
        if each is not None:
            body, letter = each.groups()
            text = f"{text[: found.start()]}(sum_{letter} ({body})){text[end + 1 :]}"
    summed = {*_SUMMED.findall(text)}

    def below(found: re.Match[str]) -> str:
        letters = re.findall("[a-z]", found[1])
        return f"_{''.join(letters)} " if summed & {*letters} else found[0]

    return _INDEX.sub(below, text) if summed else text


def _closing(text: str, start: int) -> int:
    """The place of the bracket that closes the one before ``start``; the end where there is none."""
    depth = 1
    for k in range(start, len(text)):
        depth += (text[k] in "([{") - (text[k] in ")]}")
        if not depth:
            return k
    return len(text)
