"""The command line: formulas go to standard output, errors to standard error, exit codes as documented."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from symgrad.__main__ import main

ROOT = Path(__file__).parents[2]


def test_latex(capsys):
    assert main(["latex", "sum((X@w-y)**2)", "--wrt", "w"]) == 0
    assert capsys.readouterr().out == "2 X^{\\top} \\left(X w - y\\right)\n"
    assert main(["latex", "x@A@x", "--wrt", "x,x", "--shapes", "x=n A=n,n"]) == 0
    assert capsys.readouterr().out == "A + A^{\\top}\n"
    assert main(["latex", "x@A@x", "--wrt", "x", "--header", "--bold"]) == 0
    assert capsys.readouterr().out.startswith("\\frac{\\partial f}{\\partial \\mathbf{x}} = ")
    assert main(["latex", "log(det(X))", "--wrt", "X", "--format", "text"]) == 0
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


@pytest.mark.parametrize(
    ("form", "start"),
    [
        ("unicode", "∂f/∂w = 2 Xᵀ (X w − y)"), ("typst", "frac(∂f, ∂w) = 2 X^(⊤)"), ("mathml", "<math xmlns="),
        ("markdown", "$$\n\\frac{\\partial f}{\\partial w} = 2"), ("text", "2*(X.T @ ("),
    ],
)  # fmt: skip
def test_formats(form, start, capsys):
    assert main(["latex", "sum((X@w-y)**2)", "--wrt", "w", "--header", "--format", form]) == 0
    assert capsys.readouterr().out.startswith(start)
    assert main(["derive", "norm(A@x-b)**2", "--wrt", "x", "--format", form]) == 0
    assert capsys.readouterr().out.strip()


def test_documents(capsys):
    assert main(["latex", "x@A@x", "--wrt", "x,x", "--header", "--environment", "align"]) == 0
    assert capsys.readouterr().out == ("\\begin{align}\n\\nabla_{x}^{2} f &= A + A^{\\top}\n\\end{align}\n")
    assert main(["latex", "sin(sin(x)*cos(x))*exp(sin(x)*cos(x))", "--lines", "2"]) == 0
    assert capsys.readouterr().out.startswith("\\begin{aligned}\nt_{1} &= ")


def test_modules_and_conditions(tmp_path, monkeypatch, capsys):
    (tmp_path / "branching.py").write_text(
        "def f(x):\n    return (x * x).sum() if x.sum() > 0 else x.sum()\n\n\ndef broken(x):\n    return undefined\n"
    )
    monkeypatch.chdir(tmp_path)
    assert main(["latex", "branching:f", "--wrt", "x", "--shapes", "x=n", "--conditions", "--format", "unicode"]) == 0
    assert capsys.readouterr().out == "2 x\nvalid where 𝟏ᵀ x > 0\n"
    assert main(["latex", "no_such_module:f"]) == 2
    assert "could not be loaded" in capsys.readouterr().err
    (tmp_path / "bad.py").write_text("1/0\n")
    assert main(["latex", "bad.py:f"]) == 2
    assert "could not be run: ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["latex", "derive", "judge"])
def test_help(command, capsys):
    with pytest.raises(SystemExit) as done:
        main([command, "--help"])
    assert done.value.code == 0
    text = capsys.readouterr().out
    assert "example: python -m symgrad" in text
    assert max(map(len, text.splitlines())) <= 100


def test_judge_undecided(capsys):
    assert main(["judge", "1e999*x", "--of", "x**2", "--wrt", "x"]) == 3
    assert capsys.readouterr().out.startswith("UNDECIDED")


def test_errors(capsys):
    assert main(["latex", "sum((X@w-y)**2", "--wrt", "w"]) == 2
    err = capsys.readouterr().err
    assert "position 14" in err
    assert err.splitlines()[-1].index("^") == err.splitlines()[-2].index("sum") + 14
    assert main(["judge", "2*q", "--of", "x**2", "--wrt", "x"]) == 2
    assert "'q'" in capsys.readouterr().err
    assert main(["judge", "2*W@x", "--of", "x@W@x", "--wrt", "x", "--assume", "W=symmetric"]) == 0
    capsys.readouterr()
    assert main(["latex", "x@W@x", "--wrt", "x", "--assume", "W=symmetric"]) == 0
    assert capsys.readouterr().out == "2 W x\n"


def test_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "symgrad", "latex", "x**3", "--wrt", "x"],
        cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "3 x^{2}\n"), done.stderr


def test_names_and_width(capsys):
    assert main(["latex", "norm(A@x-b)**2", "--wrt", "x", "--names", "r = A@x - b", "--format", "unicode"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].strip() == "2 Aᵀ r"
    assert main(["derive", "norm(A@x-b)**2", "--wrt", "x", "--names", "r"]) == 0
    assert capsys.readouterr().out.splitlines()[0].strip() == "r1 = A @ x - b"
    long = ["latex", "sum(sin(x) + sin(2*x) + sin(3*x) + sin(4*x))", "--wrt", "x", "--shapes", "x=n"]
    assert main([*long, "--width", "120", "--environment", "align*"]) == 0
    assert r"& \quad {} + " in capsys.readouterr().out


def test_names_of_functions_and_variables(capsys, tmp_path):
    file = tmp_path / "losses.py"
    file.write_text("def loss(X, w):\n    return ((X @ w) ** 2).sum()\n")
    assert main(["latex", f"{file}:loss", "--wrt", "w", "--header"]) == 0
    assert capsys.readouterr().out.startswith(r"\frac{\partial \mathrm{loss}}{\partial w} = ")
    assert main(["latex", f"{file}:loss", "--wrt", "w,w", "--header"]) == 0
    assert capsys.readouterr().out.startswith(r"\nabla_{w}^{2} \mathrm{loss} = ")
    assert main(["judge", "3*X.T@X@w", "--of", f"{file}:loss", "--wrt", "w"]) == 1
    assert "is not dloss/dw" in capsys.readouterr().out


def test_errors_of_the_function_itself_are_told(tmp_path, capsys):
    file = tmp_path / "broken.py"
    file.write_text("def broken(w, X):\n    return X @ undefined\n")
    assert main(["latex", f"{file}:broken", "--wrt", "w"]) == 2
    assert "NameError: name 'undefined' is not defined" in capsys.readouterr().err


def test_first_steps(tmp_path, capsys):
    assert main([]) == 2
    assert "python -m symgrad demo" in capsys.readouterr().err
    assert main(["latex", str(tmp_path / "losses.py")]) == 2
    assert "is a file; name a function of it, as in" in capsys.readouterr().err
    assert main(["accuracy", "nothing"]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert "log1p(e^x)" in err


def test_formulas_that_begin_with_a_sign_are_no_options(capsys):
    assert main(["judge", r"-2(X-UV^\top)V", "--of", r"\|X - UV^\top\|_F^2", "--wrt", "U"]) == 0
    assert main(["judge", "-x", "--of", "-sum(x**2)/2", "--wrt", "x"]) == 0
    assert main(["judge", "-x", "--of=-sum(x**2)", "--wrt", "x"]) == 1
    capsys.readouterr()
    assert main(["latex", "-sum(y*log(x))", "--wrt", "x"]) == 0
    assert capsys.readouterr().out == "-\\frac{y}{x}\n"
    with pytest.raises(SystemExit):
        main(["judge", "-x", "--off", "x", "--wrt", "x"])
    assert "--of" in capsys.readouterr().err
