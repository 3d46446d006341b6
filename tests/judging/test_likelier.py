"""Texts whose shapes nobody states: what is a number, and what an array, whose derivative is a Jacobian."""

import pytest

import symgrad as sg


@pytest.mark.parametrize(
    ("of", "wrt", "formula"),
    [
        # a matrix is no vector, so these are arrays
        ("tanh(W@x + b)", "x", r"\operatorname{diag}\left(1 - \tanh^{2}\left(W x + b\right)\right) W"),
        ("A@x", "x", "A"),
        ("K@x - k*x", "x", r"K - k I"),
        # and nobody takes the norm, the mean or the product of numbers
        ("softmax(x)", "x", None),
        ("x/norm(x)", "x", None),
        ("x - mean(x)", "x", r"I_{n} - \frac{1}{n} \mathbf{1}_{n} \mathbf{1}_{n}^{\top}"),
        ("x*(a@x)", "x", None),
        # numbers where that is possible
        ("norm(x - a)", "x", r"\frac{1}{\lVert x - a \rVert} \left(x - a\right)"),
        ("c*norm(x)", "x", r"\frac{c}{\lVert x \rVert} x"),
        ("exp(-x**2)", "x", r"-2 x e^{-x^{2}}"),
        ("a*x**2 + b*x + c", "x", r"2 a x + b"),
        ("I**2*R", "R", r"I^{2}"),
        ("P*V", "V", "P"),
        ("a@X@b", "X", r"a b^{\top}"),
    ],
)
def test_formulas(of, wrt, formula):
    found = sg.latex(of, wrt=wrt)
    assert formula is None or found == formula
    assert sg.judge(found, of=of, wrt=wrt)


def test_functions_are_asked_as_texts_are():
    assert sg.formula(lambda W, x: sg.tanh(W @ x), wrt="x").unicode() == "diag(1 − tanh²(W x)) W"
    assert sg.formula(lambda w, x: sg.tanh(w @ x), wrt="x").unicode() == "(1 − tanh²(wᵀ x)) w"


@pytest.mark.parametrize(
    ("text", "of", "wrt", "equal"),
    [
        (r"s_i(\delta_{ij} - s_j), \quad s = softmax(x)", "softmax(x)", "x", True),
        (r"X^T \otimes I + I \otimes X", "X@X", "X", True),
        (r"-X^{-T} \otimes X^{-1}", "inv(X)", "X", True),
        ("-1/X**2", "inv(X)", "X", False),
        (r"(1 - \tanh^2(Wx + b)) \odot W", "tanh(W@x + b)", "x", False),
        ("0", "softmax(x)", "x", False),
        ("2*x", "x*(x@x)", "x", False),
    ],
)
def test_answers_about_arrays(text, of, wrt, equal):
    verdict = sg.judge(text, of=of, wrt=wrt)
    assert verdict.equal is equal
    if not equal:
        assert verdict.ours.ndim in (2, 4)  # the Jacobian that was asked for


def test_a_derivation_says_which_shapes_it_would_need():
    with pytest.raises(sg.errors.SymgradError, match="starts from a scalar"):
        sg.derive("tanh(W@x + b)", wrt="x", shapes="W=n,m x=m b=n")


@pytest.mark.parametrize(
    ("text", "wrt"),
    [("softmax(x, axis=1)", "x"), ("sum(x, axis=1)", "x"), ("norm(X, axis=1)", "X"), ("diag(x)@A", "x")],
)
def test_axes_that_an_array_has_not_are_a_reason_to_give_it_more(text, wrt):
    assert sg.formula(text, wrt=wrt)
