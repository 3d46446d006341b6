"""``python -m symgrad matrixcalc``: textbook derivatives, closed, read back and proved."""

from __future__ import annotations

import json

import pytest

from symgrad.__main__ import main
from symgrad.commands import matrixcalc
from symgrad.commands.matrixcalc import COOKBOOK, examined

FEW = (("a@X@b", "X"), ("log(det(X))", "X"), ("det(X)**2", "X"), ("tr(A@X@B@X)", "X"))


def test_some_of_the_cookbook(monkeypatch, capsys):
    monkeypatch.setitem(matrixcalc.SUITES, "cookbook", FEW)
    assert main(["matrixcalc", "--suite", "cookbook", "--sizes", "2"]) == 0
    out = capsys.readouterr().out
    assert "log(det(X))  by X:  inv(X).T\n" in out
    assert out.endswith("closed: 4 of 4, proved: 4 of 4.\n")
    assert main(["matrixcalc", "--json", "--sizes", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ok"]
    assert found["rows"][0]["derivative"] == "outer(a, b)"


def test_what_is_wrong_is_told(monkeypatch, capsys):
    monkeypatch.setattr(matrixcalc, "_slope_agrees", lambda text, wrt, k: k == 0)
    monkeypatch.setitem(matrixcalc.SUITES, "cookbook", FEW[:1])
    assert main(["matrixcalc"]) == 1
    assert "<- another slope" in capsys.readouterr().out
    assert main(["matrixcalc", "--sizes", "1"]) == 0
    assert main(["matrixcalc", "--sizes", "0"]) == 2
    row = examined("det(", "X")
    assert not row.ok
    assert not row.closed


def test_a_slope_at_other_sizes_is_compared(monkeypatch):
    assert matrixcalc._slope_agrees("a@X@b", "X", 1)
    from symgrad import notation

    right = notation.formula
    monkeypatch.setattr(
        notation, "formula", lambda text, wrt=None, **more: right(text if wrt is None else "2*(a@X@b)", wrt=wrt, **more)
    )
    assert not matrixcalc._slope_agrees("a@X@b", "X", 1)


@pytest.mark.slow
def test_the_whole_cookbook():
    assert len(COOKBOOK) > 50
    assert all(examined(*row).ok for row in COOKBOOK)
