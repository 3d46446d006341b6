"""Programs saved for Numba: what the files compute, and what is refused when they are written."""

from __future__ import annotations

import importlib.util
import runpy
import subprocess
import sys

import numpy as np
import pytest

import symgrad as sg
from symgrad.__main__ import main
from symgrad.errors import CompileError
from tests.compiling.of_engineers import attention

F = sg.nn.functional
rng = np.random.default_rng(0)
needs_numba = pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed")


def network(W, b, V, x, y):
    return ((sg.tanh(x @ W.T + b) @ V.T - y) ** 2).mean()


def ridge(w, X, y):
    return ((X @ w - y) ** 2).sum() + w @ w


def normalised(X):
    return (X - X.mean(0, keepdim=True)) / X.amax(1, keepdim=True) + X.prod(1)[:, None]


def waves(x, y):
    return (sg.exp(-x * x) * sg.tanh(y) + sg.log1p(x * x) / (1 + y * y)).sum()


CASES = {
    "network": (
        sg.func.grad(network, (0, 1, 2)),
        lambda k: (
            rng.random((4, 3)),
            rng.random(4),
            rng.random((1, 4)),
            rng.random((6 + k, 3)),
            rng.random((6 + k, 1)),
        ),
    ),
    "attention": (
        sg.func.grad(attention),
        lambda k: (rng.random((4 + k, 3)), rng.random((6 + k, 3)), rng.random((6 + k, 2))),
    ),
    "ridge": (sg.func.hessian(ridge), lambda k: (rng.random(3), rng.random((5 + k, 3)), rng.random(5 + k))),
    "normalised": (normalised, lambda k: (1 + rng.random((4 + k, 3)),)),
    "waves": (sg.func.grad(waves, (0, 1)), lambda k: (rng.random(5 + k), rng.random(5 + k))),
    "number": (sg.func.grad(lambda x: x**3 + sg.exp(x)), lambda k: (np.float64(1.5 + k),)),
}


@needs_numba
@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CASES)
def test_the_file_gives_what_numpy_gives_at_other_sizes(name, dtype, tmp_path):
    f, make = CASES[name]

    def arguments(k):
        return [np.asarray(a, dtype)[()] for a in make(k)]

    program = sg.compile(f, *arguments(0), name="program").program
    program.save(tmp_path / "f.py", target="numba")
    written = runpy.run_path(str(tmp_path / "f.py"))["program"]
    tolerance = 1e-10 if dtype == "float64" else 1e-4
    for k in (0, 2):
        args = arguments(k)
        turned = [np.asfortranarray(a) if np.ndim(a) > 1 else a for a in args]
        wanted = program.function(*args)
        for given in (args, turned):
            found = written(*given)
            for a, b in zip(*(v if isinstance(v, tuple) else (v,) for v in (wanted, found)), strict=True):
                assert (np.shape(a), np.asarray(a).dtype) == (np.shape(b), np.asarray(b).dtype)
                np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance)


@needs_numba
@pytest.mark.slow
def test_the_file_needs_numba_and_numpy_only(tmp_path):
    path = tmp_path / "f.py"
    sg.compile(sg.func.grad(ridge), rng.random(3), rng.random((5, 3)), rng.random(5)).save(path, target="numba")
    done = subprocess.run([sys.executable, "-I", path, "--selftest"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    with pytest.raises(ValueError, match="has size"):
        runpy.run_path(str(path))["grad_ridge"](np.ones(2), np.ones((3, 2)), np.ones(5))


@needs_numba
@pytest.mark.slow
def test_what_numba_cannot_compile_is_refused_by_name_when_it_is_written(tmp_path):
    path = tmp_path / "f.py"
    with pytest.raises(CompileError, match="calls bessel_j.* no form in numba"):
        sg.compile(lambda x: sg.special.bessel_j0(x), rng.random(3)).save(path, target="numba")
    with pytest.raises(CompileError, match="not written for numba.*roll"):
        sg.compile(lambda x: sg.roll(x, 1, 0) * x, rng.random((3, 2))).save(path, target="numba")
    with pytest.raises(CompileError, match="one way through a function"):
        sg.compile(lambda x: x * 2 if x.sum() > 0 else x, np.ones(3)).save(path, target="numba")
    assert not path.exists()


def test_numba_has_to_be_installed(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(CompileError, match=r"numba is not installed: pip install symgrad\[numba\]"):
        sg.compile(lambda x: x * 2, np.ones(3)).save(tmp_path / "f.py", target="numba")


def test_the_command_has_targets(tmp_path, capsys, monkeypatch):
    (tmp_path / "losses.py").write_text("def loss(x):\n    return (x * x).sum()\n", encoding="utf-8")
    told = ["export", f"{tmp_path / 'losses.py'}:loss", "--shapes", "x=3", "-o"]
    assert main([*told, str(tmp_path / "a.py"), "--target", "numpy"]) == 0
    assert main([*told, str(tmp_path / "a.c"), "--target", "c"]) == 0
    assert "#include" in (tmp_path / "a.c").read_text(encoding="utf-8")
    assert main([*told, str(tmp_path / "b.py"), "--target", "c"]) == 2
    assert "ends in .c" in capsys.readouterr().err
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert main([*told, str(tmp_path / "b.py"), "--target", "torch"]) == 2
    assert "torch is not installed" in capsys.readouterr().err
