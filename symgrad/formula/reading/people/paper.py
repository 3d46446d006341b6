"""The signs of paper in plain text, without LaTeX: ``½ x²``, ``√(x)``, ``e⁻ˣ``, ``‖X‖_∞``, ``Σᵢ xᵢ``, ``1ᵀx``."""

from __future__ import annotations

import re
from collections.abc import Container

from symgrad.formula.printing.formats import VULGAR

Item = tuple[str, str, int]

_HIGH = "ᵀ⊤ᴴ⁺⁻ᐟ⁰¹²³⁴⁵⁶⁷⁸⁹ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", "TTH+-/0123456789abcdefghijklmnoprstuvwxyz"
_LOW = "₊₀₁₂₃₄₅₆₇₈₉ᵢⱼₖₗₘₙₚ", "+0123456789ijklmnp"
RAISED, LOWERED = (f"[{small}]" for small, _ in (_HIGH, _LOW))
"""Patterns of small letters and digits above and below the line."""
_USUAL = str.maketrans(_HIGH[0] + _LOW[0], _HIGH[1] + _LOW[1])
_FRACTIONS = {sign: text.split("/") for text, sign in VULGAR.items()}
FRACTION = f"[{''.join(_FRACTIONS)}]"
ROOTS = {"√": "sqrt", "∛": "cbrt"}
SUMS = {"Σ": "∑", "Π": "∏", "sum": "∑", "prod": "∏"}
"""What stands for the signs of sums and products where it has an index: ``Σᵢ xᵢ``, ``sum_i x_i``."""
INDICES = tuple("ijklmnpqrst")
"""Letters that are indices where such a word has one of them."""
IN_LATEX = {
    "·": r"\cdot", "@": r"\cdot", ".*": r"\entry", "⊙": r"\odot", "./": r"\ratio", "−": "-", "′": "'",
    "⋅": r"\cdot", "×": r"\times", "∘": r"\odot", "⊗": r"\otimes", "∖": r"\under", "‖": r"\|", "∥": r"\|",
    "⟨": r"\langle", "⟩": r"\rangle",
    "<=": r"\le", ">=": r"\ge", "!=": r"\ne", "==": "=", "≤": r"\le", "≥": r"\ge", "≠": r"\ne", "&": r"\wedge",
    "%": r"\bmod", "⌊": r"\lfloor", "⌋": r"\rfloor", "⌈": r"\lceil", "⌉": r"\rceil",
    "√": r"\sqrt", "∑": r"\sum", "∏": r"\prod",
}  # fmt: skip


def spelled(items: list[Item], names: Container[str]) -> list[Item]:
    """The tokens with fractions, roots of brackets, signs of sums and columns of ones in longer words.

    ``names`` are the symbols that are known: ``Σᵢ`` is no sum where ``Σ`` is one of them.
    """
    out: list[Item] = []
    items = _with_digits(items, names)
    for k, (kind, text, place) in enumerate(items):
        after = items[k + 1] if k + 1 < len(items) else ("", "", place)
        if text in _FRACTIONS:
            above, below = _FRACTIONS[text]
            out += [("sign", "(", place), ("number", above, place), ("sign", "/", place)]
            out += [("number", below, place), ("sign", ")", place)]
        elif text in ROOTS and (after[1] == "(" or text == "∛"):
            out.append(("name", ROOTS[text], place))
        elif text == "mod" and text not in names and _is_operand(items[:k][-1:]) and after[0] != "sign":
            out.append(("sign", "%", place))
        elif kind == "infinite":
            out.append(("name", text.replace("∞", "inf"), place))
        elif text in ("𝟏", "𝟙"):
            out.append(("ones", r"\mathbf{1}", place))
        elif text in ("^", "**") and after[0] == "raised":
            continue
        elif kind == "name" and text not in names:
            out += _parts(text, place, items[k + 1 : k + 3], names)
        else:
            out.append((kind, text, place))
    return out


def _with_digits(items: list[Item], names: Container[str]) -> list[Item]:
    """The tokens with ``θ₁`` as the name ``θ_1`` where that is a symbol, or where there is a θ₀, which no array has."""
    counted = {items[k - 1][1] for k, item in enumerate(items) if item[:2] == ("lowered", "₀")}
    out: list[Item] = []
    for kind, text, place in items:
        before = out[-1] if out else ("", "", 0)
        digits = kind == "lowered" and small(text).isdigit() and before[0] == "name" and before[1] not in names
        joined = f"{before[1]}_{small(text)}"
        if digits and (joined in names or before[1] in counted):
            out[-1] = ("name", joined, before[2])
        else:
            out.append((kind, text, place))
    return out


def _parts(text: str, place: int, after: list[Item], names: Container[str]) -> list[Item]:
    """A name that is no symbol: the sign of a sum, a logarithm with its base, or π and what stands beside it."""
    stem, line, letters = text.partition("_")
    below = [("name", f"_{letters}", place + len(stem))] * bool(line)
    behind = after[1:] if stem in "ΣΠ" and [i[0] for i in after[:1]] == ["name"] else after  # Σ xᵢ
    index = letters or "".join(small(sign) for kind, sign, _ in behind[:1] if kind == "lowered")
    if stem in SUMS and stem not in names and index in INDICES:
        return [("sign", SUMS[stem], place), *below]
    if stem == "log" and letters.isdigit():
        return [("name", stem, place), *below]
    if text[0] == "π" and text[1:2].isalpha():
        return [("name", "π", place), ("name", text[1:], place + 1)]
    return [("name", text, place)]


def indexed(items: list[Item]) -> list[Item]:
    """The tokens with the index of ``x[0]`` as LaTeX has it; brackets after a space and conditions are none."""
    out: list[Item] = []
    ends: list[bool] = []
    for k, (kind, text, place) in enumerate(items):
        before = items[k - 1] if k else ("", "", -1)
        if text == "[":
            beside = before[2] + len(before[1]) == place and (before[0] == "name" or before[1] in (")", "]"))
            ends.append(beside and not _has_relation(items, k))
            out += [("sign", "_", place), ("sign", "{", place)] * ends[-1]
        out.append((kind, text, place))
        if text == "]" and ends and ends.pop():
            out.append(("sign", "}", place))
    return out


def _is_operand(before: list[Item]) -> bool:
    """Whether the token before a place ends an operand."""
    return any(kind in ("name", "number", "raised") or text in (")", "]") for kind, text, _ in before)


_RELATIONS = ("<", ">", "<=", ">=", "==", "!=", "=", "≤", "≥", "≠")


def _has_relation(items: list[Item], k: int) -> bool:
    """Whether the bracket that opens at a place has a condition in it."""
    depth = 0
    for _, text, _ in items[k:]:
        depth += (text == "[") - (text == "]")
        if depth == 0 or text in _RELATIONS:
            return depth > 0
    return False


def small(text: str) -> str:
    """Small letters and digits in their usual size.

    >>> small("⁻¹ᐟ²"), small("ᵢⱼ")
    ('-1/2', 'ij')
    """
    return text.translate(_USUAL)


def script(text: str, place: int) -> list[Item]:
    """The tokens of small letters and digits; digits after a letter are its power, as in ``e⁻ˣ²``."""
    out: list[Item] = []
    for part in re.findall(r"[a-z]\d+|\d+|.", small(text)):
        sign, power = (part[0], part[1:]) if part[0].isalpha() else (part, "")
        out.append(("number" if sign.isdigit() else "char", r"\top" if sign == "T" else sign, place))
        if power:
            out += [("char", "^", place), ("char", "{", place), ("number", power, place), ("char", "}", place)]
    return out


def in_braces(kind: str, text: str, place: int) -> list[Item]:
    """Small letters and fractions in the tokens of LaTeX."""
    if kind == "fraction":
        above, below = _FRACTIONS[text]
        parts = [("command", r"\frac"), ("char", "{"), ("number", above), ("char", "}")]
        return [(kind, sign, place) for kind, sign in (*parts, ("char", "{"), ("number", below), ("char", "}"))]
    sign = "^" if kind == "raised" else "_"
    return [("char", sign, place), ("char", "{", place), *script(text, place), ("char", "}", place)]


SUMMED = re.compile(
    r"\\(?:sum|prod|max|min)(?:\\limits)?\s*_\s*\{?\s*\(?\s*([a-z])\s*(?:(?:,|<|\\neq?(?![a-z]))\s*([a-z]))?"
)
"""The letters below a sign of sums, products or extremes in LaTeX; the second is empty where there is one."""
_BELOW = r"(?:_\s*\{?\s*(\w)\s*\}?\s*)?"
_MEMBER = re.compile(_BELOW + r"\^\s*\{\s*\(\s*([a-z])\s*\)\s*\}" + _BELOW)


def with_members(text: str) -> str:
    r"""LaTeX of the same length with ``x^{(i)}``, a member of what is summed over, as ``x_{i}``.

    >>> with_members(r"\sum_i x_j^{(i)} a^{(n)}")
    '\\sum_i x_{ij}    a^{(n)}'
    """
    summed = {letter for pair in SUMMED.findall(text) for letter in pair if letter}

    def below(found: re.Match[str]) -> str:
        letters = "".join(x for x in (found[2], found[1], found[3]) if x)
        return f"_{{{letters}}}".ljust(len(found[0])) if found[2] in summed else found[0]

    return _MEMBER.sub(below, text) if summed else text


def worded(text: str) -> str:
    r"""A text with its small letters and signs of sums as LaTeX has them; other texts stay.

    >>> worded("Σᵢ (yᵢ − wᵀxᵢ)²")
    '\\sum_{i} (y_{i} − w^{\\top}x_{i})^{2}'
    """
    text = with_members(re.sub(f"[Σ∑](?={LOWERED})", r"\\sum", text))
    text = re.sub(f"{LOWERED}+", lambda m: f"_{{{small(m[0])}}}", text)
    return re.sub(f"{RAISED}+", lambda m: f"^{{{small(m[0])}}}".replace("T", r"\top"), text)
