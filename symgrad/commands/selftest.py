"""The command ``python -m symgrad selftest``: how well the library does what it promises, measured where it stands."""

from __future__ import annotations

import argparse
import json
from typing import Any

from symgrad.commands.arguments import count


def add_selftest(commands: Any) -> None:
    """Add the parser of the command."""
    parser = commands.add_parser(
        "selftest",
        help="how well check finds and names mistakes that are made on purpose (exit code 0 or 1)",
        description="gradcheck: check gradients by hand of random programs, right ones in six dtypes and ones with a "
        "mistake of thirty kinds. Exit code 0 if no right one is called wrong, every mistake is found, and nine of ten "
        "are named right; 1 if not.",
        epilog="example: python -m symgrad selftest gradcheck --mutants 1000 --right 2000",
    )
    parser.add_argument("gradcheck", choices=("gradcheck",), help="what is tested")
    parser.add_argument("--mutants", type=count, default=300, metavar="N", help="wrong gradients (default: 300)")
    parser.add_argument("--right", type=count, default=300, metavar="N", help="right gradients (default: 300)")
    parser.add_argument("--seed", type=int, default=0, help="of the random programs")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")
    parser.set_defaults(run=run_selftest)


def run_selftest(options: argparse.Namespace) -> int:
    """Run the command; gives the exit code."""
    from symgrad.check.selftest.mutants import selftest

    outcome = selftest(options.mutants, options.right, options.seed)
    print(json.dumps(outcome.to_dict(), indent=2) if options.json else outcome)
    return 0 if outcome.ok else 1
