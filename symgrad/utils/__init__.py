"""What torch keeps in its ``utils`` and derivatives have a use for: checkpoints, batches, handles, and ``_pytree``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symgrad.utils import _pytree as _pytree, checkpoint, data, dlpack, hooks

__all__ = ["checkpoint", "data", "dlpack", "hooks"]


if not TYPE_CHECKING:  # which knows what there is

    def __getattr__(name: str) -> Any:
        raise AttributeError(
            f"module 'symgrad.utils' has no attribute {name!r}: of torch.utils only checkpoint, data, dlpack, hooks "
            "and _pytree are here."
        )
