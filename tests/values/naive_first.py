"""Formulas that users type first, written down before any rule that they might need: how many keep their digits.

``python tests/values/naive_first.py`` prints the table of ``python -m symgrad accuracy`` for them.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import mpmath

from symgrad.proving.naive import MADE, Formula, _Functions
from tests.values.naive_more import table


def _erfc(x: Any) -> Any:
    """mpmath's, which is slow for numbers so large that there is no float of its size."""
    if x > 1e4:
        raise ValueError
    return mpmath.erfc(x)


FIRST_ONE: dict[str, Formula] = {
    "x - sin x": lambda t, x: x - t.sin(x),
    "1 / x - 1 / sin x": lambda t, x: 1 / x - 1 / t.sin(x),
    "1 - cos(x)^2": lambda t, x: 1 - t.cos(x) ** 2,
    "tan x - x": lambda t, x: t.tan(x) - x,
    "tan x - sin x": lambda t, x: t.tan(x) - t.sin(x),
    "log(1+e^(2x))/2": lambda t, x: t.log(1 + t.exp(2 * x)) / 2,
    "log(1+e^(-|x|)) + |x|/2": lambda t, x: t.log(1 + t.exp(-t.abs(x))) + t.abs(x) / 2,
    "log(1+e^(x-3))": lambda t, x: t.log(1 + t.exp(x - 3)),
    "-log(1-e^-x)": lambda t, x: -t.log(1 - t.exp(-x)),
    "log(1-e^x)": lambda t, x: t.log(1 - t.exp(x)),
    "e^(x+1)-e^x": lambda t, x: t.exp(x + 1) - t.exp(x),
    "(e^x-e^-x)/(2x)": lambda t, x: (t.exp(x) - t.exp(-x)) / (2 * x),
    "1 - tanh x": lambda t, x: 1 - t.tanh(x),
    "1 + tanh x": lambda t, x: 1 + t.tanh(x),
    "(1+tanh(x/2))/2": lambda t, x: (1 + t.tanh(x / 2)) / 2,
    "-log((1-tanh x)/2)": lambda t, x: -t.log((1 - t.tanh(x)) / 2),
    "1 - 2/(e^2x+1)": lambda t, x: 1 - 2 / (t.exp(2 * x) + 1),
    "-3 log(1+x^2/5)": lambda t, x: -3 * t.log(1 + x**2 / 5),
    "sqrt(1+x)-1": lambda t, x: t.sqrt(1 + x) - 1,
    "(sqrt(1+4x)-1)/2": lambda t, x: (t.sqrt(1 + 4 * x) - 1) / 2,
    "1 - sqrt(1-x)": lambda t, x: 1 - t.sqrt(1 - x),
    "x - sqrt(x^2-1)": lambda t, x: x - t.sqrt(x**2 - 1),
    "-p log2 p - (1-p) log2(1-p)": lambda t, x: -x * t.log2(x) - (1 - x) * t.log2(1 - x),
    "p log p - p": lambda t, x: x * t.log(x) - x,
    "x log x - (x+1) log(x+1)": lambda t, x: x * t.log(x) - (x + 1) * t.log(x + 1),
    "1/(1-x) - 1": lambda t, x: 1 / (1 - x) - 1,
    "1/(x-1) - 1/(x+1)": lambda t, x: 1 / (x - 1) - 1 / (x + 1),
    "acos(1-x)": lambda t, x: t.acos(1 - x),
    "acosh(1+x)": lambda t, x: t.acosh(1 + x),
    "sqrt(1-cos x)": lambda t, x: t.sqrt(1 - t.cos(x)),
    "sqrt(2-2cos x)": lambda t, x: t.sqrt(2 - 2 * t.cos(x)),
    "1 - erf x": lambda t, x: 1 - t.erf(x),
    "e^(x^2) erfc(x)": lambda t, x: t.exp(x**2) * t.erfc(x),
    "log erfc x": lambda t, x: t.log(t.erfc(x)),
    "log x - log(1-x)": lambda t, x: t.log(x) - t.log(1 - x),
    "-log sigmoid(-x)": lambda t, x: -t.log(t.sigmoid(-x)),
    "-log(1-1/(1+e^-x))": lambda t, x: -t.log(1 - 1 / (1 + t.exp(-x))),
    "x + log(1+e^-x)": lambda t, x: x + t.log(1 + t.exp(-x)),
    "log(e^x+1) - x/2": lambda t, x: t.log(t.exp(x) + 1) - x / 2,
    "x^2/(sqrt(1+x^2)+1)": lambda t, x: x**2 / (t.sqrt(1 + x**2) + 1),
    "x sigmoid(x)": lambda t, x: x * t.sigmoid(x),
    "e^-x/(1+e^-x)^2": lambda t, x: t.exp(-x) / (1 + t.exp(-x)) ** 2,
    "x/(e^x-e^-x)": lambda t, x: x / (t.exp(x) - t.exp(-x)),
    "(e^x+e^-x)/(e^x-e^-x) - 1": lambda t, x: (t.exp(x) + t.exp(-x)) / (t.exp(x) - t.exp(-x)) - 1,
    "(1-e^-x)/x": lambda t, x: (1 - t.exp(-x)) / x,
    "(1-(1+x)e^-x)/x^2": lambda t, x: (1 - (1 + x) * t.exp(-x)) / x**2,
    "sqrt(x) - sqrt(x-1)": lambda t, x: t.sqrt(x) - t.sqrt(x - 1),
    "cos(x+1)-cos(x)": lambda t, x: t.cos(x + 1) - t.cos(x),
    "x^2 - sin(x)^2": lambda t, x: x**2 - t.sin(x) ** 2,
}
FIRST_TWO: dict[str, Formula] = {
    "p log(p/q)": lambda t, x, y: x * t.log(x / y),
    "p log p - p log q": lambda t, x, y: x * t.log(x) - x * t.log(y),
    "p log(p/q) - p + q": lambda t, x, y: x * t.log(x / y) - x + y,
    "-y+sqrt(y^2+x)": lambda t, x, y: -y + t.sqrt(y**2 + x),
    "(-y+sqrt(y^2-4x))/2": lambda t, x, y: (-y + t.sqrt(y**2 - 4 * x)) / 2,
    "x^2 - 2xy + y^2": lambda t, x, y: x**2 - 2 * x * y + y**2,
    "sqrt(x^2 - 2xy + y^2 + 1)": lambda t, x, y: t.sqrt(x**2 - 2 * x * y + y**2 + 1),
    "1/x - 1/y": lambda t, x, y: 1 / x - 1 / y,
    "log x - log y": lambda t, x, y: t.log(x) - t.log(y),
    "log(x/(x+y))": lambda t, x, y: t.log(x / (x + y)),
    "(x-y)/(x+y)": lambda t, x, y: (x - y) / (x + y),
    "e^x - e^y": lambda t, x, y: t.exp(x) - t.exp(y),
    "e^-x - e^-y": lambda t, x, y: t.exp(-x) - t.exp(-y),
    "sqrt x - sqrt y": lambda t, x, y: t.sqrt(x) - t.sqrt(y),
    "log(e^x+e^y) - y": lambda t, x, y: t.log(t.exp(x) + t.exp(y)) - y,
    "y x - log(1+e^x)": lambda t, x, y: y * x - t.log(1 + t.exp(x)),
    "log(1+e^(-xy))": lambda t, x, y: t.log(1 + t.exp(-x * y)),
    "log((e^x+e^y)/2)": lambda t, x, y: t.log((t.exp(x) + t.exp(y)) / 2),
    "cos x - cos y": lambda t, x, y: t.cos(x) - t.cos(y),
    "tanh x - tanh y": lambda t, x, y: t.tanh(x) - t.tanh(y),
    "sin(x+y)-sin(x)": lambda t, x, y: t.sin(x + y) - t.sin(x),
    "x/(x+y)": lambda t, x, y: x / (x + y),
    "1/(e^((x-y))+1)": lambda t, x, y: 1 / (t.exp(x - y) + 1),
    "sqrt(x^2+y^2)-x": lambda t, x, y: t.sqrt(x**2 + y**2) - x,
    "e^(-(x-y)^2/2)": lambda t, x, y: t.exp(-((x - y) ** 2) / 2),
}
MADE.update(FIRST_ONE, **FIRST_TWO)
_Functions.RULES.update(
    acos=lambda x, y: -1 / mpmath.sqrt(1 - x * x),
    acosh=lambda x, y: 1 / mpmath.sqrt(x * x - 1),
    erf=lambda x, y: 2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-x * x),
    erfc=lambda x, y: -2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-x * x),
    log2=lambda x, y: 1 / (x * mpmath.log(2)),
)
_Functions.CALLS.update(log2=lambda x: mpmath.log(x) / mpmath.log(2), erfc=_erfc)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    table([n for n in (*FIRST_ONE, *FIRST_TWO) if not sys.argv[1:] or any(a in n for a in sys.argv[1:])])
