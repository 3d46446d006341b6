"""Derivatives of functions, under the names of ``torch.func`` and JAX.

The functions take tensors, arrays, numbers and nested tuples, lists and dicts of them, and give tensors.  They nest to
any order, and ``symgrad.compile`` derives through them on formulas.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from symgrad.func.batching import vmap
from symgrad.func.forward import jvp, linearize
from symgrad.func.operators import LinearOperator, hessian_operator, jacobian_operator
from symgrad.func.sparse import sparse_hessian, sparse_jacobian
from symgrad.func.stateless import (
    functional_call,
    functionalize,
    replace_all_batch_norm_modules_,
    stack_module_state,
)
from symgrad.func.structured import structured_hessian
from symgrad.func.taylor import jet, nth_derivative, taylor
from symgrad.func.transforms import (
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacobian,
    jacrev,
    value_and_grad,
    vjp,
)

__all__ = [
    "LinearOperator", "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "hessian_operator",
    "jacfwd", "jacobian", "jacobian_operator", "jacrev", "jet", "jvp", "linearize", "nth_derivative",
    "replace_all_batch_norm_modules_", "sparse_hessian", "sparse_jacobian", "stack_module_state",
    "structured_hessian", "taylor", "value_and_grad", "vjp", "vmap",
]  # fmt: skip


if not TYPE_CHECKING:  # which knows what there is

    def __getattr__(name: str) -> Any:
        raise AttributeError(
            f"module 'symgrad.func' has no attribute {name!r}: it has {', '.join(__all__)}.",
            name=name,
            obj=sys.modules[__name__],
        )
