"""Questions about numbers: why a gradient is as it is, whether a number is that of its formula, how exact it is."""

from symgrad.explaining.answer import Cause, Explanation
from symgrad.explaining.asking import explain
from symgrad.explaining.bars import ErrorBars, errorbars
from symgrad.explaining.verifying import Verification, verify

__all__ = ["Cause", "ErrorBars", "Explanation", "Verification", "errorbars", "explain", "verify"]
