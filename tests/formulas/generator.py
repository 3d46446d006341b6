"""Random well-shaped expressions: scalars, vectors, matrices and order three, over a few symbols with letter sizes.

An expression is grown from its shape downwards: for every shape there is a list of ways to make an array of it from
smaller ones.  Arguments are kept inside of the domains (log of 1 + u², inverse of A Aᵀ + I), so that values are finite.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.formula.chains import diagonal_matrix, identity
from symgrad.formula.derive import gradient, jacobian
from symgrad.formula.term import Term, postorder, symbol
from symgrad.formula.term import symbols as symbols_of

SYMBOLS = {
    (): ("a", "b"),
    ("n",): ("x", "y"),
    ("m",): ("u", "v"),
    ("p",): ("w",),
    ("n", "m"): ("X", "Y"),
    ("n", "n"): ("A", "B"),
    ("m", "m"): ("C",),
    ("m", "p"): ("W",),
    ("n", "m", "p"): ("T",),
}
LETTERS = ("n", "m", "p")

UNARY: list[Callable[[Any], Any]] = [
    sg.tanh, sg.sin, sg.cos, sg.sigmoid, sg.nn.functional.softplus, sg.relu, sg.abs, sg.erf, sg.atan,
    lambda u: u * u, lambda u: -u, lambda u: u**3, lambda u: sg.exp(-u * u), lambda u: sg.exp(sg.tanh(u)),
    lambda u: sg.log(1 + u * u), lambda u: sg.sqrt(1 + u * u), lambda u: 1 / (1 + u * u), lambda u: sg.log1p(sg.exp(u)),
    lambda u: sg.where(u > 0, u, u / 3), lambda u: sg.clamp(u, -1, 1), lambda u: sg.exp(u) / (1 + sg.exp(u)),
    lambda u: 0.1 * u, lambda u: (1 + u * u) ** 1.5, lambda u: (2 + u * u) ** -1, lambda u: sg.sign(u) * u,
    lambda u: sg.nn.functional.huber_loss(u, u / 2, reduction="none"), lambda u: sg.nn.functional.gelu(u),
    lambda u: sg.square(u) / 3, lambda u: sg.sinh(sg.tanh(u)), lambda u: sg.cosh(sg.sin(u)),
    lambda u: sg.expm1(sg.cos(u)), lambda u: sg.lgamma(1 + u * u), lambda u: sg.asinh(u), lambda u: 1e-3 - u,
    lambda u: sg.where((u > -1) & (u < 1), u * u, 0), lambda u: sg.special.xlogy(1 + u * u, 2 + u * u),
]  # fmt: skip
BINARY: list[Callable[[Any, Any], Any]] = [
    lambda u, v: u + v, lambda u, v: u - v, lambda u, v: u * v, lambda u, v: u / (1 + v * v), sg.maximum, sg.minimum,
    lambda u, v: sg.where(u > v, u * v, v), lambda u, v: 2 * u - v / 3, lambda u, v: u * u + v * v,
    lambda u, v: sg.sqrt(1 + u * u + v * v), lambda u, v: (u - v) ** 2, lambda u, v: (1 + u * u) ** sg.tanh(v),
    lambda u, v: sg.atan2(u, 1 + v * v), lambda u, v: sg.hypot(u, v), lambda u, v: sg.logaddexp(u, v),
    lambda u, v: u * v / (u * u + v * v + 1), lambda u, v: -(u * v) - u,
]  # fmt: skip


class Generator:
    """Random expressions from a seed; the same seed gives the same expressions on every machine."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)

    def one_of(self, options: Any) -> Any:
        """A random item."""
        return options[int(self.rng.integers(len(options)))]

    def leaf(self, shape: tuple[str, ...]) -> Term:
        """A symbol of a shape, made of smaller ones where there is none."""
        if shape in SYMBOLS:
            return symbol(self.one_of(SYMBOLS[shape]), shape)
        if shape[::-1] in SYMBOLS:
            return symbol(self.one_of(SYMBOLS[shape[::-1]]), shape[::-1]).T
        if len(shape) == 2:
            return self.leaf((shape[0],))[:, None] * self.leaf((shape[1],))
        return sg.einsum("i,jk->ijk", self.leaf(shape[:1]), self.leaf(shape[1:]))

    def grown(self, shape: tuple[str, ...], depth: int) -> Term:
        """An expression of a shape."""
        if depth <= 0 or self.rng.random() < 0.08:
            return self.leaf(shape)
        kind = self.rng.random()
        if kind < 0.2:
            return self.one_of(UNARY)(self.grown(shape, depth - 1))
        if kind < 0.4:
            return self.one_of(BINARY)(self.grown(shape, depth - 1), self.grown(shape, depth - 2))
        if kind < 0.45 and shape:
            return self.grown((), depth - 2) * self.grown(shape, depth - 1)
        if kind < 0.5 and len(shape) > 1:
            return self.one_of(BINARY[:4])(self.grown(shape, depth - 1), self.grown(shape[-1:], depth - 2))
        return self.one_of([self.scalar, self.vector, self.matrix, self.cube][len(shape)](shape, depth - 1))()

    def letter(self) -> str:
        """A random size."""
        return str(self.one_of(LETTERS))

    # ---------------------------------------------------------------- ways to make a shape

    def scalar(self, _: Any, d: int) -> list[Callable[[], Term]]:
        """Sums, products, norms, traces, determinants."""
        n, m = self.letter(), self.letter()
        return [
            lambda: self.grown((n,), d) @ self.grown((n,), d - 1),
            lambda: self.grown((n,), d) @ self.grown((n, m), d - 1) @ self.grown((m,), d - 1),
            lambda: sg.sum(self.grown((n, m), d)),
            lambda: sg.mean(self.grown((n,), d)),
            lambda: sg.sum(self.grown(("n", "m", "p"), d)),
            lambda: sg.trace(self.grown((n, n), d)),
            lambda: sg.trace(self.grown((n, m), d) @ self.grown((m, n), d - 1)),
            lambda: sg.linalg.norm(self.grown((n,), d)),
            lambda: sg.sum((self.grown((n, m), d) @ self.grown((m,), d - 1) - self.grown((n,), d - 1)) ** 2),
            lambda: sg.logsumexp(self.grown((n,), d), 0),
            lambda: sg.logdet(self.positive(n, d)),
            lambda: sg.linalg.det(self.positive(n, d - 1)),
            lambda: sg.amax(self.grown((n,), d)),
            lambda: sg.sum(self.grown((n, m), d) * self.grown((n, m), d - 1)),
            lambda: sg.linalg.norm(self.grown((n, m), d)),
            lambda: sg.linalg.norm(self.grown((n,), d), 1),
            lambda: sg.sum(sg.abs(self.grown((n,), d)) ** 3) ** (1 / 3),
            lambda: sg.prod(self.grown((n,), d)),
            lambda: sg.var(self.grown((n,), d), 0),
            lambda: sg.einsum(
                "ij,jk,ik->", self.grown((n, m), d), self.grown((m, m), d - 1), self.grown((n, m), d - 1)
            ),
            lambda: sg.sum(sg.cat([self.grown((n,), d), self.grown((n,), d - 1)]) ** 2),
            lambda: sg.sum((self.grown((n,), d)[1:] - self.grown((n,), d - 1)[:-1]) ** 2),
            lambda: sg.sum(sg.linalg.matrix_power(self.grown((n, n), d), 3)),
            lambda: sg.trace(sg.matrix_exp(self.grown((n, n), d) / 4)),
            lambda: -sg.mean(sg.sum(self.grown((n, m), d) * sg.log_softmax(self.grown((n, m), d - 1), 1), 1)),
            lambda: self.grown((n,), d) @ sg.linalg.solve(self.positive(n, d - 1), self.grown((n,), d - 1)),
        ]

    def positive(self, n: str, d: int) -> Term:
        """A regular matrix."""
        M = self.grown((n, n), d)
        return M @ M.T + identity(n)

    def vector(self, shape: Any, d: int) -> list[Callable[[], Term]]:
        """Matrix-vector products, sums along axes, softmax."""
        (n,), m = shape, self.letter()
        return [
            lambda: self.grown((n, m), d) @ self.grown((m,), d - 1),
            lambda: self.grown((m, n), d).T @ self.grown((m,), d - 1),
            lambda: sg.sum(self.grown((n, m), d), 1),
            lambda: sg.sum(self.grown((m, n), d), 0),
            lambda: sg.diagonal(self.grown((n, n), d)),
            lambda: sg.softmax(self.grown((n,), d), 0),
            lambda: sg.logsumexp(self.grown((n, m), d), 1),
            lambda: sg.amax(self.grown((m, n), d), 0),
            lambda: sg.cumsum(self.grown((n,), d), 0),
            lambda: sg.linalg.solve(self.positive(n, d - 1), self.grown((n,), d - 1)),
            lambda: sg.sqrt(1 + sg.sum(self.grown((n, m), d) ** 2, 1)),
            lambda: sg.log_softmax(self.grown((n,), d), 0),
            lambda: sg.einsum("ijk,j,k->i", self.grown((n, m, "p"), d), self.grown((m,), d - 1), self.leaf(("p",))),
            lambda: sg.flip(self.grown((n,), d), [0]),
            lambda: sg.linalg.norm(self.grown((n, m), d), dim=1),
            lambda: self.grown((n, m), d)[:, 0],
            lambda: sg.prod(self.grown((n, m), d), 1),
            lambda: sg.mean(self.grown((n, m), d), 1),
        ]

    def matrix(self, shape: Any, d: int) -> list[Callable[[], Term]]:
        """Products, transposes, outer products, diagonals, inverses."""
        (n, m), k = shape, self.letter()
        ways = [
            lambda: self.grown((n, k), d) @ self.grown((k, m), d - 1),
            lambda: self.grown((m, n), d).T,
            lambda: sg.outer(self.grown((n,), d), self.grown((m,), d - 1)),
            lambda: sg.softmax(self.grown((n, m), d), 1),
            lambda: sg.sum(self.grown(("n", "m", "p"), d), 2) if shape == ("n", "m") else self.grown((n, m), d),
            lambda: self.grown((n,), d)[:, None] - self.grown((m,), d - 1),
            lambda: self.grown((n,), d)[:, None] * self.grown((n, m), d - 1),
            lambda: self.grown((n, m), d) - sg.mean(self.grown((n, m), d - 1), 0),
            lambda: self.grown((n, m), d) / (1 + sg.sum(self.grown((n, m), d - 1) ** 2, 1)[:, None]),
        ]
        if n == m:
            ways += [
                lambda: diagonal_matrix(self.grown((n,), d)),
                lambda: sg.linalg.inv(self.positive(n, d - 1)),
                lambda: sg.tril(self.grown((n, n), d)),
                lambda: self.grown((n, n), d) + identity(n),
                lambda: sg.diag(sg.diagonal(self.grown((n, n), d))),
                lambda: sg.linalg.matrix_power(self.grown((n, n), d), 2),
            ]
        return ways

    def cube(self, shape: Any, d: int) -> list[Callable[[], Term]]:
        """Order three: outer products, broadcasts, contractions."""
        n, m, k = shape
        return [
            lambda: sg.einsum("ij,k->ijk", self.grown((n, m), d), self.grown((k,), d - 1)),
            lambda: sg.einsum("ijl,lk->ijk", self.grown((n, m, k), d), self.grown((k, k), d - 1)),
            lambda: self.grown((n, m), d)[:, :, None] * self.grown((n, m, k), d - 1),
            lambda: self.grown((n, m, k), d) + self.grown((m, k), d - 1),
            lambda: self.grown((n, m), d)[:, :, None] - self.grown((m, k), d - 1)[None, :, :],
        ]

    # ---------------------------------------------------------------- derivatives

    def derivative(self) -> tuple[Term, Term]:
        """A scalar, vector or matrix expression with a symbol in it, and its gradient, Jacobian or Hessian."""
        kind = self.rng.random()
        shape: Any = () if kind < 0.8 else (self.letter(),)
        while True:
            made = self.grown(shape, int(self.rng.integers(2, 5)))
            found = [s for s in symbols_of(made) if s.op.name == "symbol"]
            if kind >= 0.6:
                found = [s for s in found if s.ndim <= 1]
            if found and len(postorder([made])) < 40:
                break
        wrt = self.one_of(found)
        if kind < 0.6:
            return made, gradient(made, [wrt])[0]
        if kind < 0.8:
            return made, jacobian(gradient(made, [wrt])[0], wrt)
        return made, jacobian(made, wrt)


def values_for(terms: list[Term], rng: np.random.Generator, sizes: dict[str, int]) -> dict[str, Any]:
    """Random values for the symbols of some terms, for sizes of the letters."""
    found = {s.params["name"]: s for s in symbols_of(*terms) if s.op.name == "symbol"}
    return {name: rng.normal(size=tuple(sizes[k] for k in s.shape))[()] for name, s in sorted(found.items())}
