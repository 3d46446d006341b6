"""Checking anybody's gradient against the exact one, and saying what the mistake is.

``symgrad.check(f, grad, *args)`` runs ``f`` on tensors, so that the tape knows its exact gradient, compares ``grad``
with it entry by entry, and looks for the mistake that explains the difference.  ``grad`` may be a gradient, a Jacobian,
a vjp, a jvp or an elementwise derivative (:mod:`symgrad.check.asking.kinds`).  The tolerance is not a guess: it
follows from the dtype of the gradient and from how much the exact one moves when the inputs move by a rounding error.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from symgrad.check.report import ArgumentReport, Diagnosis, Report
from symgrad.check.run import assert_gradient, check

__all__ = ["ArgumentReport", "Diagnosis", "Report", "assert_gradient", "check"]

# The function stands in the place of this package in ``symgrad``: what the package has is found there, too.
vars(check).update({name: globals()[name] for name in __all__ if name != "check"})


class _CallableModule(ModuleType):
    """Importing this package leaves it under the name of its function; either may be called."""

    def __call__(self, *args: Any, **options: Any) -> Report:
        return check(*args, **options)


sys.modules[__name__].__class__ = _CallableModule
