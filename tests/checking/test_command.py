"""python -m symgrad check: reports on standard output, exit codes 0, 1 and 2, JSON; and the assertion for tests."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from symgrad.__main__ import main
from symgrad.check import Report, assert_gradient
from symgrad.errors import CheckFailed

LOSSES = """
import numpy as np

def loss(w, X, y, rate=0.5):
    r = X @ w - y
    return (r**2).sum() + rate * (w**2).sum()

def loss_grad(w, X, y, rate=0.5):
    return 2 * X.T @ (X @ w - y) + 2 * rate * w

def forgotten(w, X, y, rate=0.5):
    return 2 * X.T @ (X @ w - y)

def layer(x, A):
    return np.tanh(A @ x)

def layer_vjp(v, x, A):
    u = v * (1 - np.tanh(A @ x) ** 2)
    return A.T @ u, np.outer(u, x)

def span(t, T):
    return T * t.sum()

def span_grad(t, T):
    g = np.zeros(t.shape)
    g[0] = T
    g[1:] = T
    return g, t.sum()

def fails(x):
    return x.nothing

def fails_grad(x):
    return x
"""


@pytest.fixture
def losses(tmp_path):
    file = tmp_path / "losses.py"
    file.write_text(LOSSES)
    return str(file)


def test_exit_codes_and_reports(losses, capsys):
    shapes = ["--shapes", "X=5,3 w=3 y=5"]
    assert main(["check", f"{losses}:loss", *shapes]) == 0
    assert "d loss / d w: right" in capsys.readouterr().out
    assert main(["check", f"{losses}:loss", "--grad", "forgotten", *shapes, "--dtype", "float32"]) == 1
    out = capsys.readouterr().out
    assert "missing" in out
    assert "losses.py:6: return (r**2).sum() + rate" in out
    assert main(["check", f"{losses}:layer"]) == 0
    assert "vjp of layer by A: right" in capsys.readouterr().out
    assert main(["check", f"{losses}:fails", "--at", "x=[1.0]"]) == 2
    assert "AttributeError" in capsys.readouterr().err


def test_shapes_that_nobody_stated_are_told(losses, capsys):
    assert main(["check", f"{losses}:loss"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    stated = re.search(r"shapes that were found by trying: --shapes '([^']+)'", out)[1]
    assert re.fullmatch(r"w=\d+ X=\d+,\d+ y=\d+", stated)
    assert main(["check", f"{losses}:loss", "--shapes", stated, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"] == []
    assert main(["check", f"{losses}:loss", "--json"]) == 0
    assert any("found by trying" in note for note in json.loads(capsys.readouterr().out)["notes"])


def test_an_error_of_the_derivative_says_the_line_and_the_shapes(losses, capsys):
    assert main(["check", f"{losses}:span", "--json"]) == 2
    captured = capsys.readouterr()
    assert "ValueError: setting an array element" in captured.err
    assert re.search(r"losses.py:\d+: g\[0\] = T", captured.err)
    assert "found by trying: --shapes 't=3 T=" in captured.err
    assert json.loads(captured.out)["error"] in captured.err
    assert main(["check", f"{losses}:span", "--shapes", "t=3 T="]) == 0
    assert "found by trying" not in capsys.readouterr().out


def test_a_derivative_that_is_not_there_is_refused_with_what_there_is(losses, capsys):
    assert main(["check", f"{losses}:loss", "--grad", "torsh"]) == 2
    assert "has no function 'torsh', and no library is called so (torch, jax" in capsys.readouterr().err


def test_points(losses, tmp_path, capsys):
    at = "w=[1, 2], X=[[1.0, 2.0], [3.0, 4.0]]; y=[0.5, 1.0] rate=0.1"
    assert main(["check", f"{losses}:loss", "--at", at, "--wrt", "w"]) == 0
    arrays = {"w": [1.0, 2.0], "X": [[1.0, 2.0]], "y": [0.5]}
    np.savez(tmp_path / "point.npz", **arrays)
    (tmp_path / "point.json").write_text(json.dumps(arrays))
    for file in ("point.npz", "point.json"):
        assert main(["check", f"{losses}:loss", "--at", str(tmp_path / file)]) == 0
    capsys.readouterr()
    for wrong, words in (
        (["--at", "w=[1.0]"], "nothing is said of X, y"),
        (["--at", "w=open('x')"], "--at holds numbers"),
        (["--at", "nothing.npz"], "no file"),
        (["--shapes", "W=3"], "no argument 'W'"),
        (["--shapes", "3 5,3 5"], "--shapes 'w=3 X=5,3 y=5', not '3 5,3 5'"),
        (["--grad", "wrong"], "no function 'wrong'"),
        (["--at", at, "--wrt", "v"], "--wrt names 'v'"),
    ):
        assert main(["check", f"{losses}:loss", *wrong]) == 2
        assert words in capsys.readouterr().err
    assert main(["check", f"{losses}:forgotten", "--shapes", "X=5,3 w=3 y=5"]) == 2
    assert "name the derivative of forgotten with --grad" in capsys.readouterr().err
    assert main(["check", "sum(x)"]) == 2


def test_json(losses, capsys):
    assert main(["check", f"{losses}:loss", "--grad", "forgotten", "--shapes", "X=5,3 w=3 y=5", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["ok"], report["function"]) == (False, "loss")
    (argument,) = report["arguments"]
    assert (argument["name"], argument["wrong"], argument["mistake"]["kind"]) == ("w", 3, "term")
    assert set(argument["worst"]) == {"index", "given", "exact"}
    assert "X" in argument["formula"]
    assert main(["check", f"{losses}:fails", "--at", "x=[1.0]", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["ok"] is None


def test_the_assertion_for_tests():
    assert_gradient(np.sin, np.cos, np.ones(3))
    with pytest.raises(CheckFailed, match="d sin / d x: WRONG"):
        assert_gradient(np.sin, lambda x: -np.cos(x), np.ones(3))
    nan = lambda x: np.cos(x) * np.nan  # noqa: E731
    with pytest.raises(CheckFailed) as caught:
        assert_gradient(np.sin, nan, np.ones(3))
    assert "NaN" in str(caught.value)


def test_the_verdict_is_printed_before_the_mistake_is_looked_for(losses, capsys, monkeypatch):
    printed = []

    def interrupted(report, seconds):
        printed.append((capsys.readouterr().out, seconds))
        raise KeyboardInterrupt

    monkeypatch.setattr(Report, "explain", interrupted)
    command = ["check", f"{losses}:loss", "--grad", f"{losses}:forgotten", "--shapes", "X=5,3 w=3 y=5"]
    assert main([*command, "--diagnose", "3"]) == 1
    ((verdict, seconds),) = printed
    assert "WRONG" in verdict
    assert "worst" in verdict
    assert "mistake" not in verdict
    assert seconds == 3
    assert main([*command, "--diagnose", "0"]) == 1
    assert "WRONG" in capsys.readouterr().out
    assert main([*command, "--diagnose", "0", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["arguments"][0]["mistake"] is None
    assert len(printed) == 1


MISUSED = """
import numpy as np

def nothing(w): return None
def nothing_grad(w): return w
def alone(): return 1.0
def alone_grad(): return 0.0
def undefined(w): return np.log(-np.abs(w) - 1).sum()
def undefined_grad(w): return w
"""


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["FILE:nothing"], "ended with a result of type NoneType, where an array or a number is needed"),
        (["FILE:alone"], "takes no arguments, so that there is nothing to differentiate by"),
        (["FILE:nothing", "--at", "w=[1.0,nan]"], "w=[1.0,nan] is none"),
    ],
)
def test_what_cannot_be_checked_is_said_with_its_cause(tmp_path, capsys, command, said):
    file = tmp_path / "misused.py"
    file.write_text(MISUSED)
    assert main(["check", *(part.replace("FILE", str(file)) for part in command)]) == 2
    assert said in capsys.readouterr().err
    assert main(["check", f"{file}:undefined", "--diagnose", "0"]) == 1
    assert "undefined gives nan here" in capsys.readouterr().out.replace("\n              ", "")


def test_numbers_of_options_are_not_negative(losses, capsys):
    for command in (["check", f"{losses}:loss", "--diagnose", "-1"], ["selftest", "gradcheck", "--mutants", "-3"]):
        with pytest.raises(SystemExit):
            main(command)
        assert "less than 0" in capsys.readouterr().err


def test_the_derivative_may_be_the_second_of_two_names(losses, capsys):
    shapes = ["--shapes", "X=5,3 w=3 y=5"]
    assert main(["check", f"{losses}:loss", f"{losses}:loss_grad", *shapes]) == 0
    assert main(["check", f"{losses}:loss", "forgotten", *shapes]) == 1
    assert "missing" in capsys.readouterr().out
    assert main(["check", f"{losses}:loss", "forgotten", "--grad", "loss_grad", *shapes]) == 2
    assert "the derivative is given twice" in capsys.readouterr().err
