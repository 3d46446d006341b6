"""Gradients of a batch by several processes, with the same bits whatever their number.

The batch is cut into chunks, the standard library's processes compute their gradients, and these are added in a tree
that depends on the chunks alone.  Arrays go through memory that all processes see.
"""

from __future__ import annotations

from symgrad.parallel.calls import ParallelGradient, value_and_grad
from symgrad.parallel.memory import share

__all__ = ["ParallelGradient", "share", "value_and_grad"]
