r"""What stands behind the ``=`` of ``key=value`` and between the brackets of ``x_{[index]}``: the options of calls."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import numpy as np

from symgrad.errors import FormulaError
from symgrad.formula.printing.sizes import read_size
from symgrad.formula.reading.atoms import word
from symgrad.formula.reading.text import Tokens, literal, plain_value
from symgrad.formula.reading.values import op
from symgrad.formula.term import Term
from symgrad.ops.indexing.getitem import static_index
from symgrad.ops.shapes.sizes import total_size


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
            return static_index(self.index())
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
        text = self.tokens.scrap((",", ")", "]", ":", "}", ";"))
        if text.startswith((r"\infty", r"-\infty")):
            return math.inf if text[0] == "\\" else -math.inf
        found = re.fullmatch(r"(-?)\\frac\{(\d+)\}\{(\d+)\}", text)
        return plain_value(f"{found[1]}{found[2]}/{found[3]}" if found else read_size(text)) if text else None

    def index(self) -> Any:
        """The parts of an index in NumPy's notation, after its opening bracket."""
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
            elif tokens.kind != "number" and tokens.peek() not in ("-", ":") and not self.at_range():
                parts.append(self.plain(self.condition()))
            else:
                ends = [self.scrap()]
                while tokens.found(":"):
                    ends.append(self.scrap())
                parts.append(slice(*ends) if len(ends) > 1 else ends[0])
            comma = tokens.found(",") or comma
        return tuple(parts) if comma or len(parts) != 1 else parts[0]

    def at_range(self) -> bool:
        """Whether the next part of an index has a colon: its ends may be sizes."""
        depth = 0
        for k in itertools.count():
            sign = self.tokens.peek(k)
            if not sign or (not depth and sign in (":", ",", "]")):
                return sign == ":"
            depth += (sign in ("(", "[", "{")) - (sign in (")", "]", "}"))
        return False

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


def picked(x: Term, index: Any) -> Term:
    """The entries at an index: ranges whose ends are sizes, as ``x[m:m+n]`` with letters, are taken one by one."""
    parts = index if isinstance(index, tuple) else (index,)
    for part in parts:
        if isinstance(part, str):
            raise FormulaError(f"{part!r} is no index here, where numbers are, and ranges.")
    ends = [(p.start, p.stop) if isinstance(p, slice) else (None, None) for p in parts]
    if not any(isinstance(end, str) for pair in ends for end in pair):
        return op("getitem", x, index=static_index(index))  # type: ignore[no-any-return]
    if not all(isinstance(p, slice) and p.step is None for p in parts) or len(parts) > x.ndim:
        raise FormulaError("An index with sizes as its ends has one range for each axis, and nothing else.")
    for axis, (start, stop) in enumerate(ends):
        start, stop = start or 0, x.shape[axis] if stop is None else stop
        if (start, stop) != (0, x.shape[axis]):
            x = op("narrow", x, dim=axis, start=start, length=total_size((stop, start), (1, -1)))
    return x
