"""The house stays in order: imports run one way, files stay small, public names change on purpose only."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import symgrad as sg
from tests.typed import stubs

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "symgrad"
LIMIT = 600


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)


def test_imports_run_one_way():
    pytest.importorskip("importlinter", reason="the order of imports is checked with import-linter (group dev)")
    done = run(sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run(['--no-cache'])")
    assert done.returncode == 0, done.stdout + done.stderr


def test_import_is_light():
    """``import symgrad`` loads NumPy and nothing heavy: SymPy waits for the first formula."""
    heavy = ("sympy", "mpmath", "torch", "jax", "numba", "scipy", "hypothesis", "pytest", "numpy.random")
    heavy += ("importlib.resources", "tempfile", "shutil")
    look = f"print([m for m in {heavy} if m in {{*sys.modules}} - own])"
    done = run(sys.executable, "-c", f"import sys, numpy; own = {{*sys.modules}}; import symgrad; {look}")
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


def test_files_stay_small():
    """A room that outgrows the limit is two rooms."""
    files = [*PACKAGE.rglob("*.py"), *Path(__file__).parent.rglob("*.py")]
    lines = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert not {path: n for path, n in lines.items() if n > LIMIT}


def test_top_level_is_tidy():
    allowed = {"pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "symgrad", "tests", "docs", "examples"}
    entries = {p.name for p in ROOT.iterdir() if not p.name.startswith(".")} - {"build", "dist"}
    assert entries <= allowed, sorted(entries - allowed)


PUBLIC = Path(__file__).parent / "public_names.txt"


def test_public_names():
    """The names of ``symgrad`` as users see them.  A change of the list is a change of the interface: say so in the
    changelog, then run ``python tests/test_layers.py`` to write the new list."""
    assert public_names() == PUBLIC.read_text(encoding="utf-8").split()


def public_names() -> list[str]:
    """What ``dir(symgrad)`` offers whatever was imported before, and the methods and attributes of tensors."""
    lazy = {"autograd", "Variable", *sg._LAZY, *sg._MODULES}
    names = {n for n in dir(sg) if not n.startswith("_") and (n in lazy or not isinstance(vars(sg).get(n), ModuleType))}
    names -= {"Any", "FUNCTIONS", "annotations", "importlib"}
    return sorted({*names, *(f"Tensor.{n}" for n in dir(sg.Tensor) if not n.startswith("_"))})


def test_stubs_are_those_of_the_functions():
    """What editors and type checkers are told of names that are bound when the package is loaded.  After a change of a
    public function, its parameters or the first line of its docstring: ``python -m tests.typed.stubs``."""
    texts = stubs.texts()
    assert sorted(texts) == sorted(PACKAGE.rglob("*.pyi"))
    changed = [path.name for path, text in texts.items() if path.read_text(encoding="utf-8") != text]
    assert changed == []


def test_stubs_tell_of_all_public_names_and_no_others():
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    tensor = ast.parse((PACKAGE / "tensor" / "tensor.pyi").read_text(encoding="utf-8")).body[-1]
    told = set(filter(None, (getattr(node, "name", None) for node in tree.body)))
    for node in tree.body:
        told |= {
            t.id for t in [*getattr(node, "targets", ()), getattr(node, "target", None)] if isinstance(t, ast.Name)
        }
        told |= {a.name for a in getattr(node, "names", ()) if a.name == a.asname}
    told |= {f"Tensor.{node.name}" for node in getattr(tensor, "body", ()) if hasattr(node, "name")}
    assert sorted(n for n in told if not n.startswith(("_", "Tensor._"))) == sorted({*public_names(), "errors"})


if __name__ == "__main__":
    PUBLIC.write_text("\n".join(public_names()) + "\n", encoding="utf-8")
