"""Statements of Python as one expression: ``a if c else b`` for branches, sums over generators for loops that add up.

The text is parsed, and never run: names that it assigns are replaced by their values.  What is left, generators and
conditional expressions, is written as a formula by :mod:`symgrad.formula.reading.people.generators`.
"""

from __future__ import annotations

import ast
import copy
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from symgrad.errors import FormulaError
from symgrad.formula.reading.people.aliases import CHANGED, Share, Shared
from symgrad.formula.reading.people.generators import Masked, filled, refusal, written
from symgrad.formula.reading.people.places import flat, index_of, is_part, moved, replaced
from symgrad.formula.reading.people.ranks import ENTRYWISE, is_whole_axis, parts_of, rank

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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # a text that is no Python says nothing about it
            body = ast.parse(text.strip()).body
        body = [s for s in body if not isinstance(s, (ast.Import, ast.ImportFrom))]
        if len(body) == 1 and isinstance(body[0], ast.FunctionDef):
            body = body[0].body
        value = getattr(body[0], "value", None) if len(body) == 1 else None
        made = value.body if isinstance(value, ast.Lambda) else _Program(table or {}).result(body, {})
        if made is None:
            raise refusal(body[-1], "nothing is returned after it")
        if any(isinstance(n, ast.Name) and n.id.startswith(_LEFT) for n in ast.walk(made)):
            raise refusal(body[-1], _LAST_ROUND)
        if any(isinstance(n, ast.Name) and n.id.startswith(CHANGED) for n in ast.walk(made)):
            raise refusal(body[-1], _SAME_ARRAY)
        return written(made, table)
    except FormulaError:
        raise
    except SyntaxError as error:
        if _STATEMENT.search(text) is None:
            return None  # no Python: other readers say where
        line = (error.text or "").strip()
        raise FormulaError(
            f"cannot read a program that is no Python: {error.msg} in line {error.lineno}, {line!r}"
        ) from None
    except (ValueError, RecursionError, MemoryError):
        return None  # too deep


_SIGNS = re.compile(
    r"\b(?:if|for)\b|^\s*\w+\[[^\n]*[<>!][^\n]*\]\s*[-+*/]?=(?!=)|[;\n]\s*\w+\[[^\n]*\]\s*[-+*/]?=(?!=)"
    r"|\.shape\s*$|^\s*return\b|^\s*\w+\s*[-+*/@]=(?!=)",
    re.MULTILINE,
)


_STATEMENT = re.compile(r"^\s*(?:def|return)\s+\w|[;\n]\s*\w+\[[^\n;]*\]\s*[-+*/]?=(?!=)", re.MULTILINE)
"""What only programs have: another reader would leave out the lines that it does not know."""


class _Entry(NamedTuple):
    """A value that a loop gives to the entries of an array at some indices, or adds to them."""

    name: str
    indices: tuple[str, ...]
    value: ast.expr
    adds: bool
    shifts: tuple[int, ...]  # what is added to each index
    columns: bool  # whether an index is that of a column, as in G[:, j]


class _Program:
    """Statements, run on expressions in place of values."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.entries: list[_Entry] = []
        self.shared = Shared(table)

    def result(self, body: Sequence[ast.stmt], values: Values) -> ast.expr | None:
        """What statements return, or the value of the last one; None where they end without."""
        for k, statement in enumerate(body):
            if (
                isinstance(statement, (ast.Return, ast.Expr))
                and statement.value is not None
                and not _is_word(statement)
            ):
                if isinstance(statement, ast.Expr) and k + 1 < len(body):
                    self.run(statement, values)
                    continue
                if self.entries:
                    raise refusal(statement, "entries are given values in a loop over each of their indices")
                return _with(values, statement.value)
            if isinstance(statement, ast.If) and any(isinstance(s, ast.Return) for s in ast.walk(statement)):
                rest, names = body[k + 1 :], self.shared.names
                ways = []
                for part in (statement.body, statement.orelse):
                    self.shared.names = {**names}
                    ways.append(self.result([*part, *rest], {**values}))
                yes, no = ways
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
        elif (appended := _appended(statement)) is not None:
            self.entries.append(_Entry(appended[0], (), _with(values, appended[1]), False, (), False))
        elif not isinstance(statement, ast.Pass) and not _is_unused(statement):
            raise refusal(statement)

    def assign(self, statement: ast.stmt, target: ast.expr, value: ast.expr, values: Values) -> None:
        """Give a name a value, sizes theirs (``m, n = A.shape``), or entries theirs."""
        found = _with(values, value)
        if any(isinstance(node, ast.Lambda) for node in ast.walk(value)):
            raise refusal(statement, "write what a function gives where it is called")
        if isinstance(target, ast.Name):
            values[target.id] = found
            self.shared.give(target.id, value, found)
        elif isinstance(target, ast.Tuple) and isinstance(found, ast.Tuple) and isinstance(value, ast.Tuple):
            names = [x.id for x in target.elts if isinstance(x, ast.Name)]
            if not len(names) == len(target.elts) == len(found.elts):
                raise refusal(statement)
            values |= dict(zip(names, found.elts, strict=True))
            for known, plain, meant in zip(names, value.elts, found.elts, strict=True):
                self.shared.give(known, plain, meant)
        elif isinstance(target, ast.Tuple) and isinstance(found, ast.Attribute) and found.attr == "shape":
            for k, name in enumerate(target.elts):
                values[getattr(name, "id", "_")] = ast.Subscript(found, ast.Constant(k))
        elif isinstance(target, ast.Subscript) and getattr(flat(target).value, "id", None) in values:
            self.place(statement, flat(target), found, values)
        else:
            raise refusal(statement)

    def augment(self, statement: ast.AugAssign, values: Values) -> None:
        """``g += …``, of a name or of its entries."""
        target = statement.target
        if isinstance(target, ast.Subscript) and not isinstance(statement.op, (ast.Add, ast.Sub)):
            place = flat(target)
            old = ast.Subscript(place.value, place.slice, ast.Load())
            new = _with(values, ast.BinOp(old, statement.op, statement.value))
            if not _is_mask(_with(values, place.slice)) and not all(map(is_part, parts_of(place))):
                raise refusal(statement)
            self.place(statement, place, new, values)
            return
        if isinstance(target, ast.Subscript):
            value = statement.value if isinstance(statement.op, ast.Add) else ast.UnaryOp(ast.USub(), statement.value)
            self.place(statement, flat(target), _with(values, value), values, adds=True)
            return
        before = copy.deepcopy(target)
        before.ctx = ast.Load()
        held = self.shared.names.get(getattr(target, "id", ""))
        self.assign(statement, target, ast.BinOp(before, statement.op, statement.value), values)
        if held is not None:
            self.shared.names[held.name] = held
            self.shared.changed(held.name, values)

    def place(
        self, statement: ast.stmt, target: ast.Subscript, value: ast.expr, values: Values, adds: bool = False
    ) -> None:
        """Give entries a value: those where a condition holds, or those at the indices of loops around."""
        name, at = getattr(target.value, "id", ""), _with(values, target.slice)
        if _is_mask(at):
            value, old = _Unmasked(at).visit(value), values.get(name, ast.Name(name))
            where = self.condition(statement, at, old)
            values[name] = Masked(where, ast.BinOp(old, ast.Add(), value) if adds else value, old)
            self.shared.changed(name, values)
            return
        indices = at.elts if isinstance(at, ast.Tuple) else [at]
        if all(map(is_part, indices)):
            if isinstance(indices[0], ast.Slice) and not isinstance(indices[-1], ast.Slice):  # a column
                value = self.column(statement, value)
            values[name] = replaced(values.get(name, ast.Name(name)), indices, value, adds)
            self.shared.changed(name, values)
            return
        columns = len(indices) == 2 and is_whole_axis(indices[0])
        indices = [x for x in indices if not is_whole_axis(x)]
        shifted = [index_of(x) for x in indices]
        if not indices or None in shifted:
            raise refusal(statement)
        names, shifts = zip(*(x for x in shifted if x is not None), strict=True)
        self.entries.append(_Entry(name, names, value, adds, shifts, columns))

    def condition(self, statement: ast.stmt, at: ast.expr, array: ast.expr) -> ast.expr:
        """A condition on entries of an array; one on a vector beside a matrix is about its rows."""
        axes = rank(at, self.shared.axes), rank(array, self.shared.axes)
        if isinstance(at, ast.Tuple) or (axes[0] == 1 and axes[1] is None) or (axes[0] or 0) > (axes[1] or 2):
            raise refusal(statement, "a condition is about each entry of an array, or about each row of a matrix")
        return ast.Subscript(at, ast.Tuple([ast.Slice(), ast.Constant(None)])) if axes == (1, 2) else at

    def column(self, statement: ast.stmt, value: ast.expr) -> ast.expr:
        """A vector as what a column is given."""
        axes = rank(value, self.shared.axes)
        if axes is None or axes > 1:
            raise refusal(statement, "a column is given a number, or a vector made of the arguments entry by entry")
        return ast.Subscript(value, ast.Tuple([ast.Slice(), ast.Constant(None)])) if axes else value

    def branch(self, statement: ast.If, values: Values) -> None:
        """A branch that assigns: what it changes has a value on either way."""
        test, before = _with(values, statement.test), self.entries
        ways: list[Values] = [{**values}, {**values}]
        names = self.shared.names
        shares: list[dict[str, Share]] = []
        entries: list[dict[_Entry, ast.expr]] = []
        for way, part in zip(ways, (statement.body, statement.orelse), strict=True):
            self.entries, self.shared.names = [], {**names}
            for inner in part:
                self.run(inner, way)
            shares.append(self.shared.names)
            entries.append({e._replace(value=_NOTHING): e.value for e in self.entries})
            if len(entries[-1]) < len(self.entries):
                raise refusal(statement, "an entry has one value on each of its ways")
        self.entries = before
        self.shared.after(*shares)
        for place in dict.fromkeys([*entries[0], *entries[1]]):
            taken = [way.get(place, ast.Constant(0)) for way in entries]
            self.entries.append(place._replace(value=ast.IfExp(test, *taken)))
        for name in sorted({*ways[0], *ways[1]}):
            yes, no = (way.get(name, ast.Name(name)) for way in ways)
            values[name] = yes if yes is no else ast.IfExp(test, yes, no)

    def loop(self, statement: ast.For, values: Values) -> None:
        """A loop: what it adds to a name is a sum, and what it gives to entries is a list of them."""
        target, over, members = _counted(statement.target, _with(values, statement.iter))
        bound = {node.id for node in ast.walk(statement.target) if isinstance(node, ast.Name)}
        changed = {name for s in statement.body for node in ast.walk(s) for name in _changed(node)}
        held = {name: ast.Name(f"{_HELD}{name}") for name in changed - bound}
        for name in {name for s in statement.body for node in ast.walk(s) for name in _in_place(node)}:
            values |= {other.name: ast.Name(f"{CHANGED}{other.name}") for other in self.shared.others(name)}
        inside: Values = {**_visible(values, bound), **members, **held}
        before, self.entries = self.entries, []
        for name, part in _members(statement):
            self.shared.give(name, part, _with(values, part))
        lost = {*_lost(inside), *held}
        for inner in _without_continue(statement.body):
            self.run(inner, inside)
        if not _lost(inside) <= lost:
            raise refusal(statement, _SAME_ARRAY)
        generator = ast.comprehension(target, over, [], 0)
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
        name, indices, value, adds, shifts, columns = entry
        if any(isinstance(n, ast.Name) and n.id.startswith(_HELD) for n in ast.walk(value)):
            raise refusal(statement, _CARRIED)
        letter, old = getattr(generator.target, "id", None), values.get(name, ast.Name(name))
        if not indices:
            if not isinstance(old, ast.List) or old.elts:
                raise refusal(statement, "a list that a loop appends to is empty before: g = []")
            values[name] = ast.ListComp(value, [generator])
            return
        empty = _is_zero(old) or (_is_zero(old, _GARBAGE) and _is_every(generator))
        if letter not in indices and adds:
            total = ast.Call(ast.Name("sum"), [ast.GeneratorExp(value, [generator])], [])
            self.entries.append(entry._replace(value=total))
            return
        if letter != indices[-1] or letter in indices[:-1] or not (indices[1:] or adds or empty):
            raise refusal(statement, "entries are assigned where an array of zeros is filled row by row")
        if shifts[-1]:
            generator, value = moved(generator, value, shifts[-1])
        array = filled(value, generator)
        if indices[1:]:
            self.entries.append(_Entry(name, indices[:-1], array, adds, shifts[:-1], False))
        else:
            array = ast.Attribute(array, "T") if columns else array
            values[name] = ast.BinOp(_zeros(old) if empty else old, ast.Add(), array)


_NOTHING = ast.Constant(None)
_HELD, _LEFT = "_before_", "_last_"
"""What a name has before a round of a loop, and what the last round leaves in it, which is no formula."""
_LAST_ROUND = "what the last round of a loop leaves in a name is no formula, and each index has a name of its own"
_SAME_ARRAY = "g = x names the same array in Python, and what changes one changes the other: write g = x.copy()"
_CARRIED = "a loop adds to names, and what it adds is not made of what it has added before"


def _changed(node: ast.AST) -> list[str]:
    """The name that a target is, or whose entries it is."""
    base = node.value if isinstance(node, ast.Subscript) else node
    return [base.id] if isinstance(getattr(node, "ctx", None), ast.Store) and isinstance(base, ast.Name) else []


def _in_place(node: ast.AST) -> list[str]:
    """The name whose array a statement changes."""
    target = node.target if isinstance(node, ast.AugAssign) else node if isinstance(node, ast.Subscript) else None
    return _changed(target) if target is not None else []


def _lost(values: Values) -> set[str]:
    """The names of arrays that another name of them has changed."""
    return {name for name, value in values.items() if getattr(value, "id", "").startswith(CHANGED)}


def _is_word(statement: ast.stmt) -> bool:
    """Whether a statement is a text such as the one that says what a function does."""
    value = getattr(statement, "value", None)
    return isinstance(statement, ast.Expr) and isinstance(value, ast.Constant) and isinstance(value.value, str)


def _is_unused(statement: ast.stmt) -> bool:
    """Whether a statement is a value that nothing is done with; a call may change what it is given: g.fill(0)."""
    calls = [node.func for node in ast.walk(statement) if isinstance(node, ast.Call)]
    return isinstance(statement, ast.Expr) and all(getattr(func, "id", "") == "print" for func in calls)


def _appended(statement: ast.stmt) -> tuple[str, ast.expr] | None:
    """The list and the value of ``g.append(value)``."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "append":
        return None
    name = getattr(call.func.value, "id", "")
    return (name, call.args[0]) if name and len(call.args) == 1 and not call.keywords else None


def _members(statement: ast.For) -> list[tuple[str, ast.expr]]:
    """The names that a loop gives to indices, and to entries and rows of arrays, which are parts of these."""
    over, target = statement.iter, statement.target
    called = getattr(over.func, "id", "") if isinstance(over, ast.Call) else ""
    args = over.args if isinstance(over, ast.Call) else []
    names = target.elts if isinstance(target, ast.Tuple) else [target]
    index = ast.Constant(0)
    if called == "range":
        of: list[ast.expr] = [index]
    else:
        entries = [ast.Subscript(x, index) for x in (args if called in ("zip", "enumerate") else [over])]
        of = [index, *entries] if called == "enumerate" else [*entries]
    return [(x.id, value) for x, value in zip(names, of, strict=False) if isinstance(x, ast.Name)]


def _counted(target: ast.expr, over: ast.expr) -> tuple[ast.expr, ast.expr, Values]:
    """A loop over ``enumerate(x)`` as one over the range of its index, with the entry by name."""
    names = target.elts if isinstance(target, ast.Tuple) else []
    called = getattr(over.func, "id", "") if isinstance(over, ast.Call) and len(over.args) == 1 else ""
    if called != "enumerate" or len(names) != 2 or not all(isinstance(x, ast.Name) for x in names):
        return target, over, {}
    array = over.args[0]  # type: ignore[attr-defined]
    length = ast.Call(ast.Name("range"), [ast.Call(ast.Name("len"), [array], [])], [])
    return names[0], length, {names[1].id: ast.Subscript(array, names[0])}  # type: ignore[attr-defined]


def _without_continue(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements of a loop with what follows ``if c: continue`` in the other branch."""
    for k, statement in enumerate(body):
        if isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Continue) and not statement.orelse:
            before, rest = statement.body[:-1] or [ast.Pass()], _without_continue(body[k + 1 :])
            return [*body[:k], ast.If(statement.test, before, rest)]
    return list(body)


def _is_every(generator: ast.comprehension) -> bool:
    """Whether a loop runs over all entries of an axis."""
    over = generator.iter
    return not (isinstance(over, ast.Call) and len(over.args) != 1) and not generator.ifs


def _zeros(node: ast.expr) -> ast.expr:
    """The array that a loop fills, as zeros: it has its sizes already, which may be those of another one."""
    if not isinstance(node, ast.Call):
        return node
    like = ast.unparse(node.func).endswith("like")
    sizes = [a for a in node.args if _DTYPE.fullmatch(ast.unparse(a)) is None]
    if len(sizes) == 1 and isinstance(sizes[0], ast.Attribute) and sizes[0].attr == "shape":
        like, sizes = True, [sizes[0].value]
    return ast.Call(ast.Name("zeros_like" if like else "zeros"), sizes, [])


_DTYPE = re.compile(r"(?:\w+\.)?(?:float|double|complex|half|bfloat)\d*|'\w+'|\"\w+\"")
"""Kinds of numbers that derivatives may have."""


def _is_zero(node: ast.expr, names: tuple[str, ...] = ("zeros", "zeros_like")) -> bool:
    """Whether an expression is 0 or an array of zeros, of numbers that are not cut off to whole ones."""
    if isinstance(node, ast.Call) and any(_WHOLE.search(ast.unparse(a)) for a in [*node.args, *node.keywords]):
        return False
    name = getattr(getattr(node, "func", None), "attr", None) or getattr(getattr(node, "func", None), "id", None)
    return (isinstance(node, ast.Constant) and node.value == 0) or name in names


_WHOLE = re.compile(r"(?<![\w.])(?:(?:np|numpy|torch|jnp)\.|['\"])?(?:u?int\d*|long|bool)_?(?!\w)")
"""Whole numbers as a kind of numbers."""
_GARBAGE = ("empty", "empty_like")
"""Functions that make arrays of which a loop has to give all entries a value."""


def _added(node: ast.expr, held: str, statement: ast.stmt) -> ast.expr:
    """What is added to a name in one step of a loop, of its value after the step."""
    if isinstance(node, ast.Name) and node.id == held:
        return ast.Constant(0)
    if isinstance(node, ast.IfExp):
        return type(node)(node.test, _added(node.body, held, statement), _added(node.orelse, held, statement))
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


def _is_mask(node: ast.expr) -> bool:
    """Whether an index is a condition on entries."""
    return any(isinstance(n, ast.Compare) for n in ast.walk(node))


class _Unmasked(ast.NodeTransformer):
    """Leaves away a condition that entries are taken by: where they are put by it, too, it is said already."""

    def __init__(self, mask: ast.expr):
        self.mask = ast.unparse(mask)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        return self.generic_visit(node) if name in ENTRYWISE else node  # type: ignore[return-value]

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        return node if isinstance(node.op, ast.MatMult) else self.generic_visit(node)  # type: ignore[return-value]

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return self.generic_visit(node) if node.attr in ENTRYWISE else node  # type: ignore[return-value]

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if ast.unparse(node.slice) == self.mask:
            return node.value
        kept = all(is_whole_axis(x) or getattr(x, "value", 0) is None for x in parts_of(node))
        return self.generic_visit(node) if kept else node  # type: ignore[return-value]


def _with(values: Values, node: ast.expr) -> ast.expr:
    """An expression with the values of names; those that its own generators bind stay."""
    bound = {name for g in ast.walk(node) if isinstance(g, ast.comprehension) for name in _free(g.target)}
    made = _Replaced(_visible(values, bound)).visit(copy.deepcopy(node))
    if sum(1 for _ in ast.walk(made)) > LARGEST:
        raise FormulaError("the text has statements whose formula is too long; write the formula itself")
    return made  # type: ignore[no-any-return]


LARGEST = 4_000
"""Nodes of an expression in which names are replaced by their values."""
