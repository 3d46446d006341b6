"""The texts of programs: what their names are given, who calls their functions, and where what these give is read."""

from __future__ import annotations

import ast
import functools
import itertools
from collections import defaultdict
from collections.abc import Iterator
from types import CodeType
from typing import Any

ROOMS = {"math", "cmath", "fractions", "decimal", "statistics", "itertools"}
"""Modules of functions that take a size for the int that it is."""

_OURS = __name__.partition(".")[0]
"""The package whose functions, and whose tensors' methods, take sizes as sizes."""

_OF_FLOATS = {"math", "np", "numpy"}
"""Modules whose constants, and functions of numbers, are floats."""

SIZES = {"size", "numel", "nelement"}
"""Methods of tensors that give sizes."""


def end_of(code: CodeType, at: int) -> tuple[int | None, int | None]:
    """Where the expression of an instruction ends in its file: line and column."""
    _, line, _, column = position_of(code, at)
    return line, column


def position_of(code: CodeType, at: int) -> tuple[int | None, ...]:
    """The first and last line of an instruction, and its first and last column, as far as the code tells."""
    return next(itertools.islice(code.co_positions(), at // 2, None), (None,) * 4)


@functools.lru_cache(maxsize=16)
def parsed(source: str) -> Text | None:
    """The text of a file; None for what is no Python."""
    try:
        return Text(ast.parse(source)) if source else None
    except (SyntaxError, ValueError, RecursionError):
        return None


class Text:
    """The text of a file: what its names are given, and who calls its functions."""

    def __init__(self, tree: ast.Module):
        self.above: dict[ast.AST, ast.AST] = {}
        self.ends: dict[tuple[int | None, int | None], list[ast.expr]] = defaultdict(list)
        self.given: dict[tuple[ast.AST, str], list[ast.expr | None]] = defaultdict(list)
        """What names are given in a scope; None for an argument without a default."""
        self.read: dict[str, list[ast.expr]] = defaultdict(list)
        """Where names, and names of attributes, are read."""
        self.functions: dict[str, Any] = {}
        self.calls: dict[str, list[ast.expr]] = defaultdict(list)
        self.imported: set[str] = set()
        self.foreign: set[str] = set()
        """Names of modules, and of what comes from modules, that know nothing of sizes."""
        for node in ast.walk(tree):
            for child in ast.iter_child_nodes(node):
                self.above[child] = node
        for node in ast.walk(tree):
            self._note(node)
        self.literals = {
            abs(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, (int, float))
        }

    def _note(self, node: ast.AST) -> None:
        match node:
            case ast.Attribute(attr="shape") | ast.Call():
                self.ends[node.end_lineno, node.end_col_offset].append(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                self._note_arguments(node)
            case ast.Import() | ast.ImportFrom(level=0):
                self._note_import(node)
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._note_given(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.AugAssign(target=target, value=value):
                self._note_given(target, value)
            case ast.NamedExpr(target=target, value=value):
                self._note_given(target, value)
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name, ctx=ast.Load()):
                self.read[name].append(node)
            case ast.Call(func=ast.Name(id=name)):
                self.calls[name].append(node)

    def _note_import(self, node: ast.Import | ast.ImportFrom) -> None:
        whence = getattr(node, "module", None)
        names = {name.asname or name.name.partition(".")[0]: whence or name.name for name in node.names}
        self.foreign.update(name for name, room in names.items() if room.partition(".")[0] != _OURS)
        if whence in ROOMS:
            self.imported.update(names)

    def _note_given(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.given[self.scope(target), target.id].append(value)
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for part, of in zip(target.elts, value.elts, strict=False):
                self._note_given(part, of)
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Attribute) and value.attr == "shape":
            for part in target.elts:  # n, m = A.shape
                self._note_given(part, ast.Subscript(value, ast.Constant(0), ast.Load()))

    def _note_arguments(self, function: Any) -> None:
        if not isinstance(function, ast.Lambda):
            self.functions[function.name] = function
        told = function.args
        row = [*told.posonlyargs, *told.args]
        defaults = [*[None] * (len(row) - len(told.defaults)), *told.defaults, *told.kw_defaults]
        for argument, default in zip([*row, *told.kwonlyargs], defaults, strict=True):
            of_float = isinstance(argument.annotation, ast.Name) and argument.annotation.id == "float"
            self.given[function, argument.arg].append(ast.Constant(0.0) if of_float else default)

    def scope(self, node: ast.AST) -> ast.AST:
        """The function that an expression stands in, or the file."""
        while node in self.above:
            node = self.above[node]
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                break
        return node

    def is_foreign(self, node: ast.AST) -> bool:
        """Whether an expression is a module that knows nothing of sizes, or a part of one."""
        room = node
        while isinstance(room, ast.Attribute):
            room = room.value
        return isinstance(room, ast.Name) and room.id in self.foreign

    def readings(self, scope: ast.AST, name: str) -> Iterator[ast.Name]:
        """The places where a name is read in a scope, or in those inside of it."""
        for node in self.read[name]:
            if not isinstance(node, ast.Name):
                continue
            around = self.scope(node)
            while around is not scope and around in self.above and (around, name) not in self.given:
                around = self.scope(around)
            if around is scope:
                yield node

    def is_float(self, node: ast.AST | None, met: frozenset[str] = frozenset()) -> bool:
        """Whether an expression is certainly one of Python's floats."""
        match node:
            case ast.Constant(value=value):
                return isinstance(value, float)
            case ast.UnaryOp(operand=operand):
                return self.is_float(operand, met)
            case ast.BinOp(left=left, right=right):
                row = (left, right)
                return any(self.is_float(x, met) for x in row) and all(self.is_number(x, met) for x in row)
            case ast.Attribute(value=ast.Name(id=room), attr=name):
                return room in _OF_FLOATS and name in {"pi", "e", "tau", "inf", "euler_gamma"}
            case ast.Call(func=ast.Attribute(value=ast.Name(id=room)), args=row):
                return room in _OF_FLOATS and all(self.is_number(x, met) for x in row)
            case ast.Call(func=ast.Name(id=name), args=row):
                return name == "float" or (name in self.imported and all(self.is_number(x, met) for x in row))
            case ast.Name(id=name) if name not in met:
                return any(self.is_float(value, met | {name}) for value in self.values(node, name))
        return False

    def is_number(self, node: ast.AST | None, met: frozenset[str] = frozenset()) -> bool:
        """Whether an expression is certainly a number, or a size."""
        match node:
            case ast.Constant(value=value):
                return isinstance(value, (int, float))
            case ast.UnaryOp(operand=operand):
                return self.is_number(operand, met)
            case ast.BinOp(left=left, right=right):
                return self.is_number(left, met) and self.is_number(right, met)
            case ast.Subscript(value=ast.Attribute(attr="shape"), slice=index):
                return not isinstance(index, ast.Slice)
            case ast.Call(func=ast.Attribute(attr=name)) if name in SIZES:
                return True
            case ast.Call(func=ast.Name(id="len" | "int")):
                return True
            case ast.Name(id=name) if name not in met:
                return any(self.is_number(value, met | {name}) for value in self.values(node, name))
        return self.is_float(node, met)

    def values(self, node: ast.AST, name: str) -> list[ast.expr | None]:
        """What a name is given in the innermost scope around an expression that gives it something.

        An argument is given what the calls in the file give it, too.
        """
        around = self.scope(node)
        while (around, name) not in self.given and around in self.above:
            around = self.scope(around)
        found = self.given.get((around, name), [])
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)) and found[:1] == [None]:
            row = [argument.arg for argument in (*around.args.posonlyargs, *around.args.args)]
            at = row.index(name) if name in row else len(row)
            calls = [call for call in self.calls[around.name] if isinstance(call, ast.Call)]
            found = found + [call.args[at] for call in calls if at < len(call.args)]
            found += [keyword.value for call in calls for keyword in call.keywords if keyword.arg == name]
        return found
