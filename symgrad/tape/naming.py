"""What torch calls the nodes of the graph."""

from __future__ import annotations

import functools
import re
from typing import Any

from symgrad.ops.torch_nodes.cotangents import product_name
from symgrad.tape.graph import Labelled, Node

_SPACED = ("CopySlices", "CopyBackwards", "NotImplemented")
"""Nodes that torch's own C++ code makes, which it names with their namespace."""


def tensor_like(arg: Any) -> bool:
    """Whether an argument of a node is no number of Python's."""
    return not isinstance(arg, (int, float, complex)) and hasattr(arg, "dtype")


def turned_round(node: Node) -> bool:
    """Whether a number before a tensor has called the tensor's own method, so that it comes second in torch."""
    return node.op.name in ("add", "mul") and not tensor_like(node.args[0])


def node_name(node: Node, resolved: bool = False) -> str:
    """torch's name: the op's, or the label a composite or custom function gave.

    ``resolved``: of a recorded pass's result, its own name, whatever torch's pass would have come to.
    """
    if node.args.__class__ is Labelled:
        label = node.args.label
        label = label.own if resolved and hasattr(label, "own") else label
        if label is not None:
            return str(label) if isinstance(label, str) else label(node)
    if node.op.kind == "function":
        return f"{node.op.node}Backward"
    known = product_name(node) if node.op.name == "matmul" else None
    if node.op.node_by_numbers:
        known = node.op.node_by_numbers.get(tuple(not tensor_like(a) for a in node.args))
    if known is not None:
        return known
    name = node.op.node
    if callable(name):
        name = name(*(getattr(a, "shape", ()) for a in node.args), **(node.params or {}))
    return name if "Backward" in name or name == "NotImplemented" else f"{name}Backward0"


def full_name(node: Node) -> str:
    """The name as ``grad_fn.name()`` gives it."""
    return spaced(node_name(node))


def spaced(name: str) -> str:
    """A node's name with the namespace that torch gives it, if any.

    >>> spaced("CopySlices"), spaced("MulBackward0")
    ('torch::autograd::CopySlices', 'MulBackward0')
    """
    return f"torch::autograd::{name}" if name in _SPACED else name


def word_of(node: Node) -> str:
    """What torch calls a node in its errors about changed values: ``Exp``, ``Fill2``."""
    return _word(full_name(node))


@functools.cache
def _word(name: str) -> str:
    return re.sub(r"Backward0?(\d*)$", r"\1", name)
