"""Nested tuples, lists, dicts and dataclasses of values: flattened to a list of leaves and built again.

A structure is plain hashable data: ``"*"`` for a leaf, else ``(kind, keys, children)``, where named tuples, ordered
dicts and dataclasses have their class as kind.  The fields of a dataclass that are settings rather than values (names,
flags, functions, numbers of layers) are parts of its structure.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, Self

Structure = Any
LEAF = "*"
_PLAIN = frozenset((int, float, complex, bool, str, type(None)))


@functools.lru_cache(1024)
def _bare(cls: type) -> bool:
    """Whether what is of a class is a leaf, whatever is in it."""
    return cls in _PLAIN or not (issubclass(cls, (dict, tuple, list, Setting)) or dataclasses.is_dataclass(cls))


def flatten(tree: Any) -> tuple[list[Any], Structure]:
    """Leaves in order (dict entries in insertion order) and the structure.

    >>> flatten({"w": 1, "b": (2, 3)})
    ([1, 2, 3], ('dict', ('w', 'b'), ('*', ('tuple', (0, 1), ('*', '*')))))
    """
    leaves: list[Any] = []
    return leaves, _taken_apart(tree, leaves)


def _taken_apart(tree: Any, leaves: list[Any]) -> Structure:
    """The structure of a tree; its leaves come behind those that were found before."""
    kind: Any
    keys: tuple[Any, ...]
    if isinstance(tree, dict):
        kind = OrderedDict if isinstance(tree, OrderedDict) else "dict"
        keys, children = tuple(tree), list(tree.values())
    elif isinstance(tree, (tuple, list)):
        fields = getattr(tree, "_fields", None)
        kind = type(tree) if fields else "list" if isinstance(tree, list) else "tuple"
        if kind == "tuple" and type(tree) is not tuple and hasattr(tree, "_make"):
            kind = NamedParts(type(tree))
        keys, children = fields or tuple(range(len(tree))), list(tree)
    elif not hasattr(tree, "dtype") and dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        kind, keys = type(tree), tuple(field.name for field in dataclasses.fields(tree))
        children = [_setting(field, getattr(tree, field.name)) for field in dataclasses.fields(tree)]
    else:
        leaves.append(tree)
        return LEAF
    parts: list[Any] = []
    for child in children:
        if _bare(child.__class__):
            leaves.append(child)
            parts.append(LEAF)
        else:
            parts.append(child if isinstance(child, Setting) else _taken_apart(child, leaves))
    return (kind, keys, tuple(parts))


class NamedParts(str):
    """The kind of a function's result whose parts have names: that of a tuple, which says what class to build."""

    __slots__ = ("result",)

    result: Any

    def __new__(cls, result: Any) -> Self:
        """The kind of results of the class ``result``."""
        made = super().__new__(cls, "tuple")
        made.result = result
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return NamedParts, (self.result,)


class Setting:
    """A field of a dataclass that no derivative is taken by."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Setting) and (self.value is other.value or bool(self.value == other.value))

    def __hash__(self) -> int:
        try:
            return hash(self.value)
        except TypeError:  # equal things have equal classes
            return hash(type(self.value))


def _setting(field: Any, value: Any) -> Any:
    """A field by what its class says of it: whole numbers that are declared so count something."""
    declared = field.type if isinstance(field.type, str) else getattr(field.type, "__name__", "")
    if isinstance(value, (str, bool, bytes, type(None))) or (isinstance(value, int) and declared == "int"):
        return Setting(value)
    nested = isinstance(value, (dict, tuple, list)) or dataclasses.is_dataclass(value)
    return value if nested or isinstance(value, (int, float, complex)) or hasattr(value, "dtype") else Setting(value)


def without_settings(structure: Structure) -> Structure:
    """The structure of derivatives: None stands in place of settings."""
    if structure == LEAF:
        return LEAF
    if isinstance(structure, Setting):
        return Setting(None)
    kind, keys, parts = structure
    return kind, keys, tuple(map(without_settings, parts))


def unflatten(structure: Structure, leaves: Iterator[Any]) -> Any:
    """The tree of a structure, with leaves taken from an iterator."""
    if structure == LEAF:
        return next(leaves)
    if isinstance(structure, Setting):
        return structure.value
    kind, keys, parts = structure
    children = [unflatten(part, leaves) for part in parts]
    if kind == "dict" or kind is OrderedDict:
        return (dict if kind == "dict" else OrderedDict)(zip(keys, children, strict=True))
    if dataclasses.is_dataclass(kind):
        return _filled(kind, keys, children)
    if isinstance(kind, type):
        return kind(*children)
    if isinstance(kind, NamedParts):
        return kind.result._make(children)
    return children if kind == "list" else tuple(children)


def _filled(kind: Any, keys: tuple[str, ...], children: list[Any]) -> Any:
    """A dataclass of these fields; nothing that its constructor does or asks for is done to other values."""
    made = object.__new__(kind)
    for key, child in zip(keys, children, strict=True):
        object.__setattr__(made, key, child)  # also of a frozen one
    return made


def paths(structure: Structure, stem: str) -> list[str]:
    """A name for every leaf: ``stem`` for a single one, else stem_key_key, with _ for what no name has.

    >>> paths(flatten({"w": 1, "b": (2, 3), "net.0": 4})[1], "p")
    ['p_w', 'p_b_0', 'p_b_1', 'p_net_0']
    """
    if structure == LEAF:
        return [stem]
    if isinstance(structure, Setting):
        return []
    _, keys, parts = structure
    rows = [(re.sub(r"\W", "_", str(key)), part) for key, part in zip(keys, parts, strict=True)]
    return [name for key, part in rows for name in paths(part, f"{stem}_{key}")]


class _Star:
    def __repr__(self) -> str:
        return LEAF


def shown(structure: Structure) -> str:
    """A structure as one writes it.

    >>> shown(flatten((1, {"a": [2]}))[1])
    "(*, {'a': [*]})"
    """
    return repr(unflatten(structure, iter(_Star, None)))


def tree_map(function: Callable[[Any], Any], tree: Any) -> Any:
    """``function`` on every leaf."""
    leaves, structure = flatten(tree)
    return unflatten(structure, iter([function(leaf) for leaf in leaves]))
