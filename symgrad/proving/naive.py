"""Naive formulas of the field, with exact values and derivatives: how many last digits a program gets wrong.

For every formula the largest error of the value and of the derivatives, in units in the last place of the exact result
at the float64 input, over points from 5e-324 to 1.8e308: ``python -m symgrad accuracy``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import mpmath
import numpy as np

from symgrad.autograd import grad as pulled
from symgrad.compiler import compile as compiled_of
from symgrad.func import grad
from symgrad.notation import formula as formula_of
from symgrad.op import lookup
from symgrad.tensor.creation import tensor

TINY, SMALL, HUGE = 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308
LIMITS = [0.5, 1.0, 2.0, 3.0, math.pi / 2, math.pi, 2 * math.pi, 7.3, 12.1, 20.0, 26.0, 27.3, 36.7, 37.5, 101.7, 177.4]
LIMITS += [354.9, 372.6, 709.7, 709.79, 710.4, 744.0, 745.2, 1000.0, 1.3e154, 1.4e154, 1e160]
PRECISIONS = (250, 1300, 5200)


class _Ops:
    """The ops by their names, as what the formulas call."""

    def __getattr__(self, name: str) -> Any:
        return lookup(name)


OPS = _Ops()


class Exact:
    """A number of mpmath with its derivatives by the inputs: what the library's results are compared with."""

    def __init__(self, value: Any, slopes: Sequence[Any]):
        self.value = value
        self.slopes = list(slopes)

    def made(self, value: Any, *parts: tuple[Any, Any]) -> Exact:
        """The number with these parts of its derivatives."""
        slopes = [sum((c * s for c, s in zip([c for c, _ in parts], row, strict=True)), mpmath.mpf(0))
                  for row in zip(*(x.slopes for _, x in parts), strict=True)]  # fmt: skip
        return Exact(value, slopes)

    def _other(self, other: Any) -> Exact:
        return other if isinstance(other, Exact) else Exact(mpmath.mpf(other), [mpmath.mpf(0)] * len(self.slopes))

    def __add__(self, other: Any) -> Exact:
        other = self._other(other)
        return self.made(self.value + other.value, (1, self), (1, other))

    __radd__ = __add__

    def __neg__(self) -> Exact:
        return self.made(-self.value, (-1, self))

    def __sub__(self, other: Any) -> Exact:
        return self + -self._other(other)

    def __rsub__(self, other: Any) -> Exact:
        return self._other(other) - self

    def __mul__(self, other: Any) -> Exact:
        other = self._other(other)
        return self.made(self.value * other.value, (other.value, self), (self.value, other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Exact:
        other = self._other(other)
        return self.made(self.value / other.value, (1 / other.value, self), (-self.value / other.value**2, other))

    def __rtruediv__(self, other: Any) -> Exact:
        return self._other(other) / self

    def __pow__(self, n: int) -> Exact:
        return self.made(self.value**n, (n * self.value ** (n - 1), self))


def _exp(x: Any) -> Any:
    if x and mpmath.mag(x) > 2**13:
        raise ValueError(f"e to a power with {mpmath.mag(x)} bits")
    return mpmath.exp(x)


class _Functions:
    """The functions that the formulas call, on exact numbers."""

    RULES: ClassVar[dict[str, Callable[[Any, Any], Any]]] = {
        "exp": lambda x, y: y,
        "log": lambda x, y: 1 / x,
        "log1p": lambda x, y: 1 / (1 + x),
        "expm1": lambda x, y: y + 1,
        "sqrt": lambda x, y: 1 / (2 * y),
        "sin": lambda x, y: mpmath.cos(x),
        "cos": lambda x, y: -mpmath.sin(x),
        "tan": lambda x, y: 1 + y * y,
        "tanh": lambda x, y: 1 - y * y,
        "cosh": lambda x, y: mpmath.sinh(x),
        "sinh": lambda x, y: mpmath.cosh(x),
        "atan": lambda x, y: 1 / (1 + x * x),
        "sigmoid": lambda x, y: y * (1 - y),
        "abs": lambda x, y: mpmath.sign(x) if x else mpmath.nan,
    }
    CALLS: ClassVar[dict[str, Callable[[Any], Any]]] = {
        "exp": _exp,
        "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
        "abs": abs,
        "log1p": lambda x: mpmath.log(1 + x),
        "expm1": lambda x: mpmath.exp(x) - 1,
    }

    def __getattr__(self, name: str) -> Callable[[Exact], Exact]:
        if name not in self.RULES:
            raise AttributeError(name)
        rule = self.RULES[name]
        call = self.CALLS.get(name) or getattr(mpmath, name)

        def apply(x: Exact) -> Exact:
            y = call(x.value)
            if isinstance(y, mpmath.mpc):
                raise ValueError(f"{name} of {x.value} is complex")
            return x.made(y, (rule(x.value, y), x))

        return apply


EXACT = _Functions()

Formula = Callable[..., Any]

ONE: dict[str, Formula] = {
    "log1p(e^x)": lambda t, x: t.log1p(t.exp(x)),
    "log(1 + e^x)": lambda t, x: t.log(1 + t.exp(x)),
    "log(1 + e^-x)": lambda t, x: t.log(1 + t.exp(-x)),
    "1 / (1 + e^-x)": lambda t, x: 1 / (1 + t.exp(-x)),
    "e^x / (1 + e^x)": lambda t, x: t.exp(x) / (1 + t.exp(x)),
    "e^x / (1 + e^x)^2": lambda t, x: t.exp(x) / (1 + t.exp(x)) ** 2,
    "-log(1 / (1 + e^-x))": lambda t, x: -t.log(1 / (1 + t.exp(-x))),
    "log sigmoid(x)": lambda t, x: t.log(t.sigmoid(x)),
    "-log(1 - sigmoid(x))": lambda t, x: -t.log(1 - t.sigmoid(x)),
    "1 - 1 / (1 + e^-x)": lambda t, x: 1 - 1 / (1 + t.exp(-x)),
    "sigmoid(x) (1 - sigmoid(x))": lambda t, x: t.sigmoid(x) * (1 - t.sigmoid(x)),
    "(e^x - e^-x) / (e^x + e^-x)": lambda t, x: (t.exp(x) - t.exp(-x)) / (t.exp(x) + t.exp(-x)),
    "(e^2x - 1) / (e^2x + 1)": lambda t, x: (t.exp(2 * x) - 1) / (t.exp(2 * x) + 1),
    "2 / (1 + e^-2x) - 1": lambda t, x: 2 / (1 + t.exp(-2 * x)) - 1,
    "1 - tanh(x)^2": lambda t, x: 1 - t.tanh(x) ** 2,
    "log cosh x": lambda t, x: t.log(t.cosh(x)),
    "log(e^x + e^-x)": lambda t, x: t.log(t.exp(x) + t.exp(-x)),
    "(e^x - e^-x) / 2": lambda t, x: (t.exp(x) - t.exp(-x)) / 2,
    "(e^x + e^-x) / 2": lambda t, x: (t.exp(x) + t.exp(-x)) / 2,
    "2 / (e^x + e^-x)": lambda t, x: 2 / (t.exp(x) + t.exp(-x)),
    "cosh x - 1": lambda t, x: t.cosh(x) - 1,
    "x / (1 + e^-x)": lambda t, x: x / (1 + t.exp(-x)),
    "x tanh log(1 + e^x)": lambda t, x: x * t.tanh(t.log(1 + t.exp(x))),
    "log(1 - e^-x)": lambda t, x: t.log(1 - t.exp(-x)),
    "log(e^x - 1)": lambda t, x: t.log(t.exp(x) - 1),
    "e^x - 1": lambda t, x: t.exp(x) - 1,
    "1 - e^-x": lambda t, x: 1 - t.exp(-x),
    "1 / (e^x - 1)": lambda t, x: 1 / (t.exp(x) - 1),
    "(e^x - 1) / x": lambda t, x: (t.exp(x) - 1) / x,
    "x / (e^x - 1)": lambda t, x: x / (t.exp(x) - 1),
    "log e^x": lambda t, x: t.log(t.exp(x)),
    "log(1 + x)": lambda t, x: t.log(1 + x),
    "log(1 + x) / x": lambda t, x: t.log(1 + x) / x,
    "log((1 + x) / (1 - x)) / 2": lambda t, x: t.log((1 + x) / (1 - x)) / 2,
    "log(1 + x) - log(1 - x)": lambda t, x: t.log(1 + x) - t.log(1 - x),
    "log(x / (1 - x))": lambda t, x: t.log(x / (1 - x)),
    "log(x + 1) - log(x)": lambda t, x: t.log(x + 1) - t.log(x),
    "x log x": lambda t, x: x * t.log(x),
    "-x log x - (1 - x) log(1 - x)": lambda t, x: -x * t.log(x) - (1 - x) * t.log(1 - x),
    "log(x + sqrt(x^2 + 1))": lambda t, x: t.log(x + t.sqrt(x**2 + 1)),
    "log(x + sqrt(x^2 - 1))": lambda t, x: t.log(x + t.sqrt(x**2 - 1)),
    "log(1 + x^2)": lambda t, x: t.log(1 + x**2),
    "sqrt(x^2 + 1)": lambda t, x: t.sqrt(x**2 + 1),
    "sqrt(x^2 + 1) - x": lambda t, x: t.sqrt(x**2 + 1) - x,
    "sqrt(x^2 + 1) - 1": lambda t, x: t.sqrt(x**2 + 1) - 1,
    "sqrt(x + 1) - sqrt(x)": lambda t, x: t.sqrt(x + 1) - t.sqrt(x),
    "sqrt(1 + x) - sqrt(1 - x)": lambda t, x: t.sqrt(1 + x) - t.sqrt(1 - x),
    "x / sqrt(x^2 + 1)": lambda t, x: x / t.sqrt(x**2 + 1),
    "1 / x - 1 / (x + 1)": lambda t, x: 1 / x - 1 / (x + 1),
    "x / (1 + |x|)": lambda t, x: x / (1 + t.abs(x)),
    "1 / (1 + x^2)": lambda t, x: 1 / (1 + x**2),
    "x / (1 + x^2)": lambda t, x: x / (1 + x**2),
    "(x + 1)^2 - x^2": lambda t, x: (x + 1) ** 2 - x**2,
    "atan(x + 1) - atan(x)": lambda t, x: t.atan(x + 1) - t.atan(x),
    "1 - cos x": lambda t, x: 1 - t.cos(x),
    "(1 - cos x) / x^2": lambda t, x: (1 - t.cos(x)) / x**2,
    "(1 - cos x) / sin x": lambda t, x: (1 - t.cos(x)) / t.sin(x),
    "sin x / x": lambda t, x: t.sin(x) / x,
    "e^-x^2": lambda t, x: t.exp(-(x**2)),
    "e^-x^2/2 / (e^-x^2/2 + e^-(x-1)^2/2)": lambda t, x: (
        t.exp(-(x**2) / 2) / (t.exp(-(x**2) / 2) + t.exp(-((x - 1) ** 2) / 2))
    ),
    "x e^-x": lambda t, x: x * t.exp(-x),
}
TWO: dict[str, Formula] = {
    "log(e^x + e^y)": lambda t, x, y: t.log(t.exp(x) + t.exp(y)),
    "e^x / (e^x + e^y)": lambda t, x, y: t.exp(x) / (t.exp(x) + t.exp(y)),
    "log(e^x / (e^x + e^y))": lambda t, x, y: t.log(t.exp(x) / (t.exp(x) + t.exp(y))),
    "sqrt(x^2 + y^2)": lambda t, x, y: t.sqrt(x**2 + y**2),
    "x / sqrt(x^2 + y^2)": lambda t, x, y: x / t.sqrt(x**2 + y**2),
    "log(x^2 + y^2)": lambda t, x, y: t.log(x**2 + y**2),
    "x^2 - y^2": lambda t, x, y: x**2 - y**2,
}


MADE: dict[str, Formula] = {}
"""Formulas that other modules add."""


def _sums(t: Any, *x: Any) -> Any:
    return t.exp(x[0]) + t.exp(x[1]) + t.exp(x[2])


ROWS: dict[str, tuple[Formula, Formula]] = {
    "log sum e^x": (lambda x: OPS.log(OPS.exp(x).sum(-1)), lambda *x: EXACT.log(_sums(EXACT, *x))),
    "e^x / sum e^x": (
        lambda x: (OPS.exp(x) / OPS.exp(x).sum(-1, keepdim=True))[:, 0],
        lambda *x: EXACT.exp(x[0]) / _sums(EXACT, *x),
    ),
    "-log(e^x / sum e^x)": (
        lambda x: -OPS.log(OPS.exp(x) / OPS.exp(x).sum(-1, keepdim=True))[:, 0],
        lambda *x: -EXACT.log(EXACT.exp(x[0]) / _sums(EXACT, *x)),
    ),
}
"""Formulas of three numbers that stand in an axis, and the same for exact numbers."""


def line(many: bool = True) -> np.ndarray:
    """Points of the whole range of float64: signed powers, limits of the exponential, neighbours of kinks and zeros."""
    powers = [10.0**k for k in range(-320, 309, 16 if many else 160)]
    near = [2.0**k * m for k in range(-60, 61, 4 if many else 30) for m in (1.0, 1.37)]
    limits = [*LIMITS, *np.linspace(0.05, 4.0, 41), *(1 + s * 2.0**-k for k in (52, 30, 12, 5) for s in (1, -0.5))]
    sizes = [TINY, SMALL, HUGE, *powers, *near, *(limits if many else limits[::4])]
    return np.array(sorted({0.0, *sizes, *(-s for s in sizes)}))


def points(count: int, many: bool = True) -> list[np.ndarray]:
    """Columns of points for a formula of ``count`` numbers."""
    if count == 1:
        return [line(many)]
    far = np.array([1.0, 1e5, -7.3, 300.0])
    some = [0.0, 1e-300, -3e-17, 0.3, 1.0, -1.7, 12.0, 40.5, -41.0, 709.0, 745.5, -1000.0, 1e9, -1e160, 1.5e308]
    if count == 2:
        some = some if many else some[::2]
        x, y = np.meshgrid(some, some)
        return [np.concatenate([x.ravel(), far]), np.concatenate([y.ravel(), far * (1 - 2.0**-40)])]
    few = some[::2] if many else some[::4]
    return [g.ravel() for g in np.meshgrid(*[few] * count)]


def exact(formula: Formula, row: Sequence[float]) -> Exact | None:
    """Value and slopes at a point, right to far more digits than a float has; None where there is none."""
    before: Exact | None = None
    for precision in PRECISIONS:
        with mpmath.workprec(precision):
            inputs: list[Any] = [
                Exact(mpmath.mpf(p), [mpmath.mpf(i == j) for j in range(len(row))]) for i, p in enumerate(row)
            ]
            found: Exact | None
            try:
                found = formula(*inputs)
            except (ZeroDivisionError, ValueError):
                found = None
            if found is not None and not all(map(mpmath.isfinite, (found.value, *found.slopes))):
                found = None
            if found is not None and before is not None and _agree(found, before):
                return found
            before = found
    return before


def _agree(a: Exact, b: Exact) -> bool:
    pairs = zip((a.value, *a.slopes), (b.value, *b.slopes), strict=True)
    return all(p != 0 and abs(p - q) <= abs(p) * mpmath.mpf(2) ** -100 for p, q in pairs)


def error(got: float, want: Any) -> float:
    """The distance in units in the last place of the exact number."""
    nearest = float(want)
    if got == nearest:
        return 0.0
    if not math.isfinite(got) or not math.isfinite(nearest):
        return math.inf
    with mpmath.workprec(200):
        spacing = max(math.ulp(nearest), TINY)
        return min(float(abs(mpmath.mpf(got) - want) / spacing), 1e99)


class Case:
    """A formula with its points and exact answers there."""

    def __init__(self, name: str, many: bool = True):
        self.name = name
        if name in ROWS:
            self.call, plain = ROWS[name]
            columns = points(3, many)
        else:
            formula = MADE.get(name) or ONE.get(name) or TWO[name]
            columns = points(formula.__code__.co_argcount - 1, many)
            self.call = lambda *x: formula(OPS, *x)
            plain = lambda *x: formula(EXACT, *x)  # noqa: E731
        rows = list(zip(*(c.tolist() for c in columns), strict=True))
        found = [exact(plain, row) for row in rows]
        kept = [k for k, e in enumerate(found) if e is not None]
        self.exact: list[Any] = [found[k] for k in kept]
        self.columns = [c[kept] for c in columns]
        self.inputs = [np.stack(self.columns, -1)] if name in ROWS else self.columns

    def slopes(self, grads: Sequence[Any]) -> list[np.ndarray]:
        """The derivatives by each number."""
        return list(np.moveaxis(grads[0], -1, 0)) if self.name in ROWS else list(grads)

    def worst(self, value: np.ndarray, grads: Sequence[Any]) -> list[tuple[float, tuple[float, ...]]]:
        """The largest error of the value and of the slopes, each with the point where it is."""
        rows = list(zip(*(c.tolist() for c in self.columns), strict=True))
        value = np.broadcast_to(value, (len(rows),))
        first = max((error(float(v), e.value), r) for v, e, r in zip(value, self.exact, rows, strict=True))
        second = max(
            (error(float(s), e.slopes[j]), r)
            for j, column in enumerate(self.slopes(grads))
            for s, e, r in zip(np.broadcast_to(column, (len(rows),)), self.exact, rows, strict=True)
        )
        return [first, second]


def eager(case: Case) -> Any:
    """Values and gradients of a backward pass, which are torch's where torch has numbers."""
    leaves = [tensor(a, requires_grad=True) for a in case.inputs]
    out = case.call(*leaves)
    return out.detach().numpy(), [g.numpy() for g in pulled(out.sum(), leaves)]


def evaluated(case: Case) -> Any:
    """Values of the formula, and of the formulas of its derivatives."""
    names = "xyz"[: len(case.inputs)]
    leaves = [tensor(a, requires_grad=True, name=n) for a, n in zip(case.inputs, names, strict=True)]
    out = case.call(*leaves)
    out.sum().backward()
    arrays = dict(zip(names, case.inputs, strict=True))

    def at(value: Any) -> Any:
        found = formula_of(value)
        if not found.names:  # a constant
            return np.array(float(found.evalf() if not found.shape else found.expr))
        return found.evaluate(**{n: a for n, a in arrays.items() if n in found.names})

    return at(out), [at(leaf.grad) for leaf in leaves]


def compiled(case: Case) -> Any:
    """Values and gradients of compiled programs."""
    with np.errstate(all="ignore"):
        value = compiled_of(case.call, *case.inputs)(*case.inputs)
        slope = grad(lambda *x: case.call(*x).sum(), tuple(range(len(case.inputs))))
        return value, list(compiled_of(slope, *case.inputs)(*case.inputs))


WAYS = {"eager": eager, "formula": evaluated, "compiled": compiled}
LIMIT = 4
"""Units in the last place that a formula, or a compiled program, may be off."""
BEYOND = {
    "sigmoid(x) (1 - sigmoid(x))": "compiled, it is taken for the slope of a layer, which has to be quick",
    "1 - tanh(x)^2": "as for the slope of σ",
    "x tanh log(1 + e^x)": "its derivative has eight factors, which are rounded one by one: up to 6 units",
    "e^x / sum e^x": "the derivative has 1 - p for p next to 1, where the sum of the others is needed",
    "-log(e^x / sum e^x)": "as for the shares: the derivative has p - 1",
}
"""Formulas that no rule here brings below the limit everywhere, and where they miss it."""
NAMES = [*ONE, *TWO, *ROWS]
