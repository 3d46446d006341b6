"""Kernels in mpmath's numbers, for values of any number of digits, where an entry of the op table needs a function.

Each is ``(mp, *numbers, **params)`` in the arithmetic of ``mp``, a context of mpmath.
"""

from symgrad.precision.digits.arrays import *  # noqa: F403
from symgrad.precision.digits.matrices import *  # noqa: F403
from symgrad.precision.digits.numbers import *  # noqa: F403
