"""Formulas of programs as people write them: the canonical form, its LaTeX and the file that is exported are right."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.canonical.simplify import canonical
from symgrad.formula.printing.latex import latex
from symgrad.formula.reading.text import from_latex
from symgrad.formula.term import evaluate, symbols

rng = np.random.default_rng(0)
functional = sg.nn.functional


def normal(*shape):
    return rng.standard_normal(shape)


def attention(q, k, v):
    return (functional.scaled_dot_product_attention(q, k, v, is_causal=True) ** 2).mean()


def lstm(W, U, x):
    h = c = sg.zeros(2, 4, dtype=sg.float64)
    for t in range(3):
        i, f, g, o = (x[t] @ W.t() + h @ U.t()).chunk(4, 1)
        c = sg.sigmoid(f) * c + sg.sigmoid(i) * sg.tanh(g)
        h = sg.sigmoid(o) * sg.tanh(c)
    return h.sum()


def gaussian_process(scale, size, noise, X, y):
    distance = sg.cdist(X / scale.exp(), X / scale.exp())
    K = size.exp() * sg.exp(-0.5 * distance**2) + noise.exp() * sg.eye(6, dtype=sg.float64)
    L = sg.linalg.cholesky(K)
    a = sg.cholesky_solve(y.unsqueeze(-1), L)
    return 0.5 * (y @ a.squeeze(-1)) + L.diagonal().log().sum()


def convolution(W1, b1, W2, x):
    h = functional.max_pool2d(functional.relu(functional.conv2d(x, W1, b1, padding=1)), 2)
    return functional.cross_entropy(h.flatten(1) @ W2.T, sg.tensor([3, 7]))


def random_field(E, T):
    a = E[0]
    for t in range(1, 5):
        a = sg.logsumexp(a.unsqueeze(1) + T + E[t].unsqueeze(0), 0)
    tags = sg.tensor([0, 1, 2, 3, 0])
    return sg.logsumexp(a, 0) - E[sg.arange(5), tags].sum() - T[tags[:-1], tags[1:]].sum()


def kalman_filter(lq, lr, y):
    A = sg.tensor([[1.0, 0.1], [0, 1.0]], dtype=sg.float64)
    H = sg.tensor([[1.0, 0]], dtype=sg.float64)
    eye = sg.eye(2, dtype=sg.float64)
    m, P, total = sg.zeros(2, dtype=sg.float64), eye, 0
    for t in range(5):
        m, P = A @ m, A @ P @ A.mT + lq.exp() * eye
        S = H @ P @ H.mT + lr.exp()
        v, K = y[t] - H @ m, P @ H.mT @ sg.linalg.inv(S)
        m, P = m + K @ v, (eye - K @ H) @ P
        total = total - 0.5 * (v @ sg.linalg.solve(S, v) + sg.logdet(S))
    return total


def pair_energies(positions):
    i, j = sg.triu_indices(6, 6, 1)
    d = (positions[i] - positions[j]).norm(dim=-1) + 0.5
    return (4 * (d**-12 - d**-6)).sum()


def spectral_derivative(x):
    k = sg.fft.fftfreq(16, dtype=sg.float64)
    return (sg.fft.ifft(1j * 2 * math.pi * k * sg.fft.fft(x)).real ** 2).sum()


def special_functions(x):
    two = sg.tensor(2.0, dtype=sg.float64)
    polynomial = sg.special.legendre_polynomial_p(x, 4) + sg.special.laguerre_polynomial_l(x, 3)
    return (sg.special.bessel_y0(x) + sg.special.gammainc(two, x) + polynomial + sg.lgamma(x)).sum()


def normalised(x, w):
    return functional.layer_norm(x, (4,), w).pow(3).sum() + functional.gelu(x).sum()


PROGRAMS = {
    attention: [normal(2, 4, 5, 8) for _ in range(3)],
    lstm: [normal(16, 4), normal(16, 4), normal(3, 2, 4)],
    gaussian_process: [*normal(3), np.linspace(0, 1, 6)[:, None], normal(6)],
    convolution: [normal(4, 3, 3, 3), normal(4), normal(10, 64), normal(2, 3, 8, 8)],
    random_field: [normal(5, 4), normal(4, 4)],
    kalman_filter: [*normal(2), normal(5)],
    pair_energies: [normal(6, 3)],
    spectral_derivative: [normal(16)],
    special_functions: [np.abs(normal(5)) + 0.5],
    normalised: [normal(3, 4), normal(4)],
}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_formula(program):
    """The canonical form of the gradient by the first argument has its value, and is printed."""
    args = PROGRAMS[program]
    names = program.__code__.co_varnames[: len(args)]
    tensors = [
        sg.tensor(a, name=name, requires_grad=k == 0) for k, (name, a) in enumerate(zip(names, args, strict=True))
    ]
    (g,) = sg.autograd.grad(program(*tensors), tensors[0], create_graph=True)
    found = sg.formula(program, *args, wrt=names[0])
    values = dict(zip(names, args, strict=True))
    got = evaluate(canonical(found.term), {**found.constants, **values})
    np.testing.assert_allclose(np.broadcast_to(got, g.shape), g.detach().numpy(), rtol=1e-7, atol=1e-9)
    assert latex(found.term)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_exported_file(program, tmp_path):
    args = PROGRAMS[program]
    compiled = sg.compile(sg.func.grad(program), *args)
    want = sg.func.grad(program)(*map(sg.tensor, args))
    np.testing.assert_allclose(compiled(*args), want.numpy(), rtol=1e-9, atol=1e-12)
    path = tmp_path / "gradient.py"
    compiled.save(path)
    run = subprocess.run([sys.executable, "-I", str(path), "--selftest"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_constants_without_a_dtype_keep_a_scalar_exact():
    """torch rounds s to float32 here: 3e-8 off."""
    s = sg.tensor(np.float64(0.3), requires_grad=True, name="s")
    K = sg.tensor(2 * np.eye(3), name="K")
    for shift in (s * sg.eye(3), sg.eye(3) * s, sg.diag(sg.ones(3) * s)):
        (g,) = sg.autograd.grad(sg.logdet(K + shift), s, create_graph=True)
        assert g.item() == pytest.approx(3 / 2.3, rel=1e-15)
        assert float(sg.compile(g, ["K", "s"])(2 * np.eye(3), np.float64(0.3))) == pytest.approx(3 / 2.3, rel=1e-15)
    (g,) = sg.autograd.grad(sg.logdet(K + s * sg.eye(3)), s, create_graph=True)
    assert g.latex() == r"\operatorname{tr}\left(\left(K + s I\right)^{-1}\right)"
    assert (s * sg.eye(3, dtype=sg.float32)).dtype == sg.float32
    assert (s.detach() * sg.eye(3)).dtype == sg.float32


def test_what_is_carried_over_past_the_budget_is_products_of_matrices():
    """A filter of five steps is longer than one canonical form may be; its tail has no sums over indices."""
    names = ("lq", "lr", "y")
    args = PROGRAMS[kalman_filter]
    found = sg.formula(kalman_filter, *args, wrt="lr")
    text = found.latex(lines=10_000)
    assert r"\sum" not in text
    assert "reshape" not in text
    read = from_latex(text, symbols(found.term), shape=found.term.shape)
    values = {**found.constants, **dict(zip(names, args, strict=True))}
    np.testing.assert_allclose(evaluate(read, values), evaluate(found.term, values), rtol=1e-9)
