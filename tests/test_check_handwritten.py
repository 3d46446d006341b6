"""sg.check of the derivatives that people write by hand: right ones pass, and their mistakes are found and named."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from symgrad.check import check
from tests.handwritten import PROBLEMS


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
