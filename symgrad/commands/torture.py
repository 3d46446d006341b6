"""The command ``python -m symgrad torture``: graphs that break what recurses or copies, with time and memory."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from symgrad.errors import ArgumentError, LawBroken


def add_torture(commands: Any) -> None:
    """Add the parser of the command."""
    parser = commands.add_parser(
        "torture",
        help="deep, swelling and widely used graphs: time and memory of everything that is done to them",
        description="Record three graphs, pull them back, read, print, compile, pickle and free them, with Python's "
        "own recursion limit; every derivative is compared with one by hand. Exit code 0; 1 if a number is wrong, or "
        "if it took more than --gigabytes or --seconds.",
        epilog="example: python -m symgrad torture --depth 100000 --swell 1000 --fan 10000",
    )
    parser.add_argument("--depth", type=int, metavar="N", help="operations in a row (default: 1000000)")
    parser.add_argument("--swell", type=int, metavar="N", help="times that a formula doubles (default: 10000)")
    parser.add_argument("--fan", type=int, metavar="N", help="uses of one value (default: 100000)")
    parser.add_argument("--gigabytes", type=float, default=4.0, metavar="N", help="of memory at most (default: 4)")
    parser.add_argument("--seconds", type=float, metavar="N", help="at most (default: as long as it takes)")
    parser.add_argument("--json", action="store_true", help="print the steps as JSON")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from symgrad.proving.torture import DEPTH, FAN, SWELL, torture

    asked = (options.depth, options.swell, options.fan)
    if any(n is not None and n < 0 for n in asked):
        raise ArgumentError("--depth, --swell and --fan are numbers of at least 0 (0 leaves a graph out).")
    sizes = [usual if n is None else n for n, usual in zip(asked, (DEPTH, SWELL, FAN), strict=True)]
    steps, wrong, began = [], None, time.process_time()
    try:
        for step in torture(*sizes):
            steps.append(step)
            if not options.json:
                row = f"{step.graph:<6} {step.size:>9,}  {step.name:<9} {step.seconds:8.2f} s {step.megabytes:8.0f} MB"
                print(row, flush=True)
    except LawBroken as error:
        wrong = str(error)
    seconds, most = sum(s.seconds for s in steps), max((s.megabytes for s in steps), default=0.0)
    over = most > options.gigabytes * 1024 or (options.seconds is not None and seconds > options.seconds)
    if options.json:
        rows = [step._asdict() for step in steps]
        told = {"ok": not (wrong or over), "wrong": wrong, "seconds": seconds, "megabytes": most, "steps": rows}
        print(json.dumps(told, indent=2))
    else:
        if wrong:
            print(f"wrong: {wrong}")
        processor = time.process_time() - began
        more = ": more than was allowed" if over else ""
        print(f"{seconds:.1f} s ({processor:.1f} s of the processor), {most:.0f} MB at most{more}.")
    return 1 if wrong or over else 0
