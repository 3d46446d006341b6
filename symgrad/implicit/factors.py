"""The linear systems of the implicit function theorem, on numbers: by the matrix where it is small, else by products.

The matrix is the Jacobian, whose rows one backward pass gives together; its inverse gives the condition number on the
way, and is used again for every other right side at the same point.  Large systems are solved by GMRES (Saad and
Schultz 1986) or, for symmetric ones, by conjugate gradients (Hestenes and Stiefel 1952), which need products only.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.dtypes import finfo
from symgrad.errors import ArgumentError, NotConverged, SingularJacobian
from symgrad.func import jacobian, linearize, vjp
from symgrad.func.operators import LinearOperator
from symgrad.tape.modes import own_no_grad
from symgrad.tape.record import plain
from symgrad.tensor import Tensor

DENSE = 1024
"""Systems of up to so many unknowns are solved by their matrix, if nothing else is said: 8 MB of doubles."""

_RESTART = 60


class Factor:
    """∂F/∂x of a problem at one point."""

    def __init__(self, problem: Any, values: tuple[Any, ...]):
        self.problem = problem
        self.values = values
        self.size = int(np.size(values[0]))
        chosen = problem.options.linear_solver
        self.how = chosen or ("dense" if self.size <= DENSE else "cg" if problem.options.symmetric else "gmres")
        self._inverse: Any = None
        self._matrix: Any = None
        self._pull: Any = None
        self._push: Any = None
        self._products: dict[bool, Callable[[Any], Any]] = {}

    def at(self, values: tuple[Any, ...]) -> bool:
        """Whether it is the one of this point and these parameters."""
        pairs = zip(self.values, values, strict=True)
        return all(a is b or (a.dtype == b.dtype and np.array_equal(a, b)) for a, b in pairs)

    def solve(self, r: Any, transposed: bool) -> Any:
        """v with (∂F/∂x) v = r, or with the transposed matrix, in the shape of r."""
        right = np.asarray(r, np.float64).reshape(-1)
        if not right.any():
            return np.zeros_like(r)
        if self.how == "dense":
            found = self._dense(right, transposed)
        elif callable(self.how):
            found = self._by_caller(right, transposed)
        else:
            found = self._by_products(right, transposed)
        return np.asarray(found).reshape(np.shape(r)).astype(np.asarray(r).dtype)[()]

    # ------------------------------------------------------------------------------------------ the matrix

    @property
    def matrix(self) -> Any:
        """∂F/∂x with the entries of F along rows and those of x along columns, in double precision."""
        if self._matrix is None:
            point, *leaves = (plain(Tensor, v) for v in self.values)
            with own_no_grad():
                found = jacobian(lambda p: self.problem.residual(p, *leaves))(point)
            self._matrix = np.asarray(found._value, np.float64).reshape(self.size, self.size)
        return self._matrix

    @functools.cached_property
    def condition(self) -> float:
        """The condition number of the matrix in the 1-norm; infinite where it has no inverse."""
        with np.errstate(all="ignore"):
            found = float(np.linalg.norm(self.matrix, 1) * np.linalg.norm(self.inverse, 1))
        return np.inf if np.isnan(found) else found

    @property
    def inverse(self) -> Any:
        """The inverse matrix, of infinities where there is none."""
        if self._inverse is None:
            try:
                self._inverse = np.linalg.inv(self.matrix)
            except np.linalg.LinAlgError:
                self._inverse = np.full_like(self.matrix, np.inf)
        return self._inverse

    def _dense(self, right: Any, transposed: bool) -> Any:
        self.check_regular()
        matrix, inverse = (self.matrix.T, self.inverse.T) if transposed else (self.matrix, self.inverse)
        found = inverse @ right
        return found + inverse @ (right - matrix @ found)  # one refinement: as exact as elimination

    def check_regular(self) -> None:
        """Raise where the theorem says nothing: where the matrix is singular in the precision of the unknown."""
        limit = 1 / finfo(self.values[0].dtype).eps
        if self.condition < limit and self._steady:
            return
        if not np.isfinite(self.matrix).all():
            raise SingularJacobian(
                f"the Jacobian of {self.problem.__name__} by x has entries that are inf or nan at the solution "
                f"({_shown(self.values[0])}): its derivative by the parameters is not defined there."
            )
        why = f"its condition number is {self.condition:.1e}, and {self.values[0].dtype} has digits for {limit:.1e}"
        if self.condition < limit:
            why = f"its condition number is {self.condition:.1e}, and it changes as a whole with the last digits of x"
        raise SingularJacobian(
            f"the Jacobian of {self.problem.__name__} by x is singular at the solution {_shown(self.values[0])}: "
            f"{why}. The solution is not a differentiable function of the parameters there (a double root, or a flat "
            "direction): change the equation, add a regularising term, or start near another solution."
        )

    @functools.cached_property
    def _steady(self) -> bool:
        """Whether the Jacobian stays what it is in the last digits of x, where it shrinks most.

        At a double root it is zero; a solver stops beside that, where its entries are small and the condition number
        need not be large.
        """
        point = np.asarray(self.values[0])
        if self.problem.kind == "linear" or not self.size:
            return True
        with np.errstate(all="ignore"):
            widths = np.linalg.norm(self.inverse, axis=0)
            away = self.inverse[:, int(np.argmax(widths))] / widths.max()
            shift = finfo(point.dtype).eps ** (2 / 3) * max(float(np.abs(point).max(initial=0.0)), self.problem.scale)
            moved = (point + shift * away.reshape(point.shape)).astype(point.dtype)
            here, there = self.matrix @ away, Factor(self.problem, (moved, *self.values[1:])).times(away)
            return not np.linalg.norm(there - here) > 0.5 * np.linalg.norm(here)

    # ------------------------------------------------------------------------------------------ products

    def times(self, v: Any, transposed: bool = False) -> Any:
        """The product with a vector, of the matrix or its transpose; the function runs once for all of them."""
        if transposed not in self._products:
            self._products[transposed] = self._maker(transposed)
        return self._products[transposed](v)

    def _maker(self, transposed: bool) -> Callable[[Any], Any]:
        point, *leaves = (plain(Tensor, v) for v in self.values)
        shape, dtype = self.values[0].shape, self.values[0].dtype

        def residual(p: Any) -> Any:
            return self.problem.residual(p, *leaves)

        with own_no_grad():
            _, moved = vjp(residual, point) if transposed else linearize(residual, point)

        def times(v: Any) -> Any:
            with own_no_grad():
                found = moved(plain(Tensor, np.asarray(v, dtype).reshape(shape)[()]))
            return np.asarray((found[0] if transposed else found)._value, np.float64).reshape(-1)

        return times

    def pulled(self, wanted: Sequence[int], v: Any) -> list[Any]:
        """(∂F/∂θ)ᵀ v for some of the parameters; F runs once for all v."""
        if self._pull is None or self._pull[0] != tuple(wanted):
            across, leaves = self._across(wanted)
            with own_no_grad():
                self._pull = tuple(wanted), vjp(across, *leaves)[1]
        with own_no_grad():
            return list(self._pull[1](plain(Tensor, v)))

    def pushed(self, moving: Sequence[int], tangents: Sequence[Any]) -> Any:
        """(∂F/∂θ) times tangents of some of the parameters; F runs once for all of them."""
        if self._push is None or self._push[0] != tuple(moving):
            across, leaves = self._across(moving)
            with own_no_grad():
                self._push = tuple(moving), linearize(across, *leaves)[1]
        with own_no_grad():
            return self._push[1](*tangents)

    def _across(self, wanted: Sequence[int]) -> tuple[Callable[..., Any], list[Any]]:
        """F as a function of some parameters, and these."""
        point, *leaves = (plain(Tensor, v) for v in self.values)

        def across(*moving: Any) -> Any:
            row = list(leaves)
            for k, leaf in zip(wanted, moving, strict=True):
                row[k] = leaf
            return self.problem.residual(point, *row)

        return across, [leaves[k] for k in wanted]

    def step(self, r: Any) -> tuple[Any, bool]:
        """A Newton step from a residual r, and whether it leads to a root of the linear model.

        Where the matrix is singular it is the shortest one of least squares, which need not.
        """
        if self.how != "dense":
            return self.solve(-r, False), True
        right = -np.asarray(r, np.float64).reshape(-1)
        try:
            found = np.linalg.solve(self.matrix, right)
        except np.linalg.LinAlgError:
            found, *_ = np.linalg.lstsq(self.matrix, right, rcond=None)
        leads = bool(np.linalg.norm(self.matrix @ found - right) <= 0.5 * np.linalg.norm(right))
        return found.reshape(np.shape(r)).astype(np.asarray(r).dtype)[()], leads

    def operator(self, transposed: bool) -> LinearOperator:
        """The matrix as an operator of SciPy's shape."""
        return LinearOperator(
            (self.size, self.size),
            np.dtype(np.float64),
            lambda v: self.times(v, transposed),
            lambda v: self.times(v, not transposed),
            name=f"∂{self.problem.__name__}/∂x" + ("ᵀ" if transposed else ""),
        )

    def _by_caller(self, right: Any, transposed: bool) -> Any:
        found = self.problem.options.linear_solver(self.operator(transposed), right)
        info = 0
        if isinstance(found, tuple):
            found, info = found[0], found[1]
        found = np.asarray(found, np.float64).reshape(-1)
        if found.shape != right.shape:
            raise ArgumentError(
                f"linear_solver gave an array of shape {found.shape}; it gets (operator, r) and gives v of shape "
                f"{right.shape} with operator @ v = r, or (v, info) as SciPy's solvers do."
            )
        if isinstance(info, (int, np.integer)) and info != 0:
            self._refuse(f"linear_solver (it answered info = {info})", found, right, transposed)
        return found

    def _by_products(self, right: Any, transposed: bool) -> Any:
        # Products carry the rounding of the unknown's precision: less than this cannot be reached.
        goal = finfo(self.values[0].dtype).eps ** 0.75 * float(np.linalg.norm(right))
        limit = self.problem.options.linear_maxiter or min(10 * self.size, 2000)
        method = conjugate_gradients if self.how == "cg" else gmres
        found, size = method(lambda v: self.times(v, transposed), right, goal, limit)
        if not size <= 1e2 * goal:
            self._refuse(f"{self.how} in {limit} products", found, right, transposed)
        return found

    def _refuse(self, who: str, found: Any, right: Any, transposed: bool) -> None:
        left = float(np.linalg.norm(self.times(found, transposed) - right) / np.linalg.norm(right))
        raise NotConverged(
            f"the linear system of the derivative of {self.problem.__name__} ({self.size} unknowns) was not solved by "
            f"{who}: a residual of {left:.1e} of the right side is left. Its matrix may be singular or badly "
            "conditioned: ask for linear_solver='dense' if it fits into memory (that tells the condition number), "
            "linear_maxiter= more steps, or give a linear_solver(operator, r) with a preconditioner."
        )


def gmres(times: Callable[[Any], Any], right: Any, goal: float, limit: int) -> tuple[Any, float]:
    """``(v, norm of the residual)`` by restarted GMRES, in at most ``limit`` products."""
    found = np.zeros_like(right)
    left, done = right, 0
    size = float(np.linalg.norm(left))
    while size > goal and done < limit:
        width = min(_RESTART, limit - done, right.size)
        basis = np.zeros((width + 1, right.size))
        hessenberg = np.zeros((width + 1, width))
        basis[0] = left / size
        for k in range(width):
            w = times(basis[k])
            for _ in range(2):  # twice is enough for orthogonality (Giraud, Langou and Rozložník 2005)
                overlap = basis[: k + 1] @ w
                hessenberg[: k + 1, k] += overlap
                w = w - overlap @ basis[: k + 1]
            hessenberg[k + 1, k] = np.linalg.norm(w)
            done += 1
            target = np.zeros(k + 2)
            target[0] = size
            y, *_ = np.linalg.lstsq(hessenberg[: k + 2, : k + 1], target, rcond=None)
            estimate = float(np.linalg.norm(target - hessenberg[: k + 2, : k + 1] @ y))
            ends = hessenberg[k + 1, k] <= 1e-14 * abs(hessenberg[: k + 1, k]).max(initial=0.0)
            if estimate <= goal or ends:
                break
            basis[k + 1] = w / hessenberg[k + 1, k]
        found = found + y @ basis[: len(y)]
        left = right - times(found)
        before, size = size, float(np.linalg.norm(left))
        if not size < 0.999 * before:
            break
    return found, size


def conjugate_gradients(times: Callable[[Any], Any], right: Any, goal: float, limit: int) -> tuple[Any, float]:
    """``(v, norm of the residual)`` by conjugate gradients; stops where the matrix is not positive definite."""
    found = np.zeros_like(right)
    left = right.copy()
    direction, square = left, float(left @ left)
    for _ in range(limit):
        if square**0.5 <= goal:
            break
        moved = times(direction)
        curvature = float(direction @ moved)
        if not curvature > 0:
            break
        step = square / curvature
        found = found + step * direction
        left = left - step * moved
        before, square = square, float(left @ left)
        direction = left + square / before * direction
    return found, float(np.linalg.norm(times(found) - right))


def _shown(point: Any) -> str:
    return f"x = {point.item():.6g}" if np.size(point) == 1 else f"x of shape {np.shape(point)}"
