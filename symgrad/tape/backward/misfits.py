"""Nodes whose operands got other ``.data`` of another shape or dtype since: torch reads these as they are by now.

What the rule makes of them has to fit what the operand was, or the pass raises.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from symgrad.errors import AutogradError, ShapeError
from symgrad.ops.calls import fits
from symgrad.ops.elementwise.complex import real
from symgrad.ops.rules.fitting import fit
from symgrad.ops.torch_nodes.answers import full_name
from symgrad.tape.graph import Node, Shaped, Source, landing
from symgrad.tape.memory.versions import former, reads_misfit

_SHAPES = re.compile(r"with shapes \(([\d, ]*)\) \(([\d, ]*)\)")


def misfits(nodes: list[Node]) -> set[Node]:
    """Those of the nodes whose operands have another shape or dtype by now than when the node was made."""
    return {node for node in nodes if reads_misfit(node) or any(former(arg, node) is not None for arg in node.args)}


def present(place: Any) -> Any:
    """A constant as it is by now, where it lives; any other place itself."""
    found = place.ref() if place.__class__ is Source else None
    return place if found is None else found._value


def contribution(sweep: Any, node: Node, rule: Any, i: int, g: Any, saved: Any, params: dict[str, Any] | None) -> Any:
    """What a rule makes of operands of other shapes and dtypes, in the shape and dtype of what operand ``i`` was.

    Raises torch's error where it does not fit, or cannot be computed.
    """
    read = [_as_it_was(value, node) for value in sweep.arguments(node, saved)]
    try:
        c = rule(g, *read, **(params or {}))
    except (ValueError, TypeError, IndexError, ArithmeticError, np.linalg.LinAlgError) as error:
        raise _refusal(node, error) from error
    if c is None:
        return None
    c, arg = c if hasattr(c, "dtype") else np.asarray(c), node.args[i]
    shape, dtype = former(arg, node) or (arg.raw_shape, arg.dtype)
    if c.dtype.kind == "c" != dtype.kind:
        if len(node.args) == 1:
            raise AutogradError(
                "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but "
                f"got false.  ({_told(node)})"
            )
        c = real(c)
    got, lead = tuple(c.shape), len(c.shape) - len(shape)
    if reads_misfit(node) and (lead < 0 or any(a not in (1, b) for a, b in zip(shape, got[lead:], strict=True))):
        raise AutogradError(
            f"Function {_name(node)} returned an invalid gradient at index {i} - got {list(got)} but expected shape "
            f"compatible with {list(shape)} ({_told(node)})"
        )
    wanted = landing(node, arg)
    return fit(c, shape, dtype if former(arg, node) is not None and wanted == arg.dtype else wanted)


def _as_it_was(value: Any, node: Node) -> Any:
    """A stand-in for an operand that is read for its shape, with the shape that the operand had."""
    was = former(value.arg, node) if value.__class__ is Shaped else None
    return value if was is None else Shaped(*was, value.record, value.arg)


def _refusal(node: Node, error: Exception) -> Exception:
    found = _SHAPES.search(str(error))
    shapes = [tuple(map(int, re.findall(r"\d+", text))) for text in found.groups()] if found else []
    words = fits.apart(*shapes) if shapes else None
    if words is not None:
        return ShapeError(f"{words} ({_told(node)})")
    return AutogradError(f"{_name(node)} cannot be computed: {error} ({_told(node)})")


def _told(node: Node) -> str:
    """What happened, and what to do instead."""
    parts = []
    for value, arg in zip(node.saved[1:], node.args, strict=False):
        was = former(arg, node) or (getattr(arg, "raw_shape", None), getattr(arg, "dtype", None))
        if hasattr(value, "shape") and was[0] is not None and (value.shape, value.dtype) != was:
            parts.append(f"an operand of shape {was[0]} and dtype {was[1]} has shape {value.shape} and {value.dtype}")
    how = "; ".join(dict.fromkeys(parts)) or "an operand has another shape or dtype"
    return f"backward of {node.op.name}: {how} since its .data was set; set .data before the graph is made, or after"


def _name(node: Node) -> str:
    label, name = getattr(node.args, "label", None), node.op.node
    if callable(name):
        name = name(*(getattr(arg, "shape", ()) for arg in node.args), **(node.params or {}))
    name = label if isinstance(label, str) else name
    return name if "Backward" in name else full_name(name)
