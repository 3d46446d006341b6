"""NumPy's functions on tensors: what ``np.sin(t)`` and ``np.linalg.eigh(t)`` call; and programs written for arrays."""

from symgrad.interop.ndarray import Array as Array
from symgrad.interop.protocols import call_function as call_function, call_ufunc as call_ufunc, supported as supported
