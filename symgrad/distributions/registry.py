"""Functions from all real numbers onto what satisfies a constraint, by the constraint's class.

>>> import symgrad as sg
>>> D = sg.distributions
>>> D.biject_to(D.constraints.unit_interval)(sg.tensor(0.0))
tensor(0.5000)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symgrad.distributions import constraints
from symgrad.distributions.transforms import (
    AffineTransform,
    CatTransform,
    ComposeTransform,
    CorrCholeskyTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    SigmoidTransform,
    SoftmaxTransform,
    StackTransform,
    StickBreakingTransform,
    identity_transform,
)
from symgrad.errors import ArgumentError

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """What makes a transform of a constraint, by the constraint's class."""

    def __init__(self) -> None:
        self._makers: dict[type, Callable[[Any], Any]] = {}

    def register(self, constraint: Any, factory: Callable[[Any], Any] | None = None) -> Any:
        """Take ``factory(constraint)`` for a class of constraints, or for that of one; a decorator without it."""
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        kind = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not (isinstance(kind, type) and issubclass(kind, constraints.Constraint)):
            raise ArgumentError(
                f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}"
            )
        self._makers[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        """The transform; raises ``NotImplementedError`` where there is none."""
        if type(constraint) not in self._makers:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return self._makers[type(constraint)](constraint)


biject_to, transform_to = ConstraintRegistry(), ConstraintRegistry()


def _between(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and (low, high) == (0, 1):
        return SigmoidTransform()
    return ComposeTransform([SigmoidTransform(), AffineTransform(low, high - low)])


def _fill(registry: ConstraintRegistry, onto_simplex: Any) -> None:
    registry.register(constraints.real, lambda _: identity_transform)
    for above in (constraints.greater_than, constraints.greater_than_eq):
        registry.register(above, lambda c: ComposeTransform([ExpTransform(), AffineTransform(c.lower_bound, 1)]))
    registry.register(
        constraints.less_than, lambda c: ComposeTransform([ExpTransform(), AffineTransform(c.upper_bound, -1)])
    )
    for inside in (constraints.interval, constraints.half_open_interval):
        registry.register(inside, _between)
    registry.register(constraints.simplex, lambda _: onto_simplex())
    registry.register(
        constraints.independent,
        lambda c: IndependentTransform(registry(c.base_constraint), c.reinterpreted_batch_ndims),
    )
    registry.register(constraints.corr_cholesky, lambda _: CorrCholeskyTransform())
    registry.register(constraints.cat, lambda c: CatTransform([registry(part) for part in c.cseq], c.dim, c.lengths))
    registry.register(constraints.stack, lambda c: StackTransform([registry(part) for part in c.cseq], c.dim))


_fill(biject_to, StickBreakingTransform)
_fill(transform_to, SoftmaxTransform)
transform_to.register(constraints.lower_cholesky, lambda _: LowerCholeskyTransform())
for _constraint in (constraints.positive_definite, constraints.positive_semidefinite):
    transform_to.register(_constraint, lambda _: PositiveDefiniteTransform())
