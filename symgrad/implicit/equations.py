"""Solutions on the tape: functions whose derivative is the implicit function theorem.

F(x, θ) = 0 gives ∂F/∂x dx + ∂F/∂θ dθ = 0.  A cotangent g of x is pulled back by one transposed system,
(∂F/∂x)ᵀ λ = g, and θ gets -(∂F/∂θ)ᵀ λ; a tangent is pushed by one system with ∂F/∂x itself (Griewank and Walther 2008,
chapter 15; Blondel et al., "Efficient and modular implicit differentiation", 2022).  The solution of such a system is a
function of the same kind, so that any order of derivative costs systems with the same two matrices.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.autograd import Function
from symgrad.dtypes import is_floating
from symgrad.errors import FormulaError
from symgrad.formula.derive import gradient, jacobian
from symgrad.formula.term import Term, own_symbol, substitute
from symgrad.func import jvp, vjp
from symgrad.implicit.problems import Linear, Problem, product
from symgrad.implicit.solvers import solved
from symgrad.op import lookup
from symgrad.ops.linalg.systems import linalg_solve
from symgrad.ops.shapes.sizes import product_size
from symgrad.tape.formulas.formal import Formal, formula_of
from symgrad.tape.modes import is_grad_enabled
from symgrad.tape.record import Recorded, plain
from symgrad.tape.watching.watch import watching
from symgrad.tensor import Tensor


class Solution(Function):
    """x(θ) of a problem: ``apply(problem, x0, *parameters)``, and the start has no derivative."""

    @staticmethod
    def forward(problem: Problem, start: Any, *leaves: Any) -> Any:
        """The solution, and nothing that anybody could differentiate by is lost on the way."""
        if isinstance(start, Formal):
            raise FormulaError("a solution is found from values")
        values = [leaf._value for leaf in leaves]
        point = solved(problem, start._value, values)
        problem.refuse_captured(point, values)
        return plain(Tensor, point)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Keep the solution and the parameters."""
        problem, _, *leaves = inputs
        ctx.problem = problem
        ctx.at = tuple(x._value if isinstance(x, Recorded) else None for x in (output, *leaves))
        ctx.save_for_backward(output, *leaves)
        ctx.save_for_forward(output, *leaves)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """One transposed system."""
        g, problem = grads[0], ctx.problem
        point, *leaves = ctx.saved_tensors
        if isinstance(g, Formal):
            return (None, None, *_formulas(problem, g, point, leaves))
        wanted = [k for k, leaf in enumerate(leaves) if ctx.needs_input_grad[k + 2] and is_floating(leaf.dtype)]
        rows: list[Any] = [None] * len(leaves)
        if not wanted:
            return (None, None, *rows)
        if quiet(g, point, *leaves):
            factor = problem.factor(point, leaves)
            pulled = factor.pulled(wanted, -factor.solve(g._value, True))
        else:
            found = system(problem, True, g, point, leaves)
            _, pull = vjp(_by_leaves(problem, point, leaves, wanted), *(leaves[k] for k in wanted))
            pulled = pull(-found)
        for k, row in zip(wanted, pulled, strict=True):
            rows[k] = row
        return (None, None, *rows)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """One system."""
        point, *leaves = ctx.saved_tensors
        moving = [k for k, t in enumerate(tangents[2:]) if t is not None and is_floating(leaves[k].dtype)]
        moves = tuple(tangents[k + 2] for k in moving)
        if quiet(point, *leaves, *moves):
            factor = ctx.problem.factor(point, leaves)
            return plain(Tensor, factor.solve(-factor.pushed(moving, moves)._value, False))
        across = _by_leaves(ctx.problem, point, leaves, moving)
        right = jvp(across, tuple(leaves[k] for k in moving), moves)[1]
        return system(ctx.problem, False, -right, point, leaves)


def quiet(*values: Any) -> bool:
    """Whether nobody will differentiate what is made of these now: numbers do, which are kept for the next time."""
    if watching() is not None or not all(isinstance(v, Recorded) for v in values):
        return False
    return not is_grad_enabled() or not any(v._requires_grad for v in values)


class Root(Solution):
    """A root of f."""


class FixedPoint(Solution):
    """A fixed point of f."""


class Argmin(Solution):
    """A minimum of f."""


class Solve(Solution):
    """The solution of a linear equation."""

    @staticmethod
    def symbolic(problem: Problem, start: Formal, *leaves: Formal) -> Any:
        """(∂F/∂x)⁻¹ (-F(0)); None where F needs values."""
        terms = tuple(leaf.term for leaf in leaves)
        mark = own_symbol("argument0", start.term.shape, start.term.dtype)
        found = formula_of(lambda: Formal(problem.residual_term(mark, terms)))
        if found is None:
            return None
        (right,) = substitute([found.term], {mark: mark.full_like(0)})
        return _solved(found.term, mark, False, (-Formal(right)).term)


class Applied(Function):
    """A constant linear operator of somebody else, times a vector: ``apply(operator, transposed, v)``."""

    @staticmethod
    def forward(operator: Any, transposed: bool, v: Any) -> Any:
        """The product, by what the operator has."""
        value = v._value
        if not transposed:
            found = operator @ value
        elif hasattr(operator, "rmatvec"):
            found = operator.rmatvec(value)
        else:
            found = (operator.T @ value.conj()).conj()
        return plain(Tensor, np.asarray(found).astype(value.dtype, copy=False).reshape(value.shape))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Keep the operator."""
        ctx.operator, ctx.transposed = inputs[:2]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """The product with the conjugate transpose."""
        return None, None, Applied.apply(ctx.operator, not ctx.transposed, grads[0])

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """The same product."""
        return Applied.apply(ctx.operator, ctx.transposed, tangents[2])


CLASSES = {"root": Root, "fixed_point": FixedPoint, "argmin": Argmin, "linear": Solve}


def _by_leaves(problem: Any, point: Any, leaves: Sequence[Any], wanted: Sequence[int]) -> Any:
    """F as a function of some of its parameters."""

    def across(*moving: Any) -> Any:
        row = list(leaves)
        for k, leaf in zip(wanted, moving, strict=True):
            row[k] = leaf
        return problem.residual(point, *row)

    return across


class InverseJacobian(Function):
    """v with (∂F/∂x) v = r: ``apply(linear, r, point, *parameters)``."""

    @staticmethod
    def forward(linear: Linear, r: Any, point: Any, *leaves: Any) -> Any:
        """The system on numbers, by what is known of the matrix at the point."""
        factor = linear.base.factor(point._value, [leaf._value for leaf in leaves])
        return plain(Tensor, factor.solve(r._value, linear.transposed))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Keep the solution, the point and the parameters."""
        linear, _, point, *leaves = inputs
        ctx.linear = linear
        ctx.save_for_backward(output, point, *leaves)
        ctx.save_for_forward(output, point, *leaves)

    @staticmethod
    def symbolic(linear: Linear, r: Formal, point: Formal, *leaves: Formal) -> Any:
        """The system with the formula of its matrix; None where F needs values."""
        where = (point.term, *(leaf.term for leaf in leaves))
        marks = _marks(where)
        found = formula_of(lambda: Formal(linear.base.residual_term(marks[0], marks[1:])))
        if found is None:
            return None
        right = own_symbol("right", r.term.shape, r.term.dtype)
        solution = _solved(found.term, marks[0], linear.transposed, right)
        back = dict(zip((*marks, right), (*where, r.term), strict=True))
        return Formal(substitute([solution.term], back)[0])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """The system with the other matrix; by the point and the parameters the theorem again."""
        base, transposed = ctx.linear.base, ctx.linear.transposed
        v, *where = ctx.saved_tensors
        found = system(base, not transposed, grads[0], where[0], where[1:])
        wanted = [k for k, x in enumerate(where) if ctx.needs_input_grad[k + 2] and is_floating(x.dtype)]
        rows: list[Any] = [None] * len(where)
        if wanted:
            across = _by_leaves(_Times(base, transposed), v, where, wanted)
            _, pull = vjp(across, *(where[k] for k in wanted))
            for k, row in zip(wanted, pull(-found), strict=True):
                rows[k] = row
        return (None, found if ctx.needs_input_grad[1] else None, *rows)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """The same system: with the tangent of r less that of the matrix times v."""
        base, transposed = ctx.linear.base, ctx.linear.transposed
        v, *where = ctx.saved_tensors
        moving = [k for k, t in enumerate(tangents[2:]) if t is not None and is_floating(where[k].dtype)]
        across = _by_leaves(_Times(base, transposed), v, where, moving)
        right = jvp(across, tuple(where[k] for k in moving), tuple(tangents[k + 2] for k in moving))[1]
        right = -right if tangents[1] is None else tangents[1] - right
        return system(base, transposed, right, where[0], where[1:])


class _Times:
    """v ↦ (∂F/∂x) v, as a function of the point and the parameters."""

    def __init__(self, base: Problem, transposed: bool):
        self.base = base
        self.transposed = transposed

    def residual(self, v: Any, point: Any, *leaves: Any) -> Any:
        return product(self.base, self.transposed, v, point, leaves)


def system(problem: Problem, transposed: bool, r: Any, point: Any, leaves: Sequence[Any]) -> Any:
    """v with (∂F/∂x) v = r, differentiable in all that it is made of."""
    return InverseJacobian.apply(Linear(problem, transposed), r, point, *leaves)


# ---------------------------------------------------------------------------------------------- formulas


def _formulas(problem: Problem, g: Formal, point: Formal, leaves: Sequence[Formal]) -> list[Any]:
    """-(∂F/∂θ)ᵀ (∂F/∂x)⁻ᵀ g, for every parameter."""
    where = (point.term, *(leaf.term for leaf in leaves))
    marks = _marks(where)
    residual = problem.residual_term(marks[0], marks[1:])
    seed = own_symbol("cotangent", g.term.shape, g.term.dtype)
    found = _solved(residual, marks[0], True, seed)
    rows = gradient(residual, list(marks[1:]), (-found).term)
    return [Formal(row) for row in substitute(rows, dict(zip((*marks, seed), (*where, g.term), strict=True)))]


def _marks(where: Sequence[Term]) -> tuple[Term, ...]:
    """Symbols in place of formulas, so that these count as independent."""
    return tuple(own_symbol(f"argument{k}", t.shape, t.dtype) for k, t in enumerate(where))


def _solved(residual: Term, unknown: Term, transposed: bool, right: Term) -> Any:
    """v with (∂F/∂x) v = right as a formula, from that of F."""
    matrix, shape = Formal(jacobian(residual, unknown)), unknown.shape
    if not shape:
        return lookup("div")(Formal(right), matrix)
    flat = Formal(right)
    if len(shape) > 1:
        size = functools.reduce(product_size, shape)
        matrix = lookup("reshape")(matrix, shape=(size, size))
        flat = lookup("reshape")(flat, shape=(size,))
    found = linalg_solve(matrix.mT if transposed else matrix, flat)
    return found if len(shape) == 1 else lookup("reshape")(found, shape=shape)
