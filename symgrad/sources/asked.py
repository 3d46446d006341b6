"""What a formula is asked about: a function, a tensor or a text becomes a term over named symbols."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from symgrad.errors import ArgumentError, FormulaError, FormulaTooDeep, NameProblem, ShapeError
from symgrad.formula.derive import gradient, jacobian
from symgrad.formula.printing.names import name_latex
from symgrad.formula.reading.misfits import ProductMisfit
from symgrad.formula.reading.people.stars import ENTRIES, PLACE, PRODUCTS
from symgrad.formula.reading.people.text import (
    is_latex,
    leaves_open,
    position,
    read_function,
)
from symgrad.formula.reading.people.tokens import tokenize as tokenize_latex
from symgrad.formula.resizing import resized
from symgrad.formula.signs import ASSUMED, with_signs
from symgrad.formula.structures import known_structure
from symgrad.formula.term import SYMBOL, Term, as_term, postorder, substitute, symbol, symbols
from symgrad.op import lookup
from symgrad.sources import hints
from symgrad.sources.names import defined, headers, limits, names_in
from symgrad.sources.runs import run_on, run_on_examples
from symgrad.sources.shapes import TRIALS, Reached, Shapes, infer_shapes, parse_shapes, reached
from symgrad.tape.formulas.reading import Reading, read
from symgrad.tape.record import Recorded


class Source:
    """A value as a term, the symbols it is a function of, and a name for it.

    ``given`` are the size letters that the user stated; the others were chosen here.  ``sizes`` are those of the
    arguments that the user gave, by letter.  ``star`` is what ``*`` was taken for between the matrices of a text that
    does not say so itself (:mod:`symgrad.formula.reading.people.stars`), and else None.
    """

    star: str | None = None

    def __init__(
        self,
        term: Term,
        symbols: Sequence[Term],
        name: str,
        reading: Reading | None = None,
        given: Iterable[Any] = (),
        sizes: dict[str, int] | None = None,
    ):
        self.term = term
        self.reading = reading
        self.symbols = list(symbols)
        self.name = name
        self.given = set(given)
        self.sizes = sizes or {}

    @property
    def chosen(self) -> list[str]:
        """The size letters that were chosen here, in the order of the symbols."""
        letters = dict.fromkeys(x for s in self.symbols for x in s.shape if isinstance(x, str))
        return [x for x in letters if x not in self.given]

    def resized(self, sizes: dict[str, Any]) -> Source:
        """The same value with other letters, or numbers, for its sizes."""
        term, *symbols = resized([self.term, *self.symbols], sizes)
        return self._with(Source(term, symbols, self.name, self.reading, self.given))

    def assuming(self, structures: dict[str, str]) -> Source:
        """The same value of symbols that have a structure, such as ``{"W": "symmetric"}``."""
        term, symbols = assuming(self.term, self.symbols, structures)
        return self._with(Source(term, symbols, self.name, self.reading, self.given, self.sizes))

    def _with(self, other: Source) -> Source:
        other.star = self.star
        return other

    def read_by_half(self) -> list[str]:
        """The matrices of which only one triangle is read (by ``eigvalsh``): they stand for symmetric ones."""
        users = (t for t in postorder([self.term]) if t.op.triangle)
        return list(dict.fromkeys(str(t.args[0].name) for t in users if t.args[0].op is SYMBOL))

    def target(self, wrt: Any) -> Term:
        """The symbol called ``wrt`` (or the tensor's)."""
        if isinstance(wrt, int) and not isinstance(wrt, bool) and 0 <= wrt < len(self.symbols):
            return self.symbols[wrt]
        if isinstance(wrt, Term) and wrt in self.symbols:
            return wrt
        return named(self.symbols, wrt)

    def derivative(self, wrt: Any) -> Term:
        """The derivative by ``wrt``; by each in turn for a tuple of names; the value itself for None."""
        names = () if wrt is None else wrt if isinstance(wrt, (tuple, list)) else (wrt,)
        term = self.term
        for name in names:
            target = self.target(name)
            term = jacobian(term, target) if term.shape else gradient(term, [target])[0]
        return with_signs(term) if names else term


def names_of(wrt: Any) -> Any:
    """What is asked about with names for tensors, in tuples too."""
    if isinstance(wrt, (tuple, list)):
        return tuple(map(names_of, wrt))
    return read(wrt)[1].name if isinstance(wrt, Recorded) else wrt


def named(symbols: Sequence[Term], name: Any, asked: str = "wrt") -> Term:
    """The symbol of that name.  Raises ``NameProblem`` where there is none."""
    for s in symbols:
        if s.name == name:
            return s
    if isinstance(name, str) and is_latex(name):
        asked_for = [word for _, word, _ in tokenize_latex(name).items]
        for s in symbols:
            if [word for _, word, _ in tokenize_latex(name_latex(str(s.name))).items] == asked_for:
                return s
    there = ", ".join(str(s.name) for s in symbols) or "none"
    identity = " I is read as the identity; state its shape, as in shapes='I=n,m', where it is not." * (name == "I")
    raise NameProblem(f"{asked}={name!r} is no array argument; there are {there}.{identity}")


def assuming(term: Term, symbols: Sequence[Term], structures: dict[str, str]) -> tuple[Term, list[Term]]:
    """A term and its symbols, some of which have a structure, such as ``{"W": "symmetric"}``."""
    made = {}
    for name, structure in structures.items():
        target = named(symbols, name, "assume")
        known = structure if structure in ASSUMED else known_structure(structure, ASSUMED)
        if known in ASSUMED and target.complex_dtype:
            raise ArgumentError(f"assume: {name} is a complex array; {known!r} is said of real ones.")
        made[target] = symbol(str(target.name), target.shape, target.dtype, known)
    if made:
        (term,) = substitute([term], made)
        term = with_signs(term)
    return term, [made.get(s, s) for s in symbols]


def source(of: Any, args: Sequence[Any] = (), shapes: Any = None, scalar: bool = False, star: str = PLACE) -> Source:
    """The term of a function (run on ``args``), of a recorded tensor, of a term, or of a text.

    ``shapes`` states the shapes of a text's or function's arguments; those that are missing are found by trying.
    ``scalar`` asks for shapes that give a number; ``star`` says what ``*`` means in a text that leaves it open.
    """
    known = _stated(shapes)
    if isinstance(of, Recorded):
        reading, term = read(of)
        return Source(term, reading.symbols, "f", reading, sizes=_sizes(reading))
    if isinstance(of, Term):
        return Source(of, symbols(of), "f")
    if isinstance(of, str):
        checked(of, "the function")
        try:
            return _of_plain_text(of, known, scalar, star) if leaves_open(of) else _of_text(of, known, scalar, star)
        except RecursionError:
            raise too_deep() from None
    if not callable(of):
        raise ArgumentError(f"of= is a function, a tensor or a text, not {type(of).__name__}.")
    if isinstance(getattr(of, "term", None), Term) and not args and not known:  # SymPy's, with the shapes stated there
        letters = {s for t in of.symbols for s in t.shape}
        return Source(one_entry(of.term) if scalar else of.term, of.symbols, of.__name__, given=letters)
    examples = () if args or known else getattr(of, "examples", ())  # of a program of JAX or torch
    args = args if None in examples else examples or args
    reading, term = run_on(of, tuple(args)) if args else run_on_examples(of, known, scalar)
    term = one_entry(term) if scalar else term
    name = getattr(of, "__name__", "")
    name = name if name.isidentifier() and len(name) < 20 else "f"
    given = {s for shape in known.values() for s in shape}
    return Source(term, reading.symbols, name, reading, given, _sizes(reading) if args else None)


def _stated(shapes: Any) -> Shapes:
    """Shapes as they are stated, by name."""
    return parse_shapes(shapes) if isinstance(shapes, str) else {k: tuple(v) for k, v in (shapes or {}).items()}


def refuse_numbers(about: Source, shapes: Any) -> None:
    """Raise ``FormulaError`` where a letter is stated for a size for which the formula has a number.

    A function that makes a plain number of a size has another formula at every size.
    """
    stated = _stated(shapes)
    pairs = [pair for t in about.symbols for pair in zip(stated.get(str(t.name), ()), t.shape, strict=False)]
    fixed = {letter: n for letter, n in pairs if isinstance(letter, str) and isinstance(n, int)}
    if fixed:
        texts = {name: ",".join(str(fixed.get(str(s), s)) for s in shape) for name, shape in stated.items()}
        raise FormulaError(
            f"the formula of {about.name} is another one at every size {', '.join(fixed)}: it makes a plain number of "
            "a size, as n // 2 is, or goes other ways; state numbers, as in "
            f'shapes="{" ".join(f"{name}={text}" for name, text in texts.items())}".'
        )


def one_entry(term: Term) -> Term:
    """The number that an array of one entry is, whose derivative is a gradient as that of a number is."""
    one = term.shape and set(term.shape) == {1}
    return as_term(lookup("squeeze")(term, dim=tuple(range(term.ndim)))) if one else term


def _sizes(reading: Reading) -> dict[str, int]:
    return {letter: n for n, letter in reading.letters.items()}


# ---------------------------------------------------------------------------------------------- texts

LONGEST = 6_000
"""Characters of a text that is read."""
WORK = 400_000
"""Characters that are read while shapes are looked for."""


def checked(text: Any, name: str) -> None:
    """Raise for a text that is too long to be a formula, or has nothing in it."""
    if isinstance(text, str) and not text.strip(" $"):
        raise FormulaError(f"{name} is an empty text; write it as on paper or in NumPy, such as 'sum((A@x - b)**2)'.")
    if isinstance(text, str) and len(text) > LONGEST:
        raise FormulaError(
            f"{name} is a text of {len(text):,} characters; formulas of up to {LONGEST:,} are read. Give long parts "
            "names, as in 'A.T @ r; r = A@x - b'."
        )


def too_deep() -> FormulaTooDeep:
    """The error of a text with too many brackets, fractions or signs inside of each other."""
    return FormulaTooDeep("the text nests too deeply; give its parts names, as in 'A.T @ r; r = A@x - b'.")


def _of_text(text: str, known: Shapes, scalar: bool, star: str) -> Source:
    for name in hints.primed(text):
        if len(known.get(name, ())) < 2:
            raise FormulaError(
                f"{name}' is the transpose of {name} here, which does not add to {name}; give the other array a "
                "name of its own, such as z."
            )
    hints.unread(text, known)
    sizes = {s for shape in known.values() for s in shape}
    ends = (limits(text) | defined(text) if is_latex(text) else set()) | headers(text)
    names = [n for n in names_in(text, known) if n not in (sizes | ends) or n in known]
    hints.unapplied(text, names, known)
    if "I" in names and "I" not in known and hints.has_identity(text):
        names.remove("I")
    names = list(dict.fromkeys([*names, *known]))
    made = [n for n in hints.sizes(text, names) if n not in known]
    names = [n for n in names if n not in made]
    unknown = [n for n in names if n not in known]
    known = known | {f"what has the size {n}": (n,) for n in [*made, *hints.numbers(text)]}

    def attempt(shapes: Shapes) -> tuple[bool, Reached]:
        try:
            term = read_function(text, shapes, star)
        except (ShapeError, ProductMisfit, IndexError) as error:  # the last one of an axis that is not there
            return False, reached(position(error), error)
        except NameProblem as error:
            found = re.search(r"\\?([A-Za-z]+)_\S+ is no symbol", str(error))
            if found is None or found[1] not in names:  # else it is for want of an axis, as x_i of a number x
                raise
            return False, reached(position(error), error)
        term = one_entry(term) if scalar else term
        return not scalar or term.shape == (), Reached(math.inf if term.shape == () else 1e9 - len(term.shape))

    budget = max(20, min(TRIALS, WORK // (1 + len(text))))
    shapes = (
        infer_shapes(list(dict.fromkeys([*names, *known])), attempt, known, hints.ranks(text), budget)
        if unknown
        else known
    )
    term = read_function(text, shapes, star)
    return Source(one_entry(term) if scalar else term, [symbol(n, shapes[n]) for n in names], "f", given=sizes)


def _of_plain_text(text: str, known: Shapes, scalar: bool, star: str) -> Source:
    """The value of a text with ``*``: as its place says, or where no shapes fit then as one that fits."""
    refusal: Exception | None = None
    for meaning in (star, *((ENTRIES, PRODUCTS) if star == PLACE else ())):
        try:
            found = _of_text(text, known, scalar, meaning)
        except (ShapeError, ProductMisfit) as error:
            refusal = refusal or error
            continue
        found.star = meaning
        return found
    raise refusal  # type: ignore[misc]


__all__ = ["Source", "is_latex", "names_in", "read_function", "source"]
