"""Transforms that apply one transform to each part of a tensor, and put the results together again.

>>> import symgrad as sg
>>> D = sg.distributions
>>> D.transforms.StackTransform([D.transforms.ExpTransform(), D.identity_transform])(sg.tensor([0.0, 3.0]))
tensor([1., 3.])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.distributions import constraints
from symgrad.distributions.transforming import Transform, sum_rightmost
from symgrad.errors import ArgumentError
from symgrad.tensor import FUNCTIONS


class _Joined(Transform):
    """One transform for each part along an axis."""

    dim: int

    def __init__(self, tseq: Sequence[Transform], cache_size: int):
        if not all(isinstance(part, Transform) for part in tseq):
            raise ArgumentError("All elements of tseq must be Transform instances")
        super().__init__(cache_size=cache_size)
        self.transforms = [part.with_cache(cache_size) for part in tseq] if cache_size else list(tseq)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """Whether each part is."""
        return all(part.bijective for part in self.transforms)

    def _parts(self, value: Any) -> list[Any]:
        """The parts of a tensor; raises ``ArgumentError`` where there are others."""
        raise NotImplementedError

    def _together(self, parts: list[Any]) -> Any:
        raise NotImplementedError

    def _call(self, x: Any) -> Any:
        return self._together([part(piece) for part, piece in zip(self.transforms, self._parts(x), strict=True)])

    def _inverse(self, y: Any) -> Any:
        return self._together([part.inv(piece) for part, piece in zip(self.transforms, self._parts(y), strict=True)])

    def _logs(self, x: Any, y: Any) -> list[Any]:
        rows = zip(self.transforms, self._parts(x), self._parts(y), strict=True)
        return [part.log_abs_det_jacobian(a, b) for part, a, b in rows]

    def _measured(self, value: Any, wanted: int) -> None:
        if not -value.dim() <= self.dim < value.dim():
            raise ArgumentError(f"dim {self.dim} out of range for tensor with {value.dim()} dimensions")
        if value.shape[self.dim] != wanted:
            raise ArgumentError(f"size({self.dim}) = {value.shape[self.dim]} must equal {wanted}, that of the parts")


class CatTransform(_Joined):
    """Transforms of parts of ``lengths`` along an axis, as ``cat`` puts them together.

    Raises ``ArgumentError`` where there are not as many lengths as transforms, or other parts.
    """

    _settings = ("transforms", "dim", "lengths")

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, lengths: Any = None, cache_size: int = 0):
        super().__init__(tseq, cache_size)
        self.dim, self.lengths = dim, [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise ArgumentError(f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})")

    @property
    def event_dim(self) -> int:
        """The largest number of axes that an event of a part has."""
        return max(part.event_dim for part in self.transforms)

    @property
    def length(self) -> int:
        """The size of the axis."""
        return sum(self.lengths)

    @property
    def domain(self) -> Any:
        """The constraint on what goes in."""
        return constraints.cat([part.domain for part in self.transforms], self.dim, self.lengths)

    @property
    def codomain(self) -> Any:
        """The constraint on what comes out."""
        return constraints.cat([part.codomain for part in self.transforms], self.dim, self.lengths)

    def _parts(self, value: Any) -> list[Any]:
        self._measured(value, self.length)
        return list(value.split(self.lengths, self.dim))

    def _together(self, parts: list[Any]) -> Any:
        return FUNCTIONS["cat"](parts, self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithms of the slopes, put together, or added where the axis is one of an event."""
        rows = zip(self.transforms, self._logs(x, y), strict=True)
        logs = [sum_rightmost(found, self.event_dim - part.event_dim) for part, found in rows]
        dim = (self.dim - x.dim() if self.dim >= 0 else self.dim) + self.event_dim
        return FUNCTIONS["cat"](logs, dim) if dim < 0 else sum(logs)


class StackTransform(_Joined):
    """Transforms of what lies at each place of an axis, as ``stack`` puts them together.

    Raises ``ArgumentError`` where there are not as many places as transforms.
    """

    _settings = ("transforms", "dim")

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0):
        super().__init__(tseq, cache_size)
        self.dim = dim

    @property
    def domain(self) -> Any:
        """The constraint on what goes in."""
        return constraints.stack([part.domain for part in self.transforms], self.dim)

    @property
    def codomain(self) -> Any:
        """The constraint on what comes out."""
        return constraints.stack([part.codomain for part in self.transforms], self.dim)

    def _parts(self, value: Any) -> list[Any]:
        self._measured(value, len(self.transforms))
        return list(value.unbind(self.dim))

    def _together(self, parts: list[Any]) -> Any:
        return FUNCTIONS["stack"](parts, self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithms of the slopes, put together."""
        return FUNCTIONS["stack"](self._logs(x, y), self.dim)
