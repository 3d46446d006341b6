"""The ways in which a text can be meant, in the order in which they are tried."""

from __future__ import annotations

import functools
import math
import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any, NamedTuple

from symgrad.errors import FormulaError, NameProblem, ShapeError, SymgradError
from symgrad.formula.printing.names import GREEK, GREEK_LETTERS, name_latex
from symgrad.formula.reading.misfits import ProductMisfit
from symgrad.formula.reading.people.clauses import Side, sides
from symgrad.formula.reading.people.dialects import MATLAB, language, plain, recycles
from symgrad.formula.reading.people.names import stand_ins
from symgrad.formula.reading.people.stars import ENTRIES, FITTING
from symgrad.formula.reading.people.tex import Inner, read_latex, read_latex_inner
from symgrad.formula.reading.people.text import is_numpy, read_matrices, read_numpy, sides_of, split_definition
from symgrad.formula.reading.people.tokens import tokenize
from symgrad.formula.reading.unicode import from_unicode
from symgrad.formula.sampling import shape_at
from symgrad.formula.term import Term, postorder, substitute, symbol
from symgrad.judging.languages import refuse_other_meanings
from symgrad.sources import is_latex
from symgrad.sources.asked import too_deep


class Reading(NamedTuple):
    """A way to read a text: a word on it, the function that reads, and whether it is tried where another one worked.

    ``numpy`` says that it is NumPy's own, ``starred`` that ``*`` is the matrix product in it.
    """

    note: str
    read: Callable[[], Inner]
    also: bool = False
    numpy: bool = False
    starred: bool = False


class Read(NamedTuple):
    """What a reading gave."""

    note: str
    term: Term
    cut: tuple[slice, ...] | None
    also: bool
    row: bool = False
    numpy: bool = False
    starred: bool = False
    ends: tuple[tuple[str, Any], ...] = ()


MISFITS = {
    "entrywise": ("hadamard", "⊙, the product entry by entry, is needed where the text has a matrix product."),
    "left": ("transpose", "A transpose is missing on the left of a product."),
    "right": ("transpose", "A transpose is missing on the right of a product."),
    "swapped": ("order", "The factors of a product stand in the wrong order."),
}


def table_of(symbols: Sequence[Term]) -> dict[str, Term]:
    """The symbols by name; ``λ`` and ``lambda`` may stand for ``lam``, ``x0`` for ``x_0``, and so on."""
    return {str(s.name): s for s in symbols}


def result_named(given: Any, about: Any) -> tuple[Term, str] | None:
    r"""A symbol for the result, and the text with it: ``s`` in ``\partial s / \partial x = s(1-s)`` or ``s' = …``.

    A header names it, else it is the function's own name: ``f`` in ``f(1-f)``, or ``-x f(x)``, where that is no symbol.
    """
    if not isinstance(given, str):
        return None
    table = table_of(about.symbols)
    left, sign, right = given.partition("=")
    found = next(filter(None, (re.search(pattern, left) for pattern in _OF_RESULT)), None) if sign else None
    if found is not None and re.search(rf"(?<![a-zA-Z]){re.escape(found[1])}\s*=", right):
        return None
    alone = None if sign else headed(left)
    if alone and alone not in table:
        return None  # a header, which is no formula
    name = about.name if found is None else found[1].removeprefix("\\")
    if not name or name in table:
        return None
    spelled = {name, name_latex(name), GREEK_LETTERS.get(name, name)}
    result, names = ("|".join(map(re.escape, sorted(x))) for x in (spelled, {*table, *map(name_latex, table)}))
    power = r"\s*(\^\s*(?:\{[^{}]*\}|\d))?\s*"
    called = (
        rf"(?:(?<![\w\\])|(?=\\))(?:{result}){power}(?:\\left)?\(\s*(?:{names})(?:\s*,\s*(?:{names}))*\s*(?:\\right)?\)"
    )
    text = re.sub(called, lambda call: f" {name_latex(name) if is_latex(given) else name}{call[1] or ''} ", given)
    return symbol(name, about.term.shape, about.term.dtype), text


def functions_named(given: Any, about: Any) -> Iterator[tuple[str, str]]:
    r"""Texts in which a letter that is called is the one function of the value: ``\phi'(Wx)`` beside tanh, with a word.

    Without a prime only activations are meant so: other functions have names that everybody writes.
    """
    ops = {t.op.name for t in postorder([about.term]) if t.op.kind == "elementwise" and len(t.args) == 1}
    ops -= {"neg", "square", "abs", "sqrt", "reciprocal"}
    if not isinstance(given, str) or len(ops) != 1 or headed(given):  # which says nothing but the question
        return
    (name,) = ops
    table = table_of(about.symbols)
    z = next(x for x in "zuvts_" if x not in table)
    latex = is_latex(given)
    for letter, prime in dict.fromkeys(_CALLED_LETTER.findall(given)):
        spelled = letter.removeprefix("\\")
        free = spelled not in table and GREEK_LETTERS.get(spelled, spelled) not in table
        if free and name != "sigmoid" * (spelled in ("sigma", "σ")) and (prime or name in _ACTIVATIONS):
            function = rf"\operatorname{{{name}}}" if latex else name
            yield f"{given}, {letter}({z}) = {function}({z})", f"{letter} is read as {name}."


_CALLED_LETTER = re.compile(
    r"(\\(?:phi|varphi|psi|sigma|rho|eta)|(?<![\w\\])(?:phi|varphi|psi|sigma|rho|eta|[φϕψσρηfgh]))(?![a-zA-Z])"
    r"(\s*(?:'|′|\^\s*\{?\s*\\prime\}?))*\s*(?:\\left|\\[bB]igg?l?)?\("
)
_ACTIVATIONS = ("sigmoid", "tanh", "relu", "softplus", "gelu", "silu", "elu", "selu", "leaky_relu")


def headed(text: str) -> str:
    """The name of a derivative where a text is nothing else, as ``s'(x)``; empty for others."""
    found = next(filter(None, (re.fullmatch(pattern + _CALLED, text.strip()) for pattern in _OF_RESULT)), None)
    return found[1].removeprefix("\\") if found else ""


def is_header(text: str) -> bool:
    r"""Whether a side of an equation only names the derivative: ``s'(x)``, or a letter with arguments, ``\psi(x)``."""
    letter = _LETTER_CALLED.fullmatch(text)
    return bool(headed(text)) or (letter is not None and (len(letter[1]) == 1 or letter[1][1:] in GREEK))


_LETTER_CALLED = re.compile(r"\s*(\\?[^\W\d_]+)\s*(?:\\left)?\([^()]*\)\s*")
_OF_RESULT = (
    r"(?:\\partial|∂|(?<![a-zA-Z\\])d)\s*(\\?[^\W\d_]+)",
    r"^\s*\\dot\s*\{?\s*(\\?[a-zA-Z]+)",
    r"^\s*(\\?[^\W\d_]+)\s*(?:'|′|\^\s*\{?\\prime)",
)
"""Headers that name the result: ``∂s/∂x``, ``\\dot{s}``, ``s'``."""
_CALLED = r"[}\s]*(?:\([^()]*\)\s*)?"
"""What may be behind one: ``(x)`` in ``s'(x)``."""


def readings(given: Any, symbols: Sequence[Term], shape: tuple[Any, ...], open_star: bool = False) -> list[Reading]:
    """Functions that give the term of what a person wrote, with a word on each way of reading it.

    ``open_star`` says that the text of the function leaves open what ``*`` means, too.
    """
    table = table_of(symbols)
    if isinstance(given, Term):
        return [Reading("", lambda: Inner(given))]
    if not isinstance(given, str):
        return _of_sympy(given, table, shape)
    if is_latex(given):
        return _of_latex(given, table, shape)
    refuse_other_meanings(given, table)
    text = split_definition(plain(given, table))
    sure = language(given) == MATLAB  # of what * is
    matlab = sure or (_OF_MATLAB.search(text) is not None and not is_numpy(text))  # where * is the matrix product
    by_rows = language(given) != "" or matlab or (recycles(given) and not is_numpy(given))
    rows = {"rows": by_rows, "solves": sure or "∖" in text}  # as in R and MATLAB
    ways = [] if sure else [Reading("", lambda: Inner(read_numpy(text, table, rows=by_rows)), numpy=True)]
    inverse = "**(-1)" in text.replace(" ", "")  # as SymPy prints inverses
    paper = [] if is_numpy(text) else _others(_OTHERS_IN_PLAIN, text, table)
    letters = [name_latex(x) for x in _LETTERS.findall(text)]
    others = [
        ({}, "", False),
        *((o, n, True) for o, n in _with_names(letters, table, [*paper, *_identities(text, table)])),
    ]
    stars = (True,) if sure else (True, False) if matlab else (False, True)
    for starred in stars if sure or ("*" in text and not is_numpy(text)) else (False,):
        for options, note, also in others:
            star = FITTING if starred else ENTRIES
            read = functools.partial(read_matrices, text, table, shape, star, **options, **rows)
            said = starred and not (open_star or matlab)
            words = "; ".join([n for n in (note, "* and ** are read as those of matrices" * said) if n])
            also_starred = also or ((inverse or open_star) and starred)
            ways.append(
                _in_paper(read, f"{words}." if words else "", also_starred, starred and not (inverse or matlab))
            )
    if not is_numpy(text):
        ways += _of_one_entry(text, table, shape, functools.partial(read_matrices, text, star=ENTRIES))
    indexed = _with_indices(text, table)
    if indexed != text:
        ways += _of_latex(indexed, table, shape)
    if re.search(r"[a-zA-Z]_\w", text):  # LaTeX without braces, as in e_1
        ways += [way._replace(also=True) for way in _of_latex(text, table, shape)]
    if not text.isascii():
        ways.append(Reading("", lambda: Inner(from_unicode(text, table, shape))))
    return ways


_OF_MATLAB = re.compile(r"(?<=[\w)\]])\.?'|\.[*/^]|∖")
"""A transpose, a sign with a point, or a division from the left."""

_LETTERS = re.compile(r"[\u0370-\u03ff]|[a-zA-Z]+")
"""Greek letters, and words, which may be their names."""


def _with_indices(text: str, table: dict[str, Term]) -> str:
    """A text with ``A_{ij}`` for ``A[i, j]``, where the letters are neither symbols nor sizes."""
    taken = {*table, *(str(size) for s in table.values() for size in s.shape)}

    def written(found: re.Match[str]) -> str:
        letters = re.findall(r"[a-z]", found[1])
        return found[0] if taken & set(letters) else f"_{{{''.join(letters)}}}"

    return re.sub(r"(?<=[\w)\]])\[\s*([a-z](?:\s*,\s*[a-z])*)\s*\]", written, text)


def _in_paper(read: Callable[[], Term], note: str, also: bool, starred: bool) -> Reading:
    return Reading(note, lambda: Inner(read()), also, starred=starred)


_SOLIDUS = (r"/[^+*]*[\w)}]\s*[\w\\({]", {"solidus": True}, "what stands after / is divided by up to the next sign")
_LOOSE = (r"\\otimes|⊗", {"loose": True}, "⊗ is read as taken of the products beside it")
_EULER = (r"(?<![a-zA-Z\\])e\s*(\^|\*\*)", {"euler": True}, "e with an exponent is read as the exponential")
_ONE = (r"(?<![\d.])1(?![\d./])", {"numbers": True}, "1 is read as the number")
_LENGTHS = (r"\^\s*\{?\s*2|²", {"lengths": True}, "the square of a vector is read as that of its length")
_BARS = (r"\||\\[lr]?vert", {"bars": "norm"}, "|x| is read as the norm")
_OTHERS_IN_PLAIN = (
    (r"(?<!\w)(exp\(|e\s*\^|e\s*\*\*)", {"expm": True}, "exp of a matrix is read as the matrix exponential"),
    _SOLIDUS,
    _LOOSE,
    _EULER,
    _ONE,
    _LENGTHS,
    _BARS,
)
_OTHERS = (
    _SOLIDUS,
    _LOOSE,
    _EULER,
    _ONE,
    _LENGTHS,
    _BARS,
    (
        r"\\(log|ln|exp|sin|cos|tan|sinh|cosh|tanh|sec|csc|cot)(?![a-zA-Z])",
        {"narrow": True},
        "functions are read as those of the one factor after them",
    ),
    (r"\||\\[lr]?vert", {"bars": "abs"}, "|X| is read as absolute values"),
    (r"_\s*(\{\s*)?\\?[a-z]", {"repeated": True}, "an index that stands twice in a product is summed"),
    (r"_\s*(\{\s*)?[a-z]", {"columns": True}, "x_i is read as column i of X"),
    (r"[a-z]\}?_\s*(\{\s*)?[a-z]", {"capitals": True}, "x_i is read as row i of X, though there is x"),
    (r"_\s*\{\s*[a-z]\s*[+-]", {"cyclic": True}, "indices such as i+1 are read as cyclic"),
    (
        r"\\(mathbb|mathbf|bm|boldsymbol)\s*(\{\s*1\s*\}|1)",
        {"unit": True},
        "the bold 1 is read as the identity",
    ),
    (r"e\s*\^|\\exp", {"expm": True}, "the exponential of a matrix is read as the matrix exponential"),
    (r"\\bar", {"means": True}, "a bar is read as the mean"),
    (r"(?<![a-zA-Z\\_])[ij](?![a-zA-Z])", {"imaginary": True}, "i or j is read as the imaginary unit"),
    (r"\\dagger", {"pseudo": True}, "† is read as the pseudo-inverse"),
    (r"(?<![a-zA-Z\\{])e(?![a-zA-Z^_}])", {"ones": True}, "e is read as the vector of ones"),
)
"""What else some notations can mean: a pattern of the text, the option of the reader, and a word on it."""


def _others(
    ways: Sequence[tuple[str, dict[str, Any], str]], text: str, table: dict[str, Term]
) -> Iterator[tuple[dict[str, Any], str]]:
    """The other ways to read what a text has in it."""
    for pattern, options, note in ways:
        both = any(name.lower() in table for name in table if name.isupper() and table[name].ndim > 1)
        if (
            re.search(pattern, text)
            and ("euler" not in options or "e" in table)
            and ("capitals" not in options or both)
        ):
            yield options, note


def _of_latex(given: str, table: dict[str, Term], shape: tuple[Any, ...]) -> list[Reading]:
    def way(note: str, options: dict[str, Any]) -> Reading:
        return Reading(f"{note}." if note else "", lambda: read_latex_inner(given, table, shape, **options), bool(note))

    others = [*_others(_OTHERS, given, table), *_identities(given, table)]
    tokens = [text for _, text, _ in tokenize(given).items]
    one = functools.partial(read_latex, given)
    ways = [way("", {}), *(way(note, options) for options, note in _with_names(tokens, table, others))]
    return [*ways, *_of_one_entry(given, table, shape, one)]


def _of_one_entry(
    given: str, table: dict[str, Term], shape: tuple[Any, ...], read: Callable[[dict[str, Term]], Term]
) -> Iterator[Reading]:
    """The reading of a text without signs of vectors as one about an entry: ``r(1 - r^2)`` where r is a vector."""
    vectors = {name: t for name, t in table.items() if len(shape) == 1 and t.shape == shape}
    if not vectors or _OF_WHOLE.search(given):
        return
    numbers = {name: symbol(name, (), t.dtype) for name, t in vectors.items()}
    known = {name: t for name, t in table.items() if not t.ndim} | numbers

    def whole() -> Inner:
        try:
            found = read(known)
        except _UNREADABLE:
            raise FormulaError("no formula of one entry") from None  # the other readings say where
        return Inner(substitute([found], {numbers[name]: t for name, t in vectors.items()})[0])

    yield Reading(f"the text is read for each entry of {', '.join(vectors)}.", whole, also=True)


_OF_WHOLE = re.compile(
    r"\\(?:top|intercal|mathsf|mathrm\{T|text\{T|cdot|lVert|\||sum|prod|langle|odot|operatorname\{(?:tr|diag))|\^\s*\{?\s*[T⊤]"
    r"|['@∑‖ᵀ]|\|\||\\lvert\s*\||\b(?:sum|dot|norm|tr|trace|mean)\b"
)
"""Signs that only vectors and matrices have."""


def _with_names(
    tokens: Sequence[str], table: dict[str, Term], others: Sequence[tuple[dict[str, Any], str]]
) -> Sequence[tuple[dict[str, Any], str]]:
    """The other ways to read a text, each also with the symbols that its Greek letters stand for."""
    named = stand_ins(tokens, table)
    if not named:
        return others
    note = ", ".join(f"{text} is read as {name}" for text, name in named.items())
    return [
        ({"named": named}, note),
        *(({"named": named, **o}, f"{note}; {n}") for o, n in others),
        *others,
    ]


def _identities(given: str, table: dict[str, Term]) -> Iterator[tuple[dict[str, Any], str]]:
    """The sizes that I may have beside a Kronecker sign or a matrix of ones, where nothing else tells it."""
    if re.search(r"\\otimes|⊗|kron|1\W*(?:\\\w+)?\W*1|𝟏|𝟙", given) and re.search(
        r"(?<![a-zA-Z\\])I(?![a-zA-Z_])|\\mathbf\s*\{?\s*I", given
    ):
        for size in dict.fromkeys(size for s in table.values() for size in s.shape):
            yield {"eye": size}, f"I is read as I_{size}"


def _of_sympy(given: Any, table: dict[str, Term], shape: tuple[Any, ...]) -> list[Reading]:
    import sympy as sp

    from symgrad.formula.sympy.terms import from_sympy_expr

    expr = given if isinstance(given, (sp.Basic, sp.MatrixBase)) else sp.sympify(given)
    if isinstance(expr, (sp.MatrixExpr, sp.MatrixBase)) or getattr(expr, "atoms", lambda *_: ())(sp.MatrixSymbol):
        return [Reading("", lambda: Inner(read_matrices(str(expr), table, shape)))]
    unknown = sorted(s.name for s in expr.free_symbols if s.name not in table and not _is_size(s, table))
    if unknown:
        raise NameProblem(f"{unknown[0]!r} is no symbol here; the symbols are {', '.join(sorted(table))}.")
    return [Reading("", lambda: Inner(from_sympy_expr(expr, table.values())))]


def _is_size(s: Any, table: dict[str, Term]) -> bool:
    return any(s.name == size for t in table.values() for size in t.shape)


def read_first(
    ways: Sequence[Reading], shape: tuple[Any, ...], numpy: bool = False
) -> tuple[list[Read], Exception | None]:
    """The terms of all readings that work, those of the wanted shape first, and the most telling error.

    Of a text that is ``numpy``'s no other reading is tried where its shapes do not fit.
    """
    found: list[Read] = []
    errors: list[Exception] = []
    for way in ways:
        try:
            inner = way.read()
            _check_arrays(inner.term)
        except _UNREADABLE as error:
            errors.append(too_deep() if isinstance(error, RecursionError) else error)
            if way.numpy and numpy and is_misfit(error):
                break
            continue
        if all(inner.term is not other.term for other in found):
            cut = inner.cut if inner.cut is None or len(inner.cut) == len(shape) else None
            found.append(Read(way.note, inner.term, cut, way.also, inner.row, way.numpy, way.starred, inner.ends))
    found.sort(key=lambda entry: entry.term.shape != shape and entry.cut is None)
    return found, max(reversed(errors), key=_weight) if errors else None


_UNREADABLE = (SymgradError, ValueError, TypeError, KeyError, IndexError, ArithmeticError, RecursionError)
"""What readers raise at texts that are no formulas."""

LARGEST = 10**6
"""Entries of an array in a text, where the letters for sizes are small."""


def _check_arrays(term: Term) -> None:
    """Raise for a text with arrays that are too large to look at."""
    sizes: dict[str, int] = defaultdict(lambda: 3)
    for t in postorder([term]):
        if t.ndim and math.prod(shape_at(t, sizes)) > LARGEST:
            raise FormulaError(f"the text has an array of shape {t.shape}, which is too large to look at its entries.")


def _weight(error: Exception) -> tuple[bool, bool, int, bool]:
    """A text that stops too early has no shapes yet; of others a misfit tells most, then what was read farthest."""
    place = re.search(r"position (\d+)", str(error))
    stopped = not is_misfit(error) and re.search(r"the text ends too early|'[)\]}]' is missing", str(error)) is not None
    return stopped, is_misfit(error), int(place[1]) if place else -1, isinstance(error, NameProblem)


def chained(given: Any, symbols: Sequence[Term], variables: Container[str] = ()) -> list[Side]:
    """The sides of a chain ``header = a = b`` but for the last, each with the definitions; empty without a chain."""
    if not isinstance(given, str):
        return []
    try:
        if is_latex(given):
            return sides(tokenize(given), table_of(symbols))
        return sides_of(plain(given, table_of(symbols)), symbols, variables)
    except FormulaError:
        if is_latex(given):
            raise
        return []  # reading says where
    except RecursionError:
        raise too_deep() from None


def repaired(given: str, symbols: Sequence[Term], shape: tuple[Any, ...]) -> list[tuple[str, Term]]:
    """What a text whose shapes do not fit would be with one kind of repair, as (repair, term)."""
    table = table_of(symbols)
    out = []
    for misfit in MISFITS:
        try:
            if is_latex(given):
                term = read_latex(given, table, shape, misfit=misfit)
            else:
                term = read_matrices(split_definition(given), table, shape, misfit=misfit)
        except _UNREADABLE:
            continue
        out.append((misfit, term))
    return out


def is_misfit(error: Exception | None) -> bool:
    """Whether an error says that shapes do not fit, rather than that the text cannot be read."""
    return isinstance(error, (ProductMisfit, ShapeError))


__all__ = ["MISFITS", "FormulaError", "is_misfit", "read_first", "readings", "repaired", "symbol", "table_of"]
