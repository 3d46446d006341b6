"""``digest`` and ``derive`` of whole files: the same under every hash seed, every line checked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import symgrad as sg
from symgrad.__main__ import main
from symgrad.commands import derive as deriving

ROOT = Path(__file__).parents[2]
LOSSES = """
import symgrad as sg

print("running")
open("written by the script", "w").close()


def loss(w, X, y, rate=0.1):
    r = X @ w - y
    return (r * r).sum() + rate * (w @ w)


def layer(W, x):
    return sg.tanh(sg.stack([W, x]))


def broken(x):
    return undefined


def _private(x):
    return x
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "losses.py").write_text(LOSSES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_digests_of_a_file(folder, capsys):
    assert main(["digest", "losses.py", "sum((X@w-y)**2)"]) == 0
    said = capsys.readouterr()
    rows = dict(reversed(line.split("  ", 1)) for line in said.out.splitlines())
    assert list(rows) == [
        "losses.py:loss", "losses.py:loss by w", "losses.py:loss by X", "losses.py:loss by y", "losses.py:layer",
        "sum((X@w-y)**2)", "sum((X@w-y)**2) by X", "sum((X@w-y)**2) by w", "sum((X@w-y)**2) by y",
    ]  # fmt: skip
    assert rows["sum((X@w-y)**2) by w"] == sg.digest("sum((X@w-y)**2)", wrt="w")
    assert all(len(text) == 64 for text in rows.values())
    assert "no formula: losses.py:broken" in said.err
    assert "running" in said.err
    assert not (folder / "written by the script").exists()


def test_digests_as_json_and_errors(folder, capsys):
    assert main(["digest", "x@x", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"x@x", "x@x by x"}
    assert main(["digest", "nowhere.py"]) == 2
    assert "no file" in capsys.readouterr().err
    (folder / "empty.py").write_text("x = 1\n")
    assert main(["digest", "empty.py"]) == 2
    assert "defines no public function" in capsys.readouterr().err
    assert main(["digest", "losses.py:broken"]) == 2


@pytest.mark.slow  # tests/test_hash_seeds.py has those of one file
def test_digests_of_the_examples_do_not_follow_the_hash_seed(folder):
    files = sorted(map(str, (ROOT / "examples").glob("*.py")))

    def printed(seed):
        env = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(ROOT)}
        asked = [sys.executable, "-m", "symgrad", "digest", *files]
        return subprocess.run(asked, check=True, env=env, capture_output=True, text=True).stdout

    assert len({printed(seed) for seed in range(5)}) == 1


def test_derivations_of_a_file(folder, capsys):
    assert main(["derive", "losses.py", "--check"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("losses.py:loss by w\n")
    assert "\nlosses.py:loss by X\n" in said.out
    assert "derivations: 3, lines: " in said.out.splitlines()[-1]
    assert "unchecked: 0," in said.out.splitlines()[-1]
    assert "not derived: losses.py:broken by x" in said.err
    assert main(["derive", "losses.py:loss", "x**3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["unchecked"] == 0
    assert list(found["derivations"]) == [*(f"losses.py:loss by {name}" for name in "wXy"), "x**3 by x"]
    assert 0 <= found["worst"] < 1e-9


def test_a_line_that_fails_its_check(folder, capsys, monkeypatch):
    from symgrad.notation import steps

    monkeypatch.setattr(steps, "TOLERANCE", -1.0)
    assert main(["derive", "x**3", "--wrt", "x", "--check"]) == 1
    said = capsys.readouterr()
    assert "failed: x**3 by x: the line" in said.err
    assert "unchecked: 1" in said.out


def test_documents(folder, capsys, monkeypatch):
    monkeypatch.setattr(deriving.shutil, "which", lambda name: None)
    assert main(["derive", "norm(A@x-b)**2", "--wrt", "x", "--pdf"]) == 0
    assert "not run: pdflatex is not installed; wrote derivations.tex" in capsys.readouterr().err
    text = (folder / "derivations.tex").read_text()
    assert text.startswith("\\documentclass")
    assert "\\begin{align}" in text
    assert text.count("{") == text.count("}")


def test_errors(folder, capsys):
    assert main(["derive", "x**2", "--wrt", "q"]) == 2
    assert "'q'" in capsys.readouterr().err
    assert main(["derive", "losses.py:layer"]) == 2
    assert main(["derive", "losses.py", "--wrt", "q"]) == 2
    assert "not derived" in capsys.readouterr().err
