"""Forward mode: products of Jacobians and vectors, in one pass with the value or after it."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, overload

import numpy as np

from symgrad import autograd
from symgrad.autograd.functions.pushforward import agree, telling
from symgrad.autograd.sweeps.rescue import is_lost
from symgrad.dtypes import is_floating
from symgrad.errors import ArgumentError, AutogradError, ChangedInPlace, SymgradError
from symgrad.func.bound import (
    Bound,
    as_result,
    as_tensor,
    as_variable,
    check_function,
    deriving,
    flat_parts,
    of_arrays,
    released,
    results,
    run,
    settled,
    watched,
)
from symgrad.func.transforms import JVP, pull_back, vjp
from symgrad.op import Op, shape_of
from symgrad.ops.elementwise.choosing import where
from symgrad.ops.rules.fitting import fit
from symgrad.ops.rules.kinks import keeps_nan, steepest
from symgrad.tape import containers
from symgrad.tape.forward import dual
from symgrad.tape.forward.bundle import Bundle
from symgrad.tape.forward.dual import Dual
from symgrad.tape.forward.histories import histories_kept, were_chosen
from symgrad.tape.forward.jets import Jet
from symgrad.tape.modes import enable_grad, recording, switches_noticed
from symgrad.tape.numbering import sequence
from symgrad.tape.record import Recorded, plain, value_of
from symgrad.tape.watching.watch import watching
from symgrad.tensor import Tensor
from symgrad.tensor.moving import settle


@overload
def jvp(
    func: Callable[..., Tensor],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    strict: bool = False,
    has_aux: Literal[False] = False,
) -> tuple[Tensor, Tensor]: ...
@overload
def jvp(
    func: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Any: ...
def jvp(
    func: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Any:
    """``(output, tangent)``: the value and its derivative along ``tangents``, in one forward pass.

    ``primals`` and ``tangents`` are tuples of equal structure and shapes.  With ``has_aux`` the result is
    ``(output, tangent, aux)``; with ``strict`` an output that does not depend on the primals is an error.

    Where a tangent comes out as nan, the function runs once more for reverse mode, which may know the derivative: two
    steps such as ``log1p(exp(x))`` have it together and neither alone.

    >>> import symgrad as sg
    >>> sg.func.jvp(lambda x: x**3, (2.0,), (1.0,))
    (tensor(8., dtype=float64), tensor(12., dtype=float64))
    """
    check_function(func, "jvp")
    if not isinstance(primals, (tuple, list)):
        raise ArgumentError(
            f"{JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals): "
            "jvp(f, (x, y), (dx, dy))."
        )
    values, structure = containers.flatten(primals)
    moves, given = containers.flatten(tangents)
    if containers.without_settings(given) != containers.without_settings(structure):
        raise ArgumentError(
            f"{JVP}: Expected primals and tangents to have the same python structure. For example, if primals is a "
            f"tuple of 3 tensors, tangents also must be. Got primals with structure {containers.shown(structure)} and "
            f"tangents with structure {containers.shown(given)}"
        )
    if not values:
        raise ArgumentError(f"{JVP}: Expected primals to contain at least one Tensor.")
    since = next(sequence)
    pairs, out_structure, aux = _pushed(func, structure, values, moves, has_aux)
    if strict and any(t is None for _, t in pairs):
        raise AutogradError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed "
            "with strict=True."
        )
    if any(map(_astray, pairs)):
        pairs = _found_again(func, primals, tangents, has_aux, pairs)
    let_go: Callable[[Any], Any] = functools.partial(released, since=since) if watched() else settled
    out = containers.unflatten(out_structure, iter([let_go(as_result(p)) for p, _ in pairs]))
    moved = [plain(Tensor, np.zeros(shape_of(p), p.dtype)[()]) if t is None else let_go(as_result(t)) for p, t in pairs]
    pushed = containers.unflatten(out_structure, iter(moved))
    return (out, pushed, aux) if has_aux else (out, pushed)


def _pushed(
    func: Any, structure: Any, values: Sequence[Any], moves: Sequence[Any], has_aux: bool
) -> tuple[list[tuple[Any, Any]], Any, Any]:
    """The results of one run of the function with their tangents or None, how they are nested, and what it gave beside.

    ``values`` of the nesting ``structure`` move along ``moves``.
    """
    tag = dual.new_tag()
    row = []
    for k, (value, move) in enumerate(zip(values, moves, strict=True)):
        primal = as_tensor(value, f"primal {k}")
        if not is_floating(primal.dtype):
            raise ArgumentError(f"primal {k} has dtype {primal.dtype}; derivatives need a floating or complex dtype.")
        tangent = as_tensor(move, f"tangent {k}")
        tangent = fit(tangent, shape_of(tangent), primal.dtype)
        if isinstance(tangent, Tensor) and tangent.requires_grad and tangent.is_leaf:
            tangent = tangent.clone()  # a custom function may change it in place
        row.append(dual.make_dual(primal, tangent, tag))
    args = containers.unflatten(structure, iter(row))
    try:
        result, aux = run(func, args, {}, has_aux, JVP, of_arrays((values, moves)))
        leaves, out_structure = results(result, JVP)
        # What was changed in place stands for a dual of an outer derivative, too.
        pairs = [(dual.faced(p), dual.faced(t)) for p, t in (dual.parts(leaf, tag) for leaf in leaves)]
        aux = containers.tree_map(lambda a: dual.parts(a, tag)[0], aux)
    finally:
        settle(tag)
    if were_chosen(tag):
        with histories_kept(False):
            return _pushed(func, structure, values, moves, has_aux)
    return pairs, out_structure, aux


def lost(tangent: Any) -> bool:
    """Whether a value or tangent holds a nan or inf that another spelling of the function may mend."""
    value = value_of(tangent)
    known = isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind == "f"
    return known and is_lost(value) and not keeps_nan("composed") and watching() is None


def _found_again(func: Any, primals: Any, tangents: Any, has_aux: bool, pairs: list[tuple[Any, Any]]) -> list[Any]:
    """The values and tangents, with those that are nan as other spellings of the function have them, where these do.

    Steps that have a tangent together are taken together in a second run; reverse mode knows what is left, but for
    those whom it would ask forward mode.
    """
    (values, structure), moves = containers.flatten(primals), containers.flatten(tangents)[0]
    with contextlib.suppress(SymgradError, NotImplementedError), histories_kept():
        pairs = _mended_pairs(pairs, _pushed(func, structure, values, moves, has_aux)[0])
    if not any(map(_astray, pairs)) or any(isinstance(value, (Dual, Jet)) for value, _ in pairs):
        return pairs
    first = functools.wraps(func)(lambda *args: func(*args)[0]) if has_aux else func
    with contextlib.suppress(SymgradError, NotImplementedError):
        again, push = linearize(first, *primals)
        moved = containers.flatten(push(*tangents))[0]
        return _mended_pairs(pairs, zip(containers.flatten(again)[0], moved, strict=True))
    return pairs


def _mended_pairs(pairs: Sequence[tuple[Any, Any]], others: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """The values and tangents, with those of another run in the entries that are nan."""
    found = []
    for (p, t), (other, new) in zip(pairs, others, strict=True):
        if lost(t) and lost(p) and not lost(other):  # the value is a derivative itself, which is lost as well
            p = mended(p, other)
        known = _astray((p, t)) and new is not None and same_values(p, other)
        found.append((p, mended(t, new, beside=p) if known else t))
    return found


def _astray(pair: tuple[Any, Any]) -> bool:
    """Whether a tangent is no number, or that of a value that has left the range of numbers."""
    return pair[1] is not None and any(map(lost, pair))


def mended(tangent: Any, new: Any, beside: Any = None) -> Any:
    """A tangent with the entries of another one where it is no number and the other is; it keeps its formula.

    So are those entries replaced where the value ``beside`` it is no number.
    """
    tangent = as_result(tangent)
    wrong = ~np.isfinite(tangent._value)
    if beside is not None:
        wrong |= ~np.isfinite(value_of(beside))
    lost = wrong & np.isfinite(new._value)
    if tangent._requires_grad or new._requires_grad:
        if np.isfinite(new._value).all():  # what is differentiated further has no nan on its way
            return new
        return where(plain(Tensor, lost), new, tangent)
    made = plain(Tensor, np.where(lost, new._value, tangent._value)[()])
    made._node = tangent._node
    return made


def same_values(value: Any, other: Any) -> bool:
    """Whether a function that ran twice gave the same: it may draw random numbers, or count its calls."""
    first, second = (value_of(x) for x in (value, other))
    return isinstance(first, (np.ndarray, np.generic)) and np.array_equal(first, second, equal_nan=True)


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """``(output, push)``: the value, and the linear map that takes tangents of the primals to that of the output.

    The function runs once; ``push(*tangents)`` costs no further run of it, but where forward mode or :func:`jet`
    follows what the function holds, whose own motion the product then has, and where only forward mode moves: through
    ``no_grad()``, and through values that the function changes in place after reverse mode has saved them.

    >>> import symgrad as sg
    >>> out, push = sg.func.linearize(lambda x: x**3, 2.0)
    >>> out, push(1.0), push(10.0)
    (tensor(8., dtype=float64), tensor(12., dtype=float64), tensor(120., dtype=float64))
    """
    check_function(func, "linearize")

    def again(*tangents: Any) -> Any:
        return jvp(func, primals, tangents)[1]

    with deriving(), switches_noticed() as switched:
        bound = Bound(func, primals, tuple(range(len(primals))))
        with bound.closed():
            result, _ = run(func, bound.args, {}, False, JVP, bound.of_arrays)
        leaves, structure = results(result, JVP)
        outer = bound.outer([part for leaf in leaves for part in flat_parts(leaf)])
        own = bound.variables
        shown = result if outer else containers.unflatten(structure, iter([settled(leaf, own) for leaf in leaves]))
        if switched() or any(isinstance(leaf, (Dual, Jet)) for leaf in leaves):
            return shown, again  # what it holds moves, or what it runs unrecorded, and with it the derivative
        # A vector-Jacobian product is linear in its cotangent, so its derivative by the cotangent is the Jacobian.
        kinds = [(shape_of(o), o.dtype) for o in leaves]
        moving = [leaf for leaf in leaves if is_floating(leaf.dtype)]  # whole numbers and masks stand still
        probes = [as_variable(plain(Tensor, telling(shape_of(o), o.dtype)), "probe", False)[0] for o in moving]
        pulled: list[Any] = [None] * len(own)
        try:
            with enable_grad():
                for leaf, probe in zip(moving, probes, strict=True):
                    found = pull_back(leaf, own, probe, True)
                    pulled = [g if total is None else total + g for total, g in zip(pulled, found, strict=True)]
        except ChangedInPlace:
            return shown, again

    def push(*tangents: Any) -> Any:
        moves, given = containers.flatten(tangents)
        wanted = ("tuple", tuple(range(len(bound.structures))), tuple(bound.structures))
        if containers.without_settings(given) != containers.without_settings(wanted):
            raise ArgumentError(
                f"Expected the tangents {containers.shown(given)} to have the same argspec as the primals "
                f"{containers.shown(wanted)}"
            )
        moved = []
        for k, (g, move, v) in enumerate(zip(pulled, moves, bound.variables, strict=True)):
            tangent = as_tensor(move, f"tangent {k}")
            if shape_of(tangent) != shape_of(v):
                raise ArgumentError(
                    f"tangent:{k} with shape {shape_of(tangent)} in flattened pytree doesn't match the shape "
                    f"{shape_of(v)} of the corresponding primal."
                )
            if isinstance(move, Tensor) and move.dtype != v.dtype:
                raise ArgumentError(
                    f"tangent:{k} with dtype {move.dtype} in flattened pytree doesn't match the dtype {v.dtype} of the "
                    "corresponding primal."
                )
            if isinstance(g, Recorded):
                moved.append((g, fit(tangent, shape_of(v), v.dtype)))
        pairs = [(g, t) for g, t in moved if g._requires_grad]
        found: Sequence[Any] = [None] * len(probes)
        if pairs:
            seeds = [t for _, t in pairs]
            followed = outer or (recording() and any(getattr(t, "requires_grad", False) for t in seeds))
            found = autograd.grad(
                [g for g, _ in pairs], probes, seeds, retain_graph=True, create_graph=followed, allow_unused=True
            )
        if not agree(moved, found, probes):
            return again(*tangents)  # a custom backward without history
        columns = iter(found)
        rows = [next(columns) if is_floating(dtype) else None for _, dtype in kinds]
        rows = [plain(Tensor, np.zeros(*k)[()]) if g is None else g for g, k in zip(rows, kinds, strict=True)]
        return containers.unflatten(structure, iter(rows))

    return shown, push


def transposed(op: Op, i: int, tangent: Any, out: Any, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """The tangent of an op without a tangent rule: its vjp, linear in the cotangent, is transposed on the tape."""

    def pulled(cotangent: Any) -> Any:
        found = op.pullback(i, cotangent, out, inputs, params)
        return fit(as_result(found), shape_of(inputs[i]), inputs[i].dtype)

    probe = plain(Tensor, np.zeros(shape_of(out), out.dtype)[()])
    with steepest():
        _, back = vjp(pulled, probe)
        return tangent.map(lambda row: back(row)[0]) if isinstance(tangent, Bundle) else back(tangent)[0]
