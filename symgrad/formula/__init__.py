"""The formula language: terms, their derivatives, canonical forms, and the ways out to SymPy and LaTeX and back in.

The package is also the function :func:`symgrad.notation.formula`, so ``symgrad.formula(t)`` gives the formula of ``t``.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from symgrad.formula import shortcuts as shortcuts


class _Package(types.ModuleType):
    def __call__(self, value: Any, *args: Any, **options: Any) -> Any:
        from symgrad.notation import formula

        return formula(value, *args, **options)


sys.modules[__name__].__class__ = _Package
