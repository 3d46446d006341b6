"""Points that fill a cube evenly: Sobol's sequence, with torch's scrambling for every seed.

>>> import symgrad as sg
>>> sg.quasirandom.SobolEngine(2).draw(3)  # doctest: +SKIP
tensor([[0.0000, 0.0000],
        [0.5000, 0.5000],
        [0.7500, 0.2500]])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.dtypes import get_default_dtype
from symgrad.errors import ArgumentError, MissingPackage
from symgrad.random import Generator, randint
from symgrad.tensor import Tensor
from symgrad.tensor.creation import tensor

__all__ = ["SobolEngine"]


def _directions(dimension: int, bits: int) -> Any:
    """The direction numbers of Joe and Kuo, ``(dimension, bits)``, which SciPy has."""
    try:
        from scipy.stats import qmc
    except ImportError as error:
        raise MissingPackage(
            "SobolEngine() takes its direction numbers from SciPy, which is not installed: pip install scipy."
        ) from error
    return np.asarray(qmc.Sobol(dimension, scramble=False, bits=bits)._sv, dtype=np.int64)


class SobolEngine:
    """Sobol's sequence in a cube of ``dimension`` axes, from its first point at 0 on, or scrambled.

    ``scramble``: the bits are mixed by random triangular matrices and shifted (Owen 1998), by numbers of ``seed``, or
    of the global generator.  Raises ``ValueError`` for a dimension that there are no numbers for; needs SciPy.

    >>> import symgrad as sg
    >>> SobolEngine(1).draw_base2(2).flatten()  # doctest: +SKIP
    tensor([0.0000, 0.5000, 0.7500, 0.2500])
    """

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None):
        if not 1 <= dimension <= self.MAXDIM:
            raise ArgumentError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.dimension, self.scramble, self.seed, self.num_generated = dimension, scramble, seed, 0
        self._numbers = _directions(dimension, self.MAXBIT)
        self._shift: Any = np.zeros(dimension, np.int64)
        if scramble:
            self._mix(None if seed is None else Generator().manual_seed(seed))
        self._first = (self._shift / 2**self.MAXBIT).astype(get_default_dtype())  # torch keeps it so, for any dtype

    def _mix(self, generator: Generator | None) -> None:
        """Shift the points, and multiply their bits by lower triangular matrices, modulo 2."""
        bits = self.MAXBIT
        drawn = randint(2, (self.dimension, bits), generator=generator).numpy()
        self._shift = drawn @ (1 << np.arange(bits))
        L = np.tril(randint(2, (self.dimension, bits, bits), generator=generator).numpy())
        L[:, np.arange(bits), np.arange(bits)] = 1
        places = np.arange(bits - 1, -1, -1)  # of the bits, from the highest on
        columns = (self._numbers[:, None, :] >> places[:, None]) & 1
        self._numbers = (((L @ columns) & 1) << places[:, None]).sum(1)

    def draw(self, n: int = 1, out: Any = None, dtype: Any = None) -> Tensor:
        """The next ``n`` points, ``(n, dimension)``.  Raises ``ValueError`` beyond the last one.

        >>> import symgrad as sg
        >>> engine = SobolEngine(2, scramble=True, seed=0)  # doctest: +SKIP
        >>> sg.equal(sg.cat([engine.draw(3), engine.draw(5)]), engine.reset().draw(8))  # doctest: +SKIP
        True
        """
        if n < 0 or self.num_generated + n > 2**self.MAXBIT:
            raise ArgumentError(
                f"SobolEngine: there are 2**{self.MAXBIT} points, of which {self.num_generated} are drawn or left out, "
                f"and draw({n}) asks for others"
            )
        kind = get_default_dtype() if dtype is None else dtype
        number = np.arange(self.num_generated, self.num_generated + n)
        gray = number ^ (number >> 1)  # of which one bit changes from point to point
        points = np.broadcast_to(self._shift, (n, self.dimension)).copy()
        for bit in range(int(number[-1]).bit_length() if n else 0):
            points ^= np.where((gray[:, None] >> bit) & 1, self._numbers[:, bit], 0)
        found = tensor(points / 2**self.MAXBIT, dtype=kind)
        if n and not self.num_generated:
            found[0] = tensor(self._first)
        self.num_generated += n
        return found if out is None else out.resize_as_(found).copy_(found)

    def draw_base2(self, m: int, out: Any = None, dtype: Any = None) -> Tensor:
        """The next 2ᵐ points.  Raises ``ValueError`` where those so far and these are no power of 2."""
        total = self.num_generated + 2**m
        if total & (total - 1):
            raise ArgumentError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: n={self.num_generated}+2**{m}="
                f"{total}. If you still want to do this, please use 'SobolEngine.draw()' instead."
            )
        return self.draw(2**m, out, dtype)

    def reset(self) -> SobolEngine:
        """Begin anew, with the same scrambling."""
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leave ``n`` points out."""
        self.num_generated += n
        return self

    def __repr__(self) -> str:
        told = [f"dimension={self.dimension}"] + ["scramble=True"] * self.scramble
        return f"SobolEngine({', '.join(told + [f'seed={self.seed}'] * (self.seed is not None))})"
