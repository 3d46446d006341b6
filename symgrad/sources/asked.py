"""What a formula is asked about: a function, a tensor or a text becomes a term over named symbols."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Container, Iterable, Sequence
from typing import Any

from symgrad.errors import ArgumentError, FormulaError, FormulaTooDeep, NameProblem, ShapeError
from symgrad.formula.derive import gradient, jacobian
from symgrad.formula.printing.names import GREEK, name_latex
from symgrad.formula.reading.misfits import ProductMisfit
from symgrad.formula.reading.people.atoms import CONDITIONS
from symgrad.formula.reading.people.clauses import Clauses
from symgrad.formula.reading.people.functions import FUNCTIONS
from symgrad.formula.reading.people.indices import SUMS
from symgrad.formula.reading.people.names import CALLED
from symgrad.formula.reading.people.paper import small
from symgrad.formula.reading.people.stars import ENTRIES, PLACE, PRODUCTS
from symgrad.formula.reading.people.text import (
    MODULES,
    is_latex,
    leaves_open,
    may_be_bare,
    position,
    read_function,
    tokenize,
)
from symgrad.formula.reading.people.tokens import ACCENTS, LETTERS_TURNED, OPERATORS, TURNED
from symgrad.formula.reading.people.tokens import tokenize as tokenize_latex
from symgrad.formula.reading.text import ALIASES, CONSTANTS
from symgrad.formula.resizing import resized
from symgrad.formula.signs import ASSUMED, with_signs
from symgrad.formula.structures import known_structure
from symgrad.formula.term import SYMBOL, Term, as_term, postorder, substitute, symbol, symbols
from symgrad.op import FRONTS, TABLE, lookup
from symgrad.sources import hints
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
    known = parse_shapes(shapes) if isinstance(shapes, str) else {k: tuple(v) for k, v in (shapes or {}).items()}
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
    """Raise for a text that is too long to be a formula."""
    if isinstance(text, str) and len(text) > LONGEST:
        raise FormulaError(
            f"{name} is a text of {len(text):,} characters; formulas of up to {LONGEST:,} are read. Give long parts "
            "names, as in 'A.T @ r; r = A@x - b'."
        )


def too_deep() -> FormulaTooDeep:
    """The error of a text with too many brackets, fractions or signs inside of each other."""
    return FormulaTooDeep("the text nests too deeply; give its parts names, as in 'A.T @ r; r = A@x - b'.")


def names_in(text: str, known: Container[str] = ()) -> list[str]:
    """The names of a text that must be symbols, in order of appearance; those of ``known`` are some already."""
    if is_latex(text):
        return _latex_names(text, known)
    tokens = tokenize(text, known).items
    found = []
    euler = _is_euler(tokens)
    below = [low for sign, low in itertools.pairwise(tokens) if sign[1] in ("∑", "∏")]
    summed = {small(text).removeprefix("_") for kind, text, _ in below if kind == "lowered" or text[0] == "_"}
    for k, (kind, name, place) in enumerate(tokens):
        if kind == "raised":
            found += [c for c in small(name) if c.islower() and c not in {*LETTERS_TURNED, *summed}]
        if (
            kind != "name"
            or name in summed
            or (name == "e" and euler)
            or _is_part(text, tokens, k)
            or _is_function(tokens, k)
        ):
            continue
        if name in _WORDS_OF_PYTHON:
            raise _misplaced(text, place, f"{name!r} is a word of Python; {_CASES}")
        if name in _NEVER_NAMES:
            raise _misplaced(text, place, f"{name!r} is a function, whose argument is missing; write {name}(x)")
        stem, _, index = name.partition("_")
        entry = index in summed or (stem in known and name not in known and index.isalnum())
        found += _letters(stem if stem and entry else name)
    return list(dict.fromkeys(found))


Items = Sequence[tuple[str, str, int]]
_CASES = "a case distinction is written where(x > 0, a, b)"
_WORDS_OF_PYTHON = {"if", "else", "elif", "for", "while", "import", "def", "in", "is", "try", "with", "yield", "class"}
_NEVER_NAMES = ("exp", "log", "ln", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt", "arcsin", "arccos", "arctan")
"""Functions that no symbol is called like."""


def _misplaced(text: str, place: int, problem: str) -> FormulaError:
    return FormulaError(f"cannot read the formula at position {place}: {problem}\n    {text}\n    {' ' * place}^")


def _is_part(text: str, tokens: Items, k: int) -> bool:
    """Whether a name belongs to its neighbours: a method, a keyword, a module, an index (``_F``) or a transpose."""
    _, name, place = tokens[k]
    before = tokens[k - 1][1] if k else ""
    following = tokens[k + 1][1] if k + 1 < len(tokens) else ""
    index = name[0] == "_" and place > 0 and (text[place - 1].isalnum() or text[place - 1] in ")]|‖∥∑∏")
    known = name in MODULES | CONSTANTS.keys() - {"I"} | {"None"}
    return before == "." or following == "=" or known or index or (name == "T" and before in ("^", "**"))


def _is_function(tokens: Items, k: int) -> bool:
    """Whether a name stands before its argument, which has brackets or is one word: ``f(x)``, ``σ'(x)``, ``sin x``."""
    name, after = tokens[k][1], tokens[k + 1 :]
    signs = "".join(text for _, text, _ in after[:2])
    known = any(name in names for names in (TABLE, FRONTS, OPERATORS, FUNCTIONS, ALIASES))
    greek = name_latex(name)[1:]
    if greek in CALLED and (signs[:1] == "(" or signs == "'("):
        return True
    if signs[:1] == "(" and (known or len(name) > 1):
        return True
    return (known or name == "tr") and may_be_bare(name) and greek not in GREEK and _is_applied(after)


def _is_euler(tokens: Items) -> bool:
    """Whether ``e`` is a number: it has an exponent everywhere, which is neither a number nor a transpose."""
    places = [k for k, (_, name, _) in enumerate(tokens) if name == "e"]
    return all(_raises_e(*tokens[k + 1 : k + 3]) for k in places)


def _raises_e(sign: tuple[str, str, int] = ("", "", 0), exponent: tuple[str, str, int] = ("", "", 0)) -> bool:
    """Whether the tokens after an ``e`` are such an exponent."""
    if sign[0] == "raised":
        return any(c.islower() for c in small(sign[1]))
    kind, text, _ = exponent
    return sign[1] in ("^", "**") and (kind == "name" or text in ("(", "-", "{")) and text not in ("T", "H")


def _is_applied(after: Items) -> bool:
    """Whether an operand stands behind the name of a function without brackets, as in ``sin x`` and ``sin²(x)``."""
    k = 0
    if after and after[0][1] in ("^", "**"):
        k = 3 if [text for _, text, _ in after[1:2]] == ["-"] else 2
    elif after and (after[0][0] in ("raised", "lowered") or after[0][1][0] == "_"):
        k = 1
    kind, sign, _ = after[k] if k < len(after) else ("", "", 0)
    return kind in ("name", "number") or sign in _OPENS or (k > 0 and sign == "(")


_OPENS = ("|", "||", "‖", "∥", "√", "∛", "∑", "∏")
"""Signs with which an operand begins."""


def _letters(name: str) -> list[str]:
    """A name, or the letters of a product such as ``Ax`` written without a sign."""
    product = (
        name.isalpha() and 1 < len(name) <= 3 and any(c.isupper() for c in name) and name_latex(name)[1:] not in GREEK
    )
    return list(name) if product else [name]


_LATEX_WORDS = {"e", "I", "i", "d"}


def _latex_names(text: str, known: Container[str] = ()) -> list[str]:
    """The letters of LaTeX that are symbols; subscripts belong to their names, unless they are indices of sums.

    What stands before a subscript may be an array that is ``known``, whose entry it is then.
    """
    found = []
    items = tokenize_latex(text).items
    words = [word for _, word, _ in items]
    summed = _summed_letters(words)
    bold = hints.bold(text)
    numbers = {r"\pi"} if _is_number_pi(words, bold) else set()
    k = 0
    while k < len(items):
        kind, word, _ = items[k]
        k += 1
        if word == "_":
            end = next((j for j in range(k, len(items)) if words[j] == "}"), len(items))
            indicates = words[k - 2] not in SUMS and any(x in CONDITIONS for x in words[k:end])
            k = k if indicates else end
            continue
        if word in ACCENTS:
            accented = _accented(words, k - 1)
            if accented:
                k += 3
                found.append(accented + _below(items, k, summed))
            continue
        called = k < len(items) and items[k][1] == "(" and _is_called(words, word)
        if word in numbers:
            continue
        if word[1:] in GREEK and not called and not (word == r"\delta" and k < len(items) and items[k][1] == "_"):
            found.append(word[1:] if word[1:] in known else word[1:] + _below(items, k, summed))
        elif kind == "char" and len(word) == 1 and word.isalpha() and word not in summed and not called:
            below = _below(items, k, summed)
            following = words[k] if k < len(words) else ""
            differential = following[:1].isalpha() or following[1:] in GREEK
            word_of_signs = word in _LATEX_WORDS and word not in bold - {"I"} and (word != "d" or differential)
            if word_of_signs or _is_transpose(words, k - 1):
                continue
            found.append(word if word in known and word + below not in known else word + below)
    return list(dict.fromkeys(found))


def _is_number_pi(words: Sequence[str], bold: set[str]) -> bool:
    r"""Whether ``\pi`` is 3.14…: it is neither bold nor transposed, and has no index."""
    after = [words[k + 1 : k + 4] for k, word in enumerate(words) if word == r"\pi"]
    return "pi" not in bold and not any(x[:1] == ["_"] or (x[:2] == ["^", "{"] and x[-1] in TURNED) for x in after)


def _is_transpose(words: Sequence[str], k: int) -> bool:
    """Whether a letter is the sign of a transpose, ``A^T`` or ``A^{-T}``."""
    before = words[max(0, k - 3) : k]
    return words[k] in LETTERS_TURNED and (before[-2:] == ["^", "{"] or before == ["^", "{", "-"])


def _accented(words: Sequence[str], k: int) -> str:
    r"""The name of ``\hat{y}``; empty where it is none, as in the mean ``\bar{x}`` of entries ``x_i``."""
    inner = words[k + 2 : k + 4]
    if (
        words[k + 1 : k + 2] != ["{"]
        or len(inner) < 2
        or inner[1] != "}"
        or not (inner[0].isalpha() or inner[0][1:] in GREEK)
    ):
        return ""
    entries = any(words[j] == inner[0] and words[j + 1] == "_" for j in range(len(words) - 1))
    return "" if words[k] == r"\bar" and entries else f"{inner[0].lstrip(chr(92))}_{words[k][1:]}"


def _is_called(words: Sequence[str], word: str) -> bool:
    r"""Whether a letter is a function: ``\sigma(``, and ``\Gamma`` or ``\Phi`` that stand before brackets only."""
    if word == r"\sigma":
        return True
    places = [k for k, found in enumerate(words) if found == word]
    if word == "B":  # the beta function has two arguments
        return all(
            words[k + 1 : k + 2] == ["("] and "," in words[k : words.index(")", k) if ")" in words[k:] else k]
            for k in places
        )
    return word.lstrip("\\") in CALLED and all(words[k + 1 : k + 2] in (["("], ["'"]) for k in places)


def _limits(text: str) -> set[str]:
    r"""The letters up to which sums run: ``n`` of ``\sum_{i=1}^{n}`` is the size of what has the index ``i``."""
    return set(
        re.findall(
            r"\\(?:sum|prod)(?:\\limits)?\s*_\s*\{\s*[a-z]\s*=\s*1\s*\}\s*\^\s*\{?\s*([A-Za-z])\s*(?:\}|(?![A-Za-z]))",
            text,
        )
    )


def _defined(text: str) -> set[str]:
    r"""The names that a text defines: ``r`` of ``r^T r, \quad r = Ax - b``."""
    tokens = tokenize_latex(text.strip())
    definitions = Clauses(tokens, {}).definitions if tokens.items else []
    return {name for left, _ in definitions for name in _latex_names(" ".join(word for _, word, _ in left))}


def _headers(text: str) -> set[str]:
    r"""What a text only gives its value to: ``L`` of ``L(w) = w^\top w``."""
    tokens = tokenize_latex(text.strip()) if is_latex(text) else tokenize(text)
    sides = Clauses(tokens, {}).parts if tokens.items else []
    heads = {side[0][1] for side in sides[:-1] if side and [i[1] for i in side[1:2]] in ([], ["("])}
    return {head.lstrip("\\") for head in heads - {word for _, word, _ in sides[-1]}} if heads else set()


def _below(items: Sequence[tuple[str, str, int]], k: int, summed: set[str]) -> str:
    r"""What a subscript at ``k`` adds to a name: ``_k``, ``_eq`` of ``_{\text{eq}}``, nothing for an index of sums."""
    if k + 3 >= len(items) or items[k][1] != "_" or items[k + 3][1] != "}":
        return ""
    below = items[k + 2][1].removeprefix(r"\operatorname{").removesuffix("}")
    return f"_{below}" if below.isalnum() and below not in summed else ""


def _summed_letters(words: list[str]) -> set[str]:
    """The index letters below the sum signs of LaTeX."""
    found: set[str] = set()
    for k, word in enumerate(words):
        if word in SUMS and words[k + 1 : k + 2] == ["_"]:
            for inner in words[k + 3 :]:
                if inner in ("}", "="):
                    break
                found.add(inner)
    return found


def _of_text(text: str, known: Shapes, scalar: bool, star: str) -> Source:
    for name in hints.primed(text):
        if len(known.get(name, ())) < 2:
            raise FormulaError(
                f"{name}' is the transpose of {name} here, which does not add to {name}; give the other array a "
                "name of its own, such as z."
            )
    hints.unread(text, known)
    sizes = {s for shape in known.values() for s in shape}
    ends = (_limits(text) | _defined(text) if is_latex(text) else set()) | _headers(text)
    names = [n for n in names_in(text, known) if n not in (sizes | ends) or n in known]
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
