r"""The algebra of LaTeX texts: products with their scalars in front, sums with their signs, transposes that cancel.

A :class:`Piece` reads ``coef · top/bottom · core``: an exact coefficient, scalar factors above and below a fraction
bar, and one core, which is an array's text or (for scalars) empty.  Combining pieces keeps that form, so no printed
formula has ``1 \cdot``, ``- -`` or needless brackets.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

LOGIC, RELATION, SUM, CROSS, HADAMARD, MUL, OPEN, POWER, ATOM = range(9)
"""How tightly a text holds together; OPEN is a function without brackets, which must stand last in a product.

CROSS is a cross product or a Kronecker product: signs of sums are looser, and in every other product it has brackets.
"""

Item = tuple[str, int]


class Piece:
    """One printed part.

    kind    "s" scalar, "c" column, "r" row, "m" matrix, "t" more axes
    parts   the summands, when the core is a sum
    flip    the core of the transpose, when that is not just the core with a superscript
    power   (base text, exponent text), when the core is a matrix inverse
    ratio   (numerator, denominator), when the core is a fraction
    call    (function text, argument text), when the core is a function that takes its exponent before the argument
    """

    __slots__ = ("bottom", "call", "coef", "core", "flip", "kind", "level", "parts", "power", "ratio", "top")

    def __init__(
        self,
        kind: str,
        core: str = "",
        level: int = ATOM,
        *,
        coef: Fraction = Fraction(1),
        top: Sequence[Item] = (),
        bottom: Sequence[Item] = (),
        parts: list[Piece] | None = None,
        flip: Item | None = None,
        power: tuple[str, str] | None = None,
        call: tuple[str, str] | None = None,
        ratio: tuple[Item, Item] | None = None,
    ):
        self.kind = kind
        self.core = core
        self.level = level
        self.coef = coef
        self.top = tuple(top)
        self.bottom = tuple(bottom)
        self.parts = parts
        self.flip = flip
        self.power = power
        self.call = call
        self.ratio = ratio

    @property
    def bare(self) -> bool:
        """Whether there is nothing but the core."""
        return self.coef == 1 and not self.top and not self.bottom

    def above(self) -> tuple[Item, ...]:
        """The scalar factors above the bar, the core of a scalar among them."""
        return (*self.top, (self.core, self.level)) if self.core and self.kind == "s" else self.top

    def with_lead(self, coef: Fraction, top: Sequence[Item], bottom: Sequence[Item]) -> Piece:
        """The piece times scalar factors."""
        made = self.replaced(coef=self.coef * coef)
        made.top, made.bottom = (*top, *self.top), (*bottom, *self.bottom)
        return made

    def replaced(self, **changes: Any) -> Piece:
        """A copy with some fields changed."""
        made = Piece.__new__(Piece)
        for field in Piece.__slots__:
            setattr(made, field, changes.get(field, getattr(self, field)))
        return made


def brackets(text: str) -> str:
    """``text`` in brackets that grow with it."""
    return rf"\left({text}\right)"


def closed(item: Item, level: int) -> str:
    """The text of an item, bracketed when it holds together less than ``level`` asks."""
    return item[0] if item[1] >= level else brackets(item[0])


_WORD = r"\\(?:mathrm|text)\{(?:[^{}]|\\_){2,}\}"
_WORD_LAST, _WORD_FIRST = re.compile(_WORD + r"(?:_\{\w+\})?$"), re.compile(_WORD)
"""Names of several letters, which would run into what stands beside them."""


_LETTER = r"\\?[a-zA-Z]+(?:\{[a-zA-Z]+\})?(?:_\{[^{}]*\})?(?:\^\{(?:\\top|H|\\odot \d)\})?"
_SHORT = re.compile(rf"(?!\\mathbf\{{(?:1\}}|e\}}_)|I\b){_LETTER}(?: {_LETTER})*")
"""One array, or arrays side by side, of which a quotient by a scalar is one fraction: not ones, unit vectors or I."""
_ONE, _COUNT = re.compile(_LETTER), re.compile(r"\d+|[a-zA-Z]")


_UNIT: Item = ("1", ATOM)
"""The numerator of a reciprocal."""


def _over(piece: Piece, above: Sequence[Item]) -> bool:
    """Whether an array over scalars is one fraction: x/‖x‖, 2x/s² and QKᵀ/√d, but λ/n times w."""
    whole = _ONE if above else _SHORT
    numbers = all(text.isdigit() for text, _ in above)
    return bool(piece.bottom) and numbers and all(p.fullmatch(piece.core) for p in (_SHORT, whole))


def _is_tall(item: Item) -> bool:
    return r"\frac" in item[0] or r"\begin" in item[0]


def _before(text: str) -> str:
    """A text that something follows: cases, which no sign closes, are in brackets there."""
    return brackets(text) if text.endswith(r"\end{cases}") else text


def juxtaposed(items: Sequence[Item]) -> Item:
    """A product by writing side by side; sums are bracketed, and so are open ends that are not last."""
    if len(items) == 1:
        return items[0]
    texts = [*(_before(closed(item, OPEN + 1)) for item in items[:-1]), closed(items[-1], MUL)]
    out = texts[0]
    for text in texts[1:]:
        clash = text[0].isdigit() or (out[-1].isdigit() and text.startswith(r"\frac"))
        words = _WORD_LAST.search(out) or (not out[-1].isdigit() and _WORD_FIRST.match(text))
        out += (r" \cdot " if clash else r" \, " if words else " ") + text
    return out, OPEN if items[-1][1] == OPEN else MUL


def shown(piece: Piece) -> tuple[int, Item]:
    """Sign, and text with its level, of a piece."""
    sign, size = (-1, -piece.coef) if piece.coef < 0 else (1, piece.coef)
    core: list[Item] = [(piece.core, piece.level)] if piece.core else []
    if piece.kind == "s":
        above, core = [*piece.top, *core], []
    else:
        above = list(piece.top)
    above = [_whole_item(size.numerator)] * (size.numerator != 1) + above
    below = [_whole_item(size.denominator)] * (size.denominator != 1) + list(piece.bottom)
    if core and _over(piece, above):
        return sign, (rf"\frac{{{juxtaposed([*above, *core])[0]}}}{{{juxtaposed(below)[0]}}}", POWER)
    if piece.ratio is not None and below and _may_have(piece.ratio, [*above, *below]):
        over, under = piece.ratio
        over = juxtaposed([*above, over] if over != _UNIT else above or [over])
        return sign, (rf"\frac{{{over[0]}}}{{{juxtaposed([*below, under])[0]}}}", POWER)
    if below and all(_COUNT.fullmatch(text) for text, _ in below):
        core = [*filter(_is_tall, above), *core]  # half of what has fractions itself is ½ in front of it
        above = [item for item in above if not _is_tall(item)]
    if below:
        numerator = juxtaposed(above)[0] if above else "1"
        lead: list[Item] = [(rf"\frac{{{numerator}}}{{{juxtaposed(below)[0]}}}", POWER)]
    else:
        lead = above
    if piece.ratio is not None and piece.ratio[0] == _UNIT and lead and not any(map(_is_tall, lead)):
        return sign, (rf"\frac{{{juxtaposed(lead)[0]}}}{{{piece.ratio[1][0]}}}", POWER)
    if piece.ratio is not None and len(lead) == 1 and lead[0][0].isdigit():
        return sign, (rf"\frac{{{juxtaposed([*lead, piece.ratio[0]])[0]}}}{{{piece.ratio[1][0]}}}", POWER)
    if core and core[0][1] in (CROSS, HADAMARD) and lead:
        return sign, (juxtaposed([*lead, (core[0][0], ATOM)])[0], core[0][1])
    items = lead + core
    return sign, juxtaposed(items) if items else ("1", ATOM)


def _may_have(ratio: tuple[Item, Item], numbers: Sequence[Item]) -> bool:
    """Whether what stands before a fraction goes into it: whole numbers, where it has no fractions itself."""
    return not any(map(_is_tall, ratio)) and all(text.isdigit() for text, _ in numbers)


def _whole_item(value: int) -> Item:
    """A whole number; a power of ten that is long to count as such."""
    text = str(value)
    return (rf"10^{{{len(text) - 1}}}", POWER) if len(text) > 6 and text.rstrip("0") == "1" else (text, ATOM)


def signed(piece: Piece) -> Item:
    """Text with its sign; a minus sign makes it a sum for bracketing."""
    if piece.coef == -1 and piece.parts is not None and not piece.top and not piece.bottom:
        return _sum_text(_positive_first([p.replaced(coef=-p.coef) for p in piece.parts])), SUM
    sign, (text, level) = shown(piece)
    return (text, level) if sign > 0 else (f"-{text}", min(level, SUM))


def text_of(piece: Piece) -> str:
    """The whole text of a piece."""
    return signed(piece)[0]


def number_piece(value: Any) -> Piece:
    """A constant: exact ones become the coefficient, a float its shortest exact digits."""
    if isinstance(value, str):
        return Piece("s", rf"\{value}")
    if isinstance(value, (int, Fraction)):
        return Piece("s", coef=Fraction(value))
    if isinstance(value, complex):
        return _complex_piece(value)
    sign = -1 if str(value).startswith("-") else 1
    return Piece("s", *_float_item(abs(value)), coef=Fraction(sign))


def _float_item(value: float) -> Item:
    text = repr(float(value))
    if text == "inf":
        return r"\infty", ATOM
    if text == "nan":
        return r"\mathrm{nan}", ATOM
    digits, _, exponent = text.partition("e")
    if not exponent:
        return digits, ATOM
    return ("" if digits == "1" else rf"{digits} \cdot ") + rf"10^{{{int(exponent)}}}", POWER


def _complex_piece(value: complex) -> Piece:
    parts = [] if not value.real else [number_piece(_plain(value.real))]
    imaginary = number_piece(_plain(value.imag))
    parts.append(product(imaginary, Piece("s", r"\mathrm{i}")))
    return parts[0] if len(parts) == 1 else total("s", parts)


def _plain(value: float) -> Any:
    return int(value) if value.is_integer() else value


def total(kind: str, parts: Sequence[Piece]) -> Piece:
    """A sum; sums inside it are flattened, and a sum of negatives is a negative sum."""
    flat: list[Piece] = []
    for part in parts:
        if part.parts is not None and abs(part.coef) == 1 and not part.top and not part.bottom:
            flat.extend(p.replaced(coef=p.coef * part.coef) for p in part.parts)
        else:
            flat.append(part)
    sign = Fraction(1)
    if all(p.coef < 0 for p in flat):
        flat, sign = [p.replaced(coef=-p.coef) for p in flat], Fraction(-1)
    flat = _positive_first(flat)
    return Piece(kind, _sum_text(flat), SUM, coef=sign, parts=flat)


def _positive_first(parts: list[Piece]) -> list[Piece]:
    first = next((k for k, p in enumerate(parts) if p.coef >= 0), 0)
    return [parts[first], *parts[:first], *parts[first + 1 :]]


def _sum_text(parts: Sequence[Piece]) -> str:
    text = ""
    for k, part in enumerate(parts, 1):
        minus, (body, level) = shown(part)
        body = body if level > SUM else brackets(body)
        body = body if k == len(parts) else _before(body)
        text += (" - " if minus < 0 else " + ") + body if text else ("-" if minus < 0 else "") + body
    return text


def product(a: Piece, b: Piece) -> Piece:
    """A scalar times anything."""
    if b.kind == "s" and a.kind != "s":
        a, b = b, a
    if b.kind != "s":
        return b.with_lead(a.coef, a.above(), a.bottom)
    return Piece("s", coef=a.coef * b.coef, top=(*a.above(), *b.above()), bottom=(*a.bottom, *b.bottom))


def quotient(a: Piece, b: Piece) -> Piece:
    """Anything over a scalar."""
    if not b.coef:  # x / 0 is infinite or nan, and printed as it is
        b = Piece("s", top=(("0", ATOM),))
    if a.kind != "s":
        return a.with_lead(1 / b.coef, b.bottom, b.above())
    return Piece("s", coef=a.coef / b.coef, top=(*a.above(), *b.bottom), bottom=(*a.bottom, *b.above()))


def hadamard(kind: str, a: Piece, b: Piece) -> Piece:
    """An entrywise product of arrays of one shape, scalars in front; of x and 1/y it is one fraction."""
    for x, y in ((a, b), (b, a)):
        if y.ratio is not None and y.ratio[0] == _UNIT and x.core and not _is_tall((x.core, x.level)):
            over = Piece(kind, *y.ratio[1])
            return fraction(kind, x, over).with_lead(y.coef, y.top, y.bottom)
    text = rf"{_before(closed((a.core, a.level), HADAMARD))} \odot {closed((b.core, b.level), HADAMARD)}"
    return Piece(kind, text, HADAMARD, coef=a.coef * b.coef, top=(*a.top, *b.top), bottom=(*a.bottom, *b.bottom))


def cross(a: Piece, b: Piece, kind: str = "c", sign: str = r"\times") -> Piece:
    """The cross product of two columns, or the Kronecker product of two matrices, scalars in front."""
    text = rf"{closed((a.core, a.level), MUL)} {sign} {closed((b.core, b.level), MUL)}"
    return Piece(kind, text, CROSS, coef=a.coef * b.coef, top=(*a.top, *b.top), bottom=(*a.bottom, *b.bottom))


def fraction(kind: str, a: Piece, b: Piece) -> Piece:
    """An entrywise quotient by an array."""
    if a.kind == "s":
        lead = Piece("s", coef=Fraction(-1 if a.coef < 0 else 1, a.coef.denominator))
        over = signed(a.replaced(coef=abs(a.coef) * a.coef.denominator))
    else:
        lead, over = Piece("s", coef=a.coef, top=a.top, bottom=a.bottom), _loose(a)
    made = Piece(kind, rf"\frac{{{over[0]}}}{{{b.core}}}", POWER, ratio=(over, _loose(b)))
    return product(quotient(lead, Piece("s", coef=b.coef, top=b.top, bottom=b.bottom)), made)


def _loose(a: Piece) -> Item:
    """A core above or below a bar, where what stands in front of it leaves an entrywise product without brackets."""
    return a.core, MUL if a.level == HADAMARD else a.level


def matrix_product(kind: str, a: Piece, b: Piece) -> Piece:
    """Two arrays side by side, their scalars in front; a row times a column is a scalar."""
    text, level = juxtaposed([_factor(a), _factor(b)])
    made = Piece(kind, text, level)
    if kind == "s":
        return Piece("s", coef=a.coef * b.coef, top=(*a.top, *b.top, (text, level)), bottom=(*a.bottom, *b.bottom))
    return made.with_lead(a.coef * b.coef, (*a.top, *b.top), (*a.bottom, *b.bottom))


def _factor(a: Piece) -> Item:
    """A core as a factor of a matrix product, which needs no brackets for being one itself."""
    return (a.core, ATOM) if a.level == MUL else (closed((a.core, a.level), MUL), OPEN if a.level == OPEN else ATOM)


def transposed(a: Piece) -> Piece:
    """The transpose: twice is nothing, rows and columns change places."""
    kind = {"c": "r", "r": "c"}.get(a.kind, a.kind)
    if kind == "s":
        return a
    if a.flip is not None:
        return a.replaced(
            kind=kind,
            core=a.flip[0],
            level=a.flip[1],
            flip=(a.core, a.level),
            parts=None,
            call=None,
            power=None,
            ratio=None,
        )
    if a.power is not None:
        text = rf"{a.power[0]}^{{{a.power[1]}\top}}"
    else:
        text = rf"{closed((a.core, a.level), ATOM)}^{{\top}}"
    return a.replaced(
        kind=kind, core=text, level=POWER, flip=(a.core, a.level), parts=None, call=None, power=None, ratio=None
    )


def raised(a: Piece, exponent: str, hadamard_power: bool) -> Piece:
    """A power with the exponent's text; functions take small exponents before their argument."""
    if a.call is not None and a.bare and exponent.isdigit():
        return Piece(a.kind, rf"{a.call[0]}^{{{exponent}}}\left({a.call[1]}\right)", ATOM)
    base = closed(signed(a), ATOM)
    mark = r"\odot " if hadamard_power else ""
    return Piece(a.kind, rf"{base}^{{{mark}{exponent}}}", POWER)
