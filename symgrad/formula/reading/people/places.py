"""Where statements put entries: ``G[i][j]``, ``G[:, j]``, and ``g[i + 1]``, which is ``g[i]`` of a loop moved by 1."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from symgrad.formula.reading.people.generators import refusal
from symgrad.formula.reading.people.ranks import parts_of


def flat(target: ast.Subscript) -> ast.Subscript:
    """``G[i, j]`` for ``G[i][j]``."""
    parts = parts_of(target)
    while isinstance(target.value, ast.Subscript):
        target = target.value
        parts = [*parts_of(target), *parts]
    return ast.Subscript(target.value, ast.Tuple(parts) if parts[1:] else parts[0], ast.Store())


def index_of(node: ast.expr) -> tuple[str, int] | None:
    """The letter of an index and what is added to it; None for others."""
    shift = 0
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)) and isinstance(node.right, ast.Constant):
        if not isinstance(node.right.value, int):
            return None
        shift, node = node.right.value * (1 if isinstance(node.op, ast.Add) else -1), node.left
    return (node.id, shift) if isinstance(node, ast.Name) else None


def moved(generator: ast.comprehension, value: ast.expr, shift: int) -> tuple[ast.comprehension, ast.expr]:
    """A loop over a range with its index moved, and what is said for the index."""
    over, letter = generator.iter, getattr(generator.target, "id", "")
    ranges = isinstance(over, ast.Call) and getattr(over.func, "id", "") == "range" and len(over.args) in (1, 2)
    if not (ranges and isinstance(over, ast.Call)) or over.keywords or generator.ifs:
        raise refusal(over, "entries beside the index of a loop are read where it runs over range(n) or range(a, n)")
    low, high = over.args if over.args[1:] else (ast.Constant(0), over.args[0])
    ends = [_plus(low, shift), _plus(high, shift)]
    made = ast.comprehension(generator.target, ast.Call(over.func, ends, []), [], 0)
    return made, _Moved(letter, shift).visit(value)


def _plus(node: ast.expr, shift: int) -> ast.expr:
    """A number, or a name with a number, and what is added."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return ast.Constant(node.value + shift)
    found = index_of(node)
    base: ast.expr = node if found is None else ast.Name(found[0])
    whole = shift + (found[1] if found else 0)
    return base if not whole else ast.BinOp(base, ast.Add() if whole > 0 else ast.Sub(), ast.Constant(abs(whole)))


class _Moved(ast.NodeTransformer):
    """Replaces an index by what is less by a shift."""

    def __init__(self, letter: str, shift: int):
        self.letter, self.shift = letter, shift

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return _plus(node, -self.shift) if node.id == self.letter else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        found = index_of(node)
        if found is not None and found[0] == self.letter:
            return _plus(node, -self.shift)
        return self.generic_visit(node)  # type: ignore[return-value]


def is_part(node: ast.expr) -> bool:
    """Whether an index is a range, or a number."""
    plain = node.operand if isinstance(node, ast.UnaryOp) else node
    whole = isinstance(plain, ast.Constant) and isinstance(plain.value, int)
    return whole or (isinstance(node, ast.Slice) and node.step is None)


def replaced(array: ast.expr, parts: Sequence[ast.expr], value: ast.expr, adds: bool, axis: int = 0) -> ast.expr:
    """An array with other entries in a part of it: what is before, the part with the value, and what is behind."""
    part, *others = parts
    low, high = (part.lower, part.upper) if isinstance(part, ast.Slice) else (part, _behind(part))
    inside = _along(array, axis, low, high)
    if others:
        middle = replaced(inside, others, value, adds, axis + 1)
    else:
        middle = ast.BinOp(inside if adds else ast.BinOp(ast.Constant(0), ast.Mult(), inside), ast.Add(), value)
    pieces = [_along(array, axis, None, low)] * (low is not None) + [middle]
    pieces += [_along(array, axis, high, None)] * (high is not None)
    if len(pieces) == 1:
        return middle
    return ast.Call(ast.Name("concatenate"), [ast.List(pieces)], [ast.keyword("axis", ast.Constant(axis))])


def _behind(index: ast.expr) -> ast.expr | None:
    """The index after a number; None after -1, the last one."""
    after = ast.literal_eval(index) + 1
    return ast.Constant(after) if after else None


def _along(array: ast.expr, axis: int, low: ast.expr | None, high: ast.expr | None) -> ast.expr:
    """A range of an axis; an array that is whole is itself."""
    if low is None and high is None:
        return array
    return ast.Subscript(array, ast.Tuple([*[ast.Slice()] * axis, ast.Slice(low, high)]))
