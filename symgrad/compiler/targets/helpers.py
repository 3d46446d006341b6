"""Functions that the text of a program calls by name: where they are found, and their source, which travels with it."""

from __future__ import annotations

import dis
import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any

from symgrad.compiler.targets.literals import free
from symgrad.ops.linalg import contraction


@functools.cache
def helper_modules() -> tuple[Any, ...]:
    """The modules whose functions source text may call by name: the kernels, and the einsum's delta."""
    names = sorted(name for name in sys.modules if name.startswith("symgrad.kernels"))
    return (*(sys.modules[name] for name in names), contraction)


def helper_sources(helpers: dict[str, Callable[..., Any]]) -> dict[str, str]:
    """Source texts of helper functions and of what they call, each once, callees first; by name otherwise."""
    done: dict[str, str] = {}

    def visit(name: str, function: Callable[..., Any]) -> None:
        if name in done:
            return
        done[name] = ""
        for callee, found in _callees(function):
            visit(callee, found)
        del done[name]
        done[name] = _source(function)

    for name in sorted(helpers):
        visit(name, helpers[name])
    return done


def unhidden(text: str, helpers: Iterable[str], taken: set[str]) -> tuple[str, list[str]]:
    """The text with other names for helpers that an argument or size hides, and the lines that give them these."""
    lines = []
    for name in sorted(taken.intersection(helpers)):
        other = free(f"_{name}", taken)
        text = re.sub(rf"(?<![\w.]){name}\(", f"{other}(", text)
        lines.append(f"{other} = {name}  # {name} is a variable below\n")
    return text, lines


@functools.cache
def _source(function: Callable[..., Any]) -> str:
    return inspect.getsource(function).rstrip() + "\n"


@functools.cache
def _callees(function: Callable[..., Any]) -> tuple[tuple[str, Callable[..., Any]], ...]:
    """The functions of the library that a helper looks up among its globals, and those that decorate it."""
    names: list[str] = re.findall(r"^@(\w+)", _source(function), re.MULTILINE)
    function = inspect.unwrap(function)
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        names += [i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"]
        codes += [c for c in code.co_consts if inspect.iscode(c)]
    found: list[tuple[str, Callable[..., Any]]] = []
    for name in dict.fromkeys(names):
        value = function.__globals__.get(name)
        if inspect.isfunction(value) and value.__module__.startswith("symgrad"):
            found.append((name, value))
    return tuple(found)
