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

_COUNTS = {"dim", "element_size", "stride"}
"""Methods of tensors that give other whole numbers."""


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
        self.kept: dict[str, list[ast.expr]] = defaultdict(list)
        """What attributes are given, of any object."""
        self.read: dict[str, list[ast.expr]] = defaultdict(list)
        """Where names, and names of attributes, are read."""
        self.functions: dict[str, Any] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        self.calls: dict[str, list[ast.expr]] = defaultdict(list)
        self.methods: dict[str, list[ast.expr]] = defaultdict(list)
        """Calls of attributes by their names."""
        self.outer: set[tuple[ast.AST, str]] = set()
        """Names that a function gives values outside of itself, ``global`` and ``nonlocal``."""
        self.imported: set[str] = set()
        self.foreign: set[str] = set()
        """Names of modules, and of what comes from modules, that know nothing of sizes."""
        self.catches = False
        """Whether it goes on after errors, those of imports left aside."""
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
            case ast.Attribute(attr="shape" | "nbytes") | ast.Call() | ast.JoinedStr() | ast.FormattedValue():
                self.ends[node.end_lineno, node.end_col_offset].append(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                self._note_arguments(node)
            case ast.ClassDef(name=name):
                self.classes[name] = node
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                self.outer.update((self.scope(node), name) for name in names)
            case ast.Import() | ast.ImportFrom(level=0):
                self._note_import(node)
            case ast.Try(body=steps, handlers=[_, *_]) if not all(
                isinstance(s, ast.Import | ast.ImportFrom) for s in steps
            ):
                self.catches = True
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
            case ast.Call(func=ast.Attribute(attr=name)):
                self.methods[name].append(node)

    def _note_import(self, node: ast.Import | ast.ImportFrom) -> None:
        whence = getattr(node, "module", None)
        names = {name.asname or name.name.partition(".")[0]: whence or name.name for name in node.names}
        self.foreign.update(name for name, room in names.items() if room.partition(".")[0] != _OURS)
        if whence in ROOMS:
            self.imported.update(names)

    def _note_given(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.given[self.home(target, target.id), target.id].append(value)
        elif isinstance(target, ast.Attribute):
            self.kept[target.attr].append(value)
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

    def home(self, node: ast.AST, name: str) -> ast.AST:
        """The scope of a name that is given something where an expression stands."""
        around = self.scope(node)
        while (around, name) in self.outer:
            around = self.scope(around)
        return around

    # ------------------------------------------------------------------------------- where what is given is read

    def named(self, target: ast.expr) -> Iterator[ast.expr]:
        """The readings of a name, or of an attribute, whichever object it may be of."""
        if isinstance(target, ast.Name):
            yield from self.readings(self.home(target, target.id), target.id)
        elif isinstance(target, ast.Attribute):
            yield from self.attributes(target.attr)

    def attributes(self, name: str) -> Iterator[ast.expr]:
        """The places where an attribute is read, of any object: the same one has other names in other methods."""
        return (node for node in self.read[name] if isinstance(node, ast.Attribute))

    def results(self, function: ast.AST) -> list[ast.expr]:
        """The expressions that give what a function returns: calls of it, and readings of a property."""
        match function, self.above.get(function):
            case ast.Lambda(), ast.Call(func=called) as call if called is function:
                return [call]
            case ast.Lambda(), ast.Assign(targets=targets):
                return [call for target in targets for call in self._calls_of(target)]
            case ast.Lambda(), _:  # map(lambda ..., rows)
                return [function]
            case (ast.FunctionDef(name="__call__" | "forward"), ast.ClassDef()):
                known = {*self.functions, *self.classes}
                objects = {name for _, name in self.given} - known
                return [call for name in objects for call in self.calls[name]] + self.methods["forward"]
            case ((ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name)), ast.ClassDef()):
                return [*self.methods[name], *self.attributes(name)]
            case ((ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name)), _):
                return self.calls[name]
        return []

    def _calls_of(self, target: ast.expr) -> list[ast.expr]:
        match target:
            case ast.Name(id=name):
                return self.calls[name]
            case ast.Attribute(attr=name):
                return self.methods[name]
        return []

    def method(self, name: str) -> Any:
        """A function that a class of the file has by this name; None where there is none."""
        found = self.functions.get(name)
        return None if found is None or not isinstance(self.above[found], ast.ClassDef) else found

    def received(self, call: ast.Call, at: int | str | None) -> Iterator[tuple[ast.expr, bool]]:
        """Where a function, or a class, of the file reads the argument ``at`` of a call, and whether a container of it.

        None stands for an argument of any name, ``**options``.
        """
        match call.func:
            case ast.Name(id="setattr") if at == 2 and isinstance(name := call.args[1], ast.Constant):
                yield from ((node, False) for node in self.attributes(str(name.value)))
            case ast.Name(id=name) if name in self.classes:
                yield from self._kept(self.classes[name], call, at)
            case ast.Name(id=name) if name in self.functions:
                yield from self._read_by(self.functions[name], call, at)
            case ast.Attribute(attr=name) if (found := self.method(name)) is not None:
                yield from self._read_by(found, call, at)
            case ast.Name() | ast.Lambda() as function:
                lambdas = self.values(function, function.id) if isinstance(function, ast.Name) else [function]
                for made in lambdas:
                    if isinstance(made, ast.Lambda):
                        yield from self._read_by(made, call, at)

    def _kept(self, of: ast.ClassDef, call: ast.Call, at: int | str | None) -> Iterator[tuple[ast.expr, bool]]:
        """Where what a class is made of is read: in its ``__init__``, or as one of its fields."""
        for statement in of.body:
            if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
                yield from self._read_by(statement, call, at)
                return
        fields = [s.target.id for s in of.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
        for name in _chosen(fields, call, at):
            yield from ((node, False) for node in self.attributes(name))

    def _read_by(self, function: Any, call: ast.Call, at: int | str | None) -> Iterator[tuple[ast.expr, bool]]:
        told = function.args
        row = [argument.arg for argument in (*told.posonlyargs, *told.args)]
        bound = isinstance(self.above.get(function), ast.ClassDef) and not any(
            isinstance(by, ast.Name) and by.id == "staticmethod" for by in function.decorator_list
        )
        row = row[bound:]
        found = _chosen([*row, *(argument.arg for argument in told.kwonlyargs)], call, at)
        for name in found:
            yield from ((node, False) for node in self.readings(function, name))
        rest = told.vararg if isinstance(at, int) and at >= len(row) else None if found else told.kwarg
        if rest is not None:
            yield from ((node, True) for node in self.readings(function, rest.arg))

    def defaulted(self, arguments: ast.arguments, value: ast.AST) -> Iterator[ast.expr]:
        """Where an argument is read that has an expression as its default."""
        row = [*arguments.posonlyargs, *arguments.args]
        pairs = [
            *zip(row[len(row) - len(arguments.defaults) :], arguments.defaults, strict=True),
            *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
        ]
        for argument, default in pairs:
            if default is value:
                yield from self.readings(self.above[arguments], argument.arg)

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
            case ast.Attribute(value=ast.Name(id=room), attr=name) if room in _OF_FLOATS:
                return name in {"pi", "e", "tau", "inf", "euler_gamma"}
            case ast.Call(func=ast.Attribute(value=ast.Name(id=room)), args=row):
                return room in _OF_FLOATS and all(self.is_number(x, met) for x in row)
            case ast.Call(func=ast.Name(id=name), args=row):
                return name == "float" or (name in self.imported and all(self.is_number(x, met) for x in row))
            case ast.Name(id=name) if name not in met:
                return any(self.is_float(value, met | {name}) for value in self.values(node, name))
            case ast.Attribute(attr=name) if f".{name}" not in met:
                return any(self.is_float(value, met | {f".{name}"}) for value in self.kept.get(name, ()))
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
            case ast.Call(func=ast.Attribute(attr=name)) if name in SIZES or name in _COUNTS:
                return True
            case ast.Attribute(attr="ndim" | "itemsize" | "nbytes"):
                return True
            case ast.Call(func=ast.Name(id="len" | "int")):
                return True
            case ast.Name(id=name) if name not in met:
                return any(self.is_number(value, met | {name}) for value in self.values(node, name))
            case ast.Attribute(attr=name) if name in self.kept and f".{name}" not in met:
                return any(self.is_number(value, met | {f".{name}"}) for value in self.kept[name])
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


def _chosen(names: list[str], call: ast.Call, at: int | str | None) -> list[str]:
    """The names of those arguments that one of a call is; of ``*row``, and ``**options``, all that it may be."""
    if isinstance(at, int):
        return names[at:] if isinstance(call.args[at], ast.Starred) else names[at : at + 1]
    return names if at is None else [name for name in names if name == at]
