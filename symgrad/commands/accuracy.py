"""The command ``python -m symgrad accuracy``: last digits that naive formulas and their derivatives get wrong."""

from __future__ import annotations

import argparse
import json
import warnings
from typing import Any

from symgrad.errors import ArgumentError


def add_accuracy(commands: Any) -> None:
    """Add the parser of the command."""
    parser = commands.add_parser(
        "accuracy",
        help="the largest errors of naive formulas and their derivatives, in units in the last place",
        description="Evaluate naive formulas of the field and their derivatives from 5e-324 to 1.8e308, eagerly, as "
        "formulas and compiled, and print the largest errors against mpmath in units in the last place. Exit code 0 if "
        "formulas and programs are within 4 units everywhere, but for those that are declared; 1 if not.",
        epilog="example: python -m symgrad accuracy 'log(1 + e^x)' --points few",
    )
    parser.add_argument("formulas", nargs="*", metavar="FORMULA", help="names of the suite (default: all)")
    parser.add_argument("--suite", choices=("stable60",), default="stable60", help="which formulas")
    parser.add_argument("--points", choices=("many", "few"), default="many", help="how densely they are looked at")
    parser.add_argument("--json", action="store_true", help="print the table as JSON")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from symgrad.proving.naive import BEYOND, LIMIT, NAMES, WAYS

    rows: list[dict[str, Any]] = []
    kept = True
    head = "".join(f"{way:>20}" for way in WAYS)
    names = _named(options.formulas, NAMES)
    if not options.json:
        print(f"{'value and derivatives':38}{head}")
    for name in names:
        errors = _errors(name, options.points == "many")
        good = all(e <= LIMIT for way in ("formula", "compiled") for e in errors[way])
        kept = kept and (good or name in BEYOND)
        rows.append({"formula": name, "errors": errors, "within": good, "declared": BEYOND.get(name)})
        if not options.json:
            cells = "".join(f"{value:10.3g}{slope:10.3g}" for value, slope in errors.values())
            print(f"{name:38}{cells}{'' if good else '   declared' if name in BEYOND else '   beyond'}", flush=True)
    if options.json:
        print(json.dumps({"ok": kept, "limit": LIMIT, "rows": rows}, indent=2))
    else:
        within = [sum(all(e <= LIMIT for e in r["errors"][way]) for r in rows) for way in WAYS]
        print(f"{f'within {LIMIT} units':38}" + "".join(f"{f'{n} of {len(rows)}':>20}" for n in within))
    return 0 if kept else 1


def _errors(name: str, many: bool) -> dict[str, list[float]]:
    """The largest errors of the value and of the derivatives, by way."""
    import numpy as np

    from symgrad.proving.naive import WAYS, Case

    case = Case(name, many)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return {way: [error for error, _ in case.worst(*run(case))] for way, run in WAYS.items()}


def _named(asked: list[str], names: list[str]) -> list[str]:
    import difflib

    for name in asked:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=3)
            hint = (
                f" Did you mean {', '.join(near)}?" if near else f" Some of its {len(names)}: {', '.join(names[:8])}."
            )
            raise ArgumentError(f"There is no formula {name!r} in the suite.{hint}")
    return asked or names
