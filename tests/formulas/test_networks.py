"""Gradients of layers, cells, graphs and coupled oscillators as papers print them, and that they read back."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
import symgrad.nn.functional as F
from symgrad.formula.reading.text import from_latex
from symgrad.formula.reading.unicode import from_unicode
from symgrad.formula.term import evaluate


def graph_network(W, V, A, X, Y):
    return ((A @ sg.relu(A @ X @ W) @ V - Y) ** 2).sum() / 2


def gated_units(W, V, x, c):
    return c @ (F.silu(W @ x) * (V @ x))


def recurrent_cell(h, x, W, U, V, Q, c):
    z, k = sg.sigmoid(W @ x + U @ h), sg.tanh(V @ x + Q @ h)
    return c @ ((1 - z) * h + z * k)


def centred(X, axis):
    return X - X.mean(axis, keepdim=True)


def layer_norm(X, g, W):
    Z = centred(X, 1)
    return (W * (Z / sg.sqrt((Z**2).mean(1, keepdim=True) + 1e-5) * g)).sum()


def scatter(X):
    return ((centred(X, 0).T @ centred(X, 0)) ** 2).sum()


def weighed_rows(X, g, W):
    return (W * centred(X, 1) * g).sum(1)


def skewness(x):
    z = x - x.mean()
    return (z**3).mean() / (z**2).mean() ** 1.5


def kurtosis(x):
    z = x - x.mean()
    return (z**4).mean() / (z**2).mean() ** 2


def extremes(X):
    return X.amax(1).sum() - X.amin(0).sum()


def largest(X, w):
    return w @ X.amax(1)


def spins(t, J):
    return -(J * sg.cos(t[:, None] - t)).sum()


def oscillators(t, w, k):
    return w @ t + k / (2 * len(t)) * sg.cos(t[:, None] - t).sum()


def ring(x, k):
    return k / 2 * ((sg.roll(x, -1) - x) ** 2).sum()


def membrane(X, k):
    return k * ((sg.roll(X, 1, 0) - X) ** 2).sum() + ((sg.roll(X, 1, 1) - X) ** 2).sum()


def mirror(x):
    return ((x.flip(0) - x) ** 2).sum()


def information(w, X):
    p = sg.sigmoid(X @ w)
    return sg.logdet(X.T @ sg.diag(p * (1 - p)) @ X)


def distance(r, t, a):
    return (r * sg.cos(t) - a) ** 2 + (r * sg.sin(t)) ** 2


def hyperbolic_distance(r, t, a):
    return ((r * sg.cosh(t) - a) ** 2 - (r * sg.sinh(t)) ** 2).sum()


def margins(a, y, K):
    return (a * y) @ K @ (a * y) / 2 - a.sum()


def scaled_trace(d, W):
    return sg.trace(sg.diag(d) @ W @ sg.diag(d))


DERIVATIVES = {
    "hidden weights of a graph network": (
        graph_network, "W", ("mp", "pk", "nn", "nm", "nk"),
        "Xᵀ Aᵀ (Aᵀ (A relu(A X W) V − Y) Vᵀ ⊙ [A X W > 0])",
    ),
    "features of a graph network": (
        graph_network, "X", ("mp", "pk", "nn", "nm", "nk"),
        "Aᵀ (Aᵀ (A relu(A X W) V − Y) Vᵀ ⊙ [A X W > 0]) Wᵀ",
    ),
    "weights of gated units": (
        gated_units, "W", ("nm", "nm", "m", "n"), "(c ⊙ σ(W x) ⊙ V x ⊙ (W x ⊙ (1 − σ(W x)) + 1)) xᵀ",
    ),
    "input of gated units": (
        gated_units, "x", ("nm", "nm", "m", "n"),
        "Wᵀ (c ⊙ σ(W x) ⊙ V x ⊙ (W x ⊙ (1 − σ(W x)) + 1)) + Vᵀ (c ⊙ σ(W x) ⊙ W x)",
    ),
    "state of a gated cell": (
        recurrent_cell, "h", ("n", "m", "nm", "nn", "nm", "nn", "n"),
        ("t₁ = σ(W x + U h)\nt₂ = c ⊙ t₁\nt₃ = tanh(V x + Q h)\n"
         "   c ⊙ (1 − t₁) + Uᵀ (t₂ ⊙ (t₃ − h) ⊙ (1 − t₁)) + Qᵀ (t₂ ⊙ (1 − t₃^⊙2))"),
    ),
    "layer norm": (
        layer_norm, "X", ("nm", "m", "nm"),
        ("t₁ = X − (1/m) X 𝟏 𝟏ᵀ\nt₂ = t₁^⊙2 𝟏\n"
         "   diag(1/√(t₂/m + 10⁻⁵)) (W diag(g) − (1/m) W g 𝟏ᵀ − diag(((W ⊙ t₁) g)/(t₂ + 10⁻⁵ m)) t₁)"),
    ),
    "a scatter matrix": (scatter, "X", ("nm",), "t₁ = X − (1/n) 𝟏 𝟏ᵀ X\n   4 t₁ t₁ᵀ t₁"),
    "weighed rows": (weighed_rows, None, ("nm", "m", "nm"), "(W ⊙ (X − (1/m) X 𝟏 𝟏ᵀ)) g"),
    "skewness": (
        skewness, "x", ("n",),
        ("t₁ = x − (𝟏ᵀ x)/n\nt₂ = ‖t₁‖\nt₃ = t₂²\n"
         "   (3/t₂) ((√(n)/t₃) t₁ ⊙ (t₁ − (𝟏ᵀ t₁^⊙3)/t₃) − 1/√(n))"),
    ),
    "kurtosis": (
        kurtosis, "x", ("n",),
        ("t₁ = x − (𝟏ᵀ x)/n\nt₂ = ‖t₁‖\n"
         "   (4/t₂⁴) (n (t₁^⊙2 − (𝟏ᵀ t₁^⊙4)/t₂²) ⊙ t₁ − 𝟏ᵀ t₁^⊙3)"),
    ),
    "largest entries of rows": (
        largest, "X", ("nm", "n"), "diag(w/([X = [maxⱼ Xᵢⱼ]ᵢ 𝟏ᵀ] 𝟏)) [X = [maxⱼ Xᵢⱼ]ᵢ 𝟏ᵀ]",
    ),
    "extremes of rows and columns": (
        extremes, "X", ("nm",),
        "t₁ = [X = [maxⱼ Xᵢⱼ]ᵢ 𝟏ᵀ]\nt₂ = [X = 𝟏 [minᵢ Xᵢⱼ]ⱼᵀ]\n   diag(1/(t₁ 𝟏)) t₁ − t₂ diag(1/(t₂ᵀ 𝟏))",
    ),
    "spins": (spins, "t", ("n", "nn"), "(sin(t 𝟏ᵀ − 𝟏 tᵀ) ⊙ (J + Jᵀ)) 𝟏"),
    "stiffness of spins": (
        spins, ("t", "t"), ("n", "nn"), "u₁ = cos(t 𝟏ᵀ − 𝟏 tᵀ) ⊙ (J + Jᵀ)\n   diag(u₁ 𝟏) − u₁",
    ),
    "a ring of springs": (ring, "x", ("n", ""), "k (2 x − roll(x, 1) − roll(x, −1))"),
    "stiffness of a ring": (ring, ("x", "x"), ("n", ""), "k (2 Iₙ − roll₁(Iₙ, 1) − roll₁(Iₙ, −1))"),
    "a membrane": (
        membrane, "X", ("nm", ""),
        "2 (k (2 X − roll₀(X, −1) − roll₀(X, 1)) + 2 X − roll₁(X, −1) − roll₁(X, 1))",
    ),
    "a mirror": (mirror, "x", ("n",), "4 (x − flip(x))"),
    "no name for all but a matrix": (
        information, "w", ("p", "kp"),
        "t₁ = σ(X w)\n   Xᵀ (t₁ ⊙ (X ⊙ X (Xᵀ diag(t₁ ⊙ (1 − t₁)) X)⁻¹) 𝟏 ⊙ (1 − 2 t₁) ⊙ (1 − t₁))",
    ),
    "a distance in polar coordinates": (distance, "r", ("", "", ""), "2 (r − a cos(t))"),
    "a distance in hyperbolic coordinates": (hyperbolic_distance, "r", ("n", "n", "n"), "2 (r − a ⊙ cosh(t))"),
    "margins of a support vector machine": (margins, "a", ("n", "n", "nn"), "½ y ⊙ (K + Kᵀ) (a ⊙ y) − 1"),
    "a scaled diagonal": (scaled_trace, "d", ("n", "nn"), "2 d ⊙ diag(W)"),
    "oscillators": (oscillators, "t", ("n", "n", ""), "w − (k/n) sin(t 𝟏ₙᵀ − 𝟏ₙ tᵀ) 𝟏ₙ"),
}  # fmt: skip


@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives_of_layers_and_networks(name):
    f, wrt, shapes, text = DERIVATIVES[name]
    names = f.__code__.co_varnames[: len(shapes)]
    rng = np.random.default_rng(4)
    for k, sizes in enumerate(({"n": 4, "m": 3, "p": 2, "k": 5}, {"n": 3, "m": 5, "p": 4, "k": 6})):
        values = [rng.normal(size=[sizes[x] for x in shape]) for shape in shapes]
        found = sg.formula(f, *values, wrt=wrt)
        if not k:
            assert found.unicode() == text
        derivative = f if wrt is None else sg.func.hessian(f) if len(wrt) > 1 else sg.func.grad(f, names.index(wrt))
        want = derivative(*map(sg.tensor, values)).numpy()
        given = dict(zip(names, map(np.asarray, values), strict=True))
        letters = {x: n for s in found.symbols for x, n in zip(s.shape, given[s.name].shape, strict=True)}
        for read, written in ((from_latex, found.latex()), (from_unicode, found.unicode())):
            back = read(written, found.symbols, shape=found.term.shape)
            np.testing.assert_allclose(evaluate(back, given, letters), want, rtol=1e-8, atol=1e-10)


def test_penalties_of_slopes_of_gelu_have_formulas():
    """√(2/π)/√π went to and fro between two spellings, without end."""
    made = sg.formula(lambda x: (sg.func.grad(lambda t: sg.nn.functional.gelu(t).sum())(x) ** 2).sum(), (3,), wrt="x")
    x = np.random.default_rng(0).normal(size=3)
    slope = sg.func.grad(lambda t: sg.nn.functional.gelu(t).sum())
    want = sg.func.grad(lambda t: (slope(t) ** 2).sum())(x)
    back = from_latex(made.latex(), made.symbols, shape=made.term.shape)
    np.testing.assert_allclose(evaluate(back, {"x": x}, {"n": 3}), want.numpy(), rtol=1e-12)
