"""The same LaTeX, expressions and source in every process: none of them may follow Python's hash seed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import json, sys, warnings
import numpy as np
import symgrad as sg
from tests.formulas.generator import Generator
from symgrad.formula.printing.latex import latex
from symgrad.formula.sympy.expressions import to_sympy
warnings.simplefilter("ignore")
sg.set_default_dtype(np.float64)
for seed in range(int(sys.argv[1])):
    made, term = Generator(seed).derivative()
    print(latex(made), latex(term), to_sympy(term) if seed % 4 == 0 else "", sep="\\n")
rng = np.random.default_rng(0)
X, w, y, A = (sg.tensor(rng.normal(size=s), requires_grad=True, name=n)
              for n, s in (("X", (5, 3)), ("w", (3,)), ("y", (5,)), ("A", (3, 3))))
for loss in (((X @ w - y) ** 2).sum(), sg.nn.functional.softplus(-y * (X @ w)).sum() + w @ A @ w,
             sg.logdet(A @ A.T) - sg.log_softmax(X @ A, 1).sum()):
    for g in sg.autograd.grad(loss, [X, w, y, A], create_graph=True, allow_unused=True):
        if g is not None:
            print(g.latex(), g.expr, sg.compile(g, ["X", "w", "y", "A"]).source, sep="\\n")
if len(sys.argv) > 2:
    sys.path.insert(0, sys.argv[2])
    import check_formulas as tool
    adapter = tool.SymgradAdapter()
    for entry in tool.load(sys.argv[3]):
        g = tool.derive(entry, adapter, tool.sample(entry, 0))
        print(g.latex(), g.expr, sg.compile(g, [v["name"] for v in entry["vars"]]).source, sep="\\n")
"""
ROOT = Path(__file__).parent.parent
SHARED = ROOT.parent / "shared"


def printed(hash_seed: int, *args: str) -> str:
    env = {**os.environ, "PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": str(ROOT)}
    made = subprocess.run([sys.executable, "-c", PROGRAM, *args], env=env, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr[-2000:]
    return made.stdout


def same_in_all(*args: str) -> None:
    texts = [printed(seed, *args) for seed in (0, 1, 2, 12345, 987654321)]
    assert len(texts[0]) > 1000
    for other in texts[1:]:
        if other != texts[0]:
            pairs = zip(texts[0].splitlines(), other.splitlines(), strict=False)
            raise AssertionError(next((a, b) for a, b in pairs if a != b))
    assert len({hashlib.sha256(t.encode()).hexdigest() for t in texts}) == 1


def test_texts_do_not_follow_the_hash_seed() -> None:
    same_in_all("12")


@pytest.mark.slow
def test_texts_of_the_whole_set_do_not_follow_the_hash_seed() -> None:
    data = SHARED / "data" / "formulas_public.jsonl"
    if not data.exists():
        pytest.skip("the set of identities is not here")
    same_in_all("100", str(SHARED / "tools"), str(data))
