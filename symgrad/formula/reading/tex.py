r"""The reader of the LaTeX that :mod:`symgrad.formula.printing.latex` prints.

Grammar, loosest first: ``\vee``; ``\wedge``; ``\neg``; ``= \ne < \le > \ge``; ``+ -``; ``\odot``, ``\times``,
``\otimes``; juxtaposition and ``\cdot``; superscripts and indices.  Atoms are symbols, numbers, brackets, ``\frac``,
``\sqrt``, ``e^{…}``, functions,
``\operatorname{op}_{axes}\left(args; key=value\right)``, ``\lVert\rVert``, ``\left|\right|``, Iverson brackets,
``cases``, ``\mathbf{1}``, ``I``, ``\left[\sum_{k} A_{i k} B_{k j}\right]_{i j}``, and ``x_{[index]}`` with NumPy's
index.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from symgrad.formula.canonical.normal import size_text
from symgrad.formula.printing.decompositions import NOTES, read_line
from symgrad.formula.printing.formats import spelled
from symgrad.formula.printing.names import bolded, spellings, texts
from symgrad.formula.printing.parameters import AXES, PLACED, has_one_axis
from symgrad.formula.reading.atoms import ATOMS, KINDS, word
from symgrad.formula.reading.called import called
from symgrad.formula.reading.indices import Indexed, without_own
from symgrad.formula.reading.options import OptionReader, literal_of, picked
from symgrad.formula.reading.recurrences import expanded, has_recurrence
from symgrad.formula.reading.text import (
    Tokens,
    has_dim,
    known_op,
    power,
    size_letters,
    symbol_table,
    usual,
)
from symgrad.formula.reading.values import (
    Value,
    as_number,
    as_term as settled,
    counted,
    cross_product,
    diag,
    entrywise,
    kronecker_product,
    named_term,
    negative,
    op,
    operand_of,
    product,
    pseudo_inverse,
    scalar,
    transposed,
    value_of,
    vec,
)
from symgrad.formula.term import Term, size_letter
from symgrad.op import FRONTS, TABLE, lookup

TOKEN = re.compile(
    r"(?P<skip>\s+|\\[,;:! ]|\\displaystyle|\\quad)"
    r"|(?P<begin>\\begin\{\w+\})|(?P<end>\\end\{\w+\})|(?P<name>\\operatorname\{(?:[^}\\]|\\_)*\})"
    r"|(?P<word>\\(?:text|mathrm)\{(?:[^}\\]|\\_|\\Gamma)*\})|(?P<ones>\\mathbf\{1\})|(?P<zeros>\\mathbf\{0\})"
    r"|(?P<unit>\\mathbf\{e\}(?=_\{[^{},]+,[^{},]+\}))"
    r"|(?P<bar>\\left\||\\right\||\\left\\[lr](?!Vert)\w+|\\right\\[lr](?!Vert)\w+)|(?P<fence>\\left|\\right)"
    r"|(?P<number>(?:\d+(?:\.\d+)?\s*\\cdot\s*)?10\^\{-?\d+\}|\d+\.\d+|\d+)|(?P<row>\\\\)|(?P<command>\\[a-zA-Z]+)|(?P<char>.)",
    re.DOTALL,
)


def tokenize(text: str) -> Tokens:
    """The tokens of LaTeX; spacing and the size marks of brackets are dropped."""
    items = []
    for match in TOKEN.finditer(text):
        kind = str(match.lastgroup)
        if kind not in ("skip", "fence"):
            items.append((kind, match[0], match.start()))
        if [i[1] for i in items[-4:]] == CONTINUED:
            del items[-4:]
    return Tokens(text, items)


CONTINUED = [r"\\", "&", "{", "}"]
"""The tokens before a line that goes on with the sum of the one before."""


def from_latex(text: str, symbols: Mapping[str, Any] | Iterable[Term], shape: tuple[Any, ...] | None = None) -> Term:
    r"""The term of LaTeX as this library prints it.

    ``symbols`` state the shapes of the names, as in :func:`symgrad.formula.reading.text.symbol_table`; ``shape`` is the
    shape of the whole formula, needed where the text leaves it open (a lone ``\mathbf{1}`` or ``I``).  Raises
    ``FormulaError`` where the text cannot be read or products do not fit.

    >>> from_latex(r"X^{\top} \left(X w - y\right)", {"X": ("n", "m"), "w": ("m",), "y": ("n",)}).shape
    ('m',)
    """
    text = text.strip().strip("$")
    if has_recurrence(text):
        text = expanded(text)
    reader = _TexReader(tokenize(text), symbol_table(symbols))
    found = reader.whole()
    reader.tokens.end()
    return settled(found, shape)


_RELATIONS = {"=": "eq", r"\ne": "ne", "<": "lt", r"\le": "le", ">": "gt", r"\ge": "ge"}
_ENTRYWISE = {r"\odot": "mul", r"\oslash": "div", r"\bmod": "remainder"}
_OPERATORS = {"tr": "trace", "Re": "real", "Im": "imag", "clip": "clamp", "expm": "matrix_exp", "sinc'": "dsinc",
              "svdu": "svd_u", "eigvec": "eigh_vectors"}  # fmt: skip
_AXES_TUPLE = ("any", "all", "sum", "mean", "var", "std", "amax", "amin", "norm", "logsumexp", "squeeze")
STOP = (")", "}", "]", "&", ",", ";", "", r"\\", r"\right|", r"\rVert", r"\right\rfloor", r"\right\rceil", "+", "-",
         r"\odot", r"\bmod", r"\times", r"\otimes", r"\wedge", r"\vee", ":", *_RELATIONS)  # fmt: skip
LARGE = (r"\sum", r"\prod")
"""Signs of what has indices below."""


class _TexReader(OptionReader):
    """The strict reader: levels of operators, then atoms, over a list of tokens."""

    form = "latex"
    tokenize = staticmethod(tokenize)

    def __init__(self, tokens: Tokens, table: dict[str, Term]):
        self.tokens = tokens
        self.letters = size_letters(table)
        self.names: list[tuple[list[str], Value]] = []
        self.bound: set[str] = set()
        for name, text in texts(table).items():
            for form in (*spellings(text), bolded(text)):
                self.define(spelled(form, self.form), table[name])

    def define(self, text: str, term: Term) -> None:
        """Let a text stand for a term; longer texts are tried first."""
        self.names.append(([i[1] for i in self.tokenize(text).items], value_of(term)))
        self.names.sort(key=lambda entry: -len(entry[0]))

    # -------------------------------------------------------------------------------------- statements

    def whole(self) -> Any:
        """A formula, or the statements of a where-list of which the last is the result."""
        if self.tokens.found(r"\begin{aligned}"):
            while True:
                found = self.statement()
                if self.tokens.found(r"\end{aligned}"):
                    return found
                self.tokens.expect(r"\\")
        return self.condition()

    def statement(self) -> Any:
        tokens = self.tokens
        start = tokens.at
        while tokens.peek() not in ("&", ""):
            tokens.at += 1
        left = tokens.text[tokens.items[start][2] : tokens.items[tokens.at][2]] if tokens.at > start else ""
        tokens.expect("&")
        if left:
            tokens.expect("=")
        if self.decomposes():
            after, tokens.at = tokens.at, start
            matrix = self.plain(self.condition())
            tokens.at = after
            read_line(self, matrix)
            return value_of(matrix)
        if tokens.peek() == r"\vdots":
            raise tokens.error("lines were left out of this where-list; print it with more lines=")
        found = self.condition()
        if left:
            self.define(left.strip(), named_term(found))
        return found

    def decomposes(self) -> bool:
        """Whether a line says what singular vectors or eigenvectors are called."""
        items = self.tokens.items[self.tokens.at :]
        row = next((k for k, item in enumerate(items) if item[0] in ("row", "end")), len(items))
        return any(kind == "word" and word(text).strip("()") in NOTES for kind, text, _ in items[:row])

    # -------------------------------------------------------------------------------------- levels

    def condition(self) -> Any:
        """Conditions, and everything that binds more."""
        self.tokens.deeper()
        out = self.conjunction()
        while self.tokens.found(r"\vee"):
            out = entrywise(lookup("logical_or"), out, self.conjunction())
        self.tokens.depth -= 1
        return out

    def conjunction(self) -> Any:
        out = self.relation()
        while self.tokens.found(r"\wedge"):
            out = entrywise(lookup("logical_and"), out, self.relation())
        return out

    def relation(self) -> Any:
        if self.tokens.found(r"\neg"):
            return entrywise(lookup("logical_not"), self.relation())
        left = self.sum()
        links = []
        while self.tokens.peek() in _RELATIONS:
            name, right = _RELATIONS[self.tokens.take()], self.sum()
            links.append(entrywise(lookup(name), left, right))
            left = right
        return functools.reduce(lambda a, b: entrywise(lookup("logical_and"), a, b), links) if links else left

    def sum(self) -> Any:
        tokens = self.tokens
        out = negative(self.hadamard()) if tokens.found("-") else self.hadamard()
        while tokens.peek() in ("+", "-"):
            name = "add" if tokens.take() == "+" else "sub"
            out = self.entrywise(lookup(name), as_number(out), as_number(self.hadamard()))
        return out

    def hadamard(self) -> Any:
        """Products and quotients entry by entry, cross and Kronecker products, of what stands side by side."""
        out = self.juxtaposed()
        while self.tokens.peek() in (*_ENTRYWISE, r"\times", r"\otimes"):
            sign, right = self.tokens.take(), self.juxtaposed()
            if sign in _ENTRYWISE:
                out = self.entrywise(lookup(_ENTRYWISE[sign]), out, right)
            else:
                out = self.across(out, right) if sign == r"\times" else self.crossed(out, right)
        return out

    def entrywise(self, function: Callable[..., Any], *values: Any) -> Any:
        """An entrywise operation."""
        return entrywise(function, *values)

    def across(self, a: Any, b: Any) -> Any:
        """The cross product."""
        return cross_product(a, b)

    def crossed(self, a: Any, b: Any) -> Any:
        """The Kronecker product."""
        return kronecker_product(a, b)

    def times(self, a: Any, b: Any) -> Any:
        """What two neighbours mean."""
        if isinstance(a, Indexed) or isinstance(b, Indexed):
            return a.times(operand_of(b)) if isinstance(a, Indexed) else b.times(a.term)
        return product(a, b)

    def juxtaposed(self) -> Any:
        tokens = self.tokens
        if tokens.peek() in LARGE and tokens.peek(1) == "_":
            return self.summed()
        out = self.ratio()
        while tokens.peek() not in STOP and tokens.kind != "end":
            tokens.found(r"\cdot")
            out = self.times(out, self.summed() if tokens.peek() in LARGE else self.ratio())
        return out

    def ratio(self) -> Any:
        """What stands side by side with others: a factor, as quotients have brackets of their own."""
        return self.factor()

    def summed(self) -> Any:
        r"""A sum over indices, a product over one, or that of all entries but one: ``\prod_{k \ne i} x_k``."""
        sign, letters = self.tokens.take(), self.subscript()
        before, self.bound = self.bound, self.bound | set(letters)
        found = self.juxtaposed()
        self.bound = before
        if sign == r"\prod":
            ((term, row),) = found.settled().operands
            dim = row.index(letters[0])
            if "," in letters:
                return without_own(term, row, letters)
            if len(letters) > 1:
                return Indexed([(op("prod_others", term, dim=dim), (*row[:dim], letters[-1], *row[dim + 1 :]))])
            made, rest = op("prod", term, dim=dim, keepdim=False), (*row[:dim], *row[dim + 1 :])
            return Indexed([(made, rest)]) if rest else value_of(made)
        free = {x for _, row in found.operands for x in row} - set(letters)
        if found.deltas:
            return found
        return found.summed(letters) if free else value_of(found.contracted(()))

    def subscript(self) -> tuple[str, ...]:
        """Index letters after ``_``."""
        self.tokens.expect("_")
        self.tokens.expect("{")
        out = []
        while not self.tokens.found("}"):
            if self.tokens.kind == "end":
                raise self.tokens.error("'}' is missing")
            out.append(self.tokens.take())
        return tuple(out)

    # -------------------------------------------------------------------------------------- factors

    def factor(self) -> Any:
        out = self.atom()
        tokens = self.tokens
        while tokens.peek() in ("^", "_"):
            if tokens.peek() == "_":
                out = self.part(out) if tokens.peek(2) == "[" else self.entry(out)
            else:
                tokens.at += 1
                out = self.raised(out)
        return out

    def part(self, array: Any) -> Value:
        """What ``_{[…]}`` chooses of an array, in NumPy's notation."""
        self.tokens.at += 3
        index = self.index()
        self.tokens.expect("}")
        return value_of(picked(self.plain(array), index))

    def entry(self, array: Any) -> Indexed:
        """The entry of an array at the indices that follow."""
        return Indexed([(self.plain(array), self.subscript())])

    def plain(self, value: Any) -> Term:
        """The term of a value, for places where its own axes count."""
        if isinstance(value, Indexed):
            raise self.tokens.error("an entry with index letters stands in a sum or in brackets with its letters")
        exact: Term | None = value.exact
        return settled(value, None) if exact is None else exact

    def raised(self, base: Value) -> Any:
        tokens = self.tokens
        tokens.expect("{")
        inverse = tokens.peek() == "-"
        mark = tokens.peek(int(inverse))
        if mark == r"\top" or (mark == "H" and all(parts != ["H"] for parts, _ in self.names)):
            tokens.at += 2 if inverse else 1
            tokens.expect("}")
            turned = transposed(base)
            if mark == "H":
                turned = entrywise(lambda x: op("conj", x), turned)
            return Value("m", op("inv", turned.term)) if inverse else turned
        if mark == "+" and tokens.peek(1) == "}":
            tokens.at += 2
            return Value("m", pseudo_inverse(self.plain(base)))
        if [tokens.peek(k) for k in range(4)] == ["1", "/", "2", "}"]:
            tokens.at += 4
            return Value("m", op("sqrtm", self.plain(base)))
        entry = tokens.found(r"\odot")
        exponent = self.condition()
        tokens.expect("}")
        if base.kind in ("m", "t") and not entry and exponent.term.number == -1:
            return Value(base.kind, op("inv", base.term))
        whole = exponent.term.number
        if base.kind == "m" and not entry and isinstance(whole, int) and base.term.shape[0] == base.term.shape[1]:
            return Value("m", op("matrix_power", counted(base.term), n=whole))
        if base.kind == "eye" and exponent.term.number == -1:
            return Value("eye", op("div", 1, base.term))
        if not entry and base.kind not in ("s", "o", "indexed") and exponent.kind == "s":
            raise tokens.error(
                "a power of an array is written with \\odot; only ^{\\top} and whole powers of square matrices are "
                "matrix powers here"
            )
        return entrywise(power, base, exponent)

    def atom(self) -> Any:
        tokens = self.tokens
        named = self.symbol()
        if named is not None:
            return named
        kind, text = tokens.kind, tokens.take()
        if kind == "number":
            return scalar(literal_of(text))
        rule = ATOMS.get(text) or KINDS.get(kind)
        if rule is not None:
            return rule(self, text)
        command = self.with_index(text)
        if command in called().commands:
            return self.function(called().commands[command])
        if text in self.letters:
            return Value("s", size_letter(text))
        tokens.at -= 1
        raise tokens.error(f"{text!r} is no symbol, size or function here" if text else "the text ends too early")

    def with_index(self, text: str) -> str:
        """A command with the index behind it, where both together are what a function is called: ``W_{-1}``."""
        length = next((k + 1 for k in range(5) if self.tokens.peek(k) == "}"), 0)
        whole = text + "".join(self.tokens.peek(k) for k in range(length))
        if whole == text or whole not in called().commands:
            return text
        self.tokens.at += length
        return whole

    def symbol(self) -> Any:
        """The symbol written at this place, the longest that fits."""
        return self.first_of(self.names)

    def first_of(self, names: Iterable[tuple[list[str], Value]]) -> Any:
        """The value of the first of some names that is written at this place."""
        tokens = self.tokens
        for parts, value in names:
            if all(tokens.peek(k) == part for k, part in enumerate(parts)):
                tokens.at += len(parts)
                return value
        return None

    def group(self) -> Any:
        """A formula in braces."""
        self.tokens.expect("{")
        out = self.condition()
        self.tokens.expect("}")
        return out

    # -------------------------------------------------------------------------------------- functions

    def function(self, name: str) -> Any:
        r"""An elementwise function with its exponent before the argument; ``\log`` may stand before another one."""
        tokens = self.tokens
        exponent = divisor = None
        if name == "log" and tokens.peek() == "_":
            name, divisor = self.logarithm()
        if tokens.peek() == "^":
            tokens.at += 1
            if name == "digamma" and tokens.peek(1) == "(":
                order = int(tokens.peek(2))
                tokens.at += 5
                return entrywise(lambda x: op("polygamma", x, n=order), self.bracketed())
            exponent = self.group()
            inverse = self.inverse_of(name, exponent)
            if inverse:
                return entrywise(lookup(inverse), self.bracketed())
        joined = self.joined_log() if name == "log" else None
        if joined is not None:
            return joined
        argument = self.bracketed() if tokens.peek() == "(" else self.factor()
        out = entrywise(lookup(name), argument)
        out = out if divisor is None else self.entrywise(lookup("div"), out, divisor)
        return out if exponent is None else entrywise(power, out, exponent)

    def inverse_of(self, name: str, exponent: Any) -> str:
        """The op that is the inverse of a function, where the exponent is -1 and the table has one."""
        text = (TABLE[name].called if name in TABLE else None) or ""
        return called().inverses.get(text, "") if exponent.term.number == -1 else ""

    def logarithm(self) -> tuple[str, Any]:
        r"""The logarithm to the base that comes next, as ``\log_2``: its op, or what the natural one is divided by."""
        base = self.tokens.peek(2)
        if base in ("2", "10", "e") and self.tokens.peek(3) == "}":
            self.tokens.at += 4
            return ("log" if base == "e" else f"log{base}"), None
        self.tokens.expect("_")
        return "log", entrywise(lookup("log"), self.group())

    def joined_log(self) -> Any:
        r"""``\log`` of a function for which the table has one op."""
        tokens = self.tokens
        following = tokens.peek()
        if following in called().logarithms and tokens.peek(1) == "(" and self.symbol_free():
            tokens.at += 1
            return entrywise(lookup(called().logarithms[following]), *self.arguments()[0])
        if following == r"\operatorname{softmax}" and tokens.peek(1) == "(":
            tokens.at += 1
            return self.along_last("log_softmax", self.bracketed())
        if following == r"\det":
            tokens.at += 1
            return Value("s", op("logdet", self.bracketed().term))
        if following == r"\left|" and tokens.peek(1) == r"\det":
            tokens.at += 2
            out = Value("s", op("logabsdet", self.bracketed().term))
            tokens.expect(r"\right|")
            return out
        return None

    def symbol_free(self) -> bool:
        """Whether no symbol starts at this place."""
        at = self.tokens.at
        found = self.symbol() is None
        self.tokens.at = at
        return found

    def bracketed(self) -> Any:
        """One argument in round brackets."""
        self.tokens.expect("(")
        out = self.condition()
        self.tokens.expect(")")
        return out

    def along_last(self, name: str, a: Value) -> Value:
        """A function along the last axis."""
        made = op(name, counted(a.term), dim=a.term.ndim - 1)
        return Value(a.kind, made)

    def arguments(self, placed: bool = False) -> tuple[list[Any], dict[str, Any]]:
        """Arguments, and after a semicolon the parameters; ``placed``: from the second on they are sizes or numbers."""
        tokens = self.tokens
        tokens.expect("(")
        args: list[Any] = []
        params: dict[str, Any] = {}
        if tokens.kind == "word" and tokens.peek(1) == "=":
            tokens.at -= 1
            tokens.items[tokens.at] = ("char", ";", tokens.items[tokens.at][2])
        while tokens.peek() not in (")", ";"):
            args.append(self.scrap() if placed and args else self.condition())
            if not tokens.found(","):
                break
        if tokens.found(";"):
            while tokens.peek() != ")":
                key = word(tokens.take())
                tokens.expect("=")
                params[key] = self.value()
                tokens.found(",")
        tokens.expect(")")
        return args, params

    def operator(self, text: str) -> Any:
        r"""``\operatorname{name}`` with its axes, arguments and parameters."""
        name = word(text)
        tokens = self.tokens
        axes = None
        name += tokens.take() if tokens.peek() == "'" else ""
        if tokens.found("_"):
            written = self.axes()
            if not all(x.removeprefix("-").isdigit() for x in written):
                raise tokens.error(f"the index of {name} is the number of an axis here, not {', '.join(written)}")
            axes = tuple(int(x) for x in written)
        exponent = None
        if tokens.found("^"):
            exponent = self.group()
            inverse = self.inverse_of(name, exponent)
            if inverse:
                return entrywise(lookup(inverse), self.bracketed())
        args, params = self.arguments(placed=name in PLACED)
        out = self.named(name, args, params, axes)
        return out if exponent is None else entrywise(power, out, exponent)

    def axes(self) -> list[str]:
        self.tokens.expect("{")
        out = []
        while not self.tokens.found("}"):
            if self.tokens.kind == "end":
                raise self.tokens.error("'}' is missing")
            sign = self.tokens.take() if self.tokens.peek() == "-" else ""
            out.append(sign + self.tokens.take())
            self.tokens.found(",")
        return out

    def singular_vectors(self, a: Any) -> Any:
        """svdv(X), whose conjugate transpose is the op of the table."""
        x = self.plain(a)
        rows = Value("m", op("svd_vh", x, k=x.shape[-1]))
        turned = transposed(rows)
        return entrywise(lambda v: op("conj", v), turned) if x.complex_dtype else turned

    def named(self, name: str, args: list[Any], params: dict[str, Any], axes: tuple[int, ...] | None) -> Any:
        """A function by its name: one that is written apart, one of the table, or one that is made of these."""
        rule = _WRITTEN_APART.get(name)
        if rule is not None and axes is None:
            return rule(self, *args)
        name = called().operators.get(name, _OPERATORS.get(name, name))
        if name in FRONTS and name not in TABLE:
            return value_of(FRONTS[name].call(*map(self.plain, args), **params))
        found = known_op(name, self.tokens)
        if found.kind == "elementwise" or (found.entrywise and not params and len(args) == 1):
            return entrywise(found, *args)
        params = {**usual(found), **params}
        if name in PLACED and len(args) > 1:
            given = tuple(size_text(self.plain(a)) if isinstance(a, Value) else a for a in args[1:])
            args, params[PLACED[name]] = args[:1], given if name in AXES else given[0]
        terms = [self.plain(a) for a in args]
        if name in ("svd_u", "svdvals"):
            params.setdefault("k", terms[0].shape[-1])
        if name in _AXES_TUPLE:
            every = (terms[0].ndim - 1,) if name == "logsumexp" else tuple(range(terms[0].ndim))
            params["dim"] = every if axes is None else axes
        elif name in ("tril", "triu"):
            params.setdefault("k", axes[0] if axes else 0)
        elif name in AXES:
            params["dims"] = (0,) if axes is None else axes
        elif axes is not None:
            params["dim"] = axes[0]
        elif has_dim(found) and (name in ("prod", "argmax", "argmin") or has_one_axis(found, terms[0].ndim)):
            params.setdefault("dim", 0)
        try:
            return value_of(op(name, *terms, **params))
        except (TypeError, KeyError) as error:
            raise self.tokens.error(f"{name} cannot take these arguments: {error}") from error


_WRITTEN_APART: dict[str, Callable[..., Any]] = {
    "diag": lambda r, a: value_of(diag(a.term)),
    "vec": lambda r, a: value_of(vec(r.plain(a))),
    "softmax": lambda r, a: r.along_last("softmax", a),
    "svdv": lambda r, a: r.singular_vectors(a),
    "Heaviside": lambda r, a: entrywise(lookup("step"), a, scalar(0)),
}
"""Functions whose name is that of no op of the same arguments."""
