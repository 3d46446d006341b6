"""What ``*`` means between matrices in texts that do not say it, and what the judge makes of it."""

from __future__ import annotations

import pytest

import symgrad as sg

READ = [
    ("sum(A*A*B)", "A", r"2 B \odot A"),
    ("sum(A*B)", "A", "B"),
    ("mean(A*B)", "A", r"\frac{B}{m n}"),
    ("sum(A*B.T)", "A", r"B^{\top}"),
    ("(A*B).sum()", "A", "B"),
    ("sum(W*log(P))", "P", r"\frac{W}{P}"),
    ("-sum(Y*log(P) + (1-Y)*log(1-P))", "P", r"\frac{P - Y}{P \odot \left(1 - P\right)}"),
    ("sum(M*(X-Y)**2)", "X", r"2 M \odot \left(X - Y\right)"),
    ("sum((X*W-Y)**2)", "W", r"2 X^{\top} \left(X W - Y\right)"),
    ("sum(exp(A*B))", "A", r"e^{A B} B^{\top}"),
    ("trace(A*B)", "A", r"B^{\top}"),
    ("trace(A*A*B)", "A", r"\left(B A + A B\right)^{\top}"),
    ("trace(x*x.T*A)", "x", r"\left(A + A^{\top}\right) x"),
    ("norm(A*B-C)**2", "A", r"2 \left(A B - C\right) B^{\top}"),
    ("sum(A*x)", "x", r"A^{\top} \mathbf{1}"),
    ("sum(x*y)", "x", "y"),
    ("tr(A^3)", "A", r"3 \left(A^{2}\right)^{\top}"),
    ("trace(A**-1)", "A", r"-\left(A^{-2}\right)^{\top}"),
    ("sum(A**2)", "A", "2 A"),
    ("sum(sqrt(A**2 + 1))", "A", r"\frac{A}{\sqrt{A^{\odot 2} + 1}}"),
]


@pytest.mark.parametrize(("text", "wrt", "latex"), READ, ids=[f"{t} by {w}" for t, w, _ in READ])
def test_a_star_is_read_by_its_place(text, wrt, latex):
    assert sg.latex(text, wrt=wrt) == latex
    assert sg.judge(latex, of=text, wrt=wrt)


def test_stated_shapes_do_not_change_what_it_means():
    assert sg.latex("trace(A*B)", wrt="A", shapes="A=n,n B=n,n") == r"B^{\top}"
    assert sg.latex("sum(A*B)", wrt="A", shapes="A=n,n B=n,n") == "B"


def test_shapes_that_allow_one_meaning_only_decide():
    assert sg.latex("sum(A*B)", wrt="B", shapes="A=n,m B=m,p") == r"A^{\top} \mathbf{1} \mathbf{1}^{\top}"


def test_the_judge_reads_both_texts_in_either_way():
    assert sg.judge("2*A*B", of="sum(A*A*B)", wrt="A")
    assert sg.judge("2*A*B", of="sum(A*A*B)", wrt="A", shapes="A=n,m B=n,m")
    assert sg.judge("A.T*B.T + B.T*A.T", of="trace(A*B*A)", wrt="A")
    assert sg.judge("3*(A.T)**2", of="trace(A**3)", wrt="A")
    assert not sg.judge("3*A*B", of="sum(A*A*B)", wrt="A")
    assert not sg.judge("A*B + B*A", of="trace(A*B*A)", wrt="A")


def test_the_judge_says_which_meaning_it_took():
    found = sg.judge("A.T*(exp(A*B)*B.T)", of="sum(A*B)", wrt="A")
    assert found.verdict == "DIFFERENT"
    found = sg.judge(r"B \odot e^{A \odot B}", of="sum(exp(A*B))", wrt="A")
    assert found
    assert "* in f is read entry by entry" in found.notes[-1]


def test_mistakes_are_found_in_the_meaning_that_the_text_has():
    found = sg.judge("3*inv(A).T*A.T", of="trace(A**3)", wrt="A")
    assert found.diagnosis.kind != "unknown"


def test_texts_of_numpy_multiply_entry_by_entry():
    assert sg.latex("trace(A*(B@B))", wrt="A") == r"B^{2} \odot I"
    assert sg.judge("X@Y.T", of="trace(X@Y.T@A.T)", wrt="A")
    # In a text of NumPy's a matrix product written with * is a mistake.
    assert sg.judge("2*A.T*A", of=lambda A: (A @ A @ A).trace(), wrt="A", shapes="A=n,n").verdict == "DIFFERENT"
