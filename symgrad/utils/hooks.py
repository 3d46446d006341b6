"""What registering a hook returns, where torch has it."""

from symgrad.autograd.graphs.hooks import RemovableHandle

__all__ = ["RemovableHandle"]
