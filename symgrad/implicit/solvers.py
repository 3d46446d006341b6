"""How solutions are found: by a caller's solver, or by one of three modest ones.

The derivative does not ask how.  The built-in ones are a damped Newton method for roots and minima, and plain iteration
for fixed points; for anything hard there is SciPy, whose solvers fit as they are.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from symgrad.dtypes import finfo
from symgrad.errors import ArgumentError, NotConverged
from symgrad.func import value_and_grad
from symgrad.implicit.factors import Factor
from symgrad.implicit.problems import Problem
from symgrad.tape.modes import own_no_grad
from symgrad.tape.record import plain
from symgrad.tensor import Tensor

BUILT_IN = {"root": ("newton",), "fixed_point": ("iteration", "newton"), "argmin": ("newton",), "linear": ("linear",)}


class Options(NamedTuple):
    """How an equation is solved, and the linear systems of its derivative."""

    solver: Any
    linear_solver: Any
    tol: float | None
    maxiter: int
    linear_maxiter: int | None
    symmetric: bool


def solved(problem: Problem, start: Any, leaves: list[Any]) -> Any:
    """The solution as an array, from arrays; ``NotConverged`` where it is none."""
    with np.errstate(all="ignore"):
        problem.refuse_captured(start, leaves)
        solver = problem.options.solver
        if callable(solver):
            point = _by_caller(problem, solver, start, leaves)
        elif problem.kind == "linear":
            return _linear(problem, start, leaves)
        elif solver == "iteration":
            point = _iterated(problem, start, leaves)
        elif problem.kind == "argmin":
            return _minimised(problem, start, leaves)
        else:
            return _newton(problem, start, leaves)
        _check(problem, point, start, leaves)
    return point


def _size(r: Any) -> float:
    return float(np.abs(r).max(initial=0.0))


def _eps(point: Any) -> float:
    return float(finfo(point.dtype).eps)


def _check(problem: Problem, point: Any, start: Any, leaves: list[Any]) -> None:
    """Raise where what a solver gave is far from a solution."""
    left, before = _size(problem.numbers(point, leaves)), _size(problem.numbers(start, leaves))
    tol = problem.options.tol if problem.options.tol is not None else _eps(point) ** 0.25
    if not left <= tol * max(1.0, before):
        name = problem.options.solver if isinstance(problem.options.solver, str) else "the solver"
        raise _unsolved(problem, f"{name} gave an x that", left, f"more than tol = {tol:.1e}")


_EQUATION = {"root": "{f}(x) = 0", "fixed_point": "x = {f}(x)", "argmin": "∂{f}/∂x = 0", "linear": "{f}(x) = b"}
_ADVICE = {
    "root": "Start nearer to a root, raise maxiter, or give a solver= (scipy.optimize.root).",
    "fixed_point": "Iteration needs a contraction (slopes below 1): ask for solver='newton', start nearer, raise "
    "maxiter, or give a solver=.",
    "argmin": "Start nearer to a minimum, raise maxiter, or give a solver= (scipy.optimize.minimize).",
    "linear": "Give a solver=, or ask for linear_solver='dense'.",
}


def _unsolved(problem: Problem, who: str, left: float, more: str) -> NotConverged:
    equation = _EQUATION[problem.kind].format(f=problem.__name__)
    return NotConverged(
        f"{who} does not solve {equation}: the largest entry of the residual is {left:.3e}, {more}. The derivative of "
        f"a point that is no solution would be wrong. {_ADVICE[problem.kind]}"
    )


# ---------------------------------------------------------------------------------------------- a caller's solver


def _by_caller(problem: Problem, solver: Callable[..., Any], start: Any, leaves: list[Any]) -> Any:
    """What a solver gives of ``(function, x0)``, and ``jac`` where it takes one, all on arrays in double precision."""
    shape, dtype = start.shape, start.dtype

    def placed(x: Any) -> Any:
        return np.asarray(x, np.float64).astype(dtype).reshape(shape)[()]

    def called(x: Any) -> Any:
        with own_no_grad():
            if problem.kind == "argmin":
                return float(problem.objective(plain(Tensor, placed(x)), *_tensors(leaves))._value)
            if problem.kind == "fixed_point":
                found = problem.mapped(plain(Tensor, placed(x)), *_tensors(leaves))._value
            else:
                found = problem.numbers(placed(x), leaves)
        return np.asarray(found, np.float64).reshape(np.shape(x))[()]

    def slopes(x: Any) -> Any:
        if problem.kind == "argmin":
            return np.asarray(problem.numbers(placed(x), leaves), np.float64).reshape(-1)
        return Factor(problem, (placed(x), *leaves)).matrix

    given = np.asarray(start, np.float64)
    given = given[()] if not shape else given.reshape(-1)
    takes = problem.kind in ("root", "argmin") and _takes_jac(solver)
    found = solver(called, given, jac=slopes) if takes else solver(called, given)
    if getattr(found, "success", True) is False or getattr(found, "converged", True) is False:
        why = getattr(found, "message", getattr(found, "flag", ""))
        x = getattr(found, "x", None)
        left = np.nan if x is None or np.size(x) != start.size else _size(problem.numbers(placed(x), leaves))
        said = " ".join(str(why).split())
        raise _unsolved(problem, f"the solver says that it failed ({said}), and its x", left, "as it stands")
    found = getattr(found, "x", getattr(found, "root", found))
    found = np.asarray(found)
    if found.size != start.size or found.dtype.kind not in "fiu":
        raise ArgumentError(
            f"solver gave {type(found).__name__} of shape {found.shape} and dtype {found.dtype}; it gets (function, "
            f"x0) and gives the solution as an array of {start.size} numbers, or an object that has it as x."
        )
    return placed(found)


def _tensors(leaves: list[Any]) -> list[Any]:
    return [plain(Tensor, v) for v in leaves]


def _takes_jac(solver: Callable[..., Any]) -> bool:
    if "jac" in (getattr(solver, "keywords", None) or {}):
        return False
    try:
        return "jac" in inspect.signature(solver).parameters
    except (TypeError, ValueError):
        return False


# ---------------------------------------------------------------------------------------------- the built-in ones


def _linear(problem: Problem, start: Any, leaves: list[Any]) -> Any:
    """A system f(x) = b is solved in one step from anywhere, and a second one corrects the first."""
    point = start
    for _ in range(2):
        step = problem.factor(start, leaves).solve(-problem.numbers(point, leaves), False)
        point = point + step
    left = _size(problem.numbers(point, leaves))
    scale = max(_size(problem.numbers(np.zeros_like(point), leaves)), _size(point))
    if not left <= _eps(point) ** 0.5 * max(scale, 1e-300):
        raise _unsolved(problem, "the linear solver's x", left, f"and {problem.__name__} may not be linear in x")
    return point


def _iterated(problem: Problem, start: Any, leaves: list[Any]) -> Any:
    """x ← f(x), until it stands still."""
    point, best = start, np.inf
    still = 0
    for _ in range(problem.options.maxiter):
        left = problem.numbers(point, leaves)  # x - f(x)
        point = (point - left).astype(start.dtype)
        size = _size(left)
        if not np.isfinite(size):
            break
        if size <= 2 * _eps(point) * _size(point):
            return point
        # A contraction comes closer with every step; in the last digits it turns in circles.
        still = still + 1 if size >= best else 0
        best = min(best, size)
        if still >= 5 and best <= 1e3 * _eps(point) * max(1.0, _size(point)):
            return point
    return point


def _newton(problem: Problem, start: Any, leaves: list[Any]) -> Any:
    """Newton's method, with steps halved until the residual falls (Dennis and Schnabel 1983, chapter 6)."""
    point, r = start, problem.numbers(start, leaves)
    move, count = np.inf, 0
    for count in range(1, problem.options.maxiter + 1):
        if not np.any(r):
            return point
        if not np.isfinite(r).all():
            raise _unsolved(problem, f"newton after {count - 1} steps: its x", _size(r), "not finite")
        step, leads = problem.factor(point, leaves).step(r)
        scale, before = 1.0, float(np.linalg.norm(r))
        while scale > 1e-10:
            trial = (point + scale * step).astype(start.dtype)
            value = problem.numbers(trial, leaves)
            if float(np.linalg.norm(value)) < before:
                break
            scale /= 2
        move = _size(step) / (_size(point) + _eps(point)) if leads else np.inf
        if not scale > 1e-10:
            break  # no step lowers the residual: what is left is rounding, or no root is near
        point, r = trial, value
        if _size(scale * step) <= 2 * _eps(point) * _size(point):
            break
    if move <= _eps(point) ** 0.5 or _size(r) == 0:
        return point
    tol = problem.options.tol
    if tol is not None and _size(r) <= tol:
        return point
    raise _unsolved(
        problem, f"newton stopped after {count} steps of at most {problem.options.maxiter}, and its x", _size(r),
        f"the next step {move:.1e} of x",
    )  # fmt: skip


def _minimised(problem: Problem, start: Any, leaves: list[Any]) -> Any:
    """Newton's method on the slopes, with curvature added until it goes down (Nocedal and Wright 2006, section 3.4)."""
    both = value_and_grad(problem.objective)

    def measured(point: Any) -> tuple[float, Any]:
        with own_no_grad():
            value, slope = both(plain(Tensor, point), *_tensors(leaves))
        return float(value._value), np.asarray(slope._value)

    point = start
    value, slope = measured(point)
    move = np.inf
    count = 0
    for count in range(1, problem.options.maxiter + 1):
        if not np.any(slope):
            return _valley(problem, point, leaves)
        if not (np.isfinite(value) and np.isfinite(slope).all()):
            raise _unsolved(problem, f"newton after {count - 1} steps: its x", _size(slope), "not finite")
        step = _descent(problem.factor(point, leaves), slope)
        down, scale = float(np.sum(step * slope)), 1.0
        rounding = 4 * _eps(point) * abs(value)
        while scale > 1e-10:
            trial = (point + scale * step).astype(start.dtype)
            lower, turned = measured(trial)
            # Where values differ by rounding only, the slopes still tell how near the minimum is.
            flat = abs(lower - value) <= rounding and np.linalg.norm(turned) < np.linalg.norm(slope)
            if (lower <= value + 1e-4 * scale * down and lower < value) or flat:
                break
            scale /= 2
        move = _size(step) / (_size(point) + _eps(point))
        if not scale > 1e-10:
            break
        point, value, slope = trial, lower, turned
        if _size(scale * step) <= 2 * _eps(point) * _size(point):
            break
    tol = problem.options.tol
    if move <= _eps(point) ** 0.5 or not np.any(slope) or (tol is not None and _size(slope) <= tol):
        return _valley(problem, point, leaves)
    raise _unsolved(
        problem, f"newton stopped after {count} steps of at most {problem.options.maxiter}, and its x", _size(slope),
        f"the next step {move:.1e} of x",
    )  # fmt: skip


def _valley(problem: Problem, point: Any, leaves: list[Any]) -> Any:
    """The point, if it is no saddle or maximum, as far as the Hessian tells."""
    factor = problem.factor(point, leaves)
    if factor.how == "dense" and factor.size:
        curves = np.linalg.eigvalsh((factor.matrix + factor.matrix.T) / 2)
        if curves[0] < -(_eps(point) ** 0.5) * np.abs(curves).max():
            raise NotConverged(
                f"newton found an x at which ∂{problem.__name__}/∂x is zero, and it is no minimum: the curvature goes "
                f"down to {curves[0]:.3e}. Start beside that saddle or maximum, or give a solver= "
                "(scipy.optimize.minimize)."
            )
    return point


def _descent(factor: Factor, slope: Any) -> Any:
    """A direction downwards: Newton's, or one with curvature added."""
    if factor.how != "dense":
        return _descent_by_products(factor, slope)
    matrix = (factor.matrix + factor.matrix.T) / 2
    shift, size = 0.0, float(np.abs(matrix).max(initial=0.0)) or 1.0
    right = -np.asarray(slope, np.float64).reshape(-1)
    while True:
        try:
            np.linalg.cholesky(matrix + shift * np.eye(len(matrix)))
            break
        except np.linalg.LinAlgError:
            shift = max(2 * shift, 1e-3 * size)
    found = np.linalg.solve(matrix + shift * np.eye(len(matrix)), right)
    return found.reshape(np.shape(slope)).astype(slope.dtype)[()]


def _descent_by_products(factor: Factor, slope: Any) -> Any:
    """Conjugate gradients, ended where the curvature is not positive (Nocedal and Wright 2006, algorithm 7.1)."""
    right = -np.asarray(slope, np.float64).reshape(-1)
    found, left = np.zeros_like(right), right.copy()
    direction, square = left, float(left @ left)
    goal = _eps(slope) ** 0.75 * square**0.5
    for _ in range(min(2 * len(right), 2000)):
        moved = factor.times(direction)
        curvature = float(direction @ moved)
        if not curvature > 0:
            found = found if found.any() else right
            break
        step = square / curvature
        found, left = found + step * direction, left - step * moved
        before, square = square, float(left @ left)
        if square**0.5 <= goal:
            break
        direction = left + square / before * direction
    return found.reshape(np.shape(slope)).astype(slope.dtype)[()]
