"""Functions of MATLAB and R: what means another thing there than in NumPy is not taken for it."""

from __future__ import annotations

from typing import Any

import pytest

import symgrad as sg
from symgrad.errors import FormulaError

SQUARES = {"of": "sum((X@w-y)**2)", "shapes": "X=n,m w=m y=n"}
RIGHT: list[tuple[str, dict[str, Any]]] = [
    ("@(w) sum((X*w-y).^2)", SQUARES),
    ("@(w) 2*X'*(X*w-y)", {**SQUARES, "wrt": "w"}),
    ("function g = f(w)\n r = X*w-y;\n g = 2*X'*r;\nend", {**SQUARES, "wrt": "w"}),
    ("function(w) 2*t(X) %*% (X %*% w - y)", {**SQUARES, "wrt": "w"}),
    ("@(x) norm(x)^2", {"of": "sum(x**2)", "shapes": "x=n"}),
    ("@(A) norm(A,'fro')^2", {"of": "sum(A**2)", "shapes": "A=n,n"}),
    ("@(A) A^2", {"of": "A@A", "shapes": "A=n,n"}),
    ("@(A,B) A.*B", {"of": "A*B", "shapes": "A=n,n B=n,n"}),
    ("@(x) x.^2 ./ (1+x.^2)", {"of": "x**2/(1+x**2)", "shapes": "x=n"}),
    ("@(x) x/norm(x)", {"of": "x/norm(x)", "shapes": "x=n"}),
    ("function(x) sum(x)/length(x)", {"of": "mean(x)", "shapes": "x=n"}),
    ("@(A,B) A/B", {"of": "A@inv(B)", "shapes": "A=n,n B=n,n"}),
    ("@(A,B) A/(A+B)", {"of": "A@inv(A+B)", "shapes": "A=n,n B=n,n"}),
    ("function(A, x) { y <- c(A %*% x); c(y*y) }", {"of": "(A@x)**2", "shapes": "A=m,n x=n"}),
    ("-sum(diag(solve(diag(n) - r*A) %*% A))", {"of": "-trace(inv(eye(n)-r*A)@A)", "shapes": "A=n,n r="}),
]
OTHERWISE: list[tuple[str, dict[str, Any], str]] = [
    ("@(A) sum(A)", {"of": "sum(A)", "shapes": "A=m,n"}, r"along columns.*sum\(A\(:\)\)"),
    ("@(A) max(2*A)", {"of": "max(2*A)", "shapes": "A=m,n"}, "along columns"),
    ("@(A) norm(A)", {"of": "norm(A)", "shapes": "A=m,n"}, "norm of operators"),
    ("@(A) sum(A,1)", {"of": "sum(A,1)", "shapes": "A=m,n"}, "counts axes from 1"),
    ("@(x) std(x)", {"of": "std(x)", "shapes": "x=n"}, "divides by n - 1"),
    ("@(x) 2*x.*ones(n)", {"of": "sum(x**2)", "shapes": "x=n"}, r"matrix of n rows.*ones\(n,1\)"),
    ("@(x,y) x/y", {"of": "x/y", "shapes": "x=n y=n"}, "solves equations"),
    ("function(x) var(x)", {"of": "var(x)", "shapes": "x=n"}, "divides by n - 1"),
    ("function(x) norm(x)", {"of": "norm(x)", "shapes": "x=n"}, "largest sum"),
    ("function(x) x[1]^2", {"of": "x[1]**2", "shapes": "x=n"}, "counts entries from 1"),
    ("function(x) x[-1]", {"of": "x[-1]", "shapes": "x=n"}, "counts entries from 1"),
]


@pytest.mark.parametrize(("text", "asked"), RIGHT)
def test_functions_are_read_in_their_language(text: str, asked: dict[str, Any]) -> None:
    assert sg.judge(text, **asked).equal, text


@pytest.mark.parametrize(("text", "asked", "words"), OTHERWISE)
def test_what_means_another_thing_there_is_told(text: str, asked: dict[str, Any], words: str) -> None:
    with pytest.raises(FormulaError, match=words):
        sg.judge(text, **asked)


def test_a_star_of_matlab_is_the_matrix_product() -> None:
    asked = {"of": "sum(A**2*B)", "wrt": "A", "shapes": "A=n,n B=n,n"}
    assert not sg.judge("@(A,B) 2*A*B", **asked).equal
    assert sg.judge("@(A,B) 2*A.*B", **asked).equal


LEAST = {"of": "norm(y - X@b)**2/2", "wrt": "b", "shapes": "X=n,p y=n b=p"}
PROGRAMS = [
    "colSums(-c(y - X %*% b) * X)", "-crossprod(X, y - X %*% b)",
    "function g = grad(b, X, y)\n  r = y - X*b; % residuals\n  g = -X'*r;\nend",
    "function [g] = grad(b, X, y)\n% the gradient\n  r = y - X*b;\n  g = -X' * r;\nend",
    "g = np.zeros(p)\nfor j in range(p):\n    g[j] = -np.sum((y - X@b)*X[:, j])\nreturn g",
    "n, p = X.shape\ng = np.zeros(p)\nfor j in range(p):\n    g[j] = -n*np.mean((y - X@b)*X[:, j])\nreturn g",
]  # fmt: skip


@pytest.mark.parametrize("text", PROGRAMS, ids=range(len(PROGRAMS)))
def test_least_squares_in_several_languages(text: str) -> None:
    assert sg.judge(text, **LEAST).equal
    assert sg.judge(text.replace("y - X", "y + X"), **LEAST).verdict == "DIFFERENT"


def test_a_mean_is_divided_by_its_own_size() -> None:
    text = "g = np.zeros(p)\nfor j in range(p):\n    g[j] = -p*np.mean((y - X@b)*X[:, j])\nreturn g"
    assert sg.judge(text, **LEAST).verdict == "DIFFERENT"
