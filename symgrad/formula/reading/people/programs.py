"""Statements of Python as one expression: ``a if c else b`` for branches, sums over generators for loops that add up.

The text is parsed, and never run: names that it assigns are replaced by their values.  What is left, generators and
conditional expressions, is written as a formula by :mod:`symgrad.formula.reading.people.generators`.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from symgrad.errors import FormulaError
from symgrad.formula.reading.people.generators import filled, refusal, written

Values = dict[str, ast.expr]


def as_formula(text: str, table: Mapping[str, Any]) -> str | None:
    r"""The formula of a text with Python's branches, loops, or entries that are assigned; None for other texts.

    >>> as_formula("def g(x):\n  if x > 0:\n    return 1\n  return 0", {})
    'where(x > 0, 1, 0)'
    >>> as_formula("2*sum(a[i]*x[i] for i in range(n))", {})
    '2 * (sum_i^(n) (a _{i}  * x _{i} ))'
    """
    if _SIGNS.search(text) is None:
        return None
    try:
        body = ast.parse(text.strip()).body
        body = [s for s in body if not isinstance(s, (ast.Import, ast.ImportFrom))]
        if len(body) == 1 and isinstance(body[0], ast.FunctionDef):
            body = body[0].body
        value = getattr(body[0], "value", None) if len(body) == 1 else None
        made = value.body if isinstance(value, ast.Lambda) else _Program().result(body, {})
        if made is None:
            raise refusal(body[-1], "nothing is returned after it")
        if any(isinstance(n, ast.Name) and n.id.startswith(_LEFT) for n in ast.walk(made)):
            raise refusal(body[-1], _LAST_ROUND)
        return written(made, table)
    except FormulaError:
        raise
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None  # no Python, or too deep: other readers say where


_SIGNS = re.compile(
    r"\b(?:if|for)\b|^\s*\w+\[[^\n]*[<>!][^\n]*\]\s*[-+*/]?=(?!=)|[;\n]\s*\w+\[[^\n]*\]\s*[-+*/]?=(?!=)|\.shape\s*$",
    re.MULTILINE,
)


class _Entry(NamedTuple):
    """A value that a loop gives to the entries of an array at some indices, or adds to them."""

    name: str
    indices: tuple[str, ...]
    value: ast.expr
    adds: bool


class _Program:
    """Statements, run on expressions in place of values."""

    def __init__(self) -> None:
        self.entries: list[_Entry] = []

    def result(self, body: Sequence[ast.stmt], values: Values) -> ast.expr | None:
        """What statements return, or the value of the last one; None where they end without."""
        for k, statement in enumerate(body):
            if (
                isinstance(statement, (ast.Return, ast.Expr))
                and statement.value is not None
                and not _is_word(statement)
            ):
                return _with(values, statement.value)
            if isinstance(statement, ast.If) and any(isinstance(s, ast.Return) for s in ast.walk(statement)):
                rest = body[k + 1 :]
                yes, no = (self.result([*part, *rest], {**values}) for part in (statement.body, statement.orelse))
                if yes is None or no is None:
                    raise refusal(statement, "nothing is returned on one of its ways")
                return ast.IfExp(_with(values, statement.test), yes, no)
            self.run(statement, values)
        return None

    def run(self, statement: ast.stmt, values: Values) -> None:
        """A statement that returns nothing."""
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            self.assign(statement, statement.targets[0], statement.value, values)
        elif isinstance(statement, ast.AugAssign):
            self.augment(statement, values)
        elif isinstance(statement, ast.If):
            self.branch(statement, values)
        elif isinstance(statement, ast.For) and not statement.orelse:
            self.loop(statement, values)
        elif not isinstance(statement, ast.Pass) and not _is_word(statement):
            raise refusal(statement)
        if self.entries and not isinstance(statement, (ast.For, ast.If, ast.Assign, ast.AugAssign)):
            raise refusal(statement)

    def assign(self, statement: ast.stmt, target: ast.expr, value: ast.expr, values: Values) -> None:
        """Give a name a value, sizes theirs (``m, n = A.shape``), or entries theirs."""
        found = _with(values, value)
        if isinstance(target, ast.Name):
            values[target.id] = found
        elif isinstance(target, ast.Tuple) and isinstance(found, ast.Attribute) and found.attr == "shape":
            for k, name in enumerate(target.elts):
                values[getattr(name, "id", "_")] = ast.Subscript(found, ast.Constant(k))
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id in values:
            self.place(statement, target, found, values)
        else:
            raise refusal(statement)

    def augment(self, statement: ast.AugAssign, values: Values) -> None:
        """``g += …``, of a name or of its entries."""
        target = statement.target
        if isinstance(target, ast.Subscript) and not isinstance(statement.op, (ast.Add, ast.Sub)):
            raise refusal(statement)
        if isinstance(target, ast.Subscript):
            value = statement.value if isinstance(statement.op, ast.Add) else ast.UnaryOp(ast.USub(), statement.value)
            self.place(statement, target, _with(values, value), values, adds=True)
            return
        before = copy.deepcopy(target)
        before.ctx = ast.Load()
        self.assign(statement, target, ast.BinOp(before, statement.op, statement.value), values)

    def place(
        self, statement: ast.stmt, target: ast.Subscript, value: ast.expr, values: Values, adds: bool = False
    ) -> None:
        """Give entries a value: those where a condition holds, or those at the indices of loops around."""
        name, at = getattr(target.value, "id", ""), _with(values, target.slice)
        if any(isinstance(node, ast.Compare) for node in ast.walk(at)):
            old = values.get(name, ast.Name(name))
            values[name] = ast.IfExp(at, ast.BinOp(old, ast.Add(), value) if adds else value, old)
            return
        indices = at.elts if isinstance(at, ast.Tuple) else [at]
        if not all(isinstance(x, ast.Name) for x in indices):
            raise refusal(statement)
        self.entries.append(_Entry(name, tuple(x.id for x in indices), value, adds))  # type: ignore[attr-defined]

    def branch(self, statement: ast.If, values: Values) -> None:
        """A branch that assigns: what it changes has a value on either way."""
        test, before = _with(values, statement.test), self.entries
        ways: list[Values] = [{**values}, {**values}]
        entries: list[dict[tuple[Any, ...], ast.expr]] = []
        for way, part in zip(ways, (statement.body, statement.orelse), strict=True):
            self.entries = []
            for inner in part:
                self.run(inner, way)
            entries.append({(e.name, e.indices, e.adds): e.value for e in self.entries})
            if len(entries[-1]) < len(self.entries):
                raise refusal(statement, "an entry has one value on each of its ways")
        self.entries = before
        for name, indices, adds in dict.fromkeys([*entries[0], *entries[1]]):
            taken = [way.get((name, indices, adds), ast.Constant(0)) for way in entries]
            self.entries.append(_Entry(name, indices, ast.IfExp(test, *taken), adds))
        for name in sorted({*ways[0], *ways[1]}):
            yes, no = (way.get(name, ast.Name(name)) for way in ways)
            values[name] = yes if yes is no else ast.IfExp(test, yes, no)

    def loop(self, statement: ast.For, values: Values) -> None:
        """A loop: what it adds to a name is a sum, and what it gives to entries is a list of them."""
        bound = {node.id for node in ast.walk(statement.target) if isinstance(node, ast.Name)}
        changed = {name for s in statement.body for node in ast.walk(s) for name in _changed(node)}
        held = {name: ast.Name(f"{_HELD}{name}") for name in changed - bound}
        inside: Values = {**_visible(values, bound), **held}
        over, before, self.entries = _with(values, statement.iter), self.entries, []
        for inner in statement.body:
            self.run(inner, inside)
        generator = ast.comprehension(statement.target, over, [], 0)
        found, self.entries = self.entries, before
        for name, mark in held.items():
            if inside[name] is mark:
                continue
            if mark.id not in _free(inside[name]):  # each round gives it another value
                values[name] = ast.Name(f"{_LEFT}{name}")
                continue
            added = _added(inside[name], mark.id, statement)
            if any(isinstance(n, ast.Name) and n.id.startswith(_HELD) for n in ast.walk(added)):
                raise refusal(statement, _CARRIED)
            total = ast.Call(ast.Name("sum"), [ast.GeneratorExp(added, [generator])], [])
            old = values.get(name, ast.Name(name))
            values[name] = total if _is_zero(old) else ast.BinOp(old, ast.Add(), total)
        for entry in found:
            self.fill(statement, entry, generator, values)
        values |= {name: ast.Name(f"{_LEFT}{name}") for name in bound}

    def fill(self, statement: ast.For, entry: _Entry, generator: ast.comprehension, values: Values) -> None:
        """Entries for all values of an index: a list where it is their last one, or a sum where it is none of them."""
        name, indices, value, adds = entry
        if any(isinstance(n, ast.Name) and n.id.startswith(_HELD) for n in ast.walk(value)):
            raise refusal(statement, _CARRIED)
        letter, old = getattr(generator.target, "id", None), values.get(name, ast.Name(name))
        if letter not in indices and adds:
            total = ast.Call(ast.Name("sum"), [ast.GeneratorExp(value, [generator])], [])
            self.entries.append(entry._replace(value=total))
        elif letter != indices[-1] or not (indices[1:] or adds or _is_zero(old)):
            raise refusal(statement, "entries are assigned where an array of zeros is filled row by row")
        elif indices[1:]:
            self.entries.append(_Entry(name, indices[:-1], filled(value, generator), adds))
        else:
            array = filled(value, generator)
            values[name] = array if _is_zero(old) else ast.BinOp(old, ast.Add(), array)


_HELD, _LEFT = "_before_", "_last_"
"""What a name has before a round of a loop, and what the last round leaves in it, which is no formula."""
_LAST_ROUND = "what the last round of a loop leaves in a name is no formula, and each index has a name of its own"
_CARRIED = "a loop adds to names, and what it adds is not made of what it has added before"


def _changed(node: ast.AST) -> list[str]:
    """The name that a target is, or whose entries it is."""
    base = node.value if isinstance(node, ast.Subscript) else node
    return [base.id] if isinstance(getattr(node, "ctx", None), ast.Store) and isinstance(base, ast.Name) else []


def _is_word(statement: ast.stmt) -> bool:
    """Whether a statement is a text such as the one that says what a function does."""
    value = getattr(statement, "value", None)
    return isinstance(statement, ast.Expr) and isinstance(value, ast.Constant) and isinstance(value.value, str)


def _is_zero(node: ast.expr) -> bool:
    """Whether an expression is 0 or an array of zeros."""
    name = getattr(getattr(node, "func", None), "attr", None) or getattr(getattr(node, "func", None), "id", None)
    return (isinstance(node, ast.Constant) and node.value == 0) or name in ("zeros", "zeros_like")


def _added(node: ast.expr, held: str, statement: ast.stmt) -> ast.expr:
    """What is added to a name in one step of a loop, of its value after the step."""
    if isinstance(node, ast.Name) and node.id == held:
        return ast.Constant(0)
    if isinstance(node, ast.IfExp):
        return ast.IfExp(node.test, _added(node.body, held, statement), _added(node.orelse, held, statement))
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        left, right = (any(getattr(n, "id", "") == held for n in ast.walk(x)) for x in (node.left, node.right))
        if left and not right:
            before = _added(node.left, held, statement)
            value = node.right if isinstance(node.op, ast.Add) else ast.UnaryOp(ast.USub(), node.right)
            return value if _is_zero(before) else ast.BinOp(before, ast.Add(), value)
        if right and not left and isinstance(node.op, ast.Add):
            before = _added(node.right, held, statement)
            return node.left if _is_zero(before) else ast.BinOp(node.left, ast.Add(), before)
    raise refusal(statement, _CARRIED)


def _free(node: ast.AST) -> set[str]:
    """The names in an expression, without those that its own generators bind."""
    found: set[str] = set()
    stack: list[tuple[ast.AST, frozenset[str]]] = [(node, frozenset())]
    while stack:
        item, bound = stack.pop()
        if isinstance(item, ast.Name) and item.id not in bound:
            found.add(item.id)
        for generator in getattr(item, "generators", ()):
            bound |= {n.id for n in ast.walk(generator.target) if isinstance(n, ast.Name)}
        stack += [(child, bound) for child in ast.iter_child_nodes(item)]
    return found


def _visible(values: Values, bound: set[str]) -> Values:
    """The values of names where some are bound anew: those that are made of these had another meaning of them."""
    return {
        name: ast.Name(f"{_LEFT}{name}") if bound & _free(value) else value
        for name, value in values.items()
        if name not in bound
    }


class _Replaced(ast.NodeTransformer):
    def __init__(self, values: Values):
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self.values.get(node.id, node))


def _with(values: Values, node: ast.expr) -> ast.expr:
    """An expression with the values of names; those that its own generators bind stay."""
    bound = {name for g in ast.walk(node) if isinstance(g, ast.comprehension) for name in _free(g.target)}
    made = _Replaced(_visible(values, bound)).visit(copy.deepcopy(node))
    if sum(1 for _ in ast.walk(made)) > LARGEST:
        raise FormulaError("the text has statements whose formula is too long; write the formula itself")
    return made  # type: ignore[no-any-return]


LARGEST = 4_000
"""Nodes of an expression in which names are replaced by their values."""
