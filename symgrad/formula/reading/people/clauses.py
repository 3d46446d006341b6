r"""The parts of what people write around a formula: headers ``\nabla f = …``, chains of equalities, definitions.

``\frac{\partial f}{\partial x_j} = 2 r_j = …, \quad r = Ax - b \text{ for } j = 1, \ldots, n`` has a header (whose
indices say which axes the entries belong to), two sides, a definition, and a range that says nothing new.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Container, Iterator, Mapping
from typing import Any, NamedTuple

from symgrad.formula.reading.people.indices import _is_index
from symgrad.formula.reading.people.tokens import PeopleTokens
from symgrad.formula.reading.text import Tokens

Item = tuple[str, str, int]

_OPENS = ("(", "{", "[", "⟨", r"\langle", r"\lfloor", r"\lceil")
_CLOSES = (")", "}", "]", "⟩", r"\rangle", r"\rfloor", r"\rceil")
_DERIVATIVES = (r"\nabla", r"\partial")
_RELATIONS = ("<", r"\le", ">", r"\ge", r"\in")


class Clauses:
    """The sides of the equation that is the formula, the letters of its header, and the definitions."""

    def __init__(self, tokens: Tokens, table: Mapping[str, Any]):
        self.tokens = tokens
        pieces = [cut(piece, "=") for piece in _without_ranges(self, cut(tokens.items, ",", ";"))]
        self.main = main_piece(pieces)
        self.parts = pieces.pop(self.main) if pieces else [[]]
        for piece in pieces:
            if len(piece) != 2 or not all(piece):
                tokens.at = tokens.items.index(next(item for side in piece for item in side)) if any(piece) else 0
                raise tokens.error("after a comma a definition such as Y = A + X is expected")
        self.definitions = pieces
        self.letters = _letters_of_header(self.parts[0], table) if len(self.parts) > 1 else ()

    @property
    def headed(self) -> bool:
        """Whether the first part is the sign of a derivative."""
        return len(self.parts) > 1 and any(text in _DERIVATIVES for _, text, _ in self.parts[0])

    def sub(self, items: list[Item]) -> PeopleTokens:
        """The tokens of a part."""
        return PeopleTokens(self.tokens.text, [*items])


def cut(items: list[Item], *signs: str) -> list[list[Item]]:
    """The runs of tokens between signs that stand outside of brackets."""
    depth = 0
    out: list[list[Item]] = [[]]
    for item in items:
        text = item[1]
        depth += (text in _OPENS or item[0] == "begin") - (text in _CLOSES or item[0] == "end")
        if depth == 0 and text in signs:
            out.append([])
        else:
            out[-1].append(item)
    return out if "=" in signs else [piece for piece in out if piece] or [[]]


def _without_ranges(clauses: Clauses, pieces: list[list[Item]]) -> Iterator[list[Item]]:
    r"""The pieces without ``i = 1, \ldots, n``, ``1 < i < n`` and what stands after "for"."""
    kept: list[list[Item]] = []
    after_dots = False
    for piece in pieces:
        words = [text for _, text, _ in piece]
        before_for = cut(piece, r"\for")[0]
        if len(before_for) < len(piece):
            kept += [before_for] * (words[0] != r"\for")
            break
        if kept and r"\ldots" in words:
            before = [text for _, text, _ in kept[-1]]
            if len(kept) > 1 and len(before) == 3 and _is_index(before[0]) and before[1] == "=":
                kept.pop()
            after_dots = True
        elif kept and r"\ne" in words and "=" not in words:
            clauses.tokens.at = clauses.tokens.items.index(piece[0])
            raise clauses.tokens.error("conditions on the indices of the result are not read; write the whole formula")
        elif not (after_dots and len(piece) == 1) and not (kept and _is_range(piece)):
            kept.append(piece)
    return iter(kept)


def _is_range(piece: list[Item]) -> bool:
    """Whether a piece states what values something has; a definition may have conditions in it, too."""
    return any(text in _RELATIONS for _, text, _ in piece) and len(cut(piece, "=")) == 1


def main_piece(pieces: list[list[list[Item]]], table: Container[str] = ()) -> int:
    """Which piece is the formula: the one without a name, the one of a derivative, or that no other piece names.

    A name that is a symbol in ``table`` is not defined anew, so that its piece is the formula.
    """
    bare = [k for k, piece in enumerate(pieces) if len(piece) == 1]
    headed = [k for k, piece in enumerate(pieces) if any(text in _DERIVATIVES for _, text, _ in piece[0])]
    if bare or headed:
        return (bare or headed)[0]
    taken = [k for k, piece in enumerate(pieces) if len(piece[0]) == 1 and piece[0][0][1] in table]
    if len(taken) == 1:
        return taken[0]
    free: list[int] = []
    for k, piece in enumerate(pieces):
        others = [[text for _, text, _ in other[-1]] for j, other in enumerate(pieces) if j != k]
        name = [text for _, text, _ in piece[0]]
        if not any(name == row[j : j + len(name)] for row in others for j in range(len(row))):
            free.append(k)
    return next((k for k in free if _is_slope(pieces[k][0])), (free or [0])[0])


def _is_slope(items: list[Item]) -> bool:
    r"""Whether a left side is ``f'(x)`` or ``\frac{df}{dx}``: beside ``f(x) = x^2`` this is the formula."""
    words = [text for _, text, _ in items]
    primed = words[1:2] == ["'"] or words[1:5] == ["^", "{", r"\top", "}"]
    return (primed and words[-1] == ")") or words[:3] == [r"\frac", "{", "d"]


def _letters_of_header(items: list[Item], table: Mapping[str, Any]) -> tuple[str, ...]:
    r"""The index letters of ``\frac{\partial f}{\partial X_{ij}}``, ``(\nabla f)_j`` or ``\partial_k f``."""
    words = [text for _, text, _ in items]
    found: list[str] = []
    for k, word in enumerate(words):
        if word != "_" or k + 1 >= len(words):
            continue
        inner = words[k + 2 : words.index("}", k)] if "}" in words[k:] else []
        if inner and all((_is_index(x) and x not in table) or x == "," for x in inner):
            found += [x for x in inner if x != ","]
    return tuple(found) if len(set(found)) == len(found) else ()


class Side(NamedTuple):
    """A side of a chain of equations, and whether it may be a name for the derivative, which says nothing."""

    text: str
    named: bool


def sides(tokens: Tokens, table: Mapping[str, Any]) -> list[Side]:
    """The sides of a chain ``header = a = b`` but for the last, with the header and the definitions."""
    clauses = Clauses(tokens, table)
    if clauses.main or not all(clauses.parts):
        return []
    text, items = tokens.text, tokens.items
    after = items.index(clauses.parts[-1][-1]) + 1
    end = items[after][2] if after < len(items) else len(text)
    signs = [items[items.index(part[0]) - 1][2] for part in clauses.parts[1:]]
    texts = [_SIGN.sub("", text[a:b]) for a, b in itertools.pairwise([0, *signs])]
    header = f"{texts.pop(0)} = " if clauses.headed else ""
    if texts and _ACCENTED.fullmatch(texts[0]):
        texts.pop(0)
    return [Side(header + side + text[end:], is_name(side, table)) for side in texts]


def is_name(side: str, table: Container[str]) -> bool:
    r"""Whether a side has no sign that makes it a formula, or one of a derivative: ``g``, ``J_{ij}``, ``d(x*x)/dx``.

    ``xy`` and ``x y`` are products where ``x`` is a symbol, and no names.
    """
    if _DERIVATIVE.search(side) is not None:
        return True
    letters = side.replace(" ", "")
    spaced = _LETTERS_APART.fullmatch(side) and any(c in table for c in letters)
    product = spaced or (len(letters) == 2 and letters.isalpha() and letters[0] in table and letters[0] not in "dD")
    return _FORMULA.search(side) is None and not product


_SIGN = re.compile(r"^(\s|:?=|\\coloneqq|\\triangleq|\\equiv)+|(\s|&|\\\\)+$")
_ACCENTED = re.compile(
    r"\s*\\(?:bar|dot|hat|tilde|overline)\s*(?:\w|\\[a-zA-Z]+|\{[^{}]*(?:\{\w+\})?\})\s*(?:_\s*(?:\w|\{[^{}]*\}))?\s*"
)
r"""A letter with an accent: ``\bar{X}`` and ``\dot x`` are names of derivatives where nothing else stands on a side."""
_FORMULA = re.compile(
    r"[*@+/·⋅⊙]|(?<=[\w)\]}])\s*[-−]|(?<![\w.])\d+\s*[^\W\d]|\\(?:frac|cdot|odot|circ|times|sum|sqrt|exp|log)(?![a-z])"
)
"""What a name for a derivative does not have: ``3*x``, ``a - b``, ``2x``."""
_LETTERS_APART = re.compile(r"\s*[^\W\d_](?:\s+[^\W\d_])+\s*")
_DERIVATIVE = re.compile(
    r"\\nabla|\\partial|[∇∂]|(?<![^\W\d_])[dD]\w*.*/.*(?<![^\W\d_])d|\\frac\s*\{?\s*(?:\\(?:mathrm|text|operatorname)\W*)?[dD]"
)
"""Signs of derivatives, which have products in them where they name a function: ``d(A*x)/dx``."""
