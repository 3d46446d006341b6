"""The commands that print formulas: ``python -m symgrad latex`` and ``judge``.

The value is a text such as ``"sum((X@w-y)**2)"``, ``file.py:function`` or ``package.module:function``.  What was asked
for goes to standard output, errors go to standard error.  Exit codes: 0, 2 for an error; ``judge`` gives 0 for EQUAL, 1
for DIFFERENT, 3 for UNDECIDED, and ``check`` 0 for right, 1 for wrong.
"""

from __future__ import annotations

import argparse
import re
from typing import Any

from symgrad.commands.loading import loaded
from symgrad.errors import ArgumentError

LAYOUTS = ("mixed", "numerator", "denominator")
FORMATS = ("latex", "unicode", "markdown", "typst", "mathml")
EXIT = {"EQUAL": 0, "DIFFERENT": 1, "UNDECIDED": 3}


def add_commands(commands: Any) -> None:
    """Add the parsers of the commands."""
    latex = commands.add_parser(
        "latex",
        help="a formula, or its derivative, in LaTeX or another format",
        description="Print the formula of VALUE, or of its derivative by --wrt.",
        epilog="example: python -m symgrad latex 'sum((X@w-y)**2)' --wrt w --header",
    )
    _value(latex)
    latex.add_argument("--wrt", metavar="NAME", help="print the derivative by this variable (or by several: x,x)")
    latex.add_argument("--header", action="store_true", help="print what it is on the left of =")
    latex.add_argument("--bold", action="store_true", help="arrays in bold")
    latex.add_argument("--format", choices=(*FORMATS, "text"), default="latex", help="text is that of SymPy and NumPy")
    latex.add_argument("--environment", metavar="NAME", help="align, align*, equation or equation*, for a document")
    latex.add_argument("--lines", type=int, metavar="N", help="name shared parts, and print at most N lines")
    latex.add_argument("--names", metavar="NAMES", help=NAMES_HELP)
    latex.add_argument("--width", type=float, metavar="POINTS", help="of a line; 345 is that of the article class")
    latex.add_argument("--batch", metavar="LETTER", help="print the formula of one example, which the letter numbers")
    latex.add_argument("--conditions", action="store_true", help="print when the formula of a function holds, too")
    latex.add_argument("--layout", choices=LAYOUTS, help="of a derivative, stated below it; mixed is that of arrays")
    latex.set_defaults(run=_latex)
    judge = commands.add_parser(
        "judge",
        help="whether a formula is the derivative of another (exit code 0, 1 or 3)",
        description="Say whether FORMULA is the derivative of --of by --wrt: EQUAL (exit code 0), DIFFERENT (1) with a "
        "counterexample and the probable mistake, or UNDECIDED (3).  Nothing of a text is run as code.",
        epilog="example: python -m symgrad judge '2*A.T*(A*x-b)' --of 'sum((A@x-b)**2)' --wrt x",
    )
    judge.add_argument("given", metavar="FORMULA", help="the formula to judge: NumPy-like text, mathematics, or LaTeX")
    judge.add_argument(
        "--of", metavar="VALUE", required=True, help="what it is the derivative of: a text, or file.py:function"
    )
    judge.add_argument("--wrt", metavar="NAME", help="the variable; without it the values are compared")
    judge.add_argument("--shapes", metavar="SHAPES", help="as in 'X=n,m w=m'; found by trying where omitted")
    judge.add_argument("--layout", choices=LAYOUTS, help="of the formula; where omitted its shape tells it")
    add_assume(judge)
    judge.set_defaults(run=_judge)


NAMES_HELP = "of parts: a letter (u), a list (r,p), or what they stand for ('r = A@x - b; p = softmax(r)')"


def chosen(text: str | None) -> Any:
    """The argument ``names`` of a text."""
    if text is None or re.fullmatch(r"\s*\w+\s*", text):
        return text and text.strip()
    if "=" not in text:
        return list(_names(text))
    pairs = [part.split("=", 1) for part in text.split(";") if part.strip()]
    if any(len(pair) < 2 for pair in pairs):
        raise ArgumentError("--names is a letter, a list such as r,p, or 'r = A@x - b; p = softmax(r)'.")
    return {name.strip(): part.strip() for name, part in pairs}


def _value(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "value", metavar="VALUE", help="a text such as 'sum((X@w-y)**2)', file.py:function or module:function"
    )
    parser.add_argument("--shapes", metavar="SHAPES", help="as in 'X=n,m w=m y=n'; found by trying where omitted")
    add_assume(parser)


def add_assume(parser: argparse.ArgumentParser) -> None:
    """Add the option that states structures."""
    parser.add_argument("--assume", metavar="STRUCTURES", default="", help="as in 'W=symmetric'")


def assumed(text: str) -> dict[str, str]:
    """The argument ``assume`` of a text."""
    parts = [part.split("=", 1) for part in text.split()]
    if any(len(pair) < 2 for pair in parts):
        raise ArgumentError(f"--assume is written like 'W=symmetric', not {text!r}.")
    return dict(parts)


def _latex(options: argparse.Namespace) -> int:
    from symgrad.notation import formula

    asked: dict[str, Any] = {"shapes": options.shapes, "assume": assumed(options.assume)}
    found = formula(loaded(options.value), wrt=_names(options.wrt) or None, **asked)
    if options.format == "text":
        print(found.expr)
        return 0
    settings: dict[str, Any] = {"bold": options.bold, "header": options.header, "conditions": options.conditions}
    if options.environment:
        settings["environment"] = options.environment
    if options.lines is not None:
        settings |= {"where": True, "lines": options.lines}
    if options.names is not None:
        settings["names"] = chosen(options.names)
        settings.setdefault("where", None if isinstance(settings["names"], dict) else True)
    if options.layout is not None:
        settings |= {"layout": options.layout, "caption": True}
    if options.width is not None:
        settings["width"] = options.width
    if options.batch is not None:
        settings["batch"] = options.batch
    print(getattr(found, options.format)(**settings))
    return 0


def _judge(options: argparse.Namespace) -> int:
    from symgrad.judging import judge

    names = _names(options.wrt)
    wrt = None if not names else names[0] if len(names) == 1 else names
    structures = assumed(options.assume)
    asked: dict[str, Any] = {"shapes": options.shapes, "assume": structures, "layout": options.layout}
    verdict = judge(options.given, of=loaded(options.of), wrt=wrt, **asked)
    print(verdict)
    return EXIT[verdict.verdict]


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(part for part in re.split(r"[,\s]+", text or "") if part)
