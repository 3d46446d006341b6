"""The command ``python -m symgrad rules``: the rules of the table by name, and their proof."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any


def add_rules(commands: Any) -> None:
    """Add the parser of the command."""
    parser = commands.add_parser(
        "rules",
        help="prove the derivative rules of the op table (exit code 0 or 1)",
        description="List the ops of the table, or prove their rules: vjp and jvp against each other and against "
        "the definition (by SymPy where it can, at 50 digits everywhere), at singular points, in every dtype, eagerly, "
        "as formulas, and as programs in NumPy and C. Exit code 0: none is refuted, and none without a proof but those "
        "that the table declares; 1 if not; 2 for a name that is not in the table.",
        epilog="example: python -m symgrad rules --prove tanh matmul",
    )
    parser.add_argument("ops", nargs="*", metavar="OP", help="names of the table (default: all of it)")
    parser.add_argument("--prove", action="store_true", help="prove them; the whole table takes about half an hour")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="prove them in N processes (default: 1)")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from symgrad.proving.prove import asked, prove

    if options.prove:
        proof = prove(options.ops, None if options.json or not sys.stderr.isatty() else _progress, options.jobs)
        print(json.dumps(proof.to_dict(), indent=2) if options.json else proof)
        return 0 if proof.ok else 1
    found = asked(options.ops)
    if options.json:
        print(json.dumps([{"op": op.name, "kind": op.kind, "doc": op.doc} for op in found], indent=2))
        return 0
    for op in found:
        print(f"{op.name:<24} {op.kind:<12} {op.doc}")
    return 0


def _progress(name: str) -> None:
    print(f"\r{name:<32}", end="\r", file=sys.stderr, flush=True)
