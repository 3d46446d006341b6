"""How constants were made, for formulas: ``eye(n)``, ``ones(n)`` and what is computed of them, ``0.1 * eye(n)``.

A recipe is the name of an op and its parameters.  That of a constant which an op made of others holds theirs, down to a
few levels: so a loop that adds to zeros forgets where it began, and keeps nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.op import Op, lookup
from symgrad.tape.memory.versions import changes

Recipe = tuple[str, dict[str, Any]]
"""The name of an op and its parameters; ``("made", {"op": …, "args": …, "params": …})`` for what an op made."""

DEEPEST = 6
"""Ops that a recipe holds one inside of the other."""


def known(arg: Any) -> bool:
    """Whether an argument is a constant that is told by how it was made, which no name or data is."""
    extra = getattr(arg, "_extra", None)
    if extra is None or extra.recipe is None or extra.recipe[0] == "number" or extra.name is not None:
        return False
    return not changes(arg._value)


def noted(made: Any, op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """A constant with the note how it was made, where its parts are numbers and constants of which that is known."""
    if any(map(known, args)):
        _note(made, op, args, params)
    return made


def _note(made: Any, op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> None:
    if (op.kind not in ("elementwise", "multilinear") and op.name != "cast") or op.define_symbolic is not None:
        return
    parts: list[Any] = []
    deep = 0
    for arg in args:
        if known(arg):
            parts.append(arg._extra.recipe)
            deep = max(deep, parts[-1][1].get("deep", 0))
        elif isinstance(arg, (int, float)) and not isinstance(arg, bool):
            parts.append(("number", {"value": arg}))
        else:
            return
    if deep < DEEPEST:
        made.more().recipe = ("made", {"op": op, "args": tuple(parts), "params": params, "deep": deep + 1})


def plain_recipe(value: Any) -> Recipe | None:
    """What made an array by its values alone: multiples of the identity, which data hardly are; None for all else."""
    if not isinstance(value, np.ndarray) or value.ndim != 2 or value.size < 4 or value.dtype.kind not in "if":
        return None
    number = value[0, 0].item()
    if not number or not np.array_equal(value, number * np.eye(len(value))):
        return None
    eye = ("eye", {"n": len(value), "dtype": value.dtype.name})
    return (
        eye
        if number == 1
        else ("made", {"op": lookup("mul"), "args": (("number", {"value": number}), eye), "params": {}})
    )


def holds(recipe: Recipe, value: Any) -> bool:
    """Whether a constant still has the values it was made with."""
    if recipe[0] == "number":
        return bool(value == recipe[1]["value"] or value != value)
    return np.array_equal(value, _value(recipe))


def _value(recipe: Recipe) -> Any:
    name, params = recipe
    if name == "number":
        return params["value"]
    if name != "made":
        return lookup(name)(**params)
    return params["op"](*map(_value, params["args"]), **params["params"])
