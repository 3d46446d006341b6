"""What commands are asked about when they are given whole files: the functions that these define."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from symgrad.commands.loading import loaded, module_from
from symgrad.errors import ArgumentError, ShapeError, SymgradError


def values_of(texts: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """What each text stands for, with its name: the public functions of ``file.py``, else the function or the text."""
    for text in texts:
        if text.endswith(".py"):
            yield from functions_of(text)
        else:
            yield text, loaded(text)


def functions_of(file: str) -> list[tuple[str, Callable[..., Any]]]:
    """The public functions that a file defines, in their order.

    The file is run in an empty folder, and what it prints goes to standard error.  ``ArgumentError`` where it has none.
    """
    path = Path(file).resolve()
    with TemporaryDirectory() as folder, contextlib.chdir(folder):
        module = module_from(path)
    found: list[tuple[str, Callable[..., Any]]] = [
        (f"{file}:{name}", value)
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
    ]
    if not found:
        raise ArgumentError(f"{file} defines no public function.")
    return found


def parameters_of(f: Callable[..., Any]) -> list[str]:
    """The names of the arguments that have no default."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in inspect.signature(f).parameters.values() if p.kind in kinds and p.default is p.empty]


def refusal(error: SymgradError) -> str:
    """Why there is no formula, in one line."""
    if isinstance(error, ShapeError):
        return "no shapes were found with which it runs"
    return str(error).partition("\n")[0][:160]
