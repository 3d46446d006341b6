"""The command ``python -m symgrad check``: whether a derivative in a program is right.

Exit codes: 0 right, 1 wrong, 2 for what could not be checked.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Callable
from typing import Any

from symgrad.check.asking.frameworks import LIBRARIES
from symgrad.check.asking.kinds import KINDS
from symgrad.check.report import LONGEST_SEARCH
from symgrad.commands.arguments import At, add_point, not_negative, point_of, positions
from symgrad.commands.loading import function_at, named
from symgrad.errors import ArgumentError, SymgradError

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
    parser.add_argument("derivative", nargs="?", metavar="DERIVATIVE", help="the same as --grad")
    parser.add_argument(
        "--grad",
        metavar="FUNCTION",
        help=f"its derivative, or what a library computes ({', '.join(LIBRARIES)}); without it a function of the same "
        "module with the same name and _grad, _jacobian, _vjp, _jvp, _backward behind",
    )
    add_point(parser)
    parser.add_argument("--kind", choices=KINDS, help="what the derivative is; found out where it can be")
    parser.add_argument("--wrt", metavar="NAMES", help="the arguments that the derivative belongs to, as in w,b")
    parser.add_argument("--rtol", type=float, help="widens the tolerance")
    parser.add_argument("--no-mend", action="store_true", help="do not run the derivative with changes in its text")
    parser.add_argument(
        "--diagnose",
        metavar="SECONDS",
        type=not_negative,
        default=LONGEST_SEARCH,
        help=f"how long to look for the mistake; 0: not at all (default: {LONGEST_SEARCH})",
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.set_defaults(run=run_check)


def run_check(options: argparse.Namespace) -> int:
    """Run the command; gives the exit code."""
    at = At({}, [])
    try:
        if options.grad is not None and options.derivative is not None:
            raise ArgumentError(f"the derivative is given twice: {options.derivative} and --grad {options.grad}.")
        f, grad, kind = _pair(options.function, options.grad or options.derivative)
        at = point_of(f, options)
        report = _report(f, grad, kind, at.values, options)
    except Exception as error:  # noqa: BLE001  (whatever the functions of the user raise)
        said = f"{error}" if isinstance(error, SymgradError) else _of_user(error)
        said = f"{said}\n{at.note()}" if at.guessed else said
        if options.json:
            print(json.dumps({"ok": None, "error": said}, indent=2))
        print(f"error: {said}", file=sys.stderr)
        return 2
    report.notes += [at.note()] * bool(at.guessed)
    if options.json:
        found = report.explain(options.diagnose) if options.diagnose else report
        print(json.dumps(found.to_dict(), indent=2, allow_nan=False))
    elif report.ok or not options.diagnose:
        print(report)
    else:
        print(report.verdict, end="\n\n", flush=True)  # the search for the mistake may take a while
        with contextlib.suppress(KeyboardInterrupt):
            print(report.explain(options.diagnose).findings)
    return 0 if report.ok else 1


def _of_user(error: Exception) -> str:
    """An error that a function of the user raised, with the line of it."""
    from symgrad.check.oracle.measured import line_of_error

    line = line_of_error(error)
    return f"{type(error).__name__}: {error}" + f"\n  in {line}" * bool(line)


def _report(f: Any, grad: Any, kind: str | None, values: dict[str, Any], options: argparse.Namespace) -> Any:
    from symgrad.check import check

    argnums = positions(values, options.wrt) if options.wrt else None
    return check(
        f,
        grad,
        *values.values(),
        kind=options.kind or kind,
        argnums=argnums[0] if argnums and len(argnums) == 1 else argnums,
        rtol=options.rtol,
        mend=not options.no_mend,
        diagnose=False,
    )


def _pair(function: str, given: str | None) -> tuple[Callable[..., Any], Any, str | None]:
    """The function, its derivative, and the kind of that where its name tells it."""
    module, path, name = function_at(function)
    f = named(module, path, name)
    if given in LIBRARIES:
        return f, given, None
    if given is not None:
        inside = given.isidentifier()  # of the same module
        if inside and not hasattr(module, given):
            raise ArgumentError(
                f"--grad {given}: {path} has no function {given!r}, and no library is called so "
                f"({', '.join(LIBRARIES)}). The derivative of another module is given as file.py:function."
            )
        grad = named(module, path, given) if inside else named(*function_at(given))
        return f, grad, _KINDS.get(given.rpartition("_")[2])
    tried = [f"{name}_{word}" for word in SUFFIXES] + [f"{word}_{name}" for word in PREFIXES] + [f"d{name}"]
    for candidate in tried:
        if callable(getattr(module, candidate, None)):
            return f, getattr(module, candidate), _KINDS.get(candidate.rpartition("_")[2])
    raise ArgumentError(
        f"{path} has no {tried[0]}, {tried[2]}, {tried[4]} or the like; name the derivative of {name} with --grad."
    )
