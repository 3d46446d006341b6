r"""What stands behind the ``=`` of ``key=value`` and between the brackets of ``x_{[index]}``: the options of calls."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from symgrad.formula.printing.sizes import read_size
from symgrad.formula.reading.atoms import word
from symgrad.formula.reading.text import Tokens, literal, plain_value
from symgrad.formula.term import Term
from symgrad.ops.indexing.getitem import Index, static_index


class OptionReader:
    """Reads numbers, sizes, words, tuples and indices; formulas inside of an index are its heirs' business."""

    tokens: Tokens

    def condition(self) -> Any:
        """A formula."""
        raise NotImplementedError

    def plain(self, value: Any) -> Term:
        """A formula's value as a term."""
        raise NotImplementedError

    def value(self) -> Any:
        """A static parameter."""
        tokens = self.tokens
        if tokens.found("("):
            out = []
            while not tokens.found(")"):
                out.append(self.value())
                tokens.found(",")
            return tuple(out)
        if tokens.found("["):
            return self.index()
        if tokens.kind == "word":
            text = word(tokens.take())
            return plain_value(text) if text in ("True", "False", "None") else text
        return self.scrap()

    def scrap(self) -> Any:
        """The value of the text up to the next comma or bracket: a number or a size."""
        negative = self.tokens.peek() == "-"
        if "cdot" in self.tokens.peek(int(negative)) or "^" in self.tokens.peek(int(negative))[1:]:
            self.tokens.at += 1 + negative
            return literal_of(self.tokens.peek(-1)) * (-1 if negative else 1)
        text = self.tokens.scrap((",", ")", "]", ":", "}"))
        if text.startswith((r"\infty", r"-\infty")):
            return math.inf if text[0] == "\\" else -math.inf
        found = re.fullmatch(r"(-?)\\frac\{(\d+)\}\{(\d+)\}", text)
        return plain_value(f"{found[1]}{found[2]}/{found[3]}" if found else read_size(text)) if text else None

    def index(self) -> Index:
        """An index in NumPy's notation, after its opening bracket."""
        parts: list[Any] = []
        comma = False
        tokens = self.tokens
        while not tokens.found("]"):
            self.going_on()
            if tokens.found(r"\ldots"):
                parts.append(Ellipsis)
            elif tokens.found("["):
                parts.append(np.asarray(self.nested()))
            elif tokens.kind == "word" and word(tokens.peek()) in ("True", "False", "None"):
                parts.append(plain_value(word(tokens.take())))
            elif tokens.kind != "number" and tokens.peek() not in ("-", ":"):
                parts.append(self.plain(self.condition()))
            else:
                ends = [self.scrap()]
                while tokens.found(":"):
                    ends.append(self.scrap())
                parts.append(slice(*ends) if len(ends) > 1 else ends[0])
            comma = tokens.found(",") or comma
        return static_index(tuple(parts) if comma or len(parts) != 1 else parts[0])

    def going_on(self) -> None:
        """Refuse the end of the text, and signs that no index has."""
        if self.tokens.kind == "end" or self.tokens.peek() in ("}", ")"):
            raise self.tokens.error("']' is missing")

    def nested(self) -> list[Any]:
        """The rest of a list of numbers."""
        out: list[Any] = []
        while not self.tokens.found("]"):
            self.going_on()
            if self.tokens.found("["):
                out.append(self.nested())
            elif self.tokens.kind == "word":
                out.append(plain_value(word(self.tokens.take())))
            else:
                out.append(self.scrap())
            self.tokens.found(",")
        return out


def literal_of(text: str) -> Any:
    r"""The number of ``2.5``, ``10^{-3}`` and ``2 \cdot 10^{5}``."""
    digits, _, exponent = text.replace(" ", "").partition("10^{")
    if not exponent:
        return literal(text)
    factor = digits.removesuffix(r"\cdot") or 1
    return float(f"{factor}e{exponent[:-1]}")
