"""Functions of one matrix may stand in any order: like terms of gradients come together, and read back."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.reading.text import from_latex
from symgrad.formula.reading.unicode import from_unicode
from symgrad.formula.term import evaluate

RNG = np.random.default_rng(9)
VALUES = {"X": 0.3 * RNG.normal(size=(3, 3)), "A": RNG.normal(size=(3, 3))}


def one(X):
    return sg.eye(X.shape[0])


def power(X):
    return sg.linalg.matrix_exp(X)


def inverse(X):
    return sg.linalg.inv(X)


EXP = r"\operatorname{expm}\left(X\right)"
GRADIENTS = {
    "log det": (lambda X, A: sg.logdet(one(X) + X @ X), r"2 \left(I + X^{2}\right)^{-\top} X^{\top}"),
    "exponential": (lambda X, A: power(X @ X).trace(), r"2 \operatorname{expm}\left(X^{2}\right)^{\top} X^{\top}"),
    "resolvent": (
        lambda X, A: inverse(one(X) + X @ X).trace(),
        r"-2 \left(\left(I + X^{2}\right)^{-2}\right)^{\top} X^{\top}",
    ),
    "cube": (
        lambda X, A: sg.logdet(one(X) - X @ X @ X),
        r"-3 \left(I - X^{3}\right)^{-\top} \left(X^{2}\right)^{\top}",
    ),
    "of a sum": (lambda X, A: (inverse(A + X) @ (A + X) @ (A + X) @ power(2 * (A + X))).trace(), None),
    "transposed": (lambda X, A: (A @ power(X).T @ X.T @ inverse(X + 3 * one(X)).T).trace(), None),
    "in a trace": (lambda X, A: (X @ inverse(one(X) - 2 * X) @ power(X) @ inverse(one(X) - 2 * X)).trace(), None),
    "of others": (lambda X, A: (A @ X @ power(X) @ A @ inverse(one(X) + X)).trace(), None),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_of_functions_of_one_matrix(name):
    """That of log|I + X²| was (X(I + X²)⁻¹ + (I + X²)⁻¹X)ᵀ."""
    f, text = GRADIENTS[name]
    found = sg.formula(f, shapes="X=n,n A=n,n", wrt="X")
    assert text in (None, found.latex())
    leaves = [sg.tensor(v, requires_grad=True) for v in VALUES.values()]
    want = sg.autograd.grad(f(*leaves), leaves[:1])[0].numpy()
    for read, printed in ((from_latex, found.latex()), (from_unicode, found.unicode())):
        made = evaluate(read(printed, found.symbols, shape=found.term.shape), VALUES)
        np.testing.assert_allclose(made, want, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (lambda X: X @ power(X) - power(X) @ X, "0"),
        (lambda X: power(X) @ X @ power(2 * X), r"X \operatorname{expm}\left(3 X\right)"),
        (lambda X: inverse(X) @ power(X) @ X, r"\operatorname{expm}\left(X\right)"),
        (
            lambda X: power(X) @ power(X.T),
            r"\operatorname{expm}\left(X\right) \operatorname{expm}\left(X\right)^{\top}",
        ),
    ],
    ids=["a commutator", "exponents", "a similarity", "others"],
)
def test_products_of_functions_of_one_matrix(f, text):
    assert sg.latex(f, (3, 3)) == text


def test_logarithms_in_a_trace_have_the_inverse_as_derivative():
    """It was L_log(Aᵀ, I)."""
    A = VALUES["A"] @ VALUES["A"].T + np.eye(3)
    found = sg.formula(lambda A: sg.linalg.logm(A).trace(), A, wrt="A")
    assert found.latex() == r"A^{-\top}"
    np.testing.assert_allclose(found.evaluate(A=A), np.linalg.inv(A).T)


def test_derivatives_of_exponentials_in_directions_that_commute():
    S = sg.tensor(VALUES["A"] @ VALUES["A"].T / 9, structure="symmetric", requires_grad=True, name="S")
    (slope,) = sg.autograd.grad((power(S @ S) @ S).trace(), [S], create_graph=True)
    assert slope.latex() == r"\operatorname{expm}\left(S^{2}\right) + 2 S^{2} \operatorname{expm}\left(S^{2}\right)"
    found = sg.formula(slope).evaluate(S=S.numpy(force=True))
    np.testing.assert_allclose(found, slope.numpy(force=True), rtol=1e-9)


PSEUDO = {
    "projection": (lambda X, y: y @ X @ sg.linalg.pinv(X) @ y,
                   r"2 \left(y - X X^{+} y\right) y^{\top} \left(X^{+}\right)^{\top}"),
    "residual": (lambda X, y: ((y - X @ (sg.linalg.pinv(X) @ y)) ** 2).sum(),
                 r"2 \left(X X^{+} y - y\right) y^{\top} \left(X^{+}\right)^{\top}"),
    "solution": (lambda X, y: ((sg.linalg.pinv(X) @ y) ** 2).sum(), None),
}  # fmt: skip


@pytest.mark.parametrize("name", PSEUDO)
def test_pseudo_inverses_beside_their_matrices(name):
    """The gradient of yᵀXX⁺y had (X⁺)ᵀX⁺y(y - (X⁺)ᵀXᵀy)ᵀX, which is 0, and 2 XX⁺ in two words."""
    f, text = PSEUDO[name]
    found = sg.formula(f, shapes="X=n,m y=n", wrt="X")
    assert text in (None, found.latex())
    for shape in ((5, 3), (3, 5)):
        values = {"X": RNG.normal(size=shape), "y": RNG.normal(size=shape[0])}
        want = sg.func.grad(f)(*map(sg.tensor, values.values())).numpy()
        read = from_latex(found.latex(), found.symbols, shape=found.term.shape)
        np.testing.assert_allclose(evaluate(read, values), want, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (lambda X: X @ sg.linalg.pinv(X) @ X, "X"),
        (lambda X: sg.linalg.pinv(X) @ X @ sg.linalg.pinv(X), r"X^{+}"),
        (lambda X: X.T @ X @ sg.linalg.pinv(X), r"X^{\top}"),
        (lambda X: X @ sg.linalg.pinv(X) @ sg.linalg.pinv(X).T @ X.T, r"X X^{+}"),
        (lambda X: (X @ sg.linalg.pinv(X)) ** 2, r"\left(X X^{+}\right)^{\odot 2}"),
    ],
    ids=["first", "second", "normal equations", "twice", "entries"],
)
def test_penroses_conditions(f, text):
    assert sg.latex(f, shapes="X=n,m") == text


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (lambda s, X, v: v @ power(s * X) @ v, r"v^{\top} X^{2} \operatorname{expm}\left(s X\right) v"),
        (
            lambda s, X, v: power(s * X).trace(),
            r"\operatorname{tr}\left(X^{2} \operatorname{expm}\left(s X\right)\right)",
        ),
        (
            lambda s, X, v: v @ power(s * s * X) @ v,
            r"2 \left(v + 2 s^{2} X^{\top} v\right)^{\top} X \operatorname{expm}\left(s^{2} X\right) v",
        ),
        (lambda s, X, v: v @ power(s * X + np.diag([1.0, 2.0, 3.0])) @ v, None),
    ],
    ids=["quadratic form", "trace", "square", "of no one matrix"],
)
def test_second_derivatives_of_exponentials_by_a_number(f, text):
    values = {"s": np.array(0.4), "X": VALUES["X"], "v": RNG.normal(size=3)}
    s, X, v = (sg.tensor(value, requires_grad=True, name=name) for name, value in values.items())
    (slope,) = sg.autograd.grad(f(s, X, v), s, create_graph=True)
    (curvature,) = sg.autograd.grad(slope, s, create_graph=True)
    found = sg.formula(curvature)
    assert text in (None, found.latex())
    sides = [
        sg.func.grad(lambda s: f(s, X.detach(), v.detach()))(sg.tensor(np.array(0.4 + h))).item() for h in (1e-5, -1e-5)
    ]
    read = from_latex(found.latex(), found.symbols, shape=())
    used = {t.params["name"]: values.get(t.params["name"], np.diag([1.0, 2.0, 3.0])) for t in found.symbols}
    np.testing.assert_allclose(evaluate(read, used), (sides[0] - sides[1]) / 2e-5, rtol=1e-7)
