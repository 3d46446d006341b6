"""The fast paths of elementwise ops: what :func:`symgrad.tape.record.apply` does, with every lookup done beforehand.

They take tensors of one dtype; whatever else comes (numbers, arrays, dtypes that an op casts or refuses) goes the
general way, and so does everything while somebody observes.  Nodes are filled in here, attribute by attribute: at this
size a function call costs as much as the arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.dtypes import NARROW, SINGLE, float32, float64
from symgrad.errors import AutogradError
from symgrad.op import Op
from symgrad.op.partials import negated, same, times_first, times_second
from symgrad.tape.cutting import cutting
from symgrad.tape.explaining import explain
from symgrad.tape.formulas.constants import known
from symgrad.tape.graph import Node
from symgrad.tape.layout import arranged
from symgrad.tape.modes import MODE
from symgrad.tape.numbering import sequence
from symgrad.tape.observers import may_step_aside
from symgrad.tape.ordinary import ordinary
from symgrad.tape.products import is_product, product
from symgrad.tape.record import apply, plain, traced
from symgrad.tape.watching.watch import WATCH

_f64 = np.float64
_ONE = np.float64(1)
_NEITHER = (None, None)
_NONE = (None, None, None)
"""Saved values of nodes whose rules read none, as of sums."""
_CHARS = {"b": "?", "i": "bhilqp", "u": "BHILQP", "c": "FDG"}
"""``dtype.char`` by kind: what operands are told apart by."""


def _set_aside(op: Op) -> frozenset[str]:
    """``dtype.char`` of the operands that take the general path: what is cast, refused, or computed otherwise."""
    cast = {"float": "bui", "number": "b"}.get(op.dtypes or "", "")
    stepwise = op.half is not None or op.dtypes == "float" or not isinstance(op.kernel, np.ufunc)
    narrow = NARROW if stepwise else ""
    single = "" if op.single is None else SINGLE
    other = _CHARS["c"] if op.imaginary is not None else ""
    if op.fails is not None:
        other += _CHARS["u"] + _CHARS["i"]
    return frozenset("".join(_CHARS[kind] for kind in (*cast, *op.refuses) if kind in _CHARS) + narrow + single + other)


def _plans(op: Op, arity: int) -> list[tuple[Any, ...]]:
    """What to note on a node, by the mask of the arguments that require grad.

    That is: the mask of those a gradient flows to, their rules, and which of (out, *inputs) these read: with ``keeps``
    in front, which is None where it is nothing, and True where it is all inputs and not the result, as of a product.
    """
    plans: list[tuple[Any, ...]] = []
    for asked in range(1 << arity):
        flows = [asked >> i & 1 == 1 and op.differentiable(i) for i in range(arity)]
        mask = sum(1 << i for i in range(arity) if flows[i])
        # What torch has no derivative of is seen by its lack of rules, before a sweep reads more of its node.
        rules = None if op.underived else tuple(rule if flows[i] else None for i, rule in enumerate(op.vjps))
        read = op.needs(mask)[0] if mask else ()
        flags = tuple(i in read for i in range(-1, arity))
        plans.append((mask, rules, _keeps(flags), flags))
    return plans


def _keeps(flags: tuple[bool, ...]) -> bool | None:
    """None where nothing of (out, *inputs) is read, True where it is the inputs, False for any other choice."""
    return flags == (False, *(True for _ in flags[1:])) if any(flags) else None


def _beside_number(op: Op, place: int) -> tuple[Any, ...]:
    """What to note on a node whose operand at ``place`` requires grad beside a Python number: its plan, as above.

    Instead of rules it says for which dtypes they may be called as they are: with a number, what is no arithmetic may
    compute in float64.
    """
    mask = 1 << place
    if not op.differentiable(place):
        return (0, (), (), False, ())
    read, shaped = op.needs(mask, op.saves is not None)
    rules = None if op.underived else tuple(rule if i == place else None for i, rule in enumerate(op.vjps))
    arithmetic = op.vjps[place] in (same, negated, times_first, times_second)
    exact = () if shaped or op.structural is not None else (float64, float32) if arithmetic else (float64,)
    flags = tuple(i in read for i in (-1, 0, 1))
    return (mask, rules, exact, bool(read), flags)


def _watched(tensor: Any) -> bool:
    """Whether more is to be noted of a result that needs no grad than its value."""
    extra = tensor._extra
    if extra is None:
        return tensor._requires_grad or tensor._node is not None
    return extra.inference or bool(extra.sized) or known(tensor) or traced(tensor)


def _unseen() -> bool:
    """Whether nobody sees what is computed without grad: no tracer, and no inference tensor that may be among it."""
    return not (WATCH.count or MODE.inferred)


def ways_through(cls: Any) -> Callable[[Op, tuple[Any, ...], dict[str, Any]], Any]:
    """How ops are applied to tensors of a class by whoever calls them, as rules and functions of several ops do."""
    ways: dict[Op, tuple[Callable[..., Any] | None, int, Callable[..., Any]]] = {}

    def through(op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        try:
            way, arity, common = ways[op]
        except KeyError:
            common = ordinary(cls, op)
            if op.view is not None:
                common = cutting(cls, op, common)
            way, arity, _ = ways[op] = way_of(cls, op, lambda *args: common(args, {})), _arity(op), common
        if not params and way is not None and len(args) == arity:
            return way(*args)
        return common(args, params)

    return through


def _arity(op: Op) -> int:
    return 2 if is_product(op) else 0 if callable(op.vjps) else len(op.vjps)


def way_of(cls: Any, op: Op, otherwise: Callable[..., Any]) -> Callable[..., Any] | None:
    """The fast path of an op of one or two operands, if it has one; what it does not take goes ``otherwise``."""
    arity = _arity(op)
    if arity and callable(op.vjps):
        return product(cls, op, otherwise)
    if op.kind != "elementwise" or arity not in (1, 2) or op.decomposed:
        return None
    if op.copies:
        return _with_number(cls, op, otherwise) if arity == 2 else None
    if arity == 1:
        return unary(cls, op, otherwise)
    way = binary if op.differentiable(0) or op.differentiable(1) else question
    return way(cls, op, otherwise)


def unary(cls: Any, op: Op, otherwise: Callable[..., Any]) -> Callable[[Any], Any]:
    """The fast path of an op of one argument."""
    new, kernel, scalar = cls.__new__, op.kernel, op.scalar or op.kernel
    careful, single, alone = _set_aside(op), op.single, op.scalar is not None
    plans: Any = None
    expected = cls

    def call(input: Any) -> Any:
        nonlocal plans
        if input.__class__ is not expected:
            return otherwise(input)
        x = input._value
        source = input._node
        if plans is None:
            plans = _plans(op, 1)
        mask, rules, keeps, flags = plans[1] if input._requires_grad else plans[0]
        shape: Any = ()
        dtype = float64
        if x.__class__ is _f64:
            try:
                v = scalar(x)
            except (ValueError, OverflowError):  # where ``math`` raises, NumPy has inf or nan
                v = kernel(x)
            if v.__class__ is float:
                v = _ONE * v  # cheaper than calling the class
        else:
            if source is None:
                shape, dtype = x.shape, x.dtype
            else:
                try:
                    shape, dtype = source.shape, source.dtype
                except AutogradError:  # a view that lost its history: an error, but for what has no derivative
                    return apply(cls, op, (input,), {})
            if dtype is float64 or dtype.char not in careful:
                v = kernel(x) if shape or not alone or dtype is not float64 else op.of_number(x)
            elif single is not None and dtype is float32:
                v = single(x)
            else:
                return apply(cls, op, (input,), {})
            if len(shape) > 1 and v.strides != x.strides:
                v = arranged(v, (x,))
            rules = rules if dtype is float64 or dtype is float32 else None
        if not mask or (MODE.exceptional and not MODE.local.enabled):
            careful_way = not (mask and _unseen()) and _watched(input)
            return apply(cls, op, (input,), {}) if careful_way else plain(cls, v)
        node = Node()
        node.op = op
        node.args = (input if source is None else source,)
        node.saved = _NEITHER if keeps is None else (None, x) if keeps else (v, x if flags[1] else None)
        node.params = None
        node.mask = mask
        node.shape = shape
        node.dtype = dtype
        node.rules = rules
        node.sequence_nr = next(sequence)
        node.extra = None
        out = new(cls)
        out._value = v
        out._node = node
        out._requires_grad = True
        out._extra = None
        return out

    may_step_aside(call)
    call.__name__ = call.__qualname__ = op.name
    call.__doc__ = op.told
    return call


def binary(cls: Any, op: Op, otherwise: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """The fast path of an op of two tensors, or of one and a Python number."""
    new, kernel = cls.__new__, op.kernel
    careful = _set_aside(op)
    unlike = _with_number(cls, op, otherwise)
    plans: Any = None
    expected = cls

    def call(input: Any, other: Any) -> Any:
        nonlocal plans
        if input.__class__ is not expected or other.__class__ is not expected:
            return unlike(input, other)
        x = input._value
        y = other._value
        a = input._node
        b = other._node
        if plans is None:
            plans = _plans(op, 2)
        asked = (3 if other._requires_grad else 1) if input._requires_grad else 2 if other._requires_grad else 0
        mask, rules, keeps, flags = plans[asked]
        if x.__class__ is _f64 and y.__class__ is _f64:
            v = kernel(x, y)
            shape: Any = ()
            dtype = float64
        else:
            # A node knows the shape and dtype of its value; asking NumPy costs more than the rest of the bookkeeping.
            if a is None:
                shape, dtype = x.shape, x.dtype
            else:
                shape, dtype = a.shape, a.dtype
            if dtype is not (y.dtype if b is None else b.dtype) or (dtype is not float64 and dtype.char in careful):
                return apply(cls, op, (input, other), {})
            try:
                v = kernel(x, y)
            except (ValueError, TypeError) as error:
                raise explain(op, (input, other), error) from error
            if len(shape) > 1 and x.strides != y.strides:
                v = arranged(v, (x, y))
            if shape != (y.shape if b is None else b.shape):
                shape, rules = v.shape, None
            elif dtype is not float64 and dtype is not float32:
                rules = None
        if not mask or (MODE.exceptional and not MODE.local.enabled):
            careful_way = not (mask and _unseen()) and (_watched(input) or _watched(other))
            return apply(cls, op, (input, other), {}) if careful_way else plain(cls, v)
        try:
            # As edge() says, without the call.
            a = a if a is not None else input if input._requires_grad else input.source(flags[1])
            b = b if b is not None else other if other._requires_grad else other.source(flags[2])
        except AutogradError:  # an inference tensor would be kept; the careful way sees whether anybody can ask for it
            return apply(cls, op, (input, other), {})
        node = Node()
        node.op = op
        node.args = (a, b)
        node.saved = (
            _NONE
            if keeps is None
            else (None, x, y)
            if keeps
            else (v if flags[0] else None, x if flags[1] else None, y if flags[2] else None)
        )
        node.params = None
        node.mask = mask
        node.shape = shape
        node.dtype = dtype
        node.rules = rules
        node.sequence_nr = next(sequence)
        node.extra = None
        out = new(cls)
        out._value = v
        out._node = node
        out._requires_grad = True
        out._extra = None
        return out

    may_step_aside(call)
    call.__name__ = call.__qualname__ = op.name
    call.__doc__ = op.told
    return call


def _another(x: Any) -> Any:
    """A copy of an array or scalar, whose own method takes longer."""
    return x.copy("K") if x.__class__ is np.ndarray else x * 1


def _with_number(cls: Any, op: Op, unlike: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The fast path of an op of two operands, one of which is a Python number beside a tensor of real floats."""
    if op.condition is not None or op.scalar is not None:
        return unlike
    new, kernel, single = cls.__new__, op.kernel, op.single or op.kernel
    copied: Any = op.copies and _another
    plans: list[Any] = [None, None]
    expected = cls

    def call(input: Any, other: Any) -> Any:
        if input.__class__ is expected and (other.__class__ is float or other.__class__ is int):
            tensor, place = input, 0
        elif other.__class__ is expected and (input.__class__ is float or input.__class__ is int):
            tensor, place = other, 1
        else:
            return unlike(input, other)
        x = tensor._value
        a = tensor._node
        try:
            shape, dtype = (x.shape, x.dtype) if a is None else (a.shape, a.dtype)
            if dtype is float64:
                v = kernel(input, x) if place else kernel(x, other)
            elif dtype is float32:
                v = single(input, x) if place else single(x, other)
            else:
                return unlike(input, other)
        except (ValueError, TypeError, OverflowError, AutogradError):
            return unlike(input, other)  # which says what is wrong
        if v.__class__ is not x.__class__ or v is x or v.base is not None:
            return unlike(input, other)  # a 0-d array, or one in the memory of the operand
        if len(shape) > 1 and v.strides != x.strides:
            v = arranged(v, (x,))
        plan = plans[place]
        if plan is None:
            plan = plans[place] = _beside_number(op, place)
        mask, rules, exact, reads, flags = plan
        if not mask or not tensor._requires_grad or (MODE.exceptional and not MODE.local.enabled):
            careful_way = not (mask and tensor._requires_grad and _unseen()) and _watched(tensor)
            return unlike(input, other) if careful_way else plain(cls, v)
        if a is None:
            a = tensor
        if copied:
            x = copied(x)
        node = Node()
        node.op = op
        node.params = None
        if place:
            node.args = (input, a)
            kept = (v if flags[0] else None, input if flags[1] else None, x if flags[2] else None) if reads else _NONE
        else:
            node.args = (a, other)
            kept = (v if flags[0] else None, x if flags[1] else None, other if flags[2] else None) if reads else _NONE
        node.saved = kept
        node.mask = mask
        node.shape = shape
        node.dtype = dtype
        node.rules = rules if dtype in exact else None
        node.sequence_nr = next(sequence)
        node.extra = None
        out = new(cls)
        out._value = v
        out._node = node
        out._requires_grad = True
        out._extra = None
        return out

    may_step_aside(call)
    return call


def question(cls: Any, op: Op, otherwise: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """The fast path of an op of two tensors without derivative: a comparison, which asks for no operand's history."""
    kernel, careful = op.kernel, _set_aside(op)
    expected = cls

    def call(input: Any, other: Any) -> Any:
        if input.__class__ is not expected or other.__class__ is not expected:
            return otherwise(input, other)
        x = input._value
        y = other._value
        dtype = x.dtype
        if dtype is not y.dtype or (dtype is not float64 and dtype.char in careful):
            return apply(cls, op, (input, other), {})
        try:
            v = kernel(x, y)
        except (ValueError, TypeError) as error:
            raise explain(op, (input, other), error) from error
        if x.ndim > 1 and x.strides != y.strides:
            v = arranged(v, (x, y))
        return apply(cls, op, (input, other), {}) if _watched(input) or _watched(other) else plain(cls, v)

    may_step_aside(call)
    call.__name__ = call.__qualname__ = op.name
    call.__doc__ = op.told
    return call
