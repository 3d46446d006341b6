"""The command ``python -m symgrad run``: a program that imports torch, with this library in its place."""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path
from typing import Any

from symgrad.errors import ArgumentError


def add_run(commands: Any) -> None:
    """Add the parser of the command."""
    parser = commands.add_parser(
        "run",
        help="run a program that imports torch, with symgrad in its place",
        description="Run a Python program, or a module with -m, in which `import torch` gives symgrad: every tensor "
        "has its formula.",
        epilog="example: python -m symgrad run train.py --epochs 3",
    )
    parser.add_argument(
        "-m",
        dest="module",
        nargs=argparse.REMAINDER,
        help="a module to run and its arguments, as in python -m MODULE …",
    )
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="PROGRAM [ARGUMENT …]", help="what to run")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from symgrad.stand_in import install_as_torch

    if not (options.module or options.program):
        raise ArgumentError("run: a program is missing, as in python -m symgrad run train.py.")
    install_as_torch()
    if options.module:
        sys.argv = options.module
        runpy.run_module(options.module[0], run_name="__main__", alter_sys=True)
        return 0
    program = Path(options.program[0])
    if not program.exists():
        raise ArgumentError(f"run: there is no file {str(program)!r}.")
    sys.argv = list(options.program)
    sys.path[0] = str(program.resolve().parent)  # as Python has it where a program is run
    runpy.run_path(str(program), run_name="__main__")
    return 0
