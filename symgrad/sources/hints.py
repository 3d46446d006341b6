r"""What a text tells of its arguments: ``x_i^\top w`` speaks of rows of a matrix, ``eye(n)`` of a size."""

from __future__ import annotations

import re
from collections.abc import Iterable

Costs = dict[int, int]
"""How surprising each rank of an argument would be."""

_ROW = re.compile(r"\\?([A-Za-z]+)_\{?\w\}?\s*\^\s*\{?\s*(?:\\top|\\intercal|T)\b\s*\}?\s*(?:\\?([A-Za-z]+)_)?")
_ROOT_OF_SIZE = re.compile(r"sqrt\s*[({]\s*([dnND](?:_\{?\w+\}?)?)\s*[)}]")
_MADE_BY_SIZE = re.compile(r"\b(?:eye|identity|ones|zeros)\(\s*([A-Za-z]\w*)\s*\)")


def ranks(text: str) -> dict[str, Costs]:
    r"""The ranks that a text suggests: those of a matrix whose rows it speaks of, and of the number in ``/ sqrt(d)``.

    >>> ranks(r"\sum_i \log(1 + e^{-y_i x_i^\top w})"), ranks("sum(softmax(Q@K.T/sqrt(d))@V)")
    ({'x': {2: 0, 1: 4}}, {'d': {0: 0, 1: 3}})
    """
    rows = {name: {2: 0, 1: 4} for pair in _ROW.findall(text) for name in pair if name}
    roots = {re.sub(r"[{}]", "", name): {0: 0, 1: 3} for name in _ROOT_OF_SIZE.findall(text)}
    return roots | rows


def sizes(text: str, names: Iterable[str]) -> list[str]:
    """Those of some names that are nothing but sizes of what ``eye(n)`` and its like make, or divided by.

    >>> sizes("y@inv(K + s**2*eye(n))@y/n", ["y", "K", "s", "n"])
    ['n']
    """
    made = set(_MADE_BY_SIZE.findall(text))
    rest = re.sub(r"/\s*\w+\b(?!\s*\()", "", _MADE_BY_SIZE.sub("", text))
    return [name for name in names if name in made and not re.search(rf"\b{name}\b", rest)]
