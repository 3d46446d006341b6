"""Random programs with gradients by hand, right and with a mistake: what a check of gradients is itself checked with.

A program is a list of steps.  Each step has its own backward rule, written in NumPy as people write it and independent
of the op table: two opinions on one derivative.  A mistake is made in the rule of one step, or in the result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symgrad.op.factories import stretches

Rule = Callable[..., list[Any]]

REPEATED = np.array([0, 2, 2, 1])
"""An index that reads one row twice."""


@dataclass(frozen=True)
class Step:
    """One operation: ``forward(*inputs)`` and ``backward(g, out, *inputs)``, which gives a gradient per input."""

    name: str
    forward: Callable[..., Any]
    backward: Rule
    arity: int = 1
    needs: str = ""
    """"real" values, a "square" matrix, "rows" (at least three), or nothing."""


def unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """A gradient summed over the axes along which its variable was stretched."""
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    return g.sum(axis=tuple(k for k, n in enumerate(shape) if n == 1 and g.shape[k] != 1), keepdims=True)


def sigmoid(x: Any) -> Any:
    """The logistic function."""
    return 1 / (1 + np.exp(-x))


def _softmax(x: Any) -> Any:
    e = np.exp(x)
    return e / e.sum(axis=-1, keepdims=True)


def _picked(g: Any, x: Any) -> Any:
    made = np.zeros_like(x)
    np.add.at(made, REPEATED, g)
    return made


def _mul_back(g: Any, out: Any, x: Any, y: Any) -> list[Any]:  # noqa: ARG001
    return [unbroadcast(g * np.conj(y), x.shape), unbroadcast(g * np.conj(x), y.shape)]


UNARY = {
    "tanh": Step("tanh", np.tanh, lambda g, out, x: [g * np.conj(1 - out**2)]),
    "sin": Step("sin", np.sin, lambda g, out, x: [g * np.conj(np.cos(x))]),
    "exp": Step("exp", lambda x: np.exp(x / 2), lambda g, out, x: [g * np.conj(out) / 2]),
    "square": Step("square", lambda x: x**2, lambda g, out, x: [2 * g * np.conj(x)]),
    "sigmoid": Step("sigmoid", sigmoid, lambda g, out, x: [g * out * (1 - out)], 1, "real"),
    "log": Step("log", lambda x: np.log(1 + x**2), lambda g, out, x: [g * np.conj(2 * x / (1 + x**2))]),
    "root": Step("root", lambda x: np.sqrt(x**2 + 1), lambda g, out, x: [g * np.conj(x / out)]),
    "relu": Step("relu", lambda x: np.maximum(x, 0), lambda g, out, x: [g * (x > 0)], 1, "real"),
    "abs": Step("abs", np.abs, lambda g, out, x: [g * np.sign(x)], 1, "real"),
    "softmax": Step(
        "softmax", _softmax, lambda g, out, x: [out * (g - (g * out).sum(axis=-1, keepdims=True))], 1, "real"
    ),
    "mean": Step(
        "mean",
        lambda x: x - x.mean(axis=0, keepdims=True),
        lambda g, out, x: [g - g.mean(axis=0, keepdims=True)],
    ),
    "gather": Step("gather", lambda x: x[REPEATED], lambda g, out, x: [_picked(g, x)], 1, "rows"),
    "transpose": Step("transpose", lambda x: x.T, lambda g, out, x: [g.T], 1, "square"),
}
BINARY = {
    "add": Step("add", lambda x, y: x + y, lambda g, out, x, y: [unbroadcast(g, x.shape), unbroadcast(g, y.shape)], 2),
    "sub": Step("sub", lambda x, y: x - y, lambda g, out, x, y: [unbroadcast(g, x.shape), -unbroadcast(g, y.shape)], 2),
    "mul": Step("mul", lambda x, y: x * y, _mul_back, 2),
}
MATMUL = Step("matmul", lambda x, y: x @ y, lambda g, out, x, y: [g @ np.conj(y).T, np.conj(x).T @ g], 2)
ENDS = {
    "sum": Step("sum", lambda x, w: np.real(x * w).sum(), lambda g, out, x, w: [g * np.conj(w), g * np.conj(x)], 2),
    "energy": Step(
        "energy",
        lambda x, w: (np.abs(x - w) ** 2).mean(),
        lambda g, out, x, w: [2 * g * (x - w) / x.size, -2 * g * (x - w) / x.size],
        2,
    ),
}


@dataclass
class Program:
    """Steps, each with the places of its inputs among the values so far; the first values are the arguments."""

    args: list[Any]
    steps: list[tuple[Step, tuple[int, ...]]] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """What the arguments are called."""
        return [f"a{k}" for k in range(len(self.args))]

    def values(self, *args: Any) -> list[Any]:
        """All values, the arguments first and the result last."""
        made = list(args)
        with np.errstate(all="ignore"):
            for step, places in self.steps:
                made.append(step.forward(*(made[k] for k in places)))
        return made

    def __call__(self, *args: Any) -> Any:
        """The result."""
        return self.values(*args)[-1]

    def gradients(self, args: Any = None, change: Callable[..., list[Any]] | None = None) -> list[Any]:
        """The gradients by hand; ``change(number, step, g, out, inputs)`` stands for the rules, where it is given."""
        values = self.values(*(self.args if args is None else args))
        dtype = values[0].dtype
        flowing: list[Any] = [None] * len(values)
        flowing[-1] = np.ones_like(values[-1])
        for number in range(len(self.steps))[::-1]:
            step, places = self.steps[number]
            at = len(self.args) + number
            g = flowing[at]
            if g is None:
                continue
            inputs = [values[k] for k in places]
            parts = step.backward(g, values[at], *inputs) if change is None else change(number, g, values[at], inputs)
            for k, part in zip(places, parts, strict=True):
                if part is not None:
                    part = np.asarray(part).astype(dtype)
                    flowing[k] = part if flowing[k] is None else flowing[k] + part
        return [np.zeros_like(a) if g is None else g for a, g in zip(self.args, flowing, strict=False)]


def random_program(rng: np.random.Generator, dtype: Any) -> Program:
    """Two to four arguments, four to eight steps, a number at the end."""
    is_complex = np.dtype(dtype).kind == "c"

    def drawn(*shape: int) -> Any:
        value = rng.uniform(0.3, 1.2, shape) * rng.choice([-1.0, 1.0], shape)
        if is_complex:
            value = value * np.exp(1j * rng.uniform(0, 6, shape))
        return value.astype(dtype)

    n, m = (int(k) for k in rng.integers(3, 6, 2))
    if rng.random() < 0.4:
        m = n
    args = [drawn(n, m), drawn(m, n), drawn(m)][: int(rng.integers(2, 4))]
    program = Program(args)
    for _ in range(int(rng.integers(3, 7))):
        _add_step(program, rng, is_complex)
    last = program.values(*args)[-1]
    program.args = [*args, drawn(*last.shape)]
    shift = len(args)
    moved = [(s, tuple(k if k < shift else k + 1 for k in places)) for s, places in program.steps]
    end = list(ENDS.values())[int(rng.integers(len(ENDS)))]
    program.steps = [*moved, (end, (shift + len(moved), shift))]
    return program


def _add_step(program: Program, rng: np.random.Generator, is_complex: bool) -> None:
    values = program.values(*program.args)
    count = len(program.args)
    last = len(values) - 1 if len(values) > count else 0
    shape = values[last].shape
    if rng.random() < 0.5:
        others = [k for k, v in enumerate(values) if k != last and stretches(v.shape, shape)]
        products = [k for k, v in enumerate(values) if k != last and v.ndim == 2 and len(shape) == 2]
        products = [k for k in products if values[k].shape[0] == shape[1]]
        if products and rng.random() < 0.5:
            program.steps.append((MATMUL, (last, products[int(rng.integers(len(products)))])))
            return
        if others:
            step = list(BINARY.values())[int(rng.integers(len(BINARY)))]
            program.steps.append((step, (last, others[int(rng.integers(len(others)))])))
            return
    fitting = [
        step
        for step in UNARY.values()
        if not (step.needs == "real" and is_complex)
        and not (step.needs == "rows" and (len(shape) < 1 or shape[0] < 3))
        and not (step.needs == "square" and (len(shape) < 2 or shape[0] != shape[1]))
    ]
    program.steps.append((fitting[int(rng.integers(len(fitting)))], (last,)))
