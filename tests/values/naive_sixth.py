"""Naive formulas of finance, chemistry, astronomy and learning, written down before any rule that they might need.

``python -m tests.values.naive_sixth`` prints the table of ``python -m symgrad accuracy`` for them.
"""

from __future__ import annotations

import sys
import warnings

from symgrad.proving.naive import MADE, Formula
from tests.values.naive_fourth import FOURTH_ONE
from tests.values.naive_more import table

SIXTH_ONE: dict[str, Formula] = {
    "1 / (e^x - 1) - 1/x": lambda t, x: 1 / (t.exp(x) - 1) - 1 / x,
    "x^3 / (e^x - 1)": lambda t, x: x**3 / (t.exp(x) - 1),
    "1 / (1 + e^x)^2": lambda t, x: 1 / (1 + t.exp(x)) ** 2,
    "log(1 - e^-x)": lambda t, x: t.log(1 - t.exp(-x)),
    "log(1 - e^-x^2)": lambda t, x: t.log(1 - t.exp(-(x**2))),
    "-log(1 - e^(-e^x))": lambda t, x: -t.log(1 - t.exp(-t.exp(x))),
    "1 - e^(-e^x)": lambda t, x: 1 - t.exp(-t.exp(x)),
    "log(log(1 + e^x))": lambda t, x: t.log(t.log(1 + t.exp(x))),
    "log(1 + e^x)^2": lambda t, x: t.log(1 + t.exp(x)) ** 2,
    "sqrt(1 + e^x)": lambda t, x: t.sqrt(1 + t.exp(x)),
    "sqrt(1 + e^x) - 1": lambda t, x: t.sqrt(1 + t.exp(x)) - 1,
    "e^x sqrt(1 + e^-2x)": lambda t, x: t.exp(x) * t.sqrt(1 + t.exp(-2 * x)),
    "e^x / sqrt(1 + e^2x)": lambda t, x: t.exp(x) / t.sqrt(1 + t.exp(2 * x)),
    "atan(e^x)": lambda t, x: t.atan(t.exp(x)),
    "2 atan(e^x) - 2 atan(1)": lambda t, x: 2 * t.atan(t.exp(x)) - 2 * t.atan(t.exp(0 * x)),
    "2 atan(tanh(x/2))": lambda t, x: 2 * t.atan(t.tanh(x / 2)),
    "4 / (e^x + e^-x)^2": lambda t, x: 4 / (t.exp(x) + t.exp(-x)) ** 2,
    "1 / cosh(x)^2": lambda t, x: 1 / t.cosh(x) ** 2,
    "x / tanh(x) - 1": lambda t, x: x / t.tanh(x) - 1,
    "x^2 / sinh(x)^2": lambda t, x: x**2 / t.sinh(x) ** 2,
    "log(sinh(x) / x)": lambda t, x: t.log(t.sinh(x) / x),
    "log(tanh(x/2))": lambda t, x: t.log(t.tanh(x / 2)),
    "(1+x)^2 / (1+x^2)": lambda t, x: (1 + x) ** 2 / (1 + x**2),
    "x^2 / (1 + x^2)": lambda t, x: x**2 / (1 + x**2),
    "x^4 / (1 + x^4)": lambda t, x: x**4 / (1 + x**4),
    "x / sqrt(1 + x^2) - 1": lambda t, x: x / t.sqrt(1 + x**2) - 1,
    "(1 + x/sqrt(1 + x^2)) / 2": lambda t, x: (1 + x / t.sqrt(1 + x**2)) / 2,
    "1/(1 + x) - 1 + x": lambda t, x: 1 / (1 + x) - 1 + x,
    "x/(1+x) - log(1+x)": lambda t, x: x / (1 + x) - t.log(1 + x),
    "(1+x) log(1+x) - x": lambda t, x: (1 + x) * t.log(1 + x) - x,
    "log(1 + 1/x^2)": lambda t, x: t.log(1 + 1 / x**2),
    "x log(1 + 1/x)": lambda t, x: x * t.log(1 + 1 / x),
    "1 - x log(1 + 1/x)": lambda t, x: 1 - x * t.log(1 + 1 / x),
    "(1 + 1/x)^x": lambda t, x: t.exp(x * t.log(1 + 1 / x)),
    "sqrt(x + 1/x)": lambda t, x: t.sqrt(x + 1 / x),
    "x sqrt(1 - 1/x^2)": lambda t, x: x * t.sqrt(1 - 1 / x**2),
    "(1 - p)^10": lambda t, p: (1 - p) ** 10,
    "-log(1 - (1-p)^2)": lambda t, p: -t.log(1 - (1 - p) ** 2),
    "p (1-p) / (p^2 + (1-p)^2)": lambda t, p: p * (1 - p) / (p**2 + (1 - p) ** 2),
    "1 - x^2/2 - cos(x)": lambda t, x: 1 - x**2 / 2 - t.cos(x),
    "3 (sin(x) - x cos(x)) / x^3": lambda t, x: 3 * (t.sin(x) - x * t.cos(x)) / x**3,
    "sin(x)^2 / x^2": lambda t, x: t.sin(x) ** 2 / x**2,
    "(2 - 2 cos(x)) / x^2": lambda t, x: (2 - 2 * t.cos(x)) / x**2,
    "sin(x) cos(x)": lambda t, x: t.sin(x) * t.cos(x),
    "1 - erf(x)^2": lambda t, x: 1 - t.erf(x) ** 2,
    "x sigmoid(x) + log(1 - sigmoid(x))": lambda t, x: x * t.sigmoid(x) + t.log(1 - t.sigmoid(x)),
    "sigmoid(x) / (1 - sigmoid(x))": lambda t, x: t.sigmoid(x) / (1 - t.sigmoid(x)),
    "sigmoid(x)^2 + (1 - sigmoid(x))^2": lambda t, x: t.sigmoid(x) ** 2 + (1 - t.sigmoid(x)) ** 2,
}
SIXTH_TWO: dict[str, Formula] = {
    "log(1 + e^x) - log(1 + e^y)": lambda t, x, y: t.log(1 + t.exp(x)) - t.log(1 + t.exp(y)),
    "1 / (e^x + e^y)": lambda t, x, y: 1 / (t.exp(x) + t.exp(y)),
    "e^(x+y) / (e^x + e^y)": lambda t, x, y: t.exp(x + y) / (t.exp(x) + t.exp(y)),
    "x y / (x + y)": lambda t, x, y: x * y / (x + y),
    "x^2 / (x^2 + y^2)": lambda t, x, y: x**2 / (x**2 + y**2),
    "(x - y)^2 / (x + y)": lambda t, x, y: (x - y) ** 2 / (x + y),
    "sqrt(x^2 + x y + y^2)": lambda t, x, y: t.sqrt(x**2 + x * y + y**2),
    "(x y - 1) / (x + y)": lambda t, x, y: (x * y - 1) / (x + y),
    "sqrt((1 - x) (1 - y))": lambda t, x, y: t.sqrt((1 - x) * (1 - y)),
    "x log(x / y) - x + y": lambda t, x, y: x * t.log(x / y) - x + y,
    "1 - (1 - x) (1 - y)": lambda t, x, y: 1 - (1 - x) * (1 - y),
    "log(x + y) - (log(x) + log(y)) / 2": lambda t, x, y: t.log(x + y) - (t.log(x) + t.log(y)) / 2,
}
MADE.update(SIXTH_ONE, **SIXTH_TWO)
assert FOURTH_ONE  # which taught the exact numbers asinh


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    table([n for n in (*SIXTH_ONE, *SIXTH_TWO) if not sys.argv[1:] or any(a in n for a in sys.argv[1:])])
