"""``python -m symgrad export``: files that need only NumPy, or a C compiler, the same under every hash seed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import symgrad as sg
from symgrad.__main__ import main
from symgrad.proving.in_c import WARNINGS, compiler

ROOT = Path(__file__).parents[2]
LOSSES = """
import symgrad as sg


def loss(w, X, y, rate=0.1):
    r = X @ w - y
    return sg.where(abs(r) < 1, r**2 / 2, abs(r) - 0.5).sum() + rate * (w @ w)


def residual(w, X, y):
    return sg.tanh(X @ w) - y
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "losses.py").write_text(LOSSES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def passes(file):
    done = subprocess.run(
        [sys.executable, "-I", str(file), "--selftest"], capture_output=True, text=True, check=False, env={"PATH": ""}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def module(file):
    scope = {"__name__": "loaded"}
    exec(file.read_text(), scope)
    return scope


@pytest.mark.parametrize("kind", ["value", "grad", "value-and-grad", "hessian"])
def test_files_of_every_kind_pass_their_own_test(kind, folder, capsys):
    assert main(["export", "losses.py:loss", f"--{kind}", "--wrt", "w", "--name", "f", "-o", "f.py"]) == 0
    assert capsys.readouterr().out.startswith("wrote f.py: f(w, X, y, rate), ")
    assert "self-test passed" in passes(folder / "f.py")
    rng = np.random.default_rng(3)
    w, X, y = rng.normal(size=5), rng.normal(size=(20, 5)), rng.normal(size=20)
    scope = {}
    exec(LOSSES, scope)
    transform = {"value": lambda f: f, "value-and-grad": sg.func.value_and_grad}.get(kind) or getattr(sg.func, kind)
    want = transform(scope["loss"])(w, X, y, 0.1)
    got = module(folder / "f.py")["f"](w, X, y, 0.1)
    for a, b in zip(*(v if isinstance(v, tuple) else (v,) for v in (got, want)), strict=True):
        np.testing.assert_allclose(a, np.asarray(b), rtol=1e-12)


def test_all_arguments_of_floats_are_derived_by_without_wrt(folder, capsys):
    assert main(["export", "losses.py:residual", "--jacobian", "-o", "J.py", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["arguments"] == {"w": ["m"], "X": ["n", "m"], "y": ["n"]}
    assert passes(folder / "J.py").count("as stored") == 3


@pytest.mark.skipif(compiler() is None, reason="there is no C compiler")
def test_c(folder):
    assert main(["export", "losses.py:loss", "--grad", "--wrt", "w", "-o", "g.c"]) == 0
    made = ["-DSELFTEST", "g.c", "-o", "selftest", "-lm"]
    subprocess.run([compiler(), *WARNINGS, *made], check=True, cwd=folder)
    done = subprocess.run([folder / "selftest"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "passed" in done.stdout


@pytest.mark.slow  # tests/test_hash_seeds.py exports one file under three
def test_the_same_bytes_under_all_hash_seeds(folder):
    """Also here, where the seed is another one in every run."""

    def written(seed, end):
        asked = ["export", "losses.py:loss", "--grad", "--wrt", "w,X", "-o", f"{seed}.{end}"]
        if seed is None:
            assert main(asked) == 0
        else:
            env = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(ROOT)}
            subprocess.run([sys.executable, "-m", "symgrad", *asked], check=True, env=env, capture_output=True)
        return (folder / f"{seed}.{end}").read_bytes()

    for end in ("py", "c"):
        assert len({written(seed, end) for seed in (None, *range(5))}) == 1


def test_errors(folder, capsys):
    for asked, words in (
        (["losses.py:lost", "-o", "g.py"], "no function 'lost'; it has loss, residual"),
        (["losses.py:loss", "-o", "g.txt"], "a file ends in .py, .c, .m, .json"),
        (["losses.py:loss", "-o", "g.py", "--wrt", "v"], "'v'; the arguments are w, X, y, rate"),
        (
            ["losses.py:loss", "-o", "nowhere/g.py"],
            "the folder nowhere does not exist, so g.py cannot be written there",
        ),
        (["losses.py:loss", "-o", "."], "a file ends in"),
        (["losses.py:loss", "-o", "losses.py/g.py"], "the folder losses.py is a file, so g.py cannot be written"),
        (["losses.py:loss", "-o", "g.c", "--target", "octave"], "a file for octave ends in .m"),
        (["losses.py:residual", "-o", "g.py"], "needs one scalar result"),
        (["losses", "-o", "g.py"], "file.py:function or package.module:function"),
    ):
        assert main(["export", *asked]) == 2
        assert words in capsys.readouterr().err
    assert not (folder / "g.py").exists()


def test_help(capsys):
    with pytest.raises(SystemExit) as done:
        main(["export", "--help"])
    assert done.value.code == 0
    assert "example: python -m symgrad export" in capsys.readouterr().out
