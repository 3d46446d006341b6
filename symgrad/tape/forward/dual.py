"""Forward mode: a value with its tangent, as a carrier.

An op on duals applies itself to the primals and the op's tangent rules to the tangents; both may be arrays, tensors
(then the tape records them) or duals of an outer derivative.  Every derivative has a tag of its own, so that nested
ones are not confused: an op looks at the youngest tag among its arguments and takes all others as constants.
"""

from __future__ import annotations

import functools
import itertools
import sys
import weakref
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.dtype_objects import shown
from symgrad.dtypes import is_floating
from symgrad.errors import ArgumentError, AutogradError, UnsupportedDerivative
from symgrad.op import Op, carrier_of, lookup, register_carrier, shape_of
from symgrad.op.operators import ARITHMETIC
from symgrad.ops.elementwise.select import where_op
from symgrad.ops.rules.kinks import keeps_nan
from symgrad.ops.shapes.shaping import expand_op, zeros_like
from symgrad.tape.forward import dualwrites, histories
from symgrad.tape.forward.bundle import Bundle
from symgrad.tape.forward.carried import Carried
from symgrad.tape.forward.dualwrites import FACES as FACES, faced as faced
from symgrad.tape.forward.place import Place
from symgrad.tape.modes import recording
from symgrad.tape.watching.scalars import note_number, note_value, numbers_counted

_TAGS = itertools.count(1)


BY_HAND: dict[int, weakref.WeakValueDictionary[int, Dual]] = {}
"""The duals of levels that are open, by tag: the user holds their tangents, and may change them in place."""


def open_level() -> int:
    """The tag of a derivative made by hand: no two duals of it share a tangent."""
    tag = new_tag()
    BY_HAND[tag] = weakref.WeakValueDictionary()
    return tag


def close_level(tag: int) -> None:
    """The duals of a level that is left stand still."""
    for made in list(BY_HAND.pop(tag).values()):
        made.place, made.chain, made._cut = Place(None), (), None
        made.place.closed = True


NUMPY: dict[str, Callable[..., Any]] = {}
"""What NumPy's ufuncs and functions do with a dual, as with a tensor; the room of tensors says it."""


def _refuse_out(call: Any, method: str, kwargs: dict[str, Any]) -> None:
    """What is written into an array keeps no tangent."""
    if method == "at" or kwargs.get("out") is not None:
        raise AutogradError(
            f"np.{call.__name__}{'.at' if method == 'at' else '(…, out=…)'} writes into an array, where the tangent of "
            "a value that forward mode follows would be lost; use the result instead."
        )


class Dual(Carried):
    """A primal value and the tangent it moves along; attributes and methods as those of a tensor."""

    __slots__ = ("__weakref__", "_cut", "chain", "history", "place", "primal", "seen", "tag")
    __hash__ = object.__hash__

    def __init__(self, primal: Any, tangent: Any, tag: int):
        self.primal = primal
        self.tag = tag
        self.history: histories.History | None = None
        self.place = Place(tangent)
        if tag in BY_HAND:
            BY_HAND[tag][id(self)] = self
        self.chain: tuple[tuple[Op, dict[str, Any]], ...] = ()  # of a view: the ops that cut it
        self.seen = -1

    @property
    def beneath(self) -> Any:
        """The primal."""
        return self.primal

    @property
    def tangent(self) -> Any:
        """Where the primal moves to."""
        if not self.chain:
            return self.place.tangent
        if self.seen != self.place.changes:
            self._cut = dualwrites.cut(self.place.tangent, self.chain)
            self.seen = self.place.changes
        return self._cut

    def move(self, tangent: Any) -> None:
        """Change the tangent, also for the views of this dual and for the one that this is a view of."""
        if not self.place.closed:
            self.place.write(dualwrites.put(self.place.tangent, tangent, self.chain))

    def become(self, view: Dual) -> Dual:
        """Stand for another view of the same memory from now on."""
        self.primal, self.place, self.chain, self.history = view.primal, view.place, view.chain, view.history
        if self.chain:
            self._cut, self.seen = view._cut, view.seen
        return self

    @property
    def shape(self) -> Any:
        """The sizes."""
        return self.primal.shape

    @property
    def raw_shape(self) -> tuple[int, ...]:
        """The sizes as plain ints."""
        return shape_of(self.primal)

    @property
    def dtype(self) -> Any:
        """The NumPy dtype."""
        return shown(self.primal.dtype)

    @property
    def requires_grad(self) -> bool:
        """Whether the tape follows the primal."""
        return bool(getattr(self.primal, "requires_grad", False))

    def _require(self, requires_grad: bool = True) -> Any:
        """Whether the tape follows the primal, for the library's own use."""
        self.primal._require(requires_grad)
        return self

    def sizes(self, dim: tuple[int, ...]) -> Any:
        """Number of entries along ``dim``."""
        sizes = getattr(self.primal, "sizes", None)
        return sizes(dim) if sizes is not None else int(np.prod([self.raw_shape[k] for k in dim], dtype=int))

    @property
    def data(self) -> Any:
        """The value alone, which does not move, as in torch; it cannot be replaced."""
        return self.primal.data

    @data.setter
    def data(self, value: Any) -> None:  # noqa: ARG002
        from symgrad.tape.watching.captured import REPLACED

        raise AutogradError(REPLACED)

    @property
    def is_leaf(self) -> bool:
        """Whether the primal is a leaf of the tape."""
        return bool(getattr(self.primal, "is_leaf", True))

    def detach(self) -> Any:
        """The primal without tangent."""
        return self.primal.detach() if hasattr(self.primal, "detach") else self.primal

    def conj(self) -> Any:
        """The conjugate, which is a view where it differs, as that of a tensor."""
        if self.dtype.kind != "c":
            return self
        op = lookup("conj")
        made = Dual(self.primal.conj(), op(self.tangent), self.tag)
        made._cut, made.chain = made.place.tangent, (*self.chain, (op, {}))
        made.place = self.place.share(self, made)
        made.seen = made.place.changes
        return made

    def item(self) -> Any:
        """The primal as a Python number."""
        note_value()
        return self.primal.item()

    def tolist(self) -> Any:
        """The primal as nested lists of numbers."""
        note_value()
        return self.primal.tolist()

    def to(self, *args: Any, **options: Any) -> Any:
        """Another dtype, with the tangent where the new one can have a tangent."""
        dtype = self.primal.to(*args, **options).dtype
        if dtype == self.dtype:
            return self
        return lookup("cast")(self, dtype=dtype.name)

    def _inplace(self, op: Callable[..., Any], *args: Any, **options: Any) -> Any:
        return dualwrites.overwrite(self, op(dualwrites.unchanged(self, *args, *options.values()), *args, **options))

    def __getattr__(self, name: str) -> Any:
        if name in dualwrites.FACTS:
            if name == "numpy" and self.tag not in BY_HAND:
                raise AutogradError(
                    "Cannot access data pointer of Tensor that doesn't have storage: numpy() of a value that moves "
                    "along a tangent would lose the tangent; where that is meant, say detach().numpy()."
                )
            return getattr(self.primal, name)
        if name.endswith("_"):
            changed = dualwrites.change(name[:-1])
            if changed is not None:
                return functools.partial(changed, self)
        if name in ("_value", "_node"):
            raise AttributeError(
                "a tensor without a tangent cannot be changed in place by one that moves along a tangent, since it "
                "would not move itself; make a new tensor instead: by cat, stack, where or index_put."
            )
        raise AttributeError(f"'Dual' object has no attribute {name!r}")

    def __contains__(self, value: Any) -> bool:
        return value in self.primal

    def __setitem__(self, index: Any, value: Any) -> None:
        dualwrites.set_entries(self, index, value)

    def __bool__(self) -> bool:
        return bool(self.primal)

    def __format__(self, spec: str) -> str:
        return format(str(self) if self.ndim else self.primal, spec)

    def __float__(self) -> float:
        with numbers_counted():  # torch does not warn of duals
            note_number()
            return float(self.primal)

    def __int__(self) -> int:
        return int(self.primal)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        _refuse_out(ufunc, method, kwargs)
        return NUMPY["ufunc"](ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        _refuse_out(func, "__call__", kwargs)
        return NUMPY["function"](func, args, kwargs)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise AutogradError(
            "a NumPy function was called on a value that forward mode follows, and its tangent would be lost; use the "
            "function of the same name in symgrad."
        )

    def __repr__(self) -> str:
        return self._text()

    def _text(self, more: tuple[str, ...] = ()) -> str:
        """The primal's text with the tangent at its end, and ``more`` to be said of it."""
        suffixes = () if self.tangent is None else (f"tangent={self.tangent}",)
        shown = getattr(self.primal, "_text", None)
        return f"Dual({self.primal!r}, {', '.join(suffixes)})" if shown is None else shown((*suffixes, *more))


class TensorType(type):
    """The class of the class of tensors: duals answer what tensors answer, so that they count as tensors."""

    tensor: type | None = None
    between: Callable[[], type] | None = None
    """What users' classes derive from in place of the class of tensors: it gives results their class."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> TensorType:
        """A class of tensors."""
        around = sys._getframe(1).f_globals
        namespace = {"__module__": around.get("__name__", ""), **namespace}  # as type() has it
        module = namespace["__module__"]
        # Not in examples of the library's texts, which run in copies of its modules.
        ours = module.startswith("symgrad.") and getattr(sys.modules.get(module), "__dict__", None) is around
        if mcs.tensor in bases and mcs.between is not None and not ours:
            bases = tuple(mcs.between() if base is mcs.tensor else base for base in bases)
        return super().__new__(mcs, name, bases, namespace, **options)

    def __instancecheck__(cls, instance: Any) -> bool:
        return type.__instancecheck__(cls, instance) or (cls is TensorType.tensor and instance.__class__ is Dual)


def new_tag() -> int:
    """A tag for one derivative; younger derivatives have larger tags."""
    return next(_TAGS)


def make_dual(primal: Any, tangent: Any, tag: int) -> Dual:
    """A dual number.  Raises ``ArgumentError`` when tangent and primal differ in shape."""
    if tuple(shape_of(primal)) != tuple(shape_of(tangent)):
        raise ArgumentError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(shape_of(primal))} while the given forward gradient is of size "
            f"{list(shape_of(tangent))}."
        )
    return Dual(primal, tangent, tag)


def parts(value: Any, tag: int) -> tuple[Any, Any]:
    """``(primal, tangent)`` with respect to a tag; the tangent is None where the value does not depend on it."""
    value = faced(value)
    if isinstance(value, Dual) and value.tag == tag:
        return value.primal, value.tangent
    return value, None


def apply(op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """An op on duals: the op on the primals, and the sum of the tangents of its arguments."""
    tag = max(a.tag for a in args if isinstance(a, Dual))
    pairs = [parts(a, tag) for a in args]
    if op.settings is not None and any(pairs[i][1] is not None for i in op.settings):
        return op.define(*args, **params)  # type: ignore[misc]
    primals = tuple(p for p, _ in pairs)
    out = op(*primals, **params)
    if carrier_of(out.__class__) is None and not isinstance(out, (np.ndarray, np.generic)):
        out = np.asarray(out)[()]
    if not is_floating(out.dtype):
        return out
    known = histories.history(op, args, params, out, tag) if histories.are_kept() else None
    total = None if known is None else parts(histories.moved_otherwise(op, known), tag)[1]
    branch, still = None, False
    for i, (_, tangent) in enumerate(pairs if total is None else ()):
        if tangent is not None and op.moves(i):
            if _stands(op, i, args[i]):
                still = True
                continue
            branch = _branch(op, i, args[i], out, primals, params)
            part = where_op(*branch, 0) if branch else _pushed(op, i, tangent, out, primals, params)
            branch = branch if total is None else None
            total = part if total is None or part is None else total + part
    if total is None:
        if not still:
            return out
        made = Dual(out, zeros_like(out), tag)
        made.place.still = True
        return made
    total = _of_result(total, out)
    made = Dual(out, total, tag)
    made.place.branch = branch if recording() else None
    if op.view is not None and dualwrites.share_memory(out, primals[0]):
        made._cut, made.chain = total, (*args[0].chain, (op, params))
        made.place = args[0].place.share(args[0], made)
        made.seen = made.place.changes
    elif tag in BY_HAND and any(t is not None and dualwrites.share_memory(total, t) for _, t in pairs):
        made.place.tangent = lookup("clone")(total)
    if known is not None:
        made.history, known.changes = known, made.place.changes
    return made


def _of_result(tangent: Any, out: Any) -> Any:
    """A sum of tangents as that of the result ``out``: of its shape and dtype, and recorded where that is."""
    if tuple(shape_of(tangent)) != tuple(shape_of(out)):
        tangent = expand_op(tangent, shape=tuple(shape_of(out)))
    if tangent.dtype != out.dtype:  # a stack of numbers counts as an array where one of them is weak
        bundled = tangent.__class__ is Bundle
        tangent = tangent.to(out.dtype) if bundled else lookup("cast")(tangent, dtype=out.dtype.name)
    # That of an operand itself, as a sum with what stands still has it, may have a history.
    return tangent if recording() or not getattr(tangent, "requires_grad", False) else _unrecorded(tangent)


def _unrecorded(tangent: Any) -> Any:
    """A tangent as what runs unrecorded gives it: it moves along others, and has no history."""
    if isinstance(tangent, Dual):
        return Dual(_unrecorded(tangent.primal), tangent.tangent, tangent.tag)
    return tangent.map(_unrecorded) if isinstance(tangent, Bundle) else tangent.detach()


def _stands(op: Op, i: int, arg: Any) -> bool:
    """Whether the result does not move though argument ``i`` has a tangent; torch's convention does not tell."""
    if not (op.still(i) or faced(arg).place.still) or op.underived or keeps_nan("composed"):
        return False
    return arg.tag not in BY_HAND


def _branch(op: Op, i: int, arg: Any, out: Any, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Where the branch that argument ``i`` leads to was taken, and the tangent of the result there; or None."""
    arg = faced(arg)
    if arg.tangent.__class__ is not Bundle and not getattr(out, "requires_grad", False):
        return None  # numbers have their second answer from reverse mode
    before = None if arg.chain else arg.place.branch
    if op is where_op and not params:
        keep = op.structural(i, *inputs)  # type: ignore[misc]
        return (keep, arg.tangent) if before is None else (keep & before[0], before[1])
    if before is None or not op.by_entries:
        return None
    keep, inner = before
    return keep, _pushed(op, i, inner, out, inputs, params)


def _pushed(op: Op, i: int, tangent: Any, out: Any, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """The tangent of the result when argument ``i`` moves along ``tangent``."""
    inputs = tuple(
        np.asarray(x) if isinstance(x, (list, tuple)) else float(x) if isinstance(x, Fraction) else x for x in inputs
    )
    if op.underived:
        raise UnsupportedDerivative(
            f"Trying to use forward AD with aten::{op.name} that does not support it; {op.underived}"
        )
    rules = op.jvps
    try:
        with np.errstate(all="ignore"):
            if callable(rules):
                return rules(i, tangent, out, *inputs, **params)
            if rules is not None and rules[i] is not None:
                return rules[i](tangent, out, *inputs, **params)
            return _TRANSPOSE[0](op, i, tangent, out, inputs, params)
    except UnsupportedDerivative as error:
        raise UnsupportedDerivative(
            f"Trying to use forward AD with {op.name} that does not support it because it has not been implemented "
            f"yet: {error}"
        ) from None


_TRANSPOSE: list[Callable[..., Any]] = []
"""How a vjp is transposed for ops without tangent rules; the tape's engine is filled in from above."""


register_carrier(Dual, 3, apply)


def _changing(name: str) -> Callable[[Dual, Any], Any]:
    def call(self: Dual, other: Any) -> Any:
        return dualwrites.overwrite(self, lookup(name)(dualwrites.unchanged(self, other), other))

    return call


for _name, _op in ARITHMETIC.items():
    setattr(Dual, f"__i{_name}__", _changing(_op))
