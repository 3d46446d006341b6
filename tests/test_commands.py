"""The command line: formulas go to standard output, errors to standard error, exit codes as documented."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from symgrad.__main__ import main

ROOT = Path(__file__).parent.parent


def test_latex(capsys):
    assert main(["latex", "sum((X@w-y)**2)", "--wrt", "w"]) == 0
    assert capsys.readouterr().out == "2 X^{\\top} \\left(X w - y\\right)\n"
    assert main(["latex", "x@A@x", "--wrt", "x,x", "--shapes", "x=n A=n,n"]) == 0
    assert capsys.readouterr().out == "A + A^{\\top}\n"
    assert main(["latex", "x@A@x", "--wrt", "x", "--header", "--bold"]) == 0
    assert capsys.readouterr().out.startswith("\\frac{\\partial f}{\\partial x} = ")
    assert main(["latex", "log(det(X))", "--wrt", "X", "--text"]) == 0
    assert capsys.readouterr().out == "inv(X).T\n"


def test_file(tmp_path, capsys):
    (tmp_path / "losses.py").write_text("def loss(A, x, b):\n    return ((A @ x - b) ** 2).sum()\n")
    assert main(["latex", f"{tmp_path / 'losses.py'}:loss", "--wrt", "x"]) == 0
    assert capsys.readouterr().out == "2 A^{\\top} \\left(A x - b\\right)\n"
    assert main(["latex", f"{tmp_path / 'losses.py'}:lost", "--wrt", "x"]) == 2
    assert "it has loss" in capsys.readouterr().err
    assert main(["latex", "nowhere.py:loss", "--wrt", "x"]) == 2
    assert "no file" in capsys.readouterr().err


def test_derive(capsys):
    assert main(["derive", "norm(A@x-b)**2", "--wrt", "x"]) == 0
    assert "z1bar = 2*z1" in capsys.readouterr().out
    assert main(["derive", "norm(A@x-b)**2", "--wrt", "x", "--style", "differential", "--format", "latex"]) == 0
    assert capsys.readouterr().out.startswith("\\begin{align}")
    assert main(["derive", "norm(A@x-b)**2", "--wrt", "x", "--format", "markdown"]) == 0
    assert capsys.readouterr().out.startswith("1. $z_{1} = A x - b$")


@pytest.mark.parametrize(
    ("text", "code", "word"),
    [("2*A.T*(A*x-b)", 0, "EQUAL"), ("A.T*(A*x-b)", 1, "1/2 times"), (r"2 A^T (Ax - b)", 0, "EQUAL")],
)
def test_judge(text, code, word, capsys):
    assert main(["judge", text, "--of", "norm(A@x-b)**2", "--wrt", "x"]) == code
    assert word in capsys.readouterr().out


def test_judge_undecided(capsys):
    assert main(["judge", "log(-1-x**2)", "--of", "x**2", "--wrt", "x"]) == 3
    assert capsys.readouterr().out.startswith("UNDECIDED")


def test_errors(capsys):
    assert main(["latex", "sum((X@w-y)**2", "--wrt", "w"]) == 2
    err = capsys.readouterr().err
    assert "position 14" in err
    assert err.splitlines()[-1].index("^") == err.splitlines()[-2].index("sum") + 14
    assert main(["judge", "2*q", "--of", "x**2", "--wrt", "x"]) == 2
    assert "'q'" in capsys.readouterr().err
    assert main(["judge", "2*W@x", "--of", "x@W@x", "--wrt", "x", "--assume", "W=symmetric"]) == 0


def test_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "symgrad", "latex", "x**3", "--wrt", "x"],
        cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "3 x^{2}\n"), done.stderr
