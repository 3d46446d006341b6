"""Random well-shaped expressions: scalars, vectors, matrices and order three, over a few symbols with letter sizes.

An expression is grown from its shape downwards: for every shape there is a list of ways to make an array of it from
smaller ones.  Arguments are kept inside of the domains (log of 1 + u², inverse of A Aᵀ + I), so that values are finite.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.formula.canonical.chains import diagonal_matrix, identity
from symgrad.formula.derive import directional, gradient, jacobian
from symgrad.formula.term import Term, postorder, symbol, symbols as symbols_of

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


# ---------------------------------------------------------------------------------------------- the wide profile

STRUCTURED = {
    "S": "symmetric", "P": "psd", "Q": "orthogonal", "D": "diagonal", "L": "lower", "U": "upper",
}  # fmt: skip
"""Square matrices with a declared structure, by their names."""
NUMBERS = (0.1, 1e-12, Fraction(1, 3), 2.5, 1e3, -0.7, 1 / 3, 7, 0.25)

MORE_UNARY: list[Callable[[Any], Any]] = [
    lambda u: sg.clamp(u, min=0.25), lambda u: sg.clamp(u, max=1), lambda u: sg.maximum(u, -u), lambda u: u**4,
    lambda u: sg.where(u < 0, -u, u * u), lambda u: sg.where((u > 0) | (u < -1), sg.sin(u), 0.1 * u),
    lambda u: sg.cbrt(1 + u * u), lambda u: (1 + u * u) ** Fraction(1, 3), lambda u: (1 + u * u) ** -0.5,
    lambda u: (0.1 + u * u) ** 2.5, lambda u: sg.rsqrt(2 + u * u), lambda u: u**-2 * u**4, lambda u: (u * u) ** 1.5,
    sg.nn.functional.silu, sg.nn.functional.elu, lambda u: sg.nn.functional.leaky_relu(u, 0.1),
    lambda u: sg.masked_fill(u, u > 1, 1 / 3), lambda u: sg.lerp(u, u * u, 0.1), lambda u: sg.xlogy(u * u, 1 + u * u),
    lambda u: sg.log(sg.exp(u) + sg.exp(-u)), lambda u: sg.sin(u) ** 2 + sg.cos(u) ** 2 * u, lambda u: sg.tan(u / 9),
    lambda u: sg.sigmoid(u) * (1 - sg.sigmoid(u)), lambda u: sg.sqrt(u * u + 1e-12), lambda u: 1 - sg.tanh(u) ** 2,
    lambda u: sg.logit(sg.sigmoid(u) / 2 + 0.25), lambda u: sg.asin(sg.tanh(u) / 2), lambda u: sg.acosh(2 + u * u),
    lambda u: sg.digamma(1 + u * u), lambda u: sg.sinc(u), lambda u: sg.exp2(-u * u), lambda u: sg.log10(1 + u * u),
    lambda u: (u - 1) ** 3 / (1 + u * u), lambda u: sg.heaviside(u, u) + u, lambda u: sg.copysign(u, 1 + u),
    lambda u: sg.remainder(u, 2), lambda u: sg.floor(u) * u, lambda u: sg.erfc(u) / 2, lambda u: sg.logsigmoid(u),
    lambda u: sg.fmax(u, u * u), lambda u: sg.atan2(u, 2 + u * u), lambda u: sg.nn.functional.hardtanh(u, -1, 2),
]  # fmt: skip


class WideGenerator(Generator):
    """Slices, scans, stacks, masks, batches, complex numbers, structures, odd numbers, higher derivatives."""

    def leaf(self, shape: tuple[str, ...]) -> Any:
        if len(shape) == 2 and shape[0] == shape[1] and self.rng.random() < 0.35:
            name = str(self.one_of(sorted(STRUCTURED)))
            return self.made(f"{name}_{shape[0]}", shape, structure=STRUCTURED[name])
        if shape in SYMBOLS:
            return self.made(self.one_of(SYMBOLS[shape]), shape)
        if shape[::-1] in SYMBOLS:
            return self.made(self.one_of(SYMBOLS[shape[::-1]]), shape[::-1]).T
        return super().leaf(shape)

    def made(self, name: str, shape: tuple[str, ...], dtype: Any = np.float64, structure: str | None = None) -> Any:
        """A symbol."""
        return symbol(name, shape, dtype, structure)

    def grown(self, shape: tuple[str, ...], depth: int) -> Any:
        if depth <= 0 or self.rng.random() < 0.4:
            return super().grown(shape, depth)
        kind = self.rng.random()
        if kind < 0.3:
            return self.one_of(MORE_UNARY)(self.grown(shape, depth - 1))
        if kind < 0.4:
            return self.one_of(NUMBERS) * self.grown(shape, depth - 1)
        if kind < 0.5 and shape:
            return self.along(shape, depth - 1)
        ways = [self.more_scalars, self.more_vectors, self.more_matrices, self.more_cubes][len(shape)]
        return self.one_of(ways(shape, depth - 1))()

    def along(self, shape: tuple[str, ...], d: int) -> Any:
        """Something along an axis that keeps the shape."""
        axis = int(self.rng.integers(len(shape)))
        ways: list[Callable[[Any], Any]] = [
            lambda u: sg.flip(u, [axis]), lambda u: sg.cumsum(u, axis), lambda u: sg.softmax(u, axis),
            lambda u: sg.log_softmax(u, axis), lambda u: u - sg.logsumexp(u, axis, keepdim=True),
            lambda u: u / (1 + sg.linalg.vector_norm(u, 2, axis, keepdim=True)), lambda u: sg.roll(u, 1, axis),
            lambda u: u - sg.mean(u, axis, keepdim=True), lambda u: u * sg.amax(u, axis, keepdim=True),
            lambda u: sg.cumprod(u, axis), lambda u: sg.sort(u, axis)[0], lambda u: sg.logcumsumexp(u, axis),
            lambda u: sg.cummax(u, axis)[0], lambda u: u * sg.prod(u, axis, keepdim=True),
        ]  # fmt: skip
        return self.one_of(ways)(self.grown(shape, d))

    def more_scalars(self, _: Any, d: int) -> list[Callable[[], Any]]:
        """Entries, slices, norms, spectra, squares of complex numbers."""
        n, m = self.letter(), self.letter()
        return [
            lambda: self.grown((n,), d)[-1] * self.grown((n,), d - 1)[0],
            lambda: self.grown((n, m), d)[0, 1] ** 2,
            lambda: sg.sum(self.grown((n,), d)[1:-1] ** 2),
            lambda: sg.sum(self.grown((n,), d)[::2] ** 3),
            lambda: sg.sum(self.grown((n, m), d)[1:, :-1] ** 2),
            lambda: sg.sum(sg.stack([self.grown((n,), d), self.grown((n,), d - 1)], 1) ** 3),
            lambda: sg.logsumexp(sg.stack([self.grown((), d), self.grown((), d - 1)]), 0),
            lambda: sg.sum(sg.cat([self.grown((n, m), d), self.grown((n, n), d - 1)], 1) ** 2),
            lambda: sg.sum(sg.exp(-((self.grown((n,), d)[:, None] - self.grown((m,), d - 1)[None, :]) ** 2))),
            lambda: sg.linalg.vector_norm(self.grown((n,), d), float(self.one_of((3, 4, 0.5 + 1, np.inf, -np.inf)))),
            lambda: sg.sum(sg.linalg.vector_norm(self.grown((n, m), d), 3, 1)),
            lambda: sg.linalg.matrix_norm(self.grown((n, m), d), self.one_of(("fro", 1, float("inf")))),
            lambda: sg.linalg.slogdet(self.positive(n, d - 1))[1],
            lambda: sg.sum(
                sg.linalg.eigvalsh(self.positive(n, d - 1) + self.made(f"S_{n}", (n, n), structure="symmetric")) ** 2
            ),
            lambda: sg.sum(sg.log(sg.diagonal(sg.linalg.cholesky(self.positive(n, d - 1))))),
            lambda: sg.var(self.grown((n, m), d), 1)[0] + sg.mean(sg.var(self.grown((n, m), d - 1), 0)),
            lambda: sg.einsum(
                "ijk,ijl,kl->", self.cube_of(n, m, d), self.cube_of(n, m, d - 1), self.grown(("p", "p"), d - 1)
            ),
            lambda: sg.sum(sg.matmul(self.cube_of(n, m, d), self.grown(("p", m), d - 1)) ** 2),
            lambda: sg.sum(sg.abs(self.complex_vector(n, d)) ** 2),
            lambda: sg.real(sg.conj(self.complex_vector(n, d)) @ self.complex_vector(n, d - 1)),
            lambda: sg.sum(sg.imag(self.complex_vector(n, d) ** 3)),
            lambda: sg.sum(sg.abs(self.complex_vector(n, d))),
            lambda: sg.trace(self.structured(n) @ self.grown((n, n), d) @ self.structured(n)),
            lambda: self.grown((n,), d) @ self.structured(n) @ self.grown((n,), d - 1),
            lambda: sg.logdet(self.made(f"P_{n}", (n, n), structure="psd") * (1 + self.grown((), d - 1) ** 2)),
            lambda: sg.cosine_similarity(self.grown((n,), d), self.grown((n,), d - 1), 0),
            lambda: sg.dist(self.grown((n,), d), self.grown((n,), d - 1)),
            lambda: sg.nn.functional.mse_loss(self.grown((n,), d), self.grown((n,), d - 1)),
            lambda: sg.std(self.grown((n,), d)),
            lambda: sg.sum(sg.where(self.grown((n, m), d) > self.grown((m,), d - 1), self.grown((n, m), d - 1), 0)),
            lambda: sg.sum(sg.outer(self.grown((n,), d), self.grown((n,), d - 1)) ** 2 * self.structured(n)),
        ]

    def cube_of(self, n: str, m: str, d: int) -> Any:
        """An array of order three."""
        return self.grown((n, m, "p"), min(d, 2))

    def structured(self, n: str) -> Any:
        """A matrix with a declared structure."""
        name = str(self.one_of(sorted(STRUCTURED)))
        return self.made(f"{name}_{n}", (n, n), structure=STRUCTURED[name])

    def complex_vector(self, n: str, d: int) -> Any:
        """A complex vector."""
        z = self.made(f"z_{n}", (n,), np.complex128)
        if d <= 0 or self.rng.random() < 0.2:
            return z
        H = self.made(f"Z_{n}", (n, n), np.complex128)  # noqa: N806
        ways = [
            lambda: self.complex_vector(n, d - 1) * self.grown((n,), d - 1),
            lambda: sg.complex(self.grown((n,), d - 1), self.grown((n,), d - 1)),
            lambda: sg.exp(1j * self.grown((n,), d - 1)),
            lambda: sg.conj(self.complex_vector(n, d - 1)) * self.complex_vector(n, d - 1) * z,
            lambda: H @ self.complex_vector(n, d - 1),
            lambda: sg.conj(H).T @ self.complex_vector(n, d - 1),
            lambda: self.grown((n, n), d - 1) @ self.complex_vector(n, d - 1),
            lambda: (2 + 1j) * self.complex_vector(n, d - 1) - z**2,
            lambda: self.complex_vector(n, d - 1) + self.grown((n,), d - 1),
            lambda: sg.fft.fft(self.complex_vector(n, d - 1)),
            lambda: self.complex_vector(n, d - 1) / (2 + sg.abs(z) ** 2),
            lambda: sg.exp(self.complex_vector(n, 0) / 3) - sg.sin(z / 2),
        ]
        return self.one_of(ways)()

    def more_vectors(self, shape: Any, d: int) -> list[Callable[[], Any]]:
        """Rows, gathered entries, scans, contractions of order three, solutions."""
        (n,), m = shape, self.letter()
        return [
            lambda: self.grown((m, n), d)[-1],
            lambda: self.grown((n, m), d)[:, 0] * self.grown((n, m), d - 1)[:, 1],
            lambda: self.grown((n, m, "p"), min(d, 2))[:, 0, 1],
            lambda: sg.gather(self.grown((n,), d), 0, self.made(f"k_{n}", (n,), np.int64)),
            lambda: sg.einsum("ij,ij->i", self.grown((n, m), d), self.grown((n, m), d - 1)),
            lambda: sg.linalg.solve_triangular(
                sg.tril(self.positive(n, d - 1)), self.grown((n,), d - 1)[:, None], upper=False
            )[:, 0],
            lambda: self.structured(n) @ self.grown((n,), d),
            lambda: sg.linalg.inv(self.made(f"P_{n}", (n, n), structure="psd")) @ self.grown((n,), d),
            lambda: self.made(f"Q_{n}", (n, n), structure="orthogonal").T @ self.grown((n,), d),
            lambda: sg.linalg.vector_norm(self.grown((n, m), d), float(self.one_of((1, 2, 3))), 1),
            lambda: sg.sum(sg.softmax(self.grown((n, m), d), 1) * self.grown((n, m), d - 1), 1),
            lambda: sg.amin(self.grown((n, m), d), 1),
            lambda: sg.std(self.grown((n, m), d), 1),
            lambda: sg.cat([self.grown((n,), d)[1:], self.grown((n,), d - 1)[:1]]),
            lambda: sg.real(self.complex_vector(n, d)),
            lambda: sg.abs(self.complex_vector(n, d)) ** 2,
            lambda: sg.angle(2 + self.complex_vector(n, 0) / 9),
            lambda: self.grown((n,), d) / sg.sum(self.grown((n,), d - 1) ** 2 + 1),
            lambda: sg.diff(self.grown((n, m), d), dim=1)[:, 0] if self.concrete else self.grown((n,), d),
        ]

    concrete = False
    """Whether sizes are numbers: some ops take no letters."""

    def more_matrices(self, shape: Any, d: int) -> list[Callable[[], Any]]:
        """Batched products, triangles, structures, masks."""
        (n, m), k = shape, self.letter()
        ways = [
            lambda: sg.einsum("ijk,kl->il", self.grown((n, "m", k), 1), self.grown((k, m), d - 1)),
            lambda: sg.matmul(self.grown((n, k, "p"), min(d, 2)), self.grown(("p", m), d - 1))[:, 0],
            lambda: sg.where(self.grown((n, m), d) > 0, self.grown((n, m), d - 1), self.grown((m,), d - 1)),
            lambda: sg.flip(self.grown((m, n), d), [0]).T,
            lambda: sg.linalg.solve(self.positive(n, d - 1), self.grown((n, m), d - 1)),
            lambda: sg.linalg.norm(self.grown((n, "p", m), min(d, 2)), dim=1),
            lambda: sg.logsumexp(self.grown((n, m, "p"), min(d, 2)), 2),
            lambda: self.structured(n) @ self.grown((n, m), d),
            lambda: self.grown((n, m), d) @ self.structured(m),
            lambda: sg.real(self.complex_vector(n, d)[:, None] * sg.conj(self.complex_vector(m, d - 1))),
            lambda: sg.gather(self.grown((n, m), d), 0, self.made(f"j_{n}_{m}", (n, m), np.int64)),
        ]
        if n == m:
            ways += [
                lambda: sg.linalg.cholesky(self.positive(n, d - 1)),
                lambda: sg.triu(self.grown((n, n), d), 1),
                lambda: sg.linalg.matrix_power(self.positive(n, d - 1), -2),
                lambda: sg.matrix_exp(self.structured(n) / 5),
                lambda: sg.linalg.inv(self.made(f"P_{n}", (n, n), structure="psd")),
                lambda: self.grown((n, n), d) + self.grown((n, n), d - 1).T,
                lambda: self.diagonal(self.grown((n,), d)) + self.unit(n),
                lambda: self.structured(n) @ self.grown((n, n), d) @ self.structured(n).T,
            ]
        return ways

    def more_cubes(self, shape: Any, d: int) -> list[Callable[[], Any]]:
        """Batches and outer products."""
        n, m, k = shape
        return [
            lambda: sg.einsum("i,j,k->ijk", self.grown((n,), d), self.grown((m,), d - 1), self.grown((k,), d - 1)),
            lambda: sg.matmul(self.grown((m, n), d).T[:, :, None], self.grown((k,), d - 1)[None, None, :]),
            lambda: sg.matmul(self.grown((n, m, m), d - 1), self.grown((m, k), d - 1)),
            lambda: sg.softmax(self.grown((n, m, k), d), int(self.rng.integers(3))),
            lambda: sg.permute(self.grown((k, n, m), d), (1, 2, 0)),
            lambda: (
                sg.stack([self.grown((n, k), d), self.grown((n, k), d - 1)], 1)[:, :1] + self.grown((n, m, k), d - 1)
            ),
        ]

    def unit(self, n: str) -> Any:
        """The identity matrix."""
        return identity(n)

    def diagonal(self, v: Any) -> Any:
        """A diagonal matrix."""
        return diagonal_matrix(v)

    def positive(self, n: str, d: int) -> Any:
        M = self.grown((n, n), d)  # noqa: N806
        return M @ M.T + self.unit(n)

    def derivative(self) -> tuple[Term, Term]:
        """An expression, and its gradient, Jacobian, Hessian, or Hessian along a direction."""
        kind = self.rng.random()
        shape: Any = () if kind < 0.8 else (self.letter(),)
        while True:
            made = self.grown(shape, int(self.rng.integers(1, 4)))
            found = [s for s in symbols_of(made) if s.op.name == "symbol" and s.dtype.kind != "i"]
            if kind >= 0.6:
                found = [s for s in found if s.ndim <= 1 and s.dtype.kind == "f"]
            if found and len(postorder([made])) < 40:
                break
        wrt = self.one_of(found)
        if kind < 0.6:
            return made, gradient(made, [wrt])[0]
        if kind < 0.7:
            return made, jacobian(gradient(made, [wrt])[0], wrt)
        along = symbol("along", wrt.shape)
        if kind < 0.75:
            return made, directional(gradient(made, [wrt])[0], [wrt], [along])
        if kind < 0.8:
            return made, gradient(sg.sum(gradient(made, [wrt])[0] * along), [wrt])[0]
        if kind < 0.85:
            return made, gradient(made, [wrt], symbol("cotangent", made.shape))[0]
        return made, jacobian(made, wrt)


def structured_value(structure: str | None, value: Any) -> Any:
    """A random matrix made one of a structure."""
    if structure is None:
        return value
    return {
        "symmetric": lambda M: M + M.T, "psd": lambda M: M @ M.T + np.eye(len(M)), "lower": np.tril,
        "orthogonal": lambda M: np.linalg.qr(M)[0], "diagonal": lambda M: np.diag(np.diag(M)),
        "upper": np.triu,
    }[structure](value)  # fmt: skip


def value_for(shape: tuple[int, ...], dtype: Any, structure: str | None, rng: np.random.Generator) -> Any:
    """A random value of a symbol: integers are indices along the first axis."""
    if np.dtype(dtype).kind == "i":
        return rng.integers(0, shape[0], size=shape)
    value = rng.normal(size=shape)[()]
    if np.dtype(dtype).kind == "c":
        value = value + 1j * rng.normal(size=shape)[()]
    return structured_value(structure, value)


def values_for(terms: list[Term], rng: np.random.Generator, sizes: dict[str, int]) -> dict[str, Any]:
    """Random values for the symbols of some terms, for sizes of the letters."""
    found = {s.params["name"]: s for s in symbols_of(*terms) if s.op.name == "symbol"}
    return {
        name: value_for(tuple(sizes[k] for k in s.shape), s.dtype, s.params.get("structure"), rng)
        for name, s in sorted(found.items())
    }
