r"""The reader of formulas as people type them in LaTeX: a wider grammar before :mod:`symgrad.formula.reading.tex`.

``A^T``, ``\mathbf{x}``, ``\|x\|_2^2``, ``\frac12``, ``\sin x``, ``x/2``, ``X^2``, ``|X|``, ``\circ``,
``\operatorname{tr} X``, ``\langle x, y\rangle``, ``f' = …`` and ``…, \quad Y = A + X`` are understood.  Tokens are
rewritten to the strict notation where that suffices; what is left is a few rules for atoms.  Text that is not LaTeX
comes here as tokens too (:mod:`symgrad.formula.reading.people.text`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from symgrad.errors import FormulaError, NameProblem, ShapeError
from symgrad.formula.printing.names import GREEK, name_latex, spellings, texts
from symgrad.formula.reading.atoms import ATOMS
from symgrad.formula.reading.called import called
from symgrad.formula.reading.families import BATCH
from symgrad.formula.reading.indices import Indexed
from symgrad.formula.reading.misfits import ProductMisfit, said
from symgrad.formula.reading.people import defined, powers
from symgrad.formula.reading.people.atoms import NAMED, PEOPLE, exponential, indicator, of_square, zeros
from symgrad.formula.reading.people.clauses import Clauses
from symgrad.formula.reading.people.defined import Defined
from symgrad.formula.reading.people.entries import cropped, picked
from symgrad.formula.reading.people.functions import entrywise_function, function, slope
from symgrad.formula.reading.people.indices import SUMS, alphabetical, sizes_of_indices, sizes_of_limits, subscript
from symgrad.formula.reading.people.names import plain_subscripts
from symgrad.formula.reading.people.products import RELATIONS, Products
from symgrad.formula.reading.people.tokens import ACCENTS, OPERATORS, RECIPROCALS, TURNED, PeopleTokens, tokenize
from symgrad.formula.reading.text import Tokens, literal, power, symbol_table
from symgrad.formula.reading.values import Value, as_term as settled, entrywise, is_zero, op, value_of
from symgrad.formula.term import Term, number, size_letter
from symgrad.op import FRONTS, TABLE, lookup

# ---------------------------------------------------------------------------------------------- the reader


def read_latex(
    text: str,
    symbols: Mapping[str, Any] | Iterable[Term],
    shape: tuple[Any, ...] | None = None,
    **readings: Any,
) -> Term:
    r"""The term of LaTeX typed by a person; arguments as for :func:`symgrad.formula.reading.tex.from_latex`.

    >>> read_latex(r"2A^T(Ax - b)", {"A": ("m", "n"), "x": ("n",), "b": ("m",)}).shape
    ('n',)
    """
    return read_tokens(tokenize(text.strip()), symbol_table(symbols), shape, **readings)


def read_latex_inner(
    text: str, symbols: Mapping[str, Any] | Iterable[Term], shape: tuple[Any, ...] | None, **readings: Any
) -> Inner:
    """The same, of which indices such as ``i+1`` may leave out the ends."""
    return read_inner(tokenize(text.strip()), symbol_table(symbols), shape, **readings)


def read_tokens(tokens: Tokens, table: dict[str, Term], shape: tuple[Any, ...] | None, **readings: Any) -> Term:
    """The term of tokens: the part after a header ``f' =``, with the definitions that follow it."""
    found = read_inner(tokens, table, shape, **readings)
    if found.cut is not None:
        raise tokens.error("indices such as i+1 of entries that are not summed leave the ends of the result open")
    return found.term


class Inner(NamedTuple):
    """A term; which entries of the whole it is where shifted indices leave out the ends; whether it is a row.

    ``ends`` are the letters at which sums end that are no sizes of the symbols, with the sizes that they are.
    """

    term: Term
    cut: tuple[slice, ...] | None = None
    row: bool = False
    ends: tuple[tuple[str, Any], ...] = ()


def read_inner(tokens: Tokens, table: dict[str, Term], shape: tuple[Any, ...] | None, **readings: Any) -> Inner:
    """The term of tokens, of which indices such as ``i+1`` may leave out the ends."""
    clauses = Clauses(tokens, table)
    main = PeopleReader(clauses.sub(clauses.parts[-1]), table, wanted=shape, header=clauses.letters, **readings)
    main.define_all([(left, clauses.sub(right)) for left, right in clauses.definitions], table, **readings)
    try:
        found, cut = main.finished()
    except (FormulaError, ShapeError) as error:
        if str(error).startswith("cannot read"):
            raise
        raise main.tokens.error(said(error), ProductMisfit) from None
    ends = tuple((letter, size) for letter, size in main.limits.items() if letter not in main.letters and size)
    if cut is not None or found.kind == "whole":
        return Inner(found.term, cut, ends=ends)
    if (
        found.kind in _OPEN
        or is_zero(found)
        or (shape is not None and [s for s in shape if s != 1] == list(found.term.shape))
    ):
        return Inner(settled(found, shape), row=found.kind == "r", ends=ends)
    return Inner(found.term, row=found.kind == "r", ends=ends)


class PeopleReader(Products):
    """The strict reader with a wider grammar.

    ``bars`` says what ``|X|`` means: "det" of matrices, "abs", or "norm" of vectors. ``misfit`` says what is tried
    where a product has no meaning: None raises; "entrywise", "swapped", "left" and "right" (transposed) make one.
    ``repeated`` says whether an index that stands twice in a product is summed without a sum sign; ``wanted`` is the
    shape of the whole.
    """

    def __init__(
        self,
        tokens: Tokens,
        table: dict[str, Term],
        bars: str = "det",
        misfit: str | None = None,
        repeated: bool = False,
        wanted: tuple[Any, ...] | None = None,
        header: tuple[str, ...] = (),
        **others: Any,
    ):
        super().__init__(tokens, table)
        self.bars = bars
        self.misfit = misfit
        self.repeated = repeated
        self.wanted = wanted
        self.header = header
        self.others = others
        self.scalar = wanted in (None, ())
        self.inside: list[str] = []
        self.shifts: dict[str, tuple[int, int]] = {}
        self.firsts: dict[str, int] = {}
        self.limits: dict[str, Any] = {}  # what sizes the letters are at which sums end
        self.known: list[tuple[list[str], Value]] = []
        self.rows: list[tuple[list[str], Value]] = []
        self.defined: list[Defined] = []
        for text, name in self.others.get("named", {}).items():
            self.known.append(([i[1] for i in tokenize(text).items], value_of(table[name])))
        for name, text in texts(table).items():
            if len(name) == 2 and name.isalpha() and (name[0] not in table or not table[name[0]].ndim):  # xm for x_m
                self.known.append(([name[0], "_", "{", name[1], "}"], value_of(table[name])))
            forms = [form for form in (*spellings(text), *plain_subscripts(name, text, table)) if form]
            for parts in ([name], *([i[1] for i in tokenize(form).items] for form in forms)):
                self.known.append((parts, value_of(table[name])))
            row = name.lower()
            free = row not in table or (self.others.get("capitals") and row != name)
            if table[name].ndim > 1 and row != name and free and (len(name) == 1 or row in GREEK):
                self.rows.append(([name_latex(row)], value_of(table[name])))
        self.measured()

    def measured(self) -> None:
        """Find the sizes of the indices, with all names that are known by now."""
        self.known.sort(key=lambda entry: -len(entry[0]))
        self.index_sizes = sizes_of_indices(self, self.wanted)
        self.sizes = sizes_of_limits(self)

    def define_all(self, pieces: list[tuple[list[Any], Tokens]], table: dict[str, Term], **readings: Any) -> None:
        """Read definitions such as ``r = Ax - b``, in whatever order they can be read."""

        def reader_of(right: Tokens) -> PeopleReader:
            reader = PeopleReader(right, table, **readings)
            reader.known, reader.rows, reader.defined = [*self.known], self.rows, self.defined
            reader.limits = self.limits
            reader.measured()
            return reader

        values = [([item[1] for item in left], right) for left, right in pieces]
        taken = [parts for parts, _ in self.known]
        for k, (left, right) in enumerate(values):
            said = "".join(left)
            words = [item[1] for item in right.items]
            symmetric = words[:-4] == left and words[-2:-1] and words[-2] in TURNED  # A = Aᵀ states what A is
            if left in taken and not symmetric:
                raise right.error(f"{said} is a symbol of the function; give what is defined another name")
            if left in [name for name, _ in values[:k]]:
                raise right.error(f"{said} is defined twice; give the second one another name")
        values = [(name, right) for left, right in values if (name := self.name_defined(left, right, reader_of))]
        while values:
            late: list[tuple[list[str], Tokens]] = []
            names = [left for left, _ in values]
            free = [row for row in values if not _names_any(row[1], [name for name in names if name != row[0]])]
            late += [row for row in values if free and row not in free]
            for left, right in free or values:
                try:
                    self.named_value(left, reader_of(right).whole())
                    right.end()
                except (FormulaError, NameProblem):
                    right.at = 0
                    late.append((left, right))
                    if len(late) == len(values):
                        raise
                self.measured()
            values = late

    def name_defined(self, left: list[str], right: Tokens, reader_of: Callable[[Tokens], PeopleReader]) -> list[str]:
        """The name of a value that a definition gives; empty for ``f(z) = …``, where ``z`` is nothing else.

        ``r(x) = Ax - b`` is both: a value at ``x``, and a function.
        """
        named = defined.head(left)
        if named is None:
            return left
        name, letters = named
        self.defined.append(Defined(name, letters, lambda: reader_of(PeopleTokens(right.text, [*right.items]))))
        known = [parts for parts, _ in self.known]
        return name if all(letter in known for letter in letters) else []

    def named_value(self, left: list[str], found: Any) -> None:
        """Let the tokens of a name stand for a value; ``p_i = …`` defines the array ``p``."""
        letters = [x for x in left[left.index("_") + 2 : -1] if x != ","] if "_" in left and left[-1] == "}" else []
        if isinstance(found, Value):
            self.known.append((left, found))
        elif letters and set(letters) == set(found.letters):
            self.known.append((left[: left.index("_")], value_of(found.contracted(letters))))
        else:
            raise self.tokens.error(f"the indices of {''.join(left)} are not those of what it is to be")

    def finished(self) -> tuple[Any, tuple[slice, ...] | None]:
        r"""The value of all tokens, and the entries it is for; the axes of entries are those of their indices.

        Those come in the order of the header ``\partial f / \partial X_{ij} =``, without one in that of the alphabet.
        """
        found = self.whole()
        self.tokens.end()
        letters = () if isinstance(found, Value) else tuple(x for x in found.letters if x != BATCH)
        headed = bool(self.header) and self.wanted is not None and len(self.header) == len(self.wanted)
        if headed and set(letters) <= set(self.header) and (letters or found.kind == "s"):
            term = found.contracted(self.header) if letters else found.term
            if not any(x in self.shifts for x in letters):
                return Value("whole", op("expand", term, shape=self.wanted)), None
            letters = self.header
        if not letters:
            return found, None
        order = letters if headed else tuple(alphabetical(letters))
        cut = tuple(slice(*self.ends(x)) for x in order)
        return value_of(self.cropped(found, order).contracted(order)), cut if any(
            x in self.shifts for x in order
        ) else None

    def ends(self, letter: str) -> tuple[int | None, int | None]:
        """Where the values of an index start and end, so that all its shifts stay inside."""
        low, high = self.shifts.get(letter, (0, 0))
        return low or None, -high or None

    def cropped(self, found: Any, letters: Iterable[str]) -> Any:
        """Entries without those for which a shifted index leaves its axis."""
        if not any(x in self.shifts for x in letters) or self.others.get("cyclic"):
            return found
        return cropped(found, {x: self.ends(x) for x in letters})

    def symbol(self) -> Any:
        """The symbol written at this place, the longest that fits."""
        for names in (self.rows, self.known) if self.others.get("capitals") else (self.known, self.rows):
            found = self.first_of(names) if names is self.known or self.tokens.peek(1) == "_" else None
            if found is not None:
                return found
        return None

    # -------------------------------------------------------------------------------------- factors

    def entry(self, array: Any) -> Any:
        """The entry of an array at the indices that follow; with fewer indices than axes, a row or a matrix."""
        place = self.tokens.at
        if not isinstance(array, Value):
            raise self.tokens.error("an entry has no further indices")
        places, term = subscript(self), self.plain(array)
        if not term.ndim:
            letters = "".join(item[1] for item in self.tokens.items[place + 2 : self.tokens.at - 1])
            name = f"{self.tokens.items[place - 1][1]}_{letters}"
            self.tokens.at = place - 1
            raise self.tokens.error(f"{name} is no symbol here; {self.listed()}", NameProblem)
        if len(places) > term.ndim or not places or (len(places) < term.ndim and term.ndim - len(places) > 2):
            self.tokens.at = place
            said = f"{len(places)} indices for an array with {term.ndim} axes (shape {tuple(term.shape)})"
            raise self.tokens.error(f"{said}; every axis needs an index", ProductMisfit)
        return picked(self, term, places)

    # -------------------------------------------------------------------------------------- powers

    def factor(self) -> Any:
        """An atom with what stands after it: powers, indices, ``!`` and the ``_+`` of a positive part."""
        out = self.atom()
        while (after := self.tokens.peek()) in ("^", "_", "!"):
            if after == "_":
                below = self.tokens.peek(2)
                positive = below == "+" and self.tokens.peek(3) == "}"
                chosen = self.part if below == "[" else self.entry
                out = powers.positive_part(self, out) if positive else chosen(out)
            else:
                self.tokens.take()
                out = self.raised(out) if after == "^" else powers.factorial(self, out)
        return out

    def raised(self, base: Any) -> Any:
        """A power, transpose or inverse, after its sign."""
        return powers.raised(self, base)

    def inverse(self, a: Any) -> Any:
        """The inverse of a square matrix or of a number."""
        return powers.inverse(self, a)

    def is_scalar(self, name: str) -> bool:
        """Whether a name is that of a number."""
        return any(parts == [name] and value.kind == "s" for parts, value in self.known)

    # -------------------------------------------------------------------------------------- functions

    def atom(self) -> Any:
        """A symbol, number, bracket or function."""
        tokens = self.tokens
        text = tokens.peek()
        named = None if self.is_exponential(text) else defined.call(self) or self.symbol()
        if named is not None:
            return named
        if text in RECIPROCALS:
            tokens.take()
            return self.function(text[1:])
        rule = PEOPLE.get(text)
        if rule is not None:
            tokens.take()
            return rule(self, text)
        if tokens.kind == "number":
            value = number(literal(tokens.take()))
            with_index = _WITH_INDEX.get(value.number) if tokens.peek() == "_" else None
            return Value("s", value) if with_index is None else with_index(self)
        if tokens.peek() in self.sizes:
            return Value("s", size_letter(self.sizes[tokens.take()]))
        if text in self.index_sizes and (text in self.bound or self.is_compared()):
            tokens.take()
            count = op("arange", n=self.index_sizes[text], dtype="int64")
            return Indexed([(op("add", count, self.firsts.get(text, 1)), (text,))])
        if text in ("i", "j") and self.others.get("imaginary") and text not in self.bound:
            tokens.take()
            return Value("s", number(1j))
        if tokens.kind == "char" and text.isalpha() and text not in ("I", *self.letters):
            raise self.unknown(f"{text!r}", text)
        if text[1:] in GREEK and text not in (*called().commands, *ATOMS) and text[0] == "\\":
            raise self.unknown(text, text)
        if text == r"\bar" and self.others.get("means"):
            tokens.take()
            return self.mean(self.group())
        if text in ACCENTS:
            name = f"{text}{{{tokens.peek(2)}}}"
            raise tokens.error(f"{name} is no symbol here; define it after a comma, as in ', {name} = …'")
        return super().atom()

    def is_compared(self) -> bool:
        """Whether a letter stands beside a relation, as the indices of ``i = j`` and ``i = j + 1`` in conditions."""
        return bool({self.tokens.peek(-1), self.tokens.peek(1)} & {*RELATIONS})

    def mean(self, a: Any) -> Any:
        """The mean of a vector; of a matrix, whose rows are samples, the row of the means of its columns."""
        if isinstance(a, Value) and a.kind == "m":
            return Value("rb", op("mean", a.term, dim=(0,), keepdim=False))
        return value_of(FRONTS["mean"].call(a.term))

    def is_exponential(self, text: str) -> bool:
        """Whether ``e^`` is the exponential although ``e`` is a symbol."""
        return text == "e" and self.tokens.peek(1) == "^" and bool(self.others.get("euler"))

    def unknown(self, shown: str, name: str) -> Exception:
        """The error of a letter that stands for nothing, with what may stand there."""
        return self.tokens.error(
            f"{shown} is no symbol here; {self.listed()}; define it after a comma, as in ', {name} = …'"
        )

    def listed(self) -> str:
        """The names that may stand in the text."""
        names = sorted({parts[0] for parts, _ in self.known if len(parts) == 1 and parts[0][0] != "\\"})
        sizes = f", the sizes {', '.join(sorted(self.letters))}" if self.letters else ""
        return f"the symbols are {', '.join(names)}{sizes}"

    def function(self, name: str) -> Any:
        """A function with its exponent or prime before the argument."""
        tokens = self.tokens
        if tokens.found("'"):
            return self.entrywise(slope(self.operation(name)), self.argument())
        if name == "digamma" and tokens.peek() == "^" and tokens.peek(2) == "(":
            return super().function(name)
        if name == "digamma" and tokens.peek() == "_" and tokens.peek(2).isdigit():
            order = int(self.subscript()[0])
            return entrywise(lambda x: op("polygamma", x, n=order), self.argument())
        if name == "exp" and self.others.get("expm"):
            return exponential(self, self.argument())
        divisor = exponent = None
        if name == "log" and tokens.peek() == "_":
            name, divisor = self.logarithm()
        if tokens.found("^"):
            exponent = self.group()
            inverse = self.inverse_of(name, exponent)
            if inverse or (exponent.term.number == -1 and name in _INVERSES):
                name, exponent = inverse or _INVERSES[name], None
        if name == "log" and tokens.peek() == r"\det":
            tokens.take()
            return of_square(self, "logdet", self.argument())
        out = self.entrywise(self.operation(name), self.argument())
        out = out if divisor is None else self.entrywise(lookup("div"), out, divisor)
        return out if exponent is None else self.entrywise(power, out, exponent)

    def operation(self, name: str) -> Callable[..., Any]:
        """The function of a name that is taken entry by entry."""
        return entrywise_function(name) or lookup(name)

    def argument(self) -> Any:
        """The argument of a function: a bracket, or the numbers and symbols that follow."""
        tokens = self.tokens
        if tokens.peek() == "(":
            return self.bracketed()
        if tokens.peek() in SUMS:
            return self.summed()
        if self.closing():
            tokens.at = max(0, tokens.at - 1)
            raise tokens.error(f"a function needs its argument; {self.listed()}")
        out = self.factor()
        while not self.others.get("narrow") and not self.closing() and self.goes_on():
            out = self.times(out, self.factor())
        return out

    def goes_on(self) -> bool:
        r"""Whether the argument of a function goes on: with a number, a symbol or a constant, as in ``\sin 2\pi x``."""
        return self.tokens.kind == "number" or self.tokens.peek() in (r"\pi", "π") or self.symbol_next()

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

    def arguments(self, placed: bool = False) -> tuple[list[Any], dict[str, Any]]:
        """Arguments in brackets, or one without."""
        if self.tokens.peek() != "(":
            return [self.argument()], {}
        before, self.inside = self.inside, []
        listed = self.holds_list()
        if listed:
            self.tokens.take()
        found = super().arguments(placed)
        if listed:
            self.tokens.expect(")")
        self.inside = before
        return found

    def holds_list(self) -> bool:
        """Whether brackets hold nothing but a list in brackets of its own, as in ``ones((n, m))``."""
        depth, commas, k = 0, False, 1
        while self.tokens.peek(k):
            depth += {"(": 1, ")": -1}.get(self.tokens.peek(k), 0)
            commas = commas or (depth == 1 and self.tokens.peek(k) == ",")
            if not depth:
                break
            k += 1
        return commas and self.tokens.peek(k + 1) == ")"

    def named(self, name: str, args: list[Any], params: dict[str, Any], axes: tuple[int, ...] | None) -> Any:
        """A function by its name."""
        name = OPERATORS.get(name, name)
        args = [Value("s", size_letter(a)) if isinstance(a, (int, str)) else a for a in args]
        try:
            found = None if params or axes is not None else self.plainly(name, args)
            return super().named(name, args, params, axes) if found is None else found
        except NameProblem:
            raise
        except (ShapeError, FormulaError, ValueError, IndexError) as error:
            if str(error).startswith("cannot read"):
                raise
            raise self.tokens.error(said(error), ProductMisfit) from None
        except TypeError as error:
            raise self.tokens.error(f"{name} cannot take these arguments: {error}") from None

    def plainly(self, name: str, args: list[Any]) -> Any:
        """A function without parameters: of matrix notation, of entries, or of whole arrays; None for others."""
        arity, rule = NAMED.get(name, (0, None))
        if rule is not None and len(args) == arity:
            return rule(self, args)
        primed = name[-1] == "'" and name not in TABLE
        by_entry = entrywise_function(name[:-1] if primed else name)
        if by_entry is not None:
            return self.entrywise(slope(by_entry) if primed else by_entry, *args)
        whole = function(name)
        if whole is None or not all(a.kind in ("s", "v", "r", "m", "t") and isinstance(a, Value) for a in args):
            return None
        try:
            return value_of(whole(*(a.term for a in args)))
        except (ValueError, AttributeError) as error:
            if isinstance(error, (ShapeError, FormulaError)):
                raise
            raise self.tokens.error(f"{name} cannot take these arguments: {error}") from None

    def square(self, a: Any) -> Term:
        """The term of a square matrix."""
        if a.kind != "m" or a.term.shape[0] != a.term.shape[1]:
            raise self.tokens.error(
                f"a square matrix is needed here, not an array of shape {tuple(a.term.shape)}", ProductMisfit
            )
        return a.term  # type: ignore[no-any-return]


def _names_any(tokens: Tokens, names: Iterable[list[str]]) -> bool:
    """Whether a definition has one of some names in it, which may be a constant elsewhere, as ``e`` is."""
    words = [text for _, text, _ in tokens.items]
    return any(name == words[k : k + len(name)] for name in names for k in range(len(words)))


_WITH_INDEX = {0: zeros, 1: indicator}
"""Numbers that mean something else with an index: ``0_n``, ``1_{x>0}``."""
_OPEN = ("eye", "o", "or", "oo", "rb", "cb")
"""Kinds of values whose sizes the text leaves open."""


_INVERSES = {name: f"a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}
"""What f⁻¹ of a function is."""
