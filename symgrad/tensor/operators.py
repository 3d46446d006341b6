"""The operators of tensors: each is an op, and says what becomes of operands of other kinds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, NotAnOperand
from symgrad.op import FRONTS, Op, known_as, lookup
from symgrad.op.operators import ARITHMETIC, COMPARISONS
from symgrad.ops.elementwise.arithmetic import over_tensor
from symgrad.ops.elementwise.bits import inverted
from symgrad.tape import fast
from symgrad.tape.formulas.sizes import note_failure
from symgrad.tape.memory.alone import swift, written
from symgrad.tape.memory.inplace import inplace
from symgrad.tape.misuse import FAILED
from symgrad.tape.overriding import WITHIN, answers, dispatched, overriding
from symgrad.tape.record import Recorded
from symgrad.tensor.labelling import rewriting

BITS = {
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
}


def fast_call(cls: type, op: Op) -> Callable[..., Any]:
    """The call of an op, with the short way of its kind for tensors of this class."""
    if (way := fast.way_of(cls, op, op)) is not None:
        return way
    arity = len(op.vjps) if not callable(op.vjps) else 0

    def of_one(input: Any) -> Any:
        return op(input)

    def of_several(*args: Any, **params: Any) -> Any:
        return op(*args, **params)

    call = of_one if arity == 1 else of_several
    return known_as(call, op.name, op.told)


def _operand(other: Any) -> bool:
    return isinstance(other, (Recorded, int, float, complex, np.ndarray, np.generic)) or hasattr(other, "value")


def _exact(other: Any) -> Any:
    """A number that is known exactly, as ops take it: Python's fractions, SymPy's numbers; else None."""
    if isinstance(other, Fraction):
        return other
    if not _of_sympy(other) or not getattr(other, "is_number", False):
        return None
    from symgrad.formula.sympy.numbers import operand

    return operand(other)


def _of_sympy(other: Any) -> bool:
    sympy = sys.modules.get("sympy")
    return sympy is not None and isinstance(other, sympy.Basic)


def _decides(other: Any) -> bool:
    """Whether the class of an operand says what becomes of it (``__torch_function__``)."""
    kind = other.__class__
    return kind is not float and kind is not int and not WITHIN.disabled and answers(kind)


_NUMBERS = (int, float, complex, np.generic)
"""What has no part in a product of matrices."""
_SWAPPED = {"lt": "__gt__", "le": "__ge__", "gt": "__lt__", "ge": "__le__"}


def _decided(name: str, self: Any, other: Any) -> Any:
    """What the class of an operand says that becomes of ``self.name(other)`` (``__torch_function__``)."""
    from symgrad.tensor.overridden import asked_about

    try:
        return dispatched(asked_about(name), overriding((self, other), {}), (self, other), {})
    except TypeError:
        return NotImplemented


def _theirs(name: str, self: Any, other: Any) -> Any:
    """What stands for the result beside an operand of another kind: what its class makes of it by ``name``, if any.

    Where both classes are called Tensor, Python's own words would not tell which of them does not know the other.  What
    SymPy would make of the value of a tensor, beside a symbol, has no gradient.
    """
    kind = type(other)
    if name and _of_sympy(other):
        raise NotAnOperand(
            f"{other!s:.60} of SymPy's is no operand of a tensor, which has a value: its formula is t.expr, and "
            "symgrad.from_sympy(expression) makes a function of tensors of an expression."
        )
    if not name or kind.__name__ != type(self).__name__:
        return NotImplemented
    found = getattr(kind, name, lambda *_: NotImplemented)(other, self)
    if found is NotImplemented:
        raise ArgumentError(
            f"{kind.__module__}.Tensor is no operand of symgrad's ({name}); symgrad.tensor(...) makes one of it"
        )
    return found


def _forward(
    cls: type, function: Callable[[Any, Any], Any], own: str, theirs: str, aside: tuple[type, ...] = ()
) -> Callable[[Any, Any], Any]:
    """An operator whose first operand is a tensor; those of the classes ``aside`` are left to Python's own error."""

    def call(self: Any, other: Any) -> Any:
        if other.__class__ is cls:
            try:
                return function(self, other)
            except FAILED:
                note_failure((self, other))
                raise
        if isinstance(other, aside):
            return NotImplemented
        if _decides(other):
            return _decided(own, self, other)
        if _operand(other):
            return function(self, other)
        number = _exact(other)
        return _theirs(theirs, self, other) if number is None else function(self, number)

    return call


def _or_theirs(op: Op, own: str, theirs: str) -> Callable[[Any, Any], Any]:
    """An operator that leaves what is no operand of it to the other's reflected one."""

    def call(input: Any, other: Any) -> Any:
        if _decides(other):
            return _decided(own, input, other)
        try:
            return op(input, other)
        except NotAnOperand:
            number = _exact(other)
            return _theirs(theirs, input, other) if number is None else op(input, number)

    return call


def _reflected(
    function: Callable[[Any, Any], Any], theirs: str, aside: tuple[type, ...] = ()
) -> Callable[[Any, Any], Any]:
    def call(self: Any, other: Any) -> Any:
        if isinstance(other, aside):
            return NotImplemented
        if _operand(other):
            return function(other, self)
        number = _exact(other)
        return _theirs(theirs, self, other) if number is None else function(number, self)

    return call


def _assigning(function: Callable[..., Any], own: str) -> Callable[..., Any]:
    """An operator in place, which leaves what is no operand to Python's own error."""

    def call(self: Any, other: Any) -> Any:
        if other.__class__ is not self.__class__ and _decides(other):
            return _decided(own, self, other)
        try:
            return inplace(self, function, (other,), {}, table=True)
        except NotAnOperand:
            number = _exact(other)
            return NotImplemented if number is None else inplace(self, function, (number,), {}, table=True)

    return call


def bind_operators(cls: Any) -> None:
    """Give the class of tensors Python's operators."""
    cls._op_priority = 1000.0  # SymPy's numbers and symbols, which read it, leave their operators to tensors
    for name, op_name in ARITHMETIC.items():
        function = FRONTS["matmul"].call if name == "matmul" else fast_call(cls, lookup(op_name))
        # The four commonest operators do without the check of their operand; the op itself rejects strangers.
        common = name in ("add", "sub", "mul", "truediv")
        own, theirs = f"__{name}__", f"__r{name}__"
        aside = _NUMBERS if name == "matmul" else ()
        forward = _or_theirs(lookup(op_name), own, theirs) if common else _forward(cls, function, own, theirs, aside)
        setattr(cls, own, fast.binary(cls, lookup(op_name), forward) if common else forward)
        setattr(cls, theirs, _reflected(over_tensor if name == "truediv" else function, own, aside))
        if name != "matmul":
            into = function.written = written(lookup(op_name))  # type: ignore[attr-defined]
            assign = _assigning(function, f"__i{name}__")
            setattr(cls, f"__i{name}__", assign if into is None else swift(into, assign))
    for name in COMPARISONS:
        own = f"__{name}__"
        setattr(cls, own, _forward(cls, fast_call(cls, lookup(name)), own, _SWAPPED.get(name, "")))
    for name, public in BITS.items():
        function = rewriting(public, FRONTS[public].call)
        setattr(cls, f"__{name}__", _forward(cls, function, f"__{name}__", f"__r{name}__"))
        setattr(cls, f"__r{name}__", _reflected(function, f"__{name}__"))
        setattr(cls, f"__i{name}__", _assigning(function, f"__i{name}__"))
    cls.__neg__ = cls.neg
    cls.__abs__ = cls.abs
    cls.__invert__ = inverted
    cls.__pos__ = lambda self: self
    cls.__hash__ = object.__hash__
