"""Readers of formulas: NumPy-like text (``str`` of an expression) here, LaTeX in :mod:`symgrad.formula.reading.tex`.

A tokenizer and an operator-precedence parser build terms; nothing of the text is ever evaluated as code.  Grammar of
the text form, loosest first (all left-associative but ``**``)::

    | ;  ^ ;  & ;  < <= > >= == != ;  + - ;  * @ / // % ;  unary - ~ ;  ** ;  x.T  x[index]  f(x, ..., key=value)

Operators mean NumPy's; functions are the ops of the table and SymPy's names for them; size letters are names.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from symgrad.errors import ArgumentError, FormulaError, FormulaTooDeep, NameProblem
from symgrad.formula.canonical.normal import size_text
from symgrad.formula.printing.parameters import DEFAULTS
from symgrad.formula.reading.values import diag, negated, op
from symgrad.formula.term import SYMBOL, Term, apply, as_term, full, number, size_letter, symbol
from symgrad.op import TABLE, Op, lookup
from symgrad.ops.indexing.getitem import Index, static_index
from symgrad.ops.rules.constants import PI

MAX_NESTING = 180
"""Levels of brackets and operators that a reader follows; the printers write less."""

TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?j?)|(?P<name>[^\W\d]\w*)|(?P<text>'[^']*'|\"[^\"]*\")"
    r"|(?P<sign>\*\*|//|<=|>=|==|!=|\.\.\.|[-+*/%@()\[\],:.&|^~<>=]))"
)


def symbol_table(symbols: Mapping[str, Any] | Iterable[Term]) -> dict[str, Term]:
    """Symbol terms by name, from ``{name: shape}``, ``{name: (shape, dtype)}``, ``{name: term}`` or a list of terms.

    >>> symbol_table({"x": ("n",), "y": ((), "float32")})["y"].dtype
    dtype('float32')
    """
    if not isinstance(symbols, Mapping):
        return {t.params["name"]: t for t in symbols if t.op is SYMBOL}
    out = {}
    for name, given in symbols.items():
        if isinstance(given, Term):
            out[name] = given
        elif isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], tuple):
            out[name] = symbol(name, given[0], np.dtype(given[1]))
        else:
            out[name] = symbol(name, tuple(given))
    return out


def size_letters(table: Mapping[str, Term]) -> set[str]:
    """The letters in the shapes of symbols."""
    return {w for t in table.values() for s in t.shape if isinstance(s, str) for w in re.findall(r"[^\W\d]\w*", s)}


class Tokens:
    """A list of ``(kind, text, position)`` with a place in it, and errors that show that place."""

    def __init__(self, text: str, items: list[tuple[str, str, int]]):
        self.text = text
        self.items = items
        self.at = 0
        self.depth = 0

    def peek(self, ahead: int = 0) -> str:
        """The text of a coming token; empty at the end."""
        k = self.at + ahead
        return self.items[k][1] if k < len(self.items) else ""

    @property
    def kind(self) -> str:
        """The kind of the next token; "end" at the end."""
        return self.items[self.at][0] if self.at < len(self.items) else "end"

    def take(self) -> str:
        """The next token, passed."""
        text = self.peek()
        self.at += 1
        return text

    def found(self, text: str) -> bool:
        """Pass the next token if it is ``text``."""
        if self.peek() == text:
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        """Pass a token that must be there."""
        if not self.found(text):
            raise self.error(f"{text!r} is missing")

    def end(self) -> None:
        """Pass the end of the text, which must be here."""
        if self.kind != "end":
            stray = self.peek() in (")", "]", "}")
            raise self.error(f"nothing is open that {self.peek()!r} closes" if stray else f"unexpected {self.peek()!r}")

    def error(self, problem: str, kind: type[Exception] = FormulaError) -> Exception:
        """An error that shows where reading stopped."""
        place = self.items[self.at][2] if self.at < len(self.items) else len(self.text)
        before, after = self.text[max(0, place - 30) : place], self.text[place : place + 20]
        return kind(f"cannot read the formula at position {place}: {problem} (at ⟨here⟩ in …{before}⟨here⟩{after}…)")

    def scrap(self, stops: Sequence[str]) -> str:
        """The text up to one of some tokens that no bracket of its own holds, such as a size ``len(range(n)[::2])``."""
        out, depth = "", 0
        while self.peek() and (depth or self.peek() not in stops):
            depth += (self.peek() in ("(", "[", "{")) - (self.peek() in (")", "]", "}"))
            out += self.take()
        return out

    def deeper(self) -> None:
        """Count a level of nesting."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise FormulaTooDeep(
                f"the text nests more than {MAX_NESTING} levels; write it as statements, as symgrad.where_list(t) does."
            )


def tokenize(text: str) -> Tokens:
    """The tokens of NumPy-like text."""
    items: list[tuple[str, str, int]] = []
    at = 0
    while text[at:].strip():
        match = TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise FormulaError(f"cannot read the formula at position {at}: unexpected {text[at : at + 10].strip()!r}.")
        items.append((match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)))
        at = match.end()
    return Tokens(text, items)


def parse_formula(text: str, symbols: Mapping[str, Any] | Iterable[Term]) -> Term:
    """The term of NumPy-like text, such as ``str(t.expr)``; ``symbols`` state the shapes of its names.

    Raises ``FormulaError`` where the text cannot be read, and ``NameProblem`` for a name that is neither a symbol, a
    size letter nor a function of the table.

    >>> x = symbol("x", ("n",))
    >>> parse_formula("2*sin(x)**2 + 1", [x]).shape
    ('n',)
    """
    reader = _Reader(tokenize(text), symbol_table(symbols))
    found = reader.expression(0)
    reader.tokens.end()
    return as_term(found)


def _apply(name: str) -> Callable[[Any, Any], Any]:
    return lambda x, y: lookup(name)(x, y)


_INFIX: dict[str, tuple[int, Callable[[Any, Any], Any]]] = {
    "|": (1, _apply("logical_or")),
    "^": (2, _apply("logical_xor")),
    "&": (3, _apply("logical_and")),
    **{s: (4, _apply(n)) for s, n in {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}.items()},
    "+": (5, _apply("add")),
    "-": (5, _apply("sub")),
    "*": (6, _apply("mul")),
    "@": (6, _apply("matmul")),
    "/": (6, _apply("div")),
    "//": (6, _apply("floor_divide")),
    "%": (6, _apply("remainder")),
}
_UNARY = 7
_POWER = 8

ALIASES = {
    "Abs": "abs", "ceiling": "ceil", "Max": "maximum", "Min": "minimum", "Mod": "remainder", "loggamma": "lgamma",
    "Eq": "eq", "Ne": "ne", "Gt": "gt", "Ge": "ge", "Lt": "lt", "Le": "le", "And": "logical_and", "Or": "logical_or",
    "Not": "logical_not", "Xor": "logical_xor", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
    "arctan2": "atan2", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "transpose": "permute",
    "conjugate": "conj", "re": "real", "im": "imag", "ITE": "where", "mod": "remainder",
}  # fmt: skip
_FOLDED = ("maximum", "minimum", "logical_and", "logical_or")


class _Reader:
    """Operator precedence over tokens; one Python frame pair per level of nesting."""

    infixes = _INFIX
    powers: ClassVar[dict[str, Callable[[Any, Any], Any]]] = {"**": lambda base, exponent: power(base, exponent)}

    def __init__(self, tokens: Tokens, table: dict[str, Term]):
        self.tokens = tokens
        self.table = table
        self.letters = size_letters(table)

    def expression(self, level: int) -> Any:
        tokens = self.tokens
        tokens.deeper()
        left = self.prefix()
        while True:
            sign = self.operator()
            if sign in self.powers and level <= _POWER:
                tokens.take()
                left = self.powers[sign](left, self.expression(_UNARY))
            elif sign in self.infixes and self.infixes[sign][0] >= level:
                tokens.take()
                left = self.infix(sign, left, self.expression(self.infixes[sign][0] + 1))
            elif sign == ".":
                left = self.attribute(left)
            elif sign == "[":
                tokens.take()
                index = self.index()
                # Sizes, as x.shape gives them, are no operands: an entry of theirs is taken here.
                sizes = isinstance(left, tuple)
                left = lookup("getitem")(left, index=index) if sizes else op("getitem", left, index=index)
            else:
                tokens.depth -= 1
                return left

    def operator(self) -> str:
        """The sign that comes next, if it is one; empty for other tokens."""
        return self.tokens.peek() if self.tokens.kind == "sign" else ""

    def infix(self, sign: str, left: Any, right: Any) -> Any:
        """The value of an operator between two operands."""
        return self.infixes[sign][1](left, right)

    def attribute(self, left: Any) -> Any:
        """What stands after a dot: the transpose is the one attribute of printed formulas."""
        if self.tokens.peek(1) != "T":
            raise self.tokens.error("unexpected '.'")
        self.tokens.at += 2
        return lookup("permute")(left, dims=tuple(reversed(range(left.ndim))))

    def prefix(self) -> Any:
        tokens = self.tokens
        kind, text = tokens.kind, tokens.take()
        if kind == "number":
            return number(literal(text))
        if text in ("-", "+", "~"):
            inner = self.expression(_UNARY)
            if isinstance(inner, tuple):
                raise tokens.error(f"a list has no {text!r} in front of it")
            if text == "-":
                return negated(inner)
            return inner if text == "+" else lookup("logical_not")(inner)
        if text == "(":
            inner = self.expression(0)
            if tokens.peek() == ",":
                inner = (inner, *self.rest_of_tuple())
            tokens.expect(")")
            return inner
        if kind != "name":
            tokens.at -= 1
            raise tokens.error(f"unexpected {text!r}" if text else "the text ends too early")
        if tokens.peek() == "(" and text not in self.table:
            tokens.take()
            if text == "len" and tokens.peek() == "range":  # of a slice, which is a size
                return size_letter(f"len({self.sliced()})")
            return self.call(text)
        return self.name(text)

    def sliced(self) -> str:
        """The text of the range whose length a size is, up to the closing bracket."""
        text = self.tokens.scrap((")",))
        self.tokens.expect(")")
        return text

    def rest_of_tuple(self, closing: str = ")") -> list[Any]:
        """The further entries of a bracketed list (the pairs of ``Piecewise``)."""
        out = []
        while self.tokens.found(",") and self.tokens.peek() != closing:
            out.append(self.expression(0))
        return out

    def name(self, name: str) -> Any:
        if name in self.table:
            return self.table[name]
        if name in self.letters:
            return size_letter(name)
        if name in CONSTANTS:
            return CONSTANTS[name]()
        self.tokens.at -= 1
        raise self.tokens.error(
            f"{name!r} is no symbol here; the symbols are {', '.join(sorted(self.table)) or 'none'}", NameProblem
        )

    # -------------------------------------------------------------------------------------- calls

    def call(self, name: str) -> Any:
        """A function with its arguments."""
        args, params = self.arguments()
        try:
            return self.applied(name, args, params)
        except (TypeError, KeyError) as error:
            raise self.tokens.error(f"{name}() cannot take these arguments: {error}") from error

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """Positional arguments and static parameters up to the closing bracket."""
        args: list[Any] = []
        params: dict[str, Any] = {}
        tokens = self.tokens
        while not tokens.found(")"):
            if tokens.kind == "name" and tokens.peek(1) == "=":
                key = tokens.take()
                tokens.take()
                params[key] = self.value()
            else:
                args.append(self.argument())
            if tokens.kind == "end":
                raise tokens.error("')' is missing")
            if tokens.peek() != ")":
                tokens.expect(",")
        return args, params

    def argument(self) -> Any:
        """One argument of a function."""
        return self.expression(0)

    def applied(self, name: str, args: list[Any], params: dict[str, Any]) -> Any:
        if name == "Piecewise":
            return piecewise(args)
        if name in ("ones", "zeros"):
            shape = tuple(size_text(a) for a in args)
            return full(shape, int(name == "ones"), np.dtype(params.get("dtype", "float64")))
        name = ALIASES.get(name, name)
        if name == "sum" and "dim" not in params:
            axes = args[1] if len(args) > 1 else tuple(range(args[0].ndim))
            dims = axes if isinstance(axes, tuple) else (axes,)
            plain = tuple(d if isinstance(d, int) else d.number for d in dims)
            return lookup("sum")(args[0], dim=plain, keepdim=False)
        if name == "eye" and args:
            return apply(lookup("eye"), (), {"n": size_text(args[0]), "dtype": "float64"})
        if name == "diag":
            return diag(args[0])
        found = known_op(name, self.tokens)
        params = {**usual(found), **params}
        if name == "norm":
            params.setdefault("p", 2)
            params.setdefault("dim", tuple(range(args[0].ndim)))
        if name in _FOLDED:
            out = args[0]
            for a in args[1:]:
                out = found(out, a)
            return out
        return op(name, *args, **params)

    # -------------------------------------------------------------------------------------- static values

    def value(self) -> Any:
        """A static parameter: a number, string, tuple, index or size."""
        tokens = self.tokens
        if tokens.found("("):
            out = []
            while not tokens.found(")"):
                out.append(self.value())
                if tokens.peek() != ")":
                    tokens.expect(",")
            return tuple(out)
        if tokens.kind == "text":
            return tokens.take()[1:-1]
        if tokens.peek() == "s_":
            tokens.at += 2
            return self.index()
        return plain_value(self.size_text())

    def size_text(self) -> str:
        """The text up to the next comma or bracket: a number or a size expression."""
        return self.tokens.scrap((",", ")", "]", ":"))

    def index(self) -> Index:
        """An index, after its opening bracket."""
        tokens = self.tokens
        parts = []
        comma = False
        while not tokens.found("]"):
            if tokens.kind == "end":
                raise tokens.error("']' is missing")
            parts.append(self.index_part())
            if tokens.peek() != "]":
                tokens.expect(",")
                comma = True
        unknown = next((part for part in parts if isinstance(part, str)), None)
        if unknown is not None:
            tokens.at -= 1
            raise tokens.error(
                f"{unknown!r} is no index here: a whole number, a slice or an array of whole numbers is one"
            )
        return static_index(tuple(parts) if comma or len(parts) != 1 else parts[0])

    def index_part(self) -> Any:
        tokens = self.tokens
        if tokens.found("..."):
            return Ellipsis
        tokens.at += 2 if tokens.peek() == "np" else 0
        if tokens.peek() == "array" and tokens.peek(1) == "(":
            tokens.at += 2
            return self.array()
        if tokens.peek() == "(" or tokens.peek() in self.table or (tokens.kind == "name" and tokens.peek(1) == "("):
            return self.expression(0)
        ends: list[Any] = [self.end()]
        while tokens.found(":"):
            ends.append(self.end())
        return slice(*ends) if len(ends) > 1 else ends[0]

    def end(self) -> Any:
        text = self.size_text()
        return plain_value(text) if text else None

    def array(self) -> Any:
        """An index array, after ``np.array(``."""
        values = self.nested()
        dtype = "int64"
        if self.tokens.found(","):
            self.tokens.at += 2
            dtype = self.tokens.take()[1:-1]
        self.tokens.expect(")")
        return np.asarray(values, np.dtype(dtype))

    def nested(self) -> Any:
        tokens = self.tokens
        if not tokens.found("["):
            return plain_value(self.size_text())
        out = []
        while not tokens.found("]"):
            out.append(self.nested())
            if tokens.peek() != "]":
                tokens.expect(",")
        return out


CONSTANTS: dict[str, Callable[[], Term]] = {
    **dict.fromkeys(("pi", "π"), lambda: as_term(PI)),
    "E": lambda: lookup("exp")(number(1)),
    "I": lambda: number(1j),
    **dict.fromkeys(("oo", "inf"), lambda: number(float("inf"))),
    "nan": lambda: number(float("nan")),
    "True": lambda: number(True),
    "False": lambda: number(False),
}
_WORDS: dict[str, Any] = {
    "True": True, "False": False, "None": None, "oo": float("inf"), "-oo": float("-inf"),
    "inf": float("inf"), "-inf": float("-inf"),
}  # fmt: skip


def literal(text: str) -> Any:
    """The value of a number's text: an int, a float or an imaginary number."""
    if text.endswith("j"):
        return complex(0, float(text[:-1]))
    return int(text) if text.isdigit() and len(text) <= LONGEST_INT else float(text)


LONGEST_INT = 18
"""Digits of whole numbers that fit 64 bits; longer ones are floats."""


def plain_value(text: str) -> Any:
    """A number, a word such as ``None``, or the text itself for a size expression."""
    if text in _WORDS:
        return _WORDS[text]
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    if re.fullmatch(r"-?\d+/\d+", text):
        return Fraction(text)
    return float(text) if re.fullmatch(r"-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", text) else text


def power(base: Any, exponent: Any) -> Any:
    """A power, with the ops for its common exponents; of two numbers the number, which 64 bits may not hold."""
    b, e = base.number, exponent.number
    if type(b) is int and type(e) is int and e >= 0:
        exact = b.bit_length() * e < 53
        try:
            return number(b**e if exact else float(b) ** e)
        except OverflowError:
            return number(math.inf)
    if exponent.number == Fraction(1, 2):
        return lookup("sqrt")(base)
    return lookup("div")(1, base) if exponent.number == -1 else lookup("pow")(base, exponent)


def piecewise(pairs: list[Any]) -> Any:
    """Nested ``where`` of (value, condition) pairs, the last of which is the rest."""
    out = pairs[-1][0]
    for value, condition in reversed(pairs[:-1]):
        out = lookup("where")(condition, value, out)
    return out


def usual(op: Op) -> dict[str, Any]:
    """The parameters of an op that are not written where they say what is usual."""
    return {name: DEFAULTS[name] for name in _parameters(op) if name in DEFAULTS}


def has_dim(op: Op) -> bool:
    """Whether an op runs along an axis."""
    return "dim" in _parameters(op)


def _parameters(op: Op) -> list[str]:
    rules = [f for f in (op.infer, op.kernel) if inspect.isfunction(f)]
    return [name for f in rules for name in inspect.signature(f).parameters]


def known_op(name: str, tokens: Tokens) -> Op:
    """The op of that name; a name that is none is an error at its place."""
    if name not in TABLE or TABLE[name].kind == "leaf":
        try:
            lookup(name)
        except ArgumentError as error:
            raise tokens.error(str(error), NameProblem) from None
        raise tokens.error(f"{name!r} is no function", NameProblem)
    return TABLE[name]


def from_latex(text: str, symbols: Mapping[str, Any] | Iterable[Term], shape: tuple[Any, ...] | None = None) -> Term:
    """The term of LaTeX as this library prints it; see :func:`symgrad.formula.reading.tex.from_latex`."""
    from symgrad.formula.reading.tex import from_latex as read

    return read(text, symbols, shape)
