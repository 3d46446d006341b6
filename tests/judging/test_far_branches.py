"""Branches that ordinary random points do not enter: thresholds of texts and of functions tell where to look."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg

SQUARE = "sum(x**2)"

WRONG = [
    ("2*x + (x > 50)", SQUARE), ("2*x + (x > 1000)", SQUARE), ("where(x < 300, 2*x, 5)", SQUARE),
    ("2*np.clip(x, -100, 100)", SQUARE), ("2*np.minimum(x, 90)", SQUARE), ("2*x + relu(x - 40)", SQUARE),
    ("2*x*(sum(x) < 80)", SQUARE), ("2*x*(norm(x) < 1e4)", SQUARE), ("2*x + (abs(x - 17) < 0.1)", SQUARE),
    ("2*x*(len(x) < 50)", SQUARE), (r"2x + \mathbb{1}[x > 64]", SQUARE),
    (r"\begin{cases} 2x & x < 200 \\ 0 & \text{otherwise} \end{cases}", SQUARE),
    ("2*x", "sum(where(x > 50, x**3, x**2))"), ("2*x", "sum(where(x < -700, x, x**2))"),
]  # fmt: skip

RIGHT = [
    ("2*x*(x <= 50) + 3*x**2*(x > 50)", "sum(where(x > 50, x**3, x**2))"),
    ("np.where(x > 30, 1, 1/(1 + np.exp(-x)))", "sum(log(1 + exp(x)))"),
    ("1/(1 + np.exp(-np.clip(x, -500, 500)))", "sum(log(1 + exp(x)))"),
    ("x/np.maximum(norm(x), 1e-12)", "norm(x)"),
]


@pytest.mark.parametrize(("text", "of"), WRONG, ids=range(len(WRONG)))
def test_what_differs_far_out_is_different(text, of):
    assert sg.judge(text, of=of, wrt="x", shapes="x=n").verdict == "DIFFERENT"


@pytest.mark.parametrize(("text", "of"), RIGHT, ids=range(len(RIGHT)))
def test_guards_against_overflow_and_poles_are_no_branches(text, of):
    assert sg.judge(text, of=of, wrt="x", shapes="x=n").verdict == "EQUAL"


def test_the_point_that_shows_it_has_integers():
    found = sg.judge("2*x + (x > 50)", of=SQUARE, wrt="x", shapes="x=n")
    x = found.counterexample["x"]
    assert np.array_equal(x, np.round(x))
    assert np.max(x) > 50
