"""Schemas of operators, such as ``(Tensor x, float scale=1.0) -> Tensor``, read as signatures of functions."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from typing import Any

from symgrad.errors import ArgumentError
from symgrad.tensor import Tensor

_DECLARED: dict[str, Any] = {
    "Tensor": Tensor, "int": int, "SymInt": int, "float": float, "bool": bool, "str": str, "complex": complex,
    "Scalar": int | float | bool | complex,
}  # fmt: skip
"""What a schema's words mean."""
_PARAMETER = re.compile(
    r"(?P<type>\w+)(?:\((?P<alias>[^)]*)\))?(?P<marks>[\[\]?\d]*)\s*(?P<name>\w*)(?:=(?P<default>.*))?"
)
_PART = re.compile(r"""(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\[[^\]]*\]|\([^)]*\)|[^,])+""")


def _declared(text: str) -> tuple[Any, str, Any, bool]:
    """``(type, name, default, whether it is changed)`` of a parameter or result of a schema."""
    found = _PARAMETER.fullmatch(text.strip())
    if found is None or found["type"] not in _DECLARED:
        raise ArgumentError(f"a schema's parameters are such as 'Tensor x' or 'float[] scales', not {text.strip()!r}")
    kind: Any = _DECLARED[found["type"]]
    for mark in re.findall(r"\[\d*\]|\?", found["marks"]):
        kind = kind | None if mark == "?" else list[kind]
    default = inspect.Parameter.empty
    if found["default"] is not None:
        default = ast.literal_eval({"true": "True", "false": "False"}.get(found["default"], found["default"]))
    return kind, found["name"], default, "!" in (found["alias"] or "")


def stub_of(schema: str) -> tuple[Callable[..., Any], tuple[str, ...]]:
    """A function of a schema's signature, which has no kernel yet, and the names of the arguments that it changes."""
    inside, arrow, after = schema.strip().rpartition("->")
    if not (arrow and inside.strip().startswith("(") and inside.strip().endswith(")")):
        raise ArgumentError(f"a schema is such as '(Tensor x, float scale=1.0) -> Tensor', not {schema!r}")
    parameters: list[inspect.Parameter] = []
    changed: list[str] = []
    way: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
    for part in _split(inside.strip()[1:-1]):
        if part == "*":
            way = inspect.Parameter.KEYWORD_ONLY
            continue
        kind, name, default, changes = _declared(part)
        if not name:
            raise ArgumentError(f"each parameter of a schema has a name, such as 'Tensor x': {part!r} has none")
        parameters.append(inspect.Parameter(name, way, default=default, annotation=kind))
        changed += [name] * changes
    after = after.strip()
    results = [_declared(part)[0] for part in _split(after[1:-1])] if after.startswith("(") else [_declared(after)[0]]
    given = None if not results else results[0] if len(results) == 1 else tuple.__class_getitem__(tuple(results))

    def stub(*_: Any, **__: Any) -> Any:
        raise NotImplementedError("Could not run this operator: no kernel was registered for it with impl()")

    stub.__signature__ = inspect.Signature(parameters, return_annotation=given)  # type: ignore[attr-defined]
    stub.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": given}
    return stub, tuple(changed)


def _split(text: str) -> list[str]:
    """The parts between commas that stand in no brackets and no quotes."""
    return [part.strip() for part in _PART.findall(text) if part.strip()]
