"""Which parts of a formula of one line are worth a name: what is long, and stands there several times."""

from __future__ import annotations

import collections
import re
from collections.abc import Container, Mapping

from symgrad.formula.printing.width import TOKEN
from symgrad.formula.term import Term, postorder

NAME_SIGNS = 2
"""The signs of a name such as t1."""

LINE_SIGNS = 4
"""What a definition takes beside what it defines: its name, its equals sign, and a line."""

_UNSEEN = re.compile(r"[{}^_&]|\\\\|\\(?:left|right|quad|(?:begin|end)(?!\{bmatrix\}).*|[,:;!])")

_WRAPPERS = frozenset({"inv", "permute", "neg", "squeeze", "unsqueeze", "expand", "cast"})
"""What stands as a sign at its argument, which gets the name: not of the inverse of S, but of S."""


def signs(text: str) -> int:
    r"""How many signs a reader sees, brackets and letters alike; a function's name is one.

    >>> signs(r"2 A^{\top} \left(A x - b\right)")
    9
    """
    return sum(not _UNSEEN.fullmatch(found.strip()) for found in TOKEN.findall(text))


def worth_a_name(root: Term, texts: Mapping[Term, str]) -> set[Term]:
    """The parts by whose names a formula has fewer signs, definitions included; ``texts`` are those of its parts.

    From the outermost part inwards: what stands once inside of a named part stands once.
    """
    times: collections.Counter[Term] = collections.Counter({root: 1})
    chosen: set[Term] = set()
    for t in reversed(postorder([root])):
        count = times[t]
        if count > 1 and _may_have_one(t):
            saved = (count - 1) * (signs(texts[t]) - NAME_SIGNS) - NAME_SIGNS - LINE_SIGNS
            if saved >= 0:
                chosen.add(t)
                count = 1
        for a in t.args:
            times[a] += count
    return chosen


def _may_have_one(t: Term) -> bool:
    named = bool(t.args) and t.op.name not in _WRAPPERS and not is_entry(t)
    return named and t.ndim <= 2 and (t.dtype is None or t.dtype.kind != "b")


def is_entry(t: Term, named: Container[Term] = ()) -> bool:
    """Whether a part is an entry or a row of a symbol or of a named part, or a range of a vector: short as a name."""
    while t.op.name == "select" or (
        t.op.name in ("getitem", "narrow") and len(t.args) == 1 and (not t.ndim or t.args[0].ndim == 1)
    ):
        (t,) = t.args
        if not t.args or t in named:
            return True
    return False
