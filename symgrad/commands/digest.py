"""The command ``python -m symgrad digest``: fingerprints of what the functions of files compute."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from symgrad.commands.files import parameters_of, refusal, values_of
from symgrad.errors import SymgradError


def add_digest(commands: Any) -> None:
    """Add the parser of the command."""
    parser = commands.add_parser(
        "digest",
        help="fingerprints of formulas, the same on every machine and under every hash seed",
        description="Print a SHA-256 of what every VALUE computes, and of its gradients by every argument where it "
        "is a scalar: operations, constants, dtypes and the pattern of sizes count, names do not. A file stands for "
        "its public functions; those without a formula are told on standard error. Exit code 0; 2 where nothing has a "
        "formula.",
        epilog="example: python -m symgrad digest losses.py 'sum((X@w-y)**2)'",
    )
    parser.add_argument("values", nargs="+", metavar="VALUE", help="file.py, file.py:function, module:function, a text")
    parser.add_argument("--json", action="store_true", help="print them as JSON")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    found: dict[str, str] = {}
    for name, value in values_of(options.values):
        try:
            found.update(_digests(name, value))
        except SymgradError as error:
            print(f"no formula: {name}: {refusal(error)}", file=sys.stderr)
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        for name, text in found.items():
            print(f"{text}  {name}")
    return 0 if found else 2


def _digests(name: str, value: Any) -> dict[str, str]:
    """The digests of a value and of its gradients."""
    from symgrad.formula.digest import digest_of
    from symgrad.notation import formula

    of_value = formula(value)
    made = {name: digest_of([of_value.term])}
    if of_value.shape == ():
        names = parameters_of(value) if callable(value) else of_value.names
        for wrt in names:
            try:
                made[f"{name} by {wrt}"] = digest_of([formula(value, wrt=wrt).term])
            except SymgradError as error:
                print(f"no formula: {name} by {wrt}: {refusal(error)}", file=sys.stderr)
    return made
