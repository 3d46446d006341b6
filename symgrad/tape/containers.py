"""Nested tuples, lists and dicts of values: flattened to a list of leaves and built again.

A structure is plain hashable data: ``"*"`` for a leaf, else ``(kind, keys, children)``, where named tuples and ordered
dicts have their class as kind.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

Structure = Any
LEAF = "*"


def flatten(tree: Any) -> tuple[list[Any], Structure]:
    """Leaves in order (dict entries in insertion order) and the structure.

    >>> flatten({"w": 1, "b": (2, 3)})
    ([1, 2, 3], ('dict', ('w', 'b'), ('*', ('tuple', (0, 1), ('*', '*')))))
    """
    kind: Any
    keys: tuple[Any, ...]
    if isinstance(tree, dict):
        kind = OrderedDict if isinstance(tree, OrderedDict) else "dict"
        keys, children = tuple(tree), list(tree.values())
    elif isinstance(tree, (tuple, list)):
        fields = getattr(tree, "_fields", None)
        kind = type(tree) if fields else "list" if isinstance(tree, list) else "tuple"
        keys, children = fields or tuple(range(len(tree))), list(tree)
    else:
        return [tree], LEAF
    leaves: list[Any] = []
    parts = []
    for child in children:
        below, structure = flatten(child)
        leaves += below
        parts.append(structure)
    return leaves, (kind, keys, tuple(parts))


def unflatten(structure: Structure, leaves: Iterator[Any]) -> Any:
    """The tree of a structure, with leaves taken from an iterator."""
    if structure == LEAF:
        return next(leaves)
    kind, keys, parts = structure
    children = [unflatten(part, leaves) for part in parts]
    if kind == "dict" or kind is OrderedDict:
        return (dict if kind == "dict" else OrderedDict)(zip(keys, children, strict=True))
    if isinstance(kind, type):
        return kind(*children)
    return children if kind == "list" else tuple(children)


def paths(structure: Structure, stem: str) -> list[str]:
    """A name for every leaf: ``stem`` for a single one, else stem_key_key.

    >>> paths(flatten({"w": 1, "b": (2, 3)})[1], "p")
    ['p_w', 'p_b_0', 'p_b_1']
    """
    if structure == LEAF:
        return [stem]
    _, keys, parts = structure
    return [name for key, part in zip(keys, parts, strict=True) for name in paths(part, f"{stem}_{key}")]


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
