"""Size letters of a text that are not those chosen here: ``1/N`` for ``1/n``, ``np.eye(3)`` for three columns."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

from symgrad.formula.sampling import shape_at
from symgrad.sources import Source, is_latex

LETTERS = "nmNMdDpPkKTB"
"""Letters that people use for sizes."""


def with_other_sizes(given: Any, about: Source) -> Iterator[tuple[str, Source]]:
    """The same value with the letters of a text for sizes that were not stated, and with the sizes it was run at."""
    if not isinstance(given, str) or not about.chosen:
        return
    mine = about.chosen
    theirs = _letters(given, about)
    for k, chosen in enumerate(itertools.permutations(mine, len(theirs)) if len(theirs) <= len(mine) else ()):
        renamed = dict(zip(chosen, theirs, strict=True))
        if all(a == b for a, b in renamed.items()) or k > 24:
            continue
        free = (x for x in mine if x not in theirs)
        swapped = {x: next(free, f"{x}1") for x in mine if x in theirs and x not in renamed}
        note = ", ".join(f"{name} is read as {_said(letter, about)}" for letter, name in renamed.items())
        yield f"{note}.", about.resized(renamed | swapped)
    if about.sizes and re.search(r"\d", given):
        shapes = ", ".join(f"{s.name} {shape_at(s, about.sizes)}" for s in about.symbols if s.ndim)
        yield f"the shapes are taken to be those of the arguments, {shapes}.", about.resized(about.sizes)


def _letters(text: str, about: Source) -> list[str]:
    """The letters of a text that can be sizes: those that are no symbols, and that it does not define."""
    names = {str(s.name) for s in about.symbols} | set(re.findall(r"(\w)\s*:?=", text))
    text = re.sub(r"\^\s*\{?\s*-?\s*T(?!\w)", " ", text)  # the T of a transpose
    if is_latex(text):
        found = re.sub(r"\\(operatorname|text|math\w*)\s*\{[^}]*\}|\\[a-zA-Z]+|[A-Za-z](?=\s*_)", " ", text)
    else:
        found = " ".join(re.findall(r"(?<![a-zA-Z0-9.])[A-Za-z](?!\w)", text))
    return [x for x in dict.fromkeys(found) if x in LETTERS and x not in names]


def _said(letter: str, about: Source) -> str:
    """Where a size stands: the length of a vector, the rows or columns of a matrix."""
    for s in sorted(about.symbols, key=lambda s: s.ndim):
        if letter in s.shape:
            return f"the size of {s.name}" if s.ndim == 1 else f"{s.name}.shape[{s.shape.index(letter)}]"
    return letter
