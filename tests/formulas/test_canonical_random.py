"""The canonical form of random expressions and of their gradients keeps their values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symgrad.formula.canonical.simplify import canonical
from symgrad.formula.derive import gradient
from symgrad.formula.term import Term, symbol, symbols
from symgrad.op import lookup
from symgrad.ops.linalg.contraction import contract
from tests.formulas.terms import A, W, X, Y, Z, b, grad, lam, m, mean, n, p, s, same_value, text, total, w, x, y


class Maker:
    """Random expressions of given shapes over the ops of the table."""

    leaves: tuple[Term, ...] = (X, Y, W, A, Z, w, y, x, b, lam, s, symbol("v", (m,)), symbol("K", (m, m)))

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)

    def make(self, shape: tuple[Any, ...], depth: int) -> Term:
        if depth == 0 or self.rng.random() < 0.1:
            return self._leaf(shape)
        kinds = ["unary", "add", "sub", "mul", "ratio", "power", "scale", "where"]
        kinds += ["total", "dot", "trace", "mean"] if not shape else []
        kinds += ["matvec", "rowsum", "diagonal", "bias", "softmax"] * 2 if len(shape) == 1 else []
        kinds += ["matmul", "outer", "transpose", "bias", "rows"] * 2 if len(shape) == 2 else []
        kind = kinds[self.rng.integers(len(kinds))]
        return getattr(self, kind)(shape, depth - 1)  # type: ignore[no-any-return]

    def _leaf(self, shape: tuple[Any, ...]) -> Term:
        fits = [t for t in self.leaves if t.shape == shape]
        if fits:
            return fits[self.rng.integers(len(fits))]
        return contract((lam,), ((),), tuple(range(len(shape))), shape)  # type: ignore[no-any-return]

    def _letter(self) -> str:
        return str(self.rng.choice([n, m, p]))

    def unary(self, shape: Any, d: int) -> Term:
        name = self.rng.choice(["tanh", "sin", "sigmoid", "softplus", "neg", "square", "relu", "abs", "mask"])
        if name == "mask":
            return (self.make(shape, d) > 0) * 1.0  # type: ignore[operator, no-any-return]
        return lookup(str(name))(self.make(shape, d))  # type: ignore[no-any-return]

    def add(self, shape: Any, d: int) -> Term:
        return self.make(shape, d) + self.make(shape, d)  # type: ignore[operator, no-any-return]

    def sub(self, shape: Any, d: int) -> Term:
        return self.make(shape, d) - self.make(shape, d)  # type: ignore[operator, no-any-return]

    def mul(self, shape: Any, d: int) -> Term:
        return self.make(shape, d) * self.make(shape, d)  # type: ignore[operator, no-any-return]

    def ratio(self, shape: Any, d: int) -> Term:
        return self.make(shape, d) / (2 + self.make(shape, d) ** 2)  # type: ignore[operator, no-any-return]

    def power(self, shape: Any, d: int) -> Term:
        return self.make(shape, d) ** int(self.rng.integers(2, 4))  # type: ignore[operator, no-any-return]

    def scale(self, shape: Any, d: int) -> Term:
        return self.make(shape, d) * self.make((), min(d, 1))  # type: ignore[operator, no-any-return]

    def where(self, shape: Any, d: int) -> Term:
        return lookup("where")(self.make(shape, d) > 0, self.make(shape, d), 0)  # type: ignore[operator, no-any-return]

    def total(self, shape: Any, d: int) -> Term:
        return total(self.make((self._letter(), self._letter()), d))

    def mean(self, shape: Any, d: int) -> Term:
        return mean(self.make((self._letter(),), d))

    def dot(self, shape: Any, d: int) -> Term:
        k = self._letter()
        return self.make((k,), d) @ self.make((k,), d)  # type: ignore[operator, no-any-return]

    def trace(self, shape: Any, d: int) -> Term:
        k = self._letter()
        return lookup("trace")(self.make((k, k), d))  # type: ignore[no-any-return]

    def matvec(self, shape: Any, d: int) -> Term:
        k = self._letter()
        return self.make((*shape, k), d) @ self.make((k,), d)  # type: ignore[operator, no-any-return]

    def rowsum(self, shape: Any, d: int) -> Term:
        return total(self.make((self._letter(), *shape), d), (0,))

    def diagonal(self, shape: Any, d: int) -> Term:
        return lookup("diagonal")(self.make(shape * 2, d), offset=0, dim1=0, dim2=1)  # type: ignore[no-any-return]

    def softmax(self, shape: Any, d: int) -> Term:
        return lookup("softmax")(self.make(shape, d), dim=0)  # type: ignore[no-any-return]

    def bias(self, shape: Any, d: int) -> Term:
        return self.make(shape, d) + self.make(shape[1:], d)  # type: ignore[operator, no-any-return]

    def matmul(self, shape: Any, d: int) -> Term:
        k = self._letter()
        return self.make((shape[0], k), d) @ self.make((k, shape[1]), d)  # type: ignore[operator, no-any-return]

    def outer(self, shape: Any, d: int) -> Term:
        return lookup("outer")(self.make(shape[:1], d), self.make(shape[1:], d))  # type: ignore[no-any-return]

    def transpose(self, shape: Any, d: int) -> Term:
        return self.make(shape[::-1], d).T

    def rows(self, shape: Any, d: int) -> Term:
        return lookup("unsqueeze")(self.make(shape[:1], d), dim=1) * self.make(shape, d)  # type: ignore[no-any-return]


@pytest.mark.parametrize("seed", range(120))
def test_random_expressions_keep_their_value(seed: int) -> None:
    shape = [(), (n,), (n, m), (m, m)][seed % 4]
    t = Maker(seed).make(shape, 4)
    same_value(t, canonical(t), (0, 1))


@pytest.mark.parametrize("seed", range(40))
def test_random_gradients_keep_their_value(seed: int) -> None:
    f = Maker(1000 + seed).make((), 4)
    targets = [t for t in (X, A, x, w, lam) if t in symbols(f)]
    for found in gradient(f, targets):
        same_value(found, canonical(found), (0,))


def test_result_does_not_depend_on_earlier_runs() -> None:
    before = text(canonical(grad(total((X @ w - y) ** 2), w)))
    for seed in range(5):
        canonical(Maker(seed).make((n,), 3))
    assert text(canonical(grad(total((X @ w - y) ** 2), w))) == before
