"""``python -m symgrad bench``: that it measures, not how fast anything is."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

import numpy as np
import pytest

import symgrad as sg
from symgrad.__main__ import main
from symgrad.proving.benches import hessians, lazy

SMALL = ["--scale", "0.01", "--seconds", "0"]


def test_lazy_in_a_fresh_process():
    command = [sys.executable, "-m", "symgrad", "bench", "lazy", *SMALL]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    head, *rows, last = done.stdout.splitlines()
    assert head.split() == ["with", "formulas", "without", "slowdown"]
    assert len(rows) == 5
    assert all(row.endswith("%") and row.count("µs") == 2 for row in rows)
    assert last == "sympy is not imported."


def test_lazy_leaves_out_what_formulas_need_and_nothing_else():
    x = sg.tensor(np.array([0.5, 2.0]), requires_grad=True, name="x")
    with lazy._without_formulas():
        (bare,) = sg.autograd.grad((x * sg.tensor(np.array([3.0, 4.0])) * x).sum(), [x])
    (known,) = sg.autograd.grad((x * sg.tensor(np.array([3.0, 4.0])) * x).sum(), [x])
    np.testing.assert_array_equal(bare.numpy(), known.numpy())
    assert "x" in str(known.expr)
    assert "x" not in str(bare.expr)


def test_hessians_without_peers(capsys):
    assert main(["bench", "hessians", "--peers", "", *SMALL]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[-2:] == ["symgrad", "dense"]
    assert len(rows) == 4
    assert all("x   differ by " in row for row in rows)
    assert main(["bench", "hessians", "--peers", "", "--json", *SMALL]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ok"]
    assert [set(row["times"]) for row in found["rows"]] == [{"symgrad", "dense"}] * 4


@pytest.mark.parametrize("peer", hessians.PEERS)
def test_hessians_beside_a_peer(capsys, peer):
    if importlib.util.find_spec(peer) is None:
        pytest.skip(f"{peer} is not installed")
    assert main(["bench", "hessians", "--peers", peer, "--json", *SMALL]) == 0
    assert all(peer in row["times"] for row in json.loads(capsys.readouterr().out)["rows"])


def test_peers_that_are_missing_are_named(capsys, monkeypatch):
    monkeypatch.setattr(hessians.importlib.util, "find_spec", lambda name: None)
    assert main(["bench", "hessians", "--peers", "jax,torch", *SMALL]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "not compared, as they are not installed: jax, torch."


def test_results_that_differ_are_told(capsys, monkeypatch):
    monkeypatch.setattr(hessians, "_dense", lambda f, args: lambda: np.zeros((len(args[0].ravel()),) * 2))
    monkeypatch.setattr(hessians, "_written_out", lambda value: np.asarray(float(isinstance(value, np.ndarray))))
    assert main(["bench", "hessians", "--peers", "", *SMALL]) == 1
    assert "differ by 1e+00" in capsys.readouterr().out


def test_what_is_refused(capsys):
    assert main(["bench", "hessians", "--peers", "tensorflow"]) == 2
    assert "--peers names 'tensorflow'; these can be compared with: torch, jax." in capsys.readouterr().err
    assert main(["bench", "lazy", "--scale", "0"]) == 2
    assert "--scale is a number above 0" in capsys.readouterr().err
