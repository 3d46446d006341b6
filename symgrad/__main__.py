"""The command line: ``python -m symgrad latex VALUE``, ``derive``, ``judge``, ``check``, ``demo``, ``op`` …."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from symgrad.guide.commands import add_commands
from symgrad.guide.selftest import add_selftest, run_selftest


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; gives the exit code (0 when all went well)."""
    options = _parser().parse_args(arguments)
    if options.command == "version":
        from symgrad import __version__

        print(f"symgrad {__version__}")
        return 0
    if options.command == "demo":
        from symgrad.guide.demo import run

        return run()
    if options.command == "op":
        return _card(options.name)
    if options.command == "selftest":
        return run_selftest(options)
    from symgrad.guide.commands import run as run_command

    return run_command(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("symgrad", description="Derivatives as numbers and as exact formulas.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("demo", help="the main job on real data, in a few seconds")
    card = commands.add_parser("op", help="the card of an op: value, derivative, formula, code, domain")
    card.add_argument("name", metavar="NAME", help="the op's name in the table, such as tanh or matmul")
    add_commands(commands)
    add_selftest(commands)
    commands.add_parser("version", help="the version")
    return parser


def _card(name: str) -> int:
    from symgrad.errors import SymgradError
    from symgrad.guide.card import card

    try:
        print(card(name))
    except SymgradError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
