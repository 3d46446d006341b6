"""The commands that print formulas: ``python -m symgrad latex``, ``derive`` and ``judge``.

The value is a text such as ``"sum((X@w-y)**2)"`` or ``module.py:function``.  What was asked for goes to standard
output, errors go to standard error.  Exit codes: 0, 2 for an error; ``judge`` gives 0 for EQUAL, 1 for DIFFERENT, 3 for
UNDECIDED.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

from symgrad.errors import ArgumentError, NameProblem, SymgradError

EXIT = {"EQUAL": 0, "DIFFERENT": 1, "UNDECIDED": 3}


def add_commands(commands: Any) -> None:
    """Add the parsers of the commands."""
    latex = commands.add_parser("latex", help="the LaTeX of a formula, or of its derivative")
    _value(latex)
    latex.add_argument("--wrt", metavar="NAME", help="print the derivative by this variable (or by several: x,x)")
    latex.add_argument("--header", action="store_true", help="print what it is on the left of =")
    latex.add_argument("--bold", action="store_true", help="arrays in bold")
    latex.add_argument("--text", action="store_true", help="plain text instead of LaTeX")
    derive = commands.add_parser("derive", help="a derivation line by line")
    _value(derive)
    derive.add_argument("--wrt", metavar="NAME", required=True, help="the variable")
    derive.add_argument("--style", choices=("reverse", "differential"), default="reverse")
    derive.add_argument("--format", choices=("text", "latex", "markdown"), default="text")
    judge = commands.add_parser("judge", help="whether a formula is the derivative of another (exit code 0, 1 or 3)")
    judge.add_argument("given", metavar="FORMULA", help="the formula to judge: plain text or LaTeX")
    judge.add_argument(
        "--of", metavar="VALUE", required=True, help="what it is the derivative of: a text or file.py:function"
    )
    judge.add_argument("--wrt", metavar="NAME", help="the variable; without it the values are compared")
    judge.add_argument("--shapes", metavar="SHAPES", help="as in 'X=n,m w=m'; found by trying where omitted")
    judge.add_argument("--assume", metavar="STRUCTURES", default="", help="as in 'W=symmetric'")


def _value(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("value", metavar="VALUE", help="a text such as 'sum((X@w-y)**2)', or file.py:function")
    parser.add_argument("--shapes", metavar="SHAPES", help="as in 'X=n,m w=m y=n'; found by trying where omitted")


def run(options: argparse.Namespace) -> int:
    """Run one command; gives the exit code."""
    try:
        return {"latex": _latex, "derive": _derive, "judge": _judge}[options.command](options)
    except SymgradError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _latex(options: argparse.Namespace) -> int:
    from symgrad.formula.latex import latex
    from symgrad.formula.sympy_io import to_sympy
    from symgrad.formula.texnames import name_latex
    from symgrad.sources import source

    names = _names(options.wrt)
    about = source(loaded(options.value), (), options.shapes, scalar=bool(names))
    term = about.derivative(names or None)
    if options.text:
        print(to_sympy(term, symbols=about.symbols))
        return 0
    head = None
    if options.header:
        head = name_latex(about.name)
        for name in names:
            head = rf"\frac{{\partial {head}}}{{\partial {name_latex(name)}}}"
    print(latex(term, bold=options.bold, name=head))
    return 0


def _derive(options: argparse.Namespace) -> int:
    from symgrad.steps import derive

    found = derive(loaded(options.value), wrt=options.wrt, style=options.style, shapes=options.shapes)
    print(found if options.format == "text" else found.latex() if options.format == "latex" else found.markdown())
    return 0


def _judge(options: argparse.Namespace) -> int:
    from symgrad.judging import judge

    assume = dict(part.split("=", 1) for part in options.assume.split() if "=" in part)
    names = _names(options.wrt)
    wrt = None if not names else names[0] if len(names) == 1 else names
    verdict = judge(options.given, of=loaded(options.of), wrt=wrt, shapes=options.shapes, assume=assume)
    print(verdict)
    return EXIT[verdict.verdict]


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(part for part in re.split(r"[,\s]+", text or "") if part)


def loaded(value: str) -> Any:
    """A text as it is, or the function that ``file.py:name`` names."""
    path, colon, name = value.rpartition(":")
    if not colon or not path.endswith(".py") or not name.isidentifier():
        return value
    file = Path(path)
    if not file.is_file():
        raise ArgumentError(f"there is no file {path}.")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise ArgumentError(f"{path} is no Python file that can be loaded.")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ArgumentError(f"{path} could not be run: {type(error).__name__}: {error}") from error
    if not callable(getattr(module, name, None)):
        known = sorted(k for k, v in vars(module).items() if callable(v) and not k.startswith("_"))
        raise NameProblem(f"{path} has no function {name!r}; it has {', '.join(known[:12]) or 'none'}.")
    return getattr(module, name)
