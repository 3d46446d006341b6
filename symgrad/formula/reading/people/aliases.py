"""Names of one array in Python's statements: after ``g = x``, what changes ``g`` in place changes ``x``."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Mapping
from typing import Any, NamedTuple

from symgrad.formula.reading.people.ranks import MODULES, rank

CHANGED = "_changed_"
"""How the name begins of an array that another name of it has changed, where what it is now is not known."""
_VIEWS = {
    "reshape", "view", "ravel", "squeeze", "unsqueeze", "expand_dims", "transpose", "swapaxes", "moveaxis", "permute",
    "t", "asarray", "asanyarray", "ascontiguousarray", "as_tensor", "from_numpy", "atleast_1d", "atleast_2d",
    "atleast_3d", "diag", "diagonal", "flip", "flipud", "fliplr", "rot90", "real", "detach", "numpy", "cpu", "to",
    "float", "double", "contiguous", "view_as", "requires_grad_",
}  # fmt: skip
"""Functions and methods whose values may share the entries of an array."""
_ATTRIBUTES = {"T", "mT", "H", "mH", "flat", "real", "data"}


class Share(NamedTuple):
    """A name of an array, which array that is, and the part of it."""

    name: str
    array: int
    part: str


class Shared:
    """The names that share arrays."""

    def __init__(self, table: Mapping[str, Any]):
        self.table = table
        self.names: dict[str, Share] = {}
        self.numbers: set[str] = set()
        self.count = itertools.count()

    def give(self, name: str, value: ast.expr, meant: ast.expr) -> None:
        """After ``name = value``: both are the same array where the value is a name, or a view of one.

        ``meant`` is the value with those of names in their places, which tells whether it is a number.
        """
        self.names.pop(name, None)
        self.numbers -= {name}
        base, part = _named(value)
        axes = rank(meant, self.axes)
        if axes == 0:
            self.numbers |= {name}
        if not base or base == name:
            return
        if axes == 0:
            return
        share = self.names.setdefault(base, Share(base, next(self.count), ""))
        unknown = f"?{next(self.count)}" if axes is None else ""
        self.names[name] = Share(name, share.array, f"{share.part}{part}{unknown}")

    def others(self, name: str) -> list[Share]:
        """The other names of an array."""
        own = self.names.get(name)
        return [s for s in self.names.values() if own is not None and s.array == own.array and s.name != name]

    def changed(self, name: str, values: dict[str, ast.expr]) -> None:
        """After a change of an array in place, give its other names what they have now."""
        for other in self.others(name):
            same = other.part == self.names[name].part
            values[other.name] = values[name] if same else ast.Name(f"{CHANGED}{other.name}")

    def after(self, *ways: Mapping[str, Share]) -> None:
        """After a branch: names that are the same on all ways stay so."""
        names = {name: share for way in ways for name, share in way.items()}
        self.names = {
            name: share if all(way.get(name) == share for way in ways) else share._replace(part=f"?{next(self.count)}")
            for name, share in names.items()
        }

    def axes(self, name: str) -> int | None:
        """How many axes an argument has, and a name of a number; None for other names."""
        if name in self.numbers:
            return 0
        return self.table[name].ndim if name in self.table else None


def _named(node: ast.expr) -> tuple[str, str]:
    """The name of the array that a value is or is a view of, and which part of it; empty for new arrays."""
    part = ""
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute) and node.attr in _ATTRIBUTES:
            part, node = f".{node.attr}{part}", node.value
        elif isinstance(node, ast.Subscript) and not any(isinstance(n, ast.Compare) for n in ast.walk(node.slice)):
            part, node = f"[{ast.unparse(node.slice)}]{part}", node.value
        elif isinstance(node, ast.IfExp):
            part, node = "?", node.body if _named(node.body)[0] else node.orelse
        elif isinstance(node, ast.Call) and _may_be_view(node):
            of = node.func.value if isinstance(node.func, ast.Attribute) else None
            inner = of if of is not None and getattr(of, "id", "") not in MODULES else next(iter(node.args), None)
            if inner is None:
                return "", ""
            part, node = f".{ast.unparse(node.func)}{part}", inner
        else:
            return "", ""
    return node.id, part


def _may_be_view(node: ast.Call) -> bool:
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    return name in _VIEWS or (name in ("array", "astype") and any(k.arg == "copy" for k in node.keywords))
