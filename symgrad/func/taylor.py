"""Higher derivatives along a path: truncated Taylor series pass through the function once."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad import autograd
from symgrad.autograd.sweeps.rescue import carried
from symgrad.dtypes import is_floating
from symgrad.errors import ArgumentError, ShapeError
from symgrad.func.bound import as_result, as_tensor, check_function, for_arrays, results, run, watched
from symgrad.func.forward import lost, mended, same_values
from symgrad.op import Op, shape_of
from symgrad.ops.rules.fitting import fit
from symgrad.ops.rules.kinks import steepest
from symgrad.tape import containers
from symgrad.tape.forward import dual, jets
from symgrad.tape.forward.jets import Jet
from symgrad.tape.modes import enable_grad
from symgrad.tape.record import Recorded, plain
from symgrad.tensor import Tensor

_JET = "jet(f, primals, series)"


def jet(func: Callable[..., Any], primals: Sequence[Any], series: Sequence[Sequence[Any]]) -> tuple[Any, Any]:
    """``(output, terms)``: the value of ``func`` and its derivatives along a path, by JAX's meaning of ``jet``.

    Primal i moves along x(t) with x(0) = ``primals[i]`` and the derivatives x′(0), x″(0), … = ``series[i]``, which are
    equally many (K) for all primals and have their shapes.  ``terms`` are the derivatives of f(x(t)) at 0, first to
    K-th, in a list for every output.  These are derivatives and no Taylor coefficients: those are divided by k!, see
    :func:`taylor`.

    The function runs once.  Order K costs O(K²) products of coefficients per op, O(K³) for powers and their like; only
    for few (``linalg.solve`` with a matrix that moves, ``prod``, ``det``, ``qr``) does it double with every order, as
    nested ``jvp`` does for all.  Results may be differentiated by what the primals and series are made of.
    Not in jets: reverse mode inside of ``func`` and custom functions, which are refused.  Raises ``ArgumentError`` and
    ``ShapeError`` where series do not fit their primals.

    >>> import symgrad as sg
    >>> sg.func.jet(sg.sin, (0.0,), ([1.0, 0.0, 0.0],))
    (tensor(0., dtype=float64), [tensor(1., dtype=float64), tensor(0., dtype=float64), tensor(-1., dtype=float64)])
    """
    check_function(func, "jet")
    func = for_arrays(func, (primals, series))
    starts, rows = _checked(primals, series)
    order = len(rows[0])
    coefficients = [[_over(term, math.factorial(k + 1)) for k, term in enumerate(row)] for row in rows]
    out, found = _along(func, starts, coefficients, order)
    leaves, structure = out
    terms = [[c * math.factorial(k) for k, c in enumerate(row) if k] for row in found]
    return containers.unflatten(structure, iter(leaves)), containers.unflatten(structure, iter(terms))


def taylor(func: Callable[..., Any], x: Any, v: Any, order: int) -> list[Any]:
    """The Taylor coefficients of t ↦ f(x + t v): ``order + 1`` of them, f(x) first, coefficient k over k!.

    ``x`` and ``v`` are numbers or arrays of one shape; each coefficient has the structure of the result of ``func``.
    The cost is that of :func:`jet`.

    >>> import symgrad as sg
    >>> sg.func.taylor(sg.exp, 0.0, 1.0, 3)[1:]
    [tensor(1., dtype=float64), tensor(0.5000, dtype=float64), tensor(0.1667, dtype=float64)]
    """
    check_function(func, "taylor")
    order = _order(order, "taylor")
    func = for_arrays(func, (x, v))
    (start,), ((way,),) = _checked((x,), ([v],))
    (leaves, structure), found = _along(func, [start], [[way] + [None] * (order - 1)] if order else [[]], order)
    columns = [leaves, *zip(*(row[1:] for row in found), strict=True)] if order else [leaves]
    return [containers.unflatten(structure, iter(column)) for column in columns]


def nth_derivative(func: Callable[..., Any], n: int) -> Callable[..., Any]:
    """The function that gives the n-th derivative of a function of one number; ``n`` may be 0.

    The result has the structure and shapes of that of ``func``.  Further arguments are passed on.  Raises
    ``ShapeError`` for an array, whose derivatives have many directions: :func:`taylor` takes one.

    >>> import symgrad as sg
    >>> sg.func.nth_derivative(lambda x: x**5, 3)(2.0)
    tensor(240., dtype=float64)
    """
    check_function(func, "nth_derivative")
    n = _order(n, "nth_derivative")

    @functools.wraps(func)
    def derivative(x: Any, *args: Any, **kwargs: Any) -> Any:
        called = for_arrays(func, (x, args))
        start = as_tensor(x, "x")
        if tuple(shape_of(start)):
            raise ShapeError(
                f"nth_derivative is for functions of one number; x has shape {tuple(shape_of(start))}. Along a "
                "direction v, func.taylor(f, x, v, n) gives the derivatives."
            )
        found = taylor(lambda t: called(t, *args, **kwargs), start, np.ones((), start.dtype)[()], n)[n]
        return containers.tree_map(lambda c: c * math.factorial(n), found)

    return derivative


def _order(order: Any, name: str) -> int:
    if isinstance(order, bool) or not isinstance(order, (int, np.integer)) or order < 0:
        raise ArgumentError(f"{name}: the order is a whole number from 0 on, not {order!r}.")
    return int(order)


def _over(term: Any, divisor: int) -> Any:
    return term if divisor == 1 else term / divisor


def _checked(primals: Any, series: Any) -> tuple[list[Any], list[list[Any]]]:
    """Primals and series as tensors."""
    if not isinstance(primals, (tuple, list)) or not isinstance(series, (tuple, list)) or not primals:
        raise ArgumentError(f"{_JET}: primals and series are tuples: jet(f, (x,), ([x1, x2],)).")
    if len(primals) != len(series):
        raise ArgumentError(f"{_JET}: there are {len(primals)} primals and {len(series)} series; give one for each.")
    starts, rows = [], []
    for i, (primal, row) in enumerate(zip(primals, series, strict=True)):
        start = as_tensor(primal, f"primal {i}")
        if not is_floating(start.dtype):
            raise ArgumentError(f"primal {i} has dtype {start.dtype}; derivatives need a floating or complex dtype.")
        if not isinstance(row, (tuple, list)) or not row:
            raise ArgumentError(f"{_JET}: series {i} is a list of derivatives of primal {i}, at least the first one.")
        terms = []
        for k, term in enumerate(row):
            found = as_tensor(term, f"series {i}, entry {k}")
            if tuple(shape_of(found)) != tuple(shape_of(start)):
                raise ShapeError(
                    f"{_JET}: entry {k} of series {i} has shape {tuple(shape_of(found))}, its primal "
                    f"{tuple(shape_of(start))}."
                )
            # Plain numbers stay numbers, so that formulas show them.
            number = found._value if isinstance(found, Recorded) and not isinstance(term, Recorded) else found
            terms.append(fit(number, shape_of(start), start.dtype))
        starts.append(start)
        rows.append(terms)
    if len({len(row) for row in rows}) > 1:
        raise ArgumentError(f"{_JET}: series are equally long, these have {[len(row) for row in rows]} entries.")
    return starts, rows


def _along(func: Any, starts: list[Any], rows: list[list[Any]], order: int) -> tuple[Any, list[list[Any]]]:
    """``((values, structure), coefficients per output)`` of a function along Taylor paths."""
    tag = dual.new_tag()
    given = [Jet(tag, order, [start, *row]) for start, row in zip(starts, rows, strict=True)]
    result, _ = run(func, given, {}, False, _JET)
    leaves, structure = results(result, _JET) if not isinstance(result, Jet) else ([result], containers.LEAF)
    values, found = [], []
    for leaf in leaves:
        mine = isinstance(leaf, Jet) and leaf.tag == tag
        value = as_result(leaf.head if mine else leaf)
        row = [leaf.coefficient(k) for k in range(order + 1)] if mine else [value] + [None] * order
        zero = np.zeros(shape_of(value), value.dtype)[()]
        values.append(value)
        found.append([as_result(zero if c is None else c) for c in row])
    if any(lost(c) for row in found for c in row[1:]):
        _find_again(func, given, values, found)
    return (values, structure), found


def _find_again(func: Any, given: list[Jet], values: list[Any], found: list[list[Any]]) -> None:
    """Put in coefficients that are nan as another spelling of the function has them, where it has them."""
    if not all(isinstance(jet.head, Recorded) for jet in given):  # inside of another transform, which looks itself
        return
    with enable_grad():
        leaves = [plain(Tensor, jet.head._value)._require() for jet in given]
        again, _ = run(func, leaves, {}, False, _JET)
    outputs = containers.flatten(again)[0]
    known = [isinstance(o, Recorded) and o._requires_grad for o in outputs]
    if len(outputs) != len(values) or not any(known):
        return
    instead = {id(leaf): jet for leaf, jet in zip(leaves, given, strict=True)}
    other = carried([o for o, own in zip(outputs, known, strict=True) if own], instead)
    rows = [(row, v, o) for row, v, o, own in zip(found, values, outputs, known, strict=True) if own]
    for (row, value, output), jet in zip(rows, other or [], strict=False):
        if isinstance(jet, Jet) and same_values(value, output):
            row[1:] = [
                mended(c, as_result(jet.coefficient(k))) if lost(c) and jet.coefficient(k) is not None else c
                for k, c in enumerate(row[1:], 1)
            ]


def _transposed(op: Op, i: int, slope: Jet, out: Jet, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Coefficients of the derivative along the path of an op without a tangent rule.

    Its vjp is linear in the cotangent; each of its own coefficients along the path is transposed on the tape.
    """
    probe = plain(Tensor, np.zeros(shape_of(out), out.dtype)[()])._require()
    with enable_grad(), steepest():
        pulled = op.pullback(i, probe, out, inputs, params)
    parts: list[Any] = []

    def part(j: int) -> Any:
        while len(parts) <= j:
            with enable_grad(), steepest():
                k = len(parts)
                along = isinstance(pulled, Jet) and pulled.tag == out.tag
                found = pulled.coefficient(k) if along else None if k else pulled
                parts.append(None if found is None else fit(as_result(found), shape_of(inputs[i]), inputs[i].dtype))
        return parts[j]

    def coefficient(k: int) -> Any:
        total: Any = None
        for j in range(k + 1):
            row, move = part(j), slope.coefficient(k - j)
            if row is None or move is None or not isinstance(row, Recorded) or not row._requires_grad:
                continue
            move = as_result(move)
            create = watched() and any(map(_follows, (move, *inputs)))
            with steepest():
                (found,) = autograd.grad(
                    [row], [probe], [move], retain_graph=True, create_graph=create, allow_unused=True
                )
            if found is not None:
                total = found if total is None else total + found
        return total

    return coefficient


def _follows(value: Any) -> bool:
    """Whether the tape follows a value, or any coefficient that a jet has."""
    parts = value.known if isinstance(value, Jet) else (value,)
    return any(getattr(part, "requires_grad", False) for part in parts)


jets.TRANSPOSE.append(_transposed)
