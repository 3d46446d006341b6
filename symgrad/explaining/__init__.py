"""Questions about a program: why a gradient is as it is, how exact a number is, what other ways lead through it."""

from symgrad.explaining.answer import Cause, Explanation
from symgrad.explaining.asking import explain
from symgrad.explaining.bars import ErrorBars, errorbars
from symgrad.explaining.exploring import explore
from symgrad.explaining.ranking import Contribution
from symgrad.explaining.verifying import Verification, verify
from symgrad.explaining.ways import Ways

__all__ = [
    "Cause", "Contribution", "ErrorBars", "Explanation", "Verification", "Ways", "errorbars", "explain", "explore",
    "verify",
]  # fmt: skip
