"""Values whose shapes nobody states: numbers with gradients, or arrays with Jacobians, as their names suggest."""

import pytest

import symgrad as sg


@pytest.mark.parametrize(
    ("text", "of", "wrt"),
    [
        ("W", "W@x", "x"),
        ("diag(1-tanh(W@x+b)**2)@W", "tanh(W@x+b)", "x"),
        ("diag(W@x+b>0)", "relu(W@x+b)", "b"),
        ("I-A", "x-A@x", "x"),
        ("I", "A@x+b", "b"),
        ("diag(softmax(x))-outer(softmax(x),softmax(x))", "softmax(x)", "x"),
        # of a number, if that is what fits
        ("2*X", "X**2", "X"),
        ("X", "a*X", "a"),
        ("cos(x)", "sin(x)", "x"),
        ("2*x", "x@x", "x"),
        ("-1/x**2", "1/x", "x"),
    ],
)
def test_right_ones(text, of, wrt):
    assert sg.judge(text, of=of, wrt=wrt)


@pytest.mark.parametrize(
    ("text", "of", "wrt"),
    [
        (r"B^\top\otimes A", "A@X@B", "X"),
        (r"-X^{-\top}\otimes X^{-1}", "X^{-1}", "X"),
        (r"I\otimes X + X^T\otimes I", "X@X", "X"),
        (r"I \otimes A", "A@X", "X"),
        (r"x^\top\otimes I", "A@x", "A"),
        (r"x^\top\otimes A", "A X x", "X"),
    ],
)
def test_jacobians_by_stacked_columns(text, of, wrt):
    verdict = sg.judge(text, of=of, wrt=wrt)
    assert verdict
    assert f"the text is the Jacobian of vec f by vec {wrt}, which stack columns." in verdict.notes


@pytest.mark.parametrize(
    ("text", "of", "wrt", "mistake"),
    [
        ("W.T", "W@x", "x", "The formula is the transpose of the exact one."),
        (r"A\otimes B^\top", "A@X@B", "X", "No single mistake"),
        (r"2(B^\top\otimes A)", "A@X@B", "X", "The formula is 2 times the exact one."),
        ("diag(softmax(x))", "softmax(x)", "x", ""),
    ],
)
def test_wrong_ones(text, of, wrt, mistake):
    verdict = sg.judge(text, of=of, wrt=wrt)
    assert verdict.verdict == "DIFFERENT"
    assert verdict.theirs.shape == verdict.ours.shape[::-1] or verdict.theirs.shape == verdict.ours.shape
    assert mistake in verdict.diagnosis.sentence


def test_a_diagonal_matrix_of_a_number_is_told():
    found = sg.judge("w * diag(1-tanh(w@x)**2)", of="tanh(w @ x)", wrt="x", shapes="w=n x=n")
    assert not found
    assert "diag() of a number: it takes a vector" in str(found)
