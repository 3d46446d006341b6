"""The classes of results that have several named parts, by the function that gives them, as ``torch.return_types``.

>>> import symgrad as sg
>>> isinstance(sg.tensor([3.0, 1.0]).sort(), sg.return_types.sort)
True
"""

from __future__ import annotations

from symgrad.ops.calls.results import FIELDS, Named, named

__all__ = list(FIELDS)


def __getattr__(name: str) -> type[Named]:
    if name in FIELDS:
        return named(name)
    raise AttributeError(f"module 'symgrad.return_types' has no attribute {name!r}")
