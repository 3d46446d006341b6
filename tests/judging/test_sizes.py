"""Sizes in judged formulas: those that a function reads off its arguments, and letters other than those chosen here."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.sources import source


def mean_square(X, w, y):
    return ((X @ w - y) ** 2).sum() / X.shape[0]


def variance(x):
    return ((x - x.sum() / len(x)) ** 2).sum() / (len(x) - 1)


def valley(x):
    total = 0
    for i in range(len(x) - 1):
        total = total + (x[i + 1] - x[i] ** 2) ** 2
    return total


STATED = "X=m,n w=n y=m"


def test_stated_letters_are_kept():
    """1/m is that of the user's m, whichever letter would be chosen without it."""
    assert sg.judge(r"\frac2m X^\top(Xw-y)", of=mean_square, wrt="w", shapes=STATED)
    verdict = sg.judge(r"\frac2n X^\top(Xw-y)", of=mean_square, wrt="w", shapes=STATED)
    assert (verdict.verdict, verdict.diagnosis.kind) == ("DIFFERENT", "factor")
    assert sg.judge("2*np.trace(E)*np.eye(3)", of=lambda E: sg.trace(E) ** 2, wrt="E", shapes="E=3,3")


@pytest.mark.parametrize("letter", ["m", "n", "N"])
def test_letters_that_were_not_stated(letter):
    verdict = sg.judge(rf"\frac{{2}}{{{letter}}}\sum_{{i=1}}^{letter} (x_i^\top w - y_i) x_i", of=mean_square, wrt="w")
    assert verdict
    assert verdict.notes == ([] if letter == "n" else [f"{letter} is read as the size of y."])
    verdict = sg.judge(rf"\frac{{2}}{{{letter}}}X^\top(Xw+y)", of=mean_square, wrt="w")
    assert (verdict.verdict, verdict.diagnosis.kind) == ("DIFFERENT", "sign")


def test_sizes_that_a_function_reads():
    assert sg.judge("2*X.T@(X@w-y)/len(y)", of=mean_square, wrt="w")
    assert sg.judge("2*X.T@(X@w-y)/len(y)", (7, 3), (3,), (7,), of=mean_square, wrt="w")
    assert not sg.judge("2*X.T@(X@w-y)/len(w)", (7, 3), (3,), (7,), of=mean_square, wrt="w")
    assert sg.judge("2*X.T@(X@w-y)/7", (7, 3), (3,), (7,), of=mean_square, wrt="w").notes == [
        "the shapes are taken to be those of the arguments, X (7, 3), w (3,), y (7,)."
    ]
    assert not sg.judge("2*X.T@(X@w-y)/3", of=mean_square, wrt="w")
    assert sg.judge("2*(x-np.mean(x))/(len(x)-1)", of=variance, wrt="x")
    assert sg.judge(r"\frac1n\det(X)^{1/n}X^{-\top}", of=lambda X: sg.det(X) ** (1 / X.shape[0]), wrt="X")


def test_a_formula_of_one_size_only():
    """A loop over entries is another formula at every size: it is judged at the size that it was run at."""
    found = source(valley, shapes="x=n")
    assert found.symbols[0].shape == (3,)
    text = "np.array([4*x[0]*(x[0]**2-x[1]), 2*(x[1]-x[0]**2)+4*x[1]*(x[1]**2-x[2]), 2*(x[2]-x[1]**2)])"
    assert sg.judge(text, of=valley, wrt="x")


def test_sizes_of_the_arguments():
    E = sg.tensor(np.eye(3) + 0.1, requires_grad=True, name="E")
    assert sg.judge("2*np.trace(E)*np.eye(3)", of=sg.trace(E) ** 2, wrt=E)
    verdict = sg.judge("np.trace(E)*np.eye(3)", (3, 3), of=lambda E: sg.trace(E) ** 2, wrt="E")
    assert verdict.diagnosis.sentence == "The formula is 1/2 times the exact one."


def test_matrices_of_a_kind_are_found():
    def half_log_det(S):
        return sg.log(sg.diagonal(sg.linalg.cholesky(S))).sum()

    assert sg.judge("inv(S)/2", of=half_log_det, wrt="S", assume={"S": "spd"})


def test_structures_that_nobody_knows_are_refused():
    with pytest.raises(sg.errors.ArgumentError, match="a structure is one of symmetric"):
        sg.judge("2*W@x", of="x@W@x", wrt="x", assume={"W": "simmetric"})
    with pytest.raises(sg.errors.NameProblem, match="there are x, W"):
        sg.judge("2*W@x", of="x@W@x", wrt="x", assume={"V": "symmetric"})


def test_tall_matrices_are_tried_where_wide_ones_are_singular():
    def f(X, A):
        return sg.trace(sg.linalg.inv(X.T @ X) @ A)

    assert sg.judge("-X @ M @ (A + A.T) @ M, M = np.linalg.inv(X.T @ X)", of=f, wrt="X", shapes="X=m,n A=n,n")


def test_the_sign_of_a_transpose_is_no_size():
    def loss(w, X, y):
        return ((X @ w - y) ** 2).mean()

    found = sg.judge("2/n X^T(Xw-y)", of=loss, wrt="w")
    assert found
    assert found.notes == ["n is read as the size of y."]


def test_a_judgement_of_the_value_says_so():
    assert "wrt=" in sg.judge("2x", of="x**2").notes[-1]
    assert not sg.judge("x**2", of="x**2").notes
