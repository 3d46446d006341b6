"""The graph as torch would have made it, where that is not the graph here: its nodes, and what its rules answer.

Nothing is computed on it.  It is made from names alone (:mod:`symgrad.ops.torch_nodes.answers`), for a pass at a time,
when somebody asks what torch would show of a gradient.
"""

from __future__ import annotations

import itertools
import math
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.autograd.graph import inputs
from symgrad.dtypes import is_real_floating
from symgrad.op import TABLE
from symgrad.ops.torch_nodes.answers import IN_ORDER, KEEPING, ROWS, SHAPED, VIEWS, Part, Row, full_name, parsed
from symgrad.ops.torch_nodes.cotangents import UNKNOWN, exponent, lowered, product, row
from symgrad.tape.backward.tether import at, held, tethered
from symgrad.tape.graph import Node, Slices
from symgrad.tape.layout import arranged
from symgrad.tape.naming import node_name
from symgrad.tape.record import Recorded


class Step:
    """A node of torch's graph that has no counterpart of its own here.

    sequence_nr  when it came into being: after a node here, and the how manieth
    number, dim  the exponent of a power; the axes that a reduction reduced
    empty        which of its arguments were zeros that torch stores no entries of
    whole        a reference to the node here whose last step in torch it is, if it is one's
    """

    __slots__ = ("__weakref__", "_places", "dim", "dtype", "empty", "name", "number", "sequence_nr", "shape", "whole")

    def __init__(self, name: str, places: tuple[Any, ...], shape: Any, dtype: Any, sequence_nr: tuple[int, int]):
        self.name, self.shape, self.dtype, self.sequence_nr = name, shape, dtype, sequence_nr
        tethered(place for place in places if isinstance(place, Recorded))
        self._places = tuple(map(held, places))
        self.number: Any = None
        self.dim: Any = None
        self.empty: tuple[bool, ...] = ()
        self.whole: Callable[[], Any] = lambda: None

    @property
    def places(self) -> tuple[Any, ...]:
        """Where its gradients go: each a step, a node, a leaf, or None.  A gradient may keep it, so leaves are tied."""
        return tuple(map(at, self._places))

    @property
    def raw_shape(self) -> Any:
        """The shape, under the name that all places offer."""
        return self.shape

    @property
    def row(self) -> Row:
        """What its rule answers."""
        if self.number == 0 and self.name == "PowBackward0":
            return parsed("0")
        if self.name == "SgnBackward0" and not is_complex(self.dtype):
            return parsed("e")
        return parsed(ROWS.get(self.name) or UNKNOWN)


class Value:
    """An array on its way through a rule: the node it has, and whose memory it is.

    owner  the incoming gradient, of which this is a view or which it is; None for an array that the rule made
    count  how often the rule changed it in place
    dense  whether its entries are all there are in its memory, one after the other
    spread an array of its layout where it was expanded; None where entries follow each other
    empty  zeros that torch stores no entries of
    """

    __slots__ = ("count", "dense", "dtype", "empty", "node", "owner", "shape", "spread", "view")

    def __init__(self, node: Any, shape: Any, dtype: Any, owner: Any = None, empty: bool = False):
        self.node, self.shape, self.dtype = node, shape, dtype
        self.owner, self.empty = owner, empty
        self.view, self.dense, self.count = False, True, 0
        self.spread: Any = None


NOTHING = Value(None, (), None)


def is_complex(dtype: Any) -> bool:
    """Whether a dtype that may be unknown is complex."""
    return dtype is not None and dtype.kind == "c"


def name_of(node: Any) -> str:
    """The name of a step, or of a node here."""
    if node.__class__ is Step:
        return node.name
    return node_name(node.args[0] if node.op.name == "output" else node, resolved=True)


def edges_of(node: Any) -> tuple[tuple[Any, Any], ...]:
    """The inputs of a node in torch's order: ``(what is known of it, where its gradient goes)``."""
    if node.__class__ is Step:
        return tuple((place, place) for place in node.places)
    return inputs(node)


# ---------------------------------------------------------------------------------------------- answers


class Answering:
    """One node's answers: the parts of its row made into steps where the pass is recorded, else only weighed."""

    def __init__(self, node: Any, given: Value, edges: Any, recorded: bool, number: Callable[[], tuple[int, int]]):
        self.node = node
        self.recorded = recorded
        self.number = number
        self.shapes: tuple[Any, ...] = ()
        self.row = Row((), False, {})
        values = [Value(place, shape_of(arg), getattr(arg, "dtype", None)) for arg, place in edges]
        for value, empty in zip(values, node.empty if node.__class__ is Step else (), strict=False):
            value.empty = empty
        self.letters: dict[str, Value] = dict(zip("xyzwv", values, strict=False)) | {"g": given}
        self.letters |= {"0": NOTHING, "e": NOTHING, "_": NOTHING, "r": Value(node, shape_of(node), node.dtype)}
        self.parts: dict[str, Value] = {}
        params = {} if node.__class__ is Step else node.params or {}
        dim = node.dim if node.__class__ is Step else params.get("dim")
        self.dim = (dim,) if isinstance(dim, int) else dim
        self.target: Any = None
        self.others: list[Callable[[int, Any], Value]] = []
        self.called: Callable[[Any, int], Any] | None = None  # what a function of the user gave in the pass

    def answer(self, i: int, target: Any) -> Value:
        """The gradient of input ``i``, which is ``target``."""
        label = None if self.node.__class__ is Step else getattr(self.node.args, "label", None)
        if label.__class__ is Slices:
            self.others = self.others or self.changed_part(label)
            return self.others[i](i, target)
        self.target = target
        found = self.row.answers[min(i, len(self.row.answers) - 1)]
        if found in ("0", "e"):
            shape, given = tuple(target.raw_shape), tuple(self.letters["g"].shape)
            broad = found == "0" and broadcast([given, shape]) == given
            return Value(None, given if broad else shape, target.dtype, empty=found == "e")
        return self.value(found)

    def changed_part(self, label: Slices) -> list[Callable[[int, Any], Value]]:
        """The answers of a base a part of which was changed: those of the change, and what they leave of the base."""
        whole = self.step("CopyBackwards", [NOTHING, self.letters["g"]], shape_of(self.node))
        node, edges = label.changed, [(arg, None if p is None else p) for arg, p in inputs(label.changed)]
        part = self.step("AsStrided", [whole], node.shape)
        inner = Answering(node, self.step("Clone", [part], node.shape), edges, self.recorded, self.number)
        now = None if label.part is None else label.part()
        if now is not None:  # where the operation reads its result, it does so as what the part is now
            inner.letters["r"] = Value(now, node.shape, node.dtype)
        inner.row = rule(node, edges)
        answer = inner.answer
        if node.op.kind == "function" and self.called is not None:
            called = self.called

            def answer(i: int, target: Any) -> Value:
                return Value(called(node, i), shape_of(target), target.dtype)

        def base(i: int, target: Any) -> Value:
            return self.step("CopySlices", [whole, answer(i, node)], shape_of(target), 2)

        return [base, *[answer] * (len(edges) - 1)]

    def value(self, part: Any) -> Value:
        """What a letter stands for, or what a part makes."""
        if isinstance(part, str):
            if part in self.row.named:
                if part not in self.parts:
                    self.parts[part] = self._made(self.row.named[part])
                return self.parts[part]
            return self.letters.get(part, NOTHING)
        return self._made(part)

    def _made(self, part: Part) -> Value:
        args: list[Any] = [None] * len(part.args)
        for k in reversed(range(len(args))) if part.swapped else range(len(args)):
            args[k] = self.value(part.args[k])
        if part.word == "Conj" and not is_complex(args[0].dtype):
            return args[0]  # type: ignore[no-any-return]
        if part.word == "Unsqueeze" and not part.shape and self._has_axes(args[0]):
            return args[0]  # type: ignore[no-any-return]
        made = self.step(part.word, args, self._shape(part, args), part.changes[self.recorded])
        if not args:
            made.dtype = self.letters.get(part.shape, self.target).dtype
        if part.shape == "a" and not is_complex(made.dtype):
            made.dtype = self.node.dtype  # that of all arguments together
        if made.node.__class__ is Step and part.number:
            step = made.node
            step.number = int(part.number) if part.number.isdigit() else self._exponent()
        return made

    def step(self, word: str, args: list[Value], shape: Any, count: int = 0) -> Value:
        """A node of that name on ``args``; no node where none of them has one."""
        if word == "View" and args[0].spread is not None and args[0].spread.size == math.prod(shape):
            return self._reshaped(args[0], shape, count)
        dtype = _dtype(word, args)
        node = None
        if self.recorded and any(arg.node is not None for arg in args):
            node = Step(full_name(word), tuple(arg.node for arg in args), shape, dtype, self.number())
            node.dim, node.empty = self.dim, tuple(arg.empty for arg in args)
        made = Value(node, shape, dtype)
        made.count = count
        if word in VIEWS:
            layout = self._laid_out(word, args[0], shape)
            in_order = layout is not None and layout.flags.c_contiguous
            # The strides of an expanded number are 0, be it to one entry: no leaf takes that as it is.
            number = word == "Expand" and not args[0].shape and len(shape) > 0
            made.owner, made.view = args[0].owner, True
            turned_back = in_order and args[0].spread is not None
            whole = turned_back or (args[0].dense and (word in IN_ORDER or in_order))
            made.dense = not shape or (whole and not number)
            made.count, made.empty = args[0].count + count, args[0].empty
            made.spread = None if in_order else layout
            if word == "ViewAsComplex" and not made.dense:  # of a copy
                made.owner, made.dense, made.count, made.spread = None, True, count, None
        elif word in ("Mul", "Mul:1", "Div") and name_of(self.node) != "MvBackward0":
            made.empty = any(arg.empty for arg in args)
        if word not in VIEWS and len(shape) == 2 and is_entrywise(word):
            made.spread = self._laid_alike(args, shape)
        return made

    def _laid_alike(self, args: list[Value], shape: Any) -> Any:
        """The layout of what is made of matrices entry by entry; None where that is row by row."""
        known = [arg.spread if arg.node is None or arg.spread is not None else turned(arg) for arg in args]
        shown = [
            np.empty(arg.shape, bool) if layout is None else layout for arg, layout in zip(args, known, strict=True)
        ]
        made = arranged(np.empty(shape, bool), shown)
        return None if made.flags.c_contiguous else made

    def _reshaped(self, given: Value, shape: Any, count: int) -> Value:
        """Another shape of expanded memory: an alias where strides can say it, else of a copy."""
        spread = given.spread.reshape(shape)
        if not np.may_share_memory(spread, given.spread):
            return self.step("UnsafeView", [self.step("Clone", [given], given.shape)], shape, count)
        made = self.step("ReshapeAlias", [given], shape, count)
        made.spread, made.dense = spread, False
        return made

    def _laid_out(self, word: str, given: Value, shape: Any) -> Any:
        """An array laid out like a view of an array; None where it is not known."""
        moved, dims = _MOVED.get(word), None if self.node.__class__ is Step else (self.node.params or {}).get("dims")
        if word in ("Permute", "T", "Transpose") and dims is not None and len(dims) == len(shape):
            back = np.argsort(dims)
            moved = lambda layout, _: layout.transpose(back)  # noqa: E731
        if moved is None:
            return None
        try:
            layout = moved(np.empty(given.shape, bool) if given.spread is None else given.spread, shape)
        except ValueError:
            return None
        return layout if layout.shape == tuple(shape) else None

    def _has_axes(self, value: Value) -> bool:
        """Whether a result has kept the axes that were reduced, or never had any."""
        if self.target is None:
            return False
        whole = self.node.__class__ is not Step and "dim" not in (self.node.params or {})
        return whole or len(value.shape) == len(self.target.raw_shape)

    def _exponent(self) -> Any:
        known = self.node.number if self.node.__class__ is Step else exponent(self.node)
        return None if known is None else known - 1

    def _shape(self, part: Part, args: list[Value]) -> Any:
        if part.shape.isdigit():
            return self.shapes[int(part.shape)]
        if part.shape == "a":
            return shape_of(self.node.args[0])
        if part.shape == "i":
            index = None if self.node.__class__ is Step else (self.node.params or {}).get("index")
            if index is not None:
                places = [np.zeros(shape_of(arg), int) for arg in self.node.args[2:]]
                return np.broadcast_to(False, shape_of(self.node))[index.filled(places)].shape
        if part.shape in self.letters:
            return self.letters[part.shape].shape
        if part.word == "Conj":
            return args[0].shape
        if part.word == "T" and len(args[0].shape) == 2:
            return args[0].shape[::-1]
        if part.word == "Mm" and any(len(arg.shape) == 2 for arg in args):
            return self._of_product(*(arg.shape for arg in args))
        if self.target is not None:
            whole = tuple(self.target.raw_shape)
            if part.shape == "t":
                return whole
            if part.shape == "k" or part.word in KEEPING:
                dims = range(len(whole)) if self.dim is None else [d % max(len(whole), 1) for d in self.dim]
                return tuple(1 if k in dims else n for k, n in enumerate(whole))
            if part.word in SHAPED:
                return whole
        if part.word == "Sum":
            return ()
        return broadcast([arg.shape for arg in args])

    def _of_product(self, a: Any, b: Any) -> Any:
        """The shape of a matrix product; of a factor without gradient that is not known, but the target's is."""
        whole = () if self.target is None else tuple(self.target.raw_shape)
        if len(a) == len(b) == 2 or len(whole) < 2:  # the gradient of a sum is one number
            return (*a[:1], *b[1:])
        known = a[0] if len(a) == 2 else b[1]
        other = whole[-1] if known == whole[0] else whole[0]
        return (known, other) if len(a) == 2 else (other, known)

    def fitted(self, value: Value, target: Any) -> Value:
        """The answer in the shape and dtype of the input: what torch does to it in the end."""
        have, wanted = value.dtype, target.dtype
        if value is NOTHING or have is None or wanted is None:
            return value
        if is_complex(have) and is_real_floating(wanted):
            value = self.step("ViewAsReal", [value], value.shape)
            value = self.step("Select", [value], value.shape)
            parts = np.empty((*value.shape, 2), bool)[..., 0]
            value.dense, value.spread = parts.flags.c_contiguous, None if parts.flags.c_contiguous else parts
        shape = tuple(target.raw_shape)
        if name_of(self.node) == "CopyBackwards":  # which casts by itself, and leaves the sum to the engine
            value = self._cast(value, wanted)
        if tuple(value.shape) != shape and broadcast([value.shape, shape]) == tuple(value.shape):
            lead = len(value.shape) > len(shape) and shape
            value = self.step("Sum:1" if shape else "Sum", [value], shape)
            value = self.step("View", [value], shape) if lead else value
        return self._cast(value, wanted)

    def _cast(self, value: Value, wanted: Any) -> Value:
        known = is_real_floating(value.dtype) or (is_complex(value.dtype) and is_complex(wanted))
        if known and value.dtype != wanted and (is_complex(wanted) or is_real_floating(wanted)):
            value = self.step("ToCopy", [value], value.shape)
            value.dtype = wanted
        return value


def shape_of(place: Any) -> Any:
    """The shape of a place in the graph, () for a number."""
    return getattr(place, "raw_shape", ())


def broadcast(shapes: list[Any]) -> Any:
    """The shape that arrays of those shapes have together; the longest where they do not fit."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return max(shapes, key=len)


_MOVED: dict[str, Callable[[Any, Any], Any]] = {
    "Expand": np.broadcast_to,
    "Diagonal": lambda layout, shape: np.diagonal(layout, 0, -2, -1),
    "T": lambda layout, shape: layout.T,
    "Transpose": lambda layout, shape: layout.swapaxes(-1, -2),
}
"""Views that leave the entries out of order, and what they do to a layout; of others it is not known."""


_REAL = {np.dtype("complex64"): np.dtype("float32"), np.dtype("complex128"): np.dtype("float64")}


_LOSSES = ("MseLossBackward", "HuberLossBackward", "SmoothL1LossBackward")
"""Words whose result has the dtype of the operand that it is the gradient of."""


def _dtype(word: str, args: list[Value]) -> Any:
    if word in _LOSSES and args[1].dtype is not None:
        return args[1].dtype
    known = [arg for arg in args if is_complex(arg.dtype) or (arg.dtype is not None and is_real_floating(arg.dtype))]
    if not known:
        return None
    chief = max(known, key=lambda arg: (is_complex(arg.dtype), arg.shape != (), arg.dtype.itemsize))
    found, arrays = chief.dtype, [arg.dtype for arg in known if arg.shape != ()]
    if word in ("ViewAsReal", "Abs", "Angle"):
        return _REAL.get(found, found)
    if word == "ViewAsComplex":
        return _complex(found)
    if is_complex(found) and chief.shape == () and arrays:  # a number makes complex, and leaves the precision
        return _complex(max(arrays, key=lambda dtype: dtype.itemsize))
    return found


def _complex(dtype: Any) -> Any:
    """The complex dtype of a real one; itself where there is none."""
    return next((c for c, real in _REAL.items() if real == dtype), dtype)


# ---------------------------------------------------------------------------------------------- one here, several there

_LOWERED: weakref.WeakKeyDictionary[Node, Any] = weakref.WeakKeyDictionary()


def lower(node: Node) -> Any:
    """The last of the nodes that torch makes of a node here; the node itself where it makes one."""
    found = _LOWERED.get(node)
    if found is not None:
        return found
    known = lowered(node, node_name(node, resolved=True))
    if known is None:
        return node
    text, shapes = known
    counter = itertools.count(1)
    making = Answering(node, NOTHING, inputs(node), True, lambda: (node.sequence_nr, next(counter)))
    making.row, making.shapes = parsed(text), shapes
    made = making.value(making.row.answers[0]).node
    if made.__class__ is not Step:
        return node
    made.shape, made.dtype, made.whole = node.shape, node.dtype, weakref.ref(node)
    _LOWERED[node] = made
    return made


def rule(node: Any, edges: Any) -> Row:
    """What the rule of a step or node answers."""
    name = name_of(node)
    if name in ("MmBackward0", "AddmmBackward0"):
        first, second = (by_columns(arg if place is None else place) for arg, place in edges[-2:])
        return product(first, second, "g" if name == "AddmmBackward0" else "")
    if name == "ExpandBackward0" and not shape_of(edges[0][0]):
        return parsed("Sum(g)")  # torch sums to a number even what is one
    return node.row if node.__class__ is Step else row(node, name)


def is_entrywise(word: str) -> bool:
    """Whether a word is that of an op that works entry by entry."""
    op = TABLE.get(word.partition(":")[0].lower())
    return op is not None and bool(op.entrywise)


def turned(value: Value) -> Any:
    """The layout of a matrix that stands in memory column by column; else None."""
    place = value.node
    columns = len(value.shape) == 2 and place is not None and by_columns(place)
    return np.empty(value.shape[::-1], bool).T if columns else None


def by_columns(place: Any) -> bool:
    """Whether a matrix stands in memory column by column, as far as the graph tells."""
    rows, columns = (*shape_of(place), 1, 1)[:2]
    return bool(rows > 0 if _turned(place) else rows == columns == 1)


_BY_COLUMNS = ("LinalgCholeskyEx", "LinalgInvEx", "LinalgSolveEx", "LinalgSolveTriangular")
"""Results that torch lays out column by column."""


def _in_place(node: Any) -> bool:
    """Whether a node that exchanges axes leaves them where they are."""
    dims = None if node.__class__ is Step else (node.params or {}).get("dims")
    return dims is not None and list(dims) == sorted(dims)


_LAID: weakref.WeakKeyDictionary[Any, tuple[bool, bool, bool]] = weakref.WeakKeyDictionary()
"""What is known of the layout of places: turned round, made of repeated rows, and copied since."""


def _turned(place: Any) -> bool:
    turned, repeated, copied = _laid(place)
    return turned and (copied or not repeated)  # repeated rows lie in no order, copies of them one after the other


def _laid(place: Any) -> tuple[bool, bool, bool]:
    """The layout of a place, which is kept for all places on the way to where it is decided."""
    path: dict[Any, tuple[bool, bool]] = {}
    found = (False, False, False)
    while place is not None and place not in path:  # an array that was written into itself comes round to its node
        inner = place.__class__ in (Step, Node)
        if inner and place in _LAID:
            found = _LAID[place]
            break
        edges = edges_of(place) if inner else ()
        name = name_of(place).removesuffix("Backward0") if edges else ""
        if name == "Expand":
            found = (False, True, False)
            break
        if name in _BY_COLUMNS and edges:
            found = (True, False, False)
            break
        moved = name in ("T", "Transpose", "Permute")
        if not moved and (name in SHAPED or not edges):
            break
        path[place] = moved and not _in_place(place), not moved
        if moved:
            place = edges[0][0]
        else:  # element by element, laid out as the first argument
            place = next((arg for arg, _ in edges if tuple(shape_of(arg)) == tuple(shape_of(place))), None)
    for passed, (exchanged, made) in reversed(path.items()):
        found = _LAID[passed] = (found[0] ^ exchanged, found[1], found[2] or made)
    return found
