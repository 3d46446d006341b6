"""What type checkers and editors are told is what there is: the stubs follow the functions, and fit what they give."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from tests.typed import examples, program

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


def test_the_typed_program_runs() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        program.main()


def test_mypy_finds_what_came_out(tmp_path: Path) -> None:
    """The program and the examples of all public functions have no error, and every line of misuse has one."""
    pytest.importorskip("mypy", reason="types are checked with mypy (group dev)")
    for name in ("program.py", "misuse.py"):
        (tmp_path / name).write_text((HERE / name).read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "examples.py").write_text(examples.program(), encoding="utf-8")
    # A function of one tensor or of several, such as atleast_1d, is called in the first way that fits.
    (tmp_path / "mypy.ini").write_text(
        f"[mypy]\nmypy_path = {ROOT.as_posix()}\nfollow_imports = silent\n"
        "[mypy-symgrad]\ndisable_error_code = overload-overlap\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "program.py", "examples.py", "misuse.py"]
    # Of packages on Python's own path, mypy keeps the errors to itself; of those on its path, it tells them.
    told = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=tmp_path, env=told, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    assert not done.stderr
    found = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert [line for line in found if not line.startswith("misuse.py:")] == []
    assert {int(line.split(":")[1]) for line in found} == set(_wrong_lines())


def _wrong_lines() -> list[int]:
    """The lines of misuse: all statements of the functions that take ``x`` and give nothing."""
    functions = [
        node
        for node in ast.parse((HERE / "misuse.py").read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    ]
    return [line.lineno for function in functions if function.name != "norm" for line in function.body]
