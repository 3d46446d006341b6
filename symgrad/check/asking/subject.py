"""A function at one point, and the ways to run it: on the tape, on tensors that record nothing, on its own arrays."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from symgrad.check.asking.arrays import as_array, is_array_like, wide
from symgrad.check.asking.calling import copied, epsilon_of, is_jax, is_torch, like
from symgrad.check.asking.derivatives import Derivative
from symgrad.check.asking.torch_calls import torch_followed
from symgrad.dtypes import default_dtype, float64
from symgrad.interop.array_calls import followed
from symgrad.tape.modes import no_grad
from symgrad.tape.record import Recorded, plain
from symgrad.tape.watching.lookthrough import looked_through
from symgrad.tensor import Tensor

_NUMBER_MADE = "Converting a tensor with requires_grad=True"
"""The warning at ``float(t)``, which the check has its own words for."""


class Subject:
    """``f`` at one point: its arguments in double precision, and which of them are under check.

    ``derivative`` is what is compared, ``given`` how many arguments are f's own (cotangents stand behind them),
    ``functions`` are the names of the custom functions that the last trace has met.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        args: Sequence[Any],
        positions: Sequence[int],
        names: Sequence[str],
        derivative: Derivative | None = None,
        given: int | None = None,
    ):
        self.f = f
        self.given = len(args) if given is None else given
        self.derivative = derivative or Derivative()
        self.positions = list(positions)
        self.names = list(names)
        self.data = [k for k, a in enumerate(args) if is_array_like(a)]
        self.originals = list(args)
        self.args = [wide(as_array(a)) if k in self.data else a for k, a in enumerate(args)]
        self.eps = [epsilon_of(args[k]) for k in self.positions]
        self.functions: list[str] = []
        self.as_arrays = False  # arguments are given ndarray's methods, in place of a tensor's
        self.same_on_own = False  # its values on arrays are known to be those on tensors
        self.apart = 0.0  # how far these are apart, relative to the largest

    @property
    def is_foreign(self) -> bool:
        """Whether arguments come from another library than NumPy and this one."""
        return any(is_torch(a) or is_jax(a) for a in self.originals)

    @property
    def is_of_arrays(self) -> bool:
        """Whether all data among the arguments are NumPy's, or lists and numbers."""
        return not self.is_foreign and not any(isinstance(a, Recorded) for a in self.originals)

    def moved(self, moves: dict[int, Any]) -> list[Any]:
        """The arguments with ``moves`` added to some of them."""
        return [a + moves[k] if k in moves else a for k, a in enumerate(self.args)]

    def trace(self, args: Sequence[Any]) -> tuple[Any, list[Any]]:
        """The result of ``f`` on named tensors, and the leaves under check; custom functions are looked through."""
        values = [self._leaf(k, a) if k in self.data else a for k, a in enumerate(args)]
        with np.errstate(all="ignore"), looked_through() as met:
            self.functions = met
            return self._run(values), [values[k] for k in self.positions]

    def _run(self, values: Sequence[Any]) -> Any:
        """``f`` of tensors, as they are or with the methods of arrays, whose whole numbers become double ones."""
        if self.is_foreign:
            with torch_followed():
                return self.f(*values)
        with warnings.catch_warnings(), default_dtype(float64) if self.is_of_arrays else nullcontext():
            warnings.filterwarnings("ignore", _NUMBER_MADE)
            return followed(self.f, values) if self.as_arrays else self.f(*values)

    def _leaf(self, k: int, array: Any) -> Any:
        made = plain(Tensor, np.array(array)[()])
        made.more().name = self.names[k]
        return made.requires_grad_() if k in self.positions else made

    def on_tensors(self, args: Sequence[Any]) -> Any:
        """The value of ``f`` computed with tensors that record nothing."""
        with no_grad():
            out = self._run([plain(Tensor, np.array(a)[()]) if k in self.data else a for k, a in enumerate(args)])
        return self.derivative.value(out)

    def values(self, args: Sequence[Any]) -> Any:
        """The value of ``f``, from NumPy's arrays where these are known to give the same, which is much faster."""
        return self.on_own(args) if self.same_on_own and self.is_of_arrays else self.on_tensors(args)

    def on_own(self, args: Sequence[Any]) -> Any:
        """The value of ``f`` computed with arrays of the library that each argument came from."""
        return self.derivative.value(self.f(*self.in_own_kind(args)))

    def on_own_as_given(self, args: Sequence[Any]) -> Any:
        """The same in the precision of the arguments that were given."""
        return self.on_own(
            [a.astype(as_array(self.originals[k]).dtype) if k in self.data else a for k, a in enumerate(args)]
        )

    def given_args(self) -> list[Any]:
        """Copies of the arguments as they were given."""
        return [copied(a) if k in self.data else a for k, a in enumerate(self.originals)]

    def in_own_kind(self, args: Sequence[Any]) -> list[Any]:
        """Copies of arguments as arrays of the library that each came from."""
        return [like(self.originals[k], a) if k in self.data else a for k, a in enumerate(args)]
