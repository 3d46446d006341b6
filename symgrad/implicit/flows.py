"""Solutions of y' = f(y, t, θ) on the tape: differentiated through the steps taken, or by the adjoint equation.

*discrete*    the gradient of what was computed.  Few states are kept, and backward runs the steps between two of them
              again, as a function on a tape of their own.
*continuous*  the gradient of the exact solution, as exact as the tolerance: the adjoint λ' = -(∂f/∂y)ᵀ λ is solved
              backwards in time, together with y and ∂L/∂θ (Pontryagin et al. 1962; Chen et al., "Neural ordinary
              differential equations", NeurIPS 2018).  No step is kept.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.autograd import Function
from symgrad.errors import ArgumentError, FormulaError
from symgrad.func import jvp, vjp
from symgrad.implicit.equations import quiet
from symgrad.implicit.problems import Given, Layout, tracked
from symgrad.implicit.tableaus import Control, March, placed, step
from symgrad.interop.array_calls import called
from symgrad.op import lookup
from symgrad.tape.formulas.formal import Formal
from symgrad.tape.forward import dual
from symgrad.tape.forward.bundle import Bundle
from symgrad.tape.forward.dual import Dual
from symgrad.tape.modes import enable_grad, own_no_grad
from symgrad.tape.record import plain
from symgrad.tensor import Tensor
from symgrad.tensor.moving import settle


def _take_all(out: Any) -> None:
    """Of an equation whose function is the library's own."""


class Flow:
    """y' = f(y, t, θ) with y as a point (:class:`symgrad.implicit.problems.Layout`), and how it is solved."""

    def __init__(
        self, function: Callable[..., Any], layout: Layout, given: Given, control: Control, adjoint: str, tfirst: bool
    ):  # fmt: skip
        self.function = function
        self.layout = layout
        self.given = given
        self.control = control
        self.adjoint = adjoint
        self.tfirst = tfirst
        self.march: March | None = None
        self.of_arrays = False
        """Whether y0, t and the parameters are arrays, for which f may be written, and means their methods."""
        self.refuse: Callable[[Any], None] = _take_all
        """Called with every result of f on numbers."""
        name = getattr(function, "__name__", type(function).__name__)
        self.__name__ = name if name.isidentifier() else "f"

    def slope(self, t: Any, point: Any, leaves: Sequence[Any]) -> Any:
        """f at a point."""
        args = self.given.filled(leaves)
        state = self.layout.unpack(point)
        args = (t, state, *args) if self.tfirst else (state, t, *args)
        out = called(self.function, args, None, self.of_arrays)
        return self.layout.pack(out, f"the result of {self.__name__}")

    def solved(self, start: Any, times: Any, leaves: Sequence[Any]) -> Any:
        """y at all times, as an array; the steps are left in ``march``."""

        def slope(t: Any, y: Any) -> Any:
            time, state = plain(Tensor, times.dtype.type(t)), plain(Tensor, np.array(y))
            out = self.slope(time, state, leaves)
            self.refuse(out)
            if time._version or state._version:
                raise ArgumentError(
                    f"odeint: {self.__name__} changes its argument {'y' if state._version else 't'} in place, from "
                    "which the step goes on; let it change a clone()."
                )
            return np.asarray(out._value)[()]

        # What is tracked then comes from outside: no argument is.
        with own_no_grad() if self.refuse is _take_all else enable_grad():
            self.march = march = March(self.control)
            return np.stack(march.through(slope, times, start))

    def along(self, cuts: Any, steps: range, y: Any, begin: Any, end: Any, leaves: Sequence[Any]) -> Any:
        """y after some steps of one interval, as a function of all that it depends on."""
        for k in steps:
            t, h = placed(cuts, k, begin, end)
            y = step(self.control.method, lambda t, y: self.slope(t, y, leaves), t, _as(h, y), y)[0]
        return y

    def again(self, march: March, y: Any, times: Any, leaves: Sequence[Any]) -> Any:
        """y at all times by the steps of a march, as a function of all that it depends on."""
        found = [y]
        for k, cuts in enumerate(march.cuts):
            y = self.along(cuts, range(len(cuts) - 1), y, times[k], times[k + 1], leaves)
            found.append(y)
        return lookup("stack")(*found, dim=0)


def _as(h: Any, y: Any) -> Any:
    """A step in the precision of y, to which a number without axes would add digits."""
    return h if h.dtype == y.dtype else h.to(y.dtype)


class Odeint(Function):
    """y at all times: ``apply(flow, start, times, *parameters)``."""

    @staticmethod
    def forward(flow: Flow, start: Any, times: Any, *leaves: Any) -> Any:
        """The steps on numbers."""
        if isinstance(start, Formal):
            raise FormulaError("the solution of an equation is found from values")
        bare = [plain(Tensor, leaf._value) for leaf in leaves]
        return plain(Tensor, flow.solved(start._value, times._value, bare))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Keep the steps, the arguments, and for the adjoint equation the result."""
        flow, *rest = inputs
        ctx.flow, ctx.march = flow, flow.march
        ctx.takes_bundles = flow.adjoint == "discrete"
        ctx.at = tuple(getattr(x, "_value", None) for x in rest)
        kept = [output] if flow.adjoint == "continuous" else []
        ctx.save_for_backward(*rest, *kept)
        ctx.save_for_forward(*rest, *kept)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """The cotangents of the start, the times and the parameters."""
        g, flow = grads[0], ctx.flow
        if isinstance(g, Formal):
            raise FormulaError("the derivative of a solution is found from values")
        wanted = [k for k, needed in enumerate(ctx.needs_input_grad[1:]) if needed]
        args = list(ctx.saved_tensors)
        if flow.adjoint == "continuous":
            found = _by_adjoint(flow, g, args.pop(), args, wanted)
        elif quiet(g, *args):
            found = _by_steps(flow, ctx.march, g, args, wanted)
        else:
            _, pull = vjp(_moving(_whole(flow, ctx.march), args, wanted), *(args[k] for k in wanted))
            found = dict(zip(wanted, pull(g), strict=True))
        return (None, *(found.get(k) for k in range(len(ctx.needs_input_grad) - 1)))

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """The tangent of the steps, or the variational equation."""
        flow, args = ctx.flow, list(ctx.saved_tensors)
        moves = {k: t for k, t in enumerate(tangents[1:]) if t is not None and ctx.needs_input_grad[k + 1]}
        if flow.adjoint == "continuous":
            return _by_variation(flow, args.pop(), args, moves)
        if any(isinstance(t, Bundle) for t in moves.values()):
            return _by_bundles(_whole(flow, ctx.march), args, moves)
        across = _moving(_whole(flow, ctx.march), args, list(moves))
        return jvp(across, tuple(args[k] for k in moves), tuple(moves.values()))[1]


def _whole(flow: Flow, march: March) -> Callable[..., Any]:
    return lambda start, times, *leaves: flow.again(march, start, times, leaves)


def _by_bundles(function: Callable[..., Any], args: Sequence[Any], moves: dict[int, Any]) -> Any:
    """The tangents of a function along all columns of a Jacobian, in one run of it."""
    tag = dual.new_tag()
    try:
        row = [Dual(x, moves[k], tag) if k in moves else x for k, x in enumerate(args)]
        return dual.parts(function(*row), tag)[1]
    finally:
        settle(tag)


def _moving(function: Callable[..., Any], args: Sequence[Any], wanted: Sequence[int]) -> Callable[..., Any]:
    """A function of some of its arguments."""

    def across(*moving: Any) -> Any:
        row = list(args)
        for k, value in zip(wanted, moving, strict=True):
            row[k] = value
        return function(*row)

    return across


# ---------------------------------------------------------------------------------------------- through the steps


def _by_steps(flow: Flow, march: March, g: Any, args: list[Any], wanted: Sequence[int]) -> dict[int, Any]:
    """Backwards through the steps, of which a few at a time are on a tape."""
    _, times, *leaves = args
    moving = [k for k in wanted if k > 1]
    total: dict[int, Any] = {}
    by_time = np.zeros_like(times._value)
    pulled = g[len(march.cuts)]
    for k in reversed(range(len(march.cuts))):
        cuts, ends = march.cuts[k], (times[k], times[k + 1])
        steps = len(cuts) - 1
        for part in reversed(range(len(march.states[k]))):
            here = range(part * march.STRIDE, min(steps, (part + 1) * march.STRIDE))
            row = [plain(Tensor, march.states[k][part]), *ends, *leaves]
            places = [0, *((1, 2) if 1 in wanted else ()), *(j + 1 for j in moving)]

            def across(y: Any, begin: Any, end: Any, *rest: Any, cuts: Any = cuts, here: range = here) -> Any:
                return flow.along(cuts, here, y, begin, end, rest)

            _, pull = vjp(_moving(across, row, places), *(row[j] for j in places))
            pulled, *rows = pull(pulled)
            if 1 in wanted:
                by_time[k] += rows[0]._value
                by_time[k + 1] += rows[1]._value
                rows = rows[2:]
            for j, add in zip(moving, rows, strict=True):
                total[j] = add if j not in total else total[j] + add
        pulled = pulled + g[k]
    return {**total, 0: pulled, 1: plain(Tensor, by_time)}


# ---------------------------------------------------------------------------------------------- by equations


def _nested(flow: Flow, function: Callable[..., Any], state: Any, times: Any, params: tuple[Any, ...]) -> Any:
    """The solution of an equation that goes along with another, at the same tolerance."""
    layout, start = tracked(state, "y0")
    control = flow.control._replace(blocks=blocks_of(layout))
    other = Flow(function, layout, Given(params), control, "continuous", False)
    return rows_of(layout, Odeint.apply(other, start, times, *Given.leaves(params)))


def _across(flow: Flow, t: Any, leaves: Sequence[Any], moving: Sequence[int]) -> Callable[..., Any]:
    """The slope at a time as a function of the state and of the ``moving`` ones among the leaves."""

    def across(y: Any, *rest: Any) -> Any:
        row = list(leaves)
        for k, value in zip(moving, rest, strict=True):
            row[k] = value
        return flow.slope(t, y, row)

    return across


def _by_adjoint(flow: Flow, g: Any, path: Any, args: Sequence[Any], wanted: Sequence[int]) -> dict[int, Any]:
    """Backwards in time by the adjoint equation; y begins anew at every time where it is known."""
    _, times, *leaves = args
    moving = [k - 2 for k in wanted if k > 1]

    def adjoint(state: Any, t: Any, *leaves: Any) -> Any:
        y, pulled, *_ = state

        value, pull = vjp(_across(flow, t, leaves, moving), y, *(leaves[k] for k in moving))
        return (value, *(-part for part in pull(pulled)))

    count = int(times._value.shape[0])
    pulled = g[count - 1]
    sums = [plain(Tensor, np.zeros_like(leaves[k]._value)) for k in moving]
    by_time: list[Any] = [None] * count
    for k in reversed(range(1, count)):
        if 1 in wanted:
            by_time[k] = (flow.slope(times[k], path[k], leaves) * g[k]).sum()
        state = (path[k], pulled, *sums)
        _, found, *rows = _nested(flow, adjoint, state, lookup("stack")(times[k], times[k - 1], dim=0), tuple(leaves))
        pulled, sums = found[1], [row[1] for row in rows]
        if k == 1 and 1 in wanted:
            by_time[0] = -(flow.slope(times[0], path[0], leaves) * pulled).sum()
        pulled = pulled + g[k - 1]
    result = {0: pulled, **dict(zip([k + 2 for k in moving], sums, strict=True))}
    if 1 in wanted:
        rows = [plain(Tensor, np.zeros((), times.dtype)) if x is None else x.to(times.dtype) for x in by_time]
        result[1] = lookup("stack")(*rows, dim=0)
    return result


def _by_variation(flow: Flow, path: Any, args: Sequence[Any], moves: dict[int, Any]) -> Any:
    """The tangent: v' = (∂f/∂y) v + (∂f/∂θ) θ', along with y."""
    start, times, *leaves = args
    moving = [k - 2 for k in moves if k > 1]
    count = len(leaves)

    def variation(state: Any, t: Any, *params: Any) -> Any:
        y, v = state
        leaves, tangents = params[:count], params[count:]
        across = _across(flow, t, leaves, moving)
        return jvp(across, (y, *(leaves[k] for k in moving)), (v, *tangents))

    first = moves.get(0)
    first = plain(Tensor, np.zeros_like(start._value)) if first is None else first
    begin, by_time = first, moves.get(1)
    if by_time is not None:
        begin = begin - _as(by_time[0], path) * flow.slope(times[0], start, leaves)
    params = (*leaves, *(moves[k + 2] for k in moving))
    _, found = _nested(flow, variation, (start, begin), times, params)
    rows = [first]
    for k in range(1, int(times._value.shape[0])):
        row = found[k]
        if by_time is not None:
            row = row + _as(by_time[k], path) * flow.slope(times[k], path[k], leaves)
        rows.append(row)
    return lookup("stack")(*rows, dim=0)


# ---------------------------------------------------------------------------------------------- nested states


def blocks_of(layout: Layout) -> tuple[slice, ...]:
    """Where the arrays of a state lie in a point."""
    ends = np.cumsum([0, *(int(np.prod(s, dtype=int)) * (2 if d.kind == "c" else 1)
                           for s, d in zip(layout.shapes, layout.dtypes, strict=True))])  # fmt: skip
    return tuple(slice(int(a), int(b)) for a, b in itertools.pairwise(ends))


def rows_of(layout: Layout, path: Any) -> Any:
    """The tree of a point that has the times as an axis in front."""
    count = int(path.shape[0])
    if layout.direct:
        return layout.unpack(path)
    rows = Layout(layout.structure, [(count, *shape) for shape in layout.shapes], layout.dtypes)
    flat = [path[:, block].reshape(-1) for block in blocks_of(layout)]
    return rows.unpack(_interleaved(flat, layout, count))


def _interleaved(flat: Sequence[Any], layout: Layout, count: int) -> Any:
    """The parts of a point for all times, real ones before imaginary ones as in a point of one time."""
    parts = []
    for part, shape, dtype in zip(flat, layout.shapes, layout.dtypes, strict=True):
        if dtype.kind == "c":
            size = int(np.prod(shape, dtype=int))
            part = part.reshape(count, 2, size).transpose(0, 1).reshape(-1)
        parts.append(part)
    return lookup("cat")(*parts, dim=0)
