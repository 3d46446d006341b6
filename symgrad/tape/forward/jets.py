"""Taylor mode: a value with its Taylor coefficients along a path, as a carrier.

A jet x(t) = c₀ + c₁ t + c₂ t² + … passes through an op by the tangent rule that the op has anyway: y(t) = op(x(t))
solves y′ = rule(x′, y, x), and the rule is run once, on jets whose coefficients are worked out when they are asked for.
Then k yₖ is coefficient k - 1 of what the rule gave, which depends on earlier coefficients of y only (the power series
of McIlroy, "Squinting at power series", 1999; the recurrences are those of Griewank and Walther 2008, chapter 13).
Linear ops act on each coefficient, products and quotients are convolutions.

So order K costs O(K²) products per op, and O(K³) where a rule leads to ever new ops (a power).  Only where it calls its
own op anew for each of several operands that move (a system whose matrix moves, a product along an axis, ``qr``) do the
calls double with every order.

Coefficients may be arrays, tensors, or values of other transforms.  None is a coefficient that is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.dtype_objects import shown
from symgrad.dtypes import is_floating
from symgrad.errors import AutogradError, UnsupportedDerivative
from symgrad.op import Op, carrier_of, lookup, register_carrier, shape_of
from symgrad.op.partials import first, quotient, second
from symgrad.ops.shapes.shaping import expand_op
from symgrad.tape.forward import dual
from symgrad.tape.forward.bundle import Bundle
from symgrad.tape.forward.carried import Carried
from symgrad.tape.forward.dual import Dual
from symgrad.tape.threads import ThreadState

_LOST = (
    "{} of a value that is followed along a Taylor path would lose the path; where that is meant, say detach() first."
)


class _Rules(ThreadState):
    depth = 0


_INSIDE = _Rules()
"""How deep in rules of ops this thread is: what is made there is worked out when it is asked for."""


class Jet(Carried):
    """Taylor coefficients of one array along a path, up to ``order`` or as far as anybody asks."""

    __slots__ = ("_made", "_rule", "_slope", "known", "order", "tag")
    requires_grad = False

    def __init__(self, tag: int, order: int, known: list[Any], rule: Callable[[int], Any] | None = None):
        self.tag = tag
        self.order = order
        self.known = known
        self._rule = rule
        self._slope: Jet | None = None
        self._made: dict[Any, tuple[Any, Jet]] = {}

    def coefficient(self, k: int) -> Any:
        """Coefficient ``k``, or None where it is zero."""
        while len(self.known) <= k:
            self.known.append(None if self._rule is None else self._rule(len(self.known)))
        return self.known[k]

    @property
    def head(self) -> Any:
        """The value at the start of the path."""
        return self.known[0]

    beneath = head

    @property
    def slope(self) -> Jet:
        """The jet of the derivative along the path."""
        if self._slope is None:
            start = self.coefficient(1)
            if start is None:
                start = np.zeros(shape_of(self.head), self.dtype)[()]
            steady = self._rule is None and all(c is None for c in self.known[2:])
            rule = None if steady else lambda k: _scaled(self.coefficient(k + 1), k + 1)
            self._slope = Jet(self.tag, self.order - 1, [start], rule)
        return self._slope

    @property
    def still(self) -> bool:
        """Whether it is known to stay where it starts."""
        return self._rule is None and all(c is None for c in self.known[1:])

    @property
    def raw_shape(self) -> Any:
        """The sizes as plain ints."""
        return tuple(shape_of(self.known[0]))

    @property
    def dtype(self) -> Any:
        """The NumPy dtype."""
        return shown(self.known[0].dtype)

    def detach(self) -> Any:
        """The value without its path."""
        return self.head.detach() if hasattr(self.head, "detach") else self.head

    def to(self, *args: Any, **options: Any) -> Any:
        """Another dtype."""
        dtype = self.head.to(*args, **options).dtype
        return self if dtype == self.dtype else lookup("cast")(self, dtype=dtype.name)

    def __bool__(self) -> bool:
        return bool(self.head)

    def __float__(self) -> float:
        raise AutogradError(_LOST.format("float()"))

    item = numpy = tolist = __int__ = __float__

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_") and not name.startswith("_"):
            raise AutogradError(
                f"{name}() on a value that is followed along a Taylor path: there are no changes in place; make a new "
                f"value by {name[:-1]}()."
            )
        if name in ("_value", "_node"):
            raise AttributeError(
                "a tensor cannot be changed in place by a value that is followed along a Taylor path, since it would "
                "not be followed itself; make a new tensor instead: by cat, stack, where or index_put."
            )
        raise AttributeError(
            f"a value that is followed along a Taylor path (func.jet, func.taylor) has no attribute {name!r}."
        )

    def __setitem__(self, index: Any, value: Any) -> None:
        raise AutogradError(
            "entries of a value that is followed along a Taylor path cannot be written; make a new one by where, "
            "stack, cat or index_put."
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise AutogradError(_LOST.format("a NumPy array"))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        dual._refuse_out(ufunc, method, kwargs)
        return dual.NUMPY["ufunc"](ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        dual._refuse_out(func, "__call__", kwargs)
        return dual.NUMPY["function"](func, args, kwargs)

    def __repr__(self) -> str:
        return f"Jet({self.head!r}, order={self.order})"


def _scaled(coefficient: Any, k: int) -> Any:
    return None if coefficient is None else coefficient * k


# ---------------------------------------------------------------------------------------------- ops


def apply(op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """An op on jets of the youngest tag; other transforms that are younger go first."""
    tag = max(a.tag for a in args if isinstance(a, Jet))
    younger = [a for a in args if isinstance(a, (Dual, Bundle)) and a.tag > tag]
    if younger:
        carrier = carrier_of(max(younger, key=lambda a: a.tag).__class__)
        assert carrier is not None
        return carrier.apply(op, args, params)
    mine = [isinstance(a, Jet) and a.tag == tag for a in args]
    if op.settings is not None and any(mine[i] for i in op.settings):
        return op.define(*args, **params)  # type: ignore[misc]
    if not _INSIDE.depth:
        return _applied(op, args, params, mine, tag)
    # The rule of sin asks for cos, and that of cos for sin: within rules equal calls are one.
    owner = next(a for a, own in zip(args, mine, strict=True) if own)
    try:
        key = (op, tuple(map(id, args)), tuple(sorted(params.items())))
        hash(key)
    except TypeError:
        return _applied(op, args, params, mine, tag)
    if key not in owner._made:
        owner._made[key] = args, _applied(op, args, params, mine, tag)
    return owner._made[key][1]


def _applied(op: Op, args: tuple[Any, ...], params: dict[str, Any], mine: Sequence[bool], tag: int) -> Any:
    head = op(*(a.head if own else a for a, own in zip(args, mine, strict=True)), **params)
    if carrier_of(head.__class__) is None and not isinstance(head, (np.ndarray, np.generic)):
        head = np.asarray(head)[()]
    if not is_floating(head.dtype) or not any(own and op.differentiable(i) for i, own in enumerate(mine)):
        return head
    order = max(a.order for a, own in zip(args, mine, strict=True) if own)
    made = Jet(tag, order, [head])
    made._rule = _like(made, _direct(op, args, params, mine, made) or _by_rule(op, args, params, mine, made))
    if not _INSIDE.depth:
        with np.errstate(all="ignore"):
            for k in range(1, order + 1):  # in order, so that no coefficient asks for many before it
                made.coefficient(k)
        made._rule, made._slope = None, None
    return made


def _like(made: Jet, rule: Callable[[int], Any]) -> Callable[[int], Any]:
    """Coefficients of the shape and dtype of the value."""

    def fitted(k: int) -> Any:
        found = rule(k)
        if found is None:
            return None
        if tuple(shape_of(found)) != made.raw_shape:
            found = expand_op(found, shape=made.raw_shape)
        return found if found.dtype == made.dtype else lookup("cast")(found, dtype=made.dtype.name)

    return fitted


def _direct(op: Op, args: tuple[Any, ...], params: dict[str, Any], mine: Sequence[bool], made: Jet) -> Any:
    """The rule of coefficients where the op is linear, a product or a quotient; None for others."""
    moving = [i for i, own in enumerate(mine) if own]
    if op.condition is not None and op.among:
        return lambda k: _chosen(op, args, params, moving, k)
    signs = op.partials or ()
    if signs and all(p in (1, -1) for p in signs):
        return lambda k: _sum(_signed(args[i].coefficient(k), signs[i]) for i in moving)
    if op.linear and moving == [0]:
        return lambda k: None if (c := args[0].coefficient(k)) is None else op(c, *args[1:], **params)
    if op.partials and op.partials[0] is quotient:
        return lambda k: _divided(op, args, params, mine, made, k)
    if op.kind == "multilinear" or op.partials == (second, first):
        return lambda k: _sum(_convolved(op, list(args), params, moving, k))
    return None


def _chosen(op: Op, args: tuple[Any, ...], params: dict[str, Any], moving: Sequence[int], k: int) -> Any:
    """Coefficient ``k`` of a choice between operands: linear in both."""
    found = [args[i].coefficient(k) if i in moving else None for i in range(len(args))]
    if all(c is None for c in found):
        return None
    given = [
        a if i == op.condition else 0 if c is None else c for i, (a, c) in enumerate(zip(args, found, strict=True))
    ]
    return op(*given, **params)


def _divided(op: Op, args: tuple[Any, ...], params: dict[str, Any], mine: Sequence[bool], made: Jet, k: int) -> Any:
    """Coefficient ``k`` of y = a / b, from that of b y = a."""
    a, b = args
    total = a.coefficient(k) if mine[0] else None
    for j in range(1, k + 1) if mine[1] else ():
        factor, earlier = b.coefficient(j), made.coefficient(k - j)
        if factor is not None and earlier is not None:
            part = factor * earlier
            total = -part if total is None else total - part
    return None if total is None else op(total, b.head if mine[1] else b, **params)


def _signed(coefficient: Any, sign: int) -> Any:
    return coefficient if coefficient is None or sign == 1 else -coefficient


def _sum(parts: Any) -> Any:
    total: Any = None
    for part in parts:
        if part is not None:
            total = part if total is None else total + part
    return total


def _convolved(op: Op, args: list[Any], params: dict[str, Any], moving: Sequence[int], k: int) -> Any:
    """The terms of coefficient ``k`` of a product: one for every way to share ``k`` among the factors that move."""
    i, rest = moving[0], moving[1:]
    jet = args[i]
    for j in range(k + 1) if rest else (k,):
        coefficient = jet.coefficient(j)
        if coefficient is None:
            continue
        given = [*args[:i], coefficient, *args[i + 1 :]]
        if rest:
            yield from _convolved(op, given, params, rest, k - j)
        else:
            yield op(*given, **params)


def _by_rule(op: Op, args: tuple[Any, ...], params: dict[str, Any], mine: Sequence[bool], made: Jet) -> Any:
    """The rule of coefficients of any other op, from its tangent rule."""
    if op.underived:
        raise UnsupportedDerivative(f"jet: aten::{op.name} does not support it; {op.underived}")
    rates: list[Callable[[int], Any]] = []

    def rule(k: int) -> Any:
        if not rates:
            _INSIDE.depth += 1
            try:
                rates.extend(
                    _rate(op, i, arg, made, args, params)
                    for i, (arg, own) in enumerate(zip(args, mine, strict=True))
                    if own and op.differentiable(i) and not arg.still
                )
            finally:
                _INSIDE.depth -= 1
        _INSIDE.depth += 1
        try:
            total = _sum(rate(k - 1) for rate in rates)
        finally:
            _INSIDE.depth -= 1
        return None if total is None else total / k

    return rule


def _rate(op: Op, i: int, arg: Jet, out: Jet, args: tuple[Any, ...], params: dict[str, Any]) -> Callable[[int], Any]:
    """The coefficients of the derivative along the path, as far as argument ``i`` moves it."""
    rules = op.jvps
    if callable(rules):
        found = rules(i, arg.slope, out, *args, **params)
    elif rules is not None and rules[i] is not None:
        found = rules[i](arg.slope, out, *args, **params)
    else:
        return TRANSPOSE[0](op, i, arg.slope, out, args, params)  # type: ignore[no-any-return]
    if isinstance(found, Jet) and found.tag == arg.tag:
        return found.coefficient
    return lambda k: None if k or found is None else found


TRANSPOSE: list[Callable[..., Any]] = []
"""How the coefficients come from a vjp, for ops without tangent rules; what knows the engine fills it in."""

register_carrier(Jet, 6, apply)
