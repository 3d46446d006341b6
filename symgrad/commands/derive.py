"""The command ``python -m symgrad derive``: derivations line by line, of one function or of whole files."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from symgrad.commands.files import parameters_of, refusal, values_of
from symgrad.commands.latex import FORMATS, NAMES_HELP, add_assume, assumed, chosen
from symgrad.errors import ArgumentError, LineFailed, ShapeError, SymgradError

_DOCUMENT = r"""\documentclass{{article}}
\usepackage{{amsmath,amssymb}}
\allowdisplaybreaks
\begin{{document}}
{body}
\end{{document}}
"""


def add_derive(commands: Any) -> None:
    """Add the parser of the command."""
    parser = commands.add_parser(
        "derive",
        help="a derivation line by line",
        description="Print the derivation of the gradient of VALUE by --wrt; every line was checked with numbers. "
        "A file stands for its public functions, and without --wrt each is derived by every argument. Exit code 0; 1 "
        "if a line fails its check; 2 where nothing can be derived.",
        epilog="example: python -m symgrad derive 'norm(A@x-b)**2' --wrt x --style differential",
    )
    parser.add_argument(
        "values", nargs="+", metavar="VALUE", help="a text, file.py, file.py:function or module:function"
    )
    parser.add_argument("--shapes", metavar="SHAPES", help="as in 'X=n,m w=m y=n'; found by trying where omitted")
    add_assume(parser)
    parser.add_argument("--wrt", metavar="NAME", help="the variable (default: each argument, one after the other)")
    parser.add_argument(
        "--style", choices=("reverse", "differential"), default="reverse", help="from the result back, or from dX on"
    )
    parser.add_argument("--names", metavar="NAMES", help=NAMES_HELP)
    parser.add_argument("--format", choices=("text", *FORMATS), default="text")
    parser.add_argument("--check", action="store_true", help="print how many lines were checked, and their errors")
    parser.add_argument(
        "--pdf", nargs="?", const="derivations.pdf", metavar="FILE", help="typeset them (default: derivations.pdf)"
    )
    parser.add_argument("--json", action="store_true", help="print the lines and their errors as JSON")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    made, failed, refused = [], [], []
    for name, value in values_of(options.values):
        for wrt in _variables(value, options):
            try:
                made.append((f"{name} by {wrt}", _derivation(value, wrt, options)))
            except LineFailed as error:
                failed.append(f"{name} by {wrt}: {error}")
            except SymgradError as error:
                if len(options.values) == 1 and options.wrt and not options.values[0].endswith(".py"):
                    raise
                refused.append(f"{name} by {wrt}: {refusal(error)}")
                if isinstance(error, ShapeError):  # it runs with no shapes, whatever it is derived by
                    break
    _print(made, failed, options)
    for text in refused:
        print(f"not derived: {text}", file=sys.stderr)
    for text in failed:
        print(f"failed: {text}", file=sys.stderr)
    if options.pdf and made:
        _typeset(made, Path(options.pdf))
    return 1 if failed else 0 if made else 2


def _variables(value: Any, options: argparse.Namespace) -> Sequence[str]:
    if options.wrt:
        return (options.wrt,)
    if callable(value):
        return parameters_of(value)
    from symgrad.notation import formula

    return tuple(formula(value, shapes=options.shapes).names)


def _derivation(value: Any, wrt: str, options: argparse.Namespace) -> Any:
    from symgrad.notation.steps import derive

    names, structures = chosen(options.names), assumed(options.assume)
    return derive(value, wrt=wrt, style=options.style, shapes=options.shapes, names=names, assume=structures)


def _print(made: list[tuple[str, Any]], failed: list[str], options: argparse.Namespace) -> None:
    lines = [line for _, found in made for line in found.lines]
    unchecked = sum(not found.checked for _, found in made) + len(failed)
    worst = max((line.checked for line in lines), default=0.0)
    if options.json:
        told = {name: [{"line": str(line.left), "error": line.checked} for line in d.lines] for name, d in made}
        print(json.dumps({"derivations": told, "lines": len(lines), "unchecked": unchecked, "worst": worst}, indent=2))
        return
    for k, (name, found) in enumerate(made):
        if len(made) > 1:
            print(f"{'' if not k else chr(10)}{name}")
        print(found if options.format == "text" else getattr(found, options.format)())
    if options.check:
        print(f"derivations: {len(made)}, lines: {len(lines)}, unchecked: {unchecked}, largest error: {worst:.1e}")


def document(made: Sequence[tuple[str, Any]]) -> str:
    """The LaTeX document of several derivations."""
    return _DOCUMENT.format(body="\n\n".join(_sections(made)))


def _sections(made: Sequence[tuple[str, Any]]) -> Iterator[str]:
    for name, found in made:
        yield f"\\noindent\\verb|{name.replace('|', '/')}|\n{found.latex()}"


def _typeset(made: Sequence[tuple[str, Any]], path: Path) -> None:
    """Write the derivations as PDF, or as the document for it where there is no LaTeX."""
    text, program = document(made), shutil.which("pdflatex")
    if program is None:
        source = path.with_suffix(".tex")
        source.write_text(text, encoding="utf-8")
        print(f"not run: pdflatex is not installed; wrote {source}", file=sys.stderr)
        return
    with TemporaryDirectory() as folder:
        (Path(folder) / "all.tex").write_text(text, encoding="utf-8")
        asked = [program, "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
        done = subprocess.run(asked, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode:
            wrong = [line for line in done.stdout.splitlines() if line.startswith("!")]
            raise ArgumentError(f"pdflatex refuses the derivations: {' '.join(wrong)[:300]}")
        path.write_bytes((Path(folder) / "all.pdf").read_bytes())
    print(f"wrote {path}", file=sys.stderr)
