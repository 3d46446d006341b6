"""The command ``python -m symgrad conventions``: derivatives at singular points, beside those of other libraries."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, NamedTuple


class Row(NamedTuple):
    """A singular point of an op, what holds there, and what others give (None: they have no such derivative)."""

    op: str
    where: str
    sides: tuple[float, float] | None
    ours: list[Any]
    theirs: dict[str, list[Any] | None]
    undeclared: list[str]

    def to_dict(self) -> dict[str, Any]:
        """The row as plain data."""
        told = {name: None if row is None else _cell(row) for name, row in self.theirs.items()}
        sides = None if self.sides is None else [f"{v:g}" for v in self.sides]
        return {
            "op": self.op, "at": self.where, "slopes": sides, "symgrad": _cell(self.ours), **told,
            "undeclared": self.undeclared,
        }  # fmt: skip


def add_conventions(commands: Any) -> None:
    """Add the parser of the command."""
    parser = commands.add_parser(
        "conventions",
        help="the derivatives at every singular point of every op, beside those of other libraries",
        description="Print what holds at every kink and end of the domain of every op: the slopes on both sides, the "
        "derivatives here, and what torch, JAX and HIPS autograd give when they are asked. Exit code 0 if every "
        "difference is one that is declared, 1 if not.",
        epilog="example: python -m symgrad conventions abs clamp --against torch,jax,autograd",
    )
    parser.add_argument("ops", nargs="*", metavar="OP", help="names of the table (default: all of it)")
    parser.add_argument(
        "--against", metavar="LIBRARIES", default="", help="of torch, jax and autograd, as in torch,jax"
    )
    parser.add_argument("--json", action="store_true", help="print the table as JSON")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from symgrad.proving import peers
    from symgrad.proving.prove import asked

    libraries, missing = {}, []
    for name in filter(None, (part.strip() for part in options.against.split(","))):
        found = peers.loaded(name)
        if found is None:
            missing.append(name)
        else:
            libraries[name] = found
    rows = [row for op in asked(options.ops) for row in _rows(op, libraries)]
    bad = [(row, name) for row in rows for name in row.undeclared]
    if options.json:
        print(json.dumps({"ok": not bad, "not run": missing, "points": [r.to_dict() for r in rows]}, indent=2))
        return 1 if bad else 0
    print(_table(rows, list(libraries)))
    for name in missing:
        print(f"not run: {name} is not installed", file=sys.stderr)
    for row, name in bad:
        print(f"not declared: {row.op} at {row.where}: {name} gives {_cell(row.theirs[name] or [])}")
    differing = sum(any(t is not None and not peers.same(r.ours, t) for t in r.theirs.values()) for r in rows)
    said = f", with a difference: {differing}, not declared: {len(bad)}" if libraries else ""
    print(f"points: {len(rows)}, of ops: {len({r.op for r in rows})}{said}.")
    return 1 if bad else 0


def _rows(op: Any, libraries: dict[str, Any]) -> list[Row]:
    from symgrad.proving import peers
    from symgrad.proving.points import points, there

    made = []
    for point in points(op):
        ours, sides = there(point)
        theirs = {name: peers.gradients(name, library, point) for name, library in libraries.items()}
        undeclared = [
            name
            for name, row in theirs.items()
            if row is not None and not peers.same(ours, row) and not peers.declared(name, point, row)
        ]
        if ours:
            made.append(Row(op.name, point.where, sides, ours, theirs, undeclared))
    return made


def _cell(gradients: list[Any]) -> str:
    """Gradients in a few characters: one number for each operand, the first of equal or many entries."""
    import numpy as np

    firsts = [0.0 if g is None else float(np.ravel(g)[0]) for g in gradients]
    return ", ".join(f"{v + 0:.4g}" for v in firsts)


def _table(rows: list[Row], names: list[str]) -> str:
    head = ("op", "at", "slopes", "symgrad", *names)
    cells = [
        (
            row.op,
            row.where,
            "" if row.sides is None else "  ".join(f"{v:g}" for v in row.sides),
            _cell(row.ours),
            *("-" if (found := row.theirs[name]) is None else _cell(found) for name in names),
        )
        for row in rows
    ]
    widths = [max(len(line[k]) for line in (head, *cells)) for k in range(len(head))]
    return "\n".join(
        "   ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in (head, *cells)
    )
