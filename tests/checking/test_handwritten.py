"""sg.check of the derivatives that people write by hand: right ones pass, and their mistakes are found and named."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from symgrad.check import check
from tests.checking.handwritten import PROBLEMS


@pytest.mark.parametrize("name", PROBLEMS)
def test_right_ones_pass_in_both_precisions(name):
    problem = PROBLEMS[name]
    for dtype in (np.float64, np.float32):
        report = check(problem.f, problem.vjp, *(np.asarray(a, dtype)[()] for a in problem.args), kind="vjp")
        assert report.ok, report


@pytest.mark.parametrize(("name", "mistake"), [(name, m) for name in PROBLEMS for m in PROBLEMS[name].mistakes])
def test_mistakes_are_found_and_named(name, mistake):
    problem = PROBLEMS[name]
    kinds, word = problem.mistakes[mistake]
    report = check(problem.f, partial(problem.vjp, m=mistake), *problem.args, kind="vjp")
    assert not report.ok
    assert report.diagnosis.kind in kinds, report
    assert word in report.diagnosis.sentence, report


@pytest.mark.parametrize("mistake", ["no sign", "one branch", "factor in one branch"])
def test_branches_that_the_point_does_not_enter_are_looked_at(mistake):
    problem = PROBLEMS["huber"]
    w, X, y = problem.args
    for point in ((100 * w, X, y), (w / 1000, X, 0.01 * y), (0 * w - 1, np.abs(X) + 1, 0 * y)):
        assert check(problem.f, problem.vjp, *point, kind="vjp")
        report = check(problem.f, partial(problem.vjp, m=mistake), *point, kind="vjp")
        assert not report.ok, report


def test_derivatives_that_hold_for_some_arguments_only_stay_right():
    def f(x):
        return np.abs(x).sum() * np.sqrt((x**2).sum())

    unit = np.array([0.6, 0.8])
    assert check(f, lambda x: np.sign(x) + np.abs(x).sum() * x, unit)  # of unit vectors
    for gradient in (np.ones(2), lambda x: np.ones(2)):  # of what is positive
        report = check(lambda x: np.abs(x).sum(), gradient, unit)
        assert report.ok
        assert "one side of abs" in str(report)


def test_guards_are_no_branches():
    p = np.array([0.2, 0.7, 0.1])
    for f in (lambda p: -np.log(np.clip(p, 1e-7, 1 - 1e-7)).sum(), lambda p: -np.log(np.maximum(p, 1e-12)).sum()):
        assert check(f, lambda p: -1 / p, p)
    assert "one side" not in str(check(lambda p: -np.log(p + np.maximum(p, 1e-12)).sum(), lambda p: -1 / p, p))
