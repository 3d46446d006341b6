"""Reductions over masked entries under the names of ``torch.masked``: plain functions of the op table.

>>> import symgrad as sg
>>> sg.masked.sum(sg.tensor([1.0, 2.0]), mask=sg.tensor([True, False]))
tensor(1.)
"""

from __future__ import annotations

import symgrad.tensor  # noqa: F401  (fills the table)
from symgrad.ops.calls.naming import SPACES

globals().update(SPACES["masked"])

__all__ = sorted(name for name in SPACES["masked"] if not name.startswith("_"))  # noqa: PLE0605
