"""The command line: ``python -m symgrad latex VALUE``, ``derive``, ``judge``, ``check``, ``rules``, ``demo`` …."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence

from symgrad.commands.accuracy import add_accuracy
from symgrad.commands.bench import add_bench
from symgrad.commands.checking import add_check
from symgrad.commands.conventions import add_conventions
from symgrad.commands.derive import add_derive
from symgrad.commands.digest import add_digest
from symgrad.commands.export import add_export
from symgrad.commands.latex import add_commands
from symgrad.commands.matrixcalc import add_matrixcalc
from symgrad.commands.rules import add_rules
from symgrad.commands.run import add_run
from symgrad.commands.selftest import add_selftest
from symgrad.commands.torture import add_torture
from symgrad.errors import SymgradError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; gives the exit code (0 when all went well, 2 for what the library refuses)."""
    parser = _parser()
    options = parser.parse_args(_with_formulas(sys.argv[1:] if arguments is None else arguments))
    if options.command is None:
        parser.print_help(sys.stderr)
        return 2
    try:
        return int(options.run(options))
    except SymgradError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _with_formulas(arguments: Sequence[str]) -> list[str]:
    """The arguments with a blank before formulas that begin with a sign, which are no options: ``-x*sin(y)``."""
    if arguments[:1] == ["run"]:
        return list(arguments)  # which are for the program
    option = re.compile(r"--|-h$|-o" if "export" in arguments[:1] else r"--|-h$")
    return [f" {text}" if text.startswith("-") and not option.match(text) else text for text in arguments]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "symgrad",
        description="Derivatives as numbers and as exact formulas.",
        epilog="Begin with: python -m symgrad demo.  COMMAND --help shows what a command takes, with an example.",
    )
    commands = parser.add_subparsers(dest="command", title="commands", metavar="COMMAND")
    demo = commands.add_parser("demo", help="the main job on real data, in a few seconds")
    demo.set_defaults(run=_demo)
    card = commands.add_parser("op", help="the card of an op: value, derivative, formula, code, domain")
    card.add_argument("name", metavar="NAME", help="the op's name in the table, such as tanh or matmul")
    card.set_defaults(run=_card)
    add_commands(commands)
    add_check(commands)
    add_accuracy(commands)
    for add in (
        add_bench,
        add_derive,
        add_conventions,
        add_digest,
        add_export,
        add_matrixcalc,
        add_rules,
        add_run,
        add_selftest,
        add_torture,
    ):
        add(commands)
    commands.add_parser("version", help="the version").set_defaults(run=_version)
    return parser


def _demo(_: argparse.Namespace) -> int:
    from symgrad.commands.demo import run

    return run()


def _card(options: argparse.Namespace) -> int:
    from symgrad.commands.card import card

    print(card(options.name))
    return 0


def _version(_: argparse.Namespace) -> int:
    from symgrad import __version__

    print(f"symgrad {__version__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
