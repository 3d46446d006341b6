"""``python -m symgrad accuracy``: errors in units in the last place."""

from __future__ import annotations

import json

import pytest

from symgrad.__main__ import main
from symgrad.proving import naive


def test_a_formula(capsys):
    assert main(["accuracy", "log(1 + e^x)", "--points", "few", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["within"]
    assert max(row["errors"]["compiled"]) <= 4
    assert max(row["errors"]["eager"]) > 4


def test_what_is_beyond_the_limit(capsys, monkeypatch):
    monkeypatch.setattr(naive, "LIMIT", -1)
    assert main(["accuracy", "e^x - 1", "--points", "few"]) == 1
    assert capsys.readouterr().out.splitlines()[1].endswith("beyond")
    monkeypatch.setitem(naive.BEYOND, "e^x - 1", "said so")
    assert main(["accuracy", "e^x - 1", "--points", "few"]) == 0


def test_unknown_names(capsys):
    assert main(["accuracy", "log(1 + ex)"]) == 2
    assert "Did you mean log(1 + e^x)" in capsys.readouterr().err


@pytest.mark.slow
def test_the_whole_suite():
    assert main(["accuracy", "--suite", "stable60"]) == 0
