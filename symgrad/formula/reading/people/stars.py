"""What ``*`` and ``**`` mean between matrices in plain text that does not say which notation it is in.

Texts with ``@`` or ``np.`` are NumPy's: ``*`` is entry by entry in them.  In others ``*`` between a matrix and a vector
is their product, and so it is between two matrices, as on paper, in MATLAB and in SymPy; but what ``sum(…)`` and
``mean(…)`` add up is multiplied entry by entry, as in ``sum(Y*log(P))``.  Inside of further functions and powers it is
the matrix product again, as in ``sum((X*W - Y)**2)``.  ``**`` and ``^`` are powers of square matrices outside of sums
and norms.  Who wants to be sure writes ``@`` and ``.*``; the judge tries what else a text can mean.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symgrad.formula.reading.people.functions import entrywise_function
from symgrad.formula.reading.text import power
from symgrad.formula.term import Term
from symgrad.op import lookup
from symgrad.ops.calls.naming import SPACES

Items = list[tuple[str, str, int]]

PLACE = "place"
"""``*`` as its place in the text says."""
ENTRIES = "entries"
"""``*`` entry by entry everywhere, as in NumPy."""
PRODUCTS = "products"
"""``*`` as the matrix product everywhere."""
FITTING = "fitting"
"""``*`` as the matrix product where that fits, and else entry by entry."""

PRODUCT, ENTRY, FIT = "product", "entry", "fit"
"""The kinds of the tokens ``*``, ``**`` and ``^`` once it is known what they mean."""

_SUMS = {"sum", "mean", "nansum", "nanmean"}
_OF_MATRICES = {
    "trace", "tr", "Trace", "Tr", "det", "Determinant", "logdet", "logabsdet", "slogdet", "inv", "Inverse", "pinv",
    "expm", "matrix_exp", "cholesky", "eigvalsh", "eigvals",
}  # fmt: skip


def marked(items: Items, star: str) -> Items:
    """The tokens with what their ``*``, ``**`` and ``^`` mean as their kind."""
    if star == ENTRIES:
        return items
    anywhere = FIT if star == FITTING else PRODUCT
    contexts: list[tuple[str, str]] = [(PRODUCT, PRODUCT)]
    ends = _closing(items)
    out = []
    for k, (kind, text, place) in enumerate(items):
        if text in ("(", "["):
            contexts.append(contexts[-1] if text == "[" else _inside(items, k, ends, contexts[-1]))
        elif text in (")", "]") and len(contexts) > 1:
            contexts.pop()
        elif text == "*":
            kind = contexts[-1][0] if star == PLACE else anywhere
        elif text == "**" or (text == "^" and _is_number(items, k + 1)):
            inverse = text == "^" and items[k + 1][1] in ("-", "(")
            kind = contexts[-1][1] if star == PLACE and not inverse else anywhere
        out.append((kind, text, place))
    return out


def _is_number(items: Items, k: int) -> bool:
    """Whether an exponent starts at ``k`` that is a number, in brackets or not."""
    found = items[k : k + 3]
    while found and found[0][1] in ("-", "("):
        found = found[1:]
    return bool(found) and found[0][0] == "number"


def _closing(items: Items) -> dict[int, int]:
    """The places of closing round brackets by those of the opening ones."""
    out, opened = {}, []
    for k, (_, text, _) in enumerate(items):
        if text == "(":
            opened.append(k)
        elif text == ")" and opened:
            out[opened.pop()] = k
    return out


def _inside(items: Items, k: int, ends: dict[int, int], outside: tuple[str, str]) -> tuple[str, str]:
    """What ``*`` and ``**`` mean inside of a bracket."""
    kind, name, _ = items[k - 1] if k else ("", "", 0)
    end = ends.get(k, len(items))
    following = [text for _, text, _ in items[end + 1 : end + 3]]
    if kind == "name":
        if name in _SUMS:
            return ENTRY, ENTRY
        if name in _OF_MATRICES:
            return PRODUCT, PRODUCT
        return PRODUCT, outside[1] if entrywise_function(name.lower()) else ENTRY
    if following[:1] == ["."] and following[-1] in _SUMS:
        return ENTRY, ENTRY
    return (PRODUCT, outside[1]) if following[:1] in (["**"], ["^"]) else outside


def _between(ranks: tuple[tuple[int, int], ...]) -> Callable[[Any, Any], Any]:
    """The product that is the matrix product for some ranks of its operands, and else entry by entry."""
    return lambda left, right: lookup("matmul" if (left.ndim, right.ndim) in ranks else "mul")(left, right)


def _power(base: Term, exponent: Any) -> Any:
    """A power: that of a matrix, where it is square and the exponent a whole number."""
    n = exponent.number
    whole = type(n) is int and abs(n) <= LARGEST_POWER and n
    if not whole or base.ndim != 2 or base.shape[0] != base.shape[1]:
        return power(base, exponent)
    return lookup("matrix_power")(base, n=n)


LARGEST_POWER = 64
INFIXES = {
    f"{PRODUCT} *": (6, _between(((2, 1), (1, 2), (2, 2)))),
    f"{ENTRY} *": (6, _between(((2, 1), (1, 2)))),
    "∖": (6, lambda left, right: SPACES["linalg"]["solve"](left, right) if left.ndim else right / left),  # MATLAB's
}
POWERS = {f"{PRODUCT} **": _power, f"{ENTRY} **": power}
"""What the reader of NumPy's notation does at these signs."""
