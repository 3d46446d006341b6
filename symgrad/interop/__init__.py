"""NumPy's functions on tensors: what ``np.sin(t)`` and ``np.linalg.eigh(t)`` call."""

from symgrad.interop.protocols import call_function as call_function
from symgrad.interop.protocols import call_ufunc as call_ufunc
from symgrad.interop.protocols import supported as supported
