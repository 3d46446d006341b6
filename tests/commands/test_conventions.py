"""``python -m symgrad conventions``: singular points, what holds there, and what other libraries give."""

from __future__ import annotations

import json

import numpy as np
import pytest

from symgrad.__main__ import main
from symgrad.op import TABLE
from symgrad.proving import peers
from symgrad.proving.points import points


def test_points_of_the_whole_table(capsys):
    assert main(["conventions", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    rows = {(row["op"], row["at"]): row for row in found["points"]}
    assert len(rows) > 70
    assert rows["abs", "x = 0"]["slopes"] == ["-1", "1"]
    assert rows["abs", "x = 0"]["symgrad"] == "0"
    assert rows["sqrt", "x = 0"]["slopes"] == ["nan", "inf"]
    assert rows["log_odds", "x = 1"]["symgrad"] == "inf"
    assert rows["clamp", "x = lo"]["symgrad"] == "1, 0, 0"


def test_the_table_for_people(capsys):
    assert main(["conventions", "abs", "relu"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["op", "at", "slopes", "symgrad"]
    assert lines[1].split() == ["abs", "x", "=", "0", "-1", "1", "0"]
    assert lines[-1] == "points: 2, of ops: 2."


def test_names(capsys):
    assert main(["conventions", "abss"]) == 2
    assert "Did you mean abs" in capsys.readouterr().err
    assert main(["conventions", "abs", "--against", "tensorflow"]) == 2
    assert "the libraries are torch, jax, autograd" in capsys.readouterr().err


def test_what_is_not_installed_is_told(monkeypatch, capsys):
    monkeypatch.setattr(peers, "loaded", lambda name: None)
    assert main(["conventions", "abs", "--against", "torch"]) == 0
    assert "not run: torch is not installed" in capsys.readouterr().err


def test_a_difference_that_is_not_declared_fails(monkeypatch, capsys):
    monkeypatch.setattr(peers, "loaded", lambda name: name)
    monkeypatch.setattr(peers, "gradients", lambda name, library, point: [np.array(0.25)])
    assert main(["conventions", "abs", "--against", "torch"]) == 1
    assert "not declared: abs at x = 0: torch gives 0.25" in capsys.readouterr().out
    assert main(["conventions", "abs", "--against", "torch", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["points"][0]["undeclared"] == ["torch"]
    monkeypatch.setattr(peers, "gradients", lambda name, library, point: [np.array(1.0)])
    assert main(["conventions", "abs", "--against", "jax"]) == 0


def test_declared_values_belong_to_points_that_exist():
    for name, op, where in peers._OTHERS:
        assert name in peers.PEERS
        assert where in [point.where for point in points(TABLE[op])]


@pytest.mark.peer
@pytest.mark.parametrize("name", ["torch", "autograd"])
def test_a_live_library(name, capsys):
    pytest.importorskip(name)
    asked = ["abs", "maximum", "clamp", "std", "norm", "hypot", "xlogy", "pow", "log", "fmax"]
    assert main(["conventions", *asked, "--against", name]) == 0
    assert "not declared: 0." in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.peer
def test_all_points_against_all_libraries():
    for name in peers.PEERS:
        pytest.importorskip(name)
    assert main(["conventions", "--against", ",".join(peers.PEERS)]) == 0
