"""Naive formulas of likelihoods, physics, finance and geometry, written down before any rule that they might need.

``python -m tests.values.naive_fourth`` prints the table of ``python -m symgrad accuracy`` for them.
"""

from __future__ import annotations

import sys
import warnings

import mpmath

from symgrad.proving.naive import MADE, Formula, _Functions
from tests.values.naive_first import FIRST_ONE
from tests.values.naive_more import table

FOURTH_ONE: dict[str, Formula] = {
    "log1p(e^-2x) - log 2 + x": lambda t, x: t.log1p(t.exp(-2 * x)) - t.log(2 + 0 * x) + x,
    "(cosh x - 1) / x^2": lambda t, x: (t.cosh(x) - 1) / x**2,
    "sinh(x) / x": lambda t, x: t.sinh(x) / x,
    "x / tanh(x) - 1": lambda t, x: x / t.tanh(x) - 1,
    "sqrt(x^2 + x) - x": lambda t, x: t.sqrt(x**2 + x) - x,
    "sqrt(1 + x^2) - sqrt(1 - x^2)": lambda t, x: t.sqrt(1 + x**2) - t.sqrt(1 - x**2),
    "(sqrt(1 + x) - 1) / x": lambda t, x: (t.sqrt(1 + x) - 1) / x,
    "(sqrt(1 + 4 x^2) - 1) / (2 x)": lambda t, x: (t.sqrt(1 + 4 * x**2) - 1) / (2 * x),
    "1/sqrt(1 - x^2) - 1 - x^2/2": lambda t, x: 1 / t.sqrt(1 - x**2) - 1 - x**2 / 2,
    "x - x^2/2 - log(1 + x)": lambda t, x: x - x**2 / 2 - t.log(1 + x),
    "(1 + x) log(1 + x) - x": lambda t, x: (1 + x) * t.log(1 + x) - x,
    "-(1 - p)^2 log p": lambda t, x: -((1 - x) ** 2) * t.log(x),
    "focal(x) = -(1 - sigmoid x)^2 log sigmoid x": lambda t, x: -((1 - t.sigmoid(x)) ** 2) * t.log(t.sigmoid(x)),
    "sigmoid(x)^3": lambda t, x: t.sigmoid(x) ** 3,
    "1 - sigmoid(x)^2": lambda t, x: 1 - t.sigmoid(x) ** 2,
    "softplus(x + 1) - softplus(x)": lambda t, x: t.log(1 + t.exp(x + 1)) - t.log(1 + t.exp(x)),
    "log(1 + e^x) - log 2 - x/2": lambda t, x: t.log((1 + t.exp(x)) / 2) - x / 2,
    "x (1 + erf(x / sqrt 2)) / 2": lambda t, x: x * (1 + t.erf(x / t.sqrt(2 + 0 * x))) / 2,
    "x (1 + tanh(0.8 x)) / 2": lambda t, x: x * (1 + t.tanh(0.8 * x)) / 2,
    "e^(x^2/2) (1 - erf x)": lambda t, x: t.exp(x**2 / 2) * (1 - t.erf(x)),
    "log(1 - erf x)": lambda t, x: t.log(1 - t.erf(x)),
    "x^3 / (e^x - 1), x = h f / k T": lambda t, x: x**3 / (t.exp(x) - 1),
    "x^2 e^x / (e^x - 1)^2": lambda t, x: x**2 * t.exp(x) / (t.exp(x) - 1) ** 2,
    "x^2 e^x / (e^x + 1)^2": lambda t, x: x**2 * t.exp(x) / (t.exp(x) + 1) ** 2,
    "1/(e^x - 1) - 1/x": lambda t, x: 1 / (t.exp(x) - 1) - 1 / x,
    "1/(e^x - 1) - 1/x + 1/2": lambda t, x: 1 / (t.exp(x) - 1) - 1 / x + t.exp(0 * x) / 2,
    "x/(e^x - 1) - log(1 - e^-x)": lambda t, x: x / (t.exp(x) - 1) - t.log(1 - t.exp(-x)),
    "4 (x^-12 - x^-6)": lambda t, x: 4 * (1 / x**12 - 1 / x**6),
    "(1 - e^-x)^2": lambda t, x: (1 - t.exp(-x)) ** 2,
    "e^-2x - 2 e^-x": lambda t, x: t.exp(-2 * x) - 2 * t.exp(-x),
    "x - sin(x) / 2": lambda t, x: x - t.sin(x) / 2,
    "2 atan(e^x) - pi/2": lambda t, x: 2 * t.atan(t.exp(x)) - 2 * t.atan(t.exp(0 * x)),
    "sin(x/2) / x": lambda t, x: t.sin(x / 2) / x,
    "(1 - sin(x)/x) / x^2": lambda t, x: (1 - t.sin(x) / x) / x**2,
    "1/x^2 - cos(x)/(x sin(x))": lambda t, x: 1 / x**2 - t.cos(x) / (x * t.sin(x)),
    "sec x - 1": lambda t, x: 1 / t.cos(x) - 1,
    "x - (1 - e^-x)": lambda t, x: x - (1 - t.exp(-x)),
    "(e^-x - 1 + x) / x^2": lambda t, x: (t.exp(-x) - 1 + x) / x**2,
    "log(1 + x) - log(1 + x/2)": lambda t, x: t.log(1 + x) - t.log(1 + x / 2),
    "-log(-log p)": lambda t, x: -t.log(-t.log(x)),
}
FOURTH_TWO: dict[str, Formula] = {
    "k log m - m": lambda t, k, m: k * t.log(m) - m,
    "k log(k/m) - (k - m)": lambda t, k, m: k * t.log(k / m) - (k - m),
    "2 (y log(y/p) + (1-y) log((1-y)/(1-p)))": lambda t, y, p: (
        2 * (y * t.log(y / p) + (1 - y) * t.log((1 - y) / (1 - p)))
    ),
    "k log(m/(m + r)) + r log(r/(m + r)), r = 3": lambda t, k, m: k * t.log(m / (m + 3)) + 3 * t.log(3 / (m + 3)),
    "-(a + 1)/2 log(1 + x^2/a)": lambda t, x, a: -(a + 1) / 2 * t.log(1 + x**2 / a),
    "(a - 1) log x + 2 log(1 - x)": lambda t, x, a: (a - 1) * t.log(x) + 2 * t.log(1 - x),
    "(log(s) + v^2/2) / v": lambda t, s, v: (t.log(s) + v**2 / 2) / v,
    "log((x + y)/2) - (log x + log y)/2": lambda t, x, y: t.log((x + y) / 2) - (t.log(x) + t.log(y)) / 2,
    "(x + y)/2 - sqrt(x y)": lambda t, x, y: (x + y) / 2 - t.sqrt(x * y),
    "(sqrt x - sqrt y)^2": lambda t, x, y: (t.sqrt(x) - t.sqrt(y)) ** 2,
    "x/y - 1 - log(x/y)": lambda t, x, y: x / y - 1 - t.log(x / y),
    "(x - y)/(log x - log y)": lambda t, x, y: (x - y) / (t.log(x) - t.log(y)),
    "(e^x - e^y)/(x - y)": lambda t, x, y: (t.exp(x) - t.exp(y)) / (x - y),
    "(1 - cos x cos y)": lambda t, x, y: 1 - t.cos(x) * t.cos(y),
    "sin((x-y)/2)^2": lambda t, x, y: t.sin((x - y) / 2) ** 2,
    "x sin(y) - y sin(x)": lambda t, x, y: x * t.sin(y) - y * t.sin(x),
    "x y/(x + y)": lambda t, x, y: x * y / (x + y),
    "1 - x/sqrt(x^2 + y^2)": lambda t, x, y: 1 - x / t.sqrt(x**2 + y**2),
    "tanh(x) - tanh(y) / 2": lambda t, x, y: t.tanh(x) - t.tanh(y) / 2,
    "log(1 + e^x + e^y)": lambda t, x, y: t.log(1 + t.exp(x) + t.exp(y)),
}
MADE.update(FOURTH_ONE, **FOURTH_TWO)
assert FIRST_ONE  # which taught the exact numbers erf and erfc
_Functions.RULES.setdefault("asinh", lambda x, y: 1 / mpmath.sqrt(1 + x * x))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    table([n for n in (*FOURTH_ONE, *FOURTH_TWO) if not sys.argv[1:] or any(a in n for a in sys.argv[1:])])
