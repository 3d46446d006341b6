"""Numbers that are taken out of tensors, ``x.max().item()``, and what the text of the program does with them.

No graph knows what Python computes of them, ``2 * c``, nor what it asks, ``if c > 1``.  So where a graph is compiled,
the text is read from the place on where a number was taken: what is printed, or kept in a list that nobody reads,
chooses nothing; what is computed with tensors or asked of does.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Collection, Iterable, Iterator
from types import CodeType
from typing import NamedTuple

from symgrad.tape.formulas.program_texts import Text, end_of, parsed

_SHOWING = {"print", "len", "type", "isinstance", "id"}
"""Functions that show a number, or ask nothing of its value."""

_TEXTS = {"str", "repr", "format"}
"""Functions that make text of a number."""

_READING = {"int", "float", "complex", "len"}
"""Functions that make a number of a text."""

_LOOKING_UP = {"get", "pop", "setdefault", "index", "count", "find"}
"""Methods of tables, lists and texts whose answer depends on the text that they are given."""

_GIVING = {
    "float", "complex", "round", "abs", "min", "max", "sum", "sorted", "reversed", "list", "tuple", "set", "dict",
    "zip", "enumerate", "map", "filter", "iter", "next", "pow", "divmod",
}  # fmt: skip
"""Functions of which the result is a number again, or a container of such."""

_DISTINCT = {"dict", "frozenset", "set"}
"""Functions that make a container of as many entries as there are different ones."""

_ROOMS = {"math", "cmath", "np", "numpy", "statistics"}
"""Modules whose functions make numbers of numbers."""

_FACTS = {"shape", "size", "nbytes", "ndim", "strides", "dtype", "itemsize"}
"""What is asked of an array and not of its entries."""

_HOLDING = {"list", "dict", "set", "deque", "defaultdict"}
"""What makes an empty container."""


def is_told(code: CodeType) -> bool:
    """Whether there is a text to read: not of what is typed into Python's prompt, or made by ``exec``.

    >>> is_told(compile("loss.item()", "a file that is not there", "eval"))
    False
    """
    return parsed("".join(linecache.getlines(code.co_filename))) is not None


def is_used(code: CodeType, at: int, array: bool = False) -> bool:
    """Whether the program computes with the number that an instruction takes, or asks of it, as far as its file tells.

    With an ``array`` of NumPy's it does so beside tensors: functions that no file tells give arrays again.

    >>> is_used(compile("loss.item()", "a file that is not there", "eval"), 0)
    False
    """
    text = parsed("".join(linecache.getlines(code.co_filename)))
    if text is None:
        return False
    ends = text.ends.get(end_of(code, at), ())
    return any(
        _reaches(text, node, _FACTS, array) if isinstance(node, ast.Call) else is_read_again(text, node)
        for node in ends
        if not isinstance(node, ast.Attribute)
    )


def is_retold(code: CodeType, at: int) -> bool:
    """Whether a text that an instruction makes of a number is looked up, compared or read again, or no file tells.

    >>> is_retold(compile("print(f'{loss}')", "a file that is not there", "eval"), 0)
    True
    """
    text = parsed("".join(linecache.getlines(code.co_filename)))
    return text is None or any(is_read_again(text, node) for node in text.ends.get(end_of(code, at), ()))


def is_shown(code: CodeType, at: int) -> bool:
    """Whether what an instruction gives ends in text, or in an assertion, as far as the file tells.

    >>> is_shown(compile("print(len(x))", "a file that is not there", "eval"), 0)
    False
    """
    text = parsed("".join(linecache.getlines(code.co_filename)))
    if text is None:
        return False
    calls = [node for node in text.ends.get(end_of(code, at), ()) if isinstance(node, ast.Call)]
    ends = [_shown_in(text, call) for call in calls]
    return bool(ends) and all(end is not None and not (_is_text(end) and is_read_again(text, end)) for end in ends)


class _Told(NamedTuple):
    """An expression that gives a text in which a number is told."""

    node: ast.AST


class _Given(NamedTuple):
    """A call of a function that the file does not tell."""

    node: ast.AST


_Onward = Iterator[ast.AST | _Told | _Given | None]


def reaches_a_use(text: Text, node: ast.expr) -> bool:
    """Whether the number that an expression gives is computed with beside tensors, or asked of."""
    return _reaches(text, node, ())


def is_read_again(text: Text, node: ast.AST) -> bool:
    """Whether a text that tells a number is looked up in a table, or an answer or a number made of it that is used."""
    return _reaches(text, _Told(node), ())


def _reaches(text: Text, start: ast.AST | _Told, besides: Collection[str], array: bool = False) -> bool:
    rest: list[ast.AST | _Told | _Given | None] = [start]
    seen: set[ast.AST | _Told] = set()
    while rest:
        place = rest.pop()
        if isinstance(place, _Given):
            place = place.node if array else None
        if place is None:
            return True
        if place not in seen and getattr(place, "attr", None) not in besides:
            seen.add(place)
            rest += _read(text, place.node) if isinstance(place, _Told) else _onward(text, place)
    return False


def _onward(text: Text, node: ast.AST) -> _Onward:
    """The expressions that a number goes to from the one that it stands in; None where it is used."""
    above: ast.AST | None = text.above.get(node)
    match above:
        case ast.stmt() | ast.comprehension() | ast.NamedExpr():
            yield from _in_statement(text, above, node)
        case ast.expr() if _is_text(above):
            yield _Told(above)
        case ast.BinOp(left=left, right=right):
            other = left if right is node else right
            yield above if _is_number(text, other) or _shown_in(text, above) is not None else None
        case ast.Subscript(slice=index) if index is node:
            yield None
        case ast.IfExp(test=test) if test is node:
            yield None
        case ast.Call():
            yield from _passed(text, above, node)
        case ast.Lambda() | ast.Yield():
            yield from text.results(above if isinstance(above, ast.Lambda) else text.scope(above))
        case ast.arguments():
            yield from text.defaulted(above, node)
        case ast.keyword():
            yield from _passed(text, text.above[above], above)
        case ast.expr():
            yield above


def _read(text: Text, node: ast.AST) -> _Onward:
    """What is made of a text that tells a number; None where the way of the program depends on it."""
    above: ast.AST | None = text.above.get(node)
    match above:
        case ast.Compare():
            yield above  # an answer, which may be asserted
        case ast.Subscript(slice=index, ctx=ast.Load()) if index is node:
            yield None
        case ast.If(test=asked) | ast.While(test=asked) | ast.IfExp(test=asked) | ast.Match(subject=asked):
            yield None if asked is node else _Told(above)
        case ast.Attribute() if isinstance(call := text.above.get(above), ast.Call):  # label.strip()
            yield _Told(call)
        case ast.BinOp() | ast.BoolOp() | ast.UnaryOp():
            yield _Told(above)
        case ast.expr() if _is_text(above):
            yield _Told(above)
        case ast.Call(func=ast.Name(id=name)) if name in _READING:
            yield above
        case ast.Call(func=ast.Attribute(attr=name)) if name in _LOOKING_UP:
            if not isinstance(text.above.get(above), ast.Expr):
                yield None
        case ast.Call():
            yield from map(_Told, _received(text, above, node))
        case ast.keyword() if isinstance(call := text.above.get(above), ast.Call):
            yield from map(_Told, _received(text, call, above))
        case ast.stmt() | ast.NamedExpr():
            yield from (_Told(place) for place in _in_statement(text, above, node) if place is not None)


def _in_statement(text: Text, above: ast.AST, node: ast.AST) -> Iterator[ast.AST | None]:
    """What a statement, or a part of an expression that gives names, does with a number."""
    match above:
        case ast.Assign(targets=targets):
            for target in targets:
                yield from _given_to(text, target)
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target) | ast.NamedExpr(target=target):
            if isinstance(above, ast.AugAssign) and not _is_number(text, target):
                yield None
            if isinstance(above, ast.NamedExpr):
                yield above
            yield from _given_to(text, target)
        case ast.For(iter=of, target=target) | ast.comprehension(iter=of, target=target) if of is node:
            yield from _given_to(text, target)
        case ast.If(body=[ast.Raise()], orelse=[]) if not text.catches:
            return  # as an assertion, which no program has either
        case ast.If() | ast.While() | ast.Match() | ast.comprehension():
            yield None
        case ast.Return():
            yield from text.results(text.scope(node))


_PLAIN = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp)
"""What makes numbers and answers of numbers."""


def _shown_in(text: Text, node: ast.AST) -> ast.AST | None:
    """The text, ``f"{total / steps:.3f}"``, or the assertion, that arithmetic ends in, whatever stands beside it."""
    above: ast.AST | None = text.above.get(node)
    while above is not None and not _is_text(above) and (isinstance(above, _PLAIN) or _calls(above, _GIVING)):
        above = text.above.get(above)
    if above is None or not (_is_text(above) or isinstance(above, ast.Assert) or _calls(above, {"print"})):
        return None
    return above


def _is_text(node: ast.AST) -> bool:
    """Whether an expression makes a text of what stands in it."""
    match node:
        case ast.FormattedValue() | ast.JoinedStr():
            return True
        case ast.BinOp(left=left, right=right):
            return any(isinstance(side, ast.Constant) and isinstance(side.value, str) for side in (left, right))
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str()))):
            return True
    return _calls(node, _TEXTS)


def _calls(node: ast.AST | None, names: set[str]) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def _is_number(text: Text, node: ast.AST, met: frozenset[str] = frozenset()) -> bool:
    """Whether an expression is certainly a plain number or an array, also one that is taken out of a tensor."""

    def are_numbers(row: Iterable[ast.AST | None]) -> bool:
        return all(part is not None and _is_number(text, part, met) for part in row)

    match node:
        case ast.Call(func=ast.Attribute(attr="item" | "numpy")) | ast.Call(func=ast.Name(id="float")):
            return True
        case ast.BinOp(left=left, right=right):
            return are_numbers((left, right))
        case ast.List(elts=row) | ast.Tuple(elts=row):
            return are_numbers(row)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=room)), args=row) if room in _ROOMS:
            return are_numbers(row)  # of tensors, NumPy's functions give tensors
        case ast.Call(func=ast.Attribute(value=held)) | ast.Subscript(value=held) if are_numbers([held]):
            return True
        case ast.Name(id=name) if name in met:
            return True  # as far as what else it is given is
        case ast.Name(id=name) if values := text.values(node, name):
            met |= {name}
            if are_numbers(values):
                return True
    return text.is_number(node)


def _given_to(text: Text, target: ast.AST) -> Iterator[ast.AST | None]:
    """Where a target of an assignment is read."""
    match target:
        case ast.Name() | ast.Attribute():
            yield from text.named(target)
        case ast.Tuple(elts=row) | ast.List(elts=row):
            for part in row:
                yield from _given_to(text, part)
        case ast.Starred(value=part):
            yield from _given_to(text, part)
        case ast.Subscript(value=ast.Name(id=name) as held):
            if not any(_holds(value) for value in text.values(held, name)):
                yield None  # an entry of a tensor
            yield from text.readings(text.scope(target), name)


def _holds(value: ast.AST | None) -> bool:
    match value:
        case ast.List() | ast.Dict() | ast.Set() | ast.ListComp() | ast.DictComp():
            return True
        case ast.BinOp(left=left, right=right):  # [0.0] * n
            return _holds(left) or _holds(right)
        case ast.Call(func=ast.Name(id=name)):
            return name in _HOLDING
        case ast.Call(func=ast.Attribute(value=ast.Name(id=room))):
            return room in _ROOMS
    return False


def _passed(text: Text, call: ast.AST, node: ast.AST) -> _Onward:
    """What becomes of a number that is given to a call, or whose method is called."""
    if not isinstance(call, ast.Call):  # a keyword of a class
        return
    match call.func:
        case function if function is node:
            yield call
        case _ if _is_text(call):  # "{loss}".format(loss=c)
            yield _Told(call)
        case ast.Name(id="len") if isinstance(node, (ast.SetComp, ast.DictComp)) or _calls(node, _DISTINCT):
            yield call
        case ast.Name(id=name) if name in _SHOWING:
            return
        case ast.Name(id=name) if name in _GIVING or name in text.imported:
            yield call
        case ast.Attribute(value=ast.Name(id=room), attr=name) if room in _ROOMS:
            if name not in _FACTS:
                yield call
        case ast.Attribute() | ast.Name() as function if text.is_foreign(function):  # accuracy_score(labels, found)
            yield call
        case ast.Name(id=name) if name in text.functions or name == "setattr":
            yield from _received(text, call, node)
        case ast.Attribute(value=held, attr=name):
            if not isinstance(text.above.get(call), ast.Expr) or name.endswith("_"):
                yield None
            elif text.method(name) is not None:
                yield from _received(text, call, node)
            else:  # values.append(c)
                yield from text.named(held)
        case _:
            if not isinstance(text.above.get(call), ast.Expr):
                yield _Given(call)


def _received(text: Text, call: ast.Call, node: ast.AST) -> Iterator[ast.AST]:
    """Where a function of the file reads what it is given."""
    at = node.arg if isinstance(node, ast.keyword) else call.args.index(node) if node in call.args else None
    yield from (reading for reading, _ in text.received(call, at))
