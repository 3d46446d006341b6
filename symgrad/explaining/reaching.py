"""Which entries of a result an argument's entries meet, and what the derivative is at one entry, in many digits."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from symgrad.autograd.sweeps.autopsy import aligned
from symgrad.errors import IllPosedDerivative, KinkError, SymgradError
from symgrad.explaining.replay import Edge, Replay
from symgrad.explaining.scene import Scene, scalar
from symgrad.formula.digits import Digits, in_mpmath
from symgrad.formula.term import Term, as_term, is_zero, number, symbol
from symgrad.ops.rules.kinks import conventions
from symgrad.tape.graph import Node
from symgrad.tape.operands import promoted
from symgrad.tape.record import computed

_MOST_ENTRIES = 500
"""Of larger operands no function that is not entrywise is evaluated in many digits."""
_NOT_RUN = (SymgradError, TypeError, ValueError, AttributeError, IndexError)
"""What an operation raises that cannot be applied to these values alone."""
_MANY = 1_000
"""Digits in which a derivative that seems to be 0 is computed once more."""


def reached(replay: Replay, edge: Edge, mask: Any) -> Any:
    """The entries of a node's result that the entries in ``mask`` of the edge's argument may change.

    Linear operations say it themselves: the mask goes through them.  Of others all entries are taken.
    """
    node, i, mask = edge.node, edge.i, np.asarray(mask)
    if node.op.entrywise:
        return np.broadcast_to(mask, node.shape)
    op = node.op
    if op.kind == "multilinear" or ((op.linear or op.view is not None) and not i):
        others = [_present(replay.value(a)) for a in node.args]
        others[i] = mask.astype(float)[()]
        try:
            with np.errstate(all="ignore"):
                found = np.abs(np.asarray(computed(op, others, node.params or {})))
            if found.shape == node.shape:
                return found > 1e-6 * max(float(np.max(found, initial=0.0)), 1.0)
        except (SymgradError, TypeError, ValueError, IndexError, AttributeError):
            pass
    return np.full(edge.g.shape, bool(mask.any()))


def _present(value: Any) -> Any:
    """Ones in place of numbers that multiply; indices and conditions as they are."""
    return np.ones(value.shape)[()] if getattr(value, "dtype", np.dtype(int)).kind in "fc" else value


class Slope(NamedTuple):
    """The derivative of an operation at one entry.

    ``exact`` is that of exact arithmetic, None where it is unknown; ``everywhere``: it is 0 whatever is given; ``by``
    is the argument that it equals, for factors of a product.
    """

    exact: Any
    everywhere: bool = False
    by: int | None = None


def slope(scene: Scene, node: Node, i: int, index: tuple[int, ...]) -> Slope:
    """The derivative of an entrywise operation by argument ``i`` at an entry of its result."""
    try:
        args: list[Term] = []
        values: dict[str, Any] = {}
        for k, arg in enumerate(node.args):
            if not hasattr(arg, "dtype"):
                args.append(as_term(arg))
                continue
            value = np.asarray(scene.replay.value(arg))
            at = aligned(node, index, value.shape)
            name = f"x{k}"
            values[name] = value[at] if at is not None else value[()]
            args.append(symbol(name, (), value.dtype))
        params = node.params or {}
        out = node.op(*args, **params)
        found = node.op.pullback(i, number(1), out, args, params)
        if found is None:
            return Slope(0, True)
        term = as_term(found)
        if is_zero(term):
            zeros = [k for k, arg in enumerate(node.args) if not hasattr(arg, "dtype") and arg == 0 and k != i]
            return Slope(0, not zeros, zeros[0] if zeros else None)
        exact = scalar(in_mpmath(term, values, {}, 15))
        if exact == 0:  # 1 - tanh² is 0 in any number of digits that is too small
            exact = scalar(in_mpmath(term, values, {}, _MANY))
        if node.args[i].dtype.kind != "c" and hasattr(exact, "imag"):
            exact = exact.real  # the part of a complex slope that a real leaf has
        return Slope(exact, False, args.index(term) if term in args else None)
    except (SymgradError, ArithmeticError, TypeError, ValueError, KeyError, AttributeError, IndexError):
        return Slope(None)


def exact_pull(scene: Scene, edge: Edge, index: tuple[int, ...]) -> Any:
    """What should have gone along an edge to an entry, in exact arithmetic; None where that is not known."""
    node = edge.node
    try:
        args, values = [], {"g": np.asarray(edge.g)}
        for k, arg in enumerate(node.args):
            value = np.asarray(scene.replay.value(arg)) if hasattr(arg, "dtype") else None
            if value is None:
                args.append(as_term(arg))
                continue
            if value.size > _MOST_ENTRIES:
                return None
            values[f"x{k}"] = value[()]
            args.append(symbol(f"x{k}", value.shape, value.dtype))
        params = node.params or {}
        g = symbol("g", node.shape, node.dtype)
        term = as_term(node.op.pullback(edge.i, g, node.op(*args, **params), tuple(args), params))
        scale = float(np.max(np.abs(values["g"]), initial=0))
        for digits in (60, _MANY) if len(values["g"].shape) < 2 else (60,):
            # One walk: to have all of its digits, an exact zero would be asked for in more and more of them.
            (value,) = Digits(digits + 10).values([term], values, {})
            found = np.broadcast_to(np.asarray(value, object), np.shape(edge.c))[index]
            if found != 0 and not abs(found) * 10**digits <= scale:
                return found
        return 0  # what is smaller than the last digit, however many there are, is rounding
    except (SymgradError, ArithmeticError, TypeError, ValueError, KeyError, AttributeError, IndexError):
        return None


def kink_at(scene: Scene, edge: Edge, index: tuple[int, ...]) -> str:
    """Where the kink is that an operation was at, ``x = 0``: its derivative there is a convention.  Else empty."""
    try:
        with conventions("raise"):
            _pulled(scene, edge, index)
    except KinkError as error:
        return error.place
    except _NOT_RUN:
        pass
    return ""


def ill_posed(scene: Scene, edge: Edge) -> str:
    """What a rule says of a derivative that is ill-posed at what the operation was given; else empty."""
    with warnings.catch_warnings(record=True) as heard, suppress(*_NOT_RUN):
        warnings.simplefilter("always")
        _pulled(scene, edge)
    return next((str(w.message) for w in heard if issubclass(w.category, IllPosedDerivative)), "")


def _pulled(scene: Scene, edge: Edge, index: tuple[int, ...] = ()) -> None:
    """Apply the rule once more: of an entrywise operation at one entry, of others at all."""
    node, params = edge.node, edge.node.params or {}
    values, g = [scene.replay.value(a) for a in node.args], edge.g
    if node.op.entrywise:
        places = [aligned(node, index, np.shape(value)) for value in values]
        values = [v if at is None else np.asarray(v)[at] for v, at in zip(values, places, strict=True)]
        g = np.asarray(g)[index]
    with np.errstate(all="ignore"):
        out = computed(node.op, promoted(node.op, values), params)
        node.op.pullback(edge.i, g, out, tuple(values), params)


def depends(scene: Scene, node: Node, i: int, mask: Any) -> bool:
    """Whether an operation's result is another one when the entries in ``mask`` of argument ``i`` are others."""
    values = [scene.replay.value(a) for a in node.args]
    try:
        rng, before = np.random.default_rng(0), np.asarray(values[i])
        with np.errstate(all="ignore"):
            here = computed(node.op, promoted(node.op, values), node.params or {})
            for _ in range(2):
                other = np.where(mask, rng.normal(size=before.shape) * (10 + 10 * np.abs(before)), before)
                row = [*values[:i], other.astype(before.dtype)[()], *values[i + 1 :]]
                if not np.array_equal(
                    computed(node.op, promoted(node.op, row), node.params or {}), here, equal_nan=True
                ):
                    return True
        return False
    except (SymgradError, TypeError, ValueError, AttributeError, IndexError):
        return True


def given_text(scene: Scene, node: Node, index: tuple[int, ...]) -> str:
    """What the operation was given at an entry: ``x = -1.2 and y = 3``; empty where that is no entry."""
    parts = []
    for arg in node.args:
        if not hasattr(arg, "dtype"):
            continue
        value = np.asarray(scene.replay.value(arg))
        at = aligned(node, index, value.shape)
        if at is None or value.dtype.kind in "bO":
            continue
        parts.append(f"{scene.text(arg)} = {_short(scalar(value[at]))}")
    return " and ".join(parts[:3])


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, (float, complex)) else str(value)


def argument_value(scene: Scene, node: Node, i: int, index: tuple[int, ...]) -> Any:
    """The entry of argument ``i`` that meets an entry of the result, as a float; None where there is none."""
    value = np.asarray(scene.replay.value(node.args[i]))
    at = aligned(node, index, value.shape)
    if at is None:
        at = () if value.ndim == 0 else None
    return None if at is None or value.dtype.kind not in "fiu" else float(value[at])
