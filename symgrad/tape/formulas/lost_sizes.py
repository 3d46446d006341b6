"""Sizes of which Python makes plain numbers: ``1.0 / n``, ``math.log(n)``, ``range(n)``.

No size can notice these: Python's float takes it for the int that it is.  So the places are kept where a program reads
the shape of a tensor, and when a graph is compiled, the text of the program is read from there on: what becomes of the
size by name, by arithmetic, and in the functions of the file that it is given to.
"""

from __future__ import annotations

import ast
import itertools
import linecache
import math
import operator
from collections import deque
from collections.abc import Callable, Collection, Iterator
from types import CodeType
from typing import Any, NamedTuple

from symgrad.notices import is_of_user, users_frames
from symgrad.tape.formulas.program_texts import ROOMS, SIZES, Text, end_of, parsed
from symgrad.tape.numbering import sequence
from symgrad.tape.watching.taken import is_read_again, reaches_a_use

KEPT = 4096
"""Places and shapes that are kept."""


class Read:
    """A shape that a program reads, and the instruction that does."""

    __slots__ = ("at", "code", "shape")

    def __init__(self, code: CodeType, at: int, shape: Any):
        self.code = code
        self.at = at
        self.shape = shape

    @property
    def is_of_module(self) -> bool:
        """Whether it is read outside of functions, and may be used at any time later."""
        return self.code.co_name == "<module>"


READ: dict[tuple[int, int, tuple[int, ...]], Read] = {}
"""By the identity of the code, the instruction and the shape."""

LATELY: deque[tuple[int, Read]] = deque(maxlen=4 * KEPT)
"""What was read last, with numbers among those of the nodes of graphs."""

_PLAIN = {"range", "pow", "divmod", "complex", "bytes", "bytearray"}
"""Functions that take a size for the int that it is."""

_ASKING = {"floor", "ceil"}
"""Functions that ask the size itself."""

_LISTING = {
    "dict", "enumerate", "filter", "frozenset", "iter", "list", "map", "next", "reversed", "set", "sorted", "tuple",
    "zip",
}  # fmt: skip
"""Functions that give what they are given, or a container of it."""

_PUTTING = {"add", "append", "appendleft", "extend", "insert", "setdefault", "update"}
_ENTRIES = {"get", "items", "pop", "popleft", "setdefault", "values"}
"""Methods of containers that put something into them, and that give what is in them."""

_TAKING = {"numpy", "tolist", "asarray", "array", "asanyarray", "ascontiguousarray", "asfortranarray"}
"""Calls that take entries out of a tensor, into an array or lists."""

_ASKED_OF_ARRAYS = {"shape", "size", "nbytes", "strides"}

_NUMPY = {"np", "numpy"}
_MAKING = {
    "arange", "empty", "eye", "full", "geomspace", "identity", "linspace", "logspace", "ones", "tri", "zeros",
}  # fmt: skip
_JOINING = {
    "dot", "item", "max", "mean", "median", "min", "prod", "shape", "size", "std", "sum", "tolist", "trace", "var",
}  # fmt: skip
"""NumPy's functions that make an array of a size, and those that make numbers of an array, where the size is lost."""

_STEPS = (2, "num")
_SHAPES: dict[str, tuple[int | str, ...]] = {
    "full": (0, "shape"), "linspace": _STEPS, "logspace": _STEPS, "geomspace": _STEPS,
}  # fmt: skip
"""The arguments that say how large an array is, by place and name, where others say what is in it."""

_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Pow: operator.pow,
    ast.Mod: operator.mod,
    ast.FloorDiv: operator.floordiv,
}
"""Operators between numbers and sizes of which the result is looked for among numbers that are literals, too."""

FEW = 8
"""Numbers that an operand may be, at the most."""


def note_read(frame: Any, shape: Any) -> Read:
    """Keep that a shape is read for the first time at the place where a frame stands."""
    return _kept((id(frame.f_code), frame.f_lasti, tuple(map(int, shape))), frame, shape)


def _kept(key: tuple[int, int, tuple[int, ...]], frame: Any, shape: Any) -> Read:
    if len(READ) >= KEPT:
        READ.pop(next(iter(READ)))
    made = READ[key] = Read(frame.f_code, frame.f_lasti, shape)
    return made


def note_shape(frame: Any, shape: tuple[int, ...]) -> None:
    """Keep that a program of the user's has something of this shape, at the place where a frame stands."""
    key = (id(frame.f_code), ~frame.f_lasti, shape)  # apart from the shapes that are read there
    read = READ.get(key)
    if read is None:
        if not is_of_user(frame.f_code.co_filename):
            return
        read = _kept(key, frame, shape)
    LATELY.append((next(sequence), read))


def sizes_read() -> set[int]:
    """The sizes that programs of users have read of tensors; what is made of others is made of numbers."""
    reads = [read for read in list(READ.values()) if is_of_user(read.code.co_filename)]
    return {int(n) for read in reads for n in read.shape}


def lost(
    sizes: Collection[int], numbers: Collection[float], reads: Collection[Read], entries: Collection[float] = ()
) -> set[int]:
    """The ``sizes`` that a program took for plain numbers, where these may be among the ``numbers`` of a graph.

    Or are plainly among the ``entries`` of its constants, which data are, too.

    What counts is what was read for the graph, ``reads``; and in these files, or in those of the callers, also what is
    kept in attributes or read outside of functions.
    """
    found: set[int] = set()
    files = {read.code.co_filename for read in reads} | {frame.f_code.co_filename for frame in users_frames()}
    for read in list(READ.values()):
        file = read.code.co_filename
        of_others = set(read.shape).isdisjoint(sizes)  # x[1:].shape, where the graph has no x[1:]
        if (of_others and read not in reads) or file not in files or not is_of_user(file):
            continue
        text = parsed("".join(linecache.getlines(file)))
        if text is None:
            continue
        mine = read.is_of_module or read in reads
        flow = _Flow(text)
        for axis, made, kept in flow.losses(end_of(read.code, read.at)):
            taken = read.shape if axis is None else read.shape[axis : axis + 1 or None]
            if not (mine or kept) or (of_others and made is None):
                continue
            among = made is None or any(flow.may_make(n, made, taken) for n in numbers)
            if among or (made is not None and any(flow.makes(n, made, taken) for n in entries)):
                found.update(sizes if of_others else taken)
    return {int(n) for n in found.intersection(sizes)}  # and none of the sizes themselves


def _shows(step: ast.stmt) -> bool:
    """Whether a step of a loop shows something and does nothing else."""
    return isinstance(step, ast.Expr) and isinstance(step.value, ast.Call) and ast.unparse(step.value.func) == "print"


class Place(NamedTuple):
    """An expression that is a size, by its axis (None for any), or the whole shape."""

    node: ast.expr
    axis: int | None = None
    whole: bool = False
    kept: bool = False
    """Whether an attribute holds it."""
    held: bool = False
    """Whether the expression is a container of it."""
    array: bool = False
    """Whether it is an array of NumPy's that is so long."""
    entries: bool = False
    """Whether it is what entries were taken out into, an array or lists, whose own length is a number."""
    text: bool = False
    """Whether it is a text that tells the size."""


class Loss(NamedTuple):
    """The axis whose size is taken for a number (None for any), and the number that is made; None for steps, too."""

    axis: int | None
    made: ast.expr | None
    kept: bool


class _Flow:
    """What becomes of sizes in the text of a program."""

    def __init__(self, text: Text):
        self.text = text

    # ------------------------------------------------------------------------------------------ where sizes go

    def losses(self, end: tuple[int | None, int | None]) -> set[Loss]:
        """What is lost of the shape that is read in the expression that ends here."""
        found: set[Loss] = set()
        rest = [place for node in self.text.ends.get(end, ()) for place in self._begin(node)]
        seen: set[Place] = set()
        while rest:
            place = rest.pop()
            if place in seen:
                continue
            seen.add(place)
            for step in self._way(place)(place):
                if isinstance(step, Loss):
                    found.add(step)
                else:
                    rest.append(step)
        return found

    def _way(self, place: Place) -> Callable[[Place], Iterator[Place | Loss]]:
        """What follows a place, by what stands there."""
        if place.held:
            return self._taken_from
        if place.entries:
            return self._of_entries
        if place.text:
            return self._spelled
        return self._joined if place.array else self._onward

    def _begin(self, node: ast.expr) -> Iterator[Place]:
        match node:
            case ast.Call(func=ast.Attribute(attr=name)) if name in _TAKING:
                yield Place(node, entries=True)
            case ast.Call(func=ast.Attribute(value=room)) if self.text.is_foreign(room):
                yield Place(node, whole=True)
            case ast.Call(func=ast.Attribute(attr="size"), args=[axis]):
                yield Place(node, _whole_number(axis))
            case ast.Call(func=ast.Attribute(attr="stride")) | ast.Attribute(attr="nbytes"):
                yield Place(node)
            case ast.Call(func=ast.Attribute(attr=name)) if name in SIZES:
                yield Place(node, whole=name == "size")
            case ast.Attribute() | ast.Call(func=ast.Name()):
                yield Place(node, whole=True)

    def _taken_from(self, place: Place) -> Iterator[Place | Loss]:
        """What is taken from a container by name, ``sizes["n"]``."""
        match self.text.above.get(place.node):
            case ast.Subscript(value=value) as part if value is place.node:
                yield place._replace(node=part, held=False)
            case ast.Assign(targets=targets):
                for target in targets:
                    yield from self._taken(place, target)
            case ast.AnnAssign(target=target):
                yield from self._taken(place, target)
            case ast.Attribute(attr=name) as asked if name in _ENTRIES and isinstance(
                call := self.text.above.get(asked), ast.Call
            ):
                yield place._replace(node=call, held=name in {"items", "values"})
            case ast.Starred() as unpacked:
                yield place._replace(node=unpacked, held=False)
            case ast.Call() | ast.keyword() | ast.For() | ast.comprehension() | ast.Return():
                yield from self._onward(place)

    def _joined(self, place: Place) -> Iterator[Place | Loss]:
        """What is made of an array of NumPy's: another one, or numbers of its entries."""
        above: Any = self.text.above.get(place.node)
        match above:
            case ast.Attribute(attr=name):
                if name in _JOINING:
                    yield Loss(place.axis, above, place.kept)
            case ast.BinOp():
                yield place._replace(node=above)
            case ast.Subscript():
                yield Loss(place.axis, above, place.kept)
            case _:
                yield from self._onward(place)

    def _of_entries(self, place: Place) -> Iterator[Place | Loss]:
        """What is asked of an array, or of lists, with a tensor's entries: numbers, where the program uses them."""
        node = place.node
        above: Any = self.text.above.get(node)
        match above:
            case ast.Attribute(attr=name):
                if name in _ASKED_OF_ARRAYS:
                    yield from self._used(place, above)
                elif isinstance(call := self.text.above.get(above), ast.Call):  # a.astype(int)
                    yield place._replace(node=call)
            case ast.Call(func=ast.Name(id="len")):
                yield from self._used(place, above)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=room), attr=name)) if room in _NUMPY:
                if name in _ASKED_OF_ARRAYS:
                    yield from self._used(place, above)
                elif name not in _JOINING:
                    yield place._replace(node=above)
            case ast.Subscript(value=value) if value is not node:
                return
            case ast.comprehension(iter=of) if of is node:
                made: Any = self.text.above[above]
                yield from self._used(place, made)
                yield place._replace(node=made)  # of which the length may be asked
            case ast.For(iter=of, body=steps) if of is node and not all(map(_shows, steps)):
                yield Loss(None, None, place.kept)
            case ast.BinOp() | ast.UnaryOp() | ast.Subscript():
                yield place._replace(node=above)
            case ast.Call() | ast.keyword() | ast.stmt() | ast.NamedExpr() | ast.Lambda():
                yield from (step for step in self._onward(place) if isinstance(step, Place))

    def _used(self, place: Place, node: ast.expr) -> Iterator[Loss]:
        if reaches_a_use(self.text, node):
            yield Loss(None, None, place.kept)

    def _spelled(self, place: Place) -> Iterator[Loss]:
        if is_read_again(self.text, place.node):
            yield Loss(None, None, place.kept)

    def _onward(self, place: Place) -> Iterator[Place | Loss]:
        """What is made of a size in the expression, or statement, that it stands in."""
        node = place.node
        above: Any = self.text.above.get(node)
        match above:
            case ast.Dict() | ast.List() | ast.Tuple() if self._assigned(above):
                yield place._replace(node=above, held=True)
            case ast.Subscript():
                yield from self._subscript(place, above)
            case ast.BinOp():
                yield from self._computed(place, above)
            case ast.UnaryOp() | ast.IfExp() | ast.Starred():
                yield place._replace(node=above)
            case ast.Attribute(attr=name):
                yield from self._asked(place, above, name)
            case ast.Call(func=function) if function is not node:
                yield from self._passed(place, above, above.args.index(node) if node in above.args else None)
            case ast.keyword(arg=name):
                call = self.text.above[above]
                if isinstance(call, ast.Call):
                    yield from self._passed(place, call, name)
            case ast.stmt() | ast.comprehension() | ast.NamedExpr():
                yield from self._in_statement(place, above)
            case ast.Tuple(elts=row) if isinstance(self.text.above.get(above), (ast.Assign, ast.Call)):
                yield from self._beside(place, above, row.index(node))
            case ast.Tuple() | ast.List() | ast.Dict() | ast.ListComp() | ast.GeneratorExp():
                yield place._replace(node=above, axis=None, whole=False)
            case ast.Lambda() | ast.Yield():
                yield from self._given_back(place, above if isinstance(above, ast.Lambda) else self.text.scope(above))
            case ast.arguments():
                yield from (place._replace(node=node) for node in self.text.defaulted(above, node))
            case ast.FormattedValue():
                yield place._replace(node=above, text=True)

    def _in_statement(self, place: Place, above: Any) -> Iterator[Place | Loss]:
        """Where a size goes from a statement, or from a part of an expression that gives names."""
        match above:
            case ast.Assign(targets=targets):
                for target in targets:
                    yield from self._taken(place, target)
            case ast.AnnAssign(target=target):
                yield from self._taken(place, target)
            case ast.NamedExpr(target=target):
                yield place._replace(node=above)
                yield from self._taken(place, target)
            case ast.For(iter=of, target=target) | ast.comprehension(iter=of, target=target) if of is place.node:
                for part in target.elts if isinstance(target, ast.Tuple) else [target]:
                    yield from self._taken(Place(place.node, kept=place.kept), part)
            case ast.AugAssign(target=target, op=op):
                made = ast.BinOp(target, op, place.node)
                yield from (step for step in self._computed(place, made) if isinstance(step, Loss))
                yield from self._taken(place, target)
            case ast.Return():
                yield from self._given_back(place, self.text.scope(above))

    def _given_back(self, place: Place, function: ast.AST) -> Iterator[Place]:
        yield from (place._replace(node=result) for result in self.text.results(function))

    def _subscript(self, place: Place, part: ast.Subscript) -> Iterator[Place | Loss]:
        """What is taken of sizes, and what lists and tables have at the place of a size."""
        if part.value is not place.node:
            tables = self.text.values(part.value, part.value.id) if isinstance(part.value, ast.Name) else [part.value]
            if any(isinstance(table, (ast.List, ast.Tuple, ast.Dict)) for table in tables):
                yield Loss(place.axis, None, place.kept)
        elif place.whole:
            yield Place(part, _whole_number(part.slice), isinstance(part.slice, ast.Slice), place.kept)
        else:
            yield place._replace(node=part)

    def _asked(self, place: Place, asked: ast.Attribute, name: str) -> Iterator[Place | Loss]:
        """What an attribute of sizes gives."""
        call = self.text.above.get(asked)
        if name == "numel" and isinstance(call, ast.Call):
            yield place._replace(node=call, whole=False)
        else:
            yield Loss(place.axis, asked, place.kept)

    def _assigned(self, row: ast.expr) -> bool:
        """Whether a container is given a name, and not names for its entries."""
        above = self.text.above.get(row)
        targets = above.targets if isinstance(above, ast.Assign) else [getattr(above, "target", None)]
        return isinstance(above, (ast.Assign, ast.AnnAssign)) and not isinstance(targets[0], (ast.Tuple, ast.List))

    def _beside(self, place: Place, row: ast.expr, k: int) -> Iterator[Place]:
        """``n, m = A.shape[0], A.shape[1]``: the name that the entry ``k`` of a row is given."""
        match self.text.above.get(row):
            case ast.Assign(targets=[ast.Tuple(elts=names)]) if k < len(names):
                yield from self._taken(place, names[k])
            case ast.Call(func=ast.Attribute(value=ast.Name(id=room), attr=name)) as call if room in _NUMPY:
                if name in _MAKING:
                    yield place._replace(node=call, whole=False, array=True)

    def _taken(self, place: Place, target: ast.expr) -> Iterator[Place]:
        """Where a name that is given a size is read."""
        if isinstance(target, (ast.Tuple, ast.List)) and place.whole:
            starred = next((k for k, t in enumerate(target.elts) if isinstance(t, ast.Starred)), len(target.elts))
            for k, name in enumerate(target.elts):
                if k < starred:
                    yield from self._taken(place._replace(axis=k, whole=False), name)
                elif k > starred:
                    yield from self._taken(place._replace(axis=k - len(target.elts), whole=False), name)
        elif isinstance(target, (ast.Tuple, ast.List)):  # one of them
            for part in target.elts:
                yield from self._taken(place, part)
        elif isinstance(target, (ast.Name, ast.Attribute)):
            kept = place.kept or isinstance(target, ast.Attribute)
            yield from (place._replace(node=node, kept=kept) for node in self.text.named(target))
        elif isinstance(target, ast.Subscript):  # table["n"]
            yield from (place._replace(node=node, held=True) for node in self.text.named(target.value))

    def _computed(self, place: Place, made: ast.BinOp) -> Iterator[Place | Loss]:
        left, right = made.left, made.right
        if any(isinstance(side, ast.Constant) and isinstance(side.value, str) for side in (left, right)):
            yield place._replace(node=made, text=True)  # "%d" % n, "ab" * n
            return
        if isinstance(left if right is place.node else right, (ast.List, ast.Tuple, ast.ListComp)):
            yield Loss(place.axis, None, place.kept)
        elif right is place.node and self.text.is_float(left):
            yield Loss(place.axis, made, place.kept)
            yield place._replace(node=made)  # int(0.5 * n)
        elif self.text.is_number(left if right is place.node else right) or (
            left is place.node and isinstance(made.op, (ast.FloorDiv, ast.Mod))  # by whatever an argument is
        ):
            yield place._replace(node=made)
        elif right is place.node:  # beside what may be a float
            yield Loss(place.axis, made, place.kept)

    def _passed(self, place: Place, call: ast.Call, at: int | str | None) -> Iterator[Place | Loss]:
        """What a function makes of a size that it is given as argument ``at``."""
        match call.func:
            case ast.Name(id=name) if name in _PLAIN or (name in self.text.imported and name not in _ASKING):
                yield Loss(place.axis, None, place.kept)
            case ast.Attribute(value=ast.Name(id=room), attr=name) if room in ROOMS and name not in _ASKING:
                yield Loss(place.axis, None, place.kept)
            case ast.Attribute(value=ast.Name(id=room), attr=name) if room in _NUMPY and (
                place.array or name in _MAKING
            ):
                if place.array and name in _JOINING:
                    yield Loss(place.axis, call, place.kept)
                elif not place.array and at not in _SHAPES.get(name, (at,)):
                    yield Loss(place.axis, None, place.kept)
                else:
                    yield place._replace(node=call, whole=False, array=True)
            case ast.Attribute() | ast.Name() as function if self.text.is_foreign(function):
                yield Loss(place.axis, call, place.kept)
                yield place._replace(node=call, whole=False)
            case ast.Name(id="str" | "repr" | "format"):
                yield place._replace(node=call, text=True)
            case ast.Attribute(value=ast.Constant(value=str())):  # "{}".format(n)
                yield place._replace(node=call, text=True)
            case ast.Name(id=name) if name in _LISTING:
                yield place._replace(node=call, whole=place.whole and name in {"list", "tuple"})
            case ast.Name(id="int"):
                yield Loss(place.axis, call, place.kept)
                yield place._replace(node=call)
            case ast.Name(id="min" | "max" | "abs" | "sum"):
                yield place._replace(node=call, whole=False, held=False)
            case ast.Attribute(value=held, attr=name) if name in _PUTTING:  # sizes.append(n)
                yield from (place._replace(node=node, held=True) for node in self.text.named(held))
            case _:
                for node, inside in self.text.received(call, at):
                    yield place._replace(node=node, held=inside or place.held)

    # -------------------------------------------------------------------------------------- what stands beside them

    def may_make(self, number: float, made: ast.expr, sizes: Collection[int]) -> bool:
        """Whether a number of a graph may be made of a size: no literal of the file tells it, or it is this one."""
        return abs(number) not in self.text.literals or self.makes(number, made, sizes)

    def makes(self, number: float, made: ast.expr, sizes: Collection[int]) -> bool:
        """Whether an expression makes a number, as far as literals tell; in single precision, too."""
        if number in sizes and not isinstance(made, ast.BinOp):
            return True
        return any(math.isclose(number, found, rel_tol=1e-7) for found in self._possible(made, sizes))

    def _possible(self, node: ast.AST | None, sizes: Collection[int], met: frozenset[str] = frozenset()) -> set[float]:
        """The numbers that an expression may be, where its parts are literals and sizes; none where it has others."""
        match node:
            case ast.Constant(value=int(value) | float(value)):
                return {value}
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return {-value for value in self._possible(operand, sizes, met)}
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                rows = [sorted(self._possible(side, sizes, met))[:FEW] for side in (left, right)]
                return {made for pair in itertools.product(*rows) if (made := _computed(type(op), *pair)) is not None}
            case ast.Name(id=name) if name not in met:
                return set().union(*(self._possible(v, sizes, met | {name}) for v in self.text.values(node, name)))
            case ast.Call(func=ast.Name(id="int"), args=[argument]):
                return {math.trunc(value) for value in self._possible(argument, sizes, met) if math.isfinite(value)}
            case ast.Call(func=ast.Name(id="float"), args=[argument]):
                return self._possible(argument, sizes, met)
        return set(sizes) if node is not None and self.text.is_number(node) and not self.text.is_float(node) else set()


def _computed(op: type, left: float, right: float) -> float | None:
    """What an operator makes of two numbers; None where that is no real number."""
    try:
        made = _OPERATORS[op](left, right)
    except ArithmeticError:
        return None
    return None if isinstance(made, complex) else made


def _whole_number(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value=int(k)):
            return k
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(k))):
            return -k
    return None
