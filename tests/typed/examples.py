"""A typed program of the examples of all public functions: each result is declared to be what came out."""

from __future__ import annotations

import ast
import types
import warnings
from collections.abc import Iterator
from typing import Any

import symgrad as sg
from symgrad.commands.examples import example
from symgrad.ops.calls.naming import SPACES
from symgrad.tensor.docstrings import Docstring


def program() -> str:
    """One function for each example, with the results' types as they were found at run time."""
    lines = ["import numpy as np", "import symgrad as sg"]
    for place, statements in _examples():
        scope: dict[str, Any] = {}
        exec("import symgrad as sg", scope)
        lines += ["", f"def example_{place.replace('.', '_')}() -> None:"]
        for statement in statements:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(statement, scope)
            node = ast.parse(statement).body[0]
            if isinstance(node, ast.Assign) and statement.startswith("y = "):
                statement = f"y: {_type(scope['y'])} = {ast.unparse(node.value)}"
            lines.append(f"    {statement}")
    return "\n".join(lines) + "\n"


def _examples() -> Iterator[tuple[str, list[str]]]:
    rooms = {"symgrad": vars(sg), "Tensor": {n: getattr(sg.Tensor, n) for n in dir(sg.Tensor)}}
    rooms |= {f"symgrad.{space}": members for space, members in SPACES.items()}
    for room, members in rooms.items():
        for name, function in members.items():
            if name.startswith("_") or not isinstance(function, types.FunctionType):
                continue
            if not isinstance(function.__doc__, Docstring):
                continue  # it shows an example of its own, which tells what it takes
            text = example(f"{room}.{name}", function)
            if text is not None:
                shown = (line[4:] for line in text.splitlines() if line.startswith(">>> "))
                yield f"{room}.{name}", [line for line in shown if " = " in line]


def _type(value: Any) -> str:
    """The type of a result as source text; of what has no short one it is ``object``, which says nothing."""
    if isinstance(value, sg.Tensor):
        return "sg.Tensor"
    kind = type(value)
    if kind is tuple:
        kinds = [*map(_type, value)]
        return f"tuple[{', '.join(kinds) if len({*kinds}) > 1 else f'{kinds[0]}, ...'}]"
    if kind in (bool, int, float, complex, str):
        return kind.__name__
    return f"sg.return_types.{kind.__name__}" if kind.__module__ == "symgrad.return_types" else "object"
