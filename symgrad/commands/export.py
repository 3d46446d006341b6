"""The command ``python -m symgrad export``: a derivative as one file for NumPy alone, a C compiler, or Octave."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from symgrad.commands.arguments import add_point, point_of, positions
from symgrad.commands.loading import function_at, named
from symgrad.compiler.exports.alone import SUFFIXES
from symgrad.errors import ArgumentError

KINDS = ("value", "grad", "value-and-grad", "jacobian", "hessian")
TARGETS = ("numpy", "c", "octave", "torch", "jax", "numba")


def add_export(commands: Any) -> None:
    """Add the parser of the command."""
    parser = commands.add_parser(
        "export",
        help="write a function or its derivative as a file: for NumPy, torch, JAX or Numba, in C or for Octave",
        description="Trace FUNCTION once, derive it, and write the program with its formula and a self-test. "
        "A file .py needs NumPy alone: python -I FILE --selftest. A file .c is C99: cc -std=c99 -DSELFTEST FILE -lm. "
        "A file NAME.m is for Octave and MATLAB: octave-cli --eval \"NAME('selftest')\". A file .json holds the "
        "program as data. The same function gives the same bytes. Exit code 0; 2 for what cannot leave the library.",
        epilog="example: python -m symgrad export losses.py:loss --grad --wrt w --shapes 'X=20,5 w=5 y=20' -o grad.py",
    )
    parser.add_argument("function", metavar="FUNCTION", help="file.py:function or package.module:function")
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="a path that ends in .py, .c, .m or .json"
    )
    what = parser.add_mutually_exclusive_group()
    for kind in KINDS:
        shown = "the gradient (this is the default)" if kind == "grad" else f"the {kind.replace('-', ' ')}"
        what.add_argument(f"--{kind}", dest="kind", action="store_const", const=kind, help=shown)
    parser.add_argument("--target", choices=TARGETS, help="whose calls are written (default: by the end of the path)")
    parser.add_argument("--wrt", metavar="NAMES", help="the arguments to derive by, as in w,b (default: all of floats)")
    parser.add_argument("--name", metavar="NAME", help="of the function in the file")
    add_point(parser)
    parser.add_argument("--json", action="store_true", help="print what was written as JSON")
    parser.set_defaults(run=_run, kind="grad")


def _run(options: argparse.Namespace) -> int:
    path = Path(options.output)
    if path.suffix not in SUFFIXES:
        raise ArgumentError(f"-o {options.output}: a file ends in {', '.join(SUFFIXES)}.")
    by_end = {"c": ".c", "octave": ".m"}.get(options.target)
    if by_end is not None and path.suffix != by_end:
        raise ArgumentError(f"-o {options.output}: a file for {options.target} ends in {by_end}.")
    program = _program(options)
    program.save(path, target=None if by_end else options.target)
    lines = len(path.read_text(encoding="utf-8").splitlines())
    if options.json:
        arguments = {a.name: list(a.shape) for a in program.arguments}
        told = {"file": str(path), "name": program.name, "kind": options.kind, "arguments": arguments, "lines": lines}
        print(json.dumps(told, indent=2))
    else:
        print(f"wrote {path}: {program.name}({', '.join(a.name for a in program.arguments)}), {lines} lines")
    return 0


def _program(options: argparse.Namespace) -> Any:
    """The compiled program that was asked for."""
    from symgrad import func
    from symgrad.compiler import compile as compiled

    f = named(*function_at(options.function))
    values = point_of(f, options).values
    if options.kind == "value":
        return compiled(f, *values.values(), name=options.name).program
    argnums = _argnums(values, options.wrt)
    wanted = argnums[0] if len(argnums) == 1 else argnums
    if options.kind == "value-and-grad":
        transformed = func.value_and_grad(f, wanted)
    else:
        transformed = getattr(func, options.kind)(f, wanted)
    return compiled(transformed, *values.values(), name=options.name).program


def _argnums(values: dict[str, Any], wrt: str | None) -> tuple[int, ...]:
    if wrt is not None:
        return positions(values, wrt)
    found = tuple(k for k, v in enumerate(values.values()) if np.asarray(v).dtype.kind in "fc")
    if not found:
        raise ArgumentError(f"none of {', '.join(values)} is an array of floats, so there is nothing to derive by.")
    return found
