"""Formulas as people write them: all are read, and every corruption of them is found and named."""

import re

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import FormulaError, NameProblem
from tests.judging.handwritten import LATEX, NUMPY, SYMPY

GROUPS = [*LATEX, *NUMPY, *SYMPY]


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: f"{group[0][0]} by {group[0][1]} {group[1][0][:12]}")
def test_right_formulas_are_equal(group):
    (of, wrt, shapes), texts = group
    wrong = [text for text in texts if not sg.judge(text, of=of, wrt=wrt, shapes=shapes)]
    assert not wrong


# ------------------------------------------------------------------------------------------ corruptions

CORRUPTIONS = [
    (r"^(.*)$", r"3\\left(\1\\right)", {"factor"}),
    (r"^(.*)$", r"-\\left(\1\\right)", {"sign"}),
    (r"\^\{?\\(?:top|intercal|mathsf\{T\}|mathrm\{T\})\}?", "", {"transpose", "assumption", "shapes", "shape"}),
    (r"(?<=[\w)}])\s*-\s*(?=[\w({\\])", "+", {"sign", "term", "factor"}),
    (r"(?<=[\w)}])\s*\+\s*(?=[\w({\\])", "-", {"sign", "term", "factor"}),
    (r"\\odot", "", {"hadamard", "shapes", "shape"}),
    (r"_\{ij\}", "_{ji}", {"transpose", "assumption", "shapes", "shape", "sum"}),
]
"""What is replaced (the first time that it stands in the text), by what, and what the mistake may be called."""

LABELLED = re.compile(r"=|where|\\text|\\begin|\\\[|\$|\.$|\\nabla")


def corrupted():
    for (of, wrt, shapes), texts in LATEX:
        for text in (t for t in texts[::20] if not LABELLED.search(t)):
            for pattern, becomes, kinds in CORRUPTIONS:
                bad = re.sub(pattern, becomes, text, count=1)
                if bad != text:
                    yield bad, of, wrt, shapes, kinds


@pytest.mark.parametrize("part", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 6))])
def test_corrupted_formulas_are_different(part):
    """All but the few corruptions that change nothing (a gradient as a row, a symmetric matrix) are found and named."""
    cases = list(corrupted())
    assert len(cases) >= 100
    equal, unnamed = [], []
    cases = cases[part::6]
    for bad, of, wrt, shapes, kinds in cases:
        verdict = sg.judge(bad, of=of, wrt=wrt, shapes=shapes)
        if verdict.verdict != "DIFFERENT":
            equal.append((bad, of, str(verdict)))
        elif verdict.diagnosis is None or verdict.diagnosis.kind not in kinds:
            unnamed.append((bad, of, str(verdict.diagnosis)))
        elif verdict.proof == "counterexample":
            assert verdict.theirs.shape != verdict.ours.shape or not np.allclose(verdict.theirs, verdict.ours)
    # A gradient as a row, 3x^{ 2} beside 3x^2, and a sum over both indices of X_{ji} are right as they stand.
    assert len(equal) <= 3, equal
    assert len(unnamed) <= 0.1 * len(cases), unnamed


def test_limits_of_sums_count():
    assert not sg.judge(r"\sum_{i=1}^{n-1} x_i^2", of="sum(x**2)", shapes="x=n")
    assert not sg.judge(r"\sum_{i=2}^{n} x_i^2", of="sum(x**2)", shapes="x=n")
    assert not sg.judge(r"\sum_{i\ne j} x_ix_j", of="sum(x)**2", shapes="x=n")
    assert sg.judge(r"\sum_{i=1}^{3} x_i^2", of="sum(x[:3]**2)", shapes="x=5")


def test_shifted_indices_are_judged_inside():
    of = "sum((x[1:]-x[:-1])**2)"
    verdict = sg.judge("2(2x_i - x_{i-1} - x_{i+1})", of=of, wrt="x", shapes="x=n")
    assert verdict
    assert "the ends are not judged" in verdict.notes[0]
    verdict = sg.judge("2(2x_i - x_{i-1} + x_{i+1})", of=of, wrt="x", shapes="x=n")
    assert (verdict.verdict, verdict.diagnosis.kind) == ("DIFFERENT", "sign")
    assert verdict.ours.shape == (1,)
    verdict = sg.judge("2(2x_j - x_{i-1} - x_{i+1})", of=of, wrt="x", shapes="x=n")
    assert verdict.verdict == "DIFFERENT"


def test_powers_of_symmetric_matrices():
    def nuclear(X):
        return sg.linalg.svdvals(X).sum()

    assert sg.judge(r"X(X^\top X)^{-1/2}", (5, 3), of=nuclear, wrt="X")
    assert sg.judge(r"X(X^\top X)^{-\frac12}", (5, 3), of=nuclear, wrt="X")
    assert sg.judge(r"X(X^\top X)^{1/2}", (5, 3), of=nuclear, wrt="X").verdict == "DIFFERENT"
    with pytest.raises(FormulaError, match="unless the matrix is symmetric"):
        sg.judge("X^{-1/2}", of="trace(X@X)", wrt="X")


def test_every_side_of_a_chain_is_judged():
    chain = r"\nabla f = 2A^\top A x {} 2A^\top b = 2A^\top(Ax-b)"
    least = {"of": "norm(A@x-b)**2", "wrt": "x"}
    assert sg.judge(chain.format("-"), **least)
    verdict = sg.judge(chain.format("+"), **least)
    assert verdict.verdict == "DIFFERENT"
    assert "chain" in verdict.notes[-1]
    assert verdict.diagnosis.kind == "sign"
    with pytest.raises(FormulaError, match="'y' is no symbol here; the symbols are A, b, x"):
        sg.judge(r"\nabla f = 2A^\top(Ay-b) = 2A^\top(Ax-b)", **least)


def test_other_readings_are_noted():
    sums = {"of": "sum(x)**2", "wrt": "x", "shapes": "x=n"}
    assert sg.judge(r"2\left(\sum_j x_j\right) e", **sums).notes == ["e is read as the vector of ones."]
    assert sg.judge(r"2 (Ax-b)^\top A", of="norm(A@x-b)**2", wrt="x").notes[-1].startswith("the text is a row")
    assert sg.judge("1_{x>0}", of="sum(max(x,0))", wrt="x").notes[0].startswith("they differ at a kink")


@pytest.mark.parametrize(
    ("text", "column", "word"),
    [
        (r"2A^\top(Ax-q)", 11, "'q' is no symbol here; the symbols are A, b, x"),
        (r"2A^\top(Ax-b", 12, "is missing"),
        (r"2A^{\top(Ax-b)", 8, "is missing"),
        (r"\hat{x}", 0, "define it after a comma"),
        (r"2A_{i?}", 5, "an index is a letter"),
        (r"\sum_{k=a}^n x_k", 8, "starts with a number"),
        (r"x_{i}, \quad i \ne j", 13, "conditions on the indices"),
        (r"2A^\top r, \quad Ax-b", 17, "a definition such as Y = A + X"),
        (r"\frobnicate{x}", 0, "no symbol, size or function"),
    ],
)
def test_what_cannot_be_read_is_shown(text, column, word):
    with pytest.raises((FormulaError, NameProblem), match=re.escape(word)) as caught:
        sg.judge(text, of="norm(A@x-b)**2", wrt="x", shapes="A=m,n x=n b=m")
    lines = str(caught.value).splitlines()
    assert lines[-1].index("^") - lines[-2].index(text) == column


def test_definitions_in_any_order():
    least = {"of": "norm(A@x-b)**2", "wrt": "x"}
    assert sg.judge("r = A@x - b; g = 2*A.T@r", **least)
    assert sg.judge("g = 2*A.T@r; r = A@x - b", **least)
    assert sg.judge("2*A.T@r, r = s - b, s = A@x", **least)
    assert sg.judge(r"\nabla f = 2A^\top r,\ r = s-b,\ s = Ax", **least)
    assert sg.judge("2*A.T@r, r = s + b, s = A@x", **least).verdict == "DIFFERENT"
    with pytest.raises((FormulaError, NameProblem)):
        sg.judge("2*A.T@r, r = s - b, s = r + b", **least)


@pytest.mark.parametrize(
    "text",
    [
        r"2\sum_i A_[{ij}(Ax - b)_i\left(",
        r"2\sum_i (A_{[i,:}_{[i,:}\, x - b_i) A_{i,:}^\top",
        r"2A^\top(Ax-b), \quad = Ax",
        r"b\|_i",
        r"x x_i x_j",
        "x[",
        "x[1:",
        "sum(x",
    ],
)
def test_broken_texts_end_in_an_error(text):
    """Not in a loop without end, nor in an error of Python; what can be read is at least not equal."""
    try:
        assert not sg.judge(text, of="norm(A@x-b)**2", wrt="x", shapes="A=m,n x=n b=m")
    except sg.errors.SymgradError:
        pass
