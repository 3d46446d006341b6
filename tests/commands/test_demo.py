"""The command line: the demonstration, the card of an op, the version."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import symgrad as sg
from symgrad.__main__ import main

ROOT = Path(__file__).parents[2]


def demo(folder, hash_seed):
    """What the demonstration prints in an empty folder; warnings are errors."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "symgrad", "demo"],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": "", "PYTHONIOENCODING": "utf-8", "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_demo(tmp_path, monkeypatch, capsys):
    """It runs as a newcomer runs it: 80 columns are enough, all it claims came out, and comes out in every run."""
    printed = demo(tmp_path, "1")
    lines = printed.splitlines()
    assert max(map(len, lines)) <= 80, max(lines, key=len)
    for promised in (
        r"X^{\top} \left(\sigma\left(X w\right) - y\right) + \lambda w",
        "-2.075789",
        "self-test passed",
        "d loss / d w: WRONG",
        "comes from lam*(w @ w)/2 is missing",
    ):
        assert promised in printed
    assert not list(tmp_path.iterdir()), "the demonstration leaves nothing behind"
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0  # here the hash seed is another one in every run
    assert capsys.readouterr().out == printed


def test_version(capsys):
    assert main(["version"]) == 0
    assert capsys.readouterr().out == f"symgrad {sg.__version__}\n"


def test_card_of_an_op(capsys):
    assert main(["op", "tanh"]) == 0
    assert "tanh" in capsys.readouterr().out
    assert main(["op", "tahn"]) == 2
    assert "tanh" in capsys.readouterr().err


def test_wrong_command(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["fly"])
    assert stopped.value.code == 2
    assert "demo" in capsys.readouterr().err
