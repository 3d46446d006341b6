"""Naive formulas of statistics, optics, relativity and networks, written down before any rule that they might need.

``python -m tests.values.naive_fifth`` prints the table of ``python -m symgrad accuracy`` for them.
"""

from __future__ import annotations

import sys
import warnings

from symgrad.proving.naive import MADE, Formula
from tests.values.naive_fourth import FOURTH_ONE
from tests.values.naive_more import table

FIFTH_ONE: dict[str, Formula] = {
    "1/sqrt(1-v^2) - 1": lambda t, v: 1 / t.sqrt(1 - v**2) - 1,
    "(1 - sqrt(1-v^2)) / v": lambda t, v: (1 - t.sqrt(1 - v**2)) / v,
    "sqrt((1+v)/(1-v)) - 1": lambda t, v: t.sqrt((1 + v) / (1 - v)) - 1,
    "log((1+v)/(1-v)) / 2": lambda t, v: t.log((1 + v) / (1 - v)) / 2,
    "sqrt(p^2 + 1) - 1": lambda t, p: t.sqrt(p**2 + 1) - 1,
    "p^2 / (sqrt(p^2 + 1) + 1)": lambda t, p: p**2 / (t.sqrt(p**2 + 1) + 1),
    "1 - e^-x (1 + x)": lambda t, x: 1 - t.exp(-x) * (1 + x),
    "1 - x / (e^x - 1)": lambda t, x: 1 - x / (t.exp(x) - 1),
    "(1 - e^-x) / x - e^-x": lambda t, x: (1 - t.exp(-x)) / x - t.exp(-x),
    "(e^x - 1)^2 / e^x": lambda t, x: (t.exp(x) - 1) ** 2 / t.exp(x),
    "e^x + e^-x - 2": lambda t, x: t.exp(x) + t.exp(-x) - 2,
    "e^2x - 2 e^x + 1": lambda t, x: t.exp(2 * x) - 2 * t.exp(x) + 1,
    "(e^x - e^-x) / (2 x)": lambda t, x: (t.exp(x) - t.exp(-x)) / (2 * x),
    "e^x / (e^x - 1)": lambda t, x: t.exp(x) / (t.exp(x) - 1),
    "log(e^x - 1) - x": lambda t, x: t.log(t.exp(x) - 1) - x,
    "log(e^x - 1) - log x": lambda t, x: t.log(t.exp(x) - 1) - t.log(x),
    "log(1 + x) / x - 1": lambda t, x: t.log(1 + x) / x - 1,
    "(1 + 1/x) log(1 + x) - 1": lambda t, x: (1 + 1 / x) * t.log(1 + x) - 1,
    "log(1 + x^2) / x": lambda t, x: t.log(1 + x**2) / x,
    "log(sqrt(1 + x^2) + x)": lambda t, x: t.log(t.sqrt(1 + x**2) + x),
    "log(sqrt(x))^2": lambda t, x: t.log(t.sqrt(x)) ** 2,
    "x log x - (x - 1)": lambda t, x: x * t.log(x) - (x - 1),
    "p log p + (1-p) log(1-p)": lambda t, p: p * t.log(p) + (1 - p) * t.log(1 - p),
    "log p - log(1-p)": lambda t, p: t.log(p) - t.log(1 - p),
    "1 - p^3": lambda t, p: 1 - p**3,
    "1 - (1-p)^10": lambda t, p: 1 - (1 - p) ** 10,
    "(1+x)^5 - 1": lambda t, x: (1 + x) ** 5 - 1,
    "tanh(x)^2 - 1": lambda t, x: t.tanh(x) ** 2 - 1,
    "1 - tanh x": lambda t, x: 1 - t.tanh(x),
    "tanh(x/2) - x/2": lambda t, x: t.tanh(x / 2) - x / 2,
    "cosh(x) - 1 - x^2/2": lambda t, x: t.cosh(x) - 1 - x**2 / 2,
    "cosh x - sinh x": lambda t, x: t.cosh(x) - t.sinh(x),
    "sinh(x) - x": lambda t, x: t.sinh(x) - x,
    "log(cosh(x)) / x": lambda t, x: t.log(t.cosh(x)) / x,
    "1 - sin(x)^2": lambda t, x: 1 - t.sin(x) ** 2,
    "1 - cos(x) - sin(x)^2/2": lambda t, x: 1 - t.cos(x) - t.sin(x) ** 2 / 2,
    "tan(x) - sin(x)": lambda t, x: t.tan(x) - t.sin(x),
    "x / sin(x) - 1": lambda t, x: x / t.sin(x) - 1,
    "1 / sin(x) - 1 / tan(x)": lambda t, x: 1 / t.sin(x) - 1 / t.tan(x),
    "(1 - cos(x)) / sin(x)": lambda t, x: (1 - t.cos(x)) / t.sin(x),
    "(sin(x)/x)^2 - 1": lambda t, x: (t.sin(x) / x) ** 2 - 1,
    "x sigmoid(x) - x": lambda t, x: x * t.sigmoid(x) - x,
    "sigmoid(x) - 1/2": lambda t, x: t.sigmoid(x) - t.exp(0 * x) / 2,
    "-log(1 - sigmoid(x)^2)": lambda t, x: -t.log(1 - t.sigmoid(x) ** 2),
    "sigmoid(2x) - sigmoid(x)": lambda t, x: t.sigmoid(2 * x) - t.sigmoid(x),
}
FIFTH_TWO: dict[str, Formula] = {
    "sqrt(x) - sqrt(y)": lambda t, x, y: t.sqrt(x) - t.sqrt(y),
    "log(x) - log(x + y)": lambda t, x, y: t.log(x) - t.log(x + y),
    "log(x^2 + y^2) / 2": lambda t, x, y: t.log(x**2 + y**2) / 2,
    "(x^2 - y^2) / (x^2 + y^2)": lambda t, x, y: (x**2 - y**2) / (x**2 + y**2),
    "x^2 - 2 x y + y^2": lambda t, x, y: x**2 - 2 * x * y + y**2,
    "x^3 - y^3": lambda t, x, y: x**3 - y**3,
    "e^x - e^y": lambda t, x, y: t.exp(x) - t.exp(y),
    "1/(1+x) - 1/(1+y)": lambda t, x, y: 1 / (1 + x) - 1 / (1 + y),
    "1/x^2 - 1/y^2": lambda t, x, y: 1 / x**2 - 1 / y**2,
    "sigmoid(x) - sigmoid(y)": lambda t, x, y: t.sigmoid(x) - t.sigmoid(y),
    "cos(x) - cos(y)": lambda t, x, y: t.cos(x) - t.cos(y),
    "(tanh(x) - tanh(y)) / (1 - tanh(x) tanh(y))": lambda t, x, y: (
        (t.tanh(x) - t.tanh(y)) / (1 - t.tanh(x) * t.tanh(y))
    ),
    "(u + v) / (1 + u v)": lambda t, u, v: (u + v) / (1 + u * v),
    "log(e^x + e^y) - (x + y)/2": lambda t, x, y: t.log(t.exp(x) + t.exp(y)) - (x + y) / 2,
    "e^x/(e^x + e^y) - 1": lambda t, x, y: t.exp(x) / (t.exp(x) + t.exp(y)) - 1,
    "sqrt(x^2 + y^2) - x": lambda t, x, y: t.sqrt(x**2 + y**2) - x,
    "1/sqrt(x) - 1/sqrt(y)": lambda t, x, y: 1 / t.sqrt(x) - 1 / t.sqrt(y),
    "log(1 + x y) - log(1 + x)": lambda t, x, y: t.log(1 + x * y) - t.log(1 + x),
}
MADE.update(FIFTH_ONE, **FIFTH_TWO)
assert FOURTH_ONE  # which taught the exact numbers asinh


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    table([n for n in (*FIFTH_ONE, *FIFTH_TWO) if not sys.argv[1:] or any(a in n for a in sys.argv[1:])])
