"""Places of a function that may be changed: its expressions and statements, and what shows that they count."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from types import NoneType
from typing import Any, NamedTuple, TypeGuard

from symgrad.check.mending.routines import Routine


class Edit(NamedTuple):
    """Other words for a stretch of a text."""

    start: int
    end: int
    words: str

    def applied(self, text: str) -> str:
        """The text with the other words."""
        return text[: self.start] + self.words + text[self.end :]


class Spot(NamedTuple):
    """An expression or a statement of a function, with the node that it stands in."""

    node: Any
    above: Any
    start: int
    end: int
    words: str
    value: tuple[int, int] | None  # where the value stands that its statement writes
    compared: bool  # a little change of what is compared shows nowhere


_SIZED = frozenset(
    "zeros ones empty eye full arange linspace tile repeat broadcast_to identity indices randn rand normal".split()  # noqa: SIM905  (words)
)
"""Functions that make arrays as large as they are told."""


def spots_of(routine: Routine) -> Iterator[Spot]:
    """All expressions and statements on lines that ran, but those that say how large an array is."""
    sizes = _sizes(routine.tree)
    text = routine.text
    starts = list(itertools.accumulate((len(line) for line in text.splitlines(keepends=True)), initial=0))
    lines = text.splitlines()

    def offset(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    root = routine.tree.body[0]

    def ends(node: Any) -> tuple[int, int]:
        return offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset)

    stack: list[tuple[Any, Any, Any, bool]] = [(child, root, None, False) for child in reversed(_bodies(root))]
    while stack:
        node, above, value, compared = stack.pop()
        if isinstance(node, (ast.Assign, ast.AugAssign)) and sizes & _written(node):
            continue
        if isinstance(node, ast.stmt):
            writing = _first_writing(node)
            value = None if writing is None or isinstance(writing.value, (ast.Tuple, NoneType)) else ends(writing.value)
        if isinstance(node, ast.Call) and not is_call(node):
            pass  # what it is told stays as it is
        elif isinstance(node, ast.Tuple) and isinstance(above, ast.Return):  # several gradients, each by itself
            stack.extend((each, node, ends(each), False) for each in reversed(node.elts))
        else:
            below = compared or isinstance(node, ast.Compare)
            stack.extend((child, node, value, below) for child in reversed(list(ast.iter_child_nodes(node))))
        if isinstance(node, (ast.expr, ast.stmt)) and _is_seen(node, routine):
            start, end = ends(node)
            yield Spot(node, above, start, end, text[start:end], value, compared)


def _first_writing(node: Any) -> Any:
    """What a statement writes or returns, or does first where it is a loop or a condition."""
    inside = ast.walk(node) if isinstance(node, (ast.For, ast.If)) else [node]
    return next((n for n in inside if isinstance(n, (ast.Assign, ast.AugAssign, ast.Return))), None)


def is_shared(spot: Spot, routine: Routine) -> bool:
    """Whether the function under the derivative runs all lines of an expression, too."""
    return not _lines(spot.node, routine) & routine.ran - routine.shared


def is_repeated(spot: Spot, routine: Routine) -> bool:
    """Whether the function under the derivative has all lines of an expression in the same words."""
    lines = routine.text.splitlines()[spot.node.lineno - 1 : spot.node.end_lineno]
    return routine.repeated.issuperset(map(str.strip, lines))


def probes(spot: Spot, text: str) -> list[Edit]:
    """A value a little off, and that which its statement writes: they show what depends on it.

    Of a number that is written down it is the second alone: a little more than -1 is still -1 as a shift.
    """
    number = isinstance(getattr(spot.node, "operand", spot.node), ast.Constant)
    own = is_operand(spot) and not spot.compared and not number and not isinstance(spot.node, ast.Compare)
    places = [*([(spot.start, spot.end)] if own else []), *([spot.value] if spot.value is not None else [])]
    return [Edit(a, b, f"(({text[a:b]}) * 1.0009765625 + 0.0009765625)") for a, b in places]


def _sizes(tree: Any) -> set[str]:
    """The variables that say how large arrays are, or how often a loop runs, and those that they are made of."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and called(node) in (*_SIZED, "range"):
            found |= _counted(node)
        if isinstance(node, ast.Slice):
            found |= _counted(node)
    assigned = [n for n in ast.walk(tree) if isinstance(n, (ast.Assign, ast.AugAssign))]
    more = True
    while more:
        before = len(found)
        for node in assigned:
            if found & _written(node):
                found |= _counted(node.value)
        more = len(found) > before
    return found


def _counted(node: Any) -> set[str]:
    """The variables in an expression whose values, and not just lengths, count."""
    found, stack = set(), [node]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Call) and called(node) == "len":
            continue
        if isinstance(node, ast.Attribute) and node.attr in ("shape", "size", "ndim", "dtype"):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.add(node.id)
        stack.extend(ast.iter_child_nodes(node))
    return found


def _written(node: Any) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _bodies(root: Any) -> list[Any]:
    return list(root.body) if isinstance(root, ast.FunctionDef) else [root]


def _is_seen(node: Any, routine: Routine) -> bool:
    return bool(_lines(node, routine) & routine.ran) and not isinstance(
        getattr(node, "ctx", None), (ast.Store, ast.Del)
    )


def _lines(node: Any, routine: Routine) -> set[int]:
    """The lines of the file that an expression or a statement stands on."""
    return {k + routine.first - 1 for k in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def is_call(node: Any) -> TypeGuard[ast.Call]:
    """Whether a node is a call whose arguments may be changed: not one that makes an array as large as it is told."""
    return isinstance(node, ast.Call) and called(node) not in _SIZED


def called(node: ast.Call) -> str:
    """The name of the function that is called."""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def index_words(node: ast.Subscript) -> str:
    """The words between the brackets: of slices along several axes these are no expression by themselves."""
    return ast.unparse(node)[len(ast.unparse(node.value)) + 1 : -1]


REDUCING = ("sum", "mean", "max", "min", "var", "std", "prod", "softmax", "logsumexp", "cumsum", "flip", "roll")
"""Functions and methods along axes."""

TIGHT = (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.Constant, ast.Tuple, ast.List)


def enclosed(spot: Spot) -> str:
    """The words of an expression, as part of a longer one."""
    return spot.words if isinstance(spot.node, TIGHT) else f"({spot.words})"


def placed(spot: Spot, words: str) -> Edit:
    """Other words in the place of an expression, in parentheses where a method of them is called."""
    of_method = isinstance(spot.above, ast.Attribute) and isinstance(spot.node, TIGHT)
    return Edit(spot.start, spot.end, f"({words})" if of_method and not words.isidentifier() else words)


def words_of(spot: Spot, node: Any) -> str:
    """The words of a part of an expression on the same line."""
    if node.lineno != spot.node.lineno or node.end_lineno != node.lineno:
        return ast.unparse(node)
    first = spot.words.encode()
    a, b = node.col_offset - spot.node.col_offset, node.end_col_offset - spot.node.col_offset
    words = first[a:b].decode()
    return words if isinstance(node, TIGHT) else f"({words})"


def bare_words(spot: Spot, node: Any) -> str:
    """The words of a part of an expression, where commas or brackets are around them."""
    words = words_of(spot, node)
    return words if isinstance(node, TIGHT) else words[1:-1] if words[:1] == "(" else words


def is_factor(spot: Spot) -> bool:
    """Whether an expression is part of a product, which may be changed as a whole."""
    above = spot.above
    if isinstance(above, ast.UnaryOp):
        return True
    return isinstance(above, ast.BinOp) and isinstance(above.op, (ast.Mult, ast.Div))


def is_of_matmul(spot: Spot) -> bool:
    """Whether an expression is an operand of a matrix product."""
    return isinstance(spot.above, ast.BinOp) and isinstance(spot.above.op, ast.MatMult)


def is_operand(spot: Spot) -> bool:
    """Whether an expression is a value that something is made of: no index, function or keyword, nor just counted."""
    if not isinstance(spot.node, ast.expr) or isinstance(spot.node, (ast.Slice, ast.Starred, ast.Tuple, ast.List)):
        return False
    if isinstance(spot.node, ast.Constant) and not isinstance(spot.node.value, (int, float)):
        return False
    above = spot.above
    if isinstance(above, ast.Call):
        return spot.node is not above.func and called(above) != "len"
    if isinstance(above, ast.Attribute):
        return isinstance(spot.node, (ast.BinOp, ast.Call)) or above.attr in REDUCING
    if isinstance(above, (ast.Tuple, ast.List)):
        return True
    return isinstance(
        above, (ast.BinOp, ast.Assign, ast.AugAssign, ast.Return, ast.UnaryOp, ast.IfExp, ast.Lambda, ast.Dict)
    )


def is_term(spot: Spot) -> bool:
    """Whether an expression is a term of a sum, or may become one."""
    above = spot.above
    return isinstance(above, (ast.Assign, ast.AugAssign, ast.Return, ast.Tuple, ast.Dict, ast.Lambda)) or (
        isinstance(above, ast.BinOp) and isinstance(above.op, (ast.Add, ast.Sub))
    )
