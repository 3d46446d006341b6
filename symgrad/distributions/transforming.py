"""What all transforms have, and those that are made of others: ``torch.distributions.transforms`` has the names."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any, ClassVar

from symgrad.distributions import constraints
from symgrad.errors import ArgumentError
from symgrad.tensor.facts import Shape


class Transform:
    """A function with its inverse; ``cache_size=1`` keeps the last value, so that the inverse of it is exact."""

    bijective = False
    domain: Any
    codomain: Any
    _settings: ClassVar[tuple[str, ...]]
    """The attributes that a class of the library is made of again."""

    def __init__(self, cache_size: int = 0):
        if cache_size not in (0, 1):
            raise ArgumentError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._inv: Any = None
        self._last: tuple[Any, Any] = (None, None)

    @property
    def event_dim(self) -> int:
        """The number of axes of one event; raises ``ArgumentError`` where it changes."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim  # type: ignore[no-any-return]
        raise ArgumentError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Any:
        """The inverse."""
        if self._inv is None:
            self._inv = _InverseTransform(self)
        return self._inv

    @property
    def sign(self) -> Any:
        """1 where it rises, -1 where it falls."""
        raise NotImplementedError

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same with another ``cache_size``."""
        if self._cache_size == cache_size:
            return self
        kind: Any = next((kind for kind in type(self).__mro__ if "_settings" in vars(kind)), None)
        if kind is not None:
            return kind(*(getattr(self, name) for name in kind._settings), cache_size=cache_size)
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        raise NotImplementedError(f"{type(self)}.with_cache is not implemented")

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and type(self).__init__ is Transform.__init__)

    __hash__ = object.__hash__

    def __call__(self, x: Any) -> Any:
        """The value at ``x``."""
        if not self._cache_size:
            return self._call(x)
        if x is not self._last[0]:
            self._last = (x, self._call(x))
        return self._last[1]

    def _inv_call(self, y: Any) -> Any:
        if not self._cache_size:
            return self._inverse(y)
        if y is not self._last[1]:
            self._last = (self._inverse(y), y)
        return self._last[0]

    def _call(self, x: Any) -> Any:
        raise NotImplementedError

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithm of the slope, or of the Jacobian's determinant, at ``x``, where the value is ``y``."""
        raise NotImplementedError

    def forward_shape(self, shape: Any) -> Any:
        """The shape of the value for one of ``x``."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of ``x`` for one of the value."""
        return shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _InverseTransform(Transform):
    def __init__(self, transform: Transform):
        super().__init__(cache_size=transform._cache_size)
        self._inv = transform

    @property
    def domain(self) -> Any:
        return self._inv.codomain

    @property
    def codomain(self) -> Any:
        return self._inv.domain

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return self._inv.bijective  # type: ignore[no-any-return]

    @property
    def sign(self) -> Any:
        return self._inv.sign

    def with_cache(self, cache_size: int = 1) -> Any:
        return self.inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    __hash__ = object.__hash__

    def __call__(self, x: Any) -> Any:
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._inv.forward_shape(shape)

    def __repr__(self) -> str:
        return f"_InverseTransform({self._inv!r})"


def sum_rightmost(value: Any, count: int) -> Any:
    """The sum along the last ``count`` axes."""
    return value.reshape((*value.shape[:-count], -1)).sum(-1) if count else value


class ComposeTransform(Transform):
    """Transforms one after the other."""

    _settings = ("parts",)

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0):
        super().__init__(cache_size=cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)

    def _widest(self, constraint: Any, first: int, steps: Any) -> Any:
        """A constraint on events of as many axes as some part needs; ``steps`` come from the other end."""
        ndim = first
        for come, gone in steps:
            ndim = max(ndim + gone - come, gone)
        more = ndim - constraint.event_dim
        return constraints.independent(constraint, more) if more else constraint

    @property
    def domain(self) -> Any:
        """The constraint on what goes in."""
        if not self.parts:
            return constraints.real
        steps = [(p.codomain.event_dim, p.domain.event_dim) for p in reversed(self.parts)]
        return self._widest(self.parts[0].domain, self.parts[-1].codomain.event_dim, steps)

    @property
    def codomain(self) -> Any:
        """The constraint on what comes out."""
        if not self.parts:
            return constraints.real
        steps = [(p.domain.event_dim, p.codomain.event_dim) for p in self.parts]
        return self._widest(self.parts[-1].codomain, self.parts[0].domain.event_dim, steps)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """Whether each part is."""
        return all(part.bijective for part in self.parts)

    @property
    def sign(self) -> Any:
        return functools.reduce(operator.mul, (part.sign for part in self.parts), 1)

    @property
    def inv(self) -> Any:
        if self._inv is None:
            self._inv = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv._inv = self
        return self._inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = object.__hash__

    def __call__(self, x: Any) -> Any:
        """The value at ``x``."""
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The sum of the parts', along the axes of one event."""
        if not self.parts:
            return x.new_zeros(tuple(x.shape))
        points, total, ndim = [x], None, self.domain.event_dim
        for part in self.parts[:-1]:
            points.append(part(points[-1]))
        points.append(y)
        for part, before, after in zip(self.parts, points[:-1], points[1:], strict=True):
            found = sum_rightmost(part.log_abs_det_jacobian(before, after), ndim - part.domain.event_dim)
            total = found if total is None else total + found
            ndim += part.codomain.event_dim - part.domain.event_dim
        return total

    def forward_shape(self, shape: Any) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        return "ComposeTransform(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform whose last ``reinterpreted_batch_ndims`` axes of a batch are those of one event."""

    _settings = ("base_transform", "reinterpreted_batch_ndims")

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0):
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def domain(self) -> Any:
        """The constraint on what goes in."""
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @property
    def codomain(self) -> Any:
        """The constraint on what comes out."""
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """Whether the transform is."""
        return self.base_transform.bijective  # type: ignore[no-any-return]

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _call(self, x: Any) -> Any:
        if x.dim() < self.domain.event_dim:
            raise ArgumentError("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        if y.dim() < self.codomain.event_dim:
            raise ArgumentError("Too few dimensions on input")
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The sum along the axes of one event."""
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Any) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ReshapeTransform(Transform):
    """Events of one shape as ones of another."""

    _settings = ("in_shape", "out_shape")
    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0):
        super().__init__(cache_size=cache_size)
        self.in_shape, self.out_shape = Shape(in_shape), Shape(out_shape)
        if math.prod(self.in_shape) != math.prod(self.out_shape):
            raise ArgumentError("in_shape, out_shape have different numbers of elements")

    @property
    def domain(self) -> Any:
        """The constraint on what goes in."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @property
    def codomain(self) -> Any:
        """The constraint on what comes out."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Any) -> Any:
        return x.reshape((*x.shape[: x.dim() - len(self.in_shape)], *self.out_shape))

    def _inverse(self, y: Any) -> Any:
        return y.reshape((*y.shape[: y.dim() - len(self.out_shape)], *self.in_shape))

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:  # noqa: ARG002
        """0 for each event."""
        return x.new_zeros(tuple(x.shape[: x.dim() - len(self.in_shape)]))

    def forward_shape(self, shape: Any) -> Any:
        return self._exchanged(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._exchanged(shape, self.out_shape, self.in_shape)

    @staticmethod
    def _exchanged(shape: Any, old: Any, new: Any) -> Any:
        cut = len(shape) - len(old)
        if cut < 0:
            raise ArgumentError("Too few dimensions on input")
        if tuple(shape[cut:]) != tuple(old):
            raise ArgumentError(f"Shape mismatch: expected {shape[cut:]} but got {old}")
        return Shape((*shape[:cut], *new))
