"""Entries that are NaN or infinite, of the given derivative or of the exact one."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.check.diagnosis.case import Case
from symgrad.check.report import Diagnosis


def not_finite(case: Case) -> Diagnosis | None:
    """What to say where the derivative is no number, or where there is none to be right."""
    if case.c.shape != case.g.shape:
        return None
    none, bad = ~np.isfinite(case.g), ~np.isfinite(case.c)
    with np.errstate(all="ignore"):
        off = np.abs(case.c - case.g) > case.argument.tolerance
    if np.any(none & (case.c != case.g)) and not np.any(off & ~none):
        return Diagnosis(
            "non-finite",
            f"The exact {case.what} is {_kinds(case.g, none)} here, first at {_first(case, none)}; "
            "there is none to compare with.",
            "another point",
        )
    bad &= ~none
    if not bad.any():
        return None
    return Diagnosis(
        "non-finite",
        f"{some_of(int(bad.sum()), case.c.size)} {_kinds(case.c, bad)}, first {_first(case, bad)}; "
        "the exact one is finite.",
        "0/0, inf - inf, log 0 or an overflowing exp on the way",
    )


def some_of(count: int, size: int) -> str:
    """How many entries it is of which something is said."""
    return f"{count} of {size} entries {'is' if count == 1 else 'are'}"


def _kinds(values: Any, bad: Any) -> str:
    nan = np.isnan(values[bad])
    return "NaN" if nan.all() else "NaN or infinite" if nan.any() else "infinite"


def _first(case: Case, bad: Any) -> str:
    return case.argument.place(tuple(int(k) for k in np.argwhere(bad)[0]))
