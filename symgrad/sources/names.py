"""The names of a text that must be symbols: neither functions nor numbers, indices, headers or signs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Container, Sequence

from symgrad.errors import FormulaError
from symgrad.formula.printing.names import GREEK, name_latex
from symgrad.formula.reading.people.atoms import CONDITIONS
from symgrad.formula.reading.people.clauses import Clauses
from symgrad.formula.reading.people.functions import FUNCTIONS
from symgrad.formula.reading.people.indices import INDEXED
from symgrad.formula.reading.people.names import CALLED
from symgrad.formula.reading.people.paper import small
from symgrad.formula.reading.people.ranks import MODULES
from symgrad.formula.reading.people.text import as_line, is_latex, may_be_bare, tokenize
from symgrad.formula.reading.people.tokens import ACCENTS, LETTERS_TURNED, OPERATORS, TURNED, tokenize as tokenize_latex
from symgrad.formula.reading.text import ALIASES, CONSTANTS
from symgrad.op import FRONTS, TABLE
from symgrad.sources import hints


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
            indicates = words[k - 2] not in INDEXED and any(x in CONDITIONS for x in words[k:end])
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


def limits(text: str) -> set[str]:
    r"""The letters up to which sums run: ``n`` of ``\sum_{i=1}^{n}`` is the size of what has the index ``i``.

    That of ``\sum_{i=0}^{n}`` is one less, and a symbol where it stands elsewhere, too.
    """
    found = _LIMIT.findall(text)
    alone = {end for _, end, _ in found if len(re.findall(rf"(?<![A-Za-z\\]){end}(?![A-Za-z])", text)) == 1}
    return {end for start, end, off in found if start == "1" or off or end in alone}


_LIMIT = re.compile(
    r"\\(?:sum|prod)(?:\\limits)?\s*_\s*\{\s*[a-z]\s*=\s*([01])\s*\}\s*\^\s*\{?\s*([A-Za-z])(?![A-Za-z])\s*(-\s*1)?"
)


def defined(text: str) -> set[str]:
    r"""The names that a text defines: ``r`` of ``r^T r, \quad r = Ax - b``."""
    tokens = tokenize_latex(text.strip())
    definitions = Clauses(tokens, {}).definitions if tokens.items else []
    return {name for left, _ in definitions for name in _latex_names(" ".join(word for _, word, _ in left))}


def headers(text: str) -> set[str]:
    r"""What a text only gives its value to: ``L`` of ``L(w) = w^\top w``."""
    tokens = tokenize_latex(text.strip()) if is_latex(text) else tokenize(as_line(text))
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
        if word in INDEXED and words[k + 1 : k + 2] == ["_"]:
            for inner in words[k + 3 :]:
                if inner in ("}", "="):
                    break
                found.add(inner)
    return found
