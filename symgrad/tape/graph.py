"""The recorded graph: nodes are data (op, arguments, saved values), never closures.

A node's arguments are other nodes, leaf tensors that require grad, :class:`Source` records of constants, or numbers.
Saved values are freed by backward; the structure stays for as long as something can ask for a formula.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import Any

from symgrad.op import Op
from symgrad.tape.formulas.sizes import Size
from symgrad.tape.numbering import sequence

FREED: Any = ("freed",)
"""Stands for the saved values of a node once backward has freed them."""


class Node:
    """One recorded operation.

    mask      bit i set: a gradient flows to argument i; 0 where the result requires no grad.  One beyond the arguments
              stands for a history that was cut off: the result requires grad, and leads nowhere
    saved     (out, *inputs) with None for what no rule reads
    rules     the pullback to each argument (None: no gradient flows there), where a sweep may call them as they are:
              results of float32 or float64 whose arguments have their shape and dtype, so that cotangents need no
              fitting, and no hooks.  None where care is needed.
    extra     hooks, retained tensors, names; None for almost every node
    """

    __slots__ = (
        "__weakref__", "args", "dtype", "extra", "mask", "op", "params", "rules", "saved", "sequence_nr", "shape",
    )  # fmt: skip

    op: Op
    args: tuple[Any, ...]
    saved: Any
    params: dict[str, Any] | None
    mask: int
    shape: tuple[int, ...]
    dtype: Any
    sequence_nr: int
    rules: tuple[Any, ...] | None
    extra: NodeExtra | None

    @property
    def ndim(self) -> int:
        """Number of axes of the result."""
        return len(self.shape)

    @property
    def raw_shape(self) -> tuple[int, ...]:
        """The shape of the result, under the name that all arguments offer."""
        return self.shape

    def more(self) -> NodeExtra:
        """The record of rare things, made on first use."""
        if self.extra is None:
            self.extra = NodeExtra()
            self.rules = None
            if self.args.__class__ is Labelled and self.args.siblings is not None:
                self.args.siblings.touched = True
        return self.extra


def new_node(op: Op, args: Any, params: dict[str, Any], mask: int, shape: Any, dtype: Any, saved: Any) -> Node:
    """A node that is younger than all others, without hooks; sweeps take it with care."""
    node = Node()
    node.op, node.args, node.params, node.mask = op, args, params, mask
    node.shape, node.dtype, node.saved = shape, dtype, saved
    node.rules, node.extra, node.sequence_nr = None, None, next(sequence)
    return node


def twin(node: Node) -> Node:
    """Another node that does the same: of its own time, without hooks and label."""
    made = Node.__new__(Node)
    made.op, made.params, made.mask, made.saved = node.op, node.params, node.mask, node.saved
    made.shape, made.dtype, made.args = node.shape, node.dtype, tuple(node.args)
    made.extra, made.rules, made.sequence_nr = None, None, next(sequence)
    return made


def landing(node: Node, arg: Any) -> Any:
    """The dtype in which the gradient of an argument leaves ``node``; None where it may have any."""
    return arg.dtype if arg.__class__ is Node or arg._extra is None or node.op.name == "cast" else arg._landing()


class Labelled(tuple[Any, ...]):
    """The arguments of a node at which a composite function ends: torch's name for the whole, and its inputs.

    Only such a node pays for its label; the sweeps see a tuple of arguments like any other.

    label   the name of the whole, as ``grad_fn`` gives it, or a function of the node that finds it out
    inputs  where the whole got its inputs: a node, a leaf, or None for a constant; None where the arguments tell
    kept    references to memory that the whole needs unchanged, though its parts have saved other things
    origin  the recorded pass whose result the node gave, if it is one
    role    what a change of a view made the node: "put" where the changed part was put back into its base, "change" for
            the operation itself, "overlap" for one on a view that shows entries twice; "scaling" for a product with a
            number that is part of a function, "empty" for strides that read nothing, "apart" for the place of a result
            that got another shape without grad, which to users is that of the result before; else empty
    now     of a change of a view: a reference to the node of the view since
    siblings  of one output of several: the whole that it belongs to (:mod:`symgrad.tape.backward.siblings`)
    given   the function and what it was given, with ``...`` for tensors: ``(function, arguments, arguments by name)``
    again   of a function whose arguments backward reads: where these are found (:mod:`symgrad.tape.memory.anew`)
    """

    label: Any
    origin: Any = None
    role: str = ""
    now: Any = None
    siblings: Any = None
    given: Any = None
    again: Any = None
    inputs: tuple[Any, ...] | None
    kept: tuple[Any, ...]

    @classmethod
    def on(cls, node: Node, label: Any, inputs: tuple[Any, ...] | None = None, kept: tuple[Any, ...] = ()) -> Labelled:
        """Give ``node`` a label; returns its arguments with that."""
        before = node.args
        node.args = made = cls(before)
        if before.__class__ is cls:
            made.role, made.siblings, kept = before.role, before.siblings, before.kept + kept
            made.given, made.again = before.given, before.again
        made.label, made.inputs, made.kept = label, inputs, kept
        return made

    @classmethod
    def cast(cls, node: Node, role: str) -> None:
        """Give ``node`` a role; without a label it goes by its own name."""
        if node.args.__class__ is not cls:
            cls.on(node, None)
        node.args.role = role  # type: ignore[attr-defined]


class NodeExtra:
    """Rare things about a node: hooks on its result and on itself, tensors that keep their grad."""

    __slots__ = ("handle", "hooks", "metadata", "post", "pre", "retained", "trace")

    def __init__(self) -> None:
        self.hooks: dict[int, Any] = {}
        self.pre: dict[int, Any] = {}
        self.post: dict[int, Any] = {}
        self.retained: weakref.ref[Any] | None = None
        self.metadata: dict[str, Any] | None = None
        self.handle: weakref.ref[Any] | None = None
        self.trace: Any = None


class Slices(str):
    """The label of a base a part of which was changed.

    base     where the base stood before: a node, a leaf, or None for a constant
    changed  the node of the change, whose first argument is the part as it was
    part     a reference to the node of the part as it is now
    """

    __slots__ = ("base", "changed", "part")

    base: Any
    changed: Node
    part: Any

    @classmethod
    def of(cls, base: Any, changed: Node) -> Slices:
        """torch's name for the node, and what it was made of."""
        made = cls("CopySlices")
        made.base, made.changed, made.part = base, changed, None
        return made


class Source:
    """A constant of the graph: what a formula needs to know of it, without keeping large values alive.

    recipe    (op, params) of an unnamed constant made by ``eye``, ``ones``, ``full``, a number …: formulas show that
    sized     the lengths that it was made with, and comparisons of sizes that are in its entries
    kept      the value when it is small, so that a temporary constant does not lose its values
    copied    a reference to the user's array that the value is, or is a copy of
    variable  the variable of the user's function that holds the array, where somebody looked for it
    """

    __slots__ = (
        "__weakref__", "copied", "dtype", "kept", "name", "recipe", "ref", "shape", "site", "sized", "structure",
        "variable",
    )  # fmt: skip

    def __init__(self, tensor: Any, shape: tuple[int, ...], dtype: Any, name: str | None, site: Any):
        self.ref: Callable[[], Any] = weakref.ref(tensor)
        self.shape = shape
        self.dtype = dtype
        self.name = name
        self.site = site
        self.structure: str | None = None
        self.recipe: tuple[str, dict[str, Any]] | None = None
        self.sized: frozenset[Any] = frozenset()
        self.kept: Any = None
        self.copied: Any = None
        self.variable: str | None = None

    @property
    def raw_shape(self) -> tuple[int, ...]:
        """The shape, under the name that all arguments offer."""
        return self.shape

    def outlived(self, value: Any) -> bool:
        """Whether the tensor's value is not the kept one any more: it is a view of what was written to since."""
        return self.kept is not None and self.kept is not value and self.kept.tobytes() != value.tobytes()

    def alone(self) -> None:
        """Go on with the kept value, whatever becomes of the tensor."""
        self.ref = _nobody


def _nobody() -> None:
    """Stands for a reference to a tensor that is gone."""


class Shaped:
    """Stands in for an argument whose shape and dtype, but not its values, a rule reads."""

    __slots__ = ("arg", "dtype", "raw_shape", "record")

    def __init__(self, shape: tuple[int, ...], dtype: Any, record: bool, arg: Any = None):
        self.raw_shape = shape
        self.dtype = dtype
        self.record = record
        self.arg = arg

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape; rules ask for it under the name that all arguments offer.

        In passes that are recorded its sizes remember that they are sizes, as those of tensors do.
        """
        return tuple(map(Size, self.raw_shape)) if self.record else self.raw_shape

    @property
    def turned(self) -> bool:
        """Whether it is a matrix that lies column by column: a view of one with the axes exchanged, or a leaf."""
        if len(self.shape) != 2:
            return False
        op = getattr(self.arg, "op", None)
        if op is None:
            flags = getattr(getattr(self.arg, "_value", None), "flags", None)
            return flags is not None and flags.f_contiguous and not flags.c_contiguous
        if op.view is None or op.einsum is None or len(self.arg.args) != 1:
            return False
        (inside,), outside = op.einsum(self.arg.args[0].raw_shape, **self.arg.params or {})
        return bool(inside == outside[::-1])

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def sizes(self, dim: tuple[int, ...]) -> int:
        """Number of entries along ``dim``; marked as a size where the result is recorded."""
        if not self.record:
            return math.prod([self.shape[k] for k in dim])
        count = Size(1)
        for k in dim:
            count = count * Size(self.shape[k])
        return count

    def full_like(self, value: int) -> Any:
        """A constant array of this shape and dtype."""
        import numpy as np

        return np.full(self.shape, value, self.dtype)[()]


class Masked:
    """A cotangent some of whose entries are structural zeros: zero because the branch was not taken.

    Whatever derivative meets such an entry, the product is zero, even 0 · inf.  ``inner`` is the cotangent before the
    zeros were put in: derivatives meet that one, and the zeros are put in again after them, once, by ``zeroing(keep,
    cotangent)``, which tells the branches of a ``where`` from points that a rule excepts.
    """

    __slots__ = ("inner", "keep", "value", "zeroing")
    __array_ufunc__ = None

    def __init__(self, value: Any, keep: Any, zeroing: Any, inner: Any = None):
        self.value = value
        self.keep = keep
        self.zeroing = zeroing
        self.inner = value if inner is None else inner

    def __add__(self, other: Any) -> Any:
        if other.__class__ is Masked:
            return Masked(self.value + other.value, self.keep | other.keep, self.zeroing)
        return self.value + other


class Parts:
    """Gradients of a function with several outputs, on their way to it: by output number."""

    __slots__ = ("parts",)
    raw_shape: tuple[int, ...] = ()
    dtype = None

    def __init__(self, parts: dict[int, Any]):
        self.parts = parts

    def __add__(self, other: Parts) -> Parts:
        joined = dict(self.parts)
        for k, g in other.parts.items():
            joined[k] = joined[k] + g if k in joined else g
        return Parts(joined)
