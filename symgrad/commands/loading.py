"""Functions of the user's programs by their names: ``file.py:name`` and ``package.module:name``."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from symgrad.errors import ArgumentError, NameProblem


def loaded(value: str) -> Any:
    """A text as it is, or the function that ``file.py:name`` or ``package.module:name`` names."""
    found = module_of(value)
    if found is None and value.endswith(".py"):
        raise ArgumentError(f"{value} is a file; name a function of it, as in {value}:loss.")
    return value if found is None else named(*found)


def module_of(value: str) -> tuple[Any, str, str] | None:
    """``(module, its name as given, name inside)`` of ``file.py:name`` or ``package.module:name``; None for others."""
    path, colon, name = value.rpartition(":")
    if not colon or not name.isidentifier():
        return None
    if path.endswith(".py"):
        return module_from(Path(path)), path, name
    if all(part.isidentifier() for part in path.split(".")) and path:
        return _named_module(path), path, name
    return None


def function_at(value: str) -> tuple[Any, str, str]:
    """The same; ``ArgumentError`` for texts that name no function."""
    found = module_of(value)
    if found is None:
        raise ArgumentError(f"a function is written file.py:function or package.module:function, not {value!r}.")
    return found


def named(module: Any, path: str, name: str) -> Callable[..., Any]:
    """A function of a module."""
    found = getattr(module, name, None)
    if not callable(found):
        known = sorted(k for k, v in vars(module).items() if callable(v) and not k.startswith("_"))
        raise NameProblem(f"{path} has no function {name!r}; it has {', '.join(known[:12]) or 'none'}.")
    return found  # type: ignore[no-any-return]


def module_from(file: Path) -> Any:
    """A module from its file."""
    if not file.is_file():
        raise ArgumentError(f"there is no file {file}.")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise ArgumentError(f"{file} is no Python file that can be loaded.")
    module = importlib.util.module_from_spec(spec)
    return _executed(str(file), lambda: spec.loader.exec_module(module) or module)  # type: ignore[union-attr]


def _named_module(path: str) -> Any:
    """A module by its name, from where Python finds modules and from the current folder."""
    sys.path.append("")
    try:
        return _executed(path, lambda: importlib.import_module(path))
    finally:
        sys.path.remove("")


def _executed(said: str, run: Callable[[], Any]) -> Any:
    try:
        with contextlib.redirect_stdout(sys.stderr):  # standard output is for what the command says
            return run()
    except ModuleNotFoundError as error:
        raise ArgumentError(f"{said} could not be loaded: {error}.") from error
    except Exception as error:
        raise ArgumentError(f"{said} could not be run: {type(error).__name__}: {error}") from error
