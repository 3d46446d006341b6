"""The samples of every op: those of its entry, or made from its ``domain``.

A sample is a function of a :class:`Maker`, which knows sizes by letter; the same sample at other sizes gives the fresh
values at which formulas are evaluated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.op import TABLE, Op
from symgrad.op.sampling import Case, Sample, many, one, square
from symgrad.proving.making import SIZES, Maker

_MATRIX_DOMAINS = ("invertible", "positive-definite", "symmetric", "square", "distinct")


def domains(op: Op) -> tuple[str, ...]:
    """The domain of every input."""
    if isinstance(op.domain, tuple):
        return op.domain
    arity = op.kernel.nin if isinstance(op.kernel, np.ufunc) else len(op.vjps)
    return (op.domain,) * arity


def _elementwise(op: Op) -> list[Sample]:
    kinds = domains(op)
    same = many(*((kind, "n", "m") for kind in kinds))
    scalar = many(*((kind,) for kind in kinds))
    if len(kinds) == 1:
        return [same, scalar, many((kinds[0], "n", 1, "m"))]
    stretched = many((kinds[0], "n", "m"), *((kind, "m") for kind in kinds[1:]))
    crossed = many((kinds[0], "n", 1), *((kind, 1, "m") for kind in kinds[1:]))
    return [same, scalar, stretched, crossed]


def samples(op: Op) -> list[Sample]:
    """All samples of an op; empty when it has none."""
    if op.samples is not None:
        return op.samples
    if op.domain in _MATRIX_DOMAINS:
        return square(op.domain) if len(op.vjps) == 1 else [many((op.domain, "n", "n"), ("real", "n", "n"))]
    if op.domain == "matrix":
        return [one("matrix", "n", "n"), one("matrix", "p", "q"), one("matrix", "q", "n")]
    return _elementwise(op) if op.domain and not callable(op.vjps) and op.kind != "multilinear" else []


def takes_complex(op: Op) -> bool:
    """Whether the laws hold of complex operands: the op takes them, and they say what its result is."""
    return "c" not in op.refuses


def ops() -> list[Op]:
    """The table without the leaves of formulas, in the order of entry."""
    return [op for op in TABLE.values() if op.kind not in ("leaf", "opaque")]


def cases(complex_too: bool = False) -> list[tuple[str, int]]:
    """Every (op name, sample number); without ops whose derivative is torch's error, which have another's kernel."""
    return [
        (op.name, k)
        for op in ops()
        for k in range(len(samples(op)))
        if not op.underived and (not complex_too or takes_complex(op))
    ]


def make_case(name: str, k: int, sizes: dict[str, int] = SIZES, dtype: Any = np.float64, seed: int = 11) -> Case:
    """Arguments and parameters of one sample."""
    return samples(TABLE[name])[k](Maker(sizes, seed + k, dtype))
