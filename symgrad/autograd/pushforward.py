"""Custom functions in forward mode: the tangents of a ``Function`` come from its own ``jvp``, or from ``backward``.

``backward`` is linear in the gradients it is given, so differentiating it by them transposes it: that is the tangent
map of a function without ``jvp`` (Radul et al., "You only linearize once", 2022).  ``forward`` itself is never
differentiated: what its author says the derivative is, counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.autograd.handed import followed
from symgrad.autograd.sweeps import grad
from symgrad.dtypes import is_floating
from symgrad.errors import AutogradError, SymgradError
from symgrad.op import shape_of
from symgrad.ops.kinks import steepest
from symgrad.tape import dual
from symgrad.tape.dual import Dual
from symgrad.tape.modes import enable_grad
from symgrad.tape.record import Recorded, plain
from symgrad.tensor import Tensor

NO_JVP = "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."


def pushed(function: Any, args: tuple[Any, ...], applied: Any) -> Any:
    """The outputs of ``function`` on arguments of which some move along tangents.

    ``applied(primals, moving)`` runs it and gives ``(ctx, outputs)``.
    """
    tag = max(a.tag for a in args if isinstance(a, Dual))
    pairs = [dual.parts(a, tag) for a in args]
    if any(isinstance(part, Dual) for pair in pairs for part in pair):
        raise AutogradError(
            f"{function.__name__} is a custom Function, which forward mode can follow once, not inside of another "
            "forward derivative; write it with symgrad's own functions, or use reverse mode for one of the two."
        )
    primals = tuple(p if t is None else _tensor(p) for p, t in pairs)
    ctx, returned = applied(primals, [t is not None for _, t in pairs])
    outputs = returned if isinstance(returned, tuple) else (returned,)
    tangents = [_tangent(ctx, p, t) for p, t in zip(primals, (t for _, t in pairs), strict=True)]
    if _has_jvp(function):
        look = followed(ctx, args, primals, tangents, tag)
        moved = _by_jvp(function, ctx, tangents, outputs)
        went_in = [look(k, out, t) for k, (out, t) in enumerate(zip(outputs, moved, strict=True))]
    else:
        moved = _by_backward(function, ctx, tangents, outputs)
        went_in = [None] * len(outputs)
    duals = tuple(
        _moving(out, t, tag) if dual is None else dual for out, t, dual in zip(outputs, moved, went_in, strict=True)
    )
    return duals if isinstance(returned, tuple) else duals[0]


def _has_jvp(function: Any) -> bool:
    """Whether the author wrote a ``jvp``."""
    from symgrad.autograd.function import Function

    return function.jvp is not Function.jvp


def _tensor(value: Any) -> Any:
    return value if isinstance(value, Recorded) else plain(Tensor, np.asarray(value)[()])


def _tangent(ctx: Any, primal: Any, tangent: Any) -> Any:
    """The tangent of an argument as a tensor; one that stands still has zeros, and other things than tensors None."""
    if tangent is not None:
        return _tensor(tangent)
    if isinstance(primal, Recorded) and is_floating(primal._value.dtype) and ctx.materialize_grads:
        return plain(Tensor, np.zeros_like(primal._value)[()])
    return None


def _by_jvp(function: Any, ctx: Any, tangents: list[Any], outputs: tuple[Any, ...]) -> list[Any]:
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
    return moved


def _by_backward(function: Any, ctx: Any, tangents: list[Any], outputs: tuple[Any, ...]) -> list[Any]:
    """The transpose of ``backward``, applied to the tangents."""
    with enable_grad(), steepest():
        seeds = [plain(Tensor, np.ones_like(o._value)[()]) if isinstance(o, Recorded) else None for o in outputs]
        wanted = [s.requires_grad_() for s in seeds if s is not None and is_floating(s.dtype)]
        try:
            rows = function.backward(ctx, *seeds)
            rows = rows if isinstance(rows, (tuple, list)) else (rows,)
            pairs = [(r, t) for r, t in zip(rows, tangents, strict=False) if r is not None and t is not None]
            if any(not isinstance(r, Recorded) or _hides(r) for r, _ in pairs):
                raise AutogradError("what it returns does not follow from its arguments by operations on tensors")
            pairs = [(r, t) for r, t in pairs if r._requires_grad]
            found = iter(
                grad([r for r, _ in pairs], wanted, [t for _, t in pairs], create_graph=True, allow_unused=True)
                if pairs
                else (None,) * len(wanted)
            )
        except (SymgradError, NotImplementedError) as error:
            raise NotImplementedError(
                f"{NO_JVP} {function.__name__} has none, and its backward cannot be transposed: {error}"
            ) from error
    return [next(found) if s is not None and is_floating(s.dtype) else None for s in seeds]


def _hides(row: Any) -> bool:
    """Whether a gradient that came from ones is not zero and yet not known to depend on them."""
    return not row._requires_grad and bool(np.any(row._value))


def _moving(out: Any, tangent: Any, tag: int) -> Any:
    if tangent is None or not isinstance(out, Recorded):
        return out
    if tuple(shape_of(tangent)) != tuple(shape_of(out)):
        raise AutogradError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(shape_of(out))} while the given forward gradient is of size "
            f"{list(shape_of(tangent))}."
        )
    return Dual(out, tangent, tag)
