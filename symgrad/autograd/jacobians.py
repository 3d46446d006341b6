"""The Jacobian of recorded tensors: every entry of one by every entry of the other, as number and as closed formula."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.autograd.sweeps import grad
from symgrad.errors import AutogradError
from symgrad.ops.shaping import reshape, stack
from symgrad.tape.origin import Origin, attach
from symgrad.tape.record import plain
from symgrad.tensor import Tensor


def jacobian(outputs: Any, inputs: Any, *, create_graph: bool = False) -> Any:
    r"""The derivative of every entry of ``outputs`` by every entry of ``inputs``, of shape outputs + inputs.

    Both are recorded tensors (for functions see ``autograd.functional.jacobian`` and ``func.jacobian``).  The numbers
    come from one backward pass per entry of ``outputs``, the formula from one derivation for all of them.  The graph is
    kept; with ``create_graph`` the result can be differentiated again.  Raises ``RuntimeError`` when ``outputs`` or
    ``inputs`` does not require grad.

    >>> import symgrad as sg
    >>> A = sg.tensor([[1.0, 2.0], [3.0, 4.0]], name="A")
    >>> x = sg.tensor([1.0, 1.0], requires_grad=True, name="x")
    >>> J = sg.autograd.jacobian((A @ x).tanh(), x)
    >>> J.shape, J.latex()
    (torch.Size([2, 2]), '\\operatorname{diag}\\left(1 - \\tanh^{2}\\left(A x\\right)\\right) A')
    """
    shape, wrt = outputs._value.shape, inputs._value.shape
    rows = []
    for k in range(math.prod(shape)):
        unit = np.zeros(math.prod(shape), outputs.dtype)
        unit[k] = 1
        seed = plain(Tensor, unit.reshape(shape)[()])
        (row,) = grad(outputs, inputs, seed, True, create_graph, allow_unused=True, materialize_grads=True)
        rows.append(row)
    if create_graph:
        return reshape(stack(rows), shape + wrt) if rows else plain(Tensor, np.zeros(shape + wrt, inputs.dtype))
    if not rows and not outputs._requires_grad:
        raise AutogradError("element 0 of tensors does not require grad and does not have a grad_fn")
    value = np.array([r._value for r in rows], inputs.dtype).reshape(shape + wrt)[()]
    origin = Origin([outputs], [None])
    origin.jacobian = True
    return attach(plain(Tensor, value), origin, inputs)
