"""Samples of an op's arguments, for its entry: what the laws of the table are tried on.

A sample is a function of a maker of operands, which knows sizes by letter: ``make("real", "n", 1)`` is an array of a
domain, ``make.size("n")`` a number, ``make.shape("n", "m")`` several, and ``make.dtype`` what the operands are asked
in.  It gives the operands and the parameters.  The same sample at other sizes gives the fresh values at which formulas
are evaluated.  The maker is in ``symgrad.proving``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Case = tuple[tuple[Any, ...], dict[str, Any]]
Sample = Callable[[Any], Case]


def one(domain: str, *letters: Any, **params: Any) -> Sample:
    """A sample of one array; parameters that are functions are asked for their value with the maker."""
    return many((domain, *letters), **params)


def many(*arrays: tuple[Any, ...], **params: Any) -> Sample:
    """A sample of several arrays, each given as its domain and its letters or sizes."""
    return lambda make: (tuple(make(*a) for a in arrays), given(make, params))


def given(make: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Parameters, where functions stand for values that depend on sizes or the dtype."""
    return {k: v(make) if callable(v) else v for k, v in params.items()}


def reductions(domain: str = "real", **params: Any) -> list[Sample]:
    """Samples for reductions over several axes."""
    return [
        one(domain, "n", "m", dim=(0, 1), keepdim=False, **params),
        one(domain, "n", "m", dim=(1,), keepdim=True, **params),
        one(domain, "n", "m", "p", dim=(0, 2), keepdim=False, **params),
    ]


def along(domain: str = "real", **params: Any) -> list[Sample]:
    """Samples for what acts along one axis."""
    return [
        one(domain, "n", "m", dim=0, **params),
        one(domain, "n", "m", dim=1, **params),
        one(domain, "n", dim=0, **params),
    ]


def orders(domain: str, *ns: int) -> list[Sample]:
    """Samples for functions of an order ``n``: of a matrix, a vector and a number."""
    return [one(domain, *letters, n=n) for letters, n in zip((("n", "m"), ("n",), ()), ns, strict=True)]


def square(domain: str, **params: Any) -> list[Sample]:
    """Samples for square matrices."""
    return [one(domain, "n", "n", **params), one(domain, "q", "n", "n", **params)]


def real(make: Any) -> str:
    """The real dtype of the precision that the operands are asked in, for a parameter."""
    return f"float{make.dtype.itemsize * (4 if make.dtype.kind == 'c' else 8)}"


def small(sample: Sample) -> Sample:
    """A sample of three rows and four columns, whatever the sizes: for what takes memory or time in powers of them."""
    return lambda make: sample(make.at(n=3, m=4))
