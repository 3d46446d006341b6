"""Diagonals in formulas: a matrix times the identity is no array whose axes may be read in another order."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.term import evaluate, symbols
from tests.formulas.roundtrip import readings

rng = np.random.default_rng(7)
K, u, s = rng.normal(size=(4, 4)) / 2, rng.normal(size=16), rng.normal(size=4)


def diagonal(K):
    return K * sg.eye(len(K))


def two_by_two(s):
    return sg.stack([sg.stack([s[0], s[1]]), sg.stack([s[2], s[3]])]) * sg.eye(2)


def along(A, E):
    return sg.func.jvp(sg.linalg.matrix_exp, (A,), (E,))[1]


OF_MATRICES = {
    "turned twice": lambda K: sg.flip(diagonal(sg.flip(K, (0,))), (0,)),
    "rolled back": lambda K: sg.roll(diagonal(sg.roll(K, 1, 0)), -1, 0),
    "determinant": lambda K: sg.linalg.det(diagonal(K)),
    "its logarithm": lambda K: sg.linalg.slogdet(diagonal(K)).logabsdet,
    "of an inverse": lambda K: sg.linalg.det(diagonal(sg.linalg.inv(K))),
    "product of eigenvalues": lambda K: sg.prod(sg.linalg.eigvalsh(diagonal(K + K.T))),
    "inverse of a Kronecker product": lambda K: sg.linalg.inv(sg.kron(K, K) * sg.eye(16)),
    "opened Kronecker product": lambda K: (sg.kron(K, K) * sg.eye(16)).reshape(4, 4, 4, 4),
    "exponential of a diagonal": lambda K: along(diagonal(K), K),
    "exponential of squares": lambda K: along(K * K, K),
    "complement": lambda K: 1 - diagonal(sg.sigmoid(-K)),
    "complement in a product": lambda K: sg.exp(K) * (1 - diagonal(sg.sigmoid(K))),
    "hyperbolic": lambda K: sg.linalg.matrix_exp(-diagonal(1 + sg.sinh(K) ** 2) / 9),
    "hyperbolic beside": lambda K: sg.linalg.inv(diagonal(K) + diagonal(K * sg.sinh(K) ** 2)),
    "two waves": lambda K: diagonal(sg.sin(K) * sg.cos(K.T)) - diagonal(sg.cos(K) * sg.sin(K.T)) + 2 * K,
}
OF_VECTORS = {
    "reshaped back": lambda u: diagonal(u.reshape(4, 4)).reshape(16),
    "reshaped again": lambda u: diagonal(u.reshape(4, 4)).reshape(2, 8),
    "a function reshaped": lambda u: diagonal(sg.exp(u.reshape(4, 4))).reshape(16),
}
OF_ENTRIES = {
    "two by two": lambda s: sg.linalg.det(two_by_two(s)),
    "its inverse": lambda s: sg.linalg.inv(two_by_two(s)),
}
CASES = [
    (f, name, x) for fs, name, x in ((OF_MATRICES, "K", K), (OF_VECTORS, "u", u), (OF_ENTRIES, "s", s)) for f in fs
]


@pytest.mark.parametrize(("case", "name", "x"), CASES, ids=[c for c, _, _ in CASES])
def test_a_diagonal_keeps_its_zeros(case, name, x):
    """det(K ⊙ I) was printed as det(K), and flips, shapes and Kronecker products likewise."""
    f = (OF_MATRICES | OF_VECTORS | OF_ENTRIES)[case]
    term = sg.formula(f, x).term
    want = np.asarray(f(sg.tensor(x)))
    for text, reading in readings(term, symbols(term)).items():
        got = np.asarray(evaluate(reading, {name: x}, {"n": len(x)}))
        assert np.allclose(got.reshape(want.shape), want, rtol=1e-8, atol=1e-10), text


OF_CONDITIONS = {
    "tanh": lambda K: sg.tanh((K > 0) * 1.0),
    "exponential": lambda K: sg.exp((K > 0) * 1.0),
    "softmax": lambda K: sg.softmax((K > 0) * 1.0, 1),
    "product": lambda K: ((K > 0) * 1.0) @ ((K > 0) * 1.0).T,
    "square": lambda K: ((K > 0) * 1.0) @ ((K > 0) * 1.0),
    "of matrices": lambda K: sg.linalg.matrix_exp((K > 0) * 1.0),
}


@pytest.mark.parametrize("case", OF_CONDITIONS)
def test_conditions_are_numbers_to_functions_and_products(case):
    """tanh [K > 0] was read back in half precision, [K > 0][K > 0]ᵀ as a product of truth values."""
    f = OF_CONDITIONS[case]
    term = sg.formula(f, K).term
    want = np.asarray(f(sg.tensor(K)))
    for text, reading in readings(term, symbols(term)).items():
        assert np.allclose(evaluate(reading, {"K": K}, {"n": 4}), want, rtol=1e-6), text


def test_conditions_of_entries_are_read_back():
    """[X_ijk > 0] among entries with indices was taken for an array whose index letters are missing."""
    f = lambda X, W: sg.tanh(sg.relu(X) @ W).sum()  # noqa: E731
    X, W = rng.normal(size=(3, 2, 4)), rng.normal(size=(4, 2))
    term = sg.formula(f, X, W, wrt="X").term
    for text, reading in readings(term, symbols(term)).items():
        assert np.allclose(evaluate(reading, {"X": X, "W": W}), sg.func.grad(f)(X, W), rtol=1e-9), text
