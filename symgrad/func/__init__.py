"""Derivatives of functions, under the names of ``torch.func`` and JAX.

The functions take tensors, arrays, numbers and nested tuples, lists and dicts of them, and give tensors.  They nest to
any order, and ``symgrad.compile`` derives through them on formulas.
"""

from symgrad.func.batching import vmap
from symgrad.func.transforms import (
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    linearize,
    value_and_grad,
    vjp,
)

__all__ = [
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "linearize",
    "value_and_grad",
    "vjp",
    "vmap",
]
