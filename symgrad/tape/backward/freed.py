"""What a node still has for a second pass, once backward freed the values that it saved."""

from __future__ import annotations

from typing import Any

from symgrad.errors import AutogradError
from symgrad.op import FROM
from symgrad.tape.graph import Labelled, Node
from symgrad.tape.memory.views import out_of_reach

SECOND_TIME = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)


def nothing_saved(node: Node) -> tuple[Any, ...] | None:
    """The saved values of a node that was freed: none where its rules read none, else torch's error.

    None where none of several arguments has a gradient: torch saved nothing then.  For a single one it saves always.
    """
    count = len(node.args)
    if count > 1 and all(out_of_reach(arg) for i, arg in enumerate(node.args) if node.mask >> i & 1):
        return None
    if isinstance(node.args, Labelled):
        if node.args.role == "put" or node.args.kept:
            raise AutogradError(SECOND_TIME)
        if node.args.role == "scaling":
            return (None, *(arg if isinstance(arg, (int, float, complex)) else None for arg in node.args))
    if node.op.kind == "function":
        run = (node.params or {}).get("run")
        reads = run is not None and bool(run.ctx._kinds)
    else:
        op = node.op
        found = op.needs(node.mask)[0]
        reads = any(p >= -1 or (p == -2 and count > 0) or (p <= -3 and count > max(1, FROM - p)) for p in found)
        reads = reads or (op.keeps is not None and op.keeps(**(node.params or {})))
    if reads:
        raise AutogradError(SECOND_TIME)
    return (None,) * (count + 1)
