"""What torch keeps in its ``utils`` and derivatives have a use for: :mod:`symgrad.utils.checkpoint`."""

from __future__ import annotations

from typing import Any

from symgrad.utils import checkpoint

__all__ = ["checkpoint"]


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"module 'symgrad.utils' has no attribute {name!r}: of torch.utils only checkpoint is here; data sets are "
        "arrays and loops."
    )
