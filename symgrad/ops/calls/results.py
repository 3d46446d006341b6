"""Results of several parts, which have names besides their places, as the tuples of ``torch.return_types``."""

from __future__ import annotations

import functools
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

_FIELDS = {
    "values indices": "cummax cummin kthvalue max median min mode nanmedian sort topk",
    "min max": "aminmax",
    "mantissa exponent": "frexp",
    "hist bin_edges": "histogram histogramdd",
    "sign logabsdet": "slogdet linalg_slogdet",
    "eigenvalues eigenvectors": "linalg_eig linalg_eigh",
    "U S Vh": "linalg_svd",
    "U S V": "svd",
    "Q R": "qr linalg_qr",
    "P L U": "linalg_lu lu_unpack",
    "a tau": "geqrf",
    "LU pivots": "linalg_lu_factor",
    "LU pivots info": "linalg_lu_factor_ex",
    "LD pivots": "linalg_ldl_factor",
    "LD pivots info": "linalg_ldl_factor_ex",
    "L info": "linalg_cholesky_ex",
    "inverse info": "linalg_inv_ex",
    "result info": "linalg_solve_ex",
    "solution cloned_coefficient": "triangular_solve",
    "solution residuals rank singular_values": "linalg_lstsq",
}
FIELDS = {kind: tuple(fields.split()) for fields, kinds in _FIELDS.items() for kind in kinds.split()}
"""The names of the parts of a function's result, by the function's name."""


class Named(tuple):  # type: ignore[type-arg]
    """A tuple whose parts have names, too.

    >>> import symgrad as sg
    >>> sg.tensor([3.0, 1.0, 2.0]).max(0)
    torch.return_types.max(
    values=tensor(3.),
    indices=tensor(0))
    """

    __slots__ = ()
    names: ClassVar[tuple[str, ...]] = ()

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    @classmethod
    def _make(cls, parts: Any) -> Named:
        """The result of these parts, as of a named tuple."""
        return cls(parts)

    def __repr__(self) -> str:
        parts = ",\n".join(f"{name}={part!r}" for name, part in zip(self.names, self, strict=True))
        return f"torch.return_types.{type(self).__name__}(\n{parts})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self).__name__, tuple(self))


@functools.cache
def named(kind: str) -> type[Named]:
    """The class of what a function gives, by its name in torch.

    >>> named("svd").names
    ('U', 'S', 'V')
    """
    names = FIELDS[kind]
    parts = {name: property(itemgetter(k), doc=f"Part {k} of the result.") for k, name in enumerate(names)}
    return type(kind, (Named,), {"__slots__": (), "__module__": "symgrad.return_types", "names": names, **parts})


def _again(kind: str, parts: tuple[Any, ...]) -> Named:
    return named(kind)(parts)
