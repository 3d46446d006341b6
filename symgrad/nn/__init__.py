"""Neural-network functions under torch's names; see :mod:`symgrad.nn.functional`."""

from __future__ import annotations

from symgrad.nn import functional

__all__ = ["functional"]
