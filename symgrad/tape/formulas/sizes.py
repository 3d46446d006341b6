"""Numbers that know they are sizes, or made of sizes, so that formulas show letters and not numbers.

What a program asks of them (``if n > m``, ``min(n, 10)``, ``n in (2, 3)``) is noted for whoever wants to know: the
steps that follow hold where the answers are the same.  While nobody watches, what was asked last is kept, for graphs
that are compiled later.
"""

from __future__ import annotations

import builtins
import functools
import itertools
import math
import operator
import sys
import threading
import weakref
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from symgrad.notices import is_of_user
from symgrad.tape.formulas.lost_sizes import LATELY, Read, lost
from symgrad.tape.numbering import looked, passes, sequence
from symgrad.tape.watching.taken import is_shown

LONGEST = 8
"""Steps of arithmetic that a number remembers, with those of the numbers it met; after more of them it is plain."""
FEW = 16
"""Entries of constants up to which they may be numbers that a program made of sizes, ``tensor([1.0 / n])``."""

_STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "pow": operator.pow,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "bitwise_and": operator.and_,
}

_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**", "floor_divide": "//", "remainder": "%",
    "bitwise_and": "&", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip
IN_PYTHON = {"neg": "(-{})", **{name: f"({{}} {sign} {{}})" for name, sign in _SIGNS.items()}}
"""How Python writes the ops of steps and comparisons."""

SHARE = "share"
"""The step that divides a size where nothing is left."""
TURNED = "turned "
"""What stands before the name of a step of which the number made of sizes is the second operand."""


class Comparison(NamedTuple):
    """What a program asked of sizes, by the name of the op, and the answer."""

    name: str
    left: Any
    right: Any
    answer: bool


KEPT = 4096
"""How many comparisons are kept while nobody watches."""


class _Asked(threading.local):
    """The comparisons of the runs watched in this thread, the innermost last; of no run, with numbers among nodes'."""

    def __init__(self) -> None:
        self.runs: list[list[Comparison]] = []
        self.lately: deque[tuple[int, Comparison]] = deque(maxlen=KEPT)


_ASKED = _Asked()
_LOCK = threading.Lock()
_LENGTH = len
_COUNT = [0]
"""How many runs are watched in all threads."""

_MEASURED: dict[int, Any] = {}
"""Tensors, and nodes of such, whose ``len`` was asked while nobody watched: Python makes a plain number of it.
References to them, with the places that asked, by their identity, as tensors are compared entry by entry."""


def note_length(tensor: Any, part: Sequence[Any] | None) -> None:
    """Note that a program asks the length of a tensor, which is called from the caller of this.

    ``part``: its sizes, where it is a part of another one.
    """
    x, frame = tensor if tensor._node is None else tensor._node, sys._getframe(2)
    if not is_of_user(frame.f_code.co_filename):
        return
    known: Any = _MEASURED.get(id(x))
    if known is None or known[0]() is not x:
        known = _MEASURED[id(x)] = (weakref.ref(x, functools.partial(_forget, id(x))), set())
    known[1].add((frame.f_code, frame.f_lasti))
    made = tensor._node is not None or (tensor._extra is not None and tensor._extra.sized)
    if (made or part) and not _ASKED.runs:  # the graph may be without it
        _ASKED.lately.append((next(sequence), fixed_number(part[0] if part else Size(tensor._value.shape[0]))))


def note_entries(sized: Any) -> None:
    """Note that a program takes numbers out of a constant which is made of these sizes, ``ones(n).sum().item()``."""
    if not _ASKED.runs:
        told = (size if isinstance(size, Comparison) else fixed_number(size) for size in sized)
        _ASKED.lately.extend((next(sequence), comparison) for comparison in told)


def last_asked() -> tuple[int, Comparison] | None:
    """What was asked of sizes last while nobody watched."""
    return _ASKED.lately[-1] if _ASKED.lately else None


def note_failure(args: Iterable[Any]) -> None:
    """Note that a call fails: a program that goes on from there, in an ``except``, does so at these sizes."""
    for arg in args:
        if isinstance(arg, (tuple, list)):
            note_failure(arg)
        for n in getattr(arg, "raw_shape", ()):
            as_number(Size(n))


def _is_measured(x: Any) -> bool:
    """Whether a program has asked how long a tensor is, and not only to show it."""
    known = _MEASURED.get(id(x))
    return known is not None and known[0]() is x and not all(is_shown(*place) for place in known[1])


def _forget(key: int, gone: Any) -> None:
    known = _MEASURED.get(key)
    if known is not None and known[0] is gone:
        del _MEASURED[key]


def asked_of(nodes: Sequence[Any], leaves: Sequence[Any], made_by: Iterable[Any] = ()) -> list[Comparison]:
    """What was asked while a graph was recorded: directly before its first node, up to its last, and by ``len``.

    So it is with the graphs of which this one, or a part of it, is the gradient.  ``leaves``: variables, and what is
    known of constants; ``made_by``: the ops of others, with their parameters.
    """
    constants = [leaf for leaf in leaves if hasattr(leaf, "sized")]
    kept = [x.kept for x in constants if x.kept is not None]
    alive = [leaf.ref() if hasattr(leaf, "ref") else leaf for leaf in leaves]
    leaves = [leaf for leaf in alive if leaf is not None]
    found = [Comparison("eq", Size(x.shape[0]), int(x.shape[0]), True) for x in (*nodes, *leaves) if _is_measured(x)]
    ops = [*((node.op, node.params or {}) for node in nodes), *made_by]
    found += map(fixed_number, _fixed_in(ops))
    found += [told for x in constants for told in x.sized if isinstance(told, Comparison)]
    asked, reads = _meanwhile(_spans(nodes), {id(leaf) for leaf in (*constants, *leaves)})
    values = itertools.chain(*(node.args for node in nodes), *(params.values() for _, params in ops))
    lost_here = sorted(_lost_in(nodes, leaves, values, kept, reads))
    return found + asked + [fixed_number(Size(n)) for n in lost_here]


def _meanwhile(spans: Sequence[tuple[int, int]], leaves: set[int]) -> tuple[list[Comparison], set[Read]]:
    """What was asked, and which shapes were read, while nodes with these numbers were made, and directly before.

    A look stands between as it does in the text, ``n = len(x); print(x.sum().item())``, where it is one at what the
    graph is made of, too: a loss that was looked at ends another step.
    """
    moments: list[tuple[int, Any]] = sorted([*_ASKED.lately, *LATELY], key=operator.itemgetter(0))
    numbers = [number for number, _ in moments]
    known, seen = set(numbers), {look.at: look for look in list(looked) if look.is_of(leaves)}
    asked: list[Comparison] = []
    reads: set[Read] = set()
    end = 0
    for first, last in sorted(spans):
        begin, looks = _beginning(first, known, seen)
        low = bisect_left(numbers, begin)
        for number, moment in moments[max(low, end) : (end := max(end, bisect_left(numbers, last)))]:
            if isinstance(moment, Comparison):
                asked.append(moment)
            elif all(number > look.at or (look.site is not None and moment.code is look.site[0]) for look in looks):
                reads.add(moment)
    return asked, reads


def _beginning(first: int, moments: set[int], looks: dict[int, Any]) -> tuple[int, list[Any]]:
    """The number from which on there was nothing before a node but what was asked, and looks, which come along."""
    passed: list[Any] = []
    below: set[int] = set()
    while first - 1 in moments or first - 1 in below or first - 1 in looks:
        first -= 1
        if first in looks:
            passed.append(looks[first])
            below |= looks[first].below
    return first, passed


def _spans(nodes: Sequence[Any]) -> list[tuple[int, int]]:
    """The numbers of the first node of a graph and of its last; and of the graphs of which its nodes are gradients."""
    numbers = [math.ceil(node.sequence_nr) for node in nodes]
    spans = [(min(numbers, default=0), max(numbers, default=0))]
    for made in reversed(list(passes)):
        if any(first <= made.end and made.start <= last for first, last in spans):
            spans.append((made.oldest, made.newest))
    return spans


def _fixed_in(ops: Sequence[tuple[Any, Mapping[str, Any]]]) -> Iterator[Any]:
    """What is made of sizes among parameters of ops, where programs and formulas have numbers."""
    for op, params in ops:
        for key, value in params.items() if op is not None else ():
            lettered = key in (op.size_params or ())
            rest = [value]
            for item in rest:
                if item.__class__ is tuple:
                    rest += item
                elif isinstance(item, _Made) and not (lettered and item.__class__ is Size and is_written(item)):
                    yield item


def is_written(made: Size) -> bool:
    """Whether formulas write how a size is made of others: ``n // 2``, ``n - m``, but not ``n % 2``."""
    for name, other in made.steps:
        whole = other.__class__ is int
        divides = name in ("floor_divide", SHARE)
        written = whole and other > 0 if divides else whole or (other.__class__ is Size and is_written(other))
        if not written or name.removeprefix(TURNED) not in ("add", "sub", "mul", "floor_divide", SHARE):
            return False
    return True


def _lost_in(nodes: Any, leaves: Any, values: Iterable[Any], kept: Sequence[Any], reads: set[Read]) -> set[int]:
    """Sizes that the program took for plain numbers, ``1.0 / n``, where a graph may hold what it made of them."""
    sizes = {n for x in (*nodes, *leaves) for n in x.raw_shape}
    numbers = set(itertools.chain.from_iterable(map(_numbers, values)))
    few = [array.ravel().tolist() for array in kept if array.size <= FEW and array.dtype.kind == "f"]
    factors = {f for node in nodes for x in node.args if isinstance(x, _Made) for f in factors_of(x)}
    made = {f for f in factors if f.__class__ is int} - sizes - {1}
    if any(not made.isdisjoint(read.shape) for read in reads):
        return sizes  # x[1:].shape[0]: a size of what the graph does not have
    return lost(sizes, numbers, reads, set(itertools.chain.from_iterable(few)))


def _numbers(value: Any) -> Iterator[float]:
    """The plain numbers that an argument or parameter of an op is, or has as places of an index."""
    if value.__class__ is int or value.__class__ is float:
        yield value
    elif hasattr(value, "parts"):  # x[:3]
        for part in value.parts:
            ends = (part.start, part.stop) if part.__class__ is slice else (part,)
            yield from (end for end in ends if end.__class__ is int)


_COUNTING = tuple(str(Path(__file__).parents[2] / room) for room in ("ops", "tensor"))
"""Where ints are taken as they are: of what is made of sizes a number is left, while sizes themselves have letters."""


def fixed_number(made: Any) -> Comparison:
    """That a number made of sizes is what it is in one run."""
    return Comparison("eq", made, made._plain(made), True)


def watched() -> bool:
    """Whether somebody runs the function at other sizes, too."""
    return bool(_ASKED.runs)


def as_number(x: Any) -> Any:
    """``x``, and where it is made of sizes and a program keeps nothing but a number: that, noted as asked for."""
    if _ASKED.runs or not isinstance(x, _Made):  # who watches runs the function at other sizes, too
        return x
    plain = x._plain(x)
    _ASKED.lately.append((next(sequence), fixed_number(x)))
    return plain


@contextmanager
def comparisons_noted(wanted: bool = True) -> Iterator[list[Comparison]]:
    """Inside, what a program asks of sizes is noted, and ``len(x)`` of a tensor is a size as ``x.shape[0]`` is.

    Python makes a plain number of what ``__len__`` gives, so the function itself is another one meanwhile.
    """
    found: list[Comparison] = []
    if not wanted:
        yield found
        return
    _ASKED.runs.append(found)
    with _LOCK:
        _COUNT[0] += 1
        builtins.len = _length
    try:
        yield found
    finally:
        _ASKED.runs.pop()
        with _LOCK:
            _COUNT[0] -= 1
            if not _COUNT[0]:
                builtins.len = _LENGTH


def _length(thing: Any, /) -> int:
    """What stands for ``len`` meanwhile."""
    found = _LENGTH(thing)
    if _ASKED.runs and hasattr(thing, "raw_shape") and is_of_user(sys._getframe(1).f_code.co_filename):
        return Size(found)
    return found


def _comparison(name: str) -> Any:
    """The method of a comparison, which is noted where the user's program makes it."""
    call = getattr(operator, name)
    special = f"__{name}__"

    def method(self: Any, other: Any) -> Any:
        kind = self._plain
        if not isinstance(other, (int, float, np.number)):
            return getattr(kind, special)(kind(self), other)
        answer = call(kind(self), other._plain(other) if isinstance(other, _Made) else other)
        _note(name, self, other, bool(answer))
        return answer

    return method


def _note(name: str, left: Any, right: Any, answer: bool, depth: int = 1) -> None:
    """A comparison, where the user's program called what makes it, ``depth`` calls up from the caller of this."""
    if is_of_user(sys._getframe(depth + 1).f_code.co_filename):
        _keep(Comparison(name, left, right, answer))


def _keep(noted: Comparison) -> None:
    for run in _ASKED.runs:
        run.append(noted)
    if not _ASKED.runs:
        _ASKED.lately.append((next(sequence), noted))


def _method(name: str, turned: bool = False) -> Any:
    """The method of an operator, with the number on the right when ``turned``."""
    call = _STEPS[name]
    special = f"__{'r' if turned else ''}{call.__name__.rstrip('_')}__"

    def method(self: Any, other: Any) -> Any:
        kind = self._plain
        if other.__class__ is np.float64:  # np.log(2 * np.pi)
            other = float(other)
        other_kind = other.__class__
        if other_kind is int or other_kind is float:
            plain, count = other, 1
        elif other_kind is Size or other_kind is Measure:
            plain, count = other._plain(other), 1 + _count(other)
        else:
            return getattr(kind, special)(kind(self), other)  # a tensor is asked with the size as it is
        value = call(plain, kind(self)) if turned else call(kind(self), plain)
        if _count(self) + count > LONGEST:
            return value
        steps = (*self.steps, (TURNED + name if turned else name, other))
        made = {int: Size, float: Measure}.get(value.__class__)
        return value if made is None else made(value, self.factors, steps)

    return method


_OF_NUMPY: dict[Any, Callable[..., Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.power: operator.pow,
    np.floor_divide: operator.floordiv,
    np.remainder: operator.mod,
    np.sqrt: lambda n: n**0.5,
}
"""What NumPy's functions of numbers are where one of them is made of sizes."""


def _in_python(x: Any) -> bool:
    """Whether a number is one of Python's: of NumPy's, which may be data, NumPy's own make numbers."""
    return x.__class__ in (int, float) or isinstance(x, _Made)


def _foreign(x: Any) -> bool:
    """Whether something has NumPy's functions in its own hands, as tensors have."""
    return hasattr(type(x), "__array_ufunc__") and not isinstance(x, (np.ndarray, np.generic, _Made))


def _count(made: Any) -> int:
    """How many steps of arithmetic a number remembers."""
    return sum(1 + (_count(other) if isinstance(other, _Made) else 0) for _, other in made.steps)


def factors_of(made: Any) -> set[int]:
    """The sizes of which a number is made, those of the numbers it met among them."""
    return set(made.factors).union(*(factors_of(other) for _, other in made.steps if isinstance(other, _Made)))


def is_whole(made: Any) -> bool:
    """Whether a number is made of the sizes of arrays alone, of which letters know, and of none of their parts."""
    return all(n.__class__ is int for n in factors_of(made))


def plain_numbers(thing: Any, depth: int = 1) -> Any:
    """What NumPy is given of sizes, alone or in tuples, lists and tables: numbers, each noted as asked for.

    ``depth`` tells how many calls of this library lie between the user's program and this one.
    """
    if isinstance(thing, _Made):
        if not _ASKED.runs:
            _note("eq", thing, thing._plain(thing), True, depth)
        return thing._plain(thing)
    if isinstance(thing, (tuple, list)):
        made = map(functools.partial(plain_numbers, depth=depth + 1), thing)
        return list(made) if isinstance(thing, list) else tuple(made)
    return thing


class _Made:
    """A number made of the product of the sizes ``factors`` by ``steps`` of arithmetic."""

    _plain: type
    factors: tuple[int, ...]
    steps: tuple[tuple[str, Any], ...]

    __add__, __radd__ = _method("add"), _method("add", True)
    __sub__, __rsub__ = _method("sub"), _method("sub", True)
    __mul__, __rmul__ = _method("mul"), _method("mul", True)
    __truediv__, __rtruediv__ = _method("div"), _method("div", True)
    __pow__, __rpow__ = _method("pow"), _method("pow", True)
    __floordiv__, __rfloordiv__ = _method("floor_divide"), _method("floor_divide", True)
    __mod__, __rmod__ = _method("remainder"), _method("remainder", True)

    __lt__, __le__, __gt__, __ge__ = map(_comparison, ("lt", "le", "gt", "ge"))
    __eq__, __ne__ = _comparison("eq"), _comparison("ne")

    def __bool__(self) -> bool:
        answer = bool(self._plain(self))
        _note("ne", self, 0, answer)
        return answer

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Arithmetic and roots stay made of sizes; of anything else that NumPy computes nothing is left but numbers."""
        if any(map(_foreign, inputs)):
            return NotImplemented
        step = _OF_NUMPY.get(ufunc)
        if step is not None and method == "__call__" and not options and all(map(_in_python, inputs)):
            try:
                if isinstance(inputs[0], _Made):
                    return step(*inputs)
                # Python's float on the left would take the size for any whole number.
                turned = getattr(_Made, f"__r{step.__name__}__", None)
                if turned is not None:
                    return turned(inputs[1], inputs[0])
            except (ZeroDivisionError, OverflowError):
                pass  # of which NumPy makes infinity
        return getattr(ufunc, method)(*plain_numbers(inputs, 2), **options)

    def __floor__(self) -> Any:
        made: Any = self // 1
        whole = int(made)
        return Size(whole, made.factors, made.steps) if isinstance(made, _Made) else whole

    def __ceil__(self) -> Any:
        return -(-self).__floor__()

    def __round__(self, digits: int | None = None) -> Any:
        rounded = round(self._plain(self), digits)
        if not _ASKED.runs:
            _note("eq", self, self._plain(self), True)
        return rounded

    def __hash__(self) -> int:
        plain = self._plain(self)
        _note("eq", self, plain, True)  # a set or a table is asked, which compares no more than what it finds
        return hash(plain)

    def __abs__(self) -> Any:
        negative = self._plain(self) < 0
        _note("lt", self, 0, negative)
        return -self if negative else self

    def __neg__(self) -> Any:
        return self * -1

    def __pos__(self) -> Any:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (self._plain, (self._plain(self),))  # whoever is sent a shape need not have this library

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self


def _fixing(name: str) -> Any:
    """The method of ints that formulas have no op for: it is asked of a plain number, which is noted."""

    @functools.wraps(getattr(int, name))
    def method(self: Size, *args: Any, **options: Any) -> Any:
        return getattr(self.fixed(), name)(*args, **options)

    return method


class Size(_Made, int):  # type: ignore[misc]  # rounding is noted
    """An int that is a size, a product of sizes or made of one: n, nm, n - 1."""

    _plain = int
    __and__, __rand__ = _method("bitwise_and"), _method("bitwise_and", True)

    def __new__(cls, value: int, factors: tuple[int, ...] | None = None, steps: tuple[Any, ...] = ()) -> Self:
        """A size, or a number made of the sizes ``factors``."""
        made = super().__new__(cls, value)
        made.factors = (int(value),) if factors is None else factors
        made.steps = steps
        return made

    def standing_for(self, value: int) -> Size:
        """A number that is another one at every other size; as a power it is none that formulas write."""
        return Size(value, self.factors, (("sub", int.__int__(self) - value), ("pow", 1)))

    def share(self, count: int) -> Size:
        """One of so many equal parts, which fill it: at sizes that cannot be divided so there is none."""
        return Size(int.__int__(self) // count, self.factors, (*self.steps, (SHARE, count)))

    def is_share(self, whole: Size, count: int) -> bool:
        """Whether it is one of so many equal parts of a size: ``n // 2`` where n is even."""
        return self.factors == whole.factors and self.steps == (*whole.steps, ("floor_divide", count))

    def fixed(self) -> int:
        """The number, noted as asked for."""
        as_number(self)
        return int.__int__(self)

    def kept(self) -> int:
        """Itself where formulas write how it is made, else the number."""
        return self if is_written(self) else self.fixed()

    def is_behind(self) -> bool:
        """Whether it is below 0, as a place counted from the end is; noted where other sizes may change that."""
        below = int.__int__(self) < 0
        steps = ((name, o.is_behind() if o.__class__ is Size else o < 0) for name, o in self.steps)
        if is_written(self) and any("sub" in name or behind for name, behind in steps) and not self.is_rest():
            _keep(Comparison("lt", self, 0, below))
        return below

    def is_rest(self) -> bool:
        """Whether it is what a part of a size leaves of it, ``n - n // 2``, which is never below 0."""
        part: Any = self.steps[0][1] if len(self.steps) == 1 else None
        cuts = {step[0] for step in part.steps if step != ("mul", -1)} if part.__class__ is Size else {"none"}
        return cuts <= {"floor_divide", SHARE} and bool(part.factors == self.factors)

    def __int__(self) -> int:
        plain = int.__int__(self)
        if self.steps and sys._getframe(1).f_code.co_filename.startswith(_COUNTING):
            as_number(self)
        return plain

    def __float__(self) -> float:
        plain = float(int(self))
        if not _ASKED.runs:  # who watches runs the function at other sizes, too
            _note("eq", self, plain, True)  # the root that math.sqrt takes is nothing but a number
        return plain

    __or__, __ror__, __xor__, __rxor__ = map(_fixing, ("__or__", "__ror__", "__xor__", "__rxor__"))
    __lshift__, __rlshift__ = map(_fixing, ("__lshift__", "__rlshift__"))
    __rshift__, __rrshift__ = map(_fixing, ("__rshift__", "__rrshift__"))
    __invert__, bit_length, bit_count, to_bytes = map(_fixing, ("__invert__", "bit_length", "bit_count", "to_bytes"))

    def __mul__(self, other: Any) -> Any:
        if other.__class__ is Size and not self.steps:
            if other.steps:
                return other * self
            return Size(int(self) * int(other), self.factors + other.factors)
        return super().__mul__(other)


class Measure(_Made, float):  # type: ignore[misc]
    """A float made of sizes: n/2, the root of n."""

    _plain = float

    def __new__(cls, value: float, factors: tuple[int, ...], steps: tuple[Any, ...]) -> Self:
        """A number made of the sizes ``factors``."""
        made = super().__new__(cls, value)
        made.factors, made.steps = factors, steps
        return made

    def __int__(self) -> int:
        plain = int(float(self))
        if not _ASKED.runs:
            _note("eq", self, float(self), True)
        return plain

    __trunc__ = __int__
