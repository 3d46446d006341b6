"""More naive formulas, of statistics, physics and geometry, written down before the rules that some of them needed.

``python tests/values/naive_more.py`` prints the table of ``python -m symgrad accuracy`` for them.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence

from symgrad.proving.naive import MADE, WAYS, Case, Formula

MORE_ONE: dict[str, Formula] = {
    "x - log(1 + x)": lambda t, x: x - t.log(1 + x),
    "log1p(x) - x": lambda t, x: t.log1p(x) - x,
    "expm1(x) / x": lambda t, x: t.expm1(x) / x,
    "(e^x - 1 - x) / x^2": lambda t, x: (t.exp(x) - 1 - x) / x**2,
    "e^x - 1 - x": lambda t, x: t.exp(x) - 1 - x,
    "cosh(x) / sinh(x) - 1 / x": lambda t, x: t.cosh(x) / t.sinh(x) - 1 / x,
    "1 / tanh(x) - 1 / x": lambda t, x: 1 / t.tanh(x) - 1 / x,
    "log(sinh(x) / x)": lambda t, x: t.log(t.sinh(x) / x),
    "log(1 - e^-x) + x": lambda t, x: t.log(1 - t.exp(-x)) + x,
    "tanh(x) / x": lambda t, x: t.tanh(x) / x,
    "x - tanh(x)": lambda t, x: x - t.tanh(x),
    "sin(x) - x": lambda t, x: t.sin(x) - x,
    "(sin(x) - x cos(x)) / x^3": lambda t, x: (t.sin(x) - x * t.cos(x)) / x**3,
    "(x - sin(x)) / x^3": lambda t, x: (x - t.sin(x)) / x**3,
    "log(sigmoid(x) / (1 - sigmoid(x)))": lambda t, x: t.log(t.sigmoid(x) / (1 - t.sigmoid(x))),
    "sigmoid(x)^2 (1 - sigmoid(x))": lambda t, x: t.sigmoid(x) ** 2 * (1 - t.sigmoid(x)),
    "sigmoid(x + 1) - sigmoid(x)": lambda t, x: t.sigmoid(x + 1) - t.sigmoid(x),
    "tanh(x + 1) - tanh(x)": lambda t, x: t.tanh(x + 1) - t.tanh(x),
    "log(1 + e^x) - x": lambda t, x: t.log(1 + t.exp(x)) - x,
    "log(1 + e^x) - log(1 + e^-x)": lambda t, x: t.log(1 + t.exp(x)) - t.log(1 + t.exp(-x)),
    "log((1 + e^x) / 2)": lambda t, x: t.log((1 + t.exp(x)) / 2),
    "sqrt(x + 4) - 2": lambda t, x: t.sqrt(x + 4) - 2,
    "1 / sqrt(x) - 1 / sqrt(x + 1)": lambda t, x: 1 / t.sqrt(x) - 1 / t.sqrt(x + 1),
    "1 - 1 / sqrt(1 + x^2)": lambda t, x: 1 - 1 / t.sqrt(1 + x**2),
    "1 / sqrt(1 - x^2) - 1": lambda t, x: 1 / t.sqrt(1 - x**2) - 1,
    "sqrt(1 - x^2)": lambda t, x: t.sqrt(1 - x**2),
    "(1 + x)^5 - 1": lambda t, x: (1 + x) ** 5 - 1,
    "x^3 / (e^x - 1)": lambda t, x: x**3 / (t.exp(x) - 1),
    "x e^x / (e^x - 1)": lambda t, x: x * t.exp(x) / (t.exp(x) - 1),
    "log(x) / (x - 1)": lambda t, x: t.log(x) / (x - 1),
    "x log(1 + 1/x)": lambda t, x: x * t.log(1 + 1 / x),
    "(1 - e^-x) / (1 + e^-x)": lambda t, x: (1 - t.exp(-x)) / (1 + t.exp(-x)),
    "1 - e^-x^2": lambda t, x: 1 - t.exp(-(x**2)),
    "(1 - e^-x^2) / x^2": lambda t, x: (1 - t.exp(-(x**2))) / x**2,
    "log(1 + e^-x^2)": lambda t, x: t.log(1 + t.exp(-(x**2))),
    "atan(x) - atan(1/x)": lambda t, x: t.atan(x) - t.atan(1 / x),
    "x - atan(x)": lambda t, x: x - t.atan(x),
    "e^-e^-x": lambda t, x: t.exp(-t.exp(-x)),
    "1 - e^-e^x": lambda t, x: 1 - t.exp(-t.exp(x)),
    "log(log(1 + e^x))": lambda t, x: t.log(t.log(1 + t.exp(x))),
    "1 / (1 + e^-x)^2": lambda t, x: 1 / (1 + t.exp(-x)) ** 2,
    "(1 - cos(2x)) / 2": lambda t, x: (1 - t.cos(2 * x)) / 2,
}
MORE_TWO: dict[str, Formula] = {
    "log(e^x - e^y)": lambda t, x, y: t.log(t.exp(x) - t.exp(y)),
    "1 / (1 + e^(y-x))": lambda t, x, y: 1 / (1 + t.exp(y - x)),
    "e^x / (e^x + e^y) - e^y / (e^x + e^y)": lambda t, x, y: (
        t.exp(x) / (t.exp(x) + t.exp(y)) - t.exp(y) / (t.exp(x) + t.exp(y))
    ),
    "x y / sqrt(x^2 + y^2)": lambda t, x, y: x * y / t.sqrt(x**2 + y**2),
    "1 / sqrt(x^2 + y^2)": lambda t, x, y: 1 / t.sqrt(x**2 + y**2),
    "x / (x^2 + y^2)": lambda t, x, y: x / (x**2 + y**2),
    "atan(y) - atan(x)": lambda t, x, y: t.atan(y) - t.atan(x),
    "(x^2 + y^2) / 2 - ((x + y) / 2)^2": lambda t, x, y: (x**2 + y**2) / 2 - ((x + y) / 2) ** 2,
    "y log(sigmoid(x)) + (1 - y) log(1 - sigmoid(x))": lambda t, x, y: (
        y * t.log(t.sigmoid(x)) + (1 - y) * t.log(1 - t.sigmoid(x))
    ),
}
MADE.update(MORE_ONE, **MORE_TWO)


def table(names: Sequence[str]) -> None:
    """Print the errors of the formulas called so."""
    good = dict.fromkeys(WAYS, 0)
    print(f"{'':38}" + "".join(f"{w:>20}" for w in WAYS))
    for name in names:
        case = Case(name)
        text, places = f"{name:38}", []
        for way, run in WAYS.items():
            errors = case.worst(*run(case))
            good[way] += all(e <= 4 for e, _ in errors)
            text += f"{errors[0][0]:10.3g}{errors[1][0]:10.3g}"
            if way == "compiled":
                places = [row for _, row in errors]
        print(text, *places, flush=True)
    print(f"{'within 4 ulp':38}" + "".join(f"{f'{n} of {len(names)}':>20}" for n in good.values()))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    table([n for n in MADE if not sys.argv[1:] or any(a in n for a in sys.argv[1:])])
