"""Mistakes made on purpose: every one is found, nine of ten are named, and right gradients raise no alarm."""

from __future__ import annotations

import json

import numpy as np
import pytest

from symgrad.__main__ import main
from symgrad.check.selftest.mutants import MUTATIONS, Outcome, selftest
from symgrad.check.selftest.programs import random_program


def test_a_short_run():
    outcome = selftest(mutants=len(MUTATIONS), right=12, seed=3)
    assert not outcome.alarms, outcome
    assert not outcome.missed, outcome
    assert outcome.share >= 0.9, outcome.unnamed
    assert len(outcome.made) >= 20


@pytest.mark.slow
def test_a_long_run():
    outcome = selftest(mutants=1000, right=2000, seed=0)
    assert outcome.right >= 1900
    assert outcome.ok, (outcome, outcome.unnamed)
    assert len(outcome.made) >= 29


def test_the_rules_by_hand_agree_with_differences():
    for seed in range(20):
        program = random_program(np.random.default_rng(seed), np.float64)
        rng = np.random.default_rng(1)
        moves = [rng.normal(size=a.shape) for a in program.args]
        step = 1e-6
        right, left = (program(*(a + s * step * m for a, m in zip(program.args, moves, strict=True))) for s in (1, -1))
        slope = sum((g * m).sum() for g, m in zip(program.gradients(), moves, strict=True))
        assert slope == pytest.approx((right - left) / (2 * step), rel=1e-4, abs=1e-6)


def test_the_command(capsys, monkeypatch):
    assert main(["selftest", "gradcheck", "--mutants", "3", "--right", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ok"]
    assert (found["right"], found["mutants"], found["missed"]) == (2, 3, [])
    monkeypatch.setattr("symgrad.check.selftest.mutants.selftest", lambda *_: Outcome(right=1, alarms=["program 0"]))
    assert main(["selftest", "gradcheck"]) == 1
    assert "1 right gradients: 1 false alarms" in capsys.readouterr().out
