r"""The reader of formulas as people type them in LaTeX: a wider grammar before :mod:`symgrad.formula.texparse`.

``A^T``, ``\mathbf{x}``, ``\|x\|_2^2``, ``\frac12``, ``\sin x``, ``x/2``, ``X^2``, ``|X|``, ``\circ``,
``\operatorname{tr} X``, ``\langle x, y\rangle``, ``f' = …`` and ``…, \quad Y = A + X`` are understood.  Tokens are
rewritten to the strict notation where that suffices; what is left is a few rules for atoms.  Text that is not LaTeX
comes here as tokens too (:mod:`symgrad.formula.peopletext`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from symgrad.errors import FormulaError, NameProblem, ShapeError
from symgrad.formula.indices import Indexed
from symgrad.formula.parse import Tokens, literal, power, symbol_table
from symgrad.formula.peopleatoms import NAMED, PEOPLE
from symgrad.formula.peopleindices import SUMS, index_letters, sizes_of_indices, subscript_letters
from symgrad.formula.peopletokens import ADJOINT, OPERATORS, TURNED, PeopleTokens, tokenize
from symgrad.formula.term import Term, number
from symgrad.formula.texnames import texts
from symgrad.formula.texparse import _TexReader
from symgrad.formula.texvalues import Value, divided, entrywise, op, operand_of, product, transposed, value_of
from symgrad.formula.texvalues import as_term as settled
from symgrad.op import lookup

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
    main = PeopleReader(pieces[0], table, wanted=shape, **readings)
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
        depth += (text in ("(", "{", "[") or text.startswith(r"\begin")) - (
            text in (")", "}", "]") or text.startswith(r"\end")
        )
        if depth == 0 and text in (",", ";"):
            cuts.append(k)
            marks.append([])
        elif depth == 0 and text == "=":
            marks[-1].append(k)
    cuts.append(len(tokens.items))
    parts: list[Tokens] = []
    for j, (a, b) in enumerate(itertools.pairwise(cuts)):
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
    meaning: None raises; "entrywise", "swapped", "left" and "right" (transposed) make one.  ``repeated`` says whether
    an index that stands twice in a product is summed without a sum sign; ``wanted`` is the shape of the whole.
    """

    def __init__(
        self,
        tokens: Tokens,
        table: dict[str, Term],
        bars: str = "det",
        misfit: str | None = None,
        repeated: bool = False,
        wanted: tuple[Any, ...] | None = None,
    ):
        super().__init__(tokens, table)
        self.bars = bars
        self.misfit = misfit
        self.repeated = repeated
        self.inside: list[str] = []
        self.known: list[tuple[list[str], Value]] = []
        for name, text in texts(table).items():
            for parts in ([name], [i[1] for i in tokenize(text).items]):
                self.known.append((parts, value_of(table[name])))
        self.known.sort(key=lambda entry: -len(entry[0]))
        self.index_sizes = sizes_of_indices(self, wanted)

    def finished(self) -> Any:
        """The value of all tokens; the axes of entries are those of their indices in alphabetical order."""
        found = self.whole()
        if self.tokens.kind != "end":
            raise self.tokens.error(f"unexpected {self.tokens.peek()!r}")
        if isinstance(found, Indexed):
            return value_of(found.contracted(sorted(found.letters)))
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
        if text in ("|", r"\|", r"\rangle", "/"):
            return text in self.inside and self.inside[-1] == text
        return text in _ENDS or self.tokens.kind in ("end", "row") or text.startswith(r"\end")

    def hadamard(self) -> Any:
        """Products entry by entry, of what stands side by side."""
        out = self.juxtaposed()
        while self.tokens.peek() in (r"\odot", r"\oslash"):
            name = "mul" if self.tokens.take() == r"\odot" else "div"
            out = self.entrywise(lookup(name), out, self.juxtaposed())
        return out

    def juxtaposed(self) -> Any:
        """Factors side by side, with the signs of products between them."""
        tokens = self.tokens
        out = self.summed() if tokens.peek() in SUMS else self.signed()
        while not self.closing():
            if tokens.found("/"):
                out = self.quotient(out, self.signed())
                continue
            sign = tokens.take() if tokens.peek() in (r"\cdot", r"\star", r"\entry", r"\ratio") else ""
            right = self.summed() if tokens.peek() in SUMS else self.signed()
            if sign in (r"\entry", r"\ratio"):
                out = self.entrywise(lookup("mul" if sign == r"\entry" else "div"), out, right)
            else:
                out = self.starred(out, right) if sign == r"\star" else self.times(out, right)
        return self.implied_sum(out)

    def implied_sum(self, product: Any) -> Any:
        """The sum over the indices that a product has twice, where that needs no sum sign."""
        if not self.repeated or not isinstance(product, Indexed):
            return product
        twice = [x for x in product.repeated() if x not in self.bound]
        return self.totalled(product, twice) if twice else product

    def totalled(self, product: Any, letters: Iterable[str]) -> Any:
        """A product of entries summed over letters; a number when none are left."""
        if not isinstance(product, Indexed):
            raise self.tokens.error("after a sum sign entries with indices are expected, such as x_i")
        try:
            found = product.summed(letters)
        except FormulaError as error:
            raise self.tokens.error(str(error)) from None
        except ShapeError as error:
            raise self.tokens.error(_said(error), ProductMisfit) from None
        return found if found.letters else Value("s", found.contracted(()))

    def summed(self) -> Any:
        r"""``\sum`` or ``\prod`` over indices, with or without limits, of the product that follows."""
        tokens = self.tokens
        sign = tokens.take()
        letters = index_letters(self)
        before, self.bound = self.bound, self.bound | set(letters)
        if sign == r"\prod":
            self.inside.append("/")
        found = self.juxtaposed()
        self.bound = before
        if sign == r"\sum":
            return self.totalled(found, letters)
        self.inside.pop()
        return self.multiplied(found, letters)

    def multiplied(self, entries: Any, letters: Iterable[str]) -> Any:
        """The product of entries over letters."""
        for letter in letters:
            if not isinstance(entries, Indexed) or letter not in entries.letters:
                raise self.tokens.error(f"the product over {letter} has no index {letter}")
            last = entries.settled((*(x for x in entries.letters if x != letter), letter))
            ((term, row),) = last.operands
            entries = Indexed([(op("prod", term, dim=len(row) - 1, keepdim=False), row[:-1])])
            entries = entries if entries.letters else Value("s", entries.operands[0][0])
        return entries

    def signed(self) -> Any:
        """A factor, with the sign that it may have after an operator."""
        if self.tokens.found("-"):
            return entrywise(lookup("neg"), self.signed())
        return self.factor()

    def quotient(self, top: Any, bottom: Any) -> Any:
        """A quotient; arrays divide entry by entry."""
        return divided(top, bottom) if bottom.kind == "s" else self.entrywise(lookup("div"), top, bottom)

    def times(self, a: Any, b: Any) -> Any:
        """The product of two neighbours, or what ``misfit`` makes of one that has no meaning."""
        try:
            if isinstance(a, Indexed) or isinstance(b, Indexed):
                return a.times(operand_of(b)) if isinstance(a, Indexed) else b.times(a.term)
            return product(a, b)
        except (FormulaError, ShapeError) as error:
            if self.misfit is None:
                raise self.tokens.error(f"this product does not fit: {_said(error)}", ProductMisfit) from None
        if self.misfit == "entrywise":
            return entrywise(lookup("mul"), a, b)
        if self.misfit == "swapped":
            return product(b, a)
        return product(transposed(a), b) if self.misfit == "left" else product(a, transposed(b))

    def starred(self, a: Any, b: Any) -> Any:
        """What ``*`` means in plain text: the matrix product, or entry by entry where the shapes allow only that."""
        alike = isinstance(a, Value) and isinstance(b, Value) and a.kind == b.kind and a.kind in ("v", "r", "m")
        if alike and (a.kind != "m" or a.term.shape[1] != b.term.shape[0]):
            return self.entrywise(lookup("mul"), a, b)
        return self.times(a, b)

    def entrywise(self, function: Callable[..., Any], *values: Any) -> Any:
        """An entrywise operation, with a place in its error."""
        try:
            return entrywise(function, *values)
        except (FormulaError, ShapeError) as error:
            raise self.tokens.error(f"this does not fit: {_said(error)}", ProductMisfit) from None

    def sum(self) -> Any:
        """Terms of a sum."""
        tokens = self.tokens
        out = entrywise(lookup("neg"), self.hadamard()) if tokens.found("-") else self.hadamard()
        while tokens.peek() in ("+", "-"):
            name = "add" if tokens.take() == "+" else "sub"
            out = self.entrywise(lookup(name), out, self.hadamard())
        return out

    def entry(self, array: Any) -> Indexed:
        """The entry of an array at the indices that follow, one for each axis."""
        place = self.tokens.at
        if not isinstance(array, Value):
            raise self.tokens.error("an entry has no further indices")
        letters, term = subscript_letters(self), self.plain(array)
        if len(letters) != term.ndim:
            self.tokens.at = place
            kind = PartialEntry if len(letters) < term.ndim else ProductMisfit
            said = f"{len(letters)} indices for an array with {term.ndim} axes (shape {tuple(term.shape)})"
            raise self.tokens.error(f"{said}; every axis needs an index", kind)
        return Indexed([(term, letters)])

    # -------------------------------------------------------------------------------------- powers

    def raised(self, base: Any) -> Any:
        """A power, transpose or inverse, after its sign."""
        tokens = self.tokens
        place = tokens.at
        tokens.expect("{")
        minus = tokens.peek() == "-" and tokens.peek(2) == "}"
        mark = tokens.peek(1 if minus else 0)
        ends = tokens.peek(2 if minus else 1) == "}"
        turns = mark in TURNED | ADJOINT and not (mark in ("T", "H") and self.is_scalar(mark))
        if ends and turns and isinstance(base, Value):
            tokens.at += 3 if minus else 2
            turned = transposed(base)
            if mark in ADJOINT:
                turned = entrywise(lambda x: op("conj", x), turned)
            return self.inverse(turned) if minus else turned
        entry = tokens.found(r"\odot")
        exponent = self.condition()
        flipped = tokens.found(r"\top")
        tokens.expect("}")
        k = exponent.term.number
        if entry or base.kind in ("s", "o", "v", "r", "indexed"):
            out = self.entrywise(power, base, exponent)
        elif isinstance(k, int):
            out = self.matrix_power(base, k)
        else:
            tokens.at = place
            raise tokens.error(r"a power of a matrix is an integer here; entry by entry it is written A^{\odot p}")
        return transposed(out) if flipped else out

    def is_scalar(self, name: str) -> bool:
        """Whether a name is that of a number."""
        return any(parts == [name] and value.kind == "s" for parts, value in self.known)

    def inverse(self, a: Any) -> Any:
        """The inverse of a square matrix or of a number."""
        if a.kind == "eye":
            return Value("eye", op("div", 1, a.term))
        if a.kind == "s":
            return Value("s", op("div", 1, a.term))
        return Value("m", op("inv", self.square(a)))

    def matrix_power(self, base: Any, k: int) -> Any:
        """An integer power of a square matrix."""
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
        """A symbol, number, bracket or function."""
        tokens = self.tokens
        text = tokens.peek()
        named = self.symbol()
        if named is not None:
            return named
        rule = PEOPLE.get(text)
        if rule is not None:
            tokens.take()
            return rule(self, text)
        if tokens.kind == "number":
            return Value("s", number(literal(tokens.take())))
        return super().atom()

    def function(self, name: str) -> Any:
        """A function with its exponent or prime before the argument."""
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
        """A formula in braces, where bars may stand for themselves again."""
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
        """A function by its name."""
        name = OPERATORS.get(name, name)
        rule = NAMED.get(name)
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
            raise self.tokens.error(
                f"a square matrix is needed here, not an array of shape {tuple(a.term.shape)}", ProductMisfit
            )
        return a.term  # type: ignore[no-any-return]


_OPEN = ("eye", "o", "or", "oo", "rb", "cb")
"""Kinds of values whose sizes the text leaves open."""


class ProductMisfit(FormulaError):
    """Operands whose shapes have no product, sum or function in the order in which they stand."""


class PartialEntry(ProductMisfit):
    """Fewer indices than axes: a notation for rows and batches, which is not read; so it says nothing of a formula."""


def _said(error: Exception) -> str:
    return str(error).rstrip(".").replace("'", "")


_RELATIONS = ("=", r"\ne", "<", r"\le", ">", r"\ge")
_ENDS = (")", "}", "]", "&", ",", ";", "", r"\\", "+", "-", r"\odot", r"\oslash", r"\wedge", r"\vee", ":", *_RELATIONS)
