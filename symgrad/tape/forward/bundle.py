"""Many tangents at once: the carrier by which one forward pass follows all columns of a Jacobian.

A bundle stands for one array of some shape, of which there are as many as it is wide; to ops it has that shape.  They
lie stacked along an axis in front, and an op acts on the stack where it can (:mod:`symgrad.ops.rules.stacked`), else
on one tangent after the other.  Tangents that reverse mode is to follow stay apart, so that a backward pass from one of
them meets no other.  Every Jacobian's bundles have a tag of their own: an op looks at the youngest among its arguments
and takes all others as constants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.dtype_objects import shown
from symgrad.op import Op, lookup, register_carrier, shape_of
from symgrad.ops.rules.stacked import spread, stacked
from symgrad.tape.forward.carried import Carried


class Bundle(Carried):
    """Arrays of one shape, ``whole`` along an axis in front, or as ``rows`` that are kept apart."""

    __slots__ = ("rows", "tag", "whole")

    def __init__(self, tag: int, whole: Any, rows: Sequence[Any] | None = None):
        self.tag = tag
        self.whole = whole
        self.rows = rows

    @property
    def raw_shape(self) -> Any:
        """The sizes of one of them as plain ints."""
        return tuple(shape_of(self.whole))[1:] if self.rows is None else tuple(shape_of(self.rows[0]))

    @property
    def dtype(self) -> Any:
        """The NumPy dtype."""
        return shown((self.whole if self.rows is None else self.rows[0]).dtype)

    @property
    def width(self) -> int:
        """How many there are."""
        return int(shape_of(self.whole)[0]) if self.rows is None else len(self.rows)

    @property
    def requires_grad(self) -> bool:
        """Whether the tape follows any of them."""
        return any(getattr(part, "requires_grad", False) for part in self.parts())

    def parts(self) -> Sequence[Any]:
        """What the bundle is made of: the stack, or the rows."""
        return [self.whole] if self.rows is None else self.rows

    def each(self) -> Sequence[Any]:
        """All of them, one by one."""
        if self.rows is not None:
            return self.rows
        if isinstance(self.whole, np.ndarray):
            return [row[()] for row in self.whole]
        return [lookup("select")(self.whole, dim=0, index=k) for k in range(self.width)]

    def stack(self) -> Any:
        """All of them along an axis in front."""
        return self.whole if self.rows is None else lookup("stack")(*self.rows, dim=0)

    def map(self, function: Callable[[Any], Any]) -> Bundle:
        """The results of a function of one of them."""
        return self.like([function(row) for row in self.each()])

    def like(self, rows: Sequence[Any]) -> Bundle:
        """Other rows, kept as these are."""
        made = Bundle(self.tag, None, rows)
        return made if self.rows is not None else Bundle(self.tag, made.stack())

    def filled(self, rows: Sequence[Any]) -> Bundle | None:
        """Other rows, with zeros for those that are None; None where all are."""
        known = next((row for row in rows if row is not None), None)
        if known is None:
            return None
        zeros = np.zeros(shape_of(known), known.dtype)[()]
        return self.like([zeros if row is None else row for row in rows])

    def on_parts(self, function: Callable[[Any], Any]) -> Bundle:
        """The same with every part replaced."""
        if self.rows is None:
            return Bundle(self.tag, function(self.whole))
        return Bundle(self.tag, None, [function(row) for row in self.rows])

    def to(self, dtype: Any) -> Any:
        """Another dtype."""
        return self if dtype == self.dtype else lookup("cast")(self, dtype=np.dtype(dtype).name)

    def __repr__(self) -> str:
        return f"Bundle({self.stack()!r})"


def row_of(value: Any, tag: int, k: int) -> Any:
    """What a value is beside tangent ``k`` of the bundles of a tag."""
    if not isinstance(value, Bundle) or value.tag != tag:
        return value
    return value.each()[k]


def apply(op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Bundle:
    """An op on bundles of the youngest tag among its arguments."""
    tag = max(a.tag for a in args if isinstance(a, Bundle))
    mine = [a if isinstance(a, Bundle) and a.tag == tag else None for a in args]
    found = [bundle for bundle in mine if bundle is not None]
    if op.infer is not None and all(bundle.rows is None for bundle in found):
        own = [None if bundle is None else bundle.raw_shape for bundle in mine]
        shape = tuple(op.infer(*(shape_of(a) for a in args), **params))
        parts = [a if bundle is None else bundle.whole for a, bundle in zip(args, mine, strict=True)]
        made = stacked(op, parts, own, params, (found[0].width,), shape)
        if made is not None:
            return Bundle(tag, made)
    columns = [[a] * found[0].width if b is None else b.each() for a, b in zip(args, mine, strict=True)]
    apart = next((bundle for bundle in found if bundle.rows is not None), found[0])
    return apart.like([op(*row, **params) for row in zip(*columns, strict=True)])


def bundled(value: Any, tag: int, width: int) -> Any:
    """All rows of a value along an axis in front: those of its bundle, or as many of what is the same for all."""
    return value.stack() if isinstance(value, Bundle) and value.tag == tag else spread(value, (width,))


def apart(value: Any) -> Any:
    """A tangent with the rows of its bundles kept apart."""
    return Bundle(value.tag, None, value.each()) if isinstance(value, Bundle) and value.rows is None else value


register_carrier(Bundle, 5, apply)
