"""Objectives of courses and papers: the gradient in the form that they print, proved at three sizes."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.reading.text import from_latex
from symgrad.formula.term import evaluate

SIZES = ({"n": 4, "m": 3, "k": 2}, {"n": 5, "m": 2, "k": 3}, {"n": 7, "m": 4, "k": 6})
CASES = {
    "kernel ridge": (
        lambda a, K, y, lam: ((y - K @ a) ** 2).sum() + lam * (a @ K @ a),
        ("n", "S", "n", "+"), {"K": "symmetric"},
        r"2 K \left(\lambda a - y + K a\right)",
    ),
    "Procrustes": (
        lambda R, X, Y: sg.linalg.norm(X @ R.T - Y) ** 2,
        ("mm", "nm", "nm"), {},
        r"2 \left(X R^{\top} - Y\right)^{\top} X",
    ),
    "Kullback-Leibler factorisation": (
        lambda W, H, V: (V * sg.log(V / (W @ H)) - V + W @ H).sum(),
        ("+nk", "+km", "+nm"), {},
        r"\left(1 - \frac{V}{W H}\right) H^{\top}",
    ),
    "alternating least squares": (
        lambda U, V, R, M, lam: (M * (R - U @ V.T) ** 2).sum() + lam * ((U**2).sum() + (V**2).sum()),
        ("nk", "mk", "nm", "+nm", "+"), {},
        r"2 \left(\lambda U - \left(M \odot \left(R - U V^{\top}\right)\right) V\right)",
    ),
    "smoothing": (
        lambda F, L, Y, lam: ((F - Y) ** 2).sum() + lam * sg.trace(F.T @ L @ F),
        ("nm", "S", "nm", "+"), {"L": "symmetric"},
        r"2 \left(F - Y + \lambda L F\right)",
    ),
    "optimal control": (
        lambda u, x, Q, R, A, B, P: x @ Q @ x + u @ R @ u + (A @ x + B @ u) @ P @ (A @ x + B @ u),
        ("m", "n", "S", "T", "nn", "nm", "S"), {"Q": "symmetric", "R": "symmetric", "P": "symmetric"},
        r"2 \left(R u + B^{\top} P \left(A x + B u\right)\right)",
    ),
    "negative binomial": (
        lambda w, X, y, r: -(
            r * sg.log(r / (r + sg.exp(X @ w))) + y * sg.log(sg.exp(X @ w) / (r + sg.exp(X @ w)))
        ).sum(),
        ("m", "nm", "+n", "+"), {},
        r"r X^{\top} \frac{e^{X w} - y}{r + e^{X w}}",
    ),
    "partial likelihood": (
        lambda w, X, delta, R: -(delta * (X @ w - sg.log(R @ sg.exp(X @ w)))).sum(),
        ("m", "nm", "n", "+nn"), {},
        r"X^{\top} \left(e^{X w} \odot R^{\top} \frac{\delta}{R e^{X w}} - \delta\right)",
    ),
    "Weibull": (
        lambda w, X, t, d, k: (sg.exp(k * (sg.log(t) - X @ w)) - d * (sg.log(k) + k * (sg.log(t) - X @ w))).sum(),
        ("m", "nm", "+n", "n", "+"), {},
        r"k X^{\top} \left(d - e^{k \left(\log\left(t\right) - X w\right)}\right)",
    ),
    "a Lagrangian": (
        lambda x, nu, q, A, b, Q: 0.5 * x @ Q @ x + q @ x + nu @ (A @ x - b),
        ("n", "m", "n", "mn", "m", "S"), {"Q": "symmetric"},
        r"Q x + q + A^{\top} \nu",
    ),
    "a Schur complement": (
        lambda B, A, C: sg.logdet(C - B.T @ sg.linalg.solve(A, B)),
        ("nm", "S", "Z"), {"A": "symmetric", "C": "symmetric"},
        r"-2 A^{-1} B \left(C - B^{\top} A^{-1} B\right)^{-1}",
    ),
    "regularised transport": (
        lambda f, g, a, b, C, eps: a @ f + b @ g - eps * sg.exp((f[:, None] + g - C) / eps).sum(),
        ("n", "m", "n", "m", "nm", "+"), {},
        r"a - e^{\frac{1}{\epsilon} \left(f \mathbf{1}^{\top} + \mathbf{1} g^{\top} - C\right)} \mathbf{1}",
    ),
    "damping": (
        lambda p, J, r, mu: 0.5 * ((J @ p + r) ** 2).sum() + 0.5 * mu * (p @ sg.diag(sg.diagonal(J.T @ J)) @ p),
        ("m", "nm", "n", "+"), {},
        r"J^{\top} \left(J p + r\right) + \mu p \odot \left(J^{\odot 2}\right)^{\top} \mathbf{1}",
    ),
    "contrastive": (
        lambda Z, C, tau: (sg.logsumexp(Z @ C.T / tau, 1) - sg.diagonal(Z @ C.T / tau)).mean(),
        ("nk", "nk", "+"), {},
        r"\frac{1}{n \tau} \left(\operatorname{softmax}\left(\frac{Z C^{\top}}{\tau}\right) - I\right) C",
    ),
    "probabilistic PCA": (
        lambda W, S, s: sg.logdet(W @ W.T + s * sg.eye(len(W), dtype=sg.float64))
        + sg.trace(sg.linalg.inv(W @ W.T + s * sg.eye(len(W), dtype=sg.float64)) @ S),
        ("nk", "S", "+"), {"S": "symmetric"},
        r"2 \left(W W^{\top} + s I\right)^{-1} \left(W - S \left(W W^{\top} + s I\right)^{-1} W\right)",
    ),
    "inverse Wishart": (
        lambda nu, S, P: nu / 2 * sg.logdet(P) - (nu + len(S) + 1) / 2 * sg.logdet(S) - sg.trace(P @ S.inverse()) / 2,
        ("+", "S", "S"), {"S": "symmetric", "P": "symmetric"},
        r"\frac{\log \det\left(P\right) - \log \det\left(S\right)}{2}",
    ),
    "beams": (
        lambda w, a, R: sg.abs(w.conj() @ a) ** 2 / (w.conj() @ R @ w).real,
        ("Cn", "Cn", "H"), {"R": "hermitian"},
        (r"\frac{2}{\operatorname{Re}\left(w^{H} R w\right)} \left(\left(a^{H} w\right) a - "
        r"\frac{\left|w^{H} a\right|^{2}}{\operatorname{Re}\left(w^{H} R w\right)} R w\right)"),
    ),
    "phases": (
        lambda x, A, y: ((sg.abs(A @ x) ** 2 - y) ** 2).sum(),
        ("Cm", "Cnm", "+n"), {},
        r"4 A^{H} \left(A x \odot \left(\left|A x\right|^{\odot 2} - y\right)\right)",
    ),
    "scattering": (
        lambda q, R, k: sg.abs((q * sg.exp(1j * (R @ k))).sum()) ** 2,
        ("n", "nm", "m"), {},
        (r"2 \operatorname{Re}\left(\left(q^{\top} e^{\mathrm{i} R k}\right) "
        r"\overline{e^{\mathrm{i} R k}}\right)"),
    ),
    "scale of a rotation": (
        lambda s, R, X, Y: ((s * X @ R.T - Y) ** 2).sum(),
        ("+", "mm", "nm", "nm"), {},
        (r"2 \left(s \lVert R X^{\top} \rVert_{F}^{2} - "
        r"\operatorname{tr}\left(R X^{\top} Y\right)\right)"),
    ),
    "heat capacity": (
        lambda T, E, k: (E * sg.exp(-E / (k * T))).sum() / sg.exp(-E / (k * T)).sum(), ("+", "n", "+"), {},
        (r"\frac{\left(E^{\odot 2}\right)^{\top} \operatorname{softmax}\left(-\frac{E}{k T}\right) "
        r"- \left(E^{\top} \operatorname{softmax}\left(-\frac{E}{k T}\right)\right)^{2}}{k T^{2}}"),
    ),
    "ratings": (
        lambda r, s, y: -y * sg.log(1 / (1 + 10 ** (s - r))) - (1 - y) * sg.log(1 - 1 / (1 + 10 ** (s - r))),
        ("+", "+", "+"), {},
        r"\frac{\log\left(10\right) \left(1 - y \cdot 10^{s - r} - y\right)}{1 + 10^{s - r}}",
    ),
    "a covariance": (
        lambda b, E, v: v @ sg.softmax(b * E, 0), ("+", "n", "n"), {},
        (r"\left(\operatorname{softmax}\left(b E\right) \odot "
        r"\left(v - v^{\top} \operatorname{softmax}\left(b E\right)\right)\right)^{\top} E"),
    ),
    "a system of blocks": (
        lambda A, B, x, y: (sg.linalg.solve(sg.cat([
            sg.cat([A, B.T], 1), sg.cat([B, sg.zeros(len(B), len(B))], 1)]), sg.cat([x, y])) ** 2).sum(),
        ("S", "kn", "n", "k"), {},
        ("\\begin{aligned}\n"
        r"t_{1} &= \begin{bmatrix} A & B^{\top} \\ B & \mathbf{0}_{n} \end{bmatrix} \\" "\n"
        r"t_{2} &= t_{1}^{-1} \begin{bmatrix} x \\ y \end{bmatrix} \\" "\n"
        r"& -2 \left(t_{1}^{-\top} t_{2} t_{2}^{\top}\right)_{[:m, :m]}" "\n"
        r"\end{aligned}"),
    ),
}  # fmt: skip


def values(kinds, sizes):
    """Arrays of normal numbers; "+" of positive ones, "S" and "T" positive definite, "Z" large enough beside them.

    "C" are complex ones, and "H" is Hermitian.
    """
    rng = np.random.default_rng(7)
    found = []
    for kind in kinds:
        if kind in ("S", "T", "Z"):
            n = sizes["n" if kind == "S" else "m"]
            A = rng.normal(size=(n, n))
            found.append(A @ A.T + (30 if kind == "Z" else 1) * np.eye(n))
            continue
        if kind[0] in "CH":
            shape = [sizes[s] for s in kind[1:] or "nn"]
            z = rng.normal(size=shape) + 1j * rng.normal(size=shape)
            found.append(z @ z.conj().T + np.eye(len(z)) if kind == "H" else z)
            continue
        shape = [sizes[s] for s in kind.lstrip("+")]
        found.append(np.asarray(rng.uniform(0.5, 1.5, shape) if kind.startswith("+") else rng.normal(size=shape)))
    return found


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_courses(name):
    f, kinds, assume, text = CASES[name]
    found = sg.formula(f, *values(kinds, SIZES[0]), wrt=0, assume=assume)
    assert found.latex() == text
    read = from_latex(text, found.symbols, shape=found.term.shape)
    for sizes in SIZES:
        args = values(kinds, sizes)
        given = dict(zip(f.__code__.co_varnames, args, strict=False))
        want = sg.func.grad(f)(*map(sg.tensor, args)).numpy()
        np.testing.assert_allclose(found.evaluate(**given), want, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(evaluate(read, given), want, rtol=1e-9, atol=1e-11)
