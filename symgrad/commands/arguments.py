"""Arguments for functions that a command loads: given on the command line, in a file, or random ones."""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.sources.runs import SIZES, example_shapes, sizes_of
from symgrad.sources.shapes import parse_shapes


def add_point(parser: argparse.ArgumentParser) -> None:
    """Add the options that say at which arguments a function is run."""
    parser.add_argument(
        "--at", metavar="POINT", help="'x=[1.0,2.0] scale=0.5', or a file .npz or .json with an array for every name"
    )
    parser.add_argument("--shapes", metavar="SHAPES", help="of random arguments, as in 'X=20,5 w=5 y=n'")
    parser.add_argument("--dtype", choices=("float64", "float32"), default="float64", help="of random arguments")
    parser.add_argument("--seed", type=int, default=0, help="of random arguments")


class At(NamedTuple):
    """Arguments by name, in the order of the parameters, and those whose shapes nobody stated."""

    values: dict[str, Any]
    guessed: list[str]

    def note(self) -> str:
        """Which shapes were found by trying, and how to state others; empty where all were stated."""
        if not self.guessed:
            return ""
        shapes = {name: ",".join(map(str, np.shape(self.values[name]))) for name in self.guessed}
        stated = " ".join(f"{name}={shape}" for name, shape in shapes.items())
        return f"shapes that were found by trying: --shapes '{stated}'. State others, or values by --at."


def point_of(f: Callable[..., Any], options: argparse.Namespace) -> At:
    """The arguments at which a function is run: given ones, defaults, and random ones."""
    given = _read_point(options.at) if options.at else {}
    parameters = [
        p for p in inspect.signature(f).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    names = [p.name for p in parameters]
    known = _shapes(options.shapes or "", names)
    unknown = [name for name in (*given, *known) if name not in names]
    if unknown:
        raise ArgumentError(f"{f.__name__} has no argument {unknown[0]!r}; it has {', '.join(names)}.")
    needed = [p.name for p in parameters if p.name not in given and (p.default is p.empty or p.name in known)]
    missing = [name for name in needed if name not in known]
    if missing and given:
        raise ArgumentError(f"nothing is said of {', '.join(missing)}: give --shapes '{missing[0]}=3,2' or --at.")
    shapes = example_shapes(_of_needed(f, parameters, needed), known, False)[1] if missing else known
    made = _random(shapes, needed, options)
    found = {**{p.name: p.default for p in parameters if p.default is not p.empty}, **given, **made}
    return At({name: found[name] for name in names}, missing)


def _shapes(text: str, names: list[str]) -> Any:
    """The shapes that a text states; ``ArgumentError`` with the text that was meant where it has no names."""
    parts = text.split()
    if parts and "=" not in text and all(part.replace(",", "").isalnum() for part in parts):
        meant = " ".join(f"{name}={part}" for name, part in zip(names, parts, strict=False))
        raise ArgumentError(f"shapes are those of arguments by name: --shapes '{meant}', not '{text}'.")
    return parse_shapes(text)


def _of_needed(f: Callable[..., Any], parameters: Sequence[inspect.Parameter], needed: list[str]) -> Any:
    """The function of the arguments that have no default."""

    def of_needed(*values: Any) -> Any:
        given = dict(zip(needed, values, strict=True))
        return f(*(given.get(p.name, p.default) for p in parameters))

    vars(of_needed)["__signature__"] = inspect.Signature([p for p in parameters if p.name in needed])
    return of_needed


def _random(shapes: Any, names: Sequence[str], options: argparse.Namespace) -> dict[str, Any]:
    """Normal numbers in the given shapes, letters of which stand for different sizes."""
    rng = np.random.default_rng(options.seed)
    sizes = sizes_of(shapes, SIZES)
    drawn = {name: rng.normal(size=tuple(sizes.get(s, s) for s in shapes[name])) for name in names}
    return {name: array.astype(options.dtype)[()] for name, array in drawn.items()}


def _read_point(text: str) -> dict[str, Any]:
    file = Path(text)
    if file.suffix in (".npz", ".json"):
        if not file.is_file():
            raise ArgumentError(f"there is no file {file}.")
        if file.suffix == ".npz":
            with np.load(file) as arrays:
                return {name: arrays[name][()] for name in arrays.files}
        return {name: _array(value) for name, value in json.loads(file.read_text(encoding="utf-8")).items()}
    parts = re.split(r"(?:^|[\s;,])\s*([A-Za-z_]\w*)\s*=", text)
    if len(parts) < 3 or parts[0].strip():
        raise ArgumentError(
            f"--at is written like 'x=[1.0,2.0] scale=0.5', or names a file .npz or .json; not {text!r}."
        )
    return {
        name: _value(name, value.strip().rstrip(";,")) for name, value in zip(parts[1::2], parts[2::2], strict=True)
    }


def _value(name: str, text: str) -> Any:
    try:
        return _array(ast.literal_eval(text))
    except (ValueError, SyntaxError) as error:
        raise ArgumentError(
            f"--at holds numbers, lists and texts in quotes, as in 'x=[1.0,2.0] scale=0.5 mode=\"a\"'; "
            f"{name}={text} is none."
        ) from error


def positions(values: dict[str, Any], wrt: str) -> tuple[int, ...]:
    """The places of the arguments that ``--wrt`` names, whose values become floating ones."""
    names, chosen = list(values), [part for part in re.split(r"[,\s]+", wrt) if part]
    for name in chosen:
        if name not in names:
            raise ArgumentError(f"--wrt names {name!r}; the arguments are {', '.join(names)}.")
        values[name] = _floating(values[name])
    return tuple(map(names.index, chosen))


def _array(value: Any) -> Any:
    """Lists of numbers as arrays; other values as they are."""
    return np.array(value) if isinstance(value, list) and np.array(value).dtype.kind in "ifcb" else value


def _floating(value: Any) -> Any:
    """Whole numbers as floating ones: a derivative by them is asked for."""
    return np.asarray(value, float)[()] if np.asarray(value).dtype.kind in "iu" else value


def not_negative(text: str) -> float:
    """A number of the command line that is 0 at least."""
    value = float(text)
    if not value >= 0:
        raise argparse.ArgumentTypeError(f"{text} is less than 0")
    return value


def count(text: str) -> int:
    """A whole number of the command line that is 0 at least."""
    return int(not_negative(str(int(text))))
