"""Other places of arrays: indices and slices one further on or back, other ends of loops, and other comparisons."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from symgrad.check.mending.spots import Spot, bare_words, called, index_words, is_operand, words_of


def other_places(spot: Spot, names: Sequence[tuple[str, Any]]) -> Iterator[str]:
    """Indices and slices one further on or back, comparisons with or without equality, and signs for them."""
    node = spot.node
    if isinstance(node, ast.Subscript):
        yield from _moved(spot, node)
        of = words_of(spot, node.value)
        yield f"{of}[::-1]"
        if not isinstance(node.value, ast.Attribute) or of in dict(names):  # np.r_ alone has no end
            yield from (of, f"{of}.sum()")
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    if isinstance(node, (ast.Assign, ast.AugAssign)) and isinstance(target, ast.Subscript):
        rest = spot.words.encode()[(target.end_col_offset or 0) - node.col_offset :].decode()
        yield from (moved + rest for moved in _moved(spot, target) if node.lineno == target.end_lineno)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        a, b = words_of(spot, node.left), words_of(spot, node.comparators[0])
        yield from (f"{a} {op} {b}" for op in ("<", "<=", ">", ">="))
        if b == "0" and isinstance(node.ops[0], (ast.Gt, ast.GtE)) and is_operand(spot):
            yield f"np.sign({bare_words(spot, node.left)})"
    if isinstance(node, ast.Call) and called(node) == "range":
        inside = [bare_words(spot, a) for a in node.args]
        yield f"range({', '.join([*inside[:-1], inside[-1] + ' - 1'])})"
        yield f"range({', '.join([*inside[:-1], inside[-1] + ' + 1'])})"
    if is_operand(spot) and isinstance(node, (ast.Name, ast.Attribute)):
        yield from (f"{spot.words}[{text}]" for text, held in names if is_index(held))
        yield f"{spot.words}[::-1]"


def _moved(spot: Spot, node: ast.Subscript) -> Iterator[str]:
    """Parts of an array one further on or back, and at the mirrored place."""
    of = words_of(spot, node.value)
    if isinstance(node.slice, (ast.Name, ast.BinOp, ast.Call)):
        index = bare_words(spot, node.slice)
        yield from (f"{of}[{index} + 1]", f"{of}[{index} - 1]")
    if isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2:
        first, second = map(ast.unparse, node.slice.elts)
        yield f"{of}[{second}, {first}]"
        for by in ("+ 1", "- 1"):
            if isinstance(node.slice.elts[0], (ast.Name, ast.BinOp)):
                yield f"{of}[{first} {by}, {second}]"
            if isinstance(node.slice.elts[1], (ast.Name, ast.BinOp)):
                yield f"{of}[{first}, {second} {by}]"
    words = index_words(node)
    for old, new in (("1:", ":-1"), (":-1", "1:"), ("2:", ":-2"), (":-2", "2:"), ("1:", ":"), (":-1", ":")):
        if old in words and not words.startswith("::"):
            yield f"{of}[{words.replace(old, new)}]"
    if isinstance(node.slice, ast.Slice) and node.slice.step is None:
        yield from (f"{of}[{part}]" for part in _windows_beside(node.slice))


def _windows_beside(part: ast.Slice) -> Iterator[str]:
    """Both ends of a part one further on or back, where they are numbers: 1:-1 for :-2, and 2: for 1:-1."""
    ends = [None if end is None else _whole_number(end) for end in (part.lower, part.upper)]
    if any(given is not None and end is None for given, end in zip((part.lower, part.upper), ends, strict=True)):
        return
    low, high = ends[0] or 0, 0 if ends[1] is None else ends[1]
    for by in (1, -1):
        first, last = low + by, high + by
        if first >= 0 and (last <= 0 if high <= 0 else last > 0):
            yield f"{first or ''}:{last or ''}"


def _whole_number(node: Any) -> int | None:
    sign, node = (-1, node.operand) if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else (1, node)
    return sign * node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def is_index(value: Any) -> bool:
    """Whether a value says where entries of an array are."""
    return isinstance(value, (int, np.integer)) or (isinstance(value, np.ndarray) and value.dtype.kind in "iub")
