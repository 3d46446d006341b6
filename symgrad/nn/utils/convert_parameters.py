"""Many parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from symgrad.tensor import FUNCTIONS

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Any]) -> Any:
    """All entries of all parameters as one vector, which is differentiable by them.

    >>> import symgrad as sg
    >>> sg.nn.utils.parameters_to_vector([sg.ones(1, 2), sg.zeros(1)])
    tensor([1., 1., 0.])
    """
    return FUNCTIONS["cat"]([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Any, parameters: Iterable[Any]) -> None:
    """Give the parameters the entries of one vector, the inverse of :func:`parameters_to_vector`.

    >>> import symgrad as sg
    >>> w, b = sg.zeros(2, 2), sg.zeros(1)
    >>> sg.nn.utils.vector_to_parameters(sg.arange(5.0), [w, b])
    >>> w, b
    (tensor([[0., 1.],
            [2., 3.]]), tensor([4.]))
    """
    start = 0
    for p in parameters:
        p.data = vec[start : start + p.numel()].view_as(p).data
        start += p.numel()
