"""Custom functions in forward mode: the tangents of a ``Function`` come from its own ``jvp``, or from ``backward``.

``backward`` is linear in the gradients it is given, so differentiating it by them transposes it: that is the tangent
map of a function without ``jvp`` (Radul et al., "You only linearize once", 2022).  ``forward`` itself is never
differentiated: what its author says the derivative is, counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.autograd.functions.handed import followed
from symgrad.autograd.sweeps.entrances import grad
from symgrad.dtypes import is_floating
from symgrad.errors import AutogradError, SymgradError
from symgrad.op import shape_of
from symgrad.ops.rules.fitting import unbroadcast
from symgrad.ops.rules.kinks import steepest
from symgrad.tape.forward import dual
from symgrad.tape.forward.bundle import Bundle, row_of
from symgrad.tape.forward.dual import Dual
from symgrad.tape.forward.dualwrites import at_rest
from symgrad.tape.modes import enable_grad, own_no_grad
from symgrad.tape.record import Recorded, plain
from symgrad.tensor import Tensor

NO_JVP = "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."


def pushed(function: Any, args: tuple[Any, ...], applied: Any) -> Any:
    """The outputs of ``function`` on arguments of which some move along tangents.

    ``applied(primals, moving)`` runs it and gives ``(ctx, outputs)``.
    """
    tag = max(a.tag for a in args if isinstance(a, Dual))
    pairs = [dual.parts(a, tag) for a in args]
    primals = tuple(p if t is None else _tensor(p) for p, t in pairs)
    moving = [t is not None for _, t in pairs]
    outer = any(isinstance(p, Dual) for p in primals)
    ctx, returned = inside(function, primals, moving) if outer else applied(primals, moving)
    outputs = returned if isinstance(returned, tuple) else (returned,)
    push = _by_jvp if has_jvp(function) else _by_backward
    tangents = [t for _, t in pairs]
    duals = _of_rows(push(function, ctx, args, primals, outputs, tag), ctx, primals, tangents, outputs, tag)
    return duals if isinstance(returned, tuple) else duals[0]


Push = Callable[[list[Any]], list[tuple[Any, Any]]]
"""What takes tangents of the arguments to ``(tangent, dual that went in or None)`` of every output."""


def _of_rows(
    push: Push, ctx: Any, primals: Sequence[Any], tangents: list[Any], outputs: Sequence[Any], tag: int
) -> tuple[Any, ...]:
    """The outputs with their tangents; those of bundles are pushed one after the other, but for a jvp made of ops."""
    bundle = next((t for t in tangents if isinstance(t, Bundle)), None)
    if bundle is None or ctx.takes_bundles:
        found = push([_tangent(ctx, p, t) for p, t in zip(primals, tangents, strict=True)])
        pairs = zip(outputs, found, strict=True)
        return tuple(_moving(out, t, tag) if went_in is None else went_in for out, (t, went_in) in pairs)
    rows = []
    for k in range(bundle.width):
        row = [row_of(t, bundle.tag, k) for t in tangents]
        rows.append(push([_tangent(ctx, p, t) for p, t in zip(primals, row, strict=True)]))
    duals = []
    for out, column in zip(outputs, zip(*rows, strict=True), strict=True):
        went_in = column[0][1]
        if went_in is not None:
            went_in.move(bundle.like([t for t, _ in column]))
            duals.append(went_in)
            continue
        checked = [_moving(out, t, tag) for t, _ in column]
        moved = bundle.filled([dual.parts(d, tag)[1] for d in checked])
        duals.append(out if moved is None else Dual(out, moved, tag))
    return tuple(duals)


def has_jvp(function: Any) -> bool:
    """Whether the author wrote a ``jvp``."""
    from symgrad.autograd.function import Function

    return function.jvp is not Function.jvp


def inside(function: Any, primals: tuple[Any, ...], moving: Sequence[bool]) -> tuple[Any, Any]:
    """``(ctx, outputs)`` where the arguments move already, in a derivative around the one that is taken.

    The outputs move as the function itself says.  What it saved moves as well, so that its ``jvp`` is followed: in
    ``setup_context`` it saves duals; a ``forward`` that saves by itself runs once more, on values that stand still,
    and its arguments and outputs among what it saved are replaced by those that move.
    """
    from symgrad.autograd.function import FunctionCtx, has_setup, run_forward

    returned = function.apply(*primals)
    outputs = returned if isinstance(returned, tuple) else (returned,)
    ctx = FunctionCtx()
    ctx.needs_input_grad = tuple(
        m or bool(getattr(p, "requires_grad", False)) for p, m in zip(primals, moving, strict=True)
    )
    if has_setup(function):
        function.setup_context(ctx, tuple(primals), returned)
    else:
        still = [at_rest(p) for p in primals]
        with own_no_grad():
            again = run_forward(function, ctx, still)
        found = again if isinstance(again, tuple) else (again,)
        _replace(ctx, {id(a): (a, b) for a, b in zip((*still, *found), (*primals, *outputs), strict=True)}, function)
    if ctx.dirty_tensors:
        raise AutogradError(
            f"{function.__name__} changes its arguments in place, which forward mode can follow once, not inside of "
            "another forward derivative; let it give new tensors instead."
        )
    marked = {id(t) for t in ctx.non_differentiable}
    ctx.still = tuple(hasattr(o, "dtype") and (id(o) in marked or not is_floating(o.dtype)) for o in outputs)
    return ctx, returned


def _replace(ctx: Any, moving: dict[int, tuple[Any, Any]], function: Any) -> None:
    """Put what moves in place of what stands still, by identity, in all that a context holds."""

    def instead(value: Any, saved: bool) -> Any:
        if id(value) in moving:
            return moving[id(value)][1]
        if saved and isinstance(value, Recorded) and is_floating(value._value.dtype):
            raise AutogradError(
                f"{function.__name__} saved a tensor that is neither an argument nor an output, so that a forward "
                "derivative around another one cannot follow it; save arguments and outputs, or define setup_context."
            )
        return value

    for name, value in vars(ctx).items():
        if isinstance(value, tuple):
            saved = name in ("to_save", "saved_for_forward")
            setattr(ctx, name, tuple(instead(x, saved) for x in value))
        else:
            setattr(ctx, name, instead(value, name != "to_save"))


def _tensor(value: Any) -> Any:
    return value if isinstance(value, (Recorded, Dual, Bundle)) else plain(Tensor, np.asarray(value)[()])


def _tangent(ctx: Any, primal: Any, tangent: Any) -> Any:
    """The tangent of an argument as a tensor; one that stands still has zeros, and other things than tensors None."""
    if tangent is not None:
        return _tensor(tangent)
    if hasattr(primal, "raw_shape") and is_floating(primal.dtype) and ctx.materialize_grads:
        return plain(Tensor, np.zeros(shape_of(primal), primal.dtype)[()])
    return None


def _by_jvp(
    function: Any, ctx: Any, args: Sequence[Any], primals: Sequence[Any], outputs: Sequence[Any], tag: int
) -> Push:
    """The author's ``jvp``."""

    def push(tangents: list[Any]) -> list[tuple[Any, Any]]:
        look = followed(ctx, args, primals, tangents, tag)
        ctx.in_jvp = True
        try:
            returned = function.jvp(ctx, *tangents)
        finally:
            ctx.in_jvp = False
        moved = list(returned) if isinstance(returned, tuple) else [returned]
        if len(moved) != len(outputs):
            raise AutogradError(
                f"Function's jvp returned an invalid number of forward gradients (expected {len(outputs)} but "
                f"got {len(moved)})"
            )
        return [(t, look(k, out, t)) for k, (out, t) in enumerate(zip(outputs, moved, strict=True))]

    return push


def _by_backward(function: Any, ctx: Any, _: Any, __: Any, outputs: Sequence[Any], ___: int) -> Push:
    """The transpose of ``backward``, which runs once."""
    seeds = [plain(Tensor, telling(shape_of(o), o.dtype)) if hasattr(o, "raw_shape") else None for o in outputs]
    with enable_grad():
        wanted = [s._require() for s in seeds if s is not None and is_floating(s.dtype)]
    rows: list[Any] = []

    def push(tangents: list[Any]) -> list[tuple[Any, Any]]:
        with enable_grad(), steepest():
            try:
                if not rows:
                    returned = function.backward(ctx, *seeds)
                    rows.extend(returned if isinstance(returned, (tuple, list)) else (returned,))
                found = iter(_transposed(rows, wanted, tangents))
            except (SymgradError, NotImplementedError) as error:
                raise NotImplementedError(
                    f"{NO_JVP} {function.__name__} has none, and its backward cannot be transposed: {error}"
                ) from error
        return [(next(found) if s is not None and is_floating(s.dtype) else None, None) for s in seeds]

    return push


def _transposed(rows: Sequence[Any], wanted: Sequence[Any], tangents: Sequence[Any]) -> Sequence[Any]:
    """The tangents of the outputs from those of the arguments, by what ``backward`` gave of cotangents to be found."""
    pairs = [(r, t) for r, t in zip(rows, tangents, strict=False) if r is not None and t is not None]
    if any(not isinstance(r, (Recorded, Dual)) or _hides(r) for r, _ in pairs):
        raise AutogradError("what it returns does not follow from its arguments by operations on tensors")
    pairs = [(unbroadcast(r, shape_of(t)), t) for r, t in pairs if r.requires_grad]
    if not pairs:
        return (None,) * len(wanted)
    found = grad([r for r, _ in pairs], wanted, [t for _, t in pairs], create_graph=True, allow_unused=True)
    if not agree(pairs, found, wanted):
        raise AutogradError("what it returns depends on its arguments in another way than its history tells")
    return found


def telling(shape: Any, dtype: Any) -> Any:
    """A cotangent of which a gradient tells whether there is one: of ones, that of a softmax is 0."""
    row = 1 + np.arange(1, math.prod(shape) + 1) * _GOLDEN % 1
    return row.reshape(shape).astype(dtype)[()]


_GOLDEN = 0.6180339887498949
"""Of whose multiples the fractions are as different as so many can be."""


def agree(pairs: Sequence[Any], found: Sequence[Any], probes: Sequence[Any]) -> bool:
    """Whether tangents ``found`` from gradients of ``probes``, and tangents, are those that such gradients must have.

    A gradient is linear in its cotangent, so that ⟨gradient of a probe, tangent⟩ is ⟨probe, tangent found⟩.  It is
    not where part of the gradient was computed without history: under ``no_grad()``, or to be differentiated once.
    """
    with np.errstate(all="ignore"):  # inf and nan, of which nothing can be said
        parts = [np.conj(at_rest(r)._value) * at_rest(t)._value for r, t in pairs]
        moved = [at_rest(f)._value * at_rest(p)._value for f, p in zip(found, probes, strict=True) if f is not None]
        narrow = min((x.dtype.itemsize for x in (*parts, *moved)), default=8) == 2
        wide = [np.asarray(x, np.complex128 if x.dtype.kind == "c" else np.float64) for x in (*parts, *moved)]
        total = sum(np.sum(x) for x in wide[: len(parts)]) - sum(np.sum(x) for x in wide[len(parts) :])
        size = sum(np.sum(np.abs(x)) for x in wide)
    return not np.isfinite(size) or bool(abs(np.real(total)) <= (0.05 if narrow else 1e-3) * size)


def _hides(row: Any) -> bool:
    """Whether a gradient that came from a probe is not zero and yet not known to depend on them."""
    return not row.requires_grad and bool(np.any(at_rest(row)._value))


def _moving(out: Any, tangent: Any, tag: int) -> Any:
    if tangent is None or not isinstance(out, (Recorded, Dual)):
        return out
    if tuple(shape_of(tangent)) != tuple(shape_of(out)):
        raise AutogradError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(shape_of(out))} while the given forward gradient is of size "
            f"{list(shape_of(tangent))}."
        )
    return Dual(out, tangent, tag)
