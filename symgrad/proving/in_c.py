"""Programs in C, compiled by the machine's compiler and called: what they compute against what NumPy does."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from symgrad.compiler.program import Compiled
from symgrad.errors import CompileError
from symgrad.ops.shapes.sizes import size_value

WARNINGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic")
_KINDS = {"float64": ctypes.c_double, "float32": ctypes.c_float, "int64": ctypes.c_int64, "bool": ctypes.c_bool}


def compiler() -> str | None:
    """Where the C compiler is; None where there is none."""
    return shutil.which("gcc") or shutil.which("cc")


def text_of(program: Compiled, folder: Path) -> str:
    """The C file of a program."""
    program.save(folder / "program.c")
    return (folder / "program.c").read_text(encoding="utf-8")


def library(texts: Sequence[str], folder: Path, *options: str) -> ctypes.CDLL:
    """The functions of several C files, in one shared library.  Raises ``CompileError`` with the compiler's words."""
    for k, text in enumerate(texts):
        (folder / f"f{k}.c").write_text(text, encoding="utf-8")
    files = [str(folder / f"f{k}.c") for k in range(len(texts))]
    command = [str(compiler()), *WARNINGS, *options, "-fPIC", "-shared", *files, "-o", str(folder / "all.so"), "-lm"]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode:
        raise CompileError(f"the C compiler refuses the file: {made.stderr.strip()[:400]}")
    return ctypes.CDLL(str(folder / "all.so"))


def called(found: ctypes.CDLL, program: Compiled, text: str, *args: Any) -> tuple[list[Any], int]:
    """The results of the C function for these arguments, and the code that it gives back."""
    head = re.search(rf"^int {program.name}\((.*)\)$", text, re.MULTILINE)
    assert head is not None
    sizes: dict[str, int] = {}
    row = []
    asked = [a for a in program.arguments if a.default is None]
    for a, value in zip(asked, args, strict=True):
        array = np.asarray(value, a.dtype, order="C")
        sizes.update((s, n) for s, n in zip(a.shape, array.shape, strict=True) if isinstance(s, str))
        row.append(array)
    outs = [np.full([size_value(s, sizes) for s in shape], 7).astype(dtype) for shape, dtype in program.results]
    given: list[Any] = [ctypes.c_ssize_t(sizes[letter]) for letter in re.findall(r"ptrdiff_t (\w+)", head[1])]
    for a, v in zip(asked, row, strict=True):
        if not a.shape and v.dtype.kind == "c":  # is passed in as many words as it has
            given += [ctypes.c_double(word) for word in np.atleast_1d(v).view(np.float64).tolist()]
        else:
            given.append(ctypes.c_void_p(v.ctypes.data) if a.shape else _KINDS[v.dtype.name](v.item()))
    given += [ctypes.c_void_p(o.ctypes.data) for o in outs]
    return outs, getattr(found, program.name)(*given)
