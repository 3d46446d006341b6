"""Judging formulas that people write: ``symgrad.judge(text, of=f, wrt="x")``."""

from symgrad.judging.case import judge
from symgrad.judging.verdict import Verdict

__all__ = ["Verdict", "judge"]
