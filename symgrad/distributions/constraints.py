"""What parameters and samples of distributions satisfy, under the names of ``torch.distributions.constraints``.

>>> import symgrad as sg
>>> sg.distributions.constraints.positive.check(sg.tensor([1.0, -1.0]))
tensor([ True, False])
"""

from __future__ import annotations

from typing import Any

from symgrad.dtypes import finfo
from symgrad.errors import ArgumentError
from symgrad.ops.calls.naming import SPACES
from symgrad.tensor import FUNCTIONS, creation

__all__ = [
    "Constraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property", "greater_than",
    "greater_than_eq", "half_open_interval", "independent", "integer_interval", "interval", "is_dependent", "less_than",
    "lower_cholesky", "lower_triangular", "multinomial", "nonnegative", "nonnegative_integer", "one_hot", "positive",
    "positive_definite", "positive_integer", "positive_semidefinite", "real", "real_vector", "simplex", "square",
    "stack", "symmetric", "unit_interval",
]  # fmt: skip


class Constraint:
    """A condition on values whose last ``event_dim`` axes are one event."""

    is_discrete = False
    event_dim = 0

    def check(self, value: Any) -> Any:
        """Whether each event satisfies it: truth values of the shape of the batch."""
        raise NotImplementedError

    def __repr__(self) -> str:
        bounds = ", ".join(f"{name}={bound}" for name, bound in vars(self).items())
        return f"{type(self).__name__.removeprefix('_')}({bounds})"


class _Dependent(Constraint):
    """A condition that depends on the other parameters, and so is none by itself."""

    def __init__(self, *, is_discrete: bool = False, event_dim: int = 0):
        self.is_discrete, self.event_dim = is_discrete, event_dim

    def __call__(self, *, is_discrete: bool = False, event_dim: int = 0) -> _Dependent:
        return _Dependent(is_discrete=is_discrete, event_dim=event_dim)

    def check(self, value: Any) -> Any:  # noqa: ARG002
        """Refused: there is nothing to compare with."""
        raise ValueError("Cannot determine validity of dependent constraint")


class dependent_property(property):  # noqa: N801  (torch's name)
    """A property that is a constraint made of the other parameters; with keywords it makes the decorator."""

    def __init__(self, fget: Any = None, *, is_discrete: bool = False, event_dim: int = 0):
        super().__init__(fget)
        self.is_discrete, self.event_dim = is_discrete, event_dim

    def __call__(self, fget: Any) -> dependent_property:
        """The property of a method, as a decorator with keywords."""
        return dependent_property(fget, is_discrete=self.is_discrete, event_dim=self.event_dim)


def takes_arrays(constraint: Any) -> bool:
    """Whether a check is one of these here, which are written for arrays, too; those of users' own ask for tensors."""
    while isinstance(constraint, _IndependentConstraint):
        constraint = constraint.base_constraint
    return not isinstance(constraint, _Joined) and bool(type(constraint).check.__module__ == __name__)


def is_dependent(constraint: Any) -> bool:
    """Whether a constraint depends on other parameters."""
    return isinstance(constraint, (_Dependent, dependent_property))


class _Real(Constraint):
    def check(self, value: Any) -> Any:
        return value == value


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value == 0) | (value == 1)


class _Above(Constraint):
    def __init__(self, lower_bound: Any):
        self.lower_bound = lower_bound


class _GreaterThan(_Above):
    def check(self, value: Any) -> Any:
        return value > self.lower_bound


class _GreaterThanEq(_Above):
    def check(self, value: Any) -> Any:
        return value >= self.lower_bound


class _IntegerGreaterThan(_Above):
    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (value >= self.lower_bound)


class _LessThan(Constraint):
    def __init__(self, upper_bound: Any):
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Any:
        return value < self.upper_bound


class _Between(Constraint):
    def __init__(self, lower_bound: Any, upper_bound: Any):
        self.lower_bound, self.upper_bound = lower_bound, upper_bound


class _Interval(_Between):
    def check(self, value: Any) -> Any:
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class _HalfOpenInterval(_Between):
    def check(self, value: Any) -> Any:
        return (value >= self.lower_bound) & (value < self.upper_bound)


class _IntegerInterval(_Between):
    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (value >= self.lower_bound) & (value <= self.upper_bound)


class _Multinomial(Constraint):
    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any):
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & (abs(value.sum(-1) - 1) < 1e-6)


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value: Any) -> Any:
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class _Matrix(Constraint):
    event_dim = 2

    @staticmethod
    def _all(holds: Any) -> Any:
        return holds.all(-1).all(-1)


class _LowerTriangular(_Matrix):
    def check(self, value: Any) -> Any:
        return self._all(FUNCTIONS["tril"](value) == value)


class _LowerCholesky(_LowerTriangular):
    def check(self, value: Any) -> Any:
        return super().check(value) & (value.diagonal(0, -2, -1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    def check(self, value: Any) -> Any:
        lengths = (value * value).sum(-1) ** 0.5
        near = abs(lengths - 1) <= 10 * value.shape[-1] * finfo(value.dtype).eps
        return super().check(value) & near.all(-1)


class _Square(_Matrix):
    def check(self, value: Any) -> Any:
        rows, columns = value.shape[-2:]
        return creation.full(tuple(value.shape[:-2]), rows == columns, dtype=bool)


class _Symmetric(_Square):
    def check(self, value: Any) -> Any:
        if value.shape[-2] != value.shape[-1]:
            return super().check(value)
        return self._all(FUNCTIONS["isclose"](value, value.mT, atol=1e-6))


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Any) -> Any:
        symmetric = super().check(value)
        return (SPACES["linalg"]["eigvalsh"](value) >= 0).all(-1) if symmetric.all() else symmetric


class _PositiveDefinite(_Symmetric):
    def check(self, value: Any) -> Any:
        symmetric = super().check(value)
        return SPACES["linalg"]["cholesky_ex"](value)[1] == 0 if symmetric.all() else symmetric


class _Joined(Constraint):
    """A condition on each part of a tensor along an axis."""

    def __init__(self, cseq: Any, dim: int):
        if not all(isinstance(part, Constraint) for part in cseq):
            raise ArgumentError("All elements of cseq must be Constraint instances")
        self.cseq, self.dim = list(cseq), dim

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        return any(part.is_discrete for part in self.cseq)

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        return int(max(part.event_dim for part in self.cseq))

    def __repr__(self) -> str:
        return f"{type(self).__name__.removeprefix('_')}()"


class _Cat(_Joined):
    def __init__(self, cseq: Any, dim: int = 0, lengths: Any = None):
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise ArgumentError(f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})")

    def check(self, value: Any) -> Any:
        parts = value.split(self.lengths, self.dim)
        return FUNCTIONS["cat"]([c.check(part) for c, part in zip(self.cseq, parts, strict=True)], self.dim)


class _Stack(_Joined):
    @property
    def event_dim(self) -> int:  # type: ignore[override]
        dim = super().event_dim
        return dim + 1 if self.dim + dim < 0 else dim

    def __init__(self, cseq: Any, dim: int = 0):
        super().__init__(cseq, dim)

    def check(self, value: Any) -> Any:
        parts = value.unbind(self.dim)
        return FUNCTIONS["stack"]([c.check(part) for c, part in zip(self.cseq, parts, strict=True)], self.dim)


class _IndependentConstraint(Constraint):
    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int):
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        holds = self.base_constraint.check(value)
        for _ in range(self.reinterpreted_batch_ndims):
            holds = holds.all(-1)
        return holds

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint}, {self.reinterpreted_batch_ndims})"


independent = _IndependentConstraint
greater_than, greater_than_eq, less_than = _GreaterThan, _GreaterThanEq, _LessThan
interval, half_open_interval, integer_interval = _Interval, _HalfOpenInterval, _IntegerInterval
multinomial = _Multinomial
dependent = _Dependent()
real, boolean, one_hot, simplex = _Real(), _Boolean(), _OneHot(), _Simplex()
positive, nonnegative, unit_interval = _GreaterThan(0.0), _GreaterThanEq(0.0), _Interval(0.0, 1.0)
positive_integer, nonnegative_integer = _IntegerGreaterThan(1), _IntegerGreaterThan(0)
real_vector = _IndependentConstraint(real, 1)
square, symmetric = _Square(), _Symmetric()
positive_definite, positive_semidefinite = _PositiveDefinite(), _PositiveSemidefinite()
lower_triangular, lower_cholesky, corr_cholesky = _LowerTriangular(), _LowerCholesky(), _CorrCholesky()
cat, stack = _Cat, _Stack
