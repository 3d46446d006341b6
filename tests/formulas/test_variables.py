"""Arrays from outside of a function, and those of recorded code, are called like the variables that hold them."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg

RNG = np.random.default_rng(4)
DESIGN, target = RNG.normal(size=(7, 3)), RNG.normal(size=7)
w = RNG.normal(size=3)


def squares(w):
    return np.sum((DESIGN @ w - target) ** 2)


def normal_equations(w):
    rest = DESIGN.T @ (DESIGN @ w - target)
    return rest @ rest


def test_globals_have_their_names_in_formulas():
    assert sg.latex(squares, w, wrt="w") == (
        r"2 \mathrm{DESIGN}^{\top} \left(\mathrm{DESIGN} \, w - \mathrm{target}\right)"
    )


def test_variables_of_enclosing_functions_and_parts_of_self_do_too():
    class Model:
        def __init__(self):
            self.S = RNG.normal(size=(3, 3))

        def value(self, w):
            return w @ self.S @ b

    b = RNG.normal(size=3)
    assert sg.latex(lambda w: Model().value(w), w, wrt="w") == "S b"


def test_the_outermost_variable_gives_the_name():
    def inner(A, w):
        return np.sum(np.sin(A @ w))

    assert sg.latex(lambda w: inner(DESIGN, w), w) == r"\mathbf{1}^{\top} \sin\left(\mathrm{DESIGN} \, w\right)"


def test_a_transposed_variable_is_its_transpose():
    X = DESIGN
    assert sg.latex(lambda w: np.sum(np.exp(X.T @ (X @ w))), w) == r"\mathbf{1}^{\top} e^{X^{\top} X w}"


def test_a_transposed_tensor_without_gradient_is_its_transpose():
    """It was c₁, in programs of (3, 7) entries beside which nothing said what they are."""
    X = sg.tensor(DESIGN)
    mu = sg.tensor(w)
    v = sg.tensor(w, requires_grad=True)
    assert sg.exp(X.mT @ (X @ v)).latex() == r"e^{X^{\top} X v}"
    assert (v[:, None] * mu[None, :]).latex() == r"v \mu^{\top}"
    assert (v[:, None] * mu[None, ...]).latex() == r"v \mu^{\top}"
    assert sg.latex(lambda w: np.sum(np.exp(X.T @ (X @ w))), w) == r"\mathbf{1}^{\top} e^{X^{\top} X w}"
    assert sg.compile(lambda w: w @ X.T, w).source.splitlines()[-1].strip() == "return w @ X.T"
    assert (sg.tensor(DESIGN.T).T @ v).latex() == "c_{1} v"


def test_data_of_a_tensor_are_called_as_they_are_assigned():
    """They had the name of a variable of this library's, out."""
    V = sg.tensor(DESIGN).data
    v = sg.tensor(w, requires_grad=True)
    assert (V @ v).latex() == "V v"
    assert (v @ V.T).latex() == "V v"
    assert (sg.tensor(DESIGN).data @ v).latex() == "c_{1} v"


def test_a_transposed_tensor_that_is_written_to_is_data():
    X = sg.tensor(DESIGN)
    v = sg.tensor(w, requires_grad=True)
    made = v @ X.T
    X.mul_(2)
    assert made.latex() == "X v"
    compiled = sg.compile(lambda w: w @ X.T, w)
    np.testing.assert_allclose(compiled(w), 2 * DESIGN @ w)
    X.mul_(3)
    np.testing.assert_allclose(compiled(w), 6 * DESIGN @ w)


def test_programs_read_a_variable_once():
    source = sg.compile(normal_equations, w).source
    assert "def normal_equations(w, DESIGN=DESIGN, target=target):" in source
    assert "DESIGN.T @ (DESIGN @ w - target)" in source


def test_what_has_a_notation_of_its_own_keeps_it():
    Q = np.eye(3)
    assert sg.latex(lambda w: w @ Q @ w, w) == r"w^{\top} w"


def test_a_part_of_a_variable_has_no_name():
    assert sg.latex(lambda x: np.sum(x * DESIGN[0]), w) == r"x^{\top} c_{1}"


def test_the_name_of_a_parameter_belongs_to_the_parameter():
    def shadowed(x):
        before = np.exp(x)
        x = np.array([1.0, -2.0, 3.5])
        return np.sum(before * x)

    assert sg.formula(shadowed, w).unicode() == "x₂ᵀ e^x"


def test_checks_have_one_symbol_for_a_variable_that_is_read_twice():
    def counts(w):
        return np.sum(np.exp(DESIGN @ w) - target * (DESIGN @ w))

    report = str(sg.check(counts, lambda w: DESIGN.T @ np.exp(DESIGN @ w), w))
    assert "DESIGN.T @ (exp(DESIGN @ w) - target)" in report
    assert "DESIGN_2" not in report


@pytest.mark.parametrize("rows", [5, 5000])
def test_recorded_code_has_the_names_of_the_variables_that_hold_its_arrays_now(rows):
    A, b = RNG.normal(size=(rows, 3)), RNG.normal(size=rows)
    x = sg.tensor(w, requires_grad=True)
    ((A @ x - b) ** 2).sum().backward()
    assert x.grad.latex() == r"2 A^{\top} \left(A x - b\right)"
    again = A  # noqa: F841
    assert x.grad.latex() == r"2 c_{1}^{\top} \left(c_{1} x - b\right)"  # one of two would be a guess
    A = again = None  # noqa: F841
    assert x.grad.latex() == r"2 c_{1}^{\top} \left(c_{1} x - b\right)"


def test_recorded_arrays_are_called_like_no_other_array():
    def product(M):
        x = sg.tensor(w, requires_grad=True, name="x")
        return (M @ x).sin().sum()

    first = product(DESIGN)
    M = np.cos(DESIGN)
    assert first.latex() == r"\mathbf{1}^{\top} \sin\left(\mathrm{DESIGN} \, x\right)"
    assert product(M).latex() == r"\mathbf{1}^{\top} \sin\left(M x\right)"
    assert product(np.sin(M)).latex() == r"\mathbf{1}^{\top} \sin\left(c_{1} x\right)"


def test_a_leaf_keeps_its_name_beside_a_variable_of_that_name():
    x = sg.tensor(w, requires_grad=True, name="A")
    A = np.cos(DESIGN)
    assert (A @ x).latex() == "A_{2} A"
