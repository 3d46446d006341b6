r"""The reader of formulas as people type them in LaTeX: a wider grammar in front of :mod:`symgrad.formula.texparse`.

``A^T``, ``\mathbf{x}``, ``\|x\|_2^2``, ``\frac12``, ``\sin x``, ``x/2``, ``X^2``, ``|X|``, ``\circ``, ``\operatorname{tr} X``,
``\langle x, y\rangle``, ``f' = …`` and ``…, \quad Y = A + X`` are understood.  Tokens are rewritten to the strict notation
where that suffices; what is left is a few more rules for atoms.  Text that is not LaTeX comes here as tokens too
(:mod:`symgrad.formula.peopletext`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from symgrad.errors import FormulaError, NameProblem, ShapeError
from symgrad.formula.parse import Tokens, literal, power, symbol_table
from symgrad.formula.term import Term, number
from symgrad.formula.texnames import texts
from symgrad.formula.texatoms import ATOMS
from symgrad.formula.texparse import _TexReader
from symgrad.formula.texvalues import Value, entrywise, op, product, transposed, value_of
from symgrad.formula.texvalues import as_term as settled
from symgrad.op import FRONTS, TABLE, lookup
from symgrad.ops.constants import PI

Token = tuple[str, str, int]

TOKEN = re.compile(
    r"(?P<skip>\s+|\\[,;:! ]|~|\\(?:displaystyle|textstyle|limits|nolimits|quad|qquad|left|right|middle|[bB]igg?[lrm]?)"
    r"(?![a-zA-Z])\.?)"
    r"|(?P<begin>\\begin\{\w+\})|(?P<end>\\end\{\w+\})|(?P<name>\\operatorname\*?\{(?:[^}\\]|\\_)*\})"
    r"|(?P<word>\\(?:text|mathrm|textrm|mathsf|mathtt)\{(?:[^}\\]|\\_)*\})"
    r"|(?P<ones>\\(?:mathbf|boldsymbol|bm|mathbb)\s*(?:\{1\}|1))"
    r"|(?P<number>\d+\.\d+|\.\d+|\d+)|(?P<row>\\\\)|(?P<norm>\\\||\\[lr]?Vert(?![a-zA-Z]))|(?P<command>\\[a-zA-Z]+)|(?P<char>.)",
    re.DOTALL,
)
_FONTS = {rf"\{f}" for f in ("mathbf", "boldsymbol", "bm", "mathit", "mathcal", "mathsf", "vec", "mathrm", "mathbb", "bf")}
_TURNED = {"T", r"\top", r"\intercal", r"\mathsf{T}", r"\mathrm{T}", r"\text{T}", r"\prime", "'", "⊤", "ᵀ"}
_ADJOINT = {"H", r"\dagger", r"\mathsf{H}", r"\mathrm{H}", "*", r"\ast"}
_SAME = {
    r"\circ": r"\odot", r"\times": r"\cdot", "*": r"\cdot", "·": r"\cdot", "⊙": r"\odot", r"\ln": r"\log", r"\tfrac": r"\frac",
    r"\dfrac": r"\frac", r"\leq": r"\le", r"\geq": r"\ge", r"\neq": r"\ne", r"\lvert": "|", r"\rvert": "|", r"\vert": "|",
    r"\land": r"\wedge", r"\lor": r"\vee", "−": "-", r"\lbrack": "[", r"\rbrack": "]", r"\lbrace": "(", r"\rbrace": ")",
    r"\{": "(", r"\}": ")", r"\tan^{-1}": r"\arctan", r"\bar": r"\bar", r"\trace": r"\operatorname{tr}",
    r"\tr": r"\operatorname{tr}", r"\Tr": r"\operatorname{tr}", r"\diag": r"\operatorname{diag}",
    r"\sign": r"\operatorname{sign}", r"\sgn": r"\operatorname{sign}", r"\softmax": r"\operatorname{softmax}",
    r"\prime": "'", r"\mid": "|",
}  # fmt: skip
OPERATORS = {
    "Tr": "trace", "trace": "trace", "sgn": "sign", "expm": "matrix_exp", "ReLU": "relu", "Diag": "diag", "log": "log",
    "inv": "inv", "sech": "sech", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "arsinh": "asinh",
    "artanh": "atanh", "asin": "asin", "softplus": "softplus", "logdet": "logdet", "sigmoid": "sigmoid", "ln": "log",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "Abs": "abs", "fabs": "abs", "transpose": "transpose",
    "det": "det", "avg": "mean", "exp": "exp", "vec": "vec",
}  # fmt: skip
_TAKES = {r"\frac": 2, r"\sqrt": 1, "^": 1, "_": 1, r"\hat": 1, r"\bar": 1, r"\tilde": 1, r"\overline": 1, r"\dot": 1}


# ---------------------------------------------------------------------------------------------- tokens


class PeopleTokens(Tokens):
    """Tokens whose errors show the place with a caret."""

    def error(self, problem: str, kind: type[Exception] = FormulaError) -> Exception:
        """An error with the text and a caret below the place where reading stopped."""
        place = self.items[self.at][2] if self.at < len(self.items) else len(self.text)
        start = max(0, place - 50)
        line = self.text[start : start + 72].replace("\n", " ")
        return kind(f"cannot read the formula at position {place}: {problem}\n    {line}\n    {' ' * (place - start)}^")


def tokenize(text: str) -> Tokens:
    """The tokens of LaTeX typed by people, rewritten to the strict notation."""
    items: list[Token] = []
    for match in TOKEN.finditer(text):
        kind = str(match.lastgroup)
        if kind == "skip":
            continue
        found = match[0]
        if kind == "word" and _inner(found) in ("T", "H"):
            kind, found = "char", _inner(found)
        elif kind == "word" and _inner(found) in ("otherwise", "else"):
            found = r"\text{otherwise}"
        elif kind == "word" and found.startswith(r"\text") and _inner(found).strip() in ("if", "for", "where", "with", "and", ""):
            continue
        elif kind == "word" and not found.startswith(r"\text") and (_inner(found) in TABLE or _inner(found) in OPERATORS | FRONTS or _inner(found) in ("tr", "diag")):
            kind, found = "name", rf"\operatorname{{{_inner(found)}}}"
        elif kind == "name":
            found = found.replace("*{", "{")
        elif kind == "ones":
            found = r"\mathbf{1}"
        elif kind == "norm":
            kind, found = "char", r"\|"
        found = _SAME.get(found, found)
        kind = "name" if found.startswith(r"\operatorname") else kind
        items.append((kind, found, match.start()))
    return PeopleTokens(text, braced(primes(without_fonts(items))))


def _inner(text: str) -> str:
    return text[text.index("{") + 1 : -1].replace(r"\_", "_")


def without_fonts(items: list[Token]) -> list[Token]:
    """The tokens without commands for bold and other letters."""
    out: list[Token] = []
    closing: list[int] = []
    depth = 0
    k = 0
    while k < len(items):
        kind, text, place = items[k]
        if text in _FONTS:
            if k + 1 < len(items) and items[k + 1][1] == "{":
                closing.append(depth)
                depth += 1
                k += 1
        elif text == "}" and closing and closing[-1] == depth - 1:
            closing.pop()
            depth -= 1
        else:
            depth += (text == "{") - (text == "}")
            out.append((kind, text, place))
        k += 1
    return out


def primes(items: list[Token]) -> list[Token]:
    """The tokens with ``A'`` as a transpose; ``\\sigma'`` stays the derivative of a function."""
    out: list[Token] = []
    for kind, text, place in items:
        if text == "'" and not (out and (out[-1][1] == r"\sigma" or out[-1][0] == "name")):
            out += [("char", part, place) for part in ("^", "{", r"\top", "}")]
        else:
            out.append((kind, text, place))
    return out


def braced(items: list[Token]) -> list[Token]:
    """The tokens with braces around arguments of one token, as in ``\\frac12`` and ``x^2``."""
    items = list(items)
    out: list[Token] = []
    k = 0
    while k < len(items):
        k = _unit(items, k, out)
    return out


def _unit(items: list[Token], k: int, out: list[Token]) -> int:
    """Copy one token with its arguments; gives the place after them."""
    text = items[k][1]
    out.append(items[k])
    k += 1
    if text == r"\sqrt" and k < len(items) and items[k][1] == "[":
        while k < len(items) and items[k - 1][1] != "]":
            out.append(items[k])
            k += 1
    for _ in range(_TAKES.get(text, 0)):
        k = _argument(items, k, out, split=text in (r"\frac", r"\sqrt"))
    return k


def _argument(items: list[Token], k: int, out: list[Token], split: bool) -> int:
    if k >= len(items):
        return k
    kind, text, place = items[k]
    if text == "{":
        end = _matching(items, k)
        out += [items[k], *braced(items[k + 1 : end])]
        out += items[end : end + 1]
        return end + 1
    out.append(("char", "{", place))
    if split and kind == "number" and text.isdigit() and len(text) > 1:
        out.append((kind, text[0], place))
        items[k] = (kind, text[1:], place + 1)
    elif text == "-" and k + 1 < len(items):
        out.append(items[k])
        k = _unit(items, k + 1, out)
    else:
        k = _unit(items, k, out)
    out.append(("char", "}", place))
    return k


def _matching(items: list[Token], k: int) -> int:
    """The place of the brace that closes the one at ``k``; the end where there is none."""
    depth = 0
    for j in range(k, len(items)):
        depth += (items[j][1] == "{") - (items[j][1] == "}")
        if not depth:
            return j
    return len(items)


# ---------------------------------------------------------------------------------------------- the reader


def read_latex(
    text: str,
    symbols: Mapping[str, Any] | Iterable[Term],
    shape: tuple[Any, ...] | None = None,
    **readings: Any,
) -> Term:
    r"""The term of LaTeX typed by a person; arguments as for :func:`symgrad.formula.texparse.from_latex`.

    >>> read_latex(r"2A^T(Ax - b)", {"A": ("m", "n"), "x": ("n",), "b": ("m",)}).shape
    ('n',)
    """
    return read_tokens(tokenize(text.strip().strip("$")), symbol_table(symbols), shape, **readings)


def read_tokens(tokens: Tokens, table: dict[str, Term], shape: tuple[Any, ...] | None, **readings: Any) -> Term:
    """The term of tokens: the part after a header ``f' =``, with the definitions that follow it."""
    pieces = _clauses(tokens)
    main = PeopleReader(pieces[0], table, **readings)
    for clause in pieces[1:]:
        reader = PeopleReader(clause, table, **readings)
        reader.known = main.known
        at = next(k for k, item in enumerate(clause.items) if item[1] == "=")
        left = [item[1] for item in clause.items[:at]]
        clause.at = at + 1
        found = reader.finished()
        main.known.append((left, found))
        main.known.sort(key=lambda entry: -len(entry[0]))
    found = main.finished()
    if found.kind in _OPEN or (shape is not None and [s for s in shape if s != 1] == list(found.term.shape)):
        return settled(found, shape)
    return found.term  # type: ignore[no-any-return]


def _clauses(tokens: Tokens) -> list[Tokens]:
    """The formula, without its header, and the definitions after it."""
    depth = 0
    cuts = [-1]
    marks: list[list[int]] = [[]]
    for k, (_, text, _) in enumerate(tokens.items):
        depth += (text in ("(", "{", "[") or text.startswith(r"\begin")) - (text in (")", "}", "]") or text.startswith(r"\end"))
        if depth == 0 and text in (",", ";"):
            cuts.append(k)
            marks.append([])
        elif depth == 0 and text == "=":
            marks[-1].append(k)
    cuts.append(len(tokens.items))
    parts = []
    for j, (a, b) in enumerate(zip(cuts, cuts[1:], strict=False)):
        start = a + 1
        if j == 0 and marks[0]:
            start = marks[0][0] + 1
        elif j and len(marks[j]) != 1:
            tokens.at = start
            raise tokens.error("after a comma a definition such as Y = A + X is expected")
        parts.append(PeopleTokens(tokens.text, [*tokens.items[start:b]]))
    return parts


class PeopleReader(_TexReader):
    """The strict reader with a wider grammar.

    ``bars`` says what ``|X|`` of a matrix means: "det" or "abs".  ``misfit`` says what is tried where a product has no
    meaning: None raises, "entrywise", "swapped", "left" and "right" (transposed) make one, and ``repaired`` lists where.
    """

    def __init__(self, tokens: Tokens, table: dict[str, Term], bars: str = "det", misfit: str | None = None):
        super().__init__(tokens, table)
        self.bars = bars
        self.misfit = misfit
        self.repaired: list[str] = []
        self.inside: list[str] = []
        self.known: list[tuple[list[str], Value]] = []
        for name, text in texts(table).items():
            for parts in ([name], [i[1] for i in tokenize(text).items]):
                self.known.append((parts, value_of(table[name])))
        self.known.sort(key=lambda entry: -len(entry[0]))

    def finished(self) -> Any:
        """The value of all tokens."""
        found = self.whole()
        if self.tokens.kind != "end":
            raise self.tokens.error(f"unexpected {self.tokens.peek()!r}")
        if not isinstance(found, Value):
            raise self.tokens.error("indices are left over; write the formula with matrices")
        return found

    def symbol(self) -> Any:
        """The symbol written at this place, the longest that fits."""
        tokens = self.tokens
        for parts, value in self.known:
            if all(tokens.peek(k) == part for k, part in enumerate(parts)):
                tokens.at += len(parts)
                return value
        return None

    # -------------------------------------------------------------------------------------- products

    def closing(self) -> bool:
        """Whether the next token ends a product."""
        text = self.tokens.peek()
        if text in ("|", r"\|", r"\rangle"):
            return text in self.inside and self.inside[-1] == text
        return text in _ENDS or self.tokens.kind in ("end", "row") or text.startswith(r"\end")

    def hadamard(self) -> Any:
        out = self.juxtaposed()
        while self.tokens.peek() in (r"\odot", r"\oslash"):
            name = "mul" if self.tokens.take() == r"\odot" else "div"
            out = self.entrywise(lookup(name), out, self.juxtaposed())
        return out

    def juxtaposed(self) -> Any:
        tokens = self.tokens
        if tokens.peek() == r"\sum":
            return self.summed()
        out = self.signed()
        while not self.closing():
            if tokens.found("/"):
                out = self.quotient(out, self.signed())
                continue
            sign = tokens.take() if tokens.peek() in (r"\cdot", r"\star", r"\entry", r"\ratio") else ""
            right = self.summed() if tokens.peek() == r"\sum" else self.signed()
            if sign in (r"\entry", r"\ratio"):
                out = self.entrywise(lookup("mul" if sign == r"\entry" else "div"), out, right)
            else:
                out = self.starred(out, right) if sign == r"\star" else self.times(out, right)
        return out

    def signed(self) -> Any:
        """A factor, with the sign that it may have after an operator."""
        if self.tokens.found("-"):
            return entrywise(lookup("neg"), self.signed())
        return self.factor()

    def quotient(self, top: Any, bottom: Any) -> Any:
        if bottom.kind == "s":
            return Value(top.kind, op("div", top.term, bottom.term))
        return self.entrywise(lookup("div"), top, bottom)

    def times(self, a: Any, b: Any) -> Any:
        """The product of two neighbours, or what ``misfit`` makes of one that has no meaning."""
        if not isinstance(a, Value) or not isinstance(b, Value):
            return a.times(b) if not isinstance(a, Value) else b.times(a)
        try:
            return product(a, b)
        except (FormulaError, ShapeError) as error:
            if self.misfit is None:
                raise self.tokens.error(f"this product does not fit: {_said(error)}", ProductMisfit) from None
        self.repaired.append(self.misfit)
        if self.misfit == "entrywise":
            return entrywise(lookup("mul"), a, b)
        if self.misfit == "swapped":
            return product(b, a)
        return product(transposed(a), b) if self.misfit == "left" else product(a, transposed(b))

    def starred(self, a: Any, b: Any) -> Any:
        """What ``*`` means in plain text: the matrix product, or entry by entry where the shapes allow only that."""
        if isinstance(a, Value) and isinstance(b, Value) and a.kind == b.kind and a.kind in ("v", "r", "m"):
            if a.kind != "m" or a.term.shape[1] != b.term.shape[0]:
                return self.entrywise(lookup("mul"), a, b)
        return self.times(a, b)

    def entrywise(self, function: Callable[..., Any], *values: Any) -> Any:
        """An entrywise operation, with a place in its error."""
        if not all(isinstance(v, Value) for v in values):
            raise self.tokens.error("entries with indices are summed or multiplied only; write the formula with matrices")
        try:
            return entrywise(function, *values)
        except (FormulaError, ShapeError) as error:
            raise self.tokens.error(f"this does not fit: {_said(error)}", ProductMisfit) from None

    def sum(self) -> Any:
        tokens = self.tokens
        out = entrywise(lookup("neg"), self.hadamard()) if tokens.found("-") else self.hadamard()
        while tokens.peek() in ("+", "-"):
            name = "add" if tokens.take() == "+" else "sub"
            out = self.entrywise(lookup(name), out, self.hadamard())
        return out

    # -------------------------------------------------------------------------------------- powers

    def raised(self, base: Any) -> Any:
        tokens = self.tokens
        if not isinstance(base, Value):
            raise tokens.error("an entry with indices has no power here; write the formula with matrices")
        place = tokens.at
        tokens.expect("{")
        minus = tokens.peek() == "-" and tokens.peek(2) == "}"
        mark = tokens.peek(1 if minus else 0)
        ends = tokens.peek(2 if minus else 1) == "}"
        if ends and mark in _TURNED | _ADJOINT and not (mark in ("T", "H") and self.is_scalar(mark)):
            tokens.at += 3 if minus else 2
            turned = transposed(base)
            if mark in _ADJOINT:
                turned = entrywise(lambda x: op("conj", x), turned)
            return self.inverse(turned) if minus else turned
        entry = tokens.found(r"\odot")
        exponent = self.condition()
        turned = tokens.found(r"\top")
        tokens.expect("}")
        k = exponent.term.number
        if entry or base.kind in ("s", "o", "v", "r"):
            out = self.entrywise(power, base, exponent)
        elif isinstance(k, int):
            out = self.matrix_power(base, k)
        else:
            tokens.at = place
            raise tokens.error(r"a power of a matrix is an integer here; entry by entry it is written A^{\odot p}")
        return transposed(out) if turned else out

    def is_scalar(self, name: str) -> bool:
        return any(parts == [name] and value.kind == "s" for parts, value in self.known)

    def inverse(self, a: Any) -> Any:
        if a.kind == "eye":
            return Value("eye", op("div", 1, a.term))
        if a.kind == "s":
            return Value("s", op("div", 1, a.term))
        return Value("m", op("inv", self.square(a)))

    def matrix_power(self, base: Any, k: int) -> Any:
        if abs(k) > 64:
            raise self.tokens.error(f"the matrix power {k} is beyond what is read")
        if base.kind == "eye":
            return Value("eye", power(base.term, number(k)))
        if k == 0:
            return Value("eye", number(1))
        one = base if k > 0 else self.inverse(base)
        out = one
        for _ in range(abs(k) - 1):
            out = product(out, one)
        return out

    # -------------------------------------------------------------------------------------- functions

    def atom(self) -> Any:
        tokens = self.tokens
        text = tokens.peek()
        named = self.symbol()
        if named is not None:
            return named
        rule = _PEOPLE.get(text)
        if rule is not None:
            tokens.take()
            return rule(self, text)
        if tokens.kind == "number":
            return Value("s", number(literal(tokens.take())))
        return super().atom()

    def function(self, name: str) -> Any:
        tokens = self.tokens
        if name == "sigmoid" and tokens.found("'"):
            s = entrywise(lookup("sigmoid"), self.argument())
            return self.entrywise(lookup("mul"), s, entrywise(lookup("sub"), Value("s", number(1)), s))
        if name == "digamma" and tokens.peek() == "^" and tokens.peek(2) == "(":
            return super().function(name)
        exponent = None
        if tokens.found("^"):
            exponent = self.group()
            if exponent.term.number == -1 and name in ("sin", "cos", "tan", "sinh", "cosh", "tanh"):
                name, exponent = f"a{name}", None
        if name == "log" and tokens.peek() == r"\det":
            tokens.take()
            return Value("s", op("logdet", self.square(self.argument())))
        out = entrywise(lookup(name), self.argument())
        return out if exponent is None else entrywise(power, out, exponent)

    def argument(self) -> Any:
        """The argument of a function: a bracket, or the numbers and symbols that follow."""
        tokens = self.tokens
        if tokens.peek() == "(":
            return self.bracketed()
        out = self.factor()
        while not self.closing() and (tokens.kind == "number" or self.symbol_next()) and tokens.peek() != r"\cdot":
            out = self.times(out, self.factor())
        return out

    def symbol_next(self) -> bool:
        """Whether a symbol starts at this place."""
        return not self.symbol_free()

    def bracketed(self) -> Any:
        """One argument in brackets of its own, where bars may stand for themselves again."""
        before, self.inside = self.inside, []
        found = super().bracketed()
        self.inside = before
        return found

    def group(self) -> Any:
        before, self.inside = self.inside, []
        found = super().group()
        self.inside = before
        return found

    def between(self, close: str) -> Any:
        """What stands up to a closing bar."""
        self.inside.append(close)
        found = self.condition()
        self.inside.pop()
        self.tokens.expect(close)
        return found

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """Arguments in brackets, or one without."""
        if self.tokens.peek() != "(":
            return [self.argument()], {}
        before, self.inside = self.inside, []
        found = super().arguments()
        self.inside = before
        return found

    def named(self, name: str, args: list[Any], params: dict[str, Any], axes: tuple[int, ...] | None) -> Any:
        name = OPERATORS.get(name, name)
        rule = _NAMED.get(name)
        if rule is not None and not params and axes is None:
            return rule(self, args)
        try:
            return super().named(name, args, params, axes)
        except NameProblem:
            raise
        except (ShapeError, FormulaError, ValueError, IndexError) as error:
            if str(error).startswith("cannot read"):
                raise
            raise self.tokens.error(_said(error), ProductMisfit) from None

    def square(self, a: Any) -> Term:
        """The term of a square matrix."""
        if a.kind != "m" or a.term.shape[0] != a.term.shape[1]:
            raise self.tokens.error(f"a square matrix is needed here, not an array of shape {_shape(a.term)}", ProductMisfit)
        return a.term  # type: ignore[no-any-return]


_OPEN = ("eye", "o", "or", "oo", "rb", "cb")
"""Kinds of values whose sizes the text leaves open."""


class ProductMisfit(FormulaError):
    """Operands whose shapes have no product, sum or function in the order in which they stand."""


def _said(error: Exception) -> str:
    return str(error).rstrip(".").replace("'", "")


_RELATIONS = ("=", r"\ne", "<", r"\le", ">", r"\ge")
_ENDS = (")", "}", "]", "&", ",", ";", "", r"\\", "+", "-", r"\odot", r"\oslash", r"\wedge", r"\vee", ":", *_RELATIONS)


def _bars(r: PeopleReader, _: str) -> Any:
    inner = r.between("|")
    if inner.kind == "m" and r.bars == "det":
        return Value("s", op("det", r.square(inner)))
    return entrywise(lookup("abs"), inner)


def _norm(r: PeopleReader, _: str) -> Any:
    inner = r.between(r"\|")
    p: Any = 2
    if r.tokens.peek() == "_":
        mark = "".join(r.subscript())
        marks = {"F": 2, "2": 2, "1": 1, r"\infty": math.inf, "fro": 2, "F,2": 2}
        if mark in ("*",) and inner.kind == "m":
            total = op("svdvals", inner.term)
            return Value("s", op("sum", total, dim=(0,), keepdim=False))
        if mark not in marks and not mark.isdigit():
            raise r.tokens.error(f"the norm with the index {mark!r} is not known here")
        p = marks.get(mark, int(mark) if mark.isdigit() else 2)
    dims = tuple(range(inner.term.ndim))
    return Value("s", op("norm", inner.term, p=p, dim=dims, keepdim=False) if dims else op("abs", inner.term))


def _inner_product(r: PeopleReader, _: str) -> Any:
    a = r.condition()
    r.tokens.expect(",")
    b = r.between(r"\rangle")
    both = entrywise(lookup("mul"), a, b)
    return Value("s", _total(both.term))


def _total(term: Term) -> Term:
    return op("sum", term, dim=tuple(range(term.ndim)), keepdim=False) if term.ndim else term  # type: ignore[no-any-return]


def _det(r: PeopleReader, _: str) -> Any:
    return Value("s", op("det", r.square(r.argument())))


def _cases(r: PeopleReader, text: str) -> Any:
    rows: list[tuple[Any, Any]] = []
    while True:
        value = r.condition()
        r.tokens.expect("&")
        if r.tokens.peek() == r"\text{otherwise}":
            r.tokens.take()
            rows.append((value, None))
        else:
            rows.append((value, r.condition()))
        r.tokens.found(",")
        if r.tokens.found(r"\end{cases}"):
            break
        r.tokens.expect(r"\\")
        if r.tokens.found(r"\end{cases}"):
            break
    value = rows[-1][0]
    for above, condition in reversed(rows[:-1]):
        value = r.entrywise(lookup("where"), condition, above, value)
    return value


def _exponential(r: PeopleReader, _: str) -> Any:
    if r.tokens.found("^"):
        return entrywise(lookup("exp"), r.group())
    return Value("s", op("exp", number(1)))


def _letter_i(r: PeopleReader, text: str) -> Any:
    tokens = r.tokens
    if tokens.peek() == "_" and tokens.peek(2).isdigit() and tokens.peek(4) == "(":
        order = int(tokens.peek(2))
        tokens.at += 4
        return entrywise(lambda x: op("bessel_i", x, n=order), r.bracketed())
    return ATOMS["I"](r, text)


def _iverson(r: PeopleReader, text: str) -> Any:
    before, r.inside = r.inside, []
    found = r.condition()
    r.inside = before
    r.tokens.expect("]")
    return found


_PEOPLE: dict[str, Callable[[PeopleReader, str], Any]] = {
    "|": _bars,
    r"\|": _norm,
    r"\langle": _inner_product,
    r"\det": _det,
    r"\begin{cases}": _cases,
    "e": _exponential,
    "I": _letter_i,
    "[": _iverson,
    "π": lambda r, _: Value("s", op("mul", 1, _pi())),
}


def _pi() -> Term:
    from symgrad.formula.term import as_term

    return as_term(PI)


# ---------------------------------------------------------------------------------------------- named functions


def _mean(r: PeopleReader, args: list[Any]) -> Any:
    return Value("s", FRONTS["mean"].call(args[0].term))


def _clamp(r: PeopleReader, args: list[Any]) -> Any:
    low, high = (a.term.number for a in args[1:3])
    return entrywise(lambda x: FRONTS["clamp"].call(x, low, high), args[0])


def _along(name: str) -> Callable[[PeopleReader, list[Any]], Any]:
    def rule(r: PeopleReader, args: list[Any]) -> Any:
        term = args[0].term
        found = FRONTS[name].call(term, term.ndim - 1)
        return value_of(found) if name == "logsumexp" else Value(args[0].kind, found)

    return rule


def _on_matrix(name: str) -> Callable[[PeopleReader, list[Any]], Any]:
    return lambda r, args: value_of(FRONTS[name].call(args[0].term))


def _over_all(name: str) -> Callable[[PeopleReader, list[Any]], Any]:
    def rule(r: PeopleReader, args: list[Any]) -> Any:
        return Value("s", FRONTS[name].call(args[0].term))

    return rule


def _elementwise(name: str) -> Callable[[PeopleReader, list[Any]], Any]:
    return lambda r, args: r.entrywise(FRONTS[name].call, *args)


def _sech(r: PeopleReader, args: list[Any]) -> Any:
    return entrywise(lambda x: op("div", 1, op("cosh", x)), args[0])


def _diag(r: PeopleReader, args: list[Any]) -> Any:
    return _TexReader.named(r, "diag", args, {}, None)


def _dot(r: PeopleReader, args: list[Any]) -> Any:
    a, b = args
    return Value("s", op("matmul", a.term, b.term)) if a.kind == b.kind == "v" else r.times(a, b)


def _trace(r: PeopleReader, args: list[Any]) -> Any:
    a = args[0]
    return a if a.kind == "s" else Value("s", op("trace", r.square(a)))


def _shape(term: Term) -> str:
    return str(tuple(term.shape)).replace("'", "")


def _outer(r: PeopleReader, args: list[Any]) -> Any:
    return Value("m", op("outer", args[0].term, args[1].term))


_NAMED: dict[str, Callable[[PeopleReader, list[Any]], Any]] = {
    "mean": _mean,
    "clip": _clamp,
    "clamp": _clamp,
    "softmax": _along("softmax"),
    "log_softmax": _along("log_softmax"),
    "logsumexp": _along("logsumexp"),
    "tril": _on_matrix("tril"),
    "triu": _on_matrix("triu"),
    "norm": _over_all("norm"),
    "sum": lambda r, args: Value("s", _total(args[0].term)),
    "sech": _sech,
    "diag": _diag,
    "dot": _dot,
    "trace": _trace,
    "tr": _trace,
    "outer": _outer,
    "transpose": lambda r, args: transposed(args[0]),
    "inv": lambda r, args: r.inverse(args[0]),
    "det": lambda r, args: Value("s", op("det", r.square(args[0]))),
    "logdet": lambda r, args: Value("s", op("logdet", r.square(args[0]))),
    "softplus": lambda r, args: entrywise(lambda x: op("softplus", x), args[0]),
    **{name: _elementwise(name) for name in ("relu", "sigmoid", "sign", "sqrt", "square", "maximum", "minimum")},
}

__all__ = ["PeopleReader", "ProductMisfit", "read_latex", "read_tokens", "tokenize"]
