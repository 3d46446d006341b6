"""The command ``python -m symgrad bench``: times side by side, here and in other libraries."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from symgrad.errors import ArgumentError


def add_bench(commands: Any) -> None:
    """Add the parser of the command."""
    parser = commands.add_parser(
        "bench",
        help="times side by side: the cost of lazy formulas, Hessians here and in other libraries",
        description="lazy: what the record of formulas costs a program that asks for none. hessians: Hessians that "
        "keep their structure, beside the arrays that torch and JAX give. All of a row is measured in turns in this "
        "process; a ratio holds on a noisy machine where a time does not. Exit code 0; 1 if a formula was built "
        "without being asked for, or results differ by more than 1e-12 of the largest entry.",
        epilog="example: python -m symgrad bench hessians --peers torch,jax",
    )
    parser.add_argument("which", choices=("lazy", "hessians"), help="what is measured")
    parser.add_argument("--peers", metavar="NAMES", default="torch,jax", help="for hessians (default: torch,jax)")
    parser.add_argument("--scale", type=float, default=1.0, metavar="X", help="of the sizes (default: 1)")
    parser.add_argument("--seconds", type=float, default=3.0, metavar="N", help="for every row (default: 3)")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON, with times in seconds")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    if not options.scale > 0 or options.seconds < 0:
        raise ArgumentError("--scale is a number above 0, and --seconds one of at least 0.")
    return _lazy(options) if options.which == "lazy" else _hessians(options)


def _lazy(options: argparse.Namespace) -> int:
    before = "sympy" in sys.modules
    from symgrad.proving.benches.lazy import rows

    found = []
    if not options.json:
        print(f"{'':42}{'with formulas':>14}{'without':>12}{'slowdown':>10}")
    for row in rows(max(3, round(999 * options.scale)), options.seconds):
        found.append({**row._asdict(), "slowdown": row.slowdown})
        if not options.json:
            print(f"{row.work:42}{row.recorded * 1e6:11.1f} µs{row.bare * 1e6:9.1f} µs{row.slowdown:9.1%}", flush=True)
    ok = before or "sympy" not in sys.modules
    if options.json:
        print(json.dumps({"ok": ok, "sympy": "sympy" in sys.modules, "rows": found}, indent=2))
    else:
        was = "it was before" if before else "though no formula was asked for" if not ok else ""
        print(f"sympy is {'imported: ' + was if was else 'not imported'}.")
    return 0 if ok else 1


_LARGEST = 1e-12
"""Differences of results, by their largest entry, beyond which the command fails."""


def _hessians(options: argparse.Namespace) -> int:
    from symgrad.proving.benches.hessians import PEERS, missing, rows

    asked = [name.strip() for name in options.peers.split(",") if name.strip()]
    for name in asked:
        if name not in PEERS:
            raise ArgumentError(f"--peers names {name!r}; these can be compared with: {', '.join(PEERS)}.")
    absent = missing(asked)
    peers = [name for name in asked if name not in absent]
    found, ok = [], True
    if not options.json:
        print(f"{'µs (by the first column)':36}{'symgrad':>10}" + "".join(f"{n:>22}" for n in ("dense", *peers)))
    for row in rows(peers, options.scale, options.seconds):
        first, *others = row.times.values()
        ok = ok and row.difference <= _LARGEST * max(1, row.scale)
        found.append(row._asdict())
        if not options.json:
            cells = "".join(f"{t * 1e6:12.1f} {t / first:8.1f}x" for t in others)
            print(f"{row.title:36}{first * 1e6:10.1f}{cells}   differ by {row.difference:.0e}", flush=True)
    if options.json:
        print(json.dumps({"ok": ok, "missing": absent, "rows": found}, indent=2))
    elif absent:
        print(f"not compared, as they are not installed: {', '.join(absent)}.")
    return 0 if ok else 1
