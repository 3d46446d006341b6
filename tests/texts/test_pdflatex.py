"""LaTeX is accepted by pdflatex, and environments and where-lists fit the column of the article class."""

import re
import shutil
import subprocess
import warnings

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.printing.width import COLUMN, width
from symgrad.formula.reading.people.tex import read_latex
from symgrad.formula.reading.tex import from_latex
from symgrad.formula.term import evaluate
from tests.formulas.generator import Generator
from tests.texts.test_gallery import ENTRIES

PACKAGES = "amsmath,amssymb,bm"
"""What the documentation says a document needs."""

needs_tex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")


def compiled(tmp_path, bodies):
    """Problems by name: errors, and lines that leave the column; and the widths of what is set in a line."""
    lines = [rf"\documentclass{{article}}\usepackage{{{PACKAGES}}}\newbox\B\begin{{document}}"]
    for name, text in bodies.items():
        environment = re.match(r"\\begin\{(align|equation)\*?\}", text)
        lines.append(rf"\typeout{{ITEM {name}}}")
        lines.append(text if environment else rf"\[ {text} \]")
        if not environment:
            lines.append(rf"\setbox\B\hbox{{$\displaystyle {text}$}}\typeout{{WIDTH \the\wd\B}}")
    source = "\n\n".join([*lines, r"\end{document}"])
    (tmp_path / "all.tex").write_text(source, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", f"-output-directory={tmp_path}", str(tmp_path / "all.tex")]
    log = subprocess.run(command, capture_output=True, check=False, cwd=tmp_path).stdout.decode("latin-1")
    name, problems, widths = "", {}, {}
    for line in log.splitlines():
        if line.startswith("ITEM "):
            name = line[5:].strip()
        elif line.startswith("WIDTH "):
            widths[name] = float(line[6:].removesuffix("pt"))
        elif line.startswith("!") or (line.startswith("Overfull") and float(re.search(r"\(([\d.]+)pt", line)[1]) > 8):
            problems.setdefault(name, line)
    assert (tmp_path / "all.pdf").exists(), log[-2000:]
    return problems, widths


def from_functions():
    """LaTeX of all kinds of a few functions."""
    functions = {
        "least": (lambda A, x, b: ((A @ x - b) ** 2).sum(), (5, 3), (3,), (5,)),
        "net": (lambda W, X, V: (sg.tanh(X @ W) @ V).tanh().sum(), (3, 4), (5, 3), (4, 2)),
        "det": (lambda A, x: sg.logdet(A) + x @ sg.linalg.inv(A) @ x, (3, 3), (3,)),
        "kinks": (lambda W, x: (sg.relu(W @ x) + sg.abs(W @ x)).sum(), (4, 3), (3,)),
        "names": (lambda alpha_hat, x_0, Sigma: (alpha_hat * x_0 @ Sigma @ x_0).sum(), (), (3,), (3, 3)),
        "slices": (lambda x, y: (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum() + y.sum(), (4,), (2,)),
    }
    for name, (f, *shapes) in functions.items():
        wrt = f.__code__.co_varnames[0]
        args = [0.7 if not s else s for s in shapes]
        args = [np.eye(3) * 3 + 0.1 if s == (3, 3) else s for s in args]
        found = sg.formula(f, *args, wrt=wrt)
        yield f"{name} plain", found.latex()
        yield f"{name} run", found.latex(canonical=False, width=COLUMN, where=True)
        yield f"{name} bold", found.latex(bold=True, header=True)
        for environment in ("align", "align*", "equation", "equation*"):
            told = {"header": True, "conditions": True, "caption": True}
            yield f"{name} {environment}", found.latex(environment=environment, where=True, **told)
        for style in ("reverse", "differential"):
            yield f"{name} {style}", sg.derive(f, *args, wrt=wrt, style=style).latex()


@needs_tex
def test_pdflatex_accepts_it(tmp_path):
    bodies = {f"gallery {name}": text for name, text in ENTRIES} | dict(from_functions())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(40):
            found = sg.formula(Generator(seed).derivative()[1])
            bodies[f"generated {seed}"] = found.latex()
            bodies[f"generated {seed} run"] = found.latex(where=True, canonical=False)
    problems, widths = compiled(tmp_path, bodies)
    # One line that has no sum and no part to name, such as a matrix exponential's, may be wider than the column.
    generated = {name: said for name, said in problems.items() if name.startswith("generated")}
    assert not {name: said for name, said in problems.items() if name not in generated}
    assert not any(said.startswith("!") for said in generated.values()), generated
    off = [(width(bodies[name]) / found, name) for name, found in widths.items() if found > 80]
    assert 0.85 < np.median([ratio for ratio, _ in off]) < 1.15
    assert np.mean([0.75 < ratio < 1.3 for ratio, _ in off]) > 0.9, sorted(off)


def test_lines_of_environments_fit():
    wide = []
    for name, text in from_functions():
        if text.startswith((r"\begin{align}", r"\begin{align*}")):
            rows = text.split("\n", 1)[1].rsplit("\n", 1)[0].split(" \\\\\n")
            wide += [(name, row) for row in rows if width(row) > COLUMN + 8]
    assert not wide


@pytest.mark.parametrize("seed", [1, 3, 8])
def test_broken_lines_read_back(seed):
    """A line that goes on in the next one is read as one."""
    x = sg.tensor(np.linspace(0.2, 0.9, 4), requires_grad=True, name="x")
    rng = np.random.default_rng(seed)
    y = sum(float(rng.integers(2, 9)) * (k * x).sin().sum() for k in range(2, 9))
    y.backward()
    found = sg.formula(x.grad)
    text = found.latex(where=True, width=200)
    assert r"& \quad {}" in text
    for reader in (from_latex, read_latex):
        term = reader(text, found.symbols, found.shape)
        np.testing.assert_allclose(evaluate(term, {"x": x.numpy(force=True)}), x.grad.numpy(force=True))
