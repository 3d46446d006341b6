"""What users call: roots, fixed points, minima, linear systems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, ShapeError
from symgrad.func.bound import of_arrays, watched
from symgrad.implicit.equations import CLASSES, Applied
from symgrad.implicit.problems import Given, Problem, check_unknown
from symgrad.implicit.solvers import BUILT_IN, Options
from symgrad.op import shape_of
from symgrad.ops.linalg.systems import linalg_solve
from symgrad.tape.record import plain
from symgrad.tape.standins import inner
from symgrad.tensor import Tensor

_LINEAR = ("dense", "gmres", "cg")


def root(
    f: Callable[..., Any],
    x0: Any,
    *params: Any,
    solver: Any = "newton",
    linear_solver: Any = None,
    tol: float | None = None,
    maxiter: int = 100,
    linear_maxiter: int | None = None,
) -> Any:
    """The x near ``x0`` with ``f(x, *params) = 0``, as a differentiable function of ``params``.

    ``x0`` is an array, a number, or nested tuples, lists, dicts and dataclasses of them, real or complex; x has its
    structure, shapes and dtypes, and ``f`` must give what has the same.  ``params`` are nested likewise, and may hold
    anything beside arrays.  By the implicit function theorem dx/dθ = -(∂f/∂x)⁻¹ ∂f/∂θ, at any order, forwards and
    backwards; the steps of the solver are not differentiated.  There is no gradient by ``x0``: it stays None, as a
    start only chooses among solutions.  A tensor that requires grad and that ``f`` uses without having it as an
    argument is an error, because its gradient would be lost.

    ``solver`` is "newton" (with ``maxiter`` steps) or called as ``solver(function, x0)``, with ``jac=`` if it takes
    one: with arrays of one axis (numbers for a number) in double precision.  It gives the solution, or an object that
    has it as ``x``: SciPy's ``optimize.root`` and ``fsolve`` fit.  What it gives is taken if no entry of the residual
    is larger than ``tol`` times that of ``x0`` or 1, and if it does not say itself that it failed (``success`` or
    ``converged`` is False); the derivative is as exact as the solution.

    ``linear_solver`` solves the systems of Newton's steps and of the derivative: "dense" by the Jacobian (the default
    up to 1024 unknowns), "gmres" or "cg" (of symmetric positive definite Jacobians) by products with it, of which
    ``linear_maxiter`` are made at most, or called as ``linear_solver(operator, r)``, as those of
    ``scipy.sparse.linalg`` are.

    Raises ``NotConverged`` with the residual where no solution is found, ``SingularJacobian`` with the condition number
    where the theorem does not hold, ``ShapeError`` and ``DtypeError`` where f does not fit x0.

    Convention: Blondel et al., "Efficient and modular implicit differentiation", NeurIPS 2022, with f as optimality
    condition; Griewank and Walther, "Evaluating Derivatives", 2008, chapter 15.

    >>> import symgrad as sg
    >>> a = sg.tensor(2.0, dtype=sg.float64, requires_grad=True, name="a")
    >>> x = sg.implicit.root(lambda x, a: x**2 - a, 1.0, a)
    >>> x.backward()
    >>> x.detach(), a.grad, a.grad.expr
    (tensor(1.4142, dtype=float64), tensor(0.3536, dtype=float64), 1/(2*Root(x0, a, f)))
    """
    return _found("root", f, x0, params, Options(solver, linear_solver, tol, maxiter, linear_maxiter, False))


def fixed_point(
    g: Callable[..., Any],
    x0: Any,
    *params: Any,
    solver: Any = "iteration",
    linear_solver: Any = None,
    tol: float | None = None,
    maxiter: int = 1000,
    linear_maxiter: int | None = None,
) -> Any:
    """The x with ``x = g(x, *params)`` that is reached from ``x0``, as a differentiable function of ``params``.

    Everything is as for :func:`root` of x - g(x): dx/dθ = (I - ∂g/∂x)⁻¹ ∂g/∂θ.  ``solver`` is "iteration" (x ← g(x),
    which needs a contraction), "newton", or called as ``solver(g, x0)``, as ``scipy.optimize.fixed_point`` is.

    >>> import symgrad as sg
    >>> a = sg.tensor(0.5, dtype=sg.float64, requires_grad=True)
    >>> x = sg.implicit.fixed_point(lambda x, a: a * sg.cos(x), 0.0, a)
    >>> x.backward()
    >>> x.detach(), a.grad
    (tensor(0.4502, dtype=float64), tensor(0.7395, dtype=float64))
    """
    return _found("fixed_point", g, x0, params, Options(solver, linear_solver, tol, maxiter, linear_maxiter, False))


def argmin(
    f: Callable[..., Any],
    x0: Any,
    *params: Any,
    solver: Any = "newton",
    linear_solver: Any = None,
    tol: float | None = None,
    maxiter: int = 100,
    linear_maxiter: int | None = None,
) -> Any:
    """The x near ``x0`` at which the number ``f(x, *params)`` is least, as a differentiable function of ``params``.

    Everything is as for :func:`root` of the gradient: dx/dθ = -(∂²f/∂x²)⁻¹ ∂²f/∂x∂θ, which needs a Hessian that is
    regular.  ``solver`` is "newton" (damped, with curvature added where f is not convex), or called as
    ``solver(f, x0)``, with the gradient as ``jac=`` if it takes one, as ``scipy.optimize.minimize`` does.  Large
    problems have ``linear_solver="cg"``, the Hessian of a minimum being symmetric and positive.

    >>> import symgrad as sg
    >>> t = sg.tensor([1.0, 3.0], dtype=sg.float64, requires_grad=True)
    >>> x = sg.implicit.argmin(lambda x, t: ((x - t) ** 2).sum() + (x**2).sum(), sg.zeros(2, dtype=sg.float64), t)
    >>> x.sum().backward()
    >>> x.detach(), t.grad
    (tensor([0.5000, 1.5000], dtype=float64), tensor([0.5000, 0.5000], dtype=float64))
    """
    return _found("argmin", f, x0, params, Options(solver, linear_solver, tol, maxiter, linear_maxiter, True))


def solve(
    A: Any,
    b: Any,
    *params: Any,
    linear_solver: Any = None,
    symmetric: bool = False,
    linear_maxiter: int | None = None,
) -> Any:
    """The x with A x = b, as a differentiable function of b and of what A is made of.

    ``A`` is a matrix (then this is ``linalg.solve``), a function ``A(x, *params)`` that is linear in x (x then has the
    structure of ``b``), or an object with ``@`` and ``rmatvec`` or ``.T``, such as SciPy's operators and sparse
    matrices, which counts as constant.  Backward solves the transposed system: db̄ = A⁻ᴴ x̄, and θ gets
    -(∂(A x)/∂θ)ᵀ of it.  ``linear_solver`` and ``linear_maxiter`` are as for :func:`root`; ``symmetric`` says that A is
    symmetric and positive definite, so that large systems are solved by conjugate gradients.

    Raises ``NotConverged`` where the system is not solved or A is not linear, ``SingularJacobian`` where A has no
    inverse, ``ShapeError`` where A(x) and b differ in shape.

    >>> import symgrad as sg
    >>> d = sg.tensor([2.0, 4.0], dtype=sg.float64, requires_grad=True, name="d")
    >>> x = sg.implicit.solve(lambda x, d: d * x, sg.ones(2, dtype=sg.float64), d)
    >>> x.sum().backward()
    >>> x.detach(), d.grad
    (tensor([0.5000, 0.2500], dtype=float64), tensor([-0.2500, -0.0625], dtype=float64))
    """
    A, b = inner((A, b))
    if isinstance(A, (Tensor, np.ndarray)):
        if params:
            raise ArgumentError(
                f"solve() takes parameters of a function A(x, *params); A is an array of shape {A.shape}."
            )
        A = A if isinstance(A, Tensor) else plain(Tensor, A)
        return linalg_solve(A, b if isinstance(b, Tensor) else plain(Tensor, np.asarray(b)))
    if hasattr(A, "shape") and hasattr(A, "__matmul__"):
        A = _operator(A, b, params)
    options = Options("linear", linear_solver, None, 1, linear_maxiter, symmetric)
    return _found("linear", A, b, (b, *params), options)


def _operator(A: Any, b: Any, params: tuple[Any, ...]) -> Callable[[Any], Any]:
    """A constant operator as a function of tensors."""
    shape = tuple(A.shape)
    count = tuple(shape_of(b)) if hasattr(b, "raw_shape") else np.shape(b)
    if params:
        raise ArgumentError("solve() takes parameters of a function A(x, *params); this A is an operator, a constant.")
    if not (hasattr(A, "rmatvec") or hasattr(A, "T")):
        raise ArgumentError(
            f"solve() needs products with the transpose, too: this {type(A).__name__} has neither rmatvec nor .T. Give "
            "a function A(x), or an array (A.todense())."
        )
    if len(shape) != 2 or shape[0] != shape[1] or count != shape[:1]:
        raise ShapeError(f"solve: an operator of shape {shape} and b of shape {count} do not fit; it must be square.")

    def times(x: Any) -> Any:
        return Applied.apply(A, False, x)

    times.__name__ = getattr(A, "__name__", type(A).__name__)
    return times


def _found(kind: str, function: Any, x0: Any, params: tuple[Any, ...], options: Options) -> Any:
    name = kind.replace("linear", "solve")
    if not callable(function):
        raise ArgumentError(f"{name}() takes a function first, not {type(function).__name__} ({function!r:.40}).")
    _check(name, kind, options)
    x0, params = inner((x0, params))
    layout, start = check_unknown(x0, "b" if kind == "linear" else "x0")
    problem = Problem(kind, function, layout, Given(params), options)
    problem.watched = watched()
    problem.of_arrays = of_arrays((x0, params))
    problem.scale = float(np.abs(start._value).max(initial=0.0))
    return layout.unpack(CLASSES[kind].apply(problem, start, *Given.leaves(params)))


def _check(name: str, kind: str, options: Options) -> None:
    if not callable(options.solver) and options.solver not in BUILT_IN[kind]:
        known = " or ".join(map(repr, BUILT_IN[kind]))
        raise ArgumentError(
            f"{name}(solver={options.solver!r}): it is {known}, or a function solver(function, x0) such as SciPy's."
        )
    if not (options.linear_solver is None or callable(options.linear_solver) or options.linear_solver in _LINEAR):
        raise ArgumentError(
            f"{name}(linear_solver={options.linear_solver!r}): it is one of {_LINEAR}, or a function "
            "linear_solver(operator, r) such as SciPy's."
        )
    for what in ("maxiter", "linear_maxiter"):
        count = getattr(options, what)
        if count is not None and (not isinstance(count, int) or count < 1):
            raise ArgumentError(f"{name}({what}={count!r}): it is a positive whole number.")
    if options.tol is not None and not (isinstance(options.tol, (int, float, np.number)) and options.tol > 0):
        raise ArgumentError(f"{name}(tol={options.tol!r}): it is a positive number.")
