"""Programs to try a language with: every op of the table, and the gradient of the sum of squares of what it gives."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from symgrad import func
from symgrad.compiler import compile
from symgrad.compiler.program import Compiled
from symgrad.errors import SymgradError
from symgrad.op import TABLE
from symgrad.proving.samples import cases, make_case


def programs_of(dtype: Any) -> Iterator[tuple[str, Compiled, list[Any]]]:
    """What is tried, the program, and its arguments: for every sample of every op in this dtype."""
    for name, k in cases(complex_too=np.dtype(dtype).kind == "c"):
        args, params = make_case(name, k, dtype=dtype)
        arrays = [a for a in args if isinstance(a, (np.ndarray, np.generic))]
        if not arrays:
            continue
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for what, program in _of(TABLE[name], args, params, arrays):
                yield f"{name} {k} {what}", program, arrays


def _of(op: Any, args: Any, params: Any, arrays: list[Any]) -> Iterator[tuple[str, Compiled]]:
    kind = np.asarray(op.run(*args, **params)).dtype.kind

    def value(*xs: Any) -> Any:
        row = iter(xs)
        return op(*[next(row) if isinstance(a, (np.ndarray, np.generic)) else a for a in args], **params)

    def squares(*xs: Any) -> Any:
        v = value(*xs)
        return ((v * v.conj()).real if kind == "c" else v * v).sum()

    yield "value", compile(value, *arrays).program
    wrt = tuple(k for k, a in enumerate(arrays) if a.dtype.kind in "fc")
    if wrt and kind in "fc":
        try:
            yield "gradient", compile(func.grad(squares, wrt), *arrays).program
        except SymgradError:
            return  # the op has no derivative
