"""Activations, losses and layers under the names of ``torch.nn.functional``; every one is made of ops of the table.

The functions stand in ``symgrad.ops.nn`` (``activations``, ``losses``, ``layers``, ``pooling`` …) and beside it, which
list them for this namespace.

>>> import symgrad as sg
>>> x = sg.tensor([1.0, -1.0], requires_grad=True)
>>> relu(x).sum().backward()
>>> x.grad
tensor([1., 0.])
"""

from __future__ import annotations

import sys
from typing import Any

import symgrad.tensor  # noqa: F401  (fills the table)
from symgrad.ops.calls.naming import SPACES

globals().update(SPACES["nn.functional"])


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"module 'symgrad.nn.functional' has no function {name!r}.", name=name, obj=sys.modules[__name__]
    )


__all__ = sorted(SPACES["nn.functional"])  # noqa: PLE0605
