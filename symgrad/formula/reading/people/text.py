"""The reader of formulas as people type them without LaTeX: NumPy's notation, or that of matrices on paper.

Two readings of one text.  :func:`read_numpy` is NumPy's: vectors have one axis, and ``@`` is the matrix product.
:func:`read_matrices` is that of mathematics (and of MATLAB): vectors are columns, ``.*`` is entry by entry, ``A'`` and
``A^T`` are transposes, and the ``*`` may be left out.  What ``*`` means in either is the business of
:mod:`symgrad.formula.reading.people.stars`.  Nothing of the text is evaluated as code.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Container, Iterable, Mapping
from typing import Any

from symgrad.errors import FormulaError, NameProblem, ShapeError, SymgradError
from symgrad.formula.printing.names import GREEK, name_latex
from symgrad.formula.reading.called import called
from symgrad.formula.reading.misfits import ProductMisfit, TwoMeanings, said
from symgrad.formula.reading.people.clauses import Side, cut, is_name, main_piece
from symgrad.formula.reading.people.dialects import LEFT_DIVISION
from symgrad.formula.reading.people.functions import ATTRIBUTES, ENTRYWISE, FUNCTIONS, function, joined
from symgrad.formula.reading.people.names import CALLED
from symgrad.formula.reading.people.paper import (
    FRACTION,
    IN_LATEX,
    INDICES,
    LOWERED,
    RAISED,
    in_braces,
    indexed,
    spelled,
)
from symgrad.formula.reading.people.ranks import MODULES
from symgrad.formula.reading.people.stars import (
    ENTRIES,
    ENTRY,
    FIT,
    FITTING,
    INFIXES,
    PLACE,
    POWERS,
    PRODUCT,
    marked,
)
from symgrad.formula.reading.people.tex import read_latex, read_tokens
from symgrad.formula.reading.people.tokens import OPERATORS, PeopleTokens, bars, closing, primes, scripted
from symgrad.formula.reading.text import ALIASES, _Reader, symbol_table
from symgrad.formula.reading.values import Value, entrywise, op, product, value_of
from symgrad.formula.term import Term, as_term, number, size_letter
from symgrad.op import FRONTS, TABLE, lookup

_SMALL = f"{RAISED}|{LOWERED}|{FRACTION}"
TOKEN = re.compile(
    rf"\s*(?:(?P<fraction>{FRACTION})|(?P<infinite>_?∞)"
    r"|(?P<number>(?:\d+(?:_\d+)*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?j?)"
    r"|(?P<below>_\{[^{}]*\})"
    rf"|(?P<name>(?!{_SMALL})[^\W\d](?:(?!{_SMALL})[\w\u0302-\u0307])*)"
    r"|(?P<text>'[a-z]{2,12}\d*'|'[a-zA-Z]+(?:,[a-zA-Z]+)+'|'[a-zA-Z]+(?:\s*,\s*[a-zA-Z]+)*\s*->\s*[a-zA-Z]*'|\"[^\"]*\")"
    rf"|(?P<raised>{RAISED}+)"
    rf"|(?P<lowered>{LOWERED}+)"
    r"|(?P<sign>\*\*|//|<=|>=|==|!=|\.\*|\./|\.\^|\.\.\.|\|\||[-+*/%@()\[\],:;.&|~<>=^'⌊⌋⌈⌉⊙·−√∛‖∥∑∏∘⋅×⊗∖⟨⟩≤≥≠′!]))"
)


def tokenize(text: str, names: Container[str] = ()) -> PeopleTokens:
    """The tokens of plain text; prefixes such as ``np.linalg.`` are dropped, but for those that are ``names``."""
    items: list[tuple[str, str, int]] = []
    at = 0
    while text[at:].strip():
        match = TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            at += len(text[at:]) - len(text[at:].lstrip())
            found = PeopleTokens(text, [("sign", text[at], at)])
            raise found.error(f"unexpected {text[at]!r}")
        items.append((match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)))
        at = match.end()
    items = spelled(_without_modules(items, {m for m in MODULES if m not in names}), names)
    return PeopleTokens(text, bracketed(items, names))


def bracketed(items: Items, names: Container[str] = ()) -> Items:
    """The tokens with Mathematica's ``Exp[x]`` as ``exp(x)``."""
    out = list(items)
    for k, (kind, text, place) in enumerate(items[:-1]):
        lower = text.lower()
        known = text not in names and (lower in TABLE or lower in FUNCTIONS or lower in ENTRYWISE or text in OPERATORS)
        if kind == "name" and text[:1].isupper() and items[k + 1][1] == "[" and known:
            end = closing(items, k + 1, "[]")
            out[k] = (kind, text if text in OPERATORS or text in FUNCTIONS else lower, place)
            out[k + 1] = ("sign", "(", items[k + 1][2])
            if end < len(items):
                out[end] = ("sign", ")", items[end][2])
    return out


_OF_MODULES = {"e": "E", "inf": "oo"}
"""Numbers of modules by the names of SymPy, as ``np.e``; an ``e`` without a module may be a vector."""


def _without_modules(items: Items, modules: set[str]) -> Items:
    out: Items = []
    for k, item in enumerate(items):
        following = items[k + 1][1] if k + 1 < len(items) else ""
        module = item[1] in modules and following == "."
        if not module and not (item[1] == "." and k and items[k - 1][1] in modules):
            of_module = k > 1 and items[k - 1][1] == "." and items[k - 2][1] in modules
            out.append((item[0], _OF_MODULES.get(item[1], item[1]), item[2]) if of_module else item)
    return out


def split_definition(text: str) -> str:
    """The right side of ``df/dx = …``; a text with further definitions stays whole, with ``;`` before these."""
    text = _INTRODUCED.sub("; ", text)
    parts = re.split(r"(?<![<>=!:])=(?!=)", text)
    outside = parts[0].count("(") == parts[0].count(")")
    flat = text
    for _ in range(40):
        flat, before = re.sub(r"[(\[][^()\[\]]*[)\]]", "", flat), flat
        if flat == before:
            break
    return parts[1] if len(parts) == 2 and outside and not re.search(r"[,;\n]", flat.strip()) else text


def sides_of(text: str, symbols: Iterable[Term], variables: Container[str] = ()) -> list[Side]:
    """The sides of a chain ``header = a = b`` but for the last, with the definitions around it.

    A variable of the derivative is no name for it; other symbols may be, as in ``g = 2*g*x``.
    """
    line = re.sub("[∇∂]", "d", as_line(_INTRODUCED.sub("; ", text)))  # of the same length
    table = dict(symbol_table(symbols))
    pieces = [cut(piece, "=", "==") for piece in cut(tokenize(line, table).items, ",", ";")]
    main = pieces[main_piece(pieces, table)]
    if len(main) < 2 or not all(main):
        return []
    starts = [side[0][2] for side in main]
    end = next((item[2] for piece in pieces for item in piece[0][:1] if item[2] > starts[-1]), len(line))
    before, after = line[: starts[0]], line[end:]
    texts = [line[a:b].rstrip(" :=;,") for a, b in itertools.pairwise(starts)]
    texts = texts[is_name(texts[0], table) and texts[0].strip() not in variables :]
    return [Side(before + side + ("; " + after if after else ""), is_name(side, table)) for side in texts]


_INTRODUCED = re.compile(r"[\s,;]+(?:where|with|for|since|because)\s+(?=\w+\s*:?=(?!=))")
"""The words in front of definitions, as in ``2*M@x with M = A.T@A``."""


# ---------------------------------------------------------------------------------------------- NumPy's notation


def read_numpy(text: str, symbols: Mapping[str, Any] | Iterable[Term], star: str = ENTRIES, rows: bool = False) -> Term:
    """The term of a text in NumPy's notation; ``star`` says what ``*`` means between matrices.

    With ``rows`` entries of a vector belong to the rows of a matrix beside it, as in R and MATLAB.

    >>> read_numpy("2*A.T @ (A@x - b)", {"A": ("m", "n"), "x": ("n",), "b": ("m",)}).shape
    ('n',)
    """
    table = dict(symbol_table(symbols))
    tokens = tokenize(as_line(text), table)
    tokens.items = marked(tokens.items, star)
    tokens.items = [(kind, _SIGNS.get(found, found), place) for kind, found, place in tokens.items]
    main, definitions = statements(tokens, table)
    for name, items in definitions:
        table[name] = _finished(PeopleTokens(text, items), table, rows)
    return _finished(PeopleTokens(text, main), table, rows)


def _finished(tokens: PeopleTokens, table: dict[str, Term], rows: bool) -> Term:
    reader = NumpyReader(tokens, table)
    reader.rows = rows
    found = reader.expression(0)
    tokens.end()
    if isinstance(found, Value):
        raise tokens.error("the size of I is not known here; write eye(n)")
    return as_term(joined(found))


def beside_identity(sign: str, left: Any, right: Any) -> Any:
    """An operator with a multiple of the identity on one of its sides."""
    a, b = (x if isinstance(x, Value) else value_of(as_term(x)) for x in (left, right))
    ops = {"+": "add", "-": "sub", "/": "div"}
    if sign in ("*", "@"):
        found = product(a, b)
    elif sign in ops and (sign != "/" or b.kind == "s"):
        found = entrywise(lookup(ops[sign]), a, b)
    else:
        raise FormulaError(f"{sign} does not stand beside I")
    return found if found.kind == "eye" else found.term


_SIGNS = {"^": "**", "·": "*", "⋅": "*", "−": "-"}


def as_line(text: str) -> str:
    """A text of several lines with semicolons between them, of the same length."""
    depth = 0
    out = []
    for c in re.sub(r"\breturn\b", "      ", text.strip()):
        depth += (c in "([{") - (c in ")]}")
        out.append(";" if c == "\n" and depth <= 0 else c)
    return "".join(out)


Items = list[tuple[str, str, int]]


def statements(tokens: PeopleTokens, table: Container[str] = ()) -> tuple[Items, list[tuple[str, Items]]]:
    """The formula, and the definitions ``name = …`` around it with those before that others need.

    Where a name is given a new value, they are statements, which run in their order.
    """
    pieces = [cut(piece, "=") for piece in cut(tokens.items, ",", ";")]
    main = pieces.pop(main_piece(pieces, table))[-1]
    left: list[tuple[str, Items]] = []
    for piece in pieces:
        if len(piece) != 2 or len(piece[0]) != 1:
            tokens.at = tokens.items.index((piece[0] or piece[-1])[0])
            raise tokens.error("after a comma a definition such as Y = A + X is expected")
        left.append((piece[0][0][1], piece[1]))
    if len({name for name, _ in left}) < len(left):
        return main, left
    ready: list[tuple[str, Items]] = []
    while left:
        waiting = {name for name, _ in left}
        free = [d for d in left if not waiting & {text for _, text, _ in d[1]}]
        ready += free or left
        left = [d for d in left if free and d not in free]
    return main, ready


class NumpyReader(_Reader):
    """The strict reader with the functions and methods of NumPy, SciPy and torch."""

    infixes = _Reader.infixes | INFIXES
    powers = _Reader.powers | POWERS
    rows = False

    def operator(self) -> str:
        """The sign that comes next, with what it means where that is known."""
        kind = self.tokens.kind
        return f"{kind} {self.tokens.peek()}" if kind in (PRODUCT, ENTRY) else super().operator()

    def infix(self, sign: str, left: Any, right: Any) -> Any:
        """The value of an operator, with its place in errors."""
        try:
            if isinstance(left, Value) or isinstance(right, Value):
                return beside_identity(sign.split()[-1], left, right)
            if sign == "@" and not (left.ndim and right.ndim):
                raise ShapeError("@ stands between arrays; between numbers, or a number and an array, write *")
            if self.rows and sign not in ("@", "∖") and (left.ndim, right.ndim) in ((1, 2), (2, 1)):
                left, right = (x if x.ndim == 2 else op("unsqueeze", x, dim=1) for x in (left, right))
            return super().infix(sign, left, right)
        except ShapeError as error:
            raise self.tokens.error(str(error).rstrip(".").replace("'", ""), ProductMisfit) from None
        except FormulaError as error:
            raise error if "position" in str(error) else self.tokens.error(said(error), ProductMisfit) from None

    def name(self, name: str) -> Any:
        """A symbol, size or constant; ``I`` is the identity where there are matrices."""
        if name == "I" and name not in self.table and any(t.ndim == 2 for t in self.table.values()):
            return Value("eye", number(1))
        return super().name(name)

    def attribute(self, left: Any) -> Any:
        """A transpose, or a method such as ``x.sum()``."""
        tokens = self.tokens
        name = tokens.peek(1)
        if name in ATTRIBUTES and (tokens.peek(2) != "(" or name == "T"):
            tokens.at += 2
            try:
                return ATTRIBUTES[name](left)
            except (SymgradError, IndexError) as error:
                raise tokens.error(said(error), ProductMisfit) from None
        if name == "shape" and tokens.peek(2) == "[":
            return self.size_of_axis(left)
        if tokens.peek(2) != "(":
            return super().attribute(left)
        tokens.at += 3
        if name in _SAME_VALUE:
            whole = False
            while (found := tokens.take()) not in (")", ""):
                whole = whole or re.search("int|bool|long", found) is not None
            if whole and left.dtype is not None and left.dtype.kind not in "biu":
                raise tokens.error(f"{name}() cuts numbers off to whole ones, which is no formula here")
            return 1 * left
        return self.call(name, [left])

    def size_of_axis(self, left: Any) -> Any:
        """``X.shape[0]``, ``X.shape[-1]``."""
        tokens = self.tokens
        tokens.at += 3
        last = tokens.found("-")
        if not tokens.peek().isdigit() or tokens.peek(1) != "]":
            raise tokens.error("after .shape[ the number of an axis is expected")
        axis = -int(tokens.peek()) if last else int(tokens.peek())
        if not -left.ndim <= axis < left.ndim:
            raise tokens.error(f"an array with {left.ndim} axes has no axis {axis}")
        tokens.at += 2
        return size_letter(left.shape[axis])

    def prefix(self) -> Any:
        """What stands where an operand is expected; a list is a tuple of what stands in it."""
        if not self.tokens.found("["):
            return super().prefix()
        entries = [] if self.tokens.peek() == "]" else [self.expression(0), *self.rest_of_tuple("]")]
        self.tokens.expect("]")
        return tuple(entries)

    def call(self, name: str, before: Iterable[Any] = ()) -> Any:
        """A function with its arguments."""
        tokens = self.tokens
        start = tokens.at
        args, params = self.arguments()
        args = [*before, *args]
        if any(isinstance(a, Value) for a in args):
            raise tokens.error("the size of I is not known here; write eye(n)")
        after, tokens.at = tokens.at, start - 2  # errors show the name of the function
        try:
            found = as_term(self.people(name, args, params))
        except (ShapeError, ProductMisfit) as error:
            raise tokens.error(str(error).rstrip("."), ProductMisfit) from None
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            if isinstance(error, (FormulaError, NameProblem)):
                raise
            raise tokens.error(f"{name}() cannot take these arguments: {error}") from None
        tokens.at = after
        return found

    def end(self) -> Any:
        """The end of a slice; ``np.newaxis`` is None."""
        return None if self.tokens.found("newaxis") else super().end()

    def argument(self) -> Any:
        """One argument; the text that says what ``einsum`` does is one, too."""
        return self.tokens.take()[1:-1] if self.tokens.kind == "text" else super().argument()

    def people(self, name: str, args: list[Any], params: dict[str, Any]) -> Any:
        """A function by its name in NumPy, torch or mathematics."""
        own = function(name) or function(OPERATORS.get(name, ALIASES.get(name, name)))
        if own is None:
            return self.applied(name, args, params)
        try:
            return own(*args, **params)
        except (TypeError, KeyError, ValueError, AttributeError):
            if not params or name not in TABLE:
                raise
            with contextlib.suppress(TypeError, KeyError, ValueError, AttributeError):
                return self.applied(name, args, params)  # with the parameters of the table, as symgrad prints it
            raise


# ---------------------------------------------------------------------------------------------- matrices on paper


def read_matrices(
    text: str,
    symbols: Mapping[str, Any] | Iterable[Term],
    shape: tuple[Any, ...] | None = None,
    star: str = FITTING,
    **readings: Any,
) -> Term:
    """The term of a text in the notation of mathematics, where vectors are columns.

    ``star`` says what ``*`` means between matrices; beside the ``@`` or ``np.`` of NumPy it is entry by entry.

    >>> read_matrices("2 A'(Ax - b)", {"A": ("m", "n"), "x": ("n",), "b": ("m",)}).shape
    ('n',)
    """
    table = symbol_table(symbols)
    tokens = tokenize(as_line(text), table)
    tokens.items = marked(tokens.items, ENTRIES if is_numpy(text) else star)
    tokens = _translated(tokens, table)
    return read_tokens(tokens, table, shape, **readings)


_STARS = {PRODUCT: r"\firm", FIT: r"\star", ENTRY: r"\pair", "sign": r"\entry"}


def _translated(tokens: PeopleTokens, table: dict[str, Term]) -> PeopleTokens:
    """Plain tokens in the notation of the reader of LaTeX."""
    out: list[tuple[str, str, int]] = []
    items = indexed(tokens.items)
    k = 0
    while k < len(items):
        kind, text, place = items[k]
        following = items[k + 1][1] if k + 1 < len(items) else ""
        k += 1
        if text == "." and following in _AFTER_DOT:
            out += [("char", part, place) for part in ("^", "{", *_AFTER_DOT[following], "}")]
            k += 1
        elif kind in ("raised", "lowered"):
            out += in_braces(kind, text, place)
        elif kind == "below":
            out += [("number" if sign.isdigit() else "char", sign, place) for sign in ("_", *text[1:])]
        elif text == "*" and [i[1] for i in out[-1:]] == ["^"]:
            out.append(("char", r"\ast", place))
        elif text in ("**", "^", ".^"):
            k = _exponent(items, k, out, place, text == ".^" or kind == ENTRY or (text, kind) == ("**", "sign"))
        elif text == "*":
            out.append(("char", _STARS[kind], place))
        elif kind == "name" and text[0] in "THt" and [i[1] for i in out[-1:]] == ["^"] and text not in table:
            out.append(("char", text[0], place))  # ``A^TA``: the transpose, and what follows it
            digits = _DIGITS.match(text, 1)[0]  # type: ignore[index]
            out += [("number", digits, place + 1)] * bool(digits)
            rest = 1 + len(digits)
            out += _name(text[rest:], place + rest, following, table) if len(text) > rest else []
        elif kind == "name":
            out += _name(text, place, following, table)
        elif text == "||":
            out += [("char", "|", place), ("char", "|", place + 1)]
        elif kind == "sign" and text in IN_LATEX:
            out.append(("char", IN_LATEX[text], place))
        else:
            out.append((kind if kind in ("number", "ones") else "char", text, place))
    return PeopleTokens(tokens.text, scripted(primes(bars(out))))


def _exponent(items: list[Any], k: int, out: list[Any], place: int, entrywise: bool) -> int:
    """A power: its bracket becomes the braces of LaTeX."""
    out.append(("char", "^", place))
    if k < len(items) and items[k][1] == "(":
        depth = 0
        for j in range(k, len(items)):
            depth += (items[j][1] == "(") - (items[j][1] == ")")
            if not depth:
                inside = _translated(PeopleTokens("", items[k + 1 : j]), {}).items
                mark = [("char", r"\odot", place)] if entrywise else []
                out += [("char", "{", place), *mark, *inside, ("char", "}", place)]
                return j + 1
    if entrywise:
        out += [("char", "{", place), ("char", r"\odot", place)]
        end = k + 2 if k < len(items) and items[k][1] == "-" else k + 1
        out += [("number" if i[0] == "number" else "char", i[1], i[2]) for i in items[k:end]]
        out.append(("char", "}", place))
        return end
    return k


_SAME_VALUE = ("astype", "float", "double", "to", "type", "numpy", "detach", "clone", "copy", "item", "contiguous")
"""Methods that change nothing but the kind of numbers, or where they are kept."""

_DIGITS = re.compile(r"\d*")
_AFTER_DOT = {"T": (r"\top",), "mT": (r"\top",), "I": ("-", "1"), "H": ("H",)}
_INDEXED = {"sum": r"\sum", "prod": r"\prod", "": "", "delta": r"\delta", "δ": r"\delta", **{x: x for x in "IJYK"}}
"""What may stand before an index besides a symbol; nothing, after a sign such as ∑."""


def _name(text: str, place: int, following: str, table: dict[str, Term]) -> list[tuple[str, str, int]]:
    """The tokens of a name: a symbol, a function, a Greek letter, or several symbols side by side."""
    if text in table or text in ("T", "H", "I", "e"):
        return [("char", text, place)]
    stem, _, letters = text.partition("_")
    rows = letters in INDICES and len(stem) == 1 and (stem.upper() in table or stem == "e")
    if letters.isalnum() and (stem in table or stem in _INDEXED or rows):
        signs = [_INDEXED.get(stem, stem), "_", "{", *re.findall(r"\d+|\D", letters), "}"]
        return [("number" if sign.isdigit() else "char", sign, place) for sign in signs if sign]
    greek = _spelled(text, table)
    if greek is not None:
        return [("char", greek, place)]
    known = _is_function(text, "(")
    letter = name_latex(text)
    if letter == r"\pi" or (letter[1:] in CALLED and following in ("(", "'")):
        return [("command", letter, place)]
    if known and (following == "(" or may_be_bare(text)):
        command = rf"\{text}"
        written = command in called().commands
        return [("command", command, place) if written else ("name", rf"\operatorname{{{text}}}", place)]
    last = "e" if text[-1:] == "e" and following[:1] in "^*⁻²³" else None
    side_by_side = [
        _spelled(c, table) or ("I" if c == "I" else last if j == len(text) - 1 else None) for j, c in enumerate(text)
    ]
    if None not in side_by_side:
        return [("char", str(c), place + j) for j, c in enumerate(side_by_side)]
    bare = _bare_call(text, table)
    if bare:
        digits = _DIGITS.match(text, len(bare))[0]  # type: ignore[index]
        rest = len(bare) + len(digits)
        number_after = [("number", digits, place + len(bare))] * bool(digits)
        return [*_name(bare, place, " ", table), *number_after, *_name(text[rest:], place + rest, following, table)]
    factors = next((k for k in range(1, len(text)) if text[k - 1] not in table or _is_function(text[k:], following)
                    or _bare_call(text[k:], table)), 0)  # fmt: skip
    if factors and all(c in table for c in text[:factors]):
        one_by_one = [("char", c, place + j) for j, c in enumerate(text[:factors])]
        return one_by_one + _name(text[factors:], place + factors, following, table)
    return [("char", letter if letter[1:] in GREEK else text, place)]


def _spelled(text: str, table: Mapping[str, Any]) -> str | None:
    """The symbol that a name is, or that is spelled like it in LaTeX, as ``lam`` for ``λ``."""
    return text if text in table else next((name for name in table if name_latex(name) == name_latex(text)), None)


def may_be_bare(name: str) -> bool:
    """Whether the name of a function may stand before its argument without brackets, as in ``sin x`` and ``ln x``."""
    return len(name) > 2 or name in ("ln", "tr", "Tr")


def _bare_call(text: str, table: Mapping[str, Any]) -> str:
    """The function at the start of a name that is one and its argument, as in ``cosx``, ``sin2x`` and ``sinxcosx``."""
    for k in range(len(text) - 1, 1, -1):
        head, rest = text[:k], text[k:].lstrip("0123456789")
        if may_be_bare(head) and _is_function(head, "("):
            symbols = sum(1 for _ in itertools.takewhile(table.__contains__, rest))
            if symbols and (symbols == len(rest) or any(_bare_call(rest[j:], table) for j in range(1, symbols + 1))):
                return head
    return ""


def _is_function(text: str, following: str) -> bool:
    """Whether a name is that of a function, before its argument."""
    bessel = re.fullmatch(r"[IJYK]_\d", text) is not None
    known = text in TABLE or text in FRONTS or text in OPERATORS or text in FUNCTIONS or text in ENTRYWISE
    return following == "(" and (bessel or known or text in ("tr", "relu"))


# ---------------------------------------------------------------------------------------------- any of them


def is_numpy(text: str) -> bool:
    """Whether a text says that it is in NumPy's notation, where ``*`` is never the matrix product."""
    return _OF_NUMPY.search(text) is not None


_OF_NUMPY = re.compile(r"@|\b(np|numpy|jnp|torch)\.|\b(axis|dim|keepdims?)\s*=|\[\s*:|\bNone\b|\bnewaxis\b")


def leaves_open(text: str) -> bool:
    """Whether a text leaves open what ``*`` means between matrices."""
    return "*" in text and not is_numpy(text) and not is_latex(text)


def is_latex(text: str) -> bool:
    """Whether a text is LaTeX rather than plain."""
    return "\\" in LEFT_DIVISION.sub("", text) or "_{" in text or "^{" in text


def position(error: Exception) -> float:
    """How far reading got before an error."""
    found = re.search(r"position (\d+)", str(error))
    return float(found[1]) if found else 0.0


def read_function(text: str, shapes: Mapping[str, Any], star: str = PLACE) -> Term:
    """The term of a function given as text; ``star`` is for texts that leave open what ``*`` means."""
    if is_latex(text):
        return read_latex(text, shapes, means=True, solidus=None)
    star = ENTRIES if is_numpy(text) else star
    try:
        return read_numpy(text, shapes, star)
    except (FormulaError, NameProblem) as error:
        try:
            return read_matrices(text, shapes, star=star, solidus=None)
        except TwoMeanings:
            raise
        except (FormulaError, NameProblem) as other:
            misfits = [e for e in (error, other) if isinstance(e, ProductMisfit)]
            raise max(misfits or (error, other), key=position) from None
