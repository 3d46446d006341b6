"""The command ``python -m symgrad check``: whether a derivative in a program is right.

Exit codes: 0 right, 1 wrong, 2 for what could not be checked.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from symgrad.check.asking.frameworks import LIBRARIES
from symgrad.check.asking.kinds import KINDS
from symgrad.errors import ArgumentError, SymgradError
from symgrad.guide.loading import module_of, named
from symgrad.sources.runs import SIZES, example_shapes, sizes_of
from symgrad.sources.shapes import parse_shapes

SUFFIXES = ("grad", "gradient", "jacobian", "jac", "vjp", "jvp", "backward", "bwd", "derivative", "prime")
PREFIXES = ("grad", "d", "jac", "jacobian")
_KINDS = {"jvp": "jvp", "vjp": "vjp", "backward": "vjp", "bwd": "vjp"}


def add_check(commands: Any) -> None:
    """Add the parser of the command."""
    parser = commands.add_parser(
        "check",
        help="whether a derivative in a program is right (exit code 0 or 1)",
        description="Compare a derivative with the exact one, and say what the mistake is. Exit code 0 for a right "
        "one, 1 for a wrong one, 2 for what could not be checked.",
        epilog="example: python -m symgrad check losses.py:loss --grad losses.py:loss_grad --shapes 'X=20,5 w=5 y=20'",
    )
    parser.add_argument("function", metavar="FUNCTION", help="file.py:function or package.module:function")
    parser.add_argument(
        "--grad",
        metavar="FUNCTION",
        help=f"its derivative, or what a library computes ({', '.join(LIBRARIES)}); without it a function of the same "
        "module with the same name and _grad, _jacobian, _vjp, _jvp, _backward behind",
    )
    parser.add_argument(
        "--at", metavar="POINT", help="'x=[1.0,2.0] scale=0.5', or a file .npz or .json with an array for every name"
    )
    parser.add_argument("--shapes", metavar="SHAPES", help="of random arguments, as in 'X=20,5 w=5 y=n'")
    parser.add_argument("--kind", choices=KINDS, help="what the derivative is; found out where it can be")
    parser.add_argument("--wrt", metavar="NAMES", help="the arguments that the derivative belongs to, as in w,b")
    parser.add_argument("--dtype", choices=("float64", "float32"), default="float64", help="of random arguments")
    parser.add_argument("--seed", type=int, default=0, help="of random arguments")
    parser.add_argument("--rtol", type=float, help="widens the tolerance")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.set_defaults(run=run_check)


def run_check(options: argparse.Namespace) -> int:
    """Run the command; gives the exit code."""
    try:
        report = _report(options)
    except Exception as error:  # noqa: BLE001  (whatever the functions of the user raise)
        said = f"{error}" if isinstance(error, SymgradError) else f"{type(error).__name__}: {error}"
        if options.json:
            print(json.dumps({"ok": None, "error": said}, indent=2))
        print(f"error: {said}", file=sys.stderr)
        return 2
    print(json.dumps(report.to_dict(), indent=2, allow_nan=False) if options.json else report)
    return 0 if report.ok else 1


def _report(options: argparse.Namespace) -> Any:
    from symgrad.check import check

    f, grad, kind = _pair(options.function, options.grad)
    values = _point(f, options)
    names = list(values)
    argnums = None
    if options.wrt:
        chosen = [part for part in re.split(r"[,\s]+", options.wrt) if part]
        unknown = [name for name in chosen if name not in names]
        if unknown:
            raise ArgumentError(f"--wrt names {unknown[0]!r}; the arguments are {', '.join(names)}.")
        for name in chosen:
            values[name] = _floating(values[name])
        argnums = [names.index(name) for name in chosen]
    return check(
        f,
        grad,
        *values.values(),
        kind=options.kind or kind,
        argnums=argnums[0] if argnums and len(argnums) == 1 else argnums,
        rtol=options.rtol,
    )


def _module(text: str) -> tuple[Any, str, str]:
    found = module_of(text)
    if found is None:
        raise ArgumentError(f"a function is written file.py:function or package.module:function, not {text!r}.")
    return found


def _pair(function: str, given: str | None) -> tuple[Callable[..., Any], Any, str | None]:
    """The function, its derivative, and the kind of that where its name tells it."""
    module, path, name = _module(function)
    f = named(module, path, name)
    if given in LIBRARIES:
        return f, given, None
    if given is not None:
        inside = given.isidentifier()  # of the same module
        grad = named(module, path, given) if inside else named(*_module(given))
        return f, grad, _KINDS.get(given.rpartition("_")[2])
    tried = [f"{name}_{word}" for word in SUFFIXES] + [f"{word}_{name}" for word in PREFIXES] + [f"d{name}"]
    for candidate in tried:
        if callable(getattr(module, candidate, None)):
            return f, getattr(module, candidate), _KINDS.get(candidate.rpartition("_")[2])
    raise ArgumentError(
        f"{path} has no {tried[0]}, {tried[2]}, {tried[4]} or the like; name the derivative of {name} with --grad."
    )


# ---------------------------------------------------------------------------------------------- the point


def _point(f: Callable[..., Any], options: argparse.Namespace) -> dict[str, Any]:
    """The arguments by name, in the order of the parameters."""
    given = _read_point(options.at) if options.at else {}
    known = parse_shapes(options.shapes or "")
    parameters = [
        p for p in inspect.signature(f).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    names = [p.name for p in parameters]
    unknown = [name for name in (*given, *known) if name not in names]
    if unknown:
        raise ArgumentError(f"{f.__name__} has no argument {unknown[0]!r}; it has {', '.join(names)}.")
    needed = [p.name for p in parameters if p.name not in given and (p.default is p.empty or p.name in known)]
    missing = [name for name in needed if name not in known]
    if missing and (given or len(needed) < len(names)):
        raise ArgumentError(f"nothing is said of {', '.join(missing)}: give --shapes '{missing[0]}=3,2' or --at.")
    shapes = example_shapes(f, known, False)[1] if missing else known
    made = _random(shapes, needed, options)
    found = {**{p.name: p.default for p in parameters if p.default is not p.empty}, **given, **made}
    return {name: found[name] for name in names}


def _random(shapes: Any, names: Sequence[str], options: argparse.Namespace) -> dict[str, Any]:
    """Normal numbers in the given shapes, letters of which stand for different sizes."""
    rng = np.random.default_rng(options.seed)
    sizes = sizes_of(shapes, SIZES)
    drawn = {name: rng.normal(size=tuple(sizes.get(s, s) for s in shapes[name])) for name in names}
    return {name: array.astype(options.dtype)[()] for name, array in drawn.items()}


def _read_point(text: str) -> dict[str, Any]:
    file = Path(text)
    if file.suffix in (".npz", ".json"):
        if not file.is_file():
            raise ArgumentError(f"there is no file {file}.")
        if file.suffix == ".npz":
            with np.load(file) as arrays:
                return {name: arrays[name][()] for name in arrays.files}
        return {name: _array(value) for name, value in json.loads(file.read_text(encoding="utf-8")).items()}
    parts = re.split(r"(?:^|[\s;,])\s*([A-Za-z_]\w*)\s*=", text)
    if len(parts) < 3 or parts[0].strip():
        raise ArgumentError(
            f"--at is written like 'x=[1.0,2.0] scale=0.5', or names a file .npz or .json; not {text!r}."
        )
    try:
        return {
            name: _array(ast.literal_eval(value.strip().rstrip(";,")))
            for name, value in zip(parts[1::2], parts[2::2], strict=True)
        }
    except (ValueError, SyntaxError) as error:
        raise ArgumentError(
            f"--at holds numbers, lists and texts, as in 'x=[1.0,2.0] scale=0.5'; not {text!r}."
        ) from error


def _array(value: Any) -> Any:
    """Lists of numbers as arrays; other values as they are."""
    return np.array(value) if isinstance(value, list) and np.array(value).dtype.kind in "ifcb" else value


def _floating(value: Any) -> Any:
    """Whole numbers as floating ones: a derivative by them is asked for."""
    return np.asarray(value, float)[()] if np.asarray(value).dtype.kind in "iu" else value
