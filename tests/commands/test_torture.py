"""``python -m symgrad torture``: deep, swelling and widely used graphs."""

from __future__ import annotations

import json

import pytest

from symgrad.__main__ import main
from symgrad.errors import LawBroken
from symgrad.proving import torture as torturing


def test_all_steps(capsys):
    assert main(["torture", "--depth", "3000", "--swell", "100", "--fan", "1000", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    done = {(step["graph"], step["size"], step["name"]) for step in found["steps"]}
    for graph, size in (("depth", 150), ("swell", 100), ("fan", 1000)):
        for name in ("record", "backward", "formula", "repr", "latex", "evaluate", "compile", "pickle", "del"):
            assert (graph, size, name) in done
    assert ("depth", 3000, "backward") in done
    assert found["ok"]


def test_what_is_too_much_and_what_is_wrong(capsys, monkeypatch):
    few = ["torture", "--depth", "100", "--swell", "0", "--fan", "0"]
    assert main([*few, "--gigabytes", "0.001"]) == 1
    assert "more than was allowed" in capsys.readouterr().out
    assert main([*few, "--seconds", "0"]) == 1
    assert main(["torture", "--depth", "-1"]) == 2
    capsys.readouterr()
    monkeypatch.setattr(torturing.math, "isclose", lambda *_, **__: False)
    assert main(few) == 1
    assert "wrong: depth: the derivative is" in capsys.readouterr().out
    with pytest.raises(LawBroken, match="has 100 nodes, the function 3"):
        torturing._small("fan", 100, 3)


@pytest.mark.slow
def test_the_whole_of_it():
    assert main(["torture"]) == 0
