"""What users call: solutions of ordinary differential equations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.compiler.trace import argument_names
from symgrad.dtypes import is_real_floating
from symgrad.errors import ArgumentError, DtypeError, ShapeError
from symgrad.func.bound import of_arrays, watched
from symgrad.implicit.flows import Flow, Odeint, blocks_of, rows_of
from symgrad.implicit.problems import Given, refuse_lost, tracked
from symgrad.implicit.tableaus import METHODS, Control
from symgrad.op import shape_of
from symgrad.tape.forward.dualwrites import memory
from symgrad.tape.forward.jets import Jet
from symgrad.tape.record import plain
from symgrad.tape.standins import inner
from symgrad.tensor import Tensor

_SCIPY = {"RK45": "dopri5", "RK23": "bosh3"}
_ADVICE = (
    "dy/dt has the shapes of y. The function is called f(y, t, *params), and with tfirst=True f(t, y, *params); give "
    "y0 the shape of the state."
)
_CALL = "The arguments are odeint(f, y0, t, *params)."
_TIMES = frozenset({"t", "time"})
_STIFF = frozenset(
    {"radau", "bdf", "lsoda", "implicit_adams", "implicit_euler", "rosenbrock", "vode", "cvode", "sdirk"}
)


def odeint(
    f: Callable[..., Any],
    y0: Any,
    t: Any,
    *params: Any,
    method: str = "dopri5",
    rtol: float | None = None,
    atol: float | None = None,
    step_size: float | None = None,
    adjoint: str = "discrete",
    tfirst: bool | None = None,
    max_steps: int = 100_000,
) -> Any:
    """The solution of dy/dt = ``f(y, t, *params)`` from y(t[0]) = ``y0``, at all times ``t`` (the first axis).

    ``y0`` is an array, a number, or nested tuples, lists, dicts and dataclasses of them, real or complex; ``f`` gives
    what has its structure and shapes, and the result has its dtypes.  ``t`` increases or decreases; ``f`` gets a time
    as a tensor without axes.  ``params`` are nested likewise and may hold other things than arrays.  With
    ``tfirst=True`` the function is called ``f(t, y, *params)``, as for SciPy's ``solve_ivp`` and torchdiffeq.  One
    whose first argument is named ``t`` or ``time`` is refused without ``tfirst``: in the wrong order many run, too.

    Methods are "dopri5" (adaptive, of order 5; also "RK45"), "bosh3" (adaptive, of order 3; also "RK23"), and "rk4",
    "midpoint", "euler" with fixed steps: as many equal ones between two times as make them no longer than
    ``step_size``, or one.  Adaptive steps keep the error of each below ``atol + rtol |y|`` (1e-9 and 1e-7; in single
    precision 1e-6 and 1e-5), as the root of the mean square in every array of y.  They end at the times asked for.

    Derivatives go to ``y0``, ``t`` and ``params``, in both modes.  With ``adjoint="discrete"`` they are those of the
    steps that were taken, whose places are fixed fractions of the intervals, exact to rounding and at any order; one in
    16 states is kept, and the steps between run twice.  With "continuous" they are those of the solution, by the
    adjoint equation backwards in time, as exact as the tolerance; only the result is kept.

    Raises ``NotConverged`` where steps become too short or too many or y is not finite, ``ShapeError`` and
    ``DtypeError`` where f does not fit y0, and ``ArgumentError`` for methods that are not here (stiff ones), for times
    out of order, for an f that seems to take time first, and where f changes y or t in place or uses a tensor from
    outside that requires grad.

    Convention: the arguments are those of ``jax.experimental.ode.odeint``.  Hairer, Nørsett and Wanner, "Solving
    Ordinary Differential Equations I", 1993, for the methods; for the adjoints see ``docs/implicit.md``.

    >>> import symgrad as sg
    >>> k = sg.tensor(0.5, dtype=sg.float64, requires_grad=True)
    >>> y = sg.implicit.odeint(lambda y, t, k: -k * y, 2.0, [0.0, 1.0, 2.0], k)
    >>> y[2].backward()
    >>> y.detach(), k.grad
    (tensor([2.0000, 1.2131, 0.7358], dtype=float64), tensor(-1.4715, dtype=float64))
    """
    if not callable(f):
        raise ArgumentError(f"odeint() takes a function first, not {type(f).__name__} ({f!r:.40}).")
    if tfirst is None:
        _check_order(f)
    y0, t, params = inner((y0, t, params))
    layout, start = tracked(y0, "y0")
    layout.called, layout.start, layout.advice = "y0", "y0", _ADVICE
    times = t if isinstance(t, Jet) else _times(t)
    control = _control(method, rtol, atol, step_size, max_steps, layout)
    if adjoint not in ("discrete", "continuous"):
        raise ArgumentError(f"odeint(adjoint={adjoint!r}): it is 'discrete' or 'continuous'.")
    flow = Flow(f, layout, Given(params), control, adjoint, bool(tfirst))
    leaves = Given.leaves(params)
    if any(isinstance(leaf, Jet) for leaf in (start, times, *leaves)):
        raise ArgumentError(
            "odeint: an argument is followed along a Taylor path (func.jet, func.taylor), and solutions have no Taylor "
            "coefficients here; nest func.jvp or func.grad for higher derivatives."
        )
    flow.of_arrays = of_arrays((y0, t, params))
    flow.refuse = _refusing(flow.__name__)
    return rows_of(layout, Odeint.apply(flow, start, times, *leaves))


def _check_order(f: Callable[..., Any]) -> None:
    """Refuse a function whose arguments are named as for solvers that give it the time first."""
    named = argument_names(f, 2)
    if len(named) == 2 and named[0] in _TIMES and named[1] not in _TIMES:
        raise ArgumentError(
            f"odeint: f is called f(y, t, *params), and the arguments of this one are named {', '.join(named)}. Pass "
            "tfirst=True if it takes the time first, or tfirst=False if not."
        )


def _times(t: Any) -> Any:
    times = t if hasattr(t, "raw_shape") else plain(Tensor, np.asarray(t))
    if times.dtype.kind in "iu":
        times = times.to(np.dtype(np.float64))
    if not is_real_floating(times.dtype):
        raise DtypeError(f"odeint: times are real numbers, and t has dtype {times.dtype}.")
    if len(shape_of(times)) != 1 or not shape_of(times)[0]:
        raise ShapeError(
            "odeint: t is an array of one axis with the first time in front; its shape is "
            f"{tuple(shape_of(times))}. {_CALL}"
        )
    values = memory(times)
    steps = np.diff(values)
    if not (np.isfinite(values).all() and ((steps > 0).all() or (steps < 0).all())):
        raise ArgumentError(
            f"odeint: times either increase or decrease, and no two are the same; got {values.tolist()!r:.60}. {_CALL}"
        )
    return times


def _control(method: str, rtol: Any, atol: Any, size: Any, most: Any, layout: Any) -> Control:
    name = _SCIPY.get(method, method) if isinstance(method, str) else repr(method)
    if name not in METHODS:
        if str(name).lower() in _STIFF:
            raise ArgumentError(
                f"odeint: {method!r} is a method for stiff equations, and only explicit ones are here: "
                f"{', '.join(METHODS)}. These solve a stiff equation in many small steps (rtol=1e-4, max_steps=...); a "
                "stationary state is implicit.root of its right side."
            )
        raise ArgumentError(f"odeint(method={method!r}): it is one of {', '.join(METHODS)}.")
    fixed = not METHODS[name].errors
    if fixed and not (rtol is None and atol is None):
        raise ArgumentError(f"odeint: {name} has fixed steps (step_size), and rtol and atol are of adaptive methods.")
    if not fixed and size is not None:
        raise ArgumentError(f"odeint: {name} chooses its steps (rtol, atol); step_size is for rk4, midpoint and euler.")
    single = layout.dtype.itemsize < 8
    rtol, atol = (
        (1e-5 if single else 1e-7) if rtol is None else rtol,
        (1e-6 if single else 1e-9) if atol is None else atol,
    )
    for what, value in (("rtol", rtol), ("atol", atol), ("step_size", size)):
        if value is not None and not (isinstance(value, (int, float, np.number)) and 0 <= value < np.inf):
            raise ArgumentError(f"odeint({what}={value!r}): it is a positive number.")
    if size == 0:
        raise ArgumentError("odeint(step_size=0): it is a positive number.")
    least = 4 * float(np.finfo(np.float32 if single else np.float64).eps)
    if rtol < least:
        raise ArgumentError(f"odeint(rtol={rtol:g}): {layout.dtype} tells no errors below {least:.1e} of y.")
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        raise ArgumentError(f"odeint(max_steps={most!r}): it is a positive whole number.")
    return Control(METHODS[name], name, float(rtol), float(atol), size, most, blocks_of(layout))


def _refusing(name: str) -> Callable[[Any], None]:
    """What raises where f, at any time, uses something that moves and is no parameter."""
    seen = watched()
    return lambda out: refuse_lost(out, name, f"odeint({name}, y0, t, ..., w) with {name}(y, t, ..., w)", seen)
